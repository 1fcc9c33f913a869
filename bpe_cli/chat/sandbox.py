"""Run a tokenizer's chat template in Jinja's immutable sandbox, with limits and traced strings.

A template comes out of a file that somebody wrote, so it is not trusted: it sees no attribute but those named
here, calls nothing else, and whatever grows or repeats is metered (``provenance.Meter``). Beyond that it runs
as Hugging Face's ``apply_chat_template`` runs it: ``trim_blocks``, ``lstrip_blocks``, loop controls,
``raise_exception``, ``strftime_now``, ``tojson`` that keeps characters, ``{% generation %}``.

Jinja compiles a template into Python; ``compiler`` changes what it writes. Both need Jinja2, an optional extra.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from types import GeneratorType
from typing import Any

from jinja2 import Undefined
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.filters import FILTERS
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.tests import TESTS
from jinja2.utils import Cycler, Joiner, Namespace

from bpe_cli.chat.compiler import GENERATION, Generation, LiteralKeeper, Tracing
from bpe_cli.chat.filling import FormatMethod, filled
from bpe_cli.chat.provenance import (
    MESSAGE,
    TEMPLATE,
    UNKNOWN,
    Meter,
    TooMuch,
    Traced,
    expanded,
    joined,
    origin_of_value,
    plain_origins,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_METHODS: tuple[tuple[type | tuple[type, ...], frozenset[str]], ...] = (
    (str, _words(
        "capitalize casefold count endswith find format index isalnum isalpha isascii isdecimal isdigit islower "
        "isnumeric isspace istitle isupper join lower lstrip partition removeprefix removesuffix replace rfind rindex "
        "rpartition rsplit rstrip split splitlines startswith strip swapcase title upper")),
    (dict, _words("get items keys values")),
    ((list, tuple), _words("count index")),
    (LoopContext, _words(
        "changed cycle depth depth0 first index index0 last length nextitem previtem revindex revindex0")),
    (Macro, _words("arguments name")),
    (Cycler, _words("current next reset")),
)  # fmt: skip
"""Which attributes a template may use; ``format`` goes its own way."""

_FILTERS = _words(
    "abs count d default dictsort first float int items last length lower map max min reject rejectattr reverse "
    "select selectattr sort trim unique upper"
)
"""Jinja's filters that need no change: what they make is no longer than what they are given."""

_LOOKING_AT_ENDS = _words("abs count d default first float int last length")
"""Those among them that take no longer with more."""

_COMPARING = _words("in eq == equalto ne != lt < lessthan le <= gt > greaterthan ge >= lower upper")
"""Jinja's tests that look at all of what they are given."""

_LARGEST = 1 << 128
"""Integers that a template computes with are smaller."""


__all__ = ["RefusedByTemplateError", "Sandbox", "SecurityError"]


class RefusedByTemplateError(TemplateError):
    """Carry what a template said with ``raise_exception``."""


