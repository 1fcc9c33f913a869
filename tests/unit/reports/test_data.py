"""Ids that were written are measured as a plain count measures them."""

from __future__ import annotations

import json
from array import array

from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.reports.data import Facts, Row, measure, of_ids
from bpe_cli.reports.text.segmentation import segment
from bpe_cli.stages.spelling import to_visible
from tests.counted import at_least, compared
from tests.every_format import trained

GPT2 = bpe_cli.load("gpt2")
EOT = 50256
IDS = st.lists(st.sampled_from([31373, 995, EOT, 60000, 50257, 0]), max_size=9)


def parts(ids, size):
    """Cut a row, as a reader does whose block ends there."""
    rows = [Row(array("I", ids[at : at + size]), done=False) for at in range(0, len(ids), size)]
    return [*rows, Row(array("I"))]


@at_least(3)
@given(
    documents=st.lists(IDS, max_size=8), size=st.integers(1, 4), first=st.integers(1, 4), most=st.none() | st.just(2)
)
def test_what_is_measured(documents, size, first, most):
    rows = [row for ids in documents for row in parts(ids, size)]
    facts = Facts("x", "ids", None, "document", EOT)
    found = measure(GPT2, rows, facts, wanted=range(first, first + 2), most=most)
    assert (found.rows, found.tokens) == (len(documents), sum(map(len, documents)))
    lengths = sorted(map(len, documents))
    if lengths:
        middle = lengths[(len(lengths) - 1) // 2]
        assert (found.lengths.shortest, found.lengths.median, found.lengths.longest) == (
            lengths[0],
            middle,
            lengths[-1],
        )
        for low, high, count in found.lengths.histogram:
            assert count == sum(low <= length <= high for length in lengths)
        assert sum(count for _, _, count in found.lengths.histogram) == len(lengths)
    else:
        assert found.lengths is None
    open_rows = [number for number, ids in enumerate(documents, 1) if ids[-1:] != [EOT]]
    assert (found.ends.ended, found.ends.first_open) == (len(documents) - len(open_rows), next(iter(open_rows), None))
    assert found.ends.inside == sum(ids[:-1].count(EOT) for ids in documents)
    unknown = [(number, each) for number, ids in enumerate(documents, 1) for each in ids if each > EOT]
    assert (found.unknown, found.first_unknown) == (len(unknown), next(iter(unknown), None))
    expected = documents[first - 1 : first + 1]
    assert [(row.number, row.length) for row in found.shown] == [
        (number, len(ids)) for number, ids in enumerate(expected, first)
    ]
    assert [list(row.segmentation.placed.ids) for row in found.shown] == [ids[:most] for ids in expected]
    compared()


@at_least(3)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_ids_read_as_the_text_that_they_were(text):
    data = text.encode()
    of_text, read = segment(GPT2, data), of_ids(GPT2, array("I", GPT2.encode(text)))
    assert [(each.token_id, each.content, each.start, each.end) for each in read.tokens] == [
        (each.token_id, each.content, each.start, each.end) for each in of_text.tokens
    ]
    assert (read.splits, read.byte_count, read.character_count) == (
        of_text.splits, of_text.byte_count, of_text.character_count,
    )  # fmt: skip
    assert list(read.groups()) == list(of_text.groups())
    compared()


def test_tokens_that_are_written_otherwise():
    words = trained("wordpiece")
    ids = array("I", words.encode("lower low"))
    assert b"".join(each.reading for each in of_ids(words, ids).tokens)
    assert of_ids(words, array("I")).tokens == ()


def test_every_id_that_decodes_has_a_token(tmp_path):
    """Also an entry that no text becomes: in a byte-level vocabulary, one with a character that stands for no byte."""
    vocab = {to_visible(bytes([byte])): byte for byte in range(256)} | {"日本": 257}
    model = {"type": "BPE", "vocab": vocab, "merges": []}
    split = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"version": "1.0", "pre_tokenizer": split, "model": model}))
    tokenizer = bpe_cli.load(path)
    assert tokenizer.decode([257, 64]) == "日本@"
    rows = [Row(array("I", [257, 64, 256]))]
    found = measure(tokenizer, rows, Facts("x", "ids", None, "document", None), wanted=range(1, 2))
    assert (found.unknown, found.first_unknown) == (1, (1, 256))
    shown = [(token.content, token.special) for token in found.shown[0].segmentation.tokens]
    assert shown == [("日本".encode(), False), (b"@", False), (b"no token 256", True)]
