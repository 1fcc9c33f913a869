"""Read what all tokenizers in GGUF files share: tokens with their types, roles, and the tokens around a text.

Source: ``llama_vocab::impl::load`` (src/llama-vocab.cpp as vendored in llama-cpp-python 0.3.36); what a file
leaves out is what llama.cpp takes then.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats.features import check_scores
from bpe_cli.formats.gguf.container import F32, I32, Metadata
from bpe_cli.formats.huggingface import template
from bpe_cli.stages import SpecialToken
from bpe_cli.stages.spelling import BYTE, CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED
from bpe_cli.support.messages import quote
from bpe_cli.support.texts import is_utf8
from bpe_cli.tokenizer.usage import Usage, roles_in_order

UNDEFINED = 0
"""The type of a token that has none; the numbers from 1 on are SentencePiece's (``stages.pieces``)."""

MARK = "▁".encode()

LIMIT_KEY = "bpe.max_input_chars_per_word"
"""A key of our own: the limit of a WordPiece model that has one. llama.cpp does not look at it."""

ROLE_KEYS = {
    "bos": "bos_token_id", "eos": "eos_token_id", "unk": "unknown_token_id", "sep": "seperator_token_id",
    "pad": "padding_token_id", "cls": "cls_token_id", "mask": "mask_token_id", "eot": "eot_token_id",
    "eom": "eom_token_id", "fim_pre": "fim_pre_token_id", "fim_suf": "fim_suf_token_id",
    "fim_mid": "fim_mid_token_id", "fim_pad": "fim_pad_token_id", "fim_rep": "fim_rep_token_id",
    "fim_sep": "fim_sep_token_id",
}  # fmt: skip
"""Role -> its key behind ``tokenizer.ggml.`` (the spelling of the separator's is theirs)."""

DEFAULT_ROLES: dict[str, dict[str, int]] = {
    "llama": {"bos": 1, "eos": 2, "unk": 0},
    "gpt2": {"bos": 11, "eos": 11},
    "bert": {"bos": 101, "unk": 100, "sep": 102},
    "t5": {"eos": 1, "unk": 2},
    "gemma4": {},
    "rwkv": {},
    "whitespace": {"bos": 11, "eos": 11},
    "hybriddna": {"bos": 11, "eos": 11},
    "plamo2": {"bos": 1, "eos": 2, "unk": 0},
}
"""The ids that llama.cpp takes for what a file does not name, by ``tokenizer.ggml.model``."""

ENDS = frozenset(
    {
        "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "<end_of_turn>",
        "<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>",
        "<end_of_utterance>", "<eos>", "<turn|>", "<|tool_response>", "<｜end▁of▁sentence｜>", "[e~[",
    }
)  # fmt: skip
"""Texts that end a generation: such a token is a control token, whatever the file says."""

FILLED_IN = {
    "fim_pre": ("<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>",
                "<|code_prefix|>", "<|prefix|>"),
    "fim_suf": ("<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>",
                "<|code_suffix|>", "<|suffix|>"),
    "fim_mid": ("<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>",
                "<|code_middle|>", "<|middle|>"),
    "fim_pad": ("<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"),
    "fim_rep": ("<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"),
    "fim_sep": ("<|file_sep|>",),
}  # fmt: skip
"""Texts that make a token a control token where the file gives its role to none."""

HARMONY = frozenset({"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"})
"""Texts that make a token one of the user's, whatever the file says."""


