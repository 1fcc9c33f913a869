"""Make a tokenizer larger: by given tokens, by further training, by another tokenizer's tokens.

``extend``: the corpus is cut by the tokenizer's own stages and segmented by its own merges; what is learnt from there
on comes behind all merges that there are, so a text's tokens only change where new ones are made of them. Going on from
N merges to N + M on the same corpus gives what training N + M at once gives.

``merge``: the second's merges come after all of the first's, so some of its tokens may be out of reach: their parts are
merged otherwise by then. A token that its own symbols do not become is made nowhere, since nothing that stands around a
token has a part in making it. So such tokens are left out, with the merges that they are in, and no encoding depends on
it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from bpe_cli import _core
from bpe_cli.errors import FormatError, InputError, TrainingError, UsageError
from bpe_cli.stages import CharacterBpe, MergeBpe, Model, RankBpe, SpecialToken
from bpe_cli.stages.vocabulary import MAX_ID, Merges, Vocabulary
from bpe_cli.support.core_arguments import options_json
from bpe_cli.support.messages import no_pair, plural, quote
from bpe_cli.surgery.merge_rules import MergeRules, composite, made_of, textless
from bpe_cli.surgery.operation import Operation, Progress, kept, segmented, used_ids
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.merging import as_merges, as_ranks

Tie = Literal["lowest-ids", "first-seen", "largest-text"]
"""Which of the most frequent pairs is merged; see ``trainers.bbpe.COMPAT``."""

_Merging = MergeBpe | CharacterBpe
_Triples = list[tuple[int, int, int]]


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
        ids = _encoded(tokenizer, token.content)
        parts[token_id] = ids or ()
        unspelt += ids is None
    grown = replace(tokenizer, special_tokens=(*tokenizer.special_tokens, *added)) if added else tokenizer
    summary = [f"{len(added):,} added"]
    notes = []
    if repeated:
        summary.append(f"{repeated:,} given twice")
    if existing:
        summary.append(f"{len(existing):,} kept that were there")
        notes.append(f"{_first_few(existing)}: a token already, and kept as it is")
    if unspelt:
        notes.append(f"{unspelt:,} of the new tokens have a text that could not be encoded before")
    return Operation(grown, kept(tokenizer), parts, tuple(summary), tuple(notes))


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
        FormatError: if the model does not merge, or merges by ranks that no list of merges can replace.
        InputError: if the model has no token for a byte of the corpus.
    """
    if isinstance(tokenizer.model, RankBpe):  # whose merges depend on which tokens there are
        tokenizer = tokenizer.without_dead_merges()
    model = tokenizer.model
    merging, live = _extensible(model), _extensible(tokenizer.live_model)
    old_size = tokenizer.vocab_size
    if vocab_size <= old_size:
        raise UsageError(f"the tokenizer's ids run to {old_size - 1:,}: it cannot be extended to {vocab_size:,} tokens")
    if vocab_size > _core.MAX_TOKENS:
        raise UsageError(f"a vocabulary of {vocab_size} is larger than the {_core.MAX_TOKENS:,} that fit")
    if counts.unique == 0:
        raise TrainingError("there is nothing to train on: the corpus has no text")
    ids, ends, numbers = array("I"), array("Q"), array("Q")
    for _, occurrences, segment_ids, segment_ends in segmented(tokenizer.live_model, counts):
        base = len(ids)
        ids.frombytes(segment_ids.cast("B"))
        ends.extend(base + end for end in segment_ends)
        numbers.extend(occurrences)
    usual = 2 if isinstance(model, CharacterBpe) else 1
    minimum = max(1, usual if min_frequency is None else min_frequency)
    trained = _core.resume_bpe(
        ids,
        ends,
        numbers,
        options_json(
            initial=_mergeable(tokenizer, live),
            vocab_size=vocab_size,
            min_frequency=minimum,
            tie=tie,
            decoration={"prefix": model.continuing_subword_prefix.encode() if isinstance(model, CharacterBpe) else b""},
        ),
        progress,
    )
    blob, token_ends = trained.tokens()
    tokens = [blob[start:end] for start, end in pairwise([0, *memoryview(token_ends)])][old_size:]
    _refuse_special(tokenizer, tokens)
    learnt = array("I", memoryview(trained.merges).tobytes())
    longer = _longer(merging, old_size, tokens, Merges(merging.merges.triples + learnt))
    grown, notes = _as_before(model, longer, "old merges and the new ones")
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


def _extensible(model: Model) -> _Merging:
    """Return a model whose merges are listed."""
    merging = _listed(model)
    if merging is None:
        raise FormatError(
            f"training can go on for BPE over bytes or characters only, and this is {model.kind}",
            hint="scores become merges in tokenizer.json: convert to it, extend that, and convert on"
            if model.kind == "bpe-scores"
            else "train a new tokenizer on both corpora together",
        )
    return merging


