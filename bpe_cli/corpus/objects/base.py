"""What a store is to those who read from it: objects that are found, listed, and opened at any byte.

A store tries nothing twice. It raises ``FileNotFoundError``, ``PermissionError``, ``TransientError``, or an
``InputError`` for what no second request mends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.messages import show_path

CHUNK_BYTES = 1 << 18
"""At least so many bytes of an answer are handed on at a time; so many more are lost when it breaks off."""

SECONDS = 30
"""So long a server may say nothing before the request counts as failed."""


CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or boto3; AWS_SKIP_SIGNATURE=true for public ones",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS names a file with credentials; GOOGLE_SKIP_SIGNATURE=true for public ones",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY; AZURE_SKIP_SIGNATURE=true for public ones",
    "hf": "HF_TOKEN, or hf auth login",
}
"""How a user gets into each store, for hints."""


def password_in_url(scheme: str) -> UsageError:
    """Return the error for a URL with a user or a password before its server's name; it does not repeat the URL."""
    hint = CREDENTIALS.get(scheme)
    return UsageError(
        "the URL has a user or a password in it, which would be stored in every record of what was read", hint=hint
    )


class TransientError(Exception):
    """A failure that may pass: the same request may succeed a little later.

    Attributes:
        reason: What went wrong, as the rest of a sentence.
        wait: How many seconds the server asks to be left alone.
    """

    def __init__(self, reason: str, wait: float = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Found:
    """An object that is there.

    Attributes:
        url: Its whole URL.
        size: How many bytes it has; None if its server does not say.
        version: What changes with its bytes, as its ETag; None if its server has nothing like that.
    """

    url: str
    size: int | None
    version: str | None


@dataclass(frozen=True, slots=True)
class Body:
    """The bytes of an object on their way.

    Attributes:
        start: Which byte comes first: that which was asked for, or 0 from servers that know no ranges.
        found: What the answer says of the whole object.
        chunks: The bytes. They may end too early, without an error.
        close: Ends the request.
        is_ranged: Whether the server knows ranges.
    """

    start: int
    found: Found
    chunks: Iterator[bytes]
    close: Callable[[], None]
    is_ranged: bool = True


class Store(Protocol):
    """A place with objects."""

    def find(self, url: str) -> Found:
        """Return what is known of an object."""
        ...

    def list(self, url: str) -> Iterable[Found]:
        """Return all objects in a folder, at any depth, in any order; the URL ends in a slash."""
        ...

    def open(self, url: str, start: int, end: int | None) -> Body:
        """Begin to read an object at a byte, up to another (exclusive) or its end."""
        ...


def plain_version(etag: str | None) -> str | None:
    """Return an ETag as it stands in records: lists and answers of the same store do not agree on quotes.

    >>> plain_version('W/"abc"'), plain_version("0x8D"), plain_version(None)
    ('abc', '0x8D', None)
    """
    return etag.removeprefix("W/").strip('"') or None if etag else None


def shorter(url: str) -> InputError:
    """Return the error for an object that ends before the bytes that were asked for."""
    return InputError(f"cannot read {show_path(url)}: it is shorter than it was when it was listed")
