"""The short path: byte-level BPE whose text is only split, run by the core's ``Engine``.

What it does not do itself (sampling, spans of tokens that take white space along) goes through all stages.
"""

# ruff: noqa: D102  # ``Engine`` says what each method does
from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.stages import MergeBpe, PrefixSpace, RankBpe, Split
from bpe_cli.stages.splitters import compile_splitter, segments
from bpe_cli.support.blocks import Block
from bpe_cli.support.core_arguments import cannot_encode
from bpe_cli.support.fast_dataclass import replace

if TYPE_CHECKING:
    from bpe_cli.stages import Decoder, Model, Normalizer, PreTokenizer
    from bpe_cli.tokenizer.encoded import PieceSpans, Placed
    from bpe_cli.tokenizer.engine import EngineParts, Place, Sampling
    from bpe_cli.tokenizer.engine.staged import StagedEngine


def can_run(
    model: Model,
    normalizer: Sequence[Normalizer],
    pre_tokenizer: Sequence[PreTokenizer],
    decoder: Sequence[Decoder],
) -> bool:
    """Return whether the short path can run a tokenizer: byte-level BPE whose text is only split."""
    spaces = [isinstance(stage, PrefixSpace) for stage in pre_tokenizer]
    return (
        isinstance(model, (RankBpe, MergeBpe))
        and not normalizer
        and not decoder
        and not any(spaces[1:])
        and all(isinstance(stage, (PrefixSpace, Split)) for stage in pre_tokenizer)
        and all(stage == Split(stage.pattern) for stage in pre_tokenizer if isinstance(stage, Split))
    )


