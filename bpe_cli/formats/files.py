"""Read a tokenizer from files and write it to files, whatever the format; what is written is verified first."""

from __future__ import annotations

import binascii
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from bpe_cli.errors import FormatError, UsageError
from bpe_cli.formats.detect import locate, other_in
from bpe_cli.formats.registry import FORMATS, LISTS_DEAD_MERGES
from bpe_cli.stages import (
    CTC,
    BertNormalizer,
    BPEDecoder,
    ByteLevel,
    ByteLevelNormalizer,
    Charsmap,
    Decoder,
    Metaspace,
    Normalizer,
    Precompiled,
    PrefixSpace,
    Prepend,
    PreTokenizer,
    Replace,
    ReplaceDecoder,
    SpaceMarks,
    SpaceMarksDecoder,
    WordPieceDecoder,
)
from bpe_cli.stages.patterns import resolve_pattern
from bpe_cli.support.core_arguments import losses_of, wrong_type
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.messages import did_you_mean, listed, nearest
from bpe_cli.support.regex_size import measure
from bpe_cli.tokenizer import Tokenizer


def load(path: str | Path, pattern: str | None = None) -> Tokenizer:
    """Read a tokenizer from a file or a folder, whatever its format; names do not count, contents do.

    Args:
        path: The file, or its folder.
        pattern: The split pattern, by name or as an expression, for formats that hold none.
    """
    path = Path(path)
    expression = None if pattern is None else resolve_pattern(pattern)
    file, name = locate(path)
    try:
        tokenizer = FORMATS[name].load(file, expression)
    except FormatError as error:
        other = other_in(path, file, name) if error.hint is None and path.is_dir() else None
        if other is None:
            raise
        raise FormatError(error.message, hint=f"{other} lies beside it: name that one") from error
    check_growth((*tokenizer.normalizer, *tokenizer.pre_tokenizer), f"{file}: normalizer and pre-tokenizer")
    check_growth(tokenizer.decoder, f"{file}: decoder")
    return replace(tokenizer, name=str(path))


def dump(
    tokenizer: Tokenizer,
    format: str,  # noqa: A002  # what every caller calls it
    allow_loss: Collection[str] = (),
) -> dict[str, bytes]:
    """Return the contents of the files that hold a tokenizer, verified: read back they give the same ids and texts.

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
        TypeError: if an argument has the wrong type.
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
    """Return what ``dump`` would, without verifying it: for a tokenizer that is not finished."""
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


def check_beside(tokenizer: Tokenizer, files: Mapping[str, bytes], output: str | Path) -> None:
    """Check that files lying where ``dump``'s are to be written will not change what is read there.

    Raises:
        UsageError: if they will; the message names them.
        OutputError: if there is no place for a temporary file.
    """
    from bpe_cli.formats.proof import beside

    beside.check_beside(tokenizer, files, Path(output), load)


@contextmanager
def _with_way_out(format_name: str) -> Iterator[None]:
    """Name the format that holds everything where an error has no better advice."""
    try:
        yield
    except FormatError as error:
        if error.hint is not None:
            raise
        whole = 'bpe.json holds every tokenizer whole: `format="bpe.json"`'
        odd = "no format says this: bpe inspect shows what it has, such as a token that is special and ordinary"
        raise FormatError(error.message, hint=odd if format_name == "bpe.json" else whole) from error


def left_behind(tokenizer: Tokenizer, format_name: str) -> list[str]:
    """Return what files of a format will not say about the use of a tokenizer, though its ids stay the same.

    A format that holds only some roles says in ``ROLES`` which, and by what text if it goes by the text.
    """
    from bpe_cli.formats import features

    module = FORMATS[format_name]
    return features.left_behind(tokenizer, module.HOLDS, getattr(module, "ROLES", None))


# --------------------------------------------------------------------------------------------------
# Bound how much longer stages can make a text, and refuse those that would fill the memory.
#
# Five stages that each write a letter as a thousand make 10^15 letters of one. What is bounded here is how many
# bytes can come of one byte, over all stages that follow each other. A stage that replaces a text works on what
# an earlier one put in only if the two have a character in common; of any other it is assumed. What Unicode
# prescribes (normalization forms, case) counts as no growth: it is elevenfold at most, and no more when done again.


MAX_GROWTH = 1_000
"""How many bytes may come of one; of tokenizers in use it is 132 at most, by SentencePiece's tables."""

