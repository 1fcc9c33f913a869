"""Describe what each stage makes of one text: normalizers, pre-tokenizer, model, post-processor and decoder.

Offsets are bytes of the text as it was given, whatever was made of it on the way.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.stages import ALGORITHMS, ByteLevel, Normalizer, PreTokenizer, Split, WordLevel
from bpe_cli.stages.component_json import core_spec, type_name
from bpe_cli.stages.patterns import name_of
from bpe_cli.stages.spelling import from_visible
from bpe_cli.stages.splitters import segments
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer.post_processor import Processed, process

if TYPE_CHECKING:
    from bpe_cli.reports.text.segmentation import Segmentation
    from bpe_cli.tokenizer import Specials, Tokenizer

LARGEST_TEXT = 1 << 20
"""Bytes of a text: what every stage makes of each byte is kept."""


@dataclass(frozen=True, slots=True)
class Change:
    """A stretch that a normalizer rewrites.

    Attributes:
        start: Where in the text as given it begins, in bytes.
        end: Where it ends; the same where something is put in.
        before: What the normalizer found; empty where it puts something in.
        after: What it made of it; empty where it leaves something out.
    """

    start: int
    end: int
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Normalized:
    """What a normalizer makes of the text, special tokens in it left as they are."""

    name: str
    content: bytes
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the pre-tokenizer, or a special token found in the text, which is none.

    Attributes:
        content: What the model gets.
        start: Where in the text it begins, in bytes.
        end: Where it ends.
        first: Number of its first token. Unknown pieces that follow one another may share one.
        token_end: Number after its last token.
    """

    content: bytes
    start: int
    end: int
    first: int
    token_end: int
    special: bool = False


@dataclass(frozen=True, slots=True)
class StagesReport:
    """What each stage makes of a text.

    Attributes:
        normalizers: What each normalizer makes of what the one before it made.
        processed: The tokens with what is put around them (``--add-special-tokens``).
        contents: What to show of each of those.
        special: Which of those are special tokens: put in, found in the text, or unknown.
        decoded: The text that the tokens read as.
    """

    segmentation: Segmentation
    normalizers: tuple[Normalized, ...]
    pre_tokenizers: tuple[str, ...]
    pieces: tuple[Piece, ...]
    model: str
    post_processor: tuple[str, ...]
    processed: Processed
    contents: tuple[bytes, ...]
    special: tuple[bool, ...]
    decoders: tuple[str, ...]
    decoded: bytes


def show_stages(tokenizer: Tokenizer, text: bytes, segmentation: Segmentation, specials: Specials = ()) -> StagesReport:
    """Describe what each stage makes of one text.

    Raises:
        InputError: if the text is too long.
        UsageError: Added tokens are found in normalized text, so that the stages cannot be told apart.
        FormatError: if the post-processor is broken.
    """
    refuse_long(text)
    stretches = list(segments(text, tokenizer.matcher(specials)))
    pieces = tuple(_pieces(tokenizer, stretches, segmentation))
    ids = [token.token_id for token in segmentation.tokens]
    processed = process(tokenizer.post_processor, ids)
    readings = {token.token_id: token.reading for token in segmentation.tokens}
    special_ids = {token.token_id for token in segmentation.tokens if token.special}
    return StagesReport(
        segmentation,
        tuple(_normalized(tokenizer.normalizer, stretches)),
        tuple(map(_name, tokenizer.pre_tokenizer)),
        pieces,
        ALGORITHMS[tokenizer.model.kind],
        tuple(_component_names(tokenizer.post_processor)),
        processed,
        tuple(readings.get(each) or tokenizer.token_bytes(each) for each in processed.ids),
        tuple(
            bool(put_in) or each in special_ids
            for each, put_in in zip(processed.ids, processed.special_mask, strict=True)
        ),
        tuple(type_name(type(stage)) for stage in tokenizer.decoder),
        tokenizer.decode_bytes(ids),
    )


def refuse_long(text: bytes) -> None:
    """Refuse a text whose stages are too much to show, before anything else is done with it."""
    if len(text) > LARGEST_TEXT:
        raise InputError(
            f"the text is longer than the {LARGEST_TEXT >> 20} MiB whose stages can be shown",
            hint="show a part of it (head -c 100000)",
        )


def _name(stage: Normalizer | PreTokenizer) -> str:
    """Call a stage by its type, and a pattern by its name if it has one."""
    name = type_name(type(stage))
    known = name_of(stage.pattern) if isinstance(stage, Split) and not stage.literal else None
    return f"{name} {known}" if known else name


