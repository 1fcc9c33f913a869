"""What goes the short way for one text, one id or one token is what the long way gives."""

from __future__ import annotations

import codecs
import dataclasses
import doctest
import inspect
import pickle
import re
import weakref
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import StreamDecoder, Tokenizer, load
from bpe_cli.errors import BpeError
from bpe_cli.stages import RankBpe, SpecialToken
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Token
from bpe_cli.tokenizer.encoded import CharacterOffsets

TEXTS: list[Any] = [
    "",
    b"",
    "one with \u00e9 and \u4e2d\u6587, <|endoftext|> too",
    "a family: \U0001f468\u200d\U0001f469\u200d\U0001f467",
    b"\xff no text \x80",
    "a byte that was escaped: \udcff",
    bytearray(b"may change"),
    "a few words " * 1000,
    "\u4f60\u597d" * 3000,
]
REFUSED: list[Any] = ["half \ud800 of a pair", 5, None, ["a"]]
LARGE = SpecialToken(b"<large>", 4_000_000_000)


def long_way(tokenizer: Tokenizer, text: Any, specials: Any = ()) -> list[Token]:
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text)
    placed, characters = tokenizer.place(text, specials), CharacterOffsets(data)
    columns = zip(placed.ids, placed.starts, placed.ends, placed.special, strict=True)
    return [
        Token(each, tokenizer.token_bytes(each), start, end, bool(special), *characters.span(start, end))
        for each, start, end, special in columns
    ]


@pytest.fixture(scope="module", params=["gpt2", "cl100k_base", "pattern", "stages", "large"])
def tokenizer(request):
    gpt2 = load("gpt2")
    match request.param:
        case "pattern":  # which the core has no scanner for
            return dataclasses.replace(
                gpt2, pre_tokenizer=(dataclasses.replace(gpt2.pre_tokenizer[0], pattern=r"\w+(?=!)|."),)
            )
        case "stages":
            from bpe_cli.stages import Lowercase

            return dataclasses.replace(gpt2, normalizer=(Lowercase(),))
        case "large":
            return gpt2.with_special_tokens([LARGE])
        case name:
            return load(name)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_one_text(tokenizer, text):
    long = tokenizer.encode(text, specials=[])
    assert [tokenizer.encode(text) for _ in range(2)] == [long, long]
    assert tokenizer.count(text) == tokenizer.count(text, specials=[]) == len(long)
    assert tokenizer.encode(text, threads=2) == long


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
@pytest.mark.parametrize("method", ["encode", "count", "tokens"])
def test_what_is_no_text(tokenizer, text, method):
    with pytest.raises((TypeError, BpeError), match="text") as long:
        getattr(tokenizer, method)(text, specials=[])
    with pytest.raises(type(long.value), match=f"^{re.escape(str(long.value))}$"):
        getattr(tokenizer, method)(text)


def test_a_byte_without_a_token():
    tokenizer = Tokenizer(RankBpe(Vocabulary.from_ids({b"a": 0, b"b": 1, b"ab": 2})))
    assert tokenizer.encode("abba") == [2, 1, 0]
    for method in (tokenizer.encode, tokenizer.count, tokenizer.tokens):
        with pytest.raises(BpeError, match="byte 0x63 at offset 2 has no token"):
            method("abc")


def test_arguments_that_only_equal_the_usual_ones():
    tokenizer = load("gpt2")
    assert tokenizer.encode("a b", specials=frozenset()) == [64, 275]
    for wrong, kind in ((1.0, "float"), (True, "bool")):
        with pytest.raises(TypeError, match=f"threads must be an int, not {kind}"):
            tokenizer.encode("a b", threads=wrong)


def test_special_ids_beyond_all_tokens():
    tokenizer = load("gpt2").with_special_tokens([LARGE])
    found = tokenizer.tokens("a<large>", specials=["<large>"])
    assert found[1] == Token(4_000_000_000, b"<large>", 1, 8, True, 1, 8)
    assert tokenizer.encode("a<large>", specials="all") == [64, 4_000_000_000]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_tokens(tokenizer, text):
    assert tokenizer.tokens(text) == long_way(tokenizer, text)
    assert tokenizer.tokens(text, specials="all") == long_way(tokenizer, text, "all")


@given(st.text(max_size=30) | st.binary(max_size=30))
def test_tokens_of_any_text(text):
    for name in ("gpt2", "cl100k_base"):
        assert load(name).tokens(text) == long_way(load(name), text)


