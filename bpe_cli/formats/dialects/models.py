r"""Translate models: BPE by scores and by merges, and the unigram model of either library.

What SentencePiece calls the types of its pieces, Hugging Face says otherwise: control pieces are special
tokens; bytes are known by their texts; pieces of a user's own, which no merge may touch, are cut out by a
``Split`` before the model, which takes a piece as a whole if it is a token (``ignore_merges``). As added
tokens they would be looked for before a mark is put before the text, and after each of them the text would
begin anew.
"""

from __future__ import annotations

import re
import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bpe_cli.errors import FormatError
from bpe_cli.formats.dialects.score_merges import merges_of_scores, normal_pieces, scores_of_merges, spelt_alone
from bpe_cli.stages import (
    ALGORITHMS,
    CharacterBpe,
    EventBpe,
    FewestTokens,
    GreedyCover,
    LongestMatch,
    MaxMatch,
    Model,
    NGram,
    PreTokenizer,
    ScoredBpe,
    SpecialToken,
    Split,
    Unigram,
)
from bpe_cli.stages.spelling import BYTE, BYTE_TEXT, CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED, byte_text
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.messages import quote

FIXED_POINT = "Unigram that adds rounded scores from the end of a text"
WHOLE = 'write bpe.json, which holds everything (`format="bpe.json"`)'
BYTES_EDGE = "texts that spell a token of a byte, such as <0x0A>"


def split_at(pieces: Sequence[str]) -> Split:
    r"""Return the stage that cuts text at pieces, the longest at each place.

    >>> split_at(["<n>", "<n>."]).pattern
    '<n>\\.|<n>'
    """
    ordered = sorted(pieces, key=lambda piece: (-len(piece), piece))
    return Split("|".join(re.sub(r"[\\.^$|?*+()\[\]{}]", r"\\\g<0>", piece) for piece in ordered))


def pieces_split_at(stage: PreTokenizer) -> list[str] | None:
    """Read what ``split_at`` wrote; None if the stage is another."""
    if not isinstance(stage, Split):
        return None
    pieces = [re.sub(r"\\(.)", r"\1", part) for part in re.findall(r"(?:\\.|[^|\\])+", stage.pattern, re.DOTALL)]
    return pieces if split_at(pieces) == stage else None


# -- SentencePiece's words into Hugging Face's -------------------------------------------------


def merging_model(model: ScoredBpe, edges: list[str]) -> tuple[CharacterBpe, tuple[PreTokenizer, ...]]:
    """Translate BPE by scores to merges; also return the stages that must cut text before it."""
    if model.byte_fallback:
        missing = [byte for byte in range(256) if model.vocabulary.id_of(byte_text(byte)) is None]
        if missing:
            raise FormatError(f"there is no token {byte_text(missing[0]).decode()} for a byte that is spelt out")
    merges = merges_of_scores(model)
    unknown = model.vocabulary.token(model.unk_id) if model.unk_id < model.vocabulary.size else b""
    if unknown and not model.byte_fallback:
        # There it stays a token of its own, and here the same ids side by side are one.
        edges.append(f"the text {quote(unknown.decode())}, the unknown token's, beside unknown characters")
    kinds = model.kinds
    own = [text.decode() for number, text in model.vocabulary.items() if kinds and kinds[number] == USER_DEFINED]
    cuts: tuple[PreTokenizer, ...] = ()
    if own:
        cuts = (split_at(own), *_cut_in_bytes(model, edges))
        edges.extend(_not_reached(model))
    written = CharacterBpe(
        model.vocabulary,
        merges,
        model.unk_id,
        fuse_unk=True,
        byte_fallback=model.byte_fallback,
        ignore_merges=bool(own),
    )
    return written, cuts


def _not_reached(model: ScoredBpe) -> list[str]:
    """Name the first piece that its text alone does not become, which it would as a whole piece of text."""
    pieces = normal_pieces(model)
    spelt = spelt_alone(model, [text.encode() for text in pieces])
    lost = [text for (text, token_id), ids in zip(pieces.items(), spelt, strict=True) if ids != [token_id]]
    return [f"the text {quote(lost[0])} between pieces of a user's own"] if lost else []


