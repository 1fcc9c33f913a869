"""Make some parts of a data set again from their inputs, and compare them with what lies there.

Which parts is drawn by a fixed hash of the plan and the number of the part, so that nobody can know it by the data, and
the same parts are drawn again. They are made in a temporary folder, by the code that made them first, and must have the
same records: the same hashes of inputs and files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.jobs.prepare.folder import make_inner
from bpe_cli.jobs.prepare.making import run_part
from bpe_cli.jobs.prepare.part import PartJob
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import listed, show_path

if TYPE_CHECKING:
    from bpe_cli.jobs.parts import Part
    from bpe_cli.jobs.prepare.records import Plan, Record
    from bpe_cli.tokenizer import Tokenizer


def check_same_plan(folder: str, there: Plan, now: Plan) -> None:
    """Check that the inputs and options are those that a data set was made with.

    Raises:
        UsageError: if they are not; the message says which differ.
    """
    if other := sorted(key for key in there.settings.keys() | now.settings.keys()
                       if there.settings.get(key) != now.settings.get(key)):  # fmt: skip
        raise UsageError(
            f"the data set in {show_path(folder)} was made with other settings: {', '.join(other)}",
            hint="give the tokenizer and the options that it was made with",
        )
    if there.parts != now.parts:
        before, after = ({str(each["path"]): each.get("bytes") for part in plan.parts for each in part}
                         for plan in (there, now))  # fmt: skip
        changed = [f"{path} is missing" for path in before if path not in after]
        changed += [f"{path} is new" for path in after if path not in before]
        changed += [
            f"{path} has {after[path]:,} bytes in place of {before[path]:,}"
            for path in before
            if path in after and after[path] != before[path]
        ]
        versions, other_versions = ({str(each["path"]): each.get("version") for part in plan.parts for each in part}
                                    for plan in (there, now))  # fmt: skip
        changed += [
            f"{path} is another version of the object"
            for path in before
            if before[path] == after.get(path) and versions[path] != other_versions[path]
        ]
        what = listed(changed) if changed else "they come in another order"
        raise UsageError(
            f"the data set in {show_path(folder)} was made of other inputs: {what}",
            hint="give the inputs that it was made of, as they were",
        )


def drawn(parts: Sequence[Part], plan: Plan, count: int | None) -> list[Part]:
    """Return the parts that are made again; all if ``count`` is None."""
    if count is None or count >= len(parts):
        return list(parts)
    key = plan.fingerprint().encode()

    def place(part: Part) -> bytes:
        return blake2b(b"bpe deep %d" % part.number, key=key).digest()

    return sorted(sorted(parts, key=place)[:count], key=lambda part: part.number)


def differing(
    job: PartJob, model: Tokenizer, parts: Sequence[tuple[Part, Record]], threads: int, advance: Callable[[int], None]
) -> list[str]:
    """Make parts again, one after the other in a temporary folder; return what is not as their records say.

    Raises:
        InputError: if an input cannot be read any longer, or cannot be encoded.
        OutputError: if there is no room for a part.
    """
    wrong: list[str] = []
    for part, there in parts:
        with TemporaryDirectory(prefix="bpe-deep-") as folder:
            make_inner(folder, [name for name in job.options.sides if name])
            again = run_part(replace(job, folder=folder), part, model, threads, advance)
        wrong += _differences(part.name, there, again)
    return wrong


def _differences(name: str, there: Record, again: Record) -> list[str]:
    """Return what of a part is not as it was when it was made again."""
    changed = [
        str(before.get("path"))
        for before, after in zip(there.inputs, again.inputs, strict=True)
        if before.get("sha256") != after.get("sha256")
    ]
    if changed:
        return [f"{name} cannot be compared: {listed(changed)} changed since"]
    files = {file.name: file for file in again.all_files}
    other = [file.name for file in there.all_files if files.pop(file.name, None) != file] + sorted(files)
    if other:
        return [f"{each} is not what its inputs make" for each in other]
    return [] if there == again else [f"the record of {name} is not what its inputs make"]
