"""The border to the Rust core: bulk calls that take buffers and give buffers.

Conventions. *Buffer* is any C-contiguous object with the buffer protocol. Text is bytes; any bytes are valid.
``threads`` is at least 1. Every bulk call releases the GIL. A failure raises ``ValueError`` with a sentence (and the
place in the data, as a second argument, where it says so); no call panics, opens a file, prints or reads the
environment. Work that the system refuses memory raises ``MemoryError``.

*Options* are one JSON object, as ``support.core_arguments.options_json`` makes it: its keys and their meaning are the
fields of the Rust struct that is named, and those that are bytes are in base64. An option that is unknown, missing or
of another kind raises ``ValueError`` with its name; so do options that contradict each other.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, Protocol, Self, TypeAlias, TypeVar, final

from typing_extensions import Buffer, disjoint_base

_T = TypeVar("_T")

_Progress: TypeAlias = Callable[[int, int], None]
"""Called now and then with (done so far, all there is to do); signals are checked where it is called."""

_Tokens: TypeAlias = tuple[Buffer, Buffer]
"""The bytes of all tokens by id, and where each ends (u32); an empty range: an unused id."""

_Text: TypeAlias = str | bytes | bytearray | memoryview
"""A text. Those that may change, and a str with a lone surrogate, are refused: TypeError, UnicodeEncodeError."""

class MemoryBoundError(MemoryError):
    """Memory that a caller has set a bound for, which would be passed."""

class _Sampling(Protocol):
    """How an encoding varies."""

    @property
    def way(self) -> str: ...
    @property
    def number(self) -> float: ...
    @property
    def nbest(self) -> int: ...
    @property
    def seed(self) -> int: ...

_Specials: TypeAlias = tuple[Buffer, Buffer, Buffer]
"""Special tokens: their ids, ascending (u32); their bytes, and where each ends (u32)."""

class _Block(Protocol):
    """The documents of a block, one after the other: ``support.blocks.Block``."""

    @property
    def data(self) -> Buffer: ...
    @property
    def ends(self) -> Buffer: ...
    @property
    def continued(self) -> bool: ...
    @property
    def unfinished(self) -> bool: ...

UNICODE_VERSION: str
"""Version of the Unicode tables the scanners were built with, as ``16.0.0``."""

MAX_TOKENS: int
"""Ids of ordinary tokens and numbers of merges lie below this (2,097,152)."""

@final
class U8Array:
    """Bytes that are read-only, and expose the buffer protocol (format ``B``)."""

    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class U32Array:
    """A read-only array of u32 that exposes the buffer protocol (format ``I``)."""

    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class U64Array:
    """A read-only array of u64 that exposes the buffer protocol (format ``Q``)."""

    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class Splitter:
    """A compiled pre-tokenizer."""

    def __init__(self, spec: str) -> None:
        """Compile a scanner from the JSON of ``patterns.Scanner``, or ``"null"``: never split; or from a list of what
        ``splitters.compile_splitter`` makes, each of which cuts the pieces of the one before it. Raises ValueError if
        an expression needs backtracking, too much memory, or something that the core does not know."""

    def split(self, data: Buffer) -> U64Array:
        """Return the end offset of every piece of one text, ascending, the last being its length."""

    def safe_cut(self, data: Buffer) -> int:
        """Return the last offset at which the text can be cut without changing any piece, whatever follows; 0 when
        there is none. Both sides then split as they would together."""

    @property
    def knows_cuts(self) -> bool:
        """Whether there are such offsets at all."""

@final
class Stages:
    """The compiled stages before the model: normalizers, then pre-tokenizers. Text that "goes on" (``continued``) was
    cut from what stands before it only to be handled apart: nothing is put before it, and it has no beginning to
    strip. ``first``: it begins a document."""

    def __init__(self, spec: str) -> None:
        """Compile the JSON ``{"normalizers": [...], "pre_tokenizers": [...]}`` of ``stages.core_spec``. Raises
        ValueError if a stage is unknown or cannot be; the sentence says why."""

    def normalize(
        self, data: Buffer, *, continued: bool = False, first: bool = True
    ) -> tuple[bytes, U32Array, U32Array]:
        """Return the normalized text, and for each of its bytes the start and end of the bytes of ``data`` that it
        stands for."""

    def pre_tokenize(
        self, data: Buffer, *, continued: bool = False, first: bool = True
    ) -> tuple[bytes, U64Array, U64Array, U64Array, U64Array]:
        """Normalize and cut one text. Gives the rewritten text; start and end of each piece in it; start and end in
        ``data`` of what each piece stands for."""

    def safe_cut(self, data: Buffer) -> int:
        """Return the last offset at which the text can be cut and each part handled by itself (the later one
        ``continued``), whatever follows; 0 when there is none."""

def charsmap(name: str) -> bytes:
    """Build the table of a named normalization, as ``Charsmap`` and ``Precompiled`` take it in base64.

    Args:
        name: ``identity`` (an empty table), ``nfkc``, ``nfkc_cf``, ``nmt_nfkc`` or ``nmt_nfkc_cf``.

    Raises:
        ValueError: There is none of this name.
    """

@final
class Encoder:
    """A compiled tokenizer: immutable but for caches, shared by threads.

    Made of stages and any model, or ``plain``: a byte-level BPE model for text that is only split. What takes stages
    (``sample``, ``spans``, ``nbest``) is a ValueError for a plain one, behind stages too. Encoding raises ValueError if
    the model has no token for a byte: (sentence, offset in ``data``); and MemoryError if there is none for the ids.
    """

    def __init__(
        self,
        stages: Stages,
        model: str,
        tokens: _Tokens,
        *,
        merges: Buffer | None = None,
        scores: Buffer | None = None,
        kinds: Buffer | None = None,
    ) -> None:
        """Compile a model behind stages. Raises ValueError if tables and model contradict each other.

        Args:
            model: JSON of ``stages.core_model``.
            merges: u32 triples (left, right, product) in order of priority; for ``Events`` its events, as
                ``replay_events`` takes them.
            scores: f64, one per id.
            kinds: u8, one per id: SentencePiece's types, 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused,
                6 byte; all normal if left out.
        """

    @staticmethod
    def plain(
        splitter: Splitter,
        tokens: _Tokens,
        *,
        prefix_space: bool,
        merges: Buffer | None,
        whole_pieces: bool,
        stages: Stages | None = None,
    ) -> Encoder:
        """Compile a byte-level BPE model behind a splitter. Without merges the lowest id of a concatenation wins; with
        ``whole_pieces`` a piece that is a token becomes that token before any merging. ``stages`` are normalizers and
        pre-tokenizers that cut as the splitter does: text that the normalizers may change goes through them."""

    @staticmethod
    def written(
        splitter: Splitter,
        tables: WrittenTables,
        *,
        prefix_space: bool,
        whole_pieces: bool,
        stages: Stages | None = None,
    ) -> Encoder:
        """Compile the model of what a document was read into, as ``plain`` does."""

    @staticmethod
    def embedded(sha256: str, splitter: Splitter, prefix_space: bool, stages: Stages | None = None) -> Encoder:
        """Use a rank table that is laid into this module, by the sha256 of its ``.tiktoken`` file. Raises KeyError if
        there is none with that sha256."""

    def clear_cache(self) -> None:
        """Give back the memory of caches, but for those of calls that run now, and what is kept for the next ids."""

    def safe_cut(self, data: Buffer) -> int:
        """Return the last offset at which the text can be cut and each part be encoded by itself (the later one
        ``continued``), whatever follows; 0 when there is none."""

    def cut_in_piece(self, data: Buffer) -> int:
        """Return an offset inside a piece, in a run of blanks or between two characters that no token holds side by
        side, at which the text can be cut so that ids stay the same; 0 when none is known. The text begins where a
        piece or a part of one does."""

    def encode(
        self, data: Buffer, ends: Buffer, matcher: SpecialMatcher | None, threads: int, continued: bool = False
    ) -> tuple[U32Array, U64Array]:
        """Encode the documents of a block: all ids, and where each document's ids end."""

    def encode_text(self, text: _Text, matcher: SpecialMatcher | None = None, threads: int = 1) -> list[int]:
        """Encode one text. Equal ids of several texts are the same objects."""

    def encode_texts(
        self, texts: Iterable[_Text], matcher: SpecialMatcher | None, threads: int
    ) -> tuple[U32Array, U64Array]:
        """Encode texts that lie apart: all ids, and where each one's end. The offset of an error is that in all texts,
        one after the other."""

    def count_texts(self, texts: Iterable[_Text], matcher: SpecialMatcher | None, threads: int) -> U64Array:
        """Count the tokens of texts that lie apart."""

    def sample(
        self, block: _Block, options: bytes, matcher: SpecialMatcher | None, threads: int
    ) -> tuple[U32Array, U64Array]:
        """Encode a block, varied. Options: ``encode::Variation``; nothing else decides what is drawn."""

    def encode_pieces(self, data: Buffer, ends: Buffer) -> U32Array:
        """Encode pieces that are cut already (for patterns the core has no scanner for); the encoder is plain."""

    def count(
        self, data: Buffer, ends: Buffer, matcher: SpecialMatcher | None, threads: int, continued: bool = False
    ) -> U64Array:
        """Count each document's tokens without storing ids."""

    def spans(
        self, data: Buffer, matcher: SpecialMatcher | None, continued: bool = False
    ) -> tuple[U32Array, U64Array, U64Array]:
        """Encode one document, or a part of one: ids, and the byte range of it that each stands for."""

    def token_places(self, ids: Buffer, special: _Specials) -> tuple[U64Array, U64Array]:
        """Return where the bytes of each id begin and end, one behind the other."""

    def token_objects(
        self,
        placed: tuple[Buffer, Buffer, Buffer, bytes],
        kind: tuple[type[_T], dict[int, bytes], Callable[[int], bytes]],
        text: Buffer,
    ) -> list[_T]:
        """Make an object of each token of a text, with the slots of ``tokenizer.Token``.

        Args:
            placed: Their ids, starts and ends in bytes, and for each whether it is special.
            kind: Their class; the bytes of tokens that are known by id; what gives those of one that is not.
            text: The text, in which bytes that are not UTF-8 have become something that is.
        """

    def nbest(self, piece: Buffer, n: int) -> list[tuple[U32Array, float]]:
        """Return the n best segmentations of one piece (after all stages) with their scores, best first."""

    def decode(self, ids: Buffer, special: _Specials) -> bytes:
        """Return the bytes of ids, one after the other; of overlapping n-grams, the first characters. Raises ValueError
        if an id has no token: (sentence, place among the ids)."""

    def decode_lists(self, lists: list[list[int]], special: _Specials, threads: int) -> list[str | bytes]:
        """Return the text of each of several lists of ids, or its bytes if they are not UTF-8. Raises ValueError as
        ``decode`` does, without a place; TypeError and
        OverflowError if they are anything but lists of ints of 32 bits."""

    def decode_each(self, ids: Buffer, ends: Buffer, special: _Specials) -> list[bytes]:
        """Return the bytes of each of several lists of ids, which end at ``ends`` (u64). Raises ValueError as
        ``decode`` does, with the place in the list, and if the ends contradict the ids."""

