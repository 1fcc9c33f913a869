"""Reachability by hand, and in tokenizers whose oddities are known."""

from __future__ import annotations

from array import array

import pytest

from bpe_cli import _core, load
from bpe_cli.errors import InputError
from bpe_cli.reports.tokenizer.reachability import REACHABLE
from bpe_cli.reports.tokenizer.reachability.examine import examine
from bpe_cli.reports.tokenizer.reachability.pieces import cuts_between_characters
from bpe_cli.stages import (
    NFC,
    BertNormalizer,
    BertPreTokenizer,
    ByteLevel,
    ByteLevelNormalizer,
    CharacterBpe,
    LongestMatch,
    MergeBpe,
    PrefixSpace,
    RankBpe,
    ScoredBpe,
    SpecialToken,
    Split,
    WordPiece,
)
from bpe_cli.stages.spelling import NORMAL, UNKNOWN, UNUSED
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.merging import of_ranks
from tests.thorough import more
from tests.unit.reports.published import published

BYTES = [bytes([byte]) for byte in range(256)]


def verdicts(tokenizer):
    """What is said of tokens of several bytes: their layer and their witness or reason."""
    reachability = examine(tokenizer)
    return {
        reachability.contents[token_id]: (verdict.layer, verdict.witness or verdict.reason)
        for token_id, verdict in reachability.verdicts.items()
        if len(reachability.contents[token_id]) > 1
    }


def test_merges_by_hand():
    """``ab`` and ``bc`` are made of their letters; ``abc`` would need ``a`` + ``bc``, but ``ab`` comes first."""
    vocabulary = Vocabulary.from_tokens([*BYTES, b"ab", b"bc", b"abc", b"xyz"])
    merges = Merges.from_pairs([(97, 98, 256), (98, 99, 257), (97, 257, 258)])
    assert verdicts(Tokenizer(MergeBpe(vocabulary, merges))) == {
        b"abc": ("merges", 'its own text is merged to "ab" + "c"'),
        b"xyz": ("merges", 'its own text is merged to "x" + "y" + "z"'),
    }
    assert verdicts(Tokenizer(MergeBpe(vocabulary, merges, ignore_merges=True))) == {
        b"abc": ("whole", b"abc"),
        b"xyz": ("whole", b"xyz"),
    }


def test_unused_pieces_serve_merging_only():
    """A single character is one too: it is unknown, and not "merged to" nothing."""
    texts = ["", "a", "b", "ab", "c", "abc"]
    scores, kinds = array("d", [0, -9, -9, -1, -9, -2]), bytes([UNKNOWN, NORMAL, NORMAL, UNUSED, UNUSED, NORMAL])
    vocabulary = Vocabulary.from_tokens([text.encode() for text in texts])
    found = examine(Tokenizer(ScoredBpe(vocabulary, scores, 0, kinds))).verdicts
    reason = "the file marks it as unused: it serves merging only"
    assert {each: (found[each].layer, found[each].reason) for each in found} == dict.fromkeys(
        (3, 4), ("special", reason)
    )


def test_ranks_merge_a_token_that_a_higher_rank_makes():
    vocabulary = Vocabulary.from_tokens([*BYTES, b"abc", b"ab"])
    assert verdicts(Tokenizer(RankBpe(vocabulary))) == {}
    vocabulary = Vocabulary.from_tokens([*BYTES, b"abcd", b"bc"])
    assert verdicts(Tokenizer(RankBpe(vocabulary))) == {b"abcd": ("whole", b"abcd")}


def not_left_in_two_parts(vocabulary):
    """Tokens of several bytes that lower ranks alone do not leave in two parts."""
    _, token_ids = _core.recover_merges(vocabulary.blob, vocabulary.ends)
    return set(memoryview(token_ids))


def test_tokens_that_lower_ranks_do_not_make_as_llama3_has_them():
    """``abc`` and ``pqrs`` wait for a higher rank; ``wxyz`` and ``hijk`` come to three parts whatever is merged."""
    vocabulary = Vocabulary.from_tokens([*BYTES, b"abc", b"pqrs", b"wxyz", b"ab", b"pq", b"rs", b"xy", b"hijk", b"ij"])
    abc, pqrs, wxyz, ab, pq, rs, _, hijk, _ = range(256, 265)
    found = of_ranks(vocabulary)
    assert not_left_in_two_parts(vocabulary) == {abc, pqrs, wxyz, hijk}
    assert found.whole == (wxyz, hijk)
    assert {(ab, ord("c"), abc), (pq, rs, pqrs)} < set(found.merges)
    assert verdicts(Tokenizer(RankBpe(vocabulary))) == {b"wxyz": ("whole", b"wxyz"), b"hijk": ("whole", b"hijk")}
    as_list = Tokenizer(MergeBpe(vocabulary, found.merges))
    assert {token: layer for token, (layer, _) in verdicts(as_list).items()} == {b"wxyz": "merges", b"hijk": "merges"}


