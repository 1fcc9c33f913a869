"""The files of pictures that ``--svg`` and ``--png`` name: all in one, one by its name, or each in a folder."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence

from bpe_cli.cli.console import note
from bpe_cli.errors import UsageError
from bpe_cli.jobs.files import STDOUT, check_outputs, make_folder, write_output
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol

    class HasPictures(Protocol):
        """A report that can be drawn."""

        def to_svg(self, name: str | None = None) -> str:
            """Return a picture as SVG."""

        def to_png(self, name: str | None = None) -> bytes:
            """Return a picture as PNG."""


_ENDINGS = {"--svg": ".svg", "--png": ".png"}
_CALLED = {"--svg": "SVG", "--png": "PNG"}


@dataclass(frozen=True, slots=True)
class PictureFile:
    """A file to write.

    Attributes:
        option: ``--svg`` or ``--png``.
        name: The picture that goes there; None for all, below each other.
        path: The file; ``-`` for stdout.
        folder: The folder to make for it if missing; None where it must exist.
    """

    option: str
    name: str | None
    path: str
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture that is drawn already, as SVG."""

    svg: str

    def to_svg(self, name: str | None = None) -> str:
        """Return it."""
        return self.svg

    def to_png(self, name: str | None = None) -> bytes:
        """Return it as PNG.

        Raises:
            UsageError: if what makes it is not installed.
            OutputError: if there is no font.
        """
        from bpe_cli.views.pictures.png import png

        return png(self.svg)


def picture_files(
    svg: Sequence[str] | None, png: Sequence[str] | None, names: Sequence[str], of_all: Iterable[str] = ()
) -> tuple[PictureFile, ...]:
    """Read which pictures go where; a folder that is missing can be made.

    Args:
        svg: The values of ``--svg``.
        png: The values of ``--png``.
        names: The pictures that there will be; empty where a picture has no name.
        of_all: The names of all pictures of such reports, for messages.

    Raises:
        UsageError: if there is no such picture, a name is that of another kind of file, or PNG cannot be made, or
            would go to a terminal.
        OutputError: if a folder could not be made.
    """
    from bpe_cli.sinks.naming import TEXT, check_name

    files: list[PictureFile] = []
    for option, values in (("--svg", svg), ("--png", png)):
        ending = _ENDINGS[option]
        for value in values or ():
            name, path = _named(option, value, names, tuple(of_all))
            if name is None and path != STDOUT and (path.endswith("/") or os.path.isdir(path)) and names:
                folder = None if os.path.isdir(path) else path.rstrip("/")
                if folder is not None:
                    check_outputs([(option, folder)])
                    if any(each.folder == folder and each.option == option for each in files):
                        raise UsageError(f"{option} names {path} twice", hint="leave one of them out")
                files += (PictureFile(option, each, os.path.join(path, each + ending), folder) for each in names)
                continue
            check_name(option, path, _CALLED[option], (ending, *TEXT))
            if option == "--png" and path == STDOUT and sys.stdout.isatty():
                raise UsageError("PNG cannot be written to a terminal", hint="name a file, or pipe it into a program")
            files.append(PictureFile(option, name, path))
    if png:
        from bpe_cli.views.pictures.png import check_png

        check_png()
    return tuple(files)


def _named(option: str, value: str, names: Sequence[str], of_all: Sequence[str]) -> tuple[str | None, str]:
    """Return the picture and the file that a value names: ``NAME=FILE``, or a file for all of them."""
    name, equals, path = value.partition("=")
    if equals and not path:
        raise UsageError(f"{option} {value} names no file", hint=f"as in {option} figure{_ENDINGS[option]}")
    if not equals or not name.isalpha() or os.path.lexists(value):
        return None, value
    if not of_all:
        raise UsageError(f"{option} {value}: the picture of a text has no name", hint=f"{option} {path}")
    if name in names:
        return name, path
    if name in of_all:
        raise UsageError(
            f"{option} {value}: there is nothing here that {name} could show",
            hint=f"there are {', '.join(names)}" if names else None,
        )
    raise UsageError(f"{option} {value}: there is no picture {name!r}", hint=f"they are {', '.join(of_all)}")


def outputs_of(files: Iterable[PictureFile]) -> list[tuple[str, str | None]]:
    """Return the options and the files, for ``check_outputs``; for what lies in a folder to make, the folder."""
    folders = {each.folder: each.option for each in files if each.folder is not None}
    plain = [(each.option, each.path) for each in files if each.folder is None]
    return [*plain, *((option, folder) for folder, option in folders.items())]


def write_pictures(files: Iterable[PictureFile], report: "HasPictures", quiet: bool) -> None:
    """Write pictures of a report; each file appears when all of it is there.

    Raises:
        OutputError: if a file cannot be written.
    """
    for each in files:
        if each.folder is not None:
            make_folder(each.folder)
        draw: Callable[[str | None], str | bytes] = report.to_svg if each.option == "--svg" else report.to_png
        write_output(each.path, [draw(each.name)], sys.stdout.buffer)
        if each.path != STDOUT:
            note(f"wrote {each.path}", quiet=quiet)
