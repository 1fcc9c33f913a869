"""Measure how many tokens code needs: indentation by levels, tabs against spaces, operators, whitespace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from bpe_cli.reports.comparison.boundaries import Cutter
from bpe_cli.reports.comparison.measures import Ratio

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Specials, Tokenizer

LEVELS = 8
"""Lines are indented by up to so many levels."""

INDENTS = {"2 spaces": b"  ", "4 spaces": b"    ", "tabs": b"\t"}
"""What a level is indented by."""

FRAGMENTS = (
    "==", "!=", "<=", ">=", "&&", "||", "->", "=>", "::", "+=", "++", "<<", "**", "//", "/*", "*/", "...", "?.", "!==",
    "()", "[]", "{}", ");", "});", "](", "</", "/>", '"""', "```", "#!", "#include", "${", "\n\n", "\r\n", "\n\t",
    "\n\t\t", "\n    ", "\n        ", ";\n", "{\n", "):\n", "}\n\n",
)  # fmt: skip
"""Operators, brackets and line ends that code is full of."""


@dataclass(frozen=True, slots=True)
class CodeResult:
    """What one tokenizer makes of code.

    Attributes:
        indents: For each of ``INDENTS`` the tokens that indenting a line by 1 to ``LEVELS`` levels adds to it; fewer
            than none where the indentation makes one token with the line feed before.
        fragments: Tokens of each of ``FRAGMENTS``, each a text of its own.
        reindented: For each of ``INDENTS`` the tokens of each file, indented so.
        blank_tokens: Tokens of the files as they are that stand for nothing but whitespace.
        lossless: Whether the tokens decode to the files; where not, whitespace may cost nothing and be lost.
    """

    indents: tuple[tuple[int, ...], ...]
    fragments: tuple[int, ...]
    as_written: tuple[int, ...]
    reindented: tuple[tuple[int, ...], ...]
    blank_tokens: int
    lossless: bool = True

    @property
    def token_count(self) -> int:
        """Tokens of all files as they are."""
        return sum(self.as_written)

    blank_share = Ratio("blank_tokens", "token_count")
    """Share of the tokens that stand for nothing but whitespace."""

    @property
    def one_token_fragments(self) -> int:
        """How many of ``FRAGMENTS`` are one token."""
        return sum(tokens == 1 for tokens in self.fragments)

    @property
    def reindented_sums(self) -> tuple[int, ...]:
        """Tokens of all files for each of ``INDENTS``."""
        return tuple(map(sum, self.reindented))

    @property
    def tabs_per_spaces(self) -> float | None:
        """Tokens of the files indented by tabs, per token of the same with four spaces."""
        sums = dict(zip(INDENTS, self.reindented_sums, strict=True))
        return sums["tabs"] / sums["4 spaces"] if sums["4 spaces"] else None


@dataclass(frozen=True, slots=True)
class CodeProbe:
    """What code costs.

    Attributes:
        blank_bytes: How many of them are whitespace (ASCII).
    """

    source: str
    names: tuple[str, ...]
    byte_count: int
    blank_bytes: int
    results: tuple[CodeResult, ...]

    blank_share = Ratio("blank_bytes", "byte_count")
    """Share of the bytes that are whitespace."""


def probe_code(
    tokenizers: Sequence[Tokenizer],
    files: Mapping[str, bytes],
    *,
    specials: Specials = (),
    source: str = "code",
    threads: int = 1,
) -> CodeProbe:
    """Measure how many tokens code costs; ``specials`` are looked for in it."""
    texts = list(files.values())
    again = [[reindented(text, unit) for text in texts] for unit in INDENTS.values()]
    results = []
    for tokenizer in tokenizers:
        cutter = Cutter(tokenizer, specials, threads)
        results.append(
            CodeResult(
                tuple(_indents(cutter, unit) for unit in INDENTS.values()),
                tuple(cutter.count([fragment.encode() for fragment in FRAGMENTS])),
                tuple(cutter.count(texts)),
                tuple(tuple(cutter.count(each)) for each in again),
                _blank_tokens(cutter, texts),
                cutter.keeps(texts),
            )
        )
    size = sum(map(len, texts))
    blank = size - sum(len(b"".join(text.split())) for text in texts)
    return CodeProbe(source, tuple(files), size, blank, tuple(results))


def _indents(cutter: Cutter, unit: bytes) -> tuple[int, ...]:
    flat, *indented = cutter.count([b"begin:\n%sreturn\n" % (unit * level) for level in range(LEVELS + 1)])
    return tuple(count - flat for count in indented)


def _blank_tokens(cutter: Cutter, texts: Sequence[bytes]) -> int:
    blank = 0
    for text, (_, ends) in zip(texts, cutter.cut(texts), strict=True):
        # bytes.isspace is false of nothing, which a token that covers no byte stands for.
        blank += sum(text[start:end].isspace() for start, end in pairwise([0, *ends]))
    return blank


def reindented(text: bytes, unit: bytes) -> bytes:
    r"""Indent code anew.

    The leading blanks of each line are counted in levels of the file's own unit; what is more than whole levels is
    alignment, and stays as spaces. Lines that are only blanks stay as they are.

    >>> reindented(b"a\n  b\n    c\n     d\n", b"\t")
    b'a\n\tb\n\t\tc\n\t\t d\n'
    """
    own = indent_of(text)
    if own is None:
        return text
    lines = text.split(b"\n")
    for number, line in enumerate(lines):
        content = line.lstrip(b" \t")
        if content.strip():
            level, rest = _level(line[: len(line) - len(content)], own)
            lines[number] = unit * level + b" " * rest + content
    return b"\n".join(lines)


def indent_of(text: bytes) -> int | None:
    r"""Find by how many spaces a file indents a level; 0 for tabs, None where nothing is indented.

    It is the most frequent step by which one line is indented more than the line before; of two as frequent ones the
    smaller, as a larger one may be alignment.

    >>> indent_of(b"a\n  b\n    c\n"), indent_of(b"a\n\tb\n"), indent_of(b"a\n")
    (2, 0, None)
    """
    steps: Counter[int] = Counter()
    before = b""
    for line in text.split(b"\n"):
        content = line.lstrip(b" \t")
        if not content.strip():
            continue
        indent = line[: len(line) - len(content)]
        if len(indent) > len(before) and indent.startswith(before):
            steps[0 if b"\t" in indent[len(before) :] else len(indent) - len(before)] += 1
        before = indent
    # One column more is a comment's star or a bracket's alignment, no indentation.
    likely = {step: times for step, times in steps.items() if step != 1} or steps
    return min(likely, key=lambda step: (-likely[step], step)) if likely else None


def _level(indent: bytes, own: int) -> tuple[int, int]:
    """Return the level of a line, and the spaces that are alignment."""
    tabs = indent.count(b"\t")
    spaces = len(indent) - tabs
    if not own:
        return tabs, spaces
    return tabs + spaces // own, spaces % own
