"""Random command lines, made from what the commands declare of their options: a new option is tried at once.

What a value may be follows from the declaration: numbers from their limits, choices from their enumerations. Only for
text the declaration does not say enough: ``POOLS`` has values for each metavar, and a test sees to it that none lacks.
"""

from __future__ import annotations

import random
import shlex
from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from bpe_cli.cli import app
from bpe_cli.cli.options import Argument, Option, choices_of, given_once, parameters_of
from bpe_cli.formats import FORMATS
from bpe_cli.formats.features import LOSSES
from bpe_cli.reports.comparison.comparison import METRICS
from bpe_cli.trainers import ALGORITHMS, TRAINERS
from tests.cli.hunt import workshop

CORPORA = (*workshop.TEXTS, "folder", "folder/*.txt", "plain.txt.gz", "data.jsonl", "data.jsonl.gz", "-", "missing.txt")
TOKENIZERS = (
    *workshop.TRAINED,
    *map(workshop.of_format, workshop.WRITTEN),
    "gpt2", "cl100k_base", "gpt-4o", "damaged.json", "missing.json", "nosuch", "plain.txt",
)  # fmt: skip
IDS = tuple(f"ids.{to}" for to in ("ids", "tokens", "jsonl", "npy", "bin"))
NEW_FILES = (
    "new.txt", "new.json", "new.bin", "new.npy", "new.jsonl", "new.html", "new.svg", "new.csv", "new.model", "new.gguf",
    "new.tiktoken", "new.jsonl.gz", "new/", "none/new.json", "old.txt", "folder", "-", "",
)  # fmt: skip
"""Where outputs may go; most of it is not there yet."""

SETTINGS = {
    algorithm: tuple(
        f"{each.name}={value}"
        for each in fields(trainer.Options)
        for value in ("yes", "no", "2", "0.5", "textbook", "##", "")
    )
    for algorithm, trainer in ((name, TRAINERS[name]) for name in ALGORITHMS)
}
"""What ``--set`` may say to each algorithm."""

POOLS: dict[str, tuple[str, ...]] = {
    "INPUT": CORPORA,
    "CORPUS": CORPORA,
    "SOURCE": TOKENIZERS,
    "TOKENIZER": TOKENIZERS,
    "OTHER": TOKENIZERS,
    "TEXT": ("low lower", "", "wide 東京\n👩‍👩‍👧 12345", "<|endoftext|>", "a\x7f\u202eb", "</s>low@@", " ", "@@"),
    "OUT": NEW_FILES,
    "A.B": ("text", "meta.body", "meta", "nosuch", ""),
    "NAME|REGEX": ("gpt2", "cl100k", "o200k", "none", r"\w+|\s+|[^\w\s]+", "(?r)a", "(", r"a|(?<=\Ka)b", ""),
    "TEXT=ID": ("<|x|>=100300", "<|x|>=7", "low=400", "=", "x", "<|x|>=99999999999"),
    "all|error|TEXT": ("all", "error", "<|endoftext|>", "</s>", "<unk>", "nosuch"),
    "all|TEXT": ("all", "error", "<|endoftext|>", "</s>", "<unk>", "nosuch"),
    "TEXT|ID|auto": ("auto", "<|endoftext|>", "</s>", "0", "5", "99999999", "nosuch"),
    "ID|TEXT": ("0", "5", "300", "low", "東", "nosuch", "9" * 30),
    "tokens,spans": ("tokens", "spans", "tokens,spans", "nosuch", ""),
    "NAME|FILE": ("chatml", "llama3", "template.jinja", "missing.jinja", "plain.txt"),
    "YYYY-MM-DD": ("2026-01-31", "2026-02-30", "today"),
    "REGEX": ("low", "[a-z]+", "(", "(?r)x", ""),
    "NAME=VALUE": tuple(setting for settings in SETTINGS.values() for setting in settings),
    "NAME,...": (
        "nfc", "nfkc,lowercase", "none", "bert", "strip-accents", "whitespace", "metaspace", "digits", "nmt_nfkc",
        *LOSSES, "nosuch", "",
    ),
    "NAME": (*METRICS, "all", "nosuch"),
    "FILE|LANG=FILE": ("en=plain.txt", "xx=tricky.txt", "plain.txt", "de=missing.txt", "="),
    "LANG": ("en", "xx", "nosuch"),
    "FOLDER": ("pairs", "folder", "missing"),
    "N|auto": ("0", "40", "auto", "-1", "x"),
    "N|all": ("1", "3", "all", "0", "x"),
    "local|ray|ray://HOST:PORT": ("local", "ray", "nosuch"),
    "EXT": ("txt", "json", "", "."),
    "K/N": ("1/1", "2/2", "3/2", "0/1", "x"),
    "CONDITION": (
        "bytes_per_token < 4", "any: tokens > 0", "plain.txt: tokens == 1", "nosuch < 1", "tokens", "unknown_share>10%",
    ),
    "REPORT": ("report.json", "bbpe.json", "missing.json"),
    "REPORT|LIBRARY": ("report.json", "bbpe.json", "missing.json", "tokenizers", "tiktoken", "nosuch"),
    "SECTION": ("scripts", "corpus", "settings", "all", "nosuch"),
    "[NAME=]FILE": (*NEW_FILES, "new.png", "lengths=new.svg", "use=new.png", "ratios=new.svg", "nosuch=new.svg", "="),
    "A:B": ("1:2", "1", "2:1", "0", "x", "99999:100000"),
    "PERCENT": ("1%", "total: 0%", "-1%", "x"),
    "N,...": ("300", "260,300", "300,260,80", "300,300", "x", ""),
    "NAME=INPUT": ("en=plain.txt", "xx=tricky.txt", "en=missing.txt", "plain.txt", "="),
    "NAME=N": ("en=3", "xx=1/2", "xx=1.5", "en=0", "nosuch=2", "en"),
    "A": ("0", "0.3", "1", "2", "nan", "x"),
}  # fmt: skip
"""Values by what the help calls them; ``FILE`` is told apart by the option's name below."""

