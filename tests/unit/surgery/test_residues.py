"""Residues of SentencePiece's BPE are taken apart, and nothing else changes."""

from __future__ import annotations

from array import array
from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import FormatError, TrainingError, UsageError
from bpe_cli.formats import dump
from bpe_cli.formats.sentencepiece import model as sentencepiece_model
from bpe_cli.stages import ScoredBpe, SpecialToken
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.surgery import split_residues
from bpe_cli.surgery.merge_rules import composite
from bpe_cli.surgery.operation import count_tokens
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bbpe, sentencepiece, train
from bpe_cli.trainers.counts import new_counts
from tests.counted import at_least, compared
from tests.needs import needs
from tests.oracle.character_bpe import encode_by_scores

from .makers import counted, counts_of

TEXT = "low low low low lower lower newest newest newest newest widest widest widest wider new new " * 4


def scored(pieces: dict[str, float], unused: tuple[str, ...] = ()) -> Tokenizer:
    texts = ["", *pieces]
    kinds = bytes(2 if not text else 5 if text in unused else 1 for text in texts)
    vocabulary = Vocabulary.from_tokens(text.encode() for text in texts)
    return Tokenizer(ScoredBpe(vocabulary, array("d", [0, *pieces.values()]), 0, kinds))


def unused_of(tokenizer: Tokenizer) -> list[str]:
    model = tokenizer.model
    return [model.vocabulary.token(token_id).decode() for token_id, kind in enumerate(model.kinds) if kind == 5]


LETTERS = dict.fromkeys("abcd", -9.0)


def test_by_hand():
    """``ab`` stays 1 of 21 times; ``abc`` 1 of 20: taken apart, it leaves one more ``ab``, which then stays 2 of 21."""
    whole = scored({**LETTERS, "ab": -1, "abc": -2, "abcd": -3})
    counts = counts_of([b"abcd"] * 19 + [b"abc", b"ab"])
    assert unused_of(split_residues(whole, counts, 0.05, 20).tokenizer) == ["abc"]
    assert unused_of(split_residues(whole, counts, 0.1, 20).tokenizer) == ["ab", "abc"]
    assert unused_of(split_residues(whole, counts, 0.1, 21).tokenizer) == ["ab"]
    done = split_residues(whole, counts, 0.05, 20)
    assert done.summary == ("1 residue made unused",)
    assert done.old_to_new == {token_id: token_id for token_id in range(8)}
    assert [done.tokenizer.encode(text) for text in ("abcd", "abc", "ab")] == [[7], [5, 3], [5]]


def test_what_is_unused_already_stays_so():
    """``abc`` is taken apart before: it is merged on, and leaves its parts, though nothing says how often it stays."""
    before = scored({**LETTERS, "ab": -1, "abc": -2, "abcd": -3}, unused=("abc",))
    counts = counts_of([b"abcd"] * 19 + [b"abc"] * 9 + [b"ab"])
    done = split_residues(before, counts, 0.05, 20)
    assert (unused_of(done.tokenizer), done.summary) == (["abc"], ("0 residues made unused",))
    done = split_residues(before, counts, 0.4, 20)
    assert (unused_of(done.tokenizer), done.summary) == (["ab", "abc"], ("1 residue made unused",))


def test_what_something_refers_to_stays():
    whole = scored({**LETTERS, "ab": -1, "abc": -2})
    named = replace(whole, special_tokens=(SpecialToken(b"ab", 5),))
    counts = counts_of([b"abc"] * 100)
    assert unused_of(split_residues(whole, counts, 0.0, 100).tokenizer) == ["ab"]
    assert unused_of(split_residues(named, counts, 0.0, 100).tokenizer) == []


def by_brute_force(whole: Tokenizer, made: dict[int, int], counts, share: float, least: int) -> set[int]:
    """The definition: the longest first, one after the other, counting the corpus anew by the core for each."""
    model = whole.model
    for token_id in sorted(composite(model), key=lambda token_id: -len(model.vocabulary.token(token_id))):
        times = made.get(token_id, 0)
        if times and times >= least and count_tokens(model, counts).get(token_id, 0) / times <= share:
            kinds = bytearray(model.kinds)
            kinds[token_id] = 5
            model = replace(model, kinds=bytes(kinds))
    return {token_id for token_id, kind in enumerate(model.kinds) if kind == 5}


