"""Train BPE over the characters of words: counts of words -> merges -> a tokenizer.

Sennrich, Haddow and Birch 2016 (arXiv:1508.07909). The end of a word is marked, glued to its last
symbol (subword-nmt since 0.2, Hugging Face) or as a symbol of its own (the paper, subword-nmt 0.1).

Ids: ``unk_token`` and special tokens, characters by code point, characters with a prefix or suffix
sorted by their bytes, products in the order in which they were learnt.

Length: a quarter of it describes the options.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import CharacterBpe, Normalizer, PreTokenizer, SpecialToken
from bpe_cli.stages.counting import Cutter
from bpe_cli.stages.named_stages import WORDS, word_decoder, word_stages
from bpe_cli.stages.spelling import from_visible, to_visible
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.core_arguments import options_json
from bpe_cli.support.messages import no_pair, plural
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers.base import (
    Front,
    Progress,
    SplittingOptions,
    Trained,
    Trainer,
    check_special_tokens,
    merges_within,
    sized,
)
from bpe_cli.trainers.counts import (
    character_counts,
    counts_of,
    cut_tokens,
    edge_characters,
    every_item,
    kept_characters,
    mark_pieces,
    read_words,
    refuse_nothing,
    small_texts,
    texts,
)
from bpe_cli.trainers.dictionary import read_pieces

if TYPE_CHECKING:
    from bpe_cli.teaching.steps import Steps

Compat = Literal["subword-nmt", "hf"]


@dataclass(frozen=True, slots=True)
class BpeOptions(SplittingOptions):
    """Define what to train.

    Attributes:
        vocab_size: The size of the vocabulary, including special tokens and characters. If None, ``merges`` decides.
        merges: The number of merges to learn (subword-nmt's ``--symbols``); None for any number.
        total_symbols: Whether ``merges`` also counts the characters inside words and those at the ends of words
            (subword-nmt's ``--total-symbols``).
        min_frequency: Pairs that occur less often are not merged. If None, 2, or 1 with ``hf``.
        pre_tokenizer: The stages that split text into words. By default, only ASCII spaces and line ends split it.
        normalizer: The stages that rewrite text before it is split.
        end_of_word_suffix: The mark at the end of a word; empty for none.
        suffix_form: ``0.2`` attaches the mark to the last symbol, ``0.1`` makes it a separate symbol.
        continuing_subword_prefix: The mark before each symbol of a word except the first; empty for none.
        by_byte: Whether symbols are bytes instead of characters (subword-nmt's ``--byte``).
        special_tokens: The texts of the special tokens.
        split_special: Whether to remove special tokens from the corpus and split the text there.
        unk_token: The token for characters outside the alphabet; None drops them.
        fuse_unk: Whether several unknown characters in a row become one token.
        dictionary: Whether the input has words with their counts instead of text: lines such as ``low 5``, or JSON.
        initial_alphabet: ``all`` forms of every character (inside a word, at its end), so that it can be encoded
            in every position; ``seen`` for those that occur, as in Hugging Face's trainer. If None, ``all``, or
            ``seen`` with ``hf``.
        characters: Characters that are in the alphabet even if they do not occur.
        limit_alphabet: The maximum number of characters in the alphabet: the most frequent ones; among equals, those
            with lower code points. None for no limit.
        character_coverage: The share of all characters in the corpus that the alphabet covers; None for all of them.
        max_token_length: The maximum number of symbols in a token. If None, there is no limit.
        max_digits: The maximum number of numeric characters in a token; None for no limit.
        boundary_mark: A text in the corpus that no merge crosses, and that is removed; empty for none. It does not
            affect encoding.
        boundaries: Segmented words (``un|do``): no merge crosses their ``|`` where the word occurs in the corpus.
            They do not affect encoding.
        tie: Which of several equally frequent pairs is merged: the one with the ``lowest-ids``, the one with the
            ``largest-text``, or the ``first-seen``, as in textbooks. None for the rule of ``compat``, or
            ``lowest-ids``.
        compat: The library whose result to match: ``subword-nmt`` (among equally frequent pairs, the one with the
            largest texts) or ``hf`` (the lowest ids; only forms that occur; pairs that occur once are merged too).
    """

    vocab_size: int | None = None
    merges: int | None = None
    total_symbols: bool = False
    min_frequency: int | None = None
    pre_tokenizer: tuple[PreTokenizer, ...] = (WORDS,)
    normalizer: tuple[Normalizer, ...] = ()
    end_of_word_suffix: str = "</w>"
    suffix_form: Literal["0.2", "0.1"] = "0.2"
    continuing_subword_prefix: str = ""
    by_byte: bool = False
    special_tokens: tuple[str, ...] = ()
    split_special: bool = False
    unk_token: str | None = "<unk>"
    fuse_unk: bool = False
    dictionary: bool = False
    initial_alphabet: Literal["all", "seen"] | None = None
    characters: str = ""
    limit_alphabet: int | None = None
    character_coverage: float | None = None
    max_token_length: int | None = None
    max_digits: int | None = None
    boundary_mark: str = ""
    boundaries: tuple[str, ...] = ()
    tie: Literal["lowest-ids", "largest-text", "first-seen"] | None = None
    compat: Compat | None = None

    def __post_init__(self) -> None:
        if self.compat not in (None, "subword-nmt", "hf"):
            raise UsageError(f"BPE has no rules called {self.compat!r}", hint="it has subword-nmt, hf")
        if self.compat is not None and self.tie is not None:
            raise UsageError(f'`compat="{self.compat}"` has its own rule for ties, and tie={self.tie} is another')
        if self.vocab_size is None and self.merges is None:
            raise UsageError(
                "how many tokens or merges? one of the two is needed", hint="`vocab_size=32000`, `merges=32000`"
            )
        if (self.vocab_size or 0) > _core.MAX_TOKENS or (self.merges or 0) > _core.MAX_TOKENS:
            raise UsageError(f"more than {_core.MAX_TOKENS:,} tokens do not fit")
        if min(0 if each is None else each for each in (self.merges, self.limit_alphabet, self.max_digits)) < 0:
            raise UsageError("merges, limit_alphabet and max_digits must be 0 or more")
        if self.total_symbols and self.merges is None:
            raise UsageError("total_symbols needs a number of merges")
        if self.character_coverage is not None and not 0 < self.character_coverage <= 1:
            raise UsageError(
                f"a character coverage of {self.character_coverage} is not a share: it must be over 0 and at most 1"
            )
        if self.suffix_form == "0.1" and not self.end_of_word_suffix:
            raise UsageError("suffix_form=0.1 makes end_of_word_suffix a symbol of its own, and that is empty")
        if self.suffix_form == "0.1" and self.continuing_subword_prefix:
            raise UsageError(
                "suffix_form=0.1 makes the end of a word a symbol of its own, and a continuing_subword_prefix would "
                "stand before each symbol but the first",
                hint="suffix_form=0.2 goes with a prefix, as in Hugging Face's library",
            )
        if self.by_byte and self.pre_tokenizer != (WORDS,):
            raise UsageError("by_byte cannot be used with `pre_tokenizer` or `pattern`: such words are cut at blanks")
        if self.by_byte and self.continuing_subword_prefix:
            raise UsageError("by_byte cannot be used with continuing_subword_prefix: words of bytes have no prefix")
        check_special_tokens(self.special_tokens)
        check_special_tokens(self.specials)

    @property
    def specials(self) -> tuple[str, ...]:
        """The texts of all special tokens in order of id: unknown first, unless its place is given."""
        unknown = () if self.unk_token is None or self.unk_token in self.special_tokens else (self.unk_token,)
        return (*unknown, *self.special_tokens)

    @property
    def minimum(self) -> int:
        """How often a pair must occur to be merged, at least 1."""
        usual = 1 if self.compat == "hf" else 2
        return max(1, usual if self.min_frequency is None else self.min_frequency)

    @property
    def tie_rule(self) -> Literal["lowest-ids", "largest-text", "first-seen"]:
        """Which of the most frequent pairs is merged."""
        return self.tie or ("largest-text" if self.compat == "subword-nmt" else "lowest-ids")

    @property
    def unknown_separates(self) -> bool:
        """Whether no merge crosses a character outside the alphabet, since encoding puts ``unk_token`` there."""
        return self.unk_token is not None and self.compat != "hf"

    @property
    def all_forms(self) -> bool:
        """Whether every character is a token in all of its forms."""
        return (self.initial_alphabet or ("seen" if self.compat == "hf" else "all")) == "all"


def _shortfall(options: BpeOptions, size: int, *, exhausted: bool, bounded: bool) -> str | None:
    """Explain why there are fewer tokens, or merges, than requested."""
    if options.vocab_size is not None and size > options.vocab_size:
        return "characters inside words and at their ends are separate tokens, and these alone are more than that"
    if exhausted:
        return no_pair(
            options.minimum,
            unit="byte" if options.by_byte else "character",
            max_token_length=options.max_token_length,
            max_digits=options.max_digits,
            bounded=bounded,
        )
    if options.vocab_size is None or size >= options.vocab_size:
        return None
    return f"there are as many merges as asked for (merges={options.merges})"


def _reserved(options: BpeOptions, initial: list[bytes]) -> list[bytes]:
    """Return the products that would be written like special tokens, unless they are those."""
    written = (from_visible(content) if options.by_byte else content.encode() for content in options.specials)
    return [text for text in written if text and text not in initial]


def _most_merges(words: _core.Counts, options: BpeOptions) -> int | None:
    if options.merges is None or not options.total_symbols:
        return options.merges
    return max(0, options.merges - edge_characters(texts(words, options.by_byte, options.boundary_mark)))


def initial_tokens(words: _core.Counts, options: BpeOptions) -> tuple[list[bytes], list[int]]:
    """Return the tokens that exist before the first merge.

    A special token can be a character; under Hugging Face's rules it can also be what merges make.

    Returns:
        Their bytes by id (``b""`` for a special token that no merge makes), and the ids of the alphabet.
    """
    named = options.compat == "hf"
    initial = [content.encode() if named or len(content) == 1 else b"" for content in options.specials]
    present = {token: token_id for token_id, token in enumerate(initial) if token}
    alphabet = _alphabet(words, options)
    for symbol in alphabet:
        if present.setdefault(symbol, len(initial)) == len(initial):
            initial.append(symbol)
    symbols = [present[symbol] for symbol in alphabet]
    if options.all_forms:
        prefix, suffix = options.continuing_subword_prefix.encode(), options.end_of_word_suffix.encode()
        forms = {before + symbol + after for symbol in alphabet for before in (b"", prefix) for after in (b"", suffix)}
        if options.suffix_form == "0.1":
            forms = {suffix}
        initial += sorted(forms - present.keys())
    return initial, symbols


def _alphabet(words: _core.Counts, options: BpeOptions) -> list[bytes]:
    """Return the symbols, undecorated, in order."""
    if options.by_byte and options.all_forms:
        return [bytes([byte]) for byte in range(256)]
    counted = character_counts(texts(words, options.by_byte, options.boundary_mark))
    kept = kept_characters(counted, options.limit_alphabet, options.character_coverage, options.characters)
    if options.compat == "hf" and not options.by_byte:
        # Theirs looks characters up in a vocabulary that has the special tokens already.
        kept += [character for character in sorted(counted.keys() - set(kept)) if character in options.specials]
    return [character.encode("latin-1" if options.by_byte else "utf-8") for character in kept]


def _front(options: BpeOptions) -> Front:
    normalizer, pre_tokenizer = word_stages(options.by_byte)
    return Front((*options.normalizer, *normalizer), pre_tokenizer if options.by_byte else options.pre_tokenizer)


def _words(counts: _core.Counts, options: BpeOptions) -> _core.Counts:
    """Return counts of words."""
    return counts_of(_read([counts], options)) if options.dictionary or options.by_byte else counts


def _read(parts: Iterable[_core.Counts], options: BpeOptions) -> Iterator[tuple[bytes, int]]:
    """Read lines of a dictionary, and visible characters as the bytes they spell, if that is what was counted."""
    items = every_item(parts)
    if options.dictionary:
        items = read_pieces(items, options.end_of_word_suffix, _front(options))
    if not options.by_byte:
        return items
    return ((from_visible(piece.decode()) or piece, number) for piece, number in items)


def _assemble(
    options: BpeOptions, tokens: list[bytes], symbols: list[int], merges: list[tuple[int, int, int]]
) -> Tokenizer:
    """Make a tokenizer; of a merge that was learnt twice the first counts, in Hugging Face's the last."""
    specials = options.specials
    used = {*symbols, *(token_id for merge in merges for token_id in merge)}
    ordinary = [
        token if token_id >= len(specials) or token_id in used else b"" for token_id, token in enumerate(tokens)
    ]
    if options.by_byte:
        ordinary = [_visible(token, options.end_of_word_suffix.encode()) for token in ordinary]
    last = options.compat == "hf"
    kept = list(dict.fromkeys(reversed(merges) if last else merges))
    model = CharacterBpe(
        Vocabulary.from_tokens(ordinary),
        Merges.from_pairs(reversed(kept) if last else kept),
        unk_id=None if options.unk_token is None else specials.index(options.unk_token),
        fuse_unk=options.fuse_unk,
        continuing_subword_prefix=options.continuing_subword_prefix,
        end_of_word_suffix=options.end_of_word_suffix,
        separate_suffix=options.suffix_form == "0.1",
    )
    front = _front(options)
    return Tokenizer(
        model=model,
        normalizer=front.normalizer,
        pre_tokenizer=front.pre_tokenizer,
        decoder=word_decoder(options.continuing_subword_prefix, options.end_of_word_suffix, options.by_byte),
        special_tokens=tuple(SpecialToken(content.encode(), token_id) for token_id, content in enumerate(specials)),
        unicode_version=_core.UNICODE_VERSION,
    )


def _visible(token: bytes, suffix: bytes) -> bytes:
    """Write a token's bytes as visible characters; its suffix is text already."""
    stem = token[: len(token) - len(suffix)] if suffix and token.endswith(suffix) else token
    return to_visible(stem).encode() + token[len(stem) :]


def _alphabet_in_words(options: BpeOptions, symbols: int, initial: int) -> str:
    """Describe the tokens before the first merge that are not special: characters, which can have several forms."""
    forms, noun = initial - len(options.specials), "byte" if options.by_byte else "character"
    return f"{plural(forms, 'form')} of {plural(symbols, noun)}" if forms > symbols else plural(forms, noun)


def _check_size(size: int | None, options: BpeOptions, initial: list[bytes]) -> None:
    """Check that the vocabulary has room for the tokens that exist before the first merge."""
    if size is None or size >= len(initial):
        return
    forms = plural(len(initial) - len(options.specials), "byte" if options.by_byte else "character")
    raise TrainingError(
        f"a vocabulary of {size} is smaller than its initial tokens: "
        f"{forms} with what is written around them and {len(options.specials)} special",
        hint=f"ask for {len(initial)} or more, or for fewer characters with `limit_alphabet=N`",
    )


class Bpe(Trainer[BpeOptions]):
    """Train BPE over the characters, or bytes, of words."""

    Options = BpeOptions

    def takes_lines(self, options: BpeOptions) -> bool:
        """Return True: it learns from lines."""
        return True

    def front(self, options: BpeOptions) -> Front:
        """Return the stages that text goes through; lines of a dictionary are counted as they are."""
        return Front() if options.dictionary else _front(options)

    def cutter(self, options: BpeOptions) -> Cutter:
        """Compile the cutter of texts, or of a dictionary's lines; see that its words could be cut, too."""
        _front(options).compile()
        return super().cutter(options)

    def text_bytes(self, parts: Iterable[_core.Counts], options: BpeOptions) -> int:
        """Return the bytes of the words; of a dictionary's, each as often as it says."""
        if not (options.dictionary or options.by_byte):
            return super().text_bytes(parts, options)
        return sum(len(word) * number for word, number in _read(parts, options))

    def nests(self, options: BpeOptions) -> bool:
        """Return True: the merges of a smaller vocabulary are the first ones of a larger."""
        return True

    def train(
        self, counts: _core.Counts, options: BpeOptions, progress: Progress | None = None, threads: int = 1
    ) -> Trained:
        """Learn merges from counts of words; of lines, if the options say ``dictionary``.

        Raises:
            InputError: if a line of a dictionary is not a word and its count.
        """
        return next(self._trained(counts, options, (options.vocab_size,), progress))

    def train_sizes(
        self,
        counts: _core.Counts,
        options: BpeOptions,
        sizes: Sequence[int],
        progress: Progress | None = None,
        threads: int = 1,
    ) -> Iterator[Trained]:
        """Learn merges once, for the largest size, and yield the beginning of them for each size."""
        return self._trained(counts, options, sizes, progress)

    def _trained(
        self, counts: _core.Counts, options: BpeOptions, sizes: Sequence[int | None], progress: Progress | None
    ) -> Iterator[Trained]:
        """Yield a tokenizer of each size; one of None has as many tokens as there are."""
        words = _words(counts, options)
        refuse_nothing(words)
        initial, symbols = initial_tokens(words, options)
        for size in sizes:
            _check_size(size, options, initial)
        marked, mark = mark_pieces(words, read_words(options.boundaries), options.boundary_mark)
        prefix, suffix = options.continuing_subword_prefix.encode(), options.end_of_word_suffix.encode()
        begun: list[int] = []

        def report(done: int, total: int) -> None:
            begun.append(done)  # the first time, the tokens before the first merge: forms that are seen among them
            if progress is not None:
                progress(done, total)

        trained = _core.train_bpe(
            marked,
            options_json(
                initial=initial,
                symbols=symbols,
                unknown_separates=options.unknown_separates,
                vocab_size=max(_core.MAX_TOKENS if size is None else size for size in sizes),
                max_merges=_most_merges(words, options),
                min_frequency=options.minimum,
                tie=options.tie_rule,
                by_character=not options.by_byte,
                decoration={"prefix": prefix, "suffix": suffix, "separate_suffix": options.suffix_form == "0.1"},
                boundary_mark=mark,
                vetoes={
                    "max_token_length": options.max_token_length,
                    "max_digits": options.max_digits,
                    "reserved": _reserved(options, initial),
                },
            ),
            report,
        )
        tokens = cut_tokens(*trained.tokens())
        numbers = iter(memoryview(trained.merges).tolist())
        merges = list(zip(numbers, numbers, numbers, strict=True))
        products = [product for _, _, product in merges]
        for size in sizes:
            is_whole = size is None or size > len(tokens)
            number = len(merges) if size is None or is_whole else merges_within(products, begun[0], size)
            own = tokens if size is None else tokens[: max(size, begun[0])]
            summary = (_alphabet_in_words(options, len(symbols), begun[0]), plural(number, "merge"),
                       f"{len(options.specials)} special")  # fmt: skip
            chosen = sized(options, size)
            yield Trained(
                _assemble(chosen, own, symbols, merges[:number]),
                summary,
                _shortfall(chosen, len(own), exhausted=is_whole and trained.exhausted, bounded=bool(mark)),
            )

    def untrained(self, options: BpeOptions) -> Tokenizer:
        """Return a tokenizer without characters and merges, to see early what could not be done."""
        read_words(options.boundaries)
        return _assemble(options, [content.encode() for content in options.specials], [], [])

    def steps(self, counts: _core.Counts, options: BpeOptions) -> Steps:
        """Return the textbook's training, step by step.

        Raises:
            UsageError: if the corpus is too large for it, or the symbols are bytes.
        """
        from bpe_cli.teaching import bpe as textbook

        if options.by_byte or options.boundaries:
            raise UsageError("`steps` shows words of characters, without `by_byte` and boundaries")
        counted = _words(counts, options)
        prefix, digits = options.continuing_subword_prefix, options.max_digits
        words = textbook.character_words(
            small_texts(counted),
            end=options.end_of_word_suffix,
            glued=options.suffix_form != "0.1",
            prefix=prefix,
            mark=options.boundary_mark,
        )
        encoded, symbols = initial_tokens(counted, options)
        initial = [token.decode() for token in encoded]
        reserved = {text.decode() for text in _reserved(options, encoded)}
        alphabet = {initial[token_id] for token_id in symbols}
        forms = {prefix + each for each in alphabet} | alphabet
        forms |= {each + options.end_of_word_suffix for each in forms} | {options.end_of_word_suffix}
        met = (forms & textbook.count_symbols(words).keys()) - set(initial)
        return textbook.train(
            words,
            initial=[*initial, *sorted(met, key=str.encode)],
            vocab_size=options.vocab_size,
            num_merges=_most_merges(counted, options),
            min_frequency=options.minimum,
            tie=options.tie_rule,
            max_token_length=options.max_token_length,
            prefix=prefix,
            unknown_separates=options.unknown_separates,
            allow=lambda product: (
                product not in reserved and (digits is None or textbook.count_digits(product) <= digits)
            ),
        )


TRAINER = Bpe()
Options = BpeOptions
