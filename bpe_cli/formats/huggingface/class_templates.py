"""Write as a post-processor what classes in Python put around a text: ``add_bos_token``, ``add_eos_token``.

A ``tokenizer.json`` holds its post-processor, and these settings say nothing then. Beside other files they
stand for code, whose meaning depends on ``tokenizer_class``; here are the classes for which it is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bpe_cli.formats.json_node import Node
from bpe_cli.support.safe_orjson import orjson
from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a class does.

    Attributes:
        bos: Whether it puts the beginning before each text if nothing is said of it.
        has_eos: Whether it can put an end behind each text.
    """

    bos: bool
    has_eos: bool


_LLAMA = _Rule(bos=True, has_eos=True)
_GPT2 = _Rule(bos=False, has_eos=False)
_RULES = {
    "LlamaTokenizer": _LLAMA,
    "CodeLlamaTokenizer": _LLAMA,
    "GemmaTokenizer": _LLAMA,
    "GPT2Tokenizer": _GPT2,
}


def post_processor_of(config: Node, tokenizer: Tokenizer) -> str | None:
    """Return the post-processor that a class stands for; None if it puts nothing around a text.

    Of a pair both texts get what one gets.

    Args:
        config: ``tokenizer_config.json``.
        tokenizer: The tokenizer, with its roles.

    Raises:
        FormatError: if something is to be put around a text, and the class is not known, or the token has no id.
    """
    name = config.get("tokenizer_class")
    rule = None if name.is_null else _RULES.get(name.text().removesuffix("Fast"))
    wanted = {
        "bos": config.get("add_bos_token").boolean(default=rule is not None and rule.bos),
        "eos": config.get("add_eos_token").boolean(default=False),
    }
    for role, is_wanted in wanted.items():
        if not is_wanted:
            continue
        if rule is None or (role == "eos" and not rule.has_eos):
            raise config.get(f"add_{role}_token").error(
                "is true, and what that does is known only of some classes",
                hint=f'set "tokenizer_class" to one of {", ".join(_RULES)}, or this to false; tokenizer.json says it '
                "for any class",
            )
        if tokenizer.usage.role(role) is None:
            raise config.error(f"has no {role}_token to put around a text, which its class does")
    if not any(wanted.values()):
        return None
    ids = {role: tokenizer.usage.role(role) or 0 for role, is_wanted in wanted.items() if is_wanted}
    texts = {role: tokenizer.token_bytes(token_id).decode() for role, token_id in ids.items()}
    single = _around("A", 0, texts)
    pair = [*single, *_around("B", 1, texts)]
    special = {
        texts[role]: {"id": texts[role], "ids": [token_id], "tokens": [texts[role]]} for role, token_id in ids.items()
    }
    processor = {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": special}
    return orjson.dumps(processor).decode()


def _around(sequence: str, type_id: int, texts: dict[str, str]) -> Sequence[dict[str, object]]:
    """Return the places of one text and of what is put around it."""
    places: list[dict[str, object]] = [{"Sequence": {"id": sequence, "type_id": type_id}}]
    if "bos" in texts:
        places.insert(0, {"SpecialToken": {"id": texts["bos"], "type_id": type_id}})
    if "eos" in texts:
        places.append({"SpecialToken": {"id": texts["eos"], "type_id": type_id}})
    return places
