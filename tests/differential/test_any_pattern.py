"""The core cuts by any expression that it takes as the ``regex`` module does, on any bytes."""

from __future__ import annotations

import json
import random
import string
from functools import cache

import pytest
import regex

from bpe_cli import _core
from bpe_cli.stages.splitters import RegexSplitter
from tests.differential.texts import (
    MOST,
    REPRESENTATIVES,
    WORDS,
    corpus,
    disputed,
    matched,
    matched_by_regex,
    python_sources,
    suite,
    suite_bytes,
)
from tests.thorough import more

QUADRATIC = r"(?>\p{L}+'\p{L}|\p{L}+)(?!\p{M}\p{L})|(?:\s\s|.)++x|\s+"
"""Each search in it looks through all that is left of a line: the time of both is the square of the line's length."""

PATTERNS = (
    r" ?\p{L}+| ?\p{N}{1,2}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r" ?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{L}|\p{N}| ?[^\s\p{L}\p{N}]+|\s+",
    r"\p{Han}+|[\p{Hiragana}\p{Katakana}]+| ?[^\s\p{Han}\p{N}\p{P}]+|\p{N}{1,3}| ?\p{P}+|\s+(?=\S)|\s+",
    r"(?:\p{L}+ ?)+|\d{1,3}|[^\w\s]+|\s+",
    r"(?:\p{L}\p{M}*+)++|\p{N}|(?>\r\n|\n)+|\s+?(?=\S|$)|\W",
    r"\b\w+\b|\B.|(?s:.)",
    r"(?i:the|and|is) |(?m:^#+ )|\S+\s?|\s",
    r"\p{N}",
    r"<[a-z]{1,9}>|https?://[^\s<>]+",
    # An automaton runs none of these.
    r"\d{1,3}(?=(?:\d{3})*\b)| ?\p{L}+| ?[^\s\p{L}\d]+|\s+(?!\S)|\s+",
    r"(?=(\d{3})+(?!\d))",
    r"(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<!\p{N})(?=\p{N})",
    QUADRATIC,
    r"(?i:[é-ü]+|ß|ſt|\p{Lu}{2}|[\p{Greek}i])|(?!--)\P{L}+?(?=\p{L}|$)|",
)
"""What researchers might write."""


def core(pattern: str) -> _core.Splitter:
    return _core.Splitter(json.dumps([{"type": "Pattern", "pattern": pattern}]))


def ends(splitter: _core.Splitter | RegexSplitter, data: bytes) -> list[int]:
    return memoryview(splitter.split(data)).tolist()


def assert_same(fast: _core.Splitter, slow: RegexSplitter, data: bytes, pattern: str) -> None:
    if disputed().isdisjoint(data.decode("utf-8", "surrogateescape")):
        assert ends(fast, data) == ends(slow, data), (pattern, data[:200])


# -- texts -----------------------------------------------------------------------------------------


def random_data(chance: random.Random) -> bytes:
    """Make a text of tricky characters and words, or of bytes that are none."""
    if chance.random() < 0.15:
        parts = (b"a", b"A", b"1", b" ", b"\n", b"!", b"\xff", b"\xe4", b"\xb8", b"\xc3\xa9", b"\xf0\x9f", b"\xed\xa0")
        return b"".join(chance.choices(parts, k=chance.randint(1, 20)))
    pool = chance.choice((REPRESENTATIVES, WORDS, ("a", "b", "A", "1", " ", "\n", "!", "s"), ("\r", "\n", " ", "a")))
    return "".join(chance.choices(pool, k=chance.randint(1, 25))).encode()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_random_texts(pattern):
    fast, slow, chance = core(pattern), RegexSplitter([pattern]), random.Random(pattern)
    for _ in range(more(500, 50_000)):
        assert_same(fast, slow, random_data(chance), pattern)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_whole_texts(shared, pattern):
    fast, slow = core(pattern), RegexSplitter([pattern])
    files = [*corpus().values()][PATTERNS.index(pattern) % more(2, 1) :: more(2, 1)]
    texts = [text.encode() for text in (*files, *python_sources(more(60_000, 5_000_000)))]
    tricky = [*(text.encode() for text in suite(shared).values()), *suite_bytes(shared).values()]
    # Those with lines of usual length are cut smaller, and of four parts one is tried.
    for some, most, step in ((texts, more(250, 500), more(4, 1)), (tricky, more(1000, 2000), 1)):
        for data in some:
            size = most if pattern == QUADRATIC else len(data)
            for start in range(0, len(data) or 1, size * step if pattern == QUADRATIC else size or 1):
                assert_same(fast, slow, data[start : start + size], pattern)


