"""``bpe prepare``: encode files into a data set, part by part.

Length: the options, each declared where its name, its type and its help stand together.
"""

import os
import sys
from functools import partial

from bpe_cli.cli import options
from bpe_cli.cli.console import note, process_streams
from bpe_cli.cli.conversations import Conversations
from bpe_cli.cli.idle import as_typed, given_in, refuse_idle
from bpe_cli.cli.options import Option
from bpe_cli.cli.progress import How, WorkListener
from bpe_cli.errors import UsageError
from bpe_cli.sinks.base import Dtype
from bpe_cli.sinks.dataset import DATASETS
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING, Annotated, Literal
from bpe_cli.support.messages import duration, show_path
from bpe_cli.support.messages import plural as count

if TYPE_CHECKING:
    from bpe_cli.jobs.parts import Share
    from bpe_cli.jobs.prepare import Prepared, PrepareOptions
    from bpe_cli.jobs.prepare.estimating import Interval, Planned
    from bpe_cli.jobs.prepare.sequences import Way

EPILOG = "Exit status: 0 fine, 1 --check or --finish found something missing or damaged, 2 bad usage, input or output."

COMMON = {
    "inputs": "Files, folders, patterns or URLs.",
    "tokenizer": "A file, an encoding or a model. [o200k_base]",
    "to": "bin, npy, megatron, mds, arrow, parquet, ... [bin]",
    "output": "The folder to write into.",
    "lines": "",
    "jsonl": "",
    "field": "",
    "eot": "End each document with this token.",
    "pack": "Put documents into sequences of N ids.",
    "max_length": "Cut documents off after N ids.",
    "shuffle": "Write documents or sequences in random order.",
    "val": "Put this share of the documents into val/.",
    "chat": "Inputs are conversations: JSON with messages.",
    "mask": "With --chat: mark the ids of the assistant.",
    "part": "Make each N-th part from the K-th on.",
    "finish": "Write the manifest when all parts are there.",
    "check": "Verify the data set in INPUT.",
    "dry_run": "Print the parts without making any.",
    "processes": "How many processes. [all available]",
    "quiet": "",
}
"""The options that people use most, and what the short help says of them; nothing: the first sentence of the long."""

_FORMATS = tuple(DATASETS)
_parts_option = partial(Option, rich_help_panel="Parts")
_sequences_option = partial(Option, rich_help_panel="Sequences")


Files = Annotated[
    list[str] | None,
    options.Argument(
        metavar="INPUT",
        help="Files, folders, glob patterns, URLs, @LIST of them; with --finish and --check, the data set's folder.",
    ),
]


@dataclass(frozen=True, slots=True)
class Written:
    """The options about what is written."""

    to: Annotated[
        str | None,
        options.output_option(
            "--to", choices=_FORMATS, show_default="bin",
            help="bin, npy: numbers as u16 or u32; npy-offsets: also where documents end. Others: what the trainer "
            "or library of that name reads.",
        ),
    ] = None  # fmt: skip
    output: Annotated[
        str | None, options.output_option("--output", "-o", metavar="FOLDER", help="Write into this folder.")
    ] = None
    dtype: Annotated[
        Dtype | None,
        options.output_option("--dtype", show_default="what the vocabulary needs", help="How a number is stored."),
    ] = None
    columns: Annotated[
        str | None,
        options.output_option(
            "--columns", metavar="NAME,...",
            help="Columns to write in addition to the ids: attention_mask, position_ids, segment_ids, seq_lengths "
            "(mds, arrow, parquet, datasets, webdataset); or spans, in the other formats.",
        ),
    ] = None  # fmt: skip
    positions: Annotated[
        Literal["document", "sequence"] | None,
        options.output_option(
            "--positions", show_default="document",
            help="With --columns position_ids: restart at 0 at each document of a sequence, or only at each sequence.",
        ),
    ] = None  # fmt: skip
    mask: Annotated[
        Literal["assistant"] | None,
        options.output_option("--mask", help="With --chat: also write a mask of the ids that the assistant wrote."),
    ] = None
    val: Annotated[
        float | None,
        options.output_option(
            "--val", metavar="SHARE", help="Put this share of the documents, by the hash of their text, into val/."
        ),
    ] = None
    keep: Annotated[
        str | None,
        options.output_option(
            "--keep", metavar="NAME,...",
            help="Keep these fields of the source in addition to input_ids (arrow, parquet, datasets): NAME, or "
            "NAME:TYPE with string, int64, double or bool.",
        ),
    ] = None  # fmt: skip
    overwrite: Annotated[
        bool,
        options.output_option(
            "--overwrite",
            help="Redo parts that are damaged or were made with other options, and remove files of parts that no "
            "record names.",
        ),
    ] = False


