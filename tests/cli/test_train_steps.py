"""``bpe train --steps`` with the pairs that competed, as JSON and as a page."""

from __future__ import annotations

import json

import pytest

from tests.cli_runner import call, error
from tests.unit.views.page.reading import Page

TEXT = ("-T", "hug hug hug pug pug pun pun bun hugs hugs")
KINDS = {
    "merges": ("-a", "bbpe", "-s", "260"),
    "scores": (
        "-a", "wordpiece", "-s", "17", "--set", "rule=score", "--min-frequency", "1", "--initial-alphabet", "seen",
    ),
    "losses": ("-a", "unigram", "-s", "14", "--set", "rule=textbook"),
    "estimation": ("-a", "unigram", "-s", "19"),
    "cover": ("-a", "greedtok", "-s", "262"),
    "rounds": ("-a", "maxmatch",),
    "thresholds": ("-a", "wordpiece", "-s", "40", "--set", "rule=tensorflow", "--initial-alphabet", "seen"),
    "pieces": ("-a", "char",),
    "bytes": ("-a", "byte",),
    "scored-pieces": ("-a", "bpe", "--compat", "sentencepiece", "-s", "14"),
}  # fmt: skip
COMPETING = ("merges", "scores", "losses", "estimation", "cover", "rounds")


def train(*options):
    return call("train", *TEXT, *options, "--steps", "-q")


def test_pairs_with_counts_and_ties():
    lines = train("-a", "bbpe", "-s", "259", "--pairs", "3").text.split("\n")
    at = lines.index("step 3: Ġ + p -> Ġp, 4 times")
    assert lines[at + 1 : at + 5] == [
        "   pairs  Ġ + p    4  taken",
        "          Ġ + hug  4  tied",
        "          u + n    3",
        "          and 5 more pairs",
    ]


def test_scores_and_losses():
    shown = train(*KINDS["scores"], "--pairs", "2").text
    assert "\n   pairs  ##g + ##s  1/7 = 2 / (7 * 2)    taken\n          ##u + ##g  1/10 = 7 / (10 * 7)\n" in shown
    shown = train(*KINDS["losses"], "--pairs", "2").text
    assert "  goes\n" in shown
    assert "  losses  " in shown


def test_nothing_is_said_of_pairs_unless_it_is_asked_for():
    assert "pairs" not in train("-s", "259").text
    assert train("-s", "259").text == train("-s", "259", "--pairs", "0").text


def test_full_shortens_nothing():
    few, full = train(*KINDS["losses"]).text, train(*KINDS["losses"], "--full").text
    assert " more token" not in full
    assert "..." not in full
    assert len(full) > len(few)
    pairs = train("-s", "258", "--full").text
    assert pairs.count("\n") > train("-s", "258", "--pairs", "3").text.count("\n")


@pytest.mark.parametrize("kind", KINDS)
def test_json(kind):
    report = json.loads(train(*KINDS[kind], "--json").out)
    assert (report["schema"], report["family"]) == ("bpe.train.steps/1", kind)
    assert list(report) == ["schema", "algorithm", "family", "words", "steps", "tokens", "vocabulary", "tie"]
    for step in report["steps"]:
        assert len(step["candidates"]) <= 10
        assert all(len(each["parts"]) == (2 if kind in ("merges", "scores") else 1) for each in step["candidates"])
    if kind in ("merges", "scores"):
        assert all(step["candidates"][0] == step["taken"][0] for step in report["steps"])
        assert report["tie"] in ("lowest-ids", "most-frequent")
    full = json.loads(train(*KINDS[kind], "--json", "--full").out)
    assert all(len(step["candidates"]) == step["candidate_count"] for step in full["steps"])


def test_json_has_the_bytes():
    report = json.loads(call("train", "-T", "你你", "-s", "257", "--steps", "--json", "-q").out)
    assert report["steps"][0]["taken"][0]["parts"] == [{"bytes": "bd"}, {"bytes": "a0"}]


@pytest.mark.parametrize("kind", KINDS)
def test_a_page(kind, tmp_path):
    done = call("train", *TEXT, *KINDS[kind], "--steps", "--html", "steps.html", cwd=tmp_path)
    assert (done.status, done.out) == (0, b"")
    assert "wrote steps.html" in done.err
    page = Page((tmp_path / "steps.html").read_text(encoding="utf-8"))
    assert any(name == "section" for name, _ in page.elements)
    again = call("train", *TEXT, *KINDS[kind], "--steps", "--html", "-", "-q", cwd=tmp_path)
    assert again.out == (tmp_path / "steps.html").read_bytes()


def test_json_beside_a_page_and_a_file(tmp_path):
    done = call(
        "train", *TEXT, "-s", "258", "--steps", "--html", "s.html", "--json", "-o", "t.json", "-q", cwd=tmp_path
    )
    assert json.loads(done.out)["schema"] == "bpe.train.steps/1"
    assert {each.name for each in tmp_path.iterdir()} == {"s.html", "t.json"}


@pytest.mark.parametrize("option", ["--pairs 3", "--full", "--json", "--html x.html"])
def test_options_of_steps_need_steps(option, tmp_path):
    name = option.split()[0]
    assert call("train", *TEXT, "-s", "258", *option.split(), cwd=tmp_path) == (
        2, b"", error(f"{name} is for --steps", "--steps shows the training step by step"),
    )  # fmt: skip


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in COMPETING])
def test_where_nothing_competes_nothing_is_shown(kind, tmp_path):
    done = call("train", *TEXT, *KINDS[kind], "--steps", "--pairs", "3", "-o", "new.json", cwd=tmp_path)
    assert (done.status, done.out) == (2, b"")
    assert done.err.endswith(error("nothing competes in the steps of this algorithm", "leave --pairs out"))
    assert list(tmp_path.iterdir()) == []


def test_refusals(tmp_path):
    assert train("-s", "258", "--full", "--pairs", "3").err == error(
        "--full shows all pairs, and --pairs some", "give one of them"
    )
    same = call("train", *TEXT, "-s", "258", "--steps", "--html", "a.html", "-o", "./a.html", cwd=tmp_path)
    assert same.err == error("-o and --html would both be written to a.html", "name a file each")
    (tmp_path / "in.txt").write_text("hug hug")
    kept = call("train", "in.txt", "-s", "258", "--steps", "--html", "in.txt", cwd=tmp_path)
    assert kept.status == 2
    assert "--html would replace the input in.txt" in kept.err
    assert call("train", *TEXT, "-s", "258", "--steps", "--html", "-", "--json").err == error(
        "--json and --html would both be written to stdout", "name a file each"
    )
