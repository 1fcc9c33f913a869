"""Merges for ranks: that they do the same, against merging written down as it is defined, and against tiktoken."""

from __future__ import annotations

import itertools
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import formats
from bpe_cli.errors import FormatError
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.stages import MergeBpe, RankBpe, Split
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer, merging
from tests.needs import needs

TEXTS = ["".join(letters) for length in range(1, 8) for letters in itertools.product("ab", repeat=length)]


def by_ranks(ranks: dict[bytes, int], piece: bytes) -> list[int]:
    """Merge as tiktoken defines it."""
    if piece in ranks:
        return [ranks[piece]]
    parts = [bytes([byte]) for byte in piece]
    while True:
        joined = [left + right for left, right in itertools.pairwise(parts)]
        known = [(ranks[token], place) for place, token in enumerate(joined) if token in ranks]
        if not known:
            return [ranks[part] for part in parts]
        place = min(known)[1]
        parts[place : place + 2] = [joined[place]]


def by_merges(model: MergeBpe, piece: bytes) -> list[int]:
    """Merge as GPT-2 and Hugging Face define it."""
    whole = model.vocabulary.id_of(piece)
    if model.ignore_merges and whole is not None:
        return [whole]
    order = {(left, right): (number, product) for number, (left, right, product) in enumerate(model.merges)}
    ids = [model.vocabulary.id_of(bytes([byte])) for byte in piece]
    while True:
        known = [(order[pair][0], place) for place, pair in enumerate(itertools.pairwise(ids)) if pair in order]
        if not known:
            return ids
        place = min(known)[1]
        ids[place : place + 2] = [order[ids[place], ids[place + 1]][1]]


def test_worked_example():
    """No lower ranks make "abc"; a higher one does, and then it is made at once."""
    vocabulary = Vocabulary.from_tokens([b"a", b"b", b"c", b"abc", b"ab", b"cab"])
    found = merging.of_ranks(vocabulary)
    assert list(found.merges) == [(4, 2, 3), (0, 1, 4), (2, 4, 5)]
    assert found.whole == ()
    assert merging.of_ranks(Vocabulary.from_tokens([b"a", b"b", b"aba"])).whole == (2,)


TOKENS = st.lists(st.text("ab", min_size=2, max_size=6).map(str.encode), unique=True, max_size=9)


@given(tokens=TOKENS, first=st.booleans())
def test_merges_do_what_ranks_do(tokens, first):
    """In any order of tokens, also with single bytes that come last, as no trainer gives them."""
    ordered = [b"a", b"b", *tokens] if first else [*tokens, b"a", b"b"]
    vocabulary = Vocabulary.from_tokens(ordered)
    model = merging.as_merges(RankBpe(vocabulary))
    ranks = {token: rank for rank, token in enumerate(ordered)}
    for text in TEXTS:
        piece = text.encode()
        assert by_merges(model, piece) == by_ranks(ranks, piece), text
    assert merging.why_no_ranks(model) is None


@given(tokens=TOKENS, extra=st.lists(st.integers(0, 200), max_size=6), seed=st.integers(0, 99))
def test_merges_that_are_called_ranks_are(tokens, extra, seed):
    """More merges, in any place, are no ranks only if they change something."""
    vocabulary = Vocabulary.from_tokens([b"a", b"b", *tokens])
    model = merging.as_merges(RankBpe(vocabulary))
    pairs = [
        (left, right, vocabulary.id_of(one + other))
        for left, one in vocabulary.items()
        for right, other in vocabulary.items()
        if vocabulary.id_of(one + other) is not None
    ]
    merges = list(model.merges)
    for number in extra:
        if pairs and pairs[number % len(pairs)] not in merges:
            merges.insert(random.Random(seed + number).randint(0, len(merges)), pairs[number % len(pairs)])
    more = MergeBpe(vocabulary, Merges.from_pairs(merges), model.ignore_merges)
    assert merging.why_no_ranks(more) is None
    ranks = {token: rank for rank, token in vocabulary.items()}
    for text in TEXTS:
        assert by_merges(more, text.encode()) == by_ranks(ranks, text.encode()), text
    if len(model.merges) > 1:
        turned = MergeBpe(vocabulary, Merges.from_pairs([*merges][::-1]), model.ignore_merges)
        assert merging.why_no_ranks(turned) is not None


def test_hugging_face_and_tiktoken_agree_where_whole_pieces_matter():
    rival = needs("tokenizers")
    tiktoken = needs("tiktoken")
    chance = random.Random(5)
    for _ in range(40):
        tokens = {bytes(chance.choices(b"abc", k=chance.randint(2, 5))): None for _ in range(12)}
        alphabet = [bytes([byte]) for byte in range(256)]
        vocabulary = Vocabulary.from_tokens([*alphabet, *tokens])
        ours = Tokenizer(RankBpe(vocabulary), (Split(r"\w+"),))
        theirs = rival.Tokenizer.from_str(hf_json.dump(ours)[""].decode())
        ranks = {token: rank for rank, token in vocabulary.items()}
        reference = tiktoken.Encoding("x", pat_str=r"\w+|[^\w]+", mergeable_ranks=ranks, special_tokens={})
        for _ in range(30):
            text = "".join(chance.choices("abc ", k=chance.randint(1, 14)))
            expected = reference.encode_ordinary(text)
            assert ours.encode(text) == expected
            assert theirs.encode(text, add_special_tokens=False).ids == expected


def test_long_token_is_refused():
    vocabulary = Vocabulary.from_tokens([b"a", b"a" * 1025])
    with pytest.raises(FormatError, match="has 1,025 bytes"):
        merging.of_ranks(vocabulary)


@pytest.mark.slow
def test_llama3_gives_equal_ids(shared):
    rival = needs("tokenizers")
    tiktoken = needs("tiktoken")
    tokenizer = formats.load(shared / "vocabs" / "llama3-tiktoken" / "tokenizer.model", "llama3")
    whole = merging.of_ranks(tokenizer.model.vocabulary).whole
    assert len(whole) == 588, "of the 678 that lower ranks do not make, higher ones make 90"
    document = formats.dump(tokenizer, "tokenizer.json")[""]
    model = json.loads(document)["model"]
    assert (model["ignore_merges"], len(model["merges"])) == (True, 128_000 - 256 - len(whole))
    again = hf_json.loads(document)
    theirs = rival.Tokenizer.from_str(document.decode())
    ranks = {token: rank for rank, token in tokenizer.model.vocabulary.items()}
    reference = tiktoken.Encoding("llama3", pat_str=PATTERNS["llama3"].regex, mergeable_ranks=ranks, special_tokens={})
    texts = [case["text"] for case in json.loads((shared / "expected" / "suite.json").read_bytes())["cases"]]
    for token_id, token in tokenizer.model.vocabulary.items():
        if token_id >= 100_000 and token.isascii():
            texts.append(token.decode())
            texts.append("x" + token.decode() + "y")
    for text in texts:
        if len(text) <= 10_000:
            expected = reference.encode_ordinary(text)
            assert again.encode(text) == expected, text[:50]
            assert theirs.encode(text, add_special_tokens=False).ids == expected, text[:50]
