"""Warn of common pitfalls in a text: what is lost, split oddly, or not what it looks like.

Each check looks at the text or its tokens once, and says of each kind of trouble where it first is and how
often; ordinary text gives no warning. Checks that need nothing but the text are in ``characters``.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.reports.text.characters import TextWarning, bytes_of, excerpt, listed, reading_of, suspicions, text_of
from bpe_cli.reports.text.clusters import cluster_warning
from bpe_cli.reports.text.segmentation import first_difference
from bpe_cli.reports.tokenizer.contents import Fallback, fallback_ids, meaning_of
from bpe_cli.stages import Normalizer, Prepend, Replace, SpaceMarks
from bpe_cli.stages.component_json import core_spec
from bpe_cli.stages.components import ByteLevelNormalizer
from bpe_cli.stages.splitters import segments
from bpe_cli.support.cached import cached_property
from bpe_cli.support.messages import plural
from bpe_cli.tokenizer.encoded import well_formed

if TYPE_CHECKING:
    from bpe_cli.reports.text.segmentation import Segmentation
    from bpe_cli.tokenizer import Specials, Tokenizer
    from bpe_cli.tokenizer.encoded import Placed

__all__ = ["KINDS", "TextWarning", "Watch"]

KINDS = {
    "not-utf-8": "bytes that are no part of UTF-8",
    "byte-order-mark": "U+FEFF at the beginning",
    "line-ends": "carriage returns at the ends of lines",
    "no-break-space": "U+00A0 where a space is usual",
    "invisible": "characters without width in Latin text, or that turn its direction; odd ends of lines",
    "special-text": "the text of a special token, read as plain text",
    "foreign-special": "what looks like a special token of another tokenizer",
    "trailing-space": "a space at the end that is a token of its own",
    "trailing-line-feed": "a line feed behind the only line",
    "normalized": "the normalizer changes the text",
    "long-piece": "a piece that is longer than the model's limit",
    "unknown": "text that becomes the unknown token",
    "bytes": "characters that are spelt byte by byte",
    "clusters": "the split pattern cuts inside characters that readers see",
    "numbers": "digits that are grouped in no regular way",
    "round-trip": "decoding gives another text",
}
"""What kinds of warnings there are.

Their hints name options of the command line, where the library's other messages name arguments: they stand in the
reports of ``bpe inspect --json``, whose schema is frozen.
"""

_MARK = "\u2581"
_MANY = 0.01
"""Share of a text's characters from which on those that fall to bytes are told: a few are in any long text."""
_LARGEST_GROUP = 3
"""Digits of a group that a rule can make: longer tokens of digits are accidents of training."""


class Watch:
    """Warn of several texts with one tokenizer, whose properties are looked up once."""

    def __init__(self, tokenizer: Tokenizer, specials: Specials = ()) -> None:
        """Prepare; ``specials`` were looked for in the texts."""
        self._tokenizer = tokenizer
        self._matcher = tokenizer.matcher(specials)
        self._read = reading_of(tokenizer)
        all_special = [token for token in tokenizer.special_tokens if token.special]
        self._plain = {
            token.token_id: token.content
            for token in (all_special if specials != "all" else [])
            if text_of(token.content) not in specials
        }
        self._all = tokenizer.matcher("all") if self._plain else None
        self._known = {token.content for token in tokenizer.special_tokens}
        telling = tuple(_telling(tokenizer.normalizer))
        self._normalizer = _core.Stages(core_spec(telling, ())) if telling else None

    @cached_property
    def _fallback(self) -> Fallback:
        return fallback_ids(self._tokenizer)

    @cached_property
    def _only_bytes(self) -> bool:
        """Whether no token stands for more than a byte."""
        meaning, special_ids = meaning_of(self._tokenizer), self._tokenizer.special_ids
        items = self._tokenizer.model.vocabulary.items()
        return all(token_id in special_ids or len(meaning(token)) == 1 for token_id, token in items)

    def _reading(self, token_id: int) -> bytes:
        return self._read(self._tokenizer.token_bytes(token_id))

    def warn(self, text: bytes, segmentation: Segmentation) -> tuple[TextWarning, ...]:
        """Describe what is odd about a text with these tokens."""
        placed, string = segmentation.placed, text_of(text)
        warnings = [*suspicions(text, string)]
        if self._all is not None:
            warnings += _special_text(self._all, self._plain, text)
        warnings += _foreign_special(self._known, string)
        warnings += _trailing(text, placed, self._reading)
        losses: list[TextWarning] = []
        if self._normalizer is not None:
            losses += _normalized(self._normalizer, text, self._matcher)
        if self._tokenizer.model.unk_id is not None:
            losses += _unknown(self._tokenizer, text, placed, self._fallback)
        warnings += losses
        # Plain texts need no look at a whole vocabulary; and of tokens that are bytes by design nobody wants to hear.
        if not string.isascii() and not self._only_bytes:
            warnings += _bytes(text, len(string), placed, self._fallback)
        warnings += cluster_warning(self._tokenizer, text)
        warnings += _numbers(text, placed)
        warnings += _round_trip(self._tokenizer, text, segmentation, losses)
        return tuple(warnings)


