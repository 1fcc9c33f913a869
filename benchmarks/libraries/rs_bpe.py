"""rs_bpe, which carries OpenAI's encodings with it."""

from __future__ import annotations

from typing import Any

from benchmarks.jobs import Job, Task
from benchmarks.libraries.calls import calls


class RsBpe:
    """Measured where it is known for its speed: at starting, at counting, and at short texts."""

    distribution = "rs-bpe"
    stride = 20
    ways = ("",)
    operations = ("count", "short", "start")
    kinds = ("byte-level",)
    slow = True

    def load_from(self, job: Job) -> Any:
        """Take one of its encodings."""
        from rs_bpe import openai

        return getattr(openai, job.tokenizer)()

    def count(self, job: Job, documents: list[bytes]) -> Task:
        """Count the tokens of strings, one after the other."""
        encoding, texts = self.load_from(job), [document.decode() for document in documents]
        return Task(lambda: [encoding.count(text) for text in texts], sum)

    def short(self, job: Job, texts: list[str], repeats: int) -> Task:
        """Encode each text in a call."""
        return calls(self.load_from(job).encode, texts, repeats)

    start = """\
import sys
from rs_bpe import openai
print(*getattr(openai, sys.argv[1])().encode(sys.argv[2]))"""