@final
class Decoder:
    """A compiled chain of decoders: immutable, shared by threads.

    It gives the bytes that Hugging Face's component of the same name gives the text of. Bytes that are
    no UTF-8 it keeps, where theirs puts U+FFFD; and without components tokens are joined with nothing.
    """

    def __init__(self, spec: str) -> None:
        """Compile a JSON list of components, each as ``stages.component_json.component`` gives it. Raises ValueError if
        a component is unknown or cannot be; the sentence says why."""

    def decode(self, ids: Buffer, tables: tuple[_Tokens, _Specials, Buffer | None]) -> bytes:
        """Return the bytes that the ids (u32) of one document read as.

        Args:
            tables: The vocabulary's tokens, as the decoders expect them; special tokens, for ids that the vocabulary
                has no token for; and a byte for each of these: 0, it reads as its bytes; 1, it is left out; 2, it is
                the unknown token, which ``SpaceMarks`` has a text for. The last counts for ids that are in the
                vocabulary as well; None: all are 0. What is not ``bytes`` or an array of the core is copied.

        Raises:
            ValueError: An id has no token: (sentence, place among the ids); there is not one byte for each
                special token; or an expression takes too long.
        """

    def last_cut(self, ids: Buffer, tables: tuple[_Tokens, _Specials, Buffer | None]) -> int:
        """Return the last place among the ids (u32) at which they can be cut: what is behind it, decoded behind the id
        before it, reads as in the whole once that one's own text is left out. 0 if there is none, or the decoders look
        further than one token back."""

