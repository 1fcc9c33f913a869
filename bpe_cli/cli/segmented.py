"""``bpe encode --to segmented``: the text itself, cut into its tokens, a line per document."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from bpe_cli.cli.console import note, on_terminal, progress
from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.messages import cannot_read
from bpe_cli.views.numbers import count

if TYPE_CHECKING:
    from bpe_cli.corpus import Inputs, Source
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Tokenizer
    from bpe_cli.tokenizer.engine import Sampling

Cut = Callable[[list[bytes], int], list[bytes]]
"""What segments lines, given the number of the first."""

_MOST_BYTES = 1 << 27
"""No vocabulary is larger."""


@dataclass(frozen=True, slots=True)
class Segmenting:
    """Describe how words are cut, beyond what the tokenizer says (subword-nmt's ``apply-bpe``).

    Attributes:
        separator: What stands after a subword that does not end its word.
        glossaries: Expressions; what they match is left whole.
        vocabulary: A file of subwords and counts: all others are taken apart again.
        threshold: The lowest count that counts.
        write_vocabulary: The file to write the subwords and their counts to.
    """

    separator: str = "@@"
    glossaries: tuple[str, ...] = ()
    vocabulary: str | None = None
    threshold: int = 0
    write_vocabulary: str | None = None

    @property
    def about_words(self) -> bool:
        """Whether anything is said that makes sense for words only."""
        return replace(self, write_vocabulary=None) != Segmenting()


def check_options(segmented: bool, how: Segmenting, others: Mapping[str, object]) -> None:
    """Make sure that no option is given that has no effect.

    Args:
        segmented: Whether segmented text is wanted.
        how: What was said of it.
        others: What is about ids: what was given, by the options' names.

    Raises:
        UsageError: One is.
    """
    if not segmented and how != Segmenting():
        raise UsageError(
            "--separator, --glossary, --vocabulary, --vocabulary-threshold and --write-vocabulary are about segmented "
            "text",
            hint="--to segmented writes it",
        )
    if segmented and how.threshold and how.vocabulary is None:
        raise UsageError("--vocabulary-threshold is about --vocabulary, which is missing")
    useless = [name for name, given in others.items() if given]
    if segmented and useless:
        raise UsageError(f"segmented text has no ids, which {useless[0]} is about", hint="leave it out")


def write_segmented(
    model: Tokenizer,
    source: Source,
    found: Inputs,
    how: Segmenting,
    sampling: Sampling | None,
    output: str | None,
    threads: int,
    quiet: bool,
) -> None:
    """Segment what was found, to a file or stdout; write the vocabulary of that, if it is wanted, when all is there.

    Raises:
        UsageError: Text and vocabulary are to go into one file.
        BpeError: As ``line_writer``; or something cannot be read or written.
    """
    from bpe_cli.corpus import read_blocks
    from bpe_cli.formats.subword_nmt import dump_vocabulary
    from bpe_cli.sinks.atomic import check_writable, open_stdout, write_file
    from bpe_cli.sinks.compressing import open_packed

    if how.write_vocabulary is not None:
        if output is not None and os.path.realpath(output) == os.path.realpath(how.write_vocabulary):
            raise UsageError(f"{output} cannot be both the text and its vocabulary", hint="name another file")
        check_writable(how.write_vocabulary)
    cut = line_writer(model, how, sampling, threads)
    counts: Counter[str] = Counter()
    if how.write_vocabulary is not None:
        cut = _counted(cut, counts)
    with (
        progress(found.total_bytes, "segmenting", quiet=quiet, printing=on_terminal(output)) as advance,
        open_stdout(sys.stdout.buffer) if output is None else open_packed(output) as out,
    ):
        blocks = read_blocks(
            source, stdin=sys.stdin.buffer, inputs=found, on_bytes=advance,
            on_note=lambda message: note(f"note: {message}", quiet=quiet),
        )  # fmt: skip
        written = write_lines(blocks, cut, out)
    if output is not None:
        note(f"{count(written, 'line')} -> {output}", quiet=quiet)
    if how.write_vocabulary is not None:
        write_file(how.write_vocabulary, dump_vocabulary(counts))
        note(f"{count(len(counts), 'subword')} -> {how.write_vocabulary}", quiet=quiet)


def _counted(cut: Cut, counts: Counter[str]) -> Cut:
    """Return what cuts lines and counts what stands between the blanks; only the different subwords are held."""
    from bpe_cli.formats.subword_nmt import count_words

    def counted(lines: list[bytes], number: int) -> list[bytes]:
        segmented = cut(lines, number)
        count_words(b"\n".join(segmented).decode("utf-8", "surrogateescape").split("\n"), counts)
        return segmented

    return counted


def line_writer(model: Tokenizer, how: Segmenting, sampling: Sampling | None, threads: int) -> Cut:
    """Return what segments lines, with the number of the first.

    BPE with ends of words marks what goes on by the separator; any other tokenizer's tokens stand with
    blanks between them, as the text has them.

    Raises:
        UsageError: The options are about words, and the tokenizer has none; or it cannot be varied so.
        InputError, FormatError: The vocabulary cannot be read.
    """
    from bpe_cli.stages import CharacterBpe, LongestMatch
    from bpe_cli.tokenizer.subword_text import Segmenter

    bpe = model.live_model
    if isinstance(bpe, CharacterBpe) and bpe.end_of_word_suffix and not bpe.continuing_subword_prefix:
        if sampling is not None and sampling.way != "dropout":
            raise UsageError("segmented text can be varied by --dropout, and by no other way")
        known = None
        if how.vocabulary is not None:
            counts = read_counts(how.vocabulary)
            known = {token for token, count in counts.items() if count >= how.threshold}
        tokens = {token_id: token.decode("utf-8", "surrogateescape") for token_id, token in bpe.vocabulary.items()}
        segmenter = Segmenter(
            [(tokens[left], tokens[right]) for left, right, _ in bpe.merges],
            bpe.end_of_word_suffix,
            separate_suffix=bpe.separate_suffix,
            vocabulary=known,
            glossaries=how.glossaries,
            separator=how.separator,
            dropout=sampling.number if sampling else 0.0,
            seed=sampling.seed if sampling else 0,
        )
        return partial(segmenter.lines, threads=threads)
    if how.about_words:
        longest = isinstance(bpe, LongestMatch)
        raise UsageError(
            "glossaries, separators and vocabularies are about words that are cut into subwords by merges",
            hint="leave --inference out" if longest else "-a bpe trains such a tokenizer",
        )
    if sampling is not None:
        raise UsageError(f"segmented text of a {model.model.kind} tokenizer cannot be varied")

    def cut(lines: list[bytes], number: int) -> list[bytes]:  # noqa: ARG001  # nothing is drawn
        return [
            b" ".join(filter(None, (line[token.start : token.end] for token in model.tokens(line)))) for line in lines
        ]

    return cut


def read_counts(path: str) -> dict[str, int]:
    """Read lines of a token and its count.

    Raises:
        InputError, FormatError: They cannot be read, or are something else.
    """
    from bpe_cli.formats.subword_nmt import load_vocabulary

    return load_vocabulary(_read(path), path)


def _read(path: str) -> bytes:
    """Read a vocabulary: a file, or a pipe such as the shell's ``<(...)``."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise cannot_read(path, error) from error
    if len(data) > _MOST_BYTES:
        raise InputError(f"{path} is no vocabulary: it has more than {_MOST_BYTES:,} bytes")
    return data


def write_lines(blocks: Iterable[Block], cut: Cut, out: Output) -> int:
    """Write documents, a line each; give how many there were."""
    number = 0
    held = bytearray()  # of a document that goes on
    for block in blocks:
        lines = [*map(bytes, block.documents())]
        rest = lines.pop() if block.unfinished else b""
        if held and lines:
            lines[0] = bytes(held) + lines[0]
            held.clear()
        held += rest
        out.write(b"\n".join([*cut(lines, number), b""]))
        number += len(lines)
        out.flush()
    return number
