"""Normalizers by the names that the command line knows."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache, partial

from bpe_cli import _core
from bpe_cli.errors import UsageError
from bpe_cli.stages.normalizers import (
    NFC,
    NFD,
    NFKC,
    NFKD,
    BertNormalizer,
    Charsmap,
    Lowercase,
    Nmt,
    Normalizer,
    Replace,
    Strip,
    StripAccents,
)
from bpe_cli.support.failures import every
from bpe_cli.support.messages import did_you_mean, nearest


@cache  # a table takes a while to build
def _rules(name: str) -> Charsmap:
    return Charsmap(b64encode(_core.charsmap(name)).decode("ascii"))


NORMALIZERS: Mapping[str, Callable[[], Normalizer | None]] = {
    "nfc": NFC,
    "nfd": NFD,
    "nfkc": NFKC,
    "nfkd": NFKD,
    "lowercase": Lowercase,
    "strip-accents": StripAccents,
    "strip": Strip,
    "nmt": Nmt,
    "bert": BertNormalizer,
    "bert-cased": partial(BertNormalizer, lowercase=False),
    "nmt_nfkc": partial(_rules, "nmt_nfkc"),
    "nmt_nfkc_cf": partial(_rules, "nmt_nfkc_cf"),
    "nfkc_cf": partial(_rules, "nfkc_cf"),
    "collapse-spaces": partial(Replace, r"\s+", " "),
    "collapse-newlines": partial(Replace, r"[\r\n]+", "\n"),
    "identity": lambda: None,
    "none": lambda: None,
}
"""What makes each normalizer; None: nothing changes. ``nmt_nfkc`` and the like are SentencePiece's rules."""


def named(names: str) -> tuple[Normalizer, ...]:
    """Return the normalizers of names with commas between them, in order.

    ``strip-accents`` leaves out accents that are characters of their own, so ``nfd`` goes before it.

    Raises:
        UsageError: if a name is not known.

    >>> named("nfd,strip-accents,lowercase")
    (NFD(), StripAccents(), Lowercase())
    >>> named("none")
    ()
    """
    stages = every(_named, (name.strip() for name in names.split(",")))
    return tuple(stage for stage in stages if stage is not None)


def _named(name: str) -> Normalizer | None:
    make = NORMALIZERS.get(name)
    if make is None:
        meant = did_you_mean(nearest(name, NORMALIZERS, most=1))
        known = f"known: {', '.join(NORMALIZERS)}"
        raise UsageError(f"there is no normalizer {name!r}", hint=f"{meant} {known}" if meant else known)
    return make()
