"""Run the command line: as ``bpe``, and as ``python -m bpe_cli``."""

from __future__ import annotations

import gc
import sys

_MANY = 50_000


def main() -> int:
    """Run the command line and give its exit status.

    The imports take a moment: an interrupt then is one like any other.
    """
    # What is imported stays: looking through it for garbage, ten times by the usual threshold, finds nothing.
    gc.set_threshold(_MANY)
    try:
        from bpe_cli.cli.app import main as run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
    status = run()
    gc.freeze()  # nor need it be looked through at the end: memory goes with the process
    return status


if __name__ == "__main__":
    sys.exit(main())
