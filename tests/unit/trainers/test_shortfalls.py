"""A vocabulary of another size than asked for says why, and the reason is the true one."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from bpe_cli.errors import BpeError
from bpe_cli.stages import EventBpe
from bpe_cli.stages.events import replayed
from bpe_cli.trainers.base import Trained
from tests.thorough import more
from tests.trainer_options import KINDS, Kind, counted

from .test_steps_show_the_file import draw

BY_NAME = {kind.name: kind for kind in KINDS}
WORDS = "low low lower newest newest 12 12"
HUGS = " ".join(["▁hug"] * 10 + ["▁pug"] * 5 + ["▁pun"] * 12 + ["▁bun"] * 4 + ["▁hugs"] * 5)
PRUNED = " ".join(["acbbc"] * 2 + ["aaa"] * 4 + ["babcbba"] * 6 + ["a"] * 7 + ["bccc"] * 8 + ["c"] * 5)
CUT = {"pre_tokenizer": BY_NAME["unigram"].values("pre_tokenizer")[0]}  # at whitespace


def trained(name: str, text: str, options: dict[str, Any]) -> Trained:
    kind = BY_NAME[name]
    made = kind.trainer.Options(**dict(kind.fixed), **options)
    return kind.trainer.train(counted(kind, made, [text.encode()]), made)


@pytest.mark.parametrize(
    ("name", "text", "options", "reason"),
    [
        ("bbpe", WORDS, {}, "no pair is left to merge"),
        ("bbpe", WORDS, {"min_frequency": 9}, "no pair is left that occurs 9 times or more"),
        ("bbpe", WORDS, {"max_token_length": 2}, "no pair is left that makes a token of at most 2 bytes"),
        ("bbpe", WORDS, {"max_digits": 1}, "no pair is left that has at most 1 digit"),
        ("bbpe", WORDS, {"character_boundaries": True}, "no pair is left that keeps characters whole"),
        ("bbpe", WORDS, {"boundary_mark": "w"}, "no pair is left that crosses no boundary"),
        ("bbpe", WORDS, {"boundaries": ("lo|w",), "min_frequency": 2},
         "no pair is left that occurs 2 times or more and crosses no boundary"),
        ("bpe", WORDS, {}, "no pair is left that occurs 2 times or more"),
        ("bpe", WORDS, {"max_token_length": 1, "min_frequency": 1},
         "no pair is left that makes a token of at most 1 character"),
        ("bpe", WORDS, {"by_byte": True, "max_token_length": 3},
         "no pair is left that occurs 2 times or more and makes a token of at most 3 bytes"),
        ("bpe", WORDS, {"max_digits": 1}, "no pair is left that occurs 2 times or more and has at most 1 digit"),
        ("bpe", WORDS, {"boundary_mark": "w"}, "no pair is left that occurs 2 times or more and crosses no boundary"),
        ("bpe", WORDS, {"merges": 2}, "there are as many merges as asked for (merges=2)"),
        ("picky", WORDS, {}, "no pair is left to merge"),
        ("scaffold", WORDS, {"min_frequency": 2}, "no pair is left that occurs 2 times or more"),
        ("wordpiece", WORDS, {}, "no pair is left that occurs 2 times or more"),
        ("wordpiece", WORDS, {"rule": "score", "min_frequency": 1}, "no pair is left to merge"),
        ("wordpiece", WORDS, {"rule": "tensorflow"}, "no threshold gives as many, or up to 5% fewer"),
        ("unigram", "cccc " * 3 + "cacbb " * 9, {**CUT, "vocab_size": 12}, "no more substrings occur often enough"),
        ("unigram", HUGS, {**CUT, "seed_size": 4}, "training began with 4 substrings, as many as seed_size allows"),
        ("unigram", HUGS, {**CUT, "vocab_size": 18, "sub_iterations": 1},
         "expectation maximisation leaves out what is expected to occur less than half a time, and that was too much"),
        ("unigram", PRUNED, {**CUT, "vocab_size": 9, "sub_iterations": 1},
         "pruning leaves out all that no best segmentation needs, and that was more than the size asked for"),
        ("unigram", HUGS, {**CUT, "vocab_size": 12, "special_tokens": ("pun",)},
         "some of the learnt tokens are spelt like special ones, and left out"),
        ("unigram", HUGS, {**CUT, "rule": "textbook", "vocab_size": 20},
         "each round leaves out 10% of the tokens, and the last one went below the size"),
        ("unigram", HUGS, {**CUT, "rule": "textbook"}, "the corpus has no more substrings"),
        ("unigram", HUGS, {**CUT, "rule": "textbook", "seed_size": 12},
         "training began with 12 tokens, as many as seed_size allows"),
        ("char", WORDS, {}, "there are no more characters"),
        ("char", WORDS, {"coverage": 0.5}, "there are no more characters that are covered"),
        ("char", WORDS, {"min_frequency": 3}, "there are no more characters that are frequent enough"),
        ("word", WORDS, {}, "there are no more words"),
        ("word", WORDS, {"min_frequency": 2}, "there are no more words that are frequent enough"),
        ("ngram", WORDS, {}, "there are no more 2-grams"),
        ("ngram", WORDS, {"min_frequency": 2}, "there are no more 2-grams that are frequent enough"),
        ("maxmatch", WORDS, {"rounds": 2}, "2 rounds give no more words"),
        ("maxmatch", WORDS, {"rounds": 3, "dictionary_size": 2},
         "a round's dictionary has at most 2 words (dictionary_size)"),
        ("maxmatch", "a\nb!", {}, "no pair is left to join"),
        ("sentencepiece bpe", WORDS, {}, "no pair is left that may be merged"),
        ("sentencepiece bpe", WORDS, {"min_frequency": 2},
         "no pair is left that occurs 2 times or more and may be merged"),
        ("sentencepiece unigram", WORDS, {}, "no more substrings occur often enough"),
        ("sentencepiece unigram", WORDS * 9, {"seed_size": 3},
         "training began with 3 substrings, as many as seed_size allows"),
        ("sentencepiece char", WORDS, {}, "there are no more characters"),
        ("sentencepiece char", WORDS * 30 + "x", {"character_coverage": 0.98},
         "there are no more characters that are covered"),
        ("sentencepiece word", WORDS, {}, "there are no more words"),
        ("sentencepiece word", WORDS * 30 + " x", {"character_coverage": 0.98},
         "there are no more words whose characters are covered"),
    ],
)  # fmt: skip
def test_reasons(name: str, text: str, options: dict[str, Any], reason: str) -> None:
    found = trained(name, text, {"vocab_size": 900, **options})
    assert found.tokenizer.vocab_size < options.get("vocab_size", 900)
    assert found.shortfall == reason


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.name != "byte"], ids=str)
def test_a_reason_is_given_when_the_size_is_another(kind: Kind) -> None:
    random_ = random.Random(f"sizes of {kind}")
    exact = short = 0
    few = 9 if kind.name == "list" else 60  # the lists that are drawn are short
    for _ in range(more(35, 60)):
        try:
            options, texts = draw(kind, random_)
            options = replace(
                options, vocab_size=random_.choice([random_.randint(4, few), random_.randint(256, 290), 900])
            )
            found = kind.trainer.train(counted(kind, options, texts), options)
        except BpeError:
            continue
        model = found.tokenizer.model
        taken_back = len(replayed(model).removed) if isinstance(model, EventBpe) else 0
        assert found.present == (found.tokenizer.vocab_size - taken_back if isinstance(model, EventBpe) else None)
        size = found.tokenizer.vocab_size - taken_back
        assert (found.shortfall is None) == (size == options.vocab_size), options
        exact += found.shortfall is None
        short += found.shortfall is not None
    assert short >= 3
    assert exact >= 1
