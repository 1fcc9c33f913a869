"""Training of unigram models against SentencePiece's own models of the same texts.

SentencePiece adds in f32, in an order that changes between its releases and with its threads. The
substrings that training begins with are the same, and so is what each round keeps; the scores differ in
the last digits, and with them which of nearly equal tokens goes. So the sets of tokens are compared, and
how well the model says the corpus.
"""

from __future__ import annotations

import json
from array import array
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from bpe_cli.stages import Metaspace, Unigram
from bpe_cli.trainers import unigram
from bpe_cli.trainers.base import new_counts
from tests.differential.unigram_models import CONTROL, NORMAL, UNKNOWN, of_processor, pipeline

sentencepiece = pytest.importorskip("sentencepiece")

LONGEST_LINE = 4192
LEFT_OUT = "▅".encode()


def normalized_lines(processor: Any, path: Path, meta: list[str]) -> list[bytes]:
    """Give the lines that SentencePiece trains on, as its normalizer writes them."""
    lines = []
    for line in path.read_bytes().split(b"\n"):
        if line and len(line) <= LONGEST_LINE and LEFT_OUT not in line:
            text = processor.normalize(line.decode())
            for piece in sorted(meta, key=len, reverse=True):
                text = text.replace(piece, "\t")
            if text:
                lines.append(text.encode())
    return lines


def likelihood(model: Unigram, lines: list[bytes]) -> float:
    """Add up the scores of the best segmentations, per line, in f64."""
    compiled = pipeline(Unigram(model.vocabulary, scores=model.scores, unk_id=model.unk_id, kinds=model.kinds))
    return sum(compiled.nbest(line, 1)[0][1] for line in lines) / len(lines)


@pytest.mark.parametrize(
    ("name", "same"),
    [("unigram.botchan.1000", 0.99), ("unigram.ru.nfkc_cf.1500", 0.99), ("unigram.ja.4000", 0.98)],
)
def test_sentencepiece(shared: Path, name: str, same: float) -> None:
    folder = shared / "expected" / "train" / "sentencepiece"
    arguments = json.loads((folder / "REPORT.json").read_text("utf-8"))[name]["args"]
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{name}.model"))
    theirs = of_processor(processor)
    lines = normalized_lines(processor, shared / arguments["input"], ["<unk>", "<s>", "</s>"])
    counts = new_counts()
    counts.add_pieces(b"".join(lines), array("Q", accumulate(map(len, lines))), None)
    options = unigram.Options(
        vocab_size=arguments["vocab_size"],
        special_tokens=("<s>", "</s>"),
        pre_tokenizer=(Metaspace(),),
        character_coverage=arguments.get("character_coverage", 0.9995),
        compat="sentencepiece",
    )
    ours = unigram.train(counts, options).tokenizer.model
    assert isinstance(ours, Unigram)
    expected = {token: theirs.scores[token_id] for token_id, token in theirs.vocabulary.items()}
    found = {token: ours.scores[token_id] for token_id, token in ours.vocabulary.items()}
    assert len(found) == len(expected) == arguments["vocab_size"] - 3
    assert {theirs.kinds[number] for number in range(3)} == {UNKNOWN, CONTROL}
    assert set(theirs.kinds[3:]) == {NORMAL}
    assert len(found.keys() & expected.keys()) >= same * len(expected)
    best = list(expected)[:100]
    assert [found[token] for token in best] == pytest.approx([expected[token] for token in best], abs=0.02)
    assert likelihood(ours, lines) >= likelihood(theirs, lines) * 1.0001  # both are negative


def test_em_says_the_corpus_better(shared: Path) -> None:
    """In f64 and with substrings that SentencePiece misses, the same text is more likely."""
    folder = shared / "expected" / "train" / "sentencepiece"
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "unigram.botchan.1000.model"))
    lines = normalized_lines(processor, shared / "corpora" / "default" / "en-botchan.txt", [])
    words = [word for line in lines for word in line.replace("▁".encode(), " ▁".encode()).split()]
    counts = new_counts()
    counts.add_pieces(b"".join(words), array("Q", accumulate(map(len, words))), None)
    options = unigram.Options(vocab_size=1000, special_tokens=("<s>", "</s>"))
    first = unigram.train(counts, options).tokenizer.model
    assert isinstance(first, Unigram)
    assert unigram.train(counts, options, threads=2).tokenizer.model == first
    assert likelihood(first, lines) >= likelihood(of_processor(processor), lines) * 1.001
