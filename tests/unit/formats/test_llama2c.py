"""llama2.c's ``tokenizer.bin``: a Llama model's pieces and scores, and nothing else."""

from __future__ import annotations

import json
import struct
from dataclasses import replace

import pytest

from bpe_cli.errors import FormatError, UsageError
from bpe_cli.formats import identify, load
from bpe_cli.formats.dialects import to_hugging_face
from bpe_cli.formats.sentencepiece import llama2c
from bpe_cli.formats.sentencepiece import model as sentencepiece_model
from bpe_cli.stages import SpaceMarks, SpecialToken
from tests.differential.texts import suite
from tests.unit.formats.test_sentencepiece_model import KINDS, trained


def entry(text: str, score: float = 0.0) -> bytes:
    return struct.pack("<fi", score, len(text.encode())) + text.encode()


FIRST = [entry("<unk>"), entry("\n<s>\n"), entry("\n</s>\n"), *(entry(f"<0x{byte:02X}>") for byte in range(256))]


def small(*pieces: tuple[str, float], longest: int = 9) -> bytes:
    return struct.pack("<i", longest) + b"".join([*FIRST, *(entry(*piece) for piece in pieces)])


def llama_like():
    return sentencepiece_model.loads(trained(**KINDS["bytes"] | {"pad_id": -1, "unk_surface": " ⁇ "}))


def test_worked_example():
    tokenizer = llama2c.loads(small((" a", -1), (" ", -2), ("a", -3), ("aa", -0.5)))
    assert tokenizer.model.vocabulary.token(259) == "▁a".encode()
    assert tokenizer.encode("aa é") == [260, 262, 260, 198, 172]
    assert tokenizer.decode_bytes([259, 262, 198, 172]) == "aaaé".encode()
    assert dict(tokenizer.usage.roles) == {"unk": 0, "bos": 1, "eos": 2}
    assert tokenizer.origin.facts == (("max_token_length", 9),)
    assert llama2c.dump(tokenizer)[""] == small((" a", -1), (" ", -2), ("a", -3), ("aa", -0.5), longest=6)


def test_model_of_sentencepiece_comes_back():
    tokenizer = llama_like()
    data = llama2c.dump(tokenizer)[""]
    assert llama2c.sniff(data[:100])
    assert llama2c.loads(data) == tokenizer
    assert llama2c.loads(llama2c.dump(to_hugging_face(tokenizer))[""]).encode("a fox é") == tokenizer.encode("a fox é")


def test_file_is_known_by_its_content(tmp_path):
    (tmp_path / "anything").write_bytes(small())
    assert identify(tmp_path / "anything") == "llama2c"
    with pytest.raises(UsageError, match="pattern"):
        load(tmp_path / "anything", "gpt2")
    assert not llama2c.sniff(b"")
    assert not llama2c.sniff(small()[:40])
    assert not llama2c.sniff(b"\0" * 100)


def test_published_file_is_written_from_the_model(shared):
    data = (shared / "vocabs" / "llama2" / "tokenizer.bin").read_bytes()
    alone = (shared / "vocabs" / "llama2" / "tokenizer.model").read_bytes()  # without what lies beside it
    model = sentencepiece_model.loads(alone)
    assert llama2c.dump(model)[""] == data
    tokenizer = llama2c.loads(data)
    assert tokenizer == model
    assert llama2c.dump(tokenizer)[""] == data
    cases = json.loads((shared / "expected" / "sentencepiece" / "llama2.json").read_bytes())["cases"]
    given = suite(shared)
    assert {case: tokenizer.encode(given[case]) for case in cases} == {
        case: each["ids"] for case, each in cases.items()
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: replace(t, normalizer=(SpaceMarks(),)), "one blank before the text"),
        (
            lambda t: t.with_special_tokens([SpecialToken(b"<more>", t.vocab_size)]),
            'types of further tokens .1: "<more>"',
        ),
        (lambda t: replace(t, post_processor='{"type":"x"}'), "post-processor"),
    ],
)
def test_what_it_cannot_hold_is_named(change, said):
    with pytest.raises(FormatError, match=said) as caught:
        llama2c.dump(change(llama_like()))
    assert "`allow_loss=" in caught.value.hint


def test_agreed_losses_are_written():
    tokenizer = llama_like()
    more = tokenizer.with_special_tokens([SpecialToken(b"<more>", tokenizer.vocab_size)])
    data = llama2c.dump(more, frozenset({"special-tokens"}))[""]
    assert llama2c.loads(data).model.vocabulary.token(tokenizer.vocab_size) == b"<more>"


def test_other_models_are_refused(tiny):
    with pytest.raises(FormatError, match="cannot hold byte-level BPE by merges"):
        llama2c.dump(tiny)
    with pytest.raises(FormatError, match="as token"):
        llama2c.dump(sentencepiece_model.loads(trained(**KINDS["bytes"])))  # it has <pad> where the first byte is
    with pytest.raises(FormatError, match=r"has .*<0x00>.* as token 3"):
        llama2c.dump(sentencepiece_model.loads(trained(**KINDS["bpe"])))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x01", "cut short"),
        (small()[:-1], "is said to have 6 bytes; 5 are left"),
        (small(("abc", 0))[:-9], "token 259 is cut short"),
        (small(("abcdefghij", 0)), "the longest is said to have 9"),
        (small(("", 0)), "to have 0 bytes"),
        (small() + struct.pack("<fi", 0, 0x7FFFFFFF), "2,147,483,647 bytes"),
        (small() + struct.pack("<fi", 0, -1), "-1 bytes"),
        (small(("a", float("nan"))), "is nan: that is not a finite number"),
        (small() + struct.pack("<fi", 0, 1) + b"\xff", "not UTF-8"),
        (small(("a", 0), ("a", 1)), "appears twice"),
        (struct.pack("<i", 9) + b"".join(FIRST[:9]), "fewer than three and one for each byte"),
        (struct.pack("<i", 9) + entry("<unk>") + entry("<s>"), r"llama2.c has .*<s>.* there"),
    ],
)
def test_broken_files_are_refused(data, said):
    with pytest.raises(FormatError, match=said):
        llama2c.loads(data)
