"""Make the texts on which two tokenizers are compared: tricky ones, the package's samples, and a vocabulary's own.

All are written for this project. What they hold is bounded: ``MAX_BYTES`` for each way of going through a vocabulary.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain

from bpe_cli.formats.proof.tricky import NOT_TEXT, WRITTEN
from bpe_cli.stages import MergeBpe, RankBpe
from bpe_cli.tokenizer import Tokenizer

MAX_BYTES = 16 << 20
"""How many bytes of tokens each way of going through a vocabulary gives; of vocabularies in use it is 3 MB at most."""

NEIGHBOURS = 12
"""How many tokens are laid together in one text."""

_FIRST = 1 << 15
_STRIDE = 617
_WRITTEN_AS = 1 << 12

_RUNS = ("a", " ", "\n", "\u2581", "0", "-", "\u00e9", "\u732b", "\U0001f600", "ab", " a", "a ", "\r\n", "e\u0301")
_LENGTHS = (2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 101, 250)


@cache
def tricky() -> tuple[bytes, ...]:
    """Return short texts on which tokenizers differ that are nearly the same: each by itself, and all together."""
    written = [text.encode() for text in WRITTEN]
    runs = [(part * length).encode() for part in _RUNS for length in _LENGTHS]
    each_byte = [bytes([byte]) for byte in range(256)]
    between = [b"a" + byte + b"a " + byte + b"b" for byte in each_byte]
    together = [" ".join(WRITTEN).encode(), "".join(WRITTEN).encode(), bytes(range(256)), bytes(range(255, -1, -1))]
    return (*written, *NOT_TEXT, *each_byte, *between, *runs, *together)


@cache
def of_samples() -> tuple[bytes, ...]:
    """Return the package's samples: code, data and sentences of many languages."""
    from bpe_cli.support.samples import FOLDERS, samples

    return tuple(text for folder in (*FOLDERS, "languages") for text in samples(folder).values())


@cache
def of_every_character() -> tuple[bytes, ...]:
    """Return each of Unicode's characters below U+3400, what stands for others above, and some of each larger block."""
    few = [*range(0x3400, 0xA000, 97), *range(0xAC00, 0xD7A4, 61), *range(0xF900, 0x10000), *range(0x1D400, 0x1D800)]
    more = [
        *range(0x10000, 0x1D400, 37),
        *range(0x1E000, 0x20000),
        *range(0x20000, 0x30000, 977),
        *range(0xE0000, 0xE0200),
    ]
    codes = [code for code in (*range(0x3400), *few, *more) if not 0xD800 <= code < 0xE000]
    return tuple("".join(part).encode() for part in _by(8, (f"{chr(code)}a{chr(code)} " for code in codes)))


def of_special_tokens(tokenizer: Tokenizer) -> Iterator[bytes]:
    """Yield texts that spell special and added tokens, alone, in sentences, cut, cased and beside each other."""
    contents = [token.content for token in tokenizer.special_tokens]
    for content in contents:
        yield content
        yield b"a" + content + b"b"
        yield b" " + content + b"  c\n"
        yield content + content[:-1]
    for content in contents[:64]:
        yield content[1:] + content
        for other in _variants(content):
            yield other
            yield content + other + content
            yield b"a " + other + b" " + content
        yield b"x  " + content + b" \t" + content + b"\n " + content + b"y"
    yield b"".join(contents)
    yield b" ".join(reversed(contents))


def _variants(content: bytes) -> set[bytes]:
    """Return texts that normalizing may make equal to a token's."""
    text = content.decode("utf-8", "surrogateescape")
    cased = (text.swapcase(), text.upper(), text.lower(), text.title())
    formed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD"))
    variants = {each.encode("utf-8", "surrogateescape") for each in (*cased, *formed, f" {text} ")}
    return variants - {content}


def of_tokens(tokenizer: Tokenizer) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """Return what each token reads as: alone, behind a blank, and several that are laid together without one."""
    texts = own_texts(tokenizer)
    held = sum(map(len, texts))
    if held > MAX_BYTES:
        texts = texts[:: held // MAX_BYTES + 1]
    # Each stands beside one from far away, and the first ones, which are the most frequent, beside each other.
    far = list(chain.from_iterable(texts[start::_STRIDE] for start in range(_STRIDE)))
    laid = far + texts[:_FIRST] + _overlapping(texts[:_FIRST])
    return texts, [b" " + text for text in texts], [b"".join(part) for part in _by(NEIGHBOURS, laid)]


def _overlapping(texts: Sequence[bytes]) -> list[bytes]:
    """Lay each text over one that begins with its last character: there the order of merges decides."""
    ends = [text.decode("utf-8", "ignore")[-1:].encode() for text in texts]
    by_start: dict[bytes, list[bytes]] = {}
    for text in texts:
        by_start.setdefault(text.decode("utf-8", "ignore")[:1].encode(), []).append(text)
    return [
        text + others[number % len(others)][len(end) :] + b" "
        for number, (text, end) in enumerate(zip(texts, ends, strict=True))
        if end and (others := by_start.get(end))
    ]


def own_texts(tokenizer: Tokenizer) -> list[bytes]:
    """Return what each ordinary token reads as, and how the first are written where that differs, as ``▁a`` is."""
    model = tokenizer.model
    blob, ends = model.vocabulary.blob, model.vocabulary.ends
    tokens = [blob[start:end] for start, end in zip(chain((0,), ends), ends, strict=False) if start < end]
    if isinstance(model, (RankBpe, MergeBpe)) and not tokenizer.decoder:
        return tokens
    prefix = model.continuing_subword_prefix.encode()
    suffix = model.end_of_word_suffix.encode()
    inner = [token.removeprefix(prefix).removesuffix(suffix) for token in tokens] if prefix or suffix else []
    return list(dict.fromkeys((*readings(tokenizer), *inner, *tokens[:_WRITTEN_AS])))


def readings(tokenizer: Tokenizer) -> list[bytes]:
    """Decode each ordinary token by itself.

    Raises:
        FormatError: The decoder cannot be run.
    """
    decode = tokenizer.engine.decode
    return [decode(array("I", (token_id,))) for token_id, _ in tokenizer.model.vocabulary.items()]


def _by(number: int, parts: Iterable[str] | Sequence[bytes]) -> Iterator[list]:  # type: ignore[type-arg]
    held = list(parts)
    return (held[start : start + number] for start in range(0, len(held), number))
