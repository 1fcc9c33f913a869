"""``bpe convert``: a tokenizer from one format to another."""

import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from bpe_cli.cli import convert_changes, options
from bpe_cli.cli.console import note
from bpe_cli.cli.output_checks import check_kept
from bpe_cli.cli.parameters import Argument, Option
from bpe_cli.cli.tokenizer_names import check_tokenizer_name
from bpe_cli.errors import UsageError

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer

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

_STDOUT = "-"

_MAIN = ("tokenizer.json", "vocab.json", "vocab.txt", "encoder.json")
"""The file of a folder without which the others are no tokenizer."""


def run(
    source: Annotated[str, Argument(metavar="SOURCE", help="A tokenizer file or folder, an encoding or a model.")],
    output: Annotated[
        str,
        Option(
            "--output",
            "-o",
            metavar="OUT",
            help="The file to write; a folder for huggingface, vocab-merges and bert-vocab.",
        ),
    ],
    format: Annotated[  # noqa: A002  # the option's name
        Format | None, Option("--format", "-f", help="The format to write.", show_default="by OUT's name")
    ] = None,
    pattern: options.PatternName = None,
    add_special: options.AddSpecial = None,
    allow_loss: Annotated[
        str,
        Option(
            "--allow-loss",
            metavar="NAME,...",
            help="Leave out what the format cannot hold, by the names that the error gives: pattern, ...",
        ),
    ] = "",
    add_tokens: convert_changes.AddTokens = None,
    prune_to: convert_changes.PruneTo = None,
    counts_from: convert_changes.CountsFrom = None,
    extend: convert_changes.Extend = None,
    vocab_size: convert_changes.VocabSize = None,
    merge: convert_changes.Merge = None,
    id_map: convert_changes.IdMap = None,
    lines: options.Lines = False,
    jsonl: options.Jsonl = False,
    plain: options.Plain = False,
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
    from bpe_cli.formats import dump, format_of_name, left_behind, rehearse
    from bpe_cli.surgery import id_map as id_map_of
    from bpe_cli.surgery import skeleton

    as_folder = output.endswith(os.sep) or os.path.isdir(output)
    chosen = format.value if format else _FOLDER if as_folder else format_of_name(output)
    if format and not as_folder and output != _STDOUT:
        check_tokenizer_name(output, chosen)
    losses = frozenset(word.strip() for word in allow_loss.split(",") if word.strip())
    change = convert_changes.Change(add_tokens, prune_to, counts_from, extend, vocab_size, merge, id_map,
                            lines, jsonl, plain, field, threads, block_size, quiet)  # fmt: skip
    map_path = change.map_path(output) if change.wanted else None
    if map_path == f"{_STDOUT}.ids.json":
        raise UsageError("the map of ids needs a name when the tokenizer goes to stdout", hint="give --id-map FILE")
    written = [("-o", output), ("--id-map" if id_map else "the map of ids", map_path)]
    check_kept(written, [("the tokenizer", source), *change.read_files])
    model = options.tokenizer_of(source, pattern, add_special)
    if map_path is None:
        files = dump(model, chosen, losses)
        paths = _places(files, output, map_path)
    else:
        if change.is_long:  # what no change can mend is said before the work
            places = _places(rehearse(skeleton(model), chosen, losses), output, map_path)
            written += [("-o", place) for place in places.values()]
        operation = change.apply(model, written)
        model = operation.tokenizer
        files = dump(model, chosen, losses)
        paths = _places(files, output, map_path)
        change.tell(operation, map_path)
    contents = {paths[name]: content for name, content in files.items()}
    if map_path is not None:
        contents = {map_path: id_map_of(operation), **contents}
    _write(contents, None if "" in files else os.path.dirname(next(iter(paths.values()))))
    note(f"{source} -> {', '.join(paths.values())} ({chosen})", quiet=quiet)
    left = left_behind(model, chosen)
    if left:
        note(f"note: this format does not hold {', '.join(left)}: ids are the same without", quiet=quiet)
    if layout := _built_in_layout(source, model):
        chosen_by = f"with a file, --chat-template {layout} chooses it"
        note(f"note: the layout of {source}'s conversations is built in; {chosen_by}", quiet=quiet)


def _places(files: Mapping[str, bytes], output: str, map_path: str | None) -> dict[str, str]:
    """Return where each file goes, and make sure that it, and the map of ids, can be written there.

    Raises:
        UsageError: The map would be one of the files.
        OutputError: A place cannot be written to.
    """
    from bpe_cli.sinks.atomic import check_writable, made_folder

    if output == _STDOUT:
        if "" not in files:
            raise UsageError("this format is several files, which stdout cannot take", hint="name a folder with -o")
        if sys.stdout.isatty() and not _is_text(files[""]):
            raise UsageError("this format is not for a terminal", hint="name a file with -o, or pipe it into a program")
        if map_path is not None:
            check_writable(map_path)
        return {"": output}
    # One file of several may be named instead of their folder: vocab.txt with what lies beside it.
    folder = os.path.dirname(output) or "." if os.path.basename(output) in files else output
    paths = {name: str(Path(folder) / name) if name else output for name in files}
    if map_path in paths.values():
        raise UsageError(f"--id-map names {map_path}, which is a file of the output")
    with nullcontext() if "" in files else made_folder(folder, kept=False):
        for path in (*paths.values(), *([map_path] if map_path else ())):
            check_writable(path)
    return paths


def _is_text(content: bytes) -> bool:
    return b"\0" not in content


def _write(contents: dict[str, bytes], folder: str | None) -> None:
    """Write all files, or what goes to stdout; the one that the others belong to comes last.

    Args:
        contents: The files by path.
        folder: The folder that they are in, if it may have to be made.

    Raises:
        OutputError: One cannot be written.
    """
    from bpe_cli.sinks.atomic import made_folder, open_stdout, write_together

    printed = contents.pop(_STDOUT, None)
    if contents:
        with made_folder(folder) if folder else nullcontext():
            write_together(dict(sorted(contents.items(), key=lambda each: os.path.basename(each[0]) in _MAIN)))
    if printed is not None:
        with open_stdout(sys.stdout.buffer) as out:
            out.write(printed)


def _built_in_layout(source: str, model: "Tokenizer") -> str | None:
    """Return the layout that a model's name stood for, which no file has; None if there is none."""
    from bpe_cli.tokenizer.named_encodings import ENCODINGS

    if model.name not in ENCODINGS:
        return None
    from bpe_cli.chat import layout_of_model

    return layout_of_model(source)
