"""Make a tokenizer from GGUF metadata, reading the keys as llama.cpp does.

Source: ``llama_vocab::impl::tokenize`` and the sessions it calls (src/llama-vocab.cpp as vendored in
llama-cpp-python 0.3.36).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from bpe_cli.errors import FormatError, NoPatternError, UsageError
from bpe_cli.formats import byte_level, rwkv
from bpe_cli.formats.gguf import fixed_point
from bpe_cli.formats.gguf import pre as gguf_pre
from bpe_cli.formats.gguf.container import I8, U8, Metadata
from bpe_cli.formats.gguf.tokens import LIMIT_KEY, MARK, Vocab
from bpe_cli.formats.huggingface import template
from bpe_cli.stages import (
    BertNormalizer,
    BertPreTokenizer,
    Charsmap,
    Codebook,
    MergeBpe,
    Normalizer,
    ScoredBpe,
    SpaceMarks,
    SpaceMarksDecoder,
    SpecialToken,
    Unigram,
    WordPiece,
    WordPieceDecoder,
)
from bpe_cli.stages.spelling import BYTE, BYTE_TEXTS, CONTROL, NORMAL, UNKNOWN, USER_DEFINED
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer

NOT_READ = {"test": "no tokenizer, and for tests of its own"}
"""Models that llama.cpp knows and that are not read, with what they are."""

HYBRID_DNA = "hybriddna"
"""What ``tokenizer.ggml.model`` says of byte-level BPE beside words of DNA."""

DNA = Codebook(open="<dna>", close="</dna>", unknown="<oov>", width=6, fill="A", mark="\ue000")
"""The one codebook that llama.cpp has."""

NO_LIMIT = (1 << 31) - 1
"""The longest word for WordPiece: llama.cpp has no limit."""


def tokenizer_of(metadata: Metadata, pattern: str | None = None) -> Tokenizer:
    """Make the tokenizer; ``pattern`` is an expression that takes the place of the file's split."""
    model = metadata.text("tokenizer.ggml.model")
    if model is None or model in ("none", "no_vocab"):
        reason = "says that it has none" if model else "has no key tokenizer.ggml.model"
        raise FormatError(f"{metadata.source} is a GGUF file without a tokenizer: it {reason}")
    make = MAKERS.get(model)
    if make is None:
        what = f", which is {NOT_READ[model]}" if model in NOT_READ else ""
        raise FormatError(
            f"{metadata.source}: the model {quote(model)}{what}, cannot be read from GGUF"
            if what
            else f"{metadata.source}: tokenizer.ggml.model is {quote(model)}, which is not known",
            hint=f"models are {', '.join(MAKERS)}",
        )
    if pattern is not None and (
        model not in ("gpt2", HYBRID_DNA) or metadata.text("tokenizer.ggml.pre") in gguf_pre.ON_CHARACTERS
    ):
        raise UsageError(f"{metadata.source} says itself how text is split; no pattern can be given with it")
    return make(Vocab(metadata, model), pattern)


# -- SentencePiece's BPE -----------------------------------------------------------------------


def _llama(vocab: Vocab, pattern: str | None) -> Tokenizer:  # noqa: ARG001  # as all makers
    """Make BPE by scores.

    It differs from SentencePiece's in what llama.cpp does: tokens of a user's own are looked for in the text
    as it is, and are ordinary ones to the merges; *unused* ones are tokens as any; no whitespace is left out.
    """
    bytes_at = _byte_tokens(vocab)
    unk_id = _unknown(vocab)
    kinds = bytes(
        BYTE if number in bytes_at else _kind(kind, number == unk_id) for number, kind in enumerate(vocab.types)
    )
    tokens = [b"" if kind in (UNKNOWN, CONTROL) else text for text, kind in zip(vocab.texts, kinds, strict=True)]
    marks = SpaceMarks(
        add_dummy_prefix=vocab.metadata.boolean("tokenizer.ggml.add_space_prefix", True), remove_extra_whitespaces=False
    )
    return Tokenizer(
        ScoredBpe(Vocabulary.from_tokens(tokens), vocab.scores(), unk_id, kinds, byte_fallback=bool(bytes_at)),
        special_tokens=vocab.special_tokens,
        post_processor=vocab.post_processor(add_bos=True, add_eos=False),
        normalizer=(marks,),
        decoder=(_marks_decoder(marks),),
        usage=vocab.usage,
    )


def _kind(kind: int, is_unknown: bool) -> int:
    """Return a token's type in the model: one unknown token, and no types that merges depend on."""
    if kind in (UNKNOWN, CONTROL):
        return UNKNOWN if is_unknown else CONTROL
    return BYTE if kind == BYTE else NORMAL


