"""Show whether two tokenizers give the same ids: the texts that were compared, and the first difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from bpe_cli.views.blocks import Blocks, Gap, Hanging, Line, Sheet, numbers, text_column
from bpe_cli.views.labels import count, whole
from bpe_cli.views.visible import BAR, harmless, units, visible

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.ids import Difference, IdsReport
    from bpe_cli.views.blocks import Block

_TOKENS = 40
"""How many tokens of a text are shown."""

_MADE = 160
"""How many characters of what a stage makes are shown, at most."""


def ids_view(report: IdsReport) -> Blocks:
    """Lay a report out."""
    return Blocks(*_blocks(report))


def verdict(report: IdsReport) -> str:
    """Return a sentence that says whether the ids are the same."""
    both = " and ".join(harmless(name) for name in report.names)
    texts = count(report.count, "text")
    if not report.same:
        return f"{both} give different ids for {whole(report.different)} of {texts}"
    if report.besides is None:
        return f"{both} give the same ids for {texts}"
    return f"{both} give the same ids for {texts}" + (
        ", and are the same but for:" if report.besides else ", and nothing else differs"
    )


def _blocks(report: IdsReport) -> Iterator[Block]:
    yield Line((verdict(report), "bold"))
    listed = [harmless(each) for each in report.besides or ()]
    if listed and not report.same:
        yield Line("what differs besides:")
    for sentence in listed:
        yield Hanging(Line(sentence), label="-", indent=2)
    left_out = any(each.left_out for each in report.texts)
    table = Sheet(text_column("texts"), *numbers("compared", "different", *(["not UTF-8"] if left_out else [])))
    for each in report.texts:
        more = [whole(each.left_out)] if left_out else []
        table.add_row(each.name, whole(each.count), whole(each.different), *more)
    yield table
    if report.first is not None:
        yield from _difference(report.first, report.names)


def _difference(found: Difference, names: tuple[str, str]) -> Iterator[Block]:
    yield Gap()
    yield Line((f"the first difference, in {harmless(found.where)}: ", "bold"), visible(found.text))
    for name, ids, tokens in zip(names, found.ids, found.tokens, strict=True):
        yield Gap()
        yield Line(f"{harmless(name)}:")
        if ids is None:
            yield Line("  it cannot be encoded")
            continue
        more = f" and {count(len(ids) - _TOKENS, 'more token')}" if len(ids) > _TOKENS else ""
        yield Line("  " + BAR.join(visible(token, bars=True) for token in tokens[:_TOKENS]) + more)
        yield Line("  " + " ".join(map(str, ids[:_TOKENS])) + more)
    yield Gap()
    if found.stage is None:
        yield Line("which stage differs cannot be told from here")
    elif found.made is None:
        yield Line(f"the first stage that differs: {found.stage}")
    else:
        yield Line(f"the first stage that differs: {found.stage}, which makes of it")
        for name, made in zip(names, found.made, strict=True):
            yield Line(f"  {harmless(name)}: {_parts(made)}")


def _parts(contents: Sequence[bytes]) -> str:
    """Write the beginning of what a stage makes, with bars between its parts."""
    shown = list(islice(_units(contents), _MADE + 1))
    return "".join(shown) if len(shown) <= _MADE else "".join(shown[:_MADE]) + "…"


def _units(contents: Sequence[bytes]) -> Iterator[str]:
    for number, content in enumerate(contents):
        if number:
            yield BAR
        yield from units(content.decode("utf-8", "surrogateescape"), bars=True)


def ids_json(report: IdsReport) -> dict[str, Any]:
    """Return a report as JSON values: schema ``bpe.compare.ids/1``."""
    from bpe_cli.support.json_text import name_value, text_value

    first = report.first
    return {
        "schema": "bpe.compare.ids/1",
        "tokenizers": [name_value(name) for name in report.names],
        "same": report.same,
        "texts": [
            {"name": each.name, "count": each.count, "different": each.different, "left_out": each.left_out}
            for each in report.texts
        ],
        "besides": None if report.besides is None else list(report.besides),
        "first": None
        if first is None
        else {
            "where": name_value(first.where),
            "text": text_value(first.text),
            "ids": [None if ids is None else list(ids) for ids in first.ids],
            "tokens": [list(map(text_value, tokens)) for tokens in first.tokens],
            "stage": first.stage,
            "made": None if first.made is None else [list(map(text_value, parts)) for parts in first.made],
        },
    }
