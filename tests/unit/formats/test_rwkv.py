"""RWKV's vocabularies: what is read, what is written, what is refused."""

from __future__ import annotations

import ast
import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import formats
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.formats import rwkv
from bpe_cli.formats.features import LOSSES
from bpe_cli.stages import Lowercase, MaxMatch, SpecialToken, WhitespaceSplit
from bpe_cli.stages.spelling import to_visible
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer.usage import NO_USAGE
from bpe_cli.trainers import maxmatch, train
from tests.counted import at_least, compared
from tests.unit.formats.hostile import refused_quickly, try_all

SMALL = "1 '\\x00' 1\n2 'a' 1\n3 b'\\xff' 1\n7 \"it's\" 4\n8 'é\\n' 3\n9 '\\u200b\"\\'' 5\n".encode()


def world(*words: bytes) -> dict[bytes, int]:
    """Return ids for all bytes and some longer tokens, as RWKV's vocabularies have them."""
    return {token: number for number, token in enumerate([*(bytes([byte]) for byte in range(256)), *words], start=1)}


def greedy(ids: dict[bytes, int], text: bytes) -> list[int]:
    """The oracle: try every length at every place, the longest first."""
    longest = max(map(len, ids))
    found, at = [], 0
    while at < len(text):
        token = next(text[at : at + n] for n in range(longest, 0, -1) if text[at : at + n] in ids)
        found.append(ids[token])
        at += len(token)
    return found


def again(data: bytes) -> None:
    """What can be read can be written, and is the same when read."""
    tokenizer = rwkv.loads(data)
    assert rwkv.loads(rwkv.dump(tokenizer)[""]) == tokenizer


def test_vocabulary_is_read():
    tokenizer = rwkv.loads(SMALL)
    assert tokenizer.encode("ait's\0é\na") == [2, 7, 1, 8, 2]
    assert tokenizer.encode(b"\xffa") == [3, 2]
    assert tokenizer.decode_bytes([7, 3, 8]) == b"it's" + b"\xff" + "é\n".encode()
    assert tokenizer.special_tokens == (SpecialToken(b"<|endoftext|>", 0),)
    assert tokenizer.usage.role("eos") == 0
    assert [tokenizer.decode_bytes([token.token_id]) for token in tokenizer.tokens("aé\n")] == [b"a", "é\n".encode()]


def test_byte_without_token_is_an_error():
    with pytest.raises(InputError, match="offset 1"):
        rwkv.loads(SMALL).encode("ab")


def test_id_0_may_be_a_token():
    tokenizer = rwkv.loads(b"0 'a' 1\n1 'b' 1\n")
    assert (tokenizer.special_tokens, tokenizer.usage) == ((), NO_USAGE)
    assert rwkv.dump(tokenizer) == {"": b"0 'a' 1\n1 'b' 1\n"}