def _byte_tokens(vocab: Vocab) -> frozenset[int]:
    """Return the ids of the byte tokens, identified by their texts as in llama.cpp; none unless all are there."""
    ids = {text: number for number, text in enumerate(vocab.texts)}
    token_ids = [ids.get(text) for text in BYTE_TEXTS]
    usable = frozenset(number for number in token_ids if number is not None and vocab.types[number] in (NORMAL, BYTE))
    return usable if len(usable) == len(token_ids) else frozenset()


def _unknown(vocab: Vocab) -> int:
    if "unk" not in vocab.roles:
        raise FormatError(f"{vocab.source} names no unknown token (tokenizer.ggml.unknown_token_id)")
    return vocab.roles["unk"]


def _marks_decoder(marks: SpaceMarks) -> SpaceMarksDecoder:
    return SpaceMarksDecoder(marks.add_dummy_prefix, marks.remove_extra_whitespaces)


# -- T5's unigram ------------------------------------------------------------------------------


def _t5(vocab: Vocab, pattern: str | None) -> Tokenizer:  # noqa: ARG001
    """Make a unigram model; user-defined tokens have the score 0, and there are no byte tokens."""
    scores = vocab.scores()
    for number, kind in enumerate(vocab.types):
        if kind == USER_DEFINED:
            scores[number] = 0.0
    unk_id = _unknown(vocab)
    kinds = bytes(_kind(kind, n == unk_id) for n, kind in enumerate(vocab.types))
    tokens = [b"" if kind in (UNKNOWN, CONTROL) else text for text, kind in zip(vocab.texts, kinds, strict=True)]
    extra = vocab.metadata.boolean("tokenizer.ggml.remove_extra_whitespaces", False)
    # Where blanks are made one, a word has one before it even if it is the first.
    marks = SpaceMarks(
        add_dummy_prefix=vocab.metadata.boolean("tokenizer.ggml.add_space_prefix", False) or extra,
        remove_extra_whitespaces=extra,
    )
    charsmap = vocab.metadata.numbers("tokenizer.ggml.precompiled_charsmap", U8, I8)
    tables: tuple[Normalizer, ...] = ()
    if charsmap:
        own = tuple(token.content.decode() for token in vocab.special_tokens if not token.special)
        tables = (Charsmap(base64.b64encode(charsmap.tobytes()).decode(), own),)
    return Tokenizer(
        Unigram(Vocabulary.from_tokens(tokens), scores, unk_id, kinds=kinds),
        special_tokens=vocab.special_tokens,
        post_processor=vocab.post_processor(add_bos=False, add_eos=True),
        normalizer=(*tables, marks),
        decoder=(_marks_decoder(marks),),
        usage=vocab.usage,
    )


# -- BERT's WordPiece --------------------------------------------------------------------------


def _bert(vocab: Vocab, pattern: str | None) -> Tokenizer:  # noqa: ARG001
    """Make WordPiece: tokens that begin a word start with a mark, and others have none."""
    names = vocab.metadata
    lowercase = names.boolean("tokenizer.ggml.normalizer.lowercase", True)
    strip = names.boolean("tokenizer.ggml.normalizer.strip_accents", lowercase)
    ids: dict[bytes, int] = {}
    special = {token.token_id for token in vocab.special_tokens if token.special}
    for number, text in enumerate(vocab.texts):
        if number in special or not text:
            continue
        content = text
        if text.startswith(MARK):
            content = text.removeprefix(MARK)
        elif not (text.startswith(b"[") and text.endswith(b"]")) and vocab.types[number] != USER_DEFINED:
            content = b"##" + text
        if not content or content in ids:
            raise FormatError(f"{vocab.source}: token {number}, {quote(text)}, is empty without its mark, or no other")
        ids[content] = number
    limit = names.integer(LIMIT_KEY)
    first, last = vocab.roles.get("bos"), vocab.roles.get("sep")
    if first is None or last is None:
        raise FormatError(f"{vocab.source} does not name the tokens around a text (bos_token_id, seperator_token_id)")
    return Tokenizer(
        WordPiece(
            Vocabulary.from_ids(ids),
            _unknown(vocab),
            max_input_chars_per_word=limit if limit is not None and 0 <= limit < NO_LIMIT else NO_LIMIT,
        ),
        (BertPreTokenizer(),),
        special_tokens=vocab.special_tokens,
        post_processor=template({n: vocab.texts[n].decode() for n in (first, last)}, (first,), (last,)),
        normalizer=(BertNormalizer(strip_accents=None if strip == lowercase else strip, lowercase=lowercase),),
        decoder=(WordPieceDecoder(),),
        usage=vocab.usage,
    )


