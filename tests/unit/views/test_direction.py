"""Right-to-left tokens keep their place: by hand, and under an independent bidirectional algorithm."""

import re

import pytest
from rich.cells import cell_len

from bpe_cli.reports.text.segmentation import segment
from bpe_cli.tokenizer.named_encodings import find
from bpe_cli.views.tokens import Notes, TokenView
from bpe_cli.views.visible import MARK, Borders, bordered, direction
from tests.needs import needs
from tests.unit.reports.fake_tokenizer import FakeTokenizer
from tests.unit.views.golden import render
from tests.unit.views.read_back import read_tokens

TEXTS = ["مرحبا بالعالم! 123 שלום (עולם) ٣٤ 5", "a שלום, עולם! 12:30", "سلام|12 (ب) · 7", "ש" * 40]
BARE_BAR = re.compile(r"(?<!\\)\|")


def shown(text, *, marked, notes=Notes(), width=400, tokenizer=None):  # noqa: B008  # frozen
    tokenizer = tokenizer or find("o200k_base")
    return render(TokenView(segment(tokenizer, text), totals=False, notes=notes, marked=marked), width=width)


def test_direction_is_that_of_the_last_letter():
    assert [direction(unit) for unit in ("", "1", "a1", "שa", "aש", "·", "谁", "٣", "<U+202E>")] == [
        None, None, False, False, True, None, False, True, False,
    ]  # fmt: skip


def test_marks_by_hand():
    borders = Borders(active=True)
    written = [borders.before("ש"), borders.here(), borders.before("!"), borders.here(), borders.before("ב")]
    # The first one begins the line; the second ends the run; nothing is due after that until a letter comes.
    assert written == [MARK, MARK, "", "", ""]
    borders.line()
    assert borders.here() == ""
    assert Borders(active=False).before("ש") == ""
    assert bordered("ש", active=True) == f"{MARK}ש{MARK}"


def test_a_mark_takes_no_column():
    assert cell_len(MARK) == 0


def test_only_terminals_get_marks():
    text = TEXTS[0].encode()
    assert MARK not in shown(text, marked=False)
    assert MARK in shown(text, marked=True)
    assert MARK not in shown(b"no such letters", marked=True)
    # A mark of the text itself is shown as such.
    assert "<U+200E>" in shown("ש\u200eש".encode(), marked=True)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("width", [8, 30, 400])
def test_tokens_can_be_read_back_between_marks(text, width):
    tokenizer = FakeTokenizer([each.encode() for each in ("של", "עולם", "مر", " ب")])
    tokens = [(token.content, token.special) for token in segment(tokenizer, text.encode()).tokens]
    marked = shown(text.encode(), marked=True, width=width, tokenizer=tokenizer)
    assert read_tokens(marked.replace(MARK, "")) == tokens
    assert marked.replace(MARK, "") == shown(text.encode(), marked=False, width=width, tokenizer=tokenizer)


@pytest.mark.parametrize("notes", [Notes(), Notes(ids=True)])
@pytest.mark.parametrize("text", TEXTS)
def test_tokens_stand_from_left_to_right(text, notes):
    bidi = needs("bidi")
    written = shown(text.encode(), marked=True, notes=notes).partition("\n")[0]
    seen = bidi.get_display(written, base_dir="L").replace(MARK, "")
    tokens = BARE_BAR.split(written.replace(MARK, ""))
    assert [sorted(token) for token in BARE_BAR.split(seen)] == [sorted(token) for token in tokens]
