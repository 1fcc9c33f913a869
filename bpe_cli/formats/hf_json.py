"""Read and write Hugging Face's ``tokenizer.json`` (tokenizers 0.23) for byte-level BPE.

What is written is, byte for byte, what Hugging Face's own ``Tokenizer.save`` writes for the same
tokenizer, plus ``model.unicode_version`` where it is known (its reader passes over that key). Fields
that this version cannot carry out are refused by name, never dropped. WordPiece, Unigram,
SentencePiece-style BPE and normalizers are not read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import orjson

from bpe_cli.errors import FormatError, UsageError
from bpe_cli.formats import byte_level
from bpe_cli.formats.checked import Node, quote, read
from bpe_cli.patterns import PATTERNS, scanner_for
from bpe_cli.splitting import compile_splitter
from bpe_cli.stages import MergeBpe, PrefixSpace, PreTokenizer, SpecialToken, Split
from bpe_cli.tokenizer import Tokenizer

NAME = "tokenizer.json"
LOSSES: frozenset[str] = frozenset()  # it holds everything

_STAGES = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "model")
_TOP = ("version", "truncation", "padding", "added_tokens", *_STAGES)
_UNSUPPORTED = {
    "dropout": (None, 0, 0.0),
    "unk_token": (None,),
    "continuing_subword_prefix": (None, ""),
    "end_of_word_suffix": (None, ""),
    "fuse_unk": (None, False),
    "byte_fallback": (None, False),
}
"""Fields of the model that change what it does, with the values that don't."""

_GPT2 = PATTERNS["gpt2"].regex

# Hugging Face runs patterns with Oniguruma in Ruby's syntax, where `{1,3}+` repeats instead of being
# possessive. As the last thing of an alternative, a possessive count and a plain one match alike.
_SPELLINGS = {PATTERNS["cl100k"].regex: PATTERNS["cl100k"].regex.replace(r"\p{N}{1,3}+", r"\p{N}{1,3}")}
_UNSPELLINGS = {spelling: pattern for pattern, spelling in _SPELLINGS.items()}

# What the two engines read differently. The first group is about places outside character classes.
_RUBY = "in Hugging Face's engine"
_READ_DIFFERENTLY = {
    "}+": f"is possessive in `regex` and a repetition {_RUBY}; write (?>...) around it instead",
    "}?": f"is reluctant in `regex` and optional {_RUBY}",
    "^": f"is the start of the text in `regex` and of every line {_RUBY}",
    "$": f"is the end of the text in `regex` and of every line {_RUBY}",
    "(?m": f"is about anchors in `regex` and about the dot {_RUBY}",
    "\\Z": f"is the end of the text in `regex`, and also a place before a last line feed {_RUBY}",
    "\\h": f"is a blank in `regex` and a hexadecimal digit {_RUBY}",
}
_IN_CLASS = {
    "&&": f"is two characters in `regex` and an intersection {_RUBY}",
    "[": f"is a character in `regex` and begins a class {_RUBY}",
    "\\h": _READ_DIFFERENTLY["\\h"],
}
_PARTS = re.compile(r"\\[a-zA-Z]\{[^}]*\}|\\.|\(\?[a-z]*m|\{\d+\}\?|\}\+|&&|\[:\^?[a-z]+:\]|.", re.DOTALL)


# -- reading -----------------------------------------------------------------------------------


def sniff(head: bytes) -> bool:
    """Tell whether a file begins like a ``tokenizer.json``."""
    return bool(re.match(rb"\s*\{", head)) and any(
        f'"{key}"'.encode() in head for key in ("added_tokens", "pre_tokenizer", "truncation", "model")
    )


def load(path: Path, pattern: str | None = None) -> Tokenizer:
    """Read a ``tokenizer.json``.

    Raises:
        InputError: The file cannot be read.
        FormatError: It is broken, or asks for what this version cannot do.
        UsageError: A pattern is given; the file has its own.
    """
    if pattern is not None:
        raise UsageError(f"{path} says itself how text is split; no pattern can be given with it")
    return loads(read(path), str(path))


