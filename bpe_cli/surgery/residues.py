"""Take residues of merging out of what text becomes: tokens that are made to be merged on, and hardly ever stay.

A token that others are made of cannot leave a list of merges: they would be out of reach. So LiteToken
(arXiv:2602.04706) and Scaffold-BPE (arXiv:2404.17808) go on merging by it, and take it apart where it is left in the
end. SentencePiece's BPE has that: an *unused* piece serves merging only, and becomes again the two parts that it was
made of; one of these that is unused, too. Byte-level BPE has it as a list of merges with splits behind them
(``EventBpe``), which only bpe.json holds.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import replace

from bpe_cli import _core
from bpe_cli.errors import FormatError, TrainingError
from bpe_cli.stages import ByteLevel, EventBpe, MergeBpe, PrefixSpace, RankBpe, ScoredBpe
from bpe_cli.stages.events import SPLIT, first_merges
from bpe_cli.stages.spelling import NORMAL, UNKNOWN, UNUSED
from bpe_cli.support.blocks import Block
from bpe_cli.support.core_arguments import share_of
from bpe_cli.support.messages import plural, quote
from bpe_cli.surgery.merge_rules import composite, own_merges
from bpe_cli.surgery.operation import Operation, as_spelt, count_tokens, kept, protected_ids
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.merging import as_merges, merges
from bpe_cli.tokenizer.usage import Origin


def split_residues(tokenizer: Tokenizer, counts: _core.Counts, share: float, least: int) -> Operation:
    """Take the residues of SentencePiece's or byte-level BPE apart: merging stays as it is, and no id moves.

    The longest tokens are looked at first. One that is taken apart leaves its parts in the text, so that these may
    stay more often than before: what is left stays more often than ``share`` says, taken apart as everything then is.

    Args:
        tokenizer: The tokenizer. Pieces that are unused already count as the others, and stay unused.
        counts: Pieces of a corpus, as ``count_pieces`` counts them.
        share: The largest part of the times it is made that a residue stays, 0 to 1.
        least: How often the corpus makes a residue at least.

    Raises:
        UsageError: if ``share`` is not from 0 to 1.
        TrainingError: if the corpus has no text.
        FormatError: if the model is another, its merges do not stand in the order in which they build on each other,
            or a piece has a character that is none.
        InputError: if the model has no token for a character of the corpus.
    """
    model = splittable(tokenizer, share)
    if counts.unique == 0:
        raise TrainingError("there is nothing to count: the corpus has no text")
    if isinstance(model, ScoredBpe):
        return _made_unused(tokenizer, model, as_spelt(tokenizer, counts), share, least)
    parts = first_merges(model)
    settled = dict.fromkeys({*protected_ids(tokenizer), *_looked_up(model)}, False)
    apart = _taken_apart(model, parts.get, count_tokens(model, counts), share, least, settled)
    splits = array("I", (number for token_id in apart for number in (token_id, SPLIT, SPLIT)))
    stages = tokenizer.pre_tokenizer
    if PrefixSpace() in stages and ByteLevel() not in stages:
        stages = (*stages, ByteLevel())  # with which alone a file can say it
    origin = tokenizer.origin and Origin("", trained=tokenizer.origin.trained)
    return Operation(
        replace(tokenizer, model=replace(model, events=model.events + splits), pre_tokenizer=stages, origin=origin),
        kept(tokenizer),
        summary=(f"{plural(len(apart), 'residue')} split",),
    )


def _made_unused(tokenizer: Tokenizer, model: ScoredBpe, counts: _core.Counts, share: float, least: int) -> Operation:
    """Make residues unused pieces."""
    kinds = bytearray(model.kinds or bytes([NORMAL]) * len(model.scores))
    kinds[model.unk_id] = UNKNOWN
    unused = {token_id for token_id, kind in enumerate(kinds) if kind == UNUSED}
    merging = replace(model, kinds=bytes(kinds).replace(bytes([UNUSED]), bytes([NORMAL])))
    settled = dict.fromkeys(protected_ids(tokenizer), False) | dict.fromkeys(unused, True)
    uses = count_tokens(merging, counts)
    apart = _taken_apart(merging, own_merges(merging).parts, uses, share, least, settled)
    for token_id in apart:
        kinds[token_id] = UNUSED
    origin = tokenizer.origin and Origin("", trained=tokenizer.origin.trained)
    return Operation(
        replace(tokenizer, model=replace(model, kinds=bytes(kinds)), origin=origin),
        kept(tokenizer),
        summary=(f"{plural(len({*apart} - unused), 'residue')} made unused",),
    )


def splittable(tokenizer: Tokenizer, share: float) -> ScoredBpe | EventBpe:
    """Return the model of a tokenizer whose residues can be taken apart; byte-level BPE as a list of events.

    Raises:
        BpeError: as ``split_residues`` does.
    """
    share_of("`split_residues`", share)
    model = tokenizer.model
    if isinstance(model, ScoredBpe):
        return model
    if isinstance(model, (RankBpe, MergeBpe)):
        model = tokenizer.without_dead_merges().model
    if not isinstance(model, (RankBpe, MergeBpe)):
        raise FormatError(
            f"residues can only be split in SentencePiece's BPE and in byte-level BPE, and this is {model.kind}",
            hint="without a residue, its list of merges could no longer make the tokens that are made of it",
        )
    if model.codebook is not None or model.texts:
        raise FormatError("residues cannot be split where tokens have texts that are not spelt in bytes")
    return _as_events(as_merges(model))


def _as_events(model: MergeBpe) -> EventBpe:
    """Write merges as a list of events, which goes through them once.

    That does the same if each merge stands behind all that make its parts: then no merge ever leaves a place for one
    that stands before it. Of several merges of a token only one ever happens, in any text: the last of those that its
    own bytes run through.
    """
    ids = {token: token_id for token_id, token in model.vocabulary.items()}
    order: dict[tuple[int, int], tuple[int, int]] = {}
    makers: dict[int, list[tuple[int, int]]] = {}
    for number, (left, right, product) in enumerate(model.merges):
        if order.setdefault((left, right), (number, product)) == (number, product):
            makers.setdefault(product, []).append((left, right))
    there = {ids[token] for token in ids if len(token) == 1}
    used: dict[int, int] = {}
    events = array("I")
    for (left, right), (number, product) in order.items():
        if len(makers[product]) > 1:
            token = model.vocabulary.token(product)
            symbols = [ids.get(token[at : at + 1], -1) for at in range(len(token))]
            done = [*merges(symbols, lambda *pair: order.get(pair))]
            makers[product] = [(step.left, step.right) for step in done[-1:] if step.product == product]
        if (left, right) not in makers[product]:
            continue
        if product in used:
            raise FormatError(
                f"residues cannot be split: merge {used[product] + 1} comes before merge {number + 1}, which "
                f"makes a part of it, {quote(model.vocabulary.token(product))}",
                hint="a list with splits is applied once, in order: each merge must come after those of its parts",
            )
        for part in (left, right):
            used.setdefault(part, number)
        if left in there and right in there:
            events.extend((left, right, product))
            there.add(product)
    return EventBpe(model.vocabulary, events, byte_level=True, ignore_merges=model.ignore_merges)


def _looked_up(model: EventBpe) -> set[int]:
    """Return the tokens that are only looked up as whole pieces: merging does not come to them."""
    if not model.ignore_merges:
        return set()
    tokens = dict(model.vocabulary.items())
    ids, ends = Tokenizer(replace(model, ignore_merges=False)).encode_block(Block.of([*tokens.values()]))
    stops = ends.tolist()
    starts = (0, *stops[:-1])
    return {
        token_id
        for token_id, start, stop in zip(tokens, starts, stops, strict=True)
        if ids[start:stop].tolist() != [token_id]
    }


def _taken_apart(
    model: ScoredBpe | EventBpe,
    parts_of: Callable[[int], tuple[int, int] | None],
    uses: Mapping[int, int],
    share: float,
    least: int,
    settled: Mapping[int, bool],
) -> list[int]:
    """Return what is taken apart, the longest first: what is made often enough, and stays too seldom.

    Args:
        model: The model, without unused pieces.
        parts_of: What each token is made of; None for what is not merged.
        uses: How often each token is left of a corpus; what is taken apart is left as its parts.
        share: The largest part of the times it is made that it stays.
        least: How often it is made at least.
        settled: Whether a token is taken apart, of those for which it is not to be decided.
    """
    stays, made = dict(uses), dict(uses)
    apart = []
    products = sorted(composite(model), key=lambda token_id: (-len(model.vocabulary.token(token_id)), token_id))
    for token_id in products:  # what is made of a token is longer, so all of it has been looked at
        parts, times, left = parts_of(token_id), made.get(token_id, 0), stays.get(token_id, 0)
        is_residue = times >= least and bool(times) and left / times <= share
        if parts is None or not settled.get(token_id, is_residue):
            left = 0
        else:
            apart.append(token_id)
        for part in parts or ():
            made[part] = made.get(part, 0) + times
            stays[part] = stays.get(part, 0) + left
    return apart
