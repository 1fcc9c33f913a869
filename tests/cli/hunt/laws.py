"""What holds for every command line, whatever its options: run one, look at what it did, and name each law it broke.

A law is a generator of sentences, one for each way in which a line broke it; no sentence is a good sign only because
``Tally`` counts how often each law had something to look at.

Length: the laws stand together, so that whoever adds an option sees all that is promised.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bpe_cli.cli import app
from bpe_cli.cli.options import parameters_of
from bpe_cli.formats import load
from bpe_cli.reports.comparison.comparison import METRICS
from tests.cli.hunt.lines import OUTPUTS, Line
from tests.cli.hunt.workshop import TEXTS
from tests.cli_runner import Result, call

Files = dict[str, bytes]

CHECKS = {
    "encode": ("max_tokens",),
    "compare": ("fail_if", "max_regression", "ids"),
    "inspect": ("token",),
    "prepare": ("check", "finish"),
}
"""The options by which a line asks for a check, whose failure is status 1."""

COMPANIONS = (".json", ".ids.json")
"""What stands behind an output's name in that of a file which is written beside it."""

LOOKED = "looked"
"""What a law yields when it has something to look at."""

LOSSLESS = (
    "o200k_base", "gpt2", "cl100k_base", "gpt-4o", "bbpe.json", "bbpe_minbpe.json", "byte.json", "format_tekken",
    "format_rwkv",
)  # fmt: skip
"""Tokenizers that give back any bytes."""

HARMLESS = {
    "tokenizer", "to", "output", "quiet", "threads", "block_size", "with_", "max_tokens", "text", "special", "pattern",
    "inference", "dropout", "dropout_mode", "seed", "add_special", "eot",
}  # fmt: skip
"""Options of encode with which the text can still be had back from the ids."""


@dataclass(frozen=True)
class Run:
    """A line, what it gave, and the files before and after it."""

    line: Line
    result: Result
    before: Files
    after: Files
    folder: Path

    @property
    def changed(self) -> set[str]:
        """The files that are new, gone or different."""
        return {
            name for name in self.before.keys() | self.after.keys() if self.before.get(name) != self.after.get(name)
        }

    @property
    def fine(self) -> bool:
        return self.result.status == 0

    @property
    def anywhere(self) -> tuple[object, ...]:
        """The result, without the name of the folder, which a message about a missing one has."""
        named = (os.fsdecode(part) if isinstance(part, bytes) else part for part in self.result)
        return tuple(part.replace(str(self.folder), ".") if isinstance(part, str) else part for part in named)

    def output(self, name: str = "output") -> str | None:
        """The file that an option names; None if there is none, or if it is stdout."""
        value = self.line.value(name)
        return None if value in (None, "-") else value

    def outputs(self, name: str = "output") -> list[str]:
        """The files that an option names: one for each size, where the name has a place for it."""
        output, sizes = self.output(name), self.line.value("vocab_size") or ""
        if output is None or "{size}" not in output:
            return [] if output is None else [output]
        return [output.replace("{size}", size) for size in sizes.split(",")]

    def again(self, line: Line, data: bytes = TEXTS["plain.txt"]) -> Run:
        """Run another line on the files as they were before this one."""
        with fresh(self.before) as folder:
            return run(line, folder, data, self.before)


