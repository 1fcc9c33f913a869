"""The unigram model against tokenizers and SentencePiece, on random strings and on real models."""

from __future__ import annotations

import io
import json
import random
import struct
from array import array
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import FormatError
from bpe_cli.formats.huggingface import tokenizer_json
from bpe_cli.stages import Unigram
from bpe_cli.stages.vocabulary import Vocabulary
from tests.counted import at_least, compared
from tests.differential.unigram_models import encode, of_processor, pipeline
from tests.needs import needs

tokenizers = needs("tokenizers")
sentencepiece = needs("sentencepiece")

TEXTS = st.text(st.sampled_from("abcdé▁日😀"), max_size=40)


def trained(corpora: Path, **options: Any) -> Any:
    """Train a small SentencePiece model on the project's own texts."""
    paths = [corpora / "languages" / f"{language}.txt" for language in ("en", "de", "fr")]
    lines = [line for path in paths for line in path.read_text("utf-8").splitlines()]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        model_type="unigram",
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=4,
        **options,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


@at_least(300)
def test_a_text_that_stays_whole_is_one_sum() -> None:
    """Where two segmentations have the same tokens in another order, rounding decides, and what stands before."""
    scores = {"\u2581": -2.0, "-": -5.1, "---": -7.3, "x": -3.7, "\u2581x": -4.3, "--x": -6.9}
    pieces = [("<unk>", -20.0), *scores.items()]
    theirs = tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, unk_id=0, byte_fallback=False))
    theirs.normalizer = tokenizers.normalizers.Replace(" ", "\u2581")
    ours = tokenizer_json.loads(theirs.to_str().encode())
    draw, differ = random.Random(3), 0
    for number in range(300):
        length = draw.randrange(2, 6) if number < 295 else 3000
        words = [draw.choice(["x", "-------", "----", "--x-----", "-----"]) for _ in range(length)]
        text = " ".join(words)
        expected = theirs.encode(text).ids
        assert ours.encode(text) == expected, text
        assert [token.token_id for token in ours.tokens(text)] == expected, text
        assert ours.count(text) == len(expected)
        apart = [theirs.encode(word if at == 0 else " " + word).ids for at, word in enumerate(words)]
        differ += [token_id for ids in apart for token_id in ids] != expected
        compared()
    assert differ > 30


@given(
    st.dictionaries(
        st.text(st.sampled_from("abc▁日é"), min_size=1, max_size=4), st.integers(-80, -1), min_size=1, max_size=20
    ),
    TEXTS,
)
def test_tokenizers(scores: dict[str, int], text: str) -> None:
    pieces = [("<unk>", 0.0), *((token, score / 7) for token, score in scores.items())]
    theirs = tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, unk_id=0, byte_fallback=False))
    model = Unigram(
        Vocabulary.from_tokens(token.encode() for token, _ in pieces),
        scores=array("d", [score for _, score in pieces]),
        unk_id=0,
    )
    assert encode(pipeline(model), text.encode()) == theirs.encode(text).ids


@at_least(45)
@pytest.mark.parametrize(
    "options",
    [
        {"vocab_size": 400},
        {"vocab_size": 700, "byte_fallback": True, "character_coverage": 0.98},
        {"vocab_size": 400, "user_defined_symbols": ["the", "<x>", "ing"]},
    ],
    ids=["plain", "bytes", "user-defined"],
)
def test_sentencepiece(corpora: Path, options: dict[str, Any]) -> None:
    processor = trained(corpora, **options)
    compiled = pipeline(of_processor(processor))
    draw = random.Random(5)
    alphabet = [processor.id_to_piece(number) for number in range(3, 300)] + ["é", "日本", "😀", " ", "the", "<x>"]
    for number in range(300):
        text = "".join(draw.choices(alphabet, k=draw.randrange(1, 30 if number < 290 else 2000))).replace("▁", " ")
        normal = processor.normalize(text).encode()
        assert encode(compiled, normal) == processor.encode(text), text
        if not normal or number > 60:
            continue
        theirs = processor.nbest_encode(text, nbest_size=6)
        ours = [(list(memoryview(ids)), score) for ids, score in compiled.nbest(normal, 6)]
        assert [ids for ids, _ in ours] == theirs
        known = [(ids, score) for ids, score in ours if processor.unk_id() not in ids]
        if "byte_fallback" not in options and "user_defined_symbols" not in options:
            sums = [sum(processor.get_score(token_id) for token_id in ids) for ids, _ in known]
            assert [score for _, score in known] == pytest.approx(sums, abs=1e-4)
        compared()


