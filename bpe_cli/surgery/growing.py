"""Make a tokenizer larger: by given tokens, or by further training.

``extend``: the corpus is cut by the tokenizer's own stages and segmented by its own merges; what is learnt from there
on comes behind all merges that there are, so a text's tokens only change where new ones are made of them. Going on from
N merges to N + M on the same corpus gives what training N + M at once gives.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bpe_cli import _core
from bpe_cli.errors import UsageError
from bpe_cli.stages import RankBpe, SpecialToken
from bpe_cli.stages.vocabulary import MAX_ID, Merges
from bpe_cli.support.messages import plural
from bpe_cli.surgery.learning import Tie, extensible, learn
from bpe_cli.surgery.longer import as_before, encoded, first_few, longer
from bpe_cli.surgery.merge_rules import made_of
from bpe_cli.surgery.operation import Operation, Progress, kept
from bpe_cli.tokenizer import Tokenizer


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
    parts: dict[int, tuple[int, ...]] = {}
    repeated, existing, unspelt = 0, [], 0
    for token in tokens:
        if not token.content:
            raise UsageError("a token to add is empty")
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
        ids = encoded(tokenizer, token.content)
        parts[token_id] = ids or ()
        unspelt += ids is None
    grown = replace(tokenizer, special_tokens=(*tokenizer.special_tokens, *added)) if added else tokenizer
    summary = [f"{len(added):,} added"]
    notes = []
    if repeated:
        summary.append(f"{repeated:,} given twice")
    if existing:
        summary.append(f"{len(existing):,} already there and kept")
        notes.append(f"{first_few(existing)}: already a token, and kept as it is")
    if unspelt:
        notes.append(f"{unspelt:,} of the new tokens have a text that could not be encoded before")
    return Operation(grown, kept(tokenizer), parts, tuple(summary), tuple(notes))


def with_special_tokens(tokenizer: Tokenizer, tokens: Iterable[SpecialToken]) -> Operation:
    """Add special tokens with ids of their own; ``made_of`` is how the tokenizer encoded their texts before.

    Raises:
        UsageError: if an id is taken or out of range, or a token's text already has another id.
    """
    grown = tokenizer.with_special_tokens(tokens)
    there = kept(tokenizer)
    new = (token for token in grown.special_tokens if token.token_id not in there)
    return Operation(grown, there, {token.token_id: encoded(tokenizer, token.content) or () for token in new})


def extend(
    tokenizer: Tokenizer,
    counts: _core.Counts,
    vocab_size: int,
    *,
    min_frequency: int | None = None,
    tie: Tie = "lowest-ids",
    max_token_length: int | None = None,
    progress: Progress | None = None,
) -> Operation:
    """Learn further merges; their tokens get the ids after all others.

    What the tokenizer cannot spell (the unknown token, unless merges use it, and bytes of unknown
    characters) divides a piece. Text that spells such a token or a special one out is never learnt as a token.
    ``made_of`` is what the new token's text was before.

    Args:
        tokenizer: BPE over bytes or characters.
        counts: Pieces of a corpus, as ``count_pieces`` counts them with ``specials="all"``, and ``by_line`` if the
            tokenizer ``learns_superwords``.
        vocab_size: Ids to end with: all of the tokenizer's, unused ones too, and the new ones.
        min_frequency: A pair that occurs less often is not merged; None: as the trainers have it, 1 for
            bytes, 2 for characters.
        tie: Which of the most frequent pairs is merged.
        max_token_length: Most bytes in a new token, for the tie ``smallest-text`` only.
        progress: Called now and then with (ids so far, ids wanted).

    Raises:
        UsageError: if there are as many tokens already, or more than fit.
        TrainingError: if the corpus has no text.
        FormatError: if the model does not merge, or merges by ranks that no list of merges can replace.
        InputError: if the model has no token for a byte of the corpus.
    """
    if isinstance(tokenizer.model, RankBpe):  # whose merges depend on which tokens there are
        tokenizer = tokenizer.without_dead_merges()
    model = tokenizer.model
    merging, live = extensible(model), extensible(tokenizer.live_model)
    old_size = tokenizer.vocab_size
    if vocab_size <= old_size:
        raise UsageError(f"the tokenizer's ids run to {old_size - 1:,}: it cannot be extended to {vocab_size:,} tokens")
    if vocab_size > _core.MAX_TOKENS:
        raise UsageError(f"a vocabulary of {vocab_size} is larger than the {_core.MAX_TOKENS:,} that fit")
    tokens, merges, shortage = learn(
        tokenizer, counts, vocab_size - old_size,
        min_frequency=min_frequency, tie=tie, max_token_length=max_token_length, progress=progress,
    )  # fmt: skip
    extended = longer(merging, old_size, tokens, Merges(merging.merges.triples + merges))
    grown, notes = as_before(model, extended, "old merges and the new ones")
    return Operation(
        replace(tokenizer, model=grown),
        kept(tokenizer),
        made_of(live, extended, range(old_size, old_size + len(tokens))),
        (plural(len(tokens), "new token"), plural(len(merges) // 3, "merge")),
        (*notes, *([shortage] if shortage else ())),
    )
