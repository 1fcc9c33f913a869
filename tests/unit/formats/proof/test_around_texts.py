"""What is put around texts is compared without looking at any; what is lost there excuses nothing in them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bpe_cli.errors import FormatError
from bpe_cli.formats import dump
from bpe_cli.formats.huggingface import own_json
from tests.every_format import trained
from tests.unit.formats.proof.test_proof import LIES

AROUND = '{"type": "BertProcessing", "sep": ["e", 1], "cls": ["e", 1]}'


@pytest.mark.parametrize("lie", ["merges", "ids", "normalizer"])
def test_what_is_lost_around_texts_excuses_nothing_in_them(lie, monkeypatch):
    kind, change, said = LIES[lie]
    tokenizer = replace(trained(kind), post_processor=AROUND)
    bare = replace(tokenizer, post_processor=None)
    honest = own_json.dump
    monkeypatch.setattr(own_json, "dump", lambda *_: honest(bare))
    assert dump(tokenizer, "bpe.json", ["post-processor"]) == honest(bare)
    for losses in ((), ("pattern",)):
        with pytest.raises(FormatError, match="around a text"):
            dump(tokenizer, "bpe.json", losses)
    monkeypatch.setattr(own_json, "dump", lambda *_: honest(change(bare)))
    with pytest.raises(FormatError, match=said):
        dump(tokenizer, "bpe.json", ["post-processor"])
