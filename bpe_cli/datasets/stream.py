"""The rows of a data set as a stream: shuffled, shared by ranks and workers, and resumable.

All ranks have one order. It is dealt out in batches: the first to rank 0, the next to rank 1, and again from the start;
and those of a rank to its workers in the same way. So every step takes the next ``world_size`` batches of the order,
whatever the number of workers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Protocol, cast

from bpe_cli.datasets.order import Order, numpy
from bpe_cli.errors import UsageError
from bpe_cli.support.core_arguments import one_of, whole_number
from bpe_cli.support.fast_dataclass import dataclass

_SCHEMA = "bpe-stream/1"
_AT_ONCE = 4096
_NONE = -1
"""Stands for no pass of a ``DataLoader``."""


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
        self._of = options.epoch  # the epoch of the pass that these three tell of
        self._start = 0  # how many rows of this rank were taken before, by streams without workers
        self._worker = (0, 1)  # who takes the rest: which worker, of how many
        self._taken = 0  # how many it has taken
        self._goes_on = False
        self._loading: Any = _shared(_NONE)  # the pass of a DataLoader that has gone on, which all its workers are in
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
        self._epoch = _set(self._epoch, whole_number("epoch", epoch, 0))

    def __len__(self) -> int:
        """Return how many rows this rank has in a pass, whoever takes them."""
        size, ranks = self.options.batch_size, self.options.world_size
        rounds, rest = divmod(len(self.dataset), size * ranks)
        if self.options.tail == "keep":
            return rounds * size + min(size, max(0, rest - self.options.rank * size))
        return (rounds + (self.options.tail == "repeat" and rest > 0)) * size

    def __iter__(self) -> Iterator[Any]:
        number, workers, loading = _worker()
        epoch, worker = self.epoch, (number, workers)
        if not self._goes_on or self._of != epoch or self._has_gone_on(loading):
            self._start, self._taken = 0, 0
        elif self._taken and worker != self._worker:
            if self._worker != (0, 1):
                raise UsageError(
                    f"the state is that of worker {self._worker[0]} of {self._worker[1]}, "
                    f"and this is worker {number} of {workers}",
                    hint="go on with as many workers as before",
                )
            self._start, self._taken = self._start + self._taken, 0
        self._of, self._worker, self._goes_on = epoch, worker, False
        return self._rows(epoch, self._start, self._taken, *worker)

    def _has_gone_on(self, loading: int) -> bool:
        """Return whether an earlier pass has gone on from the state, and note that this one does if none has.

        A process whose ``DataLoader`` has workers makes no pass itself: with each pass, new workers get what it has
        loaded. Only those of the first one go on there.
        """
        before = int(self._loading)
        if before == _NONE and loading != _NONE:
            self._loading = _set(self._loading, loading)
        return before not in (_NONE, loading)

    def _rows(self, epoch: int, start: int, taken: int, worker: int, workers: int) -> Iterator[Any]:
        """Yield the rows that a worker has still to take."""
        np, options = numpy(), self.options
        order = Order(len(self.dataset), options.seed, epoch, options.block)
        size, count = options.batch_size, len(self)
        while True:
            mine = np.arange(taken, taken + _AT_ONCE, dtype=np.int64)
            among = start + (mine // size * workers + worker) * size + mine % size
            among = among[among < count]
            if not len(among):
                return
            places = (among // size * options.world_size + options.rank) * size + among % size
            for row in order.rows((places % len(self.dataset)).astype(np.uint64)).tolist():
                taken += 1
                self._taken = taken
                yield self.dataset[row]

    def state_dict(self) -> dict[str, Any]:
        """Return where the pass is, as JSON values, for ``load_state_dict``; at the start, if the epoch was set since.

        Of a stream that the workers of a ``DataLoader`` read, only they know it: ``StatefulDataLoader`` asks them.
        """
        start, taken = (self._start, self._taken) if self._of == self.epoch else (0, 0)
        return {**self._described(), "epoch": self.epoch, "start": start, "taken": taken,
                "worker": self._worker[0], "workers": self._worker[1]}  # fmt: skip

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on in the next pass where a state was, unless another epoch is set before.

        Raises:
            UsageError: if it is the state of another stream, or of nothing.
        """
        own, given = self._described(), cast("Any", state)
        places = ("epoch", "start", "taken", "worker", "workers")
        if not isinstance(given, Mapping) or given.get("schema") != _SCHEMA or not given.keys() >= {*places}:
            raise UsageError("this is not the state of a stream of rows")
        if other := [key for key, value in own.items() if given.get(key) != value]:
            raise UsageError(
                f"the state is that of another stream: its {other[0]} is {given.get(other[0])!r}, not {own[other[0]]!r}"
            )
        numbers = [whole_number(key, given[key], 0) for key in places]
        self.set_epoch(numbers[0])
        self._of, self._start, self._taken = numbers[:3]
        self._worker = numbers[3], numbers[4]
        self._goes_on, self._loading = True, _set(self._loading, _NONE)

    def _described(self) -> dict[str, Any]:
        """Return what must be the same for a state to mean the same rows."""
        names = ("rank", "world_size", "seed", "batch_size", "block", "tail")
        given = {name: getattr(self.options, name) for name in names}
        options = {name: int(value) if hasattr(value, "__index__") else value for name, value in given.items()}
        return {"schema": _SCHEMA, "dataset": self.dataset.sha256, "rows": len(self.dataset), **options}


def _torch() -> Any:
    """Return what PyTorch has for data sets, if a program has imported it; nothing here imports it."""
    return sys.modules.get("torch.utils.data")


def _register() -> None:
    """Make streams be an ``IterableDataset``: its ``DataLoader`` asks for the class, not for methods."""
    data = _torch()
    if data is not None:
        data.IterableDataset.register(TokenStream)


def _worker() -> tuple[int, int, int]:
    """Return which worker of a ``DataLoader`` this process is, of how many, and in which pass of the loader.

    A process that is none is the only one, in no such pass.
    """
    data = _torch()
    info = None if data is None else data.get_worker_info()
    # Each pass draws a seed, and each worker adds its number.
    return (0, 1, _NONE) if info is None else (info.id, info.num_workers, info.seed - info.id)


def _shared(number: int) -> Any:
    """Return a number, in memory that workers of PyTorch share where they may: those that live on hear of the next."""
    torch = sys.modules.get("torch") if _torch() is not None else None
    return number if torch is None else torch.tensor(number, dtype=torch.int64).share_memory_()


def _set(held: Any, number: int) -> Any:
    """Return what ``_shared`` gave with another number in it."""
    if isinstance(held, int):
        return number
    held.fill_(number)
    return held
