"""Symbols among those of a text that do not come from it: an unknown character, a place that no join crosses."""

from __future__ import annotations


class StandIn(str):
    """A symbol that looks like its name but equals only itself, because a text may spell the name.

    >>> pad = StandIn("<PAD>")
    >>> pad, pad == pad, pad == "<PAD>", "<PAD>" == pad, pad in {"<PAD>"}
    ('<PAD>', True, False, False, False)
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)
