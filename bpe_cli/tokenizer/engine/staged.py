"""The path through all stages, which can run any tokenizer: by the core's ``Pipeline`` and ``Decoder``."""

# ruff: noqa: D102  # ``Engine`` says what each method does
from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.errors import FormatError, InputError
from bpe_cli.stages import MergeBpe, RankBpe, SpaceMarksDecoder
from bpe_cli.stages.component_json import component, core_model, core_spec
from bpe_cli.support.blocks import Block
from bpe_cli.support.core_arguments import cannot_encode, cannot_spell
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.tokenizer.encoded import PieceSpans, Placed
from bpe_cli.tokenizer.engine import Place

if TYPE_CHECKING:
    from bpe_cli.tokenizer.engine import EngineParts, Sampling


class StagedEngine:
    """Run any tokenizer; ``Engine`` says what the methods do.

    Raises:
        FormatError: if a stage cannot be.
    """

    slow_patterns: tuple[str, ...] = ()
    has_spans = False
    longest_text: int | None = 1 << 32

    def __init__(self, parts: EngineParts) -> None:
        try:
            self._stages = _core.Stages(core_spec(parts.normalizer, parts.pre_tokenizer))
        except ValueError as error:
            raise FormatError(f"the tokenizer's stages cannot be run: {error}") from error
        self._parts = parts
        self._skipped = None
        if any(isinstance(stage, SpaceMarksDecoder) for stage in parts.decoder):
            # SentencePiece's control pieces read as nothing, its unknown one as a text of its own.
            unk_id = parts.model.unk_id
            self._skipped = bytes(
                2 if token.token_id == unk_id else int(token.special) for token in parts.special_tokens
            )

    @cached_property
    def _pipeline(self) -> _core.Pipeline:
        """The compiled stages and model."""
        model = self._parts.model
        try:
            return _core.Pipeline(
                self._stages,
                core_model(model),
                blob=model.vocabulary.blob,
                ends=model.vocabulary.ends,
                merges=None if model.merges is None else model.merges.triples,
                scores=model.frequencies if model.scores is None else model.scores,
                kinds=model.kinds or None,
            )
        except ValueError as error:
            raise FormatError(f"the tokenizer contradicts itself: {error}") from error

    @cached_property
    def _decoder(self) -> _core.Decoder:
        try:
            return _core.Decoder(json.dumps([component(stage) for stage in self._parts.decoder]))
        except ValueError as error:
            raise FormatError(f"the tokenizer's decoder cannot be run: {error}") from error

    @cached_property
    def bare(self) -> StagedEngine:
        return StagedEngine(replace(self._parts, normalizer=(), pre_tokenizer=(), decoder=()))

    def matcher(self, contents: Sequence[bytes], ids: Sequence[int], flags: bytes | None) -> _core.SpecialMatcher:
        return _core.SpecialMatcher(contents, ids, flags, self._stages, self._parts.codebook)

    def encode(
        self,
        block: Block,
        matcher: _core.SpecialMatcher | None = None,
        threads: int = 1,
        sampling: Sampling | None = None,
        place: Place | None = None,
    ) -> tuple[memoryview, memoryview]:
        place = place or Place()
        try:
            ids, ends = self._pipeline.encode(
                block.data,
                block.ends,
                matcher,
                threads,
                block.continued,
                None if sampling is None else (sampling.way, sampling.number, sampling.nbest),
                (sampling.seed if sampling else 0, place.document, place.offset),
            )
        except ValueError as error:
            raise self._failed(error, block.data) from error
        return memoryview(ids), memoryview(ends)

    def encode_text(self, data: bytes, matcher: _core.SpecialMatcher | None = None, threads: int = 1) -> memoryview:
        return self.encode(Block.of([data]), matcher, threads)[0]

    def count(self, block: Block, matcher: _core.SpecialMatcher | None = None, threads: int = 1) -> memoryview:
        try:
            return memoryview(self._pipeline.count(block.data, block.ends, matcher, threads, block.continued))
        except ValueError as error:
            raise self._failed(error, block.data) from error

    def spans(
        self, data: bytes | memoryview, matcher: _core.SpecialMatcher | None, *, continued: bool = False
    ) -> tuple[memoryview, memoryview, memoryview]:
        try:
            ids, starts, ends = self._pipeline.spans(data, matcher, continued)
        except ValueError as error:
            raise self._failed(error, data) from error
        return memoryview(ids), memoryview(starts), memoryview(ends)

    def place(self, data: bytes, matcher: _core.SpecialMatcher | None) -> Placed:
        ids, starts, ends = self.spans(data, matcher)
        special_ids = {token.token_id for token in self._parts.special_tokens}
        return Placed(ids, starts, ends, bytes(map(special_ids.__contains__, ids)))

    def nbest(self, piece: bytes, count: int) -> list[tuple[tuple[int, ...], float]]:
        try:
            return [(tuple(memoryview(ids)), score) for ids, score in self._pipeline.nbest(piece, count)]
        except ValueError as error:
            raise self._failed(error, piece) from error

    def normalize(self, text: bytes, *, first: bool = True) -> bytes:
        return self._stages.normalize(text, first=first)[0]

    def pieces(self, text: bytes, *, first: bool = True) -> PieceSpans:
        data, starts, ends, source_starts, source_ends = self._stages.pre_tokenize(text, first=first)
        return PieceSpans(
            data, memoryview(starts), memoryview(ends), memoryview(source_starts), memoryview(source_ends)
        )

    def piece_ends(self, text: bytes) -> None:
        return None

    def count_pieces(
        self, counts: _core.Counts, block: Block, matcher: _core.SpecialMatcher | None, threads: int
    ) -> None:
        counts.add_staged(self._stages, matcher, block.data, block.ends, threads, block.continued)

    def tally(
        self,
        tally: _core.Tally,
        block: Block,
        matcher: _core.SpecialMatcher | None,
        threads: int,
        *,
        tiled: bool,
    ) -> tuple[memoryview, memoryview]:
        try:
            ids, ends = tally.encode(
                self._pipeline, block.data, block.ends, matcher, threads,
                continued=block.continued, unfinished=block.unfinished,
            )  # fmt: skip
        except ValueError as error:
            raise self._failed(error, block.data) from error
        return memoryview(ids), memoryview(ends)

    def failures(
        self, block: Block, ids: memoryview | array[int], ends: memoryview | array[int], threads: int
    ) -> memoryview:
        special, vocabulary = self._parts.special_table, self._parts.vocabulary
        if not self._parts.decoder:
            failed = _core.joined_failures(self._pipeline, block.data, block.ends, ids, ends, *special, threads)
        else:
            token_ends = memoryview(vocabulary.ends).toreadonly()
            failed = _core.chain_failures(
                self._decoder, block.data, block.ends, ids, ends,
                vocabulary.blob, token_ends, *special, self._skipped, threads,
            )  # fmt: skip
        return memoryview(failed)

    def _failed(self, error: ValueError, data: bytes | memoryview) -> InputError:
        on_bytes = isinstance(self._parts.model, (RankBpe, MergeBpe))
        return cannot_encode(error, data) if on_bytes else cannot_spell(error, data)

    def safe_cut(self, data: bytes | memoryview, /) -> int:
        return self._pipeline.safe_cut(data)

    def decode(self, ids: memoryview | array[int]) -> bytes:
        special, vocabulary = self._parts.special_table, self._parts.vocabulary
        if not self._parts.decoder:
            return self._pipeline.decode(ids, *special)
        ends = memoryview(vocabulary.ends).toreadonly()
        return self._decoder.decode(ids, vocabulary.blob, ends, *special, self._skipped)
