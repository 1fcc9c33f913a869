"""The options of byte-level BPE, and what they mean together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bpe_cli.errors import UsageError
from bpe_cli.stages.patterns import NEVER_IN_RUNS, PATTERNS, RUN_WORDS, RUNS
from bpe_cli.stages.spelling import from_visible
from bpe_cli.trainers import parity, superwords
from bpe_cli.trainers.base import SplittingOptions, check_special_tokens
from bpe_cli.trainers.bbpe_rules import COMPAT, Compat, Rules


@dataclass(frozen=True, slots=True)
class BbpeOptions(SplittingOptions):
    """Define what to train.

    Attributes:
        vocab_size: The size of the vocabulary, including special tokens and bytes.
        pattern: The split pattern, a regular expression; ``""`` does not split. If None, the default of ``compat``.
        prefix_space: Whether to put a space before each document that does not begin with one.
        min_frequency: Pairs that occur less often are not merged. If None, the default of ``compat``, or 2 with
            ``parity``.
        special_tokens: The texts of the special tokens. Where they occur in the corpus, they are ordinary text, unless
            ``split_special`` is set.
        split_special: Whether to remove special tokens from the corpus and split the text there.
        initial_alphabet: ``all`` for all 256 bytes, so that every text can be encoded; ``seen`` for those that occur.
            If None, ``all``, or ``seen`` with ``course``.
        max_token_length: The maximum length of a token in bytes. If None, there is no limit. (Hugging Face's
            ``max_token_length`` of N corresponds to N - 1 here, for N of 3 or more: it stops before N.)
        character_boundaries: Whether each token must consist of whole characters, or of the beginning of a single one
            (Land and Arnett, arXiv:2505.24689).
        max_digits: The maximum number of numeric characters (Unicode category N) in a token; None for no limit, 1 to
            keep digits apart.
        boundary_mark: A text in the corpus that no merge crosses, and that is removed; empty for none. It does not
            affect encoding.
        boundaries: Segmented words (``un|do``): no merge crosses their ``|`` where the word is a piece of the corpus,
            with or without a space before it. They do not affect encoding.
        superwords: Whether a second stage learns tokens of several words (SuperBPE, arXiv:2503.13423). Training then
            goes line by line.
        switch: The number of merges in the first stage, which stay inside words, as ``pattern`` cuts them; the second
            stage keeps them. If None, the second stage begins at nine tenths of the vocabulary. ``auto`` finds the
            number that makes the last merges of both stages equally frequent.
        run_pattern: The split pattern of the second stage, which the tokenizer encodes with; None for the paper's.
        max_words: The maximum number of words in a token of the second stage; None for no limit.
        never_within: Texts that no token of the second stage contains.
        parity: Whether the language that is compressed worst chooses each merge (Parity-aware BPE, arXiv:2508.04796).
            Named corpora are the languages.
        window: How many choices to remember: a language that made too many of them is passed over. If None, no
            language is.
        window_alpha: A language may have made ``window_alpha / languages`` of the choices in the window. Merges that
            all languages choose together count as one more language.
        shared_merges: How many merges all languages choose together, before the others.
        pass_over: Whether to pass over a language that has no frequent pair left, so that the others go on choosing.
            Otherwise, training ends when it is that language's turn, as in the authors' code.
        ratios: For each language, the number that its compression is divided by; used if no development sets tell
            which language is the worst.
        preload: Merges to begin with, as in ``merges.txt``: two texts in the visible alphabet with a space between
            them.
        languages: The names of the languages, in the order of their corpora.
        compat: The library whose rules to follow.
    """

    vocab_size: int
    pattern: str | None = None
    prefix_space: bool = False
    min_frequency: int | None = None
    special_tokens: tuple[str, ...] = ()
    split_special: bool = False
    initial_alphabet: Literal["all", "seen"] | None = None
    max_token_length: int | None = None
    character_boundaries: bool = False
    max_digits: int | None = None
    boundary_mark: str = ""
    boundaries: tuple[str, ...] = ()
    superwords: bool = False
    switch: int | Literal["auto"] | None = None
    run_pattern: str | None = None
    max_words: int | None = RUN_WORDS
    never_within: tuple[str, ...] = NEVER_IN_RUNS
    parity: bool = False
    window: int | None = None
    window_alpha: float = 2.0
    shared_merges: int = 0
    pass_over: bool = False
    ratios: tuple[float, ...] = ()
    preload: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    compat: Compat = "hf"

    def __post_init__(self) -> None:
        if self.compat not in COMPAT:
            raise UsageError(f"byte-level BPE has no rules called {self.compat!r}", hint=f"it has {', '.join(COMPAT)}")
        if self.max_digits is not None and self.max_digits < 0:
            raise UsageError("max_digits must be 0 or more")
        check_special_tokens(self.special_tokens)
        superwords.check(self)
        parity.check(self)
        for content in self.special_tokens:
            spelt = from_visible(content) if self.compat == "hf" else None
            if spelt not in (None, content.encode("utf-8", "replace")):
                raise UsageError(
                    f"the special token {content!r} is also how tokenizer.json writes the bytes {spelt!r}",
                    hint="Hugging Face's rules make one token of the two, which loses text; give it another name",
                )

    @property
    def rules(self) -> Rules:
        """The rules of ``compat``."""
        return COMPAT[self.compat]

    @property
    def alphabet(self) -> Literal["all", "seen"]:
        """The bytes that are tokens from the start."""
        return self.initial_alphabet or self.rules.alphabet

    @property
    def patterns(self) -> tuple[str, ...]:
        """The split patterns to learn words with: one, or none."""
        pattern = PATTERNS[self.rules.pattern].regex if self.pattern is None else self.pattern
        return (pattern,) if pattern else ()

    @property
    def run_patterns(self) -> tuple[str, ...]:
        """The split patterns to encode with: those of the last stage."""
        if not self.superwords:
            return self.patterns
        pattern = RUNS if self.run_pattern is None else self.run_pattern
        return (pattern,) if pattern else ()

    @property
    def minimum(self) -> int:
        """How often a pair must occur to be merged, at least 1."""
        usual = parity.MIN_FREQUENCY if self.parity else self.rules.min_frequency
        return max(1, usual if self.min_frequency is None else self.min_frequency)
