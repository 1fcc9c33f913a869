"""Keep the beginning of what streams by: what looks at tokens one by one cannot take a whole corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_cli.support.blocks import Block

SAMPLE_BYTES = 2 << 20
"""Bytes that are kept of all inputs together."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A document, or its beginning.

    Attributes:
        source: The name of the input it is from.
        document: Number of the document in that input, from 0.
        text: Its bytes.
    """

    source: str
    document: int
    text: bytes


@dataclass(slots=True)
class Sample:
    """The first bytes of each input.

    Every input may have an equal part of the limit. The last document of a part is cut behind its last line feed, or,
    if it has none, in front of its last character: what is kept does not depend on how the input came in blocks.

    Attributes:
        limit: Bytes that are kept of each input.
        excerpts: What is kept, once the inputs were read.
        whole: Whether that is all there was.
    """

    limit: int = SAMPLE_BYTES
    excerpts: list[Excerpt] = field(default_factory=list)
    whole: bool = True

    @classmethod
    def shared(cls, inputs: int, limit: int = SAMPLE_BYTES) -> Sample:
        """Make a sample of so many inputs together."""
        return cls(max(1, limit // max(1, inputs)))

    @property
    def byte_count(self) -> int:
        """Bytes that are kept."""
        return sum(len(excerpt.text) for excerpt in self.excerpts)

    def by_name(self) -> dict[str, bytes]:
        """Return the documents by the names of their inputs, numbered where there are several."""
        several = {excerpt.source for excerpt in self.excerpts if excerpt.document}
        return {
            f"{excerpt.source}:{excerpt.document + 1}" if excerpt.source in several else excerpt.source: excerpt.text
            for excerpt in self.excerpts
        }

    def watch(self, name: str, blocks: Iterable[Block]) -> Iterator[Block]:
        """Pass on the blocks of an input, and keep its beginning."""
        documents: list[bytearray] = []
        room = self.limit
        cut = False
        for block in blocks:
            if not cut:
                for part, begins, _ in block.parts():
                    if begins or not documents:
                        documents.append(bytearray())
                    taken = part[:room]
                    documents[-1] += taken
                    room -= len(taken)
                    if len(taken) < len(part):
                        cut = True
                        break
            yield block
        if cut:
            self.whole = False
            documents[-1] = _beginning(documents[-1])
        self.excerpts += [Excerpt(name, number, bytes(text)) for number, text in enumerate(documents) if text]


def _beginning(text: bytearray) -> bytearray:
    r"""Cut a text that was cut anywhere where a line or at least a character ends.

    >>> _beginning(bytearray(b"ab\ncd")), _beginning(bytearray(b"ab\xe8\xb0"))
    (bytearray(b'ab\n'), bytearray(b'ab'))
    """
    line = text.rfind(b"\n") + 1
    if line:
        return text[:line]
    end = len(text) - 1
    while end > max(0, len(text) - 4) and 0x80 <= text[end] < 0xC0:
        end -= 1
    return text[: max(end, 0)]
