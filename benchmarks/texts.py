"""The texts that are measured on: prepared once a round, as files of documents with a NUL between them.

NUL, because no text has one (what has is left out) and one library can be told to cut files at it. So
all libraries get the same documents, whether as buffers, as strings or as a file.
"""

from __future__ import annotations

import hashlib
import itertools
import lzma
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SEPARATOR = b"\0"
DOCUMENT_BYTES = 8192
"""Running text is cut into documents at the first line end after this many bytes."""

BENCH_TEXTS = ("english", "code", "chinese", "multilingual")
"""Texts that lie beside the repository on some machines, as NAME.txt.xz."""

LINE = "The quick brown fox jumps over the lazy dog, 12345 times: 你好, мир!"
"""What a process encodes that is measured by its start."""

SHORT = "The quick brown fox jumps over the lazy dog, 12345 times."
"""What is encoded again and again, in one call after the other."""

PACKAGES, MESSAGES = "packages", "messages"
COLLECTIONS = (PACKAGES, MESSAGES)
"""Texts that are many separate ones: they are given to the libraries as such, and nothing is trained on them."""

PACKAGES_BYTES = 80_000_000
MESSAGE_BYTES = range(20, 601)
MESSAGE_NUMBER = 100_000

EVERYWHERE = "python"
"""The text that every machine has, for where there are no others."""


@dataclass(frozen=True, slots=True)
class Text:
    """A prepared text; ``path`` is the worker's business and does not enter results.json."""

    name: str
    path: Path
    source: str
    size: int  # in bytes, separators not counted
    documents: int
    sha256: str

    def describe(self) -> dict[str, object]:
        """Return what results.json says of it."""
        return {"source": self.source, "bytes": self.size, "documents": self.documents, "sha256": self.sha256}


def cut(data: bytes, least: int = DOCUMENT_BYTES) -> list[bytes]:
    r"""Cut running text into documents at line ends.

    >>> cut(b"a\nbc\nd\n", least=2)
    [b'a\nbc\n', b'd\n']
    """
    documents = []
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + least) + 1 or len(data)
        documents.append(data[start:end])
        start = end
    return documents


def whole_lines(data: bytes) -> bytes:
    r"""Drop what follows the last line end.

    >>> whole_lines(b"a\nb")
    b'a\n'
    """
    return data[: data.rfind(b"\n") + 1] or data


def stride_for(size: int, wanted: int | None) -> int:
    """State which every n-th document to take to get about so many bytes, spread over the whole text.

    >>> stride_for(30_000_000, 20_000_000), stride_for(30_000_000, None), stride_for(40, 10)
    (2, 1, 4)
    """
    return 1 if wanted is None else max(1, round(size / wanted))


SPELT_SPECIAL = (b"<s>", b"</s>", b"<unk>", b"<pad>", b"<|endoftext|>", b"<|", b"[UNK]", b"[SEP]", b"[CLS]", b"[MASK]")
"""Special tokens that a text may spell: several libraries make control tokens of them, which is another text then."""


def usable(data: bytes) -> bool:
    """Return whether all libraries can take a document: not empty, no NUL, no special token spelt out, valid UTF-8."""
    if not data or SEPARATOR in data or any(special in data for special in SPELT_SPECIAL):
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def python_sources(repository: Path) -> list[bytes]:
    """Return the sources of Python's standard library and the repository's corpora, a document a file."""
    library = Path(sysconfig.get_path("stdlib"))
    installed = {"site-packages", "dist-packages"}
    paths = [path for path in sorted(library.rglob("*.py")) if not installed & set(path.relative_to(library).parts)]
    paths += sorted(path for path in (repository / "corpora").rglob("*") if path.is_file())
    contents = (path.read_bytes() for path in paths)
    return [content for content in contents if usable(content)]


def package_sources(limit: int) -> tuple[list[bytes], str]:
    """Return about so many bytes of the Python packages that are installed, a document a file, and their source.

    Code that nobody has tuned a tokenizer to: it differs from machine to machine.
    """
    folder = Path(sysconfig.get_path("purelib"))
    contents = [path.read_bytes() for path in sorted(folder.rglob("*.py")) if path.is_file()]
    documents = [content for content in contents if usable(content)]
    stride = stride_for(sum(map(len, documents)), limit)
    packages = sum(path.suffix == ".dist-info" for path in folder.iterdir())
    source = f"the sources of {packages} installed Python packages" + (
        f", every {ordinal(stride)} file" if stride > 1 else ""
    )
    return documents[::stride], source


