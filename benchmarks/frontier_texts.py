"""The texts of ``frontier.py``: one file a language to train on, and documents apart that training does not see.

The bench texts do not say which languages they have. Three are taken as they are (English, code, Chinese). The fourth
is a mix of hundreds of languages in pieces of all lengths, so it is divided by script, line by line.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import texts
from bpe_cli.reports.tokenizer.structure import scripts_of

PLAIN = ("english", "code", "chinese")
"""Texts that are taken as they are."""

MIXED = "multilingual"

SCRIPTS = {
    "latin": ("Latin",), "cyrillic": ("Cyrillic",), "japanese": ("Hiragana", "Katakana"), "greek": ("Greek",),
    "arabic": ("Arabic",), "khmer": ("Khmer",), "tibetan": ("Tibetan",), "devanagari": ("Devanagari",),
    "hangul": ("Hangul",), "armenian": ("Armenian",),
}  # fmt: skip
"""What is made of the fourth text, by the names of Unicode's scripts. Chosen before anything was measured: scripts with
at least 150 kB in many documents. Lines in others are left out, and those in Han, whose language is not certain."""

DEVELOPMENT = {
    "english": "eng", "chinese": "cmn_hans", "latin": "fra", "cyrillic": "rus", "japanese": "jpn",
    "greek": "ell_monotonic", "arabic": "arb", "khmer": "khm", "tibetan": "bod", "devanagari": "hin", "hangul": "kor",
    "armenian": "hye",
}  # fmt: skip
"""The translation of the Universal Declaration of Human Rights that says how dear a part is, for parity-aware BPE: of
parts in several languages, one of them. Code has none, so it is learnt as English is."""

HELD_OUT = 8
"""The last of so many parts of a language is held out."""

DOCUMENT_BYTES = 2048
"""A document ends with the line that passes this size: small, so that a script with little text has several."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A file to learn from.

    Attributes:
        language: What parity-aware BPE is told that it is.
        development: The development set of that language; None if another corpus of it has one, or there is none.
    """

    path: Path
    language: str
    development: Path | None = None


@dataclass(frozen=True, slots=True)
class Language:
    """The text of a language.

    Attributes:
        training: Documents to learn from.
        held_out: Documents from the end of the text.
    """

    name: str
    training: list[bytes]
    held_out: list[bytes]

    def describe(self) -> dict[str, object]:
        """Return what the results say of it."""
        return {
            "name": self.name,
            "training_bytes": sum(map(len, self.training)),
            "held_out_bytes": sum(map(len, self.held_out)),
            "held_out_documents": len(self.held_out),
        }

    def corpus(self, folder: Path, developments: Path) -> Corpus:
        """Write the text to learn from; development sets lie in a folder, if there are any."""
        path = folder / f"{self.name}.txt"
        path.write_bytes(b"".join(self.training))
        development = developments / f"{DEVELOPMENT.get(self.name)}.txt"
        language = "english" if self.name == "code" else self.name
        return Corpus(path, language, development if development.is_file() else None)

    def held_out_file(self, folder: Path) -> Path:
        """Write the documents that are held out as JSON lines."""
        path = folder / f"{self.name}.jsonl"
        path.write_text("".join(json.dumps({"text": each.decode()}) + "\n" for each in self.held_out), encoding="utf-8")
        return path


def divided(lines: Iterable[str], names: dict[str, str]) -> dict[str, list[str]]:
    r"""Divide lines by the name that most of their letters have; one without letters goes with the line before.

    Args:
        lines: The lines.
        names: What each letter belongs to.

    >>> divided(["да\n", "--\n", "no, дада\n", "yes, да\n"], dict.fromkeys("да", "ru") | dict.fromkeys("noyes", "en"))
    {'ru': ['да\n', '--\n', 'no, дада\n'], 'en': ['yes, да\n']}
    """
    found: dict[str, list[str]] = {}
    last = ""
    for line in lines:
        counts = Counter(names[character] for character in line if character in names)
        if counts:
            last = counts.most_common(1)[0][0]
        found.setdefault(last, []).append(line)
    return found


def split(name: str, data: bytes, most: int) -> Language:
    """Take at most so many bytes from the beginning to learn from, and an eighth of that from the end.

    >>> language = split("x", b"".join(b"%0127d\\n" % number for number in range(800)), 1 << 20)
    >>> language.describe()
    {'name': 'x', 'training_bytes': 91392, 'held_out_bytes': 11008, 'held_out_documents': 6}
    """
    documents = [each for each in texts.cut(data, DOCUMENT_BYTES) if texts.usable(each)]
    aside = len(documents) // HELD_OUT
    training, held_out = documents[: len(documents) - aside], documents[len(documents) - aside :]
    return Language(name, [*_first(training, most)], [*_first(reversed(held_out), most // HELD_OUT)][::-1])


def _first(documents: Iterable[bytes], most: int) -> Iterator[bytes]:
    """Yield documents until they have so many bytes."""
    size = 0
    for document in documents:
        if size >= most:
            return
        yield document
        size += len(document)


def languages(folder: Path, most: int) -> list[Language]:
    """Return the languages of the bench texts in a folder, of each at most so many bytes to learn from."""
    found = [split(name, texts.whole_lines(_read(folder, name)), most) for name in PLAIN]
    mixed = texts.whole_lines(_read(folder, MIXED)).decode("utf-8", "surrogateescape")
    names = {script: name for name, members in SCRIPTS.items() for script in members}
    letters = {letter: names.get(script, script) for letter, script in scripts_of({*mixed}).items()}
    by_script = divided([f"{line}\n" for line in mixed.split("\n")[:-1]], letters)
    texts_of = {name: "".join(by_script.get(name, ())).encode("utf-8", "surrogateescape") for name in SCRIPTS}
    return found + [split(name, text, most) for name, text in texts_of.items()]


def _read(folder: Path, name: str) -> bytes:
    with lzma.open(folder / f"{name}.txt.xz") as file:
        return file.read()
