"""Write docs/cli.md from the ``--help`` of every command; with ``--check``, say whether it is up to date."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent / "cli.md"

HEAD = """\
# The command line

Made from the commands' own `--help` by `make docs`; the tests check that it is up to date.
"""

# sys.argv[0] is what the usage line shows.
SCRIPT = "import sys; sys.argv[0] = 'bpe'; from bpe_cli.cli.app import main; sys.exit(main())"


def help_of(*command: str) -> str:
    """Give the help text of a command as a terminal without colours, 100 columns wide, shows it."""
    dropped = {"FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TERMINAL_WIDTH"}
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    environment |= {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    environment = {name: value for name, value in environment.items() if not name.startswith("BPE_")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *command, "--help"],
        env=environment, stdout=subprocess.PIPE, check=True, encoding="utf-8",
    )  # fmt: skip
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())


def commands() -> list[str]:
    """Give the names of all commands, as ``bpe --help`` lists them."""
    _, _, listing = help_of().partition("Commands")
    return re.findall(r"^[│ ]{1,3}([a-z][a-z-]*)(?= {2,}\S| *│?$)", listing, re.MULTILINE)


def render() -> str:
    """Give the whole page."""
    first = f"```text\n$ bpe --help\n{help_of()}\n```\n"
    rest = [f"## bpe {name}\n\n```text\n$ bpe {name} --help\n{help_of(name)}\n```\n" for name in commands()]
    return "\n".join([HEAD, first, *rest])


def main() -> int:
    """Write the page, or check it."""
    page = render()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page:
        print("error: docs/cli.md is not what --help says\n\nhint: run make docs", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
