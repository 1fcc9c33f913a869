"""Training gives what rustbpe, minbpe and subword-nmt give, each with its own rule for ties."""

from __future__ import annotations

import io
import json
from array import array
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import formats
from bpe_cli.stages import SpecialToken
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bbpe
from tests.differential.texts import MIXED, corpus, suite
from tests.needs import needs

TRAIN = Path("expected", "train")


def train(documents: list[bytes], options: bbpe.BbpeOptions) -> Tokenizer:
    counts = bbpe.new_counts()
    bbpe.TRAINER.count([Block.of(documents)], options, counts, threads=2)
    return bbpe.TRAINER.train(counts, options).tokenizer


def ranks_of(tokenizer: Tokenizer) -> dict[bytes, int]:
    return {token: token_id for token_id, token in tokenizer.model.vocabulary.items()}


# -- rustbpe ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["botchan.1024", "nanochat-split.code.1024", "zh.1024"])
def test_recorded_training_of_rustbpe(shared, name):
    expected = json.loads((shared / TRAIN / "rustbpe" / f"{name}.json").read_bytes())
    # The record names its source relative to the folder above: corpora/corpora/default/...
    text = (shared / expected["src"].removeprefix("corpora/")).read_bytes()
    options = bbpe.BbpeOptions(expected["vocab_size"], expected["pattern"], compat="rustbpe")
    ours = train(text.split(b"\n\n"), options)
    file = (shared / TRAIN / "rustbpe" / f"{name}.tiktoken").read_bytes()
    assert formats.dump(ours, "tiktoken", ["pattern"])[""] == file
    texts = suite(shared)
    assert expected["cases"].keys() == texts.keys()
    for case, ids in expected["cases"].items():
        assert ours.encode(texts[case]) == ids, case


@pytest.mark.parametrize("pattern", ["gpt2", "llama3", "nanochat", "o200k"])
def test_training_of_rustbpe(pattern):
    rustbpe = needs("rustbpe")
    texts = list(corpus().values())
    theirs = rustbpe.Tokenizer()
    theirs.train_from_iterator(iter(texts), 2000, pattern=PATTERNS[pattern].regex)
    ours = train([text.encode() for text in texts], bbpe.BbpeOptions(2000, PATTERNS[pattern].regex, compat="rustbpe"))
    assert ranks_of(ours) == {bytes(token): rank for token, rank in theirs.get_mergeable_ranks()}
    for text in texts:
        assert ours.encode(text) == theirs.encode(text)


# -- minbpe ----------------------------------------------------------------------------------------


def read_minbpe(path: Path) -> tuple[str, dict[str, int], list[tuple[int, int]]]:
    """Read a .model file: pattern, special tokens, merges."""
    version, pattern, number, *lines = path.read_text(encoding="utf-8").splitlines()
    assert version == "minbpe v1"
    special = {text: int(token_id) for text, token_id in (line.rsplit(" ", 1) for line in lines[: int(number)])}
    merges = [(int(left), int(right)) for left, right in (line.split() for line in lines[int(number) :])]
    return pattern, special, merges


@pytest.mark.parametrize(
    "name", ["basic.shakespeare60k.384", "basic.zh20k.384", "regex.shakespeare60k.512", "regex.zh20k.384"]
)
def test_recorded_training_of_minbpe(shared, name):
    pattern, special, merges = read_minbpe(shared / TRAIN / "minbpe" / f"{name}.model")
    text = (shared / TRAIN / "minbpe" / f"{name.split('.')[1]}.txt").read_bytes()
    ours = train([text], bbpe.BbpeOptions(256 + len(merges), pattern, compat="minbpe"))
    assert [(left, right) for left, right, _ in ours.model.merges] == merges
    assert [product for _, _, product in ours.model.merges] == list(range(256, 256 + len(merges)))
    ours = ours.with_special_tokens(SpecialToken(content.encode(), token_id) for content, token_id in special.items())
    texts = suite(shared)
    cases = json.loads((shared / TRAIN / "minbpe" / f"{name}.json").read_bytes())["cases"]
    assert cases.keys() == texts.keys()
    for case, expected in cases.items():
        assert ours.encode(texts[case]) == expected["ids"], case
        assert ours.encode(texts[case], specials="all") == expected.get("special", expected["ids"]), case


