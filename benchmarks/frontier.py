"""Train what research proposes beside plain BPE, measure all on text that training has not seen: frontier.json.

``python benchmarks/frontier.py`` trains each algorithm with each size on the same text, whole processes one after the
other, and measures with the reports of ``bpe compare`` and ``bpe inspect``. ``--render`` writes the table of
docs/explanation/frontier.md from the file, ``--check`` tells whether it is that. An algorithm that this build does not
have is left out, and the reason is printed and stored.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import frontier_page, machine, results
from benchmarks.frontier_texts import Corpus, Language, languages
from benchmarks.processes import WorkerFailed, run, timed
from bpe_cli import load
from bpe_cli.corpus import Source
from bpe_cli.jobs.compare import CompareOptions, compare
from bpe_cli.reports.comparison.comparison import METRICS, Comparison, interval_of

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "frontier.json"
PAGE = ROOT / "docs" / "explanation" / "frontier.md"
TEXTS = ROOT.parent / "shared" / "corpora" / "bench"
DEVELOPMENTS = ROOT.parent / "shared" / "corpora" / "full" / "udhr"
SIZES = (32_000, 128_000)
THREADS = 2
RARE = 10
"""A token that occurs at most so often in the text that it was learnt from is rare."""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """What is trained: the options of ``bpe train``, and whether it is told which file is in which language.

    ``{half}`` in an option stands for half of the size.
    """

    name: str
    options: tuple[str, ...]
    named: bool = False

    def arguments(self, corpora: Sequence[Corpus], size: int, output: Path) -> list[str]:
        """Return the arguments of ``bpe``.

        >>> corpus = Corpus(Path("en.txt"), "en")
        >>> Algorithm("x", ("-a", "bbpe"), named=True).arguments([corpus], 300, Path("o.json"))[:3]
        ['train', '--language', 'en=en.txt']
        """
        given = [part for corpus in corpora for part in (self._inputs(corpus) if self.named else (str(corpus.path),))]
        options = [option.replace("{half}", str(size // 2)) for option in self.options]
        return ["train", *given, *options, "-s", str(size), "-j", str(THREADS), "-q", "-o", str(output)]

    def _inputs(self, corpus: Corpus) -> Iterator[str]:
        yield from ("--language", f"{corpus.language}={corpus.path}")
        if corpus.development is not None:
            yield from ("--dev", f"{corpus.language}={corpus.development}")


_RUNS = r"\p{N}{1,3}| ?[^\s\p{L}\p{M}\p{N}]{2,}[\r\n/]*| +(?!\S)"
"""The paper's pattern of the second stage, but that marks go with letters: it cuts at runs of two marks."""

ALGORITHMS = (
    Algorithm("BPE", ("-a", "bbpe")),
    Algorithm("superwords", ("-a", "bbpe", "--superwords", "--set", f"run_pattern={_RUNS}")),
    Algorithm("parity-aware", ("-a", "bbpe", "--parity", "--set", "pass_over=yes"), named=True),
    Algorithm(
        "parity-aware, half shared",
        ("-a", "bbpe", "--parity", "--set", "pass_over=yes", "--set", "shared_merges={half}"),
        named=True,
    ),
    Algorithm("MinGram", ("-a", "mingram")),
    Algorithm("Unigram", ("-a", "unigram", "--lines", "--set", "byte_fallback=yes")),
)
"""The first is what the others are compared with. All other options are the defaults; without ``pass_over``, a language
with little text ends parity-aware training."""


def bpe(*arguments: str) -> list[str]:
    """Return a command."""
    return [sys.executable, "-m", "bpe_cli", *arguments]


def missing(algorithm: Algorithm, folder: Path) -> str | None:
    """Return why this build cannot train an algorithm; None if it can."""
    corpora = [Corpus(folder / f"tiny {name}.txt", name) for name in ("one", "two")]
    for corpus in corpora:
        corpus.path.write_text("low lower lowest\n" * 20, encoding="utf-8")
    command = bpe(*algorithm.arguments(corpora, 280, folder / "tiny.json"))
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    return done.stderr.partition("\n")[0].removeprefix("error: ") if done.returncode else None


def train(algorithm: Algorithm, corpora: Sequence[Corpus], size: int, output: Path, limit: int) -> dict[str, Any]:
    """Train once, in a process of its own, and return what it took.

    Raises:
        WorkerFailed: It failed, or took longer than the limit.
    """
    taken = timed(bpe(*algorithm.arguments(corpora, size, output)), THREADS, limit)
    return {"seconds": round(taken["wall"], 1), "cpu": round(taken["cpu"], 1), "megabytes": round(taken["peak"] / 1e6)}