# -- GPT-2's byte-level BPE --------------------------------------------------------------------


def _gpt2(vocab: Vocab, pattern: str | None) -> Tokenizer:
    """Make byte-level BPE by merges, with the split that ``tokenizer.ggml.pre`` names."""
    name = _name_of_split(vocab)
    if name in gguf_pre.ON_CHARACTERS:
        return gguf_pre.tokenizer_on_characters(vocab, name, _pairs(_merges(vocab), vocab.source))
    pre = _pre(vocab, pattern)
    model = _written_model(vocab, pre.ignore_merges) or _plain_model(vocab, pre.ignore_merges)
    return Tokenizer(
        _as_it_reads(model, vocab.special_tokens),
        pre.stages,
        vocab.special_tokens,
        post_processor=vocab.post_processor(add_bos=pre.add_bos, add_eos=False),
        usage=vocab.usage,
    )


def _written_model(vocab: Vocab, ignore_merges: bool) -> MergeBpe | None:
    """Read tokens and merges in the core; None if anything in them is unusual."""
    absent = [number for number, text in enumerate(vocab.texts) if not text] if b"" in vocab.texts else []
    written = vocab.metadata.written_merges("tokenizer.ggml.tokens", "tokenizer.ggml.merges", absent)
    if written is None:
        return None
    left_out = byte_level.left_out_of(vocab.special_tokens, ignore_merges=ignore_merges)
    tables = written.tables("", [*left_out], visible=True)
    if tables is None:
        return None
    return MergeBpe(Vocabulary.from_written(tables), Merges.from_written(tables), ignore_merges)


def _plain_model(vocab: Vocab, ignore_merges: bool) -> MergeBpe:
    """Read tokens and merges one by one."""
    ids = {text.decode(): number for number, text in enumerate(vocab.texts) if text}
    # A merge of what is not a token is never met: a byte that has no token is refused in texts, and what only another
    # merge would make is refused there.
    pairs = (pair for pair in _pairs(_merges(vocab), vocab.source) if pair[0] in ids and pair[1] in ids)
    return byte_level.read_model(ids, pairs, vocab.special_tokens, vocab.source, ignore_merges=ignore_merges)


def _merges(vocab: Vocab) -> list[bytes]:
    merges = vocab.metadata.texts("tokenizer.ggml.merges")
    if merges is None and _name_of_split(vocab) == "kimi-k2":
        return []  # the one split for which llama.cpp does without
    if merges is None:
        raise FormatError(f"{vocab.source} has no merges (tokenizer.ggml.merges)")
    return merges


_IN_NO_TEXT = frozenset(bytes([byte]) for byte in (0xC0, 0xC1, *range(0xF5, 0x100)))
"""The bytes that UTF-8 does not have."""


def _as_it_reads(model: MergeBpe, special_tokens: Iterable[SpecialToken]) -> MergeBpe:
    """Keep added tokens whose text spells a byte that no text holds as plain text.

    One whose text spells another byte is both, to llama.cpp: it is looked for in the text as it is, and the
    byte becomes it, too.
    """
    vocabulary = model.vocabulary
    added = {token.token_id for token in special_tokens if token.token_id < vocabulary.size}
    spelling = {number for number in added if vocabulary.token(number) in _IN_NO_TEXT}
    if spelling:
        spelling.difference_update(model.merges.triples)
    gone = vocabulary.without(spelling)
    return model if gone is vocabulary else replace(model, vocabulary=gone)


def _name_of_split(vocab: Vocab) -> str:
    return vocab.metadata.text("tokenizer.ggml.pre") or ""


def _pre(vocab: Vocab, pattern: str | None) -> gguf_pre.Pre:
    """Return the split; a user's pattern replaces it, and keeps its other settings."""
    name = _name_of_split(vocab)
    known = gguf_pre.BY_NAME.get(name) if name else gguf_pre.DEFAULT
    if pattern is not None:
        return replace(known or gguf_pre.DEFAULT, expressions=(pattern,) if pattern else ())
    if known is None:
        raise NoPatternError(
            f"{vocab.source} splits text by {quote(name)} (tokenizer.ggml.pre), which is not known",
            hint=f"give its pattern, with `pattern`; known are {', '.join(gguf_pre.BY_NAME)}",
        )
    return known


def _pairs(merges: list[bytes], source: str) -> Iterator[tuple[str, str]]:
    """Yield merges as pairs; the first of equal ones counts."""
    known: set[bytes] = set()
    for number, merge in enumerate(merges, start=1):
        at = merge.find(b" ", 1)
        if at < 0 or at + 1 == len(merge):
            raise FormatError(f"{source}: merge {number}, {quote(merge)}, is not two tokens and a space between")
        if merge not in known:
            known.add(merge)
            try:
                yield merge[:at].decode(), merge[at + 1 :].decode()
            except UnicodeDecodeError:
                raise FormatError(f"{source}: merge {number} is not UTF-8: {quote(merge)}") from None


