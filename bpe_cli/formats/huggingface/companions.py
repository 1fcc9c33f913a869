"""Read what Hugging Face's ``transformers`` lays beside a tokenizer file: names, roles, chat templates, settings.

``tokenizer_config.json``, ``special_tokens_map.json`` and ``added_tokens.json`` say which tokens are
special, what for, and under which ids; chat templates stand in the first of them or in files of their own,
which come before it, as there. What the files say of one thing is to be the same: a contradiction is an
error that names them. Settings that change no id, or only those of classes in Python, are facts for reports.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from bpe_cli.errors import FormatError
from bpe_cli.formats import byte_level
from bpe_cli.formats.added_tokens import Declared, flags_of, ids_of, put_in, read_added_token, special_text
from bpe_cli.formats.huggingface import default_first, read_templates, write_templates
from bpe_cli.formats.huggingface.classes import post_processor_of
from bpe_cli.formats.read_file import Node, facts_of, lies, read
from bpe_cli.stages import SpecialToken
from bpe_cli.stages.vocabulary import MAX_ID
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import ROLES, Fact, Origin, roles_in_order

CONFIG = "tokenizer_config.json"
SPECIAL_TOKENS = "special_tokens_map.json"
ADDED_TOKENS = "added_tokens.json"
TEMPLATE = "chat_template.jinja"
TEMPLATE_JSON = "chat_template.json"
TEMPLATES = "additional_chat_templates"
NAMES = frozenset({CONFIG, SPECIAL_TOKENS, ADDED_TOKENS, TEMPLATE, TEMPLATE_JSON})

ROLE_KEYS = {f"{role}_token": role for role in ROLES}
HELD_ELSEWHERE = frozenset({*ROLE_KEYS, "chat_template", "added_tokens_decoder"})
"""Keys of ``tokenizer_config.json`` that become part of a tokenizer's value."""

LISTS = ("additional_special_tokens", "extra_special_tokens")
"""Keys under which special tokens without a role stand."""


@dataclass(frozen=True, slots=True)
class Named:
    """A special token that a file names without its id.

    Attributes:
        token: The token; its id means nothing.
        role: What it is for, if that is a role.
        source: The file.
    """

    token: SpecialToken
    role: str | None
    source: str


@dataclass(frozen=True, slots=True)
class Companions:
    """What the files beside a tokenizer file say.

    Attributes:
        config: ``tokenizer_config.json``; an empty object if there is none.
        config_data: Its bytes.
        numbered: Tokens that have an id there, those of ``tokenizer_config.json`` first.
        named: Tokens that are special, without ids.
        chat_templates: (name, template), the one called ``default`` first.
    """

    config: Node
    config_data: bytes | None
    numbered: tuple[Declared, ...]
    named: tuple[Named, ...]
    chat_templates: tuple[tuple[str, str], ...]

    @property
    def facts(self) -> tuple[tuple[str, Fact], ...]:
        """The settings of ``tokenizer_config.json``, as it states them."""
        return tuple((name, value) for name, value in facts_of(self.config) if name not in HELD_ELSEWHERE)

    def __bool__(self) -> bool:
        return self.config_data is not None or bool(self.numbered or self.named or self.chat_templates)


NONE = Companions(Node({}, CONFIG), None, (), (), ())
"""What nothing beside a file says."""


def are_in(folder: Path) -> bool:
    """Return whether anything in a folder has the name of one of the files; ``find`` sees whether it is one."""
    return any(os.path.lexists(folder / name) for name in (*NAMES, TEMPLATES))


def find(folder: Path) -> Companions:
    """Read all of the files that lie in a folder."""
    paths = [folder / name for name in sorted(NAMES)]
    if lies(folder / TEMPLATES, folder=True):
        paths += sorted((folder / TEMPLATES).glob("*.jinja"))
    return loads({path.relative_to(folder).as_posix(): read(path) for path in paths if lies(path)}, folder)


