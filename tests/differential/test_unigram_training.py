"""Training of unigram models in f64 against SentencePiece's own models of the same texts.

What follows SentencePiece's order and precision is in ``test_sentencepiece_training``.
"""

from __future__ import annotations

from array import array
from itertools import accumulate
from pathlib import Path
from typing import Any

from bpe_cli.stages import Unigram
from bpe_cli.trainers import unigram
from bpe_cli.trainers.counts import new_counts
from tests.differential.unigram_models import of_processor, pipeline
from tests.needs import needs

sentencepiece = needs("sentencepiece")

LONGEST_LINE = 4192
LEFT_OUT = "▅".encode()


def normalized_lines(processor: Any, path: Path, meta: list[str]) -> list[bytes]:
    """Return the lines that SentencePiece trains on, as its normalizer writes them."""
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


def test_em_says_the_corpus_better(shared: Path) -> None:
    """In f64 and with substrings that SentencePiece misses, the same text is more likely."""
    folder = shared / "expected" / "train" / "sentencepiece"
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "unigram.botchan.1000.model"))
    lines = normalized_lines(processor, shared / "corpora" / "default" / "en-botchan.txt", [])
    words = [word for line in lines for word in line.replace("▁".encode(), " ▁".encode()).split()]
    counts = new_counts()
    counts.add_pieces(b"".join(words), array("Q", accumulate(map(len, words))), None)
    options = unigram.Options(vocab_size=1000, special_tokens=("<s>", "</s>"))
    first = unigram.TRAINER.train(counts, options).tokenizer.model
    assert isinstance(first, Unigram)
    assert unigram.TRAINER.train(counts, options, threads=2).tokenizer.model == first
    assert likelihood(first, lines) >= likelihood(of_processor(processor), lines) * 1.001
