"""The recorded cases of the frontier's algorithms: what the code of their papers gave."""

from __future__ import annotations

import hashlib
import json
import lzma
from pathlib import Path
from typing import Any

from bpe_cli.stages.spelling import to_visible
from tests.differential.texts import suite

FRONTIER = Path("expected", "frontier")


def case(shared: Path, method: str, name: str) -> dict[str, Any]:
    """Read a case."""
    return json.loads(lzma.open(shared / FRONTIER / method / f"{name}.json.xz").read())


def used(shared: Path, source: dict[str, Any]) -> str:
    """Read the part of a file that a case was made of."""
    data = (shared / source["file"]).read_bytes()[: source["used_bytes"]]
    assert hashlib.sha256(data).hexdigest() == source["used_sha256"]
    return data.decode()


def texts(shared: Path) -> dict[str, str]:
    """Read the texts that the cases encode, by id: those of the suite, and longer ones."""
    return suite(shared) | json.loads((shared / FRONTIER / "extra_texts.json").read_bytes())


def in_documents(text: str, lines: int) -> list[str]:
    """Cut a text into documents of so many lines; empty ones are dropped."""
    rows = text.split("\n")
    documents = ("\n".join(rows[start : start + lines]) for start in range(0, len(rows), lines))
    return [document for document in documents if document]


def digest(documents: list[str]) -> str:
    """Return what a case says of its documents."""
    return hashlib.sha256(json.dumps(documents).encode()).hexdigest()


def visible(text: str) -> str:
    """Write a text's bytes in the visible alphabet."""
    return to_visible(text.encode())


__all__ = ["case", "digest", "in_documents", "texts", "used", "visible"]