@pytest.mark.parametrize("name", ["spm-test_model", "chatglm-6b", "xlnet-base-cased"])
def test_real_models(shared: Path, name: str) -> None:
    expected = json.loads((shared / "expected" / "sentencepiece" / f"{name}.json").read_text("utf-8"))
    suite = json.loads((shared / "expected" / "suite.json").read_text("utf-8"))
    texts = {case["id"]: case["text"] for case in suite["cases"]}
    processor = sentencepiece.SentencePieceProcessor(model_file=str(shared / expected["model"]))
    compiled = pipeline(of_processor(processor))
    compared = 0
    for case, found in expected["cases"].items():
        text = texts.get(case)
        if text is None or "\0" in text:
            continue
        normal = processor.normalize(text).encode()
        assert encode(compiled, normal) == found["ids"], case
        compared += 1
    assert compared > 200
    for case, best in expected["nbest"].items():
        normal = processor.normalize(texts[case]).encode()
        ours = [list(memoryview(ids)) for ids, _ in compiled.nbest(normal, len(best))]
        # What is unknown is recorded by its text, which has the unknown token's id.
        assert ours == [[processor.piece_to_id(piece) for piece in pieces] for pieces in best], case


def test_t5(shared: Path) -> None:
    path = shared / "vocabs" / "t5-small" / "tokenizer.json"
    theirs = tokenizers.Tokenizer.from_file(str(path))
    content = json.loads(path.read_text("utf-8"))["model"]
    model = Unigram(
        Vocabulary.from_tokens(token.encode() for token, _ in content["vocab"]),
        scores=array("d", [score for _, score in content["vocab"]]),
        unk_id=content["unk_id"],
    )
    compiled = pipeline(model)
    text = (shared / "corpora" / "default" / "en-botchan.txt").read_text("utf-8")[:60_000] + "\n日本語 ﬁne é ½"
    for line in text.splitlines():
        pieces = theirs.pre_tokenizer.pre_tokenize_str(theirs.normalizer.normalize_str(line))
        for piece, _ in pieces:
            assert encode(compiled, piece.encode()) == [token.id for token in theirs.model.tokenize(piece)], piece


@pytest.mark.parametrize("length", [2, 3, 7, 10, 31, 99])
def test_what_a_users_own_symbol_scores(length: int) -> None:
    """It stands beside two pieces up to a score, which changed with SentencePiece 0.2.2."""
    letters = "abcdefghijklmnopqrstuvwxyzé日" * 4
    for symbol in (letters[:length], letters[-length:]):
        for score in (0.1 * (length - 1), 0.1 * (len(symbol.encode()) - 1), -0.1):
            for pieces in nearby(score):
                theirs = processor_of([(symbol, 0.0, 4), (symbol[:1], pieces, 1), (symbol[1:], 0.0, 1)])
                ours = pipeline(of_processor(theirs))
                assert encode(ours, symbol.encode()) == theirs.encode(symbol), (symbol, pieces)
                best = theirs.nbest_encode(symbol, nbest_size=2)
                assert [list(memoryview(ids)) for ids, _ in ours.nbest(symbol.encode(), 2)] == best, (symbol, pieces)


@at_least(200)
def test_users_own_symbols_among_random_pieces() -> None:
    chance = random.Random(5)
    for _ in range(40):
        drawn = {"".join(chance.choices("abé日", k=chance.randint(1, 4))) for _ in range(14)}
        pieces = [
            (text, 0.0, 4) if chance.random() < 0.2 and len(text) > 1 else (text, -chance.randint(0, 40) / 10, 1)
            for text in sorted(drawn)
        ]
        theirs = processor_of([*pieces, ("z", -3.0, 1)])
        ours = pipeline(of_processor(theirs))
        for _ in range(20):
            text = "".join(chance.choices("abé日z", k=chance.randint(1, 30)))
            assert encode(ours, text.encode()) == theirs.encode(text), (pieces, text)
            compared()


