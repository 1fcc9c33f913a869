"""The part of ``bpe inspect`` that opens the playground."""

import os
import shlex

from bpe_cli.cli import options
from bpe_cli.cli.console import ConsoleListener, note, process_streams
from bpe_cli.cli.idle import given_in
from bpe_cli.cli.options import Option
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.fast_typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bpe_cli.jobs.tokenizers import TokenizerChoice


@dataclass(frozen=True, slots=True)
class Live:
    """The options about tokenizers, of which the playground takes several, and about the playground."""

    tokenizer: Annotated[
        list[str] | None,
        options.tokenizer_option(
            "--tokenizer", "-t", metavar="TOKENIZER", show_default=options.DEFAULT_TOKENIZER,
            help="A file or folder, an encoding (gpt2, cl100k_base), a model (gpt-4o), or hf:ORG/NAME from the "
            "local cache. If not given, $BPE_TOKENIZER. With --live it can be repeated.",
        ),
    ] = None  # fmt: skip
    live: Annotated[
        bool,
        Option(
            "--live", help="Open a playground: a page on this machine that shows tokens while you type. Ctrl-C ends it."
        ),
    ] = False
    port: Annotated[
        int | None,
        Option(
            "--port", metavar="N", min=1, max=65535, show_default="a free one",
            help="With --live: the port of 127.0.0.1.",
        ),
    ] = None  # fmt: skip
    no_open: Annotated[bool, Option("--no-open", help="With --live: print the address, and do not open a browser.")] = (
        False
    )

    def only_tokenizer(self) -> str | None:
        """Return the tokenizer where there is no playground.

        Raises:
            UsageError: if there are several, or an option is about a playground.
        """
        if idle := next((name for name, given in (("--port", self.port), ("--no-open", self.no_open)) if given), None):
            raise UsageError(f"{idle} is for --live")
        if self.tokenizer is not None and len(self.tokenizer) > 1:
            words = shlex.join(word for name in self.tokenizer for word in ("-t", name))
            raise UsageError(
                f"bpe inspect shows a text by one tokenizer, and there are {len(self.tokenizer)}",
                hint=f"set them side by side with bpe compare {words}, or in a playground with --live",
            )
        return self.tokenizer[0] if self.tokenizer else None


def play(
    live: Live,
    documents: options.Documents,
    choices: "list[TokenizerChoice]",
    groups: "Iterable[object]",
    idle: "Mapping[str, object]",
    *,
    quiet: bool,
) -> None:
    """Open the playground, print its address, and serve it until the process is interrupted.

    Args:
        live: Where it is served.
        documents: Where its first text is from.
        choices: The tokenizers.
        groups: Other groups of options, none of which has an effect on the playground.
        idle: Other options of that kind, with what was given.
        quiet: Whether the address alone is printed.

    Raises:
        UsageError: if an option has nothing to do there, or there are several texts.
        InputError, FormatError: if a text or a tokenizer cannot be read.
        OutputError: if the port is not free.
    """
    wrong = given_in(*groups, replace(documents, text=None))
    wrong += [name for name, given in idle.items() if given is not None]
    if wrong:
        raise UsageError(f"{wrong[0]} has no effect on the playground", hint="leave it out, or --live")
    inputs = documents.inputs or []
    if len(inputs) > 1:
        raise UsageError(f"the playground begins with one text, and there are {len(inputs)}")
    if inputs and documents.text is not None:
        raise UsageError("--text and files cannot be used together", hint="drop --text, or the names of the files")
    from pathlib import Path

    from bpe_cli.playground import Playground, browsable

    playground = Playground(
        choices,
        text=Path(inputs[0]) if inputs else (documents.text or "").encode("utf-8", "surrogateescape"),
        port=live.port or 0,
        listener=ConsoleListener(quiet=quiet, printing=True),
        stdin=process_streams().read,
    )
    print(playground.url, flush=True)
    opened = not live.no_open and browsable() and playground.open()
    note("it is open in your browser" if opened else "open this address in a browser on this machine", quiet=quiet)
    if not opened and os.environ.get("SSH_CONNECTION"):
        port = playground.port
        note(f"over ssh: run ssh -L {port}:127.0.0.1:{port} HOST on your own machine, and open it there", quiet=quiet)
    note("press Ctrl-C to stop it", quiet=quiet)
    playground.serve()
