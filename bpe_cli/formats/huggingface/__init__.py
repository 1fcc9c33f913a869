"""Read and write what a ``tokenizer.json`` says of a tokenizer's use: ``truncation`` and ``padding``.

They are kept and never applied unasked: encoding is for data sets, and nothing of those is cut silently.
Two fields are this project's own, and stand in ``bpe.json`` alone: ``usage``, roles and chat templates, which Hugging
Face's library has in other files; and ``trained``, the settings that a SentencePiece model was trained with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, get_args

from bpe_cli.formats.read_file import Node
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer.usage import ROLES, Direction, Fact, Origin, Padding, Strategy, Truncation, Usage, roles_in_order

_Choice = TypeVar("_Choice")

_SIZE = 1 << 64
_ID = 1 << 32
_STRATEGIES: dict[str, Strategy] = {
    "LongestFirst": "longest_first",
    "OnlyFirst": "only_first",
    "OnlySecond": "only_second",
}
_DIRECTIONS: dict[str, Direction] = {each.capitalize(): each for each in get_args(Direction)}


def read(root: Node) -> Usage:
    """Read what a document says about the tokenizer's use."""
    own = root.get("usage")
    roles: dict[str, int] = {}
    templates: dict[str, str] = {}
    if not own.is_null:
        own.only("roles", "chat_templates")
        roles = _read_roles(own.get("roles"))
        templates = {} if own.get("chat_templates").is_null else read_templates(own.get("chat_templates"))
    return Usage(
        _read_truncation(root.get("truncation")),
        _read_padding(root.get("padding")),
        roles_in_order(roles),
        default_first(templates),
    )


def read_trained(node: Node) -> tuple[tuple[str, Fact], ...]:
    """Read what a tokenizer was trained with: a list of [setting, value]."""
    facts: list[tuple[str, Fact]] = []
    for each in () if node.is_null else node.items():
        value = each.value
        if not (
            isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)
            and isinstance(value[1], (str, int, float))
        ):  # fmt: skip
            raise each.error("must be [setting, value]")
        facts.append((value[0], value[1]))
    return tuple(facts)


def _read_truncation(node: Node) -> Truncation | None:
    if node.is_null:
        return None
    node.only("direction", "max_length", "strategy", "stride")
    return Truncation(
        node.get("max_length").integer(below=_SIZE),
        node.get("stride").integer(below=_SIZE),
        _one_of(node.get("strategy"), _STRATEGIES),
        "right" if node.get("direction").is_null else _one_of(node.get("direction"), _DIRECTIONS),
    )


def _read_padding(node: Node) -> Padding | None:
    if node.is_null:
        return None
    node.only("strategy", "direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token")
    strategy, multiple = node.get("strategy"), node.get("pad_to_multiple_of")
    length = None
    if strategy.value != "BatchLongest":
        if not isinstance(strategy.value, dict):
            raise strategy.error('must be "BatchLongest" or {"Fixed": length}')
        strategy.only("Fixed")
        length = strategy.get("Fixed").integer(below=_SIZE)
    return Padding(
        length,
        _one_of(node.get("direction"), _DIRECTIONS),
        None if multiple.is_null else multiple.integer(below=_SIZE),
        node.get("pad_id").integer(below=_ID),
        node.get("pad_type_id").integer(below=_ID),
        node.get("pad_token").text(),
    )


def _one_of(node: Node, choices: Mapping[str, _Choice]) -> _Choice:
    if node.text() not in choices:
        raise node.error(f"is {quote(node.text())}; it can be {', '.join(choices)}")
    return choices[node.text()]


def _read_roles(node: Node) -> dict[str, int]:
    roles = {} if node.is_null else {role: node.get(role).integer(below=_ID) for role in node.members()}
    for role in roles:
        if role not in ROLES:
            raise node.error(f"has {quote(role)}, which is not a role", hint=f"roles are {', '.join(ROLES)}")
    return roles


def read_templates(node: Node) -> dict[str, str]:
    """Read chat templates: a list of objects with ``name`` and ``template``."""
    templates: dict[str, str] = {}
    for each in node.items():
        each.only("name", "template")
        name = each.get("name").text()
        if name in templates:
            raise each.error(f"is the second template called {quote(name)}")
        templates[name] = each.get("template").text()
    return templates


def default_first(templates: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return chat templates as ``Usage`` has them."""
    return tuple(sorted(templates.items(), key=lambda each: each[0] != "default"))


def write_truncation(truncation: Truncation | None) -> dict[str, Any] | None:
    """Write the field ``truncation``."""
    if truncation is None:
        return None
    names = {strategy: name for name, strategy in _STRATEGIES.items()}
    return {
        "direction": truncation.direction.capitalize(),
        "max_length": truncation.max_length,
        "strategy": names[truncation.strategy],
        "stride": truncation.stride,
    }


def write_padding(padding: Padding | None) -> dict[str, Any] | None:
    """Write the field ``padding``."""
    if padding is None:
        return None
    return {
        "strategy": "BatchLongest" if padding.length is None else {"Fixed": padding.length},
        "direction": padding.direction.capitalize(),
        "pad_to_multiple_of": padding.pad_to_multiple_of,
        "pad_id": padding.pad_id,
        "pad_type_id": padding.pad_type_id,
        "pad_token": padding.pad_token,
    }


def write_templates(templates: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Write chat templates as ``read_templates`` reads them."""
    return [{"name": name, "template": template} for name, template in templates]


def write_own(usage: Usage) -> dict[str, Any]:
    """Write the project's own field ``usage``, unless it would be empty."""
    said: dict[str, Any] = {}
    if usage.roles:
        said["roles"] = dict(usage.roles)
    if usage.chat_templates:
        said["chat_templates"] = write_templates(usage.chat_templates)
    return {"usage": said} if said else {}


def write_trained(origin: Origin | None) -> dict[str, Any]:
    """Write the project's own field ``trained``, if it is known what a tokenizer was trained with.

    The files that it was trained on and for are left out: the same training gives the same file wherever they are.
    """
    settings = [list(each) for each in (origin.trained if origin else ()) if each[0] not in ("input", "model_prefix")]
    return {"trained": settings} if settings else {}


def template(
    names: Mapping[int, str],
    before: Sequence[int],
    after: Sequence[int],
    second: Sequence[int] = (),
    second_type: int = 1,
) -> str | None:
    """Write the post-processor ``TemplateProcessing`` that puts tokens around texts; None for no tokens.

    ``before`` has the ids before the first text, ``second`` those before the second of a pair, ``after`` those after
    each; the second text and what is around it have a type of their own.
    """
    if not names:
        return None

    def around(text: str, first: Sequence[int], kind: int) -> list[dict[str, Any]]:
        ids = [*first, None, *after]
        return [
            {"Sequence": {"id": text, "type_id": kind}}
            if token_id is None
            else {"SpecialToken": {"id": names[token_id], "type_id": kind}}
            for token_id in ids
        ]

    special = {name: {"id": name, "ids": [token_id], "tokens": [name]} for token_id, name in names.items()}
    single = around("A", before, 0)
    pair = single + around("B", second, second_type)
    processor = {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": special}
    from bpe_cli.support.safe_orjson import orjson

    return orjson.dumps(processor).decode()