@dataclass(frozen=True, slots=True)
class InSequences:
    """The options that make sequences of documents."""

    max_length: Annotated[
        int | None,
        _sequences_option("--max-length", metavar="N", min=1, help="Cut each document off after N ids."),
    ] = None
    split: Annotated[
        bool, _sequences_option("--split", help="With --max-length: make further sequences of the rest.")
    ] = False
    pack: Annotated[
        int | None,
        _sequences_option("--pack", metavar="N", min=1, help="Put documents together into sequences of N ids."),
    ] = None
    fit: Annotated[
        Literal["concatenate", "best-fit"],
        _sequences_option(
            "--fit",
            help="How --pack works: cut all ids at each multiple of N, or put whole documents where they leave the "
            "least room.",
        ),
    ] = "concatenate"  # fmt: skip
    pad: Annotated[
        str | None,
        _sequences_option("--pad", metavar="TEXT|ID|auto", help="Fill each sequence up to N with this token."),
    ] = None

    shuffle: Annotated[
        Literal["documents", "sequences"] | None,
        _sequences_option("--shuffle", help="Shuffle the documents, or the sequences made of them."),
    ] = None
    seed: Annotated[
        int | None,
        _sequences_option("--seed", metavar="N", min=0, show_default="0", help="With --shuffle: the seed."),
    ] = None

    def without_idle_defaults(self) -> "InSequences":
        """Return these without what a project's file says of sequences that are not made."""
        idle = [
            *(["fit"] if self.pack is None else []),
            *(["split"] if self.max_length is None else []),
            *(["pad"] if self.pack is None and self.max_length is None else []),
            *(["seed"] if self.shuffle is None else []),
        ]
        return as_typed(self, *idle) if idle else self

    def way(self) -> "Way":
        """Return how documents become sequences.

        Raises:
            UsageError: if options contradict each other.
        """
        if self.pack is not None and self.max_length is not None:
            raise UsageError("--pack and --max-length cannot be used together", hint="--pack cuts long documents too")
        if self.split and self.max_length is None:
            raise UsageError("--split needs --max-length", hint="for example: --max-length 4096 --split")
        if self.fit != "concatenate" and self.pack is None:
            raise UsageError("--fit needs --pack", hint="for example: --pack 4096 --fit best-fit")
        if self.seed is not None and self.shuffle is None:
            raise UsageError("--seed needs --shuffle", hint="for example: --shuffle documents --seed 7")
        return self.fit if self.pack is not None else "split" if self.split else "truncate"