def minbpe(pieces: list[bytes], number: int) -> list[tuple[int, int]]:
    """Train as minbpe's ``RegexTokenizer.train`` does: dictionaries keep the order of insertion, ``max`` the first."""
    ids = [list(piece) for piece in pieces]
    merges = []
    for new in range(256, 256 + number):
        stats: dict[tuple[int, int], int] = {}
        for word in ids:
            for pair in pairwise(word):
                stats[pair] = stats.get(pair, 0) + 1
        if not stats:
            break
        best = max(stats, key=stats.__getitem__)
        merges.append(best)
        for place, word in enumerate(ids):
            merged = []
            at = 0
            while at < len(word):
                if tuple(word[at : at + 2]) == best:
                    merged.append(new)
                    at += 2
                else:
                    merged.append(word[at])
                    at += 1
            ids[place] = merged
    return merges


@given(
    texts=st.lists(st.text(st.sampled_from("ab cé.1\n"), max_size=40) | MIXED, min_size=1, max_size=4).filter(any),
    number=st.integers(0, 40),
    pattern=st.sampled_from(["", "gpt2", "llama3", "o200k"]),
)
def test_training_of_minbpe(texts, number, pattern):
    expression = PATTERNS[pattern].regex if pattern else ""
    ours = train([text.encode() for text in texts], bbpe.BbpeOptions(256 + number, expression, compat="minbpe"))
    pieces = [piece.encode() for text in texts for piece in (regex.findall(expression, text) if expression else [text])]
    assert [(left, right) for left, right, _ in ours.model.merges] == minbpe(pieces, number)


# -- subword-nmt -----------------------------------------------------------------------------------
# It trains on the characters of words; the last one has "</w>" glued to it, and ties go to the largest
# pair of strings. It can be compared with a byte-level trainer where bytes can be put in place of characters
# and of last characters without changing the order of any two strings: if all characters are below "<".

FIRST = 0x21
LETTERS = "abcdefghijklmnopqrstuvwxyz"
"""Letter n is written as the character 0x21 + n for them, at most 0x3A, and for us as byte 0x40 + 2 n, or as the
one behind it at the end of a word."""


def subword_nmt(words: Mapping[str, int], number: int, min_frequency: int) -> list[tuple[bytes, bytes]]:
    """Train there; give the merges in our bytes."""
    learn = needs("subword_nmt.learn_bpe")
    names = [("".join(chr(FIRST + LETTERS.index(letter)) for letter in word), count) for word, count in words.items()]
    dictionary = io.StringIO("\n".join(f"{name} {count}" for name, count in names))
    out = io.StringIO()
    try:
        learn.learn_bpe(dictionary, out, number, min_frequency, is_dict=True)
    except ValueError as error:  # their defect: when all words are whole, they look for the largest of nothing
        if "max()" not in str(error):
            raise

    def our_bytes(symbol: str) -> bytes:
        whole = symbol.removesuffix("</w>")
        data = bytearray(0x40 + 2 * (ord(character) - FIRST) for character in whole)
        data[-1] += symbol != whole
        return bytes(data)

    lines = out.getvalue().splitlines()
    assert lines[0] == "#version: 0.2"
    return [(our_bytes(left), our_bytes(right)) for left, right in (line.split(" ") for line in lines[1:])]


def train_on_words(words: Mapping[str, int], number: int, min_frequency: int | None) -> list[tuple[bytes, bytes]]:
    counts = bbpe.new_counts()
    pieces = []
    for word in words:
        data = bytearray(0x40 + 2 * LETTERS.index(letter) for letter in word)
        data[-1] += 1
        pieces.append(bytes(data))
    counts.add_pieces(b"".join(pieces), Block.of(pieces).ends, array("Q", words.values()))
    options = bbpe.BbpeOptions(256 + number, "", min_frequency=min_frequency, compat="subword-nmt")
    tokenizer = bbpe.TRAINER.train(counts, options).tokenizer
    return [(tokenizer.token_bytes(left), tokenizer.token_bytes(right)) for left, right, _ in tokenizer.model.merges]


@pytest.mark.parametrize("language", ["en", "de", "es", "fi", "tr"])
def test_training_of_subword_nmt(language):
    text = corpus()[f"corpora/languages/{language}.txt"].lower()
    words = Counter(regex.findall("[a-z]+", text))
    ours = train_on_words(words, 1500, None)
    assert len(ours) > 150
    assert ours == subword_nmt(words, 1500, 2)


@given(
    words=st.dictionaries(
        st.text(st.sampled_from("abz"), min_size=1, max_size=8), st.integers(1, 4), min_size=1, max_size=8
    ).filter(lambda words: any(len(word) > 1 for word in words)),
    number=st.integers(0, 30),
    min_frequency=st.integers(1, 4),
)
def test_training_of_subword_nmt_with_many_ties(words, number, min_frequency):
    assert train_on_words(words, number, min_frequency) == subword_nmt(words, number, min_frequency)
