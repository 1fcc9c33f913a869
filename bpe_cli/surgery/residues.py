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
from bpe_cli.support.messages import plural
from bpe_cli.surgery.merge_rules import composite, own_merges
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
    kinds = bytearray(model.kinds or bytes([NORMAL]) * len(model.scores))
    kinds[model.unk_id] = UNKNOWN
    unused = {token_id for token_id, kind in enumerate(kinds) if kind == UNUSED}
    merging = replace(model, kinds=bytes(kinds).replace(bytes([UNUSED]), bytes([NORMAL])))
    settled = dict.fromkeys(protected_ids(tokenizer), False) | dict.fromkeys(unused, True)
    apart = _taken_apart(merging, count_tokens(merging, counts), share, least, settled)
    for token_id in apart:
        kinds[token_id] = UNUSED
    origin = tokenizer.origin and Origin("", trained=tokenizer.origin.trained)
    return Operation(
        replace(tokenizer, model=replace(model, kinds=bytes(kinds)), origin=origin),
        kept(tokenizer),
        summary=(f"{plural(len(apart - unused), 'residue')} made unused",),
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


def _taken_apart(
    model: ScoredBpe, uses: Mapping[int, int], share: float, least: int, settled: Mapping[int, bool]
) -> set[int]:
    """Return what is taken apart: what is made at least so often, and stays at most such a part of the times.

    Args:
        model: The model, without unused pieces.
        uses: How often each token is left of a corpus; what is taken apart is left as its parts.
        share: That part.
        least: That number.
        settled: Whether a token is taken apart, of those for which it is not to be decided.
    """
    rules, stays, made = own_merges(model), dict(uses), dict(uses)
    apart = set()
    products = sorted(composite(model), key=lambda token_id: -len(model.vocabulary.token(token_id)))
    for token_id in products:  # what is made of a token is longer, so all of it has been looked at
        parts, times, left = rules.parts(token_id), made.get(token_id, 0), stays.get(token_id, 0)
        is_residue = times >= least and bool(times) and left / times <= share
        if parts is None or not settled.get(token_id, is_residue):
            left = 0
        else:
            apart.add(token_id)
        for part in parts or ():
            made[part] = made.get(part, 0) + times
            stays[part] = stays.get(part, 0) + left
    return apart
