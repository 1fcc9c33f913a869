"""Find what matches a glob pattern on a disk, as ``glob`` does; but ``**`` goes into no links to folders."""

from __future__ import annotations

import glob
import os
import re
from bisect import bisect_left
from collections.abc import Iterator

_SEPARATORS = re.escape(os.sep + (os.altsep or ""))
_ANY_DEPTH = re.compile(rf"(?:^|(?<=[{_SEPARATORS}]))\*\*(?:$|[{_SEPARATORS}]+)")


def matching(pattern: str) -> tuple[list[str], list[str]]:
    """Find files and folders that match a pattern, and links to folders that ``**`` does not go into.

    What ``**`` did not go into, another part of the pattern may: ``**/*/a.txt`` names the links too. Such links
    are not among those returned.

    Returns:
        The matches and the links, both sorted.
    """
    links: set[str] = set()
    matches = sorted(_expanded(pattern, "", links))
    return matches, sorted(link for link in links if not _is_entered(link + os.sep, matches))


def _is_entered(folder: str, matches: list[str]) -> bool:
    place = bisect_left(matches, folder)
    return place < len(matches) and matches[place].startswith(folder)


def _expanded(pattern: str, root: str, links: set[str]) -> Iterator[str]:
    """Yield what matches a pattern in a folder, with the folder before it; put links not gone into with the others."""
    parts = _ANY_DEPTH.search(pattern)
    if parts is None:
        for match in glob.iglob(pattern, root_dir=root):
            yield os.path.join(root, match)
        return
    head, rest = os.path.dirname(pattern[: parts.start()]), pattern[parts.end() :]
    for begin in glob.iglob(head, root_dir=root) if head else ("",):
        top = os.path.join(root, begin) if begin else root
        for folder, names in _walked(top, links) if os.path.isdir(top or os.curdir) else ():
            if rest:
                yield from _expanded(rest, folder, links)
                continue
            if folder:
                yield folder
            if parts[0] == "**":  # and no separator behind it, with which it means folders only
                yield from (os.path.join(folder, name) for name in names)


def _walked(top: str, links: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield a folder and all in it, each with the names in it, hidden ones left out."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            names = [name for name in os.listdir(folder or os.curdir) if not name.startswith(".")]
        except OSError:  # nothing in it is found, as by glob
            names = []
        yield folder, names
        for path in (os.path.join(folder, name) for name in names):
            if os.path.isdir(path):
                if os.path.islink(path):
                    links.add(path)
                else:
                    waiting.append(path)
