"""S3, Google Cloud Storage and Azure, by the library obstore.

It finds credentials as these services document it: in the environment, in files, from the machine it runs on. Where
boto3 is installed, S3's come from there, since only that knows profiles and single sign-on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from bpe_cli.corpus.objects.base import (
    CHUNK_BYTES,
    CREDENTIALS,
    SECONDS,
    Body,
    Found,
    TransientError,
    password_in_url,
    plain_version,
)
from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.lazy_modules import optional
from bpe_cli.support.messages import show_path

_STORES = {"s3": "S3Store", "gs": "GCSStore", "az": "AzureStore"}
_BUCKET = re.compile(r"\$?[a-zA-Z0-9][\w.-]{0,254}", re.ASCII)
_STATUS = re.compile(r"status code: (\d{3})([^:\n]*)")
_CODE = re.compile(r"<Code>(\w+)</Code>")
_SYSTEM = re.compile(r'(?:message: |tcp connect error: |dns error: )"?([^"\n]+)')
_WORTH_ANOTHER_TRY = frozenset((408, 425, 429))
_OF_MACHINES = re.compile(r"latest/(?:api/token|meta-data)|computeMetadata|metadata/identity")
"""Where a machine of the cloud is asked for its credentials, when they were found nowhere else. Others have none."""


class CloudStore:
    """A bucket, or a container."""

    def __init__(self, scheme: str, bucket: str) -> None:
        """Open a bucket by name, without a request.

        Raises:
            InputError: if obstore is not installed.
            UsageError: if the URL has no bucket, or a password, or obstore cannot make sense of the environment.
        """
        if "@" in bucket:
            raise password_in_url(scheme)
        library, errors = optional("obstore"), optional("obstore.exceptions")
        if library is None or errors is None:
            raise InputError(
                f"cannot read {scheme}://{bucket}/: the library for object stores is not installed",
                hint="pip install obstore, or bpe-cli[object-stores]",
            )
        if not _BUCKET.fullmatch(bucket):
            what = f"no bucket is called {bucket!r}" if bucket else f"{scheme}:// names no bucket"
            raise UsageError(what, hint=f"for example: {scheme}://BUCKET/FOLDER/")
        self._library: Any = library
        self._errors: Any = errors
        self._root = f"{scheme}://{bucket}/"
        self._has_answered = False
        options = {
            "allow_http": True,  # which only an endpoint of the user's own has
            "connect_timeout": "10s",
            "read_timeout": f"{SECONDS}s",
            "timeout": "24h",  # of a whole answer, which may be a large file
        }
        more = {"credential_provider": _aws_credentials()} if scheme == "s3" else {}
        kind = getattr(optional("obstore.store"), _STORES[scheme])
        try:
            self._store = kind(bucket, client_options=options, retry_config={"max_retries": 0}, **more)
        except (ValueError, OSError, self._errors.BaseError) as error:
            raise UsageError(f"cannot use {self._root}: {_reason(str(error))}", hint=CREDENTIALS[scheme]) from error

    def find(self, url: str) -> Found:
        """Return what is known of an object."""
        with self._errors_of(url):
            return self._found(self._library.head(self._store, self._key(url)))

    def list(self, url: str) -> Iterable[Found]:
        """Return all objects in a folder."""
        with self._errors_of(url):
            for page in self._library.list(self._store, self._key(url).rstrip("/") or None):
                yield from (found for found in map(self._found, page) if found.size or self._is_there(found.url))

    def _is_there(self, url: str) -> bool:
        """Return whether an empty object is one: a key that ends in a slash, for a folder, is listed without that."""
        try:
            self.find(url)
        except FileNotFoundError:
            return False
        return True

    def open(self, url: str, start: int, end: int | None) -> Body:
        """Begin to read an object."""
        wanted = {"range": {"offset": start} if end is None else (start, end)} if start or end is not None else {}
        try:
            with self._errors_of(url):
                answer = self._library.get(self._store, self._key(url), options=wanted)
                chunks = self._chunks(url, answer)
                return Body(answer.range[0], self._found(answer.meta), chunks, chunks.close)
        except _NoSuchRange as error:
            found = self.find(url)
            if found.size or start:
                raise InputError(
                    f"cannot read {show_path(url)}: it is shorter than it was when it was listed"
                ) from error
            return Body(0, found, iter(()), lambda: None)

    def _chunks(self, url: str, answer: Any) -> Any:
        with self._errors_of(url):
            for chunk in answer.stream(CHUNK_BYTES):
                yield bytes(chunk)

    def _key(self, url: str) -> str:
        return url.removeprefix(self._root)

    def _found(self, meta: Any) -> Found:
        return Found(self._root + meta["path"], meta["size"], plain_version(meta["e_tag"]))

    @contextmanager
    def _errors_of(self, url: str) -> Iterator[None]:
        """Turn the library's errors into those that a store raises."""
        try:
            yield
            self._has_answered = True
        except FileNotFoundError as error:
            raise FileNotFoundError(url) from error
        except (self._errors.PermissionDeniedError, self._errors.UnauthenticatedError) as error:
            raise PermissionError(_reason(str(error))) from error
        except (self._errors.InvalidPathError, ValueError) as error:
            raise InputError(f"cannot read {show_path(url)}: {_reason(str(error))}") from error
        except (self._errors.BaseError, OSError) as error:
            text = str(error)
            if not (self._has_answered or _STATUS.search(text)) and _OF_MACHINES.search(text):
                raise PermissionError("no credentials were found") from error
            raise _judged(url, text) from error


class _NoSuchRange(Exception):
    """The object ends before the bytes that were asked for."""


def _judged(url: str, text: str) -> Exception:
    """Return the error to raise for one that the library has no class for."""
    status = _STATUS.search(text)
    number = int(status[1]) if status else 0
    if number == 416:
        return _NoSuchRange(url)
    if "NoSuchBucket" in text:
        return InputError(f"cannot read {show_path(url)}: there is no such bucket")
    if 300 <= number < 500 and number not in _WORTH_ANOTHER_TRY and "RequestTimeout" not in text:
        hint = "its region may be another: AWS_REGION names it" if number < 400 else None
        return InputError(f"cannot read {show_path(url)}: {_reason(text)}", hint=hint)
    return TransientError(_reason(text))


def _reason(text: str) -> str:
    """Return what an error of the library says, in a line.

    >>> _reason("Generic S3 error: Error performing GET http://h/b in 2ms - HTTP error: error sending request")
    'HTTP error: error sending request'
    """
    status = _STATUS.search(text)
    if status:
        code = _CODE.search(text)
        return f"{status[1]}{status[2]}".strip() + (f" ({code[1]})" if code else "")
    line = text.splitlines()[0].rpartition(" - ")[2] if text else "no reason is given"
    system = _SYSTEM.search(text)
    return f"{line} ({system[1]})" if system and system[1] not in line else line


def _aws_credentials() -> Any:
    """Return what looks for credentials as boto3 does; None without boto3, or if it finds none."""
    provider = optional("obstore.auth.boto3")
    if provider is None:
        return None
    try:
        return provider.Boto3CredentialProvider()
    except ValueError:  # it found none
        return None
