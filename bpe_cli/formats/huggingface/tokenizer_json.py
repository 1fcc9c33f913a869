"""Read and write Hugging Face's ``tokenizer.json`` (tokenizers 0.23).

What is written is, byte for byte, what Hugging Face's own ``Tokenizer.save`` writes for the same
tokenizer, plus ``model.unicode_version`` where it is known (its reader passes over that key). What its
library would not load, or would run otherwise, is refused: ``own_json`` writes that, in the same layout,
and what it writes is read here. Fields that this version cannot carry out are refused by name, never
dropped.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Any, TypedDict

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats import byte_level, features
from bpe_cli.formats.huggingface import components as hf_components
from bpe_cli.formats.huggingface import model_writing
from bpe_cli.formats.huggingface import models as hf_models
from bpe_cli.formats.huggingface import usage as hf_usage
from bpe_cli.formats.huggingface.listed import Cut, Listed, Plain, Unusual
from bpe_cli.formats.json_node import Node, NotJsonError, facts_of
from bpe_cli.formats.read_file import reader_of
from bpe_cli.stages import ByteLevel, ByteLevelDecoder, Codebook, MergeBpe, Model, Normalizer, RankBpe, SpecialToken
from bpe_cli.stages.spelling import CHAR_TO_BYTE
from bpe_cli.stages.vocabulary import MAX_ID
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.safe_orjson import orjson
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Origin, Usage

NAME = "tokenizer.json"
FILES = ("tokenizer.json", "*.json")
MODELS = frozenset({"bpe-ranks", "bpe-merges", "bpe-characters", "bpe-scores", "wordpiece", "word-level", "unigram"})
HOLDS = (features.LOSSES - {features.EDGES, "codebook"}) | {"truncation", "padding", "unicode-version"}

_STAGES = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "model")
_TOP = ("version", "truncation", "padding", "added_tokens", *_STAGES, "usage", "trained")
_OWN_KEY = rb'"(?:added_tokens|pre_tokenizer|truncation|model)"\s*:\s*[^\d\s-]'
_BYTE_LEVEL_ONLY = {
    "dropout": (None, 0, 0.0),
    "continuing_subword_prefix": (None, ""),
    "end_of_word_suffix": (None, ""),
}
"""Fields that change what a model does, with the values they have in one that works on bytes."""

_OF_UNKNOWN = {"unk_token": (None,), "fuse_unk": (None, False), "byte_fallback": (None, False)}
"""Those that do so only where a byte has no token."""

_LONGEST_WORD = 1024
"""Most bytes that a word of a codebook has."""


# -- reading -----------------------------------------------------------------------------------


def sniff(head: bytes) -> bool:
    """Return whether a file begins like a ``tokenizer.json``."""
    # Other files may have these words among their tokens, or as tokens with ids.
    return bool(re.match(rb"\s*\{", head) and re.search(_OWN_KEY, head))


def loads(data: bytes, source: str = NAME) -> Tokenizer:
    """Read the text of a ``tokenizer.json``.

    Tokens and merges, nearly all of it, are read by the core; the plain way, which the tests hold it to, has the
    messages, and reads what is unusual.

    Raises:
        FormatError: as for ``load``.
    """
    cut = _core.WrittenMerges.cut(data, "model", "vocab", "merges")
    if cut is not None:
        written, rest = cut
        with contextlib.suppress(Unusual, NotJsonError):  # the place of what is not JSON is that in the whole
            return _read(Node.parse(rest, source), written)
    return loads_plainly(data, source)


load = reader_of(loads, "says itself how text is split")


def loads_plainly(data: bytes, source: str = NAME) -> Tokenizer:
    """Read the text of a ``tokenizer.json`` member by member.

    Raises:
        FormatError: as for ``load``.
    """
    return _read(Node.parse(data, source), None)


def _read(root: Node, written: _core.WrittenMerges | None) -> Tokenizer:
    """Read a document, whose tokens and merges have been cut out if they are given.

    Raises:
        FormatError: if it is broken, or asks for what this version cannot do.
        Unusual: What has been cut out is to be read plainly.
    """
    source = root.source
    root.only(*_TOP)
    if root.get("version").value not in (None, "1.0"):
        raise root.get("version").error('is to be "1.0"', hint="no other version is known")
    usage = hf_usage.read(root)
    model_node = root.get("model")
    kind = hf_models.kind_of(model_node)
    dropout = model_node.get("dropout").value
    if dropout not in (None, 0):
        raise model_node.get("dropout").error(
            f"is {str(dropout)[:40]}, and encoding is never random unless it is asked for",
            hint="set it to null in the file, and give --dropout when you encode",
        )
    normalizer = hf_components.read_normalizers(root.get("normalizer"))
    pre_tokenizer = hf_components.read_pre_tokenizers(root.get("pre_tokenizer"))
    decoder = hf_components.read_decoders(root.get("decoder"))
    added = root.get("added_tokens")
    tokens = [] if added.is_null else [_read_added_token(node) for node in added.items()]
    version = model_node.get("unicode_version")
    carried: _Carried = {
        "unicode_version": None if version.is_null else version.text(),
        "post_processor": _read_post_processor(root.get("post_processor")),
        "normalizer": normalizer,
        "usage": usage,
        "origin": Origin(
            NAME, (*facts_of(root), *facts_of(model_node, "model.")), trained=hf_usage.read_trained(root.get("trained"))
        ),
    }
    if kind in hf_models.MERGED:
        listed: Listed = Plain(model_node) if written is None else Cut(written, model_node, tokens)
        special_tokens = byte_level.read_special_tokens(listed.ids, tokens, source)
        if kind == "BPE" and ByteLevel() in pre_tokenizer and _is_byte_level(model_node, listed):
            ignore_merges = model_node.get("ignore_merges").boolean(default=False)
            model = listed.on_bytes(special_tokens, ignore_merges=ignore_merges)
            if not model_node.get("codebook").is_null:
                model = replace(model, codebook=_read_codebook(model_node.get("codebook")))
            if pre_tokenizer.index(ByteLevel()) == len(pre_tokenizer) - 1:
                pre_tokenizer = pre_tokenizer[:-1]  # the model works on bytes anyway
            if decoder == (ByteLevelDecoder(),):
                decoder = ()  # its tokens are bytes
            return Tokenizer(model, pre_tokenizer, special_tokens, decoder=decoder, **carried)
        ids = listed.ids
        spelt = ByteLevel() in pre_tokenizer
        hidden = [token for token in special_tokens if not (spelt and _spells_another_byte(token))]
        text_model: Model = listed.on_characters(hidden)
    elif written is not None:
        raise Unusual
    else:
        text_model, ids = hf_models.read(kind, model_node, tokens)
        special_tokens = byte_level.read_special_tokens(ids, tokens, source)
    return hf_models.with_unknown(Tokenizer(text_model, pre_tokenizer, special_tokens, decoder=decoder, **carried), ids)


def _spells_another_byte(token: SpecialToken) -> bool:
    """Return whether a token's text is one that stands for a byte of other text, as Ġ does."""
    return not token.content.isascii() and token.content.decode() in CHAR_TO_BYTE


