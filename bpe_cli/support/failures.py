"""Try all of several before saying what is wrong, so that whoever mends one does not meet the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from bpe_cli.errors import BpeError
from bpe_cli.support.messages import listed

MOST_HINTS = 3
"""Of how many the way out is told, where it differs."""

Name = TypeVar("Name")
Result = TypeVar("Result")


class Failures:
    """Keep the errors of several attempts.

    >>> from bpe_cli.stages.named_normalizers import named
    >>> failures = Failures()
    >>> failures.of(named, ["nfc", "nfx", "nmc"])
    [(NFC(),)]
    >>> failures.check()
    Traceback (most recent call last):
    bpe_cli.errors.UsageError: there is no normalizer 'nfx'; there is no normalizer 'nmc'
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._errors: list[tuple[str, BpeError]] = []

    def of(self, attempt: Callable[[Name], Result], names: Iterable[Name]) -> list[Result]:
        """Return the results of those attempts that succeed, in order."""
        results = []
        for name in names:
            try:
                results.append(attempt(name))
            except BpeError as error:
                self._errors.append((str(name), error))
        return results

    def check(self) -> None:
        """Fail if an attempt did: with its error, or with one that names them all.

        Raises:
            BpeError: if one failed; of the kind of the first.
        """
        if not self._errors:
            return
        _, first = self._errors[0]
        if len(self._errors) == 1:
            raise first
        messages = [error.message for _, error in self._errors]
        raise type(first)(listed(list(dict.fromkeys(messages))), hint=self._hint()) from first

    def _hint(self) -> str | None:
        hints = {name: error.hint for name, error in self._errors if error.hint}
        if len(set(hints.values())) == 1:
            return next(iter(hints.values()))
        return listed([f"{name}: {hint}" for name, hint in hints.items()], MOST_HINTS) or None


def every(attempt: Callable[[Name], Result], names: Iterable[Name]) -> list[Result]:
    """Return the results of attempts that must all succeed.

    Raises:
        BpeError: if one failed; the message names all that did.
    """
    failures = Failures()
    results = failures.of(attempt, names)
    failures.check()
    return results
