"""Measure every training algorithm beside the library of its field: ``python benchmarks/trainers.py``.

Each training is a process of its own, ours the command as a user types it, the rival's a script that reads
the same file; wall and CPU seconds and the largest resident memory are the operating system's. The
results lie in trainers.json, and ``docs/explanation/benchmarks-training.md`` shows them. What takes seconds runs three
times, by turns with its rival; what takes longer runs once.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import machine, texts
from benchmarks.processes import WorkerFailed, timed

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "trainers.json"
PAGE = ROOT / "docs" / "explanation" / "benchmarks-training.md"
TEXTS = ("english", "chinese")
VOCAB_SIZE = 32_000
RUNS = 3
"""How often a training runs that takes less than ``LONG`` seconds."""
LONG = 20.0

SENTENCEPIECE = """
import sys, sentencepiece
sentencepiece.SentencePieceTrainer.train(input=sys.argv[1], model_prefix=sys.argv[2], model_type={kind!r},
    vocab_size={size}, num_threads=2, minloglevel=2, hard_vocab_limit=False, max_sentence_length=1000000)
"""
WORDPIECE = """
import sys
from tokenizers import BertWordPieceTokenizer
tokenizer = BertWordPieceTokenizer()
tokenizer.train([sys.argv[1]], vocab_size={size}, show_progress=False)
tokenizer.save(sys.argv[2])
"""
WORDLEVEL = """
import sys
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
trainer = trainers.WordLevelTrainer(vocab_size={size}, special_tokens=["<unk>"], show_progress=False)
tokenizer.train([sys.argv[1]], trainer)
tokenizer.save(sys.argv[2])
"""
SUBWORD_NMT = """
import sys
from subword_nmt.learn_bpe import learn_bpe
with open(sys.argv[1], encoding="utf-8") as source, open(sys.argv[2], "w", encoding="utf-8") as target:
    learn_bpe(source, target, {size})
"""


@dataclass(frozen=True, slots=True)
class Rival:
    """A library's way to train the same kind of tokenizer."""

    library: str
    script: str


@dataclass(frozen=True, slots=True)
class Case:
    """One algorithm: our options, and the rival if there is one that can be installed."""

    name: str
    options: tuple[str, ...]
    rival: Rival | None
    limit: float | None = None  # seconds after which the rival is stopped, if it would take all day


CASES = (
    Case("bbpe", ("-a", "bbpe", "-s", "{size}"), None),
    Case("bpe (words)", ("-a", "bpe", "-s", "{size}"), Rival("subword-nmt", SUBWORD_NMT), limit=60),
    Case("bpe (SentencePiece's)", ("-a", "bpe", "--compat", "sentencepiece", "-s", "{size}"),
         Rival("sentencepiece", SENTENCEPIECE.replace("{kind!r}", "'bpe'"))),
    Case("wordpiece (Hugging Face's)", ("-a", "wordpiece", "--compat", "hf", "-s", "{size}"),
         Rival("tokenizers", WORDPIECE)),
    Case("wordpiece (score)", ("-a", "wordpiece", "--set", "rule=score", "-s", "{size}"), None),
    Case("wordpiece (TensorFlow's)", ("-a", "wordpiece", "--set", "rule=tensorflow", "-s", "{size}"), None),
    Case("unigram", ("-a", "unigram", "-s", "{size}"),
         Rival("sentencepiece", SENTENCEPIECE.replace("{kind!r}", "'unigram'"))),
    Case("unigram (SentencePiece's)", ("-a", "unigram", "--compat", "sentencepiece", "-s", "{size}"),
         Rival("sentencepiece", SENTENCEPIECE.replace("{kind!r}", "'unigram'"))),
    Case("char", ("-a", "char", "-s", "{size}"), Rival("sentencepiece", SENTENCEPIECE.replace("{kind!r}", "'char'"))),
    Case("word", ("-a", "word", "-s", "{size}"), Rival("tokenizers", WORDLEVEL)),
    Case("ngram", ("-a", "ngram", "-s", "{size}"), None),
    Case("maxmatch", ("-a", "maxmatch", "-s", "{size}"), None),
)  # fmt: skip


def run(command: Sequence[str], limit: float) -> dict[str, Any]:
    """Run a process and give what it took; ``seconds`` is None when it failed or took longer than the limit."""
    try:
        taken = timed(command, threads=2, limit=int(limit))
    except WorkerFailed as error:
        return {"seconds": None, "note": str(error)}
    return {
        "seconds": round(taken["wall"], 2), "cpu": round(taken["cpu"], 2), "megabytes": round(taken["peak"] / 1e6),
    }  # fmt: skip


