"""Looking tokens up: what names mean, and what is told."""

from __future__ import annotations

from array import array

import pytest

from bpe_cli import stages
from bpe_cli.errors import InputError, UsageError
from bpe_cli.reports.tokenizer.corpus_report import count_frequencies
from bpe_cli.reports.tokenizer.lookup import find_tokens, look_up
from bpe_cli.reports.tokenizer.reachability import Verdict
from bpe_cli.reports.tokenizer.structure import Anatomy
from bpe_cli.stages import CharacterBpe, RankBpe, ScoredBpe, SpecialToken, WordPiece
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer
from tests.unit.reports.published import published

RANKED = [b"t", b"h", b"e", b" ", b"he", b" t", b" the", b"1", b"12", b"T", b"The", b"\xe8", b"2"]
RANKS = Anatomy(
    Tokenizer(
        RankBpe(Vocabulary.from_tokens(RANKED)),
        special_tokens=(SpecialToken(b"<s>", 20), SpecialToken(b"the", 21, special=False)),
    )
)  # fmt: skip
PIECES = Anatomy(
    Tokenizer(
        ScoredBpe(
            Vocabulary.from_tokens([b"", *(text.encode() for text in ("<0x41>", "A", "▁", "▁A", "▁A▁A"))]),
            array("d", [0, 0, -8, -9, -1.5, -2]), 0, bytes([2, 6, 1, 1, 1, 4]), byte_fallback=True,
        ),
        normalizer=(stages.SpaceMarks(),),
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "token_ids"),
    [
        ("6", [6]), ("id:6", [6]), (" the", [6]), ("text: the", [6]), ("bytes:20746865", [6]),
        ("bytes:20 74 68 65", [6]),
        ("Ġthe", [6]), ("1", [1]), ("text:1", [7]), ("text:12", [8]), ("bytes:e8", [11]), ("\udce8", [11]),
        ("<s>", [20]), ("the", [21]), ("20", [20]), ("id:0021", [21]),
    ],
)  # fmt: skip
def test_names(name, token_ids):
    assert find_tokens(RANKS, name) == token_ids


@pytest.mark.parametrize(
    ("name", "token_ids"),
    [("A", [2, 1]), ("<0x41>", [1]), ("▁A", [4]), (" A", [4]), ("text: A A", [5]), ("▁", [3]), (" ", [3])],
)
def test_names_of_pieces(name, token_ids):
    """As the file writes it first, then what means the same."""
    assert find_tokens(PIECES, name) == token_ids


@pytest.mark.parametrize(
    ("name", "kind", "message", "hint"),
    [
        ("99", InputError, "id 99 is not in the vocabulary (ids run to 21)", "text:99 names the token of this text"),
        ("id:13", InputError, "id 13 is not in the vocabulary: no token has it", "for example: id:262"),
        ("9" * 5000, UsageError, f'"{"9" * 57}..." is not an id', "text:DIGITS names the token of this text"),
        ("id:x", UsageError, '"id:x" is not an id', "for example: id:262"),
        ("bytes:e", UsageError, "'bytes:e' is not made of hexadecimal digits", "for example: bytes:e8b0"),
        ("bytes:", UsageError, 'no token is ""', "give an id or a text"),
        ("", UsageError, 'no token is ""', "give an id or a text"),
        ("HE", UsageError, 'no token is "HE"', 'there is "he" (id 4)'),
        (
            "he12", UsageError, 'no token is "he12"',
            'this text becomes "he" (id 4), "12" (id 8)',
        ),
        ("text:zz", UsageError, 'no token is "zz"', "name a token by its id, its text, or bytes:HEX"),
    ],
)  # fmt: skip
def test_no_such_token(name, kind, message, hint):
    with pytest.raises(kind) as caught:
        find_tokens(RANKS, name)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_beginnings_are_named():
    with pytest.raises(UsageError) as caught:
        find_tokens(published("gpt2").anatomy, " SolidGold")
    assert caught.value.hint.startswith('there is " SolidGoldMagikarp" (id 43453); this text becomes " Solid" (id ')