# -- models of other kinds ---------------------------------------------------------------------


def _gemma4(vocab: Vocab, pattern: str | None) -> Tokenizer:  # noqa: ARG001
    """Make BPE over characters; the model names its split, whatever the file says."""
    return gguf_pre.tokenizer_on_characters(vocab, "gemma4", _pairs(_merges(vocab), vocab.source))


def _whitespace(vocab: Vocab, pattern: str | None) -> Tokenizer:  # noqa: ARG001
    """Make BPE over the characters of words."""
    name = _name_of_split(vocab)
    if name != "whitespace":
        raise FormatError(f"{vocab.source}: the model whitespace with the split {quote(name)} cannot be read")
    return gguf_pre.tokenizer_on_characters(vocab, name, _pairs(_merges(vocab), vocab.source))


def _rwkv(vocab: Vocab, pattern: str | None) -> Tokenizer:  # noqa: ARG001
    """Make longest match over bytes: tokens are written with escapes, and control tokens are not text."""
    special = {token.token_id for token in vocab.special_tokens if token.special}
    ids: dict[bytes, int] = {}
    for number, text in enumerate(vocab.texts):
        token = _unescaped(text, vocab.source)
        if number in special or not token:
            continue
        if token in ids:
            raise FormatError(f"{vocab.source}: the tokens {ids[token]} and {number} are both the bytes {quote(token)}")
        ids[token] = number
    made = rwkv.tokenizer_of(ids)
    return replace(made, special_tokens=vocab.special_tokens, usage=vocab.usage, origin=None)


_ESCAPE = re.compile(rb"\\(x[0-9a-f]{2}|[^x]|\Z)", re.DOTALL)
_PLAIN_ESCAPES = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}


def _unescaped(text: bytes, source: str) -> bytes:
    """Read an escaped token of RWKV as ``llama_unescape_rwkv_token`` does."""

    def character(match: re.Match[bytes]) -> bytes:
        escape = match[1]
        return bytes.fromhex(escape[1:].decode()) if escape[:1] == b"x" else _PLAIN_ESCAPES.get(escape, escape)

    if b"\\x" in _ESCAPE.sub(b"", text):
        raise FormatError(f"{source}: the token {quote(text)} has an invalid escape")
    return _ESCAPE.sub(character, text)


# -- byte-level BPE beside words of DNA --------------------------------------------------------


def _hybrid_dna(vocab: Vocab, pattern: str | None) -> Tokenizer:
    """Make byte-level BPE that finds words of DNA too (``llm_tokenizer_hybriddna_session``; the model is Carbon)."""
    tokenizer = _gpt2(vocab, pattern)
    lacking = [text for text in (DNA.open, DNA.close, DNA.unknown) if text.encode() not in vocab.texts]
    if lacking:
        raise FormatError(
            f"{vocab.source} has no token {quote(lacking[0])}, without which llama.cpp finds no words of DNA",
            hint='what it does then is that of the model "gpt2" (tokenizer.ggml.model)',
        )
    tokenizer = _gpt2(vocab, pattern)
    model = tokenizer.model
    if not isinstance(model, MergeBpe):
        raise FormatError(
            f"{vocab.source}: the model {HYBRID_DNA} with the split {quote(_name_of_split(vocab))} cannot be read"
        )
    special = {token.content.decode(): token for token in tokenizer.special_tokens}
    if DNA.open not in special:  # otherwise the text is cut at it, and no word is looked for
        marked = [text for text in special if text.endswith(DNA.mark) and len(text) > 1]
        control = [text for text in (DNA.close, DNA.unknown) if text in special and special[text].special]
        for text in control + marked:
            raise FormatError(f"{vocab.source}: text between tags of DNA would become {quote(text)}, a special token")
    return replace(tokenizer, model=replace(model, codebook=DNA))


def _plamo2(vocab: Vocab, pattern: str | None) -> Tokenizer:  # noqa: ARG001
    """Make a unigram model that adds rounded scores."""
    return fixed_point.make(vocab)


MAKERS: dict[str, Callable[[Vocab, str | None], Tokenizer]] = {
    "llama": _llama,
    "gpt2": _gpt2,
    "bert": _bert,
    "t5": _t5,
    "gemma4": _gemma4,
    "whitespace": _whitespace,
    "rwkv": _rwkv,
    fixed_point.NAME: _plamo2,
    HYBRID_DNA: _hybrid_dna,
}
"""The models that are read, by ``tokenizer.ggml.model``."""
