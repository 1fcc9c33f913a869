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

from bpe_cli.patterns import PATTERNS, scanner_for
from bpe_cli.stages import Digits, PreTokenizer, Split

GPT2 = PATTERNS["gpt2"].regex
LLAMA3 = PATTERNS["llama3"].regex
QWEN2 = PATTERNS["qwen2"].regex

_SHORT = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_PREFIX = r"[^\r\n\p{L}\p{N}]?"
_REST = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_SYMBOLS = r" ?[^\s\p{L}\p{N}]+[\r\n]*|" + _REST
_CJK = r"[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+"
_ASCII_PUNCTUATION = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"""
_HAN = (
    r"[\u4E00-\u9FFF\u3400-\u4DBF\U00020000-\U0002A6DF\U0002A700-\U0002B73F\U0002B740-\U0002B81F"
    r"\U0002B820-\U0002CEAF\U0002CEB0-\U0002EBEF\uF900-\uFAFF\U0002F800-\U0002FA1F]"
)
_DEEPSEEK_LETTERS = (
    r"\s?[A-Za-z\u00B5\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u01BA\u01BC-\u01BF\u01C4-\u0293\u0295-\u02AF\u0370-\u0373"
    r"\u0376\u0377\u037B-\u037D\u037F\u0386\u0388-\u038A\u038C\u038E-\u03A1\u03A3-\u03F5\u03F7-\u0481\u048A-\u052F"
    r"\u0531-\u0556\u10A0-\u10C5\u13A0-\u13F5\u13F8-\u13FD\u1C90-\u1CBA\u1CBD-\u1CBF\u1D00-\u1D2B\u1D6B-\u1D77"
    r"\u1D79-\u1D9A\u1E00-\u1F15\u1F18-\u1F1D\u1F20-\u1F45\u1F48-\u1F4D\u1F50-\u1F57\u1F59\u1F5B\u1F5D\u1F5F-"
    r"\u1F7D\u1F80-\u1FB4\u1FB6-\u1FBC\u1FBE\u1FC2-\u1FC4\u1FC6-\u1FCC\u1FD0-\u1FD3\u1FD6-\u1FDB\u1FE0-\u1FEC"
    r"\u1FF2-\u1FF4\u1FF6-\u1FFC\u2102\u2107\u210A-\u2113\u2115\u2119-\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-"
    r"\u2134\u2139\u213C-\u213F\u2145-\u2149\u214E\u2183\u2184\u2C00-\u2C7B\u2C7E-\u2CE4\u2CEB-\u2CEE\u2CF2\u2CF3"
    r"\uA640-\uA66D\uA680-\uA69B\uA722-\uA76F\uA771-\uA787\uA78B-\uA78E\uAB70-\uABBF\uFB00-\uFB06\uFB13-\uFB17"
    r"\uFF21-\uFF3A\uFF41-\uFF5A\U00010400-\U0001044F\U000104B0-\U000104D3\U000104D8-\U000104FB\U00010C80-"
    r"\U00010CB2\U00010CC0-\U00010CF2\U000118A0-\U000118DF\U0001E900-\U0001E943]+"
)
_DEEPSEEK_SYMBOLS = r"\s?[!-/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3000-\u3002]+"
_CJK_AND_MORE = r"[\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+"
_ASIAN = (
    r"[\u4E00-\u9FFF\u3400-\u4DBF\u8C48-\uFAFF\u3040-\u309F\u30A0-\u30FF\uFF65-\uFF9F\u2F0"
    r"0-\u2FDF\u0E40-\u0E7F\u0E80-\u0EFF\u1780-\u17FF\u1000-\u109F\uAA60-\uAA7F\uA9E0-\uA9FF\uAC00-\uD7AF\u1100-\u11FF]+"
)
_NO_PUNCTUATION = r" ?[^(\s|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)]+"
_BAILING = (
    r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)
# Groups of three digits from the right; text before a number goes with its first group, as there.
_GROUPED = r"\P{N}*+(?:(?<!\p{N})\p{N}{1,2}(?=(?:\p{N}{3})*+(?!\p{N}))|\p{N}{3})|\P{N}++"


def _cased(letters: str, short: str, digits: str) -> str:
    """Write how llama.cpp does o200k's expression; ``letters`` are what may be in words."""
    upper, lower = (f"(?:(?![{other}]){letters})" for other in ("a-z", "A-Z"))
    return (
        f"{_PREFIX}{upper}*{lower}+{short}|{_PREFIX}{upper}+{lower}*{short}|{digits}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + _REST
    )


def _deepseek(digits: str, *, newlines: bool) -> tuple[str, ...]:
    symbols = r"[\r\n]*|\s*[\r\n]+" if newlines else r"|[\r\n]"
    words = (
        _ASCII_PUNCTUATION + r"[A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+" + symbols
        + r"|\s+(?!\S)|\s+"
    )  # fmt: skip
    return digits, _CJK, words


