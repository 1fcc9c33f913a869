"""Pre-tokenizers by name."""

from __future__ import annotations

import pytest

from bpe_cli.errors import UsageError
from bpe_cli.stages import FixedLength, Split
from bpe_cli.stages.named_pre_tokenizers import named, names
from bpe_cli.stages.patterns import PATTERNS
from tests.differential.pieces import pieces_with_spans, stages_of


@pytest.mark.parametrize("name", names())
def test_every_name_compiles(name):
    text = "Héllo wörld, it's 12 o'clock. 你好"
    pieces = pieces_with_spans(stages_of(*named(name)), text)
    covered = "".join(text[start:end] for _, (start, end) in pieces)
    assert "".join(covered.split()) in "".join(text.split())
    assert {*"Héllowörld1clock你好"} <= {*covered}


def test_names_of_patterns_go_last_and_mean_the_pattern():
    assert names()[0] == "none"
    assert named("none") == ()
    assert named("char") == (FixedLength(1),)
    assert named("gpt4") == named("llama3") == (Split(PATTERNS["llama3"].regex),)


def test_several_go_one_after_the_other():
    assert named("t5, digits") == (*named("t5"), *named("digits"))
    with pytest.raises(UsageError, match="there is no pre-tokenizer ''"):
        named("bert,")


def test_an_unknown_name_lists_the_known():
    with pytest.raises(UsageError, match="there is no pre-tokenizer 'berd'") as caught:
        named("berd")
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("there are none, bert, whitespace, ")
    assert "o200k" in caught.value.hint
