"""Parity-aware BPE, textbook and trainer: the merges of the paper's code, chosen by the same languages."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import islice

import pytest

from bpe_cli import train
from bpe_cli.stages.spelling import ALPHABET_ORDER, from_visible, to_visible
from bpe_cli.teaching.frontier.parity import Step, learn, tokens
from tests.differential.frontier import case, texts, used, visible
from tests.oracle.merging import merge
from tests.oracle.pre_tokenize import whitespace
from tests.thorough import more

METHOD = "parity-aware-bpe"

CASES = ("base-600-4langs", "base-1500-global400-4langs", "base-1200-ratio-udhr6", "base-4000-udhr6",
         "base-400-preload600-bytelevel-4langs", "window-1500-w100-a2-4langs")  # fmt: skip

MOST_STEPS = more(300, None)
"""How many merges of a case the textbook makes again; the trainer makes all of them, below."""

HUNTED = more({"base-600-4langs", "base-1500-global400-4langs", "base-400-preload600-bytelevel-4langs"}, set())
"""Long texts, of which a hunt alone has the textbook make the merges: the trainer makes them, and is held to it."""


def pieces_of(text: str, whole: bool) -> list[str]:
    """Cut a text as the paper does: every piece gets a space, whether it had one or not."""
    if whole:
        return [visible(text if text.startswith(" ") else " " + text)] if text else []
    return [visible(" " + piece) for piece, _ in whitespace(text)]


def counted(text: str, whole_lines: bool) -> Counter[tuple[str, ...]]:
    lines = text.splitlines(keepends=True)
    return Counter(tuple(piece) for line in lines for piece in pieces_of(line, whole_lines))


def trained(shared, name: str) -> list[Step]:
    recorded = case(shared, METHOD, name)
    options = recorded["params"]
    whole_lines = "pretokenize" in options
    languages, development = (
        [counted(used(shared, source), whole_lines) for source in recorded[key]] for key in ("inputs", "dev")
    )
    steps = learn(
        languages,
        options["symbols"],
        development=development or None,
        ratios=options.get("ratio"),
        shared_merges=options.get("global", 0),
        window=options.get("window"),
        alpha=options.get("alpha", 2),
        preload=preloaded(shared, name),
    )
    return list(islice(steps, MOST_STEPS))


def preloaded(shared, name: str) -> list[tuple[str, str]]:
    named = case(shared, METHOD, name)["params"].get("preload")
    if named is None:
        return []
    assert named == "merges of base-600-4langs.json"
    return [(left, right) for left, right in case(shared, METHOD, "base-600-4langs")["merges"]]


@pytest.mark.parametrize("name", [name for name in CASES if name not in HUNTED])
def test_recorded_merges(shared, name):
    recorded, steps = case(shared, METHOD, name), trained(shared, name)
    with_sum = "global" in recorded["params"]
    assert [list(step.pair) for step in steps] == recorded["merges"][:MOST_STEPS]
    languages = [-1 if step.language is None else step.language for step in steps]
    assert languages == recorded["selected_language"][:MOST_STEPS]
    counts = [[*step.counts, *([sum(step.counts)] if with_sum else [])] for step in steps]
    assert counts == recorded["pair_counts"][:MOST_STEPS]


@pytest.mark.parametrize("name", CASES)
def test_recorded_encodings(shared, name):
    recorded = case(shared, METHOD, name)
    pairs = preloaded(shared, name) + [(left, right) for left, right in recorded["merges"]]
    ids = {token: number for number, token in enumerate(tokens(to_visible(ALPHABET_ORDER), pairs))}
    ranks = {pair: number for number, pair in reversed(list(enumerate(pairs)))}

    def order(left: str, right: str) -> tuple[float, str] | None:
        rank = ranks.get((left, right))
        return None if rank is None else (rank, left + right)

    @cache
    def encoded(piece: str) -> list[int]:
        return [ids[token] for token in merge(piece, order)]

    given, whole = texts(shared), "pretokenize" in recorded["params"]
    found = {
        name: [token_id for piece in pieces_of(given[name], whole) for token_id in encoded(piece)]
        for name in recorded["encodings"]
    }
    assert found == recorded["encodings"]


@pytest.mark.parametrize("name", CASES)
def test_the_trainer_learns_what_was_recorded(shared, name):
    recorded = case(shared, METHOD, name)
    options = recorded["params"]
    whole = "pretokenize" in options
    corpora, development = (
        {str(number): pieces(used(shared, source), whole) for number, source in enumerate(recorded[key])}
        for key in ("inputs", "dev")
    )
    preload = preloaded(shared, name)
    pairs = preload + [(left, right) for left, right in recorded["merges"]]
    size = len(tokens(to_visible(ALPHABET_ORDER), pairs))
    ratios = {str(number): ratio for number, ratio in enumerate(options.get("ratio", ()))}
    tokenizer = train(
        corpora,
        vocab_size=size,
        pattern="",
        parity=True,
        development=development or None,
        ratios=None if development else ratios,
        shared_merges=options.get("global", 0),
        window=options.get("window"),
        window_alpha=options.get("alpha", 2),
        preload=[f"{left} {right}" for left, right in preload],
    )
    token = tokenizer.model.vocabulary.token
    made = [(to_visible(token(left)), to_visible(token(right))) for left, right, _ in tokenizer.model.merges]
    assert tokenizer.vocab_size == size
    assert made == pairs[: len(made)]
    texts_of_tokens = {to_visible(token(token_id)) for token_id in range(size)}
    assert {left + right for left, right in pairs[len(made) :]} <= texts_of_tokens  # merges that make no token
    given = texts(shared)
    for text_name, ids in recorded["encodings"].items():
        found = [tokenizer.encode(from_visible(piece).decode()) for piece in pieces_of(given[text_name], whole)]
        assert [token_id for each in found for token_id in each] == ids, text_name


def pieces(text: str, whole: bool) -> list[bytes]:
    """Return all pieces of a text, each of which is a document here, so that nothing cuts it."""
    return [from_visible("".join(word)) for word in counted(text, whole).elements()]
