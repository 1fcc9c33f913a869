"""Write small corpora of the core's targets: ``python -m tests.proof.fuzzing.small_core``.

Of what searches kept, the inputs that reach an edge no shorter one reaches go into tests/proof/fuzzing/corpora/core,
a file for each target; the proof of fuzzing begins with them. libFuzzer itself keeps many more, for how often an edge
is run.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.proof.fuzzing import libfuzzer
from tests.proof.fuzzing.sides import KEPT_OF_CORE, Search, of_core, targets_of_core


def smallest(search: Search, run: Callable[[list[str]], libfuzzer.Ended] = libfuzzer.ended) -> list[bytes]:
    """Return the inputs that reach all edges which those in the corpora do, without the seeds.

    Raises:
        OSError: if libFuzzer does not come to its end.
    """
    corpus, *seeds = search.corpora
    with tempfile.TemporaryDirectory() as folder:
        asked = ["-merge=1", "-use_counters=0", f"-max_len={search.longest}", f"-timeout={libfuzzer.BY_THE_CLOCK}"]
        done = run([*search.program, *asked, folder, *map(str, (*seeds, corpus))])
        if done.status != 0:
            raise OSError(f"libFuzzer ended with status {done.status}: {done.output[-1000:]}")
        made = contents(Path(folder))
    known = {data for place in seeds for data in contents(place)}
    return sorted(made - known, key=lambda data: (len(data), data))


def contents(folder: Path) -> set[bytes]:
    """Return what the files of a folder hold."""
    return {path.read_bytes() for path in folder.iterdir()}


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.proof.fuzzing.small_core")
    parser.add_argument(
        "--only", action="append", choices=targets_of_core(), help="this target; several times for more"
    )
    asked = parser.parse_args(arguments)
    KEPT_OF_CORE.mkdir(exist_ok=True)
    for name in asked.only or targets_of_core():
        kept = smallest(of_core(name))
        (KEPT_OF_CORE / f"{name}.txt").write_text("".join(f"{data.hex()}\n" for data in kept))
        print(f"{name}: {len(kept)} inputs, {sum(map(len, kept)):,} bytes", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
