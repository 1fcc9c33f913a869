"""Compare with files in tests/golden/views; ``UPDATE_GOLDEN=1 pytest`` writes them."""

from __future__ import annotations

import io
import os
from pathlib import Path

from rich.console import Console

from bpe_cli.views.blocks import Blocks
from bpe_cli.views.on_console import OnConsole
from bpe_cli.views.structure import structure_sections
from bpe_cli.views.vocabulary import vocabulary_sections

FOLDER = Path(__file__).parents[2] / "golden" / "views"

CONSOLES = {
    "plain": {"color_system": None, "width": 100},
    "narrow": {"color_system": None, "width": 30},
    "standard": {"color_system": "standard", "width": 80},
    "256": {"color_system": "256", "width": 80},
    "truecolor": {"color_system": "truecolor", "width": 80},
    "no-color": {"color_system": "truecolor", "width": 80, "no_color": True},
}


def render(renderable, *, color_system=None, width=100, no_color=False):
    file = io.StringIO()
    console = Console(
        file=file,
        force_terminal=color_system is not None,
        color_system=color_system,
        width=width,
        no_color=no_color,
        legacy_windows=False,
        _environ={},
    )
    console.print(OnConsole(renderable), crop=False)
    return file.getvalue()


def vocabulary_view(report, **options):
    """Lay out all sections of a vocabulary's report."""
    return Blocks(*vocabulary_sections(report, **options).values())


def structure_view(structure, **options):
    """Lay out all sections of a vocabulary's structure."""
    return Blocks(*structure_sections(structure, **options).values())


def check(name, shown):
    path = FOLDER / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(shown, encoding="utf-8", newline="")
    assert shown == path.read_bytes().decode(), f"differs from {path}"
