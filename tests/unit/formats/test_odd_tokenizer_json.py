"""tokenizer.json of byte-level models with entries that are out of the ordinary: by hand, and through every route."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError, InputError
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.reports.tokenizer.reachability.examine import examine
from bpe_cli.stages.spelling import BYTE_TO_CHAR
from bpe_cli.surgery.operation import renumber, used_ids
from bpe_cli.tokenizer import Tokenizer
from tests.cli_runner import call

ALPHABET = {character: byte for byte, character in enumerate(BYTE_TO_CHAR)}
"""Every byte's character, with the byte for its id."""

JOINER = "\u200d"  # E2 80 8D, which the alphabet spells âĢį


def document(vocab: dict[str, int], merges=(), added=(), **model) -> dict:
    step = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [*added],
        "normalizer": None,
        "pre_tokenizer": step,
        "post_processor": None,
        "decoder": step,
        "model": {"type": "BPE", "dropout": None, "vocab": vocab, "merges": [*merges]} | model,
    }


def loads(*args, **model) -> Tokenizer:
    return hf_json.loads(json.dumps(document(*args, **model)).encode())


def added(content: str, token_id: int, **flags) -> dict:
    none = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return {"id": token_id, "content": content} | none | flags


def odd(**model) -> Tokenizer:
    """Return a tokenizer that has U+200D spelt and unspelt, and a merge of the unspelt one."""
    vocab = ALPHABET | {JOINER: 256, "âĢ": 257, "âĢį": 258, "a" + JOINER: 259, "ab": 260}
    return loads(vocab, [["a", JOINER], ["â", "Ģ"], ["âĢ", "į"], ["a", "b"]], **model)


@pytest.mark.parametrize("model", [{}, {"ignore_merges": True}, {"unk_token": "ab", "fuse_unk": True}])
def test_an_entry_that_the_alphabet_does_not_spell_is_only_decoded(model):
    tokenizer = odd(**model)
    assert tokenizer.encode(f"ab{JOINER}a") == [260, 258, 97]
    assert tokenizer.encode(JOINER) == [258]
    assert tokenizer.decode_bytes([260, 256, 259]) == f"ab{JOINER}a{JOINER}".encode()
    assert tokenizer.token_bytes(256) == JOINER.encode()
    assert tokenizer.vocab_size == 261
    assert tokenizer.encode(f"{JOINER}", specials="all") == [258]


def test_it_is_never_found_as_a_whole_piece_either():
    assert loads(ALPHABET | {JOINER: 256}, ignore_merges=True).encode(JOINER) == [0xE2, 0x80, 0x8D]
    assert loads(ALPHABET | {" ": 256, "\n": 257}, ignore_merges=True).encode(" \n") == [32, 10]


def test_reachability_says_that_no_text_becomes_it():
    tokenizer = odd()
    verdict = examine(tokenizer).verdicts[256]
    assert verdict.reachable is False
    assert "only decoded" in verdict.reason
    assert set(examine(tokenizer, [97, 256]).verdicts) == {97, 256}
    assert examine(tokenizer).unreachable_count >= 2


@pytest.mark.parametrize("name", ["tokenizer.json", "bpe.json", "gguf"])
def test_what_is_written_is_read_again(name, tmp_path):
    tokenizer = odd()
    (content,) = formats.dump(tokenizer, name).values()
    path = tmp_path / {"gguf": "x.gguf"}.get(name, "x.json")
    path.write_bytes(content)
    again = formats.load(path)
    assert again.model == tokenizer.model
    assert again.encode(f"ab{JOINER}") == [260, 258]
    assert again.decode_bytes([256, 259]) == tokenizer.decode_bytes([256, 259])


def test_who_cannot_hold_it_names_it():
    with pytest.raises(FormatError, match=r"entries that no text becomes.*id 256"):
        formats.dump(odd(), "tiktoken", frozenset({"pattern"}))


def test_surgery_takes_it_along():
    tokenizer = odd()
    ids = used_ids(tokenizer)
    assert 256 in ids
    again = renumber(tokenizer, {old: new for new, old in enumerate(number for number in ids if number != 1)})
    assert again.model.texts == ((255, JOINER.encode()), (258, b"a" + JOINER.encode()))
    assert again.decode_bytes(again.encode(f"ab{JOINER}")) == f"ab{JOINER}".encode()


