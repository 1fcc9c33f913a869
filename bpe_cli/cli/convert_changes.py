"""What ``bpe convert`` does to a tokenizer on its way: add tokens, prune, extend, merge."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from bpe_cli.cli import options
from bpe_cli.cli.console import ConsoleListener, note, progress
from bpe_cli.cli.output_checks import process_streams
from bpe_cli.cli.parameters import Option
from bpe_cli.errors import UsageError

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.surgery import Operation
    from bpe_cli.tokenizer import Specials, Tokenizer

_PANEL = "Changes (one at a time)"

AddTokens = Annotated[
    str | None,
    Option(
        "--add-tokens", metavar="FILE", rich_help_panel=_PANEL,
        help="Add tokens: a line each, a JSON array of them, or an added_tokens.json; - for stdin.",
    ),
]  # fmt: skip
PruneTo = Annotated[
    int | None,
    Option(
        "--prune-to", metavar="N", min=1, rich_help_panel=_PANEL,
        help="Keep N tokens: those that the texts of --counts-from use least go, special ones and characters stay.",
    ),
]  # fmt: skip
CountsFrom = Annotated[
    list[str] | None,
    Option(
        "--counts-from", metavar="CORPUS", rich_help_panel=_PANEL,
        help="For --prune-to: files, folders, glob patterns, or - for stdin. Can be repeated.",
    ),
]  # fmt: skip
Extend = Annotated[
    list[str] | None,
    Option(
        "--extend", metavar="CORPUS", rich_help_panel=_PANEL,
        help="Let BPE training go on on these texts, up to --vocab-size. Can be repeated.",
    ),
]  # fmt: skip
VocabSize = Annotated[
    int | None,
    Option(
        "--vocab-size", "-s", metavar="N", min=1, rich_help_panel=_PANEL,
        help="For --extend: ids to end with, the old ones counted.",
    ),
]  # fmt: skip
Merge = Annotated[
    str | None,
    Option(
        "--merge", metavar="OTHER", rich_help_panel=_PANEL,
        help="Add the tokens of another BPE tokenizer, behind its own merges.",
    ),
]  # fmt: skip
IdMap = Annotated[
    str | None,
    Option(
        "--id-map", metavar="FILE", rich_help_panel=_PANEL, show_default="OUT.ids.json",
        help="Where to write which ids became which, as JSON: for moving embeddings.",
    ),
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """What is asked for; the attributes are the options by name."""

    add_tokens: str | None
    prune_to: int | None
    counts_from: list[str] | None
    extend: list[str] | None
    vocab_size: int | None
    merge: str | None
    id_map: str | None
    lines: bool
    jsonl: bool
    plain: bool
    field: str
    threads: int | None
    block_size: int
    quiet: bool

    @property
    def wanted(self) -> bool:
        """Whether anything is to be changed.

        Raises:
            UsageError: More than one thing is, or an option has nothing to go with.
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
        if (self.lines or self.jsonl or self.plain) and not (self.counts_from or self.extend):
            raise UsageError("--lines, --jsonl and --plain say what a corpus is: there is none")
        return bool(asked)

    @property
    def read_files(self) -> list[tuple[str, str]]:
        """What messages call the files that are read besides a corpus, and their paths."""
        files = {"the list of tokens": self.add_tokens, "the tokenizer of --merge": self.merge}
        return [(what, path) for what, path in files.items() if path is not None]

    @property
    def is_long(self) -> bool:
        """Whether a corpus is read."""
        return bool(self.counts_from or self.extend)

    def map_path(self, output: str) -> str:
        """Return where the map of ids goes: beside the output, unless it is said.

        Raises:
            UsageError: It is not, and the output has no place beside it; or it is the output.
        """
        if self.id_map is not None:
            if os.path.abspath(self.id_map) == os.path.abspath(output):
                raise UsageError("--id-map and --output are the same file")
            return self.id_map
        try:
            mode = os.stat(output).st_mode
        except OSError:
            mode = stat.S_IFREG
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise UsageError(f"there is no place for the map of ids beside {output}", hint="give --id-map FILE")
        return (output.rstrip("/" + os.sep) or output) + ".ids.json"

    def apply(self, tokenizer: Tokenizer, outputs: Sequence[tuple[str, str | None]]) -> Operation:
        """Make the change.

        Args:
            tokenizer: What is changed.
            outputs: What will be written, and where: no corpus must be there.

        Raises:
            BpeError: As the operations of ``bpe_cli.surgery`` do.
        """
        from bpe_cli import surgery
        from bpe_cli.formats import token_list
        from bpe_cli.support.messages import show_path

        if self.add_tokens is not None:
            given = token_list.loads(options.contents_of(self.add_tokens), show_path(self.add_tokens))
            operation = surgery.add_tokens(tokenizer, given.tokens)
            given.check(operation.tokenizer)
            return operation
        if self.merge is not None:
            return surgery.merge(tokenizer, self._other(tokenizer, self.merge))
        size = self.prune_to or self.vocab_size or 0
        what = "pruning" if self.prune_to is not None else "training"
        counts = self._count(
            tokenizer, (self.counts_from or self.extend) or [], () if self.prune_to else "all", outputs
        )
        total = size if self.prune_to is None else len(surgery.used_ids(tokenizer)) - size
        with progress(total, what, quiet=self.quiet, printing=False, unit="token") as advance:
            done = 0

            def on_progress(reached: int, _: int) -> None:
                nonlocal done
                advance(reached - done)
                done = reached

            change = surgery.prune if self.prune_to is not None else surgery.extend
            return change(tokenizer, counts, size, progress=on_progress)

    def _other(self, tokenizer: Tokenizer, spec: str) -> Tokenizer:
        """Load what is to be merged; text is cut as the first one does, so a file that lacks a pattern needs none."""
        from bpe_cli.errors import NoPatternError
        from bpe_cli.formats import find_tokenizer

        try:
            return find_tokenizer(spec)
        except NoPatternError:
            note(f"note: {spec} does not say how text is split, and nothing here depends on it", quiet=self.quiet)
            return replace(
                find_tokenizer(spec, "none"), normalizer=tokenizer.normalizer, pre_tokenizer=tokenizer.pre_tokenizer
            )

    def _count(
        self, tokenizer: Tokenizer, paths: list[str], specials: Specials, outputs: Sequence[tuple[str, str | None]]
    ) -> _core.Counts:
        from bpe_cli.jobs.count import count_by_tokenizer

        return count_by_tokenizer(
            options.source_of(paths, None, self.lines, self.jsonl, self.plain, self.field, self.block_size),
            tokenizer,
            specials,
            threads=options.threads_of(self.threads),
            outputs=outputs,
            listener=ConsoleListener(quiet=self.quiet),
            streams=process_streams(),
        )

    def tell(self, operation: Operation, map_path: str) -> None:
        """Describe what was done, where the map of ids is, and what the user might not expect."""
        note(f"{', '.join(operation.summary)}; ids: {map_path}", quiet=self.quiet)
        for sentence in operation.notes:
            note(f"note: {sentence}", quiet=self.quiet)
