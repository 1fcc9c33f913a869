"""Special tokens: which are looked for in text, and which tokens text never becomes unless somebody asks.

The latter are *withheld*: special tokens, and the unknown one, which stands for what has no token. A vocabulary may
hold their texts all the same, and merges may spell them out: of ``</ s`` and ``>`` comes ``</s>``. So text is matched
with the *live* model: these tokens have no text there, and a merge that makes or uses one is left out. It is *dead*:
its parts stay as they are, and a merge that builds on its product finds no place. (Ranks are merges too: a token of
higher rank may still arise of other parts.) All of this is settled once, when a tokenizer is compiled.

What text is spelt with stays, whatever it is declared besides: a byte of byte-level BPE, or the character that spells
it where characters spell bytes, or else text with that byte could not be encoded; a byte's name (``<0x0A>``) where
unknown characters fall back to bytes; and the unknown token that merges of characters begin with. The texts of the last
two do not become them.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.stages import ByteLevel, ByteLevelNormalizer, SpecialToken
from bpe_cli.stages.models import CharacterBpe, MergeBpe, RankBpe, Unigram
from bpe_cli.stages.spelling import BYTE, BYTE_TEXT, CHAR_TO_BYTE, CONTROL, NORMAL, UNKNOWN
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.fast_dataclass import dataclass, replace

if TYPE_CHECKING:
    from bpe_cli.stages.models import Model


@dataclass(frozen=True, slots=True)
class Withheld:
    """The tokens of a vocabulary that text never becomes.

    Attributes:
        ids: Those whose texts are taken out of what text is matched with.
        spelling: Those that stay, since text is spelt with them; no merge makes one.
    """

    ids: frozenset[int] = frozenset()
    spelling: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.ids or self.spelling)


NOTHING = Withheld()


def withheld(model: Model, special_tokens: Iterable[SpecialToken], before: Iterable[object] = ()) -> Withheld:
    """Return which tokens of a vocabulary text never becomes.

    Args:
        model: The model, with all of its vocabulary.
        special_tokens: The special and added tokens.
        before: The stages before the model, which may spell bytes as visible characters.

    Complexity: linear in the special tokens.
    """
    reserved = {token.token_id for token in special_tokens if token.special}
    unk_id = model.unk_id
    kinds = model.kinds
    # A file may say that the unknown token is an ordinary piece besides: then text becomes it, as in llama.cpp.
    if unk_id is not None and (not kinds or kinds[unk_id] in (UNKNOWN, CONTROL)):
        reserved.add(unk_id)
    present = model.vocabulary.among(reserved)
    if not present:
        return NOTHING
    spelt_in_bytes = any(isinstance(stage, (ByteLevel, ByteLevelNormalizer)) for stage in before)
    spelling = frozenset(token_id for token_id in present if _is_spelt_with(model, token_id, spelt_in_bytes))
    return Withheld(frozenset(present) - spelling, spelling)


def _is_spelt_with(model: Model, token_id: int, spelt_in_bytes: bool) -> bool:
    content = model.vocabulary.token(token_id)
    if isinstance(model, (RankBpe, MergeBpe)):
        return len(content) == 1
    if spelt_in_bytes and content.decode("utf-8", "replace") in CHAR_TO_BYTE:
        return True
    names_byte = model.byte_fallback and BYTE_TEXT.fullmatch(content) is not None
    if isinstance(model, CharacterBpe):
        # A whole piece that is looked up would become what it names.
        return (names_byte or token_id == model.unk_id) and not model.ignore_merges
    kinds = model.kinds
    return names_byte and (not kinds or kinds[token_id] == BYTE)


def looked_for(special_tokens: Sequence[SpecialToken], names: Collection[bytes]) -> list[SpecialToken]:
    """Return the tokens that are looked for in text: added ones always, special ones if they are named.

    An added token that has the id of a special one is not a way to that. Of tokens that normalizing makes equal the
    first is found: a special one, as in Hugging Face's library.
    """
    reserved = {token.token_id for token in special_tokens if token.special and token.content not in names}
    wanted = (
        token
        for token in special_tokens
        if token.content in names or (not token.special and token.token_id not in reserved)
    )
    return sorted(wanted, key=lambda token: (not token.special, token.token_id))


def live(model: Model, tokens: Withheld) -> Model:
    """Return the model as text meets it; the model itself if nothing is withheld.

    Complexity: linear in the vocabulary and the merges, if anything is.
    """
    if not tokens:
        return model
    if isinstance(model, (MergeBpe, CharacterBpe)):
        kept, after = array("I"), 0
        for number, _ in dead_merges(model, tokens):
            kept += model.merges.triples[after : 3 * number]
            after = 3 * number + 3
        model = replace(model, merges=Merges(kept + model.merges.triples[after:]))
    elif isinstance(model, Unigram) and tokens.spelling and not model.kinds:
        named = (BYTE if BYTE_TEXT.fullmatch(content) else NORMAL for content in model.vocabulary.tokens())
        model = replace(model, kinds=bytes(named))
    return replace(model, vocabulary=model.vocabulary.without(tokens.ids)) if tokens.ids else model


def unspelt(model: Model, tokens: Withheld) -> list[int]:
    """Return the withheld tokens that characters are spelt with, and nothing else spells: those are unknown now."""
    if not isinstance(model, CharacterBpe) or model.byte_fallback:
        return []
    prefix, suffix = model.continuing_subword_prefix, model.end_of_word_suffix
    texts = ((token_id, model.vocabulary.token(token_id).decode("utf-8", "replace")) for token_id in sorted(tokens.ids))
    return [token_id for token_id, text in texts if len(text.removeprefix(prefix).removesuffix(suffix)) == 1]


def dead_merges(model: Model, tokens: Withheld) -> Iterator[tuple[int, tuple[int, int, int]]]:
    """Yield the dead merges of a model that lists its merges, each with its number, from 0."""
    if tokens and isinstance(model, (MergeBpe, CharacterBpe)):
        ids, never_made = tokens.ids, tokens.ids | tokens.spelling
        for number, (left, right, product) in enumerate(model.merges):
            if product in never_made or left in ids or right in ids:
                yield number, (left, right, product)


def joined_special_tokens(
    vocabulary: Vocabulary, special_tokens: Sequence[SpecialToken], more: Iterable[SpecialToken]
) -> tuple[SpecialToken, ...]:
    """Return special tokens and more of them, sorted by id; of equal contents the later one counts.

    Raises:
        UsageError: if an id is taken, or a content stands for another id.
    """
    joined = {token.content: token for token in special_tokens}
    taken = {token.token_id: token for token in special_tokens}
    for token in more:
        if not token.content:
            raise UsageError("a special token needs a text")
        present = joined.get(token.content)
        if present is not None and present.token_id != token.token_id:
            raise UsageError(
                f"the special token {show_token(token.content)} already has id {present.token_id}, not {token.token_id}"
            )
        holder = taken.get(token.token_id)
        ordinary = vocabulary.token(token.token_id) if token.token_id < vocabulary.size else b""
        if (holder is not None and holder.content != token.content) or (ordinary and ordinary != token.content):
            free = max(vocabulary.size, max(taken, default=-1) + 1)
            raise UsageError(
                f"id {token.token_id} for the special token {show_token(token.content)} is taken by "
                f"{show_token(holder.content if holder else ordinary)}",
                hint=f"the first free id after all others is {free}",
            )
        joined[token.content] = token
        taken[token.token_id] = token
    return tuple(sorted(joined.values(), key=lambda token: token.token_id))


def show_token(content: bytes) -> str:
    """Write a token for a message, in quotes."""
    return repr(content.decode("utf-8", "backslashreplace"))
