"""Read and write minbpe's ``.model``: byte-level BPE whose merges are lines of two ids.

``minbpe v1``, the split pattern (an empty line: none, as of its ``BasicTokenizer``), the number of
special tokens, ``token id`` of each, then ``left right`` of each merge. Ids 0 to 255 are the bytes; the
merges make 256 and so on. minbpe reads line by line and strips each, so a pattern cannot begin or end
with whitespace, and a special token has none.

Where a pattern leaves out part of a text, minbpe drops that part; here it is a piece of its own.
"""

from __future__ import annotations

import unicodedata

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats.added_tokens import special_text
from bpe_cli.formats.byte_level import plain, ranks_as_merges
from bpe_cli.formats.features import losses, other_model, refuse_losses
from bpe_cli.formats.read_file import MergesById, number, reader_of, split_of, text_lines
from bpe_cli.stages import MergeBpe, RankBpe, SpecialToken
from bpe_cli.stages.vocabulary import Merges
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.merging import why_no_ranks
from bpe_cli.tokenizer.usage import Origin

NAME = "minbpe"
FILES = ("*.model",)
HOLDER = "minbpe's .model"
MODELS = frozenset({"bpe-ranks", "bpe-merges"})
HOLDS = frozenset({"ids", "pattern", "special-tokens"})

HEADER = "minbpe v1"

_BYTES = {byte: bytes([byte]) for byte in range(256)}


def sniff(head: bytes) -> bool:
    """Return whether a file begins with minbpe's header."""
    return head.partition(b"\n")[0].strip() == HEADER.encode()


def loads(data: bytes, source: str = ".model") -> Tokenizer:
    r"""Read the text of a ``.model``.

    >>> loads(b"minbpe v1\n\n0\n97 98\n256 99\n").encode("abcab")
    [257, 256]
    """
    lines = text_lines(data, source)
    if not lines or lines[0].strip() != HEADER:
        raise FormatError(f"the first line is not {HEADER!r} ({source}:1)")
    if len(lines) < 3:
        raise FormatError(f"{source} ends before the number of special tokens", hint="the file is cut short")
    pattern = lines[1].strip()
    special_count = number(lines[2].strip(), _core.MAX_TOKENS, f"{source}:3")
    if special_count > len(lines) - 3:
        raise FormatError(
            f"{special_count:,} special tokens are announced, and {len(lines) - 3:,} lines follow ({source}:3)",
            hint="the file is cut short",
        )
    merges = MergesById(_BYTES, source)
    body = 3 + special_count
    for product, line in enumerate(lines[body:], start=256):
        where = f"{source}:{product - 256 + body + 1}"
        ids = line.split()
        if len(ids) != 2:
            raise FormatError(f"not two ids with a blank between: {quote(line)} ({where})")
        if product >= _core.MAX_TOKENS:
            raise FormatError(f"there are more than {_core.MAX_TOKENS - 256:,} merges ({where})")
        merges.add(number(ids[0], _core.MAX_TOKENS, where), number(ids[1], _core.MAX_TOKENS, where), product, where)
    vocabulary, table = merges.result()
    special_tokens = _read_special_tokens(lines[3:body], vocabulary.size, source)
    return Tokenizer(
        MergeBpe(vocabulary, table),
        (split_of(pattern, f"{source}:2"),) if pattern else (),
        special_tokens,
        origin=Origin(NAME, (("version", HEADER), ("pattern", pattern), ("special tokens", special_count))),
    )


load = reader_of(loads, "says itself how text is split")


def _read_special_tokens(lines: list[str], free: int, source: str) -> tuple[SpecialToken, ...]:
    """Read ``token id`` lines; ids below ``free`` are taken."""
    by_id: dict[int, SpecialToken] = {}
    contents: dict[str, int] = {}
    for row, line in enumerate(lines, start=4):
        where = f"{source}:{row}"
        parts = line.split()
        if len(parts) != 2:
            raise FormatError(f"not a special token and its id: {quote(line)} ({where})")
        token_id = number(parts[1], 1 << 32, where)
        if token_id < free:
            raise FormatError(f"the special token {quote(parts[0])} has id {token_id}, which a token has ({where})")
        if token_id in by_id or parts[0] in contents:
            raise FormatError(f"the special token {quote(parts[0])}, or its id {token_id}, appears twice ({where})")
        contents[parts[0]] = token_id
        by_id[token_id] = SpecialToken(parts[0].encode(), token_id)
    return tuple(by_id[token_id] for token_id in sorted(by_id))


