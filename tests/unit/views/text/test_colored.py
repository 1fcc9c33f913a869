import re
from array import array
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from bpe_cli.reports.text.segmentation import segment
from bpe_cli.views.tokens import Notes, TokenView, totals_line
from tests.unit.reports.fake_tokenizer import FakeSpecial, FakeTokenizer
from tests.unit.views.golden import CONSOLES, check, render
from tests.unit.views.read_back import UNIT, read_tokens

END = FakeSpecial(b"<|end|>", 300)
TINY = FakeTokenizer(
    [b"He", b"ll", b"Hell", b"Hello", b" w", b"or", b" wor", b"ld", b" world", b"\xe8\xb0", "é".encode(), b"\n\n"],
    name="tiny",
    specials=[END],
)
TEXT = (
    "Hello world| a\\b\n\n\tt\r\n·é 谁 e\u0301\n\x1b[31mred\x07\0\n\u202eevil\u202c\n<|end|><U+00A0>\n"
).encode() + b"\xff\xe8"


def text_of(tokens, text, specials=(), **console):
    return render(TokenView(segment(tokens, text, specials), limit=None, totals=False), **console)


@pytest.mark.parametrize("console", CONSOLES)
def test_golden_text(console):
    check(f"text-{console}", render(TokenView(segment(TINY, TEXT, "all")), **CONSOLES[console]))


@pytest.mark.parametrize("console", CONSOLES)
def test_golden_ids(console):
    view = TokenView(segment(TINY, TEXT, "all"), notes=Notes(ids=True))
    check(f"ids-{console}", render(view, **CONSOLES[console]))


@pytest.mark.parametrize("console", ["plain", "narrow"])
def test_golden_ids_and_spans(console):
    view = TokenView(segment(TINY, TEXT, "all"), notes=Notes(ids=True, spans=True))
    check(f"ids-spans-{console}", render(view, **CONSOLES[console]))


@pytest.mark.parametrize("console", ["plain", "narrow", "256", "truecolor", "no-color"])
def test_golden_table(console):
    check(f"table-{console}", render(TokenView(segment(TINY, TEXT, "all"), table=True), **CONSOLES[console]))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (b"Hello world", "Hello|·world\n"),
        ("a谁b".encode(), "a|谁⟨e8 b0|81⟩|b\n"),
        (b"a|b\\", "a|\\||b|\\\\\n"),
        (b"a\nb", "a|⏎|\nb\n"),
        (b"a\n\nb\n", "a|⏎|\n⏎|\nb|⏎\n"),
        (b"x<|end|>", "x|⟦<\\|end\\|>⟧\n"),
        (b"\xe8\xb0\xff", "\\xe8\\xb0|\\xff\n"),
        (b"", ""),
    ],
)
def test_without_colour_by_hand(text, shown):
    assert text_of(TINY, text, "all") == shown


def test_a_token_of_several_lines():
    tokenizer = FakeTokenizer([b"a\nb", b"a\n"])
    tokenizer.piece_ends = lambda data: array("Q", [len(data)])
    assert text_of(tokenizer, b"a\nbc") == "a⏎\nb|c\n"


def test_colours_of_neighbours_differ_and_both_sides_are_given():
    for system in ("standard", "256", "truecolor"):
        shown = text_of(TINY, b"abcdefghij", color_system=system, width=80)
        codes = re.findall(r"\x1b\[([\d;]+)m[a-j]\x1b\[0m", shown)
        assert len(codes) == 10
        assert all(one != other for one, other in pairwise(codes))
        assert all(re.search(r"(^|;)(30|38)", code) and re.search(r";4[2-8]", code) for code in codes)


def test_no_color_still_has_bars_and_bold_special_tokens():
    shown = text_of(TINY, b"ab<|end|>", "all", color_system="truecolor", width=80, no_color=True)
    assert shown == "a|b|\x1b[1m⟦<\\|end\\|>⟧\x1b[0m\n"


