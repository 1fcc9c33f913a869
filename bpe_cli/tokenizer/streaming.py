"""Decode ids as they arrive: text is returned as soon as it is certain.

Where tokens read as their bytes, only characters have to be waited for. With decoders, what the ids so
far read as can be decoded again and again, but not from the first id on, or the time would be quadratic.
As Hugging Face's ``DecodeStream`` does it, only the ids since the last text that was given out are kept,
with those of that text before them, because decoders look at what stands before a token (a first token
loses its space) but not further back. What the kept ids read as, less what the old ones read as, is new.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Collection, Iterable, Sequence

from bpe_cli import _core
from bpe_cli.errors import InputError
from bpe_cli.support.core_arguments import one_of, pack, wrong_type
from bpe_cli.support.fast_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from typing import Any

    from bpe_cli.tokenizer.any_tokenizer import AnyTokenizer

Errors = Literal["strict", "replace", "ignore"]
"""What becomes of bytes that are not UTF-8, as in ``bytes.decode``."""

# No character has more than four bytes; but tokens may read as nothing, so a few more may be waited for.
_PATIENCE = 16


class StreamDecoder(_core.KnownTexts):
    """Decode ids as they arrive, with any tokenizer, never splitting a character.

    It differs from Hugging Face's in three ways. Bytes that can never become a character are returned at once (as
    U+FFFD, or as ``errors`` says); theirs waits as long as the text ends in U+FFFD, even if U+FFFD is what was encoded.
    With byte-level tokens, the text before an incomplete character is returned without waiting for it. And ``finish``
    returns the rest, which theirs loses.

    Args:
        tokenizer: The tokenizer that the ids come from.
        errors: How to treat bytes that are not UTF-8: ``strict`` rejects them, ``replace`` returns U+FFFD for them,
            ``ignore`` leaves them out.

    >>> from bpe_cli import StreamDecoder, load
    >>> decoder = StreamDecoder(load("gpt2"))
    >>> [decoder.feed([token]) for token in (19526, 254)], decoder.finish()
    (['', '你'], '')
    """

    def __init__(self, tokenizer: AnyTokenizer, errors: Errors = "replace") -> None:
        """Begin a text.

        Raises:
            TypeError: if an argument has the wrong type.
            UsageError: if ``errors`` is not one of these.
        """
        if not isinstance(tokenizer, _core.Tokenizer):
            raise wrong_type("tokenizer", "a Tokenizer", tokenizer)
        one_of("errors", errors, ("strict", "replace", "ignore"))
        self._tokenizer = tokenizer
        left_out = tokenizer.engine.left_out
        self._window = _Window(tokenizer.decode_bytes, left_out) if tokenizer.decoder else None
        self._errors = errors
        self._characters = CharacterStream(errors)
        self._counts = errors == "strict"  # whose messages say where in all bytes an error is
        self._look_up()

    def __copy__(self) -> StreamDecoder:
        """Return a stream that goes on from here by itself, with the same tokenizer."""
        other = type(self)(self._tokenizer, self._errors)
        other._characters.state = self._characters.state
        if self._window is not None and other._window is not None:
            other._window.state = self._window.state
        return other

    def __deepcopy__(self, _: object) -> StreamDecoder:
        """Return what ``copy`` does: tokenizers never change, so copies share theirs."""
        return self.__copy__()

    def __getstate__(self) -> dict[str, object]:
        """Leave out what the base class holds: it is the tokenizer's."""
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Go on from where the other was."""
        self.__dict__.update(state)
        self._look_up()

    def _look_up(self) -> None:
        """Have single ids looked up by the base class, where each reads as its bytes."""
        if self._window is None:
            self._know(*self._tokenizer.engine.single_ids)

    def _feed(self, ids: Iterable[int]) -> str:
        """Feed what is not one id that is known."""
        if self._window is not None:
            several, before = pack(ids), (self._window.state, self._characters.state)
            try:
                return "".join([self._characters.feed(self._window.step(token_id)) for token_id in several])
            except InputError:  # as where tokens read as their bytes: none of these ids was fed, and others may follow
                self._window.state, self._characters.state = before
                self._tokenizer.decode_bytes(several)  # an error says where among these an id without a token is
                raise
        return self._feed_bytes(self._tokenizer.decode_bytes(ids))

    def _feed_bytes(self, data: bytes) -> str:
        """Feed bytes that may end within a character, or go on with one."""
        text = self._characters.feed(data)
        self._be_ready(not self._counts and not self._characters.begun)
        return text

    def finish(self) -> str:
        """Return the remaining text when no more ids follow, and start over, also after an error.

        Raises:
            InputError: as for ``feed``.
        """
        try:
            left = b"" if self._window is None else self._window.finish()
            return self._characters.feed(left) + self._characters.finish()
        finally:
            self._characters.reset()
            self._be_ready(not self._counts and self._window is None)


class CharacterStream:
    r"""Decode bytes as they arrive, never splitting a character.

    >>> stream = CharacterStream()
    >>> [stream.feed(data) for data in (b"\xe4\xbd", b"\xa0\xe4")], stream.finish()
    (['', '你'], '�')
    """

    def __init__(self, errors: Errors = "replace", *, as_they_are: str = "decode_bytes gives the bytes") -> None:
        """Begin a text; ``as_they_are`` says what gives the bytes as they are, for the hint where they are no text."""
        self._as_they_are = as_they_are
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)
        self._held = 0  # bytes of a character that is not complete
        self._position = 0

    @property
    def begun(self) -> bool:
        """Whether bytes are held of a character that is not complete."""
        return bool(self._held)

    @property
    def state(self) -> tuple[tuple[bytes, int], int, int]:
        """All that there is of it, to go back to."""
        return self._decoder.getstate(), self._held, self._position

    @state.setter
    def state(self, state: tuple[tuple[bytes, int], int, int]) -> None:
        decoder, self._held, self._position = state
        self._decoder.setstate(decoder)

    def feed(self, data: bytes) -> str:
        """Return the characters that are complete after these bytes.

        Raises:
            InputError: if the bytes are not UTF-8 and errors are strict.
        """
        return self._decode(data, final=False)

    def finish(self) -> str:
        """Return what is left when no more bytes come, and begin anew.

        Raises:
            InputError: as ``feed``.
        """
        try:
            return self._decode(b"", final=True)
        finally:
            self.reset()

    def reset(self) -> None:
        """Forget what is left, and begin anew."""
        self._decoder.reset()
        self._held = self._position = 0

    def _decode(self, data: bytes, *, final: bool) -> str:
        if not self._held:
            try:
                text = data.decode()
            except UnicodeDecodeError:
                pass  # half a character, or none
            else:
                self._position += len(data)
                return text
        try:
            text = self._decoder.decode(data, final)
        except UnicodeDecodeError as error:
            raise InputError(
                f"the decoded bytes are not UTF-8: {error.reason} at byte {self._position - self._held + error.start}",
                hint=f'`errors="replace"` or ignore decodes them all the same, {self._as_they_are} as they are',
            ) from error
        self._held = len(self._decoder.getstate()[0])
        self._position += len(data)
        return text


class _Window:
    """Decode ids one by one with decoders, and return the bytes that are certain."""

    def __init__(self, decode: Callable[[Sequence[int]], bytes], left_out: Collection[int]) -> None:
        self._decode = decode
        self._left_out = left_out  # the ids that decoders never see: they would be kept until there is text
        self._ids: list[int] = []  # kept: the ids of the last text given out, then those after it
        self._given = b""  # what of the kept ids has been given out already
        self._old = 0  # how many of the kept ids that is
        self._read: list[int] = []  # the last ids given out that read as something by themselves

    @property
    def state(self) -> tuple[list[int], bytes, int, list[int]]:
        """All that there is of it, to go back to."""
        return [*self._ids], self._given, self._old, [*self._read]

    @state.setter
    def state(self, state: tuple[list[int], bytes, int, list[int]]) -> None:
        self._ids, self._given, self._old, self._read = state

    def step(self, token_id: int) -> bytes:
        """Return the bytes that one more id makes certain."""
        if token_id in self._left_out:
            return b""
        if not self._given and self._ids:
            before = self._decode(self._ids)
            if not _unfinished(before):
                self._given, self._old = before, len(self._ids)
        self._ids.append(token_id)
        data = self._decode(self._ids)
        open_bytes = _unfinished(data)
        if open_bytes and len(self._ids) - self._old <= _PATIENCE:
            return b""
        certain = data[: len(data) - open_bytes]
        if len(certain) <= len(self._given):
            return b""
        new = self._after(certain)
        latest = self._ids[self._old :]
        self._given = self._decode(latest)
        if self._given:
            self._ids = self._read = latest
        else:  # blanks, which are stripped at a beginning: before them stays what is not
            self._read = self._read or self._ids
            self._ids = self._read + latest
            self._given = self._decode(self._ids)
        self._old = len(self._ids)
        self._given = self._given[: len(self._given) - open_bytes]
        return new

    def finish(self) -> bytes:
        """Return what is left, and begin anew."""
        try:
            return self._after(self._decode(self._ids)) if self._ids else b""
        finally:
            self.state = [], b"", 0, []

    def _after(self, data: bytes) -> bytes:
        if not data.startswith(self._given):
            raise InputError(
                "the tokenizer's decoders change earlier text, so ids cannot be decoded as they arrive",
                hint="decode all ids at once",
            )
        return data[len(self._given) :]


def _unfinished(data: bytes) -> int:
    """Count the bytes at the end that further bytes may complete to a character.

    >>> [_unfinished(data) for data in (b"a", b"a\\xc3", b"a\\xe4\\xbd", b"\\xe4\\xbd\\xa0", b"\\xff", b"\\xed\\xa0")]
    [0, 1, 2, 0, 0, 0]
    """
    tail = data[-3:]
    for length in range(1, len(tail) + 1):
        try:
            tail[-length:].decode()
        except UnicodeDecodeError as error:
            if error.reason == "unexpected end of data" and error.start == 0:
                return length
    return 0
