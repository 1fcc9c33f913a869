"""The pieces of a ``.model`` as its library writes them are read all at once: what comes is what one by one gives."""

from __future__ import annotations

import random
from array import array
from dataclasses import replace

import pytest

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats import sentencepiece as wire
from bpe_cli.formats.sentencepiece import model as sentencepiece_model
from bpe_cli.formats.sentencepiece import writing as sentencepiece_writing
from bpe_cli.formats.sentencepiece.writing import usual_pieces
from bpe_cli.stages import SpecialToken
from bpe_cli.stages.spelling import CONTROL, NORMAL, UNKNOWN, UNUSED
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.thorough import more

TEXTS = (b"a", b"ab", "\u2581the".encode(), "日本".encode(), b"x" * 110, b"y" * 118, b"z" * 120, b"", b"\xe6\x97")


def plainly(data: bytes, monkeypatch: pytest.MonkeyPatch) -> object:
    """Read a model one piece at a time."""
    with monkeypatch.context() as patched:
        patched.setattr(sentencepiece_model, "usual_pieces", lambda _: ([], 0))
        return outcome(data)


def outcome(data: bytes) -> object:
    """Return the tokenizer, or why there is none."""
    try:
        return sentencepiece_model.loads(data)
    except FormatError as error:
        return error.message


def piece(chance: random.Random, number: int, *, odd: float) -> bytes:
    """Write a piece: as the library does, or in another way that means the same, or something else."""
    content = chance.choice(TEXTS[:3]) + str(number).encode()
    kind = chance.choice((NORMAL, NORMAL, CONTROL))
    if chance.random() < odd:
        content, kind = chance.choice(TEXTS), chance.choice((0, 4, 5, 6, 7, 127, 128, 300))
    parts = [wire.bytes_field(1, content), wire.float_field(2, chance.choice((0.0, -1.5, -1e30)))]
    if number == 0 or kind != NORMAL:
        parts.append(wire.varint_field(3, kind if number else UNKNOWN))
    if chance.random() < odd:
        match chance.randrange(5):
            case 0:
                parts.pop(chance.randrange(len(parts)))
            case 1:
                chance.shuffle(parts)
            case 2:
                parts.append(chance.choice(parts))
            case 3:
                parts.append(wire.varint_field(9, 1))
            case _:
                parts[1] = wire.varint_field(2, 1)
    return wire.bytes_field(1, b"".join(parts))


def test_any_file_gives_what_it_gives_one_piece_at_a_time(monkeypatch):
    chance = random.Random(3)
    loaded = refused = whole = in_part = 0
    for _ in range(more(500, 50_000)):
        odd = chance.choice((0.0, 0.0, 0.05))
        data = b"".join(piece(chance, number, odd=odd) for number in range(chance.randint(1, 12)))
        end = len(data)
        data += chance.choice((b"", wire.bytes_field(2, wire.varint_field(3, 2)), wire.varint_field(77, 1)))
        if chance.random() < 0.3:
            changed = bytearray(data)
            changed[chance.randrange(len(data))] = chance.choice((0, 10, 0x15, 0x18, 0x7F, 0x80, 255))
            data = bytes(changed)[: chance.choice((len(data), chance.randrange(len(data))))]
        read, begin = usual_pieces(data)
        values = [value for _, value in wire.fields(data[:begin], "x")]
        plain = [sentencepiece_model.read_piece(value, "x", 0) for value in values if isinstance(value, bytes)]
        assert repr(read) == repr(plain), "NaN is not equal to itself"
        assert len(read) == len(values)
        found = outcome(data)
        assert found == plainly(data, monkeypatch)
        loaded, refused = loaded + (not isinstance(found, str)), refused + isinstance(found, str)
        whole, in_part = whole + (begin >= end), in_part + (0 < begin < end)
    assert min(loaded, refused, whole, in_part) > 100, (loaded, refused, whole, in_part)


