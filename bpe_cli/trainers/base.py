"""The interface and options that all trainers share, how documents are chosen, and what training returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import Field, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from bpe_cli import _core
from bpe_cli.errors import UsageError
from bpe_cli.stages import Normalizer, PreTokenizer
from bpe_cli.stages.component_json import core_spec
from bpe_cli.stages.counting import Cutter, Cutting, StagedText, count_blocks, matcher_of
from bpe_cli.support.blocks import Block, whole_documents
from bpe_cli.support.core_arguments import bytes_of
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers.left_out import LeftOut

if TYPE_CHECKING:
    from bpe_cli.teaching.steps import Steps

Progress = Callable[[int, int], None]
"""Called now and then with (done so far, all there is to do)."""


@dataclass(frozen=True, slots=True)
class Front:
    """The stages that text goes through before it is counted."""

    normalizer: tuple[Normalizer, ...] = ()
    pre_tokenizer: tuple[PreTokenizer, ...] = ()

    def compile(self) -> _core.Stages:
        """Compile the stages.

        Raises:
            UsageError: if a stage cannot be; the sentence says why.
        """
        try:
            return _core.Stages(core_spec(self.normalizer, self.pre_tokenizer))
        except ValueError as error:
            raise UsageError(
                str(error),
                hint="write the expression as in Hugging Face's files, or give the name of a pattern: "
                "`bpe train --help --all` lists them",
            ) from error


@dataclass(frozen=True, slots=True)
class Trained:
    """The result of a training.

    Attributes:
        tokenizer: The tokenizer.
        summary: What it is made of, for the user: ``("45 characters", "955 merges", "2 special")``.
        shortfall: Why the vocabulary is smaller than asked for, as the rest of a sentence
            (``"no pair is left that occurs 2 times or more"``), or None.
        present: How many tokens text can become, special ones counted, if some of the vocabulary's are taken back; else
            None.
    """

    tokenizer: Tokenizer
    summary: tuple[str, ...]
    shortfall: str | None = None
    present: int | None = None

    @property
    def size(self) -> int:
        """How many tokens text can become, special ones counted."""
        return self.tokenizer.vocab_size if self.present is None else self.present


class Options:
    """The options of every algorithm: each is a frozen dataclass with these fields and its own.

    Attributes:
        vocab_size: The size of the vocabulary.
        special_tokens: The texts of the special tokens.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    vocab_size: int | None
    special_tokens: tuple[str, ...]

    @property
    def split_off(self) -> tuple[str, ...]:
        """The special tokens that are taken out of a corpus, and divide its text."""
        return ()


class SplittingOptions(Options):
    """The further options that most algorithms have.

    Attributes:
        split_special: Whether to remove special tokens from the corpus and split the text there.
    """

    __slots__ = ()
    split_special: bool

    @property
    def split_off(self) -> tuple[str, ...]:
        """The special tokens that are taken out of a corpus, and divide its text."""
        return self.special_tokens if self.split_special else ()


Chosen = TypeVar("Chosen", bound=Options)


