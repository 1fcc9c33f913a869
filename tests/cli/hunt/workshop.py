"""The folder in which random command lines run: a file of every kind that a command reads, made by the commands."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from bpe_cli.formats import FORMATS
from tests.cli_runner import call
from tests.every_format import KINDS, files_of, pattern_for, put

TEXTS = {
    "plain.txt": b"low lower lowest\nnew newer newest\nwide wider widest, 12 345!\n",
    "tricky.txt": "\ufeffnaïve  Straße\r\n東京タワー 👩‍👩‍👧 e\u0301 \u202eabc\x00\t<|endoftext|> </s>".encode()
    + b"\xff\xc3\n\n  x",
    "empty.txt": b"",
    "code.py": b'def f(x):\n    return {"a": x ** 2}  # \xe2\x86\x92\n',
    "folder/a.txt": b"one two\nthree\n",
    "folder/b.txt": b"four five",
    "a b.txt": b"a name with a blank",
}
OBJECTS = [{"text": "low lower", "meta": {"body": "new newest"}}, {"text": "wide 東京", "meta": {"body": ""}}]
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "low lower <|im_end|>"}]
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]

TRAINED = {f"{kind.replace(' ', '_')}.json": arguments for kind, arguments in KINDS.items()}
"""Tokenizers that are trained here, and how."""

WRITTEN = tuple(name for name in FORMATS if pattern_for(name) is None)
"""Formats of which there is a file or folder that needs no option to be read."""


def of_format(name: str) -> str:
    """Name the file or folder of a format."""
    return f"format_{name}" + (".gguf" if name == "gguf" else "")


def build(folder: Path) -> None:
    """Put the files into an empty folder."""
    for name, content in TEXTS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    lines = b"".join(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in OBJECTS)
    (folder / "data.jsonl").write_bytes(lines)
    (folder / "data.jsonl.gz").write_bytes(gzip.compress(lines, mtime=0))
    (folder / "plain.txt.gz").write_bytes(gzip.compress(TEXTS["plain.txt"], mtime=0))
    (folder / "chat.json").write_text(json.dumps(MESSAGES))
    (folder / "tools.json").write_text(json.dumps(TOOLS))
    (folder / "template.jinja").write_text("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}")
    (folder / "tokens.txt").write_text("low\n<|new|>\n")
    (folder / "subwords.txt").write_text("low 3\nest</w> 2\n")
    (folder / "pairs").mkdir()
    (folder / "pairs" / "a.json").write_text('{"a": [1, 2]}')
    (folder / "pairs" / "a.yaml").write_text("a:\n- 1\n- 2\n")
    (folder / "damaged.json").write_text('{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}}')
    (folder / "old.txt").write_text("what was here before\n")
    corpus = str(folder / "plain.txt")
    for name, arguments in TRAINED.items():
        _run("train", corpus, *arguments, "-o", folder / name, "-q")
    for name in WRITTEN:
        made = put(files_of(name), folder / "made")
        made.rename(folder / of_format(name))
        if (folder / "made").exists():
            (folder / "made").rmdir()
    tokenizer = folder / "bbpe.json"
    for to in ("ids", "tokens", "jsonl", "npy", "bin"):
        _run("encode", corpus, "-t", tokenizer, "--to", to, "-o", folder / f"ids.{to}", "-q")
    _run("train", corpus, "-a", "bbpe", "--counts-out", folder / "bbpe.counts", "-q")
    _run("compare", corpus, "-t", tokenizer, "--json", "-o", folder / "report.json", "-q")


def _run(*arguments: str | Path) -> None:
    done = call(*arguments)
    assert done.status == 0, (arguments, done)