def test_a_part_of_a_character_that_merging_does_not_come_to_needs_ill_formed_text():
    """Pieces end between characters, so no completion is tried; an added token may cut one."""
    vocabulary = Vocabulary.from_tokens([*BYTES, b"\xe8\xb0\xb0\xe8", b"\xb0\xb0"])
    (said,) = [each for token, each in examined(vocabulary).items() if token == b"\xe8\xb0\xb0\xe8"]
    assert (said.layer, said.witness) == ("ill-formed", b"\xe8\xb0\xb0\xe8")
    assert said.reason == "merging does not come to it, and pieces of well-formed text end between characters"
    cut = SpecialToken(b"\x80", 300, special=False)
    said = examined(vocabulary, (cut,))[b"\xe8\xb0\xb0\xe8"]
    assert (said.layer, said.witness) == ("completion", b"\xe8\xb0\xb0\xe8\x80\x80")


def test_where_pieces_may_end_within_characters():
    model = RankBpe(Vocabulary.from_tokens(BYTES))
    assert cuts_between_characters(Tokenizer(model, (Split("a"), ByteLevel())))
    assert not cuts_between_characters(Tokenizer(model, (ByteLevel(), Split("a"))))
    assert not cuts_between_characters(Tokenizer(model, normalizer=(ByteLevelNormalizer(),)))
    assert not cuts_between_characters(Tokenizer(model, special_tokens=(SpecialToken(b"\x80", 300, special=False),)))


def test_a_space_that_a_stage_puts_before_ill_formed_text():
    made = Tokenizer(RankBpe(Vocabulary.from_tokens([*BYTES, b" \x81", b" \xe8"])), (PrefixSpace(), Split(r" ?\S+")))
    assert verdicts(made) == {
        b" \x81": ("ill-formed", b"\x81"),
        b" \xe8": ("completion", b"\xe8\x80\x80"),
    }


def examined(vocabulary, special_tokens=()):
    found = examine(Tokenizer(RankBpe(vocabulary), special_tokens=special_tokens))
    return {found.contents[token_id]: verdict for token_id, verdict in found.verdicts.items()}


def test_pieces_by_hand():
    r"""No match of the pattern holds a blank behind a letter, but one line end."""
    tokens = [*BYTES, b"b ", b"b c", b"b\n", b"\n\n"]
    merges = Merges.from_pairs([(98, 32, 256), (256, 99, 257), (98, 10, 258), (10, 10, 259)])
    vocabulary = Vocabulary.from_tokens(tokens)
    made = Tokenizer(MergeBpe(vocabulary, merges), (Split(r"\p{L}+\n?| ?\p{L}+|\s+"),))
    assert verdicts(made) == {
        b"b ": ("pieces", 'no match of the split pattern holds "b "'),
        b"b c": ("pieces", 'no match of the split pattern holds "b c"'),
    }


def test_a_token_that_needs_a_neighbour():
    r"""A line end belongs to a piece only behind punctuation."""
    tokens = [*BYTES, b"\n/"]
    made = Tokenizer(RankBpe(Vocabulary.from_tokens(tokens)), (Split(r"[^\s\p{L}]+[\n/]*|\s+|\p{L}+"),))
    assert verdicts(made) == {b"\n/": ("context", "☃\n/".encode())}


def test_parts_of_characters():
    vocabulary = Vocabulary.from_tokens([*BYTES, b"\xe8\xb0", b"\xb0\xe8", b"\xff\xff", b"\xc3\xa9"])
    assert verdicts(Tokenizer(RankBpe(vocabulary))) == {
        b"\xe8\xb0": ("completion", b"\xe8\xb0\x80"),
        b"\xb0\xe8": ("completion", "°耀".encode()),
        b"\xff\xff": ("ill-formed", b"\xff\xff"),
    }


