"""Comparisons made by hand, so that every number in a test can be seen."""

from __future__ import annotations

from dataclasses import replace

from bpe_cli.reports.comparison.comparison import METRICS, Comparison, Metric, Passage, Row, Settings
from bpe_cli.reports.comparison.measures import Difference, Measure
from bpe_cli.reports.text.segmentation import segment

HOSTILE = "=cmd|'/C calc'!A0 `x` <script>@you [l](http://e.vil) \x1b[2J\u202e\n\udcff\\|#1 *b* &lt; "

UNKNOWN = Metric(
    "unknown_share", "unknown", "less", "share", "tokens that stand for what the vocabulary has not",
    lambda measure: measure.unknown_tokens / measure.token_count if measure.token_count else None,
)  # fmt: skip
WORDS_EACH = Metric(
    "tokens_per_word", "tokens/word", "less", "ratio", "tokens per word",
    lambda measure: measure.token_count / measure.word_count if measure.word_count else None,
)  # fmt: skip
SPEED = Metric(
    "megabytes_per_second", "MB/s", "more", "speed", "megabytes per second",
    lambda measure: measure.byte_count / measure.seconds / 1e6 if measure.seconds else None,
)  # fmt: skip
SIZE = Metric("vocabulary", "vocabulary used", None, "count", "different ids", lambda measure: measure.used_ids)
USUAL = {name: METRICS[name] for name in ("tokens", "bytes_per_token", "characters_per_token", "ratio")}
ALL = {**USUAL, **{metric.name: metric for metric in (UNKNOWN, WORDS_EACH, SPEED, SIZE)}}


def difference(ratio, low, high, p=0.0004, units=120, each=1):
    return Difference(ratio, low, high, p / 2, p, units, each)


def row_of(name, documents, size, characters, tokens):
    """Make a row of sums; the first tokenizer is the baseline."""
    measures = [Measure(documents, size, characters, count, tokens[0], checked_documents=documents) for count in tokens]
    return Row.from_measures(name, measures)


def row(name, tokens, *, documents=120, size=12_000, differences=(), sha256=None, **sums):
    made = row_of(name, documents, size, size - 100, tokens)
    measures = tuple(
        replace(each, **{field: values[number] for field, values in sums.items()})
        for number, each in enumerate(made.measures)
    )
    return replace(made, measures=measures, differences=differences, sha256=sha256)


def comparison(names=("mine.json", "gpt2"), *, rows=None, total=None, sizes=None, settings=None):
    rows = rows or (
        row("en.txt", [3000, 2730], differences=(None, difference(0.91, 0.89, 0.93)), sha256="aa"),
        row("de.txt", [2000, 2010], differences=(None, difference(1.005, 0.98, 1.03, 0.6)), sha256="bb"),
    )
    total = total or row(
        "total", [5000, 4740], documents=240, size=24_000, differences=(None, difference(0.948, 0.93, 0.96, units=240))
    )
    sizes = tuple(sizes or (32_000 + number for number in range(len(names))))
    measures = tuple(replace(each, vocab_size=size) for each, size in zip(total.measures, sizes, strict=False))
    total = replace(total, measures=measures)
    return Comparison(
        tuple(names), sizes, tuple(rows), total, (),
        fingerprints=tuple(f"{number:064x}" for number in range(len(names))), settings=settings or Settings(),
    )  # fmt: skip


def hostile():
    names = (HOSTILE, "gpt2")
    rows = (
        row(HOSTILE, [30, 20], sha256="aa"),
        row("a|b", [30, 20], sha256="bb"),
        row("\\|` </code></details>", [3, 4], sha256="cc"),
    )
    return comparison(names, rows=rows, total=row("total", [63, 44]))


def compared(tokenizers, inputs):
    """Compare stand-ins for tokenizers in plain Python, for tests of what shows a comparison."""
    names = [tokenizer.name for tokenizer in tokenizers]
    names = [f"{name} ({names[:place].count(name) + 1})" if name in names[:place] else name
             for place, name in enumerate(names)]  # fmt: skip
    rows, passages = [], []
    for name, blocks in inputs:
        documents = [bytes(document) for block in blocks for document in block.documents()]
        rows.append(_counted(name, tokenizers, documents))
        if sum(map(len, documents)) <= 2048:
            passages += [
                Passage(name, number, tuple(segment(tokenizer, document) for tokenizer in tokenizers))
                for number, document in enumerate(documents)
            ]
    everything = [bytes(each) for _, blocks in inputs for block in blocks for each in block.documents()]
    total = _counted("total", tokenizers, everything)
    sizes = tuple(tokenizer.vocab_size for tokenizer in tokenizers)
    return Comparison(tuple(names), sizes, tuple(rows), total, tuple(passages))


def _counted(name, tokenizers, documents):
    text = [document.decode("utf-8", "surrogateescape") for document in documents]
    counts = [sum(len(tokenizer.tokens(document)) for document in documents) for tokenizer in tokenizers]
    made = row_of(name, len(documents), sum(map(len, documents)), sum(map(len, text)), counts)
    sized = zip(made.measures, tokenizers, strict=True)
    return replace(made, measures=tuple(replace(each, vocab_size=tokenizer.vocab_size) for each, tokenizer in sized))
