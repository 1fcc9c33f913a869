"""What a test needs and may not find: it skips with a reason; in CI it fails, unless the reason is listed here.

A skip that nobody sees tests nothing. Where CI is set, as CI systems and ``.ci/run`` do, ``NoUnseenSkips`` makes a
failure of every skip whose reason is not in ``ALLOWED``, word by word, whoever skipped and in whatever way.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any, NoReturn, TypeVar

import pytest

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

Skipped = pytest.skip.Exception
"""What ``skip`` and ``needs`` raise, for whoever is no test and says himself what is not there."""

SHARED = "needs ../shared (real tokenizers and reference results), which is not there"

NO_TERMINAL = "needs a pseudo-terminal, which Windows has not"
NO_SITE = "needs zensical, which make site installs"
NO_TRAP = "needs a processor that traps CPUID, and a C compiler"
NO_SEAL = "needs unshare, and the right to mount: nothing but a folder may be written to"
NO_CARGO_MUTANTS = "needs cargo-mutants, which is not installed"
NO_LIMITS = "needs limits on a process (resource), which Windows has not"
NO_PROC = "needs /proc, which only Linux has"
NO_FUZZER = "needs cargo-fuzz or atheris, which make fuzz and make fuzz-python take"
NO_ATHERIS = "needs atheris, which make fuzz-python installs"
NO_FAILING_CALLS = "needs Linux and a C compiler, to let calls to the system fail"

ALLOWED = {
    "needs Chromium to open pages in, which is not installed": ".ci/run tries to install it, which takes a network",
    "needs llama_cpp, which is not installed: make setup": "it compiles llama.cpp, which takes a quarter of an hour",
    "needs torch, which is not installed: make setup": "5 GB; other tests hand a tokenizer to processes of every kind",
    "needs the right to mount a small disk": "root's alone; /dev/full and a limit on sizes stand in for a full disk",
    **dict.fromkeys(
        (f"needs {name}, which is not installed: make setup" for name in ("ipykernel", "nbclient", "nbformat")),
        "the cells of the notebooks run without a kernel, too",
    ),
    "needs Java, which Spark runs on": "only Spark does, and a recipe of the docs is all that it tests",
    "needs the right to give rights up": "root's alone; whoever has none to give up runs the test without",
    **dict.fromkeys(
        (f"needs {name}, which is not installed" for name in ("zsh", "fish")),
        "what bpe answers is tested without, and bash is everywhere",
    ),
    "needs mandoc or groff, which are not installed": "the text of the pages is tested without",
    NO_SITE: "a generator of pages that nothing else needs; the workflow `site` runs make site",
    NO_TRAP: "the benchmark's rows of lesser machines; the core's own tests try every kind of instructions",
    NO_TERMINAL: "one of the system's other programs would be tested",
    NO_SEAL: "mutants of the program are tried by make proof, where they can do no harm",
    NO_LIMITS: "how little memory is enough, and what happens without, is the same everywhere",
    NO_PROC: "memory of ids is kept on Linux alone",
    NO_ATHERIS: "the targets run without, on seeds and on what searches kept",
    NO_FAILING_CALLS: "other tests let the same steps fail within Python",
    **dict.fromkeys(
        (
            f"needs {name}, which make bench installs"
            for name in ("fastokens", "gigatoken", "rs-bpe", "splintr-rs", "tokie")
        ),
        "a rival that is measured, not one that the tests compare with",
    ),
    **dict.fromkeys(
        (
            f"needs {name}, which make test-integrations installs"
            for name in (
                "datatrove",
                "grpcio",
                "litdata",
                "megatron-core",
                "mosaicml-streaming",
                "moto",
                "pyspark",
                "ray",
                "torch",
                "torchdata",
                "webdataset",
            )
        ),
        "7 GB, and not installable beside the transformers of dev; every format has a reader of our own too",
    ),
}
"""Reason of a skip that CI accepts -> why it does."""


def is_ci() -> bool:
    """Return whether all that the tests need is to be there."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def is_allowed(reason: str) -> bool:
    """Return whether CI accepts a skip; NO_SHARED is for CI of a clone that has no ../shared beside it."""
    return reason in ALLOWED or (reason == SHARED and bool(os.environ.get("NO_SHARED")))


def skip(reason: str) -> NoReturn:
    """Skip the test, or the module that is being imported."""
    pytest.skip(reason, allow_module_level=True)


def needs(module: str, name: str | None = None) -> Any:
    """Return a module of the development group in pyproject.toml; without it, skip. ``name`` is that of its package."""
    return pytest.importorskip(module, reason=f"needs {name or module}, which is not installed: make setup")


def needs_reader(module: str, name: str | None = None) -> Any:
    """Return a module of the group ``integrations``, which reads data sets; without it, skip."""
    reason = f"needs {name or module}, which make test-integrations installs"
    return pytest.importorskip(module, reason=reason, exc_type=ImportError)


def posix(module: str, reason: str) -> Any:
    """Return a module that Python has on Linux and macOS alone; elsewhere, skip for this reason."""
    return pytest.importorskip(module, reason=reason)


def only_where(condition: bool, reason: str) -> pytest.MarkDecorator:
    """Mark a test that skips unless the condition holds; the reason says what is needed."""
    return pytest.mark.skipif(not condition, reason=reason)


class NoUnseenSkips:
    """The plugin that fails in CI what is skipped for a reason that is not listed."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Judge the skip of a test."""
        report = yield
        return report if hasattr(report, "wasxfail") else judged(report)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Judge the skip of a module."""
        return judged((yield))


def judged(report: Report) -> Report:
    """Make a failure of a skip that CI does not accept."""
    if not report.skipped or not is_ci():
        return report
    reason = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else report.longreprtext
    if not is_allowed(reason):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, for a reason that tests/needs.py does not allow there: {reason}"
    return report
