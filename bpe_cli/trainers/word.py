"""Make a vocabulary of the most frequent words, for a model that looks words up (Hugging Face's ``WordLevel``).

What no rule cuts further is a word; what is not among the most frequent ones is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bpe_cli import _core
from bpe_cli.errors import UsageError
from bpe_cli.stages import (
    BertPreTokenizer,
    Decoder,
    Normalizer,
    PreTokenizer,
    Split,
    Whitespace,
    WhitespaceSplit,
    WordPieceDecoder,
)
from bpe_cli.stages.splitters import compile_splitter
from bpe_cli.trainers.base import Front
from bpe_cli.trainers.most_frequent import Choice, FrequentOptions, MostFrequent, check_options, number

Rule = Literal["whitespace", "punctuation", "space", "pattern"]

RULES: dict[Rule, PreTokenizer | None] = {
    "whitespace": Whitespace(),
    "punctuation": BertPreTokenizer(),
    "space": WhitespaceSplit(),
    "pattern": None,
}
"""What cuts text into words by each rule."""


@dataclass(frozen=True, slots=True)
class WordOptions(FrequentOptions):
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
        check_options(self, self.min_frequency)
        if self.rule not in (None, *RULES):
            raise UsageError(f"words are not cut by {self.rule!r}", hint=f"they are cut by {', '.join(RULES)}")
        if self.pattern == "" or (self.rule == "pattern" and self.pattern is None):
            raise UsageError("words need something to be cut by, and the pattern is none")
        if self.pattern is not None and self.rule not in (None, "pattern"):
            raise UsageError(f"words are cut by the rule {self.rule!r} or by a pattern, not by both")
        if self.pattern is not None:
            compile_splitter((self.pattern,))


class Word(MostFrequent[WordOptions]):
    """Number words."""

    Options = WordOptions
    noun = "word"
    counted = "words"

    def front(self, options: WordOptions) -> Front:
        """Cut text into words."""
        cut = RULES[options.rule or "whitespace"] if options.pattern is None else None
        return Front(options.normalizer, (cut or Split(options.pattern or ""),))

    def pick(self, counts: _core.Counts, options: WordOptions) -> Choice:
        """Choose the most frequent words.

        Raises:
            TrainingError: if there is none, or no room for one.
        """
        words = _core.most_frequent(counts, options.min_frequency, options.vocab_size)
        vocabulary = number((word for word, _ in words), options.contents, options.vocab_size)
        is_rare = options.min_frequency > 1 and len(vocabulary) < counts.unique
        return Choice(vocabulary, ("frequent enough" if is_rare else "",))

    def decoder(self, options: WordOptions) -> tuple[Decoder, ...]:
        """Return what puts a blank between words: none is kept, unless an expression may have kept them."""
        return () if options.pattern is not None else (WordPieceDecoder(cleanup=False),)


TRAINER = Word()
Options = WordOptions
