"""What a comparison measures: by hand, against plain Python, for every kind of tokenizer, block size and thread."""

from __future__ import annotations

from array import array
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_cli.errors import InputError
from bpe_cli.reports.comparison import input_accounts
from bpe_cli.reports.comparison.checks import Condition
from bpe_cli.reports.comparison.compare import compare
from bpe_cli.reports.comparison.comparison import METRICS
from bpe_cli.reports.comparison.measures import Measure
from bpe_cli.stages import (
    FewestTokens,
    LongestMatch,
    Prepend,
    Replace,
    SpaceMarks,
    SpecialToken,
    Unigram,
    WhitespaceSplit,
)
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer, named_encodings
from bpe_cli.views.comparison.values import remarks
from tests.counted import at_least, compared
from tests.every_format import trained
from tests.unit.reports.comparison.measure_oracle import measured
from tests.unit.reports.fake_tokenizer import blocks_of
from tests.unit.reports.published import published
from tests.unit.reports.small_tokenizers import byte_level

CORPORA = sorted(path for path in Path(__file__).parents[4].joinpath("corpora").rglob("*.*") if path.is_file())
KINDS = [
    "bbpe", "byte", "bpe", "bpe hf", "bpe bytes", "bpe sentencepiece", "wordpiece", "wordpiece hf", "unigram",
    "unigram sentencepiece", "char", "word", "ngram", "ngram strided", "maxmatch",
]  # fmt: skip
MADE = {
    "spaced": byte_level([b" l", b"ow"], prefix_space=True),
    "spaced, fast pattern": byte_level([b" l", b"ow"], prefix_space=True, pattern=PATTERNS["gpt2"].regex),
    "no pattern": byte_level([b"ow", b"w l"], pattern=None),
}
TEXTS = st.one_of(
    st.text("lowernst \n12,!", max_size=30).map(str.encode),
    st.text(st.sampled_from("low er\u3000\xa0\x85\u2003é谁👩\u0301\u200b"), max_size=15).map(str.encode),
    st.binary(max_size=8),
)


def tokenizer_of(kind):
    return MADE[kind] if kind in MADE else trained(kind)


def assert_measured(measure, expected):
    found = asdict(measure)
    for name, value in expected.items():
        assert found[name] == (pytest.approx(value, abs=1e-9) if isinstance(value, float) else value), name


def test_by_hand():
    tokenizer = byte_level([b"ab", b" c"])  # ids 0, 1; then every byte: "a" is 2 + 0x61
    text = "ab abc\u3000c \u00e9 ab".encode()
    # ab | space ab c | U+3000: 3 bytes, then c | space 2 bytes | space ab
    (row,) = compare([tokenizer], [("x", [Block.of([text, b"ab"])])]).rows
    (measure,) = row.measures
    assert measure.token_count == 1 + 3 + 3 + 1 + 3 + 2 + 1
    assert measure.word_count == 6
    assert measure.split_words == 2  # abc, é
    assert (measure.type_count, measure.one_token_types, measure.one_token_types_spaced) == (4, 2, 1)
    assert measure.byte_tokens == 3 + 2
    assert measure.byte_fallback_share == 5 / measure.byte_count
    assert (measure.unknown_tokens, measure.unknown_bytes) == (0, 0)
    assert (measure.checked_documents, measure.failed_documents) == (2, 0)
    assert (measure.vocab_size, measure.used_ids) == (258, 1 + 1 + 1 + 2 + 2)  # U+3000 has a byte twice
    assert measure.mean_bytes_per_token == (len(text) / 13 + 2 / 1) / 2
    assert measure.fertility == 14 / 6
    assert measure.split_share == 2 / 6
    assert measure.one_token_share == 4 / 6
    assert measure.seconds is None
    # In order of frequency: ab 4, space 3, c 2, 0x80 2, three bytes 1 each: 14 * 0.95 = 13.3, so all 7.
    assert measure.coverage_rank == 7


