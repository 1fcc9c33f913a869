"""Named split patterns, each with its source, and the scanners of the core that run them.

A pattern is an expression in the syntax of the ``regex`` module. For the ones listed here the core
has a hand-written scanner that gives the same pieces on every string. Of all others it runs most by automata or by
backtracking (``core/src/split/pattern``); the ``regex`` module itself runs the rest: right, and many times slower.
"""

from __future__ import annotations

from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import Literal


@dataclass(frozen=True, slots=True)
class Scanner:
    """The configuration of the core's scanner for a pattern of the GPT families.

    Attributes:
        words: ``spaced``: `` ?\\p{L}+``; ``prefixed``: ``[^\\r\\n\\p{L}\\p{N}]?\\p{L}+``; ``cased``: the two
            alternatives of o200k, which cut before a capital that follows a small letter.
        contractions: ``'s 't 're 've 'm 'll 'd`` as pieces of their own, ``exact`` (small letters) or
            ``folded`` (``(?i:...)``, where U+017F counts as an s), ``suffix`` (folded, and part of a cased
            word), or ``none``.
        digits: Longest run of ``\\p{N}`` in a piece; 0 for `` ?\\p{N}+``.
        tail: Characters that a run of symbols takes along: ``""``, ``"\\r\\n"`` or ``"\\r\\n/"``.
        newlines: Whether ``\\s*[\\r\\n]+`` stands among the alternatives.
        final_space: Whether ``\\s++$`` stands before it.
    """

    words: Literal["spaced", "prefixed", "cased"]
    contractions: Literal["none", "exact", "folded", "suffix"]
    digits: Literal[0, 1, 2, 3]
    tail: Literal["", "\r\n", "\r\n/"]
    newlines: bool
    final_space: bool = False

    def to_json(self) -> str:
        """Serialise for the core."""
        return "{" + ", ".join(f'"{name}": {_json(getattr(self, name))}' for name in self.__match_args__) + "}"


def _json(value: str | int) -> str:
    """Return a scanner's fields as JSON, without importing a JSON library."""
    if isinstance(value, str):
        return '"' + value.replace("\r", "\\r").replace("\n", "\\n") + '"'
    return str(value).lower()


@dataclass(frozen=True, slots=True)
class Pattern:
    """A named pattern: the expression as its source writes it, and other spellings of the same pieces."""

    name: str
    regex: str
    source: str
    scanner: Scanner
    spellings: tuple[str, ...] = ()


_SUFFIX = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