@dataclass(frozen=True, slots=True)
class Pre:
    """Say what a name stands for.

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
        (GPT2,),
    ),
    Pre(
        ("llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"),
        (LLAMA3,),
        ignore_merges=True,
        add_bos=True,
    ),
    Pre(("dbrx", "smaug-bpe", "chatglm-bpe"), (LLAMA3,)),
    Pre(("glm4", "glm5"), (LLAMA3,), ignore_merges=True),
    Pre(
        (
            "qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "megrez", "stablelm2", "hunyuan", "solar-open", "grok-2",
        ),
        (QWEN2,),
    ),
    Pre(
        ("qwen35",),
        (rf"{_SHORT}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_REST}",),
    ),
    Pre(
        ("gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"),
        (_cased(r"\p{L}", f"{_SHORT}?", r"\p{N}{1,3}"),),
    ),
    Pre(("tekken",), (_cased(r"\p{L}", "", r"\p{N}"),), ignore_merges=True, add_bos=True),
    Pre(
        ("granite-embed-multi-97m",),
        (_cased(r"[\p{L}\p{M}]", f"{_SHORT}?", r"\p{N}{1,3}"),),
        ignore_merges=True,
    ),
    Pre(
        ("starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"),
        (r"\p{N}", GPT2),
    ),
    Pre(("falcon",), (r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]")),
    Pre(("deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"), _deepseek(r"\p{N}{1,3}", newlines=True)),
    Pre(("spark2_5",), (*_deepseek(r"\p{N}{1,3}", newlines=False), r"\p{N}")),
    Pre(
        ("deepseek-llm",),
        (r"[\r\n]", _DEEPSEEK_LETTERS, _DEEPSEEK_SYMBOLS, r"\s+\Z", _CJK_AND_MORE, r"\p{N}+"),
    ),
    Pre(("deepseek-coder",), (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _CJK_AND_MORE, r"\p{N}")),
    Pre(("bloom", "poro-chat", "gpt3-finnish"), (_NO_PUNCTUATION,)),
    Pre(("viking",), (_NO_PUNCTUATION, r"\p{N}")),
    Pre(("bailingmoe", "bailingmoe2", "llada-moe"), (_BAILING,)),
    Pre(("seed-coder",), (
        _SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|" + _REST,
    )),
    Pre(("ufakzeka",), (r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|" + _SYMBOLS,)),
    Pre(("laguna",), (r"[^\n]+|[\n]+", QWEN2)),
    Pre(("exaone-moe",), (
        _SHORT + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?"
        r"|\s*[\r\n]|\s+(?!\S)|\s+",
    )),
    Pre(("minicpm5",), (
        r"\p{N}{1,3}", _SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+|" + _SYMBOLS,
    ), ignore_merges=True),
    Pre(("jais-2",), (
        _SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
        + "".join(rf"|\s{{{length}}}(?!\S)" for length in ("512", "256", "128", "64", "32", "16", "8", "4", "1,2"))
        + r"|\s",
    )),
    Pre(("youtu",), (
        r"[\uAC00-\uD7A3\u3131-\u318E]+|[\uFF01\u2026\u201C\u201D\u2018\u2019\u2014\uFF1A\uFF1B\uFF0C\u3001-\u303F\uFE30-\uFE4F]+"
        r"|[\u3105-\u312F]+|" + _CJK,
        rf"{_PREFIX}[\p{{L}}\p{{M}}]+{_SHORT}?|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_REST}",
    ), ignore_merges=True),
    Pre(("tiny_aya", "cohere2moe"), (
        _GROUPED,
        rf"{_PREFIX}[\p{{L}}\p{{M}}]+{_SHORT}?|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_REST}",
    )),
    Pre(("afmoe",), (
        _GROUPED,
        _ASIAN,
        _deepseek("", newlines=True)[2],
    )),
    Pre(("kimi-k2",), (
        rf"{_HAN}+|{_PREFIX}(?:(?!{_HAN})\p{{L}})+{_SHORT}?|\p{{N}}{{1,3}}|{_SYMBOLS}",
    )),
    Pre(("chameleon",), (
        "<sentinel:[0-9]+>", "(?:IMGIMG)(?:[A-I]{1,4})Z", "(?:[\\t\\n]|    |  )", r"\p{N}",
        r"[\p{P}!-/:-@\[-`{-~]", GPT2,
    ), add_bos=True),
    Pre(("default",), (r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]")),
)  # fmt: skip
"""All splits; of names that share one and differ in nothing else, the first is written."""

DEFAULT = TABLE[-1]
"""What llama.cpp takes where a file names no split."""

BY_NAME: dict[str, Pre] = {name: pre for pre in TABLE for name in pre.names}

NOT_READ: dict[str, str] = {
    "gemma4": "is BPE over characters",
    "granite-embed-multi-311m": "is BPE over characters",
    "sarvam-moe": "is BPE over characters",
    "superbpe": "cuts at places and not at matches",
    "whitespace": "is a list of words",
}
"""Names that llama.cpp knows and that are not read, with the reason."""

NEAR: dict[str, str] = {
    PATTERNS["o200k"].regex: "gpt-4o",
    PATTERNS["tekken"].regex: "tekken",
    PATTERNS["cl100k"].regex: "dbrx",
    PATTERNS["nanochat"].regex: "dbrx",
}
"""Our patterns -> the name that comes near: what is written where the difference may be lost."""


def name_for(stages: tuple[PreTokenizer, ...], *, ignore_merges: bool | None, kept: str | None = None) -> str | None:
    """Give the name of a split, or None.

    Args:
        stages: The pre-tokenizers.
        ignore_merges: As in ``MergeBpe``; None where it does not matter.
        kept: The name that a file had, which is given if it fits.

    >>> name_for((Split(LLAMA3),), ignore_merges=True), name_for((Digits(True), Split(GPT2)), ignore_merges=False)
    ('llama-bpe', 'starcoder')
    """
    wanted = [_same(stage) for stage in stages]
    fitting = [
        pre
        for pre in TABLE
        if ignore_merges in (None, pre.ignore_merges) and [_same(stage) for stage in pre.stages] == wanted
    ]
    names = [name for pre in fitting for name in pre.names]
    return kept if kept in names else names[0] if names else None


def _same(stage: PreTokenizer) -> object:
    """Give what is equal for stages that cut alike."""
    if stage == Digits(individual_digits=True):
        stage = Split(r"\p{N}")
    if isinstance(stage, Split) and stage == Split(stage.pattern):
        return scanner_for(stage.pattern) or stage
    return stage
