"""Word messages the same way everywhere, and combine several errors into one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from bpe_cli.errors import BpeError, InputError, OutputError
from bpe_cli.support.fast_typing import TypeVar

MOST_NAMED = 10
"""How many of several that are at fault a message names."""


def quote(text: str | bytes) -> str:
    r"""Show a token in a message: quoted, control characters escaped, cut when long.

    >>> quote("Ġa"), quote(b"\xff\n")
    ('"Ġa"', '"\\\\xff\\n"')
    """
    import json

    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    return json.dumps(text if len(text) <= 60 else text[:57] + "...", ensure_ascii=False)


def listed(parts: Sequence[str], most: int = MOST_NAMED, separator: str = "; ") -> str:
    """List some names, as many as fit into a message, and how many more there are.

    >>> listed(["a", "b", "c"], most=2), listed(["a", "b"], most=2, separator=", ")
    ('a; b; and 1 more', 'a, b')
    """
    more = len(parts) - most
    return separator.join([*parts[:most], f"and {more:,} more"] if more > 0 else parts)


def plural(number: int, noun: str) -> str:
    """Format a number of things.

    >>> plural(1, "merge"), plural(1200, "merge")
    ('1 merge', '1,200 merges')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def show_path(path: str | os.PathLike[str]) -> str:
    r"""Show a path in a message: as it is if it can be printed, else escaped; ``-`` is stdin.

    A byte that is not UTF-8 is shown as ``\xff``, as reports show it.

    What signs a URL or gives access by it is not shown: messages end up in logs.

    >>> show_path("a.txt"), show_path("-"), show_path("tab\t.txt")
    ('a.txt', 'stdin', "'tab\\t.txt'")
    >>> print(show_path("a\udcff.txt"), show_path("a\udcff\t.txt"))
    a\xff.txt 'a\xff\t.txt'
    >>> show_path("https://host/a.txt?part=2&X-Amz-Signature=0123abcd")
    'https://host/a.txt?part=2&X-Amz-Signature=...'
    """
    text = os.fspath(path)
    if text == "-":
        return "stdin"
    if text.startswith(("http://", "https://")):
        text = without_secrets(text)
    if text and text.isprintable():
        return text
    shown = text.translate(_STRAY_BYTES)
    if text and shown.isprintable():
        return shown
    mark = ascii(text)[0]
    return mark + "".join(_STRAY_BYTES.get(ord(each)) or ascii(each)[1:-1] for each in text) + mark


_STRAY_BYTES = {0xDC00 + byte: f"\\x{byte:02x}" for byte in range(0x80, 0x100)}
"""What stands for a byte that Python has decoded with ``surrogateescape``."""


def without_secrets(url: str) -> str:
    """Leave out the values of a URL's query that S3, Google's and Azure's stores, or keys and tokens, sign it with.

    >>> without_secrets("https://host/a.txt?sig=0123abcd&part=2")
    'https://host/a.txt?sig=...&part=2'
    """
    import re  # few messages have a URL

    stores = "(?:X-(?:Amz|Goog)-)?(?:Signature|Credential)|AWSAccessKeyId|GoogleAccessId|sig"
    names = f"{stores}|[a-z_-]*(?:key|token)"
    return re.sub(rf"([?&](?:{names})=)[^&#]+", r"\1...", url, flags=re.IGNORECASE)


def reason_of(error: Exception) -> str:
    """Return the system's reason for an error, as the rest of a sentence.

    >>> reason_of(OSError(13, "Permission denied"))
    'permission denied'
    """
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return reason[:1].lower() + reason[1:]


def cannot_read(path: str | os.PathLike[str], error: OSError | ValueError, hint: str | None = None) -> InputError:
    """Make the error of a file that cannot be read; a path with a NUL is a ``ValueError``.

    >>> cannot_read("-", FileNotFoundError()).message  # stdin is always there
    'cannot read ./-: no such file'
    """
    if isinstance(error, FileNotFoundError):
        hint = _OF_HOME if str(path).startswith("~") else hint
        return InputError(f"cannot read {'./-' if path == '-' else show_path(path)}: no such file", hint=hint)
    return InputError(f"cannot read {show_path(path)}: {reason_of(error)}", hint=hint)


