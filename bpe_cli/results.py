"""What inspecting and comparing return to a program: the value, and it as JSON, as Markdown and in a notebook.

``inspect`` and ``compare`` are the calls: a job each, and its value in such a result.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from bpe_cli.support.core_arguments import bytes_of, list_of, wrong_type
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.corpus.source import Documents
    from bpe_cli.jobs.inspect import Document, TextInspection
    from bpe_cli.reports.comparison.changes import Changes
    from bpe_cli.reports.comparison.checks import Check
    from bpe_cli.reports.comparison.comparison import Comparison
    from bpe_cli.reports.comparison.metrics import Metric
    from bpe_cli.reports.tokenizer.health import HealthReport
    from bpe_cli.support.listening import Listener
    from bpe_cli.tokenizer import Specials, Tokenizer

    AnyTokenizer = Tokenizer | str | os.PathLike[str]
    Texts = str | bytes | os.PathLike[str] | Iterable[str | bytes] | Iterable[os.PathLike[str]]


@dataclass(frozen=True, slots=True)
class TextReport:
    """Texts, token by token.

    Attributes:
        value: Each document with what was found of it.
    """

    value: tuple[tuple[Document, TextInspection], ...]

    def to_json(self) -> str:
        """Return the JSON that ``bpe inspect --json`` prints: schema ``bpe.inspect.text/1``, of several ``texts/1``."""
        from bpe_cli.views.json_values import json_text
        from bpe_cli.views.text.as_json import segmentation_json, texts_json

        texts = [segmentation_json(found.segmentation, found.warnings, found.stages) for _, found in self.value]
        return json_text(texts_json(texts, [document.origin for document, _ in self.value]))

    def to_markdown(self) -> str:
        """Return the totals and a table of the tokens of each text."""
        from bpe_cli.views.markdown import written
        from bpe_cli.views.text.table import text_blocks

        texts = (
            written(text_blocks(found.segmentation, found.warnings, title=document.title))
            for document, found in self.value
        )
        return "\n\n".join(texts) + "\n"

    def _repr_html_(self) -> str:
        """Return the page of ``bpe inspect --html`` as a part of a notebook."""
        from bpe_cli.views.page.html import framed
        from bpe_cli.views.page.page import texts_page

        name = self.value[0][1].segmentation.tokenizer if self.value else None
        shown = ((found.segmentation, found.warnings, document.title) for document, found in self.value)
        return framed(texts_page(shown, tokenizer=name), "Tokens")


@dataclass(frozen=True, slots=True)
class TokenizerReport:
    """A tokenizer by itself.

    Attributes:
        value: What was measured of it.
    """

    value: HealthReport

    def to_json(self, *, full: bool = False) -> str:
        """Return the JSON that ``bpe inspect --json`` prints: schema ``bpe.inspect.tokenizer/1``."""
        from bpe_cli.views.json_values import json_text
        from bpe_cli.views.tokenizer.as_json import health_json

        return json_text(health_json(self.value, full=full))

    def to_markdown(self, *, full: bool = False) -> str:
        """Return the findings, and all sections as tables."""
        from bpe_cli.views.markdown import written
        from bpe_cli.views.tokenizer.tables import health_view

        return f"{written(health_view(self.value, full=full))}\n"

    def _repr_html_(self) -> str:
        """Return the same as a part of a notebook."""
        from bpe_cli.views.page.html import blocks_page, framed
        from bpe_cli.views.tokenizer.tables import health_view

        title = self.value.vocabulary.name or "tokenizer"
        return framed(blocks_page(title, health_view(self.value)), title)


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """Tokenizers side by side.

    Attributes:
        value: What was measured of them.
        changes: What has changed since another comparison, if that was asked for.
        checks: What was checked.
    """

    value: Comparison
    changes: Changes | None = None
    checks: tuple[Check, ...] = ()

    def to_json(self) -> str:
        """Return the JSON that ``bpe compare --json`` prints: schema ``bpe.compare/2``."""
        from bpe_cli.views.comparison.as_json import comparison_json
        from bpe_cli.views.json_values import json_text

        return json_text(comparison_json(self.value, changes=self.changes, checks=self.checks))

    def to_markdown(self, metrics: Sequence[Metric] | None = None) -> str:
        """Return the Markdown that ``bpe compare --markdown`` prints, of some metrics or the usual ones."""
        from bpe_cli.views.comparison.as_markdown import comparison_markdown

        return comparison_markdown(self.value, metrics=metrics, changes=self.changes, checks=self.checks)

    def _repr_html_(self) -> str:
        """Return the page of ``bpe compare --html`` as a part of a notebook."""
        from bpe_cli.views.page.comparison import comparison_page
        from bpe_cli.views.page.html import framed

        return framed(comparison_page(self.value, changes=self.changes, checks=self.checks), "Comparison")


def inspect(
    tokenizer: AnyTokenizer,
    texts: Texts | None = None,
    *,
    specials: Specials = (),
    documents: Documents = "whole",
    field: str = "text",
    listener: Listener | None = None,
) -> TextReport | TokenizerReport:
    """Return what a tokenizer makes of texts, token by token; without texts, a report on the tokenizer itself.

    Args:
        tokenizer: A tokenizer, or what ``load`` takes.
        texts: A text, several, or files: ``pathlib.Path``, one or several.
        specials: Which special tokens are looked for in them.
        documents: What a document of a file is: ``whole``, the file; ``lines``, each line; ``jsonl``, a field of it.
        field: The field of a JSON line, or the column of a table.
        listener: Who hears how it goes on.

    >>> report = inspect("gpt2", "hello world")
    >>> [found.segmentation.token_count for _, found in report.value], "bpe.inspect.text/1" in report.to_json()
    ([2], True)

    Raises:
        BpeError: if there is no such tokenizer, a file cannot be read, or a text cannot be encoded.
        TypeError: if an argument is of a wrong type.
    """
    from bpe_cli.jobs.inspect import inspect_texts, inspect_tokenizer
    from bpe_cli.support.core_arguments import specials_of

    model, wanted = _loaded(tokenizer, "tokenizer"), specials_of(specials)
    heard: dict[str, Any] = {} if listener is None else {"listener": listener}
    if texts is None:
        return TokenizerReport(inspect_tokenizer(model, **heard))
    source = _source(texts, documents, field)
    return TextReport(tuple(inspect_texts(model, source, specials=wanted, **heard)))


def compare(
    tokenizers: Iterable[AnyTokenizer],
    texts: Texts,
    *,
    specials: Specials = (),
    documents: Documents = "whole",
    field: str = "text",
    threads: int | None = None,
    listener: Listener | None = None,
) -> ComparisonReport:
    """Compare tokenizers with the first of them on texts.

    Args:
        tokenizers: Tokenizers, or what ``load`` takes.
        texts: A text, several, or files: ``pathlib.Path``, one or several.
        specials: Which special tokens are looked for in them.
        documents: What a document of a file is: ``whole``, the file; ``lines``, each line; ``jsonl``, a field of it.
        field: The field of a JSON line, or the column of a table.
        threads: How many to use, all processors if None; changes no result.
        listener: Who hears how it goes on.

    >>> found = compare(["gpt2", "gpt-4o"], "hello world, naïve")
    >>> [measure.token_count for measure in found.value.total.measures]
    [4, 5]

    Raises:
        BpeError: if there is no such tokenizer, a file cannot be read, or a text cannot be encoded.
        TypeError: if an argument is of a wrong type.
    """
    from bpe_cli.errors import UsageError
    from bpe_cli.jobs.compare import CompareOptions
    from bpe_cli.jobs.compare import compare as compare_job
    from bpe_cli.support.core_arguments import specials_of, whole_number
    from bpe_cli.support.ordered_threads import usable_threads

    models = [_loaded(each, "tokenizers") for each in list_of("tokenizers", tokenizers, "tokenizers")]
    if not models:
        raise UsageError("tokenizers is empty, and there is nothing to compare")
    number = usable_threads(None if threads is None else whole_number("threads", threads, 1))
    options = CompareOptions(specials=specials_of(specials), threads=number)
    heard: dict[str, Any] = {} if listener is None else {"listener": listener}
    return ComparisonReport(compare_job(models, _source(texts, documents, field), options, **heard))


def _loaded(tokenizer: AnyTokenizer, name: str) -> Tokenizer:
    from bpe_cli.jobs.load import load
    from bpe_cli.tokenizer import Tokenizer

    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    if not isinstance(tokenizer, (str, os.PathLike)):
        raise wrong_type(name, "a Tokenizer, a str or a path", tokenizer)
    return load(tokenizer)


def _source(texts: Texts, documents: Documents, field: str) -> Source:
    """Return where texts come from: themselves, or files."""
    from bpe_cli.corpus import Source
    from bpe_cli.support.core_arguments import one_of

    one_of("documents", documents, ("whole", "lines", "jsonl"))
    if not isinstance(field, str):
        raise wrong_type("field", "a str", field)
    if isinstance(texts, (str, bytes, bytearray, memoryview)):
        return Source(
            text=bytes_of(texts, "texts").decode("utf-8", "surrogateescape"), documents=documents, field=field
        )
    if isinstance(texts, os.PathLike):
        return Source((os.fsdecode(texts),), documents=documents, field=field)
    if not isinstance(texts, Iterable):
        raise wrong_type("texts", "a text, several, or paths", texts)
    several = list(texts)
    if several and all(isinstance(each, os.PathLike) for each in several):
        return Source(tuple(os.fsdecode(each) for each in several), documents=documents, field=field)
    from bpe_cli.errors import InputError
    from bpe_cli.support.safe_orjson import orjson

    try:
        decoded = [bytes_of(each, f"texts[{place}]").decode() for place, each in enumerate(several)]
    except UnicodeDecodeError as error:
        raise InputError(f"a text of several is not UTF-8: {error.reason} at byte {error.start:,}") from error
    return Source(text=b"\n".join(orjson.dumps({"text": text}) for text in decoded).decode(), documents="jsonl")