def test_metrics_by_hand():
    measure = Measure(
        document_count=4, byte_count=120, character_count=100, token_count=40, baseline_tokens=50, word_count=20,
        split_words=5, type_count=10, one_token_types=2, one_token_types_spaced=6, vocab_size=64, used_ids=16,
        unknown_tokens=4, byte_tokens=8, checked_documents=3, failed_documents=1,
        shannon_entropy=3.0, renyi_entropy=2.0, mean_bytes_per_token=2.5, seconds=2e-5, unknown_bytes=6,
        coverage_rank=9,
    )  # fmt: skip
    assert {name: metric.of(measure) for name, metric in METRICS.items()} == {
        "tokens": 40,
        "bytes_per_token": 3.0,
        "characters_per_token": 2.5,
        "ratio": 0.8,
        "mean_bytes_per_token": 2.5,
        "fertility": 2.0,
        "split_words": 0.25,
        "one_token_words": 0.75,
        "one_token_types": 0.2,
        "one_token_types_spaced": 0.6,
        "shannon_efficiency": 0.75,
        "renyi_efficiency": 0.5,
        "used_ids": 16,
        "vocabulary_used": 0.25,
        "coverage_rank": 9,
        "unknown": 0.1,
        "unknown_bytes": 0.05,
        "byte_tokens": 0.2,
        "byte_fallback": 8 / 120,
        "failed_round_trips": 1,
        "failed_share": 1 / 3,
        "megabytes_per_second": 6.0,
    }
    for metric in METRICS.values():
        assert metric.meaning
        assert not metric.meaning.endswith(".")
    empty = Measure(0, 0, 0, 0, 0)
    assert all(metric.of(empty) in (None, 0) for metric in METRICS.values())


@at_least(12)
@pytest.mark.parametrize("kind", [*KINDS, *MADE])
@given(documents=st.lists(TEXTS, max_size=6), size=st.integers(1, 40), threads=st.integers(1, 3))
@settings(max_examples=25)
def test_is_what_plain_python_measures(kind, documents, size, threads):
    tokenizer = tokenizer_of(kind)
    try:
        expected = measured(tokenizer, documents)
    except InputError:  # what has no unknown token encodes only what it knows
        with pytest.raises(InputError):
            compare([tokenizer], [("x", blocks_of(documents, size))])
        return
    (row,) = compare([tokenizer], [("x", blocks_of(documents, size))], threads=threads).rows
    assert_measured(row.measures[0], expected)
    compared()


@pytest.mark.parametrize("name", ["cl100k_base", "bpe", "wordpiece", "unigram sentencepiece"])
def test_the_corpora_are_what_plain_python_measures(name):
    tokenizer = named_encodings.named(name) if name in ("cl100k_base",) else trained(name)
    for path in CORPORA[:8]:
        documents = path.read_bytes()[:20_000].splitlines()
        (row,) = compare([tokenizer], [("x", [Block.of(documents)])], threads=2).rows
        assert_measured(row.measures[0], measured(tokenizer, documents))


def test_real_tokenizers_are_what_plain_python_measures(shared):
    names = ("bert-base-uncased", "t5-small", "llama2/tokenizer.model", "roberta-base", "xlnet-base-cased")
    documents = [line for path in CORPORA for line in path.read_bytes()[:500].splitlines()]
    tokenizers = [published(shared / "vocabs" / name).tokenizer for name in names]
    found = compare(tokenizers, [("x", blocks_of(documents, 2000))], threads=2)
    for tokenizer, measure in zip(tokenizers, found.total.measures, strict=True):
        assert_measured(measure, measured(tokenizer, documents))


@given(
    st.lists(st.tuples(st.lists(TEXTS, max_size=8), st.integers(1, 60)), max_size=3),
    st.integers(1, 3),
)
def test_neither_blocks_nor_threads_change_anything(inputs, threads):
    tokenizers = [MADE["spaced"], trained("bbpe"), named_encodings.named("gpt2"), MADE["no pattern"]]

    def result(threads, cut):
        blocks = (
            (str(number), blocks_of(documents, size) if cut else [Block.of(documents)] if documents else [])
            for number, (documents, size) in enumerate(inputs)
        )
        return compare(tokenizers, blocks, threads=threads, resamples=99)

    assert result(threads, cut=True) == result(1, cut=False)