FILES: dict[str, tuple[str, ...]] = {
    "counts_out": NEW_FILES,
    "from_counts": ("bbpe.counts", "en=bbpe.counts", "plain.txt", "missing"),
    "tools": ("tools.json", "chat.json", "missing"),
    "frequencies": ("subwords.txt", "tricky.txt", "missing"),
    "vocabulary": ("subwords.txt", "tricky.txt", "missing"),
    "write_vocabulary": NEW_FILES,
    "words": ("plain.txt", "tricky.txt", "missing.txt"),
    "html": NEW_FILES,
    "add_tokens": ("tokens.txt", "tools.json", "missing"),
    "id_map": NEW_FILES,
    "valid": ("plain.txt", "tricky.txt", "missing.txt"),
    "svg": NEW_FILES,
    "png": ("new.png", *NEW_FILES),
}
"""Values of the options whose metavar is FILE."""

OUTPUTS = ("output", "counts_out", "counts_dir", "tallies_dir", "write_vocabulary", "html", "svg", "png", "id_map")
"""The parameters that name a file to write."""

INPUTS_OF = {"decode": IDS}
"""What a command's INPUT is, where it is not text."""

NUMBERS = (0, 1, 2, 3, 7, 50, 60, 260, 300, 1024, 50257, 1 << 31, 1 << 40)
REALS = ("0", "0.1", "0.5", "1", "2", "1e300", "1e308", "-1", "nan", "inf", "1e-320")
USUAL = {
    "train": {"vocab_size": ("300", "260", "80"), "output": ("new.json",)},
    "encode": {"tokenizer": TOKENIZERS},
    "decode": {"tokenizer": ("bbpe.json",)},
    "inspect": {"tokenizer": TOKENIZERS},
    "compare": {"tokenizer": TOKENIZERS},
    "convert": {"output": ("new.json", "new.json", "new.json", *NEW_FILES)},
    "prepare": {"tokenizer": TOKENIZERS, "output": ("set", "set", "set", "none/set", "folder", "old.txt", "")},
}
"""Options that nearly every line of a command has."""

