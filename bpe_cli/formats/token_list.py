"""Read lists of tokens that are to be added: a line each, or JSON.

A line is a token as it stands, white space and all; empty lines are passed over. An array has texts, and
objects as ``tokenizer.json`` has them among its ``added_tokens``, without ids::

    ["tok", {"content": "<|user|>", "special": true, "lstrip": false}]

An object is Hugging Face's ``added_tokens.json``: texts with the ids that they are to get.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from bpe_cli.errors import FormatError
from bpe_cli.formats.byte_level import TOKEN_FIELDS, read_added_token
from bpe_cli.formats.read_file import Node
from bpe_cli.stages import SpecialToken
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer

_ARRAY = re.compile(rb"\s*\[.*\]\s*", re.DOTALL)
_OBJECT = re.compile(rb"\s*\{\s*\"[^\n]*\".*\}\s*", re.DOTALL)


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
        """Make sure that the tokens have the ids which the file says, now that they are added.

        Raises:
            FormatError: if a token has another id.
        """
        special = {token.content: token.token_id for token in tokenizer.special_tokens}
        for content, stated in self.ids.items():
            token_id = special.get(content)
            if token_id is None:
                token_id = tokenizer.model.vocabulary.id_of(content)
            if token_id != stated:
                raise FormatError(
                    f"{self.source} gives the token {quote(content)} the id {stated}, and it would get {token_id}",
                    hint="new tokens get the ids after all others; --add-special TEXT=ID gives one",
                )


def loads(data: bytes, source: str) -> TokenList:
    """Read the content of such a file.

    A text is added as Hugging Face's ``add_tokens`` does it: not special, and looked for in normalized text.

    >>> [token.content for token in loads(b"low\\n\\nnew est\\n", "list").tokens]
    [b'low', b'new est']
    >>> loads(b'{"new": 301, "low": 300}', "added_tokens.json").ids
    {b'low': 300, b'new': 301}

    Raises:
        FormatError: if it is malformed, not UTF-8, or has no token.
    """
    ids: dict[bytes, int] = {}
    if _ARRAY.fullmatch(data):
        tokens = [_token(node) for node in Node.parse(data, source).items()]
    elif _OBJECT.fullmatch(data):
        ids = _ids(Node.parse(data, source))
        tokens = [_plain(content) for content in ids]
    else:
        tokens = []
        for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
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
            "gives the token an id", hint="new tokens get the ids after all others; --add-special TEXT=ID gives one"
        )
    node.only(*TOKEN_FIELDS, "__type")
    token = read_added_token(node, 0)
    if node.get("normalized").is_null and not token.special:
        return replace(token, normalized=True)
    return token
