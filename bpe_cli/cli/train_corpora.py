"""The options of ``bpe train`` about corpora with names: what belongs to each, how much it counts, what is drawn."""

from functools import partial

from bpe_cli.cli import options
from bpe_cli.cli.options import Option
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.fast_typing import TYPE_CHECKING, Annotated
from bpe_cli.support.messages import every

if TYPE_CHECKING:
    from fractions import Fraction

    from bpe_cli.jobs.mixing import Mixture, NamedCorpus, Sampled

_corpora_option = partial(Option, rich_help_panel="Corpora")


@dataclass(frozen=True, slots=True)
class Corpora:
    """The options about corpora."""

    language: Annotated[
        list[str] | None,
        _corpora_option(
            "--language", metavar="NAME=INPUT",
            help="A corpus with a name, in place of INPUT: a language, or anything else. Can be repeated, also with "
            "the same name.",
        ),
    ] = None  # fmt: skip
    weight: Annotated[
        list[str] | None,
        _corpora_option(
            "--weight", metavar="NAME=N",
            help="Count a corpus N times: 3, 1.5 or 3/2; others once. Fractions are scaled to whole numbers, by the "
            "same factor for all corpora. Can be repeated.",
        ),
    ] = None  # fmt: skip
    alpha: Annotated[
        str | None,
        _corpora_option(
            "--alpha", metavar="A",
            help="Count corpora so that their shares p of all text become proportional to p^A (temperature sampling): "
            "1 changes nothing, 0 makes them equal, 0.3 is usual.",
        ),
    ] = None  # fmt: skip
    sample: Annotated[
        int | None,
        _corpora_option(
            "--sample", metavar="N", min=1,
            help="Learn from N documents (--lines: lines) of each corpus, drawn with equal probability in one pass; "
            "all if there are no more.",
        ),
    ] = None  # fmt: skip
    seed: Annotated[
        int | None,
        _corpora_option("--seed", metavar="N", min=0, show_default="0", help="With --sample: the seed of the draw."),
    ] = None

    def named(self, documents: options.Documents, block_size: int) -> "tuple[NamedCorpus, ...]":
        """Return the corpora, in the order in which they are first named.

        Raises:
            UsageError: if one is not NAME=INPUT, or there is an input without a name besides.
        """
        from bpe_cli.jobs.mixing import NamedCorpus

        if not self.language:
            return ()
        if documents.inputs or documents.text is not None:
            raise UsageError(
                "--language names corpora, and INPUT has no name", hint="give it one: --language NAME=INPUT"
            )
        inputs: dict[str, list[str]] = {}
        for name, value in every(_named_input, self.language):
            inputs.setdefault(name, []).append(value)
        return tuple(
            NamedCorpus(name, replace(documents, inputs=paths).source(block_size)) for name, paths in inputs.items()
        )

    def mixture(self) -> "Mixture":
        """Return how much each corpus counts.

        Raises:
            UsageError: if a weight is not NAME=N, or a number is out of range.
        """
        from bpe_cli.jobs.mixing import Mixture, number_of

        weights = dict(every(_weight, self.weight or ()))
        return Mixture(weights, None if self.alpha is None else number_of("--alpha", self.alpha))

    def sampled(self) -> "Sampled | None":
        """Return how many documents are drawn; None for all.

        Raises:
            UsageError: if there is a seed, and nothing is drawn.
        """
        from bpe_cli.jobs.mixing import Sampled

        if self.sample is None:
            if options.typed("seed", self.seed) is not None:
                raise UsageError("--seed is for --sample")
            return None
        return Sampled(self.sample, self.seed or 0)


def _named_input(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name or not value:
        raise UsageError(f"--language {text!r} is not NAME=INPUT", hint="for example: --language th=thai/")
    return name, value


def _weight(text: str) -> "tuple[str, Fraction]":
    from bpe_cli.jobs.mixing import number_of

    name, _, number = text.rpartition("=")
    if not name:
        raise UsageError(f"--weight {text!r} is not NAME=N", hint="for example: --weight th=3")
    return name, number_of(f"--weight {name}", number)
