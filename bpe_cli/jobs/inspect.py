"""Inspect texts, token by token and step by step, and tokenizers by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.cluster_notes import noting_clusters
from bpe_cli.jobs.files import Streams, check_kept, find_documents
from bpe_cli.jobs.tokenizers import files_of, load_tokenizer, note_slow_patterns
from bpe_cli.support.core_arguments import share_of
from bpe_cli.support.listening import SILENCE, Listener

if TYPE_CHECKING:
    from typing import TypeAlias

    from bpe_cli.corpus import Inputs, Source
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.reports.text.scores import Ranking
    from bpe_cli.reports.text.segmentation import Segmentation
    from bpe_cli.reports.text.stages import StagesReport
    from bpe_cli.reports.text.steps import Steps
    from bpe_cli.reports.text.warnings import TextWarning
    from bpe_cli.reports.tokenizer.corpus_report import Frequencies
    from bpe_cli.reports.tokenizer.health import HealthReport
    from bpe_cli.reports.tokenizer.lookup import TokenCard
    from bpe_cli.stages import Normalizer, PreTokenizer
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
    """The reports on one text.

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
    """The reports on single tokens.

    Attributes:
        tokenizer: The tokenizer's name, if it has one.
        cards: One for each token that there is.
        unknown: What went wrong with the names of others.
    """

    tokenizer: str | None
    cards: tuple[TokenCard, ...]
    unknown: Failures


@dataclass(frozen=True, slots=True)
class InspectedTexts:
    """Texts with their tokens, one after the other as they are read."""

    tokenizer: Tokenizer
    documents: Iterator[tuple[Document, TextInspection]]


@dataclass(frozen=True, slots=True)
class RankedTexts:
    """Texts with their best segmentations, likewise."""

    tokenizer: Tokenizer
    documents: Iterator[tuple[Document, Ranking]]


@dataclass(frozen=True, slots=True)
class ExplainedTexts:
    """Texts with the steps to their tokens, likewise."""

    tokenizer: Tokenizer
    documents: Iterator[tuple[Document, Steps]]


@dataclass(frozen=True, slots=True)
class Cutting:
    """The stages before the model, by themselves.

    Attributes:
        normalizer: How text is rewritten.
        pre_tokenizer: How it is cut into pieces.
    """

    normalizer: tuple[Normalizer, ...] = ()
    pre_tokenizer: tuple[PreTokenizer, ...] = ()

    def tokenizer(self) -> Tokenizer:
        """Return a tokenizer of these stages, whose model is the 256 bytes: it takes whatever they make."""
        from bpe_cli.stages import RankBpe
        from bpe_cli.stages.vocabulary import Vocabulary
        from bpe_cli.tokenizer import Tokenizer

        every_byte = Vocabulary.from_tokens([bytes([byte]) for byte in range(256)])
        return Tokenizer(RankBpe(every_byte), self.pre_tokenizer, normalizer=self.normalizer)


@dataclass(frozen=True, slots=True)
class InspectOptions:
    """What is reported on texts, or on a tokenizer by itself.

    Attributes:
        specials: Which special tokens are looked for in texts and in a corpus.
        stages: Whether to find what each stage makes of a text.
        scores: Whether tokens without scores are refused.
        details: How many tokens of a text are described; None for all, as always with ``stages``.
        best: How many segmentations of a text are ranked by their scores; None for no ranking.
        steps: Whether to find the steps to a text's tokens, with ``best`` segmentations of a lattice.
        full: Whether all steps are found, however many there are.
        pairs: The most pairs that could merge to list at each step, which needs a model that merges; None for the
            usual number.
        usual_pairs: That number, which a model without merges ignores.
        tokens: The ids or texts of tokens to look up (see ``naming.find_tokens``), in place of the report on all.
        threads: How many threads encode a corpus; they change no result.
        residue_share: The share of the times that a residue is made in which it stays at most; None for the usual one.
        cutting: Stages that show what they make of texts, without a model; then the tokenizer counts for nothing.
    """

    specials: Specials = ()
    stages: bool = False
    scores: bool = False
    details: int | None = None
    best: int | None = None
    steps: bool = False
    full: bool = False
    pairs: int | None = None
    usual_pairs: int = 0
    tokens: tuple[str, ...] = ()
    threads: int = 1
    cutting: Cutting | None = None
    residue_share: float | None = None


if TYPE_CHECKING:
    Inspection: TypeAlias = InspectedTexts | RankedTexts | ExplainedTexts | HealthReport | TokenCards


