"""Carry tokenizers in and out of files: one module a format, each with ``sniff``, ``load`` and ``dump``.

``dump`` gives contents, it does not write: file name -> bytes, where ``""`` is the output path itself.
What a format cannot hold is an error that names it, unless the caller agrees to that very loss.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.formats.interface import Format, FormatOfSeveral
from bpe_cli.formats.stage_growth import check_growth
from bpe_cli.formats.unknown_file import HEAD_BYTES, describe, hint_of, is_meant_as_tokenizer
from bpe_cli.stages.patterns import ALIASES, PATTERNS, resolve
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.lazy_modules import Modules
from bpe_cli.support.messages import cannot_read, did_you_mean, listed, nearest
from bpe_cli.tokenizer import Tokenizer, named_encodings

FORMATS: Mapping[str, Format] = Modules(
    "bpe_cli.formats",
    {
        "tokenizer.json": "huggingface.tokenizer_json",
        "bpe.json": "huggingface.own_json",
        "huggingface": "huggingface.folder",
        "tiktoken": "tiktoken_ranks",
        "subword-nmt": "subword_nmt",
        "bert-vocab": "bert.vocab",
        "vocab-merges": "huggingface.vocab_merges",
        "sentencepiece": "sentencepiece.model",
        "sentencepiece-vocab": "sentencepiece.vocab",
        "llama2c": "sentencepiece.llama2c",
        "minbpe": "minbpe",
        "fastbpe": "fastbpe",
        "youtokentome": "youtokentome",
        "tekken": "tekken",
        "rwkv": "rwkv",
        "gguf": "gguf",
    },
)
"""The formats, in the order in which a file is held against them."""

LISTS_DEAD_MERGES = ("tokenizer.json", "bpe.json", "huggingface")
"""Those that say beside the merges which tokens are special: a list of merges is written as it was read."""

OF_SEVERAL = ("huggingface", "vocab-merges")
"""Those of several files, in the same order."""


def load(path: str | Path, pattern: str | None = None) -> Tokenizer:
    """Read a tokenizer from a file or a folder, whatever its format; names do not count, contents do.

    Args:
        path: The file, or its folder.
        pattern: The split pattern, by name or as an expression, for formats that hold none.

    Raises:
        InputError: There is no such file, or it cannot be read.
        FormatError: No format fits, or the file is broken.
        UsageError: A pattern is given where none can be, or by a name that does not exist.
    """
    path = Path(path)
    expression = None if pattern is None else resolve_pattern(pattern)
    found, name = locate(path)
    try:
        tokenizer = FORMATS[name].load(found, expression)
    except FormatError as error:
        other = _other_in(path, found, name) if error.hint is None and path.is_dir() else None
        if other is None:
            raise
        raise FormatError(error.message, hint=f"{other} lies beside it: name that one") from error
    check_growth((*tokenizer.normalizer, *tokenizer.pre_tokenizer), f"{found}: normalizer and pre-tokenizer")
    check_growth(tokenizer.decoder, f"{found}: decoder")
    return replace(tokenizer, name=str(path))


def identify(path: str | Path) -> str:
    """Return the format of a file or folder.

    Raises:
        InputError, FormatError: As for ``locate``.
    """
    return locate(Path(path))[1]


def is_tokenizer(path: str | Path) -> bool:
    """Return whether a path is that of a tokenizer, by its format, and where that cannot be told by name and beginning.

    What is broken counts, so that it is not taken for a text; so does a folder with such a file.
    """
    path = Path(path)
    try:
        locate(path)
    except InputError:
        return False
    except FormatError:
        try:
            file = _in_folder(path) if path.is_dir() else path
            return is_meant_as_tokenizer(file.name, _head(file))
        except (FormatError, OSError):  # a folder of other files, which may be texts
            return False
    return True


def locate(path: Path) -> tuple[Path, str]:
    """Find the file that a path stands for, and tell its format.

    Of a folder it is the file that has one of the formats' whole names, the first in the order of ``FORMATS``; a
    vocabulary or merges only with the other of the two. If there is none, it is the only file that has a name's
    pattern (``*.model``) and begins as that format's files do, of the first format that has only one.

    Raises:
        InputError: There is no such file, or it cannot be read.
        FormatError: No format fits; the message says what the file looks like.
    """
    try:
        if path.is_dir():
            path = _in_folder(path)
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is not a regular file", hint="save it to disk first")
        head = _head(path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise cannot_read(path, error) from error
    fitting = next((name for name, module in FORMATS.items() if module.sniff(head)), None)
    if fitting is None:
        raise FormatError(
            f"{path} is {describe(head)}, not a tokenizer in a format that can be read",
            hint=hint_of(head) or f"formats are {', '.join(FORMATS)}",
        )
    of_several = (name for name in OF_SEVERAL if FORMATS[name].sniff(head) and _is_of_several(FORMATS[name], path))
    return path, next(of_several, fitting)


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


def _is_of_several(module: Format, path: Path) -> bool:
    return isinstance(module, FormatOfSeveral) and module.belongs(path)


def _in_folder(folder: Path) -> Path:
    """Return the file that stands for a folder: by its whole name, else the only one with a usual ending.

    Raises:
        FormatError: No file in it has a name that tokenizers have.
    """
    files = {entry.name: entry for entry in sorted(folder.iterdir()) if not entry.is_dir()}
    for module, name in _usual_names():
        if name in files and (not isinstance(module, FormatOfSeveral) or module.belongs(files[name])):
            return files[name]
    from bpe_cli.formats.huggingface import companions

    for module, pattern in (each for each in _usual_names() if "*" in each[1]):
        named = [path for name, path in files.items() if fnmatchcase(name, pattern) and name not in companions.NAMES]
        fitting = [path for path in named if path.is_file() and module.sniff(_head(path))]
        if len(fitting) == 1:
            return fitting[0]
    names = sorted(entry.name for entry in folder.iterdir())
    shown = "but " + ", ".join(names[:5]) + (", ..." if len(names) > 5 else "") if names else "it is empty"
    raise FormatError(
        f"the folder {folder} holds no tokenizer, {shown}",
        hint="it needs tokenizer.json, vocab.txt, vocab.json with merges.txt, or one file that ends in .json, .model, "
        ".tiktoken, .gguf, .vocab, .codes or .yttm; or name a file in it",
    )


def _usual_names() -> Iterator[tuple[Format, str]]:
    return ((module, name) for module in FORMATS.values() for name in module.FILES)


def _other_in(folder: Path, found: Path, format_name: str) -> Path | None:
    """Return a file of a folder that is a tokenizer of another format by name and beginning; None if there is none."""
    others = sorted(entry for entry in folder.iterdir() if entry != found and entry.is_file())
    for module in (module for name, module in FORMATS.items() if name != format_name):
        for path in others:
            if any(fnmatchcase(path.name, pattern) for pattern in module.FILES) and module.sniff(_head(path)):
                return path
    return None


def format_of_name(output: str) -> str:
    """Return the format to write from the name of a file: by the whole name, else by its ending.

    >>> format_of_name("tekken.json"), format_of_name("mine.json")
    ('tekken', 'tokenizer.json')

    Raises:
        UsageError: No format has such names.
    """
    name = Path(output).name
    usual = [(format_name, pattern) for format_name, module in FORMATS.items() for pattern in module.FILES]
    for format_name, pattern in sorted(usual, key=lambda each: "*" in each[1]):  # whole names first
        if fnmatchcase(name, pattern):
            return format_name
    endings = [pattern[1:] for module in FORMATS.values() for pattern in module.FILES if pattern.startswith("*.")]
    near = nearest(Path(output).suffix, endings, most=1)
    raise UsageError(
        f"the name {output!r} does not say which format to write",
        hint=f"did you mean {Path(output).stem}{near[0]}? or give --format"
        if near
        else f"give --format: {', '.join(FORMATS)}",
    )


def dump(tokenizer: Tokenizer, format_name: str, allow_loss: Collection[str] = ()) -> dict[str, bytes]:
    """Return the contents of the files that hold a tokenizer, proved: read back they give the same ids and texts.

    Args:
        tokenizer: What is to be held.
        format_name: One of ``FORMATS``.
        allow_loss: What may be left out, by the names in ``features.LOSSES``.

    Returns:
        File name -> content. The name ``""`` is the output path itself; others lie in it as a folder.

    Raises:
        FormatError: The format cannot hold all of it.
        UsageError: There is no such format, or no such loss.
        OutputError: There is no place for a temporary file.
    """
    from bpe_cli.formats.proof import prove

    files = rehearse(tokenizer, format_name, allow_loss)
    with _with_way_out(format_name):
        prove(tokenizer, files, FORMATS[format_name].FILES[0].replace("*", "tokenizer"), load, allow_loss)
    return files


def rehearse(tokenizer: Tokenizer, format_name: str, allow_loss: Collection[str] = ()) -> dict[str, bytes]:
    """Return what ``dump`` would, without the proof: for a tokenizer that is not finished.

    Raises:
        FormatError, UsageError: As for ``dump``.
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
    listed_merges = hasattr(tokenizer.model, "merges") and format_name in LISTS_DEAD_MERGES
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


