"""The walls of the Rust core, read from its sources: no files, no names of models, no modules that use each other."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from tests.test_architecture import ROOT, RUST, circles_of, of_each

RUST_CORE = [
    path
    for path in RUST
    if path.is_relative_to(ROOT / "core" / "src") or path.is_relative_to(ROOT / "core" / "tables" / "src")
]


def shipped_rust(text: str) -> str:
    """Return a Rust source without comments and without its test modules, lines kept.

    >>> shipped_rust("let a; // x\\n#[cfg(test)]\\nmod tests {\\n  f();\\n}\\nlet b;")
    'let a; \\n\\n\\n\\n\\nlet b;'
    """
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(
        r"^(?P<indent> *)#\[cfg\(test\)\]\s*\n(?: *#\[[^\n]*\n)* *(?:pub )?mod \w+ \{\n.*?^(?P=indent)\}",
        lambda match: "\n" * match[0].count("\n"),
        text,
        flags=re.DOTALL | re.MULTILINE,
    )


def is_test_module(path: Path) -> bool:
    """Return whether a module's parent takes it in for tests alone, those of the fuzzer among them."""
    declared = re.compile(
        rf"#\[cfg\((?:test|any\(test, fuzzing\)|all\(test, [^\]]*\))\)\]\s*mod {re.escape(path.stem)};"
    )
    parent = path.parent.with_suffix(".rs")
    declaring = parent if parent.exists() else path.parent / "lib.rs"
    return declaring.exists() and declared.search(declaring.read_text(encoding="utf-8")) is not None


@of_each([path for path in RUST_CORE if not is_test_module(path)])
def test_core_touches_neither_files_nor_terminal_nor_environment(path):
    forbidden = re.compile(
        r"\bstd::(?:fs|env|net|process(?!::id\(\)))\b|\bstd::\{[^}]*\b(?:fs|env|net|process)\b"
        r"|\b(?:print|println|eprint|eprintln|dbg)!"
    )
    lines = shipped_rust(path.read_text(encoding="utf-8")).splitlines()
    assert [(number, line.strip()) for number, line in enumerate(lines, 1) if forbidden.search(line)] == []


@of_each([path for path in RUST_CORE if not is_test_module(path)])
def test_core_knows_no_model_and_no_format_by_name(path):
    names = re.compile(r"tiktoken|sentencepiece|hugging|cl100k|o200k|gpt[-_]?\d|llama|qwen|gguf", re.IGNORECASE)
    lines = shipped_rust(path.read_text(encoding="utf-8")).splitlines()
    assert [(number, line.strip()) for number, line in enumerate(lines, 1) if names.search(line)] == []


CORE_SOURCES = ROOT / "core" / "src"


def rust_paths_of(text: str) -> set[str]:
    """Return the paths that begin with crate, super or self in a Rust source, whether imported or written out.

    >>> sorted(rust_paths_of("use crate::a::{self, b::{C, D as E}};\\nfn f() { super::g() } pub(super) fn h() {}"))
    ['crate::a', 'crate::a::b::C', 'crate::a::b::D', 'super::g']
    """

    def expanded(path: str) -> set[str]:
        inner = re.search(r"\{([^{}]*)\}", path)
        if inner is None:
            return {re.sub(r"\s|::self\b|\bas\b.*", "", path)}
        return {
            each
            for part in inner[1].split(",")
            if part.strip()
            for each in expanded(path[: inner.start()] + part.split(" as ")[0].strip() + path[inner.end() :])
        }

    found = set()
    for match in re.finditer(r"\b(?:crate|super|self)(?:::\s*\w+)*(?:::\s*(?=\{))?", text):
        end = match.end()
        if match[0].rstrip().endswith("::"):
            depth = 0
            for end, sign in enumerate(text[match.end() :], match.end() + 1):  # noqa: B007
                depth += {"{": 1, "}": -1}.get(sign, 0)
                if depth == 0:
                    break
        found |= expanded(text[match.start() : end])
    return {path for path in found if "::" in path}


def rust_modules_used(module: tuple[str, ...], text: str, known: Collection[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Return the modules of the core that a source uses; what is not a module belongs to the one that holds it."""
    used = set()
    for path in rust_paths_of(shipped_rust(text)):
        names = path.split("::")
        base = () if names[0] == "crate" else module
        for name in names[names[0] == "crate" :]:
            base = base[:-1] if name == "super" else base if name == "self" else (*base, name)
        while base not in known:
            base = base[:-1]
        used.add(base)
    return used


def rust_imports() -> dict[str, dict[str, set[str]]]:
    """Return, for each module of the core that has modules inside, which of these use which of their siblings.

    A module counts with all that is inside of it. What it uses of those around it is no import: a module is a part of
    the one that holds it, and sees what is private there.
    """
    paths = [path for path in CORE_SOURCES.rglob("*.rs") if not is_test_module(path)]
    modules = {path.relative_to(CORE_SOURCES).with_suffix("").parts: path for path in paths}
    modules[()] = modules.pop(("lib",))
    levels: dict[str, dict[str, set[str]]] = {}
    for module, path in modules.items():
        for other in rust_modules_used(module, path.read_text(encoding="utf-8"), modules):
            common = 0
            while module[common : common + 1] == other[common : common + 1] != ():
                common += 1
            if common < min(len(module), len(other)):
                level = levels.setdefault("::".join(module[:common]), {})
                importer, imported = ("::".join(each[: common + 1]) for each in (module, other))
                level.setdefault(importer, set()).add(imported)
                level.setdefault(imported, set())
    return levels


def test_rust_paths_are_read():
    source = "use crate::a::{self, b::{C, D as E}};\nfn f() { super::g() } pub(super) fn h(x: crate::i::J) {}"
    assert rust_paths_of(source) == {"crate::a", "crate::a::b::C", "crate::a::b::D", "super::g", "crate::i::J"}
    known = {(), ("a",), ("a", "b"), ("k",), ("k", "l")}
    assert rust_modules_used(("k", "l"), source, known) == {("a",), ("a", "b"), ("k",), ()}


def test_no_modules_of_the_core_use_each_other_in_a_circle():
    levels = rust_imports()
    assert "boundaries" in levels[""]["stages"], "the reader sees imports"
    assert [circle for level in levels.values() for circle in circles_of(level)] == []


def test_unsafe_blocks_are_listed():
    """docs/internals/unsafe.md lists how many there are in which file."""
    counted = {}
    for path in sorted((ROOT / "core/src").rglob("*.rs")):
        code = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
        blocks = len(re.findall(r"\bunsafe\s*\{", code))
        if blocks and path.stem != "tests":
            counted[path.relative_to(ROOT).as_posix()] = blocks
    page = (ROOT / "docs/internals/unsafe.md").read_text(encoding="utf-8")
    listed = {path: int(blocks) for path, blocks in re.findall(r"^\| `([^`]+)` \| (\d+) \|", page, re.MULTILINE)}
    assert listed == counted
