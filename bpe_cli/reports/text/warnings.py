"""Warn of what in a text costs a debugging day: what is lost, split oddly, or not what it looks like.

Each check looks at the text or its tokens once, and says of each kind of trouble where it first is and how
often; ordinary text gives no warning. Checks that need nothing but the text are in ``suspicions``.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.reports.text.offsets import first_difference
from bpe_cli.reports.text.suspicions import TextWarning, excerpt, listed, suspicions
from bpe_cli.reports.tokenizer.fallback import Fallback, fallback_ids
from bpe_cli.splitting import segments
from bpe_cli.stages import Normalizer, Prepend, Replace, SpaceMarks, WordPiece
from bpe_cli.stages.component_json import core_spec
from bpe_cli.stages.normalizers import ByteLevelNormalizer
from bpe_cli.wording import plural

if TYPE_CHECKING:
    from bpe_cli.reports.text.segmentation import PlacedToken, Segmentation
    from bpe_cli.tokenizer import Specials, Tokenizer

__all__ = ["KINDS", "TextWarning", "warn"]

KINDS = {
    "not-utf-8": "bytes that are no part of UTF-8",
    "byte-order-mark": "U+FEFF at the beginning",
    "line-ends": "carriage returns at the ends of lines",
    "no-break-space": "U+00A0 where a space is usual",
    "invisible": "characters without width in Latin text, or that turn its direction",
    "special-text": "the text of a special token, read as plain text",
    "foreign-special": "what looks like a special token of another tokenizer",
    "trailing-space": "a space at the end that is a token of its own",
    "trailing-line-feed": "a line feed behind the only line",
    "normalized": "the normalizer changes the text",
    "long-piece": "a piece that is longer than the model's limit",
    "unknown": "text that becomes the unknown token",
    "bytes": "characters that are spelt byte by byte",
    "numbers": "digits that are grouped in no regular way",
    "round-trip": "decoding gives another text",
}
"""What kinds of warnings there are."""

_MARK = "\u2581"
_MANY = 0.01
"""Share of a text's characters from which on those that fall to bytes are told: a few are in any long text."""
_LARGEST_GROUP = 3
"""Digits of a group that a rule can make: longer tokens of digits are accidents of training."""


def warn(
    tokenizer: Tokenizer, text: bytes, segmentation: Segmentation, specials: Specials = ()
) -> tuple[TextWarning, ...]:
    """Say what is odd about a text, for a tokenizer.

    Args:
        tokenizer: What encoded it.
        text: The text.
        segmentation: Its tokens, by ``segment``.
        specials: Which special tokens were looked for in it.

    Complexity: linear in the text and in the vocabulary.
    """
    string = text.decode("utf-8", "surrogateescape")
    found = [*suspicions(text, string)]
    found += _special_text(tokenizer, text, specials)
    found += _foreign_special(tokenizer, string)
    found += _trailing(text, segmentation)
    fallback = fallback_ids(tokenizer)
    losses = [*_normalized(tokenizer, text, specials), *_unknown(tokenizer, text, segmentation, fallback)]
    found += losses
    found += _bytes(string, segmentation, fallback)
    found += _numbers(text, segmentation)
    found += _round_trip(tokenizer, text, segmentation, losses)
    return tuple(found)


def _special_text(tokenizer: Tokenizer, text: bytes, specials: Specials) -> Iterator[TextWarning]:
    if specials == "all" or not any(token.special for token in tokenizer.special_tokens):
        return
    matcher = tokenizer.matcher("all")
    plain = []
    for start, end, token_id in matcher.find_all(text) if matcher is not None else ():
        token = tokenizer.special_ids[token_id]
        if token.special and token.content.decode("utf-8", "surrogateescape") not in specials:
            plain.append((start, end, token))
    if plain:
        start, end, token = plain[0]
        names = listed(token.content for _, _, token in plain)
        what = "is a special token" if len(names) == 1 else "are special tokens"
        yield TextWarning(
            "special-text",
            f"{', '.join(names)} {what} of this tokenizer, and plain text here",
            "--special all reads special tokens in a text as such; bpe encode --special error refuses them",
            start,
            end,
            len(plain),
        )


_FOREIGN = re.compile("<([|\uff5c])(?:(?!\\1)[^<>\\s]){1,40}\\1>|\\[/?INST\\]|<</?SYS>>|<(?:start|end)_of_turn>")