def test_a_beginning_whose_characters_all_have_tokens_is_reached_by_ill_formed_bytes_alone():
    whole = [bytes([0xC3, last]) for last in range(0x80, 0xC0)]
    found = examine(Tokenizer(RankBpe(Vocabulary.from_tokens([*BYTES, *whole]))))
    assert (found.verdicts[0xC3].layer, found.verdicts[0xC3].witness) == ("ill-formed", b"\xc3")
    assert found.verdicts[0xC4].layer == "completion"


def test_what_a_normalizer_and_an_added_token_take():
    vocabulary = Vocabulary.from_tokens([*BYTES, "e\u0301".encode(), b"xaby"])
    made = Tokenizer(RankBpe(vocabulary), normalizer=(NFC(),))
    assert verdicts(made) == {
        b"xaby": ("whole", b"xaby"),
        "e\u0301".encode(): (
            "shadowed",
            "the normalizer writes it as U+00E9: its own U+0065 U+0301 is not in NFC",
        ),
    }
    added = SpecialToken(b"ab", 300, special=False)
    assert verdicts(Tokenizer(RankBpe(vocabulary), special_tokens=(added,))) == {
        "e\u0301".encode(): ("whole", "e\u0301".encode()),
        b"xaby": ("shadowed", 'it holds the added token "ab", which is always found first'),
    }


def test_bert_by_hand():
    tokens = ["[UNK]", "[CLS]", "a", "##b", "A", "##!", "##中", "it's", "[unused1]", "国"]
    model = WordPiece(Vocabulary.from_tokens(token.encode() for token in tokens), 0)
    special = (SpecialToken(b"[UNK]", 0), SpecialToken(b"[CLS]", 1))
    found = examine(Tokenizer(model, (BertPreTokenizer(),), special, normalizer=(BertNormalizer(),)))
    said = {tokens[token_id]: (each.layer, each.witness or each.reason) for token_id, each in found.verdicts.items()}
    assert said == {
        "[UNK]": ("fallback", "☃".encode()),
        "[CLS]": ("special", "text becomes it only where special tokens are asked for"),
        "##b": ("context", b"ab"),
        "A": ("shadowed", 'the normalizer makes "a" of "A"'),
        "##!": ("pieces", 'the pre-tokenizer cuts before "!", so nothing in a word goes on with it'),
        "##中": ("pieces", 'the normalizer puts spaces around "中", so it is a piece alone'),
        "it's": ("pieces", """the pre-tokenizer cuts it: "it" | "'" | "s\""""),
        "[unused1]": ("pieces", 'the pre-tokenizer cuts it: "[" | "unused1" | "]"'),
    }
    assert (found.reachable_count, found.unreachable_count, found.undecided_count) == (4, 5, 0)


def test_what_stands_beside_a_token_is_a_letter_first():
    tokens = ["[UNK]", "ª", "q", "x", "qu", "xi", "##ing", "##ng"]
    model = WordPiece(Vocabulary.from_tokens(token.encode() for token in tokens), 0)
    assert examine(Tokenizer(model), [6]).verdicts[6].witness == b"qing"


def test_the_end_of_a_word():
    """``b</w>`` ends a word; ``1`` is a piece alone, so it ends one always and never goes on."""
    tokens = ["a", "b", "1", "a</w>", "b</w>", "1</w>", "ab</w>", "ab", "?"]
    ids = {token: number for number, token in enumerate(tokens)}
    merges = Merges.from_pairs([(ids["a"], ids["b</w>"], ids["ab</w>"])])
    vocabulary = Vocabulary.from_tokens(token.encode() for token in tokens)
    model = CharacterBpe(vocabulary, merges, unk_id=8, end_of_word_suffix="</w>")
    made = Tokenizer(model, (Split(r"\p{L}+|\p{N}", "Removed", invert=True),))
    assert verdicts(made) == {b"ab": ("merges", 'its own text is merged to "a" + "b"')}
    digit = examine(made, [ids["1"]]).verdicts[ids["1"]]
    assert digit.layer == "pieces"
    assert digit.reason == 'it is no end of a piece, and no match of the split pattern goes on behind "1"'


