"""The formats of data sets: which files each part has, what writes them, and what covers all parts.

A sink is a class that takes the outputs of a part, in the order of the endings, a tokenizer, and options. Adding a
format takes a line here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.base import Dtype, SinkOptions
    from bpe_cli.sinks.numbers import BinSink
    from bpe_cli.tokenizer import Tokenizer


class RecordedFile(Protocol):
    """A file of a part, as its record describes it."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def size(self) -> int: ...  # noqa: D102
    @property
    def sha256(self) -> str: ...  # noqa: D102


class RecordedPart(Protocol):
    """What an index needs of the record of a part."""

    @property
    def rows(self) -> int: ...  # noqa: D102
    @property
    def tokens(self) -> int: ...  # noqa: D102
    @property
    def dtype(self) -> str: ...  # noqa: D102
    @property
    def files(self) -> Sequence[RecordedFile]: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class DataSetFormat:
    """A format of data sets.

    Attributes:
        endings: How the files of a part end, the ids first.
        place: Its sink: the module in ``sinks``, and the class.
        readers: Who reads such files, for the documentation.
        indexes: The files that cover all parts: made of the records at the end.
        columns: What a row may have beside its ids.
    """

    endings: tuple[str, ...]
    place: tuple[str, str]
    readers: str
    indexes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    def open(self, outputs: Sequence[Output], tokenizer: Tokenizer, options: SinkOptions) -> BinSink:
        """Make the sink of a part: of its outputs, in the order of the endings."""
        sink: BinSink = getattr(self._module(), self.place[1])(*outputs, tokenizer, options)
        return sink

    def dtype_for(self, tokenizer: Tokenizer, options: SinkOptions) -> Dtype:
        """Choose how a number lies in the files, and check before the work begins that they can be written.

        Raises:
            UsageError: if an id does not fit, or something that the format needs is not installed.
        """
        dtype: Dtype = getattr(self._module(), self.place[1]).dtype_for(tokenizer, options)
        return dtype

    def index(self, records: Sequence[RecordedPart]) -> dict[str, bytes]:
        """Make the files that cover all parts: of the records of all parts, in order, and of nothing else."""
        files: dict[str, bytes] = self._module().index_of(records) if self.indexes else {}
        return files

    def _module(self) -> Any:
        return import_module(f"bpe_cli.sinks.{self.place[0]}")


_COLUMNS = ("attention_mask", "position_ids")

DATASETS: Mapping[str, DataSetFormat] = {
    "bin": DataSetFormat((".bin",), ("numbers", "BinSink"), "nanoGPT, llm.c, and whoever maps raw numbers into memory"),
    "npy": DataSetFormat((".npy",), ("numbers", "NpySink"), "NumPy, JAX, PyTorch"),
    "npy-offsets": DataSetFormat(
        (".npy", ".offsets.npy"),
        ("dataset.ends", "NpyOffsetsSink"),
        "NumPy, JAX: all ids, and where each document ends",
    ),
    "megatron": DataSetFormat(
        (".bin", ".idx"),
        ("dataset.megatron", "MegatronSink"),
        "Megatron-LM, NeMo, Megatron-DeepSpeed, GPT-NeoX",
    ),
    "datatrove": DataSetFormat(
        (".ds", ".ds.index", ".ds.metadata"),
        ("dataset.ends", "DatatroveSink"),
        "datatrove, nanotron",
    ),
    "litdata": DataSetFormat(
        (".bin",),
        ("dataset.litdata", "LitDataSink"),
        "LitData with its TokensLoader, LitGPT",
        indexes=("index.json",),
    ),
    "mds": DataSetFormat(
        (".mds",),
        ("dataset.mds", "MdsSink"),
        "MosaicML Streaming, LLM Foundry",
        indexes=("index.json",),
    ),
    "arrow": DataSetFormat(
        (".arrow",),
        ("dataset.tables", "ArrowSink"),
        "pyarrow, Polars, DuckDB, and whoever maps Arrow into memory",
        columns=_COLUMNS,
    ),
    "parquet": DataSetFormat(
        (".parquet",),
        ("dataset.tables", "ParquetSink"),
        "Hugging Face datasets, Spark, Ray Data, Polars, DuckDB",
        columns=_COLUMNS,
    ),
    "datasets": DataSetFormat(
        (".arrow",),
        ("dataset.tables", "DatasetsSink"),
        "Hugging Face datasets, by load_from_disk",
        indexes=("dataset_info.json", "state.json"),
        columns=_COLUMNS,
    ),
    "webdataset": DataSetFormat(
        (".tar",),
        ("dataset.webdataset", "WebDatasetSink"),
        "WebDataset, and whoever reads tar archives as a stream",
    ),
}
"""By the name that ``prepare`` takes."""
