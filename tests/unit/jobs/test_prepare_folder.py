"""A folder with files that belong to no part, or with a plan or records that make no sense, is refused or put right."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bpe_cli.corpus import Source
from bpe_cli.errors import CheckFailed, InputError, UsageError
from bpe_cli.jobs.parts import Share
from bpe_cli.jobs.prepare import PrepareOptions, check, check_deep, finish, prepare
from tests.unit.jobs.test_prepare_changed import Notes

OPTIONS = PrepareOptions(to="megatron", eot="auto", part_bytes=300)


@pytest.fixture
def corpus(tmp_path: Path) -> Source:
    (tmp_path / "in").mkdir()
    lines = [json.dumps({"text": f"document {number} " + "naïve 日本\n" * (number % 5)}) for number in range(40)]
    (tmp_path / "in/a.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Source((str(tmp_path / "in"),), documents="jsonl")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# -- files of no part ------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", ["bin", "npy", "parquet"])
@pytest.mark.parametrize("val", [None, 0.3])
def test_parts_that_lost_their_records_leave_no_file_behind(
    to: str, val: float | None, corpus: Source, tmp_path: Path
) -> None:
    """Neither beyond the last part nor before, in this format or another; and nothing else is removed."""
    folder = tmp_path / "out"
    before = PrepareOptions(to="bin", part_bytes=300, val=val, length=16, columns=("spans",), on_error="quarantine")
    prepare(corpus, "gpt2", before, folder=folder, processes=1)
    for path in folder.glob("part-*.json"):
        path.unlink()
    (folder / "part-00001.quarantine.jsonl").write_text("")
    names = ("notes.txt", "part-00001.notes", "part-1.bin", "part-000001.bin", "part-00001.bin.old", "xpart-00001.bin")
    mine = dict.fromkeys((*names, "part-00001.json.bin", "other/part-00001.bin"), b"mine")
    (folder / "other").mkdir()
    (folder / "part-00099.npy").mkdir()
    for name, data in mine.items():
        (folder / name).write_bytes(data)
    after = PrepareOptions(to=to, part_bytes=2000)
    prepare(corpus, "gpt2", after, folder=folder, processes=1, overwrite=True)
    prepare(corpus, "gpt2", after, folder=tmp_path / "fresh", processes=1)
    assert contents(folder) == contents(tmp_path / "fresh") | mine
    assert check(folder).is_whole


def test_files_of_parts_that_no_record_names_are_damage(corpus: Source, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    whole = contents(folder)
    for name in ("part-00000.npy", "part-00099.bin", "part-100000.tar", "part-00001.quarantine.jsonl"):
        (folder / name).write_bytes(b"stray")
        with pytest.raises(CheckFailed, match=rf"out: {name} does not belong to these parts$") as caught:
            check(folder)
        assert caught.value.hint == "`overwrite` removes files of parts that no record names"
        # A share removes what is of its own parts, or of none.
        prepare(corpus, "gpt2", OPTIONS, folder=folder, share=Share(2, 2), processes=1, overwrite=True)
        assert (folder / name).exists() == (name == "part-00000.npy")
        prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1, overwrite=True)
        assert contents(folder) == whole


def test_files_of_somebody_else_are_not_removed(corpus: Source, tmp_path: Path) -> None:
    """In a folder without a plan, what is called like a part may be anybody's."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "part-00099.parquet").write_bytes(b"mine")
    prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1, overwrite=True)
    assert (folder / "part-00099.parquet").read_bytes() == b"mine"
    with pytest.raises(CheckFailed, match=r"part-00099\.parquet does not belong to these parts"):
        check(folder)


# -- bytes that changed ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shuffle", [None, "documents"])
def test_a_damaged_part_of_the_right_size_is_made_again(shuffle: Any, corpus: Source, tmp_path: Path) -> None:
    """Its size says nothing: only its hash does, which ``check`` and ``overwrite`` compare."""
    folder, options, listener = tmp_path / "out", replace(OPTIONS, shuffle=shuffle), Notes()
    prepare(corpus, "gpt2", options, folder=folder, processes=1)
    whole = contents(folder)
    path = folder / "part-00001.bin"
    path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:])
    with pytest.raises(CheckFailed, match=r"part-00001\.bin does not match its record") as caught:
        check(folder)
    assert caught.value.hint == "prepare it again: that makes missing parts, and with `overwrite` damaged ones too"
    # A share reads the files of its own parts.
    done = prepare(
        corpus, "gpt2", options, folder=folder, share=Share(1, 2), processes=1, overwrite=True, listener=listener
    )
    assert (done.made, listener.notes) == (0, [])
    done = prepare(corpus, "gpt2", options, folder=folder, processes=1, overwrite=True, listener=listener)
    assert (done.made, done.kept) == (1, done.parts - 1)
    assert listener.notes == ["part-00001.bin does not match the record: 1 part is made again"]
    assert contents(folder) == whole


