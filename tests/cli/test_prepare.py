"""``bpe prepare``: parts, shares, checks; and a run that is killed, or has no room left, at every step of writing."""

from __future__ import annotations

import json
import os
import shutil

import pytest

import bpe_cli
from tests.cli.test_killed_between import MOST_STEPS, NO_SUCH_STEP, interrupted
from tests.cli_runner import call, error
from tests.needs import needs
from tests.thorough import more

TEXTS = [f"document {number} " + "naïve 日本\n" * (number % 4) for number in range(30)]
TOKENS = sum(len(bpe_cli.load("gpt2").encode(text)) + 1 for text in TEXTS)
ONE = ("-t", "gpt2", "--jsonl", "--eot", "auto", "--to", "megatron", "-j", "1")


@pytest.fixture
def folder(tmp_path):
    """Make a folder with JSON lines in two files."""
    for name, texts in (("a", TEXTS[:20]), ("b", TEXTS[20:])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return tmp_path


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_data_set_is_made_once_and_checked(folder):
    made = call("prepare", "a.jsonl", "b.jsonl", *ONE, "-o", "out", cwd=folder)
    assert (made.status, made.out) == (0, b"")
    assert made.err.endswith(f"1 part, 30 documents, {TOKENS} tokens (with those of --eot) -> out\n")
    again = call("prepare", "a.jsonl", "b.jsonl", *ONE, "-o", "out", cwd=folder)
    assert again.err.endswith(f"1 part (0 new), 30 documents, {TOKENS} tokens (with those of --eot) -> out\n")
    checked = call("prepare", "--check", "out", cwd=folder)
    assert (checked.status, checked.err) == (0, f"out is complete: 1 part, 30 documents, {TOKENS} tokens\n")
    (folder / "out/part-00000.idx").write_bytes(b"")
    broken = call("prepare", "--check", "out", cwd=folder)
    assert (broken.status, "part-00000.idx has 0 bytes in place of" in broken.err) == (1, True)


def test_the_folder_may_lie_within_an_input(folder):
    """Of the input the rest is read, by the second run too."""
    said = "note: ./out skipped: the output goes there\n"
    made = [
        call("prepare", ".", *ONE, "--part-size", "700", "-o", "out", "--part", f"{n}/2", cwd=folder) for n in (1, 2)
    ]
    assert [(each.status, said in each.err) for each in made] == [(0, False), (0, True)], made
    assert made[1].err.endswith(f"30 documents, {TOKENS} tokens (with those of --eot) -> out\n")
    for more_words in ((), ("--dry-run",), ("--check", "--deep", "all")):
        again = call("prepare", ".", *ONE, "--part-size", "700", "-o", "out/", *more_words, cwd=folder)
        assert (again.status, said in again.err) == (0, True), again
    (folder / "out/more.jsonl").write_text('{"text": "more"}\n')
    named = call("prepare", ".", "out/more.jsonl", *ONE, "-o", "out", cwd=folder)
    assert (named.status, "the input out/more.jsonl is in the folder of the data set" in named.err) == (2, True)
    (folder / "out/more.jsonl").unlink()
    assert call("prepare", "a.jsonl", "b.jsonl", *ONE, "--part-size", "700", "-o", "other", cwd=folder).status == 0
    assert sorted(contents(folder / "out")) == sorted(contents(folder / "other"))


@pytest.mark.parametrize(
    "words",
    [
        ("train", "texts", "-s", "260", "-o", "t.json", "--counts-dir", "texts/out"),
        ("compare", "texts", "-t", "gpt2", "--json", "--tallies-dir", "texts/out"),
    ],
    ids=lambda words: words[0],
)
def test_the_folder_of_counts_may_lie_within_an_input(words, tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts/a.txt").write_text("one two\n" * 20)
    first, second = call(*words, cwd=tmp_path), call(*words, cwd=tmp_path)
    assert (first.status, second.status, second.out) == (0, 0, first.out), second
    assert "note: texts/out skipped: the output goes there\n" in second.err


def test_what_is_checked_is_named_by_itself(folder):
    assert call("prepare", "a.jsonl", *ONE, "-o", "out", cwd=folder).status == 0
    done = call("prepare", "a.jsonl", *ONE, "-o", "out", "--check", cwd=folder)
    hint = "bpe prepare --check out; with --deep, the inputs and -o are named again"
    assert done == (2, b"", error("--check takes the folder of the data set itself, not -o", hint))
    done = call("prepare", "a.jsonl", *ONE, "-o", "out", "--finish", cwd=folder)
    assert done.err == error("--finish takes the folder of the data set itself, not -o", "bpe prepare --finish out")


@pytest.mark.parametrize(
    "words",
    [
        ("prepare", "a.jsonl", *ONE, "-o", "out"),
        ("train", "a.jsonl", "--jsonl", "-s", "260", "--counts-dir", "out"),
        ("compare", "a.jsonl", "--jsonl", "-t", "gpt2", "--tallies-dir", "out"),
    ],
    ids=lambda words: words[0],
)
def test_parts_that_no_record_can_hold_are_refused(words, folder):
    done = call(*words, "--part-size", "8796093022208", cwd=folder)
    assert done == (2, b"", error("--part-size must be 8,796,093,022,207 or less"))
    assert not (folder / "out").exists()
    assert call(*words, "--part-size", "8796093022207", "-q", cwd=folder).status == 0


def test_a_part_is_made_again_and_compared(folder):
    work = ("a.jsonl", "b.jsonl", *ONE, "-o", "out")
    call("prepare", *work, cwd=folder)
    done = call("prepare", *work, "--check", "--deep", "1", cwd=folder)
    assert (done.status, done.err.count("out is complete"), "made again, all identical" in done.err) == (0, 1, True)
    (folder / "a.jsonl").write_text((folder / "a.jsonl").read_text().replace("document", "Document"))
    done = call("prepare", *work, "--check", "--deep", "all", cwd=folder)
    assert (done.status, "part-00000 cannot be compared: a.jsonl changed since" in done.err) == (1, True)


def test_what_cannot_be_read_is_said_to_be_read(folder, monkeypatch):
    def fail(*_):
        raise OSError(5, "Input/output error")

    call("prepare", "a.jsonl", *ONE, "-o", "out", cwd=folder)
    with monkeypatch.context() as patched:
        patched.setattr("hashlib.file_digest", fail)
        done = call("prepare", "--check", "out", cwd=folder)
    assert done == (2, b"", error("cannot read out/part-00000.bin: input/output error"))
    with monkeypatch.context() as patched:
        patched.setattr("os.listdir", fail)
        done = call("prepare", "a.jsonl", *ONE, "-o", "out", cwd=folder)
    assert done == (2, b"", error("cannot read out: input/output error"))


def test_a_dry_run_makes_nothing(folder):
    done = call("prepare", "a.jsonl", "b.jsonl", *ONE, "-o", "out", "--dry-run", cwd=folder)
    size = sum((folder / name).stat().st_size for name in ("a.jsonl", "b.jsonl"))
    lines = f"part\tbytes\ttokens\tinputs\npart-00000\t{size}\t{TOKENS}\ta.jsonl\tb.jsonl\ntotal\t{size}\t{TOKENS}\n"
    assert (done.status, done.text) == (0, lines)
    assert f"note: 30 documents, {TOKENS} tokens\n" in done.err
    assert "all was counted" in done.err
    assert not (folder / "out").exists()


def test_a_share_without_parts_has_sequences_only_if_documents_are_packed(folder):
    share = ("prepare", "a.jsonl", "--jsonl", "-t", "gpt2", "--to", "npy", "--part", "2/2", "--part-size", "1000")
    assert call(*share, "-o", "plain", cwd=folder).err.startswith("0 of 1 part, 0 documents, 0 tokens -> plain")
    packed = call(*share, "-o", "packed", "--pack", "4", cwd=folder)
    assert packed.err.startswith("0 of 1 part, 0 documents, 0 sequences, 0 tokens -> packed")


def test_a_dry_run_of_a_share_has_its_parts(folder):
    words = ("prepare", "a.jsonl", *ONE, "-o", "out", "--part-size", "1", "--dry-run", "-q")
    (folder / "a.jsonl").write_text((folder / "a.jsonl").read_text() * 2000)
    parts = [line.split("\t") for line in call(*words, cwd=folder).text.splitlines()]
    assert len(parts) > 4
    shares = [
        [line.split("\t") for line in call(*words, "--part", f"{number}/2", cwd=folder).text.splitlines()]
        for number in (1, 2)
    ]
    for number, share in enumerate(shares):
        assert [each[0] for each in share[1:-1]] == [each[0] for each in parts[1 + number : -1 : 2]]
    assert sum(int(share[-1][1]) for share in shares) == int(parts[-1][1])
    none = call(*words, "--part", "99/99", cwd=folder)
    assert (none.status, none.text) == (0, "part\tbytes\ttokens\tinputs\ntotal\t0\t0\n")


def test_machines_follow_it_as_json(folder):
    done = call("prepare", "a.jsonl", "b.jsonl", *ONE, "-o", "out", "--progress", "json", cwd=folder)
    lines = [json.loads(line) for line in done.err.splitlines()]
    assert [line["event"] for line in lines] == ["plan", "part", "end"]
    assert {line["schema"] for line in lines} == {"bpe-progress/1"}
    assert (lines[0]["parts"], lines[0]["to_do"], lines[0]["kept"]) == (1, 1, 0)
    assert (lines[1]["part"], lines[1]["documents"], lines[1]["tokens"]) == (0, 30, TOKENS)
    assert lines[1]["files"] == ["part-00000.bin", "part-00000.idx"]
    assert (lines[2]["is_whole"], lines[2]["tokens"], lines[2]["folder"]) == (True, TOKENS, "out")
    checked = call("prepare", "--check", "out", "--progress", "json", cwd=folder)
    assert (checked.status, checked.err) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.jsonl", *ONE), "there is no folder for the data set"),
        (("a.jsonl", *ONE, "-o", "-"), "parts are written into a folder, and not to stdout"),
        ((*ONE, "-o", "out"), "stdin cannot be divided"),
        (("a.jsonl", *ONE, "-o", "out", "--part", "3"), "--part '3' is not K/N"),
        (("a.jsonl", *ONE, "-o", "out", "--part", "3/2"), "there is no part 3 of 2"),
        (("a.jsonl", *ONE, "-o", "out", "--split"), "--split needs --max-length"),
        (("a.jsonl", *ONE, "-o", "out", "--fit", "best-fit"), "--fit needs --pack"),
        (("a.jsonl", *ONE, "-o", "out", "--pack", "8", "--max-length", "8"), "cannot be used together"),
        (("a.jsonl", *ONE, "-o", "out", "--pad", "0"), "--pad fills sequences"),
        (("a.jsonl", *ONE, "-o", "out", "--pack", "8", "--pad", "auto"), "nothing in this tokenizer says"),
        (("a.jsonl", *ONE[2:], "-o", "out", "--dtype", "u16", "-t", "gpt-4"), "u16 cannot hold"),
        (("a.jsonl", *ONE, "-o", "out", "--seed", "3"), "--seed needs --shuffle"),
        (("a.jsonl", *ONE, "-o", "out", "--shuffle", "sequences"), "there are no sequences to shuffle"),
        (("a.jsonl", *ONE, "-o", "out", "--positions", "sequence"), "--positions needs --columns position_ids"),
        (("a.jsonl", *ONE, "-o", "out", "--mask", "assistant"), "--mask is for conversations"),
        (("a.jsonl", *ONE, "-o", "out", "--date", "2025-01-01"), "are for conversations only"),
        (("a.jsonl", *ONE, "-o", "out", "--columns", "spans"), "spans are the documents in sequences"),
        (("a.jsonl", *ONE, "-o", "out", "--val", "1.5"), "--val must be a share between 0 and 1"),
        (("a.jsonl", *ONE, "-o", "out", "--keep", "id"), "the format megatron has no columns"),
        (("a.jsonl", *ONE, "-o", "out", "--to", "arrow", "--pack", "8", "--keep", "id"), "--keep puts one value"),
        (("a.jsonl", *ONE, "-o", "out", "--to", "arrow", "--keep", "id,id"), "--keep names 'id' twice"),
        (("a.jsonl", *ONE, "-o", "out", "--member", "txt"), "--member names the texts in tar archives, and there are"),
        (("@b", *ONE, "-o", "out"), "cannot read b: no such file"),
        (("--check", "nowhere"), "there is no data set in nowhere"),
        (("--check",), "--check takes the folder"),
        (("a.jsonl", *ONE, "-o", "out", "--deep", "1"), "--deep needs --check"),
        (("a.jsonl", *ONE, "-o", "out", "--check", "--deep", "0"), "--deep '0' is not a number of parts"),
        (("a.jsonl", *ONE, "--check", "--deep", "1"), "there is no folder for the data set"),
        (("a.jsonl", *ONE, "-o", "out", "--check", "--deep", "1"), "there is no data set in out"),
        (("a.jsonl", *ONE, "-o", "out", "-q", "--progress", "json"), "--quiet and --progress cannot be used together"),
        (("--check", "--finish", "out"), "cannot be used together"),
        (("a.jsonl", "-t", "gpt2", "-o", "out"), "holds JSON lines"),
    ],
)
def test_wrong_lines_say_what_is_wrong(folder, arguments, message):
    done = call("prepare", *arguments, cwd=folder)
    assert (done.status, message in error(done)) == (2, True), done.err
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    "line", [("prepare", "none", *ONE, "-o", "out"), ("train", "none", "-s", "300", "--counts-dir", "counts")]
)
def test_no_hint_names_an_option_that_the_command_does_not_take(folder, line):
    """Neither takes a text for its parts."""
    assert call(*line, cwd=folder) == (2, b"", "error: cannot read none: no such file\n")


