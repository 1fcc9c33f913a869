"""Whatever a caller gives, the answer is a result, a ``BpeError``, or a ``TypeError`` that names the argument."""

from __future__ import annotations

import ast
import inspect
import json
import operator
import re
from dataclasses import replace
from pathlib import Path

import pytest

import bpe_cli
from bpe_cli.errors import BpeError, InputError, UsageError
from bpe_cli.stages import SpecialToken
from tests.counted import at_least, compared
from tests.needs import needs

GPT2 = bpe_cli.load("gpt2")
HI = [{"role": "user", "content": "hi"}]
SMALL = bpe_cli.train(["a b a b"], vocab_size=258)


class Odd:
    """A value of no kind that anything takes."""

    def __repr__(self) -> str:
        return "odd"


WRONG = [
    None, True, False, 0, 1, -1, 5, 1 << 70, 1.5, float("nan"), 1j, "", "x", "<|endoftext|>", "\ud800", "\udc80",
    "a\0b", b"", b"\xff", bytearray(b"ab"), memoryview(b"ab"), memoryview(b"abcd").cast("I"), [], ["a"], [1], [None],
    [["a"]], [b"a"], [1 << 40], [-1], ["\ud800"], (), ("a", "b"), ("a", "b", "c"), {}, {"a": 1}, {1}, set(), range(3),
    Odd(), [Odd()], Odd, object, len, ..., Path("no-such-file"), iter(["a"]), [("a", "b")], [{"role": "user"}], [{}],
]  # fmt: skip
CALLS = {
    "Tokenizer.encode": (GPT2.encode, {"text": "a b"}),
    "Tokenizer.encode_batch": (GPT2.encode_batch, {"texts": ["a b"]}),
    "Tokenizer.encode_pair": (GPT2.encode_pair, {"first": "a", "second": "b"}),
    "Tokenizer.model_inputs": (GPT2.model_inputs, {"texts": ["a b"], "padding": "longest", "pad_id": 0}),
    "Tokenizer.count": (GPT2.count, {"text": "a b"}),
    "Tokenizer.count_batch": (GPT2.count_batch, {"texts": ["a b"]}),
    "Tokenizer.tokens": (GPT2.tokens, {"text": "a b"}),
    "Tokenizer.chunks": (lambda **given: list(GPT2.chunks(**given)), {"text": "a b", "max_tokens": 1}),
    "Tokenizer.truncate": (GPT2.truncate, {"text": "a b", "max_tokens": 1}),
    "Tokenizer.decode": (GPT2.decode, {"ids": [1]}),
    "Tokenizer.decode_bytes": (GPT2.decode_bytes, {"ids": [1]}),
    "Tokenizer.decode_batch": (GPT2.decode_batch, {"batch": [[1]]}),
    "Tokenizer.token_to_id": (GPT2.token_to_id, {"token": "a"}),
    "Tokenizer.id_to_token": (GPT2.id_to_token, {"token_id": 1}),
    "Tokenizer.place": (GPT2.place, {"text": "a b"}),
    "Tokenizer.save": (GPT2.save, {"path": "x", "format": "no such"}),
    "Tokenizer.apply_chat_template": (
        GPT2.apply_chat_template, {"messages": [{"role": "user", "content": "a"}], "chat_template": "{{ messages }}"},
    ),
    "EncodedBatch.pad": (GPT2.encode_batch(["a b", "c"]).pad, {"pad_id": 0}),
    "load": (bpe_cli.load, {"name_or_path": "gpt2"}),
    "convert": (bpe_cli.convert, {"source": GPT2, "output": "x", "format": "no such"}),
    "compare": (bpe_cli.compare, {"tokenizers": [SMALL], "texts": "a"}),
    "inspect": (bpe_cli.inspect, {"tokenizer": SMALL, "texts": "a"}),
    "encode_files": (bpe_cli.encode_files, {"tokenizer": GPT2, "files": "a.txt", "output": "x"}),
    "decode_files": (bpe_cli.decode_files, {"tokenizer": GPT2, "files": "1.txt", "output": "x"}),
    "segment_files": (bpe_cli.segment_files, {"tokenizer": GPT2, "files": "a.txt", "output": "x"}),
    "prepare": (
        bpe_cli.prepare, {"tokenizer": GPT2, "files": "a.txt", "folder": "x", "processes": 1, "overwrite": True},
    ),
    "add_tokens": (bpe_cli.add_tokens, {"tokenizer": SMALL, "tokens": ["c"]}),
    "prune": (bpe_cli.prune, {"tokenizer": SMALL, "texts": "a b", "size": 257}),
    "extend": (bpe_cli.extend, {"tokenizer": SMALL, "texts": "a b a b", "size": 259}),
    "merge": (bpe_cli.merge, {"tokenizer": SMALL, "other": SMALL}),
    "train": (bpe_cli.train, {"corpus": ["a b"], "vocab_size": 258}),
}  # fmt: skip
FURTHER = {"arguments", "options"}
"""Arguments by any name: what a template may look for, which may be anything, and options, which have names."""


