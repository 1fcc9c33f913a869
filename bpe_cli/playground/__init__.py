"""A playground: a page on this machine that shows what is typed there token by token, while it is typed.

``server.py`` speaks HTTP, to this machine's own browser alone; ``requests.py`` reads what the page asks for, and
``answers.py`` gives it, with the tokenizers of ``choices.py``; ``escapes.py`` writes any bytes as characters that can
be typed. The page itself is a view: ``views/page/playground.py``.
"""

from __future__ import annotations

from bpe_cli.playground.server import Playground, browsable

__all__ = ["Playground", "browsable"]
