"""Run command lines with typer: for help, completion, errors, and whatever ``argv_fast`` leaves to it.

typer reads the same declarations, see ``options``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import StrEnum
from types import ModuleType, UnionType
from typing import TYPE_CHECKING, Annotated

import typer

from bpe_cli.cli import help
from bpe_cli.cli.objections import usage_error
from bpe_cli.cli.options import (
    HELP,
    Argument,
    Option,
    call,
    choices_of,
    defaults_of,
    given_once,
    inner,
    is_list,
    parameters_of,
    without_none,
)
from bpe_cli.errors import UsageError

if TYPE_CHECKING:
    from typing import Any

    Begin = Callable[[Callable[..., object], Mapping[str, object]], object]


def run(
    words: list[str],
    root: Callable[..., object],
    commands: Mapping[str, ModuleType],
    begin: Begin = call,
    project: Mapping[str, Any] | None = None,
    *,
    whole: bool = False,
) -> int:
    """Run a command line and return its exit status.

    Args:
        words: The command line.
        root: What stands before the commands.
        commands: The modules of the commands by name.
        begin: Called with the function of the command and its values.
        project: Other defaults than the command's own.
        whole: Whether help describes all options.

    Raises:
        UsageError: if typer rejects the command line; its message is put into our own form.
        KeyboardInterrupt, SystemExit: as a command raises them.
    """
    # The options of all begin with a dash and take no value, so no other word can be the command.
    named = next((word for word in words if not word.startswith("-")), "")
    application = _application(root, commands, begin, project, whole, named)
    try:
        # Whatever stands in _BPE_COMPLETE: app.main has answered the shells, and typer would know others.
        status = application(words, prog_name="bpe", standalone_mode=False, complete_var="")
    except typer.Abort:
        raise KeyboardInterrupt from None
    except typer.exceptions.TyperException as error:
        raise usage_error(error, words, commands) from error
    # typer makes a status of its own, 130, of an interrupt while a command runs.
    if status == 130:
        raise KeyboardInterrupt
    return status if isinstance(status, int) else 0


def _application(
    root: Callable[..., object],
    commands: Mapping[str, ModuleType],
    begin: Begin = call,
    project: Mapping[str, Any] | None = None,
    whole: bool = False,
    named: str | None = None,
) -> typer.Typer:
    """Return the application; where a command is named, the others have no more than their names."""
    application = typer.Typer(
        name="bpe", add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None,
        context_settings={"help_option_names": list(HELP)},
    )  # fmt: skip

    def helped(kind: type[Any], name: str | None) -> type[Any]:
        """Return a class of typer's with the help of ours, that refuses what may be given only once."""

        def parse_args(self: Any, context: Any, words: list[str]) -> Any:
            if not context.resilient_parsing:
                once = given_once(parameters_of(commands[name].run if name else root))
                _check_once(self.make_parser(context).parse_args(args=list(words))[2], once)
            return kind.parse_args(self, context, words)

        own = {"get_help": lambda *_: help.text_of(name, root, commands, whole=whole), "parse_args": parse_args}
        return type(kind.__name__, (kind,), own)

    for name, command in commands.items():
        made: Callable[..., object] = _another
        if named in (None, name):
            made = _for_typer(command.run, begin, project)
        application.command(name, cls=helped(typer.core.TyperCommand, name))(made)
    application.callback(cls=helped(typer.core.TyperGroup, None))(_for_typer(root))
    return application


def _another() -> None:
    """Stand for a command that the words do not name."""
    raise AssertionError


def _check_once(given: list[Any], once: Mapping[str, str]) -> None:
    """Check that no option is given twice of which only the last would count."""
    for option in given:
        if option.name in once and given.count(option) > 1:
            raise UsageError(f"{option.opts[-1]} is given twice, but can be given only once", hint=once[option.name])


def _for_typer(
    function: Callable[..., object], begin: Begin = call, project: Mapping[str, Any] | None = None
) -> Callable[..., object]:
    """Return a command with typer's declarations in the place of ours."""

    def command(**values: object) -> object:
        return begin(function, {name: _plain(value) for name, value in values.items()})

    annotations = {
        name: Annotated[_with_choices(kind, each), _declared(each)]
        for name, (kind, each) in parameters_of(function).items()
    }
    defaults = defaults_of(inspect.unwrap(function)) | dict(project or {})
    command.__doc__ = function.__doc__
    command.__annotations__ = annotations
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(name, inspect.Parameter.empty),
                annotation=each,
            )
            for name, each in annotations.items()
        ]
    )
    return command


def _with_choices(kind: Any, parameter: Option | Argument) -> Any:
    """Return the type of a parameter, with an enumeration in place of its literal words, as typer wants it."""
    if isinstance(kind, UnionType):
        return _with_choices(without_none(kind), parameter) | None
    if is_list(kind):
        return list[_with_choices(inner(kind), parameter)]  # type: ignore[misc]  # made at run time
    choices = choices_of(kind, parameter)
    return kind if choices is None else StrEnum("Choice", {word: word for word in choices})


def _plain(value: object) -> object:
    """Return a value with words in place of members of an enumeration."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.value if isinstance(value, StrEnum) else value


def _declared(parameter: Option | Argument) -> Any:
    """Return a declaration as typer's."""
    settings: dict[str, Any] = {name: value for name, value in parameter.settings.items() if name != "choices"}
    if isinstance(parameter, Argument):
        return typer.Argument(**settings)
    if parameter.answer is None:
        return typer.Option(*parameter.names, **settings)
    answer = parameter.answer

    def stop(given: bool) -> None:
        if given:
            answer()
            raise typer.Exit

    return typer.Option(*parameter.names, is_eager=True, **settings, callback=stop)
