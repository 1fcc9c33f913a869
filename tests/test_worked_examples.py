"""Check every number of the worked examples that the project was created from.

The plain-Python ``teaching`` must give them, and so must the compiled core where it can express them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, islice, pairwise
from typing import Any

import pytest
import regex

from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.spelling import from_visible, to_visible
from bpe_cli.teaching.bpe import Training, character_words, count_pairs, count_symbols, train
from tests.core_options import bpe_options
from tests.oracle import longest_match
from tests.oracle.encode import encode_by_merges, replay_merges

# -- the walk-through of Sennrich et al. -----------------------------------------------------------

WALK = {"low": 5, "lower": 2, "newest": 6, "widest": 3}

# Worked out by hand. 11 symbols at the start: l o w </w> e r n s t i d. Merging goes on "until the next
# highest count is 1". What happens to the vocabulary in use:
WALK_STEPS = [
    ("e", "s", 9, 0, 11),  # s goes: every s follows an e. e stays in lower, newest
    ("es", "t", 9, -1, 10),  # es and t go: they only occur together
    ("est", "</w>", 9, 0, 10),  # est goes; </w> stays in low, lower
    ("l", "o", 7, -1, 9),  # both go
    ("lo", "w", 7, 0, 9),  # lo goes; w stays in newest, widest
    ("n", "e", 6, 0, 9),  # n goes; e stays in lower
    ("ne", "w", 6, 0, 9),  # ne goes; w stays in widest
    ("new", "est</w>", 6, 0, 9),  # new goes; est</w> stays in widest
    ("low", "</w>", 5, +1, 10),  # low and </w> both stay, in lower
    ("w", "i", 3, -1, 9),
    ("wi", "d", 3, -1, 8),
    ("wid", "est</w>", 3, -1, 7),
    ("low", "e", 2, -1, 6),
    ("lowe", "r", 2, -1, 5),
    ("lower", "</w>", 2, -1, 4),  # left: the four words themselves
]


def summary(training: Training[str]) -> list[tuple[str, str, int, int, int]]:
    return [(*step.pair, step.count, step.vocabulary_change, step.vocabulary_size) for step in training]


def test_walk_through() -> None:
    training = train(character_words(WALK), tie="first-seen", min_frequency=2)
    assert list(count_symbols(training.words)) == ["l", "o", "w", "</w>", "e", "r", "n", "s", "t", "i", "d"]
    assert count_pairs(training.words)["e", "s"] == 6 + 3
    assert summary(training) == WALK_STEPS
    *_, last = training
    assert list(last.words) == [("low</w>",), ("lower</w>",), ("newest</w>",), ("widest</w>",)]


# -- aaabdaaabac -----------------------------------------------------------------------------------


def test_aaabdaaabac() -> None:
    training = train({tuple("aaabdaaabac"): 1}, tie="first-seen", min_frequency=2)
    # The document's table leaves out ba, which its drawing shows
    assert count_pairs(training.words) == {
        ("a", "a"): 4,
        ("a", "b"): 2,
        ("b", "d"): 1,
        ("d", "a"): 1,
        ("b", "a"): 1,
        ("a", "c"): 1,
    }
    first, second, third = training
    assert (first.product, second.product, third.product) == ("aa", "aaa", "aaab")
    assert list(first.words) == [("aa", "a", "b", "d", "aa", "a", "b", "a", "c")]
    assert count_pairs(first.words) == {
        ("aa", "a"): 2,
        ("a", "b"): 2,
        ("b", "d"): 1,
        ("d", "aa"): 1,
        ("b", "a"): 1,
        ("a", "c"): 1,
    }
    assert list(second.words) == [("aaa", "b", "d", "aaa", "b", "a", "c")]
    assert list(third.words) == [("aaab", "d", "aaab", "a", "c")]
    assert max(count_pairs(third.words).values()) == 1  # "no need to replace any more"
    assert "".join("X" if symbol == "aaab" else symbol for symbol in next(iter(third.words))) == "XdXac"


# -- the notebook ----------------------------------------------------------------------------------

HOLY = {"holy": 5, "holier": 2, "newst": 6, "widest": 3}
# fmt: off
TOKENS_0 = {
    "h": 7, "o": 7, "l": 7, "y": 5, "</w>": 16, "i": 5, "e": 11, "r": 2, "n": 6, "w": 9, "st": 9, "d": 3,
}
TOKENS_1 = {
    "h": 7, "o": 7, "l": 7, "y": 5, "</w>": 7, "i": 5, "e": 11, "r": 2, "n": 6, "w": 9, "st</w>": 9, "d": 3,
}
# fmt: on


def spaced(training_words: Iterable[tuple[str, ...]]) -> list[str]:
    return [" ".join(word) for word in training_words]


def test_notebook_run() -> None:
    training = train(character_words(HOLY), tie="first-seen", num_merges=10)
    assert spaced(training.words) == ["h o l y </w>", "h o l i e r </w>", "n e w s t </w>", "w i d e s t </w>"]
    steps = list(training)
    assert len(steps) == 10

    assert (steps[0].pair, steps[0].count) == (("s", "t"), 9)
    assert spaced(steps[0].words) == ["h o l y </w>", "h o l i e r </w>", "n e w st </w>", "w i d e st </w>"]
    assert list(count_symbols(steps[0].words).items()) == list(TOKENS_0.items())
    assert steps[0].vocabulary_size == 12

    assert (steps[1].pair, steps[1].count) == (("st", "</w>"), 9)
    assert spaced(steps[1].words) == ["h o l y </w>", "h o l i e r </w>", "n e w st</w>", "w i d e st</w>"]
    assert list(count_symbols(steps[1].words).items()) == list(TOKENS_1.items())
    assert steps[1].vocabulary_size == 12

    assert (steps[2].pair, steps[2].count) == (("h", "o"), 7)
    assert spaced(steps[2].words) == ["ho l y </w>", "ho l i e r </w>", "n e w st</w>", "w i d e st</w>"]

    # The notebook's output is cut here; the rest by hand
    assert [(*step.pair, step.count) for step in steps[3:]] == [
        ("ho", "l", 7),
        ("n", "e", 6),
        ("ne", "w", 6),
        ("new", "st</w>", 6),
        ("hol", "y", 5),
        ("holy", "</w>", 5),
        ("w", "i", 3),
    ]


def test_notebook_encoding() -> None:
    counts = {"n": 4150, "s</w>": 4698, "in": 3363, "ta": 1009, "ou": 3936, "m": 7476}
    tokens = longest_match.longest_first(counts)
    assert tokens == ["s</w>", "ou", "in", "ta", "m", "n"]
    assert longest_match.encode("inmountains</w>", tokens) == ["in", "m", "ou", "n", "ta", "in", "s</w>"]


# -- four sentences, cut the way of GPT-2 ----------------------------------------------------------

SENTENCES = [
    "This is the Hugging Face Course.",
    "This chapter is about tokenization.",
    "This section shows several tokenizer algorithms.",
    "Hopefully, you will be able to understand how they are trained and generate tokens.",
]
# fmt: off
OFFSETS = [
    [("This", (0, 4)), ("Ġis", (4, 7)), ("Ġthe", (7, 11)), ("ĠHugging", (11, 19)), ("ĠFace", (19, 24)),
     ("ĠCourse", (24, 31)), (".", (31, 32))],
    [("This", (0, 4)), ("Ġchapter", (4, 12)), ("Ġis", (12, 15)), ("Ġabout", (15, 21)),
     ("Ġtokenization", (21, 34)), (".", (34, 35))],
    [("This", (0, 4)), ("Ġsection", (4, 12)), ("Ġshows", (12, 18)), ("Ġseveral", (18, 26)),
     ("Ġtokenizer", (26, 36)), ("Ġalgorithms", (36, 47)), (".", (47, 48))],
    [("Hopefully", (0, 9)), (",", (9, 10)), ("Ġyou", (10, 14)), ("Ġwill", (14, 19)), ("Ġbe", (19, 22)),
     ("Ġable", (22, 27)), ("Ġto", (27, 30)), ("Ġunderstand", (30, 41)), ("Ġhow", (41, 45)), ("Ġthey", (45, 50)),
     ("Ġare", (50, 54)), ("Ġtrained", (54, 62)), ("Ġand", (62, 66)), ("Ġgenerate", (66, 75)),
     ("Ġtokens", (75, 82)), (".", (82, 83))],
]
COUNTS = {
    "This": 3, "Ġis": 2, "Ġthe": 1, "ĠHugging": 1, "ĠFace": 1, "ĠCourse": 1, ".": 4, "Ġchapter": 1, "Ġabout": 1,
    "Ġtokenization": 1, "Ġsection": 1, "Ġshows": 1, "Ġseveral": 1, "Ġtokenizer": 1, "Ġalgorithms": 1,
    "Hopefully": 1, ",": 1, "Ġyou": 1, "Ġwill": 1, "Ġbe": 1, "Ġable": 1, "Ġto": 1, "Ġunderstand": 1, "Ġhow": 1,
    "Ġthey": 1, "Ġare": 1, "Ġtrained": 1, "Ġand": 1, "Ġgenerate": 1, "Ġtokens": 1,
}
ALPHABET = [
    "i", "t", "p", "o", "r", "m", "e", ",", "y", "v", "Ġ", "F", "a", "C", "H", ".", "f", "l", "u", "c", "T", "k",
    "h", "z", "d", "g", "w", "n", "s", "b",
]
MERGES = [
    ("Ġ", "t"), ("i", "s"), ("e", "r"), ("Ġ", "a"), ("Ġt", "o"), ("e", "n"), ("T", "h"), ("Th", "is"), ("o", "u"),
    ("s", "e"), ("Ġto", "k"), ("Ġtok", "en"), ("n", "d"), ("Ġ", "is"), ("Ġt", "h"), ("Ġth", "e"), ("i", "n"),
    ("Ġa", "b"), ("Ġtoken", "i"), ("Ġtokeni", "z"),
]
PRODUCTS = [
    "Ġt", "is", "er", "Ġa", "Ġto", "en", "Th", "This", "ou", "se", "Ġtok", "Ġtoken", "nd", "Ġis", "Ġth", "Ġthe",
    "in", "Ġab", "Ġtokeni", "Ġtokeniz",
]
# fmt: on


def pieces(text: str) -> list[tuple[str, tuple[int, int]]]:
    """Cut text with GPT-2's pattern; all of these texts are ASCII, so bytes and characters agree."""
    matches = regex.finditer(PATTERNS["gpt2"].regex, text)
    return [(to_visible(match[0].encode()), match.span()) for match in matches]


