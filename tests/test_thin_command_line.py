"""The command line holds no job, and few know that documents come in parts: read from the sources."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from bpe_cli.cli.app import NAMES, load
from bpe_cli.cli.arguments import ARGUMENTS, in_options
from bpe_cli.cli.options import Option, parameters_of
from tests.syntax import tree_of
from tests.test_architecture import MODULES, imports_of, name_of, nodes_of, unit_of

CLI_KNOWS = {"cli", "jobs", "views", "results", "support", "errors", "teaching"}
CLI_MAY_IMPORT = {
    "tokenizer.named_encodings.ENCODINGS": "what Tab completes",
    "tokenizer.named_encodings.MODELS": "likewise",
    "stages.patterns.PATTERNS": "likewise",
    "stages.named_stages.NORMALIZERS": "likewise",
    "stages.named_stages.NAMED": "likewise",
    "formats.features.FEATURES": "likewise",
    "corpus.Source": "the value that says what is read",
    "corpus.waits_for_keyboard": "whether somebody would have to type is a question of the terminal",
    "formats.FORMATS": "what --format of convert may name",
    "formats.registry.TRAINED": "what --format of train may name",
    "formats.is_tokenizer": "whether INPUT of inspect is a text or a tokenizer",
    "tokenizer.named_encodings": "likewise",
    "playground.Playground": "what --live serves: the one call",
    "playground.browsable": "whether a browser can be opened",
    "tokenizer.parts.BREAKS": "what --break may name",
    "sinks.SINKS": "what --to may name",
    "sinks.base.Dtype": "what --dtype may name",
    "sinks.dataset.DATASETS": "what --to of prepare may name",
    "sinks.read.READERS": "what --from may name",
    "sinks.naming.TEXT": "what a file's name says is in it",
    "sinks.naming.check_name": "likewise",
    "sinks.naming.read_name": "likewise",
    "stages.SpecialToken": "what --add-special TEXT=ID stands for",
    "_core": "--version",
    "tokenizer.engine.Sampling": "what --dropout and --sample stand for",
    "reports.comparison.disagreements.SHOWN": "the default of --diff-limit",
    "reports.comparison.checks.Limit": "what --max-regression stands for",
    "reports.comparison.checks.Condition": "what --fail-if stands for",
    "reports.comparison.comparison.ALL": "what --metric may name",
    "reports.comparison.comparison.USUAL": "likewise",
    "reports.comparison.comparison.metrics_named": "likewise",
    "reports.comparison.comparison.METRICS": "likewise",
    "stages.Split": "what --pattern stands for",
    "stages.named_stages.normalizers_named": "what --normalizer may name",
    "stages.named_stages.pre_tokenizers_named": "what --pre-tokenizer may name",
    "stages.patterns.resolve_pattern": "what --pattern may name",
    "trainers.ALGORITHMS": "what -a may name",
    "trainers.COMPATS": "what --compat may name",
    "trainers.SUMMARIES": "what --help says of the algorithms",
    "trainers.TRAINERS": "what else --help-algorithm lists",
    "trainers.base.Trainer": "whose options --help-algorithm lists",
    "trainers.trainer_of": "likewise",
    "trainers.counts.DEFAULT_MAX_MEMORY": "the default of --max-memory",
    "trainers.base.Options": "what --set stands for",
    "trainers.presets.PRESETS": "what --help-algorithm says of --compat",
    "trainers.presets.preset_of": "what --compat stands for",
    "trainers.presets.with_preset": "likewise",
    "engines.engine_named": "what --engine names",
    "datasets.inspect.is_data": "whether INPUT of inspect is a text or ids",
    "datasets.inspect.inspect_data": "the job that reads data sets back",
    "datasets.inspect.DataOptions": "likewise",
    "datasets.inspect.MOST_TOKENS": "the default without --full",
}
"""What the command line needs besides jobs and views: names that options may have, values that they stand for."""


def run_time_names(path: Path) -> set[str]:
    """Return what a file imports from the package when it runs: ``corpus.Source``, say."""
    tree = tree_of(path)
    for_types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    return {
        f"{node.module}.{alias.name}".removeprefix("bpe_cli.")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("bpe_cli") and id(node) not in for_types
        for alias in node.names
    } - {"__version__"}


@pytest.mark.parametrize("path", [path for path in MODULES if unit_of(path) == "cli"], ids=name_of)
def test_the_command_line_holds_no_job(path):
    """It parses, builds options, calls once, shows and exits: no blocks, no sinks, no threads."""
    others = {name for name in run_time_names(path) if name.split(".")[0] not in CLI_KNOWS} - CLI_MAY_IMPORT.keys()
    assert others == set()
    threads = {name for name in run_time_names(path) if name.startswith("support.ordered_threads")}
    assert threads <= {"support.ordered_threads.usable_threads"}
    assert not imports_of(path) & {"threading", "concurrent.futures", "multiprocessing", "queue"}


def test_nothing_is_allowed_that_nobody_needs():
    used = {name for path in MODULES if unit_of(path) == "cli" for name in run_time_names(path)}
    assert CLI_MAY_IMPORT.keys() - used == set()


# Documents come in blocks, and one may go on in the next. Who knows that from the flags, and why; for all others there
# are Block.begun, ended and parts(), and support.blocks.whole_documents.
BLOCK_FLAGS = re.compile(r"\b(?:block|self)\.(?:continued|unfinished)\b")
KNOW_BLOCK_FLAGS = {
    "bpe_cli/support/blocks.py": "a block has them",
    "bpe_cli/tokenizer/engine/compiled.py": "the core asks for them",
    "bpe_cli/tokenizer/engine/by_regex.py": "the core asks for them",
    "bpe_cli/stages/counting.py": "the core asks for them",
    "bpe_cli/sinks/lines.py": "the core asks for them",
    "bpe_cli/trainers/left_out.py": "leaves documents out of blocks without making an object of each",
    "bpe_cli/reports/comparison/input_accounts.py": "counts characters and words of a stream, however long",
}


def test_few_know_that_documents_may_be_cut():
    found = {name_of(path) for path in MODULES if BLOCK_FLAGS.search(path.read_text(encoding="utf-8"))}
    assert found == KNOW_BLOCK_FLAGS.keys()


JOB_OF = {
    "train": "train.train_file",
    "encode": "encode.encode",
    "decode": "decode.decode",
    "inspect": "inspect.inspect",
    "compare": "compare.compare_and_check",
    "convert": "convert.convert",
    "prepare": "prepare.prepare",
}
OTHER_WAYS = {f"jobs.prepare.{way}" for way in ("check", "check_deep", "estimate", "finish", "plan")} | {
    "jobs.compare.tally"
}
"""What a command runs in place of its job, by an option: nothing is prepared then."""


@pytest.mark.parametrize("command", NAMES)
def test_a_command_is_one_call_of_one_job(command):
    places = {f"bpe_cli/cli/{command}.py", f"bpe_cli/cli/{command}/__init__.py"}
    (path,) = (path for path in MODULES if name_of(path) in places)
    verbs = {f"jobs.{job.split('.')[0]}." for job in JOB_OF.values()} | {"jobs.segment.", "jobs.encode_chat."}
    called = {name for name in run_time_names(path) if name.startswith(tuple(verbs)) and name.split(".")[-1].islower()}
    assert called - OTHER_WAYS == {f"jobs.{JOB_OF[command]}"}


ARGUMENT = re.compile(r"`([a-z_]+)(=[^`]+)?`")
NO_ARGUMENTS = {"regex", "str", "allowed_special", "disallowed_special"}
"""What stands in backquotes in messages besides: a library, and the words of tiktoken's own messages."""


