"""Training by SentencePiece's rules against SentencePiece: its recorded models, and the library itself.

BPE, word and character models are equal: pieces, order, types, scores, and what texts become. Unigram models
are not, because theirs depend on how sums of f32 are rounded, which changes between their releases and with
their threads: of pieces that are worth nearly the same it is chance which go. So those are compared as sets,
and by how well they say the corpus.
"""

from __future__ import annotations

import io
import json
import random
import struct
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bpe_cli import formats
from bpe_cli.stages import ScoredBpe, Unigram, WordLevel
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import sentencepiece as ours
from bpe_cli.trainers.base import Trained
from bpe_cli.trainers.counts import new_counts
from tests.cli_runner import call
from tests.differential.protocol_buffers import fields
from tests.differential.texts import suite
from tests.differential.unigram_models import of_processor, piece_of
from tests.needs import needs

sentencepiece = needs("sentencepiece")

RECORDED = Path("expected", "train", "sentencepiece")
EXACT = [
    "bpe.botchan.1000", "bpe.llama-style.1200", "bpe.nodummy.suffix.1000", "bpe.nosplit.1000",
    "bpe.required-chars.1000", "bpe.zh.4000", "char.botchan", "word.botchan.1000",
]  # fmt: skip
NEAR = {
    "unigram.botchan.1000": (3, 1e-4),
    "unigram.uds.1000": (3, 1e-4),
    "unigram.ru.nfkc_cf.1500": (10, 1e-4),
    "unigram.ja.4000": (60, 2e-4),
    "unigram.bytefallback.zh.4000": (130, 2e-3),
}
"""How many of their pieces ours may lack, and what share less likely it may find the corpus.

Rounding costs 1, 1, 5, 43 and 103 pieces. Japanese and Chinese have more: their lines are cut into few words, so words
are long, and in the sums over all segmentations of a long word f32 loses more digits. There, too, hundreds of pieces
occur twice and are worth the same at the end; that others of them stay is what the corpus is less likely for.
"""

CLOSE = 0.15
"""How near a score is to the lowest of all: a seventh more or less often."""

NAMES = {
    "model": "model_type",
    "normalization": "normalization_rule_name",
    "user_defined": "user_defined_symbols",
    "special_tokens": "control_symbols",
    "max_token_length": "max_sentencepiece_length",
}
"""What SentencePiece calls our options where it calls them otherwise."""


def pieces_of(processor: Any) -> list[tuple[str, float, int]]:
    """Return all pieces of a SentencePiece model, with scores and types."""
    found = (piece_of(content) for number, content in fields(processor.serialized_model_proto()) if number == 1)
    return [(text.decode(), score, kind) for text, score, kind in found]


def trained_pieces(tokenizer: Tokenizer) -> list[tuple[str, float | None, int | None]]:
    """Return the same of a tokenizer, None for what a word model does not hold."""
    model = tokenizer.model
    assert isinstance(model, (ScoredBpe, Unigram, WordLevel))
    names = {token.token_id: token.content for token in tokenizer.special_tokens}
    texts = [names.get(number, model.vocabulary.token(number)).decode() for number in range(model.vocabulary.size)]
    if isinstance(model, WordLevel):
        return [(text, None, None) for text in texts]
    return list(zip(texts, model.scores, model.kinds, strict=True))


def train(lines: Iterable[str], **options: Any) -> Trained:
    """Train as the command line does."""
    settings = ours.Options(**options)
    counts = new_counts()
    documents = Block.of([line.encode() for line in lines])
    ours.TRAINER.count([documents], settings, counts)
    return ours.TRAINER.train(counts, settings)


def train_theirs(lines: Iterable[str], **options: Any) -> Any:
    """Train by the library, with one thread."""
    written = io.BytesIO()
    given = {NAMES.get(name, name): list(each) if isinstance(each, tuple) else each for name, each in options.items()}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=written, minloglevel=3, hard_vocab_limit=False, num_threads=1,
        **given,
    )  # fmt: skip
    return sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())


# -- recorded --------------------------------------------------------------------------------------


def arguments_of(shared: Path, name: str) -> dict[str, Any]:
    return dict(json.loads((shared / RECORDED / "REPORT.json").read_bytes())[name]["args"])


def inputs_of(shared: Path, name: str) -> list[Path]:
    given = arguments_of(shared, name)["input"]
    return [shared / path for path in ([given] if isinstance(given, str) else given)]


