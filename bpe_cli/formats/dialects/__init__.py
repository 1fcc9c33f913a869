"""Express a tokenizer in Hugging Face's terms, or in SentencePiece's, where both say the same.

Each project has its own words for one thing: a table of rules, blanks as marks, pieces with scores. The
stages of both are kept apart in ``stages``, since each does exactly what its library does. Here one is
put into the words of the other, so that a ``.model`` becomes a ``tokenizer.json`` that Hugging Face's
library loads, and the other way round.

What is exact is done without asking. What differs on rare texts only (how a table is applied, in which
precision scores are added, ...) is a loss, ``sentencepiece-edges``, that a caller has to agree to. What has
no form at all is refused. One thing is left to each library's habits: special tokens among ids to be
decoded read as nothing in SentencePiece's words, and as their texts in Hugging Face's.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from bpe_cli.errors import FormatError
from bpe_cli.formats.dialects.models import (
    FIXED_POINT,
    SENTENCEPIECE,
    WHOLE,
    Reader,
    double_precision,
    merging_model,
    refuse_own,
    scored_unigram,
    scoring_model,
)
from bpe_cli.formats.features import EDGES, LOSSES, losses, refuse_losses, without_codebook
from bpe_cli.formats.sentencepiece import UNK_SURFACE
from bpe_cli.stages import (
    ALGORITHMS,
    ByteFallback,
    CharacterBpe,
    Charsmap,
    Decoder,
    Fuse,
    Metaspace,
    MetaspaceDecoder,
    Normalizer,
    Precompiled,
    Prepend,
    PreTokenizer,
    Replace,
    ReplaceDecoder,
    ScoredBpe,
    SpaceMarks,
    SpaceMarksDecoder,
    StripDecoder,
    Unigram,
    WhitespaceSplit,
    WordLevel,
)
from bpe_cli.stages.spelling import BYTE_TEXT, MARK, has_runs
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer

HUGGING_FACE = "a tokenizer.json for Hugging Face's library"
HINT = 'it holds what `compat="sentencepiece"` trains'


def is_sentencepiece(tokenizer: Tokenizer) -> bool:
    """Return whether any part of a tokenizer is in SentencePiece's terms.

    >>> from bpe_cli.stages import WordLevel
    >>> from bpe_cli.stages.vocabulary import Vocabulary
    >>> is_sentencepiece(Tokenizer(WordLevel(Vocabulary.from_tokens([b"a"]))))
    False
    """
    model = tokenizer.model
    return (
        isinstance(model, ScoredBpe)
        or (isinstance(model, Unigram) and (model.single_precision or bool(model.kinds)))
        or (isinstance(model, WordLevel) and model.fuse_unk)
        or any(isinstance(stage, (SpaceMarks, Charsmap)) for stage in tokenizer.normalizer)
        or any(isinstance(stage, SpaceMarksDecoder) for stage in tokenizer.decoder)
    )


def to_hugging_face(tokenizer: Tokenizer, allow_loss: Collection[str] = ()) -> Tokenizer:
    """Translate a tokenizer from SentencePiece's terms to Hugging Face's; itself if there is nothing to translate.

    To lose ``sentencepiece-edges`` agrees to differences on rare texts, ``codebook`` to do without one.
    """
    if tokenizer.model.codebook is not None:
        refuse_losses(losses(tokenizer, LOSSES - {"codebook"}), allow_loss, HUGGING_FACE)
        tokenizer = without_codebook(tokenizer)
    if not is_sentencepiece(tokenizer) or tokenizer.model.fixed_point:
        refuse_own(tokenizer.model)
        return tokenizer
    _refuse_bytes(tokenizer)
    edges: list[str] = []
    model = tokenizer.model
    cuts = tokenizer.pre_tokenizer
    if isinstance(model, WordLevel) and model.fuse_unk:
        raise FormatError(
            "Hugging Face's word model gives unknown words in a row a token each, and SentencePiece's gives them one "
            "together",
            hint="write bpe.json or a .model",
        )
    if isinstance(model, ScoredBpe):
        model, own_cuts = merging_model(model, edges)
        cuts = (*cuts, *own_cuts)
    elif isinstance(model, Unigram):
        model = double_precision(model, edges)
        special = [token.content for token in tokenizer.special_tokens if token.token_id != model.unk_id]
        if special and any(isinstance(stage, Charsmap) for stage in tokenizer.normalizer):
            # The library's model finds the texts of special tokens like those of other pieces.
            edges.append(f"text that the table makes {quote(special[0])}, which then becomes the special token")
    normalizer = hugging_face_normalizer(tokenizer.normalizer, edges)
    decoder = hugging_face_decoder(tokenizer.decoder, *_texts(tokenizer), edges)
    translated = replace(tokenizer, model=model, normalizer=normalizer, pre_tokenizer=cuts, decoder=decoder)
    refuse_own(translated.model)
    refuse_losses(_lost(edges), allow_loss, HUGGING_FACE)
    return translated


def to_sentencepiece(tokenizer: Tokenizer, reader: Reader = SENTENCEPIECE) -> tuple[Tokenizer, dict[str, str]]:
    """Translate a tokenizer from Hugging Face's terms to SentencePiece's; itself if there is nothing to translate.

    Gives also what differs on rare texts, as ``features.losses`` has it.
    """
    *before, marks = tokenizer.normalizer or (None,)
    model = tokenizer.model
    if model.fixed_point:
        raise FormatError(f"{reader.holder} cannot hold a {FIXED_POINT}", hint=WHOLE)
    tables = all(isinstance(stage, Charsmap) for stage in before) and len(before) < 2
    if isinstance(marks, SpaceMarks) and tables and not isinstance(model, CharacterBpe):
        if isinstance(model, Unigram) and reader.single_precision and not model.single_precision:
            edge = "its scores, which SentencePiece adds in single and this tokenizer in double precision"
            return replace(tokenizer, model=replace(model, single_precision=True)), _lost([edge])
        return tokenizer, {}  # what else is wrong with it, the writer says
    _refuse_bytes(tokenizer)
    edges: list[str] = []
    cuts = tokenizer.pre_tokenizer
    if isinstance(model, CharacterBpe):
        model, cuts = scoring_model(model, tokenizer.special_tokens, cuts, edges, reader)
    elif isinstance(model, Unigram):
        model = scored_unigram(model, tokenizer.special_tokens, edges, reader)
    elif not isinstance(model, ScoredBpe):
        raise FormatError(f"{reader.holder} cannot hold {ALGORITHMS[model.kind]}", hint=HINT)
    unknown, texts = _texts(tokenizer)
    normalizer = tokenizer.normalizer
    if not (isinstance(marks, SpaceMarks) and tables) or cuts:
        normalizer = sentencepiece_normalizer(normalizer, cuts, texts, edges, reader)
    handled = normalizer[-1]
    if isinstance(handled, SpaceMarks):
        decoder = sentencepiece_decoder(tokenizer.decoder, handled, unknown, texts, edges, reader)
    translated = replace(tokenizer, model=model, normalizer=normalizer, pre_tokenizer=(), decoder=decoder)
    return translated, _lost(edges)


def _refuse_bytes(tokenizer: Tokenizer) -> None:
    """Refuse tokens that are not text: neither library's files can hold them."""
    for token_id, token in tokenizer.model.vocabulary.items():
        try:
            token.decode()
        except UnicodeDecodeError:
            raise FormatError(
                f"the token {quote(token)} (id {token_id}) is not UTF-8, and both libraries' tokens are texts"
            ) from None