@pytest.mark.parametrize(("how", "to"), [("kill", "mds"), ("no room", "mds"), ("kill", "datasets")])
def test_a_shuffle_that_ends_at_any_step_is_gone_on_with(folder, how, to):
    """In the first pass, between the two, in the second, and while the first one's files are removed."""
    lines = (*ONE, "--to", to, "--shuffle", "documents", "--val", "0.4")
    if to == "datasets":  # values that are kept, and broken rows, lie between the two as well
        needs("pyarrow")
        lines = (*lines, "--keep", "text", "--on-error", "quarantine")
        with open(folder / "b.jsonl", "a") as file:
            file.write("broken\n")
    work = ("prepare", "a.jsonl", "b.jsonl", *lines, "-o", "out")
    assert call(*work, cwd=folder).status == 0
    whole = contents(folder / "out")
    indexes = {"train/index.json", "val/index.json"} if to == "mds" else {"part-00000.quarantine.jsonl"}
    assert {*indexes, "manifest.json"} <= whole.keys()
    between = 0
    # Where one is killed and where it has no room take turns, but for a hunt.
    every = range(more(1 + (how == "no room"), 1), MOST_STEPS, more(2, 1))
    for at in every if to == "mds" else range(1, 2 * MOST_STEPS, more(9, 3)):
        shutil.rmtree(folder / "out")
        status = interrupted(folder, at, how, *work)
        if (folder / "out").exists() and call("prepare", "--check", "out", cwd=folder).status == 0:
            assert {name: data for name, data in contents(folder / "out").items() if "shuffle" not in name} == whole
        between += (folder / "out/shuffle/part-00000.json").exists()
        assert call(*work, cwd=folder).status == 0
        assert contents(folder / "out") == whole
        if status == NO_SUCH_STEP:
            break
    else:
        pytest.fail("more steps than are tried")
    assert between > 3