def _mergeable(tokenizer: Tokenizer, model: MergeBpe | CharacterBpe) -> list[bytes]:
    """Return the texts of tokens by id; ``b""`` for those that merges are to leave alone."""
    tokens = [b""] * tokenizer.vocab_size
    left_alone = textless(tokenizer, model)
    for token_id, content in model.vocabulary.items():
        if token_id not in left_alone:
            tokens[token_id] = content
    return tokens


def _refuse_special(tokenizer: Tokenizer, tokens: list[bytes]) -> None:
    """Check that no new token has the text of a special one."""
    contents = {token.content for token in tokenizer.special_tokens}
    for token in tokens:
        if token in contents:
            raise TrainingError(
                f"the corpus has the text of the special token {token.decode('utf-8', 'replace')!r} so often that it "
                "would become an ordinary token",
                hint="take it out of the corpus, or out of its pieces: count with specials='all'",
            )


def merge(first: Tokenizer, second: Tokenizer) -> Operation:
    """Return the first tokenizer with the tokens of the second that it lacks; their ids follow its own.

    Stages, the unknown token and everything else are the first's. ``other_to_new`` has None for the
    second's tokens that are left out. ``made_of`` is what the first made of a new token's text.

    Raises:
        FormatError: if the two do not merge the same symbols, or merge by ranks that no list of merges can replace.
        UsageError: if there are more tokens than fit.
    """
    first, second = first.without_dead_merges(), second.without_dead_merges()
    ours, theirs = _mergeable_with(first.model, "first"), _mergeable_with(second.model, "second")
    _refuse_other_kind(ours, theirs)
    size = first.vocab_size
    texts: list[bytes] = []
    new_ids: dict[int, int] = {}
    without_text = textless(second, theirs)
    for token_id, content in theirs.vocabulary.items():
        if token_id in without_text:
            continue
        known = ours.vocabulary.id_of(content)
        if known is None:
            known = size + len(texts)
            texts.append(content)
        new_ids[token_id] = known
    pairs = {(left, right) for left, right, _ in ours.merges}
    further = [
        (new_ids[left], new_ids[right], new_ids[product])
        for left, right, product in theirs.merges
        if new_ids.keys() >= {left, right, product} and (new_ids[left], new_ids[right]) not in pairs
    ]
    if size + len(texts) > _core.MAX_TOKENS:
        raise UsageError(
            f"ids of new tokens would run from {size:,} to {size + len(texts) - 1:,}; they end at "
            f"{_core.MAX_TOKENS - 1:,}"
        )
    lost = _unreachable(ours, further, texts, size)

    def closed(new: int) -> int:
        return new - bisect_left(lost, new)

    gone = {*lost}
    further = [
        (closed(left), closed(right), closed(product))
        for left, right, product in further
        if gone.isdisjoint((left, right, product))
    ]
    texts = [text for new, text in enumerate(texts, size) if new not in gone]
    other_to_new: dict[int, int | None] = dict.fromkeys(used_ids(second))
    other_to_new.update((old, closed(new)) for old, new in new_ids.items() if new not in gone)
    specials = _special_tokens(first, second, size, size + len(texts), other_to_new)
    unknown, unk_id = theirs.unk_id, ours.unk_id
    if unknown is not None and unk_id is not None:
        other_to_new[unknown] = unk_id
    longer = _longer(ours, size, texts, Merges.from_pairs([*ours.merges, *further]))
    grown, notes = _as_before(first.model, longer, "merges of both")
    ordinary = [token.content for token in second.special_tokens if _is_ordinary(first, token.content)]
    if ordinary:
        notes.append(
            f"{_first_few(ordinary)}: special in the second tokenizer, "
            "and kept as the ordinary token that it is in the first"
        )
    if (first.normalizer, first.pre_tokenizer) != (second.normalizer, second.pre_tokenizer):
        notes.append("the two rewrite or cut text differently: the result does it as the first one does")
    summary = [plural(len(texts), "new token"), plural(len(further), "new merge"), f"{len(specials):,} special"]
    if lost:
        summary.append(f"{len(lost):,} left out that no text would become")
    return Operation(
        replace(first, model=grown, special_tokens=(*first.special_tokens, *specials)),
        kept(first),
        {token.token_id: _encoded(first, token.content) or () for token in specials}
        | made_of(ours, longer, range(size, size + len(texts))),
        tuple(summary),
        tuple(notes),
        other_to_new,
    )


