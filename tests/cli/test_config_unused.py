"""Defaults in pyproject.toml that a run has no use for change nothing; the same on the command line is refused."""

from __future__ import annotations

import tomllib

import pytest

from tests.cli_runner import call

TEXTS = ["lines = true", "jsonl = true", "plain = true", 'field = "body"']
OF_A_TEXT = [
    "ids = true", "spans = true", "scores = true", "table = true", "stages = true", "nbest = 2", "steps = true",
    "pairs = 2", 'normalizer = "lowercase"', 'pre-tokenizer = "bert"',
]  # fmt: skip
OF_A_REPORT = ['section = ["lengths"]', "residues = 0.05", "plot = true"]
OF_CHUNKS = ["size = 256", "overlap = 2", 'break = "line"']
OF_CONVERSATIONS = ['date = "2025-06-28"', "generation-prompt = false"]
OF_SEGMENTED_TEXT = ['separator = "##"', 'glossary = ["a"]', "vocabulary-threshold = 2"]
AROUND = ['bos = "auto"', 'eot = "auto"']
UNUSED = {
    "convert small.json -o x.json": [*TEXTS, "vocab-size = 300", "add = 3"],
    "inspect small.json": [*TEXTS, 'special = ["all"]', "residues = 0.05", *OF_A_TEXT, *OF_CONVERSATIONS],
    "inspect small.json --token 5": [*TEXTS, 'special = ["all"]', *OF_A_REPORT, *OF_A_TEXT],
    "inspect -T hi -t small.json": [*OF_A_REPORT, "pairs = 2", "plain = true", 'field = "body"'],
    "inspect in.txt -t small.json": [*OF_A_REPORT, 'field = "body"'],
    "inspect -T Hi --normalizer lowercase": ['pattern = "gpt2"', 'special = ["<x>"]', 'inference = "longest"'],
    "inspect train.bin": ["lines = true", 'field = "body"', 'special = ["all"]', 'pattern = "gpt2"', "table = true"],
    "inspect --chat m.json -t gpt-4": ["lines = true", "plain = true", "table = true", *OF_A_REPORT],
    "encode -T hi -t gpt2": [
        "plain = true", 'field = "body"', *OF_CHUNKS, "truncate = 5", 'keep = "tail"', *OF_SEGMENTED_TEXT,
        "json = true", *OF_CONVERSATIONS, 'with = "spans"', "nbest = 2", 'dropout-mode = "spm"', "seed = 7",
    ],
    "encode in.txt -t gpt2": ['field = "body"'],
    "encode - -t gpt2": ['field = "body"'],
    "encode --chat m.json -t gpt-4": [
        "lines = true", "plain = true", 'bos = "auto"', *OF_CHUNKS, "truncate = 5", 'keep = "tail"', "json = true",
    ],
    "encode -T hi -t gpt2 --to chunks --size 2": [
        "truncate = 5", 'keep = "tail"', *AROUND, "max-tokens = 5", "dropout = 0.1", 'field = "body"',
    ],
    "encode -T hi -t gpt2 --to text --truncate 2": [*OF_CHUNKS, *AROUND, "max-tokens = 5", 'with = "tokens"'],
    "encode -T hi -t small.json --to segmented": [*AROUND, "max-tokens = 5", 'special = ["all"]', "json = true"],
    "compare -T hi -t small.json": ['pivot = "en"', "diff-limit = 5", "part-size = 9", 'field = "body"'],
    "compare -t small.json -t gpt2 --overlap": ['fail-if = ["tokens < 0"]'],
    "compare -T hi -t small.json -t small.json --ids": [
        'baseline = "gpt2"', "fewest = true", 'metric = ["tokens"]', "speed = true", "full = true", "plot = true",
        "overlap = true", 'fail-if = ["tokens < 0"]',
    ],
    "train in.txt -s 258 -o t.json": [
        "part-size = 9", 'part = "1/2"', "processes = 2", "json = true", "full = true", "pairs = 2", "markdown = true",
        "plot = true", "d-model = 8", 'ratio = ["x=2"]', "window = 3", 'field = "body"', "seed = 7",
    ],
    "prepare in.txt -t gpt2 -o set": [
        'mask = "assistant"', 'pad = "auto"', "split = true", 'fit = "best-fit"', 'positions = "sequence"',
        'deep = "1"', "seed = 7", *OF_CONVERSATIONS,
    ],
    "prepare in.txt -t gpt2 -o set -q": ['progress = "plain"'],
    "prepare m.jsonl --jsonl --chat -t gpt-4 -o set": ["lines = true", "plain = true", 'bos = "auto"'],
}  # fmt: skip
"""Runs, and settings for which each of them has no use."""


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> bytes:
    """Return a tokenizer of which a report takes no time."""
    path = tmp_path_factory.mktemp("small") / "small.json"
    assert call("train", "-T", "low lower lowest hi", "-s", "260", "-q", "-o", path).status == 0
    return path.read_bytes()


def as_words(setting: str) -> list[str]:
    """Return how a command line says what a file sets."""
    ((key, value),) = tomllib.loads(setting).items()
    if isinstance(value, bool):
        return [f"--{key}" if value else f"--no-{key}"]
    return [word for each in (value if isinstance(value, list) else [value]) for word in (f"--{key}", str(each))]


@pytest.mark.parametrize(("line", "setting"), [(line, each) for line, some in UNUSED.items() for each in some])
def test_a_run_passes_over_what_it_has_no_use_for(line, setting, small, tmp_path):
    """It prints the same as without the file; on the command line, the option is refused."""
    command, words = line.split()[0], line.split()
    (tmp_path / "pyproject.toml").write_text(f"[tool.bpe_cli.{command}]\n{setting}\n")
    (tmp_path / "small.json").write_bytes(small)
    (tmp_path / "in.txt").write_text("hi")
    (tmp_path / "m.json").write_text('[{"role": "user", "content": "hi"}]')
    (tmp_path / "m.jsonl").write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    assert call("encode", "in.txt", "-t", "gpt2", "-o", "train.bin", "--no-config", cwd=tmp_path).status == 0
    done, plain = (call(*words, *more, input=b"hi", cwd=tmp_path) for more in ((), ("--no-config",)))
    assert (done.status, done.out, plain.status) == (0, plain.out, 0), done.err
    assert call(*words, *as_words(setting), "--no-config", input=b"hi", cwd=tmp_path).status == 2
