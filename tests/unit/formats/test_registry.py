"""Finding the format of a file by what is in it, and the tokenizer that a name means."""

from __future__ import annotations

import errno
import io
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.formats import detect, registry
from bpe_cli.formats.features import LOSSES
from bpe_cli.formats.huggingface import tokenizer_json
from bpe_cli.stages import SpecialToken
from bpe_cli.tokenizer import fingerprint, named_encodings
from tests.every_format import sample

SAME_LAYOUT = ("tokenizer.json", "bpe.json", "huggingface")
"""Formats whose files begin alike: one writes more of the same layout, one more files beside it."""

TOLD_AS = {"bpe.json": "tokenizer.json"}
"""What is told of a file of a format, where that is another: nothing in the file says which it is."""


@pytest.mark.parametrize("name", list(formats.FORMATS))
def test_format_is_found_by_content_not_by_name(tmp_path, name):
    tokenizer = sample(name)
    files = formats.dump(tokenizer, name, LOSSES)
    for suffix, content in files.items():
        (tmp_path / (suffix or "x.txt")).write_bytes(content)
    path = tmp_path / (next(iter(files)) or "x.txt")
    assert formats.identify(path) == TOLD_AS.get(name, name)
    loaded = formats.load(path, "gpt2" if name in ("tiktoken", "vocab-merges") else None)
    decoded = [loaded.decode_bytes([token_id]) for token_id in loaded.encode("lowest")]
    assert decoded == [tokenizer.decode_bytes([token_id]) for token_id in tokenizer.encode("lowest")]


@pytest.mark.parametrize("name", list(formats.FORMATS))
def test_no_other_format_claims_the_file(name):
    contents = formats.dump(sample(name), name, LOSSES)
    for content in [content for file, content in contents.items() if not file.endswith(("_config.json", "_map.json"))]:
        head = content[: detect.HEAD_BYTES]
        claiming = [other for other, module in formats.FORMATS.items() if module.sniff(head)]
        same = set(SAME_LAYOUT) if name in SAME_LAYOUT else {name}
        assert set(claiming) <= same | {"vocab-merges"}, "a list of merges with a header may be of subword-nmt, too"
        assert claiming[0] in same or name == "vocab-merges"


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        (b"", "empty"),
        (b"hello there\nyou\n", "text that begins 'hello there'"),
        (b"\x00\x01\x02", "binary"),
        (b"\xff\xfe\xff\xfe", "binary"),
        (b"GGUF\x03\x00\x00\x00", "the beginning of a GGUF file"),
        (b"\x1f\x8b\x08", "gzip-compressed"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
        (b'{"config": {"pattern": "x"}, "vocab": []}', "JSON with the keys config, vocab"),
        (b'{"config": {"patt', "broken JSON with the keys config"),
        (b'{"config": {"pattern": "' + b"x" * detect.HEAD_BYTES + b'"}}', "JSON with the keys config, pattern"),
        (b'{"' + b"x" * detect.HEAD_BYTES, "JSON"),
        (b'{ "patt', "broken JSON"),
        (b"{bad", "text that begins '{bad'"),
        (b'{"version":"1.0","trunc', "the beginning of a tokenizer.json"),
        (b'{"version":"1.0","trunc": 1}', "JSON with the keys version, trunc"),
        (b"[1, 2]", "a JSON list"),
        (b"[1, 2", "broken JSON"),
        (b"{}", "JSON with no keys"),
        (b"\n\x0e\x12\x05<unk>\x15\x00", "binary"),
        (b'{"format":"bpe-counts","version":1}\n', "a counts file"),
        (b"[PAD]\n[UNK]\n", "text that begins '[PAD]'"),
    ],
)
def test_unknown_content_is_described(tmp_path, content, looks):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        formats.load(path)
    assert f"is {looks}" in caught.value.message
    ways_out = {"a Git LFS pointer": "`git lfs pull` fetches the file itself"}
    again = ("the beginning of a GGUF file", "the beginning of a tokenizer.json")
    ways_out |= dict.fromkeys(again, "fetch the file again")
    of_lines = '; `algorithm="list"` trains one from a list of tokens' if looks.startswith("text") else ""
    assert caught.value.hint == ways_out.get(looks, f"formats are {', '.join(formats.FORMATS)}{of_lines}")