@disjoint_base
class Tokenizer:
    """A tokenizer, as far as one text goes with which nothing special is to be done. Its subclass has ``_encode`` and
    ``_count``, which do all; who encodes, what is always looked for, and the stages that have to leave a text
    as it is, are known from ``_know`` on."""

    def __new__(cls, *_given: object, **_named: object) -> Self: ...
    def encode(
        self,
        text: _Text,
        *,
        add_special_tokens: bool = False,
        specials: Literal["all"] | Collection[str] = (),
        bos: str | int | None = None,
        eot: str | int | None = None,
        max_tokens: int | None = None,
        side: Literal["left", "right"] = "right",
        sampling: _Sampling | None = None,
        threads: int = 1,
    ) -> list[int]: ...
    def count(
        self,
        text: _Text,
        *,
        add_special_tokens: bool = False,
        specials: Literal["all"] | Collection[str] = (),
    ) -> int: ...
    def _know(self, encoder: Encoder, matcher: SpecialMatcher | None) -> None: ...

@disjoint_base
class KnownTexts:
    """What a decoder of a stream looks at before anything else: what single ids read as. Its subclass says who knows
    that, and about which ids (u32, ascending) the table is not asked; whether the next id may read alone, as no
    character is begun; and what becomes of all else: of ids (``_feed``) and of bytes (``_feed_bytes``). Nothing of it
    is pickled."""

    def __new__(cls, *_given: object, **_named: object) -> Self: ...
    def feed(self, ids: Iterable[int]) -> str:
        """Return the text that is certain after these ids.

        Raises:
            InputError: if an id has no token; if the bytes are not UTF-8 and errors are strict; or if the decoders
                change text that was already returned.
        """

    def _know(self, encoder: Encoder, others: Buffer) -> None: ...
    def _be_ready(self, ready: bool) -> None: ...

@final
class Codebook:
    """Words of a fixed width between two tags: what ``stages.Codebook`` says, compiled."""

    def __init__(
        self,
        opening: tuple[bytes, int],
        closing: tuple[bytes, int],
        unknown_id: int,
        width: int,
        fill: int,
        words: Sequence[tuple[bytes, int]],
    ) -> None:
        """Compile it; tags and words come with their ids. Raises ValueError if a tag is empty, the width is 0, or a
        word has another."""

