"""Write what the docs say from the code itself; with ``--check``, say whether it is up to date.

docs/cli.md is the ``--help`` of every command. The tables in docs/formats.md between the lines
``<!-- made by docs/generate.py -->`` and ``<!-- end -->`` are what each format's module says it can write, and the
one in docs/metrics.md is the list of metrics. bpe_cli/support/samples.jsonl holds the files of corpora/
that ``bpe compare --probe`` uses.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

DOCS = Path(__file__).resolve().parent

HEAD = """\
# The command line

Made from the commands' own `--help` by `make docs`; the tests check that it is up to date.
"""

# sys.argv[0] is what the usage line shows.
SCRIPT = "import sys; sys.argv[0] = 'bpe'; from bpe_cli.cli.app import main; sys.exit(main())"


def help_of(*command: str) -> str:
    """Return the help text of a command as a terminal without colours, 100 columns wide, shows it."""
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
    """Return the names of all commands, as ``bpe --help`` lists them."""
    _, _, listing = help_of().partition("Commands")
    return re.findall(r"^[│ ]{1,3}([a-z][a-z-]*)(?= {2,}\S| *│?$)", listing, re.MULTILINE)


def render() -> str:
    """Return the whole page."""
    first = f"```text\n$ bpe --help\n{help_of()}\n```\n"
    rest = [f"## bpe {name}\n\n```text\n$ bpe {name} --help\n{help_of(name)}\n```\n" for name in commands()]
    return "\n".join([HEAD, first, *rest])


BEGIN, END = "<!-- made by docs/generate.py -->\n", "<!-- end -->\n"


def formats_page() -> str:
    """Return docs/formats.md with its tables made anew."""
    from bpe_cli.formats import FORMATS
    from bpe_cli.formats.features import FEATURES
    from bpe_cli.stages import ALGORITHMS

    tables = [
        _table(list(ALGORITHMS), {name: module.MODELS for name, module in FORMATS.items()}),
        _table([each.name for each in FEATURES], {name: module.HOLDS for name, module in FORMATS.items()}),
    ]
    return _filled("formats.md", "\n".join(tables))


def metrics_page() -> str:
    """Return docs/metrics.md with its table of metrics made anew."""
    from bpe_cli.reports.comparison.metrics import METRICS

    head = "| name | in tables | kind | better | meaning |\n|---|---|---|---|---|\n"
    rows = (
        f"| `{each.name}` | {each.label} | {each.kind} | {each.better or '-'} | "
        f"{html.escape(each.meaning, quote=False)} |\n"
        for each in METRICS.values()
    )
    return _filled("metrics.md", head + "".join(rows))


def _filled(page: str, made: str) -> str:
    """Return a page with what is made between its two marks."""
    text = (DOCS / page).read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n" + made + "\n" + END + after


def _table(columns: list[str], held: Mapping[str, Collection[str]]) -> str:
    """Return a table of formats and what they hold; a no is written out."""
    head = f"| format | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}\n"
    rows = (
        f"| `{name}` | {' | '.join('yes' if column in found else 'no' for column in columns)} |\n"
        for name, found in held.items()
    )
    return head + "".join(rows)


def main() -> int:
    """Write the pages, or check them."""
    from bpe_cli.support.samples import PLACE, pack

    pages = (
        (DOCS / "cli.md", render()),
        (DOCS / "formats.md", formats_page()),
        (DOCS / "metrics.md", metrics_page()),
        (PLACE, pack(DOCS.parent / "corpora")),
    )
    for path, page in pages:
        if "--check" not in sys.argv[1:]:
            path.write_text(page, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != page:
            name = path.relative_to(DOCS.parent).as_posix()
            source = "corpora/ holds" if path == PLACE else "the code says"
            print(f"error: {name} is not what {source}\n\nhint: run make docs", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
