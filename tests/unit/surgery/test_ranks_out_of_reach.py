"""Ranks with tokens that no merge makes, such as Llama 3's: those arise as whole pieces only, and still do after."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import formats
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.stages import MergeBpe, RankBpe
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.surgery import extend, merge, prune
from bpe_cli.surgery.operation import used_ids
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.merging import as_merges, of_ranks
from tests.needs import needs
from tests.thorough import more

from .makers import WORDS, byte_level, counted

ALPHABET = [bytes([byte]) for byte in range(256)]
TOKENS = st.lists(st.text("abc", min_size=2, max_size=5).map(str.encode), unique=True, min_size=1, max_size=9)


def ranked(*tokens: bytes) -> Tokenizer:
    """Return ranks of all bytes and then of some tokens, cut into words."""
    return Tokenizer(RankBpe(Vocabulary.from_tokens([*ALPHABET, *tokens])), byte_level(["a"], 0).pre_tokenizer)


def merging(tokenizer: Tokenizer) -> Tokenizer:
    return replace(tokenizer, model=as_merges(tokenizer.model))


@given(TOKENS, WORDS, st.integers(1, 9))
def test_pruned_like_the_merges(tokens, words, number):
    whole = ranked(*tokens)
    size = whole.vocab_size - min(number, len(tokens))
    by_ranks = prune(whole, counted(whole, " ".join(words)), size)
    by_merges = prune(merging(whole), counted(whole, " ".join(words)), size)
    assert by_ranks.old_to_new == by_merges.old_to_new
    assert bool(by_ranks.notes) == isinstance(by_ranks.tokenizer.model, MergeBpe)
    for text in [*words, *map(bytes.decode, tokens), "abcabcab"]:
        ids = whole.encode(text)
        assert by_ranks.tokenizer.encode(text) == by_merges.tokenizer.encode(text)
        if None not in (moved := [by_ranks.old_to_new[each] for each in ids]):  # who has lost nothing stays
            assert by_ranks.tokenizer.encode(text) == moved


@given(TOKENS, WORDS, st.integers(1, 6))
def test_extended_only_new_tokens_change_an_encoding(tokens, words, number):
    begun = ranked(*tokens)
    operation = extend(begun, counted(begun, " ".join(words)), begun.vocab_size + number)
    assert bool([note for note in operation.notes if "no ranks" in note]) == isinstance(
        operation.tokenizer.model, MergeBpe
    )
    old, new = Tokenizer(begun.model), Tokenizer(operation.tokenizer.model)
    for token_id, content in begun.model.vocabulary.items():
        assert old.encode(content) == [token_id]
        assert new.encode(content) == [token_id]
    for token_id, parts in operation.made_of.items():
        content = operation.tokenizer.token_bytes(token_id)
        assert list(parts) == old.encode(content)
        assert new.encode(content) == [token_id]


@given(TOKENS, TOKENS, WORDS)
def test_merged_all_tokens_are_reached(tokens, others, words):
    ours, theirs = ranked(*tokens), ranked(*others)
    operation = merge(ours, theirs)
    bare = Tokenizer(operation.tokenizer.model)
    for token_id, content in operation.tokenizer.model.vocabulary.items():
        assert bare.encode(content) == [token_id]
    assert used_ids(operation.tokenizer) == list(range(operation.tokenizer.vocab_size))
    alone = Tokenizer(ours.model)
    for token_id, parts in operation.made_of.items():
        assert list(parts) == alone.encode(operation.tokenizer.token_bytes(token_id))
    for text in words:
        assert operation.tokenizer.decode_bytes(operation.tokenizer.encode(text)) == text.encode()


def test_worked_example():
    """Nothing makes "abcd"; once there is "ab", ranks would make it of "ab" and "cd", and merges do not."""
    begun = ranked(b"cd", b"abcd")
    operation = extend(begun, counted(begun, "ab ab abcd"), 259)
    assert operation.tokenizer.token_bytes(258) == b"ab"
    assert operation.notes == ("no ranks do the same as the old merges and the new ones, so the result has merges",)
    assert operation.tokenizer.model.ignore_merges
    assert operation.tokenizer.encode("abcd xabcdx") == [257, 32, 120, 258, 256, 120]
    (document,) = formats.dump(operation.tokenizer, "tokenizer.json").values()
    assert hf_json.loads(document).encode("abcd xabcdx") == operation.tokenizer.encode("abcd xabcdx")


def test_what_ranks_can_say_stays_ranks():
    begun = ranked(b"abcd")
    extended = extend(begun, counted(begun, "xy xy"), 258)
    assert isinstance(extended.tokenizer.model, RankBpe)
    assert extended.notes == ()
    assert isinstance(prune(begun, counted(begun, "x"), 256).tokenizer.model, RankBpe)


def part_of(whole: Tokenizer) -> Tokenizer:
    """Return the first ranks of a tokenizer with those that no merge makes, and its special tokens behind them."""
    tokens = [*whole.model.vocabulary.tokens()]
    kept = [*tokens[:20_000], *(tokens[token_id] for token_id in of_ranks(whole.model.vocabulary).whole)]
    special = (replace(token, token_id=token.token_id - len(tokens) + len(kept)) for token in whole.special_tokens)
    return Tokenizer(RankBpe(Vocabulary.from_tokens(kept)), whole.pre_tokenizer, tuple(special))


@pytest.mark.slow
def test_llama3(shared, corpora):
    """Pruned as a whole, a part of it extended and merged; what is written gives the same ids in its library."""
    hf = needs("tokenizers")
    path = shared / "vocabs" / "llama3-tiktoken" / "tokenizer.model"
    begun = formats.load(path, "llama3")
    part = more(part_of(begun), begun)
    assert len(of_ranks(part.model.vocabulary).whole) > 500
    text = (corpora / "languages" / "de.txt").read_text(encoding="utf-8")
    other = byte_level(text.split(), 40)
    for operation in (
        extend(part, counted(part, text), part.vocab_size + 50),
        merge(part, other),
        prune(begun, counted(begun, text), begun.vocab_size - 500),
    ):
        changed = operation.tokenizer
        (document,) = formats.rehearse(changed, "tokenizer.json").values()  # the library itself verifies it
        theirs = hf.Tokenizer.from_str(document.decode())
        for line in text.splitlines()[:100]:
            ids = changed.encode(line)
            assert theirs.encode(line, add_special_tokens=False).ids == ids
            assert changed.decode(ids) == line
    moved = operation.old_to_new
    assert [moved[each] for each in begun.encode(text)] == changed.encode(text), "what the corpus uses has stayed"
