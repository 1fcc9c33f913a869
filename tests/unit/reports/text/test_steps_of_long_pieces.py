"""The steps of long pieces, and of long tokens: what is shown of them, and how much work that is."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.text.steps.pieces import SHOWN, Limits
from bpe_cli.stages import CharacterBpe, EventBpe, GreedyCover, MaxMatch, WordPiece
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.teaching.frontier.greedy_cover import beginnings_of, laid, stretches_of
from bpe_cli.teaching.longest_match import anywhere, stretches
from bpe_cli.tokenizer import Tokenizer
from tests.counted import at_least, compared
from tests.unit.reports.text.telling import tell
from tests.work import lines

ALL = Limits(None, None)
LONG = "abcdefghij" * 5


def vocabulary(*tokens: str) -> Vocabulary:
    return Vocabulary.from_tokens([token.encode() for token in tokens])


def longest_anywhere(*tokens: str) -> Tokenizer:
    model = CharacterBpe(vocabulary("<unk>", *tokens), Merges.from_pairs([]), 0)
    return Tokenizer(model).with_longest_match(left_to_right=False)


# -- the rest of a piece -----------------------------------------------------------------------------


def test_what_lies_behind_a_long_token_is_counted_from_its_end():
    words = Tokenizer(WordPiece(vocabulary("[UNK]", LONG, "a", "##a", "##bc"), 0))
    dictionary = Tokenizer(MaxMatch(vocabulary("<unk>", LONG, "a", "bc"), 0))
    for tokenizer, prefix in ((words, b"##"), (dictionary, b"")):
        long, last = tell(tokenizer, f"{LONG}a".encode()).rows[0].walk.steps
        assert (long.rest, long.cut) == (LONG.encode(), 1)
        assert (last.rest, last.cut) == (prefix + b"a", 0)
    short, *_ = tell(dictionary, b"bc" * 30).rows[0].walk.steps
    assert (short.rest, short.cut) == (b"bc" * 20, 20)


# -- parts -------------------------------------------------------------------------------------------


def in_parts(text: str, cuts: Iterable[tuple[int, int]]) -> Iterator[tuple[list[bytes], int]]:
    """Yield all parts of a text after each cut, which may lie over others, and the place of what was cut out."""
    ends: dict[int, int] = {}
    for start, end in cuts:
        ends = {before: stop for before, stop in ends.items() if not start <= before < end} | {start: end}
        parts = list(stretches(len(text), ends))
        yield [text[first:last].encode() for first, last, _ in parts], parts.index((start, end, True))


@at_least(20)
@pytest.mark.parametrize("lays", [False, True])
@given(seed=st.integers(), length=st.sampled_from([1, 9, 40, 300]))
def test_parts_are_those_of_all_tokens_so_far(lays, seed, length):
    text = "".join(Random(seed).choices("abc", k=length))
    if lays:
        tokens = ["abc", "ab", "bca", "abcab", "cc"]
        tokenizer = Tokenizer(GreedyCover(vocabulary(*tokens, "a"), 5))
        numbers = {token: number for number, token in enumerate(tokens)}
        inside = ((first, laid(text[first:last], numbers)) for first, last in stretches_of(text, beginnings_of(tokens)))
        cuts = [(first + start, first + end) for first, places in inside for _, start, end in places]
    else:
        tokenizer = longest_anywhere("bca", "ab", "cc", "b")
        numbers = {"bca": 0, "ab": 1, "cc": 2, "b": 3}
        cuts = [(cut.start, cut.end) for cut in anywhere(text, numbers)]
    (row,) = tell(tokenizer, text.encode(), (), ALL).rows
    for step, (parts, place) in zip(row.walk.steps, in_parts(text, cuts), strict=True):
        shown = step.parts
        assert (shown.before + shown.at, shown.before + len(shown.contents) + shown.after) == (place, len(parts))
        assert list(shown.contents) == parts[shown.before : shown.before + len(shown.contents)]
        assert len(shown.contents) == min(len(parts), SHOWN)
    compared()


# -- work --------------------------------------------------------------------------------------------


def test_work_grows_with_the_length_and_not_with_its_square():
    """The steps of 1,000 characters: about as many, with at most 41 symbols in each."""
    text = b"ab" * 500
    events = array("I", [1, 2, 3, 3, 3, 4])
    for tokenizer in (
        Tokenizer(EventBpe(vocabulary("<unk>", "a", "b", "ab", "abab"), events, 0)),
        Tokenizer(GreedyCover(vocabulary("a", "b", "ab", "ba", "bab"), 0)),
        longest_anywhere("ab", "aba", "b"),
    ):
        assert lines(lambda used=tokenizer: tell(used, text, (), ALL), 1_000_000) > len(text)
