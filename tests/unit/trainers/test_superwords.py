"""Superwords: the core against the textbook and the authors' trainer; counts, threads and blocks; what is refused."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bpe_cli import _core, formats, train
from bpe_cli.errors import FormatError, UsageError
from bpe_cli.jobs.count import load_counts, save_counts
from bpe_cli.stages.patterns import RUNS as RUN_PATTERN
from bpe_cli.stages.spelling import ALPHABET_ORDER
from bpe_cli.stages.splitters import RegexSplitter
from bpe_cli.support.blocks import Block
from bpe_cli.teaching.bpe import Tie
from bpe_cli.teaching.frontier import superwords as textbook
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bbpe
from bpe_cli.trainers.bbpe_options import BbpeOptions
from bpe_cli.trainers.bbpe_rules import COMPAT
from bpe_cli.trainers.counts import new_counts
from tests.cli_runner import call
from tests.counted import at_least, compared
from tests.needs import needs
from tests.oracle.encode import encode_by_merges
from tests.oracle.superbpe_cases import NAMES, Case, counted_lines, read_case
from tests.thorough import more


def merges(tokenizer: Tokenizer) -> list[tuple[bytes, bytes]]:
    vocabulary = tokenizer.model.vocabulary
    return [(vocabulary.token(left), vocabulary.token(right)) for left, right, _ in tokenizer.model.merges]


def learnt(blocks: list[Block], options: BbpeOptions, threads: int = 1) -> Tokenizer:
    counts = new_counts()
    bbpe.TRAINER.count(blocks, options, counts, threads)
    return bbpe.TRAINER.train(counts, options, threads=threads).tokenizer


# -- the authors' trainer --------------------------------------------------------------------------


@pytest.fixture(scope="module", params=NAMES)
def case(request: pytest.FixtureRequest, shared: Path) -> Case:
    return read_case(shared, request.param)


def test_it_is_what_the_authors_learnt(case: Case) -> None:
    tokenizer = train(case.texts, **case.options)
    assert merges(tokenizer) == case.merges
    assert [tokenizer.token_bytes(token_id) for token_id in range(tokenizer.vocab_size)] == case.tokens
    assert len(case.encodings) > 300
    alphabet = {token[0] for token in case.tokens if len(token) == 1}
    for text, ids in case.encodings:
        # What has no token is left out there, and refused here: the alphabet is what the corpus has.
        if alphabet.issuperset(text.encode()):
            assert tokenizer.encode(text) == ids


def test_hugging_face_encodes_the_same(case: Case, tmp_path: Path) -> None:
    library = needs("tokenizers")
    path = tmp_path / "tokenizer.json"
    train(case.texts, **case.options | {"initial_alphabet": "all"}).save(path)
    theirs, ours = library.Tokenizer.from_file(str(path)), formats.load(path)
    for text, _ in case.encodings:
        assert theirs.encode(text).ids == ours.encode(text)
    text = b"".join(case.texts).decode()
    assert theirs.encode(text).ids == ours.encode(text)


def test_the_command_line_does_the_same(shared: Path, tmp_path: Path) -> None:
    case = read_case(shared, "udhr3-600-300-1200")
    files = []
    for number, text in enumerate(case.texts):
        files.append(tmp_path / f"{number}.txt")
        files[-1].write_bytes(text)
    given = ["-s", str(case.vocab_size), "--superwords", "--switch", str(case.switch), "--pattern", case.words]
    result = call("train", *map(str, files), *given, "--initial-alphabet", "seen", "-o", str(tmp_path / "t.json"))
    assert result.status == 0, result.err
    assert merges(formats.load(tmp_path / "t.json")) == case.merges


# -- the textbook ----------------------------------------------------------------------------------

WORDS, RUNS = r" ?\w+|[^\w\s]+|\s+", r"\d+|[^\w\s]{2,}"


def drawn(chance: random.Random) -> list[bytes]:
    letters = chance.choice(["ab ", "ab \n", "aé: 1\n", "the of. \r\n"])
    size = chance.choice([5, 40, 200])
    return ["".join(chance.choices(letters, k=size)).encode() for _ in range(chance.randint(1, 4))]


@pytest.mark.parametrize("compat", [name for name, rules in COMPAT.items() if not rules.lines])
@at_least(more(40, 60))
def test_it_is_what_the_textbook_learns(compat: bbpe.Compat) -> None:
    chance = random.Random(compat)
    tie: Tie = COMPAT[compat].tie
    met = 0
    for _ in range(more(40, 60)):
        texts = drawn(chance)
        options: dict[str, Any] = {
            "switch": chance.choice([0, 1, 3, 10, 100]),
            "max_words": chance.choice([1, 2, 4, None]),
            "never_within": chance.choice([(), (": ",), ("b a", " ")]),
        }
        common: dict[str, Any] = {"max_token_length": chance.choice([None, None, 2, 5])}
        settings = BbpeOptions(
            vocab_size=256 + chance.choice([1, 5, 30, 100]), pattern=WORDS, run_pattern=RUNS, superwords=True,
            compat=compat, **options, **common,
        )  # fmt: skip
        tokenizer = learnt([Block.of(texts)], settings)
        order = ALPHABET_ORDER if settings.rules.visible_order else range(256)
        book = textbook.train(
            counted_lines(texts, WORDS), counted_lines(texts, RUNS), initial=[bytes([byte]) for byte in order],
            vocab_size=settings.vocab_size, tie=tie, min_frequency=settings.minimum, switch=options["switch"],
            max_words=options["max_words"], never_within=[text.encode() for text in options["never_within"]], **common,
        )  # fmt: skip
        assert merges(tokenizer) == book.merges(), (texts, options)
        met += any(textbook.is_superword(token) for _, token in tokenizer.model.vocabulary.items())
        compared()
    assert met > 10


def test_a_merge_without_a_place_in_the_runs_is_left_out() -> None:
    options = BbpeOptions(260, pattern=r"\w+|\W", run_pattern=r"a", superwords=True, switch=2)
    words = train(["abc abc abc"], vocab_size=258, pattern=r"\w+|\W")
    assert merges(words) == [(b"a", b"b"), (b"ab", b"c")]
    tokenizer = learnt([Block.of([b"abc abc abc"])], options)
    assert merges(tokenizer) == [(b"b", b"c"), (b"bc", b" ")]
    assert tokenizer.token_bytes(256) == b"bc", "no id is left for what was left out"


def test_the_summary_tells_superwords_by_the_merges_that_were_taken_over() -> None:
    """Both merges of the first stage are left out, and of the two there are one crosses a space."""
    options = BbpeOptions(258, pattern=r"\w+|\W", run_pattern=r"a", superwords=True, switch=2)
    counts = new_counts()
    bbpe.TRAINER.count([Block.of([b"abc abc abc"])], options, counts, 1)
    assert bbpe.TRAINER.train(counts, options).summary[1:3] == ("2 merges", "switch at 2")
    words = BbpeOptions(258, pattern=r"\w+|\W", superwords=True, switch=2)
    counts = new_counts()
    bbpe.TRAINER.count([Block.of([b"abc abc abc"])], words, counts, 1)
    assert bbpe.TRAINER.train(counts, words).summary[1:4] == ("2 merges", "switch at 2", "no superwords")


# -- encoding -------------------------------------------------------------------------------------

COMMON = (" of", " the", " in", " end", " of the", ",", ".\n", " 12", "  ", " été", "\t")


def by_the_book(data: bytes, learnt: list[tuple[bytes, bytes]]) -> list[bytes]:
    tokens: list[bytes] = []
    start = 0
    for end in RegexSplitter([RUN_PATTERN]).split(data):
        tokens += encode_by_merges([data[place : place + 1] for place in range(start, end)], learnt)
        start = end
    return tokens


@pytest.mark.parametrize("switch", [0, 20, 60, 140])
def test_long_texts_are_encoded_as_the_textbook_merges(switch: int) -> None:
    """The first text is long enough that the core merges words alone from then on, if the switch is late enough."""
    chance = random.Random(switch)
    tokenizer = train(["".join(chance.choices(COMMON, k=3000))], vocab_size=400, superwords=True, switch=switch)
    learnt = merges(tokenizer)
    assert any(textbook.is_superword(token) for _, token in tokenizer.model.vocabulary.items())
    for size in (2000, 1, 7, 40, 400):
        rare = ["".join(chance.choices(" abcdefé", k=9)) for _ in range(5)]
        data = "".join(chance.choices([*COMMON, *rare], k=size)).encode()
        tokens = by_the_book(data, learnt)
        assert [tokenizer.token_bytes(token_id) for token_id in tokenizer.encode(data)] == tokens
        assert tokenizer.count(data) == len(tokens)


# -- blocks, threads, counts -----------------------------------------------------------------------

TEXT = "".join(f"of the {number % 7} words: in the end, of the\r\nit is the end of it \n" for number in range(400))
OPTIONS = BbpeOptions(400, superwords=True, switch=40)


def test_blocks_and_threads_change_nothing() -> None:
    data = TEXT.encode()
    expected = learnt([Block.of([data])], OPTIONS)
    assert any(textbook.is_superword(token) for _, token in expected.model.vocabulary.items())
    chance = random.Random(1)
    for threads in (1, 3):
        ends = sorted(chance.sample(range(1, len(data)), 9))
        parts = [data[start:end] for start, end in zip([0, *ends], [*ends, len(data)], strict=True)]
        blocks = [
            Block(part, Block.of([part]).ends, continued=number > 0, unfinished=number < len(parts) - 1)
            for number, part in enumerate(parts)
        ]
        assert learnt(blocks, OPTIONS, threads) == expected


def test_counts_are_saved_and_added_up(tmp_path: Path) -> None:
    halves = TEXT[: len(TEXT) // 2], TEXT[len(TEXT) // 2 :]
    for number, half in enumerate(halves):
        counts = new_counts()
        bbpe.TRAINER.count([Block.of([half.encode()])], OPTIONS, counts)
        save_counts(counts, OPTIONS, str(tmp_path / f"{number}.counts"))
    paths = [str(tmp_path / "0.counts"), str(tmp_path / "1.counts")]
    added, options = load_counts(paths, OPTIONS, 1 << 30)
    assert isinstance(added, _core.Counts)
    expected = learnt([Block.of([half.encode() for half in halves])], OPTIONS)
    assert bbpe.TRAINER.train(added, options).tokenizer == expected
    with pytest.raises(UsageError, match="made for another algorithm, or for superwords"):
        load_counts(paths, BbpeOptions(400), 1 << 30)
    with pytest.raises(UsageError, match="made for superwords, or with another `run_pattern`"):
        load_counts(paths, BbpeOptions(400, superwords=True, run_pattern=""), 1 << 30)


def test_lines_are_found_in_the_core() -> None:
    chance = random.Random(2)
    for _ in range(50):
        block = Block.of(["".join(chance.choices("ab\r\n", k=chance.randint(0, 9))).encode() for _ in range(4)])
        lines = [line for document in block.documents() for line in textbook.lines_of(bytes(document))]
        assert list(memoryview(_core.line_ends(block))) == list(Block.of(lines).ends)


# -- the switch ------------------------------------------------------------------------------------


@at_least(more(40, 80))
def test_the_switch_is_found_where_the_textbook_finds_it() -> None:
    chance = random.Random(7)
    inside = set()
    for _ in range(more(40, 80)):
        texts = drawn(chance)
        common: dict[str, Any] = {
            "max_words": chance.choice([1, 4, None]), "min_frequency": chance.choice([1, 1, 2]),
            "vocab_size": 256 + chance.choice([1, 5, 30, 60]),
        }  # fmt: skip
        options = BbpeOptions(
            pattern=WORDS, run_pattern=RUNS, superwords=True, switch="auto", never_within=(), **common
        )
        counts = new_counts()
        bbpe.TRAINER.count([Block.of(texts)], options, counts)
        trained = bbpe.TRAINER.train(counts, options)

        def at(switch: int, texts: list[bytes] = texts, common: dict[str, Any] = common) -> textbook.Training:
            return textbook.train(
                counted_lines(texts, WORDS), counted_lines(texts, RUNS), switch=switch, never_within=(), **common,
                initial=[bytes([byte]) for byte in ALPHABET_ORDER],
            )  # fmt: skip

        found = textbook.balanced_switch(at, len(at(common["vocab_size"]).words.merges()))
        assert f"switch at {found}" in trained.summary
        assert merges(trained.tokenizer) == at(found).merges()
        inside.add(found)
        compared()
    assert len(inside) > 10


def test_the_switch_that_is_found_can_be_given() -> None:
    options = BbpeOptions(600, superwords=True, switch="auto")
    counts = new_counts()
    bbpe.TRAINER.count([Block.of([TEXT.encode()])], options, counts)
    seen: list[int] = []
    found = bbpe.TRAINER.train(counts, options, lambda tokens, _: seen.append(tokens))
    (number,) = (int(part.removeprefix("switch at ")) for part in found.summary if part.startswith("switch"))
    assert 0 < number < 600 - 256
    given = bbpe.TRAINER.train(counts, replace(options, switch=number), threads=3)
    assert (given.tokenizer, given.summary) == (found.tokenizer, found.summary)
    assert seen == sorted(seen), "all rounds together are one way from 0 to the end"


# -- defaults, refusals ----------------------------------------------------------------------------


def test_nine_tenths_of_the_tokens_are_there_at_the_switch() -> None:
    usual = train([TEXT], vocab_size=320, superwords=True)
    assert usual == train([TEXT], vocab_size=320, superwords=True, switch=320 * 9 // 10 - 256)
    assert usual != train([TEXT], vocab_size=320, superwords=True, switch=10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"switch": 5}, "`switch` is about the second stage"),
        ({"run_pattern": "o200k"}, "`run_pattern` is about the second stage"),
        ({"max_words": 2}, "`max_words` is about the second stage"),
        ({"max_words": None}, "`max_words` is about the second stage"),
        ({"never_within": ["x"]}, "`never_within` is about the second stage"),
        ({"superwords": True, "prefix_space": True}, "`prefix_space` cannot be used with `superwords`"),
        ({"superwords": True, "boundaries": ["a|b"]}, "`boundaries` cannot be used with `superwords`"),
        ({"superwords": True, "boundary_mark": "|"}, "`boundary_mark` cannot be used with `superwords`"),
        ({"superwords": True, "compat": "course"}, "its lines are documents without their ends"),
        ({"superwords": True, "never_within": [""]}, "an empty text, which every token contains"),
        ({"superwords": True, "max_words": -1}, "max_words must be from 0"),
        ({"superwords": True, "max_words": 0}, "max_words must be 1 or more, not 0"),
        (
            {"superwords": True, "split_special": True, "special_tokens": ["<\n>"]},
            "a special token with a line end in it cannot be split off",
        ),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        train(["text"], vocab_size=300, **options)


def test_there_are_no_steps() -> None:
    with pytest.raises(UsageError, match="`superwords` has two"):
        bbpe.TRAINER.steps(new_counts(), OPTIONS)


def test_llama_cpp_has_no_such_pattern() -> None:
    with pytest.raises(FormatError, match="pattern"):
        formats.dump(train([TEXT], vocab_size=300, superwords=True), "gguf", ["ids"])
