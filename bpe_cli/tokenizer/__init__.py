"""The tokenizer: stages, tokens and special tokens as one frozen value, and the engine that runs it."""

from bpe_cli.tokenizer.text_methods import Specials, Token
from bpe_cli.tokenizer.tokenizer import Tokenizer

__all__ = ["Specials", "Token", "Tokenizer"]
