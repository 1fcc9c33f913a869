"""Tally tokenizers part by part into a folder, and put the tallies together: what is tallied once is not tallied again.

A part is some whole inputs: each has a row of its own in the report, and the hash of its text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bpe_cli.engines.base import Engine, Work
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.jobs.parts import Part
from bpe_cli.jobs.parts.changed import refuse_resized
from bpe_cli.jobs.parts.doing import DoneParts, PartsFolder, do_parts, read_plan
from bpe_cli.jobs.parts.folder import PLAN, check_folder
from bpe_cli.jobs.parts.kept import KeptParts, Kind
from bpe_cli.support.core_arguments import ordered_specials
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.listening import SILENCE, Listener
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    from bpe_cli.corpus import InputHash, Inputs, Source
    from bpe_cli.corpus.inputs import Input
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.reports.comparison.comparison import Comparison, Settings
    from bpe_cli.reports.comparison.input_accounts import Sample
    from bpe_cli.reports.comparison.tallies import TalliedInput, TokenizerTally
    from bpe_cli.tokenizer import Specials, Tokenizer

TALLIES = Kind("tallies", "tallied", "documents")
"""What is kept of each part."""


@dataclass(frozen=True, slots=True)
class ByParts:
    """How inputs are compared part by part.

    Attributes:
        place: Where the tallies are kept.
        engine: What tallies the parts. Never changes the result.
    """

    place: PartsFolder
    engine: Engine


@dataclass(frozen=True, slots=True)
class TallyJob:
    """What every part has in common: what a worker gets once. A plain value, which can be pickled.

    Attributes:
        tokenizers: The tokenizers, or what says which, in the order of their hashes.
        hashes: Their hashes.
        labels: What messages call them.
        source: How documents are made of inputs; its paths are not read.
        specials: Which special tokens are looked for.
        threads: How many threads a part is tallied with.
        kept: Where the tallies are kept.
    """

    tokenizers: tuple[AnyTokenizer, ...]
    hashes: tuple[str, ...]
    labels: tuple[str, ...]
    source: Source
    specials: Specials
    threads: int
    kept: KeptParts


def tally_parts(
    tokenizers: Sequence[AnyTokenizer],
    models: Sequence[Tokenizer],
    source: Source,
    inputs: Inputs,
    specials: Specials,
    by_parts: ByParts,
    *,
    threads: int = 1,
    listener: Listener = SILENCE,
) -> DoneParts:
    """Tally the parts of inputs that are not in a folder yet.

    Args:
        tokenizers: The tokenizers, or what says which: this is what workers load.
        models: The same, loaded.
        source: How documents are made of inputs.
        inputs: The inputs.
        specials: The special tokens to recognize in the texts; none unless asked.
        by_parts: Where the tallies go, and who makes them.
        threads: How many threads tally, where there is one process.
        listener: Receives progress and notes.

    Raises:
        UsageError: if an input is not a file, or the folder holds other tallies.
        InputError: if an input cannot be read or encoded.
        OutputError: if the folder cannot be written to.
    """
    from bpe_cli.reports.comparison.compare import labels_of
    from bpe_cli.tokenizer import fingerprint

    if not source.paths or "-" in source.paths or source.text is not None:
        raise UsageError("only files can be tallied in parts, not stdin or a text", hint="name files or folders")
    check_folder(by_parts.place.path)
    labels = labels_of(models)
    known = {fingerprint(model): place for place, model in reversed(list(enumerate(models)))}
    hashes = tuple(sorted(known))
    places = [known[sha256] for sha256 in hashes]
    settings = _settings_of(source, hashes, specials)

    def work(kept: KeptParts) -> Work[TallyJob, Part, int]:
        job = TallyJob(
            tuple(tokenizers[place] for place in places), hashes, tuple(labels[place] for place in places),
            replace(source, paths=()), specials, threads if by_parts.engine.processes == 1 else 1, kept,
        )  # fmt: skip
        return Work(job, _begin, tally_part, _name_of, _size_of)

    return do_parts(
        by_parts.place, TALLIES, settings, inputs, None, work, by_parts.engine, task="comparing", listener=listener
    )


def _settings_of(source: Source, hashes: Sequence[str], specials: Specials) -> dict[str, Any]:
    """Return all that changes tallies, as JSON values."""
    return {
        "tokenizers": list(hashes),
        "specials": "all" if specials == "all" else list(ordered_specials(specials)),
        "documents": source.documents,
        "field": source.text_field,
        "decompress": source.decompress,
        "plain": source.plain,
        **({} if source.ending == "txt" else {"member": source.ending}),
    }


# -- a part -------------------------------------------------------------------------------------------


def _begin(job: TallyJob) -> list[TokenizerTally]:
    """Load the tokenizers.

    Raises:
        UsageError: if one is another one than when the run began.
    """
    from bpe_cli.jobs.tokenizers import load_tokenizer
    from bpe_cli.reports.comparison.tallies import TokenizerTally
    from bpe_cli.tokenizer import fingerprint

    models = [load_tokenizer(tokenizer) for tokenizer in job.tokenizers]
    for model, sha256, label in zip(models, job.hashes, job.labels, strict=True):
        if fingerprint(model) != sha256:
            raise UsageError(
                f"the tokenizer {label} is not the one that the run began with",
                hint="its file has changed since, or is different on this machine",
            )
    return [TokenizerTally(model, job.specials, job.threads, speed=False) for model in models]


def _name_of(part: Part) -> str:
    return part.name


def _size_of(part: Part) -> int:
    return part.size


def tally_part(job: TallyJob, tallies: list[TokenizerTally], part: Part, advance: Callable[[int], None]) -> int:
    """Tally a part, and write its tallies and then its record; return how many documents it has.

    Raises:
        InputError: if an input cannot be read, or has another size than the plan says, or a byte has no token.
        OutputError: if a file cannot be written.
    """
    from bpe_cli.corpus import Inputs, read_blocks
    from bpe_cli.corpus.opening import NO_STDIN
    from bpe_cli.reports.comparison.compare import PASSAGE_BYTES
    from bpe_cli.reports.comparison.stored_tallies import DocumentCounts, StoredInput, dump
    from bpe_cli.reports.comparison.tallies import tally_input

    stored: list[StoredInput] = []
    hashes: list[InputHash] = []
    began = job.kept.begin(part)
    for item in part.inputs:
        blocks = read_blocks(job.source, stdin=NO_STDIN, inputs=Inputs((item,)), on_bytes=advance, hashes=hashes)
        documents = [DocumentCounts() for _ in tallies]
        tallied = tally_input(
            item.plain_name, blocks, tallies, job.labels, short=PASSAGE_BYTES, hashed=True, threads=job.threads,
            on_documents=[each.extend for each in documents],
        )  # fmt: skip
        stored.append(StoredInput.of(tallied, documents))
    refuse_resized(part, hashes)
    count = sum(each.size.documents for each in stored)
    job.kept.write(part, dump(stored), hashes, {"documents": count}, began)
    return count


# -- all parts ----------------------------------------------------------------------------------------


def tallied_inputs(
    folder: str, models: Sequence[Tokenizer], tallies: Sequence[TokenizerTally]
) -> Iterator[TalliedInput]:
    """Yield the inputs of all parts in their order, as they were tallied; their documents are added to the totals.

    Args:
        folder: Where the tallies are kept.
        models: The tokenizers, all of which were tallied there.
        tallies: Their tallies, to whose totals the documents are added.

    Raises:
        InputError: if parts are missing or damaged, or cannot be read; the message names the first ones.
        FormatError: if what is stored of a part is damaged.
    """
    from bpe_cli.reports.comparison.stored_tallies import load
    from bpe_cli.tokenizer import fingerprint

    plan = read_plan(folder, TALLIES)
    if plan is None:
        raise InputError(f"there are no tallies in {show_path(folder)}: it has no {PLAN}")
    kept = KeptParts.of(TALLIES, folder, plan["settings"])
    hashes = plan["settings"]["tokenizers"]
    places = [hashes.index(fingerprint(model)) for model in models]
    for described, found in zip(plan["parts"], kept.all_found(plan["parts"]), strict=True):
        path = kept.path(described)
        name, hint = show_path(path), "remove the file, and tally again with `overwrite`"
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as error:
            raise cannot_read(path, error) from error
        if hashlib.sha256(data).hexdigest() != found.sha256:
            raise FormatError(f"{name} does not match the hash in its record; it was changed or cut short", hint=hint)
        for stored in load(data, name):
            try:
                yield stored.restore(tallies, places)
            except (ValueError, IndexError) as error:
                raise FormatError(f"{name} is damaged: {error}", hint=hint) from error


def measured_by_parts(
    tokenizers: Sequence[Tokenizer],
    chosen: Sequence[AnyTokenizer],
    source: Source,
    inputs: Inputs,
    settings: Settings,
    specials: Specials,
    threads: int,
    by_parts: ByParts,
    listener: Listener,
) -> Comparison:
    """Tally the parts that are not tallied yet, and return the comparison of all inputs.

    Args:
        tokenizers: The tokenizers.
        chosen: What says which they are, for workers to load.
        source: How documents are made of inputs.
        inputs: The inputs.
        settings: What the numbers depend on besides.
        specials: The special tokens to recognize in the texts; none unless asked.
        threads: Number of threads.
        by_parts: Where the tallies go, and who makes them.
        listener: Receives progress and notes.

    Raises:
        BpeError: as ``tally_parts`` and ``tallied_inputs``.
    """
    from bpe_cli.reports.comparison.compare import labels_of, put_together
    from bpe_cli.reports.comparison.tallies import TokenizerTally

    tally_parts(chosen, tokenizers, source, inputs, specials, by_parts, threads=threads, listener=listener)
    tallies = [TokenizerTally(tokenizer, specials, threads, speed=False) for tokenizer in tokenizers]
    found = tallied_inputs(by_parts.place.path, tokenizers, tallies)
    return put_together(tallies, found, labels_of(tokenizers), settings=settings)


def sample_beginnings(sample: Sample, source: Source, inputs: Iterable[Input]) -> None:
    """Read the beginnings of inputs for a sample, and no more of them."""
    from bpe_cli.corpus import Inputs, read_blocks
    from bpe_cli.corpus.opening import NO_STDIN

    for item in inputs:
        blocks = read_blocks(replace(source, paths=(item.path,)), stdin=NO_STDIN, inputs=Inputs((item,)))
        sample.take(item.plain_name, blocks)