def test_patterns_in_use(shared):
    """All but two, which name a property of their own or have sets in sets, are taken, and cut alike."""
    found: set[str] = set()

    def collect(value: object) -> None:
        if isinstance(value, dict):
            found.update(value[name] for name in ("pattern",) if isinstance(value.get(name), str))
            found.update(each for each in value.get("regex_exprs", ()) if isinstance(each, str))
            collect(list(value.values()))
        elif isinstance(value, list):
            for each in value:
                collect(each)

    collect(json.loads((shared / "notes" / "patterns.json").read_bytes()))
    refused, chance = [], random.Random(1)
    for pattern in sorted(found):
        try:
            fast = core(pattern)
        except ValueError:
            refused.append(pattern)
        else:
            slow = RegexSplitter([pattern])
            for _ in range(more(100, 5000)):
                assert_same(fast, slow, random_data(chance), pattern)
    assert len(found) - len(refused) > 40
    assert all("AFMoE" in pattern or "&&[^" in pattern for pattern in refused)


# -- random patterns -------------------------------------------------------------------------------

_ONE = (
    *(
        "a",
        "b",
        "s",
        " ",
        "1",
        "!",
        ".",
        r"\n",
        r"\s",
        r"\S",
        r"\d",
        r"\w",
        r"\W",
        r"\p{L}",
        r"\P{L}",
        r"\p{Lu}",
        r"\p{Ll}",
    ),
    *(
        r"\p{N}",
        r"\p{M}",
        r"\p{P}",
        r"\p{Han}",
        "[ab]",
        "[^a]",
        r"[\s!]",
        r"[^\s\p{L}\p{N}]",
        r"[\r\n]",
        "[a-z]",
        "[^\\r\\n]",
    ),
    *(
        "(?i:é)",
        "(?i:[à-ü])",
        "(?i:ſ)",
        "(?i:[i-ı])",
        r"(?i:\p{Lu})",
        r"(?i:[\p{Lu}1])",
        r"(?i:[^\P{Greek}b])",
        r"(?i:\P{Lu})",
    ),
    *(
        "(?i:s)",
        "(?i:[a-k])",
        "(?s:.)",
        r"\x41",
        r"\u00e9",
        r"[\p{Lu}\p{M}]",
        "[]a]",
        "[a-]",
        r"[\[a]",
        r"\-",
        r"\p{^N}",
    ),
)
_BESIDE = (
    *(
        r"\b",
        r"\B",
        "^",
        "$",
        r"\Z",
        r"\A",
        r"(?!\S)",
        r"(?=\S)",
        "(?=a|$)",
        r"(?<=\s)",
        r"(?<!\p{L})",
        "(?m:$)",
        "(?m:^)",
    ),
    *(r"(?!\s+)", r"(?<=^|a)", r"(?!a|\Z)", "(?!ab)", r"(?=\p{L}\p{M}*)"),
)
_REPEATS = ("*", "+", "?", "{2}", "{1,3}", "{2,}", "{,2}", "*?", "+?", "??", "{1,2}?", "*+", "++", "?+", "{1,2}+")


_AROUND = ("(?=", "(?!", "(?<=", "(?<!")


def random_pattern(chance: random.Random, depth: int) -> str:
    """Make an expression of what the dialect has here, and of some that it has not."""
    kind = chance.random()
    if depth == 0 or kind < 0.3:
        return chance.choice(_ONE) if chance.random() < 0.88 else chance.choice(_BESIDE)
    parts = [random_pattern(chance, depth - 1) for _ in range(chance.randint(1, 3))]
    if kind < 0.5:
        return "".join(parts)
    if kind < 0.65:
        return chance.choice(("(?:", "(", "(?P<x>", "(?>", "(?s:")) + "|".join(parts) + ")"
    if kind < 0.75:
        return chance.choice(_AROUND) + "|".join(parts) + ")"
    if kind < 0.79:
        return f"(?:{'|'.join(parts)}|)"
    return f"(?:{parts[0]}){chance.choice(_REPEATS)}"


def test_random_patterns():
    chance, accepted, compared, cuts = random.Random(19), 0, 0, 0
    for _ in range(more(400, 100_000)):
        pattern = "|".join(random_pattern(chance, 3) for _ in range(chance.randint(1, 4)))
        try:
            fast = core(pattern)
        except ValueError:
            continue
        accepted += 1
        slow = RegexSplitter([pattern])
        for _ in range(12):
            data = random_data(chance)
            if disputed().isdisjoint(data.decode("utf-8", "surrogateescape")):
                assert ends(fast, data) == ends(slow, data), (pattern, data)
                compared += 1
            cut = fast.safe_cut(data)
            if cut:
                cuts += 1
                parts = ends(fast, data[:cut]) + [cut + end for end in ends(fast, data[cut:])]
                assert parts == ends(fast, data), (pattern, data, cut)
    assert accepted > more(180, 50_000), accepted
    assert compared > 10 * accepted
    assert cuts > more(150, 40_000), cuts


