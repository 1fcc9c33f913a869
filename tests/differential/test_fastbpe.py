"""fastBPE's codes applied here give what its ``applybpe`` gave, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from bpe_cli.formats import subword_nmt
from bpe_cli.formats.subword_nmt import fastbpe
from tests.cli_runner import call

RECORDED = Path("expected", "train", "fastBPE")
CORPUS = Path("vocabs", "subword-nmt-ref", "corpus.en")


@pytest.mark.parametrize("name", ["corpus_en.1000", "botchan.1000", "joint_en_ru.500"])
def test_codes_come_out_as_they_went_in(shared, name):
    path = shared / RECORDED / f"{name}.codes"
    assert fastbpe.dump(fastbpe.load(path)) == {"": path.read_bytes()}


@pytest.mark.parametrize(
    ("expected", "options"),
    [
        ("corpus_en.applied", ()),
        ("corpus_en.applied.vocab50", ("--vocabulary", "vocab50")),
        # The same by a threshold: fastBPE has none, its users cut the vocabulary to size.
        ("corpus_en.applied.vocab50", ("--vocabulary", "corpus_en.applied.vocab", "--vocabulary-threshold", "50")),
    ],
)
def test_applied_codes(shared, expected, options):
    folder = shared / RECORDED
    tokenizer = folder / "corpus_en.1000.codes"
    done = call("encode", shared / CORPUS, "-t", tokenizer, "--to", "segmented", "--lines", *options, cwd=folder)
    assert done.err == ""
    assert done.out == (folder / expected).read_bytes()


def test_vocabulary_of_what_is_segmented(shared, tmp_path):
    """``getvocab`` gives the same counts; of equals it has the lower bytes first, and subword-nmt what came first."""
    folder, written = shared / RECORDED, tmp_path / "vocabulary"
    call(
        "encode",
        shared / CORPUS,
        "-t",
        folder / "corpus_en.1000.codes",
        "--to",
        "segmented",
        "--write-vocabulary",
        written,
    )
    recorded = (folder / "corpus_en.applied.vocab").read_bytes().splitlines()
    assert sorted(written.read_bytes().splitlines()) == sorted(recorded)
    ours = [line.split(b" ") for line in written.read_bytes().splitlines()]
    assert [b" ".join(line) for line in sorted(ours, key=lambda line: (-int(line[1]), line[0]))] == recorded


def test_ids_spell_the_same_subwords(shared):
    tokenizer = fastbpe.load(shared / RECORDED / "corpus_en.1000.codes")
    lines = (shared / RECORDED / "corpus_en.applied").read_text(encoding="utf-8").splitlines()[:500]
    texts = (shared / CORPUS).read_text(encoding="utf-8").splitlines()[:500]
    spelt = 0
    for text, line in zip(texts, lines, strict=True):
        tokens = [tokenizer.token_bytes(token_id).decode() for token_id in tokenizer.encode(text)]
        if "<unk>" not in tokens:
            spelt += 1
            words = " ".join(token.removesuffix("</w>") + ("" if token.endswith("</w>") else "@@") for token in tokens)
            assert words == line
    assert spelt > 100


def test_vocabularies_are_read(shared):
    counts = subword_nmt.load_vocabulary((shared / RECORDED / "corpus_en.words.vocab").read_bytes())
    assert counts["the"] == 1357
    text = (shared / CORPUS).read_text(encoding="utf-8")
    assert counts == subword_nmt.count_words(text.splitlines())
