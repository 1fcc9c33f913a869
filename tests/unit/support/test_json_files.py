"""JSON that lies in files: what it cannot hold is an error that names it."""

from __future__ import annotations

import json

import pytest

from bpe_cli.errors import UsageError
from bpe_cli.support.json_files import dumped


@pytest.mark.parametrize(
    "content", [{"a": "t\udcff"}, {"a": ["b", {"c": "t\udcff"}]}, {"a": ("b", "t\udcff")}, {"t\udcff": 1}]
)
def test_a_text_that_is_not_utf_8_is_named(content):
    with pytest.raises(UsageError) as caught:
        dumped(content)
    assert caught.value.message == r"'t\udcff' is not UTF-8, and JSON cannot hold it"


def test_a_number_that_is_too_large_is_an_error():
    with pytest.raises(UsageError, match="the options cannot be written as JSON: "):
        dumped({"a": 1 << 70})
    assert json.loads(dumped({"a": (1 << 64) - 1})) == {"a": (1 << 64) - 1}
