"""Train for a reader: options by which what is trained is held exactly by the files that it reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bpe_cli.errors import FormatError, UsageError
from bpe_cli.support.core_arguments import wrong_type
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.messages import did_you_mean, nearest

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Target:
    """A reader of tokenizers.

    Attributes:
        format: The format of the file that it reads.
        algorithm: What is trained for it unless something else is asked for.
        chosen: The options that it asks for, by algorithm; what is asked for besides goes first.
        given: What a program gives the reader beside the file, by the names of ``features.LOSSES``.
    """

    format: str
    algorithm: str
    chosen: Mapping[str, Mapping[str, Any]]
    given: frozenset[str] = frozenset()


_LLAMA = {
    "compat": "sentencepiece", "normalization": "identity", "remove_extra_whitespaces": False, "byte_fallback": True,
}  # fmt: skip
"""llama.cpp leaves blanks as they are, and what is unknown becomes bytes. Its unigram model has rules of its own."""

TARGETS: Mapping[str, Target] = {
    "llama.cpp": Target("gguf", "bbpe", {"bbpe": {"pattern": "qwen2"}, "bpe": _LLAMA}),
    "transformers": Target("tokenizer.json", "bbpe", {}),
    "tiktoken": Target("tiktoken", "bbpe", {"bbpe": {}}, frozenset({"pattern", "special-tokens", "token-flags"})),
    "sentencepiece": Target(
        "sentencepiece", "unigram", {algorithm: {"compat": "sentencepiece"} for algorithm in
                                     ("bpe", "unigram", "word", "char")},
    ),
}  # fmt: skip
"""The readers, by name. llama.cpp splits by names of its own, of which qwen2 is one of our patterns exactly."""


_TRIED = "aZé中ก1! \n\t\r_'²\u0301\u200d\U0001f600"
"""Characters of all kinds, by which a pattern is judged that may not match all text."""


def target_named(name: str) -> Target:
    """Return a reader by its name.

    Raises:
        UsageError: if there is no such reader.
        TypeError: if the name is not a str.
    """
    if not isinstance(name, str):
        raise wrong_type("target", "a str", name)
    if name not in TARGETS:
        hint = did_you_mean(nearest(name, TARGETS), f"there are {', '.join(TARGETS)}")
        raise UsageError(f"there is no target {name!r}", hint=hint)
    return TARGETS[name]


def chosen_for(name: str, algorithm: str | None) -> tuple[str, dict[str, Any]]:
    """Return what is trained for a reader, and the options that it asks for.

    >>> chosen_for("llama.cpp", None), chosen_for("sentencepiece", "bpe")
    (('bbpe', {'pattern': 'qwen2'}), ('bpe', {'compat': 'sentencepiece'}))

    Raises:
        UsageError: if there is no such reader, or it reads nothing that the algorithm trains.
    """
    target = target_named(name)
    algorithm = algorithm or target.algorithm
    if target.chosen and algorithm not in target.chosen:
        raise UsageError(
            f"{name} reads nothing that {algorithm} trains", hint=f"it reads what {', '.join(target.chosen)} train"
        )
    return algorithm, dict(target.chosen.get(algorithm, {}))


def as_typed(value: object) -> str:
    """Write the value of an option as one types it.

    >>> as_typed(True), as_typed("identity")
    ('yes', 'identity')
    """
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _left_out(tokenizer: Tokenizer) -> tuple[str, str] | None:
    """Return a character that a split pattern does not match, and the pattern; None if all that are tried match."""
    from bpe_cli import _core
    from bpe_cli.stages import Split
    from bpe_cli.stages.component_json import core_spec
    from bpe_cli.stages.patterns import scanner_for

    for pattern in tokenizer.patterns:
        if scanner_for(pattern) is not None:
            continue
        stages = _core.Stages(core_spec((), (Split(pattern, behavior="Removed", invert=True),)))
        for character in _TRIED:
            _, starts, *_ = stages.pre_tokenize(character.encode())
            if not memoryview(starts):
                return character, pattern
    return None


def check_target(tokenizer: Tokenizer, name: str, *, finished: bool) -> None:
    """Check that the file of a reader holds a tokenizer exactly; one that is finished is read back as a proof.

    Raises:
        FormatError: if it does not.
    """
    from bpe_cli.formats import dump, rehearse
    from bpe_cli.stages.patterns import RUNS, covering

    target = target_named(name)
    lost = _left_out(tokenizer) if name == "tiktoken" else None
    if lost is not None:
        option = "run_pattern" if RUNS in tokenizer.patterns else "pattern"
        raise FormatError(
            f"{name} cannot hold this exactly: it leaves out text that the split pattern does not match, such as "
            f"{lost[0]!r}",
            hint=f"for the same pieces, give `{option}` an expression that matches all text: {covering(lost[1])}",
        )
    allowed = sorted({"ids", *target.given})
    try:
        (dump if finished else rehearse)(tokenizer, target.format, allowed)
    except FormatError as error:
        choices = (choice for options in target.chosen.values() for choice in options.items())
        chosen = [f"{option}={as_typed(value)}" for option, value in choices]
        hint = "leave out the other options: `target` chooses what it holds"
        raise FormatError(
            f"{name} cannot hold this exactly: {error.message}",
            hint=f"{hint} ({', '.join(dict.fromkeys(chosen))})" if chosen else hint,
        ) from error
