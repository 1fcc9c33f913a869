"""What the trainer of the authors of SuperBPE learnt, as it is recorded in ../shared; and text cut as they cut it."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bpe_cli.stages.spelling import from_visible
from bpe_cli.stages.splitters import RegexSplitter
from bpe_cli.teaching.frontier.superwords import lines_of

NAMES = (
    "botchan-800-500-1500",
    "code-1000-600-2000",
    "english-2500-1800-4000",
    "shakespeare-1500-all-2500",
    "udhr3-600-300-1200",
)


@dataclass(frozen=True)
class Case:
    """A training, and the encodings of its tokenizer.

    Attributes:
        texts: The corpus, a file each.
        words: The split pattern of the first stage.
        runs: That of the second.
        switch: How many merges the second stage was to take over.
        vocab_size: Tokens in the end.
        first_merges: The merges of the first stage.
        merges: Those of the second, the ones taken over first.
        tokens: Tokens by id.
        encodings: The ids of texts.
    """

    texts: list[bytes]
    words: str
    runs: str
    switch: int
    vocab_size: int
    first_merges: list[tuple[bytes, bytes]]
    merges: list[tuple[bytes, bytes]]
    tokens: list[bytes]
    encodings: list[tuple[str, list[int]]]

    @property
    def options(self) -> dict[str, Any]:
        """The options of ``train`` that ask for the same."""
        return {
            "vocab_size": self.vocab_size, "superwords": True, "switch": self.switch, "pattern": self.words,
            "run_pattern": self.runs, "initial_alphabet": "seen",
        }  # fmt: skip


def read_case(shared: Path, name: str) -> Case:
    """Read a case by its name."""
    folder = shared / "expected" / "frontier"
    case = json.loads(lzma.decompress((folder / "superbpe" / f"{name}.json.xz").read_bytes()))
    texts = [(shared / each["file"]).read_bytes()[: each["used_bytes"]] for each in case["inputs"]]
    suite = json.loads((shared / "expected" / "suite.json").read_text("utf-8"))["cases"]
    extra = json.loads((folder / "extra_texts.json").read_text("utf-8"))
    known = {each["id"]: each["text"] for each in suite} | extra
    return Case(
        texts,
        case["stage1_regex"],
        case["stage2_regex"],
        case["params"]["inherited_merges_asked"],
        case["params"]["vocab2"],
        [_pair(pair) for pair in case["stage1_merges"]],
        [_pair(pair) for pair in case["stage2_merges"]],
        [_bytes(token) for token in case["stage2_vocab"]],
        [(known[name], ids) for name, ids in case["encodings"].items()],
    )


def counted_lines(texts: Iterable[bytes], pattern: str) -> Counter[bytes]:
    """Count the pieces of all lines, each with its end, as a pattern cuts them."""
    splitter, counts = RegexSplitter([pattern]), Counter[bytes]()
    for text in texts:
        for line in lines_of(text):
            start = 0
            for end in splitter.split(line):
                counts[line[start:end]] += 1
                start = end
    return counts


def _bytes(token: str) -> bytes:
    spelt = from_visible(token)
    assert spelt is not None, token
    return spelt


def _pair(pair: list[str]) -> tuple[bytes, bytes]:
    left, right = pair
    return _bytes(left), _bytes(right)
