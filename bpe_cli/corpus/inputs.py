"""Find the files that the arguments of a command name: paths, ``-``, folders, glob patterns, lists of them.

Of a folder that the library ``datasets`` has saved it is known which files hold the rows, and in which order.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence

from bpe_cli.corpus.opening import NO_STDIN, head_of, is_url, nul_in, read_whole
from bpe_cli.corpus.stdin import is_stdin
from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.fast_dataclass import dataclass, field
from bpe_cli.support.fast_typing import TYPE_CHECKING
from bpe_cli.support.messages import cannot_read, did_you_mean, nearest, show_path, without_secrets

if TYPE_CHECKING:
    from typing import Any, BinaryIO

    from bpe_cli.corpus.kinds import Kind

    Look = Callable[[str], tuple[Kind | None, bytes] | None]
    """Returns the kind of a file, if that matters, and its first bytes; None for one that belongs to another file."""


_OF_GLOBS = "*?["
_LINK_TO_FOLDER = "it is a link to a folder"


@dataclass(frozen=True, slots=True)
class Input:
    """A file to read, or an object, or stdin.

    Attributes:
        path: Its path, or its URL; ``-`` for stdin.
        size: Bytes on disk, or None when unknown (a pipe).
        kind: What it holds; None when nobody has looked.
        folder: The folder that was named, if the file was found in one.
        extent: Which of its bytes hold the first byte of a line to read, from and to (exclusive); None for all.
        version: What changes with the bytes of an object, as its ETag; None where nothing does.
        identity: What two names of the same file have in common; None if it is not a file on disk.
        nul: Where a NUL byte stands in its first bytes; None if none does, or nobody has looked.
    """

    path: str
    size: int | None = None
    kind: Kind | None = None
    folder: str | None = None
    extent: tuple[int, int] | None = None
    version: str | None = None
    identity: tuple[int, int] | None = field(default=None, compare=False)
    nul: int | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """What messages call it."""
        return show_path(self.path)

    @property
    def plain_name(self) -> str:
        """Its path as it is, for what writes it harmlessly itself or keeps its bytes; of a URL not what signs it.

        A file is known by this name when a job is resumed: it may be read by a URL that was signed anew.
        """
        if self.path.startswith(("http://", "https://")):
            return without_secrets(self.path)
        return self.name if self.path == "-" else self.path


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files to read, in order.

    Attributes:
        items: One for each; a file that was named twice stands here twice.
        lists: The files that named some of them, in order.
    """

    items: tuple[Input, ...]
    lists: tuple[str, ...] = ()

    @classmethod
    def resolve(
        cls,
        paths: Iterable[str],
        *,
        stdin: BinaryIO | None = None,
        on_skip: Callable[[str], None] | None = None,
        otherwise: str | None = None,
        examined: bool = False,
        archives: bool = False,
        leave_out: str | None = None,
        look: Look | None = None,
    ) -> Inputs:
        """Find the files that paths mean; no paths mean stdin.

        A folder means all text files in it, at any depth, in order of their names; hidden ones, binary
        ones and links to folders are left out. A pattern with ``*``, ``?``, ``[...]`` or ``**`` means
        the files that match, sorted, unless a file has that very name; ``**`` goes into no links to folders.
        Of neither are pipes, sockets and links that lead nowhere. ``@list`` means what the lines of that file
        mean: see ``lists.listed_in``.

        Args:
            paths: Files, folders, patterns, ``-``; or URLs of such in an object store.
            stdin: Asked for its size when it is a file.
            on_skip: Called with a sentence for each file of a folder that is left out.
            otherwise: The hint for a file that is missing while no other has a name like it; None or empty for none.
            examined: Whether to tell the kind of each plain file. A folder then means its tables too.
            archives: Whether a folder means its tar archives too.
            leave_out: A folder that a job writes to, which need not exist; a folder around it means nothing of it.
            look: Looks into the files of folders where these hold something else than text.

        Raises:
            InputError: if a file is missing or may not be read, a folder holds no text file, or nothing
                matches a pattern.
            UsageError: if stdin is given twice.
        """
        items: list[Input] = []
        skip = on_skip or _ignore
        if look is None:
            look = _examine if examined else _unexamined
        names, lists = _with_lists(tuple(paths))
        names = names or ("-",)
        if names.count("-") > 1:
            raise UsageError("- is given twice, but stdin can be read only once")
        named = [path for path in names if is_stdin(path, stdin)] if len(names) > 1 else []
        if len(named) > 1:
            raise UsageError(f"{named[0]} and {named[1]} are both stdin, which can be read only once")
        for path in names:
            if path == "-":
                items.append(Input("-", _size_left(stdin)))
            elif is_url(path):
                items.extend(_objects(path, skip, examined, archives, look))
            elif os.path.isdir(path):
                files = list(_walk(path, skip, examined, archives, leave_out, look))
                if not files:
                    raise InputError(f"there is no text file in the folder {show_path(path)}")
                items.extend(files)
            elif any(sign in path for sign in _OF_GLOBS) and not os.path.lexists(path):
                items.extend(_file(each, None, examined) for each in _matches(path, skip))
            else:
                items.append(_file(path, otherwise or None, examined))
        return cls(tuple(items), lists)

    @property
    def total_bytes(self) -> int | None:
        """The bytes of all on disk, or None when one is unknown."""
        sizes = [item.size for item in self.items if item.size is not None]
        return sum(sizes) if len(sizes) == len(self.items) else None