def _cased(suffix: str, digits: str) -> str:
    """Write the o200k family's expression."""
    prefix = r"[^\r\n\p{L}\p{N}]?"
    return (
        f"{prefix}{_UPPER}*{_LOWER}+{suffix}|{prefix}{_UPPER}+{_LOWER}*{suffix}|{digits}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )


def _prefixed(digits: str) -> str:
    """Write the older spelling of the cl100k family's expression."""
    return _SUFFIX + r"|[^\r\n\p{L}\p{N}]?\p{L}+|" + digits + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def _possessive(digits: str) -> str:
    """Write minbpe's spelling of the cl100k family's expression."""
    return (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|" + digits + r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]"
        r"|\s+(?!\S)|\s+"
    )


PATTERNS: dict[str, Pattern] = {
    pattern.name: pattern
    for pattern in (
        Pattern(
            "gpt2",
            r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
            "openai/gpt-2 src/encoder.py; Hugging Face ByteLevel(use_regex)",
            Scanner("spaced", "exact", 0, "", newlines=False),
            (
                r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
                r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
            ),
        ),
        Pattern(
            "cl100k",
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$"
            r"|\s*[\r\n]|\s+(?!\S)|\s",
            "openai/tiktoken tiktoken_ext/openai_public.py, 0.14",
            Scanner("prefixed", "folded", 3, "\r\n", newlines=True, final_space=True),
        ),
        Pattern(
            "llama3",
            _prefixed(r"\p{N}{1,3}"),
            "meta-llama/llama-models models/llama3/tokenizer.py; cl100k as tiktoken wrote it before 0.9",
            Scanner("prefixed", "folded", 3, "\r\n", newlines=True),
            (_possessive(r"\p{N}{1,3}"),),
        ),
        Pattern(
            "nanochat",
            _possessive(r"\p{N}{1,2}"),
            "karpathy/nanochat nanochat/tokenizer.py",
            Scanner("prefixed", "folded", 2, "\r\n", newlines=True),
            (_prefixed(r"\p{N}{1,2}"),),
        ),
        Pattern(
            "qwen2",
            _prefixed(r"\p{N}"),
            "Qwen tokenizers, 1 to 3",
            Scanner("prefixed", "folded", 1, "\r\n", newlines=True),
        ),
        Pattern(
            "o200k",
            _cased(f"{_SUFFIX}?", r"\p{N}{1,3}"),
            "openai/tiktoken tiktoken_ext/openai_public.py, 0.14; Llama 4",
            Scanner("cased", "suffix", 3, "\r\n/", newlines=True),
        ),
        Pattern(
            "tekken",
            _cased("", r"\p{N}"),
            "mistral-common tekken.json config.pattern",
            Scanner("cased", "none", 1, "\r\n/", newlines=True),
        ),
    )
}

ALIASES = {"cl100k-old": "llama3", "gpt4": "llama3", "minbpe": "llama3", "llama4": "o200k"}
"""Other names in use for patterns that give the same pieces."""

_SCANNERS: dict[str, Scanner] = {
    regex: pattern.scanner for pattern in PATTERNS.values() for regex in (pattern.regex, *pattern.spellings)
}


RUNS = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
"""What cuts text into runs of words for superwords (SuperBPE, arXiv:2503.13423): at numbers, at runs of marks, and
before the last space."""

RUNS_WITH_MARKS = r"\p{N}{1,3}| ?[^\s\p{L}\p{M}\p{N}]{2,}[\r\n/]*| +(?!\S)"
"""The same, but that combining marks go with their letters: two of them do not cut a word."""

RUN_WORDS = 4
"""The maximum number of words in a superword, unless another is chosen."""

NEVER_IN_RUNS = (": ",)
"""What no superword contains, unless something else is chosen: the end of a prompt."""


def covering(regex: str) -> str:
    r"""Return an expression that also matches what lies between the matches of another: the pieces are the same.

    tiktoken leaves out what its expression does not match.

    >>> import re
    >>> re.findall(r"\d+", "ab12c"), re.findall(covering(r"\d+"), "ab12c")
    (['12'], ['ab', '12', 'c'])
    """
    return rf"{regex}|(?:(?!{regex})[\s\S])+"


SAMPLE = 1 << 16
"""Bytes at the beginning of a text by which a pattern is judged."""


def resolve(name_or_regex: str) -> str:
    """Return the expression for a pattern's name; anything else is taken for an expression itself.

    ``none`` is the name of the empty expression, which stands for no splitting at all.

    >>> resolve("gpt2") == PATTERNS["gpt2"].regex
    True
    """
    if name_or_regex == "none":
        return ""
    pattern = PATTERNS.get(ALIASES.get(name_or_regex, name_or_regex))
    return pattern.regex if pattern else name_or_regex


def scanner_for(regex: str) -> Scanner | None:
    """Return the scanner whose pieces equal those of an expression, or None if the core has none."""
    return _SCANNERS.get(regex)


def name_of(regex: str) -> str | None:
    """Return the name under which users know an expression, or None."""
    scanner = scanner_for(regex)
    return next((p.name for p in PATTERNS.values() if p.scanner == scanner), None)


def resolve_pattern(name_or_regex: str) -> str:
    """Return the expression for a pattern's name or for an expression.

    Raises:
        UsageError: if the text looks like a name, and no pattern has this name.
    """
    import re

    known = name_or_regex in PATTERNS or name_or_regex in ALIASES or name_or_regex == "none"
    if not known and re.fullmatch(r"[\w-]*", name_or_regex):
        raise UsageError(
            f"unknown pattern {name_or_regex!r}",
            hint=f"patterns are {', '.join(PATTERNS)}, none, or an expression in the syntax of the `regex` module",
        )
    return resolve(name_or_regex)
