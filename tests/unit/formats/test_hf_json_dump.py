"""tokenizer.json: that what is written is Hugging Face's own layout, means the same there, and reads back."""

from __future__ import annotations

import dataclasses
import json
from array import array

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError
from bpe_cli.formats.files import rehearse
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.stages import MergeBpe, PrefixSpace, RankBpe, SpecialToken, Split, Unigram, WordLevel, WordPiece
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.needs import needs

TEXTS = [
    "",
    " ",
    "hello world",
    " hello",
    "hello<s>hello!",
    "héllo\n\n  x 123456",
    "<added>é<added>",
    "日本 hello  \t!",
]


def variants(make):
    specials = [SpecialToken(b"<added>", 263, special=False), SpecialToken("«fin»".encode(), 264)]
    gap = [SpecialToken(b"<added>", 300, special=False)]
    return {
        "plain": make(),
        "specials-first": make(specials_first=["<s>", "<pad>"]),
        "specials-last": make(specials=specials),
        "gap": make(specials_first=["<s>"], specials=gap),
        "prefix-space": make(pre_tokenizer=(PrefixSpace(), Split(PATTERNS["gpt2"].regex))),
        "no-pattern": make(pre_tokenizer=()),
        "o200k": make(pre_tokenizer=(Split(PATTERNS["o200k"].regex),)),
        "cl100k": make(pre_tokenizer=(Split(PATTERNS["cl100k"].regex),)),
        "two-splits": make(pre_tokenizer=(Split(r"\d"), Split(PATTERNS["gpt2"].regex))),
        "ignore-merges": make(ignore_merges=True, unicode_version="16.0.0"),
        "post-processor": make(specials_first=["<s>"], post_processor='{"type":"Sequence","processors":[]}'),
        "no-merges": make(()),
        "overlap": make(specials=[SpecialToken(b"lo<", 263, special=False), SpecialToken(b"<s>", 264)]),
    }


VARIANTS = [
    "plain",
    "specials-first",
    "specials-last",
    "gap",
    "prefix-space",
    "no-pattern",
    "o200k",
    "cl100k",
    "two-splits",
    "ignore-merges",
    "post-processor",
    "no-merges",
    "overlap",
]


@pytest.mark.parametrize("name", VARIANTS)
def test_reading_what_was_written_gives_the_same(make, name):
    tokenizer = variants(make)[name]
    assert hf_json.loads(hf_json.dump(tokenizer)[""]) == tokenizer


@pytest.mark.parametrize("name", VARIANTS)
def test_hugging_face_reads_it_and_gives_equal_ids(make, name):
    rival = needs("tokenizers")
    tokenizer = variants(make)[name]
    theirs = rival.Tokenizer.from_str(hf_json.dump(tokenizer)[""].decode())
    for text in TEXTS:
        expected = theirs.encode(text, add_special_tokens=False).ids
        assert tokenizer.encode(text, specials="all") == expected, text
    for special in tokenizer.special_tokens:
        assert theirs.token_to_id(special.content.decode()) == special.token_id


@pytest.mark.parametrize("name", [name for name in VARIANTS if name != "gap"])
def test_bytes_equal_those_that_hugging_face_writes(make, name, tmp_path):
    from dataclasses import replace

    rival = needs("tokenizers")
    tokenizer = replace(variants(make)[name], unicode_version=None)
    ours = hf_json.dump(tokenizer)[""]
    path = tmp_path / "theirs.json"
    rival.Tokenizer.from_str(ours.decode()).save(str(path), pretty=True)
    assert ours == path.read_bytes()


def test_pattern_is_spelled_so_that_hugging_face_reads_the_same(make):
    """Its engine takes ``{1,3}+`` for a repetition: seven digits would be one piece instead of three."""
    written = json.loads(hf_json.dump(make(pre_tokenizer=(Split(PATTERNS["cl100k"].regex),)))[""])
    pattern = written["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"]
    assert r"|\p{N}{1,3}|" in pattern
    rival = needs("tokenizers")
    splitter = rival.pre_tokenizers.Split(rival.Regex(pattern), "isolated")
    assert [piece for piece, _ in splitter.pre_tokenize_str("1234567")] == ["123", "456", "7"]


