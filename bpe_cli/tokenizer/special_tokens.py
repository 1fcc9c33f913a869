"""Special tokens: which are matched in text, and which never come from text unless asked for.

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

from bpe_cli.errors import InputError, UsageError
from bpe_cli.stages import ByteLevel, ByteLevelNormalizer, SpecialToken
from bpe_cli.stages.models import CharacterBpe, EventBpe, MergeBpe, Unigram
from bpe_cli.stages.vocabulary import MAX_ID, Merges, Vocabulary
from bpe_cli.support.core_arguments import bytes_of, flag, list_of, whole_number, wrong_type
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.fast_typing import TYPE_CHECKING, Literal
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer.usage import Edges

if TYPE_CHECKING:
    from bpe_cli.stages.models import Model
    from bpe_cli.tokenizer.any_tokenizer import AnyTokenizer


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
    """Return the tokens of a vocabulary that text never becomes.

    Args:
        model: The model, with all of its vocabulary.
        special_tokens: The special and added tokens.
        before: The stages before the model, which may spell bytes as visible characters.

    Complexity: linear in the special tokens.
    """
    reserved = {token.token_id for token in special_tokens if token.special}
    unk_id = model.unk_id
    kinds = model.kinds
    if unk_id is not None:
        from bpe_cli.stages.spelling import CONTROL, UNKNOWN

        # A file may say that the unknown token is an ordinary piece besides: then text becomes it, as in llama.cpp.
        if unk_id >= len(kinds) or kinds[unk_id] in (UNKNOWN, CONTROL):
            reserved.add(unk_id)
    present = model.vocabulary.among(reserved)
    if not present:
        return NOTHING
    spelt_in_bytes = any(isinstance(stage, (ByteLevel, ByteLevelNormalizer)) for stage in before)
    spelling = frozenset(token_id for token_id in present if _is_spelt_with(model, token_id, spelt_in_bytes))
    return Withheld(frozenset(present) - spelling, spelling)


def _is_spelt_with(model: Model, token_id: int, spelt_in_bytes: bool) -> bool:
    content = model.vocabulary.token(token_id)
    if model.byte_level:
        return len(content) == 1
    from bpe_cli.stages.spelling import BYTE, BYTE_TEXT, CHAR_TO_BYTE

    if spelt_in_bytes and content.decode("utf-8", "replace") in CHAR_TO_BYTE:
        return True
    names_byte = model.byte_fallback and BYTE_TEXT.fullmatch(content) is not None
    if isinstance(model, CharacterBpe):
        # A whole piece that is looked up would become what it names.
        return (names_byte or token_id == model.unk_id) and not model.ignore_merges
    kinds = model.kinds
    return names_byte and (not kinds or kinds[token_id] == BYTE)


def looked_for(special_tokens: Sequence[SpecialToken], names: Collection[bytes]) -> list[SpecialToken]:
    """Return the tokens that are matched in text: added ones always, special ones if they are named.

    An added token that has the id of a special one is not a way to that. Of tokens that normalizing makes equal the
    first is found: a special one, as in Hugging Face's library. An unknown token may have no text, and is in none.
    """
    reserved = {token.token_id for token in special_tokens if token.special and token.content not in names}
    tokens = (
        token
        for token in special_tokens
        if token.content and (token.content in names or (not token.special and token.token_id not in reserved))
    )
    return sorted(tokens, key=lambda token: (not token.special, token.token_id))


def live(model: Model, tokens: Withheld) -> Model:
    """Return the model without the tokens that text never becomes; the model itself if there are none.

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
    elif isinstance(model, EventBpe):
        from bpe_cli.stages.events import without

        model = replace(model, events=without(model.events, tokens.ids))
    elif isinstance(model, Unigram) and tokens.spelling and not model.kinds:
        from bpe_cli.stages.spelling import BYTE, BYTE_TEXT, NORMAL

        named = (BYTE if BYTE_TEXT.fullmatch(content) else NORMAL for content in model.vocabulary.tokens())
        model = replace(model, kinds=bytes(named))
    return replace(model, vocabulary=model.vocabulary.without(tokens.ids)) if tokens.ids else model