def _component_names(post_processor: str | None) -> Iterator[str]:
    if post_processor is None:
        return
    try:
        waiting = [json.loads(post_processor)]
        while waiting:
            component = waiting.pop(0)
            if component["type"] == "Sequence":
                waiting = [*component["processors"], *waiting]
            else:
                yield str(component["type"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise FormatError("the tokenizer's post-processor is broken") from error


Stretch = tuple[bytes, int | None]
"""A stretch of text, and the id of the special token that it is, if it is one."""


def _normalized(normalizers: Sequence[Normalizer], stretches: Sequence[Stretch]) -> Iterator[Normalized]:
    """Yield what each normalizer makes of the text, one after the other."""
    offsets = [0, *accumulate(len(content) for content, _ in stretches)]
    # For each stretch: the text so far, and where each of its bytes comes from.
    texts = [content for content, _ in stretches]
    origins = [_Origins.of(content, offset) for content, offset in zip(texts, offsets, strict=False)]
    for normalizer in normalizers:
        stages = _core.Stages(core_spec((normalizer,), ()))
        changes: list[Change] = []
        for number, (_, special_id) in enumerate(stretches):
            if special_id is None:
                normal, starts, ends = stages.normalize(texts[number], first=number == 0)
                where = origins[number]
                for start, end, after in _rewritten(texts[number], normal, memoryview(starts), memoryview(ends)):
                    changes.append(Change(*where.span(start, end), texts[number][start:end], after))
                origins[number] = where.through(memoryview(starts), memoryview(ends))
                texts[number] = normal
        yield Normalized(_name(normalizer), b"".join(texts), tuple(changes))


@dataclass(frozen=True, slots=True)
class _Origins:
    """Where each byte of a rewritten text comes from: start and end in the text as given."""

    starts: Sequence[int]
    ends: Sequence[int]
    last: int

    @staticmethod
    def of(content: bytes, offset: int) -> _Origins:
        end = offset + len(content)
        return _Origins(range(offset, end), range(offset + 1, end + 1), end)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return what a range of bytes stands for."""
        begin = self.starts[start] if start < len(self.starts) else self.last
        return begin, max(begin, self.ends[end - 1]) if end > start else begin

    def through(self, starts: Sequence[int], ends: Sequence[int]) -> _Origins:
        """Return the origins of what was made of these bytes."""
        spans = [self.span(start, end) for start, end in zip(starts, ends, strict=True)]
        return _Origins(array("Q", (start for start, _ in spans)), array("Q", (end for _, end in spans)), self.last)


def _rewritten(
    text: bytes, normal: bytes, starts: Sequence[int], ends: Sequence[int]
) -> Iterator[tuple[int, int, bytes]]:
    """Yield (start, end, what stands there now) of each stretch that a normalizer rewrote.

    >>> list(_rewritten(b"AB c", b"abc", [0, 1, 3], [1, 2, 4]))
    [(0, 3, b'ab')]
    """
    held: tuple[int, int, bytes] | None = None
    for start, end, after in _aligned(len(text), normal, starts, ends):
        if text[start:end] == after:
            continue
        if held is not None and held[1] == start:
            held = held[0], end, held[2] + after
            continue
        if held is not None:
            yield held
        held = start, end, after
    if held is not None:
        yield held


def _aligned(
    length: int, normal: bytes, starts: Sequence[int], ends: Sequence[int]
) -> Iterator[tuple[int, int, bytes]]:
    """Yield, from the left, the smallest stretches that have nothing in common with their neighbours."""
    position = place = 0
    while place < len(normal):
        first, start, end = place, starts[place], ends[place]
        while place < len(normal) and (starts[place] < end or (starts[place], ends[place]) == (start, end)):
            end = max(end, ends[place])
            place += 1
        if start > position:
            yield position, start, b""
        yield max(start, position), max(end, position), normal[first:place]
        position = max(position, end)
    if position < length:
        yield position, length, b""


def _pieces(tokenizer: Tokenizer, stretches: Sequence[Stretch], segmentation: Segmentation) -> Iterator[Piece]:
    """Yield the pieces, with how many tokens each becomes."""
    number = position = 0
    model = _Model(tokenizer)
    for content, special_id in stretches:
        if special_id is not None:
            yield Piece(content, position, position + len(content), number, number + 1, special=True)
            number += 1
        else:
            for piece in _ordinary_pieces(model, content, position, number, segmentation):
                yield piece
                number = piece.token_end
        position += len(content)
    if number != segmentation.token_count:
        raise UsageError(_MOVED)


_MOVED = "the stages cannot be told apart where added tokens are looked for in normalized text"


def _ordinary_pieces(
    model: _Model, content: bytes, position: int, number: int, segmentation: Segmentation
) -> Iterator[Piece]:
    """Yield the pieces of a text without special tokens: the model encodes each by itself."""
    cut = model.engine.pieces(content, first=position == 0)
    contents = list(map(model.reads, cut.contents()))
    token_ids, id_ends = model.encode(contents)
    tokens, begun = segmentation.tokens, number
    places = zip(contents, cut.source_starts, cut.source_ends, [0, *id_ends], id_ends, strict=False)
    for piece, begin, stop, start, end in places:
        ids = token_ids[start:end]
        # Unknown pieces that follow one another may be one token: each has it.
        shared = model.fuses(ids) and number > begun and tokens[number - 1].token_id == ids[0]
        first = number - shared
        number = first + len(ids)
        if ids != [token.token_id for token in tokens[first:number]]:
            raise UsageError(_MOVED)
        yield Piece(piece, position + begin, position + stop, first, number)


class _Model:
    """The stages before a model, and the model alone: what it gets is already a piece."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.engine = tokenizer.engine
        # Byte-level BPE gets bytes, also behind a stage that spells them.
        self._spelt = tokenizer.has_bytes and any(isinstance(stage, ByteLevel) for stage in tokenizer.pre_tokenizer)
        model = tokenizer.model
        self._fused = model.unk_id if isinstance(model, WordLevel) and model.fuse_unk else None

    def fuses(self, ids: Sequence[int]) -> bool:
        """Return whether tokens begin with an unknown one that may be one with the one before it."""
        return self._fused is not None and ids[:1] == [self._fused]

    def reads(self, piece: bytes) -> bytes:
        """Return a piece as the model gets it."""
        content = from_visible(piece.decode("utf-8", "surrogateescape")) if self._spelt else None
        return piece if content is None else content

    def encode(self, pieces: Sequence[bytes]) -> tuple[list[int], list[int]]:
        """Return the ids of all pieces, and where those of each end."""
        ids, ends = self.engine.bare.encode(Block.of(pieces))
        return ids.tolist(), ends.tolist()
