"""What lies already where a tokenizer is written: refused if it would change what is read, else of no account."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from bpe_cli import convert, load, prune, train
from bpe_cli.corpus import Source
from bpe_cli.errors import UsageError
from bpe_cli.formats import dump
from bpe_cli.jobs.changes import Change
from bpe_cli.stages import SpecialToken

TEXT = "low lower lowest newer newest wide wider widest "
PAIR = train([TEXT], vocab_size=262, pattern="gpt2", special_tokens=["<s>"])
OTHER = train([TEXT[::-1]], vocab_size=262, pattern="gpt2", special_tokens=["<s>"])
WORDS = train([TEXT], algorithm="wordpiece", vocab_size=40)
PIECES = train([TEXT], algorithm="bpe", compat="sentencepiece", vocab_size=40)
OLD = {
    "added_tokens.json": b'{"<x>": 300}',
    "special_tokens_map.json": b'{"bos_token": "l", "eos_token": "o"}',
    "tokenizer_config.json": b'{"added_tokens_decoder": {"0": {"content": "<other>"}}}',
    "chat_template.jinja": b"old",
    "chat_template.json": b'{"chat_template": "old"}',
    "additional_chat_templates/rag.jinja": b"old",
    "tokenizer.json": dump(OTHER, "tokenizer.json")[""],
    "bpe.json": dump(OTHER, "bpe.json")[""],
    "vocab.txt": b"[UNK]\na\n##b\n",
}


def put(folder: Path, *names: str) -> list[Path]:
    """Lay down old files."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(OLD[name])
    return [folder / name for name in names]


def content_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("tokenizer", "output", "format_name", "old"),
    [
        (PAIR, "out", "huggingface", "added_tokens.json"),
        (PAIR, "out", "huggingface", "chat_template.jinja"),
        (PAIR, "out", "huggingface", "chat_template.json"),
        (PAIR, "out", "huggingface", "additional_chat_templates/rag.jinja"),
        (PAIR, "out/tokenizer.json", None, "added_tokens.json"),
        (PAIR, "out/tokenizer.json", "bpe.json", "tokenizer_config.json"),
        (PAIR, "out/tokenizer.json", None, "special_tokens_map.json"),
        (PAIR, "out", "vocab-merges", "tokenizer.json"),
        (PAIR, "out", "vocab-merges", "bpe.json"),
        (PAIR, "out", "vocab-merges", "vocab.txt"),
        (PAIR, "out/vocab.json", "vocab-merges", "added_tokens.json"),
        (WORDS, "out", "bert-vocab", "added_tokens.json"),
        (WORDS, "out", "bert-vocab", "tokenizer.json"),
        (WORDS, "out/vocab.txt", None, "chat_template.jinja"),
        (PIECES, "out/pieces.model", None, "added_tokens.json"),
        (PIECES, "out/pieces.model", None, "special_tokens_map.json"),
    ],
)
def test_a_file_that_would_change_what_is_read_is_named(tokenizer, output, format_name, old, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (path,) = put(Path("out"), old)
    before = content_of(tmp_path)
    with pytest.raises(UsageError, match=f"^{re.escape(str(path))} is there already: it would be read with") as caught:
        convert(tokenizer, output, format_name)
    assert caught.value.hint == "write to another folder, or remove it"
    assert content_of(tmp_path) == before
    path.unlink()
    assert load(convert(tokenizer, output, format_name).files[0]).vocab_size == tokenizer.vocab_size


def test_all_such_files_are_named_and_no_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(Path("out"), "chat_template.jinja", "added_tokens.json", "special_tokens_map.json", "vocab.txt")
    with pytest.raises(UsageError, match=r"^out/added_tokens\.json, out/chat_template\.jinja are there ") as caught:
        PAIR.save("out")
    assert caught.value.hint == "write to another folder, or remove them"


def test_what_changes_nothing_does_not_matter(tmp_path):
    """The same files again, a folder with both layouts, files that say the same, and what is not read."""
    folder = tmp_path / "out"
    for name in ("huggingface", "vocab-merges", "huggingface", "huggingface"):
        convert(PAIR, folder, name)
    convert(PAIR, folder / "tokenizer.json")
    talking = replace(PAIR, usage=replace(PAIR.usage, chat_templates=(("default", "old"),)))
    put(folder, "chat_template.jinja")
    (folder / "added_tokens.json").write_bytes(b'{"<s>": 0}')
    convert(talking, folder)
    assert load(folder).usage == talking.usage
    other = tmp_path / "other"
    put(other, "added_tokens.json", "chat_template.jinja", "vocab.txt")
    for name in ("mine.json", "mine.gguf", "mine.tiktoken"):
        convert(PAIR, other / name, allow_loss=("pattern", "special-tokens"))
    (other / "chat_template.jinja").unlink()
    (other / "added_tokens.json").unlink()
    put(other, "tokenizer.json")
    convert(PAIR, other / "vocab.json", "vocab-merges")  # which is the file that is named


def test_a_folder_is_not_written_over_with_other_ids(tmp_path):
    """Its added_tokens.json would contradict the new files, so that nobody could read them."""
    convert(PAIR.with_special_tokens([SpecialToken(b"<x>", 262, special=False)]), tmp_path)
    (tmp_path / "added_tokens.json").write_bytes(b'{"<x>": 262}')
    pruned = prune(load(tmp_path), ["low"], 260)
    assert pruned.tokenizer.vocab_size == 260
    with pytest.raises(UsageError, match=r"added_tokens\.json is there already"):
        convert(pruned, tmp_path)
    assert load(tmp_path).vocab_size == 263
    config = json.loads((tmp_path / "tokenizer_config.json").read_bytes())
    assert [*config["added_tokens_decoder"]] == ["0", "262"]


def test_it_is_said_before_texts_are_read(tmp_path):
    put(tmp_path / "out", "added_tokens.json")
    change = Change(extend_by=1, learn_from=Source((str(tmp_path / "missing.txt"),)))
    with pytest.raises(UsageError, match=r"added_tokens\.json is there already"):
        convert(PAIR, tmp_path / "out", "huggingface", change=change)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "added_tokens.json").symlink_to("missing")
    with pytest.raises(UsageError, match=r"added_tokens\.json is there already"):
        PAIR.save(tmp_path / "tokenizer.json")
