"""What is fuzzed: functions of bytes. Each raises ``Found`` if a law is broken; any other exception is a finding too.

What a user would be told, a ``BpeError``, is no finding. Readers of tokenizers are held to the laws of the proof of
mutants, and other readers to laws of their own.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bpe_cli import formats
from bpe_cli.chat.counting import count_billed
from bpe_cli.chat.layouts import LAYOUTS
from bpe_cli.chat.messages import Conversation, read_conversation, read_tools
from bpe_cli.chat.templates import ChatTemplate
from bpe_cli.corpus.jsonl import are_json_lines
from bpe_cli.corpus.source import Source, read_blocks
from bpe_cli.datasets import TokenDataset
from bpe_cli.errors import BpeError
from bpe_cli.formats import counts_file
from bpe_cli.sinks.base import ReadOptions
from bpe_cli.sinks.numbers import read_npy
from bpe_cli.sinks.read import read_batches
from bpe_cli.sinks.sidecar import complete, sidecar_path
from bpe_cli.stages.counting import Cutting
from bpe_cli.support.blocks import whole_documents
from bpe_cli.surgery.safetensors import read_header
from bpe_cli.tokenizer import named_encodings
from tests.every_format import FORMATS, files_of, put
from tests.proof.attempts import Found, quick_place
from tests.proof.fuzzing.libfuzzer import FOLDER
from tests.proof.kinds.mutants import use
from tests.proof.kinds.trust import SHOWS_PYTHON

Target = Callable[[bytes], None]

BETWEEN = b"\n%%\n"
"""What stands between the files of a format of several, in one input."""

MOST_ROWS = 50
"""Rows of a data set that are read."""


@cache
def folder() -> Path:
    """Return a folder of this process: one that was given to it, or one that it removes when it ends."""
    import atexit

    if FOLDER in os.environ:
        return Path(os.environ[FOLDER])
    made = Path(tempfile.mkdtemp(prefix="fuzz-", dir=quick_place()))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


# -- tokenizers ------------------------------------------------------------------------------------


def joined(files: Mapping[str, bytes]) -> bytes:
    """Return files as one input, in the order of their names."""
    return BETWEEN.join(files[name] for name in sorted(files))


def parted(name: str, data: bytes) -> dict[str, bytes]:
    """Return the files of a format that an input stands for; those that it does not reach to are absent."""
    names = sorted(files_of(name))
    return dict(zip(names, data.split(BETWEEN, len(names) - 1), strict=False))


def tokenizer(name: str, data: bytes) -> None:
    """Read a tokenizer, use it and write it back."""
    place = folder() / name
    if len(files_of(name)) > 1:
        shutil.rmtree(place, ignore_errors=True)
    found = use(name, put(parted(name, data), place / "read"), place / "back")
    if found.wrong is not None:
        raise Found(found.wrong)


# -- other files -----------------------------------------------------------------------------------


def refusing(read: Target) -> Target:
    """Return what takes a message to the user for an answer, if it is not empty."""

    def reads(data: bytes) -> None:
        try:
            read(data)
        except BpeError as error:
            if not error.message:
                raise Found("it is refused without a message") from error

    return reads


def counts(data: bytes) -> None:
    """Read a counts file, whose checksum is made right, and write it again."""
    line, _, payload = data.partition(b"\n")
    right = b'"sha256":"%s"' % hashlib.sha256(payload).hexdigest().encode()
    line = re.sub(rb'"sha256":"[^"]*"', right, line, count=1)
    path = put({"": line + b"\n" + payload}, folder())
    cutting, read = counts_file.load(path, 1 << 26)
    again = b"".join(counts_file.dump(read, cutting))
    path.write_bytes(again)
    second_cutting, second = counts_file.load(path, 1 << 26)
    if not isinstance(cutting, Cutting) or b"".join(counts_file.dump(second, second_cutting)) != again:
        raise Found("written back, the counts are others")


def sidecar(data: bytes) -> None:
    """Read the description of ten numbers, and the numbers as it says."""
    path = str(put({"": bytes(range(20))}, folder() / "described"))
    Path(sidecar_path(path)).write_bytes(data)
    asked, found = complete("bin", path, ReadOptions(), named_encodings.named("gpt2"))
    with open(path, "rb") as stream:
        ids = [number for batch in read_batches("bin", stream, path, asked) for number in batch.ids]
    if found is not None and len(ids) > found.tokens:
        raise Found(f"{found.tokens} ids are described, and {len(ids)} are read")


def npy(data: bytes) -> None:
    """Read numbers as NumPy does, where it reads them."""
    import numpy

    ids = [number for batch in read_npy(io.BytesIO(data), "ids.npy", ReadOptions()) for number in batch.ids]
    try:
        theirs = numpy.load(io.BytesIO(data), allow_pickle=False).tolist()
    except (ValueError, TypeError, EOFError, SyntaxError):  # of keys that are missing or odd: a row does not need them
        return
    if ids != theirs:
        raise Found(f"{ids[:9]} is to be {theirs[:9]}")


def ids(data: bytes) -> None:
    """Read ids in each of the formats that are lines, in pieces too."""
    kinds = ("ids", "jsonl", "tokens")
    kind, data = kinds[data[0] % len(kinds) if data else 0], data[1:]
    options = ReadOptions(tokenizer=named_encodings.named("gpt2"))

    def documents(stream: io.RawIOBase | io.BytesIO) -> list[list[int]]:
        made: list[list[int]] = [[]]
        for batch in read_batches(kind, stream, "in", options):  # type: ignore[arg-type]
            made[-1] += batch.ids
            if batch.done:
                made.append([])
        return made

    whole = documents(io.BytesIO(data))
    if (again := documents(Drops(data))) != whole:
        raise Found(f"in drops, {again} is read in place of {whole}")


class Drops(io.BytesIO):
    """A stream that returns three bytes at a time, as a slow pipe does."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Return up to three bytes."""
        return super().read(3 if size is None or size < 0 or size > 3 else size)

    read1 = read


