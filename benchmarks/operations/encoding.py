"""Text in memory to ids in memory, cold and warm; and to the number of ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks import texts
from benchmarks.entries import Entry
from benchmarks.libraries import LIBRARIES, OURS
from benchmarks.texts import COLLECTIONS
from benchmarks.vocabularies import OWN_PATTERN, Vocabulary

FIRST_ENCODING = "cl100k_base"
"""The encoding that all libraries are measured with; with the others those that may be the first."""

PASSES = 3
LEADERS = {
    "byte-level": (OURS, "gigatoken", "fastokens"),
    "stages": (OURS, "gigatoken", "splintr", "fastokens"),
    "wordpiece": (OURS, "splintr", "tokie"),
    "unigram": (OURS, "splintr", "sentencepiece"),
    "sentencepiece": (OURS, "gigatoken", "splintr"),
}
"""Who may be the first at a kind of tokenizer. The others run once, with one thread; again if they are near."""

OTHER_ROUNDS = 1

OWN_PATTERN_LIBRARIES = (OURS, "fastokens", "splintr", "tiktoken", "tokenizers")
"""Who takes a pattern of one's own: gigatoken says that it does not, tokie makes other pieces."""

PART_STRIDE = 4
"""Tokenizers with stages, and those with a pattern of one's own, take every 4th document: all are that much slower."""

STAGED_TEXTS = ("english", "chinese")
ENGLISH_ONLY = ("t5", "xlnet", OWN_PATTERN)


class Encode:
    """Encode each text: once cold, then warm."""

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        for vocabulary in plan.vocabularies.values():
            for text in [*plan.texts.values(), *plan.collections.values()]:
                if not self._is_measured(vocabulary, text.name, plan):
                    continue
                for threads in plan.threads if vocabulary.name == FIRST_ENCODING else (1,):
                    for name, way in self.ways(vocabulary, text.name):
                        leads = name in LEADERS[vocabulary.kind]
                        if threads > 1 and not leads:
                            continue
                        stride = self.stride_of(name, vocabulary)
                        job = vocabulary.job(
                            operation="encode", library=name, way=way, threads=threads, passes=PASSES,
                            text=str(texts.without(text.path, vocabulary.lacks)), stride=stride,
                        )  # fmt: skip
                        rounds = plan.options.repetitions if leads else OTHER_ROUNDS
                        entry = plan.entry(job, text.name, vocabulary.name, ("cold", "warm"), rounds)
                        entry.stride = stride
                        yield entry

    @staticmethod
    def _is_measured(vocabulary: Vocabulary, text: str, plan: Any) -> bool:
        if text in COLLECTIONS:
            return vocabulary.name == FIRST_ENCODING
        if vocabulary.kind == "byte-level" and vocabulary.name != OWN_PATTERN:
            return True
        wanted = [name for name in STAGED_TEXTS if name in plan.texts] or list(plan.texts)
        return text in (wanted[:1] if vocabulary.name in ENGLISH_ONLY else wanted)

    @classmethod
    def ways(cls, vocabulary: Vocabulary, text: str) -> Iterator[tuple[str, str]]:
        """Yield (library, way) of all that are measured with a tokenizer and a text."""
        byte_level = vocabulary.kind == "byte-level"
        for name, library in LIBRARIES.items():
            if "encode" not in library.operations or vocabulary.kind not in library.kinds:
                continue
            if vocabulary.name == OWN_PATTERN:
                if name not in OWN_PATTERN_LIBRARIES:
                    continue
            elif byte_level and name not in LEADERS["byte-level"] and vocabulary.name != FIRST_ENCODING:
                continue
            needs_json = name in ("tokenizers", "tokie") or (name in ("splintr", "gigatoken") and not byte_level)
            if needs_json and not vocabulary.tokenizer_json:
                continue
            if name == "sentencepiece" and not vocabulary.sentencepiece:
                continue
            yield from ((name, way) for way in library.ways if cls._suits(name, way, vocabulary, text))

    @classmethod
    def _suits(cls, library: str, way: str, vocabulary: Vocabulary, text: str) -> bool:
        """Return whether a library is measured this way: collections as separate texts, others whole or from a file."""
        if not LIBRARIES[library].ways[1:]:
            return True
        in_parts = text in COLLECTIONS or cls.stride_of(library, vocabulary) > 1
        if vocabulary.name == FIRST_ENCODING or library != OURS:
            return way == "buffers" or not in_parts
        return (way == "buffers") == in_parts

    @staticmethod
    def stride_of(library: str, vocabulary: Vocabulary) -> int:
        """State which every n-th document a library takes."""
        whole = vocabulary.kind == "byte-level" and vocabulary.name != OWN_PATTERN
        return max(1 if whole else PART_STRIDE, LIBRARIES[library].stride)

    def expected(self, plan: Any, entry: Entry, _: Sequence[Entry]) -> tuple[object, str]:
        """Return the reference's ids of the documents, or of the one text that they are together."""
        cell = entry.first
        in_one = cell.library == OURS and not cell.way
        reference, library = plan.reference(cell.text, cell.tokenizer, entry.stride, running=in_one)
        return reference["digest"], f"the ids of {library}"


class EncodeWithFewer(Encode):
    """Encode each text as on a machine with fewer instructions, which are hidden from all libraries."""

    def __init__(self, level: str) -> None:
        self.level = level

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round; none where nothing can be hidden."""
        vocabulary = plan.vocabularies.get(FIRST_ENCODING)
        if vocabulary is None or plan.hider is None:
            return
        for text in plan.texts.values():
            for name, way in self.ways(vocabulary, text.name):
                if name in LEADERS[vocabulary.kind] and (name != OURS or not way):
                    job = vocabulary.job(
                        operation="encode", library=name, way=way, passes=PASSES, text=str(text.path),
                        level=self.level, hider=str(plan.hider),
                    )  # fmt: skip
                    yield plan.entry(job, text.name, vocabulary.name, ("cold", "warm"), plan.options.repetitions)


class Count:
    """Count the tokens of each text, without giving ids."""

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        vocabulary = plan.vocabularies.get(FIRST_ENCODING)
        if vocabulary is None:
            return
        for text in plan.texts.values():
            for threads in plan.threads:
                for name, library in LIBRARIES.items():
                    if "count" not in library.operations or (library.slow and threads > 1):
                        continue
                    job = vocabulary.job(
                        operation="count", library=name, threads=threads, passes=PASSES, text=str(text.path),
                        stride=library.stride,
                    )  # fmt: skip
                    rounds = OTHER_ROUNDS if library.slow else plan.options.repetitions
                    entry = plan.entry(job, text.name, vocabulary.name, ("cold", "warm"), rounds)
                    entry.stride = library.stride
                    yield entry

    def expected(self, plan: Any, entry: Entry, _: Sequence[Entry]) -> tuple[object, str]:
        """Return the number of the reference's ids."""
        reference, library = plan.reference(entry.first.text, entry.first.tokenizer, entry.stride)
        return reference["tokens"], f"the number of ids of {library}"
