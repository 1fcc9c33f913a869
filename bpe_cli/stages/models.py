"""The models, which turn pieces into tokens."""

from __future__ import annotations

from array import array

from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.fast_dataclass import dataclass, field
from bpe_cli.support.fast_typing import Literal

SPLIT = (1 << 32) - 1
"""What stands for the right part and for the product of an event that takes a token apart."""


@dataclass(frozen=True, slots=True)
class Codebook:
    """Cut what stands between two tags into words of a fixed width, each of which is a token or unknown.

    A stretch begins behind ``open`` and ends before the first ``close``, or with the text between special tokens.
    Its ASCII letters count as capitals, and its last word is filled up. The tags are tokens too; what stands around
    is ordinary text. Words are the entries of ``MergeBpe.texts`` that have the width, no small letters, and ``mark``
    behind: so they are told from ordinary tokens of the same text. They are decoded without the mark.

    Attributes:
        open: The text of the token before a stretch.
        close: The text of the token behind it.
        unknown: The text of the token that a word becomes which is not there.
        width: How many bytes a word has.
        fill: The character, of ASCII, that the last word is filled up with.
        mark: What the words of the vocabulary end with.
    """

    open: str
    close: str
    unknown: str
    width: int
    fill: str
    mark: str


class AnyModel:
    """The attributes that every model has, with defaults for models without such a setting.

    A model that has it declares a field of this name; the docstring there says what it means. ``merges``, ``events``,
    ``scores`` and ``frequencies`` are None and ``unk_id`` too where a model has none; no ``kinds`` means that all are
    normal. ``byte_level``: the tokens of the vocabulary are bytes.
    """

    __slots__ = ()

    unk_id: int | None = None
    merges: Merges | None = None
    events: array[int] | None = None
    scores: array[float] | None = None
    frequencies: array[float] | None = None
    kinds: bytes = b""
    texts: tuple[tuple[int, bytes], ...] = ()
    codebook: Codebook | None = None
    byte_level: bool = False
    byte_fallback: bool = False
    fuse_unk: bool = False
    ignore_merges: bool = False
    fixed_point: bool = False
    continuing_subword_prefix: str = ""
    end_of_word_suffix: str = ""
    separate_suffix: bool = False
    whole_runs_of: str = ""
    max_input_chars_per_word: int | None = None


@dataclass(frozen=True, slots=True)
class RankBpe(AnyModel):
    """Merge, within a piece, the neighbours whose *concatenation* has the lowest id (tiktoken).

    A piece that is itself a token becomes that token before any merging.
    """

    byte_level = True

    vocabulary: Vocabulary
    kind: Literal["bpe-ranks"] = "bpe-ranks"


@dataclass(frozen=True, slots=True)
class MergeBpe(AnyModel):
    """Merge, within a piece, the neighbouring pair that stands first in a list (GPT-2, Hugging Face).

    Attributes:
        vocabulary: Token bytes by id.
        merges: Pairs of ids in order of priority, with the id each pair becomes.
        ignore_merges: Whether a piece that is itself a token becomes that token before any merging.
        texts: (id, text) of entries of a file that are not spelt in its byte alphabet, ascending: no text
            becomes such an id, and it is decoded to its text.
        codebook: What finds some of these in text all the same, between tags; None for nothing.
    """

    byte_level = True

    vocabulary: Vocabulary
    merges: Merges
    ignore_merges: bool = False
    texts: tuple[tuple[int, bytes], ...] = ()
    codebook: Codebook | None = None
    kind: Literal["bpe-merges"] = "bpe-merges"


@dataclass(frozen=True, slots=True)
class CharacterBpe(AnyModel):
    """Merge characters instead of bytes (Sennrich et al., arXiv:1508.07909; Hugging Face's ``BPE``).

    Attributes:
        vocabulary: Token texts by id, in UTF-8, with prefix and suffix as they are written.
        merges: As in ``MergeBpe``; a product leaves out the right part's prefix.
        unk_id: The token for a character that has none; None leaves such a character out.
        fuse_unk: Whether neighbouring unknown characters become one token.
        byte_fallback: Whether an unknown character becomes the tokens ``<0x00>`` to ``<0xFF>`` of its bytes.
        ignore_merges: As in ``MergeBpe``.
        continuing_subword_prefix: Written before each symbol of a piece but the first.
        end_of_word_suffix: Written after the last symbol of a piece.
        separate_suffix: Whether the suffix is a symbol of its own until a merge takes it (subword-nmt 0.1).
        whole_runs_of: A character; a piece of nothing else that is itself a token becomes that token before any
            merging (llama.cpp's ``gemma4``). Empty for none.
    """

    vocabulary: Vocabulary
    merges: Merges
    unk_id: int | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    ignore_merges: bool = False
    continuing_subword_prefix: str = ""
    end_of_word_suffix: str = ""
    separate_suffix: bool = False
    whole_runs_of: str = ""
    kind: Literal["bpe-characters"] = "bpe-characters"


