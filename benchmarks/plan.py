"""What a round measures: every process of it, the cells that its answers go to, and what a right answer is."""

from __future__ import annotations

import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import machine, results, texts
from benchmarks.libraries import LIBRARIES, OURS, STARTUP, TRAINING_RULES, Job
from benchmarks.processes import WorkerFailed, start, work
from benchmarks.results import Cell

OPERATIONS = ("encode", "count", "decode", "train", "start")
DEFAULT_ENCODINGS = ("cl100k_base",)
LINE = "The quick brown fox jumps over the lazy dog, 12345 times: 你好, мир!"
TRAIN_PATTERN = "gpt2"
"""The only pattern that all trainers know."""
VOCAB_SIZE = 32_000
GIGATOKEN_SCHEMES = {"gpt2": "gpt2", "r50k_base": "gpt2", "cl100k_base": "gpt4", "o200k_base": "o200k"}

FEWEST = 3
"""Repetitions that every measurement gets, and all that the long ones get (training, decoding)."""
START_RUNS = 2
DECODE_PASSES = 3


@dataclass(frozen=True, slots=True)
class Training:
    """On what to train: every n-th document of a text, with how many threads."""

    stride: int
    threads: tuple[int, ...]


# A round has to end within ten minutes, and the slowest trainer needs 20 s for 20 MB of Chinese.
TRAINING = {"english": Training(1, (1, 2)), "code": Training(1, (2,)), "chinese": Training(3, (2,))}
DECODING = ("english", "chinese")
DECODE_STRIDE = 2


@dataclass
class Entry:
    """A process to run in every round, and the cells that its answers belong to, by phase."""

    cells: dict[str, Cell]
    rounds: int
    measure: Callable[[], dict[str, Any]]
    digest: object = None
    seconds: float = 0.0  # of the last round
    imported: tuple[str, ...] = ()  # in the first pass, where it counts

    @property
    def first(self) -> Cell:
        """Any of its cells, for what they have in common."""
        return next(iter(self.cells.values()))

    def run(self) -> None:
        """Measure once more; after a failure, never again."""
        if self.first.status in {"failed", "not installed"}:
            return
        began = time.perf_counter()
        try:
            self.take(self.measure())
        except WorkerFailed as error:
            for cell in self.cells.values():
                cell.status, cell.note = "failed", str(error)
        self.seconds = time.perf_counter() - began

    def take(self, answer: dict[str, Any]) -> None:
        """Note down what a worker answered."""
        digest = answer["tokens"] if self.first.operation == "count" else answer["digest"]
        if self.digest not in (None, digest):
            raise WorkerFailed("gave another result when it ran again")
        self.digest = digest
        self.imported = tuple(answer.get("imported", ()))
        for number, (phase, cell) in enumerate(self.cells.items()):
            cell.bytes, cell.documents, cell.tokens = answer["bytes"], answer["documents"], answer["tokens"]
            passes = answer["passes"]
            chosen = passes if len(self.cells) == 1 else passes[:1] if number == 0 else passes[1:]
            cell.wall += [one["wall"] for one in chosen]
            cell.cpu += [one["cpu"] for one in chosen]
            if answer.get("peak") is not None and phase != "warm":
                cell.peak.append(answer["peak"])


@dataclass(frozen=True, slots=True)
class Options:
    """What a round is to be.

    Attributes:
        mode: ``default``, ``quick`` or ``full``.
        repetitions: How many rounds.
        operations: Which operations.
        texts: Names of texts, where they exist.
        encodings: Names of encodings.
        limit: Bytes of each text, or None for all.
        minutes: Leave out what is over ``FEWEST`` repetitions when it would take longer than this; None: never.
    """

    mode: str
    repetitions: int
    operations: tuple[str, ...]
    texts: tuple[str, ...]
    encodings: tuple[str, ...]
    limit: int | None
    minutes: float | None