def sentence_counts() -> dict[str, int]:
    counts: dict[str, int] = {}
    for sentence in SENTENCES:
        for piece, _ in pieces(sentence):
            counts[piece] = counts.get(piece, 0) + 1
    return counts


def test_sentences_pieces() -> None:
    assert [pieces(sentence) for sentence in SENTENCES] == OFFSETS
    assert list(sentence_counts().items()) == list(COUNTS.items())


def test_sentences_training() -> None:
    words = character_words(sentence_counts(), end="")
    assert words["T", "h", "i", "s"] == 3
    assert len(ALPHABET) == 30
    assert set(count_symbols(words)) == set(ALPHABET)
    pairs = list(count_pairs(words).items())
    assert pairs[:6] == [
        (("T", "h"), 3),
        (("h", "i"), 3),
        (("i", "s"), 5),
        (("Ġ", "i"), 2),
        (("Ġ", "t"), 7),
        (("t", "h"), 3),
    ]
    assert pairs[-1] == (("n", "s"), 1)

    training = train(words, initial=ALPHABET, vocab_size=50, tie="first-seen")
    assert training.merges() == MERGES
    assert training.tokens() == ALPHABET + PRODUCTS
    first = next(iter(training))
    assert (first.pair, first.count) == (("Ġ", "t"), 7)
    for word in ("T h i s", "Ġ i s", "Ġt h e", "Ġ H u g g i n g", "Ġt o k e n s"):
        assert tuple(word.split()) in first.words


