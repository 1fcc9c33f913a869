"""GreedTok: the core against the textbook, the file, and what is refused."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bpe_cli import _core, formats, train
from bpe_cli.errors import FormatError, TrainingError, UsageError
from bpe_cli.stages import GreedyCover
from bpe_cli.stages.spelling import from_visible
from bpe_cli.support.blocks import Block
from bpe_cli.teaching.frontier import greedy_cover as textbook
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bbpe, greedtok
from bpe_cli.trainers.byte_words import BYTES
from bpe_cli.trainers.counts import counts_of, new_counts
from bpe_cli.trainers.greedtok import GreedTokOptions
from tests.cli_runner import call
from tests.counted import at_least, compared
from tests.thorough import more

WORDS = {b"lower": 3, b"low": 4, b"er": 1}


def tokens_of(tokenizer: Tokenizer) -> list[bytes]:
    """Return the bytes of all tokens but special ones, in order of id."""
    assert isinstance(tokenizer.model, GreedyCover)
    return [from_visible(token.decode()) or b"" for _, token in tokenizer.model.vocabulary.items()]


def learnt(words: dict[bytes, int], threads: int = 1, **options: Any) -> list[bytes]:
    settings = GreedTokOptions(**{"vocab_size": 300} | options)
    found = tokens_of(greedtok.TRAINER.train(counts_of(words.items()), settings, threads=threads).tokenizer)
    assert tuple(found[:256]) == BYTES
    return found[256:]


def test_what_saves_most_comes_first() -> None:
    trained = greedtok.TRAINER.train(counts_of(WORDS.items()), GreedTokOptions(300))
    tokenizer = trained.tokenizer
    assert tokens_of(tokenizer)[256:] == [b"low", b"lower", b"er"]
    assert trained.summary == ("256 bytes", "3 longer tokens of 10 substrings", "0 special")
    assert [tokenizer.token_bytes(token_id) for token_id in tokenizer.encode("slower lowered")] == [
        b"s", b"lower", "Ġ".encode(), b"lower", b"e", b"d",
    ]  # fmt: skip
    assert tokenizer.decode(tokenizer.encode("slower lowered")) == "slower lowered"


# -- the textbook ----------------------------------------------------------------------------------


def drawn(chance: random.Random) -> dict[bytes, int]:
    letters = chance.choice([b"ab", b"abc ", "aé日".encode(), bytes(range(256))])
    sizes = [chance.choice([1, 3, 9, 14]) for _ in range(chance.choice([1, 6, 40]))]
    return {bytes(chance.choices(letters, k=size)): chance.randint(1, 9) for size in sizes}


@at_least(100)
def test_it_is_what_the_textbook_learns() -> None:
    chance = random.Random(20)
    number = 0
    for _ in range(more(100, 200)):
        words = drawn(chance)
        longest, least = chance.choice([32, 32, 3, 5]), chance.choice([1, 1, 3])
        size = chance.choice([1, 5, 60])
        steps = list(textbook.learn(words, size, max_token_length=longest + 1, min_word_count=least))
        settings = b'{"tokens":%d,"max_token_length":%d,"min_word_count":%d,"reserved":[],"max_memory":1000000000' % (
            size, longest, least,
        )  # fmt: skip
        trained = _core.train_greedtok(counts_of(words.items()), settings + b',"threads":2}')
        assert list(memoryview(trained.scores)) == [step.score for step in steps], words
        found = learnt(words, vocab_size=256 + size, max_token_length=longest, min_word_count=least)
        assert found == [step.token for step in steps], words
        number += len(steps)
        compared()
    assert number > 500


def test_encoding_is_the_textbook_s() -> None:
    text = "low lower newest lowest, widest 12 1999 日本 é newer " * 3
    tokenizer = train([text], "greedtok", vocab_size=275)
    chosen = tokens_of(tokenizer)[256:]
    encoder = textbook.Encoder(chosen)
    counts = new_counts()
    greedtok.TRAINER.cutter(GreedTokOptions(275)).count_pieces(counts, Block.of([text.encode()]), None, 1)
    shorter = 0
    for piece, _ in counts.items(0, counts.unique):
        tokens = [from_visible(tokenizer.token_bytes(each).decode()) for each in tokenizer.encode(piece)]
        assert tokens == encoder.encode(piece)
        shorter += len(tokens) < len(piece)
    assert shorter > 5


def test_threads_and_the_order_of_words_change_nothing() -> None:
    chance = random.Random(4)
    words = {bytes(chance.choices(b"abcd", k=chance.randint(1, 9))): chance.randint(1, 50) for _ in range(5000)}
    one = learnt(words, vocab_size=500)
    assert learnt(words, threads=3, vocab_size=500) == one
    assert learnt(dict(reversed(words.items())), vocab_size=500) == one


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        *(
            (name, "cannot hold greedy cover")
            for name in ("tiktoken", "minbpe", "vocab-merges", "sentencepiece", "gguf")
        ),
        ("tokenizer.json", "Hugging Face's library has no greedy cover"),
    ],
)
def test_other_files_are_refused(name: str, reason: str) -> None:
    tokenizer = greedtok.TRAINER.train(counts_of(WORDS.items()), GreedTokOptions(300)).tokenizer
    with pytest.raises(FormatError, match=reason):
        formats.dump(tokenizer, name)


def test_a_file_is_read_back(tmp_path: Path) -> None:
    tokenizer = train(["low lower " * 9], "greedtok", vocab_size=262, special_tokens=("<s>",))
    assert tokenizer.special_tokens[0].token_id == 0
    (tmp_path / "bpe.json").write_bytes(formats.dump(tokenizer, "bpe.json")[""])
    again = formats.load(tmp_path / "bpe.json")
    assert again.model == tokenizer.model
    assert again.encode("low<s>lower", specials="all") == tokenizer.encode("low<s>lower", specials="all")


def test_the_commands_take_it(tmp_path: Path) -> None:
    text = "low lower newest widest\n" * 5
    done = call("train", "-T", text, "-a", "greedtok", "-s", "262", "-o", "t.json", "-q", cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    ids = call("encode", "-t", "t.json", input=text.encode(), cwd=tmp_path).out
    assert call("decode", "-t", "t.json", input=ids, cwd=tmp_path).out == text.encode()
    shown = call("inspect", "-T", "lower", "-t", "t.json", "--steps", cwd=tmp_path)
    assert (shown.status, shown.err) == (0, "")
    assert "greedy cover: tokens are laid over the piece in the order of their ids" in shown.text
    assert call("inspect", "-t", "t.json", cwd=tmp_path).status == 0
    assert call("compare", "-T", text, "-t", "t.json", "-t", "gpt2", cwd=tmp_path).status == 0


# -- options ---------------------------------------------------------------------------------------


def test_counts_of_byte_level_bpe_can_be_trained_on(tmp_path: Path) -> None:
    text = "low lower newest widest\n" * 5
    assert call("train", "-T", text, "-s", "260", "--pattern", "gpt2", "--counts-out", tmp_path / "c", "-o",
                tmp_path / "t.json", "-q").status == 0  # fmt: skip
    given = ("-a", "greedtok", "-s", "264", "-q", "-o")
    assert call("train", "--from-counts", tmp_path / "c", *given, tmp_path / "counted.json").status == 0
    assert call("train", "-T", text, "--pattern", "gpt2", *given, tmp_path / "text.json").status == 0
    assert (tmp_path / "counted.json").read_bytes() == (tmp_path / "text.json").read_bytes()


def test_special_tokens_are_not_learnt() -> None:
    assert b"<s>" not in learnt({b"<s>": 90, b"ab": 5}, special_tokens=("<s>",))
    assert b"<s>" in learnt({b"<s>": 90, b"ab": 5})


def test_rare_words_are_left_out() -> None:
    assert learnt({b"abc": 5, b"xyz": 1}, min_word_count=2) == [b"abc"]


def test_fewer_tokens_than_asked_for() -> None:
    trained = greedtok.TRAINER.train(counts_of(WORDS.items()), GreedTokOptions(300))
    assert trained.tokenizer.vocab_size == 259
    assert trained.shortfall == "no other token makes any word shorter"
    assert greedtok.TRAINER.train(counts_of(WORDS.items()), GreedTokOptions(258)).shortfall is None


def test_words_that_an_option_left_out_are_named_as_the_reason() -> None:
    words = counts_of([(b"ab", 3), (b"cd", 2), (b"x", 1)])
    shortfalls = [
        greedtok.TRAINER.train(words, GreedTokOptions(300, min_word_count=least)).shortfall for least in (2, 3)
    ]
    reason = "no other token makes any word shorter"
    assert shortfalls == [reason, f"{reason} that occurs at least 3 times (`min_word_count`)"]


def test_too_much_memory_is_refused() -> None:
    words = {bytes(range(256)): 1}
    with pytest.raises(TrainingError, match="too many different substrings: the candidates take") as caught:
        learnt(words, candidate_memory=100_000)
    assert "min_word_count=2" in (caught.value.hint or "")
    assert len(learnt(words, candidate_memory=1_000_000)) == 8


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"max_token_length": 1}, "a learnt token has 2 bytes or more"),
        ({"candidate_memory": 0}, "do not fit into 0 bytes"),
        *(({"special_tokens": (token,)}, "is also how tokenizer.json writes") for token in ("a", "Ġ", "Ġx")),
    ],
)
def test_options_that_are_refused(wrong: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        GreedTokOptions(300, **wrong)


def test_vocabularies_that_are_refused() -> None:
    for options in (GreedTokOptions(200), GreedTokOptions(257, special_tokens=("<s>", "<t>"))):
        for refused in (greedtok.TRAINER.untrained, lambda each: greedtok.TRAINER.train(counts_of([(b"a", 1)]), each)):
            with pytest.raises(TrainingError, match="smaller than its initial tokens"):
                refused(options)
    with pytest.raises(UsageError, match="fit"):
        greedtok.TRAINER.untrained(GreedTokOptions(_core.MAX_TOKENS + 1))
    with pytest.raises(TrainingError, match="no text"):
        greedtok.TRAINER.train(new_counts(), GreedTokOptions(300))
    spaced = bbpe.Options(300, prefix_space=True)
    with pytest.raises(UsageError, match="a space before each document"):
        greedtok.TRAINER.adopt(GreedTokOptions(300), bbpe.TRAINER.cutting(spaced))


def test_progress_reaches_its_end_and_can_stop() -> None:
    calls: list[tuple[int, int]] = []
    greedtok.TRAINER.train(
        counts_of(WORDS.items()), GreedTokOptions(258), lambda done, wanted: calls.append((done, wanted))
    )
    assert all(first <= second for first, second in pairwise(calls))
    assert (calls[0], calls[-1]) == ((0, 2), (2, 2))

    def stop(done: int, _: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        greedtok.TRAINER.train(counts_of(WORDS.items()), GreedTokOptions(258), stop)
