"""Count languages apart, for a training in which the language that is compressed worst chooses each merge.

What is theirs and what is in their development sets goes into one table, with the marks of ``trainers.parity``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.jobs.count import adopted
from bpe_cli.jobs.mixing import Mixture, NamedCorpus, Sampled
from bpe_cli.jobs.spilling import Counted, CountsOnDisk, Spilling, parts_of, sums
from bpe_cli.stages.counting import ALL_MEMORY
from bpe_cli.support.core_arguments import wrong_type
from bpe_cli.support.listening import SILENCE, Listener
from bpe_cli.support.messages import did_you_mean, nearest
from bpe_cli.trainers.counts import new_counts
from bpe_cli.trainers.parity import NO_LANGUAGE, mark_of

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.corpus import Source
    from bpe_cli.trainers.base import Chosen, Options, Trained

MOST_RATIO = 1_000_000


@dataclass(frozen=True, slots=True)
class Languages:
    """What is said of languages that choose merges, besides their corpora.

    Attributes:
        counts: The name of a language and a file of its counts, in place of corpora. A name may have several files.
        development: The development set of each language, of texts that say the same; empty for none.
        ratios: By the name of a language, what its compression is divided by; 1 if not given.
    """

    counts: tuple[tuple[str, str], ...] = ()
    development: tuple[NamedCorpus, ...] = ()
    ratios: Mapping[str, float] = field(default_factory=dict)

    def names(self, corpora: Iterable[NamedCorpus]) -> list[str]:
        """Return the names of the languages, in the order in which they are first named."""
        return list(dict.fromkeys([*(each.name for each in corpora), *(name for name, _ in self.counts)]))


def are_chosen(options: Options) -> bool:
    """Return whether languages choose the merges."""
    return bool(getattr(options, "parity", False))


def check_alone(options: Options, mixture: Mixture, *, development: object, ratios: object, kept: str | None) -> None:
    """Check that what is said of languages, and what else is said of corpora, can be done together.

    Args:
        options: What to train.
        mixture: How much each corpus counts.
        development: The development sets, if there are any.
        ratios: What compressions are divided by, if anything.
        kept: The option that keeps counts, or None.

    Raises:
        UsageError: if not.
    """
    if not are_chosen(options):
        for name, value in (("development", development), ("ratios", ratios)):
            if value:
                raise UsageError(
                    f"`{name}` has a meaning only where languages choose the merges", hint="it needs `parity`"
                )
        return
    if mixture.weights or mixture.alpha is not None:
        name = "weights" if mixture.weights else "alpha"
        raise UsageError(
            f"`{name}` says how much a corpus counts, and with `parity` the worst-compressed language chooses",
            hint="`ratios` asks for more compression in some languages than in others",
        )
    if kept is not None:
        raise UsageError(
            f"{kept} keeps the counts of one corpus, and `parity` has several",
            hint="count each language by itself with `counts_out`, and train with `from_counts` NAME=FILE",
        )


def with_languages(
    options: Chosen, names: Sequence[str], *, ratios: Mapping[str, object], development: Sequence[str]
) -> Chosen:
    """Return the options with the languages, and with what their compressions are divided by.

    Args:
        options: What to train, by ``parity``.
        names: The names of the languages.
        ratios: By the name of a language.
        development: The names of those that have a development set.

    Raises:
        UsageError: if there is one language only, or development sets or ratios do not go with the languages.
        TypeError: if a ratio is not a number.
    """
    if len(names) < 2:
        raise UsageError("`parity` is for several corpora", hint="`corpus={NAME: ...}` names them")
    if ratios and development:
        raise UsageError(
            "`ratios` and `development` both say which language is compressed worst", hint="give one of them"
        )
    for what, given in (("a ratio", list(ratios)), ("a development set", list(development))):
        for name in given:
            if name not in names:
                hint = did_you_mean(nearest(name, names), f"there are {', '.join(names)}")
                raise UsageError(f"there is no corpus {name!r} to have {what}", hint=hint)
    divisors = dict.fromkeys(names, 1.0)
    for name, ratio in ratios.items():
        if not isinstance(ratio, (int, float)) or isinstance(ratio, bool):
            raise wrong_type(f"the ratio of {name!r}", "a number", ratio)
        if not 0 < ratio <= MOST_RATIO:
            raise UsageError(f"the ratio of {name!r} must be above 0, and at most {MOST_RATIO:,}")
        divisors[name] = float(ratio)
    for name in names:
        if development and name not in development:
            raise UsageError(
                f"the corpus {name!r} has no development set, and others have one",
                hint="the sets say the same in all languages, so that their tokens can be compared",
            )
    chosen: Any = options  # of an algorithm that has these
    changed: Chosen = replace(chosen, languages=tuple(names), ratios=() if development else tuple(divisors.values()))
    return changed


def by_language(
    training: Iterable[tuple[str, Counted]],
    development: Iterable[tuple[str, Counted]],
    names: Sequence[str],
    max_memory: int,
    *,
    listener: Listener = SILENCE,
) -> Counted:
    """Put counts of languages into one table, each piece with the mark of its language.

    Args:
        training: The name of a language and counts of it, made when they are asked for, so that few are in memory at a
            time; temporary files among them are gone afterwards.
        development: The same for development sets.
        names: The names of the languages, by number.
        max_memory: Bytes of memory that the table may take; more of it goes to temporary files.
        listener: Receives notes.

    Raises:
        TrainingError: if a language has no text, a 64th of all counts does not fit the memory, or they pass 2^64.
        OutputError: if the temporary files cannot be written.
    """
    total = new_counts(ALL_MEMORY)
    with Spilling(total, max_memory, listener) as spilling:
        for what, of_development, counted in (
            ("corpus", False, training), ("development set of", True, development),
        ):  # fmt: skip
            for name, each in counted:
                if not each.unique:
                    raise TrainingError(f"there is nothing to train on: the {what} {name!r} has no text")
                mark = mark_of(names.index(name), development=of_development)
                with sums(f"the {what} {name!r}, with those before it: "):
                    _add_marked(total, each, mark, spilling)
                del each  # else they would stay until the next are there
        return spilling.finish()


def _add_marked(total: _core.Counts, counted: Counted, mark: bytes, spilling: Spilling) -> None:
    """Add counts with a mark before each piece; a file that they were in is gone."""
    with counted if isinstance(counted, CountsOnDisk) else nullcontext():
        for part in parts_of(counted):
            total.add_marked(part, mark)
            spilling.check()


def counted_languages(
    said: Languages,
    corpora: Sequence[NamedCorpus],
    options: Options,
    counted_in: Callable[[Source, Sampled | None, Options], Counted],
    sampled: Sampled | None,
    max_memory: int,
    *,
    listener: Listener = SILENCE,
) -> tuple[Counted, Options]:
    """Count languages and their development sets into one table; or load the counts of the languages.

    Args:
        said: What is said of the languages.
        corpora: Their corpora; none if their counts are there.
        options: What to train, by ``parity``.
        counted_in: Counts a corpus, or what is drawn of it, as the options cut it.
        sampled: How many documents are drawn of each corpus; None for all. Development sets are taken whole.
        max_memory: Bytes of memory that the table may take; more of it goes to temporary files.
        listener: Receives notes.

    Returns:
        The table, and the options with the languages.

    Raises:
        UsageError: if what is said of the languages contradicts itself, or text was cut otherwise.
        TrainingError: if a language has no text.
        InputError, FormatError: if a file cannot be read.
    """
    names = said.names(corpora)
    options = with_languages(options, names, ratios=said.ratios, development=[each.name for each in said.development])
    if said.counts:
        training, options = _loaded(said.counts, options, max_memory, listener)
    else:
        training = ((each.name, counted_in(each.source, sampled, options)) for each in corpora)
    development = ((each.name, counted_in(each.source, None, options)) for each in said.development)
    return by_language(training, development, names, max_memory, listener=listener), options


def _loaded(
    files: Sequence[tuple[str, str]], options: Options, max_memory: int, listener: Listener
) -> tuple[Iterator[tuple[str, Counted]], Options]:
    """Read files of counts; the way their text was cut becomes part of the trained tokenizer.

    Raises:
        UsageError: if an option says that text was cut otherwise.
        InputError, FormatError, TrainingError: as for ``counts_file.load_each``.
    """
    from bpe_cli.formats import counts_file

    loaded = counts_file.load_each((Path(path) for _, path in files), max_memory)
    first = next(loaded)
    options = adopted(options, first[1], listener=listener)
    names = (name for name, _ in files)
    return ((name, counts) for name, (_, _, counts) in zip(names, chain((first,), loaded), strict=True)), options


def choices(trained: Trained, options: Options) -> Iterator[str]:
    """Yield a sentence that says how many merges each language chose; none if no language did."""
    chosen_by: memoryview | None = getattr(trained, "chosen_by", None)
    if chosen_by is None:
        return
    times = Counter(chosen_by)
    several = times.pop(NO_LANGUAGE, 0)
    names: tuple[str, ...] = getattr(options, "languages", ())
    own = [f"{name} {times[number]:,}" for number, name in enumerate(names)]
    yield f"merges chosen by {', '.join([*own, *([f'all together or given {several:,}'] if several else [])])}"
