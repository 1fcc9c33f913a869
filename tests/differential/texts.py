"""Texts to compare on: what lies at hand everywhere, and random ones that go through every class of characters."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import regex
from hypothesis import strategies as st

from tests.needs import needs
from tests.thorough import more

ROOT = Path(__file__).resolve().parent.parent.parent

# -- files -----------------------------------------------------------------------------------------


@cache
def corpus() -> dict[str, str]:
    """Read the repository's small texts, by name."""
    files = sorted(path for path in (ROOT / "corpora").rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix(): path.read_bytes().decode() for path in files}


@cache
def python_sources(limit: int = 3_000_000) -> tuple[str, ...]:
    """Read modules of Python's standard library, about `limit` bytes."""
    texts = []
    for path in sorted(Path(os.__file__).parent.glob("*.py")):
        texts.append(path.read_bytes().decode("utf-8", "replace"))
        limit -= len(texts[-1])
        if limit < 0:
            break
    return tuple(texts)


def suite(shared: Path) -> dict[str, str]:
    """Read the 309 tricky texts that the reference results are for, by id."""
    cases = json.loads((shared / "expected" / "suite.json").read_bytes())["cases"]
    return {case["id"]: case["text"] for case in cases}


def suite_bytes(shared: Path) -> dict[str, bytes]:
    """Read the 18 byte strings that the reference results are for, by id."""
    cases = json.loads((shared / "expected" / "suite_bytes.json").read_bytes())["cases"]
    return {case["id"]: bytes.fromhex(case["hex"]) for case in cases}


# -- Unicode ---------------------------------------------------------------------------------------

ALL = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
"""Every character that UTF-8 can write."""

STEP = more(61, 1)
MOST = "".join(
    map(
        chr,
        (
            *range(0xD800),
            *range(0xE000, 0x40000),
            *range(0x40000, 0xE0000, STEP),
            *range(0xE0000, 0xE0200),
            *range(0xE0200, 0x110000, STEP),
        ),
    )
)
"""The same, but few of the 800,000 of planes that Unicode assigns nothing in, or to private use alone."""

_LENGTHS = "^[\0-\x7f]+|[\x80-\u07ff]+|[\u0800-\uffff]+|.+$"
MOST_BY_LENGTH = tuple((part, length) for length, part in enumerate(regex.findall(_LENGTHS, MOST), 1))
"""These in four parts: those of one byte, of two, three and four."""


def matched_in_order(expression: str) -> str:
    """Return the characters that match an expression under the Unicode 16 tables of Rust's regex-syntax.

    That is the engine inside tiktoken; what its pattern does not match it drops.
    """
    tiktoken = needs("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}
    engine = tiktoken.Encoding("probe", pat_str=expression, mergeable_ranks=ranks, special_tokens={})
    return str(engine.decode(engine.encode_ordinary(ALL), errors="strict"))


@cache
def matched(expression: str) -> frozenset[str]:
    """Return the same without an order."""
    return frozenset(matched_in_order(expression))


@cache
def matched_by_regex(expression: str) -> frozenset[str]:
    """Return the characters that match an expression under the tables of the `regex` module."""
    return frozenset(regex.findall(expression, ALL))


CLASSES = (r"\s", r"\p{N}", r"\p{L}", r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]")
"""What the patterns ask of a character, but for single ones of ASCII and U+017F."""


@cache
def disputed() -> frozenset[str]:
    """Return the characters that are in other classes for the `regex` module than for the core's Unicode version."""
    return frozenset().union(*(matched(expression) ^ matched_by_regex(expression) for expression in CLASSES))


@cache
def assigned() -> str:
    """Return all characters that Unicode 16 assigns."""
    return matched_in_order(r"\P{Cn}")


REPRESENTATIVES = (
    *("a", "s", "l", "B", "S"),  # letters, some of them ends of contractions
    *("é", "É", "ǅ", "ʰ", "ª", "漢", "ſ", "K"),  # Ll Lu Lt Lm Lo, the long s, the Kelvin sign
    *("\u0301", "\u0903", "\u20dd"),  # Mn Mc Me
    *("1", "²", "Ⅷ", "٣"),  # Nd No Nl
    *(" ", "\n", "\r", "\t", "\u3000", "\u2028", "\x1c"),  # whitespace, and what only Python takes for it
    *("'", "!", "/", "€", "’", "\u200d", "\ue000", "\u0378", "\x00", "🙂"),
)
"""Characters of every class and length that the patterns tell apart."""

BYTE_REPRESENTATIVES = (
    *(b"a", b"B", b" ", b"\n", b"'", b"s", b"1", b"!", b"\xcc\x81"),
    *(b"\xff", b"\xe4", b"\xbd", b"\xa0"),
)
"""Characters, and parts of characters that are none alone."""

WORDS = (
    *("don't", "I'LL", "'s", "'ſ", "it'S ", "'ve'd", "'r", "''re", "McDONALD's", "HTTPServer", "naïve", "漢字かな"),
    *("ǅungla", "e\u0301t", "\u0301\u0301", "का", "x²", "12345", "٣٤٥٦", "Ⅷ1", "3.14", "_a", "a_"),
    *("  ", "   ", " \n", "\n ", " \n  x", "\r\n", "\n\n\n", "\t\t", "\u3000a", " -- "),
    *("//", "...\n", "!/\r\n/", "\n/", "=>", "🙂👍🏽", "\u200d", "\x00", "<|endoftext|>"),
)
"""Longer stretches at which scanners have gone wrong somewhere."""


def random_texts(number: int, seed: int) -> Iterator[str]:
    """Make texts of class representatives, tricky words and characters from all of Unicode 16."""
    chance = random.Random(seed)
    characters = assigned()
    for _ in range(number):
        share = chance.choice((0.0, 0.05, 0.5))
        pool = chance.choice((REPRESENTATIVES, WORDS, REPRESENTATIVES + WORDS))
        length = chance.choice((4, 8, 16, 60))
        yield "".join(
            chance.choice(characters) if chance.random() < share else chance.choice(pool) for _ in range(length)
        )


def random_bytes(number: int, seed: int) -> Iterator[bytes]:
    """Make byte strings in which some characters are broken."""
    chance = random.Random(seed)
    for _ in range(number):
        pool = chance.choice((BYTE_REPRESENTATIVES, [bytes([byte]) for byte in range(256)]))
        yield b"".join(chance.choices(pool, k=chance.choice((3, 8, 30))))


MIXED = st.lists(st.sampled_from(REPRESENTATIVES) | st.sampled_from(WORDS), max_size=20).map("".join)
"""Texts of class representatives and tricky words."""

RAW = st.binary(max_size=40) | st.lists(st.sampled_from(BYTE_REPRESENTATIVES), max_size=20).map(b"".join)
"""Bytes of any kind."""


@st.composite
def unicode_texts(draw) -> str:
    """Make texts with characters from all of Unicode 16 (drawn by number, so that they shrink)."""
    characters = assigned()
    places = draw(st.lists(st.integers(0, len(characters) - 1), max_size=20))
    return "".join(characters[place] for place in places)


# -- scanners --------------------------------------------------------------------------------------


def pieces(splitter, data: bytes) -> list[bytes]:
    """Return the pieces that a splitter makes of a text."""
    start, parts = 0, []
    for end in memoryview(splitter.split(data)):
        parts.append(data[start:end])
        start = end
    return parts