class _Carried(TypedDict):
    unicode_version: str | None
    post_processor: str | None
    normalizer: tuple[Normalizer, ...]
    usage: Usage
    origin: Origin


def _is_byte_level(node: Node, listed: Listed) -> bool:
    """Return whether a BPE model works on bytes alone: no symbol of it is decorated, none is unknown."""
    node.only(
        "type", *_BYTE_LEVEL_ONLY, *_OF_UNKNOWN, "ignore_merges", "codebook", "unicode_version", "vocab", "merges"
    )
    if not _is_harmless(node, _BYTE_LEVEL_ONLY):
        return False
    if _is_harmless(node, _OF_UNKNOWN):
        return True
    hf_models.check_unknown(node)
    return not listed.lacks_bytes


def _is_harmless(node: Node, fields: Mapping[str, tuple[object, ...]]) -> bool:
    return all(
        any(type(node.get(field).value) is type(value) and node.get(field).value == value for value in harmless)
        for field, harmless in fields.items()
    )


def _read_codebook(node: Node) -> Codebook:
    """Read what is found between tags; it stands in files of our own only."""
    node.only("open", "close", "unknown", "width", "fill", "mark")
    texts = {name: node.get(name).text() for name in ("open", "close", "unknown", "mark")}
    for name, text in texts.items():
        if not text:
            raise node.get(name).error("is empty")
    fill = node.get("fill").text()
    if len(fill) != 1 or not fill.isascii():
        raise node.get("fill").error("is not one character of ASCII")
    width = node.get("width").integer(below=_LONGEST_WORD + 1)
    if not width:
        raise node.get("width").error("is 0")
    return Codebook(texts["open"], texts["close"], texts["unknown"], width, fill, texts["mark"])


