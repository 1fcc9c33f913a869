"""docs/explanation/benchmarks.md, and the pages of other machines: all cells of a round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks import forms, results
from benchmarks.forms import Cell
from benchmarks.texts import SHORT
from benchmarks.vocabularies import PATTERN

SECTIONS = {
    "encode": "Encode",
    "avx2": "Encode with AVX2, without AVX-512",
    "no-avx": "Encode without AVX",
    "count": "Count",
    "tokens": "Tokens with their places",
    "short": "Short texts, a call each",
    "whole": "A file to a file of ids",
    "decode": "Decode",
    "decode_batch": "Decode many short lists",
    "stream": "Decode token by token",
    "train": "Train",
    "learn": "Learn WordPiece, Unigram and SentencePiece's BPE",
    "start": "Start",
    "load": "Load",
}
COLUMNS = ("runs", "wall s, least–most", "CPU s", "CPU s per 100 MB", "MB", "tokens", "peak MB", "result")
EXPLANATIONS = {
    "encode": """\
Text in memory to ids in memory. *First pass*: of a fresh process, with the tokenizer loaded and nothing cached, as a
command runs. *Later passes*: the same text again. *buffers*: separate texts, a byte string each; without it bpe gets
one text in one byte string. *file*: a file that the library reads itself, inside the clock. A slow library takes
every n-th document only, as the column MB says. bert is bert-base-uncased (WordPiece), t5 and xlnet are Unigram,
llama2 and mistral (v1) SentencePiece's BPE; they are encoded with their normalizers. With the encodings beside
cl100k_base only those libraries are measured that may be the fastest. gpt2-file is gpt2 read from a `.tiktoken` file,
as a table of one's own is; so is llama3. own-pattern is gpt2's table with a split pattern that no library knows:
`PATTERN`; gigatoken takes none. qwen2.5, clip and falcon are Hugging Face's own `tokenizer.json` files, byte-level
behind normalizers or several splits. deepseek-v3 is gpt2's table with the three patterns of DeepSeek V3. A library
that refuses such a file, or gives other ids, has no figure in its rows.""".replace("PATTERN", PATTERN),
    "avx2": """\
The same with AVX-512 hidden from all libraries, by answers to CPUID: as on machines that have AVX2 alone.""",
    "no-avx": """\
The same with AVX, AVX2, FMA and BMI hidden too: as on any x86 machine of the last fifteen years.""",
    "count": """\
Tokens counted without giving ids. Only libraries with a call for it stand beside; to count, the others encode, which
is no row here.""",
    "tokens": """\
Text to ids and the place of each token: lists of objects, or *columns* of numbers. Places in bytes are turned into
characters after the clock has stopped.""",
    "short": f"""\
One short text is `{SHORT}`, encoded a million times in one loop. Each of the messages is encoded once: splintr keeps
the results of whole texts, which tells in the first row alone. Microseconds a call: less is better.""",
    "whole": """\
Whole processes: start, load the encoding, read a file, write its ids as u32 to a file. Ours is `bpe encode FILE --to
bin` on running text; the others are short scripts on documents with a NUL between them, so that they can use their
threads.""",
    "decode": """\
Ids, in the type that suits the library, to bytes or text. One thread.""",
    "decode_batch": """\
Lists of Python numbers, one for each of 100,000 lines of 20 to 600 bytes, to as many strings.""",
    "stream": """\
One call for each of about a million tokens, which returns the text that is certain. Microseconds a token: less is
better.""",
    "train": """\
Byte-level BPE with GPT-2's pattern, all of a text in memory to merges. Libraries with the same tie-breaks must learn
the same tokens in the same order. Who takes longer than the limit is stopped: `> 90 s` is its row. Seconds: less is
better.""",
    "learn": """\
Whole processes, a file to a tokenizer, on nine tenths of a text. What was learnt counts if it does as well as the
other's on the last tenth: the log-likelihood a byte of Unigram, the tokens a byte of the others. *compat*: by
the rules of the library beside it, tokenizers' for WordPiece (`--compat hf`). Seconds: less is better.""",
    "start": """\
From the start of a process to its end: one line of text into ids on stdout. Milliseconds: less is better.""",
    "load": """\
A `tokenizer.json` of 16 MB from a file to a tokenizer that has encoded its first letter. Milliseconds: less is
better.""",
}


