""".tiktoken files: ranks, and what the file does not say."""

from __future__ import annotations

import base64
import hashlib
import random
from dataclasses import replace

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError
from bpe_cli.formats.byte_level import tiktoken_ranks
from bpe_cli.formats.features import LOSSES
from bpe_cli.stages import NFC, Lowercase, MergeBpe, PrefixSpace, RankBpe, SpecialToken, Split
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer, fingerprint, named_encodings

O200K = PATTERNS["o200k"].regex


def line(token: bytes, rank: int) -> bytes:
    return base64.b64encode(token) + b" %d\n" % rank


def test_small_file_reads_as_what_it_says():
    tokenizer = tiktoken_ranks.loads(line(b"a", 0) + line(b"b", 1) + b"\n" + line(b"ab", 3), pattern=O200K)
    assert tokenizer == Tokenizer(RankBpe(Vocabulary.from_tokens([b"a", b"b", b"", b"ab"])), (Split(O200K),))


def test_order_of_lines_does_not_matter_and_the_last_may_lack_its_end():
    assert tiktoken_ranks.loads(b"Yg== 1\nYQ== 0", pattern="x") == tiktoken_ranks.loads(
        b"YQ== 0\nYg== 1\n", pattern="x"
    )


def test_pattern_is_never_guessed(tmp_path):
    path = tmp_path / "own.tiktoken"
    path.write_bytes(line(b"a", 0))
    with pytest.raises(FormatError) as caught:
        formats.load(path)
    assert caught.value.message == f"{path} holds ranks only: it does not say how text is split before merging"
    assert all(name in caught.value.hint for name in PATTERNS)
    assert formats.load(path, "o200k").patterns == (O200K,)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"YQ== 0\nYg==\n", 'not base64, a space and a rank: "Yg==" (f:2)'),
        (b"YQ== 0\nYg==  1\n", 'not base64, a space and a rank: "Yg==  1" (f:2)'),
        (b"YQ==\t0\n", "(f:1)"),
        (b"YQ 0\n", "(f:1)"),
        (b"Y*== 0\n", "(f:1)"),
        (b"YQ== -1\n", "(f:1)"),
        (b"YQ== 0x1\n", "(f:1)"),
        (b"YQ== 0 \n", "(f:1)"),
        (b"\xff\xfe 1\n", "(f:1)"),
        ("YQ== ٣\n".encode(), "(f:1)"),
        (b"YR== 0\n", 'the base64 "YR==" has stray bits at its end (f:1)'),
        (b" 0\n", "the token is empty (f:1)"),
        (b"YQ== 0\nYQ== 1\n", 'the token "YQ==" stands on line 1 already (f:2)'),
        (b"YQ== 0\n\nYg== 0\n", "the rank 0 stands on line 1 already (f:3)"),
        (b"YQ== 2097152\n", 'the rank "2097152" is over 2,097,151 (f:1)'),
        (b"YQ== " + b"9" * 5000 + b"\n", "is over 2,097,151 (f:1)"),
        (b"", "f has no ranks in it"),
        (b"\n\n", "f has no ranks in it"),
    ],
)
def test_wrong_lines_are_named(data, message):
    with pytest.raises(FormatError) as caught:
        tiktoken_ranks.loads(data, "f", "x")
    assert message in caught.value.message


def test_line_ends_of_windows_have_a_hint():
    with pytest.raises(FormatError) as caught:
        tiktoken_ranks.loads(b"YQ== 0\r\n", "f", "x")
    assert "Windows" in caught.value.hint


def test_what_it_cannot_hold_is_named(make):
    tokenizer = make(
        ranks=True,
        specials=[SpecialToken(b"<a>", 263), SpecialToken(b"<b>", 264)],
        pre_tokenizer=(PrefixSpace(), Split(O200K)),
        post_processor='{"type":"ByteLevel"}',
    )
    with pytest.raises(FormatError) as caught:
        tiktoken_ranks.dump(tokenizer)
    assert caught.value.message == (
        "a .tiktoken file cannot hold the split pattern, the space before the text, "
        'the special tokens (2: "<a>", "<b>"), the post-processor'
    )
    assert '["pattern", "prefix-space", "special-tokens", "post-processor"]' in caught.value.hint
    with pytest.raises(FormatError, match=r"cannot hold the space before the text, the post-processor$"):
        tiktoken_ranks.dump(tokenizer, frozenset({"pattern", "special-tokens"}))
    data = tiktoken_ranks.dump(tokenizer, LOSSES)[""]
    assert data.startswith(b"IQ== 0\nIg== 1\n")
    assert tiktoken_ranks.loads(data, pattern=O200K) == Tokenizer(tokenizer.model, (Split(O200K),))


def test_merges_become_ranks_when_that_is_exact(make):
    allowed = frozenset({"pattern"})
    for ignore_merges in (False, True):
        merges = make(ignore_merges=ignore_merges)
        assert tiktoken_ranks.dump(merges, allowed) == tiktoken_ranks.dump(make(ranks=True), allowed)


