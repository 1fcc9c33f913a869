"""Lines of JSON objects are told from text by their bytes, however those arrive."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.corpus import jsonl
from bpe_cli.corpus.jsonl import ENOUGH_BYTES, MOST_BYTES, MOST_LINES, JsonLines, are_json_lines, text_field

LONG = json.dumps({"text": "word " * ENOUGH_BYTES}).encode()


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": 1}\n{"a": 2}\n',
        b'{"a": 1}\n{"a": 2}',
        b'{"a": 1}\r\n\r\n  {"a": 2}  \r\n',
        b'\xef\xbb\xbf{"a": 1}\n{}\n',
        b'\n\n{"a": NaN}\n{"a": -Infinity}\n',
        b'{"a": ' + b"9" * 5000 + b"}\n{}\n",
        b'{"a": "\xff"}\n{"a": "\xe4"}\n',
        b'{"a": {"b": [1, {}]}}\n{"c": "}{"}\n',
        LONG + b"\n" + LONG,
        b'{"a": 1}\n' * MOST_LINES + b"and so on\n",  # so many are proof
        LONG + b"\n" + LONG + b"\nand so on\n",
    ],
    ids=range(11),
)
def test_lines_of_objects(data):
    assert are_json_lines(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n \n",
        b"{}",
        b'{"a": 1}\n',
        json.dumps({"a": [1, {"b": 2}]}, indent=2).encode(),
        b"{}\nis an empty object\n",
        b'{"a": 1}\n' * (MOST_LINES - 1) + b"and so on\n",
        b'[{"a": 1}]\n[{"a": 2}]\n',
        b'"a"\n"b"\n',
        b"int main() {\n}\n",
        b"{\n{\n",
        b"{% if a %}\n{{ a }}\n{% endif %}\n",
        b"{'a': 1}\n{'a': 2}\n",
        b'{"a": 1} {"a": 2}\n{"a": 1} {"a": 2}\n',
        b'{"a": 1},\n{"a": 2},\n',
        b'{"a": ' * 20_000 + b"1" + b"}" * 20_000 + b"\n{}\n",
        b'{"a": "' + b"x" * MOST_BYTES + b'"}\n{}\n',  # nobody waits so long for the end of a line
        b" " * MOST_BYTES + b"{}\n{}\n",
    ],
    ids=range(18),
)
def test_text(data):
    assert not are_json_lines(data)


_LINES = st.sampled_from([b"{}", b'{"a": 1}', b"{", b"", b" ", b"text", b"[1]", b'\xef\xbb\xbf {"b": "\\n"}', LONG])
_ENDS = st.sampled_from([b"\n", b"\r\n"])


@given(st.lists(st.tuples(_LINES, _ENDS), max_size=12), st.booleans(), st.lists(st.integers(0, 40_000), max_size=20))
def test_the_verdict_depends_on_the_bytes_alone(lines, ended, cuts):
    data = b"".join(line + end for line, end in lines)
    data = data if ended else data.rstrip(b"\r\n")
    whole, parts, start = JsonLines(), JsonLines(), 0
    for cut in [*sorted(cut % (len(data) + 1) for cut in cuts), len(data)]:
        parts.feed(data[start:cut])
        start = cut
    whole.feed(data)
    assert (parts.finish(), parts.first) == (whole.finish(), whole.first)
    assert whole.verdict == plainly(data)


def plainly(data: bytes) -> bool:
    """Return what the rule says, as users read it."""
    objects, seen = 0, 3 if data.startswith(b"\xef\xbb\xbf") else 0
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        seen += len(line) + 1
        if line.strip():
            try:
                if not isinstance(json.loads(line.decode("utf-8", "replace")), dict):
                    return False
            except ValueError:
                return False
            objects += 1
            if objects >= MOST_LINES or (objects > 1 and seen >= ENOUGH_BYTES):
                return True
    return objects > 1


def test_the_first_byte_decides_for_text(monkeypatch):
    monkeypatch.setattr(jsonl, "_object_of", lambda line: pytest.fail("a line is read"))
    lines = JsonLines()
    assert lines.feed(b"text without an end") is False
    assert lines.seen <= 19


def test_a_long_line_is_looked_at_once(monkeypatch):
    """Twice the parts are twice the bytes copied, not four times as many."""

    class Counted(bytearray):
        copied = 0

        def __getitem__(self, key):
            part = super().__getitem__(key)
            Counted.copied += len(part) if isinstance(key, slice) else 1
            return part

    def work(parts: int) -> int:
        Counted.copied = 0
        lines = JsonLines()
        lines._line = Counted()
        for _ in range(parts):
            lines.feed(b'{"a' + b"x" * 997)
        assert lines.verdict is None
        return Counted.copied

    assert work(2000) <= 2 * work(1000) + 100


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"id": "a b c d e", "text": "x"}, "text"),
        ({"meta": {"text": "x"}, "content": "y"}, "content"),
        ({"id": 1, "x": {"y": {"body": "b"}}}, "x.y.body"),
        ({"id": "00-1", "en": "a word", "de": "ein Wort mehr"}, "de"),
        ({"id": "00-1", "title": "日本"}, "title"),
        ({"a.b": "one two"}, "a.b"),
        ({"x": {"a.b": "one two"}}, None),
        ({"id": "0123", "messages": [{"content": "hello there"}]}, None),
        ({"k" * 100: "one two", "\x1b": "one two", "": "one two"}, None),
        ({}, None),
    ],
)
def test_the_field_that_looks_like_the_text(row, field):
    assert text_field(row) == field