@dataclass(frozen=True, slots=True)
class EventBpe(AnyModel):
    """Apply a list of events to each piece, in order: a merge everywhere, or a split (PickyBPE, arXiv:2409.04599).

    A split takes a token apart: into the pair that first made it, and what of that is not there at that time into
    its own. A symbol is there from the beginning, any other token from a merge that makes it to its next split.

    Attributes:
        vocabulary: Token texts by id, or bytes; those that are split and not made again are in it too.
        events: Three numbers (u32) for each: left id, right id and product, or what is split and twice ``SPLIT``.
        unk_id: The token for a symbol that has none; None leaves out a character, and makes a byte an error.
        fuse_unk: Whether neighbouring unknown symbols become one token.
        byte_level: Whether symbols are bytes, instead of characters.
        ignore_merges: Whether a piece that is a token, and not split for good, becomes that token without any event.
    """

    vocabulary: Vocabulary
    events: array[int] = field(hash=False)
    unk_id: int | None = None
    fuse_unk: bool = False
    byte_level: bool = False
    ignore_merges: bool = True
    kind: Literal["bpe-events"] = "bpe-events"

    def is_symbol(self, token_id: int) -> bool:
        """Return whether a token is what text is spelt with: a character, or a byte."""
        token = self.vocabulary.token(token_id)
        return len(token if self.byte_level else token.decode("utf-8", "replace")) == 1


@dataclass(frozen=True, slots=True)
class ScoredBpe(AnyModel):
    """Merge the neighbours whose concatenation has the highest score (SentencePiece's BPE).

    Attributes:
        vocabulary: Texts of pieces by id, in UTF-8; none for unknown and control pieces.
        scores: One per id.
        kinds: SentencePiece's type of each id (1 normal, 2 unknown, 3 control, 4 user-defined,
            5 unused, 6 byte); empty: all are normal.
        unk_id: The token for a character that has none.
        byte_fallback: As in ``CharacterBpe``.
    """

    vocabulary: Vocabulary
    scores: array[float] = field(hash=False)
    unk_id: int
    kinds: bytes = b""
    byte_fallback: bool = False
    kind: Literal["bpe-scores"] = "bpe-scores"


@dataclass(frozen=True, slots=True)
class WordPiece(AnyModel):
    """Take the longest token that a word begins with, again and again (BERT).

    Attributes:
        vocabulary: Token texts by id, in UTF-8.
        unk_id: The token for a word that cannot be spelt.
        continuing_subword_prefix: Written before tokens that go on inside a word.
        max_input_chars_per_word: A longer word is unknown.
    """

    vocabulary: Vocabulary
    unk_id: int
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: int = 100
    kind: Literal["wordpiece"] = "wordpiece"


@dataclass(frozen=True, slots=True)
class WordLevel(AnyModel):
    """Look each piece up as a whole.

    Attributes:
        vocabulary: Token texts by id.
        unk_id: The token for every other piece; None makes such a piece an error.
        fuse_unk: Whether neighbouring unknown pieces become one token.
    """

    vocabulary: Vocabulary
    unk_id: int | None = None
    fuse_unk: bool = False
    kind: Literal["word-level"] = "word-level"


@dataclass(frozen=True, slots=True)
class Unigram(AnyModel):
    """Choose the segmentation whose scores add up to the most (Kudo, arXiv:1804.10959).

    Attributes:
        vocabulary: Token texts by id; none for unknown and control tokens.
        scores: Natural logarithms of probabilities, one per id.
        unk_id: The token for characters that no token covers, at 10 below the lowest score.
        byte_fallback: As in ``CharacterBpe``.
        fuse_unk: Whether neighbouring unknown characters become one token.
        single_precision: Whether scores are added as f32 (SentencePiece), or as f64 (Hugging Face).
        kinds: As in ``ScoredBpe``.
        fixed_point: Whether scores are rounded to ten-thousandths and added exactly, from the end of a piece
            (PLaMo 2): of equal sums the segmentation wins that begins with the longest token, an unknown
            character scores -1,000, and a user-defined token no more than its score.
    """

    vocabulary: Vocabulary
    scores: array[float] = field(hash=False)
    unk_id: int | None = None
    byte_fallback: bool = False
    fuse_unk: bool = True
    single_precision: bool = False
    kinds: bytes = b""
    fixed_point: bool = False
    kind: Literal["unigram"] = "unigram"

    @staticmethod
    def user_defined_score(length: int) -> float:
        """Return what a user-defined piece scores, as in SentencePiece since 0.2.2, whatever score it has.

        Args:
            length: Its bytes where the best segmentation is sought, its characters where several are ranked.

        >>> Unigram.user_defined_score(1), Unigram.user_defined_score(11)
        (0.0, 1.0)
        """
        return length * 0.1 - 0.1