def _texts(tokenizer: Tokenizer) -> tuple[str | None, list[str]]:
    """Return the text of the unknown token, if encoding can give it, and those of the ordinary ones."""
    model = tokenizer.model
    unk_id = model.unk_id
    texts = [token.decode("utf-8", "replace") for token_id, token in model.vocabulary.items() if token_id != unk_id]
    if unk_id is None or model.byte_fallback:
        return None, texts
    return tokenizer.token_bytes(unk_id).decode("utf-8", "replace"), texts


def _lost(edges: list[str]) -> dict[str, str]:
    """Return differences on rare texts as a loss."""
    return {EDGES: f"what becomes of rare texts ({'; '.join(dict.fromkeys(edges))})"} if edges else {}


# --------------------------------------------------------------------------------------------------
# Translate what happens to text before and after the model: rules, blanks, marks.
#
# SentencePiece has one table and one way with blanks, with four switches; Hugging Face has components. The
# switches are said by these, in this order:
#
#     remove_extra_whitespaces    Replace " {2,}" by " ", then Replace what stands at the ends by nothing
#     add_dummy_prefix            Prepend "▁", which leaves an empty text empty, as SentencePiece does
#     escape_whitespaces          Replace " " by "▁"
#
# A mark that stands in the text itself goes at its end (it looks like a blank there), and nowhere else.


