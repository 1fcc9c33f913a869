"""Note what a tokenizer's split pattern cuts at the beginning of a corpus, while a job reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bpe_cli.stages.patterns import SAMPLE

if TYPE_CHECKING:
    from bpe_cli.support.blocks import Block
    from bpe_cli.support.listening import Listener
    from bpe_cli.tokenizer import Tokenizer


@contextmanager
def noting_clusters(tokenizer: Tokenizer, blocks: Iterable[Block], listener: Listener) -> Iterator[Iterator[Block]]:
    """Pass blocks on; once they are read, note whether the pattern cuts characters that readers see."""
    beginning = bytearray()
    yield _with_beginning(blocks, beginning)
    if not beginning.isascii():
        from bpe_cli.reports.text.clusters import cluster_warning

        for warning in cluster_warning(tokenizer, bytes(beginning)):
            listener.note(f"{warning.message}; {warning.hint}")


def _with_beginning(blocks: Iterable[Block], beginning: bytearray) -> Iterator[Block]:
    """Pass blocks on, and keep their first bytes, which are the same whatever the blocks are."""
    for block in blocks:
        if len(beginning) < SAMPLE:
            beginning += block.data[: SAMPLE - len(beginning)]
        yield block
