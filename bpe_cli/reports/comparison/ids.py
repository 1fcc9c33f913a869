"""Compare the ids that two readers of a tokenizer give: on texts, with the first difference, cut short.

A reader is a tokenizer of ours, or another library's. Bytes that are not UTF-8 are left out for a library that takes
only text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bpe_cli.support.texts import is_utf8, shortened

Ids = tuple[int, ...] | None
"""The ids of a text; None if it cannot be encoded."""

Made = tuple[tuple[bytes, ...], tuple[bytes, ...]]
"""The parts that two tokenizers make of a text at a stage."""


class Reader(Protocol):
    """The interface of what encodes texts.

    Attributes:
        name: Its name in messages.
        takes_bytes: Whether it takes bytes that are not UTF-8.
    """

    name: str
    takes_bytes: bool

    def encode(self, texts: Sequence[bytes]) -> list[Ids]:
        """Return the ids of texts; None for each that cannot be encoded."""

    def token(self, token_id: int) -> bytes:
        """Return what a token reads as, for messages."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A text of which two readers make other ids.

    Attributes:
        where: Where the text is from.
        text: It, or a part of it that differs too.
        ids: What each makes of it.
        tokens: What these ids read as.
        stage: The first stage that gives something else; None where that cannot be found out.
        made: What each makes of the text there, in parts.
    """

    where: str
    text: bytes
    ids: tuple[Ids, Ids]
    tokens: tuple[tuple[bytes, ...], tuple[bytes, ...]]
    stage: str | None = None
    made: Made | None = None


@dataclass(frozen=True, slots=True)
class Texts:
    """How some texts compare.

    Attributes:
        name: What they are.
        count: How many were compared.
        different: How many have other ids.
        left_out: How many were not compared: they are not UTF-8.
    """

    name: str
    count: int
    different: int
    left_out: int


@dataclass(frozen=True, slots=True)
class IdsReport:
    """Two readers of a tokenizer, compared.

    Attributes:
        names: What they are called.
        texts: How each group of texts compares.
        first: The first difference; None if all ids are the same.
        besides: What differs besides ids, a sentence each; None where only ids can be compared.
    """

    names: tuple[str, str]
    texts: tuple[Texts, ...]
    first: Difference | None
    besides: tuple[str, ...] | None

    @property
    def same(self) -> bool:
        """Whether both give the same ids for all texts."""
        return self.first is None

    @property
    def count(self) -> int:
        """How many texts were compared."""
        return sum(each.count for each in self.texts)

    @property
    def different(self) -> int:
        """How many of them have other ids."""
        return sum(each.different for each in self.texts)


Explain = Callable[[bytes], tuple[str | None, Made | None]]
"""Finds the stage at which a text becomes something else, and what each makes of it there."""


def compare_ids(
    readers: tuple[Reader, Reader],
    groups: Iterable[tuple[str, Iterable[Sequence[tuple[str, bytes]]]]],
    besides: Iterable[str] | None = None,
    *,
    explain: Explain = lambda _: (None, None),
) -> IdsReport:
    """Compare what two readers make of texts.

    Args:
        readers: Both.
        groups: Names of groups of texts, and their texts in batches, each with where it is from.
        besides: What differs besides ids; None where only ids can be compared.
        explain: Finds the stage that differs.

    >>> class Letters:
    ...     name, takes_bytes = "letters", True
    ...     def encode(self, texts): return [tuple(text) for text in texts]
    ...     def token(self, token_id): return bytes([token_id])
    >>> class Small(Letters):
    ...     def encode(self, texts): return [tuple(text.lower()) for text in texts]
    >>> found = compare_ids((Letters(), Small()), [("words", [[("a", b"abc"), ("b", b"xxByy")]])])
    >>> found.count, found.different, found.first.where, found.first.text
    (2, 1, 'b', b'B')
    """
    done: list[Texts] = []
    first: Difference | None = None
    takes_bytes = all(reader.takes_bytes for reader in readers)
    for name, batches in groups:
        count = different = left_out = 0
        for batch in batches:
            taken = batch if takes_bytes else [each for each in batch if is_utf8(each[1])]
            left_out += len(batch) - len(taken)
            count += len(taken)
            texts = [text for _, text in taken]
            both = (each.encode(texts) for each in readers)
            differs = [one != other for one, other in zip(*both, strict=True)]
            different += sum(differs)
            if first is None and True in differs:
                first = _difference(readers, *taken[differs.index(True)], explain)
        done.append(Texts(name, count, different, left_out))
    return IdsReport(
        (readers[0].name, readers[1].name), tuple(done), first, None if besides is None else tuple(besides)
    )


def _difference(readers: tuple[Reader, Reader], where: str, text: bytes, explain: Explain) -> Difference:
    def differs(part: bytes) -> bool:
        one, other = (reader.encode([part])[0] for reader in readers)
        return one != other

    part = shortened(text, differs)
    ids = readers[0].encode([part])[0], readers[1].encode([part])[0]
    first, second = (
        tuple(reader.token(each) for each in some or ()) for reader, some in zip(readers, ids, strict=True)
    )
    return Difference(where, part, ids, (first, second), *explain(part))
