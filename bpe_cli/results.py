"""The results of ``inspect`` and ``compare`` for programs: values with their JSON, Markdown and notebook forms.

``calls.inspect`` and ``calls.compare`` make them of what their jobs give.

Length: seven values in all their forms, whose docstrings are a part of docs/reference/api.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from bpe_cli.jobs.inspect import Document, TextInspection
    from bpe_cli.reports.comparison.changes import Changes
    from bpe_cli.reports.comparison.checks import Check
    from bpe_cli.reports.comparison.comparison import Comparison, Metric
    from bpe_cli.reports.comparison.ids import IdsReport
    from bpe_cli.reports.text.conversation import ConversationReport
    from bpe_cli.reports.text.steps import Steps
    from bpe_cli.reports.tokenizer.health import HealthReport
    from bpe_cli.reports.vocabulary_curve import VocabularyCurve
    from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class TextReport:
    """Texts, token by token.

    Attributes:
        value: Each document with its tokens.
    """

    value: tuple[tuple[Document, TextInspection], ...]

    def to_json(self) -> str:
        """Return the JSON of ``bpe inspect --json``: schema ``bpe.inspect.text/1``, or ``texts/1`` for several."""
        from bpe_cli.views.as_json import json_text, segmentation_json, texts_json

        texts = [segmentation_json(report.segmentation, report.warnings, report.stages) for _, report in self.value]
        return json_text(texts_json(texts, [document.origin for document, _ in self.value]))

    def to_markdown(self) -> str:
        """Return the totals and a table of the tokens of each text."""
        from bpe_cli.views.markdown import written
        from bpe_cli.views.tokens import text_blocks

        texts = (
            written(text_blocks(report.segmentation, report.warnings, title=document.title))
            for document, report in self.value
        )
        return "\n\n".join(texts) + "\n"

    def to_html(self, *, full: bool = False) -> str:
        """Return the page that ``bpe inspect --html`` writes; ``full`` shows everything, however long."""
        from bpe_cli.views.page.page import texts_page

        shown = ((report.segmentation, report.warnings, document.title) for document, report in self.value)
        return "".join(texts_page(shown, tokenizer=self._tokenizer, full=full))

    def to_svg(self, *, ids: bool = False, full: bool = False) -> str:
        """Return the picture that ``bpe inspect --svg`` writes; ``ids`` adds ids below tokens, ``full`` draws all."""
        from bpe_cli.views.page.svg import picture

        return picture((report.segmentation for _, report in self.value), tokenizer=self._tokenizer, ids=ids, full=full)

    def to_png(self, *, ids: bool = False, full: bool = False) -> bytes:
        """Return the picture of ``to_svg`` as PNG, in light colours.

        Raises:
            UsageError: if the extra ``png`` is not installed.
            OutputError: if this machine has no font.
        """
        from bpe_cli.views.pictures.png import png

        return png(self.to_svg(ids=ids, full=full))

    @property
    def _tokenizer(self) -> str | None:
        return self.value[0][1].segmentation.tokenizer if self.value else None

    def _repr_html_(self) -> str:
        """Return the page as a part of a notebook."""
        from bpe_cli.views.page.page import framed

        return framed([self.to_html()], "Tokens")


@dataclass(frozen=True, slots=True)
class StepsReport:
    """How a tokenizer arrived at the tokens of texts.

    Attributes:
        value: Each document with its steps.
        tokenizer: The tokenizer's name, if it has one.
    """

    value: tuple[tuple[Document, Steps], ...]
    tokenizer: str | None = None

    def to_json(self) -> str:
        """Return the JSON that ``bpe inspect --steps --json`` prints: schema ``bpe.inspect.steps/1``."""
        from bpe_cli.views.as_json import all_steps_json, json_text

        return json_text(all_steps_json([steps for _, steps in self.value], [each.origin for each, _ in self.value]))

    def to_html(self) -> str:
        """Return the page that ``bpe inspect --steps --html`` writes: a slide for each step."""
        from bpe_cli.views.page.text_steps import steps_page

        return "".join(steps_page(((steps, each.title) for each, steps in self.value), tokenizer=self.tokenizer))

    def _repr_html_(self) -> str:
        """Return the page as a part of a notebook."""
        from bpe_cli.views.page.page import framed

        return framed([self.to_html()], "Steps")


@dataclass(frozen=True, slots=True)
class ChatReport:
    """Conversations, message by message.

    Attributes:
        value: For each conversation, its input and its number in that input (from 1), its name, and its tokens.
        tokenizer: The tokenizer's name, if it has one.
    """

    value: tuple[tuple[tuple[str, int], str, ConversationReport], ...]
    tokenizer: str | None = None

    def to_json(self) -> str:
        """Return the JSON that ``bpe inspect --chat --json`` prints: schema ``bpe.inspect.chat/1``."""
        from bpe_cli.views.as_json import conversations_json, json_text

        return json_text(conversations_json([report for *_, report in self.value], [each[0] for each in self.value]))

    def to_html(self, *, full: bool = False) -> str:
        """Return the page that ``bpe inspect --chat --html`` writes; ``full`` shows all tokens, however many."""
        from bpe_cli.views.page.page import conversations_page

        named = ((report, name if len(self.value) > 1 else None) for _, name, report in self.value)
        return "".join(conversations_page(named, tokenizer=self.tokenizer, full=full))

    def _repr_html_(self) -> str:
        """Return the page as a part of a notebook."""
        from bpe_cli.views.page.page import framed

        return framed([self.to_html()], "Conversations")


@dataclass(frozen=True, slots=True)
class IdsComparison:
    """Two readers of a tokenizer, compared id for id.

    Attributes:
        value: What was found: ``same``, the ``first`` difference, and what else differs (``besides``).
    """

    value: IdsReport

    def to_json(self) -> str:
        """Return the JSON that ``bpe compare --ids --json`` prints: schema ``bpe.compare.ids/1``."""
        from bpe_cli.views.as_json import json_text
        from bpe_cli.views.comparison.ids import ids_json

        return json_text(ids_json(self.value))

    def to_markdown(self) -> str:
        """Return the verdict, what else differs, and how many texts were compared."""
        from bpe_cli.views.comparison.ids import ids_view
        from bpe_cli.views.markdown import written

        return written(ids_view(self.value)) + "\n"


@dataclass(frozen=True, slots=True)
class TokenizerReport:
    """A report on a tokenizer itself.

    Attributes:
        value: The measurements.
    """

    value: HealthReport

    def to_json(self, *, full: bool = False) -> str:
        """Return the JSON that ``bpe inspect --json`` prints: schema ``bpe.inspect.tokenizer/1``."""
        from bpe_cli.views.as_json import health_json, json_text

        return json_text(health_json(self.value, full=full))

    def to_markdown(self, *, full: bool = False) -> str:
        """Return the findings, and all sections as tables."""
        from bpe_cli.views.health import health_view
        from bpe_cli.views.markdown import written

        return f"{written(health_view(self.value, full=full))}\n"

    def to_html(self, *, full: bool = False) -> str:
        """Return the page that ``bpe inspect --html`` writes: pictures, and all sections as tables."""
        from bpe_cli.views.health import health_view
        from bpe_cli.views.page.page import blocks_page
        from bpe_cli.views.pictures.of_tokenizer import tokenizer_charts

        shown = health_view(self.value, full=full)
        return "".join(blocks_page(self._title, shown, tokenizer_charts(self.value)))

    def to_svg(self, name: str | None = None) -> str:
        """Return a picture as SVG: ``lengths``, ``scripts`` or, with a corpus, ``use``; None for all, stacked.

        Raises:
            UsageError: if the report has no such picture.
        """
        from bpe_cli.views.pictures.choosing import chosen_svg
        from bpe_cli.views.pictures.of_tokenizer import tokenizer_charts

        return chosen_svg(tokenizer_charts(self.value), name)

    def to_png(self, name: str | None = None) -> bytes:
        """Return the picture of ``to_svg`` as PNG, in light colours.

        Raises:
            UsageError: if the report has no such picture, or the extra ``png`` is not installed.
            OutputError: if this machine has no font.
        """
        from bpe_cli.views.pictures.choosing import chosen_png
        from bpe_cli.views.pictures.of_tokenizer import tokenizer_charts

        return chosen_png(tokenizer_charts(self.value), name)

    @property
    def _title(self) -> str:
        return self.value.vocabulary.name or "tokenizer"

    def _repr_html_(self) -> str:
        """Return the page as a part of a notebook."""
        from bpe_cli.views.page.page import framed

        return framed([self.to_html()], self._title)


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """Tokenizers side by side.

    Attributes:
        value: The measurements.
        changes: The changes since an earlier comparison, if one was given.
        checks: The results of the requested checks.
    """

    value: Comparison
    changes: Changes | None = None
    checks: tuple[Check, ...] = ()

    def to_json(self) -> str:
        """Return the JSON that ``bpe compare --json`` prints: schema ``bpe.compare/2``."""
        from bpe_cli.views.as_json import json_text
        from bpe_cli.views.comparison.files import comparison_json

        return json_text(comparison_json(self.value, changes=self.changes, checks=self.checks))

    def to_markdown(self, metrics: Iterable[Metric | str] | None = None, *, full: bool = False) -> str:
        """Return the Markdown that ``bpe compare --markdown`` prints.

        Args:
            metrics: The names of metrics, as in ``--metric``; None for the usual ones.
            full: Whether to show all inputs, changes and failures, however many.

        >>> from bpe_cli import compare
        >>> "| tokens/word |" in compare(["gpt2", "gpt-4o"], "hello world").to_markdown(["tokens", "fertility"])
        True

        Raises:
            UsageError: if there is no such metric.
        """
        from bpe_cli.views.comparison.files import comparison_markdown

        return comparison_markdown(
            self.value, metrics=_metrics(metrics), changes=self.changes, checks=self.checks, full=full
        )

    def to_latex(self, metrics: Iterable[Metric | str] | None = None) -> str:
        """Return the tokenizer table that ``bpe compare --latex`` prints; ``metrics`` as for ``to_markdown``."""
        from bpe_cli.views.comparison.files import comparison_latex

        return comparison_latex(self.value, metrics=_metrics(metrics))

    def to_html(self, metrics: Iterable[Metric | str] | None = None) -> str:
        """Return the page that ``bpe compare --html`` writes; without names of metrics, with all that have values."""
        from bpe_cli.views.page.comparison import comparison_page

        return "".join(comparison_page(self.value, metrics=_metrics(metrics), changes=self.changes, checks=self.checks))

    def to_svg(self, name: str | None = None, *, metric: Metric | str | None = None) -> str:
        """Return a picture as SVG: ``inputs``, ``ratios``, ``lengths``, ``use`` or ``premiums``; None for all.

        Args:
            name: The picture; None for all of them, stacked.
            metric: The name of the metric that ``inputs`` shows; None for the number of tokens.

        Raises:
            UsageError: if the report has no such picture, or there is no such metric.
        """
        from bpe_cli.views.pictures.choosing import chosen_svg
        from bpe_cli.views.pictures.of_comparison import comparison_charts

        return chosen_svg(comparison_charts(self.value, _metric(metric)), name)

    def to_png(self, name: str | None = None, *, metric: Metric | str | None = None) -> bytes:
        """Return the picture of ``to_svg`` as PNG, in light colours.

        Raises:
            UsageError: if the report has no such picture, there is no such metric, or the extra ``png`` is not
                installed.
            OutputError: if this machine has no font.
        """
        from bpe_cli.views.pictures.choosing import chosen_png
        from bpe_cli.views.pictures.of_comparison import comparison_charts

        return chosen_png(comparison_charts(self.value, _metric(metric)), name)

    def _repr_html_(self) -> str:
        """Return the page of ``bpe compare --html`` as a part of a notebook."""
        from bpe_cli.views.page.page import framed

        return framed([self.to_html()], "Comparison")


@dataclass(frozen=True, slots=True)
class SizesReport:
    """Tokenizers of several sizes, trained on the same corpus.

    Attributes:
        tokenizers: The tokenizers by requested size.
        curve: Their measurements on held-out text; None without held-out text.
    """

    tokenizers: Mapping[int, Tokenizer]
    curve: VocabularyCurve | None = None

    def to_json(self) -> str:
        """Return the JSON that ``bpe train --valid --json`` prints: schema ``bpe.train.sizes/1``.

        Raises:
            UsageError: if there is no held-out text.
        """
        from bpe_cli.views.as_json import json_text
        from bpe_cli.views.vocabulary_curve import curve_json

        return json_text(curve_json(self._measured))

    def to_markdown(self) -> str:
        """Return the table of sizes, and the knee.

        Raises:
            UsageError: if there is no held-out text.
        """
        from bpe_cli.views.markdown import written
        from bpe_cli.views.vocabulary_curve import curve_view

        return f"{written(curve_view(self._measured))}\n"

    def to_svg(self, name: str | None = None) -> str:
        """Return the picture ``curve`` as SVG.

        Raises:
            UsageError: if there is no held-out text, or no such picture.
        """
        from bpe_cli.views.pictures.choosing import chosen_svg
        from bpe_cli.views.vocabulary_curve import curve_chart

        return chosen_svg([curve_chart(self._measured)], name)

    def to_png(self, name: str | None = None) -> bytes:
        """Return the picture of ``to_svg`` as PNG, in light colours.

        Raises:
            UsageError: if there is no held-out text or picture, or the extra ``png`` is not installed.
            OutputError: if this machine has no font.
        """
        from bpe_cli.views.pictures.choosing import chosen_png
        from bpe_cli.views.vocabulary_curve import curve_chart

        return chosen_png([curve_chart(self._measured)], name)

    @property
    def _measured(self) -> VocabularyCurve:
        if self.curve is None:
            from bpe_cli.errors import UsageError

            raise UsageError("there is no curve without held-out text", hint="train with `held_out`")
        return self.curve


def _metrics(metrics: Iterable[Metric | str] | None) -> tuple[Metric, ...] | None:
    """Return metrics by their names."""
    if metrics is None:
        return None
    from bpe_cli.reports.comparison.comparison import Metric, metrics_named
    from bpe_cli.support.core_arguments import list_of, wrong_type

    found: list[Metric] = []
    for each in list_of("metrics", metrics, "names of metrics"):
        if not isinstance(each, (str, Metric)):
            raise wrong_type("metrics", "a list of names", each)
        found.extend(metrics_named([each]) if isinstance(each, str) else [each])
    return tuple(dict.fromkeys(found))


def _metric(metric: Metric | str | None) -> Metric | None:
    """Return a metric by its name."""
    from bpe_cli.reports.comparison.comparison import Metric, metric_named
    from bpe_cli.support.core_arguments import wrong_type

    if metric is not None and not isinstance(metric, (str, Metric)):
        raise wrong_type("metric", "a str", metric)
    return metric_named(metric) if isinstance(metric, str) else metric
