"""The textbook of tokenizer-extension learns, orders and encodes as the paper's code does."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
import regex

from bpe_cli.teaching.frontier.extension import (
    by_frequency,
    by_merges,
    learn,
    leaves_by,
    merges_of_vocabulary,
    ranks_of,
    segment,
    without,
)
from tests.differential.frontier import case, digest, in_documents, texts, used, visible

CASES = ("botchan700-ru500", "shakespeare1200-botchan-code800-max8")


def pairs(recorded: list[list[str]]) -> list[tuple[str, str]]:
    return [(left, right) for left, right in recorded]


def pieces_of(recorded, text: str) -> list[str]:
    return [visible(piece) for piece in regex.findall(recorded["pretokenizer_regex"], text)]


@cache
def extension_pieces(shared, name: str) -> Counter[str]:
    """Count the pieces of the documents that were extended by."""
    recorded = case(shared, "tokenizer-extension", name)
    parts = [used(shared, source) for source in recorded["extension_inputs"]]
    documents = [document for part in parts for document in in_documents(part, 10)]
    assert len(documents) == recorded["extension_docs"]
    assert digest(documents) == recorded["extension_docs_sha256_of_json_list"]
    return Counter(piece for document in documents for piece in pieces_of(recorded, document))


def extended(recorded) -> tuple[list[str], list[tuple[str, str]]]:
    tokens = list(dict.fromkeys(recorded["base_vocab"] + recorded["extension_vocab"]))
    return tokens, pairs(recorded["base_merges"] + recorded["extension_merges"])


def pruned_tokenizer(recorded) -> tuple[list[str], list[tuple[str, str]]]:
    if recorded["pruning_of"] == "extended":
        return extended(recorded)
    assert recorded["pruning_of"] == "base"
    return recorded["base_vocab"], pairs(recorded["base_merges"])


def encoded(shared, recorded, tokens, merges, names) -> dict[str, list[int]]:
    ids, ranks = {token: token_id for token_id, token in enumerate(tokens)}, ranks_of(merges)

    @cache
    def ids_of(piece: str) -> list[int]:
        return [ids[token] for token in segment(piece, ranks)[0]]

    given = texts(shared)
    return {name: [each for piece in pieces_of(recorded, given[name]) for each in ids_of(piece)] for name in names}


@pytest.mark.parametrize("name", CASES)
def test_recorded_extension(shared, name):
    recorded = case(shared, "tokenizer-extension", name)
    options = recorded["params"]
    base = pairs(recorded["base_merges"])
    found = learn(extension_pieces(shared, name), base, options["ext_size"],
                  max_token_length=options.get("max_token_length"))  # fmt: skip
    assert found == pairs(recorded["extension_merges"])
    assert ["".join(pair) for pair in found] == recorded["extension_vocab"]
    known, _ = extended(recorded)
    alone = merges_of_vocabulary(set(known), recorded["extension_vocab"])
    assert alone == pairs(recorded["merges_generated_from_vocab_alone"])


@pytest.mark.parametrize("name", CASES)
def test_recorded_encodings(shared, name):
    recorded = case(shared, "tokenizer-extension", name)
    tokens, merges = extended(recorded)
    assert encoded(shared, recorded, tokens, merges, recorded["encodings"]) == recorded["encodings"]
    pruned = recorded["leaf_frequency_pruned"]
    left = encoded(shared, recorded, pruned["vocab"], pairs(pruned["merges"]), pruned["encodings"])
    assert left == pruned["encodings"]


@pytest.mark.parametrize("name", CASES)
def test_recorded_orders_of_pruning(shared, name):
    recorded = case(shared, "tokenizer-extension", name)
    tokens, merges = pruned_tokenizer(recorded)
    pieces = extension_pieces(shared, name)
    frequencies: Counter[str] = Counter()
    ranks = ranks_of(merges)
    for piece, count in pieces.items():
        for token in segment(piece, ranks)[0]:
            frequencies[token] += count
    orders = {
        "leaf_frequency": list(leaves_by(tokens, merges, frequencies)),
        "leaf_last_n": list(leaves_by(tokens, merges)),
        "merge_based": by_merges(tokens, merges, pieces),
        "frequency": by_frequency(tokens, frequencies),
        "last_n": tokens[::-1],
    }
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    assert {name: [ids[token] for token in order] for name, order in orders.items()} == recorded["pruning_orders"]
    pruned = recorded["leaf_frequency_pruned"]
    gone = set(orders["leaf_frequency"][: pruned["n"]])
    assert without(tokens, merges, gone) == (pruned["vocab"], pairs(pruned["merges"]))
