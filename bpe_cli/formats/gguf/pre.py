r"""The meaning of each name in ``tokenizer.ggml.pre`` of GGUF files: splits of bytes, and BPE over characters.

Source: ``llama_vocab::impl::load`` and ``llm_tokenizer_bpe`` of llama.cpp (src/llama-vocab.cpp), and the
functions of src/unicode.cpp that stand in for expressions, as vendored in llama-cpp-python 0.3.36.

The expressions are what llama.cpp *does*, in the syntax of the ``regex`` module. That is not always what the
models' own tokenizers do: its engine knows categories such as ``\p{L}`` as a whole only, not ``\p{Lu}``. So
``gpt-4o`` and ``tekken`` cut words at marks, and take a letter outside of ASCII for both a capital and a
small one. ``NEAR`` says which of our patterns such a name was meant for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from bpe_cli.errors import FormatError
from bpe_cli.formats.gguf.splits import NEWLINES, SPLITS
from bpe_cli.formats.gguf.tokens import MARK, Vocab
from bpe_cli.stages import (
    ByteFallback,
    CharacterBpe,
    Decoder,
    Digits,
    Fuse,
    Normalizer,
    PreTokenizer,
    Replace,
    ReplaceDecoder,
    Split,
    WhitespaceSplit,
)
from bpe_cli.stages.patterns import PATTERNS, scanner_for
from bpe_cli.stages.spelling import BYTE_TEXTS, CONTROL, UNKNOWN
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Pre:
    """The split that a name stands for.

    Attributes:
        names: The names, the usual one first.
        expressions: Applied in turn, each to the pieces that the one before has left.
        ignore_merges: As in ``MergeBpe``.
        add_bos: Whether texts begin with the token for it, if the file does not say.
    """

    names: tuple[str, ...]
    expressions: tuple[str, ...]
    ignore_merges: bool = False
    add_bos: bool = False

    @property
    def stages(self) -> tuple[Split, ...]:
        """The splits as pre-tokenizers."""
        return tuple(Split(expression) for expression in self.expressions)


TABLE: tuple[Pre, ...] = (
    Pre(
        (
            "gpt-2", "phi-2", "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de", "a.x-4.0", "mellum",
            "modern-bert", "jina-v1-en", "jina-v2-code", "roberta-bpe", "exaone4", "mpt", "olmo", "jais", "trillion",
            "granite-docling",
        ),
        SPLITS["gpt-2"],
    ),
    Pre(
        ("llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"),
        SPLITS["llama3"],
        ignore_merges=True,
        add_bos=True,
    ),
    Pre(("dbrx", "smaug-bpe", "chatglm-bpe"), SPLITS["llama3"]),
    Pre(("glm4", "glm5"), SPLITS["llama3"], ignore_merges=True),
    Pre(
        ("qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "megrez", "stablelm2", "hunyuan", "solar-open", "grok-2"),
        SPLITS["qwen2"],
    ),
    Pre(("qwen35",), SPLITS["qwen35"]),
    Pre(("gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"), SPLITS["gpt-4o"]),
    Pre(("tekken",), SPLITS["tekken"], ignore_merges=True, add_bos=True),
    Pre(("granite-embed-multi-97m",), SPLITS["granite-embed-multi"], ignore_merges=True),
    Pre(
        ("starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"),
        SPLITS["starcoder"],
    ),
    Pre(("falcon",), SPLITS["falcon"]),
    Pre(("deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"), SPLITS["deepseek-v3"]),
    Pre(("spark2_5",), SPLITS["spark"]),
    Pre(("deepseek-llm",), SPLITS["deepseek-llm"]),
    Pre(("deepseek-coder",), SPLITS["deepseek-coder"]),
    Pre(("bloom", "poro-chat", "gpt3-finnish"), SPLITS["bloom"]),
    Pre(("viking",), SPLITS["viking"]),
    Pre(("bailingmoe", "bailingmoe2", "llada-moe"), SPLITS["bailing"]),
    Pre(("seed-coder",), SPLITS["seed-coder"]),
    Pre(("ufakzeka",), SPLITS["ufakzeka"]),
    Pre(("laguna",), SPLITS["laguna"]),
    Pre(("exaone-moe",), SPLITS["exaone-moe"]),
    Pre(("minicpm5",), SPLITS["minicpm"], ignore_merges=True),
    Pre(("jais-2",), SPLITS["jais-2"]),
    Pre(("youtu",), SPLITS["youtu"], ignore_merges=True),
    Pre(("tiny_aya", "cohere2moe"), SPLITS["tiny-aya"]),
    Pre(("afmoe",), SPLITS["afmoe"]),
    Pre(("kimi-k2",), SPLITS["kimi"]),
    Pre(("chameleon",), SPLITS["chameleon"], add_bos=True),
    Pre(("superbpe",), SPLITS["superbpe"]),
    Pre(("default",), SPLITS["default"]),
)  # fmt: skip
"""All splits; of names that share one and differ in nothing else, the first is written."""

DEFAULT = TABLE[-1]
"""What llama.cpp takes where a file names no split."""

BY_NAME: dict[str, Pre] = {name: pre for pre in TABLE for name in pre.names}

NEAR: dict[str, str] = {
    PATTERNS["o200k"].regex: "gpt-4o",
    PATTERNS["tekken"].regex: "tekken",
    PATTERNS["cl100k"].regex: "dbrx",
    PATTERNS["nanochat"].regex: "dbrx",
}
"""Our patterns -> the name that comes near: what is written where the difference may be lost."""


def name_for(stages: tuple[PreTokenizer, ...], *, ignore_merges: bool | None, kept: str | None = None) -> str | None:
    """Return the name of a split, preferably the one that a file had; None if there is none.

    ``ignore_merges`` is as in ``MergeBpe``, and None where it does not matter.

    >>> name_for((Split(PATTERNS["llama3"].regex),), ignore_merges=True)
    'llama-bpe'
    >>> name_for((Digits(True), Split(PATTERNS["gpt2"].regex)), ignore_merges=False)
    'starcoder'
    """
    stages_left = [_same(stage) for stage in stages]
    fitting = [
        pre
        for pre in TABLE
        if ignore_merges in (None, pre.ignore_merges) and [_same(stage) for stage in pre.stages] == stages_left
    ]
    names = [name for pre in fitting for name in pre.names]
    return kept if kept in names else names[0] if names else None


def _same(stage: PreTokenizer) -> object:
    """Return a key that is equal for stages that cut alike."""
    if stage == Digits(individual_digits=True):
        stage = Split(r"\p{N}")
    if isinstance(stage, Split) and stage == Split(stage.pattern):
        return scanner_for(stage.pattern) or stage
    return stage


# --------------------------------------------------------------------------------------------------
# Make BPE over characters of GGUF metadata: the models and splits of llama.cpp whose tokens are not spelt bytes.
#
# Source: ``llm_tokenizer_bpe_session`` and ``llm_tokenizer_whitespace_session`` with ``byte_encode`` off
# (src/llama-vocab.cpp as vendored in llama-cpp-python 0.3.36).


ON_CHARACTERS = ("gemma4", "granite-embed-multi-311m", "sarvam-moe", "whitespace")
"""The names that ``tokenizer.ggml.pre`` has for them."""

_TAKES_NEWLINES = ("gemma4", "granite-embed-multi-311m")
"""Those that take a run of line feeds as a whole, and always begin with a token."""

_NEWLINE = "\n"


def tokenizer_on_characters(vocab: Vocab, pre: str, pairs: Iterable[tuple[str, str]]) -> Tokenizer:
    """Make BPE over characters from the file's split and its ordered merges."""
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
                f"{vocab.source} has the split whitespace with the model {quote(vocab.model)}, and not with the model "
                "whitespace: at two blanks in a row, llama.cpp then aborts the whole program"
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
    """Make the model: text never becomes a special token; a character without a token becomes its bytes, or nothing."""
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
    """Return the stages that leave out characters without a token, so that their neighbours do not merge."""
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
    """Match runs of line feeds that are tokens as a whole, unless merging makes them anyway."""
    merging = Tokenizer(model)
    runs = {number: text for number, text in model.vocabulary.items() if not text.strip(_NEWLINE.encode())}
    if all(merging.encode(text) == [number] for number, text in runs.items()):
        return model
    return replace(model, whole_runs_of=_NEWLINE)
