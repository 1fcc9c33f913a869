"""Codes in which no merge ends a word, as of text without spaces: read, written and applied as by subword-nmt."""

from __future__ import annotations

import io

import pytest

from bpe_cli import load
from bpe_cli.errors import InputError
from tests.cli_runner import call
from tests.needs import needs

learn_bpe = needs("subword_nmt.learn_bpe")
apply_bpe = needs("subword_nmt.apply_bpe")


def test_thai_in_one_line(corpora, tmp_path):
    text = "".join((corpora / "languages" / "th.txt").read_text(encoding="utf-8").split())
    codes = io.StringIO()
    learn_bpe.learn_bpe(io.StringIO(text), codes, 300)
    assert "</w>" not in codes.getvalue()
    (tmp_path / "theirs.codes").write_text(codes.getvalue(), encoding="utf-8")
    (tmp_path / "in.txt").write_text(text, encoding="utf-8")
    train = ("train", "in.txt", "-a", "bpe", "--compat", "subword-nmt", "--set", "merges=300", "-o", "ours.codes", "-q")
    assert call(*train, cwd=tmp_path) == (0, b"", "")
    assert (tmp_path / "ours.codes").read_text(encoding="utf-8") == codes.getvalue()
    theirs = apply_bpe.BPE(io.StringIO(codes.getvalue()))
    for some in (text[:400], "ไทย แมว", "x ไทย"):
        shown = call("encode", "-T", some, "-t", "theirs.codes", "--to", "segmented", cwd=tmp_path)
        assert shown.out.decode().rstrip("\n") == theirs.process_line(some)


@pytest.mark.parametrize("name", ["merges.txt", "vocab.bpe", "mine.txt"])
def test_gpt_2s_list_without_its_vocabulary_stays_one_of_a_pair(tmp_path, name):
    (tmp_path / name).write_text("#version: 0.2\nĠ t\nh e\n", encoding="utf-8")
    with pytest.raises(InputError, match="is one of a pair of files, and the other is missing"):
        load(tmp_path / name)
    if name != "mine.txt":
        (tmp_path / name).write_text("#version: 0.2\nh e\n", encoding="utf-8")
        with pytest.raises(InputError, match="is one of a pair of files"):
            load(tmp_path / name)
