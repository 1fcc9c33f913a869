"""The libraries that the tests compare with, set up without a network."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cache
from unittest import mock

import pytest

from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer, named_encodings
from tests.needs import needs


@cache
def tiktoken_encoding(name: str):
    """Build tiktoken's encoding as its own constructor does, from the ranks that lie in our core.

    That these are the published ranks is another test's matter: they go by the sha256 of the file.
    """
    tiktoken = needs("tiktoken")
    source = needs("tiktoken_ext.openai_public")
    vocabulary = named_encodings.named(name).model.vocabulary
    ranks = {token: token_id for token_id, token in vocabulary.items()}
    with (
        mock.patch.object(source, "load_tiktoken_bpe", return_value=ranks),
        mock.patch.object(source, "data_gym_to_mergeable_bpe_ranks", return_value=ranks),
    ):
        return tiktoken.Encoding(**source.ENCODING_CONSTRUCTORS[name]())


def assert_equal_ids(tokenizer: Tokenizer, documents: Sequence[bytes], ours: memoryview, theirs: Sequence[int]) -> None:
    """Fail with the place and the text of the first difference."""
    expected = array("I", theirs)
    if ours.cast("B") == memoryview(expected).cast("B"):
        return
    data = b"".join(documents)
    first = next(
        (place for place, pair in enumerate(zip(ours, expected, strict=False)) if pair[0] != pair[1]),
        min(len(ours), len(expected)),
    )
    offset = len(tokenizer.decode_bytes(array("I", ours[:first])))
    pytest.fail(
        f"id {first} differs, at byte {offset}, near {data[max(offset - 30, 0) : offset + 30]!r}: "
        f"{ours[first : first + 5].tolist()} is to be {expected[first : first + 5].tolist()}"
    )


def compare_with_tiktoken(name: str, texts: Sequence[str], threads: int = 2) -> int:
    """Hold the ids of texts, each a document, against tiktoken's; give the number of ids."""
    tokenizer, rival = named_encodings.named(name), tiktoken_encoding(name)
    theirs = rival.encode_ordinary_batch(list(texts), num_threads=threads)
    documents = [text.encode() for text in texts]
    ids, ends = tokenizer.encode_block(Block.of(documents), threads=threads)
    assert_equal_ids(tokenizer, documents, ids, [token_id for found in theirs for token_id in found])
    start, sizes = 0, []
    for end in ends:
        sizes.append(end - start)
        start = end
    assert sizes == [len(found) for found in theirs]
    return len(ids)
