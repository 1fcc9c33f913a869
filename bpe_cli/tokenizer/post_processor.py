"""Post-processors: the tokens that they put around a document, and what begins and ends a text.

A post-processor, a component of Hugging Face's, never looks at what it surrounds. So all there is to know of one is its
*layout*: which ids come before, between and after one or two texts, and of what type each part is (``layout``).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from bpe_cli.errors import FormatError
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_dataclass import dataclass, replace

_HINT = "encode without `add_special_tokens`"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a layout: one of the texts, or ids that belong to none.

    Attributes:
        sequence: The text it is (0 or 1) or is counted with; None for what belongs to no text.
        type_id: The type of each id.
        ids: The ids, or None for the text itself.
        tokens: The texts of these ids, as the component has them.
        special: Whether the ids are special tokens to the user.
    """

    sequence: int | None
    type_id: int = 0
    ids: tuple[int, ...] | None = None
    tokens: tuple[str, ...] = ()
    special: bool = True


@dataclass(frozen=True, slots=True)
class Processed:
    """Ids with the types and masks that a model takes; all lists are of one length.

    Attributes:
        ids: The ids.
        type_ids: The type of each id.
        special_mask: 1 for a special token that was put in, else 0.
        sequence_ids: The text that each id belongs to: 0, 1, or None for added tokens.
    """

    ids: list[int]
    type_ids: list[int]
    special_mask: list[int]
    sequence_ids: list[int | None]


def layout(post_processor: str | None, *, pair: bool = False) -> tuple[Part, ...]:
    """Return the parts in their order for a text, or for a pair of texts.

    Args:
        post_processor: The component as JSON, as ``tokenizer.json`` holds it; None for none.
        pair: Whether there are two texts.

    >>> roberta = '{"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]}'
    >>> [part.ids for part in layout(roberta, pair=True)]
    [(0,), None, (2,), (2,), None, (2,)]

    Raises:
        FormatError: if the component is of a kind that is not known, or broken.
    """
    import json

    groups: list[tuple[Part, ...]] = [(Part(number, type_id=number),) for number in range(1 + pair)]
    if post_processor is not None:
        try:
            groups = _apply(json.loads(post_processor), groups)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
            raise broken() from error
    return tuple(part for group in groups for part in group)


def broken() -> FormatError:
    """Make the error for an invalid component."""
    return FormatError("the tokenizer's post-processor is broken", hint=_HINT)


def _apply(component: dict[str, Any], groups: list[tuple[Part, ...]]) -> list[tuple[Part, ...]]:
    """Apply a component to groups of parts; each group is to the next component what a text is to the first."""
    kind = component["type"]
    if kind == "ByteLevel":
        return groups
    if kind != "Sequence" and len(groups) > 2:
        raise FormatError(f"the post-processor {kind!r} follows one that has added tokens", hint=_HINT)
    if kind in ("RobertaProcessing", "BertProcessing"):
        return [_bracket(component, number, group) for number, group in enumerate(groups)]
    if kind == "TemplateProcessing":
        return _fill(component, groups)
    if kind == "Sequence":
        for processor in component["processors"]:
            groups = _apply(processor, groups)
        return groups
    raise FormatError(f"the post-processor {kind!r} is not known", hint=_HINT)


def _bracket(component: dict[str, Any], number: int, group: tuple[Part, ...]) -> tuple[Part, ...]:
    """Put BERT's or RoBERTa's tokens around a group.

    What an earlier component put into the group is from now on a part of its text.
    """
    roberta = component["type"] == "RobertaProcessing"
    inner = tuple(
        replace(part, sequence=number, special=False, type_id=0 if roberta else part.type_id) for part in group
    )
    side_type = 0 if roberta else number
    opening, closing = (
        Part(None, side_type, (_id(token_id),), (str(content),))
        for content, token_id in (component["cls"], component["sep"])
    )
    if number == 0:
        return (opening, *inner, closing)
    return (closing, *inner, closing) if roberta else (*inner, closing)


