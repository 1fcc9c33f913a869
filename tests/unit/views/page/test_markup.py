import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.views.page.markup import escape, marked, name
from tests.unit.views.page.reading import Page


def read_back(text: bytes) -> bytes:
    page = Page(f'<div class="text">{marked(text.decode("utf-8", "surrogateescape"))}</div>')
    assert {element for element, _ in page.elements} <= {"div", "i"}
    return page.texts[0]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a<b>&amp;\"'", "a&lt;b&gt;&amp;amp;&quot;&#39;"),
        ("a  b", 'a<i class="s">  </i>b'),
        ("\t\n", '<i class="h">\t</i><i class="n">\n</i>'),
        ("\r\x1b", '<i class="m" data-m="CR">&#xd;</i><i class="m" data-m="ESC">&#x1b;</i>'),
        ("\x00\udce8\udcb0", '<i class="x">\\x00</i><i class="x">\\xe8\\xb0</i>'),
        ("\x85\u202e", '<i class="x">\\xc2\\x85</i><i class="m" data-m="U+202E">&#x202e;</i>'),
        ("👨\u200d👩", "👨\u200d👩"),
        ("👨🏽\u200d❤\ufe0f\u200d👩", "👨🏽\u200d❤\ufe0f\u200d👩"),
        ("a\u200db", 'a<i class="m" data-m="U+200D">&#x200d;</i>b'),
        ("·\\xff", "·\\xff"),
    ],
)
def test_worked_examples(text, shown):
    assert marked(text) == shown


def test_combining_marks_do_not_pile_up():
    shown = marked("e" + "\u0301" * 20)
    assert shown.count("\u0301") == 8
    assert shown.count('data-m="U+0301"') == 12


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_text_is_read_back(text):
    assert read_back(text) == text


@given(st.text(alphabet=st.characters(max_codepoint=0xA0)))
def test_a_page_commands_no_terminal(text):
    assert not set(marked(text)) & set(map(chr, [*range(9), *range(11, 32), *range(0x7F, 0xA0)]))


@given(st.sampled_from(["<script>", "</script>", "<!--", "-->", "]]>", "&#0;", "&lt;", "' onclick='", "\0", "\r\n"]))
def test_markup_in_a_text_is_text(text):
    assert read_back(text.encode()) == text.encode()
    assert not set(escape(text)) & set("<>\"'")


@given(st.text())
def test_names_are_harmless(text):
    assert not set(name(text)) & set("<>\"'\0\r\n\u202e\ud800")
