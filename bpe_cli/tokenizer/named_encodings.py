"""Named tokenizers that work right after install, and the models that use them.

The ranks lie in the compiled module (see core/build.rs); patterns and special tokens are facts of
openai/tiktoken ``tiktoken_ext/openai_public.py`` and ``tiktoken/model.py``, version 0.14.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from bpe_cli.errors import UsageError
from bpe_cli.stages import NFC, Normalizer, RankBpe, SpecialToken, Split
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.messages import did_you_mean, nearest
from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Encoding:
    """A published table of ranks with the pattern and special tokens that belong to it.

    Attributes:
        sha256: Of the published ``.tiktoken`` file.
        pattern: The split pattern's name in ``patterns.PATTERNS``.
        special_tokens: Text -> id.
        normalizer: What is done to text before it is split.
    """

    sha256: str
    pattern: str
    special_tokens: Mapping[str, int]
    normalizer: tuple[Normalizer, ...] = ()

    def tokens(self) -> tuple[SpecialToken, ...]:
        """Return the special tokens by id."""
        ordered = sorted(self.special_tokens.items(), key=lambda item: item[1])
        return tuple(SpecialToken(text.encode(), token_id) for text, token_id in ordered)


_R50K = "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
_P50K = "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"
_CL100K = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_O200K = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"

_HARMONY = {
    199998: "startoftext",
    199999: "endoftext",
    200002: "return",
    200003: "constrain",
    200005: "channel",
    200006: "start",
    200007: "end",
    200008: "message",
    200012: "call",
    200018: "endofprompt",  # tiktoken also reads <|reserved_200018|> as this id; it never writes it
}

ENCODINGS: dict[str, Encoding] = {
    "gpt2": Encoding(_R50K, "gpt2", {"<|endoftext|>": 50256}),
    "r50k_base": Encoding(_R50K, "gpt2", {"<|endoftext|>": 50256}),
    "p50k_base": Encoding(_P50K, "gpt2", {"<|endoftext|>": 50256}),
    "p50k_edit": Encoding(
        _P50K,
        "gpt2",
        {"<|endoftext|>": 50256, "<|fim_prefix|>": 50281, "<|fim_middle|>": 50282, "<|fim_suffix|>": 50283},
    ),
    "cl100k_base": Encoding(
        _CL100K,
        "cl100k",
        {
            "<|endoftext|>": 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
    "o200k_base": Encoding(_O200K, "o200k", {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
    "o200k_harmony": Encoding(
        _O200K,
        "o200k",
        {f"<|{_HARMONY.get(number, f'reserved_{number}')}|>": number for number in range(199998, 201088)},
    ),
}

KNOWN_FILES: dict[str, Encoding] = {
    # Llama 3 and its successors have one and the same file, and other names for the same ids: 128004, 128005,
    # 128008 and all from 128010 on. So the file does not tell them, and seven names of 256 would be of no use.
    "llama3": Encoding("82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55", "llama3", {}),
    # Qwen's first models; its code normalizes text before it looks for anything in it.
    "qwen": Encoding(
        "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
        "qwen2",
        {
            text: number
            for number, text in enumerate(
                ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *(f"<|extra_{number}|>" for number in range(205))),
                start=151643,
            )
        },
        (NFC(),),
    ),
}
"""Published files that are not built in: facts of ``models/llama3/tokenizer.py`` in meta-llama/llama-models, and of
``tokenizers/qwen_tokenizer.py`` in dashscope 2.0."""

MODELS: dict[str, str] = {
    model: encoding
    for encoding, models in {
        "o200k_base": "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o",
        "cl100k_base": "gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002 text-embedding-ada-002 "
        "text-embedding-3-small text-embedding-3-large",
        "p50k_base": "text-davinci-003 text-davinci-002 code-davinci-002 code-davinci-001 code-cushman-002 "
        "code-cushman-001 davinci-codex cushman-codex",
        "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
        "r50k_base": "text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie babbage ada "
        "text-similarity-davinci-001 text-similarity-curie-001 text-similarity-babbage-001 "
        "text-similarity-ada-001 text-search-davinci-doc-001 text-search-curie-doc-001 "
        "text-search-babbage-doc-001 text-search-ada-doc-001 code-search-babbage-code-001 "
        "code-search-ada-code-001",
        "gpt2": "gpt2 gpt-2",
    }.items()
    for model in models.split()
}
"""Model -> encoding."""

MODEL_PREFIXES: dict[str, str] = {
    prefix: encoding
    for encoding, prefixes in {
        "o200k_base": "o1- o3- o4-mini- gpt-5 gpt-4.5- gpt-4.1- chatgpt-4o- gpt-4o- ft:gpt-4o",
        "cl100k_base": "gpt-4- gpt-3.5-turbo- gpt-35-turbo- ft:gpt-4 ft:gpt-3.5-turbo ft:davinci-002 ft:babbage-002",
        "o200k_harmony": "gpt-oss-",
    }.items()
    for prefix in prefixes.split()
}
"""Beginning of a model's name -> encoding; the longest one that fits counts."""