class Sandbox(ImmutableSandboxedEnvironment, LiteralKeeper):
    """Jinja's immutable sandbox with traced strings and a meter; for one template, one rendering at a time."""

    code_generator_class = Tracing
    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self, date: datetime.date | None) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, optimized=False, cache_size=0,
            extensions=[Generation, "jinja2.ext.loopcontrols"],
        )  # fmt: skip
        self.meter = Meter()
        self.literals: list[Traced] = []
        self.marks_generation = False
        self._places: dict[str, int] = {}
        self._date = date
        self.concat = self.concatenated  # type: ignore[method-assign]  # what macros and set blocks are joined by
        kept = {name: self._charged(FILTERS[name], weighs=name not in _LOOKING_AT_ENDS) for name in _FILTERS}
        self.filters = kept | {
            "batch": self._batched,
            "capitalize": lambda value: self.written(value).capitalize(),
            GENERATION: lambda value: self.written(value).generated(),
            "format": lambda value, *args, **names: self._filled(value, names or args),
            "indent": self._indented,
            "join": self._joined,
            "list": lambda value: self.made(list(self.metered(value))),
            "replace": self._replaced,
            "round": self._rounded,
            "safe": self.written,
            "string": self.written,
            "sum": self._summed,
            "title": lambda value: self.written(value).rewritten(FILTERS["title"](value)),
            "tojson": self._to_json,
        }
        tests: Mapping[str, Any] = TESTS
        self.tests = {name: self._weighing(test) if name in _COMPARING else test for name, test in tests.items()}
        names = ("namespace", "joiner", "cycler")
        functions: dict[str, Any] = {
            "dict": lambda *args, **names: self.made(dict(*args, **names)),
            "range": self._range,
            "raise_exception": _raise,
            "strftime_now": self._now,
        }
        self.globals = {name: self.globals[name] for name in names} | functions
        self._callable = (*self.globals.values(), self.metered, self.accounted)

    # -- what the compiled code calls ------------------------------------------------------------

    def literal(self, text: str) -> str:
        """Keep a literal of the template, and return the code for it."""
        place = self._places.setdefault(text, len(self.literals))
        if place == len(self.literals):
            self.literals.append(Traced.of(text, TEMPLATE, self.meter))
        return f"environment.literals[{place}]"

    def written(self, value: Any) -> Traced:
        """Return the text of a value.

        Raises:
            TypeError: if the value is of a kind that no template has a reason to write.
        """
        if isinstance(value, Traced):
            return value
        if isinstance(value, str):
            return Traced.of(value, UNKNOWN, self.meter)
        if value is None or isinstance(value, (bool, int, float, Undefined)):
            return Traced.of(str(value), TEMPLATE, self.meter)
        expanded(value, self.meter)
        _shown(value)
        return Traced.of(repr(value), origin_of_value(value), self.meter)

    def concatenated(self, parts: Iterable[Any]) -> Traced:
        """Join the texts of values."""
        return joined("", map(self.written, parts), self.meter)

    def made(self, value: Any) -> Any:
        """Charge for a list, tuple or dictionary that was just made, and return it."""
        expanded(value, self.meter, texts=False)
        return value

    def metered(self, value: Iterable[Any], steps: int = 1) -> Iterator[Any]:
        """Yield the items of a loop, charging so many steps for each."""
        for each in value:
            self.meter.tick(steps)
            yield each

    def accounted(self, steps: int) -> None:
        """Account for the body of a macro."""
        self.meter.tick(steps)

    def weighed(self, value: Any) -> Any:
        """Charge for a value that is compared, and return it."""
        self.meter.weigh(value)
        return value

    def sliced(self, value: Any) -> Any:
        """Charge for a value that is sliced, and return it."""
        self.meter.tick(1 + (len(value) // 16 if isinstance(value, (str, list, tuple)) else 0))
        return value

    # -- operators, attributes, calls -------------------------------------------------------------

    def call_binop(self, context: Context | None, operator: str, left: Any, right: Any) -> Any:
        """Compute operations whose result could become large."""
        self.meter.tick()
        if operator == "%" and isinstance(left, str):
            return self._filled(left, right)
        if operator == "**":
            if not (abs(left) < _LARGEST and abs(right) < 128):
                raise TooMuch("it computes with very large numbers")
        elif operator == "*":
            for one, other in ((left, right), (right, left)):
                if isinstance(one, (str, list, tuple)):
                    self.meter.charge(max(0, int(other)) * (expanded(one, self.meter) + 8))
        elif isinstance(left, (list, tuple)):
            return self.made(left + right)
        elif isinstance(left, str) and isinstance(right, str):
            left = self.written(left)
        result = self.binop_table[operator](left, right)
        if isinstance(result, int) and abs(result) >= _LARGEST:
            raise TooMuch("it computes with very large numbers")
        return result

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Return whether a template may use an attribute: it is one of those listed, or a namespace's own."""
        self.meter.tick()
        if not super().is_safe_attribute(obj, attr, value):
            return False
        return isinstance(obj, Namespace) or any(isinstance(obj, kind) and attr in names for kind, names in _METHODS)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return a metered ``str.format``."""
        owner = getattr(value, "__self__", None)
        if not isinstance(owner, str) or getattr(value, "__name__", "") not in ("format", "format_map"):
            return None
        return FormatMethod(self, self.written(owner), of_map=value.__name__ == "format_map")

    def call(self, context: Context, obj: Any, /, *args: Any, **names: Any) -> Any:
        """Call what a template may call; views of dictionaries become lists, whose size is known."""
        self.meter.tick(4)
        result = super().call(context, obj, *args, **names)
        return self.made(list(result)) if isinstance(result, (KeysView, ValuesView, ItemsView)) else result

    def is_safe_callable(self, obj: Any) -> bool:
        """Let a template call macros, the methods listed, and the functions given.

        Raises:
            SecurityError: if a template calls anything else.
        """
        self.meter.tick()
        owner = getattr(obj, "__self__", None)
        name = getattr(obj, "__name__", "")
        if isinstance(owner, (str, list, tuple)):  # what its method may look at
            self.meter.weigh(owner)
        if (
            isinstance(obj, (Macro, Undefined, Joiner, FormatMethod))
            or obj in self._callable
            or any(isinstance(owner, kind) and name in names for kind, names in _METHODS)
        ):
            return True
        raise SecurityError(f"it calls a {type(obj).__name__}")

    def unsafe_undefined(self, obj: Any, attribute: str) -> Undefined:
        """Return the value of an attribute that a template must not use: it raises when it is used."""
        kind = "str" if isinstance(obj, str) else type(obj).__name__
        return self.undefined(f"it uses {attribute!r} of a {kind}", name=attribute, obj=obj, exc=SecurityError)

    # -- functions and filters ----------------------------------------------------------------------

    def _weighing(self, test: Callable[..., Any]) -> Callable[..., Any]:
        """Meter a test of Jinja's that compares."""

        def tested(*args: Any) -> Any:
            for value in args:
                self.meter.weigh(value)
            return test(*args)

        return tested

    def _charged(self, function: Callable[..., Any], *, weighs: bool) -> Callable[..., Any]:
        """Meter a filter of Jinja's by what it is given."""

        def filtered(*args: Any, **names: Any) -> Any:
            for value in args:
                if isinstance(value, (list, tuple, dict, range, str)):
                    self.meter.charge(16 * len(value))
                    if weighs:
                        self.meter.weigh(value)
            self.meter.tick()
            result = function(*args, **names)
            return self.metered(result) if isinstance(result, GeneratorType) else result

        passed = getattr(function, "jinja_pass_arg", None)  # what Jinja itself passes first
        if passed is not None:
            filtered.jinja_pass_arg = passed  # type: ignore[attr-defined]
        return filtered

    def _range(self, *bounds: int) -> range:
        numbers = range(*bounds)
        if len(numbers) > 100_000:
            raise TooMuch("it counts very far")
        self.meter.charge(len(numbers))
        return numbers

    def _now(self, pattern: str) -> Traced:
        now = datetime.datetime.now() if self._date is None else datetime.datetime(*self._date.timetuple()[:3])
        if _WIDE_DATE.search(pattern):
            raise TooMuch("it has a date with a very large width")
        whole = not set(plain_origins(self.written(pattern).origins)) - set(TEMPLATE)
        return Traced.of(now.strftime(pattern), TEMPLATE if whole else MESSAGE, self.meter)

    def _filled(self, pattern: Any, arguments: Any) -> Traced:
        return filled(self.written(pattern), arguments)

    def _indented(self, value: Any, width: int | str = 4, first: bool = False, blank: bool = False) -> Traced:
        """Put blanks before each line, as Jinja's filter does."""
        if isinstance(width, int) and width > 1000:
            raise TooMuch("it indents very far")
        blanks = Traced.of(" " * width, TEMPLATE, self.meter) if isinstance(width, int) else self.written(width)
        lines = (self.written(value) + "\n").splitlines()
        rest = [blanks + line if line or blank else line for line in lines[1:]]
        head = [blanks + lines[0] if first else lines[0]]
        return joined("\n", [*head, *rest], self.meter)

    def _batched(self, value: Iterable[Any], linecount: int, fill_with: Any = None) -> Iterator[list[Any]]:
        self.meter.charge(8 * linecount)
        batches: Iterator[list[Any]] = FILTERS["batch"](self.metered(value), linecount, fill_with)
        return batches

    def _rounded(self, value: float, precision: int = 0, method: Any = "common") -> float:
        if abs(precision) > 30:
            raise TooMuch("it rounds to very many digits")
        rounded: float = FILTERS["round"](value, precision, str(method))
        return rounded

    def _summed(self, value: Iterable[Any], attribute: str | int | None = None, start: Any = 0) -> Any:
        for each in self.metered(value):
            start = self.call_binop(None, "+", start, each if attribute is None else self.getitem(each, attribute))
        return start

    def _joined(self, value: Iterable[Any], d: Any = "", attribute: str | int | None = None) -> Traced:
        if attribute is not None:
            value = (self.getitem(each, attribute) for each in value)
        return joined(self.written(d), map(self.written, self.metered(value)), self.meter)

    def _replaced(self, value: Any, old: Any, new: Any, count: int | None = None) -> str:
        return self.written(value).replace(str(self.written(old)), self.written(new), -1 if count is None else count)

    def _to_json(
        self,
        value: Any,
        ensure_ascii: bool = False,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> Traced:
        if indent is not None and not 0 <= int(indent) <= 64:
            raise TooMuch("it indents very far")
        size = expanded(value, self.meter)
        self.meter.charge(size * (2 + (indent or 0)))
        text = json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
        return Traced.of(text, origin_of_value(value), self.meter)


_WIDE_DATE = re.compile(r"%[^a-zA-Z%]*[0-9]{3}")


def _raise(message: Any) -> None:
    raise RefusedByTemplateError(str(message))


def _shown(value: Any) -> None:
    """Refuse to write out what is not JSON."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting.extend((*each.keys(), *each.values()))
        elif isinstance(each, (list, tuple)):
            waiting.extend(each)
        elif not (each is None or isinstance(each, (str, int, float, range))):
            raise TypeError(f"a {type(each).__name__} cannot be written out")
