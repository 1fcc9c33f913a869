"""``bpe compare``: tokenizers side by side on the same texts."""

from bpe_cli.cli import options
from bpe_cli.cli.compare_options import Checks, Compared, Probes, Written
from bpe_cli.cli.compare_output import CompareOutput, show
from bpe_cli.cli.console import ConsoleListener, process_streams
from bpe_cli.errors import UsageError
from bpe_cli.support.ordered_threads import usable_threads

EPILOG = "Ratios are ratios of sums. Exit status: 0 fine, 1 a check fails, 2 bad usage or input."


def run(
    compared: Compared,
    probes: Probes,
    written: Written,
    checks: Checks,
    documents: options.Documents,
    special: options.SpecialInText = None,
    pattern: options.PatternName = None,
    threads: options.Threads = None,
    block_size: options.BlockSize = options.BLOCK_BYTES,
    screen: options.Screen = options.Screen(),  # noqa: B008  # a value
) -> None:
    """Compare tokenizers: tokens, bytes and characters per token, and how each cuts short texts.

    [bold]Examples[/bold]

        bpe compare corpus.txt -t gpt2 -t o200k_base -t tokenizer.json

        bpe compare en.txt de.txt zh.txt -t mine.json -t gpt-4o --json -o report.json

        bpe compare -T "naïve Straße 東京" --html comparison.html

        bpe compare --probe languages --probe code -t gpt2 -t mine.json

        bpe compare corpus.txt -t gpt2 -t mine.json --overlap --diff

        bpe compare corpus/ -t tokenizer.json --fail-if 'bytes_per_token < 4'

        bpe compare corpus/ -t tokenizer.json --against report.json --max-regression 1% --markdown
    """
    from bpe_cli.jobs.compare import CompareJob, CompareOptions, compare_and_check
    from bpe_cli.reports.comparison.disagreements import SHOWN

    wanted = CompareOutput.of(compared, written, checks)
    names, inputs, text = probes.names(), documents.inputs, documents.text
    if probes.diff_limit is not None and not probes.diff:
        raise UsageError("--diff-limit is for --diff")
    if written.csv and probes.asked:
        raise UsageError(f"--csv holds what is measured of inputs, and {probes.asked} is not", hint="--json holds both")
    if checks.against == "-" and text is None and (not inputs or "-" in inputs):
        raise UsageError("--against - and the input would both read stdin")
    idle = not inputs and text is None and bool(names or probes.overlap) and not probes.diff
    if idle and wanted.checked:
        raise UsageError(f"{wanted.checked} asks about inputs, and there is none", hint="name files, or - for stdin")
    source = None if idle else documents.source(block_size)
    specials, refuse = options.specials_of(special)
    if refuse:
        raise UsageError("--special error is for encode: compare counts special tokens as text, or with --special all")
    how = CompareOptions(
        specials, usable_threads(threads), wanted.timed, names, tuple(probes.parallel or ()), probes.pivot,
        probes.pairs, probes.overlap, (probes.diff_limit or SHOWN) if probes.diff else None, documents.plain,
    )  # fmt: skip
    baseline = options.choice_of(compared.baseline, pattern) if compared.baseline is not None else None
    job = CompareJob(
        compared.choices(pattern), source, how, baseline, wanted.outputs, wanted.conditions, wanted.limits,
        checks.against, wanted.judged,
    )  # fmt: skip
    done = compare_and_check(job, listener=ConsoleListener(quiet=screen.quiet), streams=process_streams())
    show(wanted, done, screen)
