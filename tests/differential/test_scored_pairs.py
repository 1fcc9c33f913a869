"""BPE by scores: the core, the textbook and SentencePiece make the same tokens."""

from __future__ import annotations

import io
import json
import random
import struct
from array import array
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.stages import ScoredBpe
from bpe_cli.stages.vocabulary import Vocabulary
from tests.core_model import CoreModel
from tests.differential.protocol_buffers import field, varint
from tests.differential.texts import corpus
from tests.needs import needs
from tests.oracle.character_bpe import byte_token, encode_by_scores

sentencepiece = needs("sentencepiece")

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def core_of(processor: Any, user_defined: tuple[str, ...] = ()) -> CoreModel:
    """Read a model through its processor, which does not say what is user-defined."""
    kinds, tokens = bytearray(), []
    for token_id in range(len(processor)):
        token = processor.id_to_piece(token_id)
        kind = (
            *(processor.is_unknown(token_id) * UNKNOWN, processor.is_control(token_id) * CONTROL),
            *(processor.is_byte(token_id) * BYTE, processor.is_unused(token_id) * UNUSED),
            (token in user_defined) * USER_DEFINED,
        )
        kinds.append(max(kind) or NORMAL)
        tokens.append(b"" if kinds[-1] in {UNKNOWN, CONTROL} else token.encode())
    scores = array("d", [processor.get_score(token_id) for token_id in range(len(processor))])
    vocabulary = Vocabulary.from_tokens(tokens)
    return CoreModel(ScoredBpe(vocabulary, scores, processor.unk_id(), bytes(kinds), BYTE in kinds))


SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "bytes": {"byte_fallback": True, "add_dummy_prefix": False, "remove_extra_whitespaces": False},
    "user-defined": {"user_defined_symbols": ["<sep>", "th", "the", "▁of", "é", "ing▁"]},
    "suffix": {"treat_whitespace_as_suffix": True},
    "across": {"split_by_whitespace": False},
}


@cache
def trained(name: str) -> tuple[Any, CoreModel]:
    text = corpus()[next(each for each in corpus() if each.endswith(".txt") and "en" in each)]
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text[:60_000].splitlines()),
        model_writer=written,
        model_type="bpe",
        vocab_size=700,
        normalization_rule_name="identity",
        character_coverage=0.999,
        minloglevel=2,
        **SETTINGS[name],
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    return processor, core_of(processor, tuple(SETTINGS[name].get("user_defined_symbols", ())))