@dataclass(frozen=True, slots=True)
class Parts:
    """The options about the parts, and who makes them."""

    part_size: Annotated[
        int | None,
        _parts_option(
            "--part-size", metavar="MIB", min=1, show_default="256",
            help="The size of a part. Plain files of lines are cut at lines; other files are never cut.",
        ),
    ] = None  # fmt: skip
    on_error: Annotated[
        Literal["fail", "skip", "quarantine"],
        options.input_option(
            "--on-error",
            help="What to do about a broken row, such as a line that is not JSON: fail; skip and count it; or skip it "
            "and keep it in a file beside the part.",
        ),
    ] = "fail"  # fmt: skip
    part: Annotated[
        str | None,
        _parts_option(
            "--part",
            metavar="K/N",
            help="Make every N-th part, starting with the K-th, when N machines share the work.",
        ),
    ] = None
    finish: Annotated[
        bool,
        _parts_option("--finish", help="Write the manifest of the data set in INPUT, when all its parts are there."),
    ] = False
    check: Annotated[
        bool, _parts_option("--check", help="Verify the data set in INPUT: every file against its record.")
    ] = False
    deep: Annotated[
        str | None,
        _parts_option(
            "--deep", metavar="N|all",
            help="With --check, -o, and the INPUT and options that it was made with: make N parts again and compare.",
        ),
    ] = None  # fmt: skip
    dry_run: Annotated[
        bool,
        _parts_option(
            "--dry-run",
            help="Print the parts (with --part, those of the share) and about how many tokens they have; make none.",
        ),
    ] = False
    processes: Annotated[
        int | None,
        _parts_option(
            "--threads", "-j", metavar="N", min=1, envvar="BPE_THREADS", show_default="all available",
            help="Number of parts made at a time, each in a process of its own; changes no result.",
        ),
    ] = None  # fmt: skip
    engine: Annotated[
        str,
        _parts_option(
            "--engine", metavar="local|ray|ray://HOST:PORT",
            help="What makes the parts: processes of this machine, or a Ray cluster.",
        ),
    ] = "local"  # fmt: skip
    progress: Annotated[
        How,
        options.running_option(
            "--progress",
            help="How to show progress on stderr. auto: a bar on a terminal, else plain. plain: a line every 30 s. "
            "json: one object per line.",
        ),
    ] = "auto"  # fmt: skip
    quiet: options.Quiet = False

    def again(self) -> int | None:
        """Return how many parts are made again, None for all.

        Raises:
            UsageError: if it is not a number.
        """
        if self.deep == "all":
            return None
        if self.deep is None or not (options.is_number(self.deep) and int(self.deep)):
            raise UsageError(
                f"--deep {self.deep!r} is not a number of parts", hint="for example: --deep 3, or --deep all"
            )
        return int(self.deep)

    def share(self) -> "Share | None":
        """Return which parts are made.

        Raises:
            UsageError: if it is not K/N.
        """
        return options.share_of(self.part)


def run(
    applied: options.Applied,
    written: Written,
    in_sequences: InSequences,
    conversations: Conversations,
    parts: Parts,
    inputs: Files = None,
    lines: options.Lines = False,
    jsonl: options.Jsonl = False,
    plain: options.Plain = False,
    field: options.Field = None,
    member: options.Member = None,
) -> None:
    """Encode files into a data set for training, part by part, with resume.

    [bold]Examples[/bold]

        bpe prepare data/ --jsonl -t tokenizer.json --eot auto --to megatron -o dataset/

        bpe prepare data/*.jsonl.zst --jsonl --eot auto -o dataset/ --part 3/8

        bpe prepare chats.jsonl --jsonl --chat --mask assistant -t tokenizer.json --to parquet -o dataset/

        bpe prepare --finish dataset/

        bpe prepare --check dataset/
    """
    from bpe_cli.engines import engine_named
    from bpe_cli.jobs.prepare import check_deep, estimate, prepare

    if parts.check and parts.finish:
        raise UsageError("--check and --finish cannot be used together", hint="--finish comes first")
    if parts.quiet and options.typed("progress", parts.progress) not in (None, "auto"):
        raise UsageError("--quiet and --progress cannot be used together")
    listener = WorkListener(parts.progress, quiet=parts.quiet)
    parts = parts if parts.check else as_typed(parts, "deep")
    if parts.deep is not None and not parts.check:
        raise UsageError("--deep needs --check", hint="for example: --check --deep 3")
    documents = options.Documents(inputs, None, lines, jsonl, plain, field, member)
    if conversations.chat:  # JSON, and what a template makes of it
        documents, applied = as_typed(documents, "lines", "plain"), as_typed(applied, "bos", "add_special_tokens")
    else:
        written = as_typed(written, "mask")
    in_sequences = in_sequences.without_idle_defaults()
    if (parts.check or parts.finish) and parts.deep is None:
        groups = (applied, written, in_sequences, conversations, parts, documents)
        _look(written.output, parts, inputs or [], groups, listener)
        return
    if written.output is None:
        raise UsageError("there is no folder for the data set", hint="-o FOLDER names one")
    source = documents.source()
    choice = applied.choice()
    job = _job_options(applied, written, in_sequences, conversations, parts)
    if parts.deep is not None:
        idle = [name for name in given_in(written, parts) if name in ("--overwrite", "--part", "--dry-run", "--engine")]
        refuse_idle(idle, "--check --deep makes no data set")
        done = check_deep(
            source, choice, job, folder=written.output, parts=parts.again(), threads=parts.processes,
            listener=listener, streams=process_streams(),
        )  # fmt: skip
        _show(done, parts, listener)
        return
    if parts.dry_run:
        planned = estimate(
            source, choice, job, folder=written.output, share=parts.share(), processes=parts.processes,
            listener=listener, streams=process_streams(),
        )  # fmt: skip
        _show_plan(planned, listener)
        return
    done = prepare(
        source,
        choice,
        job,
        folder=written.output,
        share=parts.share(),
        overwrite=written.overwrite,
        engine=engine_named(parts.engine, parts.processes),
        listener=listener,
        streams=process_streams(),
    )
    _show(done, parts, listener, applied.counted_too)


