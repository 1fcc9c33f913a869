"""Describe what is meant by the name of a family of models, which is no tokenizer's name.

Each ``-t NAME`` that is named here works: the tests try all of them.
"""

from __future__ import annotations

import re

_WITH_THE_MODEL = "its tokenizer comes with the model: -t FILE, or -t hf:ORG/NAME for what `hf download` has fetched"
_NOT_PUBLIC = "its tokenizer is not public, and no other gives its ids"

# What names begin with, without all but letters and digits. The first that fits counts.
_FAMILIES = {
    "gpt35": "GPT-3.5 is -t gpt-3.5-turbo",
    "gpt3": "GPT-3's models are -t davinci, -t curie, -t babbage and -t ada; later ones -t text-davinci-002 and "
    "-t text-davinci-003",
    "gpt45": "GPT-4.5 is -t gpt-4.5-preview",
    "gptoss": "its sizes are -t gpt-oss-20b and -t gpt-oss-120b",
    "chatgpt": "ChatGPT's models are -t gpt-3.5-turbo, -t gpt-4, -t gpt-4o and -t gpt-5",
    "codex": "Codex was -t code-davinci-002 and -t code-cushman-001, and is -t gpt-5-codex",
    "o4": "there is -t o4-mini",
    "textembedding3": "there are -t text-embedding-3-small and -t text-embedding-3-large",
    "textembedding": "there are -t text-embedding-3-small, -t text-embedding-3-large and -t text-embedding-ada-002",
    "claude": _NOT_PUBLIC,
    "gemini": _NOT_PUBLIC,
} | dict.fromkeys(
    (
        "llama", "metallama", "codellama", "qwen", "mistral", "mixtral", "ministral", "codestral", "gemma", "phi",
        "deepseek", "falcon", "bloom", "olmo", "smollm", "starcoder", "kimi", "glm", "grok", "granite", "nemotron",
        "pythia", "bert", "roberta", "t5", "flant5",
    ),
    _WITH_THE_MODEL,
)  # fmt: skip


def squeezed(name: str) -> str:
    """Return the letters and digits of a name, which is how people tell names apart.

    >>> squeezed("GPT-4o") == squeezed("gpt4o")
    True
    """
    return re.sub(r"[^a-z0-9]", "", name.lower())


def hint_of_family(name: str) -> str | None:
    """Describe what to ask for in the place of a family's name; None if it is not known to be one."""
    short = squeezed(name)
    return next((hint for begin, hint in _FAMILIES.items() if short.startswith(begin)), None)
