"""The registry of formats by name: adding one takes a module and a line here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from bpe_cli.errors import UsageError
from bpe_cli.support.fast_typing import TYPE_CHECKING, Protocol
from bpe_cli.support.lazy_modules import Modules
from bpe_cli.support.messages import nearest
from bpe_cli.tokenizer import Tokenizer

if TYPE_CHECKING:
    from typing import TypeGuard

FORMATS: Mapping[str, Format] = Modules(
    "bpe_cli.formats",
    {
        "tokenizer.json": "huggingface.tokenizer_json",
        "bpe.json": "huggingface.own_json",
        "huggingface": "huggingface.folder",
        "tiktoken": "byte_level.tiktoken_ranks",
        "subword-nmt": "subword_nmt",
        "bert-vocab": "bert",
        "vocab-merges": "huggingface.vocab_merges",
        "sentencepiece": "sentencepiece.model",
        "sentencepiece-vocab": "sentencepiece.vocab",
        "llama2c": "sentencepiece.llama2c",
        "minbpe": "byte_level.minbpe",
        "fastbpe": "subword_nmt.fastbpe",
        "youtokentome": "youtokentome",
        "tekken": "byte_level.tekken",
        "rwkv": "rwkv",
        "gguf": "gguf",
    },
)
"""The formats, in the order in which a file is held against them."""

TRAINED = ("bpe.json", "tokenizer.json", "subword-nmt", "sentencepiece")
"""Those that ``train`` writes: one file each, which holds all of what some algorithm trains."""

LISTS_DEAD_MERGES = ("tokenizer.json", "bpe.json", "huggingface")
"""Those that say beside the merges which tokens are special: a list of merges is written as it was read."""

OF_SEVERAL = ("huggingface", "vocab-merges")
"""Those of several files, in the same order."""


def usual_names() -> Iterator[tuple[Format, str]]:
    """Yield the formats with each name that their files usually have, as patterns."""
    return ((module, name) for module in FORMATS.values() for name in module.FILES)


def format_of_name(output: str) -> str:
    """Return the format to write from the name of a file: by the whole name, else by its ending.

    >>> format_of_name("tekken.json"), format_of_name("mine.json")
    ('tekken', 'tokenizer.json')

    Raises:
        UsageError: if no format has such names.
    """
    name = Path(output).name
    usual = [(format_name, pattern) for format_name, module in FORMATS.items() for pattern in module.FILES]
    for format_name, pattern in sorted(usual, key=lambda each: "*" in each[1]):  # whole names first
        if fnmatchcase(name, pattern):
            return format_name
    endings = [pattern[1:] for module in FORMATS.values() for pattern in module.FILES if pattern.startswith("*.")]
    near = nearest(Path(output).suffix, endings, most=1)
    raise UsageError(
        f"the name {output!r} does not say which format to write",
        hint=f"did you mean {Path(output).stem}{near[0]}? or give `format`"
        if near
        else f"give `format`: {', '.join(FORMATS)}",
    )


# --------------------------------------------------------------------------------------------------
# What the module of a format has: the interface that ``FORMATS`` is a table of.


class Format(Protocol):
    """The interface of a format's module."""

    @property
    def FILES(self) -> tuple[str, ...]:  # noqa: N802  # a constant in the modules, as are the next two
        """Names that files of it have, as patterns; in a folder the first that fits stands for it."""

    @property
    def MODELS(self) -> frozenset[str]:  # noqa: N802
        """The kinds of models that it can write."""

    @property
    def HOLDS(self) -> frozenset[str]:  # noqa: N802
        """What it can write of ``features.FEATURES``, at least in some cases."""

    def sniff(self, head: bytes) -> bool:
        """Return, from the first bytes, whether a file has this format; if several say so, the first of ``FORMATS``."""

    def load(self, path: Path, pattern: str | None = None) -> Tokenizer:
        """Read a tokenizer, with the companion files that the format's writers add.

        Raises:
            InputError: if a file is missing or cannot be read.
            FormatError: if a file is broken, or two contradict each other; this holds for every function that reads.
            UsageError: if a pattern is given where the format has its own, or has none.
        """

    def dump(self, tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
        """Return the contents of the files that hold a tokenizer, by name; ``""`` is the output path itself.

        Raises:
            FormatError: if the format cannot hold the model, or something would be lost that ``allow_loss`` does not
                name; the same for every function that writes.
        """


class FormatOfSeveral(Format, Protocol):
    """The interface of the module of a format of several files."""

    def belongs(self, path: Path) -> bool:
        """Return, from what lies beside a file, whether it is one of them: that counts more than the order."""


def is_of_several(module: Format) -> TypeGuard[FormatOfSeveral]:
    """Return whether a format has several files."""
    return hasattr(module, "belongs")
