"""The public functions: each runs one command of ``bpe`` as a single call.

``load``, ``train``, ``convert`` and ``dump`` are jobs by themselves; these turn what programs have, texts, paths and
tokenizers, into what jobs take.

Length: ten calls, whose docstrings are a part of docs/reference/api.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.tokenizers import load_tokenizer
from bpe_cli.support.core_arguments import bytes_of, list_of, one_of, pair_of, specials_of, whole_number, wrong_type
from bpe_cli.support.listening import SILENCE, Listener, heard
from bpe_cli.support.ordered_threads import usable_threads
from bpe_cli.tokenizer.engine import sampling_of

if TYPE_CHECKING:
    import datetime

    from bpe_cli.corpus import Source
    from bpe_cli.corpus.source import Documents
    from bpe_cli.datasets.inspect import InspectedData
    from bpe_cli.jobs.chunk import ChunkOptions, Keep, TruncateOptions
    from bpe_cli.jobs.convert import Change
    from bpe_cli.jobs.decode import Decoded
    from bpe_cli.jobs.documents import Encoded, EncodeOptions
    from bpe_cli.jobs.encode_chat import ChatOptions
    from bpe_cli.jobs.files import Destination
    from bpe_cli.jobs.prepare import Prepared
    from bpe_cli.jobs.prepare.broken import OnError
    from bpe_cli.jobs.prepare.sequences import Way
    from bpe_cli.reports.tokenizer.health import HealthReport
    from bpe_cli.results import ComparisonReport, IdsComparison, TextReport, TokenizerReport
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
    field: str = "text",
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
        tokenizer: A tokenizer, or what ``load`` takes.
        files: A file, a folder, a pattern with ``*``, or several; compressed ones and tables too.
        output: The file to write, which appears when all of it is there; or a binary stream.
        to: ``ids``, ``tokens``, ``jsonl``, ``npy``, ``bin``, ``count`` or ``chunks``; ``text`` of conversations, or of
            what ``truncate`` keeps; by the name of the output if None, else ids.
        documents: What a document of a file is: ``whole``, the file; ``lines``, each line; ``jsonl``, a field of it.
        field: The field of a JSON line, or the column of a table.
        member: How the members of tar archives end that are documents; None for ``txt``, and to leave archives of a
            folder out.
        specials: Which special tokens are looked for in the texts.
        add_special_tokens: Whether to put around each document what the tokenizer's post-processor puts there.
        bos: What begins each document, as for ``Tokenizer.encode``.
        eot: What ends each document, likewise.
        max_tokens: How many tokens a document may have: one that has more is an error when all is written.
        counts: How ``count`` is written: ``numbers``, a line each; ``named``, with the names of the documents and a
            total, if there are several files; ``json``, one object with all of that.
        size: Of ``chunks``, the most tokens; they are JSON lines of what ``Tokenizer.chunks`` gives.
        overlap: How many tokens of a chunk the next one repeats.
        break_at: Where a chunk ends if it can: after a ``token``, a ``line``, a ``sentence`` or a ``paragraph``.
        truncate: Of ``text``, how many tokens of each document are kept, as ``Tokenizer.truncate`` does it.
        keep: Which: its ``head``, its ``tail`` or its ``middle``.
        tokens: Whether jsonl has the tokens too.
        spans: Whether jsonl has the byte span of each token too.
        sampling: How encodings are varied at random; None for not at all.
        chat: Whether each document is a conversation: a JSON array of messages, or an object that holds one. A str says
            by which template they become text: one of the tokenizer's, a Jinja file, or a built-in layout such as
            ``chatml``; with ``openai`` it is counted what OpenAI bills.
        add_generation_prompt: Whether the model's turn is opened at the end of a conversation; None: unless the model
            spoke last.
        tools: A file with a JSON array of tools, for conversations without any.
        date: The date that templates write; None for today.
        threads: How many to use, all processors if None; changes no result.
        listener: Who hears how it goes on: anything with the methods ``task`` and ``note``.

    Returns:
        How many ``documents`` there were, how many ``tokens`` they have, and the ``files`` that were written.

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
        BpeError: if there is no such tokenizer or option, a file cannot be read or written, or cannot be encoded.
        TypeError: if an argument is of a wrong type.
    """
    from bpe_cli.jobs.documents import EncodeOptions
    from bpe_cli.jobs.encode import encode

    one_of("counts", counts, ("numbers", "named", "json"))
    options = EncodeOptions(
        to=_name("to", to), tokens=tokens, spans=spans, specials=specials_of(specials),
        add_special_tokens=add_special_tokens, bos=bos, eot=eot,
        max_tokens=None if max_tokens is None else whole_number("max_tokens", max_tokens),
        counts=counts, sampling=sampling_of(sampling), threads=_threads(threads),
    )  # fmt: skip
    conversations = _conversations(chat, add_generation_prompt, tools, date)
    parts = _parts(to, size, overlap, break_at, truncate, keep, options)
    if parts is not None and conversations is not None:
        raise UsageError("parts are those of texts, and `chat` reads conversations")
    source = _documents(documents, field, member=member, paths=_paths(files))
    if parts is not None:
        return encode(source, tokenizer, parts=parts, output=_output(output), listener=heard(listener))
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
        raise UsageError('`truncate` is about `to="text"`')
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
                "add_generation_prompt, tools and date are about conversations", hint="chat=True reads them"
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
    field: str = "text",
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
    """Write the text of files with blanks between its tokens, a line per document: ``bpe encode --to segmented``.

    Args:
        tokenizer: A tokenizer, or what ``load`` takes. BPE with ends of words segments as subword-nmt's ``apply-bpe``;
            of any other the tokens stand as the text has them.
        files: A file, a folder, a pattern with ``*``, or several.
        output: The file to write, which appears when all of it is there; or a binary stream.
        documents: What a document of a file is: ``lines``, each line; ``whole``, the file; ``jsonl``, a field of it.
        field: The field of a JSON line, or the column of a table.
        member: How the members of tar archives end that are documents; None for ``txt``, and to leave archives of a
            folder out.
        separator: What stands after a subword that does not end its word.
        glossaries: Expressions; what they match is left whole.
        vocabulary: A file of subwords and counts: all others are taken apart again.
        threshold: The lowest count of it that counts.
        write_vocabulary: The file to write the subwords and their counts to.
        sampling: How the segmentation is varied at random; None for not at all.
        threads: How many to use, all processors if None; changes no result.
        listener: Who hears how it goes on.

    Returns:
        How many lines were written (``documents``), and how many ``subwords`` have a count in the vocabulary.

    >>> import io, os, tempfile
    >>> from bpe_cli import train
    >>> words = train(["low lower lowest"] * 2, algorithm="bpe", vocab_size=18)
    >>> lines = io.BytesIO()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = os.path.join(folder, "text.txt")
    ...     with open(text, "w") as file:
    ...         _ = file.write("lower slow")
    ...     segment_files(words, text, lines).documents, lines.getvalue()
    (1, b'lowe@@ r s@@ lo@@ w\\n')

    Raises:
        BpeError: if there is no such tokenizer, it has no words that the options are about, or a file cannot be read or
            written.
        TypeError: if an argument is of a wrong type.
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
    source = _documents(documents, field, member=member, paths=_paths(files))
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
        tokenizer: A tokenizer, or what ``load`` takes.
        files: A file, a folder, a pattern with ``*``, or several.
        output: The file to write, which appears when all of it is there; or a binary stream.
        format: ``ids``, ``tokens``, ``jsonl``, ``npy`` or ``bin``; by a file's name and beginning if None.
        errors: What becomes of bytes that are not UTF-8; they are written as they are if None.
        lines: Whether each document is ended by a line end.
        bos: What begins each document, and is left out; what the record beside a file says if None.
        eot: What ends each document, likewise.
        dtype: How a number lies in a bin file, ``u16`` or ``u32``; what its record says if None.
        listener: Who hears how it goes on: anything with the methods ``task`` and ``note``.

    Returns:
        How many ``documents`` there were, and how many ``tokens`` they had.

    >>> import io, os, tempfile
    >>> text = io.BytesIO()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ids = os.path.join(folder, "ids.txt")
    ...     with open(ids, "w") as file:
    ...         _ = file.write("31373 995")
    ...     decode_files("gpt2", ids, text), text.getvalue()
    (Decoded(documents=1, tokens=2), b'hello world')

    Raises:
        BpeError: if there is no such tokenizer or option, a file cannot be read or written, or an id has no token.
        TypeError: if an argument is of a wrong type.
    """
    from bpe_cli.jobs.decode import DecodeOptions, decode

    if errors is not None:
        one_of("errors", errors, ("strict", "replace", "ignore"))
    if dtype is not None:
        one_of("dtype", dtype, ("u16", "u32"))
    options = DecodeOptions(_name("format", format), errors, lines, bos, eot, dtype)
    return decode(_paths(files), tokenizer, options, output=_output(output), listener=heard(listener))


