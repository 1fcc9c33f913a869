"""MinGram: the core against the textbook, the file against Hugging Face's library, and what is refused."""

from __future__ import annotations

import math
import random
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import _core, formats, train
from bpe_cli.errors import FormatError, TrainingError, UsageError
from bpe_cli.stages import Unigram
from bpe_cli.stages.spelling import from_visible
from bpe_cli.support.blocks import Block
from bpe_cli.teaching.bpe import keeps_characters
from bpe_cli.teaching.frontier import mingram as textbook
from bpe_cli.teaching.frontier.path_piece import fewest
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bbpe, mingram
from bpe_cli.trainers.byte_words import BYTES
from bpe_cli.trainers.counts import counts_of, new_counts
from bpe_cli.trainers.mingram import MinGramOptions
from tests.cli_runner import call
from tests.counted import at_least, compared
from tests.needs import needs
from tests.thorough import more

PIECES = {b"abc": 6, b"bc": 3, b"ab": 1}


def model_of(tokenizer: Tokenizer) -> Unigram:
    assert isinstance(tokenizer.model, Unigram)
    return tokenizer.model


def costs_of(tokenizer: Tokenizer) -> dict[bytes, int]:
    """Return the bytes of all tokens but special ones, with their costs, in order of id."""
    model = model_of(tokenizer)
    assert all(score == int(score) for score in model.scores)
    return {
        from_visible(token.decode()) or b"": -int(model.scores[token_id])
        for token_id, token in model.vocabulary.items()
    }


def learnt(pieces: dict[bytes, int], threads: int = 1, **options: Any) -> Tokenizer:
    return mingram.TRAINER.train(counts_of(pieces.items()), MinGramOptions(**options), threads=threads).tokenizer


def test_what_is_used_least_goes() -> None:
    """Three tokens are made, of which two are wanted; ``ab`` is used least."""
    tokenizer = learnt(PIECES, vocab_size=258, overshoot=1.5)
    costs = costs_of(tokenizer)
    assert list(costs) == [*BYTES, b"abc", b"bc"]
    assert [costs[token] for token in (b"abc", b"bc", b"a", b"b", b"c")] == [
        1_000_006_061_358, 1_000_012_992_830, 1_000_023_978_953, 1_000_023_978_953, 1_001_000_000_000,
    ]  # fmt: skip
    assert [tokenizer.token_bytes(token_id).decode() for token_id in tokenizer.encode("abcabbc")] == [
        "abc", "a", "b", "bc",
    ]  # fmt: skip


# -- the textbook ----------------------------------------------------------------------------------


def drawn(chance: random.Random) -> dict[bytes, int]:
    letters = chance.choice([b"ab", b"abc ", "aé日".encode(), bytes(range(256))])
    sizes = [chance.choice([1, 3, 9]) for _ in range(chance.choice([1, 6, 40]))]
    return {bytes(chance.choices(letters, k=size)): chance.randint(1, 9) for size in sizes}


@at_least(75)
def test_it_is_what_the_textbook_learns() -> None:
    chance = random.Random(20)
    pruned = 0
    for _ in range(more(75, 150)):
        pieces = drawn(chance)
        options: dict[str, Any] = {
            "min_frequency": chance.choice([1, 1, 2]),
            "max_token_length": chance.choice([128, 128, 3]),
        }
        counted: dict[str, Any] = {"rounds": chance.choice([1, 2]), "delta": chance.choice([0.0, 1e-5, 0.1])}
        settings = MinGramOptions(
            256 + chance.choice([0, 1, 5, 20]), overshoot=chance.choice([1.0, 1.1, 3.0]), **options, **counted
        )
        seeds = textbook.seeds_of(pieces, BYTES, settings.seeds, **options)
        steps = list(textbook.train(pieces, settings.vocab_size, seeds, **counted))
        last = steps[-1]
        found = costs_of(mingram.TRAINER.train(counts_of(pieces.items()), settings).tokenizer)
        assert found == {token: last.costs[token] for token in last.tokens()}, (pieces, settings)
        assert list(found) == last.tokens(), (pieces, settings)
        pruned += any(step.kind == "pruning" for step in steps)
        compared()
    assert pruned > 4


