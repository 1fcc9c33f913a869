"""A byte that has no token: the error says in which input and document it stands, and where, however these are cut."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Literal

import pytest

import bpe_cli
from bpe_cli.corpus import Source
from bpe_cli.errors import InputError, NoTokenError
from bpe_cli.jobs.documents import EncodeOptions
from bpe_cli.jobs.encode import encode
from bpe_cli.jobs.encode_chat import ChatOptions, encode_chat
from bpe_cli.jobs.prepare import PrepareOptions, prepare
from bpe_cli.stages import NFC, FixedLength, RankBpe, Split, WordLevel
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.support.ordered_threads import BLOCK_BYTES
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.engine import Sampling
from tests.needs import needs

ASCII = Vocabulary.from_tokens(bytes([byte]) for byte in range(128))
BEFORE = b"hello world\n" * (BLOCK_BYTES // 4)
"""Several blocks."""
LINES = BEFORE.count(b"\n")
SAID = r"byte 0xFF has no token in this tokenizer: '.*hello\\\\xff there.*'$"


def tokenizer(*, composed: bool) -> Tokenizer:
    return Tokenizer(RankBpe(ASCII), (Split(PATTERNS["gpt2"].regex),), normalizer=(NFC(),) if composed else ())


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_bytes(BEFORE)
    Path("b.txt").write_bytes(BEFORE + b"hello\xff there\n" + BEFORE)


def refused(source: Source, options: EncodeOptions, *, composed: bool = False) -> str:
    with pytest.raises(InputError) as caught:
        encode(source, tokenizer(composed=composed), options, output=io.BytesIO())
    assert caught.value.hint is not None
    return caught.value.message


@pytest.mark.parametrize("composed", [False, True])
@pytest.mark.parametrize("to", ["ids", "count", "bin"])
def test_encode_names_the_file_and_the_byte(to: str, composed: bool) -> None:
    for threads in (1, 3):
        said = refused(Source(("a.txt", "b.txt")), EncodeOptions(to, threads=threads), composed=composed)
        assert re.match(rf"b\.txt, byte {len(BEFORE) + 5:,}: {SAID}", said), said


def test_of_lines_it_names_the_line() -> None:
    source = Source(("a.txt", "b.txt"), documents="lines")
    for sampling in (None, Sampling("dropout", 0.1, seed=1)):
        said = refused(source, EncodeOptions(sampling=sampling))
        assert re.match(rf"b\.txt, document {LINES + 1:,}, byte 5: {SAID}", said), said


def test_prepare_and_compare_name_the_file() -> None:
    tokenizer(composed=False).save("ascii.json")
    with pytest.raises(InputError, match=rf"b\.txt, byte {len(BEFORE) + 5:,}: {SAID}"):
        prepare(Source(("b.txt",)), "ascii.json", folder="set", processes=1)
    with pytest.raises(InputError, match=rf"^ascii\.json cannot encode b\.txt: {SAID}"):
        bpe_cli.compare(["ascii.json"], [Path("a.txt"), Path("b.txt")])


@pytest.mark.parametrize("documents", ["whole", "lines"])
@pytest.mark.parametrize("to", ["ids", "count"])
def test_a_piece_without_a_token_is_named_by_its_document(to: str, documents: Literal["whole", "lines"]) -> None:
    """The core does not say where it stands."""
    characters = WordLevel(Vocabulary.from_tokens([b"a", b"b", b"\n"]))
    model = Tokenizer(characters, (FixedLength(1),))
    Path("c.txt").write_text("a\nb\n" * BLOCK_BYTES + "ab\naéb\nb", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        encode(Source(("c.txt",), documents=documents), model, EncodeOptions(to), output=io.BytesIO())
    name = "c.txt" if documents == "whole" else f"c.txt, document {2 * BLOCK_BYTES + 2:,}"
    assert caught.value.message == f'{name}: the piece "é" has no token, and there is none for unknown ones'


@pytest.mark.parametrize("to", ["ids", "count"])
@pytest.mark.parametrize("content", ["aéb", "a\xff"])
def test_a_conversation_without_a_token_is_named(content: str, to: str) -> None:
    model = tokenizer(composed=False)
    characters = WordLevel(Vocabulary.from_tokens(bytes([byte]) for byte in range(128)))
    said = [json.dumps([{"role": "user", "content": each}], ensure_ascii=False) for each in ("ab", content)]
    Path("talks.jsonl").write_text("\n".join(said), encoding="utf-8")
    source, chat = Source(("talks.jsonl",), documents="jsonl"), ChatOptions("plain.jinja")
    needs("jinja2")
    Path("plain.jinja").write_text("{{ messages[0].content }}")
    for each in (model, Tokenizer(characters, (FixedLength(1),))):
        with pytest.raises(InputError, match=r"^talks\.jsonl:2: (byte|the piece) .* has no token") as caught:
            encode_chat(source, each, chat, EncodeOptions(to), output=io.BytesIO())
        assert "offset" not in caught.value.message
        for mask in (None, "assistant"):
            options = PrepareOptions(to="parquet" if mask else "bin", chat=chat, mask=mask)  # type: ignore[arg-type]
            if mask:
                needs("pyarrow")
            with pytest.raises(InputError) as of_a_set:
                prepare(source, each, options, folder="set", processes=1)
            assert of_a_set.value.message == caught.value.message


def test_of_a_block_the_offset_is_that_in_the_block() -> None:
    block = Block.of([b"low", b"", b"a\xff"])
    with pytest.raises(NoTokenError, match="byte 0xFF at offset 4 has no token") as caught:
        tokenizer(composed=False).encode_block(block)
    assert caught.value.offset == 4
    assert block.document_at(4) == (2, 1)
    assert [block.document_at(offset) for offset in range(5)] == [(0, 0), (0, 1), (0, 2), (2, 0), (2, 1)]
