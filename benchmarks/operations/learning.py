"""WordPiece and Unigram learnt from a file, as whole processes; judged by how well the tokenizer does."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks import texts
from benchmarks.entries import Entry, first_digest
from benchmarks.libraries import OURS
from benchmarks.processes import bpe_command, timed
from benchmarks.results import Cell

TEXT = "english"
VOCAB_SIZE = 32_000
HELD_OUT = 10
"""The first tenth of the documents is not trained on: what was learnt is judged by it."""

TOLERANCE = 0.002
"""How much worse a tokenizer may do, as a share, and still count as equally good."""

WORDPIECE = """
import sys
from tokenizers import BertWordPieceTokenizer
tokenizer = BertWordPieceTokenizer()
tokenizer.train([sys.argv[1]], vocab_size=int(sys.argv[3]), show_progress=False)
tokenizer.save(sys.argv[2])
"""
UNIGRAM = """
import os, sys, sentencepiece
model = sys.argv[2] + ".sp"
sentencepiece.SentencePieceTrainer.train(
    input=sys.argv[1], model_prefix=model, model_type="unigram", vocab_size=int(sys.argv[3]),
    num_threads=int(sys.argv[4]), minloglevel=2, max_sentence_length=1000000)
os.replace(model + ".model", sys.argv[2])
"""


@dataclass(frozen=True, slots=True)
class Learning:
    """A way to learn a tokenizer: our options, the rival and its script, and on every n-th document."""

    algorithm: str
    options: tuple[str, ...]
    rival: str
    script: str
    stride: int
    rounds: int


LEARNINGS = (
    Learning("wordpiece", ("-a", "wordpiece"), "tokenizers", WORDPIECE, stride=2, rounds=1),
    Learning("unigram", ("-a", "unigram", "--lines"), "sentencepiece", UNIGRAM, stride=2, rounds=1),
)


class LearnModels:
    """Learn WordPiece beside tokenizers, Unigram beside SentencePiece."""

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        text = plan.texts.get(TEXT) or next(iter(plan.texts.values()))
        for learning in LEARNINGS:
            for name in (OURS, learning.rival):
                tokenizer = f"{learning.algorithm} {VOCAB_SIZE // 1000}k"
                threads = max(plan.threads)
                cell = Cell("learn", "", text.name, tokenizer, threads, name)
                if plan.versions[name] is None:
                    cell.status = "not installed"
                rounds = plan.options.repetitions if name == OURS else min(learning.rounds, plan.options.repetitions)
                yield Entry({"": cell}, rounds, partial(self.measure, plan, learning, text, name, threads))

    @staticmethod
    def measure(plan: Any, learning: Learning, text: texts.Text, name: str, threads: int) -> dict[str, Any]:
        """Learn once, and say how well what was learnt does."""
        from bpe_cli import load

        documents = texts.read(text.path, learning.stride)
        border = len(documents) // HELD_OUT
        source, target = plan.folder / f"{learning.algorithm}.txt", plan.folder / f"{learning.algorithm}.out"
        source.write_bytes(b"\n".join(lines(documents[border:])))
        if name == OURS:
            command = [
                *bpe_command(), "train", str(source), "-q", "-o", str(target), "-s", str(VOCAB_SIZE),
                "--threads", str(threads), *learning.options,
            ]  # fmt: skip
        else:
            command = [sys.executable, "-c", learning.script, str(source), str(target), str(VOCAB_SIZE), str(threads)]
        taken = timed(command, threads)
        learnt = load(target)
        answer = {
            "bytes": source.stat().st_size, "documents": len(documents) - border,
            "tokens": len(learnt.model.vocabulary), "passes": [taken], "peak": taken["peak"],
            "digest": quality(learnt, lines(documents[:border])),
        }  # fmt: skip
        for path in plan.folder.glob(f"{learning.algorithm}.*"):
            path.unlink()
        return answer

    def expected(self, _: Any, entry: Entry, entries: Sequence[Entry]) -> tuple[object, str]:
        """Return how well the rival's tokenizer does."""
        quality_of_rival, library = first_digest(entries, ("sentencepiece", "tokenizers", OURS), entry)
        return quality_of_rival, f"that of {library} on held-out text: {entry.digest} a byte"

    @staticmethod
    def accepts(found: object, expected: object) -> bool:
        """Return whether a tokenizer does as well as it should."""
        if not isinstance(found, float) or not isinstance(expected, float):
            return False
        return found >= expected - TOLERANCE * abs(expected)


def lines(documents: Sequence[bytes]) -> list[bytes]:
    r"""Return the lines of documents as SentencePiece's normalization leaves them: it is not what is measured here.

    >>> lines(["x  y \n\n\ufb01ne".encode()])
    [b'x y', b'fine']
    """
    texts = (unicodedata.normalize("NFKC", document.decode("utf-8", "replace")) for document in documents)
    plain = (" ".join(line.split()) for text in texts for line in text.split("\n"))
    return [line.encode() for line in plain if line]


def quality(tokenizer: Any, documents: Sequence[bytes]) -> float:
    """Measure a tokenizer on documents: the log-likelihood a byte where it has scores, else minus the tokens.

    A token without a score (what is unknown) gets ten less than the lowest, as SentencePiece gives it.
    """
    scores = tokenizer.model.scores
    size = sum(map(len, documents))
    ids = [token_id for document in documents for token_id in tokenizer.encode(document)]
    if not scores:
        return round(-len(ids) / size, 5)
    lowest = min(scores) - 10
    unknown = tokenizer.model.unk_id
    return round(sum(lowest if token_id == unknown else scores[token_id] for token_id in ids) / size, 5)
