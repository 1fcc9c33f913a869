"""The options about conversations, which several commands have."""

from functools import partial

from bpe_cli.cli.idle import given_in
from bpe_cli.cli.options import Option
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    import datetime

    from bpe_cli.jobs.encode_chat import ChatOptions

_chat_option = partial(Option, rich_help_panel="Conversations")


@dataclass(frozen=True, slots=True)
class Conversations:
    """The options about conversations."""

    chat: Annotated[
        bool,
        _chat_option("--chat", help="Each input is a conversation, a JSON array of messages; with --jsonl, each line."),
    ] = False
    chat_template: Annotated[
        str | None,
        _chat_option(
            "--chat-template", metavar="NAME|FILE", show_default="the tokenizer's own",
            help="How messages become text: one of the tokenizer's templates, a Jinja file, chatml, gpt-3.5, "
            "gpt-4-32k, harmony, mistral-v3, or openai (only for bpe encode --to count: what OpenAI bills).",
        ),
    ] = None  # fmt: skip
    generation_prompt: Annotated[
        bool | None,
        _chat_option(
            "--generation-prompt/--no-generation-prompt", show_default="unless the model spoke last",
            help="Open the model's turn at the end.",
        ),
    ] = None  # fmt: skip
    tools: Annotated[
        str | None,
        _chat_option(
            "--tools", metavar="FILE", help="A file with a JSON array of tools, for conversations that have none."
        ),
    ] = None
    date: Annotated[
        str | None,
        _chat_option(
            "--date",
            metavar="YYYY-MM-DD",
            show_default="now; bpe prepare: none",
            help="The date for templates that write one.",
        ),
    ] = None

    def job_options(self) -> "ChatOptions":
        """Return the options as the library takes them.

        Raises:
            UsageError: if the date is not one, or the name of the template is empty.
        """
        if self.chat_template == "":
            raise UsageError(
                "the name of a chat template is empty", hint="if a shell variable holds it, it may not be set"
            )
        from bpe_cli.jobs.encode_chat import ChatOptions

        date = None if self.date is None else _date(self.date)
        return ChatOptions(self.chat_template, self.generation_prompt, self.tools, date)

    def check_idle(self) -> None:
        """Check that nothing is said of conversations where none are read.

        Raises:
            UsageError: if something is.
        """
        if not self.chat and given_in(self):
            raise UsageError(
                "--chat-template, --generation-prompt, --tools and --date are for conversations only",
                hint="--chat reads them",
            )


def _date(text: str) -> "datetime.date":
    import datetime

    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--date {text!r} is not a date", hint="for example: --date 2025-06-28") from None
