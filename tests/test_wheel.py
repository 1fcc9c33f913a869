"""The wheel is complete: built, installed in an environment of its own, run from another folder."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent


def run(*command: str | Path, cwd: Path, **more: str) -> str:
    """Run a command and give its output; a failure shows both streams."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BPE_"))}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment | more, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    if os.environ.get("WHEEL"):  # one that was made elsewhere
        return Path(os.environ["WHEEL"]).resolve()
    folder = tmp_path_factory.mktemp("wheel")
    stale = ROOT / "bpe_cli" / "_core.stale.so"
    stale.write_bytes(b"an old module that must not get into the wheel")
    try:
        # The same interpreter as in the Makefile: another one would make cargo compile pyo3 again.
        maturin = Path(sys.executable).with_name("maturin")
        run(maturin, "build", "--release", "--quiet", "--out", folder, cwd=ROOT, PYO3_PYTHON=sys.executable)
    finally:
        stale.unlink()
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """Return the folder of programs of an environment with nothing but the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    run(
        sys.executable, "-m", "pip", "--python", programs / "python", "install", "--quiet", "--no-compile",
        "--disable-pip-version-check", wheel, cwd=folder,
    )  # fmt: skip  # most of what comes along is never imported, so nothing is compiled before it is
    return programs


def test_wheel_holds_what_it_must_and_nothing_stale(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    modules = [name for name in names if name.endswith((".so", ".pyd"))]
    assert len(modules) == 1, modules
    assert "abi3" in wheel.name
    assert wheel.stat().st_size < 20_000_000, "the embedded ranks must not weigh more than that"
    assert {"bpe_cli/__init__.py", "bpe_cli/_core.pyi", "bpe_cli/py.typed"} <= set(names)
    pages = {f"bpe_cli/views/page/{name}" for name in ("page.css", "page.js", "playground.css", "playground.js")}
    assert pages <= set(names)
    assert {name.rsplit("/", 1)[-1] for name in names if "/licenses/" in name} == {"LICENSE", "THIRD_PARTY.md"}
    assert {name.split("/")[0] for name in names if ".dist-info" not in name and ".data" not in name} == {"bpe_cli"}
    pages = {name.rsplit("/", 1)[-1] for name in names if ".data/data/share/man/man1/" in name}
    assert pages == {path.name for path in (ROOT / "docs" / "man").rglob("*.1")} != set()


def test_installed_wheel_works_from_another_folder(installed, tmp_path):
    version = run(installed / "bpe", "--version", cwd=tmp_path)
    assert "0.1.0" in version
    assert run(installed / "bpe", "encode", "-T", "hello world", "-t", "gpt2", cwd=tmp_path) == "31373 995\n"
    where = run(installed / "python", "-c", "import bpe_cli._core as c; print(c.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent)


def test_built_in_texts_are_in_the_wheel(installed, tmp_path):
    """They lie in corpora/, which is no part of the package: the package has its own copy."""
    shown = run(installed / "bpe", "compare", "--probe", "all", "-t", "gpt2", cwd=tmp_path)
    assert "40 lines in 8 languages, built in" in shown
    assert "Code: built in, 12 files" in shown
    assert "Data: 8 objects as JSON and as YAML, built in" in shown


def test_every_module_can_be_imported_without_extras(installed, tmp_path):
    """An import that only an optional extra or a development tool satisfies would show here."""
    script = (
        "import importlib, pkgutil, bpe_cli\n"
        # Those that are derived of classes of Jinja and transformers.
        "derived = ('chat.compiler', 'chat.filling', 'chat.sandbox', 'compat.transformers')\n"
        "extra = ('__main__', *derived)\n"
        "walk = pkgutil.walk_packages(bpe_cli.__path__, 'bpe_cli.')\n"
        "names = [m.name for m in walk if not m.name.endswith(extra)]\n"
        "[importlib.import_module(name) for name in names]\n"
        "print(len(names))\n"
    )
    assert int(run(installed / "python", "-c", script, cwd=tmp_path)) > 10