def resolve_pattern(name_or_regex: str) -> str:
    """Return the expression for a pattern's name or for an expression.

    Raises:
        UsageError: It looks like a name, and there is no pattern of it.
    """
    known = name_or_regex in PATTERNS or name_or_regex in ALIASES or name_or_regex == "none"
    if not known and re.fullmatch(r"[\w-]*", name_or_regex):
        raise UsageError(
            f"unknown pattern {name_or_regex!r}",
            hint=f"patterns are {', '.join(PATTERNS)}, none, or an expression in the syntax of the `regex` module",
        )
    return resolve(name_or_regex)


_ENDING = r"\.(json|tiktoken|txt|model|bpe|gguf)$"
"""Of files that hold tokenizers."""


def find_tokenizer(spec: str, pattern: str | None = None) -> Tokenizer:
    """Return the tokenizer that a user means: a path, a place in a cache, a named encoding, or a model.

    ``hf:org/name`` and ``tiktoken:name`` are looked up in the folders where other programs keep what they
    have fetched (``caches``); nothing is fetched here.

    >>> find_tokenizer("gpt-4o").name
    'o200k_base'

    Raises:
        UsageError: It is none of these; the message names the nearest that are.
        InputError, FormatError: As for ``load``.
    """
    if _is_path(spec):
        return load(spec, pattern)
    from bpe_cli.formats import caches

    if spec.startswith(caches.HUGGING_FACE):
        return _from_hugging_face(spec, pattern)
    if spec.startswith(caches.TIKTOKEN):
        if pattern is not None:
            raise UsageError(f"{spec} has a split pattern of its own; no pattern can be given with it")
        return replace(caches.tiktoken_encoding(spec.removeprefix(caches.TIKTOKEN)), name=spec)
    named = named_encodings.find(spec)
    if named is None:
        if re.search(rf"[/\\]|{_ENDING}", spec):
            has_ending = re.search(_ENDING, spec) and not caches.has_model(spec)
            raise InputError(
                f"cannot read {spec}: no such file", hint=None if has_ending else caches.hint_of_name(spec)
            )
        error = named_encodings.unknown(spec)
        raise UsageError(error.message, hint=caches.hint_of_name(spec) or error.hint)
    if pattern is not None:
        raise UsageError(f"{named.name} has a split pattern of its own; no pattern can be given with it")
    return named


def _is_path(spec: str) -> bool:
    """Return whether there is a file or folder of this name, or may be one in a folder that nobody may look into."""
    try:
        os.stat(spec)
    except PermissionError:
        return os.path.dirname(spec) != ""
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return False
    return True


def _from_hugging_face(spec: str, pattern: str | None) -> Tokenizer:
    """Read a tokenizer from the cache of Hugging Face's hub.

    Raises:
        UsageError, InputError, FormatError: As for ``caches.snapshot`` and ``load``.
    """
    from bpe_cli.formats import caches

    reference = spec.removeprefix(caches.HUGGING_FACE)
    folder = caches.snapshot(reference)
    try:
        locate(folder)
    except FormatError as error:  # perhaps only the model's weights have been fetched
        raise FormatError(error.message, hint=caches.fetch_hint(reference)) from None
    return replace(load(folder, pattern), name=spec)