def _ignore(_: str) -> None:
    pass


def _with_lists(paths: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Replace each list of inputs by what it names; the lists themselves come second."""
    if not any(path.startswith("@") for path in paths):
        return paths, ()
    from bpe_cli.corpus.lists import with_lists

    return with_lists(paths)


def _file(path: str, otherwise: str | None, examined: bool) -> Input:
    status = _status(path, otherwise)
    if not stat.S_ISREG(status.st_mode):
        return Input(path)
    kind, head = _examine(path) if examined else (None, b"")
    return Input(path, status.st_size, kind, identity=(status.st_dev, status.st_ino), nul=nul_in(head))


def _examine(path: str) -> tuple[Kind, bytes]:
    from bpe_cli.corpus.kinds import kind_of_file  # nobody needs it for a text of the command line

    return kind_of_file(path)


def _status(path: str, otherwise: str | None = None) -> os.stat_result:
    """Return the status of a file to read."""
    try:
        status = os.stat(path)
        if not os.access(path, os.R_OK):
            raise PermissionError(13, "permission denied")
    except FileNotFoundError as error:
        if os.path.islink(path):
            raise InputError(f"cannot read {show_path(path)}: {_leads_nowhere(path)}") from error
        raise cannot_read(path, error, _advice(path, otherwise)) from error
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from error
    return status


def _leads_nowhere(link: str) -> str:
    return f"it is a link to {show_path(os.readlink(link))}, which does not exist"


def _not_a_file(path: str) -> str | None:
    """Explain why an entry of a folder or a match of a pattern is not read: it is not a file, or a broken link."""
    try:
        return None if stat.S_ISREG(os.stat(path).st_mode) else "it is not a file"
    except OSError as error:
        if error.errno == errno.ELOOP:
            return "it is a link that leads back to itself"
        if error.errno in (errno.ENOENT, errno.ENOTDIR) and os.path.islink(path):
            return _leads_nowhere(path)
        return None  # whoever opens it says what is wrong


def _advice(path: str, otherwise: str | None) -> str | None:
    """Suggest what the name of a missing file may have meant."""
    folder, name = os.path.split(path)
    try:
        present = sorted(os.listdir(folder or "."))
    except (OSError, ValueError):
        return f"there is no folder {show_path(folder)}"
    near = nearest(name, present, cutoff=0.7)
    return did_you_mean([show_path(os.path.join(folder, other)) for other in near], otherwise)


def _matches(pattern: str, on_skip: Callable[[str], None]) -> Iterator[str]:
    """Yield the files that match a pattern, in order of their names."""
    from bpe_cli.corpus.matching import matching

    matches, links = matching(pattern)
    files = [path for path in matches if not os.path.isdir(path)]
    reasons = {path: reason for path in files if (reason := _not_a_file(path))}
    for path, reason in sorted([*reasons.items(), *((link, _LINK_TO_FOLDER) for link in links)]):
        on_skip(f"{show_path(path)} skipped: {reason}")
    if len(reasons) == len(files):
        hint = "only folders match; ** goes into them, as in 'data/**/*.txt'" if matches and not files else None
        raise InputError(f"no file matches {show_path(pattern)}", hint=hint)
    yield from (path for path in files if path not in reasons)


def _walk(
    folder: str, on_skip: Callable[[str], None], examined: bool, archives: bool, leave_out: str | None, look: Look
) -> Iterator[Input]:
    """Yield the text files of a folder, and its tables if they are looked for, depth first, in order of their names."""
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        if path != folder and leave_out is not None and _is_same_folder(path, leave_out):
            on_skip(f"{show_path(path)} skipped: the output goes there")
        elif path == folder or (os.path.isdir(path) and not os.path.islink(path)):
            waiting.extend(os.path.join(path, name) for name in reversed(_names_in(path, on_skip, examined)))
        elif os.path.isdir(path):
            on_skip(f"{show_path(path)} skipped: {_LINK_TO_FOLDER}")
        elif reason := _not_a_file(path):
            on_skip(f"{show_path(path)} skipped: {reason}")
        else:
            status = _status(path)
            looked = look(path)
            if looked is None:
                continue
            kind, head = looked
            if reason := _left_out(kind, head, archives):
                on_skip(f"{show_path(path)} skipped: {reason}")
            else:
                yield Input(path, status.st_size, kind, folder, identity=(status.st_dev, status.st_ino))


def _is_same_folder(path: str, folder: str) -> bool:
    try:
        return os.path.isdir(path) and not os.path.islink(path) and os.path.samefile(path, folder)
    except (OSError, ValueError):  # the folder is not there yet, or cannot be
        return False


def _unexamined(path: str) -> tuple[None, bytes]:
    return None, head_of(path)


_AT_ONCE = 32
"""So many objects are looked into at a time: each takes a request."""


def _objects(url: str, on_skip: Callable[[str], None], examined: bool, archives: bool, look: Look) -> Iterator[Input]:
    """Yield the objects that a URL means; of a folder those that hold text, or rows, as of one on a disk."""
    from concurrent.futures import ThreadPoolExecutor

    from bpe_cli.corpus.objects.listing import found_in, in_folder

    found, folder = found_in(url)
    if folder is not None and examined:
        found = in_folder(folder, found, lambda path, names: _rows_if_saved(path, names, on_skip))
    kept = False
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for each, looked in zip(found, pool.map(look, [each.url for each in found]), strict=True):
            if looked is None and folder is not None:
                continue
            kind, head = looked or (None, b"")
            if folder is not None and (reason := _left_out(kind, head, archives)):
                on_skip(f"{show_path(each.url)} skipped: {reason}")
            else:
                kept = True
                yield Input(each.url, each.size, kind, folder, version=each.version)
    if not kept:
        raise InputError(f"there is no text file in the folder {show_path(url)}")


def _names_in(folder: str, on_skip: Callable[[str], None], examined: bool) -> list[str]:
    """List the entries of a folder that are not hidden; of a saved data set, the files that hold its rows."""
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError as error:
        raise cannot_read(folder, error) from error
    return _rows_if_saved(folder, names, on_skip) if examined else names


def _rows_if_saved(folder: str, names: list[str], on_skip: Callable[[str], None]) -> list[str]:
    return rows_in(folder, names, on_skip) if _STATE in names or _SPLITS in names else names


def _left_out(kind: Kind | None, head: bytes, archives: bool) -> str | None:
    """Explain why a file of a folder is left out, if it is."""
    from bpe_cli.corpus.kinds import IDS_RECORD, OBJECT, SET_RECORD, TAR, TEXT

    if kind == TAR and not archives:
        return f"it is {kind.title}; `member` takes the texts in it"
    if kind is not None and (kind.advice or kind in (IDS_RECORD, SET_RECORD)):
        return f"it is {kind.title}"
    nul = nul_in(head) if kind in (None, TEXT, OBJECT) else None
    return None if nul is None else f"it looks binary (NUL at byte {nul})"


def _size_left(stdin: BinaryIO | None) -> int | None:
    """Return how many bytes stdin still holds, when it is a file."""
    try:
        if stdin is None or not stat.S_ISREG(os.fstat(stdin.fileno()).st_mode):
            return None
        return max(os.fstat(stdin.fileno()).st_size - stdin.tell(), 0)
    except (OSError, ValueError):  # no descriptor behind it, or it is closed
        return None


_STATE = "state.json"
_STATE_BYTES = 16 << 20
_SPLITS = "dataset_dict.json"
_OWN = frozenset((_STATE, _SPLITS, "dataset_info.json"))


def rows_in(folder: str, names: Sequence[str], on_skip: Callable[[str], None]) -> list[str]:
    """List what is to be read of a folder: of a saved data set the files that hold its rows, in their order.

    What else lies there is left out: the library keeps its own files beside them for later.

    Raises:
        InputError: if there are several splits, a file is missing, or the rows stand in another order than in the
            files.
    """
    if _SPLITS in names and isinstance(splits := _member(folder, _SPLITS, "splits"), list):
        if len(splits) > 1:
            raise InputError(
                f"the data set {show_path(folder)} has {len(splits)} splits: {', '.join(map(str, splits))}",
                hint=f"name one, as in {show_path(os.path.join(folder, str(splits[0])))}",
            )
        return _only([name for name in names if name in splits], folder, names, on_skip)
    files = _member(folder, _STATE, "_data_files") if _STATE in names else None
    if not isinstance(files, list) or not files:
        return list(names)
    rows = [each.get("filename") if isinstance(each, dict) else None for each in files]
    lacking = [name for name in rows if name not in names]
    if lacking:
        raise InputError(f"the data set {show_path(folder)} lacks {lacking[0]!r}, which its {_STATE} names")
    if _member(folder, _STATE, "_indices_files") or _member(folder, _STATE, "_indices_data_files"):
        raise InputError(
            f"the data set {show_path(folder)} picks its rows by a table of row numbers, which is not supported",
            hint="save it again after flatten_indices()",
        )
    return _only([str(name) for name in rows], folder, names, on_skip)


def _only(kept: list[str], folder: str, names: Sequence[str], on_skip: Callable[[str], None]) -> list[str]:
    for name in names:
        if name not in kept and name not in _OWN:
            on_skip(f"{show_path(os.path.join(folder, name))} skipped: it is not part of the data set's rows")
    return kept


def _member(folder: str, name: str, key: str) -> Any:
    """Read a member of a small JSON file; None if there is none."""
    import json

    path = os.path.join(folder, name)
    if not is_url(path) and not os.path.isfile(path):
        return None
    try:
        content = json.loads(read_whole(path, stdin=NO_STDIN, most=_STATE_BYTES))
    except OSError as error:
        raise cannot_read(path, error) from error
    except (ValueError, RecursionError):
        return None
    return content.get(key) if isinstance(content, dict) else None