def _cut_in_bytes(model: ScoredBpe, edges: list[str]) -> list[PreTokenizer]:
    r"""Return what keeps a piece of text that spells ``<0x41>`` from being taken for that token as a whole.

    It is cut in two where merging by scores would leave a border in each of them.
    """
    if BYTE not in model.kinds:
        return []
    spelt = spelt_alone(model, [byte_text(byte) for byte in range(256)])
    borders = set(range(1, 6))
    for ids in spelt:
        ends, at = set(), 0
        for token_id in ids:
            at += len(model.vocabulary.token(token_id)) if token_id != model.unk_id else 7
            ends.add(at)
        borders &= ends
    for border in sorted(borders):
        left, right = ("<0x[0-9A-F]{2}>"[:border], "<0x[0-9A-F]{2}>"[border:]) if border <= 3 else ("", "")
        if left:
            return [Split(rf"(?<![\s\S]){left}(?={right}(?![\s\S]))")]
    edges.append(BYTES_EDGE)
    return []


def double_precision(model: Unigram, edges: list[str]) -> Unigram:
    """Translate a unigram model from SentencePiece's terms to Hugging Face's.

    A piece of a user's own has a score of its own in SentencePiece, made from its length; here that is written down.
    """
    kinds = model.kinds or bytes([NORMAL]) * model.vocabulary.size
    if UNUSED in kinds:
        raise FormatError("Hugging Face's unigram model has no unused pieces", hint="write bpe.json or a .model")
    normal = [model.scores[token_id] for token_id, _ in model.vocabulary.items() if kinds[token_id] == NORMAL]
    lowest = min(normal, default=0.0)
    scores = array("d", model.scores)
    for token_id, piece in model.vocabulary.items():
        if kinds[token_id] == USER_DEFINED:
            scores[token_id] = model.user_defined_score(len(piece))
            if scores[token_id] < lowest:
                edges.append(f"the piece {quote(piece)} of a user's own, whose score would be the lowest of all")
    if any(kinds[token_id] != NORMAL and scores[token_id] < lowest for token_id in range(len(scores))):
        edges.append("the score of unknown characters, which is 10 below the lowest of all")
    if BYTE in kinds:
        edges.append(BYTES_EDGE)
    if model.single_precision and any(len(piece.decode()) > 1 for _, piece in model.vocabulary.items()):
        edges.append("its scores, which SentencePiece adds in single and Hugging Face's library in double precision")
    return replace(model, scores=scores, single_precision=False, kinds=b"")