CALLED = {name: operator.attrgetter(name)(bpe_cli) for name in CALLS}


def parameters(name: str) -> list[str]:
    return [each for each in inspect.signature(CALLED[name]).parameters if each != "self"]


def refusal(call) -> str | None:
    """Return what a TypeError says; None for a result and for an error that is made for users. Others pass."""
    try:
        call()
    except BpeError:
        return None
    except TypeError as error:
        return str(error)
    return None


@at_least(45)
@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_is_refused_in_words(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_bytes(b"a b")
    Path("1.txt").write_bytes(b"64 275")
    call, right = CALLS[name]
    for parameter in parameters(name):
        if parameter in FURTHER:
            parameter = "vocab_size" if parameter == "options" else "further"
        for value in WRONG:
            message = refusal(lambda given=right | {parameter: value}: call(**given))
            named = [parameter, parameter.rstrip("s"), "text of a pair", "special token", "corpus", "ids"]
            assert message is None or any(each in message for each in named), (parameter, value, message)
            compared()
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".tmp"] == []


FLAGS = [
    (name, parameter.name) for name in CALLS for parameter in inspect.signature(CALLED[name]).parameters.values()
    if isinstance(parameter.default, bool) and "str" not in str(parameter.annotation)
]  # fmt: skip


@pytest.mark.parametrize(("name", "parameter"), FLAGS)
def test_only_a_bool_says_yes_or_no(name, parameter, tmp_path, monkeypatch):
    """``prepare(overwrite="no")`` overwrote."""
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_bytes(b"a b")
    Path("1.txt").write_bytes(b"64 275")
    call, right = CALLS[name]
    for value in ("no", "", 0, 1, None):
        with pytest.raises(TypeError, match=f"^{parameter} must be a bool, not {type(value).__name__}$"):
            call(**right | {parameter: value})


def test_every_public_function_is_among_them():
    functions = {name for name in bpe_cli.__all__ if inspect.isfunction(getattr(bpe_cli, name))}
    assert functions == {name for name in CALLS if "." not in name}
    methods = {
        name for name, value in inspect.getmembers(bpe_cli.tokenizer.text_methods.TextMethods, inspect.isroutine)
        if not name.startswith("_")
    }  # fmt: skip
    assert methods == {name.split(".")[1] for name in CALLS if name.startswith("Tokenizer.")}


def test_what_users_met():
    """Each of these was another error once, or none."""
    with pytest.raises(TypeError, match=r"^text must be a str or bytes, not list$"):
        GPT2.encode(["a"])
    assert GPT2.encode(bytearray(b"a")) == GPT2.encode(memoryview(b"a")) == GPT2.encode(b"a")
    with pytest.raises(UsageError, match=r"specials is the str '<\|endoftext\|>'") as caught:
        GPT2.encode("a", specials="<|endoftext|>")
    assert caught.value.hint == "for this one token: specials=('<|endoftext|>',)"
    with pytest.raises(InputError, match=r"character 1 of the text is the lone surrogate U\+D800"):
        GPT2.encode("a\ud800")
    with pytest.raises(InputError, match="character 0 of the special token is the lone surrogate"):
        GPT2.encode("a", specials=["\ud800"])
    with pytest.raises((TypeError, UsageError), match="special_tokens"):
        bpe_cli.train(["abc abd"], vocab_size=300, special_tokens="abc")
    with pytest.raises((TypeError, UsageError)):
        bpe_cli.train("low lower")
    with pytest.raises(UsageError, match="colour"):
        bpe_cli.train(["low lower"], colour="red")
    with pytest.raises(UsageError, match="texts must be several texts, not one str"):
        GPT2.encode_batch("abc")
    with pytest.raises(TypeError, match=r"^texts\[1\] must be a str or bytes, not int$"):
        GPT2.encode_batch(["a", 1])
    with pytest.raises(TypeError, match=r"^ids must be token ids, not str$"):
        GPT2.decode("abc")
    with pytest.raises(UsageError, match="threads must be 1 or more, not 0"):
        GPT2.encode("a", threads=0)


