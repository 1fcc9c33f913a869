r"""Expressions as Hugging Face's library reads them: it runs Oniguruma, in a syntax near Ruby's.

What the two engines read alike stays as it is. ``\w`` outside of sets, and the edges of words, have six characters more
there: they are spelt out. POSIX classes are written as properties. Hyphens in a row, which tiktoken would take for a
difference of sets, are escaped. The possessive count of ``cl100k`` is written as a plain one. All else that they read
differently is refused, and what only one of them knows. An expression that may prefer to match nothing is read as an
atomic group: where it does, they try no other way to match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from bpe_cli.stages.patterns import PATTERNS, scanner_for
from bpe_cli.support.regex_size import measure

# In Ruby's syntax `{1,3}+` repeats instead of being possessive. As the last thing of an alternative, a possessive count
# and a plain one match alike.
_SPELLINGS = {PATTERNS["cl100k"].regex: PATTERNS["cl100k"].regex.replace(r"\p{N}{1,3}+", r"\p{N}{1,3}")}
_UNSPELLINGS = {spelling: pattern for pattern, spelling in _SPELLINGS.items()}

_MORE = "\u00b2\u00b3\u00b9\u00bc\u00bd\u00be"
r"""Numbers of Latin-1 that ``\w`` has there, but not in a set."""

_WORD, _OTHER = rf"[\w{_MORE}]", rf"[^\w{_MORE}]"
_HERE = {
    r"\w": _WORD,
    r"\W": _OTHER,
    r"\b": f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    r"\B": f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
}
_HERE_BEHIND = _HERE | {
    r"\b": f"(?:(?!(?<={_WORD})(?={_WORD}))(?!(?<!{_WORD})(?!{_WORD})))",
    r"\B": f"(?:(?!(?<={_WORD})(?!{_WORD}))(?!(?<!{_WORD})(?={_WORD})))",
}
"""What to write in a look-behind, where alternatives are not tried at every length."""

_SPELT = {here: there for words in (_HERE, _HERE_BEHIND) for there, here in words.items()}
_THERE = _SPELT | {there: here.replace(_MORE, "") for there, here in _HERE.items()}

_POSIX = {
    "alpha": r"\p{Alphabetic}", "digit": r"\p{Nd}", "alnum": r"\p{Alphabetic}\p{Nd}", "upper": r"\p{Uppercase}",
    "lower": r"\p{Lowercase}", "punct": r"\p{P}\p{S}", "space": r"\s", "blank": r"\p{Zs}\t", "cntrl": r"\p{Cc}",
    "xdigit": "0-9A-Fa-f", "word": r"\w",
}  # fmt: skip
"""What their POSIX classes are; Python's module and the core's engine for stages have other characters in some."""

_NEGATED = {"alpha": r"\P{Alphabetic}", "digit": r"\P{Nd}", "upper": r"\P{Uppercase}", "lower": r"\P{Lowercase}",
            "space": r"\S", "cntrl": r"\P{Cc}", "word": r"\W"}  # fmt: skip
_POSIX_HERE = {f"[:{name}:]": one for name, one in _POSIX.items()}
_POSIX_HERE |= {f"[:^{name}:]": one for name, one in _NEGATED.items()}

_RUBY = "in Hugging Face's engine"
_DIFFERENT = {
    "}+": f"is possessive in `regex` and a repetition {_RUBY}; write (?>...) around it instead",
    "}?": f"is reluctant in `regex` and optional {_RUBY}",
    "{,}": f"is any number in `regex` and these three characters {_RUBY}",
    "^": f"is the start of the text in `regex` and of every line {_RUBY}",
    "$": f"is the end of the text in `regex` and of every line {_RUBY}",
    "(?m": f"is about anchors in `regex` and about the dot {_RUBY}",
    "(?s": f"is about the dot in `regex` and an error {_RUBY}; write [\\s\\S] for any character",
    "(?P": f"names a group in `regex` and is an error {_RUBY}; write (?:...) or (?<name>...)",
    "group": f"is not read {_RUBY} as in `regex`",
    "behind": f"is about what is behind it in `regex`, and about all alternatives {_RUBY}; write (?i:...) instead",
    "\\Z": f"is the end of the text in `regex`, and also a place before a last line feed {_RUBY}",
    "\\h": f"is a blank in `regex` and a hexadecimal digit {_RUBY}",
    "\\p": f"is a property in `regex`, and the letter p {_RUBY}; write \\p{{...}}",
    "\\P": f"is a property in `regex`, and the letter P {_RUBY}; write \\P{{...}}",
    "letter": f"has a meaning in `regex`, and another or none {_RUBY}",
    "byte": f"is a character in `regex` and a byte {_RUBY}; write the character itself",
    "fuzzy": f"allows errors in `regex` and is these characters {_RUBY}",
    "one folded": f"is a character of its own under (?i) {_RUBY}, and not in `regex`",
    "several folded": f"is several characters under (?i) {_RUBY}, and not in `regex`",
    "range folded": f"has characters that are several under (?i) {_RUBY}, and not in `regex`",
    "case folded": f"is any case under (?i) in `regex`, and one case {_RUBY}",
    "\\p{Graph}": f"is not the same set in `regex` and {_RUBY}",
    "name": f"is a property in `regex` and no name {_RUBY}; write \\p{{...}} with the value alone",
    "ahead": f"is an error {_RUBY} inside of a look-behind",
    "posix": f"may have other characters in `regex` than {_RUBY}; write properties such as \\p{{Alphabetic}}",
    "edge": f"has other words beside it {_RUBY}, which a look-behind cannot say there",
    "range": f"is a set and a hyphen in `regex`, and an error {_RUBY}; write \\- for the hyphen",
}
_IN_CLASS = {
    "&&": f"is two characters in `regex` and an intersection {_RUBY}",
    "~~": f"is a difference in `regex` and two characters {_RUBY}",
    "[": f"is a character in `regex` and begins a class {_RUBY}",
    **{name: _DIFFERENT[name] for name in ("\\h", "\\p", "\\P")},
}
_LETTERS = frozenset("\\" + letter for letter in "gGLmMNU")

_ATOM = r"\\(?:[pP]\{[^}]*\}|x(?:\{[^}]*\}|[0-9a-fA-F]{1,2})|u[0-9a-fA-F]{4}|.)"
_PARTS = re.compile(
    "|".join(map(re.escape, sorted(_SPELT, key=len, reverse=True))) + rf"|{_ATOM}|"
    r"\(\?[a-zA-Z]*(?:-[a-zA-Z]+)?[:)]|\(\?#[^)]*\)|\(\?(?:<?[=!]|.)|\(\*|"
    r"\{,\}|\{\d+\}\?|\}\+|\{[\d<=,+ ]*[deis][\d<=,+deis ]*\}|.",
    re.DOTALL,
)
_CLASS_PARTS = re.compile(rf"{_ATOM}|&&|~~|\[:\^?[a-z]+:\]|.", re.DOTALL)
_CLASSES = re.compile(r"\\.|\[\^?\]?(?:\[:\^?[a-z]+:\]|\\.|[^\]\\])*\]", re.DOTALL)
_MEMBERS = re.compile(rf"\[:\^?[a-z]+:\]|({_ATOM}|[^\\])-({_ATOM}|[^\\\]])|{_ATOM}|-", re.DOTALL)
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_OPTIONS = re.compile(r"\(\?[a-zA-Z]+\)")
_CODE = re.compile(r"\\(?:x\{([0-9a-fA-F]+)\}|[xu]([0-9a-fA-F]+))")
_BYTE = re.compile(r"\\x[89a-fA-F][0-9a-fA-F]")
_SET = re.compile(r"\\(?:[dDsSwW]|[pP]\{.*)", re.DOTALL)
_ODD_SETS = re.compile(r"\\[pP]\{\^?(?:graph|print|word|xdigit)\}", re.IGNORECASE)
_NAMES = re.compile(r"\\[pP]\{(?:\^?is[^}]*|[^}]*[=:&][^}]*)\}", re.IGNORECASE)
_CASES = re.compile(
    r"\\[pP]\{\^?(?:l[ult]|upper|lower|(?:upper|lower|title)case(?:_?letter)?)\}|\[:\^?(?:upp|low)er:\]", re.IGNORECASE
)


def as_read(written: str) -> str:
    r"""Return the expression that says here what a file says.

    >>> as_read(r"\p{L}+|\w"), as_read(r"[\w-]"), as_read("[[:alpha:]_]"), as_read("a*|b")
    ('\\p{L}+|[\\w²³¹¼½¾]', '[\\w-]', '[\\p{Alphabetic}_]', '(?>a*|b)')

    Raises:
        ValueError: if there is none; with what is read differently.
    """
    if written in _UNSPELLINGS:
        return _UNSPELLINGS[written]
    regex = _CLASSES.sub(_without_differences, _replaced(written, reads=True))
    if not measure(regex).gives_up:
        return regex
    options = _OPTIONS.match(regex)
    begin = options.end() if options else 0
    return f"{regex[:begin]}(?>{regex[begin:]})"  # theirs tries no other way to match where the first one is empty


def as_written(regex: str) -> str:
    r"""Return the expression that says there what one of ours says.

    >>> as_written(as_read(r"\w+")), as_written(r"\w+")
    ('\\w+', '[\\w]+')

    Raises:
        ValueError: if there is none; with what is read differently.
    """
    if measure(regex).gives_up:
        raise ValueError(
            "the pattern may match nothing where it could match text: `regex` then tries other ways to match there, "
            "and Hugging Face's engine goes on to the next character; write + for *, or put what may be empty last"
        )
    return _SPELLINGS.get(regex) or _replaced(regex, reads=False)


def _replaced(regex: str, *, reads: bool) -> str:
    """Exchange what is written otherwise, if nothing is read differently."""
    if scanner_for(regex) is not None and regex not in _SPELLINGS:
        return regex  # known patterns have been compared
    parts: list[str] = []
    groups = [(False, False)]  # whether case does not count, and whether it is behind that they look
    run = ""  # literals that stand side by side, where case does not count
    for place, part, in_class in _parts(regex):
        folds, behind = groups[-1]
        words = _THERE if not reads else _HERE_BEHIND if behind else _HERE
        if in_class:
            words = _POSIX_HERE if reads else {}
        problem = None
        if part not in _SPELT:
            problem = _problem(part, place, in_class=in_class, folds=folds, behind=behind, reads=reads)
        parts.append(words.get(part, part))
        if not in_class and part not in _SPELT:
            _follow(part, groups)
        elif in_class and part == "]":
            problem = problem or _problem_of_ranges(regex[regex.rfind("[", 0, place) : place], folds=folds)
        is_literal = len(part) == 1 and not in_class and part not in "|()[].?*+{}"
        run = run + part.lower() if is_literal and folds else ""
        if run.endswith(_foldings() if run else ()):
            several = next(fold for fold in _foldings() if run.endswith(fold))
            problem = f"{several} in the pattern, which {_DIFFERENT['one folded']}"
        if problem is not None:
            raise ValueError(problem)
    return "".join(parts)


def _parts(regex: str) -> Iterator[tuple[int, str, bool]]:
    """Yield each part with its place, and whether it stands in a character class, or ends one."""
    place, begin = 0, -1
    while place < len(regex):
        found = (_PARTS if begin < 0 else _CLASS_PARTS).match(regex, place)
        part = found[0] if found is not None else regex[place]
        yield place, part, begin >= 0
        if begin < 0 and part == "[":
            begin = place
        elif begin >= 0 and part == "]" and regex[begin:place] not in ("[", "[^"):
            begin = -1
        place += len(part)


def _follow(part: str, groups: list[tuple[bool, bool]]) -> None:
    """Open or close groups, or change what holds in the innermost one."""
    folds, behind = groups[-1]
    if flags := _FLAGS.fullmatch(part):
        on, off, end = flags.groups(default="")
        folding = (folds or "i" in on) and "i" not in off
        groups[-1:] = [groups[-1], (folding, behind)] if end == ":" else [(folding, behind)]
    elif part.startswith("(") and not part.startswith("(?#"):
        groups.append((folds, behind or part in ("(?<=", "(?<!")))
    elif part == ")" and len(groups) > 1:
        groups.pop()


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


def _problem(part: str, place: int, *, in_class: bool, folds: bool, behind: bool, reads: bool) -> str | None:
    """Return what is read differently about a part, if anything is."""
    where = "in a character class" if in_class else "in the pattern"
    key = part
    if _ODD_SETS.fullmatch(part):
        key = "\\p{Graph}"
    elif _NAMES.fullmatch(part):
        key = "name"
    elif folds and _CASES.fullmatch(part):
        key = "case folded"
    elif folds and len(_character(part).casefold()) > 1:
        key = "several folded"
    elif part in _LETTERS:
        key = "letter"
    elif _BYTE.fullmatch(part):
        key = "byte"
    elif in_class:
        if part.startswith("[:") and (not reads or part not in _POSIX_HERE):
            return f"{part} {where}, which {_DIFFERENT['posix']}"
        return f"{part} {where}, which {_IN_CLASS[part]}" if part in _IN_CLASS else None
    elif part.startswith(("(?", "(*")):
        key = _problem_of_group(part, place, behind=behind)
    elif behind and not reads and part in (r"\b", r"\B"):
        key = "edge"
    elif part.endswith("}?"):
        key = "}?"
    elif part.startswith("{") and len(part) > 1 and part != "{,}":
        key = "fuzzy"
    shown = key if key in ("(?m", "(?s") else part
    return f"{shown} {where}, which {_DIFFERENT[key]}" if key in _DIFFERENT else None


def _problem_of_group(part: str, place: int, *, behind: bool) -> str:
    """Return the key of what is read differently about the beginning of a group; empty if nothing is."""
    if flags := _FLAGS.fullmatch(part):
        letters = flags[1] + (flags[2] or "")
        if "s" in letters:
            return "(?s"
        if "m" in flags[1]:
            return "(?m"
        return "group" if set(letters) - set("imx") else "behind" if flags[3] == ")" and place else ""
    if part in ("(?=", "(?!"):
        return "ahead" if behind else ""
    if part == "(?P":
        return part
    return "" if part in ("(?<=", "(?<!", "(?<", "(?>", "(?(") or part.startswith("(?#") else "group"


def _problem_of_ranges(members: str, *, folds: bool) -> str | None:
    """Return what is read differently about a range of a class, if anything is."""
    for first, last in (found.groups() for found in _MEMBERS.finditer(members[1:].removeprefix("^"))):
        if first is None:
            continue
        key = None
        if _SET.fullmatch(first) or _SET.fullmatch(last):
            key = "range"
        elif folds and any(_character(first) <= each <= _character(last) for each in _unfolded()):
            key = "range folded"
        if key is not None:
            return f"{first}-{last} in a character class, which {_DIFFERENT[key]}"
    return None


def _character(part: str) -> str:
    """Return the character that a part stands for; empty if it stands for none, or for a set."""
    if len(part) == 1:
        return part
    if found := _CODE.fullmatch(part):
        code = int(found[1] or found[2], 16)
        return chr(code) if code < 0x110000 else ""
    return part[1] if len(part) == 2 and part[0] == "\\" and not part[1].isalnum() else ""


@cache
def _unfolded() -> tuple[str, ...]:
    """Return the characters that become several under full case folding (CaseFolding.txt, status F)."""
    blocks = (range(0xDF, 0x588), range(0x1E96, 0x1E9F), range(0x1F50, 0x2000), range(0xFB00, 0xFB18))
    return tuple(chr(code) for block in blocks for code in block if len(chr(code).casefold()) > 1)


@cache
def _foldings() -> tuple[str, ...]:
    """Return what they become."""
    return tuple(dict.fromkeys(each.casefold() for each in _unfolded()))