def test_ranks_become_merges_when_that_is_exact(make):
    merges = make()
    ranks = make(ranks=True)
    assert hf_json.loads(hf_json.dump(ranks)[""]) == merges
    assert hf_json.dump(ranks) == hf_json.dump(merges)


def test_ranks_that_no_merge_reaches_are_whole_pieces():
    ranks = Tokenizer(RankBpe(Vocabulary.from_tokens([b"a", b"b", b"c", b"ab", b"abca"])))
    written = json.loads(hf_json.dump(ranks)[""])["model"]
    assert (written["ignore_merges"], written["merges"]) == (True, [["a", "b"]])
    again = hf_json.loads(hf_json.dump(ranks)[""])
    for text, ids in {"abca": [4], "abcab": [3, 2, 3], "cabca": [2, 3, 2, 0]}.items():
        assert ranks.encode(text) == again.encode(text) == ids


def test_ranks_that_merge_a_byte_without_a_token_are_refused():
    vocabulary = Vocabulary.from_tokens([b"a", b"ab"])
    with pytest.raises(FormatError) as caught:
        hf_json.dump(Tokenizer(RankBpe(vocabulary)))
    assert caught.value.message == "the token \"ab\" (id 1) is merged of bytes, and the byte b'b' is not a token"
    assert "tiktoken" in caught.value.hint


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"specials": [SpecialToken(b"\xff", 263)]}, "is not UTF-8, and JSON holds only text"),
        ({"specials": [SpecialToken(b"hello", 263)]}, 'the special token "hello" (id 263) would be written like'),
        ({"specials": [SpecialToken(b"<x>", 7)]}, "id 7 is both"),
        ({"specials": [SpecialToken(b"<x>", 263), SpecialToken(b"<y>", 263)]}, 'id 263 is both "<x>" and "<y>"'),
        ({"pre_tokenizer": (PrefixSpace(), Split("x"))}, "cannot say that a space is put before the text"),
        ({"pre_tokenizer": (Split("x$"),)}, "would be read differently by Hugging Face's library: $ in the pattern"),
        ({"pre_tokenizer": (Split("\ud800"),)}, "cannot be written as JSON"),
    ],
)
def test_what_cannot_be_said_is_refused(make, changes, message):
    with pytest.raises(FormatError) as caught:
        hf_json.dump(make(**changes))
    assert message in caught.value.message


def test_an_expression_that_is_read_differently_has_another_way_out(make):
    """No format holds it, and nothing else is wrong with the tokenizer."""
    with pytest.raises(FormatError) as caught:
        rehearse(make(pre_tokenizer=(Split("x$"),)), "bpe.json")
    assert caught.value.hint == "write the expression another way: bpe.json has expressions as tokenizer.json has them"


def test_tokens_of_the_same_bytes_are_refused():
    model = MergeBpe(Vocabulary.from_tokens([b"a", b"a"]), Merges.from_pairs([]))
    with pytest.raises(FormatError, match="the tokens 0 and 1 are the same bytes"):
        hf_json.dump(Tokenizer(model))


def test_merge_that_makes_other_bytes_is_refused():
    model = MergeBpe(Vocabulary.from_tokens([b"a", b"b", b"c"]), Merges.from_pairs([(0, 1, 2)]))
    with pytest.raises(FormatError, match='merge 1 makes "c" of "a" and "b"'):
        hf_json.dump(Tokenizer(model))


def test_unicode_version_is_kept_where_hugging_face_passes_over_it(make):
    data = hf_json.dump(make(unicode_version="15.1.0"))[""]
    assert json.loads(data)["model"]["unicode_version"] == "15.1.0"
    assert hf_json.loads(data).unicode_version == "15.1.0"


# -- real files --------------------------------------------------------------------------------


def test_written_llama3_is_what_hugging_face_writes(shared, tmp_path):
    rival = needs("tokenizers")
    path = shared / "vocabs" / "hf-llama3" / "tokenizer.json"
    theirs = tmp_path / "theirs.json"
    rival.Tokenizer.from_file(str(path)).save(str(theirs), pretty=True)
    assert hf_json.dump(formats.load(path))[""] == theirs.read_bytes()


