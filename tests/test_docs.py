"""What the documentation says is true: its examples run, its links lead somewhere, nothing is missing.

A block fenced as ``console`` is a session: ``$ command`` (continued by ``> `` lines), then what it
prints on either stream. A line ``...`` stands for any lines, ``...`` within a line for any text. An
``error:`` in the output means that the command must fail. All sessions of a page run one after the
other in one folder that holds a copy of corpora/. Blocks of other kinds (``sh``, ``text``) are not run.
"""

from __future__ import annotations

import doctest
import importlib.util
import json
import os
import re
import shutil
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

import bpe_cli
from bpe_cli.stages.patterns import PATTERNS
from tests.needs import needs
from tests.sessions import run

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "corpora" / "README.md"])

_specification = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
generate = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(generate)
CLI_PAGE = generate.REFERENCE / "cli.md"


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks_of(text: str, *languages: str) -> list[tuple[int, str]]:
    """Return (line of its first line, content) of the fenced blocks in these languages."""
    found = re.finditer(r"^```([\w-]+)[^\n]*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [(text.count("\n", 0, match.start(2)) + 1, match[2]) for match in found if match[1] in languages]


# -- examples --------------------------------------------------------------------------------------


@dataclass
class Example:
    """A command of a session, and the lines that it is said to print."""

    line: int
    command: str
    expected: list[str]


def examples_of(text: str) -> list[Example]:
    """Read all sessions of a page."""
    examples: list[Example] = []
    for first, block in blocks_of(text, "console"):
        started = False
        for line, content in enumerate(block.splitlines(), first):
            if content.startswith("$ "):
                examples.append(Example(line, content[2:], []))
                started = True
            elif not started:
                raise AssertionError(f"line {line}: a console block begins with '$ command'")
            elif content.startswith("> ") and not examples[-1].expected:
                examples[-1].command += "\n" + content[2:]
            else:
                examples[-1].expected.append(content)
    return examples


def matches(expected: list[str], printed: str) -> bool:
    """Compare what is said with what is printed.

    >>> matches(["a", "...", "took ... s"], "a\\nb\\nc\\ntook 0.3 s\\n")
    True
    >>> matches(["a"], "a\\nb\\n")
    False
    """
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ \t]*\n"
    printed = printed if not printed or printed.endswith("\n") else printed + "\n"
    # An empty line before the next command or the end of the block is layout.
    return re.fullmatch(pattern + r"\n*", printed) is not None or re.fullmatch(pattern, printed + "\n") is not None


@pytest.fixture
def desk(tmp_path, monkeypatch) -> Path:
    """Return a folder to run a page's examples in."""
    shutil.copytree(ROOT / "corpora", tmp_path / "corpora")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("TERM", "dumb")
    return tmp_path


def sessions() -> list[tuple[list[Path], list[tuple[Example, ...]]]]:
    """Return the pages that have sessions, those with the same commands together, and their commands one by one.

    A page in several languages has one session: it is run once, and each page is held to what it prints.
    """
    pages = {page: examples_of(page.read_text("utf-8")) for page in PAGES}
    together: dict[tuple[str, ...], list[Path]] = {}
    for page, examples in pages.items():
        together.setdefault(tuple(example.command for example in examples), []).append(page)
    return [
        (alike, list(zip(*(pages[page] for page in alike), strict=True)))
        for commands, alike in together.items()
        if commands
    ]


@pytest.mark.parametrize(
    ("pages", "session"), [pytest.param(*each, id=" ".join(map(name_of, each[0]))) for each in sessions()]
)
def test_console_examples_print_what_the_page_says(pages, session, desk):
    status = 0
    wrong = []
    for examples in session:
        status, printed = run(examples[0].command, desk, status)
        for page, example in zip(pages, examples, strict=True):
            fails = any(line.startswith("error:") for line in example.expected)
            if not matches(example.expected, printed) or (status != 0) != fails:
                wrong.append(
                    f"{name_of(page)}:{example.line}: $ {example.command}\nstatus {status}, prints:\n{printed}"
                )
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", [page for page in PAGES if ">>> " in page.read_text("utf-8")], ids=name_of)
def test_python_examples_give_what_the_page_says(page, desk):
    parser, names = doctest.DocTestParser(), {}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    report: list[str] = []
    for line, block in blocks_of(page.read_text(encoding="utf-8"), "python", "pycon"):
        test = parser.get_doctest(block, names, name_of(page), str(page), line - 1)
        runner.run(test, out=report.append, clear_globs=False)
        names = test.globs
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


# -- links -----------------------------------------------------------------------------------------


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ +(.*?) *$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    broken = []
    for target in re.findall(r"\]\((?![a-z]+:)([^()\s]+)\)", text):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors_of(file)):
            broken.append(target)
    assert broken == []


# -- completeness ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def commands() -> list[str]:
    return generate.commands()


def test_all_commands_are_found(commands):
    assert set(commands) >= {"train", "encode", "decode", "inspect", "compare", "convert"}


def test_reference_page_is_what_help_says():
    assert CLI_PAGE.read_text(encoding="utf-8") == generate.render(), "run make docs"


