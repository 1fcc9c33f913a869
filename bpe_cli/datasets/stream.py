"""The rows of a data set as a stream: shuffled, shared by ranks and workers, and resumable.

All ranks have one order. It is dealt out in batches: the first to rank 0, the next to rank 1, and again from the start;
and those of a rank to its workers in the same way. So every step takes the next ``world_size`` batches of the order,
whatever the number of workers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Literal, Protocol

from bpe_cli.datasets.order import Order, numpy
from bpe_cli.errors import UsageError
from bpe_cli.support.core_arguments import one_of, whole_number
from bpe_cli.support.fast_dataclass import dataclass

_SCHEMA = "bpe-stream/1"
_AT_ONCE = 4096


class Rows(Protocol):
    """What a stream needs of a data set."""

    @property
    def sha256(self) -> str: ...  # noqa: D102
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Any: ...


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How a stream has the rows: see ``TokenDataset.stream``.

    Raises:
        UsageError: if the rank is not in the range of ``world_size``.
        TypeError: if a number has the wrong type.
    """

    rank: int = 0
    world_size: int = 1
    seed: int | None = None
    epoch: int = 0
    batch_size: int = 1
    block: int | None = None
    tail: Literal["keep", "drop", "repeat"] = "keep"

    def __post_init__(self) -> None:
        whole_number("world_size", self.world_size, 1)
        if whole_number("rank", self.rank, 0) >= self.world_size:
            raise UsageError(f"there is no rank {self.rank} of {self.world_size}", hint="the first is 0")
        whole_number("epoch", self.epoch, 0)
        whole_number("batch_size", self.batch_size, 1)
        if self.seed is not None:
            whole_number("seed", self.seed, 0)
        if self.block is not None:
            whole_number("block", self.block, 1)
        one_of("tail", self.tail, ("keep", "drop", "repeat"))


class TokenStream:
    """The rows of a data set in an order, those of one rank: see ``TokenDataset.stream``.

    Each pass over it has the rows of the epoch from the start; the first one after ``load_state_dict`` goes on where
    the state was. It is an ``IterableDataset`` for PyTorch if that is imported before the stream is made, and works
    with the ``StatefulDataLoader`` of torchdata.

    Attributes:
        dataset: The data set.
        options: What ``stream`` was called with.
    """

    def __init__(self, dataset: Rows, options: StreamOptions) -> None:
        self.dataset = dataset
        self.options = options
        self._epoch: Any = _shared(options.epoch)
        self._start = 0  # how many rows of this rank were taken before, by streams without workers
        self._worker = (0, 1)  # who takes the rest: which worker, of how many
        self._taken = 0  # how many it has taken
        self._goes_on = False
        _register()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        _register()

    @property
    def epoch(self) -> int:
        """The epoch, which makes another order of the same seed."""
        return int(self._epoch)

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next pass, also for the workers that a ``DataLoader`` keeps alive."""
        whole_number("epoch", epoch, 0)
        if isinstance(self._epoch, int):
            self._epoch = epoch
        else:
            self._epoch.fill_(epoch)

    def __len__(self) -> int:
        """Return how many rows this rank has in a pass, whoever takes them."""
        size, ranks = self.options.batch_size, self.options.world_size
        rounds, rest = divmod(len(self.dataset), size * ranks)
        if self.options.tail == "keep":
            return rounds * size + min(size, max(0, rest - self.options.rank * size))
        return (rounds + (self.options.tail == "repeat" and rest > 0)) * size

    def __iter__(self) -> Iterator[Any]:
        worker = _worker()
        if not self._goes_on:
            self._start, self._taken = 0, 0
        elif self._taken and worker != self._worker:
            if self._worker != (0, 1):
                raise UsageError(
                    f"the state is that of worker {self._worker[0]} of {self._worker[1]}, "
                    f"and this is worker {worker[0]} of {worker[1]}",
                    hint="go on with as many workers as before",
                )
            self._start, self._taken = self._start + self._taken, 0
        self._worker, self._goes_on = worker, False
        return self._rows(self._start, *worker)

    def _rows(self, start: int, worker: int, workers: int) -> Iterator[Any]:
        """Yield the rows that a worker has still to take."""
        np, options = numpy(), self.options
        order = Order(len(self.dataset), options.seed, self.epoch, options.block)
        size, count = options.batch_size, len(self)
        while True:
            mine = np.arange(self._taken, self._taken + _AT_ONCE, dtype=np.int64)
            among = start + (mine // size * workers + worker) * size + mine % size
            among = among[among < count]
            if not len(among):
                return
            places = (among // size * options.world_size + options.rank) * size + among % size
            for row in order.rows((places % len(self.dataset)).astype(np.uint64)).tolist():
                self._taken += 1
                yield self.dataset[row]

    def state_dict(self) -> dict[str, Any]:
        """Return where the pass is, as JSON values, for ``load_state_dict``.

        Of a stream that the workers of a ``DataLoader`` read, only they know it: ``StatefulDataLoader`` asks them.
        """
        return {**self._described(), "epoch": self.epoch, "start": self._start, "taken": self._taken,
                "worker": self._worker[0], "workers": self._worker[1]}  # fmt: skip

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on in the next pass where a state was.

        Raises:
            UsageError: if it is the state of another stream, or of nothing.
        """
        own = self._described()
        if state.get("schema") != _SCHEMA:
            raise UsageError("this is not the state of a stream of rows")
        if other := [key for key, value in own.items() if state.get(key) != value]:
            raise UsageError(
                f"the state is that of another stream: its {other[0]} is {state.get(other[0])!r}, not {own[other[0]]!r}"
            )
        numbers = [whole_number(key, state[key], 0) for key in ("epoch", "start", "taken", "worker", "workers")]
        self.set_epoch(numbers[0])
        self._start, self._taken = numbers[1:3]
        self._worker = numbers[3], numbers[4]
        self._goes_on = True

    def _described(self) -> dict[str, Any]:
        """Return what must be the same for a state to mean the same rows."""
        names = ("rank", "world_size", "seed", "batch_size", "block", "tail")
        options = {name: getattr(self.options, name) for name in names}
        return {"schema": _SCHEMA, "dataset": self.dataset.sha256, "rows": len(self.dataset), **options}


def _torch() -> Any:
    """Return what PyTorch has for data sets, if a program has imported it; nothing here imports it."""
    return sys.modules.get("torch.utils.data")


def _register() -> None:
    """Make streams be an ``IterableDataset``: its ``DataLoader`` asks for the class, not for methods."""
    data = _torch()
    if data is not None:
        data.IterableDataset.register(TokenStream)


def _worker() -> tuple[int, int]:
    """Return which worker of a ``DataLoader`` this process is, and of how many; the only one elsewhere."""
    data = _torch()
    info = None if data is None else data.get_worker_info()
    return (0, 1) if info is None else (info.id, info.num_workers)


def _shared(epoch: int) -> Any:
    """Return the epoch, in memory that workers of PyTorch share where they may: those that live on hear of the next."""
    torch = sys.modules.get("torch") if _torch() is not None else None
    return epoch if torch is None else torch.tensor(epoch, dtype=torch.int64).share_memory_()
