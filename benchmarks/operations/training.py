"""Byte-level BPE, documents in memory to merges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.entries import Entry, first_digest
from benchmarks.jobs import Job
from benchmarks.libraries import LIBRARIES, OURS, TRAINING_RULES
from benchmarks.processes import WorkerFailed, work

PATTERN = "gpt2"
"""The only pattern that all trainers know."""


LIMIT = 90
"""Seconds after which a library is stopped: many times what the fastest takes for any of these."""

BYTES_A_TOKEN = 100
"""A text has at least so many bytes for each token that is learnt, or it would give out."""


@dataclass(frozen=True, slots=True)
class Training:
    """On which whole text to train, how many tokens, and with how many threads."""

    text: str
    vocab_size: int
    threads: tuple[int, ...] = (2,)


TRAININGS = (
    Training("english", 32_000),
    Training("english", 100_000),
    Training("english", 256_000),
    Training("code", 32_000),
    Training("chinese", 32_000),
    Training("chinese", 256_000),
    Training("multilingual", 32_000),
)


class Train:
    """Train byte-level BPE."""

    def trainings(self, plan: Any) -> list[Training]:
        """Return what is trained on the texts that there are."""
        chosen = [
            training for training in TRAININGS
            if training.text in plan.texts and plan.texts[training.text].size >= BYTES_A_TOKEN * training.vocab_size
        ]  # fmt: skip
        return chosen or [Training(name, 32_000, (1, 2)) for name in plan.texts]

    def job(self, plan: Any, training: Training, **what: Any) -> Job:
        """Return a job that trains."""
        from bpe_cli.stages.patterns import PATTERNS

        return Job(
            operation="train", text=str(plan.texts[training.text].path), limit=LIMIT,
            pattern=PATTERNS[PATTERN].regex, vocab_size=training.vocab_size, **what,
        )  # fmt: skip

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        for training in self.trainings(plan):
            for threads in training.threads:
                if threads not in plan.threads:
                    continue
                for name, library in LIBRARIES.items():
                    if "train" not in library.operations:
                        continue
                    job = self.job(plan, training, library=name, threads=threads)
                    rounds = plan.options.repetitions if name == OURS else 1
                    yield plan.entry(job, training.text, size_of(training), ("",), rounds)

    def expected(self, plan: Any, entry: Entry, entries: Sequence[Entry]) -> tuple[object, str]:
        """Return the merges of the library that everybody trusts under the same rule of ties."""
        rules = TRAINING_RULES[entry.first.library]
        if rules == "hf":
            digest, library = first_digest(entries, ("tokenizers", "gigatoken"), entry)
            return digest, f"the merges of {library}"
        # It breaks ties in its own way, in which we can train too.
        with suppress(WorkerFailed):
            cell = entry.first
            training = next(
                training for training in self.trainings(plan)
                if (training.text, size_of(training)) == (cell.text, cell.tokenizer)
            )  # fmt: skip
            job = replace(self.job(plan, training, library=OURS, threads=cell.threads), rules=rules, limit=0)
            return work(job)["digest"], f"the merges of bpe under the rules of {rules}"
        return None, ""


def size_of(training: Training) -> str:
    """Return the number of tokens in a word."""
    return f"{training.vocab_size // 1000}k"
