"""Ids are read back in bounded memory, and what is not an id is named with its place."""

from __future__ import annotations

import hashlib
import io
import re
import struct
import subprocess
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import load
from bpe_cli.errors import InputError
from bpe_cli.sinks.lines import visible_table
from bpe_cli.sinks.numbers import header
from bpe_cli.sinks.read import ReadOptions, read_batches
from bpe_cli.sinks.sidecar import check_length, complete, is_as_described, is_described, is_sidecar, load_sidecar
from bpe_cli.stages import MergeBpe
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.counted import at_least, compared


class Dripping(io.BytesIO):
    """Read a few bytes at a time, as from a pipe."""

    def __init__(self, data, step):
        super().__init__(data)
        self.step = step

    def read1(self, size=-1):
        return super().read1(self.step)


def read(source_format, data, step=None, **options):
    documents, is_open = [], False
    stream = Dripping(data, step) if step else io.BytesIO(data)
    for batch in read_batches(source_format, stream, "x", ReadOptions(**options)):
        if not is_open:
            documents.append([])
        documents[-1] += batch.ids
        is_open = not batch.done
    assert not is_open
    return documents


def message_of(source_format, data, step=None, **options):
    with pytest.raises(InputError) as caught:
        read(source_format, data, step, **options)
    return caught.value.message


@at_least(10)
@given(
    st.lists(
        st.sampled_from([b" ", b"\n", b"\r\n", b"\t", b"1", b"23", b"007", b" 4 5", b"4294967295\n"])
    ).map(b"".join),
    st.integers(1, 8),
)  # fmt: skip
def test_lines_are_those_of_split(data, step):
    def tame(word):
        return len(word.lstrip(b"0")) < 10 or word == b"4294967295"

    lines = data.split(b"\n")
    lines = lines if lines[-1] else lines[:-1]
    if not all(tame(word) for line in lines for word in line.split()):
        return
    expected = [[int(word) for word in line.split()] for line in lines]
    assert read("ids", data, step) == read("ids", data) == expected
    compared()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"1 2\n3 x 4\n", "x:2: 'x' is not a token id"),
        (b"-5", "x:1: '-5' is not a token id"),
        (b"1\n\n4294967296\n", "x:3: '4294967296' is not a token id"),
        (b"1 1e3", "x:1: '1e3' is not a token id"),
        (b"1_000", "x:1: '1_000' is not a token id"),
        (b"+1", "x:1: '+1' is not a token id"),
        ("١".encode(), "x:1: '١' is not a token id"),
        (b"[1, 2]", "x:1: '[1,' is not a token id"),
        (b"true", "x:1: 'true' is not a token id"),
        (b"1.0", "x:1: '1.0' is not a token id"),
        (b"\xff\xfe", "x:1: '\\\\xff\\\\xfe' is not a token id"),
        (b"9" * 100, f"x:1: '{'9' * 40}'... is not a token id"),
        (b"1\n" + b"9" * (3 << 20), f"x:2: '{'9' * 40}'... is not an id or token"),
    ],
)
@pytest.mark.parametrize("step", [None, 1 << 16])
def test_words_that_are_no_ids_are_named(data, message, step):
    assert message_of("ids", data, step) == message


@pytest.mark.parametrize("data", [b"[1, 2]", b"1,2", b"(1, 2)", b"[\n  1,\n  2\n]"])
def test_a_list_of_a_program_is_not_guessed_at_and_the_way_out_is_right(data):
    with pytest.raises(InputError) as caught:
        read("ids", data, None)
    assert caught.value.hint == "ids have only spaces between them: tr '[](),;' ' ' makes them of a list"
    made = subprocess.run(["tr", "[](),;", " "], input=data, capture_output=True, check=True).stdout
    assert [number for ids in read("ids", made, None) for number in ids] == [1, 2]


@pytest.mark.parametrize("data", [b"x", b"-1", b"99999999999", b"1e3"])
def test_what_is_no_list_has_another_hint(data):
    with pytest.raises(InputError) as caught:
        read("ids", data, None)
    assert str(caught.value.hint).startswith("an id is a number from 0 to")


def test_a_long_line_is_read_in_parts():
    data = b"12345 " * 1_000_000
    batches = list(read_batches("ids", io.BytesIO(data), "x"))
    assert len(batches) > 5
    assert [batch.done for batch in batches] == [False] * (len(batches) - 1) + [True]
    assert sum(len(batch.ids) for batch in batches) == 1_000_000


def test_tokens_are_looked_up(tokenizer):
    text = "a ab Ġ\n\n<|end|> <aĠb>\tÃ©\r\n"
    for step in (None, 1, 3):
        assert read("tokens", text.encode(), step, tokenizer=tokenizer) == [[97, 256, 32], [], [259, 260, 258]]


