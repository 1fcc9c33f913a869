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
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypedDict

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats import byte_level, features
from bpe_cli.formats import huggingface as hf_usage
from bpe_cli.formats.added_tokens import flags_of, read_added_token, read_special_tokens, special_text
from bpe_cli.formats.huggingface import components as hf_components
from bpe_cli.formats.huggingface import models
from bpe_cli.formats.huggingface import models as hf_models
from bpe_cli.formats.read_file import Node, NotJsonError, facts_of, reader_of
from bpe_cli.stages import (
    ByteLevel,
    ByteLevelDecoder,
    CharacterBpe,
    Codebook,
    MergeBpe,
    Model,
    Normalizer,
    RankBpe,
    SpecialToken,
    Unigram,
)
from bpe_cli.stages.spelling import BYTE_TEXTS, CHAR_TO_BYTE
from bpe_cli.stages.vocabulary import MAX_ID, Merges, Vocabulary
from bpe_cli.support.cached import cached_property
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import quote
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

_NO_DECODER = (("decoder", b"null"),)
"""What is kept of a file without a decoder, so that it has none either when it is written again."""

_LONGEST_WORD = 1024
"""Most bytes that a word of a codebook has."""


def sniff(head: bytes) -> bool:
    """Return whether a file begins like a ``tokenizer.json``."""
    # Other files may have these words among their tokens, or as tokens with ids.
    return bool(re.match(rb"\s*\{", head) and re.search(_OWN_KEY, head))


def loads(data: bytes, source: str = NAME) -> Tokenizer:
    """Read the text of a ``tokenizer.json``.

    Tokens and merges, nearly all of it, are read by the core; the plain way, which the tests hold it to, has the
    messages, and reads what is unusual.
    """
    cut = _core.WrittenMerges.cut(data, "model", "vocab", "merges")
    if cut is not None:
        written, rest = cut
        with contextlib.suppress(Unusual, NotJsonError):  # the place of what is not JSON is that in the whole
            return _read(Node.parse(rest, source), written)
    return loads_plainly(data, source)


load = reader_of(loads, "says itself how text is split")


def loads_plainly(data: bytes, source: str = NAME) -> Tokenizer:
    """Read the text of a ``tokenizer.json`` member by member."""
    return _read(Node.parse(data, source), None)


def _read(root: Node, written: _core.WrittenMerges | None) -> Tokenizer:
    """Read a document, whose tokens and merges have been cut out if they are given."""
    source = root.source
    root.only(*_TOP)
    if root.get("version").value not in (None, "1.0"):
        raise root.get("version").error('must be "1.0"', hint="no other version is known")
    usage = hf_usage.read(root)
    model_node = root.get("model")
    kind = hf_models.kind_of(model_node)
    dropout = model_node.get("dropout").value
    if dropout not in (None, 0):
        raise model_node.get("dropout").error(
            f"is {str(dropout)[:40]}, and encoding is never random unless it is asked for",
            hint="set it to null in the file, and give `dropout` when you encode",
        )
    normalizer = hf_components.read_normalizers(root.get("normalizer"))
    pre_tokenizer = hf_components.read_pre_tokenizers(root.get("pre_tokenizer"))
    decoder = hf_components.read_decoders(root.get("decoder"))
    added = root.get("added_tokens")
    listed_tokens = () if added.is_null else added.items()
    tokens = [read_added_token(node, node.get("id").integer(below=MAX_ID)) for node in listed_tokens]
    carried: _Carried = {
        "unicode_version": model_node.get("unicode_version").text_or_none(),
        "post_processor": _read_post_processor(root.get("post_processor")),
        "normalizer": normalizer,
        "usage": usage,
        "origin": Origin(
            NAME,
            (*facts_of(root), *facts_of(model_node, "model.")),
            _NO_DECODER if root.get("decoder").is_null else (),
            hf_usage.read_trained(root.get("trained")),
        ),
    }
    if kind in hf_models.MERGED:
        listed = _Plain(model_node) if written is None else _Cut(written, model_node, tokens)
        special_tokens = read_special_tokens(listed.ids, tokens, source)
        if kind == "BPE" and ByteLevel() in pre_tokenizer and _is_byte_level(model_node, listed):
            ignore_merges = model_node.flag("ignore_merges")
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
        special_tokens = read_special_tokens(ids, tokens, source)
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


def _is_byte_level(node: Node, listed: _Plain | _Cut) -> bool:
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
    """Read the codebook, which only our own files have."""
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


def _read_post_processor(node: Node) -> str | None:
    """Keep the post-processor as JSON text."""
    if node.is_null:
        return None
    node.get("type").text()
    return node.kept(2).decode()


# --------------------------------------------------------------------------------------------------
# Read the tokens and merges of a model: plainly, or from what the core has cut out of the document. Both give the same.
# The core refuses what is unusual, so the plain way alone has messages for what is wrong.


class Unusual(Exception):
    """Signal that tokens and merges must be read member by member."""


class _Plain:
    """Read them member by member."""

    def __init__(self, node: Node) -> None:
        self._node = node

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """The ids of all tokens."""
        return byte_level.read_ids(self._node.get("vocab"))

    @property
    def lacks_bytes(self) -> bool:
        """Whether a byte has no token."""
        return not self.ids.keys() >= CHAR_TO_BYTE.keys()

    def on_bytes(self, special_tokens: Iterable[SpecialToken], *, ignore_merges: bool) -> MergeBpe:
        merges = _read_merges(self._node.get("merges"))
        return byte_level.read_model(self.ids, merges, special_tokens, self._node.source, ignore_merges=ignore_merges)

    def on_characters(self, special_tokens: Iterable[SpecialToken]) -> CharacterBpe:
        merges = _read_merges(self._node.get("merges"))
        return hf_models.read_character_bpe(self._node, self.ids, merges, special_tokens)


