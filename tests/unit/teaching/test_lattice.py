"""The lattice against all segmentations there are."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching.unigram import arrivals, best, best_path, best_segmentations, log_total
from tests.oracle.segmentations import segmentations

# Eighths, which add up exactly.
scores = st.dictionaries(st.text("ab", min_size=1, max_size=3), st.integers(-16, 0).map(lambda n: n / 8), max_size=8)


def lattice(piece, model, unknown=-10.0):
    found = list(arrivals(piece, model, unknown))
    return found, [[way.edge for way in ways] for ways in found]


def test_a_textbook_s_word():
    # Hugging Face's course: counts of 210, and "pug" is best as "pu" + "g".
    counts = {"h": 15, "u": 36, "g": 20, "hu": 15, "ug": 20, "p": 17, "pu": 17, "n": 16, "un": 16, "b": 4}
    model = {token: math.log(count / 210) for token, count in counts.items()}
    found, edges = lattice("pug", model)
    assert [[way.edge.token for way in ways] for ways in found] == [["p"], ["pu", "u"], ["ug", "g"]]
    assert math.exp(best(found[-1]).total) == pytest.approx(0.0077098, abs=1e-6)
    ranked = best_segmentations(edges, 9)
    # The two best have the same product, 17 * 20 / 210^2, but for rounding.
    assert {" ".join(edge.token for edge in path) for _, path in ranked[:2]} == {"pu g", "p ug"}
    assert [edge.token for edge in ranked[2][1]] == ["p", "u", "g"]
    assert math.exp(ranked[2][0]) == pytest.approx(17 / 210 * 36 / 210 * 20 / 210)


@given(piece=st.text("abc", min_size=1, max_size=8), model=scores, wanted=st.integers(1, 9))
def test_against_all_segmentations(piece, model, wanted):
    found, edges = lattice(piece, model)
    # An unknown character is a token at the unknown score, where no token is that character.
    every = dict(model) | {character: -10.0 for character in piece if character not in model}
    ways = dict(segmentations(piece, every))
    ranked = best_segmentations(edges, wanted)
    assert [total for total, _ in ranked] == sorted(ways.values(), reverse=True)[:wanted]
    assert len({tuple(edge.token for edge in path) for _, path in ranked}) == len(ranked)
    for total, path in ranked:
        assert ways[tuple(edge.token for edge in path)] == total
    path = best_path([best(here).edge for here in found])
    assert ways[tuple(edge.token for edge in path)] == max(ways.values()) == best(found[-1]).total
    assert log_total(edges) == pytest.approx(math.log(math.fsum(map(math.exp, ways.values()))))


def test_a_long_piece():
    _, edges = lattice("ab" * 3000, {"a": -1.0, "b": -1.0, "ab": -1.5})
    (first, path), (second, _) = best_segmentations(edges, 2)
    assert (first, len(path), second) == (-4500.0, 3000, -4500.5)
