"""Compare two tokenizers on given texts: the ids that they make, and the text decoded from these."""

from __future__ import annotations

import os
import unicodedata
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, product

from bpe_cli import _core
from bpe_cli.errors import InputError
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.messages import quote
from bpe_cli.support.texts import shortened
from bpe_cli.tokenizer import Specials, Tokenizer

SHOWN = 8
"""How many tokens of a cut a message has."""

THREADS = min(4, os.cpu_count() or 1)

Ids = bytes | None
"""The ids of a text, as the bytes of a u32 array; None for a text that cannot be encoded."""


@dataclass(frozen=True, slots=True)
class Law:
    """The way in which the ids of two tokenizers must be the same.

    Attributes:
        renumbered: Whether the second may have other ids for the same tokens.
        excepted: Ids of the first and of the second that may be found otherwise: a text that has one is not looked at.
        most: Whether only most of the texts are to have the same ids.
    """

    renumbered: bool = False
    excepted: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    most: bool = False


SAME = Law()


def difference(
    ours: Tokenizer, theirs: Tokenizer, texts: Collection[bytes], specials: Specials = (), law: Law = SAME
) -> str | None:
    """Describe the first text that becomes other ids, cut short; None if there is none."""
    some = list(texts)
    quick = [_together(each, some, specials) for each in (ours, theirs)]
    if not law.renumbered and None not in quick and quick[0] == quick[1]:
        return None
    both = [
        encode(each, some, specials) if done is None else list(_divided(*done))
        for each, done in zip((ours, theirs), quick, strict=True)
    ]
    index = _first(both[0], both[1], law)
    if index is None:
        return None
    text = some[index]
    if not (law.renumbered or law.most):
        text = shortened(text, lambda part: _differs(ours, theirs, part, specials, law))
    cuts = [shown(each, encode(each, [text], specials)[0]) for each in (ours, theirs)]
    asked = ", with special tokens asked for," if specials else ""
    return f"{quote(text)}{asked} becomes {cuts[0]}, and read back {cuts[1]}"


def _together(tokenizer: Tokenizer, texts: Sequence[bytes], specials: Specials) -> tuple[bytes, array[int]] | None:
    """Encode texts in one call: the bytes of all ids, and where each text's end; None if one cannot be encoded."""
    try:
        ids, ends = tokenizer.encode_block(Block.of(texts), tokenizer.matcher(specials), THREADS)
    except InputError:
        return None
    return ids.cast("B").tobytes(), array("Q", ends.cast("B").tobytes())


