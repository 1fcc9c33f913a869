"""``bpe convert``: a tokenizer from one format to another."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bpe_cli.cli import options, surgery
from bpe_cli.cli.console import note
from bpe_cli.errors import OutputError, UsageError

NAME = "convert"
EPILOG = "What the target format cannot hold is an error that names it, unless --allow-loss says otherwise."


class Format(StrEnum):
    """The formats that can be written."""

    tokenizer_json = "tokenizer.json"
    bpe_json = "bpe.json"
    huggingface = "huggingface"
    tiktoken = "tiktoken"
    subword_nmt = "subword-nmt"
    bert_vocab = "bert-vocab"
    vocab_merges = "vocab-merges"
    sentencepiece = "sentencepiece"
    sentencepiece_vocab = "sentencepiece-vocab"
    llama2c = "llama2c"
    minbpe = "minbpe"
    fastbpe = "fastbpe"
    youtokentome = "youtokentome"
    tekken = "tekken"
    rwkv = "rwkv"
    gguf = "gguf"


_FOLDER = Format.huggingface.value
"""What a folder is written as."""


def run(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A tokenizer file or folder, an encoding or a model.")
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="The file to write; a folder for huggingface, vocab-merges and bert-vocab.",
        ),
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
            help="Leave out what the format cannot hold, by the names that the error gives: pattern, ...",
        ),
    ] = "",
    add_tokens: surgery.AddTokens = None,
    prune_to: surgery.PruneTo = None,
    counts_from: surgery.CountsFrom = None,
    extend: surgery.Extend = None,
    vocab_size: surgery.VocabSize = None,
    merge: surgery.Merge = None,
    id_map: surgery.IdMap = None,
    lines: options.Lines = False,
    jsonl: options.Jsonl = False,
    field: options.Field = "text",
    threads: options.Threads = None,
    block_size: options.BlockSize = options.BLOCK_BYTES,
    quiet: options.Quiet = False,
) -> None:
    """Convert a tokenizer into another format, losing nothing unasked; or change it.

    [bold]Examples[/bold]

        bpe convert cl100k_base -o cl100k.tiktoken

        bpe convert ranks.tiktoken --pattern cl100k -o tokenizer.json

        bpe convert tokenizer.json -o folder/ --format vocab-merges

        bpe convert tokenizer.json --extend corpus.txt -s 60000 -o longer.json
    """
    from bpe_cli.formats import dump, format_of_name, left_behind
    from bpe_cli.sinks.atomic import check_writable, write_file
    from bpe_cli.surgery import id_map as id_map_of

    as_folder = output.endswith(os.sep) or os.path.isdir(output)
    chosen = format.value if format else _FOLDER if as_folder else format_of_name(output)
    model = options.tokenizer_of(source, pattern, add_special)
    losses = frozenset(word.strip() for word in allow_loss.split(",") if word.strip())
    change = surgery.Change(add_tokens, prune_to, counts_from, extend, vocab_size, merge, id_map,
                            lines, jsonl, field, threads, block_size, quiet)  # fmt: skip
    map_path = change.map_path(output) if change.wanted else None
    files = dump(model, chosen, losses)  # what cannot be written is said before any work is done
    # One file of several may be named instead of their folder: vocab.txt with what lies beside it.
    folder = os.path.dirname(output) or "." if os.path.basename(output) in files else output
    paths = {name: str(Path(folder) / name) if name else output for name in files}
    if "" not in files:
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot make the folder {folder}: {(error.strerror or str(error)).lower()}") from error
    if map_path in paths.values():
        raise UsageError(f"--id-map names {map_path}, which is a file of the output")
    for path in (*paths.values(), *([map_path] if map_path else ())):
        check_writable(path)
    if map_path is not None:
        operation = change.apply(model)
        model = operation.tokenizer
        files = dump(model, chosen, losses)
        write_file(map_path, id_map_of(operation))
        change.tell(operation, map_path)
    for name, content in files.items():
        write_file(paths[name], content)
    note(f"{source} -> {', '.join(paths.values())} ({chosen})", quiet=quiet)
    left = left_behind(model, chosen)
    if left:
        note(f"note: this format does not hold {', '.join(left)}: ids are the same without", quiet=quiet)
