"""A file of text to a file of ids, as a whole process: starting, loading, reading, encoding, writing."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import texts
from benchmarks.entries import Entry
from benchmarks.libraries import LIBRARIES, OURS
from benchmarks.operations.encoding import FIRST_ENCODING, OTHER_ROUNDS
from benchmarks.processes import bpe_command, digest_of_file, timed
from benchmarks.results import Cell
from benchmarks.vocabularies import Vocabulary

TEXTS = ("english", "chinese", "multilingual")
SMALL = 1_000_000
RIVALS = ("gigatoken", "fastokens", "splintr", "tiktoken")


class Whole:
    """Encode files to files of u32 ids.

    The documents of the rivals' files have a NUL between them, which their scripts cut at, so that
    they can use their threads; ours is one running text, as people have it.
    """

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        vocabulary = plan.vocabularies.get(FIRST_ENCODING)
        if vocabulary is None:
            return
        chosen = [plan.texts[name] for name in TEXTS if name in plan.texts] or list(plan.texts.values())
        small = texts.shortened(chosen[0], SMALL, plan.folder)
        plan.parts[small.name] = small
        for text in [*chosen, small]:
            for threads in plan.threads:
                for name in (OURS, *RIVALS):
                    library = LIBRARIES[name]
                    if library.slow and (name == "splintr") != (text is small) and name != "tiktoken":
                        continue
                    if name == "tiktoken" and (threads > 1 or text.name not in ("english", small.name)):
                        continue
                    cell = Cell("whole", "", text.name, vocabulary.name, threads, name)
                    if plan.versions[name] is None:
                        cell.status = "not installed"
                    rounds = OTHER_ROUNDS if library.slow else plan.options.repetitions
                    yield Entry({"": cell}, rounds, partial(self.measure, plan, vocabulary, text, name, threads))

    @staticmethod
    def measure(plan: Any, vocabulary: Vocabulary, text: texts.Text, name: str, threads: int) -> dict[str, Any]:
        """Run one process and look at the file that it wrote."""
        target = plan.folder / "whole.bin"
        if name == OURS:
            command = [
                *bpe_command(), "encode", str(texts.running(text.path)), "-t", vocabulary.load, "--to", "bin",
                "-o", str(target), "--threads", str(threads),
            ]  # fmt: skip
        else:
            command = [
                sys.executable, "-c", LIBRARIES[name].whole, vocabulary.name, texts.LINE, vocabulary.pattern,
                vocabulary.ranks, vocabulary.tokenizer_json, vocabulary.scheme, str(text.path), str(target),
                str(threads),
            ]  # fmt: skip
        taken = timed(command, threads)
        size = target.stat().st_size
        answer = {
            "bytes": text.size, "documents": text.documents, "tokens": size // 4, "passes": [taken],
            "peak": taken["peak"], "digest": digest_of_file(target),
        }  # fmt: skip
        target.unlink()
        Path(f"{target}.json").unlink(missing_ok=True)
        return answer

    def expected(self, plan: Any, entry: Entry, _: Sequence[Entry]) -> tuple[object, str]:
        """Return the reference's ids of the documents, or of the running text, which is one document."""
        cell = entry.first
        reference, library = plan.reference(cell.text, cell.tokenizer, 1, running=cell.library == OURS)
        return reference["digest"], f"the ids of {library}"
