"""Find tokens by what a user calls them: an id, the text, how it is written in the file, bytes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError, UsageError
from bpe_cli.reports.tokenizer.duplicates import folded
from bpe_cli.stages.spelling import from_visible
from bpe_cli.support.messages import quote

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.structure import Anatomy

NEAR = 5
"""How many tokens an error names that are like the one that was asked for."""

_LONG = 60
"""Digits that a hint repeats."""

_SHOWN = str.maketrans({"·": " ", "⏎": "\n", "→": "\t", "␍": "\r", "▁": " ", "Ġ": " ", "Ċ": "\n", "ĉ": "\t"})
"""What blanks are shown as, here and elsewhere: a user may have copied it."""

# What reports show in the place of white space and what cannot be shown, to be read back.
_MARKS = {"·": " ", "⏎": "\n", "→": "\t", "␍": "\r", "␡": "\x7f"}
_ESCAPES = re.compile(r"\\x([0-9a-f]{2})|<U\+(10[0-9A-F]{4}|[0-9A-F]{4,5})>|\\(.)|([·⏎→␡\u2400-\u241f])", re.DOTALL)


def find_tokens(anatomy: Anatomy, name: str) -> list[int]:
    """Return the ids of the tokens that a name stands for.

    Args:
        anatomy: The tokenizer.
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
        return [_of_id(anatomy, rest, f"{quote(name)} is not an id", "as in id:262")]
    if colon and kind == "bytes":
        try:
            content = bytes.fromhex(rest)
        except ValueError:
            raise UsageError(f"{name!r} is not made of hexadecimal digits", hint="as in bytes:e8b0") from None
    elif colon and kind == "text":
        content = rest.encode("utf-8", "surrogateescape")
    elif name.isascii() and name.isdigit():
        text = name if len(name) <= _LONG else "DIGITS"
        return [_of_id(anatomy, name, f"{quote(name)} is not an id", f"text:{text} names the token of this text")]
    else:
        content = name.encode("utf-8", "surrogateescape")
    found = _of_content(anatomy, content)
    if not found and kind not in ("bytes", "text"):
        found = _of_content(anatomy, _as_shown(name))
    if not found:
        raise UsageError(f"no token is {quote(content)}", hint=_hint(anatomy, content))
    return found


def _as_shown(name: str) -> bytes:
    r"""Read what a report has shown: marks are blanks and control characters, a backslash escapes.

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
    """Describe what may have been meant, and of which tokens the text consists."""
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
    """Write tokens as the vocabulary does, which tells those of one text apart."""
    token = anatomy.tokenizer.token_bytes
    return ", ".join(f"{quote(token(token_id))} (id {token_id})" for token_id in token_ids)
