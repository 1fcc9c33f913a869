r"""Expressions as Hugging Face's library reads them: it runs Oniguruma, in Ruby's syntax.

What the two engines read alike stays as it is. ``\w`` outside of sets has six characters more there, and is spelt out.
Hyphens in a row, which tiktoken would take for a difference of sets, are escaped.
The possessive count of ``cl100k`` is written as a plain one. All else that they read differently is refused.
"""

from __future__ import annotations

import re
from functools import cache

from bpe_cli.stages.patterns import PATTERNS, scanner_for

# In Ruby's syntax `{1,3}+` repeats instead of being possessive. As the last thing of an alternative, a possessive count
# and a plain one match alike.
_SPELLINGS = {PATTERNS["cl100k"].regex: PATTERNS["cl100k"].regex.replace(r"\p{N}{1,3}+", r"\p{N}{1,3}")}
_UNSPELLINGS = {spelling: pattern for pattern, spelling in _SPELLINGS.items()}

_MORE = "\u00b2\u00b3\u00b9\u00bc\u00bd\u00be"
r"""Numbers of Latin-1 that ``\w`` has there, but not in a set."""

_HERE = {r"\w": rf"[\w{_MORE}]", r"\W": rf"[^\w{_MORE}]"}
_THERE = {r"\w": r"[\w]", r"\W": r"[^\w]"} | {here: there for there, here in _HERE.items()}

_RUBY = "in Hugging Face's engine"
_DIFFERENT = {
    "}+": f"is possessive in `regex` and a repetition {_RUBY}; write (?>...) around it instead",
    "}?": f"is reluctant in `regex` and optional {_RUBY}",
    "{,}": f"is any number in `regex` and these three characters {_RUBY}",
    "^": f"is the start of the text in `regex` and of every line {_RUBY}",
    "$": f"is the end of the text in `regex` and of every line {_RUBY}",
    "(?m": f"is about anchors in `regex` and about the dot {_RUBY}",
    "behind": f"is about what is behind it in `regex`, and about all alternatives {_RUBY}; write (?i:...) instead",
    "\\Z": f"is the end of the text in `regex`, and also a place before a last line feed {_RUBY}",
    "\\h": f"is a blank in `regex` and a hexadecimal digit {_RUBY}",
    "\\p": f"is a property in `regex`, and the letter p {_RUBY}; write \\p{{...}}",
    "\\P": f"is a property in `regex`, and the letter P {_RUBY}; write \\P{{...}}",
    "one folded": f"is a character of its own under (?i) {_RUBY}, and not in `regex`",
    "several folded": f"is several characters under (?i) {_RUBY}, and not in `regex`",
    "case folded": f"is any case under (?i) in `regex`, and one case {_RUBY}",
    "\\p{Graph}": f"is not the same set in `regex` and {_RUBY}",
}
_IN_CLASS = {
    "&&": f"is two characters in `regex` and an intersection {_RUBY}",
    "~~": f"is a difference in `regex` and two characters {_RUBY}",
    "[": f"is a character in `regex` and begins a class {_RUBY}",
    **{name: _DIFFERENT[name] for name in ("\\h", "\\p", "\\P")},
}
_PARTS = re.compile(
    rf"\[\^?\\w{_MORE}\]|"
    r"\\[pPx]\{[^}]*\}|\\.|\(\?[a-zA-Z]*(?:-[a-zA-Z]+)?[:)]|\(\?[a-z]*m|\{,\}|\{\d+\}\?|\}\+|&&|~~|\[:\^?[a-z]+:\]|.",
    re.DOTALL,
)
_CLASSES = re.compile(r"\\.|\[\^?(?:\[:\^?[a-z]+:\]|\\.|[^\]\\])*\]", re.DOTALL)
_MEMBERS = re.compile(r"(\\.|[^\\])-(\\.|[^\\\]])|\\.|-", re.DOTALL)
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_ODD_SETS = re.compile(r"\\[pP]\{\^?(?:graph|print)\}", re.IGNORECASE)
_CASES = re.compile(r"\\[pP]\{\^?(?:l[ult]|upper|lower|(?:upper|lower|title)case(?:_?letter)?)\}", re.IGNORECASE)