def loads(data: bytes, source: str = NAME) -> Tokenizer:
    """Read the text of a ``tokenizer.json``.

    Raises:
        FormatError: As for ``load``.
    """
    root = Node.parse(data, source)
    root.only(*_TOP)
    if root.get("version").value not in (None, "1.0"):
        raise root.get("version").error('is to be "1.0"', hint="no other version is known")
    model_node = root.get("model")
    kind = model_node.get("type").value
    if kind not in (None, "BPE") or (kind is None and "merges" not in model_node.members()):
        shown = quote(kind) if isinstance(kind, str) else "without type and merges"
        raise FormatError(f"{source}: model {shown} cannot be read yet", hint='this version reads models of type "BPE"')
    for field in ("truncation", "padding"):
        if not root.get(field).is_null:
            raise root.get(field).error("cannot be carried over", hint=f'set "{field}" to null in the file')
    _refuse_normalizer(root.get("normalizer"))
    _refuse_decoder(root.get("decoder"))
    model_node.only("type", *_UNSUPPORTED, "ignore_merges", "unicode_version", "vocab", "merges")
    for field, harmless in _UNSUPPORTED.items():
        node = model_node.get(field)
        if not any(type(node.value) is type(value) and node.value == value for value in harmless):
            hint = "null is the same if all 256 bytes are in the vocabulary" if field == "unk_token" else None
            raise node.error(f"is {str(node.value)[:40]!r}, which this version cannot do", hint=hint)
    stages = _read_pre_tokenizer(root.get("pre_tokenizer"))
    ids = byte_level.read_ids(model_node.get("vocab"))
    added = root.get("added_tokens")
    special_tokens = byte_level.read_special_tokens(
        ids, [] if added.is_null else [_read_added_token(node) for node in added.items()], source
    )
    _refuse_two_passes(added)
    ignore_merges = model_node.get("ignore_merges").boolean(default=False)
    model = byte_level.read_model(
        ids, _read_merges(model_node.get("merges")), special_tokens, source, ignore_merges=ignore_merges
    )
    version = model_node.get("unicode_version")
    return Tokenizer(
        model,
        stages,
        special_tokens,
        unicode_version=None if version.is_null else version.text(),
        post_processor=_read_post_processor(root.get("post_processor")),
    )


def _read_added_token(node: Node) -> SpecialToken:
    return byte_level.read_added_token(node, node.get("id").integer(below=byte_level.MAX_ID))


def _refuse_two_passes(added: Node) -> None:
    """Refuse added tokens that can overlap and that Hugging Face looks for one kind after the other."""
    kinds: tuple[set[str], set[str]] = set(), set()
    for node in () if added.is_null else added.items():
        kinds[node.get("normalized").boolean(default=False)].add(node.get("content").text())
    clash = byte_level.overlapping(*kinds)
    if clash:
        raise added.error(
            f"has {quote(clash[0])} and {quote(clash[1])}, which can overlap, and only one of them is normalized: "
            "Hugging Face would look for one first",
            hint='without a normalizer, "normalized": false for both lets the leftmost count',
        )


def _read_merges(node: Node) -> Iterator[tuple[str, str]]:
    """Yield merges in both layouts: ``"a b"`` and ``["a", "b"]``."""
    for number, merge in enumerate(node.elements(), start=1):
        if isinstance(merge, str):
            left, _, right = merge.partition(" ")
            if not left or not right or " " in right:
                raise node.error(f"has merge {number}, {quote(merge)}: that is not two tokens and one space between")
            yield left, right
        elif isinstance(merge, list) and len(merge) == 2 and isinstance(merge[0], str) and isinstance(merge[1], str):
            yield merge[0], merge[1]
        else:
            raise node.error(f'has merge {number} in another form than "a b" or ["a", "b"]')


