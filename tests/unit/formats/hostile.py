"""What every loader is tried with: files that are cut, or changed by a bit, a byte, a number."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

from bpe_cli.errors import FormatError
from tests.work import assert_little_work

NUMBERS = (
    b"-1",
    b"0",
    b"1",
    b"255",
    b"65536",
    b"2097151",
    b"2097152",
    b"4294967295",
    b"4294967296",
    b"1" + b"0" * 9999,
)


def mutations(data: bytes) -> Iterator[bytes]:
    """Yield a small file cut at every byte, with every byte changed, and with every number changed."""
    for end in range(len(data)):
        yield data[:end]
    draw = random.Random(1)
    for place in range(len(data)):
        for byte in (data[place] ^ 1 << draw.randrange(8), draw.choice(b"\n\r \0\xff'\"\\{[0")):
            yield data[:place] + bytes([byte]) + data[place + 1 :]
    for match in re.finditer(rb"-?\d+", data):
        for other in NUMBERS:
            yield data[: match.start()] + other + data[match.end() :]


def try_all(data: bytes, use: Callable[[bytes], object]) -> None:
    """Use every mutation: it works, or it is a ``FormatError`` with a message of a sane length."""
    refused = 0
    for changed in mutations(data):
        try:
            use(changed)
        except FormatError as error:
            refused += 1
            assert 0 < len(error.message) < 1000  # noqa: PT017
    assert refused > len(data) // 4, "hardly anything was found to be wrong"


def refused_quickly(
    data: bytes, use: Callable[[bytes], object], *, most_lines: int = 2_000, most_cost: float = 5
) -> str:
    """Return the message of the refusal, which must come, for little work: see ``tests.work``."""
    messages = []

    def refuse() -> None:
        try:
            use(data)
        except FormatError as error:
            messages.append(error.message)

    assert_little_work(refuse, size=len(data), most_lines=most_lines, most_cost=most_cost)
    assert messages, "was not refused"
    return messages[0]
