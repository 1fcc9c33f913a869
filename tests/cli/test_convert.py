"""``bpe convert``: every direction that loses nothing, and what is said of those that do."""

from __future__ import annotations

import hashlib
import json
import os

import pytest

from bpe_cli import formats, load
from bpe_cli.tokenizer import fingerprint
from tests.cli_runner import call, error, run

SHA256 = {
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
LOSS_HINT = "write tokenizer.json, which holds everything (--format tokenizer.json), or agree to lose it: --allow-loss "


def sha256_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fingerprint_of(tokenizer):
    """Return what a report names a tokenizer by, without the report, which takes longer."""
    return fingerprint(load(tokenizer))


@pytest.fixture
def desk(tmp_path):
    """Return a folder with a small tokenizer, which may stand for any that is split as GPT-2's."""
    trained = ("-T", "low lower", "--pattern", "gpt2", "-s", "258", "-q", "-o", "t.json")
    assert call("train", *trained, cwd=tmp_path) == (0, b"", "")
    return tmp_path


@pytest.mark.parametrize("name", SHA256)
def test_ranks_are_those_that_openai_publishes(tmp_path, name):
    convert = run if name == "cl100k_base" else call
    path = tmp_path / "ranks.tiktoken"
    assert convert("convert", name, "-o", path) == (0, b"", f"{name} -> {path} (tiktoken)\n")
    assert sha256_of(path) == SHA256[name]
    assert call("encode", "-T", "naïve 你<|endoftext|>", "-t", path, "--special", "all") == call(
        "encode", "-T", "naïve 你<|endoftext|>", "-t", name, "--special", "all"
    )


@pytest.mark.parametrize(("model", "layout"), [("gpt-4", "gpt-4-32k"), ("gpt-oss-20b", "harmony")])
def test_a_built_in_layout_is_named(tmp_path, model, layout):
    """A file holds no layout: what the model's name stood for is chosen by hand, and gives the same ids."""
    said = (
        f"note: the layout of {model}'s conversations is built in; with a file, --chat-template {layout} chooses it\n"
    )
    assert call("convert", model, "-o", "t.json", cwd=tmp_path).err.endswith(said)
    (tmp_path / "chat.json").write_text('[{"role": "user", "content": "Hi"}]')
    by_name = call("encode", "--chat", "chat.json", "-t", model, cwd=tmp_path)
    assert by_name.status == 0
    assert call("encode", "--chat", "chat.json", "-t", "t.json", "--chat-template", layout, cwd=tmp_path) == by_name
    if model == "gpt-4":  # of a file nothing is said, whichever it is
        assert "layout" not in call("convert", "t.json", "-o", "again.json", cwd=tmp_path).err


def test_round_the_formats(tmp_path):
    """gpt2 -> tokenizer.json -> a pair -> tokenizer.json -> ranks, which are OpenAI's."""
    said_of_pair = "pair/vocab.json, pair/merges.txt, pair/tokenizer_config.json (vocab-merges)"
    steps = [
        ("gpt2", "a.json", "a.json (tokenizer.json)"),
        (
            "a.json",
            "pair/ -f vocab-merges",
            said_of_pair,
        ),
        ("pair", "b.json", "b.json (tokenizer.json)"),
        ("pair/merges.txt", "ranks.tiktoken", "ranks.tiktoken (tiktoken)"),
        ("ranks.tiktoken", "c.json", "c.json (tokenizer.json)"),
    ]
    for source, target, said in steps:
        assert call("convert", source, "-o", *target.split(), cwd=tmp_path) == (0, b"", f"{source} -> {said}\n")
    assert sha256_of(tmp_path / "ranks.tiktoken") == SHA256["r50k_base"]
    assert sha256_of(tmp_path / "a.json") == sha256_of(tmp_path / "b.json") == sha256_of(tmp_path / "c.json")
    assert fingerprint_of(tmp_path / "pair") == fingerprint_of(tmp_path / "a.json")


def test_what_was_trained(tmp_path):
    trained = ("--pattern", "gpt2", "-s", "300", "--special", "<s>", "--compat", "minbpe", "-q", "-o", "t.json")
    assert call("train", *trained, input=b"low lower lowest newest widest " * 3, cwd=tmp_path).status == 0
    assert call("convert", "t.json", "-o", "pair", "-f", "vocab-merges", "-q", cwd=tmp_path) == (0, b"", "")
    assert call("convert", "pair", "-o", "back.json", "-q", cwd=tmp_path) == (0, b"", "")
    assert (tmp_path / "back.json").read_bytes() == (tmp_path / "t.json").read_bytes()
    lossy = ("--allow-loss", "pattern,special-tokens")
    assert call("convert", "t.json", "-o", "r.tiktoken", "-q", *lossy, cwd=tmp_path) == (0, b"", "")
    for tokenizer in (("t.json",), ("pair",), ("r.tiktoken", "--pattern", "gpt2")):
        result = call("encode", "-T", "the lowest newt", "--to", "tokens", "-t", *tokenizer, cwd=tmp_path)
        assert result == (0, "t h e Ġlowest Ġnew t\n".encode(), "")


def test_what_lies_there_already_would_be_read(desk):
    (desk / "out").mkdir()
    (desk / "out/added_tokens.json").write_text('{"<x>": 258}')
    result = call("convert", "t.json", "-o", "out/", cwd=desk)
    assert (result.status, result.out) == (2, b"")
    assert result.err == error(
        "out/added_tokens.json is there already: it would be read with the new files, or instead of them, and change "
        "the tokenizer or its use",
        "write to another folder, or remove it",
    )
    assert os.listdir(desk / "out") == ["added_tokens.json"]


def test_special_tokens_and_pattern_on_the_way(tmp_path):
    (tmp_path / "r.tiktoken").write_bytes(b"YQ== 0\nYg== 1\nYWI= 2\n")
    options = ("--pattern", "llama3", "--add-special", "<s>=7", "-o", "t.json")
    assert call("convert", "r.tiktoken", *options, cwd=tmp_path).status == 0
    result = call("encode", "-T", "ab<s>ba", "-t", "t.json", "--special", "all", cwd=tmp_path)
    assert result == (0, b"2 7 1 0\n", "")


def test_the_format_comes_from_the_name(desk):
    (desk / "folder").mkdir()
    assert call("convert", "t.json", "-o", "folder", "-q", cwd=desk).status == 0
    assert (desk / "folder" / "tokenizer.json").is_file()
    assert call("convert", "gpt2", "-o", "x", "-f", "tiktoken", "-q", cwd=desk).status == 0
    assert sha256_of(desk / "x") == SHA256["r50k_base"]
    assert call("convert", "t.json", "-o", "y", cwd=desk) == (
        2, b"", error(
            "the name 'y' does not say which format to write",
            f"give --format: {', '.join(formats.FORMATS)}",
        ),
    )  # fmt: skip
    assert not (desk / "y").exists()


def test_names_that_no_terminal_shows(tmp_path):
    """A byte that is not a character and an end of line read the same in every message, on one line."""
    odd = os.fsdecode(b"a\xff\nb.bpe.json")
    assert call("train", "-T", "low", "-s", "257", "-o", "t.json", "-q", cwd=tmp_path).status == 0
    convert = call("convert", "t.json", "-o", odd, "-f", "bpe.json", cwd=tmp_path)
    assert convert == (0, b"", "t.json -> a\\xff⏎b.bpe.json (bpe.json)\n")
    assert "a\\xff⏎b.bpe.json" in call("inspect", "-t", odd, cwd=tmp_path).text
    (tmp_path / odd).write_bytes(b"nothing")
    assert call("inspect", "-t", odd, cwd=tmp_path).err.startswith("error: a\\xff⏎b.bpe.json is text that begins")


def test_to_a_pipe(tmp_path):
    piped = run("convert", "gpt2", "-o", "/dev/stdout", "-f", "tiktoken", "-q")
    assert (piped.status, piped.err, hashlib.sha256(piped.out).hexdigest()) == (0, "", SHA256["r50k_base"])


def test_what_is_lost_is_named(tmp_path):
    """Of a published file the pattern is known, so that it is not lost with the file."""
    lost = 'a .tiktoken file cannot hold the special tokens (4: "<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>")'
    result = call("convert", "p50k_edit", "-o", "x.tiktoken", cwd=tmp_path)
    assert result == (2, b"", error(lost, f"{LOSS_HINT}special-tokens"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("pattern", "special", "output", "lost", "losses"),
    [
        ("cl100k", (), "x/ -f vocab-merges", "the pair vocab.json and merges.txt cannot hold the split pattern",
         "pattern"),
        ("gpt2", ("--special", "<s>"), "x.tiktoken",
         'a .tiktoken file cannot hold the split pattern, the special tokens (1: "<s>")', "pattern,special-tokens"),
    ],
)  # fmt: skip
def test_what_is_lost_may_be(desk, pattern, special, output, lost, losses):
    trained = ("-T", "low lower", "--pattern", pattern, *special, "-s", "259", "-q", "-o", "t.json")
    assert call("train", *trained, cwd=desk) == (0, b"", "")
    convert = ("convert", "t.json", "-o", *output.split())
    assert call(*convert, cwd=desk) == (2, b"", error(lost, LOSS_HINT + losses))
    assert list(desk.iterdir()) == [desk / "t.json"]
    assert call(*convert, "-q", "--allow-loss", losses, cwd=desk) == (0, b"", "")


def test_several_losses_at_once(tmp_path):
    trained = (
        "-T",
        "low",
        "-s",
        "258",
        "--special",
        "<s>",
        "--prefix-space",
        "--pattern",
        "gpt2",
        "-o",
        "t.json",
        "-q",
    )
    assert call("train", *trained, "--compat", "rustbpe", cwd=tmp_path).status == 0
    lost = 'a .tiktoken file cannot hold the split pattern, the space before the text, the special tokens (1: "<s>")'
    names = "pattern,prefix-space,special-tokens"
    assert call("convert", "t.json", "-o", "x.tiktoken", cwd=tmp_path) == (2, b"", error(lost, LOSS_HINT + names))
    some = call("convert", "t.json", "-o", "x.tiktoken", "--allow-loss", "pattern, special-tokens", cwd=tmp_path)
    hint = f"{LOSS_HINT}{names}; what is trained with --target tiktoken fits exactly"
    assert some.err == error("a .tiktoken file cannot hold the space before the text", hint)
    assert call("convert", "t.json", "-o", "x.tiktoken", "-q", "--allow-loss", names, cwd=tmp_path).status == 0


def test_a_loss_that_there_is_not():
    assert call("convert", "gpt2", "-o", "x.json", "--allow-loss", "everything") == (
        2, b"", error(
            "no format loses 'everything'", "losses are codebook, decoder, ids, normalizer, "
            "pattern, post-processor, pre-tokenizer, prefix-space, sentencepiece-edges, special-tokens, token-flags, "
            "unspelt-tokens"
        ),
    )  # fmt: skip


def test_merges_that_are_no_ranks(tmp_path):
    content = {
        "version": "1.0",
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
        "decoder": {"type": "ByteLevel"},
        "model": {
            "type": "BPE",
            "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4},
            "merges": [["b", "c"], ["a", "b"]],
        },
    }
    (tmp_path / "t.json").write_text(json.dumps(content))
    assert call("convert", "t.json", "-o", "x.tiktoken", cwd=tmp_path) == (
        2, b"", error(
            'a .tiktoken file holds ranks, which cannot do what these merges do: merge 2 makes "ab" (id 3) after id 4',
            "write tokenizer.json, which holds everything (--format tokenizer.json); "
            "what is trained with --target tiktoken fits exactly",
        ),
    )  # fmt: skip


def test_every_format_can_be_asked_for():
    from bpe_cli.cli.convert import run
    from bpe_cli.cli.options import parameters_of

    assert list(parameters_of(run)["format"][1].settings["choices"]) == list(formats.FORMATS)


@pytest.mark.parametrize(
    "words",
    ["convert t.json -o new/deep -f bert-vocab", "convert t.json --extend missing -s 300 -o new/deep -f vocab-merges"],
)
def test_a_folder_that_nothing_is_written_to_is_not_made(words, desk):
    assert call(*words.split(), cwd=desk).status == 2
    assert [*desk.iterdir()] == [desk / "t.json"]


def test_a_folder_is_made_with_those_above_it(desk):
    assert call("convert", "t.json", "-o", "new/deep", "-f", "vocab-merges", cwd=desk).status == 0
    assert (desk / "new" / "deep" / "vocab.json").exists()


def test_a_folder_in_the_place_of_a_file(desk):
    (desk / "a").write_text("")
    assert call("convert", "t.json", "-o", "a/b", "-f", "vocab-merges", cwd=desk) == (
        2, b"", error("cannot make the folder a/b: not a directory"),
    )  # fmt: skip
