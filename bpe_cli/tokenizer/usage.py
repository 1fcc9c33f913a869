"""How a tokenizer is meant to be used, and where it came from: what files say beside the stages.

Neither changes an id. ``Usage`` is part of a tokenizer's value, since programs that feed models go by
it; ``Origin`` is not: it is what a file said about itself, for reports and for writing that format again.
"""

from __future__ import annotations

from bpe_cli.support.fast_dataclass import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bpe_cli.tokenizer.model_inputs import Padding, Truncation

ROLES = (
    "bos", "eos", "unk", "sep", "pad", "cls", "mask",
    "eot", "eom", "fim_pre", "fim_suf", "fim_mid", "fim_pad", "fim_rep", "fim_sep",
)  # fmt: skip
"""What special tokens can be for: Hugging Face's seven, and those that GGUF has besides."""

Fact = str | int | float | bool
"""The value of a setting that a file states."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Describe how a tokenizer is meant to be used.

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
    """Describe what the file was that a tokenizer was read from.

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
        """Return what was carried at a place, if the tokenizer came from that very format."""
        return dict(self.carried).get(place) if self.format == format_name else None


def roles_in_order(roles: dict[str, int]) -> tuple[tuple[str, int], ...]:
    """Return roles as ``Usage`` has them; what is no role is left out.

    >>> roles_in_order({"eos": 2, "bos": 1})
    (('bos', 1), ('eos', 2))
    """
    return tuple((role, roles[role]) for role in ROLES if role in roles)