@dataclass
class Tally:
    """Count the lines by command and status, and how often each law had something to say."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)


def files_in(folder: Path) -> Files:
    """Read a folder."""
    found: Files = {}
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        for each in os.scandir(folder / inside):
            name = os.path.join(inside, each.name)
            if each.is_file():
                with open(each.path, "rb") as file:
                    found[name] = file.read()
            else:
                found[name] = b"(folder)"
                waiting.append(name)
    return found


@contextmanager
def fresh(files: Files) -> Iterator[Path]:
    """Lay files into a new folder that goes away again."""
    folder = Path(tempfile.mkdtemp(prefix="hunt-"))
    try:
        for name, content in sorted(files.items()):
            if content == b"(folder)":
                (folder / name).mkdir()
            else:
                (folder / name).write_bytes(content)
        yield folder
    finally:
        shutil.rmtree(folder)


def run(line: Line, folder: Path, data: bytes = TEXTS["plain.txt"], before: Files | None = None) -> Run:
    """Run a line in a folder; who has just laid its files there need not have them read."""
    before = files_in(folder) if before is None else before
    result = call(*line.words, input=data, cwd=folder)
    return Run(line, result, before, files_in(folder), folder)


def judge(done: Run, tally: Tally) -> list[str]:
    """Name what a run did that none may do."""
    tally.statuses[done.line.command, done.result.status] += 1
    broken = []
    for law in LAWS:
        for sentence in law(done):
            if sentence is LOOKED:
                tally.judged[law.__name__] += 1
            else:
                broken.append(f"{law.__name__}: {sentence}")
    return broken


def the_status_is_one_that_is_promised(done: Run) -> Iterator[str]:
    yield LOOKED
    if done.result.status not in (0, 1, 2):
        yield f"status {done.result.status}"
    if done.result.status == 1 and not any(map(done.line.has, CHECKS.get(done.line.command, ()))):
        yield "status 1, and no check was asked for"


def streams_agree_with_the_status(done: Run) -> Iterator[str]:
    yield LOOKED
    errors = len(re.findall("^error: ", done.result.err, re.MULTILINE))
    if errors != (0 if done.fine else 1):
        yield f"{errors} errors with status {done.result.status}: {done.result.err[:300]!r}"
    if "Traceback" in done.result.err or re.search(r"<\w+(\.\w+)* object at|<class '", done.result.err):
        yield f"Python shows through: {done.result.err[-300:]!r}"
    if done.fine and "quiet" in [name for name, _, _ in done.line.options] and done.result.err:
        yield f"--quiet, but stderr has {done.result.err[:200]!r}"
    message = re.search(r"^error: (.*)$", done.result.err, re.MULTILINE)
    if message and message[1].rstrip().endswith("."):
        yield f"a message ends with a period: {message[1]!r}"


def nothing_is_written_on_failure(done: Run) -> Iterator[str]:
    if done.result.status != 2:
        return
    yield LOOKED
    keeps = (
        done.line.command == "prepare" or done.line.has("counts_dir") or done.line.has("tallies_dir")
    )  # what is done, to go on from there
    if done.changed and not keeps:
        yield f"failed, but changed {sorted(done.changed)}"
    if done.result.out and done.line.command != "decode":  # decode streams: what is right comes out before what is not
        yield f"failed, but wrote {done.result.out[:100]!r}"


def only_what_was_named_is_written(done: Run) -> Iterator[str]:
    if done.result.status == 2:
        return
    yield LOOKED
    values = [(name, value) for name in OUTPUTS for value in done.line.values(name)]
    named = [(value.partition("=")[2] if name in ("svg", "png") and "=" in value else value).rstrip("/")
             for name, value in values] + done.outputs()  # fmt: skip
    for name in sorted(done.changed):
        if not any(_belongs(name, each) for each in named if each):
            yield f"wrote {name}, which no option names"
    idle = any(map(done.line.has, ("help_algorithm", "dry_run", "check", "finish")))
    promised = [(option, path) for option in OUTPUTS for path in done.outputs(option)]
    for option, path in promised:
        written = (path.partition("=")[2] or path) if option in ("svg", "png") else path
        if written != "-" and done.fine and not idle and not (done.folder / written).exists():
            yield f"{option} names {written}, which was not written"


def _belongs(name: str, output: str) -> bool:
    """Return whether a path is an output, is inside it, is beside it by its name, or is the folder that it is in."""
    beside = name in (output, *(output + end for end in COMPANIONS))
    return beside or name.startswith(f"{output}/") or output.startswith(f"{name}/")


def data_goes_one_way(done: Run) -> Iterator[str]:
    """With an output of its own, a run leaves stdout alone."""
    if not done.fine or done.line.has("help_algorithm") or done.line.command == "convert" or done.line.has("dry_run"):
        return
    yield LOOKED
    also = any(map(done.line.has, ("steps", "html", "svg", "png", "valid")))
    if done.output() and done.result.out and not also:
        yield f"-o {done.output()}, and stdout has {done.result.out[:100]!r}"


def json_is_json(done: Run) -> Iterator[str]:
    if not done.fine or not done.line.has("json") or done.line.has("help_algorithm"):
        return
    yield LOOKED
    path = None if done.line.command == "train" else done.output()  # train writes its steps to stdout
    content = done.result.out if path is None else done.after[path]
    if not content:
        return
    documents = done.line.command == "inspect" and not content.startswith(b"{\n")  # one line each
    for text in content.splitlines() if documents else [content]:
        try:
            report = json.loads(text)
        except ValueError as error:
            yield f"--json gives what is not JSON: {error}: {text[:100]!r}"
            return
        if "schema" not in report:
            yield f"a report without a schema: {text[:100]!r}"


def threads_and_blocks_change_nothing(done: Run) -> Iterator[str]:
    line = done.line
    timed = line.has("speed") or any(METRICS[each].kind == "speed" for each in line.values("metric") if each in METRICS)
    known = parameters_of(app.load(line.command).run)
    if not done.fine or timed or "threads" not in known:
        return
    yield LOOKED
    line = line.with_option("threads", "3")
    if "block_size" in known:
        line = line.with_option("block_size", "5")
    other = done.again(line)
    differing = {*done.after.items()} ^ {*other.after.items()}
    if other.result[:2] != done.result[:2] or differing:
        yield f"with 3 threads and blocks of 5 bytes another result: {other.result} {sorted(dict(differing))}"


def twice_is_the_same(done: Run) -> Iterator[str]:
    if not done.line.has("dropout") and not done.line.has("sample"):
        return
    yield LOOKED
    other = done.again(done.line)
    if (other.anywhere, other.after) != (done.anywhere, done.after):
        yield "run again, another result"


def stdin_is_as_good_as_a_file(done: Run) -> Iterator[str]:
    line = done.line
    if not done.fine or line.inputs not in {(name,) for name in TEXTS if name != "folder"} or line.has("text"):
        return
    if line.command != "encode" or done.output() is not None:
        return
    yield LOOKED
    other = done.again(Line(line.command, ("-",), line.options), TEXTS[line.inputs[0]])
    out = done.result.out
    if line.has("json"):  # which names the input
        out = out.replace(b'"input": "%b"' % line.inputs[0].encode(), b'"input": "stdin"')
    if other.result[:2] != (done.result.status, out):
        yield f"by stdin another result: {other.result} and not {done.result}"


def kind_of(done: Run) -> str:
    """Return what encode writes: what the line says, else what the output's name says."""
    ending = Path((done.output() or "").removesuffix(".gz")).suffix.removeprefix(".")
    return done.line.value("to") or (ending if ending in ("bin", "npy", "jsonl", "tokens") else "ids")


