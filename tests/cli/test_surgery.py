"""``bpe convert`` with a change on the way."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli_runner import call, error, run, start
from tests.thorough import more

TEXT = b"low lower lowest newer newest wide wider widest " * 3


@pytest.fixture
def desk(tmp_path) -> Path:
    """Return a folder with a tokenizer and a corpus."""
    (tmp_path / "corpus.txt").write_bytes(TEXT)
    assert call("train", "corpus.txt", "-s", "262", "--special", "<s>", "-q", "-o", "t.json", cwd=tmp_path).status == 0
    return tmp_path


def ids_of(path: Path) -> dict:
    return json.loads(path.read_bytes())


def tokens(desk: Path, text: str, name: str = "out.json", *options: str) -> str:
    return call("encode", "-T", text, "--to", "tokens", "-t", name, *options, cwd=desk).text.strip()


def test_extending_is_training_on(desk):
    said = "10 new tokens, 10 merges; ids: out.json.ids.json\nt.json -> out.json (tokenizer.json)\n"
    extend = ("convert", "t.json", "--extend", "corpus.txt", "-s", "272", "-o", "out.json")
    assert call(*extend, cwd=desk) == (0, b"", said)
    assert call("train", "corpus.txt", "-s", "272", "--special", "<s>", "-q", "-o", "all.json", cwd=desk).status == 0
    assert (desk / "out.json").read_bytes() == (desk / "all.json").read_bytes()
    table = ids_of(desk / "out.json.ids.json")
    assert (table["schema"], table["size"]) == ("bpe.id-map/1", 272)
    assert table["old_to_new"] == {str(each): each for each in range(262)}
    assert [*table["made_of"]] == [str(each) for each in range(262, 272)]
    first = (desk / "out.json").read_bytes(), (desk / "out.json.ids.json").read_bytes()
    for threads, block in (("1", "7"), ("3", "100")):
        assert call(*extend, "-j", threads, "--block-size", block, cwd=desk).status == 0
        assert ((desk / "out.json").read_bytes(), (desk / "out.json.ids.json").read_bytes()) == first


def test_pruning(desk):
    (desk / "few.jsonl").write_bytes(b'{"a": {"text": "low low"}}\n')
    corpus = ("--counts-from", "few.jsonl", "--jsonl", "--field", "a.text")
    result = call("convert", "t.json", "--prune-to", "259", *corpus, "-o", "out.json", "--id-map", "map", cwd=desk)
    assert result == (0, b"", "3 pruned; ids: map\nt.json -> out.json (tokenizer.json)\n")
    table = ids_of(desk / "map")
    assert (table["size"], table["made_of"]) == (259, {})
    texts = call("encode", "-T", "we de ide lo st", "--to", "tokens", "-t", "t.json", cwd=desk).text.split()
    assert [text.strip("Ġ") for text in texts if len(text.strip("Ġ")) > 1] == ["we", "de", "ide", "lo", "st"]
    gone = [int(old) for old, new in table["old_to_new"].items() if new is None]
    assert gone == [258, 259, 261]  # st, ide, and de, which is a leaf without it: the highest ids of the unused
    assert tokens(desk, "lower") == "lo we r"
    assert not (desk / "out.json.ids.json").exists()


def test_counts_from_stdin(desk):
    prune = ("convert", "t.json", "--prune-to", "260", "-q", "-o", "out.json", "--counts-from")
    assert call(*prune, "-", input=TEXT, cwd=desk) == (0, b"", "")
    piped = (desk / "out.json").read_bytes()
    assert call(*prune, "corpus.txt", cwd=desk) == (0, b"", "")
    assert (desk / "out.json").read_bytes() == piped


def test_replacing(desk):
    (desk / "few.txt").write_bytes(b"low lower lowest wide")
    (desk / "new.txt").write_bytes(b"xyz xyz xyz xyz")
    replace = ("convert", "t.json", "--replace", "2", "--by", "new.txt", "--counts-from", "few.txt", "-o", "out.json")
    said = "2 replaced; ids: out.json.ids.json\nt.json -> out.json (tokenizer.json)\n"
    assert call(*replace, cwd=desk) == (0, b"", said)
    table = ids_of(desk / "out.json.ids.json")
    gone = [int(old) for old, new in table["old_to_new"].items() if new is None]
    assert table["size"] == 262
    assert gone == [int(new) for new in table["made_of"]]
    assert len(gone) == 2
    assert tokens(desk, "xyz xyz") == "xyz Ġ xyz"
    first = (desk / "out.json").read_bytes()
    assert call(*replace, "-j", "3", "--block-size", "7", "-q", cwd=desk) == (0, b"", "")
    assert (desk / "out.json").read_bytes() == first


def test_adding_a_number_of_tokens(desk):
    (desk / "new.txt").write_bytes(b"xyz xyz xyz xyz")
    extend = ("convert", "t.json", "--extend", "new.txt", "-o", "out.json")
    assert call(*extend, "--add", "2", cwd=desk).err.startswith("2 new tokens, 2 merges; ids: ")
    assert ids_of(desk / "out.json.ids.json")["size"] == 264
    prune = ("--prune-to", "258", "--counts-from", "corpus.txt", "--add", "2")
    assert call(*extend, *prune, cwd=desk).err.startswith("4 pruned, 2 new tokens, 2 merges; ids: ")
    table = ids_of(desk / "out.json.ids.json")
    assert table["size"] == 260
    assert [*table["made_of"]] == ["258", "259"]
    assert sum(new is None for new in table["old_to_new"].values()) == 4


def test_adding(desk):
    (desk / "list").write_text('["wide", {"content": "<|user|>", "special": true}, "<s>"]')
    result = call("convert", "t.json", "--add-tokens", "list", "-o", "out.json", cwd=desk)
    assert result.err == (
        "2 added, 1 already there and kept; ids: out.json.ids.json\n"
        "note: '<s>': already a token, and kept as it is\n"
        "t.json -> out.json (tokenizer.json)\n"
    )
    assert tokens(desk, "lowide<|user|>", "out.json", "--special", "all") == "lo wide <|user|>"
    made_of = ids_of(desk / "out.json.ids.json")["made_of"]
    assert [*made_of] == ["262", "263"]


@pytest.mark.parametrize(
    "change",
    [
        "--add-tokens list", "--merge other.json", "--extend new.txt --add 1",
        "--prune-to 262 --counts-from corpus.txt", "--replace 1 --by new.txt --counts-from corpus.txt",
    ],
)  # fmt: skip
def test_special_tokens_beside_a_change_are_new(desk, change):
    """The map leads from the tokenizer that was named, which has no <x>: its embeddings have 262 rows."""
    (desk / "list").write_text("wide<x>\n")
    (desk / "new.txt").write_bytes(b"xyz xyz xyz xyz")
    assert call("train", "new.txt", "-s", "257", "-q", "-o", "other.json", cwd=desk).status == 0
    special = ("--add-special", "<x>=262", "-q", "-o", "out.json")
    assert call("convert", "t.json", *special, *change.split(), cwd=desk) == (0, b"", "")
    table = ids_of(desk / "out.json.ids.json")
    added = {each["content"]: each["id"] for each in ids_of(desk / "out.json")["added_tokens"]}
    plain = [int(each) for each in call("encode", "-T", "<x>", "-t", "t.json", cwd=desk).text.split()]
    assert table["made_of"][str(added["<x>"])] == plain
    assert [*table["old_to_new"]] == [str(each) for each in range(262)]
    assert all(part < 262 for parts in table["made_of"].values() for part in parts)
    assert table["size"] == 1 + max(new for new in (*table["old_to_new"].values(), *map(int, table["made_of"])) if new)


def test_adding_from_a_pipe(desk):
    """A list is read once, so that it may come from anywhere."""
    add = ("convert", "t.json", "-o", "out.json", "-q", "--add-tokens")
    (desk / "list").write_text("wide\n")
    assert call(*add, "list", cwd=desk) == (0, b"", "")
    from_file = (desk / "out.json").read_bytes()
    assert call(*add, "-", input=b"wide\n", cwd=desk) == (0, b"", "")
    assert (desk / "out.json").read_bytes() == from_file
    os.mkfifo(desk / "pipe")
    with ThreadPoolExecutor() as pool:
        pool.submit((desk / "pipe").write_bytes, b"wide\n")
        assert call(*add, "pipe", cwd=desk) == (0, b"", "")
    assert (desk / "out.json").read_bytes() == from_file


def test_adding_what_hugging_face_wrote(desk):
    (desk / "added_tokens.json").write_text('{"<foo>": 263, "wide": 262}')
    assert call("convert", "t.json", "--add-tokens", "added_tokens.json", "-q", "-o", "out.json", cwd=desk).status == 0
    assert tokens(desk, "lo<foo>wide", "out.json") == "lo <foo> wide"
    (desk / "out.json").unlink()
    (desk / "added_tokens.json").write_text('{"<foo>": 300}')
    result = call("convert", "t.json", "--add-tokens", "added_tokens.json", "-o", "out.json", cwd=desk)
    message = 'added_tokens.json gives the token "<foo>" the id 300, and it would get 262'
    assert result == (
        2,
        b"",
        error(message, "new tokens get the ids after all others; --add-special TEXT=ID gives one"),
    )
    assert not (desk / "out.json").exists()


def test_merging(desk):
    assert call("train", "-T", "abc abc", "-s", "258", "-q", "-o", "other.json", cwd=desk).status == 0
    result = call("convert", "t.json", "--merge", "other.json", "-o", "out.json", cwd=desk)
    assert result == (
        0, b"", "2 new tokens, 2 new merges, 0 special; ids: out.json.ids.json\nt.json -> out.json (tokenizer.json)\n",
    )  # fmt: skip
    assert tokens(desk, "abclow") == f"abc {tokens(desk, 'low', 't.json')}"
    table = ids_of(desk / "out.json.ids.json")
    assert (table["other_to_new"]["256"], table["other_to_new"]["257"]) == (262, 263)


def test_models_without_symbols_lose_characters_too(tmp_path):
    """What goes is unknown, as the page about this says."""
    (tmp_path / "c.txt").write_text("lllloow")
    assert call("train", "c.txt", "-a", "char", "-q", "-o", "t.json", cwd=tmp_path).status == 0
    change = ("--prune-to", "3", "--counts-from", "c.txt")
    assert call("convert", "t.json", *change, "-q", "-o", "out.json", cwd=tmp_path) == (0, b"", "")
    assert (tokens(tmp_path, "low", "t.json"), tokens(tmp_path, "low")) == ("l o w", "l o <unk>")


@pytest.mark.parametrize(("name", "size"), more([("small", 302)], [("small", 302), ("llama2", 32002)]))
def test_scores_are_extended_by_way_of_merges(tmp_path, request, name, size):
    """What the hint says works, and gives ids that the two files agree upon."""
    if name == "small":  # without rules, and with bytes for what has no piece, as the other is
        options = ("-a", "bpe", "--compat", "sentencepiece", "--set", "normalization=identity", "--set",
                   "remove_extra_whitespaces=no", "--set", "byte_fallback=yes", "-s", "300", "-q")  # fmt: skip
        text = b"hello word well hold low\nbar off roof\n"
        assert call("train", *options, "-o", "l.model", input=text, cwd=tmp_path) == (0, b"", "")
    else:
        model = request.getfixturevalue("shared") / "vocabs" / name / "tokenizer.model"
        (tmp_path / "l.model").write_bytes(model.read_bytes())
    (tmp_path / "c.txt").write_text("hello world hello world foo bar foo bar")
    extended = ("--extend", "c.txt", "-s", str(size))
    assert call("convert", "l.model", *extended, "-o", "m.model", cwd=tmp_path).err == error(
        "only BPE over bytes or characters can be trained further, and this is bpe-scores",
        "convert it to tokenizer.json, where scores become merges (--allow-loss sentencepiece-edges if it has a table "
        "of rules), change that, and convert the result",
    )
    steps = [("l.model", "l.json"), ("l.json", "m.json", *extended), ("m.json", "m.model")]
    for source, output, *options in steps:
        assert call("convert", source, *options, "-o", output, "-q", cwd=tmp_path) == (0, b"", "")
    as_merges, as_scores = (
        call("encode", "-T", "hello world foo bar foo", "-t", file, cwd=tmp_path) for file in ("m.json", "m.model")
    )
    assert as_merges == as_scores
    assert {b"%d" % (size - 2), b"%d" % (size - 1)} <= {*as_scores.out.split()}


def test_a_folder_has_its_map_beside_it(desk):
    (desk / "list").write_text("wide\n")
    assert call("train", "-T", "low", "--pattern", "gpt2", "-s", "257", "-q", "-o", "g.json", cwd=desk).status == 0
    result = call("convert", "g.json", "--add-tokens", "list", "-q", "-o", "pair/", cwd=desk)
    assert result.status == 0, result.err
    assert sorted(path.name for path in desk.iterdir() if path.name.startswith("pair")) == ["pair", "pair.ids.json"]


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (
            ("--prune-to", "260", "--counts-from", "corpus.txt", "--merge", "t.json"),
            "--prune-to and --merge are two changes, and only one can be made at a time",
            "convert twice: each writes a map of its own; --prune-to and --extend go together",
        ),
        (("--prune-to", "260"), "--prune-to needs --counts-from as well", None),
        (("--extend", "corpus.txt"), "--extend needs --vocab-size or --add as well", None),
        (("-s", "300"), "--vocab-size goes with --extend", None),
        (("--add", "3"), "--add goes with --extend", None),
        (("--by", "corpus.txt"), "--by goes with --replace", None),
        (("--replace", "3", "--counts-from", "corpus.txt"), "--replace needs --by as well", None),
        (("--replace", "3", "--by", "corpus.txt"), "--replace needs --counts-from as well", None),
        (
            ("--replace", "3", "--by", "-", "--counts-from", "-"),
            "the input and what is counted would both be read from stdin, which can be read only once",
            "name a file for one of them",
        ),
        (
            ("--extend", "corpus.txt", "-s", "300", "--add", "3"),
            "--vocab-size and --add both set the number of tokens",
            None,
        ),
        (("--counts-from", "corpus.txt"), "--counts-from goes with --prune-to, --replace or --split-residues", None),
        (("--split-residues", "0.1"), "--split-residues needs --counts-from as well", None),
        (
            ("--split-residues", "0.1", "--counts-from", "corpus.txt"),
            "Hugging Face's library has no BPE by merges and splits",
            "write bpe.json, which holds everything (--format bpe.json)",
        ),
        (
            ("--split-residues", "2", "--counts-from", "corpus.txt"),
            "--split-residues must be a share from 0 to 1, not 2",
            None,
        ),
        (
            ("--id-map", "x"),
            "--id-map goes with a change",
            "one of --add-tokens, --prune-to, --extend, --replace, --split-residues, --merge",
        ),
        (("--merge", "t.json", "--lines"), "--lines, --jsonl, --plain and --field need a corpus", None),
        (("--merge", "t.json", "--id-map", "./out.json"), "--id-map and -o are the same file", None),
        (
            ("--extend", "corpus.txt", "-s", "262"),
            "the tokenizer's ids run to 261: it cannot be extended to 262 tokens",
            None,
        ),
        (("--extend", "none.txt", "-s", "300"), "cannot read none.txt: no such file", None),
        (("--merge", "nothing.json"), "cannot read nothing.json: no such file", None),
        (("--add-tokens", "nothing"), "cannot read nothing: no such file", None),
    ],
)
def test_what_cannot_be(desk, options, message, hint):
    before = sorted(desk.iterdir())
    result = call("convert", "t.json", *options, "-o", "out.json", cwd=desk)
    assert result == (2, b"", error(message, hint))
    assert sorted(desk.iterdir()) == before


def test_both_files_are_tried_before_the_work(desk):
    extend = ("convert", "t.json", "--extend", "none.txt", "-s", "300")
    assert "cannot write missing/map" in call(*extend, "-o", "out.json", "--id-map", "missing/map", cwd=desk).err
    assert "cannot write missing/out.json" in call(*extend, "-o", "missing/out.json", cwd=desk).err
    lossy = call(*extend, "-o", "out.tiktoken", cwd=desk)
    assert "a .tiktoken file cannot hold" in lossy.err
    into_pipe = run(*extend, "-o", "/dev/stdout", "-f", "tokenizer.json", cwd=desk)
    assert into_pipe.err == error("there is no place for the map of ids beside /dev/stdout", "give --id-map FILE")


def test_interrupted_it_leaves_nothing(desk):
    process = start(
        "convert", "t.json", "--extend", "-", "-s", "300", "-o", "out.json", cwd=desk,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(TEXT * 5000)  # more than a pipe holds: it is reading, and waits for more
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, b"interrupted\n")
    assert sorted(path.name for path in desk.iterdir()) == ["corpus.txt", "t.json"]


def ranks(desk: Path, text: str, name: str) -> None:
    """Train, and write a .tiktoken file, which says nothing of how text is split."""
    assert call("train", "-T", text, "-s", "258", "--compat", "minbpe", "-q", "-o", "r.json", cwd=desk).status == 0
    lossy = ("--allow-loss", "pattern,special-tokens")
    assert call("convert", "r.json", "-q", "-o", name, *lossy, cwd=desk).status == 0


def test_merging_ranks_that_state_no_pattern(desk):
    """Text is cut as the first one does it, so --pattern is the first one's, and the other needs none."""
    ranks(desk, "abc abc", "other.tiktoken")
    result = call("convert", "t.json", "--merge", "other.tiktoken", "-o", "out.json", cwd=desk)
    assert result == (
        0,
        b"",
        (
            "note: other.tiktoken does not say how text is split, and nothing here depends on it\n"
            "2 new tokens, 2 new merges, 0 special; ids: out.json.ids.json\nt.json -> out.json (tokenizer.json)\n"
        ),
    )
    assert call("convert", "t.json", "--merge", "r.json", "-q", "-o", "again.json", cwd=desk).status == 0
    assert (desk / "again.json").read_bytes() == (desk / "out.json").read_bytes()
    both = ("convert", "other.tiktoken", "--merge", "other.tiktoken", "-q", "-o", "twice.json")
    assert "--pattern" in call(*both, cwd=desk).err
    assert call(*both, "--pattern", "gpt2", cwd=desk) == (0, b"", "")