def loads(contents: Mapping[str, bytes], folder: Path | None = None) -> Companions:
    """Read the contents of such files: name within the folder -> content; any of them may be missing."""
    sources = {name: name if folder is None else str(folder / name) for name in (*NAMES, *contents)}
    nodes = {
        name: Node.parse(contents[name], sources[name]) if name in contents else Node({}, name)
        for name in (CONFIG, SPECIAL_TOKENS, ADDED_TOKENS)
    }
    named = [each for name in (CONFIG, SPECIAL_TOKENS) for each in _named(nodes[name])]
    _one_token_a_role(named)
    special = {each.token.content for each in named}
    numbered = [*_decoder(nodes[CONFIG]), *_added(nodes[ADDED_TOKENS], special)]
    templates = _templates(contents, sources, nodes[CONFIG])
    return Companions(nodes[CONFIG], contents.get(CONFIG), tuple(numbered), tuple(named), templates)


def _named(node: Node) -> Iterator[Named]:
    """Yield the tokens that are declared by their role, or in a list of special ones."""
    places: list[tuple[str | None, Node]] = [(role, node.get(key)) for key, role in ROLE_KEYS.items()]
    for key in LISTS:
        more = node.get(key)
        if isinstance(more.value, dict):  # tokens by names of the model's own
            places += [(ROLE_KEYS.get(name), more.get(name)) for name in more.members()]
        elif not more.is_null:
            places += [(None, each) for each in more.items()]
    for role, place in places:
        if isinstance(place.value, dict):
            token = replace(read_added_token(place, 0), special=True)
        elif place.is_null or not place.text():
            continue
        else:
            token = SpecialToken(place.text().encode(), 0)
        yield Named(token, role, node.source)


def _one_token_a_role(named: list[Named]) -> None:
    held: dict[str, Named] = {}
    for each in named:
        if each.role is not None:
            other = held.setdefault(each.role, each)
            if other.token.content != each.token.content:
                raise FormatError(
                    f"{other.source} has {quote(other.token.content)} as {each.role}_token, "
                    f"and {each.source} has {quote(each.token.content)}",
                    hint="make them the same: which of the two counts depends on the version of transformers",
                )


def _decoder(config: Node) -> Iterator[Declared]:
    """Yield the tokens of ``added_tokens_decoder``."""
    decoder = config.get("added_tokens_decoder")
    for key in {} if decoder.is_null else decoder.members():
        if not (key.isascii() and key.isdigit() and len(key) <= 10 and int(key) < MAX_ID):
            raise decoder.error(f"has the key {quote(key)}, which is not an id")
        yield Declared(read_added_token(decoder.get(key), int(key)), config.source, whole=True)


def _added(added: Node, special: set[bytes]) -> Iterator[Declared]:
    """Yield the tokens of ``added_tokens.json``, which has no flags."""
    for text, token_id in byte_level.read_ids(added).items():
        if not text:
            raise added.error("has an empty token")
        yield Declared(SpecialToken(text.encode(), token_id, text.encode() in special), added.source)


def _templates(contents: Mapping[str, bytes], sources: Mapping[str, str], config: Node) -> tuple[tuple[str, str], ...]:
    """Return the chat templates: those of files of their own, else those of ``tokenizer_config.json``."""
    templates: dict[str, str] = {}
    if TEMPLATE in contents:
        templates["default"] = _template_file(contents[TEMPLATE], sources[TEMPLATE])
    for name, content in contents.items():
        if name.startswith(f"{TEMPLATES}/"):
            templates[_template_name(name, sources[name])] = _template_file(content, sources[name])
    if not templates and TEMPLATE_JSON in contents:
        templates = _stated_templates(Node.parse(contents[TEMPLATE_JSON], sources[TEMPLATE_JSON]).get("chat_template"))
    if not templates:
        templates = _stated_templates(config.get("chat_template"))
    return default_first(templates)


def _template_name(name: str, source: str) -> str:
    stem = PurePosixPath(name).stem
    try:
        stem.encode()
    except UnicodeEncodeError:
        raise FormatError(f"{Path(source).parent}: the name of a template, {stem!r}, is not UTF-8") from None
    return stem


def _template_file(content: bytes, source: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"{source}: byte {error.start} is not UTF-8") from None


def _stated_templates(node: Node) -> dict[str, str]:
    """Read one template, or a list of them with names."""
    if node.is_null:
        return {}
    if isinstance(node.value, str):
        return {"default": node.value}
    return read_templates(node)


