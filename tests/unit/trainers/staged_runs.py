"""Run a tokenizer's stages and model by the core, as ``Tokenizer`` does for those that are not byte-level."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import accumulate

from bpe_cli import _core
from bpe_cli.stages.component_json import core_model, core_spec
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers.base import Front
from bpe_cli.trainers.counts import new_counts


def bytes_of(text: str | bytes) -> bytes:
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text


def counted(texts: Iterable[str | bytes]) -> _core.Counts:
    """Count texts as pieces, as they are."""
    data = [bytes_of(text) for text in texts]
    counts = new_counts()
    counts.add_pieces(b"".join(data), array("Q", accumulate(map(len, data))), None)
    return counts


def counted_by(front: Front, texts: Iterable[str | bytes]) -> _core.Counts:
    """Send texts through stages and count what comes out."""
    data = [bytes_of(text) for text in texts]
    counts = new_counts()
    counts.add_staged(Block.of(data), front.compile(), None, 1)
    return counts


def pipeline_of(tokenizer: Tokenizer, *, stages: bool = True) -> _core.Encoder:
    """Compile a tokenizer, or its model alone."""
    spec = core_spec(tokenizer.normalizer, tokenizer.pre_tokenizer) if stages else "{}"
    vocabulary = tokenizer.model.vocabulary
    merges = tokenizer.model.merges
    return _core.Encoder(
        _core.Stages(spec),
        core_model(tokenizer.model),
        (vocabulary.blob, vocabulary.ends),
        merges=None if merges is None else merges.triples,
    )


def spans(pipeline: _core.Encoder, text: str | bytes) -> list[tuple[int, bytes]]:
    """Return the id of each token and what part of the text it stands for."""
    data = bytes_of(text)
    ids, starts, ends = map(memoryview, pipeline.spans(data, None))
    return [(token_id, data[start:end]) for token_id, start, end in zip(ids, starts, ends, strict=True)]


def encode(pipeline: _core.Encoder, text: str | bytes) -> list[int]:
    data = bytes_of(text)
    ids, _ = pipeline.encode(data, array("Q", [len(data)]), None, 1)
    return memoryview(ids).tolist()


def decode(pipeline: _core.Encoder, tokenizer: Tokenizer, ids: Iterable[int]) -> bytes:
    specials = sorted(tokenizer.special_tokens, key=lambda token: token.token_id)
    return pipeline.decode(
        array("I", ids),
        (
            array("I", [token.token_id for token in specials]),
            b"".join(token.content for token in specials),
            array("I", accumulate(len(token.content) for token in specials)),
        ),
    )


def tokens(tokenizer: Tokenizer) -> dict[str, int]:
    """Return the ids of all ordinary tokens."""
    return {
        token.decode("utf-8", "surrogateescape"): token_id for token_id, token in tokenizer.model.vocabulary.items()
    }