def command(shared: Path, name: str) -> list[str | Path]:
    """Write a recorded training as ours is called."""
    known = {their_name: name for name, their_name in NAMES.items()}
    words: list[str | Path] = ["train", "--compat", "sentencepiece", *inputs_of(shared, name)]
    for their_name, value in arguments_of(shared, name).items():
        option = known.get(their_name, their_name)
        if option == "special_tokens":
            words += [word for text in value for word in ("--special", text)]
        elif option in ("model", "vocab_size", "max_token_length"):
            words += ["-a" if option == "model" else "--" + option.replace("_", "-"), str(value)]
        elif option != "input":
            text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
            words += ["--set", f"{option}={','.join(text) if isinstance(text, list) else text}"]
    return words


@cache
def recorded(shared: Path, name: str) -> tuple[Tokenizer, bytes]:
    """Repeat a recorded training by the command line: the tokenizer, and its file."""
    done = call(*command(shared, name), "--format", "sentencepiece", "-q")
    assert (done.status, done.err) == (0, "" if name != "char.botchan" else done.err)
    return formats.FORMATS["sentencepiece"].loads(done.out), done.out


def theirs_of(shared: Path, name: str) -> Any:
    return sentencepiece.SentencePieceProcessor(model_file=str(shared / RECORDED / f"{name}.model"))


@pytest.mark.parametrize("name", EXACT)
def test_recorded_models_are_equal(shared: Path, name: str) -> None:
    expected = pieces_of(theirs_of(shared, name))
    written = pieces_of(sentencepiece.SentencePieceProcessor(model_proto=recorded(shared, name)[1]))
    if name.startswith("word"):  # nothing depends on the scores of words, and tokenizers do not keep them
        expected = [(text, 0.0, kind) for text, _, kind in expected]
    assert written == expected


def test_recorded_scores_of_words_are_equal(shared: Path) -> None:
    lines = inputs_of(shared, "word.botchan.1000")[0].read_text(encoding="utf-8").splitlines()
    options = ours.Options(1000, "word")
    counts = new_counts()
    ours.TRAINER.count([Block.of([line.encode() for line in lines])], options, counts)
    expected = [(text, score) for text, score, _ in pieces_of(theirs_of(shared, "word.botchan.1000"))]
    assert ours.learn(counts, options).pieces == expected[3:]


@pytest.mark.parametrize("name", EXACT)
def test_recorded_encodings_are_equal(shared: Path, name: str) -> None:
    tokenizer, content = recorded(shared, name)
    written = sentencepiece.SentencePieceProcessor(model_proto=content)
    cases = json.loads((shared / RECORDED / f"{name}.json").read_bytes())["cases"]
    texts = suite(shared)
    for case, expected in cases.items():
        assert tokenizer.encode(texts[case]) == expected["ids"], case
        assert written.encode(texts[case]) == expected["ids"], case


@pytest.mark.parametrize("name", NEAR)
def test_recorded_unigram_models_are_near(shared: Path, name: str) -> None:
    from tests.differential.test_unigram_training import likelihood

    theirs, (tokenizer, _) = theirs_of(shared, name), recorded(shared, name)
    expected, found = pieces_of(theirs), trained_pieces(tokenizer)
    given = [piece for piece in expected if piece[2] != ours.NORMAL]
    assert found[: len(given)] == given
    assert len(found) == len(expected)
    lost, worse = NEAR[name]
    scores = {text: score for text, score, _ in found}
    their_scores = {text: score for text, score, _ in expected}
    assert len(their_scores.keys() - scores.keys()) <= lost
    # What the one has and the other has not is worth as much as the last pieces that both have.
    last = min(score for text, score in their_scores.items() if len(text) > 1 and text in scores and score < 0)
    for text in their_scores.keys() ^ scores.keys():
        assert (their_scores | scores)[text] < last + CLOSE, text
    best = expected[len(given) :][:100]
    assert [scores[text] for text, _, _ in best] == pytest.approx([score for _, score, _ in best], abs=0.02)
    model = tokenizer.model
    assert isinstance(model, Unigram)
    lines = [theirs.normalize(line).encode() for line in usable(inputs_of(shared, name)[0])]
    lines = [line for line in lines if line]
    assert likelihood(model, lines) >= likelihood(of_processor(theirs), lines) * (1 + worse)  # both are negative


