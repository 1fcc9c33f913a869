"""Decoding as ids come: worked examples, round trips, and Hugging Face's stored steps."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import InputError
from bpe_cli.formats import load
from bpe_cli.stages import (
    BPEDecoder,
    ByteFallback,
    Fuse,
    MetaspaceDecoder,
    ReplaceDecoder,
    SpaceMarksDecoder,
    SpecialToken,
    StripDecoder,
    WordLevel,
)
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.named_encodings import named
from bpe_cli.tokenizer.streaming import StreamDecoder
from tests.counted import at_least, compared

LLAMA = (ReplaceDecoder("▁", " "), ByteFallback(), Fuse(), StripDecoder(" ", 1, 0))
ALL_STRIPPED = (ReplaceDecoder("▁", " "), ByteFallback(), Fuse(), StripDecoder(" ", 1000, 0))
GPT2 = named("gpt2")
TOKENS = ["▁", "▁a", "b", "▁▁", "<0xE4>", "<0xBD>", "<0xA0>", "<0xFF>", "你", "c</w>", "d"]


def tokenizer_of(decoders, tokens=TOKENS) -> Tokenizer:
    return Tokenizer(WordLevel(Vocabulary.from_tokens(token.encode() for token in tokens)), decoder=tuple(decoders))


def stream(decoders, errors="replace") -> StreamDecoder:
    return StreamDecoder(tokenizer_of(decoders), errors)


def steps(going: StreamDecoder, ids: Iterable[int]) -> list[str | None]:
    """Return the text of each step as Hugging Face does: None for none."""
    return [going.feed([token_id]) or None for token_id in ids]


def by_token(decoders, tokens: list[str]) -> list[str | None]:
    return steps(stream(decoders), map(TOKENS.index, tokens))


def test_steps_by_example():
    assert by_token(LLAMA, ["▁", "▁a", "b", "▁▁", "b"]) == [None, " a", "b", "  ", "b"]
    assert by_token(LLAMA, ["▁a", "<0xE4>", "<0xBD>", "<0xA0>", "b"]) == ["a", None, None, "你", "b"]
    assert by_token((MetaspaceDecoder(),), ["▁a", "▁a", "▁", "b"]) == ["a", " a", " ", "b"]
    assert by_token((BPEDecoder(),), ["b", "c</w>", "d"]) == ["b", "c", " d"]


def test_blanks_are_kept_where_all_are_stripped_at_the_beginning(shared):
    assert by_token(ALL_STRIPPED, ["▁", "▁a", "▁", "▁▁", "▁", "b"]) == [None, "a", " ", "  ", " ", "b"]
    tokenizer = load(shared / "vocabs" / "spm-test_model" / "test_model.model")
    word, blank = tokenizer.encode("this"), tokenizer.model.vocabulary.id_of("▁".encode())
    ids = [*word, blank, blank, *word]
    going = StreamDecoder(tokenizer)
    text = "".join(map(str, (going.feed([each]) for each in ids))) + going.finish()
    assert text == tokenizer.decode(ids) == "this   this"


def test_what_can_become_no_character_is_given_out_at_once():
    assert by_token(LLAMA, ["<0xFF>", "b"]) == ["\ufffd", "b"]
    assert by_token(LLAMA, ["<0xE4>", "b"]) == [None, "\ufffdb"]


def test_finish_gives_what_is_left_and_begins_anew():
    going = stream(LLAMA)
    ids = [TOKENS.index(token) for token in ("▁a", "<0xE4>", "<0xBD>")]
    assert (going.feed(ids), going.finish()) == ("a", "\ufffd")
    assert (going.feed(ids[:1]), going.finish(), going.finish()) == ("a", "", "")


def test_strict_says_so():
    going = stream(LLAMA, errors="strict")
    with pytest.raises(InputError, match=r"not UTF-8: invalid start byte at byte 0$"):
        going.feed([TOKENS.index("<0xFF>")])


def test_decoders_that_change_what_came_before_are_refused():
    going = stream((Fuse(), ReplaceDecoder("b+$|^b", "x", literal=False)))
    assert going.feed([TOKENS.index("b")]) == "x"
    assert going.feed([TOKENS.index("d")]) == "d"
    going = stream((Fuse(), ReplaceDecoder("d(?=b)", "yy", literal=False)))
    assert going.feed([TOKENS.index("d")]) == "d"
    with pytest.raises(InputError, match="cannot be decoded as they arrive"):
        going.feed([TOKENS.index("b")])


@pytest.mark.parametrize("tokenizer", [tokenizer_of(LLAMA), tokenizer_of((MetaspaceDecoder(),)), GPT2])
def test_an_id_without_a_token_changes_nothing(tokenizer):
    """It stayed among the ids that are decoded again, and no id could be decoded after it."""
    first, second = tokenizer.token_to_id("▁a") or 64, tokenizer.token_to_id("b")
    whole = tokenizer.decode([first, second, first])
    going = StreamDecoder(tokenizer)
    given = going.feed([first])
    for wrong in ([99_999], [second, 99_999], [99_999, second], [-1], [second, -1]):
        with pytest.raises(InputError, match=r"(id 99999|-1) at place [01] (has no token in|is not a token id)"):
            going.feed(wrong)
    assert given + going.feed([second, first]) + going.finish() == whole
    assert going.feed([first]) == given


def test_finish_begins_anew_whatever_was_wrong():
    going = stream((Fuse(), ReplaceDecoder("d(?=b)", "yy", literal=False)))
    assert going.feed([TOKENS.index("d")]) == "d"
    with pytest.raises(InputError, match="cannot be decoded as they arrive"):
        going.feed([TOKENS.index("b")])
    assert (going.finish(), going.feed([TOKENS.index("d")]), going.finish()) == ("", "d", "")
    strict = (stream(LLAMA, errors="strict"), TOKENS.index("<0xE4>")), (StreamDecoder(GPT2, "strict"), 19526)
    for going, half in strict:
        assert going.feed([half]) == ""
        with pytest.raises(InputError, match="are not UTF-8"):
            going.finish()
        assert going.finish() == ""
        assert going._tokenizer.decode([1]) == going.feed([1]) + going.finish()


@at_least(2)
@given(st.lists(st.integers(0, len(TOKENS) - 1), max_size=30))
def test_joined_steps_are_the_whole_text(ids):
    for decoders in (LLAMA, ALL_STRIPPED, (ReplaceDecoder("▁", " "), ByteFallback())):
        whole = tokenizer_of(decoders).decode_bytes(ids)
        try:
            text = whole.decode()
        except UnicodeDecodeError:
            continue
        going = stream(decoders)
        assert going.feed(ids) + going.finish() == tokenizer_of(decoders).decode(ids) == text
        compared()


def test_an_endless_beginning_is_not_waited_for_for_ever(monkeypatch):
    calls = []
    decode = Tokenizer.decode_bytes
    monkeypatch.setattr(Tokenizer, "decode_bytes", lambda self, ids: (calls.append(len(ids)), decode(self, ids))[1])
    going = StreamDecoder(tokenizer_of((ByteFallback(),), ["<0xE4>"]))
    text = going.feed([0] * 500) + going.finish()
    assert text == "\ufffd" * 500
    assert max(calls) < 50


def test_control_pieces_are_not_kept(monkeypatch):
    """Each read as nothing, and all were decoded again with each one more."""
    pieces = Vocabulary.from_tokens(token.encode() for token in ("▁a", "b", "</s>"))
    specials = (SpecialToken(b"</s>", 2),)
    tokenizer = Tokenizer(WordLevel(pieces), special_tokens=specials, decoder=(SpaceMarksDecoder(),))
    calls = []
    decode = Tokenizer.decode_bytes
    monkeypatch.setattr(Tokenizer, "decode_bytes", lambda self, ids: (calls.append(len(ids)), decode(self, ids))[1])
    ids = [*[2] * 300, 0, *[2] * 300, 1, 0, *[2] * 300]
    going = StreamDecoder(tokenizer)
    assert "".join(going.feed([each]) for each in ids) + going.finish() == going.feed(ids) + going.finish() == "ab a"
    assert max(calls) < 50


def test_an_error_names_the_place_among_the_ids_that_were_fed():
    for tokenizer in (tokenizer_of(LLAMA), GPT2):
        going = StreamDecoder(tokenizer)
        going.feed([1, 2, 1])
        with pytest.raises(InputError, match=r"^id 99999 at place 1 has no token in this tokenizer"):
            going.feed([2, 99_999])


def test_decoders_are_heeded():
    """Without them the tokens' bytes would be joined, marks and all."""
    tokenizer = tokenizer_of((MetaspaceDecoder(),))
    ids = [TOKENS.index(token) for token in ("▁a", "b", "▁a")]
    assert StreamDecoder(tokenizer).feed(ids) == tokenizer.decode(ids) == "ab a"
    assert StreamDecoder(tokenizer_of(())).feed(ids) == "▁ab▁a"


@pytest.mark.parametrize("name", ["falcon", "hf-llama3", "hf-qwen2_5", "llama2-repaired", "phi-3-mini", "t5-small"])
def test_stored_steps(shared, name):
    stored = json.loads((shared / "expected" / "encoding-ops" / "decode_stream.json").read_text("utf-8"))
    cases = [case for case in stored["cases"] if case["tokenizer"] == name]
    assert cases
    tokenizer = load(shared / "vocabs" / name / "tokenizer.json")
    for case in cases:
        going = StreamDecoder(tokenizer)
        ours = steps(going, case["ids"])
        assert going.finish() == ""
        if tokenizer.decoder:
            assert ours == case["steps"]
        else:
            given = theirs = ""  # where tokens are bytes, what stands before an open character does not wait for it
            for step, expected in zip(ours, case["steps"], strict=True):
                given, theirs = given + (step or ""), theirs + (expected or "")
                assert given == theirs if expected else given.startswith(theirs)


FILES = ["clip", "falcon", "hf-llama3", "hf-qwen2_5", "phi-3-mini", "roberta-base", "t5-small", "whisper-tiny"]


@pytest.mark.parametrize("name", FILES)
def test_stored_texts_as_a_whole_and_as_they_come(shared, name):
    stored = json.loads((shared / "expected" / "hf-tokenizers" / f"{name}.json").read_text("utf-8"))
    tokenizer = load(shared / "vocabs" / name / "tokenizer.json")
    special = {token.token_id for token in tokenizer.special_tokens if token.special}
    suite = json.loads((shared / "expected" / "suite.json").read_text("utf-8"))["cases"]
    texts = {case["id"]: case["text"] for case in suite}
    for key, case in stored["cases"].items():
        ids = case["ids"]
        expected = case.get("decoded", texts[key])  # stored only where it is another text
        assert tokenizer.decode(ids) == expected, key
        without = [token_id for token_id in ids if token_id not in special]
        assert tokenizer.decode(without) == case.get("decoded_skip", expected), key
        if len(ids) < 40:
            going = StreamDecoder(tokenizer)
            assert going.feed(ids) + going.finish() == expected, key


