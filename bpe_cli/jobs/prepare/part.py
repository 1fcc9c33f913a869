"""What is written in each part of a data set, and what all parts have in common."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from bpe_cli.errors import UsageError
from bpe_cli.jobs.parts import Part
from bpe_cli.jobs.prepare.broken import OnError, check_on_error, is_made_with
from bpe_cli.jobs.prepare.records import Record, has_sides
from bpe_cli.jobs.prepare.sequences import SequenceOptions, Way
from bpe_cli.jobs.prepare.sides import SIDES
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.tokenizer.usage import Edges

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.corpus.rows import KeptField
    from bpe_cli.jobs.encode_chat import ChatOptions
    from bpe_cli.jobs.prepare.conversations import Conversations
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.sinks.base import Dtype, Positions
    from bpe_cli.tokenizer import Specials, Tokenizer


@dataclass(frozen=True, slots=True)
class PrepareOptions:
    """What is written, and how texts are encoded.

    Attributes:
        to: The format: a name from ``sinks.dataset.DATASETS``.
        dtype: How an id is stored; None for the smallest type that holds every id.
        columns: What a row has beside its ids: see ``sinks.dataset.columns``; ``spans`` in formats of numbers.
        specials: Which special tokens are looked for in the text: ``all``, or those that are named.
        refuse_specials: Whether a text that holds one of them is refused instead.
        add_special_tokens: Whether the post-processor puts around each document what it has.
        bos: What begins each document: the text of a special token, an id, or ``auto``.
        eot: The token to put after each document, given in the same way.
        part_bytes: How many bytes of input a part has: see ``divide``.
        length: The most ids in a sequence; None keeps documents as they are.
        way: How documents become sequences: see ``SequenceOptions``.
        pad: The token that pads short sequences: the text of a special token, an id, or ``auto``; None for no padding.
        positions: What the column ``position_ids`` counts the ids of: each document of a row, or the row.
        chat: How conversations become text; None if documents are texts.
        mask: What of conversations is to be learnt: what the ``assistant`` says; None for no mask.
        val: Which share of the documents is the validation set, by the hash of their text; None for no such set.
        shuffle: What is put into a random order: ``documents``, or the ``sequences`` made of them.
        seed: What the order depends on.
        on_error: What becomes of a broken row: see ``OnError``.
        keep: Fields of the source that a row of a table has too, each as ``NAME`` or ``NAME:TYPE``.

    Raises:
        UsageError: if something is said of what is not asked for, or contradicts something else.
    """

    to: str = "bin"
    dtype: Dtype | None = None
    columns: tuple[str, ...] = ()
    specials: Specials = ()
    refuse_specials: bool = False
    add_special_tokens: bool = False
    bos: str | int | None = None
    eot: str | int | None = None
    part_bytes: int = 256 << 20
    length: int | None = None
    way: Way = "concatenate"
    pad: str | int | None = None
    positions: Positions = "document"
    chat: ChatOptions | None = None
    mask: Literal["assistant"] | None = None
    val: float | None = None
    shuffle: Literal["documents", "sequences"] | None = None
    seed: int = 0
    on_error: OnError = "fail"
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_on_error(self.on_error)
        if self.length is None and self.pad is not None:
            raise UsageError("`pad` fills sequences, and documents are not made into sequences", hint="use `length`")
        if self.length is None and self.shuffle == "sequences":
            raise UsageError("there are no sequences to shuffle", hint='use `length`, or `shuffle="documents"`')
        if self.length is None and "spans" in self.columns:
            raise UsageError("spans are the documents in sequences, and there are no sequences", hint="use `length`")
        if twice := [name for number, name in enumerate(self.columns) if name in self.columns[:number]]:
            raise UsageError(f"`columns` names {twice[0]} twice")
        if "loss_mask" in self.columns:
            raise UsageError("loss_mask is written with `mask`, not by its name", hint="leave it out")
        if self.mask is not None and self.chat is None:
            raise UsageError("`mask` is for conversations", hint="`chat` reads conversations")
        if self.val is not None and not 0 < self.val < 1:
            raise UsageError(f"`val` must be a share between 0 and 1, not {self.val}", hint="for example: 0.001")
        if not 0 <= self.seed < 1 << 64:
            raise UsageError("`seed` must be at least 0 and below 2^64")
        if self.chat is not None and (self.add_special_tokens or self.bos is not None):
            raise UsageError(
                "a chat template itself writes what belongs around a conversation",
                hint=f"leave {'`add_special_tokens`' if self.add_special_tokens else '`bos`'} out",
            )

    @property
    def all_columns(self) -> tuple[str, ...]:
        """What a row has beside its ids."""
        return self.columns if self.mask is None else (*self.columns, "loss_mask")

    @property
    def sides(self) -> tuple[str, ...]:
        """The sets that are written: one without a name, or the training and the validation set."""
        return ("",) if self.val is None else SIDES

    @property
    def needs_pieces(self) -> bool:
        """Whether it matters which pieces of documents sequences are made of."""
        counted = {"position_ids"} if self.positions == "document" else set()
        padded = {"attention_mask"} if self.pad is not None else set()
        return bool(({"segment_ids", "seq_lengths", "spans"} | counted | padded) & set(self.columns))

    def sequences(self, tokenizer: Tokenizer) -> SequenceOptions | None:
        """Return how documents become sequences; None if they do not.

        Raises:
            UsageError: if there is no such token as fills sequences.
        """
        from bpe_cli.tokenizer.special_tokens import token_named

        if self.length is None:
            return None
        pad = None if self.pad is None else token_named(tokenizer, self.pad, "pad")
        return SequenceOptions(self.length, self.way, pad)

    def edges(self, tokenizer: Tokenizer) -> Edges:
        """Return the tokens around each document.

        Raises:
            UsageError: if there is no such token.
        """
        from bpe_cli.tokenizer.special_tokens import edges_of

        return edges_of(tokenizer, add_special_tokens=self.add_special_tokens, bos=self.bos, eot=self.eot)


@dataclass(frozen=True, slots=True)
class PartJob:
    """What every part has in common: what a worker gets once. A plain value, which can be pickled.

    Attributes:
        tokenizer: The tokenizer, or what says which.
        source: How documents are made of inputs; its paths are not read.
        options: What is written.
        folder: Where.
        plan: The fingerprint of the plan.
        dtype: How an id is stored.
        sha256: The hash of the tokenizer.
        conversations: How conversations become text; None if documents are texts.
        parts: How many parts there are.
        keep: The fields whose values are kept.
        all_inputs: For the second pass of a shuffle: what records say of all that the first has read.
    """

    tokenizer: AnyTokenizer
    source: Source
    options: PrepareOptions
    folder: str
    plan: str
    dtype: Dtype
    sha256: str
    keep: tuple[KeptField, ...] = ()
    conversations: Conversations | None = None
    parts: int = 1
    all_inputs: str | None = None

    def load(self) -> Tokenizer:
        """Load the tokenizer, with the special tokens that conversations need.

        Raises:
            UsageError: if it is another one than when the run began.
        """
        from bpe_cli.jobs.tokenizers import load_tokenizer
        from bpe_cli.tokenizer import fingerprint

        model = load_tokenizer(self.tokenizer)
        if self.conversations is not None:
            model = self.conversations.template.fit(model)
        if fingerprint(model) != self.sha256:
            raise UsageError(
                "the tokenizer is not the one that the run began with",
                hint="its file has changed since, or is different on this machine",
            )
        return model

    def edges_of_sink(self, model: Tokenizer) -> Edges:
        """Return the tokens around documents, of which a sink writes the last itself, unless they are in the ids.

        Sequences hold them already, and a mask has a byte for each of them.
        """
        edges = self.options.edges(model)
        in_ids = self.options.length is not None or self.options.mask is not None
        return Edges(edges.before, edges.after) if in_ids else edges

    @property
    def specials_written(self) -> Specials:
        """Which special tokens may be in documents: a template may write any."""
        return self.options.specials if self.conversations is None else "all"

    def record_path(self, part: Part) -> str:
        """Return where the record of a part lies."""
        return os.path.join(self.folder, f"{part.name}.json")


_DAMAGED = "its record is damaged"


def damage_of(job: PartJob, part: Part, record: Record | None, sizes: Mapping[str, int]) -> str | None:
    """Return what is wrong with a part that is there, by its record and the sizes of all files; None if nothing is.

    Hashes are not computed: ``check`` does that.
    """
    if record is None:
        return _DAMAGED
    if record.plan != job.plan or not is_made_with(record, job.options.on_error):
        return "it was made with another tokenizer or other options"
    described = [{key: value for key, value in each.items() if key != "sha256"} for each in record.inputs]
    if record.part != part.number or described != part.described():
        return "it was made of other inputs"
    if len(job.options.sides) > 1 and not has_sides(record):
        return _DAMAGED
    for file in record.all_files:
        size = sizes.get(file.name)
        if size is None:
            return f"{file.name} is missing"
        if size != file.size:
            return f"{file.name} has {size:,} bytes, and its record says {file.size:,}"
    return None
