"""Find the words of a codebook in text: what ``stages.Codebook`` says, character by character of its docstring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bpe_cli.stages import Codebook


def segments(
    text: bytes, book: Codebook, tags: Mapping[str, int], words: Mapping[bytes, int]
) -> Iterator[tuple[bytes, int | None]]:
    """Yield the stretches of a text in which no special token is: those outside of tags, and tokens with their ids.

    Args:
        text: The text.
        book: The codebook.
        tags: The ids of the tags and of the unknown token.
        words: The ids of the words, without their marks.

    >>> book = Codebook("<d>", "</d>", "<?>", 2, "A", "*")
    >>> [*segments(b"c<d>cagc</d>", book, {"<d>": 0, "</d>": 1, "<?>": 2}, {b"CA": 3})]
    [(b'c', None), (b'<d>', 0), (b'ca', 3), (b'gc', 2), (b'</d>', 1)]
    """
    begin, end = book.open.encode(), book.close.encode()
    while text:
        before, found, text = text.partition(begin)
        if before:
            yield before, None
        if not found:
            return
        yield begin, tags[book.open]
        inside, closed, text = text.partition(end)
        for start in range(0, len(inside), book.width):
            part = inside[start : start + book.width]
            word = part.upper().ljust(book.width, book.fill.encode())
            yield part, words.get(word, tags[book.unknown])
        if closed:
            yield end, tags[book.close]
