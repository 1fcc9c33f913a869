"""The benchmark's tables: what they say of a made-up round, and that the stored round is what is shown."""

from __future__ import annotations

import json
import platform
from xml.etree import ElementTree

import pytest

from benchmarks import forms, page, plots, render, results
from tests.counted import at_least, compared
from tests.unit.benchmarks.rounds import some_round


@pytest.fixture
def files(tmp_path):
    """Return the arguments that make the renderer work on files of the test."""
    results.save(some_round(), tmp_path / "results.json")
    (tmp_path / "README.md").write_text(f"before\n{render.BEGIN}\nold\n{render.END}\nafter\n", encoding="utf-8")
    return [f"--results={tmp_path / 'results.json'}", f"--readme={tmp_path / 'README.md'}",
            f"--page={tmp_path / 'page.md'}"]  # fmt: skip


def rows_of(markdown: str) -> dict[str, list[str]]:
    """Return the cells of each table row by the first of them."""
    rows = [line.strip("| ").split(" | ") for line in markdown.splitlines() if line.startswith("| ")]
    return {row[0].strip(): [entry.strip() for entry in row[1:]] for row in rows}


def test_readme_shows_won_and_lost_rows_alike():
    rows = rows_of(render.readme_block(some_round()))
    assert rows["encode English, cl100k_base, first pass, MB/s"] == [
        "50.0", "**200**", "gigatoken 0.10.0 (file)", "4.00× slower",
    ]  # fmt: skip
    assert rows["train BPE 32k on English, 2 threads, s"] == ["**0.500**", "5.00", "tokenizers 0.23.3", "10.0× faster"]
    assert rows["decode English, cl100k_base, later passes, M tokens/s"][:2] == ["100", "100"]
    assert rows["start-up, `bpe encode -T`, cl100k_base, ms"][:3] == ["200", "**100**", "tiktoken 0.14.0"]
    assert "start-up, library, cl100k_base, ms" not in rows  # won, and not the first of its kind
    assert rows["learn unigram 32k on English, 2 threads, s"] == [
        "**2.00**",
        "9.00",
        "sentencepiece 0.2.3",
        "4.50× faster",
    ]


def test_readme_tallies():
    assert "fastest in 4 of 7 rows, slower in 2, level in 1." in render.readme_block(some_round())


def test_plots_show_the_figures_of_the_round():
    speed = plots.speed(some_round())
    for words in ("gigatoken 0.10.0", ">200<", "bpe 0.1.0", ">50.0<", "first pass"):
        assert words in speed
    assert "tokenizers" not in speed  # whose result was wrong
    growth = plots.growth(some_round())
    assert growth.count("<circle") == 8
    assert "bpe encode" in growth
    for picture in (speed, growth, plots.speed(with_version("<&>")), plots.growth(empty_round())):
        ElementTree.fromstring(picture)


def with_version(version):
    round_ = some_round()
    return round_ | {"versions": round_["versions"] | {"gigatoken": version}}


def empty_round():
    round_ = some_round()
    return round_ | {"cells": [cell for cell in round_["cells"] if cell["operation"] != "growth"]}


def test_page_shows_how_time_grows():
    rows = [line for line in page.render(some_round()).splitlines() if line.startswith("| hostile")]
    assert rows[0].endswith("| English | 20.0 | 1 | 0.200 | 0.200 | 1.00 | 80.0 | 1.00× |")
    assert rows[1].endswith("| one letter | 20.0 | 1 | 0.500 | 0.500 | 2.50 | 80.0 | 2.50× |")


def test_page_shows_every_cell_with_what_a_claim_needs():
    text = page.render(some_round())
    assert "| English | **bpe 0.1.0** | 50.0 | 3 | 0.100–0.300 | 0.200 | 2.00 | 10.0 | 2,000,000 | 90.0 | " in text
    assert "| English | tokenizers 0.23.3 | (1,000: different) |" in text
    assert "not equal to the ids of tiktoken" in text
    assert "| English | tiktoken 0.14.0 | failed | 0 | – | – | – | – | – | – | ValueError: no |  |" in text
    assert "| English | rustbpe | not installed |" in text
    assert "| one line | python 3.12.1 (alone) | 10.0 |" in text
    assert "not installed: rustbpe" in text
    assert "`abababababab`" in text


