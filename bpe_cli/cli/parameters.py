"""Declare the parameters of commands as plain data: once, and without the parser that will read them.

A command is a function ``run`` whose annotations say all of it: ``Annotated[TYPE, Option(...)]``. Options that belong
together, and those that several commands share, are fields of a class of values, annotated in the same way, each with a
default: a group. ``run`` gets a value of it by a parameter that is annotated with the class.

Two things read the annotations. ``argv_fast`` runs an entirely clear command line at once; ``argv_typer`` makes typer's
application of them, for help, completion, and whatever is not clear. Neither knows of groups: ``parameters_of`` and
``defaults_of`` list all fields among the parameters, and ``call`` puts the values back into their groups. So modules
that define ``run`` or a group do without ``from __future__ import annotations``: their annotations are values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
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


def parameters_of(declared: Callable[..., object] | type) -> dict[str, tuple[Any, Option | Argument]]:
    """Return the type and the declaration of each parameter that has one, by name; those of groups in their places."""
    found: dict[str, tuple[Any, Option | Argument]] = {}
    for name, annotation in declared.__annotations__.items():
        if hasattr(annotation, "__metadata__"):
            found[name] = annotation.__origin__, annotation.__metadata__[0]
        elif isinstance(annotation, type):
            found |= parameters_of(annotation)
    return found


def defaults_of(function: Callable[..., object]) -> dict[str, object]:
    """Return the values of parameters that nobody gives, those in groups too: of the group's default, if it has one."""
    code, defaults = function.__code__, function.__defaults__ or ()
    given = dict(zip(code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount], defaults, strict=True))
    given |= function.__kwdefaults__ or {}
    found: dict[str, object] = {}
    for name, annotation in function.__annotations__.items():
        if isinstance(annotation, type):
            group = given[name] if name in given else annotation()
            found |= {field: getattr(group, field) for field in annotation.__annotations__}
        elif name in given:
            found[name] = given[name]
    return found


def call(function: Callable[..., object], values: Mapping[str, object]) -> object:
    """Call a command with the values of all its parameters, those of groups among them."""
    return function(
        **{
            name: annotation(**{field: values[field] for field in annotation.__annotations__})
            if isinstance(annotation, type)
            else values[name]
            for name, annotation in function.__annotations__.items()
            if annotation is not None
        }
    )
