"""The options of ``bpe inspect``, in groups."""

from typing import Annotated

from bpe_cli.cli import options
from bpe_cli.cli.parameters import Option
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass


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
    steps: Annotated[
        bool, Option("--steps", help="Tell how it arrived there: merge by merge, match by match, or the lattice.")
    ] = False
    token: Annotated[
        list[str] | None,
        Option(
            "--token",
            metavar="ID|TEXT",
            help="Look up a token by its id or its text (text:42 where that is digits; or bytes:e8b0). "
            "Can be repeated.",
        ),
    ] = None
    corpus: Annotated[
        list[str] | None,
        Option(
            "--corpus",
            metavar="INPUT",
            help="Report which tokens of the tokenizer these files, folders or globs use. Can be repeated.",
        ),
    ] = None
    full: Annotated[bool, Option("--full", help="Show everything, however long.")] = False
    json: options.Json = False
    html: options.Html = None
    svg: options.Svg = None

    @property
    def of_a_text(self) -> str | None:
        """The first option that was given and says nothing of a tokenizer by itself."""
        return next(iter(self._given()), None)

    @property
    def outputs(self) -> list[tuple[str, str | None]]:
        """The options that name files to write, and the files."""
        return [("--html", self.html), ("--svg", self.svg)]

    def check(self) -> None:
        """Make sure that one view shows all that was asked for.

        Raises:
            UsageError: Another one would have to.
        """
        given = self._given()
        for view, others in _BESIDE.items():
            if view in given and (other := next((name for name in given if name != view and name not in others), None)):
                raise UsageError(f"{view} and {other} are different views of a text", hint="ask for one at a time")

    def _given(self) -> list[str]:
        values = {
            "--ids": self.ids,
            "--spans": self.spans,
            "--scores": self.scores,
            "--table": self.table,
            "--stages": self.stages,
            "--nbest": self.nbest is not None,
            "--steps": self.steps,
            "--html": self.html is not None,
            "--svg": self.svg is not None,
        }
        return [name for name, value in values.items() if value]


_BESIDE = {
    "--steps": {"--nbest", "--ids"},
    "--nbest": {"--steps", "--ids"},
    "--html": {"--svg", "--ids", "--spans", "--scores", "--table"},
    "--svg": {"--html", "--ids"},
    "--stages": {"--ids", "--spans", "--scores"},
}
"""Views that show only one thing, and the options that can stand beside them."""
