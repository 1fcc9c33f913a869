"""What the command line calls the arguments that the library's messages name."""

from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

ARGUMENTS = {
    "algorithm": "-a",
    "chat=NAME": "--chat-template",
    'chat="openai"': "--chat-template openai",
    "byte_fallback=True": "--set byte_fallback=yes",
    "differences": "--diff",
    'documents="jsonl"': "--jsonl",
    'documents="lines"': "--lines",
    "format=NAME": "--from", 'format="bin"': "--from bin",
    "development": "--dev",
    "held_out": "--valid",
    "corpora": "--language", "corpus={NAME: ...}": "--language",
    "d_model": "--d-model",
    "languages": "--language",
    "library": "--against",
    "ratios": "--ratio",
    "sizes": "--vocab-size",
    "weights": "--weight",
    "pictures": "--svg",
    "generation_prompt=False": "--no-generation-prompt",
    "glossaries": "--glossary",
    "limits": "--max-regression",
    "output": "-o",
    "page": "--html",
    "processes": "-j",
    "length": "--pack or --max-length",
    "share": "--part",
    "special_tokens": "--special",
    "specials": "--special",
    **{
        each: f"--set {each}"
        for each in (
            "boundaries", "boundary_mark", "by_byte", "candidate_memory", "character_coverage=X", "dictionary=no",
            "input_sentence_size", "limit_alphabet=N", "max_sentence_length=N", "merges=32000", "min_word_count",
            "min_word_count=2", "pass_over", "pass_over=yes", "preload", "run_pattern", "shared_merges", "window_alpha",
        )
    },
    "spans": "--with", "texts": "--text", "tokenizer": "-t", "tokens": "--with",
    'way="split"': "--split",
    'way="truncate"': "--max-length",
    "threshold": "--vocabulary-threshold",
    "vocab_size=32000": "-s 32000",
    "with_special_tokens": "--add-special TEXT=ID",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            "add_special_tokens", "add_tokens", "against", "allow_loss", "alpha", "bos", "chat", "chat_template",
            "check", "columns", "compat", "counts_dir", "counts_out", "date", "dropout", "dtype", "eot", "errors",
            "field", "format", "frequencies", "from_counts", "full", "id_map", "ids", "inference", "initial_alphabet",
            "keep", "mask", "max_memory", "max_token_length", "max_tokens", "member", "merge", "min_frequency",
            "normalizer", "on_error", "overlap", "overwrite", "pad", "pairs", "parallel", "parity", "pattern", "plain",
            "port", "pre_tokenizer", "prefix_space", "residues", "sample", "scores", "seed", "shuffle", "size",
            "split_residues", "split_special", "steps", "superwords", "switch", "tallies_dir", "target", "text", "to",
            "truncate", "val", "vocab_size", "vocabulary", "window", "words", "write_vocabulary",
        )
    },
}  # fmt: skip
"""An argument that a message names in backquotes, alone or with a value -> the option."""


def in_options(message: str) -> str:
    """Return a message of the library with options in place of arguments, which only a program can give.

    What stands in quotes is from elsewhere, a piece of a text say, and stays.

    >>> in_options('give `pattern="gpt2"` or `max_memory`, not `regex`; `documents="lines"` takes lines')
    'give --pattern gpt2 or --max-memory, not `regex`; --lines takes lines'
    >>> in_options('agree to lose it: `allow_loss=["pattern", "decoder"]`')
    'agree to lose it: --allow-loss pattern,decoder'
    >>> in_options("the tokenizer's `bos` is not in 'see `text`'")
    "the tokenizer's --bos is not in 'see `text`'"
    """
    if "`" not in message:
        return message
    import re

    def option(match: "re.Match[str]") -> str:
        whole, name, value = match[0].strip("`"), match[1], match[2]
        if name is None:
            return match[0]
        if whole in ARGUMENTS:
            return ARGUMENTS[whole]
        if name not in ARGUMENTS:
            return match[0]
        return " ".join([ARGUMENTS[name], *([_plain(value)] if value else [])])

    quoted = "|".join(rf"(?<!\w){mark}(?:[^{mark}\\]|\\.)*{mark}(?!\w)" for mark in "'\"")
    return re.sub(rf"{quoted}|`([a-z_]+)(?:=([^`]+))?`", option, message)


def _plain(value: str) -> str:
    """Return a value as the command line takes it: without quotes, the items of a list with commas."""
    if value.startswith("["):
        return ",".join(item.strip().strip('"') for item in value[1:-1].split(","))
    return value.strip('"')
