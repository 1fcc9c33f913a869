"""Add to a tokenizer the tokens of another.

The second's merges come after all of the first's, so some of its tokens may be out of reach: their parts are merged
otherwise by then. A token that its own symbols do not become is made nowhere, since nothing that stands around a token
has a part in making it. So such tokens are left out, with the merges that they are in, and no encoding depends on it.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace

from bpe_cli import _core
from bpe_cli.errors import FormatError, UsageError
from bpe_cli.stages import CharacterBpe, Model, SpecialToken
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.messages import plural, quote
from bpe_cli.surgery.longer import Merging, as_before, encoded, first_few, listed, longer
from bpe_cli.surgery.merge_rules import MergeRules, byte_tokens, composite, is_run, made_of, textless
from bpe_cli.surgery.operation import Operation, kept, used_ids
from bpe_cli.tokenizer import Tokenizer

_Triples = list[tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class _Taken:
    """What becomes of the second's tokens, before merges tell which of the new ones are out of reach.

    Attributes:
        texts: The new tokens; their ids follow the first's.
        new_ids: The ids of the second's tokens that the first has as ordinary ones, and of the new ones.
        ids_of_added: The ids of those that are special or added in the first.
        spelt_out: Texts that would spell out a byte token of the first.
    """

    texts: list[bytes]
    new_ids: dict[int, int]
    ids_of_added: dict[int, int]
    spelt_out: list[bytes]


def merge(first: Tokenizer, second: Tokenizer) -> Operation:
    """Return the first tokenizer with the tokens of the second that it lacks; their ids follow its own.

    Stages, the unknown token and everything else are the first's. ``other_to_new`` has None for the
    second's tokens that are left out. ``made_of`` is what the first made of a new token's text. A text that is special
    or added in the first, or ordinary in it, stays what it is there.

    Raises:
        FormatError: if the two do not merge the same symbols, or merge by ranks that no list of merges can replace.
        UsageError: if there are more tokens than fit.
    """
    first, second = first.without_dead_merges(), second.without_dead_merges()
    ours, theirs = _mergeable_with(first.model, "first"), _mergeable_with(second.model, "second")
    _refuse_other_kind(ours, theirs)
    taken = _taken_over(first, second, ours, theirs)
    size, texts, new_ids = first.vocab_size, taken.texts, taken.new_ids
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
    other_to_new.update(taken.ids_of_added)
    our_bytes = byte_tokens(ours)
    other_to_new.update((old, our_bytes.get(content)) for content, old in byte_tokens(theirs).items())
    specials = _special_tokens(first, second, size, size + len(texts), other_to_new)
    unknown, unk_id = theirs.unk_id, ours.unk_id
    if unknown is not None and unk_id is not None:
        other_to_new[unknown] = unk_id
    united = longer(ours, size, texts, Merges.from_pairs([*ours.merges, *further]))
    grown, notes = as_before(first.model, united, "merges of both")
    summary = [plural(len(texts), "new token"), plural(len(further), "new merge"), f"{len(specials):,} special"]
    if lost:
        summary.append(f"{len(lost):,} left out that no text would become")
    return Operation(
        replace(first, model=grown, special_tokens=(*first.special_tokens, *specials)),
        kept(first),
        {token.token_id: encoded(first, token.content) or () for token in specials}
        | made_of(ours, united, range(size, size + len(texts))),
        tuple(summary),
        (*notes, *_surprises(first, second, taken)),
        other_to_new,
    )


def _taken_over(first: Tokenizer, second: Tokenizer, ours: Merging, theirs: Merging) -> _Taken:
    """Sort the second's tokens: those that the first has, the new ones, and those that are left out in any case."""
    there = ours.vocabulary.id_of
    added = {token.content: token.token_id for token in first.special_tokens if there(token.content) is None}
    without_text, our_bytes = textless(second, theirs), byte_tokens(ours)
    made = {product for _, _, product in theirs.merges}
    taken = _Taken([], {}, {}, [])
    for token_id, content in theirs.vocabulary.items():
        if token_id in without_text:
            continue
        if content in our_bytes and token_id in made:  # text that spells out a byte token is not that byte
            taken.spelt_out.append(content)
            continue
        if content in added:  # as an ordinary token it would be there twice, which no file can say
            taken.ids_of_added[token_id] = added[content]
            continue
        known = there(content)
        if known is None:
            known = first.vocab_size + len(taken.texts)
            taken.texts.append(content)
        taken.new_ids[token_id] = known
    return taken


def _surprises(first: Tokenizer, second: Tokenizer, taken: _Taken) -> list[str]:
    """Return notes about tokens that are not in the result what they are in the second."""
    notes = []
    ordinary = [token.content for token in second.special_tokens if _is_ordinary(first, token.content)]
    if ordinary:
        notes.append(
            f"{first_few(ordinary)}: special in the second tokenizer, "
            "and kept as the ordinary token that it is in the first"
        )
    kept_added = [second.model.vocabulary.token(each) for each in taken.ids_of_added if each not in second.special_ids]
    if kept_added:
        notes.append(
            f"{first_few(kept_added)}: ordinary in the second tokenizer, "
            "and kept as the special or added token that it is in the first"
        )
    if taken.spelt_out:
        notes.append(f"{first_few(taken.spelt_out)}: text in the second tokenizer, a byte in the first, and left out")
    if (first.normalizer, first.pre_tokenizer) != (second.normalizer, second.pre_tokenizer):
        notes.append("the two rewrite or cut text differently: the result does it as the first one does")
    return notes


def _mergeable_with(model: Model, which: str) -> Merging:
    merging = listed(model)
    if merging is None:
        raise FormatError(
            f"BPE tokenizers can be merged, and the {which} one is {model.kind}",
            hint="train a new tokenizer on both corpora, or add tokens with `add_tokens`",
        )
    return merging


def _refuse_other_kind(ours: Merging, theirs: Merging) -> None:
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


def _unreachable(ours: Merging, further: _Triples, texts: list[bytes], size: int) -> list[int]:
    """Return the new tokens, ascending, that their own symbols do not merge to when all merges are applied."""
    if ours.ignore_merges:
        return []  # a piece that is a token becomes it, whatever the merges say
    runs_of = ours.whole_runs_of.encode()
    rules = MergeRules([*ours.merges, *further])
    several = composite(replace(ours, vocabulary=Vocabulary.from_tokens([*[b""] * size, *texts])))
    return sorted(
        token_id
        for token_id in several
        if (rules.apply(rules.spell(token_id)) != [token_id] or not rules.is_made(token_id))
        and not is_run(texts[token_id - size], runs_of)  # a piece of nothing else becomes it as a whole
    )


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
