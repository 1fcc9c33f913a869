"""A pattern that was compiled to see whether it can be run is not compiled again to be run."""

from __future__ import annotations

import pytest

from bpe_cli.errors import UsageError
from bpe_cli.stages.splitters import RegexSplitter, compile_splitter


def test_patterns_are_compiled_once():
    patterns = ("[a-f]+|[^a-f]+", "b")
    assert compile_splitter(patterns) is compile_splitter((*patterns,))
    assert compile_splitter(patterns) is not compile_splitter(patterns[:1])
    assert [*memoryview(compile_splitter(patterns).split(b"abcxyab"))] == [1, 2, 3, 5, 6, 7]
    slow = compile_splitter((r"(a)\1",))
    assert isinstance(slow, RegexSplitter)
    assert compile_splitter((r"(a)\1",)) is slow


def test_what_does_not_compile_is_refused_each_time():
    for _ in range(2):
        with pytest.raises(UsageError, match="does not compile"):
            compile_splitter(("(",))
