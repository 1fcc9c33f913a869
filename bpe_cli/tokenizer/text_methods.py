"""The methods of a tokenizer: text to ids and back, in the words of tiktoken and tokenizers.

A class of its own, so that ``tokenizer.py`` holds the value and its engine, and this file what people call.

Length: sixteen methods, whose docstrings are docs/reference/api.md; what they do stands in the modules beside.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from bpe_cli import _core
from bpe_cli.errors import InputError, NoTokenError, UsageError
from bpe_cli.support.blocks import Block
from bpe_cli.support.cached import cached_property
from bpe_cli.support.core_arguments import (
    bytes_of,
    flag,
    in_one_of,
    list_of,
    one_of,
    pack,
    specials_of,
    whole_number,
    wrong_type,
)
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING, Literal, TypeVar, cast, overload
from bpe_cli.tokenizer.engine import Text, sampling_of

if TYPE_CHECKING:
    from typing import Any

    from bpe_cli.tokenizer.any_tokenizer import AnyTokenizer
    from bpe_cli.tokenizer.encoded import EncodedBatch, Placed
    from bpe_cli.tokenizer.engine import Sampling
    from bpe_cli.tokenizer.model_inputs import Encoding
    from bpe_cli.tokenizer.parts import Break, Chunk
    from bpe_cli.tokenizer.usage import Edges, Strategy

Specials = Literal["all"] | Collection[str]
"""Which special tokens are looked for in text: all of them, or those with these contents."""

Side = Literal["left", "right"]

_MOST_MATCHERS = 32
"""More choices of special tokens than one program makes again and again."""


_NO_SPECIALS: Specials = ()

Ids = TypeVar("Ids", list[int], memoryview)

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Token:
    """A token and its position in a text.

    Attributes:
        token_id: Its id.
        content: Its bytes.
        start: The offset of its first byte in the text.
        end: The offset after its last byte.
        special: Whether it is a special or added token recognized in the text.
        char_start: The offset of its first character in the text, which the previous token may share.
        char_end: The offset after the last character that it has a byte of.
    """

    token_id: int
    content: bytes
    start: int
    end: int
    special: bool = False
    char_start: int = 0
    char_end: int = 0


class TextMethods(_core.Tokenizer):
    """The methods of a ``Tokenizer`` that take a text or ids; ``encode`` and ``count`` are the core's."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers know better which attributes there are

        def __getattr__(self, name):
            """Point whoever asks for an attribute of another library's tokenizer to ours."""
            from bpe_cli.support.other_libraries import METHODS, here

            sentence = f"{type(self).__name__!r} object has no attribute {name!r}{here(METHODS, name)}"
            raise AttributeError(sentence, name=name, obj=self)

    @property
    def _tokenizer(self) -> AnyTokenizer:
        """This tokenizer, as type checkers know it."""
        return cast("AnyTokenizer", self)

    # -- text to ids ---------------------------------------------------------------------------

    def _encode(
        self,
        text: Text,
        *,
        add_special_tokens: bool = False,
        specials: Specials = (),
        bos: str | int | None = None,
        eot: str | int | None = None,
        max_tokens: int | None = None,
        side: Side = "right",
        sampling: Sampling | None = None,
        threads: int = 1,
    ) -> list[int]:
        """Do what ``encode`` says, with any options."""
        asks_nothing = bos is None and eot is None and max_tokens is None and add_special_tokens is False
        if asks_nothing and sampling is None and specials is _NO_SPECIALS:
            self._learn()
        matcher, threads = self._matcher(specials), whole_number("threads", threads, 1)
        if sampling is None:
            ids = self._tokenizer.engine.encode_text(text, matcher, threads)
        else:
            block = Block.of([bytes_of(text)])
            ids = self._tokenizer.engine.encode(block, matcher, threads, sampling_of(sampling))[0].tolist()
        if asks_nothing:
            return ids
        edges = self._edges(add_special_tokens, bos, eot)
        if max_tokens is not None:
            ids = _cut(ids, _room(max_tokens, edges), side)
        return [*edges.before, *ids, *edges.after]

    def encode_batch(
        self,
        texts: Iterable[Text],
        *,
        add_special_tokens: bool = False,
        specials: Specials = (),
        bos: str | int | None = None,
        eot: str | int | None = None,
        max_tokens: int | None = None,
        side: Side = "right",
        sampling: Sampling | None = None,
        threads: int | None = None,
    ) -> EncodedBatch:
        """Return the ids of many texts at once, the fast way.

        Args:
            texts: The texts.
            add_special_tokens: As for ``encode``; the same goes for the parameters below.
            specials: The special tokens to recognize in the texts; none by default.
            bos: The token to put before each text.
            eot: The token to put after each text.
            max_tokens: The maximum number of ids per text.
            side: The side of a text to cut off.
            sampling: How to vary the encodings at random, each text independently; None for no variation.
            threads: Number of threads; None uses all processors. Never changes the result.

        >>> import bpe_cli
        >>> batch = bpe_cli.load("gpt2").encode_batch(["hello world", "hello"], eot="auto")
        >>> batch.to_lists(), batch.offsets.tolist()
        ([[31373, 995, 50256], [31373, 50256]], [0, 3, 5])

        Raises:
            BpeError: as for ``encode``, or if ``texts`` is a single str.
            TypeError: if an argument has the wrong type.
        """
        from bpe_cli.tokenizer.encoded import EncodedBatch

        documents, matcher, engine = list_of("texts", texts, "texts"), self._matcher(specials), self._tokenizer.engine
        try:
            if sampling is None:
                ids, ends = engine.encode_texts(documents, matcher, _threads(threads))
            else:
                block = Block.of([bytes_of(text, f"texts[{place}]") for place, text in enumerate(documents)])
                ids, ends = engine.encode(block, matcher, _threads(threads), sampling_of(sampling))
        except NoTokenError as error:
            raise in_one_of(documents, error, lambda text: engine.encode_text(text, matcher)) from error
        edges = self._edges(add_special_tokens, bos, eot)
        if max_tokens is not None:
            room = _room(max_tokens, edges)
            kept, kept_ends, start = array("I"), array("Q"), 0
            for end in ends:
                kept.frombytes(_cut(ids[start:end], room, side).cast("B"))
                kept_ends.append(len(kept))
                start = end
            ids, ends = memoryview(kept), memoryview(kept_ends)
        if len(edges):
            from bpe_cli.tokenizer.post_processor import surround

            ids, ends = surround(Block.of([b""] * len(ends)), ids, ends, edges.before, edges.after)
        return EncodedBatch.of(ids, ends)

    def encode_pair(
        self,
        first: Text,
        second: Text,
        *,
        add_special_tokens: bool = True,
        specials: Specials = (),
        max_tokens: int | None = None,
        stride: int = 0,
        strategy: Strategy = "longest_first",
        side: Side = "right",
    ) -> Encoding:
        """Return the ids of a pair of texts as input for a model, with types and masks.

        >>> import bpe_cli
        >>> from bpe_cli.stages import SpecialToken
        >>> bert = '{"type": "BertProcessing", "sep": ["[SEP]", 50256], "cls": ["[CLS]", 50256]}'
        >>> from dataclasses import replace
        >>> tokenizer = replace(bpe_cli.load("gpt2"), post_processor=bert)
        >>> pair = tokenizer.encode_pair("hello world", "hello")
        >>> pair.ids, pair.type_ids
        ((50256, 31373, 995, 50256, 31373, 50256), (0, 0, 0, 0, 1, 1))

        Raises:
            BpeError: as for ``model_inputs``.
            TypeError: if an argument has the wrong type.
        """
        (pair,) = self.model_inputs(
            [(first, second)], add_special_tokens=add_special_tokens, specials=specials,
            max_tokens=max_tokens, stride=stride, strategy=strategy, side=side,
        )  # fmt: skip
        return pair

    def model_inputs(
        self,
        texts: Iterable[Text | tuple[Text, Text]],
        *,
        add_special_tokens: bool = True,
        specials: Specials = (),
        max_tokens: int | None = None,
        stride: int = 0,
        strategy: Strategy = "longest_first",
        side: Side = "right",
        padding: Literal["longest"] | bool | int | None = None,
        padding_side: Side = "right",
        pad_id: int | None = None,
        pad_to_multiple_of: int | None = None,
    ) -> list[Encoding]:
        """Return texts and pairs as input for a model, with special tokens, padding, masks and overlapping windows.

        Args:
            texts: Texts, or pairs of them as tuples.
            add_special_tokens: Whether to add the special tokens that the post-processor puts around them.
            specials: The special tokens to recognize in them; none by default.
            max_tokens: The maximum number of ids per input, including special tokens. The rest goes into windows
                (``overflowing``).
            stride: Number of ids that each window repeats from the previous one.
            strategy: Which text of a pair to cut: ``longest_first``, ``only_first`` or ``only_second``.
            side: The side to cut off.
            padding: Pad to the longest (``"longest"`` or True), to a length, or not at all (None or False).
            padding_side: The side to pad on.
            pad_id: The id to pad with; the tokenizer's own if None.
            pad_to_multiple_of: Round the length up to a multiple of this.

        >>> import bpe_cli
        >>> long, short = bpe_cli.load("gpt2").model_inputs(
        ...     ["hello world hello", "hello"], max_tokens=2, padding="longest", pad_id=0
        ... )
        >>> long.ids, [window.ids for window in long.overflowing]
        ((31373, 995), [(23748, 0)])
        >>> short.ids, short.attention_mask
        ((31373, 0), (1, 0))

        Raises:
            UsageError: if a text cannot be cut this way, or there is no padding token.
            FormatError: if the post-processor's type is unknown.
            InputError: if a byte of a text has no token.
            TypeError: if an argument has the wrong type.
        """
        from bpe_cli.stages.spelling import to_visible
        from bpe_cli.tokenizer.encoded import CharacterOffsets
        from bpe_cli.tokenizer.model_inputs import Encoding, prepare, trim, trims
        from bpe_cli.tokenizer.usage import STRATEGIES, Padding, Truncation
        from bpe_cli.tokenizer.words import words_of

        trimmed = trims(self._tokenizer.post_processor)
        matcher = self._matcher(specials)
        one_of("strategy", strategy, STRATEGIES)
        one_of("side", side, ("left", "right"))
        one_of("padding_side", padding_side, ("left", "right"))
        whole_number("stride", stride)
        truncation = fill = None
        if max_tokens is not None:
            truncation = Truncation(whole_number("max_tokens", max_tokens), stride, strategy, side)
        if isinstance(padding, bool):  # as Hugging Face's library spells it; it is no length
            padding = "longest" if padding else None
        if padding is not None:
            if isinstance(padding, str) and padding != "longest":
                hint = "a number pads to so many ids: padding=128"  # type: ignore[unreachable]  # types are not checked
                raise UsageError(f"padding must be 'longest' or a number of ids, not {padding!r}", hint=hint)
            length = None if isinstance(padding, str) else whole_number("padding", padding)
            multiple = None if pad_to_multiple_of is None else whole_number("pad_to_multiple_of", pad_to_multiple_of, 1)
            fill = Padding(length, padding_side, multiple, *self._filling(pad_id))

        def encoded(text: Text, name: str) -> Encoding:
            data = bytes_of(text, name)
            try:
                placed = self._placed(data, matcher)
            except NoTokenError as error:
                raise error.within(name) from error
            spans = list(zip(placed.starts, placed.ends, strict=True))
            if isinstance(text, str):
                characters = CharacterOffsets(data)
                spans = [characters.span(start, end) for start, end in spans]
            tokens = [self._tokenizer.token_bytes(each) for each in placed.ids]
            shown = [token.decode("utf-8", "replace") for token in tokens]
            as_written = list(map(to_visible, tokens)) if trimmed and self._tokenizer.model.byte_level else shown
            for prefix_space in trimmed:
                # An added token is what it was found as: with the whitespace that it takes along.
                contents = [
                    data[start:end].decode("utf-8", "replace") if special else content
                    for content, special, start, end in zip(
                        as_written, placed.special, placed.starts, placed.ends, strict=True
                    )
                ]
                spans = trim(spans, contents, add_prefix_space=prefix_space)
            words = words_of(self._tokenizer, data, placed)
            return Encoding.of(placed.ids.tolist(), spans, tokens=shown, word_ids=words)

        prepared: list[tuple[Encoding, Encoding | None]] = []
        for place, each in enumerate(several := list_of("texts", texts, "texts")):
            name = f"texts[{place}]"
            if isinstance(each, list):  # as Hugging Face's library takes a pair
                raise wrong_type(name, "a str or bytes, or a tuple of two", each)
            if not isinstance(each, tuple):
                prepared.append((encoded(each, name), None))
            elif len(each) == 2:
                pair = f" text of {'a pair' if len(several) == 1 else name}"
                prepared.append((encoded(each[0], f"first{pair}"), encoded(each[1], f"second{pair}")))
            else:
                raise UsageError(f"{name} has {len(each)} texts, and a pair has two")
        return prepare(
            prepared, post_processor=self._tokenizer.post_processor, truncation=truncation, padding=fill,
            add_special_tokens=flag("add_special_tokens", add_special_tokens),
        )  # fmt: skip

    def _filling(self, pad_id: int | None) -> tuple[int, int, str]:
        """Return the id that fills, its type, and how it is written."""
        usage = self._tokenizer.usage
        if pad_id is not None:
            pad_id = whole_number("pad_id", pad_id, most=(1 << 32) - 1)
            return pad_id, 0, self.id_to_token(pad_id) or ""
        if usage.padding is not None:
            return usage.padding.pad_id, usage.padding.pad_type_id, usage.padding.pad_token
        role = usage.role("pad")
        if role is None:
            raise UsageError("this tokenizer names no padding token", hint="give pad_id=...")
        return role, 0, self.id_to_token(role) or ""

    # -- counts --------------------------------------------------------------------------------

    def _count(self, text: Text, *, add_special_tokens: bool = False, specials: Specials = ()) -> int:
        """Do what ``count`` says, with any options."""
        if specials is _NO_SPECIALS and not add_special_tokens:
            self._learn()
        try:
            (count,) = self._tokenizer.engine.count_texts([text], self._matcher(specials))
        except (TypeError, InputError):
            bytes_of(text)  # what is wrong with the text itself is said of `text`, not of a list
            raise
        return int(count) + len(self._edges(add_special_tokens, None, None))

    # Errors about arguments name what was called.
    _encode.__qualname__, _count.__qualname__ = "Tokenizer.encode", "Tokenizer.count"

    def count_batch(
        self,
        texts: Iterable[Text],
        *,
        add_special_tokens: bool = False,
        specials: Specials = (),
        threads: int | None = None,
    ) -> list[int]:
        """Return the number of ids of each text.

        >>> import bpe_cli
        >>> bpe_cli.load("gpt2").count_batch(["hello world", "", "hello"])
        [2, 0, 1]

        Raises:
            BpeError: as for ``encode_batch``.
            TypeError: if an argument has the wrong type.
        """
        documents, matcher = list_of("texts", texts, "texts"), self._matcher(specials)
        around = len(self._edges(add_special_tokens, None, None))
        engine = self._tokenizer.engine
        try:
            counts = engine.count_texts(documents, matcher, _threads(threads))
        except NoTokenError as error:
            raise in_one_of(documents, error, lambda text: engine.encode_text(text, matcher)) from error
        return [count + around for count in counts] if around else counts.tolist()

    # -- where tokens lie ----------------------------------------------------------------------

    def tokens(self, text: Text, *, specials: Specials = ()) -> list[Token]:
        """Return the tokens of a text with their positions in bytes and in characters.

        Spans are offsets into ``text`` as given, before any normalization. With ``add_prefix_space``, the added space
        has no byte in the text, so the first token's span is one byte shorter than its content. A character that is
        split across several tokens belongs to each of them. A byte that is not UTF-8 counts as one character.

        >>> import bpe_cli
        >>> found = bpe_cli.load("gpt2").tokens("é你!")
        >>> [(token.content, token.start, token.end, token.char_start, token.char_end) for token in found]
        [(b'\\xc3\\xa9', 0, 2, 0, 1), (b'\\xe4\\xbd', 2, 4, 1, 2), (b'\\xa0', 4, 5, 1, 2), (b'!', 5, 6, 2, 3)]

        Raises:
            BpeError: as for ``encode``.
            TypeError: if an argument has the wrong type.
        """
        kind = Token, self._contents, self._tokenizer.token_bytes
        return self._tokenizer.engine.token_objects(bytes_of(text), self._matcher(specials), kind)

    def place(self, text: Text, specials: Specials = ()) -> Placed:
        """Return the tokens of a text and their positions, as ``tokens`` does, but in columns: for long texts."""
        return self._placed(bytes_of(text), self._matcher(specials))

    def chunks(
        self, text: Text, max_tokens: int, *, overlap: int = 0, break_at: Break = "token", specials: Specials = ()
    ) -> Iterator[Chunk]:
        """Yield parts of a text with at most ``max_tokens`` tokens each, without cutting a character in two.

        The text is encoded once, as a whole, and the parts are runs of its tokens. Without ``overlap``, the parts
        together are the whole text, and their ids are all of its ids. A part that is encoded on its own may have a
        token more or fewer, because the text before it is missing. Where a token ends inside a character, the part ends
        before that character. A text without tokens, such as blanks that the normalizer removes, has no parts.

        Args:
            text: The text.
            max_tokens: The maximum number of tokens in a part.
            overlap: Number of tokens that each part repeats from the previous one; fewer where they would cut a
                character.
            break_at: Where a part should end: after a ``token``, a ``line``, a ``sentence`` or a ``paragraph``. A part
                without such an end falls back to the next finer one, down to a token. The overlap also begins at such a
                place if possible.
            specials: The special tokens to recognize in the text; none by default.

        >>> import bpe_cli
        >>> for chunk in bpe_cli.load("gpt2").chunks("one two three four", 2, overlap=1):
        ...     print(repr(chunk.text), chunk.ids, chunk.start, chunk.end)
        'one two' [505, 734] 0 7
        ' two three' [734, 1115] 3 13
        ' three four' [1115, 1440] 7 18
        >>> [chunk.text for chunk in bpe_cli.load("gpt2").chunks("One. Two two. Three.", 6, break_at="sentence")]
        ['One. Two two.', ' Three.']

        Raises:
            UsageError: if ``overlap`` is not less than ``max_tokens``.
            InputError: if a single character has more tokens than ``max_tokens``, or a byte has no token.
            TypeError: if an argument has the wrong type.
        """
        from bpe_cli.tokenizer.parts import BREAKS, chunks

        one_of("break_at", break_at, BREAKS)
        data, matcher = bytes_of(text), self._matcher(specials)
        max_tokens = whole_number("max_tokens", max_tokens, 1)
        overlap = whole_number("overlap", overlap)
        if overlap >= max_tokens:
            raise UsageError(f"overlap must be less than max_tokens, which is {max_tokens:,}, not {overlap:,}")
        return chunks(data, self._placed(data, matcher), max_tokens, overlap, break_at)

    @overload
    def truncate(
        self, text: str, max_tokens: int, *, side: Literal["left", "right", "both"] = "right", specials: Specials = ()
    ) -> str: ...
    @overload
    def truncate(
        self,
        text: bytes | bytearray | memoryview,
        max_tokens: int,
        *,
        side: Literal["left", "right", "both"] = "right",
        specials: Specials = (),
    ) -> bytes: ...
    def truncate(
        self,
        text: Text,
        max_tokens: int,
        *,
        side: Literal["left", "right", "both"] = "right",
        specials: Specials = (),
    ) -> str | bytes:
        """Return the longest part of a text that has at most ``max_tokens`` tokens, without cutting a character in two.

        Args:
            text: The text.
            max_tokens: The maximum number of tokens that the part has when it is encoded on its own.
            side: The side to cut off: ``"left"`` keeps the end of the text, ``"both"`` its middle.
            specials: The special tokens to recognize in the text; none by default.

        >>> import bpe_cli
        >>> tokenizer = bpe_cli.load("gpt2")
        >>> tokenizer.truncate("one two three four", 3), tokenizer.truncate("one two three four", 3, side="left")
        ('one two three', ' two three four')

        Raises:
            BpeError: as for ``encode``.
            TypeError: if an argument has the wrong type.
        """
        from bpe_cli.tokenizer.parts import truncated

        one_of("side", side, ("left", "right", "both"))
        data, matcher = bytes_of(text), self._matcher(specials)
        max_tokens = whole_number("max_tokens", max_tokens)

        def count(part: bytes) -> int:
            return int(self._tokenizer.count_block(Block.of([part]), matcher)[0])

        part = truncated(data, self._placed(data, matcher), max_tokens, side, count)
        return part.decode("utf-8", "surrogateescape") if isinstance(text, str) else part

    # -- ids to text ---------------------------------------------------------------------------

    def decode(
        self,
        ids: Iterable[int] | memoryview | array[int],
        errors: Literal["strict", "replace", "ignore"] = "replace",
        *,
        skip_special_tokens: bool = False,
    ) -> str:
        """Return the text that ids stand for.

        Args:
            ids: The ids.
            errors: How to treat bytes that are not UTF-8. ``ignore`` recovers as many valid characters as the bytes
                allow (the optimum in the byte-level BPE paper, arXiv:1909.03341).
            skip_special_tokens: Whether to leave out special tokens.

        >>> import bpe_cli
        >>> tokenizer = bpe_cli.load("gpt2")
        >>> tokenizer.decode([31373, 995, 50256]), tokenizer.decode([31373, 995, 50256], skip_special_tokens=True)
        ('hello world<|endoftext|>', 'hello world')

        Raises:
            InputError: if an id has no token, or the bytes are not UTF-8 and ``errors`` is ``strict``.
            TypeError: if an argument has the wrong type.
        """
        one_of("errors", errors, ("strict", "replace", "ignore"))
        if flag("skip_special_tokens", skip_special_tokens):
            special = {token.token_id for token in self._tokenizer.special_tokens if token.special}
            every = pack(ids)
            try:
                return _characters(self.decode_bytes([each for each in every if each not in special]), errors)
            except InputError:
                self.decode_bytes(every)  # an error says where among all of them an id without a token is
                raise
        return _characters(self.decode_bytes(ids), errors)

    def decode_bytes(self, ids: Iterable[int] | memoryview | array[int]) -> bytes:
        """Return the bytes that ids stand for: with a lossless tokenizer, exactly what was encoded.

        A u32 array (from NumPy too) is fastest. It is copied, unless nobody can write to its memory: that of ``bytes``,
        and of ids as ``encode_batch`` makes them.

        >>> import bpe_cli
        >>> bpe_cli.load("gpt2").decode_bytes([31373, 187])
        b'hello\\xff'

        Raises:
            InputError: if an id has no token.
            TypeError: if ``ids`` is not a collection of ids.
        """
        packed = pack(ids)
        try:
            return self._tokenizer.engine.decode(packed)
        except ValueError as error:
            sentence, *place = error.args
            if not place:  # the decoders fail, whosever ids these are
                raise InputError(str(sentence)) from error
            raise InputError(
                f"id {packed[place[0]]} at place {place[0]:,} has no token in this tokenizer, whose ids run to "
                f"{self._tokenizer.vocab_size - 1}",
                hint="are these the ids of another tokenizer?",
            ) from error

    def decode_batch(
        self,
        batch: Iterable[Iterable[int]],
        errors: Literal["strict", "replace", "ignore"] = "replace",
        *,
        skip_special_tokens: bool = False,
    ) -> list[str]:
        """Return the text of each list of ids, or of each row of a batch from ``encode_batch``.

        >>> import bpe_cli
        >>> tokenizer = bpe_cli.load("gpt2")
        >>> tokenizer.decode_batch(tokenizer.encode_batch(["hello world", "", "hello"]))
        ['hello world', '', 'hello']

        Raises:
            BpeError: as for ``decode``.
            TypeError: if an argument has the wrong type.
        """
        from bpe_cli.tokenizer.encoded import EncodedBatch

        several = batch if isinstance(batch, EncodedBatch) else list_of("batch", batch, "lists of ids")
        if not flag("skip_special_tokens", skip_special_tokens):
            one_of("errors", errors, ("strict", "replace", "ignore"))
            if not isinstance(several, EncodedBatch):
                found = self._tokenizer.engine.decode_lists(several, _threads(None))
                if found is not None and bytes not in set(map(type, found)):
                    return cast("list[str]", found)
                if found is not None:
                    return _each(found, lambda each: each if isinstance(each, str) else _characters(each, errors))
            packed = several if isinstance(several, EncodedBatch) else EncodedBatch.packed(several)
            try:
                texts = self._tokenizer.engine.decode_each(packed.ids, packed.offsets[1:])
            except ValueError:
                several = packed  # the row with that id is told below, and rows may be there to be read but once
            else:
                return _each(texts, lambda data: _characters(data, errors))
        return _each(several, lambda ids: self.decode(ids, errors, skip_special_tokens=skip_special_tokens))

    # -- tokens and ids ------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of ids that a model must know: the highest id plus one."""
        return self._tokenizer.vocab_size

    def token_to_id(self, token: str | bytes) -> int | None:
        """Return the id of a token by its text or its bytes; None if there is no such token.

        >>> import bpe_cli
        >>> tokenizer = bpe_cli.load("gpt2")
        >>> tokenizer.token_to_id(" world"), tokenizer.token_to_id("<|endoftext|>"), tokenizer.token_to_id("no such")
        (995, 50256, None)

        Raises:
            TypeError: if ``token`` is neither str nor bytes.
        """
        try:
            return self._ids.get(bytes_of(token, "token"))
        except InputError:  # no token has half a character
            return None

    def id_to_token(self, token_id: int) -> str | None:
        """Return the text of a token; None if no token has this id.

        A byte that is not UTF-8 becomes a lone surrogate, as with ``os.fsdecode``, so that ``token_to_id`` finds the
        token again. ``token_bytes`` returns the bytes themselves.

        >>> import bpe_cli
        >>> tokenizer = bpe_cli.load("gpt2")
        >>> tokenizer.id_to_token(995), tokenizer.id_to_token(187), tokenizer.id_to_token(99999)
        (' world', '\\udcff', None)

        Raises:
            TypeError: if ``token_id`` is not an int.
        """
        try:
            number = whole_number("token_id", token_id)
            return self._tokenizer.token_bytes(number).decode("utf-8", "surrogateescape")
        except (InputError, UsageError):
            return None

    @property
    def vocab(self) -> Mapping[str, int]:
        """All tokens by their text, including special ones, consistent with ``id_to_token`` and ``token_to_id``.

        >>> import bpe_cli
        >>> vocab = bpe_cli.load("gpt2").vocab
        >>> vocab["hello"], "no such" in vocab, len(vocab), next(iter(vocab))
        (31373, False, 50257, '!')
        """
        from bpe_cli.tokenizer.encoded import Vocab

        return Vocab(self._ids)

    @cached_property
    def _ids(self) -> dict[bytes, int]:
        """The ids by the bytes of tokens; of tokens with the same bytes a special one counts, else the lowest."""
        tokenizer = self._tokenizer
        # Not all numbers up to the highest id: an added token may have one near 2 to the 32nd.
        present = {each for each, _ in tokenizer.model.vocabulary.items()}.union(tokenizer.special_table[0])
        ids = {tokenizer.token_bytes(each): each for each in sorted(present, reverse=True)}
        return dict(sorted((ids | {token.content: token.token_id for token in tokenizer.special_tokens}).items(),
                           key=lambda item: item[1]))  # fmt: skip

    # -- files and conversations ---------------------------------------------------------------

    def save(self, path: Any, format: str | None = None, *, allow_loss: Collection[str] = ()) -> list[str]:  # noqa: A002
        """Write the tokenizer to a file, or to a folder for formats with several files.

        The file is verified first: reading it back gives the same ids and texts. It is written in full or not at all.

        Args:
            path: The file or folder.
            format: The format, one of the names in ``bpe_cli.formats.FORMATS``. If None, the file's name decides; a
                folder is ``huggingface``.
            allow_loss: The losses to accept, by the names given in the error.

        Returns:
            The paths of the files that were written.

        >>> import bpe_cli
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "gpt2.tiktoken")
        ...     _ = bpe_cli.load("gpt2").save(path)
        ...     bpe_cli.load(path, pattern="gpt2").encode("hello world")
        [31373, 995]

        Raises:
            FormatError: if the format cannot hold all of the tokenizer.
            UsageError: if the format does not exist or cannot be derived from the name, or a file that lies there would
                change what is read.
            OutputError: if a file cannot be written.
            TypeError: if an argument has the wrong type.
        """
        from bpe_cli.jobs.convert import convert

        return list(convert(cast("Any", self), path, format, allow_loss=allow_loss).files)

    @overload
    def apply_chat_template(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Any] | None = None,
        documents: Sequence[Any] | None = None,
        chat_template: str | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        tokenize: Literal[True] = True,
        specials: Specials = (),
        **arguments: Any,
    ) -> list[int]: ...
    @overload
    def apply_chat_template(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Any] | None = None,
        documents: Sequence[Any] | None = None,
        chat_template: str | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        tokenize: Literal[False],
        specials: Specials = (),
        **arguments: Any,
    ) -> str: ...
    @overload
    def apply_chat_template(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Any] | None = None,
        documents: Sequence[Any] | None = None,
        chat_template: str | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        tokenize: bool,
        specials: Specials = (),
        **arguments: Any,
    ) -> list[int] | str: ...
    def apply_chat_template(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Any] | None = None,
        documents: Sequence[Any] | None = None,
        chat_template: str | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        tokenize: bool = True,
        specials: Specials = (),
        **arguments: Any,
    ) -> list[int] | str:
        """Return the ids of a conversation, or its text, as formatted by the tokenizer's chat template.

        No message can forge a special token: in a message, a special token's text is plain text unless ``specials``
        names it.

        Args:
            messages: Dicts with ``role`` and ``content``.
            tools: Descriptions of tools.
            documents: Documents to answer from.
            chat_template: The template: the name of one of the tokenizer's own, a built-in layout (``chatml``,
                ``harmony``, and others), or a Jinja template; the tokenizer's own if None.
            add_generation_prompt: Whether to open the assistant's turn at the end.
            continue_final_message: Whether to end after the text of the last message, so that the model goes on with
                it; or the name of the member that has the text, if it is not ``content``.
            tokenize: Whether to return ids instead of text.
            specials: The special tokens to recognize in messages; none by default.
            **arguments: More variables for the template. Those of transformers that ask for anything but a list of all
                ids, such as ``max_length`` and ``return_tensors``, are refused.

        >>> import bpe_cli
        >>> messages = [{"role": "user", "content": "Hi"}]
        >>> template = "{% for message in messages %}{{ message.role }}: {{ message.content }}\\n{% endfor %}"
        >>> tokenizer = bpe_cli.load("gpt2")
        >>> tokenizer.apply_chat_template(messages, chat_template=template, tokenize=False)
        'user: Hi\\n'
        >>> tokenizer.apply_chat_template(messages, chat_template=template)
        [7220, 25, 15902, 198]

        Raises:
            UsageError: if the template does not exist, the tokenizer lacks a token that it needs, or an argument asks
                for what is not done here.
            InputError: if the conversation is malformed, or the template rejects it.
            FormatError: if the template is broken.
            TypeError: if an argument has the wrong type.
        """
        from bpe_cli.chat.encoding import apply_chat_template

        return apply_chat_template(
            cast("Any", self), messages, tools=tools, documents=documents, chat_template=chat_template,
            add_generation_prompt=flag("add_generation_prompt", add_generation_prompt),
            continue_final_message=continue_final_message, tokenize=flag("tokenize", tokenize),
            specials=specials_of(specials), arguments=arguments,
        )  # fmt: skip

    # -- what several methods do ---------------------------------------------------------------

    @cached_property
    def _contents(self) -> dict[int, bytes]:
        """The bytes of tokens that ``tokens`` gave."""
        return {}

    def _learn(self) -> None:
        """Have ``encode`` and ``count`` be one call into the core, where nothing is asked for: most of a short one."""
        encoder = self._tokenizer.engine.encoder_of_texts
        if encoder is not None:
            self._know(encoder, self._matcher(()))

    @cached_property
    def _matchers(self) -> dict[Specials, tuple[_core.SpecialMatcher | None]]:
        return {}

    def _matcher(self, specials: Specials) -> _core.SpecialMatcher | None:
        """Compile what is looked for in text, once for each choice: for a short text it would take most of the time."""
        try:
            return self._matchers[specials][0]
        except (KeyError, TypeError, ValueError):  # not asked for before, or in something that is no key
            chosen = specials_of(specials)
        found = self._matchers.get(chosen)
        if found is None:
            found = (self._tokenizer.matcher(chosen),)
            if len(self._matchers) >= _MOST_MATCHERS:
                self._matchers.clear()
            self._matchers[chosen] = found
        return found[0]

    def _placed(self, data: bytes, matcher: _core.SpecialMatcher | None) -> Placed:
        return self._tokenizer.engine.place(data, matcher)

    def _edges(self, add_special_tokens: bool, bos: str | int | None, eot: str | int | None) -> Edges:
        from bpe_cli.tokenizer.special_tokens import edges_of
        from bpe_cli.tokenizer.usage import NO_EDGES

        if not flag("add_special_tokens", add_special_tokens) and bos is None and eot is None:
            return NO_EDGES
        return edges_of(self._tokenizer, add_special_tokens=add_special_tokens, bos=bos, eot=eot)


