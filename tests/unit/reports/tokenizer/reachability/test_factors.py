"""What is said of a split pattern against what the ``regex`` module matches."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.tokenizer.reachability.merge_factors import factors_of
from bpe_cli.stages.patterns import PATTERNS

TEXTS = st.text(st.sampled_from("aAeé1٣ \n\r\t'sSſtrReE/.-_中\u0301\u00a0"), max_size=12)
OTHERS = (
    r"a+b*|1",
    r"(?i:'a|ab)|b{2}|[a1]{1,3}",
    r"(?:ab?)+|1?b",
    r"a*+b|(?:a|b)?1",
    r"[^\W\d_]+|\s?\S",
    r"(a|b){2,}.",
)


@pytest.mark.parametrize("pattern", [*(each.regex for each in PATTERNS.values()), *OTHERS])
@given(text=TEXTS)
def test_what_is_matched_is_never_called_impossible(pattern, text):
    factors = factors_of(pattern)
    assert factors is not None
    covered = set()
    for match in regex.finditer(pattern, text):
        found = match.group()
        covered.update(range(*match.span()))
        assert factors.matches_somehow(found)
        for start in range(len(found)):
            for end in range(start + 1, len(found) + 1):
                assert factors.may_hold(found[start:end])
                assert factors.may_go_on(found[start:end]) or end == len(found)
        if found and (held := factors.beginning_with(found[:2])) is not None:
            assert found in held
    for place, character in enumerate(text):
        assert place in covered or not factors.always_begins(character)


@pytest.mark.parametrize(
    "pattern", [r"(?<x>a)\g<x>", r"(?>a|ab)c", r"a{100000}", r"(", r"\bword\b", r"a(?R)?b", r"[[a-z]--[aeiou]]", r"\X"]
)
def test_other_expressions_are_not_judged(pattern):
    assert factors_of(pattern) is None


def test_pieces_that_are_few():
    factors = factors_of(r"x?(?i:ab)|c{1,3}|\s+")
    assert factors.beginning_with("xa") == ["xaB", "xab"]
    assert factors.beginning_with("a") is None, "it stands behind x, too"
    assert factors.beginning_with(" ") is None, "any number may follow"
    assert not factors.may_hold("ba")