class PlainEngine:
    """Run byte-level BPE; ``Engine`` says what the methods do.

    Raises:
        UsageError: if a pattern does not compile.
    """

    longest_text: int | None = None

    def __init__(self, parts: EngineParts) -> None:
        patterns = tuple(stage.pattern for stage in parts.pre_tokenizer if isinstance(stage, Split))
        self._parts = parts
        self._prefix_space = any(isinstance(stage, PrefixSpace) for stage in parts.pre_tokenizer)
        self._splitter = compile_splitter(patterns)
        self.slow_patterns = () if isinstance(self._splitter, _core.Splitter) else patterns
        strips = any(token.lstrip or token.rstrip for token in parts.special_tokens)
        self.has_spans = not strips and parts.codebook is None

    @cached_property
    def _compiled(self) -> _core.Engine:
        """The compiled model."""
        try:
            return self._compile()
        except ValueError as error:
            raise FormatError(f"the tokenizer contradicts itself: {error}") from error

    def _compile(self) -> _core.Engine:
        model, vocabulary = self._parts.model, self._parts.model.vocabulary
        splitter = self._splitter if isinstance(self._splitter, _core.Splitter) else _core.Splitter("null")
        if vocabulary.embedded is not None and not isinstance(model, MergeBpe):
            return _core.Engine.embedded(vocabulary.embedded, splitter, self._prefix_space)
        return _core.Engine(
            splitter,
            prefix_space=self._prefix_space,
            blob=vocabulary.blob,
            ends=vocabulary.ends,
            merges=None if model.merges is None else model.merges.triples,
            whole_pieces=model.merges is None or model.ignore_merges,
        )

    @cached_property
    def _staged(self) -> StagedEngine:
        from bpe_cli.tokenizer.engine.staged import StagedEngine

        return StagedEngine(self._parts)

    @cached_property
    def bare(self) -> PlainEngine:
        return PlainEngine(replace(self._parts, pre_tokenizer=()))

    def matcher(self, contents: Sequence[bytes], ids: Sequence[int], flags: bytes | None) -> _core.SpecialMatcher:
        return _core.SpecialMatcher(contents, ids, flags, codebook=self._parts.codebook)

    def _stretches(
        self, block: Block, matcher: _core.SpecialMatcher | None
    ) -> Iterator[tuple[int, bytes, int | None, int]]:
        """Yield the stretches of a block's documents as they are split.

        Yields:
            (number of the document, stretch, id if it is a special token, offset of the stretch in the block): the
            offset is one less than that of its text where a space is put before that.
        """
        offset = 0
        for number, document in enumerate(block.documents()):
            continued = block.continued and number == 0
            for segment, special_id in segments(bytes(document), matcher):
                spaced = special_id is None and self._prefix_space and not continued and not segment.startswith(b" ")
                yield number, b" " + segment if spaced else segment, special_id, offset - spaced
                offset += len(segment)
                continued = False

    def encode(
        self,
        block: Block,
        matcher: _core.SpecialMatcher | None = None,
        threads: int = 1,
        sampling: Sampling | None = None,
        place: Place | None = None,
    ) -> tuple[memoryview, memoryview]:
        if sampling is not None:
            return self._staged.encode(block, matcher, threads, sampling, place)
        if not isinstance(self._splitter, _core.Splitter):
            return self._encode_slowly(block, matcher)
        try:
            ids, ends = self._compiled.encode(block.data, block.ends, matcher, threads, block.continued)
        except ValueError as error:
            raise cannot_encode(error, block.data) from error
        return memoryview(ids), memoryview(ends)

    def encode_text(self, data: bytes, matcher: _core.SpecialMatcher | None = None, threads: int = 1) -> memoryview:
        if not isinstance(self._splitter, _core.Splitter):
            return self._encode_slowly(Block.of([data]), matcher)[0]
        try:
            return memoryview(self._compiled.encode(data, array("Q", (len(data),)), matcher, threads)[0])
        except ValueError as error:
            raise cannot_encode(error, data) from error

    def _encode_slowly(self, block: Block, matcher: _core.SpecialMatcher | None) -> tuple[memoryview, memoryview]:
        """Encode with patterns that only the ``regex`` module can run."""
        ids, ends = array("I"), array("Q")
        for number, text, special_id, offset in self._stretches(block, matcher):
            ends.extend([len(ids)] * (number - len(ends)))
            if special_id is not None:
                ids.append(special_id)
                continue
            try:
                pieces = self._compiled.encode_pieces(text, self._splitter.split(text))
            except ValueError as error:
                raise cannot_encode(error, text, offset) from error
            ids.frombytes(memoryview(pieces).cast("B"))
        ends.extend([len(ids)] * (len(block.ends) - len(ends)))
        return memoryview(ids), memoryview(ends)

    def count(self, block: Block, matcher: _core.SpecialMatcher | None = None, threads: int = 1) -> memoryview:
        if isinstance(self._splitter, _core.Splitter):
            try:
                return memoryview(self._compiled.count(block.data, block.ends, matcher, threads, block.continued))
            except ValueError as error:
                raise cannot_encode(error, block.data) from error
        _, ends = self.encode(block, matcher, threads)
        return memoryview(array("Q", (end - start for start, end in zip([0, *ends], ends, strict=False))))

    def spans(
        self, data: bytes | memoryview, matcher: _core.SpecialMatcher | None, *, continued: bool = False
    ) -> tuple[memoryview, memoryview, memoryview]:
        return self._staged.spans(data, matcher, continued=continued)

    def place(self, data: bytes, matcher: _core.SpecialMatcher | None) -> Placed:
        from bpe_cli.tokenizer.encoded import Placed

        if not self.has_spans:
            return self._staged.place(data, matcher)
        ids, _ = self.encode(Block.of([data]), matcher)
        sizes = {token_id: self._size(token_id) for token_id in set(ids)}
        joined = array("Q", accumulate(map(sizes.__getitem__, ids)))
        if matcher is None and not self._prefix_space:
            return Placed(ids, array("Q", [0])[: len(ids)] + joined[:-1], joined, bytes(len(ids)))
        starts, ends, special = array("Q"), array("Q"), bytearray()
        position = spaces = first = 0
        for segment, special_id in segments(data, matcher):
            # A space that is put before a segment is in its first token, and nowhere in the text.
            spaces += special_id is None and self._prefix_space and not segment.startswith(b" ")
            starts.append(position)
            position += len(segment)
            last = bisect_left(joined, position + spaces, first) + 1
            ends.extend(end - spaces for end in joined[first:last])
            starts.extend(ends[first : last - 1])
            special += bytes([special_id is not None]) * (last - first)
            first = last
        return Placed(ids, starts, ends, bytes(special))

    @cached_property
    def _special_sizes(self) -> dict[int, int]:
        ids, _, ends = self._parts.special_table
        return {token_id: end - start for token_id, start, end in zip(ids, [0, *ends], ends, strict=False)}

    def _size(self, token_id: int) -> int:
        size = self._special_sizes.get(token_id)
        return len(self._parts.vocabulary.token(token_id)) if size is None else size

    def nbest(self, piece: bytes, count: int) -> list[tuple[tuple[int, ...], float]]:
        return self._staged.nbest(piece, count)

    def normalize(self, text: bytes, *, first: bool = True) -> bytes:
        return text

    def pieces(self, text: bytes, *, first: bool = True) -> PieceSpans:
        from bpe_cli.tokenizer.encoded import PieceSpans

        spaced = self._prefix_space and text[:1] not in (b"", b" ")
        data = b" " + text if spaced else text
        ends = memoryview(self._splitter.split(data)).tolist()
        starts = [0, *ends[:-1]] if ends else []
        return PieceSpans(data, starts, ends, [max(at - spaced, 0) for at in starts], [at - spaced for at in ends])

    def piece_ends(self, text: bytes) -> memoryview:
        return memoryview(self._splitter.split(text))

    def count_pieces(
        self, counts: _core.Counts, block: Block, matcher: _core.SpecialMatcher | None, threads: int
    ) -> None:
        from bpe_cli.stages.counting import SplitText

        SplitText(self._splitter, self._prefix_space).count_pieces(counts, block, matcher, threads)

    def tally(
        self, tally: _core.Tally, block: Block, matcher: _core.SpecialMatcher | None, threads: int, *, tiled: bool
    ) -> tuple[memoryview, memoryview] | None:
        fast = isinstance(self._splitter, _core.Splitter)
        if not tiled:
            slowly = not fast and self.has_spans
            return (self._tally_slowly if slowly else self._staged.tally)(tally, block, matcher, threads, tiled=tiled)
        if not fast:
            ids, ends = self._encode_slowly(block, matcher)
            tally.add(
                block.data, block.ends, ids, ends,
                prefix_space=self._prefix_space, continued=block.continued, unfinished=block.unfinished,
            )  # fmt: skip
            return None
        try:
            tally.encode_plain(
                self._compiled, block.data, block.ends, matcher, threads,
                continued=block.continued, unfinished=block.unfinished,
            )  # fmt: skip
        except ValueError as error:
            raise cannot_encode(error, block.data) from error
        return None

    def _tally_slowly(
        self,
        tally: _core.Tally,
        block: Block,
        matcher: _core.SpecialMatcher | None,
        threads: int,
        *,
        tiled: bool,
    ) -> tuple[memoryview, memoryview]:
        """Count with a pattern that only the ``regex`` module can run, and a space before the text.

        Such patterns allow no cuts: the documents are whole.
        """
        ids, ends, starts, stops = array("I"), array("Q"), array("Q"), array("Q")
        begin = 0
        for document in block.documents():
            placed = self.place(bytes(document), matcher)
            ids.frombytes(placed.ids.cast("B"))
            starts.extend(begin + start for start in placed.starts)
            stops.extend(begin + stop for stop in placed.ends)
            ends.append(len(ids))
            begin += len(document)
        tally.add(block.data, block.ends, ids, ends, starts, stops)
        return memoryview(ids), memoryview(ends)

    def failures(
        self, block: Block, ids: memoryview | array[int], ends: memoryview | array[int], threads: int
    ) -> memoryview:
        return self._staged.failures(block, ids, ends, threads)

    def safe_cut(self, data: bytes | memoryview, /) -> int:
        return self._splitter.safe_cut(data)

    @cached_property
    def _specials_apart(self) -> bool:
        """Whether the compiled model has no token for any id that decodes to a special one."""
        return not self._parts.model.vocabulary.among(self._parts.special_table[0])

    def decode(self, ids: memoryview | array[int]) -> bytes:
        if self._specials_apart:  # then most texts need no more: looking at the table takes a short one as long again
            try:
                return self._compiled.decode(ids, b"", b"", b"")
            except ValueError:
                pass
        return self._compiled.decode(ids, *self._parts.special_table)