def test_whisper_has_ids_of_its_own(shared):
    tokenizer = hf_json.load(shared / "vocabs" / "whisper-tiny" / "tokenizer.json")
    assert len(tokenizer.special_tokens) == 1608
    assert hf_json.loads(hf_json.dump(tokenizer)[""]) == tokenizer


def test_an_added_token_whose_id_needs_an_entry_becomes_no_word_of_the_model():
    """Where ids begin with 1 the vocabulary has to say which id is the token's, and the model reads it too."""
    added = (
        SpecialToken(b"<a>", 3, special=False, single_word=True),
        SpecialToken(b"bb", 4, single_word=True),
        SpecialToken(b"[S]", 5),
    )
    tokenizer = Tokenizer(WordPiece(Vocabulary.from_ids({b"[UNK]": 1, b"x": 2}), 1), special_tokens=added)
    assert tokenizer.encode("[S]<a>bb", specials="all") == [5, 1, 4]
    with pytest.raises(FormatError, match=r"what would be written does something else: .* read back"):
        formats.dump(tokenizer, "tokenizer.json")
    always = (dataclasses.replace(added[0], single_word=False), *added[1:])
    assert formats.dump(dataclasses.replace(tokenizer, special_tokens=always), "tokenizer.json")


def of_pieces(*added: int) -> Tokenizer:
    """Unigram with eight pieces, and added tokens with these ids."""
    vocabulary = Vocabulary.from_tokens([b"", *(bytes([letter]) for letter in b"abcdefg")])
    specials = [SpecialToken(b"<unk>", 0), *(SpecialToken(b"<%d>" % number, number) for number in added)]
    return Tokenizer(Unigram(vocabulary, array("d", [0.0] + [-1.0] * 7), 0), special_tokens=tuple(specials))


@pytest.mark.parametrize(("added", "place"), [((100,), 8), ((8, 9, 11), 10)])
def test_added_tokens_behind_a_gap_have_no_place_in_a_list_of_pieces(added, place):
    """Hugging Face's library would number them anew, and the file's own ids would count for nothing."""
    tokenizer = of_pieces(*added)
    for name in ("tokenizer.json", "huggingface"):
        with pytest.raises(FormatError) as caught:
            formats.dump(tokenizer, name)
        assert f'"<{added[-1]}>" has id {added[-1]}' in caught.value.message
        assert f"library makes it {place}:" in caught.value.message
    assert hf_json.loads(formats.dump(tokenizer, "bpe.json")[""]) == tokenizer


def test_added_tokens_after_a_list_of_pieces_keep_their_ids_in_hugging_face():
    rival = needs("tokenizers")
    written = formats.dump(of_pieces(8, 9), "tokenizer.json")[""].decode()
    theirs = rival.Tokenizer.from_str(written)
    assert [theirs.token_to_id(text) for text in ("<unk>", "<8>", "<9>")] == [0, 8, 9]


@pytest.mark.parametrize("own", [False, True])
def test_without_decoders_tokens_are_joined_in_hugging_face_too(own):
    """With ``null`` its library would put blanks between them; a file that has it keeps it."""
    rival = needs("tokenizers")
    vocabulary = Vocabulary.from_tokens([b"<unk>", b"l", b"o", b" "])
    tokenizer = Tokenizer(WordLevel(vocabulary, 0), (Split("."),))
    name = "bpe.json" if own else "tokenizer.json"
    written = formats.dump(tokenizer, name)[""]
    assert json.loads(written)["decoder"] == {"type": "Sequence", "decoders": []}
    assert hf_json.loads(written) == tokenizer
    ids = tokenizer.encode("lo o")
    theirs = rival.Tokenizer.from_str(written.decode())
    assert tokenizer.decode(ids) == theirs.decode(ids, skip_special_tokens=False) == "lo o"
    without = json.dumps(json.loads(written) | {"decoder": None}).encode()
    assert json.loads(formats.dump(hf_json.loads(without), name)[""])["decoder"] is None
