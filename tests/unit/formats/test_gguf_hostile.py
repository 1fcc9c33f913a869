"""GGUF files that are cut, flipped or made to lie: an error for the user, at once, and no memory taken."""

from __future__ import annotations

import struct
import tracemalloc
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_cli.errors import FormatError, InputError
from bpe_cli.formats import gguf
from bpe_cli.formats.gguf import container as gguf_reader
from bpe_cli.formats.gguf.container import ARRAY, BOOL, F32, I8, STRING, U8, U32, encode, encode_string, write
from tests.counted import at_least, compared
from tests.unit.formats.gguf_files import FILLS, written
from tests.work import assert_little_work, lines

MODEL = ("tokenizer.ggml.model", encode(STRING, b"gpt2"))
HUGE = (1 << 64) - 1


def header(keys: int, version: int = 3, tensors: int = 0, order: str = "<") -> bytes:
    return b"GGUF" + struct.pack(f"{order}IQQ", version, tensors, keys)


def refused(data: bytes, match: str = "") -> FormatError:
    """Read what cannot be read, in no time and no memory."""
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=match) as caught:
            gguf.loads(data, "x.gguf")
        assert tracemalloc.get_traced_memory()[1] < (20 << 20) + 8 * len(data)
    finally:
        tracemalloc.stop()

    def refuse() -> None:
        with pytest.raises(FormatError):
            gguf.loads(data, "x.gguf")

    assert_little_work(refuse, size=len(data), most_lines=100 + 20 * min(len(data), 200), most_cost=1)
    return caught.value


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("gguf")
    return {name: written(folder / name, fill) for name, fill in FILLS.items()}


def attempt(data: bytes) -> None:
    """Read; what can be read can be written and is then the same, or is refused."""
    try:
        tokenizer = gguf.loads(data)
        content = gguf.dump(tokenizer)[""]
    except FormatError:
        return
    assert gguf.loads(content) == tokenizer
    try:
        assert tokenizer.encode("ab <own> é")
    except (FormatError, InputError) as error:  # a broken table of rules, or a character without a token
        assert error.message  # noqa: PT017
    compared()


@pytest.mark.parametrize("name", ["gpt2", "bert", "t5"])
def test_cut_at_every_byte(files, name):
    data = files[name]
    size = len(write([(key, gguf_reader.parse(data).encoded(key)) for key in gguf_reader.parse(data).fields]))
    assert size == len(data)
    for end in range(size):
        with pytest.raises(FormatError):
            gguf.loads(data[:end])


def test_what_follows_the_keys_is_not_looked_at(files):
    assert gguf.loads(files["gpt2"] + b"\xff" * 99) == gguf.loads(files["gpt2"])


@at_least(15)
@settings(max_examples=150)
@given(data=st.data())
def test_flipped_bits(files, data):
    content = bytearray(files[data.draw(st.sampled_from(["gpt2", "bert", "t5"]))])
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    attempt(bytes(content))


@given(st.binary(max_size=200))
def test_any_bytes_behind_a_header(data):
    with pytest.raises(FormatError):
        gguf.loads(header(3) + data)


