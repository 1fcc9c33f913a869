"""``bpe train --help-algorithm``: every option of every algorithm, described."""

from __future__ import annotations

import pytest

from bpe_cli.trainers import ALGORITHMS
from tests.cli_runner import call


@pytest.mark.parametrize(
    "words",
    [(name,) for name in ALGORITHMS]
    + [(name, "--compat", "sentencepiece") for name in ("bpe", "unigram", "char", "word")],
)
def test_help_of_an_algorithm(words):
    result = call("train", "-a", *words, "--help-algorithm")
    assert (result.status, result.err) == (0, "")
    title, blank, *lines = result.text.splitlines()
    assert (title, blank) == (f"Options of -a {' '.join(words)}: flags, and NAME=VALUE for --set", "")
    assert max(map(len, lines)) <= 100
    assert not [line for line in lines if "None" in line or "float" in line or "``" in line]
    options = [place for place, line in enumerate(lines) if line.startswith("  --")]
    assert len(options) > 3
    for place in options:
        assert lines[place].endswith(")")
        assert "(needed)" in lines[place] or "(default: " in lines[place]
        assert len(lines[place + 1].strip()) > 8
        assert lines[place + 1].startswith("      ")
    leads_on = words in [("bpe",), ("unigram",), ("char",), ("word",)]
    assert ("--compat sentencepiece --help-algorithm" in result.text) == leads_on


def test_help_of_bytes():
    assert (
        call("train", "-a", "byte", "--help-algorithm").text
        == """\
Options of -a byte: flags, and NAME=VALUE for --set

  --vocab-size  (default: not given)
      Not given, or 256 plus the number of special tokens.

  --special  (default: none)
      The texts of the special tokens.

  --set special_first=...  (default: no)
      Whether special tokens get the ids before the bytes, instead of those after them.

  --split-special  (default: no)
      Has no effect: nothing is learnt from the corpus.
"""
    )


@pytest.mark.parametrize(
    ("algorithm", "line"),
    [
        ("maxmatch", "  --set factors=...  (default: 1.5,1.3,1.1,1.0)"),
        ("bpe", r"  --pre-tokenizer  (default: split at [ \r\n]+)"),
        ("bpe", "  --set continuing_subword_prefix=...  (default: empty)"),
        ("wordpiece", "  --special  (default: [PAD],[UNK],[CLS],[SEP],[MASK])"),
        ("unigram", "  --pre-tokenizer  (default: Metaspace)"),
        ("char", "  --set coverage=...  (default: 1.0)"),
        ("wordpiece", "  --set lowercase=...  (default: yes)"),
        ("wordpiece", "  --set limit_alphabet=...  (default: none)"),
    ],
)
def test_how_defaults_are_shown(algorithm, line):
    assert line in call("train", "-a", algorithm, "--help-algorithm").text.splitlines()