def _fill(component: dict[str, Any], groups: list[tuple[Part, ...]]) -> list[tuple[Part, ...]]:
    """Fill a template; each of its places is a group of its own."""
    filled = []
    for place in component["pair" if len(groups) == 2 else "single"]:
        if "Sequence" in place:
            sequence = {"A": 0, "B": 1}[place["Sequence"]["id"]]
            if sequence >= len(groups):
                raise FormatError("the tokenizer's template has more than the one text", hint=_HINT)
            type_id = _id(place["Sequence"]["type_id"])
            filled.append(tuple(replace(part, type_id=type_id, sequence=sequence) for part in groups[sequence]))
        else:
            token = component["special_tokens"][place["SpecialToken"]["id"]]
            ids = tuple(_id(number) for number in token["ids"])
            tokens = tuple(str(content) for content in token.get("tokens", ()))
            if len(tokens) != len(ids):
                tokens = ("",) * len(ids)
            filled.append((Part(None, _id(place["SpecialToken"]["type_id"]), ids, tokens),))
    return filled


def affixes(post_processor: str | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ids before and after a document.

    Args:
        post_processor: The component as JSON, as ``tokenizer.json`` holds it; None for none.

    >>> affixes('{"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]}')
    ((0,), (2,))

    Raises:
        FormatError: if the component is of a kind that is not known, or broken, or it leaves the text out
            or puts it more than once.
    """
    parts = layout(post_processor)
    places = [number for number, part in enumerate(parts) if part.ids is None]
    if not places:
        raise FormatError("the tokenizer's template leaves the text out", hint=_HINT)
    if len(places) > 1:
        raise FormatError("the tokenizer's template has more than the one text", hint=_HINT)
    before, after = (
        tuple(number for part in side for number in part.ids or ())
        for side in (parts[: places[0]], parts[places[0] + 1 :])
    )
    return before, after


def process(post_processor: str | None, first_ids: Sequence[int], second_ids: Sequence[int] | None = None) -> Processed:
    """Put special tokens around the ids of a text, or of a pair.

    >>> bert = '{"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}'
    >>> process(bert, [7, 8], [9])  # doctest: +NORMALIZE_WHITESPACE
    Processed(ids=[101, 7, 8, 102, 9, 102], type_ids=[0, 0, 0, 0, 1, 1],
              special_mask=[1, 0, 0, 1, 0, 1], sequence_ids=[None, 0, 0, None, 1, None])

    Raises:
        FormatError: if ``layout`` does.
    """
    texts = [first_ids] if second_ids is None else [first_ids, second_ids]
    processed = Processed([], [], [], [])
    for part in layout(post_processor, pair=second_ids is not None):
        ids = texts[part.sequence or 0] if part.ids is None else part.ids
        processed.ids.extend(ids)
        processed.type_ids.extend([part.type_id] * len(ids))
        processed.special_mask.extend([int(part.ids is not None and part.special)] * len(ids))
        processed.sequence_ids.extend([part.sequence] * len(ids))
    return processed


def _id(number: object) -> int:
    if type(number) is not int or not 0 <= number < 1 << 32:
        raise ValueError(number)
    return number


def surround(
    block: Block, ids: memoryview, ends: memoryview, before: tuple[int, ...], after: tuple[int, ...]
) -> tuple[memoryview, memoryview]:
    """Put ids around each document of a block; an open end of the block gets none.

    Returns:
        The ids of all documents (u32), and where each document's ids end (u64).
    """
    out, out_ends = array("I"), array("Q")
    start, first, ended = 0, len(block.ends) - block.begun, block.ended
    for number, end in enumerate(ends):
        if number >= first:
            out.extend(before)
        out.frombytes(ids[start:end].cast("B"))
        if number < ended:
            out.extend(after)
        out_ends.append(len(out))
        start = end
    return memoryview(out), memoryview(out_ends)