@dataclass(frozen=True, slots=True)
class LongestMatch(AnyModel):
    """Cut a word by its longest tokens, without merges: two greedy encoders for a BPE vocabulary.

    Characters and marks are never cut: no token is found in a mark, and none takes part of it.

    Attributes:
        vocabulary: Token texts, with prefix and suffix as they are written.
        left_to_right: Take the longest token at each place from the left, or the longest one anywhere
            first and then what lies left and right of it.
        unk_id: The token for a stretch in which no token occurs; None leaves it out.
        end_of_word_suffix: Written after each word; counts as one character of a token's length.
        separate_suffix: Whether the suffix can be a token by itself, or belongs to the last character.
        continuing_subword_prefix: Written before tokens that do not begin a word; counts nothing.
        frequencies: How often each token occurs, by id: of equal lengths the most frequent is tried first,
            and then the lower id. None: the lower id.
    """

    vocabulary: Vocabulary
    left_to_right: bool = False
    unk_id: int | None = None
    end_of_word_suffix: str = ""
    separate_suffix: bool = True
    continuing_subword_prefix: str = ""
    frequencies: array[float] | None = field(default=None, hash=False)
    kind: Literal["longest-match"] = "longest-match"


@dataclass(frozen=True, slots=True)
class FewestTokens(AnyModel):
    """Cut a word into the fewest tokens, where tokens have marks (PathPiece, arXiv:2402.18376).

    First of all as few characters as possible are unknown, then there are as few tokens as possible; of several
    such ways the last token is the longest, then the one before it, and so on. Without marks a ``Unigram`` with
    equal scores finds the same.

    Attributes:
        vocabulary: Token texts, with prefix and suffix as they are written.
        unk_id: The token for what is unknown; None leaves it out.
        fuse_unk: Whether neighbouring unknown characters become one token.
        end_of_word_suffix: Written after each word.
        separate_suffix: Whether the suffix can be a token by itself, or belongs to the last character.
        continuing_subword_prefix: Written before tokens that do not begin a word.
        max_input_chars_per_word: As in ``WordPiece``: a longer word is one unknown token, and so is one that cannot be
            spelt. None: each unknown character is a token.
    """

    vocabulary: Vocabulary
    unk_id: int | None = None
    fuse_unk: bool = False
    end_of_word_suffix: str = ""
    separate_suffix: bool = False
    continuing_subword_prefix: str = ""
    max_input_chars_per_word: int | None = None
    kind: Literal["fewest-tokens"] = "fewest-tokens"


@dataclass(frozen=True, slots=True)
class MaxMatch(AnyModel):
    """Take the longest word of a dictionary at each place from the left; else one character.

    Attributes:
        vocabulary: Words and characters by id.
        unk_id: The token for a character that has none; None makes such a one an error.
    """

    vocabulary: Vocabulary
    unk_id: int | None = None
    kind: Literal["max-match"] = "max-match"


@dataclass(frozen=True, slots=True)
class GreedyCover(AnyModel):
    """Lay tokens over a piece in the order of their ids, each where it cuts none that lies there; else characters.

    The encoder of GreedTok (Lim, Choo and Lauw, arXiv:2501.06246). A token may be laid over others.

    Attributes:
        vocabulary: Characters and tokens by id.
        unk_id: The token for a character that has none; None makes such a one an error.
    """

    vocabulary: Vocabulary
    unk_id: int | None = None
    kind: Literal["greedy-cover"] = "greedy-cover"


@dataclass(frozen=True, slots=True)
class NGram(AnyModel):
    """Take every ``n`` neighbouring characters, each n-gram beginning one character after the last.

    At the end of a piece stand the shorter ones that are left, down to its last character.

    Attributes:
        vocabulary: N-grams by id.
        n: Characters in each, at least 1.
        unk_id: The token for an n-gram that has none; None makes such a one an error.
    """

    vocabulary: Vocabulary
    n: int = 2
    unk_id: int | None = None
    kind: Literal["n-gram"] = "n-gram"


Model = (
    RankBpe
    | MergeBpe
    | CharacterBpe
    | EventBpe
    | ScoredBpe
    | WordPiece
    | WordLevel
    | Unigram
    | LongestMatch
    | FewestTokens
    | MaxMatch
    | GreedyCover
    | NGram
)

ALGORITHMS = {
    "bpe-ranks": "byte-level BPE by ranks",
    "bpe-merges": "byte-level BPE by merges",
    "bpe-characters": "BPE over characters by merges",
    "bpe-events": "BPE by merges and splits",
    "bpe-scores": "BPE over characters by scores",
    "wordpiece": "WordPiece",
    "word-level": "whole pieces",
    "unigram": "unigram language model",
    "longest-match": "longest match",
    "fewest-tokens": "the fewest tokens",
    "max-match": "forward maximum matching",
    "greedy-cover": "greedy cover",
    "n-gram": "overlapping n-grams",
}
"""What a model's kind is called."""