def test_files_come_out_as_they_went_in(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(SMALL)
    assert formats.identify(path) == "rwkv"
    assert rwkv.dump(formats.load(path)) == {"": SMALL}
    assert rwkv.loads(SMALL.replace(b"\n", b"\r\n")) == rwkv.loads(SMALL)
    with pytest.raises(UsageError, match="no pattern can be given"):
        formats.load(path, "gpt2")
    with pytest.raises(InputError):
        rwkv.load(tmp_path / "none")


@given(
    words=st.lists(
        st.binary(min_size=2, max_size=5) | st.text("ab é你", min_size=2).map(str.encode), max_size=20, unique=True
    ),
    text=st.lists(st.binary(max_size=3) | st.sampled_from(["ab", "a é", "你a", "\ufeff"]).map(str.encode), max_size=20),
)
def test_longest_match_over_bytes_is_the_oracle_s(words, text):
    ids = world(*words)
    tokenizer = rwkv.tokenizer_of(ids)
    whole = b"".join([*text, *words])
    found = tokenizer.encode(whole)
    assert found == greedy(ids, whole)
    assert tokenizer.decode_bytes(found) == whole
    assert rwkv.loads(rwkv.dump(tokenizer)[""]) == tokenizer


@given(
    st.lists(st.binary(min_size=1) | st.text(st.characters(blacklist_categories=["Cs"]), min_size=1).map(str.encode))
)
def test_literals_are_those_of_python(tokens):
    for token, literal in zip(tokens, rwkv.write_literals(tokens), strict=True):
        value = ast.literal_eval(literal)
        assert (value.encode() if isinstance(value, str) else value) == token
        assert rwkv.read_literal(literal, "") == token


IDS = ("1", "65535", "0007", "2097151", "2097152", "99999999999", "٣", "-1", "")
PLAIN = ("a", "b", " ", "é", "\U0001f600", "\x80", "7")
ODD = ("'", '"', "\\", "\\n", "\x7f", "\t")
"""Parts of literals."""


@at_least(36)
@given(
    st.one_of(*(st.lists(st.sampled_from(parts), max_size=6).map("".join) for parts in (PLAIN, (*PLAIN, *ODD)))),
    st.sampled_from(("'", '"')),
)
def test_usual_lines_are_read_as_part_by_part(literal, mark):
    size = len(literal.encode())
    for token_id, length in itertools.product(IDS, (size, size + 1, f"0{size}", "1", "")):
        line = f"{token_id} {mark}{literal}{mark} {length}"
        found = rwkv._usual_line(line)
        if found is None:
            continue
        assert found == rwkv._read_line(line, "")
        compared()


def test_lines_of_text_with_nothing_escaped_are_usual_ones():
    lines = rwkv.dump(rwkv.tokenizer_of(world(b"ab", b"it's", "é ".encode(), b'"a"', b"\\n")))[""].decode().splitlines()
    usual = [line for line in lines if rwkv._usual_line(line)]
    plain = [
        line for line in lines if not {*line.partition(" ")[2][1:-3]} & {"\\", "'", '"'} and line.split()[1][0] != "b"
    ]
    assert usual == plain
    assert len(usual) > 90


def test_literals_are_written_as_by_repr():
    texts = ["it's", 'say "x"', "'\"", "\\", "\x00\x1f\x7f\x85\xa0\xad\u2028\u3000\ufeff\U000e0001", "é你 😀", "\t\r\n"]
    assert rwkv.write_literals([text.encode() for text in texts]) == [repr(text) for text in texts]
    assert rwkv.write_literals([b"\xff'", b"\xc3"]) == [repr(b"\xff'"), repr(b"\xc3")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 'a' 2", "\"'a'\" has 1 bytes, not 2 (f:1)"),
        ("1 'é' 1", "has 2 bytes, not 1"),
        ("1 '' 0", "the token is empty"),
        ("1 'a'", "not an id, a literal and a length"),
        ("", "not an id, a literal and a length"),
        ("-1 'a' 1", 'not a number from 0 to 2,097,151: "-1"'),
        ("2097152 'a' 1", "not a number"),
        ("1 a 1", "not a literal in quotes"),
        ("1 ' 1", "not a literal in quotes"),
        ("1 b' 1", "not a literal in quotes"),
        ("1 'a\" 1", "not a literal in quotes"),
        ("1 f'a' 1", "not a literal in quotes"),
        ("1 'a'*9 1", "not a literal in quotes"),
        ("1 'a'+'b' 2", "a quote or a control character within"),
        ("1 'a\\' 1", "an invalid escape"),
        ("1 '\\N{DIGIT ONE}' 1", "an invalid escape"),
        ("1 '\\8' 1", "an invalid escape"),
        ("1 '\\U00110000' 4", "an invalid escape"),
        ("1 b'\\u0041' 1", "an invalid escape"),
        ("1 '\\ud800' 3", "a character that cannot be"),
        ("1 b'é' 2", "a character that cannot be"),
        ("1 'a\tb' 3", "a quote or a control character within"),
        ("1 'a' 1\n1 'b' 1", "the id 1 stands on line 1 already (f:2)"),
        ("1 'a' 1\n2 b'a' 1", 'the token "a" stands on line 1 already (f:2)'),
        ("1 __import__('os').system('x') 1", "not a literal in quotes"),
    ],
)
def test_broken_vocabularies_are_refused(line, message):
    with pytest.raises(FormatError) as caught:
        rwkv.loads(line.encode() + b"\n", "f")
    assert message in caught.value.message


