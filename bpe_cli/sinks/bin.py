"""Write ids as raw little-endian u16 or u32, one after the other, on any machine."""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.errors import InputError, OutputError, UsageError
from bpe_cli.sinks.base import HIGHEST_ID, Dtype, Sink, SinkOptions
from bpe_cli.support.messages import quote

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from bpe_cli.sinks.atomic import Output
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Tokenizer


class BinSink(Sink):
    """Write ids as numbers of a fixed width, with an eot after each document if wanted.

    Attributes:
        dtype: How a number lies there.
        byte_count: How many bytes were written.
        divided: How many eots lie inside documents, whose text asked for them as special tokens.
    """

    is_binary = True

    def __init__(self, output: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        self.dtype = choose_dtype(tokenizer, options)
        from hashlib import sha256

        self._hash = sha256() if output.path is not None else None  # of a pipe nothing is described
        self.byte_count = 0
        self.divided = 0
        self._may_divide = _may_be_text(options.edges.eot, tokenizer, options)

    @property
    def sha256(self) -> str:
        """The hash of all numbers as they lie in the file; empty for what is not a file."""
        return self._hash.hexdigest() if self._hash is not None else ""

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        eot = self.options.edges.eot
        if eot is None and self.dtype == "u32" and sys.byteorder == "little":
            self._write_numbers(ids)  # they lie there as they are to be
            return
        closed = ends[: block.ended]
        if eot is not None:
            self.tokens += len(closed)
            if self._may_divide and (places := _places_of(ids, eot)):
                before = self.documents - len(closed)
                self._meet(places, before, ends, eot)
        self._write_numbers(pack(ids, self.dtype, closed, eot))

    def _meet(self, places: list[int], before: int, ends: memoryview, eot: int) -> None:
        """Count the eots inside documents, at these places in the ids of a block; the text has asked for them.

        Raises:
            InputError: if it is an ordinary token: whoever divides by it would find other documents.
        """
        token = self.tokenizer.special_ids.get(eot)
        if token is not None and token.special:
            self.divided += len(places)
            return
        from bisect import bisect_right

        raise InputError(
            f"document {before + bisect_right(ends, places[0]) + 1:,} holds the token "
            f"{quote(self.tokenizer.token_bytes(eot))} (id {eot}), with which `eot` ends documents",
            hint="name a special token, which text never becomes; --add-special TEXT=ID adds one",
        )

    def _write_numbers(self, data: Buffer) -> None:
        view = memoryview(data).cast("B")
        self.output.write(view)
        if self._hash is not None:
            self._hash.update(view)
        self.byte_count += len(view)


def _may_be_text(token_id: int | None, tokenizer: Tokenizer, options: SinkOptions) -> bool:
    """Return whether text may become a token: any but a special one that nobody has asked for."""
    token = None if token_id is None else tokenizer.special_ids.get(token_id)
    if token is None or not token.special or options.specials == "all":
        return True
    return any(name.encode("utf-8", "surrogateescape") == token.content for name in options.specials)


def _places_of(ids: memoryview, token_id: int) -> list[int]:
    """Find an id among others (u32); a search in bytes, since it runs over all that is written."""
    data, wanted = ids.tobytes(), token_id.to_bytes(4, sys.byteorder)
    places = []
    place = data.find(wanted)
    while place >= 0:
        if place % 4 == 0:
            places.append(place // 4)
        place = data.find(wanted, place + 1)
    return places


def choose_dtype(tokenizer: Tokenizer, options: SinkOptions) -> Dtype:
    """Choose u16 when every id of the tokenizer fits, else u32; check what was chosen already.

    Raises:
        UsageError: if an id does not fit into what was asked for, or is no u32.
    """
    highest = max(tokenizer.vocab_size - 1, options.edges.eot or 0, options.edges.bos or 0)
    if highest > HIGHEST_ID:
        raise UsageError(f"{highest} cannot be an id")
    if options.dtype == "u16" and highest > 0xFFFF:
        raise UsageError(f"u16 cannot hold the tokenizer's ids, which run to {highest}", hint="use u32")
    return options.dtype or ("u16" if highest <= 0xFFFF else "u32")


def pack(ids: memoryview, dtype: Dtype, ends: memoryview | array[int] | None = None, eot: int | None = None) -> bytes:
    r"""Pack ids (u32) as little-endian numbers, with an eot behind each of the rows that end at ``ends`` (u64).

    >>> pack(memoryview(array("I", [1, 515])), "u16")
    b'\x01\x00\x03\x02'

    Raises:
        OutputError: if an id does not fit into u16.
    """
    try:
        return _core.pack_numbers(ids, array("Q") if ends is None else ends, eot, dtype == "u16")
    except ValueError as error:
        raise OutputError(str(error), hint="use u32") from error


make = BinSink
