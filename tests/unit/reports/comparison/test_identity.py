"""What tells a comparison's texts and tokenizers from others."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.comparison.compare import compare
from bpe_cli.reports.comparison.comparison import Settings
from bpe_cli.tokenizer import fingerprint, named_encodings
from tests.unit.reports.fake_tokenizer import blocks_of


@given(st.lists(st.binary(max_size=20), max_size=5), st.integers(1, 30))
def test_a_digest_is_that_of_the_bytes_however_they_come(documents, size):
    inputs = [("a", blocks_of(documents, size)), ("b", [])]
    report = compare([named_encodings.named("gpt2")], inputs, settings=Settings())
    whole = hashlib.sha256(b"".join(documents)).hexdigest()
    assert [row.sha256 for row in report.rows] == [whole, hashlib.sha256().hexdigest()]


def test_a_comparison_with_its_identity():
    tokenizers = [named_encodings.named("gpt2"), named_encodings.named("cl100k_base")]
    report = compare(tokenizers, [("en.txt", blocks_of([b"a"], 1))], settings=Settings("lines"))
    assert [row.sha256 for row in report.rows] == [hashlib.sha256(b"a").hexdigest()]
    assert report.total.sha256 is None
    assert report.fingerprints == tuple(map(fingerprint, tokenizers))
    assert report.settings == Settings("lines")
    unknown = compare(tokenizers, [("en.txt", blocks_of([b"a"], 1))])
    assert (unknown.rows[0].sha256, unknown.fingerprints, unknown.settings) == (None, (), None)