def _refuse_normalizer(node: Node) -> None:
    if node.is_null:
        return
    kind = node.get("type").text()
    if kind == "Sequence" and node.get("normalizers").elements() == []:
        return
    if kind == "Sequence":
        kind = ", ".join(str(item.get("type").value)[:40] for item in node.get("normalizers").items())
    raise FormatError(f"{node.source}: cannot run the normalizer {quote(kind)} yet")


def _refuse_decoder(node: Node) -> None:
    if not node.is_null and node.get("type").text() != "ByteLevel":
        raise FormatError(
            f"{node.source}: the decoder {quote(node.get('type').text())} does not belong to a byte-level model",
            hint="this version reads byte-level BPE, whose decoder is ByteLevel",
        )


def _read_pre_tokenizer(node: Node) -> tuple[PreTokenizer, ...]:
    """Read ``ByteLevel``, or a ``Sequence`` of splits that ends with it."""
    nodes = [] if node.is_null else [node]
    while any(stage.get("type").value == "Sequence" for stage in nodes):
        nodes = [
            inner
            for stage in nodes
            for inner in (
                stage.get("pretokenizers").items() if stage.get("type").value == "Sequence" else iter((stage,))
            )
        ]
    for stage in nodes:
        kind = stage.get("type").text()
        if kind not in ("Split", "ByteLevel"):
            raise FormatError(f"{stage.where}: cannot run the pre-tokenizer {quote(kind)} yet")
    if not nodes or any((stage.get("type").value == "ByteLevel") != (stage is nodes[-1]) for stage in nodes):
        raise node.error(
            "does not have ByteLevel as its last part, and only there, as a byte-level tokenizer has",
            hint="this version reads byte-level BPE only",
        )
    stages: list[PreTokenizer] = [Split(_read_split(stage)) for stage in nodes[:-1]]
    last = nodes[-1]
    last.only("type", "add_prefix_space", "trim_offsets", "use_regex")
    last.get("trim_offsets").boolean(default=True)  # only about offsets, which are exact here
    if last.get("add_prefix_space").boolean(default=True):
        if stages:
            raise last.error(
                "has add_prefix_space after a Split, which puts a space before every piece",
                hint="this version can put one before the text only: a ByteLevel that stands alone",
            )
        stages.append(PrefixSpace())
    if last.get("use_regex").boolean(default=True):
        stages.append(Split(_GPT2))
    return tuple(stages)


def _read_split(node: Node) -> str:
    """Give a ``Split`` as an expression of the ``regex`` module that cuts the same pieces."""
    node.only("type", "pattern", "behavior", "invert")
    if node.get("behavior").text() != "Isolated" or node.get("invert").boolean(default=False):
        raise node.error("is a Split with another behavior than Isolated, which this version cannot run")
    pattern = node.get("pattern")
    pattern.only("String", "Regex")
    if len(pattern.members()) != 1:
        raise pattern.error('is to have one of "String" and "Regex"')
    if not pattern.get("String").is_null:
        text = pattern.get("String").text()
        if not text:
            raise pattern.get("String").error("is empty")
        return re.escape(text)
    written = pattern.get("Regex").text()
    regex = _UNSPELLINGS.get(written, written)
    problem = _read_differently(written) if regex == written else None
    if problem:
        raise pattern.get("Regex").error(f"has {problem}")
    try:
        compile_splitter((regex,))
    except UsageError as error:
        raise FormatError(f"{pattern.where}: {error.message}", hint=error.hint) from None
    return regex


def _read_post_processor(node: Node) -> str | None:
    """Keep the post-processor as JSON text."""
    if node.is_null:
        return None
    node.get("type").text()
    try:
        orjson.dumps([[node.value]])  # as deep as it will stand in a file
        return orjson.dumps(node.value).decode()
    except orjson.JSONEncodeError:
        raise node.error("is nested too deep") from None


