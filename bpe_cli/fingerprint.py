"""Identify a tokenizer by its value."""

from __future__ import annotations

import hashlib
import sys
from array import array

from bpe_cli.stages import MergeBpe
from bpe_cli.tokenizer import Tokenizer


def fingerprint(tokenizer: Tokenizer) -> str:
    """Give a sha256 that tokenizers share when they are equal, and only then.

    Invariant: it covers all that ``Tokenizer`` compares by, each field behind its length, in an order
    and a byte order that do not depend on the machine.
    """
    digest = hashlib.sha256()

    def add(*fields: str | bytes | array[int] | None) -> None:
        for value in fields:
            if isinstance(value, array):
                numbers = value[:]
                if sys.byteorder == "big":
                    numbers.byteswap()
                data = numbers.tobytes()
            else:
                data = b"\0" if value is None else b"\1" + value.encode() if isinstance(value, str) else value
            digest.update(len(data).to_bytes(8, "little"))
            digest.update(data)

    model = tokenizer.model
    merges = model.merges.triples if isinstance(model, MergeBpe) else None
    add(model.kind, model.vocabulary.blob, model.vocabulary.ends)
    add(merges, str(model.ignore_merges) if isinstance(model, MergeBpe) else None)
    add(str(len(tokenizer.pre_tokenizer)))
    for stage in tokenizer.pre_tokenizer:
        add(type(stage).__name__, getattr(stage, "pattern", None))
    add(str(len(tokenizer.special_tokens)))
    for token in tokenizer.special_tokens:
        add(token.content, str(token.token_id), str(token.special))
    add(tokenizer.unicode_version, tokenizer.post_processor)
    return digest.hexdigest()