def test_fastest_stands_first():
    text = page.render(some_round()).partition("### Encode")[2].partition("###")[0]
    places = [text.index(f"| {name} |") for name in ("gigatoken 0.10.0 (file)", "gigatoken 0.10.0 (buffers)",
                                                     "**bpe 0.1.0**", "tiktoken 0.14.0")]  # fmt: skip
    assert places == sorted(places)


@at_least(7)
def test_all_rows_of_a_table_have_as_many_columns_as_its_head():
    for markdown in (page.render(some_round()), render.readme_block(some_round())):
        for table in markdown.split("\n\n"):
            if table.startswith("|"):
                assert len({line.count("|") for line in table.splitlines()}) == 1
                compared()


def test_a_quick_round_says_so():
    assert "not for quoting" in render.readme_block(some_round(mode="quick"))
    assert "not for quoting" not in render.readme_block(some_round())


def test_a_busy_machine_is_told_of():
    assert "Other programs ran" in forms.circumstances(some_round(free_cores=[2.0, 1.2]))
    assert "Other programs ran" not in forms.circumstances(some_round())


def test_encodings_beside_the_first_are_on_the_page_alone():
    round_ = some_round()
    for other in ("gpt2", "bert"):
        more = [dict(item, tokenizer=other) for item in some_round()["comparisons"] if item["operation"] == "encode"]
        round_["comparisons"] += more
        round_["cells"] += [dict(c, tokenizer=other) for c in some_round()["cells"] if c["operation"] == "encode"]
    rows = rows_of(render.readme_block(round_))
    assert {f"encode English, {name}, first pass, MB/s" for name in ("cl100k_base", "bert")} <= set(rows)
    assert "encode English, gpt2, first pass, MB/s" not in rows
    assert "### Encode: gpt2, first pass, 1 thread" in page.render(round_)


def test_write_then_check(files, tmp_path, capsys):
    assert render.main([*files, "--check"]) == 1
    assert "README.md" in capsys.readouterr().err
    assert (tmp_path / "README.md").read_text(encoding="utf-8").count("old") == 1
    assert render.main(files) == 0
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert readme.startswith(f"before\n{render.BEGIN}\n<!-- Made by")
    assert readme.endswith(f"\n{render.END}\nafter\n")
    assert render.main([*files, "--check"]) == 0
    assert render.main(files) == 0
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == readme


def test_a_readme_without_markers_is_left_alone(files, tmp_path, capsys):
    (tmp_path / "README.md").write_text("hello\n", encoding="utf-8")
    assert render.main(files) == 0
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == "hello\n"
    assert "left as it is" in capsys.readouterr().err
    assert (tmp_path / "page.md").exists()


def test_no_round_is_an_error(files, tmp_path, capsys):
    (tmp_path / "results.json").unlink()
    assert render.main(files) == 2
    assert "there is no results.json" in capsys.readouterr().err
    (tmp_path / "results.json").write_text("{}", encoding="utf-8")
    assert render.main(files) == 2
    assert "make bench" in capsys.readouterr().err


@pytest.fixture
def stored():
    """Return the round that belongs to the repository."""
    return results.load(results.PATH)


def test_stored_round_is_what_is_shown(stored, capsys):
    assert render.main(["--check"]) == 0, capsys.readouterr().err


def test_stored_round_adds_up(stored):
    cells = [
        results.Cell(**{name: cell[name] for name in results.Cell.__dataclass_fields__}) for cell in stored["cells"]
    ]
    assert stored["cells"] == [results.describe(cell) for cell in cells]
    assert stored["comparisons"] == results.compare(cells)
    assert stored["mode"] != "quick"
    short = ("encode", "count", "decode", "whole", "start", "load")  # what takes long has fewer
    ours = [cell for cell in cells if cell.library == results.OURS and cell.operation in short]
    assert ours
    assert all(len(cell.wall) >= stored["repetitions"] for cell in ours)


def test_stored_round_names_no_machine(stored, repository):
    text = json.dumps(stored)
    assert "/" not in text.replace(results.SCHEMA, "").replace("corpora/", "")
    assert str(repository) not in text
    assert not platform.node() or f'"{platform.node()}"' not in text
