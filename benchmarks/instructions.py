"""Measure as on a machine with fewer instructions: they are hidden from all libraries in a process.

Linux on x86-64 alone, on processors that can trap CPUID, and with a C compiler, which Rust needs too.
"""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("fewer_instructions.c")

LEVELS = {"avx2": False, "no-avx": True}
"""What is left: AVX2 without AVX-512; or neither, as on any machine of x86-64-v2. And whether to hide AVX too."""

TUNABLES = {"avx2": "-AVX512F,-AVX512VL", "no-avx": "-AVX512F,-AVX512VL,-AVX2,-AVX"}
"""What glibc is told, which asks before anything is hidden."""


def build(folder: Path) -> Path | None:
    """Compile what hides; None where it cannot be compiled or does not work."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return None
    library = folder / "fewer_instructions.so"
    command = [os.environ.get("CC", "cc"), "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    check = [sys.executable, "-c", "import ctypes, sys; sys.exit(-ctypes.CDLL(sys.argv[1]).hide(1))", str(library)]
    return library if subprocess.run(check, capture_output=True, check=False).returncode == 0 else None


def hide(library: str, level: str) -> None:
    """Hide from this process what a level has not, before any library is loaded that asks.

    Raises:
        OSError: It cannot be done here.
    """
    if ctypes.CDLL(library).hide(int(LEVELS[level])):
        raise OSError("this processor cannot trap CPUID")