def inspect(
    tokenizer: AnyTokenizer,
    texts: Source | None = None,
    options: InspectOptions | None = None,
    *,
    corpus: Source | None = None,
    outputs: Sequence[tuple[str, str | None]] = (),
    no_corpus: str | None = None,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> Inspection:
    """Report on texts; without texts, on a tokenizer by itself, and on which of its tokens a corpus uses.

    >>> from bpe_cli.corpus import Source
    >>> [(document.title, found.segmentation.token_count)
    ...  for document, found in inspect("gpt2", Source(text="low lower")).documents]
    [(None, 2)]

    Args:
        tokenizer: A tokenizer, its file, or its name.
        texts: The texts; None for the tokenizer by itself.
        options: What is reported.
        corpus: Texts to encode for the report on the tokenizer.
        outputs: The options that name files to write, and the files: nothing that is read may be one of them.
        no_corpus: The hint for a corpus that is missing; None for the usual one.
        listener: Receives progress and notes.
        streams: The streams around the job.

    Returns:
        Of texts ``ExplainedTexts``, ``RankedTexts`` or ``InspectedTexts``, as the options say; of a tokenizer
        ``TokenCards`` if tokens are named, which has those that are not there too, else a ``HealthReport``.

    Raises:
        UsageError: if something is asked for that the model does not have, or a special token is unknown.
        InputError: if a file cannot be read, a text is too long, or a byte of it has no token.
    """
    options, streams = options or InspectOptions(), streams or Streams()
    if options.residue_share is not None:
        share_of("`residues`", options.residue_share)
    if options.cutting is not None:
        tokenizer = options.cutting.tokenizer()
    check_kept(outputs, files_of(tokenizer), streams)
    model = load_tokenizer(tokenizer)
    note_slow_patterns(model, listener)
    if texts is not None:
        kind, find = _finder(model, options)  # what cannot be had is refused whether there are documents or not
        inputs = find_documents(texts, outputs, listener=listener, streams=streams)
        documents = _documents(texts, inputs, listener, streams)
        return kind(model, ((document, find(document.content)) for document in documents))
    frequencies = None
    if corpus is not None:
        from bpe_cli.corpus import reading
        from bpe_cli.reports.tokenizer.corpus_report import count_frequencies

        inputs = find_documents(corpus, listener=listener, streams=streams, otherwise=no_corpus)
        with (
            reading(corpus, inputs, "encoding", listener, stdin=streams.read) as blocks,
            noting_clusters(model, blocks, listener) as watched,
        ):
            frequencies = count_frequencies(model, watched, specials=options.specials, threads=options.threads)
    if options.tokens:
        return _look_up(model, options.tokens, frequencies)
    from bpe_cli.reports.tokenizer.health import examine_health
    from bpe_cli.reports.tokenizer.residues import SHARE

    share = SHARE if options.residue_share is None else options.residue_share
    return examine_health(model, frequencies, listener, residue_share=share)


def _finder(
    tokenizer: Tokenizer, options: InspectOptions
) -> tuple[type[InspectedTexts | RankedTexts | ExplainedTexts], Callable[[bytes], Any]]:
    """Return the function that makes the requested report on a text, and the kind of that report."""
    specials = options.specials
    if options.steps:
        from bpe_cli.reports.text.steps.pieces import Limits
        from bpe_cli.reports.text.steps.record import teller_of

        if options.pairs and not tokenizer.model.kind.startswith("bpe-"):
            raise UsageError("`pairs` is about merges, and this model has none", hint="leave it out")
        if options.pairs and tokenizer.model.events is not None:
            raise UsageError(
                "`pairs` shows the merges to choose from, and here a list fixes each one", hint="leave it out"
            )
        pairs = options.usual_pairs if options.pairs is None else options.pairs
        limits = Limits(None, None, pairs=pairs) if options.full else Limits(pairs=pairs)
        if options.best is not None:
            from bpe_cli.reports.text.scores import refuse_without_scores

            refuse_without_scores(tokenizer)
            limits = replace(limits, nbest=options.best)
        return ExplainedTexts, teller_of(tokenizer, specials, limits)
    if options.best is not None:
        from bpe_cli.reports.text.scores import check_rankable, rank

        check_rankable(tokenizer)
        best = options.best
        return RankedTexts, lambda text: rank(tokenizer, text, best, specials)
    from bpe_cli.reports.text.segmentation import TextReader
    from bpe_cli.reports.text.stages import refuse_long, show_stages
    from bpe_cli.reports.text.warnings import Watch

    if options.scores:
        from bpe_cli.reports.text.scores import check_scores

        check_scores(tokenizer)
    reader, watch = TextReader(tokenizer, specials), Watch(tokenizer, specials)

    def segment(text: bytes) -> TextInspection:
        if options.stages:
            refuse_long(text)
        segmentation = reader.segment(text, None if options.stages else options.details)  # stages need all
        shown = show_stages(tokenizer, text, segmentation, specials) if options.stages else None
        return TextInspection(segmentation, watch.warn(text, segmentation), shown)

    return InspectedTexts, segment


def _look_up(tokenizer: Tokenizer, names: Sequence[str], frequencies: Frequencies | None) -> TokenCards:
    """Look up tokens by their ids or texts, each once; missing ones are part of the result."""
    from bpe_cli.reports.tokenizer.lookup import find_tokens, look_up
    from bpe_cli.reports.tokenizer.reachability.examine import examine
    from bpe_cli.reports.tokenizer.structure import Anatomy
    from bpe_cli.support.messages import Failures

    anatomy, unknown = Anatomy(tokenizer), Failures()
    named = unknown.of(lambda name: find_tokens(anatomy, name), dict.fromkeys(names))
    token_ids = list(dict.fromkeys(token_id for each in named for token_id in each))
    verdicts = examine(tokenizer, token_ids).verdicts if token_ids else {}
    cards = (look_up(anatomy, each, verdict=verdicts[each], frequencies=frequencies) for each in token_ids)
    return TokenCards(tokenizer.name, tuple(cards), unknown)


def _documents(source: Source, inputs: Inputs, listener: Listener, streams: Streams) -> Iterator[Document]:
    """Yield each document whole.

    Lines have their titles even if there is only one: to know, the next would have to be waited for.
    """
    from bpe_cli.corpus import reading
    from bpe_cli.jobs.origins import Origins
    from bpe_cli.support.blocks import whole_documents

    def too_large() -> InputError:
        return InputError(
            f"the text is longer than the {LARGEST_TEXT >> 20} MiB that can be shown",
            hint="show a part of it (head -c 100000), or use bpe encode or bpe compare",
        )

    whole = source.documents == "whole"
    origins = Origins(whole=whole)
    with reading(source, inputs, "reading", listener, stdin=streams.read, on_input=origins.begin) as blocks:
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
