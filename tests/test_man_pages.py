"""The man pages are what the code says, complete, and can be shown."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

from tests.needs import skip
from tests.test_docs import generate


def man_pages():
    sys.path.insert(0, str(generate.DOCS))
    try:
        import man_pages
    finally:
        sys.path.pop(0)
    return man_pages


def test_man_pages_are_what_the_code_says():
    pages = man_pages().pages()
    assert {path.name for path in pages} == {path.name for path in man_pages().FOLDER.iterdir()}
    assert {path.name: path.read_text(encoding="utf-8") for path in pages} == {
        path.name: text for path, text in pages.items()
    }, "run make docs"


def test_man_pages_have_every_option():
    from bpe_cli.cli.app import COMMANDS, load
    from bpe_cli.cli.options import Option, parameters_of

    for command in COMMANDS:
        text = (man_pages().FOLDER / f"bpe-{command}.1").read_text(encoding="utf-8")
        for _, each in parameters_of(load(command).run).values():
            names = each.names if isinstance(each, Option) else ()
            assert all(rf"\fB{name}\fR".replace("-", r"\-") in text for part in names for name in part.split("/"))


def test_man_shows_the_pages():
    groff = shutil.which("mandoc") or shutil.which("groff")
    if groff is None:
        skip("needs mandoc or groff, which are not installed")
    words = ["-T", "utf8"] if groff.endswith("mandoc") else ["-man", "-Tutf8"]
    for path in man_pages().FOLDER.iterdir():
        done = subprocess.run([groff, *words, path], capture_output=True, check=True)
        shown = re.sub(r".\x08", "", done.stdout.decode())
        assert path.stem.upper() in shown
        assert "SEE ALSO" in shown
