"""What a file's name says is in it: it is written, or the name is refused, and it is read back."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys

import pytest

from bpe_cli.sinks import SINKS
from bpe_cli.sinks.naming import ENDINGS, IN_PLACE
from tests.cli_runner import call, error, run
from tests.needs import only_where

GPT2 = ("-t", "gpt2")
TEXT = "naïve café\nsecond line\n\n東京 \u200d end".encode()
PACKABLE = [to for to in SINKS if to not in IN_PLACE]


def test_every_kind_has_names():
    assert set(ENDINGS) == set(SINKS)
    endings = [ending for of_one in ENDINGS.values() for ending in of_one]
    assert len(set(endings)) == len(endings)


# -- encode and decode -----------------------------------------------------------------------------


@pytest.mark.parametrize(("to", "ending"), [(to, ending) for to in SINKS for ending in ENDINGS[to]])
def test_the_name_says_what_is_written(tmp_path, to, ending):
    (tmp_path / "in").write_bytes(TEXT)
    for name in (f"x{ending}", f"X{ending.upper()}"):
        assert call("encode", "in", *GPT2, "-q", "-o", name, cwd=tmp_path) == (0, b"", "")
    call("encode", "in", *GPT2, "-q", "--to", to, "-o", "plain", cwd=tmp_path)
    assert (tmp_path / f"x{ending}").read_bytes() == (tmp_path / "plain").read_bytes()
    if to != "count":
        for name in (f"x{ending}", f"X{ending.upper()}"):
            assert call("decode", name, *GPT2, cwd=tmp_path) == (0, TEXT, "")


@pytest.mark.parametrize("packed", [".gz", ".zst"])
@pytest.mark.parametrize("to", PACKABLE)
def test_compressed_files_come_back(tmp_path, to, packed):
    (tmp_path / "in").write_bytes(TEXT * 50)
    name = f"x{ENDINGS[to][0]}{packed}"
    assert call("encode", "in", *GPT2, "-q", "-o", name, cwd=tmp_path) == (0, b"", "")
    plain = call("encode", "in", *GPT2, "--to", to, cwd=tmp_path).out
    data = (tmp_path / name).read_bytes()
    assert data.startswith(b"\x1f\x8b" if packed == ".gz" else b"\x28\xb5\x2f\xfd")
    assert (gzip.decompress(data) if packed == ".gz" else unpacked(data)) == plain
    if to != "count":
        assert call("decode", name, *GPT2, cwd=tmp_path) == (0, TEXT * 50, "")
        assert call("decode", *GPT2, "--from", to, input=data) == (0, TEXT * 50, "")


def unpacked(data):
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj().decompress(data)


@pytest.mark.parametrize("packed", [".gz", ".zst"])
def test_compressed_files_are_the_same_for_any_blocks_and_threads(tmp_path, packed):
    (tmp_path / "in").write_bytes(bytes(range(256)) * 9000)
    made = set()
    for number, options in enumerate(((), ("-j", "1"), ("--block-size", "777", "-j", "2"), ("--block-size", "4096"))):
        name = f"{number}.ids{packed}"
        assert call("encode", "in", *GPT2, "-q", "-o", name, *options, cwd=tmp_path).status == 0
        made.add((tmp_path / name).read_bytes())
    assert len(made) == 1


def test_gzip_has_neither_time_nor_name(tmp_path):
    for name in ("one.jsonl.gz", "other.jsonl.gz"):
        assert run("encode", "-T", "hi", *GPT2, "-q", "-o", name, cwd=tmp_path).status == 0
    data = (tmp_path / "one.jsonl.gz").read_bytes()
    assert data == (tmp_path / "other.jsonl.gz").read_bytes()
    assert data[:10] == b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    assert subprocess.run(["gzip", "-dc"], input=data, capture_output=True, check=True).stdout == b'{"ids":[5303]}\n'


def test_other_text_is_compressed_too(tmp_path):
    assert (
        call("encode", "-T", "hello worldly", *GPT2, "-q", "--to", "segmented", "-o", "x.gz", cwd=tmp_path).status == 0
    )
    assert gzip.decompress((tmp_path / "x.gz").read_bytes()) == b"hello  worldly\n"
    chat = b'{"messages": [{"role": "user", "content": "hi"}]}\n'
    options = ("--chat", "--jsonl", "-t", "gpt-4", "--to", "text", "-o", "x.jsonl.gz", "-q")
    assert call("encode", *options, input=chat, cwd=tmp_path) == (0, b"", "")
    assert json.loads(gzip.decompress((tmp_path / "x.jsonl.gz").read_bytes()))["text"].startswith("<|im_start|>user")
    assert call("decode", *GPT2, "-q", "-o", "x.txt.gz", input=b"5303\n", cwd=tmp_path) == (0, b"", "")
    assert gzip.decompress((tmp_path / "x.txt.gz").read_bytes()) == b"hi"


def test_nothing_is_a_compressed_file_too(tmp_path):
    (tmp_path / "in").write_bytes(b"")
    for packed in (".gz", ".zst"):
        assert call("encode", "in", *GPT2, "--lines", "-q", "-o", f"x{packed}", cwd=tmp_path).status == 0
        assert call("decode", f"x{packed}", *GPT2, cwd=tmp_path) == (0, b"", "")


def test_without_a_library_for_zstd(tmp_path, monkeypatch):
    from bpe_cli.sinks import compressing

    monkeypatch.setattr(compressing, "optional", lambda module: None)
    result = call("encode", "nosuch", *GPT2, "-o", "x.ids.zst", cwd=tmp_path)
    assert result == (
        2, b"", error("cannot write x.ids.zst: no library for zstd is installed",
                      "pip install zstandard, or end the name in .gz"),
    )  # fmt: skip
    assert list(tmp_path.iterdir()) == []


def test_the_librarys_own_zstd_is_used_where_it_is(tmp_path, monkeypatch):
    """What Python has from 3.14 on, by the names that it has there."""
    import zstandard

    from bpe_cli.sinks import compressing

    class Ours:
        class CompressionParameter:
            compression_level, checksum_flag = "level", "write_checksum"

        @staticmethod
        def ZstdCompressor(options):  # noqa: N802  # as there
            return zstandard.ZstdCompressor(
                **options | {"write_checksum": bool(options["write_checksum"])}
            ).compressobj()

    call("encode", "-T", "hi", *GPT2, "-q", "-o", "a.zst", cwd=tmp_path)
    monkeypatch.setattr(compressing, "optional", {"compression.zstd": Ours}.get)
    call("encode", "-T", "hi", *GPT2, "-q", "-o", "b.zst", cwd=tmp_path)
    assert (tmp_path / "a.zst").read_bytes() == (tmp_path / "b.zst").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("--to", "npy", "-o", "x.bin"), "-o x.bin names a .bin file, but what is written is npy",
         "end the name in .npy; bpe encode --to bin writes .bin files"),
        (("--to", "ids", "-o", "x.npy"), "-o x.npy names a .npy file, but what is written is ids",
         "end the name in .ids; bpe encode --to npy writes .npy files"),
        (("--to", "bin", "-o", "x.txt"), "-o x.txt names a .txt file, but what is written is bin",
         "end the name in .bin"),
        (("-o", "x.json"), "-o x.json names a .json file, but what is written is ids", "end the name in .ids"),
        (("--to", "count", "-o", "x.json"), "-o x.json names a .json file, but what is written is count",
         "end the name in .count"),
        (("-o", "x.parquet"), "-o x.parquet names a .parquet file, but what is written is ids", "end the name in .ids"),
        (("-o", "x.jsonl.bz2"), "-o x.jsonl.bz2 names a .bz2 file, but what is written is ids", "end the name in .ids"),
        (("--to", "segmented", "-o", "x.npy"), "-o x.npy names a .npy file, but what is written is text",
         "end the name in .txt; bpe encode --to npy writes .npy files"),
        (("-o", "x.bin.gz"), ("-o x.bin.gz names a compressed file, and programs read bin in place, without "
         "unpacking it"), "leave .gz out of the name, or use --to jsonl or --to ids, which are compressed"),
        (("--to", "npy", "-o", "x.zst"), ("-o x.zst names a compressed file, and programs read npy in place, "
         "without unpacking it"), "leave .zst out of the name, or use --to jsonl or --to ids, which are compressed"),
    ],
)  # fmt: skip
def test_a_name_that_contradicts(tmp_path, arguments, message, hint):
    assert call("encode", "nosuch", *GPT2, *arguments, cwd=tmp_path) == (2, b"", error(message, hint))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("to", SINKS)
def test_unknown_names_are_free(tmp_path, to):
    for name in ("out", "corpus.en", "x.", ".hidden", "train.v2", "a.npy/out"):
        (tmp_path / "a.npy").mkdir(exist_ok=True)
        assert call("encode", "-T", "hi", *GPT2, "-q", "--to", to, "-o", name, cwd=tmp_path) == (0, b"", "")
    if to not in IN_PLACE:
        assert call("encode", "-T", "hi", *GPT2, "-q", "--to", to, "-o", "x.txt", cwd=tmp_path) == (0, b"", "")


@pytest.mark.parametrize("conversation", [False, True])
@pytest.mark.parametrize("name", ["x.json", "x.json.gz", "x.count", "x"])
def test_counts_as_json_are_a_json_file(tmp_path, name, conversation):
    words = ("--chat", "-T", '[{"role": "user", "content": "hi"}]') if conversation else ("-T", "hello world")
    count = ("encode", *words, "-t", "gpt-4o", "--to", "count", "--json")
    assert call(*count, "-o", name, cwd=tmp_path).status == 0
    data = (tmp_path / name).read_bytes()
    assert (gzip.decompress(data) if name.endswith(".gz") else data) == call(*count).out


def test_what_has_no_name_is_told_by_how_it_begins(tmp_path):
    for to in ("ids", "jsonl", "npy"):
        (tmp_path / "in").write_bytes(TEXT)
        call("encode", "in", *GPT2, "-q", "--to", to, "-o", to, cwd=tmp_path)
        assert call("decode", to, *GPT2, cwd=tmp_path) == (0, TEXT, "")
        assert run("decode", *GPT2, input=(tmp_path / to).read_bytes()) == (0, TEXT, "")
    # Numbers are told by what describes them; an array by its beginning, whatever it is called.
    call("encode", "in", *GPT2, "-q", "--to", "bin", "-o", "raw", cwd=tmp_path)
    assert call("decode", "raw", *GPT2, cwd=tmp_path) == (0, TEXT, "")
    (tmp_path / "npy").rename(tmp_path / "array.bin")
    assert call("decode", "array.bin", *GPT2, cwd=tmp_path) == (0, TEXT, "")
    several = ("raw", "jsonl", "ids", "array.bin")
    assert call("decode", *several, *GPT2, cwd=tmp_path) == (0, TEXT * 4, "")


# -- other commands --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["json", "csv", "md"])
def test_a_comparison_is_written_as_its_name_says(tmp_path, form):
    option = {"json": "--json", "csv": "--csv", "md": "--markdown"}[form]
    compare = ("compare", "-T", "hi there", *GPT2)
    assert call(*compare, "-o", f"x.{form}", cwd=tmp_path) == (0, b"", "")
    assert (tmp_path / f"x.{form}").read_bytes() == call(*compare, option, cwd=tmp_path).out


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("compare", "-T", "a", "--json", "-o", "x.csv"), "-o x.csv names a .csv file, but what is written is JSON",
         "end the name in .json"),
        (("compare", "-T", "a", "--csv", "-o", "x.md"), "-o x.md names a .md file, but what is written is CSV",
         "end the name in .csv"),
        (("compare", "-T", "a", "-o", "x.html"), "-o x.html names a .html file, but what is written is tables as text",
         "--html x.html writes one"),
        (("compare", "-T", "a", "-o", "x.svg"), "-o x.svg names a .svg file, but what is written is tables as text",
         "--svg x.svg writes one"),
        (("compare", "-T", "a", "--json", "-o", "x.png"), "-o x.png names a .png file, but what is written is JSON",
         "--png x.png writes one"),
        (("compare", "-T", "a", "--html", "x.json"), "--html x.json names a .json file, but what is written is a page",
         "end the name in .html"),
        (("compare", "-T", "a", "--json", "-o", "x.json.gz"),
         "-o x.json.gz names a compressed file, but what is written is JSON as it is", "leave .gz out of the name"),
        (("inspect", "-T", "a", "--html", "x.svg"),
         "--html x.svg names a .svg file, but what is written is a page", "end the name in .html"),
        (("inspect", "-T", "a", "--svg", "x.png"),
         "--svg x.png names a .png file, but what is written is SVG", "end the name in .svg"),
        (("train", "-T", "a", "-s", "257", "-o", "x.npy"),
         "-o x.npy names a .npy file, but what is written is bpe.json",
         "end the name in .json; bpe encode --to npy writes .npy files"),
        (("train", "-T", "a", "-s", "257", "-o", "x.html"),
         "-o x.html names a .html file, but what is written is bpe.json", "end the name in .json"),
        (("train", "-T", "a", "-s", "257", "-o", "x.gguf"),
         "-o x.gguf names a .gguf file, but what is written is bpe.json",
         "bpe convert --format gguf makes one of any tokenizer that it can hold"),
        (("train", "-T", "a", "-s", "257", "-o", "x.tiktoken"),
         "-o x.tiktoken names a .tiktoken file, but what is written is bpe.json",
         "bpe convert --format tiktoken makes one of any tokenizer that it can hold"),
        (("train", "-T", "a", "-s", "257", "-o", "x.vocab"),
         "-o x.vocab names a .vocab file, but what is written is bpe.json",
         "bpe convert --format sentencepiece-vocab makes one of any tokenizer that it can hold"),
        (("train", "-T", "a", "-s", "257", "-o", "x.json.gz"),
         "-o x.json.gz names a compressed file, but what is written is bpe.json as it is", "leave .gz out of the name"),
        (("train", "-T", "a", "--counts-out", "x.jsonl"),
         "--counts-out x.jsonl names a .jsonl file, but what is written is counts",
         "end the name in .counts; bpe encode --to jsonl writes .jsonl files"),
        (("convert", "gpt2", "-f", "gguf", "-o", "x.json"),
         "-o x.json names a .json file, but what is written is gguf",
         "bpe convert --format tokenizer.json makes one of any tokenizer that it can hold"),
        (("convert", "gpt2", "-f", "gguf", "-o", "x.md"),
         "-o x.md names a .md file, but what is written is gguf", "end the name in .gguf"),
        (("convert", "gpt2", "-f", "vocab-merges", "-o", "x.html"),
         "-o x.html names a .html file, but what is written is vocab-merges", "name a folder"),
        (("convert", "gpt2", "-f", "tiktoken", "-o", "x.gz"),
         "-o x.gz names a compressed file, but what is written is tiktoken as it is", "leave .gz out of the name"),
    ],
)  # fmt: skip
def test_other_names_that_contradict(tmp_path, arguments, message, hint):
    assert call(*arguments, cwd=tmp_path) == (2, b"", error(message, hint))
    assert list(tmp_path.iterdir()) == []


def test_a_model_is_trained_into_the_format_of_its_name(tmp_path):
    (tmp_path / "in").write_bytes(b"low lower lowest\n" * 20)
    options = ("in", "-a", "bpe", "-s", "20", "--compat", "sentencepiece", "-q")
    assert call("train", *options, "-o", "named.model", cwd=tmp_path) == (0, b"", "")
    assert call("train", *options, "--format", "sentencepiece", "-o", "named", cwd=tmp_path) == (0, b"", "")
    same = (tmp_path / "named.model").read_bytes() == (tmp_path / "named").read_bytes()
    assert same  # the model's prefix too: it is in both


def test_llama_names_ranks_tokenizer_model(tmp_path):
    assert call("convert", "gpt2", "-f", "tiktoken", "-o", "tokenizer.model", "-q", cwd=tmp_path) == (0, b"", "")


def test_a_real_round_trip(tmp_path):
    (tmp_path / "F").write_bytes(TEXT)
    command = f"{sys.executable} -m bpe_cli"
    script = f"{command} encode F -q -o x.jsonl.zst && {command} decode x.jsonl.zst | cmp - F"
    assert subprocess.run(script, shell=True, cwd=tmp_path, capture_output=True, check=True).stdout == b""


PREPARE = "`bpe prepare` makes a data set in a folder"


def test_a_name_that_ends_as_a_folders_does_is_not_a_file(tmp_path):
    done = call("encode", "-T", "a", "-o", "new/", cwd=tmp_path)
    assert done == (2, b"", error("cannot write new/: its name is that of a folder", PREPARE))
    assert list(tmp_path.iterdir()) == []


@only_where(sys.platform == "linux", "needs names of any bytes")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        (b"new\nline.txt", "new\nline.txt"),
        (b"quote'\\.txt", "quote'\\.txt"),
        ("\u200d東京.txt".encode(), "\u200d東京.txt"),
        (b"b\xff.txt", {"bytes": b"b\xff.txt".hex()}),
    ],
)
def test_data_has_the_names_of_inputs_as_they_are(tmp_path, name, value):
    """Messages show a name so that it can be printed; JSON has no need of that."""
    path = os.fsdecode(name)
    (tmp_path / path).write_bytes(b"hello world\n")
    encode = "encode", path, *GPT2, "--to"
    assert call(*encode, "bin", "-o", "out", cwd=tmp_path).status == 0
    assert json.loads((tmp_path / "out.json").read_bytes())["inputs"][0]["name"] == value
    assert json.loads(call(*encode, "count", "--json", cwd=tmp_path).out)["documents"][0]["input"] == value
    assert json.loads(call(*encode, "chunks", "--size", "9", cwd=tmp_path).out)["input"] == value
