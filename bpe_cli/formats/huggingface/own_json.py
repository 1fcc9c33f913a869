"""Read and write ``bpe.json``: the layout of ``tokenizer.json``, with what only this project has.

Where Hugging Face's library can hold a tokenizer, its file and this one have the same bytes. Beyond that
there are models, stages and fields that it lacks, and ``usage``: roles and chat templates, which it has in
other files, and ``trained``: what SentencePiece's models were trained with. Both formats have one reader, and
nothing in a file says which of the two it is.

What is read back gives the ids of what was written, to every text. It is of the same kind but for ranks: the
layout has merges, so ranks (``RankBpe``) are written as merges that do the same, and read as those.
"""

from __future__ import annotations

from bpe_cli.formats import features
from bpe_cli.formats import huggingface as hf_usage
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.formats.huggingface.tokenizer_json import load, sniff
from bpe_cli.tokenizer import Tokenizer

__all__ = ["FILES", "HOLDS", "MODELS", "NAME", "dump", "load", "sniff"]

NAME = "bpe.json"
FILES = ("bpe.json",)
MODELS = hf_json.MODELS | {
    "bpe-events", "bpe-scores", "longest-match", "fewest-tokens", "max-match", "greedy-cover", "n-gram",
}  # fmt: skip
HOLDS = hf_json.HOLDS | {feature.name for feature in features.FEATURES}


def dump(
    tokenizer: Tokenizer,
    allow_loss: frozenset[str] = frozenset(),  # noqa: ARG001  # it loses nothing
) -> dict[str, bytes]:
    """Write a whole tokenizer: read back, it gives the same ids and has all that it had."""
    own = hf_usage.write_own(tokenizer.usage) | hf_usage.write_trained(tokenizer.origin)
    return {"": hf_json.write(hf_json.content_of(tokenizer) | own)}
