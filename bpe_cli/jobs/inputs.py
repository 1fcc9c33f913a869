"""Find what a job reads, and make sure that it is not what it writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.outputs import Streams, Target, check_kept, read_inputs
from bpe_cli.support.listening import SILENCE, Listener
from bpe_cli.support.messages import cannot_read

if TYPE_CHECKING:
    from bpe_cli.corpus import Inputs, Source

FIELD = "text"
"""The field that holds the text if no other is named."""

_LARGEST_COUNTS = 1 << 27
"""Bytes that a vocabulary with counts may have."""


def find_inputs(
    source: Source,
    outputs: Sequence[tuple[str, str | None]] = (),
    *,
    listener: Listener = SILENCE,
    streams: Streams,
    target: Target | None = None,
    otherwise: str | None = None,
) -> Inputs:
    """Find the files of a source, none of which is written to; the listener hears what is left out.

    Args:
        source: Where they are.
        outputs: The options that name files to write, and the files.
        listener: Who hears of files that are left out.
        streams: The streams around the job.
        target: Where the job writes, if that may be a stream.
        otherwise: The hint for a file that is missing; None for the usual one.

    Raises:
        InputError: if a file is missing, or is not text, or the like.
        UsageError: if an output is an input, or lines of JSON would be taken for text.
    """
    found = source.inputs(stdin=streams.read, on_skip=listener.note, otherwise=otherwise)
    check_kept(outputs, read_inputs(found), streams, target)
    return found


def find_documents(
    source: Source,
    outputs: Sequence[tuple[str, str | None]] = (),
    *,
    listener: Listener = SILENCE,
    streams: Streams,
    target: Target | None = None,
    otherwise: str | None = None,
) -> Inputs:
    """Find the inputs of which documents are made: see ``find_inputs``.

    Raises:
        InputError: as there.
        UsageError: as there; or if a field is named, and no input has fields.
    """
    found = find_inputs(source, outputs, listener=listener, streams=streams, target=target, otherwise=otherwise)
    if (
        source.field != FIELD
        and source.documents != "jsonl"
        and not any(each.kind is not None and each.kind.is_table for each in found.items)
    ):
        raise UsageError(
            "--field names a field of JSON lines or a column of Parquet or Arrow files, and there are none",
            hint="--jsonl reads each line as a JSON object",
        )
    return found


def read_counts(path: str) -> dict[str, int]:
    """Read lines of a token and its count: from a file, or a pipe such as the shell's ``<(...)``.

    Raises:
        InputError, FormatError: if they cannot be read, or are something else.
    """
    from bpe_cli.formats.subword_nmt import load_vocabulary

    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST_COUNTS + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise cannot_read(path, error) from error
    if len(data) > _LARGEST_COUNTS:
        raise InputError(f"{path} is not a vocabulary: it has more than {_LARGEST_COUNTS:,} bytes")
    return load_vocabulary(data, path)
