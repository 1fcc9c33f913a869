"""PickyBPE and Scaffold-BPE: the core against the textbooks, what encoding makes of its events, and what is refused."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from bpe_cli import _core, formats, train
from bpe_cli.errors import FormatError, TrainingError, UsageError
from bpe_cli.stages import EventBpe
from bpe_cli.stages.events import SPLIT, triples
from bpe_cli.teaching.frontier.picky import SPECIAL, UNKNOWN, Encoder, Merge, Split, Training, words_of
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bpe, picky
from bpe_cli.trainers.base import Trainer
from bpe_cli.trainers.counts import counts_of
from bpe_cli.trainers.picky import PickyOptions
from tests.cli_runner import call
from tests.counted import at_least, compared
from tests.thorough import more

WORDS = {"▁hug": 8, "▁hugs": 2, "▁pug": 3}


def model_of(tokenizer: Tokenizer) -> EventBpe:
    assert isinstance(tokenizer.model, EventBpe)
    return tokenizer.model


def learnt(words: dict[str, int], **options: Any) -> Tokenizer:
    counts = counts_of((word.encode(), count) for word, count in words.items())
    return picky.TRAINER.train(counts, PickyOptions(**options)).tokenizer


def events_of(tokenizer: Tokenizer) -> list[str]:
    """Write events as ``a+b``, and ``-ab`` for what is taken back."""
    texts = {token_id: token.decode() for token_id, token in model_of(tokenizer).vocabulary.items()}
    return [
        f"-{texts[left]}" if right == SPLIT else f"{texts[left]}+{texts[right]}"
        for left, right, _ in triples(model_of(tokenizer).events)
    ]


def test_a_token_of_hardly_any_use_goes() -> None:
    """``hug`` is used nowhere but in ``▁hug``, and so on; the ids of what goes are behind all others."""
    tokenizer = learnt(WORDS, vocab_size=10, threshold=0.8)
    assert events_of(tokenizer) == [
        "u+g", "h+ug", "▁+hug", "-hug", "p+ug", "-ug", "▁+pug", "-pug", "▁hug+s",
    ]  # fmt: skip
    assert tokenizer.encode("hug hugs pug") == [7, 9, 8]
    assert [tokenizer.token_bytes(each) for each in (10, 11, 12)] == [b"ug", b"hug", b"pug"]


# -- the textbook ----------------------------------------------------------------------------------


def drawn(chance: random.Random) -> dict[str, int]:
    letters = chance.choice(["ab", "abc", "aé日b", "abcdefgh"])
    sizes = [chance.choice([1, 3, 8]) for _ in range(chance.choice([1, 6, 40]))]
    return {"▁" + "".join(chance.choices(letters, k=size)): chance.randint(1, 9) for size in sizes}


@pytest.mark.parametrize("trainer", [picky.TRAINER, picky.SCAFFOLD])
@at_least(100)
def test_it_is_what_the_textbook_learns(trainer: Trainer[Any]) -> None:
    chance = random.Random(24)
    splits = unknown = 0
    for _ in range(more(100, 200)):
        words = drawn(chance)
        share = {"threshold": chance.choice([0.2, 0.5, 0.8, 1.0])}
        settings = trainer.Options(
            12 + chance.choice([0, 1, 5, 20]),
            min_frequency=chance.choice([0, 1, 2]),
            character_coverage=chance.choice([1.0, 1.0, 0.8]),
            special_tokens=chance.choice([(), ("<s>", "<t>"), ("ab",)]),
            **(share if trainer is picky.TRAINER else {}),
        )
        counts = counts_of((word.encode(), count) for word, count in words.items())
        tokenizer = trainer.train(counts, settings).tokenizer
        steps = trainer.steps(counts, settings)
        assert isinstance(steps, Training)
        events = list(steps.events())
        assert events_of(tokenizer) == [
            "+".join(event.pair) if isinstance(event, Merge) else f"-{event.token}" for event in events
        ], (words, settings)
        # Those that stay have their ids first, and what was trained on is encoded as it was cut in the end.
        stay = [token for token, each in steps.tokens.items() if each.present and token not in SPECIAL]
        texts = [token.decode() for _, token in model_of(tokenizer).vocabulary.items()]
        assert texts[: len(stay)] == stay, (words, settings)
        whole = {word for word in words if word in stay}
        for word, cut in zip(words, steps.words, strict=True):
            tokens = (word,) if word in whole else cut
            ids = tokenizer.encode(word.removeprefix("▁"))
            assert len(ids) == len(tokens)
            assert [tokenizer.token_bytes(each).decode() for each in ids] == [
                "<unk>" if token in SPECIAL else token for token in tokens
            ]
            unknown += any(token in SPECIAL for token in cut)
        splits += any(isinstance(event, Split) for event in events)
        compared()
    assert splits > 20
    assert unknown > 20


@at_least(100)
def test_encoding_is_the_textbooks(corpora: Path) -> None:
    text = (corpora / "languages" / "en.txt").read_text("utf-8")
    words = words_of(text)
    alphabet = sorted({*"".join(words)})
    steps = Training(words, vocab_size=700, threshold=0.7, tie="ids", exact=True, alphabet=alphabet)
    events = list(steps.events())
    encoder = Encoder({token: each.present for token, each in steps.tokens.items()}, events)
    tokenizer = learnt(words, vocab_size=697, threshold=0.7, character_coverage=1.0)
    assert sum(isinstance(event, Split) for event in events) > 20
    chance = random.Random(3)
    tokens = [token for token in steps.tokens if token not in SPECIAL]
    for word in [*words, *("▁" + "".join(chance.choices(tokens, k=4)).replace("▁", "") for _ in range(300))]:
        found = [tokenizer.token_bytes(each).decode() for each in tokenizer.encode(word.removeprefix("▁"))]
        assert found == encoder.encode(word)
        compared()


def test_the_order_of_words_changes_nothing() -> None:
    chance = random.Random(4)
    words = {"▁" + "".join(chance.choices("abcdé", k=chance.randint(1, 9))): chance.randint(1, 50) for _ in range(9000)}
    one = learnt(words, vocab_size=900, threshold=0.3)
    assert sum(event.startswith("-") for event in events_of(one)) > 10
    assert learnt(dict(reversed(words.items())), vocab_size=900, threshold=0.3) == one


def test_with_the_highest_threshold_it_is_byte_pair_encoding(corpora: Path) -> None:
    text = (corpora / "languages" / "en.txt").read_text("utf-8")
    tokenizer = train([text], "picky", vocab_size=600, threshold=1.0)
    plain = bpe.Options(vocab_size=600, end_of_word_suffix="", min_frequency=1, character_coverage=0.9999)
    marked = counts_of((word.encode(), count) for word, count in words_of(text).items())
    merges = bpe.TRAINER.train(marked, plain).tokenizer.model.merges
    assert merges is not None
    assert model_of(tokenizer).events == merges.triples


# -- files and options -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tokenizer.json", "tiktoken", "sentencepiece", "gguf", "subword-nmt", "vocab-merges"])
def test_other_files_are_refused(name: str) -> None:
    with pytest.raises(FormatError, match=r"cannot hold|has no BPE by merges and splits"):
        formats.dump(learnt(WORDS, vocab_size=10), name)


def test_a_file_is_read_back(tmp_path: Path) -> None:
    tokenizer = train(["low lower slow " * 9], "picky", vocab_size=14, threshold=0.5, special_tokens=("<s>",))
    assert any(event.startswith("-") for event in events_of(tokenizer))
    (tmp_path / "t.json").write_bytes(formats.dump(tokenizer, "bpe.json")[""])
    again = formats.load(tmp_path / "t.json")
    assert events_of(again) == events_of(tokenizer)
    assert again.encode("low <s>slower", specials="all") == tokenizer.encode("low <s>slower", specials="all")


def test_special_tokens_are_not_learnt() -> None:
    tokenizer = learnt({"▁a<s>": 90}, vocab_size=99, special_tokens=("<s>",))
    assert "<s>" not in [token.decode() for _, token in model_of(tokenizer).vocabulary.items()]
    assert tokenizer.encode("<s>", specials="all") == [1]


def test_what_is_rare_stays_unknown() -> None:
    words = {"▁ab": 60, "▁axb": 1}
    tokenizer = learnt(words, vocab_size=20, character_coverage=0.99)
    assert tokenizer.encode("axb") == [*tokenizer.encode("a"), 0, tokenizer.encode("b")[-1]]
    kept = learnt(words, vocab_size=20, character_coverage=0.99, unk_token=None)
    assert 0 not in [len(kept.token_bytes(each)) for each in kept.encode("axb")]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"vocab_size": 99}, "no pair is left to merge"),
        ({"vocab_size": 99, "min_frequency": 5}, "no pair is left that occurs 5 times or more"),
    ],
)
def test_fewer_tokens_than_asked_for(options: dict[str, Any], reason: str) -> None:
    counts = counts_of((word.encode(), count) for word, count in WORDS.items())
    assert picky.TRAINER.train(counts, PickyOptions(**options)).shortfall == reason
    assert picky.TRAINER.train(counts, PickyOptions(9)).shortfall is None


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        *(({"threshold": value}, f"a threshold of {value} is not a share") for value in (0.0, 1.5, -1.0)),
        *(({"character_coverage": value}, "a character coverage of") for value in (0.0, 1.5)),
        ({"special_tokens": ("",)}, "needs a text"),
        ({"special_tokens": ("<s>", "<s>")}, "given twice"),
    ],
)
def test_options_that_are_refused(wrong: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        PickyOptions(300, **wrong)


def test_vocabularies_that_are_refused() -> None:
    with pytest.raises(UsageError, match="that fit"):
        PickyOptions(_core.MAX_TOKENS + 1)
    with pytest.raises(TrainingError, match="smaller than its initial tokens: 0 characters and 2 special"):
        picky.TRAINER.untrained(PickyOptions(1, special_tokens=("<s>",)))
    with pytest.raises(TrainingError, match="smaller than its initial tokens: 6 characters and 1 special"):
        learnt(WORDS, vocab_size=6)
    with pytest.raises(TrainingError, match="no text"):
        picky.TRAINER.train(counts_of([]), PickyOptions(300))


def test_scaffolds_are_left_out() -> None:
    """What is left of ``hug`` is more rarely there than what comes next, until the vocabulary is larger."""
    text = "hug " * 8 + "hugs " * 2 + "pug " * 3 + "thug"
    small, large = (train([text], "scaffold", vocab_size=size) for size in (10, 12))
    assert events_of(small) == ["u+g", "h+ug", "▁+hug", "-hug"]
    assert events_of(large)[:3] == events_of(small)[:3]
    assert events_of(large)[-2:] == ["-pug", "-ug"]
    assert [small.token_bytes(each) for each in small.encode("thug")] == [b"\xe2\x96\x81", b"t", b"h", b"ug"]


@pytest.mark.parametrize("trainer", [picky.TRAINER, picky.SCAFFOLD])
@pytest.mark.parametrize("name", ["<PAD>", "<UNK>"])
def test_steps_take_text_for_text_that_is_spelt_like_the_textbooks_special_tokens(trainer: Any, name: str) -> None:
    words = {f"▁a{name}xñ": 1, f"▁b{name}y": 20, f"▁{name}": 20, "▁c": 30}
    counts = counts_of((word.encode(), count) for word, count in words.items())
    settings = trainer.Options(20, character_coverage=0.99)
    steps = trainer.steps(counts, settings)
    assert UNKNOWN in steps.words[0]
    assert events_of(trainer.train(counts, settings).tokenizer) == [
        "+".join(event.pair) if isinstance(event, Merge) else f"-{event.token}" for event in steps.events()
    ]
    assert name in steps.tokens
    assert [each.token_id for each in steps.tokens.values()] == list(range(len(steps.tokens)))


def test_steps_name_what_is_taken_back() -> None:
    text = "hug " * 8 + "hugs " * 2 + "pug " * 3
    shown = call("train", "-T", text, "-a", "picky", "-s", "12", "--set", "threshold=0.8", "--steps", "-q").text
    assert "step 3: ▁ + hug -> ▁hug, 10 times" in shown
    assert "step 4: hug -> h + ug, 0 times" in shown


def test_progress_reaches_its_end() -> None:
    calls: list[tuple[int, int]] = []
    counts = counts_of((word.encode(), count) for word, count in WORDS.items())
    picky.TRAINER.train(counts, PickyOptions(10), lambda done, wanted: calls.append((done, wanted)))
    assert calls[0] == (7, 10)
    assert calls[-1] == (10, 10)
