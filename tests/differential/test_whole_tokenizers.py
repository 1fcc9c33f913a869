"""Random text through whole tokenizers, against tokenizers and sentencepiece: all stages at once, with added tokens.

The rivals train small tokenizers here; ours reads their files, and is to give the same ids, spans and texts.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import InputError
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.stages import (
    FewestTokens,
    GreedyCover,
    LongestMatch,
    MaxMatch,
    NGram,
    SpecialToken,
    Unigram,
    WhitespaceSplit,
    WordLevel,
)
from bpe_cli.stages.spelling import to_visible
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer, named_encodings
from bpe_cli.tokenizer.model_inputs import trim, trims
from tests.counted import at_least, compared
from tests.differential.small_tokenizers import (
    RECIPES,
    SENTENCEPIECE,
    TRICKY,
    decoders,
    hf,
    models,
    splits,
    texts,
    trained,
    trained_by_sentencepiece,
)
from tests.differential.test_hugging_face_files import character_span
from tests.differential.texts import RAW
from tests.thorough import more

# -- tokenizers ------------------------------------------------------------------------------------


@pytest.fixture(params=RECIPES)
def pair(request) -> tuple[Any, Tokenizer]:
    return trained(request.param)


def spans_of(tokenizer: Tokenizer, text: str) -> list[tuple[int, int]]:
    """Return the characters that each token stands for, trimmed as the post-processor asks."""
    tokens = tokenizer.tokens(text, specials="all")
    spans = [tuple(character_span(text, token.start, token.end)) for token in tokens]
    contents = [
        text[slice(*span)] if token.special else to_visible(token.content)
        for token, span in zip(tokens, spans, strict=True)
    ]
    for prefix_space in trims(tokenizer.post_processor):
        spans = trim(spans, contents, add_prefix_space=prefix_space)
    return spans


@cache
def read_otherwise(theirs: Any, ours: Tokenizer) -> set[int]:
    """Return the added tokens that read otherwise with Hugging Face's library than they are written.

    It gives what the normalizer makes of them (huggingface/tokenizers#1995), and a byte-level decoder
    takes their characters for bytes (#1392). Ours gives their texts.
    """
    found = set()
    reads_bytes = isinstance(theirs.decoder, decoders.ByteLevel)
    for token in ours.special_tokens:
        text = token.content.decode()
        normal = theirs.normalizer.normalize_str(text) if theirs.normalizer and token.normalized else text
        if normal != text or (reads_bytes and not text.isascii()):
            found.add(token.token_id)
    return found


def read_by(theirs: Any, ids: list[int]) -> str:
    """Decode with the library; without a decoder it puts a space between tokens, and ours nothing."""
    if theirs.decoder is None:
        return "".join(theirs.decode([token_id], skip_special_tokens=False) for token_id in ids)
    return theirs.decode(ids, skip_special_tokens=False)


def left_out(theirs: Any, text: str) -> str:
    """Return a text without the characters that the normalizer makes nothing of."""
    return "".join(each for each in text if theirs.normalizer.normalize_str(each))


def fused(spans: list[tuple[int, int]], theirs: list[tuple[int, int]], tokens: list[str]) -> list[tuple[int, int]]:
    """Widen spans of bytes: Hugging Face's Unigram takes a run of unknown characters for one."""
    widened = list(spans)
    for span, run in groupby(range(len(spans)), key=lambda number: (theirs[number], tokens[number].startswith("<0x"))):
        numbers = list(run)
        if span[1]:
            hull = (spans[numbers[0]][0], spans[numbers[-1]][1])
            widened[numbers[0] : numbers[-1] + 1] = [hull] * len(numbers)
    return widened


def assert_alike(theirs: Any, ours: Tokenizer, text: str) -> None:
    expected = theirs.encode(text, add_special_tokens=False)
    assert ours.encode(text, specials="all") == expected.ids, ascii(text)
    spans = spans_of(ours, text)
    if isinstance(ours.model, Unigram) and ours.model.byte_fallback:
        spans = fused(spans, expected.offsets, expected.tokens)
    assert spans == expected.offsets, ascii(text)
    readable = [token_id for token_id in expected.ids if token_id not in read_otherwise(theirs, ours)]
    assert ours.decode_bytes(readable).decode("utf-8", "replace") == read_by(theirs, readable), ascii(text)


@pytest.mark.parametrize("name", RECIPES)
def test_library(name):
    """Ids, spans and what ids read as."""
    theirs, ours = trained(name)
    for text in texts(more(200, 20_000), seed=1):
        if name == "t5" and left_out(theirs, text) != text:  # there the library loses its place; see below
            assert ours.encode(text, specials="all") == theirs.encode(text).ids, ascii(text)
            text = left_out(theirs, text)
        if name == "unigram, bytes":
            while text and not theirs.normalizer.normalize_str(text[0]):  # there it leaves out the mark; see below
                text = text[1:]
        assert_alike(theirs, ours, text)


@at_least(100)
@pytest.mark.parametrize("name", RECIPES)
def test_words(name):
    """Which piece each token belongs to.

    What is found in normalized text divides it behind the normalizer in the library, and before it in ours. So what a
    normalizer takes off at the ends of texts is not told apart there.
    """
    theirs, ours = trained(name)
    behind = {token.token_id for token in ours.special_tokens if token.normalized}
    for text in texts(more(200, 5_000), seed=4):
        if name == "t5":
            text = left_out(theirs, text)
        if name == "unigram, bytes":
            text = text.lstrip().lstrip("".join(each for each in text if not theirs.normalizer.normalize_str(each)))
        expected = theirs.encode(text, add_special_tokens=False)
        if name in ("bert", "unigram, bytes") and not behind.isdisjoint(expected.ids):
            continue
        (found,) = ours.model_inputs([text], specials="all", add_special_tokens=False)
        assert (list(found.ids), list(found.word_ids)) == (expected.ids, expected.word_ids), ascii(text)
        compared()


def test_what_precompiled_leaves_out_costs_the_library_its_place():
    """It puts what is left out on the account of the character before; at the beginning there is none."""
    theirs, ours = trained("t5")
    assert theirs.encode("\x0bab").offsets == [(0, 1), (1, 2)] == theirs.encode("ab").offsets
    assert spans_of(ours, "\x0bab") == [(1, 2), (2, 3)]


def test_the_first_mark_behind_what_is_left_out():
    """Scheme "first" means the piece at the beginning of the text to us; to the library, one that stands for it.

    So a text whose beginning is left out has no mark with the library.
    """
    theirs, ours = trained("unigram, bytes")
    assert theirs.encode("\x0bab").tokens == ["a", "b"]
    assert theirs.encode("ab").tokens == ["▁a", "b"]
    assert ours.encode("\x0bab") == ours.encode("ab") == theirs.encode("ab").ids


@pytest.mark.parametrize(
    ("name", "text", "with_library"),
    [("bert", "Whole", "whole"), ("clip", "Whole", "whole"), ("qwen", "Änderung", "\ufffdnderung")],
)
def test_added_tokens_read_as_they_are_written(name, text, with_library):
    theirs, ours = trained(name)
    token_id = theirs.token_to_id(text)
    assert token_id in read_otherwise(theirs, ours)
    assert ours.decode_bytes([token_id]).decode() == text
    assert theirs.decode([token_id]) == with_library


def test_round_trip(pair):
    theirs, ours = pair
    written = hf_json.dump(ours)[""]
    assert hf_json.loads(written) == ours
    assert written.decode() == theirs.to_str(pretty=True)
    again = hf.Tokenizer.from_str(written.decode())
    for text in texts(more(100, 5_000), seed=2):
        assert again.encode(text).ids == theirs.encode(text).ids, ascii(text)


def test_bytes_that_are_spelt_twice_are_read_twice():
    """Two ``ByteLevel`` in a file are two: the second spells what the first has spelt."""
    alphabet = {letter: number for number, letter in enumerate(sorted(splits.ByteLevel.alphabet()))}
    theirs = hf.Tokenizer(models.BPE(alphabet, []))
    twice = [splits.ByteLevel(add_prefix_space=False, use_regex=False)] * 2
    theirs.pre_tokenizer = splits.Sequence(twice)
    ours = hf_json.loads(theirs.to_str().encode())
    assert ours.encode("é") == theirs.encode("é").ids
    assert hf.Tokenizer.from_str(hf_json.dump(ours)[""].decode()).encode("é").ids == theirs.encode("é").ids


@pytest.mark.parametrize("model", [models.WordPiece, models.WordLevel, models.BPE])
def test_the_unknown_token_may_be_the_last(model):
    """Its place is in the vocabulary, where a model looks for the text that it names."""
    merges = ([],) if model is models.BPE else ()
    theirs = hf.Tokenizer(model({"a": 0, "<unk>": 1}, *merges, unk_token="<unk>"))
    theirs.pre_tokenizer = splits.WhitespaceSplit()
    theirs.add_special_tokens(["<unk>", "<pad>"])
    ours = hf_json.loads(theirs.to_str().encode())
    assert ours.encode("a b") == theirs.encode("a b").ids == [0, 1]
    written = hf_json.dump(ours)[""]
    assert written.decode() == theirs.to_str(pretty=True)
    assert hf_json.loads(written) == ours


@pytest.mark.parametrize("add_prefix_space", [False, True])
@pytest.mark.parametrize("reads_bytes", [False, True])
def test_spans_are_trimmed_by_what_stands_in_the_vocabulary(reads_bytes, add_prefix_space):
    """Tokens of text were taken for bytes: a line feed and a ``Ġ`` in a vocabulary of texts were no whitespace."""
    letters = ["Ġ", "Ċ", "\n", "\u3000", " ", "a", "Ġa", "a\n"]
    theirs = hf.Tokenizer(models.WordLevel({text: number for number, text in enumerate([*letters, "<unk>"])}, "<unk>"))
    whole = splits.Split(hf.Regex("a\\n|."), "isolated")
    theirs.pre_tokenizer = splits.ByteLevel(add_prefix_space=add_prefix_space) if reads_bytes else whole
    theirs.post_processor = hf.processors.ByteLevel(trim_offsets=True, add_prefix_space=add_prefix_space)
    ours = hf_json.loads(theirs.to_str().encode())
    for text in ("a a", "a\na", "a\n", "\n", " \n\u3000 a", "\u3000a a", "a"):
        expected, (found,) = theirs.encode(text), ours.model_inputs([text])
        assert list(found.ids) == expected.ids, ascii(text)
        assert list(found.spans) == expected.offsets, ascii(text)


# -- sentencepiece ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in SENTENCEPIECE if name != "bpe, folded symbols"])
def test_sentencepiece(name):
    theirs, ours = trained_by_sentencepiece(name)
    for text in texts(more(300, 20_000), seed=3):
        ids = theirs.encode(text)
        assert ours.encode(text) == ids, ascii(text)
        assert ours.decode_bytes(ids).decode("utf-8", "replace") == theirs.decode(ids), ascii(text)


@pytest.mark.parametrize(
    ("name", "text"), [("unigram, symbols", "Whole\u0301"), ("bpe, folded symbols", "a Whole a½b")]
)
def test_users_own_symbols_are_not_normalized(name, text):
    theirs, ours = trained_by_sentencepiece(name)
    assert ours.encode(text) == theirs.encode(text)


def test_a_suffix_behind_nothing():
    """Of a text that is left out whole SentencePiece keeps the mark that it puts behind texts; ours keeps nothing."""
    theirs, ours = trained_by_sentencepiece("unigram, suffix")
    assert theirs.encode("\x0b", out_type=str) == ["▁"]
    assert ours.encode("\x0b") == []


@pytest.mark.parametrize("name", ["unigram", "unigram, bytes", "unigram, suffix", "unigram, case folded"])
def test_best_segmentations(name):
    theirs, ours = trained_by_sentencepiece(name)
    compared = 0
    for text in texts(more(60, 2_000), seed=4):
        normal = ours.engine.normalize(text.encode())
        if not normal:
            continue
        found = [(list(ids), score) for ids, score in ours.engine.nbest(normal, 5)]
        assert [ids for ids, _ in found] == theirs.nbest_encode(text, nbest_size=5), ascii(text)
        if name == "unigram, bytes":
            continue  # bytes have another score than their pieces
        known = [(ids, score) for ids, score in found if theirs.unk_id() not in ids]
        sums = [sum(map(theirs.get_score, ids)) for ids, _ in known]
        assert [score for _, score in known] == pytest.approx(sums, abs=1e-3)
        compared += len(known)
    assert compared or name == "unigram, bytes"


# -- any threads, any blocks, any bytes ------------------------------------------------------------

ALL_OURS = [*((trained, name) for name in RECIPES), *((trained_by_sentencepiece, name) for name in SENTENCEPIECE)]


CUTTABLE = {"bert", "t5", "unigram, bytes", "words", "ends of words", "qwen", "falcon", "roberta"}
"""Recipes of which a long text is cut; with the others nothing says where a token must end."""


def blocks(data: bytes, size: int) -> Iterator[Block]:
    """Cut a document anywhere."""
    for start in range(0, len(data), size):
        part = data[start : start + size]
        yield Block(part, array("Q", [len(part)]), continued=start > 0, unfinished=start + size < len(data))


@pytest.mark.parametrize(("train", "name"), ALL_OURS)
def test_threads_and_blocks_change_nothing(train, name):
    tokenizer = train(name)[1]
    matcher = tokenizer.matcher("all")
    documents = [text.encode() for text in texts(more(200, 5_000), seed=5)]
    once = tokenizer.encode_block(Block.of(documents), matcher)
    assert tokenizer.encode_block(Block.of(documents), matcher, threads=3) == once
    document = b" ".join(documents)
    whole = tokenizer.encode(document, specials="all")
    for size in (7, 1000):
        settled = list(tokenizer.settle(blocks(document, size), matcher))
        assert len(settled) > 4 or train is trained_by_sentencepiece or name not in CUTTABLE
        found = [token_id for block in settled for token_id in tokenizer.encode_block(block, matcher, threads=2)[0]]
        assert found == whole, size


WORDS_OF_OURS = Vocabulary.from_tokens(text.encode() for text in ("a", "the", "é", "é1", "中", "中文", "文字", " "))
OWN: dict[str, Tokenizer] = {
    "ranks": named_encodings.named("gpt2"),
    "longest match": Tokenizer(LongestMatch(WORDS_OF_OURS, left_to_right=True, unk_id=8)),
    "longest match, unknown left out": Tokenizer(LongestMatch(WORDS_OF_OURS), (WhitespaceSplit(),)),
    "fewest tokens": Tokenizer(FewestTokens(WORDS_OF_OURS, 8, continuing_subword_prefix="#"), (WhitespaceSplit(),)),
    "fewest tokens, unknown left out": Tokenizer(FewestTokens(WORDS_OF_OURS, end_of_word_suffix="é")),
    "dictionary": Tokenizer(MaxMatch(WORDS_OF_OURS, unk_id=8)),
    "dictionary, none unknown": Tokenizer(MaxMatch(WORDS_OF_OURS)),
    "greedy cover": Tokenizer(GreedyCover(WORDS_OF_OURS, unk_id=8)),
    "greedy cover, none unknown": Tokenizer(GreedyCover(WORDS_OF_OURS)),
    "n-grams": Tokenizer(NGram(WORDS_OF_OURS, 2, unk_id=8)),
    "n-grams, none unknown": Tokenizer(NGram(WORDS_OF_OURS, 2)),
    "words, none unknown": Tokenizer(WordLevel(WORDS_OF_OURS), (WhitespaceSplit(),)),
}
"""The kinds of models that no rival's file holds, and those that have no token for what is unknown."""
OWN = {
    name: replace(each, special_tokens=(SpecialToken(b"<unk>", 8),)) if name != "ranks" else each
    for name, each in OWN.items()
}


@at_least(14)
@given(st.data())
def test_any_bytes(data):
    """Nothing but a byte without a token stops a tokenizer, and that only where it has none for the unknown."""
    name = data.draw(st.sampled_from([*OWN, *ALL_OURS]))
    tokenizer = OWN[name] if isinstance(name, str) else name[0](name[1])[1]
    parts = st.lists(st.sampled_from(TRICKY), max_size=8).map(lambda parts: "".join(parts).encode())
    raw = data.draw(RAW | parts | parts.map(lambda text: text[1:-1]))
    try:
        tokens = tokenizer.tokens(raw, specials="all")
    except InputError:
        assert isinstance(name, str)
        assert name.endswith("none unknown")
        return
    assert [token.token_id for token in tokens] == tokenizer.encode(raw, specials="all")
    starts = [token.start for token in tokens]
    assert starts == sorted(starts)
    assert all(0 <= token.start <= token.end <= len(raw) for token in tokens)
    tokenizer.decode_bytes([token.token_id for token in tokens])
    compared()
