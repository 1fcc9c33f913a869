"""Show what a text is warned of, and the way out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from bpe_cli.views.numbers import whole
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from bpe_cli.reports.text.warnings import TextWarning
    from bpe_cli.views.palette import Palette


def warning_lines(warnings: Iterable[TextWarning], palette: Palette) -> Iterator[RenderableType]:
    """Yield a paragraph for each warning: what is the matter and where, and the way out."""
    for number, warning in enumerate(warnings):
        where = f"{'first at ' if warning.count > 1 else ''}byte {whole(warning.start)}"
        text = Text("\n" if number == 0 else "")
        text.append("warning: ", style="bold yellow" if palette else "")
        text.append(f"{harmless(warning.message)} ({where})")
        yield text
        yield _Indented(Text(harmless(warning.hint), style="dim" if palette else ""))


class _Indented:
    """Render a text two columns further in, and nothing behind its lines."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self._text.wrap(console, max(options.max_width - 2, 1)):
            line.rstrip()
            yield Text.assemble("  ", line)