def whole_piece(desk: Path) -> None:
    """Write ranks in which "abcd" arises as a whole piece only."""
    table = [bytes([byte]) for byte in range(256)] + [b"cd", b"abcd"]
    lines = [f"{base64.b64encode(token).decode()} {rank}\n" for rank, token in enumerate(table)]
    (desk / "whole.tiktoken").write_text("".join(lines))


def test_ranks_that_no_merge_reaches(desk):
    whole_piece(desk)
    convert = ("convert", "whole.tiktoken", "--pattern", "gpt2", "-o", "out.json")
    extended = call(*convert, "--extend", "corpus.txt", "-s", "262", cwd=desk)
    assert extended.status == 0, extended.err
    assert tokens(desk, "abcd xabcdx") == "abcd Ġ x a b cd x"
    for change in (("--merge", "t.json"), ("--prune-to", "257", "--counts-from", "corpus.txt")):
        result = call(*convert, *change, cwd=desk)
        assert result.status == 0, result.err


def test_only_what_no_change_mends_is_refused_before_the_work(desk):
    """A pair of vocabulary and merges has no whole pieces: pruning may take them away, and no change cuts text."""
    whole_piece(desk)
    convert = ("convert", "whole.tiktoken", "-o", "pair/", "-f", "vocab-merges", "--pattern")
    assert "no merge reaches 1 of the ranked tokens" in call(*convert, "gpt2", cwd=desk).err
    pruned = call(*convert, "gpt2", "--prune-to", "257", "--counts-from", "corpus.txt", cwd=desk)
    assert pruned.status == 0, pruned.err
    early = call(*convert, "cl100k", "--prune-to", "257", "--counts-from", "none.txt", cwd=desk)
    assert "cannot hold the split pattern" in early.err
    published = call("convert", "cl100k_base", "--extend", "none.txt", "-s", "110000", "-o", "out.tiktoken", cwd=desk)
    assert "cannot hold the split pattern" in published.err, "only the published file is known with its pattern"


