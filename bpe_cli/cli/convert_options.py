"""The options of ``bpe convert``, in groups."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from bpe_cli.cli import options
from bpe_cli.cli.parameters import Option
from bpe_cli.errors import UsageError
from bpe_cli.formats import FORMATS
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from bpe_cli.jobs.convert import Change

_PANEL = "Changes (one at a time)"

if TYPE_CHECKING:

    class Format(StrEnum):
        """The formats that can be written."""

else:
    Format = StrEnum("Format", {name: name for name in FORMATS})


@dataclass(frozen=True, slots=True)
class Held:
    """The options about what the file holds."""

    format: Annotated[
        Format | None, Option("--format", "-f", help="The format to write.", show_default="by OUT's name")
    ] = None
    pattern: options.PatternName = None
    add_special: options.AddSpecial = None
    allow_loss: Annotated[
        str,
        Option(
            "--allow-loss",
            metavar="NAME,...",
            help="Leave out what the format cannot hold, by the names that the error gives: pattern, ...",
        ),
    ] = ""

    @property
    def losses(self) -> frozenset[str]:
        """The words of --allow-loss."""
        return frozenset(word.strip() for word in self.allow_loss.split(",") if word.strip())


@dataclass(frozen=True, slots=True)
class Changes:
    """The options about changes, and about the corpus of one."""

    add_tokens: Annotated[
        str | None,
        Option(
            "--add-tokens", metavar="FILE", rich_help_panel=_PANEL,
            help="Add tokens: a line each, a JSON array of them, or an added_tokens.json; - for stdin.",
        ),
    ] = None  # fmt: skip
    prune_to: Annotated[
        int | None,
        Option(
            "--prune-to", metavar="N", min=1, rich_help_panel=_PANEL,
            help="Keep N tokens: those that the texts of --counts-from use least go, special ones and characters stay.",
        ),
    ] = None  # fmt: skip
    counts_from: Annotated[
        list[str] | None,
        Option(
            "--counts-from", metavar="CORPUS", rich_help_panel=_PANEL,
            help="For --prune-to: files, folders, glob patterns, or - for stdin. Can be repeated.",
        ),
    ] = None  # fmt: skip
    extend: Annotated[
        list[str] | None,
        Option(
            "--extend", metavar="CORPUS", rich_help_panel=_PANEL,
            help="Let BPE training go on on these texts, up to --vocab-size. Can be repeated.",
        ),
    ] = None  # fmt: skip
    vocab_size: Annotated[
        int | None,
        Option(
            "--vocab-size", "-s", metavar="N", min=1, rich_help_panel=_PANEL,
            help="For --extend: ids to end with, the old ones counted.",
        ),
    ] = None  # fmt: skip
    merge: Annotated[
        str | None,
        Option(
            "--merge", metavar="OTHER", rich_help_panel=_PANEL,
            help="Add the tokens of another BPE tokenizer, behind its own merges.",
        ),
    ] = None  # fmt: skip
    id_map: Annotated[
        str | None,
        Option(
            "--id-map", metavar="FILE", rich_help_panel=_PANEL, show_default="OUT.ids.json",
            help="Where to write which ids became which, as JSON: for moving embeddings.",
        ),
    ] = None  # fmt: skip
    lines: options.Lines = False
    jsonl: options.Jsonl = False
    plain: options.Plain = False
    field: options.Field = "text"

    def change(self, running: options.Running) -> "Change | None":
        """Return the change that is asked for; None for none.

        Raises:
            UsageError: if more than one is asked for, or an option has nothing to go with.
        """
        given = {
            "--add-tokens": self.add_tokens is not None,
            "--prune-to": self.prune_to is not None,
            "--extend": bool(self.extend),
            "--merge": self.merge is not None,
        }
        asked = [name for name, there in given.items() if there]
        if len(asked) > 1:
            raise UsageError(
                f"{' and '.join(asked)} are two changes, and one is made at a time",
                hint="convert twice: each writes a map of its own",
            )
        for name, there, partner, needed in (
            ("--counts-from", bool(self.counts_from), "--prune-to", True),
            ("--vocab-size", self.vocab_size is not None, "--extend", True),
            ("--id-map", self.id_map is not None, None, False),
        ):
            if partner is None and there and not asked:
                raise UsageError(f"{name} goes with a change", hint=f"one of {', '.join(given)}")
            if partner is not None and there and not given[partner]:
                raise UsageError(f"{name} goes with {partner}")
            if needed and partner is not None and given[partner] and not there:
                raise UsageError(f"{partner} needs {name} as well")
        paths = self.counts_from or self.extend
        if (self.lines or self.jsonl or self.plain) and not paths:
            raise UsageError("--lines, --jsonl and --plain say what a corpus is: there is none")
        if not asked:
            return None
        from bpe_cli.jobs.convert import Change
        from bpe_cli.support.ordered_threads import usable_threads

        corpus = None
        if paths:
            said = (self.lines, self.jsonl, self.plain, self.field, running.block_size)
            corpus = options.source_of(paths, None, *said)
        threads = usable_threads(running.threads)
        return Change(self.add_tokens, self.prune_to, self.vocab_size, corpus, self.merge, self.id_map, threads)
