"""Read tokens back from what the view without colour shows."""

from __future__ import annotations

import re

from bpe_cli.views.visible import MARKS, units

UNMARK = {mark: character for character, mark in MARKS.items()}
UNIT = re.compile(r"\\x[0-9a-f]{2}|<U\+[0-9A-F]{4,6}>|\\.|.", re.DOTALL)


def read_unit(unit):
    if unit.startswith("<U+"):
        return chr(int(unit[3:-1], 16))
    if unit.startswith("\\x") and len(unit) == 4:
        return chr(0xDC00 + int(unit[2:], 16))
    if unit.startswith("\\"):
        return unit[1:]
    if unit == "◌":  # a combining mark stands on it; one of the text has a backslash
        return ""
    return UNMARK.get(unit, unit)


def read_units(shown):
    return "".join(map(read_unit, UNIT.findall(shown)))


def split_at_bars(found):
    """Cut units where a bar stands that is none of the text."""
    parts = [[]]
    for unit in found:
        if unit == "|":
            parts.append([])
        else:
            parts[-1].append(unit)
    return parts


def read_share(found):
    """Return the bytes that a token has of a split character: written as bytes, or as characters."""
    if re.fullmatch("(?:[0-9a-f]{2}(?: [0-9a-f]{2})*)?", "".join(found)):
        return bytes.fromhex("".join(found))
    return "".join(map(read_unit, found)).encode("utf-8", "surrogateescape")


def read_tokens(shown):
    """Return (bytes, special) of each token. Real line breaks say nothing: those of the text have a mark."""
    found = UNIT.findall(shown.replace("\n", ""))
    tokens, current, special = [], [], False  # current: visible units, or bytes of split characters
    place = 0
    while place < len(found):
        unit = found[place]
        if unit == "|":
            tokens.append((_join(current), special))
            current, special = [], False
        elif unit == "⟦":
            special = True
        elif unit == "⟨":
            end = found.index("⟩", place)
            shares = list(map(read_share, split_at_bars(found[place + 1 : end])))
            split = b"".join(shares).decode("utf-8", "surrogateescape")
            written = UNIT.findall("".join(units(split, bars=True)))
            assert current[-len(written) :] == written
            del current[-len(written) :]
            current.append(shares[0])
            for share in shares[1:]:
                tokens.append((_join(current), special))
                current = [share]
            place = end
        elif unit != "⟧":
            current.append(unit)
        place += 1
    if found:
        tokens.append((_join(current), special))
    return tokens


def _join(units_and_bytes):
    return b"".join(
        part if isinstance(part, bytes) else read_unit(part).encode("utf-8", "surrogateescape")
        for part in units_and_bytes
    )
