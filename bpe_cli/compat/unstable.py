"""Find what the end of a text may become when more follows: tiktoken's ``encode_with_unstable``, by its own rules.

They are those of ``_encode_unstable_native`` in openai/tiktoken (``src/lib.rs``, MIT), which calls them brute force:
every token that the last bytes may be the beginning of is tried at every place. ``_encode_bytes`` goes by them too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Protocol

from bpe_cli import _core
from bpe_cli.support.blocks import Block
from bpe_cli.support.texts import is_utf8
from bpe_cli.tokenizer import Tokenizer


class Encoding(Protocol):
    """The part of ``compat.tiktoken.Encoding`` that is used here."""

    _tokenizer: Tokenizer

    @property
    def _mergeable_ranks(self) -> dict[bytes, int]: ...

    @property
    def _sorted_tokens(self) -> list[bytes]: ...

    @property
    def _unsplit(self) -> Tokenizer: ...

    def _ids(self, data: bytes, matcher: _core.SpecialMatcher | None) -> list[int]: ...

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]: ...

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of a token."""
        ...


_SPACES = frozenset(b" \n\t")


def unstable(
    encoding: Encoding, data: bytes, matcher: _core.SpecialMatcher | None
) -> tuple[list[int], list[list[int]]]:
    """Return the ids that stay whatever follows, and what the rest may become."""
    tokens, tail = _divided(encoding, data, matcher)
    if not tail:
        return tokens, []
    ordered = encoding._sorted_tokens

    def beginning_with(start: bytes) -> Iterator[bytes]:
        place = bisect_left(ordered, start)
        while place < len(ordered) and ordered[place].startswith(start):
            yield ordered[place]
            place += 1

    completions: set[tuple[int, ...]] = {(encoding._mergeable_ranks[token],) for token in beginning_with(tail)}
    tried = {tail[:cut] + token for cut in range(1, len(tail)) for token in beginning_with(tail[cut:])}
    texts = [each for each in tried if is_utf8(each)]
    others = [each for each in tried if not is_utf8(each)]
    for documents, way in ((texts, encoding._tokenizer), (others, encoding._unsplit)):
        ids, ends = way.encode_block(Block.of(documents))
        start = 0
        for end in ends:
            sequence: list[int] = []
            size = 0
            for token in ids[start:end]:
                sequence.append(token)
                size += len(encoding.decode_single_token_bytes(token))
                if size >= len(tail):
                    break
            completions.add(tuple(sequence))
            start = end
    character = tail.decode("utf-8", "replace")[-1:]
    size = len(character.encode())
    if len(tail) > size and character.isspace():  # what follows may split it off
        completions.add((*encoding._encode_single_piece(tail[:-size]), *encoding._encode_single_piece(tail[-size:])))
    return tokens, [list(each) for each in completions]


def encode_bytes(encoding: Encoding, data: bytes) -> list[int]:
    """Return the ids of bytes: what is not UTF-8 goes with the last piece before it, and all that follows too."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        tokens, tail = _divided(encoding, data[: error.start], None)
        return tokens + encoding._encode_single_piece(tail + data[error.start :])
    return encoding._ids(data, None)


def _divided(encoding: Encoding, data: bytes, matcher: _core.SpecialMatcher | None) -> tuple[list[int], bytes]:
    """Return the ids of a text that stay whatever follows, and the bytes behind them."""
    tokens = encoding._ids(data, matcher)
    last = _tokens_of_last_piece(encoding, data, matcher)
    if last == 0:  # it is a special token, or there is nothing
        return tokens, b""

    vocabulary = encoding._tokenizer.model.vocabulary

    def is_space(token: int) -> bool:
        ordinary = vocabulary.token(token) if token < vocabulary.size else b""  # a special one ends what is before it
        return _SPACES.issuperset(ordinary or b"x")

    if is_space(tokens[-last]):  # what follows may move a split among whitespace
        while last < len(tokens) and is_space(tokens[-last - 1]):
            last += 1
    return tokens[:-last], b"".join(map(encoding.decode_single_token_bytes, tokens[-last:]))


def _tokens_of_last_piece(encoding: Encoding, data: bytes, matcher: _core.SpecialMatcher | None) -> int:
    """Count the tokens of the last piece; none if a special token ends the text."""
    end_of_specials = max((end for _, end, _ in matcher.find_all(data)), default=0) if matcher else 0
    pieces = encoding._tokenizer.engine.pieces(data[end_of_specials:]).contents()
    return len(encoding._encode_single_piece(pieces[-1])) if pieces else 0
