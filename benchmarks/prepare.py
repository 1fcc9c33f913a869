"""Measure what a data set costs: ``python benchmarks/prepare.py``; writes prepare.json.

Shards are made of the texts for measuring: their documents, shuffled with a fixed seed, again and again until there are
enough bytes. ``bpe prepare`` makes a data set for Megatron of them, from JSON lines compressed with Zstandard and from
Parquet, with one process and with two. Beside it stand the same documents encoded in memory by one thread, in the same
order and blocks, and the programs of ``prepare_rivals.py``, on fewer shards.

CPU seconds count, of all processes together: they hardly change when the machine has other work. The runs alternate,
and before each it is measured how many processors are free. What was found: notes/prepare.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import machine, texts
from benchmarks.processes import bpe_command, environment, timed

ROOT = Path(__file__).resolve().parent.parent
STORED = Path(__file__).with_name("prepare.json")
RIVALS = Path(__file__).with_name("prepare_rivals.py")
SECONDS = 3600
BLOCK_BYTES = 8 << 20


def bench_documents() -> list[bytes]:
    """Return the documents of all texts for measuring, or else of the text that every machine has."""
    beside = ROOT.parent / "shared" / "corpora" / "bench"
    found = [beside / f"{name}.txt.xz" for name in texts.BENCH_TEXTS]
    documents = [document for path in found if path.is_file() for document in texts.bench_text(path, None)]
    return documents or texts.python_sources(ROOT)


def stream(documents: list[bytes], size: int) -> Iterator[bytes]:
    """Yield documents in a random order, always the same, again and again, until they have ``size`` bytes."""
    generator = random.Random(17)
    order = list(range(len(documents)))
    while True:
        generator.shuffle(order)
        for number in order:
            if size <= 0:
                return
            yield documents[number]
            size -= len(documents[number])


def rows(documents: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    """Yield documents as rows, with what rows of the web have beside the text."""
    for number, document in enumerate(documents):
        yield {"id": f"<urn:{number:016x}>", "text": document.decode(), "url": f"https://example.org/{number}.html"}


def shards(documents: list[bytes], size: int, count: int, folder: Path, form: str) -> list[Path]:
    """Write the documents as shards of about equal size."""
    folder.mkdir(parents=True, exist_ok=True)
    waiting = stream(documents, size)
    write = {"jsonl.zst": write_lines, "parquet": write_table}[form]
    paths = []
    for number in range(count):
        paths.append(folder / f"{number:05}.{form}")
        write(paths[-1], rows(islice_bytes(waiting, size // count)))
    return paths


def islice_bytes(documents: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Yield the next documents, until they have ``size`` bytes."""
    for document in documents:
        yield document
        size -= len(document)
        if size <= 0:
            return


def write_lines(path: Path, items: Iterator[dict[str, Any]]) -> None:
    """Write JSON lines, compressed as ``zstd`` does by itself."""
    import orjson
    import zstandard

    with path.open("wb") as file, zstandard.ZstdCompressor(level=3).stream_writer(file) as out:
        for row in items:
            out.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))


def write_table(path: Path, items: Iterator[dict[str, Any]]) -> None:
    """Write a Parquet file with row groups of 1,000 rows."""
    import pyarrow
    import pyarrow.parquet

    kinds = pyarrow.schema([(name, pyarrow.string()) for name in ("id", "text", "url")])
    with pyarrow.parquet.ParquetWriter(path, kinds, compression="zstd") as out:
        while group := list(islice(items, 1000)):
            out.write_table(pyarrow.Table.from_pylist(group, kinds))


def in_memory(documents: list[bytes], size: int, tokenizer: str) -> dict[str, Any]:
    """Encode the documents of all shards in memory; making the blocks is not timed."""
    from bpe_cli import load
    from bpe_cli.support.blocks import Block

    model = load(tokenizer)
    model.encode("")
    waiting, seconds, tokens, encoded = stream(documents, size), 0.0, 0, 0
    while block := list(islice_bytes(waiting, BLOCK_BYTES)):
        made = Block.of(block)
        began = time.process_time()
        ids, _ = model.encode_block(made, None, 1)
        seconds += time.process_time() - began
        tokens += len(ids)
        encoded += len(made.data)
    return figures(encoded, {"cpu": seconds, "tokens": tokens})


def figures(size: int, taken: dict[str, Any]) -> dict[str, Any]:
    """Return what a run took, and how fast it was for each second of CPU time."""
    return {key: round(value, 2) if isinstance(value, float) else value for key, value in taken.items()} | {
        "bytes": size, "megabytes_per_cpu_second": round(size / 1e6 / taken["cpu"], 1),
    }  # fmt: skip


def prepared(paths: list[Path], out: Path, size: int, tokenizer: str, processes: int, *more: str) -> dict[str, Any]:
    """Make a data set with ``bpe prepare``, and take it away again."""
    shutil.rmtree(out, ignore_errors=True)
    free = machine.free_cores()
    taken = timed(
        [*bpe_command(), "prepare", *map(str, paths), "-t", tokenizer, "--eot", "auto", "--to", "megatron",
         "-o", str(out), "-j", str(processes), "-q", *more],
        processes, SECONDS,
    )  # fmt: skip
    manifest = json.loads((out / "manifest.json").read_bytes())
    shutil.rmtree(out)
    return figures(size, taken | {"tokens": manifest["tokens"], "free_cores": free})