def unspelt(model: Model, tokens: Withheld) -> list[int]:
    """Return the withheld tokens that are the only spelling of characters, which are unknown without them."""
    if not isinstance(model, (CharacterBpe, EventBpe)) or model.byte_fallback or model.byte_level:
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
    """Return special tokens joined with further ones, sorted by id; of equal contents the later one counts.

    Raises:
        UsageError: if an id is taken or out of range, or a token's text has another id already.
        TypeError: if one is no special token, or a part of it has the wrong type.
    """
    joined = {token.content: token for token in special_tokens}
    taken = {token.token_id: token for token in special_tokens}
    for token in list_of("tokens", more, "special tokens"):
        if not isinstance(token, SpecialToken):
            raise wrong_type("tokens", "a list of special tokens", token)
        check_attributes(token)
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


def check_attributes(token: SpecialToken) -> None:
    """Check what a caller gives for each attribute of a special token, which the class itself takes as it is.

    Raises:
        UsageError: if the token has no text, or the id is out of range.
        TypeError: if an attribute has the wrong type.
    """
    if not isinstance(token.content, bytes):
        raise wrong_type("content of a special token", "bytes", token.content)
    whole_number("token_id of a special token", token.token_id, most=MAX_ID - 1)
    for name in ("special", "single_word", "lstrip", "rstrip", "normalized"):
        flag(f"{name} of a special token", getattr(token, name))
    if not token.content:
        raise UsageError("a special token needs a text")


def show_token(content: bytes) -> str:
    """Quote a token for a message."""
    return repr(content.decode("utf-8", "backslashreplace"))


# -- what begins and ends a document ----------------------------------------------------------------


Side = Literal["bos", "eot", "pad"]

AUTO = "auto"
"""Stands for the token that the tokenizer itself says begins or ends a text."""
_MOST_TOKENS_NAMED = 5

# Tokens whose texts say what they are; they goes before the roles, since what a file for chats calls its end is
# often the end of a turn.
_CONTENTS: dict[Side, tuple[bytes, ...]] = {
    "bos": (b"<|begin_of_text|>", b"<|beginoftext|>", b"<|startoftext|>"),
    "eot": (b"<|end_of_text|>", b"<|endoftext|>"),
    "pad": (b"<|pad|>", b"<pad>", b"[PAD]"),
}
_ROLE: dict[Side, str] = {"bos": "bos", "eot": "eos", "pad": "pad"}
_VERBS = {"bos": "begins", "eot": "ends", "pad": "fills up"}


def edges_of(
    tokenizer: AnyTokenizer,
    *,
    add_special_tokens: bool = False,
    bos: str | int | None = None,
    eot: str | int | None = None,
) -> Edges:
    """Return the tokens that stand around each document.

    Args:
        tokenizer: The tokenizer.
        add_special_tokens: Whether the post-processor puts there what it has.
        bos: What begins each document: ``auto``, the text of a special token, or an id; None for nothing.
        eot: The token to put after each document, given in the same way.

    >>> from bpe_cli import load
    >>> edges_of(load("gpt2"), eot="auto")
    Edges(before=(), after=(50256,), bos=None, eot=50256)

    Raises:
        UsageError: if there is no such token, or the post-processor has nothing, or the same token, to put there.
        FormatError: if the post-processor is not known.
    """
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    if add_special_tokens:
        from bpe_cli.tokenizer.post_processor import affixes

        before, after = affixes(tokenizer.post_processor)
        if not (before or after):
            raise UsageError(
                "`add_special_tokens` would add nothing: the tokenizer has no post-processor that puts tokens around "
                "texts",
                hint=_instead(tokenizer),
            )
    begin = None if bos is None else token_named(tokenizer, bos, "bos")
    end = None if eot is None else token_named(tokenizer, eot, "eot")
    for side, token_id, there in (("bos", begin, before[:1]), ("eot", end, after[-1:])):
        if token_id is not None and (token_id,) == there:
            raise UsageError(
                f"`{side}` and `add_special_tokens` would both put {_show_id(tokenizer, token_id)} there",
                hint="give one of them",
            )
    return Edges(before if begin is None else (begin, *before), after if end is None else (*after, end), begin, end)


