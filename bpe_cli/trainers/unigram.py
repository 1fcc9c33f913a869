"""Train a unigram model: counts of words -> tokens with probabilities -> a tokenizer.

Kudo 2018 (arXiv:1804.10959). ``em`` begins with all frequent substrings, estimates their probabilities by
expectation maximisation and prunes what costs least; it gives the same model for any number of threads.
``textbook`` is the trainer of Hugging Face's course, which many tutorials repeat: for small corpora. What
SentencePiece gives for the same text is in ``sentencepiece``.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, get_args

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import (
    ByteFallback,
    Decoder,
    Metaspace,
    MetaspaceDecoder,
    Normalizer,
    PreTokenizer,
    SpecialToken,
    Unigram,
)
from bpe_cli.stages.spelling import BYTE_TEXTS
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.support.core_arguments import options_json
from bpe_cli.support.messages import plural
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import base
from bpe_cli.trainers.base import Front, Progress, Trained, Trainer, check_special_tokens, drawn, sample
from bpe_cli.trainers.counts import cut_tokens, refuse_nothing, small_texts
from bpe_cli.trainers.left_out import LeftOut

if TYPE_CHECKING:
    from bpe_cli.teaching.steps import Steps

Rule = Literal["em", "textbook"]
TEXTBOOK_SEEDS = 300
"""With how many tokens the course begins."""
TEXTBOOK_KEPT = 0.9
"""What share of the tokens a round of the course keeps."""
_EM_ONLY = frozenset((
    "character_coverage", "required_chars", "sub_iterations", "max_piece_length", "split_by_unicode_script",
    "split_by_number", "split_digits",
))  # fmt: skip
"""UnigramOptions of expectation maximisation that the course's rule has not."""
SEEDS, EXPECTATION, PRUNING = "seeds", "expectation", "pruning"
"""The steps of unigram training after which there can be too few tokens; the core names them."""
BYTES = tuple(text.decode() for text in BYTE_TEXTS)


@dataclass(frozen=True, slots=True)
class UnigramOptions(base.Options):
    """Define what to train.

    Attributes:
        vocab_size: The size of the vocabulary, including special tokens and bytes.
        rule: ``em`` for expectation maximisation, or ``textbook`` for the rule of Hugging Face's course.
        normalizer: The stages that rewrite text before it is split.
        pre_tokenizer: The stages that split text into words.
        special_tokens: The texts of the special tokens, which get the first ids after the unknown token.
        unk_token: The text of the unknown token, whose id is 0.
        byte_fallback: Whether characters without a token are spelt with 256 more tokens, one for each byte.
        character_coverage: The share of the text's characters that get tokens; the rarest get none.
        required_chars: Characters that get tokens however rare they are.
        seed_size: The maximum number of tokens to begin with; None for a million, or 300 with ``textbook``.
        shrinking_factor: The share of the tokens that each round keeps; None for 0.75, or 0.9 with ``textbook``.
        sub_iterations: Steps of expectation maximisation before each pruning.
        max_piece_length: The maximum number of characters in a token.
        split_by_unicode_script: Whether to keep characters of different scripts in different tokens.
        split_by_number: Whether to keep digits and letters in different tokens.
        split_digits: Whether each digit is a token of its own.
        input_sentence_size: The number of documents to draw as a sample to train on; None for all.
    """

    vocab_size: int
    rule: Rule = "em"
    normalizer: tuple[Normalizer, ...] = ()
    pre_tokenizer: tuple[PreTokenizer, ...] = (Metaspace(),)
    special_tokens: tuple[str, ...] = ()
    unk_token: str = "<unk>"
    byte_fallback: bool = False
    character_coverage: float = 0.9995
    required_chars: str = ""
    seed_size: int | None = None
    shrinking_factor: float | None = None
    sub_iterations: int = 2
    max_piece_length: int = 16
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_digits: bool = False
    input_sentence_size: int | None = None

    def __post_init__(self) -> None:
        if self.rule not in get_args(Rule):
            raise UsageError(
                f"a unigram model is not trained by {self.rule!r}", hint=f"it has {', '.join(get_args(Rule))}"
            )
        if self.input_sentence_size is not None and self.input_sentence_size < 1:
            raise UsageError("`input_sentence_size` must be 1 or more")
        for each in fields(self):
            if self.rule == "textbook" and each.name in _EM_ONLY and getattr(self, each.name) != each.default:
                raise UsageError(
                    f"{each.name} has no effect with rule=textbook, which takes all characters and substrings",
                    hint="leave one of the two out",
                )
        check_special_tokens(self.special_tokens)
        for content in self.special_tokens:
            if content == self.unk_token or (self.byte_fallback and content in BYTES):
                raise UsageError(
                    f"the model has a token {content!r} of its own", hint="leave it out of `special_tokens`"
                )
        check_special_tokens(self.reserved)

    @property
    def seeds(self) -> int:
        """The largest number of tokens to begin with."""
        return self.seed_size or (TEXTBOOK_SEEDS if self.rule == "textbook" else 1_000_000)

    @property
    def kept(self) -> float:
        """The share of the tokens that a round keeps."""
        usual = TEXTBOOK_KEPT if self.rule == "textbook" else 0.75
        return usual if self.shrinking_factor is None else self.shrinking_factor

    @property
    def dropped(self) -> float:
        """The share of the tokens that a round drops, as the decimal number that was meant: 0.1 for 0.9."""
        return round((1 - self.kept) * 1e9) / 1e9

    @property
    def reserved(self) -> tuple[str, ...]:
        """The texts of the tokens that are not learnt, by id: unknown, special, bytes."""
        return (self.unk_token, *self.special_tokens, *(BYTES if self.byte_fallback else ()))