def _foreign_special(tokenizer: Tokenizer, string: str) -> Iterator[TextWarning]:
    known = {token.content.decode("utf-8", "surrogateescape") for token in tokenizer.special_tokens}
    found = [match for match in _FOREIGN.finditer(string) if match[0] not in known]
    if found:
        names = listed(match[0].encode("utf-8", "surrogateescape") for match in found)
        what = "looks like a special token" if len(names) == 1 else "look like special tokens"
        start = _byte_offset(string, found[0].start())
        yield TextWarning(
            "foreign-special",
            f"{', '.join(names)} {what}, and this tokenizer has none of {'that name' if len(names) == 1 else 'them'}",
            "is the text made for another model? --add-special TEXT=ID adds a special token",
            start,
            start + len(found[0][0].encode("utf-8", "surrogateescape")),
            len(found),
        )


def _trailing(text: bytes, segmentation: Segmentation) -> Iterator[TextWarning]:
    last = segmentation.tokens[-1] if segmentation.tokens else None
    if last is None or last.special or last.end != len(text):
        return
    shown = last.reading.decode("utf-8", "surrogateescape").replace(_MARK, " ")
    if shown and not shown.strip(" \t") and last.start:
        yield TextWarning(
            "trailing-space",
            "the text ends with white space that is a token of its own",
            "tokens of words mostly bring their space along: end a prompt before the space",
            last.start,
            last.end,
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


def _normalized(tokenizer: Tokenizer, text: bytes, specials: Specials) -> Iterator[TextWarning]:
    telling = tuple(_telling(tokenizer.normalizer))
    if not telling:
        return
    stages = _core.Stages(core_spec(telling, ()))
    position = 0
    for segment, special_id in segments(text, tokenizer.matcher(specials)):
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
    """Give the span of the text that is changed first, and what it becomes; ``place`` is where bytes differ."""
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


def _unknown(
    tokenizer: Tokenizer, text: bytes, segmentation: Segmentation, fallback: Fallback
) -> Iterator[TextWarning]:
    if not fallback.unknown:
        return
    limit = tokenizer.model.max_input_chars_per_word if isinstance(tokenizer.model, WordPiece) else None
    long: list[PlacedToken] = []
    unknown: list[PlacedToken] = []
    for token in segmentation.tokens:
        if token.token_id in fallback.unknown and text[token.start : token.end] != token.content:
            too_long = limit is not None and token.character_end - token.character_start > limit
            (long if too_long else unknown).append(token)
    if long:
        first = long[0]
        yield TextWarning(
            "long-piece",
            f"{plural(len(long), 'piece')} of more than {limit:,} characters, the model's limit: unknown as a whole",
            "the limit is the model's max_input_chars_per_word; put spaces into what is so long (base64, links)",
            first.start,
            first.end,
            len(long),
        )
    if unknown:
        first = unknown[0]
        shown = ", ".join(listed(text[token.start : token.end] for token in unknown))
        yield TextWarning(
            "unknown",
            f"{plural(len(unknown), 'token')} stand for text that the vocabulary does not have: {shown}"
            if len(unknown) > 1
            else f"the vocabulary does not have {shown}",
            "the model cannot tell such text apart, and it does not come back",
            first.start,
            first.end,
            len(unknown),
        )


def _bytes(string: str, segmentation: Segmentation, fallback: Fallback) -> Iterator[TextWarning]:
    counts: Counter[str] = Counter()
    first = None
    position = -1
    for token in segmentation.tokens:
        if token.token_id in fallback.bytes and token.character_start != position and not token.special:
            position = token.character_start
            character = string[position : position + 1]
            # A line feed is a byte, and a byte that is no UTF-8 has a warning of its own.
            if character > "\x7f" and not "\udc80" <= character <= "\udcff":
                counts[character] += 1
                first = first or token
    total = counts.total()
    if first is None or total < _MANY * len(string):
        return
    shown = ", ".join(listed(character.encode("utf-8", "surrogateescape") for character in counts.elements()))
    yield TextWarning(
        "bytes",
        f"{plural(total, 'character')} {'falls' if total == 1 else 'fall'} to bytes: {shown}",
        "what has no token of its own costs several, and a model knows it badly",
        first.start,
        max(first.end, first.start + 1),
        total,
    )


_NUMBER = re.compile(rb"(?<![\w.,])[0-9]{2,}(?![\w]|[.,][0-9])")


def _numbers(text: bytes, segmentation: Segmentation) -> Iterator[TextWarning]:
    starts = [token.start for token in segmentation.tokens]
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
            "a digit's place is then told by no rule; tokenizers that cut digits singly or in threes have one",
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
    """Tell whether digits are in one token, or in groups of one size counted from the left or the right.

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
    decoded = tokenizer.decode([token.token_id for token in segmentation.tokens])
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


def _byte_offset(string: str, place: int) -> int:
    return len(string[:place].encode("utf-8", "surrogateescape"))