class Trainer(ABC, Generic[Chosen]):
    """Train by one algorithm: its options, how text is cut for it, and the calls into the core.

    Attributes:
        Options: The dataclass of its options; their names are those of the command line.
        follows: The algorithms that this trainer trains in place of their own when somebody asks for its rules;
            empty for an algorithm of its own.
        smaller: The hint for a corpus with too many different pieces.
    """

    Options: type[Chosen]
    follows: tuple[str, ...] = ()
    smaller: str = "raise `max_memory`, split the text more finely, or train on a sample"

    def chosen_by(self, algorithm: str, compat: str | None) -> dict[str, str]:
        """Return the options by whose values the algorithm and its rules are chosen."""
        return {} if compat is None else {"compat": compat}

    def takes_lines(self, options: Chosen) -> bool:
        """Return whether it learns from lines, whatever the documents are."""
        return False

    def choose(self, blocks: Iterable[Block], options: Chosen, left_out: LeftOut) -> Iterable[Block]:
        """Return the documents to learn from: all of them, unless the options say otherwise.

        While they are read, those that cannot be learnt from are counted in ``left_out``.
        """
        return blocks

    def choosing(self, options: Chosen) -> dict[str, int]:
        """Return the options by which documents are chosen; nothing if all of them are learnt from."""
        return {}

    def uses_counts(self, options: Chosen) -> bool:
        """Return whether the result depends on how often text occurs: else no corpus can count for more."""
        return True

    def text_bytes(self, parts: Iterable[_core.Counts], options: Chosen) -> int:
        """Return how much text was counted, some of it in each part: the bytes of its pieces."""
        return sum(part.total_bytes for part in parts)

    def pieces(self, counts: _core.Counts, options: Chosen) -> tuple[int, int]:
        """Return how many pieces the text to learn from has, and how many different ones."""
        return counts.total, counts.unique

    @abstractmethod
    def front(self, options: Chosen) -> Front:
        """Return the stages that text goes through before it is counted."""

    def cutter(self, options: Chosen) -> Cutter:
        """Compile the cutter of texts.

        Raises:
            UsageError: if an expression does not compile.
        """
        return StagedText(self.front(options).compile())

    def slow_patterns(self, options: Chosen) -> tuple[str, ...]:
        """Return the patterns without a scanner of the core, which cut text many times slower."""
        return ()

    def count(self, blocks: Iterable[Block], options: Chosen, counts: _core.Counts, threads: int = 1) -> LeftOut:
        """Choose documents, cut them and add their pieces to counts.

        Returns:
            How many documents were left out as they cannot be learnt from.

        Raises:
            TrainingError: if there are more different pieces than the counts' memory holds.
        """
        left_out = LeftOut()
        count_blocks(
            self.choose(blocks, options, left_out), self.cutter(options), counts, threads,
            matcher_of(options.split_off), smaller=self.smaller,
        )  # fmt: skip
        return left_out

    def cutting(self, options: Chosen) -> Cutting:
        """Return the settings that decide about pieces, to be stored with their counts."""
        front = self.front(options)
        stages = core_spec(front.normalizer, front.pre_tokenizer)
        return Cutting(None, False, options.split_off, _core.UNICODE_VERSION, stages)

    def adopt(self, options: Chosen, cutting: Cutting) -> Chosen:
        """Return the options with which counts that were cut in this way can be trained on.

        Raises:
            UsageError: if the options say that text is cut otherwise.
        """
        if cutting.stages != self.cutting(options).stages:
            raise UsageError(
                "the counts were made of text that was normalized or cut with other options",
                hint="count again with the same `algorithm`, `normalizer` and `pre_tokenizer`",
            )
        return options

    @abstractmethod
    def train(
        self, counts: _core.Counts, options: Chosen, progress: Progress | None = None, threads: int = 1
    ) -> Trained:
        """Train a tokenizer on counts.

        Args:
            counts: How often each piece occurs.
            options: What to train.
            progress: Called now and then with (done so far, all there is to do); mostly tokens.
            threads: Number of threads. Never changes the result.

        Raises:
            TrainingError: if there is nothing to train on, or the vocabulary has no room for what it begins with.
        """

    def nests(self, options: Chosen) -> bool:
        """Return whether a smaller vocabulary is the beginning of a larger one: one training makes all sizes."""
        return False

    def train_sizes(
        self,
        counts: _core.Counts,
        options: Chosen,
        sizes: Sequence[int],
        progress: Progress | None = None,
        threads: int = 1,
    ) -> Iterator[Trained]:
        """Yield a tokenizer of each size, ascending, trained on the same counts: what training that size alone gives.

        One training makes all of them if they nest; else each is trained by itself. Arguments and errors are those of
        ``train``; the size in ``options`` is not used.
        """
        for size in sizes:
            yield self.train(counts, sized(options, size), progress, threads)

    @abstractmethod
    def untrained(self, options: Chosen) -> Tokenizer:
        """Return an almost empty tokenizer of the same kind, to see early whether it could be written.

        Raises:
            TrainingError: if it is already clear that the vocabulary has no room.
        """

    @abstractmethod
    def steps(self, counts: _core.Counts, options: Chosen) -> Steps:
        """Return the textbook's training, step by step.

        Raises:
            UsageError: if the corpus is too large for it.
        """

    def signed(self, tokenizer: Tokenizer, inputs: Sequence[str], output: str | None) -> Tokenizer:
        """Return a tokenizer that states the files of its training, if its kind does."""
        return tokenizer


def sized(options: Chosen, size: int | None) -> Chosen:
    """Return options with another size of the vocabulary."""
    return replace(options, vocab_size=size)


