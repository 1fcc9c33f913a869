"""Look at ids that were written: a file of ``encode``, or the folder of a data set."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.files import STDOUT, Streams
from bpe_cli.reports.data import DataReport, Facts, Row, measure
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.listening import SILENCE, Listener
from bpe_cli.support.messages import plural, show_path

if TYPE_CHECKING:
    from bpe_cli.datasets import TokenDataset
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.tokenizer import Tokenizer

FIRST_ROWS = 3
"""How many documents are shown if none are named."""

MOST_TOKENS = 100
"""How many tokens of each."""

_HEAD_BYTES = 64


@dataclass(frozen=True, slots=True)
class DataOptions:
    """What of the ids is shown.

    Attributes:
        documents: The first and the last document to show, both counted from 1; None for the first few.
        most: How many tokens of each are shown; None for all.

    Raises:
        UsageError: if there is no such range.
    """

    documents: tuple[int, int | None] | None = None
    most: int | None = MOST_TOKENS

    def __post_init__(self) -> None:
        if self.documents is not None:
            first, last = self.documents
            if first < 1 or (last is not None and last < first):
                raise UsageError(
                    f"there are no documents from {first} to {last}", hint="they are counted from 1, as in 17:20"
                )

    @property
    def wanted(self) -> range:
        """The numbers of the documents to show."""
        if self.documents is None:
            return range(1, FIRST_ROWS + 1)
        first, last = self.documents
        return range(first, (1 << 62) if last is None else last + 1)

    def check_marked(self, name: str, unmarked: int | None) -> None:
        """Check that no document is asked for where nothing marks the ends of so many.

        Raises:
            UsageError: if one is.
        """
        if unmarked is not None and self.documents is not None:
            raise UsageError(
                f"{name} has {plural(unmarked, 'document')}, whose ends are not marked: none can be shown by itself",
                hint='encode the texts again with `eot="auto"`, which marks them',
            )

    def check(self, report: DataReport, listener: Listener) -> None:
        """Check that what was asked for is there; note if only a part is.

        Raises:
            UsageError: if the range begins behind the last document.
        """
        if self.documents is None:
            return
        first, last = self.documents
        here = f"{report.name} has {plural(report.rows, report.unit)}"
        if first > report.rows:
            wanted = f"there are no {report.unit}s from {first:,} {'on' if last is None else f'to {last:,}'}"
            if first == last:
                wanted = f"there is no {report.unit} {first:,}"
            raise UsageError(f"{wanted}: {here}")
        if last is not None and last > report.rows:
            listener.note(f"{here}: there are none from {report.rows + 1:,} to {last:,}")


@dataclass(frozen=True, slots=True)
class InspectedData:
    """Ids, looked at, and the tokenizer by which they are read."""

    report: DataReport
    tokenizer: Tokenizer

    @property
    def eot_name(self) -> str | None:
        """The text of the token that ends documents."""
        eot = self.report.ends.eot
        return None if eot is None else self.tokenizer.id_to_token(eot)

    def to_json(self) -> str:
        """Return the JSON that ``bpe inspect --documents --json`` prints: schema ``bpe.inspect.data/1``."""
        from bpe_cli.views.as_json import json_text
        from bpe_cli.views.data import data_json

        return json_text(data_json(self.report))

    def to_markdown(self) -> str:
        """Return the facts and the histogram of lengths."""
        from bpe_cli.views.data import DataView
        from bpe_cli.views.markdown import written

        return written(DataView(self.report, self.eot_name).blocks()) + "\n"

    def to_html(self) -> str:
        """Return the page that ``bpe inspect --documents --html`` writes: the picture, the facts and the rows."""
        from bpe_cli.views.page.data import data_page

        return "".join(data_page(self.report, self.eot_name))

    def to_svg(self, name: str | None = None) -> str:
        """Return the picture of the lengths as SVG; ``lengths`` is its name, and there is no other.

        Raises:
            UsageError: if another one is named.
        """
        from bpe_cli.views.pictures.choosing import chosen_svg
        from bpe_cli.views.pictures.of_tokenizer import data_charts

        return chosen_svg(data_charts(self.report), name)

    def to_png(self, name: str | None = None) -> bytes:
        """Return the same as PNG, in light colours.

        Raises:
            UsageError: if another one is named, or the extra ``png`` is not installed.
            OutputError: if this machine has no font.
        """
        from bpe_cli.views.pictures.choosing import chosen_png
        from bpe_cli.views.pictures.of_tokenizer import data_charts

        return chosen_png(data_charts(self.report), name)


def is_data(path: str) -> bool:
    """Return whether ids were written to a path: a file with its record, an array, or the folder of a data set.

    Without a record, lines of ids are known by their name and their beginning: others are called ``.tokens`` too.
    """
    from bpe_cli.corpus.opening import head_of
    from bpe_cli.jobs.parts.folder import PLAN
    from bpe_cli.sinks.naming import sink_of_name
    from bpe_cli.sinks.numbers import NPY_MAGIC
    from bpe_cli.sinks.sidecar import is_described

    if os.path.isdir(path):
        return os.path.isfile(os.path.join(path, PLAN))
    if not os.path.isfile(path):  # a pipe can be read only once, and whoever takes it for a text reads it
        return False
    named = sink_of_name(path)
    try:
        if named in ("ids", "jsonl"):
            head = head_of(path)
            of_ids = head.startswith(b'{"ids":[') if named == "jsonl" else not head.translate(None, b"0123456789 \n")
            return of_ids and bool(head.strip())
        with open(path, "rb") as file:
            head = file.read(len(NPY_MAGIC))
    except (OSError, InputError):
        return False
    return head == NPY_MAGIC or is_described(path)


def inspect_data(
    path: str,
    tokenizer: AnyTokenizer | None = None,
    options: DataOptions | None = None,
    *,
    listener: Listener = SILENCE,
    streams: Streams | None = None,
) -> InspectedData:
    """Look at the ids in a file that ``encode`` wrote, or in the folder of a data set.

    Args:
        path: The file, or the folder; ``-`` is stdin.
        tokenizer: A tokenizer; or its file, or its name; None for the one that is named beside the ids.
        options: What is shown of them.
        listener: Receives progress and notes.
        streams: The streams around the job.

    Raises:
        UsageError: if nothing says whose ids they are, the tokenizer that is named cannot be found, or there are no
            such documents.
        InputError: if there are no ids, or they are damaged.
    """
    options = options or DataOptions()
    if path != STDOUT and not os.path.lexists(path):
        raise InputError(f"cannot read {show_path(path)}: no such file")
    if path != STDOUT and os.path.isdir(path):
        return _of_folder(path, tokenizer, options, listener)
    return _of_file(path, tokenizer, options, listener, streams or Streams())


def _of_folder(path: str, tokenizer: AnyTokenizer | None, options: DataOptions, listener: Listener) -> InspectedData:
    from bpe_cli.datasets import TokenDataset
    from bpe_cli.jobs.prepare.records import read_plan

    plan = read_plan(path)
    if plan is None:
        raise InputError(f"there is no data set in {show_path(path)}", hint="bpe prepare makes one")
    two = "val" in plan.settings
    data = TokenDataset(path, side="train" if two else None)
    if two:
        listener.note('this is the training set; a program reads the other with `TokenDataset(folder, side="val")`')
    settings: dict[str, Any] = data.settings
    named = settings["tokenizer"]
    model = _tokenizer_of(path, tokenizer, named["name"], named["sha256"], listener)
    unit = "document" if settings["length"] is None else "sequence"
    facts = Facts(path, settings["format"], settings["dtype"], unit, settings["eot"])
    with listener.task("reading", len(data), unit) as advance:

        def rows() -> Iterator[Row]:
            for row in _rows_of(data):
                yield Row(row)
                advance(1)

        report = measure(model, rows(), facts, wanted=options.wanted, most=options.most)
    options.check(report, listener)
    return InspectedData(report, model)


def _rows_of(data: TokenDataset) -> Iterator[array[int]]:
    for row in data:
        yield array("I", row.astype("<u4").tobytes())


def _of_file(
    path: str, tokenizer: AnyTokenizer | None, options: DataOptions, listener: Listener, streams: Streams
) -> InspectedData:
    from bpe_cli.corpus import open_stream
    from bpe_cli.sinks.base import ReadOptions
    from bpe_cli.sinks.read import READERS, kind_of
    from bpe_cli.sinks.sidecar import complete, is_as_described, load_sidecar

    sidecar = None if path == STDOUT else load_sidecar(path)
    name, sha256 = (None, None) if sidecar is None else (sidecar.tokenizer_name, sidecar.tokenizer_sha256)
    model = _tokenizer_of(show_path(path), tokenizer, name, sha256, listener)
    size = os.path.getsize(path) if path != STDOUT and os.path.isfile(path) else None
    is_raw = is_as_described(path)
    with (
        listener.task("reading", size) as advance,
        open_stream(path, stdin=streams.read, on_bytes=advance, decompressed=not is_raw) as stream,
    ):
        kind = "bin" if is_raw else kind_of(path, stream.peek(_HEAD_BYTES))
        reading, _ = complete(kind, path, ReadOptions(model), model)
        eot = reading.eot
        if eot is None and sidecar is None:
            eot = _usual_end(model)
        divides = kind in ("npy", "bin")
        several = reading.documents is not None and reading.documents > 1
        unmarked = reading.documents if divides and eot is None and several else None
        options.check_marked(show_path(path), unmarked)
        asked = ReadOptions(model, reading.dtype, None, eot, reading.sha256, reading.documents)
        batches = READERS[kind](stream, show_path(path), asked)

        def rows() -> Iterator[Row]:
            for batch in batches:
                ended = divides and batch.left_out > 0
                ids = batch.ids + array("I", [eot]) if ended and eot is not None else batch.ids
                yield Row(ids, ended, batch.done)

        facts = Facts(show_path(path), kind, reading.dtype if divides else None, "document", eot, unmarked)
        report = measure(model, rows(), facts, wanted=options.wanted, most=options.most)
    options.check(report, listener)
    return InspectedData(report, model)


def _usual_end(model: Tokenizer) -> int | None:
    """Return the id that ends a text, if the tokenizer says so."""
    from bpe_cli.tokenizer.special_tokens import edges_of

    try:
        return edges_of(model, eot="auto").eot
    except UsageError:
        return None


def _tokenizer_of(
    path: str, tokenizer: AnyTokenizer | None, name: str | None, sha256: str | None, listener: Listener
) -> Tokenizer:
    """Return the tokenizer whose ids they are: the one that is asked for, or the one that is named beside them."""
    from bpe_cli.jobs.tokenizers import load_recorded, load_tokenizer, unnamed
    from bpe_cli.tokenizer import fingerprint

    if tokenizer is not None:
        model = load_tokenizer(tokenizer)
        if sha256 is not None and fingerprint(model) != sha256:
            from bpe_cli.jobs.decode import with_layout

            fuller = with_layout(tokenizer, model)
            if fingerprint(fuller) == sha256:
                return fuller
            listener.note(f"{path} was encoded with {name or 'another tokenizer'}, which differs from this one")
        return model
    if name is None:
        raise unnamed(path)
    return load_recorded(name, sha256, path)
