"""``bpe encode``: text to ids."""

import sys
from typing import TYPE_CHECKING

from bpe_cli.cli import options
from bpe_cli.cli.console import ConsoleListener, note, on_terminal, process_streams
from bpe_cli.cli.encode_options import (
    Applied,
    Conversations,
    Drawing,
    Subwords,
    Written,
)
from bpe_cli.errors import UsageError
from bpe_cli.support.messages import listed
from bpe_cli.support.messages import plural as count

if TYPE_CHECKING:
    from bpe_cli.jobs.encode import Encoded, EncodeOptions
    from bpe_cli.jobs.segment import Segmented

EPILOG = "Exit status: 0 fine, 1 --max-tokens was passed, 2 bad usage, input or output."

_RUNNING = options.Running(block_size=1 << 20)
"""A block and its ids stay in a processor's cache; what is done once a block costs nothing beside it."""


def run(
    applied: Applied,
    written: Written,
    documents: options.Documents,
    conversations: Conversations,
    subwords: Subwords,
    drawing: Drawing,
    running: options.Running = _RUNNING,
) -> None:
    """Encode text into token ids.

    [bold]Examples[/bold]

        bpe encode -T "hello world" -t gpt-4o

        bpe encode corpus.txt -t tokenizer.json -o corpus.bin

        bpe encode data.jsonl --jsonl --field text --to count

        bpe encode prompt.md -t gpt-4o --to count --max-tokens 8000

        bpe encode --chat messages.json -t gpt-4o --to count
    """
    to, output = written.to and written.to.value, written.output
    _check_idle(to, applied, written, conversations, subwords)
    source = documents.source(running.block_size, lines=to == "segmented")
    choice = applied.choice()
    listener = ConsoleListener(quiet=running.quiet, printing=on_terminal(output))
    target, streams = sys.stdout.buffer if output is None else output, process_streams()
    if to == "segmented":
        from bpe_cli.jobs.segment import segment

        how = subwords.job_options(drawing.sampling(), running.threads)
        segmented = segment(source, choice, how, output=target, listener=listener, streams=streams)
        _show_segmented(segmented, written, subwords, running.quiet)
        return
    job = _job_options(applied, written, drawing, running.threads)
    if conversations.chat:
        from bpe_cli.jobs.encode_chat import encode_chat

        chat = conversations.job_options()
        done = encode_chat(source, choice, chat, job, output=target, listener=listener, streams=streams)
        _show(done, "conversation", output, running.quiet)
        return
    from bpe_cli.jobs.encode import encode

    done = encode(source, choice, job, output=target, listener=listener, streams=streams)
    _show(done, "document", output, running.quiet)


def _job_options(applied: Applied, written: Written, drawing: Drawing, threads: int | None) -> "EncodeOptions":
    """Return the options of a job.

    Raises:
        UsageError: if options contradict each other, or a word of --with is unknown.
    """
    from bpe_cli.jobs.encode import EncodeOptions

    if unknown := written.more - {"tokens", "spans"}:
        raise UsageError(f"--with knows tokens and spans, not {listed(sorted(unknown), separator=', ')}")
    specials, refuse = options.specials_of(applied.special)
    return EncodeOptions(
        to=written.to.value if written.to else None,
        tokens="tokens" in written.more,
        spans="spans" in written.more,
        specials=specials,
        refuse_specials=refuse,
        add_special_tokens=applied.add_special_tokens,
        bos=applied.bos,
        eot=applied.eot,
        max_tokens=written.max_tokens,
        sampling=drawing.sampling(),
        threads=threads,
    )


def _check_idle(
    to: str | None, applied: Applied, written: Written, conversations: Conversations, subwords: Subwords
) -> None:
    """Make sure that no option is given that has no effect.

    Raises:
        UsageError: if an option has no effect.
    """
    if not conversations.chat:
        if conversations != Conversations():
            raise UsageError(
                "--chat-template, --generation-prompt, --tools and --date are about conversations",
                hint="--chat reads them",
            )
        if to == "text":
            raise UsageError("--to text writes the text of conversations", hint="--chat reads them")
    elif to == "segmented":
        raise UsageError("a conversation is not segmented text", hint="--to text writes what a template makes of it")
    if to != "segmented":
        if subwords != Subwords():
            raise UsageError(
                "--separator, --glossary, --vocabulary, --vocabulary-threshold and --write-vocabulary are about "
                "segmented text",
                hint="--to segmented writes it",
            )
        return
    about_ids = {
        "--with": written.with_,
        "--bos": applied.bos,
        "--eot": applied.eot,
        "--max-tokens": written.max_tokens is not None,
        "--special": applied.special,
        "--add-special-tokens": applied.add_special_tokens,
    }
    useless = [name for name, given in about_ids.items() if given]
    if useless:
        raise UsageError(f"segmented text has no ids, which {useless[0]} is about", hint="leave it out")


def _show(done: "Encoded", what: str, output: str | None, quiet: bool) -> None:
    """Note what was written, and what its readers may not expect."""
    if output is not None and done.tokens is not None:
        note(f"{count(done.documents, what)}, {count(done.tokens, 'token')} -> {output}", quiet=quiet)
    if done.divided:
        note(
            f"note: the token of --eot stands in texts too, {count(done.divided, 'time')}: "
            "readers that divide by it find more documents",
            quiet=quiet,
        )


def _show_segmented(done: "Segmented", written: Written, subwords: Subwords, quiet: bool) -> None:
    if written.output is not None:
        note(f"{count(done.lines, 'line')} -> {written.output}", quiet=quiet)
    if done.subwords is not None:
        note(f"{count(done.subwords, 'subword')} -> {subwords.write_vocabulary}", quiet=quiet)
