"""What a data set would have is estimated from a sample, and the interval says how well."""

from __future__ import annotations

import bz2
import gzip
import json
import random
from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from bpe_cli.corpus import Source
from bpe_cli.errors import UsageError
from bpe_cli.jobs.prepare import PrepareOptions, estimate, prepare
from bpe_cli.jobs.prepare import estimating as module
from bpe_cli.jobs.prepare.estimating import Interval
from tests.needs import needs
from tests.thorough import more


@cache
def lines(count: int) -> tuple[str, ...]:
    """Make texts whose tokens a byte differ from place to place."""
    draw = random.Random(1)
    words = ("the cat sat on the mat ", "naïve 日本 ", "0123456789 ", "{}[];() ")
    return tuple("".join(draw.choices(words[: 1 + number * 4 // count], k=draw.randint(1, 40)))
                 for number in range(count))  # fmt: skip


def written(path: Path, texts: Sequence[str]) -> None:
    data = "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()
    path.parent.mkdir(exist_ok=True)
    quickly = {".gz": lambda: gzip.compress(data, 1), ".bz2": lambda: bz2.compress(data, 1)}
    path.write_bytes(quickly[path.suffix]() if path.suffix in quickly else data)


@pytest.fixture(autouse=True)
def _small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AT_A_PLACE", 2000)
    monkeypatch.setattr(module, "_OF_A_FILE", 4000)


def holds(interval: Interval, truth: int, within: float) -> bool:
    assert interval.low is not None
    assert interval.high is not None
    width = interval.high - interval.low
    return interval.low - width <= truth <= interval.high + width and abs(interval.value - truth) <= within * truth


WAYS: tuple[dict, ...] = ({}, {"length": 32, "way": "truncate"}, {"length": 32, "way": "split", "pad": 0})  # type: ignore[type-arg]


@pytest.mark.parametrize(
    ("ending", "how"),
    more(
        [("", WAYS[0]), ("", WAYS[1]), ("", WAYS[2]), (".gz", WAYS[2]), (".bz2", WAYS[0])],
        [*product(("", ".gz", ".bz2"), WAYS)],
    ),
)
def test_the_truth_is_near(ending: str, how: dict, tmp_path: Path) -> None:  # type: ignore[type-arg]
    texts = lines(6000 if ending else 3000)
    each = len(texts) // 15
    for number in range(15):
        written(tmp_path / f"in/{number:02}.jsonl{ending}", texts[number * each : number * each + each])
    source = Source((str(tmp_path / "in"),), documents="jsonl")
    options = PrepareOptions(to="megatron", eot="auto", part_bytes=20_000, **how)
    planned = estimate(source, "gpt2", options, folder=tmp_path / "out", processes=2)
    assert not (tmp_path / "out").exists()
    done = prepare(source, "gpt2", options, folder=tmp_path / "out", processes=1)
    assert (len(planned.parts), planned.bytes) == (done.parts, sum(part.bytes for part in planned.parts))
    assert holds(planned.tokens, done.tokens, 0.15)
    assert holds(planned.documents, done.documents, 0.3)
    assert abs(planned.disk.value - done.bytes) < 0.2 * done.bytes
    assert sum(part.tokens for part in planned.parts) == pytest.approx(planned.tokens.value, abs=len(planned.parts))
    assert 5 < planned.places <= 32
    assert planned.sampled < planned.bytes
    assert planned.seconds > 0
    assert planned.free is not None
    again = estimate(source, "gpt2", options)
    assert (again.tokens, again.free) == (planned.tokens, None)


def test_the_intervals_hold_as_often_as_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of shuffled documents; 40 draws, of which 95 of 100 are right on average: 33 or more but once in 2,000 times."""
    texts = random.Random(2).sample(lines(2000), 2000)
    written(tmp_path / "in/a.jsonl", texts)
    source = Source((str(tmp_path / "in/a.jsonl"),), documents="jsonl")
    options = PrepareOptions(to="bin", part_bytes=40_000)
    truth = prepare(source, "gpt2", options, folder=tmp_path / "out", processes=1).tokens
    right, hashed = 0, module.blake2b
    for draw in range(40):

        def drawn(data: bytes, digest_size: int, draw: int = draw) -> object:
            return hashed(data + bytes([draw]), digest_size=digest_size)

        monkeypatch.setattr(module, "blake2b", drawn)
        tokens = estimate(source, "gpt2", options).tokens
        assert tokens.low is not None
        assert tokens.high is not None
        right += tokens.low <= truth <= tokens.high
    assert right >= 33


@pytest.mark.parametrize("documents", ["whole", "lines"])
def test_what_is_small_is_counted(documents: str, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("hello world\n" * (number + 1))
    (tmp_path / "empty.txt").write_text("")
    source = Source((str(tmp_path / "*.txt"),), documents=documents)  # type: ignore[arg-type]
    for options in (PrepareOptions(eot="auto"), PrepareOptions(eot="auto", length=2, way="truncate")):
        planned = estimate(source, "gpt2", options)
        done = prepare(source, "gpt2", options, folder=tmp_path / "out", processes=1, overwrite=True)
        assert planned.tokens == Interval(*[done.tokens] * 3)
        assert planned.documents == Interval(*[done.documents] * 3)
        assert planned.disk == Interval(*[done.bytes] * 3)  # bin has no header


def test_tables_are_sampled_by_their_beginnings(tmp_path: Path) -> None:
    arrow, parquet = needs("pyarrow"), needs("pyarrow.parquet", "pyarrow")
    for number in range(4):
        texts = lines(400)
        parquet.write_table(arrow.table({"text": texts}), tmp_path / f"{number}.parquet", row_group_size=50)
    source = Source((str(tmp_path / "*.parquet"),))
    planned = estimate(source, "gpt2", PrepareOptions(to="arrow", part_bytes=10_000))
    done = prepare(source, "gpt2", PrepareOptions(to="arrow"), folder=tmp_path / "out", processes=1)
    assert abs(planned.tokens.value - done.tokens) < 0.3 * done.tokens


def test_empty_files_do_not_change_an_estimate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AT_A_PLACE", 200_000)  # so few bytes that no places are drawn, and not all are read
    (tmp_path / "a.txt").write_text("hello world\n" * 110_000)
    source = Source((str(tmp_path / "*.txt"),))
    alone = estimate(source, "gpt2", PrepareOptions())
    assert 0 < alone.sampled < alone.bytes
    (tmp_path / "b.txt").write_text("")
    planned = estimate(source, "gpt2", PrepareOptions())
    assert planned.tokens == alone.tokens
    assert planned.tokens.value > 0
    assert planned.documents == Interval(2, 2, 2)


def test_nothing_is_estimated_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    planned = estimate(Source((str(tmp_path / "empty.txt"),)), "gpt2", PrepareOptions())
    assert (planned.tokens, planned.seconds, planned.sampled) == (Interval(0, 0, 0), 0, 0)
    with pytest.raises(UsageError, match="stdin"):
        estimate(Source(()), "gpt2", PrepareOptions())
