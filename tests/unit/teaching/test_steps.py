"""Check what ``--steps`` shows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching.bpe import byte_words, character_words, train
from bpe_cli.views.training_steps import merge_lines
from tests.oracle.strategies import BYTE_PIECES

THREE_STEPS = """\
start: 6 tokens in use
       5  l o w </w>
       2  l o w e r </w>
  tokens  l:7  o:7  w:7  </w>:7  e:2  r:2

step 1: l + o -> lo, 7 times
       5  lo w </w>
       2  lo w e r </w>
  tokens  lo:7  w:7  </w>:7  e:2  r:2
  in use  5 (-1): l, o are gone

step 2: lo + w -> low, 7 times
       5  low </w>
       2  low e r </w>
  tokens  low:7  </w>:7  e:2  r:2
  in use  4 (-1): lo, w are gone

step 3: low + </w> -> low</w>, 5 times
       5  low</w>
  tokens  low</w>:5  low:2  e:2  r:2  </w>:2
  in use  5 (+1)"""


def test_text() -> None:
    training = train(character_words({"low": 5, "lower": 2}), tie="first-seen", num_merges=3)
    assert "\n".join(merge_lines(training)) == THREE_STEPS


def test_bytes_are_visible() -> None:
    lines = list(merge_lines(train(byte_words({" 你 a".encode(): 1, b" a": 1}), num_merges=1)))
    assert lines == [
        "start: 5 tokens in use",
        "       1  Ġ ⟨e4⟩ ⟨bd⟩ ⟨a0⟩ Ġ a",
        "       1  Ġ a",
        "  tokens  Ġ:3  ⟨e4⟩:1  ⟨bd⟩:1  ⟨a0⟩:1  a:2",
        "",
        "step 1: Ġ + a -> Ġa, 2 times",
        "       1  Ġ ⟨e4⟩ ⟨bd⟩ ⟨a0⟩ Ġa",
        "       1  Ġa",
        "  tokens  Ġ:1  ⟨e4⟩:1  ⟨bd⟩:1  ⟨a0⟩:1  Ġa:2",
        "  in use  5 (+0): a is gone",
    ]


def test_bytes_that_are_characters_are_shown_as_these() -> None:
    lines = list(merge_lines(train(byte_words({"你你".encode(): 2}), num_merges=2)))
    assert lines[-3:] == ["       2  你 你", "  tokens  你:4", "  in use  1 (-1): ⟨e4bd⟩, ⟨a0⟩ are gone"]


def test_nothing() -> None:
    empty: dict[tuple[bytes, ...], int] = {}
    assert list(merge_lines(train(empty))) == ["start: 0 tokens in use", "  tokens  "]


@given(BYTE_PIECES, st.integers(0, 10))
def test_a_heading_a_step_and_no_line_ends(pieces: dict[bytes, int], num_merges: int) -> None:
    training = train(byte_words(pieces), num_merges=num_merges)
    lines = list(merge_lines(training))
    assert sum(line.startswith("step ") for line in lines) == len(training.merges())
    assert not any(len(line.splitlines()) > 1 for line in lines)
    assert lines == list(merge_lines(training))