def test_splitting_residues(tmp_path):
    (tmp_path / "corpus.txt").write_text("the then there " * 99 + "he tin")
    options = ("-a", "bpe", "-s", "18", "--compat", "sentencepiece", "--format", "sentencepiece", "-q")
    assert call("train", "corpus.txt", *options, "-o", "t.model", cwd=tmp_path) == (0, b"", "")
    split = ("convert", "t.model", "--split-residues", "0.05", "--counts-from", "corpus.txt", "-o")
    said = "2 residues made unused; ids: out.model.ids.json\nt.model -> out.model (sentencepiece)\n"
    assert call(*split, "out.model", cwd=tmp_path) == (0, b"", said)
    assert tokens(tmp_path, "tin", "t.model") != tokens(tmp_path, "tin", "out.model")
    assert tokens(tmp_path, "the then", "t.model") == tokens(tmp_path, "the then", "out.model")
    result = call(*split, "out.json", "--allow-loss", "sentencepiece-edges", cwd=tmp_path)
    assert (result.status, result.out) == (2, b"")
    assert "cannot say that pieces are unused" in result.err


def test_splitting_residues_of_merges(tmp_path):
    (tmp_path / "corpus.txt").write_text("the then there " * 99 + "he tin")
    assert call("train", "corpus.txt", "-s", "261", "--pattern", "gpt2", "-q", "-o", "t.json", cwd=tmp_path).status == 0
    split = ("convert", "t.json", "--split-residues", "0.05", "--counts-from", "corpus.txt", "-o")
    said = "2 residues split; ids: bpe.json.ids.json\nt.json -> bpe.json (bpe.json)\n"
    assert call(*split, "bpe.json", cwd=tmp_path) == (0, b"", said)
    assert tokens(tmp_path, "he tin", "t.json") != tokens(tmp_path, "he tin", "bpe.json")
    assert tokens(tmp_path, " there there", "t.json") == tokens(tmp_path, " there there", "bpe.json")
    for output in ("out.json", "pair/", "out.gguf"):
        result = call(*split, output, cwd=tmp_path)
        assert (result.status, result.out) == (2, b"")
        assert "BPE by merges and splits" in result.err
