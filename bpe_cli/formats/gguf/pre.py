r"""Name the splits that ``tokenizer.ggml.pre`` stands for in GGUF files.

Source: ``llama_vocab::impl::load`` and ``llm_tokenizer_bpe`` of llama.cpp (src/llama-vocab.cpp), and the
functions of src/unicode.cpp that stand in for expressions, as vendored in llama-cpp-python 0.3.36.

The expressions are what llama.cpp *does*, in the syntax of the ``regex`` module. That is not always what the
models' own tokenizers do: its engine knows categories such as ``\p{L}`` as a whole only, not ``\p{Lu}``. So
``gpt-4o`` and ``tekken`` cut words at marks, and take a letter outside of ASCII for both a capital and a
small one. ``NEAR`` says which of our patterns such a name was meant for.
"""

from __future__ import annotations

from dataclasses import dataclass

from bpe_cli.stages import Digits, PreTokenizer, Split
from bpe_cli.stages.linear_patterns import SPLITS
from bpe_cli.stages.patterns import PATTERNS, scanner_for


@dataclass(frozen=True, slots=True)
class Pre:
    """Describe what a name stands for.

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
    """Return the name of a split, or None.

    Args:
        stages: The pre-tokenizers.
        ignore_merges: As in ``MergeBpe``; None where it does not matter.
        kept: The name that a file had, which is given if it fits.

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
    """Return what is equal for stages that cut alike."""
    if stage == Digits(individual_digits=True):
        stage = Split(r"\p{N}")
    if isinstance(stage, Split) and stage == Split(stage.pattern):
        return scanner_for(stage.pattern) or stage
    return stage
