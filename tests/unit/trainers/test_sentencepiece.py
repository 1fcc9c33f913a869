"""Check the trainers of SentencePiece's rules on texts small enough to follow by hand."""

from __future__ import annotations

import math
from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli import trainers
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import ScoredBpe, Unigram
from bpe_cli.support.blocks import Block
from bpe_cli.trainers import sentencepiece
from bpe_cli.trainers.base import Trained
from bpe_cli.trainers.counts import new_counts
from bpe_cli.trainers.left_out import LeftOut, without
from bpe_cli.trainers.sentencepiece import Options, meta_pieces
from tests.cli_runner import call, error

LINES = ["low low lower", "newest newest"]
META = [("<unk>", 2), ("<s>", 3), ("</s>", 3)]


def train(lines: list[str], **options: Any) -> Trained:
    settings = Options(**{"normalization": "identity", **options})
    counts = new_counts()
    sentencepiece.TRAINER.count([Block.of([line.encode() for line in lines])], settings, counts)
    return sentencepiece.TRAINER.train(counts, settings)


def tokens_of(trained: Trained) -> list[str]:
    return [token.decode() for _, token in trained.tokenizer.model.vocabulary.items()]


# -- what is trained -------------------------------------------------------------------------------


def test_merges_come_first_and_then_characters() -> None:
    trained = train(LINES, vocab_size=16)
    # lo, ow, we and ▁l occur three times each; of equals the shorter text goes first, then the one that sorts first.
    # With lo and we gone, low occurs twice and ▁lo three times.
    assert tokens_of(trained)[:3] == ["lo", "we", "▁lo"]
    assert sorted(tokens_of(trained)[-9:]) == sorted("▁lowernst")
    model = trained.tokenizer.model
    assert isinstance(model, ScoredBpe)
    assert list(model.scores[3:]) == [-float(number) for number in range(13)]
    assert trained.summary == ("9 characters", "4 merges", "3 special")


def test_characters_with_their_shares() -> None:
    trained = train(["aab"], model="char", vocab_size=9, add_dummy_prefix=False)
    model = trained.tokenizer.model
    assert isinstance(model, Unigram)
    assert tokens_of(trained) == ["a", "b"]
    assert list(model.scores[3:]) == pytest.approx([math.log(2 / 3), math.log(1 / 3)])
    assert trained.shortfall == "there are no more characters"


def test_words_the_most_frequent_first() -> None:
    assert tokens_of(train(LINES, model="word", vocab_size=5)) == ["▁low", "▁newest"]
    with pytest.raises(TrainingError, match="only 6 of 9 pieces can be made: there are no more words"):
        train(LINES, model="word", vocab_size=9, hard_vocab_limit=True)


def test_unigram_pieces_and_what_they_make() -> None:
    trained = train([*LINES] * 5, model="unigram", vocab_size=20, special_tokens=("<c>",))
    tokenizer = trained.tokenizer
    assert {"▁low", "▁newest", *"▁lowernst"} <= set(tokens_of(trained))
    assert [token.content for token in tokenizer.special_tokens] == [b"<unk>", b"<s>", b"</s>", b"<c>"]
    assert isinstance(tokenizer.model, Unigram)
    assert tokenizer.model.single_precision
    assert tokenizer.decode_bytes(tokenizer.encode("newest  low ")) == b"newest low"


def test_pieces_that_are_given_divide_words() -> None:
    trained = train(["lowxlow"] * 3, vocab_size=9, user_defined=("x",), add_dummy_prefix=False)
    assert tokens_of(trained)[0] == "x"
    assert not [token for token in tokens_of(trained)[1:] if "x" in token]
    assert trained.tokenizer.encode("lowxlow") == [5, 3, 5]
    # At each place the longest counts.
    longest = train(["abc"] * 3, vocab_size=12, user_defined=("a", "ab"), add_dummy_prefix=False)
    assert tokens_of(longest) == ["a", "ab", "c"]


