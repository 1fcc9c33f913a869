"""Encode the texts of batches, as Ray Data, Spark and others hand them over: in Arrow tables, NumPy arrays or lists.

What is handed to other processes is small: a tokenizer's name, and options. Each process loads the tokenizer once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.tokenizers import load_tokenizer

if TYPE_CHECKING:
    from bpe_cli.calls import AnyTokenizer
    from bpe_cli.tokenizer import Specials, Tokenizer
    from bpe_cli.tokenizer.encoded import EncodedBatch

Batch = TypeVar("Batch")


class EncodeBatch:
    """Add the ids of a column of texts to a batch.

    A batch is an Arrow table or record batch, whose new column is a list of int32; or a dictionary of NumPy arrays or
    lists, as of ``datasets.Dataset.map``, whose new array holds an array of int32 for each text. What comes back is of
    the same kind.

    >>> import numpy
    >>> encode = EncodeBatch("gpt2", eot="auto")
    >>> [row.tolist() for row in encode({"text": numpy.array(["hello world", "hello"])})["input_ids"]]
    [[31373, 995, 50256], [31373, 50256]]
    """

    def __init__(
        self,
        tokenizer: AnyTokenizer,
        column: str = "text",
        *,
        to: str = "input_ids",
        specials: Specials = (),
        add_special_tokens: bool = False,
        bos: str | int | None = None,
        eot: str | int | None = None,
        max_tokens: int | None = None,
        threads: int | None = 1,
    ) -> None:
        """Keep what is asked for; the tokenizer is loaded with the first batch.

        Args:
            tokenizer: What ``bpe_cli.load`` takes. A path must lead to the file on every machine.
            column: The column of the texts.
            to: The column that is added, or replaced.
            specials: As for ``Tokenizer.encode_batch``, like what follows.
            add_special_tokens: Whether what the post-processor adds stands around each text.
            bos: The token to put before each.
            eot: The token to put after each.
            max_tokens: The most ids of each.
            threads: How many work at a batch. Ray and Spark count one processor for each of their workers.
        """
        self.tokenizer, self.column, self.to = tokenizer, column, to
        self.threads = threads
        self.options = {
            "specials": specials,
            "add_special_tokens": add_special_tokens,
            "bos": bos,
            "eot": eot,
            "max_tokens": max_tokens,
        }

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with the ids.

        Raises:
            InputError: if a text is missing; the message says which, from 1.
            UsageError: if the column is missing, or an id does not fit into int32.
            TypeError: if it is a batch of another kind.
        """
        if isinstance(batch, Mapping):
            return self._arrays(batch)  # type: ignore[return-value]
        if hasattr(batch, "schema") and hasattr(batch, "append_column"):
            return self._table(batch)  # type: ignore[no-any-return]
        raise TypeError(
            f"a batch of {type(batch).__name__} is not taken: ask for Arrow tables or NumPy arrays (batch_format)"
        )

    def _arrays(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        import numpy

        encoded = self._encode(batch, list(batch), lambda texts: texts if isinstance(texts, list) else texts.tolist())
        ids = _as_int32(encoded)
        rows = numpy.empty(len(encoded.offsets) - 1, dtype=object)
        rows[:] = numpy.split(ids, numpy.asarray(encoded.offsets)[1:-1].astype(numpy.int64)) if len(rows) else []
        return {**batch, self.to: rows}

    def _table(self, batch: Any) -> Any:
        import numpy
        import pyarrow

        encoded = self._encode(batch, batch.schema.names, lambda texts: texts.to_pylist())
        ids = pyarrow.array(_as_int32(encoded))
        offsets = numpy.asarray(encoded.offsets)
        if len(ids) < 1 << 31:
            column = pyarrow.ListArray.from_arrays(pyarrow.array(offsets.astype(numpy.int32)), ids)
        else:
            column = pyarrow.LargeListArray.from_arrays(pyarrow.array(offsets.astype(numpy.int64)), ids)
        place = batch.schema.get_field_index(self.to)
        return batch.append_column(self.to, column) if place < 0 else batch.set_column(place, self.to, column)

    def _encode(self, batch: Any, names: list[str], listed: Any) -> EncodedBatch:
        if self.column not in names:
            raise UsageError(f"a batch has no column {self.column!r}", hint=f"it has {', '.join(names)}")
        texts = listed(batch[self.column])
        for number, text in enumerate(texts, 1):
            if text is None:
                raise InputError(f"row {number} of a batch has no text: the column {self.column!r} is null")
        return _loaded(self.tokenizer).encode_batch(texts, threads=self.threads, **self.options)  # type: ignore[arg-type]


def _as_int32(encoded: EncodedBatch) -> Any:
    """Return all ids of a batch as frames hold them.

    Raises:
        UsageError: if one does not fit.
    """
    import numpy

    ids = numpy.asarray(encoded.ids)
    highest = int(ids.max(initial=0))
    if highest > _LARGEST:
        raise UsageError(
            f"a batch holds ids as int32, and the tokenizer gives {highest:,}",
            hint="`Tokenizer.encode_batch` returns ids as unsigned numbers of four bytes",
        )
    return ids.astype(numpy.int32)


_LARGEST = (1 << 31) - 1


def _loaded(tokenizer: AnyTokenizer) -> Tokenizer:
    if isinstance(tokenizer, os.PathLike):  # of any class; it stays a path, which never is the name of an encoding
        return _of_name(Path(os.fsdecode(tokenizer)))
    return _of_name(tokenizer) if isinstance(tokenizer, str) else load_tokenizer(tokenizer)


@lru_cache(maxsize=4)
def _of_name(name: str | Path) -> Tokenizer:
    return load_tokenizer(name)