HOWS, BEFORE, TO = ("kill", "kill after", "no room"), ("nothing", "older"), ("megatron", "mds", "bin")
"""Of the formats, the second has an index of all parts, and the third one file more."""

ENDS = [
    (how, before, to)
    for number, how in enumerate(HOWS)
    for place, before in enumerate(BEFORE)
    for other, to in enumerate(TO)
    if more((number + place + other) % 2 == 0, True)
]
"""Half of all, each two of them together, but for a hunt."""


@pytest.mark.parametrize(("how", "before", "to"), ENDS)
def test_a_run_that_ends_at_any_step_is_gone_on_with(folder, how, before, to):
    """What is taken for whole is whole; and going on gives the same bytes as one undisturbed run."""
    work = ("prepare", "a.jsonl", "b.jsonl", *ONE, "--to", to, "-o", "out", "--pack", "16", "--overwrite")
    if to == "bin":
        work = (*work, "--on-error", "quarantine")
        with open(folder / "b.jsonl", "a") as file:
            file.write("broken\n")
    assert call(*work, cwd=folder).status == 0
    whole = contents(folder / "out")
    seen = set()
    # With an older set there and without, the steps take turns, but for a hunt.
    for at in range(more(1 + (before == "older"), 1), MOST_STEPS, more(2, 1)):
        shutil.rmtree(folder / "out")
        if before == "older":
            call("prepare", "a.jsonl", *ONE, "--to", to, "-o", "out", cwd=folder)
        status = interrupted(folder, at, how, *work)
        if (folder / "out").exists() and call("prepare", "--check", "out", cwd=folder).status == 0:
            there = contents(folder / "out")
            seen.add("new" if there == whole else "old")
            assert there == whole or before == "older"
        else:
            seen.add("none")
        assert call(*work, cwd=folder).status == 0
        assert contents(folder / "out") == whole
        if status == NO_SUCH_STEP:
            break
    else:
        pytest.fail(f"more than {MOST_STEPS} steps")
    assert {"none", "new"} <= seen


