"""The core cuts by the expressions that GGUF files name as the ``regex`` module does, on any bytes."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

import pytest

from bpe_cli import _core
from bpe_cli.formats.gguf.splits import SPLITS
from bpe_cli.stages import Split
from bpe_cli.stages.component_json import core_spec
from bpe_cli.stages.splitters import RegexSplitter, compile_splitter
from tests.differential.texts import WORDS, disputed
from tests.thorough import more

EXPRESSIONS = {expression for split in SPLITS.values() for expression in split}

CHARACTERS = (
    "a",
    "B",
    "é",
    "\u0301",
    "1",
    "²",
    "٣",
    " ",
    "\u00a0",
    "\n",
    "\r",
    "\t",
    "!",
    "/",
    "'",
    "s",
    "中",
    "が",
    "_",
    "(",
)

BLANKS = [
    before + " " * length + after
    for length in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 511, 512, 513, 514, 1025, 1600)
    for before in ("", "x", "\n")
    for after in ("", "a", " a", "\n", "!", "1")
]


@cache
def both(name: str) -> tuple[_core.Splitter, RegexSplitter]:
    fast = compile_splitter(SPLITS[name])
    assert isinstance(fast, _core.Splitter)
    return fast, RegexSplitter(SPLITS[name])


def ends(splitter: _core.Splitter | RegexSplitter, data: bytes) -> list[int]:
    return memoryview(splitter.split(data)).tolist()


@pytest.mark.parametrize(
    ("name", "text", "pieces"),
    [
        ("superbpe", "a1234567 12345 123", ["a", "1", "234", "567", " ", "12", "345", " ", "123"]),
        ("superbpe", "²1234²123", ["²1", "234²", "123"]),
        ("afmoe", "ab1234567x", ["ab", "1", "234", "567", "x"]),
        ("jais-2", "a       b", ["a", "    ", "  ", " b"]),
        ("deepseek-llm", "a  ", ["a", "  "]),
        ("newlines", "a b\n\nc", ["a b", "\n\n", "c"]),
        ("kimi", "don't 中文 a1234", ["don't", " ", "中文", " a", "123", "4"]),
        ("gpt-4o", "aÉé B", ["aÉé", " B"]),
        ("falcon", "12345, a", ["123", "45", ",", " a"]),
    ],
)
def test_worked_examples(name, text, pieces):
    fast, slow = both(name)
    data = text.encode()
    for splitter in (fast, slow):
        found = ends(splitter, data)
        assert [data[start:end].decode() for start, end in zip([0, *found], found, strict=False)] == pieces


@pytest.mark.parametrize("name", SPLITS)
def test_same_pieces(name):
    fast, slow = both(name)
    chance = random.Random(name)
    texts = [
        *("".join(parts) for length in range(4) for parts in product(CHARACTERS[: more(12, 20)], repeat=length)),
        *("".join(chance.choices(CHARACTERS, k=chance.randint(4, 40))) for _ in range(more(700, 20_000))),
        *("".join(chance.choices("  \t\n\r1234567a²", k=chance.randint(4, 80))) for _ in range(more(250, 5000))),
        *("".join(chance.choices(WORDS, k=12)) for _ in range(more(100, 2000))),
        *BLANKS,
    ]
    compared = 0
    for text in texts:
        if disputed().isdisjoint(text):
            assert ends(fast, text.encode()) == ends(slow, text.encode()), text
            compared += 1
    assert compared > 3000


@pytest.mark.parametrize("name", SPLITS)
def test_same_pieces_of_bytes_that_are_no_text(name):
    fast, slow = both(name)
    chance = random.Random(name)
    parts = (b"a", b"1", b" ", b"\n", b"!", b"\xff", b"\xe4", b"\xb8", b"\xc3\xa9", b"\xf0\x9f")
    for _ in range(more(300, 3000)):
        data = b"".join(chance.choices(parts, k=chance.randint(1, 20)))
        assert ends(fast, data) == ends(slow, data), data


@pytest.mark.parametrize("expression", sorted(EXPRESSIONS))
def test_the_long_way_cuts_alike(expression):
    """A tokenizer that has other stages besides runs the same expression among them."""
    stages, fast = _core.Stages(core_spec((), (Split(expression),))), compile_splitter((expression,))
    chance = random.Random(expression)
    for _ in range(100):
        data = "".join(chance.choices(CHARACTERS, k=chance.randint(1, 40))).encode()
        _, _, found, *_ = stages.pre_tokenize(data)
        assert memoryview(found).tolist() == ends(fast, data)


def test_what_takes_more_than_an_automaton_is_left_to_the_module():
    assert isinstance(compile_splitter((r"\p{N}", r"(a)\1")), RegexSplitter)
