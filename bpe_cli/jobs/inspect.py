"""Inspect: texts, token by token and as each step makes them, and a tokenizer by itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from bpe_cli.errors import InputError
from bpe_cli.support.listening import SILENCE, Listener

if TYPE_CHECKING:
    from bpe_cli.corpus import Inputs, Source
    from bpe_cli.reports.text.scores import Ranking
    from bpe_cli.reports.text.segmentation import Segmentation
    from bpe_cli.reports.text.stages import StagesReport
    from bpe_cli.reports.text.steps import Steps
    from bpe_cli.reports.text.warnings import TextWarning
    from bpe_cli.reports.tokenizer.corpus_report import Frequencies
    from bpe_cli.reports.tokenizer.health import HealthReport
    from bpe_cli.reports.tokenizer.lookup import TokenCard
    from bpe_cli.support.messages import Failures
    from bpe_cli.tokenizer import Specials, Tokenizer

LARGEST_TEXT = 16 << 20
"""Bytes of a document that are inspected at most: it is held whole, and so are the ids of its tokens."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document.

    Attributes:
        content: Its bytes.
        input: The input it is of.
        number: Its number there, from 1.
        title: What to write above it; None for the only one.
    """

    content: bytes
    input: str
    number: int
    title: str | None = None

    @property
    def origin(self) -> tuple[str, int]:
        """The input and the number in it."""
        return self.input, self.number


@dataclass(frozen=True, slots=True)
class TextInspection:
    """What was found of one text.

    Attributes:
        segmentation: Its tokens.
        warnings: What of them might surprise.
        stages: What each stage made of it, if that was asked for.
    """

    segmentation: Segmentation
    warnings: tuple[TextWarning, ...]
    stages: StagesReport | None = None


@dataclass(frozen=True, slots=True)
class TokenCards:
    """What was found of single tokens.

    Attributes:
        tokenizer: The tokenizer's name, if it has one.
        cards: One for each token that there is.
        unknown: What went wrong with the names of others.
    """

    tokenizer: str | None
    cards: tuple[TokenCard, ...]
    unknown: Failures


def inspect_texts(
    tokenizer: Tokenizer,
    source: Source,
    *,
    specials: Specials = (),
    stages: bool = False,
    scores: bool = False,
    details: int | None = None,
    inputs: Inputs | None = None,
    listener: Listener = SILENCE,
    stdin: BinaryIO | None = None,
) -> Iterator[tuple[Document, TextInspection]]:
    """Yield the documents of a source, each with its tokens.

    Args:
        tokenizer: The tokenizer.
        source: The texts.
        specials: Which special tokens are looked for in them.
        stages: Whether to find what each stage makes of a text.
        scores: Whether tokens without scores are refused.
        details: How many tokens of a text are described; None for all.
        inputs: What ``source.inputs()`` gave, so that it need not be found again.
        listener: Who hears of what might not be expected.
        stdin: What ``-`` stands for; None for the process's own.

    Raises:
        UsageError: if scores are asked for and the model has none, or a name in ``specials`` is unknown.
        InputError: if a file cannot be read, a text is too long, or a byte of it has no token.

    >>> from bpe_cli.corpus import Source
    >>> from bpe_cli.tokenizer.named_encodings import named
    >>> [(document.title, found.segmentation.token_count)
    ...  for document, found in inspect_texts(named("gpt2"), Source(text="low lower"))]
    [(None, 2)]
    """
    from bpe_cli.reports.text.segmentation import TextReader
    from bpe_cli.reports.text.stages import refuse_long, show_stages
    from bpe_cli.reports.text.warnings import Watch

    if scores:
        from bpe_cli.reports.text.scores import check_scores

        check_scores(tokenizer)
    reader, watch = TextReader(tokenizer, specials), Watch(tokenizer, specials)

    def inspect(text: bytes) -> TextInspection:
        if stages:
            refuse_long(text)
        segmentation = reader.segment(text, details)
        shown = show_stages(tokenizer, text, segmentation, specials) if stages else None
        return TextInspection(segmentation, watch.warn(text, segmentation), shown)

    return _each(inspect, source, inputs, listener, stdin)


def rank_texts(
    tokenizer: Tokenizer,
    source: Source,
    best: int,
    *,
    specials: Specials = (),
    inputs: Inputs | None = None,
    listener: Listener = SILENCE,
    stdin: BinaryIO | None = None,
) -> Iterator[tuple[Document, Ranking]]:
    """Yield the documents of a source, each with its ``best`` segmentations by their scores; see ``inspect_texts``.

    Raises:
        UsageError: if the model gives no scores, or a name in ``specials`` is unknown.
        InputError: as ``inspect_texts``.
    """
    from bpe_cli.reports.text.scores import check_rankable, rank

    check_rankable(tokenizer)  # it is refused whether there are documents or not
    return _each(lambda text: rank(tokenizer, text, best, specials), source, inputs, listener, stdin)


def explain_texts(
    tokenizer: Tokenizer,
    source: Source,
    *,
    best: int | None = None,
    full: bool = False,
    specials: Specials = (),
    inputs: Inputs | None = None,
    listener: Listener = SILENCE,
    stdin: BinaryIO | None = None,
) -> Iterator[tuple[Document, Steps]]:
    """Yield the documents of a source, each with the steps to its tokens; see ``inspect_texts``.

    Args:
        tokenizer: The tokenizer.
        source: The texts.
        best: How many segmentations a lattice ranks; None for the usual number.
        full: Whether to tell all, however long.
        specials: As for ``inspect_texts``.
        inputs: As for ``inspect_texts``.
        listener: As for ``inspect_texts``.
        stdin: As for ``inspect_texts``.

    Raises:
        UsageError: if ``best`` is given and the model gives no scores, or a name in ``specials`` is unknown.
        InputError: as ``inspect_texts``.
    """
    from bpe_cli.reports.text.steps.pieces import Limits
    from bpe_cli.reports.text.steps.record import teller_of

    limits = Limits(None, None) if full else Limits()
    if best is not None:
        from bpe_cli.reports.text.scores import refuse_without_scores

        refuse_without_scores(tokenizer)
        limits = replace(limits, nbest=best)
    return _each(teller_of(tokenizer, specials, limits), source, inputs, listener, stdin)


def inspect_tokenizer(
    tokenizer: Tokenizer,
    corpus: Source | None = None,
    *,
    specials: Specials = (),
    threads: int = 1,
    inputs: Inputs | None = None,
    listener: Listener = SILENCE,
    stdin: BinaryIO | None = None,
) -> HealthReport:
    """Report on a tokenizer by itself, and on which of its tokens a corpus uses.

    Args:
        tokenizer: The tokenizer.
        corpus: Texts to encode; None for no corpus.
        specials: Which special tokens are looked for in them.
        threads: How many threads encode them.
        inputs: What ``corpus.inputs()`` gave, so that it need not be found again.
        listener: Who hears how many bytes were read, and of what might not be expected.
        stdin: What ``-`` stands for; None for the process's own.

    Raises:
        UsageError: if a split pattern does not compile, or a name in ``specials`` is unknown.
        InputError: if a file cannot be read, or a byte of a text has no token.
    """
    from bpe_cli.reports.tokenizer.health import examine_health

    frequencies = _frequencies(tokenizer, corpus, specials, threads, inputs, listener, stdin)
    return examine_health(tokenizer, frequencies)


def look_up_tokens(
    tokenizer: Tokenizer,
    names: Sequence[str],
    corpus: Source | None = None,
    *,
    specials: Specials = (),
    threads: int = 1,
    inputs: Inputs | None = None,
    listener: Listener = SILENCE,
    stdin: BinaryIO | None = None,
) -> TokenCards:
    """Look up tokens by their ids or texts (see ``naming.find_tokens``), each once.

    The other arguments are as for ``inspect_tokenizer``.

    Raises:
        UsageError: as ``inspect_tokenizer``; that a token is not there is part of the result.
        InputError: as ``inspect_tokenizer``.
    """
    from bpe_cli.reports.tokenizer.lookup import find_tokens, look_up
    from bpe_cli.reports.tokenizer.reachability.examine import examine
    from bpe_cli.reports.tokenizer.structure import Anatomy
    from bpe_cli.support.messages import Failures

    frequencies = _frequencies(tokenizer, corpus, specials, threads, inputs, listener, stdin)
    anatomy, unknown = Anatomy(tokenizer), Failures()
    named = unknown.of(lambda name: find_tokens(anatomy, name), dict.fromkeys(names))
    token_ids = list(dict.fromkeys(token_id for each in named for token_id in each))
    verdicts = examine(tokenizer, token_ids).verdicts if token_ids else {}
    cards = (look_up(anatomy, each, verdict=verdicts[each], frequencies=frequencies) for each in token_ids)
    return TokenCards(tokenizer.name, tuple(cards), unknown)


def _frequencies(
    tokenizer: Tokenizer,
    corpus: Source | None,
    specials: Specials,
    threads: int,
    inputs: Inputs | None,
    listener: Listener,
    stdin: BinaryIO | None,
) -> Frequencies | None:
    """Encode the corpus and count its tokens."""
    if corpus is None:
        return None
    from bpe_cli.corpus import reading
    from bpe_cli.reports.tokenizer.corpus_report import count_frequencies

    inputs = inputs if inputs is not None else corpus.inputs(stdin=stdin or sys.stdin.buffer, on_skip=listener.note)
    with reading(corpus, inputs, "encoding", listener, stdin=stdin) as blocks:
        return count_frequencies(tokenizer, blocks, specials=specials, threads=threads)


Found = TypeVar("Found")


def _each(
    inspect: Callable[[bytes], Found],
    source: Source,
    inputs: Inputs | None,
    listener: Listener,
    stdin: BinaryIO | None,
) -> Iterator[tuple[Document, Found]]:
    return ((document, inspect(document.content)) for document in _documents(source, inputs, listener, stdin))


def _documents(source: Source, inputs: Inputs | None, listener: Listener, stdin: BinaryIO | None) -> Iterator[Document]:
    """Yield each document whole.

    Lines have their titles even if there is only one: to know, the next would have to be waited for.

    Raises:
        InputError: if one is too long to be shown.
    """
    from bpe_cli.corpus import reading
    from bpe_cli.jobs.documents import Origins
    from bpe_cli.support.blocks import whole_documents

    def too_large() -> InputError:
        return InputError(
            f"the text is longer than the {LARGEST_TEXT >> 20} MiB that can be shown",
            hint="show a part of it (head -c 100000), or use bpe encode or bpe compare",
        )

    whole = source.documents == "whole"
    origins = Origins(whole=whole)
    inputs = inputs if inputs is not None else source.inputs(stdin=stdin or sys.stdin.buffer, on_skip=listener.note)
    with reading(source, inputs, "reading", listener, stdin=stdin, on_input=origins.begin) as blocks:
        first: Document | None = None
        contents = chain.from_iterable(whole_documents(blocks, LARGEST_TEXT, too_large))
        for number, content in enumerate(contents, start=1):
            title = origins.of(number) if whole else origins.line_of(number)
            document = Document(content, *origins.place_of(number), title)
            if whole and number == 1:
                first = document  # its title depends on whether there is another
                continue
            if first is not None:
                yield first
                first = None
            yield document
        if first is not None:
            yield replace(first, title=None)
