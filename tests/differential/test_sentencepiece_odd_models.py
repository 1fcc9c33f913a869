"""SentencePiece models that are seldom made, against the sentencepiece library: given pieces, types and settings."""

from __future__ import annotations

import io
import itertools
import random

import pytest
import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as messages

from bpe_cli import load, train
from bpe_cli.errors import FormatError
from bpe_cli.formats.sentencepiece import model as sentencepiece_model
from tests.counted import at_least, compared

TYPES = {"unigram": 1, "bpe": 2, "word": 3, "char": 4}
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED = range(1, 6)
BYTES = [(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
WHITESPACE = "\t\n\x0b\x0c\r "


def model_of(kind: str, pieces: list[tuple[str, float, int]], **settings: object) -> bytes:
    """Return the file of a model that leaves blanks as they are."""
    model = messages.ModelProto()
    model.trainer_spec.model_type = TYPES[kind]
    model.normalizer_spec.add_dummy_prefix = model.normalizer_spec.remove_extra_whitespaces = False
    for name, value in settings.items():
        setattr(model.trainer_spec, name, value)
    for text, score, of_type in [("<unk>", 0.0, UNKNOWN), *pieces]:
        model.pieces.add(piece=text, score=score, type=of_type)
    return model.SerializeToString()


def texts_over(letters: str, longest: int) -> list[str]:
    return ["".join(each) for length in range(1, longest + 1) for each in itertools.product(letters, repeat=length)]


@at_least(40)
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize("given", [*(blank + "#" for blank in WHITESPACE), "\n", "\n\n", "#\n", "\n- ", "\u2028#"])
def test_symbols_of_a_users_own_with_whitespace_in_them(kind, given):
    """Where a table of rules makes other whitespace a blank, what the user keeps stays as it is."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["hello world foo bar # baz - def a ` A B"] * 20), model_writer=written, vocab_size=60,
        model_type=kind, minloglevel=2, hard_vocab_limit=False, user_defined_symbols=[given],
    )  # fmt: skip
    theirs = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    ours = sentencepiece_model.loads(written.getvalue())
    draw = random.Random(given)
    parts = [given, given[0], given[-1], "#", "foo", "bar", " ", "  ", "\n", "\t", "-", "a"]
    for _ in range(40):
        text = "".join(draw.choices(parts, k=draw.randrange(2, 9)))
        expected = theirs.encode(text)
        assert ours.encode(text) == expected, repr(text)
        assert [token.token_id for token in ours.tokens(text)] == expected, repr(text)
        compared()


@at_least(60)
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize("rules", [True, False])
def test_blanks_inside_of_a_symbol_or_a_rule_are_not_extra(kind, rules, tmp_path):
    """``remove_extra_whitespaces`` takes blanks away only where a symbol, a rule or a character begins."""
    table = tmp_path / "rules.tsv"
    table.write_text("78\t61 20 20 62\n79\t20 20\n7A\t\n", encoding="ascii")  # x: "a  b", y: "  ", z: nothing
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["if a:  the clock", "b c  d    e", "the if  a   b"] * 20), model_writer=written,
        vocab_size=60, model_type=kind, minloglevel=2, hard_vocab_limit=False,
        user_defined_symbols=["  ", "    ", "c  d", " :"],
        **({"normalization_rule_tsv": str(table)} if rules else {"normalization_rule_name": "identity"}),
    )  # fmt: skip
    theirs = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    ours = sentencepiece_model.loads(written.getvalue())
    draw = random.Random(kind)
    parts = [" ", "  ", "   ", "    ", "c  d", " :", "if", "a", "x", "y", "z", "clock", "\u2581"]
    kept = 0
    for _ in range(60):
        text = "".join(draw.choices(parts, k=draw.randrange(1, 9)))
        expected = theirs.encode(text)
        assert ours.encode(text) == expected, repr(text)
        assert [token.token_id for token in ours.tokens(text)] == expected, repr(text)
        kept += "\u2581\u2581" in theirs.normalize(text)
        compared()
    assert kept > 10


@at_least(40)
@pytest.mark.parametrize("kind", ["unigram", "bpe", "char", "word"])
@pytest.mark.parametrize("extra", [True, False])
@pytest.mark.parametrize(
    "rules",
    [{" ": "b "}, {" ": "b"}, {" ": ""}, {" ": " a"}, {" a": "b"}, {" é": "b é"}, {"a": "日本"}, {"a": " a"},
     {"b": "b ", "\t": "\u2581"}, {"\t": " a", "a": "é"}, {"x": "b ", "\t": "\u2581"}],
    ids=ascii,
)  # fmt: skip
def test_rules_for_blanks_and_for_letters(kind, extra, rules, tmp_path):
    """Words were looked up as they stand before spaces, and what a rule puts in for a space was lost."""
    table = tmp_path / "rules.tsv"
    points = [[" ".join(f"{ord(each):X}" for each in text) for text in rule] for rule in rules.items()]
    table.write_text("".join(f"{old}\t{new}\n" for old, new in points), encoding="ascii")
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["ab ba abb b aa xab 12 345", "日本 ab é x a b", "1 2  x  k\ta"] * 20), vocab_size=60,
        model_writer=written, model_type=kind, minloglevel=2, hard_vocab_limit=False, remove_extra_whitespaces=extra,
        normalization_rule_tsv=str(table),
    )  # fmt: skip
    theirs = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    ours = sentencepiece_model.loads(written.getvalue())
    draw = random.Random(f"{rules}")
    for _ in range(40):
        text = "".join(draw.choices(["a", "b", "é", " ", " ", "  ", "x", "1", "\t", "日"], k=draw.randrange(1, 12)))
        expected = theirs.encode(text)
        assert ours.encode(text) == expected, repr(text)
        assert [token.token_id for token in ours.tokens(text)] == expected, repr(text)
        compared()


def test_an_unused_mark_is_one_unknown_token_with_its_neighbours():
    pieces = [("\u2581", -1.0, UNUSED), ("a", -1.0, NORMAL), ("b", -1.0, NORMAL)]
    data = model_of("bpe", pieces)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=data)
    ours = sentencepiece_model.loads(data)
    for text in texts_over("ax ", 5):
        assert ours.encode(text) == theirs.encode(text), text
    assert ours.encode("x y z a") == [0, 2]


@at_least(400)
@pytest.mark.parametrize("kind", ["unigram", "bpe", "char"])
def test_unused_pieces(kind):
    several = [] if kind == "char" else ["ab", "abb"]
    for types in itertools.product((NORMAL, UNUSED), repeat=2 + len(several)):
        pieces = [(text, -float(n), of) for n, (text, of) in enumerate(zip(["a", "b", *several], types, strict=True))]
        data = model_of(kind, pieces)
        theirs = sentencepiece.SentencePieceProcessor(model_proto=data)
        ours = sentencepiece_model.loads(data)
        for text in texts_over("abc", 4):
            assert ours.encode(text) == theirs.encode(text), (types, text)
            compared()


@pytest.mark.parametrize("surface", ["", "?", " \u2047 "])
def test_what_an_unknown_token_is_decoded_as(surface):
    data = model_of("unigram", [("a", -1.0, NORMAL)], unk_surface=surface)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=data)
    assert sentencepiece_model.loads(data).decode([1, 0, 1]) == theirs.decode([1, 0, 1])


@at_least(300)
@pytest.mark.parametrize("kind", ["unigram", "bpe", "char"])
def test_symbols_of_a_users_own_that_may_overlap(kind):
    """A char model takes the first of them from the left; ours took those of the highest score, and gave other ids."""
    draw = random.Random(kind)
    for _ in range(60):
        given = {"".join(draw.choices("abc \u2581", k=draw.randint(1, 3))) for _ in range(draw.randint(1, 3))}
        pieces = [(text, 0.0, USER_DEFINED) for text in sorted(given)]
        pieces += [(text, -draw.uniform(0.1, 5), NORMAL) for text in "abc" if text not in given]
        data = model_of(kind, pieces)
        theirs = sentencepiece.SentencePieceProcessor(model_proto=data)
        try:
            ours = sentencepiece_model.loads(data)
        except FormatError as error:
            assert kind == "char"
            assert "can overlap" in str(error)  # noqa: PT017
            continue
        for _ in range(20):
            text = "".join(draw.choices("abcx \u2581", k=draw.randint(1, 8)))
            assert ours.encode(text) == theirs.encode(text), (pieces, text)
            compared()


def test_a_char_model_whose_symbols_may_overlap_is_written_as_unigram(tmp_path):
    """What is written is to give SentencePiece the ids that it gives here."""
    texts = ["abbb ab ba bbb", "ab bb"]
    for symbol, written in (("bb", "unigram"), ("ab", "char")):
        path = tmp_path / f"{symbol}.model"
        train(texts, "char", vocab_size=20, compat="sentencepiece", user_defined=(symbol,)).save(path)
        theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))
        message = messages.ModelProto.FromString(path.read_bytes())
        assert message.trainer_spec.model_type == TYPES[written]
        for text in ("abbb", "bbb", "abab"):
            assert load(path).encode(text) == theirs.encode(text)


@pytest.mark.parametrize(
    ("kind", "pieces", "settings", "message"),
    [
        ("word", BYTES, {"byte_fallback": True}, "a word model with byte_fallback is not run"),
        ("word", [("ab", 0.0, UNUSED)], {}, "a word model whose piece 1 is unused is not run"),
        ("char", [("a", 0.0, NORMAL), ("ab", 0.0, NORMAL)], {}, 'a char model, and piece 2, "ab", is several'),
        ("char", [("  ", 0.0, USER_DEFINED)], {}, 'its user-defined piece "  " can overlap with itself'),
        ("char", [("bca", 0.0, USER_DEFINED), ("ab", 0.0, USER_DEFINED)], {}, 'pieces "ab" and "bca" can overlap'),
    ],
)
def test_what_is_not_run_is_refused(kind, pieces, settings, message):
    with pytest.raises(FormatError, match=message):
        sentencepiece_model.loads(model_of(kind, pieces, **settings))


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_bytes_that_are_missing_are_refused_here_too(kind):
    data = model_of(kind, [("a", -1.0, NORMAL), *BYTES[1:]], byte_fallback=True)
    with pytest.raises(RuntimeError, match="256 byte pieces"):
        sentencepiece.SentencePieceProcessor(model_proto=data)
    with pytest.raises(FormatError, match="has byte_fallback, and 255 byte pieces; it is to have 256"):
        sentencepiece_model.loads(data)