def test_empty_and_foreign_files():
    with pytest.raises(FormatError, match="has no tokens in it"):
        rwkv.loads(b"")
    with pytest.raises(FormatError, match="is not UTF-8"):
        rwkv.loads(b"1 '\xff' 1\n")
    assert rwkv.sniff(SMALL)
    for other in (b"", b"1 'a' 1", b"1 'a\" 1\n", b"1 2 3\n", b"t h 12\n", b"hello 'x' 1\n", b"\xff\n"):
        assert not rwkv.sniff(other)


@pytest.mark.parametrize("line", ["7 'a' 2", "7 '' 0", "7 '\\8' 1", "7 b'\xe9' 2", "9999999 'a' 1", "7 'a' 1\n7 'b' 1"])
def test_a_wrong_line_is_named_though_it_is_the_first(tmp_path, line):
    path = tmp_path / "vocabulary.txt"
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(FormatError) as alone:
        rwkv.loads(path.read_bytes(), str(path))
    with pytest.raises(FormatError) as caught:
        formats.load(path)
    assert caught.value.message == alone.value.message
    assert f"({path}:" in caught.value.message


def test_hostile_vocabularies_are_refused_quickly():
    many = {"most_lines": 200_000, "most_cost": 25}
    assert "has 1000000 bytes, not 1" in refused_quickly(b"1 '" + b"a" * 1_000_000 + b"' 1\n", rwkv.loads, most_cost=12)
    assert "not a number" in refused_quickly(b"1 'a' " + b"9" * 1_000_000 + b"\n", rwkv.loads)
    assert "stands on line 1" in refused_quickly(b"1 'a' 1\n" * 100_000, rwkv.loads, **many)
    backslashes = b"1 '" + b"\\" * 100_001 + b"' 1\n"
    assert "an invalid escape" in refused_quickly(backslashes, rwkv.loads, most_lines=400_000, most_cost=200)
    assert "not a literal" in refused_quickly(b"1 " + b"(" * 1_000_000 + b" 1\n", rwkv.loads)


def test_mutations():
    lines = SMALL.splitlines(keepends=True)
    try_all(lines[2] + lines[3], again)
    try_all(lines[5], rwkv.loads)


def test_what_a_vocabulary_cannot_hold_is_refused(make):
    tokenizer = rwkv.loads(SMALL)
    with pytest.raises(FormatError, match="cannot hold byte-level BPE by merges"):
        rwkv.dump(make())
    characters = train(["low low"], maxmatch.MaxMatchOptions())
    with pytest.raises(FormatError, match="for longest match over bytes only"):
        rwkv.dump(characters, LOSSES)
    with pytest.raises(FormatError, match="no unknown token"):
        rwkv.dump(replace(tokenizer, model=replace(tokenizer.model, unk_id=0)))
    stray = MaxMatch(Vocabulary.from_tokens([b"a b"]))
    with pytest.raises(FormatError, match="visible alphabet"):
        rwkv.dump(replace(tokenizer, model=stray))
    other = replace(
        tokenizer,
        normalizer=(Lowercase(), *tokenizer.normalizer),
        pre_tokenizer=(WhitespaceSplit(),),
        decoder=(),
        special_tokens=(SpecialToken(b"</s>", 0),),
    )
    with pytest.raises(FormatError) as caught:
        rwkv.dump(other)
    for what in ("the normalizer", "WhitespaceSplit", "the decoder", 'other than "<|endoftext|>" with id 0'):
        assert what in caught.value.message
    assert rwkv.dump(other, LOSSES) == {"": SMALL}
    with pytest.raises(FormatError, match="special tokens other than"):
        rwkv.dump(replace(tokenizer, special_tokens=()))


def test_tokens_are_spelt_in_visible_characters():
    assert rwkv.loads(SMALL).model.vocabulary.token(8).decode() == to_visible("é\n".encode())