def _special_text(matcher: _core.SpecialMatcher, plain: dict[int, bytes], text: bytes) -> Iterator[TextWarning]:
    places = [(start, end, plain[token_id]) for start, end, token_id in matcher.find_all(text) if token_id in plain]
    if places:
        start, end, _ = places[0]
        names = listed(content for _, _, content in places)
        what = "is a special token" if len(names) == 1 else "are special tokens"
        yield TextWarning(
            "special-text",
            f"{', '.join(names)} {what} of this tokenizer, and plain text here",
            "--special all reads special tokens in a text as such; bpe encode --special error refuses them",
            start,
            end,
            len(places),
        )


_FOREIGN = re.compile("<([|\uff5c])(?:(?!\\1)[^<>\\s]){1,40}\\1>|\\[/?INST\\]|<</?SYS>>|<(?:start|end)_of_turn>")


def _foreign_special(known: set[bytes], string: str) -> Iterator[TextWarning]:
    texts = ((match.start(), bytes_of(match[0])) for match in _FOREIGN.finditer(string))
    matches = [(place, content) for place, content in texts if content not in known]
    if matches:
        place, content = matches[0]
        names = listed(content for _, content in matches)
        what = "looks like a special token" if len(names) == 1 else "look like special tokens"
        start = len(bytes_of(string[:place]))
        yield TextWarning(
            "foreign-special",
            f"{', '.join(names)} {what}, and this tokenizer has none of {'that name' if len(names) == 1 else 'them'}",
            "is the text made for another model? --add-special TEXT=ID adds a special token",
            start,
            start + len(content),
            len(matches),
        )


def _trailing(text: bytes, placed: Placed, reading: Callable[[int], bytes]) -> Iterator[TextWarning]:
    if not placed or placed.special[-1] or placed.ends[-1] != len(text):
        return
    shown = text_of(reading(placed.ids[-1])).replace(_MARK, " ")
    if shown and not shown.strip(" \t") and placed.starts[-1]:
        yield TextWarning(
            "trailing-space",
            "the text ends with whitespace that is a token of its own",
            "word tokens usually begin with their space: end a prompt before the space",
            placed.starts[-1],
            placed.ends[-1],
        )
    elif text.endswith(b"\n") and text.count(b"\n") == 1 and len(text.strip()) > 0:
        yield TextWarning(
            "trailing-line-feed",
            "the text is one line and ends with a line feed",
            "echo adds one (printf %s does not), and so do editors; --lines leaves the ends of lines out",
            len(text) - 1,
            len(text),
        )


