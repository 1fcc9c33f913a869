"""Names of ``typing`` for the modules that every run imports, which do without it.

``typing`` and what it brings along take a fifth of a run that encodes one line. Type checkers see the originals. What
stands here in their place holds what it is given where the program reads that (``Literal`` and ``Annotated``, as
``typing.get_args`` and ``typing.get_origin`` see it), and nothing elsewhere.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated as Annotated
    from typing import Generic as Generic
    from typing import Literal as Literal
    from typing import Protocol as Protocol
    from typing import TypeVar as TypeVar
    from typing import cast as cast
    from typing import overload as overload
else:
    from types import GenericAlias

    class Annotated:
        """A type with a declaration."""

        __class_getitem__ = classmethod(GenericAlias)

    class Literal:
        """Words that a value may be."""

        __class_getitem__ = classmethod(GenericAlias)

    class Generic:
        """A class that has parameters."""

        def __class_getitem__(cls, _):
            return cls

    class Protocol:
        """What a value has to have."""

    def TypeVar(name, *_, **__):  # noqa: N802  # as the original
        """Name a parameter."""
        return name

    def cast(_, value):
        """Return the value."""
        return value

    def overload(function):
        """Return the function."""
        return function
