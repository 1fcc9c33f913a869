"""A split pattern that cuts before combining marks is told of, with one that does not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import compare, inspect, train
from bpe_cli.reports.comparison.cut_clusters import MOST_INPUTS, beginnings, cut_clusters
from bpe_cli.reports.text.clusters import better_pattern, cluster_cuts, cluster_warning, cuts_of
from bpe_cli.stages.patterns import PATTERNS, RUNS_WITH_MARKS, SAMPLE
from bpe_cli.support.blocks import Block
from tests.cli_runner import call
from tests.needs import needs

SENTENCES = {
    "thai": "เช้านี้ฝนตกหนัก แม่น้ำเต็มฝั่งแล้ว",
    "hindi": "आज सुबह नदी के किनारे बच्चे पतंग उड़ाते हैं।",
    "khmer": "ព្រឹកនេះមេឃភ្លៀង ក្មេងៗនៅផ្ទះ។",
}


def of_pattern(pattern: str):
    return train(["a"], vocab_size=256, pattern=pattern)


def test_worked_example():
    """Of five clusters, two are cut: ki with its tone mark, twice; a cut beside a cluster is none."""
    text = "กี่กี่ ab".encode()
    cuts = cluster_cuts(text, [3, 9, 12, 18, 19])
    assert (cuts.clusters, cuts.cut, cuts.example, cuts.start) == (5, 2, "กี่".encode(), 0)
    assert cuts.share == 0.4
    assert cluster_cuts(b"a\r\nb", [2]).share == 0
    assert cluster_cuts("é\r\n".encode(), [2, 3]).clusters == 3
    assert cluster_cuts(b"", []).share == 0


def test_a_mark_that_a_normalizer_strips_is_not_cut_off():
    bert = train(["cafe"], algorithm="wordpiece", vocab_size=60)
    text = "cafe\u0301 au lait, de\u0301ja\u0300".encode()
    pieces = bert.engine.pieces(text)
    assert {*pieces.source_ends} - {*pieces.source_starts} > {4}
    assert cuts_of(bert, text).cut == 0


@given(st.text("กี่ा斯é\u0301\u200d👩🇩a \r\n", max_size=20), st.lists(st.integers(0, 60)))
def test_against_the_definition(text, places):
    regex = needs("regex")
    data = text.encode()
    inside, total, position = 0, 0, 0
    for cluster in regex.findall(r"\X", text):
        if cluster == "\r\n":
            total, position = total + 2, position + 2
            continue
        end = position + len(cluster.encode())
        inside += any(position < place < end for place in places)
        total, position = total + 1, end
    cuts = cluster_cuts(data, [place for place in places if place <= len(data)])
    assert (cuts.clusters, cuts.cut) == (total, inside)


@pytest.mark.parametrize("language", SENTENCES)
def test_languages_with_marks(language):
    text = SENTENCES[language].encode()
    for pattern in ("gpt2", "cl100k", "llama3", "qwen2", "nanochat"):
        assert cuts_of(of_pattern(pattern), text).share > 0.1
        [warning] = cluster_warning(of_pattern(pattern), text)
        assert warning.kind == "clusters"
        assert "the pattern o200k does not" in warning.hint
        assert text[warning.start : warning.end].decode() in warning.message
    for pattern in ("o200k", "tekken", "none"):
        assert [*cluster_warning(of_pattern(pattern), text)] == []


@pytest.mark.parametrize(
    "text", ["plain text", "Ein schöner Tag für Füchse", "今日は雨です", "👩‍👩‍👧 and 🇩🇪", "a\r\nb é"]
)
def test_ordinary_text_is_not_told_of(text):
    for pattern in ("gpt2", "llama3", "o200k"):
        assert [*cluster_warning(of_pattern(pattern), text.encode())] == []


def test_a_few_are_not_told_of():
    """One in two hundred is below the threshold of one in a hundred."""
    text = ("x" * 199 + "กี่").encode()
    cuts = cuts_of(of_pattern("llama3"), text)
    assert (cuts.clusters, cuts.cut) == (200, 1)
    assert [*cluster_warning(of_pattern("llama3"), text)] == []
    assert [*cluster_warning(of_pattern("llama3"), text[-108:])] != []


def test_no_pattern_is_named_where_all_cut():
    """A digit with a mark: digits and marks are in different alternatives of every pattern."""
    text = "1\u0301 2\u0301".encode()
    assert cuts_of(of_pattern("o200k"), text).cut == 2
    assert better_pattern(text, 2, {name: pattern.regex for name, pattern in PATTERNS.items()}) is None


def test_only_the_beginning_is_looked_at():
    text = b"x" * SAMPLE + SENTENCES["thai"].encode() * 1000
    assert [*cluster_warning(of_pattern("llama3"), text)] == []


def test_inspect_says_so():
    report = inspect(of_pattern("llama3"), SENTENCES["hindi"])
    assert "clusters" in report.to_json()


def test_inspecting_a_tokenizer_over_a_corpus_says_so(tmp_path):
    (tmp_path / "thai.txt").write_text(SENTENCES["thai"] * 20, encoding="utf-8")
    for pattern, expected in (("llama3", 1), ("o200k", 0)):
        of_pattern(pattern).save(tmp_path / "t.json")
        done = call("inspect", "-t", "t.json", "--corpus", "thai.txt", "--json", cwd=tmp_path)
        assert done.status == 0
        assert done.err.count("note: the split pattern cuts 34.8%") == expected


def test_training_and_extending_say_so(tmp_path):
    (tmp_path / "thai.txt").write_text(SENTENCES["thai"] * 20, encoding="utf-8")
    (tmp_path / "english.txt").write_text("low lower lowest")
    said = "note: the split pattern cuts 34.8%"
    for block in ("7", "100000"):
        done = call("train", "thai.txt", "-s", "270", "--pattern", "llama3", "--block-size", block, "-o", "t.json",
                    cwd=tmp_path)  # fmt: skip
        assert done.err.startswith(said)
        assert "the pattern o200k does not cut them" in done.err.splitlines()[0]
    extended = call("convert", "t.json", "--extend", "thai.txt", "--add", "2", "-o", "u.json", cwd=tmp_path)
    assert extended.err.startswith(said)
    for options in (("thai.txt", "--pattern", "o200k"), ("english.txt", "--pattern", "llama3")):
        assert "cuts" not in call("train", *options, "-s", "257", "-o", "v.json", cwd=tmp_path).err


def test_comparing_says_so(tmp_path):
    (tmp_path / "thai.txt").write_text(SENTENCES["thai"] * 20, encoding="utf-8")
    (tmp_path / "hindi.txt").write_text(SENTENCES["hindi"] * 20, encoding="utf-8")
    (tmp_path / "english.txt").write_text("low lower lowest")
    for pattern in ("llama3", "o200k"):
        of_pattern(pattern).save(tmp_path / f"{pattern}.json")
    asked = ("-t", "o200k.json", "-t", "llama3.json")
    for apart in ((), ("--tallies-dir", "tallies")):
        alone = call("compare", "thai.txt", *asked, *apart, cwd=tmp_path).out.decode()
        told = " ".join(alone.split())
        assert "llama3.json: the split pattern cuts 34.8% of the characters that readers see, 'ช้' first;" in told
        assert "the pattern o200k does not cut them" in told
        assert told.count("split pattern") == 1
    several = call("compare", "english.txt", "thai.txt", "hindi.txt", *asked, cwd=tmp_path).out.decode()
    assert "see in hindi.txt (and some of 1 more input)" in " ".join(several.split())
    assert b"split pattern" not in call("compare", "english.txt", *asked, cwd=tmp_path).out


def test_a_comparison_holds_what_is_cut():
    two = [of_pattern("o200k"), of_pattern("llama3")]
    report = compare(two, SENTENCES["thai"])
    found = json.loads(report.to_json())["cut_clusters"]
    text = SENTENCES["thai"].encode()
    cuts = cuts_of(two[1], text)
    assert found == [{
        "tokenizer": 1, "input": "text", "cluster_count": cuts.clusters, "cut_count": cuts.cut, "share": cuts.share,
        "example": cuts.example.decode(), "pattern": "o200k",
    }]  # fmt: skip
    for form in (report.to_markdown(), report.to_html()):
        assert "the pattern o200k does not cut them" in form


def test_the_first_inputs_are_looked_at():
    """Of each as many bytes, so that more inputs take no more time, and documents apart."""
    sample = beginnings(1000)
    assert sample.limit * MOST_INPUTS == SAMPLE
    assert beginnings(1).limit == beginnings(0).limit == SAMPLE
    [*sample.watch("two", [Block.of(["กี่".encode(), "กี่ a".encode()])])]
    [found] = cut_clusters([of_pattern("llama3")], sample)
    assert (found.cluster_count, found.cut_count) == (5, 2)


def test_superwords_are_told_of_runs_that_keep_marks():
    text = "เก็บน้ำไว้ที่นี่ วันนี้ " * 10
    warnings = [*cluster_warning(train([text], vocab_size=280, superwords=True), text.encode())]
    assert [warning.hint for warning in warnings] == [
        f"no token can hold such a character, and the pattern {RUNS_WITH_MARKS} does not cut them"
    ]
    kept = train([text], vocab_size=280, superwords=True, run_pattern=RUNS_WITH_MARKS)
    assert [*cluster_warning(kept, text.encode())] == []
