"""WordPiece, Unigram and SentencePiece's BPE learnt from a file, as whole processes; judged by how well they do."""

from __future__ import annotations

import itertools
import sys
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import texts
from benchmarks.entries import Entry, first_digest
from benchmarks.libraries import OURS
from benchmarks.processes import bpe_command, timed
from benchmarks.results import Cell

TEXTS = ("english", "chinese")
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
SENTENCEPIECE = """
import os, sys, sentencepiece
model = sys.argv[2] + ".sp"
sentencepiece.SentencePieceTrainer.train(
    input=sys.argv[1], model_prefix=model, model_type="KIND", vocab_size=int(sys.argv[3]),
    num_threads=int(sys.argv[4]), minloglevel=2, max_sentence_length=1000000)
os.replace(model + ".model", sys.argv[2])
"""
LIMIT = 300
"""Seconds after which a library is stopped: SentencePiece learns Unigram from Chinese in about half of them."""


@dataclass(frozen=True, slots=True)
class Learning:
    """What is learnt: its name in the tables, the options of each way of ours, the rival and its script."""

    name: str
    ours: Mapping[str, tuple[str, ...]]
    rival: str
    script: str


LEARNINGS = (
    Learning("WordPiece", {"compat": ("-a", "wordpiece", "--compat", "hf")}, "tokenizers", WORDPIECE),
    Learning(
        "Unigram",
        {"": ("-a", "unigram", "--lines"), "compat": ("-a", "unigram", "--compat", "sentencepiece")},
        "sentencepiece", SENTENCEPIECE.replace("KIND", "unigram"),
    ),
    Learning(
        "SentencePiece's BPE", {"compat": ("-a", "bpe", "--compat", "sentencepiece")},
        "sentencepiece", SENTENCEPIECE.replace("KIND", "bpe"),
    ),
)  # fmt: skip


class LearnModels:
    """Learn WordPiece beside tokenizers, Unigram and SentencePiece's BPE beside SentencePiece."""

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        chosen = [plan.texts[name] for name in TEXTS if name in plan.texts] or [next(iter(plan.texts.values()))]
        threads = max(plan.threads)
        for text, learning in itertools.product(chosen, LEARNINGS):
            for name, way in [*((OURS, way) for way in learning.ours), (learning.rival, "")]:
                cell = Cell("learn", "", text.name, f"{learning.name} {VOCAB_SIZE // 1000}k", threads, name, way)
                if plan.versions[name] is None:
                    cell.status = "not installed"
                rounds = plan.options.repetitions if name == OURS else 1
                yield Entry({"": cell}, rounds, partial(self.measure, plan, learning, text, name, way, threads))

    @staticmethod
    def measure(plan: Any, learning: Learning, text: texts.Text, name: str, way: str, threads: int) -> dict[str, Any]:
        """Learn once, and say how well what was learnt does."""
        from bpe_cli import load

        source, held_out, documents = divided(text, plan.folder)
        with tempfile.TemporaryDirectory(dir=plan.folder) as folder:
            target = Path(folder, "out")
            if name == OURS:
                command = [
                    *bpe_command(), "train", str(source), "-q", "-o", str(target), "-s", str(VOCAB_SIZE),
                    "--threads", str(threads), *learning.ours[way],
                ]  # fmt: skip
            else:
                script = [sys.executable, "-c", learning.script]
                command = [*script, str(source), str(target), str(VOCAB_SIZE), str(threads)]
            taken = timed(command, threads, LIMIT)
            learnt = load(target)
            return {
                "bytes": source.stat().st_size, "documents": documents,
                "tokens": len(learnt.model.vocabulary), "passes": [taken], "peak": taken["peak"],
                "digest": quality(learnt, held_out.read_bytes().split(b"\n")),
            }  # fmt: skip

    def expected(self, _: Any, entry: Entry, entries: Sequence[Entry]) -> tuple[object, str]:
        """Return how well the rival's tokenizer does."""
        quality_of_rival, library = first_digest(entries, ("sentencepiece", "tokenizers"), entry)
        return quality_of_rival, f"that of {library} on held-out text: {entry.digest} a byte"

    @staticmethod
    def accepts(found: object, expected: object) -> bool:
        """Return whether a tokenizer does as well as it should."""
        if not isinstance(found, float) or not isinstance(expected, float):
            return False
        return found >= expected - TOLERANCE * abs(expected)


def divided(text: texts.Text, folder: Path) -> tuple[Path, Path, int]:
    """Write the lines to learn from, and those to judge by, and give the files and how many documents the first has."""
    documents = texts.read(text.path)
    border = len(documents) // HELD_OUT
    learnt, held_out = folder / f"{text.name}.learnt.txt", folder / f"{text.name}.held_out.txt"
    if not learnt.exists():
        learnt.write_bytes(b"\n".join(lines(documents[border:])))
        held_out.write_bytes(b"\n".join(lines(documents[:border])))
    return learnt, held_out, len(documents) - border


def lines(documents: Sequence[bytes]) -> list[bytes]:
    r"""Return the lines of documents as SentencePiece's normalization leaves them: it is not what is measured here.

    >>> lines(["x  y \n\n\ufb01ne".encode()])
    [b'x y', b'fine']
    """
    texts = (unicodedata.normalize("NFKC", document.decode("utf-8", "replace")) for document in documents)
    plain = (" ".join(line.split()) for text in texts for line in text.split("\n"))
    return [line.encode() for line in plain if line]


def quality(tokenizer: Any, documents: Sequence[bytes]) -> float:
    """Measure a tokenizer on documents: the log-likelihood a byte of a unigram model, of others minus the tokens.

    A token without a score (what is unknown) gets ten less than the lowest, as SentencePiece gives it.
    """
    scores = tokenizer.model.scores
    size = sum(map(len, documents))
    ids = [token_id for document in documents for token_id in tokenizer.encode(document)]
    if tokenizer.model.kind != "unigram":
        return round(-len(ids) / size, 5)
    lowest = min(scores) - 10
    unknown = tokenizer.model.unk_id
    return round(sum(lowest if token_id == unknown else scores[token_id] for token_id in ids) / size, 5)
