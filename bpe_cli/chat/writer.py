"""Write the text of a conversation without Jinja, as the built-in layouts do, and who wrote which of it."""

from __future__ import annotations

from bpe_cli.chat.messages import ROLE
from bpe_cli.chat.provenance import MESSAGE, TEMPLATE, Meter, Traced, joined


class Writer:
    """Collect the parts of a text."""

    def __init__(self, size: int) -> None:
        """Begin the text of a conversation that has so many bytes."""
        self._meter = Meter()
        self._meter.start(size)
        self._parts: list[Traced] = []
        self._first: int | None = None  # the part with which what the model generates begins

    def begin_generated(self) -> Writer:
        """Begin what the model generates."""
        self._first = len(self._parts)
        return self

    def end_generated(self) -> Writer:
        """End it."""
        if self._first is not None:
            self._parts[self._first :] = [part.generated() for part in self._parts[self._first :]]
        self._first = None
        return self

    def template(self, text: str) -> Writer:
        """Write a text of the layout's own, whose special tokens count."""
        self._parts.append(Traced.of(text, TEMPLATE, self._meter))
        return self

    def message(self, text: str) -> Writer:
        """Write a text out of a message, whose special tokens are text."""
        self._parts.append(Traced.of(text, MESSAGE, self._meter))
        return self

    def role(self, text: str) -> Writer:
        """Write a role. One that is a word counts as the layout's own text, as in ``templates``."""
        return self.template(text) if ROLE.fullmatch(text) else self.message(text)

    def text(self) -> Traced:
        """Return all that was written."""
        return joined("", self._parts, self._meter)
