"""The result of a change to a tokenizer: the new tokenizer and the map of ids; and counts of pieces for one."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.stages import ByteLevel, CharacterBpe, EventBpe, LongestMatch, MergeBpe, Model, ScoredBpe, Unigram
from bpe_cli.stages.codebook import codebook_ids
from bpe_cli.stages.counting import ByLine, count_blocks
from bpe_cli.stages.events import SPLIT, without
from bpe_cli.stages.spelling import to_visible
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_dataclass import cut_repr
from bpe_cli.tokenizer import Specials, Tokenizer
from bpe_cli.tokenizer.usage import Origin

SCHEMA = "bpe.id-map/1"

Progress = Callable[[int, int], None]
"""Called now and then with (done so far, all there is to do)."""


@dataclass(frozen=True, slots=True)
class Operation:
    """The result of changing a tokenizer.

    Attributes:
        tokenizer: The new tokenizer.
        old_to_new: Each id that a token had -> the id that it has now, or None if it is gone.
        made_of: Each id that is new -> the old ids of the same text, whose embeddings a new one can be
            averaged from; empty where the old tokenizer has none.
        summary: What was done, for the user: ``("3 added", "1 kept")``.
        notes: What the user might not expect, a sentence each.
        other_to_new: For ``merge``, the same as ``old_to_new`` for the other tokenizer's ids.
    """

    tokenizer: Tokenizer
    old_to_new: Mapping[int, int | None]
    made_of: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    summary: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    other_to_new: Mapping[int, int | None] | None = None

    def __repr__(self) -> str:
        return cut_repr(self)  # whole, it has a line for each id

    def id_map(self) -> bytes:
        """Return the map of old to new ids as JSON, for moving embeddings.

        ``{"schema": "bpe.id-map/1", "size": N, "old_to_new": {...}, "made_of": {...}}``, and ``other_to_new``
        where two tokenizers were merged; ``size`` is the number of rows that the new embeddings have.
        """
        content: dict[str, object] = {
            "schema": SCHEMA,
            "size": self.tokenizer.vocab_size,
            "old_to_new": {str(old): new for old, new in sorted(self.old_to_new.items())},
            "made_of": {str(new): list(old) for new, old in sorted(self.made_of.items())},
        }
        if self.other_to_new is not None:
            content["other_to_new"] = {str(old): new for old, new in sorted(self.other_to_new.items())}
        return json.dumps(content, separators=(",", ":")).encode() + b"\n"


def chained(first: Operation, second: Operation) -> Operation:
    """Return two changes as one, whose map leads from the ids before the first to those after the second."""
    before: dict[int, tuple[int, ...]] = {new: (old,) for old, new in first.old_to_new.items() if new is not None}
    before |= first.made_of

    def moved(ids: Mapping[int, int | None]) -> dict[int, int | None]:
        return {old: None if new is None else second.old_to_new.get(new) for old, new in ids.items()}

    def old_ids(parts: tuple[int, ...]) -> tuple[int, ...]:
        olds = [before.get(part, ()) for part in parts]
        return tuple(old for each in olds for old in each) if all(olds) else ()

    made_of = {new: old_ids(parts) for new, parts in second.made_of.items()}
    for middle, parts in first.made_of.items():
        new = second.old_to_new.get(middle)
        if new is not None:
            made_of[new] = parts
    others = moved(first.other_to_new) if first.other_to_new is not None else second.other_to_new
    summary, notes = (*first.summary, *second.summary), (*first.notes, *second.notes)
    return Operation(second.tokenizer, moved(first.old_to_new), made_of, summary, notes, others)


def used_ids(tokenizer: Tokenizer) -> list[int]:
    """Return the ids of all tokens, ascending: ordinary, special, and the unknown one."""
    unk_id = tokenizer.model.unk_id
    ids = {token_id for token_id, _ in tokenizer.model.vocabulary.items()} | tokenizer.special_ids.keys()
    ids |= {token_id for token_id, _ in tokenizer.model.texts}
    return sorted(ids if unk_id is None else ids | {unk_id})


def kept(tokenizer: Tokenizer) -> dict[int, int | None]:
    """Return the map of a change that leaves every id as it is."""
    return {token_id: token_id for token_id in used_ids(tokenizer)}


def protected_ids(tokenizer: Tokenizer) -> set[int]:
    """Return the ids that something beside the model refers to, and those of the unknown token and of a codebook.

    Raises:
        FormatError: if the post-processor is broken.
    """
    named = {token_id for _, token_id in tokenizer.usage.roles} | tokenizer.special_ids.keys()
    if tokenizer.usage.padding is not None:
        named.add(tokenizer.usage.padding.pad_id)
    unk_id = tokenizer.model.unk_id
    if unk_id is not None:
        named.add(unk_id)
    if tokenizer.model.codebook is not None:
        named |= codebook_ids(tokenizer.model)
    return named | _ids_in(tokenizer.post_processor)


def renumber(tokenizer: Tokenizer, new_ids: Mapping[int, int | None]) -> Tokenizer:
    """Return a tokenizer with the new ids of a map, without the tokens that the map leaves out.

    What its file said of itself is dropped: it was about other ids.

    Args:
        tokenizer: The tokenizer.
        new_ids: New ids by old, in the same order; those of ``protected_ids`` are there.

    Raises:
        FormatError: if the post-processor is broken.
    """

    def moved(token_id: int) -> int:
        new = new_ids.get(token_id)
        return token_id if new is None else new

    usage = tokenizer.usage
    return replace(
        tokenizer,
        model=renumbered_model(tokenizer.model, new_ids),
        special_tokens=tuple(replace(token, token_id=moved(token.token_id)) for token in tokenizer.special_tokens),
        post_processor=_renumbered(tokenizer.post_processor, moved),
        usage=replace(
            usage,
            roles=tuple((role, moved(token_id)) for role, token_id in usage.roles),
            padding=usage.padding and replace(usage.padding, pad_id=moved(usage.padding.pad_id)),
        ),
        origin=tokenizer.origin and Origin("", trained=tokenizer.origin.trained),
    )


def renumbered_model(model: Model, new_ids: Mapping[int, int | None]) -> Model:
    """Return a model with the new ids of a map, in the same order, without the tokens that the map leaves out."""
    vocabulary = model.vocabulary
    scores = model.scores if isinstance(model, (ScoredBpe, Unigram)) else None
    kinds = model.kinds if isinstance(model, (ScoredBpe, Unigram)) else b""
    unk_id = model.unk_id
    held = max(vocabulary.size, len(scores or ()), -1 if unk_id is None else unk_id + 1)
    order = [old for old in sorted(new_ids) if old < held and new_ids[old] is not None]
    texts = [vocabulary.token(old) if old < vocabulary.size else b"" for old in order]
    changed: dict[str, Any] = {"vocabulary": Vocabulary.from_tokens(texts)}
    if scores is not None:
        changed["scores"] = array("d", (scores[old] for old in order))
    if isinstance(model, LongestMatch) and model.frequencies is not None:
        counts = model.frequencies
        changed["frequencies"] = array("d", (counts[old] if old < len(counts) else 0 for old in order))
    if kinds:
        changed["kinds"] = bytes(kinds[old] for old in order)
    if unk_id is not None:
        changed["unk_id"] = new_ids[unk_id]
    if isinstance(model, MergeBpe):
        kept_texts = ((new_ids.get(old), text) for old, text in model.texts)
        changed["texts"] = tuple((new, text) for new, text in kept_texts if new is not None)
    if isinstance(model, (MergeBpe, CharacterBpe)):
        moved = {old: new for old, new in new_ids.items() if new is not None}
        changed["merges"] = Merges.from_pairs(
            [moved[part] for part in merge] for merge in model.merges if all(part in moved for part in merge)
        )
    elif isinstance(model, EventBpe):
        gone = {token_id for token_id, _ in vocabulary.items() if new_ids.get(token_id) is None}
        left = without(model.events, gone)
        changed["events"] = array("I", (number if number == SPLIT else new_ids[number] for number in left))
    return replace(model, **changed)


def _renumbered(post_processor: str | None, moved: Callable[[int], int]) -> str | None:
    """Replace each id in a post-processor by the result of a function."""
    if post_processor is None:
        return None
    component, places = _parsed(post_processor)
    for holder, place in places:
        holder[place] = moved(holder[place])
    return json.dumps(component, separators=(",", ":"), ensure_ascii=False)


def _ids_in(post_processor: str | None) -> set[int]:
    """Return the ids that a post-processor names."""
    return set() if post_processor is None else {holder[place] for holder, place in _parsed(post_processor)[1]}


def _parsed(post_processor: str) -> tuple[object, list[tuple[list[int], int]]]:
    """Parse a post-processor; return the component, and each list in it that holds an id with the place of the id."""
    try:
        component = json.loads(post_processor)
        places = [*_places_of_ids(component)]
        for holder, place in places:
            if type(holder[place]) is not int:
                raise TypeError
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise FormatError("the tokenizer's post-processor is broken, so its ids cannot be moved") from error
    return component, places


def _places_of_ids(component: dict[str, Any]) -> Iterator[tuple[list[int], int]]:
    for processor in component.get("processors", ()):
        yield from _places_of_ids(processor)
    for side in ("sep", "cls"):
        if side in component:
            yield component[side], 1
    if component["type"] == "TemplateProcessing":
        for token in component["special_tokens"].values():
            for place in range(len(token["ids"])):
                yield token["ids"], place


_CHUNK = 1 << 16
_NO_LIMIT = 1 << 62


def count_pieces(
    tokenizer: Tokenizer,
    blocks: Iterable[Block],
    counts: _core.Counts,
    threads: int = 1,
    specials: Specials = (),
    *,
    by_line: bool = False,
) -> None:
    """Run documents through a tokenizer's stages and add the resulting pieces to counts.

    Args:
        tokenizer: Whose stages.
        blocks: The documents.
        counts: What is added to.
        threads: Number of threads.
        specials: Which special tokens are found in the text; those, and added tokens, are taken out.
        by_line: Whether each line is cut by itself, with its end; what superwords are learnt from is.

    Raises:
        TrainingError: if there are more different pieces than the counts' memory holds, or text cannot be cut.
        UsageError: if a name in ``specials`` is unknown.
    """
    cutter = ByLine(tokenizer.engine) if by_line else tokenizer.engine
    count_blocks(blocks, cutter, counts, threads, tokenizer.matcher(specials), smaller="count a sample of the corpus")


def as_spelt(tokenizer: Tokenizer, counts: _core.Counts) -> _core.Counts:
    """Return counted pieces as the model gets them: of bytes, or spelt in visible characters if its tokens are."""
    if tokenizer.model.byte_level or ByteLevel() not in tokenizer.pre_tokenizer:
        return counts
    spelt = _core.Counts(_NO_LIMIT)
    for start in range(0, counts.unique, _CHUNK):
        items = counts.items(start, _CHUNK)
        pieces = [to_visible(piece).encode() for piece, _ in items]
        numbers = array("Q", (number for _, number in items))
        spelt.add_pieces(b"".join(pieces), array("Q", accumulate(map(len, pieces))), numbers)
    return spelt


def segmented(model: Model, counts: _core.Counts) -> Iterator[tuple[list[bytes], array[int], memoryview, memoryview]]:
    """Encode the pieces of a corpus, as ``as_spelt`` gives them, by a model alone, some thousands at a time.

    Yields:
        Pieces, how often each occurs (u64), the ids of all of them (u32), where each piece's end (u64).
    """
    bare = Tokenizer(model)
    for start in range(0, counts.unique, _CHUNK):
        items = counts.items(start, _CHUNK)
        pieces = [piece for piece, _ in items]
        block = Block(b"".join(pieces), array("Q", accumulate(map(len, pieces))))
        ids, ends = bare.encode_block(block)
        yield pieces, array("Q", (number for _, number in items)), ids, ends


def count_tokens(model: Model, counts: _core.Counts) -> dict[int, int]:
    """Count how often each token occurs in a corpus, by id, given its pieces as ``as_spelt`` gives them."""
    uses: dict[int, int] = {}
    for _, numbers, ids, ends in segmented(model, counts):
        start = 0
        for number, end in zip(numbers, ends, strict=True):
            for token_id in ids[start:end]:
                uses[token_id] = uses.get(token_id, 0) + number
            start = end
    return uses
