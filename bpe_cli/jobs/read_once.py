"""Check that stdin, which can be read only once, is one of the things that a job reads."""

from __future__ import annotations

from collections.abc import Iterable

from bpe_cli.corpus.stdin import is_stdin
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO

    from bpe_cli.corpus import Source


def check_read_once(source: Source | None, read: Iterable[tuple[str, str]], stdin: BinaryIO | None) -> None:
    """Check that stdin is no more than one of the things that a job reads.

    Args:
        source: The inputs, if there are any.
        read: What a message calls other things that are read, and their paths.
        stdin: The stream that ``-`` stands for.

    Raises:
        UsageError: if it is two of them.
    """
    paths = () if source is None or source.text is not None else source.paths or ("-",)
    found = [what for what, path in (*(("the input", each) for each in paths), *read) if is_stdin(path, stdin)]
    if len(found) > 1:
        raise UsageError(
            f"{found[0]} and {found[1]} would both be read from stdin, which can be read only once",
            hint="name a file for one of them",
        )
