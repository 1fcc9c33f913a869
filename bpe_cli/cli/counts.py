"""Count a corpus; save counts, and load them.

What was saved is held against the options, so that nobody trains on what was cut otherwise.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from bpe_cli.cli.console import note, progress, say_slow
from bpe_cli.errors import UsageError

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.corpus import Inputs, Source
    from bpe_cli.formats.counts_file import Cutting


def count_corpus(
    source: Source, found: Inputs, trainer: ModuleType, settings: Any, memory: int, threads: int, quiet: bool
) -> _core.Counts:
    """Count the pieces of a corpus as a trainer cuts it, with progress and notes on stderr.

    Args:
        source: The corpus.
        found: Its inputs.
        trainer: Who trains on the counts.
        settings: The trainer's options.
        memory: Bytes that the counts may take.
        threads: Threads to count with.
        quiet: Whether to say nothing.

    Raises:
        InputError: An input cannot be read.
        TrainingError: The counts take more memory.
    """
    from bpe_cli import trainers
    from bpe_cli.corpus import read_blocks
    from bpe_cli.stages.splitters import RegexSplitter, compile_splitter

    patterns = getattr(settings, "patterns", ())
    if isinstance(compile_splitter(patterns), RegexSplitter):
        say_slow(patterns, quiet)
    counts = trainers.base.new_counts(memory)
    with progress(found.total_bytes, "counting", quiet=quiet, printing=False) as advance:
        blocks = read_blocks(
            source, stdin=sys.stdin.buffer, inputs=found, on_bytes=advance,
            on_note=lambda message: note(f"note: {message}", quiet=quiet),
        )  # fmt: skip
        choose = getattr(trainer, "chosen", None)
        trainers.count(trainer, choose(blocks, settings) if choose else blocks, settings, counts, threads)
    return counts


def save_counts(counts: _core.Counts, trainer: ModuleType, settings: Any, path: str) -> None:
    """Write counts, with how their text was cut.

    Raises:
        OutputError: The file cannot be written.
    """
    from bpe_cli.formats import counts_file
    from bpe_cli.sinks.atomic import open_output

    with open_output(path) as out:
        for part in counts_file.dump(counts, _cutting(trainer, settings)):
            out.write(part)


def _cutting(trainer: ModuleType, settings: Any) -> Cutting:
    from bpe_cli import _core
    from bpe_cli.formats.counts_file import Cutting
    from bpe_cli.stages.component_json import core_spec
    from bpe_cli.trainers import bbpe

    specials = settings.special_tokens if getattr(settings, "split_special", False) else ()
    if trainer is bbpe:
        patterns = settings.patterns
        pattern = patterns[0] if patterns else None
        return Cutting(pattern, settings.prefix_space, specials, bbpe.unicode_version(settings))
    front = trainer.front(settings)
    stages = core_spec(front.normalizer, front.pre_tokenizer)
    return Cutting(None, False, specials, _core.UNICODE_VERSION, stages)


def load_counts(paths: list[str], trainer: ModuleType, settings: Any, memory: int) -> tuple[_core.Counts, Any]:
    """Add up saved counts; how their text was cut is part of what is trained.

    Raises:
        UsageError: An option says that it was cut otherwise.
        InputError, FormatError, TrainingError: As for ``counts_file.load_all``.
    """
    from bpe_cli.formats import counts_file
    from bpe_cli.trainers import bbpe

    cutting, counts = counts_file.load_all([Path(path) for path in paths], memory)
    if getattr(settings, "split_special", False) and set(settings.special_tokens) != set(cutting.special_tokens):
        made = " ".join(f"--special {token}" for token in cutting.special_tokens)
        raise UsageError(
            f"the counts were made with {f'--split-special {made}' if made else 'no --split-special'}",
            hint="count again with the special tokens that are to be split off",
        )
    if trainer is not bbpe:
        if cutting.stages != _cutting(trainer, settings).stages:
            raise UsageError(
                "the counts were made of text that was normalized or cut otherwise than these options say",
                hint="count again with the same -a, --normalizer and --pre-tokenizer",
            )
        return counts, settings
    if cutting.stages is not None:
        raise UsageError("the counts were made for another algorithm", hint="count again with -a bbpe")
    pattern = cutting.pattern or ""
    if settings.pattern not in (None, pattern):
        raise UsageError(
            f"the counts were cut with {_pattern(pattern)}, not with {_pattern(settings.pattern)}",
            hint="leave --pattern out, or count again",
        )
    if settings.prefix_space and not cutting.prefix_space:
        raise UsageError("the counts were made without --prefix-space", hint="count again with it")
    return counts, replace(settings, pattern=pattern, prefix_space=cutting.prefix_space)


def _pattern(expression: str) -> str:
    from bpe_cli.stages.splitters import show_pattern

    return f"the pattern {show_pattern(expression)}" if expression else "no pattern"
