"""Number the most frequent pieces by falling count; of equal counts the one of lower bytes comes first.

What the trainers of characters, n-grams and words (``unmerged``) have in common, and of dictionaries in part.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import Decoder, Normalizer, SpecialToken, WordLevel
from bpe_cli.stages.models import Model
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.messages import plural
from bpe_cli.support.texts import is_utf8
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers.base import Progress, SplittingOptions, Trained, Trainer, check_special_tokens
from bpe_cli.trainers.counts import pieces_of, refuse_nothing, small

if TYPE_CHECKING:
    from bpe_cli.teaching.steps import Steps


@dataclass(frozen=True, slots=True)
class UnknownOptions(SplittingOptions):
    """The options of algorithms with an unknown token.

    Attributes:
        vocab_size: The maximum size of the vocabulary, including special tokens. If None, there is no limit.
        special_tokens: The texts of the special tokens, which get the first ids.
        unk_token: The token for text that has no token; None makes such text an error.
        split_special: Whether to remove special tokens from the corpus and split the text there.
    """

    vocab_size: int | None = None
    special_tokens: tuple[str, ...] = ()
    unk_token: str | None = "<unk>"
    split_special: bool = False

    def __post_init__(self) -> None:
        if self.vocab_size is not None and not 1 <= self.vocab_size <= _core.MAX_TOKENS:
            raise UsageError(f"a vocabulary has from 1 to {_core.MAX_TOKENS:,} tokens, not {self.vocab_size}")
        check_special_tokens(self.special_tokens)
        if self.unk_token == "":
            raise UsageError("the token for what is unknown needs a text")

    @property
    def contents(self) -> list[str]:
        """The texts of special tokens by id: the unknown one is the first, unless it is in the list."""
        unknown = [] if self.unk_token is None or self.unk_token in self.special_tokens else [self.unk_token]
        return [*unknown, *self.special_tokens]

    @property
    def unk_id(self) -> int | None:
        """The id of the token for what is unknown, if there is one."""
        return None if self.unk_token is None else self.contents.index(self.unk_token)


@dataclass(frozen=True, slots=True)
class FrequentOptions(UnknownOptions):
    """The options that characters, n-grams and words share.

    Attributes:
        min_frequency: Pieces that occur less often get no token.
        normalizer: The stages that rewrite text before it is split, in order.
    """

    min_frequency: int = 1
    normalizer: tuple[Normalizer, ...] = ()

    def __post_init__(self) -> None:
        UnknownOptions.__post_init__(self)
        if self.min_frequency < 1:
            raise UsageError(f"`min_frequency` must be 1 or more, not {self.min_frequency}")


Frequent = TypeVar("Frequent", bound=FrequentOptions)


class MostFrequent(Trainer[Frequent]):
    """Number the most frequent pieces."""

    counted = "text"

    @abstractmethod
    def noun(self, options: Frequent) -> str:
        """Return the noun for a piece in messages."""

    @abstractmethod
    def pick(self, counts: _core.Counts, options: Frequent) -> tuple[Iterable[bytes], tuple[str, ...]]:
        """Choose pieces, in order, and describe those left out, as ``shortfall`` wants it."""

    def model(self, vocabulary: Vocabulary, options: Frequent) -> Model:
        """Return the model that looks pieces up."""
        return WordLevel(vocabulary, options.unk_id)

    def decoder(self, options: Frequent) -> tuple[Decoder, ...]:
        """Return the decoder."""
        return ()

    def train(
        self, counts: _core.Counts, options: Frequent, progress: Progress | None = None, threads: int = 1
    ) -> Trained:
        """Number the pieces that were counted."""
        refuse_nothing(counts, self.counted)
        picked, left_out = self.pick(counts, options)
        pieces = [*picked]
        vocabulary = number(pieces, options.contents, options.vocab_size)
        noun = self.noun(options)
        return Trained(
            self._assemble(options, vocabulary),
            (plural(len(vocabulary), noun), f"{len(options.contents)} special", *not_text(pieces)),
            shortfall(vocabulary, options.vocab_size, noun, *left_out),
        )

    def untrained(self, options: Frequent) -> Tokenizer:
        """Return a tokenizer of this kind that knows one piece."""
        return self._assemble(options, Vocabulary.from_tokens([b""] * len(options.contents) + [b"a"]))

    def _assemble(self, options: Frequent, vocabulary: Vocabulary) -> Tokenizer:
        return Tokenizer(
            model=self.model(vocabulary, options),
            normalizer=options.normalizer,
            pre_tokenizer=self.front(options).pre_tokenizer,
            special_tokens=special_stages(options.contents),
            decoder=self.decoder(options),
        )

    def shown(self, counts: _core.Counts, options: Frequent) -> dict[bytes, int]:
        """Return the counts that ``steps`` shows."""
        return pieces_of(counts)

    def steps(self, counts: _core.Counts, options: Frequent) -> Steps:
        """Return the counted pieces, and those that became tokens."""
        from bpe_cli.teaching.steps import NumberedPieces

        refuse_nothing(counts, self.counted)
        small(counts)
        counted = {_text(piece): count for piece, count in self.shown(counts, options).items()}
        vocabulary = number(self.pick(counts, options)[0], options.contents, options.vocab_size)
        return NumberedPieces(counted, [_text(token) for _, token in vocabulary.items()], options.contents)


def _text(piece: bytes) -> str:
    return piece.decode("utf-8", "surrogateescape")


def special_stages(contents: Sequence[str], first: int = 0) -> tuple[SpecialToken, ...]:
    """Return special tokens whose ids run from ``first``."""
    return tuple(
        SpecialToken(content.encode("utf-8", "surrogateescape"), at) for at, content in enumerate(contents, first)
    )


def by_count(counts: Mapping[bytes, int], min_frequency: int = 1) -> list[bytes]:
    """Sort pieces: the most frequent first, of equals the one of lower bytes first (Hugging Face's order).

    >>> by_count({b"b": 1, b"c": 2, b"a": 1})
    [b'c', b'a', b'b']
    """
    kept = [(-count, piece) for piece, count in counts.items() if count >= min_frequency]
    return [piece for _, piece in sorted(kept)]


def number(pieces: Iterable[bytes], contents: Sequence[str], vocab_size: int | None) -> Vocabulary:
    """Number pieces: theirs are the ids after those of special tokens, until the vocabulary is full.

    A piece whose text is that of a special token is left out: the text would stand for two tokens. So is one that is
    not UTF-8, which no file could hold; it is unknown.

    Raises:
        TrainingError: if there is no piece, no room for one, or more than fit.
    """
    reserved = {content.encode("utf-8", "surrogateescape") for content in contents}
    given = [piece for piece in pieces if piece not in reserved]
    kept = [piece for piece in given if is_utf8(piece)]
    if given and not kept:
        raise TrainingError(
            "the corpus has nothing in UTF-8 that is frequent enough",
            hint="if it is in another encoding, convert it to UTF-8 first",
        )
    if not kept:
        raise TrainingError("nothing in the corpus is frequent enough", hint="ask for a lower `min_frequency`")
    if vocab_size is not None and vocab_size <= len(contents):
        raise TrainingError(
            f"a vocabulary of {vocab_size} has no room after {plural(len(contents), 'special token')}",
            hint=f"ask for {len(contents) + 1} or more",
        )
    kept = kept[: None if vocab_size is None else vocab_size - len(contents)]
    total = len(contents) + len(kept)
    if total > _core.MAX_TOKENS or sum(map(len, kept)) >= 1 << 32:
        raise TrainingError(
            f"{total:,} tokens are too many: {_core.MAX_TOKENS:,} fit, of 4 GiB together",
            hint="ask for a `vocab_size`, or for a higher `min_frequency`",
        )
    return Vocabulary.from_tokens([b""] * len(contents) + kept)


def not_text(pieces: Iterable[bytes]) -> tuple[str, ...]:
    """Describe the pieces that ``number`` leaves out because they are not UTF-8, for a summary.

    >>> not_text([b"a", b"\\xff", b"\\xc3"]), not_text([b"a"])
    (('2 left out that are not UTF-8',), ())
    """
    odd = sum(not is_utf8(piece) for piece in pieces)
    return (f"{odd:,} left out that {'is' if odd == 1 else 'are'} not UTF-8",) if odd else ()


def shortfall(vocabulary: Vocabulary, vocab_size: int | None, noun: str, *left_out: str) -> str | None:
    """Explain why a vocabulary is smaller than asked for, if it is; empty texts of ``left_out`` say nothing.

    >>> shortfall(Vocabulary.from_tokens([b"a"]), 2, "character")
    'there are no more characters'
    >>> shortfall(Vocabulary.from_tokens([b"a"]), 2, "character", "covered", "frequent enough")
    'there are no more characters that are covered and frequent enough'
    """
    if vocab_size is None or vocabulary.size >= vocab_size:
        return None
    why = " and ".join(filter(None, left_out))
    return f"there are no more {noun}s" + (f" that are {why}" if why else "")


def rare(counts: Iterable[int], min_frequency: int) -> str:
    """Describe the pieces that are left out for occurring less often; nothing if there is none."""
    return "frequent enough" if min_frequency > 1 and any(count < min_frequency for count in counts) else ""
