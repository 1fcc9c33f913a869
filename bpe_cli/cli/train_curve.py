"""The options of ``bpe train`` about held-out text, and what they show: the curve of several sizes."""

from functools import partial

from bpe_cli.cli import options
from bpe_cli.cli.console import print_blocks, print_json, stdout_console
from bpe_cli.cli.options import Option
from bpe_cli.cli.pictures import PictureFile, picture_files, write_pictures
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.fast_typing import TYPE_CHECKING, Annotated
from bpe_cli.views.pictures import SIZES_PICTURES

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.reports.vocabulary_curve import VocabularyCurve

_valid_option = partial(Option, rich_help_panel="Held-out text")


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The options about held-out text."""

    valid: Annotated[
        list[str] | None,
        _valid_option(
            "--valid", metavar="FILE",
            help="Measure each size on this text, which is not trained on: tokens, bytes per token, what a larger "
            "vocabulary saves, and the knee of the curve. Files, folders or patterns. Can be repeated.",
        ),
    ] = None  # fmt: skip
    d_model: Annotated[
        int | None,
        _valid_option(
            "--d-model", metavar="N", min=1,
            help="With --valid: show the parameters of embeddings of this dimension, tied and untied.",
        ),
    ] = None  # fmt: skip
    markdown: Annotated[bool, _valid_option("--markdown", help="With --valid: print Markdown.")] = False
    svg: Annotated[
        list[str] | None,
        _valid_option("--svg", metavar="FILE", help="With --valid: draw the curve. Can be repeated."),
    ] = None
    png: Annotated[
        list[str] | None,
        _valid_option("--png", metavar="FILE", help="The same as PNG, in light colours; needs the extra png."),
    ] = None
    plot: Annotated[bool, _valid_option("--plot", help="With --valid: draw the curve on the terminal, too.")] = False

    def pictures(self) -> tuple[PictureFile, ...]:
        """Return the files of pictures.

        Raises:
            UsageError: if an option would do nothing, or one asks for something that does not exist.
        """
        if self.valid is None:
            said = {
                "--d-model": self.d_model, "--markdown": self.markdown, "--svg": self.svg, "--png": self.png,
                "--plot": self.plot,
            }  # fmt: skip
            if idle := next((name for name, value in said.items() if value), None):
                raise UsageError(f"{idle} is for --valid", hint="--valid FILE measures vocabularies on held-out text")
            return ()
        if self.markdown and self.plot:
            raise UsageError("--plot draws below the table, and Markdown has none", hint="ask for one of them")
        return picture_files(self.svg, self.png, SIZES_PICTURES, SIZES_PICTURES)

    def source(self, documents: options.Documents, block_size: int) -> "Source | None":
        """Return the held-out text, whose documents are like those of the corpus; None if there is none."""
        if self.valid is None:
            return None
        return replace(documents, inputs=self.valid, text=None).source(block_size)

    def show(self, curve: "VocabularyCurve", pictures: tuple[PictureFile, ...], *, json: bool, quiet: bool) -> None:
        """Write the curve: pictures to their files; the numbers as JSON, Markdown or a table, unless drawn alone."""
        from bpe_cli.results import SizesReport

        report = SizesReport({}, curve)
        write_pictures(pictures, report, quiet)
        if json:
            from bpe_cli.views.vocabulary_curve import curve_json

            print_json(curve_json(curve))
        elif self.markdown:
            print(report.to_markdown(), end="")
        elif not pictures or self.plot:
            from bpe_cli.views.on_console import OnConsole
            from bpe_cli.views.pictures.terminal import plots
            from bpe_cli.views.vocabulary_curve import curve_chart, curve_view

            parts = [curve_view(curve), *([plots([curve_chart(curve)])] if self.plot else [])]
            print_blocks(OnConsole(*parts), stdout_console("auto"))
