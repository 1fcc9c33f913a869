"""What is said of normalizers against most characters that they rewrite."""

from __future__ import annotations

import pytest

from bpe_cli._core import Stages
from bpe_cli.reports.tokenizer.reachability.normalizing import Normal
from bpe_cli.stages import NFC, NFD, NFKC, BertNormalizer, Lowercase, RankBpe, StripAccents
from bpe_cli.stages.component_json import core_spec
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer

CHARACTERS = [chr(code) for code in (*range(0x3400), *range(0xA000, 0xAC10), *range(0xF900, 0x11200, 3))]


@pytest.mark.parametrize(
    "normalizer",
    [
        (Lowercase(),),
        (NFC(),),
        (NFKC(), Lowercase()),
        (NFD(), Lowercase(), StripAccents()),
        (BertNormalizer(),),
        (BertNormalizer(strip_accents=True, lowercase=False),),
    ],
)
def test_no_character_that_is_written_is_called_impossible(normalizer):
    """A line end keeps characters from being composed; BERT makes it a blank."""
    written, _, _ = Stages(core_spec(normalizer, ())).normalize("\n".join(CHARACTERS).encode())
    normal = Normal(Tokenizer(RankBpe(Vocabulary.from_tokens([])), normalizer=normalizer))
    wrong = [each for each in set(written.decode()) if normal.why_none(each.encode())]
    assert wrong == []
    if Lowercase() in normalizer or BertNormalizer() in normalizer:
        assert normal.why_none(b"A") == 'the normalizer makes "a" of "A"'
