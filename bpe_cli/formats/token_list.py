"""Read lists of tokens that are to be added: a line each, or a JSON array of added tokens.

A line is a token as it stands, white space and all; empty lines are passed over. An array has texts, and
objects as ``tokenizer.json`` has them among its ``added_tokens``, without ids::

    ["tok", {"content": "<|user|>", "special": true, "lstrip": false}]
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bpe_cli.errors import FormatError
from bpe_cli.formats.byte_level import TOKEN_FIELDS, read_added_token
from bpe_cli.formats.checked import Node, read
from bpe_cli.stages import SpecialToken


def load(path: Path) -> list[SpecialToken]:
    """Read a list of tokens; their ids are 0 and mean nothing.

    Raises:
        InputError: The file cannot be read.
        FormatError: It is malformed, not UTF-8, or has no token.
    """
    return loads(read(path), str(path))


def loads(data: bytes, source: str) -> list[SpecialToken]:
    """Read the content of such a file; as ``load``.

    A text is added as Hugging Face's ``add_tokens`` does it: not special, and looked for in normalized text.

    >>> [token.content for token in loads(b"low\\n\\nnew est\\n", "list")]
    [b'low', b'new est']
    """
    if data.lstrip()[:1] == b"[" and data.rstrip()[-1:] == b"]":
        tokens = [_token(node) for node in Node.parse(data, source).items()]
    else:
        tokens = []
        for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
            content = line.removesuffix(b"\r")
            try:
                content.decode()
            except UnicodeDecodeError:
                raise FormatError(f"{source}:{number}: the token is not UTF-8") from None
            if content:
                tokens.append(SpecialToken(content, 0, special=False, normalized=True))
    if not tokens:
        raise FormatError(f"{source} has no tokens", hint="a token a line, or a JSON array")
    return tokens


def _token(node: Node) -> SpecialToken:
    if isinstance(node.value, str):
        if not node.value:
            raise node.error("is empty")
        return SpecialToken(node.value.encode(), 0, special=False, normalized=True)
    if not node.get("id").is_null:
        raise node.get("id").error(
            "gives the token an id", hint="new tokens get the ids after all others; --add-special TEXT=ID gives one"
        )
    node.only(*TOKEN_FIELDS, "__type")
    token = read_added_token(node, 0)
    if node.get("normalized").is_null and not token.special:
        return replace(token, normalized=True)
    return token
