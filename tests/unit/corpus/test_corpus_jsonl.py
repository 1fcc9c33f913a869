"""A field of each JSON line is a document; what is wrong is named by file, line and byte."""

from __future__ import annotations

import io
import json
from array import array
from itertools import accumulate, pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.corpus import Source, jsonl, read_blocks
from bpe_cli.corpus.documents import Packer
from bpe_cli.corpus.jsonl import pack_jsonl
from bpe_cli.corpus.rows import BrokenRow, Place, Rows
from bpe_cli.errors import InputError
from bpe_cli.support.blocks import whole_documents


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


# -- the reader of the core, beside that of single lines ------------------------------------------------


class OneByOne:
    """The oracle: no line is plainly right, so that each is read by itself, by orjson."""

    def __init__(self, field: bytes) -> None:
        self.texts: list[bytes] = []

    def __len__(self) -> int:
        return sum(map(len, self.texts))

    def read(self, data: bytes, start: int, end: int) -> tuple[int, int]:
        return start, 0

    def add(self, text: bytes) -> None:
        self.texts.append(text)

    def take(self, offset: int) -> tuple[bytes, array[int]]:
        texts, self.texts = self.texts, []
        return b"".join(texts), array("Q", [*accumulate(map(len, texts), initial=offset)][1:])


def packed(chunks: list[bytes], field: str, block_bytes: int) -> tuple[list[bytes], list[BrokenRow]]:
    broken: list[BrokenRow] = []
    packer = Packer(block_bytes)
    rows = Rows(on_broken=broken.append)
    blocks = [*pack_jsonl(chunks, packer, lambda: Place("x", "x", 1, 0), field, rows), *packer.flush()]
    return [document for some in whole_documents(blocks) for document in some], broken


def check_like_orjson(chunks: list[bytes], field: str, block_bytes: int = 1 << 20) -> list[bytes]:
    """Check that texts and broken rows are those of the oracle; return the texts."""
    found = packed(chunks, field, block_bytes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "_core", SimpleNamespace(JsonTexts=OneByOne))
        assert found == packed(chunks, field, 1 << 20)
    return found[0]


PIECES = (b'"', b"\\", b"\\u00e9", b"\\ud83d", b"\\ude00", b"{", b"]", b",", b"1e999", b"-", b"\xed\xa0\x80")
FIELDS = ("text", "a.b", "a.0", "a.b.text", "", "é")
keys = st.sampled_from(("text", "a", "b", "a.b", "0", "", "é", "a.b.text", "other"))
numbers = st.one_of(
    st.integers(), st.integers(-(10**400), 10**400), st.floats(allow_nan=True), st.sampled_from((-0.0, 1e308, 5e-324))
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.text(), st.text().map(lambda text: text * 9)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=8,
)


@st.composite
def objects(draw: st.DrawFn) -> bytes:
    """Draw an object as some writer writes it; keys may come twice."""
    ascii_only, blank = draw(st.booleans()), draw(st.sampled_from(("", " ", "\t ", "\r")))

    def dumped(value: object) -> str:
        return json.dumps(value, ensure_ascii=ascii_only, separators=("," + blank, blank + ":"))

    members = draw(st.lists(st.tuples(keys, st.one_of(st.text(), values)), max_size=5))
    inner = f"{blank},".join(f"{dumped(key)}{blank}:{dumped(value)}" for key, value in members)
    return f"{blank}{{{inner}{blank}}}".encode("utf-8", "surrogatepass")


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """Draw a line: an object, perhaps with a byte changed, or what is no object."""
    line = bytearray(draw(st.one_of(objects(), objects(), values.map(lambda value: json.dumps(value).encode()))))
    for _ in range(draw(st.sampled_from((0, 0, 0, 1, 2)))):
        place = draw(st.integers(0, len(line)))
        piece = draw(st.one_of(st.binary(max_size=2), st.sampled_from(PIECES)))
        line[place : place + draw(st.integers(0, 2))] = piece
    return bytes(line)


