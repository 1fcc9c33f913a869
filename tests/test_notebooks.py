"""The notebooks of the course: every cell prints what is stored under it, in plain Python and in a kernel."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.needs import needs

NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "docs" / "learn" / "notebooks").glob("*.ipynb"))


def cells_of(path: Path) -> list[dict[str, Any]]:
    """Return the cells with code."""
    notebook = json.loads(path.read_bytes())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def stored(cell: dict[str, Any]) -> str:
    """Return what is stored under a cell: text that was printed, and nothing else."""
    assert all((each["output_type"], each["name"]) == ("stream", "stdout") for each in cell["outputs"])
    return "".join("".join(each["text"]) for each in cell["outputs"])


def test_there_are_two():
    assert [path.name for path in NOTEBOOKS] == ["bpe.ipynb", "wordpiece-and-unigram.ipynb"]
    assert all(len(cells_of(path)) >= 5 for path in NOTEBOOKS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_print_what_is_stored(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for number, cell in enumerate(cells_of(path), 1):
        assert cell["execution_count"] == number
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), names)  # our own page
        assert printed.getvalue() == stored(cell), f"{path.name}, cell {number}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_kernel_runs_them(path, tmp_path):
    needs("ipykernel")
    nbclient = needs("nbclient")
    nbformat = needs("nbformat")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    before = [stored(cell) for cell in notebook.cells if cell.cell_type == "code"]
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert [stored(cell) for cell in notebook.cells if cell.cell_type == "code"] == before