SEGMENTED = (("to", "segmented"),)
LANGUAGES = (("language", "en=plain.txt"), ("language", "xx=tricky.txt"))
CHAT = (("chat", None), ("tokenizer", "gpt-4o"))
PARTNERS: dict[tuple[str, str], tuple[tuple[str, str | None], ...]] = {
    **{("encode", name): SEGMENTED for name in ("separator", "glossary", "vocabulary", "write_vocabulary")},
    ("encode", "vocabulary_threshold"): (*SEGMENTED, ("vocabulary", "subwords.txt")),
    **{("encode", name): CHAT for name in ("chat", "chat_template", "generation_prompt", "tools", "date")},
    ("encode", "frequencies"): (("inference", "longest"), ("tokenizer", "bpe.json")),
    ("encode", "with_"): (("to", "jsonl"),),
    ("encode", "json"): (("to", "count"),),
    ("encode", "eot"): (("to", "bin"), ("output", "new.bin"), ("tokenizer", "gpt2")),
    ("encode", "dropout"): (("tokenizer", "bbpe.json"),),
    ("encode", "dropout_mode"): (("dropout", "0.1"), ("tokenizer", "bpe.json")),
    ("encode", "sample"): (("tokenizer", "unigram.json"),),
    ("encode", "nbest"): (("sample", "0.5"), ("tokenizer", "unigram_textbook.json")),
    **{("inspect", name): CHAT for name in ("chat", "chat_template", "generation_prompt", "tools", "date")},
    ("inspect", "pairs"): (("steps", None), ("tokenizer", "bbpe.json"), ("text", "low lower")),
    ("inspect", "nbest"): (("tokenizer", "unigram.json"), ("text", "low lower")),
    ("inspect", "corpus"): (("tokenizer", "bbpe.json"),),
    ("inspect", "residues"): (("tokenizer", "bbpe.json"), ("corpus", "plain.txt")),
    ("inspect", "documents"): (("tokenizer", "bbpe.json"),),
    ("inspect", "json"): (("tokenizer", "bbpe.json"), ("text", "low lower")),
    ("compare", "json"): (("tokenizer", "gpt2"),),
    ("inspect", "token"): (("tokenizer", "bbpe.json"),),
    **{("train", name): (("steps", None),) for name in ("pairs", "full", "json", "html")},
    ("train", "valid"): (("vocab_size", "260,300"), ("output", "new-{size}.json")),
    **{
        ("train", name): (("valid", "plain.txt"), ("vocab_size", "260,300"))
        for name in ("d_model", "svg", "png", "plot")
    },
    **{("train", name): LANGUAGES for name in ("weight", "alpha", "parity")},
    **{("train", name): (("parity", None), *LANGUAGES) for name in ("ratio", "window")},
    ("train", "dev"): (("parity", None), *LANGUAGES, ("dev", "en=plain.txt"), ("dev", "xx=tricky.txt")),
    **{("train", name): (("counts_dir", "missing"),) for name in ("part", "part_size", "overwrite")},
    ("compare", "pivot"): (("parallel", "en=plain.txt"), ("parallel", "xx=tricky.txt")),
    ("compare", "diff"): (("tokenizer", "gpt2"),),
    ("compare", "diff_limit"): (("diff", None), ("tokenizer", "gpt2")),
    ("compare", "max_regression"): (("against", "report.json"), ("tokenizer", "bbpe.json")),
    ("convert", "prune_to"): (("counts_from", "plain.txt"),),
    ("convert", "counts_from"): (("prune_to", "265"),),
    ("convert", "extend"): (("vocab_size", "295"),),
    ("convert", "vocab_size"): (("extend", "plain.txt"),),
    ("convert", "id_map"): (("add_tokens", "tokens.txt"),),
    ("prepare", "columns"): (("to", "parquet"), ("columns", "attention_mask")),
    ("prepare", "pad"): (("pack", "7"),),
    ("prepare", "split"): (("max_length", "3"),),
    ("prepare", "fit"): (("pack", "7"),),
}
"""What an option needs beside it to do anything; mostly it gets that."""


OF_CHANGES = {
    "add_tokens": {"add_tokens"},
    "prune_to": {"prune_to", "counts_from"},
    "split_residues": {"split_residues", "counts_from"},
    "extend": {"extend", "vocab_size"},
    "merge": {"merge"},
}
"""The changes that convert makes, one at a time, and the options of each."""

ENDLESS = {("inspect", name) for name in ("live", "port", "no_open")}
"""What serves until it is interrupted, and what is about that: tests/cli/test_inspect_live.py."""

ABOUT_CORPORA = {"lines", "jsonl", "plain", "field"}

