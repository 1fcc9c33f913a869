"""Describe what the classes of ``transformers`` do: how they cut text into words, and what they put around it.

A pair of ``vocab.json`` and ``merges.txt`` leaves unsaid how text is cut; the class that ``tokenizer_config.json``
names says it (facts of the slow classes and their converters). A byte-level pair without a class stands for
GPT-2's; merges with ``</w>`` stand for nothing in particular: CLIP writes bytes and GPT-1 characters, and each cuts
text in its own way. A SentencePiece ``.model`` says how text is cut, and still a class may rewrite text before it, as
ALBERT's does, or shift the ids behind it, as XLM-R's does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from bpe_cli.errors import FormatError, NoPatternError
from bpe_cli.formats.huggingface import template
from bpe_cli.formats.read_file import Node
from bpe_cli.stages import (
    NFC,
    BertNormalizer,
    BertPreTokenizer,
    BPEDecoder,
    ByteLevel,
    ByteLevelDecoder,
    Decoder,
    Lowercase,
    Normalizer,
    PrefixSpace,
    PreTokenizer,
    Replace,
    Split,
)
from bpe_cli.stages.named_stages import word_decoder
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.spelling import ALPHABET_ORDER, from_visible, to_visible
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer

SUFFIX = "</w>"
"""What marks the end of a word in pairs that mark it."""

GPT2 = PATTERNS["gpt2"].regex


@dataclass(frozen=True, slots=True)
class Convention:
    """The stages of a pair.

    Attributes:
        pre_tokenizer: What cuts text.
        normalizer: What rewrites it before.
        decoder: What makes text of tokens.
        on_bytes: Whether tokens are bytes and merges join bytes; else they are characters.
        suffix: What is written after the last character of a word.
        special: Special tokens that the class has where nothing else is said.
        unk: The unknown token, where nothing else is said.
    """

    pre_tokenizer: tuple[PreTokenizer, ...]
    normalizer: tuple[Normalizer, ...] = ()
    decoder: tuple[Decoder, ...] = ()
    on_bytes: bool = True
    suffix: str = ""
    special: tuple[str, ...] = ()
    unk: str | None = None


_GPT2 = Convention((Split(GPT2),))
_CLIP = Convention(
    (
        Split(
            r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
            "Removed",
            invert=True,
        ),
        Split(GPT2),
        ByteLevel(),
    ),
    (NFC(), Replace(r"\s+", " "), Lowercase()),
    (ByteLevelDecoder(),),
    on_bytes=False,
    suffix=SUFFIX,
    special=("<|startoftext|>", "<|endoftext|>"),
    unk="<|endoftext|>",
)
_GPT1 = Convention(
    (BertPreTokenizer(),),
    (BertNormalizer(),),
    (BPEDecoder(SUFFIX),),
    on_bytes=False,
    suffix=SUFFIX,
    special=("<unk>",),
    unk="<unk>",
)
_LIKE_GPT2 = ("GPT2", "Roberta", "Bart", "Longformer", "LED", "Blenderbot", "Whisper", "CodeGen", "Deberta")

CLASSES: dict[str, Convention] = {
    **{f"{name}Tokenizer": _GPT2 for name in _LIKE_GPT2},
    "Qwen2Tokenizer": Convention((Split(PATTERNS["qwen2"].regex),), (NFC(),)),
    "CLIPTokenizer": _CLIP,
    "OpenAIGPTTokenizer": _GPT1,
}
"""Classes of ``transformers`` that read such a pair; with ``Fast`` behind they are the same."""

SILENT_CLASSES = frozenset({"PreTrainedTokenizer", "TokenizersBackend"})
"""Classes that say nothing of the stages."""


def _name_of_class(config: Node) -> str | None:
    kind = config.get("tokenizer_class")
    return None if kind.is_null else kind.text().removesuffix("Fast")


def convention(
    config: Node, pattern: str | None, ids: Mapping[str, int], merges: bytes, special: Collection[str], source: str
) -> Convention:
    """Return the stages of a pair.

    ``pattern`` is what a user gives in place of what is known, ``merges`` the content of ``merges.txt``, and
    ``special`` are the tokens that files beside the pair declare.
    """
    suffix = SUFFIX if f"{SUFFIX}\n".encode() in merges or merges.endswith(SUFFIX.encode()) else ""
    if pattern is not None:
        return _of_pattern(pattern, ids, special, suffix)
    kind = config.get("tokenizer_class")
    name = _name_of_class(config)
    if name is not None and name not in SILENT_CLASSES:
        known = CLASSES.get(name)
        if known is None:
            raise NoPatternError(
                kind.error(f"is {quote(kind.text())}, and how that class cuts text is not known").message,
                hint="tokenizer.json says it; or give the split pattern with `pattern`",
            )
        if known.suffix != suffix:
            has = f"have {SUFFIX}" if suffix else f"lack {SUFFIX}"
            raise kind.error(f"is {quote(kind.text())}, and the merges {has}")
        return known
    if suffix:
        raise NoPatternError(
            f"{source}: the merges mark the ends of words ({SUFFIX}), but nothing says how text is cut into words",
            hint="a tokenizer_config.json beside them can, with tokenizer_class CLIPTokenizer or OpenAIGPTTokenizer; "
            "tokenizer.json can; or give the pattern of a word with `pattern`",
        )
    return _GPT2


def name_of(tokenizer: Tokenizer) -> str | None:
    """Return the class that cuts text as a byte-level tokenizer does; None for GPT-2's, the default.

    Such a class says also how text is normalized.
    """
    if not replace(tokenizer, normalizer=()).is_plain:
        return None
    cuts = tuple(stage for stage in tokenizer.pre_tokenizer if not isinstance(stage, PrefixSpace))
    settings = replace(_GPT2, pre_tokenizer=cuts, normalizer=tokenizer.normalizer)
    return next((name for name, known in CLASSES.items() if known == settings != _GPT2), None)


def _of_pattern(pattern: str, ids: Mapping[str, int], special: Collection[str], suffix: str) -> Convention:
    """Return the stages that follow from a user's pattern: its matches are words.

    With ends of words only the matches are kept: what lies between them is left out, as the marks say
    where words end. Without them every stretch of text is a piece, as everywhere.
    """
    if not suffix:
        on_bytes = all(from_visible(token) is not None for token in ids if token not in special)
        return Convention((Split(pattern),) if pattern else (), on_bytes=on_bytes)
    spelt = all(character in ids for character in to_visible(ALPHABET_ORDER))
    cut: tuple[PreTokenizer, ...] = (Split(pattern, "Removed", invert=True),) if pattern else ()
    return Convention(
        (*cut, *((ByteLevel(),) if spelt else ())),
        decoder=word_decoder("", suffix, by_byte=spelt),
        on_bytes=False,
        suffix=suffix,
    )


# --------------------------------------------------------------------------------------------------
# Write as a post-processor what classes in Python put around a text: ``add_bos_token``, ``add_eos_token``.
#
# A ``tokenizer.json`` holds its post-processor, and these settings say nothing then. Beside other files they
# stand for code, whose meaning depends on ``tokenizer_class``; here are the classes for which it is known.


_LIKE_LLAMA = ("LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer", "BaichuanTokenizer")
PUTS_AROUND = {**dict.fromkeys(_LIKE_LLAMA, True), "GPT2Tokenizer": False}
"""Whether a class puts the beginning before each text if nothing is said of it, and can put an end behind each."""

_LIKE_ROBERTA = frozenset({"RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer"})
"""Classes that put ``<s> A </s>`` around a text and ``<s> A </s></s> B </s>`` around a pair, whatever is set."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """What is put around texts: the roles of the tokens before and behind.

    Attributes:
        before: The token before the first text.
        after: The token behind each text.
        second: The token before the second text of a pair.
        second_type: The type of the second text and of what is around it.
    """

    before: str | None
    after: str | None
    second: str | None = None
    second_type: int = 1


_BERT = _Frame("cls", "sep")
_T5 = _Frame(None, "eos", second_type=0)
_FRAMES = {"BigBirdTokenizer": _BERT, "DebertaV2Tokenizer": _BERT, "T5Tokenizer": _T5, "MT5Tokenizer": _T5}
"""What other classes put around a text, whatever is set."""


def post_processor_of(config: Node, tokenizer: Tokenizer) -> str | None:
    """Return the post-processor that a class stands for; None if it puts nothing around a text.

    Raises:
        FormatError: if a setting asks for what the class is not known to do, or a token that it puts has no id.
    """
    name = _name_of_class(config)
    stated = _stated_frame(config, name)
    if name in _LIKE_ROBERTA:
        return _roberta(config, tokenizer)
    frame = _FRAMES.get(name or "", stated)
    ids = {role: _id_of(role, config, tokenizer) for role in (frame.before, frame.after) if role is not None}
    names = {token_id: tokenizer.token_bytes(token_id).decode() for token_id in ids.values()}
    before, after, second = ([ids[role]] if role else [] for role in (frame.before, frame.after, frame.second))
    return template(names, before, after, second, frame.second_type)


def _stated_frame(config: Node, name: str | None) -> _Frame:
    """Return what ``add_bos_token`` and ``add_eos_token`` say, and the class where they say nothing."""
    puts = PUTS_AROUND.get(name or "")
    added = {
        "bos": config.flag("add_bos_token", default=bool(puts)),
        "eos": config.flag("add_eos_token"),
    }
    for role, is_added in added.items():
        if is_added and (puts is None or (role == "eos" and not puts)):
            raise config.get(f"add_{role}_token").error(
                "is true, and what that does is known only of some classes",
                hint=f'set "tokenizer_class" to one of {", ".join(PUTS_AROUND)}, or this to false; '
                "tokenizer.json says it for any class",
            )
    before, after = (role if is_added else None for role, is_added in added.items())
    return _Frame(before, after, before)


def _id_of(role: str, config: Node, tokenizer: Tokenizer) -> int:
    token_id = tokenizer.usage.role(role)
    if token_id is None:
        raise config.error(
            f"has no {role}_token to put around a text, which its class does",
            hint=f'give the text of that token there, as "{role}_token"; tokenizer.json says by itself what is put',
        )
    return token_id


def _roberta(config: Node, tokenizer: Tokenizer) -> str:
    """Return what ``transformers`` writes for RoBERTa's classes."""
    ids = {role: _id_of(role, config, tokenizer) for role in ("sep", "cls")}
    processor = {
        "type": "RobertaProcessing",
        **{role: [tokenizer.token_bytes(token_id).decode(), token_id] for role, token_id in ids.items()},
        "trim_offsets": config.flag("trim_offsets", default=True),
        "add_prefix_space": config.flag("add_prefix_space"),
    }
    from bpe_cli.support.safe_orjson import orjson

    return orjson.dumps(processor).decode()


