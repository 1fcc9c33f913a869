"""Our value classes are told from those of ``dataclasses`` by nothing but time."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from functools import cached_property
from typing import ClassVar

import pytest

from bpe_cli.stages import RankBpe, Replace, SpecialToken, Split
from bpe_cli.support import fast_dataclass
from bpe_cli.tokenizer import Tokenizer


def classes_by(maker) -> dict[str, type]:
    """Define the same classes by either module."""

    @maker.dataclass(frozen=True, slots=True)
    class Point:
        x: int
        y: int = 2
        kind: ClassVar[str] = "point"

        @property
        def total(self) -> int:
            return self.x + self.y

    @maker.dataclass(frozen=True, slots=True)
    class One:
        only: object = ()

    @maker.dataclass(frozen=True, slots=True)
    class Nothing:
        pass

    @maker.dataclass(frozen=True)
    class Loose:
        x: int
        note: str | None = maker.field(default=None, compare=False)
        many: object = maker.field(default=(), hash=False)

        @cached_property
        def twice(self) -> int:
            return 2 * self.x

    @maker.dataclass(slots=True)
    class Changing:
        x: int = 1

    @maker.dataclass(frozen=True, slots=True)
    class Checked:
        x: int

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("negative")

        def __repr__(self) -> str:
            return "checked"

    return {kind.__name__: kind for kind in (Point, One, Nothing, Loose, Changing, Checked)}


OURS, THEIRS = classes_by(fast_dataclass), classes_by(dataclasses)

EXPRESSIONS = """
Point(1)
Point(1, 3)
Point(y=4, x=3)
Point()
Point(1, 2, 3)
Point(1, x=2)
Point(1, z=2)
Point(1).total
Point.kind
Point(1).__dict__
Point(1) == Point(1, 2)
Point(1) == Point(2)
Point(1) == (1, 2)
Point(1) != 3
hash(Point(1)) == hash(Point(1, 2))
{Point(1), Point(1, 2)}
One()
One(3)
One([1])
hash(One([1]))
One() == Nothing()
Nothing()
Nothing() == Nothing()
hash(Nothing())
Loose(1, 'a') == Loose(1, 'b')
hash(Loose(1, 'a', [1])) == hash(Loose(1, 'b', [2]))
Loose(1, many=[1]) == Loose(1)
Loose(3).twice
vars(Loose(3))
Loose.note
Changing(1) == Changing(1)
hash(Changing(1))
Checked(1)
Checked(-1)
Checked(1) == Checked(1)
setattr(Point(1), 'x', 2)
delattr(Point(1), 'x')
setattr(Loose(1), 'x', 2)
setattr(Changing(1), 'x', 2)
setattr(Changing(1), 'z', 2)
Point.__match_args__
Point.__slots__
Point.__name__
Point.__qualname__
Point.__module__
replace(Point(1), y=5)
replace(Loose(1, 'a'), x=5)
replace(Point(1), z=5)
replace(Checked(1), x=-5)
[(f.name, f.type, f.default, f.compare, f.hash, f.init, f.repr) for k in classes.values() for f in fields(k)]
asdict(Point(1))
[is_dataclass(k) for k in classes.values()]
copy(Point(1, 3))
deepcopy(One([1]))
dataclass_replace(Point(1), y=5)
deepcopy(Loose(1, 'a'))
""".strip().splitlines()


def outcome(expression: str, maker, classes: dict[str, type]) -> str:
    names = classes | {
        "classes": classes,
        "replace": maker.replace,
        "dataclass_replace": dataclasses.replace,
        "asdict": dataclasses.asdict,
        "fields": dataclasses.fields,
        "is_dataclass": dataclasses.is_dataclass,
        "copy": copy.copy,
        "deepcopy": copy.deepcopy,
    }
    try:
        return repr(eval(expression, names))
    except (TypeError, ValueError, AttributeError) as error:
        return type(error).__name__


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_same_comes_of_it(expression):
    assert outcome(expression, fast_dataclass, OURS) == outcome(expression, dataclasses, THEIRS)


def test_patterns_match_by_place():
    match SpecialToken(b"a", 3):
        case SpecialToken(content, token_id):
            assert (content, token_id) == (b"a", 3)


def test_real_ones_are_carried_about():
    token = SpecialToken(b"a", 3, special=True)
    for value in (token, Replace(" ", "_"), Split("a|b")):
        assert pickle.loads(pickle.dumps(value)) == copy.copy(value) == value
        assert type(value)(**{each.name: getattr(value, each.name) for each in dataclasses.fields(value)}) == value
    assert dataclasses.replace(token, token_id=4) == fast_dataclass.replace(token, token_id=4) != token
    assert [each.name for each in dataclasses.fields(RankBpe)] == list(RankBpe.__match_args__)
    assert [each.name for each in dataclasses.fields(Tokenizer) if not each.compare] == ["origin", "name"]


def test_replace_takes_classes_of_either_make():
    assert fast_dataclass.replace(THEIRS["Point"](1), y=5) == THEIRS["Point"](1, 5)
