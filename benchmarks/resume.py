"""What going on with a data set of very many parts costs, and opening it: seconds of the processor, and of the clock.

The parts are not encoded: their files, of a few bytes, and their records are written as ``prepare`` would leave them.

    .venv/bin/python benchmarks/resume.py --parts 100000
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from bpe_cli import TokenDataset
from bpe_cli.corpus import Source
from bpe_cli.jobs.files import Streams, find_documents
from bpe_cli.jobs.parts import divide
from bpe_cli.jobs.parts.folder import PLAN
from bpe_cli.jobs.prepare import PrepareOptions, check, finish, prepare
from bpe_cli.jobs.prepare.records import Record, plan_of
from bpe_cli.jobs.prepare.settings import settings_of
from bpe_cli.jobs.prepare.sides import PartFile
from bpe_cli.jobs.tokenizers import load_tokenizer
from bpe_cli.support.json_files import dumped

OPTIONS = PrepareOptions(to="megatron", eot="auto", part_bytes=1)


def make(folder: Path, count: int) -> Source:
    """Write the inputs, and a data set of a part each."""
    (folder / "in").mkdir()
    (folder / "out").mkdir()
    for number in range(count):
        (folder / f"in/{number:06}.txt").write_bytes(b"hello world")
    source = Source((str(folder / "in"),))
    model = load_tokenizer("gpt2")
    parts = divide(find_documents(source, streams=Streams()), source, OPTIONS.part_bytes)
    plan = plan_of(settings_of(source, model, OPTIONS), parts)
    (folder / "out" / PLAN).write_bytes(dumped(plan.to_json()))
    one = folder / "one"
    prepare(Source((str(folder / "in/000000.txt"),)), model, OPTIONS, folder=one, processes=1)
    data = {ending: (one / f"part-00000{ending}").read_bytes() for ending in (".bin", ".idx")}
    text = hashlib.sha256(b"hello world").hexdigest()
    fingerprint = plan.fingerprint()
    for part in parts:
        files = []
        for ending, content in data.items():
            name = f"{part.name}{ending}"
            (folder / "out" / name).write_bytes(content)
            files.append(PartFile(name, len(content), hashlib.sha256(content).hexdigest()))
        inputs = [each | {"sha256": text} for each in part.described()]
        record = Record(part.number, fingerprint, 1, 3, 0, "u16", inputs, tuple(files))
        (folder / "out" / f"{part.name}.json").write_bytes(dumped(record.to_json()))
    return source


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=int, default=100_000)
    count = parser.parse_args().parts
    with TemporaryDirectory(prefix="bpe-resume-") as name:
        folder = Path(name)
        source = make(folder, count)
        out = folder / "out"
        works: dict[str, Callable[[], object]] = {
            "finish: read the records, write the manifest": lambda: finish(out),
            "run again, all there": lambda: prepare(source, "gpt2", OPTIONS, folder=out, processes=1),
            "open with TokenDataset": lambda: TokenDataset(out),
            "check: hash every file": lambda: check(out),
        }
        for what, work in works.items():
            began, cpu = time.perf_counter(), time.process_time()
            work()
            clock, cpu = time.perf_counter() - began, time.process_time() - cpu
            print(
                json.dumps({"what": what, "parts": count, "cpu": round(cpu, 2), "clock": round(clock, 2)}), flush=True
            )


if __name__ == "__main__":
    main()
