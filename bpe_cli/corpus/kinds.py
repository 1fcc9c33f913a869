"""Detect from its first bytes and its name what a file holds: text, or what must not be read as text."""

from __future__ import annotations

import os

from bpe_cli.corpus.compression import MAGIC_BYTES
from bpe_cli.corpus.opening import NO_STDIN, SNIFF_BYTES, first_bytes, is_url, read_chunks
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING
from bpe_cli.support.messages import cannot_read

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of contents.

    Attributes:
        title: Its name in messages.
        advice: How to get at the text of what is not read; None for what is.
        is_table: Whether its rows are documents.
        is_stream: Whether a table is read from its beginning to its end, so that it may be compressed.
    """

    title: str
    advice: str | None = None
    is_table: bool = False
    is_stream: bool = False

    @property
    def is_text(self) -> bool:
        """Whether it is text, or cannot be told apart from text."""
        return self == TEXT


EMPTY = Kind("nothing")
TEXT = Kind("text")
OBJECT = Kind("a JSON object")
"""One line of JSON: text, unless lines of JSON are asked for."""
JSONL = Kind("JSON lines")
PARQUET = Kind("Parquet", is_table=True)
ARROW = Kind("Arrow", is_table=True)
CSV = Kind("CSV", is_table=True, is_stream=True)
TSV = Kind("TSV", is_table=True, is_stream=True)
TAR = Kind("a tar archive", is_table=True, is_stream=True)
"""Its members are documents."""
IDS = Kind("token ids that bpe encode wrote", "bpe decode --from bin turns them into text")
IDS_RECORD = Kind("the record of token ids")
SET_RECORD = Kind("the record of a data set")
_NUMPY = Kind("a NumPy array", "if it holds ids, bpe decode --from npy turns them into text")
_ARRAYS = Kind("a file of NumPy arrays")
_ZIP = Kind("a zip archive", "unpack it, as in: unzip -p FILE | bpe ...")
_SEVEN = Kind("a 7z archive", "unpack it, as in: 7z x -so FILE | bpe ...")
_RAR = Kind("a RAR archive", "unpack it, as in: unrar p -inul FILE | bpe ...")
_LZ4 = Kind("lz4 data", "decompress it, as in: lz4 -dc FILE | bpe ...")
_LZMA = Kind("lzma data", "decompress it, as in: xz --format=lzma -dc FILE | bpe ...")
_LZIP = Kind("lzip data", "decompress it, as in: lzip -dc FILE | bpe ...")
_COMPRESS = Kind("compress data", "decompress it, as in: zcat FILE | bpe ...")
_BROTLI = Kind("brotli data", "decompress it, as in: brotli -dc FILE | bpe ...")
_SNAPPY = Kind("snappy data", "decompress it, as in: snzip -dc FILE | bpe ...")
_PDF = Kind("a PDF", "take its text out, as in: pdftotext FILE - | bpe ...")
_SQLITE = Kind("an SQLite database", "export its text, as in: sqlite3 FILE 'select ...' | bpe ...")
_HDF5 = Kind("an HDF5 file", "export its text")
_AVRO = Kind("an Avro file", "convert it to JSON lines or Parquet")
_ORC = Kind("an ORC file", "convert it to JSON lines or Parquet")
_FEATHER_1 = Kind("a Feather file of version 1", "write it anew, as version 2, with pyarrow.feather")
_SEALED = Kind("encrypted Parquet", "decrypt it")

_MAGICS: tuple[tuple[bytes, Kind], ...] = (
    (b"ARROW1\0\0", ARROW),
    (b"PAR1\x15", PARQUET),  # what follows the magic is the header of a page, or the footer of a file without rows
    (b"FEA1\0\0\0\0", _FEATHER_1),
    (b"\x93NUMPY", _NUMPY),
    (b"PK\x03\x04", _ZIP),
    (b"PK\x05\x06", _ZIP),
    (b"7z\xbc\xaf\x27\x1c", _SEVEN),
    (b"Rar!\x1a\x07", _RAR),
    (b"\x04\x22\x4d\x18", _LZ4),
    (b"LZIP\x01", _LZIP),
    (b"\x1f\x9d", _COMPRESS),
    (b"\xff\x06\0\0sNaPpY", _SNAPPY),
    (b"SQLite format 3\0", _SQLITE),
    (b"\x89HDF\r\n\x1a\n", _HDF5),
    (b"Obj\x01", _AVRO),
)  # fmt: skip
_BOTH_ENDS = {b"PAR1": PARQUET, b"PARE": _SEALED}
"""Letters that text may begin with: they count where they stand at a file's end too."""