@final
class SpecialMatcher:
    """Finds special and added tokens in text: leftmost, and among those the longest. The semantics are those of
    Hugging Face's added tokens. Tokens are looked for in two passes: in the text as it is, then, in each normalized
    stretch between those, the ones that are normalized too."""

    def __init__(
        self,
        contents: Sequence[bytes],
        ids: Sequence[int],
        flags: Buffer | None = None,
        stages: Stages | None = None,
        codebook: Codebook | None = None,
    ) -> None:
        """Compile what to look for; among equal contents the first counts.

        Args:
            contents: What stands for each token in text.
            ids: Their ids.
            flags: One byte for each, the sum of 1: it takes the whitespace before it along; 2: and that after it; 4:
                it is found only where no word character (``\\w``) stands beside it; 8: it is looked for in normalized
                text, its content being normalized. None: all are 0.
            stages: What normalizes text and contents; None if nothing does.
            codebook: What is looked for in the text that the first pass leaves; its words count as tokens.

        Raises:
            ValueError: A content is empty or cannot be normalized, or the lists differ in length.
        """

    def find(self, data: Buffer) -> tuple[int, int, int] | None:
        """Return (start, end, id) of the first occurrence, or None; those of a codebook do not count."""

    def find_all(self, data: Buffer) -> list[tuple[int, int, int]]:
        """Return (start, end, id) of all occurrences, in order. An occurrence of a token that begins with whitespace
        may begin inside the one before it, if that takes the whitespace after it along."""

    @property
    def looks_in_normalized(self) -> bool:
        """Whether a normalizer stands before some tokens: those are found by an ``Encoder`` of stages alone."""

    def stretches(self, data: Buffer) -> tuple[int, int]:
        """Return how long the longest stretch of text between occurrences is, and where the last one begins: what
        stands before some tokens' normalizer divides no text."""

    def moves_cut(self, data: Buffer, cut: int) -> int | None:
        """Return None if data, of which nothing before is open, can be cut; else before which offset to look for
        another cut: an occurrence that begins before ``cut`` may reach it (also past the end of data), text on both
        sides of the cut decides about one, or the cut lies in a codebook's stretch. In doubt it cannot."""

@final
class Counts:
    """How often each piece occurs: exact, u64, in order of first occurrence. The order, and so everything trained from
    it, does not depend on threads or blocks. Whatever adds pieces raises ``MemoryBoundError`` if the bound is passed;
    the sentence says by how many pieces."""

    def __init__(self, max_bytes: int) -> None:
        """Start empty; ``max_bytes`` bounds the memory of pieces and table together."""

    def add_block(
        self, block: _Block, splitter: Splitter, prefix_space: bool, matcher: SpecialMatcher | None, threads: int
    ) -> None:
        """Split the documents of a block and count their pieces; special tokens are not counted."""

    def add_staged(self, block: _Block, stages: Stages, matcher: SpecialMatcher | None, threads: int) -> None:
        """Send the documents of a block through stages and count the pieces that come out."""

    def add_pieces(self, data: Buffer, ends: Buffer, counts: Buffer | None = None) -> None:
        """Count pieces that are cut already; ``counts`` (u64) says how often each, default once."""

    def merge(self, other: Counts) -> None:
        """Add another's counts, its new pieces after this one's."""

    def add_marked(self, other: Counts, mark: Buffer) -> None:
        """Add another's counts with a mark before each piece."""

    def dump(self) -> bytes:
        """Serialise: for each piece a LEB128 length, a LEB128 count, the bytes."""

    @staticmethod
    def load(data: Buffer, max_bytes: int) -> Counts:
        """Read what ``dump`` wrote. Raises ValueError if data is cut, or a length lies, or a piece stands twice."""

    @staticmethod
    def packed(data: Buffer) -> Counts:
        """Read what ``dump`` wrote, of different pieces, without a table: counts to learn from, to which none can be
        added (ValueError). Memory: the data. Raises ValueError if data is cut."""

    def spill(self, first: int, write: Callable[[int, bytes], object]) -> None:
        """Hand all counts over as records, and forget them. ``write`` is called with the number of a partition and
        some of its records; what it raises ends the call, and the counts stay.

        Args:
            first: The number of the first record: how many pieces were handed over before.
        """

    @property
    def memory(self) -> int:
        """About how many bytes of memory they take."""

    def items(self, start: int, limit: int) -> list[tuple[bytes, int]]:
        """Return (piece, count) for some pieces, in order."""

    def pieces(self, prefix: Buffer | None = None) -> tuple[bytes, U64Array]:
        """Return all different pieces, one after the other, each with a prefix, and where each ends."""

    @property
    def unique(self) -> int: ...
    @property
    def total(self) -> int:
        """Number of pieces, repetitions counted."""

    @property
    def total_bytes(self) -> int:
        """Bytes of all pieces, repetitions counted."""

PARTITIONS: int
"""How many partitions spilled counts are divided into."""

@final
class NumberedCounts:
    """The records of one partition of spilled counts, added up."""

    def __init__(self, max_bytes: int) -> None:
        """Start empty; ``max_bytes`` bounds the memory of pieces and table together."""

    def add(self, records: Buffer) -> None:
        """Add records, in the order in which they were written. Raises MemoryBoundError if the bound is passed."""

    def write(self, write: Callable[[bytes], object]) -> None:
        """Hand over one record of each piece, some at a time."""

def merge_numbered(
    partitions: int, read: Callable[[int], bytes | None], write: Callable[[bytes], object]
) -> tuple[int, int]:
    """Put partitions that are added up together, in the order of the records' numbers.

    Args:
        partitions: How many.
        read: Gives the next records of a partition, as ``NumberedCounts.write`` gave them; None when there are no more.
        write: Takes what ``Counts.dump`` of all would give, some whole pieces at a time.

    Returns:
        Number of different pieces; number of pieces, repetitions counted.
    """