@given(st.lists(lines(), max_size=6), st.sampled_from(FIELDS), st.data())
def test_texts_are_those_of_orjson(some, field, data):
    content = b"\n".join(some)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=4)))
    chunks = [content[start:end] for start, end in pairwise((0, *cuts, len(content)))]
    check_like_orjson(chunks, field, data.draw(st.sampled_from((1, 7, 1 << 20))))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b'{"text":"a","text":"b"}', b"b"),
        (b'{"text":1,"text":"b"}', b"b"),
        (b'{"text":"a","n":' + b"[" * 200 + b"]" * 200 + b"}", b"a"),
        (b'{"text":"a","n":' + b"1" * 200 + b"}", b"a"),
        (b'{"text":"a","n":1e300}', b"a"),
        (b'{"te\\u0078t":"a\\/\\b\\f\\n\\r\\t\\"\\\\"}', b'a/\b\f\n\r\t"\\'),
        (b'{"text":"\\ud83d\\ude00\\u0000"}', b"\xf0\x9f\x98\x80\0"),
        ('{"text":"\x7f\u2028é"}'.encode(), "\x7f\u2028é".encode()),
    ],
)
def test_what_is_unusual_is_read_all_the_same(line, text):
    assert check_like_orjson([b'{"text":"x"}\n' + line + b'\n{"text":"y"}'], "text") == [b"x", text, b"y"]


@pytest.mark.parametrize(
    "line",
    [
        b'{"text":"a\tb"}',
        b'{"text":"\xed\xa0\x80"}',
        b'{"text":"a","b":01}',
        b'{"text":"a","b":1e999}',
        b'{"text":"a",}',
        b'{"text":"\\ud800"}',
        b'{"text":"a","b":"\\udc00"}',
        b'{"text":"a"}{}',
        b'{"text":"a","b":tru}',
        b"{'text':'a'}",
    ],
)
def test_what_is_wrong_is_met_in_its_place(line):
    chunks = [b'{"text":"x"}\n' + line[:5], line[5:] + b'\n{"text":"y"}\n']
    assert check_like_orjson(chunks, "text") == [b"x", b"y"]


def test_most_lines_never_reach_orjson(monkeypatch):
    monkeypatch.setattr(jsonl._OneLine, "text", None)
    assert read(b'{"id":[1,{"n":null}],"text":"a\\n","score":1.5e-05}\n' * 3 + b'\r\n{"text":""}') == [b"a\n"] * 3 + [
        b""
    ]


@given(st.integers(1, 50), st.sampled_from((b"", b"\n")))
def test_a_line_has_a_largest_size_however_its_bytes_arrive(at_once, after):
    first, longest = b'{"text": "a"}\n\n', b'{"text": "bcd"}' + b" " * 985

    def packed(data):
        chunks = (data[start : start + at_once] for start in range(0, len(data), at_once))
        packer = Packer(100)
        blocks = [*pack_jsonl(chunks, packer, lambda: Place("x", "x", 1, 0), "text"), *packer.flush()]
        return [document for some in whole_documents(blocks) for document in some]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "LARGEST_LINE", 1000)
        assert packed(first + longest + after) == [b"a", b"bcd"]
        with pytest.raises(InputError, match=r"^x:3: the line that begins here has more than 1,000 bytes$"):
            packed(first + longest + b"  " + after)


def test_no_more_of_an_endless_line_is_read_than_it_may_have(monkeypatch):
    monkeypatch.setattr(jsonl, "LARGEST_LINE", 10_000)
    chunks = iter([b" " * 1000] * 100)
    with pytest.raises(InputError, match="has more than 10,000 bytes"):
        list(pack_jsonl(chunks, Packer(100), lambda: Place("x", "x", None, 5), "text"))
    assert len(list(chunks)) == 89
