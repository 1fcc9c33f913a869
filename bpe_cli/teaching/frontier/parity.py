"""Learn merges that serve the languages alike: at each step the worst-compressed one chooses.

Source: Foroutan et al., "Parity-Aware Byte-Pair Encoding", arXiv:2508.04796; cimeister/parity-aware-bpe at 9e31091,
``parity_aware_learn_bpe.py``. Every merge is made in all languages, whoever chose it.

The worst language is determined either by a *development set*, texts that say the same in all languages: it is the one
that needs the most tokens there; or by *ratios*: it is the one whose training text has shrunk least, compared with what
is desired. The variant with a *window* passes over a language that has chosen too often lately, and the hybrid begins
with *shared* merges, which are simply the most frequent of all languages together.

A word is a tuple of symbols. The paper writes pieces in the visible byte alphabet.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bpe_cli.teaching.frontier.words import Words

Pair = tuple[str, str]
Counts = Mapping[tuple[str, ...], int]


@dataclass(frozen=True, slots=True)
class Step:
    """One merge.

    Attributes:
        pair: The merged pair.
        language: The number of the language that chose; None for a shared merge.
        counts: How often the pair occurred in each language.
    """

    pair: Pair
    language: int | None
    counts: tuple[int, ...]


@dataclass(slots=True)
class Window:
    """Remember which languages chose lately, and pass over those that did so too often.

    The share of a language is that of the whole window, even while that is not full. If all are over the limit, the
    paper's code crashes; here it is an error.

    >>> window = Window(size=4, limit=0.5)
    >>> [window.first([0, 1]) for _ in range(5)]
    [0, 0, 0, 1, 1]
    """

    size: int
    limit: float
    chosen: deque[int] = field(default_factory=deque)

    def first(self, languages: Sequence[int], *, relaxed: bool = False) -> int:
        """Return the first language, of those given from worst to best, that has not chosen too often.

        Args:
            languages: Their numbers.
            relaxed: Whether the worst chooses if all have chosen too often.

        Raises:
            ValueError: All have chosen too often.
        """
        passing = [each for each in languages if self.chosen.count(each) / self.size <= self.limit]
        if not passing and not relaxed:
            raise ValueError("every language has chosen too often: use a larger window, or a larger alpha")
        language = (passing or languages)[0]
        self.chosen.append(language)
        if len(self.chosen) > self.size:
            self.chosen.popleft()
        return language


def most_frequent(counts: Mapping[Pair, int]) -> Pair | None:
    """Return the most frequent pair; among equals, the one with the largest text. None if there are no pairs.

    >>> most_frequent({("a", "b"): 2, ("b", "a"): 2, ("c", "c"): 1})
    ('b', 'a')
    """
    if not counts:
        return None
    most = max(counts.values())
    return max(pair for pair, count in counts.items() if count == most)


def learn(
    training: Sequence[Counts],
    merges: int,
    *,
    development: Sequence[Counts] | None = None,
    ratios: Sequence[float] | None = None,
    shared_merges: int = 0,
    window: int | None = None,
    alpha: float = 2,
    min_frequency: int = 2,
    preload: Sequence[Pair] = (),
    pass_over: bool = False,
) -> Iterator[Step]:
    """Yield merges, until there are enough of them or the chosen pair is too rare.

    That ends the training, even if other languages have frequent pairs left, as in the paper's code. With
    ``pass_over``, which is not in the paper, only languages with frequent pairs are considered.

    Args:
        training: For each language, its words with their frequencies.
        merges: The number of merges to learn.
        development: For each language, the words of its development set.
        ratios: For each language, the number that its compression is divided by; instead of a development set.
        shared_merges: How many merges, at the beginning, all languages choose together.
        window: How many choices the window remembers; None for no window.
        alpha: A language may have made ``alpha / languages`` of the choices in the window. All shared merges together
            count as one more language.
        min_frequency: A rarer chosen pair ends the training.
        preload: Merges made before, which are not yielded.
        pass_over: Whether a language that has no frequent pair left is passed over. If all others have then chosen
            too often for the window, the worst of them chooses all the same.

    Raises:
        ValueError: if not exactly one of ``development`` and ``ratios`` is given, or the window lets no language pass.

    >>> english, german = {("t", "h", "e"): 9, ("a", "t"): 3}, {("d", "i", "e"): 4, ("d", "a"): 2}
    >>> for step in learn([english, german], 3, development=[{("t", "h", "e"): 1}, {("d", "i", "e"): 2}]):
    ...     print(step)
    Step(pair=('i', 'e'), language=1, counts=(0, 4))
    Step(pair=('d', 'ie'), language=1, counts=(0, 4))
    Step(pair=('t', 'h'), language=0, counts=(9, 0))
    """
    if (development is None) == (ratios is None):
        raise ValueError("either a development set or ratios say which language is the worst")
    texts = [Words(words) for words in training]
    judged = texts if development is None else [Words(words) for words in development]
    initial = [words.length for words in judged]
    turns = Window(window, alpha / (len(texts) + (shared_merges > 0))) if window else None

    def merge(pair: Pair) -> None:
        for words in texts if judged is texts else [*texts, *judged]:
            words.merge(pair, "".join(pair))

    def from_worst_to_best() -> list[int]:
        if ratios is None:
            badness = [float(words.length) for words in judged]
        else:
            shrunk = zip(initial, judged, ratios, strict=True)
            badness = [-start / words.length / ratio for start, words, ratio in shrunk]
        return sorted(range(len(texts)), key=badness.__getitem__, reverse=True)  # equals keep their order

    for pair in preload:
        merge(pair)
    for number in range(merges):
        language = None
        if number >= shared_merges:
            worst = from_worst_to_best()
            if pass_over:
                worst = [each for each in worst if max(texts[each].counts.values(), default=0) >= min_frequency]
                if not worst:
                    return
            language = turns.first(worst, relaxed=pass_over) if turns else worst[0]
        counts = shared_counts(texts) if language is None else texts[language].counts
        best = most_frequent(counts)
        if best is None or counts[best] < min_frequency:
            return
        yield Step(best, language, tuple(words.counts.get(best, 0) for words in texts))
        merge(best)


def shared_counts(languages: Iterable[Words[str]]) -> Counter[Pair]:
    """Add the counts of all languages.

    >>> shared_counts([Words({("a", "b"): 2}), Words({("b", "a", "b"): 1})])
    Counter({('a', 'b'): 3, ('b', 'a'): 1})
    """
    total: Counter[Pair] = Counter()
    for words in languages:
        total.update(words.counts)
    return total


def tokens(alphabet: Iterable[str], pairs: Iterable[Pair]) -> list[str]:
    """Return the tokens by id: the alphabet, then each new product.

    >>> tokens("ab", [("a", "b"), ("b", "ab"), ("a", "b")])
    ['a', 'b', 'ab', 'bab']
    """
    return list(dict.fromkeys([*alphabet, *(left + right for left, right in pairs)]))
