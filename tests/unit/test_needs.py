"""What tests need and do not find: a skip at home, a failure in CI unless its reason is listed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.needs import ALLOWED, SHARED, is_allowed, is_ci, needs, only_where, skip

ROOT = Path(__file__).resolve().parent.parent.parent

CONFTEST = """
from tests.needs import NoUnseenSkips

def pytest_configure(config):
    config.pluginmanager.register(NoUnseenSkips())
"""
ALLOWED_REASON = next(iter(ALLOWED))
TESTS = f"""
import unittest
import pytest
from tests.needs import SHARED, needs, only_where, skip

def test_runs(): assert True
def test_lacks_a_module(): needs("no_such_module_of_ours")
def test_lacks_something(): skip("no reason")
def test_lacks_what_may_be_lacking(): skip({ALLOWED_REASON!r})
def test_lacks_nearly_that(): skip({ALLOWED_REASON + "."!r})
def test_lacks_the_shared_folder(): skip(SHARED)
@only_where(False, "needs a mark")
def test_is_marked(): assert True
@pytest.mark.skip
def test_is_marked_raw(): assert True
@pytest.fixture
def nothing(): pytest.skip("has no fixture")
def test_lacks_a_fixture(nothing): assert True
@pytest.mark.xfail(reason="it is known")
def test_fails_as_it_is_known_to(): assert False
class TestOld(unittest.TestCase):
    @unittest.skip("an older way")
    def test_is_old(self): assert True
"""
MODULE = """
from tests.needs import needs

needs("no_such_module_of_ours")
def test_nothing(): assert True
"""
PASSED = {"test_runs"}
SKIPPED = {"test_lacks_what_may_be_lacking"}
FAILED = {
    "test_lacks_a_module",
    "test_lacks_something",
    "test_lacks_nearly_that",
    "test_lacks_the_shared_folder",
    "test_is_marked",
    "test_is_marked_raw",
    "test_lacks_a_fixture",
    "TestOld::test_is_old",
    "test_module.py",
}


NO_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def outcomes(folder: Path, *options: str, **environment: str) -> tuple[int, dict[str, set[str]]]:
    """Run the tests above in a process of their own: status, and what became of which.

    One run has all plugins that are installed, which take longer to begin than all else; the others have those that
    they need.
    """
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_all.py").write_text(TESTS)
    (folder / "test_module.py").write_text(MODULE)
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_SHARED", "PYTEST_ADDOPTS")}
    command = [sys.executable, "-m", "pytest", "-v", "-rA", "-p", "no:cacheprovider", "-c", os.devnull]
    command += ["--rootdir", str(folder), "--continue-on-collection-errors"]
    done = subprocess.run(
        [*command, *options, "test_all.py", "test_module.py"],
        cwd=folder, env={**kept, **environment, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found: dict[str, set[str]] = {}
    for outcome, where in re.findall(r"^(PASSED|FAILED|ERROR|XFAIL) (\S+)", done.stdout, re.MULTILINE):
        found.setdefault(outcome, set()).add(where.removeprefix("test_all.py::"))
    for where in re.findall(r"test_all\.py::(\S+) SKIPPED|SKIPPED test_all\.py::(\S+)", done.stdout):
        found.setdefault("SKIPPED", set()).add("".join(where))
    return done.returncode, found


@pytest.mark.parametrize(
    ("options", "plugins"), [((), {}), (("-p", "xdist", "-n", "1"), NO_PLUGINS)], ids=["alone", "xdist"]
)
def test_ci_fails_on_a_skip_that_is_not_listed(tmp_path, options, plugins):
    status, found = outcomes(tmp_path, *options, CI="true", **plugins)
    assert found.pop("PASSED") == PASSED
    assert found.pop("SKIPPED") == SKIPPED
    assert found.pop("XFAIL") == {"test_fails_as_it_is_known_to"}
    assert set().union(*found.values()) == FAILED
    assert status != 0


def test_at_home_all_of_them_skip(tmp_path):
    status, found = outcomes(tmp_path, **NO_PLUGINS)
    assert found.pop("PASSED") == PASSED
    assert found.pop("SKIPPED") == SKIPPED | FAILED - {"test_module.py"}
    assert found == {"XFAIL": {"test_fails_as_it_is_known_to"}}
    assert status == 0


def test_reasons_are_compared_word_by_word(monkeypatch):
    monkeypatch.delenv("NO_SHARED", raising=False)
    assert all(is_allowed(reason) for reason in ALLOWED)
    for reason in ALLOWED:
        assert not is_allowed(reason + "!")
        assert not is_allowed(reason[1:])
    assert not is_allowed("")
    assert not is_allowed(SHARED)
    monkeypatch.setenv("NO_SHARED", "1")
    assert is_allowed(SHARED)
    assert not is_allowed(SHARED + "!")


@pytest.mark.parametrize(
    ("value", "expected"), [("", False), ("0", False), ("False", False), ("1", True), ("true", True)]
)
def test_what_says_that_this_is_ci(monkeypatch, value, expected):
    monkeypatch.setenv("CI", value)
    assert is_ci() is expected


def test_the_helpers_skip_with_a_reason():
    assert needs("json") is json
    with pytest.raises(
        pytest.skip.Exception, match=r"^needs no_such_module_of_ours, which is not installed: make setup$"
    ):
        needs("no_such_module_of_ours")
    with pytest.raises(pytest.skip.Exception, match=r"^why$"):
        skip("why")
    assert only_where(True, "why").mark.args == (False,)
    assert (only_where(False, "why").mark.args, only_where(False, "why").mark.kwargs) == ((True,), {"reason": "why"})
