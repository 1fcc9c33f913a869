"""The steps of a pipeline, called as executors call them; tests/integrations/test_datatrove.py has executors."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from types import SimpleNamespace

import pytest

import bpe_cli
from bpe_cli.errors import UsageError
from bpe_cli.integrations.datatrove import EncodeDocuments, PrepareParts


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_tasks_share_the_parts_and_the_last_writes_the_manifest(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"text": f"document {number}"}) + "\n" for number in range(40))
    (tmp_path / "a.jsonl").write_text(lines)
    options = {"documents": "jsonl", "to": "megatron", "eot": "auto", "part_bytes": 100}
    bpe_cli.prepare("gpt2", tmp_path / "a.jsonl", tmp_path / "whole", processes=1, **options)
    step = pickle.loads(pickle.dumps(PrepareParts("gpt2", tmp_path / "a.jsonl", tmp_path / "out", **options)))
    for rank in (2, 0, 1):
        assert not (tmp_path / "out/manifest.json").exists()
        assert list(step(["passes"], rank, 3)) == ["passes"]
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    with pytest.raises(UsageError, match="the number of a task says"):
        PrepareParts("gpt2", "a", "b", share=(1, 2))


def test_documents_get_ids() -> None:
    documents = [SimpleNamespace(text=f"document {number}", metadata={"n": number}) for number in range(7)]
    step = pickle.loads(pickle.dumps(EncodeDocuments("gpt2", batch_size=3, eot="auto")))
    done = list(step(iter(documents), 0, 1))
    tokenizer = bpe_cli.load("gpt2")
    assert [each.metadata["input_ids"] for each in done] == [[*tokenizer.encode(each.text), 50256] for each in done]
    assert [(each.metadata["n"], each.metadata["token_count"]) for each in done] == [(n, 3) for n in range(7)]
    counted = list(EncodeDocuments("gpt2", ids=False)(iter([SimpleNamespace(text="hello world", metadata={})])))
    assert counted[0].metadata == {"token_count": 2}
    assert list(EncodeDocuments("gpt2")(None)) == []