def token_named(tokenizer: AnyTokenizer, name: str | int, side: Side) -> int:
    """Return the id of the token that begins or ends a text, or fills one up.

    Args:
        tokenizer: The tokenizer.
        name: The text of a special token, ``auto``, or an id, be it in digits.
        side: Which of them.

    Raises:
        UsageError: if there is no such token.
        InputError: if half a character stands in its name.
        TypeError: if the value is neither a str nor an int.
    """
    if not isinstance(name, (str, int)):
        name = _whole_number(name, side)  # type: ignore[unreachable]  # types are not checked
    if isinstance(name, str):
        bytes_of(name, side)
        for token in tokenizer.special_tokens:
            if token.content == name.encode("utf-8", "surrogateescape"):
                return token.token_id
        if name == AUTO:
            return _declared_or_refused(tokenizer, side)
    digits = str(name)
    if digits.isascii() and digits.isdigit() and len(digits) <= 10 and _has_token(tokenizer, int(digits)):
        return int(digits)
    known = _named_special_tokens(tokenizer)
    raise UsageError(
        f"`{side}` {name!r} is neither a special token of this tokenizer nor one of its ids",
        hint=known or "`with_special_tokens` adds one",
    )


def _whole_number(value: object, side: Side) -> int:
    """Return an id that is a number of NumPy's as one of Python's."""
    from numbers import Integral

    if not isinstance(value, Integral):
        raise wrong_type(side, "a str or an int", value)
    return int(value)


def _has_token(tokenizer: AnyTokenizer, token_id: int) -> bool:
    try:
        tokenizer.token_bytes(token_id)
    except InputError:  # beyond all ids, or in a gap between them
        return False
    return True


def _declared_or_refused(tokenizer: AnyTokenizer, side: Side) -> int:
    """Return the id of the token that the tokenizer itself declares."""
    token_id = _declared(tokenizer, side)
    if token_id is not None:
        return token_id
    known = _named_special_tokens(tokenizer)
    raise UsageError(
        f"nothing in this tokenizer says which token {_VERBS[side]} a text",
        hint=f"`{side}=NAME` says it; {known}" if known else f"`{side}=ID` says it",
    )


def _declared(tokenizer: AnyTokenizer, side: Side) -> int | None:
    for content in _CONTENTS[side]:
        for token in tokenizer.special_tokens:
            if token.content == content:
                return token.token_id
    return tokenizer.usage.role(_ROLE[side])


def _instead(tokenizer: AnyTokenizer) -> str:
    """Suggest options for a tokenizer with an empty post-processor."""
    sides: tuple[Side, ...] = ("bos", "eot")
    declared = {side: _declared(tokenizer, side) for side in sides}
    where = {"bos": "before", "eot": "after"}
    ways = [
        f'`{side}="auto"` puts {_show_id(tokenizer, token_id)} {where[side]} each document'
        for side, token_id in declared.items()
        if token_id is not None
    ]
    if ways:
        return " and ".join(ways)
    return "`bos=NAME` and `eot=NAME` put a special token before and after each document"


def _show_id(tokenizer: AnyTokenizer, token_id: int) -> str:
    return quote(tokenizer.token_bytes(token_id)).strip('"')


def _named_special_tokens(tokenizer: AnyTokenizer) -> str:
    """Name the special tokens, of many the first; empty if there are none."""
    tokens = tokenizer.special_tokens
    named = ", ".join(token.content.decode("utf-8", "replace") for token in tokens[:_MOST_TOKENS_NAMED])
    if len(tokens) > _MOST_TOKENS_NAMED:
        return f"its special tokens begin with {named}"
    return f"its special {'token is' if len(tokens) == 1 else 'tokens are'} {named}" if tokens else ""
