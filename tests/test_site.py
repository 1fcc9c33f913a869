"""The site of the documentation: every page is in the guide, links are followed, nothing is loaded from elsewhere."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.needs import NO_SITE, skip

ROOT = Path(__file__).resolve().parent.parent

_specification = importlib.util.spec_from_file_location("docs_site_build", ROOT / "docs" / "site" / "build.py")
build = importlib.util.module_from_spec(_specification)
sys.modules[_specification.name] = build  # where dataclasses look for annotations
_specification.loader.exec_module(build)


def pages_in(entry) -> list[str]:
    """Return the pages of a navigation, in order."""
    if isinstance(entry, str):
        return [entry]
    return [page for each in (entry.values() if isinstance(entry, dict) else entry) for page in pages_in(each)]


def test_the_guide_lists_every_page_once():
    """docs/learn/index.md chooses a language where there is no navigation: on a git host."""
    listed = pages_in(build.navigation())
    assert len(listed) == len(set(listed))
    written = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert written - {*listed} == {"docs/learn/index.md"}
    assert {*listed} <= {*build.files()}


def test_the_site_has_all_that_pages_lead_to():
    files = build.files()
    assert {"README.md", "docs/example.svg", "docs/learn/notebooks/bpe.ipynb"} <= {*files}
    assert [name for name in files if build.LEFT_OUT.match(name)] == []


def test_the_workflow_runs_at_every_change_of_the_site():
    workflow = (ROOT / ".github" / "workflows" / "site.yml").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^    paths: \[(.*)\]$", workflow, re.MULTILINE)
    patterns = [each.strip(' "') for each in listed.split(",")]
    read = [*build.files(), "Makefile", "pyproject.toml"]
    assert [name for name in read if not any(fnmatch(name, each) for each in patterns)] == []


def test_a_folder_of_docs_has_no_more_than_twenty_entries():
    folders = [path for path in (ROOT / "docs").rglob("*") if path.is_dir() and path.name != "__pycache__"]
    assert folders
    sizes = {path: len([each for each in path.iterdir() if each.name != "__pycache__"]) for path in folders}
    assert {path: size for path, size in sizes.items() if size > 20} == {}


@pytest.fixture
def site(tmp_path) -> Path:
    """Return a site of two pages without a mistake."""
    (tmp_path / "below").mkdir()
    (tmp_path / "style.css").write_text("p { color: red }", encoding="utf-8")
    (tmp_path / "index.html").write_text(
        "<link rel=stylesheet href=style.css><h1 id=top>A</h1><a href='below/b.html#ü'>b</a>"
        "<a href='https://example.org/'>away</a><a href='#top'>up</a><a href='below/'>b</a>",
        encoding="utf-8",
    )
    (tmp_path / "below" / "b.html").write_text("<p id='ü'>b</p><a href='../index.html'>a</a>", encoding="utf-8")
    (tmp_path / "below" / "index.html").write_text("<p>i</p>", encoding="utf-8")
    return tmp_path


def test_a_right_site_has_no_mistakes(site):
    assert [*build.mistakes(site)] == []


@pytest.mark.parametrize(
    ("added", "mistake"),
    [
        ("<a href='c.html'>", "index.html links to c.html, which is not there"),
        ("<a href='below/b.html#v'>", "index.html links to below/b.html#v, which has no such heading"),
        ("<a href='#no'>", "index.html links to #no, which has no such heading"),
        ("<script src='https://example.org/a.js'></script>", "index.html loads https://example.org/a.js"),
        ("<img src='//example.org/a.png'>", "index.html loads //example.org/a.png"),
        ("<link rel='preconnect' href='https://example.org'>", "index.html loads https://example.org"),
        ("<img src='none.png'>", "index.html loads none.png, which is not there"),
    ],
)
def test_mistakes_are_found(site, added, mistake):
    page = site / "index.html"
    page.write_text(page.read_text("utf-8") + added, encoding="utf-8")
    assert [*build.mistakes(site)] == [mistake]


def test_a_font_from_elsewhere_is_found(site):
    (site / "style.css").write_text("@font-face { src: url(https://example.org/a.woff2) }", encoding="utf-8")
    assert [*build.mistakes(site)] == ["style.css loads https://example.org/a.woff2"]


def test_it_is_built_and_has_no_mistakes(tmp_path):
    python = ROOT / ".venv" / "site" / "bin" / "python"
    if not python.with_name("zensical").exists():
        skip(NO_SITE)
    done = subprocess.run(
        [python, "docs/site/build.py", tmp_path / "site"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    chinese = (tmp_path / "site" / "html" / "docs" / "learn" / "zh" / "2-words.html").read_text(encoding="utf-8")
    assert '<html lang="zh"' in chinese
    assert "unpkg.com" not in chinese
