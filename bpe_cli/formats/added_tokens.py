"""Read added tokens, describe how they are matched, and add them to a tokenizer that was read without them."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Mapping, Sequence

from bpe_cli.errors import FormatError
from bpe_cli.formats.overlaps import overlap
from bpe_cli.formats.read_file import Node
from bpe_cli.stages import CharacterBpe, MergeBpe, Model, ScoredBpe, SpecialToken, Unigram
from bpe_cli.stages.spelling import BYTE_TEXT, from_visible
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.fast_typing import Literal
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer

TOKEN_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
"""What files state of an added token besides its id and content, in the order of ``tokenizer.json``."""

TOKEN_FIELDS = ("id", "content", *TOKEN_FLAGS)


def read_added_token(node: Node, token_id: int) -> SpecialToken:
    """Read an added token's object, as ``tokenizer.json`` and ``tokenizer_config.json`` write it."""
    node.only(*TOKEN_FIELDS, "__type")
    content = node.get("content").text()
    if not content:
        raise node.get("content").error("is empty")
    flags = {flag: node.flag(flag) for flag in TOKEN_FLAGS}
    return SpecialToken(content.encode(), token_id, **flags)


def flags_of(token: SpecialToken) -> dict[str, bool]:
    """Return the flags of an added token, as ``tokenizer.json`` states them."""
    return {flag: getattr(token, flag) for flag in TOKEN_FLAGS}


def read_special_tokens(
    ids: Mapping[str, int], tokens: Iterable[SpecialToken], source: str
) -> tuple[SpecialToken, ...]:
    """Check added tokens against each other and against the vocabulary, and sort them by id.

    One whose text the vocabulary has takes the id from there, as in Hugging Face's library.
    """
    owner = {token_id: token for token, token_id in ids.items()}
    by_id: dict[int, SpecialToken] = {}
    by_content: dict[bytes, SpecialToken] = {}
    for declared in tokens:
        text = declared.content.decode()
        token = replace(declared, token_id=ids.get(text, declared.token_id))
        twin = by_id.get(token.token_id) or by_content.get(token.content)
        if twin is not None and (twin.token_id, twin.content) == (token.token_id, token.content):
            continue
        if twin is not None:
            raise FormatError(
                f"{source}: the added tokens {quote(twin.content)} (id {twin.token_id}) and {quote(text)} "
                f"(id {token.token_id}) contradict each other"
            )
        if owner.get(token.token_id, text) != text:
            raise FormatError(
                f"{source}: the added token {quote(text)} has id {token.token_id}, "
                f"which is {quote(owner[token.token_id])} in the vocabulary"
            )
        by_id[token.token_id] = by_content[token.content] = token
    return tuple(by_id[token_id] for token_id in sorted(by_id))


def special_text(token: SpecialToken) -> str:
    """Return a special token's content as text."""
    try:
        return token.content.decode()
    except UnicodeDecodeError:
        raise FormatError(
            f"the special token {quote(token.content)} (id {token.token_id}) is not UTF-8, and JSON holds only text"
        ) from None


# --------------------------------------------------------------------------------------------------
# Describe how added tokens are looked for: which flags change anything, and what a message calls them.


FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")

PLAIN = SpecialToken(b"", 0)
"""A token that has no flag; ``special: false`` is one, since such a token is always found."""


def effective_tokens(tokenizer: Tokenizer) -> tuple[SpecialToken, ...]:
    """Return the special tokens with only those flags that change what is matched.

    Where nothing normalizes, normalized text is the text itself. One difference is left: tokens that are
    looked for in normalized text come second, so the flag counts where they overlap with others.

    >>> from bpe_cli.stages import WordLevel
    >>> from bpe_cli.stages.vocabulary import Vocabulary
    >>> model = WordLevel(Vocabulary.from_tokens([b"a"]))
    >>> effective_tokens(Tokenizer(model, special_tokens=(SpecialToken(b"ab", 1, normalized=True),)))[0].normalized
    False
    """
    tokens = tokenizer.special_tokens
    late = [token.content for token in tokens if token.normalized]
    early = [token.content for token in tokens if not token.normalized]
    if not late or tokenizer.normalizer or overlap(late, early) or overlap(early, late):
        return tokens
    return tuple(replace(token, normalized=False) for token in tokens)


