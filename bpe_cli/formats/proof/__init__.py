"""Verify a conversion before a file appears: what was written is read back, and has to do the same.

Two tokenizers whose parts are equal do the same to every text. Where parts differ, as ranks and merges do, both
encode the texts of ``comparing``, with and without special tokens asked for, and decode what comes out. What the caller
agreed to lose is taken from the one or left out, and all the rest is still compared.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from operator import attrgetter
from pathlib import Path

from bpe_cli.errors import FormatError, InputError, LossError, NoPatternError, OutputError, UsageError
from bpe_cli.formats.features import EDGES, without_codebook
from bpe_cli.formats.proof import comparing
from bpe_cli.formats.proof.comparing import SAME, Ids, Law, difference, encode, numbers_of
from bpe_cli.stages import SpaceMarksDecoder
from bpe_cli.stages.spelling import NORMAL
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import accepting, quote, reason_of
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.post_processor import process

Load = Callable[[Path, str | None], Tokenizer]
"""Reads a tokenizer, by a path and a pattern."""

CUTS = frozenset({"pattern", "prefix-space", "pre-tokenizer"})
"""The losses that are of pre-tokenizers."""

TOKENS = frozenset({"special-tokens", "token-flags"})
"""The losses that are of special and added tokens."""


def prove(
    tokenizer: Tokenizer, files: Mapping[str, bytes], file_name: str, load: Load, allow_loss: Collection[str] = ()
) -> None:
    """Check that files do the same as the tokenizer that they were made from.

    Args:
        tokenizer: The tokenizer.
        files: Name -> content, as ``dump`` gives them.
        file_name: What a single file is called.
        load: Reads them.
        allow_loss: What the files may lack, by the names of ``features.LOSSES``.

    Raises:
        FormatError: if the files cannot be read, their tokenizer cannot be run, or they give different ids or another
            text; the message has the first such text, and what both make of it.
        OutputError: if there is no place for a temporary file.
    """
    again = read_back(files, file_name if "" in files else "", load)
    if "codebook" in allow_loss:
        tokenizer = without_codebook(tokenizer)
    same = encodes_the_same(tokenizer, again) and decodes_the_same(tokenizer, again)
    if same and surrounds_the_same(tokenizer, again):
        encode(tokenizer, comparing.tricky())  # it can be run
        return
    losses = frozenset(allow_loss)
    around = bool(losses) and not surrounds_the_same(tokenizer, again)  # which no text need be looked at to see
    problem = None if around else first_difference(tokenizer, again, frozenset())
    if losses and (around or problem is not None):
        problem = _first_but(tokenizer, again, losses)
    if problem is not None:
        message = f"what would be written does something else: {problem}"
        hint = _way_out(tokenizer, again, losses)
        raise FormatError(message) if hint is None else LossError(message, hint=hint, losses=(EDGES,))


def _way_out(ours: Tokenizer, theirs: Tokenizer, losses: frozenset[str]) -> str | None:
    """Return the hint that a difference on rare texts between two libraries can be allowed, if it is one."""
    words = {any(isinstance(stage, SpaceMarksDecoder) for stage in each.decoder) for each in (ours, theirs)}
    if EDGES in losses or len(words) == 1 or _first_but(ours, theirs, losses | {EDGES}) is not None:
        return None
    return f'write bpe.json, which holds everything (`format="bpe.json"`), or agree to lose it: `{accepting([EDGES])}`'


def read_back(
    files: Mapping[str, bytes], file_name: str, load: Load, beside: Mapping[str, Path] | None = None
) -> Tokenizer:
    """Read files before they are written to their place, in a temporary folder.

    Args:
        files: Name -> content, as ``dump`` gives them.
        file_name: The file by which they are read, and what a single one is called; empty for their folder.
        load: Reads them.
        beside: Name -> path of other files that are to lie there.

    Raises:
        FormatError: if the files cannot be read.
        OutputError: if there is no place for a temporary folder.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="bpe-proof-") as folder:
            for file, content in files.items():
                (Path(folder) / (file or file_name)).write_bytes(content)
            for file, path in (beside or {}).items():
                place = Path(folder) / file
                place.parent.mkdir(exist_ok=True)
                place.symlink_to(path.absolute())
            return _read(Path(folder) / file_name, load)
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
    """Return the first difference besides the allowed losses; None if there is none."""
    problem = None
    for view in _views(ours, theirs, losses):
        try:
            problem = first_difference(ours, view, losses)
        except FormatError:  # another's stages do not fit this model
            continue
        if problem is None:
            return None
    return problem or first_difference(ours, theirs, losses)


