"""A field of each JSON line is a document; what is wrong is named by file, line and byte."""

from __future__ import annotations

import io

import pytest

from bpe_cli.corpus import Source, read_blocks
from bpe_cli.errors import InputError


def read(data: bytes, field: str = "text") -> list[bytes]:
    blocks = read_blocks(Source(documents="jsonl", field=field), stdin=io.BytesIO(data))
    return [bytes(document) for block in blocks for document in block.documents()]


def error_of(data: bytes, field: str = "text") -> InputError:
    with pytest.raises(InputError) as caught:
        read(data, field)
    return caught.value


def test_fields_are_documents():
    assert read(b'{"text":"a\\u00e9\\n"}\r\n\n  \t\n{"id":1,"text":""}') == ["aé\n".encode(), b""]
    assert read(b"") == read(b"\n\n") == []


def test_byte_order_mark_is_tolerated_at_the_start_only():
    assert read(b'\xef\xbb\xbf{"text":"a"}\n') == [b"a"]
    assert error_of(b'{"text":"a"}\n\xef\xbb\xbf{"text":"a"}').message.startswith("stdin:2:1: invalid JSON")


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b'{"a":{"b":"x"}}', "a.b"),
        (b'{"a":["y",{"b":"x"}]}', "a.1.b"),
        (b'["y","x"]', "1"),
        (b'{"a":{"0":"x"}}', "a.0"),
        (b'{"a.b":"x","a":{"b":"y"}}', "a.b"),
        (b'{"":"x"}', ""),
    ],
)
def test_paths_go_into_objects_and_lists(line, field):
    assert read(line, field) == [b"x"]


@pytest.mark.parametrize(
    ("data", "field", "message", "hint"),
    [
        (b'{"b":1,"id":1}', "text", "stdin:1: there is no field 'text'", "`field` names it; the keys are 'b', 'id'"),
        (b"{}", "text", "stdin:1: there is no field 'text'", "the object is empty"),
        (b'\n{"a":{"c":1}}', "a.b", "stdin:2: there is no field 'b' in 'a'",
         "`field` names it; the keys in 'a' are 'c'"),
        (b'{"text":1}', "text", "stdin:1: the field 'text' is a number, not a string", None),
        (b'{"text":null}', "text", "stdin:1: the field 'text' is null, not a string", None),
        (b'{"text":true}', "text", "stdin:1: the field 'text' is true, not a string", None),
        (b'{"text":[]}', "text", "stdin:1: the field 'text' is a list, not a string", None),
        (b'"x"', "text", "stdin:1: the line is a string, which has no field 'text'", None),
        (b'{"a":["x"]}', "a.1", "stdin:1: there is no element 1 in 'a', a list of 1", None),
        (b'{"a":["x"]}', "a.-1", "stdin:1: the field 'a' is a list, which has no field '-1'", None),
        (b'{"a":["x"]}', "a." + "9" * 5000, None, None),
    ],
)  # fmt: skip
def test_wrong_fields_are_named(data, field, message, hint):
    error = error_of(data, field)
    assert message is None or (error.message, error.hint) == (message, hint)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ('{"é":"x" "y"}'.encode(), 11),
        (b'{"text":"\xff"}', 10),
        (b'{"text":"\\ud800"}', None),
        (b'{"text":NaN}', None),
        (b"[" * 100_000, None),
        (b'{"text":"x"', None),
        (b"\xff\xfe{\0", 1),
    ],
)
def test_invalid_json_is_named_by_line_and_byte(line, place):
    message = error_of(b'{"text":"a"}\n' + line).message
    assert message.startswith(f"stdin:2:{place or ''}")
    assert ": invalid JSON: " in message


def test_the_name_of_the_file_is_in_the_message(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"{")
    with pytest.raises(InputError, match=r"x\.jsonl:1:\d+: invalid JSON"):
        list(read_blocks(Source((str(path),), documents="jsonl"), stdin=io.BytesIO()))