def merges_within(products: Sequence[int], first: int, size: int) -> int:
    """Return how many of the merges of a training are those of a training that ends at ``size`` tokens.

    A merge whose product is there already adds no token, and a training never ends with one.

    Args:
        products: The token that each merge makes, of a training to ``size`` tokens or more.
        first: The number of tokens before the first merge.
        size: The size.

    >>> merges_within([2, 3, 2, 4], first=2, size=4), merges_within([2, 3, 2, 4], first=2, size=5)
    (2, 4)
    """
    return products.index(size - 1) + 1 if size > first else 0


def first_changed(options: Options, names: Iterable[str]) -> str | None:
    """Return the name of the first option that does not have its default; None if all do."""
    defaults = {each.name: each.default for each in fields(options)}
    return next((name for name in names if getattr(options, name) != defaults[name]), None)


def check_list(name: str, texts: Sequence[str]) -> None:
    """Check that an option is a list of texts, and not a single text, which is a sequence, too."""
    if isinstance(texts, str):
        raise UsageError(f"{name} must be a list of texts, not one text", hint=f"{name}=[{texts!r}]")


def check_utf8(text: str, named: str) -> None:
    """Check that a text of the options can be written in UTF-8, as vocabularies are.

    Args:
        text: The text.
        named: What the message calls it.

    Raises:
        UsageError: if it cannot.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{named} is not UTF-8",
            hint="write it in UTF-8: it has a byte of another encoding, or half a character",
        ) from error


def check_special_tokens(contents: Sequence[str]) -> None:
    """Check that special tokens have texts, each its own.

    Raises:
        UsageError: if a text is empty, given twice or not UTF-8, or is given in place of a list of texts.
        InputError: if half a character stands in one.
    """
    check_list("special_tokens", contents)
    if "" in contents:
        raise UsageError("a special token needs a text")
    before: set[str] = set()
    for content in contents:
        bytes_of(content, "special token")
        check_utf8(content, f"the special token {content!r}")
        if content in before:
            raise UsageError(f"the special token {content!r} is given twice")
        before.add(content)


SEED = 12345678
"""Where the random numbers begin unless the caller says otherwise."""

_MASK = (1 << 64) - 1
_BLOCK_BYTES = 8 << 20


def _random_bits(seed: int) -> Iterator[int]:
    """Yield 64 random bits at a time: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    state = seed & _MASK
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        yield mixed ^ (mixed >> 31)


def reservoir(documents: Iterable[bytes], size: int, seed: int = SEED) -> list[bytes]:
    """Draw ``size`` documents, each with the same probability; all of them if there are no more.

    Vitter's algorithm R (1985), in one pass: the same seed and documents give the same sample, in the order of the
    corpus, however the corpus is cut into blocks.

    >>> reservoir([b"a", b"b"], 3)
    [b'a', b'b']
    >>> len(reservoir((b"%d" % number for number in range(1000)), 10))
    10
    """
    chosen: list[tuple[int, bytes]] = []
    bits = _random_bits(seed)
    for number, document in enumerate(documents):
        if number < size:
            chosen.append((number, document))
            continue
        # The high half of a product is even to within 2^-64, whatever the number of documents.
        place = (next(bits) * (number + 1)) >> 64
        if place < size:
            chosen[place] = number, document
    return [document for _, document in sorted(chosen, key=lambda item: item[0])]


def sample(blocks: Iterable[Block], size: int | None, seed: int = SEED) -> Iterable[Block]:
    """Return the blocks as they are, or blocks with a sample of their documents."""
    return blocks if size is None else _drawn_blocks(blocks, size, seed)


def _drawn_blocks(blocks: Iterable[Block], size: int, seed: int) -> Iterator[Block]:
    chosen = reservoir((document for ended in whole_documents(blocks) for document in ended), size, seed)
    waiting: list[bytes] = []
    bytes_waiting = 0
    for document in chosen:
        waiting.append(document)
        bytes_waiting += len(document)
        if bytes_waiting >= _BLOCK_BYTES:
            yield Block.of(waiting)
            waiting, bytes_waiting = [], 0
    if waiting:
        yield Block.of(waiting)


def drawn(size: int | None) -> dict[str, int]:
    """Return the option that says of how many documents a sample is drawn, if one is."""
    return {} if size is None else {"input_sentence_size": size}