def _look(
    output: str | None, parts: Parts, inputs: list[str], groups: tuple[object, ...], listener: WorkListener
) -> None:
    """Check what is in the folder of a data set, or finish it; all other options of the groups would do nothing."""
    from bpe_cli.jobs.prepare import check, finish

    word = "--check" if parts.check else "--finish"
    if output is not None:
        raise UsageError(
            f"{word} takes the folder of the data set itself, not -o",
            hint=f"bpe prepare {word} {show_path(output)}"
            + ("; with --deep, the inputs and -o are named again" if parts.check else ""),
        )
    if len(inputs) != 1:
        raise UsageError(f"{word} takes the folder of one data set", hint=f"for example: bpe prepare {word} dataset/")
    idle = given_in(*groups, but=("inputs", "check", "finish", "processes", "progress", "quiet"))
    refuse_idle(idle, f"{word} looks at what is in the folder of a data set")
    _show(check(inputs[0], listener) if parts.check else finish(inputs[0]), parts, listener)


def _job_options(
    applied: options.Applied, written: Written, in_sequences: InSequences, conversations: Conversations, parts: Parts
) -> "PrepareOptions":
    from bpe_cli.cli.parts_folder import part_bytes_of
    from bpe_cli.jobs.prepare import PrepareOptions

    conversations.check_idle()
    positions = options.typed("positions", written.positions)
    if positions is not None and "position_ids" not in _names(written.columns):
        raise UsageError("--positions needs --columns position_ids")
    specials, refuse = options.specials_of(applied.special)
    return PrepareOptions(
        to=written.to or "bin",
        dtype=written.dtype,
        columns=tuple(filter(None, _names(written.columns))),
        keep=_names(written.keep),
        on_error=parts.on_error,
        specials=specials,
        refuse_specials=refuse,
        add_special_tokens=applied.add_special_tokens,
        bos=applied.bos,
        eot=applied.eot,
        part_bytes=part_bytes_of(parts.part_size),
        length=in_sequences.pack or in_sequences.max_length,
        way=in_sequences.way(),
        pad=in_sequences.pad,
        positions=written.positions or "document",
        chat=conversations.job_options() if conversations.chat else None,
        mask=written.mask,
        val=written.val,
        shuffle=in_sequences.shuffle,
        seed=in_sequences.seed or 0,
    )


def _names(listed: str | None) -> tuple[str, ...]:
    """Return names that have commas between them, and perhaps blanks; none if the option is not given."""
    return () if listed is None else tuple(name.strip() for name in listed.split(","))


