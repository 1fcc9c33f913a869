"""The health report and the look-up on the screen and as JSON: golden files, hostile tokens, narrow terminals."""

from __future__ import annotations

import json
import re

import pytest
from rich.cells import cell_len

from bpe_cli.reports.tokenizer.contents import NamedToken
from bpe_cli.reports.tokenizer.corpus_report import count_frequencies, examine_corpus
from bpe_cli.reports.tokenizer.health import findings
from bpe_cli.reports.tokenizer.lookup import look_up
from bpe_cli.reports.tokenizer.reachability.examine import examine
from bpe_cli.reports.tokenizer.structure import Anatomy, TreeNode, examine_structure
from bpe_cli.reports.tokenizer.vocabulary_report import describe
from bpe_cli.stages import RankBpe, SpecialToken
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.views.as_json import cards_json, json_value
from bpe_cli.views.blocks import Blocks
from bpe_cli.views.residues import residues_view
from bpe_cli.views.structure import bracketed, findings_view, reachability_view
from bpe_cli.views.vocabulary import card_view, corpus_view
from tests.unit.views.golden import CONSOLES, check, render, structure_view, vocabulary_view

BYTES = [bytes([byte]) for byte in range(256)]
TEXTS = ["th", "he", " t", " th", " the", "the", "The", "  ", "    ", "\n\n", "10", "20", "谁谁", "жa", "--", "----"]
HOSTILE = ["\x1b[2J", "\u202e\u202e", "<b>", "[red]", "a\ufffd", "|·", "\u0301\u0301\u0301"]
TOKENS = [*BYTES, *(text.encode() for text in TEXTS), b"\xe8\xb0", b"\xff\xff", *(text.encode() for text in HOSTILE)]
TINY = Anatomy(
    Tokenizer(
        RankBpe(Vocabulary.from_tokens(TOKENS)), special_tokens=(SpecialToken(b"<s>\x1b", 400),), name="tiny\x1b[2J"
    )
)
STRUCTURE = examine_structure(TINY)
FREQUENCIES = count_frequencies(TINY.tokenizer, [Block.of([b" the The----", " the 谁谁".encode()] * 60)])
CORPUS = examine_corpus(TINY, FREQUENCIES)
FOUND = findings(TINY.tokenizer, describe(TINY.tokenizer), STRUCTURE, CORPUS)
CARDS = [look_up(TINY, token_id, frequencies=FREQUENCIES) for token_id in (ord("t"), 260, 272, 274, 400)]
EVERYTHING = Blocks(
    findings_view(FOUND), structure_view(STRUCTURE), corpus_view(CORPUS), residues_view(CORPUS.residues),
    *(card_view(card) for card in CARDS),
)  # fmt: skip


@pytest.mark.parametrize("width", [80, 40])
def test_golden(width):
    shown = render(EVERYTHING, width=width)
    check(f"health-{width}", shown)
    assert all(cell_len(line) <= width for line in shown.splitlines())


@pytest.mark.parametrize("console", ["256", "no-color"])
def test_golden_report_in_colour(console):
    sections = [
        structure_view(STRUCTURE),
        reachability_view(examine(TINY.tokenizer)),
        corpus_view(CORPUS),
        residues_view(CORPUS.residues),
    ]
    report = Blocks(findings_view(FOUND), vocabulary_view(describe(TINY.tokenizer)), *sections)
    shown = render(report, **CONSOLES[console])
    check(f"health-report-{console}", shown)


@pytest.mark.parametrize("console", ["256", "no-color"])
def test_golden_look_up_in_colour(console):
    verdicts = examine(TINY.tokenizer, [card.token.token_id for card in CARDS]).verdicts
    cards = [
        look_up(TINY, token_id, verdict=verdict, frequencies=FREQUENCIES) for token_id, verdict in verdicts.items()
    ]
    check(f"look-up-{console}", render(Blocks(*map(card_view, cards)), **CONSOLES[console]))


def test_nothing_hostile_passes():
    shown = render(EVERYTHING, width=80)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]{2}|\u0301{9}|[\x1b\u202e]", shown)
    assert "[red]" in shown


def test_full_shows_all():
    chain = [b"a" * length for length in range(1, 41)]
    anatomy = Anatomy(Tokenizer(RankBpe(Vocabulary.from_tokens(chain))))
    card = look_up(anatomy, 39)
    assert len(card.tree) == 79
    short, full = (render(card_view(card, full=full), width=80) for full in (False, True))
    assert "…" in short
    assert "…" not in full
    scripts = Anatomy(Tokenizer(RankBpe(Vocabulary.from_tokens(letter.encode() for letter in "aжαאا한谁のアกაաअআஅఅ"))))
    structure = examine_structure(scripts)
    shown, full = (render(structure_view(structure, full=full), width=80) for full in (False, True))
    assert ("4 more" in shown, "Telugu" in shown) == (True, False)
    assert ("more" in full, "Telugu" in full) == (False, True)


def nodes(*levels):
    return [TreeNode(level, NamedToken(0, content), made) for level, content, made in levels]


def test_trees_in_brackets():
    tree = nodes((0, b"abc", True), (1, b"ab", True), (2, b"a", False), (2, b" ", False), (1, b"[", False))
    assert bracketed(tree) == "[[a ·] []"
    assert bracketed(tree[:3]) == "[[a …"
    assert bracketed(tree, 3) == "[[a …"
    assert bracketed(nodes((0, b"a", False))) == "a"
    deep = [TreeNode(level, NamedToken(0, b"x"), True) for level in range(100_000)]
    assert bracketed(deep) == "[" * 160 + "…"


def test_json():
    report = {
        "findings": json_value(FOUND), "structure": json_value(STRUCTURE), "corpus": json_value(CORPUS),
        **cards_json(TINY.tokenizer.name, CARDS),
    }  # fmt: skip
    assert report == json.loads(json.dumps(report, allow_nan=False))
    assert report["findings"][0] == {"good": True, "about": "bytes", "text": "any text can be encoded"}
    structure = report["structure"]
    assert structure["digits"][1]["missing"][:2] == ["00", "01"]
    assert structure["cuts"][-1] == {
        "name": "impossible", "tokens": 14, "single_bytes": 13, "examples": [{"id": 273, "text": {"bytes": "ffff"}}],
    }  # fmt: skip
    assert structure["merge_tree"]["depths"] == [[0, 265], [1, 10], [2, 5], [3, 1]]
    assert report["corpus"]["head"][2] == {"id": 260, "text": " the", "count": 120, "frequency": 0.2}
    assert report["schema"] == "bpe.inspect.tokens/1"
    card = report["tokens"][1]
    assert (card["id"], card["bytes"], card["corpus"]["made"]) == (260, "20746865", 120)
    assert [node["level"] for node in card["tree"]] == [0, 1, 2, 2, 3, 3, 1]


def test_an_empty_tokenizer():
    anatomy = Anatomy(Tokenizer(RankBpe(Vocabulary.from_tokens([]))))
    structure, corpus = examine_structure(anatomy), examine_corpus(anatomy, count_frequencies(anatomy.tokenizer, []))
    assert render(structure_view(structure), width=80) == ""
    assert "it has no token" in render(corpus_view(corpus), width=80)
    json.dumps([json_value(structure), json_value(corpus)], allow_nan=False)
