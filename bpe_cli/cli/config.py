"""``[tool.bpe_cli]`` of pyproject.toml: the defaults of options in a project.

The nearest pyproject.toml counts, of the current folder or one above it; no other is looked at. A key is the long name
of an option, and holds for every command that has the option; one in ``[tool.bpe_cli.encode]`` holds for
``bpe encode``. The command line comes first, then the environment, then the file. Only the command line of ``bpe``
reads it: what a Python program calls never depends on the folder that it runs in.

What results depend on must not come from a folder in silence. So files to read and to write are named on the command
line alone, and a default that changes results is noted on stderr each time: not with ``-q``, but with ``quiet`` of the
file, which silences all else.
"""

import os
from codecs import BOM_UTF8
from types import MappingProxyType

from bpe_cli.cli.options import (
    Argument,
    Option,
    choices_of,
    inner,
    is_list,
    may_be_path,
    parameters_of,
    without_none,
)
from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING
from bpe_cli.support.messages import cannot_read, did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

FILE = "pyproject.toml"
TABLE = "bpe_cli"

_EACH_TIME = ("text", "overwrite", "help_algorithm", "live", "port", "no_open", "engine")
"""Options that no file sets, beside those whose values may be paths."""
_TOKENIZERS = ("tokenizer", "baseline")
"""Options that a file sets though their values may be paths, which are those from the file's folder."""

_HARMLESS = "Running"
"""The panel of the options that change no result."""
_HARMLESS_TOO = ("color", "processes", "progress", "quiet")
"""Other parameters that change none."""