def _mergeable_with(model: Model, which: str) -> _Merging:
    merging = _listed(model)
    if merging is None:
        raise FormatError(
            f"BPE tokenizers can be merged, and the {which} one is {model.kind}",
            hint="train a new tokenizer on both corpora, or add tokens with `add_tokens`",
        )
    return merging


def _refuse_other_kind(ours: _Merging, theirs: _Merging) -> None:
    if ours.kind != theirs.kind:
        names = {"bpe-merges": "bytes", "bpe-characters": "characters"}
        raise FormatError(
            f"the first tokenizer merges {names[ours.kind]}, the second {names[theirs.kind]}: their tokens are not "
            "of one kind",
            hint="train a new tokenizer on both corpora, or add tokens with `add_tokens`",
        )
    if theirs.codebook is not None:
        raise FormatError(
            f"the second tokenizer finds words between {quote(theirs.codebook.open)} and "
            f"{quote(theirs.codebook.close)}, and they cannot be taken over",
            hint="name it first",
        )
    if isinstance(ours, CharacterBpe) and isinstance(theirs, CharacterBpe):
        for name in ("continuing_subword_prefix", "end_of_word_suffix", "separate_suffix", "whole_runs_of"):
            if getattr(ours, name) != getattr(theirs, name):
                raise FormatError(
                    f"the two tokenizers write words differently: {name} is {getattr(ours, name)!r} in the first "
                    f"and {getattr(theirs, name)!r} in the second"
                )


def _unreachable(ours: _Merging, further: _Triples, texts: list[bytes], size: int) -> list[int]:
    """Return the new tokens, ascending, that their own symbols do not merge to when all merges are applied."""
    if ours.ignore_merges:
        return []  # a piece that is a token becomes it, whatever the merges say
    rules = MergeRules([*ours.merges, *further])
    several = composite(replace(ours, vocabulary=Vocabulary.from_tokens([*[b""] * size, *texts])))
    return sorted(token_id for token_id in several if rules.apply(rules.spell(token_id)) != [token_id]
                  or not rules.is_made(token_id))  # fmt: skip


def _special_tokens(
    first: Tokenizer, second: Tokenizer, old_size: int, following: int, other_to_new: dict[int, int | None]
) -> list[SpecialToken]:
    """Return the second's special tokens that the first lacks, with new ids, and record the ids of the others."""
    known = {token.content: token.token_id for token in first.special_tokens}
    further = []
    for token in second.special_tokens:
        present = known.get(token.content, first.model.vocabulary.id_of(token.content))
        text_id = other_to_new[token.token_id]
        if present is not None:
            other_to_new[token.token_id] = present
            continue
        if text_id is None or text_id < old_size:  # not one that merges make as well
            text_id, following = following, following + 1
        other_to_new[token.token_id] = text_id
        further.append(replace(token, token_id=text_id))
    return sorted(further, key=lambda token: token.token_id)


def _is_ordinary(tokenizer: Tokenizer, content: bytes) -> bool:
    """Return whether a text is an ordinary token and no special or added one."""
    is_special = any(token.content == content for token in tokenizer.special_tokens)
    return not is_special and tokenizer.model.vocabulary.id_of(content) is not None


def _listed(model: Model) -> _Merging | None:
    """Return a model whose merges are listed; None if it does not merge pairs by a list or by ranks."""
    if isinstance(model, CharacterBpe):
        return model
    return as_merges(model) if isinstance(model, (RankBpe, MergeBpe)) else None


def _longer(model: _Merging, size: int, texts: Iterable[bytes], merges: Merges) -> _Merging:
    """Return a model with further tokens, whose ids run from ``size``, and with other merges."""
    present = [model.vocabulary.token(token_id) for token_id in range(model.vocabulary.size)]
    padding = [b""] * (size - len(present))
    return replace(model, vocabulary=Vocabulary.from_tokens([*present, *padding, *texts]), merges=merges)


def _as_before(before: Model, longer: _Merging, whose: str) -> tuple[Model, list[str]]:
    """Return a model with ranks if it had ranks before, and a note if no ranks do the same."""
    if not (isinstance(before, RankBpe) and isinstance(longer, MergeBpe)):
        return longer, []
    ranks = as_ranks(longer)
    return ranks or longer, [] if ranks else [f"no ranks do what the {whose} do: the result has merges"]


def _first_few(contents: Sequence[bytes]) -> str:
    shown = ", ".join(repr(content.decode("utf-8", "backslashreplace")) for content in contents[:3])
    return f"{shown}{', ...' if len(contents) > 3 else ''}"


def _encoded(tokenizer: Tokenizer, content: bytes) -> tuple[int, ...] | None:
    """Return the ids of a text; None if it cannot be encoded."""
    try:
        return tuple(tokenizer.encode(content))
    except InputError:
        return None
