"""Batches get the ids that ``encode`` gives, in the kind of list that their frames take."""

from __future__ import annotations

import pickle
from collections import UserDict
from pathlib import Path

import numpy
import pytest

import bpe_cli
from bpe_cli.errors import InputError, UsageError
from bpe_cli.integrations import batches
from bpe_cli.integrations.batches import EncodeBatch
from bpe_cli.integrations.ray import Encode
from tests.needs import needs
from tests.unit.reports.small_tokenizers import byte_level

TEXTS = ["hello world", "", "naïve 日本", "<|endoftext|> x"] * 3
ENCODE = EncodeBatch("gpt2", eot="auto", specials="all")
IDS = [[*bpe_cli.load("gpt2").encode(text, specials="all"), 50256] for text in TEXTS]


@pytest.mark.parametrize("dtype", [object, str])
def test_arrays(dtype: type) -> None:
    batch = {"text": numpy.array(TEXTS, dtype=dtype), "id": numpy.arange(12)}
    done = pickle.loads(pickle.dumps(ENCODE))(batch)
    assert [row.tolist() for row in done["input_ids"]] == IDS
    assert {row.dtype for row in done["input_ids"]} == {numpy.dtype("int32")}
    assert (list(done), done["id"] is batch["id"], list(batch)) == (["text", "id", "input_ids"], True, ["text", "id"])
    assert len(ENCODE({"text": numpy.array([], dtype=object)})["input_ids"]) == 0
    assert Encode is EncodeBatch


def test_lists() -> None:
    """As ``datasets.Dataset.map`` hands them over; it has a class of its own for them."""
    for made in (dict, UserDict):
        done = ENCODE(made({"text": TEXTS}))
        assert [row.tolist() for row in done["input_ids"]] == IDS
        assert done["text"] is TEXTS
    datasets = needs("datasets")
    datasets.disable_progress_bars()
    mapped = datasets.Dataset.from_dict({"text": TEXTS}).map(ENCODE, batched=True, batch_size=5)
    assert mapped["input_ids"][:] == IDS


def test_a_path_is_loaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "gpt2"
    byte_level([b"he"]).save(path, "tokenizer.json")
    loaded: list[object] = []
    load = batches.load_tokenizer
    monkeypatch.setattr(batches, "load_tokenizer", lambda name: (loaded.append(name), load(name))[1])
    encode = EncodeBatch(path)
    for _ in range(3):
        (row,) = encode({"text": ["he"]})["input_ids"]
        assert row.tolist() == bpe_cli.load(path).encode("he")
    assert loaded == [path]


def test_tables() -> None:
    pyarrow = needs("pyarrow")
    table = pyarrow.table({"text": pyarrow.chunked_array([TEXTS[:5], TEXTS[5:]]), "id": list(range(12))})
    done = ENCODE(table)
    assert done.column_names == ["text", "id", "input_ids"]
    assert (done["input_ids"].to_pylist(), done.schema.field("input_ids").type) == (IDS, pyarrow.list_(pyarrow.int32()))
    (batch,) = table.slice(0, 5).to_batches()
    assert ENCODE(batch).column("input_ids").to_pylist() == IDS[:5]
    assert ENCODE(table.slice(0, 0))["input_ids"].to_pylist() == []
    replaced = EncodeBatch(bpe_cli.load("gpt2"), to="text", max_tokens=2, threads=2)(table)
    assert replaced.column_names == ["text", "id"]
    assert replaced["text"].to_pylist()[0] == [31373, 995]


@pytest.mark.parametrize("kind", ["arrays", "table"])
def test_ids_beyond_int32_are_refused(kind: str) -> None:
    texts = ["ab<last>", "ab<beyond>"]
    made = numpy.array if kind == "arrays" else needs("pyarrow").array
    frame = dict if kind == "arrays" else needs("pyarrow").table
    batches = [frame({"text": made([text])}) for text in texts]
    tokenizer = byte_level([b"ab"], specials=[(b"<last>", (1 << 31) - 1), (b"<beyond>", 1 << 31)])
    encode = EncodeBatch(tokenizer, specials="all")
    (row,) = encode(batches[0])["input_ids"]
    assert (row.tolist() if kind == "arrays" else row.as_py()) == [0, (1 << 31) - 1]
    with pytest.raises(UsageError, match="holds ids as int32, and the tokenizer gives 2,147,483,648"):
        encode(batches[1])


def test_what_is_missing_is_said() -> None:
    pyarrow = needs("pyarrow")
    with pytest.raises(UsageError, match="a batch has no column 'text'") as caught:
        ENCODE({"body": numpy.array(["x"])})
    assert caught.value.hint == "it has body"
    with pytest.raises(InputError, match="row 2 of a batch has no text: the column 'text' is null"):
        ENCODE(pyarrow.table({"text": ["x", None]}))
    with pytest.raises(InputError, match="row 1 of a batch"):
        ENCODE({"text": numpy.array([None], dtype=object)})
    with pytest.raises(TypeError, match="a batch of list is not taken"):
        ENCODE(["x"])