STEPS_CHARACTERS = 200
"""Characters of a word up to which the textbook's training is shown: it keeps every part of each word."""
STEPS_LOOKED_UP = 1 << 24
"""Parts of words that it looks up at most in a round."""


def _refuse_long_words(words: Mapping[str, int]) -> None:
    longest = max(map(len, words), default=0)
    if longest > STEPS_CHARACTERS:
        raise UsageError(
            f"`steps` of the textbook's training is for words of up to {STEPS_CHARACTERS} characters, and one has "
            f"{longest:,}",
            hint="leave `steps` out, or cut the text into shorter words with a pre-tokenizer",
        )


def _refuse_much_work(words: Mapping[str, int], tokens: Mapping[str, int]) -> None:
    """Refuse a training that cuts long words anew without each of many tokens in them."""
    longest = max(map(len, tokens), default=0)
    looked_up = sum(len(word) * min(len(word), longest) * sum(token in word for token in tokens) for word in words)
    if looked_up > STEPS_LOOKED_UP:
        raise UsageError(
            f"`steps` of the textbook's training would look up {looked_up:,} parts of words in its first round, more "
            f"than {STEPS_LOOKED_UP:,}",
            hint="leave `steps` out, or train on a sample",
        )


def _shortfall(options: UnigramOptions, trained: _core.UnigramTraining, learnt: int) -> str:
    """Explain why there are too few tokens."""
    if learnt + len(options.reserved) >= options.vocab_size:
        return "some of the learnt tokens are spelt like special ones, and left out"
    if options.rule == "textbook":
        asked = options.vocab_size - len(options.reserved)
        return why_fewer_by_textbook(trained.seeds, asked, options.seeds, f"{100 * options.dropped:g}%")
    return why_fewer(trained.short, trained.seeds - trained.characters, options.seeds)


