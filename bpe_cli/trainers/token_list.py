"""Make a tokenizer of a list of tokens: your own, a tutorial's, or a segmenter's dictionaries.

Nothing is learnt. The corpus is the list: a token a line, with its count or without, or JSON (``dictionary``).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bpe_cli import _core
from bpe_cli.errors import UsageError
from bpe_cli.stages import BPEDecoder, Decoder, LongestMatch, MaxMatch, Normalizer, PreTokenizer, WhitespaceSplit
from bpe_cli.stages.models import Model
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.messages import plural
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import most_frequent
from bpe_cli.trainers.base import Front, Progress, Trained, Trainer
from bpe_cli.trainers.counts import every_item, items_of, refuse_nothing, small
from bpe_cli.trainers.dictionary import read_entries

if TYPE_CHECKING:
    from bpe_cli.teaching.steps import Steps

SUFFIX = "</w>"
"""What marks the end of a word where tokens of the list end so."""


@dataclass(frozen=True, slots=True)
class TokenListOptions(most_frequent.UnknownOptions):
    """Define what to make.

    Attributes:
        vocab_size: The maximum size of the vocabulary, including special tokens. If None, there is no limit.
        match: How text is split. ``longest`` looks at one word at a time, between spaces: it takes the longest token
            anywhere in the word, then continues with the text on its left and right (among tokens of equal length, it
            takes the most frequent, then the first in the list). ``left-to-right`` takes the longest token at each
            place of a word, from the left. ``max-match`` does this over the whole text, without words, as for Chinese.
        end_of_word_suffix: The mark at the end of a word, which counts as one character of a token's length; an empty
            text for no mark. None means ``</w>`` if a token of the list ends with it, and otherwise no mark.
        normalizer: The stages that rewrite text before it is split, in order.
        unk_token: The token for text without a matching token; None drops such text, or makes it an error with
            ``max-match``. ``bpe encode --to segmented`` writes it unchanged.
        split_special: Not available for lists.
    """

    match: Literal["longest", "left-to-right", "max-match"] = "longest"
    end_of_word_suffix: str | None = None
    normalizer: tuple[Normalizer, ...] = ()

    def __post_init__(self) -> None:
        most_frequent.UnknownOptions.__post_init__(self)
        if self.split_special:
            raise UsageError("`split_special` is for texts, and a list has none", hint="leave it out")
        if self.match not in ("longest", "left-to-right", "max-match"):
            raise UsageError(f"tokens are not matched by {self.match!r}", hint="longest, left-to-right or max-match")
        if self.match == "max-match" and self.end_of_word_suffix:
            raise UsageError("match=max-match does not cut text into words, whose ends end_of_word_suffix marks")


def read_tokens(counts: _core.Counts) -> dict[bytes, int | None]:
    """Return the tokens of a list with their counts, added up where a token stands several times.

    >>> from bpe_cli.trainers.counts import counts_of
    >>> read_tokens(counts_of([(b"ou 3", 1), (b"ta", 1), (b"ou 4", 1)]))
    {b'ou': 7, b'ta': None}
    """
    tokens: dict[bytes, int | None] = {}
    for token, count in read_entries(items_of(counts)):
        known = tokens.get(token)
        tokens[token] = count if known is None else known + (count or 0)
    return tokens


class TokenListTrainer(Trainer[TokenListOptions]):
    """Number the tokens of a list."""

    Options = TokenListOptions

    def takes_lines(self, options: TokenListOptions) -> bool:
        """Return True: a list has lines."""
        return True

    def front(self, options: TokenListOptions) -> Front:
        """Return no stages: lines are read as they are."""
        return Front()

    def uses_counts(self, options: TokenListOptions) -> bool:
        """Return whether the longest token is looked for anywhere: of equal lengths, the most frequent is taken."""
        return options.match == "longest"

    def text_bytes(self, parts: Iterable[_core.Counts], options: TokenListOptions) -> int:
        """Return the bytes of the tokens, each as often as it says; once if it does not."""
        return sum(len(token) * (count or 1) for token, count in read_entries(every_item(parts)))

    def train(
        self, counts: _core.Counts, options: TokenListOptions, progress: Progress | None = None, threads: int = 1
    ) -> Trained:
        """Make a tokenizer of the tokens.

        Raises:
            InputError: if a line of the list is not a token, or a token and its count.
        """
        refuse_nothing(counts, "tokens")
        tokens = read_tokens(counts)
        tokenizer = self._assemble(tokens, options)
        listed = sum(1 for _, token in tokenizer.model.vocabulary.items() if token in tokens)
        return Trained(
            tokenizer,
            (f"{listed:,} of {plural(len(tokens), 'token')} in the list", f"{len(options.contents)} special"),
            most_frequent.shortfall(tokenizer.model.vocabulary, options.vocab_size, "token"),
        )

    def untrained(self, options: TokenListOptions) -> Tokenizer:
        """Return a tokenizer of this kind that knows one letter."""
        return self._assemble({b"a": 1}, options)

    def _assemble(self, tokens: Mapping[bytes, int | None], options: TokenListOptions) -> Tokenizer:
        over_text = options.match == "max-match"  # files have line ends, and no list holds them
        listed = dict.fromkeys([b"\n", *tokens] if over_text else tokens)
        vocabulary = most_frequent.number(listed, options.contents, options.vocab_size)
        suffix = options.end_of_word_suffix
        if suffix is None:
            suffix = SUFFIX if any(token.endswith(SUFFIX.encode()) for token in tokens) else ""
        model: Model
        pre_tokenizer: tuple[PreTokenizer, ...] = (WhitespaceSplit(),)
        decoder: tuple[Decoder, ...] = (BPEDecoder(suffix),) if suffix else ()
        if over_text:
            model, pre_tokenizer, decoder = MaxMatch(vocabulary, options.unk_id), (), ()
        else:
            model = LongestMatch(
                vocabulary, options.match == "left-to-right", options.unk_id, suffix,
                frequencies=_frequencies(vocabulary, tokens) if options.match == "longest" else None,
            )  # fmt: skip
        return Tokenizer(
            model=model,
            normalizer=options.normalizer,
            pre_tokenizer=pre_tokenizer,
            special_tokens=most_frequent.special_stages(options.contents),
            decoder=decoder,
        )

    def steps(self, counts: _core.Counts, options: TokenListOptions) -> Steps:
        """Return the tokens, with their ids."""
        from bpe_cli.teaching.steps import NumberedPieces

        refuse_nothing(counts, "tokens")
        small(counts)
        tokens = read_tokens(counts)
        listed = {token.decode("utf-8", "surrogateescape"): count or 0 for token, count in tokens.items()}
        chosen = self._assemble(tokens, options).model.vocabulary
        shown = [token.decode("utf-8", "surrogateescape") for _, token in chosen.items()]
        return NumberedPieces({**dict.fromkeys(shown, 0), **listed}, shown, options.contents)


def _frequencies(vocabulary: Vocabulary, tokens: Mapping[bytes, int | None]) -> array[float] | None:
    """Return the counts by id; None if the list has none."""
    if all(count is None for count in tokens.values()):
        return None
    return array("d", (tokens.get(vocabulary.token(token_id)) or 0 for token_id in range(vocabulary.size)))


TRAINER = TokenListTrainer()
Options = TokenListOptions
