"""``bpe inspect``: show a text token by token, or report on a tokenizer.

Length: six views of a text and two of a tokenizer, and the options that choose among them.
"""

import os
import shlex
import stat
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from bpe_cli.cli import options
from bpe_cli.cli.console import (
    ConsoleListener,
    check_page_name,
    print_json,
    process_streams,
    stdout_console,
    write_page,
)
from bpe_cli.cli.conversations import Conversations
from bpe_cli.cli.inspect_live import Live, play
from bpe_cli.cli.options import Option
from bpe_cli.cli.pictures import Drawn, PictureFile, outputs_of, picture_files, write_pictures
from bpe_cli.errors import UsageError
from bpe_cli.jobs.files import FIELD, check_outputs
from bpe_cli.jobs.tokenizers import Inference
from bpe_cli.results import TextReport, TokenizerReport
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.ordered_threads import usable_threads
from bpe_cli.views import ALL, SECTIONS

if TYPE_CHECKING:
    from bpe_cli.jobs.inspect import (
        Cutting,
        Document,
        ExplainedTexts,
        InspectedTexts,
        Inspection,
        TextInspection,
        TokenCards,
    )
    from bpe_cli.views.blocks import Adaptive
    from bpe_cli.views.stages import StagesView
    from bpe_cli.views.tokens import TokenView

Report = TypeVar("Report")

EPILOG = "Without a text: a report on the tokenizer itself. It can then be given as INPUT; with -t, INPUT is text."

