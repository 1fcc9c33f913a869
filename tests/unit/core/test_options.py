"""Options cross the border as one JSON object; one that the core cannot read is named in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from bpe_cli import _core
from bpe_cli.support.core_arguments import options_json

USUAL: dict[str, Any] = {"initial": [b"a", b"\xff"], "vocab_size": 9, "min_frequency": 1, "tie": "first-seen"}


def train(**options: Any) -> _core.BpeTraining:
    return _core.train_bpe(_core.Counts(1 << 20), options_json(**options))


def test_what_is_left_out_is_usual():
    assert train(**USUAL).tokens()[0] == b"a\xff"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            {"vocabsize": 9},
            "the option vocabsize cannot be read: unknown field `vocabsize`, expected one of",
        ),
        ({"vocab_size": "9"}, 'the option vocab_size cannot be read: invalid type: string "9", expected usize'),
        ({"vocab_size": -1}, "the option vocab_size cannot be read: invalid value: integer `-1`, expected usize"),
        ({"vocab_size": 1 << 64}, "the option vocab_size cannot be read: "),
        ({"initial": ["a"]}, 'the option initial cannot be read: "a" is not base64: '),
        ({"tie": "x"}, "the option tie cannot be read: unknown variant `x`, expected one of `lowest-ids`,"),
        ({"vetoes": {"max_digits": 1.5}}, "the option vetoes.max_digits cannot be read: invalid type: floating point"),
        ({"vetoes": {"digits": 1}}, "the option vetoes.digits cannot be read: unknown field `digits`, expected one of"),
    ],
)
def test_a_wrong_option_is_named(wrong, sentence):
    with pytest.raises(ValueError) as raised:  # noqa: PT011  # the sentence is compared from its beginning
        train(**USUAL | wrong)
    assert str(raised.value).startswith(sentence)


def test_a_missing_option_is_named():
    with pytest.raises(ValueError, match="the options cannot be read: missing field `tie`"):
        train(**{name: value for name, value in USUAL.items() if name != "tie"})
    with pytest.raises(ValueError, match="the options cannot be read: EOF while parsing"):
        _core.train_bpe(_core.Counts(1), b"{")
    with pytest.raises(TypeError, match="an option must be what JSON has, or bytes, not object"):
        options_json(tie=object())
    with pytest.raises(ValueError, match="not JSON compliant"):
        options_json(ratio=float("inf"))
