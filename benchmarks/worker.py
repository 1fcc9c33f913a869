"""Do one job in a fresh process and tell how long it took: ``python worker.py JOB``, both as JSON.

Libraries print what they like to stdout, so the answer goes to a copy of it that they do not know.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from array import array
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import instructions, texts
from benchmarks.jobs import Job, Task
from benchmarks.libraries import LIBRARIES
from benchmarks.yardstick import pace

CALLS = 1_000_000
"""How often a short text is encoded: a million times, what a call costs in microseconds."""


def peak_memory() -> int | None:
    """Return the most memory this process had resident, in bytes; None where the system does not say.

    Linux' own figure, where there is one: getrusage's begins with that of the process that started us.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        pass
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def digest_of(parts: list[bytes]) -> str:
    """Return a hash of byte strings and their borders.

    >>> digest_of([b"ab", b""]) == digest_of([b"a", b"b"])
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def task_of(job: Job) -> tuple[Task, int, int]:
    """Make what is to be timed, after the library has done the same with one letter.

    So what a library puts off until it is first used is loading, for each of them.

    Returns:
        The task, and the bytes and documents that it is about; calls, where one text is encoded again and again.
    """
    library = LIBRARIES[job.library]
    make = getattr(library, job.operation)
    if job.operation == "load":
        return make(job), Path(job.tokenizer_json).stat().st_size, 1
    if job.operation != "train":
        library.load_from = cache(library.load_from)  # one tokenizer for the letter and for the text
    if job.operation == "short":
        short = [document.decode() for document in texts.read(Path(job.text))] if job.text else [texts.SHORT]
        repeats = CALLS if len(short) == 1 else 1
        make(job, ["a"], 1).run()
        return make(job, short, repeats), sum(len(text.encode()) for text in short) * repeats, len(short) * repeats
    documents = texts.read(Path(job.text), job.stride)
    size, number = sum(map(len, documents)), len(documents)
    if job.operation in ("decode", "decode_batch", "stream"):
        del documents
        source = Path(job.ids).read_bytes()
        ids: Any = json.loads(source) if job.operation == "decode_batch" else array("I", source)
        make(job, ids[:1]).run()
        return make(job, ids), size, number
    if job.operation != "train":
        make(replace(job, way="buffers") if job.way == "file" else job, [b"a"]).run()
    return make(job, documents), size, number


def look_at(job: Job, result: Any) -> dict[str, object]:
    """Describe what a run gave: the number of tokens, and a hash to compare with that of others."""
    if job.operation in ("encode", "short", "load"):
        if job.ids:
            Path(job.ids).write_bytes(result.tobytes())
        return {"tokens": len(result), "digest": digest_of([result.tobytes()])}
    if job.operation == "count":
        return {"tokens": result, "digest": None}
    if job.operation == "tokens":
        ids, places = result
        return {"tokens": len(ids), "digest": digest_of([repr(ids).encode(), repr(places).encode()])}
    if job.operation == "decode_batch":
        tokens = sum(map(len, json.loads(Path(job.ids).read_bytes())))
        return {"tokens": tokens, "digest": digest_of(result),
                "expected": digest_of(texts.read(Path(job.text), job.stride))}  # fmt: skip
    if job.operation in ("decode", "stream"):
        expected = digest_of([b"".join(texts.read(Path(job.text), job.stride))])
        size = Path(job.ids).stat().st_size // array("I").itemsize
        return {"tokens": size, "digest": digest_of([result]), "expected": expected}
    return {"tokens": len(result), "digest": digest_of(result[256:])}  # the bytes' order is each library's own


def measure(job: Job) -> dict[str, object]:
    """Run a job's passes: the first is cold, what it used is freed before the next."""
    task, size, documents = task_of(job)
    passes: list[dict[str, float]] = []
    answer: dict[str, object] = {"bytes": size, "documents": documents, "passes": passes}
    for number in range(job.passes):
        loaded = {*sys.modules}
        if job.limit:
            signal.alarm(job.limit)  # which ends the process
        before = pace()
        wall, cpu = time.perf_counter(), time.process_time()
        result = task.run()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        if job.limit:
            signal.alarm(0)
        passes.append({"wall": round(wall, 7), "cpu": round(cpu, 7), "pace": round(max(before, pace()), 6)})
        if number == 0:
            # Loading is not to be timed; where it was all the same, the results say so.
            answer["imported"] = sorted({name.partition(".")[0] for name in {*sys.modules} - loaded})
            answer["peak"] = peak_memory()
            answer |= look_at(job, task.result(result))
        del result
    return answer


def main() -> None:
    """Read the job, keep stdout for the answer, do it."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answer:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        job = Job(**json.loads(sys.argv[1]))
        if job.level:
            instructions.hide(job.hider, job.level)
        json.dump(measure(job), answer)


if __name__ == "__main__":
    main()
