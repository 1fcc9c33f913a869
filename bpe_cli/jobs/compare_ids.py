"""Verify that a tokenizer is the same in another file, or in another library: id for id."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING

from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.jobs.files import Streams, check_kept, find_documents
from bpe_cli.jobs.tokenizers import files_of, load_tokenizer, name_of
from bpe_cli.reports.comparison.ids import IdsReport, compare_ids
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.listening import SILENCE, Listener
from bpe_cli.support.messages import every, plural

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.reports.comparison.ids import Ids, Made, Reader
    from bpe_cli.reports.text.stages import StagesReport
    from bpe_cli.tokenizer import Specials, Tokenizer

_AT_ONCE = 1 << 12
"""How many texts are encoded together."""


@dataclass(frozen=True, slots=True)
class IdsOptions:
    """What is compared.

    Attributes:
        specials: Which special tokens are looked for in the inputs; in the texts that are built in, none and all are.
        library: The library that reads the last tokenizer: one of ``libraries.LIBRARIES``; None for ours.
        threads: How many threads encode; they change no result.
    """

    specials: Specials = ()
    library: str | None = None
    threads: int = 1


class OwnReader:
    """A tokenizer of ours as a reader.

    Attributes:
        name: Its name in messages.
        takes_bytes: That it takes any bytes.
        model: The tokenizer.
    """

    takes_bytes = True

    def __init__(self, name: str, model: Tokenizer, specials: Specials, threads: int) -> None:
        """Prepare; ``specials`` are found in the texts."""
        self.name = name
        self.model = model
        self.specials = specials
        self._matcher = model.matcher(specials)
        self._threads = threads

    def encode(self, texts: Sequence[bytes]) -> list[Ids]:
        """Return the ids of texts; None for each that has a byte without a token."""
        try:
            return self._encoded(texts, self._threads)
        except InputError:
            if len(texts) == 1:
                return [None]
        half = len(texts) // 2
        return [*self.encode(texts[:half]), *self.encode(texts[half:])]

    def _encoded(self, texts: Sequence[bytes], threads: int) -> list[Ids]:
        ids, ends = self.model.encode_block(Block.of(texts), self._matcher, threads)
        numbers = ids.tolist()
        return [tuple(numbers[start:end]) for start, end in pairwise((0, *ends))]

    def token(self, token_id: int) -> bytes:
        """Return what a token reads as."""
        return self.model.token_bytes(token_id)


def compare_ids_of(
    tokenizers: Sequence[AnyTokenizer],
    source: Source | None = None,
    options: IdsOptions | None = None,
    *,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> IdsReport:
    """Compare the ids that two tokenizers give, or one and another library: on texts, tricky ones, and all tokens.

    >>> found = compare_ids_of(["gpt2", "gpt2"])
    >>> found.same, found.besides
    (True, ())

    Args:
        tokenizers: Two, or one if a library is named.
        source: Texts to compare besides those that are built in.
        options: What is compared.
        listener: Receives progress and notes.
        streams: The streams around the job.

    Raises:
        UsageError: if there are not two readers, the library is not installed, or it cannot read the tokenizer.
        InputError: if a file cannot be read.
    """
    options, streams = options or IdsOptions(), streams or Streams()
    asked = 2 if options.library is None else len(tokenizers)
    if len(tokenizers) != asked or not 1 <= asked <= 2:
        raise UsageError(
            f"`ids` compares two tokenizers, and there {'is' if len(tokenizers) == 1 else 'are'} {len(tokenizers)}",
            hint="name two, or one and a library by `library`",
        )
    models = every(load_tokenizer, tokenizers)
    check_kept((), chain.from_iterable(map(files_of, tokenizers)), streams)
    names = [name_of(each) or model.name or "tokenizer" for each, model in zip(tokenizers, models, strict=True)]
    pairs = [_readers(tokenizers, models, names, specials, options) for specials in _asked_specials(models, options)]
    plain = pairs[0]
    besides = None if options.library is not None else list(differences_besides(*models))
    groups = [_inputs(source, listener, streams)] if source is not None else []
    built_in = _built_in(models)
    report = compare_ids(plain, [*groups, *_in_batches(built_in, "")], besides, explain=_explainer(plain))
    for readers in pairs[1:]:
        more = compare_ids(readers, _in_batches(built_in, ", special tokens found"), explain=_explainer(readers))
        report = IdsReport(report.names, report.texts + more.texts, report.first or more.first, report.besides)
    return report


def _asked_specials(models: Sequence[Tokenizer], options: IdsOptions) -> list[Specials]:
    """Return what is found in texts: in the inputs as asked, and all special tokens if there are any."""
    if options.library is not None:
        from bpe_cli.jobs.libraries import finds_specials

        return ["all" if finds_specials(options.library) else options.specials]
    has = any(model.special_tokens for model in models)
    return [options.specials, "all"] if has and options.specials != "all" else [options.specials]


def _readers(
    tokenizers: Sequence[AnyTokenizer], models: list[Tokenizer], names: list[str], specials: Specials,
    options: IdsOptions,
) -> tuple[Reader, Reader]:  # fmt: skip
    first = OwnReader(names[0], models[0], specials, options.threads)
    if options.library is None:
        second: Reader = OwnReader(names[1], models[1], specials, options.threads)
    else:
        from bpe_cli.jobs.libraries import reader_of

        second = reader_of(options.library, tokenizers[-1], models[-1], names[-1])
    return first, second


def _inputs(source: Source, listener: Listener, streams: Streams) -> tuple[str, Iterator[list[tuple[str, bytes]]]]:
    from bpe_cli.corpus import reading
    from bpe_cli.jobs.origins import Origins
    from bpe_cli.support.blocks import whole_documents

    inputs = find_documents(source, listener=listener, streams=streams)
    origins = Origins.of_inputs(source, inputs)

    def batches() -> Iterator[list[tuple[str, bytes]]]:
        number = 0
        with reading(source, inputs, "comparing", listener, stdin=streams.read, on_input=origins.begin) as blocks:
            for documents in whole_documents(blocks):
                yield [(str(origins.origin_of(number + at)), each) for at, each in enumerate(documents, 1)]
                number += len(documents)

    return "the inputs", batches()


def _built_in(models: Sequence[Tokenizer]) -> list[tuple[str, str, Collection[bytes]]]:
    """Return the texts that are brought: tricky ones, samples, and what all tokens read as; and what each is called."""
    from bpe_cli.formats.proof import comparing

    marked = dict.fromkeys(chain.from_iterable(map(comparing.of_special_tokens, models)))
    whole = dict.fromkeys(chain.from_iterable(chain.from_iterable(map(comparing.of_tokens, models))))
    groups: list[tuple[str, str, Collection[bytes]]] = [
        ("tricky texts", "a tricky text", comparing.tricky()),
        ("samples of languages and code", "a sample", comparing.of_samples()),
        ("around special tokens", "a text with a special token", marked),
        ("the whole vocabulary", "the vocabulary", whole),
    ]
    return groups if marked else [*groups[:2], groups[3]]


def _in_batches(
    groups: Iterable[tuple[str, str, Collection[bytes]]], suffix: str
) -> Iterator[tuple[str, Iterator[list[tuple[str, bytes]]]]]:
    return ((f"{name}{suffix}", _batches(where, texts)) for name, where, texts in groups)


def _batches(where: str, texts: Iterable[bytes]) -> Iterator[list[tuple[str, bytes]]]:
    left = iter(texts)
    while batch := [(where, each) for each in islice(left, _AT_ONCE)]:
        yield batch


# -- which stage differs --------------------------------------------------------------------------------


class _Explainer:
    """Find the first stage at which two readers part, for readers that are ours."""

    def __init__(self, readers: tuple[Reader, Reader]) -> None:
        self._readers = readers

    def __call__(self, text: bytes) -> tuple[str | None, Made | None]:
        one, other = self._readers
        tokens = tuple(
            None if (ids := reader.encode([text])[0]) is None else [reader.token(each) for each in ids]
            for reader in self._readers
        )
        if tokens[0] is not None and tokens[0] == tokens[1]:
            return "the numbers of tokens", None
        if not (isinstance(one, OwnReader) and isinstance(other, OwnReader)):
            return None, None
        try:
            stages = _stages(one, text), _stages(other, text)
        except (InputError, UsageError, FormatError):
            return ("the vocabulary" if None in tokens else None), None
        for name, made in _MADE.items():
            both = made(stages[0]), made(stages[1])
            if both[0] != both[1]:
                return name, both
        return "the model", None


def _stages(reader: OwnReader, text: bytes) -> StagesReport:
    from bpe_cli.reports.text.segmentation import segment
    from bpe_cli.reports.text.stages import show_stages

    return show_stages(reader.model, text, segment(reader.model, text, reader.specials), reader.specials)


def _special(stages: StagesReport) -> tuple[bytes, ...]:
    return tuple(piece.content for piece in stages.pieces if piece.special)


def _normalized(stages: StagesReport) -> tuple[bytes, ...]:
    return (stages.normalizers[-1].content,) if stages.normalizers else ()


def _pieces(stages: StagesReport) -> tuple[bytes, ...]:
    return tuple(piece.content for piece in stages.pieces)


_MADE = {
    "special tokens": _special,
    "the normalizer": _normalized,
    "the pre-tokenizer": _pieces,
}


def _explainer(readers: tuple[Reader, Reader]) -> _Explainer:
    return _Explainer(readers)


# -- what differs besides ids ---------------------------------------------------------------------------


def differences_besides(one: Tokenizer, other: Tokenizer) -> Iterator[str]:
    """Yield what two tokenizers have otherwise, whatever ids they give, a sentence each."""
    yield from _tokens_besides(one, other)
    yield from _special_besides(one, other)
    from bpe_cli.formats.proof import comparing, decodes_the_same, decoding_difference, surroundings

    if not decodes_the_same(one, other) and (found := decoding_difference(one, other, comparing.SAME)) is not None:
        yield f"the decoder: {found.replace(', and read back as ', ', and by the second as ')}"
    around = surroundings(one), surroundings(other)
    if around[0] != around[1]:
        yield f"what the post-processor puts around a text (-1): {around[0]}, and {around[1]}"
    for name, words in _USAGE.items():
        values = getattr(one.usage, name), getattr(other.usage, name)
        if values[0] != values[1]:
            yield words + _who_has(values)


_USAGE = {
    "chat_templates": "chat templates",
    "roles": "which special tokens begin, end or fill texts",
    "truncation": "how long encodings may become",
    "padding": "how encodings are filled up",
}


def _who_has(values: tuple[object, object]) -> str:
    if values[0] and values[1]:
        return ": both have some, which differ"
    return f": only the {'first' if values[0] else 'second'} has any"


def _tokens_besides(one: Tokenizer, other: Tokenizer) -> Iterator[str]:
    """Yield which ids have tokens in one only, or other tokens."""
    if one.model.vocabulary == other.model.vocabulary and one.special_ids.keys() == other.special_ids.keys():
        return
    tokens = _table(one), _table(other)
    for name, mine, theirs in (("first", tokens[0], tokens[1]), ("second", tokens[1], tokens[0])):
        only = sorted(mine.keys() - theirs.keys())
        if only:
            yield f"{plural(len(only), 'token')} that only the {name} has, the first {_named(only[0], mine)}"
    other_text = [each for each in sorted(tokens[0].keys() & tokens[1].keys()) if tokens[0][each] != tokens[1][each]]
    if other_text:
        shown = f"{_named(other_text[0], tokens[0])} and {_named(other_text[0], tokens[1])}"
        yield f"{plural(len(other_text), 'id')} with other tokens, the first {shown}"


def _table(tokenizer: Tokenizer) -> dict[int, bytes]:
    """Return what each id reads as."""
    from bpe_cli.reports.text.characters import reading_of

    read = reading_of(tokenizer)
    table = {token_id: read(token) for token_id, token in tokenizer.model.vocabulary.items()}
    return table | {token_id: token.content for token_id, token in tokenizer.special_ids.items()}


def _named(token_id: int, table: dict[int, bytes]) -> str:
    from bpe_cli.support.messages import quote

    return f"{quote(table[token_id])} ({token_id})"


def _special_besides(one: Tokenizer, other: Tokenizer) -> Iterator[str]:
    """Yield how special tokens differ in more than their ids and texts."""
    both = sorted(one.special_ids.keys() & other.special_ids.keys())
    flags = [each for each in both if one.special_ids[each] != other.special_ids[each]]
    if flags:
        content = one.special_ids[flags[0]].content.decode("utf-8", "backslashreplace")
        yield f"how {plural(len(flags), 'special token')} are found in a text, the first {content} ({flags[0]})"
    for name, mine, theirs in (("first", one, other), ("second", other, one)):
        only = sorted(mine.special_ids.keys() - theirs.special_ids.keys())
        if only:
            content = mine.special_ids[only[0]].content.decode("utf-8", "backslashreplace")
            count = plural(len(only), "token")
            yield f"{count} that only the {name} holds for special or added, the first {content} ({only[0]})"
