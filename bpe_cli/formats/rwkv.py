r"""Read and write RWKV's "world" vocabularies: ``id literal length`` lines, for longest match over bytes.

A literal is one of Python's, of text (``'ab'``) or of bytes that are no text (``b'\xff'``); the length is
that of its bytes. Ids begin at 1: 0 ends a text, and has no line. Literals are read by rules of our own:
what stands in a file is never evaluated.

The model takes the longest token at each place, over bytes. Here bytes are spelt as visible characters,
and the model works on those; a byte that no token begins with is an error.
"""

from __future__ import annotations

import re

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats.features import losses, other_model, refuse_losses
from bpe_cli.formats.read_file import number, reader_of, text_lines
from bpe_cli.stages import ByteLevelDecoder, ByteLevelNormalizer, MaxMatch, SpecialToken, Split
from bpe_cli.stages.component_json import core_spec
from bpe_cli.stages.spelling import from_visible, to_visible
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Origin, Usage

NAME = "rwkv"
FILES = ("rwkv_vocab*.txt",)
MODELS = frozenset({"max-match"})
HOLDS = frozenset({"ids", "normalizer", "decoder", "special-tokens", "roles"})
ROLES = {"eos": "<|endoftext|>"}
"""The role that a token can have, and its text."""

END_OF_TEXT = SpecialToken(ROLES["eos"].encode(), 0)
"""What id 0 is called where RWKV's models are used; the file has no name for it."""