def test_the_command_line_reads_it(tmp_path: Path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document(ALPHABET | {JOINER: 256})), "utf-8")
    run = call("encode", "-T", f"a{JOINER}", "-t", path)
    assert (run.status, run.out) == (0, b"97 226 128 141\n")
    run = call("inspect", "-t", path, "--section", "all")
    assert (run.status, b"only decoded" in b" ".join(run.out.split())) == (0, True)
    assert b"unused ids 0" in b" ".join(run.out.split())
    run = call("inspect", "-t", path, "--token", "256")
    assert b"not spelt in the byte alphabet" in run.out
    run = call("convert", path, "-o", tmp_path / "x.gguf", "--allow-loss", "pattern")
    assert run.status == 0, run.err
    assert formats.load(tmp_path / "x.gguf").decode_bytes([256]) == JOINER.encode()


def test_a_file_beside_it_makes_an_entry_special(tmp_path: Path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document(ALPHABET | {"<｜end｜>": 256, JOINER: 257})), "utf-8")
    assert formats.load(path).encode("<｜end｜>", specials="all") == [*"<｜end｜>".encode()]
    (tmp_path / "special_tokens_map.json").write_text(json.dumps({"eos_token": "<｜end｜>"}), "utf-8")
    tokenizer = formats.load(path)
    assert tokenizer.encode("<｜end｜>", specials="all") == [256]
    assert tokenizer.model.texts == ((257, JOINER.encode()),)
    assert tokenizer.usage.roles == (("eos", 256),)


def test_an_added_token_takes_the_id_that_the_vocabulary_gives_its_text():
    tokenizer = loads(ALPHABET | {"ab": 256}, [["a", "b"]], [added("ab", 300)])
    assert tokenizer.encode("ab cab") == [256, 32, 99, 256]
    assert tokenizer.vocab_size == 257


def test_an_added_token_that_is_spelt_as_a_byte_is_found_and_that_byte_is_decoded():
    """E9 is spelt é: the text é is the added token, and so is the byte in 隣, which is E9 9A A3."""
    tokenizer = loads(ALPHABET, added=[added("é", 0xE9)])
    assert tokenizer.encode("é 隣") == [0xE9, 32, 0xE9, 0x9A, 0xA3]
    assert tokenizer.decode_bytes([0xE9, 0x9A, 0xA3]) == "隣".encode()
    again = hf_json.loads(hf_json.dump(tokenizer)[""])
    assert again == tokenizer


def test_a_special_token_that_is_spelt_as_a_byte_leaves_that_byte_its_token():
    """Ġ is special, and a space is spelt so. Without a token for b the model is one of characters."""
    some = {character: byte for character, byte in ALPHABET.items() if character != "b"} | {"<unk>": 256}
    tokenizer = loads(some, added=[added("Ġ", 32, special=True)], unk_token="<unk>")
    assert not tokenizer.has_bytes
    assert tokenizer.encode("a b") == [97, 32, 256]
    assert tokenizer.encode("Ġ") == [0xC4, 0xA0]
    assert tokenizer.encode("Ġ", specials="all") == [32]


def test_an_unknown_token_matters_only_where_a_byte_has_none():
    assert loads(ALPHABET, unk_token="<unk>").has_bytes
    assert loads(ALPHABET | {"<unk>": 256}, unk_token="<unk>", byte_fallback=True).has_bytes
    some = {character: byte for character, byte in ALPHABET.items() if character != "b"}
    assert loads(some | {"<unk>": 256}, unk_token="<unk>").encode("ab") == [97, 256]
    with pytest.raises(FormatError, match="not in the vocabulary"):
        loads(some, unk_token="<unk>")
    with pytest.raises(InputError, match="byte 0x62"):
        loads(some).encode("ab")
    with pytest.raises(FormatError, match="fuse_unk"):
        loads(ALPHABET, fuse_unk=1)


def test_bytes_of_which_some_have_no_token_are_refused_beside_an_unknown_token():
    """What is unknown would stand behind the bytes that follow it: see the test of the same in tests/differential."""
    vocab = {"<unk>": 0, "<0xC3>": 1, "<0xA9>": 2}
    for fuse_unk in (False, True):
        with pytest.raises(FormatError, match="is true, and 2 of the 256 bytes have tokens") as refused:
            loads(vocab, unk_token="<unk>", byte_fallback=True, fuse_unk=fuse_unk)
        assert "all of them or to none" in str(refused.value.hint)
    assert loads(vocab, byte_fallback=True).model.unk_id is None
    assert loads({"<unk>": 0}, unk_token="<unk>", byte_fallback=True).model.unk_id == 0
