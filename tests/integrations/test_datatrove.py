"""Steps in datatrove's own executor: bytes are those of one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bpe_cli
from bpe_cli.integrations.datatrove import EncodeDocuments, PrepareParts
from tests.needs import needs_reader

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs
REPOSITORY = Path(__file__).resolve().parents[2]
TEXTS = [f"document {number} " + "naïve 日本\n" * (number % 5) for number in range(40)]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    for number in range(4):
        lines = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS[number::4])
        (tmp_path / f"in/{number}.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path / "in"


@pytest.mark.parametrize(("tasks", "workers"), [(1, 1), (5, 2), (40, 3)])
def test_a_local_executor_makes_the_parts(inputs: Path, tmp_path: Path, tasks: int, workers: int) -> None:
    needs_reader("datatrove")
    from datatrove.executor import LocalPipelineExecutor

    options = {"documents": "jsonl", "to": "datatrove", "eot": "auto", "part_bytes": 300}
    bpe_cli.prepare("gpt2", inputs, tmp_path / "whole", processes=1, **options)
    step = PrepareParts("gpt2", str(inputs), str(tmp_path / "out"), **options)
    for _ in range(2):
        executor = LocalPipelineExecutor(
            [step], tasks=tasks, workers=workers, logging_dir=str(tmp_path / "log"), skip_completed=False
        )
        stats = executor.run()
        assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    made = {name: stat.total for name, stat in stats.stats[0].stats.items()}
    assert (made["parts_made"], made["parts_kept"] >= len(list((tmp_path / "whole").glob("*.ds")))) == (0, True)


def test_a_slurm_executor_takes_the_step(inputs: Path, tmp_path: Path) -> None:
    """What it has Slurm run is this: the executor, pickled, with the number of a task in the environment."""
    needs_reader("datatrove")
    import dill
    from datatrove.executor import SlurmPipelineExecutor

    options = {"documents": "jsonl", "to": "datatrove", "eot": "auto", "part_bytes": 300}
    bpe_cli.prepare("gpt2", inputs, tmp_path / "whole", processes=1, **options)
    executor = SlurmPipelineExecutor(
        [PrepareParts("gpt2", str(inputs), str(tmp_path / "out"), **options)],
        tasks=3, time="1:00:00", partition="cpu", logging_dir=str(tmp_path / "log"),
    )  # fmt: skip
    (tmp_path / "executor.pik").write_bytes(dill.dumps(executor))
    (tmp_path / "log").mkdir(exist_ok=True)
    (tmp_path / "log/ranks_to_run.json").write_text("[0, 1, 2]")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/scontrol").write_text("#!/bin/sh\necho node1\n")  # as much of Slurm as a task asks for
    (tmp_path / "bin/scontrol").chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    for rank in ("1", "2", "0"):
        env = os.environ | {"SLURM_ARRAY_TASK_ID": rank, "SLURM_NODELIST": "node1", "PATH": path}
        env["PYTHONPATH"] = str(REPOSITORY)
        line = [sys.executable, "-m", "datatrove.tools.launch_pickled_pipeline", tmp_path / "executor.pik"]
        subprocess.run(line, env=env, check=True, timeout=120)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_documents_pass_with_ids(inputs: Path, tmp_path: Path) -> None:
    needs_reader("datatrove")
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    steps = [
        JsonlReader(str(inputs)),
        EncodeDocuments("gpt2", eot="auto"),
        JsonlWriter(str(tmp_path / "out"), compression=None),
    ]
    LocalPipelineExecutor(steps, tasks=2, workers=2, logging_dir=str(tmp_path / "log")).run()
    rows = [json.loads(line) for path in (tmp_path / "out").iterdir() for line in path.read_text().splitlines()]
    tokenizer = bpe_cli.load("gpt2")
    expected = {text: [*tokenizer.encode(text), 50256] for text in TEXTS}
    assert {row["text"]: row["metadata"]["input_ids"] for row in rows} == expected
