"""Every kind of warning by hand, its places, and no warning on ordinary text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.text.segmentation import TextReader, segment
from bpe_cli.reports.text.warnings import KINDS, Watch
from bpe_cli.stages import NFC, CharacterBpe, Lowercase, RankBpe, Strip, WhitespaceSplit, WordPiece
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.named_encodings import find
from tests.unit.reports.published import published

GPT2, CL100K, O200K = find("gpt2"), find("cl100k_base"), find("o200k_base")
PREPARED: dict[int, tuple[TextReader, Watch]] = {}
CORPORA = Path(__file__).parents[4] / "corpora"


def warned(text, tokenizer=CL100K, specials=()):
    content = text if isinstance(text, bytes) else text.encode()
    if specials == () and id(tokenizer) not in PREPARED:
        PREPARED[id(tokenizer)] = TextReader(tokenizer), Watch(tokenizer)
    prepared = PREPARED.get(id(tokenizer)) if specials == () else None
    reader, watch = prepared or (TextReader(tokenizer, specials), Watch(tokenizer, specials))
    found = watch.warn(content, reader.segment(content))
    assert all(each.kind in KINDS and each.hint for each in found)
    assert all(0 <= each.start <= each.end <= len(content) for each in found)
    return {each.kind: (each.message, each.start, each.end, each.count) for each in found}


def test_an_ordinary_text_has_none():
    for text in ("", "Hello", "a\nb\n", "Hello, world!\nA second line.\n", "  indented", "naïve café", "你好"):
        assert warned(text) == {}


def test_special_text():
    text = "a<|endoftext|>b<|endoftext|><|fim_prefix|>"
    names = "'<|endoftext|>' (2 times), '<|fim_prefix|>'"
    assert warned(text) == {
        "special-text": (f"{names} are special tokens of this tokenizer, and plain text here", 1, 14, 3)
    }
    assert warned(text, specials="all") == {}
    assert warned("<|endoftext|>", specials=["<|endoftext|>"]) == {}
    assert warned(text, specials=["<|endoftext|>"])["special-text"][3] == 1


def test_special_tokens_of_others():
    assert warned("é<|im_start|>user") == {
        "foreign-special": (
            "'<|im_start|>' looks like a special token, and this tokenizer has none of that name", 2, 14, 1,
        )
    }  # fmt: skip
    assert warned("[INST] <<SYS>> <\uff5cUser\uff5c> <start_of_turn>")["foreign-special"][3] == 4
    for ordinary in ("a <| b |> c", "<b>", "x<|y", "f <| g |> h", "[INSTALL]"):
        assert warned(ordinary) == {}


def test_ends_of_texts():
    assert warned("Hello world ") == {
        "trailing-space": ("the text ends with whitespace that is a token of its own", 11, 12, 1)
    }
    assert warned("Hello\n") == {"trailing-line-feed": ("the text is one line and ends with a line feed", 5, 6, 1)}
    for ordinary in (" ", "\n", "a\nb\n", "a\n\n", "if x:\n    "):
        assert "trailing-line-feed" not in warned(ordinary)


def test_encodings():
    assert warned(b"a\xffb\xff") == {"not-utf-8": ("2 bytes are not UTF-8, first 0xff", 1, 2, 2)}
    assert warned("谁".encode()[:2]) == {"not-utf-8": ("the text ends inside a character, with e8 b0", 0, 2, 1)}
    assert "UTF-16" in next(iter(Watch(GPT2).warn(b"\xff\xfea\0", segment(GPT2, b"\xff\xfea\0")))).hint
    assert warned("\ufeffabc")["byte-order-mark"][1:3] == (0, 3)


def test_white_space():
    assert warned("a\r\nb\n")["line-ends"][0] == "1 of 2 lines end with CR LF, the others with LF"
    assert warned("a\r\nb\r\n")["line-ends"] == ("lines end with CR LF (2 lines)", 1, 2, 2)
    assert warned("a\rb")["line-ends"][0] == "1 carriage return without a line feed"
    assert warned("x = y\n\u00a0\u00a0return z")["no-break-space"][1:] == (6, 8, 1)
    assert warned("a\u200bb\u202e")["invisible"] == (
        "2 characters that cannot be seen: U+200B, U+202E", 1, 4, 2,
    )  # fmt: skip
    assert warned("co\u00adop")["invisible"] == ("1 character that cannot be seen: U+00AD", 2, 4, 1)
    assert warned("a\u2028b\u2029")["invisible"][0] == "2 characters that cannot be seen: U+2028, U+2029"


@pytest.mark.parametrize(
    "ordinary",
    ["« Où ? »", "10 000 km", "il y a 5 %", "ภาษา\u200bไทย", "می\u200cخواهم", "👩\u200d🚀", "e\u0301"],
)
def test_what_looks_odd_and_is_not(ordinary):
    assert not {"no-break-space", "invisible", "line-ends", "byte-order-mark"} & set(warned(ordinary))


def test_normalizers():
    tokens = [b"a", b"b", b"c", "é".encode(), b" "]
    model = CharacterBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs([]))
    lower = Tokenizer(model, normalizer=(Lowercase(),))
    assert warned("abBA", lower) == {"normalized": ("the normalizer changes the text: first, 'B' becomes 'b'", 2, 3, 1)}
    composed = Tokenizer(model, normalizer=(NFC(),))
    assert warned("ae\u0301b", composed)["normalized"] == (
        "the normalizer changes the text: first, 'e\u0301' becomes 'é'", 1, 4, 1,
    )  # fmt: skip
    stripped = Tokenizer(model, normalizer=(Strip(),))
    assert warned("  a", stripped)["normalized"][0].endswith("first, '  ' is left out")
    assert warned("a  ", stripped)["normalized"][1:3] == (1, 3)
    assert warned("abc", lower) == {}


def test_unknown_and_long_pieces():
    model = WordPiece(Vocabulary.from_tokens([b"[UNK]", b"a", b"##a", b"b"]), unk_id=0, max_input_chars_per_word=5)
    tokenizer = Tokenizer(model, pre_tokenizer=(WhitespaceSplit(),))
    found = warned("b aaaaaa x aa x", tokenizer)
    assert found["long-piece"] == (
        "1 piece of more than 5 characters, the model's limit: unknown as a whole", 2, 8, 1,
    )  # fmt: skip
    assert found["unknown"] == ("2 tokens stand for text that the vocabulary does not have: 'x' (2 times)", 9, 10, 2)


def test_bytes_are_told_where_they_are_more_than_a_few():
    assert warned("谁 here", GPT2)["bytes"] == ("1 character falls to bytes: '谁'", 0, 1, 1)
    assert warned("谁" + " word" * 100, GPT2) == {}
    only_bytes = Tokenizer(RankBpe(Vocabulary.from_tokens([bytes([byte]) for byte in range(256)])))
    assert warned("谁 here", only_bytes) == {}


def test_an_excerpt_is_warned_of_as_the_whole():
    text = "谁 12345 1234567 12-345678901 <|endoftext|> \u00ad x\xa0(y) ".encode() * 3
    for tokenizer in (GPT2, CL100K):
        reader, watch = TextReader(tokenizer), Watch(tokenizer)
        assert watch.warn(text, reader.segment(text, 2)) == watch.warn(text, reader.segment(text)) != ()


def test_numbers():
    assert warned("1987 and 2024, 123456 and 12", CL100K) == {}
    message, start, end, count = warned("in 1987 or 2031", GPT2)["numbers"]
    assert (message, start, end, count) == (
        "numbers of 4 digits are grouped in several ways: 1987 but 20|31",
        11,
        15,
        1,
    )
    assert "numbers" not in warned("x1987y 3.2031 2,0311", GPT2)


def test_round_trips():
    class Forgetful(Tokenizer):
        def decode_bytes(self, ids):
            return super().decode_bytes(ids).replace(b"b", b"")

    tokenizer = Forgetful(GPT2.model, GPT2.pre_tokenizer)
    assert warned("ab!", tokenizer)["round-trip"] == ("decoding gives '!' where the text has 'b!'", 1, 2, 1)


# Known to be odd, each for the reason that its name says.
ODD = {"special.txt", "whitespace.txt"}
# Written with marks, from which cl100k's pattern cuts the letters.
WITH_MARKS = {"ar.txt", "bn.txt", "hi.txt", "parallel.jsonl", "ta.txt", "th.txt"}


@pytest.mark.parametrize("tokenizer", [CL100K, O200K], ids=["cl100k_base", "o200k_base"])
def test_ordinary_texts_have_no_warnings(tokenizer):
    files = [path for path in sorted(CORPORA.rglob("*.*")) if path.is_file() and path.name not in ODD]
    assert len(files) > 40
    for path in files:
        # Of a language that a vocabulary hardly has, it is to be told that its characters fall to bytes.
        kinds = set(warned(path.read_bytes()[:8000].decode(errors="ignore"), tokenizer)) - {"bytes"}
        is_cut = tokenizer is CL100K and path.name in WITH_MARKS
        assert kinds == ({"clusters"} if is_cut else set()), path.name


@pytest.mark.parametrize("path", ["llama2/tokenizer.model", "t5-small/tokenizer.json", "bert-base-uncased/vocab.txt"])
@given(text=st.binary(max_size=30) | st.text(max_size=15).map(str.encode))
def test_any_text_can_be_looked_at(shared, path, text):
    warned(text, published(shared / "vocabs" / path).tokenizer)
