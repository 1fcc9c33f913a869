r"""Split patterns as tiktoken reads them: its engine is fancy-regex, and the core's own has Python's dialect.

Of what the core takes, some things mean something else there: ``$``, ``\Z``, ``\<`` and ``\>``, and an ``i`` in any
case. Sets in sets and what is done with two the core leaves to fancy-regex by itself.
"""

from __future__ import annotations

import re

from bpe_cli.support.regex_size import set_operation

LEFT_TO_THEIRS = "(?u)"
"""An option that is always on there; the core's own engine takes no pattern that has it."""

_END = "(?![\\s\\S])"
"""The end of a text to both; ``$`` is there alone, and in Python's dialect also before a last line feed."""

_ENDS = re.compile(r"\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|(\$)", re.DOTALL)
_OPTIONS = re.compile(r"\(\?[a-zA-Z]*(?:-[a-zA-Z]+)?[:)]")
_OTHERWISE = re.compile(r"\\[Z<>]")
_NAMES = re.compile(r"\\[pP](?:\{[^}]*\}|.)")
_MAY_BE_I = re.compile(r"[iI\u0130\u0131]|\\[xuU]|(?<![\[\\^])-(?!\])")


def as_theirs(pattern: str) -> str:
    r"""Return an expression that the core runs as tiktoken runs the one given.

    >>> as_theirs(r"\s+$|[$]|\$"), as_theirs(r"a\Z"), as_theirs("(?i:'s|'t)"), as_theirs("(?i:'s|'ll|in)")
    ('\\s+(?![\\s\\S])|[$]|\\$', '(?u)a\\Z', "(?i:'s|'t)", "(?u)(?i:'s|'ll|in)")
    """
    options = "".join(_OPTIONS.findall(pattern))
    folds_i = "i" in options and _MAY_BE_I.search(_NAMES.sub("", _OPTIONS.sub("", pattern))) is not None
    if folds_i or _OTHERWISE.search(pattern) is not None or ("m" in options and "$" in pattern):
        return LEFT_TO_THEIRS + pattern
    if "x" in options or set_operation(pattern) is not None:
        return pattern  # the core leaves it to fancy-regex, and where a class ends is not so easily told
    return _ENDS.sub(lambda found: _END if found[1] else found[0], pattern)
