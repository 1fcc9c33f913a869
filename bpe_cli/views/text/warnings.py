"""Show what a text is warned of, and the way out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from bpe_cli.reports.text.warnings import TextWarning
    from bpe_cli.views.palette import Palette


def warning_lines(warnings: Iterable[TextWarning], palette: Palette) -> Iterator[Text]:
    """Yield a paragraph for each warning: what is the matter, and the way out."""
    for number, warning in enumerate(warnings):
        text = Text("\n" if number == 0 else "")
        text.append("warning: ", style="bold yellow" if palette else "")
        text.append(harmless(warning.message))
        text.append(f"\n  {harmless(warning.hint)}", style="dim" if palette else "")
        yield text
