"""An option that would do nothing is refused, and the message names it."""

from __future__ import annotations

import pytest

from tests.cli_runner import call, error

NO_TEXT = "needs a text, and none is given"
NO_FIELD = error(
    "--field names a field of JSON or a column of a table, and there are none",
    "--jsonl reads each line as a JSON object",
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.txt").write_text("hello world\n")
    (tmp_path / "in.jsonl").write_text('{"body": "hello"}\n')
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs" / "a.json").write_text("[1]")
    (tmp_path / "pairs" / "a.yaml").write_text("- 1\n")
    return tmp_path


@pytest.mark.parametrize("option", ["--lines", "--jsonl", "--field body", "--special all"])
def test_a_tokenizer_has_no_documents(option):
    name = option.split()[0]
    assert call("inspect", "gpt2", *option.split()) == (2, b"", error(f"{name} {NO_TEXT}", "give one with -T TEXT"))


@pytest.mark.parametrize(
    "words",
    [
        "encode in.txt",
        "inspect in.txt -t gpt2",
        "compare in.txt",
        "train in.txt -s 256",
        "inspect t.json --corpus in.txt",
        "convert t.json --extend in.txt -s 258 -o x.json",
    ],
)
def test_a_field_is_for_what_has_fields(words, folder):
    assert call("train", "-T", "hello", "-s", "257", "-q", "-o", "t.json", cwd=folder).status == 0
    assert call(*words.split(), "--field", "body", cwd=folder) == (2, b"", NO_FIELD)
    command = words.replace("in.txt", "in.jsonl").split()
    assert call(*command, "--field", "body", "--jsonl", cwd=folder).status == 0


def test_a_limit_of_differences_is_for_differences(folder):
    assert call("compare", "in.txt", "--diff-limit", "3", cwd=folder) == (2, b"", error("--diff-limit is for --diff"))
    two = ("compare", "in.txt", "-t", "gpt2", "-t", "o200k_base", "--diff", "--json")
    assert call(*two, "--diff-limit", "3", cwd=folder).status == 0


@pytest.mark.parametrize("option", ["--pivot en", "--diff-limit 3"])
def test_ids_are_compared_without_the_rest(option):
    told = error(f"--ids and {option.split()[0]} are different comparisons", "ask for one at a time")
    assert call("compare", "-t", "gpt2", "-t", "gpt2", "--ids", *option.split()) == (2, b"", told)


@pytest.mark.parametrize("option", ["--pairs pairs", "--parallel en=in.txt", "--probe numbers", "--overlap", "--diff"])
def test_csv_names_what_it_has_no_place_for(option, folder):
    message = f"--csv holds measurements of inputs only, not {option.split()[0]}"
    assert call("compare", "in.txt", "--csv", *option.split(), cwd=folder) == (
        2, b"", error(message, "--json holds both"),
    )  # fmt: skip


def test_stages_beside_others():
    text = ("inspect", "-T", "hi", "-t", "gpt2", "--stages")
    assert call(*text, "--table") == (
        2, b"", error("--stages and --table are different views of a text", "ask for one at a time"),
    )  # fmt: skip
    assert call(*text, "--ids", "--spans").status == 0
    assert call(*text, "--json").status == 0


@pytest.mark.parametrize("word", ["--check", "--finish"])
@pytest.mark.parametrize(
    "words", ["-t nosuch", "--to arrow", "--val 0.1", "--overwrite", "--pack 8", "--chat", "--part 1/2", "--dry-run",
              "--part-size 9", "--engine ray", "--on-error skip", "--lines", "--field body", "--bos x"]
)  # fmt: skip
def test_what_is_there_is_checked_whatever_it_was_made_of(word, words):
    name = {"-t": "--tokenizer"}.get(words.split()[0], words.split()[0])
    message = f"{word} looks at what is in the folder of a data set: {name} would do nothing"
    assert call("prepare", word, "d1", *words.split()) == (2, b"", error(message, "leave it out"))


def test_a_data_set_is_checked_in_a_project(folder):
    """Defaults of a project's file are no wishes, and the number of threads may come from the environment."""
    (folder / "pyproject.toml").write_text('[tool.bpe_cli]\neot = "auto"\nlines = true\ntokenizer = "gpt2"\n')
    assert call("prepare", "in.txt", "-o", "d1", cwd=folder).status == 0
    for word in ("--check", "--finish"):
        assert call("prepare", word, "d1", "-j", "1", "--progress", "plain", cwd=folder).status == 0
    refused = call("prepare", "--check", "d1", "--lines", "--bos", "x", "--seed", "1", cwd=folder)
    assert "--bos, --seed would do nothing\n\nhint: leave them out" in refused.err


@pytest.mark.parametrize("words", ["--overwrite", "--part 1/2", "--dry-run", "--engine ray"])
def test_a_deep_check_makes_no_data_set(words, folder):
    made = ("prepare", "in.txt", "-t", "gpt2", "-o", "d1")
    message = f"--check --deep makes no data set: {words.split()[0]} would do nothing"
    assert call(*made, "--check", "--deep", "1", *words.split(), cwd=folder) == (2, b"", error(message, "leave it out"))


def test_a_seed_is_for_what_is_drawn():
    for more in ((), ("--to", "segmented"), ("--to", "text", "--truncate", "1")):
        assert call("encode", "-T", "x", "-t", "gpt2", "--seed", "0", *more) == (
            2, b"", error("--seed needs --dropout or --sample", "for example: --dropout 0.1 --seed 7"),
        )  # fmt: skip
    assert call("encode", "-T", "x", "-t", "gpt2", "--seed", "0", "--dropout", "0.1").status == 0


@pytest.mark.parametrize("option", ["--lines", "--jsonl", "--plain", "--field zz", "--member q"])
def test_counts_have_no_documents(option, folder):
    assert call("train", "in.txt", "--counts-out", "z.counts", "-q", cwd=folder).status == 0
    assert call("train", "in.txt", "--counts-dir", "z", "-q", cwd=folder).status == 0
    made = ("train", "-s", "258", "-o", "t.json", *option.split())
    says = f"{option.split()[0]} says how texts are read, and "
    assert call(*made, "--from-counts", "z.counts", cwd=folder) == (
        2, b"", error(f"{says}counts are read", "leave it out"),
    )  # fmt: skip
    assert call(*made, "--counts-dir", "z", cwd=folder) == (
        2, b"", error(f"{says}the counts are in the folder", "leave it out"),
    )  # fmt: skip


def test_texts_beside_counts_have_documents(folder):
    assert call("train", "in.txt", "--counts-out", "z.counts", "-q", cwd=folder).status == 0
    measured = ("train", "-s", "258", "-o", "t.json", "--from-counts", "z.counts", "--valid", "in.txt", "--lines")
    assert call(*measured, cwd=folder).status == 0


def test_only_numbers_have_a_width(folder):
    assert call("encode", "in.txt", "-o", "x.ids", "-q", "-t", "gpt2", cwd=folder).status == 0
    message = "x.ids is read as ids, and --dtype is for bin"
    decode = ("decode", "x.ids", "--dtype", "u16", "-t", "gpt2")
    assert call(*decode, cwd=folder) == (2, b"", error(message, "--from bin reads it as that"))
    hint = "leave --dtype out, or decode bin files by themselves"
    assert call(*decode, "--from", "ids", cwd=folder) == (2, b"", error(message, hint))


@pytest.mark.parametrize("command", ["encode --chat", "prepare -o out --chat --date 2025-01-01", "inspect --chat"])
def test_members_are_of_archives(command, folder):
    (folder / "talk.json").write_text('[{"role": "user", "content": "hi"}]')
    result = call(*command.split(), "talk.json", "-t", "gpt-4", "--member", "json", cwd=folder)
    assert result == (2, b"", error("--member names the texts in tar archives, and there are none"))
