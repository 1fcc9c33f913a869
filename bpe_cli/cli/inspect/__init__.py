"""``bpe inspect``: show a text token by token, or report on a tokenizer."""

import os
import stat
import sys
from collections.abc import Mapping

from bpe_cli.cli import options
from bpe_cli.cli.console import ConsoleListener, check_page_name, process_streams
from bpe_cli.cli.conversations import Conversations
from bpe_cli.cli.idle import as_typed, given_in
from bpe_cli.cli.inspect.live import Live, play
from bpe_cli.cli.inspect.view_options import Reading, Shown
from bpe_cli.cli.options import Option
from bpe_cli.cli.pictures import outputs_of
from bpe_cli.cli.tokenizer_inputs import is_tokenizer, named_among, no_text, with_t
from bpe_cli.errors import UsageError
from bpe_cli.jobs.files import check_outputs
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.fast_typing import TYPE_CHECKING, Annotated
from bpe_cli.support.ordered_threads import usable_threads
from bpe_cli.views.pictures import TOKENIZER_PICTURES

if TYPE_CHECKING:
    from bpe_cli.jobs.tokenizers import AnyTokenizer

EPILOG = "Without a text: a report on the tokenizer itself. It can then be given as INPUT; with -t, INPUT is text."

COMMON = {
    "inputs": "A text, a tokenizer, or a file of ids.",
    "text": "Show this text.",
    "tokenizer": "A file, an encoding or a model. [o200k_base]",
    "ids": "Show each token's id under it.",
    "table": "List the tokens in a table.",
    "stages": "Show what each stage makes of the text.",
    "steps": "Show how the text is tokenized, step by step.",
    "chat": "Show conversations, message by message.",
    "live": "Open a playground in the browser.",
    "lines": "",
    "special": "Recognize special tokens: all, or TEXT.",
    "section": "Show a section of the report on a tokenizer.",
    "corpus": "Report which tokens these files use.",
    "token": "Look up a token of the tokenizer.",
    "documents": "Show documents A to B of a file of ids.",
    "full": "Show everything, however long.",
    "json": "Print one JSON object.",
    "html": "Write an HTML page.",
    "svg": "Write pictures.",
    "threads": "Threads to use for --corpus. [all]",
    "quiet": "",
}
"""The options that people use most, and what the short help says of them; nothing: the first sentence of the long."""


