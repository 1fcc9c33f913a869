from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bpe_cli.errors import InputError
from bpe_cli.playground.escapes import needs_escapes, read, written
from tests.counted import at_least, compared


@given(st.binary() | st.text().map(str.encode))
@example(b"\xed\xa0\x80\xff\r\n\\x41\0\t\x1b\xc2\x85")
def test_written_bytes_are_read_back(content):
    assert read(written(content)) == content


@at_least(3)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_what_needs_no_escapes_is_typed_as_it_is(text):
    """A field gives all characters back but carriage returns; others than whitespace have no shape there."""
    if not needs_escapes(text.encode()):
        assert written(text.encode()) == text.replace("\\", "\\\\")
        assert "\r" not in text
        compared()


@given(st.binary())
def test_what_is_written_can_be_typed(content):
    shown = written(content)
    shown.encode()  # no half characters
    assert not set(shown) & {chr(code) for code in (*range(9), *range(11, 32), *range(0x7F, 0xA0))}


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"\n\r\t\e\0\\", b"\n\r\t\x1b\0\\"),
        (r"\xE8\xb0\x81", "谁".encode()),
        (r"\u8c01\u{1F642}\u{0}", "谁🙂\0".encode()),
        (r"\\n", rb"\n"),
        ("é\n", "é\n".encode()),
    ],
)
def test_escapes(text, content):
    assert read(text) == content


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ab\\", "character 3 begins '\\\\'"),
        (r"\q", "character 1 begins '\\\\q'"),
        (r"\x4", "'\\\\x'"),
        (r"\u12", "'\\\\u'"),
        (r"\ud800", "'\\\\ud800'"),
        (r"\u{110000}", "'\\\\u{110000}'"),
        (r"\u{}", "'\\\\u'"),
        ("\\\n", "'\\\\\\n'"),
    ],
)
def test_what_is_no_escape_is_refused(text, reason):
    with pytest.raises(InputError) as caught:
        read(text)
    assert reason in caught.value.message
