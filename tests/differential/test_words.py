"""The way over words of real tokenizers, held to the way over stages on real texts.

Spans always come from the stages, so their ids are the oracle.
"""

import pytest

from bpe_cli.support.blocks import Block
from tests.differential.published import loaded

VOCABS = [
    "bert-base-uncased/vocab.txt",
    "bert-base-chinese/vocab.txt",
    "xlnet-base-cased/spiece.model",
    "t5-small/tokenizer.json",
    "llama2/tokenizer.model",
    "llama2-repaired/tokenizer.json",
    "mistral-spm-v1/tokenizer.model.v1",
    "phi-3-mini/tokenizer.json",
    "chatglm-6b/ice_text.model",
    "spm-test_ja_model/test_ja_model.model",
]
OFFSETS = 70


@pytest.mark.parametrize("vocab", VOCABS)
def test_words_and_stages_give_the_same_ids(vocab, shared):
    tokenizer = loaded(shared / "vocabs" / vocab)
    texts = sorted((shared / "corpora" / "default").iterdir())
    pieces = [path.read_bytes()[:6_000] for path in texts if path.is_file()]
    # Bytes that are cut off in the middle of a character are text as well.
    begun = [piece[offset : 200 + 2 * offset] for piece in pieces[:12] for offset in range(OFFSETS)]
    documents = [*pieces, *begun]
    ids, ends = tokenizer.encode_block(Block.of(documents), tokenizer.matcher())
    start = 0
    for document, end in zip(documents, ends, strict=True):
        assert ids[start:end].tolist() == list(tokenizer.place(document).ids), document
        start = end


@pytest.mark.parametrize("vocab", VOCABS)
def test_blocks_and_threads_change_nothing(vocab, shared):
    tokenizer = loaded(shared / "vocabs" / vocab)
    texts = sorted((shared / "corpora" / "default").iterdir())
    document = b"\n".join(path.read_bytes()[:40_000] for path in texts if path.is_file())[:700_000]
    expected = list(tokenizer.place(document).ids)
    for threads in (1, 2):
        ids, _ = tokenizer.encode_block(Block.of([document]), tokenizer.matcher(), threads)
        assert ids.tolist() == expected