@given(st.text(max_size=20), st.booleans())
def test_a_byte_level_tokenizer_comes_back_as_it_was(text, whole):
    tokenizer = named("gpt2")
    ids = tokenizer.encode(text)
    going = StreamDecoder(tokenizer)
    steps_given = [going.feed(ids)] if whole else [going.feed([token_id]) for token_id in ids]
    assert "".join([*steps_given, going.finish()]) == text


@given(st.lists(st.integers(0, 50256), max_size=30), st.sampled_from(["replace", "ignore"]))
def test_token_by_token_is_as_all_at_once(ids, errors):
    one_by_one, at_once = StreamDecoder(named("gpt2"), errors), StreamDecoder(named("gpt2"), errors)
    text = "".join([one_by_one.feed([token_id]) for token_id in ids * 2]) + one_by_one.finish()
    assert text == at_once.feed(ids * 2) + at_once.finish()
    assert text == named("gpt2").decode_bytes(ids * 2).decode("utf-8", errors)


def test_the_hint_of_strict_errors_is_true_where_it_is_given():
    """Without ``errors``, ``bpe decode`` gives bytes; in the library that means ``replace``."""
    tokenizer = named("gpt2")
    for call in (
        lambda: tokenizer.decode([187], errors="strict"),
        lambda: tokenizer.decode_batch([[187]], errors="strict"),
        lambda: StreamDecoder(tokenizer, errors="strict").feed([187]),
    ):
        with pytest.raises(InputError, match="are not UTF-8") as caught:
            call()
        assert caught.value.hint == (
            '`errors="replace"` or ignore decodes them all the same, decode_bytes gives the bytes as they are'
        )
