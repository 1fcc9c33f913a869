"""``bpe_cli.compat.tiktoken`` is tiktoken: every method, every error and what it says."""

# ruff: noqa: B023  # every call is made at once

from __future__ import annotations

import copy
import inspect
import pickle
from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_cli.compat import tiktoken as ours
from bpe_cli.tokenizer import named_encodings
from tests.counted import at_least, compared
from tests.differential.rivals import tiktoken_encoding
from tests.differential.texts import MIXED, random_texts, unicode_texts
from tests.needs import needs
from tests.thorough import more

theirs = needs("tiktoken")
np = needs("numpy")

NAMES = list(named_encodings.ENCODINGS)
DISTINCT = ["gpt2", "cl100k_base", "o200k_harmony"]
SMALL = {
    "pat_str": r"\w+|\W",
    "mergeable_ranks": {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"\xe4\xbd": 257},
    "special_tokens": {"<|endoftext|>": 300, "<|end|>": 301},
}


@cache
def pair(name: str) -> tuple[ours.Encoding, theirs.Encoding]:
    if name == "small":
        return ours.Encoding(name, **SMALL), theirs.Encoding(name, **SMALL)
    return ours.get_encoding(name), tiktoken_encoding(name)


def outcome(call) -> object:
    """Return what a call gives, or which error it raises with which arguments."""
    try:
        value = call()
    except Exception as error:
        return type(error), error.args
    if isinstance(value, np.ndarray):
        return value.dtype, value.tolist()
    return type(value), value


# -- the interface -------------------------------------------------------------------------------------


def public(value: object) -> dict[str, object]:
    return {name: inspect.getattr_static(value, name) for name in dir(value) if not name.startswith("_")}


def signature(value: object) -> list[tuple[object, ...]]:
    """Return the parameters: names, kinds and defaults; a set is as good as a frozenset."""
    parameters = inspect.signature(value).parameters.values()
    return [(each.name, each.kind, set() if each.default == frozenset() else each.default) for each in parameters]


def test_every_public_name_is_there_with_its_signature():
    modules = {"core", "load", "model", "registry"}  # tiktoken's files
    names = {name for name in public(theirs) if name not in modules}
    assert names == set(ours.__all__)
    for name in names:
        assert signature(getattr(ours, name)) == signature(getattr(theirs, name)), name
    methods = public(theirs.Encoding)
    assert public(ours.Encoding).keys() == methods.keys()
    for name, method in methods.items():
        if inspect.isfunction(method):
            assert signature(getattr(ours.Encoding, name)) == signature(method), name
    assert ours.__version__ == theirs.__version__


@pytest.mark.parametrize("name", [*NAMES, "small"])
def test_attributes(name):
    one, other = pair(name)
    for attribute in ("name", "max_token_value", "n_vocab", "eot_token", "special_tokens_set", "_pat_str"):
        assert getattr(one, attribute) == getattr(other, attribute), attribute
    assert one._special_tokens == other._special_tokens
    assert one._mergeable_ranks == other._mergeable_ranks
    assert repr(one) == repr(other)
    assert one.token_byte_values() == other.token_byte_values()


def test_models():
    assert ours.list_encoding_names() == theirs.list_encoding_names()
    names = [*theirs.model.MODEL_TO_ENCODING, *(f"{prefix}x" for prefix in theirs.model.MODEL_PREFIX_TO_ENCODING)]
    for model in [*names, "x", "", "GPT-4", "gpt-4", "cl100k_base"]:
        assert outcome(lambda: ours.encoding_name_for_model(model)) == outcome(
            lambda: theirs.encoding_name_for_model(model)
        ), model
    assert ours.encoding_for_model("gpt-4o") is ours.get_encoding("o200k_base")
    for wrong in ("no such", "", 5, None, b"gpt2"):
        assert outcome(lambda: ours.get_encoding(wrong)) == outcome(lambda: theirs.get_encoding(wrong)), wrong