def test_true_and_false_are_no_numbers():
    """``padding=True`` is how Hugging Face's library spells "longest"; it was the length 1, and padded nothing."""
    longest = GPT2.model_inputs(["a b c", "a"], padding="longest", pad_id=0)
    assert [each.ids for each in longest] == [(64, 275, 269), (64, 0, 0)]
    assert GPT2.model_inputs(["a b c", "a"], padding=True, pad_id=0) == longest
    plain = GPT2.model_inputs(["a b c", "a"])
    assert GPT2.model_inputs(["a b c", "a"], padding=False) == plain
    assert GPT2.model_inputs(["a b c", "a"], padding=None) == plain
    for name in ("max_tokens", "stride", "pad_id", "pad_to_multiple_of"):
        with pytest.raises(TypeError, match=f"^{name} must be an int, not bool$"):
            GPT2.model_inputs(["a b c", "a"], **{"padding": True, "pad_id": 0, "max_tokens": 2} | {name: True})
    with pytest.raises(TypeError, match=r"^max_tokens must be an int, not bool$"):
        GPT2.encode("a b c", max_tokens=True)


def test_arrays_of_any_kind_are_ids_as_lists_are():
    """``memoryview`` reads neither another byte order nor objects, and says so with a NotImplementedError."""
    np = needs("numpy")
    for kind in (">u2", ">u4", "<u4", ">i8", "<i8", "u1", object):
        ids = np.array([31, 64], dtype=kind)
        assert GPT2.decode(ids) == GPT2.decode([31, 64]) == "@a"
        assert GPT2.decode(ids, skip_special_tokens=True) == bpe_cli.StreamDecoder(GPT2).feed(ids) == "@a"
        assert GPT2.decode_batch([ids, ids[:0]]) == ["@a", ""]
    for single in (np.array(5), np.array(5, dtype=">u4"), np.array(5, dtype=object), np.uint32(5)):
        with pytest.raises(TypeError, match=r"^ids must be token ids, not a single one \(of type (ndarray|uint32)\)$"):
            GPT2.decode(single)
    for wrong in (np.array([1.5]), np.array([1.5], dtype=">f8"), np.array(["a"]), np.array([None]), np.array([[1, 2]]),
                  np.array([1], dtype="datetime64[s]"), np.array([-1], dtype=">i8")):  # fmt: skip
        with pytest.raises(InputError, match=r"at place 0 is not a token id$"):
            GPT2.decode(wrong)


def test_a_decoder_of_streams_is_given_a_tokenizer():
    with pytest.raises(TypeError, match=r"^tokenizer must be a Tokenizer, not str$"):
        bpe_cli.StreamDecoder("gpt2")
    with pytest.raises(UsageError, match=r"^errors must be 'strict' or 'replace' or 'ignore', not 'x'$"):
        bpe_cli.StreamDecoder(GPT2, errors="x")
    with pytest.raises(TypeError, match=r"^errors must be a str, not NoneType$"):
        bpe_cli.StreamDecoder(GPT2, errors=None)


@pytest.mark.parametrize("algorithm", ["bpe", "wordpiece", "unigram", "char"])
def test_half_a_character_in_a_corpus(algorithm):
    """It was blamed on the pattern, since the error of the codec is a ValueError."""
    with pytest.raises(InputError, match=r"^character 1 of the text at place 2 of the corpus is the lone .* U\+D800"):
        bpe_cli.train(["a", "b", "a\ud800"], vocab_size=260, algorithm=algorithm)
    with pytest.raises(InputError, match=r"^character 0 of the special token is the lone surrogate"):
        bpe_cli.train(["a b"], vocab_size=260, algorithm=algorithm, special_tokens=["\ud800"])


