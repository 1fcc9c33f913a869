"""The options of SentencePiece's trainers, and the pieces that exist before any training."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from bpe_cli.errors import UsageError
from bpe_cli.stages.spelling import BYTE, BYTE_TEXTS, CONTROL, MARK, UNKNOWN, USER_DEFINED
from bpe_cli.tokenizer.usage import Fact
from bpe_cli.trainers.base import Options, check_list

MODELS = ("bpe", "unigram", "word", "char")
"""What ``model`` can be: the algorithms of ``train -a`` that have these rules."""

OF_MODELS = {
    "min_frequency": ("bpe",),
    "seed_size": ("unigram",),
    "shrinking_factor": ("unigram",),
    "sub_iterations": ("unigram",),
    "max_token_length": ("bpe", "unigram"),
    "split_by_whitespace": ("bpe", "unigram"),
    "split_by_unicode_script": ("bpe", "unigram"),
    "split_by_number": ("bpe", "unigram"),
    "split_digits": ("bpe", "unigram"),
    "allow_whitespace_only_pieces": ("bpe", "unigram"),
    "byte_fallback": ("bpe", "unigram", "char"),
}
"""Options that not all models have, and those that do."""


@dataclass(frozen=True, slots=True)
class SentencePieceOptions(Options):
    """Define what to train. Names and defaults are those of ``spm_train``.

    Attributes:
        vocab_size: The number of pieces, of all types.
        model: ``bpe``, ``unigram``, ``word`` or ``char``.
        normalization: The table that normalizes text: nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf, identity.
        special_tokens: Control symbols, which get the lowest free ids in this order. Text never becomes one of them.
        user_defined: Pieces that are always matched in text, and that take part in no merge.
        unk_piece: The text of the unknown piece.
        bos_piece: The text of the piece for the beginning of a sentence.
        eos_piece: The text of the piece for the end of a sentence.
        pad_piece: The text of the padding piece.
        unk_id: The id of the unknown piece.
        bos_id: The id of the piece for the beginning of a sentence; -1 for none.
        eos_id: The id of the piece for the end of a sentence; -1 for none.
        pad_id: The id of the padding piece; -1 for none.
        unk_surface: The text that an unknown piece is decoded to.
        character_coverage: The share of the text's characters that get a piece, from 0.98 to 1.
        required_chars: Characters that get a piece whatever the coverage.
        byte_fallback: Whether characters without a piece become the pieces of their bytes.
        add_dummy_prefix: Whether to put a space before each sentence.
        remove_extra_whitespaces: Whether to remove spaces at the ends, and all but one of several in a row.
        treat_whitespace_as_suffix: Whether a space belongs to the word before it.
        allow_whitespace_only_pieces: Whether several spaces can be one piece.
        split_by_whitespace: Whether to forbid pieces that cross a space.
        split_by_unicode_script: Whether to forbid pieces with characters of different scripts.
        split_by_number: Whether to forbid pieces with both digits and letters.
        split_digits: Whether each digit is a piece of its own.
        max_token_length: The maximum number of characters in a piece.
        max_sentence_length: The maximum length of a sentence in bytes; longer ones are skipped.
        input_sentence_size: The number of sentences to draw as a sample to train on; None for all.
        min_frequency: Pairs that occur less often are not merged (bpe).
        seed_size: The maximum number of substrings to begin with (unigram).
        shrinking_factor: The share of the pieces that each round of pruning keeps (unigram).
        sub_iterations: Steps of expectation maximisation before each pruning (unigram).
        hard_vocab_limit: Whether it is an error if there are fewer pieces than requested.
    """

    vocab_size: int
    model: Literal["bpe", "unigram", "word", "char"] = "bpe"
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
    unk_surface: str = " ⁇ "
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
    input_sentence_size: int | None = None
    min_frequency: int = 1
    seed_size: int = 1_000_000
    shrinking_factor: float = 0.75
    sub_iterations: int = 2
    hard_vocab_limit: bool = False

    def __post_init__(self) -> None:
        if not 0.98 <= self.character_coverage <= 1:
            raise UsageError(f"a character coverage of {self.character_coverage} is not between 0.98 and 1")
        if self.max_token_length < 1 or self.max_sentence_length < 1:
            raise UsageError("`max_token_length` and max_sentence_length must be 1 or more")
        if not 0 < self.shrinking_factor < 1:
            raise UsageError(f"a shrinking factor of {self.shrinking_factor} is not between 0 and 1")
        sample = 1 if self.input_sentence_size is None else self.input_sentence_size
        if min(self.seed_size, self.sub_iterations, sample) < 1:
            raise UsageError("seed_size, sub_iterations and input_sentence_size are 1 or more")
        for each in fields(self):
            models = OF_MODELS.get(each.name, MODELS)
            if self.model not in models and getattr(self, each.name) != each.default:
                raise UsageError(
                    f"a {self.model} model has no {each.name}", hint=f"{' and '.join(models)} models have it"
                )
        check_list("special_tokens", self.special_tokens)
        check_list("user_defined", self.user_defined)
        meta_pieces(self)


def trainer_settings(options: SentencePieceOptions) -> tuple[tuple[str, Fact], ...]:
    """Return the settings of the training as SentencePiece's ``TrainerSpec``, as ``spm_train`` writes it.

    A result does not depend on the threads here, and is that of one thread there.
    """
    usual = {each.name: each.default for each in fields(options)}
    given = {name: getattr(options, name) for name in usual}
    for name, models in OF_MODELS.items():
        if options.model not in models:
            given[name] = usual[name]
    return (
        ("model_type", options.model.upper()),
        ("self_test_sample_size", 0),
        ("character_coverage", options.character_coverage),
        ("input_sentence_size", options.input_sentence_size or 0),
        ("seed_sentencepiece_size", given["seed_size"]),
        ("shrinking_factor", given["shrinking_factor"]),
        ("num_threads", 1),
        ("num_sub_iterations", given["sub_iterations"]),
        ("max_sentence_length", options.max_sentence_length),
        ("shuffle_input_sentence", True),
        ("max_sentencepiece_length", given["max_token_length"]),
        *((name, given[name]) for name in _SAME_NAMES),
        *(("control_symbols", text) for text in options.special_tokens),
        *(("user_defined_symbols", text) for text in options.user_defined),
        ("vocabulary_output_piece_score", True),
        ("use_all_vocab", False),
        ("normalizer_spec.name", options.normalization),
    )


_SAME_NAMES = (
    "split_by_unicode_script", "split_by_whitespace", "split_by_number", "treat_whitespace_as_suffix", "split_digits",
    "allow_whitespace_only_pieces", "hard_vocab_limit", "byte_fallback", "required_chars", "unk_id", "bos_id", "eos_id",
    "pad_id", "unk_surface", "unk_piece", "bos_piece", "eos_piece", "pad_piece",
)  # fmt: skip
"""Options that ``TrainerSpec`` calls so, too."""


def meta_pieces(options: SentencePieceOptions) -> list[tuple[str, int]]:
    """Return the pieces that exist before any training, with their types, by id.

    Raises:
        UsageError: if two have one id or one text, or the ids leave a gap.
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
    for text in options.user_defined:
        others.append((text, USER_DEFINED))
        if options.model == "word" and not text.startswith(MARK):
            others.append((MARK + text, USER_DEFINED))  # as it stands in front of other words
    for token_id, (text, kind) in fixed.items():
        # A beginning, an end and a filling keep their ids, and are found in text if they are named there.
        if kind == CONTROL and (text, USER_DEFINED) in others:
            fixed[token_id] = text, USER_DEFINED
            others.remove((text, USER_DEFINED))
    others += [(text.decode(), BYTE) for text in BYTE_TEXTS] if options.byte_fallback else []
    waiting = iter(others)
    pieces: list[tuple[str, int]] = []
    while len(pieces) < len(fixed) + len(others):
        following = fixed.get(len(pieces)) or next(waiting, None)
        if following is None:
            ids = ", ".join(f"{role}_id={getattr(options, f'{role}_id')}" for role in ("unk", "bos", "eos", "pad"))
            raise UsageError(f"no piece has the id {len(pieces)}, and higher ids are given out: {ids}")
        pieces.append(following)
    texts = [text for text, _ in pieces]
    if "" in texts:
        raise UsageError("a special token or another piece has no text")
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        if [*options.special_tokens, *options.user_defined].count(twice) == 1:
            raise UsageError(
                f"the model has a piece {twice!r} of its own",
                hint="leave it out of `special_tokens` or user_defined",
            )
        raise UsageError(f"two pieces have the text {twice!r}", hint="leave one of them out, or change its text")
    return pieces