def _views(ours: Tokenizer, theirs: Tokenizer, losses: frozenset[str]) -> Iterator[Tokenizer]:
    """Yield what was read back: as it is, and with the stages that it was allowed to lack."""
    yield theirs
    if losses & CUTS:
        yield replace(theirs, pre_tokenizer=ours.pre_tokenizer)
    if "normalizer" in losses:
        yield replace(theirs, normalizer=ours.normalizer)
        yield replace(theirs, normalizer=ours.normalizer, pre_tokenizer=ours.pre_tokenizer)


def first_difference(ours: Tokenizer, theirs: Tokenizer, losses: frozenset[str]) -> str | None:
    """Return the first difference between two tokenizers; None if there is none."""
    law = _law(ours, theirs, losses)
    if not encodes_the_same(ours, theirs):
        for some in _texts(ours, theirs):
            problem = difference(ours, theirs, some, (), law)
            if problem is not None:
                return problem
        if not losses & TOKENS:
            for some in (_of_special_tokens(ours, theirs), comparing.tricky()):
                problem = difference(ours, theirs, some, "all", law)
                if problem is not None:
                    return problem
    if not decodes_the_same(ours, theirs):
        problem = decoding_difference(ours, theirs, law, any_text="decoder" in losses)
        if problem is not None:
            return problem
    if not losses & {"post-processor", "ids"} and not surrounds_the_same(ours, theirs):
        return f"around a text (-1) it puts {surroundings(ours)}, and read back {surroundings(theirs)}"
    return None


def _law(ours: Tokenizer, theirs: Tokenizer, losses: frozenset[str]) -> Law:
    odd = [_odd_ids(each) if losses & TOKENS else frozenset[int]() for each in (ours, theirs)]
    if losses & TOKENS and "ids" not in losses:
        odd = [odd[0] | odd[1]] * 2
    if "ids" in losses:  # with them go the tokens that no merge makes, in files of merges alone
        id_of = theirs.model.vocabulary.id_of
        odd[0] |= {token_id for token_id, token in ours.model.vocabulary.items() if id_of(token) is None}
    return Law("ids" in losses, (odd[0], odd[1]), EDGES in losses) if losses else SAME


def _odd_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """Return the ids of special and added tokens, and of pieces that are not ordinary ones."""
    kinds = tokenizer.model.kinds
    return frozenset(tokenizer.special_ids) | {token_id for token_id, kind in enumerate(kinds) if kind != NORMAL}


def _texts(ours: Tokenizer, theirs: Tokenizer) -> Iterator[Collection[bytes]]:
    """Yield the texts to compare: few where both differ in little, and the likeliest to differ first."""
    yield comparing.tricky()
    yield _of_special_tokens(ours, theirs)
    yield from comparing.of_tokens(ours)
    if ours.model.vocabulary != theirs.model.vocabulary:
        yield from comparing.of_tokens(theirs)
    yield comparing.of_samples()
    if (ours.normalizer, ours.pre_tokenizer, ours.model.kind) != (
        theirs.normalizer, theirs.pre_tokenizer, theirs.model.kind,
    ):  # fmt: skip
        yield comparing.of_every_character()


def _of_special_tokens(ours: Tokenizer, theirs: Tokenizer) -> list[bytes]:
    return list(dict.fromkeys((*comparing.of_special_tokens(ours), *comparing.of_special_tokens(theirs))))


# --------------------------------------------------------------------------------------------------
# Find what two tokenizers do alike because their parts are equal, without running them.


_ENCODING = attrgetter("normalizer", "pre_tokenizer", "special_tokens", "model")
_DECODING = attrgetter("decoder", "special_tokens", "model.vocabulary", "model.unk_id")


def encodes_the_same(ours: Tokenizer, theirs: Tokenizer) -> bool:
    """Return whether all parts that make ids of a text are equal."""
    return bool(_ENCODING(ours) == _ENCODING(theirs))


def decodes_the_same(ours: Tokenizer, theirs: Tokenizer) -> bool:
    """Return whether all parts that make a text of ids are equal."""
    return bool(_DECODING(ours) == _DECODING(theirs))