def test_a_given_piece_with_the_text_of_a_control_piece_keeps_its_id() -> None:
    assert meta_pieces(Options(9, user_defined=("<s>", "x"))) == [("<unk>", 2), ("<s>", 4), ("</s>", 3), ("x", 4)]
    trained = train(["a<s>b"], vocab_size=9, user_defined=("<s>",), add_dummy_prefix=False)
    assert trained.tokenizer.encode("a<s>b")[1] == 1


def test_given_words_are_given_with_their_mark() -> None:
    options = Options(9, "word", user_defined=("x", "▁y"))
    assert meta_pieces(options) == [*META, ("x", 4), ("▁x", 4), ("▁y", 4)]
    assert train(["x y z"], model="word", vocab_size=9, user_defined=("x",)).tokenizer.encode("z x q") == [6, 4, 0]


def test_ids_are_given_out_around_the_fixed_ones() -> None:
    options = Options(9, special_tokens=("<c>",), pad_id=0, unk_id=1, bos_id=4, eos_id=-1, user_defined=("x",))
    assert meta_pieces(options) == [("<pad>", 3), ("<unk>", 2), ("<c>", 3), ("x", 4), ("<s>", 3)]
    assert [text for text, _ in meta_pieces(Options(900, byte_fallback=True))][3:] == [
        f"<0x{byte:02X}>" for byte in range(256)
    ]


def test_required_characters_are_there_though_they_never_occur() -> None:
    for model in ("bpe", "char", "unigram"):
        options: dict[str, Any] = {"required_chars": "é", "character_coverage": 0.98, "add_dummy_prefix": False}
        trained = train(["ab" * 200 + "z"], model=model, vocab_size=12, **options)
        assert "é" in tokens_of(trained)
        assert "z" not in tokens_of(trained)
        assert 0 not in trained.tokenizer.encode("é")
        assert 0 in trained.tokenizer.encode("z")


def test_marks_can_end_words() -> None:
    trained = train(["ab ab ab"], vocab_size=8, treat_whitespace_as_suffix=True)
    assert tokens_of(trained)[:2] == ["ab", "ab▁"]
    assert trained.tokenizer.encode("ab ab") == [4, 4]


def test_digits_can_be_kept_apart() -> None:
    lines = ["12 12 a1"] * 4
    assert [token for token in tokens_of(train(lines, vocab_size=20)) if "12" in token] == ["12", "▁12"]
    assert not [token for token in tokens_of(train(lines, vocab_size=20, split_digits=True)) if "12" in token]
    assert "a1" not in tokens_of(train(lines, vocab_size=20))
    assert "a1" in tokens_of(train(lines, vocab_size=20, split_by_number=False))


def test_an_unknown_piece_reads_as_asked() -> None:
    tokenizer = train(["ab"], vocab_size=8, unk_surface="?").tokenizer
    assert tokenizer.decode_bytes(tokenizer.encode("aba x")) == b"aba ?"


# -- what is learnt from ---------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=6), max_size=8), st.lists(st.integers(0, 30), max_size=6), st.integers(1, 7))
def test_lines_are_passed_over_wherever_blocks_are_cut(lines: list[bytes], cuts: list[int], longest: int) -> None:
    expected = [line for line in lines if 0 < len(line) <= longest and b"\0\0" not in line]
    left_out = LeftOut()
    blocks = without(cut(lines, cuts), longest, b"\0\0", left_out)
    assert [bytes(line) for block in blocks for line in block.documents()] == expected
    longer = sum(len(line) > longest for line in lines)
    reserved = sum(b"\0\0" in line for line in lines if len(line) <= longest)
    assert left_out == LeftOut(longest, len([*filter(None, lines)]), longer, reserved)


def cut(lines: list[bytes], places: list[int]) -> list[Block]:
    """Return lines in blocks that end at some places of the text, inside lines or not."""
    blocks, parts, continued, position = [], [], False, 0
    for line in lines:
        inside = sorted({place - position for place in places if 0 < place - position < len(line)})
        for start, end in zip([0, *inside], [*inside, len(line)], strict=True):
            parts.append(line[start:end])
            if end < len(line):
                block = Block.of(parts)
                blocks.append(Block(block.data, block.ends, continued, unfinished=True))
                parts, continued = [], True
        position += len(line)
    block = Block.of(parts)
    return [*blocks, Block(block.data, block.ends, continued)] if parts else blocks


