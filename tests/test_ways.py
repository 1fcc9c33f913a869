"""A conversion that is refused names ways that work: each is followed, and succeeds."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from unittest import mock

import pytest

from bpe_cli import formats, load
from bpe_cli.errors import FormatError, LossError
from bpe_cli.formats import dump
from bpe_cli.jobs.convert import convert
from tests.cli_runner import call, error
from tests.counted import at_least, compared
from tests.every_format import CORPUS, FORMATS, KINDS, files_of, pattern_for, put, trained

WAY = re.compile(
    r'`format="(?P<format>[^"]+)"`(?: with `allow_loss=(?P<with>\[[^]]+\])`)?|`allow_loss=(?P<lost>\[[^]]+\])`'
)
OPTIONS = re.compile(
    r"--format (?P<format>[\w.-]+)(?: with --allow-loss (?P<with>[\w,-]+))?|--allow-loss (?P<lost>[\w,-]+)"
)
WHOLE = "write tokenizer.json, which holds everything (--format tokenizer.json)"
RANKS = "write tiktoken, which holds all but pattern (--format tiktoken with --allow-loss pattern)"
TRAINED = "what is trained with --target {} fits exactly"
TARGET = re.compile(r'`target="([^"]+)"`')
SHARED = ("spm-test_model", "gpt2-hf", "bert-base-uncased")


def ways_of(hint, pattern=WAY):
    """Return the ways that a hint names, each a format, or None for the same, and what is lost by it."""
    found = [(each["format"], each["with"] or each["lost"] or "") for each in pattern.finditer(hint)]
    return [(name, ",".join(json.loads(lost)) if lost.startswith("[") else lost) for name, lost in found]


@contextmanager
def written_once():
    """Write a tokenizer in a format once: hints try the same ways for many formats, and who follows them again."""
    known = {}

    def once(tokenizer, name, allow_loss=()):
        key = (id(tokenizer), name, frozenset(allow_loss))
        if key not in known:
            try:
                known[key] = tokenizer, dump(tokenizer, name, allow_loss), None, None
            except FormatError as refusal:
                known[key] = tokenizer, None, refusal, refusal.hint
        _, files, refusal, hint = known[key]
        if refusal is not None:
            refusal.hint = hint  # which a conversion has replaced by its own
            raise refusal.with_traceback(None)
        return dict(files)

    with mock.patch.object(formats, "dump", once):
        yield


@written_once()
def follow(tokenizer, folder):
    """Convert into every format; where that is refused, follow each way that the hint names, once if several do."""
    expected = [tokenizer.encode(text) for text in CORPUS.splitlines()]
    followed = set()
    for name in FORMATS:
        try:
            convert(tokenizer, folder / f"{name} it is", name)
        except FormatError as refusal:
            ways = ways_of(refusal.hint)
            assert ways, f"{name}: {refusal.hint}"  # noqa: PT017  # whichever it is
            named = [(other or name, lost) for other, lost in ways]
            new = [way for way in named if way not in followed]
            followed.update(new)
            for other, lost in new:
                out = folder / f"{other} without {lost}"
                done = convert(tokenizer, out, other, allow_loss=lost.split(",") if lost else ())
                assert done.files
                if not lost:
                    again = load(out, pattern_for(other))
                    assert [again.encode(text) for text in CORPUS.splitlines()] == expected
            compared()


@at_least(5)
@pytest.mark.parametrize("kind", KINDS)
def test_the_way_out_of_each_refusal_works(kind, tmp_path):
    follow(trained(kind), tmp_path)


@at_least(1)
@pytest.mark.parametrize("name", FORMATS)
def test_the_way_out_of_what_formats_hold(name, tmp_path):
    follow(load(put(files_of(name), tmp_path / name), pattern_for(name)), tmp_path)


@at_least(1)
@pytest.mark.parametrize("name", SHARED)
def test_the_way_out_for_real_tokenizers(name, shared, tmp_path):
    follow(load(shared / "vocabs" / name), tmp_path)


def test_a_target_that_is_named_fits(tmp_path):
    named = {}
    for kind in ("bbpe", "wordpiece"):
        for name in ("gguf", "sentencepiece", "tiktoken"):
            try:
                convert(trained(kind), tmp_path / f"{kind} {name}", name)
            except FormatError as refusal:
                named |= dict.fromkeys(TARGET.findall(refusal.hint), name)
    assert named == {"llama.cpp": "gguf", "sentencepiece": "sentencepiece", "tiktoken": "tiktoken"}
    (tmp_path / "in.txt").write_text(CORPUS)
    for target, name in named.items():
        size = "290" if target != "sentencepiece" else "40"
        out = tmp_path / FORMATS[name].FILES[0].replace("*", "t")
        done = call("train", "in.txt", "-s", size, "--target", target, "-o", out, cwd=tmp_path)
        assert done.status == 0, done.err
        assert out.exists()


@pytest.mark.parametrize(
    ("source", "options", "hint"),
    [
        (
            "cl100k_base", ("-o", "tokenizer.model"),
            f"write tiktoken, which holds everything (--format tiktoken); {TRAINED.format('sentencepiece')}",
        ),
        (
            "a.json", ("-o", "a.gguf"),
            f"{WHOLE}, or agree to lose it: --allow-loss pattern; {TRAINED.format('llama.cpp')}",
        ),
        (
            "a.json", ("-o", "a.model"),
            f"{RANKS}; {TRAINED.format('sentencepiece')}",
        ),
        (
            "w.json", ("-o", "w.tiktoken"),
            f"{WHOLE}; {TRAINED.format('tiktoken')}",
        ),
    ],
)  # fmt: skip
def test_what_the_command_line_says(source, options, hint, tmp_path):
    (tmp_path / "in.txt").write_text(CORPUS)
    for algorithm, out in (("bbpe", "a.json"), ("wordpiece", "w.json")):
        size = "290" if algorithm == "bbpe" else "70"
        assert call("train", "in.txt", "-a", algorithm, "-s", size, "-o", out, "-q", cwd=tmp_path).status == 0
    done = call("convert", source, *options, cwd=tmp_path)
    assert done.status == 2
    assert done.err == error(done.err.partition("\n")[0].removeprefix("error: "), hint)
    ways = ways_of(hint, OPTIONS)
    assert len(ways) == hint.count("--format") + hint.count(": --allow-loss") > 0
    for number, (name, lost) in enumerate(ways):
        more = [*(("--format", name) if name else ()), *(("--allow-loss", lost) if lost else ())]
        out = options[1] if name is None else f"out{number}"
        assert call("convert", source, "-o", out, *more, cwd=tmp_path).status == 0


def test_a_program_gets_the_losses_by_name(tmp_path):
    tokenizer = trained("bbpe")
    with pytest.raises(LossError) as refusal:
        convert(tokenizer, tmp_path / "x.gguf", "gguf")
    assert refusal.value.losses == ("pattern",)
    assert ways_of(refusal.value.hint) == [("tokenizer.json", ""), (None, "pattern")]
    assert convert(tokenizer, tmp_path / "x.gguf", "gguf", allow_loss=refusal.value.losses).files


def test_agreed_losses_count_for_other_formats_too(tmp_path):
    """What was agreed to is agreed to, and the hint repeats what is still needed."""
    with pytest.raises(FormatError) as refusal:
        convert(trained("bbpe"), tmp_path / "x", "sentencepiece", allow_loss=["pattern"])
    assert ways_of(refusal.value.hint) == [("tiktoken", "pattern")]