def _read_added_token(node: Node) -> SpecialToken:
    return byte_level.read_added_token(node, node.get("id").integer(below=MAX_ID))


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


# -- writing -----------------------------------------------------------------------------------


def dump(tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """Write a tokenizer as Hugging Face's library would.

    Args:
        tokenizer: What is to be held.
        allow_loss: What may be left out, of ``features.LOSSES``.

    Returns:
        The content of the output path itself (the key ``""``).

    Raises:
        FormatError: if the tokenizer has what that library cannot do, or what the file cannot say.
    """
    from bpe_cli.formats.dialects import to_hugging_face

    return {"": write(content_of(to_hugging_face(tokenizer, allow_loss)))}


def content_of(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return what is to be written, be it Hugging Face's or our own.

    Raises:
        FormatError: if the layout cannot say what the tokenizer has.
    """
    on_bytes = isinstance(tokenizer.model, (RankBpe, MergeBpe))
    model = _write_byte_level(tokenizer) if on_bytes else model_writing.write(tokenizer)
    if tokenizer.unicode_version is not None:
        vocab = model.pop("vocab")
        merges = model.pop("merges", None)
        model |= {"unicode_version": tokenizer.unicode_version, "vocab": vocab}
        model |= {} if merges is None else {"merges": merges}
    decoders = tokenizer.decoder or ((ByteLevelDecoder(),) if on_bytes else ())
    return {
        "version": "1.0",
        "truncation": hf_usage.write_truncation(tokenizer.usage.truncation),
        "padding": hf_usage.write_padding(tokenizer.usage.padding),
        "added_tokens": [
            {"id": token.token_id, "content": byte_level.special_text(token), **byte_level.flags_of(token)}
            for token in sorted(tokenizer.special_tokens, key=lambda token: token.token_id)
        ],
        "normalizer": hf_components.write_normalizers(tokenizer.normalizer),
        "pre_tokenizer": hf_components.write_pre_tokenizers(tokenizer.pre_tokenizer, bytes_last=on_bytes),
        "post_processor": None if tokenizer.post_processor is None else orjson.loads(tokenizer.post_processor),
        "decoder": hf_components.write_decoders(decoders),
        "model": model,
    }


def write(content: dict[str, Any]) -> bytes:
    """Write a document as Hugging Face's library lays it out.

    Raises:
        FormatError: if a text in it is none.
    """
    try:
        return orjson.dumps(content, option=orjson.OPT_INDENT_2)
    except orjson.JSONEncodeError as error:  # a lone surrogate in a pattern
        raise FormatError(f"the tokenizer cannot be written as JSON: {error}") from error


def _write_byte_level(tokenizer: Tokenizer) -> dict[str, Any]:
    """Write a model that works on bytes."""
    merges, ignore_merges = byte_level.write_merges_and_pieces(tokenizer)
    book = tokenizer.model.codebook
    own = {} if book is None else {"codebook": {name: getattr(book, name) for name in book.__match_args__}}
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": ignore_merges,
        **own,
        "vocab": byte_level.write_vocabulary(tokenizer),
        "merges": merges,
    }
