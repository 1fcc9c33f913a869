"""All that changes the bytes of a data set, as its plan has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bpe_cli.errors import UsageError
from bpe_cli.jobs.prepare.keeping import check_kept
from bpe_cli.support.core_arguments import ordered_specials
from bpe_cli.support.messages import show_path

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.jobs.prepare.conversations import Conversations
    from bpe_cli.jobs.prepare.part import PrepareOptions
    from bpe_cli.tokenizer import Tokenizer


def settings_of(
    source: Source, model: Tokenizer, options: PrepareOptions, conversations: Conversations | None = None
) -> dict[str, Any]:
    """Return all that changes what is written, as JSON values: the same for the same data set.

    Raises:
        UsageError: if there is no such format, or the options contradict the tokenizer.
    """
    from bpe_cli.sinks.base import SinkOptions
    from bpe_cli.sinks.dataset import DATASETS
    from bpe_cli.tokenizer import fingerprint

    if options.to not in DATASETS:
        raise UsageError(f"there is no data set format {options.to!r}", hint=f"there are {', '.join(DATASETS)}")
    edges = options.edges(model)
    asked = options.sequences(model)
    kind = DATASETS[options.to]
    if unknown := [name for name in options.all_columns if name not in kind.all_columns]:
        may_have = [name for name in kind.all_columns if name != "loss_mask"]
        has = f"it may have {', '.join(may_have)}" if may_have else "it holds nothing but ids; tables have columns"
        raise UsageError(f"the format {options.to} has no column {unknown[0]}", hint=has)
    check_kept(options.keep, options.to, kind, options.way if asked else None)
    dtype = kind.dtype_for(model, SinkOptions(edges=edges, dtype=options.dtype))
    return {
        "format": options.to,
        "dtype": dtype,
        "columns": list(options.all_columns),
        "tokenizer": {"name": model.name and show_path(model.name), "sha256": fingerprint(model)},
        "bos": edges.bos,
        "eot": edges.eot,
        "before": list(edges.before),
        "after": list(edges.after),
        "specials": "all" if options.specials == "all" else list(ordered_specials(options.specials)),
        "refuse_specials": options.refuse_specials,
        "documents": source.documents,
        "field": source.text_field,
        "decompress": source.decompress,
        "plain": source.plain,
        "part_bytes": options.part_bytes,
        "length": options.length,
        "way": options.way if asked else None,
        "pad": asked.pad if asked else None,
        **_further_settings(options, conversations),
        **({} if source.ending == "txt" else {"member": source.ending}),
        **({} if options.on_error == "fail" else {"on_error": options.on_error}),
    }


def _further_settings(options: PrepareOptions, conversations: Conversations | None) -> dict[str, Any]:
    """Return the settings that are only there when they are used."""
    settings: dict[str, Any] = {}
    if "position_ids" in options.columns and options.length and _positions_matter(options):
        settings["positions"] = options.positions
    if conversations is not None:
        settings["chat"] = conversations.described()
        settings["mask"] = options.mask
    if options.val is not None:
        settings["val"] = options.val
    if options.shuffle is not None:
        settings["shuffle"] = {"what": options.shuffle, "seed": options.seed}
    return settings


def _positions_matter(options: PrepareOptions) -> bool:
    """Return whether the plan says what positions count: in packed rows, and else if padding is counted too."""
    if options.way in ("concatenate", "best-fit"):
        return True
    return options.pad is not None and options.positions != "document"
