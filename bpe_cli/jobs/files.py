"""Find the inputs of a job, and check before the work begins that its outputs can be written and replace no input.

How files of tokenizers are called stands here too.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence

from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.core_arguments import wrong_type
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING
from bpe_cli.support.listening import SILENCE, Listener
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import BinaryIO, Protocol, TypeAlias

    from bpe_cli.corpus import Inputs, Source
    from bpe_cli.sinks.atomic import Output

    class HasDescriptor(Protocol):
        """A stream that may have a file behind it."""

        def fileno(self) -> int:
            """Return the number of its descriptor."""

    Destination: TypeAlias = str | os.PathLike[str] | BinaryIO
    """A file, which appears when all of it is there; or a stream, which stays open."""

STDOUT = "-"


FIELD = "text"
"""The field that holds the text if no other is named."""


_LARGEST_COUNTS = 1 << 27
"""Bytes that a vocabulary with counts may have."""


_Identity = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Streams:
    """The streams around a job.

    Attributes:
        stdin: The stream that ``-`` stands for; None for the process's own.
        stdout: A stream that may be no input; None if nobody cares.
        stderr: Likewise.
    """

    stdin: BinaryIO | None = None
    stdout: HasDescriptor | None = None
    stderr: HasDescriptor | None = None

    @property
    def read(self) -> BinaryIO:
        """What ``-`` stands for."""
        return self.stdin or sys.stdin.buffer


def streams_of(streams: Streams | None) -> Streams:
    """Return the streams that a caller gave, or the process's own.

    Raises:
        TypeError: if the value is not ``Streams``.
    """
    if streams is not None and not isinstance(streams, Streams):
        raise wrong_type("streams", "Streams", streams)
    return streams or Streams()


@dataclass(frozen=True, slots=True)
class Target:
    """Where an output goes: to a file, or else to a stream."""

    path: str | None
    stream: BinaryIO | None = None

    @classmethod
    def of(cls, output: Destination) -> Target:
        """Return the target of a job, given as a path or a stream."""
        if isinstance(output, (str, os.PathLike)):
            return cls(os.fspath(output))
        from bpe_cli.sinks.stream import whole_stream

        return cls(None, whole_stream(output))

    def open(self) -> AbstractContextManager[Output]:
        """Open it for text, compressed if its name says so.

        Raises:
            OutputError: if the output cannot be written.
        """
        from bpe_cli.sinks.atomic import open_stdout
        from bpe_cli.sinks.compressing import open_packed

        return open_packed(str(self.path)) if self.stream is None else open_stdout(self.stream)


def find_inputs(
    source: Source,
    outputs: Sequence[tuple[str, str | None]] = (),
    *,
    listener: Listener = SILENCE,
    streams: Streams,
    target: Target | None = None,
    otherwise: str | None = None,
    leave_out: str | None = None,
) -> Inputs:
    """Find the files of a source, none of which is written to; the listener hears what is left out.

    Args:
        source: Where they are.
        outputs: The options that name files to write, and the files.
        listener: Receives notes about files that are left out.
        streams: The streams around the job.
        target: Where the job writes, if that may be a stream.
        otherwise: The hint for a file that is missing: None for the usual one, empty for none.
        leave_out: The folder that the job writes to: of a folder around it the rest is read.

    Raises:
        InputError: if a file is missing, or is not text, or the like.
        UsageError: if an output is an input, or lines of JSON would be taken for text, or members are named, and no
            input is an archive.
    """
    inputs = source.inputs(stdin=streams.read, on_skip=listener.note, otherwise=otherwise, leave_out=leave_out)
    check_kept(outputs, read_inputs(inputs), streams, target)
    if source.member is not None:
        from bpe_cli.corpus.kinds import TAR

        if all(each.kind != TAR for each in inputs.items):
            raise UsageError("`member` names the texts in tar archives, and there are none")
    return inputs


def find_documents(
    source: Source,
    outputs: Sequence[tuple[str, str | None]] = (),
    *,
    listener: Listener = SILENCE,
    streams: Streams,
    target: Target | None = None,
    otherwise: str | None = None,
    leave_out: str | None = None,
) -> Inputs:
    """Find the inputs of which documents are made: see ``find_inputs``.

    Raises:
        InputError: as there.
        UsageError: as there; or if a field is named, and no input has fields.
    """
    inputs = find_inputs(
        source, outputs, listener=listener, streams=streams, target=target, otherwise=otherwise, leave_out=leave_out
    )
    from bpe_cli.corpus.kinds import has_fields

    if (
        source.text_field != FIELD
        and not source.field_is_default
        and source.documents != "jsonl"
        and not any(has_fields(each.kind, source.ending) for each in inputs.items)
    ):
        raise UsageError(
            "`field` names a field of JSON or a column of a table, and there are none",
            hint='`documents="jsonl"` reads each line as a JSON object',
        )
    return inputs


def read_counts(path: str) -> dict[str, int]:
    """Read lines of a token and its count: from a file, or a pipe such as the shell's ``<(...)``.

    Raises:
        InputError, FormatError: if they cannot be read, or are something else.
    """
    from bpe_cli.formats.subword_nmt import load_vocabulary

    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST_COUNTS + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise cannot_read(path, error) from error
    if len(data) > _LARGEST_COUNTS:
        raise InputError(f"{show_path(path)} is not a vocabulary: it has more than {_LARGEST_COUNTS:,} bytes")
    return load_vocabulary(data, path)


def check_outputs(outputs: Sequence[tuple[str, str | None]], *, stdout_taken: str | None = None) -> None:
    """Check that files can be written, and that no two are the same file under different names.

    Args:
        outputs: The option and the file it names, if it is given; ``-`` is stdout.
        stdout_taken: The option whose output goes to stdout already.

    Raises:
        UsageError: if two outputs would be one.
        OutputError: if a file cannot be written.
    """
    from bpe_cli.sinks.atomic import check_writable

    taken: dict[object, str] = {STDOUT: stdout_taken} if stdout_taken else {}
    for option, path in outputs:
        if path is None:
            continue
        if path != STDOUT:
            check_writable(path)
        place = path if path == STDOUT else os.path.realpath(path)
        for key in (place, *_identities(path)):
            if key in taken:
                what = "stdout" if path == STDOUT else show_path(path)
                raise UsageError(f"{taken[key]} and {option} would both be written to {what}", hint="name a file each")
        taken |= dict.fromkeys((place, *_identities(path)), option)


def check_text_output(path: str, *, jsonl: bool | None = False) -> None:
    """Check that a text file can be written, compressed if its name says so, and that its name fits its contents.

    ``jsonl`` says whether those are JSON lines; None if that is not known yet, and ``check_text_name`` comes later.

    Raises:
        UsageError: if its name is that of another kind of file.
        OutputError: if the output cannot be written.
    """
    from bpe_cli.sinks.atomic import check_writable
    from bpe_cli.sinks.compressing import check_compressing

    if jsonl is not None:
        check_text_name(path, jsonl=jsonl)
    check_compressing(path)
    check_writable(path)


def check_text_name(path: str, *, jsonl: bool = False) -> None:
    """Check that the name of a text file fits its contents.

    Raises:
        UsageError: if its name is that of another kind of file.
    """
    from bpe_cli.sinks.naming import ENDINGS, TEXT, check_name

    what, endings = ("JSON lines", ENDINGS["jsonl"]) if jsonl else ("text", TEXT)
    check_name("`output`", path, what, endings, packable=True)


def check_kept(
    outputs: Iterable[tuple[str, str | None]],
    read: Iterable[tuple[str, str]],
    streams: Streams,
    target: Target | None = None,
) -> None:
    """Check that no output, file or stream, is a file that is read, under whatever name.

    Args:
        outputs: The option and the file it names, if it is given.
        read: What a message calls a file that is read, and its path; ``-`` is stdin.
        streams: What stands around the job; its stdout and stderr are looked at.
        target: Where the job writes, looked at if it is a stream.

    Raises:
        UsageError: if an output is a file that is read.
    """
    replaced = {identity: option for option, path in outputs if path is not None for identity in _identities(path)}
    written = (
        ("the output", target.stream if target else None),
        ("stdout", streams.stdout),
        ("stderr", streams.stderr),
    )
    taken = {
        identity: name for name, stream in written if stream is not None for identity in _identities(STDOUT, stream)
    }
    if not replaced and not taken:
        return
    for what, path in read:
        for each in _identities(path, streams.read if path == STDOUT else None):
            if each in replaced:
                raise UsageError(
                    f"{replaced[each]} would replace {what}",
                    hint="write to another file, and move it there when all is well",
                )
            if each in taken:
                raise UsageError(
                    f"{taken[each]} goes to {what}", hint="name another file after the > (which empties it at once)"
                )


def read_inputs(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Yield the inputs and the lists that named them, for ``check_kept``."""
    for item in inputs.items:
        yield f"the input {item.name}", item.path
    for path in inputs.lists:
        yield f"the list of inputs {show_path(path)}", path


