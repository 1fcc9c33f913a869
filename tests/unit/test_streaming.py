"""Decoding as ids come: worked examples, round trips, and Hugging Face's stored steps."""

from __future__ import annotations

import json
from array import array
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import _core
from bpe_cli.encodings import named
from bpe_cli.errors import InputError
from bpe_cli.stages import BPEDecoder, ByteFallback, Fuse, MetaspaceDecoder, ReplaceDecoder, StripDecoder
from bpe_cli.stages.component_json import component
from bpe_cli.streaming import DecodeStream

LLAMA = (ReplaceDecoder("▁", " "), ByteFallback(), Fuse(), StripDecoder(" ", 1, 0))
TOKENS = ["▁", "▁a", "b", "▁▁", "<0xE4>", "<0xBD>", "<0xA0>", "<0xFF>", "你", "c</w>", "d"]


def decoder_of(spec: str, tokens: list[bytes]):
    """Give a function that decodes ids; ``tokens`` are by id."""
    decoder = _core.Decoder(spec)
    ends = array("I")
    for token in tokens:
        ends.append(len(token) + (ends[-1] if ends else 0))
    blob, fixed = b"".join(tokens), memoryview(ends).toreadonly()
    return lambda ids: decoder.decode(array("I", ids), blob, fixed, b"", b"", b"")


def chain(decoders) -> str:
    return json.dumps([component(decoder) for decoder in decoders])


def stream(decoders, **settings) -> DecodeStream:
    return DecodeStream(decoder_of(chain(decoders), [token.encode() for token in TOKENS]), **settings)


def steps(decoders, tokens: list[str]) -> list[str | None]:
    going = stream(decoders)
    return [going.step(TOKENS.index(token)) for token in tokens]


def test_steps_by_example():
    assert steps(LLAMA, ["▁", "▁a", "b", "▁▁", "b"]) == [None, " a", "b", "  ", "b"]
    assert steps(LLAMA, ["▁a", "<0xE4>", "<0xBD>", "<0xA0>", "b"]) == ["a", None, None, "你", "b"]
    assert steps((MetaspaceDecoder(),), ["▁a", "▁a", "▁", "b"]) == ["a", " a", " ", "b"]
    assert steps((BPEDecoder(),), ["b", "c</w>", "d"]) == ["b", "c", " d"]


def test_what_can_become_no_character_is_given_out_at_once():
    assert steps(LLAMA, ["<0xFF>", "b"]) == ["\ufffd", "b"]
    assert steps(LLAMA, ["<0xE4>", "b"]) == [None, "\ufffdb"]


def test_finish_gives_what_is_left_and_begins_anew():
    going = stream(LLAMA)
    ids = [TOKENS.index(token) for token in ("▁a", "<0xE4>", "<0xBD>")]
    assert (going.feed(ids), going.finish()) == ("a", "\ufffd")
    assert (going.feed(ids[:1]), going.finish(), going.finish()) == ("a", "", "")


def test_strict_says_so():
    going = stream(LLAMA, errors="strict")
    with pytest.raises(InputError, match="not UTF-8"):
        going.step(TOKENS.index("<0xFF>"))


def test_decoders_that_change_what_came_before_are_refused():
    going = stream((Fuse(), ReplaceDecoder("b+$|^b", "x", literal=False)))
    assert going.step(TOKENS.index("b")) == "x"
    assert going.step(TOKENS.index("d")) == "d"
    going = stream((Fuse(), ReplaceDecoder("d(?=b)", "yy", literal=False)))
    assert going.step(TOKENS.index("d")) == "d"
    with pytest.raises(InputError, match="cannot be decoded as it comes"):
        going.step(TOKENS.index("b"))


@given(st.lists(st.integers(0, len(TOKENS) - 1), max_size=30))
def test_joined_steps_are_the_whole_text(ids):
    for decoders in (LLAMA, (ReplaceDecoder("▁", " "), ByteFallback())):
        going = stream(decoders)
        whole = decoder_of(chain(decoders), [token.encode() for token in TOKENS])(ids)
        try:
            text = whole.decode()
        except UnicodeDecodeError:
            continue
        assert going.feed(ids) + going.finish() == text


