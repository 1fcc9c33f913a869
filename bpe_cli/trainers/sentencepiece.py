"""Train BPE, word and character models by SentencePiece's rules.

Kudo and Richardson 2018 (arXiv:1808.06226). The result is what ``spm_train`` gives for the same options:
its pieces, in its order, with its scores. (Unigram is in ``unigram``, which has these rules too.)

Lines are sentences. They are normalized by a table, blanks become marks, words are cut before each mark.
Characters that are rare beyond ``character_coverage`` are left out and divide words.
"""

from __future__ import annotations

import base64
import math
import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import (
    Charsmap,
    Model,
    Normalizer,
    PreTokenizer,
    ScoredBpe,
    SpaceMarks,
    SpaceMarksDecoder,
    SpecialToken,
    Split,
    Unigram,
    WordLevel,
)
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers.base import Front, Progress, Trained, pieces_of, plural, small
from bpe_cli.vocabulary import Vocabulary

MODELS = ("bpe", "word", "char")
"""What ``model`` can be: the algorithms of ``train -a`` that have these rules."""

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6
MARK = "▁"


@dataclass(frozen=True, slots=True)
class Options:
    """Say what to train. Names and defaults are those of ``spm_train``.

    Attributes:
        vocab_size: Pieces to end with, all kinds counted.
        model: ``bpe``, ``word`` or ``char``.
        normalization: The table that text is normalized by: nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf, identity.
        special_tokens: Control symbols: they take the lowest free ids in this order. Text never becomes one.
        user_defined: Pieces that text always becomes, and that nothing is merged with.
        unk_piece: The text of the unknown piece.
        bos_piece: The piece of a beginning.
        eos_piece: The piece of an end.
        pad_piece: The piece that fills up.
        unk_id: The id of the unknown piece.
        bos_id: The id of a beginning; -1 for none.
        eos_id: The id of an end; -1 for none.
        pad_id: The id of what fills up; -1 for none.
        character_coverage: How much of the text's characters are to have a piece, 0.98 to 1.
        required_chars: Characters that are to have a piece whatever the coverage.
        byte_fallback: Whether characters without a piece become pieces of their bytes.
        add_dummy_prefix: Put a blank before each sentence.
        remove_extra_whitespaces: Leave out blanks at the ends, and all but one of several.
        treat_whitespace_as_suffix: Blanks belong to the word before them.
        allow_whitespace_only_pieces: Several blanks can be one piece.
        split_by_whitespace: No piece goes on across a blank.
        split_by_unicode_script: No piece has characters of different scripts.
        split_by_number: Digits go with no letters.
        split_digits: Each digit is a piece.
        max_token_length: Most characters of a piece.
        max_sentence_length: Longer sentences are passed over, in bytes.
        min_frequency: Merge no pair that occurs less often.
        hard_vocab_limit: Whether fewer pieces than asked for are an error.
    """

    vocab_size: int
    model: Literal["bpe", "word", "char"] = "bpe"
    normalization: Literal["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"] = "nmt_nfkc"
    special_tokens: tuple[str, ...] = ()
    user_defined: tuple[str, ...] = ()
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = -1
    character_coverage: float = 0.9995
    required_chars: str = ""
    byte_fallback: bool = False
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False
    allow_whitespace_only_pieces: bool = False
    split_by_whitespace: bool = True
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_digits: bool = False
    max_token_length: int = 16
    max_sentence_length: int = 4192
    min_frequency: int = 1
    hard_vocab_limit: bool = False

    def __post_init__(self) -> None:
        if not 0.98 <= self.character_coverage <= 1:
            raise UsageError(f"a character coverage of {self.character_coverage} does not lie between 0.98 and 1")
        if self.max_token_length < 1 or self.max_sentence_length < 1:
            raise UsageError("pieces and sentences are at least 1 long")
        meta_pieces(self)


def meta_pieces(options: Options) -> list[tuple[str, int]]:
    """Give the pieces that are there before any training, with their types, by id.

    Raises:
        UsageError: Two have one id or one text, or the ids leave a gap.
    """
    fixed: dict[int, tuple[str, int]] = {}
    for token_id, text, kind in (
        (options.unk_id, options.unk_piece, UNKNOWN),
        (options.bos_id, options.bos_piece, CONTROL),
        (options.eos_id, options.eos_piece, CONTROL),
        (options.pad_id, options.pad_piece, CONTROL),
    ):
        if token_id < 0 and kind != UNKNOWN:
            continue
        if token_id < 0 or token_id in fixed:
            raise UsageError(f"the piece {text!r} cannot have the id {token_id}")
        fixed[token_id] = text, kind
    others = [(text, CONTROL) for text in options.special_tokens]
    others += [(text, USER_DEFINED) for text in options.user_defined]
    others += [(f"<0x{byte:02X}>", BYTE) for byte in range(256)] if options.byte_fallback else []
    waiting = iter(others)
    pieces: list[tuple[str, int]] = []
    while len(pieces) < len(fixed) + len(others):
        following = fixed.get(len(pieces)) or next(waiting, None)
        if following is None:
            raise UsageError(f"no piece has the id {len(pieces)}, and higher ids are given out")
        pieces.append(following)
    texts = [text for text, _ in pieces]
    if "" in texts or len(set(texts)) < len(texts):
        twice = next((text for text in texts if texts.count(text) > 1), "")
        raise UsageError(f"the piece {twice!r} is empty or stands twice")
    return pieces