@cache
def of_a_few_words() -> Tokenizer:
    return train(["low lower newest " * 9, "日本 é newer " * 5], "mingram", vocab_size=270)


@given(st.lists(st.sampled_from(["low ", "lower ", "newest ", "é", "日本 "]), max_size=40).map("".join))
def test_encoding_is_what_training_saw(text: str) -> None:
    tokenizer = of_a_few_words()
    costs = costs_of(tokenizer)
    front = mingram.TRAINER.cutter(MinGramOptions(270))
    counts = new_counts()
    front.count_pieces(counts, Block.of([text.encode()]), None, 1)
    for piece, _ in counts.items(0, counts.unique):
        tokens = [from_visible(tokenizer.token_bytes(token_id).decode()) for token_id in tokenizer.encode(piece)]
        assert tokens == textbook.segment(piece, costs)
        assert len(tokens) == len(fewest(piece, costs))
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert tokenizer.with_fewest_tokens().count(text) == len(ids)


def test_threads_and_the_order_of_pieces_change_nothing() -> None:
    chance = random.Random(4)
    pieces = {bytes(chance.choices(b"abcd", k=chance.randint(1, 9))): chance.randint(1, 50) for _ in range(20_000)}
    one = learnt(pieces, vocab_size=900)
    assert learnt(pieces, threads=3, vocab_size=900) == one
    assert learnt(dict(reversed(pieces.items())), vocab_size=900) == one


def test_fewer_tokens_than_byte_pair_encoding(corpora: Path) -> None:
    text = (corpora / "languages" / "en.txt").read_text("utf-8")
    merged = train([text], "bbpe", vocab_size=1000)
    assert train([text], "mingram", vocab_size=1000).count(text) < merged.count(text)


def test_a_run_of_one_letter_is_cut_in_bounded_time() -> None:
    """With tokens of half its length, each of its bytes would be compared with all that follow."""
    run = b"a" * 300_000
    tokenizer = learnt({run: 1}, vocab_size=290)
    assert max(map(len, costs_of(tokenizer))) == 128
    assert tokenizer.count(run) == math.ceil(len(run) / 128)


# -- files -----------------------------------------------------------------------------------------


