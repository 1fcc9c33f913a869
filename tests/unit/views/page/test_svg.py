import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from bpe_cli.reports.text.segmentation import segment
from bpe_cli.views.labels import DOCUMENT_LIMIT, TOKEN_LIMIT
from bpe_cli.views.page.svg import COLUMNS, picture
from tests.unit.reports.fake_tokenizer import FakeSpecial, FakeTokenizer
from tests.unit.views.golden import check

SVG = "{http://www.w3.org/2000/svg}"
END = FakeSpecial(b"<|end|>", 300)
TINY = FakeTokenizer([b"Hello", b" world", b"\xe8\xb0", b"</te", b"xt>", b"\n\n"], name="<tiny>", specials=[END])
WIDE = "東京" * 60


def texts_of(drawn):
    root = ElementTree.fromstring(drawn)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {"svg", "title", "style", "rect", "text"}
    return list(root.iter(f"{SVG}text"))


def lines_of(drawn):
    """Return what stands on each line, ids apart."""
    lines = {}
    for element in texts_of(drawn):
        if element.get("class") != "id":
            lines.setdefault(float(element.get("y")), []).append(element.text)
    return ["".join(line) for _, line in sorted(lines.items())]


def test_golden_picture():
    drawn = picture([segment(TINY, "Hello world 谁 東</text>\n\tx<|end|>\0\xff".encode(), "all")], tokenizer="<tiny>")
    check("picture", drawn)
    with_ids = picture([segment(TINY, b"Hello world\n\nx")], tokenizer="tiny", ids=True)
    check("picture-ids", with_ids)


def test_lines_by_hand():
    drawn = picture([segment(TINY, b"Hello world\nHello"), segment(TINY, b"second")], tokenizer="tiny")
    assert lines_of(drawn) == ["Hello·world⏎", "Hello", "second"]


def test_wide_characters_have_two_cells():
    drawn = picture([segment(FakeTokenizer([WIDE.encode()]), WIDE.encode())], tokenizer=None)
    assert [len(line) for line in lines_of(drawn)] == [40, 40, 40]
    for element in texts_of(drawn):
        assert element.get("textLength") == str(COLUMNS * 8.4).rstrip("0").rstrip(".")


def test_what_is_left_out_is_counted():
    assert lines_of(picture([segment(TINY, b"x" * (TOKEN_LIMIT + 3))], tokenizer="t"))[-1] == "and 3 more tokens"
    many = [segment(TINY, b"x")] * (DOCUMENT_LIMIT + 2)
    assert lines_of(picture(many, tokenizer="t"))[-1] == "and 2 more documents"
    assert len(lines_of(picture(many, tokenizer="t", full=True))) == DOCUMENT_LIMIT + 2
    assert len(lines_of(picture([segment(TINY, b"x" * 1600)], tokenizer="t", full=True))) == 1600 // COLUMNS


def test_nothing_is_fetched():
    drawn = picture([segment(TINY, b"x")], tokenizer="t")
    assert re.findall(r"https?://[^\"]*", drawn) == ["http://www.w3.org/2000/svg"]
    assert "url(" not in drawn
    assert "@import" not in drawn


@given(st.lists(st.binary(max_size=60) | st.text(max_size=200).map(str.encode), max_size=3), st.booleans(), st.text())
def test_any_text_is_well_formed_and_fits(texts, ids, name):
    drawn = picture([segment(TINY, text, "all") for text in texts], tokenizer=name, ids=ids)
    assert all(cell_len(line) <= COLUMNS for line in lines_of(drawn))
    assert drawn.encode()


def test_a_long_token_is_drawn_in_parts():
    special = FakeSpecial(b"s" * 500 + b"\nyy", 999)
    drawn = picture([segment(FakeTokenizer([], specials=[special]), special.content, "all")], tokenizer=None)
    lines = lines_of(drawn)
    assert "".join(lines) == f"⟦{'s' * 500}⏎yy⟧"
    assert [len(line) for line in lines] == [80] * 6 + [22, 3]
