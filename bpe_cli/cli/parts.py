"""The options about parts of texts: chunks, and what is kept of a text that is cut."""

from functools import partial

from bpe_cli.cli.idle import as_typed
from bpe_cli.cli.options import Option
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING, Annotated
from bpe_cli.tokenizer.parts import BREAKS

if TYPE_CHECKING:
    from bpe_cli.jobs.chunk import ChunkOptions, TruncateOptions
    from bpe_cli.tokenizer import Specials

_parts_option = partial(Option, rich_help_panel="Parts of texts")

_OF_CHUNKS = ("size", "overlap", "break_")
_OF_TEXT = ("truncate", "keep")


@dataclass(frozen=True, slots=True)
class Parts:
    """The options about parts of texts."""

    size: Annotated[
        int | None,
        _parts_option("--size", metavar="N", min=1, help="With --to chunks: put at most N tokens in a chunk."),
    ] = None
    overlap: Annotated[
        int | None,
        _parts_option(
            "--overlap",
            metavar="N",
            min=0,
            show_default="0",
            help="Number of tokens that a chunk repeats from the one before.",
        ),
    ] = None
    break_: Annotated[
        str | None,
        _parts_option(
            "--break", choices=BREAKS, show_default="token",
            help="Where a chunk should end; if it cannot end there, it ends at the next finer of these.",
        ),
    ] = None  # fmt: skip
    truncate: Annotated[
        int | None,
        _parts_option("--truncate", metavar="N", min=0, help="With --to text: keep at most N tokens of each text."),
    ] = None
    keep: Annotated[
        str | None,
        _parts_option(
            "--keep", choices=("head", "tail", "middle"), show_default="head", help="The part of the text to keep."
        ),
    ] = None

    def without_idle_defaults(self, to: str | None) -> "Parts":
        """Return these without what a project's file says of parts that are not written."""
        return as_typed(self, *{"chunks": _OF_TEXT, "text": _OF_CHUNKS}.get(to or "", (*_OF_CHUNKS, *_OF_TEXT)))

    def check_idle(self) -> None:
        """Check that nothing is said about parts of conversations.

        Raises:
            UsageError: if something is.
        """
        for name in (*_OF_CHUNKS, *_OF_TEXT):
            if getattr(self, name) is not None:
                raise UsageError(f"--{name.rstrip('_')} is for texts, and --chat reads conversations")

    def job_options(
        self, to: str | None, specials: "Specials", threads: int | None
    ) -> "ChunkOptions | TruncateOptions | None":
        """Return the options as the library takes them; None if no parts are written.

        Raises:
            UsageError: if options contradict each other, or one is missing.
        """
        for kind, names in (("chunks", _OF_CHUNKS), ("text", _OF_TEXT)):
            idle = next((name for name in names if to != kind and getattr(self, name) is not None), None)
            if idle is not None:
                hint = f"--to {kind} writes {'them' if kind == 'chunks' else 'it'}"
                about = "chunks" if kind == "chunks" else "text that is cut"
                raise UsageError(f"--{idle.rstrip('_')} is for {about}", hint=hint)
        if to == "text" and self.truncate is None:
            raise UsageError(
                "--to text writes the text of conversations, or the beginning of each text",
                hint="--chat reads conversations; --truncate 100 keeps 100 tokens",
            )
        if to == "chunks" and self.size is None:
            raise UsageError("--to chunks needs a size", hint="for example: --size 256")
        from bpe_cli.jobs.chunk import ChunkOptions, TruncateOptions

        if self.size is not None:
            return ChunkOptions(self.size, self.overlap or 0, self.break_ or "token", specials, threads)  # type: ignore[arg-type]  # one of the choices
        if self.truncate is not None:
            return TruncateOptions(self.truncate, self.keep or "head", specials, threads)  # type: ignore[arg-type]  # likewise
        return None
