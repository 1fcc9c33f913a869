"""Make small corpora with many ties: few symbols, short words, low counts."""

from __future__ import annotations

from hypothesis import strategies as st

ASCII_PIECES = st.text("abc", min_size=1, max_size=10).map(str.encode)
RAW_PIECES = st.lists(st.sampled_from([0x61, 0x20, 0xC3, 0xA9, 0xFF, 0x00]), min_size=1, max_size=10).map(bytes)

BYTE_PIECES = st.dictionaries(st.one_of(ASCII_PIECES, RAW_PIECES), st.integers(1, 4), min_size=1, max_size=8)
"""Pieces with frequencies: letters in many repetitions, and bytes that are no UTF-8."""

TEXT_WORDS = st.dictionaries(st.text("abßλ你𐍈", min_size=2, max_size=10), st.integers(1, 4), min_size=1, max_size=8)
"""Words with frequencies, of characters of one to four bytes."""
