"""What the core takes of a GGUF file gives the tokenizer, or the error, that plain reading gives."""

from __future__ import annotations

import random
import struct
from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import _core
from bpe_cli.errors import BpeError
from bpe_cli.formats.gguf import container, to_tokenizer
from bpe_cli.formats.gguf.container import ARRAY, I32, STRING, encode
from bpe_cli.stages import MergeBpe
from bpe_cli.stages.spelling import CHAR_TO_BYTE, to_visible
from tests.thorough import more

VISIBLE = sorted(CHAR_TO_BYTE)
ODD = ["東", "a b", "", "</s>", "[PAD3]", "<own>", "Ġ", "é", "\u0120\u0120", "\x7f"]


def file_of(tokens: list[bytes], merges: list[bytes], types: list[int]) -> bytes:
    fields = {
        "model": encode(STRING, b"gpt2"),
        "pre": encode(STRING, b"gpt-2"),
        "tokens": encode(ARRAY, tokens, STRING),
        "token_type": encode(ARRAY, array("i", types), I32),
        "merges": encode(ARRAY, merges, STRING),
    }
    return container.write((f"tokenizer.ggml.{key}", value) for key, value in fields.items())


def random_file(draw: random.Random) -> bytes:
    """Return a file of some bytes and merges, mostly with something in it that is not as usual."""
    letters = draw.sample(VISIBLE, draw.randrange(1, 9))
    tokens, merges = list(letters), []
    for _ in range(draw.randrange(9)):
        left, right = draw.choice(tokens), draw.choice(tokens)
        if left + right not in tokens:
            tokens.append(left + right)
            merges.append(f"{left} {right}")
    types = [1] * len(tokens)
    for _ in range(draw.choice((0, 0, 1, 2, 3))):
        text = draw.choice((*ODD, f"[PAD{len(tokens)}]"))
        if text not in tokens or draw.random() < 0.1:
            place = draw.choice((len(tokens), draw.randrange(len(tokens) + 1)))
            tokens.insert(place, text)
            types.insert(place, draw.choice((1, 3, 4, 5, 9)))
    for _ in range(draw.choice((0, 0, 1))):
        types[draw.randrange(len(types))] = draw.choice((3, 4, 5))
    for _ in range(draw.choice((0, 0, 0, 1))):
        odd = draw.choice(
            (draw.choice(merges or ["a b"]), "a", "a  b", " a b", "a ", "zz q", "é a", draw.choice(ODD) + " a")
        )
        merges.insert(draw.randrange(len(merges) + 1), odd)
    written = [text.encode() for text in tokens], [text.encode() for text in merges]
    if draw.random() < 0.05:
        part = draw.choice(written)
        part[len(part) // 2 :] = [b"\xff"]
        types = [*types, 1][: len(written[0])]
    return file_of(*written, types)


def outcome(data: bytes) -> object:
    """Return what reading comes to: the tokenizer, or the message and the hint."""
    try:
        return to_tokenizer.tokenizer_of(container.parse(data))
    except BpeError as error:
        return type(error).__name__, error.message, error.hint


def is_taken(tokenizer: object) -> bool:
    """Return whether the core has read a tokenizer's tokens and merges."""
    model = getattr(tokenizer, "model", None)
    return isinstance(model, MergeBpe) and model.vocabulary.written is not None


@pytest.fixture
def plainly(monkeypatch):
    """Return what reads plainly."""

    def read(data: bytes) -> object:
        with monkeypatch.context() as patched:
            patched.setattr(to_tokenizer, "_written_model", lambda *_: None)
            return outcome(data)

    return read


def test_worked_example(plainly):
    tokens = [b"a", b"b", "Ġ".encode(), b"ab", b"[PAD4]", "Ġab".encode(), b"<s>"]
    data = file_of(tokens, [b"a b", "Ġ ab".encode()], [1, 1, 1, 1, 5, 1, 3])
    tokenizer = outcome(data)
    assert is_taken(tokenizer)
    assert [*tokenizer.model.vocabulary.tokens()] == [b"a", b"b", b" ", b"ab", b"", b" ab"]
    assert [*tokenizer.model.merges] == [(0, 1, 3), (2, 3, 5)]
    assert (tokenizer.encode("ab ab"), tokenizer.encode("<s>", specials="all")) == ([3, 5], [6])
    assert not is_taken(plainly(data))
    assert plainly(data) == tokenizer


def test_random_files(plainly):
    taken = refused = 0
    number = more(900, 3000)
    for seed in range(number):
        data = random_file(random.Random(seed))
        found, expected = outcome(data), plainly(data)
        assert found == expected, seed
        taken += is_taken(found)
        refused += isinstance(found, tuple)
    assert taken > number / 3
    assert refused > number / 10
    assert taken + refused < number * 0.97  # the rest is read plainly


@pytest.mark.parametrize("name", ["gpt-2", *more((), ("qwen2",))])
def test_real_files(shared, plainly, name):
    (path,) = (shared / "vocabs" / f"gguf-{name}").glob("*.gguf")
    data = Path(path).read_bytes()
    tokenizer = outcome(data)
    assert is_taken(tokenizer)
    assert tokenizer == plainly(data)


# -- texts behind their lengths --------------------------------------------------------------------


def passed_plainly(data: bytes, place: int, count: int, order: str) -> tuple[int, int]:
    passed = 0
    while passed < count and place + 8 <= len(data):
        end = place + 8 + struct.unpack_from(order + "Q", data, place)[0]
        if end > len(data):
            break
        passed, place = passed + 1, end
    return passed, place


@given(
    st.lists(st.binary(max_size=4), max_size=5),
    st.binary(max_size=12),
    st.integers(0, 20),
    st.integers(0, 7),
    st.sampled_from("<>"),
)
def test_texts_are_passed_one_by_one(texts, behind, cut, count, order):
    data = b"".join(struct.pack(order + "Q", len(text)) + text for text in texts) + behind
    data = data[: max(len(data) - cut, 0)]
    is_big = order == ">"
    passed = passed_plainly(data, 0, count, order)
    assert _core.pass_counted(data, 0, count, is_big) == passed
    assert _core.pass_counted(b"xyz" + data, 3, count, is_big) == (passed[0], passed[1] + 3)
    whole = _core.counted_texts(data, is_big)
    assert len(whole) == passed_plainly(data, 0, 99, order)[0]
    assert whole[: len(texts)] == texts[: len(whole)]


def test_lengths_that_lie():
    for length in (1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1):
        data = struct.pack("<Q", length)
        assert _core.pass_counted(data, 0, 5, big_endian=False) == (0, 0)
        assert _core.counted_texts(data, big_endian=False) == []
    assert _core.pass_counted(b"", 9, 5, big_endian=False) == (0, 9)
    assert _core.WrittenMerges.listed(to_visible(b"x").encode(), b"", False, []) is None
