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
    from bpe_cli.sinks.dataset.side_files import SideFile, WithSideFiles
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
class SideFiles:
    """Files that hold what runs beside the ids, where the format has no place for it.

    Attributes:
        column: What they hold.
        endings: How they end.
        place: What writes them: the module in ``sinks.dataset``, and the class.
    """

    column: str
    endings: tuple[str, ...]
    place: tuple[str, str]

    def open(self, outputs: Sequence[Output], options: SinkOptions) -> SideFile:
        """Make what writes them: of their outputs, in the order of the endings."""
        module, kind = self.place
        file: SideFile = getattr(import_module(f"bpe_cli.sinks.dataset.{module}"), kind)(*outputs, options)
        return file


@dataclass(frozen=True, slots=True)
class DataSetFormat:
    """A format of data sets.

    Attributes:
        endings: How the files of a part end, the ids first.
        place: Its sink: the module in ``sinks``, and the class.
        readers: Who reads such files, for the documentation.
        indexes: The files that cover all parts: made of the records at the end.
        columns: What a row may have beside its ids, as its sink writes it.
        side_files: What it may have in files of their own.
        names_sides: The file that names the folders of a training and a validation set; empty if there is none.
    """

    endings: tuple[str, ...]
    place: tuple[str, str]
    readers: str
    indexes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    side_files: tuple[SideFiles, ...] = ()
    names_sides: str = ""

    @property
    def is_table(self) -> bool:
        """Whether its rows are those of a table, which may have columns of any type."""
        return self.place[0] == "dataset.tables"

    @property
    def all_columns(self) -> tuple[str, ...]:
        """What a row may have beside its ids, in one way or the other."""
        return (*self.columns, *(each.column for each in self.side_files))

    def endings_with(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return how the files of a part end that has these columns."""
        beside = (end for each in self.side_files if each.column in columns for end in each.endings)
        return (*self.endings, *beside)

    def open(self, outputs: Sequence[Output], tokenizer: Tokenizer, options: SinkOptions) -> BinSink | WithSideFiles:
        """Make the sink of a part: of its outputs, in the order of the endings."""
        first, rest = outputs[: len(self.endings)], list(outputs[len(self.endings) :])
        sink: BinSink = getattr(self._module(), self.place[1])(*first, tokenizer, options)
        files = [each for each in self.side_files if each.column in options.columns]
        if not files:
            return sink
        from bpe_cli.sinks.dataset.side_files import WithSideFiles

        return WithSideFiles(sink, [each.open([rest.pop(0) for _ in each.endings], options) for each in files])

    def dtype_for(self, tokenizer: Tokenizer, options: SinkOptions) -> Dtype:
        """Choose how a number lies in the files, and check before the work begins that they can be written.

        Raises:
            UsageError: if an id does not fit, or something that the format needs is not installed.
        """
        dtype: Dtype = getattr(self._module(), self.place[1]).dtype_for(tokenizer, options)
        return dtype

    def index(self, records: Sequence[RecordedPart], columns: Sequence[str] = ()) -> dict[str, bytes]:
        """Make the files that cover all parts: of the records of all parts, in order, and of their columns."""
        files: dict[str, bytes] = self._module().index_of(records, columns) if self.indexes else {}
        return files

    def index_of_sides(self, names: Sequence[str]) -> dict[str, bytes]:
        """Make the files that name the folders of several sets of the same format."""
        if not self.names_sides:
            return {}
        from bpe_cli.support.safe_orjson import orjson

        return {self.names_sides: orjson.dumps({"splits": list(names)})}

    def _module(self) -> Any:
        return import_module(f"bpe_cli.sinks.{self.place[0]}")


_COLUMNS = ("attention_mask", "position_ids", "segment_ids", "seq_lengths", "loss_mask")
"""Of formats with columns; ``columns.py`` says what they are."""


_SPANS = SideFiles("spans", (".spans.npy",), ("side_files", "Spans"))


DATASETS: Mapping[str, DataSetFormat] = {
    "bin": DataSetFormat(
        (".bin",),
        ("numbers", "BinSink"),
        "nanoGPT, llm.c, and programs that map raw numbers into memory",
        side_files=(_SPANS, SideFiles("loss_mask", (".mask.bin",), ("side_files", "RawMask"))),
    ),
    "npy": DataSetFormat(
        (".npy",),
        ("numbers", "NpySink"),
        "NumPy, JAX, PyTorch",
        side_files=(_SPANS, SideFiles("loss_mask", (".mask.npy",), ("side_files", "NpyMask"))),
    ),
    "npy-offsets": DataSetFormat(
        (".npy", ".offsets.npy"),
        ("dataset.ends", "NpyOffsetsSink"),
        "NumPy, JAX: all ids, and where each document ends",
        side_files=(_SPANS, SideFiles("loss_mask", (".mask.npy",), ("side_files", "NpyMask"))),
    ),
    "megatron": DataSetFormat(
        (".bin", ".idx"),
        ("dataset.megatron", "MegatronSink"),
        "Megatron-LM, NeMo, Megatron-DeepSpeed, GPT-NeoX",
        columns=("spans",),
        side_files=(SideFiles("loss_mask", (".mask.bin", ".mask.idx"), ("megatron", "MegatronMask")),),
    ),
    "datatrove": DataSetFormat(
        (".ds", ".ds.index", ".ds.metadata"),
        ("dataset.ends", "DatatroveSink"),
        "datatrove, nanotron",
        side_files=(_SPANS, SideFiles("loss_mask", (".ds.loss",), ("side_files", "RawMask"))),
    ),
    "litdata": DataSetFormat(
        (".bin",),
        ("dataset.litdata", "LitDataSink"),
        "LitData with its TokensLoader, LitGPT",
        indexes=("index.json",),
        side_files=(_SPANS, SideFiles("loss_mask", (".mask.npy",), ("side_files", "NpyMask"))),
    ),
    "mds": DataSetFormat(
        (".mds",),
        ("dataset.mds", "MdsSink"),
        "MosaicML Streaming, LLM Foundry",
        indexes=("index.json",),
        columns=_COLUMNS,
    ),
    "arrow": DataSetFormat(
        (".arrow",),
        ("dataset.tables", "ArrowSink"),
        "pyarrow, Polars, DuckDB, and programs that map Arrow into memory",
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
        names_sides="dataset_dict.json",
    ),
    "webdataset": DataSetFormat(
        (".tar",),
        ("dataset.webdataset", "WebDatasetSink"),
        "WebDataset, and programs that read tar archives as a stream",
        columns=_COLUMNS,
    ),
}
"""By the name that ``prepare`` takes."""