def why_fewer(step: str | None, longer: int, seed_size: int) -> str:
    """Explain why unigram training left too few tokens.

    Args:
        step: After which step there were too few.
        longer: With how many substrings of several characters it began.
        seed_size: With how many it might.

    >>> why_fewer("seeds", 7, 7), why_fewer("seeds", 6, 7)
    ('training began with 7 substrings, as many as seed_size allows', 'no more substrings occur often enough')
    """
    if step == PRUNING:
        return "pruning leaves out all that no best segmentation needs, and that was more than the size asked for"
    if step == EXPECTATION:
        return (
            "expectation maximisation leaves out what is expected to occur less than half a time, and that was too much"
        )
    if longer >= seed_size:
        return f"training began with {plural(longer, 'substring')}, as many as seed_size allows"
    return "no more substrings occur often enough"


def why_fewer_by_textbook(seeds: int, asked: int, seed_size: int, dropped: str) -> str:
    """Explain why the course's unigram training left too few tokens.

    Args:
        seeds: With how many tokens it began.
        wanted: How many there were to be.
        seed_size: With how many it might begin.
        dropped: The share that each round leaves out.

    >>> why_fewer_by_textbook(19, 11, 300, "10%")
    'each round leaves out 10% of the tokens, and the last one went below the size'
    """
    if seeds >= asked:
        return f"each round leaves out {dropped} of the tokens, and the last one went below the size"
    if seeds >= seed_size:
        return f"training began with {plural(seeds, 'token')}, as many as seed_size allows"
    return "the corpus has no more substrings"


def _run(
    counts: _core.Counts,
    options: UnigramOptions,
    progress: Progress | None = None,
    threads: int = 1,
    *,
    record: bool = False,
) -> _core.UnigramTraining:
    """Let the core train."""
    try:
        return _core.train_unigram(counts, _core_options(options, threads, record=record), progress)
    except ValueError as error:
        raise refusal(error, covers=options.rule != "textbook") from error


def _core_options(options: UnigramOptions, threads: int, *, record: bool) -> bytes:
    if options.rule == "textbook":
        return options_json(
            textbook={
                "vocab_size": max(0, options.vocab_size - len(options.reserved)),
                "initial_size": options.seeds,
                "dropped": options.dropped,
            }
        )
    return options_json(
        em={
            "vocab_size": options.vocab_size,
            "reserved": len(options.reserved),
            "character_coverage": options.character_coverage,
            "required": options.required_chars,
            "seed_size": options.seeds,
            "shrinking_factor": options.kept,
            "sub_iterations": options.sub_iterations,
            "rules": {
                "max_length": options.max_piece_length,
                "split_by_whitespace": True,
                "split_by_unicode_script": options.split_by_unicode_script,
                "split_by_number": options.split_by_number,
                "split_digits": options.split_digits,
                "treat_whitespace_as_suffix": False,
                "allow_whitespace_only_pieces": False,
            },
            "single_precision": False,
            "threads": threads,
            "record": record,
        }
    )


def refusal(error: ValueError, covers: bool = True) -> TrainingError:
    """Describe an error of the core, and how to make room in a vocabulary that is too small."""
    if "is smaller than" not in str(error):
        return TrainingError(str(error))
    fewer = ", or for fewer characters with `character_coverage=X`" if covers else ""
    return TrainingError(str(error), hint=f"ask for a larger vocabulary{fewer}")


def _assemble(options: UnigramOptions, learnt: list[bytes], scores: list[float]) -> Tokenizer:
    """Put the tokens after the reserved ones; a learnt token with the spelling of a reserved one is left out."""
    reserved = options.reserved
    special = tuple(
        SpecialToken(content.encode(), token_id)
        for token_id, content in enumerate(reserved[: 1 + len(options.special_tokens)])
    )
    texts = [content.encode() if content in BYTES else b"" for content in reserved]
    taken = {content.encode() for content in reserved}
    kept = [(token, score) for token, score in zip(learnt, scores, strict=True) if token not in taken]
    kinds = bytes([2] + [3] * len(options.special_tokens) + [6] * (len(reserved) - len(special)) + [1] * len(kept))
    model = Unigram(
        Vocabulary.from_tokens([*texts, *(token for token, _ in kept)]),
        scores=array("d", [*(0.0 for _ in reserved), *(score for _, score in kept)]),
        unk_id=0,
        byte_fallback=options.byte_fallback,
        kinds=kinds,
    )
    return Tokenizer(
        model=model,
        normalizer=options.normalizer,
        pre_tokenizer=options.pre_tokenizer,
        special_tokens=special,
        decoder=_decoders(options),
    )