def messages(of: Iterable[Text], number: int) -> list[bytes]:
    """Return lines of some texts as short as people's messages, from each as many, by turns."""
    several = list(of)
    lines = []
    for text in several:
        short = [
            line for line in text.path.read_bytes().replace(SEPARATOR, b"").split(b"\n")
            if len(line) in MESSAGE_BYTES and line.strip() == line
        ]  # fmt: skip
        wanted = -(-number // len(several))
        stride = max(1, len(short) // wanted)
        lines.append(short[::stride][:wanted])
    return [line for turn in itertools.zip_longest(*lines) for line in turn if line is not None][:number]


def bench_text(path: Path, limit: int | None) -> list[bytes]:
    """Return the documents of the first ``limit`` bytes of a compressed text."""
    with lzma.open(path) as file:
        data = file.read() if limit is None else file.read(limit)
    return [document for document in cut(whole_lines(data)) if usable(document)]


def store(name: str, documents: Iterable[bytes], source: str, folder: Path) -> Text:
    """Write a text where workers find it."""
    parts = list(documents)
    path = folder / f"{name}.txt"
    data = SEPARATOR.join(parts)
    path.write_bytes(data)
    size = len(data) - (len(parts) - 1)
    return Text(name, path, source, size, len(parts), hashlib.sha256(data).hexdigest())


def shortened(text: Text, size: int, folder: Path) -> Text:
    """Store the first documents of a text, about so many bytes."""
    documents, taken = [], 0
    for document in read(text.path):
        if taken >= size:
            break
        documents.append(document)
        taken += len(document)
    return store(f"{text.name} {size // 1_000_000} MB", documents, f"the first {size // 1_000_000} MB of it", folder)


def running(path: Path, stride: int = 1) -> Path:
    """Store every ``stride``-th document of a stored text as one, without NULs, and give the file."""
    one = path.with_name(f"{path.stem} {stride} running.txt")
    if not one.exists():
        one.write_bytes(b"".join(read(path, stride)))
    return one


def without(path: Path, lacking: bytes) -> Path:
    """Store a stored text without the documents that have one of some bytes, and give the file."""
    if not lacking:
        return path
    documents = read(path)
    left = [document for document in documents if len(document.translate(None, lacking)) == len(document)]
    if len(left) == len(documents):
        return path
    rest = path.with_name(f"{path.stem} without {lacking.hex()[:100]}.txt")
    if not rest.exists():
        rest.write_bytes(SEPARATOR.join(left))
    return rest


def read(path: Path, stride: int = 1) -> list[bytes]:
    """Read every ``stride``-th document of a stored text."""
    return path.read_bytes().split(SEPARATOR)[::stride]


def prepare(names: Iterable[str], folder: Path, repository: Path, limit: int | None) -> list[Text]:
    """Prepare texts of about ``limit`` bytes each (None: whole); those that the machine has not are left out."""
    prepared: list[Text] = []
    beside = repository.parent / "shared" / "corpora" / "bench"
    chosen = set(names)
    for name in BENCH_TEXTS:
        if name in chosen and (beside / f"{name}.txt.xz").is_file():
            source = f"{name}.txt" + ("" if limit is None else f", first {limit / 1e6:g} MB")
            prepared.append(store(name, bench_text(beside / f"{name}.txt.xz", limit), source, folder))
    if EVERYWHERE in chosen and not prepared:
        documents = python_sources(repository)
        stride = stride_for(sum(map(len, documents)), limit)
        source = "Python's standard library and corpora/" + (f", every {ordinal(stride)} file" if stride > 1 else "")
        prepared.append(store(EVERYWHERE, documents[::stride], source, folder))
    collections = []
    if PACKAGES in chosen:
        documents, source = package_sources(min(limit or PACKAGES_BYTES, PACKAGES_BYTES))
        collections.append(store(PACKAGES, documents, source, folder))
    if MESSAGES in chosen and prepared:
        source = f"lines of {MESSAGE_BYTES[0]} to {MESSAGE_BYTES[-1]} bytes of the texts above, by turns"
        collections.append(store(MESSAGES, messages(prepared, MESSAGE_NUMBER), source, folder))
    return prepared + collections


def ordinal(number: int) -> str:
    """Return a number as the word that follows "every".

    >>> [ordinal(number) for number in (2, 3, 10)]
    ['2nd', '3rd', '10th']
    """
    tens = 10 < number % 100 < 20
    return f"{number}{'th' if tens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
