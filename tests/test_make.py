"""The Makefile says what is missing before it builds anything, and its demo runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.needs import skip

ROOT = Path(__file__).resolve().parent.parent


def make(folder: Path, version: str, target: str = "test-rust", place: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Make a target with a cargo that knows its version and prints what it is asked to do."""
    if shutil.which("make") is None:
        skip("needs make, which is not installed")
    cargo = folder / "cargo"
    cargo.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "{version}" || echo "ran $1"\n', encoding="utf-8")
    cargo.chmod(0o755)
    environment = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    command = ["make", "--no-print-directory", target]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def lowest() -> str:
    return tomllib.loads((ROOT / "core" / "Cargo.toml").read_text(encoding="utf-8"))["package"]["rust-version"]


@pytest.mark.parametrize("version", ["1.70.0", "1.9.1", "0.99.0"])
def test_an_old_rust_is_refused_with_its_version(tmp_path, lowest, version):
    done = make(tmp_path, f"cargo {version} (7fe40dc8c 2023-04-27)")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: Rust {lowest} or newer is needed, cargo is {version}\n\nhint: run `rustup")


def test_a_cargo_that_cannot_run_is_refused_too(tmp_path, lowest):
    """As rustup's is when no toolchain is installed."""
    done = make(tmp_path, "")
    assert done.stderr.startswith(f"error: Rust {lowest} or newer is needed, cargo is unknown\n")


@pytest.mark.parametrize("more", ["", ".0", "9.3", ".1-nightly"])
def test_a_new_rust_goes_to_work(tmp_path, lowest, more):
    done = make(tmp_path, f"cargo {lowest}{more} (7fe40dc8c 2099-04-27)")
    assert done.returncode == 0, done.stderr
    assert "ran test" in done.stdout


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/install.md", "CONTRIBUTING.md", "core/README.md"])
def test_pages_state_the_same_version(lowest, page):
    assert f"Rust {lowest} or newer" in (ROOT / page).read_text(encoding="utf-8").replace("\n", " ")


def test_the_core_is_compiled_by_the_maturin_of_its_own_environment(tmp_path, lowest):
    """The back end of the build looks for the program maturin on PATH, where a fresh machine has none."""
    environment = tmp_path / "a folder" / ".venv"
    (environment / "bin").mkdir(parents=True)
    (environment / ".made").touch()
    python = environment / "bin" / "python"
    python.write_text('#!/bin/sh\necho "$PATH" > path\n', encoding="utf-8")
    python.chmod(0o755)
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, environment.parent)
    (environment.parent / "core").mkdir()
    shutil.copy(ROOT / "core" / "Cargo.toml", environment.parent / "core")
    done = make(tmp_path, f"cargo {lowest}", ".venv/.built", environment.parent)
    assert done.returncode == 0, done.stderr
    path = (environment.parent / "path").read_text(encoding="utf-8").split(os.pathsep)
    assert path[:2] == [str(environment / "bin"), str(tmp_path)]


def test_the_demo_runs_to_its_end(tmp_path):
    """What ``make demo`` runs once all is built, in a folder of its own."""
    for folder in ("tools", "corpora"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = ["sh", "tools/demo.sh"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "\nidentical\n" in done.stdout
    assert (tmp_path / "demo" / "en.txt").read_bytes() == (ROOT / "corpora" / "languages" / "en.txt").read_bytes()
