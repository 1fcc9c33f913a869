"""Turn conversations into ids: templates and layouts, special tokens that no message can forge, OpenAI's counts.

``messages.py`` reads conversations, ``templates.py`` renders them with a tokenizer's own Jinja template
(``sandbox.py``, ``provenance.py``), ``layouts.py`` with a built-in one; ``encoding.py`` makes ids of the
result, and ``counting.py`` counts as OpenAI bills. ``transformers_arguments.py`` has what transformers takes besides.
"""

from __future__ import annotations

from bpe_cli.chat.counting import count_billed, is_billed
from bpe_cli.chat.encoding import ChatEncoder
from bpe_cli.chat.layouts import LAYOUTS, Layout, layout_of_model
from bpe_cli.chat.messages import Conversation, read_conversation, read_tools
from bpe_cli.chat.templates import ChatTemplate, special_names

__all__ = [
    "LAYOUTS",
    "ChatEncoder",
    "ChatTemplate",
    "Conversation",
    "Layout",
    "count_billed",
    "is_billed",
    "layout_of_model",
    "read_conversation",
    "read_tools",
    "special_names",
]