def run(
    *,
    live: Live,
    shown: Shown,
    documents: options.Documents,
    conversations: Conversations,
    special: options.SpecialInText = None,
    reading: Reading,
    threads: Annotated[
        int | None,
        Option(
            "--threads",
            "-j",
            metavar="N",
            min=1,
            envvar="BPE_THREADS",
            rich_help_panel="Running",
            show_default="all available",
            help="Threads to use for --corpus; changes no result.",
        ),
    ] = None,
    screen: options.Screen,
) -> None:
    """Show a text token by token, or report on a tokenizer.

    [bold]Examples[/bold]

        bpe inspect -T "hello world" -t gpt-4o

        bpe inspect notes.txt -t tokenizer.json --ids

        bpe inspect tokenizer.json

        bpe inspect tokenizer.json --corpus texts/

        bpe inspect messages.json --chat -t gpt-4

        bpe inspect gpt2 --token ' the' --token 262

        bpe inspect train.bin --documents 17:20

        bpe inspect -T "hello world" -t unigram.json --nbest 5

        bpe inspect -T "Hello, world's" --normalizer lowercase --pre-tokenizer bert

        bpe inspect -T "hello world" -t gpt2 --steps

        bpe inspect -T "hello world" -t gpt2 --steps --html steps.html

        bpe inspect notes.txt -t tokenizer.json --html notes.html

        bpe inspect --live -t tokenizer.json -t gpt-4o
    """
    from bpe_cli.cli.inspect.output import show
    from bpe_cli.jobs.inspect import InspectOptions, inspect

    if live.live:
        idle = {"--special": options.typed("special", special)}
        _play(live, documents, (shown, conversations), reading, idle, screen)
        return
    tokenizer = live.only_tokenizer()
    conversations.check_idle()
    if conversations.chat:
        from bpe_cli.cli.inspect.chat import show_chat

        show_chat(reading.choice_of(tokenizer), documents, conversations, shown, special, screen)
        return
    if (data := _ids_in(shown, documents)) is not None:
        from bpe_cli.cli.inspect.data import show_data

        if options.typed("special", special) is not None:
            raise UsageError(f"--special is for texts, and {data} holds ids", hint="bpe decode turns them into text")
        if tokenizer is None and given_in(reading):
            raise UsageError("--pattern, --add-special and --inference need a tokenizer here", hint="name it with -t")
        show_data(data, None if tokenizer is None else reading.choice_of(tokenizer), shown, documents, screen)
        return
    corpus = shown.corpus
    tokenizer, named = _subject(shown, documents, tokenizer)
    if named:
        documents = replace(documents, inputs=None)
    check_page_name(shown.html)
    alone = documents.text is None and not documents.inputs and (named or not _stdin_has_text())
    if alone:
        shown = shown.for_tokenizer()
        if not corpus:
            documents, special = as_typed(documents), special if options.typed("special", special) else None
        _check_alone(shown, documents, special)
    else:
        shown = shown.for_text()
        _check_of_text(shown)
    pictures = shown.pictures(TOKENIZER_PICTURES[: 3 if corpus else 2] if alone else ())
    outputs = [*shown.outputs, *outputs_of(pictures)]
    check_outputs(outputs, stdout_taken="--json" if shown.json else None)
    specials, refuse = options.specials_of(special)
    if refuse:
        meant = "with --corpus, special tokens are text, or --special all" if alone else (
            "inspect shows where special tokens would be"
        )  # fmt: skip
        raise UsageError(f"--special error is for encode: {meant}")
    cutting = shown.cutting(tokenizer, reading, special)
    used: AnyTokenizer
    if cutting is not None:
        used, specials = cutting.tokenizer(), ()
    else:
        choice = reading.choice_of(tokenizer)
        used = replace(choice, way_out="to see it as text, name a tokenizer with -t") if named else choice
    done = inspect(
        used,
        None if alone else documents.source(),
        InspectOptions(
            specials=specials,
            stages=shown.stages or cutting is not None,
            scores=shown.scores and not shown.is_page,
            details=shown.details,
            best=shown.nbest,
            steps=shown.steps,
            full=shown.full,
            pairs=shown.pairs,
            usual_pairs=10 if shown.json or shown.html is not None else 0,
            tokens=tuple(shown.token or ()),
            threads=usable_threads(threads),
            cutting=cutting,
            residue_share=shown.residues,
        ),
        corpus=replace(documents, inputs=corpus).source() if corpus else None,
        outputs=outputs,
        no_corpus="--corpus takes a file, a folder, a pattern, or - for stdin",
        listener=ConsoleListener(quiet=screen.quiet, printing=not alone),
        streams=process_streams(),
    )
    show(done, shown, pictures, screen)


def _play(
    live: Live,
    documents: options.Documents,
    groups: tuple[object, ...],
    reading: Reading,
    idle: Mapping[str, object],
    screen: options.Screen,
) -> None:
    """Open the playground; inputs that are tokenizers are those it offers, as in a report on one."""
    names, inputs = live.tokenizer or [], documents.inputs or []
    if not names and documents.text is None and all(map(is_tokenizer, inputs)):
        names, inputs = inputs, []
    if not inputs and documents.text is None and _stdin_has_text():
        inputs = ["-"]
    choices = [reading.choice_of(name) for name in (names or (None,))]
    play(live, replace(documents, inputs=inputs), choices, groups, idle, quiet=screen.quiet)


