"""Find all that a data set is made of: the tokenizer, the inputs, their parts, and the settings of its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bpe_cli.jobs.parts import Part, divide
from bpe_cli.jobs.prepare.conversations import Conversations, conversation_source, conversations_of
from bpe_cli.jobs.prepare.keeping import settled
from bpe_cli.jobs.prepare.part import PartJob, PrepareOptions
from bpe_cli.jobs.prepare.records import Plan, plan_of
from bpe_cli.jobs.prepare.settings import settings_of
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.messages import listed, plural

if TYPE_CHECKING:
    from bpe_cli.corpus import Input, Inputs, Source
    from bpe_cli.corpus.rows import KeptField
    from bpe_cli.jobs.files import Streams
    from bpe_cli.jobs.tokenizers import AnyTokenizer
    from bpe_cli.support.listening import Listener
    from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a data set is made of.

    Attributes:
        tokenizer: The tokenizer, or what says which.
        model: The tokenizer, loaded, with the special tokens that conversations need.
        source: How documents are made of inputs.
        options: What is written.
        conversations: How conversations become text; None if documents are texts.
        settings: All that changes what is written.
        inputs: The files.
        parts: The parts that they are divided into.
        keep: The fields whose values are kept.
    """

    tokenizer: AnyTokenizer
    model: Tokenizer
    source: Source
    options: PrepareOptions
    conversations: Conversations | None
    settings: dict[str, Any]
    inputs: tuple[Input, ...]
    parts: list[Part]
    keep: tuple[KeptField, ...]

    def plan(self) -> Plan:
        """Return the plan."""
        return plan_of(self.settings, self.parts)

    def job(self, folder: str, plan: Plan) -> PartJob:
        """Return what all parts of a plan have in common."""
        return PartJob(
            self.tokenizer, replace(self.source, paths=()), self.options, folder, plan.fingerprint(),
            self.settings["dtype"], self.settings["tokenizer"]["sha256"], self.keep, self.conversations,
            len(self.parts),
        )  # fmt: skip


def resolve(
    source: Source,
    tokenizer: AnyTokenizer,
    options: PrepareOptions,
    folder: str | None,
    *,
    listener: Listener,
    streams: Streams,
) -> Resolved:
    """Find all that a data set is made of; nothing in its own folder, if that is known and lies within an input.

    Raises:
        UsageError: if the options contradict each other or the tokenizer.
        InputError: if an input, a template or the tokenizer cannot be read.
    """
    from bpe_cli.jobs.tokenizers import load_tokenizer

    model = load_tokenizer(tokenizer)
    conversations = None
    if options.chat is not None:
        conversations = conversations_of(options.chat, tokenizer, model, streams)
        model = conversations.template.fit(model)
    settings = settings_of(source, model, options, conversations)
    read, inputs = found_inputs(source, options, folder, listener=listener, streams=streams)
    _note_repeated(inputs, listener)
    if options.chat is None:
        _note_binary(read, inputs, listener)
    parts = divide(inputs, read, options.part_bytes)
    keep = settled(options.keep, read, inputs)
    if keep:
        settings["keep"] = [[field.name, field.type] for field in keep]
    return Resolved(tokenizer, model, read, options, conversations, settings, inputs.items, parts, keep)


def found_inputs(
    source: Source, options: PrepareOptions, folder: str | None, *, listener: Listener, streams: Streams
) -> tuple[Source, Inputs]:
    """Find the files, and how they are read.

    Raises:
        UsageError: if they are not read as they are to be.
        InputError: if a file is missing, or is not text, or the like.
    """
    from bpe_cli.jobs.files import find_documents, find_inputs

    if options.chat is None:
        return source, find_documents(source, listener=listener, streams=streams, otherwise="", leave_out=folder)
    read = conversation_source(source)
    return read, find_inputs(read, listener=listener, streams=streams, otherwise="", leave_out=folder)


def _note_repeated(inputs: Inputs, listener: Listener) -> None:
    """Note the inputs that are the same file as one before, whatever its name."""
    known: set[object] = set()
    again = []
    for item in inputs.items:
        identity = item.identity or item.plain_name
        if identity in known:
            again.append(item.name)
        known.add(identity)
    if again:
        was, reads = ("was", "is") if len(again) == 1 else ("were", "are")
        names = listed(again, separator=", ")
        listener.note(f"{plural(len(again), 'input')} {was} named before, and {reads} read again: {names}")


def _note_binary(source: Source, inputs: Inputs, listener: Listener) -> None:
    """Note the texts that look binary, as a job does that reads them itself; of folders, such files were left out."""
    from bpe_cli.corpus.kinds import OBJECT, TEXT

    if source.documents == "jsonl":
        return
    found = [(item.name, item.nul) for item in inputs.items if item.nul is not None and item.kind in (TEXT, OBJECT)]
    if len(found) == 1:
        listener.note(f"{found[0][0]} looks binary (NUL at byte {found[0][1]}); its bytes are taken as they are")
    elif found:
        names = listed([name for name, _ in found], separator=", ")
        listener.note(f"{len(found):,} inputs look binary, and their bytes are taken as they are: {names}")
