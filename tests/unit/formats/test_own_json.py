"""bpe.json and tokenizer.json: what only this project has stands in the first, and is refused for the second."""

from __future__ import annotations

from array import array
from typing import get_args

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError
from bpe_cli.formats.features import FEATURES
from bpe_cli.formats.huggingface import own_json
from bpe_cli.stages import (
    CharacterBpe,
    Charsmap,
    EventBpe,
    FewestTokens,
    GreedyCover,
    LongestMatch,
    MaxMatch,
    Metaspace,
    Model,
    NGram,
    ScoredBpe,
    SpaceMarks,
    SpecialToken,
    Unigram,
    WordLevel,
)
from bpe_cli.stages.models import SPLIT
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.charsmaps import in_base64
from tests.needs import needs

UNKNOWN = (SpecialToken(b"<unk>", 0),)
WORDS = Vocabulary.from_tokens([b"", b"a", b"b", b"ab"])
SCORES = array("d", [0.0, -1.0, -2.0, -3.0])
OWN = {
    "longest match": LongestMatch(WORDS, left_to_right=True, unk_id=0),
    "longest match with marks": LongestMatch(
        WORDS,
        unk_id=0,
        end_of_word_suffix="</w>",
        separate_suffix=False,
        continuing_subword_prefix="##",
        frequencies=array("d", range(WORDS.size)),
    ),
    "fewest tokens": FewestTokens(WORDS, fuse_unk=True, end_of_word_suffix="</w>", separate_suffix=True),
    "fewest tokens of words": FewestTokens(WORDS, 0, continuing_subword_prefix="##", max_input_chars_per_word=7),
    "max match": MaxMatch(WORDS, unk_id=0),
    "greedy cover": GreedyCover(WORDS, unk_id=0),
    "n-gram": NGram(WORDS, 2, unk_id=0),
    "events": EventBpe(WORDS, array("I", [1, 2, 3, 3, SPLIT, SPLIT, 1, 2, 3]), 0, fuse_unk=True, ignore_merges=False),
    "events of bytes": EventBpe(
        Vocabulary.from_tokens([b"", b"a", b"\xff", b"a\xff"]), array("I", [1, 2, 3, 3, SPLIT, SPLIT]), byte_level=True
    ),
    "form 0.1": CharacterBpe(
        WORDS, Merges.from_pairs([(1, 2, 3)]), unk_id=0, end_of_word_suffix="</w>", separate_suffix=True
    ),
    "fused words": WordLevel(WORDS, 0, fuse_unk=True),
    "apart": Unigram(WORDS, SCORES, 0, fuse_unk=False),
}
TRANSLATED = {"scored BPE": ScoredBpe(WORDS, SCORES, 0)}
THEIRS = {
    "words": WordLevel(WORDS, 0),
    "unigram": Unigram(WORDS, SCORES, 0),
    "BPE": CharacterBpe(WORDS, Merges.from_pairs([(1, 2, 3)]), unk_id=0),
}


def of(model, **stages):
    return Tokenizer(model, special_tokens=UNKNOWN, **stages)


@pytest.mark.parametrize("name", [*OWN, *TRANSLATED, *THEIRS])
def test_own_file_reads_back(name, tmp_path):
    tokenizer = of((OWN | TRANSLATED | THEIRS)[name])
    (tmp_path / "bpe.json").write_bytes(own_json.dump(tokenizer)[""])
    assert formats.load(tmp_path) == tokenizer


@pytest.mark.parametrize("name", OWN)
def test_hugging_face_s_file_refuses_what_is_our_own(name):
    for format_name in ("tokenizer.json", "huggingface"):
        with pytest.raises(FormatError) as caught:
            formats.dump(of(OWN[name]), format_name)
        assert "bpe.json" in caught.value.hint


def test_it_holds_every_kind_of_model():
    assert {kind.__dataclass_fields__["kind"].default for kind in get_args(Model)} == own_json.MODELS


def test_own_stages_are_named():
    table = in_base64("nfkc")
    with pytest.raises(FormatError, match="table of rules"):
        formats.dump(of(THEIRS["words"], normalizer=(Charsmap(table), SpaceMarks())), "tokenizer.json")


@pytest.mark.parametrize("name", THEIRS)
def test_hugging_face_loads_its_file(name):
    rival = needs("tokenizers")
    tokenizer = of(THEIRS[name])
    written = formats.dump(tokenizer, "tokenizer.json")[""]
    assert written == formats.dump(tokenizer, "bpe.json")[""]
    theirs = rival.Tokenizer.from_str(written.decode())
    for text in ("a", "ab", "x", "xx"):
        assert theirs.encode(text).ids == tokenizer.encode(text), text


def test_it_holds_every_feature():
    assert {feature.name for feature in FEATURES} <= own_json.HOLDS


@pytest.mark.parametrize("kind", [FewestTokens, LongestMatch, MaxMatch, GreedyCover])
def test_an_added_token_that_the_model_does_not_match_is_none_that_it_matches_when_it_is_read(kind, tmp_path):
    """Where an id is unused, Hugging Face's library would need it in the vocabulary, which it is not of here."""
    vocabulary = Vocabulary.from_tokens([b"a", b"", b"b"])
    added = SpecialToken(b"ab", 3, special=False, single_word=True)
    tokenizer = Tokenizer(kind(vocabulary, unk_id=None), special_tokens=(added,))
    path = tmp_path / "bpe.json"
    path.write_bytes(formats.dump(tokenizer, "bpe.json")[""])
    again = formats.load(path)
    assert again == tokenizer
    assert [again.encode(text) for text in ("ab", "bab", "aab")] == [
        tokenizer.encode(text) for text in ("ab", "bab", "aab")
    ]


@pytest.mark.parametrize("name", ["bpe.json", "tokenizer.json"])
def test_an_added_token_that_their_models_would_match_is_refused(name):
    """A mark that is put before the text makes it: the model would match it then, which it does not before."""
    model = WordLevel(Vocabulary.from_tokens([b"<unk>", b"", b"b"]), unk_id=0)
    added = SpecialToken("▁ab".encode(), 3, special=False, normalized=False)
    tokenizer = Tokenizer(model, pre_tokenizer=(Metaspace("▁", "first", split=False),), special_tokens=(added,))
    with pytest.raises(FormatError, match=r'"ab" becomes "<unk>" .0., and read back "▁ab" .3.'):
        formats.dump(tokenizer, name)
