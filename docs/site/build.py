"""Build the site of the documentation, and check it: ``python docs/site/build.py FOLDER``.

The pages are the files of the repository as they are: README.md is the first one, docs/index.md gives the order of the
others, and what they link to beside is copied. Zensical makes HTML of them. Then every link and anchor of that HTML is
followed, and nothing may be loaded from elsewhere: fonts, scripts and search are files of the site.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
GUIDE = "docs/index.md"
LANGUAGES = {"docs/learn/zh/": "zh", "docs/learn/ru/": "ru"}
"""Folder -> the language of its pages, where it is not English."""
LEFT_OUT = re.compile(r"corpora/(?!README\.md$)|\.github/")
"""Sample texts, and what is for the git host: they are not pages, and a link to one keeps only its words."""

_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?![a-z]+:)([^()\s#]*)(#[^()\s]*)?\)")
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_SHIM = re.compile(r'<script src="https://unpkg\.com/iframe-worker/shim"[^>]*></script>')


class SiteError(Exception):
    """A page that is not as it should be."""


# -- its pages -------------------------------------------------------------------------------------


def links_of(page: str) -> list[tuple[str, str]]:
    """Return (text, path in the repository) of a page's links to other files."""
    text = _CODE.sub(lambda found: "" if found[0].startswith("```") else found[0], (ROOT / page).read_text("utf-8"))
    folder = os.path.dirname(page)
    return [(name, os.path.normpath(os.path.join(folder, path))) for name, path, _ in _LINK.findall(text) if path]


def files() -> list[str]:
    """Return the files of the site: the guide, README.md, and all files of this repository that they lead to."""
    waiting, found = ["README.md", GUIDE], set()
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        if path.startswith("..") or not (ROOT / path).is_file():
            raise SiteError(f"a page links to {path}, which is not a file of the repository")
        found.add(path)
        if path.endswith(".md"):
            waiting += [target for _, target in links_of(path) if not LEFT_OUT.match(target)]
    return sorted(found)


def navigation() -> list[object]:
    """Return the sections of the guide with their pages; below the index of a folder are the pages that it links to."""
    guide = links_of(GUIDE)
    listed = {path for _, path in guide}
    found: list[object] = [{"Home": "README.md"}, {"Guide": GUIDE}]
    inside = section = found
    for line in (ROOT / GUIDE).read_text("utf-8").splitlines():
        marks, _, title = line.partition(" ")
        if marks in ("##", "###"):
            inside = []
            (found if marks == "##" else section).append({title: inside})
            if marks == "##":
                section = inside
        else:
            paths = [os.path.normpath(os.path.join("docs", path)) for _, path, _ in _LINK.findall(line)]
            inside += [_entry(name, path, listed) for name, path in guide if path in paths]
    return found


def _entry(name: str, page: str, listed: set[str]) -> dict[str, object]:
    """Return a page under its name, and below the index of a folder the pages that it alone links to."""
    folder = page.removesuffix("index.md")
    if folder == page:
        return {name.replace("`", ""): page}
    below = {path: label.replace("`", "") for label, path in reversed(links_of(page))}
    inside = [path for path in below if path.startswith(folder) and path not in listed]
    return {name: [page, *({below[path]: path} for path in reversed(inside))]}


# -- making it -------------------------------------------------------------------------------------