def test_limit():
    segmentation = segment(TINY, b"x" * 3000)
    shown = render(TokenView(segmentation), width=80)
    assert "and 2,000 more tokens\n" in shown
    assert "3,000 tokens, 3,000 characters\n3,000 bytes" in shown
    assert "more" not in render(TokenView(segmentation, limit=None), width=80)
    shown = render(TokenView(segment(TINY, "a谁".encode()), limit=2, totals=False))
    assert shown == "a|谁⟨e8 b0|…⟩\nand 1 more token\n"


def test_a_huge_cluster_is_cut():
    shown = text_of(FakeTokenizer(), ("a" + "\u0301" * 2000).encode(), width=80)
    assert shown.count("\u0301") == 8
    assert shown.count("<U+0301>") == 64 - 9
    assert "…⟨61|cc|81|" in shown


def test_totals_by_hand():
    assert str(totals_line(segment(TINY, "Hello 谁".encode()))) == (
        "4 tokens, 7 characters\n9 bytes, 2.25 bytes/token, 1.75 characters/token, round trip ok"
    )
    assert str(totals_line(segment(TINY, b""))) == "0 tokens, 0 characters\n0 bytes, round trip ok"
    spaced = FakeTokenizer(prefix_space=True)
    assert str(totals_line(segment(spaced, b"a"))).endswith("round trip differs from byte 0 on")


HOSTILE = [b"\x1b]0;title\x07", b"\x1b[2J", b"\xc2\x9b31m", "\u202e\u2066".encode(), b"\0\0", b"\xff\xfe", b"\r\x08"]


@pytest.mark.parametrize("console", CONSOLES)
def test_hostile_tokens_do_not_reach_the_terminal(console):
    tokenizer = FakeTokenizer(HOSTILE, specials=[FakeSpecial(b"<\x1b[5m>", 300)], name="evil\x1b[5m")
    text = b"".join(HOSTILE) + b"<\x1b[5m>"
    segmentation = segment(tokenizer, text, "all")
    for view in (
        TokenView(segmentation),
        TokenView(segmentation, notes=Notes(ids=True)),
        TokenView(segmentation, table=True),
    ):
        shown = render(view, **CONSOLES[console])
        rest = re.sub(r"\x1b\[[\d;]*m", "", shown) if CONSOLES[console]["color_system"] else shown
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2066\udc80-\udcff]", rest)
        assert "\x1b[2J" not in shown
        assert "\x1b[5m" not in shown


texts = st.one_of(
    st.binary(max_size=40),
    st.text(max_size=20).map(str.encode),
    st.text(alphabet="aé谁\u0301\u200d👩🏽\r\n |\\<U+⟨⟩⟦⟧·", max_size=20).map(str.encode),
)


@given(texts, st.lists(st.binary(min_size=2, max_size=4), max_size=5, unique=True), st.integers(4, 200))
def test_tokens_can_be_read_back_without_colour(text, tokens, width):
    pairs = [text[i : i + 3] for i in range(0, len(text) - 1, 4) if len(text[i : i + 3]) > 1]
    tokenizer = FakeTokenizer(dict.fromkeys([*tokens, *pairs]), specials=[FakeSpecial(b"\\\\", 300)])
    segmentation = segment(tokenizer, text, "all")
    shown = text_of(tokenizer, text, "all", width=width)
    assert read_tokens(shown) == [(token.content, token.special) for token in segmentation.tokens]
    assert all(cell_len(line) <= width for line in shown.split("\n"))


@given(texts, st.integers(4, 60))
def test_colour_shows_the_same_text(text, width):
    plain = text_of(FakeTokenizer(), text, width=width)
    colored = text_of(FakeTokenizer(), text, color_system="256", width=width)
    stripped = re.sub(r"\x1b\[[\d;]*m", "", colored)
    assert without_bars(stripped) == without_bars(plain)


def without_bars(shown):
    return [unit for unit in UNIT.findall(shown.replace("\n", "")) if unit not in {"|", "\\|"}]


def test_a_character_of_two_columns_on_a_screen_of_one():
    assert text_of(FakeTokenizer(["東京".encode()]), "東京".encode(), width=1) == "東\n京\n"