def random_texts(count: int) -> list[str]:
    """Return texts that look like English, with doubled blanks, odd characters and what is user-defined."""
    draw = random.Random(3)
    words = ["the", "of", "thing", "weather", "a", "in", "to-day", "Q", "é", "你好", "🙂", "the<sep>of", "<se"]
    words += ["▁", "▁▁", "x\tx", "theing", "~~~", "", "  "]
    texts = [" ".join(draw.choices(words, k=draw.randint(1, 12))) for _ in range(count // 2)]
    letters = "etaoin shrdlu▁.é<sep>你\xff"
    return texts + ["".join(draw.choices(letters, k=draw.randint(1, 90))) for _ in range(count // 2)]


@pytest.mark.parametrize("name", SETTINGS)
def test_texts_become_what_sentencepiece_makes_of_them(name: str) -> None:
    processor, core = trained(name)
    texts = [text for text in [*random_texts(600), *corpus().values()] if "\0" not in text]
    texts = [text[:20_000] for text in texts]
    pieces = [processor.normalize(text).encode() for text in texts]
    assert core.encode(pieces) == processor.encode(texts)


@pytest.mark.parametrize("name", ["llama2", "mistral-spm-v1", "mistral-spm-v3", "spm-bpe_example"])
def test_published_models(shared: Path, name: str) -> None:
    recorded = json.loads((shared / "expected" / "sentencepiece" / f"{name}.json").read_bytes())
    core = core_of(sentencepiece.SentencePieceProcessor(model_file=str(shared / recorded["model"])))
    cases = [case for case in recorded["cases"].values() if case.get("normalized")]
    assert len(cases) > 250
    found = core.encode([case["normalized"].encode() for case in cases])
    assert found == [case["ids"] for case in cases]


@pytest.mark.parametrize("name", ["botchan.1000", "llama-style.1200", "nodummy.suffix.1000", "nosplit.1000", "zh.4000"])
def test_trained_models(shared: Path, name: str) -> None:
    folder = shared / "expected" / "train" / "sentencepiece"
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"bpe.{name}.model"))
    core = core_of(processor)
    suite = json.loads((shared / "expected" / "suite.json").read_bytes())["cases"]
    texts = [case["text"] for case in suite if "\0" not in case["text"]]
    found = core.encode([processor.normalize(text).encode() for text in texts])
    assert found == processor.encode(texts)


def test_lasting_dropout_is_sentencepieces() -> None:
    processor, core = trained("plain")
    times, text = 8000, "the other"
    sentencepiece.set_random_generator_seed(1)
    theirs = Counter(
        tuple(processor.encode(text, enable_sampling=True, alpha=0.4, nbest_size=-1)) for _ in range(times)
    )
    # Cut at its marks, a text is drawn for part by part; here is one part.
    ours = core.sample(processor.normalize(text).encode(), "lasting-dropout", 0.4, times)
    assert len(ours) > 10
    for ids in theirs.keys() | ours.keys():
        bound = 6 * (2 * max(theirs[ids], ours[ids])) ** 0.5
        assert abs(theirs[ids] - ours[ids]) <= bound, ids


# -- any scores: the textbook and SentencePiece ----------------------------------------------------


def processor_of(tokens: list[str], scores: list[float], kinds: list[int]) -> Any:
    """Make SentencePiece's model of tokens: merging by scores, text as it is."""
    pieces = b"".join(
        field(1, field(1, token.encode()) + b"\x15" + struct.pack("<f", score) + bytes([3 << 3, kind]))
        for token, score, kind in zip(tokens, scores, kinds, strict=True)
    )
    trainer = bytes([3 << 3, 2, *varint(35 << 3), BYTE in kinds])
    normalizer = bytes([3 << 3, 0, 4 << 3, 0, 5 << 3, 0])
    return sentencepiece.SentencePieceProcessor(model_proto=pieces + field(2, trainer) + field(3, normalizer))


@st.composite
def score_tables(draw: st.DrawFn) -> tuple[dict[str, float], dict[str, int]]:
    """Return scores, some of them equal, and types of tokens."""
    tokens = draw(st.lists(st.text("ab▁é", min_size=1, max_size=5), min_size=1, max_size=25, unique=True))
    scores = {token: float(draw(st.integers(-6, 0))) for token in tokens}
    kinds = st.sampled_from([NORMAL] * 6 + [UNUSED, USER_DEFINED])
    return scores, {token: draw(kinds) for token in tokens}


@given(score_tables(), st.lists(st.text("ab▁éx", min_size=1, max_size=14), min_size=1, max_size=15), st.booleans())
def test_texts_become_what_the_textbook_and_sentencepiece_make_of_them(
    table: tuple[dict[str, float], dict[str, int]], texts: list[str], in_bytes: bool
) -> None:
    scores, kinds = table
    tokens = [*scores, "<unk>", *(map(byte_token, range(256)) if in_bytes else ())]
    all_scores = array("d", [scores.get(token, 0.0) for token in tokens])
    all_kinds = [*kinds.values(), UNKNOWN, *([BYTE] * 256 if in_bytes else [])]
    vocabulary = Vocabulary.from_tokens([b"" if token == "<unk>" else token.encode() for token in tokens])
    core = CoreModel(ScoredBpe(vocabulary, all_scores, len(scores), bytes(all_kinds), in_bytes))
    processor = processor_of(tokens, list(all_scores), all_kinds)
    for text in [*texts, "".join(texts) * 5]:
        expected = encode_by_scores(
            text,
            {token: score for token, score in scores.items() if kinds[token] != USER_DEFINED},
            byte_fallback=in_bytes,
            user_defined=[token for token, kind in kinds.items() if kind == USER_DEFINED],
            unused=[token for token, kind in kinds.items() if kind == UNUSED],
        )
        assert [tokens[token] for token in core.ids(text.encode())] == expected, text
        assert [tokens[token] for token in processor.encode(text)] == expected, text
        spans = core.spans(text.encode())
        if not in_bytes:  # there, each of a character's bytes stands for all of it
            assert [start for _, start, _ in spans] == [0, *(end for _, _, end in spans)][: len(spans)]
        assert (spans[0][1], spans[-1][2]) == (0, len(text.encode()))


def scored(tokens: dict[str, float], kinds: bytes = b"", **settings: Any) -> CoreModel:
    vocabulary = Vocabulary.from_tokens([token.encode() for token in tokens])
    return CoreModel(ScoredBpe(vocabulary, array("d", tokens.values()), 9, kinds, **settings))


def test_a_character_need_be_no_piece() -> None:
    core = scored({"ab": -1.0, "bc": -1.0})
    assert core.spans(b"abc") == [(0, 0, 2), (9, 2, 3)]  # the leftmost of equals
    assert core.spans(b"xbbcy") == [(9, 0, 2), (1, 2, 4), (9, 4, 5)]
    assert core.spans(b"\xffab\xe4\xbd") == [(9, 0, 1), (0, 1, 3), (9, 3, 5)]


def test_unused_pieces_serve_merging_only() -> None:
    tokens = {"ab": -1.0, "bc": -2.0, "abc": -3.0, "abcabc": -4.0, "b": -9.0, "c": -9.0, "a": -9.0}
    unused = bytes([NORMAL, NORMAL, UNUSED, UNUSED, NORMAL, NORMAL, NORMAL])
    assert scored(tokens).ids(b"abcabc") == [3]
    assert scored(tokens, unused).ids(b"abcabc") == [0, 5, 0, 5]
    assert scored(tokens, bytes([UNUSED, *unused[1:]])).ids(b"abcabc") == [6, 4, 5, 6, 4, 5]
    # A character has no parts to become: it is unknown.
    assert scored(tokens, bytes([*unused[:-1], UNUSED])).ids(b"aab" * 2) == [9, 0, 9, 0]
    assert scored(tokens, unused).ids(b"abcabc" * 20) == [0, 5] * 40


def test_contradictions_are_named() -> None:
    vocabulary = Vocabulary.from_tokens([b"a", b"ab"])
    for scores, kinds, fallback, message in (
        ([0.0], b"", False, "2 ids have 1 scores"),
        ([0.0, 0.0], b"\1", False, "2 ids have 1 types"),
        ([0.0, float("nan")], b"", False, "the score of id 1 is not a number"),
        ([0.0, 0.0], b"\1\7", False, "id 1 is of type 7; types are 1 to 6"),
        ([0.0, 0.0], b"", True, "unknown characters become bytes, but <0x00> has no token"),
    ):
        with pytest.raises(ValueError, match=message):
            CoreModel(ScoredBpe(vocabulary, array("d", scores), 0, kinds, fallback))
    with pytest.raises(ValueError, match="token 0 has 2000 bytes; at most 1024 are handled"):
        scored({"x" * 2000: 0.0})


def test_giant_texts() -> None:
    core = scored({"a" * 2**power: -float(power) for power in range(8)})
    assert core.ids(b"a" * 100_003) == [7] * (100_003 // 128) + [5, 1, 0]