def _telling(normalizers: Iterable[Normalizer]) -> Iterator[Normalizer]:
    """Leave out of normalizers what only spells text in another way, and can be read back."""
    for stage in normalizers:
        if isinstance(stage, SpaceMarks):
            if stage.remove_extra_whitespaces:
                yield SpaceMarks(add_dummy_prefix=False, escape_whitespaces=False)
        elif isinstance(stage, Replace):
            if (stage.pattern, stage.content) != (" ", _MARK):
                yield stage
        elif not isinstance(stage, ByteLevelNormalizer) and stage != Prepend(_MARK):
            yield stage


def _normalized(stages: _core.Stages, text: bytes, matcher: _core.SpecialMatcher | None) -> Iterator[TextWarning]:
    position = 0
    for segment, special_id in segments(text, matcher):
        if special_id is None:
            normal, starts, ends = stages.normalize(segment, first=position == 0)
            place = first_difference(segment, normal)
            if place is not None:
                start, end, after = _first_change(segment, normal, memoryview(starts), memoryview(ends), place)
                before = excerpt(segment[start:end])
                what = f"{before} becomes {excerpt(after)}" if after else f"{before} is left out"
                what = what if before != "''" else f"{excerpt(after)} is put in"
                yield TextWarning(
                    "normalized",
                    f"the normalizer changes the text: first, {what}",
                    "what is changed does not come back; --stages shows every change",
                    position + start,
                    position + end,
                )
                return
        position += len(segment)


def _first_change(
    text: bytes, normal: bytes, starts: Sequence[int], ends: Sequence[int], place: int
) -> tuple[int, int, bytes]:
    """Return the span of the text that is changed first, and what it becomes; ``place`` is where bytes differ."""
    if place == len(normal):
        return place, len(text), b""
    if starts[place] > place:  # all before is as it was, so what lies between was left out
        return place, starts[place], b""
    start, end = starts[place], ends[place]
    first, last = place, place
    while first and starts[first - 1] >= start:
        first -= 1
    while last < len(normal) and starts[last] < max(end, start + 1):
        end = max(end, ends[last])
        last += 1
    # What stands before that which the next byte is for went into these, as an accent does into a letter.
    end = max(end, starts[last] if last < len(normal) else len(text))
    return start, end, normal[first:last]


def _unknown(tokenizer: Tokenizer, text: bytes, placed: Placed, fallback: Fallback) -> Iterator[TextWarning]:
    limit = tokenizer.model.max_input_chars_per_word
    contents = {token_id: tokenizer.token_bytes(token_id) for token_id in fallback.unknown}
    long: list[tuple[int, int]] = []
    unknown: list[tuple[int, int]] = []
    for token_id, start, end in zip(placed.ids, placed.starts, placed.ends, strict=True):
        if token_id in contents and (stands_for := text[start:end]) != contents[token_id]:
            too_long = limit is not None and len(text_of(stands_for)) > limit
            (long if too_long else unknown).append((start, end))
    if long:
        yield TextWarning(
            "long-piece",
            f"{plural(len(long), 'piece')} of more than {limit:,} characters, the model's limit: unknown as a whole",
            "the limit is the model's max_input_chars_per_word; put spaces into what is so long (base64, links)",
            *long[0],
            len(long),
        )
    if unknown:
        shown = ", ".join(listed(text[start:end] for start, end in unknown))
        yield TextWarning(
            "unknown",
            f"{plural(len(unknown), 'token')} stand for text that the vocabulary does not have: {shown}"
            if len(unknown) > 1
            else f"the vocabulary does not have {shown}",
            "the model cannot tell such text apart, and it does not come back",
            *unknown[0],
            len(unknown),
        )