def test_an_endless_beginning_is_not_waited_for_for_ever():
    calls = []
    decode = decoder_of(chain((ByteFallback(),)), [b"<0xE4>"])
    going = DecodeStream(lambda ids: (calls.append(len(ids)), decode(ids))[1])
    text = going.feed([0] * 500) + going.finish()
    assert text == "\ufffd" * 500
    assert max(calls) < 50


@cache
def decode_of_file(path):
    """Give what decodes ids of a ``tokenizer.json``: its decoder, over all of its tokens as it writes them."""
    content = json.loads(path.read_text("utf-8"))
    vocab = content["model"]["vocab"]
    tokens = {token: token_id for token_id, (token, _) in enumerate(vocab)} if isinstance(vocab, list) else dict(vocab)
    tokens |= {token["content"]: token["id"] for token in content["added_tokens"]}
    by_id = [b""] * (max(tokens.values()) + 1)
    for token, token_id in tokens.items():
        by_id[token_id] = token.encode()
    decoder = content["decoder"]
    parts = decoder["decoders"] if decoder["type"] == "Sequence" else [decoder]
    known = {"ByteLevel": (), "Metaspace": ("replacement", "prepend_scheme", "split")}
    for part in parts:
        keys = known.get(part["type"], part.keys() - {"type"})
        defaults = {"prepend_scheme": "always", "split": True}
        for key in part.keys() - {"type", *keys}:
            del part[key]
        part.update({key: defaults[key] for key in keys if key not in part})
    special = {token["id"] for token in content["added_tokens"] if token["special"]}
    return decoder_of(json.dumps(parts), by_id), special


@pytest.mark.parametrize("name", ["falcon", "hf-llama3", "hf-qwen2_5", "llama2-repaired", "phi-3-mini", "t5-small"])
def test_stored_steps(shared, name):
    stored = json.loads((shared / "expected" / "encoding-ops" / "decode_stream.json").read_text("utf-8"))
    cases = [case for case in stored["cases"] if case["tokenizer"] == name]
    assert cases
    decode, _ = decode_of_file(shared / "vocabs" / name / "tokenizer.json")
    for case in cases:
        going = DecodeStream(decode)
        assert [going.step(token_id) for token_id in case["ids"]] == case["steps"]
        assert going.finish() == ""


FILES = ["clip", "falcon", "hf-llama3", "hf-qwen2_5", "phi-3-mini", "roberta-base", "t5-small", "whisper-tiny"]


@pytest.mark.parametrize("name", FILES)
def test_stored_texts_as_a_whole_and_as_they_come(shared, name):
    stored = json.loads((shared / "expected" / "hf-tokenizers" / f"{name}.json").read_text("utf-8"))
    decode, special = decode_of_file(shared / "vocabs" / name / "tokenizer.json")
    suite = json.loads((shared / "expected" / "suite.json").read_text("utf-8"))["cases"]
    texts = {case["id"]: case["text"] for case in suite}
    for key, case in stored["cases"].items():
        ids = case["ids"]
        expected = case.get("decoded", texts[key])  # stored only where it is another text
        text = decode(ids)
        assert text.decode("utf-8", "replace") == expected, key
        without = [token_id for token_id in ids if token_id not in special]
        assert decode(without).decode("utf-8", "replace") == case.get("decoded_skip", expected), key
        if len(ids) < 40:
            going = DecodeStream(decode)
            assert (going.feed(ids) + going.finish()).encode() == text, key


@given(st.text(max_size=20), st.booleans())
def test_a_byte_level_tokenizer_comes_back_as_it_was(text, whole):
    tokenizer = named("gpt2")
    ids = tokenizer.encode(text)
    going = DecodeStream(tokenizer.decode)
    steps_given = [going.feed(ids)] if whole else [going.step(token_id) or "" for token_id in ids]
    assert "".join([*steps_given, going.finish()]) == text
