"""Read and write the files of subword-nmt 0.3: merges ("codes"), and words or tokens with their counts.

Codes: ``#version: 0.2``, then ``left right`` on each line in order of priority, with ``</w>`` glued to
what ends a word. ``#version: 0.2 byte``: the same over bytes, whose lines are no UTF-8. Without a header,
or with ``#version: 0.1``, ``</w>`` is a symbol of its own. Of a pair that appears twice the first counts.

Codes hold merges and nothing else: ids are given anew when they are read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from bpe_cli.errors import FormatError
from bpe_cli.formats.features import losses, other_model, refuse_losses
from bpe_cli.formats.read_file import read, refuse_pattern
from bpe_cli.stages import ByteLevelNormalizer, CharacterBpe, SpecialToken
from bpe_cli.stages.named_stages import word_decoder, word_stages
from bpe_cli.stages.spelling import from_visible, to_visible
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Origin

NAME = "subword-nmt"
FILES = ("*.codes",)
MODELS = frozenset({"bpe-characters"})
HOLDS = frozenset({"decoder"})
SUFFIX = "</w>"
UNKNOWN = "<unk>"

_HEADER = re.compile(rb"#version: ?([^\r\n]*)\r?\n?")
_VERSIONS: dict[bytes, tuple[Literal["0.1", "0.2"], bool]] = {
    b"0.1": ("0.1", False),
    b"0.2": ("0.2", False),
    b"0.2 byte": ("0.2", True),
}


@dataclass(frozen=True, slots=True)
class Codes:
    """The merges of a file.

    Attributes:
        merges: (left, right) in order of priority, as the lines have them, repetitions as well.
        version: ``0.2`` if ``</w>`` is glued to the last symbol, ``0.1`` if it is a symbol of its own.
        by_byte: Whether symbols are bytes instead of characters.
    """

    merges: tuple[tuple[bytes, bytes], ...]
    version: Literal["0.1", "0.2"] = "0.2"
    by_byte: bool = False

    def first(self, number: int) -> Codes:
        """Return the codes of the first ``number`` lines (``apply-bpe --merges``)."""
        return Codes(self.merges[:number], self.version, self.by_byte)


def sniff(head: bytes) -> bool:
    """Return whether a file begins like codes: the header, and ``</w>`` at the end of some line."""
    return _has_header(head) and bool(re.search(rb"</w>\r?\n", head))


def sniff_alone(head: bytes) -> bool:
    """Return whether a file may be codes though no line of them ends a word: of text without spaces there are such.

    It looks like the merges of a pair whose vocabulary is missing, but that no symbol begins with GPT-2's blank.
    """
    return _has_header(head) and "\u0120".encode() not in head


def _has_header(head: bytes) -> bool:
    match = _HEADER.match(head)
    return match is not None and match[1].strip() in _VERSIONS


def load_codes(data: bytes, source: str = "codes") -> Codes:
    r"""Read codes.

    >>> load_codes(b"#version: 0.2\nt h\nth e</w>\n").merges
    ((b't', b'h'), (b'th', b'e</w>'))
    """
    header = _HEADER.match(data)
    version, by_byte = "0.1", False
    if header:
        if header[1].strip() not in _VERSIONS:
            raise FormatError(f"the version {quote(header[1])} of codes is unknown ({source}:1)", hint="0.1 or 0.2")
        version, by_byte = _VERSIONS[header[1].strip()]
    merges = []
    body = data[header.end() :] if header else data
    for number, line in enumerate(body.rstrip(b"\n").split(b"\n") if body else (), start=2 if header else 1):
        symbols = line.strip(b"\r\n ").split(b" ")
        if len(symbols) != 2 or not all(symbols):
            raise FormatError(f"not two symbols with a blank between: {quote(line)} ({source}:{number})")
        if not by_byte:
            check_text(line, f"{source}:{number}")
        merges.append((symbols[0], symbols[1]))
    return Codes(tuple(merges), "0.2" if version == "0.2" else "0.1", by_byte)


def check_text(line: bytes, where: str) -> None:
    """Check that a line is UTF-8."""
    try:
        line.decode()
    except UnicodeDecodeError:
        raise FormatError(f"the line is not UTF-8: {quote(line)} ({where})") from None


def dump_codes(tokenizer: Tokenizer) -> bytes:
    """Write the merges of a tokenizer as codes."""
    pairs = pairs_of(tokenizer)
    model = tokenizer.model
    separate = isinstance(model, CharacterBpe) and model.separate_suffix
    header = b"#version: 0.1" if separate else b"#version: 0.2 byte" if is_by_byte(tokenizer) else b"#version: 0.2"
    return b"".join(line + b"\n" for line in [header, *map(b" ".join, pairs)])


def is_by_byte(tokenizer: Tokenizer) -> bool:
    """Return whether its symbols are bytes, spelt as visible characters."""
    return any(isinstance(stage, ByteLevelNormalizer) for stage in tokenizer.normalizer)


def pairs_of(tokenizer: Tokenizer) -> list[tuple[bytes, bytes]]:
    """Return the merges of a tokenizer as codes spell them, in order of priority."""
    model = tokenizer.model
    if not isinstance(model, CharacterBpe):
        hint = "bpe train -a bpe --compat subword-nmt makes what codes hold"
        raise other_model(model, MODELS, "a file of codes", hint)
    if model.end_of_word_suffix != SUFFIX or model.continuing_subword_prefix:
        raise FormatError(f"codes mark the ends of words with {SUFFIX}, and nothing else; this tokenizer does not")
    by_byte = is_by_byte(tokenizer)
    # The suffix is spelt as itself.
    texts = {
        token_id: (by_byte and from_visible(token.decode())) or token for token_id, token in model.vocabulary.items()
    }
    pairs = []
    for left, right, _ in model.merges:
        if any(blank in texts[part] for part in (left, right) for blank in (b" ", b"\n", b"\r")):
            raise FormatError(f"codes cannot hold a token with a blank in it: {quote(texts[left] + texts[right])}")
        pairs.append((texts[left], texts[right]))
    return pairs


def load(path: Path, pattern: str | None = None) -> Tokenizer:
    """Read codes from a file."""
    refuse_pattern(pattern, path, "holds codes of subword-nmt, whose words are cut at blanks")
    codes = load_codes(read(path), str(path))
    stated = (("version", codes.version + " byte" * codes.by_byte), ("merges", len(codes.merges)))
    return replace(tokenizer_of(codes), origin=Origin(NAME, stated))


def tokenizer_of(codes: Codes) -> Tokenizer:
    """Make a tokenizer of codes; ids: ``<unk>``, symbols in all forms sorted, products in order."""
    suffix = SUFFIX.encode()
    spelt = {text: to_visible(text).encode() if codes.by_byte else text for pair in codes.merges for text in pair}
    pairs = list(dict.fromkeys((spelt[left], spelt[right]) for left, right in codes.merges))
    products = {left + right for left, right in pairs}
    single = {part for pair in pairs for part in pair if part not in products}
    glued = codes.version == "0.2"
    if glued:
        stems = {each.removesuffix(suffix) for each in single}
        single = stems | {each + suffix for each in stems}
    ids: dict[bytes, int] = {}
    for token in [*sorted(single - {b""}), *(left + right for left, right in pairs)]:
        ids.setdefault(token, len(ids) + 1)  # 0 is <unk>
    model = CharacterBpe(
        Vocabulary.from_tokens([b"", *ids]),
        Merges.from_pairs((ids[left], ids[right], ids[left + right]) for left, right in pairs),
        unk_id=0,
        end_of_word_suffix=SUFFIX,
        separate_suffix=not glued,
    )
    normalizer, pre_tokenizer = word_stages(codes.by_byte)
    return Tokenizer(
        model=model,
        pre_tokenizer=pre_tokenizer,
        special_tokens=(SpecialToken(UNKNOWN.encode(), 0),),
        normalizer=normalizer,
        decoder=word_decoder("", SUFFIX, codes.by_byte),
    )


def dump(tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """Write a tokenizer's merges as codes, which hold neither ids nor unknown characters."""
    content = dump_codes(tokenizer)
    refuse_other_words(tokenizer, allow_loss)
    return {"": content}


