"""Whatever stands in a ``.model``, a ``.vocab`` or a ``tokenizer.bin``: a tokenizer or an error for the user."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import FormatError
from bpe_cli.formats import is_tokenizer
from bpe_cli.formats import sentencepiece as wire
from bpe_cli.formats.dialects import to_hugging_face, to_sentencepiece
from bpe_cli.formats.features import LOSSES
from bpe_cli.formats.sentencepiece import WORD, llama2c
from bpe_cli.formats.sentencepiece import model as sentencepiece_model
from bpe_cli.formats.sentencepiece import vocab as sentencepiece_vocab
from tests.counted import at_least, compared
from tests.unit.formats.test_llama2c import small
from tests.work import assert_little_work


def piece(text: str, score: float, kind: int) -> bytes:
    return wire.bytes_field(
        1, wire.bytes_field(1, text.encode()) + wire.float_field(2, score) + wire.varint_field(3, kind)
    )


def model(kind: int) -> bytes:
    """Write a small model with all there is: types, settings, self-tests, an extension."""
    unused = 1 if kind == WORD else 5
    texts = [("<unk>", 2), ("<s>", 3), ("▁", 1), ("a", 1), ("b", 1), ("ab", 1), ("▁ab", 1), ("own", 4), ("ba", unused)]
    pieces = b"".join(piece(text, -number, each) for number, (text, each) in enumerate(texts))
    trainer = (
        wire.varint_field(3, kind) + wire.float_field(10, 0.5) + wire.varint_field(43, -1) + wire.bytes_field(44, b"?")
    )
    normalizer = wire.bytes_field(1, b"identity") + wire.varint_field(4, 0)
    tests = wire.bytes_field(1, wire.bytes_field(1, b"a b") + wire.bytes_field(2, b"a b"))
    return pieces + b"".join(
        wire.bytes_field(number, content)
        for number, content in ((2, trainer), (3, normalizer), (4, tests), (200, b"ext"))
    )


VOCAB = "<unk>\t0\n<s>\t0\n▁a\t-0\naa\t-1\n▁\t-2.5\na\t-3e+05\n".encode()
BINARY = small((" a", -1), (" ", -2), ("a", -3))
FORMATS = {
    "bpe": (sentencepiece_model, model(2)),
    "unigram": (sentencepiece_model, model(1)),
    "word": (sentencepiece_model, model(WORD)),
    "vocab": (sentencepiece_vocab, VOCAB),
    "llama2c": (llama2c, BINARY),
}


def said(error: FormatError) -> None:
    """Every refusal says something."""
    assert len(error.message) > 10


def attempt(module, data: bytes) -> None:
    """Read; what can be read can be written, and then reads as the same, or is refused."""
    try:
        tokenizer = module.loads(data)
        written = module.dump(tokenizer, LOSSES)[""]
    except FormatError as error:
        said(error)
        return
    if module is not sentencepiece_vocab:  # whose scores have six digits
        assert module.loads(written) == tokenizer
    try:
        tokenizer.decode_bytes(tokenizer.encode("ab own\xff", specials="all"))
        to_sentencepiece(to_hugging_face(tokenizer, LOSSES))
    except FormatError as error:
        said(error)
    compared()


@pytest.mark.parametrize("name", FORMATS)
def test_small_file_is_whole(name):
    module, data = FORMATS[name]
    assert module.sniff(data)
    tokenizer = module.loads(data)
    assert module.loads(module.dump(tokenizer, LOSSES)[""]) == tokenizer


@pytest.mark.parametrize("behind", [b"", wire.float_field(2, 0), wire.varint_field(3, 2)])
def test_a_model_is_told_by_its_first_piece(behind):
    first = wire.bytes_field(1, wire.bytes_field(1, b"<unk>") + behind)
    for following in (b"", first, wire.bytes_field(2, b""), wire.bytes_field(3, b"")):
        assert sentencepiece_model.sniff(first + following)


@pytest.mark.parametrize(
    "text",
    [
        b"\n\n\n\nChapter 1\n", b"\n\n\n\n", b"\n\n\n\n" + b"x" * 200, b"\n\n\n\tA paragraph of some length\n",
        b"\n \n\nA line\n", b"\n\x0c\n\nChapter 1, of a printed page\n", b"\n~\n~",
    ],
)  # fmt: skip
def test_a_text_that_begins_with_empty_lines_is_no_model(text, tmp_path):
    assert not sentencepiece_model.sniff(text)
    (tmp_path / "book.txt").write_bytes(text)
    assert not is_tokenizer(tmp_path / "book.txt")


@at_least(1)
@pytest.mark.parametrize("name", FORMATS)
def test_cut_at_every_byte(name):
    module, data = FORMATS[name]
    step = 7 if name == "llama2c" else 1
    for end in range(0, len(data), step):
        attempt(module, data[:end])


@at_least(1)
@pytest.mark.parametrize("name", FORMATS)
@given(draw=st.data())
def test_changed_bytes(name, draw):
    module, data = FORMATS[name]
    changed = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 4))):
        at = draw.draw(st.integers(0, len(changed) - 1))
        changed[at] ^= draw.draw(st.integers(1, 255))
    attempt(module, bytes(changed))


@at_least(2)
@pytest.mark.parametrize("name", ["bpe", "unigram", "word"])
@given(draw=st.data())
def test_changed_settings(name, draw):
    """Fields of any number and kind, at the top and in the settings."""
    numbers = st.integers(1, 60) | st.sampled_from([200, wire.MAX_NUMBER])
    contents = st.one_of(
        st.builds(wire.varint_field, numbers, st.integers(-(2**63), 2**63)),
        st.builds(wire.bytes_field, numbers, st.binary(max_size=9)),
        st.builds(wire.float_field, numbers, st.floats(width=32)),
    )
    strange = b"".join(draw.draw(st.lists(contents, max_size=4)))
    where = draw.draw(st.sampled_from([0, 1, 2, 3, 5]))
    attempt(sentencepiece_model, FORMATS[name][1] + (wire.bytes_field(where, strange) if where else strange))


@at_least(1)
@pytest.mark.parametrize("name", FORMATS)
@given(data=st.binary(max_size=60), behind=st.booleans())
def test_any_bytes(name, data, behind):
    """Alone, and behind a file; as nearly every text is a piece, a short one may follow there."""
    module, whole = FORMATS[name]
    module.sniff(data)
    attempt(module, whole + data[:2] if behind else data)


def test_lying_lengths_cost_nothing():
    for data in (
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\x0a\xff\xff\xff\x7f" + b"a" * 1000,
        struct.pack("<i", 0x7FFFFFFF) + struct.pack("<fi", 0, 0x7FFFFFFF) + b"<unk>",
    ):
        for module in (sentencepiece_model, llama2c):

            def refuse(module=module, data=data):
                with pytest.raises(FormatError):
                    module.loads(data)

            assert_little_work(refuse, size=0, most_lines=250, most_cost=0.25)


def test_equal_pieces_are_refused():
    empty = wire.bytes_field(1, wire.bytes_field(1, b"a"))
    with pytest.raises(FormatError, match="appears twice"):
        sentencepiece_model.loads(empty * 10_000)


def test_score_that_is_no_number_is_refused():
    with pytest.raises(FormatError, match=r"the score of token 0, .*, is nan: that is not a finite number"):
        sentencepiece_model.loads(piece("<unk>", float("nan"), 2))


def test_long_pieces_take_no_time():
    """Each cut of a piece is tried: a vocabulary of long runs is the worst case."""
    pieces = piece("<unk>", 0, 2) + b"".join(piece("a" * length, -length, 1) for length in range(1, 200))
    tokenizer = sentencepiece_model.loads(pieces + wire.bytes_field(2, wire.varint_field(3, 2)))
    written = to_hugging_face(tokenizer)
    assert_little_work(lambda: to_hugging_face(tokenizer), size=len(pieces), most_lines=500_000, most_cost=180)
    assert written.encode("a" * 1000) == tokenizer.encode("a" * 1000)
