"""Write what the docs say from the code itself; with ``--check``, say whether it is up to date.

In docs/reference/, cli.md is the ``--help --all`` of every command, and api.md the docstrings of all public names.
The tables in formats.md between the lines ``<!-- made by docs/generate.py -->`` and ``<!-- end -->`` are what each
format's module says it can write, and the one in metrics.md is the list of metrics. bpe_cli/support/samples.jsonl
holds the files of corpora/ that ``bpe compare --probe`` uses. docs/man/ holds the man pages, see man_pages.py.
"""

from __future__ import annotations

import ast
import functools
import html
import inspect
import os
import re
import subprocess
import sys
import types
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

DOCS = Path(__file__).resolve().parent
REFERENCE = DOCS / "reference"

HEAD = """\
# The command line

`bpe COMMAND --help` describes the most common options. This page has all of them: `make docs` generates it from the
commands' own `--help --all`, and the tests check that it is up to date.
"""

# sys.argv[0] is what the usage line shows.
SCRIPT = "import sys; sys.argv[0] = 'bpe'; from bpe_cli.cli.app import main; sys.exit(main())"


@functools.cache
def help_of(*command: str) -> str:
    """Return the help text of a command as a terminal without colours, 100 columns wide, shows it."""
    dropped = {"FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TERMINAL_WIDTH"}
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    environment |= {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    environment = {name: value for name, value in environment.items() if not name.startswith("BPE_")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *command, "--help", "--all"],
        env=environment, stdout=subprocess.PIPE, check=True, encoding="utf-8",
    )  # fmt: skip
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())


def commands() -> list[str]:
    """Return the names of all commands, as ``bpe --help`` lists them."""
    _, _, listing = help_of().partition("Commands:\n")
    return re.findall(r"^  ([a-z]+) ", listing.partition("\n\n")[0], re.MULTILINE)


def render() -> str:
    """Return the whole page."""
    first = f"```text\n$ bpe --help\n{help_of()}\n```\n"
    rest = [f"## bpe {name}\n\n```text\n$ bpe {name} --help --all\n{help_of(name)}\n```\n" for name in commands()]
    return "\n".join([HEAD, first, *rest])


BEGIN, END = "<!-- made by docs/generate.py -->\n", "<!-- end -->\n"


def formats_page() -> str:
    """Return docs/reference/formats.md with its tables made anew."""
    from bpe_cli.formats import FORMATS
    from bpe_cli.formats.features import FEATURES
    from bpe_cli.stages import ALGORITHMS

    tables = [
        _table(list(ALGORITHMS), {name: module.MODELS for name, module in FORMATS.items()}),
        _table([each.name for each in FEATURES], {name: module.HOLDS for name, module in FORMATS.items()}),
    ]
    return _filled("formats.md", "\n".join(tables))


def metrics_page() -> str:
    """Return docs/reference/metrics.md with its table of metrics made anew."""
    from bpe_cli.reports.comparison.comparison import METRICS

    head = "| name | in tables | kind | better | meaning |\n|---|---|---|---|---|\n"
    rows = (
        f"| `{each.name}` | {each.label} | {each.kind} | {each.better or '-'} | "
        f"{html.escape(each.meaning, quote=False)} |\n"
        for each in METRICS.values()
    )
    return _filled("metrics.md", head + "".join(rows))


API_HEAD = """\
# The public names

The names in `bpe_cli.__all__`. `make docs` generates this page from their docstrings; the tests run the examples and
check that the page is up to date. [The library](../how-to/library.md) introduces them. Semantic versioning covers these
names, their parameters and what they return, `bpe_cli.compat`, and the command line; nothing else.
"""


def api_page() -> str:
    """Return docs/reference/api.md: every public name with its signature and its docstring."""
    import bpe_cli

    values = {name: getattr(bpe_cli, name) for name in bpe_cli.__all__ if not name.startswith("_")}
    kinds: dict[str, list[str]] = {"Functions": [], "Classes": [], "Errors": [], "Values": []}
    for name, value in values.items():
        if inspect.isfunction(value):
            kinds["Functions"].append(_entry("###", name, value))
        elif isinstance(value, type) and issubclass(value, BaseException):
            kinds["Errors"].append(f"### `{name}`\n\n{_text(value)}\n")
        elif isinstance(value, type):
            kinds["Classes"].append(_class_entry(name, value))
        else:
            kinds["Values"].append(f"### `{name}`\n\n{_first_sentence(name)}\n")
    parts = [API_HEAD, *(f"## {kind}\n\n{chr(10).join(found)}" for kind, found in kinds.items() if found)]
    return "\n".join(parts)


