"""How a tokenizer is meant to be used, and where it came from: what files say beside the stages.

Neither changes an id. ``Usage`` is part of a tokenizer's value, since programs that feed models go by
it; ``Origin`` is not: it is what a file said about itself, for reports and for writing that format again.
"""

from __future__ import annotations

from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import Literal

Strategy = Literal["longest_first", "only_first", "only_second"]
STRATEGIES: tuple[Strategy, ...] = ("longest_first", "only_first", "only_second")
Direction = Literal["left", "right"]

ROLES = (
    "bos", "eos", "unk", "sep", "pad", "cls", "mask",
    "eot", "eom", "fim_pre", "fim_suf", "fim_mid", "fim_pad", "fim_rep", "fim_sep",
)  # fmt: skip
"""What special tokens can be for: Hugging Face's seven, and those that GGUF has besides."""

Fact = str | int | float | bool
"""The value of a setting that a file states."""


@dataclass(frozen=True, slots=True)
class Truncation:
    """How long an encoding may become, and what happens to the rest.

    Attributes:
        max_length: Ids at most, special tokens counted.
        stride: Number of ids that a window repeats from the one before.
        strategy: Of which text of a pair is taken: of the longer one, or of one only.
        direction: The side to cut off.
    """

    max_length: int
    stride: int = 0
    strategy: Strategy = "longest_first"
    direction: Direction = "right"


@dataclass(frozen=True, slots=True)
class Padding:
    """The length to which encodings are filled, and with what.

    Attributes:
        length: The length, or None: that of the longest in the batch.
        direction: The side to pad on.
        pad_to_multiple_of: Lengths are rounded up to a multiple of this; None or 0: they are not.
        pad_id: The id that fills.
        pad_type_id: Its type.
        pad_token: How it is written.
    """

    length: int | None = None
    direction: Direction = "right"
    pad_to_multiple_of: int | None = None
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"


@dataclass(frozen=True, slots=True)
class Usage:
    """How a tokenizer is meant to be used.

    Attributes:
        truncation: How long an encoding may become; applied only by who asks for it.
        padding: How long encodings are made; likewise.
        roles: (role, id) of special tokens, each role of ``ROLES`` at most once, in that order.
        chat_templates: (name, Jinja template); the usual one is called ``default`` and stands first.
    """

    truncation: Truncation | None = None
    padding: Padding | None = None
    roles: tuple[tuple[str, int], ...] = ()
    chat_templates: tuple[tuple[str, str], ...] = ()

    def role(self, name: str) -> int | None:
        """Return the id of the token with a role; None if there is none."""
        return dict(self.roles).get(name)


NO_USAGE = Usage()
"""What a tokenizer is that nothing is said of."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that a tokenizer was read from.

    Attributes:
        format: The format's name.
        facts: (setting, value) as the file states them, for reports, in the file's order.
        carried: (place, content) of what no stage stands for, so that writing the same format keeps it.
        trained: (setting, value) of the training, in the words of SentencePiece's ``TrainerSpec``, one that has
            several values as often: what a format that has a place for them keeps.
    """

    format: str
    facts: tuple[tuple[str, Fact], ...] = ()
    carried: tuple[tuple[str, bytes], ...] = ()
    trained: tuple[tuple[str, Fact], ...] = ()

    def kept(self, format_name: str, place: str) -> bytes | None:
        """Return the value kept from a place of the file, if the tokenizer came from that format."""
        return dict(self.carried).get(place) if self.format == format_name else None


def roles_in_order(roles: dict[str, int]) -> tuple[tuple[str, int], ...]:
    """Return roles in the order of ``Usage``, without unknown ones.

    >>> roles_in_order({"eos": 2, "bos": 1})
    (('bos', 1), ('eos', 2))
    """
    return tuple((role, roles[role]) for role in ROLES if role in roles)


@dataclass(frozen=True, slots=True)
class Edges:
    """The tokens around each document.

    Attributes:
        before: The ids before it, ``bos`` among them.
        after: The ids after it, ``eot`` the last of them.
        bos: The id that was asked for to begin each document, or None.
        eot: The id that was asked for to end each document, or None.
    """

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    bos: int | None = None
    eot: int | None = None

    def __len__(self) -> int:
        return len(self.before) + len(self.after)


NO_EDGES = Edges()
