"""Turn what callers give into what the core takes, and say what it cannot take."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.messages import listed, nearest

if TYPE_CHECKING:
    from typing_extensions import Buffer


def bytes_of(text: str | bytes) -> bytes:
    """Return the bytes of a text; a lone surrogate stands for a byte if ``surrogateescape`` makes it of one."""
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


def no_special_tokens(names: Sequence[str], contents: Iterable[bytes]) -> UsageError:
    """State which names are no special tokens, and which there are."""
    known = [content.decode("utf-8", "replace") for content in contents]
    near = [other for name in names for other in nearest(name, known, cutoff=0.4)]
    some = list(dict.fromkeys(near or known))[:3]
    what = "is not a special token" if len(names) == 1 else "are not special tokens"
    return UsageError(
        f"{listed(list(map(repr, names)), separator=', ')} {what} of this tokenizer",
        hint=f"it has {', '.join(some)}" if some else "it has none",
    )


def cannot_encode(error: ValueError, data: bytes | memoryview, offset: int = 0) -> InputError:
    """State which byte has no token, and where it stands; ``offset`` is that of ``data`` in the block."""
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
    """State which character has no token, of a tokenizer whose tokens are text."""
    sentence, *place = error.args
    if not place:
        return InputError(str(sentence))
    rest = bytes(data[place[0] : place[0] + 40]).decode("utf-8", "backslashreplace")
    return InputError(
        f"no token of this tokenizer begins {rest[:1]!r}, at offset {place[0]}: {rest!r}",
        hint="it has no token for what is unknown; train with one",
    )


def pack(ids: Iterable[int] | Buffer) -> array[int] | memoryview:
    """Pack ids as u32, naming the first that does not fit; an array of u32 is given as it is."""
    if not isinstance(ids, (list, tuple)):
        try:
            view = memoryview(ids)  # type: ignore[arg-type]  # that is what is asked
        except TypeError:
            ids = list(ids)  # type: ignore[arg-type]  # no buffer, so it can be iterated over
        else:
            if view.format == "I" and view.c_contiguous and view.ndim == 1:
                return view
            ids = view.tolist()
    try:
        return array("I", ids)
    except (OverflowError, TypeError):
        place, token_id = next(item for item in enumerate(ids) if not _is_id(item[1]))
        raise InputError(f"{token_id!r} at place {place} is not a token id") from None


def _is_id(number: int) -> bool:
    try:
        array("I", [number])
    except (OverflowError, TypeError):
        return False
    return True
