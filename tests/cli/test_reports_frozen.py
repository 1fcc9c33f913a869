"""Every report that ``bpe`` writes, byte for byte: tests/golden/reports holds what programs and people read today.

A field more, less, renamed, or in another place is a failure here, and a blank in a table is one too. Whoever means it
writes the files anew (``UPDATE_GOLDEN=1 pytest``), and says it in the changelog.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bpe_cli import __version__
from tests.cli_runner import call

GOLDEN = Path(__file__).parents[1] / "golden" / "reports"

TRAINED = {
    "bytes.json": ("-s", "275", "--pattern", "gpt2", "--special", "<s>"),
    "letters.json": ("-a", "bpe", "-s", "40"),
    "unigram.json": ("-a", "unigram", "-s", "30", "--special", "<s>"),
    "words.json": ("-a", "wordpiece", "-s", "40", "--normalizer", "bert"),
    "sentence.json": ("-a", "bpe", "--compat", "sentencepiece", "-s", "40"),
    "longest.json": ("-a", "maxmatch"),
    "grams.json": ("-a", "ngram"),
    "char.json": ("-a", "char"),
}

INSPECTED = {
    "text-broken": ("-t", "gpt2", "-T", "na\u00efve \udcff\u4f60<|endoftext|>", "--special", "all"),
    "text-scores": ("-t", "unigram.json", "-T", "lower \u00e9"),
    "texts": ("-t", "gpt2", "--lines", "two.txt", "en.txt"),
    "texts-stages": ("-t", "words.json", "--stages", "--lines", "two.txt"),
    "text-stages-sentence": ("-t", "sentence.json", "--stages", "-T", "Low \u2126 lowest"),
    "nbest": ("-t", "unigram.json", "-T", "lowest", "--nbest", "3"),
    "nbests": ("-t", "unigram.json", "--lines", "two.txt", "--nbest", "2"),
    "steps-scores": ("-t", "sentence.json", "-T", "lower \u00e9 lowest", "--steps"),
    "steps-several": ("-t", "letters.json", "--lines", "two.txt", "--steps"),
    "steps-lattice": ("-t", "unigram.json", "-T", "low<s>w\u00e9", "--steps", "--nbest", "2", "--special", "all"),
    "steps-wordpiece": ("-t", "words.json", "-T", "Lowest xyz", "--steps"),
    "steps-longest": ("-t", "longest.json", "-T", "lowest xyz", "--steps"),
    "steps-grams": ("-t", "grams.json", "-T", "lowest xyz", "--steps"),
    "steps-char": ("-t", "char.json", "-T", "low xy", "--steps"),
    "tokenizer-bytes": ("bytes.json",),
    "tokenizer-full": ("bytes.json", "--full"),
    "tokenizer-unigram": ("unigram.json",),
    "tokenizer-words": ("words.json", "--corpus", "two.txt"),
    "tokenizer-sentence": ("sentence.json",),
    "tokenizer-corpus": ("bytes.json", "--corpus", "two.txt", "--corpus", "en.txt"),
    "tokenizer-corpus-none": ("letters.json", "--corpus", "empty.txt"),
    "tokenizer-special": ("special.json",),
    "tokens": ("bytes.json", "--token", "256", "--token", " lowest", "--token", "bytes:e8", "--token", "<s>"),
    "tokens-corpus": ("unigram.json", "--token", "text:low", "--token", "id:0", "--corpus", "two.txt"),
    "tokens-special": ("special.json", "--token", "lo", "--token", "low"),
}

TWO = ("-t", "gpt2", "-t", "bytes.json")
SCREENS = [name for name in INSPECTED if name.startswith("tokenizer-") and "--full" not in INSPECTED[name]]
"""Reports on tokenizers, of which a screen is shown unless sections are asked for."""

COMPARED = {
    "compare": ("en.txt", "de.txt", "empty.txt", *TWO),
    "compare-alone": ("-T", "hello", "-t", "gpt2", "--special", "all"),
    "compare-special": ("-T", "hello<|endoftext|>", "-t", "gpt2", "-t", "gpt2", "--special", "<|endoftext|>"),
    "compare-lossy": ("de.txt", "-t", "letters.json", "-t", "words.json"),
    "compare-lines": ("--lines", "two.txt", *TWO, "--baseline", "bytes.json"),
    "compare-fields": ("--jsonl", "--field", "a.b", "some.jsonl", *TWO),
    "compare-checks": (
        "en.txt", "de.txt", *TWO, "--fail-if", "tokens > 3", "--fail-if", "de.txt: bytes_per_token<0.5",
        "--max-regression", "2%", "--metric", "tokens", "--metric", "unknown",
    ),
    "compare-against": ("en.txt", "two.txt", *TWO, "--against", "stored.json", "--max-regression", "2%"),
    "compare-probes": ("--probe", "all", *TWO, "--overlap"),
    "compare-own-probes": ("--parallel", "both.tsv", "--pivot", "de", "--pairs", "pairs", "-t", "gpt2"),
    "compare-own-code": ("--probe", "code", "main.py", "-t", "gpt2"),
    "compare-diff": ("en.txt", "de.txt", *TWO, "--diff", "--overlap", "--diff-limit", "5"),
    "compare-diff-unknown": ("two.txt", "-t", "unigram.json", "-t", "words.json", "-t", "letters.json", "--diff"),
    "compare-bytes": ("na\udcffme.txt", "-t", "gpt2", "-t", "bytes.json", "--diff"),
}  # fmt: skip

FORMS = {"--json": "json", "--color=always": "txt", "--markdown": "md", "--html=-": "html"}
PAGES = ("compare", "compare-checks", "compare-against", "compare-probes", "compare-diff", "compare-lossy")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make a folder with small texts and a tokenizer of each kind."""
    folder = tmp_path_factory.mktemp("frozen")
    texts = {
        "en.txt": "The quick brown fox jumps over the lazy dog.\n",
        "de.txt": "Zwölf Boxkämpfer jagen Viktor quer über den Sylter Deich.\n",
        "two.txt": "low Lower\nnewest é\n",
        "na\udcffme.txt": "low \udcff\udce8 lower",
        "empty.txt": "",
        "main.py": "def f(x):\n    if x:\n        return 12345\n",
        "both.tsv": "en\tde\nTea is hot.\tTee ist heiß.\nBread is warm.\tBrot ist warm.\n",
        "some.jsonl": '{"a": {"b": "low"}}\n{"a": {"b": "lower"}}\n',
    }
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    (folder / "pairs").mkdir()
    (folder / "pairs" / "a.json").write_text('{"k": [1, 2]}')
    (folder / "pairs" / "a.yaml").write_text("k: [1, 2]\n")
    for name, options in TRAINED.items():
        corpus = b"low lower lowest newest wider \xc3\xa4\xc3\xa4\n" * 3
        assert call("train", *options, "-o", name, "-q", input=corpus, cwd=folder).status == 0, name
    special = json.loads((folder / "bytes.json").read_bytes())  # with a token that merges make, and build on
    special["added_tokens"].append(
        {**special["added_tokens"][0], "id": special["model"]["vocab"]["lo"], "content": "lo"}
    )
    (folder / "special.json").write_text(json.dumps(special))
    stored = ("compare", "en.txt", "de.txt", *TWO[:2], "--json", "-o", "stored.json")
    assert call(*stored, cwd=folder).status == 0
    return folder


