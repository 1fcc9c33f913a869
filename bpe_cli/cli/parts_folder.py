"""The folder in which ``train`` and ``compare`` keep what they make of parts of the input, from the options."""

from bpe_cli.cli.options import share_of, typed
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_typing import TYPE_CHECKING, Protocol
from bpe_cli.support.messages import plural

if TYPE_CHECKING:
    from bpe_cli.jobs.parts.doing import PartsFolder


class PartsOptions(Protocol):
    """The options about parts; each command declares them in its own words."""

    @property
    def part(self) -> str | None:
        """The share of the parts to make, as K/N."""

    @property
    def part_size(self) -> int | None:
        """The size of a part, in MiB."""

    @property
    def engine(self) -> str:
        """What makes the parts."""

    @property
    def processes(self) -> int | None:
        """The number of parts made at a time."""

    @property
    def overwrite(self) -> bool:
        """Whether to make damaged parts again."""


def parts_folder(name: str, folder: str | None, given: PartsOptions) -> "PartsFolder | None":
    """Return the folder that an option names, with what is said of its parts; None if it is not given.

    Raises:
        UsageError: if an option about parts is given without a folder.
    """
    if folder is None:
        said = {
            "--part": typed("part", given.part),
            "--part-size": typed("part_size", given.part_size),
            "--engine": None if given.engine == "local" else given.engine,
            "--processes": typed("processes", given.processes),
            "--overwrite": given.overwrite or None,
        }
        idle = next((option for option, value in said.items() if value is not None), None)
        if idle is not None:
            raise UsageError(f"{idle} needs {name}")
        return None
    from bpe_cli.jobs.parts.doing import PartsFolder

    return PartsFolder(folder, share_of(given.part), part_bytes_of(given.part_size), given.overwrite)


def counted_parts(made: int, kept: int, parts: int) -> str:
    """Write how many of the parts are there, and how many of them are new where some were there before.

    >>> counted_parts(2, 0, 2), counted_parts(1, 2, 4)
    ('2 parts', '3 of 4 parts (1 new)')
    """
    there = f"{made + kept:,} of " if made + kept < parts else ""
    return f"{there}{plural(parts, 'part')}" + (f" ({made:,} new)" if kept else "")


def part_bytes_of(part_size: int | None) -> int:
    """Return how many bytes a part has of which the option says how many MiB; the usual number if it is not given.

    Raises:
        UsageError: if no record can hold the number.
    """
    from bpe_cli.jobs.parts import PART_BYTES
    from bpe_cli.support.core_arguments import whole_number

    if part_size is None:
        return PART_BYTES
    return whole_number("--part-size", part_size, 1, ((1 << 63) - 1) >> 20) << 20