_OF_HOME = (
    "~ is not replaced here: a shell does it at the beginning of a word, outside quotes; or write the path in full"
)


def cannot_write(name: str, error: OSError) -> OutputError:
    """Make the error of an output that cannot be written; ``name`` is what messages call it."""
    return OutputError(f"cannot write {name}: {reason_of(error)}")


def nearest(name: str, known: Iterable[str], most: int = 3, cutoff: float = 0.6) -> list[str]:
    """Return the known names most similar to a name, the best first; nothing if none is similar."""
    import difflib

    return difflib.get_close_matches(name, list(known), n=most, cutoff=cutoff)


def did_you_mean(near: Sequence[str], otherwise: str | None = None) -> str | None:
    """Return the hint with the names that may be meant; ``otherwise`` if there are none.

    >>> did_you_mean(["a", "b"]), did_you_mean([], "there are c, d")
    ('did you mean a or b?', 'there are c, d')
    """
    return f"did you mean {' or '.join(near)}?" if near else otherwise


def no_pair(
    minimum: int,
    *,
    unit: str = "character",
    max_token_length: int | None = None,
    max_digits: int | None = None,
    character_boundaries: bool = False,
    bounded: bool = False,
) -> str:
    """Explain that no pair is left that satisfies all of the options.

    Args:
        minimum: How often a pair must occur.
        unit: What lengths are counted in.
        max_token_length: Most of these in a token.
        max_digits: Most numeric characters in a token.
        character_boundaries: Whether tokens are whole characters.
        bounded: Whether there are places in the corpus that no token goes over.

    >>> no_pair(1), no_pair(2), no_pair(2, max_token_length=3, bounded=True)  # doctest: +NORMALIZE_WHITESPACE
    ('no pair is left to merge', 'no pair is left that occurs 2 times or more',
     'no pair is left that occurs 2 times or more and makes a token of at most 3 characters and crosses no boundary')
    """
    conditions = [f"occurs {minimum:,} times or more"] if minimum > 1 else []
    if max_token_length is not None:
        conditions.append(f"makes a token of at most {plural(max_token_length, unit)}")
    if max_digits is not None:
        conditions.append(f"has at most {plural(max_digits, 'digit')}")
    if character_boundaries:
        conditions.append("keeps characters whole")
    if bounded:
        conditions.append("crosses no boundary")
    return "no pair is left " + (f"that {' and '.join(conditions)}" if conditions else "to merge")


# -- several errors --------------------------------------------------------------------------------

MOST_HINTS = 3
"""Of how many the way out is told, where it differs."""

Name = TypeVar("Name")
Result = TypeVar("Result")


class Failures:
    """Collect the errors of several attempts, so that a user can fix all of them at once.

    >>> from bpe_cli.stages.named_stages import normalizers_named
    >>> failures = Failures()
    >>> failures.of(normalizers_named, ["nfc", "nfx", "nmc"])
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
        """Raise if an attempt failed: its error, or one that names them all.

        Raises:
            BpeError: if an attempt failed; the error is of the kind of the first.
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
        BpeError: if an attempt failed; the message names all that did.
    """
    failures = Failures()
    results = failures.of(attempt, names)
    failures.check()
    return results


def size_of(number: int) -> str:
    """Write a number of bytes with a prefix.

    >>> [size_of(number) for number in (999, 25_300, 4_000_000_000)]
    ['999 B', '25.3 kB', '4.0 GB']
    """
    if number < 1000:
        return f"{number} B"
    size = number / 1000
    for prefix in "kMGT":
        if size < 1000:
            return f"{size:.1f} {prefix}B"
        size /= 1000
    return f"{size:,.1f} PB"


def duration(seconds: float) -> str:
    """Write a time as somebody would say it.

    >>> [duration(seconds) for seconds in (0.2, 59, 119, 7000, 500_000)]
    ['1 s', '59 s', '2 min', '1 h 57 min', '5 d 18 h']
    """
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def accepting(losses: Iterable[str]) -> str:
    """Return the argument that accepts losses, as a call takes it.

    >>> accepting(["pattern", "decoder"])
    'allow_loss=["pattern", "decoder"]'
    """
    return "allow_loss=[" + ", ".join(f'"{each}"' for each in losses) + "]"