@cache
def texts_of(path: Path) -> frozenset[str]:
    """Return the texts in a file, but for those that describe it."""
    nodes = nodes_of(path)
    described = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    constants = (node for node in nodes if isinstance(node, ast.Constant) and id(node) not in described)
    return frozenset(node.value for node in constants if isinstance(node.value, str))


IN_PYTHON_ALONE = "bpe_cli/support/other_libraries.py"
"""What Python's own AttributeError says: no command asks for an attribute that there is not."""


def test_the_arguments_that_messages_name_are_options_of_the_command_line():
    library = [
        path for path in MODULES if unit_of(path) not in {"cli", "teaching"} and name_of(path) != IN_PYTHON_ALONE
    ]
    named = {found for path in library for text in texts_of(path) for found in ARGUMENT.findall(text)}
    unknown = {name for name, value in named if in_options(whole := f"`{name}{value}`") == whole}
    assert unknown - NO_ARGUMENTS == set()


OPTION = re.compile(r"(?<![\w-])(?:--[a-z][a-z-]*|-[Tajoqst](?= |$))")
COMMAND = re.compile(r"\b(?:bpe [a-z]+|iconv) [^;`]*")
"""A command written out, which anybody can run: it says whose its options are."""

PRINTS = "a view is what the program prints"
NAME = "what a sidecar and the record of a training call a text that is not a file"
FROZEN = "a hint that stands in reports of a frozen schema, word for word"
MAY_SAY_OPTIONS = {
    "bpe_cli/__main__.py --debug": "the program itself",
    "bpe_cli/corpus/compression.py --long": "an option of zstd",
    "bpe_cli/corpus/kinds.py --format": "an option of xz",
    "bpe_cli/corpus/source.py --text": NAME,
    "bpe_cli/formats/find.py --include": "an option of hf",
    "bpe_cli/formats/find.py --revision": "an option of hf",
    "bpe_cli/jobs/libraries.py -o": "of bpe convert, which the hint writes out with a path in it",
    **{
        f"bpe_cli/jobs/libraries.py --{option}": "an option of llama-tokenize"
        for option in ("stdin", "ids", "no-bos", "no-parse-special", "log-disable")
    },
    "bpe_cli/reports/comparison/changes.py --json": "said of a report of bpe compare, which the message names",
    "bpe_cli/reports/comparison/checks.py --fail-if": "what a report of a frozen schema calls a check",
    "bpe_cli/reports/comparison/checks.py --max-regression": "likewise",
    "bpe_cli/reports/text/warnings.py --add-special": FROZEN,
    "bpe_cli/reports/text/warnings.py --lines": FROZEN,
    "bpe_cli/reports/text/warnings.py --special": FROZEN,
    "bpe_cli/reports/text/warnings.py --stages": FROZEN,
    "bpe_cli/views/comparison/values.py --full": PRINTS,
    "bpe_cli/views/comparison/values.py -t": PRINTS,
    "bpe_cli/views/comparison/values.py --lines": PRINTS,
    "bpe_cli/views/health.py --full": PRINTS,
    "bpe_cli/views/health.py --section": PRINTS,
    "bpe_cli/views/page/page.py --full": PRINTS,
    "bpe_cli/views/page/stepper.py --full": PRINTS,
    "bpe_cli/views/page/text_steps.py --full": PRINTS,
    "bpe_cli/views/page/tokens.py --full": PRINTS,
    "bpe_cli/views/residues.py --full": PRINTS,
    "bpe_cli/views/steps.py --full": PRINTS,
    "bpe_cli/views/structure.py --full": PRINTS,
}
"""Which options modules outside the command line speak of, and why they may."""


def test_the_library_speaks_of_arguments_and_not_of_options():
    """Whoever calls it has none: ``cli.arguments.in_options`` puts options in the place of arguments."""
    said = {
        f"{name_of(path)} {option}"
        for path in MODULES
        if unit_of(path) != "cli"
        for text in texts_of(path)
        for option in OPTION.findall(COMMAND.sub("", text))
    }
    assert said == MAY_SAY_OPTIONS.keys()


def test_what_takes_the_place_of_an_argument_is_an_option():
    declared = (each for name in NAMES for _, each in parameters_of(load(name).run).values())
    switches = {
        switch for each in declared if isinstance(each, Option) for name in each.names for switch in name.split("/")
    }
    assert {option.split()[0] for option in ARGUMENTS.values()} - switches == set()