def _ids_in(shown: Shown, documents: options.Documents) -> str | None:
    """Return the input that holds ids which were written; None if it is a text, or a tokenizer."""
    inputs = documents.inputs or []
    if options.typed("documents", shown.documents) is not None:
        if len(inputs) != 1:
            raise UsageError("--documents needs one file or folder of ids", hint="for example: bpe inspect train.bin")
        return inputs[0]
    if len(inputs) != 1 or given_in(documents) or shown.token or shown.corpus:
        return None
    from bpe_cli.datasets.inspect import is_data

    return inputs[0] if is_data(inputs[0]) else None


def _subject(shown: Shown, documents: options.Documents, tokenizer: str | None) -> tuple[str | None, bool]:
    """Return the tokenizer, and whether the report is on it: then it may stand in the place of an input."""
    inputs, text = documents.inputs, documents.text
    if shown.token or shown.corpus:
        return _tokenizer_alone(tokenizer, inputs, text), True
    if tokenizer is not None or text is not None or not inputs:
        return tokenizer, False
    if len(inputs) > 1:
        _refuse_tokenizers(inputs)
    elif is_tokenizer(inputs[0]):
        return inputs[0], True
    return None, False


def _check_of_text(shown: Shown) -> None:
    """Check that nothing is asked of a text that only reports on tokenizers or data sets have."""
    if option := shown.sectioned:
        raise UsageError(
            f"{option} is for a report on a tokenizer, and this is a text", hint=f"leave the text out, or {option}"
        )
    shown.check()
    if shown.plot:
        raise UsageError("--plot draws a tokenizer or a data set, and this is a text", hint="--table lists tokens")


def _check_alone(shown: Shown, documents: options.Documents, special: list[str] | None) -> None:
    """Check that nothing is asked about a text without a text, and sections only of a report that has them."""
    if (option := shown.sectioned) and shown.token:
        raise UsageError(f"{option} shows parts of a whole report, and --token looks up single tokens")
    if shown.section and shown.json:
        raise UsageError("--json has all sections, and --section chooses some", hint="leave one of them out")
    asked = [f"--section {name}" for name in shown.section or ()] + ["--residues"] * (shown.residues is not None)
    if not shown.corpus and (option := next((each for each in asked if each in _ON_CORPUS), None)):
        raise UsageError(f"{option} needs a corpus, and none is given", hint="give one with --corpus INPUT")
    reading = {
        "--lines": documents.lines,
        "--jsonl": documents.jsonl,
        "--plain": documents.plain,
        "--field": documents.field,
        "--member": documents.member,
        "--special": special,
    }
    if shown.token and shown.drawn:
        raise UsageError(f"{shown.drawn} shows a whole tokenizer, and --token looks up single tokens")
    if shown.plot and (shown.json or shown.is_page):
        raise UsageError("--plot draws below the tables, and here there are none", hint="leave it out")
    idle = shown.of_a_text or (None if shown.corpus else next((name for name, given in reading.items() if given), None))
    if idle:
        raise UsageError(f"{idle} needs a text, and none is given", hint="give one with -T TEXT")


_ON_CORPUS = ("--section corpus", "--section residues", "--residues")


def _refuse_tokenizers(inputs: list[str]) -> None:
    """Refuse names of tokenizers where texts should be: several of them, or one beside texts."""
    if all(map(is_tokenizer, inputs)):
        raise UsageError(
            f"bpe inspect reports on one tokenizer at a time, and there are {len(inputs)}",
            hint=f"set them side by side with bpe compare {with_t(inputs)}",
        )
    if names := named_among(inputs):
        raise no_text(names[0], f"to see how it splits a text, name it with {with_t(names[:1])}")


def _tokenizer_alone(tokenizer: str | None, inputs: list[str] | None, text: str | None) -> str | None:
    """Return the tokenizer that --token and --corpus are about: with -t, or in the place of an input."""
    if text is not None or (inputs and (tokenizer is not None or len(inputs) > 1)):
        raise UsageError(
            "--token and --corpus are for a report on a tokenizer, and a text is given too",
            hint="give the text with --corpus, or look at it without them",
        )
    return inputs[0] if inputs else tokenizer


def _stdin_has_text() -> bool:
    """Return whether stdin has input: a pipe or a file, not a terminal or nothing at all."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)
