"""Read ids back from what the sinks write, in bounded memory, but for a line of JSON, which is held whole.

A reader takes a readable stream (``corpus.open_stream`` gives one) and the name that messages call it,
and yields batches of ids; ``numbers.py`` has those for ``npy`` and ``bin``. What is not of the format is an
``InputError``, which names the line and the word.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator

from bpe_cli.errors import InputError, UsageError
from bpe_cli.sinks.base import HIGHEST_ID, Batch, ReadOptions, Table, chunks_of, without_edges
from bpe_cli.sinks.lines import escaped
from bpe_cli.sinks.naming import IN_PLACE, sink_of_name
from bpe_cli.sinks.numbers import NPY_MAGIC, read_bin, read_npy
from bpe_cli.sinks.sidecar import is_described
from bpe_cli.support.fast_typing import TYPE_CHECKING
from bpe_cli.support.messages import show_path

if TYPE_CHECKING:
    from typing import IO

    from bpe_cli.tokenizer import Tokenizer

_LONGEST_WORD = 1 << 20
_OF_LINES = 'each line is an object: {"ids": [1, 2, 3]}'


def read_batches(
    source_format: str, stream: IO[bytes], name: str, options: ReadOptions | None = None
) -> Iterator[Batch]:
    r"""Read ids in one of the formats of ``READERS``.

    >>> import io
    >>> [(batch.ids.tolist(), batch.done) for batch in read_batches("ids", io.BytesIO(b"1 2\n3\n"), "stdin")]
    [([1, 2], True), ([3], True)]

    Raises:
        InputError: if the data is not of that format; the message says where.
    """
    options = options or ReadOptions()
    batches = READERS[source_format](stream, name, options)
    # What ends the documents of npy and bin is what tells them apart.
    eot = None if source_format in IN_PLACE else options.eot
    return batches if options.bos is None and eot is None else without_edges(batches, options.bos, eot)


def kind_of(path: str, head: bytes) -> str:
    """Return in which format ids are written: from the name of their file and from how it begins.

    >>> kind_of("x.tokens", b"{"), kind_of("-", b'{"ids":[1]}'), kind_of("x.bin", NPY_MAGIC), kind_of("x", b"7")
    ('tokens', 'jsonl', 'npy', 'ids')

    Raises:
        UsageError: if the name is that of counts.
    """
    if head.startswith(NPY_MAGIC):
        return "npy"
    named = sink_of_name(path)
    if named in READERS:
        return named
    if named == "count":
        raise UsageError(
            f"{show_path(path)} is named like the counts that `bpe encode --to count` writes, which are not ids",
            hint="encode to ids, or give the file another name if it holds ids",
        )
    if head.lstrip()[:1] == b"{":
        return "jsonl"
    return "bin" if path != "-" and is_described(path) else "ids"


def read_ids(stream: IO[bytes], name: str, _: ReadOptions) -> Iterator[Batch]:
    """Read a line of decimal ids per document; whitespace separates them."""
    return _read_words(stream, name, _ids_of_lines)


def read_tokens(stream: IO[bytes], name: str, options: ReadOptions) -> Iterator[Batch]:
    """Read a line of tokens per document, in the visible byte alphabet; whitespace separates them."""
    if options.tokenizer is None:
        raise InputError("tokens can be read only with their tokenizer")
    lookup = _token_lookup(options.tokenizer)

    def convert(data: bytes, line: int, name: str) -> list[array[int]]:
        lines = []
        for number, text in enumerate(data.split(b"\n"), line):
            words = text.split()
            ids = [lookup[word] for word in words]
            if -1 in ids:
                word = words[ids.index(-1)]
                raise InputError(f"{name}:{number}: {_show(word)} is not a token of this tokenizer")
            lines.append(array("I", ids))
        return lines

    return _read_words(stream, name, convert)


def read_jsonl(stream: IO[bytes], name: str, _: ReadOptions) -> Iterator[Batch]:
    """Read a JSON object per document, a line each, with its ids in ``ids``; blank lines are skipped."""
    from bpe_cli.support.safe_orjson import orjson

    for number, line in enumerate(_lines(stream), 1):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            byte = len(line.decode("utf-8", "replace")[: error.pos].encode()) + 1
            raise InputError(
                f"{where}:{byte}: invalid JSON: {error.msg}", hint=f"{_OF_LINES}; bpe inspect shows data sets"
            ) from error
        ids = value.get("ids") if isinstance(value, dict) else None
        if not isinstance(ids, list):
            raise InputError(f"{where}: it has no list called 'ids'", hint=_OF_LINES)
        if not set(map(type, ids)) <= {int}:
            bad = next(word for word in ids if type(word) is not int)
            try:
                shown = _show(orjson.dumps(bad))
            except orjson.JSONEncodeError:  # less deep values are written than read
                shown = "a deeply nested value"
            raise InputError(f"{where}: {shown} in 'ids' is not a token id")
        try:
            yield Batch(array("I", ids), True)
        except OverflowError:
            bad = next(word for word in ids if not 0 <= word <= HIGHEST_ID)
            raise InputError(f"{where}: {bad} in 'ids' is not a token id") from None


def _read_words(
    stream: IO[bytes], name: str, convert: Callable[[bytes, int, str], list[array[int]]]
) -> Iterator[Batch]:
    """Read documents that are lines of words, however long a line is.

    Args:
        stream: The text.
        name: Its name in messages.
        convert: Gives the ids of each line of a text, from (text, number of its first line, name).
    """
    line, held, is_open = 1, b"", False
    for chunk in chunks_of(stream):
        held += chunk
        cut = 1 + max(held.rfind(b"\n"), held.rfind(b" "), held.rfind(b"\t"), held.rfind(b"\r"))
        if cut == 0 and len(held) <= _LONGEST_WORD:
            continue
        if len(held) - cut > _LONGEST_WORD:
            line += held.count(b"\n")
            raise InputError(f"{name}:{line}: {_show(held[cut:])} is not an id or token")
        data, held = held[:cut], held[cut:]
        *finished, rest = convert(data, line, name)
        for ids in finished:
            yield Batch(ids, True)
        if rest:
            yield Batch(rest, False)
        line += len(finished)
        is_open = not data.endswith(b"\n")
    if held:
        yield Batch(convert(held, line, name)[0], True)
    elif is_open:
        yield Batch(array("I"), True)


_FEW_BYTES = 1 << 14
"""Bytes that are read with care by the time that importing a faster reader takes."""


def _ids_of_lines(data: bytes, line: int, name: str) -> list[array[int]]:
    """Convert lines of decimal ids. Tidy ones are turned into JSON, whose parser is several times faster."""
    if len(data) > _FEW_BYTES and not data.translate(None, b"0123456789 \n"):
        from bpe_cli.support.safe_orjson import orjson

        text = data[:-1] if data.endswith(b" ") else data
        try:
            lists = orjson.loads(b"[[" + text.replace(b"\n", b"],[").replace(b" ", b",") + b"]]")
            return [array("I", ids) for ids in lists]
        except (orjson.JSONDecodeError, OverflowError, TypeError):
            pass  # two spaces, leading zeros, a number too large: the careful way knows
    lines = []
    for number, text in enumerate(data.split(b"\n"), line):
        ids = array("I")
        for word in text.split():
            digits = word.lstrip(b"0") or b"0"
            if not word.isdigit() or len(digits) > 10 or int(digits) > HIGHEST_ID:
                raise InputError(f"{name}:{number}: {_show(word)} is not a token id", hint=_way_to_ids(word))
            ids.append(int(digits))
        lines.append(ids)
    return lines


def _way_to_ids(word: bytes) -> str:
    if not word.isdigit() and not word.translate(None, b"0123456789[](),;"):
        return "ids have only spaces between them: tr '[](),;' ' ' makes them of a list"
    return "an id is a number from 0 to 4294967295; for decoding, `format=NAME` names other formats"


def _token_lookup(tokenizer: Tokenizer) -> Table[bytes, int]:
    """Look up ids by token, as it stands in the file; -1 for what is not a token."""
    if not tokenizer.has_bytes:
        listed = {escaped(content).encode(): token_id for token_id, content in tokenizer.model.vocabulary.items()}
        listed |= {escaped(token.content).encode(): token.token_id for token in tokenizer.special_tokens}
        return Table(lambda word: listed.get(word, -1))
    from bpe_cli.stages.spelling import from_visible

    others = {tokenizer.token_bytes(token_id): token_id for token_id in tokenizer.special_table[0]}
    others |= {token.content: token.token_id for token in tokenizer.special_tokens}

    def find(word: bytes) -> int:
        try:
            content = from_visible(word.decode())
        except UnicodeDecodeError:
            return -1
        if not content:
            return -1
        token_id = tokenizer.model.vocabulary.id_of(content)
        return others.get(content, -1) if token_id is None else token_id

    return Table(find)


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    for chunk in chunks_of(stream):
        first, *lines = chunk.split(b"\n")
        held.append(first)
        if lines:
            yield b"".join(held)
            yield from lines[:-1]
            held = [lines[-1]]
    yield b"".join(held)


def _show(word: bytes) -> str:
    text = repr(word[:40].decode("utf-8", "backslashreplace"))
    return text + "..." if len(word) > 40 else text


READERS: dict[str, Callable[[IO[bytes], str, ReadOptions], Iterator[Batch]]] = {
    "ids": read_ids,
    "tokens": read_tokens,
    "jsonl": read_jsonl,
    "npy": read_npy,
    "bin": read_bin,
}
"""What ``decode --from`` can read, by name."""
