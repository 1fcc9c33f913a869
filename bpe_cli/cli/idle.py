"""Which options would do nothing: refused if the command line gives them, passed over if a project's file does."""

from bpe_cli.cli import options
from bpe_cli.cli.options import Option, parameters_of
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.fast_typing import TYPE_CHECKING
from bpe_cli.support.messages import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import TypeVar

    Group = TypeVar("Group")


def given_in(*groups: object, but: "Collection[str]" = ()) -> list[str]:
    """Return the options of groups that have other values than their defaults and those of the project's file.

    Args:
        groups: The values of the groups.
        but: The fields that are not looked at.
    """
    found = []
    for group in groups:
        usual = type(group)()
        for field, (_, declared) in parameters_of(type(group)).items():
            value = getattr(group, field)
            is_usual = value == getattr(usual, field) or value == options.project_values.get(field)
            if isinstance(declared, Option) and field not in but and not is_usual:
                found.append(_name(declared, value))
    return found


def as_typed(group: "Group", *fields: str, but: "Collection[str]" = ()) -> "Group":
    """Return a group without the values of the project's file, for a run that has no use for these options.

    Args:
        group: The values.
        fields: Which of them to look at; none for all.
        but: The fields that are not looked at.
    """
    usual, file = type(group)(), options.project_values
    idle = {
        field: getattr(usual, field)
        for field in fields or parameters_of(type(group))
        if field not in but and field in file and getattr(group, field) == file[field]
    }
    return replace(group, **idle) if idle else group  # type: ignore[type-var]  # groups are dataclasses


def refuse_idle(names: "Sequence[str]", why: str) -> None:
    """Refuse options that would do nothing.

    Raises:
        UsageError: if there are any; ``why`` says why they would.
    """
    if names:
        raise UsageError(
            f"{why}: {listed(names, separator=', ')} would do nothing",
            hint="leave it out" if len(names) == 1 else "leave them out",
        )


def _name(declared: Option, value: object) -> str:
    """Return the name by which an option was given: of ``--this/--no-this``, one of the two."""
    yes, _, no = declared.names[0].partition("/")
    return yes if value or not no else no
