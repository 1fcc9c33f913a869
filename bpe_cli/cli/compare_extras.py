"""What ``bpe compare`` asks besides the measures: probes, overlaps of vocabularies, disagreements."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from bpe_cli.cli.parameters import Option
from bpe_cli.errors import InputError, UsageError

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.comparison import Comparison
    from bpe_cli.reports.comparison.probes import Probes
    from bpe_cli.reports.comparison.sampling import Sample
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Specials, Tokenizer

BUILT_IN = "built in"


class Probe(StrEnum):
    """What tokenizers can be asked without a text of one's own."""

    languages = "languages"
    code = "code"
    data = "data"
    numbers = "numbers"
    all = "all"


_PANEL = "Probes and differences"

ProbeNames = Annotated[
    list[Probe] | None,
    Option(
        "--probe", metavar="WHAT", rich_help_panel=_PANEL,
        help="Ask what languages, code, data, numbers or all of them cost; needs no INPUT. Can be repeated.",
    ),
]  # fmt: skip
Parallel = Annotated[
    list[str] | None,
    Option(
        "--parallel", metavar="FILE|LANG=FILE", rich_help_panel=_PANEL,
        help="Parallel texts for the languages: JSON lines with a key per language, or columns between tabs; or a "
        "file for each language, line by line the same (repeatable).",
    ),
]  # fmt: skip
Pivot = Annotated[
    str | None,
    Option(
        "--pivot", metavar="LANG", rich_help_panel=_PANEL, show_default="en, else the first",
        help="The language that others are compared with.",
    ),
]  # fmt: skip
Pairs = Annotated[
    str | None,
    Option(
        "--pairs", metavar="FOLDER", rich_help_panel=_PANEL,
        help="Objects for the data probe: each NAME.json with a NAME.yaml beside it. "
        "That both say the same is not checked.",
    ),
]  # fmt: skip
OverlapFlag = Annotated[
    bool,
    Option(
        "--overlap", rich_help_panel=_PANEL,
        help="Compare vocabularies with the first one's; needs no INPUT.",
    ),
]  # fmt: skip
Diff = Annotated[
    bool,
    Option(
        "--diff", rich_help_panel=_PANEL,
        help="Show where tokenizers cut the inputs differently than the first, the most costly first.",
    ),
]  # fmt: skip
DiffLimit = Annotated[
    int | None,
    Option(
        "--diff-limit", metavar="N", min=1, rich_help_panel=_PANEL, show_default="10",
        help="How many differences --diff lists.",
    ),
]  # fmt: skip


