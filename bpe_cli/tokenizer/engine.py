"""How a tokenizer runs: the short way of plain byte-level BPE, and the way through all stages.

Both compile the tokenizer's value for the core when they are made, and answer in the same words.
``Tokenizer`` chooses; nobody else needs to know which of them it is.
"""

from __future__ import annotations

from array import array
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from bpe_cli import _core
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.stages import MergeBpe, PrefixSpace, RankBpe, SpaceMarksDecoder, Split
from bpe_cli.stages.splitters import compile_splitter, segments
from bpe_cli.support.blocks import Block
from bpe_cli.support.core_arguments import cannot_encode, cannot_spell
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from bpe_cli.tokenizer.tokenizer import Tokenizer

SpecialTable: TypeAlias = "tuple[array[int], bytes, array[int]]"
"""Special tokens for decoding: ids ascending, all bytes, where each ends."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Vary an encoding at random; the same seed gives the same ids for any threads and blocks.

    Attributes:
        way: ``dropout`` leaves each merge out with probability ``number``, drawn anew at each step
            (Provilkov et al., arXiv:1910.13267); ``lasting-dropout`` leaves it out for good, as
            SentencePiece does; ``segmentation`` draws by probability to the power of ``number``.
        number: The probability, or the power.
        nbest: For ``segmentation``: among how many of the best; 0 for all.
        seed: Any number below 2^64.
    """

    way: Literal["dropout", "lasting-dropout", "segmentation"]
    number: float
    nbest: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.way == "segmentation":
            if not 0 <= self.number < float("inf"):
                raise UsageError(f"alpha {self.number} is no number from 0 up")
        elif not 0 <= self.number <= 1:
            raise UsageError(f"a dropout of {self.number} is no probability: it lies between 0 and 1")
        if not 0 <= self.nbest <= 1024:
            raise UsageError(f"at most 1,024 of the best are drawn from, not {self.nbest:,}")
        if not 0 <= self.seed < 1 << 64:
            raise UsageError("the seed is a number from 0 up, below 2^64")


@dataclass(frozen=True, slots=True)
class Place:
    """State where a block stands in the whole input.

    Attributes:
        document: The number of its first document, from 0.
        offset: How many bytes of that document came in earlier blocks.
    """

    document: int = 0
    offset: int = 0


def is_plain(tokenizer: Tokenizer) -> bool:
    """Return whether the short way can run a tokenizer: byte-level BPE whose text is only split."""
    spaces = [isinstance(stage, PrefixSpace) for stage in tokenizer.pre_tokenizer]
    return (
        isinstance(tokenizer.model, (RankBpe, MergeBpe))
        and not tokenizer.normalizer
        and not tokenizer.decoder
        and not any(spaces[1:])
        and all(isinstance(stage, (PrefixSpace, Split)) for stage in tokenizer.pre_tokenizer)
        and all(stage == Split(stage.pattern) for stage in tokenizer.pre_tokenizer if isinstance(stage, Split))
    )


