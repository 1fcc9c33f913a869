"""Read and write the components of a ``tokenizer.json``: normalizers, pre-tokenizers, decoders.

A component's fields are those of its dataclass in ``stages``; files of older versions that leave some
out, or spell them otherwise, are read with the defaults that Hugging Face's library gives them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, get_args

from bpe_cli import _core
from bpe_cli.errors import FormatError, UsageError
from bpe_cli.formats.huggingface import oniguruma
from bpe_cli.formats.read_file import Node
from bpe_cli.stages import Behavior, ByteLevel, Decoder, Normalizer, PrefixSpace, PreTokenizer, Split
from bpe_cli.stages.component_json import component, core_spec, expressions, type_name
from bpe_cli.stages.patterns import PATTERNS, scanner_for
from bpe_cli.stages.splitters import compile_splitter
from bpe_cli.support.fast_dataclass import fields_of
from bpe_cli.support.messages import quote
from bpe_cli.support.regex_size import check_size

GPT2 = PATTERNS["gpt2"].regex

NORMALIZERS = {type_name(kind): kind for kind in get_args(Normalizer)}
PRE_TOKENIZERS = {type_name(kind): kind for kind in get_args(PreTokenizer) if kind not in (PrefixSpace, ByteLevel)}
DECODERS = {type_name(kind): kind for kind in get_args(Decoder)}

_RENAMED = {"Metaspace": ("str_rep",)}
"""Fields of older files that say nothing that is not said elsewhere."""

MAX_COMPONENTS = 1_000
"""Most components of one kind; the longest sequences in use have some twenty."""


def read_normalizers(node: Node) -> tuple[Normalizer, ...]:
    """Read a normalizer, or a sequence of them."""
    return _all(node, (_read(each, NORMALIZERS, "normalizer") for each in _flat(node, "normalizers")))


def read_decoders(node: Node) -> tuple[Decoder, ...]:
    """Read a decoder, or a sequence of them."""
    members = _flat(node, "decoders")
    return _all(node, (_read(each, DECODERS, "decoder", {"ByteLevel": _BYTE_LEVEL}) for each in members))


def read_pre_tokenizers(node: Node) -> tuple[PreTokenizer, ...]:
    """Read a pre-tokenizer, or a sequence of them.

    ``ByteLevel`` is taken apart: the space that it puts before pieces, GPT-2's expression, and the
    spelling of bytes, which ``stages.ByteLevel`` stands for.
    """
    return _all(node, _pre_tokenizers(node))


def _pre_tokenizers(node: Node) -> Iterator[PreTokenizer]:
    for each in _flat(node, "pretokenizers"):
        if each.get("type").value != "ByteLevel":
            yield _read(each, PRE_TOKENIZERS, "pre-tokenizer")
            continue
        each.only("type", *_BYTE_LEVEL)
        each.flag("trim_offsets", default=True)  # only about offsets, which are exact here
        if each.flag("add_prefix_space", default=True):
            yield PrefixSpace()
        if each.flag("use_regex", default=True):
            yield Split(GPT2)
        yield ByteLevel()


_BYTE_LEVEL = ("add_prefix_space", "trim_offsets", "use_regex")


def _flat(node: Node, members: str) -> Iterator[Node]:
    """Yield the components of sequences in sequences, in order."""
    waiting = [] if node.is_null else [node]
    count = 0
    while waiting:
        each = waiting.pop()
        count += 1
        if count > MAX_COMPONENTS:
            raise node.error(f"has more than {MAX_COMPONENTS:,} components")
        if each.get("type").value == "Sequence":
            each.only("type", members)
            waiting.extend(reversed(list(each.get(members).items())))
        else:
            yield each


_Stage = TypeVar("_Stage", Normalizer, PreTokenizer, Decoder)


def _all(node: Node, stages: Iterator[_Stage]) -> tuple[_Stage, ...]:
    """Read stages one by one, as long as their expressions together are not too large."""
    read: list[_Stage] = []

    def reading() -> Iterator[_Stage]:
        for stage in stages:
            read.append(stage)
            yield stage

    try:
        check_size(expressions(reading()))
    except UsageError as error:
        raise FormatError(f"{node.where}: {error.message}", hint=error.hint) from None
    return tuple(read)


def _read(node: Node, kinds: dict[str, Any], what: str, ignored: dict[str, Sequence[str]] | None = None) -> Any:
    """Read one component by its dataclass."""
    name = node.get("type").text()
    kind = kinds.get(name)
    if kind is None:
        raise FormatError(f"{node.where}: cannot run the {what} {quote(name)}", hint=f"known are {', '.join(kinds)}")
    known = [name for name in kind.__match_args__ if name != "literal"]
    node.only("type", *known, *_RENAMED.get(name, ()), *(ignored or {}).get(name, ()), *_older(name))
    values: dict[str, Any] = {}
    for field, annotation, has_default in fields_of(kind):
        if field == "literal":
            values["literal"] = not node.get("pattern").get("String").is_null
        elif field == "pattern":
            values["pattern"] = _read_pattern(node.get("pattern"))
        elif field in node.members():
            values[field] = _value(node.get(field), annotation)
        elif not has_default:
            raise node.error(f"has no {quote(field)}")
    # Null is as if it were missing. Versions 0.14 and 0.15 wrote false beside any scheme, and put no mark then.
    puts_mark = node.get("add_prefix_space") if name == "Metaspace" else None
    if puts_mark is not None and not puts_mark.is_null and not puts_mark.boolean():
        values["prepend_scheme"] = "never"
    if name == "Strip" and len(values.get("content", " ")) != 1:
        raise node.get("content").error(f"must be one character, not {quote(values['content'])}")
    return kind(**values)


def _older(name: str) -> tuple[str, ...]:
    return ("add_prefix_space",) if name == "Metaspace" else ()


def _value(node: Node, kind: str) -> Any:
    """Read a field by the type that its dataclass gives it."""
    if kind.startswith("bool"):
        return None if node.is_null and "None" in kind else node.boolean()
    if kind == "int":
        return node.integer(below=1 << 31)
    if kind.startswith("tuple"):
        return tuple(item.text() for item in node.items())
    text = node.text()
    if kind == "Behavior" and text not in get_args(Behavior):
        raise node.error(f"is {quote(text)}; it can be {', '.join(get_args(Behavior))}")
    if kind.startswith("Literal") and f'"{text}"' not in kind.replace("'", '"'):
        raise node.error(f"is {quote(text)}, which is none of {kind.removeprefix('Literal')}")
    if len(text) != 1 and node.path.endswith((".delimiter", ".replacement")):
        raise node.error(f"must be one character, not {quote(text)}")
    return text


def _read_pattern(node: Node) -> str:
    """Return a pattern as a text, or as an expression of the ``regex`` module that matches the same."""
    node.only("String", "Regex")
    if len(node.members()) != 1:
        raise node.error('is to have one of "String" and "Regex"')
    if not node.get("String").is_null:
        text = node.get("String").text()
        if not text:
            raise node.get("String").error("is empty")
        return text
    try:
        regex = oniguruma.as_read(node.get("Regex").text())
    except ValueError as problem:
        raise node.get("Regex").error(f"has {problem}") from None
    try:
        compile_splitter((regex,))
        if scanner_for(regex) is None:
            _core.Stages(core_spec((), (Split(regex),)))  # other stages have an engine that refuses more
    except UsageError as error:
        raise FormatError(f"{node.where}: {error.message}", hint=error.hint) from None
    except ValueError as error:
        raise FormatError(f"{node.where}: {error}") from None
    return regex


def write_normalizers(stages: Sequence[Normalizer]) -> dict[str, Any] | None:
    """Write normalizers: none, one, or a sequence."""
    return _sequence([_spelt(component(stage)) for stage in stages], "normalizers")


def write_decoders(stages: Sequence[Decoder]) -> dict[str, Any] | None:
    """Write decoders: none, one, or a sequence."""
    written = [
        byte_level(prefix_space=True, use_regex=True) if type_name(type(stage)) == "ByteLevel" else component(stage)
        for stage in stages
    ]
    return _sequence([_spelt(each) for each in written], "decoders")


def write_pre_tokenizers(stages: Sequence[PreTokenizer], *, bytes_last: bool) -> dict[str, Any] | None:
    """Write pre-tokenizers: none, one, or a sequence.

    With ``bytes_last`` the model works on bytes, and a ``ByteLevel`` is to stand at the end if there is none before.
    """
    spelt = any(isinstance(stage, ByteLevel) for stage in stages)
    written: list[dict[str, Any]] = []
    waiting: list[PreTokenizer] = []  # what a ByteLevel that follows can take along
    for stage in (*stages, *((ByteLevel(),) if bytes_last and not spelt else ())):
        if isinstance(stage, ByteLevel):
            space = PrefixSpace() in waiting
            regex = Split(GPT2) in waiting
            written.append(byte_level(prefix_space=space, use_regex=regex))
            waiting = []
        elif isinstance(stage, PrefixSpace):
            _refuse_prefix_space(waiting)
            waiting = [stage]
        elif stage == Split(GPT2) and not any(isinstance(other, Split) for other in waiting):
            waiting.append(stage)
        else:
            _refuse_prefix_space(waiting)
            written.extend(_spelt(component(other)) for other in waiting)
            waiting = []
            written.append(_spelt(component(stage)))
    _refuse_prefix_space(waiting)
    written.extend(_spelt(component(other)) for other in waiting)
    return _sequence(written, "pretokenizers")


def _refuse_prefix_space(waiting: Sequence[PreTokenizer]) -> None:
    if PrefixSpace() in waiting:
        raise FormatError(
            "tokenizer.json cannot say that a space is put before the text with this split pattern",
            hint="it can with the gpt2 pattern, or with none",
        )


def _sequence(components: list[dict[str, Any]], members: str) -> dict[str, Any] | None:
    if len(components) == 1:
        return components[0]
    return {"type": "Sequence", members: components} if components else None


def byte_level(*, prefix_space: bool, use_regex: bool) -> dict[str, object]:
    """Return the component ``ByteLevel``."""
    return {"type": "ByteLevel", "add_prefix_space": prefix_space, "trim_offsets": True, "use_regex": use_regex}


def _spelt(content: dict[str, Any]) -> dict[str, Any]:
    """Spell an expression as Hugging Face's engine reads it."""
    regex = content.get("pattern", {}).get("Regex")
    if regex is None:
        return content
    try:
        return content | {"pattern": {"Regex": oniguruma.as_written(regex)}}
    except ValueError as problem:
        raise FormatError(
            f"tokenizer.json would be read differently by Hugging Face's library: {problem}",
            hint="write the expression another way: bpe.json has expressions as tokenizer.json has them",
        ) from None
