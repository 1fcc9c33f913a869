"""What a short run imports: nothing that it does not use. No times, which differ from machine to machine."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from bpe_cli.support import regex_version
from tests.cli_runner import surroundings

PARSERS = {"typer", "click", "rich", "pydantic", "pydantic_core", "shellingham"}
HEAVY = PARSERS | {
    "asyncio", "ast", "base64", "bz2", "concurrent", "csv", "dataclasses", "datetime", "decimal", "difflib", "email",
    "hashlib", "importlib.metadata", "inspect", "json", "logging", "lzma", "multiprocessing", "numpy", "orjson",
    "pathlib", "random", "regex", "shutil", "ssl", "subprocess", "tempfile", "threading", "tqdm", "unittest", "urllib",
    "uuid", "zipfile", "bpe_cli.formats", "bpe_cli.reports", "bpe_cli.trainers", "bpe_cli.chat", "bpe_cli.teaching",
    "bpe_cli.stages.spelling", "bpe_cli.tokenizer.encoded", "bpe_cli.tokenizer.post_processor",
}  # fmt: skip
SHORT = HEAVY | {"enum", "re", "typing"}
"""What a run does without that gets by with the usual commands and the encodings that come with the package."""

SCRIPT = """
import sys
before = set(sys.modules)  # what is in a fresh interpreter, and what it runs at its start
from bpe_cli.__main__ import main
status = main()
modules = sorted(set(sys.modules) - before)
import json
print(json.dumps([status, modules]), file=sys.stderr)
"""


def run(arguments: list[str], **options: object) -> tuple[str, set[str]]:
    """Return what a run printed, and all that it imported."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], env=surroundings(None) | {"PYTHONPATH": "."},
        capture_output=True, check=True, timeout=120, **options,
    )  # fmt: skip
    status, modules = json.loads(done.stderr)
    assert status == 0
    return done.stdout.decode(), set(modules)


def heavy(modules: set[str], wrong: set[str]) -> list[str]:
    return sorted(name for name in modules if any(f"{name}.".startswith(f"{other}.") for other in wrong))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("encode -T hi -t cl100k_base", "6151\n"),
        ("encode -T hi -t gpt-4o", "3686\n"),
        ("encode -T hi -t o200k_base --to count", "1\n"),
        ("encode FILE -t gpt2", "5303\n"),
        ("encode - --to count --max-tokens 5", "1\n"),
        ("encode --lines --special all --quiet -j 2 FILE", "3686\n"),
    ],
)
def test_encoding_imports_nothing_heavy(tmp_path, line, text):
    (tmp_path / "FILE").write_bytes(b"hi")
    printed, modules = run([word.replace("FILE", str(tmp_path / "FILE")) for word in line.split()], input=b"hi")
    assert (printed, heavy(modules, SHORT)) == (text, [])


def test_writing_numbers_imports_what_hashes_them_alone(tmp_path):
    (tmp_path / "FILE").write_bytes(b"hi")
    line = ["encode", str(tmp_path / "FILE"), "-t", "gpt2", "--to", "bin", "-o", str(tmp_path / "OUT"), "-q"]
    _, modules = run(line, stdin=subprocess.DEVNULL)
    assert heavy(modules, SHORT - {"enum", "hashlib", "json", "re", "threading"}) == []
    assert json.loads((tmp_path / "OUT.json").read_text(encoding="utf-8"))["tokens"] == 1


def test_decoding_imports_nothing_heavy():
    printed, modules = run(["decode", "-t", "gpt2"], input=b"5303")
    assert (printed, heavy(modules, SHORT)) == ("hi", [])


def test_versions_import_nothing_heavy():
    assert regex_version() == importlib.metadata.version("regex")
    printed, modules = run(["--version"], stdin=subprocess.DEVNULL)
    assert printed.startswith("bpe ")
    assert heavy(modules, SHORT | {"bpe_cli.corpus", "bpe_cli.jobs", "bpe_cli.stages", "bpe_cli.tokenizer"}) == []


@pytest.mark.parametrize("line", ["encode --help", "decode -h", "encode --help --all"])
def test_help_imports_nothing_heavy(line):
    printed, modules = run(line.split(), stdin=subprocess.DEVNULL)
    assert printed.startswith(f"Usage: bpe {line.split()[0]} ")
    assert heavy(modules, HEAVY) == []


def test_a_file_imports_its_own_format_alone(tmp_path):
    path = str(tmp_path / "tokenizer.json")
    run(["convert", "gpt2", "-o", path, "-q"], stdin=subprocess.DEVNULL)
    printed, modules = run(["encode", "-T", "hi", "-t", path], stdin=subprocess.DEVNULL)
    assert (printed, heavy(modules, PARSERS | {"dataclasses", "hashlib", "inspect", "orjson", "uuid"})) == (
        "5303\n",
        [],
    )
    others = {
        "gguf",
        "sentencepiece",
        "byte_level.tekken",
        "rwkv",
        "byte_level.minbpe",
        "youtokentome",
        "bert",
        "subword_nmt",
    }
    assert heavy(modules, {f"bpe_cli.formats.{name}" for name in others}) == []


def test_the_package_itself_imports_nothing():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, bpe_cli; print(*(name for name in sys.modules if 'bpe_cli.' in name))"],
        env=surroundings(None) | {"PYTHONPATH": "."}, capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == []


def test_no_named_tuple_is_made(tmp_path):
    """The first takes a millisecond, each further one a third of that: ``fast_dataclass`` makes values for less."""
    (tmp_path / "ids.txt").write_text("5303", encoding="ascii")
    _, encoding = run(["encode", "-T", "hi", "-t", "gpt2"], stdin=subprocess.DEVNULL)
    _, decoding = run(["decode", str(tmp_path / "ids.txt"), "-t", "gpt2"], stdin=subprocess.DEVNULL)
    sources = {importlib.util.find_spec(name).origin for name in encoding | decoding if name.startswith("bpe_cli.")}
    texts = {each: Path(each).read_text(encoding="utf-8") for each in sources if each.endswith(".py")}
    assert len(texts) > 30
    assert [each for each, text in texts.items() if "(NamedTuple)" in text or "namedtuple(" in text] == []