def test_hugging_face_encodes_the_same(corpora: Path, tmp_path: Path) -> None:
    library = needs("tokenizers")
    texts = [(corpora / "languages" / f"{name}.txt").read_text("utf-8") for name in ("en", "th", "zh-hans")]
    path = tmp_path / "tokenizer.json"
    train(texts, "mingram", vocab_size=1500, special_tokens=("<|end|>", "<s>")).save(path)
    theirs, ours = library.Tokenizer.from_file(str(path)), formats.load(path)
    chance = random.Random(1)
    tokens = [token.decode() for _, token in model_of(ours).vocabulary.items()]
    read = [from_visible(token) or b"" for token in tokens]
    mixed = [b"".join(chance.choices(read, k=9)).decode("utf-8", "replace") for _ in range(300)]
    for text in [*texts, *mixed, "", "\0\n", "\u017f\ufffd🙂"]:
        assert theirs.encode(text).ids == ours.encode(text)
        assert theirs.decode(ours.encode(text)) == text
    assert theirs.encode("a<s>b<|end|>").ids == ours.encode("a<s>b<|end|>", specials="all")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        *((name, "cannot hold unigram language model") for name in ("tiktoken", "minbpe", "vocab-merges")),
        *((name, "needs an unknown token") for name in ("sentencepiece", "gguf")),
    ],
)
def test_other_files_are_refused(name: str, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        formats.dump(learnt(PIECES, vocab_size=258), name)


def test_a_file_is_read_back(tmp_path: Path) -> None:
    tokenizer = train(["low lower " * 9], "mingram", vocab_size=262, special_tokens=("<s>",))
    assert tokenizer.special_tokens[0].token_id == 0
    for name in ("tokenizer.json", "bpe.json"):
        (tmp_path / name).write_bytes(formats.dump(tokenizer, name)[""])
        again = formats.load(tmp_path / name)
        assert costs_of(again) == costs_of(tokenizer)
        assert again.encode("low<s>") == tokenizer.encode("low<s>")


# -- options ---------------------------------------------------------------------------------------


def test_counts_of_byte_level_bpe_can_be_trained_on(tmp_path: Path) -> None:
    text = "low lower newest widest\n" * 5
    assert call("train", "-T", text, "-s", "260", "--pattern", "gpt2", "--counts-out", tmp_path / "c", "-o",
                tmp_path / "t.json", "-q").status == 0  # fmt: skip
    given = ("-a", "mingram", "-s", "264", "-q", "-o")
    assert call("train", "--from-counts", tmp_path / "c", *given, tmp_path / "counted.json").status == 0
    assert call("train", "-T", text, "--pattern", "gpt2", *given, tmp_path / "text.json").status == 0
    assert (tmp_path / "counted.json").read_bytes() == (tmp_path / "text.json").read_bytes()


def test_special_tokens_are_not_learnt() -> None:
    tokenizer = learnt({b"<s>": 90, b"ab": 5}, vocab_size=260, special_tokens=("<s>",))
    assert b"<s>" not in costs_of(tokenizer)
    assert tokenizer.decode(tokenizer.encode("<s>ab")) == "<s>ab"
    assert tokenizer.encode("<s>", specials="all") == [0]


def test_tokens_are_whole_characters_if_asked_for() -> None:
    text = "".join(f" {character}" for character in "日旦旧旨早旬")
    free, kept = (
        [token for token in costs_of(train([text], "mingram", vocab_size=258, character_boundaries=asked)) if token[1:]]
        for asked in (False, True)
    )
    assert b" \xe6\x97" in free
    assert b"\xe6\x97" in kept
    assert all(map(keeps_characters, kept))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"vocab_size": 900}, "no pair is left that makes a token of at most 128 bytes"),
        ({"vocab_size": 900, "min_frequency": 5}, "no pair is left that occurs 5 times or more and makes"),
        ({"vocab_size": 259, "overshoot": 1.0}, "the shortest segmentations need no more"),
    ],
)
def test_fewer_tokens_than_asked_for(options: dict[str, Any], reason: str) -> None:
    pieces = {b"abcd": 6, b"x": 1}  # ab and abc are made on the way, and never used
    trained = mingram.TRAINER.train(counts_of(pieces.items()), MinGramOptions(**options))
    assert trained.tokenizer.vocab_size < options["vocab_size"]
    assert reason in (trained.shortfall or "")


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        *(({"overshoot": value}, "not between 1 and 100") for value in (0.9, 101.0)),
        *(({"rounds": value}, "not between 1 and 100") for value in (0, 101)),
        *(({"delta": value}, "not between 0 and 1") for value in (-0.1, 1.5)),
        *(({"special_tokens": (token,)}, "is also how tokenizer.json writes") for token in ("a", "Ġ", "Ġx")),
        ({"special_tokens": ("",)}, "needs a text"),
    ],
)
def test_options_that_are_refused(wrong: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        MinGramOptions(300, **wrong)


def test_vocabularies_that_are_refused() -> None:
    for options in (MinGramOptions(200), MinGramOptions(257, special_tokens=("<s>", "<t>"))):
        for refused in (mingram.TRAINER.untrained, lambda each: mingram.TRAINER.train(counts_of([(b"a", 1)]), each)):
            with pytest.raises(TrainingError, match="smaller than its initial tokens"):
                refused(options)
    for options in (MinGramOptions(_core.MAX_TOKENS + 1), MinGramOptions(_core.MAX_TOKENS, overshoot=2.0)):
        with pytest.raises(UsageError, match="fit"):
            mingram.TRAINER.untrained(options)
    with pytest.raises(TrainingError, match="no text"):
        mingram.TRAINER.train(new_counts(), MinGramOptions(300))
    spaced = bbpe.Options(300, prefix_space=True)
    with pytest.raises(UsageError, match="a space before each document"):
        mingram.TRAINER.adopt(MinGramOptions(300), bbpe.TRAINER.cutting(spaced))


def test_progress_reaches_its_end() -> None:
    calls: list[tuple[int, int]] = []
    mingram.TRAINER.train(
        counts_of(PIECES.items()), MinGramOptions(258), lambda done, wanted: calls.append((done, wanted))
    )
    assert calls
    assert all(first <= second for first, second in pairwise(calls))
    assert calls[-1][0] == calls[-1][1]