def by_turns(commands: Sequence[Sequence[str]], limits: Sequence[float]) -> list[dict[str, Any]]:
    """Run processes by turns, those that take long once; give the run of median wall time of each, and how many."""
    runs = [[run(command, limit)] for command, limit in zip(commands, limits, strict=True)]
    for _ in range(RUNS - 1):
        for taken, command, limit in zip(runs, commands, limits, strict=True):
            if taken[0]["seconds"] is not None and taken[0]["seconds"] < LONG:
                taken.append(run(command, limit))
    medians = [sorted(taken, key=lambda each: each["seconds"] or 0.0)[len(taken) // 2] for taken in runs]
    return [median | {"runs": len(taken)} for median, taken in zip(medians, runs, strict=True)]


def measure(limit_bytes: int | None, chosen: Sequence[str], seconds: float) -> dict[str, Any]:
    """Measure all cases."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="bpe-bench-") as folder:
        prepared = texts.prepare(TEXTS, Path(folder), ROOT, limit_bytes)
        for text in prepared:
            plain = Path(folder) / f"{text.name}.txt"
            plain.write_bytes(text.path.read_bytes().replace(texts.SEPARATOR, b"\n"))
            for case in CASES:
                if chosen and case.name not in chosen:
                    continue
                out = str(Path(folder) / "out")
                size = {"size": VOCAB_SIZE}
                ours = [sys.executable, "-m", "bpe_cli", "train", str(plain), "-q", "-o", out]
                row: dict[str, Any] = {"text": text.name, "bytes": plain.stat().st_size, "case": case.name}
                commands = [[*ours, *(option.format(**size) for option in case.options)]]
                if case.rival is not None:
                    script = case.rival.script.replace("{size}", str(VOCAB_SIZE))
                    commands.append([sys.executable, "-c", script, str(plain), out])
                row["ours"], *others = by_turns(commands, [seconds, case.limit or seconds][: len(commands)])
                if case.rival is not None:
                    row["rival"] = {"library": case.rival.library} | others[0]
                rows.append(row)
                print(json.dumps(row), file=sys.stderr, flush=True)
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": machine.describe(),
        "vocab_size": VOCAB_SIZE,
        "versions": {name: _version(name) for name in ("sentencepiece", "tokenizers", "subword-nmt")},
        "rows": rows,
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def page(results: dict[str, Any]) -> str:
    """Write the results as a page."""
    lines = [
        "# Training, algorithm by algorithm",
        "",
        "Made by `benchmarks/trainers.py`; not to be edited. Each figure is of a whole process, with a vocabulary of",
        f"{results['vocab_size']:,}, and two threads if the library has them: wall seconds / CPU seconds / largest",
        f"resident memory in MB, of the run with the median wall time of {RUNS}, which take turns. ¹ marks training",
        "that takes long and ran once. Libraries follow different rules; if ours follows another's, the name says so.",
        "",
        f"{results['date']}, {results['machine'].get('cpu', 'unknown processor')}; "
        + ", ".join(f"{name} {number}" for name, number in results["versions"].items() if number),
        "",
        "| text | algorithm | bpe | rival | | rival : bpe, wall | CPU |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in results["rows"]:
        ours, rival = row["ours"], row.get("rival")
        known = rival and rival["seconds"] and ours["seconds"]
        ratios = [f"{rival[what] / ours[what]:.1f}" if known else "" for what in ("seconds", "cpu")]
        megabytes = row["bytes"] / 1e6
        name, figures = (
            (rival["library"], _figures(rival))
            if rival
            else ("see [benchmarks](benchmarks.md)" if row["case"] == "bbpe" else "none that can be installed", "")
        )
        text = f"{row['text']}, {megabytes:.0f} MB"
        lines.append(f"| {text} | {row['case']} | {_figures(ours)} | {name} | {figures} | {' | '.join(ratios)} |")
    return "\n".join([*lines, ""])


def _figures(row: dict[str, Any]) -> str:
    if row["seconds"] is None:
        return str(row["note"])
    return f"{row['seconds']:.1f} / {row['cpu']:.1f} / {row['megabytes']:,}{'¹' if row['runs'] == 1 else ''}"


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="4 MB of each text: a sanity check, not stored")
    parser.add_argument("--only", action="append", default=[], help="measure this case only (repeatable, not stored)")
    parser.add_argument("--limit", type=float, default=300, help="stop a process after so many seconds (300)")
    parser.add_argument("--render", action="store_true", help="only write the page from trainers.json")
    arguments = parser.parse_args()
    if not arguments.render:
        results = measure(4_000_000 if arguments.quick else None, arguments.only, arguments.limit)
        if arguments.quick or arguments.only:
            print(page(results))
            return 0
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(json.loads(RESULTS.read_text(encoding="utf-8"))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