def test_the_total_is_one_input():
    """But for word types, which are those of each input, and passages."""
    tokenizers = [trained("bbpe"), trained("bpe")]
    documents = [line.encode() for line in ("low lower", "newest wide", "", "widest é", "slow")]
    apart = compare(tokenizers, [(str(number), [Block.of([each])]) for number, each in enumerate(documents)])
    (together,) = compare(tokenizers, [("all", [Block.of(documents)])]).rows
    types = {"type_count": 0, "one_token_types": 0, "one_token_types_spaced": 0}
    for one, other in zip(apart.total.measures, together.measures, strict=True):
        expected = asdict(replace(one, **types))
        assert asdict(replace(other, **types)) == {
            name: pytest.approx(value) if isinstance(value, float) else value for name, value in expected.items()
        }
    assert apart.total.measures[0].type_count == 7


def test_another_baseline():
    tokenizers = [byte_level(), byte_level([b"ab"])]
    found = compare(tokenizers, [("x", [Block.of([b"abab"])])], baseline=1)
    assert found.baseline == 1
    assert [measure.ratio for measure in found.total.measures] == [2, 1]
    with pytest.raises(ValueError, match="no tokenizer number 2"):
        compare(tokenizers, [], baseline=2)


def test_speed_is_measured_when_asked_for():
    found = compare([byte_level()], [("x", [Block.of([b"ab" * 1000])])], speed=True)
    assert found.total.measures[0].seconds > 0
    assert found.total.measures[0].megabytes_per_second > 0


def test_an_unknown_word_is_not_one_token():
    tokenizer = trained("word")
    (row,) = compare([tokenizer], [("x", [Block.of([b"low zzz low"])])]).rows
    (measure,) = row.measures
    assert (measure.token_count, measure.unknown_tokens, measure.unknown_bytes) == (3, 1, 3)
    assert (measure.split_words, measure.type_count, measure.one_token_types) == (0, 2, 1)


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("model", [LongestMatch, FewestTokens])
def test_what_a_model_leaves_out_is_lost(model, size):
    vocabulary = Vocabulary.from_tokens([b"l", b"o", b"w", b"low"])
    tokenizer = Tokenizer(
        model(vocabulary), pre_tokenizer=(WhitespaceSplit(),), special_tokens=(SpecialToken(b"<e>", 4),)
    )
    documents = ["low 123 ßlow<e>".encode(), b"low"]
    for special, left_out in (((), 3 + 2 + 3), ("all", 3 + 2)):  # a blank is left out too, and is none of it
        (row,) = compare([tokenizer], [("x", blocks_of(documents, size))], specials=special).rows
        (measure,) = row.measures
        assert (measure.left_out_bytes, measure.unknown_bytes, measure.loses_text) == (left_out, 0, True)
        assert measure.unknown_bytes_share == left_out / measure.byte_count
    (row,) = compare([replace(tokenizer, model=model(vocabulary, unk_id=3))], [("x", blocks_of(documents, size))]).rows
    assert row.measures[0].left_out_bytes == 0


def test_special_tokens_are_words_like_others():
    tokenizer = byte_level([b"ab"], specials=[(b"<e nd>", 1 << 31)])
    (row,) = compare([tokenizer], [("x", [Block.of([b"ab<e nd> ab"])])], specials="all").rows
    (measure,) = row.measures
    assert (measure.token_count, measure.used_ids, measure.vocab_size) == (4, 3, 257 + 1)
    assert (measure.word_count, measure.split_words, measure.failed_documents) == (3, 1, 0)


def test_special_tokens_between_spaced_texts_with_any_pattern():
    special = SpecialToken(b"<e>", 300, special=False)
    tokenizer = replace(MADE["spaced"], special_tokens=(special,))
    documents = [b"low<e>low", b" low", b"", b"<e>"]
    (row,) = compare([tokenizer], [("x", [Block.of(documents)])]).rows
    assert_measured(row.measures[0], measured(tokenizer, documents))
    assert row.measures[0].failed_documents == 1


def test_what_does_not_come_back():
    spaced = MADE["spaced, fast pattern"]
    (row,) = compare([spaced], [("x", [Block.of([b" low", b"low", b""])])]).rows
    assert (row.measures[0].checked_documents, row.measures[0].failed_documents) == (3, 1)