_MOST_BITS = 64
"""Bits of an integer: TOML promises no more, and larger ones may fit neither a float nor a message."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """The defaults of a command's options that a file sets.

    Attributes:
        path: The file.
        values: Parameter -> value, as the options' types have them.
        tokenizer: The tokenizer where no option and no variable names one.
        noted: Of those that change results, what is said of them, by parameter.
        quiet: Whether the run is to be quiet but for that; it is no value, so that ``-q`` is told apart from it.
    """

    path: str
    values: "Mapping[str, Any]"
    tokenizer: str | None = None
    noted: "Mapping[str, str]" = MappingProxyType({})
    quiet: bool = False


NONE = Defaults("", {})


def defaults_for(name: str, commands: "Iterable[str]", load: "Callable[[str], Callable[..., object]]") -> Defaults:
    """Return the defaults that the nearest pyproject.toml sets for a command.

    Args:
        name: The command.
        commands: All commands.
        load: Returns the function of a command.

    Raises:
        InputError: if the file cannot be read, or is not TOML.
        UsageError: if a key is no option, an option that cannot be set, or has a value of the wrong kind.
    """
    path = _nearest()
    if path is None:
        return NONE
    table = _table_of(path)
    if table is None:
        return NONE
    if not isinstance(table, dict):
        raise UsageError(f"{path}: [tool.{TABLE}] is not a table")
    names = list(commands)
    parameters = parameters_of(load(name))
    own = table.get(name, {})
    if not isinstance(own, dict):
        raise UsageError(f"{path}: [tool.{TABLE}.{name}] is not a table")
    _check_keys(path, table, own, name, names, parameters, load)
    keys = _keys_of(parameters)
    general = {key: value for key, value in table.items() if key not in names and key in keys}
    # `tokenizer` for all commands is what $BPE_TOKENIZER is; bpe compare, which takes several, has its own.
    has_own = name == "compare"
    if has_own:
        general.pop("tokenizer", None)
    places = dict.fromkeys(general, f"[tool.{TABLE}]") | dict.fromkeys(own, f"[tool.{TABLE}.{name}]")
    values: dict[str, Any] = {}
    noted = {}
    for key, value in (general | own).items():
        kind, declared = parameters[keys[key]]
        if keys[key] == "tokenizer" and not has_own:
            kind = str  # also where -t can be repeated
        values[keys[key]] = taken = _checked(path, places[key], key, value, kind, declared)
        if keys[key] not in _HARMLESS_TOO and declared.settings.get("rich_help_panel") != _HARMLESS:
            noted[keys[key]] = f"{key} = {_toml(taken)}"
    tokenizer = None
    if isinstance(values.get("tokenizer"), str):
        tokenizer = values.pop("tokenizer")
        noted.pop("tokenizer")
    quiet = bool(values.pop("quiet", False))
    if os.environ.get("NO_COLOR") or os.environ.get("FORCE_COLOR"):
        values.pop("color", None)  # the environment comes first
    return Defaults(path, values, tokenizer, noted, quiet)


def _nearest() -> str | None:
    """Return the path of the nearest pyproject.toml, from here if it is here or above."""
    try:
        folder = os.getcwd()
    except OSError:  # it was removed
        return None
    prefix = ""
    while True:
        path = os.path.join(folder, FILE)
        if os.path.isfile(path):
            return prefix + FILE
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder, prefix = above, os.path.join("..", prefix) if prefix else f"..{os.sep}"


def _table_of(path: str) -> "Any":
    """Return what the file says under tool.bpe_cli; None if it says nothing."""
    try:
        with open(path, "rb") as file:
            data = file.read().removeprefix(BOM_UTF8)
    except OSError as error:
        raise cannot_read(path, error, "--no-config runs without it") from error
    if not _may_hold(data):
        return None
    import tomllib

    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path} is not TOML: {error}", hint="--no-config runs without it") from error
    except ValueError as error:  # as Python says of thousands of digits
        raise InputError(f"{path}: an integer has too many digits", hint="--no-config runs without it") from error
    tool = document.get("tool")
    return tool.get(TABLE) if isinstance(tool, dict) else None


def _may_hold(data: bytes) -> bool:
    """Return whether a key may be our table: the parser of TOML is not imported for a mention of the package.

    >>> _may_hold(b'[tool.bpe_cli]'), _may_hold(b'tool = {"bpe_cli" = {}}'), _may_hold(b'files = ["bpe_cli"]')
    (True, True, False)
    """
    name = TABLE.encode()
    for line in data.splitlines() if name in data or b"\\u" in data.lower() else ():
        *keys, last = line.split(b"=")
        if any(name in key or b"\\u" in key.lower() for key in keys):
            return True
        if not keys and last.lstrip().startswith(b"[") and (name in last or b"\\u" in last.lower()):
            return True
    return False


def _keys_of(parameters: "Mapping[str, tuple[Any, Argument | Option]]") -> dict[str, str]:
    """Return the parameters of the options by their long names."""
    return {
        next(each for each in declared.names if each.startswith("--")).partition("/")[0][2:]: name
        for name, (_, declared) in parameters.items()
        if isinstance(declared, Option) and declared.answer is None
    }


def _check_keys(
    path: str, table: "Mapping[str, Any]", own: "Mapping[str, Any]", name: str, names: list[str],
    parameters: "Mapping[str, tuple[Any, Argument | Option]]", load: "Callable[[str], Callable[..., object]]",
) -> None:  # fmt: skip
    """Check that each key is an option, and one that a file may set."""
    known = _keys_of(parameters)
    for key in own:
        place = f"{path}: [tool.{TABLE}.{name}] {key}"
        if key not in known:
            raise _unknown(f"{place}: bpe {name} has no such option", key, known)
        _check_may_be_set(place, known[key], parameters[known[key]][1])
    everywhere = {}
    if not table.keys() <= {*known, *names}:
        declared = (parameters_of(load(other)) for other in names)
        everywhere = {key: (each, some[each][1]) for some in declared for key, each in _keys_of(some).items()}
    everywhere |= {key: (each, parameters[each][1]) for key, each in known.items()}
    for key, value in table.items():
        if key in names:
            continue
        if isinstance(value, dict):
            raise _unknown(f"{path}: [tool.{TABLE}.{key}]: there is no such command", key, names)
        if key not in everywhere:
            raise _unknown(f"{path}: [tool.{TABLE}] {key}: there is no such option", key, everywhere)
        _check_may_be_set(f"{path}: [tool.{TABLE}] {key}", *everywhere[key])


def _unknown(message: str, key: str, known: "Iterable[str]") -> UsageError:
    return UsageError(message, hint=did_you_mean(nearest(key, known), "keys are the long names of options: max-tokens"))


def _check_may_be_set(place: str, name: str, declared: "Argument | Option") -> None:
    if name in _EACH_TIME or (may_be_path(declared) and name not in _TOKENIZERS):
        raise _not_in_a_file(place)


def _not_in_a_file(place: str) -> UsageError:
    return UsageError(
        f"{place}: this cannot be set in a file",
        hint="what a run reads, writes and overwrites, and where it runs, belongs on the command line",
    )


def _checked(path: str, table: str, key: str, value: object, kind: "Any", declared: "Argument | Option") -> object:
    """Return a value of the option's type."""
    where = f"{path}: {table} {key}"
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise UsageError(f"{where}: the number is too large")
    kind = without_none(kind)
    if is_list(kind):
        if not isinstance(value, list):
            raise UsageError(f"{where}: {_toml(value)} is not a list", hint=f"for example: {key} = [...]")
        return [_checked(path, table, key, each, inner(kind), declared) for each in value]
    choices = choices_of(kind, declared)
    if choices is not None:
        if not isinstance(value, str) or value not in choices:
            near = nearest(value, choices) if isinstance(value, str) else []
            raise UsageError(
                f"{where}: there is no {_toml(value)}", hint=did_you_mean(near, f"there are {', '.join(choices)}")
            )
        return value
    if kind is str and "min" in declared.settings and isinstance(value, int) and not isinstance(value, bool):
        return str(_checked(path, table, key, value, int, declared))  # numbers with commas, of which this is one
    names = {bool: "true or false", int: "an integer", float: "a number", str: "a text in quotes"}
    fits = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value, fits = float(value), True
    if not fits:
        raise UsageError(f"{where}: {_toml(value)} is not {names[kind]}")
    low, high = declared.settings.get("min"), declared.settings.get("max")
    if isinstance(value, int) and ((low is not None and value < low) or (high is not None and value > high)):
        between = f"at least {low}" if high is None else f"from {low} to {high}"
        raise UsageError(f"{where}: {value} is not {between}")
    if key == "set" and str(value).partition("=")[2].startswith("@"):  # which names a file
        raise _not_in_a_file(f"{where}: {_toml(value)}")
    return _beside(path, value) if key in _TOKENIZERS else value


