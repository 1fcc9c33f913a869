"""Write text in subwords: ``low@@ er``, as subword-nmt's ``apply-bpe`` does (Sennrich et al., arXiv:1508.07909).

Here a word's text is kept, whatever the vocabulary has: no ids, nothing unknown. The core merges, and
what it gives is written as text again. Where subword-nmt's answer is an accident of its code (glossaries
with groups or alternatives, a vocabulary without words) this gives what its documentation says; the
tests name each case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from bpe_cli import _core
from bpe_cli.errors import FormatError, UsageError
from bpe_cli.stages import CharacterBpe, CharDelimiterSplit
from bpe_cli.stages.component_json import core_model, core_spec
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.support.core_arguments import bytes_of
from bpe_cli.tokenizer.engine import Place, Sampling, variation

_PRINTABLE = frozenset(map(chr, range(0x21, 0x7F)))
_UNKNOWN = 0
_AROUND = b"\r\n "
_TEXTS_AT_ONCE = 1 << 12
# Two bytes that no UTF-8 has: one stands behind a text, and one for an unknown token, of which a text
# has to be looked at again.
_END, _HARD = b"\xff", b"\xfe"
_CACHED_WORDS = 1 << 16

Stretch = tuple[str, bool]
"""A part of a word, and whether a glossary matched it, so that it stays whole."""


class Segmenter:
    """Cut the words of lines into subwords.

    Args:
        merges: Pairs in order of priority; of a pair that appears twice the first counts.
        suffix: What marks the end of a word in them.
        separate_suffix: Whether it is a symbol of its own (codes of version 0.1).
        vocabulary: Subwords that may be written, with ``separator`` where a word goes on: all others are
            taken apart again, merge by merge, down to characters. None: all may be.
        glossaries: Expressions in the syntax of ``re``; what they match in a word is left whole, and
            apart from the rest of the word.
        separator: The mark after a subword that does not end its word.
        dropout: Probability to leave a merge out, drawn anew at each step (Provilkov et al.,
            arXiv:1910.13267, algorithm 1).
        seed: What draws depend on (below 2^64), with the number of the line and the place in it.

    Raises:
        UsageError: if a glossary does not compile, ``dropout`` is not a probability or ``seed`` too large.
        InputError: if a merge holds a lone surrogate, which stands for no bytes.
        FormatError: if there are more merges than the core has room for.

    >>> Segmenter([("l", "o"), ("lo", "w</w>")]).segment("low  lower")
    'low lo@@ w@@ e@@ r'
    """

    def __init__(
        self,
        merges: Iterable[tuple[str, str]],
        suffix: str = "</w>",
        *,
        separate_suffix: bool = False,
        vocabulary: Collection[str] | None = None,
        glossaries: Sequence[str] = (),
        separator: str = "@@",
        dropout: float = 0.0,
        seed: int = 0,
    ) -> None:
        if not 0 <= dropout <= 1:
            raise UsageError(f"a dropout of {dropout} is not a probability: it must be between 0 and 1")
        if not 0 <= seed < 1 << 64:
            raise UsageError("the seed must be at least 0 and below 2^64")
        pairs = [pair for pair in dict.fromkeys(merges) if all(pair)]  # nothing is merged with an empty symbol
        self._parts: dict[str, tuple[str, str]] = {}
        for left, right in pairs:
            self._parts.setdefault(left + right, (left, right))
        self._suffix, self._separate = suffix, separate_suffix
        self._vocabulary = vocabulary
        self._glossaries = [_compile(glossary) for glossary in glossaries]
        self._separator = separator
        self._sampling = Sampling("dropout", dropout, seed=seed) if dropout else None
        self._texts = _symbols(pairs, suffix, separate_suffix)
        self._pipeline = _pipeline(self._texts, pairs, suffix, separate_suffix)
        # A token that ends with the suffix ends a word, so that what is written for a token depends on
        # nothing else: if the suffix is part of a word's last symbol, and its text occurs in no word.
        self._written: list[bytes] = []
        if suffix and not separate_suffix:
            written = [bytes_of(self._write(text)) for text in self._texts[_UNKNOWN + 1 :]]
            if not any(mark in text for text in written for mark in (_END, _HARD)):
                self._written = [_HARD + b" ", *written]
        self._stretches = lru_cache(_CACHED_WORDS)(self._isolate)

    def line(self, line: str, number: int = 0) -> str:
        """Segment a line, and keep the blanks and line ends around it.

        Blanks inside become one. ``number`` is the line's in the whole input: draws depend on it.
        """
        return _text(self.lines([bytes_of(line)], number)[0])

    def lines(self, lines: Sequence[bytes], number: int = 0, threads: int = 1) -> list[bytes]:
        """Segment lines as ``line`` does, the first of which has a number; threads change no result."""
        bare = [line.strip(_AROUND) for line in lines]
        segmented = self._segment(bare, number, threads)
        if bare == lines:
            return segmented
        return [
            line.replace(text, done, 1) if text else line
            for line, text, done in zip(lines, bare, segmented, strict=True)
        ]

    def segment(self, text: str, number: int = 0) -> str:
        """Segment words with blanks between them, and join the results with blanks."""
        return _text(self._segment([bytes_of(text)], number, 1)[0])

    def _segment(self, texts: Sequence[bytes], number: int, threads: int) -> list[bytes]:
        cut = (
            {place: words for place, text in enumerate(texts) if (words := self._cut(text))} if self._glossaries else {}
        )
        block = Block.of(
            bytes_of(" ".join(part for word in cut[place] for part, whole in word if not whole))
            if place in cut
            else text
            for place, text in enumerate(texts)
        )
        if self._sampling is None:
            encoded = self._pipeline.encode(block.data, block.ends, None, threads)
        else:
            encoded = self._pipeline.sample(block, variation(self._sampling, Place(number)), None, threads)
        ids, ends = memoryview(encoded[0]), memoryview(encoded[1])
        segmented = _joined(self._written, ids, ends) if self._written else [_HARD] * len(texts)
        suffix = bytes_of(self._suffix)
        hard = {*cut, *(place for place, text in enumerate(segmented) if _HARD in text)}
        if suffix and suffix in block.data:
            hard.update(place for place, text in enumerate(texts) if suffix in text)
        for place in hard:
            tokens = iter(ids[ends[place - 1] if place else 0 : ends[place]])
            segmented[place] = bytes_of(self._read(tokens, cut.get(place) or _words(_text(texts[place]))))
        return segmented

    def _write(self, token: str) -> str:
        """Write a token with the separator after it."""
        final = token.endswith(self._suffix)
        *inner, last = self._known(token.removesuffix(self._suffix) if final else token, final)
        return " ".join([*(part + self._separator for part in inner), last if final else last + self._separator, ""])

    def _read(self, ids: Iterator[int], words: Iterable[Iterable[Stretch]]) -> str:
        """Write words by the parts that their tokens cover."""
        separated: list[str] = []
        for word in words:
            *inner, last = (part for text, whole in word for part in ([text] if whole else self._subwords(text, ids)))
            separated += [part + self._separator for part in inner]
            separated.append(last)
        return " ".join(separated)

    def _subwords(self, text: str, ids: Iterator[int]) -> list[str]:
        """Return the subwords of a stretch, given its tokens."""
        parts = []
        start, end = 0, len(text) + len(self._suffix)
        while start < end:
            token = self._texts[next(ids)]
            # What is unknown is one character; the last one has the suffix with it.
            length = len(token) or (1 if self._separate or start + 1 < len(text) else 1 + len(self._suffix))
            parts.append(text[start : start + length])
            start += length
        if not parts[-1]:  # the suffix alone
            parts.pop()
        *inner, last = parts
        return [*(known for part in inner for known in self._known(part, False)), *self._known(last, True)]

    def _known(self, part: str, final: bool) -> list[str]:
        """Undo merges until every part is in the vocabulary, or is not the product of a merge."""
        if self._vocabulary is None or len(part) == 1:
            return [part]
        done: list[str] = []
        waiting = [(part, final)]
        while waiting:
            text, final = waiting.pop()
            pair = None
            if (text if final else text + self._separator) not in self._vocabulary:
                pair = self._parts.get(text + self._suffix if final else text)
                while pair is not None and final and pair[1] == self._suffix:
                    pair = self._parts.get(pair[0])  # the suffix alone is no subword
            if pair is None:
                done.append(text)
            else:
                right = pair[1].removesuffix(self._suffix) if final else pair[1]
                waiting += [(right, final), (pair[0], False)]
        return done

    def _cut(self, text: bytes) -> list[list[Stretch]] | None:
        """Cut a text into words, and these at the matches of glossaries; None if none matches."""
        words = [self._stretches(word) for word in _text(text).split(" ") if word]
        return words if any(whole for word in words for _, whole in word) else None

    def _isolate(self, word: str) -> list[Stretch]:
        stretches = [(word, False)]
        for glossary in self._glossaries:
            stretches = [
                part for text, whole in stretches for part in ([(text, True)] if whole else _isolate(text, glossary))
            ]
        return stretches


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _joined(written: Sequence[bytes], ids: memoryview, ends: memoryview) -> list[bytes]:
    """Join the subwords of each text, for many texts at once, as most are short."""
    joined: list[bytes] = []
    start = before = 0
    for first in range(0, len(ends), _TEXTS_AT_ONCE):
        some = ends[first : first + _TEXTS_AT_ONCE].tolist()
        parts = [b"", *map(written.__getitem__, ids[start : some[-1]])]
        for end in some:
            last = parts[end - start]
            parts[end - start] = (last[:-1] if end > before else last) + _END
            before = end
        joined += b"".join(parts).split(_END)[:-1]
        start = before
    return joined


def _words(text: str) -> list[list[Stretch]]:
    return [[(word, False)] for word in text.split(" ") if word]


def _symbols(pairs: Iterable[tuple[str, str]], suffix: str, separate: bool) -> list[str]:
    """List the texts of tokens: the unknown one, which has none, those of merges, and characters.

    Characters without a merge come along so that hardly any is unknown, which takes longer to write.
    """
    texts = dict.fromkeys(text for left, right in pairs for text in (left, right, left + right))
    characters = sorted(_PRINTABLE.union(*texts))
    ends = [suffix] if separate else [character + suffix for character in characters]
    return ["", *dict.fromkeys([*texts, *characters, *filter(None, ends)])]


def _pipeline(texts: Sequence[str], pairs: Iterable[tuple[str, str]], suffix: str, separate: bool) -> _core.Encoder:
    ids = {text: token_id for token_id, text in enumerate(texts)}
    model = CharacterBpe(
        Vocabulary.from_tokens([bytes_of(text) for text in texts]),
        Merges.from_pairs((ids[left], ids[right], ids[left + right]) for left, right in pairs),
        unk_id=_UNKNOWN,
        end_of_word_suffix=suffix,
        separate_suffix=separate,
    )
    try:
        return _core.Encoder(
            _core.Stages(core_spec((), (CharDelimiterSplit(" "),))),
            json.dumps(json.loads(core_model(model)) | {"by_steps": True}),
            (model.vocabulary.blob, model.vocabulary.ends),
            merges=model.merges.triples,
        )
    except ValueError as error:
        raise FormatError(f"the merges cannot be run: {error}") from error


def _compile(glossary: str) -> re.Pattern[str]:
    try:
        return re.compile(glossary)
    except (re.error, RecursionError, OverflowError, ValueError) as error:
        raise UsageError(f"the glossary {glossary!r} does not compile: {error}") from error


def _isolate(word: str, glossary: re.Pattern[str]) -> list[Stretch]:
    """Cut a word into what a glossary matches (True) and what stands between."""
    if glossary.fullmatch(word):
        return [(word, True)]
    stretches = []
    position = 0
    for match in glossary.finditer(word):
        if match.end() > match.start():
            stretches += [(word[position : match.start()], False), (match[0], True)]
            position = match.end()
    stretches.append((word[position:], False))
    return [(text, whole) for text, whole in stretches if text]