HELD_BY = {
    **{workshop.of_format(name): name for name in workshop.WRITTEN},
    **{name: "sentencepiece" for name in workshop.TRAINED if "_sentencepiece" in name},
    **dict.fromkeys(("gpt2", "cl100k_base", "gpt-4o"), "tiktoken"),
}
"""A format that can hold a tokenizer, besides bpe.json, which holds all; tokenizer.json holds most others."""


@dataclass(frozen=True)
class Line:
    """A command line: the command, its inputs, and its options by the parameter's name, None for a flag."""

    command: str
    inputs: tuple[str, ...]
    options: tuple[tuple[str, str, str | None], ...]

    @property
    def words(self) -> list[str]:
        said = [word for _, switch, value in self.options for word in (switch, *(() if value is None else (value,)))]
        return [self.command, *said, *(["--", *self.inputs] if self.inputs else [])]

    def __str__(self) -> str:
        return f"bpe {shlex.join(self.words)}"

    def has(self, name: str) -> bool:
        """Whether an option is there, by the parameter's name."""
        return any(each == name for each, _, _ in self.options)

    def values(self, name: str) -> list[str]:
        """All values of an option, by the parameter's name."""
        return [value for each, _, value in self.options if each == name and value is not None]

    def value(self, name: str) -> str | None:
        """The value that counts: the last."""
        return next(reversed(self.values(name)), None)

    def with_option(self, name: str, value: str | None) -> Line:
        """The same line with another value of an option; None: without it."""
        kept = tuple(each for each in self.options if each[0] != name)
        switch = switches(parameters_of(app.load(self.command).run)[name][1])[0]
        return Line(self.command, self.inputs, kept if value is None else (*kept, (name, switch, value)))


def easier(line: Line, chance: random.Random) -> Line | None:
    """The same line without one of its inputs or options, for one that was refused; None if nothing is left to drop."""
    usual = USUAL[line.command]
    once = given_once(parameters_of(app.load(line.command).run))
    twice = [number for number, (name, _, _) in enumerate(line.options) if name in once and len(line.values(name)) > 1]
    droppable = twice or [number for number, (name, _, _) in enumerate(line.options) if name not in usual]
    if len(line.inputs) > 1:
        return Line(line.command, line.inputs[1:], line.options)
    if not droppable:
        return None
    gone = chance.choice(droppable)
    return Line(line.command, line.inputs, line.options[:gone] + line.options[gone + 1 :])


def switches(declared: Option | Argument) -> list[str]:
    """What an option is called on the command line."""
    return [one for names in getattr(declared, "names", ()) for one in names.split("/")]


def pool_of(name: str, declared: Option | Argument, command: str) -> tuple[str, ...]:
    """The values that an option for text is tried with.

    Raises:
        KeyError: Nobody has said what it may be.
    """
    metavar = declared.settings["metavar"]
    if isinstance(declared, Argument):
        return INPUTS_OF.get(command, POOLS[metavar])
    return FILES[name] if metavar == "FILE" else POOLS[metavar]


def single(kind: Any) -> Any:
    """The type of one value: of ``list[str] | None`` it is str."""
    if get_origin(kind) in (Union, UnionType):  # a Literal or None is one of the first, str or None of the second
        kind = next(each for each in get_args(kind) if each is not NoneType)
    return get_args(kind)[0] if get_origin(kind) is list else kind


