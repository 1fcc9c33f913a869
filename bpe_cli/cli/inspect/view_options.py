"""The options of ``bpe inspect`` about what is shown, and which of them go together."""

from bpe_cli.cli import options
from bpe_cli.cli.idle import as_typed, given_in, refuse_idle
from bpe_cli.cli.options import Option
from bpe_cli.cli.pictures import PictureFile, picture_files
from bpe_cli.errors import UsageError
from bpe_cli.jobs.tokenizers import Inference
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.fast_typing import TYPE_CHECKING, Annotated
from bpe_cli.views import ALL, SECTIONS
from bpe_cli.views.pictures import TOKENIZER_PICTURES

if TYPE_CHECKING:
    from bpe_cli.jobs.inspect import Cutting
    from bpe_cli.jobs.tokenizers import TokenizerChoice


@dataclass(frozen=True, slots=True)
class Reading:
    """The options about how a tokenizer is read, whichever it is."""

    add_special: options.AddSpecial = None
    pattern: options.PatternName = None
    inference: Annotated[
        Inference | None,
        options.tokenizer_option(
            "--inference", show_default="merges", help="How a vocabulary is applied, as for encode."
        ),
    ] = None

    def choice_of(self, name: str | None) -> "TokenizerChoice":
        """Return the choice of a tokenizer, without loading it; None for the usual one.

        Raises:
            UsageError: if a special token is not TEXT=ID.
        """
        choice = options.choice_of(name, self.pattern, self.add_special)
        return choice if self.inference is None else replace(choice, inference=self.inference)


@dataclass(frozen=True, slots=True)
class Shown:
    """The options about what is shown, and where."""

    ids: Annotated[bool, Option("--ids", help="Show each token's id under it.")] = False
    spans: Annotated[bool, Option("--spans", help="Show each token's byte span under it.")] = False
    scores: Annotated[
        bool, Option("--scores", help="Show each token's log-probability (unigram) or score under it.")
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
            help="Look up a token by its id, its text (text:42 if that is digits) or its bytes (bytes:e8b0). "
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
    residues: Annotated[
        float | None,
        Option(
            "--residues", metavar="SHARE",
            help="With --corpus: show which tokens serve only as steps of merging: those that survive in at most this "
            "share of the cases in which they are made. 0.05 is usual.",
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
            help="Show this section of the report on a tokenizer; all shows every one. Can be repeated.",
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
    def sections(self) -> list[str]:
        """The sections of a report on a tokenizer that are asked for."""
        return [*(self.section or ()), *(["residues"] if self.residues is not None else [])]

    @property
    def sectioned(self) -> str | None:
        """The first option that was given and asks for a section."""
        return "--section" if self.section else "--residues" if self.residues is not None else None

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
        """How many tokens of a text are described; None for all."""
        from bpe_cli.views.labels import TOKEN_LIMIT

        return None if self.full or self.json else TOKEN_LIMIT

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

    def for_text(self) -> "Shown":
        """Return what is asked of a text: without what a project's file says of other reports."""
        return as_typed(self, *_OF_REPORTS, *(() if self.steps else ("pairs",)))

    def for_tokenizer(self) -> "Shown":
        """Return what is asked of a tokenizer: without what a project's file says of texts, or of other reports."""
        others = _OF_REPORTS if self.token else () if self.corpus else ("residues",)
        return as_typed(self, *_OF_TEXTS, *others)

    def cutting(self, tokenizer: str | None, reading: Reading, special: list[str] | None) -> "Cutting | None":
        """Return the stages that are shown by themselves; None if there are none.

        Raises:
            UsageError: if there is no stage of a name, or there is a tokenizer too, or an option about one.
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
        idle = [*given_in(reading), *(["--special"] if options.typed("special", special) is not None else [])]
        refuse_idle(idle, "--normalizer and --pre-tokenizer show stages by themselves, without a tokenizer")
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

_OF_TEXTS = (
    "ids", "spans", "scores", "table", "stages", "nbest", "normalizer", "pre_tokenizer", "steps", "pairs",
)  # fmt: skip
_OF_REPORTS = ("section", "residues", "plot")

_FILES = ("--html", "--svg", "--png")