def made_by(scores: dict[str, float], ids: dict[str, int], words: list[str]) -> dict[int, int]:
    """Count every merge that the words run through, joining the neighbours of the highest score."""
    made: dict[int, int] = {}
    for word in words:
        symbols = [*word]
        while True:
            joined = [left + right for left, right in pairwise(symbols)]
            pairs = [(-scores[text], at) for at, text in enumerate(joined) if text in scores]
            if not pairs:
                break
            _, at = min(pairs)
            symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
            made[ids[symbols[at]]] = made.get(ids[symbols[at]], 0) + 1
    return made


PIECES = st.lists(
    st.tuples(st.text("ab", min_size=2, max_size=5), st.integers(-4, 0)), min_size=4, max_size=12,
    unique_by=lambda each: each[0],
)  # fmt: skip
WORDS = st.lists(st.text("ab", min_size=2, max_size=9), min_size=2, max_size=20)


@at_least(60)
@given(PIECES, WORDS)
def test_as_the_definition_says(pieces, words):
    """The same pieces go as by counting anew for each; texts are cut as the oracle cuts them, unused pieces and all."""
    scores = {**LETTERS, **dict(pieces)}
    whole = scored(scores)
    ids = {text: token_id for token_id, text in enumerate(["", *scores])}
    counts = counts_of(word.encode() for word in words)
    made = made_by({text: score for text, score in scores.items() if len(text) > 1}, ids, words)
    for share, least in product((0.0, 0.3, 0.7), (1, 3)):
        done = split_residues(whole, counts, share, least).tokenizer
        unused = unused_of(done)
        assert {ids[text] for text in unused} == by_brute_force(whole, made, counts, share, least)
        for word in words:
            found = [done.model.vocabulary.token(token_id).decode() for token_id in done.encode(word)]
            assert found == encode_by_scores(word, scores, unused=unused)
            assert not {*found} & {*unused}
        compared(len(unused))


def test_as_the_library_cuts():
    """A .model with unused pieces is what Google's library takes apart itself; nothing else changes."""
    theirs = needs("sentencepiece").SentencePieceProcessor()
    whole = train([TEXT], sentencepiece.Options(vocab_size=45, model="bpe"))
    done = split_residues(whole, counted(whole, TEXT), 0.4, 4).tokenizer
    unused = unused_of(done)
    assert len(unused) >= 3
    theirs.LoadFromSerializedProto(sentencepiece_model.dump(done)[""])
    texts = [TEXT, "lowest widest", "strong newer", *(text.replace("▁", " ").strip() for text in unused)]
    for text in texts:
        assert done.encode(text) == theirs.encode(text), text
    assert any(done.encode(text) != whole.encode(text) for text in texts)
    assert sentencepiece_model.loads(sentencepiece_model.dump(done)[""]).model == done.model


def test_what_cannot_be():
    whole = scored({**LETTERS, "ab": -1})
    counts = counts_of([b"ab"])
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match="is a share from 0 to 1"):
            split_residues(whole, counts, share, 1)
    with pytest.raises(TrainingError, match="the corpus has no text"):
        split_residues(whole, new_counts(), 0.1, 1)
    merges = train(["low low"], bbpe.Options(vocab_size=258))
    with pytest.raises(FormatError, match="only SentencePiece's BPE has pieces that serve merging only") as refused:
        split_residues(merges, counts, 0.1, 1)
    assert "out of reach" in str(refused.value.hint)
    done = split_residues(train([TEXT], sentencepiece.Options(vocab_size=45, model="bpe")), counts_of([b"low"]), 1, 1)
    with pytest.raises(FormatError, match="unused"):
        dump(done.tokenizer, "tokenizer.json", frozenset())
