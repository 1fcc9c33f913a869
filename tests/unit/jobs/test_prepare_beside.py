"""What stands beside the ids of a data set: columns, spans, masks; and a validation set beside the training set."""

from __future__ import annotations

import io
import json
import tarfile
from array import array
from hashlib import blake2b
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.chat import LAYOUTS
from bpe_cli.corpus import Source
from bpe_cli.errors import BpeError, UsageError
from bpe_cli.jobs.encode_chat import ChatOptions, encode_chat
from bpe_cli.jobs.prepare import PrepareOptions, Share, check, finish, prepare
from bpe_cli.jobs.prepare.documents import is_validation, text_hash
from bpe_cli.sinks.dataset import DATASETS
from bpe_cli.sinks.dataset.columns import COLUMNS, ColumnValues
from bpe_cli.sinks.dataset.documents import Row
from tests.needs import needs

EOT = 50256
TEXTS = [f"document {number} " + "naïve 日本\n" * (number % 5) for number in range(40)]


@pytest.fixture
def corpus(tmp_path: Path) -> Source:
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8")
    return Source((str(tmp_path / "in.jsonl"),), documents="jsonl")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def table(folder: Path) -> list[dict[str, list[int]]]:
    parquet = needs("pyarrow.parquet")
    return [row for path in sorted(folder.glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]


def documents() -> list[list[int]]:
    tokenizer = bpe_cli.load("gpt2")
    return [[*tokenizer.encode(text), EOT] for text in TEXTS]


# -- columns --------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.lists(st.integers(1, 5), max_size=4), st.integers(0, 3)), max_size=6))
def test_columns_are_those_of_the_plain_way(rows: list[tuple[list[int], int]]) -> None:
    by_document, by_row = (ColumnValues(COLUMNS, way) for way in ("document", "sequence"))
    expected: dict[str, list[list[int]]] = {name: [] for name in COLUMNS}
    for lengths, filled in rows:
        row = Row(sum(lengths) + filled, pieces=lengths)
        by_document.add(row)
        by_row.add(row)
        expected["attention_mask"].append([1] * sum(lengths) + [0] * filled)
        expected["position_ids"].append([at for length in lengths for at in range(length)] + [0] * filled)
        expected["segment_ids"].append(
            [n + 1 for n, length in enumerate(lengths) for _ in range(length)] + [0] * filled
        )
        expected["seq_lengths"].append(lengths)
    for name, lists in expected.items():
        assert by_document.of(name).tolist() == [value for values in lists for value in values]
        assert by_document.counts(name) == list(map(len, lists))
    assert by_row.of("position_ids").tolist() == [at for lengths, filled in rows for at in range(sum(lengths) + filled)]


@pytest.mark.parametrize("pad", [None, 0])
@pytest.mark.parametrize("way", ["concatenate", "best-fit", "split", "truncate"])
def test_columns_follow_the_documents_of_a_sequence(way: Any, pad: int | None, corpus: Source, tmp_path: Path) -> None:
    options = PrepareOptions(to="parquet", eot="auto", length=24, way=way, pad=pad, columns=COLUMNS, part_bytes=900)
    prepare(corpus, "gpt2", options, folder=tmp_path / "out", processes=1)
    rows = table(tmp_path / "out")
    settings = json.loads((tmp_path / "out/plan.json").read_bytes())["settings"]
    assert settings.get("positions") == ("document" if way in ("concatenate", "best-fit") else None)
    pieces = []
    for row in rows:
        lengths, ids = row["seq_lengths"], row["input_ids"]
        filled = len(ids) - sum(lengths)
        assert ids[len(ids) - filled :] == [0] * filled
        assert pad is None or len(ids) == 24
        assert row["attention_mask"] == [1] * sum(lengths) + [0] * filled
        assert row["position_ids"] == [at for length in lengths for at in range(length)] + [0] * filled
        assert row["segment_ids"] == [n for n, size in enumerate(lengths, 1) for _ in range(size)] + [0] * filled
        ends = list(accumulate(lengths, initial=0))
        pieces += [ids[start:end] for start, end in pairwise(ends)]
    # A piece is of one document: it has an eot at its end, and nowhere else.
    assert all(EOT not in piece[:-1] for piece in pieces)
    if way != "truncate":
        assert sorted(id_ for piece in pieces for id_ in piece) == sorted(id_ for each in documents() for id_ in each)


def test_positions_of_sequences_as_they_were(corpus: Source, tmp_path: Path) -> None:
    options = PrepareOptions(
        to="parquet", eot="auto", length=24, pad=0, columns=("position_ids",), positions="sequence"
    )
    prepare(corpus, "gpt2", options, folder=tmp_path / "out", processes=1)
    assert {tuple(row["position_ids"]) for row in table(tmp_path / "out")} == {tuple(range(24))}


@pytest.mark.parametrize("to", ["mds", "webdataset"])
def test_columns_of_samples(to: str, corpus: Source, tmp_path: Path) -> None:
    """The same as in a table, by readers of a few lines."""
    for each in (to, "parquet"):
        options = PrepareOptions(to=each, eot="auto", length=24, way="best-fit", pad=0, columns=COLUMNS)
        prepare(corpus, "gpt2", options, folder=tmp_path / each, processes=1)
    rows = table(tmp_path / "parquet")
    path = tmp_path / to / f"part-00000{DATASETS[to].endings[0]}"
    found: list[dict[str, list[int]]] = []
    if to == "webdataset":
        numpy = needs("numpy")
        with tarfile.open(path) as archive:
            for member in archive:
                key, _, rest = member.name.partition(".")
                if int(key[-9:]) == len(found):
                    found.append({})
                file = archive.extractfile(member)
                assert file is not None
                found[-1][rest.removesuffix(".npy")] = numpy.load(io.BytesIO(file.read())).tolist()
    else:
        codes = {"uint16": "H", "int32": "i", "int8": "b"}
        index = json.loads((tmp_path / to / "index.json").read_bytes())["shards"][0]
        data = path.read_bytes()
        offsets = array("I", data[4 : 8 + 4 * index["samples"]])
        for start in offsets[:-1]:
            names = index["column_names"]
            sizes, place = array("I", data[start : start + 4 * len(names)]), start + 4 * len(names)
            found.append({})
            for name, encoding, size in zip(names, index["column_encodings"], sizes, strict=True):
                width = 1 << (data[place] & 3)
                values = array(codes[encoding.removeprefix("ndarray:")], data[place + 1 + width : place + size])
                found[-1][name], place = values.tolist(), place + size
    assert [{"input_ids": row.pop("tokens"), **row} for row in found] == rows


# -- spans ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", ["bin", "npy", "npy-offsets", "datatrove", "megatron"])
@pytest.mark.parametrize("way", ["concatenate", "best-fit"])
def test_spans_are_the_documents_in_sequences(to: str, way: Any, corpus: Source, tmp_path: Path) -> None:
    for each, columns in ((to, ("spans",)), ("parquet", ("seq_lengths",))):
        options = PrepareOptions(to=each, eot="auto", length=24, way=way, pad=0, columns=columns)
        prepare(corpus, "gpt2", options, folder=tmp_path / each, processes=1)
    expected, place, rows = [], 0, table(tmp_path / "parquet")
    for row in rows:
        ends = list(accumulate(row["seq_lengths"], initial=place))
        expected += [[start, end] for start, end in pairwise(ends)]
        place += len(row["input_ids"])
    if to != "megatron":
        numpy = needs("numpy")
        spans = numpy.load(tmp_path / to / "part-00000.spans.npy")
        assert (spans.dtype, spans.tolist()) == (numpy.int64, expected)
        return
    data = (tmp_path / to / "part-00000.idx").read_bytes()
    sequences, boundaries = (int.from_bytes(data[at : at + 8], "little") for at in (18, 26))
    lengths = array("i", data[34 : 34 + 4 * sequences])
    borders = array("q", data[34 + 12 * sequences :])
    assert len(borders) == boundaries == len(rows) + 1
    for row, (start, end) in zip(rows, pairwise(borders), strict=True):
        filled = len(row["input_ids"]) - sum(row["seq_lengths"])
        assert lengths[start:end].tolist() == row["seq_lengths"] + [filled] * (filled > 0)


# -- conversations ----------------------------------------------------------------------------------------

TALKS = [
    [
        {"role": "user", "content": f"question {number}?"},
        {"role": "assistant", "content": "an answer " * (number % 4) + "日本"},
        *([{"role": "user", "content": "<|im_end|> and?"}] if number % 3 == 0 else []),
    ]
    for number in range(12)
]


@pytest.fixture
def talks(tmp_path: Path) -> Source:
    lines = "\n\n".join(json.dumps({"id": number, "messages": talk}) for number, talk in enumerate(TALKS))
    (tmp_path / "talks.jsonl").write_text(lines, encoding="utf-8")
    return Source((str(tmp_path / "talks.jsonl"),), documents="jsonl")


def encoded(source: Source) -> list[list[int]]:
    """Return the ids of conversations as the job encodes them that has no data set."""
    out = io.BytesIO()
    encode_chat(source, "gpt-3.5-turbo", output=out)
    return [list(map(int, line.split())) for line in out.getvalue().splitlines()]


CHAT = PrepareOptions(to="parquet", chat=ChatOptions(), mask="assistant")


def options_of(**changes: Any) -> PrepareOptions:
    from dataclasses import replace

    return replace(CHAT, **changes)


def masks_of(rows: list[list[int]]) -> list[list[int]]:
    """Find the mask of ChatML by its ids: from behind the assistant's header to the end of the turn."""
    tokenizer = bpe_cli.load("cl100k_base")
    header = [100264, *tokenizer.encode("assistant\n")]
    masks = []
    for row in rows:
        mask, learning = [0] * len(row), False
        for at, id_ in enumerate(row):
            learning = learning or row[max(0, at - len(header)) : at] == header
            mask[at] = int(learning)
            learning = learning and id_ != 100265
        masks.append(mask)
    return masks


@pytest.mark.parametrize("part_bytes", [100, 1 << 20])
def test_conversations_have_the_ids_of_the_chat_job(part_bytes: int, talks: Source, tmp_path: Path) -> None:
    prepare(talks, "gpt-3.5-turbo", options_of(part_bytes=part_bytes), folder=tmp_path / "out", processes=1)
    prepare(
        talks, "gpt-3.5-turbo", options_of(mask=None, part_bytes=part_bytes), folder=tmp_path / "plain", processes=1
    )
    rows = table(tmp_path / "out")
    assert [row["input_ids"] for row in rows] == encoded(talks)
    assert [row["input_ids"] for row in table(tmp_path / "plain")] == encoded(talks)
    assert [row["loss_mask"] for row in rows] == masks_of(encoded(talks))
    assert sum(map(sum, masks_of(encoded(talks)))) > 50


@pytest.mark.parametrize("way", ["truncate", "split", "concatenate", "best-fit"])
def test_masks_go_with_their_ids_through_sequences(way: Any, talks: Source, tmp_path: Path) -> None:
    prepare(talks, "gpt-3.5-turbo", options_of(length=10, way=way), folder=tmp_path / "out", processes=1)
    prepare(talks, "gpt-3.5-turbo", options_of(mask=None, length=10, way=way), folder=tmp_path / "ids", processes=1)
    rows = table(tmp_path / "out")
    assert [row["input_ids"] for row in rows] == [row["input_ids"] for row in table(tmp_path / "ids")]
    assert all(len(row["input_ids"]) == len(row["loss_mask"]) for row in rows)
    ids, whole = encoded(talks), masks_of(encoded(talks))
    if way == "truncate":
        assert [row["loss_mask"] for row in rows] == [mask[:10] for mask in whole]
    if way in ("split", "concatenate"):
        flat = [(id_, mark) for row in rows for id_, mark in zip(row["input_ids"], row["loss_mask"], strict=True)]
        assert flat == [pair for row, mask in zip(ids, whole, strict=True) for pair in zip(row, mask, strict=True)]
    if way == "best-fit":
        pairs = sorted(pair for row in rows for pair in zip(row["input_ids"], row["loss_mask"], strict=True))
        assert pairs == sorted(
            pair for row, mask in zip(ids, whole, strict=True) for pair in zip(row, mask, strict=True)
        )


@pytest.mark.parametrize("to", sorted(name for name in DATASETS if name != "litdata"))
def test_every_format_has_the_mask(to: str, talks: Source, tmp_path: Path) -> None:
    options = options_of(to=to, eot=100257, part_bytes=400)
    done = prepare(talks, "gpt-3.5-turbo", options, folder=tmp_path / "out", processes=1)
    assert check(tmp_path / "out").tokens == done.tokens
    prepare(talks, "gpt-3.5-turbo", options, folder=tmp_path / "again", processes=2)
    files = contents(tmp_path / "out")
    assert files == contents(tmp_path / "again")
    # What --eot writes is learnt if what it ends is: here the line end behind a turn is nobody's.
    expected = b"".join(bytes([*mask, 0]) for mask in masks_of(encoded(talks)))
    named = {name: files[name] for name in sorted(files)}
    if to in ("bin", "datatrove", "megatron"):
        end = {"bin": ".mask.bin", "datatrove": ".ds.loss", "megatron": ".mask.bin"}[to]
        assert b"".join(data for name, data in named.items() if name.endswith(end)) == expected
    elif to in ("npy", "npy-offsets"):
        assert b"".join(data[128:] for name, data in named.items() if name.endswith(".mask.npy")) == expected
    if to == "megatron":
        for name in (name for name in named if name.endswith(".mask.idx")):
            ids = named[name.replace(".mask", "")]
            sequences = int.from_bytes(ids[18:26], "little")
            assert (ids[17], named[name][17]) == (4, 1)
            assert named[name][18 : 34 + 4 * sequences] == ids[18 : 34 + 4 * sequences]
            places = array("q", named[name][34 + 4 * sequences : 34 + 12 * sequences])
            assert [4 * place for place in places] == list(array("q", ids[34 + 4 * sequences : 34 + 12 * sequences]))


def test_what_is_said_of_conversations_is_checked(talks: Source, tmp_path: Path) -> None:
    def refused(match: str, options: PrepareOptions, source: Source = talks, name: str = "gpt-3.5-turbo") -> None:
        with pytest.raises(BpeError, match=match):
            prepare(source, name, options, folder=tmp_path / "out", processes=1)

    refused("the format litdata has no column loss_mask", options_of(to="litdata"))
    refused("comes with no chat template", CHAT, name="gpt2")
    refused("openai says what OpenAI bills", options_of(chat=ChatOptions("openai")))
    (tmp_path / "date.jinja").write_text("{{ strftime_now('%d') }}{{ messages[0].content }}")
    refused("writes what day it is", options_of(chat=ChatOptions(str(tmp_path / "date.jinja"))))
    (tmp_path / "broken.jinja").write_text("{% if %}")
    refused("broken", options_of(chat=ChatOptions(str(tmp_path / "broken.jinja"))))
    refused("reads JSON, not lines", CHAT, Source(talks.paths, documents="lines"))
    (tmp_path / "bad.jsonl").write_text('[]\n\n{"messages": [{"role": 5}]}\n')
    refused(
        r"bad\.jsonl:3: messages\[0\]\.role is not a string",
        CHAT,
        Source((str(tmp_path / "bad.jsonl"),), None, "jsonl"),
    )
    for match, changes in (
        ("`mask` says what of conversations", {"mask": "assistant"}),
        ("a chat template itself writes", {"chat": ChatOptions(), "bos": 1}),
        ("there are no sequences", {"columns": ("spans",)}),
        ("is written with `mask`", {"columns": ("loss_mask",)}),
    ):
        with pytest.raises(UsageError, match=match):
            PrepareOptions(**changes)  # type: ignore[arg-type]


def test_the_plan_knows_the_template(talks: Source, tmp_path: Path) -> None:
    path = tmp_path / "t.jinja"
    path.write_text("{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}")
    options = options_of(chat=ChatOptions(str(path)), eot=100257)
    prepare(talks, "gpt-3.5-turbo", options, folder=tmp_path / "out", processes=1)
    assert {mark for row in table(tmp_path / "out") for mark in row["loss_mask"]} == {1}
    path.write_text(path.read_text() + " ")
    with pytest.raises(UsageError, match="made with other settings: chat"):
        prepare(talks, "gpt-3.5-turbo", options, folder=tmp_path / "out", processes=1)
    assert LAYOUTS["gpt-3.5"].marks_generation


# -- a validation set ----------------------------------------------------------------------------------------


def test_the_side_is_that_of_the_text() -> None:
    """The stated rule, by hand."""
    for text in TEXTS:
        digest = blake2b(text.encode(), digest_size=16, person=b"bpe document").digest()
        assert text_hash(text.encode()).digest() == digest
        assert is_validation(digest, 0.3) == (int.from_bytes(digest[:8], "big") / 2**64 < 0.3)
    share = sum(is_validation(text_hash(str(number).encode()).digest(), 0.01) for number in range(100_000)) / 100_000
    assert abs(share - 0.01) < 0.0015  # five times the standard deviation


@pytest.mark.parametrize("to", sorted(DATASETS))
def test_both_sets_are_whole(to: str, corpus: Source, tmp_path: Path) -> None:
    options = PrepareOptions(to=to, eot="auto", val=0.3, part_bytes=900)
    done = prepare(corpus, "gpt2", options, folder=tmp_path / "one", processes=1)
    prepare(corpus, "gpt2", options, folder=tmp_path / "two", processes=2)
    for number in (2, 1):
        prepare(corpus, "gpt2", options, folder=tmp_path / "three", share=Share(number, 2), processes=1)
    (tmp_path / "three/manifest.json").unlink()
    finish(tmp_path / "three")
    files = contents(tmp_path / "one")
    assert files == contents(tmp_path / "two") == contents(tmp_path / "three")
    assert check(tmp_path / "one").documents == done.documents == len(TEXTS)
    for side in ("train", "val"):
        assert {f"{side}/{name}" for name in DATASETS[to].indexes} <= files.keys()
    assert ("dataset_dict.json" in files) == (to == "datasets")
    record = json.loads(files["part-00001.json"])
    assert record["documents"] == sum(side["documents"] for side in record["sides"].values())


def test_documents_keep_their_side_and_their_order(corpus: Source, tmp_path: Path) -> None:
    """Whatever their neighbours, their number, the size of parts or of blocks."""
    tokenizer = bpe_cli.load("gpt2")
    expected: dict[str, list[list[int]]] = {"train": [], "val": []}
    for text in TEXTS:
        side = "val" if is_validation(text_hash(text.encode()).digest(), 0.3) else "train"
        expected[side].append([*tokenizer.encode(text), EOT])
    assert all(expected.values())
    from dataclasses import replace

    for number, (part_bytes, block_bytes) in enumerate(((900, 8 << 20), (1 << 20, 8 << 20), (1 << 20, 16))):
        source = replace(corpus, block_bytes=block_bytes)
        options = PrepareOptions(to="parquet", eot="auto", val=0.3, part_bytes=part_bytes)
        prepare(source, "gpt2", options, folder=tmp_path / str(number), processes=1)
        for side, rows in expected.items():
            assert [row["input_ids"] for row in table(tmp_path / str(number) / side)] == rows


def test_datasets_reads_both_sets(corpus: Source, tmp_path: Path) -> None:
    module = needs("datasets")
    prepare(corpus, "gpt2", PrepareOptions(to="datasets", val=0.3), folder=tmp_path / "out", processes=1)
    both = module.load_from_disk(str(tmp_path / "out"))
    assert sorted(both) == ["train", "val"]
    assert both["train"].num_rows + both["val"].num_rows == len(TEXTS)


@pytest.mark.parametrize("val", [0, 1, -0.5, float("nan")])
def test_a_share_is_between_none_and_all(val: float) -> None:
    with pytest.raises(UsageError, match="is a share of the documents"):
        PrepareOptions(val=val)