@pytest.mark.parametrize(
    ("tokens", "merges", "reason"),
    [
        ([b"a", b"b", b"aa", b"ab"], [(0, 1, 3), (0, 0, 2)], 'merge 2 makes "aa" (id 2) after id 3'),
        ([b"a", b"b", b"ab", b"bbb"], [(0, 1, 2)], 'no merge reaches "bbb" (id 3)'),
        (
            [b"a", b"b", b"ab", b"zz"],
            [(0, 1, 2)],
            "the token \"zz\" (id 3) is merged of bytes, and the byte b'z' is not a token",
        ),
        (
            [b"a", b"b", b"ab", b"aab", b"ba"],
            [(0, 1, 2), (0, 2, 3)],
            'the ranks make "ba" of "b" and "a", and no merge does',
        ),
        (
            # "abc" is made of "a" and "bc" here, of "ab" and "c" by ranks
            [b"a", b"b", b"c", b"ab", b"bc", b"abc"],
            [(0, 1, 3), (1, 2, 4), (0, 4, 5)],
            'the ranks make "abc" of "ab" and "c", and no merge does',
        ),
    ],
)
def test_merges_that_are_not_ranks_are_refused(tokens, merges, reason):
    model = MergeBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs(merges))
    with pytest.raises(FormatError) as caught:
        tiktoken_ranks.dump(Tokenizer(model), LOSSES)
    assert caught.value.message == f"a .tiktoken file holds ranks, which cannot do what these merges do: {reason}"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"YQ== 0\nYg== 1\n", True),
        (b"YQ== 0", True),
        (b"YQ== 0\r\nYg== 1\r\n", True),  # so that the error can say what is wrong
        (b"YQ== 0\nYg=", True),
        (b"a b\nc d\n", False),
        (b"#version: 0.2\na b\n", False),
        (b"\n\n", False),
        (b"", False),
    ],
)
def test_sniffing(head, expected):
    assert tiktoken_ranks.sniff(head) is expected


@pytest.mark.parametrize("name", ["r50k_base", "p50k_base", "cl100k_base", "o200k_base"])
def test_files_of_openai_are_recognised_and_written_again(shared, name):
    path = shared / "vocabs" / f"tiktoken-{name}" / f"{name}.tiktoken"
    tokenizer = formats.load(path)
    assert tokenizer == named_encodings.named(name)
    assert tiktoken_ranks.dump(tokenizer)[""] == path.read_bytes()
    assert fingerprint(tokenizer) == fingerprint(named_encodings.named(name))


@pytest.mark.parametrize(
    ("path", "pattern", "specials"),
    [("llama3-tiktoken/tokenizer.model", "llama3", 0), ("qwen-tiktoken/qwen.tiktoken", "qwen2", 208)],
)
def test_other_known_files_are_recognised_and_written_again(shared, path, pattern, specials):
    content = (shared / "vocabs" / path).read_bytes()
    tokenizer = tiktoken_ranks.loads(content)
    assert tokenizer.patterns == (PATTERNS[pattern].regex,)
    assert len(tokenizer.special_tokens) == specials
    assert tiktoken_ranks.dump(tokenizer)[""] == content
    if specials:
        with pytest.raises(FormatError, match="that text is not normalized"):
            tiktoken_ranks.dump(replace(tokenizer, normalizer=()))


def test_a_known_hash_says_how_text_is_normalized(monkeypatch):
    """By a made-up file, as no file that is published so may lie here."""
    content = line(b"a", 0) + line(b"b", 1)
    sha256 = hashlib.sha256(content).hexdigest()
    known = named_encodings.Encoding(sha256, "gpt2", {"<|x|>": 2}, (Lowercase(),))
    monkeypatch.setitem(named_encodings.KNOWN_FILES, "made-up", known)
    tokenizer = tiktoken_ranks.loads(content)
    assert tokenizer.encode("AB<|x|>b", specials="all") == [0, 1, 2, 1]
    assert tokenizer.origin.facts == (("sha256", sha256), ("published as", "made-up"))
    assert tiktoken_ranks.dump(tokenizer) == {"": content}
    for other, reason in (
        (replace(tokenizer, normalizer=()), "that text is not normalized"),
        (replace(tokenizer, special_tokens=()), "that there are no special tokens"),
        (replace(tokenizer, normalizer=(NFC(),)), "cannot hold another normalizer"),
    ):
        with pytest.raises(FormatError, match=reason):
            tiktoken_ranks.dump(other)


def test_special_tokens_of_a_sister_encoding_are_not_lost_in_silence(shared):
    with pytest.raises(FormatError, match=r"special tokens \(4: "):
        tiktoken_ranks.dump(named_encodings.named("p50k_edit"))


def test_llama3_is_the_same_as_merges(shared):
    """588 of its tokens arise only as whole pieces; Hugging Face's file has more merges, which never find a place."""
    path = shared / "vocabs" / "llama3-tiktoken" / "tokenizer.model"
    tokenizer = formats.load(path, "llama3")
    assert len(tokenizer.model.vocabulary) == 128000
    ours = formats.load(shared / "vocabs" / "hf-llama3" / "tokenizer.json")
    assert len(ours.model.merges) == 280147
    assert tiktoken_ranks.dump(ours, LOSSES)[""] == path.read_bytes()


def test_tidy_files_are_read_as_with_care():
    chance = random.Random(3)
    whole = b"".join(
        tiktoken_ranks._line(bytes([byte, 65 + byte % 7]), number) for number, byte in enumerate(range(40))
    )
    tidy = 0
    for number in range(3000):
        data = bytearray(whole)
        for _ in range(number and chance.randrange(3)):
            place, other = chance.randrange(len(data)), chance.randrange(len(data))
            match chance.randrange(3):
                case 0:
                    del data[place : place + chance.randrange(1, 4)]
                case 1:
                    data[place] = chance.choice(b"Aa/+=019 \n\r\x00\xff-_")
                case 2:
                    line = data[other:].partition(b"\n")[2].partition(b"\n")[0]
                    data[place:place] = chance.choice((b" ", b"\n", b"0", b"=", line + b"\n"))
        found = tiktoken_ranks._read_tidy_ranks(bytes(data))
        if found is not None:
            tidy += 1
            assert found == tiktoken_ranks._read_ranks_with_care(bytes(data), "ranks")
    assert 1000 < tidy < 2500
