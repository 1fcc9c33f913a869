"""Declare the parameters of commands as plain data: once, and without the parser that will read them.

A command is a function ``run`` whose annotations say all of it: ``Annotated[TYPE, Option(...)]``. Two things read them.
``words`` runs an entirely clear command line at once; ``by_typer`` makes typer's application of them, for help,
completion, and whatever is not clear. So modules that define ``run`` do without ``from __future__ import annotations``:
their annotations are values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypedDict, Unpack

    class Settings(TypedDict, total=False):
        """What typer's parameters know, by typer's names."""

        help: str
        metavar: str
        rich_help_panel: str
        show_default: str
        min: int
        max: int
        envvar: str
        callback: Callable[[Any], object]


class Argument:
    """Declare what is given without an option."""

    __slots__ = ("settings",)

    def __init__(self, **settings: Unpack[Settings]) -> None:
        self.settings = settings


class Option:
    """Declare an option.

    Attributes:
        names: ``--long``, ``-s``, or ``--this/--no-this``.
        settings: As typer has them. A callback gets the value, or the default, and gives another.
        answer: What is done instead of anything else if this flag is given.
    """

    __slots__ = ("answer", "names", "settings")

    def __init__(self, *names: str, answer: Callable[[], None] | None = None, **settings: Unpack[Settings]) -> None:
        self.names = names
        self.settings = settings
        self.answer = answer


def parameters_of(function: Callable[..., object]) -> dict[str, tuple[Any, Option | Argument]]:
    """Return the type and the declaration of each parameter that has one, by name."""
    return {
        name: (annotation.__origin__, annotation.__metadata__[0])
        for name, annotation in function.__annotations__.items()
        if hasattr(annotation, "__metadata__")
    }