def test_broken_rows_are_told_of(folder):
    with open(folder / "b.jsonl", "a") as file:
        file.write('broken\n{"text": 5}\n{"text": "\\ud800"}\n')
    work = ("prepare", "a.jsonl", "b.jsonl", *ONE)
    assert "b.jsonl:11:1: invalid JSON" in error(call(*work, "-o", "no", cwd=folder))
    counted = f"1 part, 30 documents, {TOKENS} tokens"
    left = "note: 3 broken rows left out: 2 json, 1 type"
    skipped = call(*work, "-o", "out", "--on-error", "skip", cwd=folder)
    assert (skipped.status, skipped.err) == (0, f"{counted} (with those of --eot) -> out\n{left}\n")
    kept = call(*work, "-o", "kept", "--on-error", "quarantine", cwd=folder)
    assert kept.err == f"{counted} (with those of --eot) -> kept\n{left}; see kept/part-*.quarantine.jsonl\n"
    checked = call("prepare", "--check", "kept", cwd=folder)
    assert checked.err == f"kept is complete: {counted}\n{left}; see kept/part-*.quarantine.jsonl\n"
    rows = [json.loads(line) for line in (folder / "kept/part-00000.quarantine.jsonl").read_bytes().splitlines()]
    assert [(row["line"], row["raw"]) for row in rows] == [
        (11, "broken"), (12, '{"text": 5}'), (13, '{"text": "\\ud800"}'),
    ]  # fmt: skip


