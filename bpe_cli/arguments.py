"""Turn what callers give into what the core takes, and say what it cannot take."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from bpe_cli.errors import InputError


def bytes_of(text: str | bytes) -> bytes:
    """Give the bytes of a text; a lone surrogate stands for a byte if ``surrogateescape`` makes it of one."""
    if isinstance(text, bytes):
        return text
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InputError(
            f"character {error.start} of the text is the lone surrogate U+{ord(text[error.start]):04X}, "
            "which stands for no bytes",
            hint="text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace') makes it U+FFFD",
        ) from error


def cannot_encode(error: ValueError, data: bytes | memoryview, offset: int = 0) -> InputError:
    """Say which byte has no token, and where it stands; ``offset`` is that of ``data`` in the block."""
    sentence, *place = error.args
    if not place:
        return InputError(str(sentence))
    around = bytes(data[max(0, place[0] - 20) : place[0] + 20]).decode("utf-8", "backslashreplace")
    byte, _, rest = str(sentence).partition(" has ")
    return InputError(
        f"{byte} at offset {offset + place[0]} has {rest} in this tokenizer: {around!r}",
        hint="the tokenizer was trained without it; train with --initial-alphabet all, which has every byte",
    )


def cannot_spell(error: ValueError, data: bytes | memoryview) -> InputError:
    """Say which character has no token, of a tokenizer whose tokens are text."""
    sentence, *place = error.args
    if not place:
        return InputError(str(sentence))
    rest = bytes(data[place[0] : place[0] + 40]).decode("utf-8", "backslashreplace")
    return InputError(
        f"no token of this tokenizer begins {rest[:1]!r}, at offset {place[0]}: {rest!r}",
        hint="it has no token for what is unknown; train with one",
    )


def pack(ids: Iterable[int]) -> array[int]:
    """Pack ids as u32, naming the first that does not fit."""
    packed = array("I")
    for place, token_id in enumerate(ids):
        try:
            packed.append(token_id)
        except (OverflowError, TypeError):
            raise InputError(f"{token_id!r} at place {place} is not a token id") from None
    return packed
