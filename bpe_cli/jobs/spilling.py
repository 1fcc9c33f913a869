"""Count more pieces than memory holds: counts that outgrow it go to temporary files, and are added up at the end.

Each time, the pieces are divided among ``PARTITIONS`` files by their hashes, with the number that says in which order
they came. One file at a time is added up, and then all are put together by number: byte for byte what one table gives.
The files have no names, so that the system removes them whatever ends the run. They lie where ``TMPDIR`` says.
"""

from __future__ import annotations

import hashlib
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Self

from bpe_cli import _core
from bpe_cli.errors import TrainingError
from bpe_cli.stages.counting import ALL_MEMORY
from bpe_cli.support.listening import SILENCE, Listener
from bpe_cli.support.temporary_files import close_quietly, temporary_failures, temporary_folder
from bpe_cli.trainers.counts import new_counts

if TYPE_CHECKING:
    from types import TracebackType

    from bpe_cli.support.blocks import Block
    from bpe_cli.trainers.base import Options, Trainer

_LENGTH_BYTES = 8
"""Bytes of the number before some records in a file: how many bytes of records follow."""


class CountsOnDisk:
    """Counts in a temporary file, as the core serialises them: a context, at whose end the file is gone.

    Attributes:
        unique: Number of different pieces.
        total: Number of pieces, repetitions counted.
        sha256: The hash of the bytes.

    Args:
        file: The file.
        lengths: The bytes of the parts in which it was written, each of whole pieces.
        unique: As the attribute.
        total: As the attribute.
        sha256: As the attribute.
    """

    def __init__(self, file: IO[bytes], lengths: Sequence[int], unique: int, total: int, sha256: str) -> None:
        self._file = file
        self._lengths = lengths
        self.unique = unique
        self.total = total
        self.sha256 = sha256

    @classmethod
    def of(cls, counts: _core.Counts) -> Self:
        """Write counts that are in memory to a temporary file.

        Raises:
            OutputError: if the file cannot be written.
        """
        data = counts.dump()
        with ExitStack() as failing, _failures():
            file = _temporary()
            failing.callback(close_quietly, file)
            file.write(data)
            file.flush()
            failing.pop_all()
        return cls(file, [len(data)], counts.unique, counts.total, hashlib.sha256(data).hexdigest())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes, some at a time."""
        self._file.seek(0)
        while chunk := self._file.read(1 << 20):
            yield chunk

    def parts(self) -> Iterator[_core.Counts]:
        """Yield the counts, packed, some pieces at a time.

        Raises:
            TrainingError: if they pass 2^64 together.
        """
        self._file.seek(0)
        for length in self._lengths:
            yield _packed(self._file.read(length))

    def load(self, max_memory: int) -> _core.Counts:
        """Read the counts to train on, packed: the bytes of each piece, and two or three more.

        Raises:
            TrainingError: if they take more memory, or pass 2^64 together.
        """
        size = self._file.seek(0, 2)
        if size > max_memory:
            raise TrainingError(
                f"training needs all {self.unique:,} different pieces in memory: {size >> 20:,} MiB",
                hint="raise `max_memory`, split the text more finely, or train on a sample; "
                "`counts_out` saves the counts of a corpus of any size",
            )
        self._file.seek(0)
        return _packed(self._file.read())


Counted = _core.Counts | CountsOnDisk
"""What was counted: in memory, or in a temporary file."""


def in_memory(counts: Counted, max_memory: int) -> _core.Counts:
    """Return counts to train on; a file that they were in is gone.

    Raises:
        TrainingError: if they take more memory, or pass 2^64 together.
    """
    if not isinstance(counts, CountsOnDisk):
        return counts
    with counts:
        return counts.load(max_memory)


def parts_of(counts: Counted) -> Iterator[_core.Counts]:
    """Yield counts to add to others: some pieces at a time of those in a file, which stays.

    Raises:
        TrainingError: if they pass 2^64 together.
    """
    return counts.parts() if isinstance(counts, CountsOnDisk) else iter((counts,))


def held_within(
    counted: Iterable[tuple[str, Counted]], max_memory: int, files: ExitStack, listener: Listener = SILENCE
) -> list[tuple[str, Counted]]:
    """Hold the counts of several corpora in so much memory and what those take that come next.

    Args:
        counted: The name of each corpus and its counts, which are made when they are asked for.
        max_memory: Bytes that they may take together; if it is more, they go to temporary files.
        files: Closes the files.
        listener: Receives a note when the first counts go to files.

    Raises:
        OutputError: if the files cannot be written.
    """
    held: list[tuple[str, Counted]] = []
    is_noted = False
    for name, counts in counted:
        held.append((name, files.enter_context(counts) if isinstance(counts, CountsOnDisk) else counts))
        del counts  # else they would stay until the next are there
        if sum(each.memory for _, each in held if not isinstance(each, CountsOnDisk)) <= max_memory:
            continue
        if not is_noted:
            _note_files(max_memory, listener)
            is_noted = True
        held = [
            (owner, each if isinstance(each, CountsOnDisk) else files.enter_context(CountsOnDisk.of(each)))
            for owner, each in held
        ]
    return held


def count_within(
    trainer: Trainer[Any],
    blocks: Iterable[Block],
    options: Options,
    *,
    max_memory: int,
    threads: int = 1,
    trains: bool = True,
    listener: Listener = SILENCE,
) -> Counted:
    """Count the pieces of blocks as a trainer cuts them, in so much memory and what one block adds to it.

    Args:
        trainer: What cuts them.
        blocks: The documents.
        options: What is to be trained.
        max_memory: Bytes that the counts may take; more of them go to temporary files.
        threads: Number of threads. Never changes the result.
        trains: Whether the counts are trained on at once, so that there must be some.
        listener: Receives notes: of temporary files, and of documents that were left out.

    Raises:
        TrainingError: if the text cannot be cut, or no document is left to train on.
        OutputError: if the temporary files cannot be written.
    """
    counts = new_counts(ALL_MEMORY)
    with Spilling(counts, max_memory, listener) as spilling:
        left_out = trainer.count(spilling.watch(blocks), options, counts, threads)
        spilling.check()
        counted = spilling.finish()
    if trains:
        left_out.refuse_nothing(counted.unique)
    for note in left_out.notes:
        listener.note(note)
    return counted


class Spilling:
    """Counts of any size: a context in which they are added to, and at whose end the files are gone.

    Args:
        counts: The counts, which are emptied into files whenever they take more memory.
        max_memory: Bytes that they may take. What one block of text adds comes on top.
        listener: Receives a note when the first counts go to files.
    """

    def __init__(self, counts: _core.Counts, max_memory: int, listener: Listener = SILENCE) -> None:
        self._counts = counts
        self._max_memory = max_memory
        self._listener = listener
        self._files: list[IO[bytes]] = []
        self._numbered = 0
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def watch(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield blocks, whose pieces are counted before the next is asked for."""
        for block in blocks:
            self.check()
            yield block

    def check(self) -> None:
        """Empty the counts if they take too much memory.

        Raises:
            OutputError: if the files cannot be written.
        """
        if self._counts.memory > self._max_memory:
            self._spill()

    def finish(self) -> Counted:
        """Return all that was counted.

        Raises:
            OutputError: if the files cannot be written.
            TrainingError: if the pieces of one of the files take too much memory: there are 64 times as many; or if the
                counts pass 2^64 together.
        """
        if not self._files:
            return self._counts
        self._spill()
        merged = [self._added_up(file) for file in self._files]
        hashed, lengths = hashlib.sha256(), array("Q")

        def write(data: bytes) -> None:
            out.write(data)
            hashed.update(data)
            lengths.append(len(data))

        with ExitStack() as failing, _failures(), sums():
            out = _temporary()
            failing.callback(close_quietly, out)
            unique, total = _core.merge_numbered(len(merged), lambda number: _read(merged[number]), write)
            out.flush()
            failing.pop_all()
        return CountsOnDisk(out, lengths, unique, total, hashed.hexdigest())

    def _open(self) -> IO[bytes]:
        """Open a file that is closed at the end of the context."""
        file = _temporary()
        self._stack.callback(close_quietly, file)
        return file

    def _spill(self) -> None:
        """Write all counts to the files, and empty them."""
        if not self._files:
            _note_files(self._max_memory, self._listener)
            self._files = [self._open() for _ in range(_core.PARTITIONS)]
        number = self._counts.unique
        with _failures():
            self._counts.spill(self._numbered, lambda which, records: _write(self._files[which], records))
        self._numbered += number

    def _added_up(self, file: IO[bytes]) -> IO[bytes]:
        """Add up the records of a file, and return the file of the sum; the first one is closed."""
        own = _core.NumberedCounts(self._max_memory)
        with _failures(), sums():
            file.seek(0)
            while (records := _read(file)) is not None:
                try:
                    own.add(records)
                except _core.MemoryBoundError as error:
                    raise TrainingError(
                        f"a {_core.PARTITIONS}th of the counts does not fit: {error}", hint="raise `max_memory`"
                    ) from error
            file.close()
            out = self._open()
            own.write(partial(_write, out))
            out.seek(0)
        return out