def surrounds_the_same(ours: Tokenizer, theirs: Tokenizer) -> bool:
    """Return whether two post-processors put the same ids, and give the same types, around a text and a pair."""
    return ours.post_processor == theirs.post_processor or surroundings(ours) == surroundings(theirs)


def surroundings(tokenizer: Tokenizer) -> str:
    """Describe what a post-processor makes of a text (-1), and of two (-1, -2)."""
    try:
        done = [process(tokenizer.post_processor, *parts) for parts in ([[-1]], [[-1], [-2]])]
    except FormatError as error:
        return error.message
    return ", and of two ".join(f"{one.ids} with the types {one.type_ids}" for one in done)


# --------------------------------------------------------------------------------------------------
# Hold two tokenizers against each other by the texts that they make of ids.


TOGETHER = 32
"""How many tokens are decoded together."""


def decoding_difference(ours: Tokenizer, theirs: Tokenizer, law: Law, *, any_text: bool = False) -> str | None:
    """Describe the first token or text whose ids read otherwise; None if there is none.

    With ``any_text`` it is enough that the second can read its own ids.
    """
    habits = _habits(ours, theirs, law)
    excepted = [some | habits for some in law.excepted]
    for what, mine, other in _ids(ours, theirs, law, excepted[0] | excepted[1]):
        numbers = numbers_of(mine), numbers_of(other)
        if any(not some.isdisjoint(each) for some, each in zip(excepted, numbers, strict=True) if some):
            continue
        ends = _decoded(ours, numbers[0]), _decoded(theirs, numbers[1])
        if ends[1] is None or (ends[0] != ends[1] and not any_text):
            shown = ["no token" if end is None else quote(end) for end in ends]
            named = quote(what) if isinstance(what, bytes) else f"the id {what}, behind another,"
            return f"{named} is decoded as {shown[0]}, and read back as {shown[1]}"
    return None


def _habits(ours: Tokenizer, theirs: Tokenizer, law: Law) -> frozenset[int]:
    """Return the ids of special tokens if only one of the two is in SentencePiece's terms.

    There they read as nothing, and in Hugging Face's as their texts: that is left to each library's habits. An unknown
    token that text can become is none of them, but where rare texts may differ.
    """
    marks = [any(isinstance(stage, SpaceMarksDecoder) for stage in each.decoder) for each in (ours, theirs)]
    if marks[0] == marks[1]:
        return frozenset()
    unreached = law.most or ours.model.byte_fallback
    return frozenset(ours.special_ids) - {None if unreached else ours.model.unk_id}


def _ids(
    ours: Tokenizer, theirs: Tokenizer, law: Law, excepted: frozenset[int]
) -> Iterator[tuple[int | bytes, Ids, Ids]]:
    """Yield what to decode, by its id or its text: each token if ids are the same, and what both make of texts."""
    if not law.renumbered:
        for token_id, ids in _each_id(ours, theirs, excepted):
            yield token_id, ids, ids
    some = (*comparing.tricky(), *comparing.of_samples())
    known = set()
    for text, mine, other in zip(some, encode(ours, some), encode(theirs, some), strict=True):
        if mine is not None and other is not None and (mine == other or not law.most) and (mine, other) not in known:
            known.add((mine, other))
            yield text, mine, other


def _each_id(ours: Tokenizer, theirs: Tokenizer, excepted: frozenset[int]) -> Iterator[tuple[int, bytes]]:
    """Yield the ids that may read otherwise: many together first, and each of those only if they do.

    At the beginning of a text each library has its habits with blanks: so each stands behind another token.
    """
    there = {token_id for token_id, _ in ours.model.vocabulary.items()} | ours.special_ids.keys()
    some = sorted(there - excepted)
    ordinary = (token_id for token_id in some if token_id not in ours.special_ids)
    first = list(islice((each for each in ordinary if (_decoded(ours, array("I", (each,))) or b"").strip()), 1))
    for start in range(0, len(some), TOGETHER):
        part = some[start : start + TOGETHER]
        run = array("I", (*first, *part))
        if _decoded(ours, run) != _decoded(theirs, run):
            yield from ((token_id, array("I", (*first, token_id)).tobytes()) for token_id in part)


def _decoded(tokenizer: Tokenizer, ids: object) -> bytes | None:
    try:
        return tokenizer.decode_bytes(ids)  # type: ignore[arg-type]  # an array
    except InputError:
        return None