# -- text and ids --------------------------------------------------------------------------------------

SURROGATES = st.text(st.sampled_from("\ud800\udc00\udc80\ud83d\ude00a "), max_size=5)


@pytest.mark.parametrize("name", [*DISTINCT, "p50k_edit", "small"])
@given(data=st.data())
def test_texts(name, data):
    one, other = pair(name)
    specials = st.sampled_from(sorted(one.special_tokens_set))
    some = specials | specials.flatmap(lambda text: st.integers(0, len(text)).map(lambda cut: text[:cut]))
    text = "".join(data.draw(st.lists(some | MIXED | SURROGATES | unicode_texts(), max_size=5)))
    allowed = data.draw(st.just("all") | st.sets(specials, max_size=3) | st.frozensets(specials, max_size=2))
    disallowed = data.draw(st.just("all") | st.just(()) | st.lists(specials, max_size=3, unique=True))
    assert one.encode_ordinary(text) == other.encode_ordinary(text)
    options = {"allowed_special": allowed, "disallowed_special": disallowed}
    for method in ("encode", "encode_to_numpy"):
        found = outcome(lambda: getattr(one, method)(text, **options))
        expected = outcome(lambda: getattr(other, method)(text, **options))
        assert found == expected or both_refuse(found, expected), method
    found = outcome(lambda: one.encode_batch([text, "x", text], num_threads=2, **options))
    expected = outcome(lambda: other.encode_batch([text, "x", text], num_threads=2, **options))
    assert found == expected or both_refuse(found, expected)
    assert one.encode_ordinary_batch([text, "x"]) == other.encode_ordinary_batch([text, "x"])
    ids = one.encode(text, allowed_special="all")
    for method in ("decode", "decode_bytes", "decode_tokens_bytes", "decode_with_offsets"):
        for some_ids in (ids, tuple(ids), np.array(ids, np.uint32), ids[1:]):
            call = [lambda each=each: getattr(each, method)(some_ids) for each in (one, other)]
            assert outcome(call[0]) == outcome(call[1]), method


def both_refuse(found: object, expected: object) -> bool:
    """Return whether both refuse special tokens, be it another one of those that begin at one place."""
    kinds = found[0], expected[0]
    return kinds == (ValueError, ValueError) and found[1][0].startswith("Encountered text") == expected[1][
        0
    ].startswith("Encountered text")


@at_least(1200)
@pytest.mark.parametrize("name", DISTINCT)
def test_many_texts_at_once(name):
    one, other = pair(name)
    texts = [text for text in random_texts(1500, seed=3) if not any(each in text for each in one.special_tokens_set)]
    found, expected = one.encode_batch(texts), other.encode_batch(texts)
    assert found == expected
    assert one.decode_batch(found) == other.decode_batch(expected) == texts
    assert one.decode_bytes_batch(found, num_threads=2) == other.decode_bytes_batch(expected)
    compared(len(texts))


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "small"])
@settings(max_examples=15)
@given(text=st.text(st.sampled_from("aé你 \n\tb!?'1<|end|>"), max_size=8))
def test_what_a_text_may_become(name, text):
    one, other = pair(name)
    found = one.encode_with_unstable(text, allowed_special="all")
    expected = other.encode_with_unstable(text, allowed_special="all")
    assert found[0] == expected[0]
    assert Counter(map(tuple, found[1])) == Counter(map(tuple, expected[1]))


@pytest.mark.parametrize("text", ["hello fanta", "a\n\n", "a  ", "x \n <|endoftext|>", "<|endoftext|> ", "你", "I'l"])
def test_what_a_text_with_spaces_may_become(text):
    """A blank at the end is the beginning of most tokens: those of the larger vocabulary are all tried for one text."""
    for name in ("gpt2",) if text == more("<|endoftext|> ", None) else ("gpt2", "o200k_base"):
        one, other = pair(name)
        ways = [{"disallowed_special": ()}, {"allowed_special": "all"}]
        for options in ways if "<|" in text else ways[1:]:
            found = one.encode_with_unstable(text, **options)
            expected = other.encode_with_unstable(text, **options)
            assert found[0] == expected[0]
            assert Counter(map(tuple, found[1])) == Counter(map(tuple, expected[1]))


