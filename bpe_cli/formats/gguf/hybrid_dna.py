"""BPE beside words of DNA: what a GGUF file of the model ``hybriddna`` (Carbon) adds to byte-level BPE.

Source: ``llm_tokenizer_hybriddna_session`` (src/llama-vocab.cpp as vendored in llama-cpp-python 0.3.36).
"""

from __future__ import annotations

from dataclasses import replace

from bpe_cli.errors import FormatError
from bpe_cli.formats.gguf.tokens import Vocab
from bpe_cli.stages import Codebook, MergeBpe
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer

NAME = "hybriddna"

DNA = Codebook(open="<dna>", close="</dna>", unknown="<oov>", width=6, fill="A", mark="\ue000")
"""The one codebook that llama.cpp has."""


def with_words(tokenizer: Tokenizer, vocab: Vocab) -> Tokenizer:
    """Return a tokenizer of byte-level BPE that finds words of DNA too.

    Raises:
        FormatError: A tag is not there, or text would have to become a special token.
    """
    lacking = [text for text in (DNA.open, DNA.close, DNA.unknown) if text.encode() not in vocab.texts]
    if lacking:
        raise FormatError(
            f"{vocab.source} has no token {quote(lacking[0])}, without which llama.cpp finds no words of DNA",
            hint='what it does then is that of the model "gpt2" (tokenizer.ggml.model)',
        )
    model = tokenizer.model
    if not isinstance(model, MergeBpe):
        split = vocab.metadata.text("tokenizer.ggml.pre") or ""
        raise FormatError(f"{vocab.source}: the model {NAME} with the split {quote(split)} cannot be read")
    special = {token.content.decode(): token for token in tokenizer.special_tokens}
    if DNA.open not in special:  # otherwise the text is cut at it, and no word is looked for
        marked = [text for text in special if text.endswith(DNA.mark) and len(text) > 1]
        control = [text for text in (DNA.close, DNA.unknown) if text in special and special[text].special]
        for text in control + marked:
            raise FormatError(f"{vocab.source}: text between tags of DNA would become {quote(text)}, a special token")
    return replace(tokenizer, model=replace(model, codebook=DNA))
