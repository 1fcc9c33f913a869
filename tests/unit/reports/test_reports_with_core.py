"""The reports on real tokenizers: skipped while the core is not compiled."""

from pathlib import Path

import pytest

from bpe_cli.reports.comparison.compare import compare
from bpe_cli.reports.text.segmentation import segment
from bpe_cli.reports.tokenizer.vocabulary_report import describe
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import named_encodings
from tests.unit.reports.fake_tokenizer import blocks_of
from tests.unit.views.golden import render
from tests.unit.views.read_back import read_tokens
from tests.work import cost

CORPORA = sorted(path for path in Path(__file__).parents[3].joinpath("corpora").rglob("*.*") if path.is_file())


def test_a_character_in_two_tokens():
    result = segment(named_encodings.named("cl100k_base"), "谁".encode())
    (group,) = result.groups()
    assert group.parts[0].text == "谁"
    assert group.parts[0].contents == (b"\xe8\xb0", b"\x81")
    assert result.round_trip


@pytest.mark.parametrize(
    ("name", "ordinary", "special", "highest", "unused"),
    [
        ("gpt2", 50256, 1, 50256, 0),
        ("cl100k_base", 100256, 5, 100276, 16),
        ("o200k_base", 199998, 2, 200018, 19),
    ],
)
def test_describe(name, ordinary, special, highest, unused):
    tokenizer = named_encodings.named(name)
    assert tokenizer.model.vocabulary.blob  # laid into memory before the clock runs
    reports = []
    size = len(tokenizer.model.vocabulary.blob)
    assert cost(lambda: reports.append(describe(tokenizer)), size, 300) <= 300
    report = reports[0]
    assert (report.ordinary_count, report.special_count) == (ordinary, special)
    assert (report.highest_id, report.unused_count) == (highest, unused)
    assert report.bytes_without_token == b""
    assert [pattern.fast for pattern in report.patterns] == [True]
    assert report.kinds.single_bytes == 256


@pytest.mark.parametrize("path", CORPORA, ids=lambda path: path.name)
def test_segmentation_of_the_corpora(path):
    from bpe_cli.views.tokens import TokenView

    text = path.read_bytes()[:2000]
    result = segment(named_encodings.named("cl100k_base"), text)
    assert result.round_trip
    assert b"".join(text[token.start : token.end] for token in result.tokens) == text
    assert [token.token_id for token in result.tokens] == named_encodings.named("cl100k_base").encode(text)
    shown = render(TokenView(result, limit=None, totals=False))
    assert read_tokens(shown) == [(token.content, False) for token in result.tokens]


@pytest.mark.parametrize("size", [1000, 65536])
def test_comparison_of_the_corpora(size):
    tokenizers = [named_encodings.named(name) for name in ("gpt2", "cl100k_base", "o200k_base")]
    texts = [path.read_bytes() for path in CORPORA]
    rows = compare(
        tokenizers, ((path.name, blocks_of([text], size)) for path, text in zip(CORPORA, texts, strict=True))
    )
    for row, text in zip(rows.rows, texts, strict=True):
        assert row.character_count == len(text.decode("utf-8", "surrogateescape"))
        assert [m.token_count for m in row.measures] == [len(tokenizer.encode(text)) for tokenizer in tokenizers]
    whole = compare(tokenizers, [("all", [Block.of(texts)])], threads=2)
    assert [m.token_count for m in whole.total.measures] == [m.token_count for m in rows.total.measures]