def _note_files(max_memory: int, listener: Listener) -> None:
    most = f"{max_memory >> 20:,} MiB"
    listener.note(f"the counts take more than {most}: they go to temporary files{temporary_folder()}")


def _write(file: IO[bytes], records: bytes) -> None:
    file.write(len(records).to_bytes(_LENGTH_BYTES, "little"))
    file.write(records)


def _read(file: IO[bytes]) -> bytes | None:
    """Return the next records of a file; None at its end."""
    length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
    return file.read(length) or None


def _packed(data: bytes) -> _core.Counts:
    """Return counts that are only read.

    Raises:
        TrainingError: if they pass 2^64 together.
    """
    with sums():
        return _core.Counts.packed(data)


def _temporary() -> IO[bytes]:
    with _failures():
        return tempfile.TemporaryFile(prefix="bpe-counts-")


@contextmanager
def sums(where: str = "") -> Iterator[None]:
    """Turn what the core says of counts that pass 2^64 into an error of the training.

    Args:
        where: What was being added, and a colon; empty if nobody knows.

    Raises:
        TrainingError: if counts are too large.
    """
    try:
        yield
    except ValueError as error:
        raise TrainingError(f"{where}{error}", hint="no corpus is that large: count again") from error


def _failures() -> AbstractContextManager[None]:
    return temporary_failures("the counts", ", or raise `max_memory`")
