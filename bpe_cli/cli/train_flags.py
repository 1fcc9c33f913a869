"""The options of ``bpe train``, in groups."""

from enum import StrEnum
from typing import Annotated

from bpe_cli.cli import options
from bpe_cli.cli.parameters import Option
from bpe_cli.support.fast_dataclass import dataclass

_MODEL = "Model"
_STAGES = "Normalizer and pre-tokenizer"
_COUNTS = "Counts"


class Algorithm(StrEnum):
    """What to train."""

    bbpe = "bbpe"
    bpe = "bpe"
    wordpiece = "wordpiece"
    unigram = "unigram"
    char = "char"
    word = "word"
    ngram = "ngram"
    byte = "byte"
    maxmatch = "maxmatch"


class Compat(StrEnum):
    """Whose rules to follow."""

    hf = "hf"
    rustbpe = "rustbpe"
    minbpe = "minbpe"
    subword_nmt = "subword-nmt"
    sentencepiece = "sentencepiece"
    tensorflow = "tensorflow"


class Format(StrEnum):
    """What kind of file to write."""

    bpe_json = "bpe.json"
    tokenizer_json = "tokenizer.json"
    subword_nmt = "subword-nmt"
    sentencepiece = "sentencepiece"


class Alphabet(StrEnum):
    """Which bytes are tokens from the start."""

    all = "all"
    seen = "seen"


@dataclass(frozen=True, slots=True)
class Model:
    """The options about what is trained."""

    algorithm: Annotated[
        Algorithm,
        Option(
            "--algorithm",
            "-a",
            rich_help_panel=_MODEL,
            help="bbpe: byte-level BPE. bpe: BPE over characters. wordpiece, unigram. char, word, ngram, byte: simple "
            "ones. maxmatch: dictionaries of Chinese words.",
        ),
    ] = Algorithm.bbpe
    vocab_size: Annotated[
        int | None,
        Option(
            "--vocab-size",
            "-s",
            metavar="N",
            min=1,
            rich_help_panel=_MODEL,
            help="Tokens to end with, the alphabet and special tokens counted.",
        ),
    ] = None
    special: Annotated[
        list[str] | None,
        Option(
            "--special",
            metavar="TEXT",
            rich_help_panel=_MODEL,
            help="Add a special token. Can be repeated; ids are given in this order.",
        ),
    ] = None
    split_special: Annotated[
        bool,
        Option(
            "--split-special",
            rich_help_panel=_MODEL,
            help="Take special tokens in the corpus for what they are, instead of text to learn from.",
        ),
    ] = False
    min_frequency: Annotated[
        int | None,
        Option(
            "--min-frequency",
            metavar="N",
            min=0,
            rich_help_panel=_MODEL,
            show_default="bbpe: 1; with --compat, its own",
            help="Learn nothing that occurs less often.",
        ),
    ] = None
    initial_alphabet: Annotated[
        Alphabet | None,
        Option(
            "--initial-alphabet",
            rich_help_panel=_MODEL,
            show_default="all",
            help="Begin with all symbols (bbpe: 256 bytes), so that any text can be encoded, or with those seen.",
        ),
    ] = None
    max_token_length: Annotated[
        int | None,
        Option(
            "--max-token-length",
            metavar="N",
            min=1,
            rich_help_panel=_MODEL,
            help="Make no longer token (bbpe: in bytes, else in characters).",
        ),
    ] = None
    compat: Annotated[
        Compat | None,
        Option(
            "--compat",
            rich_help_panel=_MODEL,
            show_default="bbpe: hf",
            help="Whose result to give, tie by tie, as far as the algorithm has such rules.",
        ),
    ] = None
    set_: Annotated[
        list[str] | None,
        Option(
            "--set",
            metavar="NAME=VALUE",
            rich_help_panel=_MODEL,
            help="Set another option of the algorithm; --help-algorithm lists them. Can be repeated.",
        ),
    ] = None
    help_algorithm: Annotated[
        bool,
        Option(
            "--help-algorithm", rich_help_panel=_MODEL, help="List all options of the algorithm named by -a, and exit."
        ),
    ] = False

    @property
    def rules(self) -> str | None:
        """Whose rules are followed, if somebody's."""
        return self.compat and self.compat.value

    @property
    def name(self) -> str:
        """What is trained, as it is asked for: the algorithm, and whose rules it follows if they have a trainer."""
        from bpe_cli.trainers import trainer_of

        follows = trainer_of(self.algorithm.value, self.rules).follows
        return f"{self.algorithm} --compat {self.compat}" if follows else self.algorithm.value


@dataclass(frozen=True, slots=True)
class Written:
    """The options about what is written."""

    output: options.Output = None
    steps: Annotated[bool, Option("--steps", help="Print every step as a textbook does (small corpora).")] = False
    format_: Annotated[
        Format | None,
        Option(
            "--format",
            rich_help_panel="Output",
            show_default="by OUT's name, else bpe.json",
            help="The file's format: bpe.json is tokenizer.json, and more where Hugging Face's library lacks it. "
            "With -a bpe --compat subword-nmt it is its codes file unless this says otherwise.",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Stages:
    """The options about the normalizer and the pre-tokenizer."""

    normalizer: Annotated[
        str | None,
        Option(
            "--normalizer",
            metavar="NAME,...",
            rich_help_panel=_STAGES,
            show_default="the algorithm's own",
            help="How text is rewritten before it is cut: nfc, nfkc, lowercase, strip-accents, bert, nmt_nfkc, "
            "several with commas, or none.",
        ),
    ] = None
    pre_tokenizer: Annotated[
        str | None,
        Option(
            "--pre-tokenizer",
            metavar="NAME,...",
            rich_help_panel=_STAGES,
            show_default="the algorithm's own",
            help="How text is cut into pieces that no token crosses: bert, whitespace, metaspace, digits, "
            "several with commas, or none.",
        ),
    ] = None
    pattern: Annotated[
        str | None,
        Option(
            "--pattern",
            metavar="NAME|REGEX",
            rich_help_panel=_STAGES,
            show_default="bbpe: o200k; with --compat, its own",
            help="The same by an expression: gpt2, cl100k, llama3, o200k, qwen2, tekken, nanochat, or your own; "
            "none: not at all.",
        ),
    ] = None
    prefix_space: Annotated[
        bool, Option("--prefix-space", help="Put a space before each document.", rich_help_panel=_STAGES)
    ] = False

    @property
    def expression(self) -> str | None:
        """The split pattern, empty for none; None if nothing is said of it.

        Raises:
            UsageError: if it looks like a name, and there is no pattern of it.
        """
        from bpe_cli.stages.patterns import resolve_pattern

        if self.pattern is None:
            return None
        return "" if self.pattern == "none" else resolve_pattern(self.pattern)


@dataclass(frozen=True, slots=True)
class Counts:
    """The options about counts of pieces."""

    counts_out: Annotated[
        str | None,
        Option("--counts-out", metavar="FILE", help="Save the counts of pieces.", rich_help_panel=_COUNTS),
    ] = None
    from_counts: Annotated[
        list[str] | None,
        Option(
            "--from-counts",
            metavar="FILE",
            rich_help_panel=_COUNTS,
            help="Train on saved counts instead of text. Can be repeated: they are added up, in this order.",
        ),
    ] = None
    max_memory: Annotated[
        int | None,
        Option(
            "--max-memory",
            metavar="MIB",
            min=1,
            rich_help_panel=_COUNTS,
            show_default="4096",
            help="Memory that counts may take; more different pieces than fit are an error.",
        ),
    ] = None
