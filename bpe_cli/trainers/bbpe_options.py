"""The options of byte-level BPE, and what they mean together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bpe_cli.errors import UsageError
from bpe_cli.stages.patterns import PATTERNS, RUNS
from bpe_cli.stages.spelling import from_visible
from bpe_cli.trainers import parity, superwords
from bpe_cli.trainers.base import SplittingOptions, check_special_tokens
from bpe_cli.trainers.bbpe_rules import COMPAT, Compat, Rules


@dataclass(frozen=True, slots=True)
class BbpeOptions(SplittingOptions):
    """Define what to train.

    Attributes:
        vocab_size: Tokens to end with, special ones and bytes counted.
        pattern: The split pattern (an expression); None for the default of ``compat``, ``""`` for none.
        prefix_space: Whether a space is put before a document that does not begin with one.
        min_frequency: A pair that occurs less often is not merged; None for the default of ``compat``, and 2 with
            ``parity``.
        special_tokens: Their texts. Where they stand in the corpus they are text like any other,
            unless ``split_special``.
        split_special: Whether special tokens in the corpus are removed and split the text.
        initial_alphabet: ``all`` 256 bytes, so that every text can be encoded, or those ``seen``. None: ``all``,
            or with ``course`` those seen.
        max_token_length: Most bytes in a token, or None. (Hugging Face's ``max_token_length`` of N
            gives what N - 1 gives here, for N of 3 and more: it stops before N.)
        character_boundaries: Whether a token must be whole characters, or the beginning of a single one
            (Land and Arnett, arXiv:2505.24689).
        max_digits: Most numeric characters (Unicode category N) in a token, or None; 1 keeps digits apart.
        boundary_mark: A text in the corpus that no merge crosses, and that is left out; empty for none.
            Encoding is not changed by it.
        boundaries: Segmented words (``un|do``): no merge crosses their ``|`` where the word is a piece of
            the corpus, with a space before it or not. Encoding is not changed by them.
        superwords: Whether a second stage learns tokens of several words (SuperBPE, arXiv:2503.13423). Text is then
            learnt from line by line.
        switch: How many merges stay inside words, as ``pattern`` cuts them; the second stage takes them over. None:
            nine tenths of the vocabulary are there when it begins. ``auto``: as many as leave the last merges of both
            stages equally frequent.
        run_pattern: The split pattern of the second stage, with which the tokenizer encodes; None for the paper's.
        max_words: Most words in a token of the second stage, or None.
        never_within: Texts that no token of the second stage contains.
        parity: Whether the language that is compressed worst chooses each merge (Parity-aware BPE, arXiv:2508.04796).
            Corpora with names are the languages.
        window: How many choices are remembered: a language that has made too many of them is passed over. None: no
            language is.
        window_alpha: A language may have made ``window_alpha / languages`` of the choices in the window. If all choose
            merges together, that counts as one language more.
        shared_merges: How many merges all languages choose together, before the others.
        pass_over: Whether a language that has no frequent pair left is passed over, and the others go on choosing.
            Otherwise training ends when its turn comes, as in the authors' code.
        ratios: For each language, what its compression is divided by, where no development sets say which is the
            worst.
        preload: Merges to begin with, as in ``merges.txt``: two texts in the visible alphabet, a space between them.
        languages: The names of the languages, in the order of their corpora.
        compat: Whose rules to follow.
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
    max_words: int | None = 4
    never_within: tuple[str, ...] = (": ",)
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
