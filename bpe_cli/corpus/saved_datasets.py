"""Recognise the folders that the library ``datasets`` saves: which of their files hold the rows, in which order."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from bpe_cli.errors import InputError
from bpe_cli.support.messages import cannot_read, show_path

_STATE = "state.json"
_MOST_BYTES = 16 << 20
_SPLITS = "dataset_dict.json"
_OWN = frozenset((_STATE, _SPLITS, "dataset_info.json"))


def rows_in(folder: str, names: Sequence[str], on_skip: Callable[[str], None]) -> list[str]:
    """Name what is to be read of a folder: of a saved data set the files that hold its rows, in their order.

    What else lies there is left out: the library keeps its own files beside them for later.

    Args:
        folder: The folder, which may turn out to be of another kind.
        names: What is in it.
        on_skip: Called with a sentence for what is left out.

    Raises:
        InputError: There are several splits, a file is missing, or the rows stand in another order than in the files.
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
    found = [each.get("filename") if isinstance(each, dict) else None for each in files]
    lacking = [name for name in found if name not in names]
    if lacking:
        raise InputError(f"the data set {show_path(folder)} lacks {lacking[0]!r}, which its {_STATE} names")
    if _member(folder, _STATE, "_indices_files") or _member(folder, _STATE, "_indices_data_files"):
        raise InputError(
            f"the data set {show_path(folder)} picks its rows by a table of their numbers, which is not read",
            hint="save it again after flatten_indices()",
        )
    return _only([str(name) for name in found], folder, names, on_skip)


def _only(kept: list[str], folder: str, names: Sequence[str], on_skip: Callable[[str], None]) -> list[str]:
    for name in names:
        if name not in kept and name not in _OWN:
            on_skip(f"{show_path(os.path.join(folder, name))} skipped: it is no part of the data set's rows")
    return kept


def _member(folder: str, name: str, key: str) -> Any:
    """Read a member of a small JSON file; None if there is none."""
    path = os.path.join(folder, name)
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            content = json.loads(file.read(_MOST_BYTES))
    except OSError as error:
        raise cannot_read(path, error) from error
    except (ValueError, RecursionError):
        return None
    return content.get(key) if isinstance(content, dict) else None
