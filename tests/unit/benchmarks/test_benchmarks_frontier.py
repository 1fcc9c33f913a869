"""The script that judges algorithms: how it divides texts, what it leaves out, and what its table says."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import frontier, frontier_page, frontier_texts, machine
from benchmarks.frontier import Algorithm
from benchmarks.frontier_texts import Corpus, Language, divided, split
from benchmarks.processes import TooSlow
from tests.cli_runner import call

LINES = [b"%0127d\n" % number for number in range(17 * 46)]
"""Documents of 17 lines."""


def row(name: str, size: int, value: float, interval=None, **more):
    measures = {
        "gini": 0.125, "renyi_efficiency": 0.5, "rare_share": 0.25, "unused_share": 0.125, "examined": size,
        "unreachable": 3, "undecided": 0, "failed_documents": 0, "vocabulary": size, "seconds": 1.5, "cpu": 2.5,
        "megabytes": 1234,
    }  # fmt: skip
    compression = {"greek": {"value": value, "interval": interval}}
    return {"algorithm": name, "options": "", "size": size, "bytes_per_token": compression} | measures | more


def stored(*rows, skipped=None):
    return {
        "date": "2026-11-24", "machine": {"cpu": "some processor", "cores": 2}, "free_cores": 1.9, "commit": "abc",
        "seconds": 90, "rare": 10, "skipped": skipped or {}, "rows": [*rows],
        "texts": [{"name": "greek", "training_bytes": 2_000_000, "held_out_bytes": 250_000, "held_out_documents": 7}],
    }  # fmt: skip


def test_what_is_held_out_is_the_end_and_is_not_learnt():
    language = split("x", b"".join(LINES), 1 << 20)
    assert b"".join([*language.training, *language.held_out]) == b"".join(LINES)
    assert (len(language.training), len(language.held_out)) == (41, 5)


def test_a_long_text_is_learnt_from_its_beginning_and_measured_at_its_end():
    language = split("x", b"".join(LINES), 8 * 2176)
    assert b"".join(language.training) == b"".join(LINES[: 8 * 17])
    assert b"".join(language.held_out) == b"".join(LINES[-17:])


def test_lines_go_where_most_of_their_letters_are():
    names = dict.fromkeys("абв", "cyrillic") | dict.fromkeys("abc", "latin")
    lines = ["1\n", "аб a\n", "--\n", "\n", "ab а\n", "2\n"]
    assert divided(lines, names) == {
        "": ["1\n"], "cyrillic": ["аб a\n", "--\n", "\n"], "latin": ["ab а\n", "2\n"],
    }  # fmt: skip


def test_languages_of_texts(tmp_path):
    """Both syllabaries are Japanese, in the order of the text; lines in Han alone are left out."""
    mixed = ["ひらがな\n", "カタカナ\n", "漢字\n", "да\n", "yes\n", "ひ\n"] * 40
    for name in (*frontier_texts.PLAIN, frontier_texts.MIXED):
        with lzma.open(tmp_path / f"{name}.txt.xz", "wt", encoding="utf-8") as file:
            file.write("".join(mixed) if name == frontier_texts.MIXED else f"{name}\n" * 1000)
    found = {each.name: b"".join([*each.training, *each.held_out]) for each in frontier_texts.languages(tmp_path, 9999)}
    assert [*found] == [*frontier_texts.PLAIN, *frontier_texts.SCRIPTS]
    assert found["japanese"].decode() == "ひらがな\nカタカナ\nひ\n" * 40
    assert found["latin"] == b"yes\n" * 40
    assert found["code"] == b"code\n" * 1000
    assert found["tibetan"] == b""


def test_files(tmp_path):
    language = Language("x", [b"a\n", b"b\n"], ["é\n".encode(), b'"\n'])
    corpus = language.corpus(tmp_path, tmp_path)
    assert corpus.path.read_bytes() == b"a\nb\n"
    assert (corpus.language, corpus.development) == ("x", None)
    (tmp_path / "eng.txt").touch()
    english = Language("english", [], []).corpus(tmp_path, tmp_path)
    code = Language("code", [], []).corpus(tmp_path, tmp_path)
    assert (english.language, english.development) == ("english", tmp_path / "eng.txt")
    assert (code.language, code.development) == ("english", None)
    lines = language.held_out_file(tmp_path).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [{"text": "é\n"}, {"text": '"\n'}]


def test_arguments_of_a_training():
    corpora = [Corpus(Path("en.txt"), "en", Path("dev.txt")), Corpus(Path("c.txt"), "en")]
    plain = Algorithm("x", ("-a", "bbpe")).arguments(corpora, 300, Path("o.json"))
    assert plain[:5] == ["train", "en.txt", "c.txt", "-a", "bbpe"]
    assert plain[5:7] == ["-s", "300"]
    named = Algorithm("x", ("--set", "n={half}"), named=True).arguments(corpora, 300, Path("o.json"))
    assert named[:7] == ["train", "--language", "en=en.txt", "--dev", "en=dev.txt", "--language", "en=c.txt"]
    assert named[7:9] == ["--set", "n=150"]


def called(command, *_, **options):
    """Run what is not timed in this process."""
    done = call(*command[command.index("bpe_cli") + 1 :])
    return SimpleNamespace(returncode=done.status, stdout=done.out, stderr=done.err)


def test_what_a_build_cannot_train_is_left_out_with_the_reason(monkeypatch):
    """An algorithm that is not there, and one that fails; the others are measured on what was held out."""
    monkeypatch.setattr(frontier, "subprocess", SimpleNamespace(run=called))
    monkeypatch.setattr(frontier, "run", called)
    monkeypatch.setattr(machine, "BUSY", 0.01)
    monkeypatch.setattr(frontier, "ALGORITHMS", (
        Algorithm("BPE", ("-a", "bbpe")),
        Algorithm("short tokens", ("-a", "bbpe", "--max-token-length", "4")),
        Algorithm("none", ("-a", "nothing-of-that-name")),
        Algorithm("slow", ("-a", "bbpe")),
    ))  # fmt: skip
    real = frontier.train

    def train(algorithm, *arguments):
        if algorithm.name == "slow":
            raise TooSlow(60)
        return real(algorithm, *arguments)

    monkeypatch.setattr(frontier, "train", train)
    texts = [
        split("digits", b"".join(b"%d one two three\n" % number for number in range(8000)), 1 << 20),
        Language("words", [b"low lower lowest\n"] * 50, [b"low lowest\n", b"newer\n"] * 4),
    ]
    said: list[str] = []
    found = frontier.measure(texts, [300], 60, said.append)
    assert "'nothing-of-that-name' is not one of" in found["skipped"]["none"]
    assert any(line.startswith("none: left out, ") for line in said)
    assert found["skipped"]["slow 300"] == "stopped after 60 s"
    first, second = found["rows"]
    assert (first["algorithm"], second["algorithm"]) == ("BPE", "short tokens")
    assert [*first["bytes_per_token"]] == ["digits", "words", "all"]
    assert all(each["interval"] is None for each in first["bytes_per_token"].values())
    low, high = second["bytes_per_token"]["digits"]["interval"]
    assert low <= second["bytes_per_token"]["digits"]["value"] <= high
    assert 0 < first["gini"] < 1
    assert first["vocabulary"] == first["examined"] == 300
    assert "| bytes per token, words |" in frontier_page.block(found)


def test_the_table():
    lines = [
        *frontier_page.table(stored(row("BPE", 300, 2.0), row("other", 300, 3.0, (2.5, 3.25)), row("BPE", 400, 4.0)))
    ]
    assert lines[:4] == [
        "| | BPE | other |",
        "|---|---:|---:|",
        "| **300 tokens** | | |",
        "| bytes per token, greek | 2.00 | 3.00 [2.50, 3.25] |",
    ]
    assert "| bytes per token, greek | 4.00 | – |" in lines
    assert "| tokens used at most 10 times | 25.0% | 25.0% |" in lines
    assert lines.count("| training, largest memory, MB | 1,234 | 1,234 |") == 1
    assert "| tokens that no text becomes | 3 |" in [*frontier_page.table(stored(row("BPE", 300, 2.0)))]
    undecided = frontier_page.table(stored(row("BPE", 300, 2.0, undecided=4)))
    assert "| tokens that no text becomes | 3 (and 4 undecided) |" in [*undecided]


def test_circumstances_and_what_was_left_out():
    shown = frontier_page.block(stored(row("BPE", 300, 2.0), skipped={"MinGram": "there is no 'mingram'"}))
    assert "Learnt from 2.0 MB (greek 2.0 MB); measured on 0.25 MB in 7 documents" in shown
    assert shown.endswith("- Not measured: MinGram: there is no 'mingram'")


def test_rendering_and_checking(tmp_path):
    page, figures = tmp_path / "page.md", tmp_path / "figures.json"
    page.write_text(f"before\n{frontier_page.BEGIN}\n{frontier_page.END}\nafter\n", encoding="utf-8")
    figures.write_text(json.dumps(stored(row("BPE", 300, 2.0))), encoding="utf-8")
    files = ["-o", str(figures), "--page", str(page)]
    assert frontier.main(["--check", *files]) == 1
    assert frontier.main(["--render", *files]) == 0
    assert frontier.main(["--check", *files]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "| bytes per token, greek | 2.00 |" in text
    with pytest.raises(ValueError, match="the page has no"):
        frontier_page.with_table("no markers", stored())


def test_the_page_shows_what_is_stored():
    assert frontier.main(["--check"]) == 0, "run benchmarks/frontier.py --render"
