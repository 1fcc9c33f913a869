"""Read and write ``.tiktoken`` files: ``base64(token) SP rank LF``, and nothing else.

The file names neither the split pattern nor the special tokens. They are known for the files that OpenAI
has published, which are recognised by their sha256, and for Qwen's; of Llama 3's ``tokenizer.model`` the
pattern (``named_encodings.KNOWN_FILES``). For any other file, such as Kimi's, the pattern must be given.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import replace
from pathlib import Path

from bpe_cli import _core
from bpe_cli.errors import FormatError, NoPatternError
from bpe_cli.formats.byte_level import plain
from bpe_cli.formats.features import losses, other_model, refuse_losses
from bpe_cli.formats.read_file import read
from bpe_cli.stages import MergeBpe, RankBpe, Split
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer, named_encodings
from bpe_cli.tokenizer.merging import why_no_ranks
from bpe_cli.tokenizer.usage import Origin

NAME = "tiktoken"
FILES = ("*.tiktoken",)
MODELS = frozenset({"bpe-ranks", "bpe-merges"})
HOLDS = frozenset({"ids"})

_LINE = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)? [0-9]+\r?")


def sniff(head: bytes) -> bool:
    """Return whether the first lines of a file are base64 and a number each."""
    lines = [line for line in head.split(b"\n")[:16] if line]
    if len(lines) > 1 and not head.endswith(b"\n") and len(head.split(b"\n")) <= 16:
        lines.pop()  # perhaps cut
    return bool(lines) and all(_LINE.fullmatch(line) for line in lines)


def load(path: Path, pattern: str | None = None) -> Tokenizer:
    """Read a ``.tiktoken`` file."""
    return loads(read(path), str(path), pattern)


def loads(data: bytes, source: str = ".tiktoken", pattern: str | None = None) -> Tokenizer:
    """Read the text of a ``.tiktoken`` file; ``pattern`` is an expression."""
    sha256 = hashlib.sha256(data).hexdigest()
    published = named_encodings.of_ranks(sha256)
    if not published:
        vocabulary = _read_ranks(data, source)
        if pattern is None:
            raise NoPatternError(
                f"{source} holds ranks only: it does not say how text is split before merging",
                hint=f"give its pattern, with --pattern: {', '.join(PATTERNS)}, or an expression",
            )
        origin = Origin(NAME, (("sha256", sha256),))
        return Tokenizer(RankBpe(vocabulary), (Split(pattern),) if pattern else (), origin=origin)
    # The same bytes: the table that is laid into the core saves the parsing.
    embedded = sha256 in _core.embedded_tables()
    vocabulary = Vocabulary.from_embedded(sha256) if embedded else _read_ranks(data, source)
    known = next(iter(published.values()))
    expression = PATTERNS[known.pattern].regex if pattern is None else pattern
    return Tokenizer(
        RankBpe(vocabulary),
        (Split(expression),) if expression else (),
        known.tokens(),
        normalizer=known.normalizer,
        origin=Origin(NAME, (("sha256", sha256), ("published as", ", ".join(published)))),
    )


def _read_tidy_ranks(data: bytes) -> Vocabulary | None:
    """Read ranks if writing them again gives the very same bytes, as nearly always; else others have messages."""
    words = data.split()
    try:
        tokens = list(map(binascii.a2b_base64, words[::2]))
        ids = list(map(int, words[1::2]))
    except ValueError:
        return None
    if len(tokens) != len(ids) or b"".join(map(_line, tokens, ids)) != data:
        return None
    different = len(set(tokens)) == len(set(ids)) == len(tokens) > 0
    if not different or b"" in tokens or not 0 <= min(ids) <= max(ids) < _core.MAX_TOKENS:
        return None
    return Vocabulary.from_ids(dict(zip(tokens, ids, strict=True)))


def _line(token: bytes, rank: int) -> bytes:
    return b"%b %d\n" % (binascii.b2a_base64(token, newline=False), rank)


def _read_ranks(data: bytes, source: str) -> Vocabulary:
    tidy = _read_tidy_ranks(data)
    return _read_ranks_with_care(data, source) if tidy is None else tidy


def _read_ranks_with_care(data: bytes, source: str) -> Vocabulary:
    ranks: dict[bytes, int] = {}
    lines: dict[int, int] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line:
            continue
        encoded, _, rank = line.partition(b" ")
        if _LINE.fullmatch(line) is None or line.endswith(b"\r"):
            hint = "the file has the line ends of Windows; convert them to LF" if line.endswith(b"\r") else None
            raise FormatError(f"not base64, a space and a rank: {quote(line)} ({source}:{number})", hint=hint)
        token = base64.b64decode(encoded)
        if base64.b64encode(token) != encoded:
            raise FormatError(f"the base64 {quote(encoded)} has stray bits at its end ({source}:{number})")
        if not token:
            raise FormatError(f"the token is empty ({source}:{number})")
        if len(rank) > 10 or int(rank) >= _core.MAX_TOKENS:
            raise FormatError(f"the rank {quote(rank)} is over {_core.MAX_TOKENS - 1:,} ({source}:{number})")
        value = int(rank)
        if token in ranks:
            first = lines[ranks[token]]
            raise FormatError(f"the token {quote(encoded)} stands on line {first} already ({source}:{number})")
        if value in lines:
            raise FormatError(f"the rank {value} stands on line {lines[value]} already ({source}:{number})")
        ranks[token] = value
        lines[value] = number
    if not ranks:
        raise FormatError(f"{source} has no ranks in it")
    return Vocabulary.from_ids(ranks)


def dump(tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """Write a tokenizer's ranks."""
    model = tokenizer.model
    if not isinstance(model, (RankBpe, MergeBpe)):
        raise other_model(model, MODELS, "a .tiktoken file")
    content = b"".join(_line(token, token_id) for token_id, token in model.vocabulary.items())
    known = next(iter(named_encodings.of_ranks(hashlib.sha256(content).hexdigest()).values()), None)
    is_known = known is not None and tokenizer.normalizer == known.normalizer
    patterns = plain(replace(tokenizer, normalizer=()) if is_known else tokenizer, "a .tiktoken file").patterns
    if isinstance(model, MergeBpe):
        reason = why_no_ranks(model)
        if reason is not None:
            raise FormatError(
                f"a .tiktoken file holds ranks, which cannot do what these merges do: {reason}",
                hint="keep it as tokenizer.json",
            )
    lost = losses(tokenizer, HOLDS)
    if is_known:
        lost.pop("normalizer", None)
    elif known is not None and known.normalizer:
        other = "another normalizer than the file's hash stands for"
        lost["normalizer"] = other if tokenizer.normalizer else "that text is not normalized (it would be)"
    if known is None or patterns != (PATTERNS[known.pattern].regex,):
        lost["pattern"] = "the split pattern"
    else:
        lost.pop("pattern", None)
    if known is not None and tokenizer.special_tokens == known.tokens():
        lost.pop("special-tokens", None)
    elif known is not None and not tokenizer.special_tokens:
        lost["special-tokens"] = "that there are no special tokens (it would get some)"
    refuse_losses(lost, allow_loss, "a .tiktoken file")
    return {"": content}