class PlainRunner:
    """Run byte-level BPE by the core's ``Engine``.

    Raises:
        FormatError: The tables contradict each other.
        UsageError: A pattern does not compile.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        patterns = tuple(stage.pattern for stage in tokenizer.pre_tokenizer if isinstance(stage, Split))
        self._prefix_space = any(isinstance(stage, PrefixSpace) for stage in tokenizer.pre_tokenizer)
        self.splitter = compile_splitter(patterns)
        self.slow_patterns = () if isinstance(self.splitter, _core.Splitter) else patterns
        self._model = tokenizer.live_model

    @cached_property
    def engine(self) -> _core.Engine:
        """The compiled model."""
        try:
            return self._compile()
        except ValueError as error:
            raise FormatError(f"the tokenizer contradicts itself: {error}") from error

    def _compile(self) -> _core.Engine:
        model, vocabulary = self._model, self._model.vocabulary
        splitter = self.splitter if isinstance(self.splitter, _core.Splitter) else _core.Splitter("null")
        if vocabulary.embedded is not None and not isinstance(model, MergeBpe):
            return _core.Engine.embedded(vocabulary.embedded, splitter, self._prefix_space)
        merges = model.merges.triples if isinstance(model, MergeBpe) else None
        return _core.Engine(
            splitter,
            prefix_space=self._prefix_space,
            blob=vocabulary.blob,
            ends=vocabulary.ends,
            merges=merges,
            whole_pieces=merges is None or (isinstance(model, MergeBpe) and model.ignore_merges),
        )

    def encode(self, block: Block, matcher: _core.SpecialMatcher | None, threads: int) -> tuple[memoryview, memoryview]:
        """Encode a block: ids of all documents (u32), and where each document's ids end (u64)."""
        if not isinstance(self.splitter, _core.Splitter):
            return self._encode_slowly(block, matcher)
        try:
            ids, ends = self.engine.encode(block.data, block.ends, matcher, threads, block.continued)
        except ValueError as error:
            raise cannot_encode(error, block.data) from error
        return memoryview(ids), memoryview(ends)

    def _encode_slowly(self, block: Block, matcher: _core.SpecialMatcher | None) -> tuple[memoryview, memoryview]:
        """Encode with patterns that only the ``regex`` module can run."""
        ids, ends = array("I"), array("Q")
        offset = 0
        for number, document in enumerate(block.documents()):
            continued = block.continued and number == 0
            for segment, special_id in segments(bytes(document), matcher):
                if special_id is not None:
                    ids.append(special_id)
                else:
                    spaced = self._prefix_space and not continued and not segment.startswith(b" ")
                    text = b" " + segment if spaced else segment
                    try:
                        pieces = self.engine.encode_pieces(text, self.splitter.split(text))
                    except ValueError as error:
                        raise cannot_encode(error, text, offset - spaced) from error
                    ids.frombytes(memoryview(pieces).cast("B"))
                offset += len(segment)
                continued = False
            ends.append(len(ids))
        return memoryview(ids), memoryview(ends)

    def count(self, block: Block, matcher: _core.SpecialMatcher | None, threads: int) -> memoryview:
        """Count the tokens of each document of a block (u64)."""
        if isinstance(self.splitter, _core.Splitter):
            try:
                return memoryview(self.engine.count(block.data, block.ends, matcher, threads, block.continued))
            except ValueError as error:
                raise cannot_encode(error, block.data) from error
        _, ends = self.encode(block, matcher, threads)
        return memoryview(array("Q", (end - start for start, end in zip([0, *ends], ends, strict=False))))

    def tally(self, tally: _core.Tally, block: Block, matcher: _core.SpecialMatcher | None, threads: int) -> None:
        """Encode a block, count what becomes of it, and decode it again.

        Not where special tokens that take white space along are looked for, and not where any are if there is a
        prefix space.
        """
        if not isinstance(self.splitter, _core.Splitter):
            ids, ends = self._encode_slowly(block, matcher)
            tally.add(
                block.data, block.ends, ids, ends,
                prefix_space=self._prefix_space, continued=block.continued, unfinished=block.unfinished,
            )  # fmt: skip
            return
        try:
            tally.encode_plain(
                self.engine, block.data, block.ends, matcher, threads,
                continued=block.continued, unfinished=block.unfinished,
            )  # fmt: skip
        except ValueError as error:
            raise cannot_encode(error, block.data) from error

    def safe_cut(self, data: bytes | memoryview) -> int:
        """Return the last offset at which a text can be cut, whatever follows; 0 for none."""
        return self.splitter.safe_cut(data)

    def decode(self, ids: memoryview | array[int], special: SpecialTable) -> bytes:
        """Return the bytes of ids."""
        return self.engine.decode(ids, *special)


