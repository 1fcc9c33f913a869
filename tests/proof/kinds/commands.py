"""Random command lines, over all options of all commands, held to the laws of tests/cli/hunt."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from tests.cli.hunt import laws, workshop
from tests.cli.hunt.lines import Line, easier, some_line
from tests.proof.attempts import Found, Proof


@contextmanager
def begin(folder: Path) -> Iterator[laws.Files]:
    """Make a file of every kind that a command reads."""
    place = folder / "workshop"
    place.mkdir()
    workshop.build(place)
    yield laws.files_in(place)
    shutil.rmtree(place)


def attempt(files: laws.Files, chance: Random, number: int) -> Counter[str]:
    """Run a line, and what is refused again without one of its options, until something comes of it."""
    line: Line | None = some_line(chance)
    counts: Counter[str] = Counter()
    tally = laws.Tally()
    while line is not None:
        with laws.fresh(files) as folder:
            done = laws.run(line, folder)
            broken = laws.judge(done, tally)
        if broken:
            evidence = {"stdout.txt": done.result.out, "stderr.txt": done.result.err.encode()}
            raise Found(f"{line}: {'; '.join(broken)}", evidence)
        counts += Counter({"command lines": 1, f"`bpe {line.command}`, status {done.result.status}": 1})
        line = None if done.fine else easier(line, chance)
    return counts + Counter({"laws judged": sum(tally.judged.values())})


PROOF = Proof(
    title="Random command lines",
    claim="Command lines are drawn at random from all options of all commands, most of them sensible. Each obeys "
    "the laws that all commands share: status and streams agree, a run that fails writes nothing, only the files "
    "that it names are written, threads and blocks change nothing, what is encoded decodes, and what a run says is "
    "what it did.",
    begin=begin,
    attempt=attempt,
)
