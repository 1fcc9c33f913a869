"""Pre-tokenizers by name."""

from __future__ import annotations

import pytest

from bpe_cli.errors import UsageError
from bpe_cli.stages import FixedLength, Split
from bpe_cli.stages.named_stages import pre_tokenizer_names, pre_tokenizers_named
from bpe_cli.stages.patterns import PATTERNS
from tests.differential.pieces import pieces_with_spans, stages_of


@pytest.mark.parametrize("name", pre_tokenizer_names())
def test_every_name_compiles(name):
    text = "Héllo wörld, it's 12 o'clock. 你好"
    pieces = pieces_with_spans(stages_of(*pre_tokenizers_named(name)), text)
    covered = "".join(text[start:end] for _, (start, end) in pieces)
    assert "".join(covered.split()) in "".join(text.split())
    assert {*"Héllowörld1clock你好"} <= {*covered}


def test_names_of_patterns_go_last_and_mean_the_pattern():
    assert pre_tokenizer_names()[0] == "none"
    assert pre_tokenizers_named("none") == ()
    assert pre_tokenizers_named("char") == (FixedLength(1),)
    assert pre_tokenizers_named("gpt4") == pre_tokenizers_named("llama3") == (Split(PATTERNS["llama3"].regex),)


def test_several_go_one_after_the_other():
    assert pre_tokenizers_named("t5, digits") == (*pre_tokenizers_named("t5"), *pre_tokenizers_named("digits"))
    with pytest.raises(UsageError, match="there is no pre-tokenizer ''"):
        pre_tokenizers_named("bert,")


def test_an_unknown_name_lists_the_known():
    with pytest.raises(UsageError, match="there is no pre-tokenizer 'berd'") as caught:
        pre_tokenizers_named("berd")
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("there are none, bert, whitespace, ")
    assert "o200k" in caught.value.hint
