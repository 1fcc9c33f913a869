"""What byte-level BPE can be told not to make: cut characters, long numbers, tokens across marked places."""

from __future__ import annotations

import pytest

from bpe_cli.errors import FormatError, TrainingError, UsageError
from bpe_cli.support.blocks import Block
from bpe_cli.teaching.bpe import count_digits, keeps_characters
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bbpe
from bpe_cli.trainers.counts import mark_pieces, read_words
from bpe_cli.views.training_steps import training_lines


def train(text: str, merges: int, **options) -> Tokenizer:
    settings = bbpe.BbpeOptions(256 + merges, "", **options)
    counts = bbpe.new_counts()
    bbpe.TRAINER.count([Block.of(line.encode() for line in text.split("\n"))], settings, counts)
    return bbpe.TRAINER.train(counts, settings).tokenizer


def learnt(tokenizer: Tokenizer) -> list[bytes]:
    return [token for _, token in tokenizer.model.vocabulary.items()][256:]


def test_a_piece_of_two_characters_is_no_token():
    # 好 and 她 begin alike: without the veto the beginning joins the character before
    text = "你好\n你她\n" * 5
    assert any(not keeps_characters(token) for token in learnt(train(text, 20)))
    tokens = learnt(train(text, 20, character_boundaries=True))
    assert all(map(keeps_characters, tokens))
    assert "你好".encode() in tokens


def test_numbers_are_kept_short():
    tokens = learnt(train("x2024\n" * 5 + "٣٤٥\n" * 5, 30, max_digits=2))
    assert {b"02", b"x2"} <= {*tokens}
    assert max(map(count_digits, tokens)) == 2


def test_marks_are_not_learnt_from():
    tokens = learnt(train("un|do|ing\n" * 5, 30, boundary_mark="|"))
    assert sorted(tokens) == [b"do", b"in", b"ing", b"un"]
    seen = bbpe.BbpeOptions(20, "", boundary_mark="|", initial_alphabet="seen")
    counts = bbpe.new_counts()
    bbpe.TRAINER.count([Block.of([b"un|do"])], seen, counts)
    assert {token for _, token in bbpe.TRAINER.train(counts, seen).tokenizer.model.vocabulary.items()} >= {b"u", b"n"}
    assert b"|" not in {token for _, token in bbpe.TRAINER.train(counts, seen).tokenizer.model.vocabulary.items()}


@pytest.mark.parametrize("options", [{"initial_alphabet": "seen"}, {"compat": "course"}])
def test_nothing_but_marks(options):
    with pytest.raises(TrainingError, match=r"nothing to train on: the corpus has nothing but boundary marks$"):
        train("||||", 4, boundary_mark="|", **options)
    assert len(train("||||", 4, boundary_mark="|").model.vocabulary) == 256


@pytest.mark.parametrize("mark", ["", "+"])
def test_segmented_words_are_cut_where_they_are_pieces(mark):
    tokens = learnt(train("undo\n undo\nundone\n", 30, boundaries=("un|do",), min_frequency=1, boundary_mark=mark))
    assert b"undo" not in tokens[:2], "only within undone, which is another piece"
    assert b"do" in tokens
    assert b" un" in tokens
    assert b"undone" in tokens


def test_encoding_knows_nothing_of_marks():
    tokenizer = train("undo\n" * 3 + "undo!\n" * 5 + "undo?\n" * 4, 3, boundaries=("un|do",))
    assert [tokenizer.token_bytes(each) for each in tokenizer.encode("undo")] == [b"undo"]


def test_the_mark_is_bytes_that_no_piece_has():
    counts = bbpe.new_counts()
    bbpe.TRAINER.count([Block.of([b"\xff\xff", b"undo"])], bbpe.BbpeOptions(256, ""), counts)
    marked, mark = mark_pieces(counts, read_words(["un|do"]), "")
    assert mark == b"\xff\xff\xff"
    assert marked.items(0, 9) == [(b"\xff\xff", 1), (b"un\xff\xff\xffdo", 1)]


def test_steps_show_the_same_training():
    settings = bbpe.BbpeOptions(262, "", boundaries=("un|do",), character_boundaries=True, max_digits=1)
    counts = bbpe.new_counts()
    bbpe.TRAINER.count([Block.of(["undo 12 你你".encode(), b"undo", b"do"])], settings, counts)
    shown = [line for line in training_lines(bbpe.TRAINER.steps(counts, settings)) if line.startswith("step")]
    tokenizer = bbpe.TRAINER.train(counts, settings).tokenizer
    assert len(shown) == len(tokenizer.model.merges)
    assert shown[0].startswith("step 1: d + o -> do, 3 times")


def test_words_that_contradict_each_other_are_refused():
    with pytest.raises(FormatError, match=r"line 2 .* another way"):
        read_words(["un|do", "u|ndo"])
    with pytest.raises(FormatError, match=r"line 1 .* empty part"):
        read_words(["un||do"])
    with pytest.raises(UsageError, match="must be 0 or more"):
        bbpe.BbpeOptions(300, max_digits=-1)