def as_read(written: str) -> str:
    r"""Return the expression that says here what a file says.

    >>> as_read(r"\p{L}+|\w"), as_read(r"[\w-]")
    ('\\p{L}+|[\\w²³¹¼½¾]', '[\\w-]')

    Raises:
        ValueError: if there is none; with what is read differently.
    """
    return _UNSPELLINGS.get(written) or _CLASSES.sub(_without_differences, _replaced(written, _HERE))


def as_written(regex: str) -> str:
    r"""Return the expression that says there what one of ours says.

    >>> as_written(as_read(r"\w+")), as_written(r"\w+")
    ('\\w+', '[\\w]+')

    Raises:
        ValueError: if there is none; with what is read differently.
    """
    return _SPELLINGS.get(regex) or _replaced(regex, _THERE)


def _replaced(regex: str, words: dict[str, str]) -> str:
    """Exchange parts outside of sets, if nothing is read differently."""
    if scanner_for(regex) is not None and regex not in _SPELLINGS:
        return regex  # known patterns have been compared
    parts: list[str] = []
    in_class, folds = False, [False]
    run = ""  # literals that stand side by side, where case does not count
    for found in _PARTS.finditer(regex):
        part = found[0]
        problem = _problem(part, found.start(), in_class=in_class, folds=folds[-1])
        parts.append(part if in_class else words.get(part, part))
        if in_class:
            in_class = part != "]"
        elif part == "[":
            in_class = True
        elif flags := _FLAGS.fullmatch(part):
            on, off, end = flags.groups(default="")
            folding = (folds[-1] or "i" in on) and "i" not in off
            folds[-1:] = [folds[-1], folding] if end == ":" else [folding]
        elif part == "(":
            folds.append(folds[-1])
        elif part == ")" and len(folds) > 1:
            folds.pop()
        is_literal = len(part) == 1 and not in_class and part not in "|()[].?*+{}"
        run = run + part.lower() if is_literal and folds[-1] else ""
        if run.endswith(_foldings() if run else ()):
            several = next(fold for fold in _foldings() if run.endswith(fold))
            problem = f"{several} in the pattern, which {_DIFFERENT['one folded']}"
        if problem is not None:
            raise ValueError(problem)
    return "".join(parts)


def _without_differences(found: re.Match[str]) -> str:
    """Escape the hyphens of a class with two in a row: ends of ranges or characters there, a difference elsewhere."""
    written = found[0]
    if written[0] != "[" or "--" not in written:
        return written

    def escaped(member: re.Match[str]) -> str:
        ends = [r"\-" if end == "-" else end for end in member.groups() if end is not None]
        return "-".join(ends) or (r"\-" if member[0] == "-" else member[0])

    begin = len(written) - len(written[1:].removeprefix("^"))
    return written[:begin] + _MEMBERS.sub(escaped, written[begin:])


def _problem(part: str, place: int, *, in_class: bool, folds: bool) -> str | None:
    """Return what is read differently about a part, if anything is."""
    where = "in a character class" if in_class else "in the pattern"
    key = part
    if _ODD_SETS.fullmatch(part):
        key = "\\p{Graph}"
    elif folds and _CASES.fullmatch(part):
        key = "case folded"
    elif folds and len(part) == 1 and len(part.casefold()) > 1:
        key = "several folded"
    elif in_class:
        return f"{part} {where}, which {_IN_CLASS[part]}" if part in _IN_CLASS else None
    elif flags := _FLAGS.fullmatch(part):
        key = "(?m" if "m" in flags[1] else "behind" if flags[3] == ")" and place else part
    elif part.startswith("(?"):
        key = "(?m"
    elif part.endswith("}?"):
        key = "}?"
    shown = key if key == "(?m" else part
    return f"{shown} {where}, which {_DIFFERENT[key]}" if key in _DIFFERENT else None


@cache
def _foldings() -> tuple[str, ...]:
    """Return what single characters become that become several under full case folding (CaseFolding.txt, status F)."""
    blocks = (range(0xDF, 0x588), range(0x1E96, 0x1E9F), range(0x1F50, 0x2000), range(0xFB00, 0xFB18))
    folded = (chr(code).casefold() for block in blocks for code in block)
    return tuple(dict.fromkeys(each for each in folded if len(each) > 1))
