"""Write a JSON object per document, a line each: ``ids``, and ``tokens`` and ``spans`` on request.

Tokens are written as ``--to tokens`` writes them; spans are [start, end) in bytes of the document as it
was given, whatever a normalizer made of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, pairwise

from bpe_cli.errors import InputError
from bpe_cli.sinks.base import IDS_AT_ONCE, Sink, SinkOptions, Table, parts
from bpe_cli.sinks.lines import rows, visible_table
from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import IO

    from bpe_cli.sinks.atomic import Output
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Specials, Tokenizer

_SPOOL_BYTES = 16 << 20


class JsonlSink(Sink):
    """Write objects as lines. Other arrays of a long document wait on disk until its ids are written."""

    def __init__(self, output: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        chosen = {"ids": True, "tokens": options.tokens, "spans": options.spans}
        self._arrays = [name for name, is_written in chosen.items() if is_written]
        self._table = visible_table(tokenizer)
        # Of an added token that the model makes too, its id does not say whether it was found in the text.
        told = tokenizer.has_spans and not tokenizer.live_model.vocabulary.among(tokenizer.special_ids)
        self._spans = SpanFinder(tokenizer) if told else StagedSpanFinder(tokenizer, options.specials)
        self._waiting: dict[str, IO[bytes]] = {}
        self._begun = False  # whether the document at hand has an id

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        if not (self.options.tokens or self.options.spans):
            lines, self._begun = rows(block, ids, ends, (b'{"ids":[', b",", b"]}\n"), begun=self._begun)
            self.output.write(lines)
            return
        from bpe_cli.support.safe_orjson import orjson

        pieces: list[bytes] = []
        size = start = number = first = 0
        fresh = True  # whether the next part is the first of its document in this block
        text_from = text_to = 0
        for part, begins, finishes in parts(block, ids, ends):
            if fresh:
                if self.options.spans:  # some encode the text again for them
                    self._spans.enter(memoryview(block.data)[start : block.ends[number]], begins=begins)
                start = block.ends[number]
                # Where in the block the ids of the text begin and end, without what stands around it.
                text_from = first + (len(self.options.edges.before) if begins else 0)
                text_to = ends[number] - (len(self.options.edges.after) if number < block.ended else 0)
                number += 1
            fresh = finishes
            listed = part.tolist()
            lead = min(max(text_from - first, 0), len(listed))
            tail = min(max(first + len(listed) - text_to, 0), len(listed) - lead)
            first += len(listed)
            values: dict[str, Sequence[object]] = {"ids": listed}
            if self.options.tokens:
                values["tokens"] = list(map(self._table.__getitem__, listed))
            if self.options.spans:
                values["spans"] = self._spans_of(listed, lead, tail)
            if begins and finishes:
                pieces.append(orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE))
            else:
                self._write_part(pieces, values, begins, finishes)
            size += len(listed) + 1
            if size > IDS_AT_ONCE:
                self.output.write(b"".join(pieces))
                pieces.clear()
                size = 0
        self.output.write(b"".join(pieces))

    def _spans_of(self, ids: list[int], lead: int, tail: int) -> list[tuple[int, int]]:
        """Return the spans of ids of which the first and the last are not of the text: theirs are empty."""
        inner = self._spans.find(ids[lead : len(ids) - tail])
        here = self._spans.position
        begin = inner[0][0] if inner else here
        return [(begin, begin)] * lead + inner + [(here, here)] * tail

    def _write_part(self, pieces: list[bytes], values: dict[str, Sequence[object]], begins: bool, ends: bool) -> None:
        """Write a part of a document: its ids at once, the rest into files that follow at the end."""
        import tempfile

        from bpe_cli.support.safe_orjson import orjson

        if begins:
            pieces.append(b'{"ids":[')
            self._begun = False
            for name in self._arrays[1:]:
                self._waiting[name] = tempfile.SpooledTemporaryFile(_SPOOL_BYTES)  # noqa: SIM115  # it outlives this
        comma = b"," if self._begun else b""
        if values["ids"]:
            pieces.append(comma + orjson.dumps(values["ids"])[1:-1])
            with self._waiting_files() as files:
                for name, file in files.items():
                    file.write(comma + orjson.dumps(values[name])[1:-1])
            self._begun = True
        if ends:
            pieces.append(b"]")
            with self._waiting_files() as files:
                for name, file in files.items():
                    pieces.append(b',"%b":[' % name.encode())
                    file.seek(0)
                    while chunk := file.read(1 << 20):
                        self.output.write(b"".join((*pieces, chunk)))
                        pieces.clear()
                    file.close()
                    pieces.append(b"]")
            self._waiting = {}
            pieces.append(b"}\n")

    @contextmanager
    def _waiting_files(self) -> Iterator[dict[str, IO[bytes]]]:
        """Yield the files of a long document; close them all if one fails."""
        from bpe_cli.support.temporary_files import close_quietly, temporary_failures

        try:
            with temporary_failures(f"the {' and '.join(self._waiting)} of a long document"):
                yield self._waiting
        except BaseException:
            for file in self._waiting.values():
                close_quietly(file)
            raise


class SpanFinder:
    """Find where tokens lie in their document, part after part of it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._lengths: Table[int, int] = Table(lambda token_id: len(tokenizer.token_bytes(token_id)))
        self._specials = {token_id: token.content for token_id, token in tokenizer.special_ids.items()}
        self._prefix_space = tokenizer.prefix_space
        self._text = memoryview(b"")
        self._text_start = 0  # where that lies in the document
        self.position = 0  # where the next token begins in the document
        self._segment_begins = True  # whether the next token is the first of a text segment

    def enter(self, text: memoryview, *, begins: bool) -> None:
        """Take the bytes of a document, or of the next part of it."""
        if begins:
            self.position = 0
            self._segment_begins = True
        self._text = text
        self._text_start = self.position

    def find(self, ids: list[int]) -> list[tuple[int, int]]:
        """Return the [start, end) of the next tokens, in bytes of the document.

        A space that the tokenizer put before a segment belongs to no byte; nor does a special token
        that is not in the text: its span is empty.
        """
        if not self._prefix_space and self._specials.keys().isdisjoint(ids):
            ends = list(accumulate(map(self._lengths.__getitem__, ids), initial=self.position))
            self.position = ends[-1]
            return list(pairwise(ends))
        spans = []
        for token_id in ids:
            start = self.position
            at = start - self._text_start
            special = self._specials.get(token_id)
            if special is None:
                self.position += self._lengths[token_id]
                if self._prefix_space and self._segment_begins and bytes(self._text[at : at + 1]) != b" ":
                    self.position -= 1
                self._segment_begins = False
            elif self._text[at : at + len(special)] == special:
                self.position += len(special)
                self._segment_begins = True
            spans.append((start, self.position))
        return spans