def test_no_more_is_kept_of_a_line_than_is_allowed() -> None:
    part = Block(b"x" * 1000, array("Q", [1000]), continued=True, unfinished=True)
    last = Block(b"xab", array("Q", [1, 3]), continued=True)
    left_out = LeftOut()
    (block,) = without([*[part] * 50, last], 10, b"?", left_out)
    assert bytes(block.data) == b"ab"
    assert left_out == LeftOut(10, sentences=2, longer=1)


def test_long_lines_and_samples_on_the_command_line(tmp_path) -> None:
    path = tmp_path / "text"
    path.write_text("".join(f"{'ab' * (number % 4 + 1)}\n" for number in range(400)), encoding="utf-8")
    arguments = ["train", "-a", "char", "--compat", "sentencepiece", path, "-s", "9", "-o", tmp_path / "t.json"]
    arguments += ["--set", "normalization=identity"]  # which has no table to make
    left_out = "note: 200 of 400 sentences were left out for having more than max_sentence_length=5 bytes\n"
    for more, pieces in (
        ([], "400 pieces, 4 different"),
        (["--set", "max_sentence_length=5"], f"{left_out}200 pieces, 2 different"),
        (["--set", "max_sentence_length=5", "--set", "input_sentence_size=30"], f"{left_out}30 pieces, 2 different"),
    ):
        assert call(*arguments, *more).err.startswith(pieces), more
    for model in ("unigram", "bpe", "word"):
        done = call(*arguments[:2], model, *arguments[3:], "--set", "input_sentence_size=30", "--block-size", "64")
        assert done.err.startswith("30 pieces"), model
    done = call("train", "-a", "unigram", path, "-s", "9", "--set", "input_sentence_size=7", "-o", tmp_path / "t.json")
    assert done.err.startswith("7 pieces")


TOO_LONG = f"{'low ' * 2000}\n"
TRAIN = ("train", "-a", "bpe", "--compat", "sentencepiece", "--set", "normalization=identity")
WAS_LEFT_OUT = "was left out for having more than max_sentence_length=4192 bytes"
NOTHING = error(
    f"there is nothing to train on: 1 of 1 sentence {WAS_LEFT_OUT}",
    "allow longer ones with --set max_sentence_length=N, or divide the text into shorter lines",
)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_how_many_lines_are_left_out_is_said(tmp_path, threads) -> None:
    text = f"{TOO_LONG * 2}\nlow low\na▅b\n".encode()
    done = call(*TRAIN, "-s", "9", "-j", threads, "--block-size", "64", "-o", tmp_path / "t.json", input=text)
    assert done.status == 0
    assert done.err.splitlines()[:2] == [
        "note: 2 of 4 sentences were left out for having more than max_sentence_length=4192 bytes",
        "note: 1 of 4 sentences was left out for having the character ▅ (U+2585)",
    ]
    done = call(*TRAIN, "-s", "9", "-o", tmp_path / "t.json", input=b"low low\n\n")
    assert (done.status, "left out" in done.err) == (0, False)


def test_why_nothing_is_left_to_train_on(tmp_path) -> None:
    assert call(*TRAIN, "-s", "9", "-q", input=TOO_LONG.encode()) == (2, b"", NOTHING)
    assert call(*TRAIN, "-s", "9", "-q", input="a▅b\n \n".encode()).err == error(
        "there is nothing to train on: 1 of 2 sentences was left out for having the character ▅ (U+2585); "
        "the others have no text"
    )
    with pytest.raises(TrainingError, match=f"1 of 1 sentence {WAS_LEFT_OUT}$"):
        trainers.train([TOO_LONG], Options(vocab_size=9))
    with pytest.raises(TrainingError, match=f"1 of 1 sentence {WAS_LEFT_OUT}$"):
        bpe_cli.train([TOO_LONG], "bpe", compat="sentencepiece", vocab_size=9)
    shard = call(*TRAIN, "--counts-out", tmp_path / "c", input=TOO_LONG.encode())  # another may have something
    assert (shard.status, shard.err.splitlines()[0]) == (0, f"note: 1 of 1 sentence {WAS_LEFT_OUT}")


