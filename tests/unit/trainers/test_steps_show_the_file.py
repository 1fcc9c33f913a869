"""What ``--steps`` shows is what the file holds, for all trainers and random options of each."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from bpe_cli import formats
from bpe_cli.errors import BpeError
from bpe_cli.stages import CharacterBpe, EventBpe, MergeBpe
from bpe_cli.stages.events import SPLIT, replayed, triples
from bpe_cli.stages.spelling import from_visible, to_visible
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import wordpiece
from bpe_cli.trainers.base import Front
from bpe_cli.trainers.dictionary import read_dictionary
from bpe_cli.views.training_steps import display, training_lines
from tests.thorough import more
from tests.trainer_options import KINDS, WORDS, Kind, counted

ROUNDS = more(20, 300)
_STEP = re.compile(r"step \d+: (.+) \+ (.+) -> (.+), (?:\d+ times?|score .*)")
_EVENT = re.compile(r"step \d+: (.+ -> .+), \d+ times?")
_PLACEMENT = re.compile(r"step \d+: (.+), \d+ pieces? fewer")
_TOKEN = re.compile(r" *(\d+)  (.*?)(?:  -?\d+\.\d{4}|  \d+ times?)?")
_PIECE = re.compile(r" *(\d+)  +-?\d+\.\d{4}  (.*)")


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_option_has_values(kind: Kind) -> None:
    for name in kind.field_names:
        assert kind.values(name), name


def draw(kind: Kind, random_: random.Random) -> tuple[Any, list[bytes]]:
    names = random_.sample(kind.field_names, min(random_.randint(0, 4), len(kind.field_names)))
    options = kind.make({name: random_.choice(kind.values(name)) for name in names})
    letters = random_.choice(["lowern ", "abcé \n", "ab\t\u200b\u3000 ", "你好。 \n"])
    text = "".join(random_.choice(letters) for _ in range(80)).encode()
    if getattr(options, "dictionary", False) or kind.name == "list":
        return options, [b"low 5\nlower 2\nnewest 6\nwidest 3\n"]
    return options, [*([text] * random_.randint(1, 3)), *([WORDS.encode()] * random_.randint(0, 2))]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_random_options(kind: Kind, tmp_path) -> None:
    random_ = random.Random(str(kind))
    compared = longer = 0
    for _ in range(ROUNDS):
        try:
            options, texts = draw(kind, random_)
            counts = counted(kind, options, texts)
            told = list(training_lines(kind.trainer.steps(counts, options)))
            trained = kind.trainer.train(counts, options)
            content = formats.dump(trained.tokenizer, "bpe.json", ["ids"])[""]
        except BpeError:  # of these tests/test_option_pairs.py asks more
            continue
        assert all("\n" not in line and line.isprintable() for line in told), [repr(line) for line in told]
        (tmp_path / "t.json").write_bytes(content)
        check(kind, options, counts, told, formats.load(tmp_path / "t.json"))
        compared += 1
        longer += len(told) > 3
    assert compared >= ROUNDS // 3
    assert longer >= ROUNDS // 3


def check(kind: Kind, options: Any, counts: Any, told: list[str], saved: Tokenizer) -> None:
    """Hold the lines of ``--steps`` to the tokenizer in the file."""
    tokens = [display(text_of(saved, token_id)) for token_id in range(saved.vocab_size)]
    if kind.name in ("bbpe", "bpe"):
        assert isinstance(saved.model, (MergeBpe, CharacterBpe))
        show = display_bytes if kind.name == "bbpe" else display_text
        merges = [(show(saved, left), show(saved, right), show(saved, new)) for left, right, new in saved.model.merges]
        pairs = [match.groups() for match in map(_STEP.fullmatch, told) if match]
        last = kind.name == "bpe" and options.compat == "hf"
        assert unique(pairs, last=last) == unique(merges, last=last)
    elif kind.name == "wordpiece" and options.learner == "tensorflow":
        assert told[-1].removeprefix("  tokens  ").split("  ") == tokens
    elif kind.name == "wordpiece":
        words = read_dictionary(counts, front=front_of(options)) if options.dictionary else counts
        initial = wordpiece.initial_tokens(options, wordpiece.alphabet_of(words, options))
        products = [match[3] for match in map(_STEP.fullmatch, told) if match]
        assert unique([*map(display, initial), *products]) == tokens
    elif kind.name in ("picky", "scaffold"):
        assert isinstance(saved.model, EventBpe)
        found = [match[1] for match in map(_EVENT.fullmatch, told) if match]
        assert found == list(events(saved.model, tokens))
    elif kind.name.startswith("sentencepiece"):
        assert listed(_PIECE, told) == tokens
    elif kind.name == "greedtok":
        initial = len(saved.special_tokens) + 256
        tokens = [saved.token_bytes(token_id).decode() for token_id in range(initial, saved.vocab_size)]
        placed = [match[1] for match in map(_PLACEMENT.fullmatch, told) if match]
        assert placed == [display(from_visible(token) or b"") for token in tokens]
    elif kind.name != "byte":
        at = next(number for number, line in enumerate(told) if line.startswith("vocabulary: "))
        assert told[at].split()[1] == str(len(tokens))
        assert listed(_TOKEN, [line for line in told[at + 1 :] if not line.startswith("  unseen")]) == tokens
    else:
        rows = [line.lstrip().split("  ", 1)[1] for line in told[1:]]
        table = " ".join(rows[:16]).split()
        specials = [display(token.content.decode()) for token in saved.special_tokens]
        assert rows[16:] == specials
        first = len(specials) if options.special_first else 0
        assert [to_visible(saved.token_bytes(first + number)) for number in range(256)] == table


def front_of(options: wordpiece.Options) -> Front:
    """Return the stages of the words of a dictionary."""
    return wordpiece.TRAINER.front(replace(options, dictionary=False))


def events(model: EventBpe, tokens: list[str]) -> Iterator[str]:
    replay, splits = replayed(model), itertools.count()
    for left, right, product in triples(model.events):
        if right == SPLIT:
            yield f"{tokens[left]} -> {' + '.join(tokens[part] for part in replay.parts_of(next(splits)))}"
        else:
            yield f"{tokens[left]} + {tokens[right]} -> {tokens[product]}"


def listed(pattern: re.Pattern[str], lines: list[str]) -> list[str]:
    found = [pattern.fullmatch(line) for line in lines]
    assert all(found), lines
    assert [int(match[1]) for match in found] == list(range(len(found)))
    return [match[2] for match in found]


def unique(items: list[Any], *, last: bool = False) -> list[Any]:
    """Keep each item once, where it stands first (or last)."""
    kept = list(dict.fromkeys(reversed(items) if last else items))
    return kept[::-1] if last else kept


def text_of(saved: Tokenizer, token_id: int) -> str:
    try:
        return saved.token_bytes(token_id).decode("utf-8", "surrogateescape")
    except BpeError:  # a learnt token that is spelt as a reserved one
        return ""


def display_bytes(saved: Tokenizer, token_id: int) -> str:
    return display(saved.token_bytes(token_id))


def display_text(saved: Tokenizer, token_id: int) -> str:
    return display(saved.token_bytes(token_id).decode())
