"""Change which tokens there are without moving the others: new tokens take the ids of the least useful leaves.

The least used leaves of the merge tree go, as ``prune`` chooses them. Then training goes on from what is left, as
``extend`` does it, and each new token gets the id of one that went. So the size stays, every id that is not replaced
keeps its token, and the rows of embeddings stay where they are.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from itertools import count

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import MergeBpe
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.surgery.growing import extend
from bpe_cli.surgery.learning import Learnt, extensible, learn
from bpe_cli.surgery.longer import Merging, as_before
from bpe_cli.surgery.merge_rules import composite, made_of
from bpe_cli.surgery.operation import Operation, Progress, as_spelt, protected_ids, used_ids
from bpe_cli.surgery.pruning import choose_leaves, prune
from bpe_cli.tokenizer import Tokenizer

_ROUNDS = 20
"""How many rounds of training there are at most because tokens that went are learnt again; one to three are usual."""


def replace_tokens(
    tokenizer: Tokenizer,
    number: int,
    used: _core.Counts,
    learnt_from: _core.Counts,
    *,
    min_frequency: int | None = None,
    progress: Progress | None = None,
) -> Operation:
    """Replace the least used leaves: new tokens, learnt from a corpus, take over their ids.

    A token that would be learnt again does not go, nor do those that it is made of: otherwise its merges would come
    last, and texts with it could change. If the corpus gives fewer new tokens, fewer leaves go. ``old_to_new`` is None
    for ids whose token went; ``made_of`` is what the new token's text was before.

    Args:
        tokenizer: BPE over bytes or characters.
        number: How many tokens to replace.
        used: Pieces of a corpus that says which tokens are useful, as ``count_pieces`` counts them.
        learnt_from: Pieces of the corpus to learn from, counted as for ``extend``.
        min_frequency: As for ``extend``.
        progress: Called now and then with (steps done, all of them): a step is a leaf gone or a token learnt.

    Raises:
        UsageError: if the number is not positive.
        TrainingError: if there are fewer leaves than that, a corpus has no text, or nothing is learnt.
        FormatError: if the model does not merge, or merges by ranks that no list of merges can replace.
        InputError: if the model has no token for a byte of a corpus.
    """
    if number < 1:
        raise UsageError(f"{number} tokens cannot be replaced")
    tokenizer = tokenizer.without_dead_merges()
    model = extensible(tokenizer.model)
    if used.unique == 0:
        raise TrainingError("there is nothing to count: the corpus has no text")
    removable = composite(model) - protected_ids(tokenizer)
    used = as_spelt(tokenizer, used)
    order = choose_leaves(model, used, removable, number, progress and (lambda done, _: progress(done, 2 * number)))
    if len(order) < number:
        raise TrainingError(
            f"{len(order):,} tokens can be replaced, not {number:,}: the others are special, or what everything is "
            "spelt with",
            hint=f"ask for {len(order):,} or fewer",
        )
    size = tokenizer.vocab_size
    smaller, gone, learnt, stay = _learn_in_place_of(
        order, tokenizer, model, learnt_from, min_frequency,
        progress and (lambda done, _: progress(number + done, 2 * number)),
    )  # fmt: skip
    ids = _ids_for(model, gone, learnt)
    renamed = {size + place: token_id for place, token_id in enumerate(ids)}
    merges = array("I", (renamed.get(part, part) for part in learnt.merges))
    texts = [*smaller.vocabulary.tokens()]
    for token_id, text in zip(ids, learnt.tokens, strict=True):
        texts[token_id] = text
    changed = replace(smaller, vocabulary=Vocabulary.from_tokens(texts), merges=Merges(smaller.merges.triples + merges))
    fresh = [token_id for token_id in ids if texts[token_id] != model.vocabulary.token(token_id)]
    result, notes = as_before(tokenizer.model, changed, "merges that are left and the new ones")
    if len(ids) + len(stay) < number:
        notes.append(f"no more pairs are left to merge: {len(ids):,} tokens went, not {number:,}")
    summary = [f"{len(fresh):,} replaced"]
    if stay:
        summary.append(f"{len(stay):,} kept that would be learnt again")
    if len(fresh) < len(ids):
        summary.append(f"{len(ids) - len(fresh):,} learnt again, with the ids they had")
        notes.append("merges of tokens that were learnt again come last now, so texts with them may have other ids")
    went = {*fresh}
    return Operation(
        replace(tokenizer, model=result),
        {token_id: None if token_id in went else token_id for token_id in used_ids(tokenizer)},
        made_of(model, changed, fresh),
        tuple(summary),
        tuple(notes),
    )


def prune_and_extend(
    tokenizer: Tokenizer,
    used: _core.Counts,
    size: int,
    learnt_from: _core.Counts,
    vocab_size: int,
    *,
    progress: Progress | None = None,
) -> Operation:
    """Prune a tokenizer, then learn new tokens; the map leads from the first ids to the last.

    Args:
        tokenizer: BPE over bytes or characters.
        used: Pieces of a corpus that says which tokens are useful, as for ``prune``.
        size: How many tokens are to be left.
        learnt_from: Pieces of the corpus to learn from, as for ``extend``.
        vocab_size: Ids to end with.
        progress: Called now and then with (steps done, all of them).

    Raises:
        BpeError: as ``prune`` and ``extend`` do.
    """
    if vocab_size <= size:
        raise UsageError(f"{size:,} tokens cannot be extended to {vocab_size:,}")
    extensible(tokenizer.model)
    total = len(used_ids(tokenizer)) - size + vocab_size - size
    first = prune(tokenizer, used, size, progress=progress and (lambda done, _: progress(done, total)))
    second = extend(
        first.tokenizer, learnt_from, vocab_size,
        progress=progress and (lambda done, _: progress(total - vocab_size + done, total)),
    )  # fmt: skip
    back = {new: old for old, new in first.old_to_new.items() if new is not None}
    whole, grown = extensible(tokenizer.without_dead_merges().model), extensible(second.tokenizer.model)
    return Operation(
        second.tokenizer,
        first.old_to_new,
        made_of(whole, grown, second.made_of, back),
        (*first.summary, *second.summary),
        second.notes,
    )


def _learn_in_place_of(
    order: list[int],
    tokenizer: Tokenizer,
    model: Merging,
    learnt_from: _core.Counts,
    min_frequency: int | None,
    progress: Progress | None,
) -> tuple[Merging, set[int], Learnt, set[int]]:
    """Learn as many tokens as go, and none of those that go; so fewer may have to go, and training is repeated.

    Args:
        order: What is to go; none comes before the tokens that are made of it.
        tokenizer: The tokenizer.
        model: Its model, whose merges are listed.
        learnt_from: As for ``replace_tokens``, like ``min_frequency``.
        progress: Called now and then with (tokens learnt, at least as many as before; tokens wanted).

    Returns:
        The model without what goes; what goes; what is learnt; and what stays since it would be learnt again.
    """
    size, number = tokenizer.vocab_size, len(order)
    furthest = 0

    def trained(done: int, _: int) -> None:
        nonlocal furthest
        if progress is not None:
            furthest = max(furthest, done - size)
            progress(furthest, number)

    stay: set[int] = set()
    for rounds in count(1):
        gone = {*order}
        smaller = _without(model, gone)
        learnt = learn(
            replace(tokenizer, model=smaller), learnt_from, len(gone), min_frequency=min_frequency, progress=trained
        )
        again = _learnt_again(model, order, learnt) if rounds < _ROUNDS else set()
        if again:
            stay |= again
            order = [token_id for token_id in order if token_id not in again]
        elif len(learnt.tokens) == len(gone):
            break
        elif learnt.tokens or stay:
            order = order[: len(learnt.tokens)]
        else:
            raise TrainingError("nothing new is learnt from the corpus, so no token is replaced")
    return smaller, gone, learnt, stay


def _without(model: Merging, gone: set[int]) -> Merging:
    """Return a model of the same ids without some leaves; their ids are unused."""
    merges = Merges.from_pairs(merge for merge in model.merges if merge[2] not in gone)
    smaller = replace(model, vocabulary=model.vocabulary.without(gone), merges=merges)
    if isinstance(smaller, MergeBpe) and smaller.texts:
        smaller = replace(smaller, texts=tuple(each for each in smaller.texts if each[0] not in gone))
    return smaller


def _learnt_again(model: Merging, order: list[int], learnt: Learnt) -> set[int]:
    """Return the tokens that went and were learnt again, and those that went of which they were made.

    Args:
        model: The model before any token went.
        order: The tokens that went; none comes before the tokens that are made of it.
        learnt: What training gave.
    """
    texts = {*learnt.tokens}
    again = {token_id for token_id in order if model.vocabulary.token(token_id) in texts}
    parts: dict[int, set[int]] = {token_id: set() for token_id in order}
    for left, right, product in model.merges:
        if product in parts:
            parts[product] |= {left, right} & parts.keys()
    for token_id in order:
        if token_id in again:
            again |= parts[token_id]
    return again


def _ids_for(model: Merging, gone: set[int], learnt: Learnt) -> list[int]:
    """Return the ids of learnt tokens: the one that a token had before it went, else the lowest that is free."""
    had = {model.vocabulary.token(token_id): token_id for token_id in gone}
    before = [had.get(text) for text in learnt.tokens]
    free = iter(sorted(gone.difference(token_id for token_id in before if token_id is not None)))
    return [next(free) if token_id is None else token_id for token_id in before]
