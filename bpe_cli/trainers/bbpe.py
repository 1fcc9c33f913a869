"""Train byte-level BPE: counts of pieces -> merges -> a tokenizer.

Sennrich et al. 2016 (arXiv:1508.07909) over bytes, as GPT-2 does it. What differs between the
libraries, and is picked by ``compat``, is how ties are decided, how ids are given out, and defaults.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from bpe_cli import _core
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.stages import MergeBpe, PrefixSpace, PreTokenizer, SpecialToken, Split
from bpe_cli.stages.component_json import core_spec
from bpe_cli.stages.counting import Cutter, Cutting, SplitText
from bpe_cli.stages.spelling import ALPHABET_ORDER, from_visible
from bpe_cli.stages.splitters import compile_splitter, show_pattern
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support import regex_version
from bpe_cli.support.core_arguments import options_json
from bpe_cli.support.messages import no_pair, plural
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import parity, superwords
from bpe_cli.trainers.base import (
    Front,
    Progress,
    Trained,
    Trainer,
    merges_within,
    sized,
)
from bpe_cli.trainers.bbpe_options import BbpeOptions as BbpeOptions
from bpe_cli.trainers.bbpe_rules import COMPAT as COMPAT
from bpe_cli.trainers.bbpe_rules import Compat as Compat
from bpe_cli.trainers.counts import counts_of, items_of, mark_pieces, new_counts, read_words, refuse_nothing, small

if TYPE_CHECKING:
    from bpe_cli.teaching.steps import Steps


@dataclass(frozen=True, slots=True)
class BbpeTrained(Trained):
    """The result of a training.

    Attributes:
        merge_counts: How often each merge's pair occurred when it was chosen (u64).
        exhausted: Whether it stopped because no pair was left that is frequent enough.
        chosen_by: With ``parity``, the number of the language that chose each merge (u32); ``parity.NO_LANGUAGE`` for a
            merge that was given, or that all chose together.
    """

    merge_counts: memoryview = field(kw_only=True)
    exhausted: bool = field(kw_only=True)
    chosen_by: memoryview | None = field(kw_only=True, default=None)


def _reserved(options: BbpeOptions, initial: list[bytes]) -> list[bytes]:
    """Return the products that would be written like special tokens, unless they are those (as with ``hf``)."""
    return [text for content in options.special_tokens if (text := from_visible(content)) and text not in initial]


class _Learnt(NamedTuple):
    """Merges that were learnt, and what their algorithm says of them.

    Attributes:
        training: The merges, and the tokens that they make.
        switch: With ``superwords``, how many merges the first stage made, and how many the second took over.
        chosen_by: With ``parity``, who chose each merge.
    """

    training: _core.BpeTraining
    switch: tuple[int, int] | None = None
    chosen_by: array[int] | None = None


def _merging(
    options: BbpeOptions, initial: list[bytes], symbols: list[int], vocab_size: int, mark: bytes
) -> dict[str, Any]:
    """Return what any algorithm is told about the merges to learn."""
    return {
        "initial": initial,
        "symbols": symbols,
        "vocab_size": vocab_size,
        "min_frequency": options.minimum,
        "tie": options.rules.tie,
        "boundary_mark": mark,
        "vetoes": {
            "max_token_length": options.max_token_length,
            "character_boundaries": options.character_boundaries,
            "max_digits": options.max_digits,
            "reserved": _reserved(options, initial),
        },
    }


def _learn(
    counts: _core.Counts, options: BbpeOptions, merging: dict[str, Any], progress: Progress | None, threads: int
) -> _Learnt:
    """Learn merges by the algorithm that the options ask for; ``merging`` is what all of them are told."""
    if options.superwords:
        training, made, taken_over = superwords.train(counts, options, merging, progress, threads)
        return _Learnt(training, switch=(made, taken_over))
    if options.parity:
        training, chosen_by = parity.train(counts, options, merging, progress, threads)
        return _Learnt(training, chosen_by=chosen_by)
    return _Learnt(_core.train_bpe(counts, options_json(**merging), progress))


def _shortfall(options: BbpeOptions, *, bounded: bool) -> str:
    """Return why there are fewer tokens than were asked for: no pair was left."""
    shortfall = no_pair(
        options.minimum, unit="byte", max_token_length=options.max_token_length, max_digits=options.max_digits,
        character_boundaries=options.character_boundaries, bounded=bounded,
    )  # fmt: skip
    if not options.parity:
        return shortfall
    if options.pass_over:
        return f"{shortfall} in any language"
    return f"{shortfall} in the language whose turn it is; `pass_over=yes` goes on with the others"


def _check_size(options: BbpeOptions, initial: list[bytes], symbols: int) -> None:
    """Check that the vocabulary has room for the tokens that exist before the first merge."""
    specials = len(options.special_tokens)
    made = parity.preloaded(options, initial)[1]
    needed = len(initial) + made + (0 if options.rules.special_first else specials)
    if options.vocab_size < needed:
        parts = f"{symbols} bytes" + (f" and {specials} special token{'s' if specials > 1 else ''}" if specials else "")
        parts += f" and {plural(made, 'token')} of `preload`" if made else ""
        smaller = ', or for `initial_alphabet="seen"`' if options.alphabet == "all" else ""
        raise TrainingError(
            f"a vocabulary of {options.vocab_size} is smaller than its initial tokens: {parts}",
            hint=f"ask for {needed} or more{smaller}",
        )
    if options.vocab_size > _core.MAX_TOKENS:
        raise UsageError(f"a vocabulary of {options.vocab_size} is larger than the {_core.MAX_TOKENS:,} that fit")


def _named(expression: str) -> str:
    return f"the pattern {show_pattern(expression)}" if expression else "no pattern"


def _texts(options: BbpeOptions, counts: _core.Counts) -> Iterator[tuple[bytes, int]]:
    """Yield pieces that have all bytes that are learnt from, without the marks of a trainer."""
    if options.superwords:
        return superwords.runs_of(counts)
    return parity.texts_of(counts) if options.parity else items_of(counts)


def initial_tokens(options: BbpeOptions, counts: _core.Counts) -> tuple[list[bytes], list[int], dict[str, int]]:
    """Return the tokens that exist before the first merge.

    A special token whose text is one that merges could make, written in the visible alphabet, *is*
    that token under Hugging Face's rules: it keeps its id, and merges that give it reuse it.

    Returns:
        Their bytes by id (``b""`` for a special token that no merge makes), the ids of the alphabet,
        and the special tokens that are among them, with their ids.
    """
    alphabet = list(ALPHABET_ORDER) if options.rules.visible_order else list(range(256))
    if options.alphabet == "seen":
        present_bytes: set[int] = set()
        mark = options.boundary_mark.encode()
        for piece, _ in _texts(options, counts):
            present_bytes.update(piece.replace(mark, b"") if mark else piece)
        alphabet = [byte for byte in alphabet if byte in present_bytes]
    initial: list[bytes] = []
    specials: dict[str, int] = {}
    if options.rules.special_first:
        for content in options.special_tokens:
            specials[content] = len(initial)
            initial.append((from_visible(content) or b"") if options.compat == "hf" else b"")
    present = {token: token_id for token_id, token in enumerate(initial) if token}
    symbols = []
    for byte in alphabet:
        token = bytes([byte])
        if token not in present:
            present[token] = len(initial)
            initial.append(token)
        symbols.append(present[token])
    return initial, symbols, specials


class Bbpe(Trainer[BbpeOptions]):
    """Train byte-level BPE."""

    Options = BbpeOptions
    smaller = "raise `max_memory`, split the text more finely with `pattern`, or train on a sample"

    def takes_lines(self, options: BbpeOptions) -> bool:
        """Return whether each line is a document, which ``course`` has so."""
        return options.rules.lines

    def front(self, options: BbpeOptions) -> Front:
        """Return the stages that text goes through."""
        stages: tuple[PreTokenizer, ...] = tuple(Split(pattern) for pattern in options.run_patterns)
        return Front((), (PrefixSpace(), *stages) if options.prefix_space else stages)

    def cutter(self, options: BbpeOptions) -> Cutter:
        """Compile the cutter of texts; splitters alone have a shorter path."""
        words = SplitText(compile_splitter(options.patterns), options.prefix_space)
        if not options.superwords:
            return words
        return superwords.TwoCuts(words, SplitText(compile_splitter(options.run_patterns), prefix_space=False))

    def text_bytes(self, parts: Iterable[_core.Counts], options: BbpeOptions) -> int:
        """Return the bytes of the pieces; of runs of words, if words are counted besides, and without marks."""
        if not options.superwords:
            return super().text_bytes(parts, options)
        return sum(len(run) * number for part in parts for run, number in superwords.runs_of(part))

    def pieces(self, counts: _core.Counts, options: BbpeOptions) -> tuple[int, int]:
        """Return how many pieces there are, and how many different ones; development sets are only measured."""
        if options.parity:
            counts = counts_of(parity.texts_of(counts))
        return counts.total, counts.unique

    def slow_patterns(self, options: BbpeOptions) -> tuple[str, ...]:
        """Return the patterns without a scanner of the core, which cut text many times slower."""
        cuts = dict.fromkeys((options.patterns, options.run_patterns))
        slow = (patterns for patterns in cuts if not isinstance(compile_splitter(patterns), _core.Splitter))
        return tuple(pattern for patterns in slow for pattern in patterns)

    def cutting(self, options: BbpeOptions) -> Cutting:
        """Return the settings that decide about pieces, to be stored with their counts."""
        pattern = options.patterns[0] if options.patterns else None
        stages = core_spec((), self.front(options).pre_tokenizer) if options.superwords else None
        return Cutting(pattern, options.prefix_space, options.split_off, self._unicode_version(options), stages)

    def adopt(self, options: BbpeOptions, cutting: Cutting) -> BbpeOptions:
        """Return the options with the pattern by which counts were cut.

        Raises:
            UsageError: if the options have another.
        """
        if cutting.stages != self.cutting(options).stages:
            what = "superwords, or with another `run_pattern`" if cutting.stages else "words alone"
            raise UsageError(
                f"the counts were made for {what if options.superwords else 'another algorithm, or for superwords'}",
                hint='count again with `algorithm="bbpe"` and the same options',
            )
        pattern = cutting.pattern or ""
        if options.pattern not in (None, pattern):
            raise UsageError(
                f"the counts were cut with {_named(pattern)}, not with {_named(options.pattern or '')}",
                hint="leave `pattern` out, or count again",
            )
        if options.prefix_space and not cutting.prefix_space:
            raise UsageError("the counts were made without `prefix_space`", hint="count again with it")
        return replace(options, pattern=pattern, prefix_space=cutting.prefix_space)

    def _unicode_version(self, options: BbpeOptions) -> str:
        """Return which Unicode version cuts the text: the core's, or that of the ``regex`` module."""
        return f"regex {regex_version()}" if self.slow_patterns(options) else _core.UNICODE_VERSION

    def nests(self, options: BbpeOptions) -> bool:
        """Return whether the merges of a smaller vocabulary are the first ones of a larger.

        They are not if the size decides when the second of two stages begins. If ``switch`` does, those nest that have
        room for so many merges before it.
        """
        return not options.superwords or isinstance(options.switch, int)

    def train(
        self, counts: _core.Counts, options: BbpeOptions, progress: Progress | None = None, threads: int = 1
    ) -> BbpeTrained:
        """Learn merges from counts."""
        return next(self.train_sizes(counts, options, (options.vocab_size,), progress, threads))

    def train_sizes(
        self,
        counts: _core.Counts,
        options: BbpeOptions,
        sizes: Sequence[int],
        progress: Progress | None = None,
        threads: int = 1,
    ) -> Iterator[BbpeTrained]:
        """Learn merges from counts once, for the largest size, and yield the beginning of them for each size.

        Sizes that end before the second of two stages begins are trained by themselves: they have a shorter first one.
        """
        if len(sizes) > 1 and not self.nests(options):
            for size in sizes:
                yield self.train(counts, sized(options, size), progress, threads)
            return
        refuse_nothing(counts)
        initial, symbols, specials = initial_tokens(options, counts)
        if not symbols:
            raise TrainingError("there is nothing to train on: the corpus has nothing but boundary marks")
        for size in sizes:
            _check_size(sized(options, size), initial, len(symbols))
        late = () if options.rules.special_first else options.special_tokens
        if len(sizes) > 1 and options.superwords and isinstance(options.switch, int):
            full = len(initial) + options.switch + len(late)
            for size in sizes:
                if size < full:
                    yield self.train(counts, sized(options, size), progress, threads)
            sizes = [size for size in sizes if size >= full]
            if not sizes:
                return
        marked, mark = mark_pieces(counts, read_words(options.boundaries), options.boundary_mark)
        merging = _merging(options, initial, symbols, max(sizes) - len(late), mark)
        learnt = _learn(marked, options, merging, progress, threads)
        trained, chosen_by = learnt.training, learnt.chosen_by
        blob, bounds = trained.tokens()
        ends, merges = array("I", bytes(bounds)), array("I", bytes(trained.merges))
        given = len(parity.preloaded(options, initial)[0])
        shortfall = _shortfall(options, bounded=bool(mark))
        for size in sizes:
            most = size - len(late)
            exhausted = most > len(ends)
            number = len(merges) // 3 if exhausted else merges_within(merges[2::3], len(initial), most)
            number = max(number, given)
            own_ends = ends[:most]
            vocabulary = Vocabulary(blob[: own_ends[-1]], own_ends)
            named = specials | {content: vocabulary.size + place for place, content in enumerate(late)}
            inside = () if learnt.switch is None else superwords.said_of(*learnt.switch, number)
            yield BbpeTrained(
                self._assemble(options, vocabulary, Merges(merges[: 3 * number]), named),
                (
                    plural(len(symbols), "byte"),
                    plural(number, "merge"),
                    *inside,
                    f"{len(options.special_tokens)} special",
                ),
                shortfall if exhausted else None,
                merge_counts=memoryview(trained.counts)[:number],
                exhausted=exhausted,
                chosen_by=None if chosen_by is None else memoryview(chosen_by)[:number],
            )

    def untrained(self, options: BbpeOptions) -> Tokenizer:
        """Return the result of a training without merges, to see early what could not be done."""
        if options.alphabet == "all":
            initial, symbols, _ = initial_tokens(options, new_counts())
            _check_size(options, initial, len(symbols))
        alphabet = Vocabulary.from_tokens(bytes([byte]) for byte in range(256))
        specials = {content: 256 + place for place, content in enumerate(options.special_tokens)}
        return self._assemble(options, alphabet, Merges(array("I")), specials)

    def _assemble(
        self, options: BbpeOptions, vocabulary: Vocabulary, merges: Merges, specials: dict[str, int]
    ) -> Tokenizer:
        return Tokenizer(
            model=MergeBpe(vocabulary, merges),
            pre_tokenizer=self.front(options).pre_tokenizer,
            special_tokens=tuple(SpecialToken(content.encode(), token_id) for content, token_id in specials.items()),
            unicode_version=self._unicode_version(options),
        )

    def steps(self, counts: _core.Counts, options: BbpeOptions) -> Steps:
        """Return the textbook's training, step by step."""
        from bpe_cli.teaching import bpe as textbook
        from bpe_cli.teaching.bpe import count_digits, keeps_characters

        if options.superwords:
            raise UsageError("`steps` shows one stage, and `superwords` has two", hint="leave one of them out")
        if options.parity:
            raise UsageError("`steps` shows one corpus, and `parity` has several", hint="leave one of them out")
        initial, _, _ = initial_tokens(options, counts)
        reserved = len(options.special_tokens) if not options.rules.special_first else 0
        digits = options.max_digits

        not_made = set(_reserved(options, initial))

        def allow(product: bytes) -> bool:
            if product in not_made:
                return False
            return (not options.character_boundaries or keeps_characters(product)) and (
                digits is None or count_digits(product) <= digits
            )

        marked, mark = mark_pieces(counts, read_words(options.boundaries), options.boundary_mark)
        pieces: dict[bytes, int] = {}
        for piece, number in small(marked).items():
            for part in piece.split(mark) if mark else (piece,):
                pieces[part] = pieces.get(part, 0) + number
        return textbook.train(
            textbook.byte_words(pieces),
            initial=initial,
            vocab_size=options.vocab_size - reserved,
            min_frequency=options.minimum,
            tie=options.rules.tie,
            max_token_length=options.max_token_length,
            allow=allow,
        )


TRAINER = Bbpe()
Options = BbpeOptions
