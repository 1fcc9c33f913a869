"""Without a split pattern a piece is a whole document: what goes has only its surroundings encoded again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.surgery import prune, pruning
from bpe_cli.surgery.merge_rules import MergeRules
from bpe_cli.surgery.operation import used_ids
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bbpe, bpe, sentencepiece, train
from tests.counted import at_least, compared

from .makers import counted

TEXTS = st.lists(st.text("abcä“ ", min_size=1, max_size=12), min_size=2, max_size=12).map(" ".join)


def bytes_whole(text: str) -> Tokenizer:
    return train([text], bbpe.Options(vocab_size=276, pattern=""))


def pieces_by_scores(text: str) -> Tokenizer:
    return train([text], sentencepiece.Options(vocab_size=40, model="bpe"))


def characters_whole(text: str) -> Tokenizer:
    return train([text], bpe.Options(merges=15, min_frequency=1, pre_tokenizer=(), end_of_word_suffix=""))


@pytest.mark.parametrize("make", [bytes_whole, pieces_by_scores, characters_whole])
@at_least(10)
@given(text=TEXTS, share=st.integers(1, 10))
def test_dividing_documents_changes_nothing(make, text: str, share: int) -> None:
    tokenizer = make(text)
    removable = pruning.composite(tokenizer.model) - pruning.protected_ids(tokenizer)
    assert counted(tokenizer, text).unique == 1
    size = len(used_ids(tokenizer)) - max(1, len(removable) * share // 10)
    if not removable:
        return
    results = []
    for long in (0, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pruning, "_LONG", long)
            results.append(prune(tokenizer, counted(tokenizer, text), size))
    assert results[0].old_to_new == results[1].old_to_new
    compared()


@pytest.mark.parametrize("make", [bytes_whole, pieces_by_scores])
def test_a_document_is_not_encoded_again_for_every_token(make, monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(f"{a}{b}{c}" for a in "abcd" for b in "efghij" for c in "klmnop") + " "
    tokenizer = make(text)
    symbols = 0
    apply = MergeRules.apply

    def counting(self, sequence):
        nonlocal symbols
        symbols += len(sequence)
        return apply(self, sequence)

    monkeypatch.setattr(MergeRules, "apply", counting)
    operation = prune(tokenizer, counted(tokenizer, text * 20), len(used_ids(tokenizer)) - 8)
    assert sum(new is None for new in operation.old_to_new.values()) == 8
    assert symbols < 2 * len(text)  # each word at most twice, and the document has twenty of each
