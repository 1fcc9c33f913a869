"""``bpe train -s 4000,8000``: a file of each size, from one count of the corpus."""

from __future__ import annotations

import pytest

from tests.cli_runner import call, error

CORPUS = ("low lower lowest newest newest widest slow slower slowest\n" * 3).encode()
SIZES = {"bbpe": (257, 261, 270, 400), "bpe": (40, 47, 300), "wordpiece": (40, 46), "unigram": (20, 24)}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.txt").write_bytes(CORPUS)
    return tmp_path


@pytest.mark.parametrize("algorithm", SIZES)
@pytest.mark.parametrize("more", [(), ("--special", "[UNK]"), ("--max-memory", "1", "-j", "2")], ids=" ".join)
def test_each_file_is_what_that_size_alone_gives(algorithm, more, folder):
    sizes = SIZES[algorithm]
    words = ("train", "in.txt", "-a", algorithm, *more)
    listed = ",".join(map(str, reversed(sizes)))
    assert call(*words, "-s", listed, "-o", "{size}.json", "-q", cwd=folder) == (0, b"", "")
    for size in sizes:
        assert call(*words, "-s", size, "-o", "alone.json", "-q", cwd=folder).status == 0
        assert (folder / f"{size}.json").read_bytes() == (folder / "alone.json").read_bytes(), size


def test_other_formats_and_saved_counts(folder):
    assert call("train", "in.txt", "--counts-out", "in.counts", "-q", cwd=folder).status == 0
    words = ("train", "--from-counts", "in.counts", "--target", "tiktoken", "-q")
    assert call(*words, "-s", "260,265", "-o", "x-{size}.tiktoken", cwd=folder).status == 0
    for size in (260, 265):
        assert call(*words, "-s", size, "-o", "x.tiktoken", cwd=folder).status == 0
        assert (folder / f"x-{size}.tiktoken").read_bytes() == (folder / "x.tiktoken").read_bytes()


def test_what_it_says(folder):
    result = call("train", "in.txt", "-s", "260,900", "-o", "x-{size}.json", cwd=folder)
    assert (result.status, result.err.splitlines()) == (0, [
        "30 pieces, 9 different -> 260 tokens: 256 bytes, 4 merges, 0 special",
        "-> x-260.json",
        "-> 278 tokens: 256 bytes, 22 merges, 0 special",
        "note: the vocabulary has 278 tokens, not 900: no pair is left to merge",
        "-> x-900.json",
    ])  # fmt: skip
    result = call("train", "in.txt", "-a", "unigram", "-s", "20,24", "-o", "x-{size}.json", cwd=folder)
    assert result.err.startswith(
        "note: the sizes do not nest in this algorithm: each is trained by itself, on the same counts\n"
    )


def test_a_folder_that_is_missing_is_named(folder):
    result = call("train", "in.txt", "-s", "260,270", "-o", "no{size}/x.json", cwd=folder)
    assert result.err.startswith("error: cannot write no260/x.json: no such folder")
    assert call("train", "in.txt", "-s", "256,257", "-a", "byte", "-o", "x-{size}.json", cwd=folder).status == 2
    assert [each.name for each in folder.iterdir()] == ["in.txt"]


def test_a_single_size_may_stand_in_the_name(folder):
    assert call("train", "in.txt", "-s", "260", "-o", "x-{size}.json", "-q", cwd=folder).status == 0
    assert (folder / "x-260.json").exists()


NAMED = "put {size} where the size should be in the name: tokenizer-{size}.json"


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("-s 260,270 -o x.json", "2 sizes need a file each, and -o is one", NAMED),
        ("-s 260,270", "2 sizes need a file each, and -o is one", NAMED),
        (
            "-s 260,270 --steps",
            "--steps shows the training of one size, and there are several",
            "leave --steps out",
        ),
        (
            "-s 260,260 -o x-{size}.json",
            "--vocab-size 260,260 names a size twice",
            "leave one of them out",
        ),
        (
            "-s 260,27k -o x-{size}.json",
            "--vocab-size 260,27k is neither a whole number above 0 nor several separated by commas",
            "for example: -s 32000, or -s 8000,16000,32000",
        ),
        (
            "-s 200,300 -o x-{size}.json",
            "a vocabulary of 200 is smaller than its initial tokens: 256 bytes",
            "ask for 256 or more, or for --initial-alphabet seen",
        ),
    ],
)  # fmt: skip
def test_refusals(words, message, hint, folder):
    assert call("train", "in.txt", *words.split(), cwd=folder) == (2, b"", error(message, hint))
    assert [each.name for each in folder.iterdir()] == ["in.txt"]


def test_a_project_may_set_a_size(folder):
    (folder / "pyproject.toml").write_text("[tool.bpe_cli.train]\nvocab-size = 260\n")
    result = call("train", "in.txt", "-o", "x-{size}.json", cwd=folder)
    assert result.status == 0
    assert (folder / "x-260.json").exists()
    (folder / "pyproject.toml").write_text("[tool.bpe_cli.train]\nvocab-size = '260,261'\n")
    assert call("train", "in.txt", "-o", "x-{size}.json", "-q", cwd=folder).status == 0
    assert (folder / "x-261.json").exists()
    (folder / "pyproject.toml").write_text("[tool.bpe_cli.train]\nvocab-size = 0\n")
    assert "vocab-size: 0 is not at least 1" in call("train", "in.txt", "-o", "x.json", cwd=folder).err