def _beside(path: str, value: object) -> object:
    """Return a path from here of what is named from the file's folder; names of tokenizers as they are."""
    folder = os.path.dirname(path)
    if not folder or not isinstance(value, str):
        return value
    joined = os.path.join(folder, value)
    if value.startswith(".") or os.path.lexists(joined):
        return joined
    label, equals, name = value.partition("=")  # as `bpe compare` takes them
    return f"{label}={_beside(path, name)}" if equals and label and name and "/" not in label else value


def _toml(value: object) -> str:
    """Return a value as one would write it in the file."""
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def announce(defaults: Defaults, values: "Mapping[str, object]") -> "Mapping[str, object]":
    """Note on stderr which results depend on the file, unless the command line says ``-q``.

    Returns:
        The values to run with: quiet if the file says so.
    """
    from bpe_cli.cli import options

    quiet = bool(values.get("quiet"))

    def say(setting: str) -> None:
        from bpe_cli.cli.progress import WorkListener  # which knows how programs want it

        how: Any = values.get("progress", "auto")
        WorkListener(how, quiet=quiet).note(f"{setting}, from {defaults.path}")

    options.quiet_project = defaults.quiet and not quiet
    options.project_tokenizer, options.project_values = None, defaults.values
    if defaults.tokenizer is not None:
        options.project_tokenizer = defaults.tokenizer, lambda: say(f'tokenizer = "{defaults.tokenizer}"')
    for name, setting in defaults.noted.items():
        if values.get(name) == defaults.values[name]:
            say(setting)
    return {**values, "quiet": True} if defaults.quiet else values


def is_ignored() -> bool:
    """Return whether the environment says that the file plays no part."""
    return bool(os.environ.get("BPE_NO_CONFIG"))
