"""``train``, as programs call it: on texts or files, with the options of the algorithms as keywords.

Length: one call with its overloads, whose docstring is a part of docs/reference/api.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from bpe_cli.errors import UsageError
from bpe_cli.jobs.count import count_corpus
from bpe_cli.jobs.files import Streams
from bpe_cli.jobs.languages import are_chosen, by_language, check_alone, with_languages
from bpe_cli.jobs.mixing import Mixture, Sampled, Weight, mixed, number_of
from bpe_cli.jobs.spilling import Counted, count_within, in_memory
from bpe_cli.jobs.train_options import options_for
from bpe_cli.jobs.train_sizes import held_out_read, measured_curve, trained_sizes
from bpe_cli.support.core_arguments import bytes_of, list_of, one_of, pair_of, whole_number, wrong_type
from bpe_cli.support.listening import SILENCE, Listener, heard
from bpe_cli.support.ordered_threads import usable_threads
from bpe_cli.trainers import trainer_for
from bpe_cli.trainers.base import sample as sampled
from bpe_cli.trainers.counts import DEFAULT_MAX_MEMORY

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.corpus.source import Documents
    from bpe_cli.engines.base import Engine
    from bpe_cli.results import SizesReport
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Tokenizer

    Corpus: TypeAlias = Iterable[str | bytes] | os.PathLike[str] | Iterable[os.PathLike[str]]


@overload
def train(
    corpus: Corpus | Mapping[str, Corpus],
    algorithm: str | None = None,
    *,
    documents: Documents | None = None,
    field: str | None = None,
    member: str | None = None,
    counts_dir: str | os.PathLike[str] | None = None,
    share: None = None,
    engine: str = "local",
    processes: int | None = None,
    max_memory: int = DEFAULT_MAX_MEMORY,
    threads: int = 1,
    target: str | None = None,
    weights: Mapping[str, Weight] | None = None,
    alpha: Weight | None = None,
    development: Mapping[str, Corpus] | None = None,
    ratios: Mapping[str, float] | None = None,
    sample: int | None = None,
    seed: int = 0,
    sizes: None = None,
    held_out: None = None,
    d_model: None = None,
    listener: Listener = SILENCE,
    **options: Any,
) -> Tokenizer: ...
@overload
def train(
    corpus: Corpus | Mapping[str, Corpus],
    algorithm: str | None = None,
    *,
    documents: Documents | None = None,
    field: str | None = None,
    member: str | None = None,
    counts_dir: str | os.PathLike[str] | None = None,
    share: None = None,
    engine: str = "local",
    processes: int | None = None,
    max_memory: int = DEFAULT_MAX_MEMORY,
    threads: int = 1,
    target: str | None = None,
    weights: Mapping[str, Weight] | None = None,
    alpha: Weight | None = None,
    development: Mapping[str, Corpus] | None = None,
    ratios: Mapping[str, float] | None = None,
    sample: int | None = None,
    seed: int = 0,
    sizes: Sequence[int],
    held_out: Corpus | None = None,
    d_model: int | None = None,
    listener: Listener = SILENCE,
    **options: Any,
) -> SizesReport: ...
@overload
def train(
    corpus: Corpus,
    algorithm: str | None = None,
    *,
    documents: Documents | None = None,
    field: str | None = None,
    member: str | None = None,
    counts_dir: str | os.PathLike[str],
    share: tuple[int, int],
    engine: str = "local",
    processes: int | None = None,
    max_memory: int = DEFAULT_MAX_MEMORY,
    threads: int = 1,
    target: str | None = None,
    weights: None = None,
    alpha: None = None,
    development: None = None,
    ratios: None = None,
    sample: None = None,
    seed: int = 0,
    sizes: None = None,
    held_out: None = None,
    d_model: None = None,
    listener: Listener = SILENCE,
    **options: Any,
) -> None: ...
def train(
    corpus: Corpus | Mapping[str, Corpus],
    algorithm: str | None = None,
    *,
    documents: Documents | None = None,
    field: str | None = None,
    member: str | None = None,
    counts_dir: str | os.PathLike[str] | None = None,
    share: tuple[int, int] | None = None,
    engine: str = "local",
    processes: int | None = None,
    max_memory: int = DEFAULT_MAX_MEMORY,
    threads: int = 1,
    target: str | None = None,
    weights: Mapping[str, Weight] | None = None,
    alpha: Weight | None = None,
    development: Mapping[str, Corpus] | None = None,
    ratios: Mapping[str, float] | None = None,
    sample: int | None = None,
    seed: int = 0,
    sizes: Sequence[int] | None = None,
    held_out: Corpus | None = None,
    d_model: int | None = None,
    listener: Listener = SILENCE,
    **options: Any,
) -> Tokenizer | SizesReport | None:
    """Train a tokenizer on texts, or on files.

    >>> from bpe_cli import train
    >>> tokenizer = train(["low lower lowest"] * 3, vocab_size=258)
    >>> [tokenizer.token_bytes(token_id) for token_id in (256, 257)]
    [b'lo', b'low']
    >>> train(["hug pug hugs"], "bpe", vocab_size=20, compat="sentencepiece").model.kind
    'bpe-scores'
    >>> several = train(["low lower lowest"] * 3, sizes=[257, 258], held_out=["lowest"])
    >>> several.tokenizers[258] == tokenizer, [each.tokens for each in several.curve.sizes]
    (True, [5, 4])

    Args:
        corpus: A list or other iterable of texts, each a document (``str``, or ``bytes`` in UTF-8); or files: one
            ``pathlib.Path`` or several. A ``str`` is always a text, so files must be given as paths. Folders and glob
            patterns work as on the command line. For named corpora, give a mapping from names to any of these.
        algorithm: One of the algorithms of ``bpe train -a``; None for ``bbpe``, or for what ``target`` asks for. Its
            option ``compat`` makes it follow another library's rules.
        documents: What counts as a document: the ``whole`` file, each of its ``lines``, or a field of each line of
            ``jsonl``. None means lines for the algorithms that learn from lines, and whole files for all others.
        field: The JSON field or table column that holds the text; None for ``text``.
        member: The extension of the tar members to read as documents. None means ``txt``, and skips archives found in
            folders.
        counts_dir: A folder that keeps the counts of the files, part by part. Counts that are already there are reused;
            the tokenizer is the same.
        share: (K, N) counts only every N-th part, starting with the K-th, so that N machines can share the work. Such a
            call trains nothing and returns None; a final call without it trains.
        engine: What runs the parts, as for ``prepare``: ``local``, ``ray`` or ``ray://HOST:PORT``. Never changes the
            result.
        processes: Number of parts to count at a time, each in its own process. None means one process with ``threads``,
            or as many as the cluster has room for.
        max_memory: The maximum memory for the counts, in bytes.
        threads: Number of threads. Never changes the result.
        target: The library that must be able to read the tokenizer exactly: ``llama.cpp``, ``transformers``,
            ``tiktoken`` or ``sentencepiece``. It also sets any options that are not given.
        weights: How often each named corpus counts: a number such as 3, 1.5 or "3/2"; 1 if not given. Fractions are
            scaled to whole numbers, by the same factor for all corpora.
        alpha: Instead of weights, the exponent of temperature sampling, from 0 to 1: a corpus with a share p of all
            text gets a share proportional to p ** alpha.
        development: With the option ``parity``, the development set of each corpus: parallel texts in all languages.
            The corpus that needs the most tokens there chooses the next merge.
        ratios: With ``parity`` but no development sets, the number that each corpus's compression is divided by; 1 if
            not given. The corpus with the lowest result chooses.
        sample: The number of documents to draw from each corpus; None for all of them.
        seed: The seed of the draw.
        sizes: Instead of ``vocab_size``, several vocabulary sizes to train on the same counts; in a single run if the
            sizes nest.
        held_out: Texts or files on which to measure the vocabularies of several sizes; they are not used for training.
        d_model: The embedding dimension; the number of embedding parameters is then measured too.
        listener: Receives progress and notes.
        options: The algorithm's own options: ``bpe train -a ALGORITHM --help-algorithm`` lists them. Stages and
            patterns may be given by name, as on the command line.

    Returns:
        The tokenizer; None if only a share of the parts was counted. With ``sizes``, the ``tokenizers`` by size and the
        ``curve`` for the held-out text, with ``to_json()``, ``to_markdown()`` and ``to_svg()``.

    Raises:
        TypeError: if the corpus is a single str, or neither texts nor paths.
        UsageError: if the algorithm or an option does not exist, a value has the wrong type, or an option about parts
            is given without ``counts_dir``.
        TrainingError: if there is no text, or the vocabulary is too small for its initial tokens.
        InputError: if a file cannot be read, or a text contains a lone surrogate.
    """
    for name, value in (
        ("algorithm", "" if algorithm is None else algorithm),
        ("field", "text" if field is None else field),
        ("member", "txt" if member is None else member),
    ):
        if not isinstance(value, str):
            raise wrong_type(name, "a str", value)
    if documents is not None:
        one_of("documents", documents, ("whole", "lines", "jsonl"))
    threads = usable_threads(whole_number("threads", threads, 1))
    max_memory, listener = whole_number("max_memory", max_memory, 1), heard(listener)
    if target is not None:
        from bpe_cli.jobs.targets import chosen_for

        algorithm, chosen = chosen_for(target, algorithm)
        options = chosen | options
    algorithm = "bbpe" if algorithm is None else algorithm
    wanted = None if sizes is None else _sizes_of(sizes, options)
    if wanted is None and (held_out is not None or d_model is not None):
        raise UsageError("`held_out` and `d_model` measure several sizes", hint="`sizes=[8000, 16000]` names them")
    made = options_for(algorithm, options if wanted is None else options | {"vocab_size": wanted[-1]})
    trainer, runner = trainer_for(made), _engine(engine, processes, threads)
    if counts_dir is None and (share is not None or engine != "local" or processes is not None):
        name = "share" if share is not None else "engine" if engine != "local" else "processes"
        raise UsageError(f"`{name}` needs `counts_dir`")
    named = corpus if isinstance(corpus, Mapping) else {}
    for name, given, kind in (
        ("weights", weights, "a dict of numbers by name"),
        ("ratios", ratios, "a dict of numbers by name"),
        ("development", development, "a dict of corpora by name"),
    ):
        if given is not None and not isinstance(given, Mapping):
            raise wrong_type(name, kind, given)
    mixture = Mixture(
        {name: number_of(f"the weight of {name!r}", weight) for name, weight in (weights or {}).items()},
        None if alpha is None else number_of("`alpha`", alpha),
    )
    mixture.check_names(list(named))
    mixture.check_used(made)
    drawn = None if sample is None else Sampled(whole_number("sample", sample, 1), whole_number("seed", seed))
    kept = "`counts_dir`" if counts_dir is not None else None
    check_alone(made, mixture, development=development, ratios=ratios, kept=kept)
    if are_chosen(made):
        made = with_languages(made, list(named), ratios=ratios or {}, development=list(development or ()))
    if counts_dir is not None and (named or drawn is not None):
        raise UsageError("`counts_dir` keeps counts of all documents of one corpus", hint="leave it out")

    def source_of(items: Iterator[object]) -> Source:
        from bpe_cli.corpus import Source

        return Source(tuple(map(_path, items)), documents=documents or "whole", field=field, member=member)

    # What is measured at the end is looked into now: training may take hours.
    text = None if held_out is None else _held_out(held_out, source_of, several=len(wanted or ()) > 1)
    dimension = None if d_model is None else whole_number("d_model", d_model, 1)

    def counted_in(one: object, drawn: Sampled | None = drawn) -> Counted:
        first, items = _looked_into(one)
        if isinstance(first, os.PathLike):
            return count_corpus(
                source_of(items), made, max_memory=max_memory, threads=threads, sampled=drawn, listener=listener
            )
        blocks = _blocks(items, trainer.takes_lines(made))
        chosen = blocks if drawn is None else sampled(blocks, drawn.size, drawn.seed)
        return count_within(trainer, chosen, made, max_memory=max_memory, threads=threads, listener=listener)

    if are_chosen(made):
        training = ((name, counted_in(one)) for name, one in named.items())
        tuned = ((name, counted_in(one, None)) for name, one in (development or {}).items())
        counted = by_language(training, tuned, list(named), max_memory, listener=listener)
    elif named:
        each = ((name, counted_in(one)) for name, one in named.items())
        counted = mixed(each, mixture, made, max_memory, listener=listener)
    elif counts_dir is not None:
        first, items = _looked_into(corpus)
        if not isinstance(first, os.PathLike):
            raise UsageError("`counts_dir` is for files, and the corpus is texts", hint="write them to a file")
        from bpe_cli.jobs.count_parts import add_up, count_parts
        from bpe_cli.jobs.parts import Share
        from bpe_cli.jobs.parts.doing import PartsFolder

        place = PartsFolder(os.fsdecode(counts_dir), None if share is None else Share(*pair_of("share", share)))
        source = source_of(items)
        count_parts(source, made, place, max_memory=max_memory, engine=runner, listener=listener)
        if share is not None:
            return None
        counted, made = add_up(place.path, made, max_memory, engine=runner, listener=listener)
    else:
        first, items = _looked_into(corpus)
        if held_out is None and not isinstance(first, os.PathLike):
            about_files = {
                "documents": documents not in (None, "whole", "lines" if trainer.takes_lines(made) else None),
                "field": field is not None,
                "member": member is not None,
            }
            for name, said in about_files.items():
                if said:
                    hint = "give files as pathlib.Path(name)"
                    raise UsageError(f"`{name}` is for files, and the corpus is texts: each is a document", hint=hint)
        counted = counted_in(corpus if isinstance(corpus, os.PathLike) else items)
    counts = in_memory(counted, max_memory)
    if wanted is None:
        tokenizer = trainer.train(counts, made, threads=threads).tokenizer
        _check_target(tokenizer, target)
        return tokenizer
    several = list(trained_sizes(counts, made, wanted, threads=threads, listener=listener))
    tokenizers = {size: trained.tokenizer for size, trained in zip(wanted, several, strict=True)}
    for tokenizer in tokenizers.values():
        _check_target(tokenizer, target)
    from bpe_cli.results import SizesReport

    if text is None:
        return SizesReport(tokenizers)
    curve = measured_curve(zip(wanted, several, strict=True), text, dimension, threads=threads, listener=listener)
    return SizesReport(tokenizers, curve)


def _sizes_of(sizes: Sequence[int], options: dict[str, Any]) -> tuple[int, ...]:
    """Return several sizes, ascending."""
    wanted = tuple(sorted(whole_number("sizes", size, 1) for size in list_of("sizes", sizes, "numbers")))
    if not wanted or len(set(wanted)) < len(wanted):
        raise UsageError("`sizes` are different numbers, one at least", hint="sizes=[8000, 16000, 32000]")
    if "vocab_size" in options:
        raise UsageError("`sizes` and `vocab_size` both say how many tokens", hint="give one of them")
    return wanted


def _check_target(tokenizer: Tokenizer, target: str | None) -> None:
    if target is not None:
        from bpe_cli.jobs.targets import check_target

        check_target(tokenizer, target, finished=True)


def _held_out(
    held_out: Corpus, source_of: Callable[[Iterator[object]], Source], *, several: bool
) -> Source | list[Block]:
    """Return held-out text, or where it is, if it can be read there for each of several sizes."""
    first, items = _looked_into(held_out, "`held_out`")
    if not isinstance(first, os.PathLike):
        return list(_blocks(items, False))
    source = source_of(items)
    held_out_read(source, Streams(), several=several)
    return source


def _engine(name: str, processes: int | None, threads: int) -> Engine:
    from bpe_cli.engines import engine_named

    if not isinstance(name, str):
        raise wrong_type("engine", "a str", name)
    count = None if processes is None else whole_number("processes", processes, 1)
    return engine_named(name, threads if count is None and name == "local" else count)


def _looked_into(corpus: object, name: str = "the corpus") -> tuple[object, Iterator[object]]:
    """Return the first text of a corpus, and an iterator over all of it."""
    if isinstance(corpus, (str, bytes, bytearray, memoryview)):
        raise TypeError(
            f"{name} is one text, and each of its letters would be a document: give a list of texts, [text], "
            "or a file as pathlib.Path(name)"
        )
    if isinstance(corpus, os.PathLike):
        return corpus, iter((corpus,))
    if not isinstance(corpus, Iterable):
        raise TypeError(f"{name} is texts or paths, and not of type {type(corpus).__name__}")
    items = iter(corpus)
    first = next(items, None)
    return first, iter(()) if first is None else chain((first,), items)


def _path(item: object) -> str:
    if not isinstance(item, os.PathLike):
        raise TypeError(f"the corpus begins with a path, and goes on with a {type(item).__name__}: give paths alone")
    return os.fsdecode(item)


_BLOCK_BYTES = 1 << 23


def _blocks(texts: Iterator[object], as_lines: bool) -> Iterator[Block]:
    """Yield texts as blocks of documents."""
    from bpe_cli.support.blocks import Block, lines_of

    waiting: list[bytes] = []
    size = 0
    for place, text in enumerate(texts):
        if not isinstance(text, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"a text of the corpus is a str or bytes, and not of type {type(text).__name__}")
        data = bytes_of(text, f"text at place {place} of the corpus")
        waiting += lines_of(data) if as_lines else [data]
        size += len(data)
        if size >= _BLOCK_BYTES:
            yield Block.of(waiting)
            waiting, size = [], 0
    if waiting:
        yield Block.of(waiting)
