"""Find tokens by the names that a user gives them, and look up everything known of one.

A user calls a token by its id, its text, how it is written in the file, or its bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bpe_cli.errors import InputError, UsageError
from bpe_cli.reports.tokenizer.contents import NamedToken, character_count, folded, variants_of, without_space
from bpe_cli.stages import RankBpe
from bpe_cli.stages.spelling import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    from_visible,
)
from bpe_cli.support.messages import quote

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.corpus_report import Frequencies
    from bpe_cli.reports.tokenizer.reachability import Verdict
    from bpe_cli.reports.tokenizer.structure import Anatomy, TreeNode


NEAR = 5
"""How many tokens an error names that are like the one that was asked for."""

_LONG = 60
"""Digits that a hint repeats."""

_SHOWN = str.maketrans({"·": " ", "⏎": "\n", "→": "\t", "␍": "\r", "▁": " ", "Ġ": " ", "Ċ": "\n", "ĉ": "\t"})
"""What blanks are shown as, here and elsewhere: a user may have copied it."""

# What reports show in the place of whitespace and what cannot be shown, to be read back.
_MARKS = {"·": " ", "⏎": "\n", "→": "\t", "␍": "\r", "␡": "\x7f"}
_ESCAPES = re.compile(r"\\x([0-9a-f]{2})|<U\+(10[0-9A-F]{4}|[0-9A-F]{4,5})>|\\(.)|([·⏎→␡\u2400-\u241f])", re.DOTALL)


def find_tokens(anatomy: Anatomy, name: str) -> list[int]:
    """Return the ids of the tokens that a name stands for.

    Args:
        name: An id, as digits or ``id:N``; else a text: what tokens stand for, how they are written in the vocabulary
            (``▁the``, ``Ġthe``, ``##s``), how they are shown (``·the``, ``\\xe8``), or a special token.
            ``text:`` before it makes sure that it is a text, ``bytes:`` that it is hexadecimal digits.

    Returns:
        At least one id, those first that are written so.

    Raises:
        UsageError: if there is no such token; the hint names some that are alike, or the tokens of the text.
        InputError: if there is no such id.
    """
    kind, colon, rest = name.partition(":")
    if colon and kind == "id":
        return [_of_id(anatomy, rest, f"{quote(name)} is not an id", "for example: id:262")]
    if colon and kind == "bytes":
        try:
            content = bytes.fromhex(rest)
        except ValueError:
            raise UsageError(f"{name!r} is not made of hexadecimal digits", hint="for example: bytes:e8b0") from None
    elif colon and kind == "text":
        content = rest.encode("utf-8", "surrogateescape")
    elif name.isascii() and name.isdigit():
        text = name if len(name) <= _LONG else "DIGITS"
        return [_of_id(anatomy, name, f"{quote(name)} is not an id", f"text:{text} names the token of this text")]
    else:
        content = name.encode("utf-8", "surrogateescape")
    token_ids = _of_content(anatomy, content)
    if not token_ids and kind not in ("bytes", "text"):
        token_ids = _of_content(anatomy, _as_shown(name))
    if not token_ids:
        raise UsageError(f"no token is {quote(content)}", hint=_hint(anatomy, content))
    return token_ids


def _as_shown(name: str) -> bytes:
    r"""Read a text as reports show it: marks are blanks and control characters, a backslash escapes.

    >>> _as_shown(r"·a⏎\·\\\xe8<U+00AD>").decode("latin-1")
    ' a\n\xc2\xb7\\\xe8\xc2\xad'
    """
    content = bytearray()
    position = 0
    for match in _ESCAPES.finditer(name):
        content += name[position : match.start()].encode("utf-8", "surrogateescape")
        byte, code, escaped, mark = match.groups()
        if byte:
            content.append(int(byte, 16))
        elif code:
            content += chr(int(code, 16)).encode("utf-8", "surrogatepass")
        elif escaped:
            content += escaped.encode("utf-8", "surrogateescape")
        else:
            content += (_MARKS.get(mark) or chr(ord(mark) - 0x2400)).encode()
        position = match.end()
    return bytes(content + name[position:].encode("utf-8", "surrogateescape"))


def _of_id(anatomy: Anatomy, digits: str, message: str, hint: str) -> int:
    if re.fullmatch(r"[0-9]{1,10}", digits) is None:
        raise UsageError(message, hint=hint)
    token_id = int(digits)
    try:
        anatomy.tokenizer.token_bytes(token_id)
    except InputError as error:
        raise InputError(error.message, hint=hint) from error
    return token_id


def _of_content(anatomy: Anatomy, content: bytes) -> list[int]:
    tokenizer = anatomy.tokenizer
    if not content:
        return []
    written = [token_id for token_id, token in tokenizer.special_ids.items() if token.content == content]
    token_id = tokenizer.model.vocabulary.id_of(content)
    if token_id is not None and token_id not in written:
        written.append(token_id)
    meant = [token_id for token_id, meaning in anatomy.contents.meanings.items() if meaning == content]
    if not written and not meant and tokenizer.has_bytes:
        # As files of byte-level BPE write it.
        spelt = from_visible(content.decode("utf-8", "surrogateescape"))
        token_id = tokenizer.model.vocabulary.id_of(spelt) if spelt else None
        written = [] if token_id is None else [token_id]
    return list(dict.fromkeys([*sorted(written), *meant]))


def _hint(anatomy: Anatomy, content: bytes) -> str:
    """Suggest tokens that may have been meant, and name the tokens of the text."""
    tokenizer = anatomy.tokenizer
    if not content:
        return "give an id or a text"
    text = content.decode("utf-8", "replace").translate(_SHOWN)
    key = folded(text).strip()
    near = (
        [token_id for token_id, other in anatomy.contents.texts.items() if folded(other).strip() == key] if key else []
    )
    if not near and key:
        near = [token_id for token_id, other in anatomy.contents.texts.items() if folded(other).startswith(key)]
        near.sort(key=lambda token_id: (len(anatomy.contents.texts[token_id]), token_id))
    hints = []
    if near:
        hints.append(f"there is {_named(anatomy, near[:NEAR])}")
    try:
        ids = tokenizer.encode(content)
    except InputError:
        ids = []
    if ids:
        more = ", ..." if len(ids) > NEAR else ""
        hints.append(f"this text becomes {_named(anatomy, ids[:NEAR])}{more}")
    return "; ".join(hints) or "name a token by its id, its text, or bytes:HEX"


def _named(anatomy: Anatomy, token_ids: list[int]) -> str:
    """Format tokens as the vocabulary spells them, which distinguishes those of one text."""
    token = anatomy.tokenizer.token_bytes
    return ", ".join(f"{quote(token(token_id))} (id {token_id})" for token_id in token_ids)


CHILDREN = 20
"""How many of the tokens that are built on one are named."""

TREE_NODES = 1000
"""How many tokens of its tree are given."""

_KINDS = {
    NORMAL: "ordinary",
    UNKNOWN: "unknown",
    CONTROL: "control",
    USER_DEFINED: "user-defined",
    UNUSED: "serves merging only",
    BYTE: "byte",
}

Likeness = Literal["same text", "leading space", "case", "leading space and case"]


@dataclass(frozen=True, slots=True)
class Variant:
    """A token that is like another: which, and in what the two differ."""

    token: NamedToken
    differs_by: Likeness


@dataclass(frozen=True, slots=True)
class Occurrence:
    """How often a token occurs in a corpus.

    Attributes:
        frequency: Part of all tokens of the corpus, 0 to 1; 0 if that has none.
        made: How often it is made, alone or as a part of others; None without a merge tree.
    """

    count: int
    frequency: float
    made: int | None


@dataclass(frozen=True, slots=True)
class DeadMerge:
    """A merge that is left out, since it makes or uses a token that text never becomes.

    Attributes:
        number: Its place in the list, from 0.
        left, right: Its parts.
    """

    number: int
    left: NamedToken
    right: NamedToken
    product: NamedToken


@dataclass(frozen=True, slots=True)
class TokenCard:
    """Everything known about one token.

    Attributes:
        token: Its id, and the bytes of text that it stands for.
        character_count: Characters of its text; None if it is not UTF-8.
        kind: ``special`` (found in text only when asked for), ``added`` (found in any text), ``ordinary``, or
            SentencePiece's ``unknown``, ``control``, ``user-defined``, ``byte``, ``serves merging only``.
        rank: When it is merged: its id where ids are ranks, else the number of its merge in the list, from 0;
            None if no merge makes it, or by score.
        depth: Merges one on top of the other; None without a merge tree.
        tree: Its merge tree, written down from itself; at most ``TREE_NODES`` tokens.
        tree_is_cut: Whether there are more.
        children: The first tokens that are built on it directly, by id.
        child_count: How many there are; None without a merge tree.
        descendant_count: How many tokens it is a part of, directly or not; None likewise.
        dead_merges: The first merges that are left out and would make or use it.
        variants: Tokens of the same text but for case and a leading space, by id.
        verdict: Whether text becomes it, if that was examined.
        occurrence: How often it occurs in the corpus, if there is one.
    """

    token: NamedToken
    written: bytes
    character_count: int | None
    kind: str
    score: float | None
    rank: int | None
    depth: int | None
    tree: tuple[TreeNode, ...]
    tree_is_cut: bool
    children: tuple[NamedToken, ...]
    child_count: int | None
    descendant_count: int | None
    dead_merges: tuple[DeadMerge, ...]
    dead_merge_count: int
    variants: tuple[Variant, ...]
    verdict: Verdict | None
    occurrence: Occurrence | None


def look_up(
    anatomy: Anatomy, token_id: int, *, verdict: Verdict | None = None, frequencies: Frequencies | None = None
) -> TokenCard:
    """Return everything known about one token.

    Raises:
        InputError: if there is no such id.
    """
    tokenizer, tree = anatomy.tokenizer, anatomy.tree
    token = anatomy.named(token_id)
    special = tokenizer.special_ids.get(token_id)
    if special is not None and tree is not None and tree.parts(token_id) is None:
        tree = None  # it stands apart from merging
    children = [] if tree is None else tree.children.get(token_id, [])
    nodes = anatomy.tree_of(token_id, TREE_NODES + 1)
    text = anatomy.contents.texts.get(token_id)
    dead = [each for each in anatomy.dead_merges if token_id in each[1]]
    return TokenCard(
        token=token,
        written=tokenizer.token_bytes(token_id),
        character_count=character_count(token.content),
        kind=_kind(anatomy, token_id),
        score=_score(anatomy, token_id),
        rank=_rank(anatomy, token_id),
        depth=tree.depth[token_id] if tree else None,
        tree=nodes[:TREE_NODES],
        tree_is_cut=len(nodes) > TREE_NODES,
        children=tuple(map(anatomy.named, children[:CHILDREN])),
        child_count=len(children) if tree else None,
        descendant_count=len(tree.descendants(token_id)) if tree else None,
        dead_merges=tuple(
            DeadMerge(number, *map(anatomy.named, merge)) for number, merge in dead[:CHILDREN]
        ),
        dead_merge_count=len(dead),
        variants=() if text is None else tuple(
            Variant(anatomy.named(other), _likeness(text, anatomy.contents.texts[other]))
            for other in variants_of(anatomy.contents, text) if other != token_id
        ),
        verdict=verdict,
        occurrence=None if frequencies is None else _occurrence(anatomy, token_id, frequencies),
    )  # fmt: skip


def _kind(anatomy: Anatomy, token_id: int) -> str:
    special = anatomy.tokenizer.special_ids.get(token_id)
    if special is not None:
        return "special" if special.special else "added"
    kinds = anatomy.tokenizer.model.kinds
    if kinds:
        return _KINDS.get(kinds[token_id], "ordinary") if token_id < len(kinds) else "ordinary"
    return "unknown" if anatomy.tokenizer.model.unk_id == token_id else "ordinary"


def _score(anatomy: Anatomy, token_id: int) -> float | None:
    scores = anatomy.tokenizer.model.scores or ()
    return scores[token_id] if token_id < len(scores) else None


def _rank(anatomy: Anatomy, token_id: int) -> int | None:
    model, tree = anatomy.tokenizer.model, anatomy.tree
    pair = tree.parts(token_id) if tree else None
    if isinstance(model, RankBpe):
        return token_id if token_id in anatomy.contents.meanings else None
    if pair is None:
        return None
    pairs = enumerate((left, right) for left, right, _ in model.merges or ())
    return next((number for number, each in pairs if each == pair), None)  # if it appears twice, the first counts


def _likeness(text: str, other: str) -> Likeness:
    if text == other:
        return "same text"
    if without_space(text) == without_space(other):
        return "leading space"
    return "case" if text.lower() == other.lower() else "leading space and case"


def _occurrence(anatomy: Anatomy, token_id: int, frequencies: Frequencies) -> Occurrence:
    count, total = frequencies.of(token_id), frequencies.token_count
    made = None
    if anatomy.tree is not None and token_id in anatomy.contents.meanings:
        above = {token_id, *anatomy.tree.descendants(token_id)}
        made = anatomy.tree.times_made({other: frequencies.of(other) for other in above})[token_id]
    return Occurrence(count, count / total if total else 0.0, made)
