"""The folder of the first pass of a shuffle, within that of a data set: what lies in it, and how it goes.

People may have a folder of that name too, even with a data set of its own: only what a shuffle has made is removed.
"""

from __future__ import annotations

import contextlib
import os
import re

from bpe_cli.errors import UsageError
from bpe_cli.jobs.parts.folder import PLAN
from bpe_cli.jobs.prepare.records import remove_file
from bpe_cli.support.messages import cannot_read, listed, show_path

SCRATCH = "shuffle"
"""How the folder is called."""

ITEMS = ".items"
"""How the file of the items of a part ends."""

_OURS = re.compile(r"(part-\d{5,})(?:\.items|\.kept|\.quarantine\.jsonl|\.json)")
_DRAFT = re.compile(rf"\.{_OURS.pattern}\.[\w-]+-[0-9]+(?:\.[0-9]+)?\.part")


def check_scratch(folder: str) -> None:
    """Check that a data set's folder for the first pass of a shuffle holds nothing else.

    Raises:
        UsageError: if it does; the message names the first files.
        InputError: if it cannot be read.
    """
    place = os.path.join(folder, SCRATCH)
    names = _names_in(place)
    others = sorted(name for name in names if not name.startswith(".") and not _OURS.fullmatch(name))
    if others:
        raise UsageError(
            f"the first pass of a shuffle goes into {show_path(place)}, where something else is: {listed(others)}",
            hint="move it away, or name another folder",
        )


def remove_scratch(folder: str) -> None:
    """Remove the files of the first pass of a shuffle, and their folder if nothing else is in it.

    Raises:
        InputError: if the folder cannot be read.
        OutputError: if a file cannot be removed.
    """
    place = os.path.join(folder, SCRATCH)
    names = _names_in(place)
    if PLAN in names:  # a data set of its own
        return
    parts = {name.removesuffix(ITEMS) for name in names if name.endswith(ITEMS)}
    ours = [name for name in names if (found := _OURS.fullmatch(name)) and found[1] in parts]
    drafts = [name for name in names if _DRAFT.fullmatch(name)]
    # The items last: by them the others are known, should this be interrupted.
    for name in (*drafts, *sorted(ours, key=lambda name: name.endswith(ITEMS))):
        remove_file(os.path.join(place, name))
    if ours or drafts or not names:
        with contextlib.suppress(OSError):  # it is not there, or not empty
            os.rmdir(place)


def _names_in(place: str) -> list[str]:
    try:
        return os.listdir(place)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise cannot_read(place, error) from error