def usable(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").split("\n") if 0 < len(line.encode()) <= 4192]


@pytest.mark.parametrize("name", NEAR)
def test_recorded_unigram_models_cut_nearly_alike(shared: Path, name: str) -> None:
    """With other pieces some texts become others; most of the suite's texts do not."""
    tokenizer, content = recorded(shared, name)
    written = sentencepiece.SentencePieceProcessor(model_proto=content)
    cases = json.loads((shared / RECORDED / f"{name}.json").read_bytes())["cases"]
    texts = suite(shared)
    names = {number: text for number, (text, _, _) in enumerate(trained_pieces(tokenizer))}
    same = 0
    for case, expected in cases.items():
        ids = tokenizer.encode(texts[case])
        assert written.encode(texts[case]) == ids, case
        theirs = theirs_of_ids(shared, name)
        same += [names[token_id] for token_id in ids] == [theirs[token_id] for token_id in expected["ids"]]
    assert same >= 0.9 * len(cases)


@cache
def theirs_of_ids(shared: Path, name: str) -> list[str]:
    return [text for text, _, _ in pieces_of(theirs_of(shared, name))]


# -- random ----------------------------------------------------------------------------------------

LETTERS = [*"abcabcabc  12é", *"語かカー１ёİﬁ\u3000"]


def random_lines(draw: random.Random, most: int = 40) -> list[str]:
    """Return lines with several scripts, what normalization changes, and some that are passed over."""
    lines = ["".join(draw.choices(LETTERS, k=draw.randint(0, 30))) for _ in range(draw.randint(4, most))]
    return [*lines, *draw.choices(["", "ab▅ab", " ", "abc<s>ab"], k=draw.randint(0, 2))]


def random_options(draw: random.Random, model: str) -> dict[str, Any]:
    options: dict[str, Any] = {
        "model": model,
        "vocab_size": draw.randint(24, 50),
        "normalization": draw.choice(["nmt_nfkc", "nfkc_cf", "identity"]),
        "add_dummy_prefix": draw.random() < 0.7,
        "remove_extra_whitespaces": draw.random() < 0.7,
        "treat_whitespace_as_suffix": draw.random() < 0.3,
        "character_coverage": draw.choice([0.98, 0.99, 0.9995, 1.0]),
        "required_chars": draw.choice(["", "", "é語"]),
        "user_defined": draw.choice([(), (), ("ab", "c1"), ("a",), ("<s>",), ("bc", "bca", "b")]),
        "special_tokens": draw.choice([(), ("<c>",)]),
        "pad_id": draw.choice([-1, 3]),
        "max_sentence_length": draw.choice([4192, 25]),
    }
    if model == "word" and options["character_coverage"] < 0.999:
        options["add_dummy_prefix"] = True  # see test_words_end_at_blanks_that_are_rare
    if model == "bpe":
        options |= {name: draw.random() < 0.7 for name in ("split_by_whitespace", "split_by_unicode_script")}
        options |= {name: draw.random() < 0.4 for name in ("split_digits", "allow_whitespace_only_pieces")}
        options |= {"split_by_number": draw.random() < 0.7, "max_token_length": draw.choice([16, 3])}
    if model != "word" and draw.random() < 0.1:
        options |= {"byte_fallback": True, "vocab_size": options["vocab_size"] + 256}
    return options


@pytest.mark.parametrize("model", ["bpe", "char", "word"])
def test_random_training(model: str, tmp_path: Path) -> None:
    draw = random.Random(model)
    compared = 0
    for _ in range(60):
        lines, options = random_lines(draw), random_options(draw, model)
        try:
            theirs = train_theirs(lines, **options)
        except RuntimeError:
            continue  # there are too few lines left, or more characters than pieces
        trained = train(lines, **options)
        if model == "bpe" and trained.shortfall:
            continue  # theirs goes on with pairs that occur no longer
        compared += 1
        expected = pieces_of(theirs)
        found = trained_pieces(trained.tokenizer)
        if model == "word":
            assert [text for text, _, _ in found] == [text for text, _, _ in expected], (lines, options)
        else:
            required = {text for text, score, _ in expected if score == float("-inf")}
            theirs_scored = [(text, None if text in required else score, kind) for text, score, kind in expected]
            assert [(t, None if t in required else s, k) for t, s, k in found] == theirs_scored, (lines, options)
        path = tmp_path / "model"
        path.write_bytes(formats.rehearse(trained.tokenizer, "sentencepiece")[""])  # the library itself verifies it
        assert_same_texts(trained.tokenizer, theirs, path, [*lines, "x ab<s>c1", "a<c>b  "])
    assert compared >= 30


def test_words_end_at_blanks_that_are_rare() -> None:
    """Theirs leaves rare characters out before it cuts, so a blank that is one of them ends no word there."""
    lines = ["ab" * 20, "ab" * 20, "2", "2 ab"]
    options = {"model": "word", "vocab_size": 9, "character_coverage": 0.98, "add_dummy_prefix": False}
    assert [text for text, _, _ in pieces_of(train_theirs(lines, **options))][3:] == ["ab" * 20, "2"]
    tokenizer = train(lines, **options).tokenizer
    assert [text for text, _, _ in trained_pieces(tokenizer)][3:] == ["2", "ab" * 20]
    assert tokenizer.encode("2 ab") == [3, 0]


def test_what_theirs_passes_over() -> None:
    """Sentences too long in bytes, with U+2585, and empty ones count for nothing; a TAB is a character."""
    kept = ["the cat\tsat", "é" * 12, "the hat"]
    passed = ["é" * 13, "a▅b", "", "x" * 26]
    options = {"model": "char", "vocab_size": 40, "normalization": "identity", "max_sentence_length": 25}
    theirs = pieces_of(train_theirs([*passed, *kept, *passed], **options))
    assert trained_pieces(train([*passed, *kept, *passed], **options).tokenizer) == theirs
    assert trained_pieces(train(kept, **options).tokenizer) == theirs
    assert "\t" in {text for text, _, _ in theirs}


def test_given_pieces_count_for_coverage() -> None:
    """They stand for one character each, which has no piece and is no tab: two of three characters here."""
    lines = ["a" * 97 + "bcb", "<sep>" * 200]
    options = {"vocab_size": 12, "normalization": "identity", "add_dummy_prefix": False, "character_coverage": 0.985}
    for model in ("char", "bpe", "unigram"):
        given: dict[str, Any] = {"model": model, "user_defined": ("<sep>",), **options}
        theirs = {text for text, _, _ in pieces_of(train_theirs(lines, **given)) if len(text) == 1}
        assert {text for text, _, _ in trained_pieces(train(lines, **given).tokenizer) if len(text) == 1} == theirs
        assert theirs == {"a"}


def assert_same_texts(tokenizer: Tokenizer, theirs: Any, path: Path, texts: list[str]) -> None:
    """Hold our engine and the library on our file against the library on its own model."""
    written = sentencepiece.SentencePieceProcessor(model_file=str(path))
    for text in texts:
        ids = theirs.encode(text)
        assert tokenizer.encode(text) == ids, text
        assert written.encode(text) == ids, text
        assert written.normalize(text) == theirs.normalize(text)
        assert written.encode(text, out_type=str) == theirs.encode(text, out_type=str)
        decoded = theirs.decode(ids)
        assert written.decode(ids) == decoded
        assert tokenizer.decode_bytes(ids).decode() == decoded, text


def test_random_unigram_training(tmp_path: Path) -> None:
    """Pieces that are given and characters are equal, and the file gives the library what our engine has."""
    draw = random.Random(11)
    for _ in range(30):
        lines, options = random_lines(draw, 80), random_options(draw, "unigram")
        theirs = train_theirs(lines, **options)
        tokenizer = train(lines, **options).tokenizer
        found, expected = trained_pieces(tokenizer), pieces_of(theirs)
        meta = [piece for piece in expected if piece[2] != ours.NORMAL]
        assert found[: len(meta)] == meta
        characters = {text for text, _, kind in expected if kind == ours.NORMAL and len(text) == 1}
        assert {text for text, _, kind in found if kind == ours.NORMAL and len(text) == 1} == characters
        path = tmp_path / "model"
        path.write_bytes(formats.dump(tokenizer, "sentencepiece")[""])
        written = sentencepiece.SentencePieceProcessor(model_file=str(path))
        for text in lines:
            ids = written.encode(text)
            assert tokenizer.encode(text) == ids or is_tied(tokenizer, ids, text), (options, text)
            assert written.normalize(text) == theirs.normalize(text)
            assert tokenizer.decode(ids) == written.decode(ids)


def is_tied(tokenizer: Tokenizer, ids: list[int], text: str) -> bool:
    """Return whether other ids for a text are worth the same in f32."""
    model = tokenizer.model
    assert isinstance(model, Unigram)

    def worth(tokens: list[int]) -> float:
        return sum(struct.unpack("<f", struct.pack("<f", model.scores[token_id]))[0] for token_id in tokens)

    return worth(tokenizer.encode(text)) == pytest.approx(worth(ids), abs=1e-4)
