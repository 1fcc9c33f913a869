"""Make frozen and other data classes as ``dataclasses`` does, faster, for the modules that every run imports.

``dataclasses`` compiles six functions for every class, and brings ``inspect`` along: half of the time of a run that
encodes one line. What stands here is the part of it that those modules need, with functions that are written once and
go through the fields. Only time tells it from the original: ``dataclasses.fields`` and the like take these classes
too, type checkers see the original, and the tests hold each class to it.
"""

from __future__ import annotations

from operator import attrgetter

_SHOWN = 200
"""How many characters of a field ``cut_repr`` shows."""


def cut_repr(value: object) -> str:
    """Represent a value of either kind of dataclass as the original does, but with long fields cut.

    >>> from bpe_cli.tokenizer.named_encodings import named
    >>> cut_repr(named("gpt2")).partition(",")[0]
    'Tokenizer(model=RankBpe(vocabulary=Vocabulary(50256 tokens)'
    """
    kind = type(value)
    fields = ((name, repr(getattr(value, name))) for name in kind.__match_args__)  # type: ignore[attr-defined]
    shown = (f"{name}={text if len(text) <= _SHOWN else text[:_SHOWN] + '...'}" for name, text in fields)
    return f"{kind.__qualname__}({', '.join(shown)})"


TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace

    def fields_of(kind: type) -> list[tuple[str, str, bool]]: ...  # noqa: D103  # below
else:
    _MISSING = object()

    class field:  # noqa: N801  # as the original
        """Declare a field with more than a default."""

        __slots__ = ("compare", "default", "hash")

        def __init__(self, *, default=_MISSING, compare=True, hash=None):  # noqa: A002  # as the original
            self.default, self.compare = default, compare
            self.hash = compare if hash is None else hash

    class _Fields:
        """Make the fields that ``dataclasses`` knows of a class when they are asked for."""

        def __get__(self, instance, kind):
            import dataclasses

            namespace = {"__annotations__": kind.__annotations__, "__module__": kind.__module__}
            for name, each in kind.__value_fields__.items():
                settings = {"compare": each.compare, "hash": None if each.hash == each.compare else each.hash}
                if each.default is not _MISSING:
                    settings["default"] = each.default
                namespace[name] = dataclasses.field(**settings)
            kind.__dataclass_fields__ = dataclasses.dataclass(type(kind.__name__, (), namespace)).__dataclass_fields__
            return kind.__dataclass_fields__

    def dataclass(*, frozen=False, slots=False):
        """Decorate a class as a dataclass."""
        return lambda kind: _value_class(kind, frozen, slots)

    def replace(value, /, **changes):
        """Return a copy of a value, of either kind of dataclass, with some fields changed."""
        return type(value)(**{name: getattr(value, name) for name in value.__match_args__} | changes)

    def fields_of(kind):
        """Return the name and the annotation of each field of a class made here, and whether it has a default."""
        fields = kind.__value_fields__.items()
        return [(name, str(kind.__annotations__[name]), each.default is not _MISSING) for name, each in fields]

    def _value_class(kind, frozen, slots):
        described = {}
        for name, annotation in kind.__annotations__.items():
            if not (isinstance(annotation, str) and annotation.startswith("ClassVar")):
                default = kind.__dict__.get(name, _MISSING)
                described[name] = default if isinstance(default, field) else field(default=default)
        names = tuple(described)
        namespace = {name: each for name, each in kind.__dict__.items() if name not in described}
        namespace |= {"__value_fields__": described, "__dataclass_fields__": _Fields(), "__match_args__": names}
        if slots:
            namespace |= {"__slots__": names, "__getstate__": _get_state, "__setstate__": _set_state}
            namespace.pop("__dict__", None)
            namespace.pop("__weakref__", None)
        else:
            namespace |= {name: each.default for name, each in described.items() if each.default is not _MISSING}
        compared = _getter([name for name, each in described.items() if each.compare])
        hashed = _getter([name for name, each in described.items() if each.hash])

        def __eq__(self, other):  # noqa: N807
            return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

        def __hash__(self):  # noqa: N807
            return hash(hashed(self))

        made = {"__init__": _init, "__repr__": _repr, "__eq__": __eq__, "__hash__": __hash__ if frozen else None}
        if frozen:
            made |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        namespace = made | namespace
        if not slots:
            for name in namespace.keys() - {"__dict__", "__weakref__"}:
                setattr(kind, name, namespace[name])
            return kind
        anew = type(kind)(kind.__name__, kind.__bases__, namespace)
        anew.__qualname__ = kind.__qualname__
        return anew

    def _getter(names):
        """Return a function that makes a tuple of some attributes."""
        if len(names) > 1:
            return attrgetter(*names)
        return lambda value: tuple(getattr(value, name) for name in names)

    def _init(self, *given, **named):
        described = self.__value_fields__
        if len(given) > len(described):
            raise TypeError(f"{type(self).__name__} has {len(described)} fields, and {len(given)} values are given")
        put = object.__setattr__
        rest = iter(described.items())
        for value, (name, _) in zip(given, rest):  # noqa: B905  # the rest follows
            put(self, name, value)
        for name, each in rest:
            value = named.pop(name, each.default) if named else each.default
            if value is _MISSING:
                raise TypeError(f"{type(self).__name__} is given no {name}")
            put(self, name, value)
        if named:
            raise TypeError(f"{type(self).__name__} has no {next(iter(named))}, or it is given twice")
        after = getattr(self, "__post_init__", None)
        if after is not None:
            after()

    def _repr(self):
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__value_fields__)
        return f"{type(self).__qualname__}({shown})"

    def _refuse_to_set(self, name, value):  # noqa: ARG001
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_to_delete(self, name):  # noqa: ARG001
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _get_state(self):
        return [getattr(self, name) for name in self.__value_fields__]

    def _set_state(self, state):
        for name, value in zip(self.__value_fields__, state, strict=True):
            object.__setattr__(self, name, value)
