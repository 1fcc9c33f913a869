"""Segment texts: write each line of the documents as a line of its tokens, with blanks between them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.jobs.documents import Encoded
from bpe_cli.jobs.files import STDOUT, Streams, Target, check_kept, check_text_output
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.listening import SILENCE, Listener

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.jobs.files import Destination
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Tokenizer
    from bpe_cli.tokenizer.engine import Sampling

Cut = Callable[[list[bytes], int], list[bytes]]
"""What segments lines, given the number of the first."""


@dataclass(frozen=True, slots=True)
class SegmentOptions:
    """How words are cut, beyond what the tokenizer says (subword-nmt's ``apply-bpe``).

    Attributes:
        separator: The mark after a subword that does not end its word.
        glossaries: Regular expressions; text that they match is not segmented.
        vocabulary: A file of subwords and counts; subwords that are not in it are split again.
        threshold: The lowest count that counts.
        write_vocabulary: The file to write the subwords and their counts to.
        sampling: How the segmentation is varied at random.
        threads: Number of threads; None uses all processors. Never changes the result.

    Raises:
        UsageError: if there is a threshold, and no vocabulary.
    """

    separator: str = "@@"
    glossaries: tuple[str, ...] = ()
    vocabulary: str | None = None
    threshold: int = 0
    write_vocabulary: str | None = None
    sampling: Sampling | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.threshold and self.vocabulary is None:
            raise UsageError("`threshold` needs `vocabulary`")

    @property
    def about_words(self) -> bool:
        """Whether an option is set that makes sense for words only."""
        return bool(self.separator != "@@" or self.glossaries or self.vocabulary is not None)


def segment(
    source: Source,
    tokenizer: AnyTokenizer,
    options: SegmentOptions | None = None,
    *,
    output: Destination,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> Encoded:
    """Segment the documents of a source; write the vocabulary of that, if it is wanted, when all is there.

    >>> import io
    >>> from bpe_cli.corpus import Source
    >>> lines = io.BytesIO()
    >>> segment(Source(text="hello world"), "gpt2", output=lines).documents, lines.getvalue()
    (1, b'hello  world\\n')

    Args:
        source: The texts.
        tokenizer: A tokenizer, its file, or its name.
        options: How words are cut.
        output: A file, which appears only when it is complete, or a binary stream.
        listener: Receives progress and notes.
        streams: The streams around the job.

    Raises:
        UsageError: if the options do not fit the tokenizer, or text and vocabulary are to go into one file, or an
            output would replace an input.
        InputError, FormatError: if an input or the vocabulary cannot be read.
        OutputError: if an output cannot be written.
    """
    from bpe_cli.corpus import reading
    from bpe_cli.formats.subword_nmt import dump_vocabulary
    from bpe_cli.jobs.files import find_documents
    from bpe_cli.jobs.tokenizers import check_sampling, files_of, load_tokenizer, note_oddities
    from bpe_cli.sinks.atomic import check_writable, write_file

    how, streams, target = options or SegmentOptions(), streams or Streams(), Target.of(output)
    if how.write_vocabulary == STDOUT:
        raise UsageError("`write_vocabulary` names a file: it cannot be piped", hint="./- is a file of that name")
    if target.path is not None:
        check_text_output(target.path)
    model = load_tokenizer(tokenizer)
    check_sampling(model, how.sampling)
    written = [("`output`", target.path), ("`write_vocabulary`", how.write_vocabulary)]
    check_kept(written, [*files_of(tokenizer), ("the vocabulary", how.vocabulary or "")], streams, target)
    note_oddities(model, (), listener)
    files = find_documents(source, written, listener=listener, streams=streams, target=target)
    if how.write_vocabulary is not None:
        check_writable(how.write_vocabulary)
        if target.path is not None and os.path.realpath(target.path) == os.path.realpath(how.write_vocabulary):
            raise UsageError(f"{target.path} cannot be both the text and its vocabulary", hint="name another file")
    cut = line_cutter(model, how)
    counts: Counter[str] = Counter()
    if how.write_vocabulary is not None:
        cut = _counted(cut, counts)
    with target.open() as out, reading(source, files, "segmenting", listener, stdin=streams.read) as blocks:
        lines = _write_lines(blocks, cut, out)
    names = (target.path,) if target.path is not None and os.path.isfile(target.path) else ()
    if how.write_vocabulary is None:
        return Encoded(lines, files=names)
    write_file(how.write_vocabulary, dump_vocabulary(counts))
    return Encoded(lines, files=(*names, how.write_vocabulary), subwords=len(counts))


def _counted(cut: Cut, counts: Counter[str]) -> Cut:
    """Return a function that cuts lines and counts their subwords; only different subwords are held."""
    from bpe_cli.formats.subword_nmt import count_words

    def counted(lines: list[bytes], number: int) -> list[bytes]:
        segmented = cut(lines, number)
        count_words(b"\n".join(segmented).decode("utf-8", "surrogateescape").split("\n"), counts)
        return segmented

    return counted


def line_cutter(model: Tokenizer, how: SegmentOptions) -> Cut:
    """Return a function that segments lines, given the number of the first.

    BPE with ends of words marks what goes on by the separator; any other tokenizer's tokens stand with
    blanks between them, as the text has them.

    Raises:
        UsageError: if the options are about words, and the tokenizer has none; or if it cannot be varied so.
        InputError, FormatError: if the vocabulary cannot be read.
    """
    from bpe_cli.jobs.files import read_counts
    from bpe_cli.stages import CharacterBpe, LongestMatch
    from bpe_cli.support.ordered_threads import usable_threads
    from bpe_cli.tokenizer.subword_text import Segmenter

    sampling = how.sampling
    bpe = model.live_model
    if isinstance(bpe, CharacterBpe) and bpe.end_of_word_suffix and not bpe.continuing_subword_prefix:
        if sampling is not None and sampling.way != "dropout":
            raise UsageError("segmented text can only be varied by `dropout`")
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
        return partial(segmenter.lines, threads=usable_threads(how.threads))
    if how.about_words:
        longest = isinstance(bpe, LongestMatch)
        raise UsageError(
            "glossaries, separators and vocabularies are for words that merges split into subwords",
            hint="leave `inference` out" if longest else '`algorithm="bpe"` trains such a tokenizer',
        )
    if sampling is not None:
        raise UsageError(f"segmented text of a {model.model.kind} tokenizer cannot be varied")

    def cut(lines: list[bytes], number: int) -> list[bytes]:  # noqa: ARG001  # nothing is drawn
        return [b" ".join(_pieces(line, model)) for line in lines]

    return cut


def _pieces(line: bytes, model: Tokenizer) -> Iterator[bytes]:
    """Yield what the tokens of a line stand for, each character once: with the first token that has a byte of it."""
    from bpe_cli.tokenizer.encoded import well_formed

    text, written = well_formed(line), 0
    for token in model.tokens(line):
        end = token.end
        while end < len(text) and 0x80 <= text[end] < 0xC0:
            end += 1
        if piece := line[max(token.start, written) : end]:
            yield piece
            written = end


def _write_lines(blocks: Iterable[Block], cut: Cut, out: Output) -> int:
    """Write the lines of documents, of which an empty one has one; return how many there were."""
    from bpe_cli.support.blocks import lines_of, whole_documents

    number = 0
    for documents in whole_documents(blocks):
        lines = [line for each in documents for line in lines_of(each) or [b""]]
        out.write(b"\n".join([*cut(lines, number), b""]))
        number += len(lines)
        out.flush()
    return number
