"""``bpe convert``: a tokenizer from one format to another."""

import os
import sys
from typing import TYPE_CHECKING, Annotated

from bpe_cli.cli import options
from bpe_cli.cli.console import ConsoleListener, note, process_streams
from bpe_cli.cli.convert_options import Changes, Held
from bpe_cli.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from bpe_cli.jobs.convert import Converted

EPILOG = "What the target format cannot hold is an error that names it, unless --allow-loss says otherwise."


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
    held: Held,
    changes: Changes,
    running: options.Running,
) -> None:
    """Convert a tokenizer into another format, losing nothing unasked; or change it.

    [bold]Examples[/bold]

        bpe convert cl100k_base -o cl100k.tiktoken

        bpe convert ranks.tiktoken --pattern cl100k -o tokenizer.json

        bpe convert tokenizer.json -o folder/ --format vocab-merges

        bpe convert tokenizer.json --extend corpus.txt -s 60000 -o longer.json
    """
    from bpe_cli.jobs.convert import convert
    from bpe_cli.jobs.files import check_tokenizer_name

    chosen = held.format.value if held.format else None
    if chosen and output != "-" and not output.endswith(os.sep) and not os.path.isdir(output):
        check_tokenizer_name(output, chosen)
    done = convert(
        source,
        output,
        chosen,
        pattern=held.pattern,
        special_tokens=options.additions_of(held.add_special),
        allow_loss=held.losses,
        change=changes.change(running),
        stdout=sys.stdout.buffer,
        listener=ConsoleListener(quiet=running.quiet),
        streams=process_streams(),
    )
    _show(source, done, running.quiet)


def _show(source: str, done: "Converted", quiet: bool) -> None:
    """Note what was changed and written, and what the user might not expect."""
    if done.operation is not None:
        note(f"{', '.join(done.operation.summary)}; ids: {done.id_map}", quiet=quiet)
        for sentence in done.operation.notes:
            note(f"note: {sentence}", quiet=quiet)
    note(f"{source} -> {', '.join(done.files)} ({done.format})", quiet=quiet)
    if done.left_behind:
        note(f"note: this format does not hold {', '.join(done.left_behind)}: ids are the same without", quiet=quiet)
    if layout := done.built_in_layout:
        chosen_by = f"with a file, --chat-template {layout} chooses it"
        note(f"note: the layout of {source}'s conversations is built in; {chosen_by}", quiet=quiet)
