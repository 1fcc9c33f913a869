"""Find the inputs of a command: ``jobs.inputs`` with the streams and the notes of this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bpe_cli.cli.console import ConsoleListener
from bpe_cli.cli.output_checks import process_streams
from bpe_cli.jobs.inputs import FIELD, find_documents

if TYPE_CHECKING:
    from bpe_cli.corpus import Inputs, Source

__all__ = ["FIELD", "inputs_of"]


def inputs_of(
    source: Source, quiet: bool, outputs: Sequence[tuple[str, str | None]], otherwise: str | None = None
) -> Inputs:
    """Find the inputs of which documents are made; see ``find_documents``.

    Raises:
        InputError, UsageError: As there.
    """
    listener = ConsoleListener(quiet=quiet)
    return find_documents(source, outputs, listener=listener, streams=process_streams(), otherwise=otherwise)
