"""Decoding a few ids takes as long in a large vocabulary as in a small one."""

from __future__ import annotations

from array import array

from bpe_cli.stages import Fuse, WordLevel
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.work import cost


def test_the_table_is_not_copied_for_each_text():
    """What the core is lent and could change, it copies: 800 KB here, for each of five hundred texts."""
    vocabulary = Vocabulary.from_tokens(b"%d" % number for number in range(200_000))
    engine = Tokenizer(WordLevel(vocabulary), decoder=(Fuse(),)).engine
    one = array("I", [199_999])
    assert engine.decode(one) == b"199999"
    cost(lambda: [engine.decode(one) for _ in range(500)], 1 << 18, 5)
