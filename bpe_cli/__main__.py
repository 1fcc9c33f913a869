"""Run the command line: as ``bpe``, and as ``python -m bpe_cli``."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and give its exit status.

    The imports take a moment: an interrupt then is one like any other.
    """
    try:
        from bpe_cli.cli.app import main as run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
    return run()


if __name__ == "__main__":
    sys.exit(main())