def prepare(
    tokenizer: AnyTokenizer,
    files: Files,
    folder: str | os.PathLike[str],
    *,
    to: str = "bin",
    documents: Documents = "whole",
    field: str = "text",
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
    """Encode files into the folder of a data set, part by part, as ``bpe prepare`` does: never a part twice.

    Args:
        tokenizer: A tokenizer, or what ``load`` takes.
        files: A file, a folder, a pattern with ``*``, or several.
        folder: Where; it is made if there is none.
        to: The format, by its name: ``bin``, ``npy``, ``megatron`` and the others of the page about data sets.
        documents: What a document of a file is: ``whole``, the file; ``lines``, each line; ``jsonl``, a field of it.
        field: The field of a JSON line, or the column of a table.
        member: How the members of tar archives end that are documents; None for ``txt``, and to leave archives of a
            folder out.
        specials: Which special tokens are looked for in the texts.
        bos: What begins each document, as for ``Tokenizer.encode``.
        eot: What ends each document, likewise.
        dtype: How an id is stored, ``u16`` or ``u32``; None for the smallest type that holds every id.
        columns: What a row has beside its ids: ``attention_mask``, ``position_ids``, ``segment_ids``, ``seq_lengths``;
            in formats of numbers, ``spans``.
        positions: What ``position_ids`` counts the ids of: each ``document`` of a sequence, or the ``sequence``.
        length: How many ids a sequence has at most; None for documents as they are.
        way: How documents become sequences: ``truncate`` or ``split`` each, ``concatenate`` all and cut, or put whole
            ones together by ``best-fit``.
        pad: What fills sequences up: the text of a special token, an id, or ``auto``; None for nothing.
        shuffle: What is put into a random order: ``documents``, or the ``sequences`` made of them; None for nothing.
        seed: Which order.
        val: Which share of the documents goes to ``val/``, by the hash of their text; None for no such set.
        chat: Whether each document is a conversation, as for ``encode_files``.
        mask: ``assistant`` to write beside the ids which of them the assistant wrote.
        add_generation_prompt: As for ``encode_files``.
        tools: As for ``encode_files``.
        date: The date that templates write; those that write one need it.
        part_bytes: How many bytes of input a part has.
        keep: Fields of the source that a row of a table has too: ``id``, or with a type ``id:int64``.
        on_error: What becomes of a broken row, as a line that is not JSON: ``fail``, ``skip``, which leaves it out, or
            ``quarantine``, which keeps it in a file besides.
        share: (K, N) to make each N-th part only, beginning with the K-th, where N machines share them; None for all.
        overwrite: Whether what is damaged, or was made otherwise, is made again.
        engine: Who makes the parts: ``local``, processes of this machine; ``ray``, the Ray cluster that the program is
            connected to, or that ``RAY_ADDRESS`` names; ``ray://HOST:PORT``, another one. Changes no result.
        processes: How many parts are made at a time, as many as there are processors if None; changes no result. With
            more than one process of this machine, a program needs the usual ``if __name__ == "__main__"``.
        listener: Who hears how it goes on: anything with the methods ``task`` and ``note``; and of the plan, of each
            part that is done, and of the end, if it has ``event(what, facts)``.

    Returns:
        What stands in the folder: how many ``parts``, ``documents`` and ``tokens``, and whether it ``is_whole``.

    >>> import os, tempfile
    >>> from bpe_cli import TokenDataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text, out = os.path.join(folder, "text.txt"), os.path.join(folder, "out")
    ...     with open(text, "w") as file:
    ...         _ = file.write("hello world")
    ...     done = prepare("gpt2", text, out, eot="auto")
    ...     done.documents, done.tokens, [row.tolist() for row in TokenDataset(out)]
    (1, 3, [[31373, 995, 50256]])

    Raises:
        BpeError: if there is no such tokenizer or option, a file cannot be read or written, or cannot be encoded, or
            the folder holds what was made otherwise.
        TypeError: if an argument is of a wrong type.
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
        val=None if val is None else _share(val), shuffle=shuffle, seed=whole_number("seed", seed),
        on_error=on_error, keep=tuple(_name("keep", each) or "" for each in kept),
    )  # fmt: skip
    count = None if processes is None else whole_number("processes", processes, 1)
    return prepare_job(
        _documents(documents, field, member=member, paths=_paths(files)), tokenizer, options,
        folder=_path("folder", folder) or "",
        share=None if share is None else Share(*pair_of("share", share)),
        overwrite=bool(overwrite),
        engine=engine_named(_name("engine", engine) or "", count), listener=heard(listener),
    )  # fmt: skip


def _share(val: float) -> float:
    if isinstance(val, bool) or not isinstance(val, (int, float)):
        raise wrong_type("val", "a number", val)
    return float(val)


# -- looks ------------------------------------------------------------------------------------------------


def inspect(
    tokenizer: AnyTokenizer | None,
    texts: Texts | None = None,
    *,
    data: str | os.PathLike[str] | None = None,
    rows: tuple[int, int] | None = None,
    specials: Specials = (),
    documents: Documents = "whole",
    field: str = "text",
    member: str | None = None,
    listener: Listener = SILENCE,
) -> TextReport | TokenizerReport | InspectedData:
    """Return what a tokenizer makes of texts, token by token; without texts, a report on the tokenizer itself.

    Args:
        tokenizer: A tokenizer, or what ``load`` takes; None with ``data`` for the one that is named beside the ids.
        texts: A text, several, or files: ``pathlib.Path``, one or several.
        data: In place of texts, ids that were written: a file of ``encode_files``, or the folder of a data set. The
            report says how long the documents are and what ends them, and shows some.
        rows: The first and the last document of it to show, counted from 1; None for the first three.
        specials: Which special tokens are looked for in them.
        documents: What a document of a file is: ``whole``, the file; ``lines``, each line; ``jsonl``, a field of it.
        field: The field of a JSON line, or the column of a table.
        member: How the members of tar archives end that are documents; None for ``txt``, and to leave archives of a
            folder out.
        listener: Who hears how it goes on.

    >>> report = inspect("gpt2", "hello world")
    >>> [found.segmentation.token_count for _, found in report.value], "bpe.inspect.text/1" in report.to_json()
    ([2], True)

    Raises:
        BpeError: if there is no such tokenizer, a file cannot be read, or a text cannot be encoded.
        TypeError: if an argument is of a wrong type.
    """
    from bpe_cli.jobs.inspect import InspectedTexts, InspectOptions
    from bpe_cli.jobs.inspect import inspect as inspect_job
    from bpe_cli.results import TextReport, TokenizerReport

    if data is not None:
        return _inspected_data(tokenizer, texts, _path("data", data) or "", rows, listener)
    if rows is not None:
        raise UsageError("rows are those of data, which is missing")
    if tokenizer is None:
        raise UsageError("tokenizer is None, which only data can do without")
    options = InspectOptions(specials=specials_of(specials))
    source = None if texts is None else _source(texts, documents, field, member)
    done = inspect_job(tokenizer, source, options, listener=heard(listener))
    if isinstance(done, InspectedTexts):
        return TextReport(tuple(done.documents))
    return TokenizerReport(cast("HealthReport", done))  # what there is without texts, and without names of tokens


def _inspected_data(
    tokenizer: AnyTokenizer | None, texts: Texts | None, data: str, rows: tuple[int, int] | None, listener: Listener
) -> InspectedData:
    from bpe_cli.datasets.inspect import DataOptions, inspect_data

    if texts is not None:
        raise UsageError("texts and data exclude each other")
    options = DataOptions(None if rows is None else pair_of("rows", rows), None)
    return inspect_data(data, tokenizer, options, listener=heard(listener))


@overload
def compare(
    tokenizers: Iterable[AnyTokenizer],
    texts: Texts,
    *,
    specials: Specials = (),
    documents: Documents = "whole",
    field: str = "text",
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
    specials: Specials = (),
    documents: Documents = "whole",
    field: str = "text",
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
    field: str = "text",
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
    field: str = "text",
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
    """Compare tokenizers with the first of them on texts; or verify that two of them give the same ids.

    Args:
        tokenizers: Tokenizers, or what ``load`` takes.
        texts: A text, several, or files: ``pathlib.Path``, one or several; with ``ids`` None is enough.
        ids: Whether to verify that ids are the same, of two tokenizers or of one and a library: on the texts, on tricky
            texts, and over the whole vocabulary.
        library: With ``ids``, what reads the last tokenizer: ``transformers``, ``sentencepiece``, ``tiktoken`` or
            ``llama.cpp``, if it is installed.
        specials: Which special tokens are looked for in the texts.
        documents: What a document of a file is: ``whole``, the file; ``lines``, each line; ``jsonl``, a field of it.
        field: The field of a JSON line, or the column of a table.
        member: How the members of tar archives end that are documents; None for ``txt``, and to leave archives of a
            folder out.
        tallies_dir: A folder for the tallies of files, part by part: those that are there already are not made again,
            and the report is the same.
        part_bytes: How many bytes of input a part has; a file is never cut.
        share: (K, N) to tally each N-th part only, beginning with the K-th, where N machines share them: then nothing
            is compared, and None is returned. A last call without it puts all tallies together.
        overwrite: Whether what is damaged, has changed, or was tallied otherwise, is tallied again.
        engine: Who tallies parts, as for ``prepare``: ``local``, ``ray`` or ``ray://HOST:PORT``. Changes no result.
        processes: How many parts are tallied at a time, each in a process; None for ``threads``, or for as many as a
            cluster has room for. More than one on this machine needs ``if __name__ == "__main__"``, as for ``prepare``.
        threads: How many to use, all processors if None; changes no result.
        listener: Who hears how it goes on.

    Returns:
        The report; None if only a share of the parts was tallied.

    >>> compare(["gpt2", "gpt-4o"], ids=True).value.same
    False
    >>> found = compare(["gpt2", "gpt-4o"], "hello world, naïve")
    >>> [measure.token_count for measure in found.value.total.measures]
    [4, 5]

    Raises:
        BpeError: if there is no such tokenizer, a file cannot be read, or a text cannot be encoded.
        TypeError: if an argument is of a wrong type.
    """
    from bpe_cli.jobs.compare import CompareJob, CompareOptions, tally
    from bpe_cli.jobs.compare import compare as compare_job
    from bpe_cli.results import ComparisonReport

    named = list_of("tokenizers", tokenizers, "tokenizers")
    if not isinstance(ids, bool):
        raise wrong_type("ids", "a bool", ids)
    if ids:
        from bpe_cli.jobs.compare_ids import IdsOptions, compare_ids_of
        from bpe_cli.results import IdsComparison

        source = None if texts is None else _source(texts, documents, field, member)
        how = IdsOptions(specials_of(specials), _name("library", library), _threads(threads))
        return IdsComparison(compare_ids_of(named, source, how, listener=heard(listener)))
    if library is not None or texts is None:
        raise UsageError("library is about ids=True" if library else "texts are missing", hint="compare(..., ids=True)")
    given = {
        "part_bytes": part_bytes, "share": share, "overwrite": overwrite or None,
        "engine": None if engine == "local" else engine, "processes": processes,
    }  # fmt: skip
    by_parts = None
    if tallies_dir is None:
        for name, value in given.items():
            if value is not None:
                raise UsageError(f"`{name}` is for `tallies_dir`, which is missing")
    else:
        from bpe_cli.engines import engine_named
        from bpe_cli.jobs.parts import PART_BYTES, Share
        from bpe_cli.jobs.parts.doing import PartsFolder
        from bpe_cli.jobs.tally_parts import ByParts

        place = PartsFolder(
            _path("tallies_dir", tallies_dir) or "",
            None if share is None else Share(*pair_of("share", share)),
            PART_BYTES if part_bytes is None else whole_number("part_bytes", part_bytes, 1),
            bool(overwrite),
        )
        count = None if processes is None else whole_number("processes", processes, 1)
        by_parts = ByParts(place, engine_named(_name("engine", engine) or "", count or threads))
    models = [load_tokenizer(each, "tokenizers") for each in named]
    if not models:
        raise UsageError("tokenizers is empty, and there is nothing to compare")
    options = CompareOptions(specials=specials_of(specials), threads=_threads(threads))
    source = _source(texts, documents, field, member)
    if share is not None:
        tally(CompareJob(tuple(named), source, options, by_parts=by_parts), listener=heard(listener))
        return None
    found = compare_job(models, source, options, listener=heard(listener), by_parts=by_parts, chosen=named)
    return ComparisonReport(found)


# -- changes ----------------------------------------------------------------------------------------------


def add_tokens(tokenizer: AnyTokenizer, tokens: Iterable[str | bytes | SpecialToken]) -> Operation:
    """Add tokens that are found in text as they stand, with ids after all others.

    Args:
        tokenizer: A tokenizer, or what ``load`` takes.
        tokens: The tokens; a ``SpecialToken`` says more of one than its text, and its id counts for nothing. A text is
            added as Hugging Face's ``add_tokens`` does it: it is always found, in normalized text.

    Returns:
        The new ``tokenizer``, with ``old_to_new`` and ``made_of``, by which embeddings are moved: which id each id
        became, and of which old ones a new one is made; ``id_map()`` writes both as JSON.

    >>> done = add_tokens("gpt2", ["<|chat|>"])
    >>> done.tokenizer.encode("hello<|chat|>"), done.made_of
    ([31373, 50257], {50257: (27, 91, 17006, 91, 29)})

    Raises:
        BpeError: if there is no such tokenizer, or a token is empty.
        TypeError: if an argument is of a wrong type.
    """
    from bpe_cli import surgery
    from bpe_cli.stages import SpecialToken

    added = [
        each if isinstance(each, SpecialToken)
        else SpecialToken(bytes_of(each, "tokens"), 0, special=False, normalized=True)
        for each in list_of("tokens", tokens, "tokens")
    ]  # fmt: skip
    return surgery.add_tokens(load_tokenizer(tokenizer), added)


def prune(
    tokenizer: AnyTokenizer,
    texts: Texts,
    size: int,
    *,
    documents: Documents = "whole",
    field: str = "text",
    threads: int | None = None,
    listener: Listener = SILENCE,
) -> Operation:
    """Keep so many tokens of a tokenizer, those that texts use most, and those that they are made of.

    Args:
        tokenizer: A tokenizer, or what ``load`` takes.
        texts: A text, several, or files: ``pathlib.Path``, one or several.
        size: How many tokens to keep.
        documents: What a document of a file is: ``whole``, the file; ``lines``, each line; ``jsonl``, a field of it.
        field: The field of a JSON line, or the column of a table.
        threads: How many to use, all processors if None; changes no result.
        listener: Who hears how it goes on.

    Returns:
        The new ``tokenizer``, and which id each id became, as ``add_tokens`` does.

    >>> done = prune("gpt2", ["hello world"] * 3, 1000)
    >>> len(done.tokenizer), done.tokenizer.decode(done.tokenizer.encode("hello world")), done.old_to_new[50000]
    (1000, 'hello world', None)

    Raises:
        BpeError: if there is no such tokenizer, a file cannot be read, or so few cannot be kept.
        TypeError: if an argument is of a wrong type.
    """
    from bpe_cli.jobs.convert import Change

    corpus = _source(texts, documents, field)
    return _changed(tokenizer, Change(prune_to=_size(size), corpus=corpus, threads=_threads(threads)), listener)


def extend(
    tokenizer: AnyTokenizer,
    texts: Texts,
    size: int,
    *,
    documents: Documents = "whole",
    field: str = "text",
    threads: int | None = None,
    listener: Listener = SILENCE,
) -> Operation:
    """Let the training of BPE go on, on texts, until there are so many ids.

    Args:
        tokenizer: A tokenizer, or what ``load`` takes.
        texts: As for ``prune``, like what follows.
        size: How many ids to end with: all of the tokenizer's, and the new ones.
        documents: What a document of a file is.
        field: The field of a JSON line, or the column of a table.
        threads: How many to use, all processors if None; changes no result.
        listener: Who hears how it goes on.

    Returns:
        The new ``tokenizer``, and what each new token was before, as ``add_tokens`` does.

    >>> done = extend("gpt2", ["bpe bpe"], 50258)
    >>> [done.tokenizer.id_to_token(token_id) for token_id in done.made_of]
    ['bpe']

    Raises:
        BpeError: if there is no such tokenizer, a file cannot be read, or the tokenizer does not merge.
        TypeError: if an argument is of a wrong type.
    """
    from bpe_cli.jobs.convert import Change

    corpus = _source(texts, documents, field)
    return _changed(tokenizer, Change(extend_to=_size(size), corpus=corpus, threads=_threads(threads)), listener)


def merge(tokenizer: AnyTokenizer, other: AnyTokenizer) -> Operation:
    """Add to a tokenizer the tokens of another that it lacks, with ids after all of its own.

    Args:
        tokenizer: A tokenizer, or what ``load`` takes; everything but the new tokens is as it has it.
        other: Another, of BPE as well.

    Returns:
        The new ``tokenizer``, and which id each id became, as ``add_tokens`` does; ``other_to_new`` has those of the
        other one.

    >>> from bpe_cli import train
    >>> done = merge("gpt2", train(["qxqx qxqx"], vocab_size=258))
    >>> [done.tokenizer.id_to_token(token_id) for token_id in done.made_of], done.other_to_new[257]
    (['qx', 'qxqx'], 50258)

    Raises:
        BpeError: if there is no such tokenizer, or they do not merge the same symbols.
        TypeError: if an argument is of a wrong type.
    """
    from bpe_cli import surgery

    return surgery.merge(load_tokenizer(tokenizer), load_tokenizer(other, "other"))


def _changed(tokenizer: AnyTokenizer, change: Change, listener: Listener) -> Operation:
    from bpe_cli.jobs.files import Streams

    return change.apply(load_tokenizer(tokenizer), (), heard(listener), Streams())


# -- what callers give ------------------------------------------------------------------------------------


def _threads(threads: int | None, name: str = "threads") -> int:
    return usable_threads(None if threads is None else whole_number(name, threads, 1))


def _size(size: int) -> int:
    return whole_number("size", size, 1, (1 << 32) - 1)


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
    if not isinstance(output, (str, os.PathLike)) and not callable(getattr(output, "write", None)):
        raise wrong_type("output", "a str, a path or a binary stream", output)
    return output


def _paths(files: Files) -> tuple[str, ...]:
    """Return the names of files; there is at least one, as none would mean stdin."""
    several = [files] if isinstance(files, (str, os.PathLike)) else list_of("files", files, "paths")
    if not several:
        raise UsageError("files is empty, and there is nothing to read")
    for each in several:
        if not isinstance(each, (str, os.PathLike)):
            raise wrong_type("files", "a str, a path, or several", each)
    return tuple(os.fsdecode(each) for each in several)


def _documents(documents: Documents, field: str, **where: Any) -> Source:
    """Return a source of texts, divided into documents as asked."""
    from bpe_cli.corpus import Source

    one_of("documents", documents, ("whole", "lines", "jsonl"))
    if not isinstance(field, str):
        raise wrong_type("field", "a str", field)
    _name("member", where.get("member"))
    return Source(**where, documents=documents, field=field)


def _source(texts: Texts, documents: Documents, field: str, member: str | None = None) -> Source:
    """Return where texts come from: themselves, or files."""
    if isinstance(texts, (str, bytes, bytearray, memoryview)):
        return _documents(
            documents, field, member=member, text=bytes_of(texts, "texts").decode("utf-8", "surrogateescape")
        )
    if isinstance(texts, os.PathLike):
        return _documents(documents, field, member=member, paths=(os.fsdecode(texts),))
    if not isinstance(texts, Iterable):
        raise wrong_type("texts", "a text, several, or paths", texts)
    several = list(texts)
    if several and all(isinstance(each, os.PathLike) for each in several):
        return _documents(documents, field, member=member, paths=tuple(os.fsdecode(each) for each in several))
    from bpe_cli.support.safe_orjson import orjson

    _documents(documents, field, member=member)  # they are checked, though each text is a document by itself
    try:
        decoded = [bytes_of(each, f"texts[{place}]").decode() for place, each in enumerate(several)]
    except UnicodeDecodeError as error:
        raise InputError(f"a text of several is not UTF-8: {error.reason} at byte {error.start:,}") from error
    lines = b"\n".join(orjson.dumps({"text": text}) for text in decoded)
    return _documents("jsonl", "text", text=lines.decode())
