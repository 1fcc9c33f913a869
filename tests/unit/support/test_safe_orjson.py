"""orjson, imported so that an interrupt does not crash."""

from __future__ import annotations

import os
import subprocess
import sys

from hypothesis import example, given
from hypothesis import strategies as st

from bpe_cli.support.safe_orjson import _most_bytes, dumps, orjson
from tests.needs import NO_LIMITS, only_where
from tests.test_architecture import MODULES, imports_of, name_of

SCRIPT = """
import os, sys
at, imported = sys.argv[1], []
def audited(event, arguments):
    global at
    if event != "import":
        return
    imported.append(arguments[0])
    if at == "each":
        process = os.fork()
        if process != 0:
            if os.waitpid(process, 0)[1] != 0:
                os._exit(1)
            return
        at, imported[:-1] = arguments[0], []
    if arguments[0] == at:
        raise KeyboardInterrupt
sys.addaudithook(audited)
try:
    from bpe_cli.support.safe_orjson import orjson
except KeyboardInterrupt:
    imported.append("interrupted")
print(*imported)
"""


def imports(interrupted: str) -> list[list[str]]:
    """Return what is imported, up to an interrupt; a crash fails.

    Of ``each``, a copy of the process is interrupted at each import: what that one imports, and what the whole does.
    """
    done = subprocess.run([sys.executable, "-c", SCRIPT, interrupted], capture_output=True, check=True, timeout=120)
    return [line.split() for line in done.stdout.decode().splitlines()]


def test_what_it_imports_is_there_before():
    (names,) = imports("nothing")
    assert {*names[names.index("orjson") :]} == {"orjson", "orjson.orjson"}


def test_an_interrupt_is_one_at_every_import():
    if hasattr(os, "fork"):
        *interrupted, names = imports("each")
        assert [found[0] for found in interrupted] == names
    else:
        (names,) = imports("nothing")
        interrupted = [found for name in names for found in imports(name)]
    assert len(names) > 40
    assert [found[-1] for found in interrupted] == ["interrupted"] * len(names)


def test_nobody_imports_it_otherwise():
    naming = [path for path in MODULES if "orjson" in path.read_text(encoding="utf-8")]
    assert [name_of(path) for path in naming if "orjson" in imports_of(path)] == ["bpe_cli/support/safe_orjson.py"]
    assert len(naming) > 5


NEEDY = """
import resource
from bpe_cli.formats.read_file import Node, NotJsonError
data = b'[' + b'["\\\\u2581", -1.5], ' * 200_000 + b'0]'
small = b'[' + b' ' * (1 << 16) + b'["a", -1.5]]'
Node.parse(small, "a.json")
with open("/proc/self/statm") as file:
    now = int(file.read().split()[0]) * resource.getpagesize()
seen = []
for megabytes in range(4, 120, 4):
    resource.setrlimit(resource.RLIMIT_AS, (now + (megabytes << 20), resource.RLIM_INFINITY))
    try:
        seen.append(len(Node.parse(data, "a.json").value))
    except NotJsonError:
        seen.append(0)
    Node.parse(small, "a.json")
print(*seen)
"""


@only_where(sys.platform == "linux", NO_LIMITS)
def test_without_memory_for_what_json_becomes_it_is_refused():
    """orjson crashes there: so it is asked before, and never where there is enough."""
    done = subprocess.run([sys.executable, "-c", NEEDY], capture_output=True, check=True, timeout=120)
    seen = done.stdout.decode().split()
    assert seen == sorted(seen, key=int)
    assert {*seen} == {"0", "200001"}


WRITING = """
import resource
from bpe_cli.support.safe_orjson import dumps, orjson
value = {"vocab": {f"token {number}": number for number in range(150_000)}, "merges": [["a", "b"]] * 50_000}
expected = len(orjson.dumps(value, option=orjson.OPT_INDENT_2))
with open("/proc/self/statm") as file:
    now = int(file.read().split()[0]) * resource.getpagesize()
seen = []
for megabytes in range(1, 128, 3):
    resource.setrlimit(resource.RLIMIT_AS, (now + (megabytes << 20), resource.RLIM_INFINITY))
    try:
        seen.append(len(dumps(value, orjson.OPT_INDENT_2)) == expected)
    except MemoryError:
        seen.append(False)
    dumps(["small"])
print(*map(int, seen))
"""


@only_where(sys.platform == "linux", NO_LIMITS)
def test_without_memory_for_json_it_is_not_written():
    """orjson crashes there too."""
    done = subprocess.run([sys.executable, "-c", WRITING], capture_output=True, check=True, timeout=120)
    seen = done.stdout.decode().split()
    assert seen == sorted(seen)
    assert {*seen} == {"0", "1"}


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**64 - 1)
        | st.floats()
        | st.text(st.characters(codec="utf-8")),
        lambda values: st.lists(values) | st.dictionaries(st.text(st.characters(codec="utf-8")), values),
    )
)
@example("\x00" * 50)
@example([[[[[-1.7976931348623157e308]]]]])
def test_what_is_reckoned_is_never_less_than_what_is_written(value):
    assert len(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)) <= _most_bytes(value)
    assert dumps(value, orjson.OPT_INDENT_2) == orjson.dumps(value, option=orjson.OPT_INDENT_2)
