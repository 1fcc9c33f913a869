"""The folder in which ``train`` and ``compare`` keep what they make of parts of the input, from the options."""

from bpe_cli.cli.options import share_of
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_typing import TYPE_CHECKING, Protocol

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
            "--part": given.part,
            "--part-size": given.part_size,
            "--engine": None if given.engine == "local" else given.engine,
            "--processes": given.processes,
            "--overwrite": given.overwrite or None,
        }
        idle = next((option for option, value in said.items() if value is not None), None)
        if idle is not None:
            raise UsageError(f"{idle} needs {name}")
        return None
    from bpe_cli.jobs.parts import PART_BYTES
    from bpe_cli.jobs.parts.doing import PartsFolder

    size = PART_BYTES if given.part_size is None else given.part_size << 20
    return PartsFolder(folder, share_of(given.part), size, given.overwrite)