class Vocab:
    """The parts of a vocabulary that all models share.

    Attributes:
        metadata: Where it stands.
        model: What ``tokenizer.ggml.model`` says.
        texts: The text of each token; none for what fills a gap.
        written_texts: The same as the file has them.
        types: The type of each token, as llama.cpp corrects it.
        stated: (role, id) that the file names.
        roles: The same with llama.cpp's own for those that it leaves out.
        special_tokens: Tokens that are looked for in text.

    Raises:
        FormatError: if a token is not UTF-8 or appears twice, or there are too few types.
    """

    def __init__(self, metadata: Metadata, model: str) -> None:
        self.metadata = metadata
        self.model = model
        self.source = metadata.source
        self.written_texts = self._read_texts()
        self.texts = self.written_texts[:]
        self.stated = self._read_roles()
        defaults = {role: number for role, number in DEFAULT_ROLES[model].items() if number < len(self.texts)}
        self.roles = {**defaults, **self.stated}
        self.types = self._read_types()
        others = [number for number, kind in enumerate(self.types) if kind != NORMAL]
        for number in others:
            if self.types[number] == UNUSED and self.texts[number] == padding(number):
                self.texts[number] = b""  # no token: it fills a gap
        self.special_tokens = self._read_special_tokens(others)

    # -- tokens --------------------------------------------------------------------------------

    def _read_texts(self) -> list[bytes]:
        texts = self.metadata.texts("tokenizer.ggml.tokens")
        if not texts:
            raise FormatError(f"{self.source} has no tokens (tokenizer.ggml.tokens)")
        if len(texts) > _core.MAX_TOKENS:
            raise FormatError(f"{self.source} has {len(texts):,} tokens; {_core.MAX_TOKENS:,} are read")
        some = [*filter(None, texts)]
        if len(set(some)) < len(some) or not is_utf8(b"\0".join(some)):
            self._check_texts(texts)
        return texts

    def _check_texts(self, texts: list[bytes]) -> None:
        """Raise an error that names the first token that is not UTF-8 or appears twice."""
        ids: dict[bytes, int] = {}
        for token_id, text in enumerate(texts):
            if text and text in ids:
                raise FormatError(
                    f"{self.source}: the token {quote(text)} appears twice, as {ids[text]} and {token_id}"
                )
            ids[text] = token_id
            if not is_utf8(text):
                raise FormatError(f"{self.source}: token {token_id} is not UTF-8: {quote(text)}")

    def _read_types(self) -> list[int]:
        given = self.metadata.numbers("tokenizer.ggml.token_type", I32)
        if given is None:
            types = [NORMAL] * len(self.texts)
        elif len(given) < len(self.texts):
            raise FormatError(f"{self.source} has {len(given):,} types for {len(self.texts):,} tokens")
        else:
            types = given[: len(self.texts)].tolist()
            if min(types) < UNDEFINED or max(types) > BYTE:
                types = [kind if UNDEFINED <= kind <= BYTE else UNDEFINED for kind in types]
        ids = dict(zip(self.texts, range(len(self.texts)), strict=True))

        def named(names: Iterable[str]) -> Iterator[int]:
            return (ids[name.encode()] for name in names if name.encode() in ids)

        for role, names in FILLED_IN.items():
            if role not in self.stated:
                for token_id in named(names):
                    types[token_id] = CONTROL
        for token_id in named(ENDS):
            types[token_id] = CONTROL
        for token_id in named(HARMONY):
            types[token_id] = USER_DEFINED
        harmony = all(text in ids for text in (b"<|return|>", b"<|call|>", b"<|end|>"))
        solar = b"<|flush|>" in ids and (b"<|call|>" in ids or b"<|calls|>" in ids)
        if b"<|end|>" in ids and (harmony or solar):
            types[ids[b"<|end|>"]] = USER_DEFINED  # there it ends a message, and not the generation
        if b"</s>" in ids and (b"<|tool_response>" in ids or b"<|plamo:eos|>" in ids):
            types[ids[b"</s>"]] = NORMAL
        return types

    def _read_special_tokens(self, ids: list[int]) -> tuple[SpecialToken, ...]:
        left, right = self._stripping()
        rows = ((number, self.texts[number], self.types[number]) for number in ids)
        return tuple(
            SpecialToken(text, number, kind != USER_DEFINED, lstrip=text in left, rstrip=text in right)
            for number, text, kind in rows
            if kind in (UNKNOWN, CONTROL, USER_DEFINED) and text
        )

    def _stripping(self) -> tuple[frozenset[bytes], frozenset[bytes]]:
        """Return the tokens that take whitespace along, before them and after: llama.cpp goes by models' names."""
        name = (self.metadata.text("general.name") or "").lower()
        pre = self.metadata.text("tokenizer.ggml.pre") or ""
        architecture = self.metadata.text("general.architecture") or ""
        none: frozenset[bytes] = frozenset()
        if any(part in pre for part in ("jina-v2-de", "jina-v2-es", "jina-v2-code")) or any(
            part in architecture for part in ("nomic-bert-moe", "jina-bert-v3")
        ):
            return frozenset({b"<mask>"}), none
        if "phi-3" in name or "phi3" in name:
            return none, frozenset(self.texts) - {b"<unk>", b"<s>", b"<|endoftext|>"}
        return (frozenset({b"[MASK]"}) if "modern-bert" in name else none), none

    # -- usage ---------------------------------------------------------------------------------

    def _read_roles(self) -> dict[str, int]:
        """Read the roles that the file states; an id without a token is ignored, as in llama.cpp."""
        roles = {role: self.metadata.integer(f"tokenizer.ggml.{key}") for role, key in ROLE_KEYS.items()}
        for role, key in (("fim_pre", "prefix"), ("fim_suf", "suffix"), ("fim_mid", "middle")):  # older names
            if roles[role] is None:
                roles[role] = self.metadata.integer(f"tokenizer.ggml.{key}_token_id")
        return {role: number for role, number in roles.items() if number is not None and 0 <= number < len(self.texts)}

    @property
    def usage(self) -> Usage:
        """What the file says about use."""
        roles = dict(self.stated)
        if self.model == "bert" and "cls" in roles and roles.get("bos") == roles["cls"]:
            del roles["bos"]  # it is what llama.cpp calls it
        return Usage(roles=roles_in_order(roles), chat_templates=self._read_chat_templates())

    def _read_chat_templates(self) -> tuple[tuple[str, str], ...]:
        templates = {}
        default = self.metadata.text("tokenizer.chat_template")
        if default is not None:
            templates["default"] = default
        for key in self.metadata.fields:
            name = key.removeprefix("tokenizer.chat_template.")
            if name != key and name:
                text = self.metadata.text(key)
                if text is not None:
                    templates.setdefault(name, text)
        return tuple(templates.items())

    def post_processor(self, *, add_bos: bool, add_eos: bool, always: bool = False) -> str | None:
        """Make the post-processor that puts the first and the last token around texts, as the file asks or as given.

        With ``always`` the first is put there whatever the file says.
        """
        asked = {
            "bos": always or self.metadata.boolean("tokenizer.ggml.add_bos_token", add_bos),
            "eos": self.metadata.boolean("tokenizer.ggml.add_eos_token", add_eos),
        }
        for role, is_added in asked.items():
            if is_added and role not in self.roles:
                raise FormatError(f"{self.source} asks for a token at texts' ends that it does not name ({role})")
        before, after = ((self.roles[role],) if is_added else () for role, is_added in asked.items())
        names = {token_id: self.texts[token_id].decode() for token_id in (*before, *after)}
        return template(names, before, after, before, second_type=int(self.model != "t5"))

    def scores(self) -> array[float]:
        """Return the scores, as f64; 0 where the file has none."""
        given = self.metadata.numbers("tokenizer.ggml.scores", F32, I32)
        if given is None:
            return array("d", bytes(8 * len(self.texts)))
        if len(given) < len(self.texts):
            raise FormatError(f"{self.source} has {len(given):,} scores for {len(self.texts):,} tokens")
        scores = array("d", given[: len(self.texts)])
        check_scores(scores, self.texts.__getitem__, self.source)
        return scores