# --------------------------------------------------------------------------------------------------
# Refuse beside a SentencePiece ``.model`` what would give other ids than the ``.model`` does.


_PLAIN = ("BertGenerationTokenizer", "ReformerTokenizer", "SentencePieceBackend")
MODEL_CLASSES = frozenset({*_LIKE_LLAMA, *_FRAMES, *SILENT_CLASSES, *_PLAIN})
"""Classes that hand text to a ``.model`` as it is, and take its ids as they are; with ``Fast`` they are the same."""

_REWRITES = {"do_lower_case": True, "remove_space": True, "keep_accents": False, "split_by_punct": True}
"""Settings with which classes rewrite or cut text, and the values that say so."""


def check_beside_model(config: Node, *, puts_space: bool) -> None:
    """Check that the class and its settings leave text and ids as a ``.model`` has them.

    ``puts_space`` is whether the ``.model`` puts a space before a text.

    Raises:
        FormatError: if they do not, or are not known to.
    """
    kind = config.get("tokenizer_class")
    if _name_of_class(config) not in (None, *MODEL_CLASSES):
        raise kind.error(
            f"is {quote(kind.text())}, which is not known to leave text and ids as the .model has them", hint=_WAY_OUT
        )
    for name, value in _REWRITES.items():
        if config.flag(name, default=not value) is value:
            raise _rewrites(config, name)
    if puts_space and not config.flag("add_prefix_space", default=True):
        raise _rewrites(config, "add_prefix_space")


_WAY_OUT = (
    "a tokenizer.json says what the class does, and save_pretrained of transformers writes one; "
    "in a folder of its own the .model is read as SentencePiece reads it"
)


def _rewrites(config: Node, name: str) -> FormatError:
    setting = config.get(name)
    value = "true" if setting.value else "false"
    return setting.error(f"is {value}, which changes text in a way that the .model does not say", hint=_WAY_OUT)