def test_a_suffix_that_is_a_token_of_its_own_ends_a_piece_behind_any_token():
    """No match goes on behind ``cd``, but ``</w>`` does."""
    tokens = ["c", "d", "-", "</w>", "cd", "<unk>"]
    vocabulary = Vocabulary.from_tokens(token.encode() for token in tokens)
    stages = (Split(r"-\p{L}{2}|\p{L}|-"),)
    settings = {"unk_id": 5, "end_of_word_suffix": "</w>", "separate_suffix": True}
    merging = Tokenizer(CharacterBpe(vocabulary, Merges.from_pairs([(0, 1, 4)]), **settings), stages)
    matching = Tokenizer(LongestMatch(vocabulary, **settings), stages)
    for made in (merging, matching):
        assert made.encode("-cd") == [2, 4, 3]
        assert examine(made, [4]).verdicts[4].reachable is not False


def test_some_tokens_alone():
    found = examine(load("gpt2"), [0, 94])
    assert [verdict.layer for verdict in found.verdicts.values()] == ["plain", "completion"]
    assert found.verdicts[0].witness == b"!"
    with pytest.raises(InputError, match="id 60000 is not in the vocabulary"):
        examine(load("gpt2"), [60000])


def test_no_tokens():
    found = examine(Tokenizer(RankBpe(Vocabulary.from_tokens([]))))
    assert (found.examined, found.counts, dict(found.verdicts)) == (0, (), {})


# -- real tokenizers ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gpt2", *more([], ["cl100k_base"]), "o200k_base"])
def test_all_tokens_of_openai_can_be_reached(name):
    tokenizer = load(name)
    found = examine(tokenizer)
    assert found.unreachable_count == found.undecided_count == 0
    assert dict(found.counts)["special"] == len(tokenizer.special_tokens)
    assert "whole" not in dict(found.counts), "merging comes to all of them"
    for token_id, verdict in found.verdicts.items():
        if verdict.reachable and verdict.layer != "completion":
            assert token_id in tokenizer.encode(verdict.witness)
    if name == "o200k_base":
        assert found.verdicts[3413].witness == b" I'S", "the one of 21 pieces in which it is left"


def test_llama3_has_tokens_that_are_whole_pieces_only(shared):
    """Of 678 that lower ranks do not leave in two parts, higher ranks make 90; 588 are whole pieces only."""
    tokenizer = published(shared / "vocabs" / "llama3-tiktoken").tokenizer
    found = examine(tokenizer)
    whole = {token_id for token_id, verdict in found.verdicts.items() if verdict.layer == "whole"}
    assert whole == set(of_ranks(tokenizer.model.vocabulary).whole)
    assert len(whole) == 588
    waiting = not_left_in_two_parts(tokenizer.model.vocabulary)
    assert (len(waiting), len(waiting - whole)) == (678, 90)
    assert whole < waiting
    # Without the look-up of whole pieces, no text becomes them.
    merged = published(shared / "vocabs" / "hf-llama3").tokenizer
    assert {each.layer for each in examine(merged, whole).verdicts.values()} == {"whole"}
    model = merged.model
    bare = examine(Tokenizer(MergeBpe(model.vocabulary, model.merges), merged.pre_tokenizer), whole)
    assert {each.layer for each in bare.verdicts.values()} == {"merges"}


def test_qwen_has_tokens_that_its_pattern_and_its_normalizer_never_leave(shared):
    found = examine(published(shared / "vocabs" / "hf-qwen2_5").tokenizer)
    counts = dict(found.counts)
    assert (counts["pieces"], counts["shadowed"], found.undecided_count) == (1661, 248, 0)
    by_token = {content: found.verdicts[token_id] for token_id, content in found.contents.items()}
    assert by_token["ที่".encode()].layer == "pieces", "marks are no letters in this pattern"
    assert by_token[" va\u0300".encode()].layer == "shadowed", "no text in NFC holds it"


@pytest.mark.parametrize(
    ("name", "unreachable", "undecided"),
    [
        ("bert-base-uncased", 1331, 0),  # [unused1], ##!, ##中: pieces
        ("roberta-base", 4, 0),  # madeupword0000
        ("t5-small", 2, 0),
        ("xlnet-base-cased/spiece.model", 5, 0),
        ("llama2/tokenizer.model", 96, 0),  # bytes whose character has a token
        ("clip", 74, 0),
    ],
)
def test_others(shared, name, unreachable, undecided):
    tokenizer = published(shared / "vocabs" / name).tokenizer
    found = examine(tokenizer)
    assert (found.unreachable_count, found.undecided_count) == (unreachable, undecided)
    sample = [each for each in found.verdicts.values() if each.layer in REACHABLE][::50]
    for verdict in sample:
        assert verdict.token_id in tokenizer.encode(verdict.witness)
    assert sum(tokens for _, tokens in found.counts) == found.examined