def _identities(path: str, standard: HasDescriptor | None = None) -> list[_Identity]:
    """Return the identity of the plain file at a path: its device and number, or nothing if there is none.

    Args:
        path: The path.
        standard: The stream that ``-`` stands for.
    """
    if path == STDOUT and standard is None:
        return []
    try:
        status = os.fstat(standard.fileno()) if path == STDOUT and standard else os.stat(path)
    except (OSError, ValueError):  # there is none, no file can have such a name, or no descriptor is behind it
        return []
    return [(status.st_dev, status.st_ino)] if stat.S_ISREG(status.st_mode) else []


def make_folder(folder: str) -> None:
    """Make a folder for outputs, and its parents, durably; nothing if it is there.

    Raises:
        OutputError: if it cannot be made.
    """
    from bpe_cli.sinks.atomic import made_folder

    with made_folder(folder):
        pass


def write_output(path: str | None, parts: Iterable[str | bytes], stdout: BinaryIO) -> None:
    """Write text or bytes, part by part: to a file, which appears when all of it is there; None and ``-`` are stdout.

    Raises:
        OutputError: if the output cannot be written.
    """
    from bpe_cli.sinks.atomic import open_output, open_stdout

    with open_stdout(stdout) if path is None or path == STDOUT else open_output(path) as output:
        for part in parts:
            output.write(part.encode() if isinstance(part, str) else part)


