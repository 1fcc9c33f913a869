"""How often tokens occur: as counting one by one, whatever the threads and blocks."""

from __future__ import annotations

from array import array
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import InputError
from bpe_cli.reports.tokenizer import corpus_report
from bpe_cli.reports.tokenizer.corpus_report import Frequencies, count_frequencies, count_ids
from bpe_cli.stages import RankBpe, SpecialToken
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer, named_encodings
from tests.unit.reports.fake_tokenizer import blocks_of


@given(st.lists(st.integers(0, 12)), st.integers(1, 5))
def test_ids(ids, chunk):
    counts = array("Q", [1] * 8)
    size, corpus_report._CHUNK = corpus_report._CHUNK, chunk
    try:
        beyond = count_ids(memoryview(array("I", ids)), counts)
    finally:
        corpus_report._CHUNK = size
    assert [*counts] == [1 + ids.count(token_id) for token_id in range(8)]
    assert beyond == Counter(token_id for token_id in ids if token_id >= 8)


@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
@pytest.mark.parametrize(("size", "threads"), [(1 << 30, 1), (4096, 1), (999, 2)])
def test_a_corpus(name, size, threads, corpora):
    texts = [path.read_bytes() for path in sorted(corpora.rglob("*.txt"))]
    tokenizer = named_encodings.named(name)
    found = count_frequencies(tokenizer, blocks_of(texts, size), threads=threads)
    expected = Counter(token_id for text in texts for token_id in tokenizer.encode(text))
    assert dict(found.items()) == expected
    assert (found.document_count, found.byte_count) == (len(texts), sum(map(len, texts)))
    assert found.token_count == expected.total()


def test_special_tokens_of_any_id():
    tokens = (SpecialToken(b"<s>", 2**32 - 1), SpecialToken(b"<t>", 3))
    tokenizer = Tokenizer(RankBpe(Vocabulary.from_tokens([b"a", b"b"])), special_tokens=tokens)
    found = count_frequencies(tokenizer, [Block.of([b"ab<s>a<t><s>"])], specials="all")
    assert dict(found.items()) == {0: 2, 1: 1, 3: 1, 2**32 - 1: 2}
    assert (found.of(2**32 - 1), found.of(2), found.of(2**31)) == (2, 0, 0)
    assert len(found.counts) < 1 << 22


def test_no_documents_and_no_token():
    tokenizer = Tokenizer(RankBpe(Vocabulary.from_tokens([b"a"])))
    assert count_frequencies(tokenizer, []) == Frequencies(array("Q", [0]))
    with pytest.raises(InputError):
        count_frequencies(tokenizer, [Block.of([b"x"])])
