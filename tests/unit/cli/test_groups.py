"""Options in groups are read as if they stood among a command's parameters, and reach it in their groups."""

import pytest

from bpe_cli.cli.argv_fast import Unclear, read
from bpe_cli.cli.options import Argument, Option, call, defaults_of, parameters_of
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import Annotated


@dataclass(frozen=True, slots=True)
class Reading:
    """A group."""

    inputs: Annotated[list[str] | None, Argument(metavar="INPUT")] = None
    lines: Annotated[bool, Option("--lines")] = False
    size: Annotated[int, Option("--size", min=1)] = 8


@dataclass(frozen=True, slots=True)
class Saying:
    """Another."""

    quiet: Annotated[bool, Option("--quiet", "-q")] = False


def run(
    name: Annotated[str | None, Option("--name")],
    reading: Reading = Reading(size=2),  # noqa: B008  # a value of a frozen class
    *,
    saying: Saying,
    count: Annotated[int, Option("--count")] = 3,
) -> None:
    """Keep what it is called with."""
    run.called = (name, reading, saying, count)


def test_fields_stand_where_their_group_does():
    assert list(parameters_of(run)) == ["name", "inputs", "lines", "size", "quiet", "count"]
    assert parameters_of(run)["size"] == (int, Reading.__annotations__["size"].__args__[1])


def test_defaults_are_those_of_the_groups_value_or_else_of_its_class():
    assert defaults_of(run) == {"inputs": None, "lines": False, "size": 2, "quiet": False, "count": 3}


def test_a_command_gets_its_groups():
    call(run, read(run, ["--name", "x", "--lines", "a", "b", "-q"], {}))
    assert run.called == ("x", Reading(["a", "b"], True, 2), Saying(True), 3)
    call(run, read(run, ["--name=y", "--size", "7", "--count", "1"], {}))
    assert run.called == ("y", Reading(None, False, 7), Saying(), 1)


@pytest.mark.parametrize("words", [[], ["--name", "x", "--size", "0"], ["--name", "x", "--reading", "y"]])
def test_what_is_missing_or_wrong_is_left_to_typer(words):
    with pytest.raises(Unclear):
        read(run, words, {})
