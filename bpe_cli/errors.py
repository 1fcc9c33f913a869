"""The errors that a user can meet, each with a hint at a fix.

Library code raises these; only ``bpe_cli.cli.app.main`` turns one into a message and an exit status.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` takes a fifth of a short run, and errors import nothing else of the package
if TYPE_CHECKING:
    from collections.abc import Collection

    FailedPlace = tuple[str, int | None, str]
    """An input, a line of it, and what is wrong there."""


class BpeError(Exception):
    """Describe what went wrong, where, and how to fix it.

    Attributes:
        message: What went wrong and where: one sentence without a final period.
        hint: How to fix it, or None if there is nothing to advise.
        exit_code: The exit status of the process: 1 if a requested check failed, 2 for usage, bad input and I/O.
    """

    exit_code = 2

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(BpeError):
    """Report options that contradict each other or name something that does not exist."""


class InputError(BpeError):
    """Report input that cannot be read: a missing file, a broken line, a byte that has no token."""


class NoTokenError(InputError):
    """Report a byte or a character of a text that no token of a tokenizer stands for.

    Attributes:
        offset: Where it stands in the bytes that were given.
        elsewhere: The message without that: for who knows its place in a file, or knows that it is no place in one.
    """

    def __init__(self, message: str, *, hint: str | None = None, offset: int = 0, elsewhere: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.offset = offset
        self.elsewhere = elsewhere or message

    def within(self, name: str) -> NoTokenError:
        """Return the same error of a text that has a name, as one of several has."""
        message, elsewhere = f"{name}: {self.message}", f"{name}: {self.elsewhere}"
        return NoTokenError(message, hint=self.hint, offset=self.offset, elsewhere=elsewhere)


class OutputError(BpeError):
    """Report output that cannot be written: a full disk, a read-only folder."""


class FormatError(BpeError):
    """Report a broken tokenizer file, or a format that cannot hold a tokenizer."""


class LossError(FormatError):
    """Report a format that cannot hold all of a tokenizer, but can hold the rest if the caller accepts the loss.

    Attributes:
        losses: What would be lost, by the names of ``formats.features.LOSSES``.
    """

    def __init__(self, message: str, *, hint: str | None = None, losses: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint=hint)
        self.losses = losses


class NoPatternError(FormatError):
    """Report a tokenizer file that can be read only if its split pattern is given."""


class TrainingError(BpeError):
    """Report a corpus or settings that no tokenizer can be trained with."""


class CheckFailed(BpeError):
    """Report that a check the user asked for failed (exit status 1, for CI).

    Attributes:
        places: What failed it, if known: for each place the input, the line or None, and what is wrong there. The
            message names the first place; the command line shows each on its own line.
        summary: The message without the names of the places, for when each is shown on its own line.
    """

    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        places: Collection[FailedPlace] = (),
        summary: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.places = places
        self.summary = summary or message
