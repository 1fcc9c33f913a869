"""The options of ``bpe encode``, in groups."""

from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Annotated

from bpe_cli.cli import options
from bpe_cli.cli.parameters import Option
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass, replace

if TYPE_CHECKING:
    import datetime

    from bpe_cli.jobs.encode_chat import ChatOptions
    from bpe_cli.jobs.segment import SegmentOptions
    from bpe_cli.jobs.tokenizers import TokenizerChoice
    from bpe_cli.tokenizer.engine import Sampling

_CHAT = "Conversations"
_OUTPUT = "Output"
_SAMPLING = "Sampling"
_SEGMENTED = "Segmented text"
_TOKENIZER = "Tokenizer"


class Inference(StrEnum):
    """How a BPE vocabulary is applied."""

    merges = "merges"
    longest = "longest"
    left_to_right = "left-to-right"


class DropoutMode(StrEnum):
    """Whose dropout."""

    paper = "paper"
    spm = "spm"


class To(Enum):
    """What to write."""

    ids = "ids"
    tokens = "tokens"
    jsonl = "jsonl"
    npy = "npy"
    bin = "bin"
    count = "count"
    segmented = "segmented"
    text = "text"


@dataclass(frozen=True, slots=True)
class Applied:
    """The options about the tokenizer, and about special tokens."""

    tokenizer: options.TokenizerName = None
    bos: options.Bos = None
    eot: options.Eot = None
    special: options.Special = None
    add_special: options.AddSpecial = None
    add_special_tokens: Annotated[
        bool,
        Option(
            "--add-special-tokens",
            rich_help_panel=_TOKENIZER,
            help="Put around each document what the tokenizer's post-processor puts there; it must be something.",
        ),
    ] = False
    inference: Annotated[
        Inference | None,
        Option(
            "--inference",
            rich_help_panel=_TOKENIZER,
            show_default="merges",
            help="How a BPE vocabulary is applied: by its merges; by the longest token anywhere first, then what is "
            "left and right of it; by the longest token from the left.",
        ),
    ] = None
    frequencies: Annotated[
        str | None,
        Option(
            "--frequencies",
            metavar="FILE",
            rich_help_panel=_TOKENIZER,
            show_default="the lowest id first",
            help="Lines of a token and its count: with --inference longest, of tokens of one length the most frequent "
            "is tried first.",
        ),
    ] = None
    pattern: options.PatternName = None

    def choice(self) -> "TokenizerChoice":
        """Return which tokenizer it is, without loading it.

        Raises:
            UsageError: if a special token is not TEXT=ID, or there are frequencies that nobody asks for.
        """
        choice = options.choice_of(self.tokenizer, self.pattern, self.add_special)
        how = self.inference.value if self.inference else choice.inference
        return replace(choice, inference=how, frequencies=self.frequencies)


@dataclass(frozen=True, slots=True)
class Written:
    """The options about what is written."""

    to: Annotated[
        To | None,
        Option(
            "--to",
            rich_help_panel=_OUTPUT,
            show_default="by OUT's name, else ids",
            help="ids: a line of numbers per document. tokens: a line of tokens. jsonl: an object per document. npy, "
            "bin: numbers as u16 or u32, and OUT.json that describes them. count: the number of tokens per document. "
            "segmented: each line of text with blanks between its tokens. text: that of conversations.",
        ),
    ] = None
    output: options.Output = None
    with_: Annotated[
        str, Option("--with", metavar="tokens,spans", help="Add these to jsonl.", rich_help_panel=_OUTPUT)
    ] = ""
    max_tokens: Annotated[
        int | None,
        Option(
            "--max-tokens",
            metavar="N",
            min=0,
            rich_help_panel=_OUTPUT,
            help="Fail with status 1 if a document has more tokens.",
        ),
    ] = None

    @property
    def more(self) -> set[str]:
        """The words of --with."""
        return {word.strip() for word in self.with_.split(",") if word.strip()}


@dataclass(frozen=True, slots=True)
class Conversations:
    """The options about conversations."""

    chat: Annotated[
        bool,
        Option(
            "--chat",
            rich_help_panel=_CHAT,
            help="Each input is a conversation, a JSON array of messages; with --jsonl, each line.",
        ),
    ] = False
    chat_template: Annotated[
        str | None,
        Option(
            "--chat-template", metavar="NAME|FILE", rich_help_panel=_CHAT, show_default="the tokenizer's own",
            help="How messages become text: a template of the tokenizer's, a Jinja file, chatml, gpt-3.5, gpt-4-32k, "
            "harmony, mistral-v3, or openai (with --to count, as it bills).",
        ),
    ] = None  # fmt: skip
    generation_prompt: Annotated[
        bool | None,
        Option(
            "--generation-prompt/--no-generation-prompt", rich_help_panel=_CHAT,
            show_default="unless the model spoke last", help="Open the model's turn at the end.",
        ),
    ] = None  # fmt: skip
    tools: Annotated[
        str | None,
        Option(
            "--tools",
            metavar="FILE",
            rich_help_panel=_CHAT,
            help="A JSON array of tools, for conversations without any.",
        ),
    ] = None
    date: Annotated[
        str | None,
        Option(
            "--date", metavar="YYYY-MM-DD", rich_help_panel=_CHAT, show_default="now",
            help="The date that templates write.",
        ),
    ] = None  # fmt: skip

    def job_options(self) -> "ChatOptions":
        """Return what they say.

        Raises:
            UsageError: if the date is none.
        """
        from bpe_cli.jobs.encode_chat import ChatOptions

        date = None if self.date is None else _date(self.date)
        return ChatOptions(self.chat_template, self.generation_prompt, self.tools, date)


