"""Let the training of a BPE tokenizer go on, on a corpus that it was not trained on.

The corpus is cut by the tokenizer's own stages and segmented by its own merges; what is learnt from
there on comes behind all merges that there are, so a text's tokens only change where new ones are made
of them. Going on from N merges to N + M on the same corpus gives what training N + M at once gives.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from bpe_cli import _core
from bpe_cli.errors import FormatError, TrainingError, UsageError
from bpe_cli.stages import CharacterBpe, MergeBpe, Model, RankBpe
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.messages import no_pair, plural
from bpe_cli.surgery.corpus import segmented
from bpe_cli.surgery.merge_rules import made_of, textless
from bpe_cli.surgery.operation import Operation, Progress, kept
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.merging import as_merges, as_ranks

Tie = Literal["lowest-ids", "first-seen", "largest-text"]
"""Which of the most frequent pairs is merged; see ``trainers.bbpe.COMPAT``."""


def extend(
    tokenizer: Tokenizer,
    counts: _core.Counts,
    vocab_size: int,
    *,
    min_frequency: int | None = None,
    tie: Tie = "lowest-ids",
    progress: Progress | None = None,
) -> Operation:
    """Learn further merges; their tokens get the ids after all others.

    What the tokenizer cannot spell (the unknown token, unless merges use it, and bytes of unknown
    characters) divides a piece.
    ``made_of`` is what the new token's text was before.

    Args:
        tokenizer: BPE over bytes or characters.
        counts: Pieces of a corpus, as ``count_pieces`` counts them with ``specials="all"``.
        vocab_size: Ids to end with: all of the tokenizer's, unused ones too, and the new ones.
        min_frequency: A pair that occurs less often is not merged; None: as the trainers have it, 1 for
            bytes, 2 for characters.
        tie: Which of the most frequent pairs is merged.
        progress: Called now and then with (ids so far, ids wanted).

    Raises:
        UsageError: if there are as many tokens already, or more than fit.
        TrainingError: if the corpus has no text, or it spells out a special token again and again.
        FormatError: if the model does not merge, or by ranks of which no list of merges can be made.
        InputError: if the model has no token for a byte of the corpus.
    """
    if isinstance(tokenizer.model, RankBpe):  # whose merges depend on which tokens there are
        tokenizer = tokenizer.without_dead_merges()
    model = tokenizer.model
    merging, live = _listed(model), _listed(tokenizer.live_model)
    old_size = tokenizer.vocab_size
    if vocab_size <= old_size:
        raise UsageError(f"the tokenizer's ids run to {old_size - 1:,}: it cannot be extended to {vocab_size:,} tokens")
    if vocab_size > _core.MAX_TOKENS:
        raise UsageError(f"a vocabulary of {vocab_size} is larger than the {_core.MAX_TOKENS:,} that fit")
    if counts.unique == 0:
        raise TrainingError("there is nothing to train on: the corpus has no text")
    ids, ends, numbers = array("I"), array("Q"), array("Q")
    for _, occurrences, found, found_ends in segmented(tokenizer.live_model, counts):
        base = len(ids)
        ids.frombytes(found.cast("B"))
        ends.extend(base + end for end in found_ends)
        numbers.extend(occurrences)
    usual = 2 if isinstance(model, CharacterBpe) else 1
    minimum = max(1, usual if min_frequency is None else min_frequency)
    trained = _core.resume_bpe(
        ids,
        ends,
        numbers,
        initial=_mergeable(tokenizer, live),
        vocab_size=vocab_size,
        min_frequency=minimum,
        tie=tie,
        progress=progress,
        continuing_subword_prefix=model.continuing_subword_prefix if isinstance(model, CharacterBpe) else "",
    )
    blob, token_ends = trained.tokens()
    tokens = [blob[start:end] for start, end in pairwise([0, *memoryview(token_ends)])][old_size:]
    _refuse_special(tokenizer, tokens)
    learnt = array("I", memoryview(trained.merges).tobytes())
    vocabulary = model.vocabulary
    present = [vocabulary.token(token_id) for token_id in range(vocabulary.size)]
    padding = [b""] * (old_size - vocabulary.size)
    longer = replace(
        merging,
        vocabulary=Vocabulary.from_tokens([*present, *padding, *tokens]),
        merges=Merges(merging.merges.triples + learnt),
    )
    notes = []
    grown: RankBpe | MergeBpe | CharacterBpe = longer
    if isinstance(model, RankBpe) and isinstance(longer, MergeBpe):
        ranks = as_ranks(longer)
        grown = ranks or longer
        if ranks is None:
            notes.append("no ranks do what the old merges and the new ones do: the result has merges")
    if trained.exhausted:
        reached = old_size + len(tokens)
        notes.append(f"{no_pair(minimum)}: the vocabulary has {reached:,} ids, not {vocab_size:,}")
    return Operation(
        replace(tokenizer, model=grown),
        kept(tokenizer),
        made_of(live, longer, range(old_size, old_size + len(tokens))),
        (plural(len(tokens), "new token"), plural(len(learnt) // 3, "merge")),
        tuple(notes),
    )


def _listed(model: Model) -> MergeBpe | CharacterBpe:
    """Return a model whose merges are listed.

    Raises:
        FormatError: if it does not merge, or by ranks of which no list of merges can be made.
    """
    if isinstance(model, CharacterBpe):
        return model
    if isinstance(model, (RankBpe, MergeBpe)):
        return as_merges(model)
    raise FormatError(
        f"training can go on for BPE over bytes or characters only, and this is {model.kind}",
        hint="scores become merges in tokenizer.json: convert to it, extend that, and convert on"
        if model.kind == "bpe-scores"
        else "train a new tokenizer on both corpora together",
    )


def _mergeable(tokenizer: Tokenizer, model: MergeBpe | CharacterBpe) -> list[bytes]:
    """Return the texts of tokens by id; ``b""`` for those that merges are to leave alone."""
    tokens = [b""] * tokenizer.vocab_size
    left_alone = textless(tokenizer, model)
    for token_id, content in model.vocabulary.items():
        if token_id not in left_alone:
            tokens[token_id] = content
    return tokens


def _refuse_special(tokenizer: Tokenizer, tokens: list[bytes]) -> None:
    """Make sure that no text becomes a token that reads like a special one.

    Raises:
        TrainingError: if a token would read like a special one.
    """
    contents = {token.content for token in tokenizer.special_tokens}
    for token in tokens:
        if token in contents:
            raise TrainingError(
                f"the corpus has the text of the special token {token.decode('utf-8', 'replace')!r} so often that it "
                "would become an ordinary token",
                hint="take it out of the corpus, or out of its pieces: count with specials='all'",
            )
