"""Every environment variable that the code reads is on the page."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
OWN = re.compile(r"\b_?BPE_[A-Z][A-Z_]*[A-Z]\b")


def sources() -> list[Path]:
    files = [ROOT / "Makefile", ROOT / ".ci" / "run", *(ROOT / "tools").iterdir(), *(ROOT / ".github").rglob("*.*")]
    for folder in ("bpe_cli", "tests", "docs", "benchmarks", "core/src", "core/build"):
        files += [path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".rs")]
    return [path for path in files if path.is_file() and path != Path(__file__)]


def test_all_of_our_own_are_named():
    found = {name for path in sources() for name in OWN.findall(path.read_text(encoding="utf-8"))}
    assert {"BPE_TOKENIZER", "BPE_THREADS", "BPE_NO_CONFIG"} <= found
    assert {name for name in found if f"`{name}`" not in PAGE} == set()


def read_by(path: Path) -> set[str]:
    """Return the variables that a file reads by name."""
    names = set()
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)) if "environ" in source else ():
        text = ast.unparse(node) if isinstance(node, (ast.Call, ast.Subscript, ast.Compare)) else ""
        names |= set(re.findall(r"environ(?:\.get\(|\[)'([A-Z_]+)'", text))
        if isinstance(node, ast.For) and "environ" in ast.unparse(node):
            names |= set(re.findall(r"'([A-Z_]{4,})'", ast.unparse(node.iter)))
    return names


def test_all_that_the_package_reads_are_named():
    found = set().union(*(read_by(path) for path in (ROOT / "bpe_cli").rglob("*.py")))
    assert {"HF_HOME", "HF_HUB_CACHE", "TIKTOKEN_CACHE_DIR", "COLUMNS"} <= found
    assert {name for name in found if f"`{name}`" not in PAGE} == set()
