import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.views.visible import harmless, units, visible
from tests.counted import at_least, compared
from tests.unit.views.read_back import read_units


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", "a·b"),
        ("\t\r\n\0\x1b\x7f", "→␍⏎␀␛␡"),
        ("\x85\x9b", "<U+0085><U+009B>"),
        ("\u00a0\u3000\u2003", "<U+00A0><U+3000><U+2003>"),
        ("\u202e\u2066\u200b\u200f\ufeff\u2028", "<U+202E><U+2066><U+200B><U+200F><U+FEFF><U+2028>"),
        ("\U000e0041\u00ad\ue000\uffff", "<U+E0041><U+00AD><U+E000><U+FFFF>"),
        ("·→⏎␀⟨⟩⟦⟧\\", "\\·\\→\\⏎\\␀\\⟨\\⟩\\⟦\\⟧\\\\"),
        ("<U+0020> <b>", "\\<U+0020>·<b>"),
        ("\udcff", "\\xff"),
        ("e\u0301 \u0301\n\u0301", "e\u0301·◌\u0301⏎◌\u0301"),
        ("◌ ◌\u0301\u0301\u0302", "\\◌·\\◌◌\u0301\u0301\u0302"),
        ("\ufe0f\u0e31", "<U+FE0F>◌\u0e31"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("谁 é ß", "谁·é·ß"),
        ("a|b", "a|b"),
    ],
)
def test_by_hand(text, shown):
    assert "".join(units(text)) == shown


def test_bars_are_escaped_where_they_mean_something():
    assert "".join(units("a|b", bars=True)) == "a\\|b"
    assert visible(b"|", bars=True) == "\\|"


def test_marks_cannot_pile_up():
    shown = "".join(units("a" + "\u0301" * 1000))
    assert shown.count("\u0301") == 8
    assert shown.count("<U+0301>") == 992


def test_units_stay_whole():
    assert list(units("e\u0301\u00a0\udc80<U+")) == ["e\u0301", "<U+00A0>", "\\x80", "\\<", "U", "+"]


@given(
    st.one_of(
        st.binary(), st.text().map(str.encode), st.text(alphabet="\\|<U+0x·→⏎⟨⟩ \n\u0301◌\u0e31\ufe0f").map(str.encode)
    )
)
def test_what_is_shown_can_be_read_back_and_harms_nothing(content):
    text = content.decode("utf-8", "surrogateescape")
    shown = visible(content, bars=True)
    assert read_units(shown) == text
    assert all(unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Zl", "Zp", "Co"} for c in shown)
    assert " " not in shown
    name = harmless(text)
    assert all(unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Zl", "Zp", "Co"} for c in name)


@at_least(61000)
def test_every_character_is_shown():
    hidden = {"Cc", "Cf", "Cs", "Co", "Zs", "Zl", "Zp"}
    for code in (*range(0x12000), *range(0x1F000, 0x20000), *range(0xE0000, 0xE0200)):
        if not 0xD800 <= code < 0xE000:
            shown = "".join(units(chr(code)))
            assert shown
            if unicodedata.category(chr(code)) in hidden:
                assert chr(code) not in shown
            compared()
