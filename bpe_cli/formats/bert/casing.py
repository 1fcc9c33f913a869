"""Infer from a BERT vocabulary alone in which spelling words are looked up in it.

A token can be met only if normalized text can contain it. If no token of a word has an upper-case letter,
text has to be lower-cased, or every word with a capital is unknown; if some have one, text must not be, or those
are never met. The same with what stripping accents changes: accents, and characters that it takes apart
(Hangul syllables). Tokens with punctuation inside do not count, ``[PAD]`` or ``<S>``: text is cut there.
"""

from __future__ import annotations

import re
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
    """Look at the words of a vocabulary; ``prefix`` is what those tokens begin with that go on inside a word.

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


# --------------------------------------------------------------------------------------------------
# Distinguish BERT's vocabularies from other files by what they begin with.


_UNKNOWN = (b"[UNK]", b"[unk]")
_FRAMES = ((b"[CLS]", b"[SEP]"), (b"[cls]", b"[sep]"))
_JSON_HEAD = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.){0,400}"\s*:\s*\d')
_JSON_KEY = re.compile(rb'"((?:[^"\\]|\\.){0,100})"\s*:\s*\d')


def sniff(head: bytes) -> bool:
    """Return whether a file begins like BERT's vocabulary, as lines or as a JSON object."""
    return _sniff_json(head) if head.lstrip()[:1] == b"{" else _sniff_lines(head)


def _sniff_lines(head: bytes) -> bool:
    """Look for BERT's special tokens, each on a line of its own, among lines that are different and have no blanks."""
    cut = head.rfind(b"\n")
    lines = [line.removesuffix(b"\r") for line in head[: cut if cut >= 0 else None].split(b"\n")]
    lines = [line for line in lines if line]  # an empty one is an id without a token
    distinct = set(lines)
    unknown = [name for name in _UNKNOWN if name in distinct]
    framed = any(frame[0] in distinct and frame[1] in distinct for frame in _FRAMES)
    if not unknown or not (framed or any(line[:2] == b"##" and len(line) > 2 for line in distinct)):
        return False
    # Texts about BERT, and tokens written one a line, have these lines too.
    blank = sum(b" " in line or b"\t" in line for line in lines)
    return blank * 100 <= len(lines) and len(distinct) * 100 >= len(lines) * 99 and lines.count(unknown[0]) == 1


def _sniff_json(head: bytes) -> bool:
    """Look for tokens that go on inside a word; a byte-level vocabulary has next to none."""
    if not _JSON_HEAD.match(head):
        return False
    keys = _JSON_KEY.findall(head)
    continuing = sum(key[:2] == b"##" and key[2:3] not in (b"", b"#") for key in keys)
    byte_level_words = any(key.startswith(("Ġ".encode(), b"\\u0120")) for key in keys)
    named = any(name in keys for name in _UNKNOWN)
    return not byte_level_words and continuing > 0 and (named or continuing * 50 >= len(keys))
