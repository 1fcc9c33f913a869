"""``bpe inspect --chat``: show conversations as a chat template renders them, message by message."""

import sys
from typing import TYPE_CHECKING

from bpe_cli.cli import options
from bpe_cli.cli.console import (
    ConsoleListener,
    check_page_name,
    print_blocks,
    process_streams,
    stdout_console,
    write_page,
)
from bpe_cli.cli.conversations import Conversations
from bpe_cli.cli.idle import as_typed
from bpe_cli.errors import UsageError
from bpe_cli.jobs.files import check_outputs
from bpe_cli.results import ChatReport

if TYPE_CHECKING:
    from bpe_cli.cli.inspect.view_options import Shown
    from bpe_cli.jobs.tokenizers import AnyTokenizer


KEPT = {"--ids", "--spans", "--html"}
"""The views of a text that conversations have too."""


def show_chat(
    tokenizer: "AnyTokenizer",
    documents: options.Documents,
    conversations: Conversations,
    shown: "Shown",
    special: list[str] | None,
    screen: options.Screen,
) -> None:
    """Show conversations, as text, as JSON or as a page.

    Raises:
        UsageError: if something is asked for that conversations do not have.
    """
    from bpe_cli.jobs.inspect_chat import inspect_chat

    shown = as_typed(shown, but=("ids", "spans", "full", "json"))
    documents = as_typed(documents, "lines", "plain")  # conversations are JSON
    other = next((name for name in shown.given() if name not in KEPT), None)
    of_others = {
        "--token": shown.token, "--corpus": shown.corpus, "--documents": shown.documents, "--section": shown.section,
        "--residues": shown.residues is not None, "--plot": shown.plot,
    }  # fmt: skip
    other = other or next((name for name, given in of_others.items() if given), None)
    if other:
        raise UsageError(f"{other} is not for conversations", hint="bpe encode --chat --to text writes their text")
    check_page_name(shown.html)
    check_outputs(shown.outputs, stdout_taken="--json" if shown.json else None)
    specials, refuse = options.specials_of(special)
    if refuse:
        raise UsageError("--special error is for encode: inspect shows where special tokens would be")
    done = inspect_chat(
        documents.source(), tokenizer, conversations.job_options(), specials,
        outputs=shown.outputs, listener=ConsoleListener(quiet=screen.quiet, printing=True), streams=process_streams(),
    )  # fmt: skip
    found = ChatReport(tuple(done.documents), done.tokenizer.name)
    if shown.html is not None:
        write_page(shown.html, [found.to_html(full=shown.full)], screen.quiet)
    if shown.json:
        print(found.to_json(), end="")
    elif shown.html is None:
        from rich.text import Text

        from bpe_cli.views.conversation import ConversationView
        from bpe_cli.views.labels import TOKEN_LIMIT
        from bpe_cli.views.on_console import OnConsole
        from bpe_cli.views.tokens import Notes
        from bpe_cli.views.visible import harmless

        notes, limit = Notes(ids=shown.ids, spans=shown.spans), None if shown.full else TOKEN_LIMIT
        console = stdout_console(screen.color)
        for number, (_, where, report) in enumerate(found.value):
            if number:
                console.print()
            if len(found.value) > 1:
                console.print(Text(f"==> {harmless(where)} <==", style="bold"), soft_wrap=True)
            view = ConversationView(report, notes=notes, limit=limit, marked=sys.stdout.isatty())
            print_blocks(OnConsole(view), console)
