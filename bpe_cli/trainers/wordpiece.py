"""Train WordPiece: counts of words -> a vocabulary of words and parts of words -> a tokenizer.

Schuster and Nakajima 2012 ("Japanese and Korean Voice Search"), with BERT's stages and special tokens
(arXiv:1810.04805). Google never published its trainer. What goes by the name are three rules, which give
three vocabularies: ``rule`` says which. All of them are encoded in the same way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import (
    BertNormalizer,
    BertPreTokenizer,
    Normalizer,
    PreTokenizer,
    SpecialToken,
    WordPiece,
    WordPieceDecoder,
)
from bpe_cli.stages.counting import Cutter
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.core_arguments import options_json
from bpe_cli.support.messages import no_pair, plural
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers.base import Front, Progress, SplittingOptions, Trained, Trainer, check_special_tokens
from bpe_cli.trainers.counts import cut_tokens, every_item, refuse_nothing, small_texts
from bpe_cli.trainers.dictionary import read_dictionary, read_pieces

if TYPE_CHECKING:
    from bpe_cli.teaching.steps import Steps

Rule = Literal["frequency", "score", "tensorflow"]

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
"""BERT's, in the order of Hugging Face's trainer."""

# What TensorFlow Text's learner does unless told otherwise, and nobody tells it.
_MAX_FREQUENCY = 10_000_000
_ITERATIONS = 4
_MAX_WORD_LENGTH = 50
_MAX_WORDS = 5_000_000

_STRAY = re.compile("[\udc80-\udcff]")  # how Python reads a byte that is no part of UTF-8

_MIN_FREQUENCY: dict[Rule, int] = {"frequency": 2, "score": 5, "tensorflow": 10}


@dataclass(frozen=True, slots=True)
class WordPieceOptions(SplittingOptions):
    """Define what to train.

    Attributes:
        vocab_size: The size of the vocabulary, including special tokens and letters.
        rule: ``frequency`` merges the most frequent pair, as Hugging Face's trainer does (this is BPE under another
            name); ``score`` merges the pair with the highest count(pair) / (count(left) * count(right)), as Hugging
            Face's course does; ``tensorflow`` keeps frequent strings, the longest first, as TensorFlow Text does.
            None for the rule of ``compat``, or ``frequency``.
        min_frequency: Pairs that occur less often are not merged; with ``tensorflow``, the lowest threshold. If None,
            2, or 5 with ``score`` (which prefers rare pairs), or 10 with ``tensorflow``.
        tie: Which of several pairs with the highest ``score`` is merged: the ``most-frequent`` one, and among equally
            frequent ones the first in byte order; or the ``first-seen``, as in the course.
        limit_alphabet: The maximum number of letters that get tokens, the most frequent ones; None for all, or for
            1,000 with ``compat`` or ``tensorflow``.
        initial_alphabet: ``all``: each letter gets a token for the beginning of a word and one for inside a word, so
            that no known letter makes a word unknown. ``seen``: only where it occurs (with ``frequency``, it always
            gets one for the beginning, as in Hugging Face's trainer). If None, ``all``, or ``seen`` with ``hf``.
            ``tensorflow`` always uses ``all``.
        continuing_subword_prefix: The mark before tokens inside a word.
        special_tokens: The texts of the special tokens, which get the first ids; ``unk_token`` must be one of them.
        unk_token: The token for words that cannot be spelt.
        split_special: Whether to remove special tokens from the corpus and split the text there.
        max_input_chars_per_word: Words with more characters are unknown.
        lowercase: Whether text is lowercased and loses its accents; not for a cased model.
        normalizer: The stages that rewrite text before it is split. If None, BERT's.
        pre_tokenizer: The stages that split text into words. If None, BERT's.
        dictionary: Whether the input has words with their counts instead of text: lines such as ``hug 10``, or JSON.
        compat: The library whose result to match: ``hf`` (tokenizers 0.23, whose own result differs from run to run,
            since it breaks ties inside words in hash order; ours may differ from it where words begin with
            ``continuing_subword_prefix``) or ``tensorflow`` (tensorflow-text).
    """

    vocab_size: int
    rule: Rule | None = None
    min_frequency: int | None = None
    tie: Literal["most-frequent", "first-seen"] = "most-frequent"
    limit_alphabet: int | None = None
    initial_alphabet: Literal["all", "seen"] | None = None
    continuing_subword_prefix: str = "##"
    special_tokens: tuple[str, ...] = SPECIAL_TOKENS
    unk_token: str = "[UNK]"
    split_special: bool = False
    max_input_chars_per_word: int = 100
    lowercase: bool = True
    normalizer: tuple[Normalizer, ...] | None = None
    pre_tokenizer: tuple[PreTokenizer, ...] | None = None
    dictionary: bool = False
    compat: Literal["hf", "tensorflow"] | None = None

    def __post_init__(self) -> None:
        if self.compat not in (None, "hf", "tensorflow"):
            raise UsageError(f"WordPiece has no rules called {self.compat!r}", hint="it has hf, tensorflow")
        check_special_tokens(self.special_tokens)
        if self.unk_token not in self.special_tokens:
            raise UsageError(
                f"the unknown token {self.unk_token!r} is not a special token",
                hint="a word that cannot be spelt becomes it; "
                "give it with `special_tokens`, or name another as unk_token",
            )
        rule_of = {"hf": "frequency", "tensorflow": "tensorflow"}
        if self.compat is not None and self.learner != rule_of[self.compat]:
            raise UsageError(f'rule={self.learner} is not the rule of `compat="{self.compat}"`: give one or the other')
        if self.max_input_chars_per_word < 1 or (self.limit_alphabet is not None and self.limit_alphabet < 1):
            raise UsageError("max_input_chars_per_word and limit_alphabet are at least 1")

    @property
    def learner(self) -> Rule:
        """The rule to follow."""
        return self.rule or ("tensorflow" if self.compat == "tensorflow" else "frequency")

    @property
    def minimum(self) -> int:
        """How often a pair or a token must occur, at least 1."""
        return max(1, _MIN_FREQUENCY[self.learner] if self.min_frequency is None else self.min_frequency)

    @property
    def most_letters(self) -> int | None:
        """How many letters have a token; None for all."""
        usual = 1000 if self.compat or self.learner == "tensorflow" else None
        return usual if self.limit_alphabet is None else self.limit_alphabet

    @property
    def has_all_letters(self) -> bool:
        """Whether each letter has two tokens, wherever it occurs."""
        return (self.initial_alphabet or ("seen" if self.compat == "hf" else "all")) == "all"


@dataclass(frozen=True, slots=True)
class Alphabet:
    """The letters of a corpus as they are written, sorted: at the beginning of a word, and inside one."""

    beginning: tuple[str, ...]
    inside: tuple[str, ...]

    def __len__(self) -> int:
        return len({*self.beginning, *self.inside})


def _front(options: WordPieceOptions) -> Front:
    bert = (BertNormalizer(lowercase=options.lowercase),)
    return Front(
        bert if options.normalizer is None else options.normalizer,
        (BertPreTokenizer(),) if options.pre_tokenizer is None else options.pre_tokenizer,
    )


def _words(counts: _core.Counts, options: WordPieceOptions) -> _core.Counts:
    """Read lines of a dictionary, if that is what was counted."""
    return read_dictionary(counts, front=_front(options)) if options.dictionary else counts


def alphabet_of(counts: _core.Counts, options: WordPieceOptions) -> Alphabet:
    """Find the letters of a corpus that spell words. A byte that is not part of UTF-8 is not a letter."""
    found = _core.character_counts(counts)
    letters = found[: options.most_letters]
    if options.compat == "hf":
        # Theirs looks letters up in a vocabulary that has the special tokens already.
        letters += [letter for letter in found[len(letters) :] if letter[0] in options.special_tokens]
    first = {letter for letter, _, begins, _ in letters if begins}
    inside = {letter for letter, *_, stands_inside in letters if stands_inside}
    if options.has_all_letters:
        first = inside = first | inside
    elif options.learner == "frequency":
        first |= inside
    prefix = options.continuing_subword_prefix
    return Alphabet(tuple(sorted(first)), tuple(prefix + letter for letter in sorted(inside)))


def _train_top_down(
    counts: _core.Counts, options: WordPieceOptions, alphabet: Alphabet, progress: Progress | None
) -> Trained:
    blob, ends, threshold = _core.train_top_down(
        counts,
        options_json(
            reserved=[content.encode() for content in options.special_tokens],
            continuing_subword_prefix=options.continuing_subword_prefix,
            vocab_size=options.vocab_size,
            min_frequency=options.minimum,
            max_frequency=_MAX_FREQUENCY,
            iterations=_ITERATIONS,
            max_word_length=_MAX_WORD_LENGTH,
            max_alphabet=options.most_letters or _core.MAX_TOKENS,
            max_words=_MAX_WORDS,
        ),
        progress,
    )
    tokens = cut_tokens(blob, ends)
    if len(tokens) > _core.MAX_TOKENS:
        raise TrainingError(
            f"no threshold gives {options.vocab_size} tokens, and the last one tried gives {len(tokens):,}",
            hint="raise `min_frequency`",
        )
    summary = (f"threshold {threshold:,}", f"{len(options.special_tokens)} special")
    missing = options.vocab_size - len(tokens)
    shortfall = None
    if not 0 <= 20 * missing <= options.vocab_size:
        shortfall = "no threshold gives as many, or up to 5% fewer"
    elif missing:
        shortfall = f"the threshold {threshold:,} is the first tried that gives as many, or up to 5% fewer"
    return Trained(_assemble(options, tokens, alphabet), summary, shortfall)


def initial_tokens(options: WordPieceOptions, alphabet: Alphabet) -> list[str]:
    """Return the tokens that exist before the first merge, by id: special ones, then letters.

    Letters are sorted as they are written by ``score``, as in the course; otherwise those of the
    beginning come first. A special token that is also a letter is one token.
    """
    letters: Sequence[str] = (*alphabet.beginning, *alphabet.inside)
    if options.learner == "score":
        letters = sorted(letters)
    return list(dict.fromkeys([*options.special_tokens, *letters]))


def _check_size(options: WordPieceOptions, initial: int, symbols: int) -> None:
    if options.vocab_size < initial:
        raise TrainingError(
            f"a vocabulary of {options.vocab_size} is smaller than its initial tokens: {symbols} symbols "
            f"and {len(options.special_tokens)} special",
            hint=f"ask for {initial} or more, or for fewer characters with `limit_alphabet=N`",
        )


def _assemble(options: WordPieceOptions, tokens: Sequence[bytes], alphabet: Alphabet) -> Tokenizer:
    letters = {symbol.encode() for symbol in (*alphabet.beginning, *alphabet.inside)}
    special = {content.encode(): token_id for token_id, content in enumerate(options.special_tokens)}
    # Text becomes a special token only where that is asked for, unless it is a letter as well.
    texts = [b"" if token in special and token not in letters else token for token in tokens]
    return Tokenizer(
        model=WordPiece(
            Vocabulary.from_tokens(texts),
            unk_id=special[options.unk_token.encode()],
            continuing_subword_prefix=options.continuing_subword_prefix,
            max_input_chars_per_word=options.max_input_chars_per_word,
        ),
        normalizer=_front(options).normalizer,
        pre_tokenizer=_front(options).pre_tokenizer,
        decoder=(WordPieceDecoder(options.continuing_subword_prefix),),
        special_tokens=tuple(SpecialToken(content, token_id) for content, token_id in special.items()),
        unicode_version=_core.UNICODE_VERSION,
        post_processor=_around(special),
    )


def _around(special: Mapping[bytes, int]) -> str | None:
    """Return BERT's post-processor as JSON; None if the vocabulary lacks its tokens."""
    ids = {content: special.get(content.encode()) for content in ("[SEP]", "[CLS]")}
    if None in ids.values():
        return None
    sep, cls = ([content, token_id] for content, token_id in ids.items())
    return json.dumps({"type": "BertProcessing", "sep": sep, "cls": cls}, separators=(",", ":"))


class WordPieceTrainer(Trainer[WordPieceOptions]):
    """Train WordPiece, by one of three rules."""

    Options = WordPieceOptions

    def takes_lines(self, options: WordPieceOptions) -> bool:
        """Return whether documents are lines: those of a dictionary are."""
        return options.dictionary

    def front(self, options: WordPieceOptions) -> Front:
        """Return the stages that text goes through: BERT's, unless others are given; none for a dictionary's lines."""
        return Front() if options.dictionary else _front(options)

    def cutter(self, options: WordPieceOptions) -> Cutter:
        """Compile the cutter of texts, or of a dictionary's lines; see that its words could be cut, too."""
        _front(options).compile()
        return super().cutter(options)

    def text_bytes(self, parts: Iterable[_core.Counts], options: WordPieceOptions) -> int:
        """Return the bytes of the words; of a dictionary's, each as often as it says."""
        if not options.dictionary:
            return super().text_bytes(parts, options)
        return sum(len(word) * number for word, number in read_pieces(every_item(parts), front=_front(options)))

    def train(
        self, counts: _core.Counts, options: WordPieceOptions, progress: Progress | None = None, threads: int = 1
    ) -> Trained:
        """Learn a vocabulary from counts of words; ``tensorflow`` reports thresholds tried in place of tokens."""
        counts = _words(counts, options)
        refuse_nothing(counts)
        if options.vocab_size > _core.MAX_TOKENS:
            raise UsageError(f"a vocabulary of {options.vocab_size} is larger than the {_core.MAX_TOKENS:,} that fit")
        alphabet = alphabet_of(counts, options)
        if options.learner == "tensorflow":
            return _train_top_down(counts, options, alphabet, progress)
        initial = initial_tokens(options, alphabet)
        _check_size(options, len(initial), len(alphabet))
        ids = {token: token_id for token_id, token in enumerate(initial)}
        encoded = [token.encode() for token in initial]
        if options.learner == "score":
            trained = _core.train_by_likelihood(
                counts,
                options_json(
                    initial=encoded,
                    symbols=sorted({ids[symbol] for symbol in (*alphabet.beginning, *alphabet.inside)}),
                    continuing_subword_prefix=options.continuing_subword_prefix.encode(),
                    vocab_size=options.vocab_size,
                    min_frequency=options.minimum,
                    tie=options.tie,
                ),
                progress,
            )
        else:
            trained = _core.train_bpe(
                counts,
                options_json(
                    initial=encoded,
                    symbols=[ids[symbol] for symbol in alphabet.beginning],
                    vocab_size=options.vocab_size,
                    min_frequency=options.minimum,
                    tie="lowest-ids",
                    by_character=True,
                    decoration={"prefix": options.continuing_subword_prefix.encode()},
                ),
                progress,
            )
        tokens = cut_tokens(*trained.tokens())
        summary = (
            plural(len(alphabet), "symbol"),
            plural(len(tokens) - len(initial), "word piece"),
            f"{len(options.special_tokens)} special",
        )
        shortfall = no_pair(options.minimum) if trained.exhausted else None
        return Trained(_assemble(options, tokens, alphabet), summary, shortfall)

    def untrained(self, options: WordPieceOptions) -> Tokenizer:
        """Return a tokenizer of the same kind that knows two letters: to see whether it could be written."""
        letters = Alphabet(("a", "b"), tuple(options.continuing_subword_prefix + letter for letter in "ab"))
        return _assemble(options, [token.encode() for token in initial_tokens(options, letters)], letters)

    def steps(self, counts: _core.Counts, options: WordPieceOptions) -> Steps:
        """Return the textbook's training, step by step."""
        from bpe_cli.teaching import bpe, wordpiece
        from bpe_cli.teaching.steps import ThresholdSearch

        prefix = options.continuing_subword_prefix
        counts = _words(counts, options)
        words = small_texts(counts)
        alphabet = alphabet_of(counts, options)
        initial = initial_tokens(options, alphabet)
        letters = [token for token in initial if token in {*alphabet.beginning, *alphabet.inside}]
        if options.learner == "score":
            return wordpiece.train(
                words,
                options.vocab_size,
                special=options.special_tokens,
                alphabet=letters,
                min_frequency=options.minimum,
                tie=options.tie,
                prefix=prefix,
            )
        if options.learner == "frequency":
            return bpe.train(
                wordpiece.spell(words, prefix=prefix, alphabet=letters),
                initial=initial,
                vocab_size=options.vocab_size,
                min_frequency=options.minimum,
                prefix=prefix,
            )
        tried = wordpiece.learn(
            {word: count for word, count in words.items() if not _STRAY.search(word)},
            options.vocab_size,
            reserved=options.special_tokens,
            min_frequency=options.minimum,
            max_alphabet=options.most_letters or _core.MAX_TOKENS,
            prefix=prefix,
        )
        return ThresholdSearch(tried, options.vocab_size)


TRAINER = WordPieceTrainer()
Options = WordPieceOptions