class Plan:
    """All that a round measures."""

    def __init__(self, options: Options, prepared: Sequence[texts.Text], folder: Path) -> None:
        self.options = options
        self.texts = {text.name: text for text in prepared}
        self.folder = folder
        self.threads = (1, 2) if machine.cores() > 1 else (1,)
        self.versions = {name: machine.version_of(library.distribution) for name, library in LIBRARIES.items()}
        self.references: dict[tuple[str, str, int], dict[str, Any]] = {}
        self.reference_library = "tiktoken" if self.versions["tiktoken"] else OURS

    # -- files that libraries load -----------------------------------------------------------------

    def job(self, encoding: str, **what: Any) -> Job:
        """Give a job with an encoding's files, which are written when they are first needed."""
        from bpe_cli import dump, named

        tokenizer = named(encoding)
        ranks, hf_json = self.folder / f"{encoding}.tiktoken", self.folder / f"{encoding}.json"
        if not ranks.exists():
            ranks.write_bytes(dump(tokenizer, "tiktoken")[""])
            hf_json.write_bytes(dump(tokenizer, "tokenizer.json")[""])
        return Job(
            encoding=encoding, pattern=tokenizer.patterns[0], scheme=GIGATOKEN_SCHEMES.get(encoding, encoding),
            ranks=str(ranks), tokenizer_json=str(hf_json), **what,
        )  # fmt: skip

    def ids_of(self, text: str, encoding: str) -> Path:
        """Give the file of the ids that are to be decoded."""
        return self.folder / f"{text}.{encoding}.ids"

    # -- the entries -------------------------------------------------------------------------------

    def entries(self) -> Iterator[Entry]:
        """Give all processes of a round."""
        makers = {"encode": self.encoding, "count": self.counting, "decode": self.decoding, "train": self.training}
        for operation in self.options.operations:
            yield from makers[operation]() if operation in makers else self.starting()

    def entry(self, job: Job, text: str, tokenizer: str, phases: tuple[str, ...], rounds: int) -> Entry:
        """Give one process of a round."""
        cells = {
            phase: Cell(job.operation, phase, text, tokenizer, job.threads, job.library, job.way) for phase in phases
        }
        if self.versions[job.library] is None:
            for cell in cells.values():
                cell.status = "not installed"
        return Entry(cells, rounds, lambda: work(job))

    def encoding(self) -> Iterator[Entry]:
        """Encode each text: once cold, once warm."""
        for encoding in self.options.encodings:
            for text in self.texts.values():
                for threads in self.threads:
                    for name, way in ways("encode"):
                        job = self.job(
                            encoding, operation="encode", library=name, way=way, threads=threads, passes=2,
                            text=str(text.path), stride=LIBRARIES[name].stride,
                        )  # fmt: skip
                        yield self.entry(job, text.name, encoding, ("cold", "warm"), self.options.repetitions)

    def counting(self) -> Iterator[Entry]:
        """Count the tokens of each text, which only we can without making ids."""
        for encoding in self.options.encodings:
            for text in self.texts.values():
                for threads in self.threads:
                    job = self.job(
                        encoding, operation="count", library=OURS, threads=threads, passes=2, text=str(text.path)
                    )
                    yield self.entry(job, text.name, encoding, ("cold", "warm"), self.options.repetitions)

    def decoding(self) -> Iterator[Entry]:
        """Decode the ids of some texts."""
        rounds = min(FEWEST, self.options.repetitions)
        for encoding in self.options.encodings:
            for text in self.decoded():
                for name, way in ways("decode"):
                    job = self.job(
                        encoding, operation="decode", library=name, way=way, passes=DECODE_PASSES, text=str(text.path),
                        stride=DECODE_STRIDE, ids=str(self.ids_of(text.name, encoding)),
                    )  # fmt: skip
                    yield self.entry(job, text.name, encoding, ("cold", "warm"), rounds)

    def decoded(self) -> list[texts.Text]:
        """Give the texts whose ids are decoded."""
        chosen = [text for name, text in self.texts.items() if name in DECODING or self.options.mode == "full"]
        return chosen or list(self.texts.values())

    def training(self) -> Iterator[Entry]:
        """Train byte-level BPE."""
        for text, how in self.trained():
            for threads in how.threads:
                if threads in self.threads:
                    for name, way in ways("train"):
                        job = self.training_job(text, how, library=name, way=way, threads=threads)
                        rounds = min(FEWEST, self.options.repetitions)
                        yield self.entry(job, text.name, f"{VOCAB_SIZE // 1000}k", ("",), rounds)

    def training_job(self, text: texts.Text, how: Training, **what: Any) -> Job:
        """Give a job that trains."""
        from bpe_cli import PATTERNS

        return Job(
            operation="train", text=str(text.path), stride=how.stride, pattern=PATTERNS[TRAIN_PATTERN].regex,
            vocab_size=VOCAB_SIZE, **what,
        )  # fmt: skip

    def trained(self) -> list[tuple[texts.Text, Training]]:
        """Give the texts that are trained on."""
        if self.options.mode == "full":
            return [(text, Training(1, (1, 2))) for text in self.texts.values()]
        chosen = [(text, TRAINING[name]) for name, text in self.texts.items() if name in TRAINING]
        return chosen or [(text, Training(1, (1, 2))) for text in self.texts.values()]

    def starting(self) -> Iterator[Entry]:
        """Encode one line in a fresh process."""
        for encoding in self.options.encodings:
            job = self.job(encoding, operation="start", library=OURS)
            arguments = [encoding, LINE, job.pattern, job.ranks, job.tokenizer_json, job.scheme]
            command = Path(sysconfig.get_path("scripts")) / "bpe"
            commands = {(OURS, "command"): [str(command), "encode", "-T", LINE, "-t", encoding]}
            for name, code in STARTUP.items():
                commands[name, "library" if name == OURS else ""] = [sys.executable, "-c", code, *arguments]
            commands["python", "alone"] = [sys.executable, "-c", "pass"]
            for (name, way), line in commands.items():
                cell = Cell("start", "", "one line", encoding, 1, name, way)
                if name in self.versions and self.versions[name] is None:
                    cell.status = "not installed"
                yield Entry({"": cell}, self.options.repetitions, partial(start, line, LINE, START_RUNS))

    # -- what is right -----------------------------------------------------------------------------

    def refer(self) -> None:
        """Encode with the reference what others will encode, and keep the ids that are to be decoded."""
        operations = self.options.operations
        for encoding in self.options.encodings:
            for text in self.texts.values():
                strides = {library.stride for library in LIBRARIES.values()} if "encode" in operations else set()
                strides |= {1} if "count" in operations else set()
                decoded = "decode" in operations and text in self.decoded()
                for stride in sorted(strides | ({DECODE_STRIDE} if decoded else set())):
                    ids = str(self.ids_of(text.name, encoding)) if decoded and stride == DECODE_STRIDE else ""
                    job = self.job(
                        encoding, operation="encode", library=self.reference_library, threads=max(self.threads),
                        text=str(text.path), stride=stride, ids=ids,
                    )  # fmt: skip
                    self.references[text.name, encoding, stride] = work(job)

    def judge(self, entries: Sequence[Entry]) -> None:
        """Compare what every library gave with what it should be."""
        learnt = self.learnt(entries)
        digest, library = first_digest(entries, "start", ("tiktoken", OURS))
        line = (digest, f"the ids of {library}")
        for entry in entries:
            cell, library = entry.first, entry.first.library
            expected: object
            if cell.operation == "train":
                expected, whose = learnt[cell.text, TRAINING_RULES[library]]
            elif cell.operation == "start":
                expected, whose = line
            elif cell.operation == "decode":
                expected, whose = True, "the text"
            else:
                reference = self.references[cell.text, cell.tokenizer, LIBRARIES[library].stride]
                expected = reference["tokens" if cell.operation == "count" else "digest"]
                whose = f"the ids of {self.reference_library}"
            for one in entry.cells.values():
                if library == "python":
                    one.status, one.note = "baseline", "an interpreter that does nothing"
                    continue
                results.judge(one, entry.digest, expected, whose)
                if entry.imported and one.phase != "warm":
                    one.note += f"; its time includes importing {', '.join(entry.imported)}"

    def learnt(self, entries: Sequence[Entry]) -> dict[tuple[str, str], tuple[object, str]]:
        """Give for each text and rule of ties what is to be learnt, and who says so."""
        right: dict[tuple[str, str], tuple[object, str]] = {}
        trainings = {text.name: how for text, how in self.trained()}
        for name in {entry.first.text for entry in entries if entry.first.operation == "train"}:
            digest, library = first_digest(entries, "train", ("tokenizers", OURS), name)
            right[name, "hf"] = (digest, f"the merges of {library}")
            right[name, "rustbpe"] = (None, "")
            if first_digest(entries, "train", ("rustbpe",), name)[0] is not None:
                # It breaks ties in its own way, in which we can train too.
                job = self.training_job(self.texts[name], trainings[name], library=OURS, rules="rustbpe")
                with suppress(WorkerFailed):
                    right[name, "rustbpe"] = (work(job)["digest"], "the merges of bpe under the rules of rustbpe")
        return right


def first_digest(
    entries: Iterable[Entry], operation: str, libraries: Sequence[str], text: str | None = None
) -> tuple[object, str]:
    """Give what the first of these libraries gave that was measured, and its name; (None, "") if none was."""
    found = {
        entry.first.library: entry.digest
        for entry in entries
        if entry.first.operation == operation and text in (None, entry.first.text) and entry.digest is not None
    }
    return next(((found[library], library) for library in libraries if library in found), (None, ""))


def ways(operation: str) -> list[tuple[str, str]]:
    """Give (library, way) of all that can do an operation; only encoding is done in several ways."""
    return [
        (name, way)
        for name, library in LIBRARIES.items()
        if operation in library.operations
        for way in (library.ways if operation == "encode" else ("",))
    ]
