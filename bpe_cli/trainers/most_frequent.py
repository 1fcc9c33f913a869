"""What the vocabularies of characters, n-grams and words have in common: the most frequent pieces, numbered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import SpecialToken
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.messages import plural


def check_options(
    vocab_size: int | None, min_frequency: int, special_tokens: Sequence[str], unk_token: str | None
) -> None:
    """Make sure that what all of these trainers are told can be.

    Raises:
        UsageError: It cannot.
    """
    if vocab_size is not None and not 1 <= vocab_size <= _core.MAX_TOKENS:
        raise UsageError(f"a vocabulary has from 1 to {_core.MAX_TOKENS:,} tokens, not {vocab_size}")
    if min_frequency < 1:
        raise UsageError(f"a least frequency of {min_frequency} is below 1")
    check_special_tokens(special_tokens)
    if unk_token == "":
        raise UsageError("the token for what is unknown needs a text")


def check_special_tokens(special_tokens: Sequence[str]) -> None:
    """Make sure that special tokens have texts, each its own.

    Raises:
        UsageError: One has none, or is given twice.
    """
    if "" in special_tokens:
        raise UsageError("a special token needs a text")
    for content in special_tokens:
        if special_tokens.count(content) > 1:
            raise UsageError(f"the special token {content!r} is given twice")


def special_contents(special_tokens: Sequence[str], unk_token: str | None) -> list[str]:
    """Return the texts of special tokens by id: the unknown one is the first, unless it is in the list.

    >>> special_contents(["<pad>"], "<unk>"), special_contents(["<pad>", "<unk>"], "<unk>")
    (['<unk>', '<pad>'], ['<pad>', '<unk>'])
    """
    return [*([unk_token] if unk_token is not None and unk_token not in special_tokens else []), *special_tokens]


def special_stages(contents: Sequence[str]) -> tuple[SpecialToken, ...]:
    """Make special tokens whose ids run from 0."""
    return tuple(SpecialToken(content.encode("utf-8", "surrogateescape"), at) for at, content in enumerate(contents))


def unk_id_of(contents: Sequence[str], unk_token: str | None) -> int | None:
    """Return the id of the token for what is unknown, if there is one."""
    return None if unk_token is None else contents.index(unk_token)


def by_count(counts: Mapping[bytes, int], min_frequency: int = 1) -> list[bytes]:
    """Sort pieces: the most frequent first, of equals the one of lower bytes first (Hugging Face's order).

    >>> by_count({b"b": 1, b"c": 2, b"a": 1})
    [b'c', b'a', b'b']
    """
    kept = [(-count, piece) for piece, count in counts.items() if count >= min_frequency]
    return [piece for _, piece in sorted(kept)]


def number(pieces: Iterable[bytes], contents: Sequence[str], vocab_size: int | None) -> Vocabulary:
    """Return pieces the ids after those of special tokens, until the vocabulary is full.

    A piece whose text is that of a special token is left out: the text would stand for two tokens.

    Raises:
        TrainingError: There is no piece, no room for one, or more than fit.
    """
    reserved = {content.encode("utf-8", "surrogateescape") for content in contents}
    kept = [piece for piece in pieces if piece not in reserved]
    if not kept:
        raise TrainingError("nothing in the corpus is frequent enough", hint="ask for a lower --min-frequency")
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
            hint="ask for a --vocab-size, or for a higher --min-frequency",
        )
    return Vocabulary.from_tokens([b""] * len(contents) + kept)


def summarise(vocabulary: Vocabulary, noun: str, contents: Sequence[str]) -> tuple[str, ...]:
    """Return what a vocabulary is made of.

    >>> summarise(Vocabulary.from_tokens([b"", b"a"]), "character", ["<unk>"])
    ('1 character', '1 special')
    """
    return plural(len(vocabulary), noun), f"{len(contents)} special"


def shortfall(vocabulary: Vocabulary, vocab_size: int | None, noun: str, *left_out: str) -> str | None:
    """Explain why a vocabulary is smaller than asked for, if it is.

    Args:
        vocabulary: The vocabulary.
        vocab_size: The size asked for.
        noun: What it is made of.
        left_out: What those are not that the corpus has besides; empty texts say nothing.

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
    """Describe what a piece is not that occurs less often; nothing if there is none."""
    return "frequent enough" if min_frequency > 1 and any(count < min_frequency for count in counts) else ""


def steps(counts: Mapping[bytes, int], vocabulary: Vocabulary, contents: Sequence[str]) -> Iterator[str]:
    """Write out what was counted and which ids were given, as a textbook does."""
    from bpe_cli.teaching.characters import render

    def text(piece: bytes) -> str:
        return piece.decode("utf-8", "surrogateescape")

    shown = {text(piece): count for piece, count in counts.items()}
    chosen = [text(token) for _, token in vocabulary.items()]
    return render(shown, chosen, contents)
