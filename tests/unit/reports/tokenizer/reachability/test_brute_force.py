"""Reachability against all texts up to some length, for small tokenizers of every kind."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from bpe_cli.reports.tokenizer.reachability import REACHABLE
from bpe_cli.reports.tokenizer.reachability.examine import examine
from bpe_cli.stages import (
    NFC,
    NFD,
    NFKC,
    NFKD,
    BertNormalizer,
    Charsmap,
    Lowercase,
    Precompiled,
    RankBpe,
    Replace,
    SpaceMarks,
    Split,
    StripAccents,
)
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.charsmaps import in_base64
from tests.thorough import more
from tests.unit.reports.tokenizer.reachability.random_tokenizers import (
    MODELS,
    PATTERNS,
    all_texts,
    produced,
    tokenizer,
)

TOKENIZERS = more(8, 100)


def check(made, alphabet, longest):
    """Check the verdicts on all tokens; give how many are of each layer, and how many were missed."""
    found = produced(made, all_texts(alphabet, longest))
    ids = set(dict(made.model.vocabulary.items())) | set(made.special_ids)
    reachability = examine(made, ids)
    assert reachability.examined == len(ids) == sum(count for _, count in reachability.counts)
    assert list(reachability.verdicts) == sorted(ids)
    missed = 0
    for token_id, verdict in reachability.verdicts.items():
        assert (verdict.layer in REACHABLE) == (verdict.reachable is True)
        assert (verdict.layer == "undecided") == (verdict.reachable is None)
        if verdict.reachable:
            assert token_id in made.encode(verdict.witness), verdict
        else:
            assert verdict.reason
            assert verdict.witness is None
        if verdict.reachable is False:
            assert token_id not in found, (verdict, made)
        missed += token_id in found and not verdict.reachable
    return Counter(dict(reachability.counts)) + Counter(missed=missed)


@pytest.mark.parametrize("model", MODELS)
def test_no_token_that_a_short_text_becomes_is_called_unreachable(model):
    layers = Counter()
    for seed in range(TOKENIZERS):
        made = tokenizer(Random(f"{model} {seed}"), model)
        alphabet, longest = ("abA1!中 ", 4) if model == "word_piece" else ("ab1 ", 5)
        layers += check(made, alphabet, longest)
    assert layers["plain"] > TOKENIZERS
    assert layers["pieces"] + layers["shadowed"] > TOKENIZERS  # proofs are tried, too
    # Stages that rewrite what a token needs hide one or another, and words of WordPiece may have to begin with
    # several tokens before the one that is looked for; what is not found is called open, never unreachable.
    assert layers["missed"] <= (10 if model == "word_piece" else 1)


@pytest.mark.parametrize("model", ["character_bpe", "longest_match", "fewest_tokens"])
def test_no_token_that_a_suffix_stands_behind_is_called_unreachable(model):
    """No match of the pattern goes on behind two letters; a suffix that is a token of its own does."""
    layers = Counter()
    for seed in range(TOKENIZERS):
        random = Random(f"{model} {seed}")
        made = MODELS[model](random)
        while not (made.end_of_word_suffix and made.separate_suffix):
            made = MODELS[model](random)
        layers += check(Tokenizer(made, (Split(r"1[ab]{2}|[ab]|1"),)), "ab1", 4)
    assert layers["plain"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_piece_that_a_pattern_cuts_is_called_impossible(pattern):
    """All texts of up to three characters are tokens; those of up to five have pieces that hold them, or not."""
    alphabet = "ab1' "
    tokens = list(all_texts(alphabet, 3))
    made = Tokenizer(RankBpe(Vocabulary.from_tokens(tokens)), (Split(pattern),))
    layers = check(made, alphabet, 5)
    assert layers["missed"] <= 3


def test_no_normalized_text_is_called_impossible():
    """With marks, letters that fold and letters that are composed."""
    alphabet = "aAe\u00e9\u0301\u0323\ufb01\u017f"
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [text for text in all_texts(alphabet, 2) if len(text) > 1]
    chains = [
        (NFC(),),
        (NFD(),),
        (NFKC(),),
        (NFKD(),),
        (Lowercase(),),
        (NFD(), StripAccents()),
        (NFKC(), Lowercase()),
        (NFD(), Lowercase(), StripAccents()),
        (Lowercase(), NFC()),
        (Replace("e", "a", literal=True), NFC()),
        (BertNormalizer(),),
        (BertNormalizer(strip_accents=False),),
        (Precompiled(in_base64("nfkc_cf")),),
        (Charsmap(in_base64("nmt_nfkc")), SpaceMarks()),
    ]
    for normalizer in chains:
        layers = check(Tokenizer(RankBpe(Vocabulary.from_tokens(tokens)), normalizer=normalizer), alphabet, more(3, 4))
        assert layers["shadowed"] >= 8, normalizer
