"""The public functions: each runs one command of ``bpe`` as a single call.

``load``, ``convert`` and ``dump`` are jobs by themselves, and ``train`` has a module of its own. These turn what
programs have, texts, paths and tokenizers, into what jobs take.

Length: ten calls, whose docstrings are a part of docs/reference/api.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from io import IOBase, TextIOBase
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.tokenizers import load_tokenizer
from bpe_cli.support.core_arguments import (
    bytes_of,
    flag,
    list_of,
    one_of,
    pair_of,
    plain_number,
    specials_of,
    whole_number,
    wrong_type,
)
from bpe_cli.support.listening import SILENCE, Listener, heard
from bpe_cli.support.ordered_threads import usable_threads
from bpe_cli.tokenizer.engine import sampling_of

if TYPE_CHECKING:
    import datetime

    from bpe_cli.corpus import Source
    from bpe_cli.corpus.source import Documents
    from bpe_cli.datasets.inspect import InspectedData
    from bpe_cli.jobs.changes import Change
    from bpe_cli.jobs.chunk import ChunkOptions, Keep, TruncateOptions
    from bpe_cli.jobs.decode import Decoded
    from bpe_cli.jobs.documents import Encoded, EncodeOptions
    from bpe_cli.jobs.encode_chat import ChatOptions
    from bpe_cli.jobs.files import Destination
    from bpe_cli.jobs.prepare import Prepared
    from bpe_cli.jobs.prepare.broken import OnError
    from bpe_cli.jobs.prepare.sequences import Way
    from bpe_cli.reports.tokenizer.health import HealthReport
    from bpe_cli.results import ChatReport, ComparisonReport, IdsComparison, StepsReport, TextReport, TokenizerReport
    from bpe_cli.sinks.base import Dtype
    from bpe_cli.stages import SpecialToken
    from bpe_cli.surgery import Operation
    from bpe_cli.tokenizer import Specials, Tokenizer
    from bpe_cli.tokenizer.engine import Sampling
    from bpe_cli.tokenizer.parts import Break

    AnyTokenizer = Tokenizer | str | os.PathLike[str]
    Files = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
    Texts = str | bytes | os.PathLike[str] | Iterable[str | bytes] | Iterable[os.PathLike[str]]

# -- files ------------------------------------------------------------------------------------------------


def encode_files(
    tokenizer: AnyTokenizer,
    files: Files,
    output: Destination,
    *,
    to: str | None = None,
    documents: Documents = "whole",
    field: str | None = None,
    member: str | None = None,
    specials: Specials = (),
    add_special_tokens: bool = False,
    bos: str | int | None = None,
    eot: str | int | None = None,
    max_tokens: int | None = None,
    counts: Literal["numbers", "named", "json"] = "numbers",
    size: int | None = None,
    overlap: int = 0,
    break_at: Break = "token",
    truncate: int | None = None,
    keep: Keep = "head",
    tokens: bool = False,
    spans: bool = False,
    sampling: Sampling | None = None,
    chat: bool | str = False,
    add_generation_prompt: bool | None = None,
    tools: str | os.PathLike[str] | None = None,
    date: datetime.date | None = None,
    threads: int | None = None,
    listener: Listener = SILENCE,
) -> Encoded:
    """Encode files of any size into a file, in bounded memory, as ``bpe encode`` does.

    Args:
        tokenizer: A tokenizer, or anything that ``load`` accepts.
        files: A file, a folder, a glob pattern, or several of these; compressed files and tables too.
        output: The file to write, which appears only when it is complete; or a binary stream.
        to: ``ids``, ``tokens``, ``jsonl``, ``npy``, ``bin``, ``count``, ``chunks``; or ``text``, for conversations and
            with ``truncate``. If None, the output's name decides, and ``ids`` is the default.
        documents: What counts as a document: the ``whole`` file, each of its ``lines``, or a field of each line of
            ``jsonl``.
        field: The JSON field or table column that holds the text; None for ``text``, or ``messages`` of conversations.
        member: The extension of the tar members to read as documents. None means ``txt``, and skips archives found in
            folders.
        specials: The special tokens to recognize in the texts; none by default.
        add_special_tokens: Whether to add the special tokens that the tokenizer's post-processor puts around a
            document.
        bos: The token to put before each document, as for ``Tokenizer.encode``.
        eot: The token to put after each document, given in the same way.
        max_tokens: The maximum number of tokens in a document. Longer documents are an error, raised after everything
            is written.
        counts: The layout of ``count``: ``numbers``, one per line; ``named``, with the documents' names, and a total if
            there are several files; ``json``, one object with all of these.
        size: With ``chunks``, the maximum number of tokens in a chunk. The chunks are those of ``Tokenizer.chunks``,
            written as JSON lines.
        overlap: Number of tokens that each chunk repeats from the previous one.
        break_at: Where a chunk should end: after a ``token``, a ``line``, a ``sentence`` or a ``paragraph``.
        truncate: With ``text``, the number of tokens to keep from each document, as ``Tokenizer.truncate`` does.
        keep: The part to keep: ``head``, ``tail`` or ``middle``.
        tokens: Whether to also write the tokens to jsonl.
        spans: Whether to also write the byte span of each token to jsonl.
        sampling: How to vary the encodings at random; None for no variation.
        chat: Whether each document is a conversation: a JSON array of messages, or an object that holds one. A str
            names the template: one of the tokenizer's own, a Jinja file, or a built-in layout such as ``chatml``.
            ``openai`` counts the tokens that OpenAI bills.
        add_generation_prompt: Whether to open the model's turn at the end of a conversation; None opens it unless the
            model spoke last.
        tools: A file with a JSON array of tools, for conversations that have none of their own.
        date: The date for templates that include one; today if None.
        threads: Number of threads; None uses all processors. Never changes the result.
        listener: Receives progress and notes: any object with the methods ``task`` and ``note``.

    Returns:
        The number of ``documents`` and of ``tokens``, and the ``files`` that were written.

    >>> from bpe_cli import decode_files, encode_files
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text, ids = os.path.join(folder, "text.txt"), os.path.join(folder, "ids.npy")
    ...     with open(text, "w") as file:
    ...         _ = file.write("hello world")
    ...     done = encode_files("gpt2", text, ids)
    ...     done.documents, done.tokens, decode_files("gpt2", ids, text).tokens
    (1, 2, 2)
    >>> import io
    >>> lines = io.BytesIO()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = os.path.join(folder, "text.txt")
    ...     with open(text, "w") as file:
    ...         _ = file.write("one two three")
    ...     encode_files("gpt2", text, lines, to="chunks", size=2).chunks, lines.getvalue()[:43]
    (2, b'{"text":"one two","start":0,"end":7,"tokens')
    >>> written = io.BytesIO()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     chat = os.path.join(folder, "chat.json")
    ...     with open(chat, "w") as file:
    ...         _ = file.write('[{"role": "user", "content": "hello"}]')
    ...     encode_files("gpt-3.5-turbo", chat, written, to="text", chat=True).documents, written.getvalue()[:27]
    (1, b'<|im_start|>user\\nhello<|im_')

    Raises:
        BpeError: if the tokenizer or an option does not exist, or a file cannot be read, written or encoded.
        TypeError: if an argument has the wrong type.
    """
    from bpe_cli.jobs.documents import EncodeOptions, kind_written
    from bpe_cli.jobs.encode import encode
    from bpe_cli.jobs.files import Target

    one_of("counts", counts, ("numbers", "named", "json"))
    if counts != "numbers" and kind_written(_name("to", to), Target.of(_output(output))) != "count":
        raise UsageError('counts needs `to="count"`')
    options = EncodeOptions(
        to=_name("to", to), tokens=flag("tokens", tokens), spans=flag("spans", spans), specials=specials_of(specials),
        add_special_tokens=flag("add_special_tokens", add_special_tokens), bos=bos, eot=eot,
        max_tokens=None if max_tokens is None else whole_number("max_tokens", max_tokens),
        counts=counts, sampling=sampling_of(sampling), threads=_threads(threads),
    )  # fmt: skip
    conversations = _conversations(chat, add_generation_prompt, tools, date)
    parts = _parts(to, size, overlap, break_at, truncate, keep, options)
    if parts is not None and conversations is not None:
        raise UsageError("chunks and truncation are for texts, and `chat` reads conversations")
    source = _documents(documents, field, member=member, paths=_paths(files))
    if parts is not None:
        return encode(source, tokenizer, options, parts=parts, output=_output(output), listener=heard(listener))
    if conversations is None:
        return encode(source, tokenizer, options, output=_output(output), listener=heard(listener))
    from bpe_cli.jobs.encode_chat import encode_chat

    return encode_chat(source, tokenizer, conversations, options, output=_output(output), listener=heard(listener))


def _parts(
    to: str | None, size: int | None, overlap: int, break_at: Break, truncate: int | None, keep: Keep,
    options: EncodeOptions,
) -> ChunkOptions | TruncateOptions | None:  # fmt: skip
    """Return which parts of texts are written; None if ids are, or conversations."""
    from bpe_cli.jobs.chunk import SIDES, ChunkOptions, TruncateOptions
    from bpe_cli.tokenizer.parts import BREAKS

    one_of("break_at", break_at, BREAKS)
    one_of("keep", keep, tuple(SIDES))
    whole_number("overlap", overlap)
    if (size is None) != (to != "chunks"):
        raise UsageError('`size` and `to="chunks"` belong together')
    if truncate is not None and to != "text":
        raise UsageError('`truncate` needs `to="text"`')
    if size is None and (overlap or break_at != "token"):
        raise UsageError(f'`{"overlap" if overlap else "break_at"}` needs `to="chunks"`')
    if truncate is None and keep != "head":
        raise UsageError("`keep` needs `truncate`")
    if size is not None:
        return ChunkOptions(whole_number("size", size, 1), overlap, break_at, options.specials, options.threads)
    if truncate is not None:
        return TruncateOptions(whole_number("truncate", truncate), keep, options.specials, options.threads)
    return None


def _conversations(
    chat: bool | str, generation_prompt: bool | None, tools: str | os.PathLike[str] | None, date: datetime.date | None
) -> ChatOptions | None:
    """Return how conversations become text; None if the documents are not conversations."""
    if not isinstance(chat, (bool, str)):
        raise wrong_type("chat", "a bool or a str", chat)
    if generation_prompt is not None and not isinstance(generation_prompt, bool):
        raise wrong_type("add_generation_prompt", "a bool or None", generation_prompt)
    if date is not None and not hasattr(date, "isocalendar"):
        raise wrong_type("date", "a datetime.date", date)
    if chat is False:
        if any(each is not None for each in (generation_prompt, tools, date)):
            raise UsageError(
                "add_generation_prompt, tools and date are for conversations only", hint="chat=True reads them"
            )
        return None
    from bpe_cli.jobs.encode_chat import ChatOptions

    return ChatOptions(None if chat is True else chat, generation_prompt, _path("tools", tools), date)


def segment_files(
    tokenizer: AnyTokenizer,
    files: Files,
    output: Destination,
    *,
    documents: Documents = "lines",
    field: str | None = None,
    member: str | None = None,
    separator: str = "@@",
    glossaries: Iterable[str] = (),
    vocabulary: str | os.PathLike[str] | None = None,
    threshold: int = 0,
    write_vocabulary: str | os.PathLike[str] | None = None,
    sampling: Sampling | None = None,
    threads: int | None = None,
    listener: Listener = SILENCE,
) -> Encoded:
    """Write the text of files line by line, with spaces between tokens: ``bpe encode --to segmented``.

    Args:
        tokenizer: A tokenizer, or anything that ``load`` accepts. BPE with end-of-word markers segments text as
            subword-nmt's ``apply-bpe`` does; the tokens of any other tokenizer are written as they appear in the text.
        files: A file, a folder, a glob pattern, or several of these.
        output: The file to write, which appears only when it is complete; or a binary stream.
        documents: What counts as a document: each of the file's ``lines``, the ``whole`` file, or a field of each line
            of ``jsonl``.
        field: The JSON field or table column that holds the text; None for ``text``, or ``messages`` of conversations.
        member: The extension of the tar members to read as documents. None means ``txt``, and skips archives found in
            folders.
        separator: The marker to write after a subword that does not end its word.
        glossaries: Regular expressions; text that matches one of them is not segmented.
        vocabulary: A file of subwords and their counts; subwords that are not in it are split further.
        threshold: The minimum count for a subword in that file to be used.
        write_vocabulary: The file to write the subwords and their counts to.
        sampling: How to vary the segmentation at random; None for no variation.
        threads: Number of threads; None uses all processors. Never changes the result.
        listener: Receives progress and notes.

    Returns:
        The number of lines written (``documents``), the ``files`` that were written, and the number of ``subwords``
        with a count in the written vocabulary.

    >>> import io, os, tempfile
    >>> from bpe_cli import segment_files, train
    >>> words = train(["low lower lowest"] * 2, algorithm="bpe", vocab_size=18)
    >>> lines = io.BytesIO()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = os.path.join(folder, "text.txt")
    ...     with open(text, "w") as file:
    ...         _ = file.write("lower slow")
    ...     segment_files(words, text, lines).documents, lines.getvalue()
    (1, b'lowe@@ r s@@ lo@@ w\\n')

    Raises:
        BpeError: if the tokenizer does not exist, an option needs words but the model has none, or a file cannot be
            read or written.
        TypeError: if an argument has the wrong type.
    """
    from bpe_cli.jobs.segment import SegmentOptions, segment

    for each in (several := list_of("glossaries", glossaries, "expressions")):
        if not isinstance(each, str):
            raise wrong_type("glossaries", "a list of str", each)
        bytes_of(each, "glossaries")
    if not isinstance(separator, str):
        raise wrong_type("separator", "a str", separator)
    bytes_of(separator, "separator")
    options = SegmentOptions(
        separator, tuple(several), _path("vocabulary", vocabulary), whole_number("threshold", threshold),
        _path("write_vocabulary", write_vocabulary), sampling_of(sampling), _threads(threads),
    )  # fmt: skip
    by_lines = documents == "lines"  # as each line of a member is written anyhow
    source = _documents(documents, field, member=member, paths=_paths(files), documents_are_default=by_lines)
    return segment(source, tokenizer, options, output=_output(output), listener=heard(listener))


def decode_files(
    tokenizer: AnyTokenizer,
    files: Files,
    output: Destination,
    *,
    format: str | None = None,  # noqa: A002  # what every caller calls it
    errors: Literal["strict", "replace", "ignore"] | None = None,
    lines: bool = False,
    bos: str | int | None = None,
    eot: str | int | None = None,
    dtype: Dtype | None = None,
    listener: Listener = SILENCE,
) -> Decoded:
    """Decode files of ids, as ``encode_files`` writes them, into the bytes that were encoded.

    Args:
        tokenizer: A tokenizer, or anything that ``load`` accepts.
        files: A file, a folder, a glob pattern, or several of these.
        output: The file to write, which appears only when it is complete; or a binary stream.
        format: ``ids``, ``tokens``, ``jsonl``, ``npy`` or ``bin``; detected from a file's name and content if None.
        errors: How to treat bytes that are not UTF-8; None writes them as they are.
        lines: Whether to write a newline after each document.
        bos: The token at the start of each document, which is left out of the text; None means the one named in the
            sidecar.
        eot: The token at the end of each document, which is left out of the text; None means the one named in the
            sidecar.
        dtype: The type of the numbers in a bin file, ``u16`` or ``u32``; None means the one named in the sidecar.
        listener: Receives progress and notes: any object with the methods ``task`` and ``note``.

    Returns:
        The number of ``documents`` and of ``tokens``.

    >>> from bpe_cli import decode_files
    >>> import io, os, tempfile
    >>> text = io.BytesIO()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ids = os.path.join(folder, "ids.txt")
    ...     with open(ids, "w") as file:
    ...         _ = file.write("31373 995")
    ...     decode_files("gpt2", ids, text), text.getvalue()
    (Decoded(documents=1, tokens=2), b'hello world')

    Raises:
        BpeError: if the tokenizer or an option does not exist, a file cannot be read or written, or an id has no token.
        TypeError: if an argument has the wrong type.
    """
    from bpe_cli.jobs.decode import DecodeOptions, decode

    if errors is not None:
        one_of("errors", errors, ("strict", "replace", "ignore"))
    if dtype is not None:
        one_of("dtype", dtype, ("u16", "u32"))
    options = DecodeOptions(_name("format", format), errors, flag("lines", lines), bos, eot, dtype)
    return decode(_paths(files), tokenizer, options, output=_output(output), listener=heard(listener))


def prepare(
    tokenizer: AnyTokenizer,
    files: Files,
    folder: str | os.PathLike[str],
    *,
    to: str = "bin",
    documents: Documents = "whole",
    field: str | None = None,
    member: str | None = None,
    specials: Specials = (),
    bos: str | int | None = None,
    eot: str | int | None = None,
    dtype: Dtype | None = None,
    columns: Iterable[str] = (),
    positions: Literal["document", "sequence"] = "document",
    length: int | None = None,
    way: Way = "concatenate",
    pad: str | int | None = None,
    shuffle: Literal["documents", "sequences"] | None = None,
    seed: int = 0,
    val: float | None = None,
    chat: bool | str = False,
    mask: Literal["assistant"] | None = None,
    add_generation_prompt: bool | None = None,
    tools: str | os.PathLike[str] | None = None,
    date: datetime.date | None = None,
    part_bytes: int = 256 << 20,
    keep: Iterable[str] = (),
    on_error: OnError = "fail",
    share: tuple[int, int] | None = None,
    overwrite: bool = False,
    engine: str = "local",
    processes: int | None = None,
    listener: Listener = SILENCE,
) -> Prepared:
    """Encode files into a data set folder, as ``bpe prepare`` does; a finished part is never redone.

    Args:
        tokenizer: A tokenizer, or anything that ``load`` accepts.
        files: A file, a folder, a glob pattern, or several of these.
        folder: The folder; it is created if it does not exist.
        to: The format: ``bin``, ``npy``, ``megatron``, or another one listed on the page about data sets.
        documents: What counts as a document: the ``whole`` file, each of its ``lines``, or a field of each line of
            ``jsonl``.
        field: The JSON field or table column that holds the text; None for ``text``, or ``messages`` of conversations.
        member: The extension of the tar members to read as documents. None means ``txt``, and skips archives found in
            folders.
        specials: The special tokens to recognize in the texts; none by default.
        bos: The token to put before each document, as for ``Tokenizer.encode``.
        eot: The token to put after each document, given in the same way.
        dtype: The type to store ids in, ``u16`` or ``u32``; None for the smallest that fits every id.
        columns: Columns to store with the ids: ``attention_mask``, ``position_ids``, ``segment_ids``, ``seq_lengths``
            in ``mds``, ``arrow``, ``parquet``, ``datasets`` and ``webdataset``; ``spans`` in the other formats.
        positions: Where ``position_ids`` restarts at 0: at each ``document`` in a sequence, or at each ``sequence``.
        length: The maximum number of ids in a sequence; None keeps documents as they are.
        way: How to turn documents into sequences: ``truncate`` or ``split`` each document, ``concatenate`` all of them
            and cut, or pack whole documents by ``best-fit``.
        pad: The token that pads short sequences: the text of a special token, an id, or ``auto``; None for no padding.
        shuffle: What to shuffle: the ``documents``, or the ``sequences`` made from them; None for no shuffling.
        seed: The seed of the shuffle.
        val: The fraction of documents that go to ``val/``, chosen by the hash of their text; None for no validation
            set.
        chat: Whether each document is a conversation, as for ``encode_files``.
        mask: ``assistant`` also writes a mask that marks the ids that the assistant wrote.
        add_generation_prompt: As for ``encode_files``.
        tools: As for ``encode_files``.
        date: The date for templates that include one; they require it.
        part_bytes: Bytes of input per part.
        keep: Source fields to keep in each row of a table: ``id``, or with a type, ``id:int64``.
        on_error: What to do with a broken row, such as a line that is not JSON: ``fail``; ``skip`` it; or
            ``quarantine`` it, which skips it and saves it to a file.
        share: (K, N) makes only every N-th part, starting with the K-th, so that N machines can share the work; None
            makes all parts.
        overwrite: Whether to redo the parts that are damaged or were made with other settings, and to remove files of
            parts that no record names.
        engine: What runs the parts: ``local``, processes on this machine; ``ray``, the Ray cluster that the program is
            connected to, or that ``RAY_ADDRESS`` names; ``ray://HOST:PORT``, another cluster. Never changes the result.
        processes: Number of parts to make at a time; None uses all processors. Never changes the result. With more than
            one process on this machine, a program needs the usual ``if __name__ == "__main__"``.
        listener: Receives progress and notes: any object with the methods ``task`` and ``note``. If it has
            ``event(what, facts)``, that method is called with the plan, with each finished part, and at the end.

    Returns:
        What the folder contains: the number of ``parts``, ``documents`` and ``tokens``, and whether it ``is_whole``.

    >>> import os, tempfile
    >>> from bpe_cli import TokenDataset, prepare
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text, out = os.path.join(folder, "text.txt"), os.path.join(folder, "out")
    ...     with open(text, "w") as file:
    ...         _ = file.write("hello world")
    ...     done = prepare("gpt2", text, out, eot="auto")
    ...     done.documents, done.tokens, [row.tolist() for row in TokenDataset(out)]
    (1, 3, [[31373, 995, 50256]])

    Raises:
        BpeError: if the tokenizer or an option does not exist, a file cannot be read, written or encoded, or the folder
            holds a data set made with other settings.
        TypeError: if an argument has the wrong type.
    """
    from bpe_cli.engines import engine_named
    from bpe_cli.jobs.parts import Share
    from bpe_cli.jobs.prepare import PrepareOptions
    from bpe_cli.jobs.prepare import prepare as prepare_job

    one_of("on_error", on_error, ("fail", "skip", "quarantine"))
    one_of("way", way, ("truncate", "split", "concatenate", "best-fit"))
    one_of("positions", positions, ("document", "sequence"))
    if shuffle is not None:
        one_of("shuffle", shuffle, ("documents", "sequences"))
    if mask is not None:
        one_of("mask", mask, ("assistant",))
    if dtype is not None:
        one_of("dtype", dtype, ("u16", "u32"))
    several = [columns] if isinstance(columns, str) else list_of("columns", columns, "names")
    kept = [keep] if isinstance(keep, str) else list_of("keep", keep, "names")
    options = PrepareOptions(
        to=_name("to", to) or "", dtype=dtype, columns=tuple(_name("columns", each) or "" for each in several),
        specials=specials_of(specials), bos=bos, eot=eot, part_bytes=whole_number("part_bytes", part_bytes, 1),
        length=None if length is None else whole_number("length", length, 1), way=way, pad=pad,
        positions=positions, chat=_conversations(chat, add_generation_prompt, tools, date), mask=mask,
        val=None if val is None else _share(val), shuffle=shuffle, seed=whole_number("seed", seed, 0, (1 << 64) - 1),
        on_error=on_error, keep=tuple(_name("keep", each) or "" for each in kept),
    )  # fmt: skip
    count = None if processes is None else whole_number("processes", processes, 1)
    return prepare_job(
        _documents(documents, field, member=member, paths=_paths(files)), tokenizer, options,
        folder=_path("folder", folder) or "",
        share=None if share is None else Share(*pair_of("share", share)),
        overwrite=flag("overwrite", overwrite),
        engine=engine_named(_name("engine", engine) or "", count), listener=heard(listener),
    )  # fmt: skip


def _share(val: float) -> float:
    return float(plain_number("val", val))


# -- looks ------------------------------------------------------------------------------------------------


@overload
def inspect(
    tokenizer: AnyTokenizer,
    texts: Texts,
    *,
    specials: Specials = (),
    documents: Documents = "whole",
    field: str | None = None,
    member: str | None = None,
    steps: Literal[False] = False,
    chat: Literal[False] = False,
    listener: Listener = SILENCE,
) -> TextReport: ...
@overload
def inspect(
    tokenizer: AnyTokenizer,
    texts: Texts,
    *,
    specials: Specials = (),
    documents: Documents = "whole",
    field: str | None = None,
    member: str | None = None,
    steps: Literal[True],
    pairs: int | None = None,
    full: bool = False,
    listener: Listener = SILENCE,
) -> StepsReport: ...
@overload
def inspect(
    tokenizer: AnyTokenizer,
    texts: Texts,
    *,
    specials: Specials = (),
    documents: Documents = "whole",
    field: str | None = None,
    member: str | None = None,
    chat: Literal[True] | str,
    add_generation_prompt: bool | None = None,
    tools: str | os.PathLike[str] | None = None,
    date: datetime.date | None = None,
    listener: Listener = SILENCE,
) -> ChatReport: ...
@overload
def inspect(
    tokenizer: AnyTokenizer,
    texts: None = None,
    *,
    listener: Listener = SILENCE,
) -> TokenizerReport: ...
@overload
def inspect(
    tokenizer: AnyTokenizer | None,
    texts: None = None,
    *,
    data: str | os.PathLike[str],
    rows: tuple[int, int] | None = None,
    listener: Listener = SILENCE,
) -> InspectedData: ...
@overload
def inspect(
    tokenizer: AnyTokenizer | None,
    texts: Texts | None = None,
    *,
    data: str | os.PathLike[str] | None = None,
    rows: tuple[int, int] | None = None,
    specials: Specials = (),
    documents: Documents = "whole",
    field: str | None = None,
    member: str | None = None,
    steps: bool = False,
    pairs: int | None = None,
    full: bool = False,
    chat: bool | str = False,
    add_generation_prompt: bool | None = None,
    tools: str | os.PathLike[str] | None = None,
    date: datetime.date | None = None,
    listener: Listener = SILENCE,
) -> TextReport | StepsReport | ChatReport | TokenizerReport | InspectedData: ...
def inspect(
    tokenizer: AnyTokenizer | None,
    texts: Texts | None = None,
    *,
    data: str | os.PathLike[str] | None = None,
    rows: tuple[int, int] | None = None,
    specials: Specials = (),
    documents: Documents = "whole",
    field: str | None = None,
    member: str | None = None,
    steps: bool = False,
    pairs: int | None = None,
    full: bool = False,
    chat: bool | str = False,
    add_generation_prompt: bool | None = None,
    tools: str | os.PathLike[str] | None = None,
    date: datetime.date | None = None,
    listener: Listener = SILENCE,
) -> TextReport | StepsReport | ChatReport | TokenizerReport | InspectedData:
    """Return a report on how a tokenizer encodes texts, token by token; without texts, on the tokenizer itself.

    Args:
        tokenizer: A tokenizer, or anything that ``load`` accepts. With ``data``, None means the one named in the
            sidecar.
        texts: A text, several texts, or files: one ``pathlib.Path`` or several.
        data: Encoded data instead of texts: a file that ``encode_files`` wrote, or the folder of a data set. The report
            gives the lengths of the documents and what ends them, and shows some of them.
        rows: The first and last document to show, counting from 1; None for the first three.
        specials: The special tokens to recognize in the texts; none by default.
        documents: What counts as a document: the ``whole`` file, each of its ``lines``, or a field of each line of
            ``jsonl``.
        field: The JSON field or table column that holds the text; None for ``text``, or ``messages`` of conversations.
        member: The extension of the tar members to read as documents. None means ``txt``, and skips archives found in
            folders.
        steps: Whether to return the steps that turned the texts into tokens: merge by merge, match by match, or the
            lattice.
        pairs: With ``steps``, the maximum number of mergeable pairs to list at each step. None lists 10 if the model
            merges.
        full: With ``steps``, whether to return all steps, however many there are.
        chat: Whether each document is a conversation, as for ``encode_files``: one text of JSON, or files. The report
            then goes message by message.
        add_generation_prompt: Whether to open the model's turn at the end of a conversation; None opens it unless the
            model spoke last.
        tools: A file with a JSON array of tools, for conversations that have none of their own.
        date: The date for templates that include one; today if None.
        listener: Receives progress and notes.

    >>> from bpe_cli import inspect
    >>> report = inspect("gpt2", "hello world")
    >>> [found.segmentation.token_count for _, found in report.value], "bpe.inspect.text/1" in report.to_json()
    ([2], True)
    >>> [[merge.product for merge in steps.rows[0].walk.steps] for _, steps in inspect("gpt2", "low", steps=True).value]
    [[b'ow', b'low']]
    >>> talk = inspect("gpt-3.5-turbo", '[{"role": "user", "content": "hello"}]', chat=True)
    >>> [(part.kind, part.token_count, part.said_count) for part in talk.value[0][2].parts]
    [('messages', 6, 1), ('prompt', 3, 0)]

    Raises:
        BpeError: if the tokenizer does not exist, a file cannot be read, or a text cannot be encoded.
        TypeError: if an argument has the wrong type.
    """
    from bpe_cli.jobs.inspect import ExplainedTexts, InspectedTexts, InspectOptions
    from bpe_cli.jobs.inspect import inspect as inspect_job
    from bpe_cli.results import StepsReport, TextReport, TokenizerReport

    specials = specials_of(specials)  # once: it may be an iterator
    conversations = _conversations(chat, add_generation_prompt, tools, date)
    for name, value in {"steps": steps, "full": full}.items():
        flag(name, value)
    if not steps and (pairs is not None or full):
        raise UsageError(f"{'full' if pairs is None else 'pairs'} needs steps=True")
    if steps and conversations is not None:
        raise UsageError("steps and chat cannot be used together")
    if (steps or conversations is not None) and texts is None:
        raise UsageError(f"{'steps' if steps else 'chat'} needs texts")
    if data is not None:
        if texts is None:
            _about_texts(None, documents, field, member, specials)
        return _inspected_data(tokenizer, texts, _path("data", data) or "", rows, listener)
    if rows is not None:
        raise UsageError("rows needs data")
    if tokenizer is None:
        raise UsageError("tokenizer is None, which works only with data")
    _about_texts(texts, documents, field, member, specials)
    source = None if texts is None else _source(texts, documents, field, member)
    if conversations is not None and texts is not None and source is not None:
        return _inspected_chat(tokenizer, texts, source, conversations, specials, listener)
    options = InspectOptions(
        specials=specials, steps=steps, full=full, usual_pairs=10,
        pairs=None if pairs is None else whole_number("pairs", pairs),
    )  # fmt: skip
    done = inspect_job(tokenizer, source, options, listener=heard(listener))
    if isinstance(done, ExplainedTexts):
        return StepsReport(tuple(done.documents), done.tokenizer.name)
    if isinstance(done, InspectedTexts):
        return TextReport(tuple(done.documents))
    return TokenizerReport(cast("HealthReport", done))  # what there is without texts, and without names of tokens


def _inspected_chat(
    tokenizer: AnyTokenizer, texts: Texts, source: Source, chat: ChatOptions, specials: Specials, listener: Listener
) -> ChatReport:
    from bpe_cli.jobs.inspect_chat import inspect_chat
    from bpe_cli.results import ChatReport

    if source.text is not None and not isinstance(texts, (str, bytes, bytearray, memoryview)):
        raise UsageError(
            "chat reads one text in JSON, or files, not several texts",
            hint='documents="jsonl" takes a conversation from each line of a text',
        )
    done = inspect_chat(source, tokenizer, chat, specials, listener=heard(listener))
    return ChatReport(tuple(done.documents), done.tokenizer.name)


def _inspected_data(
    tokenizer: AnyTokenizer | None, texts: Texts | None, data: str, rows: tuple[int, int] | None, listener: Listener
) -> InspectedData:
    from bpe_cli.datasets.inspect import DataOptions, inspect_data

    if texts is not None:
        raise UsageError("texts and data cannot be used together")
    options = DataOptions(None if rows is None else pair_of("rows", rows), None)
    return inspect_data(data, tokenizer, options, listener=heard(listener))


@overload
def compare(
    tokenizers: Iterable[AnyTokenizer],
    texts: Texts,
    *,
    ids: Literal[False] = False,
    library: None = None,
    specials: Specials = (),
    documents: Documents = "whole",
    field: str | None = None,
    member: str | None = None,
    tallies_dir: str | os.PathLike[str] | None = None,
    part_bytes: int | None = None,
    share: None = None,
    overwrite: bool = False,
    engine: str = "local",
    processes: int | None = None,
    threads: int | None = None,
    listener: Listener = SILENCE,
) -> ComparisonReport: ...
@overload
def compare(
    tokenizers: Iterable[AnyTokenizer],
    texts: Texts,
    *,
    ids: Literal[False] = False,
    library: None = None,
    specials: Specials = (),
    documents: Documents = "whole",
    field: str | None = None,
    member: str | None = None,
    tallies_dir: str | os.PathLike[str],
    part_bytes: int | None = None,
    share: tuple[int, int],
    overwrite: bool = False,
    engine: str = "local",
    processes: int | None = None,
    threads: int | None = None,
    listener: Listener = SILENCE,
) -> None: ...
@overload
def compare(
    tokenizers: Iterable[AnyTokenizer],
    texts: Texts | None = None,
    *,
    ids: Literal[True],
    library: str | None = None,
    specials: Specials = (),
    documents: Documents = "whole",
    field: str | None = None,
    member: str | None = None,
    threads: int | None = None,
    listener: Listener = SILENCE,
) -> IdsComparison: ...
def compare(
    tokenizers: Iterable[AnyTokenizer],
    texts: Texts | None = None,
    *,
    ids: bool = False,
    library: str | None = None,
    specials: Specials = (),
    documents: Documents = "whole",
    field: str | None = None,
    member: str | None = None,
    tallies_dir: str | os.PathLike[str] | None = None,
    part_bytes: int | None = None,
    share: tuple[int, int] | None = None,
    overwrite: bool = False,
    engine: str = "local",
    processes: int | None = None,
    threads: int | None = None,
    listener: Listener = SILENCE,
) -> ComparisonReport | IdsComparison | None:
    """Compare tokenizers on texts, with the first as the baseline; or verify that two give the same ids.

    Args:
        tokenizers: Tokenizers, or anything that ``load`` accepts.
        texts: A text, several texts, or files: one ``pathlib.Path`` or several. With ``ids``, None is allowed.
        ids: Whether to verify that two tokenizers, or one and a library, give the same ids: on the given texts, on
            tricky texts, and over the whole vocabulary.
        library: With ``ids``, an installed library to read the last tokenizer with: ``transformers``,
            ``sentencepiece``, ``tiktoken`` or ``llama.cpp``.
        specials: The special tokens to recognize in the texts; none by default.
        documents: What counts as a document: the ``whole`` file, each of its ``lines``, or a field of each line of
            ``jsonl``.
        field: The JSON field or table column that holds the text; None for ``text``, or ``messages`` of conversations.
        member: The extension of the tar members to read as documents. None means ``txt``, and skips archives found in
            folders.
        tallies_dir: A folder that keeps the tallies of the files, part by part. Tallies that are already there are
            reused; the report is the same.
        part_bytes: Bytes of input per part; a file is never split.
        share: (K, N) tallies only every N-th part, starting with the K-th, so that N machines can share the work. Such
            a call compares nothing and returns None; a final call without it compares.
        overwrite: Whether to redo the parts that are damaged, whose files have changed, or that were tallied with other
            settings.
        engine: What runs the parts, as for ``prepare``: ``local``, ``ray`` or ``ray://HOST:PORT``. Never changes the
            result.
        processes: Number of parts to tally at a time, each in its own process. None means one process with ``threads``,
            or as many as the cluster has room for. More than one on this machine needs ``if __name__ == "__main__"``,
            as for ``prepare``.
        threads: Number of threads; None uses all processors. Never changes the result.
        listener: Receives progress and notes.

    Returns:
        The report; None if only a share of the parts was tallied.

    >>> from bpe_cli import compare
    >>> compare(["gpt2", "gpt-4o"], ids=True).value.same
    False
    >>> found = compare(["gpt2", "gpt-4o"], "hello world, naïve")
    >>> [measure.token_count for measure in found.value.total.measures]
    [4, 5]

    Raises:
        BpeError: if the tokenizer does not exist, a file cannot be read, or a text cannot be encoded.
        TypeError: if an argument has the wrong type.
    """
    from bpe_cli.jobs.compare import CompareJob, CompareOptions, tally
    from bpe_cli.jobs.compare import compare as compare_job
    from bpe_cli.results import ComparisonReport

    named = list_of("tokenizers", tokenizers, "tokenizers")
    by_part = {
        "part_bytes": part_bytes, "share": share, "overwrite": flag("overwrite", overwrite) or None,
        "engine": None if engine == "local" else engine, "processes": processes,
    }  # fmt: skip
    if flag("ids", ids):
        for name, value in {"tallies_dir": tallies_dir, **by_part}.items():
            if value is not None:
                raise UsageError(f"`{name}` and `ids=True` are different comparisons", hint="ask for one at a time")
        _about_texts(texts, documents, field, member)
        from bpe_cli.jobs.compare_ids import IdsOptions, compare_ids_of
        from bpe_cli.results import IdsComparison

        source = None if texts is None else _source(texts, documents, field, member)
        how = IdsOptions(specials_of(specials), _name("library", library), _threads(threads))
        return IdsComparison(compare_ids_of(named, source, how, listener=heard(listener)))
    if library is not None or texts is None:
        raise UsageError("library needs ids=True" if library else "texts are missing", hint="compare(..., ids=True)")
    by_parts = None
    if tallies_dir is None:
        for name, value in by_part.items():
            if value is not None:
                raise UsageError(f"`{name}` needs `tallies_dir`")
    else:
        from bpe_cli.engines import engine_named
        from bpe_cli.jobs.parts import PART_BYTES, Share
        from bpe_cli.jobs.parts.doing import PartsFolder
        from bpe_cli.jobs.tally_parts import ByParts

        place = PartsFolder(
            _path("tallies_dir", tallies_dir) or "",
            None if share is None else Share(*pair_of("share", share)),
            PART_BYTES if part_bytes is None else whole_number("part_bytes", part_bytes, 1),
            overwrite,
        )
        count = None if processes is None else whole_number("processes", processes, 1)
        by_parts = ByParts(place, engine_named(_name("engine", engine) or "", count or threads))
    models = [load_tokenizer(each, "tokenizers") for each in named]
    if not models:
        raise UsageError("tokenizers is empty")
    options = CompareOptions(specials=specials_of(specials), threads=_threads(threads))
    source = _source(texts, documents, field, member)
    if share is not None:
        tally(CompareJob(tuple(named), source, options, by_parts=by_parts), listener=heard(listener))
        return None
    found = compare_job(models, source, options, listener=heard(listener), by_parts=by_parts, chosen=named)
    return ComparisonReport(found)


# -- changes ----------------------------------------------------------------------------------------------


def add_tokens(tokenizer: AnyTokenizer, tokens: Iterable[str | bytes | SpecialToken]) -> Operation:
    """Add tokens that are always recognized in text, with ids after all existing ones.

    Args:
        tokenizer: A tokenizer, or anything that ``load`` accepts.
        tokens: The tokens. A str is added as by Hugging Face's ``add_tokens``: it is always recognized, in normalized
            text. A ``SpecialToken`` sets all properties of a token; its id is ignored.

    Returns:
        The new ``tokenizer``, and what you need to move embeddings: ``old_to_new``, the new id of each old id, and
        ``made_of``, the old ids that make up each new one. ``id_map()`` returns both as JSON.

    >>> from bpe_cli import add_tokens
    >>> done = add_tokens("gpt2", ["<|chat|>"])
    >>> done.tokenizer.encode("hello<|chat|>"), done.made_of
    ([31373, 50257], {50257: (27, 91, 17006, 91, 29)})

    Raises:
        BpeError: if the tokenizer does not exist, or a token is empty.
        TypeError: if an argument has the wrong type, or an attribute of a token.
    """
    from bpe_cli import surgery
    from bpe_cli.stages import SpecialToken
    from bpe_cli.support.fast_dataclass import replace
    from bpe_cli.tokenizer.special_tokens import check_attributes

    added = []
    for each in list_of("tokens", tokens, "tokens"):
        if isinstance(each, SpecialToken):
            check_attributes(replace(each, token_id=0))  # its own id is of no meaning
            added.append(each)
        else:
            added.append(SpecialToken(bytes_of(each, "tokens"), 0, special=False, normalized=True))
    return surgery.add_tokens(load_tokenizer(tokenizer), added)


def prune(
    tokenizer: AnyTokenizer,
    texts: Texts,
    size: int,
    *,
    documents: Documents = "whole",
    field: str | None = None,
    threads: int | None = None,
    listener: Listener = SILENCE,
) -> Operation:
    """Prune a tokenizer to the tokens that texts use most, and the tokens that those are made of.

    Args:
        tokenizer: A tokenizer, or anything that ``load`` accepts.
        texts: A text, several texts, or files: one ``pathlib.Path`` or several.
        size: The number of tokens to keep.
        documents: What counts as a document: the ``whole`` file, each of its ``lines``, or a field of each line of
            ``jsonl``.
        field: The JSON field or table column that holds the text; None for ``text``, or ``messages`` of conversations.
        threads: Number of threads; None uses all processors. Never changes the result.
        listener: Receives progress and notes.

    Returns:
        The new ``tokenizer`` and the map from old to new ids, as from ``add_tokens``.

    >>> from bpe_cli import prune
    >>> done = prune("gpt2", ["hello world"] * 3, 1000)
    >>> len(done.tokenizer), done.tokenizer.decode(done.tokenizer.encode("hello world")), done.old_to_new[50000]
    (1000, 'hello world', None)

    Raises:
        BpeError: if the tokenizer does not exist, a file cannot be read, or it is not possible to keep so few tokens.
        TypeError: if an argument has the wrong type.
    """
    from bpe_cli.jobs.changes import Change

    corpus = _source(texts, documents, field)
    return _changed(tokenizer, Change(prune_to=_size(size), counts_from=corpus, threads=_threads(threads)), listener)


def extend(
    tokenizer: AnyTokenizer,
    texts: Texts,
    size: int | None = None,
    *,
    add: int | None = None,
    replace: int | None = None,
    prune_to: int | None = None,
    counts_from: Texts | None = None,
    documents: Documents = "whole",
    field: str | None = None,
    threads: int | None = None,
    listener: Listener = SILENCE,
) -> Operation:
    """Continue BPE training on texts, up to a given number of ids.

    Args:
        tokenizer: A tokenizer, or anything that ``load`` accepts.
        texts: As for ``prune``; the same goes for the last parameters below.
        size: The final number of ids, including the tokenizer's own.
        add: Instead of ``size``, the number of tokens to add.
        replace: Instead of ``size``, the number of tokens to replace with new ones, which take over their ids: the
            tokens that ``counts_from`` uses least, and that no other token is made of. The size and all other ids stay
            the same.
        prune_to: The number of tokens to keep before training continues; ``add`` counts from there.
        counts_from: With ``replace`` or ``prune_to``, the texts that show which tokens are used. ``texts`` are not
            counted for this.
        documents: What counts as a document: ``whole``, ``lines`` or ``jsonl``.
        field: The JSON field or table column that holds the text; None for ``text``, or ``messages`` of conversations.
        threads: Number of threads; None uses all processors. Never changes the result.
        listener: Receives progress and notes.

    Returns:
        The new ``tokenizer``, and the old tokens that make up each new one, as from ``add_tokens``.

    >>> from bpe_cli import extend
    >>> done = extend("gpt2", ["bpe bpe"], 50258)
    >>> [done.tokenizer.id_to_token(token_id) for token_id in done.made_of]
    ['bpe']
    >>> done = extend("gpt2", ["bpe bpe"], add=1, prune_to=1000, counts_from=["hello world"])
    >>> len(done.tokenizer), done.old_to_new[50000], done.made_of[1000]
    (1001, None, (65, 431))
    >>> done = extend("gpt2", ["bpe bpe"], replace=1, counts_from=["hello world"])
    >>> [new_id] = done.made_of
    >>> len(done.tokenizer), done.tokenizer.id_to_token(new_id), done.old_to_new[new_id]
    (50257, 'bpe', None)

    Raises:
        BpeError: if the tokenizer does not exist, a file cannot be read, or the tokenizer has no merges.
        TypeError: if an argument has the wrong type.
    """
    from bpe_cli.jobs.changes import Change

    if [size, add, replace].count(None) != 2:
        raise UsageError("extend needs one of size, add and replace")
    if replace is not None and prune_to is not None:
        raise UsageError("replace and prune_to are two changes")
    if (replace is None and prune_to is None) != (counts_from is None):
        raise UsageError("counts_from belongs to replace or prune_to")
    change = Change(
        prune_to=None if prune_to is None else _size(prune_to, "prune_to"),
        extend_to=None if size is None else _size(size),
        extend_by=None if add is None else _size(add, "add"),
        replace=None if replace is None else _size(replace, "replace"),
        counts_from=None if counts_from is None else _source(counts_from, documents, field),
        learn_from=_source(texts, documents, field),
        threads=_threads(threads),
    )
    return _changed(tokenizer, change, listener)


def merge(tokenizer: AnyTokenizer, other: AnyTokenizer) -> Operation:
    """Add the tokens that a tokenizer lacks from another one, with ids after all of its own.

    Args:
        tokenizer: A tokenizer, or anything that ``load`` accepts. Everything but the new tokens stays as it is in this
            one.
        other: Another BPE tokenizer.

    Returns:
        The new ``tokenizer`` and id map, as from ``add_tokens``; ``other_to_new`` maps the other tokenizer's ids.

    >>> from bpe_cli import merge, train
    >>> done = merge("gpt2", train(["qxqx qxqx"], vocab_size=258))
    >>> [done.tokenizer.id_to_token(token_id) for token_id in done.made_of], done.other_to_new[257]
    (['qx', 'qxqx'], 50258)

    Raises:
        BpeError: if a tokenizer does not exist, or the two do not merge the same kind of symbols.
        TypeError: if an argument has the wrong type.
    """
    from bpe_cli import surgery

    return surgery.merge(load_tokenizer(tokenizer), load_tokenizer(other, "other"))


def _changed(tokenizer: AnyTokenizer, change: Change, listener: Listener) -> Operation:
    from bpe_cli.jobs.files import Streams

    return change.apply(load_tokenizer(tokenizer), (), heard(listener), Streams())


# -- what callers give ------------------------------------------------------------------------------------

_OTHERWISE = "`texts` takes a text itself"


def _threads(threads: int | None, name: str = "threads") -> int:
    return usable_threads(None if threads is None else whole_number(name, threads, 1))


def _size(size: int, name: str = "size") -> int:
    return whole_number(name, size, 1, (1 << 32) - 1)


def _name(name: str, value: str | None) -> str | None:
    if value is not None and not isinstance(value, str):
        raise wrong_type(name, "a str", value)
    return value


def _path(name: str, path: str | os.PathLike[str] | None) -> str | None:
    if path is None:
        return None
    if not isinstance(path, (str, os.PathLike)):
        raise wrong_type(name, "a str or a path", path)
    bytes_of(os.fsdecode(path), name)
    return os.fsdecode(path)


def _output(output: Destination) -> Destination:
    is_stream = callable(getattr(output, "write", None)) and not isinstance(output, TextIOBase)
    if not isinstance(output, (str, os.PathLike)) and not is_stream:
        raise wrong_type("output", "a str, a path or a binary stream", output)
    return output


def _paths(files: Files) -> tuple[str, ...]:
    """Return the names of files; there is at least one, as none would mean stdin."""
    if isinstance(files, IOBase):  # whose lines are no names
        raise wrong_type("files", "a str, a path, or several", files)
    several = [files] if isinstance(files, (str, os.PathLike)) else list_of("files", files, "paths")
    if not several:
        raise UsageError("files is empty")
    for each in several:
        if not isinstance(each, (str, os.PathLike)):
            raise wrong_type("files", "a str, a path, or several", each)
    return tuple(os.fsdecode(each) for each in several)


def _documents(documents: Documents, field: str | None, **where: Any) -> Source:
    """Return a source of texts, divided into documents as asked."""
    from bpe_cli.corpus import Source

    one_of("documents", documents, ("whole", "lines", "jsonl"))
    if field is not None and not isinstance(field, str):
        raise wrong_type("field", "a str", field)
    _name("member", where.get("member"))
    return Source(**where, documents=documents, field=field)


def _about_texts(
    texts: Texts | None, documents: Documents, field: str | None, member: str | None, specials: Specials = ()
) -> None:
    """Check that nothing is said about texts if there are none."""
    _documents(documents, field, member=member)
    said = {"specials": specials, "documents": documents != "whole", "field": field is not None, "member": member}
    idle = next((name for name, value in said.items() if value), None)
    if texts is None and idle is not None:
        raise UsageError(f"`{idle}` needs a text, and none is given", hint=_OTHERWISE)


def _source(texts: Texts, documents: Documents, field: str | None, member: str | None = None) -> Source:
    """Return where texts come from: themselves, or files."""
    if isinstance(texts, (str, bytes, bytearray, memoryview)):
        text = bytes_of(texts, "texts").decode("utf-8", "surrogateescape")
        return _documents(documents, field, member=member, text=text)
    if isinstance(texts, os.PathLike):
        return _documents(documents, field, member=member, paths=(os.fsdecode(texts),), otherwise=_OTHERWISE)
    if not isinstance(texts, Iterable):
        raise wrong_type("texts", "a text, several, or paths", texts)
    several = list(texts)
    if several and all(isinstance(each, os.PathLike) for each in several):
        paths = tuple(os.fsdecode(each) for each in several)
        return _documents(documents, field, member=member, paths=paths, otherwise=_OTHERWISE)
    from bpe_cli.support.safe_orjson import orjson

    _documents(documents, field, member=member)  # their types are checked first
    for name, value in (("documents", documents != "whole"), ("field", field), ("member", member)):
        if value:
            raise UsageError(
                f"`{name}` is for files or a single text: each of several texts is a document",
                hint="give one text, or files as paths",
            )
    decoded: list[str] = []
    for place, each in enumerate(several):
        try:
            decoded.append(bytes_of(each, f"texts[{place}]").decode())
        except UnicodeDecodeError as error:
            raise InputError(
                f"texts[{place}] is not UTF-8: {error.reason} at byte {error.start:,}",
                hint="a text given alone, and files, can have any bytes",
            ) from error
    lines = b"\n".join(orjson.dumps({"text": text}) for text in decoded)
    return _documents("jsonl", "text", text=lines.decode())
