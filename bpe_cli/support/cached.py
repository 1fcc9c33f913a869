"""A cached property that holds no lock.

Up to Python 3.11, the one of ``functools`` holds a lock while it computes, one for all objects of a class. A process
that forks meanwhile leaves it held in the child, which waits forever for a thread that it does not have.
"""

from __future__ import annotations

import functools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801  # as the original
        """Compute an attribute when it is first asked for, and keep it.

        Threads that ask at the same time may all compute it; all are given the same value, that of the first to finish.
        """

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))
