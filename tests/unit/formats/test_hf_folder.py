"""Folders as save_pretrained lays them: that they read back, and that Hugging Face's library loads the file in them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError, InputError
from bpe_cli.formats.huggingface import folder as hf_folder
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.stages import SpecialToken
from bpe_cli.tokenizer.usage import Usage
from tests.needs import needs
from tests.thorough import more

TEMPLATES = (("default", "{{ bos_token }}é\n"), ("tools", "t"))


def laid(folder, files):
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def tokenizer(make):
    specials = [SpecialToken(b"<added>", 264, special=False, lstrip=True), SpecialToken("«fin»".encode(), 265)]
    usage = Usage(roles=(("bos", 0), ("eos", 265), ("fim_pre", 265)), chat_templates=TEMPLATES)
    return make(specials_first=["<s>"], specials=specials, usage=usage, unicode_version="16.0.0")


@pytest.mark.parametrize("templates", [(), TEMPLATES[:1], TEMPLATES, TEMPLATES[1:]])
def test_folder_reads_back(tokenizer, tmp_path, templates):
    tokenizer = replace(tokenizer, usage=replace(tokenizer.usage, chat_templates=templates))
    folder = laid(tmp_path / "x", formats.dump(tokenizer, "huggingface"))
    again = formats.load(folder)
    assert again == hf_folder.load(folder) == hf_folder.load(folder / "tokenizer.json") == tokenizer
    assert formats.dump(again, "huggingface") == formats.dump(tokenizer, "huggingface")
    assert formats.identify(folder) == again.origin.format == "huggingface"


def test_worked_example(tokenizer):
    files = formats.dump(tokenizer, "huggingface")
    assert list(files) == ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]
    assert files["tokenizer.json"] == hf_json.dump(tokenizer)[""]
    flags = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False}
    assert json.loads(files["tokenizer_config.json"]) == {
        "add_prefix_space": False,
        "added_tokens_decoder": {
            "0": {"content": "<s>", "special": True} | flags,
            "264": {"content": "<added>", "special": False} | flags | {"lstrip": True},
            "265": {"content": "«fin»", "special": True} | flags,
        },
        "bos_token": "<s>",
        "chat_template": [{"name": name, "template": template} for name, template in TEMPLATES],
        "clean_up_tokenization_spaces": False,
        "eos_token": "«fin»",
        "fim_pre_token": "«fin»",
        "model_max_length": 1000000000000000019884624838656,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
    assert json.loads(files["special_tokens_map.json"])["eos_token"] == {"content": "«fin»"} | flags


def test_hugging_face_loads_the_file(tokenizer, tmp_path):
    rival = needs("tokenizers")
    folder = laid(tmp_path / "x", formats.dump(tokenizer, "huggingface"))
    theirs = rival.Tokenizer.from_file(str(folder / "tokenizer.json"))
    for text in ("hello <added>«fin»", "<s>hello", "é"):
        assert theirs.encode(text).ids == tokenizer.encode(text, specials="all")


def test_settings_are_kept_as_they_were(tokenizer, tmp_path):
    config = {
        "model_max_length": 1000000000000000019884624838656,
        "extra_special_tokens": {"image_token": "«fin»", "eot_token": "<s>"},
        "additional_special_tokens": ["<s>", {"content": "«fin»", "lstrip": False}],
        "auto_map": {"AutoTokenizer": ["a", None]},
        "clean_up_tokenization_spaces": True,
        "bos_token": {"content": "<s>", "__type": "AddedToken"},
    }
    folder = laid(tmp_path / "x", {"tokenizer.json": hf_json.dump(tokenizer)[""]})
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    loaded = formats.load(folder)
    assert loaded.usage.roles == (("bos", 0), ("eot", 0))
    again = laid(tmp_path / "y", formats.dump(loaded, "huggingface"))
    assert formats.load(again) == loaded
    written = json.loads((again / "tokenizer_config.json").read_bytes())
    assert written.pop("added_tokens_decoder").keys() == {"0", "264", "265"}
    changed = {"extra_special_tokens": {"image_token": "«fin»"}, "add_prefix_space": False}
    assert written == config | changed | {"bos_token": "<s>", "eot_token": "<s>"}
    assert b"1000000000000000019884624838656" in (again / "tokenizer_config.json").read_bytes()
    fewer = replace(loaded, special_tokens=loaded.special_tokens[:1])
    written = json.loads(formats.dump(fewer, "huggingface")["tokenizer_config.json"])
    assert (written["additional_special_tokens"], written["extra_special_tokens"]) == (["<s>"], {})


def test_role_of_an_ordinary_token_is_refused(make):
    tokenizer = make(usage=Usage(roles=(("eos", 0),)))
    with pytest.raises(FormatError, match=r'"!" \(id 0\) is the eos_token without being special'):
        formats.dump(tokenizer, "huggingface")


def test_settings_that_cannot_be_written_again_are_refused(tokenizer, tmp_path):
    folder = laid(tmp_path / "x", {"tokenizer.json": hf_json.dump(tokenizer)[""]})
    (folder / "tokenizer_config.json").write_text('{"deep": ' + "[" * 1020 + "]" * 1020 + "}")
    loaded = formats.load(folder)
    try:
        written = formats.dump(loaded, "huggingface")
    except FormatError as error:
        assert "cannot be written" in error.message  # noqa: PT017  # whether it can depends on the stack
    else:
        assert b"[" * 1020 in b"".join(written["tokenizer_config.json"].split())


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"tokenizer.json: no such file"):
        hf_folder.load(tmp_path)


VOCABULARIES = (
    "clip", "falcon", "hf-llama3", "hf-qwen2_5", "llama2-repaired", "t5-small", "whisper-tiny",
    *more((), ("phi-3-mini", "roberta-base")),
)  # fmt: skip
"""Those that a hunt adds are like llama2-repaired and whisper-tiny."""


@pytest.mark.slow
@pytest.mark.parametrize("name", VOCABULARIES)
def test_real_folders_read_back(shared, name, tmp_path):
    rival = needs("tokenizers")
    folder = shared / "vocabs" / name
    tokenizer = formats.load(folder / "tokenizer.json")
    files = formats.rehearse(tokenizer, "huggingface")  # which the next line verifies
    assert formats.load(laid(tmp_path / "x", files)) == tokenizer
    alone = hf_json.load(folder / "tokenizer.json")
    assert replace(tokenizer, usage=alone.usage) == alone, "companions of real folders say nothing new of ids"
    if name != "hf-llama3":  # which test_hf_json_dump holds to the bytes that the library writes
        theirs = rival.Tokenizer.from_str(files["tokenizer.json"].decode())
        for text in ("Hello, world! 123456", "été\n\n  漢字 🙂", "a  b"):
            assert theirs.encode(text, add_special_tokens=False).ids == tokenizer.encode(text, specials="all")
    config_path = folder / "tokenizer_config.json"
    if config_path.is_file():
        stated = json.loads(config_path.read_bytes())
        written = json.loads(files["tokenizer_config.json"])
        for key, value in stated.items():
            if not key.endswith("_token") or isinstance(value, bool):
                assert written[key] == value, key
            elif value:
                assert written[key] == (value if isinstance(value, str) else value["content"]), key
