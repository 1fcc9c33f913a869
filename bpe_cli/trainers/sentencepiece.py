"""Train BPE, unigram, word and character models by SentencePiece's rules.

Kudo and Richardson 2018 (arXiv:1808.06226). The result is what ``spm_train`` gives for the same options:
its pieces, in its order, with its scores; for unigram models all but what rounding in f32 decides.

Lines are sentences. They are normalized by a table, blanks become marks, words are cut before each mark.
Pieces that are given (``<s>``, user-defined ones) divide words, and so do characters that are rare beyond
``character_coverage``. Unigram models count whole sentences, and cut them when their substrings are known.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from bpe_cli import _core
from bpe_cli.errors import TrainingError
from bpe_cli.stages import (
    Charsmap,
    Model,
    Normalizer,
    PreTokenizer,
    Replace,
    ScoredBpe,
    SpaceMarks,
    SpaceMarksDecoder,
    SpecialToken,
    Split,
    Unigram,
    WordLevel,
)
from bpe_cli.stages.named_stages import charsmap_of
from bpe_cli.stages.spelling import CONTROL, MARK, NORMAL, UNKNOWN, has_runs
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.support.core_arguments import options_json
from bpe_cli.support.messages import plural
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Origin
from bpe_cli.trainers.base import Front, Progress, Trained, Trainer, drawn, sample
from bpe_cli.trainers.counts import cut_tokens, refuse_nothing, small
from bpe_cli.trainers.left_out import RESERVED, LeftOut, without
from bpe_cli.trainers.sentencepiece_options import MODELS, SentencePieceOptions, meta_pieces, trainer_settings
from bpe_cli.trainers.unigram import refusal, why_fewer

if TYPE_CHECKING:
    from bpe_cli.teaching.steps import Steps

__all__ = ["MODELS", "SentencePieceOptions", "meta_pieces"]

BOUNDARY = "\x1f"
"""What stands for a given piece in a sentence: no piece has it, but it counts where coverage is worked out."""


def normalizer(options: SentencePieceOptions, kept: tuple[str, ...] = ()) -> tuple[Normalizer, ...]:
    """Return the stages that normalize text; in training user-defined pieces are normalized too, later ``kept``."""
    table: tuple[Normalizer, ...] = ()
    if options.normalization != "identity":
        table = (replace(charsmap_of(options.normalization), user_defined=kept),)
    elif has_runs(kept):
        table = (Charsmap("", kept),)
    return (
        *table,
        SpaceMarks(
            add_dummy_prefix=options.add_dummy_prefix,
            remove_extra_whitespaces=options.remove_extra_whitespaces,
            treat_whitespace_as_suffix=options.treat_whitespace_as_suffix,
        ),
    )


def _literally(text: str) -> str:
    """Write a text as an expression that matches it alone."""
    return "".join(each if each.isalnum() else f"\\x{{{ord(each):X}}}" for each in text)


def cuts(options: SentencePieceOptions) -> tuple[PreTokenizer, ...]:
    """Return the stage that cuts sentences into words; that of a word model is part of it."""
    if options.model == "word" or not options.treat_whitespace_as_suffix:
        behavior: Literal["MergedWithPrevious", "MergedWithNext"] = "MergedWithNext"
    else:
        behavior = "MergedWithPrevious"
    if not options.split_by_whitespace:
        return ()
    if options.allow_whitespace_only_pieces:
        return (Split(f"{MARK}+", behavior),)
    return (Split(MARK, behavior, literal=True),)


def alphabet(counts: _core.Counts, options: SentencePieceOptions) -> list[tuple[str, int]]:
    """Return the characters that are to have pieces, with their counts, the most frequent first.

    Characters are taken, the required ones first, until those taken make up the coverage; shares are
    compared as f32, as SentencePiece does.
    """
    counted = [(text, n) for text, n, *_ in _core.character_counts(counts) if text not in "\0 "]
    known = dict(counted)
    total = sum(known.values())
    if total == 0:
        return []
    required = [(text, known.get(text, 0)) for text in sorted(set(options.required_chars))]
    required.sort(key=lambda item: (-item[1], item[0]))
    rest = [item for item in counted if item[0] not in options.required_chars]
    taken, covered = [], 0
    for text, n in (*required, *rest):
        if _single(covered / total) >= _single(options.character_coverage):
            break
        covered += n
        if text != BOUNDARY:  # it counts as covered all the same
            taken.append((text, n))
    return sorted(taken, key=lambda item: (-item[1], item[0]))


def _single(value: float) -> float:
    """Round to an f32."""
    (rounded,) = struct.unpack("<f", struct.pack("<f", value))
    return float(rounded)


@dataclass(frozen=True, slots=True)
class Learnt:
    """The learnt pieces with their scores, in order, and notes on them; see ``Trained``."""

    pieces: list[tuple[str, float]]
    summary: tuple[str, ...]
    shortfall: str | None = None


def learn(
    counts: _core.Counts, options: SentencePieceOptions, progress: Progress | None = None, threads: int = 1
) -> Learnt:
    """Learn pieces with their scores. Word models have those too, though nothing depends on them."""
    refuse_nothing(counts)
    if options.model == "unigram":
        return _unigram(counts, options, progress, threads)
    characters = alphabet(counts, options)
    if not characters:
        raise TrainingError("there is nothing to train on: the corpus has no characters")
    room = options.vocab_size - len(meta_pieces(options))
    needed = len(characters) if options.model == "bpe" else 0
    if room < needed:
        raise TrainingError(
            f"a vocabulary of {options.vocab_size} is smaller than its alphabet and special pieces",
            hint=f"ask for {options.vocab_size - room + needed} or more, "
            "or for fewer characters with `character_coverage=X`",
        )
    if options.model == "bpe":
        return _merges(counts, options, characters, room - needed, progress)
    if options.model == "char":
        counted, total = characters, sum(n for _, n in characters)
    else:
        spelling = "".join(text for text, _ in characters)
        counted, total = _core.most_frequent_words(counts, spelling, max(room, 0)), counts.total
    pieces = [(text, _single(_log(n) - _log(total))) for text, n in counted[:room]]
    noun = "character" if options.model == "char" else "word"
    covered = len(characters) >= len({text for text, *_ in _core.character_counts(counts)} - {"\0", " ", BOUNDARY})
    rest = "" if covered else f" {'that' if noun == 'character' else 'whose characters'} are covered"
    shortfall = f"there are no more {noun}s{rest}" if len(pieces) < room else None
    return Learnt(pieces, (plural(len(pieces), noun),), shortfall)


def _log(number: int) -> float:
    """Return the logarithm of a count, in f32 as SentencePiece does.

    A required character that never occurs counts half: SentencePiece gives it minus infinity, and then no
    segmentation that has it can be told from another.
    """
    return _single(math.log(_single(number or 0.5)))


def _unigram(counts: _core.Counts, options: SentencePieceOptions, progress: Progress | None, threads: int) -> Learnt:
    try:
        trained = _core.train_unigram(
            counts,
            options_json(
                em={
                    "vocab_size": options.vocab_size,
                    "reserved": len(meta_pieces(options)),
                    "character_coverage": options.character_coverage,
                    "required": options.required_chars,
                    "seed_size": options.seed_size,
                    "shrinking_factor": options.shrinking_factor,
                    "sub_iterations": options.sub_iterations,
                    "rules": _rules(options),
                    "single_precision": True,
                    "threads": threads,
                }
            ),
            progress,
        )
    except ValueError as error:
        raise refusal(error) from error
    tokens = cut_tokens(*trained.tokens())
    pieces = [(token.decode(), score) for token, score in zip(tokens, trained.scores, strict=True)]
    characters = trained.characters
    longer = f"{plural(len(pieces) - characters, 'longer piece')} of {trained.seeds:,} substrings"
    is_short = len(pieces) + len(meta_pieces(options)) < options.vocab_size
    shortfall = why_fewer(trained.short, trained.seeds - characters, options.seed_size) if is_short else None
    return Learnt(pieces, (plural(characters, "character"), longer), shortfall)


def _rules(options: SentencePieceOptions) -> dict[str, int | bool]:
    """Return the options that decide which substrings can be pieces, by the core's names."""
    return {
        "max_length": options.max_token_length,
        "split_by_whitespace": options.split_by_whitespace,
        "split_by_unicode_script": options.split_by_unicode_script,
        "split_by_number": options.split_by_number,
        "split_digits": options.split_digits,
        "treat_whitespace_as_suffix": options.treat_whitespace_as_suffix,
        "allow_whitespace_only_pieces": options.allow_whitespace_only_pieces,
    }