@at_least(30)
def test_every_count_and_length_made_huge(files):
    data = files["gpt2"]
    for at in range(8, len(data) - 8):
        changed = data[:at] + struct.pack("<Q", HUGE) + data[at + 8 :]
        assert lines(partial(attempt, changed), 40_000) > 0


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"GGUF", "the version goes on for 4 bytes, past the end"),
        (b"GGML" + bytes(20), "does not begin with GGUF"),
        (header(0, version=1), "version 1"),
        (header(0, version=9), "version 9"),
        (header(HUGE), "18,446,744,073,709,551,615 keys, for which the file is too short"),
        (header(1 << 17) + bytes(13 << 17), "131,072 keys; 65,536 are read"),
        (header(1) + struct.pack("<Q", HUGE) + bytes(50), "a key goes on for 18,446,744,073,709,551,615 bytes"),
        (header(1) + encode_string(b"a\xff") + encode(U8, 1) + bytes(9), "not UTF-8"),
        (header(1) + encode_string(b"a") + struct.pack("<IQ", STRING, 1 << 63), "goes on for 9,223,372,036,854,775"),
        (header(1) + encode_string(b"a") + struct.pack("<I", 13) + bytes(9), r"of a type that is not known \(13\)"),
        (header(1) + encode_string(b"a") + struct.pack("<IIQ", ARRAY, U32, HUGE) + bytes(9), "past the end"),
        (header(1) + encode_string(b"a") + struct.pack("<IIQ", ARRAY, STRING, HUGE) + bytes(9), "too short"),
        (header(1) + encode_string(b"a") + struct.pack("<IIQ", ARRAY, ARRAY, HUGE) + bytes(9), "too short"),
        (write([MODEL, MODEL]), 'the key "tokenizer.ggml.model" appears twice'),
        (write([("tokenizer.ggml.model", encode(U8, 1))]), "must be a string, not u8"),
        (write([("tokenizer.ggml.model", encode(STRING, b"\xff"))]), "is not UTF-8"),
        (write([MODEL]), "has no tokens"),
        (write([MODEL, ("tokenizer.ggml.tokens", encode(ARRAY, [b"a", b"a"], STRING))]), "appears twice, as 0 and 1"),
        (write([MODEL, ("tokenizer.ggml.tokens", encode(ARRAY, [b"\xff"], STRING))]), "token 0 is not UTF-8"),
        (write([MODEL, ("tokenizer.ggml.tokens", encode(U8, 1))]), "must be an array of strings, not u8"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_lies_are_named(data, match):
    refused(data, match)


def test_arrays_in_arrays():
    nested = struct.pack("<I", ARRAY) + struct.pack("<IQ", ARRAY, 1) * 100_000
    refused(header(1) + encode_string(b"a") + nested, "more than 4 deep")
    for count in (1 << 16, (1 << 16) + 1):
        wide = struct.pack("<IIQ", ARRAY, ARRAY, count) + struct.pack("<IQ", U8, 0) * count
        data = header(1) + encode_string(b"a") + wide
        if count > 1 << 16:
            refused(data, "more than 65,536 arrays")
        else:
            assert gguf_reader.parse(data).encoded("a") is None


def test_more_strings_than_any_tokenizer_has():
    count = (1 << 22) + 1
    refused(
        header(1) + encode_string(b"a") + struct.pack("<IIQ", ARRAY, STRING, count) + bytes(8 * count), "no tokenizer"
    )


def test_a_sparse_file_of_many_gigabytes(tmp_path, files):
    """Only the metadata is read; a length that fits into the file alone is no reason to read all of it."""
    path = tmp_path / "model.gguf"
    for name, data, match in (
        ("tokenizer", files["gpt2"], None),
        (
            "string",
            header(1) + encode_string(b"a") + struct.pack("<IQ", STRING, 1 << 35),
            "larger than 67,108,864 bytes",
        ),
        ("array", header(1) + encode_string(b"a") + struct.pack("<IIQ", ARRAY, F32, 1 << 33), "larger than 67,108,864"),
    ):
        path.write_bytes(data)
        with path.open("r+b") as file:
            file.truncate(40 << 30)

        def look(path=path, match=match, name=name):
            if match is None:
                assert gguf.load(path).vocab_size == 11, name
            else:
                with pytest.raises(FormatError, match=match):
                    gguf.load(path)

        assert_little_work(look, size=0, most_lines=5_000, most_cost=5)
        tracemalloc.start()
        look()
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
        tracemalloc.stop()
    path.unlink()


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        gguf.load(tmp_path / "none.gguf")
    with pytest.raises(InputError, match="not a regular file"):
        gguf.load(tmp_path)


def test_lists_of_unequal_length():
    tokens = ("tokenizer.ggml.tokens", encode(ARRAY, [b"a", b"b"], STRING))
    few = encode(ARRAY, [], STRING)
    refused(write([MODEL, tokens, ("tokenizer.ggml.token_type", few)]), "must be an array of i32, not array of string")
    llama = ("tokenizer.ggml.model", encode(STRING, b"llama"))
    from array import array

    for values, match in (
        (array("f", [1.0]), "has 1 scores for 2"),
        (array("f", [1.0, float("nan")]), "is nan: that is not a finite number"),
    ):
        refused(write([llama, tokens, ("tokenizer.ggml.scores", encode(ARRAY, values, F32))]), match)
    refused(write([MODEL, tokens, ("tokenizer.ggml.merges", encode(ARRAY, [b"ab"], STRING))]), "is not two tokens")
    refused(write([MODEL, tokens, ("tokenizer.ggml.merges", encode(ARRAY, [b"a b"], STRING))]), "not in the vocabulary")
    flag = ("tokenizer.ggml.add_bos_token", encode(I8, 1))
    merges = ("tokenizer.ggml.merges", encode(ARRAY, [], STRING))
    refused(write([MODEL, tokens, merges, flag]), "must be true or false, not i8")
    flag = ("tokenizer.ggml.add_bos_token", encode(BOOL, True))
    refused(write([MODEL, tokens, merges, flag]), r"asks for a token at texts' ends that it does not name \(bos\)")


@at_least(1)
@pytest.mark.parametrize("charsmap", [b"", b"\0", b"\xff" * 8, bytes(4), struct.pack("<I", 1 << 31) + bytes(9)])
def test_broken_tables_of_rules(charsmap):
    from array import array

    keys = [
        ("tokenizer.ggml.model", encode(STRING, b"t5")),
        ("tokenizer.ggml.tokens", encode(ARRAY, [b"<pad>", b"</s>", b"<unk>", b"a"], STRING)),
        ("tokenizer.ggml.precompiled_charsmap", encode(ARRAY, array("B", charsmap), U8)),
    ]
    attempt(write(keys))
