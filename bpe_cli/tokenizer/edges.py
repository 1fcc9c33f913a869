"""State which ids are put around each document: what the post-processor puts there, and what begins and ends a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bpe_cli.errors import UsageError
from bpe_cli.support.core_arguments import bytes_of, wrong_type
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.messages import quote

if TYPE_CHECKING:
    from bpe_cli.tokenizer.interface import AnyTokenizer

Side = Literal["bos", "eot"]

AUTO = "auto"
"""Stands for the token that the tokenizer itself says begins or ends a text."""

# Tokens whose texts say what they are; they goes before the roles, since what a file for chats calls its end is
# often the end of a turn.
_CONTENTS: dict[Side, tuple[bytes, ...]] = {
    "bos": (b"<|begin_of_text|>", b"<|beginoftext|>", b"<|startoftext|>"),
    "eot": (b"<|end_of_text|>", b"<|endoftext|>"),
}
_ROLE: dict[Side, str] = {"bos": "bos", "eot": "eos"}
_VERBS = {"bos": "begins", "eot": "ends"}


@dataclass(frozen=True, slots=True)
class Edges:
    """What stands around each document.

    Attributes:
        before: The ids before it, ``bos`` among them.
        after: The ids after it, ``eot`` the last of them.
        bos: The id that was asked for to begin each document, or None.
        eot: The id that was asked for to end each document, or None.
    """

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    bos: int | None = None
    eot: int | None = None

    def __len__(self) -> int:
        return len(self.before) + len(self.after)


NO_EDGES = Edges()


def edges_of(
    tokenizer: AnyTokenizer,
    *,
    add_special_tokens: bool = False,
    bos: str | int | None = None,
    eot: str | int | None = None,
) -> Edges:
    """Return what stands around each document.

    Args:
        tokenizer: The tokenizer.
        add_special_tokens: Whether the post-processor puts there what it has.
        bos: What begins each document: ``auto``, the text of a special token, or an id; None for nothing.
        eot: What ends each document, likewise.

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
                "--add-special-tokens would add nothing: the tokenizer has no post-processor that puts tokens around "
                "texts",
                hint=_instead(tokenizer),
            )
    begin = None if bos is None else token_named(tokenizer, bos, "bos")
    end = None if eot is None else token_named(tokenizer, eot, "eot")
    for side, token_id, there in (("bos", begin, before[:1]), ("eot", end, after[-1:])):
        if token_id is not None and (token_id,) == there:
            raise UsageError(
                f"--{side} and --add-special-tokens would both put {_show(tokenizer, token_id)} there",
                hint="give one of them",
            )
    return Edges(before if begin is None else (begin, *before), after if end is None else (*after, end), begin, end)


def token_named(tokenizer: AnyTokenizer, name: str | int, side: Side) -> int:
    """Return the id of what begins or ends a text.

    Args:
        tokenizer: The tokenizer.
        name: The text of a special token, ``auto``, or an id, be it in digits.
        side: Which of the two.

    Raises:
        UsageError: if there is no such token.
        InputError: if half a character stands in its name.
        TypeError: if it is neither a str nor an int.
    """
    if not isinstance(name, (str, int)):
        raise wrong_type(side, "a str or an int", name)
    if isinstance(name, str):
        bytes_of(name, side)
        for token in tokenizer.special_tokens:
            if token.content == name.encode("utf-8", "surrogateescape"):
                return token.token_id
        if name == AUTO:
            return _declared_or_refused(tokenizer, side)
    digits = str(name)
    if digits.isascii() and digits.isdigit() and len(digits) <= 10 and int(digits) < tokenizer.vocab_size:
        return int(digits)
    known = _first_special_tokens(tokenizer)
    raise UsageError(
        f"--{side} {name!r} is neither a special token of this tokenizer nor one of its ids",
        hint=f"its special tokens begin with {known}" if known else "--add-special TEXT=ID adds one",
    )


def _declared_or_refused(tokenizer: AnyTokenizer, side: Side) -> int:
    """Return the id of the token that the tokenizer itself declares.

    Raises:
        UsageError: if it declares none.
    """
    token_id = _declared(tokenizer, side)
    if token_id is not None:
        return token_id
    known = _first_special_tokens(tokenizer)
    raise UsageError(
        f"nothing in this tokenizer says which token {_VERBS[side]} a text",
        hint=f"--{side} NAME says it; its special tokens begin with {known}" if known else f"--{side} ID says it",
    )


def _declared(tokenizer: AnyTokenizer, side: Side) -> int | None:
    for content in _CONTENTS[side]:
        for token in tokenizer.special_tokens:
            if token.content == content:
                return token.token_id
    return tokenizer.usage.role(_ROLE[side])


def _instead(tokenizer: AnyTokenizer) -> str:
    """Describe what can be asked for where the post-processor is empty."""
    sides: tuple[Side, ...] = ("bos", "eot")
    declared = {side: _declared(tokenizer, side) for side in sides}
    where = {"bos": "before", "eot": "after"}
    ways = [
        f"--{side} auto puts {_show(tokenizer, token_id)} {where[side]} each document"
        for side, token_id in declared.items()
        if token_id is not None
    ]
    if ways:
        return " and ".join(ways)
    return "--bos NAME and --eot NAME put a special token before and after each document"


def _show(tokenizer: AnyTokenizer, token_id: int) -> str:
    return quote(tokenizer.token_bytes(token_id)).strip('"')


def _first_special_tokens(tokenizer: AnyTokenizer) -> str:
    return ", ".join(token.content.decode("utf-8", "replace") for token in tokenizer.special_tokens[:5])