@pytest.mark.parametrize("encode", [encode_by_merges, replay_merges])
def test_sentences_encoding(encode: Any) -> None:
    found = [token for piece, _ in pieces("This is not a token.") for token in encode(piece, MERGES)]
    assert found == ["This", "Ġis", "Ġ", "n", "o", "t", "Ġa", "Ġtoken", "."]


# -- the same through the compiled core ------------------------------------------------------------


def train_core(words: Iterable[tuple[bytes, int]], vocab_size: int, min_frequency: int) -> tuple[Any, list[bytes]]:
    """Train with first-seen ties; the alphabet is numbered as first seen. Give training and tokens."""
    from bpe_cli import _core as core

    listed = list(words)
    data = b"".join(word for word, _ in listed)
    counts = core.Counts(1 << 30)
    counts.add_pieces(
        data,
        array("Q", accumulate(len(word) for word, _ in listed)),
        array("Q", (count for _, count in listed)),
    )
    initial = [bytes([byte]) for byte in dict.fromkeys(data)]
    training = core.train_bpe(
        counts,
        bpe_options(initial, vocab_size=vocab_size, min_frequency=min_frequency, tie="first-seen"),
    )
    blob, ends = training.tokens()
    bounds = [0, *memoryview(ends)]
    return training, [bytes(blob[start:end]) for start, end in pairwise(bounds)]


