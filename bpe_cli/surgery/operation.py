"""What every change to a tokenizer gives: the new tokenizer, and which ids became which."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.stages import CharacterBpe, LongestMatch, MergeBpe, Model, ScoredBpe, SpecialToken, Unigram
from bpe_cli.stages.models import codebook_ids
from bpe_cli.stages.vocabulary import MAX_ID, Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Origin

SCHEMA = "bpe.id-map/1"

Progress = Callable[[int, int], None]
"""Called now and then with (done so far, all there is to do)."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What changing a tokenizer gave.

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

    def id_map(self) -> bytes:
        """Return which ids became which, as JSON: for moving embeddings.

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
    """Return a tokenizer the ids of a map, leaving out the tokens that have none in it.

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
    """Return a model the ids of a map, in the same order, without the tokens that have none in it."""
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
    return replace(model, **changed)


def _renumbered(post_processor: str | None, moved: Callable[[int], int]) -> str | None:
    """Send each id in a post-processor through a function."""
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
    """Read a post-processor; gives the component, and each list in it that holds an id with the place of the id.

    Raises:
        FormatError: if it is broken.
    """
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


# --------------------------------------------------------------------------------------------------
# Add tokens to a tokenizer: they get the ids after all others.


def add_tokens(tokenizer: Tokenizer, tokens: Iterable[SpecialToken]) -> Operation:
    """Add tokens that are found in text as they stand, whatever the model would make of them.

    A token whose content is one already, ordinary or special, is kept as it is and counted as such; one
    that is given twice is added once. ``made_of`` is how the tokenizer encoded the content before.

    Args:
        tokenizer: The tokenizer.
        tokens: The tokens in order of their new ids; the ids that they have are of no meaning.

    Raises:
        UsageError: if a token is empty, or no id is left.
    """
    present = {token.content for token in tokenizer.special_tokens}
    vocabulary = tokenizer.model.vocabulary
    first = tokenizer.vocab_size
    given: set[bytes] = set()
    added: list[SpecialToken] = []
    made_of: dict[int, tuple[int, ...]] = {}
    repeated, existing, unspelt = 0, [], 0
    for token in tokens:
        if not token.content:
            raise UsageError("a token that is to be added is empty")
        if token.content in given:
            repeated += 1
            continue
        given.add(token.content)
        if token.content in present or vocabulary.id_of(token.content) is not None:
            existing.append(token.content)
            continue
        token_id = first + len(added)
        if token_id >= MAX_ID:
            raise UsageError(f"there is no id left for a new token: ids end at {MAX_ID - 1:,}")
        added.append(replace(token, token_id=token_id))
        try:
            made_of[token_id] = tuple(tokenizer.encode(token.content))
        except InputError:
            made_of[token_id] = ()
            unspelt += 1
    grown = replace(tokenizer, special_tokens=(*tokenizer.special_tokens, *added)) if added else tokenizer
    summary = [f"{len(added):,} added"]
    notes = []
    if repeated:
        summary.append(f"{repeated:,} given twice")
    if existing:
        summary.append(f"{len(existing):,} kept that were there")
        shown = ", ".join(repr(content.decode("utf-8", "backslashreplace")) for content in existing[:3])
        notes.append(f"{shown}{', ...' if len(existing) > 3 else ''}: a token already, and kept as it is")
    if unspelt:
        notes.append(f"{unspelt:,} of the new tokens have a text that could not be encoded before")
    return Operation(grown, kept(tokenizer), made_of, tuple(summary), tuple(notes))
