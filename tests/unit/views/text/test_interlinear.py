"""Notes stand under their tokens, in every width."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from bpe_cli.reports.text.segmentation import segment
from bpe_cli.views.tokens import Notes, TokenView
from tests.unit.reports.fake_tokenizer import FakeSpecial, FakeTokenizer
from tests.unit.views.golden import render
from tests.unit.views.read_back import read_tokens

TINY = FakeTokenizer([b"Hello", b" world", b"\xe8\xb0", b"a\nb"], specials=[FakeSpecial(b"<s>", 30000)])


def shown(text, notes, *, tokenizer=TINY, specials=(), **console):
    view = TokenView(segment(tokenizer, text, specials), notes=notes, totals=False, limit=None)
    return render(view, **{"width": 40, **console})


def test_by_hand():
    assert shown(b"Hello world", Notes(ids=True)) == "Hello|·world\n0    |1\n"
    assert shown("a谁".encode(), Notes(ids=True, spans=True)) == (
        "a  |谁⟨e8 b0|81⟩\n101|2       |133\n0–1|1–3     |3–4\n"
    )  # fmt: skip


def test_what_is_wider_than_a_line_goes_on_in_the_next():
    wide = FakeTokenizer([b"abcdefghij"])
    assert shown(b"abcdefghij", Notes(ids=True), tokenizer=wide, width=6) == "abcde\n0\n\nfghij\n"
    assert shown(b"abcdefghij\n", Notes(ids=True), tokenizer=wide, width=6) == "abcde\n0\n\nfghij|\n\n⏎\n11\n"


def test_a_line_feed_ends_a_line():
    assert shown(b"b\na", Notes(ids=True)) == "b  |⏎ |\n102|14|\n\na\n101\n"


def test_colour_needs_no_bars():
    colored = shown("a谁b".encode(), Notes(ids=True), color_system="256")
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == "a   谁⟨e8 b0|81⟩ b\n101 2        133 102\n"


def test_the_colour_of_a_note_is_that_of_its_token():
    tokens, ids = shown(b"Hello world", Notes(ids=True), color_system="truecolor").splitlines()
    assert re.findall(r"\x1b\[([\d;]+)m", tokens) == re.findall(r"\x1b\[([\d;]+)m", ids)


texts = st.one_of(
    st.binary(max_size=30),
    st.text(alphabet="aé谁\u0301\u200d👩🏽ש\r\n |\\<U+⟨⟩⟦⟧·", max_size=20).map(str.encode),
)


@pytest.mark.parametrize("notes", [Notes(ids=True), Notes(ids=True, spans=True, scores=True)])
@given(text=texts, width=st.integers(8, 120))
def test_tokens_and_ids_can_be_read_back(text, width, notes):
    pairs = dict.fromkeys(text[i : i + 3] for i in range(0, len(text) - 1, 4) if len(text[i : i + 3]) > 1)
    tokenizer = FakeTokenizer(pairs, specials=[FakeSpecial(b"\\\\", 300)])
    tokens = segment(tokenizer, text, "all").tokens
    written = shown(text, notes, tokenizer=tokenizer, specials="all", width=width)
    blocks = [block.split("\n") for block in written.removesuffix("\n").split("\n\n")] if tokens else []
    closed = [block for block in blocks if "".join(block[1:2]).endswith("|")]
    assert all(len({cell_len(row) for row in block}) == 1 for block in closed), "bars stand under bars"
    # Spaces only fill columns: those of the text have a mark. Bytes of a character have some between them.
    above = "\n".join(re.sub(r" +(?=\||$)", "", block[0]) for block in blocks)
    assert read_tokens(above) == [(token.content, token.special) for token in tokens]
    ids = [note for block in blocks for note in "".join(block[1:2]).split("|") if note.strip()]
    assert [int(note) for note in ids] == [token.token_id for token in tokens]
    assert all(cell_len(line) <= max(width, 10) for line in written.split("\n"))