COMMON = {
    "inputs": "A text, a tokenizer, or a file of ids.",
    "text": "Show this text.",
    "tokenizer": "A file, an encoding or a model. [o200k_base]",
    "ids": "Set each token's id under it.",
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


@dataclass(frozen=True, slots=True)
class Shown:
    """The options about what is shown, and where."""

    ids: Annotated[bool, Option("--ids", help="Set each token's id under it.")] = False
    spans: Annotated[bool, Option("--spans", help="Set each token's byte span under it.")] = False
    scores: Annotated[
        bool, Option("--scores", help="Set each token's log-probability (unigram) or score under it.")
    ] = False
    table: Annotated[bool, Option("--table", help="List the tokens in a table, with all of these.")] = False
    stages: Annotated[bool, Option("--stages", help="Show what each stage makes of the text.")] = False
    nbest: Annotated[
        int | None,
        Option(
            "--nbest", metavar="N", min=1, max=1024, help="Rank the N best segmentations by their scores (unigram)."
        ),
    ] = None
    normalizer: Annotated[
        str | None,
        Option("--normalizer", metavar="NAME,...", help="Show the text after this normalizer; no tokenizer is used."),
    ] = None
    pre_tokenizer: Annotated[
        str | None,
        Option(
            "--pre-tokenizer", metavar="NAME,...",
            help="Show the pieces that this splits the text into, with their positions; no tokenizer is used.",
        ),
    ] = None  # fmt: skip
    steps: Annotated[
        bool, Option("--steps", help="Show how the text is tokenized: merge by merge, match by match, or the lattice.")
    ] = False
    pairs: Annotated[
        int | None,
        Option(
            "--pairs", metavar="N", min=0, show_default="0; with --json and --html 10",
            help="With --steps: show the N best pairs that could merge at each step, and which are tied.",
        ),
    ] = None  # fmt: skip
    token: Annotated[
        list[str] | None,
        Option(
            "--token", metavar="ID|TEXT",
            help="Look up a token by its id or its text (text:42 where that is digits; or bytes:e8b0). "
            "Can be repeated.",
        ),
    ] = None  # fmt: skip
    corpus: Annotated[
        list[str] | None,
        Option(
            "--corpus", metavar="INPUT",
            help="Report which tokens of the tokenizer these files, folders or globs use. Can be repeated.",
        ),
    ] = None  # fmt: skip
    documents: Annotated[
        str | None,
        Option(
            "--documents", metavar="A:B",
            help="Show these documents of ids that encode or prepare wrote, counted from 1: 17:20, or 17.",
        ),
    ] = None  # fmt: skip
    section: Annotated[
        list[str] | None,
        Option(
            "--section", metavar="SECTION", choices=(*SECTIONS, ALL),
            help="Show this section of the report on a tokenizer; all for each of them. Can be repeated.",
        ),
    ] = None  # fmt: skip
    full: Annotated[bool, Option("--full", help="Show everything, however long.")] = False
    json: options.Json = False
    html: options.Html = None
    svg: options.Svg = None
    png: options.Png = None
    plot: options.Plot = False

    @property
    def of_a_text(self) -> str | None:
        """The first option that was given and says nothing of a tokenizer by itself."""
        return next((name for name in self.given() if name not in _FILES), None)

    @property
    def drawn(self) -> str | None:
        """The first option that was given and asks for a page or pictures."""
        given = [name for name in self.given() if name in _FILES]
        return next(iter(given), "--plot" if self.plot else None)

    @property
    def is_page(self) -> bool:
        """Whether files are written in place of a view."""
        return self.html is not None or bool(self.svg or self.png)

    @property
    def details(self) -> int | None:
        """How many tokens of a text are shown; None for all."""
        from bpe_cli.views.labels import TOKEN_LIMIT

        return None if self.full or self.json or self.stages else TOKEN_LIMIT

    def pictures(self, names: tuple[str, ...]) -> tuple[PictureFile, ...]:
        """Return the files of pictures that there will be; a text has one without a name.

        Raises:
            UsageError: if there is no such picture, or a name is that of another kind of file.
            OutputError: if a folder cannot be made.
        """
        return picture_files(self.svg, self.png, names, TOKENIZER_PICTURES if names else ())

    @property
    def outputs(self) -> list[tuple[str, str | None]]:
        """The options that name files to write, and the files; those of pictures apart."""
        return [("--html", self.html)]

    def check(self) -> None:
        """Check that one view shows everything that was asked for.

        Raises:
            UsageError: if another view would be needed.
        """
        given = self.given()
        if self.pairs is not None and not self.steps:
            raise UsageError("--pairs is for --steps", hint="--steps shows how a text became its tokens")
        for view, others in _BESIDE.items():
            if view in given and (other := next((name for name in given if name != view and name not in others), None)):
                raise UsageError(f"{view} and {other} are different views of a text", hint="ask for one at a time")

    @property
    def cuts(self) -> bool:
        """Whether stages are shown by themselves."""
        return self.normalizer is not None or self.pre_tokenizer is not None

    def cutting(self, tokenizer: str | None) -> "Cutting | None":
        """Return the stages that are shown by themselves; None if there are none.

        Raises:
            UsageError: if there is no stage of a name, or there is a tokenizer too.
        """
        from bpe_cli.jobs.inspect import Cutting
        from bpe_cli.stages.named_stages import normalizers_named, pre_tokenizers_named

        if not self.cuts:
            return None
        if tokenizer is not None:
            raise UsageError(
                "--normalizer and --pre-tokenizer show stages by themselves, and a tokenizer has its own",
                hint="leave -t out; --stages shows those of a tokenizer",
            )
        return Cutting(
            () if self.normalizer is None else normalizers_named(self.normalizer),
            () if self.pre_tokenizer is None else pre_tokenizers_named(self.pre_tokenizer),
        )

    def given(self) -> list[str]:
        """The options that were given and are about a text."""
        values = {
            "--ids": self.ids,
            "--spans": self.spans,
            "--scores": self.scores,
            "--table": self.table,
            "--stages": self.stages,
            "--nbest": self.nbest is not None,
            "--normalizer": self.normalizer is not None,
            "--pre-tokenizer": self.pre_tokenizer is not None,
            "--steps": self.steps,
            "--pairs": self.pairs is not None,
            "--html": self.html is not None,
            "--svg": self.svg is not None,
            "--png": self.png is not None,
        }
        return [name for name, value in values.items() if value]


_BESIDE = {
    "--steps": {"--nbest", "--ids", "--pairs", "--html"},
    "--pairs": {"--nbest", "--ids", "--steps", "--html"},
    "--nbest": {"--steps", "--ids"},
    "--html": {"--svg", "--png", "--ids", "--spans", "--scores", "--table", "--steps", "--pairs"},
    "--svg": {"--html", "--png", "--ids"},
    "--png": {"--html", "--svg", "--ids"},
    "--stages": {"--ids", "--spans", "--scores"},
    "--normalizer": {"--pre-tokenizer"},
    "--pre-tokenizer": {"--normalizer"},
}
"""Views that show only one thing, and the options that can stand beside them."""

_FILES = ("--html", "--svg", "--png")

TOKENIZER_PICTURES = ("lengths", "scripts", "use")
"""The pictures of a tokenizer, as ``of_tokenizer.NAMES`` has them, without importing it."""


def run(
    *,
    live: Live,
    shown: Shown,
    documents: options.Documents,
    conversations: Conversations,
    special: options.SpecialInText = None,
    add_special: options.AddSpecial = None,
    pattern: options.PatternName = None,
    inference: Annotated[
        Inference | None,
        options.tokenizer_option(
            "--inference", show_default="merges", help="How a BPE vocabulary is applied, as for encode."
        ),
    ] = None,
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

        bpe inspect messages.json --chat -t gpt-4o

        bpe inspect gpt2 --token ' the' --token 262

        bpe inspect train.bin --documents 17:20

        bpe inspect -T "hello world" -t unigram.json --nbest 5

        bpe inspect -T "Hello, world's" --normalizer lowercase --pre-tokenizer bert

        bpe inspect -T "hello world" -t gpt2 --steps

        bpe inspect -T "hello world" -t gpt2 --steps --html steps.html

        bpe inspect notes.txt -t tokenizer.json --html notes.html

        bpe inspect --live -t tokenizer.json -t gpt-4o
    """
    from bpe_cli.jobs.inspect import InspectOptions, inspect

    if live.live:
        _play(live, documents, (shown, conversations), pattern, add_special, inference, {"--special": special}, screen)
        return
    tokenizer = live.only_tokenizer()
    corpus, inputs, text, named = shown.corpus, documents.inputs, documents.text, False
    if (data := _ids_in(shown, documents)) is not None:
        from bpe_cli.cli.inspect_data import show_data

        if shown.section:
            raise UsageError(f"--section is for a report on a tokenizer, and {data} holds ids")
        show_data(data, options.choice_of(tokenizer, pattern, add_special) if tokenizer else None, shown, screen)
        return
    if conversations.chat:
        from bpe_cli.cli.inspect_chat import show_chat

        check_page_name(shown.html)
        check_outputs(shown.outputs, stdout_taken="--json" if shown.json else None)
        choice = options.choice_of(tokenizer, pattern, add_special)
        choice = choice if inference is None else replace(choice, inference=inference)
        show_chat(choice, documents, conversations, shown, special, screen)
        return
    conversations.check_idle()
    if shown.token or corpus:
        tokenizer, inputs, named = _tokenizer_alone(tokenizer, inputs, text), None, True
    elif tokenizer is None and text is None and inputs is not None and len(inputs) == 1:
        named = _is_tokenizer(inputs[0])
        if named:
            (tokenizer,), inputs = inputs, None
    elif tokenizer is None and text is None and inputs:
        _refuse_tokenizers(inputs)
    check_page_name(shown.html)
    alone = text is None and not inputs and (named or not _stdin_has_text())
    if alone:
        _check_alone(shown, documents, special)
    else:
        if shown.section:
            raise UsageError(
                "--section is for a report on a tokenizer, and this is a text", hint="leave the text out, or --section"
            )
        shown.check()
        if shown.plot:
            raise UsageError("--plot draws a tokenizer or a data set, and this is a text", hint="--table lists tokens")
    pictures = shown.pictures(TOKENIZER_PICTURES[: 3 if corpus else 2] if alone else ())
    outputs = [*shown.outputs, *outputs_of(pictures)]
    check_outputs(outputs, stdout_taken="--json" if shown.json else None)
    specials, refuse = options.specials_of(special)
    if refuse:
        meant = "with --corpus, special tokens are text, or --special all" if alone else (
            "inspect shows where special tokens would be"
        )  # fmt: skip
        raise UsageError(f"--special error is for encode: {meant}")
    choice = options.choice_of(tokenizer, pattern, add_special)
    if inference is not None:
        choice = replace(choice, inference=inference)
    cutting = shown.cutting(tokenizer or inference)
    if cutting is not None and alone:
        raise UsageError("--normalizer and --pre-tokenizer need a text, and none is given", hint="give one with -T")
    done = inspect(
        replace(choice, way_out="to see it as text, name a tokenizer with -t") if named else choice,
        None if alone else replace(documents, inputs=inputs).source(),
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
        ),
        corpus=replace(documents, inputs=corpus).source() if corpus else None,
        outputs=outputs,
        no_corpus="--corpus takes a file, a folder, a pattern, or - for stdin",
        listener=ConsoleListener(quiet=screen.quiet, printing=not alone),
        streams=process_streams(),
    )
    _show(done, shown, pictures, screen)


def _play(
    live: Live,
    documents: options.Documents,
    groups: tuple[object, ...],
    pattern: str | None,
    add_special: list[str] | None,
    inference: Inference | None,
    idle: Mapping[str, object],
    screen: options.Screen,
) -> None:
    """Open the playground; inputs that are tokenizers are those it offers, as in a report on one."""
    names, inputs = live.tokenizer or [], documents.inputs or []
    if not names and documents.text is None and all(map(_is_tokenizer, inputs)):
        names, inputs = inputs, []
    if not inputs and documents.text is None and _stdin_has_text():
        inputs = ["-"]
    choices = [options.choice_of(name, pattern, add_special) for name in names] or [
        options.choice_of(None, pattern, add_special)
    ]
    if inference is not None:
        choices = [replace(each, inference=inference) for each in choices]
    play(live, replace(documents, inputs=inputs), choices, groups, idle, quiet=screen.quiet)


def _ids_in(shown: Shown, documents: options.Documents) -> str | None:
    """Return the input that holds ids which were written; None if it is a text, or a tokenizer."""
    inputs = documents.inputs or []
    if shown.documents is not None:
        if len(inputs) != 1:
            raise UsageError("--documents needs one file or folder of ids", hint="for example: bpe inspect train.bin")
        return inputs[0]
    if len(inputs) != 1 or documents != options.Documents(inputs) or shown.token or shown.corpus:
        return None
    from bpe_cli.datasets.inspect import is_data

    return inputs[0] if is_data(inputs[0]) else None


def _check_alone(shown: Shown, documents: options.Documents, special: list[str] | None) -> None:
    """Check that nothing is asked about a text without a text, and sections only of a report that has them."""
    if shown.section and shown.token:
        raise UsageError("--section is about the whole tokenizer, and --token about one token")
    if shown.section and shown.json:
        raise UsageError("--json has all sections, and --section chooses some", hint="leave one of them out")
    if "corpus" in (shown.section or ()) and not shown.corpus:
        raise UsageError("--section corpus is about a corpus, and there is none", hint="give one with --corpus INPUT")
    reading = {
        "--lines": documents.lines,
        "--jsonl": documents.jsonl,
        "--plain": documents.plain,
        "--field": documents.field != FIELD,
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


def _is_tokenizer(name: str) -> bool:
    """Return whether an input is a tokenizer: a file that holds one, or the name of one where there is no such file."""
    if not os.path.lexists(name):
        from bpe_cli.tokenizer import named_encodings

        return named_encodings.find(name) is not None
    from bpe_cli.formats import is_tokenizer

    return is_tokenizer(name)


def _refuse_tokenizers(inputs: list[str]) -> None:
    """Refuse names of tokenizers where texts should be: several of them, or one beside texts."""
    if all(map(_is_tokenizer, inputs)):
        options_of_compare = shlex.join(word for name in inputs for word in ("-t", name))
        raise UsageError(
            f"bpe inspect reports on one tokenizer at a time, and there are {len(inputs)}",
            hint=f"set them side by side with bpe compare {options_of_compare}",
        )
    named = next((name for name in inputs if not os.path.lexists(name) and _is_tokenizer(name)), None)
    if named is not None:
        raise UsageError(
            f"{named} is a tokenizer, and no file that could be read as text",
            hint=f"to see texts by it, name it with -t {shlex.quote(named)}",
        )


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


def _show(done: "Inspection", display: Shown, pictures: tuple[PictureFile, ...], screen: options.Screen) -> None:
    """Print the result in the requested form."""
    from bpe_cli.jobs.inspect import ExplainedTexts, InspectedTexts, RankedTexts, TokenCards

    if isinstance(done, TokenCards):
        _show_tokens(done, display, screen.color)
    elif isinstance(done, ExplainedTexts):
        _show_steps(done, display, screen)
    elif isinstance(done, RankedTexts):
        from bpe_cli.views.as_json import rankings_json
        from bpe_cli.views.stages import RankingView

        _show_each(done.documents, rankings_json, lambda each: RankingView(each, ids=display.ids), display, screen)
    elif not isinstance(done, InspectedTexts):
        _show_tokenizer(TokenizerReport(done), display, pictures, screen)
    elif display.cuts and display.json:
        from bpe_cli.views.as_json import all_pieces_json

        cut = [(document.origin, inspection.stages) for document, inspection in done.documents]
        print_json(all_pieces_json([stages for _, stages in cut if stages], [origin for origin, _ in cut]))
    elif display.is_page:
        _write_pages(done, display, pictures, screen.quiet)
    elif display.json:
        _print_json(done.documents)
    else:
        _print_each(done.documents, _view_of(display), screen.color)


def _show_tokenizer(
    report: TokenizerReport, display: Shown, pictures: tuple[PictureFile, ...], screen: options.Screen
) -> None:
    """Write files of a tokenizer's report, JSON, or a screen of it or some sections, and small pictures."""
    if display.html is not None:
        write_page(display.html, [report.to_html(full=display.full)], screen.quiet)
    write_pictures(pictures, report, screen.quiet)
    if display.json:
        print(report.to_json(full=display.full), end="")
    elif not display.is_page:
        from bpe_cli.views.health import screen_view, sections_view
        from bpe_cli.views.on_console import OnConsole

        names = display.section or ([ALL] if display.full else [])
        health = report.value
        parts = [sections_view(health, names, full=display.full) if names else screen_view(health)]
        if display.plot:
            from bpe_cli.views.pictures.of_tokenizer import tokenizer_charts
            from bpe_cli.views.pictures.terminal import plots

            parts.append(plots(tokenizer_charts(health)))
        stdout_console(screen.color).print(OnConsole(*parts))


def _show_steps(done: "ExplainedTexts", display: Shown, screen: options.Screen) -> None:
    """Show the steps of texts; with --html as a page, and as JSON if that is asked for too."""
    from bpe_cli.views.as_json import all_steps_json
    from bpe_cli.views.steps import StepsView

    documents = done.documents
    if display.html is not None:
        from bpe_cli.views.page.text_steps import steps_page

        kept = list(documents)
        documents = iter(kept)
        titled = ((report, document.title) for document, report in kept)
        write_page(display.html, steps_page(titled, tokenizer=done.tokenizer.name), screen.quiet)
    if display.html is None or display.json:
        _show_each(documents, all_steps_json, lambda each: StepsView(each, full=display.full), display, screen)


def _view_of(display: Shown) -> "Callable[[TextInspection], TokenView | StagesView]":
    from bpe_cli.views.labels import TOKEN_LIMIT
    from bpe_cli.views.tokens import Notes, TokenView

    notes = Notes(ids=display.ids, spans=display.spans, scores=display.scores)
    shown, marked = None if display.full else TOKEN_LIMIT, sys.stdout.isatty()

    def view(inspection: "TextInspection") -> "TokenView | StagesView":
        if inspection.stages is not None:
            from bpe_cli.views.stages import StagesView

            return StagesView(
                inspection.stages, notes=notes, limit=shown, warnings=inspection.warnings, marked=marked,
                pieces_only=display.cuts,
            )  # fmt: skip
        return TokenView(
            inspection.segmentation,
            notes=notes,
            table=display.table,
            limit=shown,
            warnings=inspection.warnings,
            marked=marked,
        )

    return view


def _print_json(inspected: "Iterable[tuple[Document, TextInspection]]") -> None:
    print(TextReport(tuple(inspected)).to_json(), end="")


def _write_pages(done: "InspectedTexts", display: Shown, pictures: tuple[PictureFile, ...], quiet: bool) -> None:
    """Write files, and JSON to stdout if that is asked for too."""
    name, inspected = done.tokenizer.name, done.documents
    if display.json or (display.html is not None and pictures):
        kept = list(inspected)
        inspected = iter(kept)
    if display.html is not None:
        from bpe_cli.views.page.page import texts_page

        shown = ((inspection.segmentation, inspection.warnings, document.title) for document, inspection in inspected)
        write_page(display.html, texts_page(shown, tokenizer=name, full=display.full), quiet)
        if pictures:
            inspected = iter(kept)
    if pictures:
        from bpe_cli.views.page.svg import picture

        drawn = (inspection.segmentation for _, inspection in inspected)
        write_pictures(pictures, Drawn(picture(drawn, tokenizer=name, ids=display.ids, full=display.full)), quiet)
    if display.json:
        _print_json(kept)


def _show_each(
    reports: "Iterable[tuple[Document, Report]]",
    json: "Callable[[list[Report], list[tuple[str, int]]], dict[str, Any]]",
    view: "Callable[[Report], Adaptive]",
    display: Shown,
    screen: options.Screen,
) -> None:
    """Print all reports as one JSON object, with where the document of each is from; or each by itself."""
    if display.json:
        kept = list(reports)
        print_json(json([report for _, report in kept], [document.origin for document, _ in kept]))
    else:
        _print_each(reports, view, screen.color)


def _print_each(
    reports: "Iterable[tuple[Document, Report]]", view: "Callable[[Report], Adaptive]", color: options.Color
) -> None:
    """Print each report below the title of its document; of an empty one nothing more than that, if it has a title."""
    from rich.text import Text

    from bpe_cli.views.on_console import OnConsole
    from bpe_cli.views.visible import harmless

    for number, (document, report) in enumerate(reports):
        console = stdout_console(color)
        if number:
            console.print()
        if document.title is not None:
            title = Text(f"==> {harmless(document.title)} <==", style="bold")
            console.print(title if document.content else title + Text(" empty", style="not bold"), soft_wrap=True)
        if document.title is None or document.content:
            console.print(OnConsole(view(report)))


def _show_tokens(token_cards: "TokenCards", display: Shown, color: options.Color) -> None:
    """Print all about each token that is there, then fail if one is not."""
    if token_cards.cards and display.json:
        from bpe_cli.views.as_json import cards_json

        print_json(cards_json(token_cards.tokenizer, token_cards.cards))
    elif token_cards.cards:
        from bpe_cli.views.on_console import OnConsole
        from bpe_cli.views.vocabulary import card_view

        console = stdout_console(color)
        for card in token_cards.cards:
            console.print(OnConsole(card_view(card, full=display.full)))
    token_cards.unknown.check()
