"""Prove a conversion before a file appears: what was written is read back, and has to do the same.

Two tokenizers whose parts are equal do the same to every text. Where parts differ, as ranks and merges do, both
encode the texts of ``texts``, with and without special tokens asked for, and decode what comes out. What the caller
agreed to lose is taken from the one or left out, and all the rest is still compared.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from bpe_cli.errors import FormatError, InputError, NoPatternError, OutputError, UsageError
from bpe_cli.formats.features import EDGES, without_codebook
from bpe_cli.formats.proof import decoding, texts
from bpe_cli.formats.proof.comparing import (
    SAME,
    Law,
    decodes_the_same,
    difference,
    encode,
    encodes_the_same,
    surroundings,
    surrounds_the_same,
)
from bpe_cli.stages import SpaceMarksDecoder
from bpe_cli.stages.spelling import NORMAL
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import reason_of
from bpe_cli.tokenizer import Tokenizer

Load = Callable[[Path, str | None], Tokenizer]
"""Reads a tokenizer, by a path and a pattern."""

CUTS = frozenset({"pattern", "prefix-space", "pre-tokenizer"})
"""The losses that are of pre-tokenizers."""

TOKENS = frozenset({"special-tokens", "token-flags"})
"""The losses that are of special and added tokens."""


def prove(
    tokenizer: Tokenizer, files: Mapping[str, bytes], file_name: str, load: Load, allow_loss: Collection[str] = ()
) -> None:
    """Make sure that files do what the tokenizer does that they were made of.

    Args:
        tokenizer: The tokenizer.
        files: Name -> content, as ``dump`` gives them.
        file_name: What a single file is called.
        load: Reads them.
        allow_loss: What the files may lack, by the names of ``features.LOSSES``.

    Raises:
        FormatError: if they cannot be read, cannot be run, or give other ids or another text; the message has the first
            text that does, and what both make of it.
        OutputError: if there is no place for a temporary file.
    """
    again = read_back(files, file_name, load)
    if "codebook" in allow_loss:
        tokenizer = without_codebook(tokenizer)
    same = encodes_the_same(tokenizer, again) and decodes_the_same(tokenizer, again)
    if same and surrounds_the_same(tokenizer, again):
        encode(tokenizer, texts.tricky())  # it can be run
        return
    losses = frozenset(allow_loss)
    found = _first_difference(tokenizer, again, frozenset())
    if found is not None and losses:
        found = _first_but(tokenizer, again, losses)
    if found is not None:
        raise FormatError(
            f"what would be written does something else: {found}", hint=_way_out(tokenizer, again, losses)
        )


def _way_out(ours: Tokenizer, theirs: Tokenizer, losses: frozenset[str]) -> str | None:
    """State that a difference on rare texts between two libraries' words may be agreed to, if it is one."""
    words = {any(isinstance(stage, SpaceMarksDecoder) for stage in each.decoder) for each in (ours, theirs)}
    if EDGES in losses or len(words) == 1 or _first_but(ours, theirs, losses | {EDGES}) is not None:
        return None
    return f"write bpe.json, which holds everything (--format bpe.json), or agree to lose it: --allow-loss {EDGES}"


