r"""The split patterns that GGUF files name (``formats.gguf.pre``), each cutting the pieces of the one before it.

Source: ``llm_tokenizer_bpe`` of llama.cpp (src/llama-vocab.cpp as vendored in llama-cpp-python 0.3.36); the tests
hold the core to the ``regex`` module and to llama.cpp.
"""

from __future__ import annotations

from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.splitters import GROUPED, THOUSANDS

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
NEWLINES = r"[^\n]+|[\n]+"


def _cased(letters: str, short: str, digits: str) -> str:
    """Return o200k's expression as llama.cpp runs it; ``letters`` are the characters of words."""
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


SPLITS: dict[str, tuple[str, ...]] = {
    "gpt-2": (GPT2,),
    "llama3": (LLAMA3,),
    "qwen2": (QWEN2,),
    "qwen35": (
        rf"{_SHORT}|{_PREFIX}[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_REST}",
    ),
    "gpt-4o": (_cased(r"\p{L}", f"{_SHORT}?", r"\p{N}{1,3}"),),
    "tekken": (_cased(r"\p{L}", "", r"\p{N}"),),
    "granite-embed-multi": (_cased(r"[\p{L}\p{M}]", f"{_SHORT}?", r"\p{N}{1,3}"),),
    "starcoder": (r"\p{N}", GPT2),
    "falcon": (r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"),
    "deepseek-v3": _deepseek(r"\p{N}{1,3}", newlines=True),
    "spark": (*_deepseek(r"\p{N}{1,3}", newlines=False), r"\p{N}"),
    "deepseek-llm": (r"[\r\n]", _DEEPSEEK_LETTERS, _DEEPSEEK_SYMBOLS, r"\s+\Z", _CJK_AND_MORE, r"\p{N}+"),
    "deepseek-coder": (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _CJK_AND_MORE, r"\p{N}"),
    "bloom": (_NO_PUNCTUATION,),
    "viking": (_NO_PUNCTUATION, r"\p{N}"),
    "bailing": (_BAILING,),
    "seed-coder": (_SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|" + _REST,),
    "ufakzeka": (r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|" + _SYMBOLS,),
    "newlines": (NEWLINES,),
    "laguna": (NEWLINES, QWEN2),
    "exaone-moe": (
        _SHORT + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?"
        r"|\s*[\r\n]|\s+(?!\S)|\s+",
    ),
    "minicpm": (r"\p{N}{1,3}", _SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+|" + _SYMBOLS),
    "jais-2": (
        _SHORT + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
        + "".join(rf"|\s{{{length}}}(?!\S)" for length in ("512", "256", "128", "64", "32", "16", "8", "4", "1,2"))
        + r"|\s",
    ),
    "youtu": (
        r"[\uAC00-\uD7A3\u3131-\u318E]+"
        r"|[\uFF01\u2026\u201C\u201D\u2018\u2019\u2014\uFF1A\uFF1B\uFF0C\u3001-\u303F\uFE30-\uFE4F]+"
        r"|[\u3105-\u312F]+|" + _CJK,
        rf"{_PREFIX}[\p{{L}}\p{{M}}]+{_SHORT}?|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_REST}",
    ),
    "tiny-aya": (
        GROUPED,
        rf"{_PREFIX}[\p{{L}}\p{{M}}]+{_SHORT}?|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_REST}",
    ),
    "afmoe": (GROUPED, _ASIAN, _deepseek("", newlines=True)[2]),
    "kimi": (rf"{_HAN}+|{_PREFIX}(?:(?!{_HAN})\p{{L}})+{_SHORT}?|\p{{N}}{{1,3}}|{_SYMBOLS}",),
    "chameleon": (
        "<sentinel:[0-9]+>", "(?:IMGIMG)(?:[A-I]{1,4})Z", "(?:[\\t\\n]|    |  )", r"\p{N}",
        r"[\p{P}!-/:-@\[-`{-~]", GPT2,
    ),
    "superbpe": (r"\p{N}+", THOUSANDS),
    "default": (r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"),
}  # fmt: skip
"""The expressions by a name that is short for a family of models, each cutting the pieces of the one before it."""
