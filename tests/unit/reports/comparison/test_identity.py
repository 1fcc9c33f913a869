"""What tells a comparison's texts and tokenizers from others."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.comparison.provenance import Digests, Settings, identified
from bpe_cli.tokenizer import named_encodings
from bpe_cli.tokenizer.fingerprint import fingerprint
from tests.unit.reports.comparison.handmade import comparison
from tests.unit.reports.fake_tokenizer import blocks_of


@given(st.lists(st.binary(max_size=20), max_size=5), st.integers(1, 30))
def test_a_digest_is_that_of_the_bytes_however_they_come(documents, size):
    digests = Digests()
    for _, blocks in digests.watch([("a", blocks_of(documents, size)), ("b", [])]):
        for _ in blocks:
            pass
    assert digests.hexdigests() == [hashlib.sha256(b"".join(documents)).hexdigest(), hashlib.sha256().hexdigest()]


def test_a_comparison_with_its_identity():
    digests = Digests()
    for _, blocks in digests.watch([("en.txt", blocks_of([b"a"], 1)), ("de.txt", blocks_of([b"b"], 1))]):
        list(blocks)
    tokenizers = [named_encodings.find("gpt2"), named_encodings.find("cl100k_base")]
    report = identified(comparison(), tokenizers, digests, Settings("lines"))
    assert [row.sha256 for row in report.rows] == [hashlib.sha256(text).hexdigest() for text in (b"a", b"b")]
    assert report.total.sha256 is None
    assert report.fingerprints == tuple(map(fingerprint, tokenizers))
    assert report.settings == Settings("lines")
    with pytest.raises(ValueError, match="not those that were compared"):
        identified(comparison(), tokenizers[:1], digests, Settings())
    with pytest.raises(ValueError, match="shorter"):
        identified(comparison(), tokenizers, Digests(), Settings())
