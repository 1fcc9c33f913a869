"""Lists of tokens to add: lines, JSON, and what is neither."""

from __future__ import annotations

import pytest

from bpe_cli.errors import FormatError, InputError
from bpe_cli.formats import token_list
from bpe_cli.stages import SpecialToken


def test_lines():
    tokens = token_list.loads("\ufefflow\r\n\n  new est \n[x\n".encode(), "list")
    assert tokens == [
        SpecialToken(content, 0, special=False, normalized=True) for content in (b"low", b"  new est ", b"[x")
    ]


def test_json():
    data = b"""["tok", {"content": "<|user|>", "special": true, "lstrip": true}, {"content": "x"},
               {"content": "y", "normalized": false}]"""
    assert token_list.loads(data, "list") == [
        SpecialToken(b"tok", 0, special=False, normalized=True),
        SpecialToken(b"<|user|>", 0, special=True, lstrip=True),
        SpecialToken(b"x", 0, special=False, normalized=True),
        SpecialToken(b"y", 0, special=False),
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "list has no tokens"),
        (b"\n\r\n", "list has no tokens"),
        (b"[]", "list has no tokens"),
        (b"a\n\xff\n", "list:2: the token is not UTF-8"),
        (b'[""]', r"list: \[0\] is empty"),
        (b"[3]", r"list: \[0\] is to be an object, not 3"),
        (b'[{"content": ""}]', "is empty"),
        (b'[{"content": "a", "colour": 1}]', 'does not know: "colour"'),
        (b'[{"content": "a", "id": 3}]', "gives the token an id"),
        (b'["a",]', "not valid JSON"),
        (b"[" * 1_000_000 + b"]" * 1_000_000, "not valid JSON|too large or too deep"),
    ],
)
def test_what_is_wrong_is_named(data, message):
    with pytest.raises(FormatError, match=message):
        token_list.loads(data, "list")


def test_files(tmp_path):
    (tmp_path / "list").write_text("low\n")
    assert token_list.load(tmp_path / "list")[0].content == b"low"
    with pytest.raises(InputError, match="no such file"):
        token_list.load(tmp_path / "other")
