"""The commands: one module each, imported when it is asked for; and ``bpe`` itself, with what stands before them."""

import sys
from types import ModuleType
from typing import Annotated

from bpe_cli.cli.parameters import Option

NAMES = ("train", "encode", "decode", "inspect", "compare", "convert")
"""As the help lists them. A module of the same name has ``run``, whose annotations and docstring say what there is
to know about it, and ``EPILOG``."""


def load(name: str) -> ModuleType:
    """Import the module of a command."""
    from importlib import import_module

    return import_module(f"bpe_cli.cli.{name}")


def show_version() -> None:
    """Print the versions that results depend on."""
    from bpe_cli import _core
    from bpe_cli.stages.splitters import regex_version
    from bpe_cli.support import __version__

    python = ".".join(str(number) for number in sys.version_info[:3])
    print(f"bpe {__version__} (Unicode {_core.UNICODE_VERSION}, regex {regex_version()}, Python {python})")


def root(
    version: Annotated[bool, Option("--version", "-V", answer=show_version, help="Print versions and stop.")] = False,
    debug: Annotated[bool, Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Train, run, inspect, compare and convert tokenizers.

    [bold]Examples[/bold]

        bpe train corpus.txt -s 32000 -o tokenizer.json

        bpe encode corpus.txt -t tokenizer.json | bpe decode -t tokenizer.json

        bpe inspect -T "hello world" -t gpt-4o
    """