class _Cut:
    """Take them as the core has them, or raise ``Unusual``; ``ids`` has what the rest of the file speaks of."""

    def __init__(self, written: _core.WrittenMerges, node: Node, added: Iterable[SpecialToken]) -> None:
        self._written = written
        self._node = node
        unknown = node.get("unk_token").value
        texts = [token.content.decode() for token in added]
        texts += [unknown] if isinstance(unknown, str) else []
        texts += [text.decode() for text in BYTE_TEXTS] if node.get("byte_fallback").value is True else []
        self.ids: Mapping[str, int] = written.among(texts, [token.token_id for token in added])

    @property
    def lacks_bytes(self) -> bool:
        return not self._written.among([*CHAR_TO_BYTE], []).keys() >= CHAR_TO_BYTE.keys()

    def on_bytes(self, special_tokens: Iterable[SpecialToken], *, ignore_merges: bool) -> MergeBpe:
        left_out = byte_level.left_out_of(special_tokens, ignore_merges=ignore_merges)
        vocabulary, merges = self._tables("", [*left_out], visible=True)
        return MergeBpe(vocabulary, merges, ignore_merges)

    def on_characters(self, special_tokens: Iterable[SpecialToken]) -> CharacterBpe:
        prefix = hf_models.prefix_of(self._node)
        texts = hf_models.hidden_of(self._node, special_tokens)
        hidden = [token.token_id for token in special_tokens if token.content.decode() in texts]
        return hf_models.character_bpe(self._node, self.ids, *self._tables(prefix, hidden, visible=False))

    def _tables(self, prefix: str, left_out: list[int], *, visible: bool) -> tuple[Vocabulary, Merges]:
        tables = self._written.tables(prefix, left_out, visible)
        if tables is None:
            raise Unusual
        return Vocabulary.from_written(tables), Merges.from_written(tables)


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


def dump(tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """Write a tokenizer as Hugging Face's library would."""
    from bpe_cli.formats.dialects import to_hugging_face

    tokenizer = to_hugging_face(tokenizer, allow_loss)
    _refuse_gap(tokenizer)
    return {"": write(content_of(tokenizer))}


def _refuse_gap(tokenizer: Tokenizer) -> None:
    """Refuse added tokens behind a gap if the model's tokens are a list: other models have them in the vocabulary."""
    if not isinstance(tokenizer.model, Unigram):
        return
    size = len(tokenizer.model.scores)
    added = sorted((number, token) for number, token in tokenizer.special_ids.items() if number >= size)
    for place, (number, token) in enumerate(added, size):
        if number != place:
            raise FormatError(
                f"the token {quote(token.content)} has id {number:,}, and Hugging Face's library makes it {place:,}: "
                "it numbers added tokens that are not among the pieces without a gap",
                hint='bpe.json keeps its id (`format="bpe.json"`)',
            )


def content_of(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the document to write, in Hugging Face's format or our own."""
    from bpe_cli.support.safe_orjson import orjson

    on_bytes = isinstance(tokenizer.model, (RankBpe, MergeBpe))
    model = _write_byte_level(tokenizer) if on_bytes else models.write(tokenizer)
    if tokenizer.unicode_version is not None:
        vocab = model.pop("vocab")
        merges = model.pop("merges", None)
        model |= {"unicode_version": tokenizer.unicode_version, "vocab": vocab}
        model |= {} if merges is None else {"merges": merges}
    return {
        "version": "1.0",
        "truncation": hf_usage.write_truncation(tokenizer.usage.truncation),
        "padding": hf_usage.write_padding(tokenizer.usage.padding),
        "added_tokens": [
            {"id": token.token_id, "content": special_text(token), **flags_of(token)}
            for token in sorted(tokenizer.special_tokens, key=lambda token: token.token_id)
        ],
        "normalizer": hf_components.write_normalizers(tokenizer.normalizer),
        "pre_tokenizer": hf_components.write_pre_tokenizers(tokenizer.pre_tokenizer, bytes_last=on_bytes),
        "post_processor": None if tokenizer.post_processor is None else orjson.loads(tokenizer.post_processor),
        "decoder": _write_decoders(tokenizer, on_bytes=on_bytes),
        "model": model,
    }


def _write_decoders(tokenizer: Tokenizer, *, on_bytes: bool) -> dict[str, Any] | None:
    """Write decoders: without any, Hugging Face's library puts blanks between tokens; with an empty list, nothing."""
    written = hf_components.write_decoders(tokenizer.decoder or ((ByteLevelDecoder(),) if on_bytes else ()))
    origin = tokenizer.origin
    if written is None and not (origin is not None and set(_NO_DECODER) <= set(origin.carried)):
        return {"type": "Sequence", "decoders": []}
    return written


def write(content: dict[str, Any]) -> bytes:
    """Write a document as Hugging Face's library lays it out."""
    from bpe_cli.support.safe_orjson import dumps, orjson

    try:
        return dumps(content, orjson.OPT_INDENT_2)
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
