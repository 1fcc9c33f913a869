"""orjson, imported so that an interrupt does not crash."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.test_architecture import MODULES, imports_of, name_of

SCRIPT = """
import sys
imported = []
def audited(event, arguments):
    if event == "import":
        imported.append(arguments[0])
        if arguments[0] == sys.argv[1]:
            raise KeyboardInterrupt
sys.addaudithook(audited)
try:
    from bpe_cli.support.safe_orjson import orjson
except KeyboardInterrupt:
    imported.append("interrupted")
print(*imported)
"""


def imports(interrupted: str) -> list[str]:
    """Return what is imported, up to an interrupt; a crash fails."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, interrupted], capture_output=True, check=True, timeout=120)
    return done.stdout.decode().split()


def test_what_it_imports_is_there_before():
    names = imports("nothing")
    assert {*names[names.index("orjson") :]} == {"orjson", "orjson.orjson"}


@pytest.mark.parametrize("name", imports("nothing"))
def test_an_interrupt_is_one_at_every_import(name):
    assert imports(name)[-1] == "interrupted"


def test_nobody_imports_it_otherwise():
    assert [name_of(path) for path in MODULES if "orjson" in imports_of(path)] == ["bpe_cli/support/safe_orjson.py"]
