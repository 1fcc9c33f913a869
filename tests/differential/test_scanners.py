"""The core's scanners give the pieces of the expressions that they stand for, on any bytes."""

from __future__ import annotations

from functools import cache
from itertools import compress, islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import _core
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.splitters import RegexSplitter, compile_splitter
from tests.differential.texts import (
    BYTE_REPRESENTATIVES,
    CLASSES,
    MIXED,
    MOST,
    MOST_BY_LENGTH,
    RAW,
    REPRESENTATIVES,
    WORDS,
    assigned,
    corpus,
    disputed,
    matched,
    matched_by_regex,
    pieces,
    python_sources,
    random_bytes,
    random_texts,
    suite,
    suite_bytes,
    unicode_texts,
)
from tests.thorough import more

SPELLINGS = [
    pytest.param(name, spelling, id=f"{name}-{number}")
    for name, pattern in PATTERNS.items()
    for number, spelling in enumerate((pattern.regex, *pattern.spellings))
]
spellings = pytest.mark.parametrize(("name", "spelling"), SPELLINGS)


@cache
def scanner(name: str) -> _core.Splitter:
    return _core.Splitter(PATTERNS[name].scanner.to_json())


@cache
def expression(spelling: str) -> RegexSplitter:
    return RegexSplitter([spelling])


def assert_same_pieces(name: str, spelling: str, data: bytes) -> None:
    if not disputed().isdisjoint(data.decode("utf-8", "surrogateescape")):
        return  # the two differ in its class: see below for which these are
    if bytes(memoryview(scanner(name).split(data)).cast("B")) != bytes(expression(spelling).split(data)):
        assert pieces(scanner(name), data) == pieces(expression(spelling), data)


# -- characters ------------------------------------------------------------------------------------


def goes_on(name: str, before: str, after: str = "") -> frozenset[str]:
    """Return the characters c for which, in `before c after`, no piece ends beside c."""
    found: set[str] = set()
    for characters, length in MOST_BY_LENGTH:
        data = (before + f"{after}{before}".join(characters) + after).encode()
        is_inside = bytearray(b"\1") * (len(data) + 1)
        for end in memoryview(scanner(name).split(data)):
            is_inside[end] = 0
        stride = len(before) + length + len(after)
        begun = is_inside[len(before) :: stride]
        ended = is_inside[len(before) + length :: stride] if after else begun
        found.update(compress(compress(characters, begun), compress(ended, begun)))
    return frozenset(found)


@cache
def classes_of_the_core() -> dict[str, frozenset[str]]:
    """Find out the class of most characters for the core, from where its scanners split.

    For gpt2 a run of one class is a piece: after a letter only letters go on with it, after a digit only
    numbers, after a line feed only whitespace. For o200k a small letter goes on with what a word may
    end with, and a capital goes on to a word if all between them may stand before its small letters.
    """
    space, number, letter, upper, lower = CLASSES
    return {
        space: goes_on("gpt2", "\n"),
        number: goes_on("gpt2", "1"),
        letter: goes_on("gpt2", "a"),
        upper: goes_on("o200k", "\r\nA", "Aa"),
        lower: goes_on("o200k", "\r\na"),
    }


def test_classes_of_all_characters_are_those_of_unicode_16():
    assert _core.UNICODE_VERSION == "16.0.0"
    for name, characters in classes_of_the_core().items():
        assert characters == matched(name).intersection(MOST), name


RECLASSIFIED = frozenset("\u0295")
"""Letters whose category changed after Unicode 16: this one was Ll, and is Lo."""


def test_regex_module_differs_in_what_its_unicode_version_changed_and_in_nothing_else():
    """One of the two takes such a character for unassigned; or it is one whose category is known to have changed."""
    differing = {
        character
        for name, characters in classes_of_the_core().items()
        for character in characters ^ matched_by_regex(name).intersection(MOST)
    }
    assert differing == disputed()
    unassigned, unassigned_there = matched(r"\p{Cn}"), matched_by_regex(r"\p{Cn}")
    known_to_both = {c for c in differing if c not in unassigned and c not in unassigned_there}
    assert known_to_both <= RECLASSIFIED
    assert not {c for c in differing if c in unassigned and c in unassigned_there}