def core_merges(training: Any, tokens: Sequence[bytes]) -> list[tuple[bytes, bytes, bytes]]:
    numbers = iter(memoryview(training.merges).tolist())
    return [(tokens[left], tokens[right], tokens[product]) for left, right, product in zip(*[numbers] * 3, strict=True)]


def test_core_walk_through() -> None:
    words = [(f"{word}$".encode(), count) for word, count in WALK.items()]  # $ for </w>
    training, tokens = train_core(words, vocab_size=1000, min_frequency=2)
    assert memoryview(training.counts).tolist() == [count for _, _, count, _, _ in WALK_STEPS]
    assert core_merges(training, tokens) == [
        (left.encode(), right.encode(), left.encode() + right.encode())
        for left, right in ((a.replace("</w>", "$"), b.replace("</w>", "$")) for a, b, *_ in WALK_STEPS)
    ]
    assert training.exhausted
    assert tokens[:11] == [b"l", b"o", b"w", b"$", b"e", b"r", b"n", b"s", b"t", b"i", b"d"]


def test_core_aaabdaaabac() -> None:
    training, tokens = train_core([(b"aaabdaaabac", 1)], vocab_size=1000, min_frequency=2)
    assert core_merges(training, tokens) == [(b"a", b"a", b"aa"), (b"aa", b"a", b"aaa"), (b"aaa", b"b", b"aaab")]
    assert memoryview(training.counts).tolist() == [4, 2, 2]
    assert tokens == [b"a", b"b", b"d", b"c", b"aa", b"aaa", b"aaab"]


def test_core_sentences() -> None:
    corpus = [(from_visible(piece), 1) for sentence in SENTENCES for piece, _ in pieces(sentence)]
    training, tokens = train_core(corpus, vocab_size=50, min_frequency=1)
    shown = [to_visible(token) for token in tokens]
    assert set(shown[:30]) == set(ALPHABET)
    assert shown[30:] == PRODUCTS
    assert [(to_visible(a), to_visible(b)) for a, b, _ in core_merges(training, tokens)] == MERGES
    assert not training.exhausted


