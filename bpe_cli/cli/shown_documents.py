"""Read the documents that are shown one by one, each whole and with its name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from bpe_cli.cli import options
from bpe_cli.cli.console import ConsoleListener, stdout_console
from bpe_cli.errors import InputError
from bpe_cli.jobs.documents import Origins
from bpe_cli.support.blocks import whole_documents

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bpe_cli.corpus import Inputs, Source

LARGEST_TEXT = 16 << 20
"""Bytes of a document that are shown at most: it is held whole, and so are the ids of its tokens."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document.

    Attributes:
        content: Its bytes.
        input: The input it is of.
        number: Its number there, from 1.
        title: What to write above it; None for the only one.
    """

    content: bytes
    input: str
    number: int
    title: str | None = None

    @property
    def origin(self) -> tuple[str, int]:
        """The input and the number in it."""
        return self.input, self.number


def read_documents(source: Source, found: Inputs, quiet: bool) -> Iterator[Document]:
    """Yield each document whole.

    Lines have their titles even if there is only one: to know, the next would have to be waited for.

    Raises:
        InputError: One is too long to be shown.
    """
    whole = source.documents == "whole"
    origins = Origins(whole=whole)
    documents = _named(_whole(source, found, quiet, origins), origins, whole)
    if not whole:
        yield from documents
        return
    first, second = next(documents, None), next(documents, None)
    if first is not None and second is None:
        yield Document(first.content, *first.origin)
    elif first is not None and second is not None:
        yield from (first, second)
        yield from documents


def _named(contents: Iterable[bytes], origins: Origins, whole: bool) -> Iterator[Document]:
    for number, content in enumerate(contents, start=1):
        title = origins.of(number) if whole else origins.line_of(number)
        yield Document(content, *origins.place_of(number), title)


def _whole(source: Source, found: Inputs, quiet: bool, origins: Origins) -> Iterator[bytes]:
    from bpe_cli.corpus import read_blocks

    listener = ConsoleListener(quiet=quiet)
    blocks = read_blocks(source, stdin=sys.stdin.buffer, inputs=found, on_note=listener.note, on_input=origins.begin)
    for documents in whole_documents(blocks, LARGEST_TEXT, _too_long):
        yield from documents


def _too_long() -> InputError:
    return InputError(
        f"the text is longer than the {LARGEST_TEXT >> 20} MiB that can be shown",
        hint="show a part of it (head -c 100000), or use bpe encode or bpe compare",
    )


Shown = TypeVar("Shown")


def print_each(
    reports: Iterable[tuple[Document, Shown]], view: Callable[[Shown], RenderableType], color: options.Color
) -> None:
    """Print each report below the title of its document; of an empty one nothing more than that, if it has a title."""
    from rich.text import Text

    from bpe_cli.views.visible import harmless

    for number, (document, report) in enumerate(reports):
        console = stdout_console(color)
        if number:
            console.print()
        if document.title is not None:
            title = Text(f"==> {harmless(document.title)} <==", style="bold")
            console.print(title if document.content else title + Text(" empty", style="not bold"), soft_wrap=True)
        if document.title is None or document.content:
            console.print(view(report))
