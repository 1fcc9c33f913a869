"""The benchmark's tables: what they say of a made-up round, and that the stored round is what is shown."""

from __future__ import annotations

import json
import platform
from xml.etree import ElementTree

import pytest

from benchmarks import forms, machine, page, plots, render, results
from tests.counted import at_least, compared
from tests.unit.benchmarks.rounds import cell, some_round


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Return the arguments that make the renderer work on files of the test, whose core is that of the round."""
    monkeypatch.setattr(machine, "core_build", lambda: some_round()["core"])
    results.save(some_round(), tmp_path / "results.json")
    (tmp_path / "README.md").write_text(f"before\n{render.BEGIN}\nold\n{render.END}\nafter\n", encoding="utf-8")
    return [f"--results={tmp_path / 'results.json'}", f"--readme={tmp_path / 'README.md'}",
            f"--page={tmp_path / 'page.md'}"]  # fmt: skip


def rows_of(markdown: str) -> dict[str, list[str]]:
    """Return the cells of each table row by the first of them."""
    rows = [line.strip("| ").split(" | ") for line in markdown.splitlines() if line.startswith("| ")]
    return {row[0].strip(): [entry.strip() for entry in row[1:]] for row in rows}


def labels(markdown: str) -> set[str]:
    """Return the labels of the rows of a table without its head."""
    return {*[line.strip("| ").split(" | ")[0] for line in markdown.splitlines() if line.startswith("| ")][2:]}


def every_row(round_, verdicts=results.VERDICTS):
    """Return the labels of all comparisons that these became of."""
    return {forms.label(item) for item in round_["comparisons"] if item["verdict"] in verdicts}


def section(markdown: str, title: str) -> str:
    return markdown.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_all_rows_in_short():
    rows = rows_of(page.rows_of_round(some_round()))
    assert rows["encode English, cl100k_base, first pass, MB/s"] == [
        "50.0", "**200**", "gigatoken 0.10.0 (file)", "4.00× slower", "3 / 3",
    ]  # fmt: skip
    assert rows["decode English, cl100k_base, later passes, M tokens/s"][:2] == ["100¹", "100¹"]
    assert rows["train BPE 256k on English, 2 threads, s"] == [
        "**1.00¹**", "> 90 s", "gigatoken 0.10.0", "more than 90.0× faster", "1 / 1",
    ]  # fmt: skip
    assert set(rows) >= every_row(some_round())


def test_readme_shows_the_rows_that_were_chosen_lost_ones_too():
    assert len(set(render.README_ROWS)) == 8
    rows = rows_of(render.readme_block(some_round()))
    assert rows["train BPE 32k on English, 2 threads, s"] == [
        "**0.500¹**", "5.00¹", "tokenizers 0.23.3", "10.0× faster", "1 / 1",
    ]  # fmt: skip
    assert rows["start-up, `bpe encode -T`, cl100k_base, ms"][:3] == ["200¹", "**100¹**", "tiktoken 0.14.0"]
    assert labels(render.readme_block(some_round())) <= {
        forms.label(dict(zip(render.NAMES, row, strict=True))) for row in render.README_ROWS
    }
    assert "6 of the eight rows are not in this round" in render.readme_block(some_round())


def test_the_tally_is_of_all_rows():
    round_ = some_round()
    tally = forms.standing(round_["comparisons"])
    assert tally == (
        "bpe is the fastest in 4 of 7 rows, slower in 2, equal in 1; 1 of those won because nobody else was done "
        "within the limit; 1 more row has no other library to compare with."
    )
    assert len(round_["comparisons"]) == 7 + 1
    assert tally in render.readme_block(round_)
    assert tally in page.render(round_)
    more = [dict(item, tokenizer="bert") for item in round_["comparisons"] if item["verdict"] == "lost"]
    assert "slower in 4," in render.readme_block(round_ | {"comparisons": round_["comparisons"] + more})


def test_every_lost_row_is_listed_and_no_other():
    round_ = some_round()
    lost = labels(section(page.render(round_), "Lost"))
    assert lost == every_row(round_, ("lost",))
    assert len(lost) == 2
    unranked = labels(section(page.render(round_), "Not ranked"))
    assert unranked == every_row(round_, ("alone", "one run")) != set()
    assert "(docs/explanation/benchmarks.md#lost)" in render.readme_block(round_)


def test_a_round_without_losses_says_so():
    round_ = some_round()
    won = [item for item in round_["comparisons"] if item["verdict"] == "won"]
    assert section(page.render(round_ | {"comparisons": won}), "Lost").strip() == "None."


def test_one_run_that_is_near_is_shown_and_not_ranked():
    round_ = results.build(
        some_round(), [cell("encode", "cold", "bpe", [0.1]), cell("encode", "cold", "tiktoken", [0.15])]
    )
    assert rows_of(page.rows_of_round(round_))["encode English, cl100k_base, first pass, MB/s"] == [
        "100¹", "66.7¹", "tiktoken 0.14.0", "(1.50× faster: not ranked)", "1 / 1",
    ]  # fmt: skip
    assert "fastest in 0 of 0 rows" in forms.standing(round_["comparisons"])


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
    assert "| English | tokenizers 0.23.3 | (1,000¹: different) |" in text
    assert "not equal to the ids of tiktoken" in text
    assert "| English | tiktoken 0.14.0 | failed | 0 | – | – | – | – | – | – | ValueError: no |  |" in text
    assert "| English | rustbpe | not installed |" in text
    assert "| one line | python 3.12.1 (alone) | 10.0¹ |" in text
    assert "not installed: rustbpe" in text
    assert "`abababababab`" in text


def test_fastest_stands_first():
    text = page.render(some_round()).partition("### Encode")[2].partition("###")[0]
    places = [text.index(f"| {name} |") for name in ("gigatoken 0.10.0 (file)", "gigatoken 0.10.0 (buffers)",
                                                     "**bpe 0.1.0**", "tiktoken 0.14.0")]  # fmt: skip
    assert places == sorted(places)


@at_least(7)
def test_all_rows_of_a_table_have_as_many_columns_as_its_head():
    for markdown in (page.render(some_round()), render.readme_block(some_round()), page.rows_of_round(some_round())):
        for table in markdown.split("\n\n"):
            if table.startswith("|"):
                assert len({line.count("|") for line in table.splitlines()}) == 1
                compared()


def test_a_part_of_a_round_says_so():
    assert "not for quoting" in render.readme_block(some_round(mode="part"))
    assert "not for quoting" not in render.readme_block(some_round())


def test_a_busy_machine_is_told_of():
    assert "Other programs ran" in forms.circumstances(some_round(free_cores=[2.0, 1.2]))
    assert "Other programs ran" not in forms.circumstances(some_round())


def test_what_the_processors_did_is_said():
    said = forms.circumstances(some_round(full_speed=0.43, worth_of_all=1.24))
    assert "full speed in 43 % of all passes" in said
    assert "All processors together do 1.2 times the work of one." in said
    assert "full speed" not in forms.circumstances(some_round())
    assert "All processors together" not in forms.circumstances(some_round())


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


def test_results_of_another_core_are_refused_unless_they_are_told_to_be_older(files, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(machine, "core_build", lambda: "ffffffffffff")
    before = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert render.main(files) == 1
    said = capsys.readouterr().err
    assert "another core: 0123456789ab of commit fedcba987654; here is ffffffffffff" in said
    assert "run make bench" in said
    assert "--older" in said
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == before
    assert not (tmp_path / "page.md").exists()
    assert render.main([*files, "--older"]) == 0
    for name in ("README.md", "page.md"):
        assert forms.OLDER in (tmp_path / name).read_text(encoding="utf-8")
    assert render.main([*files, "--check"]) == 0, "what says that it is older may stay"
    monkeypatch.setattr(machine, "core_build", lambda: "0123456789ab")
    assert render.main(files) == 0
    assert forms.OLDER not in (tmp_path / "page.md").read_text(encoding="utf-8")


def test_a_round_of_another_machine_has_a_page_of_its_own(files, tmp_path, capsys):
    newer = {**some_round()["machine"], "cpu": "A newer CPU", "instruction_sets": ["avx2", "avx512bw"]}
    results.save(some_round(machine=newer, core="ffffffffffff"), tmp_path / "results-newer.json")
    assert render.main(files) == 0
    here, there = ((tmp_path / name).read_text(encoding="utf-8") for name in ("page.md", "page-newer.md"))
    assert "[A newer CPU, 2 cores with AVX-512](page-newer.md)" in here
    assert "[A CPU, 2 cores with AVX2](page.md)" in there
    assert there.startswith("# Benchmarks of another machine\n")
    assert "](page-newer-speed.svg)" in there
    assert (tmp_path / "page-newer-growth.svg").exists()
    assert (forms.OLDER in here, forms.OLDER in there) == (False, True), "its core is not that of the first round"
    assert "A newer CPU" not in (tmp_path / "README.md").read_text(encoding="utf-8")
    assert render.main([*files, "--check"]) == 0
    (tmp_path / "page-newer.md").write_text("old", encoding="utf-8")
    assert render.main([*files, "--check"]) == 1
    assert "page-newer.md" in capsys.readouterr().err


def test_the_page_names_commit_and_core():
    assert "Commit fedcba987654; our compiled core's sha256 begins with 0123456789ab." in page.render(some_round())


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
    assert stored["mode"] != "part"
    short = ("encode", "count", "decode", "whole", "start", "load")  # what takes long has fewer
    ours = [cell for cell in cells if cell.library == results.OURS and cell.operation in short]
    assert ours
    assert all(len(cell.wall) >= stored["repetitions"] for cell in ours)


def test_stored_round_names_no_machine(stored, repository):
    text = json.dumps(stored)
    assert "/" not in text.replace(results.SCHEMA, "").replace("corpora/", "")
    assert str(repository) not in text
    assert not platform.node() or f'"{platform.node()}"' not in text
