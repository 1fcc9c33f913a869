"""The engine that runs a tokenizer: one interface, and the values that go through it.

There are two engines: ``plain`` for byte-level BPE whose text is only split, and ``staged`` for all
others. Both are compiled of the parts of a tokenizer, know no ``Tokenizer``, and answer in the same words, so nobody
outside this folder asks which of them it has.
"""

# ruff: noqa: D102  # ``Tokenizer`` says what each part of ``AnyTokenizer`` is
from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.stages import Decoder, Model, Normalizer, PreTokenizer, SpecialToken
    from bpe_cli.stages.vocabulary import Vocabulary
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer.encoded import PieceSpans, Placed
    from bpe_cli.tokenizer.usage import Usage

SpecialTable: TypeAlias = "tuple[array[int], bytes, array[int]]"
"""Special tokens for decoding: ids ascending, all bytes, where each ends."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Vary an encoding at random; the same seed gives the same ids for any threads and blocks.

    >>> import bpe_cli
    >>> dropout = bpe_cli.Sampling("dropout", 0.5, seed=1)
    >>> ids = bpe_cli.load("gpt2").encode("hello world", sampling=dropout)
    >>> len(ids) > 2, bpe_cli.load("gpt2").decode(ids)
    (True, 'hello world')

    Attributes:
        way: ``dropout`` leaves each merge out with probability ``number``, drawn anew at each step
            (Provilkov et al., arXiv:1910.13267); ``lasting-dropout`` leaves it out for good, as
            SentencePiece does; ``segmentation`` draws by probability to the power of ``number``.
        number: The probability, or the power.
        nbest: For ``segmentation``: among how many of the best; 0 for all.
        seed: Any number below 2^64.
    """

    way: Literal["dropout", "lasting-dropout", "segmentation"]
    number: float
    nbest: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        from bpe_cli.support.core_arguments import one_of, wrong_type

        one_of("way", self.way, ("dropout", "lasting-dropout", "segmentation"))
        for name in ("number", "nbest", "seed"):
            value, is_number = getattr(self, name), name == "number"
            if not isinstance(value, (int, float) if is_number else int):
                raise wrong_type(name, "a number" if is_number else "an int", value)
        if self.way == "segmentation":
            if not 0 <= self.number < float("inf"):
                raise UsageError(f"alpha {self.number} is not a number from 0 up")
        elif not 0 <= self.number <= 1:
            raise UsageError(f"a dropout of {self.number} is not a probability: it lies between 0 and 1")
        if not 0 <= self.nbest <= 1024:
            raise UsageError(f"at most 1,024 of the best are drawn from, not {self.nbest:,}")
        if not 0 <= self.seed < 1 << 64:
            raise UsageError("the seed is a number from 0 up, below 2^64")


