"""Rewrite the embeddings in a safetensors file for a changed tokenizer; other tensors are copied byte by byte."""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bpe_cli.errors import FormatError, UsageError
from bpe_cli.jobs.files import Streams
from bpe_cli.support.core_arguments import flag, list_of, whole_number, wrong_type
from bpe_cli.support.messages import cannot_read, show_path
from bpe_cli.surgery import Operation
from bpe_cli.surgery.embeddings import IdMap, moved, numpy
from bpe_cli.surgery.safetensors import Header, Tensor, read_header, write_header

if TYPE_CHECKING:
    from bpe_cli.surgery.embeddings import Floats, Rows

USUAL_NAMES = (
    "embed_tokens.weight", "wte.weight", "word_embeddings.weight", "word_embedding.weight", "token_embedding.weight",
    "embed_in.weight", "tok_embeddings.weight", "shared.weight", "lm_head.weight", "lm_head.decoder.weight",
    "predictions.decoder.weight", "lm_loss.weight", "embed_out.weight",
)  # fmt: skip
"""The names of tensors that have a row for each id, without what stands before a dot in front of them."""

OUTSIDE_LAYERS = ("embedding.weight", "output.weight")
"""The same, but of tensors outside numbered layers: attention has outputs too."""

BIASES = (
    "lm_head.bias", "lm_head.decoder.bias", "predictions.bias", "predictions.decoder.bias", "lm_loss.bias",
    "embed_out.bias", "final_logits_bias",
)  # fmt: skip
"""The names of tensors that have a number for each id, if they have as many as there are rows."""

_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_PIECE = 1 << 24
"""Bytes of a tensor that are copied at a time."""


def move_embeddings(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    id_map: Operation | str | os.PathLike[str],
    *,
    tensors: Iterable[str] | None = None,
    donor: str | os.PathLike[str] | None = None,
    sparsity: int = 64,
    scaled: bool = False,
) -> dict[str, tuple[int, ...]]:
    """Write a safetensors file with the embeddings of a changed tokenizer.

    A token that stays keeps its row, bit by bit. A new token's row is the mean of the rows of the old tokens that its
    text was, or comes of a donor by orthogonal matching pursuit: the token's row in the donor is approximated by those
    of few tokens that both models have, and the same weights are given to the old rows of these. A bias, which has a
    number for each id, is moved in the same way, without the donor. All other tensors are copied as they are. The file
    appears when it is complete; memory does not grow with its size.

    Args:
        source: The model's file.
        output: The file to write.
        id_map: The result of ``extend``, ``prune``, ``replace_tokens``, ``merge`` or ``add_tokens``, or the file with
            its map of ids.
        tensors: The tensors that have a row for each id; if None, those that are called as embeddings, output layers
            and their biases usually are. Then no other may have as many rows.
        donor: A safetensors file of the model whose tokenizer was merged in, with tensors of the same names.
        sparsity: With a donor, the number of shared tokens that a new one is made of at most.
        scaled: With a donor, whether these are chosen by their directions alone, and not by their lengths too.

    Returns:
        The new shape of each tensor that was rewritten.

    Raises:
        BpeError: if a file cannot be read or written or is damaged, a tensor does not fit the map, or names do not tell
            which tensors have a row for each id.
        TypeError: if an argument has the wrong type.
    """
    from bpe_cli.sinks.atomic import open_output

    numpy()
    table = _map(id_map)
    wanted = None if tensors is None else list_of("tensors", tensors, "names")
    path = _path("output", output)
    pursuit = {"sparsity": whole_number("sparsity", sparsity, 1), "scaled": flag("scaled", scaled)}
    with _opened("source", source) as (data, header), _donor(donor) as other:
        names = _chosen(header, wanted)
        new = {name: _Moved(data, header, name, table, other, pursuit) for name in names}
        first = write_header(
            (
                (name, tensor.dtype, new[name].shape if name in new else tensor.shape,
                 new[name].size if name in new else tensor.end - tensor.start)
                for name, tensor in header.tensors.items()
            ),
            header.metadata,
        )  # fmt: skip
        with open_output(path) as written:
            written.write(first)
            for name, tensor in header.tensors.items():
                parts: Iterable[Any] = new[name].parts() if name in new else _copied(data, header, tensor)
                for part in parts:
                    written.write(part)
        return {name: each.shape for name, each in new.items()}


class _Moved:
    """A tensor with the rows of the new ids."""

    def __init__(
        self,
        data: memoryview,
        header: Header,
        name: str,
        table: IdMap,
        donor: tuple[memoryview, Header] | None,
        pursuit: dict[str, Any],
    ) -> None:
        self._old, tensor = _rows(data, header, name), header.tensors[name]
        self._table, self._pursuit = table, pursuit
        self._donor = None
        self._read, self._write = _conversions(tensor.dtype)
        if donor is not None and self._old.ndim > 1:  # it has rows, and single numbers are no directions
            rows = _rows(*donor, name)
            if donor[1].tensors[name].dtype != tensor.dtype:
                raise FormatError(f"the tensor {name!r} has another type in the donor")
            self._donor = rows
        before = tensor.shape[: len(tensor.shape) - self._old.ndim]
        self.shape = (*before, table.rows(len(self._old)), *self._old.shape[1:])
        self.size = math.prod(self.shape) * self._old.itemsize

    def parts(self) -> Iterator[memoryview]:
        """Return the bytes of the new rows, some thousands of rows at a time."""
        for chunk in moved(
            self._old, self._table, donor=self._donor, **self._pursuit, to_floats=self._read, from_floats=self._write,
        ):  # fmt: skip
            yield chunk.data.cast("B")


