"""``bpe convert``: a tokenizer from one format to another."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bpe_cli.cli import options
from bpe_cli.cli.console import note
from bpe_cli.errors import OutputError, UsageError

NAME = "convert"
EPILOG = "What the target format cannot hold is an error that names it, unless --allow-loss says otherwise."


class Format(StrEnum):
    """The formats that can be written."""

    tokenizer_json = "tokenizer.json"
    tiktoken = "tiktoken"
    subword_nmt = "subword-nmt"
    vocab_merges = "vocab-merges"
    sentencepiece = "sentencepiece"
    gguf = "gguf"


def run(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A tokenizer file or folder, an encoding or a model.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="The file to write; a folder for vocab-merges.")
    ],
    format: Annotated[  # noqa: A002  # the option's name
        Format | None, typer.Option("--format", "-f", help="The format to write.", show_default="by OUT's name")
    ] = None,
    pattern: options.PatternName = None,
    add_special: options.AddSpecial = None,
    allow_loss: Annotated[
        str,
        typer.Option(
            "--allow-loss",
            metavar="NAME,...",
            help="Leave out what the format cannot hold: pattern, special-tokens, prefix-space, post-processor, "
            "normalizer, pre-tokenizer.",
        ),
    ] = "",
    quiet: options.Quiet = False,
) -> None:
    """Convert a tokenizer into another format, losing nothing unasked.

    [bold]Examples[/bold]

        bpe convert cl100k_base -o cl100k.tiktoken

        bpe convert ranks.tiktoken --pattern cl100k -o tokenizer.json

        bpe convert tokenizer.json -o folder/ --format vocab-merges
    """
    from bpe_cli.formats import dump
    from bpe_cli.sinks.atomic import check_writable, write_file

    chosen = (format or _format_of(output)).value
    model = options.tokenizer_of(source, pattern, add_special)
    losses = frozenset(word.strip() for word in allow_loss.split(",") if word.strip())
    files = dump(model, chosen, losses)
    paths = {str(Path(output) / name) if name else output: content for name, content in files.items()}
    if "" not in files:
        try:
            os.makedirs(output, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot make the folder {output}: {(error.strerror or str(error)).lower()}") from error
    for path in paths:
        check_writable(path)
    for path, content in paths.items():
        write_file(path, content)
    note(f"{source} -> {', '.join(paths)} ({chosen})", quiet=quiet)


def _format_of(output: str) -> Format:
    """Tell the format from the name of the file to write.

    Raises:
        UsageError: The name does not say.
    """
    if output.endswith(".json"):
        return Format.tokenizer_json
    if output.endswith(".tiktoken"):
        return Format.tiktoken
    if output.endswith(".gguf"):
        return Format.gguf
    if output.endswith(os.sep) or os.path.isdir(output):
        return Format.vocab_merges
    raise UsageError(
        f"the name {output!r} does not say which format to write",
        hint=f"give --format: {', '.join(each.value for each in Format)}",
    )
