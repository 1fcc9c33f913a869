"""What each sink writes, and that all of it can be read back, wherever the blocks are cut."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import tempfile
from array import array
from itertools import accumulate, chain
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import InputError, OutputError, UsageError
from bpe_cli.sinks import SINKS, SinkOptions, base, check_outputs, is_binary, jsonl, numbers, open_sink, sink_class
from bpe_cli.sinks.atomic import Output, open_stdout, write_together
from bpe_cli.sinks.jsonl import StagedSpanFinder
from bpe_cli.sinks.numbers import choose_dtype, pack, places_of
from bpe_cli.sinks.read import READERS, ReadOptions, read_batches
from bpe_cli.sinks.sidecar import SCHEMA, load_sidecar
from bpe_cli.tokenizer import fingerprint
from bpe_cli.tokenizer.usage import Edges
from tests.full_disk import on_a_full_disk
from tests.needs import needs

DOCUMENTS = [[97, 256, 32], [], [10, 13, 0, 200, 259], [258]]


def write(stubs, to, documents, cuts=(), tokenizer=None, **options):
    tokenizer = tokenizer or stubs.Tokenizer()
    stream = io.BytesIO()
    with open_sink(to, None, stdout=stream, tokenizer=tokenizer, options=SinkOptions(**options)) as sink:
        for encoded in stubs.encoded_blocks(tokenizer, documents, cuts):
            sink.write(encoded.block, encoded.ids, encoded.ends)
    ends = len(documents) if to in ("npy", "bin") and "edges" in options else 0
    assert (sink.documents, sink.tokens) == (len(documents), sum(map(len, documents)) + ends)
    return stream.getvalue()


def read(to, data, **options):
    documents, is_open = [], False
    for batch in read_batches(to, io.BytesIO(data), "x", ReadOptions(**options)):
        if not is_open:
            documents.append([])
        documents[-1] += batch.ids
        is_open = not batch.done
    assert not is_open
    return documents


def test_every_sink_says_what_it_is():
    assert [name for name in SINKS if is_binary(name)] == ["npy", "bin"]
    assert set(READERS) == set(SINKS) - {"count"}
    assert all(issubclass(sink_class(name), base.Sink) for name in SINKS)


@pytest.mark.parametrize("cuts", [(), (1,), (2, 3, 5), range(1, 10), (1003, 1009), (3, 1003)])
def test_outputs_by_hand(stubs, cuts):
    assert write(stubs, "ids", DOCUMENTS, cuts) == b"97 256 32\n\n10 13 0 200 259\n258\n"
    assert write(stubs, "tokens", DOCUMENTS, cuts).decode() == "a ab Ġ\n\nĊ č Ā È <|end|>\nÃ©\n"
    assert write(stubs, "count", DOCUMENTS, cuts) == b"3\n0\n5\n1\n"
    assert write(stubs, "jsonl", DOCUMENTS, cuts) == (
        b'{"ids":[97,256,32]}\n{"ids":[]}\n{"ids":[10,13,0,200,259]}\n{"ids":[258]}\n'
    )
    assert write(stubs, "jsonl", DOCUMENTS[:2], cuts, tokens=True, spans=True).decode() == (
        '{"ids":[97,256,32],"tokens":["a","ab","Ġ"],"spans":[[0,1],[1,3],[3,4]]}\n{"ids":[],"tokens":[],"spans":[]}\n'
    )
    assert write(stubs, "bin", DOCUMENTS, cuts) == struct.pack("<9H", *chain(*DOCUMENTS))
    assert write(stubs, "bin", DOCUMENTS[:2], cuts, edges=Edges(eot=5)) == struct.pack("<5H", 97, 256, 32, 5, 5)
    assert write(stubs, "bin", DOCUMENTS[:1], cuts, dtype="u32") == struct.pack("<3I", 97, 256, 32)


IDS = st.lists(st.lists(st.integers(0, 260), max_size=9), max_size=5)
CUTS = st.sets(st.one_of(st.integers(1, 40), st.integers(1000, 1040)))


@given(documents=IDS, cuts=CUTS)
def test_text_comes_back(stubs, documents, cuts):
    tokenizer = stubs.Tokenizer()
    whole = {to: write(stubs, to, documents, tokenizer=tokenizer) for to in ("ids", "tokens", "jsonl", "count")}
    for to, data in whole.items():
        assert write(stubs, to, documents, cuts, tokenizer) == data
        if to != "count":
            assert read(to, data, tokenizer=tokenizer) == documents
    assert whole["count"].split() == [b"%d" % len(document) for document in documents]


@given(documents=IDS, cuts=CUTS, size=st.sampled_from([65536, 65537, 2_097_152]))
def test_numbers_come_back(stubs, documents, cuts, size):
    tokenizer = stubs.Tokenizer(size=size)
    dtype = "u16" if size == 65536 else "u32"
    joined = [list(chain(*documents))]
    for to in ("npy", "bin"):
        data = write(stubs, to, documents, cuts, tokenizer)
        assert read(to, data, dtype=dtype) == joined
        data = write(stubs, to, documents, cuts, tokenizer, edges=Edges(eot=300))
        assert read(to, data, dtype=dtype, eot=300) == documents
        assert len(data) == (128 if to == "npy" else 0) + int(dtype[1:]) // 8 * (len(joined[0]) + len(documents))


@given(documents=IDS, cuts=CUTS)
def test_parts_of_a_document_make_no_difference(stubs, documents, cuts):
    expected = write(stubs, "jsonl", documents, tokens=True, spans=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base.parts, "__defaults__", (2,))
        patch.setattr(jsonl, "_SPOOL_BYTES", 8)
        patch.setattr(jsonl, "IDS_AT_ONCE", 3)
        assert write(stubs, "jsonl", documents, cuts, tokens=True, spans=True) == expected
        for to in ("ids", "tokens"):
            assert read(to, write(stubs, to, documents, cuts), tokenizer=stubs.Tokenizer()) == documents
    for document, line in zip(documents, expected.splitlines(), strict=True):
        value = json.loads(line)
        text = b"".join(map(stubs.Tokenizer().token_bytes, document))
        contents = [text[start:end] for start, end in value["spans"]]
        assert contents == [stubs.Tokenizer().token_bytes(token_id) for token_id in document]
        assert value["spans"] == [] or value["spans"][-1][1] == len(text)


def test_where_arrays_wait_is_named_if_there_is_no_room(stubs, monkeypatch):
    opened = []

    def opening(*_: object, **__: object):
        opened.append(on_a_full_disk())
        return opened[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", opening)
    monkeypatch.setattr(base.parts, "__defaults__", (2,))
    monkeypatch.setattr(jsonl, "_SPOOL_BYTES", 8)
    with pytest.raises(OutputError) as caught:
        write(stubs, "jsonl", [[97] * 20], (5,), tokens=True, spans=True)
    said = f"cannot write the tokens and spans of a long document to a temporary file in {tempfile.gettempdir()}"
    assert caught.value.message == f"{said}: no space left on device"
    assert caught.value.hint == "set TMPDIR to a folder with more room"
    assert opened
    assert all(file.closed for file in opened)


def spans(stubs, text, ids, **options):
    finder = jsonl.SpanFinder(stubs.Tokenizer(**options))
    finder.enter(memoryview(text), begins=True)
    return finder.find(ids)


def test_a_space_put_before_belongs_to_no_byte(stubs):
    assert spans(stubs, b"ab", [257, 98], space=True) == [(0, 1), (1, 2)]
    assert spans(stubs, b" ab", [257, 98], space=True) == [(0, 2), (2, 3)]
    assert spans(stubs, b"a<|end|>ab", [257, 259, 257, 98], space=True) == [(0, 1), (1, 8), (8, 9), (9, 10)]
    finder = jsonl.SpanFinder(stubs.Tokenizer(space=True))
    finder.enter(memoryview(b"a"), begins=True)
    assert finder.find([257]) == [(0, 1)]
    finder.enter(memoryview(b"b a"), begins=False)
    assert finder.find([98, 257]) == [(1, 2), (2, 4)]


def test_a_special_token_that_is_not_in_the_text_is_empty(stubs):
    assert spans(stubs, b"ab", [259, 97, 98, 260]) == [(0, 0), (0, 1), (1, 2), (2, 2)]


def test_numpy_reads_the_arrays(stubs, tmp_path):
    numpy = needs("numpy")
    tokenizer = stubs.Tokenizer(size=100_000)
    for count in (0, 1, 7):
        path = tmp_path / f"{count}.npy"
        path.write_bytes(write(stubs, "npy", [[256] * count], tokenizer=tokenizer))
        loaded = numpy.load(path)
        assert (loaded.dtype.str, loaded.shape, loaded.tolist()) == ("<u4", (count,), [256] * count)
        assert numpy.load(path, mmap_mode="r").shape == (count,) if count else True


@given(st.sampled_from("HI"), st.lists(st.sampled_from([0, 1, 256, 257])))
def test_places_are_those_of_whole_numbers(code, ids):
    for token_id in (0, 1, 256, 257):
        expected = [place for place, each in enumerate(ids) if each == token_id]
        assert places_of(memoryview(array(code, ids)), token_id) == expected


def test_files_have_a_sidecar(stubs, tmp_path):
    tokenizer = stubs.Tokenizer()
    path = str(tmp_path / "out.bin")
    hashes = []
    check_outputs("bin", path)
    with open_sink(
        "bin", path, stdout=io.BytesIO(), tokenizer=tokenizer, options=SinkOptions(edges=Edges(eot=259)), inputs=hashes
    ) as sink:
        for encoded in stubs.encoded_blocks(tokenizer, DOCUMENTS, ()):
            sink.write(encoded.block, encoded.ids, encoded.ends)
        hashes.append(("a.txt", "00ff", 12))
    assert json.loads((tmp_path / "out.bin.json").read_bytes()) == {
        "schema": "bpe-ids/1",
        "dtype": "u16",
        "byteorder": "little",
        "bytes": 26,
        "sha256": hashlib.sha256((tmp_path / "out.bin").read_bytes()).hexdigest(),
        "tokens": 13,
        "documents": 4,
        "bos": None,
        "eot": 259,
        "tokenizer": {"name": "stub", "sha256": fingerprint(tokenizer)},
        "inputs": [{"name": "a.txt", "sha256": "00ff", "bytes": 12}],
    }
    sidecar = load_sidecar(path)
    assert (tmp_path / "out.bin").stat().st_size == 2 * sidecar.tokens
    assert sidecar.is_of(tokenizer)
    assert not sidecar.is_of(stubs.Tokenizer(more=(b"xy",)))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out.bin", "out.bin.json"]


@pytest.mark.parametrize("count", [0, 1, 500, 501])
def test_a_sidecar_is_one_json_however_many_inputs_it_names(stubs, tmp_path, count):
    tokenizer = stubs.Tokenizer()
    tokenizer.name = "t\udcff.json"  # what os.fsdecode makes of a byte that is not UTF-8
    hashes = [(f'é " \\ \u2028{number}', "00ff", number) for number in range(count)]
    path = tmp_path / "out.bin"
    with open_sink(
        "bin", str(path), stdout=io.BytesIO(), tokenizer=tokenizer, options=SinkOptions(), inputs=hashes
    ) as sink:
        for encoded in stubs.encoded_blocks(tokenizer, DOCUMENTS, ()):
            sink.write(encoded.block, encoded.ids, encoded.ends)
    written = (tmp_path / "out.bin.json").read_text("utf-8")
    content = json.loads(written)
    assert written == json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    assert content["tokenizer"]["name"] == r"t\xff.json"
    assert [(each["name"], each["sha256"], each["bytes"]) for each in content["inputs"]] == hashes
    assert load_sidecar(str(path)).is_of(tokenizer)


@pytest.mark.parametrize("digest", ["0" * 63, "0" * 65, "0" * 63 + "g", "0" * 63 + "A", 64, ["0"] * 64])
def test_a_sidecar_has_a_hash_or_none(tmp_path, digest):
    content = {"schema": SCHEMA, "dtype": "u16", "byteorder": "little", "tokens": 0, "documents": 0}
    path = tmp_path / "out.bin"
    for sound in ({}, {"sha256": "0123456789abcdef" * 4}):
        (tmp_path / "out.bin.json").write_text(json.dumps(content | sound))
        assert load_sidecar(str(path)).sha256 == sound.get("sha256")
    (tmp_path / "out.bin.json").write_text(json.dumps(content | {"sha256": digest}))
    with pytest.raises(InputError, match="'sha256' is not a hash"):
        load_sidecar(str(path))


def test_spans_of_other_tokens_are_not_made_up():
    """From the first token that differed on, all spans were empty without a word."""
    tokens = [(1, 0, 2), (2, 2, 3), (3, 3, 5)]
    model = SimpleNamespace(matcher=lambda _: None, spans=lambda *_, continued: iter(tokens))
    for wrong in ([1, 9, 3], [1, 2, 3, 3]):
        finder = StagedSpanFinder(model, ())
        finder.enter(memoryview(b"abcde"), begins=True)
        with pytest.raises(InputError, match=r"spans cannot be found: from byte [25] of a document on"):
            finder.find(wrong)
    finder = StagedSpanFinder(model, ())
    finder.enter(memoryview(b"abcde"), begins=True)
    assert finder.find([1, 2]) + finder.find([3]) == [(0, 2), (2, 3), (3, 5)]


def test_text_files_and_streams_have_no_sidecar(stubs, tmp_path):
    for to, path in (("ids", str(tmp_path / "out")), ("bin", None), ("bin", "/dev/null"), ("count", "/dev/null")):
        with open_sink(to, path, stdout=io.BytesIO(), tokenizer=stubs.Tokenizer()):
            pass
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_an_exception_leaves_no_file(stubs, tmp_path):
    with (
        pytest.raises(KeyboardInterrupt),
        open_sink("npy", str(tmp_path / "out.npy"), stdout=io.BytesIO(), tokenizer=stubs.Tokenizer()),
    ):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_npy_needs_a_plain_file(stubs):
    for output in (Output(open("/dev/null", "wb"), "stdout"),):  # noqa: SIM115  # closed below
        with pytest.raises(OutputError, match="cannot write npy to stdout") as caught:
            sink_class("npy")(output, stubs.Tokenizer(), SinkOptions())
        assert '`to="bin"`' in caught.value.hint
        output._stream.close()


def test_npy_to_a_redirected_stdout(stubs, tmp_path):
    with open(tmp_path / "x.npy", "wb") as file:
        with open_stdout(file) as output:
            sink = sink_class("npy")(output, stubs.Tokenizer(), SinkOptions())
            for encoded in stubs.encoded_blocks(stubs.Tokenizer(), DOCUMENTS, ()):
                sink.write(encoded.block, encoded.ids, encoded.ends)
            sink.finish()
        assert file.tell() == 128 + 18
    assert read("npy", (tmp_path / "x.npy").read_bytes()) == [list(chain(*DOCUMENTS))]


def test_dtypes_are_chosen_by_the_highest_id(stubs):
    assert choose_dtype(stubs.Tokenizer(size=65536), SinkOptions()) == "u16"
    assert choose_dtype(stubs.Tokenizer(size=65537), SinkOptions()) == "u32"
    assert choose_dtype(stubs.Tokenizer(), SinkOptions(edges=Edges(eot=65536))) == "u32"
    assert choose_dtype(stubs.Tokenizer(), SinkOptions(dtype="u32")) == "u32"
    with pytest.raises(UsageError, match="u16 cannot hold"):
        choose_dtype(stubs.Tokenizer(size=65537), SinkOptions(dtype="u16"))
    assert choose_dtype(stubs.Tokenizer(size=65536), SinkOptions(dtype="u16")) == "u16"
    with pytest.raises(UsageError, match="cannot be an id"):
        choose_dtype(stubs.Tokenizer(), SinkOptions(edges=Edges(eot=1 << 32)))


@pytest.mark.parametrize(("specials", "divided"), [((), 0), (("<a b>",), 0), (("<a b>", "<|end|>"), 1), ("all", 1)])
def test_the_id_that_ends_documents_is_sought_where_text_may_ask_for_it(stubs, specials, divided):
    options = SinkOptions(edges=Edges(eot=259), specials=specials)
    with open_sink("bin", None, stdout=io.BytesIO(), tokenizer=stubs.Tokenizer(), options=options) as sink:
        for encoded in stubs.encoded_blocks(stubs.Tokenizer(), [[97, 259]], ()):
            sink.write(encoded.block, encoded.ids, encoded.ends)
    assert sink.divided == divided


def test_packing_is_little_endian():
    ids = memoryview(array("I", [1, 0x0203, 0xFFFF]))
    assert pack(ids, "u16") == bytes.fromhex("0100 0302 ffff")
    assert pack(ids, "u32") == bytes.fromhex("01000000 03020000 ffff0000")
    assert pack(ids, "u16", array("Q", [0, 2]), 9) == bytes.fromhex("0900 0100 0302 0900 ffff")
    with pytest.raises(OutputError, match="does not fit into u16"):
        pack(memoryview(array("I", [0x10000])), "u16")


def test_options_that_do_not_fit_are_refused(stubs):
    for to, options in (
        ("tokens", {"spans": True}),
        ("npy", {"tokens": 1}),
    ):
        with (
            pytest.raises(UsageError),
            open_sink(to, None, stdout=io.BytesIO(), tokenizer=stubs.Tokenizer(), options=SinkOptions(**options)),
        ):
            pass


def test_counts_need_no_ids(stubs):
    stream = io.BytesIO()
    with open_sink("count", None, stdout=stream, tokenizer=stubs.Tokenizer()) as sink:
        for encoded in stubs.encoded_blocks(stubs.Tokenizer(), DOCUMENTS, (2, 5)):
            starts = [0, *encoded.ends]
            counts = array("Q", [end - start for start, end in zip(starts, encoded.ends, strict=False)])
            sink.write_counts(encoded.block, memoryview(counts))
    assert stream.getvalue() == b"3\n0\n5\n1\n"
    assert (sink.documents, sink.tokens) == (4, 9)


def test_fingerprints_differ_where_tokenizers_do(stubs):
    variants = [
        stubs.Tokenizer(),
        stubs.Tokenizer(more=(b"ab",)),
        stubs.Tokenizer(specials=()),
        stubs.Tokenizer(specials=(b"<|end|>", b"<b>")),
    ]
    variants.append(stubs.Tokenizer())
    variants[-1].unicode_version = "16.0.0"
    variants.append(stubs.Tokenizer())
    variants[-1].model.kind = "bpe-merges"
    assert len({fingerprint(variant) for variant in variants}) == len(variants)
    same = stubs.Tokenizer()
    same.name = "another name"
    assert fingerprint(same) == fingerprint(variants[0])


@given(st.lists(st.lists(st.integers(0, 9), max_size=7), min_size=1, max_size=8), st.booleans(), st.booleans())
def test_numbers_packed_a_part_at_a_time_are_those_packed_at_once(documents, ends_documents, narrow):
    ids = memoryview(array("I", chain(*documents)))
    ends = memoryview(array("Q", accumulate(map(len, documents)))) if ends_documents else memoryview(array("Q"))
    arguments = ids, "u16" if narrow else "u32", ends, 77 if ends_documents else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbers, "_AT_ONCE", 3)
        assert b"".join(numbers._packed(*arguments)) == numbers.pack(*arguments)


def test_of_two_files_none_changes_where_one_cannot_be_written(tmp_path):
    write_together({str(tmp_path / "model"): b"old"})
    with pytest.raises(OutputError):
        write_together(dict.fromkeys((str(tmp_path / "model"), str(tmp_path / "no folder" / "index")), b"new"))
    assert (tmp_path / "model").read_bytes() == b"old"