def _merges(
    counts: _core.Counts,
    options: SentencePieceOptions,
    characters: list[tuple[str, int]],
    merges: int,
    progress: Progress | None,
) -> Learnt:
    texts = [text for text, _ in characters]
    tokens, _, exhausted = _core.train_scored_pairs(
        counts,
        options_json(alphabet=texts, merges=merges, min_frequency=options.min_frequency, rules=_rules(options)),
        progress,
    )
    pieces = [(text, -float(number)) for number, text in enumerate((*tokens, *texts))]
    summary = (plural(len(characters), "character"), plural(len(tokens), "merge"))
    often = f"occurs {options.min_frequency:,} times or more and " if options.min_frequency > 1 else ""
    return Learnt(pieces, summary, f"no pair is left that {often}may be merged" if exhausted else None)


def assemble(options: SentencePieceOptions, learnt: list[tuple[str, float]]) -> Tokenizer:
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
    if options.model == "bpe":
        model = ScoredBpe(vocabulary, scores, options.unk_id, kinds, options.byte_fallback)
    elif options.model in ("unigram", "char"):
        model = Unigram(vocabulary, scores, options.unk_id, options.byte_fallback, single_precision=True, kinds=kinds)
    else:
        model = WordLevel(vocabulary, options.unk_id, fuse_unk=True)
    return Tokenizer(
        model,
        cuts(options) if options.model == "word" else (),
        tuple(SpecialToken(text.encode(), n) for n, (text, kind) in enumerate(meta) if kind in (UNKNOWN, CONTROL)),
        normalizer=normalizer(options, options.user_defined),
        decoder=(
            SpaceMarksDecoder(
                options.add_dummy_prefix,
                options.remove_extra_whitespaces,
                options.treat_whitespace_as_suffix,
                options.unk_surface,
            ),
        ),
        origin=Origin("", trained=trainer_settings(options)),
    )