_USAGE = Usage(roles=(("eos", 0),))
_STAGES = ((ByteLevelNormalizer(),), (ByteLevelDecoder(),))
_USUAL = re.compile(r"""([0-9]{1,10}) (['"])([^'"\\\x00-\x1f\x7f]+)\2 ([0-9]{1,10})""")
"""A line whose literal is of text, with nothing escaped and no quote in it: nearly all are."""
_LOOK = re.compile(rb"""[0-9]+ b?(['"]).*\1 [0-9]+\r?""", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([\\'\"nrt])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|)")
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t"}
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_ESCAPED = Split(r"[\p{C}\p{Z}]+", "Removed")
"""What Python's ``repr`` escapes, but for the space: by the core's Unicode tables, the same everywhere."""


def sniff(head: bytes) -> bool:
    """Return whether the first lines of a file look like an id, a literal in quotes and a length, right or wrong."""
    lines = head.split(b"\n")[:-1][:16]
    return bool(lines) and all(_LOOK.fullmatch(line) for line in lines)


def loads(data: bytes, source: str = "rwkv_vocab.txt") -> Tokenizer:
    r"""Read the text of a vocabulary.

    >>> loads(b"1 'a' 1\n2 'ab' 2\n3 'b' 1\n").encode("abba")
    [2, 3, 1]
    """
    ids: dict[bytes, int] = {}
    rows: dict[int, int] = {}
    for row, line in enumerate(text_lines(data, source), start=1):
        token_id, token = _usual_line(line) or _read_line(line, f"{source}:{row}")
        if token in ids:
            raise FormatError(f"the token {quote(token)} stands on line {rows[ids[token]]} already ({source}:{row})")
        if token_id in rows:
            raise FormatError(f"the id {token_id} stands on line {rows[token_id]} already ({source}:{row})")
        ids[token] = token_id
        rows[token_id] = row
    if not ids:
        raise FormatError(f"{source} has no tokens in it")
    return tokenizer_of(ids)


load = reader_of(loads, "is for longest match over whole texts")


def tokenizer_of(ids: dict[bytes, int]) -> Tokenizer:
    """Make a tokenizer of token -> id; id 0, if free, is the end of a text."""
    model = MaxMatch(Vocabulary.from_ids({to_visible(token).encode(): token_id for token, token_id in ids.items()}))
    normalizer, decoder = _STAGES
    free = not model.vocabulary.token(0)
    return Tokenizer(
        model,
        special_tokens=(END_OF_TEXT,) if free else (),
        normalizer=normalizer,
        decoder=decoder,
        usage=_USAGE if free else Usage(),
        origin=Origin(NAME, (("tokens", len(ids)), ("longest token, in bytes", max(map(len, ids), default=0)))),
    )


def _usual_line(line: str) -> tuple[int, bytes] | None:
    """Read a line as most of them are; None for another, and for a wrong one. Part by part, it takes twice as long."""
    found = _USUAL.fullmatch(line)
    if found is None:
        return None
    token_id, token = int(found[1]), found[3].encode()
    return (token_id, token) if token_id < _core.MAX_TOKENS and int(found[4]) == len(token) else None


def _read_line(line: str, where: str) -> tuple[int, bytes]:
    token_id, _, rest = line.partition(" ")
    literal, _, length = rest.rpartition(" ")
    if not literal:
        raise FormatError(f"not an id, a literal and a length with blanks between: {quote(line)} ({where})")
    value = number(token_id, _core.MAX_TOKENS, where)
    token = read_literal(literal, where)
    if number(length, 1 << 30, where) != len(token):
        raise FormatError(f"{quote(literal)} has {len(token)} bytes, not {length} ({where})")
    if not token:
        raise FormatError(f"the token is empty ({where})")
    return value, token


def read_literal(literal: str, where: str) -> bytes:
    r"""Read one of Python's literals, as its ``repr`` writes them; text gives its UTF-8.

    >>> read_literal("'a\\n'", ""), read_literal("b'\\xff'", "")
    (b'a\n', b'\xff')
    """
    of_bytes = literal.startswith("b")
    mark, body, end = literal[of_bytes : of_bytes + 1], literal[of_bytes + 1 : -1], literal[-1:]
    if mark not in ("'", '"') or end != mark or len(literal) < 2 + of_bytes:
        raise FormatError(f"not a literal in quotes: {quote(literal)} ({where})")
    if _CONTROL.search(body) or mark in _ESCAPE.sub("", body):
        raise FormatError(f"a quote or a control character within the literal {quote(literal)} ({where})")

    def unescape(match: re.Match[str]) -> str:
        simple, *numbers = match.groups()
        code = next(filter(None, numbers), "")
        if simple is None and (not code or (of_bytes and len(code) > 2) or int(code, 16) > 0x10FFFF):
            raise FormatError(f"an invalid escape in the literal {quote(literal)} ({where})")
        return _SIMPLE.get(simple, simple) if simple else chr(int(code, 16))

    text = _ESCAPE.sub(unescape, body) if "\\" in body else body
    try:
        if of_bytes and body.isascii():
            return text.encode("latin-1")
        if not of_bytes:
            return text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        pass
    raise FormatError(f"a character that cannot be in the literal {quote(literal)} ({where})")


def dump(tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """Write a vocabulary, by id."""
    model = tokenizer.model
    normalizer, decoder = _STAGES
    if not isinstance(model, MaxMatch):
        raise other_model(model, MODELS, "an RWKV vocabulary")
    if not set(normalizer) <= set(tokenizer.normalizer):
        raise FormatError(
            "an RWKV vocabulary is for longest match over bytes only", hint="tokenizer.json can hold the rest"
        )
    if model.unk_id is not None:
        raise FormatError("an RWKV vocabulary has no unknown token")
    tokens = {token_id: _bytes_of(token) for token_id, token in model.vocabulary.items()}
    lost = losses(tokenizer, HOLDS)
    if tokenizer.normalizer != normalizer:
        lost["normalizer"] = "the normalizer"
    if tokenizer.decoder != decoder:
        lost["decoder"] = "the decoder"
    if tokenizer.special_tokens != (() if 0 in tokens else (END_OF_TEXT,)):
        lost["special-tokens"] = f"special tokens other than {quote(END_OF_TEXT.content)} with id 0"
    literals = write_literals(list(tokens.values()))
    refuse_losses(lost, allow_loss, "an RWKV vocabulary")
    lines = (
        f"{token_id} {literal} {len(token)}\n"
        for (token_id, token), literal in zip(tokens.items(), literals, strict=True)
    )
    return {"": "".join(lines).encode()}


def _bytes_of(token: bytes) -> bytes:
    content = from_visible(token.decode("utf-8", "replace"))
    if content is None:
        raise FormatError(f"the token {quote(token)} is not spelt in the visible alphabet of bytes")
    return content


def write_literals(tokens: list[bytes]) -> list[str]:
    r"""Write tokens as Python's ``repr`` writes them: as text where they are UTF-8, else as bytes.

    >>> write_literals([b"it's\n", "é\u200b".encode(), b"\xff"])
    ['"it\'s\\n"', "'é\\u200b'", "b'\\xff'"]
    """
    texts = [_text_of(token) for token in tokens]
    escapes = _escapes_of({character for text in texts if text is not None for character in text})
    literals = []
    for token, text in zip(tokens, texts, strict=True):
        if text is None:
            literals.append(repr(token))
            continue
        mark = '"' if "'" in text and '"' not in text else "'"
        body = text.translate(escapes)
        literals.append(mark + (body.replace("'", "\\'") if mark == "'" else body) + mark)
    return literals


def _text_of(token: bytes) -> str | None:
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None


def _escapes_of(characters: set[str]) -> dict[int, str]:
    """Return how each of some characters is written that is not written as itself."""
    every = "".join(sorted(characters))
    stages = _core.Stages(core_spec((), (_ESCAPED,)))
    written, starts, ends, *_ = stages.pre_tokenize(every.encode())
    kept = {character for start, end in zip(memoryview(starts), memoryview(ends), strict=True)
            for character in bytes(written[start:end]).decode()}  # fmt: skip
    escapes = {ord("\\"): "\\\\", ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}
    for character in characters - kept - {" "}:
        code = ord(character)
        escape = f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
        escapes.setdefault(code, escape)
    return escapes
