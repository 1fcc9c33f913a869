"""Recognise white space: Unicode's property White_Space, as characters and as bytes of UTF-8."""

from __future__ import annotations

import re

WHITE_SPACE = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What ``\\s`` is in split patterns (``str.isspace`` adds U+001C to 1F)."""

_ONE = b"(?:%s)" % b"|".join(re.escape(character.encode()) for character in sorted(WHITE_SPACE))

# No character's bytes can be found inside of another's.
STRETCH = re.compile(_ONE + b"+")
"""Finds stretches of white space in UTF-8."""
UP_TO_LAST = re.compile(b"(?s).*" + _ONE)
"""Matches from anywhere in UTF-8 to the end of the last white space."""