def test_api_page_is_up_to_date():
    page = (generate.REFERENCE / "api.md").read_text(encoding="utf-8")
    assert page == generate.api_page(), "run make docs"
    missing = [name for name in bpe_cli.__all__ if name != "__version__" and f"### `{name}`" not in page]
    assert missing == []


def test_the_library_page_teaches_public_names_alone():
    page = (generate.DOCS / "how-to" / "library.md").read_text(encoding="utf-8")
    imported = re.findall(r"^>>> (?:from (bpe_cli\S*) import (.*)|import (bpe_cli\S*))", page, re.MULTILINE)
    assert imported
    for module, names, whole in imported:
        assert whole in ("", "bpe_cli") or whole.startswith("bpe_cli.compat")
        assert module in ("", "bpe_cli") or module.startswith("bpe_cli.compat"), module
        public = bpe_cli.__all__ if module == "bpe_cli" else [*bpe_cli.__all__, "tiktoken", "transformers"]
        assert {name.strip() for name in names.split(",") if name} <= {*public}


def test_every_command_is_one_call(commands, desk, monkeypatch):
    """The calls of the table run one after the other, and fit on a slide."""
    monkeypatch.chdir(desk)
    page = (generate.DOCS / "how-to" / "library.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `bpe (\w+)[^|]*\| `(bpe_cli[^|]*)` \|$", page, re.MULTILINE)
    assert {command for command, _ in rows} == {*commands} - {"completions"}  # which is about the command line itself
    for _, call in rows:
        assert len(call) <= 100
        assert eval(call, {"bpe_cli": bpe_cli, "Path": Path}), call  # a line of our own page


def test_speeds_beside_tiktoken_are_those_that_were_measured():
    needs("tiktoken")
    from benchmarks import compat

    page = (generate.DOCS / "how-to" / "library.md").read_text(encoding="utf-8")
    assert compat.table(json.loads(compat.STORED.read_text(encoding="utf-8"))) in page


def test_format_tables_are_what_the_code_says():
    assert (generate.REFERENCE / "formats.md").read_text(encoding="utf-8") == generate.formats_page(), "run make docs"


def test_table_of_metrics_is_what_the_code_says():
    assert (generate.REFERENCE / "metrics.md").read_text(encoding="utf-8") == generate.metrics_page(), "run make docs"


def test_help_shows_examples(commands):
    for name in commands:
        text = generate.help_of(name)
        _, found, examples = text.partition("Examples")
        assert found, f"bpe {name} --help has no Examples"
        assert re.search(rf"\bbpe {name}\b|\| *bpe\b", examples), f"bpe {name} --help: no example of it"


def test_every_command_is_documented_by_hand(commands):
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES if page != CLI_PAGE)
    assert [name for name in commands if f"bpe {name}" not in text] == []


def test_one_version_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    crate = tomllib.loads((ROOT / "core" / "Cargo.toml").read_text(encoding="utf-8"))["package"]["version"]
    assert project == crate == bpe_cli.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(project)}\b", changelog, re.MULTILINE), f"CHANGELOG.md has no {project}"


NOT_IN_THE_MODULE = {
    "pyo3-build-config": "runs when pyo3 is compiled",
    "pyo3-macros": "runs in the compiler",
    "serde_derive": "runs in the compiler",
    "portable-atomic": "for processors without atomic integers of 64 bits",
}
"""Crates that those in the module name, and that leave nothing in it -> why."""


def crates_in_the_module() -> set[str]:
    """Return the crates of others that core/Cargo.lock leads to from what the core is linked with."""
    core = ROOT / "core"
    locked = tomllib.loads((core / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    needs_of = {each["name"]: {need.split()[0] for need in each.get("dependencies", ())} for each in locked}
    own = {each["name"] for each in locked if "source" not in each}
    assert own == {"bpe-core"}
    found: set[str] = set()
    waiting: set[str] = set()
    manifest = tomllib.loads((core / "Cargo.toml").read_text(encoding="utf-8"))
    for part in (manifest, *manifest["target"].values()):
        waiting |= part.get("dependencies", {}).keys()
    while waiting := waiting - found - NOT_IN_THE_MODULE.keys() - own:
        found |= waiting
        waiting = set().union(*(needs_of[name] for name in waiting))
    return found


def test_every_crate_in_the_module_is_credited():
    credited = set(re.findall(r"^\| `([\w-]+)`", (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert crates_in_the_module() == credited


def test_the_threat_model_names_files_that_are_there():
    page = (generate.DOCS / "explanation" / "threat-model.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:[\w-]+/)*[\w-]+(?:\.py|\.rs|/))`", page)
    assert len(named) > 50
    assert [each for each in named if not any((ROOT / base / each).exists() for base in ("", "bpe_cli", "tests"))] == []


def test_patterns_page_gives_every_pattern_with_its_source():
    page = (generate.REFERENCE / "patterns.md").read_text(encoding="utf-8")
    for pattern in PATTERNS.values():
        section = page.partition(f"\n### {pattern.name}\n")[2].partition("\n### ")[0]
        assert f"Source: {pattern.source}." in section
        assert [regex for regex in (pattern.regex, *pattern.spellings) if f"\n{regex}\n" not in section] == []
