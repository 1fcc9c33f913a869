"""Show frontier.json as the table of docs/explanation/frontier.md; nothing is computed here but the form of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

BEGIN, END = "<!-- frontier:begin -->", "<!-- frontier:end -->"
MADE = "<!-- Made by benchmarks/frontier.py from benchmarks/frontier.json: not to be edited. -->"
NONE = "–"

Row = dict[str, Any]


def with_table(text: str, stored: dict[str, Any]) -> str:
    """Return a page with the table of these results between its markers.

    Raises:
        ValueError: The page has no markers.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has no {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{block(stored)}\n{END}{after}"


def block(stored: dict[str, Any]) -> str:
    """Return the circumstances, the table, and what was left out."""
    lines = [MADE, circumstances(stored), "", *table(stored)]
    if stored["skipped"]:
        lines += ["", *(f"- Not measured: {name}: {why}" for name, why in stored["skipped"].items())]
    return "\n".join(lines)


def circumstances(stored: dict[str, Any]) -> str:
    """Describe what was measured on, and on which text."""
    here, texts = stored["machine"], stored["texts"]
    learnt = sum(each["training_bytes"] for each in texts)
    each = ", ".join(f"{text['name']} {megabytes(text['training_bytes'])}" for text in texts)
    held_out = sum(text["held_out_bytes"] for text in texts)
    documents = sum(text["held_out_documents"] for text in texts)
    free = stored["free_cores"]
    return (
        f"{stored['date']}, {here['cpu']}, {here['cores']} cores, of which {free:.1f} were free when it began; commit "
        f"{stored['commit']}; {stored['seconds']} s in all. Learnt from {megabytes(learnt)} ({each}); "
        f"measured on {megabytes(held_out)} in {documents:,} documents that were held out."
    )


def megabytes(size: int) -> str:
    """Return a size in MB.

    >>> megabytes(10_001_000), megabytes(151_000)
    ('10.0 MB', '0.15 MB')
    """
    return f"{size / 1e6:.{1 if size >= 1e6 else 2}f} MB"


def table(stored: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the table: a column an algorithm, the languages and measures of each size in lines."""
    rows = stored["rows"]
    names = [*dict.fromkeys(row["algorithm"] for row in rows)]
    yield "| | " + " | ".join(names) + " |"
    yield "|---|" + "---:|" * len(names)
    for size in dict.fromkeys(row["size"] for row in rows):
        by_name = {row["algorithm"]: row for row in rows if row["size"] == size}
        measured = next(iter(by_name.values()))
        yield f"| **{size:,} tokens** |" + " |" * len(names)
        for language in measured["bytes_per_token"]:
            yield _line(f"bytes per token, {language}", names, by_name, _compression(language))
        for label, shown in _measures(stored["rare"]).items():
            yield _line(label, names, by_name, shown)


def _line(label: str, names: list[str], by_name: dict[str, Row], shown: Callable[[Row], str]) -> str:
    cells = (shown(by_name[name]) if name in by_name else NONE for name in names)
    return f"| {label} | " + " | ".join(cells) + " |"


def _compression(language: str) -> Callable[[Row], str]:
    def shown(row: Row) -> str:
        found = row["bytes_per_token"][language]
        if found["value"] is None:
            return NONE
        low, high = found["interval"] or (None, None)
        return f"{found['value']:.2f}" + (f" [{low:.2f}, {high:.2f}]" if low is not None else "")

    return shown


def _measures(rare: int) -> dict[str, Callable[[Row], str]]:
    return {
        "Gini": lambda row: NONE if row["gini"] is None else f"{row['gini']:.3f}",
        "Rényi efficiency": lambda row: f"{row['renyi_efficiency']:.3f}",
        f"tokens used at most {rare} times": lambda row: f"{row['rare_share']:.1%}",
        "tokens never used": lambda row: f"{row['unused_share']:.1%}",
        "tokens that no text becomes": _unreachable,
        "documents that do not come back": lambda row: f"{row['failed_documents']:,}",
        "tokens in the vocabulary": lambda row: f"{row['vocabulary']:,}",
        "training, wall seconds": lambda row: f"{row['seconds']:.1f}",
        "training, CPU seconds": lambda row: f"{row['cpu']:.1f}",
        "training, largest memory, MB": lambda row: f"{row['megabytes']:,}",
    }


def _unreachable(row: Row) -> str:
    undecided = f" (and {row['undecided']:,} undecided)" if row["undecided"] else ""
    return f"{row['unreachable']:,}{undecided}"