def test_by_hand():
    tokenizer = RANKS.tokenizer
    frequencies = count_frequencies(tokenizer, [Block.of([b" the he ", b"he"])])
    verdict = Verdict(6, True, "plain", b" the")
    card = look_up(RANKS, 6, verdict=verdict, frequencies=frequencies)
    assert (card.token.content, card.written, card.character_count, card.kind) == (b" the", b" the", 4, "ordinary")
    assert (card.rank, card.score, card.depth, card.verdict) == (6, None, 2, verdict)
    assert [(node.level, node.token.token_id) for node in card.tree] == [
        (0, 6), (1, 5), (2, 3), (2, 0), (1, 4), (2, 1), (2, 2),
    ]  # fmt: skip
    assert [(each.token.token_id, each.differs_by) for each in card.variants] == [(10, "leading space and case")]
    card = look_up(RANKS, 4, frequencies=frequencies)
    assert ([token.token_id for token in card.children], card.child_count, card.descendant_count) == ([6, 10], 2, 2)
    # "the" is an added token: the text is " ", "the", " ", "he", " " and "he".
    assert (card.occurrence.count, card.occurrence.frequency, card.occurrence.made) == (2, 2 / 6, 2)
    card = look_up(RANKS, 20)
    assert (card.kind, card.rank, card.depth, card.child_count, card.variants) == ("special", None, None, None, ())
    assert look_up(RANKS, 21).kind == "added"
    with pytest.raises(InputError):
        look_up(RANKS, 13)


def test_pieces():
    kinds = {token_id: look_up(PIECES, token_id).kind for token_id in range(1, 6)}
    assert kinds == {1: "byte", 2: "ordinary", 3: "ordinary", 4: "ordinary", 5: "user-defined"}
    card = look_up(PIECES, 4)
    assert (card.token.content, card.written, card.score, card.rank) == (b" A", "▁A".encode(), -1.5, None)
    assert [(each.token.token_id, each.differs_by) for each in card.variants] == [
        (1, "leading space"), (2, "leading space"),
    ]  # fmt: skip
    assert [each.differs_by for each in look_up(PIECES, 2).variants] == ["same text", "leading space"]


def test_merges_have_numbers_and_other_models_no_tree():
    vocabulary = Vocabulary.from_tokens([b"a", b"b", b"ab", b"aba"])
    model = CharacterBpe(vocabulary, Merges.from_pairs([(2, 0, 3), (0, 1, 2)]), unk_id=1)
    cards = [look_up(Anatomy(Tokenizer(model)), token_id) for token_id in range(4)]
    assert [(card.rank, card.kind) for card in cards] == [
        (None, "ordinary"), (None, "unknown"), (1, "ordinary"), (0, "ordinary"),
    ]  # fmt: skip
    words = Anatomy(Tokenizer(WordPiece(Vocabulary.from_tokens([b"[UNK]", b"a", b"##a"]), 0)))
    card = look_up(words, 2)
    assert (card.depth, card.rank, card.child_count, len(card.tree)) == (None, None, None, 1)
    assert [each.differs_by for each in card.variants] == ["same text"]


def test_a_large_tree_is_cut():
    tokens = [b"a" * length for length in range(1, 1025)]
    merges = Merges.from_pairs([(length - 2, 0, length - 1) for length in range(2, 1025)])
    card = look_up(Anatomy(Tokenizer(stages.MergeBpe(Vocabulary.from_tokens(tokens), merges))), 1023)
    assert (card.depth, len(card.tree), card.tree_is_cut) == (1023, 1000, True)
    first = look_up(Anatomy(Tokenizer(stages.MergeBpe(Vocabulary.from_tokens(tokens), merges))), 0)
    assert (len(first.children), first.child_count, first.descendant_count) == (20, 1023, 1023)