def test_missing_files_and_folders_without_tokenizer(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        formats.load(tmp_path / "missing")
    with pytest.raises(InputError, match="cannot read "):
        formats.load("nul\0byte")
    with pytest.raises(FormatError, match="holds no tokenizer, it is empty"):
        formats.load(tmp_path)
    (tmp_path / "notes").write_text("x")
    with pytest.raises(FormatError, match="holds no tokenizer, but notes"):
        formats.load(tmp_path)


def test_another_file_of_a_folder_is_named_where_the_first_is_broken(make, tmp_path):
    (tmp_path / "tokenizer.json").write_text('{"version": "1.0", "model": {"type": "BPE", "vocab": {}, "merges": {}}}')
    with pytest.raises(FormatError) as caught:
        formats.load(tmp_path)
    assert caught.value.hint is None
    (tmp_path / "ranks.tiktoken").write_bytes(b"YQ== 0\n")
    with pytest.raises(FormatError, match="merges must be an array") as caught:
        formats.load(tmp_path)
    assert caught.value.hint == f"{tmp_path / 'ranks.tiktoken'} lies beside it: name that one"


def test_a_file_beside_a_broken_tokenizer_that_cannot_be_read_hides_nothing(tmp_path, monkeypatch):
    """Rights are patched: tests may run as root, who reads everything."""
    (tmp_path / "tokenizer.json").write_text('{"version": "1.0", "model": {"type": "BPE", "vocab": {}, "merges": {}}}')
    for name in ("locked.tiktoken", "ranks.tiktoken"):
        (tmp_path / name).write_bytes(b"YQ== 0\n")
    open_file = Path.open

    def opened(path: Path, *rest, **more):
        if path.name == "locked.tiktoken":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return open_file(path, *rest, **more)

    monkeypatch.setattr(Path, "open", opened)
    with pytest.raises(FormatError, match="merges must be an array") as caught:
        formats.load(tmp_path)
    assert caught.value.hint == f"{tmp_path / 'ranks.tiktoken'} lies beside it: name that one"


def test_pipe_is_refused_unread(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(InputError, match="is not a regular file"):
        formats.load(path)


def test_file_of_a_gigabyte_is_refused_unread(tmp_path):
    path = tmp_path / "tokenizer.json"
    with path.open("wb") as file:
        file.write(b'{"version": "1.0", "model": ')
        file.truncate((1 << 30) + 1)  # sparse
    with pytest.raises(FormatError, match=r"may have 1,073,741,824 \(1 GiB\)"):
        formats.load(path)


def test_folder_prefers_tokenizer_json(make, tmp_path):
    for suffix, content in formats.dump(make(), "vocab-merges").items():
        (tmp_path / suffix).write_bytes(content)
    assert formats.identify(tmp_path) == "vocab-merges"
    (tmp_path / "tokenizer.json").write_bytes(formats.dump(make(), "tokenizer.json")[""])
    assert formats.identify(tmp_path) == "tokenizer.json"
    assert formats.load(tmp_path) == make()
    assert formats.load(tmp_path).name == str(tmp_path)


def test_pattern_that_looks_like_a_name_is_one(tmp_path):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(b"YQ== 0\n")
    with pytest.raises(UsageError, match="unknown pattern 'cl100'"):
        formats.load(path, "cl100")
    assert formats.load(path, "llama4") == formats.load(path, "o200k")
    assert formats.load(path, r"\w+").patterns == (r"\w+",)


def test_dump_refuses_unknown_names(make):
    with pytest.raises(UsageError, match="unknown format 'onnx'") as caught:
        formats.dump(make(), "onnx")
    assert caught.value.hint == f"formats are {', '.join(formats.FORMATS)}"
    with pytest.raises(UsageError, match="unknown format 'toknizer'") as caught:
        formats.dump(make(), "toknizer")
    assert caught.value.hint == "did you mean tokenizer.json?"
    with pytest.raises(UsageError, match="no format loses 'everything'"):
        formats.dump(make(), "tiktoken", {"everything"})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("x.ggfu", "did you mean x.gguf? or give `format`"),
        ("out/model.jsn", "did you mean model.json? or give `format`"),
        ("x", f"give `format`: {', '.join(formats.FORMATS)}"),
        ("x.png", f"give `format`: {', '.join(formats.FORMATS)}"),
    ],
)
def test_names_that_say_no_format(name, hint):
    with pytest.raises(UsageError, match="does not say which format") as caught:
        formats.format_of_name(name)
    assert caught.value.hint == hint


def test_a_folder_without_tokenizer_names_the_usual_ones(tmp_path):
    """Every ending that a folder is searched for is in the hint."""
    with pytest.raises(FormatError, match="holds no tokenizer, it is empty") as caught:
        formats.load(tmp_path)
    for module in formats.FORMATS.values():
        for pattern in module.FILES:
            if pattern.startswith("*."):
                assert f".{pattern.split('.')[1]}" in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["closed/vocab.json", "closed/sub", "closed"])