def some_line(chance: random.Random) -> Line:
    """Make a line: mostly one that makes sense, so that it gets far."""
    command = chance.choice(app.NAMES)
    parameters = parameters_of(app.load(command).run)
    said: list[tuple[str, str | None]] = [
        (name, chance.choice(values)) for name, values in USUAL[command].items() if chance.random() < 0.95
    ]
    inputs = _some_inputs(command, chance)
    # By name, so that the lines stay the same whatever order the help has.
    options = sorted(
        name
        for name, (_, declared) in parameters.items()
        if isinstance(declared, Option) and (command, name) not in ENDLESS
    )
    for name in chance.sample(options, chance.choice((0, 1, 1, 2, 2, 3, 4))):
        kind, declared = parameters[name]
        said.append((name, _value(name, kind, declared, command, chance)))
        if (command, name) in PARTNERS and chance.random() < 0.9:
            said += PARTNERS[command, name]
    if "json" in parameters and ("json", None) not in said and chance.random() < 0.1:  # one option of ever more
        said += [("json", None), *PARTNERS.get((command, "json"), ())]
    if command == "train" and chance.random() < 0.5:
        algorithm = chance.choice(ALGORITHMS)
        said.append(("algorithm", algorithm))
        said += [("set_", chance.choice(SETTINGS[algorithm])) for _ in range(chance.choice((0, 1, 2)))]
    if any("data.jsonl" in each for each in inputs) and chance.random() < 0.8:
        said += [("jsonl", None)] if "jsonl" in parameters else []
    if command == "decode" and inputs and chance.random() < 0.8:
        said.append(("from_", inputs[0].partition(".")[2]))
    if command == "encode" and chance.random() < 0.3:
        said.append(("output", chance.choice(("new.txt", "new.bin", "new.npy", "new.jsonl"))))
    if command == "convert":
        said = _agreeing(said, chance) if chance.random() < 0.8 else said
        said += _written_as(inputs[0], chance)
    if ("chat", None) in said and chance.random() < 0.9:
        inputs = ("chat.json",)
    if any(name == "text" for name, _ in said) and chance.random() < 0.9:
        inputs = ()
    made = [_option(name, parameters[name][1], value, chance) for name, value in said]
    if command == "inspect":  # which takes one tokenizer, unless it serves
        last = next((each for each in reversed(made) if each[0] == "tokenizer"), None)
        made = [each for each in made if each[0] != "tokenizer" or each is last]
    return Line(command, inputs, tuple(made))


def _agreeing(said: list[tuple[str, str | None]], chance: random.Random) -> list[tuple[str, str | None]]:
    """Leave out the options of all changes but one, and what would say how a corpus is read where there is none."""
    names = {name for name, _ in said}
    asked = [change for change in OF_CHANGES if change in names]
    kept = OF_CHANGES[chance.choice(asked)] if asked else set()
    gone = {name for options in OF_CHANGES.values() for name in options} - kept
    if not kept & {"counts_from", "extend"}:
        gone |= ABOUT_CORPORA
    if not kept:
        gone.add("id_map")
    return [(name, value) for name, value in said if name not in gone]


def _written_as(source: str, chance: random.Random) -> list[tuple[str, str | None]]:
    """Choose the format and the output: mostly such as can hold the tokenizer, and a name that fits every format."""
    way = chance.random()
    if way < 0.6:
        return [("format", chance.choice(("bpe.json", HELD_BY.get(source, "tokenizer.json")))), ("output", "new")]
    if way < 0.8:
        return [("format", chance.choice(list(FORMATS))), *([("output", "new")] if chance.random() < 0.5 else [])]
    return []


def _some_inputs(command: str, chance: random.Random) -> tuple[str, ...]:
    if command == "convert":
        return (chance.choice(TOKENIZERS),)
    pool = INPUTS_OF.get(command, CORPORA)
    return tuple(chance.choice(pool) for _ in range(chance.choice((0, 1, 1, 1, 1, 2))))


def _option(
    name: str, declared: Option | Argument, value: str | None, chance: random.Random
) -> tuple[str, str, str | None]:
    return name, chance.choice(switches(declared)), value


def _value(name: str, kind: Any, declared: Option | Argument, command: str, chance: random.Random) -> str | None:
    if kind is bool or bool in get_args(kind):
        return None
    each = single(kind)
    choices = choices_of(each, declared)
    if choices is not None:
        return chance.choice(list(choices))
    if each is int:
        least, most = declared.settings.get("min"), declared.settings.get("max")
        near = [limit + by for limit in (least, most) if limit is not None for by in (-1, 0, 1)]
        return str(chance.choice([*near, *NUMBERS, *NUMBERS]))
    if each is float:
        return chance.choice(REALS)
    return chance.choice(pool_of(name, declared, command))


def undescribed() -> list[str]:
    """The options for text that no pool has values for."""
    found = []
    for command in app.NAMES:
        for name, (kind, declared) in parameters_of(app.load(command).run).items():
            each = single(kind)
            if each not in (bool, int, float) and choices_of(each, declared) is None:
                try:
                    pool_of(name, declared, command)
                except KeyError:
                    found.append(f"{command} {name}")
    return found


__all__ = ["OUTPUTS", "Line", "easier", "some_line", "undescribed"]
