"""The recipe for Spark in docs/how-to/engines.md, and batches in Ray Data."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bpe_cli
from tests.needs import needs, needs_reader, skip

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs
REPOSITORY = Path(__file__).resolve().parents[2]
TEXTS = [f"document {number} " + "naïve 日本\n" * (number % 5) for number in range(40)]


def recipe(heading: str) -> str:
    """Return the program below a heading."""
    page = (REPOSITORY / "docs/how-to/engines.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {heading}\n+```py\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def rows_of(folder: Path) -> dict[str, list[int]]:
    parquet = needs("pyarrow.parquet", "pyarrow")
    rows = [row for path in folder.glob("*.parquet") for row in parquet.read_table(path).to_pylist()]
    return {row["text"]: list(row["input_ids"]) for row in rows}


def expected() -> dict[str, list[int]]:
    tokenizer = bpe_cli.load("gpt2")
    return {text: [*tokenizer.encode(text), 50256] for text in TEXTS}


def run(program: str, folder: Path, **more: str) -> None:
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), **more}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def test_spark(tmp_path: Path) -> None:
    needs_reader("pyspark")
    if shutil.which("java") is None:
        skip("needs Java, which Spark runs on")
    (tmp_path / "shards").mkdir()
    for number in range(4):
        lines = "".join(json.dumps({"text": text, "n": number}) + "\n" for text in TEXTS[number::4])
        (tmp_path / f"shards/{number}.jsonl").write_text(lines, encoding="utf-8")
    local = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    run(recipe("Spark"), tmp_path, PYSPARK_SUBMIT_ARGS="--master local[2] pyspark-shell", **local)
    assert rows_of(tmp_path / "ids") == expected()


@pytest.mark.parametrize("way", ["as it stands", "numpy", "class"])
def test_ray_data(tmp_path: Path, way: str) -> None:
    needs_reader("ray.data", "ray")
    pyarrow = needs("pyarrow")
    parquet = needs("pyarrow.parquet", "pyarrow")
    (tmp_path / "texts").mkdir()
    for number in range(3):
        parquet.write_table(pyarrow.table({"text": TEXTS[number::3]}), tmp_path / f"texts/{number}.parquet")
    program = recipe("Ray Data")
    if way == "numpy":
        program = program.replace('batch_format="pyarrow"', 'batch_format="numpy"')
    if way == "class":
        program = program.replace(
            'Encode("gpt2", eot="auto")',
            'Encode, fn_constructor_args=["gpt2"], fn_constructor_kwargs={"eot": "auto"}, concurrency=1',
        )
    begin = 'ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1")\n'
    program = program.replace("texts = ", begin + "texts = ", 1)
    run(program, tmp_path, RAY_USAGE_STATS_ENABLED="0", RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0")
    assert rows_of(tmp_path / "ids") == expected()
