"""Decode ids that ``encode`` wrote back into the bytes that were encoded."""

from __future__ import annotations

import io
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.files import Streams, Target, check_kept, read_inputs
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.fast_typing import TYPE_CHECKING, Literal
from bpe_cli.support.listening import SILENCE, Listener

if TYPE_CHECKING:
    from bpe_cli.corpus import Input
    from bpe_cli.jobs.files import Destination
    from bpe_cli.jobs.tokenizers import AnyTokenizer, TokenizerChoice
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.base import Batch, Dtype
    from bpe_cli.tokenizer import Tokenizer

    _Named = tuple[TokenizerChoice, str | None]
    """A tokenizer that a record names, and its fingerprint, if the record has one."""

_HEAD_BYTES = 64
"""So much of a file tells in which format it is."""


@dataclass(frozen=True, slots=True)
class DecodeOptions:
    """What is read, and how bytes are written.

    Attributes:
        format: What is read: ``ids``, ``tokens``, ``jsonl``, ``npy`` or ``bin``; None to tell by an input's name and
            beginning.
        errors: What becomes of bytes that are not UTF-8; None to write them as they are.
        lines: Whether to write a line end after each document.
        bos: What begins each document, and is left out: the text of a special token, an id, or ``auto``; None for
            what the record beside an input says.
        eot: The token that ends each document, likewise left out.
        dtype: How a number lies in a bin file; None for what its record says, else what the vocabulary needs.
    """

    format: str | None = None
    errors: Literal["strict", "replace", "ignore"] | None = None
    lines: bool = False
    bos: str | int | None = None
    eot: str | int | None = None
    dtype: Dtype | None = None


@dataclass(frozen=True, slots=True)
class Decoded:
    """The number of documents decoded, and of their ids, including those that were left out."""

    documents: int
    tokens: int


