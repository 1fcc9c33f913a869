"""The options of ``bpe train`` about languages that choose merges: who is worst, and who may choose."""

import os
from functools import partial

from bpe_cli.cli import options
from bpe_cli.cli.options import Option
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.fast_typing import TYPE_CHECKING, Annotated
from bpe_cli.support.messages import every

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_cli.jobs.languages import Languages

_parity_option = partial(Option, rich_help_panel="Corpora")


@dataclass(frozen=True, slots=True)
class Parity:
    """The options about languages that choose merges."""

    parity: Annotated[
        bool,
        _parity_option(
            "--parity",
            help="bbpe: let the corpus that is compressed worst choose each merge (Parity-aware BPE). --language names "
            "the corpora.",
        ),
    ] = False  # fmt: skip
    dev: Annotated[
        list[str] | None,
        _parity_option(
            "--dev", metavar="NAME=INPUT",
            help="With --parity: texts that say the same thing in all languages. The language that needs the most "
            "tokens there is the worst. Can be repeated, also with the same name.",
        ),
    ] = None  # fmt: skip
    ratio: Annotated[
        list[str] | None,
        _parity_option(
            "--ratio", metavar="NAME=N", show_default="1",
            help="With --parity, without --dev: what the compression of a corpus (bytes per token) is divided by. The "
            "lowest result is the worst. Can be repeated.",
        ),
    ] = None  # fmt: skip
    window: Annotated[
        int | None,
        _parity_option(
            "--window", metavar="N", min=1,
            help="With --parity: pass over a language that has made more than twice its share of the last N choices "
            "(--set window_alpha=2).",
        ),
    ] = None  # fmt: skip

    def languages(self, from_counts: "Sequence[str]", documents: options.Documents, block_size: int) -> "Languages":
        """Return what is said of languages.

        Args:
            from_counts: The files of counts, of which each has the name of a language here.
            documents: What a document is; the inputs are not used.
            block_size: Bytes to read at a time.

        Raises:
            UsageError: if an option would do nothing, or has no name of a language.
        """
        from bpe_cli.jobs.languages import Languages
        from bpe_cli.jobs.mixing import NamedCorpus

        if not self.parity:
            given = [name for name, value in (("--dev", self.dev), ("--ratio", self.ratio)) if value]
            if given:
                raise UsageError(f"{given[0]} is for --parity")
            for path in from_counts:
                name, _, file = path.partition("=")
                if name and os.path.isfile(file) and not os.path.exists(path):
                    import shlex

                    raise UsageError(
                        f"--from-counts {path!r} names a language, which is for --parity",
                        hint=f"without it, name the file alone: --from-counts {shlex.quote(file)}",
                    )
            return Languages()
        inputs: dict[str, list[str]] = {}
        for name, path in every(_named_text, self.dev or ()):
            inputs.setdefault(name, []).append(path)
        return Languages(
            tuple(every(_named_counts, from_counts)),
            tuple(
                NamedCorpus(name, replace(documents, inputs=paths).source(block_size)) for name, paths in inputs.items()
            ),
            dict(every(_named_ratio, self.ratio or ())),
        )


def _named(option: str, text: str, value: str, example: str) -> tuple[str, str]:
    """Divide what an option says at its first ``=``.

    Raises:
        UsageError: if the name or the value is missing.
    """
    name, _, rest = text.partition("=")
    if not name or not rest:
        raise UsageError(f"{option} {text!r} is not NAME={value}", hint=f"for example: {option} {example}")
    return name, rest


def _named_text(text: str) -> tuple[str, str]:
    return _named("--dev", text, "INPUT", "th=thai-dev.txt")


def _named_counts(text: str) -> tuple[str, str]:
    return _named("--from-counts", text, "FILE", "th=thai.counts, as --parity needs to know the language")


def _named_ratio(text: str) -> tuple[str, float]:
    name, number = _named("--ratio", text, "N", "th=1.5")
    try:
        return name, float(number)
    except ValueError:
        raise UsageError(f"--ratio {name} must be a number such as 1.5, not {number!r}") from None
