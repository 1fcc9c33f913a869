"""What lies beside a tokenizer file: roles, added tokens, chat templates, settings, and that they fit together."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError, InputError
from bpe_cli.formats import bert as bert_vocab
from bpe_cli.formats.huggingface import companions, own_json
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.stages import CharacterBpe, SpecialToken, WordPiece
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer

FIN = SpecialToken("«fin»".encode(), 264)


@pytest.fixture
def lay(make, tmp_path):
    """Write a tokenizer.json with the special tokens <s> (0) and «fin» (264), and files beside it."""
    tokenizer = make(specials_first=["<s>"], specials=[FIN])

    def write(name="tokenizer.json", value=tokenizer, **others):
        (tmp_path / name).write_bytes(own_json.dump(value)[""])
        for stem, content in others.items():
            (tmp_path / f"{stem}.json").write_text(json.dumps(content), encoding="utf-8")
        return tmp_path / name

    return write


def refused(path):
    with pytest.raises(FormatError) as caught:
        formats.load(path)
    return caught.value.message


# -- what is read ------------------------------------------------------------------------------


def test_without_companions_nothing_changes(lay):
    path = lay()
    tokenizer = formats.load(path)
    assert tokenizer == hf_json.load(path)
    assert tokenizer.origin.format == "tokenizer.json"


def test_roles_are_texts_or_objects_in_either_file(lay):
    path = lay(
        tokenizer_config={"bos_token": "<s>", "pad_token": None, "unk_token": "", "eot_token": "«fin»"},
        special_tokens_map={
            "bos_token": "<s>",
            "eos_token": {"content": "«fin»", "lstrip": False, "normalized": True, "__type": "AddedToken"},
        },
    )
    tokenizer = formats.load(path)
    assert tokenizer.usage.roles == (("bos", 0), ("eos", 264), ("eot", 264))
    assert replace(tokenizer, usage=hf_json.load(path).usage) == hf_json.load(path)


def test_token_that_only_a_companion_adds(lay):
    path = lay(
        tokenizer_config={
            "added_tokens_decoder": {
                "0": {"content": "<s>", "special": True},
                "300": {"content": "<more>", "special": False, "lstrip": True},
            },
            "extra_special_tokens": {"eot_token": "<more>", "image_token": "<map>"},
        },
        added_tokens={"<more>": 300, "<map>": 301, "<plain>": 302},
    )
    tokenizer = formats.load(path)
    assert tokenizer.special_tokens[-3:] == (
        SpecialToken(b"<more>", 300, special=False, lstrip=True),
        SpecialToken(b"<map>", 301),
        SpecialToken(b"<plain>", 302, special=False),
    )
    assert tokenizer.usage.role("eot") == 300
    assert tokenizer.encode("hello <plain>")[-1] == 302


def test_role_makes_an_ordinary_token_special(lay):
    """A text becomes it no longer by itself, as if the tokenizer file had said so."""
    model = WordPiece(Vocabulary.from_tokens([b"[UNK]", b"a", b"<e>"]), 0)
    plain = Tokenizer(model, special_tokens=(SpecialToken(b"[UNK]", 0),))
    assert plain.encode("<e>") == [2]
    tokenizer = formats.load(lay(value=plain, tokenizer_config={"eos_token": "<e>"}))
    assert tokenizer.encode("<e>") == [0]
    assert tokenizer.encode("<e>", specials="all") == [2]
    listed = replace(plain, special_tokens=(*plain.special_tokens, SpecialToken(b"<e>", 2)))
    assert replace(tokenizer, usage=plain.usage) == hf_json.loads(hf_json.dump(listed)[""])


def test_token_that_merges_use_stays_ordinary_too(lay):
    vocabulary = Vocabulary.from_tokens([b"a", b"b", b"ab"])
    model = CharacterBpe(vocabulary, Merges.from_pairs([(0, 1, 2)]))
    tokenizer = formats.load(lay(value=Tokenizer(model), tokenizer_config={"eos_token": "ab"}))
    assert tokenizer.model == model
    assert tokenizer.special_tokens == (SpecialToken(b"ab", 2),)


def test_facts_are_what_the_files_state(lay):
    config = {
        "model_max_length": 1000000000000000019884624838656,
        "bos_token": "<s>",
        "clean_up_tokenization_spaces": True,
        "tokenizer_class": "X",
        "legacy": None,
        "auto_map": {},
        "chat_template": "x",
    }
    origin = formats.load(lay(tokenizer_config=config)).origin
    assert origin.format == "huggingface"
    assert origin.facts[:2] == (("version", "1.0"), ("model.type", "BPE"))
    assert origin.facts[-3:] == (
        ("model_max_length", 1e30),
        ("clean_up_tokenization_spaces", True),
        ("tokenizer_class", "X"),
    )


def test_other_names_have_no_companions(lay):
    path = lay("mine.json", tokenizer_config={"bos_token": "<s>"})
    assert formats.load(path).usage.roles == ()


def test_folder_is_read_by_its_tokenizer_not_by_its_settings(lay, make, tmp_path):
    path = lay(tokenizer_config={"bos_token": "<s>"}, config={"model_type": "x"})
    assert formats.load(tmp_path).usage.roles == (("bos", 0),)
    path.unlink()
    with pytest.raises(FormatError, match="holds no tokenizer"):
        formats.load(tmp_path)
    (tmp_path / "mine.json").write_bytes(hf_json.dump(make())[""])
    assert formats.load(tmp_path) == make()


# -- chat templates ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "templates"),
    [
        (None, ()),
        ("{{ x }}", (("default", "{{ x }}"),)),
        (
            [{"name": "rag", "template": "r"}, {"name": "default", "template": "d"}],
            (("default", "d"), ("rag", "r")),
        ),
        ([{"name": "rag", "template": "r"}], (("rag", "r"),)),
        ([], ()),
    ],
)
def test_chat_templates_of_the_settings(lay, stated, templates):
    assert formats.load(lay(tokenizer_config={"chat_template": stated})).usage.chat_templates == templates


def test_files_of_their_own_come_before_the_settings(lay, tmp_path):
    path = lay(tokenizer_config={"chat_template": "old"}, chat_template={"chat_template": "newer"})
    assert formats.load(path).usage.chat_templates == (("default", "newer"),)
    (tmp_path / "additional_chat_templates").mkdir()
    for name in ("tools", "rag"):
        (tmp_path / "additional_chat_templates" / f"{name}.jinja").write_text(name)
    assert formats.load(path).usage.chat_templates == (("rag", "rag"), ("tools", "tools"))
    (tmp_path / "chat_template.jinja").write_bytes("é\r\n".encode())
    assert formats.load(path).usage.chat_templates == (("default", "é\r\n"), ("rag", "rag"), ("tools", "tools"))
    (tmp_path / "chat_template.jinja").write_bytes(b"a\xff")
    assert refused(path).endswith("chat_template.jinja: byte 1 is not UTF-8")


# -- contradictions ----------------------------------------------------------------------------


def decoder(token_id, content, **flags):
    return {"added_tokens_decoder": {str(token_id): {"content": content, "special": True} | flags}}


@pytest.mark.parametrize(
    ("others", "parts"),
    [
        ({"tokenizer_config": []}, ["tokenizer_config.json must be an object, not an array"]),
        ({"tokenizer_config": {"bos_token": 5}}, ["tokenizer_config.json: bos_token must be a string, not 5"]),
        ({"tokenizer_config": {"bos_token": "<t>"}}, ['tokenizer_config.json: the special token "<t>" has no id']),
        ({"tokenizer_config": {"chat_template": 5}}, ["tokenizer_config.json: chat_template must be an array"]),
        (
            {"tokenizer_config": {"chat_template": [{"name": "a", "template": "x"}] * 2}},
            ['chat_template[1] is the second template called "a"'],
        ),
        (
            {"tokenizer_config": {"bos_token": "<s>"}, "special_tokens_map": {"bos_token": "«fin»"}},
            ['tokenizer_config.json has "<s>" as bos_token', 'special_tokens_map.json has "«fin»"'],
        ),
        (
            {"tokenizer_config": decoder(9, "<s>")},
            ['tokenizer_config.json has the added token "<s>" with id 9', 'tokenizer.json has "<s>" with id 0'],
        ),
        (
            {"tokenizer_config": decoder(264, "<t>")},
            ['tokenizer_config.json has the added token "<t>" with id 264', 'tokenizer.json has "«fin»" with id 264'],
        ),
        (
            {"tokenizer_config": decoder(1, "<t>")},
            ['tokenizer_config.json has the added token "<t>" with id 1', 'tokenizer.json has "!" with id 1'],
        ),
        (
            {"tokenizer_config": decoder(0, "<s>", rstrip=True, special=False)},
            ["tokenizer_config.json and ", 'contradict each other about the added token "<s>" (id 0): rstrip, special'],
        ),
        (
            {"tokenizer_config": decoder(300, "<t>"), "added_tokens": {"<t>": 301}},
            ['added_tokens.json has the added token "<t>" with id 301', 'tokenizer_config.json has "<t>" with id 300'],
        ),
        ({"added_tokens": {"hello": 400}}, ['has the added token "hello" with id 400', '"hello" with id 260']),
        ({"added_tokens": {"": 400}}, ["added_tokens.json has an empty token"]),
        ({"chat_template": [1]}, ["chat_template.json must be an object"]),
    ],
)
def test_contradictions_name_the_files(lay, others, parts):
    message = refused(lay(**others))
    for part in parts:
        assert part in message


def test_broken_companion_is_named(lay, tmp_path):
    path = lay()
    (tmp_path / "tokenizer_config.json").write_bytes(b'{"a": ')
    assert "tokenizer_config.json:1:7" in refused(path)
    (tmp_path / "tokenizer_config.json").write_bytes(b"[" * 1_000_000)
    assert "depth limit" in refused(path)


def test_companion_that_cannot_be_read(lay, tmp_path):
    path = lay()
    with (tmp_path / "added_tokens.json").open("wb") as file:
        file.truncate((1 << 30) + 1)
    with pytest.raises((FormatError, InputError), match=r"added_tokens.json has 1,073,741,825 bytes"):
        formats.load(path)


# -- what the tokenizer file says itself --------------------------------------------------------


def test_tokenizer_json_says_itself_what_is_put_around(lay):
    config = {"bos_token": "<s>", "eos_token": "«fin»", "tokenizer_class": "LlamaTokenizer", "add_bos_token": True}
    assert formats.load(lay(tokenizer_config=config)).post_processor is None


def test_pair_has_roles_and_templates(make, tmp_path):
    tokenizer = make(specials_first=["<s>"])
    usage = replace(tokenizer.usage, roles=(("bos", 0),), chat_templates=(("default", "x"),))
    tokenizer = replace(tokenizer, usage=usage)
    for name, content in formats.dump(tokenizer, "vocab-merges").items():
        (tmp_path / name).write_bytes(content)
    again = formats.load(tmp_path)
    assert again == tokenizer
    assert companions.find(tmp_path).config.get("bos_token").text() == "<s>"


# -- what is there and no file ----------------------------------------------------------------------

THINGS = {
    "a link to nothing": (lambda path: path.symlink_to("blobs/gone"), "is a broken link"),
    "a link to itself": (lambda path: path.symlink_to(path.name), "too many levels of symbolic links"),
    "a pipe": (lambda path: os.mkfifo(path), "is not a regular file"),
    "a folder": (lambda path: path.mkdir(), "is not a regular file"),
}


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("name", sorted(companions.NAMES))
def test_what_has_a_companions_name_and_is_no_file_is_an_error(name, thing, lay):
    make, message = THINGS[thing]
    path = lay()
    make(path.with_name(name))
    with pytest.raises(InputError) as caught:
        formats.load(path)
    assert name in caught.value.message
    assert message in caught.value.message


@pytest.mark.parametrize("thing", THINGS)
def test_beside_a_vocabulary_too(thing, tmp_path):
    make, message = THINGS[thing]
    (tmp_path / "vocab.txt").write_bytes(b"[UNK]\n[CLS]\n[SEP]\nlow\n##l\n")
    make(tmp_path / companions.CONFIG)
    with pytest.raises(InputError, match=message):
        formats.load(tmp_path)


@pytest.mark.parametrize("name", ["additional_chat_templates", "additional_chat_templates/rag.jinja"])
def test_more_templates_are_not_passed_over_either(name, lay):
    path = lay()
    (path.parent / name).parent.mkdir(exist_ok=True)
    (path.parent / name).symlink_to("gone")
    with pytest.raises(InputError, match=name):
        formats.load(path)


def test_links_to_files_are_files(lay):
    path = lay(config={"bos_token": "<s>"})
    path.with_name(companions.CONFIG).symlink_to("config.json")
    assert formats.load(path).usage.roles == (("bos", 0),)


def test_roles_and_flags_of_a_vocabulary_of_bert_are_read_once_from_all_that_lies_beside(tmp_path, monkeypatch):
    """One rule for roles: special_tokens_map.json counts as tokenizer_config.json does, flags and all."""
    path = tmp_path / "vocab.txt"
    path.write_text("<pad>\n<unk>\n[CLS]\n[SEP]\nun\n")
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false, "sep_token": null}')
    roles = {"unk_token": "<unk>", "pad_token": {"content": "<pad>", "lstrip": True}}
    (tmp_path / "special_tokens_map.json").write_text(json.dumps(roles))
    opened = []
    read = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *rest, **more: opened.append(self.name) or read(self, *rest, **more))
    tokenizer = bert_vocab.load(path)
    assert sorted(opened) == ["special_tokens_map.json", "tokenizer_config.json", "vocab.txt"]
    assert tokenizer.usage.roles == (("unk", 1), ("pad", 0), ("cls", 2))
    assert tokenizer.special_ids[0] == SpecialToken(b"<pad>", 0, lstrip=True)
    assert tokenizer.encode("un Un") == [4, 1]