def test_disputed_characters_leave_enough_to_compare():
    assert disputed() & set(assigned()) <= RECLASSIFIED
    assert not disputed() & set("".join((*REPRESENTATIVES, *WORDS)))


# -- texts -----------------------------------------------------------------------------------------


def test_every_expression_has_its_scanner():
    for pattern in PATTERNS.values():
        for spelling in (pattern.regex, *pattern.spellings):
            assert isinstance(compile_splitter((spelling,)), _core.Splitter)


@spellings
def test_all_short_strings(name, spelling):
    step = more(2, 1) if spelling == PATTERNS[name].regex else more(7, 1)  # other spellings mean the same
    for length in range(more(4, 5)):
        for parts in islice(product(REPRESENTATIVES, repeat=length), 0, None, step if length > 2 else 1):
            assert_same_pieces(name, spelling, "".join(parts).encode())


SMALL = ("a", "B", "ʰ", "\u0301", "1", " ", "\n", "\t", "!", "/", "'", "s")


@spellings
def test_strings_of_a_few_classes(name, spelling):
    step = 1 if spelling == PATTERNS[name].regex else more(7, 1)
    for length in range(4, more(5, 6)):
        for parts in islice(product(SMALL, repeat=length), 0, None, step):
            assert_same_pieces(name, spelling, "".join(parts).encode())


@spellings
def test_all_short_byte_strings(name, spelling):
    for length in range(more(4, 5)):
        for parts in product(BYTE_REPRESENTATIVES, repeat=length):
            assert_same_pieces(name, spelling, b"".join(parts))


@spellings
def test_random_texts_and_bytes(name, spelling):
    for text in random_texts(more(600, 200_000), seed=3):
        assert_same_pieces(name, spelling, text.encode())
    for data in random_bytes(more(600, 100_000), seed=4):
        assert_same_pieces(name, spelling, data)


@spellings
@given(data=unicode_texts().map(str.encode) | MIXED.map(str.encode) | RAW)
def test_any_bytes(name, spelling, data):
    assert_same_pieces(name, spelling, data)


@spellings
def test_repositorys_texts_cut_at_many_offsets(name, spelling):
    """A text that is cut begins and ends with parts of characters; what follows must not matter."""
    for text in corpus().values():
        data = text.encode()
        assert_same_pieces(name, spelling, data)
        for cut in range(0, len(data), -(-len(data) // more(12, 70))):
            assert_same_pieces(name, spelling, data[cut : cut + more(100, 10_000)])
            assert_same_pieces(name, spelling, data[max(cut - more(100, 10_000), 0) : cut])


@spellings
def test_pythons_sources(name, spelling):
    for text in python_sources(more(60_000, 10_000_000)):
        assert_same_pieces(name, spelling, text.encode())


@spellings
def test_suite(shared, name, spelling):
    for text in suite(shared).values():
        assert_same_pieces(name, spelling, text.encode())
    for data in suite_bytes(shared).values():
        assert_same_pieces(name, spelling, data)


# -- cuts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PATTERNS)
@given(before=MIXED | RAW, after=MIXED | RAW, data=st.data())
def test_safe_cut_changes_no_piece_whatever_follows(name, before, after, data):
    before, after = (part if isinstance(part, bytes) else part.encode() for part in (before, after))
    cut = scanner(name).safe_cut(before)
    assert 0 <= cut < max(len(before), 1)
    left, right = before[:cut], before[cut:] + after
    assert pieces(scanner(name), left) + pieces(scanner(name), right) == pieces(scanner(name), before + after)


@pytest.mark.parametrize("name", PATTERNS)
def test_safe_cut_is_found_in_ordinary_text(name):
    """Otherwise a long document would be held whole in memory."""
    for path, text in corpus().items():
        data = text.encode()
        cut = scanner(name).safe_cut(data[:1000])
        assert cut > 0, path
