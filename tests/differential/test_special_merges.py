"""Merges that spell special tokens, against Hugging Face's library: where the two agree, and where it is another."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.formats.huggingface import tokenizer_json
from bpe_cli.stages import NFKC, CharacterBpe, SpecialToken
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.counted import at_least, compared
from tests.needs import needs
from tests.special_tokenizers import case, text_of


def theirs(tokenizer):
    return needs("tokenizers").Tokenizer.from_str(tokenizer_json.dump(tokenizer)[""].decode())


@pytest.mark.parametrize("name", ["merge_bpe", "character_bpe"])
@given(seed=st.integers(0, 1 << 32))
def test_asked_for_they_are_the_same(name, seed):
    """Its special tokens are found in any text before anything is merged, so dead merges find no place there either."""
    random = Random(seed)
    while True:
        found = case(random, name, plain=True)
        special = tuple(
            replace(token, single_word=False) for token in found.with_special.special_tokens if token.special
        )
        tokenizer = replace(found.with_special, special_tokens=special)
        # Text without a mark spells a token with it there: that is the second test's difference.
        marks = [tokenizer.model.continuing_subword_prefix, tokenizer.model.end_of_word_suffix]
        if not any(marks):
            break
    declared = (replace(token, single_word=False) for token in tokenizer.special_tokens if token.special)
    tokenizer = replace(tokenizer, special_tokens=tuple(declared))
    if name == "character_bpe":  # what is left out would bring together what the text keeps apart
        tokenizer = replace(
            tokenizer,
            model=replace(tokenizer.model, ignore_merges=False, unk_id=tokenizer.model.vocabulary.id_of(b"<unk>")),
        )
    other = theirs(tokenizer)
    for _ in range(4):
        text = text_of(random, found)
        if name == "merge_bpe":
            text = text.encode("ascii", "ignore").decode()
        assert tokenizer.encode(text, specials="all") == other.encode(text, add_special_tokens=False).ids


def test_what_it_does_otherwise():
    """It uses merges that make a special token where the text was no such token before: ours are dead."""
    tokens = [b"<", b"/", b"s", b">", b"a", b"</", b"</s", b"</s>"]
    model = CharacterBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs([(0, 1, 5), (5, 2, 6), (6, 3, 7)]))
    tokenizer = Tokenizer(model, special_tokens=(SpecialToken(b"</s>", 7),), normalizer=(NFKC(),))
    assert theirs(tokenizer).encode("＜/s＞").ids == [7]
    assert tokenizer.encode("＜/s＞") == tokenizer.encode("＜/s＞", specials="all") == [6, 3]
    tokenizer = Tokenizer(model, special_tokens=(SpecialToken(b"</s>", 7),))
    assert theirs(tokenizer).encode("</sxy>").ids == [7]  # unknown characters are left out before it merges
    assert tokenizer.encode("</sxy>") == tokenizer.encode("</sxy>", specials="all") == [6, 3]
    tokenizer = Tokenizer(model, special_tokens=(SpecialToken(b"</s>", 7, single_word=True),))
    assert theirs(tokenizer).encode("a</s>a").ids == [4, 7, 4]
    assert tokenizer.encode("a</s>a") == tokenizer.encode("a</s>a", specials="all") == [4, 6, 3, 4]


def whole_pieces(ignore_merges, **flags):
    """A byte-level file whose added token `zz` has an entry, as its id stands between others; no merge makes it."""
    split = {"type": "Split", "pattern": {"Regex": "[0-9]|[a-z]+"}, "behavior": "Isolated", "invert": False}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    token = {"id": 3, "content": "zz", "lstrip": False, "rstrip": False, "normalized": False}
    return json.dumps({
        "version": "1.0",
        "added_tokens": [token | flags],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
        "decoder": byte_level,
        "model": {
            "type": "BPE", "ignore_merges": ignore_merges, "merges": ["a z"],
            "vocab": {"1": 0, "z": 1, "a": 2, "zz": 3, "az": 4},
        },
    })  # fmt: skip


@cache
def read_by_both(ignore_merges, **flags):
    """Read such a file with ours and with theirs; in theirs, no entry of a special token is looked up."""
    document = whole_pieces(ignore_merges, **flags)
    ours = tokenizer_json.loads(document.encode())
    assert tokenizer_json.loads(tokenizer_json.dump(ours)[""]) == ours
    merged = whole_pieces(ignore_merges=False, **flags) if flags["special"] else document
    return ours, needs("tokenizers").Tokenizer.from_str(merged)


@at_least(36)
@pytest.mark.parametrize("ignore_merges", [False, True])
@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("single_word", [False, True])
@given(texts=st.lists(st.text("1az", max_size=8), min_size=1))
def test_an_added_token_as_a_whole_piece(ignore_merges, special, single_word, texts):
    """Where its flags keep it from being recognized, it may be a piece still: not, with ours, if it is special."""
    ours, other = read_by_both(ignore_merges, special=special, single_word=single_word)
    for text in texts:
        assert ours.encode(text, specials="all") == other.encode(text).ids, text
        compared()


def test_a_special_token_as_a_whole_piece():
    document = whole_pieces(ignore_merges=True, special=True, single_word=True)
    assert needs("tokenizers").Tokenizer.from_str(document).encode("1zz").ids == [0, 3]
    assert tokenizer_json.loads(document.encode()).encode("1zz", specials="all") == [0, 1, 1]
