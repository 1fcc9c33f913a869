"""Find out which special and added tokens were recognized in a text, and which the model gave by itself.

The model gives the unknown token for what it does not know. It also gives an added token where that token's text stands
and is not looked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable
from itertools import count

from bpe_cli import _core
from bpe_cli.stages import WordLevel
from bpe_cli.stages.component_json import core_model
from bpe_cli.stages.vocabulary import Vocabulary

Found = tuple[int, int, int]
"""Where in a text a token begins and ends, and its id."""


def indifferent(stages: _core.Stages, special_ids: Collection[int]) -> _core.Encoder:
    """Compile an encoder that gives no special token but those that are recognized: all else is one other id to it."""
    other = next(each for each in count() if each not in special_ids)
    vocabulary = Vocabulary(b"?", array("I", [*[0] * other, 1]))
    model = WordLevel(vocabulary, unk_id=other, fuse_unk=True)
    return _core.Encoder(stages, core_model(model), (vocabulary.blob, vocabulary.ends))


def marks(columns: tuple[memoryview, memoryview, memoryview], maybe: bytes, recognized: Iterable[Found]) -> bytes:
    """Return a byte for each token: 1 if it is one of those that were recognized, else 0.

    Args:
        columns: Ids, starts and ends of the tokens.
        maybe: 1 for each token that may have been recognized.
        recognized: What was recognized, in order.
    """
    ids, starts, ends = columns
    special = bytearray(maybe)
    left = iter(recognized)
    found = next(left, None)
    place = special.find(1)
    while place >= 0:
        if found == (starts[place], ends[place], ids[place]):
            found = next(left, None)
        else:
            special[place] = 0
        place = special.find(1, place + 1)
    return bytes(special)
