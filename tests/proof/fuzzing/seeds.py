"""What a search begins with: small inputs for each target, all made by our own code."""

from __future__ import annotations

import json
import random
from array import array
from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random

from bpe_cli import _core, formats
from bpe_cli.cli import app
from bpe_cli.errors import BpeError
from bpe_cli.formats import counts_file
from bpe_cli.formats.features import LOSSES
from bpe_cli.sinks.numbers import header
from bpe_cli.stages.counting import Cutting
from bpe_cli.surgery.safetensors import write_header
from tests.every_format import FORMATS, files_of
from tests.proof.fuzzing import targets
from tests.random_tokenizers import make

RANDOM_TOKENIZERS = 24
"""So many are tried in each format, beside the one that it can hold."""

CORPORA = Path(__file__).with_name("corpora")
"""Inputs that earlier searches kept, a file for each target."""

FINDS = Path(__file__).with_name("finds")
"""Inputs that broke a law until something was mended: they stay, whatever a small corpus reaches without them."""

MOST, LONGEST = 6, 6000
"""Of a format so many seeds are taken, and no more bytes of each: a search takes longer to change what is longer."""


def of_format(name: str) -> Iterator[bytes]:
    """Make files of a format, of several tokenizers that it can hold."""
    yield targets.joined(files_of(name))
    for seed in range(RANDOM_TOKENIZERS):
        try:
            yield targets.joined(formats.rehearse(make(Random(f"{name} {seed}")), name, LOSSES))
        except BpeError:  # the format cannot hold it
            continue


def counts() -> Iterator[bytes]:
    """Make counts files."""
    for pieces in ((), (b"low", b"er", "naïve 漢字".encode(), bytes(200))):
        made = _core.Counts(1 << 20)
        made.add_pieces(
            b"".join(pieces), array("Q", accumulate(map(len, pieces))), array("Q", range(1, 1 + len(pieces)))
        )
        yield b"".join(counts_file.dump(made, Cutting("x+", special_tokens=("<s>",), unicode_version="16.0.0")))


def sidecar() -> Iterator[bytes]:
    """Make descriptions of ten numbers of two bytes, and of five of four."""
    for dtype, tokens in (("u16", 10), ("u32", 5)):
        yield json.dumps({
            "schema": "bpe-ids/1", "dtype": dtype, "byteorder": "little", "tokens": tokens, "documents": 2, "eot": 3,
            "bos": None, "bytes": 20, "sha256": None, "tokenizer": {"name": "gpt2", "sha256": "0" * 64}, "inputs": [],
        }).encode()  # fmt: skip


def npy() -> Iterator[bytes]:
    """Make arrays of each width, in each version of the format."""
    for kind in ("u16", "u32"):
        numbers = array("H" if kind == "u16" else "I", (1, 2, 3))
        yield header(kind, 3) + numbers.tobytes()
    for version, descr in ((2, "<i8"), (3, ">u2"), (1, "|u1")):
        text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,), }}\n".encode()
        size = len(text).to_bytes(2 if version == 1 else 4, "little")
        yield b"\x93NUMPY" + bytes((version, 0)) + size + text + bytes((0, 7)) * int(descr[2])


def ids() -> Iterator[bytes]:
    """Make lines of ids, of JSON and of tokens; the first byte says of which."""
    yield from (b"\x001 2\n\n03 4294967295\n", b'\x01{"ids": [1, 2]}\n\n{"ids": []}', "\x02Ġa b\nlow er".encode())


def json_lines() -> Iterator[bytes]:
    """Make lines of JSON."""
    yield b'{"text": "one"}\n\n{"id": 7, "text": "na\\u00efve \\ud83d\\ude42"}\r\n{"a": {"b": [1]}, "text": ""}'
    yield b'\xef\xbb\xbf{"text": "x", "text": "y"}\n'


def manifest() -> Iterator[bytes]:
    """Yield the manifest that is there, and those of other layouts."""
    import bpe_cli

    path = targets.data_set() / "manifest.json"
    yield path.read_bytes()
    text = targets.folder() / "text" / "file"
    sequences = {"to": "bin", "length": 5, "way": "best-fit", "pad": "0"}
    for number, options in enumerate(({"to": "npy", "length": 4}, sequences, {"to": "npy", "val": 0.5})):
        place = targets.folder() / f"set{number}"
        bpe_cli.prepare("gpt2", text, place, documents="lines", eot="auto", **options)  # type: ignore[arg-type]
        yield (place / "manifest.json").read_bytes()