@final
class Tally:
    """What a tokenizer makes of one input, counted while it encodes, block by block. Words are stretches without white
    space (Unicode's White_Space). Sums are over documents that ended; no block size and no number of threads changes
    them."""

    def __init__(self, tokens: _Tokens, special: _Specials, unknown_ids: Buffer, byte_ids: Buffer) -> None:
        """Start empty. ``unknown_ids`` (u32) stand for what the vocabulary does not have, ``byte_ids`` (u32) for less
        than a character."""

    def fresh(self) -> Tally:
        """Return an empty tally of the same tokenizer, which shares its tables."""

    def encode(
        self, encoder: Encoder, block: _Block, matcher: SpecialMatcher | None, threads: int
    ) -> tuple[U32Array, U64Array] | None:
        """Encode a block and count what becomes of it. Raises as ``Encoder.encode``.

        A plain encoder's documents are decoded again on the way. That is right where no special token takes white
        space along, and where there are none if a space is put before texts.

        Returns:
            The ids, and where each document's ids end; None if whether they decode to it was seen on the way.
        """

    def add(
        self,
        block: _Block,
        ids: Buffer,
        id_ends: Buffer,
        spans: tuple[Buffer, Buffer] | None = None,
        *,
        prefix_space: bool = False,
    ) -> None:
        """Count a block that is encoded already: the ids (u32) of all documents, and where each document's end (u64).

        Args:
            spans: Where in the block begins what each id stands for, and where it ends (u64); None: ids are the text's
                bytes, one token after the other.
            prefix_space: Without spans: whether a space was put before documents that begin with none.

        Raises:
            ValueError: The lists contradict each other.
        """

    def merge(self, other: Tally) -> None:
        """Add what another tally of the same tokenizer counted."""

    def dump(self) -> bytes:
        """Serialise what was counted of documents that ended."""

    def load(self, data: Buffer) -> Tally:
        """Return a tally of the same tokenizer with what ``dump`` wrote; this one stays as it is.

        Raises:
            ValueError: The data is cut or damaged.
        """

    def take_ended(self) -> U64Array:
        """Return the number of tokens of each document that ended since this was called last."""

    def single_tokens(self, ids: Buffer, id_ends: Buffer) -> int:
        """Count the documents that are one token, and not an unknown one. Nothing is added."""

    @property
    def counts(self) -> U64Array:
        """How often each id of the vocabulary occurred, by id; special ids behind it are left out."""

    @property
    def tokens(self) -> int: ...
    @property
    def vocab_size(self) -> int:
        """How many ids have a token, special ones included."""

    @property
    def used_ids(self) -> int: ...
    @property
    def unknown_tokens(self) -> int: ...
    @property
    def byte_tokens(self) -> int: ...
    @property
    def words(self) -> int: ...
    @property
    def split_words(self) -> int:
        """Words that more than one token has a part of."""

    @property
    def unknown_bytes(self) -> int:
        """Bytes of the text that unknown tokens stand for."""

    @property
    def checked_documents(self) -> int:
        """Documents that were decoded again on the way; ``failed_documents``: those of them that did not come back."""

    @property
    def failed_documents(self) -> int: ...
    @property
    def mean_bytes_per_token(self) -> float | None:
        """The mean over documents with tokens of each one's bytes per token."""

    @property
    def shannon_entropy(self) -> float | None:
        """Of the ids' frequencies, in bits; ``renyi_entropy``: Rényi's of order 2.5. Both None without tokens."""

    @property
    def renyi_entropy(self) -> float | None: ...
    @property
    def coverage_rank(self) -> int | None:
        """How many of the most frequent ids make up 95 of 100 tokens; None without tokens."""

def joined_failures(
    encoder: Encoder, block: _Block, ids: Buffer, id_ends: Buffer, special: _Specials, threads: int
) -> U64Array:
    """Return the numbers of the documents that ``Encoder.decode`` does not give back from their ids."""

def chain_failures(
    decoder: Decoder,
    block: _Block,
    ids: Buffer,
    id_ends: Buffer,
    tables: tuple[_Tokens, _Specials, Buffer | None],
    threads: int,
) -> U64Array:
    """Return the numbers of the documents that ``Decoder.decode``, with these tables, does not give back."""

@final
class Units:
    """Counts of tokens by document, or by batches of neighbouring documents when there are many. Which documents a
    unit has depends on their number alone: units of several tokenizers are paired."""

    def __init__(self, most: int) -> None:
        """Start empty; there are never more units than ``most``."""

    def extend(self, counts: Buffer) -> None:
        """Add documents by their numbers of tokens (u64)."""

    @property
    def counts(self) -> U64Array: ...
    @property
    def unit_documents(self) -> int:
        """How many documents a unit has, a power of two; the last one may have fewer."""

def bootstrap_interval(
    first: Buffer, second: Buffer, resamples: int, seed: int, threads: int
) -> tuple[float, float] | None:
    """Return the 95% percentile interval of the ratio of sums over resampled pairs of units (u64). None without units,
    and where a resample has nothing of the second. Raises ValueError if the lists differ in length, or there are fewer
    than 39 resamples."""

def sign_flip(first: Buffer, second: Buffer, resamples: int, seed: int, threads: int) -> float:
    """Return the probability of a difference of sums as large, to either side, if chance decided in each unit (u64)
    which count is whose. Raises ValueError if the lists differ in length."""

def character_counts(counts: Counts) -> list[tuple[str, int, bool, bool]]:
    """Return the characters of the pieces, the most frequent first, equals by code point. Each with its count, whether
    a piece begins with it, and whether it stands behind the beginning of one. Bytes that are no part of UTF-8 are left
    out."""

def most_frequent(counts: Counts, min_frequency: int, limit: int | None) -> list[tuple[bytes, int]]:
    """Return the pieces that occur often enough, the most frequent first, of equals that of lower bytes. No more than
    ``limit``, unless it is None."""

