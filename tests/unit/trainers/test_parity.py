"""Parity-aware BPE: the core against the textbook; threads and blocks; counts from files; what is refused."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from bpe_cli import train
from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.jobs.languages import by_language, choices, with_languages
from bpe_cli.jobs.spilling import in_memory
from bpe_cli.stages.spelling import ALPHABET_ORDER, to_visible
from bpe_cli.teaching.frontier import parity as textbook
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bbpe
from bpe_cli.trainers.bbpe_options import BbpeOptions
from bpe_cli.trainers.counts import counts_of, new_counts
from bpe_cli.trainers.parity import NO_LANGUAGE, preloaded
from tests.counted import at_least, compared
from tests.thorough import more

Words = dict[bytes, int]

ENGLISH, GERMAN = {b"the": 9, b"at": 3}, {b"die": 4, b"da": 2}
TEXTS = {
    "en": ["low lower lowest", "newest newest widest"] * 9,
    "th": ["กินข้าว กินน้ำ ข้าวผัด", "น้ำ ผัด"] * 3,
    "code": ["def low(new):\n    return new\n"] * 5,
}


def trained(
    languages: Sequence[Words],
    vocab_size: int,
    development: Sequence[Words] = (),
    ratios: Sequence[float] = (),
    threads: int = 1,
    **options: Any,
) -> bbpe.BbpeTrained:
    names = [f"language {number}" for number in range(len(languages))]
    settings = with_languages(
        BbpeOptions(vocab_size, "", parity=True, **options),
        names,
        ratios=dict(zip(names, ratios, strict=False)),
        development=names[: len(development)],
    )
    training, tuned = (
        [(name, counts_of(words.items())) for name, words in zip(names, texts, strict=False)]
        for texts in (languages, development)
    )
    table = by_language(training, tuned, names, 1 << 30)
    return bbpe.TRAINER.train(in_memory(table, 1 << 30), settings, threads=threads)


def merges(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    token = tokenizer.model.vocabulary.token
    return [(to_visible(token(left)), to_visible(token(right))) for left, right, _ in tokenizer.model.merges]


# -- the textbook ----------------------------------------------------------------------------------


def by_the_book(
    languages: Sequence[Words],
    size: int,
    development: Sequence[Words],
    ratios: Sequence[float],
    preload: Sequence[textbook.Pair],
    **options: Any,
) -> list[tuple[textbook.Pair, int, int]]:
    texts, judged = (
        [{tuple(to_visible(word)): number for word, number in words.items()} for words in given]
        for given in (languages, development)
    )
    tokens = {*to_visible(ALPHABET_ORDER), *(left + right for left, right in preload)}
    found: list[tuple[textbook.Pair, int, int]] = []
    if len(tokens) == size:
        return found
    for step in textbook.learn(
        texts, 10**9, development=judged or None, ratios=None if judged else ratios, preload=preload, **options
    ):
        found.append((step.pair, NO_LANGUAGE if step.language is None else step.language, sum(step.counts)))
        tokens.add("".join(step.pair))
        if len(tokens) == size:
            break
    return found


@at_least(50)
def test_it_is_what_the_textbook_learns() -> None:
    chance = random.Random(20)
    choosers: set[int] = set()
    for _ in range(more(100, 200)):
        letters = chance.choice(["ab ", "aé ", "ab\n\x7f"])

        def drawn(letters: str = letters) -> Words:
            words = ("".join(chance.choices(letters, k=chance.randint(1, 6))) for _ in range(chance.randint(1, 6)))
            return {word.encode(): chance.randint(1, 6) for word in words}

        languages = [drawn() for _ in range(chance.randint(2, 4))]
        development = [drawn() for _ in languages] if chance.random() < 0.5 else []
        ratios = [] if development else [chance.choice([0.5, 1, 1.5]) for _ in languages]
        size = 256 + chance.choice([1, 3, 10, 30])
        preload = chance.choice([[], [("a", "b")], [("a", "a"), ("aa", "a")]])
        common: dict[str, Any] = {
            "shared_merges": chance.choice([0, 0, 2, 6]),
            "window": chance.choice([None, None, 2, 5, 9]),
            "min_frequency": chance.choice([1, 2, 3]),
            "pass_over": chance.random() < 0.3,
        }
        alpha = chance.choice([0.5, 1, 2])
        if common["window"] is None:
            alpha = 2
        made = 256 + len({left + right for left, right in preload})
        if made > size:
            continue
        ours: dict[str, Any] = common | {"window_alpha": alpha, "threads": chance.randint(1, 3)}
        ours["preload"] = tuple(f"{left} {right}" for left, right in preload)
        try:
            book = by_the_book(languages, size, development, ratios, preload, alpha=alpha, **common)
        except ValueError as error:
            with pytest.raises(TrainingError, match=str(error).partition(":")[0]):
                trained(languages, size, development, ratios, **ours)
            continue
        result = trained(languages, size, development, ratios, **ours)
        assert result.chosen_by is not None
        learnt = list(zip(merges(result.tokenizer), result.chosen_by, result.merge_counts, strict=True))
        assert [pair for pair, *_ in learnt[: len(preload)]] == preload
        assert learnt[len(preload) :] == book, (languages, development, common)
        assert result.exhausted == (result.tokenizer.vocab_size < size)
        choosers.update(result.chosen_by)
        compared()
    assert choosers == {0, 1, 2, 3, NO_LANGUAGE}


def test_the_language_with_most_tokens_in_its_development_set_chooses() -> None:
    result = trained([ENGLISH, GERMAN], 259, [{b"the": 1}, {b"die": 2}])
    assert merges(result.tokenizer) == [("i", "e"), ("d", "ie"), ("t", "h")]
    assert result.chosen_by is not None
    assert list(result.chosen_by) == [1, 1, 0]
    settings = BbpeOptions(259, "", parity=True, languages=("en", "de"))
    assert list(choices(result, settings)) == ["merges chosen by en 1, de 2"]


def test_ties_go_by_the_visible_alphabet() -> None:
    """A space is written Ġ, which stands behind all letters."""
    result = trained([{b" a": 3, b"zz": 3}, {b"b": 1}], 257)
    assert merges(result.tokenizer) == [("Ġ", "a")]


def test_it_ends_where_the_language_whose_turn_it_is_has_nothing() -> None:
    result = trained([{b"abc": 9}, {b"ab": 1}], 300)
    assert merges(result.tokenizer) == [("b", "c")]
    assert result.shortfall == (
        "no pair is left that occurs 2 times or more in the language whose turn it is; "
        "`pass_over=yes` goes on with the others"
    )


def test_the_others_go_on_where_a_language_without_pairs_is_passed_over() -> None:
    result = trained([{b"abc": 9}, {b"ab": 1}], 300, pass_over=True)
    assert merges(result.tokenizer) == [("b", "c"), ("a", "bc")]
    assert result.chosen_by is not None
    assert list(result.chosen_by) == [0, 0]
    assert result.shortfall == "no pair is left that occurs 2 times or more in any language"


def test_sizes_nest() -> None:
    languages = [dict.fromkeys([b"abcabcabd", b"bcdbcd"], 4), dict.fromkeys([b"cdacdab"], 9)]
    names = ["x", "y"]
    settings = with_languages(BbpeOptions(0, "", parity=True, window=2), names, ratios={"y": 2}, development=[])
    table = by_language(
        [(name, counts_of(words.items())) for name, words in zip(names, languages, strict=True)], [], names, 1 << 30
    )
    sizes = (256, 257, 259, 262)
    counts = in_memory(table, 1 << 30)
    made = list(bbpe.TRAINER.train_sizes(counts, settings, sizes))
    for size, each in zip(sizes, made, strict=True):
        alone = with_languages(BbpeOptions(size, "", parity=True, window=2), names, ratios={"y": 2}, development=[])
        own = bbpe.TRAINER.train(counts, alone)
        assert (own.tokenizer, own.chosen_by) == (each.tokenizer, each.chosen_by)


# -- the public call -------------------------------------------------------------------------------


def test_threads_change_nothing() -> None:
    development = {name: texts[:1] for name, texts in TEXTS.items()}
    expected = train(TEXTS, vocab_size=280, parity=True, development=development)
    assert expected != train(TEXTS, vocab_size=280)
    for threads in (2, 3):
        assert train(TEXTS, vocab_size=280, parity=True, development=development, threads=threads) == expected
    small = train(TEXTS, vocab_size=280, parity=True, development=development, max_memory=1 << 20)
    assert small == expected


def test_without_development_sets_compression_decides() -> None:
    plain = train(TEXTS, vocab_size=280, parity=True)
    assert plain == train(TEXTS, vocab_size=280, parity=True, ratios={"en": 1, "th": 1.0, "code": 1})
    assert plain != train(TEXTS, vocab_size=280, parity=True, ratios={"en": 5})


def test_documents_are_drawn_of_what_is_learnt_from_alone() -> None:
    development = {name: texts * 5 for name, texts in TEXTS.items()}
    drawn = train(TEXTS, vocab_size=270, parity=True, development=development, sample=20)
    assert drawn == train(TEXTS, vocab_size=270, parity=True, development=development)


def test_merges_given_beforehand_stand_first() -> None:
    tokenizer = train(TEXTS, vocab_size=265, parity=True, preload=["#version: 0.2", "l o", "lo w"])
    assert merges(tokenizer)[:2] == [("l", "o"), ("lo", "w")]
    assert [tokenizer.token_bytes(token_id) for token_id in (256, 257)] == [b"lo", b"low"]
    assert preloaded(BbpeOptions(300, parity=True, preload=("a b", "a b")), [b"a", b"b"]) == ([(0, 1), (0, 1)], 1)


def test_the_alphabet_is_that_of_what_is_learnt_from() -> None:
    tokenizer = train({"x": ["abab"], "y": ["cc"]}, vocab_size=4, parity=True, initial_alphabet="seen")
    assert [tokenizer.token_bytes(token_id) for token_id in range(4)] == [b"a", b"b", b"c", b"ab"]


@pytest.mark.parametrize(
    ("corpus", "options", "message"),
    [
        (["a"], {"window": 5}, "`window` has a meaning only where languages choose the merges"),
        (["a"], {"shared_merges": 5}, "`shared_merges` has a meaning only where languages choose the merges"),
        (["a"], {"pass_over": True}, "`pass_over` has a meaning only where languages choose the merges"),
        (["a"], {"preload": ["a b"]}, "`preload` has a meaning only where languages choose the merges"),
        (["a"], {"ratios": {"x": 2}}, "`ratios` has a meaning only where languages choose the merges"),
        (["a"], {"development": {"x": ["a"]}}, "`development` has a meaning only where languages choose the merges"),
        (["a"], {"parity": True}, "`parity` is for several corpora"),
        ({"x": ["a"]}, {"parity": True}, "`parity` is for several corpora"),
        (TEXTS, {"parity": True, "superwords": True}, "`superwords` and `parity` cannot be used together"),
        (TEXTS, {"parity": True, "boundaries": ["a|b"]}, "`boundaries` and `parity` cannot be used together"),
        (TEXTS, {"parity": True, "boundary_mark": "|"}, "`boundary_mark` and `parity` cannot be used together"),
        (TEXTS, {"parity": True, "compat": "minbpe"}, '`compat="minbpe"` has no `parity`'),
        (TEXTS, {"parity": True, "window": 0}, "`window` is the number of choices to remember"),
        (TEXTS, {"parity": True, "window": 9, "window_alpha": 0}, "`window_alpha` must be above 0, not 0"),
        (TEXTS, {"parity": True, "window_alpha": 1}, "`window_alpha` is about the choices that are remembered"),
        (TEXTS, {"parity": True, "ratios": {"en": 0}}, "the ratio of 'en' must be above 0, and at most 1"),
        (TEXTS, {"parity": True, "ratios": {"en": 10**400}}, "the ratio of 'en' must be above 0, and at most 1"),
        (TEXTS, {"parity": True, "ratios": {"en": float("nan")}}, "the ratio of 'en' must be above 0"),
        (TEXTS, {"parity": True, "ratios": {"ent": 1}}, "there is no corpus 'ent' to have a ratio"),
        (TEXTS, {"parity": True, "development": {"x": ["a"]}}, "there is no corpus 'x' to have a development set"),
        (TEXTS, {"parity": True, "development": {"en": ["a"]}}, "the corpus 'th' has no development set"),
        (TEXTS, {"parity": True, "development": TEXTS, "ratios": {"en": 1}}, "both say which language"),
        (TEXTS, {"parity": True, "weights": {"en": 2}}, "`weights` says how much a corpus counts"),
        (TEXTS, {"parity": True, "alpha": 0.5}, "`alpha` says how much a corpus counts"),
        (TEXTS, {"parity": True, "counts_dir": "x"}, "`counts_dir` keeps the counts of one corpus"),
        (TEXTS, {"parity": True, "preload": ["ab"]}, "merge 1 of `preload` is 'ab'"),
        (TEXTS, {"parity": True, "preload": ["a b", "ab  c"]}, "merge 2 of `preload` is 'ab  c'"),
        (TEXTS, {"parity": True, "preload": ["a bc"]}, "uses 'bc', which no merge before it makes"),
        (TEXTS, {"parity": True, "preload": "a b"}, "preload must be a list of texts"),
    ],
)
def test_options_that_contradict_each_other_are_refused(corpus: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        train(corpus, vocab_size=300, **options)


def test_what_is_learnt_from_must_be_there() -> None:
    with pytest.raises(TrainingError, match="the corpus 'b' has no text"):
        train({"a": ["aa"], "b": [""]}, vocab_size=300, parity=True)
    with pytest.raises(TrainingError, match="the development set of 'b' has no text"):
        train({"a": ["aa"], "b": ["b"]}, vocab_size=300, parity=True, development={"a": ["a"], "b": []})
    with pytest.raises(TrainingError, match="its initial tokens: 256 bytes and 2 tokens of `preload`"):
        train({"a": ["aa"], "b": ["b"]}, vocab_size=257, parity=True, preload=["a b", "ab a"])
    several: Any = [1, 1]
    text: Any = {"en": "1"}
    with pytest.raises(TypeError, match="ratios must be a dict of numbers by name"):
        train(TEXTS, vocab_size=300, parity=True, ratios=several)
    with pytest.raises(TypeError, match="the ratio of 'en' must be a number, not str"):
        train(TEXTS, vocab_size=300, parity=True, ratios=text)


def test_there_are_no_steps() -> None:
    with pytest.raises(UsageError, match="`parity` has several"):
        bbpe.TRAINER.steps(new_counts(), BbpeOptions(300, parity=True))
