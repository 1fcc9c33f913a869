"""Read the tokens and merges of a ``tokenizer.json``: plainly, or from what the core has cut out of the document.

Both give the same. The core refuses what is unusual, so the plain way alone has messages for what is wrong.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Protocol

from bpe_cli import _core
from bpe_cli.formats import byte_level
from bpe_cli.formats.huggingface import models as hf_models
from bpe_cli.formats.json_node import Node
from bpe_cli.stages import CharacterBpe, MergeBpe, SpecialToken
from bpe_cli.stages.spelling import CHAR_TO_BYTE
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.messages import quote


class Unusual(Exception):
    """State that tokens and merges are to be read plainly."""


class Listed(Protocol):
    """The tokens and merges of a model."""

    @property
    def ids(self) -> Mapping[str, int]:
        """The ids of tokens; at least of those that the rest of the file speaks of, by text or id."""

    @property
    def lacks_bytes(self) -> bool:
        """Whether a byte has no token."""

    def on_bytes(self, special_tokens: Iterable[SpecialToken], *, ignore_merges: bool) -> MergeBpe:
        """Return the model that works on bytes, see ``byte_level.read_model``."""

    def on_characters(self, special_tokens: Iterable[SpecialToken]) -> CharacterBpe:
        """Return the model that works on characters, see ``models.read_character_bpe``."""


class Plain:
    """Read them member by member.

    Raises:
        FormatError: if they are malformed.
    """

    def __init__(self, node: Node) -> None:
        self._node = node

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """The ids of all tokens."""
        return byte_level.read_ids(self._node.get("vocab"))

    @property
    def lacks_bytes(self) -> bool:
        """Whether a byte has no token."""
        return not self.ids.keys() >= CHAR_TO_BYTE.keys()

    def on_bytes(self, special_tokens: Iterable[SpecialToken], *, ignore_merges: bool) -> MergeBpe:
        """Return the model that works on bytes."""
        merges = _read_merges(self._node.get("merges"))
        return byte_level.read_model(self.ids, merges, special_tokens, self._node.source, ignore_merges=ignore_merges)

    def on_characters(self, special_tokens: Iterable[SpecialToken]) -> CharacterBpe:
        """Return the model that works on characters."""
        merges = _read_merges(self._node.get("merges"))
        return hf_models.read_character_bpe(self._node, self.ids, merges, special_tokens)


class Cut:
    """Take them as the core has them.

    Raises:
        Unusual: if the core leaves them to the plain way.
    """

    def __init__(self, written: _core.WrittenMerges, node: Node, added: Iterable[SpecialToken]) -> None:
        self._written = written
        self._node = node
        unknown = node.get("unk_token").value
        texts = [token.content.decode() for token in added]
        texts += [unknown] if isinstance(unknown, str) else []
        self.ids: Mapping[str, int] = written.among(texts, [token.token_id for token in added])

    @property
    def lacks_bytes(self) -> bool:
        """Whether a byte has no token."""
        return not self._written.among([*CHAR_TO_BYTE], []).keys() >= CHAR_TO_BYTE.keys()

    def on_bytes(self, special_tokens: Iterable[SpecialToken], *, ignore_merges: bool) -> MergeBpe:
        """Return the model that works on bytes."""
        vocabulary, merges = self._tables("", [token.token_id for token in special_tokens], visible=True)
        return MergeBpe(vocabulary, merges, ignore_merges)

    def on_characters(self, special_tokens: Iterable[SpecialToken]) -> CharacterBpe:
        """Return the model that works on characters."""
        prefix = hf_models.prefix_of(self._node)
        texts = hf_models.hidden_of(self._node, special_tokens)
        hidden = [token.token_id for token in special_tokens if token.content.decode() in texts]
        return hf_models.character_bpe(self._node, self.ids, *self._tables(prefix, hidden, visible=False))

    def _tables(self, prefix: str, left_out: list[int], *, visible: bool) -> tuple[Vocabulary, Merges]:
        tables = self._written.tables(prefix, left_out, visible)
        if tables is None:
            raise Unusual
        blob, ends, triples = tables
        return Vocabulary(blob, array("I", bytes(ends))), Merges(array("I", bytes(triples)))


def _read_merges(node: Node) -> Iterator[tuple[str, str]]:
    """Yield merges in both layouts: ``"a b"`` and ``["a", "b"]``."""
    for number, merge in enumerate(node.elements(), start=1):
        if isinstance(merge, str):
            left, _, right = merge.partition(" ")
            if not left or not right or " " in right:
                raise node.error(f"has merge {number}, {quote(merge)}: that is not two tokens and one space between")
            yield left, right
        elif isinstance(merge, list) and len(merge) == 2 and isinstance(merge[0], str) and isinstance(merge[1], str):
            yield merge[0], merge[1]
        else:
            raise node.error(f'has merge {number} in another form than "a b" or ["a", "b"]')