PARTS = [b"\xff", b"\xe4\xbd", b"\xa0", b"\xed\xa0\x80", b"\xf0\x9f", b"1234567", b" ", b"\n", b"\t ", b"hello",
         b" you", "你".encode(), "é".encode(), b"!", b"<|endoftext|>"]  # fmt: skip


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base", "small"])
@given(data=st.binary(max_size=12) | st.lists(st.sampled_from(PARTS), max_size=8).map(b"".join))
def test_bytes_that_are_no_text(name, data):
    """Behind what is not UTF-8 nothing is split: it was."""
    one, other = pair(name)
    for each in (data, b"\xff1234567" + data):
        assert one._encode_bytes(each) == other._encode_bytes(each)


@pytest.mark.parametrize("name", [*NAMES, "small"])
def test_tokens(name):
    one, other = pair(name)
    numbers = [*range(0, one.n_vocab + 3, 1 + one.n_vocab // 2000), *one._special_tokens.values()]
    for number in numbers:
        for method in ("decode_single_token_bytes", "is_special_token"):
            found = outcome(lambda: getattr(one, method)(number))
            assert found == outcome(lambda: getattr(other, method)(number)), (method, number)
        content = outcome(lambda: one.decode_single_token_bytes(number))[1]
        if isinstance(content, bytes):
            assert one.encode_single_token(content) == other.encode_single_token(content)
            assert one._encode_single_piece(content) == other._encode_single_piece(content)
    for text in one.special_tokens_set:
        assert one.encode_single_token(text) == other.encode_single_token(text)


# -- wrong arguments -----------------------------------------------------------------------------------

WRONG = [
    "ab", b"ab", bytearray(b"ab"), "", 5, -1, 1 << 40, 1 << 70, 1.5, None, True, [], ["a"], [1, None], {1: 2}, {1},
    [300, 400, -1], [299], range(3), [[1]], iter([1]), "\udc80", object, "<|end|>", ["<|end|>", 5], [-1, "a"],
]  # fmt: skip
METHODS = {
    "encode": ["text", "allowed_special", "disallowed_special"],
    "encode_ordinary": ["text"],
    "encode_to_numpy": ["text", "allowed_special", "disallowed_special"],
    "encode_batch": ["text", "allowed_special", "disallowed_special"],
    "encode_ordinary_batch": ["text"],
    "encode_with_unstable": ["text", "allowed_special", "disallowed_special"],
    "encode_single_token": ["text_or_bytes"],
    "decode": ["tokens", "errors"],
    "decode_bytes": ["tokens"],
    "decode_single_token_bytes": ["token"],
    "decode_tokens_bytes": ["tokens"],
    "decode_with_offsets": ["tokens"],
    "decode_batch": ["batch"],
    "decode_bytes_batch": ["batch"],
    "is_special_token": ["token"],
}
RIGHT = {"text": "ab<|end|>", "text_or_bytes": "a", "tokens": [97, 200], "token": 97, "batch": [[97]]}


@pytest.mark.parametrize("method", METHODS)
def test_wrong_arguments_are_refused_in_the_same_words(method):
    one, other = pair("small")
    first = METHODS[method][0]
    for name in METHODS[method]:
        for place, wrong in enumerate(WRONG):
            given = [copy.copy(wrong) if wrong is not WRONG[20] else iter([1]) for _ in range(2)]
            arguments = [{first: ["ab"] if "batch" in method and first == "text" else RIGHT[first], name: each}
                         for each in given]  # fmt: skip
            if name == "allowed_special":  # so that it is looked at by tiktoken's compiled half
                variants = [{}, {"disallowed_special": ()}]
            else:
                variants = [{}]
            for others in variants:
                found = outcome(lambda others=others: getattr(one, method)(**arguments[0], **others))
                expected = outcome(lambda others=others: getattr(other, method)(**arguments[1], **others))
                if method == "encode_with_unstable" and found[0] is tuple:
                    found, expected = sorted(found[1][1]), sorted(expected[1][1])
                assert found == expected, (name, place, wrong, others)
    assert outcome(lambda: one.encode_batch(["a"], num_threads=0)) == outcome(
        lambda: other.encode_batch(["a"], num_threads=0)
    )


@pytest.mark.parametrize("method", ["encode_batch", "encode_ordinary_batch", "decode_batch", "decode_bytes_batch"])
def test_no_number_of_threads_is_as_many_as_there_are_processors(method):
    one, other = pair("small")
    batch = [[97, 256], []] if method.startswith("decode") else ["ab", ""]
    found, expected = (getattr(each, method)(batch, num_threads=None) for each in (one, other))
    assert found == expected
    assert len(found) == 2


def test_wrong_encodings_are_refused():
    ranks = {b"a": 0, b"b": 5}
    for changes in (
        {"explicit_n_vocab": 3}, {"mergeable_ranks": {}}, {"mergeable_ranks": [1]}, {"special_tokens": None},
        {"pat_str": 5}, {"mergeable_ranks": {"a": 0}}, {"mergeable_ranks": {b"a": "0"}}, {"special_tokens": {b"z": 1}},
        {"mergeable_ranks": {b"a": -1}}, {"explicit_n_vocab": 7, "special_tokens": {"z": 6}},
    ):  # fmt: skip
        options = {"pat_str": ".", "mergeable_ranks": ranks, "special_tokens": {}} | changes
        found, expected = (outcome(lambda kind=kind: kind("x", **options)) for kind in (ours.Encoding, theirs.Encoding))
        assert found == expected, changes
    for changes in ({"pat_str": "("}, {"mergeable_ranks": {b"a": 0, b"b": 0}}):  # tiktoken has other words, or panics
        with pytest.raises(ValueError, match=r"does not compile|id 0 is given to"):
            ours.Encoding("x", **({"pat_str": ".", "mergeable_ranks": ranks, "special_tokens": {}} | changes))


def test_what_no_piece_covers_is_dropped():
    options = {"pat_str": "a+|b", "mergeable_ranks": SMALL["mergeable_ranks"], "special_tokens": {"z": 999, "y": 999}}
    one, other = ours.Encoding("x", **options), theirs.Encoding("x", **options)
    for text in ("aaxb", "", "xx", "abab", "zaz"):
        assert one.encode_ordinary(text) == other.encode_ordinary(text), text
        assert one.encode(text, allowed_special="all") == other.encode(text, allowed_special="all")


@pytest.mark.parametrize("name", ["gpt2", "o200k_harmony", "small"])
def test_an_encoding_can_be_copied_and_pickled(name):
    one, _ = pair(name)
    one.encode("ab<|endoftext|>", allowed_special="all")
    for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert other.encode("ab cd<|endoftext|>", allowed_special="all") == one.encode(
            "ab cd<|endoftext|>", allowed_special="all"
        )
        assert (other.name, other.n_vocab) == (one.name, one.n_vocab)
    if name != "small":
        assert len(pickle.dumps(one)) < 200


def test_an_encoding_is_extended_as_tiktokens_page_shows():
    base = ours.get_encoding("cl100k_base")
    chat = ours.Encoding(
        name="cl100k_im",
        pat_str=base._pat_str,
        mergeable_ranks=base._mergeable_ranks,
        special_tokens={**base._special_tokens, "<|im_start|>": 100264, "<|im_end|>": 100265},
    )
    assert chat.encode("<|im_start|>hi<|im_end|>", allowed_special="all") == [100264, 6151, 100265]
    assert chat.decode([100264, 6151, 100265]) == "<|im_start|>hi<|im_end|>"
    assert not chat._tokenizer.slow_patterns