def _show_plan(planned: "Planned", listener: WorkListener) -> None:
    """Print a line for each part and one for all of them: a table on a terminal, tab-separated elsewhere."""
    total = ("total", planned.bytes, planned.tokens.value)
    if not sys.stdout.isatty():
        print("part", "bytes", "tokens", "inputs", sep="\t")
        for part in planned.parts:
            print(part.name, part.bytes, part.tokens, *part.inputs, sep="\t")
        print(*total, sep="\t")
    else:
        from rich.text import Text

        from bpe_cli.cli.console import stdout_console
        from bpe_cli.views.visible import harmless

        rows = [(part.name, part.bytes, part.tokens, part.inputs) for part in planned.parts]
        widths = [max(len(f"{row[at]:,}") for row in (*rows, total)) for at in (1, 2)]
        console = stdout_console("auto")
        line = f"{{:<10}}  {{:>{max(5, widths[0])}}}  {{:>{max(6, widths[1])}}}  {{}}"
        console.print(Text(line.format("part", "bytes", "tokens", "inputs"), style="bold"))
        for name, size, tokens, inputs in rows:
            console.print(Text(line.format(name, f"{size:,}", f"{tokens:,}", harmless(" ".join(inputs)))))
        console.print(Text(line.format("total", f"{total[1]:,}", f"{total[2]:,}", ""), style="bold"))
    share = planned.sampled / planned.bytes if planned.bytes else 1
    free = "" if planned.free is None else f", {planned.free:,} are free"
    sampled = f"{planned.sampled:,} bytes ({share:.1%}) at {count(planned.places, 'place')}"
    for text in (
        f"{_interval(planned.documents, 'document')}, {_interval(planned.tokens, 'token')}",
        f"{_interval(planned.disk, 'byte', counted=False)} on disk{free}",
        f"about {duration(planned.seconds)}, {count(planned.processes, 'part')} at a time",
        f"from {sampled}; {_trust(planned.tokens)}",
    ):
        listener.note(text)


def _trust(number: "Interval") -> str:
    if number.low is None:
        return "one place says nothing about the others, so there is no interval"
    return "all was counted" if number.low == number.high else "the intervals hold 95 times out of 100"


def _interval(number: "Interval", what: str, *, counted: bool = True) -> str:
    said = count(number.value, what)
    if number.low == number.high == number.value:
        return said if counted else f"about {said}"
    return f"about {said}" + ("" if number.low is None else f" ({number.low:,} to {number.high:,})")


def _show(done: "Prepared", parts: Parts, listener: WorkListener, around: str = "") -> None:
    """Note what is in the folder now; ``around`` is what is said of the tokens around documents."""
    from bpe_cli.cli.parts_folder import counted_parts

    # To look at parts, or to complete the set, makes no new ones.
    kept = 0 if parts.check or parts.finish else done.kept
    there = counted_parts(done.made + done.kept - kept, kept, done.parts)
    sequences = "" if done.sequences is None else f", {count(done.sequences, 'sequence')}"
    counted = f"{there}, {count(done.documents, 'document')}{sequences}, {count(done.tokens, 'token')}{around}"
    where = f"{counted} -> {done.folder}"
    again = f"; {count(done.again, 'part')} made again, all identical" if done.again else ""
    whole = f"{done.folder} is complete: {counted}{again}" if parts.check else where
    note(f"{whole}{listener.took()}", quiet=parts.quiet or parts.progress == "json")  # the last event says it
    if done.scattered is not None and not done.is_whole:
        listener.note(
            f"the first pass of --shuffle is done for {done.scattered:,} of {count(done.parts, 'part')}; "
            "run it again once all are done"
        )
    if done.broken:
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(done.broken.items()))
        left = f"{count(sum(done.broken.values()), 'broken row')} left out: {kinds}"
        where = f"; see {os.path.join(done.folder, 'part-*.quarantine.jsonl')}" if done.quarantined else ""
        listener.note(left + where)
    rows = done.documents if done.sequences is None else done.sequences
    if empty := [name for name, nulls in (done.nulls or {}).items() if rows and nulls == rows]:
        listener.note(f"no row has a value of {', '.join(empty)}, which --keep names")
    if done.left_out or done.padding:
        listener.note(f"{count(done.left_out, 'token')} left out, {count(done.padding, 'token')} of padding")
    if done.divided:
        listener.note(
            f"the token of --eot also occurs inside documents, {count(done.divided, 'time')}: "
            "readers that split at it find more documents"
        )
