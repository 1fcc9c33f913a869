"""What an engine is handed, and what every engine does with it: ``Work``, and the interface ``Engine``.

A part's result is the same whichever engine runs it: an engine only chooses where, when, and how often it tries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from bpe_cli.errors import BpeError
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from typing import Self

Common = TypeVar("Common")
Part = TypeVar("Part")
Result = TypeVar("Result")


def _nothing(_: Any) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Work(Generic[Common, Part, Result]):
    """What is done with each part. All of it can be pickled: the functions are those of modules.

    Attributes:
        common: What a worker gets once.
        begin: Makes of it what the worker keeps, as a loaded tokenizer.
        run: Does a part: of what ``common`` says, what ``begin`` made, the part, and whom to tell of each amount done.
        name: What messages call a part.
        size: How much there is to do for a part, in the unit of the amounts.
        memory: How many bytes of memory a part takes, if that is more than an engine reserves for any.
    """

    common: Common
    begin: Callable[[Common], Any]
    run: Callable[[Common, Any, Part, Callable[[int], None]], Result]
    name: Callable[[Part], str] = str
    size: Callable[[Part], int] = _nothing
    memory: Callable[[Part], int] = _nothing


def unheard(_: object) -> None:
    """Ignore an amount, or a sentence."""


class Engine(Protocol):
    """Who runs the parts of a job."""

    @property
    def processes(self) -> int | None:
        """How many parts are done at a time at most; None if the engine decides."""
        ...

    def run(
        self,
        work: Work[Common, Part, Result],
        parts: Sequence[Part],
        advance: Callable[[int], None] = unheard,
        note: Callable[[str], None] = unheard,
    ) -> Iterator[Result]:
        """Yield the result of each part as it is done, in any order.

        What is under way when the iterator is closed, or an error leaves it, is given up.

        Args:
            work: What is done.
            parts: The parts.
            advance: Called with each amount done.
            note: Called with a sentence about what went wrong and is tried again.

        Raises:
            BpeError: what a part raises; or if workers are lost time and again.
        """
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a part, on its way from one process to another: its result, or what it raised.

    An error loses where it was raised on the way: for those that nobody foresaw it is written down.
    """

    result: Any = None
    error: BaseException | None = None

    @classmethod
    def of(cls, function: Callable[..., Any], *arguments: Any) -> Self:
        """Return what becomes of a call."""
        try:
            return cls(function(*arguments))
        except BpeError as error:
            return cls(error=error)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            return cls(error=_portable(error))

    def get(self) -> Any:
        """Return the result, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.result


def _portable(error: BaseException) -> BaseException:
    """Return an error that can be pickled: one of Python's own as it is, another by its words."""
    import traceback

    where = "".join(traceback.format_exception(error))
    if type(error).__module__ != "builtins":
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.__cause__ = error.__context__ = None
    error.add_note(f"in a worker process:\n{where}")
    return error