def project() -> Iterator[bytes]:
    """Make tables of defaults."""
    yield b'[tool.bpe_cli]\nthreads = 2\nquiet = true\n[tool.bpe_cli.encode]\nto = "bin"\nlines = true\n'
    yield b'tool.bpe_cli = {tokenizer = "gpt2", color = "never"}\n[tool.bpe_cli.train]\nvocab-size = 300\n'


def safetensors() -> Iterator[bytes]:
    """Make files of no, one and two tensors."""
    yield write_header([], {})
    yield write_header([("a", "F32", (2, 3), 24), ("b", "BF16", (4,), 8)], {"format": "pt"}) + bytes(32)


def chat() -> Iterator[bytes]:
    """Make conversations of every kind of message."""
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    tool = {"type": "function", "function": {
        "name": "f", "description": "d", "parameters": {"type": "object", "required": ["a"], "properties": {
            "a": {"type": "integer", "description": "x"}, "b": {"enum": ["c"], "type": "string"},
            "l": {"type": "array", "items": {"type": "object", "properties": {}}}}}}}  # fmt: skip
    parts = [{"type": "text", "text": "hi"}]
    messages = [
        {"role": "system", "content": "be kind"}, {"role": "user", "content": parts, "name": "ann"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "2"}, {"role": "assistant", "content": "two <|im_end|>"},
    ]  # fmt: skip
    yield json.dumps(messages[:2]).encode()
    yield json.dumps({"messages": messages, "tools": [tool], "add_generation_prompt": True}).encode()
    yield json.dumps({
        "messages": messages[:1], "documents": [{"title": "t", "text": "x"}], "functions": [tool["function"]],
        "function_call": {"name": "f"}, "chat_template_kwargs": {"thinking": True},
    }).encode()  # fmt: skip


def template() -> Iterator[bytes]:
    """Yield templates that use the parts of the language."""
    from tests.proof.kinds.trust import AROUND, ESCAPES
    from tests.unit.chat.test_templates import TEMPLATES

    yield from (source.encode() for source in TEMPLATES.values())
    yield from (around.replace("X", ESCAPES[number % len(ESCAPES)]).encode() for number, around in enumerate(AROUND))


def argv() -> Iterator[bytes]:
    """Make a few command lines of each command."""
    from tests.unit.cli.test_argv_fast import some_words

    chance = random.Random(1)
    for name in app.NAMES:
        for _ in range(4):
            yield "\n".join((name, *some_words(name, chance))).encode("utf-8", "surrogateescape")


SEEDS: dict[str, Callable[[], Iterator[bytes]]] = {
    "counts": counts, "sidecar": sidecar, "npy": npy, "ids": ids, "json-lines": json_lines, "manifest": manifest,
    "pyproject.toml": project, "safetensors": safetensors, "chat": chat, "template": template, "argv": argv,
}  # fmt: skip
"""Target -> what makes its seeds, beside those of formats."""


@cache
def seeds_of(name: str) -> tuple[bytes, ...]:
    """Return the seeds of a target: of a format's files those that are short, at least one."""
    if name not in FORMATS:
        return tuple(SEEDS[name]())
    made = sorted(set(of_format(name)), key=lambda data: (len(data), data))
    return (*made[:1], *(data for data in made[1:MOST] if len(data) <= LONGEST))


def corpus_of(name: str) -> tuple[bytes, ...]:
    """Return the inputs that earlier searches kept, and what they found."""
    return (*inputs_in(CORPORA / f"{name}.txt"), *finds_of(name))


def finds_of(name: str) -> tuple[bytes, ...]:
    """Return the inputs that broke a law once."""
    return inputs_in(FINDS / f"{name}.txt")


def inputs_in(path: Path) -> tuple[bytes, ...]:
    """Return the inputs in a file, a line of hexadecimal digits each; without a file there are none."""
    return tuple(map(bytes.fromhex, path.read_text().split("\n")[:-1])) if path.exists() else ()
