"""Dictionaries from rounds of joining: the core does what the textbook does, and the recorded run did."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import TrainingError, UsageError
from bpe_cli.teaching import maxmatch as textbook
from bpe_cli.trainers import maxmatch
from bpe_cli.trainers.counts import new_counts
from bpe_cli.trainers.maxmatch import MaxMatchOptions
from bpe_cli.views.training_steps import training_lines
from tests.counted import at_least, compared
from tests.oracle.longest_match import segment
from tests.thorough import more
from tests.unit.trainers.staged_runs import counted, decode, encode, pipeline_of, spans, tokens

DATASET = [
    "所谓调度就是决定某时刻，应该运行哪个进程。",
    "调度分为实时调度和非实时调度。",
    "实时调度分为硬实时和软实时。",
]

# -- worked examples -------------------------------------------------------------------------------


def test_counts_of_the_compression_example() -> None:
    counts = textbook.count_pairs([list("aaabdaaabac")])
    # The document's list leaves out ba, which its drawing shows.
    assert counts == {"aa": 4, "ab": 2, "bd": 1, "da": 1, "ba": 1, "ac": 1}


def test_joined_line_of_the_example() -> None:
    line = [textbook.BREAK if character in "，。" else character for character in DATASET[0]]
    frequent = dict.fromkeys(["所谓", "调度", "决定", "时刻", "运行", "进程"], 9)
    once = textbook.join(line, frequent, threshold=1)
    assert " ".join(once) == "所谓 调 度 就 是 决定 某 时刻 # 应 该 运行 哪 个 进程 #"
    # 调 rested after the first join: it takes another round to come to what the document shows.
    twice = textbook.join(once, frequent, threshold=1)
    assert " ".join(twice) == "所谓 调度 就 是 决定 某 时刻 # 应 该 运行 哪 个 进程 #"


def test_three_lines() -> None:
    options = MaxMatchOptions(lines_per_word=0.6, factors=(1.0,), rounds=2)
    learnt = maxmatch.learn(counted(DATASET), options)
    assert learnt.lines == 3
    assert learnt.characters[:3] == [("时".encode(), 6), ("实".encode(), 5), ("度".encode(), 5)]
    first = {word.decode(): count for word, count in learnt.words[0]}
    # 实时 comes first in the sorted lines.
    assert [*first.items()][:5] == [("实时", 5), ("调度", 5), ("时调", 3), ("度分", 2), ("分为", 2)]
    assert learnt.thresholds[0] == 2  # int(3 / 0.6) = 5: the count at rank 5
    assert "刻应" not in first  # punctuation is between them
    second = {word.decode(): count for word, count in learnt.words[1]}
    # 调 rests after 实时 became a word; where nothing goes before it, 调度 is joined.
    assert (second["实时调"], second["调度分"], second["调度"]) == (3, 1, 3)


def test_shorter_word_is_better_if_it_is_much_more_frequent() -> None:
    lines = [["大圣", "道"]] * 3 + [["大", "圣"]] * 4
    counts = textbook.count_pairs(lines)
    assert counts == {"大圣道": 3, "大圣": 4}
    assert textbook.join(["大圣", "道"], counts, threshold=1, ratio=1.1) == ["大圣", "道"]
    assert textbook.join(["大圣", "道"], counts, threshold=1, ratio=1.4) == ["大圣道"]


def test_tokenizer_of_characters_and_words() -> None:
    options = MaxMatchOptions(
        lines_per_word=0.6, factors=(1.0,), rounds=1, special_tokens=("<pad>",), white_space="break"
    )
    trained = maxmatch.TRAINER.train(counted(DATASET), options)
    ids = tokens(trained.tokenizer)
    alphabet = sorted({*"".join(DATASET)}, key=lambda c: (-"".join(DATASET).count(c), c))
    assert [token.content for token in trained.tokenizer.special_tokens] == [b"<unk>", b"<pad>"]
    assert [*ids][: len(alphabet) + 3] == [*alphabet, "\n", "实时", "调度"]
    assert ids["时"] == 2
    assert trained.summary[0] == f"{len(alphabet) + 1} characters"
    pipeline = pipeline_of(trained.tokenizer)
    found = spans(pipeline, "实时调度\n运行X。")
    assert [text.decode() for _, text in found] == ["实时", "调度", "\n", "运行", "X", "。"]
    assert [token_id for token_id, text in found if text == b"X"] == [0]
    assert decode(pipeline, trained.tokenizer, encode(pipeline, "实时调度\n运行。")).decode() == "实时调度\n运行。"


def test_white_space_is_removed_or_a_break() -> None:
    spaced = counted([" ".join(line) for line in DATASET])
    assert maxmatch.learn(spaced, MaxMatchOptions()) == maxmatch.learn(counted(DATASET), MaxMatchOptions())
    learnt = maxmatch.learn(spaced, MaxMatchOptions(white_space="break"))
    assert (learnt.words, learnt.characters[0][0]) == ([], b" ")


def test_a_text_of_several_lines_is_as_many_lines() -> None:
    together = counted(["\r\n".join(DATASET) + "\n\n" + DATASET[0]])
    assert maxmatch.learn(together, MaxMatchOptions()) == maxmatch.learn(counted(DATASET), MaxMatchOptions())


def test_stray_bytes_are_characters_to_learn_from_and_unknown() -> None:
    learnt = maxmatch.learn(counted([b"\xff\xfe\xff\xfe", b"\xe4\xbd"]), MaxMatchOptions(rounds=1))
    assert dict(learnt.words[0]) == {b"\xff\xfe": 2, b"\xfe\xff": 1, b"\xe4\xbd": 1}
    tokenizer = maxmatch.assemble([(b"\xff", 1)], [[("你好".encode(), 1)]], MaxMatchOptions(white_space="break"))
    found = spans(pipeline_of(tokenizer), b"\xff\xe4\xbd" + "你好".encode() + b"\xe4")
    assert found == [(0, b"\xff"), (0, b"\xe4"), (0, b"\xbd"), (2, "你好".encode()), (0, b"\xe4")]
    trained = maxmatch.TRAINER.train(counted([b"a\xffa\xffa"]), MaxMatchOptions(rounds=1, white_space="break"))
    assert trained.summary[0] == "2 characters"
    assert trained.summary[-1].endswith(" left out that are not UTF-8")


def test_steps_are_the_textbook() -> None:
    lines = [
        *training_lines(
            maxmatch.TRAINER.steps(counted(DATASET), MaxMatchOptions(lines_per_word=0.5, factors=(1.0,), rounds=1))
        )
    ]
    assert lines[0] == "start: 3 lines"
    assert lines[5].startswith("round 1:")
    assert lines[6].startswith("   words  实时:5  调度:5  时调:3  ")


def test_steps_join_a_number_sign_that_is_no_punctuation() -> None:
    counts = counted(["好#吗", "你好#吗", "我好!#吗"])
    options = MaxMatchOptions(lines_per_word=1, punctuation="!", rounds=3)
    learnt = maxmatch.learn(counts, options)
    joining = maxmatch.TRAINER.steps(counts, options)
    rounds = list(textbook.learn(joining.lines, joining.rounds, joining.rules))
    assert [[(word.encode(), count) for word, count in each.words] for each in rounds] == learnt.words
    assert [list(map(str, line)) for line in rounds[-1].lines] == [["你", "好#吗"], ["好#吗"], ["我", "好", "#", "#吗"]]


# -- what cannot be --------------------------------------------------------------------------------


def test_empty_corpus() -> None:
    with pytest.raises(TrainingError, match="no text"):
        maxmatch.TRAINER.train(new_counts(), MaxMatchOptions())
    with pytest.raises(TrainingError, match="no text"):
        maxmatch.TRAINER.train(counted([" \t"]), MaxMatchOptions())


def test_vocabulary_holds_the_characters_at_least() -> None:
    counts = counted(DATASET)
    needed = len({*"".join(DATASET)}) + 2
    assert maxmatch.TRAINER.train(counts, MaxMatchOptions(vocab_size=needed)).tokenizer.vocab_size == needed
    with pytest.raises(TrainingError, match="too small") as caught:
        maxmatch.TRAINER.train(counts, MaxMatchOptions(vocab_size=needed - 1))
    assert caught.value.hint == f"ask for {needed} or more"
    trained = maxmatch.TRAINER.train(counts, MaxMatchOptions(vocab_size=10_000))
    assert trained.shortfall == "4 rounds give no more words"


@pytest.mark.parametrize(
    "wrong",
    [
        {"rounds": 0},
        {"rounds": 101},
        {"factors": ()},
        {"factors": (1.0, -1.0)},
        {"ratio": float("nan")},
        {"lines_per_word": 0},
        {"lines_per_count": float("inf")},
        {"dictionary_size": 0},
        {"white_space": "kept"},
        {"vocab_size": 0},
        {"unk_token": ""},
        {"special_tokens": ("a", "a")},
        {"special_tokens": ("",)},
    ],
)
def test_wrong_options(wrong) -> None:
    with pytest.raises(UsageError):
        MaxMatchOptions(**wrong)


def test_progress_counts_rounds_and_may_stop() -> None:
    seen = []
    counts = counted(DATASET)

    def progress(done: int, total: int) -> None:
        seen.append((done, total, counts.unique))  # the counts are free to be asked

    maxmatch.learn(counts, MaxMatchOptions(rounds=2), progress)
    assert seen == [(1, 2, 3), (2, 2, 3)]

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        maxmatch.learn(counts, MaxMatchOptions(), stop)


# -- equal to the textbook -------------------------------------------------------------------------


@at_least(540)
def test_core_learns_what_the_textbook_learns() -> None:
    draw = random.Random(3)
    for _ in range(more(700, 2500)):
        alphabet = draw.choice(["ab", "ab#", "abc. ", "好你é𐍈a。", "aaab \u3000"])
        lines = ["".join(draw.choices(alphabet, k=draw.randrange(14))) for _ in range(draw.randrange(1, 9))]
        options = MaxMatchOptions(
            rounds=draw.randrange(1, 6),
            factors=tuple(draw.choice([0.0, 0.4, 1.0, 1.5]) for _ in range(draw.randrange(1, 4))),
            lines_per_word=draw.choice([0.3, 1, 2]),
            lines_per_count=draw.choice([1, 2.5, 2000]),
            ratio=draw.choice([0.0, 0.5, 1.1, 3.0]),
            white_space=draw.choice(["removed", "break"]),
        )
        joins_over_space = options.white_space == "removed"
        prepared = textbook.prepare(lines, options.punctuation, joins_over_space=joins_over_space)
        if not prepared:
            continue
        rules = textbook.Rules(options.factors, options.lines_per_word, options.lines_per_count, options.ratio)
        expected = [*textbook.learn(prepared, options.rounds, rules)]
        learnt = maxmatch.learn(counted(lines), options, threads=draw.choice([1, 3]))
        assert learnt.lines == len(prepared)
        assert learnt.thresholds == [each.threshold for each in expected]
        words = [[(word.encode(), count) for word, count in each.words] for each in expected]
        assert learnt.words == words, (lines, options)
        compared()


WORDS = st.lists(st.text("ab你\U00010348", min_size=1, max_size=5), max_size=12)


@given(WORDS, st.text("abc你好\U00010348", max_size=40))
def test_core_segments_as_the_textbook(words, text) -> None:
    tokenizer = maxmatch.assemble([], [[(word.encode(), 1) for word in words]], MaxMatchOptions(white_space="break"))
    found = spans(pipeline_of(tokenizer), text)
    assert [part.decode() for _, part in found] == segment(text, {*words})
    ids = tokens(tokenizer)
    assert [token_id for token_id, _ in found] == [ids.get(part.decode(), 0) for _, part in found]


# -- equal to the recorded run ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded(shared) -> Path:
    return shared / "expected" / "train" / "pluveto"


def read_dictionaries(recorded: Path) -> list[list[tuple[bytes, int]]]:
    files = [(recorded / "output" / f"vocab_BPE.txt_{number}").read_bytes() for number in (1, 2, 3, 4)]
    return [[(word, int(count)) for word, count in (line.split(b"\t") for line in file.splitlines())] for file in files]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("spaced", [True, False])
def test_four_dictionaries_of_the_recorded_run(recorded, threads, spaced) -> None:
    """The run had one worker; with more, it shares lines out in turns, and equal counts come in another order."""
    text = (recorded / "train.txt").read_text(encoding="utf-8")
    counts = counted((text if spaced else text.replace(" ", "")).splitlines())
    learnt = maxmatch.learn(counts, MaxMatchOptions(), threads=threads)
    assert (learnt.lines, learnt.thresholds) == (4657, [11, 7, 6, 5])
    for number, words in enumerate(learnt.words, 1):
        expected = (recorded / "output" / f"vocab_BPE.txt_{number}").read_bytes()
        assert b"".join(word + b"\t%d\n" % count for word, count in words) == expected, number


def test_hundred_lines_of_the_recorded_run(recorded) -> None:
    tokenizer = maxmatch.assemble([], read_dictionaries(recorded), MaxMatchOptions())
    pipeline = pipeline_of(tokenizer, stages=False)
    expected = (recorded / "output" / "tokenized.txt").read_text(encoding="utf-8").splitlines()
    lines = (recorded / "test.txt").read_text(encoding="utf-8").splitlines()[: len(expected)]
    assert len(lines) == 100
    found = [b" ".join(text for _, text in spans(pipeline, line.replace(" ", ""))).decode() for line in lines]
    assert found == expected


def test_spaced_text_is_encoded_as_plain_text(recorded) -> None:
    tokenizer = maxmatch.assemble([], read_dictionaries(recorded), MaxMatchOptions())
    pipeline = pipeline_of(tokenizer)
    text = (recorded / "test.txt").read_text(encoding="utf-8")
    assert encode(pipeline, text) == encode(pipeline, text.replace(" ", ""))


def test_sentence_of_the_document() -> None:
    """The document shows what a dictionary of its own gave: these words were in it, and they suffice."""
    shown = [
        *["他是", "一位", "声誉", "很高的", "学者", "，", "凭借", "丰富的", "知识", "储备", "，"],
        *[
            "在这",
            "部",
            "重要的",
            "作品",
            "中",
            "，",
            "就",
            "弥",
            "源",
            "太",
            "是否",
            "皈",
            "依",
            "进行过",
            "讨论",
            "。",
        ],
    ]
    others = ["是一", "很高", "丰富", "重要", "进行", "作品"]  # shorter ones lose
    words = [(word.encode(), 1) for word in [*others, *shown] if len(word) > 1]
    pipeline = pipeline_of(maxmatch.assemble([], [words], MaxMatchOptions(white_space="break")))
    assert [text.decode() for _, text in spans(pipeline, "".join(shown))] == shown
