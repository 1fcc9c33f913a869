"""Train, run, inspect, compare and convert tokenizers.

>>> import bpe_cli
>>> tokenizer = bpe_cli.load("gpt2")
>>> tokenizer.encode("hello world")
[31373, 995]
>>> tokenizer.decode([31373, 995])
'hello world'

These names are the public interface; each is imported when it is first used, so that
``import bpe_cli`` costs next to nothing.
"""

TYPE_CHECKING = False  # `typing` takes longer to import than all else that `import bpe_cli` does
if TYPE_CHECKING:
    from bpe_cli.calls import (
        add_tokens,
        compare,
        decode_files,
        encode_files,
        extend,
        inspect,
        merge,
        prepare,
        prune,
        segment_files,
    )  # fmt: skip
    from bpe_cli.datasets import TokenDataset
    from bpe_cli.errors import BpeError, FormatError, InputError, OutputError, TrainingError, UsageError
    from bpe_cli.jobs.convert import convert
    from bpe_cli.jobs.tokenizers import load
    from bpe_cli.results import ComparisonReport, TextReport, TokenizerReport
    from bpe_cli.stages import SpecialToken
    from bpe_cli.support import __version__ as __version__
    from bpe_cli.tokenizer import Token, Tokenizer
    from bpe_cli.tokenizer.encoded import EncodedBatch, PaddedBatch
    from bpe_cli.tokenizer.engine import Sampling
    from bpe_cli.tokenizer.model_inputs import Encoding
    from bpe_cli.tokenizer.parts import Chunk
    from bpe_cli.tokenizer.streaming import StreamDecoder
    from bpe_cli.training import train

__all__ = [
    "BpeError",
    "Chunk",
    "ComparisonReport",
    "EncodedBatch",
    "Encoding",
    "FormatError",
    "InputError",
    "OutputError",
    "PaddedBatch",
    "Sampling",
    "SpecialToken",
    "StreamDecoder",
    "TextReport",
    "Token",
    "TokenDataset",
    "Tokenizer",
    "TokenizerReport",
    "TrainingError",
    "UsageError",
    "add_tokens",
    "compare",
    "convert",
    "decode_files",
    "encode_files",
    "extend",
    "inspect",
    "load",
    "merge",
    "prepare",
    "prune",
    "segment_files",
    "train",
]

_HOMES = {
    "BpeError": "errors",
    "Chunk": "tokenizer.parts",
    "ComparisonReport": "results",
    "EncodedBatch": "tokenizer.encoded",
    "Encoding": "tokenizer.model_inputs",
    "FormatError": "errors",
    "InputError": "errors",
    "OutputError": "errors",
    "PaddedBatch": "tokenizer.encoded",
    "Sampling": "tokenizer.engine",
    "SpecialToken": "stages",
    "StreamDecoder": "tokenizer.streaming",
    "TextReport": "results",
    "Token": "tokenizer",
    "TokenDataset": "datasets",
    "Tokenizer": "tokenizer",
    "TokenizerReport": "results",
    "TrainingError": "errors",
    "UsageError": "errors",
    "__version__": "support",
    "add_tokens": "calls",
    "compare": "calls",
    "convert": "jobs.convert",
    "decode_files": "calls",
    "encode_files": "calls",
    "extend": "calls",
    "inspect": "calls",
    "load": "jobs.tokenizers",
    "merge": "calls",
    "prepare": "calls",
    "prune": "calls",
    "segment_files": "calls",
    "train": "training",
}


def __getattr__(name: str) -> object:
    """Import a public name from its module when it is first used."""
    if name not in _HOMES:
        from bpe_cli.support.other_libraries import FUNCTIONS, here

        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{here(FUNCTIONS, name)}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_HOMES)
