"""Text in memory to ids in memory, cold and warm; and to the number of ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.entries import Entry
from benchmarks.libraries import LIBRARIES, OURS
from benchmarks.vocabularies import Vocabulary

FIRST_ENCODING = "cl100k_base"
"""The encoding that all libraries are measured with; with the others those that may be the first."""

PASSES = 3
LEADERS = {
    "byte-level": (OURS, "gigatoken", "fastokens"),
    "wordpiece": (OURS, "splintr", "tokie"),
    "unigram": (OURS, "splintr", "sentencepiece"),
    "sentencepiece": (OURS, "gigatoken", "splintr"),
}
"""Who may be the first at a kind of tokenizer. The others are measured in fewer rounds, with one thread."""

OTHER_ROUNDS = 1
TWO_THREADS = ((OURS, ""), ("gigatoken", "file"))
"""Who is measured with two threads in memory, and in which way; as whole processes, more are."""

SLOW_AT_FASTOKENS = ("english", "code")
"""Where fastokens is measured with the first encoding only: it is no rival there on a first pass."""

OTHER_STRIDE = 3
"""Byte-level encodings but the first take every 3rd document."""

STAGED_TEXTS = ("english", "chinese")
STAGED_STRIDE = 4
"""Tokenizers with stages take every 4th document: the libraries beside us are that much slower."""

ENGLISH_ONLY = ("t5", "xlnet")


class Encode:
    """Encode each text: once cold, then warm."""

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        for vocabulary in plan.vocabularies.values():
            for text in plan.texts.values():
                if vocabulary.kind != "byte-level" and not self._is_staged_text(vocabulary, text.name, plan):
                    continue
                for threads in plan.threads if vocabulary.name == FIRST_ENCODING else (1,):
                    for name, way in self.ways(vocabulary):
                        leads = name in LEADERS[vocabulary.kind]
                        if threads > 1 and (name, way) not in TWO_THREADS:
                            continue
                        if name == "fastokens" and vocabulary.name != FIRST_ENCODING and text.name in SLOW_AT_FASTOKENS:
                            continue
                        stride = self.stride_of(name, vocabulary)
                        job = vocabulary.job(
                            operation="encode", library=name, way=way, threads=threads, passes=PASSES,
                            text=str(text.path), stride=stride,
                        )  # fmt: skip
                        rounds = plan.options.repetitions if leads else min(OTHER_ROUNDS, plan.options.repetitions)
                        entry = plan.entry(job, text.name, vocabulary.name, ("cold", "warm"), rounds)
                        entry.stride = stride
                        yield entry

    @staticmethod
    def _is_staged_text(vocabulary: Vocabulary, text: str, plan: Any) -> bool:
        wanted = [name for name in STAGED_TEXTS if name in plan.texts] or list(plan.texts)
        return text in (wanted[:1] if vocabulary.name in ENGLISH_ONLY else wanted)

    @staticmethod
    def ways(vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
        """Yield (library, way) of all that are measured with a tokenizer."""
        byte_level = vocabulary.kind == "byte-level"
        for name, library in LIBRARIES.items():
            if "encode" not in library.operations or vocabulary.kind not in library.kinds:
                continue
            if byte_level and name not in LEADERS["byte-level"] and vocabulary.name != FIRST_ENCODING:
                continue
            needs_json = name in ("tokenizers", "tokie") or (name in ("splintr", "gigatoken") and not byte_level)
            if needs_json and not vocabulary.tokenizer_json:
                continue
            if name == "sentencepiece" and not vocabulary.sentencepiece:
                continue
            # A file is read whole, so a part of a text is given as buffers.
            both = vocabulary.name == FIRST_ENCODING
            yield from ((name, way) for way in library.ways if not way or both or way == "buffers")

    @staticmethod
    def stride_of(library: str, vocabulary: Vocabulary) -> int:
        """State which every n-th document a library takes."""
        least = STAGED_STRIDE if vocabulary.kind != "byte-level" else OTHER_STRIDE
        return max(1 if vocabulary.name == FIRST_ENCODING else least, LIBRARIES[library].stride)

    def expected(self, plan: Any, entry: Entry, _: Sequence[Entry]) -> tuple[object, str]:
        """Return the reference's ids."""
        cell = entry.first
        reference, library = plan.reference(cell.text, cell.tokenizer, entry.stride)
        return reference["digest"], f"the ids of {library}"


class Count:
    """Count the tokens of each text, which only we can without making ids."""

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        vocabulary = plan.vocabularies.get(FIRST_ENCODING)
        if vocabulary is None:
            return
        for text in plan.texts.values():
            for threads in plan.threads:
                job = vocabulary.job(
                    operation="count", library=OURS, threads=threads, passes=PASSES, text=str(text.path)
                )
                yield plan.entry(job, text.name, vocabulary.name, ("cold", "warm"), plan.options.repetitions)

    def expected(self, plan: Any, entry: Entry, _: Sequence[Entry]) -> tuple[object, str]:
        """Return the number of the reference's ids."""
        reference, library = plan.reference(entry.first.text, entry.first.tokenizer, 1)
        return reference["tokens"], f"the number of ids of {library}"
