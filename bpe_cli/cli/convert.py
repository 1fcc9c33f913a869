"""``bpe convert``: convert a tokenizer to another format, or change it; its options, in groups."""

import os
import sys
from functools import partial

from bpe_cli.cli import options
from bpe_cli.cli.console import ConsoleListener, note, process_streams
from bpe_cli.cli.idle import as_typed
from bpe_cli.cli.options import Argument, Option
from bpe_cli.errors import UsageError
from bpe_cli.formats import FORMATS
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.jobs.changes import Change
    from bpe_cli.jobs.convert import Converted


EPILOG = (
    "Anything that the target format cannot hold is an error that names it, unless you allow that loss with "
    "--allow-loss."
)

COMMON = {
    "source": "A tokenizer file or folder, an encoding or a model.",
    "output": "The file or folder to write.",
    "format": "The format to write. [by OUT's name]",
    "allow_loss": "Leave out what the format cannot hold.",
    "pattern": "The split pattern of a file that holds none.",
    "add_special": "Add a special token.",
    "add_tokens": "Add the tokens that this file lists.",
    "extend": "Train on these texts until there are -s tokens.",
    "vocab_size": "With --extend: the size of the vocabulary.",
    "prune_to": "Keep the N most used tokens.",
    "counts_from": "With --prune-to: the texts that count.",
    "merge": "Add the tokens of another BPE tokenizer.",
    "id_map": "Where to write which ids became which.",
    "threads": "Threads to use. [all]",
    "quiet": "",
}
"""The options that people use most, and what the short help says of them; nothing: the first sentence of the long."""

# What declares an option, by the panel of the help that it stands in.
_change_option = partial(Option, rich_help_panel="Changes (one at a time)")


@dataclass(frozen=True, slots=True)
class Held:
    """The options about what the file holds."""

    format: Annotated[
        str | None, Option("--format", "-f", choices=FORMATS, show_default="by OUT's name", help="The format to write.")
    ] = None
    pattern: options.PatternName = None
    add_special: options.AddSpecial = None
    allow_loss: Annotated[
        str,
        Option(
            "--allow-loss", metavar="NAME,...",
            help="Accept these losses, by the names that the error gives: pattern, ...",
        ),
    ] = ""  # fmt: skip

    @property
    def losses(self) -> frozenset[str]:
        """The losses that --allow-loss names."""
        return frozenset(word.strip() for word in self.allow_loss.split(",") if word.strip())


