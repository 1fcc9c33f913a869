"""Which store a URL is of."""

from __future__ import annotations

from functools import cache

from bpe_cli.corpus.objects.base import Store

CLOUDS = ("s3", "gs", "az")


def store_of(url: str) -> Store:
    """Return the store that a URL is of; it is made once.

    Raises:
        InputError: if what it needs is not installed.
        UsageError: if the URL is not complete.
    """
    scheme, _, rest = url.partition("://")
    return _store(scheme, rest.partition("/")[0] if scheme in CLOUDS else "")


@cache
def _store(scheme: str, bucket: str) -> Store:
    if scheme in CLOUDS:
        from bpe_cli.corpus.objects.cloud import CloudStore

        return CloudStore(scheme, bucket)
    if scheme == "hf":
        from bpe_cli.corpus.objects.hub import HubStore

        return HubStore()
    from bpe_cli.corpus.objects.web import WebStore

    return WebStore()