def test_the_way_out_of_a_missing_part_is_said(corpus: Source, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    (folder / "part-00000.json").unlink()
    (folder / "part-00001.json").write_text("{")
    for verify in (check, finish):
        with pytest.raises(CheckFailed, match=r"part-00000 is missing; the record of part-00001 is damaged$") as caught:
            verify(folder)
        assert caught.value.hint == "prepare it again: that makes missing parts, and with `overwrite` damaged ones too"


# -- plans and records -----------------------------------------------------------------------------------


def rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads(path.read_bytes())
    change(content)
    path.write_text(json.dumps(content))


def test_the_inputs_of_a_plan_may_make_no_sense(corpus: Source, tmp_path: Path) -> None:
    """The message names what differs, as far as the plan says it."""
    folder = tmp_path / "out"
    prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    name = str(tmp_path / "in/a.jsonl")
    rewritten(folder / "plan.json", lambda plan: plan.update(parts=[[1, {}], [{"path": name, "bytes": "?"}]]))
    with pytest.raises(UsageError, match=r"of other inputs: None is missing; \S*a\.jsonl has [0-9,]+ bytes$"):
        prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)


@pytest.mark.parametrize(
    "changes", [{"format": []}, {"format": "mds", "columns": ["zzz"]}, {"columns": "spans"}, {"dtype": None}]
)
def test_a_plan_whose_settings_make_no_sense_is_refused(
    changes: dict[str, Any], corpus: Source, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    whole = contents(folder)
    rewritten(folder / "plan.json", lambda content: content["settings"].update(changes))
    for job in (check, finish):
        with pytest.raises(InputError, match=r"plan\.json is not the plan of a data set of this version"):
            job(folder)
    with pytest.raises(InputError, match=r"plan\.json is not the plan"):
        prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1, overwrite=True)
    assert contents(folder) == whole


@pytest.mark.parametrize("to", ["litdata", "mds", "datasets"])
@pytest.mark.parametrize("damage", ["files", "name", "sides", "dtype"])
def test_a_record_that_no_index_can_be_made_of_is_damaged(damage: str, to: str, corpus: Source, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    options = PrepareOptions(to=to, part_bytes=900, val=0.3)
    prepare(corpus, "gpt2", options, folder=folder, processes=1)
    whole = contents(folder)

    def change(record: dict[str, Any]) -> None:
        if damage == "files":
            record["files"] = []
        elif damage == "name":
            record["files"][0] = record["files"][1]
        elif damage == "sides":
            del record["sides"]
        else:
            record["dtype"] = "u64"

    rewritten(folder / "part-00000.json", change)
    for job in (check, finish):
        with pytest.raises(CheckFailed, match="the record of part-00000 is damaged"):
            job(folder)
    with pytest.raises(UsageError, match="part-00000: its record is damaged") as caught:
        prepare(corpus, "gpt2", options, folder=folder, processes=1)
    assert caught.value.hint == "`overwrite` makes them again"
    prepare(corpus, "gpt2", options, folder=folder, processes=1, overwrite=True)
    assert contents(folder) == whole


def test_a_first_pass_without_the_numbers_of_both_sets_is_done_again(corpus: Source, tmp_path: Path) -> None:
    options = replace(OPTIONS, val=0.3, shuffle="sequences", length=16)
    whole, folder = tmp_path / "whole", tmp_path / "out"
    prepare(corpus, "gpt2", options, folder=whole, processes=1)
    prepare(corpus, "gpt2", options, folder=folder, processes=1, share=Share(1, 2))
    rewritten(folder / "shuffle/part-00000.json", lambda record: record.pop("sides"))
    prepare(corpus, "gpt2", options, folder=folder, processes=1)
    assert contents(folder) == contents(whole)


def test_the_order_of_special_tokens_changes_nothing(corpus: Source, tmp_path: Path) -> None:
    """They may come in a set."""
    folder, names = tmp_path / "out", ("<|fim_prefix|>", "<|endoftext|>", "<|fim_suffix|>")
    options = replace(OPTIONS, specials=names, eot="<|endoftext|>")
    other = replace(options, specials=(*names[::-1], names[0]))
    parts = prepare(corpus, "cl100k_base", options, folder=folder, processes=1).parts
    assert check_deep(corpus, "cl100k_base", other, folder=folder).parts == parts
    assert prepare(corpus, "cl100k_base", other, folder=folder, processes=1).made == 0
    assert json.loads((folder / "plan.json").read_bytes())["settings"]["specials"] == sorted(names)
    with pytest.raises(UsageError, match="was made with other settings: specials"):
        prepare(corpus, "cl100k_base", replace(other, specials=names[:2]), folder=folder, processes=1)