def test_a_folder_that_nobody_may_look_into(monkeypatch, tmp_path, name):
    """A file in it may be there or not: what is known is that it may not be read (root may, hence the stand-ins)."""

    def refuse(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    for module, function in [(os, "stat"), (os, "scandir"), (io, "open"), (os, "listdir")]:
        monkeypatch.setattr(module, function, refuse)
    with pytest.raises(InputError, match=rf"^cannot read .*{name}: permission denied$"):
        formats.find_tokenizer(str(tmp_path / name))


def test_a_models_name_is_one_where_nobody_may_look(monkeypatch):
    def refuse(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "stat", refuse)
    assert formats.find_tokenizer("gpt-4").name == "cl100k_base"


def test_find_tokenizer(make, tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(formats.dump(make(), "tokenizer.json")[""])
    assert formats.find_tokenizer(str(path)) == make()
    assert formats.find_tokenizer("gpt-4o") is named_encodings.named("o200k_base")
    assert formats.find_tokenizer("gpt2") is named_encodings.named("gpt2")
    with pytest.raises(UsageError) as caught:
        formats.find_tokenizer("cl100k")
    assert caught.value.message == 'unknown tokenizer "cl100k"'
    assert "cl100k_base" in caught.value.hint
    with pytest.raises(InputError, match="no such file"):
        formats.find_tokenizer("models/none.json")
    with pytest.raises(UsageError, match='unknown tokenizer ""'):
        formats.find_tokenizer("")
    with pytest.raises(UsageError, match="has a split pattern of its own"):
        formats.find_tokenizer("gpt2", "o200k")


def test_fingerprint_tells_values_apart(make):
    tokenizer = make(specials_first=["<s>"])
    others = [
        make(),
        make(specials_first=["<t>"]),
        make(specials_first=["<s>"], ranks=True),
        make(specials_first=["<s>"], ignore_merges=True),
        make(specials_first=["<s>"], pre_tokenizer=()),
        make(specials_first=["<s>"], unicode_version="16.0.0"),
        make(specials_first=["<s>"], post_processor="{}"),
        replace(tokenizer, special_tokens=(SpecialToken(b"<s>", 0, special=False),)),
    ]
    prints = {fingerprint(other) for other in [tokenizer, *others]}
    assert len(prints) == len(others) + 1
    again = formats.FORMATS["tokenizer.json"].dump(tokenizer)[""]
    assert fingerprint(tokenizer_json.loads(again)) == fingerprint(tokenizer)
    assert fingerprint(replace(tokenizer, name="x")) == fingerprint(tokenizer)


def test_unreadable_json_is_no_tokenizer(tmp_path):
    path = tmp_path / "x"
    path.write_text(json.dumps({"model_max_length": 512}))
    with pytest.raises(InputError, match="one of a pair"):
        formats.load(path)


def test_what_lies_beside_a_file_tells_its_format(make, tmp_path):
    """A file is one of several only where the others are, and under the name that goes with them."""
    codes = b"#version: 0.2\nl o\nlo w</w>\n"
    vocabulary = b'{"l": 0, "o": 1, "w</w>": 2, "lo": 3, "low</w>": 4}'
    for prefix in ("", "my-"):
        merges = tmp_path / f"{prefix}merges.txt"
        merges.write_bytes(codes)
        assert formats.identify(merges) == "subword-nmt"
        (tmp_path / f"{prefix}vocab.json").write_bytes(vocabulary)
        assert formats.identify(merges) == formats.identify(tmp_path / f"{prefix}vocab.json") == "vocab-merges"
    (tmp_path / "codes.txt").write_bytes(codes)
    assert formats.identify(tmp_path / "codes.txt") == "subword-nmt", "it is none of the pair"
    for name in ("tokenizer.json", "mine.json"):
        (tmp_path / name).write_bytes(formats.dump(make(), "tokenizer.json")[""])
        assert formats.identify(tmp_path / name) == formats.load(tmp_path / name).origin.format == "tokenizer.json"
    (tmp_path / "tokenizer_config.json").write_text("{}")
    assert formats.identify(tmp_path) == formats.load(tmp_path).origin.format == "huggingface"
    assert formats.identify(tmp_path / "mine.json") == formats.load(tmp_path / "mine.json").origin.format
    assert formats.identify(tmp_path / "mine.json") == "tokenizer.json"


@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("tokenizer.json", "tokenizer.json"),
        ("bpe.json", "bpe.json"),
        ("tekken.json", "tekken"),
        ("vocab.json", "vocab-merges"),
        ("mine.json", "tokenizer.json"),
        ("a/vocab.txt", "bert-vocab"),
    ],
)
def test_name_says_which_format_to_write(name, format_name):
    assert formats.format_of_name(name) == format_name


def test_formats_of_several_files_are_those_that_say_so():
    several = [name for name, module in formats.FORMATS.items() if registry.is_of_several(module)]
    assert several == list(registry.OF_SEVERAL)