def test_an_error_is_at_its_byte_in_the_file():
    good = b"".join(piece(random.Random(1), number, odd=0) for number in range(3))
    assert usual_pieces(good)[1] == len(good)
    with pytest.raises(FormatError, match=f"x: field 1 at byte {len(good)} is 100 bytes long, past the end"):
        sentencepiece_model.loads(good + b"\x0a\x64", "x")


def test_no_more_are_read_than_a_vocabulary_may_have(monkeypatch):
    monkeypatch.setattr(_core, "MAX_TOKENS", 5)
    data = b"".join(piece(random.Random(1), number, odd=0) for number in range(9))
    assert len(usual_pieces(data)[0]) == 5
    with pytest.raises(FormatError, match="x has more than 5 pieces"):
        sentencepiece_model.loads(data, "x")


CHANGES = ("none", "score", "kind", "fewer", "more", "twice")


def changed(tokenizer: Tokenizer, change: str, chance: random.Random) -> Tokenizer:
    """Return a tokenizer that is no longer what its file says."""
    model = tokenizer.model
    size = model.vocabulary.size
    place = chance.randrange(size)
    if change == "score":
        scores = array("d", model.scores)
        scores[place] = 0.0 if scores[place] else -0.0
        return replace(tokenizer, model=replace(model, scores=scores))
    if change == "kind":
        kinds = bytearray(model.kinds)
        kinds[place] = UNUSED if kinds[place] == NORMAL else kinds[place]
        return replace(tokenizer, model=replace(model, kinds=bytes(kinds)))
    if change == "fewer" and model.unk_id != size - 1:
        tokens = [*model.vocabulary.tokens()][:-1]
        kept = tuple(token for token in tokenizer.special_tokens if token.token_id < size - 1)
        fewer = replace(
            model, vocabulary=Vocabulary.from_tokens(tokens), scores=model.scores[:-1], kinds=model.kinds[:-1]
        )
        return replace(tokenizer, model=fewer, special_tokens=kept)
    if change == "twice":  # the text of a special token as an ordinary one behind all
        tokens = [*model.vocabulary.tokens(), chance.choice(tokenizer.special_tokens).content]
        scores, kinds = array("d", [*model.scores, -7.0]), bytes([*model.kinds, NORMAL])
        return replace(
            tokenizer, model=replace(model, vocabulary=Vocabulary.from_tokens(tokens), scores=scores, kinds=kinds)
        )
    if change == "more":
        added = chance.choice([*model.vocabulary.tokens(), b"<more>"]) or b"<most>"
        token_id = max(tokenizer.vocab_size, size)
        return replace(tokenizer, special_tokens=(*tokenizer.special_tokens, SpecialToken(added, token_id)))
    return tokenizer


def test_what_is_written_is_what_piece_by_piece_is_written(monkeypatch):
    """Unchanged pieces are copied together; the file is the one that comes of looking at each."""
    chance = random.Random(5)
    copied = written = 0
    for number in range(more(300, 30_000)):
        odd = chance.choice((0.0, 0.0, 0.05))
        data = b"".join(piece(chance, place, odd=odd) for place in range(chance.randint(2, 12)))
        data += wire.bytes_field(2, wire.varint_field(3, chance.choice((1, 2)))) + wire.varint_field(77, 1)
        data += chance.choice((b"", piece(chance, 99, odd=0.0)))
        tokenizer = outcome(data)
        if not isinstance(tokenizer, Tokenizer):
            continue
        tokenizer = changed(tokenizer, CHANGES[number % len(CHANGES)], chance)
        found = dumped(tokenizer)
        with monkeypatch.context() as patched:
            patched.setattr(sentencepiece_writing, "usual_pieces", lambda _: ([], 0))
            assert found == dumped(tokenizer)
        copied += found == data
        written += isinstance(found, bytes)
    assert copied > 30
    assert written > copied + 60


def dumped(tokenizer: Tokenizer) -> bytes | str:
    """Return the file, or why there is none."""
    try:
        return sentencepiece_model.dump(tokenizer)[""]
    except FormatError as error:
        return error.message
