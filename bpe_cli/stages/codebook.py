"""The words of a model's codebook: tokens that text becomes between two tags alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from bpe_cli import _core
from bpe_cli.stages.models import Model
from bpe_cli.stages.special_token import SpecialToken


def codebook_words(model: Model) -> dict[int, bytes]:
    """Return the words of a model's codebook without their marks, by id; none if it has no codebook."""
    book = model.codebook
    if book is None:
        return {}
    mark = book.mark.encode()
    words = ((token_id, text.removesuffix(mark)) for token_id, text in model.texts if text.endswith(mark))
    return {token_id: word for token_id, word in words if len(word) == book.width and word == word.upper()}


def codebook_ids(model: Model) -> set[int]:
    """Return the ids of a codebook's words, tags and unknown token."""
    book = model.codebook
    tags = () if book is None else (book.open, book.close, book.unknown)
    ids = (model.vocabulary.id_of(text.encode()) for text in tags)
    return {token_id for token_id in ids if token_id is not None} | codebook_words(model).keys()


def between_tags(model: Model, token_ids: Collection[int]) -> Iterator[tuple[int, bytes]]:
    """Yield (id, text) for the tokens that occur only between tags; the text should become the token."""
    book = model.codebook
    if book is None:
        return
    begin, end = book.open.encode(), book.close.encode()
    words = codebook_words(model)
    for token_id in words.keys() & set(token_ids):
        yield token_id, begin + words[token_id] + end
    absent = (
        word for number in range(len(words) + 1) if (word := b"%0*d" % (book.width, number)) not in words.values()
    )
    for text, stretch in ((end, b""), (book.unknown.encode(), next(absent))):
        tag_id = model.vocabulary.id_of(text)
        if tag_id is not None and tag_id in token_ids:
            yield tag_id, begin + stretch + end


def compiled_codebook(model: Model, special_tokens: Iterable[SpecialToken]) -> _core.Codebook | None:
    """Compile a model's codebook; None if it has none, or if it lacks a token that text may become.

    Text becomes no special token: where a tag is one, it is only looked for as such, and what follows is text.
    """
    book = model.codebook
    if book is None:
        return None
    special = {token.token_id for token in special_tokens if token.special}
    added = {token.content: token.token_id for token in special_tokens if not token.special}

    def tag(text: str) -> tuple[bytes, int] | None:
        content = text.encode()
        token_id = added.get(content, model.vocabulary.id_of(content))
        return None if token_id is None or token_id in special else (content, token_id)

    begin, end, unknown = tag(book.open), tag(book.close), tag(book.unknown)
    if begin is None or end is None or unknown is None:
        return None
    words = [(word, token_id) for token_id, word in codebook_words(model).items() if token_id not in special]
    return _core.Codebook(begin, end, unknown[1], book.width, ord(book.fill), words)