_WRITTEN_ANEW = frozenset(
    {
        "model", "tokens", "scores", "merges", "add_bos_token", "add_eos_token", "add_space_prefix",
        "remove_extra_whitespaces", "precompiled_charsmap", "normalizer.lowercase", "normalizer.strip_accents",
        "prefix_token_id", "suffix_token_id", "middle_token_id", *ROLE_KEYS.values(),
    }
)  # fmt: skip


_NOT_HEEDED = {"plamo2": ("add_bos_token", "add_eos_token", "add_space_prefix", "remove_extra_whitespaces")}
"""Of those, what llama.cpp does not go by where it makes tokens, by ``tokenizer.ggml.model``."""


def stands_for_itself(key: str, model: str | None) -> bool:
    """Return whether the tokenizer itself states all that a key says, so that the key need not be kept.

    Names of splits and types of tokens are carried besides: several of them mean the same. A whole
    ``tokenizer.json`` inside of the file is not: nobody would see to it that both go on agreeing.
    """
    name = key.removeprefix("tokenizer.ggml.")
    return (
        (name in _WRITTEN_ANEW and name not in _NOT_HEEDED.get(model or "", ()))
        or key.startswith(("tokenizer.chat_template", "tokenizer.huggingface."))
        or key == LIMIT_KEY
    )


def padding(token_id: int) -> bytes:
    """Return the text that llama.cpp's converters write for an id without a token."""
    return b"[PAD%d]" % token_id
