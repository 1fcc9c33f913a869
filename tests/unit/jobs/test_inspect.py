"""Texts and tokenizers inspected by one call: documents whole and named, and as the command line has it."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.corpus import Source
from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs import inspect as job
from bpe_cli.jobs.files import Streams
from bpe_cli.jobs.inspect import InspectOptions, inspect
from bpe_cli.tokenizer.named_encodings import named
from bpe_cli.views.as_json import cards_json
from tests.cli_runner import call
from tests.unit.reports.small_tokenizers import byte_level

GPT2 = named("gpt2")
SMALL = byte_level([b"lo", b"low", b" low"], name="small")


def contents(source, data=b""):
    done = inspect(SMALL, source, streams=Streams(io.BytesIO(data)))
    return [(document.content, document.title) for document, _ in done.documents]


def test_the_only_text_has_no_title(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text(f"low {name}")
    paths = tuple(str(tmp_path / name) for name in "ab")
    assert contents(Source(paths[:1])) == [(b"low a", None)]
    assert contents(Source(paths)) == [(b"low a", paths[0]), (b"low b", paths[1])]
    assert contents(Source(("-",), documents="lines"), b"low\n") == [(b"low", "stdin:1")]


@given(st.lists(st.binary(max_size=9).filter(lambda line: b"\n" not in line and b"\r" not in line)), st.integers(1, 9))
def test_documents_are_whole_however_they_come(lines, size):
    data = b"".join(line + b"\n" for line in lines)
    source = Source(("-",), documents="lines", block_bytes=size, plain=True)
    assert [content for content, _ in contents(source, data)] == lines


def test_a_text_that_is_too_long(monkeypatch):
    monkeypatch.setattr(job, "LARGEST_TEXT", 8)
    assert contents(Source(text="lowlowlo")) == [(b"lowlowlo", None)]
    with pytest.raises(InputError, match="the text is longer than"):
        contents(Source(text="lowlowlow"))


def test_what_cannot_be_had_is_refused_before_a_text_is_read():
    source = Source(("missing",))
    with pytest.raises(UsageError, match="only a unigram model ranks"):
        inspect(GPT2, source, InspectOptions(best=3))
    with pytest.raises(UsageError, match="only a unigram model ranks"):
        inspect(GPT2, source, InspectOptions(steps=True, best=3))
    with pytest.raises(UsageError, match="tokens have scores in unigram models"):
        inspect(GPT2, source, InspectOptions(scores=True))


def test_steps_and_stages():
    ((_, steps),) = inspect(SMALL, Source(text="low low"), InspectOptions(steps=True)).documents
    assert [[token.token_id for token in row.tokens] for row in steps.rows] == [[1], [2]]
    ((_, found),) = inspect(SMALL, Source(text="low low"), InspectOptions(stages=True)).documents
    assert [piece.content for piece in found.stages.pieces] == [b"low", b" low"]


def test_stages_need_all_tokens_however_few_are_described():
    ((_, found),) = inspect(SMALL, Source(text="low low"), InspectOptions(stages=True, details=1)).documents
    assert (found.stages.pieces[-1].token_end, found.segmentation.token_count) == (2, 2)


def test_a_tokenizer_with_a_corpus():
    assert inspect(SMALL).corpus is None
    report = inspect(SMALL, None, InspectOptions(threads=2), corpus=Source(text="low low"))
    assert (report.corpus.token_count, report.corpus.used, report.corpus.byte_count) == (2, 2, 7)


def test_tokens_that_are_there_and_those_that_are_not():
    found = inspect(GPT2, None, InspectOptions(tokens=("262", " the", "text:no such token")))
    assert [card.token.token_id for card in found.cards] == [262]
    with pytest.raises(UsageError, match="no such token"):
        found.unknown.check()
    shown = call("inspect", "gpt2", "--token", "262", "--json")
    assert json.loads(shown.out) == cards_json(found.tokenizer, found.cards)
