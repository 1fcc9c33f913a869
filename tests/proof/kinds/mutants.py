"""Mutants of the files of every format: a tokenizer that obeys the laws, or a sentence; at once, in little memory."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

from bpe_cli import formats
from bpe_cli.errors import BpeError, FormatError, InputError
from bpe_cli.formats.features import LOSSES
from bpe_cli.stages import MergeBpe, RankBpe, Split
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Specials, Tokenizer
from tests.every_format import FORMATS, files_of, pattern_for, put
from tests.proof.attempts import Found, Proof, named, quick_place
from tests.proof.child import Child, child
from tests.proof.kinds.mutating import Files, mutant
from tests.random_tokenizers import make
from tests.work import seconds

ROOM = 100 << 20
"""Bytes of memory that a small file may take beyond what is there before."""

MOST_SECONDS = 1.0
"""Of a processor, for reading a small file, using it and writing it."""

AGAIN = 3
"""So often is tried what took too long: another process may have had the caches."""

KEPT = 12
"""Files of random tokenizers of a format, for mutants and for parts of mutants."""

BYTE_NAME = re.compile(rb"<0x[0-9A-F]{2}>")

TEXTS = (
    b"", b"low new 12", b" low  lowest\n", "é 漢字 e\u0301 ▁x\u3000🙂".encode(), b"</s> <s> [UNK] <|endoftext|> <unk>",
    b"abab1 " * 20, b"\xff\xc3 a\x00",
)  # fmt: skip


class Use(NamedTuple):
    """What became of a mutant.

    Attributes:
        end: What became of it: ``refused``, ``loaded`` or ``loaded and written back``.
        wrong: The law that it broke, None if none.
    """

    end: str
    wrong: str | None = None


def encoded(tokenizer: Tokenizer, text: bytes, specials: Specials) -> list[int] | None:
    """Return ids; None where the tokenizer has no token for something in the text."""
    try:
        return tokenizer.encode(text, specials=specials)
    except InputError:
        return None


def use(name: str, path: Path, back: Path) -> Use:
    """Read a mutant, hold what loads to the laws, and write it back.

    Args:
        name: Its format.
        path: Where it lies.
        back: Where what is written back is to lie.
    """
    try:
        tokenizer = formats.load(path, pattern_for(name))
        first = [encoded(tokenizer, text, specials) for specials in ((), "all") for text in TEXTS]
    except BpeError as error:  # of merges that contradict each other too, which show when it is first used
        return Use("refused", None if error.message else "it is refused without a message")
    wrong = broken_law(tokenizer, first[: len(TEXTS)])
    if wrong is not None:
        return Use("loaded", wrong)
    try:
        files = formats.dump(tokenizer, name)
    except FormatError as error:
        return Use("loaded", None if error.message else "it cannot be written, without a message")
    again = formats.load(put(files, back), pattern_for(name))
    second = [encoded(again, text, specials) for specials in ((), "all") for text in TEXTS]
    return Use("loaded and written back", None if first == second else "written back, it gives other ids")


def broken_law(tokenizer: Tokenizer, ids_of_texts: list[list[int] | None]) -> str | None:
    """Return what is wrong with the ids of ``TEXTS`` without special tokens; None if nothing is."""
    never = reserved(tokenizer)
    for text, ids in zip(TEXTS, ids_of_texts, strict=True):
        if ids is None:
            continue
        if not never.isdisjoint(ids):
            return f"the text {text!r} became a special token"
        block = Block.of([text])
        if tokenizer.encode_block(block, tokenizer.matcher(), 2)[0].tolist() != ids:
            return f"two threads give other ids of {text!r}"
        if tokenizer.count_block(block, tokenizer.matcher()).tolist() != [len(ids)]:
            return f"the ids of {text!r} are counted otherwise"
        if [token.token_id for token in tokenizer.tokens(text)] != ids:
            return f"the tokens of {text!r} have other ids"
        back = tokenizer.decode_bytes(ids)
        if is_lossless(tokenizer) and back != text:
            return f"{text!r} decodes to {back!r}"
    return None


def reserved(tokenizer: Tokenizer) -> set[int]:
    """Return the ids that no text has: special ones, without what text needs (docs/explanation/special-tokens.md).

    Those are the unknown token, names of bytes, and the bytes of byte-level BPE.
    """
    special = [token for token in tokenizer.special_tokens if token.special]
    by_bytes = isinstance(tokenizer.model, (RankBpe, MergeBpe))

    def is_needed(token_id: int, content: bytes) -> bool:
        return bool(BYTE_NAME.fullmatch(content)) or (by_bytes and len(tokenizer.token_bytes(token_id)) == 1)

    reserved = {token.token_id for token in special if not is_needed(token.token_id, token.content)}
    return reserved - {tokenizer.model.unk_id}


def is_lossless(tokenizer: Tokenizer) -> bool:
    """Return whether ids have to decode to the very bytes: byte-level BPE that only cuts.

    An added token may be written like an ordinary one, whose id and bytes it then has: é like byte E9, as in Hugging
    Face's library.
    """
    cuts = all(isinstance(stage, Split) and stage.behavior != "Removed" for stage in tokenizer.pre_tokenizer)
    strips = any(token.lstrip or token.rstrip for token in tokenizer.special_tokens)
    plain = not (tokenizer.normalizer or tokenizer.decoder or strips)
    plain &= all(tokenizer.token_bytes(token.token_id) == token.content for token in tokenizer.special_tokens)
    return isinstance(tokenizer.model, (RankBpe, MergeBpe)) and cuts and plain


# -- in the process that may die -------------------------------------------------------------------


def warm(folder: Path, everything: dict[str, Files]) -> None:
    """Use one good file of every format, so that what is imported and kept once is there.

    What is proved by reading it back is written beside the mutants too, where that is quick.
    """
    tempfile.tempdir = str(folder)
    for name, files in everything.items():
        use(name, put(files, folder / "warm" / name), folder / "warm-back" / name)


def timed(name: str, path: Path, back: Path) -> tuple[Use, float]:
    """Return what became of a mutant, and the seconds of a processor that it took."""
    found: list[Use] = []
    took = min_until(lambda: seconds(lambda: found.append(use(name, path, back))), MOST_SECONDS)
    return found[-1], took


def min_until(measure: Callable[[], float], enough: float) -> float:
    """Return the least of a few measurements, of one if that is little enough."""
    least = float("inf")
    for _ in range(AGAIN):
        least = min(least, measure())
        if least <= enough:
            break
    return least


# -- the proof -------------------------------------------------------------------------------------


@dataclass
class Desk:
    """What all attempts share.

    Attributes:
        folder: Where mutants lie.
        child: Who reads them.
        good: Format -> files that load.
        odd: Format and seed -> files of random tokenizers.
    """

    folder: Path
    child: Child
    good: dict[str, Files]
    odd: dict[tuple[str, int], Files | None] = field(default_factory=dict)

    def some(self, name: str, seed: int) -> Files:
        """Return files of a format: of one of ``KEPT`` random tokenizers that it can hold, else the good ones."""
        key = (name, seed)
        if key not in self.odd:
            try:
                self.odd[key] = formats.rehearse(make(Random(f"{name} {seed}")), name, LOSSES)
            except BpeError:
                self.odd[key] = None
        return self.odd[key] or self.good[name]


@contextmanager
def begin(folder: Path) -> Iterator[Desk]:
    """Make good files of every format, and the process that reads mutants."""
    good = {name: dict(files_of(name)) for name in FORMATS}  # a process of its own gets them
    with (
        tempfile.TemporaryDirectory(prefix="mutants-", dir=quick_place() or folder) as quick,
        child(warm, Path(quick), good, room=ROOM) as reader,
    ):
        yield Desk(Path(quick), reader, good)


def attempt(desk: Desk, chance: Random, number: int) -> Counter[str]:
    """Make a mutant of the next format and use it."""
    name = list(FORMATS)[number % len(FORMATS)]
    source = desk.some(name, chance.randrange(KEPT)) if chance.random() < 0.6 else desk.good[name]
    others = [desk.good[name], *(desk.some(name, chance.randrange(KEPT)) for _ in range(2))]
    done, files = mutant(chance, source, others)
    place = desk.folder / "mutant"
    shutil.rmtree(place, ignore_errors=True)
    path = put(files, place / "read")
    evidence = named(files)
    found, took = desk.child.ask(timed, name, path, place / "back", files=evidence)
    told = f"a mutant of {name} ({', '.join(done)})"
    if found.wrong is not None:
        raise Found(f"{told}: {found.wrong}", evidence)
    if took > MOST_SECONDS:
        raise Found(f"{told} takes {took:.1f} s of a processor", evidence)
    if number % 500 == 0:
        desk.child.end()  # a new one begins with memory that is not in pieces
    return Counter({"mutants": 1, f"mutants of {name}": 1, f"mutants {found.end}": 1})


PROOF = Proof(
    title="Mutants of files",
    claim="Files of every format, real ones and those of random tokenizers, are changed: numbers at their limits, "
    "swapped tokens, duplicated keys, stages of another file, lines, bytes; and, so that most of them still load, "
    "ids and tokens that change places everywhere, and flags. Each is refused with a message, or it loads and obeys "
    "the laws: two threads and counting give the same ids, none is a special token's, they decode to the text where "
    "nothing may be lost, and they stay the same when the file is written back. None takes more than a second of "
    "CPU time or 100 MB of memory, and none ends the process.",
    begin=begin,
    attempt=attempt,
)
