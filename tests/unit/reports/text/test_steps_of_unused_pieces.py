"""The steps of SentencePiece's BPE where pieces are unused: they end at the tokens that text becomes."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.stages import ScoredBpe
from bpe_cli.stages.spelling import BYTE, NORMAL, UNKNOWN, UNUSED, USER_DEFINED
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.counted import at_least, compared
from tests.unit.reports.text.telling import tell

TEXTS = ["", "a", "b", "c", "ab", "bc", "abc"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def scored(kinds: list[int], *, byte_fallback: bool) -> Tokenizer:
    """Return a tokenizer whose pieces after the unknown one are of these types."""
    scores = array("d", [0, -9, -9, -9, -2, -1, -3, *[0] * 256])
    vocabulary = Vocabulary.from_tokens([text.encode() for text in [*TEXTS, *BYTES]])
    types = bytes([UNKNOWN, *kinds, *[BYTE] * 256])
    return Tokenizer(ScoredBpe(vocabulary, scores, unk_id=0, kinds=types, byte_fallback=byte_fallback))


def test_an_unused_character_is_unknown():
    kinds = [NORMAL, UNUSED, UNUSED, NORMAL, UNUSED, NORMAL]
    (row,) = tell(scored(kinds, byte_fallback=False), b"cabbc").rows
    assert [(each.text, each.way) for each in row.walk.ends] == [
        (b"c", "unknown"), (b"bc", "taken back"), (b"b", "unknown"), (b"c", "fused"),
    ]  # fmt: skip
    assert row.walk.ends[1].tokens == ()
    assert [token.token_id for token in row.tokens] == [0, 4, 0]
    (row,) = tell(scored(kinds, byte_fallback=True), b"cab").rows
    assert [token.content for token in row.tokens] == [b"<0x63>", b"ab"]


@at_least(20)
@pytest.mark.parametrize("byte_fallback", [False, True])
@given(
    kinds=st.lists(st.sampled_from([NORMAL, UNUSED, USER_DEFINED]), min_size=6, max_size=6),
    text=st.text("abcd", min_size=1, max_size=9),
)
def test_steps_end_where_encoding_does(byte_fallback, kinds, text):
    tokenizer = scored(kinds, byte_fallback=byte_fallback)
    told = tell(tokenizer, text.encode())
    assert told.differs_at is None
    assert [token.token_id for row in told.rows for token in row.tokens] == tokenizer.encode(text)
    compared()
