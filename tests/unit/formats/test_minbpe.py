"""minbpe's .model: what is read, what is written, what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.formats.byte_level import minbpe
from bpe_cli.formats.features import LOSSES
from bpe_cli.stages import Lowercase, MergeBpe, PrefixSpace, RankBpe, SpecialToken, Split
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Origin
from bpe_cli.trainers import bbpe, bpe, train
from tests.unit.formats.hostile import refused_quickly, try_all

SMALL = b"minbpe v1\n \\w+|\\S\n2\n<|end|> 300\n<pad> 299\n97 98\n256 99\n"
ORDERED = SMALL.replace(b"<|end|> 300\n<pad> 299", b"<pad> 299\n<|end|> 300")


def again(data: bytes) -> None:
    """What can be read can be written, and is the same when read."""
    tokenizer = minbpe.loads(data)
    assert minbpe.loads(minbpe.dump(tokenizer)[""]) == tokenizer


def test_model_is_read():
    tokenizer = minbpe.loads(SMALL)
    assert tokenizer.patterns == ("\\w+|\\S",)
    assert list(tokenizer.model.merges) == [(97, 98, 256), (256, 99, 257)]
    assert tokenizer.special_tokens == (SpecialToken(b"<pad>", 299), SpecialToken(b"<|end|>", 300))
    assert tokenizer.encode("abc ab<pad>") == [257, 32, 256, *b"<pad>"]
    assert tokenizer.encode("abc<pad>", specials="all") == [257, 299]
    assert tokenizer.decode_bytes([257, 300]) == b"abc<|end|>"
    assert tokenizer.origin == Origin(
        "minbpe", (("version", "minbpe v1"), ("pattern", "\\w+|\\S"), ("special tokens", 2))
    )


def test_white_space_around_a_line_goes_as_minbpe_strips_it():
    assert minbpe.loads(SMALL).patterns == ("\\w+|\\S",)
    assert minbpe.loads(SMALL.replace(b"\n", b"\r\n")) == minbpe.loads(SMALL)


def test_basic_tokenizer_has_no_pattern():
    tokenizer = minbpe.loads(b"minbpe v1\n\n0\n32 97\n")
    assert (tokenizer.pre_tokenizer, tokenizer.special_tokens) == ((), ())
    assert tokenizer.encode("a a") == [97, 256]


def test_files_come_out_as_they_went_in(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(ORDERED.replace(b"\n \\w", b"\n\\w"))
    assert formats.identify(path) == "minbpe"
    assert minbpe.dump(formats.load(path)) == {"": path.read_bytes()}
    with pytest.raises(UsageError, match="says itself how text is split"):
        formats.load(path, "gpt2")
    with pytest.raises(InputError):
        minbpe.load(tmp_path / "none")


def test_what_is_trained_as_minbpe_does_reads_back(corpora):
    text = (corpora / "README.md").read_bytes()
    trained = train([text], bbpe.BbpeOptions(400, compat="minbpe"))
    loaded = minbpe.loads(minbpe.dump(trained)[""])
    assert loaded == replace(trained, unicode_version=None)
    assert loaded.encode(text) == trained.encode(text)
    assert loaded.decode_bytes(loaded.encode(text)) == text


def test_vocab_for_the_eye():
    data = b"minbpe v1\n\n1\n<|x|> 300\n195 169\n256 10\n"
    lines = minbpe.dump_vocab(minbpe.loads(data)).decode().split("\n")
    assert lines[10] == "[\\u000a] 10"
    assert (lines[0x41], lines[195]) == ("[A] 65", "[\ufffd] 195")
    assert lines[256:] == ["[\ufffd][\ufffd] -> [é] 256", "[é][\\u000a] -> [é\\u000a] 257", ""]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"minbpe v2\n\n0\n", "the first line is not 'minbpe v1' (f:1)"),
        (b"", "the first line is not"),
        (b"minbpe v1\n\n", "ends before the number of special tokens"),
        (b"minbpe v1\n\n9\n<a> 300\n", "9 special tokens are announced, and 1 lines follow (f:3)"),
        (b"minbpe v1\n\n-1\n", 'not a number from 0 to 2,097,151: "-1" (f:3)'),
        (b"minbpe v1\n\n1\n97 98\n", 'the special token "97" has id 98, which a token has (f:4)'),
        (b"minbpe v1\n\n1\n<a>300\n", 'not a special token and its id: "<a>300" (f:4)'),
        (b"minbpe v1\n\n2\n<a> 300\n<b> 300\n", 'the special token "<b>", or its id 300, appears twice (f:5)'),
        (b"minbpe v1\n\n1\n<a> 256\n97 98\n", "has id 256, which a token has (f:4)"),
        (b"minbpe v1\n\n0\n<a> 300\n", 'not a number from 0 to 2,097,151: "<a>" (f:4)'),
        (b"minbpe v1\n\n0\n97 98 99\n", "not two ids with a blank between"),
        (b"minbpe v1\n\n0\n\n97 98\n", "not two ids with a blank between"),
        (b"minbpe v1\n\n0\n97 256\n", "the merge uses id 256, which is not a token so far (f:4)"),
        (b"minbpe v1\n\n0\n97 98\n97 98\n", 'makes "ab" as id 257, which is id 256 already (f:5)'),
        (b"minbpe v1\n\n0\n97 98\n98 99\n256 99\n97 257\n", 'makes "abc" as id 259, which is id 258 already (f:7)'),
        (b"minbpe v1\n(\n0\n", "f:2: the pattern '(' does not compile"),
        (b"minbpe v1\na\nb\n0\n", 'not a number from 0 to 2,097,151: "b" (f:3)'),
        (b"minbpe v1\n\xff\n0\n", "byte 10 is not UTF-8 (f:2)"),
    ],
)
def test_broken_models_are_refused(data, message):
    with pytest.raises(FormatError) as caught:
        minbpe.loads(data, "f")
    assert message in caught.value.message


def test_hostile_models_are_refused_quickly():
    head = b"minbpe v1\n\n0\n"
    doubling = b"".join(b"%d %d\n" % (n, n) for n in [97, *range(256, 356)])
    assert "more than 33,554,432 bytes" in refused_quickly(head + doubling, minbpe.loads, most_cost=70)
    assert "not a number" in refused_quickly(head + b"9" * 1_000_000 + b" 1\n", minbpe.loads)
    many = {"most_lines": 200_000, "most_cost": 25}
    assert "appears twice" in refused_quickly(b"minbpe v1\n\n100000\n" + b"<a> 300\n" * 100_000, minbpe.loads, **many)
    assert "is id 256 already" in refused_quickly(head + b"97 98\n" * 100_000, minbpe.loads, **many)
    assert "it may have 65,536" in refused_quickly(b"minbpe v1\n" + b"(" * 100_000 + b"\n0\n", minbpe.loads)


def test_mutations():
    try_all(ORDERED, again)


def test_what_minbpe_cannot_hold_is_refused(make):
    tokenizer = minbpe.loads(ORDERED)
    with pytest.raises(FormatError, match="cannot hold BPE over characters by merges"):
        minbpe.dump(train(["low low"], bpe.Options(20)))
    with pytest.raises(FormatError, match="ids 0 to 255 are the bytes in order, and here id 0 is another"):
        minbpe.dump(make())
    with pytest.raises(FormatError, match="cannot hold the normalizer"):
        minbpe.dump(replace(tokenizer, normalizer=(Lowercase(),)))
    lossy = replace(
        tokenizer,
        pre_tokenizer=(PrefixSpace(), Split("a\nb")),
        special_tokens=(SpecialToken(b"<a>", 300, special=False),),
    )
    with pytest.raises(FormatError) as caught:
        minbpe.dump(lossy)
    assert "line ends" in caught.value.message
    assert "the space before the text" in caught.value.message
    assert "how added tokens are looked for" in caught.value.message
    written = minbpe.loads(minbpe.dump(lossy, LOSSES)[""])
    assert (written.patterns, written.special_tokens) == ((), (SpecialToken(b"<a>", 300),))
    with pytest.raises(FormatError, match="more than one split pattern"):
        minbpe.dump(replace(tokenizer, pre_tokenizer=(Split("a"), Split("b"))))
    with pytest.raises(FormatError, match="whitespace in it"):
        minbpe.dump(replace(tokenizer, special_tokens=(SpecialToken(b"<a b>", 300),)))
    with pytest.raises(FormatError, match="not UTF-8"):
        minbpe.dump(replace(tokenizer, special_tokens=(SpecialToken(b"\xff", 300),)))


@pytest.mark.parametrize(
    ("more", "triples", "message"),
    [
        ([b"ab", b"abc"], [(97, 98, 257)], "makes id 256 of lower ones, and here 257 of 97 and 98"),
        ([b"ab", b"xy"], [(97, 98, 256)], "id 257 is made by no merge"),
        ([b"xy"], [(97, 98, 256)], "makes other bytes than its parts have"),
    ],
)
def test_ids_that_minbpe_would_not_give(more, triples, message):
    model = MergeBpe(Vocabulary.from_tokens([*map(bytes, zip(range(256))), *more]), Merges.from_pairs(triples))
    with pytest.raises(FormatError, match=message):
        minbpe.dump(Tokenizer(model))


def test_ranks_are_written_where_merges_do_the_same():
    tokens = [*map(bytes, zip(range(256))), b"ab", b"abc"]
    tokenizer = Tokenizer(RankBpe(Vocabulary.from_tokens(tokens)))
    assert minbpe.dump(tokenizer) == {"": b"minbpe v1\n\n0\n97 98\n256 99\n"}
    whole = Tokenizer(MergeBpe(tokenizer.model.vocabulary, minbpe.loads(ORDERED).model.merges, ignore_merges=True))
    assert minbpe.dump(whole) == minbpe.dump(tokenizer)
    with pytest.raises(FormatError, match="no merge reaches"):
        minbpe.dump(Tokenizer(RankBpe(Vocabulary.from_tokens([*tokens[:256], b"abc"]))))