@dataclass(slots=True)
class Extras:
    """What is asked besides, and what is kept of the inputs for it.

    Attributes:
        probes: The probes, without ``all``.
        parallel: Files of parallel texts; empty for those that are built in.
        pivot: The language that others are compared with, if it was named.
        pairs: A folder of objects in two formats; None for those that are built in.
        overlap: Whether to compare vocabularies.
        diff: Whether to look for disagreements.
        diff_limit: How many to list.
        plain: Whether the files of ``LANG=FILE`` are text, whatever they hold.
    """

    probes: frozenset[Probe] = frozenset()
    parallel: Sequence[str] = ()
    pivot: str | None = None
    pairs: str | None = None
    overlap: bool = False
    diff: bool = False
    diff_limit: int = 10
    plain: bool = False
    _sample: Sample | None = field(default=None, init=False)

    @classmethod
    def of(
        cls,
        probes: Sequence[Probe] | None,
        parallel: Sequence[str] | None,
        pivot: str | None,
        pairs: str | None,
        overlap: bool,
        diff: bool,
        diff_limit: int | None,
        plain: bool,
    ) -> Extras:
        """Read the options; texts for a probe ask for it.

        Raises:
            UsageError: There is a pivot, or a limit, and nothing that it is for.
        """
        asked = set(probes or ())
        if Probe.all in asked:
            asked = set(Probe) - {Probe.all}
        if parallel:
            asked.add(Probe.languages)
        if pairs is not None:
            asked.add(Probe.data)
        if pivot is not None and Probe.languages not in asked:
            raise UsageError("--pivot is for --probe languages and --parallel")
        if diff_limit is not None and not diff:
            raise UsageError("--diff-limit is for --diff")
        found = cls(frozenset(asked), tuple(parallel or ()), pivot, pairs, overlap, diff, plain=plain)
        return found if diff_limit is None else replace(found, diff_limit=diff_limit)

    @property
    def read_files(self) -> list[tuple[str, str]]:
        """What messages call the files that are read for it, and their paths."""
        texts = [("the parallel texts", path) for each in self.parallel for path in {each, each.partition("=")[2]}]
        pairs = [] if self.pairs is None or not os.path.isdir(self.pairs) else os.listdir(self.pairs)
        return [*texts, *(("an object of --pairs", os.path.join(self.pairs or "", each)) for each in pairs)]

    @property
    def asked(self) -> str:
        """An option that asks for something besides the measures; empty if there is none."""
        asked = {
            "--parallel": self.parallel,
            "--pairs": self.pairs is not None,
            "--probe": self.probes,
            "--overlap": self.overlap,
            "--diff": self.diff,
        }
        return next((option for option, value in asked.items() if value), "")

    def is_enough(self, inputs: Sequence[str] | None, text: str | None) -> bool:
        """Return whether something is asked that needs no input, and none is given: then stdin is not read either."""
        return not inputs and text is None and bool(self.probes or self.overlap) and not self.diff

    def watched(
        self, entries: Iterable[tuple[str, Iterable[Block]]], count: int
    ) -> Iterator[tuple[str, Iterable[Block]]]:
        """Pass on the inputs, and keep the beginnings of them if they are asked for.

        Args:
            entries: The name and the blocks of each.
            count: How many there are.
        """
        from bpe_cli.reports.comparison.sampling import Sample

        wanted = self.diff or Probe.code in self.probes
        self._sample = sample = Sample.shared(count) if wanted else None
        for name, blocks in entries:
            yield name, blocks if sample is None else sample.watch(name, blocks)

    def added(self, report: Comparison, models: Sequence[Tokenizer], specials: Specials, threads: int) -> Comparison:
        """Return the comparison with what was asked.

        Raises:
            UsageError: It does not fit: one tokenizer cannot differ, or a pivot is no language.
            InputError: A file cannot be read, or a byte of a text has no token.
        """
        if (self.overlap or self.diff) and len(models) < 2:
            option = "--diff" if self.diff else "--overlap"
            raise UsageError(f"{option} compares tokenizers with the first, and there is one", hint="add -t TOKENIZER")
        if self.probes:
            report = replace(report, probes=self._probes(models, threads))
        if self.overlap:
            from bpe_cli.reports.comparison.overlap import overlaps

            report = replace(report, overlaps=tuple(overlaps(models, report.frequencies if report.rows else None)))
        if self.diff and self._sample:
            from bpe_cli.reports.comparison.disagreements import disagreements

            found = disagreements(models, self._sample, specials=specials, shown=self.diff_limit, threads=threads)
            report = replace(report, disagreements=tuple(found))
        return report

    def _probes(self, models: Sequence[Tokenizer], threads: int) -> Probes:
        from bpe_cli.reports.comparison.probes import Probes
        from bpe_cli.support.samples import samples

        found = Probes()
        if Probe.languages in self.probes:
            from bpe_cli.corpus.parallel_texts import parse_parallel, read_parallel
            from bpe_cli.reports.comparison.probes.languages import probe_languages

            if self.parallel:
                texts, source = read_parallel(self.parallel, sys.stdin.buffer, plain=self.plain), "parallel texts"
            else:
                texts, source = parse_parallel(samples("languages")["parallel.jsonl"], BUILT_IN), BUILT_IN
            languages = probe_languages(models, texts, pivot=self.pivot, source=source, threads=threads)
            found = replace(found, languages=languages)
        if Probe.code in self.probes:
            from bpe_cli.reports.comparison.probes.code import probe_code

            files = samples("code") if self._sample is None else self._sample.by_name()
            source = BUILT_IN if self._sample is None else "the inputs"
            found = replace(found, code=probe_code(models, files, source=source, threads=threads))
        if Probe.data in self.probes:
            from bpe_cli.reports.comparison.probes.data import pairs_of, probe_data

            pairs = pairs_of(samples("pairs")) if self.pairs is None else pairs_of(_folder(self.pairs), self.pairs)
            if not pairs:
                raise InputError(f"{self.pairs} has no NAME.json with a NAME.yaml beside it")
            source = BUILT_IN if self.pairs is None else self.pairs
            found = replace(found, data=probe_data(models, pairs, source=source, threads=threads))
        if Probe.numbers in self.probes:
            from bpe_cli.reports.comparison.probes.numbers import probe_numbers

            found = replace(found, numbers=probe_numbers(models, threads=threads))
        return found


def _folder(path: str) -> dict[str, bytes]:
    """Read the JSON and YAML files of a folder.

    Raises:
        InputError: It cannot be read.
    """
    from bpe_cli.cli.options import contents_of
    from bpe_cli.support.messages import cannot_read

    try:
        names = sorted(name for name in os.listdir(path) if name.lower().endswith((".json", ".yaml", ".yml")))
    except OSError as error:
        raise cannot_read(path, error) from error
    return {name: contents_of(os.path.join(path, name)) for name in names}