def _date(text: str) -> "datetime.date":
    import datetime

    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--date {text!r} is not a date", hint="as in --date 2025-06-28") from None


@dataclass(frozen=True, slots=True)
class Subwords:
    """The options about segmented text."""

    separator: Annotated[
        str,
        Option(
            "--separator",
            metavar="TEXT",
            rich_help_panel=_SEGMENTED,
            help="What stands after a subword that does not end its word.",
        ),
    ] = "@@"
    glossary: Annotated[
        list[str] | None,
        Option(
            "--glossary", metavar="REGEX", rich_help_panel=_SEGMENTED, help="Leave whole what this matches. Repeatable."
        ),
    ] = None
    vocabulary: Annotated[
        str | None,
        Option(
            "--vocabulary",
            metavar="FILE",
            rich_help_panel=_SEGMENTED,
            help="Lines of a subword and its count: take others apart again.",
        ),
    ] = None
    vocabulary_threshold: Annotated[
        int,
        Option(
            "--vocabulary-threshold",
            metavar="N",
            min=0,
            rich_help_panel=_SEGMENTED,
            help="The lowest count that counts.",
        ),
    ] = 0
    write_vocabulary: Annotated[
        str | None,
        Option(
            "--write-vocabulary",
            metavar="FILE",
            rich_help_panel=_SEGMENTED,
            help="Write what --vocabulary reads: the subwords of the text and their counts, most frequent first.",
        ),
    ] = None

    def job_options(self, sampling: "Sampling | None", threads: int | None) -> "SegmentOptions":
        """Return what they say.

        Raises:
            UsageError: if they contradict each other.
        """
        from bpe_cli.jobs.segment import SegmentOptions

        return SegmentOptions(
            self.separator, tuple(self.glossary or ()), self.vocabulary, self.vocabulary_threshold,
            self.write_vocabulary, sampling, threads,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Drawing:
    """The options that vary an encoding at random."""

    dropout: Annotated[
        float | None,
        Option("--dropout", metavar="P", rich_help_panel=_SAMPLING, help="Leave each merge out with this probability."),
    ] = None
    dropout_mode: Annotated[
        DropoutMode,
        Option(
            "--dropout-mode",
            rich_help_panel=_SAMPLING,
            help="Draw anew at every step, as the paper does, or leave a merge out for good, as SentencePiece does.",
        ),
    ] = DropoutMode.paper
    sample: Annotated[
        float | None,
        Option(
            "--sample",
            metavar="ALPHA",
            rich_help_panel=_SAMPLING,
            help="Draw a segmentation by its probability to this power (unigram).",
        ),
    ] = None
    nbest: Annotated[
        int,
        Option(
            "--nbest",
            metavar="N",
            min=0,
            max=1024,
            rich_help_panel=_SAMPLING,
            show_default="all",
            help="Draw among the N best only.",
        ),
    ] = 0
    seed: Annotated[
        int,
        Option(
            "--seed",
            metavar="N",
            min=0,
            rich_help_panel=_SAMPLING,
            help="The same seed draws the same, whatever the threads and blocks.",
        ),
    ] = 0

    def sampling(self) -> "Sampling | None":
        """Return what they say.

        Raises:
            UsageError: if they contradict each other.
        """
        from bpe_cli.tokenizer.engine import Sampling

        if self.dropout is not None and self.sample is not None:
            raise UsageError(
                "--dropout and --sample exclude each other", hint="dropout is for BPE, --sample for unigram"
            )
        if self.nbest and self.sample is None:
            raise UsageError("--nbest is about --sample, which is missing", hint="as in --sample 0.1 --nbest 64")
        if self.dropout_mode != DropoutMode.paper and self.dropout is None:
            raise UsageError("--dropout-mode is about --dropout, which is missing", hint="as in --dropout 0.1")
        if self.dropout is not None:
            return Sampling(
                "dropout" if self.dropout_mode == DropoutMode.paper else "lasting-dropout", self.dropout, seed=self.seed
            )
        return None if self.sample is None else Sampling("segmentation", self.sample, self.nbest, self.seed)