@pytest.mark.parametrize(
    ("tokens", "error", "message"),
    [
        ([SpecialToken(b"x", -1)], UsageError, "token_id of a special token must be 0 or more, not -1"),
        ([SpecialToken(b"x", 1 << 33)], UsageError, "token_id of a special token must be 4,294,967,295 or less"),
        ([SpecialToken(b"x", 5.0)], TypeError, "token_id of a special token must be an int, not float"),
        ([SpecialToken("<q>", 50257)], TypeError, "content of a special token must be bytes, not str"),
        *(
            ([replace(SpecialToken(b"<q>", 50257), **{name: value})], TypeError,
             f"{name} of a special token must be a bool, not {type(value).__name__}")
            for name in ("special", "single_word", "lstrip", "rstrip", "normalized") for value in (None, "false", 16)
        ),
        (["x"], TypeError, "tokens must be a list of special tokens, not str"),
        (SpecialToken(b"x", 50257), TypeError, "tokens must be a list of special tokens, not SpecialToken"),
        ("x", UsageError, "tokens must be several special tokens, not one str"),
        (None, TypeError, "tokens must be a list of special tokens, not NoneType"),
    ],
)  # fmt: skip
def test_special_tokens_that_are_none(tokens, error, message):
    with pytest.raises(error, match=f"^{message}$"):
        GPT2.with_special_tokens(tokens)


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (SpecialToken("<q>", 0), "content of a special token must be bytes, not str"),
        (SpecialToken(b"<q>", 0, None), "special of a special token must be a bool, not NoneType"),
        (SpecialToken(b"<q>", 0, lstrip="no"), "lstrip of a special token must be a bool, not str"),
    ],
)
def test_tokens_to_add_that_are_none(token, message):
    """They were added, and then no text could be encoded, or untrusted text became a control token."""
    with pytest.raises(TypeError, match=f"^{message}$"):
        bpe_cli.add_tokens(GPT2, [token])
    assert bpe_cli.add_tokens(GPT2, [SpecialToken(b"<q>", -1)]).tokenizer.special_tokens[-1].token_id == 50257


def test_frequencies_of_tokens_are_by_text_or_bytes():
    words = bpe_cli.train(["low lower newest widest"] * 3, "bpe", merges=4)
    for name in ("lo", b"lo"):
        found = words.with_longest_match(left_to_right=False, frequencies={name: 3})
        assert found == words.with_longest_match(left_to_right=False, frequencies={b"lo": 3})
    with pytest.raises(UsageError, match="the vocabulary has no token 'nope', which has a frequency"):
        words.with_longest_match(left_to_right=False, frequencies={"nope": 3})
    for wrong in ({1: 3}, ["low"]):
        with pytest.raises(TypeError, match="frequenc"):
            words.with_longest_match(left_to_right=False, frequencies=wrong)


def test_the_last_id():
    tokenizer = GPT2.with_special_tokens([SpecialToken(b"<q>", (1 << 32) - 1)])
    assert tokenizer.encode("a<q>", specials="all") == [64, (1 << 32) - 1]
    assert tokenizer.decode([64, (1 << 32) - 1]) == "a<q>"


def test_the_argument_is_called_as_it_is():
    for wrong in ("a", None, 1.0, 50256.0, 70000.5, [1]):
        with pytest.raises(TypeError, match=f"^token_id must be an int, not {type(wrong).__name__}$"):
            GPT2.token_bytes(wrong)
    with pytest.raises(TypeError, match=r"^text must be a str or bytes, not NoneType$"):
        GPT2.count(None)
    with pytest.raises(InputError, match=r"^character 1 of the text is the lone surrogate"):
        GPT2.count("a\ud800")


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        (lambda: GPT2.apply_chat_template(HI, chat_template="chatml"), "needs the special token",
         "`with_special_tokens` adds it"),
        (lambda: GPT2.apply_chat_template(HI, chat_template="gpt-3.5"), "needs the special token",
         "`tokenizer=cl100k_base` has it"),
        (lambda: bpe_cli.load("o200k_harmony").apply_chat_template(HI, chat_template="harmony", tools=[{}]),
         "does not describe tools",
         "the Jinja template that comes with the model, chat_template.jinja, does: see `chat_template`"),
        (lambda: bpe_cli.inspect("gpt2", json.dumps(HI), chat="openai"), "gives no ids",
         "name a layout by `chat=NAME`"),
        (lambda: bpe_cli.inspect("gpt2", json.dumps(HI), chat=True), "so `chat=NAME` must name one", None),
        (lambda: bpe_cli.compare(["gpt2"], ids=True), "compares two", "name two, or one and a library by `library`"),
        (lambda: bpe_cli.inspect("gpt2", Path("nofile-here")), "no such file", "`texts` takes a text itself"),
        (lambda: GPT2.encode("a", bos="x"), "^`bos` 'x' is neither", "its special token is <|endoftext|>"),
        (lambda: bpe_cli.load("gpt-4o").encode("a", eot=200_000), "^`eot` 200000 is neither",
         "its special tokens are <|endoftext|>, <|endofprompt|>"),
        (lambda: bpe_cli.encode_files("gpt-4o", __file__, "x", bos=200_000), "^`bos` 200000 is neither", None),
        (lambda: GPT2.encode("a", bos="auto"), "nothing in this tokenizer says",
         "`bos=NAME` says it; its special token is <|endoftext|>"),
        (lambda: SMALL.encode("a", eot="x"), "^`eot` 'x' is neither", "`with_special_tokens` adds one"),
        (lambda: SMALL.encode("a", eot="auto"), "nothing in this tokenizer says", "`eot=ID` says it"),
        (lambda: GPT2.encode("a", add_special_tokens=True), "would add nothing",
         '`eot="auto"` puts <|endoftext|> after each document'),
    ],
)  # fmt: skip
def test_messages_name_what_there_is_in_the_library(call, message, hint):
    """The command line puts its options in the place of these: ``cli.arguments.in_options``."""
    with pytest.raises(BpeError, match=message) as caught:
        call()
    assert hint is None or caught.value.hint == hint