class StagedSpanFinder:
    """Find where tokens lie in their document if the text is rewritten before encoding: it is encoded again."""

    def __init__(self, tokenizer: Tokenizer, specials: Specials) -> None:
        self._tokenizer = tokenizer
        self._matcher = tokenizer.matcher(specials)
        self._waiting: Iterator[tuple[int, int, int]] = iter(())
        self._next: tuple[int, int, int] | None = None
        self._start = 0  # where the part at hand lies in its document
        self._length = 0
        self.position = 0

    def enter(self, text: memoryview, *, begins: bool) -> None:
        """Take the bytes of a document, or of the next part of it."""
        self._start = 0 if begins else self._start + self._length
        self._length = len(text)
        self.position = self._start
        self._waiting = self._tokenizer.spans(bytes(text), self._matcher, continued=not begins)
        self._next = next(self._waiting, None)

    def find(self, ids: list[int]) -> list[tuple[int, int]]:
        """Return the [start, end) of the next tokens.

        Raises:
            InputError: if the text, encoded again, has other tokens.
        """
        spans = []
        for token_id in ids:
            if self._next is None or self._next[0] != token_id:
                raise InputError(
                    f"spans cannot be found: from byte {self.position:,} of a document on, its text has other tokens "
                    "when it is encoded again",
                    hint="leave spans out",
                )
            _, start, end = self._next
            spans.append((self._start + start, self._start + end))
            self.position = self._start + end
            self._next = next(self._waiting, None)
        return spans
