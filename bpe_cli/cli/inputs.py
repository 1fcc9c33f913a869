"""Find the inputs of a command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bpe_cli.cli.console import note
from bpe_cli.cli.output_checks import check_kept, read_inputs
from bpe_cli.errors import UsageError

if TYPE_CHECKING:
    from bpe_cli.corpus import Inputs, Source

FIELD = "text"
"""The field that holds the text if no other is named."""


def find_inputs(
    source: Source, quiet: bool, outputs: Sequence[tuple[str, str | None]], otherwise: str | None = None
) -> Inputs:
    """Find the files of a source, none of which is written to; what is left out is noted.

    Args:
        source: Where they are.
        quiet: Whether to note nothing.
        outputs: The options that name files to write, and the files; stdout and stderr are looked at in any case.
        otherwise: The hint for a file that is missing; None for the usual one.

    Raises:
        InputError: A file is missing, or is no text, or the like.
        UsageError: An output is an input; or lines of JSON would be taken for text.
    """
    found = source.inputs(
        stdin=sys.stdin.buffer, on_skip=lambda message: note(f"note: {message}", quiet=quiet), otherwise=otherwise
    )
    check_kept(outputs, read_inputs(found))
    return found


def inputs_of(
    source: Source, quiet: bool, outputs: Sequence[tuple[str, str | None]], otherwise: str | None = None
) -> Inputs:
    """Find the inputs of which documents are made: see ``find_inputs``.

    Raises:
        InputError: As there.
        UsageError: As there; or a field is named, and no input has fields.
    """
    found = find_inputs(source, quiet, outputs, otherwise)
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
