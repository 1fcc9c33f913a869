"""Who runs the parts of a job: processes of this machine, a cluster, or one of many that share the parts.

An engine gets values that can be pickled and functions that do one; it yields each result. It knows neither what a part
is, nor in which order results come: whoever gave the parts puts them in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError

if TYPE_CHECKING:
    from bpe_cli.engines.base import Engine


def engine_named(name: str, processes: int | None = None) -> Engine:
    """Return an engine by its name.

    Args:
        name: ``local``, ``ray``, or ``ray://HOST:PORT``.
        processes: How many parts are done at a time; None for what the machine or the cluster has processors for, and
            for one in a process that may start no others.

    Raises:
        UsageError: if there is none of this name.

    >>> engine_named("local", 3)
    Local(processes=3)
    >>> engine_named("ray://head:10001").address
    'ray://head:10001'
    """
    if name == "local":
        from bpe_cli.engines.local import Local, is_daemonic
        from bpe_cli.support.ordered_threads import usable_threads

        return Local(1 if processes is None and is_daemonic() else usable_threads(processes))
    if name == "ray" or (name.startswith("ray://") and len(name) > len("ray://")):
        from bpe_cli.engines.ray import RayCluster

        return RayCluster(None if name == "ray" else name, processes)
    raise UsageError(f"there is no engine {name!r}", hint="there are local, ray and ray://HOST:PORT")
