"""Random tokenizers of every stage and model, written in every format that can hold them, and read again."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from bpe_cli.errors import FormatError
from bpe_cli.formats import FORMATS, dump, load
from bpe_cli.tokenizer import Tokenizer
from tests.every_format import pattern_for, put
from tests.proof.attempts import Found, Proof
from tests.proof.kinds.mutants import encoded
from tests.random_tokenizers import make, texts


def ids_of(tokenizer: Tokenizer, some: list[bytes]) -> list[list[int] | None]:
    """Return the ids of texts, first as plain text and then with special tokens looked for."""
    return [encoded(tokenizer, text, specials) for specials in ((), "all") for text in some]


def leaves_out(tokenizer: Tokenizer) -> bool:
    """Return whether decoding leaves special tokens out, which a format may say in another way."""
    return "SpaceMarks" in repr(tokenizer.decoder)


@contextmanager
def begin(folder: Path) -> Iterator[Path]:
    """Return the folder to write into."""
    yield folder


def attempt(folder: Path, chance: Random, number: int) -> Counter[str]:
    """Write a tokenizer in each format, and compare what is read with it."""
    tokenizer = make(chance)
    some = texts(chance, tokenizer)
    try:
        expected = ids_of(tokenizer, some)
    except FormatError:
        return Counter({"tokenizers that contradict themselves, refused": 1})
    decoded = [tokenizer.decode_bytes(ids) for ids in expected[: len(some)] if ids is not None]
    counts = Counter({"tokenizers": 1, f"tokenizers: {tokenizer.model.kind}": 1})
    for name in FORMATS:
        try:
            files = dump(tokenizer, name)
        except FormatError:
            counts["refused, as the format cannot hold it"] += 1
            continue
        place = folder / name
        shutil.rmtree(place, ignore_errors=True)
        again = load(put(files, place), pattern_for(name))
        evidence = {f"{name}-{file or 'file'}": content for file, content in files.items()}
        if (found := ids_of(again, some)) != expected:
            wrong = next(each for each in range(len(found)) if found[each] != expected[each])
            evidence["text"] = some[wrong % len(some)]
            told = json.dumps([found[wrong], expected[wrong]])
            raise Found(f"as {name}, random tokenizer {number} gives other ids, and was to give: {told}", evidence)
        if not (leaves_out(tokenizer) or leaves_out(again)):
            back = [again.decode_bytes(ids) for ids in expected[: len(some)] if ids is not None]
            if back != decoded:
                raise Found(f"as {name}, random tokenizer {number} decodes otherwise", evidence)
        counts["files written and read"] += 1
        counts["texts compared"] += len(expected)
    return counts


PROOF = Proof(
    title="Round trips of tokenizers",
    claim="A random tokenizer, of any model, stages, flags and odd numbers, gives the same ids and texts after each "
    "format that can hold it; the others refuse it.",
    begin=begin,
    attempt=attempt,
)