Stage = Normalizer | PreTokenizer | Decoder


@dataclass(frozen=True, slots=True)
class _Effect:
    """The effect of a stage on a text.

    Attributes:
        factor: How many bytes it can make of one.
        takes: The characters that it can change; None for any.
        gives: The characters that can come of it; None for any.
    """

    factor: float
    takes: frozenset[str] | None = None
    gives: frozenset[str] | None = None


def check_growth(stages: Iterable[Stage], where: str) -> None:
    """Refuse stages that follow each other and can make a text too long."""
    grown = growth(stages)
    if grown > MAX_GROWTH:
        shown = f"{grown:,.0f}" if grown < 10**9 else "more than 1,000,000,000"
        raise FormatError(
            f"{where}: its stages can turn one byte into {shown} bytes; at most {MAX_GROWTH:,} are allowed",
            hint="a Replace, a Prepend or a table in it puts in far more text than it takes out",
        )


def growth(stages: Iterable[Stage]) -> float:
    """Return how many bytes one byte can become.

    >>> growth([Replace(" ", "▁", literal=True)] * 9), growth([Replace("a", "aaa", literal=True)] * 9)
    (3.0, 19683.0)

    Complexity: linear in the texts that the stages name.
    """
    of_character: dict[str, float] = {}  # how much a character can have grown out of, by what put it there
    of_any = worst = 1.0
    for stage in stages:
        effect = _effect(stage)
        if effect.takes is None:
            before = worst
        else:
            before = max([of_any, *(of_character.get(character, 1.0) for character in effect.takes)])
        grown = before * max(1.0, effect.factor)
        if effect.gives is None:
            of_any = max(of_any, grown)
        else:
            for character in effect.gives:
                of_character[character] = max(of_character.get(character, 1.0), grown)
        worst = min(max(worst, grown), 1e300)
    return worst


def _effect(stage: Stage) -> _Effect:
    match stage:
        case Replace() | ReplaceDecoder():
            return _replacing(stage.pattern, stage.content, literal=stage.literal)
        case Prepend():
            return _Effect(1 + _bytes(stage.prepend))
        case Precompiled() | Charsmap():
            return _Effect(_longest_replacement(stage.precompiled_charsmap))
        case BertNormalizer():
            return _Effect(5 / 3)  # blanks around a Chinese character, which has three bytes
        case ByteLevel() | ByteLevelNormalizer() | PrefixSpace() | WordPieceDecoder():
            return _Effect(2)
        case Metaspace():
            return _Effect(1 + _bytes(stage.replacement))
        case SpaceMarks():
            return _Effect(4)
        case SpaceMarksDecoder():
            return _Effect(1 + _bytes(stage.unk_surface))
        case BPEDecoder():
            return _Effect(1 if stage.suffix else 2)
        case CTC():
            return _Effect(1 if stage.word_delimiter_token else 2)
    return _Effect(1)


def _replacing(pattern: str, content: str, *, literal: bool) -> _Effect:
    shortest = _bytes(pattern) if literal else measure(pattern).shortest
    if not shortest:  # it can match nothing, anywhere: what is there stays
        return _Effect(1 + _bytes(content))
    takes = frozenset(pattern) if literal else None
    return _Effect(_bytes(content) / shortest, takes, frozenset(content))


@lru_cache(maxsize=4)
def _longest_replacement(table: str) -> int:
    """Return the bytes of the longest text that a table of SentencePiece puts in."""
    import base64

    try:
        data = base64.b64decode(table, validate=True)
    except (binascii.Error, ValueError):  # which is an error of its own where the table is read
        return 1
    texts = data[4 + int.from_bytes(data[:4], "little") :]
    return max(map(len, texts.split(b"\0"))) or 1


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
