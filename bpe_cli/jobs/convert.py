"""Convert a tokenizer, changed on the way if asked; outputs are verified, and appear together or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING

from bpe_cli.errors import FormatError, UsageError
from bpe_cli.jobs.changes import Change
from bpe_cli.jobs.files import Streams, check_kept, check_outputs, streams_of
from bpe_cli.jobs.tokenizers import files_of, load
from bpe_cli.stages import SpecialToken
from bpe_cli.support.core_arguments import list_of, losses_of, wrong_type
from bpe_cli.support.listening import SILENCE, Listener, heard
from bpe_cli.tokenizer import Tokenizer

if TYPE_CHECKING:
    from typing import BinaryIO

    from bpe_cli.surgery import Operation


FOLDER = "huggingface"
"""What a folder is written as."""

_STDOUT = "-"

_MAIN = ("tokenizer.json", "vocab.json", "vocab.txt", "encoder.json")
"""The file of a folder without which the others are no tokenizer."""


@dataclass(frozen=True, slots=True)
class Converted:
    """The result of a conversion.

    Attributes:
        tokenizer: The tokenizer as it was written.
        format: The format's name.
        files: The paths of its files.
        left_behind: What the format does not say about the use of the tokenizer, though ids are the same without.
        operation: What was changed, and which ids became which; None if nothing was.
        id_map: The file with the map of ids, if there is one.
        built_in_layout: The layout of conversations that a model's name stood for, which no file has.
    """

    tokenizer: Tokenizer
    format: str
    files: tuple[str, ...]
    left_behind: tuple[str, ...] = ()
    operation: Operation | None = None
    id_map: str | None = None
    built_in_layout: str | None = None


def convert(
    source: str | os.PathLike[str] | Tokenizer | Operation,
    output: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002  # what every caller calls it
    *,
    pattern: str | None = None,
    special_tokens: Iterable[SpecialToken] = (),
    allow_loss: Collection[str] = (),
    id_map: str | os.PathLike[str] | None = None,
    change: Change | None = None,
    stdout: BinaryIO | None = None,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> Converted:
    """Write a tokenizer in a format; nothing is lost unless you allow it.

    Args:
        source: A tokenizer, or anything that ``load`` accepts; or the result of ``add_tokens``, ``prune``, ``extend``
            or ``merge``; its id map is then written too.
        output: The file to write; a folder for formats of several files.
        format: The format, one of the names in ``bpe_cli.formats.FORMATS``; if None, the output's name decides.
        pattern: The split pattern, for a file that contains none.
        special_tokens: Special tokens to add to the tokenizer's own.
        allow_loss: The losses to accept, by the names given in the error.
        id_map: Where to write the map from old to new ids; next to the output if None.
        change: A change to make on the way, as the command line does. Programs call ``add_tokens`` and
            related functions instead.
        stdout: The stream that the output ``-`` stands for; if None, ``-`` is an ordinary name.
        listener: Receives progress and notes.
        streams: The streams around the job.

    >>> import os, tempfile
    >>> from bpe_cli import add_tokens, convert
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = convert("gpt2", os.path.join(folder, "gpt2.tiktoken"))
    ...     done.format, [os.path.basename(path) for path in done.files], done.left_behind
    ('tiktoken', ['gpt2.tiktoken'], ())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = convert(add_tokens("gpt2", ["<|chat|>"]), os.path.join(folder, "tokenizer.json"))
    ...     sorted(os.listdir(folder))
    ['tokenizer.json', 'tokenizer.json.ids.json']

    Raises:
        FormatError: if the format cannot hold all of the tokenizer, or a file is broken.
        UsageError: if the format or the tokenizer does not exist, a special token cannot be added, or a file that lies
            where the output is written would change what is read there.
        InputError: if a file cannot be read.
        OutputError: if a file cannot be written.
        TypeError: if an argument has the wrong type.
    """
    from bpe_cli.formats import check_beside, left_behind, rehearse
    from bpe_cli.surgery import Operation, chained, skeleton, with_special_tokens

    path = _path(output)
    chosen = _format_of(path, format)
    losses = losses_of(allow_loss)
    operation = source if isinstance(source, Operation) else None
    if isinstance(source, Operation):
        source = source.tokenizer
    _check_types(source, change, id_map)
    map_path = _map_path(path, operation, change, id_map)
    if stdout is not None and map_path == f"{_STDOUT}.ids.json":
        raise UsageError("the map of ids needs a name when the tokenizer goes to stdout", hint="give `id_map=FILE`")
    listener, streams = heard(listener), streams_of(streams)
    if stdout is not None:
        from bpe_cli.sinks.stream import whole_stream

        if not callable(getattr(stdout, "write", None)):
            raise wrong_type("stdout", "a binary stream", stdout)
        stdout = whole_stream(stdout)
    to_stdout = stdout is not None and path == _STDOUT
    map_named = (change.id_map if change else id_map) is not None
    map_place = ("`id_map`" if map_named else "the map of ids", map_path)
    written = [("`output`", path), map_place]
    kept = [*files_of(source), *(change.read_files if change else [])]
    check_kept(written, kept, streams)
    model = source if isinstance(source, Tokenizer) else load(source, pattern)
    added = _special_tokens(special_tokens)
    adding = with_special_tokens(model, added) if added else None
    if adding is not None:
        model = adding.tokenizer
        operation = operation and chained(operation, adding)
    if change is not None:
        if change.reads_texts:  # what no change can mend is said before the work
            change.check(model)
            places = _places(rehearse(skeleton(model), chosen, losses), path, map_place, stdout)
            written += [("`output`", place) for place in places.values()]
            check_kept(written, kept, streams)
            if change.prune_to is None and not to_stdout:  # pruned tokens have other ids
                with suppress(FormatError):
                    check_beside(model, rehearse(model, chosen, losses), path)
        operation = change.apply(model, written, listener, streams)
        operation = operation if adding is None else chained(adding, operation)
        model = operation.tokenizer
    files = _dumped(model, chosen, losses)
    paths = _places(files, path, map_place, stdout)
    check_kept([("`output`", place) for place in paths.values()], kept, streams)
    if not to_stdout:
        check_beside(model, files, path)
    contents = {paths[name]: content for name, content in files.items()}
    if map_path is not None and operation is not None:
        contents = {map_path: operation.id_map(), **contents}
    folder = None if "" in files else os.path.dirname(next(iter(paths.values())))
    _write(contents, folder, stdout)
    left, layout = tuple(left_behind(model, chosen)), _built_in_layout(source, model)
    return Converted(model, chosen, tuple(paths.values()), left, operation, map_path, layout)


def _check_types(source: object, change: object, id_map: object) -> None:
    if not isinstance(source, (str, os.PathLike, Tokenizer)):
        raise wrong_type("source", "a Tokenizer, what changed one, a str or a path", source)
    if not isinstance(change, (Change, NoneType)):
        raise wrong_type("change", "a Change", change)
    if not isinstance(id_map, (str, os.PathLike, NoneType)):
        raise wrong_type("id_map", "a str or a path", id_map)


def _map_path(
    output: str, operation: Operation | None, change: Change | None, id_map: str | os.PathLike[str] | None
) -> str | None:
    """Return where the map of ids goes; None if ids stay what they are."""
    if operation is not None and change is None:
        return Change(id_map=None if id_map is None else os.fsdecode(id_map)).map_path(output)
    if operation is not None or id_map is not None:
        raise UsageError("`id_map` needs a tokenizer that was changed")
    return None if change is None else change.map_path(output)


def _special_tokens(given: Iterable[SpecialToken]) -> tuple[SpecialToken, ...]:
    added = tuple(list_of("special_tokens", given, "special tokens"))
    for each in added:
        if not isinstance(each, SpecialToken):
            raise wrong_type("special_tokens", "a collection of SpecialToken", each)
    return added


def _dumped(model: Tokenizer, chosen: str, losses: frozenset[str]) -> dict[str, bytes]:
    """Return the files of a tokenizer; where a format cannot hold it, the hint names ways that can."""
    from bpe_cli.formats import dump

    try:
        return dump(model, chosen, losses)
    except FormatError as error:
        from bpe_cli.jobs.ways import hint_at_ways

        error.hint = hint_at_ways(model, chosen, losses, error)
        raise


def _built_in_layout(source: object, model: Tokenizer) -> str | None:
    """Return the chat layout that the model's name stands for, which no file holds; None if there is none."""
    from bpe_cli.tokenizer.named_encodings import ENCODINGS

    if not isinstance(source, str) or model.name not in ENCODINGS:
        return None
    from bpe_cli.chat import layout_of_model

    return layout_of_model(source)


