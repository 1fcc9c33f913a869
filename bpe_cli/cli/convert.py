"""``bpe convert``: a tokenizer from one format to another."""

import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from bpe_cli.cli import convert_changes, options
from bpe_cli.cli.console import ConsoleListener, note
from bpe_cli.cli.output_checks import process_streams
from bpe_cli.cli.parameters import Argument, Option
from bpe_cli.cli.tokenizer_names import check_tokenizer_name

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
    from bpe_cli.jobs.convert import convert

    if format and output != "-" and not output.endswith(os.sep) and not os.path.isdir(output):
        check_tokenizer_name(output, format.value)
    change = convert_changes.change_of(
        add_tokens=add_tokens, prune_to=prune_to, counts_from=counts_from, extend=extend, vocab_size=vocab_size,
        merge=merge, id_map=id_map, lines=lines, jsonl=jsonl, plain=plain, field=field, threads=threads,
        block_size=block_size,
    )  # fmt: skip
    done = convert(
        source, output, format.value if format else None,
        pattern=pattern,
        special_tokens=options.additions_of(add_special),
        allow_loss=frozenset(word.strip() for word in allow_loss.split(",") if word.strip()),
        change=change,
        stdout=sys.stdout.buffer,
        listener=ConsoleListener(quiet=quiet),
        streams=process_streams(),
    )  # fmt: skip
    if done.operation is not None:
        note(f"{', '.join(done.operation.summary)}; ids: {done.id_map}", quiet=quiet)
        for sentence in done.operation.notes:
            note(f"note: {sentence}", quiet=quiet)
    note(f"{source} -> {', '.join(done.files)} ({done.format})", quiet=quiet)
    if done.left_behind:
        note(f"note: this format does not hold {', '.join(done.left_behind)}: ids are the same without", quiet=quiet)
    if layout := _built_in_layout(source, done.tokenizer):
        chosen_by = f"with a file, --chat-template {layout} chooses it"
        note(f"note: the layout of {source}'s conversations is built in; {chosen_by}", quiet=quiet)


def _built_in_layout(source: str, model: "Tokenizer") -> str | None:
    """Return the layout that a model's name stood for, which no file has; None if there is none."""
    from bpe_cli.tokenizer.named_encodings import ENCODINGS

    if model.name not in ENCODINGS:
        return None
    from bpe_cli.chat import layout_of_model

    return layout_of_model(source)