def what_is_encoded_decodes(done: Run) -> Iterator[str]:
    """The documents come back, of a tokenizer that loses nothing."""
    line = done.line
    to = kind_of(done)
    if not done.fine or line.command != "encode" or to in ("count", "segmented", "text") or line.has("chat"):
        return
    if not {name for name, _, _ in line.options} <= HARMLESS or (line.value("tokenizer") or "gpt-4o") not in LOSSLESS:
        return
    if line.has("text"):
        text = (line.value("text") or "").encode()
    elif len(line.inputs) < 2 and {*line.inputs} <= TEXTS.keys():
        text = TEXTS[line.inputs[0] if line.inputs else "plain.txt"]
    else:
        return
    yield LOOKED
    same = tuple(each for each in line.options if each[0] in ("tokenizer", "pattern", "add_special"))
    path = done.output()
    with fresh(done.after) as folder:
        name = path or "piped.out"
        if path is None:
            (folder / name).write_bytes(done.result.out)
        back = ("from_", "--from", to)
        extra = tuple(("eot", "--eot", value) for value in line.values("eot")[-1:])
        other = run(Line("decode", (name,), (*same, back, *extra)), folder)
    if not other.fine or other.result.out != text:
        yield f"decodes to {other.result} and not to {text!r}"


def counts_are_of_the_ids(done: Run) -> Iterator[str]:
    line = done.line
    if (
        not done.fine
        or line.command != "encode"
        or line.value("to") not in (None, "ids", "count")
        or done.output()
        or line.has("chat")
    ):
        return
    yield LOOKED
    ids = done if line.value("to") != "count" else done.again(line.with_option("to", "ids").with_option("json", None))
    counts = done if line.value("to") == "count" else done.again(line.with_option("to", "count"))
    lengths = [len(each.split()) for each in ids.result.out.decode().split("\n")[:-1]]
    try:
        said, total = _said_of_counts(counts.result.out.decode())
    except ValueError:
        yield f"--to count says {counts.result.out[:100]!r}"
        return
    if said != lengths:
        yield f"--to count says {said}, and there are {lengths} ids"
    if total not in (None, sum(lengths)):
        yield f"--to count says {total} in all, and there are {sum(lengths)} ids"