def health(tokenizer: Path, files: Sequence[Path]) -> dict[str, Any]:
    """Return what of a tokenizer's report is shown: which tokens can be reached, and how many its text hardly uses."""
    command = bpe("inspect", str(tokenizer), *(part for path in files for part in ("--corpus", str(path))), "--json")
    report = json.loads(run(command, THREADS).stdout)
    reach, corpus = report["reachability"], report["corpus"]
    ordinary = corpus["used"] + corpus["unused"]
    return {
        **{name: reach[name] for name in ("examined", "unreachable", "undecided")},
        "unused_share": corpus["unused"] / ordinary,
        "rare_share": dict(corpus["at_most"])[RARE] / ordinary,
    }


def compared(tokenizers: Sequence[Path], held_out: Sequence[Path]) -> Comparison:
    """Measure tokenizers on documents that are held out, and on the parallel lines of ``corpora/``."""
    source = Source(tuple(map(str, held_out)), documents="jsonl")
    options = CompareOptions(threads=THREADS, probes=frozenset({"languages"}))
    return compare([load(path) for path in tokenizers], source, options)


def figures(comparison: Comparison, number: int, names: Sequence[str]) -> dict[str, Any]:
    """Return what is shown of one tokenizer of a comparison, whose inputs have these names."""
    metric = METRICS["bytes_per_token"]
    rows = [*zip(names, comparison.rows, strict=True), ("all", comparison.total)]
    measure = comparison.total.measures[number]
    probe = comparison.probes.languages if comparison.probes else None
    return {
        "vocabulary": measure.vocab_size,
        "bytes_per_token": {
            name: {"value": metric.of(row.measures[number]), "interval": interval_of(row, metric, number)}
            for name, row in rows
        },
        "gini": probe.results[number].gini if probe else None,
        "renyi_efficiency": measure.renyi_efficiency,
        "failed_documents": measure.failed_documents,
    }


def measure(
    texts: Sequence[Language], sizes: Sequence[int], limit: int, heard: Callable[[str], None]
) -> dict[str, Any]:
    """Train and measure everything."""
    began, free = time.perf_counter(), machine.free_cores()
    names = [each.name for each in texts]
    with tempfile.TemporaryDirectory(prefix="bpe-bench-") as temporary:
        folder = Path(temporary)
        corpora = [each.corpus(folder, DEVELOPMENTS) for each in texts]
        held_out = [each.held_out_file(folder) for each in texts]
        skipped = {each.name: why for each in ALGORITHMS if (why := missing(each, folder)) is not None}
        for name, why in skipped.items():
            heard(f"{name}: left out, {why}")
        measured: list[dict[str, Any]] = []
        for size in sizes:
            trained: list[tuple[Algorithm, Path, dict[str, Any]]] = []
            for algorithm in ALGORITHMS:
                if algorithm.name in skipped:
                    continue
                output = folder / f"{algorithm.name} {size}.json"
                try:
                    taken = train(algorithm, corpora, size, output, limit)
                except WorkerFailed as error:
                    skipped[f"{algorithm.name} {size:,}"] = str(error)
                    heard(f"{algorithm.name} {size:,}: {error}")
                    continue
                heard(f"{algorithm.name} {size:,}: {taken}")
                trained.append((algorithm, output, taken))
            comparison = compared([path for _, path, _ in trained], held_out)
            for number, (algorithm, path, taken) in enumerate(trained):
                shown = figures(comparison, number, names)
                shown |= taken | health(path, [each.path for each in corpora])
                heard(f"{algorithm.name} {size:,}: measured")
                measured.append(
                    {"algorithm": algorithm.name, "options": " ".join(algorithm.options), "size": size} | shown
                )
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": machine.describe(),
        "free_cores": free,
        "core": machine.core_build(),
        "commit": machine.commit(ROOT),
        "seconds": round(time.perf_counter() - began),
        "rare": RARE,
        "texts": [each.describe() for each in texts],
        "skipped": skipped,
        "rows": measured,
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure and store, or render, or check."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=float, default=1000, help="learn from at most so much of a language [all]")
    parser.add_argument("--size", type=int, action="append", help="a vocabulary's size; repeatable [32000, 128000]")
    parser.add_argument("--limit", type=int, default=300, help="stop a training after so many seconds [300]")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS, help="where the figures go, or come from")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page with the table")
    parser.add_argument("--render", action="store_true", help="only write the table from the stored figures")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if the table is not up to date")
    options = parser.parse_args(arguments)
    if not (options.render or options.check):
        if not TEXTS.is_dir():
            print("error: the bench texts are not beside the repository", file=sys.stderr)
            return 2
        chosen = languages(TEXTS, int(options.megabytes * 1e6))
        found = measure(
            chosen, options.size or SIZES, options.limit, lambda line: print(line, file=sys.stderr, flush=True)
        )
        options.output.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    stored = json.loads(options.output.read_text(encoding="utf-8"))
    text = options.page.read_text(encoding="utf-8")
    written = frontier_page.with_table(text, stored)
    if options.check:
        if written != text:
            print(f"error: {options.page.name} is not what {options.output.name} says", file=sys.stderr)
        return int(written != text)
    results.replace_file(options.page, written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