COLLAPSE = Replace(" {2,}", " ")
TRIM = Replace(r"(?<![\s\S]) +(?:[ ▁]+(?![\s\S]))?|(?<![ ▁])[ ▁]+(?![\s\S])", "")
"""What takes blanks off the ends of a text, and marks off its end, also off that of blanks alone; a text has many
places, and few ends."""

TRIM_BLANKS = Replace(r"(?<![\s\S]) +|(?<! ) +(?![\s\S])", "")
"""The same where blanks stay blanks."""

ALL = (1 << 31) - 1
"""How many blanks are taken off where all are."""

TABLE_EDGE = "its table of rules, which {} applies by the longest match and Hugging Face's library by grapheme clusters"


# -- SentencePiece's words into Hugging Face's -------------------------------------------------


def hugging_face_normalizer(stages: Sequence[Normalizer], edges: list[str]) -> tuple[Normalizer, ...]:
    """Translate a normalizer to Hugging Face's terms; what differs on rare texts is added to ``edges``."""
    written: list[Normalizer] = []
    for stage in stages:
        if isinstance(stage, Charsmap):
            if has_runs(stage.user_defined):
                edges.append("several blanks in a piece that users define, which SentencePiece keeps")
            if stage.precompiled_charsmap:
                edges.append(TABLE_EDGE.format(SENTENCEPIECE.name))
                written.append(Precompiled(stage.precompiled_charsmap))
        elif isinstance(stage, SpaceMarks):
            if stage.treat_whitespace_as_suffix and stage.add_dummy_prefix:
                raise FormatError(
                    "no component of Hugging Face's puts a mark after the text (treat_whitespace_as_suffix)",
                    hint="write bpe.json or a .model",
                )
            written.extend(_components(stage))
        else:
            written.append(stage)
    return tuple(written)


def _components(marks: SpaceMarks) -> list[Normalizer]:
    """Return the components that handle blanks like one of SentencePiece's settings."""
    written: list[Normalizer] = []
    if marks.remove_extra_whitespaces:
        written += [COLLAPSE, TRIM if marks.escape_whitespaces else TRIM_BLANKS]
    if marks.add_dummy_prefix:
        written.append(Prepend(MARK if marks.escape_whitespaces else " "))
    if marks.escape_whitespaces:
        written.append(Replace(" ", MARK, literal=True))
    return written


def hugging_face_decoder(
    stages: Sequence[Decoder], unknown: str | None, texts: Sequence[str], edges: list[str]
) -> tuple[Decoder, ...]:
    """Translate a decoder to Hugging Face's terms; what differs on rare texts is added to ``edges``.

    ``unknown`` is the text of the unknown token, if encoding can give it, and ``texts`` are those of all other tokens.
    """
    if not any(isinstance(stage, SpaceMarksDecoder) for stage in stages):
        return tuple(stages)
    (marks,) = (stage for stage in stages if isinstance(stage, SpaceMarksDecoder))
    written: list[Decoder] = [ReplaceDecoder(MARK, " ")]
    strips_all = marks.remove_extra_whitespaces
    strips = marks.add_dummy_prefix or strips_all
    if unknown is not None:
        if any(unknown in text for text in texts):
            edges.append(f"tokens that contain {quote(unknown)}, the text of the unknown one")
        if strips and MARK in marks.unk_surface:
            edges.append("the mark in what the unknown token reads as (unk_surface)")
        # All other marks have become blanks: those of the surface wait until the beginning is stripped.
        surface = marks.unk_surface.replace(" ", MARK) if strips else marks.unk_surface
        written.append(ReplaceDecoder(unknown, surface))
    if marks.byte_fallback and _have_bytes(texts):
        written.append(ByteFallback())
    written.append(Fuse())
    if strips_all and any(text.startswith(MARK * 2) for text in texts):
        edges.append("tokens that begin with two marks, of which decoding takes one")
    if strips:
        written.append(StripDecoder(" ", ALL if strips_all else 1, 0))
    if unknown is not None and strips:
        written.append(ReplaceDecoder(MARK, " "))
    return tuple(written)


def _have_bytes(texts: Sequence[str]) -> bool:
    return any(BYTE_TEXT.fullmatch(text.encode()) for text in texts if text.startswith("<0x"))


# -- Hugging Face's words into SentencePiece's -------------------------------------------------