def check(name: str, data: bytes) -> None:
    path = GOLDEN / name
    data = data.replace(f'"bpe_version": "{__version__}"'.encode(), b'"bpe_version": "VERSION"')
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    assert data.decode() == path.read_bytes().decode(), f"differs from {path}"


@pytest.mark.parametrize("name", INSPECTED)
def test_inspect(name, folder):
    result = call("inspect", *INSPECTED[name], "--json", "-q", cwd=folder)
    assert (result.status, result.err) == (0, "")
    check(f"inspect-{name}.json", result.out)


@pytest.mark.parametrize("name", [name for name in INSPECTED if name.startswith("token")])
def test_inspect_in_full(name, folder):
    sections = ("--section", "all") if name in SCREENS else ()
    result = call("inspect", *INSPECTED[name], *sections, "-q", "--color", "always", cwd=folder, env={"COLUMNS": "80"})
    assert (result.status, result.err) == (0, "")
    check(f"inspect-{name}.txt", result.out)


@pytest.mark.parametrize("name", SCREENS)
def test_inspect_on_a_screen(name, folder):
    result = call("inspect", *INSPECTED[name], "-q", "--color", "always", cwd=folder, env={"COLUMNS": "80"})
    assert (result.status, result.err) == (0, "")
    check(f"inspect-{name}-screen.txt", result.out)


@pytest.mark.parametrize(
    ("name", "form"), [(name, form) for name in COMPARED for form in FORMS if name in PAGES or form != "--html=-"]
)
def test_compare(name, form, folder):
    result = call("compare", *COMPARED[name], form, "-q", cwd=folder, env={"COLUMNS": "80"})
    assert result.status == (name == "compare-checks"), result.err
    check(f"{name}.{FORMS[form]}", result.out)


def test_each_golden_file_has_its_run():
    runs = {f"inspect-{name}.json" for name in INSPECTED}
    runs |= {f"inspect-{name}.txt" for name in INSPECTED if name.startswith("token")}
    runs |= {f"inspect-{name}-screen.txt" for name in SCREENS}
    runs |= {f"{name}.{ending}" for name in COMPARED for ending in FORMS.values() if ending != "html"}
    runs |= {f"{name}.html" for name in PAGES}
    assert {path.name for path in GOLDEN.iterdir()} == runs