class StagedRunner:
    """Run any tokenizer by the core's ``Pipeline``.

    Raises:
        FormatError: The tables contradict each other, or a stage cannot be.
    """

    slow_patterns: tuple[str, ...] = ()

    def __init__(self, tokenizer: Tokenizer) -> None:
        from bpe_cli.stages.component_json import core_spec

        try:
            self.stages = _core.Stages(core_spec(tokenizer.normalizer, tokenizer.pre_tokenizer))
        except ValueError as error:
            raise FormatError(f"the tokenizer's stages cannot be run: {error}") from error
        self._model = tokenizer.live_model
        self._decoders = tokenizer.decoder
        self._decoded = tokenizer.model.vocabulary
        self._skipped = None
        if any(isinstance(stage, SpaceMarksDecoder) for stage in tokenizer.decoder):
            # SentencePiece's control pieces read as nothing, its unknown one as a text of its own.
            unk_id = tokenizer.model.unk_id
            self._skipped = bytes(
                2 if token.token_id == unk_id else int(token.special) for token in tokenizer.special_tokens
            )

    @cached_property
    def pipeline(self) -> _core.Pipeline:
        """The compiled stages and model."""
        from bpe_cli.stages.component_json import core_model

        model, vocabulary = self._model, self._model.vocabulary
        merges = model.merges
        try:
            return _core.Pipeline(
                self.stages,
                core_model(model),
                blob=vocabulary.blob,
                ends=vocabulary.ends,
                merges=None if merges is None else merges.triples,
                scores=model.frequencies if model.scores is None else model.scores,
                kinds=model.kinds or None,
            )
        except ValueError as error:
            raise FormatError(f"the tokenizer contradicts itself: {error}") from error

    @cached_property
    def _decoder(self) -> _core.Decoder:
        import json

        from bpe_cli.stages.component_json import component

        try:
            return _core.Decoder(json.dumps([component(stage) for stage in self._decoders]))
        except ValueError as error:
            raise FormatError(f"the tokenizer's decoder cannot be run: {error}") from error

    def encode(
        self,
        block: Block,
        matcher: _core.SpecialMatcher | None,
        threads: int,
        sampling: Sampling | None = None,
        place: Place | None = None,
    ) -> tuple[memoryview, memoryview]:
        """Encode a block: ids of all documents (u32), and where each document's ids end (u64)."""
        place = place or Place()
        try:
            ids, ends = self.pipeline.encode(
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

    def count(self, block: Block, matcher: _core.SpecialMatcher | None, threads: int) -> memoryview:
        """Count the tokens of each document of a block (u64)."""
        try:
            return memoryview(self.pipeline.count(block.data, block.ends, matcher, threads, block.continued))
        except ValueError as error:
            raise self._failed(error, block.data) from error

    def spans(
        self, data: bytes | memoryview, matcher: _core.SpecialMatcher | None, *, continued: bool = False
    ) -> tuple[memoryview, memoryview, memoryview]:
        """Encode one document, or a part of one: ids (u32), and start and end of what each stands for (u64)."""
        try:
            ids, starts, ends = self.pipeline.spans(data, matcher, continued)
        except ValueError as error:
            raise self._failed(error, data) from error
        return memoryview(ids), memoryview(starts), memoryview(ends)

    def tally(
        self, tally: _core.Tally, block: Block, matcher: _core.SpecialMatcher | None, threads: int
    ) -> tuple[memoryview, memoryview]:
        """Encode a block and count what becomes of it: ids (u32), and where each document's end (u64)."""
        try:
            ids, ends = tally.encode(
                self.pipeline, block.data, block.ends, matcher, threads,
                continued=block.continued, unfinished=block.unfinished,
            )  # fmt: skip
        except ValueError as error:
            raise self._failed(error, block.data) from error
        return memoryview(ids), memoryview(ends)

    def failures(
        self, block: Block, ids: memoryview | array[int], ends: memoryview | array[int],
        special: SpecialTable, threads: int,
    ) -> memoryview:  # fmt: skip
        """Return the numbers (u64) of the documents of a block, all whole, that their ids do not decode to."""
        if not self._decoders:
            found = _core.joined_failures(self.pipeline, block.data, block.ends, ids, ends, *special, threads)
        else:
            vocabulary = self._decoded
            token_ends = memoryview(vocabulary.ends).toreadonly()
            found = _core.chain_failures(
                self._decoder, block.data, block.ends, ids, ends,
                vocabulary.blob, token_ends, *special, self._skipped, threads,
            )  # fmt: skip
        return memoryview(found)

    def _failed(self, error: ValueError, data: bytes | memoryview) -> InputError:
        on_bytes = isinstance(self._model, (RankBpe, MergeBpe))
        return cannot_encode(error, data) if on_bytes else cannot_spell(error, data)

    def safe_cut(self, data: bytes | memoryview) -> int:
        """Return the last offset at which a text can be cut, whatever follows; 0 for none."""
        return self.pipeline.safe_cut(data)

    def decode(self, ids: memoryview | array[int], special: SpecialTable) -> bytes:
        """Return the bytes of a document's ids."""
        if not self._decoders:
            return self.pipeline.decode(ids, *special)
        vocabulary = self._decoded
        ends = memoryview(vocabulary.ends).toreadonly()
        return self._decoder.decode(ids, vocabulary.blob, ends, *special, self._skipped)
