"""The engine: a tokenizer compiled for the core.

Length: all that is done with text and ids, each in a few lines.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

from bpe_cli import _core
from bpe_cli.errors import FormatError, InputError
from bpe_cli.stages import NFC, MergeBpe, PrefixSpace, SpaceMarksDecoder
from bpe_cli.stages.splitters import RegexSplitter, compile_splitter, segments
from bpe_cli.support.blocks import Block
from bpe_cli.support.cached import cached_property
from bpe_cli.support.core_arguments import bytes_of, cannot_encode, cannot_spell
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.fast_typing import TYPE_CHECKING, TypeVar, cast
from bpe_cli.tokenizer.engine import Place, only_splits, split_patterns, variation

if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Buffer

    from bpe_cli.tokenizer.encoded import PieceSpans, Placed
    from bpe_cli.tokenizer.engine import EngineParts, Sampling, SpecialTable, Text
    from bpe_cli.tokenizer.engine.by_regex import ByRegex

T = TypeVar("T")

_NO_SPECIALS = b"", b"", b""


def _laid_together(texts: Sequence[Text]) -> Block:
    return Block.of([bytes_of(text, f"texts[{place}]") for place, text in enumerate(texts)])


class Engine:
    """Run a compiled tokenizer.

    Whatever encodes raises ``InputError`` if a byte of the text has no token, ``FormatError`` if the tokenizer's
    tables contradict each other; ``threads`` changes no result.

    Text that is only split goes a short way, and so does what NFC leaves as it is before text is split. What the short
    way does not do (sampling, spans of tokens that take whitespace along) goes through all stages, as everything of
    other tokenizers does: their encoder is compiled when it is needed.

    Attributes:
        slow_patterns: The split patterns that the core has no scanner for; empty when all is fast.
        has_spans: Whether tokens' bytes, one after the other, are those of the text (but for a space put before).
        longest_text: The most bytes that a text has without a place to cut it; None for any number.

    Raises:
        FormatError: if a stage cannot be.
        UsageError: if a pattern does not compile.
    """

    slow_patterns: tuple[str, ...] = ()
    has_spans = False
    longest_text: int | None = 1 << 32

    def __init__(self, parts: EngineParts, *, through_stages: bool = False) -> None:
        """Compile the stages.

        Args:
            parts: The tokenizer's.
            through_stages: Whether to go the long way even where there is a short one.
        """
        self._parts = parts
        self._through_stages = through_stages
        self._by_regex: ByRegex | None = None
        stages = parts.pre_tokenizer
        patterns = split_patterns(parts.model, parts.normalizer, stages, parts.decoder)
        splitter = None if patterns is None or through_stages else compile_splitter(patterns)
        if isinstance(splitter, RegexSplitter) and not only_splits(parts.model, (), stages, ()):
            splitter = None  # the core runs it among the stages
        self._only_splits = splitter is not None
        self._prefix_space = any(isinstance(stage, PrefixSpace) for stage in stages)
        if patterns is None or splitter is None:
            _ = self._stages
            return
        self.has_spans = parts.codebook is None and not any(each.lstrip or each.rstrip for each in parts.special_tokens)
        self._splitter = splitter
        if not isinstance(self._splitter, _core.Splitter):
            from bpe_cli.tokenizer.engine.by_regex import ByRegex

            self._by_regex = ByRegex(self._splitter, self._prefix_space)
            self.slow_patterns = patterns
            self.longest_text = None
        elif not self._splitter.knows_cuts:
            self.longest_text = None

    # -- compiled parts ------------------------------------------------------------------------

    @cached_property
    def _stages(self) -> _core.Stages:
        """The compiled stages before the model."""
        from bpe_cli.stages.component_json import core_spec

        try:
            return _core.Stages(core_spec(self._parts.normalizer, self._parts.pre_tokenizer))
        except ValueError as error:
            raise FormatError(f"the tokenizer's stages cannot be run: {error}") from error

    @cached_property
    def _encoder(self) -> _core.Encoder:
        """The compiled encoder, by the short way if there is one."""
        if self._only_splits:
            return self._short(self._splitter if isinstance(self._splitter, _core.Splitter) else _core.Splitter("null"))
        splitter = self._behind_nfc
        return self._staged if splitter is None else self._short(splitter, self._stages)

    def _short(self, splitter: _core.Splitter, stages: _core.Stages | None = None) -> _core.Encoder:
        """Compile the short way, and the stages for text that does not stay as it is before it is split."""
        model, vocabulary = self._parts.model, self._parts.model.vocabulary
        try:
            if vocabulary.embedded is not None and not isinstance(model, MergeBpe):
                return _core.Encoder.embedded(vocabulary.embedded, splitter, self._prefix_space, stages)
            merges, space = model.merges, self._prefix_space
            whole = merges is None or model.ignore_merges
            tables = vocabulary.written
            if tables is not None and merges is not None and merges.written is tables:
                return _core.Encoder.written(splitter, tables, prefix_space=space, whole_pieces=whole, stages=stages)
            return _core.Encoder.plain(
                splitter,
                (vocabulary.blob, vocabulary.ends),
                prefix_space=space,
                merges=None if merges is None else merges.triples,
                whole_pieces=whole,
                stages=stages,
            )
        except ValueError as error:
            raise FormatError(f"the tokenizer contradicts itself: {error}") from error

    @cached_property
    def _behind_nfc(self) -> _core.Splitter | None:
        """What splits text that NFC leaves as it is, if nothing else is done to it; None if there is no short way."""
        parts = self._parts
        if self._through_stages or not parts.normalizer or not all(isinstance(each, NFC) for each in parts.normalizer):
            return None
        patterns = split_patterns(parts.model, (), parts.pre_tokenizer, parts.decoder)
        splitter = None if patterns is None else compile_splitter(patterns)
        return splitter if isinstance(splitter, _core.Splitter) else None

    @cached_property
    def _staged(self) -> _core.Encoder:
        """The compiled encoder with all stages."""
        from bpe_cli.stages.component_json import core_model

        model = self._parts.model
        try:
            return _core.Encoder(
                self._stages,
                core_model(model),
                (model.vocabulary.blob, model.vocabulary.ends),
                merges=model.events if model.merges is None else model.merges.triples,
                scores=model.frequencies if model.scores is None else model.scores,
                kinds=model.kinds or None,
            )
        except ValueError as error:
            raise FormatError(f"the tokenizer contradicts itself: {error}") from error

    @cached_property
    def _special_ids(self) -> frozenset[int]:
        return frozenset(token.token_id for token in self._parts.special_tokens)

    @cached_property
    def _indifferent(self) -> _core.Encoder:
        """What only recognizes tokens, in normalized text too."""
        from bpe_cli.tokenizer.engine.recognizing import indifferent

        return indifferent(self._stages, self._special_ids)

    @cached_property
    def _decoder(self) -> _core.Decoder:
        import json

        from bpe_cli.stages.component_json import component

        try:
            return _core.Decoder(json.dumps([component(stage) for stage in self._parts.decoder]))
        except ValueError as error:
            raise FormatError(f"the tokenizer's decoder cannot be run: {error}") from error

    @cached_property
    def bare(self) -> Engine:
        """The model alone, which takes a document for a piece."""
        parts = replace(self._parts, normalizer=(), pre_tokenizer=(), decoder=())
        return Engine(parts, through_stages=not self._only_splits)

    def matcher(self, contents: Sequence[bytes], ids: Sequence[int], flags: bytes | None) -> _core.SpecialMatcher:
        """Compile what is looked for in text, and in the text that the normalizer makes of it.

        Raises:
            FormatError: if the normalizer fails on a token.
        """
        stages = None if self._only_splits else self._stages
        try:
            return _core.SpecialMatcher(contents, ids, flags, stages, self._parts.codebook)
        except ValueError as error:
            raise FormatError(f"the tokenizer's special tokens cannot be looked for: {error}") from error

    def clear_cache(self) -> None:
        """Free the memory in which encoding remembers pieces."""
        for encoder in self.__dict__.keys() & {"_encoder", "_staged", "_indifferent"}:
            self.__dict__[encoder].clear_cache()
        if "bare" in self.__dict__:
            self.bare.clear_cache()

    # -- text to ids ---------------------------------------------------------------------------

    def encode(
        self,
        block: Block,
        matcher: _core.SpecialMatcher | None = None,
        threads: int = 1,
        sampling: Sampling | None = None,
        place: Place | None = None,
    ) -> tuple[memoryview, memoryview]:
        """Encode a block: ids of all documents (u32), and where each document's ids end (u64)."""
        try:
            if sampling is not None:
                ids, ends = self._staged.sample(block, variation(sampling, place or Place()), matcher, threads)
            elif self._by_regex is not None:
                return self._by_regex.encode(self._encoder, block, matcher)
            else:
                ids, ends = self._encoder.encode(block.data, block.ends, matcher, threads, block.continued)
        except ValueError as error:
            raise self._failed(error, block.data, block.ends) from error
        return memoryview(ids), memoryview(ends)

    def encode_text(self, text: Text, matcher: _core.SpecialMatcher | None = None, threads: int = 1) -> list[int]:
        """Encode one text, as ``encode`` does a block of one; of short texts, in a fraction of the time."""
        if self._by_regex is None:
            try:
                return self._encoder.encode_text(text, matcher, threads)
            except (TypeError, UnicodeEncodeError):
                pass  # not as it is
            except ValueError as error:
                raise self._failed(error, bytes_of(text)) from error
        return self.encode(Block.of([bytes_of(text)]), matcher)[0].tolist()

    @property
    def encoder_of_texts(self) -> _core.Encoder | None:
        """What encodes any text by itself; None if ``regex`` has to split it first."""
        return self._encoder if self._by_regex is None else None

    def encode_texts(
        self, texts: Sequence[Text], matcher: _core.SpecialMatcher | None = None, threads: int = 1
    ) -> tuple[memoryview, memoryview]:
        """Encode texts as ``encode`` does a block of them, from where they lie."""
        found = self._as_they_lie("encode_texts", texts, matcher, threads)
        if found is None:
            return self.encode(_laid_together(texts), matcher, threads)
        return memoryview(found[0]), memoryview(found[1])

    def count_texts(
        self, texts: Sequence[Text], matcher: _core.SpecialMatcher | None = None, threads: int = 1
    ) -> memoryview:
        """Count the tokens of each text (u64), from where they lie."""
        counts = self._as_they_lie("count_texts", texts, matcher, threads)
        return self.count(_laid_together(texts), matcher, threads) if counts is None else memoryview(counts)

    def _as_they_lie(
        self, method: str, texts: Sequence[Text], matcher: _core.SpecialMatcher | None, threads: int
    ) -> Any:
        """Call a method of the encoder with texts; None if it does not take these as they are."""
        try:
            return None if self._by_regex is not None else getattr(self._encoder, method)(texts, matcher, threads)
        except (TypeError, UnicodeEncodeError):
            return None
        except ValueError as error:
            block = Block.of(map(bytes_of, texts))
            raise self._failed(error, block.data, block.ends) from error

    def count(self, block: Block, matcher: _core.SpecialMatcher | None = None, threads: int = 1) -> memoryview:
        """Count the tokens of each document of a block (u64)."""
        if self._by_regex is not None:
            _, ends = self.encode(block, matcher)
            return memoryview(array("Q", (end - start for start, end in zip([0, *ends], ends, strict=False))))
        try:
            return memoryview(self._encoder.count(block.data, block.ends, matcher, threads, block.continued))
        except ValueError as error:
            raise self._failed(error, block.data, block.ends) from error

    def spans(
        self, data: bytes | memoryview, matcher: _core.SpecialMatcher | None, *, continued: bool = False
    ) -> tuple[memoryview, memoryview, memoryview]:
        """Encode one document, or a part of one, through all stages.

        Returns:
            Ids (u32), and start and end in ``data`` of what each stands for (u64).
        """
        try:
            ids, starts, ends = self._staged.spans(data, matcher, continued)
        except ValueError as error:
            raise self._failed(error, data) from error
        return memoryview(ids), memoryview(starts), memoryview(ends)

    def place(self, data: bytes, matcher: _core.SpecialMatcher | None) -> Placed:
        """Encode one text; ``Tokenizer.tokens`` says what spans mean.

        Complexity: linear; 21 bytes of memory for each token.
        """
        from bpe_cli.tokenizer.encoded import Placed

        if not self.has_spans:
            columns = self.spans(data, matcher)
            return Placed(*columns, self._recognized(data, matcher, columns))
        ids, _ = self.encode(Block.of([data]), matcher)
        places = self._encoder.token_places(ids, self._parts.special_table)
        begins, joined = memoryview(places[0]), memoryview(places[1])
        if matcher is None and not self._prefix_space:
            return Placed(ids, begins, joined, bytes(len(ids)))
        starts, ends, special = array("Q"), array("Q"), bytearray()
        # How much further the joined tokens are than the text: by spaces that are put before a segment, which are in
        # its first token, and by special tokens whose id has other bytes as an ordinary token.
        position = ahead = first = 0
        for segment, special_id in segments(data, matcher):
            starts.append(position)
            position += len(segment)
            if special_id is None:
                ahead += self._prefix_space and not segment.startswith(b" ")
                last = bisect_left(joined, position + ahead, first) + 1
            else:
                ahead = joined[first] - position
                last = first + 1
            ends.extend(end - ahead for end in joined[first:last])
            starts.extend(ends[first : last - 1])
            special += bytes([special_id is not None]) * (last - first)
            first = last
        return Placed(ids, starts, ends, bytes(special))

    def _recognized(
        self, data: bytes, matcher: _core.SpecialMatcher | None, columns: tuple[memoryview, memoryview, memoryview]
    ) -> bytes:
        """Return a byte for each token that ``spans`` gave: 1 if it was recognized in the text."""
        if matcher is None:
            return bytes(len(columns[0]))
        maybe = bytes(map(self._special_ids.__contains__, columns[0]))
        if 1 not in maybe:
            return maybe
        from bpe_cli.tokenizer.engine.recognizing import marks

        found: Iterable[tuple[int, int, int]]
        if matcher.looks_in_normalized:
            ids, starts, ends = self._indifferent.spans(data, matcher, False)
            found = zip(memoryview(starts), memoryview(ends), memoryview(ids), strict=True)
        else:
            found = matcher.find_all(data)
        return marks(columns, maybe, (each for each in found if each[2] in self._special_ids))

    def token_objects(
        self,
        data: bytes,
        matcher: _core.SpecialMatcher | None,
        kind: tuple[type[T], dict[int, bytes], Callable[[int], bytes]],
    ) -> list[T]:
        """Encode one text, and make an object of each token; ``Tokenizer.tokens`` says what they are."""
        from bpe_cli.tokenizer.encoded import well_formed

        placed = self.place(data, matcher)
        columns = (
            placed.ids,
            cast("Buffer", placed.starts),
            cast("Buffer", placed.ends),
            placed.special,
        )  # as made above
        return self._encoder.token_objects(columns, kind, well_formed(data))

    def nbest(self, piece: bytes, count: int) -> list[tuple[tuple[int, ...], float]]:
        """Return the best segmentations of one piece with their scores, best first; the model is a unigram model."""
        try:
            return [(tuple(memoryview(ids)), score) for ids, score in self._staged.nbest(piece, count)]
        except ValueError as error:
            raise self._failed(error, piece) from error

    def tally(
        self, tally: _core.Tally, block: Block, matcher: _core.SpecialMatcher | None, threads: int, *, tiled: bool
    ) -> tuple[memoryview, memoryview] | None:
        """Encode a block and count the results.

        Args:
            tally: What is added to.
            block: The documents.
            matcher: What is looked for in them.
            threads: Number of threads.
            tiled: Whether tokens found by ``matcher`` stand in the text as they are: they take no whitespace along,
                and no space is put before what follows them.

        Returns:
            The ids (u32) and where each document's end (u64); None if the tally has decoded them already.
        """
        if self._by_regex is not None and (tiled or self.has_spans):
            if not tiled:
                return self._by_regex.tally_placed(tally, block, lambda document: self.place(document, matcher))
            self._by_regex.tally(tally, block, *self.encode(block, matcher))
            return None
        try:
            is_plain = tiled and self._only_splits
            encoded = tally.encode(self._encoder if is_plain else self._staged, block, matcher, threads)
        except ValueError as error:
            raise self._failed(error, block.data, block.ends) from error
        return None if encoded is None else (memoryview(encoded[0]), memoryview(encoded[1]))

    def _failed(self, error: ValueError, data: bytes | memoryview, ends: Sequence[int] = ()) -> InputError:
        if self._parts.model.byte_level:
            return cannot_encode(error, data, ends=ends)
        return cannot_spell(error, data, ends)

    # -- text to pieces ------------------------------------------------------------------------

    def normalize(self, text: bytes, *, first: bool = True) -> bytes:
        """Return what the normalizer makes of a stretch of text; ``first``: a document begins with it."""
        return text if self._only_splits else self._stages.normalize(text, first=first)[0]

    def pieces(self, text: bytes, *, first: bool = True) -> PieceSpans:
        """Return the pieces that the model gets of a stretch of text without special tokens, and their places in it."""
        from bpe_cli.tokenizer.encoded import PieceSpans

        if not self._only_splits:
            data, *columns = self._stages.pre_tokenize(text, first=first)
            return PieceSpans(data, *[memoryview(column) for column in columns])
        spaced = self._prefix_space and text[:1] not in (b"", b" ")
        data = b" " + text if spaced else text
        ends = memoryview(self._splitter.split(data)).tolist()
        starts = [0, *ends[:-1]] if ends else []
        return PieceSpans(data, starts, ends, [max(at - spaced, 0) for at in starts], [at - spaced for at in ends])

    def piece_ends(self, text: bytes) -> memoryview | None:
        """Return the end of every piece of a text without special tokens; None if the pieces are not parts of it."""
        return memoryview(self._splitter.split(text)) if self._only_splits else None

    def count_pieces(
        self, counts: _core.Counts, block: Block, matcher: _core.SpecialMatcher | None, threads: int
    ) -> None:
        """Add the pieces of a block to counts.

        Raises:
            ValueError: if the text cannot be cut: an expression takes too long, or the text is too long.
            MemoryBoundError: if there are more different pieces than the counts' memory holds.
        """
        if not self._only_splits:
            counts.add_staged(block, self._stages, matcher, threads)
            return
        from bpe_cli.stages.counting import SplitText

        SplitText(self._splitter, self._prefix_space).count_pieces(counts, block, matcher, threads)

    def safe_cut(self, data: bytes | memoryview, /) -> int:
        """Return the last offset at which a text can be cut, whatever follows; 0 for none."""
        return (self._splitter if self._only_splits else self._encoder).safe_cut(data)

    def cut_in_piece(self, data: bytes | memoryview, /) -> int:
        """Return an offset where a cut changes no id, though a piece; 0 when none is known."""
        return self._encoder.cut_in_piece(data)

    # -- ids to text ---------------------------------------------------------------------------

    def failures(
        self, block: Block, ids: memoryview | array[int], ends: memoryview | array[int], threads: int
    ) -> memoryview:
        """Return the numbers (u64) of the documents of a block, all whole, that their ids do not decode to."""
        if self._parts.decoder:
            failed = _core.chain_failures(self._decoder, block, ids, ends, self._tables, threads)
        else:
            failed = _core.joined_failures(self._encoder, block, ids, ends, self._parts.special_table, threads)
        return memoryview(failed)

    @cached_property
    def _tables(self) -> tuple[tuple[bytes, memoryview], SpecialTable, bytes | None]:
        """What the chain of decoders reads by; the core copies an array for each text, and bytes never."""
        vocabulary = self._parts.vocabulary
        ends = memoryview(vocabulary.ends.tobytes()).cast("I")
        return (vocabulary.blob, ends), self._parts.special_table, self._skipped

    @cached_property
    def _skipped(self) -> bytes | None:
        """How special tokens read for SentencePiece: control pieces as nothing, the unknown one as its own text."""
        if not any(isinstance(stage, SpaceMarksDecoder) for stage in self._parts.decoder):
            return None
        unk_id = self._parts.model.unk_id
        return bytes(2 if token.token_id == unk_id else int(token.special) for token in self._parts.special_tokens)

    @cached_property
    def left_out(self) -> frozenset[int]:
        """The ids that are left out before any decoder sees them: SentencePiece's control pieces."""
        read = zip(self._parts.special_tokens, self._skipped or b"", strict=False)
        return frozenset(token.token_id for token, how in read if how == 1)

    @cached_property
    def _specials_apart(self) -> bool:
        """Whether the compiled model has no token for any id that decodes to a special one."""
        return self._only_splits and not self._parts.model.vocabulary.among(self._parts.special_table[0])

    def decode(self, ids: memoryview | array[int]) -> bytes:
        """Return the bytes of a document's ids.

        Raises:
            ValueError: if an id has no token.
        """
        if self._parts.decoder:
            return self._decoder.decode(ids, self._tables)
        if self._specials_apart:  # then most texts need no more: looking at the table takes a short one as long again
            try:
                return self._encoder.decode(ids, _NO_SPECIALS)
            except ValueError:
                pass
        return self._encoder.decode(ids, self._parts.special_table)

    def last_cut(self, ids: memoryview | array[int]) -> int:
        """Return the last place where ids can be cut; 0 for none.

        What is behind it, decoded behind the id before it, reads as in the whole once that one's own text is left out.
        """
        return self._decoder.last_cut(ids, self._tables) if self._parts.decoder else len(ids)

    @property
    def single_ids(self) -> tuple[_core.Encoder, memoryview | array[int]]:
        """What knows the bytes of single ids, where there are no decoders, and the ids (u32) that it does not know."""
        return self._encoder, self._parts.special_table[0]

    def decode_lists(self, lists: list[Any], threads: int) -> list[str | bytes] | None:
        """Return the text of each of several lists of ids, or its bytes if they are not UTF-8.

        None if something is to be done the long way: decoders, other collections than lists, ids without a token.
        """
        if self._parts.decoder:
            return None
        try:
            return self._encoder.decode_lists(lists, self._parts.special_table, threads)
        except (TypeError, ValueError, OverflowError):
            return None

    def decode_each(self, ids: memoryview | array[int], ends: memoryview | array[int]) -> list[bytes]:
        """Return the bytes of each of several lists of ids, which end at ``ends`` (u64), as ``decode`` does.

        Raises:
            ValueError: if an id has no token.
        """
        if not self._parts.decoder:
            return self._encoder.decode_each(ids, ends, self._parts.special_table)
        view = memoryview(ids)
        starts = (0, *ends[:-1])
        return [self.decode(view[start:end]) for start, end in zip(starts, ends, strict=True)]
