"""Codes and vocabularies of subword-nmt: what is read, what is written, what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.formats import subword_nmt
from bpe_cli.formats.features import LOSSES
from bpe_cli.formats.subword_nmt import Codes, dump, dump_codes, load_codes, load_vocabulary, tokenizer_of
from bpe_cli.stages import BPEDecoder, CharacterBpe, Lowercase, MergeBpe, SpecialToken, Split
from bpe_cli.stages.named_stages import VISIBLE_WORDS, WORDS
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer

SMALL = b"#version: 0.2\nt h\nth e</w>\n"


def tokens(tokenizer):
    vocabulary = tokenizer.model.vocabulary
    return [vocabulary.token(token_id) for token_id in range(vocabulary.size)]


def test_codes_are_read_as_a_tokenizer():
    tokenizer = tokenizer_of(load_codes(SMALL))
    assert tokens(tokenizer) == [b"", b"e", b"e</w>", b"h", b"h</w>", b"t", b"t</w>", b"th", b"the</w>"]
    assert list(tokenizer.model.merges) == [(5, 3, 7), (7, 2, 8)]
    assert (tokenizer.model.unk_id, tokenizer.special_tokens) == (0, (SpecialToken(b"<unk>", 0),))
    assert (tokenizer.pre_tokenizer, tokenizer.decoder) == ((WORDS,), (BPEDecoder("</w>"),))


def test_files_are_read(tmp_path):
    path = tmp_path / "codes"
    path.write_bytes(SMALL)
    assert dump(subword_nmt.load(path)) == {"": SMALL}
    with pytest.raises(InputError):
        subword_nmt.load(tmp_path / "none")
    with pytest.raises(UsageError, match="no pattern can be given"):
        subword_nmt.load(path, "x")


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (b"t h\nth </w>\n", Codes(((b"t", b"h"), (b"th", b"</w>")), "0.1")),
        (b"#version: 0.1\nt h", Codes(((b"t", b"h"),), "0.1")),
        (b"#version: 0.2\r\nt h \r\n", Codes(((b"t", b"h"),))),
        (b"#version: 0.2 byte\n\xd0 \xbe</w>\n", Codes(((b"\xd0", b"\xbe</w>"),), by_byte=True)),
        (b"#version: 0.2\n", Codes(())),
        (b"", Codes((), "0.1")),
        ("#version: 0.2\na\u2028 \u00a0b\n".encode(), Codes((("a\u2028".encode(), "\u00a0b".encode()),))),
        (b"#version: 0.2\n#version: x\n", Codes(((b"#version:", b"x"),))),
    ],
)
def test_versions(data, codes):
    assert load_codes(data) == codes


def test_what_stands_twice_counts_once_and_is_not_lost_from_the_codes():
    codes = load_codes(b"#version: 0.2\na b\nb c\na b\n")
    assert codes.merges == ((b"a", b"b"), (b"b", b"c"), (b"a", b"b"))
    assert codes.first(1).merges == ((b"a", b"b"),)
    assert dump_codes(tokenizer_of(codes)) == b"#version: 0.2\na b\nb c\n"


@pytest.mark.parametrize("data", [SMALL, b"#version: 0.1\nt h\nth </w>\n", b"#version: 0.2 byte\n\xd0 \xbe</w>\n"])
def test_codes_come_out_as_they_went_in(data):
    tokenizer = tokenizer_of(load_codes(data))
    assert dump(tokenizer) == {"": data}
    assert (tokenizer.pre_tokenizer == (VISIBLE_WORDS,)) == (b"byte" in data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"#version: 0.3\na b\n", 'the version "0.3" of codes is unknown (f:1)'),
        (b"#version: 0.2\na b c\n", 'not two symbols with a blank between: "a b c" (f:2)'),
        (b"#version: 0.2\na b\nab\n", 'not two symbols with a blank between: "ab" (f:3)'),
        (b"a  b\n", "(f:1)"),
        (b"a b\n\na b\n", "(f:2)"),
        (b"\xff b\n", "is not UTF-8"),
    ],
)
def test_broken_codes_are_refused(data, message):
    with pytest.raises(FormatError) as caught:
        load_codes(data, "f")
    assert message in caught.value.message


def test_what_codes_cannot_hold_is_refused():
    tokenizer = tokenizer_of(load_codes(SMALL))
    with pytest.raises(FormatError, match="codes cannot hold byte-level BPE by merges"):
        dump(Tokenizer(MergeBpe(Vocabulary.from_tokens([b"a"]), Merges.from_pairs([]))))
    with pytest.raises(FormatError, match="nothing else"):
        dump(replace(tokenizer, model=replace(tokenizer.model, end_of_word_suffix="_")))
    blank = CharacterBpe(
        Vocabulary.from_tokens([b"a", b" ", b"a "]), Merges.from_pairs([(0, 1, 2)]), end_of_word_suffix="</w>"
    )
    with pytest.raises(FormatError, match="a blank in it"):
        dump_codes(Tokenizer(blank))
    other = replace(
        tokenizer,
        normalizer=(Lowercase(),),
        pre_tokenizer=(Split("x"),),
        special_tokens=(*tokenizer.special_tokens, SpecialToken(b"<s>", 99)),
    )
    with pytest.raises(FormatError, match=r"pre-tokenizer, the normalizer, the special tokens \(1: \"<s>\"\)"):
        dump(other)
    assert dump(other, LOSSES) == {"": SMALL}


def test_sniffing():
    assert subword_nmt.sniff(SMALL)
    assert not subword_nmt.sniff(b"#version: 0.2\nt h\n"), "so begin the merges of others"
    assert not subword_nmt.sniff(b"t h\nth e</w>\n")


def test_vocabularies():
    assert load_vocabulary(b"a 1\nb@@ 3\r\na 2\n") == {"a": 2, "b@@": 3}
    assert load_vocabulary(b"") == {}
    stray = b"\xff@@ 2\na 1\n"
    assert subword_nmt.dump_vocabulary(load_vocabulary(stray)) == stray
    for broken in (b"a\n", b"a  1\n", b"a b 1\n", b"a x\n", b"a 1\n\nb 1\n", b"\xff x\n"):
        with pytest.raises(FormatError):
            load_vocabulary(broken)
    counts = subword_nmt.count_words(["b a  b\n", " c "])
    assert subword_nmt.dump_vocabulary(counts) == b"b 2\na 1\nc 1\n"
