"""Read a tokenizer from files and write it to files, whatever the format; what is written is proved first."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from bpe_cli.errors import FormatError, UsageError
from bpe_cli.formats.detect import locate, other_in
from bpe_cli.formats.registry import FORMATS, LISTS_DEAD_MERGES
from bpe_cli.formats.stage_growth import check_growth
from bpe_cli.stages.patterns import resolve_pattern
from bpe_cli.support.core_arguments import losses_of, wrong_type
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import did_you_mean, listed, nearest
from bpe_cli.tokenizer import Tokenizer


def load(path: str | Path, pattern: str | None = None) -> Tokenizer:
    """Read a tokenizer from a file or a folder, whatever its format; names do not count, contents do.

    Args:
        path: The file, or its folder.
        pattern: The split pattern, by name or as an expression, for formats that hold none.

    Raises:
        InputError: if there is no such file, or it cannot be read.
        FormatError: if no format fits, or the file is broken.
        UsageError: if a pattern is given where none can be, or by a name that does not exist.
    """
    path = Path(path)
    expression = None if pattern is None else resolve_pattern(pattern)
    found, name = locate(path)
    try:
        tokenizer = FORMATS[name].load(found, expression)
    except FormatError as error:
        other = other_in(path, found, name) if error.hint is None and path.is_dir() else None
        if other is None:
            raise
        raise FormatError(error.message, hint=f"{other} lies beside it: name that one") from error
    check_growth((*tokenizer.normalizer, *tokenizer.pre_tokenizer), f"{found}: normalizer and pre-tokenizer")
    check_growth(tokenizer.decoder, f"{found}: decoder")
    return replace(tokenizer, name=str(path))


def dump(
    tokenizer: Tokenizer,
    format: str,  # noqa: A002  # what every caller calls it
    allow_loss: Collection[str] = (),
) -> dict[str, bytes]:
    """Return the contents of the files that hold a tokenizer, proved: read back they give the same ids and texts.

    Args:
        tokenizer: What is to be held.
        format: One of ``FORMATS``.
        allow_loss: What may be left out, by the names in ``features.LOSSES``.

    Returns:
        File name -> content. The name ``""`` is the output path itself; others lie in it as a folder.

    Raises:
        FormatError: if the format cannot hold all of it.
        UsageError: if there is no such format, or no such loss.
        OutputError: if there is no place for a temporary file.
        TypeError: if an argument is of a wrong type.
    """
    from bpe_cli.formats.proof import prove

    if not isinstance(tokenizer, Tokenizer):
        raise wrong_type("tokenizer", "a Tokenizer", tokenizer)
    if not isinstance(format, str):
        raise wrong_type("format", "a str", format)
    allow_loss = losses_of(allow_loss)
    files = rehearse(tokenizer, format, allow_loss)
    with _with_way_out(format):
        prove(tokenizer, files, FORMATS[format].FILES[0].replace("*", "tokenizer"), load, allow_loss)
    return files


def rehearse(tokenizer: Tokenizer, format_name: str, allow_loss: Collection[str] = ()) -> dict[str, bytes]:
    """Return what ``dump`` would, without the proof: for a tokenizer that is not finished.

    Raises:
        FormatError, UsageError: as for ``dump``.
    """
    if format_name not in FORMATS:
        hint = did_you_mean(nearest(format_name, FORMATS), f"formats are {', '.join(FORMATS)}")
        raise UsageError(f"unknown format {format_name!r}", hint=hint)
    from bpe_cli.formats.features import LOSSES

    if unknown := sorted(set(allow_loss) - LOSSES):
        raise UsageError(
            f"no format loses {listed(list(map(repr, unknown)), separator=', ')}",
            hint=f"losses are {', '.join(sorted(LOSSES))}",
        )
    listed_merges = tokenizer.model.merges is not None and format_name in LISTS_DEAD_MERGES
    if not listed_merges:  # what reads it, or what is made of scores and ranks, would take a dead merge for any other
        tokenizer = tokenizer.without_dead_merges()
    with _with_way_out(format_name):
        return FORMATS[format_name].dump(tokenizer, frozenset(allow_loss))


@contextmanager
def _with_way_out(format_name: str) -> Iterator[None]:
    """Name the format that holds everything where an error has no better advice."""
    try:
        yield
    except FormatError as error:
        if error.hint is not None:
            raise
        whole = "bpe.json holds every tokenizer whole: --format bpe.json"
        odd = "no format says this: bpe inspect shows what it has, such as a token that is special and ordinary"
        raise FormatError(error.message, hint=odd if format_name == "bpe.json" else whole) from error


def left_behind(tokenizer: Tokenizer, format_name: str) -> list[str]:
    """Return what files of a format will not say about the use of a tokenizer, though ids are the same without.

    A format that holds only some roles says in ``ROLES`` which, and by what text if it goes by the text.
    """
    from bpe_cli.formats import features

    module = FORMATS[format_name]
    return features.left_behind(tokenizer, module.HOLDS, getattr(module, "ROLES", None))