def documents(_: Options) -> Literal["lines"]:
    """Learn from lines."""
    return "lines"


def normalizer(options: Options) -> tuple[Normalizer, ...]:
    """Give the stages that normalize text."""
    table: tuple[Normalizer, ...] = ()
    if options.normalization != "identity":
        table = (Charsmap(base64.b64encode(_core.charsmap(options.normalization)).decode()),)
    return (
        *table,
        SpaceMarks(
            add_dummy_prefix=options.add_dummy_prefix,
            remove_extra_whitespaces=options.remove_extra_whitespaces,
            treat_whitespace_as_suffix=options.treat_whitespace_as_suffix,
        ),
    )


def front(options: Options) -> Front:
    """Give the stages that lines go through: normalized, and cut into words."""
    cuts: list[PreTokenizer] = [Split(text, "Removed", literal=True) for text in options.user_defined]
    if options.split_by_whitespace:
        behavior: Literal["MergedWithPrevious", "MergedWithNext"] = (
            "MergedWithPrevious" if options.treat_whitespace_as_suffix else "MergedWithNext"
        )
        if options.allow_whitespace_only_pieces:
            cuts.append(Split(f"{MARK}+", behavior))
        else:
            cuts.append(Split(MARK, behavior, literal=True))
    return Front(normalizer(options), tuple(cuts))


def alphabet(counts: _core.Counts, options: Options) -> list[tuple[str, int]]:
    """Give the characters that are to have pieces, with their counts, the most frequent first.

    Characters are taken, the required ones first, until those taken make up the coverage; shares are
    compared as f32, as SentencePiece does.
    """
    counted = [(text, n) for text, n in _core.character_counts(counts) if text != "\0"]
    known = dict(counted)
    total = sum(known.values())
    required = [(text, known.get(text, 0)) for text in sorted(set(options.required_chars))]
    required.sort(key=lambda item: (-item[1], item[0]))
    rest = [item for item in counted if item[0] not in options.required_chars]
    taken, seen = [], 0
    for text, n in (*required, *rest):
        if _single(seen / total) >= _single(options.character_coverage):
            break
        seen += n
        taken.append((text, n))
    return sorted(taken, key=lambda item: (-item[1], item[0]))


def _single(value: float) -> float:
    """Round to an f32."""
    (rounded,) = struct.unpack("<f", struct.pack("<f", value))
    return float(rounded)


def train(
    counts: _core.Counts,
    options: Options,
    progress: Progress | None = None,
    threads: int = 1,  # noqa: ARG001  # one is enough
) -> Trained:
    """Learn a model from counts of words.

    Raises:
        TrainingError: There is nothing to train on, or the vocabulary is smaller than its alphabet.
    """
    if counts.unique == 0:
        raise TrainingError("there is nothing to train on: the corpus has no text")
    room = options.vocab_size - len(meta_pieces(options))
    characters = alphabet(counts, options)
    if options.model == "bpe":
        return _train_bpe(counts, options, characters, room, progress)
    if options.model == "char":
        total = math.log(sum(n for _, n in characters))
        learnt = [(text, _single(_single(math.log(n)) - _single(total))) for text, n in characters if n][: max(0, room)]
    else:
        learnt = _words(counts, {text for text, _ in characters}, room)
    noun = "character" if options.model == "char" else "word"
    shortfall = f"there are no more {noun}s" if len(learnt) < room else None
    _check(options, len(learnt) - room if room < 0 else 0, len(learnt), shortfall)
    return Trained(assemble(options, learnt), (plural(len(learnt), noun), _meta_summary(options)), shortfall)


