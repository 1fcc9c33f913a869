"""The tokenizers that texts are encoded with: each in all the files that libraries load it from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.jobs import Job

FROM_FILE = "gpt2-file"
"""gpt2's table read from a file, as a table of one's own is, beside the one that is built in."""

OWN_PATTERN = "own-pattern"
"""gpt2's table with a split pattern that somebody made: no library knows it beforehand."""

PATTERN = r" ?\p{L}+| ?\p{N}{1,2}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""That pattern."""

BYTE_LEVEL = ("cl100k_base", "o200k_base", "gpt2", FROM_FILE, "llama3", OWN_PATTERN)
"""Byte-level encodings; llama3 lies beside the repository on some machines, the others are built in."""

DEEPSEEK = "deepseek-v3"
"""gpt2's table cut by the three patterns of DeepSeek V3, one after the other."""

GIGATOKEN_SCHEMES: dict[str, str] = {
    "gpt2": "gpt2", FROM_FILE: "gpt2", "cl100k_base": "gpt4", "o200k_base": "o200k",
}  # fmt: skip

LLAMA3 = Path("llama3-tiktoken", "tokenizer.model")

STAGED: dict[str, tuple[str, Path | None, str]] = {
    "bert": ("wordpiece", Path("bert-base-uncased", "vocab.txt"), "tokenizers"),
    "t5": ("unigram", Path("t5-small", "tokenizer.json"), "tokenizers"),
    "xlnet": ("unigram", Path("xlnet-base-cased", "spiece.model"), "sentencepiece"),
    "llama2": ("sentencepiece", Path("llama2", "tokenizer.model"), "sentencepiece"),
    "mistral": ("sentencepiece", Path("mistral-spm-v1", "tokenizer.model.v1"), "sentencepiece"),
    "qwen2.5": ("stages", Path("hf-qwen2_5", "tokenizer.json"), "tokenizers"),
    "clip": ("stages", Path("clip", "tokenizer.json"), "tokenizers"),
    "falcon": ("stages", Path("falcon", "tokenizer.json"), "tokenizers"),
    DEEPSEEK: ("stages", None, "tokenizers"),
}
"""Tokenizers with stages before their model: the kind, the file that lies beside the repository, who is right."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A tokenizer and the files that hold it; ``""`` for what cannot hold it.

    ``kind`` is ``byte-level``, ``stages`` (the same behind a normalizer or several splits), ``wordpiece``,
    ``unigram`` or ``sentencepiece`` (pairs of characters by scores); ``reference`` the library whose ids
    are right; ``lacks`` the ASCII bytes that it has no token for: ours refuses documents with one, others drop it, so
    that they are not measured; the rest is as in :class:`Job`.
    """

    name: str
    kind: str
    reference: str
    load: str
    pattern: str = ""
    scheme: str = ""
    ranks: str = ""
    tokenizer_json: str = ""
    sentencepiece: str = ""
    lacks: bytes = b""

    def job(self, **what: Any) -> Job:
        """Return a job with this tokenizer."""
        return Job(
            tokenizer=self.name, kind=self.kind, load=self.load, pattern=self.pattern, scheme=self.scheme,
            ranks=self.ranks, tokenizer_json=self.tokenizer_json, sentencepiece=self.sentencepiece, **what,
        )  # fmt: skip


def with_short_scores(document: str) -> str:
    """Return a tokenizer.json of a unigram model with scores of four digits.

    Libraries that read those of many digits a little wrong would decide between equal sums in another way
    (tests/differential/test_score_digits.py).
    """
    contents = json.loads(document)
    contents["model"]["vocab"] = [[token, round(score, 4)] for token, score in contents["model"]["vocab"]]
    return json.dumps(contents, ensure_ascii=False)


def refused(tokenizer: Any) -> bytes:
    """Return the ASCII bytes that a tokenizer of ours has no token for: Falcon's has none for 14 of them."""
    from bpe_cli import InputError

    found = bytearray()
    for byte in range(128):
        try:
            tokenizer.encode(bytes([byte]))
        except InputError:
            found.append(byte)
    return bytes(found)


def unescaped(pattern: str) -> str:
    r"""Return a pattern with characters in place of escapes: as in DeepSeek's own file, by which libraries know it.

    >>> unescaped(r"[\u4E00-\u9FA5\r\n]\p{N}")
    '[一-龥\r\n]\\p{N}'
    """
    pattern = re.sub(r"\\u([0-9A-F]{4})", lambda escape: chr(int(escape[1], 16)), pattern)
    return pattern.replace(r"\r", "\r").replace(r"\n", "\n")


def cut_by(patterns: Iterable[str], document: bytes) -> str:
    """Return a tokenizer.json of a byte-level model that cuts by each of the patterns in turn."""
    contents = json.loads(document)
    splits = [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        for pattern in patterns
    ]
    bytes_alone = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    contents["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [*splits, bytes_alone]}
    return json.dumps(contents, ensure_ascii=False)


def prepare(name: str, folder: Path, repository: Path) -> Vocabulary | None:
    """Write a tokenizer's files; None if the machine has not what it is made from."""
    from bpe_cli import load
    from bpe_cli.formats import dump
    from bpe_cli.formats.gguf.splits import SPLITS
    from bpe_cli.stages.patterns import PATTERNS

    vocabularies = repository.parent / "shared" / "vocabs"
    ranks, hf_json = folder / f"{name}.tiktoken", folder / f"{name}.json"
    if name == DEEPSEEK:
        document = dump(load("gpt2"), "tokenizer.json")[""]
        hf_json.write_text(cut_by(map(unescaped, SPLITS[DEEPSEEK]), document), encoding="utf-8")
        return Vocabulary(name, "stages", "tokenizers", str(hf_json), tokenizer_json=str(hf_json))
    if name in STAGED:
        kind, path, reference = STAGED[name]
        source = vocabularies / path
        if not source.is_file():
            return None
        if kind == "stages":
            lacks = refused(load(source))
            return Vocabulary(name, kind, reference, str(source), tokenizer_json=str(source), lacks=lacks)
        if source.suffix == ".json":
            hf_json.write_text(with_short_scores(source.read_text(encoding="utf-8")), encoding="utf-8")
            source = hf_json
        elif name != "xlnet":  # whose rules Hugging Face's library would apply in another way
            hf_json.write_bytes(dump(load(source), "tokenizer.json")[""])
        return Vocabulary(
            name, kind, reference, str(source), tokenizer_json=str(hf_json) if hf_json.is_file() else "",
            sentencepiece=str(source) if reference == "sentencepiece" else "",
        )  # fmt: skip
    if name == "llama3":
        source = vocabularies / LLAMA3
        if not source.is_file():
            return None
        pattern = PATTERNS["llama3"].regex
        hf_json = vocabularies / "hf-llama3" / "tokenizer.json"
        return Vocabulary(
            name, "byte-level", "tiktoken", str(source), pattern, ranks=str(source), tokenizer_json=str(hf_json)
        )
    is_own = name in (FROM_FILE, OWN_PATTERN)
    tokenizer = load("gpt2" if is_own else name)
    ranks.write_bytes(dump(tokenizer, "tiktoken")[""])
    if name == OWN_PATTERN:
        tokenizer = load(ranks, pattern=PATTERN)
    hf_json.write_bytes(dump(tokenizer, "tokenizer.json")[""])
    return Vocabulary(
        name, "byte-level", "tiktoken", str(ranks) if is_own else name, tokenizer.patterns[0],
        GIGATOKEN_SCHEMES.get(name, ""), ranks=str(ranks), tokenizer_json=str(hf_json),
    )  # fmt: skip
