"""Residues of SentencePiece's BPE and of byte-level BPE are taken apart, and nothing else changes."""

from __future__ import annotations

from array import array
from dataclasses import replace
from itertools import pairwise, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import formats
from bpe_cli.errors import FormatError, TrainingError, UsageError
from bpe_cli.formats import dump
from bpe_cli.formats.huggingface import tokenizer_json as own_json
from bpe_cli.formats.sentencepiece import model as sentencepiece_model
from bpe_cli.stages import EventBpe, MergeBpe, PrefixSpace, RankBpe, ScoredBpe, SpecialToken, Split
from bpe_cli.stages.events import SPLIT, first_merges, triples
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.surgery import split_residues
from bpe_cli.surgery.merge_rules import composite
from bpe_cli.surgery.operation import count_tokens
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.merging import as_merges
from bpe_cli.tokenizer.named_encodings import named
from bpe_cli.trainers import bpe, sentencepiece, train
from bpe_cli.trainers.counts import new_counts
from tests.counted import at_least, compared
from tests.needs import needs
from tests.oracle.character_bpe import encode_by_scores
from tests.thorough import more

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


@at_least(36)
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


# -- byte-level BPE ----------------------------------------------------------------------------------

BYTES = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), b"", b"ab", b"abc", b"abcd"])
MERGES = Merges.from_pairs([(ord("a"), ord("b"), 257), (257, ord("c"), 258), (258, ord("d"), 259)])


def split_in(tokenizer: Tokenizer) -> list[bytes]:
    model = tokenizer.model
    assert isinstance(model, EventBpe)
    return [model.vocabulary.token(left) for left, right, _ in triples(model.events) if right == SPLIT]


def test_merges_by_hand():
    """As with scores: ``ab`` stays 1 of 21 times; ``abc`` 1 of 20, and leaves one more ``ab``."""
    whole = Tokenizer(MergeBpe(BYTES, MERGES))
    counts = counts_of([b"abcd"] * 19 + [b"abc", b"ab"])
    assert split_in(split_residues(whole, counts, 0.05, 20).tokenizer) == [b"abc"]
    done = split_residues(whole, counts, 0.1, 20)
    assert split_in(done.tokenizer) == [b"abc", b"ab"]
    assert done.summary == ("2 residues split",)
    assert [done.tokenizer.encode(text) for text in ("abcd", "abc", "ab")] == [[259], [97, 98, 99], [97, 98]]
    assert done.tokenizer.decode([258]) == "abc"
    assert done.old_to_new == {token_id: token_id for token_id in range(260) if token_id != 256}
    kept = replace(whole, special_tokens=(SpecialToken(b"abc", 258, special=False),))
    assert split_in(split_residues(kept, counts, 0.1, 20).tokenizer) == [b"ab"]


def drawn_merges(random: Random, *, ignore_merges: bool) -> MergeBpe:
    """Merges of two letters in the order in which they build on each other, some products in several ways."""
    tokens = [bytes([byte]) for byte in range(256)]
    known, pairs = [b"a", b"b"], {}
    for _ in range(14):
        left, right = random.choice(known), random.choice(known)
        if len(left + right) < 8 and left + right not in tokens:
            tokens.append(left + right)
            known.append(left + right)
            pairs[left, right] = None
    tokens.append(b"babbab?")  # which no merge makes
    merges = Merges.from_pairs([tokens.index(each) for each in (*pair, b"".join(pair))] for pair in pairs)
    return MergeBpe(Vocabulary.from_tokens(tokens), merges, ignore_merges)


def is_backwards(merges: list[tuple[int, int, int]]) -> bool:
    """Whether some merge stands before one that makes a part of it."""
    return any(later[2] in merge[:2] for at, merge in enumerate(merges) for later in merges[at:])