def dump(tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """Write a tokenizer as a ``.model``."""
    merges = _merges_of(tokenizer)
    lost = losses(tokenizer, HOLDS)
    pattern = ""
    patterns = plain(tokenizer, HOLDER).patterns
    if len(patterns) > 1:
        lost["pattern"] = "more than one split pattern"
    elif patterns:
        pattern = patterns[0]
        if not pattern.strip():
            lost["pattern"] = f"the split pattern {quote(pattern)}"
        elif pattern != pattern.strip() or "\n" in pattern or "\r" in pattern:
            lost["pattern"] = "a split pattern that has line ends, or whitespace at an end"
    tokens = () if "special-tokens" in lost else tokenizer.special_tokens
    lines = [HEADER, "" if "pattern" in lost else pattern, str(len(tokens))]
    for token in sorted(tokens, key=lambda token: token.token_id):
        text = special_text(token)
        if text.split() != [text]:
            raise FormatError(f"minbpe's .model cannot hold a special token with whitespace in it: {quote(text)}")
        if token.token_id < tokenizer.model.vocabulary.size:
            raise FormatError(f"the special token {quote(text)} has id {token.token_id}, which a token has")
        lines.append(f"{text} {token.token_id}")
    lines += [f"{left} {right}" for left, right, _ in merges]
    refuse_losses(lost, allow_loss, HOLDER)
    return {"": "".join(line + "\n" for line in lines).encode()}


def _merges_of(tokenizer: Tokenizer) -> Merges:
    """Return the merges, if their ids are those that their places give them."""
    model = tokenizer.model
    if not isinstance(model, (RankBpe, MergeBpe)):
        raise other_model(model, MODELS, HOLDER)
    if isinstance(model, RankBpe):
        merges = ranks_as_merges(model, HOLDER)
    else:
        reason = why_no_ranks(model) if model.ignore_merges else None
        if reason is not None:
            raise FormatError(
                f"minbpe's .model cannot say that a whole piece may be a token before merging: {reason}",
                hint="write tokenizer.json, which holds everything",
            )
        merges = model.merges
    vocabulary = model.vocabulary
    hint = 'tokenizer.json holds any ids; `compat="minbpe"` trains such as minbpe gives'
    for byte in range(256):
        if byte >= vocabulary.size or vocabulary.token(byte) != bytes([byte]):
            raise FormatError(f"minbpe's ids 0 to 255 are the bytes in order, and here id {byte} is another", hint=hint)
    for product, (left, right, made) in enumerate(merges, start=256):
        if made != product or max(left, right) >= product:
            raise FormatError(
                f"minbpe's merge {product - 255} makes id {product} of lower ones, "
                f"and here {made} of {left} and {right}",
                hint=hint,
            )
        if vocabulary.token(left) + vocabulary.token(right) != vocabulary.token(made):
            raise FormatError(f"merge {product - 255} makes other bytes than its parts have")
    if vocabulary.size != 256 + len(merges):
        raise FormatError(
            f"id {256 + len(merges)} is made by no merge, and minbpe's .model holds only merges", hint=hint
        )
    return merges


def dump_vocab(tokenizer: Tokenizer) -> bytes:
    r"""Write the ``.vocab`` that minbpe puts beside its ``.model`` for the eye; nothing reads it.

    Control and unassigned characters are escaped as Python's Unicode tables have them.

    >>> dump_vocab(loads(b"minbpe v1\n\n0\n97 10\n")).splitlines()[-1]
    b'[a][\\u000a] -> [a\\u000a] 256'
    """
    parts = {product: (left, right) for left, right, product in _merges_of(tokenizer)}
    shown = {token_id: _shown(token) for token_id, token in tokenizer.model.vocabulary.items()}
    lines = []
    for token_id, text in shown.items():
        made_of = parts.get(token_id)
        prefix = f"[{shown[made_of[0]]}][{shown[made_of[1]]}] -> " if made_of else ""
        lines.append(f"{prefix}[{text}] {token_id}\n")
    return "".join(lines).encode()


def _shown(token: bytes) -> str:
    """Show a token: what is not UTF-8 as U+FFFD, categories C as escapes."""
    return "".join(
        f"\\u{ord(character):04x}" if unicodedata.category(character).startswith("C") else character
        for character in token.decode("utf-8", "replace")
    )