def test_core_sentences_encoding() -> None:
    corpus = [(from_visible(piece), 1) for sentence in SENTENCES for piece, _ in pieces(sentence)]
    training, tokens = train_core(corpus, vocab_size=50, min_frequency=1)
    from bpe_cli.stages import MergeBpe, Split
    from bpe_cli.stages.vocabulary import Merges, Vocabulary
    from bpe_cli.tokenizer import Tokenizer

    numbers = iter(memoryview(training.merges).tolist())
    merges = Merges.from_pairs(list(islice(numbers, 3)) for _ in MERGES)
    tokenizer = Tokenizer(MergeBpe(Vocabulary.from_tokens(tokens), merges), (Split(PATTERNS["gpt2"].regex),))
    ids = tokenizer.encode("This is not a token.")
    assert [to_visible(tokens[token_id]) for token_id in ids] == [
        "This", "Ġis", "Ġ", "n", "o", "t", "Ġa", "Ġtoken", ".",
    ]  # fmt: skip
    assert tokenizer.decode_bytes(ids) == b"This is not a token."


# -- ids of OpenAI's encodings ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "ids", "apart"),
    [
        ("cl100k_base", "你是谁, my name", [57668, 21043, 39013, 223, 11, 856, 836], "你是��, my name"),
        ("cl100k_base", "你是谁", [57668, 21043, 39013, 223], "你是��"),
        ("gpt2", "你是谁", [19526, 254, 42468, 164, 108, 223], "��是���"),
    ],
)
def test_ids(name: str, text: str, ids: list[int], apart: str) -> None:
    from bpe_cli.tokenizer.named_encodings import named

    tokenizer = named(name)
    assert tokenizer.encode(text) == ids
    assert tokenizer.decode_bytes(ids) == text.encode()
    # What a display shows that decodes token by token: a part of a character is one U+FFFD
    assert "".join(tokenizer.token_bytes(token_id).decode("utf-8", "replace") for token_id in ids) == apart


CHAT_35 = """\
<|im_start|>system
You are a helpful assistant<|im_end|>
<|im_start|>user
你是谁<|im_end|>
<|im_start|>assistant
"""
CHAT_4_32K = (
    "<|im_start|>system<|im_sep|>You are a helpful assistant<|im_end|><|im_start|>user<|im_sep|>你是谁<|im_end|>"
    "<|im_start|>assistant<|im_sep|>"
)
# fmt: off
CHAT_35_IDS = [
    100264, 9125, 198, 2675, 527, 264, 11190, 18328, 100265, 198, 100264, 882, 198, 57668, 21043, 39013, 223, 100265,
    198, 100264, 78191, 198,
]
CHAT_4_32K_IDS = [
    100264, 9125, 100266, 2675, 527, 264, 11190, 18328, 100265, 100264, 882, 100266, 57668, 21043, 39013, 223, 100265,
    100264, 78191, 100266,
]
# fmt: on


def test_chat_ids() -> None:
    from bpe_cli.stages import SpecialToken
    from bpe_cli.tokenizer.named_encodings import named

    cl100k_im = named("cl100k_base").with_special_tokens(
        [SpecialToken(b"<|im_start|>", 100264), SpecialToken(b"<|im_end|>", 100265)]
    )
    assert cl100k_im.encode(CHAT_35, specials="all") == CHAT_35_IDS
    assert cl100k_im.decode_bytes(CHAT_35_IDS) == CHAT_35.encode()
    with_separator = cl100k_im.with_special_tokens([SpecialToken(b"<|im_sep|>", 100266)])
    assert with_separator.encode(CHAT_4_32K, specials="all") == CHAT_4_32K_IDS
    assert with_separator.decode_bytes(CHAT_4_32K_IDS) == CHAT_4_32K.encode()
