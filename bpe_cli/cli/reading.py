"""Find the inputs of a command."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bpe_cli.cli.console import note
from bpe_cli.errors import UsageError

if TYPE_CHECKING:
    from bpe_cli.corpus import Inputs, Source

FIELD = "text"
"""The field that holds the text if no other is named."""


def inputs_of(source: Source, quiet: bool, otherwise: str | None = None) -> Inputs:
    """Find the files of a source; what is left out is noted.

    Args:
        source: Where they are.
        quiet: Whether to note nothing.
        otherwise: The hint for a file that is missing; None for the usual one.

    Raises:
        InputError: A file is missing, or the like.
        UsageError: A field is named, and no input has fields.
    """
    from bpe_cli.corpus.opening import is_parquet

    found = source.inputs(
        stdin=sys.stdin.buffer, on_skip=lambda message: note(f"note: {message}", quiet=quiet), otherwise=otherwise
    )
    if source.field != FIELD and source.documents != "jsonl" and not any(is_parquet(each.path) for each in found.items):
        raise UsageError(
            "--field names a field of JSON lines or a column of Parquet files, and there are none",
            hint="--jsonl reads each line as a JSON object",
        )
    return found
