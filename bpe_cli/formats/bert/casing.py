"""Infer from a BERT vocabulary alone in which spelling words are looked up in it.

A token can be met only if normalized text can contain it. If no token of a word has an upper-case letter,
text has to be lower-cased, or every word with a capital is unknown; if some have one, text must not be, or those
are never met. The same with what stripping accents changes: accents, and characters that it takes apart
(Hangul syllables). Tokens with punctuation inside do not count, ``[PAD]`` or ``<S>``: text is cut there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from bpe_cli import _core
from bpe_cli.stages import BertNormalizer, BertPreTokenizer
from bpe_cli.stages.component_json import core_spec
from bpe_cli.tokenizer.usage import Fact


@dataclass(frozen=True, slots=True)
class Reading:
    """Which characters the words of a vocabulary have.

    Attributes:
        upper_case: Whether a word has a character that lower-casing would change.
        accents: Whether a word has a character that stripping accents would change.
    """

    upper_case: bool
    accents: bool

    def normalizer(self) -> BertNormalizer:
        """Return the normalizer that these words need.

        >>> Reading(upper_case=False, accents=False).normalizer()
        BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
        """
        follows = self.upper_case or not self.accents
        return BertNormalizer(lowercase=not self.upper_case, strip_accents=None if follows else False)

    def facts(self) -> Iterator[tuple[str, Fact]]:
        """Yield what was found, in words."""
        yield "upper-case letters in words", "yes: case is kept" if self.upper_case else "none: text is lower-cased"
        if not self.upper_case:
            yield "accents in words", "yes: they are kept" if self.accents else "none: they are stripped"


def reading(tokens: Collection[str], prefix: str) -> Reading:
    """Look at the words of a vocabulary.

    Args:
        tokens: The tokens.
        prefix: What those begin with that go on inside a word.

    >>> reading(["[PAD]", "[UNK]", "<S>", "was", "##ser"], "##")
    Reading(upper_case=False, accents=False)
    >>> reading(["was", "##er", "Fluß", "größe"], "##")
    Reading(upper_case=True, accents=True)

    Complexity: linear in the vocabulary.
    """
    bodies = [token.removeprefix(prefix) for token in tokens]
    alphabet = sorted(set().union(*bodies) - {"\n"})  # a line feed is no part of any word
    if not alphabet:
        return Reading(upper_case=False, accents=False)
    cut = _cut(alphabet)
    words = [body for body in bodies if len(body) == 1 or cut.isdisjoint(body)]
    used = set().union(*words)
    upper, accented = (
        _changed(
            alphabet, BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=s, lowercase=not s)
        )
        for s in (False, True)
    )
    return Reading(not upper.isdisjoint(used), not accented.isdisjoint(used))


def _changed(alphabet: list[str], normalizer: BertNormalizer) -> set[str]:
    """Return the characters that a normalizer changes."""
    stages = _core.Stages(core_spec([normalizer], []))
    changed = stages.normalize("\n".join(alphabet).encode())[0].decode().split("\n")
    return {before for before, after in zip(alphabet, changed, strict=True) if before != after}


def _cut(alphabet: list[str]) -> set[str]:
    """Return the characters at which BERT cuts text: those that do not hold the letters around them together."""
    stages = _core.Stages(core_spec([], [BertPreTokenizer()]))
    groups = [f"a{character}a".encode() for character in alphabet]
    _, starts, ends, _, _ = stages.pre_tokenize(b" ".join(groups))
    pieces = set(zip(memoryview(starts), memoryview(ends), strict=True))
    cut = set()
    position = 0
    for character, group in zip(alphabet, groups, strict=True):
        if (position, position + len(group)) not in pieces:
            cut.add(character)
        position += len(group) + 1
    return cut