def test_tokens_are_those_that_python_makes():
    (token,) = load("gpt2").tokens("hello")
    made = Token(31373, b"hello", 0, 5, False, 0, 5)
    assert type(token) is Token
    assert (token, repr(token), hash(token)) == (made, repr(made), hash(made))
    assert pickle.loads(pickle.dumps(token)) == made
    assert dataclasses.astuple(token) == dataclasses.astuple(made)
    assert dataclasses.replace(token, end=4) == dataclasses.replace(made, end=4)
    assert [type(getattr(token, name)) for name in token.__match_args__] == [int, bytes, int, int, bool, int, int]
    with pytest.raises(dataclasses.FrozenInstanceError, match="start"):
        token.start = 1


def test_a_class_without_slots_is_refused():
    engine = load("gpt2").engine
    for kind in (int, Tokenizer):
        with pytest.raises((TypeError, AttributeError), match=r"slots|attribute"):
            engine.token_objects(b"hello", None, (kind, {}, load("gpt2").token_bytes))


@pytest.mark.parametrize("broken", [0, 1])
def test_an_error_is_where_it_is_whether_ids_come_one_by_one_or_not(broken):
    ids = [*load("gpt2").encode("a few words \u00e9 "), 187, 64][: None if broken else -1]
    at_once, one_by_one = StreamDecoder(load("gpt2"), "strict"), StreamDecoder(load("gpt2"), "strict")
    with pytest.raises(BpeError, match="not UTF-8") as expected:
        at_once.feed(ids) + at_once.finish()
    with pytest.raises(BpeError, match="not UTF-8") as found:
        "".join([one_by_one.feed([each]) for each in ids]) + one_by_one.finish()
    assert str(found.value) == str(expected.value)


def test_a_known_id_after_half_a_character():
    begun, whole = load("gpt2").encode("\u4f60")[:1], load("gpt2").encode("a")
    decoder = StreamDecoder(load("gpt2"))
    assert [decoder.feed(ids) for ids in (whole, whole, begun, whole, whole)] == ["a", "a", "", "\ufffda", "a"]
    assert [decoder.feed(begun), decoder.finish(), decoder.feed(whole)] == ["", "\ufffd", "a"]


LISTS: list[list[int]] = [[], [31373, 995], [50256], [19526, 254], [19526], [187, 187, 64], [64] * 3000] * 20


@pytest.mark.parametrize("errors", ["replace", "ignore"])
def test_lists_of_ids(errors):
    for name in ("gpt2", "cl100k_base"):
        tokenizer = load(name)
        expected = [tokenizer.decode_bytes(ids).decode("utf-8", errors) for ids in LISTS]
        assert tokenizer.decode_batch(LISTS, errors) == expected
        assert tokenizer.decode_batch(iter(map(tuple, LISTS)), errors) == expected
        texts = [tokenizer.decode(ids) for ids in LISTS]
        contents = [
            text if "\ufffd" not in text else tokenizer.decode_bytes(ids)
            for ids, text in zip(LISTS, texts, strict=True)
        ]
        for threads in (1, 2, 5):
            assert tokenizer.engine.decode_lists(LISTS * 50, threads) == contents * 50


@pytest.mark.parametrize("wrong", [-1, 50257, 1 << 32, 1 << 70, "a", None, 1.0], ids=repr)
def test_a_list_with_what_is_no_id(wrong):
    tokenizer = load("gpt2")
    with pytest.raises((TypeError, BpeError), match=r"id|int") as one:
        tokenizer.decode([64, wrong])
    with pytest.raises(type(one.value), match=rf"^batch\[1\]: {re.escape(str(one.value))}$"):
        tokenizer.decode_batch([[64], [64, wrong]])


def test_lists_of_numbers_that_are_no_plain_ones():
    tokenizer = load("gpt2")
    assert tokenizer.decode_batch([[True, 64], (64,)]) == [tokenizer.decode([1, 64]), "a"]


def odd_bytes() -> Tokenizer:
    """Return a tokenizer of whole characters, parts of some, an id that is a special token's, and ids without one."""
    tokens = [b"a", b"<s>", "\u00e9".encode(), b"", b"\xe4", b"\xbd", b"\xa0", b"\xff", "x\u4f60".encode(), b"b\xe4"]
    vocabulary = Vocabulary.from_tokens(tokens)
    return Tokenizer(RankBpe(vocabulary), special_tokens=(SpecialToken(b"<special>", 1), LARGE))


