"""What stands in for ``typing`` in the modules that every run imports."""

import typing
from types import UnionType

from bpe_cli.support import fast_typing
from bpe_cli.support.fast_typing import Annotated, Generic, Literal, Protocol, TypeVar, cast, overload


def test_what_is_given_is_seen_by_typing():
    words = Literal["one", "two"]
    assert (typing.get_origin(words), typing.get_args(words)) == (Literal, ("one", "two"))
    declared = Annotated[list[int], "what it is"]
    assert (typing.get_origin(declared), typing.get_args(declared)) == (Annotated, (list[int], "what it is"))


def test_words_may_be_missing():
    kind = Literal["one"] | None
    assert isinstance(kind, UnionType)
    assert typing.get_args(kind) == (Literal["one"], type(None))


def test_the_rest_changes_nothing():
    class Kept(Protocol, Generic[TypeVar("Item")]):
        @overload
        def get(self): ...
        def get(self):
            return cast("int", 3)

    assert Kept().get() == 3


def test_each_name_is_one_of_typing():
    names = {name for name in vars(fast_typing) if not name.startswith("_")} - {"annotations", "GenericAlias"}
    assert names <= {*typing.__all__}
