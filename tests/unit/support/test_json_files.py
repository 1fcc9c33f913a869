"""JSON that lies in files: what it cannot hold is an error that names it."""

from __future__ import annotations

import json
import os

import pytest

from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.json_files import dumped, read_json


@pytest.mark.parametrize(
    "content", [{"a": "t\udcff"}, {"a": ["b", {"c": "t\udcff"}]}, {"a": ("b", "t\udcff")}, {"t\udcff": 1}]
)
def test_a_text_that_is_not_utf_8_is_named(content):
    with pytest.raises(UsageError) as caught:
        dumped(content)
    assert caught.value.message == r"t\xff is not UTF-8, and JSON cannot hold it"


def test_a_number_that_is_too_large_is_an_error():
    with pytest.raises(UsageError, match="the options cannot be written as JSON: "):
        dumped({"a": 1 << 70})
    assert json.loads(dumped({"a": (1 << 64) - 1})) == {"a": (1 << 64) - 1}


def test_what_is_read_is_an_object(tmp_path):
    path = tmp_path / "x.json"
    assert read_json(str(path)) is None
    path.write_bytes(dumped({"a": [1], "b": None}))
    assert read_json(str(path)) == {"a": [1], "b": None}


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'"a"', b'{"a": 1} {'])
def test_what_is_no_object_is_damaged(content, tmp_path):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(InputError, match=r"x\.json is damaged: "):
        read_json(str(tmp_path / "x.json"))


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_json(str(tmp_path))


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    """It may be somebody's data, and is not taken into memory."""
    path = tmp_path / "x.json"
    path.touch()
    os.truncate(path, (1 << 30) + 1)
    with pytest.raises(InputError, match=r"x\.json has 1,073,741,825 bytes, and at most 1,073,741,824 are read"):
        read_json(str(path))