def refuse_other_words(tokenizer: Tokenizer, allow_loss: frozenset[str]) -> None:
    """Refuse to write codes of a tokenizer that does not cut words at blanks, or has further parts."""
    normalizer, pre_tokenizer = word_stages(is_by_byte(tokenizer))
    unknown = tokenizer.model.unk_id
    others = tuple(token for token in tokenizer.special_tokens if token.token_id != unknown)
    lost = losses(replace(tokenizer, special_tokens=others), HOLDS)
    for name, stages, held in (
        ("normalizer", tokenizer.normalizer, normalizer),
        ("pre-tokenizer", tokenizer.pre_tokenizer, pre_tokenizer),
    ):
        lost.pop(name, None)
        if stages != held:
            lost[name] = f"the {name}"
    if tokenizer.pre_tokenizer == pre_tokenizer:
        lost.pop("pattern", None)
    if tokenizer_of(load_codes(dump_codes(tokenizer))).model.vocabulary == tokenizer.model.vocabulary:
        del lost["ids"]
    refuse_losses(lost, allow_loss, "a file of codes")


# -- words or tokens with their counts ---------------------------------------------------------------


def load_vocabulary(data: bytes, source: str = "vocabulary") -> dict[str, int]:
    r"""Read a vocabulary: a token and its count on each line; of one that appears twice the larger counts.

    A byte that is not UTF-8 is a lone surrogate, as ``count_words`` is given it and ``dump_vocabulary`` writes it.

    >>> load_vocabulary(b"the 12\nth@@ 3\n")
    {'the': 12, 'th@@': 3}
    """
    counts: dict[str, int] = {}
    for number, line in enumerate(data.rstrip(b"\n").split(b"\n") if data else (), start=1):
        match = re.fullmatch(r"([^ ]+) ([0-9]{1,18})", line.decode("utf-8", "surrogateescape").strip("\r\n "))
        if match is None:
            raise FormatError(f"not a token, a blank and a count: {quote(line)} ({source}:{number})")
        counts[match[1]] = max(counts.get(match[1], 0), int(match[2]))
    return counts


def count_words(lines: Iterable[str], counts: Counter[str] | None = None) -> Counter[str]:
    """Count the words between blanks, in order of first occurrence (subword-nmt's ``get-vocab``).

    Args:
        lines: The text.
        counts: What was counted before, to be added to.

    >>> dict(count_words(["a b  a", ""]))
    {'a': 2, 'b': 1}
    """
    counts = Counter() if counts is None else counts
    for line in lines:
        counts.update(filter(None, line.strip("\r\n ").split(" ")))
    return counts


def dump_vocabulary(counts: Mapping[str, int]) -> bytes:
    """Write a vocabulary, the most frequent first, equals in the order given."""
    ordered = sorted(counts.items(), key=lambda item: item[1], reverse=True)
    return "".join(f"{token} {count}\n" for token, count in ordered).encode("utf-8", "surrogateescape")
