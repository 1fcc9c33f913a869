"""The options of ``bpe convert`` that change a tokenizer on its way: add tokens, prune, extend, merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from bpe_cli.cli import options
from bpe_cli.cli.parameters import Option
from bpe_cli.errors import UsageError

if TYPE_CHECKING:
    from bpe_cli.jobs.changes import Change

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


def change_of(
    *,
    add_tokens: str | None,
    prune_to: int | None,
    counts_from: list[str] | None,
    extend: list[str] | None,
    vocab_size: int | None,
    merge: str | None,
    id_map: str | None,
    lines: bool,
    jsonl: bool,
    plain: bool,
    field: str,
    threads: int | None,
    block_size: int,
) -> Change | None:
    """Return the change that the options ask for; None for none.

    Raises:
        UsageError: If more than one is asked for, or an option has nothing to go with.
    """
    given = {
        "--add-tokens": add_tokens is not None,
        "--prune-to": prune_to is not None,
        "--extend": bool(extend),
        "--merge": merge is not None,
    }
    asked = [name for name, there in given.items() if there]
    if len(asked) > 1:
        raise UsageError(
            f"{' and '.join(asked)} are two changes, and one is made at a time",
            hint="convert twice: each writes a map of its own",
        )
    for name, there, partner, needed in (
        ("--counts-from", bool(counts_from), "--prune-to", True),
        ("--vocab-size", vocab_size is not None, "--extend", True),
        ("--id-map", id_map is not None, None, False),
    ):
        if partner is None and there and not asked:
            raise UsageError(f"{name} goes with a change", hint=f"one of {', '.join(given)}")
        if partner is not None and there and not given[partner]:
            raise UsageError(f"{name} goes with {partner}")
        if needed and partner is not None and given[partner] and not there:
            raise UsageError(f"{partner} needs {name} as well")
    paths = counts_from or extend
    if (lines or jsonl or plain) and not paths:
        raise UsageError("--lines, --jsonl and --plain say what a corpus is: there is none")
    if not asked:
        return None
    from bpe_cli.jobs.changes import Change

    corpus = options.source_of(paths, None, lines, jsonl, plain, field, block_size) if paths else None
    return Change(add_tokens, prune_to, vocab_size, corpus, merge, id_map, options.threads_of(threads))