def test_a_token_that_is_only_text_is_looked_up_too():
    """As words of DNA between tags are: what was written was refused."""
    model = MergeBpe(
        Vocabulary.from_tokens(bytes([byte]) for byte in range(256)), Merges(array("I")), texts=((300, b"AC"),)
    )
    tokenizer = Tokenizer(model)
    assert visible_table(tokenizer)[300] == "AC"
    assert read("tokens", b"A AC\n", tokenizer=tokenizer) == [[65, 300]]


@pytest.mark.parametrize("word", ["abc", "你", "\xa0", "\xad"])
def test_words_that_are_no_tokens_are_named(tokenizer, word):
    message = message_of("tokens", f"a\nb {word}".encode(), tokenizer=tokenizer)
    assert message == f"x:2: {word!r} is not a token of this tokenizer"


def test_broken_text_is_no_token(tokenizer):
    assert "is not a token" in message_of("tokens", b"a \xff", tokenizer=tokenizer)


def test_jsonl_is_read():
    data = b'{"ids":[1,2],"x":0}\n\n{"ids":[]}\r\n{"ids":[4294967295]}'
    for step in (None, 1, 7):
        assert read("jsonl", data, step) == [[1, 2], [], [4294967295]]
    assert read("jsonl", b"") == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "x:2:2: invalid JSON"),
        (b"[1]", "x:2: it has no list called 'ids'"),
        (b'{"ids":1}', "x:2: it has no list called 'ids'"),
        (b'{"ids":[1,true]}', "x:2: 'true' in 'ids' is not a token id"),
        (b'{"ids":[1.5]}', "x:2: '1.5' in 'ids' is not a token id"),
        (b'{"ids":["1"]}', "x:2: '\"1\"' in 'ids' is not a token id"),
        (b'{"ids":[-1]}', "x:2: -1 in 'ids' is not a token id"),
        (b'{"ids":[4294967296]}', "x:2: 4294967296 in 'ids' is not a token id"),
        (b'{"ids":[' + b"[" * 300 + b"]" * 300 + b"]}", "x:2: a deeply nested value in 'ids' is not a token id"),
    ],
)
def test_broken_jsonl_is_named(line, message):
    assert message_of("jsonl", b'{"ids":[1]}\n' + line).startswith(message)


NUMBERS = {"<u2": "<H", "<u4": "<I", "<i4": "<i", "<i8": "<q", "<u8": "<Q", "<i2": "<h", "|u1": "B", "|i1": "b",
           ">u2": ">H", ">i4": ">i", ">i8": ">q"}  # fmt: skip


def npy(descr="<u2", shape="(3,)", data=b"", version=b"\1\0", extra=""):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, {extra}}}\n".encode()
    size = len(text).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + size + text + data


@pytest.mark.parametrize("descr", NUMBERS)
@pytest.mark.parametrize("version", [b"\1\0", b"\2\0", b"\3\0"])
def test_arrays_of_all_integers_are_read(descr, version):
    values = [0, 1, 127]
    data = b"".join(struct.pack(NUMBERS[descr], value) for value in values)
    for step in (None, 1, 3):
        assert read("npy", npy(descr, "(3,)", data, version), step) == [values]


def test_a_header_is_latin_1_before_version_3_and_utf_8_from_then_on():
    by_version = [
        npy(data=bytes(6), version=bytes([major, 0]), extra="}#?").replace(b"#?", b"#\xe9") for major in (1, 2, 3)
    ]
    assert [read("npy", data) for data in by_version[:2]] == [[[0, 0, 0]]] * 2
    assert message_of("npy", by_version[2]) == "x: its header is damaged"