def flags_present(tokens: Iterable[SpecialToken]) -> dict[str, list[bytes]]:
    """Return the flags that occur: a flag's name in messages -> the tokens that have it."""
    return flag_differences((token, PLAIN) for token in tokens)


def flag_differences(pairs: Iterable[tuple[SpecialToken, SpecialToken]]) -> dict[str, list[bytes]]:
    """Return the flags in which the tokens of a pair differ, as ``flags_present`` does."""
    differences: dict[str, list[bytes]] = {}
    for token, other in pairs:
        for flag in FLAGS:
            value = getattr(token, flag)
            if value != getattr(other, flag):
                differences.setdefault(flag if value else f"{flag}: false", []).append(token.content)
    return differences


def name_flags(flags: Mapping[str, Sequence[bytes]], *more: str) -> str:
    """Describe which tokens have which flags, as a loss; ``more`` adds further reasons.

    >>> name_flags({"rstrip": [b"<|end|>", b"<|user|>"]})
    'how added tokens are looked for (rstrip of "<|end|>" and 1 more)'
    """
    parts = [*more, *(f"{flag} of {name_tokens(tokens)}" for flag, tokens in flags.items())]
    return f"how added tokens are looked for ({', '.join(parts)})"


def name_tokens(tokens: Sequence[bytes]) -> str:
    """Name the first of some tokens, and how many more there are."""
    rest = f" and {len(tokens) - 1:,} more" if len(tokens) > 1 else ""
    return quote(tokens[0]) + rest


# --------------------------------------------------------------------------------------------------
# Read lists of tokens that are to be added: a line each, or JSON.
#
# A line is a token as it stands, whitespace and all; empty lines are passed over. An array has texts, and
# objects as ``tokenizer.json`` has them among its ``added_tokens``, without ids::
#
# ["tok", {"content": "<|user|>", "special": true, "lstrip": false}]
#
# An object is Hugging Face's ``added_tokens.json``: texts with the ids that they are to get.


_BEGUN = re.compile(rb'\s*(?:\[\s*(?:"(?:[^"\\\n]|\\.)*"\s*,|\{\s*")|\{\s*"(?:[^"\\\n]|\\.)*"\s*:)')
"""How an array of several tokens, or an object, begins that is cut off: no line of a list looks so."""

_ARRAY = re.compile(rb"""\[(?:[\s"'{\[\]]|-?\d)""")
"""How an array begins, whole or broken; a line such as ``[PAD]`` does not."""


@dataclass(frozen=True, slots=True)
class TokenList:
    """Tokens that are to be added.

    Attributes:
        source: The file.
        tokens: The tokens in order of their new ids; the ids that they have here mean nothing.
        ids: The ids that the file says they get, by content; empty when it says none.
    """

    source: str
    tokens: tuple[SpecialToken, ...]
    ids: Mapping[bytes, int]

    def check(self, tokenizer: Tokenizer) -> None:
        """Make sure that the tokens have the ids which the file says, now that they are added."""
        special = {token.content: token.token_id for token in tokenizer.special_tokens}
        for content, stated in self.ids.items():
            token_id = special.get(content)
            if token_id is None:
                token_id = tokenizer.model.vocabulary.id_of(content)
            if token_id != stated:
                raise FormatError(
                    f"{self.source} gives the token {quote(content)} the id {stated}, and it would get {token_id}",
                    hint="new tokens get the ids after all others; `with_special_tokens` gives one",
                )


