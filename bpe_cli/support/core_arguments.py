"""Convert the arguments of callers to what the core takes, and refuse what it cannot take."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from bpe_cli.errors import InputError, NoTokenError, UsageError
from bpe_cli.support.fast_typing import TYPE_CHECKING, Literal, TypeVar
from bpe_cli.support.messages import listed, nearest

if TYPE_CHECKING:
    from typing_extensions import Buffer

T = TypeVar("T")


def bytes_of(text: object, name: str = "text") -> bytes:
    """Return the bytes of a text; a lone surrogate stands for a byte if ``surrogateescape`` makes it of one.

    Args:
        text: A str, or the bytes of one in UTF-8 (or any bytes) in whatever holds bytes.
        name: Its name in errors.

    >>> bytes_of("é"), bytes_of(bytearray(b"ab"))
    (b'\\xc3\\xa9', b'ab')

    Raises:
        TypeError: if the value is neither text nor bytes.
        InputError: if the text has a surrogate that does not stand for a byte.
    """
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        if isinstance(text, (bytearray, memoryview)) and memoryview(text).itemsize == 1:
            return bytes(text)
        raise wrong_type(name, "a str or bytes", text)
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InputError(
            f"character {error.start} of the {name} is the lone surrogate U+{ord(text[error.start]):04X}, "
            "which stands for no bytes",
            hint="text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace') makes it U+FFFD",
        ) from error


def wrong_type(name: str, expected: str, value: object) -> TypeError:
    """Make the error for an argument of another type than it must have.

    >>> wrong_type("text", "a str or bytes", ["a"])
    TypeError('text must be a str or bytes, not list')
    """
    return TypeError(f"{name} must be {expected}, not {type(value).__name__}")


def list_of(name: str, values: Iterable[T], what: str) -> list[T]:
    """Return several values as a list; a single text is refused.

    Args:
        name: What errors call the argument.
        values: The values.
        what: What each of them is, in the plural.

    Raises:
        TypeError: if the value cannot be iterated over.
        UsageError: if the value is a single text.
    """
    if isinstance(values, (str, bytes, bytearray, memoryview)):
        raise UsageError(
            f"{name} must be several {what}, not one {type(values).__name__}",
            hint=f"put it into a list: {name}=[...]",
        )
    if not _several(values):
        raise wrong_type(name, f"a list of {what}", values)
    return list(values)


def specials_of(specials: Literal["all"] | Iterable[str]) -> Literal["all"] | tuple[str, ...]:
    """Check a choice of special tokens: all, or those with these contents.

    >>> specials_of(["<s>"]), specials_of("all")
    (('<s>',), 'all')

    Raises:
        TypeError: if the value is neither ``"all"`` nor several str.
        UsageError: if the value is the text of one token.
    """
    if isinstance(specials, str):
        if specials == "all":
            return "all"
        raise UsageError(
            f"specials is the str {specials!r}, which is neither 'all' nor a collection of special tokens",
            hint=f"for this one token: specials=({specials!r},)",
        )
    if not _several(specials):
        raise wrong_type("specials", "'all' or a collection of str", specials)
    names = tuple(specials)
    for name in names:
        if not isinstance(name, str):
            raise wrong_type("specials", "'all' or a collection of str", name)
        bytes_of(name, "special token")
    return names


def ordered_specials(specials: Literal["all"] | Iterable[str]) -> Literal["all"] | tuple[str, ...]:
    """Return a choice of special tokens as reports and records have it: each once, in an order of its own.

    >>> ordered_specials(["b", "a", "b"]), ordered_specials("all")
    (('a', 'b'), 'all')
    """
    return "all" if specials == "all" else tuple(sorted(set(specials)))


def losses_of(allow_loss: Iterable[str]) -> frozenset[str]:
    """Check the names of losses that a format need not hold.

    >>> losses_of(["name"])
    frozenset({'name'})

    Raises:
        TypeError: if the value is not several str.
        UsageError: if the value is the name of one loss.
    """
    if isinstance(allow_loss, str):
        raise UsageError(
            f"allow_loss is the str {allow_loss!r}, and not a collection of names",
            hint=f"put them into a list: allow_loss={allow_loss.split(',')}",
        )
    if not _several(allow_loss):
        raise wrong_type("allow_loss", "a collection of str", allow_loss)
    losses = list(allow_loss)
    for each in losses:
        if not isinstance(each, str):
            raise wrong_type("allow_loss", "a collection of str", each)
    return frozenset(losses)


def _several(values: object) -> bool:
    return isinstance(values, Iterable) and not isinstance(values, (str, bytes, bytearray, memoryview))


def whole_number(name: str, value: int, least: int = 0, most: int = (1 << 63) - 1) -> int:
    """Return a number in range that is an int, or can be converted to one without loss.

    True and False are not taken for 1 and 0: whoever gives them means yes or no.

    Raises:
        TypeError: if the value is not a whole number.
        UsageError: if the number is out of range.
    """
    if type(value) is not int:
        if isinstance(value, bool):
            raise wrong_type(name, "an int", value)
        try:
            value = value.__index__()
        except (AttributeError, TypeError):
            raise wrong_type(name, "an int", value) from None
    if value < least:
        raise UsageError(f"{name} must be {least:,} or more, not {value:,}")
    if value > most:
        raise UsageError(f"{name} must be {most:,} or less")
    return value


def plain_number(name: str, value: object, *, whole: bool = False) -> float:
    """Return a number of any type, NumPy's too, as an int or a float; with ``whole``, only whole numbers are taken.

    Raises:
        TypeError: if the value is not a number, or True or False.
    """
    if type(value) is int or (type(value) is float and not whole):
        return value
    from numbers import Integral, Real

    if not isinstance(value, bool) and isinstance(value, Integral):
        return int(value)
    if whole or isinstance(value, bool) or not isinstance(value, Real):
        raise wrong_type(name, "an int" if whole else "a number", value)
    return float(value)


def flag(name: str, value: bool) -> bool:
    """Return a value that is True or False; no other stands for one of them, as ``"no"`` would for True.

    Raises:
        TypeError: if the value is not a bool.
    """
    if not isinstance(value, bool):
        raise wrong_type(name, "a bool", value)
    return value


def share_of(name: str, value: float) -> float:
    """Return a share, which is a number from 0 to 1.

    Raises:
        UsageError: if it is another one, or none.
    """
    if not 0 <= value <= 1:
        raise UsageError(f"{name} must be a share from 0 to 1, not {value:g}")
    return value


def one_of(name: str, value: str, known: Sequence[str]) -> None:
    """Check that an argument has one of the given values.

    Raises:
        TypeError: if the value is not a str.
        UsageError: if the value is another str.
    """
    if not isinstance(value, str):
        raise wrong_type(name, "a str", value)
    if value not in known:
        raise UsageError(f"{name} must be {' or '.join(map(repr, known))}, not {value!r}")


def no_special_tokens(names: Sequence[str], contents: Iterable[bytes]) -> UsageError:
    """Make the error for names that are not special tokens; it lists those that are."""
    known = [content.decode("utf-8", "replace") for content in contents]
    near = [other for name in names for other in nearest(name, known, cutoff=0.4)]
    some = list(dict.fromkeys(near or known))[:3]
    what = "is not a special token" if len(names) == 1 else "are not special tokens"
    return UsageError(
        f"{listed(list(map(repr, names)), separator=', ')} {what} of this tokenizer",
        hint=f"it has {', '.join(some)}" if some else "it has none",
    )


def cannot_encode(error: ValueError, data: bytes | memoryview, offset: int = 0, ends: Sequence[int] = ()) -> InputError:
    """Make the error for a byte without a token, and its place.

    Args:
        error: What the core says.
        data: The text, or several.
        offset: The offset of ``data`` in the block.
        ends: Where each of several texts ends in ``data``: the message quotes only the one that is at fault.
    """
    sentence, *place = error.args
    if not place:
        return InputError(str(sentence))
    first, last = _text_around(place[0], data, ends)
    around = bytes(data[max(first, place[0] - 20) : min(last, place[0] + 20)]).decode("utf-8", "backslashreplace")
    byte, _, rest = str(sentence).partition(" has ")
    value = int(byte.rpartition("0x")[2], 16)
    without = f"as `tr -d '\\{value:03o}'` does" if value < 0x80 else "with the character that it is a part of"
    missing = f"has {rest} in this tokenizer: {around!r}"
    return NoTokenError(
        f"{byte} at offset {offset + place[0]} {missing}",
        offset=offset + place[0],
        elsewhere=f"{byte} {missing}",
        hint=f"the tokenizer was trained without it: take it out of the text, {without}, or train with "
        '`initial_alphabet="all"`, which has every byte',
    )


def cannot_spell(error: ValueError, data: bytes | memoryview, ends: Sequence[int] = ()) -> InputError:
    """Make the error for a character without a token, of a tokenizer whose tokens are text: see ``cannot_encode``."""
    sentence, *place = error.args
    if not place:
        return InputError(str(sentence))
    last = _text_around(place[0], data, ends)[1]
    rest = bytes(data[place[0] : min(last, place[0] + 40)]).decode("utf-8", "backslashreplace")
    missing = f"no token of this tokenizer begins {rest[:1]!r}"
    return NoTokenError(
        f"{missing}, at offset {place[0]}: {rest!r}",
        offset=place[0],
        elsewhere=f"{missing}: {rest!r}",
        hint="it has no token for what is unknown; train with one",
    )


def _text_around(place: int, data: bytes | memoryview, ends: Sequence[int]) -> tuple[int, int]:
    """Return where the text begins and ends that an offset in the bytes of several lies in."""
    number = bisect_right(ends, place)
    return (ends[number - 1] if number else 0), (ends[number] if number < len(ends) else len(data))


def in_one_of(texts: Sequence[T], error: NoTokenError, encode: Callable[[T], object]) -> NoTokenError:
    """Return the error of one of several texts, with its number and the offset in it, in place of that of all.

    Args:
        texts: The texts.
        error: The error of all, laid one after the other.
        encode: Encodes one text.
    """
    number = bisect_right([*accumulate(len(bytes_of(text)) for text in texts)], error.offset)
    try:
        encode(texts[number])
    except NoTokenError as found:
        return found.within(f"texts[{number}]")
    return error


def options_json(**options: object) -> bytes:
    """Return the options of a call into the core as one JSON object; bytes are in base64.

    >>> options_json(vocab_size=300, initial=[b"a", b"\\xff"], vetoes={"max_digits": None})
    b'{"initial":["YQ==","/w=="],"vetoes":{"max_digits":null},"vocab_size":300}'
    """
    import json  # what only encodes needs none

    return json.dumps(options, separators=(",", ":"), sort_keys=True, allow_nan=False, default=_base64).encode()


def _base64(value: object) -> str:
    if isinstance(value, bytes):
        from binascii import b2a_base64

        return b2a_base64(value, newline=False).decode()
    raise wrong_type("an option", "what JSON has, or bytes", value)


def pack(ids: Iterable[int] | Buffer) -> array[int] | memoryview:
    """Pack ids as u32, naming the first that does not fit; an array of u32 is returned unchanged.

    Raises:
        TypeError: if the ids are a text, a single one, or cannot be iterated over.
        InputError: if a value is not an id.
    """
    if not isinstance(ids, (list, tuple)):
        if isinstance(ids, (str, bytes, bytearray)):
            raise wrong_type("ids", "token ids", ids)
        try:
            view = memoryview(ids)  # type: ignore[arg-type]  # that is what is asked
        except (TypeError, ValueError):  # no buffer, or one of dates
            view = None
        if view is not None and view.format == "I" and view.c_contiguous and view.ndim == 1:
            return view
        if getattr(ids, "ndim", 1) == 0:  # an array without dimensions, or a number of NumPy's
            raise TypeError(f"ids must be token ids, not a single one (of type {type(ids).__name__})")
        try:
            ids = _listed(ids) if view is None else view.tolist()
        except NotImplementedError:  # in another byte order than the machine's, or objects
            ids = _listed(ids)
    try:
        return array("I", ids)
    except (OverflowError, TypeError):
        place, token_id = next(item for item in enumerate(ids) if not _is_id(item[1]))
        raise InputError(f"{token_id!r} at place {place} is not a token id") from None


def _listed(ids: Iterable[int] | Buffer) -> list[int]:
    if not isinstance(ids, Iterable):
        raise wrong_type("ids", "token ids", ids)
    return list(ids)


def _is_id(number: int) -> bool:
    try:
        array("I", [number])
    except (OverflowError, TypeError):
        return False
    return True


def pair_of(name: str, value: object) -> tuple[int, int]:
    """Return two numbers from 1 on.

    Raises:
        TypeError: if the value is not a tuple of two whole numbers.
        UsageError: if one is less than 1.
    """
    if not isinstance(value, tuple) or len(value) != 2:
        raise wrong_type(name, "a pair of numbers", value)
    return whole_number(name, value[0], 1), whole_number(name, value[1], 1)