@pytest.mark.parametrize(
    "call",
    [
        lambda missing: bpe_cli.encode_files("gpt2", missing, "x"),
        lambda missing: bpe_cli.encode_files("gpt2", missing, "x", to="chunks", size=2),
        lambda missing: bpe_cli.encode_files("gpt-4", missing, "x", documents="jsonl", chat=True),
        lambda missing: bpe_cli.segment_files("gpt2", missing, "x"),
        lambda missing: bpe_cli.decode_files("gpt2", missing, "x"),
        lambda missing: bpe_cli.train(missing, vocab_size=300),
        lambda missing: bpe_cli.train([missing], vocab_size=300),
        lambda missing: bpe_cli.prepare("gpt2", missing, "x"),
    ],
)
def test_a_missing_file_is_no_reason_to_name_an_argument_that_a_call_lacks(call, tmp_path):
    with pytest.raises(BpeError, match="no such file") as caught:
        call(tmp_path / "nofile-here")
    assert caught.value.hint is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: bpe_cli.train({"a": ["x"]}, vocab_size=300, weights={"b": 2}),
        lambda: bpe_cli.train(["x"], vocab_size=300, weights={"b": 2}),
        lambda: bpe_cli.train(["x"], vocab_size=300, alpha=0.3),
        lambda: bpe_cli.train(["x"], vocab_size=300, parity="base"),
    ],
)
def test_corpora_are_named_by_the_argument_that_there_is(call):
    with pytest.raises(BpeError) as caught:
        call()
    assert caught.value.hint is None or "`corpora`" not in caught.value.hint


def test_a_hint_at_losses_is_an_argument_that_is_taken(tmp_path):
    lossy = bpe_cli.load("cl100k_base")
    for write in (lossy.save, lambda *args, **named: bpe_cli.convert(lossy, *args, **named).files):
        with pytest.raises(BpeError) as caught:
            write(tmp_path / "pair", "vocab-merges")
        losses = ast.literal_eval(re.search("`allow_loss=([^`]+)`", caught.value.hint)[1])
        assert losses == ["pattern"]
        assert write(tmp_path / "pair", "vocab-merges", allow_loss=losses)


def test_results_of_calls(tmp_path):
    report = bpe_cli.inspect("gpt2", ["hello\nworld", "a"])
    assert [found.segmentation.token_count for _, found in report.value] == [3, 1]
    assert "bpe.inspect.tokenizer/1" in bpe_cli.inspect(SMALL).to_json()
    (tmp_path / "x.txt").write_text("hello world", encoding="utf-8")
    for texts in ("hello world", tmp_path / "x.txt", [tmp_path / "x.txt"], ["hello world"]):
        found = bpe_cli.compare(["gpt2", SMALL], texts)
        assert [measure.token_count for measure in found.value.total.measures] == [2, 11]
        assert "gpt2" in found.to_markdown()
    assert "<" in found._repr_html_()