def read_token_list(data: bytes, source: str) -> TokenList:
    """Read the content of such a file.

    A text is added as Hugging Face's ``add_tokens`` does it: not special, and looked for in normalized text.

    >>> [token.content for token in read_token_list(b"low\\n\\nnew est\\n", "list").tokens]
    [b'low', b'new est']
    >>> read_token_list(b'{"new": 301, "low": 300}', "added_tokens.json").ids
    {b'low': 300, b'new': 301}
    """
    data = data.removeprefix(BOM_UTF8)
    ids: dict[bytes, int] = {}
    kind = kind_of_json(data)
    if kind is None and _BEGUN.match(data):
        raise FormatError(
            f"{source} begins as JSON and is cut off", hint="a list of tokens has one a line, or is a whole JSON array"
        )
    if kind == "array":
        tokens = [_token(node) for node in Node.parse(data, source).items()]
    elif kind == "object":
        ids = _ids(Node.parse(data, source))
        tokens = [_plain(content) for content in ids]
    else:
        tokens = []
        for number, line in enumerate(data.split(b"\n"), start=1):
            content = line.removesuffix(b"\r")
            try:
                content.decode()
            except UnicodeDecodeError:
                raise FormatError(f"{source}:{number}: the token is not UTF-8") from None
            if content:
                tokens.append(_plain(content))
    if not tokens:
        raise FormatError(f"{source} has no tokens", hint="a token a line, or a JSON array")
    return TokenList(source, tuple(tokens), ids)


def kind_of_json(data: bytes) -> Literal["array", "object"] | None:
    """Return what a file looks like: an array, an object whose first line has a whole text, or lines."""
    text = data.strip()
    if len(text) > 1 and _ARRAY.match(text) and text[-1:] == b"]":
        return "array"
    if len(text) > 1 and text[:1] == b"{" and text[-1:] == b"}":
        first, _, _ = text[1:-1].lstrip().partition(b"\n")
        return "object" if first[:1] == b'"' and b'"' in first[1:] else None
    return None


def _plain(content: bytes) -> SpecialToken:
    return SpecialToken(content, 0, special=False, normalized=True)


def _ids(node: Node) -> dict[bytes, int]:
    """Return the tokens of an object with their ids, ascending."""
    ids: dict[bytes, int] = {}
    for text in node.members():
        if not text:
            raise node.error("has an empty token")
        if type(node.get(text).value) is not int:
            raise node.get(text).error("is not an id", hint="a JSON object says which id each token gets")
        ids[text.encode()] = node.get(text).integer(1 << 32)
    return dict(sorted(ids.items(), key=lambda item: item[1]))


def _token(node: Node) -> SpecialToken:
    if isinstance(node.value, str):
        if not node.value:
            raise node.error("is empty")
        return _plain(node.value.encode())
    if not node.get("id").is_null:
        raise node.get("id").error(
            "gives the token an id", hint="new tokens get the ids after all others; `with_special_tokens` gives one"
        )
    node.only(*TOKEN_FIELDS, "__type")
    token = read_added_token(node, 0)
    if node.get("normalized").is_null and not token.special:
        return replace(token, normalized=True)
    return token


# --------------------------------------------------------------------------------------------------
# Put added tokens into a tokenizer that was read without them.


@dataclass(frozen=True, slots=True)
class Declared:
    """An added token as a file declares it.

    Attributes:
        token: The token.
        source: The file.
        whole: Whether the file states all flags too, so that others are a contradiction.
    """

    token: SpecialToken
    source: str
    whole: bool = False


def ids_of(tokenizer: Tokenizer) -> Callable[[str], int | None]:
    """Return a function that finds the id of a text: of an added token, or of an ordinary one of this spelling."""
    added = {token.content: token.token_id for token in tokenizer.special_tokens}
    added |= {text: token_id for token_id, text in tokenizer.model.texts}

    def id_of(text: str) -> int | None:
        content = text.encode()
        if content in added:
            return added[content]
        if tokenizer.has_bytes and from_visible(text) != content:
            return None  # files spell such bytes otherwise
        return tokenizer.model.vocabulary.id_of(content)

    return id_of