# -- how files of tokenizers are called -----------------------------------------------------------------

_OF_MANY = (".model", ".txt", ".bin", ".bpe")
"""Endings that tell little: files of several formats are called so."""


def formats_of_ending(output: str | None) -> list[str]:
    """Return the formats whose files have the ending of a name.

    >>> formats_of_ending("x.gguf"), formats_of_ending("x.en"), "bpe.json" in formats_of_ending("x.json")
    (['gguf'], [], True)
    """
    from bpe_cli.formats import FORMATS

    ending = os.path.splitext(output or "")[1].casefold()
    return [name for name, module in FORMATS.items() if ending and any(each.endswith(ending) for each in module.FILES)]


def format_asked_for(output: str | None, formats: Iterable[str], usual: str) -> str:
    """Return the format that a name asks for, if it is among those given; else the usual one.

    >>> [format_asked_for(name, ["bpe.json", "sentencepiece"], "bpe.json") for name in ("x.json", "x.model", None)]
    ['bpe.json', 'sentencepiece', 'bpe.json']
    """
    named = formats_of_ending(output)
    return usual if usual in named else next((name for name in formats if name in named), usual)


def check_tokenizer_name(output: str | None, format_name: str) -> None:
    """Check that the name of a tokenizer's file is not that of another kind of file.

    Raises:
        UsageError: if the name says another thing.
    """
    from bpe_cli.formats.registry import FORMATS, OF_SEVERAL
    from bpe_cli.sinks.naming import TEXT, check_name, read_name

    named, ending = formats_of_ending(output), os.path.splitext(output or "")[1].casefold()
    name = read_name(output)
    usual = os.path.splitext(FORMATS[format_name].FILES[0])[1]
    accepted = [usual, *TEXT, name.ending] if named or name.packed else [usual, *TEXT]
    way_out = "name a folder" if format_name in OF_SEVERAL else None
    check_name("`output`", output, format_name, accepted, way_out=way_out)
    if named and format_name not in named and ending not in _OF_MANY:
        raise UsageError(
            f"`output` {output} names a {ending} file, but what is written is {format_name}",
            hint=f"bpe convert --format {named[0]} makes one of any tokenizer that it can hold",
        )
