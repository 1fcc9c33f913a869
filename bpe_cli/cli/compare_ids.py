"""The part of ``bpe compare`` that verifies a port: ``--ids``; and which inputs are tokenizers, there and elsewhere."""

import os

from bpe_cli.cli import options
from bpe_cli.cli.console import ConsoleListener, note, print_blocks, print_json, process_streams, stdout_console
from bpe_cli.errors import CheckFailed, UsageError
from bpe_cli.support.fast_typing import TYPE_CHECKING
from bpe_cli.support.ordered_threads import usable_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_cli.jobs.tokenizers import TokenizerChoice


def tokenizers_among(
    named: "Sequence[str]", inputs: "Sequence[str]", library: str | None
) -> tuple[list[str], list[str]]:
    """Return the tokenizers and the texts: without -t the first inputs are tokenizers, two or one for a library.

    Raises:
        UsageError: if there are not enough.
    """
    tokenizers, texts = list(named), list(inputs)
    most = 2
    while len(tokenizers) < most and texts and not named:
        if library is not None and tokenizers and not is_tokenizer(texts[0]):
            break
        tokenizers.append(texts.pop(0))
    if len(tokenizers) < (most if library is None else 1):
        raise UsageError(
            "--ids compares two tokenizers, or one with another library",
            hint="for example: bpe compare A B --ids, or bpe compare A --ids --against transformers",
        )
    return tokenizers, texts


def is_tokenizer(name: str) -> bool:
    """Return whether an input is a tokenizer: a file that holds one, or the name of one where there is no such file."""
    if os.path.lexists(name):
        from bpe_cli.formats import is_tokenizer as is_file_of_one

        return is_file_of_one(name)
    from bpe_cli.tokenizer import named_encodings

    return named_encodings.find(name) is not None


def check_texts(inputs: "Sequence[str]", *, named: bool, quiet: bool) -> None:
    """Refuse names of tokenizers where texts should be, and note if all texts are files of tokenizers.

    Args:
        inputs: The texts.
        named: Whether tokenizers are named elsewhere.
        quiet: Whether nothing is noted.

    Raises:
        UsageError: if an input is the name of a tokenizer.
    """
    names = [name for name in inputs if not os.path.lexists(name) and is_tokenizer(name)]
    if names:
        with_options = " ".join(f"-t {name}" for name in names)
        raise UsageError(
            f"{names[0]} is a tokenizer, not a file that can be read as text",
            hint=f"-t names a tokenizer: bpe compare TEXT {with_options}",
        )
    if inputs and not named and all(map(is_tokenizer, inputs)):
        what = "the input is a tokenizer, and is" if len(inputs) == 1 else "the inputs are tokenizers, and are"
        note(f"note: {what} read as text: to compare tokenizers, name each with -t", quiet=quiet)


def show_ids(
    choices: "tuple[TokenizerChoice, ...]",
    documents: options.Documents,
    special: list[str] | None,
    library: str | None,
    threads: int | None,
    *,
    json: bool,
    screen: options.Screen,
) -> None:
    """Compare ids, print the report, and fail if they are not the same.

    Raises:
        CheckFailed: if the ids are not the same.
    """
    from bpe_cli.jobs.compare_ids import IdsOptions, compare_ids_of
    from bpe_cli.views.comparison.ids import ids_json, ids_view, verdict
    from bpe_cli.views.on_console import OnConsole

    specials, refuse = options.specials_of(special)
    if refuse:
        raise UsageError("--special error is for encode: --ids compares special tokens as text, or with --special all")
    has_texts = bool(documents.inputs) or documents.text is not None
    report = compare_ids_of(
        choices, documents.source() if has_texts else None,
        IdsOptions(specials, library, usable_threads(threads)),
        listener=ConsoleListener(quiet=screen.quiet), streams=process_streams(),
    )  # fmt: skip
    if json:
        print_json(ids_json(report))
    else:
        print_blocks(OnConsole(ids_view(report)), stdout_console(screen.color))
    if not report.same:
        raise CheckFailed(verdict(report))
