"""Change files a little: their bytes, their lines, their JSON values, and parts of one put into another.

Most files with a byte changed are refused when they are read, and the code behind the reader is never reached. So JSON
is changed as values (numbers at limits, swapped and renamed keys, keys twice, another file's stages), lists as lines,
and binary files where texts of one length stand, which leaves the file in one piece. Bytes are changed too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

Files = Mapping[str, bytes]

NUMBERS = (
    "0", "-0", "-1", "1", "2", "255", "256", "65535", "65536", "1048576", "2097151", "2097152", "2147483647",
    "2147483648", "4294967295", "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808",
    "18446744073709551615", "18446744073709551616", "-9223372036854775809", "0.5", "-0.0", "1e-310", "1e308", "1e309",
    "-1e400", "9" * 400,
)  # fmt: skip
"""Numbers at the limits of what they are kept in, as they are written."""

TEXTS = (
    "", " ", "a", "▁", "Ġ", "##a", "a</w>", "</s>", "<0x41>", "<0xGG>", "\0", "\ufeff", "\u202ea", "é", "e\u0301",
    "漢", "🙂", "\\", "(", "[^", "a{9999}", "(a*)*b", "\\p{L}+", "$1", "$A $B", "true", "a" * 1025,
)  # fmt: skip
"""Texts that mean something somewhere: marks, names of bytes, expressions, templates, and none at all."""

BYTES = (b"\0", b"\xff", b"\x7f", b"\x80", b"\n", b"\r\n", b" ", b'"', b"\\", b"\xed\xa0\x80", b"\xf4\x90\x80\x80")

WORD = re.compile(rb"[!-~\xc0-\xff][ -~\x80-\xff]+")
"""A run of bytes that may be a text in a binary file."""


class Pairs(list[list[Any]]):
    """A JSON object as [key, value] pairs: so it can hold a key twice, in any order."""


class Written(str):
    """A number as it is written, in place of one that Python could hold."""


def read(data: bytes) -> Any:
    """Read JSON as values that ``write`` writes back; numbers stay as they are written.

    >>> write(read(b'{"a": [1e400, true, "x"], "a": null}'))
    b'{"a": [1e400, true, "x"], "a": null}'

    Raises:
        ValueError: if it is not JSON in UTF-8.
    """
    return json.loads(
        data.decode(), object_pairs_hook=lambda pairs: Pairs(map(list, pairs)), parse_int=Written, parse_float=Written
    )


def write(value: Any) -> bytes:
    """Write values as JSON."""
    return _text(value).encode("utf-8", "surrogatepass")


def _text(value: Any) -> str:
    if isinstance(value, Written):
        return str(value)
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{json.dumps(key)}: {_text(each)}" for key, each in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


# -- values ----------------------------------------------------------------------------------------


def containers(value: Any, most: int = 60) -> list[list[Any]]:
    """Return the objects and arrays in a value, itself too, no more than so many, those above first.

    Long tables have few containers or very many: neither keeps the stages beside them from being changed.
    """
    found: list[list[Any]] = []
    waiting = [value]
    while waiting and len(found) < most:
        each = waiting.pop(0)
        if isinstance(each, list):
            found.append(each)
            inside = [item[1] for item in each] if isinstance(each, Pairs) else each
            waiting += [item for item in inside if isinstance(item, list)][:20]
    return [each for each in found if each]


def change_value(chance: Random, value: Any, others: Sequence[bytes]) -> str:
    """Change one thing in a JSON value, in place, with parts of other files maybe; return what was done."""
    found = containers(value)
    if not found:
        return "nothing"
    inside = chance.choice(found)
    if others and chance.random() < 0.3:
        return splice(chance, value, read_or_none(chance.choice(list(others))))
    return chance.choice((_set, _set, _set, _swap, _double, _drop, _rename, _deepen))(chance, inside)


def _at(inside: list[Any], place: int) -> Any:
    return inside[place][1] if isinstance(inside, Pairs) else inside[place]


def _put(inside: list[Any], place: int, value: Any) -> None:
    if isinstance(inside, Pairs):
        inside[place] = [inside[place][0], value]
    else:
        inside[place] = value


def other_value(chance: Random, value: Any) -> Any:
    """Return another value, mostly of the same kind."""
    if chance.random() < 0.1:
        return chance.choice((None, True, False, Written("0"), "", [], Pairs()))
    if isinstance(value, bool):
        return not value
    if isinstance(value, Written):
        near = value.isdigit() and len(value) < 10 and chance.random() < 0.5
        return Written(max(0, int(value) + chance.choice((-1, 1, 2)))) if near else Written(chance.choice(NUMBERS))
    if isinstance(value, str):
        cut = value[: chance.randrange(len(value) + 1)]
        return chance.choice((chance.choice(TEXTS), value + chance.choice(TEXTS), cut, value * 2))
    return None if value is not None else chance.choice((Written("0"), "a", [], Pairs()))


def _set(chance: Random, inside: list[Any]) -> str:
    place = chance.randrange(len(inside))
    _put(inside, place, other_value(chance, _at(inside, place)))
    return "set a value"


def _swap(chance: Random, inside: list[Any]) -> str:
    one, other = (chance.randrange(len(inside)) for _ in range(2))
    first, second = _at(inside, one), _at(inside, other)
    _put(inside, one, second)
    _put(inside, other, first)
    return "swapped two values"


def _double(chance: Random, inside: list[Any]) -> str:
    copy = inside[chance.randrange(len(inside))]
    inside.insert(chance.randrange(len(inside) + 1), list(copy) if isinstance(inside, Pairs) else copy)
    return "wrote an entry twice"


def _drop(chance: Random, inside: list[Any]) -> str:
    del inside[chance.randrange(len(inside))]
    return "left an entry out"


def _rename(chance: Random, inside: list[Any]) -> str:
    if not isinstance(inside, Pairs):
        return _swap(chance, inside)
    one, other = (chance.randrange(len(inside)) for _ in range(2))
    keys = [inside[one][0], inside[other][0]]
    if one == other:
        keys = [other_value(chance, keys[0]) or ""] * 2
    for place, key in zip((other, one), keys, strict=True):
        inside[place] = [str(key), inside[place][1]]
    return "renamed keys"


def _deepen(chance: Random, inside: list[Any]) -> str:
    place = chance.randrange(len(inside))
    value = _at(inside, place)
    for _ in range(chance.choice((1, 2, 30, 150))):
        value = [value]
    _put(inside, place, value)
    return "nested a value"


def splice(chance: Random, value: Any, other: Any) -> str:
    """Put what stands under one key of another file in place of what stands under the same key."""
    if not (isinstance(value, Pairs) and isinstance(other, Pairs)):
        return "nothing"
    theirs = {pair[0]: pair[1] for pair in other}
    shared = [place for place, pair in enumerate(value) if pair[0] in theirs]
    if not shared:
        return "nothing"
    place = chance.choice(shared)
    mine, new = value[place][1], theirs[value[place][0]]
    if isinstance(mine, Pairs) and isinstance(new, Pairs) and chance.random() < 0.4:  # deeper: of the model's parts
        return splice(chance, mine, new)
    value[place] = [value[place][0], new]
    return "spliced a value of another file"


# -- lines and bytes -------------------------------------------------------------------------------


def change_lines(chance: Random, data: bytes, others: Sequence[bytes]) -> tuple[str, bytes]:
    """Change a file of lines: which there are, their order, and the fields of one."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return "nothing", data
    place, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    way = chance.randrange(6)
    if way == 0:
        lines[place], lines[other] = lines[other], lines[place]
        return "swapped two lines", b"".join(lines)
    if way == 1:
        lines.insert(place, lines[other])
        return "wrote a line twice", b"".join(lines)
    if way == 2:
        del lines[place]
        return "left a line out", b"".join(lines)
    if way == 3 and others:
        theirs = chance.choice(list(others)).splitlines(keepends=True) or [b"\n"]
        lines[place : place + chance.choice((0, 1, 5))] = theirs[: chance.choice((1, 5))]
        return "spliced lines of another file", b"".join(lines)
    fields = re.split(rb"([ \t])", lines[place].rstrip(b"\r\n"))
    end = lines[place][len(lines[place].rstrip(b"\r\n")) :]
    at = chance.randrange(0, len(fields), 2)
    known = re.split(rb"[ \t]", lines[other].rstrip(b"\r\n"))
    fields[at] = chance.choice((chance.choice(NUMBERS).encode(), chance.choice(TEXTS).encode(), chance.choice(known)))
    lines[place] = b"".join(fields) + end
    return "changed a field", b"".join(lines)