class SentencePiece(Trainer[SentencePieceOptions]):
    """Train by SentencePiece's rules."""

    Options = SentencePieceOptions
    follows = MODELS

    def chosen_by(self, algorithm: str, compat: str | None) -> dict[str, str]:
        """Return the model to train: the algorithm that was asked for."""
        return {"model": algorithm} if algorithm in self.follows else {}

    def takes_lines(self, options: SentencePieceOptions) -> bool:
        """Return True: it learns from lines."""
        return True

    def choose(self, blocks: Iterable[Block], options: SentencePieceOptions, left_out: LeftOut) -> Iterable[Block]:
        """Return the sentences to learn from: those that are not too long, or a sample of them."""
        usable = without(blocks, options.max_sentence_length, RESERVED.encode(), left_out)
        return sample(usable, options.input_sentence_size)

    def choosing(self, options: SentencePieceOptions) -> dict[str, int]:
        """Return how long a sentence may be, and of how many a sample is drawn."""
        return {"max_sentence_length": options.max_sentence_length, **drawn(options.input_sentence_size)}

    def front(self, options: SentencePieceOptions) -> Front:
        """Return the stages that sentences go through: normalized, given pieces marked, and cut into words."""
        given = sorted((text for text, _ in meta_pieces(options)), key=len, reverse=True)
        expression = "|".join(map(_literally, given))
        if options.model == "unigram":
            return Front((*normalizer(options), Replace(expression, BOUNDARY)))
        return Front((*normalizer(options), Replace(expression, BOUNDARY)), cuts(options))

    def train(
        self, counts: _core.Counts, options: SentencePieceOptions, progress: Progress | None = None, threads: int = 1
    ) -> Trained:
        """Learn a model from counts of words (of sentences, for a unigram model)."""
        learnt = learn(counts, options, progress, threads)
        meta = len(meta_pieces(options))
        size = len(learnt.pieces) + meta
        if learnt.shortfall and options.hard_vocab_limit:
            raise TrainingError(
                f"only {size:,} of {options.vocab_size:,} pieces can be made: {learnt.shortfall}",
                hint=f"ask for {size}, or leave hard_vocab_limit out",
            )
        return Trained(assemble(options, learnt.pieces), (*learnt.summary, f"{meta} special"), learnt.shortfall)

    def untrained(self, options: SentencePieceOptions) -> Tokenizer:
        """Return a tokenizer with nothing learnt."""
        return assemble(options, [(MARK, 0.0)])

    def signed(self, tokenizer: Tokenizer, inputs: Sequence[str], output: str | None) -> Tokenizer:
        """Return a tokenizer that states the files of its training as they were given."""
        prefix = () if output is None else (("model_prefix", output.removesuffix(".model")),)
        trained = (
            *(("input", path) for path in inputs),
            *prefix,
            *(tokenizer.origin.trained if tokenizer.origin else ()),
        )
        return replace(tokenizer, origin=Origin("", trained=trained))

    def steps(self, counts: _core.Counts, options: SentencePieceOptions) -> Steps:
        """Return the pieces with their scores: those given, and those learnt in their order."""
        from bpe_cli.teaching.steps import ScoredPieces

        small(counts)
        meta = meta_pieces(options)
        given = {text for text, _ in meta}
        learnt = ((piece, score) for piece, score in learn(counts, options).pieces if piece not in given)
        return ScoredPieces((*((text, 0.0) for text, _ in meta), *learnt))


TRAINER = SentencePiece()
Options = SentencePieceOptions
