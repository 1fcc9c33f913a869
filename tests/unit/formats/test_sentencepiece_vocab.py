"""SentencePiece's ``.vocab``: pieces and scores for people to look at."""

from __future__ import annotations

import pytest

from bpe_cli.errors import FormatError, UsageError
from bpe_cli.formats import identify, load
from bpe_cli.formats.sentencepiece import model as sentencepiece_model
from bpe_cli.formats.sentencepiece import vocab as sentencepiece_vocab
from bpe_cli.stages import ScoredBpe, SpaceMarks, SpecialToken, Unigram
from tests.needs import needs
from tests.unit.formats.test_sentencepiece_model import KINDS, LINES, trained

spm = needs("sentencepiece")

AGREED = frozenset({"normalizer", "decoder", "pattern", "pre-tokenizer"})


def test_bpe_is_told_by_whole_numbers():
    tokenizer = sentencepiece_vocab.loads("<unk>\t0\n<s>\t0\n▁a\t-0\naa\t-1\n▁\t-2\na\t-3\n".encode())
    assert isinstance(tokenizer.model, ScoredBpe)
    assert [token.content for token in tokenizer.special_tokens] == [b"<unk>", b"<s>"]
    assert tokenizer.encode("aa <s>") == [2, 5, 4, 0]
    assert dict(tokenizer.origin.facts)["normalization"] == "none: the file does not say"
    assert sentencepiece_vocab.loads(sentencepiece_vocab.dump(tokenizer)[""]) == tokenizer


def test_unigram_is_told_by_other_numbers():
    tokenizer = sentencepiece_vocab.loads("<unk>\t0\n▁a\t-1.5\n▁\t-2.25\na\t-3e+01".encode())
    assert isinstance(tokenizer.model, Unigram)
    assert not tokenizer.model.byte_fallback
    assert tokenizer.model.scores.tolist() == [0, -1.5, -2.25, -30]
    assert tokenizer.encode("a  aa") == [1, 1, 3]
    assert tokenizer.normalizer == (SpaceMarks(),)


def test_bytes_are_told_by_their_texts():
    lines = [f"<0x{byte:02X}>\t0" for byte in range(256)]
    tokenizer = sentencepiece_vocab.loads("\n".join(["<unk>\t0", *lines, "a\t-0", "▁\t-1"]).encode())
    assert tokenizer.encode("aé") == [258, 257, 1 + 0xC3, 1 + 0xA9]
    some = sentencepiece_vocab.loads("\n".join(["<unk>\t0", *lines[:9], "a\t-0"]).encode())
    assert not some.model.byte_fallback


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_what_the_trainer_writes(kind, tmp_path):
    (tmp_path / "text").write_text("\n".join(LINES))
    options = {name: list(value) if isinstance(value, tuple) else value for name, value in KINDS[kind].items()}
    given = {"model_type": "bpe", "vocab_size": 120} | options
    spm.SentencePieceTrainer.train(
        input=str(tmp_path / "text"),
        model_prefix=str(tmp_path / "m"),
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=4,
        **given,
    )
    data = (tmp_path / "m.vocab").read_bytes()
    assert sentencepiece_vocab.dump(load(tmp_path / "m.model"), AGREED)[""] == data
    (tmp_path / "m.model").unlink()
    assert identify(tmp_path / "m.vocab") == "sentencepiece-vocab"
    read = load(tmp_path / "m.vocab")
    assert sentencepiece_vocab.dump(read)[""] == data


def test_published_files_are_written_byte_for_byte(shared):
    folder = shared / "expected" / "train" / "sentencepiece"
    pairs = [(path.with_suffix(".model"), path) for path in sorted(folder.glob("*.vocab"))]
    for name, model in (("spm-bpe_example", "m.model"), ("xlnet-base-cased", "spiece.model")):
        pairs.append((shared / "vocabs" / name / model, shared / "vocabs" / name / "spiece.model.exportvocab.txt"))
    assert len(pairs) > 10
    for model, path in pairs:
        assert sentencepiece_vocab.dump(load(model), AGREED)[""] == path.read_bytes(), path
        assert sentencepiece_vocab.sniff(path.read_bytes()[: 1 << 16]), path


def test_model_beside_it_is_named(tmp_path):
    (tmp_path / "m.vocab").write_bytes(b"<unk>\t0\na\t-1\n")
    load(tmp_path / "m.vocab")
    (tmp_path / "m.model").write_bytes(trained())
    with pytest.raises(FormatError, match=r"the pieces of m\.model") as caught:
        load(tmp_path / "m.vocab")
    assert caught.value.hint == f"read {tmp_path / 'm.model'}"
    with pytest.raises(UsageError, match="pattern"):
        load(tmp_path / "m.vocab", "gpt2")


def test_what_it_cannot_hold_is_named(tiny):
    with pytest.raises(FormatError, match="how text is normalized"):
        sentencepiece_vocab.dump(sentencepiece_model.loads(trained()))
    with pytest.raises(FormatError, match="cannot hold byte-level BPE by merges"):
        sentencepiece_vocab.dump(tiny)
    tokenizer = sentencepiece_vocab.loads(b"<unk>\t0\na\t-1\n")
    with pytest.raises(FormatError, match="line end"):
        sentencepiece_vocab.dump(tokenizer.with_special_tokens([SpecialToken(b"\n", 2)]))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", ":1: "),
        (b"<unk>\t0\na\n", r':2: "a" is not a piece, a tab and a score'),
        (b"<unk>\t0\n\t-1\n", ":2: "),
        (b"<unk>\t0\na\tnan\n", ':2: the score of "a" is not a finite number'),
        (b"<unk>\t0\n\xff\t-1\n", "not UTF-8"),
        (b"<unk>\t0\na\t-1\na\t-2\n", "appears twice"),
        (b"a\t-1\n", "no piece <unk>"),
    ],
)
def test_broken_files_are_refused(data, said):
    with pytest.raises(FormatError, match=said):
        sentencepiece_vocab.loads(data)


def test_list_without_scores_says_what_is_missing():
    with pytest.raises(FormatError) as caught:
        sentencepiece_vocab.loads(b"<unk>\n<s>\n")
    assert "without scores" in caught.value.hint


def test_other_files_are_not_claimed():
    for head in (b"", b"the\t7\nof\t3\n", b"<unk>\t0\nno score here\n", b"<unk> 0\n", b"\x00<unk>\t0\n\xff"):
        assert not sentencepiece_vocab.sniff(head), head