@pytest.mark.parametrize("fill", [-1.0, -2.5, -64.0, 1.0])
def test_large_sums_begin_again(fill: float) -> None:
    """Two pieces are better than one by less than a large sum in single precision can tell."""
    theirs = processor_of([("a", fill, 1), ("pq", -2.0, 1), ("p", -1.0, 1), ("q", -0.999, 1)])
    ours, once = pipeline(of_processor(theirs)), int(100_000 / abs(fill))
    found = set()
    for times in (1, 2, 3):
        for near in (-3, -2, -1, 0, 1, 2, 3, once // 3, once // 2):
            text = "a" * (times * once + near) + "pq"
            ids = theirs.encode(text)
            assert encode(ours, text.encode()) == ids, len(text)
            found.add(tuple(ids[-2:]))
    assert len(found) == 2, "both precisions were met"


@at_least(2000)
def test_sums_are_rounded_before_they_are_compared() -> None:
    """Each piece costs as much as its characters do one by one: most sums differ in rounding alone."""
    chance = random.Random(3)
    for _ in range(50):
        unit = nearby(-chance.uniform(0.1, 9))[1]
        lengths = chance.sample(range(2, 7), 3)
        drawn = {"a", "b", *("a" * length for length in lengths)}
        drawn |= {"".join(chance.choices("ab", k=chance.randint(2, 4))) for _ in range(4)}
        theirs = processor_of([(text, unit * len(text), 1) for text in sorted(drawn)])
        ours = pipeline(of_processor(theirs))
        for length in range(1, 60):
            text = "".join(chance.choices("aaaab", k=length))
            assert encode(ours, text.encode()) == theirs.encode(text), (unit, drawn, text)
            compared()


def nearby(score: float) -> list[float]:
    """Return a number of single precision, and its neighbours."""
    (bits,) = struct.unpack("<i", struct.pack("<f", score))
    return [struct.unpack("<f", struct.pack("<i", bits + step))[0] for step in (-1, 0, 1)]


def processor_of(pieces: list[tuple[str, float, int]]) -> Any:
    """Make a processor of pieces: their texts, scores and types."""
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto()
    model.trainer_spec.model_type = 1
    model.normalizer_spec.name = "identity"
    model.normalizer_spec.add_dummy_prefix = False
    for text, score, kind in [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3), *pieces]:
        piece = model.pieces.add()
        piece.piece, piece.score, piece.type = text, score, kind
    return sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())


def byte_names(missing: int) -> str:
    """Return a tokenizer.json of Unigram that lacks tokens of the first bytes."""
    present = [[f"<0x{byte:02X}>", 0.0] for byte in range(missing, 256)]
    model = {"type": "Unigram", "unk_id": 0, "byte_fallback": True, "vocab": [["<unk>", 0.0], ["a", -1.0], *present]}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [{"id": 0, "content": "<unk>", "special": True, **flags}]
    return json.dumps({"version": "1.0", "added_tokens": added, "model": model})


@pytest.mark.parametrize("missing", [1, 128, 255])
def test_bytes_of_which_some_have_no_token_are_refused(missing):
    """There, what is unknown becomes bytes only if all bytes of a stretch have tokens."""
    with pytest.raises(FormatError, match=f"is true, and {256 - missing} of the 256 bytes have tokens"):
        tokenizer_json.loads(byte_names(missing).encode())


@pytest.mark.parametrize("missing", [0, 256])
def test_bytes_that_all_have_tokens_or_none(missing):
    file = byte_names(missing)
    ours, theirs = tokenizer_json.loads(file.encode()), tokenizers.Tokenizer.from_str(file)
    for text in ("é", "ab", "a\0b", "bé", "", "aa"):
        assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids
