"""Write a line per document: decimal ids or tokens with spaces between, or the number of tokens.

An empty document is an empty line. Tokens that are bytes are written in the visible byte alphabet, tokens that are text
as they are, with whitespace, controls and backslashes escaped: reversible.
"""

from __future__ import annotations

from array import array

from bpe_cli import _core
from bpe_cli.sinks.base import Sink, SinkOptions, Table, parts
from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.base import HasOrigins, Origin
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Tokenizer


def rows(
    block: Block, ids: memoryview, ends: memoryview, around: tuple[bytes, bytes, bytes], *, begun: bool
) -> tuple[bytes, bool]:
    """Write the ids of each document of a block.

    Returns:
        The text, and whether the document that goes on in the block after has an id.
    """
    return _core.write_rows(ids, ends, around, continued=block.continued, begun=begun, unfinished=block.unfinished)


class IdsSink(Sink):
    """Write ids as text."""

    _begun = False  # whether the line at hand has an id

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        lines, self._begun = rows(block, ids, ends, (b"", b" ", b"\n"), begun=self._begun)
        self.output.write(lines)


class TokensSink(Sink):
    """Write tokens as text. No character of the alphabet is whitespace, so spaces separate them."""

    _begun = False  # whether the line at hand has a token

    def __init__(self, output: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        self._table = visible_table(tokenizer)

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        pieces: list[str] = []
        for part, _, finishes in parts(block, ids, ends):
            if len(part):
                if self._begun:
                    pieces.append(" ")
                pieces.append(" ".join(map(self._table.__getitem__, part)))
                self._begun = True
            if finishes:
                pieces.append("\n")
                self._begun = False
        self.output.write("".join(pieces).encode())


def visible_table(tokenizer: Tokenizer) -> Table[int, str]:
    """Look up how tokens are written by id."""
    from bpe_cli.stages.spelling import to_visible

    write = to_visible if tokenizer.has_bytes else escaped
    return Table(lambda token_id: write(tokenizer.token_bytes(token_id)))


def escaped(token: bytes) -> str:
    r"""Write the text of a token without whitespace, so that it can be told apart and read back.

    >>> escaped("▁a b\\".encode()), escaped(b"\xff\n")
    ('▁a\\x20b\\\\', '\\xff\\n')
    """
    text = token.decode("utf-8", "surrogateescape")
    if text.isprintable() and " " not in text and "\\" not in text:
        return text
    return "".join(map(_escape, text))


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"  # a byte that is no part of UTF-8
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable() and character != " ":
        return character
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class CountSink(Sink):
    """Write counts as text; ``Tokenizer.count_block`` gives them without any ids.

    A line is a number; where the options have ``origins``, a number and the name of its document, and at the end the
    total, as ``wc`` does it; or all of it is one JSON object.
    """

    _so_far = 0  # tokens of the document that goes on from the block before
    _number = 0  # of the documents that were named
    _over = 0  # of them with more tokens than they may have

    def write_counts(self, block: Block, counts: memoryview) -> None:
        """Write how many tokens each document of a block has (u64), and flush."""
        self.tokens += self._write_lines(block, counts)
        self.documents += block.ended
        self.output.flush()

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        self._write_lines(block, array("Q", (end - start for start, end in zip([0, *ends], ends, strict=False))))

    def _write_lines(self, block: Block, counts: memoryview | array[int]) -> int:
        """Write the counts of documents; return how many tokens the block has."""
        if self.options.origins is not None:
            return self._write_named(block, counts, self.options.origins)
        lines, tokens, self._so_far = _core.write_counts(counts, self._so_far, block.unfinished)
        self.output.write(lines)
        return int(tokens)

    def _write_named(self, block: Block, counts: memoryview | array[int], origins: HasOrigins) -> int:
        """Write counts with the names of their documents."""
        lines = []
        for count in counts[: block.ended]:
            tokens, self._so_far = self._so_far + count, 0
            self._number += 1
            self._over += self.options.most_tokens is not None and tokens > self.options.most_tokens
            origin = origins.origin_of(self._number)
            lines.append(self._object(origin, tokens) if self.options.json else self._row(tokens, str(origin)))
        self._so_far += sum(counts[block.ended :])
        self.output.write("".join(lines).encode("utf-8", "surrogateescape"))
        return sum(counts)

    def _row(self, tokens: int, name: str) -> str:
        return f"{tokens:>{self.options.width}} {name}\n"

    def _object(self, origin: Origin, tokens: int) -> str:
        import json

        from bpe_cli.support.json_text import name_value

        line = json.dumps({"input": name_value(origin.path), "document": origin.document, "tokens": tokens})
        before = self._opening() if self._number == 1 else ",\n"
        return f"{before}    {line}"

    def _opening(self) -> str:
        import json

        name = json.dumps(self.tokenizer.name)
        return f'{{\n  "schema": "bpe.count/1",\n  "tokenizer": {name},\n  "documents": [\n'

    def finish(self) -> None:
        """Write the total below counts that have names, and flush."""
        if self.options.json:
            limit = self.options.most_tokens
            checked = "" if limit is None else f',\n  "max_tokens": {limit},\n  "over": {self._over}'
            total = f'{{"documents": {self.documents}, "tokens": {self.tokens}}}'
            before = "\n" if self._number else self._opening()
            self.output.write(f'{before}  ],\n  "total": {total}{checked}\n}}\n'.encode())
        elif self.options.origins is not None:
            self.output.write(self._row(self.tokens, "total").encode())
        self.output.flush()
