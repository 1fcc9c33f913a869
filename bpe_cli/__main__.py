"""Run the command line as ``python -m bpe_cli``."""

from bpe_cli.cli.app import main

if __name__ == "__main__":
    main()