def json_lines(data: bytes) -> None:
    """Read a field of each line, in blocks of any size, and judge what it is."""
    path = put({"": data}, folder() / "lines")
    are_json_lines(data)

    def documents(size: int) -> list[bytes]:
        source = Source((str(path),), documents="jsonl", block_bytes=size)
        return [each for made in whole_documents(read_blocks(source, stdin=io.BytesIO())) for each in made]

    if documents(1 << 20) != documents(7):
        raise Found("in small blocks, the documents are others")


def manifest(data: bytes) -> None:
    """Open a data set by its manifest, and read its rows."""
    place = data_set()
    (place / "manifest.json").write_bytes(data)
    for side in (None, "train", "val"):
        refused(lambda side=side: rows_of(place, side))  # type: ignore[misc]


def rows_of(place: Path, side: Any) -> list[Any]:
    """Return rows of a data set, by themselves and with all of their fields."""
    opened = TokenDataset(place, side=side)
    fields = TokenDataset(place, side=side, fields=opened.fields)
    return [each[number] for each in (opened, fields) for number in range(min(len(each), MOST_ROWS))]


@cache
def data_set() -> Path:
    """Return a small data set, whose manifest is to be replaced."""
    import bpe_cli

    place = folder() / "set"
    text = put({"": b"one two\nthree\nfour five six\n" * 5}, folder() / "text")
    bpe_cli.prepare("gpt2", text, place, to="bin", documents="lines", eot="auto")
    return place


def project(data: bytes) -> None:
    """Read the defaults of a project's pyproject.toml for each command."""
    import contextlib

    from bpe_cli.cli import app, config

    place = folder() / "project"
    put({"pyproject.toml": data}, place)
    with contextlib.chdir(place):
        for name in app.NAMES:
            config.defaults_for(name, app.NAMES, lambda each: app.load(each).run)


def safetensors(data: bytes) -> None:
    """Read the header of a file of tensors; each lies within the file."""
    header = read_header(memoryview(data))
    if any(header.data + each.end > len(data) for each in header.tensors.values()):
        raise Found("a tensor lies beyond the end of its file")


# -- conversations ---------------------------------------------------------------------------------

SAID = Conversation(
    ({"role": "system", "content": "be kind"}, {"role": "user", "content": "hi <|im_end|>"},
     {"role": "assistant", "content": "hello", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}),
    tools=[{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
)  # fmt: skip

NAMES = {"bos_token": "<s>", "eos_token": "</s>"}


def chat(data: bytes) -> None:
    """Read a conversation, lay it out in each built-in way, and count it as it is billed."""
    conversation = read_conversation(data, "said.json")
    encoding = named_encodings.named("cl100k_base")
    said = list(conversation.messages)
    for name, layout in LAYOUTS.items():
        refused(lambda layout=layout: layout.render(conversation, add_generation_prompt=True))  # type: ignore[misc]
        refused(lambda name=name: encoding.apply_chat_template(said, chat_template=name))  # type: ignore[misc]
    refused(lambda: count_billed(encoding, conversation, "gpt-4o"))
    read_tools(data, "tools.json")


def refused(work: Callable[[], object]) -> None:
    """Do a thing that may be refused with a message."""
    refusing(lambda _: work() and None)(b"")


def template(data: bytes) -> None:
    """Render a template: it sees nothing of Python."""
    text = str(ChatTemplate(data.decode("utf-8", "replace"), "t.jinja", NAMES).render(SAID, add_generation_prompt=True))
    if found := SHOWS_PYTHON.search(text):
        raise Found(f"a template sees Python: {text[found.start() : found.start() + 60]!r}")


# -- command lines ---------------------------------------------------------------------------------


@cache
def typer_runs() -> object:
    """Return what typer calls the commands with."""
    from tests.unit.cli.test_argv_fast import Runs

    return Runs()


def command_line(data: bytes) -> None:
    """Parse a command line, a word each line: the quick reader and typer agree on what it is quick for."""
    from bpe_cli.cli import app
    from tests.unit.cli.test_argv_fast import by_words

    name, *words = os.fsdecode(data).split("\n")
    if name not in app.NAMES:
        return
    quick = by_words(name, words)
    slow = typer_runs().by_typer(name, words)  # type: ignore[attr-defined]
    if quick is not None and quick != slow:
        raise Found(f"`bpe {name} {words}` is read as {quick}, and by typer as {slow}")


TARGETS: Mapping[str, Target] = MappingProxyType({
    **{name: partial(tokenizer, name) for name in FORMATS},
    "counts": refusing(counts),
    "sidecar": refusing(sidecar),
    "npy": refusing(npy),
    "ids": refusing(ids),
    "json-lines": refusing(json_lines),
    "manifest": refusing(manifest),
    "pyproject.toml": refusing(project),
    "safetensors": refusing(safetensors),
    "chat": refusing(chat),
    "template": refusing(template),
    "argv": refusing(command_line),
})  # fmt: skip
"""Name -> what is called with bytes that somebody may have made."""

assert formats.FORMATS.keys() <= TARGETS.keys()