@pytest.mark.parametrize(
    ("descr", "value"), [("<i4", -1), ("<i4", -256), ("<i2", -2), ("|i1", -1), ("<i8", -1), ("<u8", 1 << 32)]
)
def test_numbers_that_are_no_ids_are_named(descr, value):
    data = struct.pack("<" + 3 * NUMBERS[descr][-1], 1, 2, value)
    assert message_of("npy", npy(descr, "(3,)", data)) == f"x: {value} at place 2 is not a token id"
    data = struct.pack("<" + 3 * NUMBERS[descr][-1], 1, 0, value)
    assert message_of("npy", npy(descr, "(3,)", data)) == f"x: {value} at place 2 is not a token id", "0 is one"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "x: it is empty"),
        (b"\x93NUM", "x: it ends inside its header"),
        (b"NOTNUMPY....", "x: this is not an .npy file"),
        (npy(version=b"\4\0"), "x: version 4.0 of the .npy format is not known"),
        (b"\x93NUMPY\2\0\xff\xff\xff\xff", "x: its header has 4,294,967,295 bytes"),
        (b"\x93NUMPY\1\0\x10\0{", "x: it ends inside its header"),
        (npy(shape="("), "x: its header is damaged"),
        (npy(shape="__import__('os')"), "x: its header is damaged"),
        (npy(shape="(" * 5000 + ")" * 5000), "x: its header is damaged"),
        (npy(shape="(-1,)"), "x: its header is damaged"),
        (npy(shape="(True,)"), "x: its header is damaged"),
        (npy(shape="3"), "x: its header is damaged"),
        (npy(shape="{[]: 1}"), "x: its header is damaged"),  # a key that no dict can have
        (npy(shape="1is"), "x: its header is damaged"),  # of which Python's own parser warns
        (npy(shape="(1, 3)", data=bytes(6)), "x: the array has 2 dimensions"),
        (npy(shape="()"), "x: the array has 0 dimensions"),
        (npy("<f4", data=bytes(12)), "x: the array holds '<f4'"),
        (npy("|O", data=bytes(24)), "x: the array holds '|O'"),
        (npy(data=bytes(5)), "x: "),
        (npy(data=bytes(8)), "x: "),
        (npy(shape="(99999999999999,)", data=bytes(6)), "x: "),
    ],
)
def test_broken_arrays_are_named(data, message):
    assert message_of("npy", data).startswith(message)


class Pipe(Dripping):
    def seekable(self):
        return False


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (bytes(5), "x: it ends inside a number of 2 bytes, after 2 whole numbers"),
        (bytes(4), "x: it ends after 2 of the 3 numbers that its header promises"),
        (bytes(8), "x: more follows the 3 numbers that its header promises"),
    ],
)
def test_lengths_are_checked_in_pipes_too(data, message):
    with pytest.raises(InputError) as caught:
        list(read_batches("npy", Pipe(npy(data=data), 3), "x"))
    assert caught.value.message == message


@at_least(1)
@given(st.binary(max_size=60), st.sampled_from(["ids", "tokens", "jsonl", "npy", "bin"]))
def test_any_bytes_give_ids_or_an_input_error(stubs, data, source_format):
    prefix = b"\x93NUMPY\1\0" if source_format == "npy" else b""
    try:
        documents = read(source_format, prefix + data, tokenizer=stubs.Tokenizer(), dtype="u16")
    except InputError as error:
        assert error.message.startswith(("x: ", "x:1:", "x:1 ", "cannot read x"))  # noqa: PT017
    else:
        assert all(0 <= token_id < 1 << 32 for document in documents for token_id in document)
        compared()


def test_raw_numbers_are_read():
    data = struct.pack("<4H", 1, 7, 65535, 7)
    for step in (None, 1, 3):
        assert read("bin", data, step, dtype="u16") == [[1, 7, 65535, 7]]
        assert read("bin", data, step, dtype="u16", eot=7) == [[1], [65535]]
        assert read("bin", data, step, dtype="u16", eot=1) == [[], [7, 65535, 7]]
    assert read("bin", b"", dtype="u32") == [[]]
    assert read("bin", b"", dtype="u32", eot=7) == []
    assert message_of("bin", b"123", dtype="u16") == "x: 3 bytes are not a whole number of u16 ids"
    assert "nothing says whether" in message_of("bin", b"12")


