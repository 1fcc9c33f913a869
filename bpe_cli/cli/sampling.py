"""The options that vary an encoding at random: what they mean together, and for which models."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer
    from bpe_cli.tokenizer.engine import Sampling


class DropoutMode(StrEnum):
    """Whose dropout."""

    paper = "paper"
    spm = "spm"


def sampling_of(
    dropout: float | None, mode: DropoutMode, sample: float | None, nbest: int, seed: int
) -> Sampling | None:
    """Read the options about sampling.

    Raises:
        UsageError: They contradict each other.
    """
    from bpe_cli.tokenizer.engine import Sampling

    if dropout is not None and sample is not None:
        raise UsageError("--dropout and --sample exclude each other", hint="dropout is for BPE, --sample for unigram")
    if nbest and sample is None:
        raise UsageError("--nbest is about --sample, which is missing", hint="as in --sample 0.1 --nbest 64")
    if mode != DropoutMode.paper and dropout is None:
        raise UsageError("--dropout-mode is about --dropout, which is missing", hint="as in --dropout 0.1")
    if dropout is not None:
        return Sampling("dropout" if mode == DropoutMode.paper else "lasting-dropout", dropout, seed=seed)
    return None if sample is None else Sampling("segmentation", sample, nbest, seed)


def check_sampling(model: Tokenizer, sampling: Sampling, *, spans: bool) -> None:
    """Make sure that a tokenizer's encodings can be varied so, and that all that is written is of what was drawn.

    Raises:
        UsageError: The model has no merges, or no probabilities; or spans are wanted.
    """
    from bpe_cli.stages import CharacterBpe, MergeBpe, RankBpe, ScoredBpe, Unigram

    kind = model.model.kind
    if sampling.way == "segmentation":
        if not isinstance(model.model, Unigram):
            raise UsageError(
                f"--sample draws by the probabilities of a unigram model, and this is {kind}",
                hint="--dropout varies what BPE makes of a text",
            )
    elif not isinstance(model.model, (CharacterBpe, MergeBpe, RankBpe, ScoredBpe)):
        raise UsageError(
            f"--dropout leaves out merges, and this is {kind}, which has none",
            hint="--sample varies what a unigram model makes of a text" if isinstance(model.model, Unigram) else None,
        )
    if spans:
        raise UsageError(
            "spans are found by encoding a text again, which would not give the tokens that were drawn",
            hint="leave spans out, or --dropout and --sample",
        )
