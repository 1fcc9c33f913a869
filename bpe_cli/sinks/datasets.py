"""The formats of data sets: which files each part has, and what writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bpe_cli.sinks.numbers import BinSink, NpySink
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.base import SinkOptions
    from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class DataSetFormat:
    """A format of data sets.

    Attributes:
        endings: How the files of a part end, the ids first.
        open: Makes the sink of a part: of its outputs, in the order of the endings, a tokenizer, and options.
        readers: Who reads such files, for the documentation.
    """

    endings: tuple[str, ...]
    open: Callable[[Sequence[Output], Tokenizer, SinkOptions], BinSink]
    readers: str


def _bin(outputs: Sequence[Output], tokenizer: Tokenizer, options: SinkOptions) -> BinSink:
    return BinSink(outputs[0], tokenizer, options)


def _npy(outputs: Sequence[Output], tokenizer: Tokenizer, options: SinkOptions) -> BinSink:
    return NpySink(outputs[0], tokenizer, options)


def _megatron(outputs: Sequence[Output], tokenizer: Tokenizer, options: SinkOptions) -> BinSink:
    from bpe_cli.sinks.megatron import MegatronSink

    return MegatronSink(outputs[0], outputs[1], tokenizer, options)


DATASETS: Mapping[str, DataSetFormat] = {
    "bin": DataSetFormat((".bin",), _bin, "nanoGPT, llm.c, and whoever maps raw numbers into memory"),
    "npy": DataSetFormat((".npy",), _npy, "NumPy, JAX, PyTorch"),
    "megatron": DataSetFormat((".bin", ".idx"), _megatron, "Megatron-LM, NeMo, Megatron-DeepSpeed, GPT-NeoX"),
}
"""By the name that ``prepare`` takes."""