def build(folder: Path) -> Path:
    """Write the site into an empty folder of its own, and return the folder of its HTML."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    for name in files():
        target = pages / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".md"):
            target.write_text(without_links_out(name), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / name, target)
    assets = pages / "assets"
    assets.mkdir()
    for name in ("site.css", "search-from-files.js"):
        shutil.copyfile(HERE / name, assets / name)
    project, _, rest = (HERE / "zensical.toml").read_text("utf-8").partition("[project.theme]")
    settings = f"{project}nav = {_toml(navigation())}\n\n[project.theme]{rest}"
    (folder / "zensical.toml").write_text(settings, encoding="utf-8")
    program = Path(sys.executable).with_name("zensical")
    done = subprocess.run(
        [program, "build", "--clean", "--strict"], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SiteError(f"zensical finds mistakes:\n{_without_colours(done.stdout + done.stderr)}")
    made = folder / "html"
    (made / "404.html").unlink()  # its addresses hold for one place of the site on its host
    for path in made.rglob("*.html"):
        path.write_text(finished(path.relative_to(made).as_posix(), path.read_text("utf-8")), encoding="utf-8")
    return made


def without_links_out(page: str) -> str:
    """Return a page of the repository without its links to texts that the site does not have."""

    def written(found: re.Match[str]) -> str:
        target = os.path.normpath(os.path.join(os.path.dirname(page), found[2]))
        return found[1] if found[2] and LEFT_OUT.match(target) else found[0]

    return _LINK.sub(written, (ROOT / page).read_text("utf-8"))


def finished(name: str, page: str) -> str:
    """Return a page with its language, and with our script for search in files in place of one from elsewhere."""
    up = "../" * name.count("/")
    page, found = _SHIM.subn(f'<script src="{up}assets/search-from-files.js"></script>', page)
    if found > 1 or '<html lang="en"' not in page:
        raise SiteError(f"{name} is not as this version of zensical made pages before")
    language = next((code for folder, code in LANGUAGES.items() if name.startswith(folder)), "en")
    return page.replace('<html lang="en"', f'<html lang="{language}"', 1)


def _toml(value: object) -> str:
    """Return text, a list or an object as TOML writes it."""
    if isinstance(value, dict):
        return (
            "{ "
            + ", ".join(f"{json.dumps(key, ensure_ascii=False)} = {_toml(each)}" for key, each in value.items())
            + " }"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _without_colours(text: str) -> str:
    """Return what a terminal would show."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


# -- checking it -----------------------------------------------------------------------------------

_LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "object": "data",
}
_LOADED_LINKS = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload", "manifest"}


@dataclass
class Page(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep anchors, links, and what a browser loads."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in _LOADED and _LOADED[tag] in values:
            self.loaded.append(values[_LOADED[tag]])
        if tag == "link" and _LOADED_LINKS & {*values.get("rel", "").split()}:
            self.loaded.append(values.get("href", ""))


def mistakes(site: Path) -> Iterator[str]:
    """Yield each link that leads nowhere, and each thing that a browser would load from elsewhere."""
    pages: dict[Path, Page] = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = Page()
        pages[path].feed(path.read_text("utf-8"))
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        for target in page.loaded:
            if urlsplit(target).scheme not in ("", "data") or urlsplit(target).netloc:
                yield f"{name} loads {target}"
            elif not urlsplit(target).scheme and not _file(path, target, site).is_file():
                yield f"{name} loads {target}, which is not there"
        for target in page.links:
            if urlsplit(target).scheme or urlsplit(target).netloc:
                continue
            file, anchor = _file(path, target, site), unquote(urlsplit(target).fragment)
            if not file.is_file():
                yield f"{name} links to {target}, which is not there"
            elif anchor and file in pages and anchor not in pages[file].anchors:
                yield f"{name} links to {target}, which has no such heading"
    for path in sorted(site.rglob("*.css")):
        for target in re.findall(r"url\([\"']?(https?:[^)\"']*|//[^)\"']*)", path.read_text("utf-8")):
            yield f"{path.relative_to(site).as_posix()} loads {target}"


def _file(page: Path, target: str, site: Path) -> Path:
    """Return the file that a relative address on a page names."""
    path = unquote(urlsplit(target).path)
    file = Path(os.path.normpath(page.parent / path)) if path else page
    return file / "index.html" if file.is_dir() and file.is_relative_to(site) else file


def main() -> int:
    """Build and check; print the mistakes, or where the site is."""
    if len(sys.argv) != 2:
        print("usage: python docs/site/build.py FOLDER", file=sys.stderr)
        return 2
    try:
        site = build(Path(sys.argv[1]))
    except SiteError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    found = [*mistakes(site)]
    for mistake in found:
        print(f"error: {mistake}", file=sys.stderr)
    if not found:
        print(f"{len([*site.rglob('*.html')])} pages; the first is {site / 'index.html'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
