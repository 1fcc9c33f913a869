"""Counts of pieces in a file: nothing in it is trusted before it is checked."""

from __future__ import annotations

import json
from array import array

import pytest

from bpe_cli import _core
from bpe_cli.errors import FormatError, InputError, TrainingError
from bpe_cli.formats import counts_file
from bpe_cli.formats.counts_file import Cutting

CUTTING = Cutting("x+", special_tokens=("<s>", "é"), unicode_version="16.0.0")
MEMORY = 1 << 20


def counts_of(**pieces: int) -> _core.Counts:
    counts = _core.Counts(MEMORY)
    ends, position = array("Q"), 0
    for piece in pieces:
        position += len(piece)
        ends.append(position)
    counts.add_pieces("".join(pieces).encode(), ends, array("Q", pieces.values()))
    return counts


def items(counts: _core.Counts) -> list[tuple[bytes, int]]:
    return counts.items(0, 100)


@pytest.fixture
def lay(tmp_path):
    def write(name="counts", cutting=CUTTING, header=None, payload=None, **pieces):
        line, body = counts_file.dump(counts_of(**(pieces or {"the": 3, "cat": 1})), cutting)
        if header is not None:
            line = json.dumps(json.loads(line) | header, separators=(",", ":")).encode() + b"\n"
        path = tmp_path / name
        path.write_bytes(line + (body if payload is None else payload))
        return path

    return write


def test_reading_what_was_written_gives_the_same(lay):
    cutting, counts = counts_file.load(lay(the=3, cat=2**40), MEMORY)
    assert cutting == CUTTING
    assert items(counts) == [(b"the", 3), (b"cat", 2**40)]


def test_header_is_a_line_of_json_that_a_person_can_read(lay):
    header = json.loads(lay().read_bytes().split(b"\n")[0])
    assert list(header)[:2] == ["format", "version"]
    assert (header["pieces"], header["total"], header["pattern"]) == (2, 4, "x+")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"version": 2}, "version must be 1"),
        ({"pattern": 3}, "pattern must be a string, not 3"),
        ({"prefix_space": None}, "prefix_space must be true or false, not null"),
        ({"special_tokens": "x"}, "special_tokens must be an array"),
        ({"special_tokens": [1]}, "special_tokens[0] must be a string"),
        ({"pieces": 3}, "the header says 3 pieces, 4 with repetitions; the file has 2 and 4"),
        ({"total": 5}, "the header says 2 pieces, 5 with repetitions"),
        ({"total": -5}, "total must be an integer from 0 to"),
        ({"sha256": "0" * 64}, "do not have the checksum"),
        ({"more": 1}, 'has a field that this version does not know: "more"'),
    ],
)
def test_wrong_headers_are_named(lay, header, message):
    with pytest.raises(FormatError) as caught:
        counts_file.load(lay(header=header), MEMORY)
    assert message in caught.value.message


def test_every_cut_and_every_changed_byte_is_found(lay):
    path = lay()
    data = path.read_bytes()
    for cut in range(len(data)):
        path.write_bytes(data[:cut])
        with pytest.raises(FormatError):
            counts_file.load(path, MEMORY)
    for place in range(data.index(b"\n") + 1, len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(FormatError, match="checksum"):
            counts_file.load(path, MEMORY)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "other"
    path.write_bytes(b"the 3\n")
    with pytest.raises(FormatError, match="is not a counts file"):
        counts_file.load(path, MEMORY)
    with pytest.raises(InputError, match="no such file"):
        counts_file.load(tmp_path / "missing", MEMORY)
    with pytest.raises(InputError, match="cannot read "):
        counts_file.load(tmp_path, MEMORY)


def test_memory_is_bounded(lay):
    with pytest.raises(TrainingError):
        counts_file.load(lay(**{"x" * 10000: 1}), 1000)


def test_files_are_added_up_in_order(lay):
    cutting, counts = counts_file.load_all([lay("a", the=3, cat=1), lay("b", dog=1, cat=5)], MEMORY)
    assert cutting == CUTTING
    assert items(counts) == [(b"the", 3), (b"cat", 6), (b"dog", 1)]
    with pytest.raises(InputError, match="no counts file"):
        counts_file.load_all([], MEMORY)


def test_counts_that_are_too_large_together(lay):
    with pytest.raises(FormatError) as caught:
        counts_file.load_all([lay("first", a=2**63), lay("second", a=2**63)], MEMORY)
    assert "second: with the files before it, the counts of all pieces together pass 2^64" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Cutting("y+", special_tokens=("<s>", "é"), unicode_version="16.0.0"), 'pattern is "x+" in the first and "y+"'),
        (Cutting("x+", special_tokens=("<s>",), unicode_version="16.0.0"), "special_tokens is"),
        (Cutting("x+", special_tokens=("<s>", "é"), unicode_version="15.0.0"), 'unicode_version is "16.0.0" in'),
        (Cutting("x+", True, ("<s>", "é"), "16.0.0"), "prefix_space is false in the first and true in the second"),
    ],
)
def test_files_cut_in_other_ways_are_not_added_up(lay, other, message):
    with pytest.raises(FormatError) as caught:
        counts_file.load_all([lay("a"), lay("b", other)], MEMORY)
    assert message in caught.value.message