def most_frequent_words(counts: Counts, characters: str, limit: int) -> list[tuple[str, int]]:
    """Return the words that are spelt with these characters alone, the most frequent first. Of equals that of lower
    bytes comes first. Bytes that are no part of UTF-8 count as U+FFFD."""

def count_ngrams(counts: Counts, n: int, max_bytes: int) -> Counts:
    """Count the n-grams of characters of pieces, one beginning at each character; at the end of a piece stand the
    shorter ones that are left.

    Raises:
        MemoryBoundError: Their counts take more than ``max_bytes``.
        ValueError: ``n`` is 0.
    """

@final
class BpeTraining:
    """Merges that were learnt. Ids: the initial tokens in the order given, then one per new product."""

    @property
    def merges(self) -> U32Array:
        """(left, right, product) triples in order."""

    @property
    def counts(self) -> U64Array:
        """How often each merge's pair occurred when it was chosen."""

    def tokens(self) -> tuple[bytes, U32Array]:
        """Return all tokens, initial and new: their bytes, and where each ends."""

    @property
    def exhausted(self) -> bool:
        """Whether training stopped because no pair was left that is frequent enough."""

def train_bpe(counts: Counts, options: bytes, progress: _Progress | None = None) -> BpeTraining:
    """Learn merges from counts; progress in tokens. Options: ``trainers::bpe::Options``."""

def train_superwords(
    counts: Counts, options: bytes, threads: int, progress: _Progress | None = None
) -> tuple[BpeTraining, int, int]:
    """Learn merges inside words, and then across the spaces between them, from counts of both, which marks tell apart.
    Progress in tokens. Options: ``trainers::bpe::superwords::SuperwordOptions``.

    Returns the merges of both stages, how many the first one made, and how many of these the second took over, which
    are those that it has a place for. Without ``max_merges`` the number of the first stage is found.
    """

def train_parity(
    counts: Counts, options: bytes, threads: int, progress: _Progress | None = None
) -> tuple[BpeTraining, U32Array]:
    """Learn merges from counts of several languages and of their development sets, which marks tell apart: the language
    that is compressed worst chooses each merge. Progress in tokens. Options: ``trainers::bpe::parity::ParityOptions``.

    Returns the merges, those given beforehand first, with how often each pair stood in all languages (0 for the given);
    and for each the number of the language that chose it, 2**32 - 1 for none.

    Raises:
        ValueError: All languages have chosen too often for the window.
    """

def resume_bpe(
    ids: Buffer, ends: Buffer, counts: Buffer, options: bytes, progress: _Progress | None = None
) -> BpeTraining:
    """Learn further merges from pieces that are segmented already: their tokens (u32), where each piece's end (u64),
    and how often each piece occurs (u64). An initial token that is empty divides its piece: no merge takes it. Raises
    ValueError if the arrays contradict each other, an id has no token, or a token stands twice."""

def train_by_likelihood(counts: Counts, options: bytes, progress: _Progress | None = None) -> BpeTraining:
    """Learn merges from counts of words: the pair with the highest count(pair) / (count(left) * count(right)).
    Progress in tokens. Options: ``trainers::likelihood::Options``."""

def train_top_down(counts: Counts, options: bytes, progress: _Progress | None = None) -> tuple[bytes, U32Array, int]:
    """Learn a vocabulary from counts of words by a threshold on how often a token occurs.

    Progress in (thresholds tried, the same). Options: ``trainers::top_down::Options``. Returns all tokens (reserved,
    characters, others by falling count): their bytes and where each ends; and the threshold, 0 if there was nothing to
    learn from. If no threshold gives ``vocab_size`` tokens or up to 5% fewer, the last one tried counts.
    """

def train_scored_pairs(
    counts: Counts, options: bytes, progress: _Progress | None = None
) -> tuple[list[str], U64Array, bool]:
    """Learn merges of characters by SentencePiece's rules; progress in merges. Options:
    ``trainers::scored_pairs::Options``. Returns the texts that were made, in order; how often each was merged; whether
    no pair was left."""

@final
class UnigramTraining:
    """A unigram model that was learnt."""

    def tokens(self) -> tuple[bytes, U32Array]:
        """Return all tokens, best first (by ``textbook``: characters first): their bytes, and where each ends."""

    @property
    def scores(self) -> list[float]:
        """Natural logarithms of their probabilities."""

    @property
    def characters(self) -> int:
        """How many tokens are characters that had to be there."""

    @property
    def seeds(self) -> int:
        """With how many substrings training began."""

    @property
    def short(self) -> str | None:
        """The first step that left fewer tokens than asked for: ``seeds``, ``expectation`` or ``pruning``."""

    def rounds(self) -> list[tuple[str, list[tuple[bytes, float]]]]:
        """Return the tokens with their scores after each step, by its name, if they were recorded."""

def train_unigram(counts: Counts, options: bytes, progress: _Progress | None = None) -> UnigramTraining:
    """Learn a unigram model from counts; progress in rounds. Options: ``{"em": trainers::unigram::Options}`` or
    ``{"textbook": trainers::unigram::Textbook}``. Raises ValueError if the options contradict the text or each other;
    the sentence says how."""

