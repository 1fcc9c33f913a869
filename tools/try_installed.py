"""Try the ``bpe`` that is installed where this runs: the first screen of README.md, and each command once.

``make dist`` runs it in a fresh environment, the workflows run it for the wheel of every platform. It takes nothing but
the standard library, and README.md and corpora/ beside it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = sysconfig.get_path("scripts")


def first_screen() -> list[tuple[str, str]]:
    """Return the commands of README.md up to the end of the section after that on installing, and what each prints."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    begin = text.index("\n## ", text.index("\n## Install") + 1)
    screen = text[: text.find("\n## ", begin + 1)]
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", screen, re.DOTALL | re.MULTILINE):
        for command in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, printed = command.partition("\n")
            found.append((line, printed))
    return found


def run(command: list[str], folder: Path, given: bytes = b"") -> bytes:
    """Run a command with the installed programs first, and nothing of this repository or of a compiler in reach."""
    blocked = {"cargo", "rustc", "maturin"}
    path = [
        each
        for each in os.environ.get("PATH", "").split(os.pathsep)
        if not any(shutil.which(name, path=each) for name in blocked)
    ]
    names = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BPE_"))}
    environment = names | {"PATH": os.pathsep.join([SCRIPTS, *path]), "PYTHONUTF8": "1", "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, input=given, capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{command} failed:\n{done.stdout.decode()}\n{done.stderr.decode()}")
    return done.stdout


def fits(expected: str, printed: str) -> bool:
    """Compare what README.md shows with what is printed; ``...`` stands for anything."""
    pattern = re.escape(expected.strip()).replace(re.escape("..."), "(?s:.*?)")
    return re.fullmatch(pattern, printed.replace("\r\n", "\n").strip()) is not None


def main() -> int:
    """Try all, and say what was tried."""
    bpe = shutil.which("bpe", path=SCRIPTS)
    if bpe is None:
        raise SystemExit(f"there is no bpe in {SCRIPTS}")
    bash = shutil.which("bash") if os.name != "nt" else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "corpora", folder / "corpora")
        where = run([sys.executable, "-c", "import bpe_cli._core as c; print(c.__file__)"], folder).decode().strip()
        if Path(where).is_relative_to(ROOT) and not Path(sys.prefix).is_relative_to(ROOT):
            raise SystemExit(f"the core of the repository is loaded, not that of the wheel: {where}")
        screen = first_screen() if bash else []
        for line, expected in screen:
            printed = run([bash, "-c", f"exec 2>&1; {line}"], folder).decode()
            if not fits(expected, printed):
                raise SystemExit(f"README.md is wrong about {line}:\n{printed}")
        if bash and not screen:
            raise SystemExit("README.md has no commands on its first screen")
        text = (folder / "corpora" / "languages" / "en.txt").read_bytes()
        run([bpe, "train", "corpora/languages/en.txt", "-s", "500", "-o", "t.json", "-q"], folder)
        run([bpe, "encode", "corpora/languages/en.txt", "-t", "t.json", "-o", "ids.npy", "-q"], folder)
        if run([bpe, "decode", "ids.npy", "-t", "t.json"], folder) != text:
            raise SystemExit("decoding does not give back what was encoded")
        run([bpe, "convert", "t.json", "-o", "t.bpe.json", "-q"], folder)
        run([bpe, "inspect", "t.bpe.json"], folder)
        run([bpe, "compare", "corpora/languages/en.txt", "-t", "t.json", "-t", "gpt2"], folder)
        run([bpe, "prepare", "corpora/languages/en.txt", "-t", "gpt2", "--eot", "auto", "-o", "set/", "-q"], folder)
        run([bpe, "completions", "bash"], folder)
        version = run([bpe, "--version"], folder).decode().strip()
    print(f"tried: {version}; {len(screen)} commands of README.md, and every command once")
    return 0


if __name__ == "__main__":
    sys.exit(main())