def _words(counts: _core.Counts, known: set[str], room: int) -> list[tuple[str, float]]:
    """Give the most frequent words whose characters all have pieces, with their log probabilities."""
    words: dict[str, int] = {}
    for piece, n in pieces_of(counts).items():
        text = piece.decode("utf-8", "replace")
        words[text] = words.get(text, 0) + n
    total = _single(math.log(sum(words.values())))
    ordered = sorted(words.items(), key=lambda item: (-item[1], item[0].encode()))
    whole = ((text, n) for text, n in ordered if known.issuperset(text))
    return [(text, _single(_single(math.log(n)) - total)) for (text, n), _ in zip(whole, range(room), strict=False)]


def _train_bpe(
    counts: _core.Counts,
    options: Options,
    characters: list[tuple[str, int]],
    room: int,
    progress: Progress | None,
) -> Trained:
    _check(options, room - len(characters), 0, None)
    tokens, _, exhausted = _core.train_scored_pairs(
        counts,
        alphabet=[text for text, _ in characters],
        merges=room - len(characters),
        min_frequency=options.min_frequency,
        max_piece_length=options.max_token_length,
        split_by_whitespace=options.split_by_whitespace,
        split_by_unicode_script=options.split_by_unicode_script,
        split_by_number=options.split_by_number,
        split_digits=options.split_digits,
        treat_whitespace_as_suffix=options.treat_whitespace_as_suffix,
        allow_whitespace_only_pieces=options.allow_whitespace_only_pieces,
        progress=progress,
    )
    learnt = [(text, -float(number)) for number, text in enumerate((*tokens, *(text for text, _ in characters)))]
    shortfall = "no pair is left that may be merged" if exhausted else None
    _check(options, 0, len(learnt), shortfall)
    summary = (plural(len(characters), "character"), plural(len(tokens), "merge"), _meta_summary(options))
    return Trained(assemble(options, learnt), summary, shortfall)


def _meta_summary(options: Options) -> str:
    return f"{len(meta_pieces(options))} special"


def _check(options: Options, missing: int, learnt: int, shortfall: str | None) -> None:
    """Make sure that the vocabulary has room, and is filled if it must be.

    Raises:
        TrainingError: It has not, or is not.
    """
    if missing < 0:
        raise TrainingError(
            f"a vocabulary of {options.vocab_size} is smaller than its alphabet and special pieces",
            hint=f"ask for {options.vocab_size - missing} or more, or for a lower --set character_coverage",
        )
    if shortfall and options.hard_vocab_limit:
        size = learnt + len(meta_pieces(options))
        raise TrainingError(
            f"only {size:,} of {options.vocab_size:,} pieces can be made: {shortfall}",
            hint=f"ask for {size}, or leave hard_vocab_limit out",
        )


def assemble(options: Options, learnt: list[tuple[str, float]]) -> Tokenizer:
    """Put a tokenizer together."""
    meta = meta_pieces(options)
    texts = [text for text, _ in meta]
    present = set(texts)
    ordinary = [(text, score) for text, score in learnt if text not in present]
    kinds = bytes([*(kind for _, kind in meta), *(NORMAL for _ in ordinary)])
    vocabulary = Vocabulary.from_tokens(
        [
            *(b"" if kind in (UNKNOWN, CONTROL) else text.encode() for text, kind in meta),
            *(text.encode() for text, _ in ordinary),
        ]
    )
    scores = array("d", [*(0.0 for _ in meta), *(score for _, score in ordinary)])
    model: Model
    cuts: tuple[PreTokenizer, ...] = ()
    if options.model == "bpe":
        model = ScoredBpe(vocabulary, scores, options.unk_id, kinds, options.byte_fallback)
    elif options.model == "char":
        model = Unigram(vocabulary, scores, options.unk_id, options.byte_fallback, single_precision=True, kinds=kinds)
    else:
        model = WordLevel(vocabulary, options.unk_id, fuse_unk=True)
        cuts = front(options).pre_tokenizer
    return Tokenizer(
        model,
        cuts,
        tuple(SpecialToken(text.encode(), n) for n, (text, kind) in enumerate(meta) if kind in (UNKNOWN, CONTROL)),
        normalizer=normalizer(options),
        decoder=(
            SpaceMarksDecoder(
                options.add_dummy_prefix, options.remove_extra_whitespaces, options.treat_whitespace_as_suffix
            ),
        ),
    )


def untrained(options: Options) -> Tokenizer:
    """Give a tokenizer with nothing learnt."""
    return assemble(options, [(MARK, 0.0)])


def steps(counts: _core.Counts, options: Options) -> Iterator[str]:
    """Yield the pieces as they are learnt, a line each."""
    small(counts)
    trained = train(counts, options)
    model = trained.tokenizer.model
    for token_id, token in model.vocabulary.items():
        score = model.scores[token_id] if isinstance(model, (ScoredBpe, Unigram)) else 0.0
        yield f"{token_id:>6}  {score:10.4f}  {token.decode()}"
