"""Search one target with atheris: ``python -m tests.proof.fuzzing.search NAME`` and options of libFuzzer.

Half of the changes are libFuzzer's own, half are those of the proof of mutants, which keep a file in one piece.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from random import Random


def mutator(others: tuple[bytes, ...], mutate: Callable[[bytes, int], bytes]) -> Callable[[bytes, int, int], bytes]:
    """Return what changes an input by ``mutate``, libFuzzer's way, or ours; parts of ``others`` may be put into it."""
    from tests.proof.kinds.mutating import change

    def mutated(data: bytes, most: int, seed: int) -> bytes:
        chance = Random(seed)
        if chance.random() < 0.5:
            return mutate(data, most)
        return change(chance, data, others)[1][:most]

    return mutated


def main() -> None:
    """Search until libFuzzer ends the process."""
    import atheris  # which only `make fuzz-python` installs; the tests import this module without it

    name = sys.argv.pop(1)
    logging.disable()  # of libraries, which write a line about each input
    with atheris.instrument_imports(include=["bpe_cli"]):
        from tests.proof.fuzzing.seeds import seeds_of
        from tests.proof.fuzzing.targets import TARGETS

        known = seeds_of(name)
        for data in known:  # imports what the target needs, while it is instrumented
            TARGETS[name](data)

    def mutate(data: bytes, most: int) -> bytes:
        return bytes(atheris.Mutate(data, most))  # looked up when it is called: it is another one once the search runs

    atheris.Setup(sys.argv, TARGETS[name], custom_mutator=mutator(known, mutate))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
