"""Detect the format of a file by its content, and which file of a folder holds the tokenizer."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from bpe_cli.errors import FormatError, InputError
from bpe_cli.formats import counts_file
from bpe_cli.formats.registry import FORMATS, OF_SEVERAL, Format, is_of_several, usual_names
from bpe_cli.support.messages import cannot_read, show_path


def identify(path: str | Path) -> str:
    """Return the format of a file or folder."""
    return locate(Path(path))[1]


def is_tokenizer(path: str | Path) -> bool:
    """Return whether a path is a tokenizer's: by its format, or else by its name and first bytes.

    What is broken counts, so that it is not taken for a text; so does a folder with such a file.
    """
    path = Path(path)
    try:
        locate(path)
    except InputError:
        return False
    except FormatError:
        try:
            file = _in_folder(path) if path.is_dir() else path
            return is_meant_as_tokenizer(file.name, _head(file))
        except (FormatError, OSError):  # a folder of other files, which may be texts
            return False
    return True


def locate(path: Path) -> tuple[Path, str]:
    """Return the file that a path stands for, and its format.

    Of a folder it is the file that has one of the formats' whole names, the first in the order of ``FORMATS``; a
    vocabulary or merges only with the other of the two. If there is none, it is the only file that has a name's
    pattern (``*.model``) and begins as that format's files do, of the first format that has only one.
    """
    try:
        if path.is_dir():
            path = _in_folder(path)
        if path.exists() and not path.is_file():
            raise InputError(f"{show_path(path)} is not a regular file", hint="save it to disk first")
        head = _head(path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise cannot_read(path, error) from error
    fitting = next((name for name, module in FORMATS.items() if module.sniff(head)), None)
    if fitting is None:
        looks = describe(head)
        of_lines = '; `algorithm="list"` trains one from a list of tokens' if looks.startswith(_TEXT) else ""
        raise FormatError(
            f"{path} is {looks}, not a tokenizer in a format that can be read",
            hint=_HINTS.get(looks) or f"formats are {', '.join(FORMATS)}{of_lines}",
        )
    for name in OF_SEVERAL:
        module = FORMATS[name]
        if module.sniff(head) and is_of_several(module) and module.belongs(path):
            return path, name
    if fitting in OF_SEVERAL and path.name not in FORMATS[fitting].FILES:
        from bpe_cli.formats import subword_nmt

        if subword_nmt.sniff_alone(head):
            return path, subword_nmt.NAME
    return path, fitting


def files_of(path: Path) -> list[Path]:
    """Return the files of the tokenizer at a path: itself, and those beside it if it is one of several.

    Without a tokenizer at the path, that is the path itself.
    """
    try:
        file, name = locate(path)
    except (FormatError, InputError):
        return [path]
    if not path.is_dir() and name not in OF_SEVERAL:
        return [path]
    return [path, file, *may_belong(file.parent)]


def may_belong(folder: Path) -> list[Path]:
    """Return the files of a folder that may belong to a tokenizer in it, whether they are there or not."""
    from bpe_cli.formats.huggingface import companions

    names = {each for _, each in usual_names()} | companions.NAMES
    whole = [folder / each for each in sorted(names) if "*" not in each]
    return [*whole, *sorted((folder / companions.TEMPLATES).glob("*.jinja"))]


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


def _in_folder(folder: Path) -> Path:
    """Return the tokenizer file of a folder: by its whole name, else the only one with a usual ending."""
    files = {entry.name: entry for entry in sorted(folder.iterdir()) if not entry.is_dir()}
    for module, name in usual_names():
        if name in files and (not is_of_several(module) or module.belongs(files[name])):
            return files[name]
    from bpe_cli.formats.huggingface import companions

    for module, pattern in (each for each in usual_names() if "*" in each[1]):
        named = [path for name, path in files.items() if fnmatchcase(name, pattern) and name not in companions.NAMES]
        fitting = [path for path in named if path.is_file() and module.sniff(_head(path))]
        if len(fitting) == 1:
            return fitting[0]
    names = sorted(entry.name for entry in folder.iterdir())
    shown = "but " + ", ".join(names[:5]) + (", ..." if len(names) > 5 else "") if names else "it is empty"
    raise FormatError(
        f"the folder {folder} holds no tokenizer, {shown}",
        hint="it needs tokenizer.json, vocab.txt, vocab.json with merges.txt, or one file that ends in .json, .model, "
        ".tiktoken, .gguf, .vocab, .codes or .yttm; or name a file in it",
    )


def other_in(folder: Path, chosen: Path, format_name: str) -> Path | None:
    """Return a file of a folder with the name and first bytes of another format; None if there is none.

    A file that cannot be read is passed over.
    """
    others = sorted(entry for entry in folder.iterdir() if entry != chosen)
    for module in (module for name, module in FORMATS.items() if name != format_name):
        for path in others:
            if any(fnmatchcase(path.name, pattern) for pattern in module.FILES) and _begins_as(module, path):
                return path
    return None


def _begins_as(module: Format, path: Path) -> bool:
    try:
        return path.is_file() and module.sniff(_head(path))
    except OSError:
        return False


# --------------------------------------------------------------------------------------------------
# Describe what a file looks like that no format knows, and whether it was meant to be a tokenizer.


HEAD_BYTES = 1 << 16
"""How much of a file is looked at to tell its format."""

NAMES = (
    "*.model",
    "*.gguf",
    "*.tiktoken",
    "*.bpe",
    "*.bin",
    "tokenizer*.json",
    "tekken*.json",
    "vocab.json",
    "merges.txt",
)
"""Names that tokenizers have and texts hardly ever."""

_CUT_TOKENIZER = "the beginning of a tokenizer.json"
_POINTER = "a Git LFS pointer, not the file itself"
_MAGICS = {
    b"GGUF": "the beginning of a GGUF file",
    b"\x1f\x8b": "gzip-compressed",
    b"\x28\xb5\x2f\xfd": "zstd-compressed",
    b"PK": "a ZIP archive",
    b"version https://git-lfs": _POINTER,
    BOM_UTF8: "text with a byte order mark",
}
_MEANT = {_MAGICS[b"GGUF"], _POINTER, _CUT_TOKENIZER}
_VERSION = re.compile(rb'\s*\{\s*"version"\s*:\s*"1\.0"')
_TEXT = "text that begins"

_HINTS = {
    _POINTER: "`git lfs pull` fetches the file itself",
    _MAGICS[b"GGUF"]: "fetch the file again",
    _CUT_TOKENIZER: "fetch the file again",
}


def describe(head: bytes) -> str:
    """Describe what a file looks like that begins with these bytes."""
    if not head:
        return "empty"
    if counts_file.sniff(head):
        return "a counts file (of `bpe train --counts-out`)"
    for magic, what in _MAGICS.items():
        if head.startswith(magic):
            return what
    if re.match(rb'\s*(\{\s*(["}]|$)|\[\s*[\["{\d\]])', head):
        return _describe_json(head)
    if b"\0" in head:
        return "binary"
    try:
        head[: len(head) - 4 if len(head) == HEAD_BYTES else None].decode()
    except UnicodeDecodeError:
        return "binary"
    first = head.decode("utf-8", "replace").split("\n", 1)[0]
    return f"{_TEXT} {first[:40]!r}"


def _describe_json(head: bytes) -> str:
    from bpe_cli.support.safe_orjson import orjson

    try:
        whole = orjson.loads(head)
    except orjson.JSONDecodeError:
        is_whole = len(head) < HEAD_BYTES
        if is_whole and _VERSION.match(head):
            return _CUT_TOKENIZER
        members = re.findall(rb'"((?:[^"\\\n]|\\.){1,40})"\s*:', head)
        keys = [key.decode("utf-8", "replace") for key in dict.fromkeys(members)]
        kind = "broken JSON" if is_whole else "JSON"
        return f"{kind} with {_name_keys(keys)}" if keys else kind
    return f"JSON with {_name_keys(list(whole))}" if isinstance(whole, dict) else "a JSON list"


def _name_keys(keys: Sequence[str]) -> str:
    return f"the keys {', '.join(key[:40] for key in keys[:5])}" if keys else "no keys"


def is_meant_as_tokenizer(name: str, head: bytes) -> bool:
    """Return whether a file that no format knows was meant to be a tokenizer.

    >>> is_meant_as_tokenizer("x.model", b""), is_meant_as_tokenizer("notes.txt", b"low lower")
    (True, False)
    >>> is_meant_as_tokenizer("x", b"version https://git-lfs.github.com/spec/v1")
    True
    """
    return any(fnmatchcase(name, pattern) for pattern in NAMES) or describe(head) in _MEANT