def test_many_numbers_arrive_in_bounded_batches():
    batches = list(read_batches("bin", io.BytesIO(bytes(5 << 20)), "x", ReadOptions(dtype="u16")))
    assert max(len(batch.ids) for batch in batches) == 1 << 19


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is damaged: unexpected end"),
        ("[]", "is damaged: it is not a JSON object"),
        ('{"schema":"bpe-ids/2"}', "not a description of ids"),
        ('{"schema":"bpe-ids/1","dtype":"f4","byteorder":"little"}', "must be u16 or u32"),
        ('{"schema":"bpe-ids/1","dtype":"u16","byteorder":"big"}', "must be u16 or u32"),
        ('{"schema":"bpe-ids/1","dtype":"u16","byteorder":"little","tokens":-1}', "'tokens' is not"),
        ('{"schema":"bpe-ids/1","dtype":"u16","byteorder":"little","tokens":1,"documents":1,"eot":-1}', "'eot' is not"),
    ],
)
def test_broken_sidecars_are_named(tmp_path, content, message):
    (tmp_path / "x.bin.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_sidecar(str(tmp_path / "x.bin"))


def test_a_name_of_two_lines_is_one_line_in_a_message(tmp_path):
    path, named = tmp_path / "x\ny.bin", r"/x\ny.bin"
    path.write_bytes(b"ab")
    sidecar = '{"schema":"bpe-ids/1","dtype":"u16","byteorder":"little","tokens":5,"documents":1}'
    path.with_name("x\ny.bin.json").write_text(sidecar, encoding="utf-8")
    found = load_sidecar(str(path))
    with pytest.raises(InputError) as caught:
        check_length(found, str(path))
    assert caught.value.message.count(named) == 2
    path.with_name("x\ny.bin.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_sidecar(str(path))
    assert named in caught.value.message


@pytest.mark.parametrize(("dtype", "width"), [("u16", 2), ("u32", 4)])
def test_a_sidecar_of_another_file_is_noticed(tmp_path, dtype, width):
    path = tmp_path / "x.bin"
    assert load_sidecar(str(path)) is None
    assert not is_described(str(path))
    (tmp_path / "x.bin.json").write_text('{"schema":"another\'s"}', encoding="utf-8")
    assert not is_described(str(path))
    (tmp_path / "x.bin.json").write_text(
        f'{{"schema":"bpe-ids/1","dtype":"{dtype}","byteorder":"little","tokens":2,"documents":1}}', encoding="utf-8"
    )
    path.write_bytes(bytes(2 * width))
    check_length(load_sidecar(str(path)), str(path))
    path.write_bytes(bytes(2 * width + 1))
    assert is_described(str(path))
    with pytest.raises(InputError, match=f"speaks of 2 ids of {width} bytes"):
        check_length(load_sidecar(str(path)), str(path))
    tokenizer = load("gpt2")
    with pytest.raises(InputError, match=f"speaks of 2 ids of {width} bytes"):
        complete("bin", str(path), ReadOptions(), tokenizer)
    path.write_bytes(bytes(2 * width))
    assert complete("bin", str(path), ReadOptions(), tokenizer)[0].dtype == dtype
    assert complete("text", str(path), ReadOptions(), tokenizer) == (ReadOptions(), None)


def test_a_sidecar_is_told_by_its_first_kilobyte():
    begins = b'{ "schema": "bpe-ids/'
    assert [is_sidecar(head) for head in (begins, begins + b"1", begins[:-1])] == [True, True, False]
    blanks = b"\n" * (1024 - len(begins))
    assert is_sidecar(blanks + begins + b"1")
    assert not is_sidecar(b" " + blanks + begins + b"1")


def test_numbers_of_another_run_are_refused_once_they_are_read():
    data = struct.pack("<3H", 1, 2, 3)
    digests = [hashlib.sha256(content).hexdigest() for content in (data, b"")]
    assert read("bin", data, dtype="u16", sha256=digests[0]) == [[1, 2, 3]]
    with pytest.raises(InputError, match=re.escape("x has other numbers than x.json describes")):
        read("bin", data, dtype="u16", sha256=digests[1])


def test_a_sidecar_is_asked_for_what_the_caller_leaves_open(tmp_path):
    path = tmp_path / "x.bin"
    (tmp_path / "x.bin.json").write_text(
        '{"schema":"bpe-ids/1","dtype":"u16","byteorder":"little","tokens":1,"documents":1,"bos":7,"eot":8}',
        encoding="utf-8",
    )
    path.write_bytes(bytes(2))
    given = [
        complete("bin", str(path), ReadOptions(bos=bos, eot=eot), load("gpt2"))[0]
        for bos, eot in ((None, None), (1, None), (None, 2), (1, 2))
    ]
    assert [(each.bos, each.eot) for each in given] == [(7, 8), (1, 8), (7, 2), (1, 2)]


def test_headers_have_one_length():
    assert {len(header("u16", length)) for length in (0, 1, 2**64)} == {128}


@pytest.mark.parametrize(
    ("size", "content", "expected"),
    [
        (4, '{"schema":"bpe-ids/1","dtype":"u16","byteorder":"little","tokens":2,"documents":1}', True),
        (8, '{"schema":"bpe-ids/1","dtype":"u32","byteorder":"little","tokens":2,"documents":1}', True),
        (5, '{"schema":"bpe-ids/1","dtype":"u16","byteorder":"little","tokens":2,"documents":1}', False),
        (4, '{"schema":"another\'s"}', False),
        (4, "{", False),
        (4, None, False),
    ],
)
def test_a_file_is_as_described_if_it_has_that_size(tmp_path, size, content, expected):
    (tmp_path / "x").write_bytes(bytes(size))
    if content is not None:
        (tmp_path / "x.json").write_text(content, encoding="utf-8")
    assert is_as_described(str(tmp_path / "x")) == expected
    (tmp_path / "x").unlink()
    assert not is_as_described(str(tmp_path / "x"))