def sentencepiece_normalizer(
    normalizers: Sequence[Normalizer],
    pre_tokenizers: Sequence[PreTokenizer],
    texts: Sequence[str],
    edges: list[str],
    reader: Reader,
) -> tuple[Normalizer, ...]:
    """Translate normalizers and pre-tokenizers to SentencePiece's terms; differences on rare texts go to ``edges``."""
    stages = list(normalizers)
    table: tuple[Normalizer, ...] = ()
    first = stages[0] if stages else None
    if isinstance(first, Charsmap):
        table, stages = (first,), stages[1:]
    elif isinstance(first, Precompiled):
        edges.append(TABLE_EDGE.format(reader.name))
        table, stages = ((Charsmap(first.precompiled_charsmap),) if first.precompiled_charsmap else ()), stages[1:]
    for switches in _SWITCHES:
        if _components(switches) == stages and not pre_tokenizers:
            return (*table, switches)
    if not stages and pre_tokenizers:
        return (*table, _of_metaspace(pre_tokenizers, texts, edges, reader))
    names = ", ".join(type(stage).__name__ for stage in (*stages, *pre_tokenizers))
    raise FormatError(
        f"{reader.name} normalizes by one table and by rules for blanks, and this tokenizer does not ({names})",
        hint='bpe.json holds every tokenizer whole; `compat="sentencepiece"` trains what such a file can hold',
    )


_SWITCHES = [
    SpaceMarks(prefix, extra, escape) for escape in (True, False) for prefix in (True, False) for extra in (True, False)
]


def _of_metaspace(stages: Sequence[PreTokenizer], texts: Sequence[str], edges: list[str], reader: Reader) -> SpaceMarks:
    """Translate Metaspace, alone or after WhitespaceSplit."""
    *before, last = stages
    if not isinstance(last, Metaspace) or last.replacement != MARK or before not in ([], [WhitespaceSplit()]):
        names = ", ".join(type(stage).__name__ for stage in stages)
        raise FormatError(
            f"{reader.name} cuts text by its tokens alone, and this tokenizer has pre-tokenizers ({names})"
        )
    if last.split or before:
        inner = next((text for text in texts if MARK in text[1:]), None)
        if inner is not None:
            raise FormatError(
                f"the token {quote(inner)} goes across a mark, where this tokenizer cuts and {reader.name} does not"
            )
    if before:
        edges.append(f"whitespace other than blanks, at which this tokenizer cuts and {reader.name} does not")
    elif last.prepend_scheme != "never":
        edges.append(f"texts that begin with a blank, before which {reader.name} puts a mark all the same")
    return SpaceMarks(last.prepend_scheme != "never", remove_extra_whitespaces=bool(before))


def sentencepiece_decoder(
    stages: Sequence[Decoder],
    marks: SpaceMarks,
    unknown: str | None,
    texts: Sequence[str],
    edges: list[str],
    reader: Reader,
) -> tuple[Decoder, ...]:
    """Translate a decoder to SentencePiece's terms, as ``hugging_face_decoder`` does to Hugging Face's."""
    if len(stages) == 1 and isinstance(stages[0], SpaceMarksDecoder):
        return tuple(stages)
    surfaces = [stage.content for stage in stages if isinstance(stage, ReplaceDecoder) and stage.pattern == unknown]
    decoder = SpaceMarksDecoder(
        marks.add_dummy_prefix,
        marks.remove_extra_whitespaces,
        marks.treat_whitespace_as_suffix,
        surfaces[0].replace(MARK, " ") if surfaces else UNK_SURFACE,
    )
    if tuple(stages) == hugging_face_decoder([decoder], unknown, texts, []):
        return (decoder,)
    if unknown is not None:
        edges.append(f"unknown tokens, which {reader.name} reads as a sign of its own")
    usual = hugging_face_decoder([decoder], None, texts, [])
    one = tuple(StripDecoder(" ", 1, 0) if isinstance(stage, StripDecoder) else stage for stage in usual)
    if tuple(stages) == one != usual:
        edges.append(f"marks that the text itself begins with, all of which {reader.name} reads as nothing")
    elif len(stages) == 1 and isinstance(stages[0], MetaspaceDecoder) and stages[0].replacement == MARK:
        if (stages[0].prepend_scheme != "never") != (marks.add_dummy_prefix or marks.remove_extra_whitespaces):
            edges.append("the blank that decoding leaves at the beginning")
        if _have_bytes(texts):
            edges.append("tokens of bytes, which this tokenizer does not read as such")
    elif tuple(stages) != usual:
        names = ", ".join(type(stage).__name__ for stage in stages) or "none"
        raise FormatError(
            f"{reader.name} decodes marks as blanks, and this tokenizer decodes differently (its decoder: {names})"
        )
    return (decoder,)