_TAR_MAGIC, _TAR_PLACE = b"ustar", 257
_FIRST_BYTES = frozenset(magic[0] for magic, _ in _MAGICS) | {0xFF, ord("%")}
MAGIC_ENOUGH = _TAR_PLACE + len(_TAR_MAGIC)
"""As many first bytes as ``kind_of_head`` wants to see."""

_NAMES = {
    ".jsonl": JSONL,
    ".ndjson": JSONL,
    ".csv": CSV,
    ".tsv": TSV,
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".arrow": ARROW,
    ".feather": ARROW,
    ".orc": _ORC,
    ".npy": _NUMPY,
    ".npz": _ARRAYS,
    ".zip": _ZIP,
    ".tar": TAR,
    ".tgz": TAR,
    ".7z": _SEVEN,
    ".rar": _RAR,
    ".lz4": _LZ4,
    ".lzma": _LZMA,
    ".lz": _LZIP,
    ".br": _BROTLI,
    ".snappy": _SNAPPY,
}
COMPRESSED_NAMES = (".gz", ".bz2", ".xz", ".zst", ".zstd")
"""How the names of files end that are compressed."""
_RECORD = b'"schema": "bpe-ids/'
_OF_SET = b'\n  "schema": "bpe-dataset'
"""Stands in what ``support.json_files`` writes of a data set: no text in JSON holds a line end."""


def is_json(ending: str) -> bool:
    """Return whether members of an archive that end so are JSON values: ``json``, or ``meta.json``."""
    return f".{ending}".endswith(".json")


def has_fields(kind: Kind | None, ending: str) -> bool:
    """Return whether the rows of an input have fields: the columns of a table, or those of JSON in an archive.

    >>> has_fields(CSV, "txt"), has_fields(TAR, "txt"), has_fields(TAR, "json"), has_fields(None, "txt")
    (True, False, True, False)

    Args:
        kind: What the input is, if that is known.
        ending: How the members of archives end that are documents.
    """
    return kind is not None and kind.is_table and (kind != TAR or is_json(ending))


def kind_of_head(head: bytes) -> Kind | None:
    r"""Recognise contents by their first bytes (``MAGIC_ENOUGH`` of them); None for text and all that has no mark.

    >>> kind_of_head(b"PK\x03\x04").title, kind_of_head(b"PARIS"), kind_of_head(b"\xff" * 8)
    ('a zip archive', None, None)
    """
    if head[:1] and head[0] in _FIRST_BYTES:
        known = next((kind for magic, kind in _MAGICS if head.startswith(magic)), None)
        if known is not None:
            return known
        if _is_arrow_stream(head):
            return ARROW
        if head.startswith((b"%PDF-1.", b"%PDF-2.")) and head[8:9] in (b"\r", b"\n"):
            return _PDF
    # The fields before it are filled up with NULs.
    return TAR if head.startswith(_TAR_MAGIC, _TAR_PLACE) and b"\0" in head[:_TAR_PLACE] else None


def _is_arrow_stream(head: bytes) -> bool:
    """Return whether data begins as an Arrow stream: the mark of a message, its length, and a table inside of that."""
    length, root = int.from_bytes(head[4:8], "little", signed=True), int.from_bytes(head[8:12], "little")
    return head.startswith(b"\xff\xff\xff\xff") and len(head) >= 12 and length % 8 == 0 and 4 <= root < length


