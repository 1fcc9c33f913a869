"""What a data set says about itself: its plan, a record beside each part, and the manifest, made of the records.

All are JSON, and depend on nothing but the inputs, the tokenizer and the options: no time, no machine, no number of
workers.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from bpe_cli.errors import InputError, OutputError
from bpe_cli.jobs.parts.folder import PLAN
from bpe_cli.jobs.prepare.sides import SIDES, PartFile, Side, SidePart, is_inside, is_number, sides_in
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.json_files import dumped, json_in, read_json
from bpe_cli.support.messages import cannot_read, reason_of, show_path

if TYPE_CHECKING:
    from typing import Self

    from bpe_cli.jobs.parts import Part

MANIFEST = "manifest.json"
_PLAN_SCHEMA, _PART_SCHEMA, _SCHEMA = "bpe-dataset-plan/1", "bpe-dataset-part/1", "bpe-dataset/1"


@dataclass(frozen=True, slots=True)
class Record:
    """The record of a part that is done.

    Attributes:
        part: The number of the part.
        plan: The fingerprint of the plan that it belongs to.
        documents: How many documents it has.
        tokens: How many ids, with what stands around documents.
        divided: How often the id that ends documents stands in them too.
        dtype: How an id is stored.
        inputs: What it was made of: path, size, extent, and the hash of what was read.
        files: Its files.
        sequences: How many sequences the documents became; None if they were left as they are.
        left_out: How many ids are in none, because documents were truncated.
        padding: The number of padding ids.
        sides: The numbers of the training set and of the validation set, if there are both.
        broken: How many rows of each kind of fault were left out; None if the first would have been an error.
        quarantine: The file that holds them; None if there is none.
        nulls: In how many rows each column that is kept is null; None if none is kept.
        all_inputs: Where documents come from all inputs, by a shuffle, the hash of their hashes: see
            ``hash_of_inputs``; None elsewhere.
    """

    part: int
    plan: str
    documents: int
    tokens: int
    divided: int
    dtype: str
    inputs: list[dict[str, Any]]
    files: tuple[PartFile, ...]
    sequences: int | None = None
    left_out: int = 0
    padding: int = 0
    sides: tuple[Side, ...] = ()
    broken: dict[str, int] | None = None
    quarantine: PartFile | None = None
    nulls: dict[str, int] | None = None
    all_inputs: str | None = None

    @classmethod
    def of_sides(
        cls, part: int, plan: str, dtype: str, inputs: list[dict[str, Any]], files: tuple[PartFile, ...],
        sides: Sequence[Side],
    ) -> Self:  # fmt: skip
        """Make the record of a part of what each of its sets has."""
        rows = [side.sequences for side in sides if side.sequences is not None]
        return cls(
            part, plan, sum(side.documents for side in sides), sum(side.tokens for side in sides),
            sum(side.divided for side in sides), dtype, inputs, files, sum(rows) if rows else None,
            sum(side.left_out for side in sides), sum(side.padding for side in sides),
            tuple(side for side in sides if side.name),
        )  # fmt: skip

    def side(self, name: str) -> SidePart:
        """Return what the index of one of two sets needs."""
        numbers = next(side for side in self.sides if side.name == name)
        files = tuple(
            PartFile(file.name.removeprefix(f"{name}/"), file.size, file.sha256)
            for file in self.files
            if file.name.startswith(f"{name}/")
        )
        rows = numbers.documents if numbers.sequences is None else numbers.sequences
        return SidePart(rows, numbers.tokens, self.dtype, files)

    def only(self, name: str) -> Record:
        """Return the record of one of two sets: its numbers, and its files where they lie."""
        side = next(side for side in self.sides if side.name == name)
        files = tuple(file for file in self.files if file.name.startswith(f"{name}/"))
        numbers = side.documents, side.tokens, side.divided
        return Record(
            self.part, self.plan, *numbers, self.dtype, self.inputs, files, side.sequences, side.left_out, side.padding
        )

    @property
    def all_files(self) -> tuple[PartFile, ...]:
        """Its files, and the one that holds broken rows."""
        return self.files if self.quarantine is None else (*self.files, self.quarantine)

    @property
    def rows(self) -> int:
        """How many rows its files have: sequences, or else documents."""
        return self.documents if self.sequences is None else self.sequences

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        sides = {"sides": {side.name: side.to_json() for side in self.sides}} if self.sides else {}
        return (
            sides
            | {
                "schema": _PART_SCHEMA,
                "part": self.part,
                "plan": self.plan,
                "documents": self.documents,
                "tokens": self.tokens,
                "divided": self.divided,
                "sequences": self.sequences,
                "left_out": self.left_out,
                "padding": self.padding,
                "dtype": self.dtype,
                "inputs": self.inputs,
                "files": [each.to_json() for each in self.files],
            }
            | self._optional()
        )

    def _optional(self) -> dict[str, Any]:
        optional = {"broken": self.broken, "nulls": self.nulls, "all_inputs": self.all_inputs}
        described = {key: value for key, value in optional.items() if value is not None}
        return described if self.quarantine is None else described | {"quarantine": self.quarantine.to_json()}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done, as it lies in the folder.

    Attributes:
        settings: The options that change what is written, and the tokenizer.
        parts: The inputs of each part.
    """

    settings: dict[str, Any]
    parts: list[list[dict[str, Any]]]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"schema": _PLAN_SCHEMA, "settings": self.settings, "parts": self.parts}

    def fingerprint(self) -> str:
        """Return the hash of its settings: parts that were made by other ones do not belong to it.

        Where documents change places between parts, each part depends on all inputs: then they are hashed too. What
        becomes of broken rows is not, since it makes no difference to a part that has none.
        """
        settings = {key: value for key, value in self.settings.items() if key != "on_error"}
        depends_on = self.to_json() | {"settings": settings} if "shuffle" in settings else settings
        return hashlib.sha256(dumped(depends_on)).hexdigest()


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is there, as it lies in the folder.

    Attributes:
        settings: The options that changed what was written, and the tokenizer.
        records: The records of all parts, in order.
        sha256: The hash of the manifest.
    """

    settings: dict[str, Any]
    records: list[Record]
    sha256: str


def plan_of(settings: dict[str, Any], parts: Iterable[Part]) -> Plan:
    """Return the plan of a data set."""
    return Plan(settings, [part.described() for part in parts])


def index_of(plan: Plan, records: Sequence[Record]) -> dict[str, bytes]:
    """Make the files that cover all parts, where the format has such, of the records of all parts, in order."""
    from bpe_cli.sinks.dataset import DATASETS

    kind, columns = DATASETS.get(plan.settings.get("format", "")), plan.settings.get("columns", [])
    if kind is None:
        return {}
    if "val" not in plan.settings:
        return kind.index(records, columns)
    files = kind.index_of_sides(SIDES)
    for name in SIDES:
        made = kind.index([record.side(name) for record in records], columns)
        files |= {f"{name}/{file}": content for file, content in made.items()}
    return files


def manifest_of(plan: Plan, records: Sequence[Record], index: Mapping[str, bytes]) -> dict[str, Any]:
    """Make the manifest of the records of all parts, in order, and of the files that cover them all."""
    return {
        "schema": _SCHEMA,
        "settings": plan.settings,
        "plan": plan.fingerprint(),
        "documents": sum(record.documents for record in records),
        "tokens": sum(record.tokens for record in records),
        "sequences": None if plan.settings.get("length") is None else sum(each.sequences or 0 for each in records),
        "left_out": sum(record.left_out for record in records),
        "padding": sum(record.padding for record in records),
        **{key: total for key in ("broken", "nulls") if (total := total_of(records, key)) is not None},
        "bytes": sum(file.size for record in records for file in record.files),
        "parts": [
            {key: value for key, value in record.to_json().items() if key not in ("schema", "plan")}
            for record in records
        ],
        "index": [
            {"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in index.items()
        ],
    }


def total_of(records: Iterable[Record], what: Literal["broken", "nulls"]) -> dict[str, int] | None:
    """Add up counts that records have by name; None if none has any."""
    each = [counts for record in records if (counts := getattr(record, what)) is not None]
    return {name: sum(counts.get(name, 0) for counts in each) for name in set().union(*each)} if each else None


def hash_of_inputs(records: Iterable[Record]) -> str:
    """Return one hash of what all parts were made of, of the records of all, in order."""
    hashes = [[each.get("sha256") for each in record.inputs] for record in records]
    return hashlib.sha256(dumped({"inputs": hashes})).hexdigest()


def made_of_others(records: Mapping[int, Record], all_inputs: str) -> list[int]:
    """Return the numbers of the parts of a shuffled data set that other versions of the inputs were mixed into."""
    return [number for number, record in records.items() if record.all_inputs not in (None, all_inputs)]


def read_plan(folder: str) -> Plan | None:
    """Read the plan of a data set; None if there is none.

    Raises:
        InputError: if it cannot be read, or is damaged.
    """
    path = os.path.join(folder, PLAN)
    content = read_json(path)
    if content is None:
        return None
    settings, parts = settings_in(content.get("settings")), _list_of(content.get("parts"), list)
    if content.get("schema") != _PLAN_SCHEMA or settings is None or parts is None:
        raise InputError(f"{show_path(path)} is not the plan of a data set of this version")
    return Plan(settings, parts)


def read_record(path: str) -> Record | None:
    """Read the record of a part; None if there is none, or what lies there is damaged.

    Raises:
        InputError: if the file is there, and cannot be read.
    """
    try:
        content = read_json(path)
    except InputError as error:
        if error.__cause__ is not None and isinstance(error.__cause__, OSError):
            raise
        return None
    return None if content is None else record_in(content)


def read_manifest(folder: str) -> Manifest | None:
    """Read the manifest of a data set; None if there is none.

    Raises:
        InputError: if it cannot be read, or is damaged.
    """
    path = os.path.join(folder, MANIFEST)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # a name that no file can have
        raise cannot_read(path, error) from error
    content = json_in(data, path)
    settings, plan = settings_in(content.get("settings")), content.get("plan")
    parts = _list_of(content.get("parts"), dict)
    if content.get("schema") == _SCHEMA and settings is not None and parts is not None:
        records = [record_in({**part, "schema": _PART_SCHEMA, "plan": plan}) for part in parts]
        known = [each for each in records if each]
        are_sided = "val" not in settings or all(map(has_sides, known))
        # More rows than that, Python's len() cannot give; cut anew, each id may be one.
        most = sum(max(each.rows, each.tokens) for each in known)
        if None not in records and are_sided and most <= sys.maxsize:
            return Manifest(settings, known, hashlib.sha256(data).hexdigest())
    raise InputError(f"{show_path(path)} is not the manifest of a data set of this version")


def has_sides(record: Record) -> bool:
    """Return whether a record has the numbers of the training set and of the validation set."""
    return {side.name for side in record.sides} == {*SIDES}


def settings_in(value: object) -> dict[str, Any] | None:
    """Return the settings that JSON holds; None if the rows of a data set cannot be read by them."""
    from bpe_cli.sinks.dataset import DATASETS

    if not isinstance(value, dict) or value.get("dtype") not in ("u16", "u32") or "way" not in value:
        return None
    way, shuffle, keep, tokenizer = (value.get(key) for key in ("way", "shuffle", "keep", "tokenizer"))
    if not isinstance(to := value.get("format"), str) or to not in DATASETS or not isinstance(way, str | None):
        return None
    if not isinstance(tokenizer, dict) or not isinstance(shuffle, dict | None):
        return None
    numbers = [value.get(key, "is missing") for key in ("eot", "length", "pad")]
    if any(number is not None and (type(number) is not int or number < 0) for number in numbers):
        return None
    columns, kept = _list_of(value.get("columns"), str), _list_of([] if keep is None else keep, list)
    if columns is None or kept is None or not {*columns} <= {*DATASETS[to].all_columns}:
        return None
    return value if all(len(each) == 2 and all(isinstance(text, str) for text in each) for each in kept) else None


def remove_files(folder: str, name: str, record: Record | None, *, but: Collection[str] = ()) -> None:
    """Remove the files of a part that an older record names, those of other formats among them, but for some.

    The record is to go after them: whatever happens in between, it is that of a damaged part.

    Raises:
        OutputError: if one cannot be removed.
    """
    for file in () if record is None else record.all_files:
        if file.name.rpartition("/")[2].startswith(f"{name}.") and file.name not in but:
            remove_file(os.path.join(folder, file.name))


def remove_file(path: str) -> None:
    """Remove a file, if there is one.

    Raises:
        OutputError: if it cannot be removed.
    """
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise OutputError(f"cannot remove {show_path(path)}: {reason_of(error)}") from error


def record_in(content: dict[str, Any]) -> Record | None:
    """Return the record that JSON holds; None if it holds something else."""
    numbers = [content.get(key) for key in ("part", "documents", "tokens", "divided", "left_out", "padding")]
    texts = [content.get(key) for key in ("plan", "dtype")]
    inputs, files = _list_of(content.get("inputs"), dict), _list_of(content.get("files"), dict)
    if content.get("schema") != _PART_SCHEMA or inputs is None or files is None:
        return None
    sequences = content.get("sequences")
    if not all(map(is_number, [*numbers, *([] if sequences is None else [sequences])])):
        return None
    quarantine = content.get("quarantine")
    made = tuple(
        PartFile(each.get("name", ""), each.get("bytes", -1), each.get("sha256", ""))
        for each in (*files, *([quarantine] if isinstance(quarantine, dict) else []))
    )
    optional = [content.get(key) for key in ("broken", "nulls")]
    if any(each is not None and not _are_counts(each) for each in optional):
        return None
    if not isinstance(all_inputs := content.get("all_inputs"), str | None):
        return None
    if any(not isinstance(text, str) for each in made for text in (each.name, each.sha256, *texts)):
        return None
    if any(type(each.size) is not int or not is_inside(each.name) for each in made):
        return None
    part, documents, tokens, divided, left_out, padding = (number or 0 for number in numbers)
    plan, dtype = (text or "" for text in texts)
    sides = sides_in(content.get("sides", {}))
    if sides is None:
        return None
    broken, nulls = optional
    return Record(
        part, plan, documents, tokens, divided, dtype, inputs, made[: len(files)], sequences, left_out, padding,
        sides, broken, made[len(files)] if len(made) > len(files) else None, nulls, all_inputs,
    )  # fmt: skip


def _are_counts(value: object) -> bool:
    return isinstance(value, dict) and all(map(is_number, value.values()))


def _list_of(value: object, kind: type) -> list[Any] | None:
    return value if isinstance(value, list) and all(isinstance(each, kind) for each in value) else None
