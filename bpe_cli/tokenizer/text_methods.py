"""What a program calls on a tokenizer: text to ids and back, one text at a time.

A class of its own, so that ``tokenizer.py`` holds the value and its engine, and this file what people call.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Literal, cast

from bpe_cli.errors import InputError
from bpe_cli.support.blocks import Block
from bpe_cli.support.core_arguments import bytes_of, pack
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from bpe_cli.tokenizer.interface import AnyTokenizer
    from bpe_cli.tokenizer.token_spans import Placed

Specials = Literal["all"] | Collection[str]
"""Which special tokens are looked for in text: all of them, or those with these contents."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token in a text: id, its bytes, and its byte span in the text (end exclusive)."""

    token_id: int
    content: bytes
    start: int
    end: int
    special: bool = False


class TextMethods:
    """The methods of a ``Tokenizer`` that take a text or ids."""

    __slots__ = ()

    @property
    def _tokenizer(self) -> AnyTokenizer:
        """This tokenizer, as type checkers know it."""
        return cast("AnyTokenizer", self)

    def encode(
        self,
        text: str | bytes,
        specials: Specials = (),
        threads: int = 1,
        *,
        add_special_tokens: bool = False,
        bos: str | int | None = None,
        eot: str | int | None = None,
    ) -> list[int]:
        """Encode one text; special tokens in it are plain text unless asked for.

        Args:
            text: The text.
            specials: Which special tokens are looked for in it.
            threads: How many to use; changes no result.
            add_special_tokens: Whether to put around it what the post-processor puts there.
            bos: What begins it: the text of a special token, an id, or ``auto`` for what the tokenizer says begins one.
            eot: What ends it, likewise.

        Raises:
            UsageError: A name in ``specials`` is unknown, or there is nothing to put around the text.
            InputError: A byte of the text has no token.
        """
        data = bytes_of(text)
        ids, _ = self._tokenizer.encode_block(Block.of([data]), self._tokenizer.matcher(specials), threads)
        if not add_special_tokens and bos is None and eot is None:
            return ids.tolist()
        from bpe_cli.tokenizer.edges import edges_of

        edges = edges_of(self._tokenizer, add_special_tokens=add_special_tokens, bos=bos, eot=eot)
        return [*edges.before, *ids.tolist(), *edges.after]

    def tokens(self, text: str | bytes, specials: Specials = ()) -> list[Token]:
        """Encode one text and say where each token lies in it.

        Spans are byte offsets into ``text`` as it was given, whatever normalizers made of it; with
        ``add_prefix_space`` the space that was put before belongs to no byte, so the first token's span is
        one shorter than its content.
        """
        placed = self.place(text, specials)
        content = {token_id: self._tokenizer.token_bytes(token_id) for token_id in set(placed.ids)}
        columns = zip(placed.ids, placed.starts, placed.ends, placed.special, strict=True)
        return [Token(each, content[each], start, end, bool(special)) for each, start, end, special in columns]

    def place(self, text: str | bytes, specials: Specials = ()) -> Placed:
        """Encode one text and say where its tokens lie, as ``tokens`` does, in columns: for long texts."""
        return self._tokenizer.engine.place(bytes_of(text), self._tokenizer.matcher(specials))

    # -- ids to text ---------------------------------------------------------------------------

    def decode(self, ids: Iterable[int] | memoryview | array[int]) -> bytes:
        """Return the bytes that ids stand for: exactly what was encoded, for any bytes.

        An array of u32 (NumPy's too) is fastest, and one that nobody can write to is not even copied.

        Raises:
            InputError: An id has no token.
        """
        packed = pack(ids)
        try:
            return self._tokenizer.engine.decode(packed)
        except ValueError as error:
            raise InputError(
                f"{error.args[0]} in this tokenizer, whose ids run to {self._tokenizer.vocab_size - 1}",
                hint="are these the ids of another tokenizer?",
            ) from error

    def decode_text(self, ids: Iterable[int], errors: Literal["strict", "replace", "ignore"] = "replace") -> str:
        """Return the text that ids stand for.

        ``ignore`` keeps the most valid characters that any reading of the bytes gives (the optimum
        of the byte-level BPE paper, arXiv:1909.03341; ``tests/oracle/utf8.py`` holds its dynamic programme).

        Raises:
            InputError: The bytes are not UTF-8 and ``errors`` is ``strict``.
        """
        from bpe_cli.tokenizer.streaming import CharacterStream

        characters = CharacterStream(errors)
        return characters.feed(self.decode(ids)) + characters.finish()
