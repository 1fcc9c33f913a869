"""Write ids as LitData reads them with its ``TokensLoader``, for LitGPT: a chunk for each part, and index.json.

A chunk begins with the count of its items, here one, and where in the file each begins and the last ends (all uint32);
the numbers follow. That loader divides what a chunk holds into blocks of equal length and asks neither for items nor
for documents; what is left at the end of a chunk is too short for a block and is not read.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError
from bpe_cli.sinks.dataset.documents import LARGEST_U32, int32_dtype
from bpe_cli.sinks.numbers import BinSink

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.base import Dtype, SinkOptions
    from bpe_cli.sinks.dataset import RecordedPart
    from bpe_cli.tokenizer import Tokenizer

_HEADER = struct.Struct("<III")
_TYPES = {"u16": "no_header_tensor:20", "u32": "no_header_tensor:16"}
"""One-dimensional tensors of torch.uint16 and torch.int32, in LitData's numbering."""


class LitDataSink(BinSink):
    """Write one chunk.

    Raises:
        InputError: if the chunk is longer than uint32 can count.
    """

    def __init__(self, output: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        output.reserve_start(bytes(_HEADER.size))

    @staticmethod
    def dtype_for(tokenizer: Tokenizer, options: SinkOptions) -> Dtype:
        """Choose the type of the numbers: there is no uint32.

        Raises:
            UsageError: if an id does not fit into int32 or the requested type.
        """
        return int32_dtype("litdata", tokenizer, options)

    def _write_numbers(self, data: Buffer) -> None:
        super()._write_numbers(data)
        if _HEADER.size + self.byte_count > LARGEST_U32:
            raise InputError(
                f"a part has more than {LARGEST_U32:,} bytes, and a chunk of litdata at most that many",
                hint="divide the input into smaller files, or make the parts smaller",
            )

    def finish(self) -> None:
        """Complete the start of the chunk, and flush."""
        self.output.rewrite_start(_HEADER.pack(1, _HEADER.size, _HEADER.size + self.byte_count))
        super().finish()


def index_of(records: Sequence[RecordedPart], _: Sequence[str]) -> dict[str, bytes]:
    """Make index.json. Chunks without ids are left out: they could not be mapped into memory."""
    from bpe_cli.support.safe_orjson import orjson

    chunks = [
        {"chunk_bytes": part.files[0].size, "chunk_size": 1, "dim": part.tokens, "filename": part.files[0].name}
        for part in records
        if part.tokens
    ]
    config = {
        "chunk_bytes": max((part.files[0].size for part in records), default=0),
        "chunk_size": None,
        "compression": None,
        "data_format": [_TYPES[records[0].dtype if records else "u16"]],
        "data_spec": '[1, {"type": null, "context": null, "children_spec": []}]',
        "encryption": None,
        "item_loader": "TokensLoader",
    }
    return {"index.json": orjson.dumps({"chunks": chunks, "config": config}, option=orjson.OPT_SORT_KEYS)}