def _kind_of_ends(path: str, head: bytes) -> Kind | None:
    """Recognise a file by letters at both of its ends."""
    kind = _BOTH_ENDS.get(head[:4])
    if kind is None:
        return None
    if is_url(path):
        from bpe_cli.corpus.objects.reading import find, read

        size = find(path).size
        return kind if size is not None and size >= 12 and read(path, size - 4, size) == head[:4] else None
    try:
        with open(path, "rb", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - 4, 0))
            return kind if size >= 12 and file.read(4) == head[:4] else None
    except OSError as error:
        raise cannot_read(path, error) from error


def kind_of_name(path: str) -> Kind | None:
    """Recognise contents by a file's name, that of compressed ones too; None for all other names.

    >>> kind_of_name("shards/A.JSONL.gz").title, kind_of_name("notes.txt.gz")
    ('JSON lines', None)
    """
    stem, ending = os.path.splitext(path.lower())
    return _NAMES.get(os.path.splitext(stem)[1] if ending in COMPRESSED_NAMES else ending)


def kind_of_file(path: str) -> tuple[Kind, bytes]:
    """Return what a regular file, or an object, holds; of what is compressed, what is in it.

    Returns:
        The kind, and the first bytes.

    Raises:
        InputError: if the file cannot be read, or its compressed data is damaged.
    """
    raw: list[bytes] = []
    chunks = read_chunks(path, stdin=NO_STDIN, chunk_bytes=SNIFF_BYTES, on_raw=raw.append)
    try:
        head = first_bytes(chunks)
        kind = kind_of_head(head) or _kind_of_ends(path, head) or kind_of_name(path)
        is_packed = raw and raw[0][:MAGIC_BYTES] != head[:MAGIC_BYTES]
        if kind is not None and kind.is_table and not kind.is_stream and is_packed:
            kind = Kind(f"compressed {kind.title}", "decompress it: such files are read as they are on disk")
        return kind or _kind_of_text(path, head, chunks), head
    finally:
        chunks.close()


def may_be_json_lines(head: bytes) -> bool:
    """Return whether data that begins so can be lines of JSON objects."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"")


def _kind_of_text(path: str, head: bytes, rest: Iterator[bytes]) -> Kind:
    if not head:
        return EMPTY
    if may_be_json_lines(head):
        from bpe_cli.corpus.jsonl import JsonLines

        lines = JsonLines()
        if lines.feed(head) is None:
            for chunk in rest:
                if lines.feed(chunk) is not None:
                    break
        if lines.finish():
            return JSONL
        if _RECORD in head:
            return IDS_RECORD
        if _is_record_of_set(path, head, rest):
            return SET_RECORD
        if lines.is_json:
            return OBJECT
    return IDS if _has_record(path) else TEXT


def _is_record_of_set(path: str, head: bytes, rest: Iterator[bytes]) -> bool:
    """Return whether a file is the plan, the manifest or a part's record; of files with such names all is looked at."""
    name = os.path.basename(path)
    is_named = name in ("plan.json", "manifest.json") or (name.startswith("part-") and name.endswith(".json"))
    if not is_named or not head.startswith(b'{\n  "'):
        return False
    seen = head
    while _OF_SET not in seen:
        chunk = next(rest, b"")
        if not chunk:
            return False
        seen = seen[-len(_OF_SET) :] + chunk
    return True


def _has_record(path: str) -> bool:
    """Return whether a record beside a file says that the file holds ids; beside objects nobody looks for one."""
    record = f"{path}.json"
    if is_url(path) or not os.path.isfile(record):
        return False
    try:
        with open(record, "rb", buffering=0) as file:
            return _RECORD in file.read(SNIFF_BYTES)
    except (OSError, ValueError):
        return False