@final
class MinGramTraining:
    """A vocabulary for the fewest tokens that was learnt."""

    def tokens(self) -> tuple[bytes, U32Array]:
        """Return all tokens in visible characters, initial ones and then the most used: their bytes, and where each
        ends."""

    @property
    def scores(self) -> list[float]:
        """Their scores, whole numbers: 10^12 * (delta * ln(p) - 1), where p is a token's share of all uses."""

    @property
    def uses(self) -> U64Array:
        """How often each of them is used."""

    @property
    def seeds(self) -> int:
        """With how many tokens training began."""

    @property
    def exhausted(self) -> bool:
        """Whether byte-pair encoding found no pair for more tokens to begin with."""

def train_mingram(counts: Counts, options: bytes, progress: _Progress | None = None) -> MinGramTraining:
    """Learn tokens with which pieces are as few of them as possible; progress in tokens to begin with. Options:
    ``trainers::mingram::Options``. Raises ValueError if the options contradict the text or each other, or a
    piece has a byte that no initial token is."""

@final
class GreedTokTraining:
    """Tokens that cover words."""

    def tokens(self) -> tuple[bytes, U32Array]:
        """Return the tokens in the order chosen: their bytes, and where each ends."""

    @property
    def scores(self) -> U64Array:
        """How many pieces fewer the words had by each of them."""

    @property
    def candidates(self) -> int:
        """How many candidates there were."""

def train_greedtok(counts: Counts, options: bytes, progress: _Progress | None = None) -> GreedTokTraining:
    """Choose the tokens that cover most of the words; progress in tokens. Options: ``trainers::greedtok::Options``.
    Raises ValueError if the corpus is too large, MemoryBoundError if the candidates take more memory than they may."""

@final
class PickyTraining:
    """Merges that were learnt, with tokens that were taken back."""

    @property
    def events(self) -> U32Array:
        """In order: (left, right, product) of each merge, or (token, 2^32 - 1, 2^32 - 1) of one that is taken back."""

    def tokens(self) -> tuple[bytes, U32Array]:
        """Return all tokens, initial ones, products and then those that were taken back: their bytes, and where each
        ends."""

    @property
    def present(self) -> int:
        """How many of them were not taken back."""

    @property
    def uses(self) -> U64Array:
        """How often each of these stands in the corpus in the end."""

    @property
    def exhausted(self) -> bool:
        """Whether no pair was left that is frequent enough."""

def train_picky(counts: Counts, options: bytes, progress: _Progress | None = None) -> PickyTraining:
    """Learn merges of characters from counts of words, and take a token back once most of its occurrences have become
    parts of another; progress in tokens. Options: ``trainers::picky::Options``. Raises ValueError if the options
    contradict each other, or the corpus is too large."""

@final
class MaxMatchTraining:
    """Dictionaries that were learnt."""

    @property
    def lines(self) -> int:
        """Number of different lines."""

    @property
    def rounds(self) -> list[tuple[int, float, int]]:
        """For each round: how many different pairs there were, what a pair's count had to pass to be joined, and at
        how many places pairs were joined."""

    def characters(self) -> list[tuple[bytes, int]]:
        """Return all characters with their counts in the different lines, but whitespace that was removed: most
        frequent first, of equals the one of lower bytes."""

    def dictionaries(self) -> list[list[tuple[bytes, int]]]:
        """Return for each round the most frequent pairs as words with their counts, falling; of equals the one that
        comes first in the sorted lines."""

def train_max_match(
    counts: Counts, options: bytes, threads: int, progress: _Progress | None = None
) -> MaxMatchTraining:
    """Learn dictionaries from lines (a piece may hold several) by joining neighbours in rounds, which progress counts.
    Options: ``trainers::joining::Options``. Raises ValueError if there is no factor, or a number is out of range."""

@final
class WrittenMerges:
    """Tokens with their ids, and merges of two of them, as a file has them."""

    @staticmethod
    def cut(document: Buffer, outer: str, tokens: str, merges: str) -> tuple[WrittenMerges, bytes] | None:
        """Cut both out of a document ``{outer: {tokens: {text: id}, merges: ["a b" or ["a", "b"]]}}``, and give what is
        left, with null in their places. The rest is not checked. None if anything in them is unusual: not JSON, a token
        twice, an id twice or not below ``MAX_TOKENS``, a merge of what is not a token, or merges that stand before the
        tokens.
        """

    @staticmethod
    def listed(tokens: Buffer, merges: Buffer, big_endian: bool, absent: list[int]) -> WrittenMerges | None:
        """Take counted texts: tokens and merges. The ids of the tokens count up from 0, and a merge is written ``a b``.

        An empty text is not a token, and neither is the text of an id in ``absent``, which ascend. Return None if
        anything is unusual: bytes behind the texts, a token twice or not UTF-8, or a merge that is not two tokens with
        one space between.
        """

    def among(self, texts: list[str], ids: list[int]) -> dict[str, int]:
        """Return the tokens that have one of these texts or ids."""

    def tables(self, prefix: str, left_out: list[int], visible: bool) -> WrittenTables | None:
        """Make tables: the tokens by id, and the merges.

        The right part of a merge loses ``prefix`` in the product. Ids to be left out stay where a merge makes or uses
        them. If ``visible``, a character stands for a byte as in GPT-2's alphabet, and such a token is never left out.
        None if a product is not a token, a merge stands twice, or a character stands for no byte.
        """

@final
class WrittenTables:
    """Tokens and merges as tables; from them an encoder is made without another look at each."""

    def tokens(self) -> tuple[bytes, U32Array]:
        """Return blob and ends of the tokens by id."""

    def merges(self) -> U32Array:
        """Return (left, right, product) of each merge."""