def _path(output: str | os.PathLike[str]) -> str:
    if not isinstance(output, (str, os.PathLike)):
        raise wrong_type("output", "a str or a path", output)
    return os.fsdecode(output)


def _format_of(output: str, name: str | None) -> str:
    """Return the format to write: as asked, or by the name of the output."""
    from bpe_cli.formats import format_of_name

    if name is None:
        return FOLDER if output.endswith(os.sep) or os.path.isdir(output) else format_of_name(output)
    if not isinstance(name, str):
        raise wrong_type("format", "a str", name)
    return name


def _places(
    files: Mapping[str, bytes], output: str, id_map: tuple[str, str | None], stdout: BinaryIO | None
) -> dict[str, str]:
    """Return where each file goes, and check that it and the map of ids, a name and a path, can be written there."""
    from bpe_cli.sinks.atomic import made_folder

    if output == _STDOUT and stdout is not None:
        if "" not in files:
            raise UsageError(
                "this format is several files, which stdout cannot take", hint="name a folder with `output`"
            )
        if stdout.isatty() and b"\0" in files[""]:
            raise UsageError(
                "this format cannot be written to a terminal",
                hint="name a file with `output`, or pipe it into a program",
            )
        check_outputs([id_map])
        return {"": output}
    # One file of several may be named instead of their folder: vocab.txt with what lies beside it.
    folder = os.path.dirname(output) or "." if os.path.basename(output) in files else output
    paths = {name: str(Path(folder) / name) if name else output for name in files}
    ready: AbstractContextManager[None] = nullcontext() if "" in files else made_folder(folder, kept=False)
    with ready:
        check_outputs([*(("`output`", each) for each in paths.values()), id_map])
    return paths


def _write(contents: dict[str, bytes], folder: str | None, stdout: BinaryIO | None) -> None:
    """Write all files, or what goes to stdout; the one that the others belong to comes last.

    Args:
        contents: The files by path.
        folder: The folder that they are in, if it may have to be made.
        stdout: What ``-`` stands for, if it stands for anything.
    """
    from bpe_cli.sinks.atomic import made_folder, open_stdout, write_together

    printed = contents.pop(_STDOUT, None) if stdout is not None else None
    if contents:
        ready: AbstractContextManager[None] = made_folder(folder) if folder else nullcontext()
        with ready:
            write_together(dict(sorted(contents.items(), key=lambda each: os.path.basename(each[0]) in _MAIN)))
    if printed is not None:
        with open_stdout(stdout or sys.stdout.buffer) as out:
            out.write(printed)
