"""Read and write ``bpe.json``: the layout of ``tokenizer.json``, with what only this project has.

Where Hugging Face's library can hold a tokenizer, its file and this one have the same bytes. Beyond that
there are models, stages and fields that it lacks, and ``usage``: roles and chat templates, which it has in
other files. Both formats have one reader.
"""

from __future__ import annotations

from pathlib import Path

from bpe_cli.formats import features
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.formats.huggingface import usage as hf_usage
from bpe_cli.tokenizer import Tokenizer

NAME = "bpe.json"
FILES = ("bpe.json",)
MODELS = hf_json.MODELS | {"bpe-scores", "longest-match", "max-match", "n-gram"}
HOLDS = hf_json.HOLDS | {feature.name for feature in features.FEATURES}


def sniff(head: bytes) -> bool:  # noqa: ARG001
    """Tell whether a file is a ``bpe.json``: never, since all of them begin like a ``tokenizer.json``."""
    return False


def load(path: Path, pattern: str | None = None) -> Tokenizer:
    """Read a ``bpe.json``.

    Raises:
        InputError, FormatError, UsageError: As for ``hf_json.load``.
    """
    return hf_json.load(path, pattern)


def dump(
    tokenizer: Tokenizer,
    allow_loss: frozenset[str] = frozenset(),  # noqa: ARG001  # it loses nothing
) -> dict[str, bytes]:
    """Write a tokenizer whole.

    Returns:
        The content of the output path itself (the key ``""``).

    Raises:
        FormatError: The tokenizer has what the layout cannot say.
    """
    return {"": hf_json.write(hf_json.content_of(tokenizer) | hf_usage.write_own(tokenizer.usage))}