def pass_counted(data: Buffer, place: int, count: int, big_endian: bool) -> tuple[int, int]:
    """Go past texts, each behind the number of its bytes (u64), that begin at a place.

    Return how many of ``count`` are whole, and the place behind them.
    """

def counted_texts(data: Buffer, big_endian: bool) -> list[bytes]:
    """Return the whole texts, each behind the number of its bytes (u64), that data begins with."""

def is_plain_json(document: Buffer) -> bool:
    """Return whether a document is JSON in at most 64 brackets, with no number of more than 100 characters or with an
    exponent of three digits. Integers may be of any value."""

def end_without_memory(message: bytes, status: int) -> None:
    """Have the process write a message to stderr and end with a status where the core is refused memory that it takes
    for granted, and would abort the process. The first call counts. Nothing changes on other systems than Unix.
    """

def pack_numbers(ids: Buffer, ends: Buffer, eot: int | None, narrow: bool, base: int = 0) -> bytes:
    """Pack ids (u32) as little-endian numbers of 2 bytes (``narrow``) or 4.

    Args:
        ends: Where rows end (u64, ascending, at most the number of ids); behind each stands ``eot``.
        eot: The number behind rows; None for none.
        base: How much higher the ends are than the places of the ids.

    Raises:
        ValueError: A number is too large for 2 bytes, or the ends descend or run beyond the ids.
    """

def widen_numbers(data: Buffer) -> U32Array:
    """Read little-endian numbers of two bytes; a last odd byte is left out."""

def write_rows(
    ids: Buffer,
    ends: Buffer,
    style: tuple[bytes, bytes, bytes],
    *,
    continued: bool = False,
    begun: bool = False,
    unfinished: bool = False,
) -> tuple[bytes, bool]:
    """Write rows of numbers (u32) in decimal; ``ends``: where each row ends (u64, ascending, to the number of ids).

    Args:
        style: What a row begins with, the one byte between two numbers, and what a row ends with.
        continued: The first row was begun before; ``begun``: it has a number already.
        unfinished: The last row goes on later.

    Returns:
        The text, and ``begun`` for the row that goes on.

    Raises:
        ValueError: The ends are not as they must be, or not one byte is between two numbers.
    """

def write_counts(counts: Buffer, carried: int, unfinished: bool) -> tuple[bytes, int, int]:
    """Write counts (u64) in decimal, a line each. The first has ``carried`` added; with ``unfinished`` the last is not
    written. Gives the lines, the sum of the counts, and what the first of the next counts has to carry."""

def usable_documents(block: _Block, first: int, end: int, longest: int, reserved: bytes) -> tuple[bytes, U64Array]:
    """Copy those of some documents of a block that are not empty, have at most ``longest`` bytes, and have no reserved
    text in them. Gives their bytes, and where each ends.

    Args:
        block: The block.
        first: The number of the first document.
        end: The number of the one behind the last.
        longest: The most bytes.
        reserved: The text, which is not empty.
    """

def line_ends(block: _Block) -> U64Array:
    r"""Find where each line of a block's documents ends (u64), its ``\n`` being a part of it."""

def without_line_ends(text: Buffer, offset: int) -> tuple[bytes, U64Array]:
    r"""Take the ends of lines, ``\n`` or ``\r\n``, out of a text. Gives the text without them, and where each line
    that has one then ends (u64), ``offset`` added."""

@final
class JsonTexts:
    """A field of each line of JSON, as documents that are held until they are taken. One thread at a time uses it."""

    def __init__(self, field: bytes) -> None:
        """Begin without documents. A field with dots is a path into objects, unless a line has a key that is spelt
        so."""

    def __len__(self) -> int:
        """How many bytes the documents have."""

    def read(self, data: Buffer, start: int, end: int) -> tuple[int, int]:
        """Read the lines between two offsets, the last of which need not have an end; blank ones are skipped.

        Gives where it stopped, and how many lines were read: at the end, or where a line begins that is not plainly
        right, for the caller to look at: no JSON, no UTF-8, without the field or with it twice, or unusual."""

    def add(self, text: Buffer) -> None:
        """Add a document."""

    def take(self, offset: int) -> tuple[U8Array, U64Array]:
        """Give the documents, one after the other, and where each ends (u64), ``offset`` added. There are none then."""

def embedded_tokens(sha256: str) -> tuple[bytes, U32Array]:
    """Return blob and ends of a rank table that is laid into this module."""

def embedded_among(sha256: str, token_ids: list[int]) -> list[int]:
    """Return those of some ids that tokens of such a table have."""

def embedded_tables() -> list[str]:
    """Return the sha256 of each rank table that is laid into this module."""

def replay_events(tokens: _Tokens, events: Buffer, *, byte_level: bool) -> tuple[U32Array, U32Array, U32Array]:
    """Replay events: u32 triples (left, right, product) for a merge, or (token, 2^32 - 1, 2^32 - 1) for a split.
    Symbols are characters, or bytes. Gives the parts of all splits (ids), where each split's end, and the ids of
    tokens that are split at last. Raises ValueError at the first event that cannot be, counted from 1."""

def recover_merges(blob: Buffer, ends: Buffer) -> tuple[U32Array, U32Array]:
    """Turn ranks into merges: for each token in order of id, the two parts that merging with lower ids leaves. Gives
    (left, right, product) triples, and the ids of multi-byte tokens for which that leaves more or fewer than two parts
    (no merge reaches them)."""