def encode(tokenizer: Tokenizer, texts: Sequence[bytes], specials: Specials = ()) -> list[Ids]:
    """Encode texts; None for each that cannot be."""
    matcher = tokenizer.matcher(specials)
    encoder = tokenizer.engine.encoder_of_texts
    results: list[Ids] = []
    size = len(texts)
    while len(results) < len(texts):
        part = texts[len(results) : len(results) + size]
        try:
            if size == 1 and encoder is not None and _is_refused(part[0], encoder, matcher):
                results.append(None)
                continue
            ids, ends = tokenizer.encode_block(Block.of(part), matcher, THREADS if size > 1 else 1)
        except InputError:
            if size == 1:
                results.append(None)
            size = max(1, size // 8)
            continue
        results += _divided(memoryview(ids).cast("B").tobytes(), ends)
        size *= 2
    return results


def _is_refused(text: bytes, encoder: _core.Encoder, matcher: _core.SpecialMatcher | None) -> bool:
    """Return whether the core says that a text cannot be encoded; no error is worded for it, which takes longer."""
    try:
        encoder.encode_text(text, matcher)
    except ValueError:
        return True
    return False


def _divided(ids: bytes, ends: Iterable[int]) -> Iterator[bytes]:
    start = 0
    for end in ends:
        yield ids[start : 4 * end]
        start = 4 * end


def _first(ours: Sequence[Ids], theirs: Sequence[Ids], law: Law) -> int | None:
    """Return the number of the first text whose ids break the law."""
    if law.renumbered and _all_renamed(ours, theirs, law):
        return None
    broken: list[int] = []
    names: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for number, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        if mine == other and not law.renumbered:
            continue
        ids = [numbers_of(each) for each in (mine, other)]
        if any(not some.isdisjoint(each) for some, each in zip(law.excepted, ids, strict=True) if some):
            continue
        if law.renumbered and mine is not None and other is not None and _renamed(ids[0], ids[1], *names):
            continue
        if mine is None and other is None:
            continue
        if not law.most:
            return number
        broken.append(number)
    return broken[0] if 2 * len(broken) > len(ours) else None


def _all_renamed(ours: Sequence[Ids], theirs: Sequence[Ids], law: Law) -> bool:
    """Return whether one renumbering makes all texts equal, but for those that the law does not look at."""
    mine, other = array("I"), array("I")
    for left, right in zip(ours, theirs, strict=True):
        ids = [numbers_of(each) for each in (left, right)]
        if any(not some.isdisjoint(each) for some, each in zip(law.excepted, ids, strict=True) if some):
            continue
        if (left is None) != (right is None) or len(ids[0]) != len(ids[1]):
            return False
        mine += ids[0]
        other += ids[1]
    pairs = set(zip(mine, other, strict=True))
    return len(pairs) == len(set(mine)) == len(set(other))


def _renamed(mine: array[int], other: array[int], to: dict[int, int], back: dict[int, int]) -> bool:
    """Return whether ids differ only by a renumbering that is the same in all texts."""
    if len(mine) != len(other):
        return False
    pairs = zip(mine, other, strict=True)
    return all(to.setdefault(one, two) == two and back.setdefault(two, one) == one for one, two in pairs)


def _differs(ours: Tokenizer, theirs: Tokenizer, text: bytes, specials: Specials, law: Law) -> bool:
    mine, other = (encode(each, [text], specials) for each in (ours, theirs))
    return mine != other and _first(mine, other, law) is not None


def numbers_of(ids: Ids) -> array[int]:
    """Return ids as numbers; none for a text that cannot be encoded."""
    return array("I", ids or b"")


def shown(tokenizer: Tokenizer, ids: Ids) -> str:
    """Format the tokens of a text, each with its id."""
    if ids is None:
        return "an error (it has no token for a part of it)"
    numbers = numbers_of(ids)
    written = [f"{_token(tokenizer, number)} ({number})" for number in numbers[:SHOWN]]
    rest = f" and {len(numbers) - SHOWN:,} more" if len(numbers) > SHOWN else ""
    return " ".join(written) + rest if written else "no tokens"


def _token(tokenizer: Tokenizer, token_id: int) -> str:
    try:
        return quote(tokenizer.token_bytes(token_id))
    except InputError:
        return "no token"


# --------------------------------------------------------------------------------------------------
# Make the texts on which two tokenizers are compared: tricky ones, the package's samples, and a vocabulary's own.
#
# All are written for this project. What they hold is bounded: ``MAX_BYTES`` for each way of going through a vocabulary.


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
    """Return short texts on which nearly equal tokenizers differ: each by itself, and all together."""
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


_SOME = 4
_VARIED = 1 << 11
"""Longer added tokens, which no tokenizer in use has, are only taken as they are: each text is repeated 200 times."""

_REPEATED = 8
"""About how many times the text of each of many added tokens is yielded."""


def of_special_tokens(tokenizer: Tokenizer) -> Iterator[bytes]:
    """Yield texts that spell special and added tokens, alone, in sentences, cut, cased and beside each other."""
    tokens = [token for token in tokenizer.special_tokens if len(token.content) <= _VARIED]
    yield from (token.content for token in tokenizer.special_tokens if len(token.content) > _VARIED)
    tokens = tokens[:: _REPEATED * sum(len(token.content) for token in tokens) // MAX_BYTES + 1]
    contents = [token.content for token in tokens]
    # One that has to stand alone is not recognized before another that begins with a letter, but cut off by it; with a
    # third before them, it is a piece of its own.
    alone = [token.content for token in tokens if token.single_word]
    rest = [token.content for token in tokens if not token.single_word]
    yield from map(b"".join, product((*alone[:_SOME], *rest[:_SOME]), repeat=3))
    for content in contents:
        yield content
        yield b"a" + content + b"b"
        yield b" " + content + b"  c\n"
        yield content + content[:-1]
        yield content + content
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
    """Return texts that normalizing, or a mark that is put before a text, may make equal to a token's."""
    text = content.decode("utf-8", "surrogateescape")
    cased = (text.swapcase(), text.upper(), text.lower(), text.title())
    formed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD"))
    unmarked = text.replace("▁", " ")
    forms = (*cased, *formed, f" {text} ", unmarked, unmarked.strip())
    variants = {each.encode("utf-8", "surrogateescape") for each in forms}
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
    if tokenizer.has_bytes and not tokenizer.decoder:
        return tokens
    prefix = model.continuing_subword_prefix.encode()
    suffix = model.end_of_word_suffix.encode()
    inner = [token.removeprefix(prefix).removesuffix(suffix) for token in tokens] if prefix or suffix else []
    return list(dict.fromkeys((*readings(tokenizer), *inner, *tokens[:_WRITTEN_AS])))


def readings(tokenizer: Tokenizer) -> list[bytes]:
    """Decode each ordinary token by itself."""
    decode = tokenizer.engine.decode
    return [decode(array("I", (token_id,))) for token_id, _ in tokenizer.model.vocabulary.items()]


def _by(number: int, parts: Iterable[str] | Sequence[bytes]) -> Iterator[list]:  # type: ignore[type-arg]
    held = list(parts)
    return (held[start : start + number] for start in range(0, len(held), number))


# --------------------------------------------------------------------------------------------------
# The texts on which tokenizers differ that are nearly the same. All are written for this project.


WRITTEN = (
    "",
    # words and blanks
    " ", "  ", "a", " a", "a ", "a  b", "  a   b    c ", "the cat sat", "The CAT Sat.", "x\ty", "\ta\t\tb", "\n",
    "\r", "\r\n", "a\nb", "a\r\nb\r\n\r\nc", "\n\n\n a", " \n \n", "a \n", "\x0b\x0c\x1c\x85",
    "\xa0a\u2003b\u3000c\u200b d", "def f(x):\n    if x:\n\t\treturn [x]  # no\n",
    # apostrophes, digits and signs
    "I'm we'LL they're 'tis o'clock don\u2019t '", "1", "12", "123", "1234567890", "3.14 1,000,000 0x1F -7 +8% 5e-3",
    "\u0661\u0662\u0663 \u0967\u0968 \u2460\xbd\xb2\uff11\uff12", "...!?;:--==>>||&&//**__~~",
    "$5 #tag @me a@b.c/d?e=f&g", "({[<\"'`\\^%", "snake_case camelCase HTTPServer kebab-case", "_ a_b __c__",
    # scripts
    "Stra\xdfe \u0130stanbul \u0131\u015f\u0131k \xc5ngstr\xf6m na\xefve",
    "\u039f\u03b4\u03cc\u03c2 \u03a3\u03a4\u039f \u03c4\u03ad\u03bb\u03bf\u03c2",
    "\u041a\u043e\u0442 \u0441\u0438\u0434\u0438\u0442 \u0401\u043b\u043a\u0430",
    "\u0570\u0561\u0581 \u10de\u10e3\u10e0\u10d8",
    "\u05e9\u05dc\u05d5\u05dd \u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd",
    "\u0627\u0644\u0642\u0637\u0651 \u064a\u062c\u0644\u0633\u060c \u0646\u0639\u0645",
    "\u092c\u093f\u0932\u094d\u0932\u0940 \u0915\u094d\u0937", "\u0e41\u0e21\u0e27\u0e19\u0e31\u0e48\u0e07",
    "\u0bae\u0bbf\u0baf\u0bbe\u0bb5\u0bcd", "\u732b\u304c\u5ea7\u308b\u3002\u30cd\u30b3\uff71\uff72",
    "\u8c93\u5750\u5728\u57ab\u5b50\u4e0a\uff0c\u597d", "\uace0\uc591\uc774 \u1100\u1161\u11a8",
    "\U00020000\U0001d400\U00010330",
    # emoji, joiners, combining marks
    "\U0001f600", "a\U0001f600b", "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f1e9\U0001f1ea ",
    "\U0001f44d\U0001f3fd \u2764\ufe0f 1\ufe0f\u20e3", "e\u0301 \xe9 o\u0308\u0323 \u1ed9 \u0301a",
    "\u200d\u200c\u2060\ufeff\xad", "Z\u0351\u036b\u0343\u036aalgo",
    # what normalization and casing change
    "\ufb01\ufb02 \u212b \u2126 \u1e9b\u0323 \u2460\u338f \uff21\uff22\uff41 \u0133 \u01c6 \u2026 \u2122 \ufdfa",
    "\u1100\u1161\u11a8 \uac01 \u0958 \u2adc \u0344", "\u0149 \u01f0 \u1e96 \u0390 \u03b0 \ufb13 \u1fb7 \u1e9e",
    "A\u030a A\u0328\u0301 e\u0323\u0302", "\u200bab\x00cd\x07ef\x7f\x80\x9f", "\ufffd\ufffe\uffff\U0010ffff\ue000",
    # what tokenizers write themselves
    "\u2581", "\u2581the \u2581 cat\u2581\u2581sat", "\u0120the\u0120cat\u010a\u0109", "low</w> lower</w></w>",
    "##s un##able ## #", "@@ low@@ er@@", "<0x0A><0x41><0xFF><0x0a><0x4>", "<s></s><unk><pad><mask>",
    "[CLS] [SEP] [UNK] [PAD] [MASK] [unused1]", "<|endoftext|><|im_start|>user<|im_end|>",
    "</s><s> <unk> \u2047  \u2047 ", "<bos><eos><n>", "_<EOT>\u2581<PRE>",
)  # fmt: skip

NOT_TEXT = (
    b"\xff", b"\xfe\xff", b"\x80", b"a\x80b", b"\xc3", b"\xc3(", b"\xe2\x82", b"a\xe2\x82 \xac", b"\xf0\x9f\x98",
    b"\xf0\x9f\x98a", b"\xed\xa0\x80", b"\xed\xb0\x80\xed\xa0\xbd", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe2\x96",
    b"\xe2\x96\x81\x81", b"the \xff cat",
)  # fmt: skip
"""Bytes that are not UTF-8: cut characters, surrogates, forms that are too long, numbers that are too high."""
