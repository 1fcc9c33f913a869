"""Normalizers and pre-tokenizers by their names on the command line, and those that cut words at blanks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, partial

from bpe_cli import _core
from bpe_cli.errors import UsageError
from bpe_cli.stages.components import (
    NFC,
    NFD,
    NFKC,
    NFKD,
    BertNormalizer,
    BertPreTokenizer,
    BPEDecoder,
    ByteLevelDecoder,
    ByteLevelNormalizer,
    Charsmap,
    Decoder,
    Digits,
    FixedLength,
    Lowercase,
    Metaspace,
    Nmt,
    Normalizer,
    PreTokenizer,
    Punctuation,
    Replace,
    ReplaceDecoder,
    Split,
    Strip,
    StripAccents,
    StripDecoder,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
    WordPieceDecoder,
)
from bpe_cli.stages.patterns import ALIASES, PATTERNS, resolve
from bpe_cli.stages.spelling import to_visible
from bpe_cli.support.messages import did_you_mean, every, nearest


@cache
def charsmap_of(name: str) -> Charsmap:
    """Return the table of a normalization of SentencePiece's, which takes up to a second to make."""
    from base64 import b64encode

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
    "nmt_nfkc": partial(charsmap_of, "nmt_nfkc"),
    "nmt_nfkc_cf": partial(charsmap_of, "nmt_nfkc_cf"),
    "nfkc_cf": partial(charsmap_of, "nfkc_cf"),
    "collapse-spaces": partial(Replace, r"\s+", " "),
    "collapse-newlines": partial(Replace, r"[\r\n]+", "\n"),
    "identity": lambda: None,
    "none": lambda: None,
}
"""What makes each normalizer; None: nothing changes. ``nmt_nfkc`` and the like are SentencePiece's rules."""


def normalizers_named(names: str) -> tuple[Normalizer, ...]:
    """Return the normalizers of a comma-separated list of names, in order.

    ``strip-accents`` leaves out accents that are characters of their own, so ``nfd`` goes before it.

    Raises:
        UsageError: if a name is not known.

    >>> normalizers_named("nfd,strip-accents,lowercase")
    (NFD(), StripAccents(), Lowercase())
    >>> normalizers_named("none")
    ()
    """
    stages = every(_normalizer_named, (name.strip() for name in names.split(",")))
    return tuple(stage for stage in stages if stage is not None)


def _normalizer_named(name: str) -> Normalizer | None:
    make = NORMALIZERS.get(name)
    if make is None:
        meant = did_you_mean(nearest(name, NORMALIZERS, most=1))
        known = f"known: {', '.join(NORMALIZERS)}"
        raise UsageError(f"there is no normalizer {name!r}", hint=f"{meant} {known}" if meant else known)
    return make()


NAMED: dict[str, tuple[PreTokenizer, ...]] = {
    "none": (),
    "bert": (BertPreTokenizer(),),
    "whitespace": (Whitespace(),),
    "whitespace-split": (WhitespaceSplit(),),
    "punctuation": (Punctuation(),),
    "digits": (Digits(),),
    "metaspace": (Metaspace(),),
    # Whitespace is left out and each word gets a mark, so that words' spans do not hold the spaces.
    "t5": (WhitespaceSplit(), Metaspace()),
    "xlnet": (WhitespaceSplit(), Metaspace()),
    "scripts": (UnicodeScripts(),),
    "char": (FixedLength(1),),
}
"""Compositions of Hugging Face's components, with the settings of the models they are named after."""


def pre_tokenizer_names() -> tuple[str, ...]:
    """List the known names: components first, then split patterns."""
    return (*NAMED, *PATTERNS, *ALIASES)


def pre_tokenizers_named(names: str) -> tuple[PreTokenizer, ...]:
    """Return the pre-tokenizers of a comma-separated list of names, in order.

    A name of ``patterns`` stands for the pattern alone: bytes stay bytes.

    Raises:
        UsageError: if a name is not known.

    >>> pre_tokenizers_named("whitespace-split, digits")
    (WhitespaceSplit(), Digits(individual_digits=False))
    """
    stages = every(_pre_tokenizers_named, (name.strip() for name in names.split(",")))
    return tuple(stage for each in stages for stage in each)


def _pre_tokenizers_named(name: str) -> tuple[PreTokenizer, ...]:
    if name in NAMED:
        return NAMED[name]
    if name in PATTERNS or name in ALIASES:
        return (Split(resolve(name)),)
    raise UsageError(f"there is no pre-tokenizer {name!r}", hint=f"there are {', '.join(pre_tokenizer_names())}")


WORDS = Split("[ \\r\\n]+", "Removed")
"""Cuts at ASCII blanks and line ends, and nowhere else: other whitespace stays in words (subword-nmt)."""

VISIBLE_WORDS = Split("[" + to_visible(b" \r\n") + "]+", "Removed")
"""The same where bytes are spelt as visible characters."""


def word_stages(by_byte: bool) -> tuple[tuple[Normalizer, ...], tuple[PreTokenizer, ...]]:
    """Return the normalizer and the pre-tokenizer that cut text into words.

    ``by_byte``: words are of bytes, which the model sees as visible characters.
    """
    return ((ByteLevelNormalizer(),), (VISIBLE_WORDS,)) if by_byte else ((), (WORDS,))


def word_decoder(prefix: str, suffix: str, by_byte: bool = False) -> tuple[Decoder, ...]:
    """Return the decoder that takes off what is written around symbols, and puts blanks between words.

    Without prefix and suffix nothing tells where a word ends: then tokens are joined as they are.
    """
    if by_byte:
        blanks = (ReplaceDecoder(suffix, to_visible(b" ")),) if suffix else ()
        return (*blanks, ByteLevelDecoder(), *((StripDecoder(" ", 0, 1),) if suffix else ()))
    if prefix and suffix:
        return ReplaceDecoder(r"\A" + re.escape(prefix), "", literal=False), BPEDecoder(suffix)
    if suffix:
        return (BPEDecoder(suffix),)
    return (WordPieceDecoder(prefix, cleanup=False),) if prefix else ()
