"""rs_bpe, which carries OpenAI's encodings with it."""

from __future__ import annotations


class RsBpe:
    """Measured at starting only, where it is known for its speed."""

    distribution = "rs-bpe"
    stride = 1
    ways = ("",)
    operations = ("start",)
    kinds = ("byte-level",)
    slow = True

    start = """\
import sys
from rs_bpe import openai
print(*getattr(openai, sys.argv[1])().encode(sys.argv[2]))"""