def _said_of_counts(out: str) -> tuple[list[int], int | None]:
    """Return the counts of documents, and the total if there is one: bare numbers, numbers with names, or JSON."""
    if out.startswith("{"):
        read = json.loads(out)
        return [each["tokens"] for each in read["documents"]], read["total"]["tokens"]
    rows = out.split("\n")[:-1]
    named = bool(rows) and rows[-1].endswith(" total")
    numbers = [int(row.split(maxsplit=1)[0] if named else row) for row in rows]
    return (numbers[:-1], numbers[-1]) if named else (numbers, None)


def what_is_noted_is_written(done: Run) -> Iterator[str]:
    """ "3 tokens -> OUT" is what OUT holds."""
    if done.fine and done.line.command == "prepare":
        yield from _what_is_noted_of_a_data_set(done)
        return
    if not done.fine or done.line.command != "encode" or done.output() is None:
        return
    said = re.search(r"([\d,]+) documents?, ([\d,]+) tokens? -> ", done.result.err)
    path = done.output()
    if said is None or path is None:
        return
    documents, tokens = (int(each.replace(",", "")) for each in said.groups())
    to = kind_of(done)
    described = done.after.get(f"{path}.json") if to in ("bin", "npy") else None
    if described is not None:
        yield LOOKED
        record = json.loads(described)
        if (record["documents"], record["tokens"]) != (documents, tokens):
            yield f"said {documents} documents and {tokens} tokens; the record says {record}"
    if to == "ids":
        yield LOOKED
        text = done.after[path].decode()
        if (text.count("\n"), len(text.split())) != (documents, tokens):
            yield f"said {documents}, {tokens}; there are {text.count(chr(10))} lines and {len(text.split())} ids"


def _what_is_noted_of_a_data_set(done: Run) -> Iterator[str]:
    said = re.search(r"([\d,]+) documents?, (?:[\d,]+ sequences?, )?([\d,]+) tokens? -> ", done.result.err)
    manifest = done.after.get(f"{(done.output() or '').rstrip('/')}/manifest.json")
    if said is None or manifest is None:
        return
    yield LOOKED
    held = json.loads(manifest)
    if [held["documents"], held["tokens"]] != [int(each.replace(",", "")) for each in said.groups()]:
        yield f"said {said[0]}; the manifest has {held['documents']} documents and {held['tokens']} tokens"


def what_is_trained_is_as_noted(done: Run) -> Iterator[str]:
    paths = done.outputs()
    if not done.fine or done.line.command != "train" or not paths or done.line.has("help_algorithm"):
        return
    yield LOOKED
    with fresh(done.after) as folder:
        try:
            sizes = [load(folder / path).vocab_size for path in paths]
        except Exception as error:  # whatever it is, it is the find
            yield f"what was trained cannot be read: {error!r}"
            return
    said = re.findall(r"-> ([\d,]+) tokens?:", done.result.err)
    if said and [int(each.replace(",", "")) for each in said] != sizes:
        yield f"said {said} tokens, the files have {sizes}"


def what_is_converted_encodes_the_same(done: Run) -> Iterator[str]:
    line = done.line
    path = done.output()
    changes = ("add_tokens", "prune_to", "extend", "merge", "allow_loss")
    if not done.fine or line.command != "convert" or path is None or any(map(line.has, changes)):
        return
    yield LOOKED
    source = line.inputs[0]
    pattern = tuple(each for each in line.options if each[0] == "pattern")
    special = tuple(each for each in line.options if each[0] == "add_special")
    with fresh(done.after) as folder:
        for name in ("plain.txt", "tricky.txt"):
            wanted = run(Line("encode", (name,), (("tokenizer", "-t", source), *pattern, *special)), folder)
            found = run(Line("encode", (name,), (("tokenizer", "-t", path),)), folder)
            if found.result.status == 2 and "--pattern" in found.result.err:
                found = run(Line("encode", (name,), (("tokenizer", "-t", path), *pattern)), folder)
            if found.result[:2] != wanted.result[:2]:
                yield f"{name}: {found.result} and not {wanted.result}"


LAWS: tuple[Callable[[Run], Iterator[str]], ...] = (
    the_status_is_one_that_is_promised,
    streams_agree_with_the_status,
    nothing_is_written_on_failure,
    only_what_was_named_is_written,
    data_goes_one_way,
    json_is_json,
    threads_and_blocks_change_nothing,
    twice_is_the_same,
    stdin_is_as_good_as_a_file,
    what_is_encoded_decodes,
    counts_are_of_the_ids,
    what_is_noted_is_written,
    what_is_trained_is_as_noted,
    what_is_converted_encodes_the_same,
)
