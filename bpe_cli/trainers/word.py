"""Make a vocabulary of the most frequent words, for a model that looks words up (Hugging Face's ``WordLevel``).

What no rule cuts further is a word; what is not among the most frequent ones is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import (
    BertPreTokenizer,
    Normalizer,
    PreTokenizer,
    Split,
    Whitespace,
    WhitespaceSplit,
    WordLevel,
    WordPieceDecoder,
)
from bpe_cli.stages.splitters import compile_splitter
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import most_frequent
from bpe_cli.trainers.base import Front, Progress, Trained, small

Rule = Literal["whitespace", "punctuation", "space", "pattern"]

RULES: dict[Rule, PreTokenizer | None] = {
    "whitespace": Whitespace(),
    "punctuation": BertPreTokenizer(),
    "space": WhitespaceSplit(),
    "pattern": None,
}
"""What cuts text into words by each rule."""


@dataclass(frozen=True, slots=True)
class WordOptions:
    """Define what to train.

    Attributes:
        vocab_size: Most tokens, special ones counted; None for no bound.
        rule: What cuts text into words: ``whitespace`` (each match of ``\\w+|[^\\w\\s]+``), ``punctuation``
            (white space and around each punctuation character, as BERT), ``space`` (white space alone), or
            the ``pattern``; None for that if there is one, else ``whitespace``.
        pattern: The expression; its matches are words, and so is what lies between them.
        min_frequency: A word that occurs less often is left out.
        normalizer: How text is rewritten before it is cut, in order.
        special_tokens: Their texts; they have the first ids.
        unk_token: What stands for a word that has no token; None makes such a one an error.
        split_special: Whether special tokens in the corpus are taken out and divide the text.
    """

    vocab_size: int | None = None
    rule: Rule | None = None
    pattern: str | None = None
    min_frequency: int = 1
    normalizer: tuple[Normalizer, ...] = ()
    special_tokens: tuple[str, ...] = ()
    unk_token: str | None = "<unk>"
    split_special: bool = False

    def __post_init__(self) -> None:
        most_frequent.check_options(self.vocab_size, self.min_frequency, self.special_tokens, self.unk_token)
        if self.rule not in (None, *RULES):
            raise UsageError(f"words are not cut by {self.rule!r}", hint=f"they are cut by {', '.join(RULES)}")
        if self.pattern == "" or (self.rule == "pattern" and self.pattern is None):
            raise UsageError("words need something to be cut by, and the pattern is none")
        if self.pattern is not None and self.rule not in (None, "pattern"):
            raise UsageError(f"words are cut by the rule {self.rule!r} or by a pattern, not by both")
        if self.pattern is not None:
            compile_splitter((self.pattern,))

    @property
    def contents(self) -> list[str]:
        """The texts of special tokens by id, the unknown one among them."""
        return most_frequent.special_contents(self.special_tokens, self.unk_token)


def documents(_: WordOptions) -> None:
    """Learn from documents as the user cuts them."""
    return


def front(options: WordOptions) -> Front:
    """Cut text into words."""
    cut = RULES[options.rule or "whitespace"] if options.pattern is None else None
    return Front(options.normalizer, (cut or Split(options.pattern or ""),))


def train(
    counts: _core.Counts,
    options: WordOptions,
    progress: Progress | None = None,  # noqa: ARG001  # it takes no time
    threads: int = 1,  # noqa: ARG001  # one is enough
) -> Trained:
    """Number the most frequent words: by count, falling, and of equals the one of lower bytes first.

    Raises:
        TrainingError: There is no text, or the vocabulary has no room for a word.
    """
    vocabulary = _choose(counts, options)
    return Trained(
        _assemble(options, vocabulary),
        most_frequent.summarise(vocabulary, "word", options.contents),
        most_frequent.shortfall(
            vocabulary,
            options.vocab_size,
            "word",
            "frequent enough" if options.min_frequency > 1 and len(vocabulary) < counts.unique else "",
        ),
    )


def _choose(counts: _core.Counts, options: WordOptions) -> Vocabulary:
    if counts.unique == 0:
        raise TrainingError("there is nothing to train on: the corpus has no words")
    words = _core.most_frequent(counts, options.min_frequency, options.vocab_size)
    return most_frequent.number((word for word, _ in words), options.contents, options.vocab_size)


def untrained(options: WordOptions) -> Tokenizer:
    """Return a tokenizer of this kind that knows one word."""
    return _assemble(options, Vocabulary.from_tokens([b""] * len(options.contents) + [b"a"]))


def _assemble(options: WordOptions, vocabulary: Vocabulary) -> Tokenizer:
    return Tokenizer(
        model=WordLevel(vocabulary, most_frequent.unk_id_of(options.contents, options.unk_token)),
        normalizer=options.normalizer,
        pre_tokenizer=front(options).pre_tokenizer,
        special_tokens=most_frequent.special_stages(options.contents),
        # Blanks are not kept: between words one comes back. An expression may have kept them.
        decoder=() if options.pattern is not None else (WordPieceDecoder(cleanup=False),),
    )


def steps(counts: _core.Counts, options: WordOptions) -> Iterator[str]:
    """Write the training out as lines of text."""
    return most_frequent.steps(small(counts), _choose(counts, options), options.contents)


Options = WordOptions
