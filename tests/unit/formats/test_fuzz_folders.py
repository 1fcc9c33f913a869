"""Folders of Hugging Face's that are cut, damaged or malicious: a tokenizer or an error for the user, soon."""

from __future__ import annotations

import json
import os
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import formats
from bpe_cli.errors import FormatError, InputError
from bpe_cli.formats.huggingface import own_json
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.tokenizer.usage import Padding, Truncation, Usage
from tests.counted import at_least, compared
from tests.needs import skip
from tests.unit.formats.test_fuzz import VALUES, altered, places
from tests.work import assert_little_work

REFUSALS = (FormatError, InputError)
USAGE = Usage(
    Truncation(9), Padding(None, "left", 8, 1, 0, "<s>"), (("bos", 0), ("eos", 11)), (("default", "{{ x }}"),)
)
DEEP = [b"[" * 1_000_000, b'{"a":' * 1_000_000, b'{"added_tokens_decoder": ' + b"[" * 1_000_000]


@pytest.fixture(scope="module")
def tokenizer(tiny):
    return replace(tiny, usage=USAGE)


@pytest.fixture(scope="module")
def files(tokenizer):
    """Return a small folder with every companion."""
    files = formats.dump(tokenizer, "huggingface")
    config = json.loads(files["tokenizer_config.json"]) | {"additional_special_tokens": ["<s>"]}
    return files | {
        "tokenizer_config.json": json.dumps(config).encode(),
        "added_tokens.json": '{"«fin»": 11, "<more>": 12}'.encode(),
        "chat_template.json": b'{"chat_template": [{"name": "default", "template": "x"}]}',
    }


@pytest.fixture(scope="module")
def folder(files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("folder")
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def try_folder(folder, name, files, content):
    """Read a folder with one file changed; what can be read can be written and read again, or is refused."""
    (folder / name).write_bytes(content)
    try:
        loaded = formats.load(folder)
        written = own_json.dump(loaded)[""]
        assert hf_json.loads(written) == loaded
        formats.dump(loaded, "huggingface")
    except REFUSALS:
        pass
    finally:
        (folder / name).write_bytes(files[name])
    compared()


def test_whole_folder_is_read(folder, tokenizer):
    loaded = formats.load(folder)
    assert loaded.usage == replace(USAGE, chat_templates=(("default", "x"),))
    assert [token.token_id for token in loaded.special_tokens] == [0, 10, 11, 12]
    assert hf_json.loads(own_json.dump(tokenizer)[""]) == tokenizer


def test_companion_cut_anywhere_is_refused_by_name(folder, files):
    for name, content in files.items():
        for end in range(0, len(content.rstrip()), 7):
            (folder / name).write_bytes(content[:end])
            with pytest.raises(REFUSALS) as caught:
                formats.load(folder)
            assert name in caught.value.message, (name, end)
        (folder / name).write_bytes(content)


@at_least(200)
def test_flipped_bits(folder, files):
    chance = random.Random(3)
    for name, content in files.items():
        for _ in range(60):
            changed = bytearray(content)
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
            try_folder(folder, name, files, bytes(changed))


@at_least(14)
@given(data=st.data())
def test_values_of_other_types(folder, files, data):
    name = data.draw(st.sampled_from(sorted(files)))
    value = json.loads(files[name])
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(list(places(value))))
        value = altered(value, path, data.draw(VALUES), drop=bool(path) and data.draw(st.booleans()))
    try_folder(folder, name, files, json.dumps(value).encode())


@at_least(5)
@pytest.mark.parametrize("key", ["truncation", "padding", "usage"])
def test_every_value_of_the_fields_about_use(tokenizer, key):
    document = json.loads(own_json.dump(tokenizer)[""])
    for path in [path for path in places(document) if path[:1] == (key,)]:
        for new in (None, True, -1, 0, 2**32, 2**64, 0.5, "", "Left", [], [[]], {}, {"Fixed": -1}):
            changed = json.dumps(altered(document, path, new)).encode()
            try:
                loaded = hf_json.loads(changed)
            except REFUSALS:
                continue
            assert hf_json.loads(own_json.dump(loaded)[""]) == loaded
            compared()


@pytest.mark.parametrize("nest", DEEP, ids=["lists", "objects", "lists in a field"])
def test_nested_a_million_deep(folder, files, nest):
    for name in files:
        (folder / name).write_bytes(nest)

        def refuse():
            with pytest.raises(REFUSALS):
                formats.load(folder)

        assert_little_work(refuse, size=len(nest), most_lines=20_000, most_cost=3)
        (folder / name).write_bytes(files[name])


def test_many_added_tokens_take_no_square_of_time(folder, files):
    names = {f"<{number}>": number for number in range(1000, 7_000)}
    config = {"additional_special_tokens": list(names)}
    (folder / "added_tokens.json").write_text(json.dumps(names))
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    assert len(formats.load(folder).special_tokens) == 3 + len(names)
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert_little_work(lambda: formats.load(folder), size=size, most_lines=3_000_000, most_cost=600)
    for name in ("added_tokens.json", "tokenizer_config.json"):
        (folder / name).write_bytes(files[name])


def test_template_whose_name_is_no_text(folder):
    templates = folder / "additional_chat_templates"
    templates.mkdir()
    path = os.fsencode(templates) + b"/\xff.jinja"
    try:
        with open(path, "wb") as file:
            file.write(b"x")
    except OSError:
        skip("the file system has only names that are text")
    with pytest.raises(FormatError, match="is not UTF-8"):
        formats.load(folder)
    os.unlink(path)
    templates.rmdir()