def test_conversations_take_what_texts_take(folder):
    needs("pyarrow")
    talk = {"id": 7, "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}
    (folder / "talks.jsonl").write_text(f"{json.dumps(talk)}\n[5]\n")
    work = ("prepare", "talks.jsonl", "--jsonl", "--chat", "--mask", "assistant", "-t", "gpt-3.5-turbo", "-j", "1")
    assert "talks.jsonl:2: messages[0]" in error(call(*work, "-o", "no", cwd=folder)).replace("[0] ", "[0]")
    more = ("--to", "parquet", "--keep", "id:int64", "--on-error", "quarantine", "--shuffle", "documents", "-o", "out")
    done = call(*work, *more, cwd=folder)
    assert (done.status, done.err.splitlines()[1:]) == (
        0, ["note: 1 broken row left out: 1 conversation; see out/part-*.quarantine.jsonl"],
    )  # fmt: skip
    (row,) = bpe_cli.TokenDataset(folder / "out", fields=["id", "loss_mask"])
    assert (row["id"], row["loss_mask"].tolist()) == (7, [0] * 9 + [1, 1, 0])
    (line,) = (folder / "out/part-00000.quarantine.jsonl").read_bytes().splitlines()
    assert (json.loads(line)["line"], json.loads(line)["raw"]) == (2, "[5]")
    again = call(*work, *more, "--check", "--deep", "all", cwd=folder)
    assert (again.status, "made again, all identical" in again.err) == (0, True)


def test_a_field_that_nothing_has_is_told_of(folder):
    needs("pyarrow")
    done = call("prepare", "a.jsonl", *ONE, "--to", "arrow", "-o", "out", "--keep", "text,ulr", cwd=folder)
    assert done.err.endswith("note: no row has a value of ulr, which --keep names\n")


def test_blanks_behind_commas_belong_to_no_name(folder):
    needs("pyarrow")
    line = ("prepare", "a.jsonl", *ONE, "-q", "--to", "parquet", "--positions", "sequence")
    for at, comma in enumerate((",", ", ")):
        names = ("--keep", f"text{comma}id", "--columns", f"attention_mask{comma}position_ids")
        assert call(*line, *names, "-o", f"set-{at}", cwd=folder) == (0, b"", "")
    assert (folder / "set-1/manifest.json").read_bytes() == (folder / "set-0/manifest.json").read_bytes()


@pytest.mark.parametrize("to", ["megatron", "datatrove"])
def test_the_name_of_a_tokenizer_may_be_any_bytes(folder, to):
    """The plan shows it as messages do; progress for programs has the bytes of a folder's name."""
    odd, out = os.fsdecode(b"t\xff.bpe.json"), os.fsdecode(b"o\xff")
    trained = ("train", "-T", "low lower", "-s", "258", "--special", "<|endoftext|>", "-q", "-o", odd)
    assert call(*trained, cwd=folder).status == 0
    work = ("prepare", "a.jsonl", *ONE[2:], "-t", odd, "--to", to, "-o", out)
    done = call(*work, "--progress", "json", cwd=folder)
    assert done.status == 0, done.err
    first = json.loads(done.err.splitlines()[0])
    assert (first["event"], first["folder"]) == ("plan", {"bytes": b"o\xff".hex()})
    name = json.loads((folder / out / "plan.json").read_bytes())["settings"]["tokenizer"]["name"]
    assert name.isascii()
    assert r"t\xff.bpe.json" in name
    again = call(*work, cwd=folder)
    assert (again.status, "1 part (0 new)" in again.err) == (0, True)
    assert call("prepare", "--check", out, cwd=folder).status == 0


def test_an_input_whose_name_no_record_can_hold_is_refused(folder):
    odd = os.fsdecode(b"x\xff.jsonl")
    (folder / "a.jsonl").rename(folder / odd)
    done = call("prepare", odd, *ONE, "-o", "out", cwd=folder)
    assert (done.status, "is not UTF-8, and records cannot hold it\n\nhint: rename the file\n" in done.err) == (2, True)
    assert not (folder / "out").exists()


def test_a_shuffle_that_cannot_begin_leaves_the_data_set_as_it_is(folder):
    """Something else lies where its first pass would go: that is said before the plan and the manifest go."""
    made = ("prepare", "a.jsonl", *ONE, "-o", "out")
    assert call(*made, cwd=folder).status == 0
    (folder / "out/shuffle").mkdir()
    (folder / "out/shuffle/notes.txt").write_text("mine")
    before = contents(folder / "out")
    refused = call(*made, "--shuffle", "documents", "--overwrite", cwd=folder)
    assert (refused.status, "where something else is: notes.txt" in refused.err) == (2, True)
    assert contents(folder / "out") == before
    assert call("prepare", "--check", "out", cwd=folder).status == 0