def _bytes(text: bytes, character_count: int, placed: Placed, fallback: Fallback) -> Iterator[TextWarning]:
    data = well_formed(text)  # a byte that is not UTF-8 has a warning of its own
    counts: Counter[bytes] = Counter()
    first = None
    position = -1
    for token_id, start, end, special in zip(placed.ids, placed.starts, placed.ends, placed.special, strict=True):
        if token_id not in fallback.bytes or special or start >= len(data):
            continue
        begin = start
        while 0x80 <= data[begin] < 0xC0:
            begin -= 1
        if begin != position:
            position = begin
            if data[begin] >= 0x80:  # a line feed is a byte, and as it should be
                counts[data[begin : begin + 2 + (data[begin] >= 0xE0) + (data[begin] >= 0xF0)]] += 1
                first = first or (start, end)
    total = counts.total()
    if first is None or total < _MANY * character_count:
        return
    shown = ", ".join(listed(counts))
    yield TextWarning(
        "bytes",
        f"{plural(total, 'character')} {'falls' if total == 1 else 'fall'} to bytes: {shown}",
        "a character without a token of its own costs several, and models handle such text poorly",
        first[0],
        max(first[1], first[0] + 1),
        total,
    )


_NUMBER = re.compile(rb"(?<![\w.,])[0-9]{2,}(?![\w]|[.,][0-9])")


def _numbers(text: bytes, placed: Placed) -> Iterator[TextWarning]:
    starts = placed.starts
    shapes: dict[int, tuple[tuple[int, ...], bytes]] = {}
    uneven: list[tuple[int, int, str]] = []
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        inside = starts[bisect_right(starts, start) : bisect_left(starts, end)]
        cuts = [start, *dict.fromkeys(inside), end]
        shape = tuple(after - before for before, after in pairwise(cuts))
        usual, example = shapes.setdefault(end - start, (shape, match[0]))
        if shape != usual:
            shown = f"{_grouped(example, usual)} but {_grouped(match[0], shape)}"
            uneven.append((start, end, f"numbers of {end - start} digits are grouped in several ways: {shown}"))
        elif not _is_regular(shape):
            uneven.append((start, end, f"digits are grouped unevenly: {_grouped(match[0], shape)}"))
    if uneven:
        start, end, message = uneven[0]
        yield TextWarning(
            "numbers",
            message,
            "arithmetic is hard to learn on such numbers; tokenizers that cut digits singly or in threes follow a rule",
            start,
            end,
            len(uneven),
        )


def _grouped(number: bytes, shape: Sequence[int]) -> str:
    """Write a number with bars where it is cut.

    >>> _grouped(b"12345", (4, 1))
    '1234|5'
    """
    parts, position = [], 0
    for size in shape:
        parts.append(number[position : position + size].decode())
        position += size
    return excerpt("|".join(parts).encode(), quoted=False)


def _is_regular(shape: Sequence[int]) -> bool:
    """Return whether digits are in one token, or in groups of one size counted from the left or the right.

    >>> [_is_regular(shape) for shape in [(5,), (3, 2), (2, 3), (1, 1, 1), (4, 1), (2, 1, 2)]]
    [True, True, True, True, False, False]
    """
    size = max(shape)
    if len(shape) == 1:
        return True
    return size <= _LARGEST_GROUP and (set(shape[:-1]) == {size} or set(shape[1:]) == {size})


def _round_trip(
    tokenizer: Tokenizer, text: bytes, segmentation: Segmentation, losses: Iterable[TextWarning]
) -> Iterator[TextWarning]:
    place = segmentation.differs_at
    # What a normalizer changed first, and what is unknown, was said; what follows is moved by it.
    if place is None or any(loss.start <= place for loss in losses):
        return
    decoded = tokenizer.decode_bytes(segmentation.placed.ids)
    begin = place
    while begin and place - begin < 3 and begin < len(text) and 0x80 <= text[begin] < 0xC0:
        begin -= 1
    had, got = excerpt(text[begin : begin + 40]), excerpt(decoded[begin : begin + 40])
    if begin >= len(text):
        message = f"decoding adds {got}"
    elif begin >= len(decoded):
        message = f"decoding leaves out {had}"
    else:
        message = f"decoding gives {got} where the text has {had}"
    yield TextWarning(
        "round-trip",
        message,
        "the tokens do not hold all of the text: keep it beside them, or use a lossless tokenizer",
        place,
        min(place + 1, len(text)),
    )
