"""Named tokenizers that work right after install, and the models that use them.

The ranks lie in the compiled module (see core/build.rs); patterns and special tokens are facts of
openai/tiktoken ``tiktoken_ext/openai_public.py`` and ``tiktoken/model.py``, version 0.14.
"""

from __future__ import annotations

from functools import lru_cache

from bpe_cli.patterns import PATTERNS
from bpe_cli.stages import RankBpe, SpecialToken, Split
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.vocabulary import Vocabulary