def _threads(threads: int | None) -> int:
    from bpe_cli.support.ordered_threads import usable_threads

    return usable_threads(None if threads is None else whole_number("threads", threads, 1))


def _room(max_tokens: int, edges: Edges) -> int:
    """Return how many ids of a text fit between the tokens that are put around it."""
    room = whole_number("max_tokens", max_tokens) - len(edges)
    if room < 0:
        raise UsageError(f"max_tokens is {max_tokens:,}, and {len(edges):,} ids are put around the text")
    return room


def _cut(ids: Ids, room: int, side: Side) -> Ids:
    one_of("side", side, ("left", "right"))
    if len(ids) <= room:
        return ids
    return ids[:room] if side == "right" else ids[len(ids) - room :]


def _each(rows: Iterable[Row], text_of: Callable[[Row], str]) -> list[str]:
    """Return the text of each row of a batch; an error names the row."""
    texts = []
    for number, row in enumerate(rows):
        try:
            texts.append(text_of(row))
        except InputError as error:
            raise InputError(f"batch[{number}]: {error.message}", hint=error.hint) from error
    return texts


def _characters(data: bytes, errors: Literal["strict", "replace", "ignore"]) -> str:
    """Return the text of bytes, which as a rule are UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        from bpe_cli.tokenizer.streaming import CharacterStream

        characters = CharacterStream(errors)
        return characters.feed(data) + characters.finish()