def some_word(chance: Random, data: bytes) -> re.Match[bytes] | None:
    """Return a text at a random place of a binary file, or the first one behind it; None if there is none at all."""
    return WORD.search(data, chance.randrange(len(data) + 1)) or WORD.search(data)


def change_texts(chance: Random, data: bytes) -> tuple[str, bytes]:
    """Swap two texts of one length in a binary file, or set a number to a limit: all lengths in it stay true."""
    one = some_word(chance, data)
    if one is not None and chance.random() < 0.6:
        length = chance.randint(1, min(16, len(one[0])))
        drawn = (some_word(chance, data) for _ in range(8))
        other = next((each for each in drawn if each and len(each[0]) >= length), one)
        changed = bytearray(data)
        changed[one.start() : one.start() + length] = other[0][:length]
        changed[other.start() : other.start() + length] = one[0][:length]
        return "swapped two texts", bytes(changed)
    width = chance.choice((1, 2, 4, 8))
    limit = chance.choice((0, 1, (1 << 8 * width) - 1, (1 << 8 * width - 1) - 1, 1 << 8 * width - 1))
    place = chance.randrange(max(1, len(data) - width + 1))
    return "set a number to a limit", data[:place] + limit.to_bytes(width, "little") + data[place + width :]


def change_bytes(chance: Random, data: bytes, others: Sequence[bytes]) -> tuple[str, bytes]:
    """Cut, flip, repeat, insert, or go on as another file does."""
    place = chance.randrange(len(data) + 1)
    way = chance.randrange(5)
    if way == 0:
        return "cut it short", data[:place]
    if way == 1 and data:
        place = min(place, len(data) - 1)
        return "flipped a bit", data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]
    if way == 2:
        return "repeated a part", data[:place] + data[max(0, place - chance.randrange(1, 200)) :]
    if way == 3 and others:
        theirs = chance.choice(list(others))
        return "went on as another file", data[:place] + theirs[min(place, len(theirs)) :]
    return "inserted bytes", data[:place] + chance.choice(BYTES) * chance.choice((1, 1, 3, 1000)) + data[place:]


