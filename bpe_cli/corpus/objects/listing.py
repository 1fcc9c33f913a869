"""Find objects: one, those of a folder, those that match a pattern; in the order in which files of disks come."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from bpe_cli.corpus.objects.base import Found
from bpe_cli.corpus.objects.reading import find, missing, persistently
from bpe_cli.corpus.objects.stores import store_of
from bpe_cli.errors import InputError
from bpe_cli.support.messages import show_path

_OF_GLOBS = re.compile(r"[*?\[]")
_WEB = ("http://", "https://")


def found_in(url: str) -> tuple[list[Found], str | None]:
    """Find the objects that a URL means: itself, or a folder, or a pattern with ``*``, ``?``, ``[...]`` or ``**``.

    In URLs of the web no sign is a pattern's.

    Returns:
        The objects, sorted; and the folder if they are those of one.

    Raises:
        InputError: if there are none, or they cannot be listed.
    """
    store_of(url)
    if not _is_folder(url):
        try:
            return [find(url)], None
        except FileNotFoundError as error:
            if url.startswith(_WEB):
                raise missing(url) from error
        if _OF_GLOBS.search(url):
            return _matching(url), None
    if url.startswith(_WEB):
        persistently(url, lambda store: list(store.list(url)))
    folder = url if url.endswith("/") else f"{url}/"
    objects = sorted(_listed(folder), key=lambda each: each.url.split("/"))
    if not objects:
        raise InputError(f"cannot read {show_path(url)}: there is no such object, and no folder of this name")
    return [each for each in objects if not _is_hidden(each.url.removeprefix(folder))], folder


def in_folder(folder: str, objects: Iterable[Found], chosen: Callable[[str, list[str]], list[str]]) -> list[Found]:
    """Return the objects of a folder in the order of their names, at any depth, of each folder those that are chosen.

    Args:
        folder: Its URL, which ends in a slash.
        objects: All that lie in it.
        chosen: Called with each folder and the names in it; returns those to read, in order.
    """
    names: dict[str, list[Found]] = {}
    for each in objects:
        names.setdefault(each.url.removeprefix(folder).partition("/")[0], []).append(each)
    kept: list[Found] = []
    for name in chosen(folder, sorted(names)):
        inner = f"{folder}{name}/"
        kept += [each for each in names[name] if each.url == folder + name]
        kept += in_folder(inner, [each for each in names[name] if each.url.startswith(inner)], chosen)
    return kept


def _is_folder(url: str) -> bool:
    """Return whether a URL can only be a folder's: it ends in a slash, or has no path."""
    return url.endswith("/") or (url.count("/") < 3 and not url.startswith("http"))


def _listed(folder: str) -> list[Found]:
    """Return what is beneath a folder; a key that ends in a slash only stands for a folder."""
    try:
        objects = persistently(folder, lambda store: list(store.list(folder)))
    except FileNotFoundError:
        return []
    return [each for each in objects if each.url.startswith(folder) and not each.url.endswith("/")]


def _is_hidden(path: str) -> bool:
    return path.startswith(".") or "/." in path


def _matching(pattern: str) -> list[Found]:
    sign = _OF_GLOBS.search(pattern)
    folder = pattern[: pattern.rfind("/", 0, sign.start() if sign else None) + 1]
    fits = re.compile(translated(pattern.removeprefix(folder))).fullmatch
    matches = [each for each in _listed(folder) if fits(each.url.removeprefix(folder))]
    if not matches:
        raise InputError(f"no object matches {show_path(pattern)}")
    return sorted(matches, key=lambda each: each.url)


def translated(pattern: str) -> str:
    r"""Return the regular expression for a pattern as ``glob`` means it: names that begin with a dot are left out.

    >>> bool(re.fullmatch(translated("**/*.txt"), "a/b/c.txt")), bool(re.fullmatch(translated("*.txt"), "a/c.txt"))
    (True, False)
    """
    names = pattern.split("/")
    parts: list[str] = []
    for number, name in enumerate(names):
        last = number == len(names) - 1
        if name == "**":
            parts.append(r"(?:[^/.][^/]*(?:/[^/.][^/]*)*)?" if last else r"(?:[^/.][^/]*/)*")
        else:
            parts.append(("" if name.startswith(".") else r"(?!\.)") + _translated_name(name) + ("" if last else "/"))
    return "(?s:" + "".join(parts) + ")"


def _translated_name(name: str) -> str:
    from fnmatch import translate

    expression, place = "", 0
    while place < len(name):
        sign, place = name[place], place + 1
        if sign == "*":
            expression += "[^/]*"
        elif sign == "?":
            expression += "[^/]"
        elif sign == "[" and (end := name.find("]", place + 1 + (name[place : place + 1] == "!"))) > 0:
            expression += "(?!/)" + translate(name[place - 1 : end + 1])[len("(?s:") : -len(r")\Z")]
            place = end + 1
        else:
            expression += re.escape(sign)
    return expression
