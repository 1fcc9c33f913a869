"""Weigh and hash what is read, as it is on disk."""

from __future__ import annotations

from collections.abc import Callable

from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_cli.support.hashing import Digest


def digest(threads: int = 1) -> Digest:
    """Begin a sha256, beside the reading if there may be more threads than one."""
    from bpe_cli.support import hashing  # 3 ms that only who wants it pays

    return hashing.digest(threads)


class Meter:
    """Weigh and hash the chunks of one input.

    Attributes:
        digest: What they are hashed with; None for nothing.
        on_bytes: Called with the size of each; None for nobody.
        size: How many bytes there were.
    """

    def __init__(self, digest: Digest | None, on_bytes: Callable[[int], None] | None) -> None:
        self.digest = digest
        self.on_bytes = on_bytes
        self.size = 0

    def __call__(self, chunk: bytes) -> None:
        """Take the next chunk."""
        self.size += len(chunk)
        if self.digest is not None:
            self.digest.update(chunk)
        if self.on_bytes is not None:
            self.on_bytes(len(chunk))

    def hexdigest(self) -> str:
        """Return the hash of all chunks; empty if nothing hashes them."""
        return "" if self.digest is None else self.digest.hexdigest()
