"""Find out whether occurrences of some texts can overlap those of others."""

from __future__ import annotations

from array import array
from collections.abc import Collection


def overlap(ones: Collection[bytes], others: Collection[bytes]) -> bool:
    """Return whether an occurrence of one of the first can contain the beginning of one of the others.

    Time and memory are linear in the lengths of all, since a file may have a token of megabytes: it is Aho and
    Corasick's automaton of the others, through which the first are read. At the end of one, it is at the longest of its
    ends that is the beginning of another.
    """
    if not ones or not others:
        return False
    if b"" in others:  # which begins everywhere
        return any(ones)
    states, ends = _beginnings(others)
    fallback = array("I", bytes(4 * len(ends)))  # the state of the longest proper end of each beginning
    for edge, child in states.items():
        state, byte = edge >> 8, edge & 255
        if state:
            state = fallback[state]
            while state and state << 8 | byte not in states:
                state = fallback[state]
            fallback[child] = states.get(state << 8 | byte, 0)
            ends[child] |= ends[fallback[child]]
    for one in ones:
        state = 0
        for byte in one:
            while state and state << 8 | byte not in states:
                state = fallback[state]
            state = states.get(state << 8 | byte, 0)
            if ends[state]:
                return True
        if state:
            return True
    return False


def _beginnings(texts: Collection[bytes]) -> tuple[dict[int, int], bytearray]:
    """Number the beginnings of texts, the shorter first; 0 is the empty one.

    Returns:
        (number of a beginning << 8 | next byte) -> number of the longer one; and for each number whether it is a text.
    """
    states: dict[int, int] = {}
    ends = bytearray(1)
    waiting = [(text, 0) for text in dict.fromkeys(texts)]
    depth = 0
    while waiting:
        longer = []
        for text, state in waiting:
            edge = state << 8 | text[depth]
            child = states.setdefault(edge, len(ends))
            if child == len(ends):
                ends.append(0)
            if depth + 1 == len(text):
                ends[child] = 1
            else:
                longer.append((text, child))
        waiting = longer
        depth += 1
    return states, ends