def test_lines_that_are_left_out_of_parts(tmp_path) -> None:
    for name, text in (("a", TOO_LONG), ("b", "low low\n")):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    counting = (*TRAIN, "-s", "9", "--counts-dir", "counts")
    alone = call(*counting, "a.txt", cwd=tmp_path)
    assert (alone.status, alone.err.splitlines()[0]) == (2, f"note: 1 of 1 sentence {WAS_LEFT_OUT}")
    assert alone.err.endswith(NOTHING)
    for _ in range(2):  # the second run finds both parts there
        both = call(*counting, "a.txt", "b.txt", "-o", "t.json", cwd=tmp_path)
        assert (both.status, both.err.splitlines()[0]) == (0, f"note: 1 of 2 sentences {WAS_LEFT_OUT}")


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"character_coverage": 0.9}, "a character coverage of 0.9 is not between 0.98 and 1"),
        ({"max_token_length": 0}, "must be 1 or more"),
        ({"model": "unigram", "shrinking_factor": 1.0}, "shrinking factor of 1.0 is not between 0 and 1"),
        ({"input_sentence_size": 0}, "input_sentence_size are 1 or more"),
        ({"model": "unigram", "sub_iterations": 0}, "sub_iterations and input_sentence_size are 1 or more"),
        ({"seed_size": 9}, "a bpe model has no seed_size"),
        ({"model": "unigram", "min_frequency": 2}, "a unigram model has no min_frequency"),
        ({"model": "word", "byte_fallback": True}, "a word model has no byte_fallback"),
        ({"unk_id": -1}, "the piece '<unk>' cannot have the id -1"),
        ({"bos_id": 2}, "the piece '</s>' cannot have the id 2"),
        ({"pad_id": 7}, "no piece has the id 3, and higher ids are given out"),
        ({"special_tokens": ("<c>", "<c>")}, "two pieces have the text '<c>'"),
        ({"special_tokens": ("<s>",), "user_defined": ("<s>",)}, "two pieces have the text '<s>'"),
        ({"user_defined": ("<unk>",)}, "the model has a piece '<unk>' of its own"),
        ({"special_tokens": ("<s>",)}, "the model has a piece '<s>' of its own"),
        ({"model": "unigram", "byte_fallback": True, "special_tokens": ("<0x41>",)}, "a piece '<0x41>' of its own"),
        ({"eos_piece": "<s>"}, "two pieces have the text '<s>'"),
        ({"special_tokens": ("",)}, "a special token or another piece has no text"),
    ],
)
def test_contradictions(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Options(**{"vocab_size": 99, **options})


@pytest.mark.parametrize("model", ["bpe", "unigram", "word", "char"])
def test_too_little(model: str) -> None:
    for lines in ([], [""], ["a▅b"], ["\0"]):
        with pytest.raises(TrainingError, match="there is nothing to train on"):
            train(lines, model=model, vocab_size=99, add_dummy_prefix=False)
    with pytest.raises(TrainingError, match="a vocabulary of 2 is smaller than its"):
        train(LINES, model=model, vocab_size=2)


def test_the_hint_names_a_size_that_does(tmp_path) -> None:
    arguments = ["train", "-a", "bpe", "--compat", "sentencepiece", "-T", "low lower", "-q", "-o", tmp_path / "t.json"]
    arguments += ["--set", "normalization=identity"]
    assert call(*arguments, "-s", "8").err == error(
        "a vocabulary of 8 is smaller than its alphabet and special pieces",
        "ask for 9 or more, or for fewer characters with --set character_coverage=X",
    )
    assert call(*arguments, "-s", "9").status == 0


def test_steps_are_the_pieces_with_their_scores() -> None:
    done = call("train", "-a", "word", "--compat", "sentencepiece", "-T", "a a b", "-s", "5", "--steps", "-q")
    assert done.text == "\n".join(
        ["     0      0.0000  <unk>", "     1      0.0000  <s>", "     2      0.0000  </s>",
         "     3     -0.4055  ▁a", "     4     -1.0986  ▁b", ""]
    )  # fmt: skip
