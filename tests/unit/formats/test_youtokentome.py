"""YouTokenToMe's models: what is read, what is written, what is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import formats
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.formats import youtokentome
from bpe_cli.formats.features import LOSSES
from bpe_cli.stages import CharacterBpe, Lowercase, SpecialToken, WhitespaceSplit
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Usage
from bpe_cli.trainers import bpe, train
from tests.unit.formats.hostile import refused_quickly, try_all

SMALL = b"4 3\n98 6\n9601 4\n97 5\n233 7\n5 6 8\n4 8 9\n8 5 10\n1 0 2 3\n"
"""Characters b ▁ a é, in no order; ab, ▁ab, aba."""


def by_rank(text: str) -> list[int]:
    """The oracle: cut, mark, merge the pair of the first rule everywhere, again and again."""
    ids = {"▁": 4, "a": 5, "b": 6, "é": 7}
    rules = {(5, 6): 8, (4, 8): 9, (8, 5): 10}
    found = []
    for word in re.split("[\t\n\v\f\r ▁]+", text):
        if word:
            symbols: list[int] = []
            for character in "▁" + word:
                token_id = ids.get(character, 1)
                if not (token_id == 1 and symbols[-1:] == [1]):
                    symbols.append(token_id)
            for pair, product in rules.items():  # here no product comes before its parts
                at = 0
                while at < len(symbols) - 1:
                    if (symbols[at], symbols[at + 1]) == pair:
                        symbols[at : at + 2] = [product]
                    at += 1
            found += symbols
    return found


def again(data: bytes) -> None:
    """What can be read can be written, and is the same when read."""
    tokenizer = youtokentome.loads(data)
    assert youtokentome.loads(youtokentome.dump(tokenizer)[""]) == tokenizer


def test_model_is_read():
    tokenizer = youtokentome.loads(SMALL)
    assert tokenizer.encode("ab aba  baé\n") == [9, 9, 5, 4, 6, 5, 7]
    assert tokenizer.encode("axyzb\xa0") == [4, 5, 1, 6, 1], "unknown neighbours are one; a no-break space is no blank"
    assert tokenizer.encode("a▁b\x0ba") == [4, 5, 4, 6, 4, 5], "a mark in a text is a blank"
    assert tokenizer.encode(b"a\xffb") == [4, 5, 1, 6]
    assert tokenizer.encode("") == tokenizer.encode(" \t\n▁") == []
    assert tokenizer.decode_bytes([9, 9, 5, 4, 6, 1]) == b"ab aba b<UNK>"
    assert tokenizer.decode_bytes([2, 9, 3]) == b"<BOS> ab<EOS>"
    assert tokenizer.special_tokens == tuple(
        SpecialToken(text, number) for number, text in enumerate([b"<PAD>", b"<UNK>", b"<BOS>", b"<EOS>"])
    )
    assert tokenizer.usage == Usage(roles=(("bos", 2), ("eos", 3), ("unk", 1), ("pad", 0)))
    assert tokenizer.origin.facts == (
        ("characters", 4), ("rules", 3), ("unk_id", 1), ("pad_id", 0), ("bos_id", 2), ("eos_id", 3)
    )  # fmt: skip


@given(st.text("aabbé x▁\t\n"))
def test_ids_are_those_of_the_oracle(text):
    assert youtokentome.loads(SMALL).encode(text) == by_rank(text)


def test_files_come_out_as_they_went_in(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(SMALL)
    assert formats.identify(path) == "youtokentome"
    tokenizer = formats.load(path)
    assert youtokentome.dump(tokenizer) == {"": SMALL}
    in_order = youtokentome.dump(replace(tokenizer, origin=None))[""]
    assert in_order == b"4 3\n9601 4\n97 5\n98 6\n233 7\n5 6 8\n4 8 9\n8 5 10\n1 0 2 3\n"
    assert youtokentome.loads(in_order) == tokenizer
    with pytest.raises(UsageError, match="no pattern can be given"):
        formats.load(path, "gpt2")
    with pytest.raises(InputError):
        youtokentome.load(tmp_path / "none")


def test_special_tokens_may_be_missing():
    data = SMALL.replace(b"1 0 2 3\n", b"1 -1 -1 3\n")
    tokenizer = youtokentome.loads(data)
    assert tokenizer.special_tokens == (SpecialToken(b"<UNK>", 1), SpecialToken(b"<EOS>", 3))
    assert youtokentome.dump(tokenizer) == {"": data}


def test_the_order_of_a_file_is_not_that_of_another_tokenizer():
    tokenizer = youtokentome.loads(SMALL)
    other = youtokentome.loads(SMALL.replace(b"233 7", b"234 7"))
    written = youtokentome.dump(replace(other, origin=tokenizer.origin))[""]
    assert b"\n234 7\n" in written
    assert youtokentome.loads(written) == other


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"4 3\n", b"4\n", "not the number of characters and of rules (f:1)"),
        (b"4 3\n", b"4 4\n", "4 characters and 4 rules are announced, and 8 lines follow, not 9 (f:1)"),
        (b"4 3\n", b"2097151 2097151\n", "are announced, and 8 lines follow"),
        (b"4 3\n", b"-4 3\n", 'not a number from 0 to 2,097,151: "-4"'),
        (b"4 3\n", b"3 4\n", 'not the three ids of a rule: "233 7" (f:5)'),
        (b"4 3\n", b"5 2\n", 'not a character\'s code point and id: "5 6 8" (f:6)'),
        (b"98 6", b"1114112 6", "not a number from 0 to 1,114,111"),
        (b"98 6", b"55296 6", "U+D800 is half of a pair of surrogates, and no character (f:2)"),
        (b"98 6", b"98 5", "the id 5 is given to another character already (f:4)"),
        (b"98 6", b"97 6", 'ids 6 and 5 are both "a"'),
        (b"9601 4", b"95 4", "has no id for U+2581"),
        (b"98 6", b"98 2", 'id 2 is <BOS> and the character "b"'),
        (b"5 6 8", b"5 11 8", "the merge uses id 11, which is not a token so far (f:6)"),
        (b"5 6 8", b"5 6 7", "the merge makes id 7, which is a token already (f:6)"),
        (b"5 6 8", b"5 6 3", "the rule makes id 3, which is a special token (f:6)"),
        (b"8 5 10", b"5 6 10", 'makes "ab" as id 10, which is id 8 already (f:8)'),
        (b"1 0 2 3", b"-1 0 2 3", "there is no id for <UNK>"),
        (b"1 0 2 3", b"1 0 2 2", "two special tokens have one id"),
        (b"1 0 2 3", b"1 0 2", "not the ids of <UNK>, <PAD>, <BOS>, <EOS>"),
        (b"1 0 2 3", b"1 0 2 -2", 'not a number from 0 to 2,097,151: "-2" (f:9)'),
    ],
)
def test_broken_models_are_refused(old, new, message):
    with pytest.raises(FormatError) as caught:
        youtokentome.loads(SMALL.replace(old, new, 1), "f")
    assert message in caught.value.message


def test_sniffing():
    assert youtokentome.sniff(SMALL)
    many = b"".join(b"%d %d\n" % (100 + number, number) for number in range(9000))
    assert youtokentome.sniff((b"9000 1\n" + many)[: 1 << 16])
    for other in (
        b"",
        b"3 4\n1 2\n5 6\n",
        SMALL[:-9],
        b"0 0\n1 0 2 3\n",
        b"4 3\nt h\n",
        b"1 2 3\n",
        b"2 3\nthe 1.0 2.0\n",
    ):
        assert not youtokentome.sniff(other)


def test_hostile_models_are_refused_quickly():
    many = {"most_lines": 200_000, "most_cost": 35}
    doubling = b"".join(b"%d %d %d\n" % (n, n, n + 1) for n in range(4, 104))
    doubled = b"1 100\n9601 4\n" + doubling + b"1 0 2 3\n"
    assert "more than 33,554,432" in refused_quickly(doubled, youtokentome.loads, most_cost=120)
    assert "not a number" in refused_quickly(b"9" * 1_000_000 + b" 1\n", youtokentome.loads)
    assert "another character" in refused_quickly(
        b"100000 0\n" + b"97 5\n" * 100_000 + b"1 0 2 3\n", youtokentome.loads, **many
    )
    assert "is id 8 already" in refused_quickly(
        b"4 100001\n98 6\n9601 4\n97 5\n233 7\n5 6 8\n" + b"5 6 9\n" * 100_000 + b"1 0 2 3\n",
        youtokentome.loads,
        **many,
    )


def test_mutations():
    try_all(SMALL, youtokentome.loads)
    try_all(b"1 1\n9601 4\n4 4 7\n1 0 2 3\n", again)


def test_what_a_model_cannot_hold_is_refused(make):
    tokenizer = youtokentome.loads(SMALL)
    model = tokenizer.model
    with pytest.raises(FormatError, match="cannot hold byte-level BPE by merges"):
        youtokentome.dump(make())
    for change in ({"unk_id": None}, {"fuse_unk": False}, {"byte_fallback": True}, {"ignore_merges": True}):
        with pytest.raises(FormatError, match="this tokenizer's has not"):
            youtokentome.dump(replace(tokenizer, model=replace(model, **change)))
    with pytest.raises(FormatError, match="this tokenizer's has not"):
        youtokentome.dump(train(["low low"], bpe.Options(20)))
    other = replace(
        tokenizer,
        normalizer=(Lowercase(),),
        pre_tokenizer=(WhitespaceSplit(),),
        decoder=(),
        special_tokens=(*tokenizer.special_tokens, SpecialToken(b"<mask>", 11)),
    )
    with pytest.raises(FormatError) as caught:
        youtokentome.dump(other)
    for what in ("the normalizer", "the pre-tokenizer (words are cut", "the decoder", "other than <UNK>, <PAD>"):
        assert what in caught.value.message
    assert youtokentome.dump(other, LOSSES) == {"": SMALL}
    renamed = replace(tokenizer, special_tokens=(SpecialToken(b"<unk>", 1),))
    assert youtokentome.loads(youtokentome.dump(renamed, LOSSES)[""]).special_tokens == (SpecialToken(b"<UNK>", 1),)


@pytest.mark.parametrize(
    ("tokens", "triples", "message"),
    [
        (["▁", "a", "b", "ab"], [], 'no rule makes "ab", which is not a single character'),
        (["▁", "a", "b", "x"], [(2, 3, 4)], 'here "a" and "b" make "x"'),
        (["▁", "a", "b", "ab", "aba", "ba"], [(2, 3, 4), (3, 2, 6), (4, 2, 5), (2, 6, 5)], "one rule a token"),
        (["▁", "a", "ab", "aba", "b"], [(3, 2, 4), (2, 5, 3)], 'the rule for "aba" comes before that for "ab"'),
        (["a", "b"], [], "needs a token for U+2581 alone"),
    ],
)
def test_rules_that_it_would_not_have(tokens, triples, message):
    vocabulary = Vocabulary.from_tokens([b"", *(token.encode() for token in tokens)])
    model = CharacterBpe(vocabulary, Merges.from_pairs(triples), unk_id=0, fuse_unk=True)
    tokenizer = replace(youtokentome.loads(SMALL), model=model, special_tokens=(SpecialToken(b"<UNK>", 0),))
    with pytest.raises(FormatError, match=re.escape(message)):
        youtokentome.dump(tokenizer)


def test_tokens_that_are_no_text_are_refused():
    model = CharacterBpe(Vocabulary.from_tokens([b"", b"\xff"]), Merges.from_pairs([]), unk_id=0, fuse_unk=True)
    with pytest.raises(FormatError, match="not UTF-8"):
        youtokentome.dump(Tokenizer(model), LOSSES)