def test_long_documents_are_checked_while_they_can_be_held(monkeypatch):
    monkeypatch.setattr("bpe_cli.reports.comparison.tallies.CHECKED_BYTES", 100)
    # With a special token to look for, the space before each stretch of text makes it go through all stages.
    tokenizer = replace(MADE["spaced, fast pattern"], special_tokens=(SpecialToken(b"<e>", 300, special=False),))
    for length, checked in ((6, 3), (60, 2)):
        documents = [b"low", b"low lower " * length, b"lowest newer"]
        whole, parts = (
            compare([tokenizer], [("x", blocks)]).total.measures[0]
            for blocks in ([Block.of(documents)], blocks_of(documents, 20))
        )
        assert whole.checked_documents == 3
        assert parts.checked_documents == checked


def test_there_is_no_number_of_failures_where_all_documents_are_too_long(monkeypatch):
    monkeypatch.setattr("bpe_cli.reports.comparison.tallies.CHECKED_BYTES", 10)
    tokenizer = replace(MADE["spaced, fast pattern"], special_tokens=(SpecialToken(b"<e>", 300, special=False),))
    long, empty, condition = b"low lower " * 9, b"", Condition.parse("failed_round_trips > 0")
    for documents, failed, told in (
        ([long, empty], None, ["spaced: failed_round_trips has no value: no document was decoded again"]),
        ([long, b"low"], 1, ["spaced: failed_round_trips 1 > 0"]),
        ([empty], 0, []),
    ):
        made = compare([tokenizer], [("x", blocks_of(documents, 20))], names=["spaced"])
        assert made.total.measures[0].failed_round_trips == failed
        assert [str(each).partition(", since")[0] for each in condition.check(made).failures] == told
        notes = ["spaced: 1 of 2 documents could be decoded again; a larger block size allows longer ones"]
        assert remarks(made, [METRICS["tokens"]], ["spaced"]) == (notes if long in documents else [])


def test_word_types_are_those_of_the_head(monkeypatch):
    monkeypatch.setattr(input_accounts, "WORD_BYTES", 12)
    for text, count in ((b"one two onest four", 2), (b"one two four", 3), ("one\u3000two\u3000threee".encode(), 2)):
        for size in (1, 3, 100):
            (row,) = compare([byte_level()], [("x", blocks_of([text], size))]).rows
            assert row.measures[0].type_count == count, (text, size)
    for size in (1, 12, 13, 100):
        (row,) = compare([byte_level()], [("x", blocks_of([b"one two", b"", b"three", b"x"], size))]).rows
        assert row.measures[0].type_count == 3


@pytest.mark.parametrize(
    ("name", "kept"),
    [("llama2/tokenizer.model", 2), ("mistral-spm-v1", 2), ("phi-3-mini", 2), ("t5-small", 2), ("roberta-base", 2)],
)
def test_a_space_that_the_tokenizer_puts_is_the_one_before_a_word(shared, name, kept):
    """In ``the house`` both are one token for each of these, and ``xqzw`` is several."""
    tokenizer = published(shared / "vocabs" / name).tokenizer
    (row,) = compare([tokenizer], [("x", [Block.of([b"the house xqzw"])])]).rows
    assert row.measures[0].one_token_types_spaced == kept


def test_words_in_a_small_vocabulary_with_a_dummy_prefix():
    pieces = ["<unk>", "▁", "▁low", "low", *"lower"]
    model = Unigram(
        Vocabulary.from_tokens(piece.encode() for piece in pieces), array("d", bytes(8 * len(pieces))), unk_id=0
    )
    documents = [Block.of([b"low lower low"])]
    shares = {}
    for name, stage in {
        "dummy prefix": SpaceMarks(remove_extra_whitespaces=False), "Prepend": Prepend("▁"),
        "none": SpaceMarks(add_dummy_prefix=False, remove_extra_whitespaces=False),
    }.items():  # fmt: skip
        normalizer = (stage,) if isinstance(stage, SpaceMarks) else (stage, Replace(" ", "▁", literal=True))
        (row,) = compare([Tokenizer(model, normalizer=normalizer)], [("x", documents)]).rows
        shares[name] = (row.measures[0].one_token_types, row.measures[0].one_token_types_spaced)
    assert shares == {"dummy prefix": (1, 1), "Prepend": (1, 1), "none": (1, 1)}