def decode(
    paths: Sequence[str],
    tokenizer: AnyTokenizer,
    options: DecodeOptions | None = None,
    *,
    output: Destination,
    otherwise: str | None = None,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> Decoded:
    """Decode the ids in files.

    >>> import io
    >>> ids, text = Streams(stdin=io.BytesIO(b"31373 995")), io.BytesIO()
    >>> decode(["-"], "gpt2", output=text, streams=ids), text.getvalue()
    (Decoded(documents=1, tokens=2), b'hello world')

    Args:
        paths: Files, folders, glob patterns, ``-`` for stdin; none means stdin.
        tokenizer: A tokenizer, its file, or its name. In place of a ``TokenizerChoice`` that ``is_default``, each input
            is decoded by the tokenizer that its record names, if that is another.
        options: What is read and written.
        output: A file, which appears only when it is complete, or a binary stream.
        otherwise: The hint for a file that is missing; None for none.
        listener: Receives progress and notes.
        streams: The streams around the job.

    Raises:
        UsageError: if the options do not fit the tokenizer or an input, the output would replace an input, or the
            tokenizer that a record names is not found or is another one now.
        InputError: if an input cannot be read, or is damaged, or an id has no token.
        OutputError: if the output cannot be written.
    """
    from bpe_cli.corpus import Inputs
    from bpe_cli.jobs.tokenizers import files_of, load_recorded, load_tokenizer
    from bpe_cli.sinks.atomic import check_writable
    from bpe_cli.sinks.compressing import check_compressing
    from bpe_cli.sinks.read import READERS
    from bpe_cli.sinks.sidecar import sidecar_path

    options, streams, target = options or DecodeOptions(), streams or Streams(), Target.of(output)
    if options.format is not None and options.format not in READERS:
        raise UsageError(f"ids cannot be read from {options.format!r}", hint=f"there are {', '.join(READERS)}")
    if target.path is not None:
        check_compressing(target.path)
        check_writable(target.path)
    model = load_tokenizer(tokenizer)
    written = [("`output`", target.path)]
    inputs = Inputs.resolve(paths, stdin=streams.read, on_skip=listener.note, look=_look, otherwise=otherwise)
    records = ((f"the record of {item.name}", sidecar_path(item.path)) for item in inputs.items if item.path != "-")
    named = [_named_beside(item, tokenizer, model) for item in inputs.items]
    decodings: dict[_Named | None, _Decoding] = {}
    for item, other in zip(inputs.items, named, strict=True):
        if other not in decodings:
            used = (tokenizer, model) if other is None else (other[0], load_recorded(*other, item.name))
            decodings[other] = _Decoding(*used, options, listener)
    files = [each for decoding in decodings.values() for each in files_of(decoding.tokenizer)]
    check_kept(written, [*read_inputs(inputs), *files, *records], streams, target)
    with listener.task("decoding", inputs.total_bytes) as advance, target.open() as out:
        for item, other in zip(inputs.items, named, strict=True):
            decodings[other].decode(item, streams, out, advance)
    done = decodings.values()
    return Decoded(sum(each.documents for each in done), sum(each.tokens for each in done))


def _look(path: str) -> tuple[None, bytes] | None:
    """Look into a file of a folder: a record belongs to the file beside it, and numbers may look like anything."""
    from bpe_cli.corpus.opening import head_of
    from bpe_cli.sinks.naming import IN_PLACE, sink_of_name
    from bpe_cli.sinks.sidecar import is_described, is_sidecar

    if sink_of_name(path) in IN_PLACE or is_described(path):
        return None, b""
    head = head_of(path)
    return None if is_sidecar(head) else (None, head)


def _named_beside(item: Input, tokenizer: AnyTokenizer, model: Tokenizer) -> _Named | None:
    """Return the tokenizer that the record of an input names, and its fingerprint; None to decode by the given one.

    Raises:
        UsageError: if nobody has named a tokenizer, and the record says only that it was not the default.
    """
    from bpe_cli.jobs.tokenizers import TokenizerChoice, unnamed
    from bpe_cli.sinks.sidecar import load_sidecar

    if not isinstance(tokenizer, TokenizerChoice) or not tokenizer.is_default or item.path == "-":
        return None
    try:
        sidecar = load_sidecar(item.path)
    except InputError:  # it is something else's, or whoever reads it says what is wrong
        return None
    if sidecar is None or sidecar.is_of(model) or sidecar.is_of(with_layout(tokenizer, model)):
        return None
    if sidecar.tokenizer_name is None:
        raise unnamed(item.name)
    return replace(tokenizer, name=sidecar.tokenizer_name, is_default=False), sidecar.tokenizer_sha256


def with_layout(tokenizer: AnyTokenizer, model: Tokenizer) -> Tokenizer:
    """Return the tokenizer with the special tokens that ``encode --chat`` has added by the same name, if any."""
    from bpe_cli.jobs.chat_template import find_template
    from bpe_cli.jobs.encode_chat import known_name

    try:
        return find_template(None, model, named=known_name(tokenizer, model), stdin=io.BytesIO()).fit(model)
    except UsageError:  # it has no template, or tokens of its own with these ids
        return model


class _Decoding:
    """Decode one input after the other into an output.

    What a chat layout adds to the tokenizer takes a while to import, so it is looked for only where an id or a record
    is not the tokenizer's.

    Attributes:
        tokenizer: What named the tokenizer.
        documents: How many documents were decoded.
        tokens: How many ids they had.
    """

    def __init__(self, tokenizer: AnyTokenizer, model: Tokenizer, options: DecodeOptions, listener: Listener) -> None:
        from bpe_cli.sinks.base import ReadOptions
        from bpe_cli.tokenizer.special_tokens import edges_of

        self.tokenizer = tokenizer
        self._model = model
        self._with_layout = partial(with_layout, tokenizer, model)
        self._options = options
        self._listener = listener
        edges = edges_of(model, bos=options.bos, eot=options.eot)
        self._asked = ReadOptions(model, options.dtype, edges.bos, edges.eot)
        self.documents = self.tokens = 0
        self._before = array("I")  # the id before those that come next, if they are decoded behind it

    def decode(self, item: Input, streams: Streams, out: Output, advance: Callable[[int], None]) -> None:
        """Decode an input into an output."""
        from bpe_cli.corpus import open_stream
        from bpe_cli.corpus.opening import is_url
        from bpe_cli.sinks.read import kind_of, read_batches
        from bpe_cli.sinks.sidecar import complete, is_as_described
        from bpe_cli.tokenizer.streaming import CharacterStream

        options = self._options
        is_raw = options.format in (None, "bin") and is_as_described(item.path)
        with (
            _hinting_at_numbers(item.path, options.format),
            # What is decoded is handed on before more is waited for.
            open_stream(
                item.path, stdin=streams.read, on_bytes=advance, on_wait=out.flush, decompressed=not is_raw
            ) as stream,
        ):
            kind = options.format or ("bin" if is_raw else kind_of(item.path, stream.peek(_HEAD_BYTES)))
            if options.dtype is not None and kind != "bin":
                guessed = options.format is None and kind == "ids"
                raise UsageError(
                    f"{item.name} is read as {kind}, and `dtype` is for bin",
                    hint='`format="bin"` reads it as that'
                    if guessed
                    else "leave `dtype` out, or decode bin files by themselves",
                )
            if kind == "tokens":  # read by their texts
                self._model = self._with_layout()
                self._asked = replace(self._asked, tokenizer=self._model)
            if kind in ("npy", "bin") and is_url(item.path):
                self._listener.note(
                    f"the record of {item.name} is not read, as only one on disk is: `tokenizer`, `dtype`, `bos` and "
                    "`eot` say what it says"
                )
            reading, sidecar = complete(kind, item.path, self._asked, self._model)
            unmarked = options.lines and reading.bos is None and reading.eot is None
            if unmarked and sidecar is not None and sidecar.documents > 1:
                self._listener.note(
                    f"{item.name} has {sidecar.documents:,} documents, and nothing says where they end, so they become "
                    "one line: encode with `eot` to keep them apart"
                )
            if sidecar is not None and not (sidecar.is_of(self._model) or sidecar.is_of(self._with_layout())):
                name = sidecar.tokenizer_name or "another tokenizer"
                self._listener.note(f"{item.name} was encoded with {name}, which differs from this one")
            without = "leaving out `errors` gives the bytes"
            characters = None if options.errors is None else CharacterStream(options.errors, as_they_are=without)
            place, cut = _Place(item.name), self._model.engine.last_cut if self._model.decoder else None
            self._before = array("I")
            for batch in _documents(read_batches(kind, stream, item.name, reading), cut):
                self.tokens += len(batch.ids) + batch.left_out
                data = self._decoded(batch.ids, place)
                with place.named(self._model, batch.ids):
                    out.write(data if characters is None else characters.feed(data).encode())
                    if batch.done and characters is not None:
                        out.write(characters.finish().encode())
                if batch.done:
                    self.documents += 1
                    if options.lines:
                        out.write(b"\n")
                place.advance(batch)
                self._before = array("I") if batch.done or cut is None else batch.ids[-1:]
            out.flush()

    def _decoded(self, ids: array[int], place: _Place) -> bytes:
        """Decode ids, by the tokenizer with its layout if it does not know them all without."""
        try:
            return self._read(ids)
        except InputError:
            self._model = self._with_layout()
            with place.named(self._model, ids):
                return self._read(ids)

    def _read(self, ids: array[int]) -> bytes:
        """Decode ids behind the one before them, whose own text is left out."""
        if not self._before:
            return self._model.decode_bytes(ids)
        own = self._model.decode_bytes(self._before)
        return self._model.decode_bytes(self._before + ids)[len(own) :]


@contextmanager
def _hinting_at_numbers(path: str, source_format: str | None) -> Iterator[None]:
    """Add a hint to errors of decompression if the data may be ids that only look compressed."""
    from bpe_cli.corpus.compression import CompressionError
    from bpe_cli.sinks.naming import sink_of_name

    try:
        yield
    except CompressionError as error:
        if "bin" not in (source_format, sink_of_name(path)):
            raise
        way_out = 'encode them into a file, whose record says that they are not compressed, or with `to="npy"`'
        raise InputError(error.message, hint=f"ids can begin like compressed data: {way_out}") from error


def _documents(batches: Iterator[Batch], last_cut: Callable[[array[int]], int] | None) -> Iterator[Batch]:
    """Move the ends of batches to where ids can be cut; a document without such a place is held whole.

    Args:
        batches: The ids of documents.
        last_cut: Gives the last place where ids can be cut, 0 for none; None if it is everywhere.

    Complexity: linear; each place is looked at once.
    """
    from bpe_cli.sinks.base import Batch

    held, left_out = array("I"), 0
    for batch in batches:
        if last_cut is None or (batch.done and not held and not left_out):
            yield batch
            continue
        known = max(len(held) - 1, 0)
        held.extend(batch.ids)
        left_out += batch.left_out
        found = 0 if batch.done else last_cut(held[known:])
        cut = len(held) if batch.done else known + found if found else 0
        if cut or batch.done:
            yield Batch(held[:cut], batch.done, left_out)
            held, left_out = held[cut:], 0


class _Place:
    """The place of the current ids in an input, which is named if they cannot be decoded."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._document = 1
        self._tokens = 0  # of the document that goes on

    def advance(self, batch: Batch) -> None:
        """Advance the place by a batch."""
        self._document += batch.done
        self._tokens = 0 if batch.done else self._tokens + len(batch.ids)

    @contextmanager
    def named(self, model: Tokenizer, ids: Sequence[int]) -> Iterator[None]:
        """Put the place before the message of an error inside the block."""
        try:
            yield
        except InputError as error:
            where = f"{self._name}, document {self._document:,}"
            for number, token_id in enumerate(ids, self._tokens + 1):
                try:
                    model.token_bytes(token_id)
                except InputError as missing:
                    message = f"{where}, token {number:,}: {missing.message}"
                    raise InputError(message, hint=error.hint) from error
            raise InputError(f"{where}: {error.message}", hint=error.hint) from error