_WITH_THE_MODEL = "its tokenizer comes with the model: name its file, or hf:ORG/NAME for what `hf download` has fetched"
_NOT_PUBLIC = "its tokenizer is not public, and no other gives its ids"

# Families of models, by what names begin with, without all but letters and digits; the first that fits counts. Each
# name in these hints works: the tests try all of them.
_FAMILIES = {
    "gpt35": "GPT-3.5 is gpt-3.5-turbo",
    "gpt3": "GPT-3's models are davinci, curie, babbage and ada; later ones text-davinci-002 and text-davinci-003",
    "gpt45": "GPT-4.5 is gpt-4.5-preview",
    "gptoss": "its sizes are gpt-oss-20b and gpt-oss-120b",
    "chatgpt": "ChatGPT's models are gpt-3.5-turbo, gpt-4, gpt-4o and gpt-5",
    "codex": "Codex was code-davinci-002 and code-cushman-001, and is gpt-5-codex",
    "o4": "there is o4-mini",
    "textembedding3": "there are text-embedding-3-small and text-embedding-3-large",
    "textembedding": "there are text-embedding-3-small, text-embedding-3-large and text-embedding-ada-002",
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


def named(name: str) -> Tokenizer:
    """Return the tokenizer of an encoding or of a model, by its name in any case; the same object each time.

    >>> named("GPT-4o") is named("o200k_base")
    True
    >>> [(token.content, token.token_id) for token in named("gpt2").special_tokens]
    [(b'<|endoftext|>', 50256)]

    Raises:
        UsageError: if there is no encoding or model of this name.
    """
    tokenizer = find(name)
    if tokenizer is None:
        raise unknown(name)
    return tokenizer


def find(name: str) -> Tokenizer | None:
    """Return the tokenizer of an encoding or of a model, by its name in any case; None if there is none."""
    encoding = encoding_of(name)
    return None if encoding is None else _built_in(encoding)


@cache
def _built_in(name: str) -> Tokenizer:
    encoding = ENCODINGS[name]
    return Tokenizer(
        RankBpe(Vocabulary.from_embedded(encoding.sha256)),
        (Split(PATTERNS[encoding.pattern].regex),),
        encoding.tokens(),
        name=name,
    )


def encoding_of(name: str) -> str | None:
    """Return the encoding that a name (its own, or a model's) stands for, in any case; None if there is none.

    >>> encoding_of("GPT-4"), encoding_of("CL100K_base"), encoding_of("gpt-3")
    ('cl100k_base', 'cl100k_base', None)
    """
    name = canonical(name)
    return name if name in ENCODINGS else encoding_for_model(name)


def canonical(name: str) -> str:
    """Return the known spelling of a name: lower case, except for what a user adds to it.

    >>> canonical("GPT-4"), canonical("ft:gpt-4o:Org")
    ('gpt-4', 'ft:gpt-4o:Org')
    """
    known = name in ENCODINGS or encoding_for_model(name) is not None
    return name if known else name.lower()


def encoding_for_model(model: str) -> str | None:
    """Return the name of the encoding that a model uses, or None.

    >>> encoding_for_model("gpt-4o-2024-05-13"), encoding_for_model("gpt-4")
    ('o200k_base', 'cl100k_base')
    """
    if model in MODELS:
        return MODELS[model]
    fitting = [prefix for prefix in MODEL_PREFIXES if model.startswith(prefix)]
    return MODEL_PREFIXES[max(fitting, key=len)] if fitting else None


def of_ranks(sha256: str) -> dict[str, Encoding]:
    """Return the encodings whose published file has this sha256, by name, that with fewest special tokens first."""
    fitting = [item for item in (ENCODINGS | KNOWN_FILES).items() if item[1].sha256 == sha256]
    return dict(sorted(fitting, key=lambda item: len(item[1].special_tokens)))


def unknown(name: str) -> UsageError:
    """Make the error for a name that stands for no tokenizer, with suggestions."""
    near = _near(name)
    hint = hint_of_family(name) or did_you_mean(near) or f"encodings are {', '.join(ENCODINGS)}; or give a path"
    return UsageError(f'unknown tokenizer "{name}"', hint=hint)


def _near(name: str) -> list[str]:
    """Return the most similar names: the one that differs only in punctuation, or up to three."""
    names = [*ENCODINGS, *(model for model in MODELS if model not in ENCODINGS)]
    same = [each for each in names if squeezed(each) == squeezed(name)]
    return same[:1] or nearest(name.lower(), names, cutoff=0.5)


def squeezed(name: str) -> str:
    """Return the letters and digits of a name, which is how people tell names apart.

    >>> squeezed("GPT-4o") == squeezed("gpt4o")
    True
    """
    import re

    return re.sub(r"[^a-z0-9]", "", name.lower())


def hint_of_family(name: str) -> str | None:
    """Return the hint for the name of a family of models, which has no tokenizer of its own; None for other names."""
    short = squeezed(name)
    return next((hint for begin, hint in _FAMILIES.items() if short.startswith(begin)), None)