def _read_differently(regex: str) -> str | None:
    """Find what `regex` and Hugging Face's engine would read differently, and say why."""
    if scanner_for(regex) is not None and regex not in _SPELLINGS:
        return None  # known patterns have been compared
    in_class = False
    for part in _PARTS.findall(regex):
        if in_class:
            if part in _IN_CLASS:
                return f"{part} in a character class, which {_IN_CLASS[part]}"
            in_class = part != "]"
        elif part == "[":
            in_class = True
        else:
            key = "(?m" if part.startswith("(?") else part[-2:] if part.endswith("}?") else part
            if key in _READ_DIFFERENTLY:
                return f"{part} in the pattern, which {_READ_DIFFERENTLY[key]}"
    return None


# -- writing -----------------------------------------------------------------------------------


def dump(
    tokenizer: Tokenizer,
    allow_loss: frozenset[str] = frozenset(),  # noqa: ARG001  # it loses nothing
) -> dict[str, bytes]:
    """Write a tokenizer as Hugging Face's library would.

    Returns:
        The content of the output path itself (the key ``""``).

    Raises:
        FormatError: The tokenizer has what the file cannot say.
    """
    merges = byte_level.write_merges(tokenizer, "tokenizer.json")
    model: dict[str, object] = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": isinstance(tokenizer.model, MergeBpe) and tokenizer.model.ignore_merges,
    }
    if tokenizer.unicode_version is not None:
        model["unicode_version"] = tokenizer.unicode_version
    model["vocab"] = byte_level.write_vocabulary(tokenizer)
    model["merges"] = merges
    kinds: tuple[set[str], set[str]] = set(), set()
    for token in tokenizer.special_tokens:
        kinds[token.special].add(byte_level.special_text(token))
    # Hugging Face looks for the normalized ones last; where that matters, all are to be of one kind.
    one_pass = byte_level.overlapping(*kinds) is not None
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": token.token_id,
                "content": byte_level.special_text(token),
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": not token.special and not one_pass,
                "special": token.special,
            }
            for token in sorted(tokenizer.special_tokens, key=lambda token: token.token_id)
        ],
        "normalizer": None,
        "pre_tokenizer": _write_pre_tokenizer(tokenizer),
        "post_processor": None if tokenizer.post_processor is None else orjson.loads(tokenizer.post_processor),
        "decoder": _byte_level(prefix_space=True, use_regex=True),
        "model": model,
    }
    try:
        return {"": orjson.dumps(content, option=orjson.OPT_INDENT_2)}
    except orjson.JSONEncodeError as error:  # a lone surrogate in a pattern
        raise FormatError(f"the tokenizer cannot be written as JSON: {error}") from error


def _byte_level(*, prefix_space: bool, use_regex: bool) -> dict[str, object]:
    return {"type": "ByteLevel", "add_prefix_space": prefix_space, "trim_offsets": True, "use_regex": use_regex}


def _write_pre_tokenizer(tokenizer: Tokenizer) -> dict[str, object]:
    patterns = tokenizer.patterns
    if patterns in ((), (_GPT2,)):
        return _byte_level(prefix_space=tokenizer.prefix_space, use_regex=bool(patterns))
    if tokenizer.prefix_space:
        raise FormatError(
            "tokenizer.json cannot say that a space is put before the text with this split pattern",
            hint="it can with the gpt2 pattern, or with none",
        )
    splits = []
    for pattern in patterns:
        spelling = _SPELLINGS.get(pattern, pattern)
        problem = _read_differently(spelling) if spelling == pattern else None
        if problem:
            raise FormatError(f"tokenizer.json would be read differently by Hugging Face's library: {problem}")
        splits.append({"type": "Split", "pattern": {"Regex": spelling}, "behavior": "Isolated", "invert": False})
    last = _byte_level(prefix_space=False, use_regex=False)
    return {"type": "Sequence", "pretokenizers": [*splits, last]}
