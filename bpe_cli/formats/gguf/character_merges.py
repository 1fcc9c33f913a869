"""Make BPE over characters of GGUF metadata: the models and splits of llama.cpp whose tokens are not spelt bytes.

Source: ``llm_tokenizer_bpe_session`` and ``llm_tokenizer_whitespace_session`` with ``byte_encode`` off
(src/llama-vocab.cpp as vendored in llama-cpp-python 0.3.36).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bpe_cli.errors import FormatError
from bpe_cli.formats.gguf.tokens import MARK, Vocab
from bpe_cli.stages import (
    ByteFallback,
    CharacterBpe,
    Decoder,
    Fuse,
    Normalizer,
    PreTokenizer,
    Replace,
    ReplaceDecoder,
    Split,
    WhitespaceSplit,
)
from bpe_cli.stages.linear_patterns import NEWLINES
from bpe_cli.stages.spelling import BYTE_TEXTS, CONTROL, UNKNOWN
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer

NAMES = ("gemma4", "granite-embed-multi-311m", "sarvam-moe", "whitespace")
"""The names that ``tokenizer.ggml.pre`` has for them."""

_TAKES_NEWLINES = ("gemma4", "granite-embed-multi-311m")
"""Those that take a run of line feeds as a whole, and always begin with a token."""

_NEWLINE = "\n"


def make(vocab: Vocab, pre: str, pairs: Iterable[tuple[str, str]]) -> Tokenizer:
    """Make the tokenizer.

    Args:
        vocab: The tokens.
        pre: What the file says of the split.
        pairs: The merges, in order.

    Raises:
        FormatError: if the file asks for what cannot be done as llama.cpp does it.
    """
    begins = pre in _TAKES_NEWLINES
    if begins and "bos" not in vocab.roles:
        raise FormatError(f"{vocab.source} names no token that texts begin with (tokenizer.ggml.bos_token_id)")
    normalizer, cuts, decoder = _stages(vocab, pre)
    model = _model(vocab, pairs)
    if not model.byte_fallback:
        cuts = (*cuts, _without_unknown(model.vocabulary))
    return Tokenizer(
        _with_whole_newlines(model) if begins else model,
        cuts,
        vocab.special_tokens,
        post_processor=vocab.post_processor(add_bos=begins, add_eos=False, always=begins),
        normalizer=normalizer,
        decoder=decoder,
        usage=vocab.usage,
    )


def _stages(vocab: Vocab, pre: str) -> tuple[tuple[Normalizer, ...], tuple[PreTokenizer, ...], tuple[Decoder, ...]]:
    if pre == "whitespace":
        if vocab.model != pre:
            raise FormatError(
                f"{vocab.source} cuts text by the split whitespace with another model than that of the same name "
                f"({quote(vocab.model)}), and llama.cpp stops, with the whole program, at two blanks then"
            )
        if vocab.metadata.boolean("tokenizer.ggml.normalizer.lowercase", False):
            raise FormatError(f"{vocab.source} asks for small letters, of which llama.cpp has a table of its own")
        return (), (WhitespaceSplit(),), (ByteFallback(), Fuse())
    mark = MARK.decode()
    return (
        (Replace(" ", mark, literal=True),),
        (Split(NEWLINES),),
        (ReplaceDecoder(mark, " "), ByteFallback(), Fuse()),
    )


def _model(vocab: Vocab, pairs: Iterable[tuple[str, str]]) -> CharacterBpe:
    """Make the model: text becomes no token that is special, and a character without a token its bytes, or nothing."""
    hidden = {number for number, kind in enumerate(vocab.types) if kind in (CONTROL, UNKNOWN)}
    ids = {text.decode(): number for number, text in enumerate(vocab.texts) if text and number not in hidden}
    there = sum(text.decode() in ids for text in BYTE_TEXTS)
    if there not in (0, len(BYTE_TEXTS)):
        raise FormatError(f"{vocab.source} has tokens for {there} of the 256 bytes, and it needs all of them or none")
    triples = []
    for number, (left, right) in enumerate(pairs, start=1):
        lacking = [part for part in (left, right, left + right) if part not in ids]
        if not lacking:
            triples.append((ids[left], ids[right], ids[left + right]))
        elif lacking == [left + right] or any(len(part) == 1 for part in lacking):
            # A part of several characters that is not a token is never met; a character is, and so is a product.
            raise FormatError(
                f"{vocab.source}: merge {number} ({quote(left)}, {quote(right)}): {quote(lacking[0])} is not a token, "
                "and llama.cpp would take it apart again"
            )
    return CharacterBpe(
        Vocabulary.from_ids({text.encode(): number for text, number in ids.items()}),
        Merges.from_pairs(triples),
        byte_fallback=bool(there),
    )


def _without_unknown(vocabulary: Vocabulary) -> Split:
    """Return what leaves out the characters that have no token, so that what is beside them does not merge."""
    codes = sorted({ord(text) for _, token in vocabulary.items() if len(text := token.decode()) == 1})
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    known = "".join(f"\\U{first:08X}-\\U{last:08X}" for first, last in ranges)
    return Split(f"[^{known}]+" if known else r"[\s\S]+", "Removed")


def _with_whole_newlines(model: CharacterBpe) -> CharacterBpe:
    """Take runs of line feeds that are tokens as a whole, unless merging gives them anyway."""
    merging = Tokenizer(model)
    runs = {number: text for number, text in model.vocabulary.items() if not text.strip(_NEWLINE.encode())}
    if all(merging.encode(text) == [number] for number, text in runs.items()):
        return model
    return replace(model, whole_runs_of=_NEWLINE)
