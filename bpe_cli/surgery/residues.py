"""Take residues of merging out of what text becomes: tokens that are made to be merged on, and hardly ever stay.

A token that others are made of cannot leave a list of merges: they would be out of reach. So LiteToken
(arXiv:2602.04706) and Scaffold-BPE (arXiv:2404.17808) go on merging by it, and take it apart where it is left in the
end. SentencePiece's BPE has that: an *unused* piece serves merging only, and becomes again the two parts that it was
made of; one of these that is unused, too. What PickyBPE (arXiv:2409.04599) does at a certain place in the order of
merges has no such file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bpe_cli import _core
from bpe_cli.errors import FormatError, TrainingError
from bpe_cli.stages import ScoredBpe
from bpe_cli.stages.spelling import NORMAL, UNKNOWN, UNUSED
from bpe_cli.support.core_arguments import share_of
from bpe_cli.surgery.merge_rules import MergeRules, composite, own_merges
from bpe_cli.surgery.operation import Operation, count_tokens, kept, protected_ids
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Origin


def split_residues(tokenizer: Tokenizer, counts: _core.Counts, share: float, least: int) -> Operation:
    """Make the residues of SentencePiece's BPE unused: merging stays as it is, and no id moves.

    The longest pieces are looked at first. One that is taken apart leaves its parts in the text, so that these may
    stay more often than before: what is left stays more often than ``share`` says, taken apart as everything then is.

    Args:
        tokenizer: The tokenizer. Pieces that are unused already count as the others, and stay unused.
        counts: Pieces of a corpus, as ``count_pieces`` counts them.
        share: The largest part of the times it is made that a residue stays, 0 to 1.
        least: How often the corpus makes a residue at least.

    Raises:
        UsageError: if ``share`` is not from 0 to 1.
        TrainingError: if the corpus has no text.
        FormatError: if the model has no unused pieces, or a piece has a character that is none.
        InputError: if the model has no token for a character of the corpus.
    """
    model = splittable(tokenizer, share)
    if counts.unique == 0:
        raise TrainingError("there is nothing to count: the corpus has no text")
    before = bytearray(model.kinds or bytes([NORMAL]) * len(model.scores))
    before[model.unk_id] = UNKNOWN
    merging = replace(model, kinds=bytes(before).replace(bytes([UNUSED]), bytes([NORMAL])))
    found = residues(merging, own_merges(merging), count_tokens(merging, counts), share, least)
    after = before[:]
    for token_id in found.keys() - protected_ids(tokenizer):
        after[token_id] = UNUSED
    changed = sum(old != new for old, new in zip(before, after, strict=True))
    origin = tokenizer.origin and Origin("", trained=tokenizer.origin.trained)
    return Operation(
        replace(tokenizer, model=replace(model, kinds=bytes(after)), origin=origin),
        kept(tokenizer),
        summary=(f"{changed:,} residues made unused",),
    )


def splittable(tokenizer: Tokenizer, share: float) -> ScoredBpe:
    """Return the model of a tokenizer that can have unused pieces; checks the share too.

    Raises:
        BpeError: as ``split_residues`` does.
    """
    model = tokenizer.model
    share_of("`split_residues`", share)
    if not isinstance(model, ScoredBpe):
        raise FormatError(
            f"only SentencePiece's BPE has pieces that serve merging only, and this is {model.kind}",
            hint="a residue cannot leave a list of merges: the tokens that are made of it would be out of reach",
        )
    return model


def residues(
    model: ScoredBpe, rules: MergeRules, uses: Mapping[int, int], share: float, least: int
) -> dict[int, tuple[int, int]]:
    """Find what is made at least so often, and stays at most such a part of the times.

    Args:
        model: The model, of normal pieces.
        rules: Its merges.
        uses: How often each token is left of a corpus.
        share: That part.
        least: That number.

    Returns:
        (how often it stays, how often it is made) by id; what is taken apart counts as its parts.
    """
    stays, made, found = dict(uses), dict(uses), {}
    products = sorted(composite(model), key=lambda token_id: len(model.vocabulary.token(token_id)), reverse=True)
    for token_id in products:  # what is made of a token is longer, and so all of it has been looked at
        parts = rules.parts(token_id)
        times, left = made.get(token_id, 0), stays.get(token_id, 0)
        if parts is None or not times:
            continue
        apart = times >= least and left / times <= share
        if apart:
            found[token_id] = left, times
        for part in parts:
            made[part] = made.get(part, 0) + times
            if apart:
                stays[part] = stays.get(part, 0) + left
    return found