def rival(name: str, python: str, paths: list[Path], out: Path, size: int, tokenizer: Path) -> dict[str, Any]:
    """Let another program encode shards, in its own environment; the program itself says what it took."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    command = [python, str(RIVALS), name, str(tokenizer), str(out), *map(str, paths)]
    free = machine.free_cores()
    done = subprocess.run(command, env=environment(1), capture_output=True, timeout=SECONDS, check=False)
    shutil.rmtree(out)
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return {"failed": lines[-1][:200] if lines else f"exit status {done.returncode}"}
    taken = json.loads(done.stdout.splitlines()[-1])
    return figures(size, taken | {"free_cores": free})


def size_of(documents: list[bytes], size: int) -> int:
    """Return how many bytes of text the shards have."""
    return sum(map(len, stream(documents, size)))


def memory(paths: list[Path], times: float, out: Path, size: int, tokenizer: str) -> dict[str, Any]:
    """Measure the peak of one worker whose one part is some of the shards, or all of them several times.

    Only the first 256 ids of a document are kept: whole documents would need more disk than the measurement is worth.
    What a worker holds is the same: blocks of text with all their ids, and the lengths of the documents so far.
    """
    inputs = (paths * math.ceil(times))[: round(len(paths) * times)]
    more = ("--jsonl", "--part-size", "1000000", "--max-length", "256")
    taken = prepared(inputs, out, round(size * times), tokenizer, 1, *more)
    return {"gigabytes": round(size * times / 1e9, 2), "peak": taken["peak"], "cpu": taken["cpu"]}


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Return the contents of prepare.json."""
    documents = bench_documents()
    size = int(options.gigabytes * 1e9)
    tokenizer = options.tokenizer
    result: dict[str, Any] = {
        "machine": machine.describe(),
        "core": machine.core_build(),
        "load_average": machine.load_average(),
        "tokenizer": tokenizer,
        "text": {
            "documents": len(documents), "bytes": sum(map(len, documents)), "encoded": size_of(documents, size),
            "shards": options.shards,
        },
        "runs": {},
    }  # fmt: skip
    text_bytes = result["text"]["encoded"]

    def note(name: str, run: Callable[[], dict[str, Any]]) -> None:
        result["runs"].setdefault(name, []).append(run())
        print(name, result["runs"][name][-1], file=sys.stderr, flush=True)

    for form in options.form:
        paths = shards(documents, size, options.shards, folder / form, form)
        read = ("--jsonl",) if form == "jsonl.zst" else ()
        result["text"][f"{form} on disk"] = sum(path.stat().st_size for path in paths)
        for _ in range(options.runs):
            with get_context("fork").Pool(1) as fresh:  # whose caches are empty
                note("in memory", lambda: fresh.apply(in_memory, (documents, size, tokenizer)))
            for processes in (1, 2):
                name = f"{form}, {processes} process{'es' if processes > 1 else ''}"
                note(
                    name,
                    lambda: prepared(paths, folder / "out", text_bytes, tokenizer, processes, *read),  # noqa: B023
                )
        if form == "jsonl.zst":
            _rivals(options, documents, size, paths, folder, note)
            for each in options.memory:
                part = each / options.gigabytes
                note("memory", lambda: memory(paths, part, folder / "out", text_bytes, tokenizer))  # noqa: B023
        shutil.rmtree(folder / form)
    return result


def _rivals(
    options: argparse.Namespace, documents: list[bytes], size: int, paths: list[Path], folder: Path,
    note: Callable[[str, Callable[[], dict[str, Any]]], None],
) -> None:  # fmt: skip
    """Let the other programs encode the first shards, and ours too."""
    waiting = stream(documents, size)
    few = options.rival_shards
    less = sum(len(document) for _ in range(few) for document in islice_bytes(waiting, size // options.shards))
    files = folder / "tokenizer"
    files.mkdir()
    for name in ("tokenizer.json", "ranks.tiktoken"):
        subprocess.run([*bpe_command(), "convert", options.tokenizer, "-o", str(files / name), "-q"], check=True)
    note(
        f"{few} shards, 1 process",
        lambda: prepared(paths[:few], folder / "out", less, options.tokenizer, 1, "--jsonl"),
    )
    for each in options.rival or ():
        name, _, python = each.partition("=")
        note(f"{few} shards, {name}", lambda: rival(name, python, paths[:few], folder / "out", less, files))  # noqa: B023


def main() -> None:
    """Measure, store and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=4, help="of text [default: 4]")
    parser.add_argument("--shards", type=int, default=64)
    parser.add_argument("-t", "--tokenizer", default="cl100k_base")
    parser.add_argument("--form", action="append", choices=("jsonl.zst", "parquet"), help="only this")
    parser.add_argument("--runs", type=int, default=2, help="how often each is run [default: 2]")
    parser.add_argument("--memory", type=float, nargs="*", default=[1, 4, 16], help="gigabytes of text in one part")
    parser.add_argument("--rival", action="append", metavar="NAME=PYTHON", help="another program, and who runs it")
    parser.add_argument("--rival-shards", type=int, default=4)
    parser.add_argument("--folder", type=Path, help="where the shards lie meanwhile: twice their text in bytes")
    parser.add_argument("-o", "--output", type=Path, default=STORED, help="where the figures go")
    options = parser.parse_args()
    options.form = options.form or ["jsonl.zst", "parquet"]
    with tempfile.TemporaryDirectory(prefix="bpe-bench-", dir=options.folder) as folder:
        result = measure(options, Path(folder))
    options.output.write_text(json.dumps(result, indent=1) + os.linesep, encoding="utf-8")


if __name__ == "__main__":
    main()
