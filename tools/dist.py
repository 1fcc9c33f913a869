"""Make what is released, and try it: what ``make dist`` runs.

The source distribution, and from it (so that it is proved to hold all it needs) the wheel of this platform. On Linux
the wheel is linked for old systems with zig, and auditwheel judges its tag. Then it is installed in a fresh
environment, in which there is no cargo, and tried.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
BIN = Path(sys.executable).parent
LINUX = sys.platform == "linux"
OLDEST = "manylinux2014"  # glibc 2.17, which Rust's own library asks for


def run(*command: str | Path, cwd: Path = ROOT, **more: str) -> str:
    """Run a command, and end with its output if it fails."""
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"} | more
    words = [str(part) for part in command]
    done = subprocess.run(words, cwd=cwd, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)} failed:\n{done.stdout}")
    return done.stdout


def make_source() -> Path:
    """Return the source distribution, made anew."""
    run(BIN / "maturin", "sdist", "--out", DIST)
    (found,) = DIST.glob("*.tar.gz")
    return found


def make_wheel(source: Path, folder: Path) -> Path:
    """Return the wheel, built from the source distribution alone."""
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = folder.iterdir()
    for path in unpacked.rglob("*"):  # all have one date in the archive, and cargo looks at dates
        os.utime(path)
    old = ("--zig", "--compatibility", OLDEST) if LINUX else ()
    run(
        BIN / "maturin", "build", "--release", "--quiet", "--locked", *old, "--out", DIST, cwd=unpacked,
        CARGO_TARGET_DIR=str(ROOT / "core" / "target" / "dist"), PYO3_PYTHON=sys.executable,
    )  # fmt: skip
    (found,) = DIST.glob("*.whl")
    return found


def check_tag(wheel: Path) -> None:
    """Check that the wheel needs no newer system than its name says, and no more of Python than abi3 has."""
    if LINUX:
        said = run(BIN / "auditwheel", "show", wheel)
        if "manylinux_2_17" not in said or "manylinux_2_17" not in wheel.name:
            raise SystemExit(f"{wheel.name} is not manylinux_2_17:\n{said}")
    run(BIN / "abi3audit", "--strict", "--assume-minimum-abi3", "3.11", wheel)


def try_wheel(wheel: Path, folder: Path) -> str:
    """Install the wheel in an environment of its own, with nothing to build with, and try it."""
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(
        sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check",
        "--only-binary", ":all:", wheel, cwd=folder,
    )  # fmt: skip
    return run(python, "-I", ROOT / "tools" / "try_installed.py", cwd=folder)


def main() -> int:
    """Make all, and list it."""
    shutil.rmtree(DIST, ignore_errors=True)
    source = make_source()
    with tempfile.TemporaryDirectory() as name:
        wheel = make_wheel(source, Path(name))
    check_tag(wheel)
    with tempfile.TemporaryDirectory() as name:
        print(try_wheel(wheel, Path(name)), end="")
    for path in (source, wheel):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