@dataclass(frozen=True, slots=True)
class Changes:
    """The options about changes, and about the corpus of one."""

    add_tokens: Annotated[
        str | None,
        _change_option(
            "--add-tokens", metavar="FILE",
            help="Add tokens: a line each, a JSON array of them, or an added_tokens.json; - for stdin.",
        ),
    ] = None  # fmt: skip
    prune_to: Annotated[
        int | None,
        _change_option(
            "--prune-to", metavar="N", min=1,
            help="Keep N tokens: drop those that the texts of --counts-from use least. Special tokens stay, and so do "
            "single characters, except in models of characters, words and n-grams.",
        ),
    ] = None  # fmt: skip
    split_residues: Annotated[
        float | None,
        _change_option(
            "--split-residues", metavar="SHARE",
            help="Split up tokens that rarely survive merging: those that survive in at most this share of the cases "
            "in which the texts of --counts-from make them; 0.05 is usual. They then serve only for merging; ids stay "
            "the same. For SentencePiece's BPE, and for byte-level BPE written as bpe.json.",
        ),
    ] = None  # fmt: skip
    counts_from: Annotated[
        list[str] | None,
        _change_option(
            "--counts-from", metavar="CORPUS",
            help="For --prune-to, --replace and --split-residues: the texts that say which tokens are used: files, "
            "folders, glob patterns, or - for stdin. Can be repeated.",
        ),
    ] = None  # fmt: skip
    extend: Annotated[
        list[str] | None,
        _change_option(
            "--extend", metavar="CORPUS",
            help="Continue BPE training on these texts, up to --vocab-size or by --add; after --prune-to, if both are "
            "given. Can be repeated.",
        ),
    ] = None  # fmt: skip
    vocab_size: Annotated[
        int | None,
        _change_option(
            "--vocab-size",
            "-s",
            metavar="N",
            min=1,
            help="For --extend: the number of ids to end with, old ones included.",
        ),
    ] = None
    add: Annotated[
        int | None,
        _change_option("--add", metavar="N", min=1, help="For --extend, in place of --vocab-size: tokens to add."),
    ] = None
    replace: Annotated[
        int | None,
        _change_option(
            "--replace", metavar="N", min=1,
            help="Replace the N tokens that the texts of --counts-from use least, and that no other token is made of, "
            "with new ones learnt from --by, which get their ids. The size and all other ids stay the same.",
        ),
    ] = None  # fmt: skip
    by: Annotated[
        list[str] | None,
        _change_option("--by", metavar="CORPUS", help="For --replace: the texts to learn from. Can be repeated."),
    ] = None
    merge: Annotated[
        str | None,
        _change_option(
            "--merge", metavar="OTHER", help="Add the tokens of another BPE tokenizer, after its own merges."
        ),
    ] = None
    id_map: Annotated[
        str | None,
        _change_option(
            "--id-map", metavar="FILE", show_default="OUT.ids.json",
            help="Where to write the map from old to new ids, as JSON, for moving embeddings.",
        ),
    ] = None  # fmt: skip
    lines: options.Lines = False
    jsonl: options.Jsonl = False
    plain: options.Plain = False
    field: options.Field = None

    def without_idle_defaults(self) -> "Changes":
        """Return these without what a project's file says of a corpus, or of a size, where none is asked for."""
        idle = [] if self.extend else ["vocab_size", "add"]
        if not (self.counts_from or self.by or self.extend):
            idle += ["lines", "jsonl", "plain", "field"]
        return as_typed(self, *idle) if idle else self

    def change(self, running: options.Running) -> "Change | None":
        """Return the change that is asked for; None for none.

        Raises:
            UsageError: if more than one is asked for, or an option has nothing to go with.
        """
        given = {
            "--add-tokens": self.add_tokens is not None,
            "--prune-to": self.prune_to is not None,
            "--extend": bool(self.extend),
            "--replace": self.replace is not None,
            "--split-residues": self.split_residues is not None,
            "--merge": self.merge is not None,
        }
        asked = [name for name, there in given.items() if there]
        if len(asked) > 1 and asked != ["--prune-to", "--extend"]:
            raise UsageError(
                f"{' and '.join(asked)} are two changes, and only one can be made at a time",
                hint="convert twice: each writes a map of its own; --prune-to and --extend go together",
            )
        sized = self.vocab_size is not None, self.add is not None
        if all(sized):
            raise UsageError("--vocab-size and --add both set the number of tokens")
        for name, there, partners, needed in (
            ("--counts-from", bool(self.counts_from), ("--prune-to", "--replace", "--split-residues"), True),
            ("--by", bool(self.by), ("--replace",), True),
            ("--vocab-size", sized[0], ("--extend",), not sized[1]),
            ("--add", sized[1], ("--extend",), False),
        ):
            wanted = next((partner for partner in partners if given[partner]), None)
            if there and wanted is None:
                either = ", ".join(partners[:-1]) + " or " if partners[1:] else ""
                raise UsageError(f"{name} goes with {either}{partners[-1]}")
            if needed and wanted is not None and not there:
                also = " or --add" if name == "--vocab-size" else ""
                raise UsageError(f"{wanted} needs {name}{also} as well")
        if self.id_map is not None and not asked:
            raise UsageError("--id-map goes with a change", hint=f"one of {', '.join(given)}")
        learn_from = self.by or self.extend
        if not (self.counts_from or learn_from) and (self.lines or self.jsonl or self.plain or self.field is not None):
            raise UsageError("--lines, --jsonl, --plain and --field need a corpus")
        if not asked:
            return None
        from bpe_cli.jobs.changes import Change
        from bpe_cli.support.ordered_threads import usable_threads

        def source(paths: list[str] | None) -> "Source | None":
            documents = options.Documents(paths or [], None, self.lines, self.jsonl, self.plain, self.field)
            return documents.source(running.block_size) if paths else None

        threads = usable_threads(running.threads)
        return Change(
            self.add_tokens, self.prune_to, self.vocab_size, self.add, self.replace, self.split_residues,
            source(self.counts_from), source(learn_from), self.merge, self.id_map, threads,
        )  # fmt: skip


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
    """Convert a tokenizer into another format without silent losses, or change it.

    [bold]Examples[/bold]

        bpe convert cl100k_base -o cl100k.tiktoken

        bpe convert ranks.tiktoken --pattern cl100k -o tokenizer.json

        bpe convert tokenizer.json -o folder/ --format vocab-merges

        bpe convert tokenizer.json --extend corpus.txt -s 60000 -o longer.json
    """
    from bpe_cli.jobs.convert import convert
    from bpe_cli.jobs.files import check_tokenizer_name

    chosen = held.format
    if chosen and output != "-" and not output.endswith(os.sep) and not os.path.isdir(output):
        check_tokenizer_name(output, chosen)
    listener = ConsoleListener(quiet=running.quiet)
    done = convert(
        source,
        output,
        chosen,
        pattern=held.pattern,
        special_tokens=options.additions_of(held.add_special),
        allow_loss=held.losses,
        change=changes.without_idle_defaults().change(running),
        stdout=sys.stdout.buffer,
        listener=listener,
        streams=process_streams(),
    )
    _show(source, done, listener)


def _show(source: str, done: "Converted", listener: ConsoleListener) -> None:
    """Note what was changed and written, and what the user might not expect."""
    quiet = listener.quiet
    if done.operation is not None:
        note(f"{', '.join(done.operation.summary)}; ids: {done.id_map}", quiet=quiet)
        for sentence in done.operation.notes:
            note(f"note: {sentence}", quiet=quiet)
    note(f"{source} -> {', '.join(done.files)} ({done.format}){listener.took()}", quiet=quiet)
    if done.left_behind:
        note(f"note: this format cannot hold {', '.join(done.left_behind)}, but ids stay the same", quiet=quiet)
    if layout := done.built_in_layout:
        chosen_by = f"with a file, --chat-template {layout} chooses it"
        note(f"note: the layout of {source}'s conversations is built in; {chosen_by}", quiet=quiet)
