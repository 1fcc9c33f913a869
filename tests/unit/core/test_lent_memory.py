"""Memory that crosses the border, in and out: whoever lends it, whatever its length, however long it is held.

``make sanitize`` runs these under AddressSanitizer too.
"""

from __future__ import annotations

import gc
import json
import mmap
from array import array
from collections.abc import Callable

import pytest

from bpe_cli import _core
from tests.needs import needs

np = needs("numpy")

SPLITTER = _core.Splitter(
    json.dumps({"words": "spaced", "contractions": "exact", "digits": 0, "tail": "", "newlines": False})
)
# The bytes, then the pairs of a letter with itself.
TOKENS = [bytes([byte]) for byte in range(256)] + [bytes([byte, byte]) for byte in b"abcdefgh"]
BLOB = b"".join(TOKENS)
ENDS = array("I", [*range(1, 257), *range(258, 274, 2)])
ENGINE = _core.Encoder.plain(SPLITTER, (BLOB, ENDS), prefix_space=False, merges=None, whole_pieces=True)


def mapped(data: bytes) -> mmap.mmap:
    memory = mmap.mmap(-1, max(len(data), 1))
    memory.write(data)
    return memory


def inside(data: bytes) -> memoryview:
    """Lie between other bytes, which are not lent."""
    return memoryview(b"\xff" * 7 + data + b"\xff" * 9)[7 : 7 + len(data)]


LENDERS: dict[str, Callable[[bytes], object]] = {
    "bytes": bytes,
    "bytearray": bytearray,
    "memoryview": memoryview,
    "a view inside": inside,
    "a writable view": lambda data: memoryview(bytearray(data)),
    "a view that says it is read-only": lambda data: memoryview(bytearray(data)).toreadonly(),
    "array": lambda data: array("B", data),
    "numpy": lambda data: np.frombuffer(data, dtype=np.uint8),
    "a numpy view inside": lambda data: np.frombuffer(b"x" + data + b"x", dtype=np.uint8)[1:-1],
    "mmap": lambda data: memoryview(mapped(data))[: len(data)],
}
LENGTHS = [0, 1, 2, 15, 16, 17, 47, 48, 49, 63, 64, 65, 127, 128, 129, 255, 1000, 4095, 4096, 4097, 70_000]


@pytest.mark.parametrize("lender", LENDERS)
def test_text_of_any_length_from_any_lender(lender):
    for length in LENGTHS:
        text = (b"aabb ccdd, it's 12345\n  \xe5\xad\x97 \xff" * (length // 16 + 1))[:length]
        ends = array("Q", [length])
        ids, id_ends = ENGINE.encode(LENDERS[lender](text), ends, None, 1)
        assert list(memoryview(id_ends)) == [len(ids)]
        assert list(memoryview(ENGINE.count(LENDERS[lender](text), ends, None, 2))) == [len(ids)]
        assert ENGINE.decode(ids, (b"", b"", b"")) == text
        pieces = SPLITTER.split(LENDERS[lender](text))
        assert list(memoryview(pieces)) == list(memoryview(SPLITTER.split(text)))
        assert ENGINE.encode_pieces(LENDERS[lender](text), pieces) is not None
        assert 0 <= SPLITTER.safe_cut(LENDERS[lender](text)) <= length


def test_what_is_given_outlives_what_gave_it():
    views = [memoryview(ENGINE.encode(b"aabb" * n, array("Q", [4 * n]), None, 1)[0]) for n in range(200)]
    gc.collect(1)  # of what is new; to look through all that other tests have left takes seconds
    assert [list(view) for view in views] == [[256, 257] * n for n in range(200)]
    parts = views[150][10:20].cast("B")
    del views
    gc.collect(1)
    assert list(parts.cast("I")) == [256, 257] * 5


def test_what_is_given_cannot_be_written_to():
    ids, ends = ENGINE.encode(b"aabb", array("Q", [4]), None, 1)
    for given in (ids, ends):
        view = memoryview(given)
        assert (view.readonly, view.ndim, view.c_contiguous) == (True, 1, True)
        with pytest.raises(TypeError):
            view[0] = 1
        writable = np.asarray(given)
        assert not writable.flags.writeable
    assert (memoryview(ids).format, memoryview(ends).format) == ("I", "Q")


def test_empty_arrays_cross_too():
    ids, ends = ENGINE.encode(b"", array("Q"), None, 1)
    assert (len(ids), len(ends), bytes(memoryview(ids)), bytes(memoryview(ends))) == (0, 0, b"", b"")
    assert ENGINE.decode(ids, (ids, b"", ids)) == b""


@pytest.mark.parametrize(
    "ids",
    [
        array("H", [97]),
        array("Q", [97]),
        np.array([97.0], dtype=np.float32),
        np.array([[97, 98]], dtype=np.uint32),
        np.arange(97, 103, dtype=np.uint32)[::2],
        np.array([97], dtype=">u4"),
        b"a",
    ],
    ids=["narrow", "wide", "real", "square", "strided", "foreign", "bytes"],
)
def test_memory_of_another_form_is_refused(ids):
    with pytest.raises((ValueError, BufferError)):
        ENGINE.decode(ids, (b"", b"", b""))


def test_memory_that_is_not_aligned_is_refused():
    raw = b"x" + array("I", [97, 98, 99]).tobytes()
    unaligned = np.frombuffer(raw, dtype=np.uint8)[1:].view(np.uint32)
    with pytest.raises(BufferError):
        ENGINE.decode(unaligned, (b"", b"", b""))


@pytest.mark.parametrize("ends", [[3], [5], [2, 1, 4], [2**63], []])
def test_ends_that_lie_are_refused(ends):
    with pytest.raises(ValueError, match="ends at"):
        ENGINE.encode(b"aabb", array("Q", ends), None, 1)


@pytest.mark.parametrize("ids", [[264], [2**32 - 1], [97, 2**21]])
def test_ids_that_no_token_has_are_refused(ids):
    with pytest.raises(ValueError, match="has no token"):
        ENGINE.decode(array("I", ids), (b"", b"", b""))


def test_special_tokens_whose_ends_lie_are_not_read():
    special = (array("I", [300]), b"<x>", array("I", [2**31]))
    with pytest.raises(ValueError, match="has no token"):
        ENGINE.decode(array("I", [300]), special)


def test_numbers_of_every_length():
    for length in (0, 1, 2, 3, 31, 32, 33, 1000):
        ids, ends = array("I", range(length)), array("Q", [length])
        narrow = _core.pack_numbers(ids, ends, None, True)
        assert narrow == array("H", range(length)).tobytes()
        assert list(memoryview(_core.widen_numbers(narrow))) == list(ids)
        assert _core.pack_numbers(ids, ends, 7, False) == array("I", [*range(length), 7]).tobytes()
        written, _ = _core.write_rows(ids, ends, (b"", b" ", b"\n"))
        assert written == (" ".join(map(str, range(length))) + "\n").encode()
