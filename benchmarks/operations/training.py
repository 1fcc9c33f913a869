"""Byte-level BPE, documents in memory to merges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.entries import Entry, first_digest
from benchmarks.jobs import Job
from benchmarks.libraries import LIBRARIES, OURS, TRAINING_RULES
from benchmarks.processes import SECONDS, WorkerFailed, work

PATTERN = "gpt2"
"""The only pattern that all trainers know."""


@dataclass(frozen=True, slots=True)
class Training:
    """On what to train, and how often.

    Attributes:
        text: The text.
        stride: Of which every n-th document is trained on.
        vocab_size: How many tokens.
        threads: With how many threads.
        slow: Whether slow libraries train too.
        rounds: In how many rounds the others do; ours does in all.
        limit: After how many seconds a library is given up.
    """

    text: str
    stride: int
    vocab_size: int
    threads: tuple[int, ...]
    slow: bool = True
    rounds: int = 5
    limit: int = SECONDS


TRAININGS = (
    Training("english", 2, 32_000, (2,)),
    Training("english", 2, 100_000, (2,), limit=10),  # the fastest rival at 32k needs minutes for it
    Training("code", 2, 32_000, (2,), slow=False, rounds=2),
    Training("chinese", 6, 32_000, (2,), slow=False, rounds=1),  # the rivals need long for it
    Training("multilingual", 4, 32_000, (2,), slow=False, rounds=1),
)


class Train:
    """Train byte-level BPE."""

    def trainings(self, plan: Any) -> list[Training]:
        """Return what is trained on the texts that there are."""
        chosen = [training for training in TRAININGS if training.text in plan.texts]
        return chosen or [Training(name, 1, 32_000, (1, 2)) for name in plan.texts]

    def job(self, plan: Any, training: Training, **what: Any) -> Job:
        """Return a job that trains."""
        from bpe_cli.stages.patterns import PATTERNS

        return Job(
            operation="train", text=str(plan.texts[training.text].path), stride=training.stride,
            pattern=PATTERNS[PATTERN].regex, vocab_size=training.vocab_size, **what,
        )  # fmt: skip

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        for training in self.trainings(plan):
            for threads in training.threads:
                if threads not in plan.threads:
                    continue
                for name, library in LIBRARIES.items():
                    if "train" not in library.operations or (library.slow and not training.slow):
                        continue
                    job = self.job(plan, training, library=name, threads=threads)
                    rounds = plan.options.repetitions
                    if name != OURS:
                        rounds = min(1 if library.slow else training.rounds, rounds)
                    size = f"{training.vocab_size // 1000}k"
                    yield plan.entry(job, training.text, size, ("",), rounds, training.limit)

    def expected(self, plan: Any, entry: Entry, entries: Sequence[Entry]) -> tuple[object, str]:
        """Return the merges of the library that everybody trusts under the same rule of ties."""
        rules = TRAINING_RULES[entry.first.library]
        if rules == "hf":
            digest, library = first_digest(entries, ("tokenizers", "gigatoken", OURS), entry)
            return digest, f"the merges of {library}"
        # It breaks ties in its own way, in which we can train too.
        with suppress(WorkerFailed):
            cell = entry.first
            training = next(
                training for training in self.trainings(plan)
                if (training.text, f"{training.vocab_size // 1000}k") == (cell.text, cell.tokenizer)
            )  # fmt: skip
            job = replace(self.job(plan, training, library=OURS, threads=cell.threads), rules=rules)
            return work(job)["digest"], f"the merges of bpe under the rules of {rules}"
        return None, ""
