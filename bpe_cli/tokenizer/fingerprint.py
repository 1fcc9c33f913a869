"""Identify a tokenizer by its value."""

from __future__ import annotations

import json
import sys
from array import array
from dataclasses import fields

from bpe_cli.stages.component_json import component
from bpe_cli.stages.vocabulary import Merges
from bpe_cli.tokenizer.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import NO_USAGE


def fingerprint(tokenizer: Tokenizer) -> str:
    """Return a sha256 that tokenizers share when they are equal, and only then.

    Invariant: it covers all that ``Tokenizer`` compares by, each field behind its length, in an order
    and a byte order that do not depend on the machine.
    """
    import hashlib

    digest = hashlib.sha256()

    def add(*values: str | bytes | array[int] | array[float] | None) -> None:
        for value in values:
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
    add(model.kind, model.vocabulary.blob, model.vocabulary.ends)
    for each in fields(model):
        value = getattr(model, each.name)
        if isinstance(value, Merges):
            value = value.triples
        if each.name in ("texts", "codebook", "whole_runs_of", "fixed_point") and not value:
            continue  # as before there were any
        if each.name != "vocabulary":
            add(each.name, value if isinstance(value, (bytes, array)) else repr(value))
    for stages in (tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder):
        add(str(len(stages)), *(json.dumps(component(stage)) for stage in stages))
    add(str(len(tokenizer.special_tokens)), *(repr(token) for token in tokenizer.special_tokens))
    add(tokenizer.unicode_version, tokenizer.post_processor)
    if tokenizer.usage != NO_USAGE:
        add(repr(tokenizer.usage))
    return digest.hexdigest()