def change(chance: Random, data: bytes, others: Sequence[bytes]) -> tuple[str, bytes]:
    """Change a file in a way that suits what it is; return what was done, and the file."""
    from tests.proof.kinds.mutating_whole import change_everywhere

    if chance.random() < 0.4:
        return change_everywhere(chance, data, others)
    if chance.random() < 0.15:
        return change_bytes(chance, data, others)
    try:
        value = read(data)
    except (ValueError, RecursionError):
        is_binary = b"\0" in data[:4096] or sum(byte < 32 for byte in data[:400]) > 40
        return change_texts(chance, data) if is_binary else change_lines(chance, data, others)
    if not isinstance(value, list):
        return change_lines(chance, data, others)
    return change_value(chance, value, others), write(value)


def read_or_none(data: bytes) -> Any:
    """Read JSON, or give None for what is none."""
    try:
        return read(data)
    except (ValueError, RecursionError):
        return None


def mutant(chance: Random, files: Files, others: Sequence[Files]) -> tuple[list[str], dict[str, bytes]]:
    """Change files that belong together, mostly once; return what was done, and the files.

    Args:
        chance: What is drawn.
        files: Name -> contents, as ``formats.dump`` gives them.
        others: Files of the same format, to take parts of.
    """
    changed = dict(files)
    done = []
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        name = chance.choice(sorted(changed))
        how, changed[name] = change(chance, changed[name], [other[name] for other in others if name in other])
        done.append(how)
    return done, changed
