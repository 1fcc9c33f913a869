"""Whatever stands in a file: a tokenizer or an error for the user, never a traceback."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import formats
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.formats.byte_level import tiktoken_ranks
from bpe_cli.formats.features import LOSSES
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.formats.huggingface import vocab_merges
from bpe_cli.stages.patterns import PATTERNS
from tests.counted import at_least, compared
from tests.thorough import more

REFUSALS = (FormatError, InputError)


@pytest.fixture(scope="module")
def document(tiny) -> bytes:
    return hf_json.dump(tiny)[""]


def try_json(data: bytes) -> None:
    """Read; what can be read must come out again, or be refused."""
    try:
        tokenizer = hf_json.loads(data)
        written = hf_json.dump(tokenizer)[""]
    except REFUSALS:
        return
    assert hf_json.loads(written) == tokenizer
    compared()


def try_ranks(data: bytes) -> None:
    try:
        tokenizer = tiktoken_ranks.loads(data, pattern="x")
    except REFUSALS:
        return
    written = tiktoken_ranks.dump(tokenizer, LOSSES)[""]
    assert tiktoken_ranks.loads(written, pattern="x") == tokenizer
    compared()


def test_tiny_reads_back(tiny, document):
    assert hf_json.loads(document) == tiny


def test_json_cut_at_every_byte(document):
    for end in range(len(document)):
        with pytest.raises(FormatError):
            hf_json.loads(document[:end])


@at_least(20)
def test_ranks_cut_at_every_byte(make):
    data = tiktoken_ranks.dump(make(alphabet=b"helo w!", ranks=True), LOSSES)[""]
    for end in range(len(data)):
        try_ranks(data[:end])


@at_least(1)
@given(data=st.data())
def test_json_with_changed_bytes(document, data):
    changed = bytearray(document)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(changed) - 1))
        changed[place] ^= data.draw(st.integers(1, 255) | st.sampled_from([1, 2, 32]))
    try_json(bytes(changed))


@at_least(1)
@given(data=st.data())
def test_ranks_with_changed_bytes(data):
    changed = bytearray(b"YQ== 0\nYg== 1\nYWI= 2\n\nYWJhYg== 7\n")
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(changed) - 1))
        changed[place] ^= data.draw(st.integers(1, 255))
    try_ranks(bytes(changed))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.sampled_from([0, 1, 2, 3, 12, 2**21, 2**31, 2**32 - 1, 2**32, 2**64])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4)
    | st.sampled_from(["ab", "Ġ", "a b", "<s>", "ByteLevel", "Split", "Sequence", "BPE", "Isolated", "\x00", "("]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def places(value, path=()):
    """Yield the path of every value in a document."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def altered(value, path, new, *, drop=False):
    """Return a copy in which the value at a path is another, or gone."""
    if not path:
        return new
    copy = value.copy()
    if drop and len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = altered(value[path[0]], path[1:], new, drop=drop)
    return copy


@at_least(1)
@given(data=st.data())
def test_json_with_values_of_other_types(document, data):
    value = json.loads(document)
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(list(places(value))))
        value = altered(value, path, data.draw(VALUES), drop=bool(path) and data.draw(st.booleans()))
    try_json(json.dumps(value).encode())


@at_least(150)
def test_every_value_of_every_other_type(document):
    """The same without chance: each value in turn becomes each of a few others."""
    value = json.loads(document)
    far = more(10**5, 10**6)
    for path in places(value):
        for new in (None, True, -1, 0, far, 2**32, 2**70, 0.5, "", "ab", [], ["a"], [[]], {}, {"type": "x"}):
            try_json(json.dumps(altered(value, path, new)).encode())
        if path:
            try_json(json.dumps(altered(value, path, None, drop=True)).encode())


@at_least(1)
@given(vocab=VALUES | st.dictionaries(st.sampled_from("abĠ"), st.integers(-1, 4)), merges=st.text(max_size=20))
def test_pairs_of_anything(tmp_path_factory, vocab, merges):
    folder = tmp_path_factory.mktemp("pair")
    (folder / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    (folder / "merges.txt").write_bytes(merges.encode())
    try:
        tokenizer = vocab_merges.load(folder)
    except REFUSALS:
        return
    files = vocab_merges.dump(tokenizer)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    assert vocab_merges.load(folder) == tokenizer
    compared()


RIGHT = (
    st.just({}),
    st.sampled_from(["<s>", {"bos_token": "<s>"}, {"bos_token": {"content": "<s>", "lstrip": True}}]),
    st.sampled_from([{}, {"<x>": 2}, {"<s>": 1}]),
    st.booleans(),
)
"""What the side files hold: tokens of the configuration, names, added tokens, whether there is a prefix space."""


@at_least(2)
@given(sides=st.tuples(*RIGHT) | st.tuples(*(VALUES | right for right in RIGHT)))
def test_side_files_of_anything(tmp_path_factory, sides):
    config, names, added, prefix = sides
    folder = tmp_path_factory.mktemp("side")
    (folder / "vocab.json").write_text('{"a": 0, "<s>": 1}')
    (folder / "merges.txt").write_text("")
    roles = {"bos_token": names, "additional_special_tokens": [names, added]}
    for name, content in {
        "tokenizer_config": {"added_tokens_decoder": config, "add_prefix_space": prefix},
        "special_tokens_map": roles if isinstance(names, str) else names,
        "added_tokens": added,
    }.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    try:
        loaded = vocab_merges.load(folder)
    except REFUSALS as error:
        assert error.message  # noqa: PT017
    else:
        assert {b"a", b"<s>"} <= {token for _, token in loaded.model.vocabulary.items()} | {
            token.content for token in loaded.special_tokens
        }
        compared()


@given(content=st.binary(max_size=200), pattern=st.none() | st.sampled_from([*PATTERNS, "x+", "nonsense", "("]))
def test_files_of_anything(tmp_path_factory, content, pattern):
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(content)
    try:
        loaded = formats.load(path, pattern)
    except (*REFUSALS, UsageError) as error:
        assert error.message  # noqa: PT017
    else:
        assert loaded.vocab_size > 0