def render(
    round_: dict[str, Any],
    stem: str = "benchmarks",
    title: str = "Benchmarks",
    beside: Mapping[str, str] | None = None,
) -> str:
    """Return the page of a round.

    Args:
        round_: The round.
        stem: The name of the page, with which those of its plots begin.
        title: Its title.
        beside: The pages of other rounds: what was measured on, and the file. None where this is all there is.
    """
    names = forms.versions(round_)
    parts = [f"# {title}", forms.MADE, forms.circumstances(round_)]
    if beside:
        links = ", ".join(f"[{words}]({file})" for words, file in beside.items())
        parts.append(f"Measured on another machine, in another round: {links}.")
    sets = ", ".join(round_["machine"]["instruction_sets"]) or "none of those we look for"
    absent = [name for name, version in round_["versions"].items() if version is None]
    parts.append(
        f"Versions: {', '.join(text for name, text in names.items() if name not in absent)}"
        + (f"; not installed: {', '.join(absent)}" if absent else "")
        + f". Commit {round_['commit'] or 'not noted'}; our compiled core's sha256 begins with {round_['core']}. "
        f"Instruction sets: {sets}."
    )
    parts.append(
        f"`make bench` repeats all this; it took {round_['seconds']['total'] / 60:.0f} minutes. Every figure is the "
        f"median of processes started for it, whose number is in the column runs; {forms.ONE_RUN} marks a figure "
        "of a single one. A speed counts only if the results equal those of the reference library. How things are "
        "measured, what each clock includes, and the known limits: "
        "[benchmarks/NOTES.md](../../benchmarks/NOTES.md)."
    )
    parts.append(forms.standing(round_["comparisons"]))
    parts += rows_with(round_, "Lost", ("lost",), "Every row in which another library is faster.")
    parts += rows_with(
        round_, "Not ranked", ("one run", "alone"),
        f"Rows in which one side ran once and the two are within a factor of {results.ONE_RUN:g}, or in which no other "
        "library has a right result. They are not counted above.",
    )  # fmt: skip
    parts += ["## Speed by text", f"![Speed of encoding by text]({stem}-speed.svg)"]
    texts = [
        [
            forms.text_name(name),
            forms.megabytes(text["bytes"]),
            f"{text['documents']:,}",
            text["source"],
            f"`{text['sha256'][:12]}`",
        ]
        for name, text in round_["texts"].items()
    ]
    parts += ["## Texts", forms.table(["text", "size", "documents", "source", "sha256"], texts, left=5)]
    for operation, title in SECTIONS.items():
        compared = [item for item in round_["comparisons"] if item["operation"] == operation]
        if compared:
            parts += [f"## {title}", EXPLANATIONS[operation]]
            parts += list(tables_of(round_, operation, compared, names))
    parts += growth_of(round_, stem)
    return "\n\n".join(parts) + "\n"


def rows_with(round_: dict[str, Any], title: str, verdicts: Sequence[str], words: str) -> list[str]:
    """Return a section with all rows that these became of."""
    chosen = [item for item in round_["comparisons"] if item["verdict"] in verdicts]
    return [f"## {title}", words if chosen else "None.", *([forms.summary_table(round_, chosen)] if chosen else [])]


def rows_of_round(round_: dict[str, Any]) -> str:
    """Return all rows of a round in short, for whoever measured it."""
    compared = round_["comparisons"]
    parts = [forms.circumstances(round_), forms.summary_table(round_, compared), forms.standing(compared)]
    return "\n\n".join(parts)


def growth_of(round_: dict[str, Any], stem: str) -> Iterable[str]:
    """Yield the tables of how time and memory grow."""
    if not round_["growth"]:
        return
    yield "## Growth"
    yield (
        "`bpe encode FILE --to bin` with o200k_base and `bpe train` (32,000 tokens) as whole processes, on more and "
        "more of one English text; and texts that were made to be slow, each a single line, by the CPU time a byte "
        "beside English."
    )
    yield f"![Time and memory against the size of the input]({stem}-growth.svg)"
    head = ["", "text", "MB", "threads", "wall s", "CPU s", "CPU s per 100 MB", "peak MB", "of English"]
    rows = [
        [
            item["phase"], item["text"], forms.number(item["bytes"] / 1e6), str(item["threads"]),
            forms.number(item["wall"]), forms.number(item["cpu"]), forms.number(item["cpu_per_100_mb"]),
            forms.number(item["peak_bytes"] / 1e6), f"{item['relative']:.2f}×" if item["relative"] else "",
        ]
        for item in round_["growth"]
    ]  # fmt: skip
    yield forms.table(head, rows, left=2)


def tables_of(round_: dict[str, Any], operation: str, compared: list[Cell], names: dict[str, str]) -> Iterable[str]:
    """Yield the tables of an operation: one for each tokenizer, number of threads and phase."""

    def kind(item: Cell) -> tuple[str, int, str]:
        return (item["tokenizer"], item["threads"], item["phase"])

    for tokenizer, threads, phase in dict.fromkeys(map(kind, compared)):
        heading = [tokenizer, *([forms.PHASES[phase]] if phase else []), f"{threads} thread{'s' * (threads > 1)}"]
        yield f"### {SECTIONS[operation]}: {', '.join(heading)}"
        chosen = [item for item in compared if kind(item) == (tokenizer, threads, phase)]
        rows = []
        for text in dict.fromkeys(item["text"] for item in chosen):
            against = {item["ours"]: forms.against(item) for item in chosen if item["text"] == text}
            beside = [cell for item in chosen if item["text"] == text for cell in forms.beside(round_, item)]
            cells = {forms.name_of(cell): cell for cell in beside}  # several ways of ours stand beside the same rivals
            ordered = sorted(cells.values(), key=lambda cell: -(cell["speed"] or 0))
            rows += [row_of(cell, names, against) for cell in ordered]
        unit = forms.UNITS.get(operation, "MB/s")
        head = ["text", "library", unit, *COLUMNS, "bpe against the best other"]
        yield forms.table(head, rows, left=2)


def row_of(cell: Cell, names: dict[str, str], against: dict[str, str]) -> list[str]:
    """Return a row of the page."""
    measured = cell["speed"] is not None
    library = forms.titled(cell, names)
    once = cell["operation"] in results.ONCE
    cpu, peak = cell["cpu_seconds"], cell["peak_bytes"]
    return [
        forms.text_name(cell["text"]),
        f"**{library}**" if cell["library"] == results.OURS else library,
        forms.shown(cell),
        str(cell["runs"]),
        forms.spread(cell),
        forms.number(cpu["median"]) if cpu else "–",
        forms.number(cell["cpu_seconds_per_100_mb"]) if measured and not once else "–",
        forms.number(cell["bytes"] / 1e6) if measured and not once else "–",
        f"{cell['tokens']:,}" if measured and cell["tokens"] else "–",
        forms.number(peak / 1e6) if peak else "–",
        cell["note"] or cell["status"],
        against.get(forms.name_of(cell), ""),
    ]
