"""Parts whose results are kept in a folder, a file of each with a record beside it: which are there, and are right.

They are called by the hash of what they are made of: when inputs are added later, the numbers of parts change.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpe_cli.errors import InputError
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.json_files import dumped, read_json
from bpe_cli.support.messages import listed, show_path

if TYPE_CHECKING:
    from bpe_cli.corpus import InputHash
    from bpe_cli.jobs.parts import Part

Described = list[dict[str, Any]]
"""The inputs of a part: of each its path, its bytes, and the extent if it has one."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is kept of each part.

    Attributes:
        noun: What messages call the results, as ``counts``; their files end so.
        verb: How they are made, as ``counted``.
        number: What a record has the number of, as ``pieces``.
    """

    noun: str
    verb: str
    number: str

    @property
    def schemas(self) -> tuple[str, str]:
        """The schema of the plan, and that of a record."""
        return f"bpe-{self.noun}-plan/1", f"bpe-{self.noun}-part/1"


@dataclass(frozen=True, slots=True)
class Found:
    """What the record of a part says: the number that its kind has, the hash of its file, and those of its inputs.

    Attributes:
        record: All that it says.
    """

    number: int
    sha256: str
    inputs: tuple[str | None, ...]
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class KeptParts:
    """The parts in a folder. A plain value, which can be pickled.

    Attributes:
        kind: What is kept of them.
        folder: The folder.
        settings: The hash of all that changes the results.
    """

    kind: Kind
    folder: str
    settings: str

    @classmethod
    def of(cls, kind: Kind, folder: str, settings: dict[str, Any]) -> KeptParts:
        """Make it of the settings themselves."""
        return cls(kind, folder, hashlib.sha256(dumped(settings)).hexdigest())

    def name(self, described: Described) -> str:
        """Return how the files of a part are called, without their endings."""
        return "part-" + hashlib.sha256(dumped({"settings": self.settings, "inputs": described})).hexdigest()[:16]

    def path(self, described: Described) -> str:
        """Return where the file of a part lies."""
        return os.path.join(self.folder, f"{self.name(described)}.{self.kind.noun}")

    def record_path(self, described: Described) -> str:
        """Return where its record lies."""
        return os.path.join(self.folder, f"{self.name(described)}.json")

    def begin(self, part: Part) -> int:
        """Return when the inputs of a part begin to be read, for ``write``.

        Raises:
            OutputError: if its file cannot be written.
        """
        from bpe_cli.sinks.draft import Draft

        with Draft(self.path(part.described())) as draft:
            return draft.began

    def write(
        self, part: Part, content: bytes, hashes: Sequence[InputHash] | None, numbers: dict[str, Any], began: int
    ) -> None:
        """Write the file of a part, and then its record: both appear together.

        Args:
            part: The part.
            content: The file.
            hashes: The hash of each of its inputs, as it was read; None if nobody took them.
            numbers: What the record says besides.
            began: What ``begin`` said: an input that is written later may not be what was read.

        Raises:
            OutputError: if a file cannot be written.
        """
        from bpe_cli.sinks.atomic import write_together

        described = part.described()
        path = self.path(described)
        record = {
            "schema": self.kind.schemas[1],
            "settings": self.settings,
            "inputs": described if hashes is None else _with_hashes(described, hashes),
            **numbers,
            "file": {
                "name": os.path.basename(path),
                "bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
            },
        }
        write_together({path: content, self.record_path(described): dumped(record)}, since=began)

    def find(self, described: Described) -> Found | str | None:
        """Return what the record of a part says; what is wrong with the part; or None if there is no record.

        The hash of the file is not computed: whoever adds the parts up does that.
        """
        try:
            record = read_json(self.record_path(described))
        except InputError as error:
            if isinstance(error.__cause__, OSError):
                raise
            return "its record is damaged"
        if record is None:
            return None
        inputs, file, number = record.get("inputs"), record.get("file"), record.get(self.kind.number)
        is_ours = record.get("schema") == self.kind.schemas[1] and isinstance(file, dict) and type(number) is int
        if not is_ours or not isinstance(inputs, list) or not all(isinstance(each, dict) for each in inputs):
            return "its record is damaged"
        without = [{key: value for key, value in each.items() if key != "sha256"} for each in inputs]
        if record.get("settings") != self.settings or without != described:
            return f"it was {self.kind.verb} with other options or inputs"
        try:
            size = os.stat(self.path(described)).st_size
        except OSError:
            return f"its {self.kind.noun} are missing"
        if not isinstance(file, dict) or size != file.get("bytes"):
            return f"its {self.kind.noun} have {size:,} bytes, and its record says otherwise"
        return Found(int(number or 0), str(file.get("sha256")), tuple(each.get("sha256") for each in inputs), record)

    def all_found(self, plan: Iterable[Described]) -> list[Found]:
        """Return what the records of all parts say.

        Raises:
            InputError: if parts are missing or damaged; the message names the first ones.
        """
        found: list[Found] = []
        damaged: list[str] = []
        for described in plan:
            there = self.find(described)
            if isinstance(there, Found):
                found.append(there)
            else:
                damaged.append(f"{self.name(described)}: {there or 'it is missing'}")
        if damaged:
            hint = f"they are {self.kind.verb} first, with the names of the inputs"
            raise InputError(self.listed(damaged), hint=hint)
        return found

    def listed(self, reasons: Sequence[str]) -> str:
        """Return the sentence about what is wrong with parts; it names the first places."""
        return f"the {self.kind.noun} in {show_path(self.folder)}: {listed(reasons)}"

    def remove_others(self, names: Iterable[str]) -> None:
        """Remove the parts that are called otherwise: records first."""
        kept, noun = set(names), self.kind.noun
        found = [name for name in os.listdir(self.folder) if re.fullmatch(rf"part-[0-9a-f]{{16}}\.(json|{noun})", name)]
        for name in sorted(found, key=lambda name: (name.endswith(f".{noun}"), name)):
            if name.partition(".")[0] not in kept:
                Path(self.folder, name).unlink(missing_ok=True)


def _with_hashes(described: Described, hashes: Sequence[InputHash]) -> Described:
    return [
        each | ({"sha256": sha256} if sha256 else {}) for each, (_, sha256, _) in zip(described, hashes, strict=True)
    ]