def declared(companions: Companions, id_of: Callable[[str], int | None]) -> Iterator[Declared]:
    """Yield the tokens that the files declare, those with an id of their own first.

    ``id_of`` gives the id that the tokenizer file has for a text; None if it has none.
    """
    ids: dict[bytes, int] = {}
    for numbered in companions.numbered:
        token = numbered.token
        if ids.get(token.content) != token.token_id:  # a contradiction is found when they are put together
            ids.setdefault(token.content, token.token_id)
            yield numbered
    for each in companions.named:
        content = each.token.content
        if content not in ids:
            token_id = id_of(content.decode())
            if token_id is None:
                raise FormatError(
                    f"{each.source}: the special token {quote(content)} has no id",
                    hint=f"its id stands in the tokenizer file, {ADDED_TOKENS} or {CONFIG}: add it there, "
                    "or leave the token out here",
                )
            ids[content] = token_id
            yield Declared(replace(each.token, token_id=token_id), each.source)


def apply(tokenizer: Tokenizer, companions: Companions, source: str, *, by_class: bool = True) -> Tokenizer:
    """Return a tokenizer with what the files beside its own say of it.

    With ``by_class`` a class in Python says what is put around a text, where nothing else does.
    """
    if not companions:
        return tokenizer
    tokenizer = put_in(tokenizer, declared(companions, ids_of(tokenizer)), source)
    id_of = ids_of(tokenizer)
    roles = {each.role: id_of(each.token.content.decode()) for each in companions.named if each.role is not None}
    known = {role: token_id for role, token_id in roles.items() if token_id is not None}
    usage = replace(
        tokenizer.usage,
        roles=roles_in_order(dict(tokenizer.usage.roles) | known),
        chat_templates=companions.chat_templates or tokenizer.usage.chat_templates,
    )
    origin = tokenizer.origin or Origin("")
    tokenizer = replace(tokenizer, usage=usage, origin=replace(origin, facts=(*origin.facts, *companions.facts)))
    if by_class and tokenizer.post_processor is None:
        tokenizer = replace(tokenizer, post_processor=post_processor_of(companions.config, tokenizer))
    return tokenizer


def config_of(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return what ``tokenizer_config.json`` says of a tokenizer: roles, added tokens, chat templates."""
    config: dict[str, Any] = {key: special_text(token) for key, token in _roles_of(tokenizer).items()}
    if tokenizer.special_tokens:
        config["added_tokens_decoder"] = added_tokens_decoder(tokenizer)
    templates = tokenizer.usage.chat_templates
    if [name for name, _ in templates] == ["default"]:
        config["chat_template"] = templates[0][1]
    elif templates:
        config["chat_template"] = write_templates(templates)
    return config


def added_tokens_decoder(tokenizer: Tokenizer) -> dict[str, dict[str, Any]]:
    """Return what ``tokenizer_config.json`` says of added tokens: id -> content and flags."""
    return {
        str(token.token_id): {"content": special_text(token), **_flags(token), "special": token.special}
        for token in sorted(tokenizer.special_tokens, key=lambda token: token.token_id)
    }


def special_tokens_map(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return ``special_tokens_map.json``."""
    return {key: {"content": special_text(token), **_flags(token)} for key, token in _roles_of(tokenizer).items()}


def _roles_of(tokenizer: Tokenizer) -> dict[str, SpecialToken]:
    roles = {}
    for role, token_id in tokenizer.usage.roles:
        token = tokenizer.special_ids.get(token_id)
        if token is None:
            raise FormatError(
                f"{quote(tokenizer.token_bytes(token_id))} (id {token_id}) is the {role}_token without being special, "
                f"and in {CONFIG} a role makes a token special",
                hint="write tokenizer.json, which has no roles, or bpe.json, which keeps them (--format bpe.json)",
            )
        roles[f"{role}_token"] = token
    return roles


def _flags(token: SpecialToken) -> dict[str, bool]:
    """Return the flags but for the one that a role implies, in the order of ``transformers``' files."""
    flags = flags_of(token)
    return {flag: flags[flag] for flag in sorted(flags) if flag != "special"}