def sampling_of(sampling: object) -> Sampling | None:
    """Check that a caller's value is a ``Sampling``, and return it.

    Raises:
        TypeError: if the value is not a ``Sampling``.
    """
    if sampling is None or isinstance(sampling, Sampling):
        return sampling
    from bpe_cli.support.core_arguments import wrong_type

    raise wrong_type("sampling", "a Sampling", sampling)


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a block in the whole input.

    Attributes:
        document: The number of its first document, from 0.
        offset: How many bytes of that document came in earlier blocks.
    """

    document: int = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class EngineParts:
    """The parts that an engine is compiled from.

    Attributes:
        model: The model as text meets it; see ``special_tokens``.
        vocabulary: All of the vocabulary, which ids are decoded with.
        normalizer: What rewrites text before it is cut, in order.
        pre_tokenizer: What cuts text into pieces, in order.
        decoder: What makes text of tokens again, in order.
        special_tokens: Special and added tokens, sorted by id.
        special_table: What decoding takes from them in the place of the model's tokens.
        codebook: What else every matcher looks for.
    """

    model: Model
    vocabulary: Vocabulary
    normalizer: tuple[Normalizer, ...]
    pre_tokenizer: tuple[PreTokenizer, ...]
    decoder: tuple[Decoder, ...]
    special_tokens: tuple[SpecialToken, ...]
    special_table: SpecialTable
    codebook: _core.Codebook | None = None


class Engine(Protocol):
    """Run a compiled tokenizer.

    Whatever encodes raises ``InputError`` if a byte of the text has no token, ``FormatError`` if the tokenizer's
    tables contradict each other; ``threads`` changes no result.
    """

    @property
    def slow_patterns(self) -> tuple[str, ...]:
        """The split patterns that the core has no scanner for; empty when all is fast."""

    @property
    def has_spans(self) -> bool:
        """Whether tokens' bytes, one after the other, are those of the text (but for a space put before)."""

    @property
    def longest_text(self) -> int | None:
        """The most bytes that a text has without a place to cut it; None for any number."""

    @property
    def bare(self) -> Engine:
        """The model alone, which takes a document for a piece."""

    def matcher(self, contents: Sequence[bytes], ids: Sequence[int], flags: bytes | None) -> _core.SpecialMatcher:
        """Compile what is looked for in text, and in the text that the normalizer makes of it."""

    def encode(
        self,
        block: Block,
        matcher: _core.SpecialMatcher | None = None,
        threads: int = 1,
        sampling: Sampling | None = None,
        place: Place | None = None,
    ) -> tuple[memoryview, memoryview]:
        """Encode a block: ids of all documents (u32), and where each document's ids end (u64)."""

    def encode_text(self, data: bytes, matcher: _core.SpecialMatcher | None = None, threads: int = 1) -> memoryview:
        """Encode one text (u32), as ``encode`` does a block of one; of short texts, in half the time."""

    def count(self, block: Block, matcher: _core.SpecialMatcher | None = None, threads: int = 1) -> memoryview:
        """Count the tokens of each document of a block (u64)."""

    def spans(
        self, data: bytes | memoryview, matcher: _core.SpecialMatcher | None, *, continued: bool = False
    ) -> tuple[memoryview, memoryview, memoryview]:
        """Encode one document, or a part of one, through all stages.

        Returns:
            Ids (u32), and start and end in ``data`` of what each stands for (u64).
        """

    def place(self, data: bytes, matcher: _core.SpecialMatcher | None) -> Placed:
        """Encode one text; ``Tokenizer.tokens`` says what spans mean.

        Complexity: linear; 21 bytes of memory for each token.
        """

    def nbest(self, piece: bytes, count: int) -> list[tuple[tuple[int, ...], float]]:
        """Return the best segmentations of one piece with their scores, best first; the model is a unigram model."""

    def normalize(self, text: bytes, *, first: bool = True) -> bytes:
        """Return what the normalizer makes of a stretch of text; ``first``: a document begins with it."""

    def pieces(self, text: bytes, *, first: bool = True) -> PieceSpans:
        """Return the pieces that the model gets of a stretch of text without special tokens, and their places in it."""

    def piece_ends(self, text: bytes) -> memoryview | None:
        """Return the end of every piece of a text without special tokens; None if the pieces are not parts of it."""

    def count_pieces(
        self, counts: _core.Counts, block: Block, matcher: _core.SpecialMatcher | None, threads: int
    ) -> None:
        """Add the pieces of a block to counts.

        Raises:
            ValueError: if the text cannot be cut: an expression takes too long, or the text is too long.
            MemoryError: if there are more different pieces than the counts' memory holds.
        """

    def tally(
        self, tally: _core.Tally, block: Block, matcher: _core.SpecialMatcher | None, threads: int, *, tiled: bool
    ) -> tuple[memoryview, memoryview] | None:
        """Encode a block and count the results.

        Args:
            tally: What is added to.
            block: The documents.
            matcher: What is looked for in them.
            threads: How many to use.
            tiled: Whether tokens found by ``matcher`` stand in the text as they are: they take no white space along,
                and no space is put before what follows them.

        Returns:
            The ids (u32) and where each document's end (u64); None if the tally has decoded them already.
        """

    def failures(
        self, block: Block, ids: memoryview | array[int], ends: memoryview | array[int], threads: int
    ) -> memoryview:
        """Return the numbers (u64) of the documents of a block, all whole, that their ids do not decode to."""

    def safe_cut(self, data: bytes | memoryview, /) -> int:
        """Return the last offset at which a text can be cut, whatever follows; 0 for none."""

    def decode(self, ids: memoryview | array[int]) -> bytes:
        """Return the bytes of a document's ids.

        Raises:
            ValueError: if an id has no token.
        """


class AnyTokenizer(Protocol):
    """The part of ``Tokenizer`` that the modules of this folder use; the class itself is defined above them."""

    @property
    def decoder(self) -> tuple[Decoder, ...]: ...

    @property
    def special_tokens(self) -> tuple[SpecialToken, ...]: ...

    @property
    def post_processor(self) -> str | None: ...

    @property
    def usage(self) -> Usage: ...

    @property
    def engine(self) -> Engine: ...

    @property
    def vocab_size(self) -> int: ...

    def token_bytes(self, token_id: int) -> bytes: ...

    def matcher(self, specials: Literal["all"] | Collection[str] = ()) -> _core.SpecialMatcher | None: ...

    def encode_block(
        self, block: Block, matcher: _core.SpecialMatcher | None = None, threads: int = 1
    ) -> tuple[memoryview, memoryview]: ...

    def count_block(
        self, block: Block, matcher: _core.SpecialMatcher | None = None, threads: int = 1
    ) -> memoryview: ...

    def decode_bytes(self, ids: Iterable[int] | memoryview | array[int]) -> bytes: ...