def put_in(tokenizer: Tokenizer, declared: Iterable[Declared], source: str) -> Tokenizer:
    """Return a tokenizer with further added tokens, and without ordinary ones of the same ids.

    Those that are there already may be among the declared; ``source`` is the tokenizer's own file.
    """
    there = [Declared(token, source, whole=True) for token in tokenizer.special_tokens]
    by_id = {each.token.token_id: each for each in there}
    by_content = {each.token.content: each for each in there}
    id_of = ids_of(tokenizer)
    unspelt = dict(tokenizer.model.texts)
    new: list[SpecialToken] = []
    for each in declared:
        token = each.token
        twin = by_id.get(token.token_id) or by_content.get(token.content)
        if twin is None:
            twin = _ordinary_twin(tokenizer.model.vocabulary, unspelt, id_of, token, source)
        if twin is None:
            by_id[token.token_id] = by_content[token.content] = each
            new.append(token)
        elif (twin.token.token_id, twin.token.content) != (token.token_id, token.content):
            raise FormatError(
                f"{each.source} has the added token {quote(token.content)} with id {token.token_id}, "
                f"and {twin.source} has {quote(twin.token.content)} with id {twin.token.token_id}",
                hint="the files do not belong together, or only one of them was changed",
            )
        elif each.whole and twin.whole and twin.token != token:
            flags = [flag for flag, value in flags_of(token).items() if value != getattr(twin.token, flag)]
            raise FormatError(
                f"{each.source} and {twin.source} contradict each other about the added token "
                f"{quote(token.content)} (id {token.token_id}): {', '.join(flags)}",
                hint="make them the same: ids of text depend on it",
            )
    if not new:
        return tokenizer
    ordered = sorted((*tokenizer.special_tokens, *new), key=lambda token: token.token_id)
    return replace(tokenizer, model=_without(tokenizer.model, new), special_tokens=tuple(ordered))


def _ordinary_twin(
    vocabulary: Vocabulary,
    unspelt: Mapping[int, bytes],
    id_of: Callable[[str], int | None],
    token: SpecialToken,
    source: str,
) -> Declared | None:
    """Return the ordinary token that has the id of another text, or the text under another id."""
    content = vocabulary.token(token.token_id) if token.token_id < vocabulary.size else b""
    content = content or unspelt.get(token.token_id, b"")
    if content not in (b"", token.content):
        return Declared(SpecialToken(content, token.token_id), source)
    other_id = id_of(token.content.decode())
    if other_id not in (None, token.token_id):
        return Declared(SpecialToken(token.content, other_id or 0), source)
    return None


def _without(model: Model, tokens: Iterable[SpecialToken]) -> Model:
    """Leave tokens out of the vocabulary that is matched, so that no text becomes one unasked.

    What merges make or use stays, as it does when a ``tokenizer.json`` lists such a token itself.
    """
    on_bytes = model.byte_level
    fall_back = model.byte_fallback
    hidden = {
        token.token_id
        for token in tokens
        if (token.special or on_bytes) and not (fall_back and BYTE_TEXT.fullmatch(token.content))
    }
    if isinstance(model, (MergeBpe, CharacterBpe)):
        hidden -= set(model.merges.triples)
    elif model.events is not None:
        hidden -= set(model.events)
    if on_bytes:
        hidden -= {token.token_id for token in tokens if len(token.content) == 1}
    if isinstance(model, MergeBpe) and model.texts:
        model = replace(model, texts=tuple((number, text) for number, text in model.texts if number not in hidden))
    vocabulary = model.vocabulary
    if not any(token_id < vocabulary.size and vocabulary.token(token_id) for token_id in hidden):
        return model
    if isinstance(model, (Unigram, ScoredBpe)):  # which have a score for every id
        kept = Vocabulary.from_tokens(
            b"" if token_id in hidden else vocabulary.token(token_id) for token_id in range(vocabulary.size)
        )
    else:
        ids = {token: token_id for token_id, token in vocabulary.items() if token_id not in hidden}
        kept = Vocabulary.from_ids(ids)
    return replace(model, vocabulary=kept)