def _single(number: float) -> float:
    """Round to single precision."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        raise FormatError(f"the score {number:g} is not a number in single precision, which files have") from None


# -- Hugging Face's words into SentencePiece's -------------------------------------------------


def kinds_of(vocabulary: Vocabulary, specials: Sequence[SpecialToken], unk_id: int, own: Sequence[str]) -> bytes:
    """Return the type of each piece."""
    special_ids = {token.token_id for token in specials}
    size = max(vocabulary.size, max(special_ids, default=-1) + 1)
    mine = {piece.encode() for piece in own}
    kinds = bytearray()
    for token_id in range(size):
        text = vocabulary.token(token_id) if token_id < vocabulary.size else b""
        if token_id == unk_id or token_id in special_ids:
            kinds.append(UNKNOWN if token_id == unk_id else CONTROL)
        elif not text:
            raise FormatError(f"id {token_id} has no token, and pieces have ids without gaps")
        elif text in mine:
            kinds.append(USER_DEFINED)
        else:
            kinds.append(BYTE if BYTE_TEXT.fullmatch(text) else NORMAL)
    return bytes(kinds)


def _without_specials(vocabulary: Vocabulary, kinds: bytes) -> Vocabulary:
    """Leave out the texts of pieces that text never becomes."""
    return Vocabulary.from_tokens(
        vocabulary.token(token_id) if token_id < vocabulary.size and kind not in (UNKNOWN, CONTROL) else b""
        for token_id, kind in enumerate(kinds)
    )


def scoring_model(
    model: CharacterBpe,
    specials: Sequence[SpecialToken],
    cuts: Sequence[PreTokenizer],
    edges: list[str],
    reader: Reader,
) -> tuple[ScoredBpe, tuple[PreTokenizer, ...]]:
    """Translate BPE by merges to scores; also return the pre-tokenizers that it does not replace."""
    if model.unk_id is None:
        raise FormatError(f"{reader.name} needs an unknown token, and this tokenizer has none")
    if model.continuing_subword_prefix or model.end_of_word_suffix:
        raise FormatError(
            f"{reader.name} marks where words of characters begin, by blanks alone, and this model writes "
            + quote(model.continuing_subword_prefix or model.end_of_word_suffix)
            + " at symbols"
        )
    missing = [byte for byte in range(256) if model.vocabulary.id_of(byte_text(byte)) is None]
    if model.byte_fallback and missing:
        raise FormatError(
            f"there is no token {byte_text(missing[0]).decode()}, and {reader.name} spells bytes out with all of them"
        )
    if not model.fuse_unk and not model.byte_fallback:
        raise FormatError(f"{reader.name} gives neighbouring unknown characters one token, and this model one to each")
    own = (pieces_split_at(cuts[0]) or []) if cuts and model.ignore_merges else []
    kinds = kinds_of(model.vocabulary, specials, model.unk_id, own)
    vocabulary = _without_specials(model.vocabulary, kinds)
    rest = tuple(cuts[1:]) if own else tuple(cuts)
    pieces = {piece.decode(): token_id for token_id, piece in vocabulary.items() if kinds[token_id] == NORMAL}
    given = scores_of_merges(model, pieces)
    scores = array("d", (given.get(token_id, 0.0) for token_id in range(len(kinds))))
    written = ScoredBpe(vocabulary, scores, model.unk_id, kinds, model.byte_fallback)
    if model.ignore_merges:
        obstacles: list[str] = []
        rest = tuple(cut for cut in rest if cut not in _cut_in_bytes(written, obstacles))
        edges.extend(obstacles + _not_reached(written))
    return written, rest


def scored_unigram(model: Unigram, specials: Sequence[SpecialToken], edges: list[str], reader: Reader) -> Unigram:
    """Translate a unigram model from Hugging Face's terms to SentencePiece's."""
    if model.unk_id is None:
        raise FormatError(f"{reader.name} needs an unknown token, and this tokenizer has none")
    if not model.fuse_unk:
        raise FormatError(f"{reader.name} gives neighbouring unknown characters one token, and this model one to each")
    kinds = kinds_of(model.vocabulary, specials, model.unk_id, ())
    if not model.byte_fallback:
        kinds = kinds.replace(bytes([BYTE]), bytes([NORMAL]))
    elif BYTE in kinds:
        edges.append(BYTES_EDGE)
    scores = array("d", (_single(score) for score in model.scores))
    scores.extend([0.0] * (len(kinds) - len(scores)))
    if reader.single_precision != model.single_precision:
        added, before = ("single", "double") if reader.single_precision else ("double", "single")
        edges.append(f"its scores, which {reader.name} adds in {added} and this tokenizer in {before} precision")
    elif scores[: len(model.scores)] != model.scores:
        edges.append("its scores, which the file has in single precision")
    vocabulary = _without_specials(model.vocabulary, kinds)
    return replace(model, vocabulary=vocabulary, scores=scores, single_precision=reader.single_precision, kinds=kinds)


def refuse_own(model: Model) -> None:
    """Refuse features that neither of the two libraries has."""
    own = None
    if isinstance(model, (EventBpe, LongestMatch, FewestTokens, MaxMatch, GreedyCover, NGram)):
        own = ALGORITHMS[model.kind]
    elif isinstance(model, CharacterBpe) and model.separate_suffix:
        own = "BPE whose end of a word is a symbol of its own"
    elif isinstance(model, CharacterBpe) and model.whole_runs_of:
        own = f"BPE that takes runs of {quote(model.whole_runs_of)} as a whole, and nothing else"
    elif isinstance(model, Unigram) and not model.fuse_unk:
        own = "Unigram that leaves unknown characters apart"
    elif isinstance(model, Unigram) and model.unk_id is not None and _is_ordinary(model, model.unk_id):
        own = "Unigram whose unknown token is an ordinary piece too"
    elif model.fixed_point:
        own = FIXED_POINT
    if own:
        raise FormatError(f"Hugging Face's library has no {own}", hint=WHOLE)


def _is_ordinary(model: Unigram, unk_id: int) -> bool:
    return unk_id < model.vocabulary.size and bool(model.vocabulary.token(unk_id))


# --------------------------------------------------------------------------------------------------
# State who reads what is in SentencePiece's words: that library, or llama.cpp, which goes by the same.


@dataclass(frozen=True, slots=True)
class Reader:
    """A program that runs SentencePiece's models.

    Attributes:
        name: Its name in messages.
        holder: What they call its file.
        single_precision: Whether it adds scores as f32, or as f64.
    """

    name: str
    holder: str
    single_precision: bool


SENTENCEPIECE = Reader("SentencePiece", "a SentencePiece model", single_precision=True)
LLAMA_CPP = Reader("llama.cpp", "a GGUF file", single_precision=False)
