"""Decoding ids as they come: the text is that of whole documents, and only a part of one is held."""

from __future__ import annotations

import io
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.corpus import Source
from bpe_cli.jobs.decode import Decoded, DecodeOptions, decode
from bpe_cli.jobs.documents import EncodeOptions
from bpe_cli.jobs.encode import encode
from bpe_cli.jobs.files import Streams
from bpe_cli.stages import (
    CTC,
    BPEDecoder,
    ByteFallback,
    ByteLevelDecoder,
    Fuse,
    MetaspaceDecoder,
    ReplaceDecoder,
    SpaceMarksDecoder,
    SpecialToken,
    StripDecoder,
    WordLevel,
    WordPieceDecoder,
)
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.listening import Silence
from bpe_cli.tokenizer import Tokenizer

TOKENS = ["▁a", "b", "▁", "▁▁", "<0xE4>", "<0xBD>", "<0xA0>", "c</w>", "##d", ".", "<s>"]
SPECIAL = (SpecialToken(b"<s>", TOKENS.index("<s>")),)
LLAMA = (ReplaceDecoder("▁", " "), ByteFallback(), Fuse(), StripDecoder(" ", 1, 0))
IN_PARTS = {
    "llama": LLAMA,
    "metaspace": (MetaspaceDecoder(),),
    "metaspace, never": (MetaspaceDecoder(prepend_scheme="never"),),
    "wordpiece": (WordPieceDecoder(),),
    "sentencepiece": (SpaceMarksDecoder(),),
    "sentencepiece, as it is": (SpaceMarksDecoder(False, False),),
    "strip": (StripDecoder("b", 1, 1), Fuse()),
    "visible": (ByteLevelDecoder(),),
}
AS_A_WHOLE = {
    "bpe": (BPEDecoder(),),
    "ctc": (CTC("b", "▁"),),
    "fused": (Fuse(), ReplaceDecoder("b+", "x", literal=False)),
    "stripped at the end": (ReplaceDecoder("▁", " "), Fuse(), StripDecoder(" ", 0, 9)),
}


class Dripping(io.BytesIO):
    """Read a few bytes at a time, as from a pipe."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self.step = step

    def read1(self, size: int | None = -1) -> bytes:
        return super().read1(self.step)


def tokenizer_of(decoders) -> Tokenizer:
    vocabulary = Vocabulary.from_tokens(token.encode() for token in TOKENS)
    return Tokenizer(WordLevel(vocabulary), special_tokens=SPECIAL, decoder=decoders)


@pytest.mark.parametrize("name", [*IN_PARTS, *AS_A_WHOLE])
@given(documents=st.lists(st.lists(st.integers(0, len(TOKENS) - 1), max_size=12), max_size=3), step=st.integers(1, 40))
def test_the_text_is_that_of_whole_documents(name, documents, step):
    tokenizer = tokenizer_of((IN_PARTS | AS_A_WHOLE)[name])
    lines = "".join(f"{' '.join(map(str, ids))}\n" for ids in documents).encode()
    text = io.BytesIO()
    streams = Streams(stdin=Dripping(lines, step))
    done = decode(["-"], tokenizer, DecodeOptions("ids"), output=text, streams=streams)
    assert text.getvalue() == b"".join(map(tokenizer.decode_bytes, documents))
    assert done == Decoded(len(documents), sum(map(len, documents)))


@pytest.mark.parametrize(("name", "in_parts"), [("llama", True), ("sentencepiece", True), ("bpe", False)])
def test_a_long_document_is_decoded_in_parts(name, in_parts, monkeypatch):
    """All of it was held, and several times over, for any tokenizer with decoders."""
    tokenizer = tokenizer_of((IN_PARTS | AS_A_WHOLE)[name])
    ids = array("H", [0, 1, 4, 5, 6, 10] * 400_000)
    expected, sizes = tokenizer.decode_bytes(ids), []
    whole = Tokenizer.decode_bytes
    monkeypatch.setattr(Tokenizer, "decode_bytes", lambda self, some: (sizes.append(len(some)), whole(self, some))[1])
    text, streams = io.BytesIO(), Streams(stdin=io.BytesIO(ids.tobytes()))
    done = decode(["-"], tokenizer, DecodeOptions("bin", dtype="u16"), output=text, streams=streams)
    assert text.getvalue() == expected
    assert done == Decoded(1, len(ids))
    assert (max(sizes) < 1 << 20) == in_parts


@pytest.mark.parametrize("to", ["bin", "npy"])
def test_lines_that_nothing_keeps_apart_are_noted(tmp_path, to):
    path, listener, notes = str(tmp_path / "ids"), Silence(), []
    listener.note = notes.append

    def lines(data: str, eot: str | None, options: DecodeOptions) -> bytes:
        source = Source(text=data, documents="lines")
        encode(source, "gpt2", EncodeOptions(to, eot=eot), output=path)
        text = io.BytesIO()
        decode([path], "gpt2", options, output=text, listener=listener)
        return text.getvalue()

    as_lines = DecodeOptions(lines=True)
    assert lines("one\ntwo\n", "auto", as_lines) == b"one\ntwo\n"
    assert lines("one\n", None, as_lines) == b"one\n"
    assert lines("one\ntwo\n", None, DecodeOptions()) == b"onetwo"
    assert notes == []
    assert lines("one\ntwo\n", None, as_lines) == b"onetwo\n"
    assert len(notes) == 1
    assert "has 2 documents, and nothing says where they end" in notes[0]
