"""Count the pieces that text is cut into: the only way from blocks of documents to counts."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from bpe_cli import _core
from bpe_cli.errors import TrainingError
from bpe_cli.stages.splitters import Splitter, safe_cutter, segments
from bpe_cli.support.blocks import Block, settle
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import Protocol

ALL_MEMORY = (1 << 63) - 1
"""More bytes than any machine addresses: the largest bound that the core takes for the memory of counts."""


@dataclass(frozen=True, slots=True)
class Cutting:
    """How text was cut into the pieces that were counted.

    Attributes:
        pattern: The split pattern; None if text was not split.
        prefix_space: Whether a space was put before each text.
        special_tokens: Texts that were left out of the counts.
        unicode_version: Version of the Unicode tables that the pattern was run with.
        stages: Normalizers and pre-tokenizers as JSON, where the text went through those instead.
    """

    pattern: str | None
    prefix_space: bool = False
    special_tokens: tuple[str, ...] = ()
    unicode_version: str | None = None
    stages: str | None = None


class Cutter(Protocol):
    """Cut text into pieces, as a tokenizer's engine does."""

    def safe_cut(self, data: bytes | memoryview, /) -> int:
        """Return the last offset at which the text can be cut, whatever follows; 0 for none."""
        ...

    def count_pieces(
        self, counts: _core.Counts, block: Block, matcher: _core.SpecialMatcher | None, threads: int
    ) -> None:
        """Add the pieces of a block to counts, without the special tokens that are found."""
        ...


class SplitText:
    """Cut text by a splitter alone, as byte-level BPE does.

    Args:
        splitter: What cuts.
        prefix_space: Whether a space is put before a document that does not begin with one.
    """

    def __init__(self, splitter: Splitter, prefix_space: bool) -> None:
        self.splitter = splitter
        self.prefix_space = prefix_space

    def safe_cut(self, data: bytes | memoryview, /) -> int:
        """Return the last offset at which the text can be cut, whatever follows; 0 for none."""
        return self.splitter.safe_cut(data)

    def count_pieces(
        self, counts: _core.Counts, block: Block, matcher: _core.SpecialMatcher | None, threads: int
    ) -> None:
        """Add the pieces of a block to counts, without the special tokens that are found."""
        if isinstance(self.splitter, _core.Splitter):
            counts.add_block(block, self.splitter, self.prefix_space, matcher, threads)
            return
        for number, document in enumerate(block.documents()):
            continued = block.continued and number == 0
            for segment, special_id in segments(bytes(document), matcher):
                if special_id is None:
                    spaced = self.prefix_space and not continued and not segment.startswith(b" ")
                    text = b" " + segment if spaced else segment
                    counts.add_pieces(text, self.splitter.split(text))
                continued = False


class StagedText:
    """Cut text by normalizers and pre-tokenizers.

    Args:
        stages: Those, compiled.
    """

    def __init__(self, stages: _core.Stages) -> None:
        self.stages = stages

    def safe_cut(self, data: bytes | memoryview, /) -> int:
        """Return the last offset at which the text can be cut, whatever follows; 0 for none."""
        return self.stages.safe_cut(data)

    def count_pieces(
        self, counts: _core.Counts, block: Block, matcher: _core.SpecialMatcher | None, threads: int
    ) -> None:
        """Add the pieces of a block to counts, without the special tokens that are found."""
        counts.add_staged(block, self.stages, matcher, threads)


class ByLine:
    """Cut each line of a text by itself, with its end, as superwords are learnt.

    Args:
        cutter: What cuts a line.
    """

    def __init__(self, cutter: Cutter) -> None:
        self._cutter = cutter

    def safe_cut(self, data: bytes | memoryview, /) -> int:
        """Return the offset behind the last line end; 0 for none."""
        return bytes(data).rfind(b"\n") + 1

    def count_pieces(
        self, counts: _core.Counts, block: Block, matcher: _core.SpecialMatcher | None, threads: int
    ) -> None:
        """Add the pieces of a block's lines to counts."""
        self._cutter.count_pieces(counts, lines_of(block), matcher, threads)


def lines_of(block: Block) -> Block:
    """Return a block whose documents are the lines of another's, with their ends."""
    return Block(block.data, array("Q", bytes(memoryview(_core.line_ends(block)))))


def count_blocks(
    blocks: Iterable[Block],
    cutter: Cutter,
    counts: _core.Counts,
    threads: int = 1,
    matcher: _core.SpecialMatcher | None = None,
    *,
    smaller: str = "raise `max_memory`, split the text more finely, or train on a sample",
) -> None:
    """Cut documents and add their pieces to counts.

    The result depends on the documents and their order alone, not on blocks or threads.

    Args:
        blocks: The documents.
        cutter: What cuts them.
        counts: What is added to.
        threads: Number of threads.
        matcher: Finds special tokens: they are taken out of the text, and divide it.
        smaller: The hint for counts that do not fit.

    Raises:
        TrainingError: if there are more different pieces than the counts' memory holds, or a text cannot be cut.
    """
    try:
        for block in settle(blocks, safe_cutter(cutter, matcher)):
            cutter.count_pieces(counts, block, matcher, threads)
    except ValueError as error:  # an expression that takes too long, a text that is too long
        raise TrainingError(
            f"the text cannot be cut: {error}", hint='cut it in another way, or into lines: `documents="lines"`'
        ) from error
    except _core.MemoryBoundError as error:
        raise TrainingError(f"the corpus has too many different pieces: {error}", hint=smaller) from error


def matcher_of(contents: Iterable[str]) -> _core.SpecialMatcher | None:
    """Return the matcher of the texts of special tokens; None if there are none."""
    texts = sorted({content.encode("utf-8", "surrogateescape") for content in contents})
    return _core.SpecialMatcher(texts, [0] * len(texts)) if texts else None
