"""Read and write fastBPE's codes: ``left right count`` on each line, by priority, without a header.

The merges are those of subword-nmt's codes of version 0.2, with ``</w>`` glued to what ends a word, and
so are the tokenizers made of them. fastBPE's own reader wants the count and does not look at it; it stops
at a pair that appears twice, as this one does. Its ``applybpe`` cuts words at spaces and LF only and keeps
several spaces; here, as in subword-nmt, a CR ends a word too.

Vocabularies (``token count``) are those of subword-nmt as well: ``subword_nmt.load_vocabulary``.
"""

from __future__ import annotations

import re
from dataclasses import replace

from bpe_cli.errors import FormatError
from bpe_cli.formats import subword_nmt
from bpe_cli.formats.read_file import reader_of
from bpe_cli.stages import CharacterBpe
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Fact, Origin

NAME = "fastbpe"
FILES = ("*.codes",)
MODELS = subword_nmt.MODELS
HOLDS = subword_nmt.HOLDS

Pair = tuple[bytes, bytes]

_LINE = re.compile(rb"([^ \n]+) ([^ \n]+) ([0-9]{1,18})")


def sniff(head: bytes) -> bool:
    """Return whether all lines at hand are two symbols and a count, and some pair ends words."""
    lines = [line.removesuffix(b"\r") for line in head.split(b"\n")[:-1]]
    ends = f"{subword_nmt.SUFFIX} ".encode()
    return any(ends in line for line in lines) and all(_LINE.fullmatch(line) for line in lines)


def loads(data: bytes, source: str = "codes") -> Tokenizer:
    """Read the text of a file of codes."""
    counts = load_counts(data, source)
    tokenizer = subword_nmt.tokenizer_of(subword_nmt.Codes(tuple(counts)))
    stated: list[tuple[str, Fact]] = [("merges", len(counts))]
    if counts:
        stated += [("highest count", max(counts.values())), ("lowest count", min(counts.values()))]
    return replace(tokenizer, origin=Origin(NAME, tuple(stated), (("codes", data),)))


load = reader_of(loads, "holds codes of fastBPE, whose words are cut at blanks")


def load_counts(data: bytes, source: str = "codes") -> dict[Pair, int]:
    r"""Read pairs in order of priority, with their counts.

    >>> load_counts(b"t h 9\nth e</w> 8\n")
    {(b't', b'h'): 9, (b'th', b'e</w>'): 8}
    """
    counts: dict[Pair, int] = {}
    for row, line in enumerate(data.rstrip(b"\n").split(b"\n") if data else (), start=1):
        where = f"{source}:{row}"
        match = _LINE.fullmatch(line.removesuffix(b"\r"))
        if match is None:
            raise FormatError(f"not two symbols and a count with blanks between: {quote(line[:100])} ({where})")
        subword_nmt.check_text(line, where)
        pair = match[1], match[2]
        if pair in counts:
            raise FormatError(
                f"the pair {quote(b' '.join(pair))} stands there already ({where})",
                hint="fastBPE's learnbpe repeats pairs when it runs out of them, and its applybpe stops at the first "
                "that is repeated: leave these lines out",
            )
        counts[pair] = int(match[3])
    return counts


def dump(tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """Write a tokenizer's merges as codes.

    A tokenizer does not know how often its pairs were counted: one that was read from codes of fastBPE
    gets their counts, and any other 0, which changes nothing for who applies the codes.
    """
    pairs = subword_nmt.pairs_of(tokenizer)
    model = tokenizer.model
    if subword_nmt.is_by_byte(tokenizer) or (isinstance(model, CharacterBpe) and model.separate_suffix):
        raise FormatError(
            "fastBPE's codes are over characters, and the mark of a word's end is part of the last",
            hint="subword-nmt's codes hold bytes, and marks of their own",
        )
    subword_nmt.refuse_other_words(tokenizer, allow_loss)
    kept = tokenizer.origin.kept(NAME, "codes") if tokenizer.origin else None
    counts = load_counts(kept) if kept else {}
    return {"": b"".join(b"%s %s %d\n" % (*pair, counts.get(pair, 0)) for pair in pairs)}