ODD_IDS = [0, 1, 2, 4, 5, 6, 7, 8, 9, LARGE.token_id]


@pytest.mark.parametrize("errors", ["replace", "ignore"])
@given(st.lists(st.sampled_from(ODD_IDS), max_size=40))
def test_ids_one_by_one_are_what_pythons_own_decoder_makes_of_their_bytes(errors, ids):
    tokenizer = odd_bytes()
    decoder = StreamDecoder(tokenizer, errors)
    for _ in range(2):  # when texts are made, and when they are known
        textbook = codecs.getincrementaldecoder("utf-8")(errors)
        expected = [textbook.decode(tokenizer.decode_bytes([each])) for each in ids]
        assert [decoder.feed([each]) for each in ids] == expected
        assert decoder.finish() == textbook.decode(b"", final=True)


def test_what_is_no_id_is_refused_though_it_equals_one():
    for begun in ([], [[0]], [[4]]):
        for wrong in (3, -1, 10, 1 << 32, 1 << 70, "a", None, 0.0):
            decoder = StreamDecoder(odd_bytes())
            for ids in begun:
                decoder.feed(ids)
            with pytest.raises((BpeError, TypeError)):
                decoder.feed([wrong])
    decoder = StreamDecoder(odd_bytes())
    assert [decoder.feed([0]), decoder.feed((0,)), decoder.feed(iter([0, 0])), decoder.feed([])] == ["a", "a", "aa", ""]


def test_streams_of_one_tokenizer_do_not_share_what_is_begun():
    tokenizer = odd_bytes()
    one, other = StreamDecoder(tokenizer), StreamDecoder(tokenizer, "ignore")
    assert [one.feed([0]), one.feed([4]), other.feed([0]), one.feed([0]), other.feed([0])] == [
        "a",
        "",
        "a",
        "\ufffda",
        "a",
    ]


@pytest.mark.parametrize("size", [0, 1, 511, 512, 4095, 4096, 4097, 20_000])
@pytest.mark.parametrize("letter", ["a ", "\u00e9", "\u4f60 "])
def test_one_text_of_any_size_is_what_it_is_among_others(tokenizer, size, letter):
    text = (letter * size)[:size]
    for each in (text, text.encode(), text.encode()[:size]):
        (among,) = tokenizer.encode_batch([each])
        assert tokenizer.encode(each) == list(among)
        assert tokenizer.count(each) == len(among)


@given(st.lists(st.text(max_size=40) | st.binary(max_size=40), max_size=8))
def test_texts_one_after_the_other_leave_nothing_behind(texts):
    for tokenizer in (load("gpt2"), odd_bytes()):
        for text in texts:
            try:
                expected = [list(ids) for ids in tokenizer.encode_batch([text])]
            except BpeError:
                with pytest.raises(BpeError):
                    tokenizer.encode(text)
                with pytest.raises(BpeError):
                    tokenizer.count(text)
            else:
                assert ([tokenizer.encode(text)], tokenizer.count(text)) == (expected, len(expected[0]))


def test_what_encode_and_count_say_of_themselves():
    for method, own in ((Tokenizer.encode, Tokenizer._encode), (Tokenizer.count, Tokenizer._count)):
        (_, *said), (_, *taken) = (inspect.signature(each).parameters.values() for each in (method, own))
        assert [(each.name, each.default) for each in said] == [(each.name, each.default) for each in taken]
        examples = doctest.DocTestParser().get_doctest(method.__doc__, {}, method.__name__, None, None)
        assert doctest.DocTestRunner().run(examples) == (0, len(examples.examples))
        assert len(examples.examples) > 1
    with pytest.raises(TypeError, match="positional"):
        load("gpt2").encode("a", "b")
    with pytest.raises(TypeError, match=r"^Tokenizer\.encode\(\) got an unexpected keyword argument 'colour'"):
        load("gpt2").encode("a", colour=1)


def test_a_tokenizer_that_knows_its_encoder_goes_with_its_last_user():
    tokenizer = dataclasses.replace(load("gpt2"), name="another")
    assert [tokenizer.encode("a") for _ in range(2)] == [[64], [64]]
    seen = weakref.ref(tokenizer)
    del tokenizer
    assert seen() is None  # at once: nothing in it refers to it