@pytest.mark.parametrize("kind", ["merges", "whole pieces", "ranks"])
def test_tokens_are_those_of_before_with_residues_taken_apart(kind):
    """What the original gives, each residue in it taken apart by its merge as long as there is one."""
    random = Random(kind)
    apart = changed = written = 0
    for number in range(more(70, 200)):
        model = drawn_merges(random, ignore_merges=kind == "whole pieces")
        words = ["".join(random.choices("ab", weights=(3, 1), k=random.randint(1, 9))) for _ in range(40)]
        stages = (Split(r"\S+|\s"), *([PrefixSpace()] if random.random() < 0.3 else []))
        whole = Tokenizer(RankBpe(model.vocabulary) if kind == "ranks" else model, stages)
        counts = counts_of(word.encode() for word in words)
        listed = as_merges(whole.model)
        if kind == "ranks" and is_backwards([*listed.merges]):
            with pytest.raises(FormatError, match="comes before merge"):
                split_residues(whole, counts, 0.5, 1)
            continue
        done = split_residues(whole, counts, random.choice((0.1, 0.4, 0.8)), random.choice((1, 4))).tokenizer
        residues = {model.vocabulary.id_of(token) for token in split_in(done)}
        parts = {product: (left, right) for left, right, product in listed.merges}
        for text in (" ".join(words), *words, "babbab?", "bab ba\xff"):
            expected, waiting = [], whole.encode(text)[::-1]
            while waiting:
                token_id = waiting.pop()
                waiting += parts[token_id][::-1] if token_id in residues else []
                expected += [] if token_id in residues else [token_id]
            assert done.encode(text) == expected, (text, split_in(done))
            changed += expected != whole.encode(text)
        apart += len(residues)
        if number % more(2, 1) == 0:
            again = own_json.loads(dump(done, "bpe.json", frozenset())[""])
            assert again.encode(" ".join(words)) == done.encode(" ".join(words))
            written += 1
    assert written > more(30, 150)
    assert apart > more(35, 100)
    assert changed > more(250, 300)


def test_gpt2_s_residues(shared):
    text = (shared / "corpora" / "default" / "en-botchan.txt").read_text()
    whole = named("gpt2")
    done = split_residues(whole, counted(whole, text), 0.05, 20).tokenizer
    residues = {whole.model.vocabulary.id_of(token) for token in split_in(done)}
    parts = first_merges(done.model)
    expected, waiting = [], whole.encode(text)[::-1]
    while waiting:
        token_id = waiting.pop()
        waiting += parts[token_id][::-1] if token_id in residues else []
        expected += [] if token_id in residues else [token_id]
    assert done.encode(text) == expected
    assert len(residues) > 50
    assert expected != whole.encode(text)
    assert done.decode(expected) == text


def test_only_bpe_json_holds_them():
    done = split_residues(Tokenizer(MergeBpe(BYTES, MERGES)), counts_of([b"abcd"]), 0.5, 1).tokenizer
    refused = 0
    for name in formats.FORMATS:
        if name == "bpe.json":
            continue
        with pytest.raises(FormatError, match=r"BPE by merges and splits|cannot be written|holds"):
            dump(done, name, frozenset())
        refused += 1
    assert refused > 10


def test_what_cannot_be():
    whole = scored({**LETTERS, "ab": -1})
    counts = counts_of([b"ab"])
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match="must be a share from 0 to 1"):
            split_residues(whole, counts, share, 1)
    with pytest.raises(TrainingError, match="the corpus has no text"):
        split_residues(whole, new_counts(), 0.1, 1)
    merges = train(["low low"], bpe.Options(vocab_size=10))
    with pytest.raises(FormatError, match="in SentencePiece's BPE and in byte-level BPE, and this is") as refused:
        split_residues(merges, counts, 0.1, 1)
    assert "could no longer make" in str(refused.value.hint)
    backwards = Tokenizer(MergeBpe(BYTES, Merges.from_pairs([(257, ord("c"), 258), (ord("a"), ord("b"), 257)])))
    with pytest.raises(FormatError, match='merge 1 comes before merge 2, which makes a part of it, "ab"'):
        split_residues(backwards, counts, 0.1, 1)
    unspelt = Tokenizer(MergeBpe(BYTES, Merges.from_pairs([]), texts=((300, b"x"),)))
    with pytest.raises(FormatError, match="texts that are not spelt in bytes"):
        split_residues(unspelt, counts, 0.1, 1)
    done = split_residues(train([TEXT], sentencepiece.Options(vocab_size=45, model="bpe")), counts_of([b"low"]), 1, 1)
    with pytest.raises(FormatError, match="unused"):
        dump(done.tokenizer, "tokenizer.json", frozenset())