def read_back(files: Mapping[str, bytes], file_name: str, load: Load) -> Tokenizer:
    """Read files that are not there yet, in a folder of their own.

    Raises:
        FormatError: if they cannot be read.
        OutputError: if there is no place for a temporary folder.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="bpe-proof-") as folder:
            for file, content in files.items():
                (Path(folder) / (file or file_name)).write_bytes(content)
            return _read(Path(folder) / file_name if "" in files else Path(folder), load)
    except OSError as error:
        raise OutputError(
            f"what is written cannot be read back as a proof: {reason_of(error)}",
            hint="TMPDIR names a folder with room for temporary files",
        ) from error


def _read(path: Path, load: Load) -> Tokenizer:
    try:
        try:
            return load(path, None)
        except NoPatternError:  # text is cut as it was, which is a loss that was agreed to
            return load(path, "none")
    except (FormatError, InputError, UsageError) as error:
        sentence = error.message.replace(str(path), path.name if path.is_file() else "the folder")
        raise FormatError(f"what would be written cannot be read: {sentence}") from error


def _first_but(ours: Tokenizer, theirs: Tokenizer, losses: frozenset[str]) -> str | None:
    """Return the first difference that is left without what was agreed to lose; None if there is none."""
    found = None
    for view in _views(ours, theirs, losses):
        try:
            found = _first_difference(ours, view, losses)
        except FormatError:  # another's stages do not fit this model
            continue
        if found is None:
            return None
    return found or _first_difference(ours, theirs, losses)


def _views(ours: Tokenizer, theirs: Tokenizer, losses: frozenset[str]) -> Iterator[Tokenizer]:
    """Yield what was read back: as it is, and with the stages that it was allowed to lack."""
    yield theirs
    if losses & CUTS:
        yield replace(theirs, pre_tokenizer=ours.pre_tokenizer)
    if "normalizer" in losses:
        yield replace(theirs, normalizer=ours.normalizer)
        yield replace(theirs, normalizer=ours.normalizer, pre_tokenizer=ours.pre_tokenizer)


def _first_difference(ours: Tokenizer, theirs: Tokenizer, losses: frozenset[str]) -> str | None:
    """Return the first difference between two tokenizers; None if there is none.

    Raises:
        FormatError: if one of the two cannot be run.
    """
    law = _law(ours, theirs, losses)
    if not encodes_the_same(ours, theirs):
        for some in _texts(ours, theirs):
            found = difference(ours, theirs, some, (), law)
            if found is not None:
                return found
        if not losses & TOKENS:
            for some in (_of_special_tokens(ours, theirs), texts.tricky()):
                found = difference(ours, theirs, some, "all", law)
                if found is not None:
                    return found
    if not decodes_the_same(ours, theirs):
        found = decoding.difference(ours, theirs, law, any_text="decoder" in losses)
        if found is not None:
            return found
    if not losses & {"post-processor", "ids"} and not surrounds_the_same(ours, theirs):
        return f"around a text (-1) it puts {surroundings(ours)}, and read back {surroundings(theirs)}"
    return None


def _law(ours: Tokenizer, theirs: Tokenizer, losses: frozenset[str]) -> Law:
    odd = [_odd_ids(each) if losses & TOKENS else frozenset[int]() for each in (ours, theirs)]
    if losses & TOKENS and "ids" not in losses:
        odd = [odd[0] | odd[1]] * 2
    if "ids" in losses:  # with them go the tokens that no merge makes, in files of merges alone
        odd[0] |= {token_id for token_id, token in ours.model.vocabulary.items() if not _is_known(token, theirs)}
    return Law("ids" in losses, (odd[0], odd[1]), EDGES in losses) if losses else SAME


def _is_known(token: bytes, tokenizer: Tokenizer) -> bool:
    return tokenizer.model.vocabulary.id_of(token) is not None


def _odd_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """Return the ids of special and added tokens, and of pieces that are not ordinary ones."""
    kinds = tokenizer.model.kinds
    return frozenset(tokenizer.special_ids) | {token_id for token_id, kind in enumerate(kinds) if kind != NORMAL}


def _texts(ours: Tokenizer, theirs: Tokenizer) -> Iterator[Collection[bytes]]:
    """Yield the texts to compare: few where both differ in little, and the likeliest to differ first."""
    yield texts.tricky()
    yield _of_special_tokens(ours, theirs)
    yield from texts.of_tokens(ours)
    if ours.model.vocabulary != theirs.model.vocabulary:
        yield from texts.of_tokens(theirs)
    yield texts.of_samples()
    if (ours.normalizer, ours.pre_tokenizer, ours.model.kind) != (
        theirs.normalizer, theirs.pre_tokenizer, theirs.model.kind,
    ):  # fmt: skip
        yield texts.of_every_character()


def _of_special_tokens(ours: Tokenizer, theirs: Tokenizer) -> list[bytes]:
    return list(dict.fromkeys((*texts.of_special_tokens(ours), *texts.of_special_tokens(theirs))))
