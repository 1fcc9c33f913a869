"""Learn further merges from pieces that a tokenizer has segmented.

The core goes on with its training. What decides ties as tokenizer-extension does is ``continuing``, in Python.
"""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import Literal, NamedTuple

from bpe_cli import _core
from bpe_cli.errors import FormatError, TrainingError, UsageError
from bpe_cli.stages import CharacterBpe, MergeBpe, Model, RankBpe
from bpe_cli.stages.patterns import NEVER_IN_RUNS, RUN_WORDS, RUNS, RUNS_WITH_MARKS, covering
from bpe_cli.stages.spelling import to_visible
from bpe_cli.support.core_arguments import options_json
from bpe_cli.support.messages import no_pair
from bpe_cli.surgery.continuing import Continued
from bpe_cli.surgery.longer import Merging, listed
from bpe_cli.surgery.merge_rules import textless
from bpe_cli.surgery.operation import Progress, as_spelt, segmented
from bpe_cli.tokenizer import Tokenizer

Tie = Literal["lowest-ids", "first-seen", "largest-text", "smallest-text"]
"""Which of the most frequent pairs is merged; see ``trainers.bbpe.COMPAT``. ``smallest-text`` is tokenizer-extension's:
the smallest (left, right), written as GPT-2 writes bytes, and it is learnt in Python, slowly."""


class Learnt(NamedTuple):
    """What training added.

    Attributes:
        tokens: Texts of new tokens; their ids follow the tokenizer's.
        merges: (left, right, product), flat, in order.
        shortage: Why there are fewer tokens than wanted; empty if there are not.
    """

    tokens: list[bytes]
    merges: array[int]
    shortage: str


def learn(
    tokenizer: Tokenizer,
    counts: _core.Counts,
    number: int,
    *,
    min_frequency: int | None = None,
    tie: Tie = "lowest-ids",
    max_token_length: int | None = None,
    progress: Progress | None = None,
) -> Learnt:
    """Learn new tokens from pieces; ``extend`` says what the arguments are.

    Raises:
        TrainingError: if the corpus has no text.
        FormatError: if the model does not merge.
        InputError: if the model has no token for a byte of the corpus.
        UsageError: if the longest token is given for a tie that the core decides.
    """
    if counts.unique == 0:
        raise TrainingError("there is nothing to train on: the corpus has no text")
    if max_token_length is not None and tie != "smallest-text":
        raise UsageError('max_token_length needs tie="smallest-text" here')
    model = extensible(tokenizer.live_model)
    size = tokenizer.vocab_size
    if size > _core.MAX_TOKENS:
        raise UsageError(f"the ids run to {size - 1:,}, and ids of new tokens end at {_core.MAX_TOKENS - 1:,}")
    usual = 2 if isinstance(model, CharacterBpe) else 1
    minimum = max(1, usual if min_frequency is None else min_frequency)
    initial = _mergeable(tokenizer, model)
    reserved = _reserved(tokenizer, initial)
    prefix = model.continuing_subword_prefix.encode() if isinstance(model, CharacterBpe) else b""
    ids, ends, numbers = array("I"), array("Q"), array("Q")
    for _, occurrences, segment_ids, segment_ends in segmented(tokenizer.live_model, as_spelt(tokenizer, counts)):
        base = len(ids)
        ids.frombytes(segment_ids.cast("B"))
        ends.extend(base + end for end in segment_ends)
        numbers.extend(occurrences)
    if tie == "smallest-text":
        words = [ids[start:end].tolist() for start, end in pairwise([0, *ends])]
        written = to_visible if isinstance(model, MergeBpe) else bytes.decode
        continued = Continued(words, numbers, initial, reserved, prefix, max_token_length, written)
        tokens, merges, exhausted = continued.run(number, minimum, progress)
    else:
        trained = _core.resume_bpe(
            ids,
            ends,
            numbers,
            options_json(
                initial=initial,
                vocab_size=size + number,
                min_frequency=minimum,
                tie=tie,
                decoration={"prefix": prefix},
                vetoes={"reserved": sorted(reserved), **_superword_vetoes(tokenizer)},
            ),
            progress,
        )
        blob, token_ends = trained.tokens()
        tokens = [blob[start:end] for start, end in pairwise([0, *memoryview(token_ends)])][size:]
        merges, exhausted = array("I", memoryview(trained.merges).tobytes()), trained.exhausted
    reached = f"the vocabulary has {size + len(tokens):,} ids, not {size + number:,}"
    return Learnt(tokens, merges, f"{no_pair(minimum)}: {reached}" if exhausted else "")


def learns_superwords(tokenizer: Tokenizer) -> bool:
    """Return whether a tokenizer has superwords, by what cuts its text: then its new tokens are superwords too."""
    known = (RUNS, RUNS_WITH_MARKS, covering(RUNS), covering(RUNS_WITH_MARKS))
    return tokenizer.model.byte_level and any(runs in tokenizer.patterns for runs in known)


def _superword_vetoes(tokenizer: Tokenizer) -> dict[str, object]:
    """Return what superwords may not be, unless they were trained with other options, which no file tells."""
    if not learns_superwords(tokenizer):
        return {}
    return {"max_words": RUN_WORDS, "never_within": [text.encode() for text in NEVER_IN_RUNS]}


def extensible(model: Model) -> Merging:
    """Return a model whose merges are listed."""
    merging = listed(model)
    if merging is None:
        raise _not_extensible(model)
    return merging


def check_extensible(model: Model) -> None:
    """Check that a model is of a kind that can be trained further, without looking at its merges.

    Raises:
        FormatError: if it is not.
    """
    if not isinstance(model, (CharacterBpe, MergeBpe, RankBpe)):
        raise _not_extensible(model)


def _not_extensible(model: Model) -> FormatError:
    return FormatError(
        f"only BPE over bytes or characters can be trained further, and this is {model.kind}",
        hint='convert it to tokenizer.json, where scores become merges (`allow_loss=["sentencepiece-edges"]` if '
        "it has a table of rules), change that, and convert the result"
        if model.kind == "bpe-scores"
        else "train a new tokenizer on both corpora together",
    )


def _mergeable(tokenizer: Tokenizer, model: Merging) -> list[bytes]:
    """Return the texts of tokens by id; ``b""`` for those that merges are to leave alone."""
    tokens = [b""] * tokenizer.vocab_size
    left_alone = textless(tokenizer, model)
    for token_id, content in model.vocabulary.items():
        if token_id not in left_alone:
            tokens[token_id] = content
    return tokens


def _reserved(tokenizer: Tokenizer, initial: list[bytes]) -> set[bytes]:
    """Return the texts that no new token may have: those of tokens that merges leave alone, special ones among them.

    Text that spells one out, such as the byte token ``<0x0A>``, is not that token.
    """
    texts = {content for _, content in tokenizer.model.vocabulary.items()}
    return texts.union(token.content for token in tokenizer.special_tokens).difference(initial)