def _decoders(options: UnigramOptions) -> tuple[Decoder, ...]:
    bytes_first = (ByteFallback(),) if options.byte_fallback else ()
    marks = (
        MetaspaceDecoder(stage.replacement, stage.prepend_scheme, stage.split)
        for stage in options.pre_tokenizer
        if isinstance(stage, Metaspace)
    )
    return (*bytes_first, *marks)


class UnigramTrainer(Trainer[UnigramOptions]):
    """Train a unigram model, by one of two rules."""

    Options = UnigramOptions

    def takes_lines(self, options: UnigramOptions) -> bool:
        """Return whether documents are lines: for samples they are."""
        return options.input_sentence_size is not None

    def choose(self, blocks: Iterable[Block], options: UnigramOptions, left_out: LeftOut) -> Iterable[Block]:
        """Return the documents to learn from: all, or a sample of them."""
        return sample(blocks, options.input_sentence_size)

    def choosing(self, options: UnigramOptions) -> dict[str, int]:
        """Return of how many documents a sample is drawn."""
        return drawn(options.input_sentence_size)

    def front(self, options: UnigramOptions) -> Front:
        """Return the stages that text goes through before it is counted."""
        return Front(options.normalizer, options.pre_tokenizer)

    def train(
        self, counts: _core.Counts, options: UnigramOptions, progress: Progress | None = None, threads: int = 1
    ) -> Trained:
        """Learn a model from counts of words.

        The result does not depend on the threads.
        """
        refuse_nothing(counts)
        trained = _run(counts, options, progress, threads)
        reserved = options.reserved
        learnt = cut_tokens(*trained.tokens())
        tokenizer = _assemble(options, learnt, trained.scores)
        size = tokenizer.vocab_size
        return Trained(
            tokenizer,
            (
                plural(trained.characters, "character"),
                f"{plural(len(learnt) - trained.characters, 'longer token')} of {trained.seeds:,} substrings",
                f"{len(reserved)} reserved",
            ),
            _shortfall(options, trained, len(learnt)) if size < options.vocab_size else None,
        )

    def untrained(self, options: UnigramOptions) -> Tokenizer:
        """Return a tokenizer of the same kind with the reserved tokens alone."""
        return _assemble(options, [], [])

    def steps(self, counts: _core.Counts, options: UnigramOptions) -> Steps:
        """Return the training round by round, for small corpora, and then the vocabulary.

        The textbook's rule is told by the textbook, expectation maximisation by what the core did.

        Raises:
            UsageError: if the corpus is too large, or has words too long for the textbook.
        """
        from bpe_cli.teaching import unigram as teaching
        from bpe_cli.teaching.steps import Estimation, Pruning

        words = small_texts(counts)
        if options.rule == "textbook":
            _refuse_long_words(words)
            learnable = options.vocab_size - len(options.reserved)
            rounds: list[dict[str, int]] = []
            for counted in teaching.train(words, learnable, options.seeds, options.dropped):
                if not rounds:
                    _refuse_much_work(words, counted)
                rounds.append(counted)
            final = {token: -cost for token, cost in teaching.costs(rounds[-1]).items()} if rounds else {}
            return Pruning(words, rounds, options.reserved, final)
        trained = _run(counts, options, record=True)
        texts = (token.decode("utf-8", "surrogateescape") for token in cut_tokens(*trained.tokens()))
        learnt = zip(texts, trained.scores, strict=True)
        recorded = (
            (step, {token.decode("utf-8", "surrogateescape"): score for token, score in tokens})
            for step, tokens in trained.rounds()
        )
        return Estimation(words, recorded, options.reserved, dict(learnt))


TRAINER = UnigramTrainer()
Options = UnigramOptions
