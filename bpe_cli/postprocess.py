"""What a post-processor puts around a document: Hugging Face's components, for a single text."""

from __future__ import annotations

import json
from array import array
from typing import Any

from bpe_cli.blocks import Block
from bpe_cli.errors import FormatError


def affixes(post_processor: str | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Give the ids before and after a document.

    Args:
        post_processor: The component as JSON, as ``tokenizer.json`` holds it; None for none.

    >>> affixes('{"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]}')
    ((0,), (2,))

    Raises:
        FormatError: The component is of a kind that is not known, or broken.
    """
    if post_processor is None:
        return (), ()
    try:
        return _affixes(json.loads(post_processor))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise FormatError(
            "the tokenizer's post-processor is broken", hint="encode without --add-special-tokens"
        ) from error


def _affixes(component: dict[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    kind = component["type"]
    if kind == "ByteLevel":
        return (), ()
    if kind in ("RobertaProcessing", "BertProcessing"):
        return (_id(component["cls"][1]),), (_id(component["sep"][1]),)
    if kind == "Sequence":
        before: tuple[int, ...] = ()
        after: tuple[int, ...] = ()
        for processor in component["processors"]:
            outer_before, outer_after = _affixes(processor)
            before, after = outer_before + before, after + outer_after
        return before, after
    if kind == "TemplateProcessing":
        ids: tuple[list[int], list[int]] = ([], [])
        place = 0
        for part in component["single"]:
            if "Sequence" in part:
                if place or part["Sequence"]["id"] != "A":
                    raise FormatError("the tokenizer's template has more than the one text")
                place = 1
            else:
                name = part["SpecialToken"]["id"]
                ids[place].extend(_id(number) for number in component["special_tokens"][name]["ids"])
        if not place:
            raise FormatError("the tokenizer's template leaves the text out")
        return tuple(ids[0]), tuple(ids[1])
    raise FormatError(f"the post-processor {kind!r} is not known", hint="encode without --add-special-tokens")


def _id(number: object) -> int:
    if type(number) is not int or not 0 <= number < 1 << 32:
        raise ValueError(number)
    return number


def surround(
    block: Block, ids: memoryview, ends: memoryview, before: tuple[int, ...], after: tuple[int, ...]
) -> tuple[memoryview, memoryview]:
    """Put ids around each document of a block; at an open end of the block there is nothing to put.

    Returns:
        The ids of all documents (u32), and where each document's ids end (u64).
    """
    out, out_ends = array("I"), array("Q")
    start, last = 0, len(ends) - 1
    for number, end in enumerate(ends):
        if not (block.continued and number == 0):
            out.extend(before)
        out.frombytes(ids[start:end].cast("B"))
        if not (block.unfinished and number == last):
            out.extend(after)
        out_ends.append(len(out))
        start = end
    return memoryview(out), memoryview(out_ends)