def _rows(data: memoryview, header: Header, name: str) -> Rows:
    """Return a tensor as an array that lies in the file."""
    tensor = header.tensors.get(name)
    if tensor is None:
        raise UsageError(f"there is no tensor {name!r}", hint=f"one of {', '.join([*header.tensors][:12])}")
    if tensor.dtype not in _TYPES or not tensor.shape:
        raise FormatError(f"the tensor {name!r} has the type {tensor.dtype}, and rows can be made of {_names()}")
    kind = numpy().dtype(_TYPES[tensor.dtype])
    count = math.prod(tensor.shape)
    if count * kind.itemsize != tensor.end - tensor.start:
        raise FormatError(f"the tensor {name!r} has more or less data than its shape says")
    rows: Rows = numpy().frombuffer(data, kind, count, header.data + tensor.start).reshape(_by_id(name, tensor))
    return rows


def _by_id(name: str, tensor: Tensor) -> tuple[int, ...]:
    """Return a tensor's shape, without the one row that a bias may be (BART's ``final_logits_bias``)."""
    one_row = name.endswith("bias") and len(tensor.shape) == 2 and tensor.shape[0] == 1
    return tensor.shape[1:] if one_row else tensor.shape


def _names() -> str:
    return ", ".join(_TYPES)


def _conversions(dtype: str) -> tuple[Callable[[Rows], Floats] | None, Callable[[Floats], Rows] | None]:
    """Return what reads and writes rows as numbers; None where NumPy does."""
    np = numpy()
    if dtype != "BF16":
        return None, None

    def read(rows: Rows) -> Floats:
        floats: Floats = (rows.astype("<u4") << 16).view("<f4").astype(np.float64)
        return floats

    def write(floats: Floats) -> Rows:
        bits = np.atleast_1d(floats.astype("<f4")).view("<u4").astype(np.uint64)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16  # to the nearest, of two the even one
        rows: Rows = np.where(np.isnan(floats), 0x7FC0, rounded.reshape(np.shape(floats))).astype("<u2")
        return rows

    return read, write


def _chosen(header: Header, wanted: list[str] | None) -> list[str]:
    """Return the tensors to move: as named, or by how they are called, if the numbers of their rows agree to that."""
    names = wanted if wanted is not None else [name for name in header.tensors if _is_table(name)]
    if not names:
        raise UsageError("no tensor has the usual name of embeddings", hint="name them: tensors=[...]")
    if wanted is not None:
        return names
    hint = "name those that have a row for each id: tensors=[...]"
    rows = {name: header.tensors[name].shape[:1] for name in names}
    number = rows[names[0]]
    if len({*rows.values()}) > 1:
        shown = ", ".join(f"{name} ({', '.join(map(str, each))})" for name, each in rows.items())
        raise UsageError(f"tensors with usual names of embeddings have different numbers of rows: {shown}", hint=hint)
    others = {name: _by_id(name, tensor)[:1] for name, tensor in header.tensors.items() if name not in rows}
    alike = [name for name, each in others.items() if each == number]
    unknown = [name for name in alike if not _is_called(name, BIASES)]
    if unknown:
        raise UsageError(f"{_shown(unknown)} may have a row for each id as well: as many as {names[0]}", hint=hint)
    return [*names, *alike]


def _is_table(name: str) -> bool:
    """Return whether a tensor is called as those are that have a row for each id."""
    in_layer = any(part.isdecimal() for part in name.split("."))
    return _is_called(name, USUAL_NAMES) or (not in_layer and _is_called(name, OUTSIDE_LAYERS))


def _is_called(name: str, endings: Iterable[str]) -> bool:
    return f".{name}".endswith(tuple(f".{ending}" for ending in endings))


def _shown(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _copied(data: memoryview, header: Header, tensor: Tensor) -> Iterator[memoryview]:
    start, end = header.data + tensor.start, header.data + tensor.end
    return (data[place : min(place + _PIECE, end)] for place in range(start, end, _PIECE))


def _map(id_map: Operation | str | os.PathLike[str]) -> IdMap:
    if isinstance(id_map, Operation):
        return IdMap.of(id_map)
    from bpe_cli.corpus.opening import read_whole

    return IdMap.loads(read_whole(_path("id_map", id_map), stdin=Streams().read))


def _path(name: str, path: str | os.PathLike[str]) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise wrong_type(name, "a str or a path", path)
    return os.fsdecode(path)


@contextmanager
def _donor(path: str | os.PathLike[str] | None) -> Iterator[tuple[memoryview, Header] | None]:
    if path is None:
        yield None
        return
    with _opened("donor", path) as opened:
        yield opened


@contextmanager
def _opened(name: str, path: str | os.PathLike[str]) -> Iterator[tuple[memoryview, Header]]:
    """Map a file into memory and read its header. The map lives as long as an array that lies in it."""
    text = _path(name, path)
    try:
        with open(text, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except ValueError as error:  # it is empty
        raise FormatError(f"{show_path(text)} is empty") from error
    except OSError as error:
        raise cannot_read(text, error) from error
    data = memoryview(mapped)
    yield data, read_header(data)