def _class_entry(name: str, value: type) -> str:
    """Return a class, and its public methods and properties, those that it has of its bases too."""
    members = []
    for member in sorted(dir(value)):
        found = inspect.getattr_static(value, member)
        if member.startswith("_") or not (inspect.getdoc(found) or ""):
            continue
        if isinstance(found, (classmethod, staticmethod)):
            found = found.__func__
        if inspect.isfunction(found) or isinstance(found, types.MethodDescriptorType):
            members.append(_entry("####", f"{name}.{member}", found))
        elif isinstance(found, (property, functools.cached_property)):
            members.append(f"#### `{name}.{member}`\n\n{_text(found)}\n")
    return "\n".join([f"### `{name}`\n\n{_text(value)}\n", *members])


def _entry(level: str, name: str, function: Callable[..., object]) -> str:
    """Return a function: its signature as code, its docstring below."""
    signature = inspect.signature(function) if inspect.isfunction(function) else _written_in_stub(function)
    shown = [each for each in signature.parameters.values() if each.name not in ("self", "cls")]
    plain = [each.replace(annotation=_Plain(each.annotation)) for each in shown]
    written = str(signature.replace(parameters=plain, return_annotation=_Plain(signature.return_annotation)))
    written = re.sub(r"<[\w.]+ object at 0x[0-9a-f]+>", "...", written)
    text = f"{name}{written}"
    if len(text) > 100:
        inner, _, returned = written[1:].rpartition(") -> ")
        text = f"{name}(\n" + "".join(f"    {part},\n" for part in _divided(inner)) + f") -> {returned}"
    return f"{level} `{name}`\n\n```python\n{text}\n```\n\n{_text(function)}\n"


def _written_in_stub(method: Callable[..., object]) -> inspect.Signature:
    """Return the signature of a method of the core, with the types that only its stub says, by their public names."""
    stub = ast.parse((DOCS.parent / "bpe_cli" / "_core.pyi").read_text(encoding="utf-8"))
    owner, name = method.__qualname__.split(".")
    kind = next(each for each in stub.body if isinstance(each, ast.ClassDef) and each.name == owner)
    found = next(each for each in kind.body if isinstance(each, ast.FunctionDef) and each.name == name)
    arguments = (*found.args.args, *found.args.kwonlyargs)
    kinds = {each.arg: re.sub(r"\b_", "", ast.unparse(each.annotation)) for each in arguments if each.annotation}
    signature = inspect.signature(method)
    typed = [each.replace(annotation=kinds.get(name, each.annotation)) for name, each in signature.parameters.items()]
    return signature.replace(parameters=typed, return_annotation=ast.unparse(found.returns))


class _Plain(str):
    """An annotation that a signature shows as it is written."""

    __repr__ = str.__str__


def _divided(parameters: str) -> list[str]:
    """Divide parameters at the commas that stand in no brackets."""
    parts, depth = [""], 0
    for character in parameters:
        depth += (character in "[({") - (character in "])}")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


_SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Yields|Complexity|Invariant):\s*(.*)$")

_ONE_ITEM = {"Returns", "Yields"}
"""Sections that are not lists: their lines are one sentence after the other."""


def _text(value: object) -> str:
    """Return a docstring as Markdown: sections are lists, examples are code."""
    lines = (inspect.getdoc(value) or "").splitlines()
    out: list[str] = []
    section, code = "", False
    for line in lines:
        if line.startswith(">>> ") or (code and line.strip()):
            if not code:
                out += ["```text"]  # its docstring's test runs it
            code = True
            out.append(line)
            continue
        if code:
            out.append("```")
            code = False
        heading = _SECTION.match(line)
        if heading:
            section = heading[1]
            out += [f"**{heading[1]}**" + (f" {heading[2]}" if heading[2] else ""), ""]
        elif section and line.startswith("    "):
            body = line[4:]
            goes_on = section in _ONE_ITEM and out[-1].startswith("- ")
            if goes_on or body.startswith(" "):
                out[-1] += f" {body.strip()}"
            else:
                what, colon, rest = body.partition(": ")
                out.append(f"- `{what}`: {rest}" if colon and " " not in what.strip("*") else f"- {body}")
        else:
            section = ""
            out.append(line)
    if code:
        out.append("```")
    return re.sub(r"(?<!`)``([^`]+)``(?!`)", r"`\1`", "\n".join(out)).strip()


def _first_sentence(name: str) -> str:
    """Return what a value is."""
    return {"PATTERNS": "The [split patterns](patterns.md) by name."}[name]


def _filled(page: str, made: str) -> str:
    """Return a page with what is made between its two marks."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
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
    sys.path.insert(0, str(DOCS))
    import man_pages

    from bpe_cli.support.samples import PLACE, pack

    pages = (
        *man_pages.pages().items(),
        (REFERENCE / "cli.md", render()),
        (REFERENCE / "api.md", api_page()),
        (REFERENCE / "formats.md", formats_page()),
        (REFERENCE / "metrics.md", metrics_page()),
        (PLACE, pack(DOCS.parent / "corpora")),
    )
    for path, page in pages:
        if "--check" not in sys.argv[1:]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != page:
            name = path.relative_to(DOCS.parent).as_posix()
            source = "corpora/ holds" if path == PLACE else "the code says"
            print(f"error: {name} is not what {source}\n\nhint: run make docs", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