# -- characters ------------------------------------------------------------------------------------


@cache
def undisputed() -> str:
    """Return the characters that both Unicode versions know, or both do not, without those of another category."""
    newer = matched(r"\P{Cn}") ^ matched_by_regex(r"\P{Cn}")
    return MOST.translate(dict.fromkeys(map(ord, newer | disputed())))


def runs(pattern: str) -> tuple[list[int], list[int]]:
    """Return where runs of a class end in all of Unicode: for the core, and for the ``regex`` module."""
    text = undisputed()
    bounds = sorted(
        {at for match in regex.finditer(f"(?:{pattern})+", text) for at in match.span()} - {0} | {len(text)}
    )
    data = text.encode()
    found = ends(core(f"(?:{pattern})+"), data)
    offsets, at, last = [], 0, 0
    for bound in bounds:
        at += len(text[last:bound].encode())
        offsets.append(at)
        last = bound
    return found, offsets


def test_every_letter_in_any_case():
    """A letter matches the same characters in any case, by itself and from one to another."""
    known = [each for each in undisputed() if each in matched(r"[\p{L}\p{M}\p{So}\p{N}]")]
    cased = "".join(each for each in known if each.casefold() != each or each.upper() != each or each in "ıſ")
    data = cased.encode()
    letters = cased[:: more(70, 1)]
    for letter in letters:
        for pattern in (f"(?i:{letter})", f"(?i:[{letter}1])", f"(?i:[{letter}-{chr(ord(letter) + 3)}])"):
            assert ends(core(pattern), data) == ends(RegexSplitter([pattern]), data), pattern
    assert len(letters) > more(35, 2500)


FOLDED = (
    *(f"(?i:{letter})" for letter in more("AIKSZ", string.ascii_uppercase)),
    *("(?i:s|k|i)", "(?i:[a-z])", "(?i:[A-Z])", "(?i:[^a-z])", "(?i:[h-j0-9])", "(?i:[^I])", "(?i:[@-_])"),
    *(
        r"(?i:\p{Lu})",
        r"(?i:[\p{Ll}])",
        r"(?i:[^\p{Lt}])",
        r"(?i:[\p{Greek}1])",
        r"(?i:[^\p{Greek}é])",
        r"(?i:[\P{Latin}ſ])",
    ),
    *(r"(?i:\p{L})", r"(?i:\p{N})", r"(?i:\s)", r"(?i:\w)"),
)


@pytest.mark.parametrize("pattern", [r"\s", r"\d", r"\w", ".", r"[^\w\s]", *FOLDED])
def test_classes(pattern):
    ours, theirs = runs(pattern)
    assert ours == theirs


def names() -> list[str]:
    """Return the names of categories, scripts and other properties that the module knows."""
    from regex import _regex_core

    spelt = {name for _, values in _regex_core.PROPERTIES.values() for name in values} | set(_regex_core.PROPERTIES)
    return sorted(str(name).title() if len(str(name)) > 2 else str(name).capitalize() for name in spelt)


def test_properties():
    """A property has the same characters in both, or the core does not know its name."""
    accepted, differing = 0, []
    for name in names()[:: more(12, 1)]:
        if not name.replace("_", "").isalnum():
            continue
        try:
            core(rf"\p{{{name}}}+")
        except ValueError:
            continue
        try:
            ours, theirs = runs(rf"\p{{{name}}}")
        except regex.error:
            differing.append(name)
            continue
        accepted += 1
        if ours != theirs:
            differing.append(name)
    assert differing == []
    assert accepted > more(12, 150)


# -- hostile patterns ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "pieces"),
    [
        ("(?:a+)+b", 1),
        ("(?:(?:a|aa)+)+(?<=ab)", 1),
        ("(?:a|aa)+?(?=b)|a", 5_000),
        ("(?:a{1,3}){2,}+b|aa", 2_500),
        ("(?=(?:a+)+b)|(?:a+?)+?(?!a)", 1),
        ("(?:a{2,90}){9,}(?=bb)", 1),
    ],
)
def test_hostile_patterns_end(pattern, pieces):
    """What a backtracking engine tries for ever is tried once in each place."""
    assert len(ends(core(pattern), b"a" * 5_000)) == pieces
    short = b"a" * 12
    assert ends(core(pattern), short) == ends(RegexSplitter([pattern]), short)
