"""tiktoken's interface on our core: ``from bpe_cli.compat import tiktoken`` instead of ``import tiktoken``.

Names, signatures, results, errors and their messages are those of tiktoken 0.14; the tests compare them. It needs no
network: the published encodings are built in. Three things differ. Plugins (``tiktoken_ext``) are not looked up. A
regular expression that does not compile raises a ``ValueError`` with our own message. And where tiktoken panics (two
tokens with the same id, a byte without a token), a ``ValueError`` says why.

Length: one class, as tiktoken has it, and what its compiled half says of wrong arguments.
"""

from __future__ import annotations

import operator
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from bpe_cli import _core
from bpe_cli.compat.patterns import LEFT_TO_THEIRS, as_theirs
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.stages import RankBpe, SpecialToken, Split
from bpe_cli.stages.patterns import scanner_for
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.support.cached import cached_property
from bpe_cli.support.lazy_modules import numpy_to
from bpe_cli.support.ordered_threads import usable_threads
from bpe_cli.tokenizer import Tokenizer, named_encodings

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from regex import Pattern

    from bpe_cli.tokenizer.encoded import EncodedBatch
    from bpe_cli.tokenizer.engine.compiled import Engine

__all__ = ["Encoding", "encoding_for_model", "encoding_name_for_model", "get_encoding", "list_encoding_names"]

__version__ = "0.14.0"
"""Of the tiktoken whose interface this is."""

_R50K = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
_SPELT = {"gpt2": _R50K}
"""Patterns as tiktoken writes them, where that differs from ``PATTERNS``."""

_ALSO_READ = {"o200k_harmony": {"<|reserved_200018|>": 200018}}
"""Special tokens that tiktoken reads, and never writes."""


class Encoding:
    """An encoding, with tiktoken's methods.

    >>> enc = get_encoding("gpt2")
    >>> enc.encode("hello world"), enc.decode([31373, 995])
    ([31373, 995], 'hello world')
    >>> enc.encode("<|endoftext|>", allowed_special="all")
    [50256]
    """

    name: str
    max_token_value: int
    _pat_str: str
    _special_tokens: dict[str, int]
    _tokenizer: Tokenizer

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        """Make an encoding.

        Args:
            name: Its name.
            pat_str: The regular expression that splits text.
            mergeable_ranks: The rank of each token, which is its id.
            special_tokens: The id of each special token.
            explicit_n_vocab: The expected number of tokens, if it should be checked.

        Raises:
            ValueError: if the pattern does not compile, or two tokens share an id.
            AssertionError: if the number of tokens differs from the expected one.
            TypeError: if an argument has the wrong type.
        """
        max_token_value = max(max(mergeable_ranks.values()), max(special_tokens.values(), default=0))
        if explicit_n_vocab:
            _affirm(len(mergeable_ranks) + len(special_tokens) == explicit_n_vocab)
            _affirm(max_token_value == explicit_n_vocab - 1)
        if not isinstance(pat_str, str):
            raise _not_an(pat_str, "str")
        for token in mergeable_ranks:
            if not isinstance(token, bytes):
                raise (
                    TypeError("Can't extract `str` to `Vec`") if isinstance(token, str) else _not_an(token, "Sequence")
                )
        for rank in (*mergeable_ranks.values(), *special_tokens.values()):
            _u32(rank)
        for text in special_tokens:
            if not isinstance(text, str):
                raise _not_an(text, "str")
        try:
            # What no piece covers is dropped by tiktoken; the patterns that have a scanner cover all.
            covers = scanner_for(pat_str) is not None
            split = Split(pat_str) if covers else Split(as_theirs(pat_str), behavior="Removed", invert=True)
            tokenizer = Tokenizer(RankBpe(Vocabulary.from_ids(mergeable_ranks)), (split,), name=name)
            tokenizer.encode_block(Block.of([]))  # compiles it
        except (FormatError, UsageError, ValueError) as error:
            raise ValueError(str(error).replace(LEFT_TO_THEIRS, "", 1)) from error
        self._set(name, pat_str, special_tokens, max_token_value, tokenizer)
        self.__dict__["_mergeable_ranks"] = mergeable_ranks

    def _set(
        self, name: str, pat_str: str, special_tokens: dict[str, int], max_token_value: int, tokenizer: Tokenizer
    ) -> None:
        self.name = name
        self.max_token_value = max_token_value
        self._pat_str = pat_str
        self._special_tokens = special_tokens
        self._tokenizer = tokenizer
        self._special_token_values = set(special_tokens.values())

    @classmethod
    def _published(cls, name: str) -> Encoding:
        """Return a built-in encoding; its table becomes Python objects only when it is asked for."""
        known = named_encodings.ENCODINGS[name]
        special_tokens = {**known.special_tokens, **_ALSO_READ.get(name, {})}
        tokenizer = named_encodings.named(name)
        self = cls.__new__(cls)
        pattern = _SPELT.get(known.pattern) or tokenizer.patterns[0]
        highest = max(tokenizer.model.vocabulary.size - 1, *special_tokens.values())
        self._set(name, pattern, special_tokens, highest, tokenizer)
        return self

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        return {token: rank for rank, token in self._tokenizer.model.vocabulary.items()}

    # -- text to ids ---------------------------------------------------------------------------

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of a text, with special tokens treated as plain text."""
        return self._ids(_utf8(text), None)

    def encode(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = frozenset(),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> list[int]:
        """Return the ids of a text; a special token in it is an error, unless it is allowed or the check is off.

        Args:
            text: The text.
            allowed_special: The special tokens to recognize in it.
            disallowed_special: The special tokens that are an error; those in neither set are plain text.

        Raises:
            ValueError: if the text contains a disallowed special token.
        """
        if disallowed_special == "all" and allowed_special == _NONE and type(text) is str and self._usual is not None:
            try:  # what most callers do: nothing is allowed, and nothing disallowed is there
                data = text.encode()
            except UnicodeEncodeError:
                pass
            else:
                if self._usual.find(data) is None:
                    return self._ids(data, None)
        return self._ids(*self._checked(text, allowed_special, disallowed_special))

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = frozenset(),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> npt.NDArray[np.uint32]:
        """Return the ids as ``encode`` does, but as a NumPy array; a lone surrogate is an error here."""
        numpy = numpy_to("make NumPy arrays")
        data, matcher = self._checked(text, allowed_special, disallowed_special, strict=True)
        ids: npt.NDArray[np.uint32] = numpy.frombuffer(self._batch([data], matcher).ids, dtype=numpy.uint32)
        return ids

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int | None = 8) -> list[list[int]]:
        """Return the ids of several texts as ``encode_ordinary`` does, using several threads."""
        threads = _threads(num_threads)
        return self._batch([_utf8(each) for each in text], None, threads).to_lists()

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int | None = 8,
        allowed_special: Literal["all"] | AbstractSet[str] = frozenset(),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> list[list[int]]:
        """Return the ids of several texts as ``encode`` does, using several threads."""
        allowed, disallowed = self._meant(allowed_special, disallowed_special)
        disallowed = disallowed if isinstance(disallowed, frozenset) else frozenset(disallowed)
        threads = _threads(num_threads)
        documents = []
        for each in text:
            self._refuse(each, disallowed)
            documents.append(_utf8(each))
        return self._batch(documents, self._matcher(allowed), threads).to_lists()

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Literal["all"] | AbstractSet[str] = frozenset(),
        disallowed_special: Literal["all"] | Collection[str] = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """Return the ids that stay whatever follows, and the possible ids of the rest, in any order, as in tiktoken."""
        allowed, disallowed = self._meant(allowed_special, disallowed_special)
        if disallowed:
            self._refuse(text, disallowed)
        from bpe_cli.compat.unstable import unstable

        return unstable(self, _utf8(text, strict=True), self._matcher(allowed))

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of a token, which may be special.

        Raises:
            KeyError: if the text is not a token.
        """
        token = text_or_bytes.encode("utf-8") if isinstance(text_or_bytes, str) else text_or_bytes
        if not isinstance(token, bytes):
            raise _not_an(token, "bytes")
        known = self.__dict__.get("_mergeable_ranks")
        token_id = self._tokenizer.model.vocabulary.id_of(token) if known is None else known.get(token)
        if token_id is None:
            token_id = self._special_tokens.get(token.decode("utf-8", "surrogateescape"))
        if token_id is None:
            raise KeyError(token)
        return int(token_id)

    # -- ids to text ---------------------------------------------------------------------------

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Return the bytes that ids stand for.

        Raises:
            KeyError: if an id has no token.
        """
        try:
            return self._decode(array("I", tokens) if type(tokens) is list else _packed(tokens))
        except (TypeError, OverflowError, ValueError):
            self._refuse_ids(tokens)
            raise

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Return the text that ids stand for; ``errors`` is as for ``bytes.decode``."""
        try:  # as in ``decode_bytes``, which to call takes a tenth of the time that a line takes
            data = self._decode(array("I", tokens) if type(tokens) is list else _packed(tokens))
        except (TypeError, OverflowError, ValueError):
            self._refuse_ids(tokens)
            raise
        return data.decode("utf-8", errors)

    def _refuse_ids(self, tokens: Sequence[int]) -> None:
        """Raise an error for the id that has no token, or is not an id."""
        for token in _packed(tokens):
            if self._content(token) is None:
                raise KeyError(f"Invalid token for decoding: {token}") from None

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of a token, which may be special.

        Raises:
            KeyError: if no token has this id.
        """
        content = self._content(_u32(token))
        if content is None:
            raise KeyError(str(token))
        return content

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Return the bytes of each token."""
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Return the text that ids stand for, and the offset of the character in which each token begins.

        Raises:
            UnicodeDecodeError: if their bytes are not UTF-8.
        """
        contents = self.decode_tokens_bytes(tokens)
        length, offsets = 0, []
        for content in contents:
            offsets.append(max(0, length - (0x80 <= content[0] < 0xC0)))
            length += sum(not 0x80 <= each < 0xC0 for each in content)
        return b"".join(contents).decode("utf-8", errors="strict"), offsets

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int | None = 8
    ) -> list[str]:
        """Return the text of each list of ids."""
        _threads(num_threads)
        return [self.decode(tokens, errors=errors) for tokens in batch]

    def decode_bytes_batch(self, batch: Sequence[Sequence[int]], *, num_threads: int | None = 8) -> list[bytes]:
        """Return the bytes of each list of ids."""
        _threads(num_threads)
        return [self.decode_bytes(tokens) for tokens in batch]

    # -- tokens --------------------------------------------------------------------------------

    def token_byte_values(self) -> list[bytes]:
        """Return the bytes of all ordinary tokens, sorted."""
        return [*self._sorted_tokens]

    @property
    def eot_token(self) -> int:
        """The id of ``<|endoftext|>``."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The texts of the special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Return whether an id belongs to a special token."""
        _affirm(isinstance(token, int))
        return token in self._special_token_values

    @property
    def n_vocab(self) -> int:
        """The highest id plus one."""
        return self.max_token_value + 1

    # -- what programs use all the same ----------------------------------------------------------

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        piece = text_or_bytes.encode("utf-8") if isinstance(text_or_bytes, str) else text_or_bytes
        try:
            return self._unsplit.encode(piece)
        except InputError as error:
            raise ValueError(str(error)) from error

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        return self.encode_ordinary(text)

    def _encode_bytes(self, text: bytes) -> list[int]:
        if not isinstance(text, bytes):
            raise _not_an(text, "bytes")
        from bpe_cli.compat.unstable import encode_bytes

        return encode_bytes(self, text)

    def __getstate__(self) -> object:
        if self is _ENCODINGS.get(self.name):
            return self.name
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": self._mergeable_ranks,
            "special_tokens": self._special_tokens,
        }

    def __setstate__(self, value: object) -> None:
        if isinstance(value, str):
            self.__dict__ = get_encoding(value).__dict__
        elif isinstance(value, dict):
            Encoding.__init__(self, **value)

    # -- how ---------------------------------------------------------------------------------

    @cached_property
    def _sorted_tokens(self) -> list[bytes]:
        return sorted(self._mergeable_ranks)

    @cached_property
    def _unsplit(self) -> Tokenizer:
        """The tokenizer that encodes a single piece."""
        return Tokenizer(self._tokenizer.model)

    @cached_property
    def _decoder(self) -> Tokenizer:
        """The tokenizer with the special tokens; of those that share an id the first, and ordinary ones go before."""
        if self._tokenizer.special_tokens:  # a published one
            return self._tokenizer
        ranks = set(self._mergeable_ranks.values())
        tokens = {number: text for text, number in reversed(self._special_tokens.items()) if number not in ranks}
        special = (SpecialToken(text.encode(), number) for number, text in sorted(tokens.items()) if text)
        return Tokenizer(self._tokenizer.model, special_tokens=tuple(special))

    @cached_property
    def _engine(self) -> Engine:
        return self._tokenizer.engine

    @cached_property
    def _decode(self) -> Callable[[array[int]], bytes]:
        return self._decoder.engine.decode

    @cached_property
    def _usual(self) -> _core.SpecialMatcher | None:
        """The matcher of special tokens, all of which are disallowed unless a caller says otherwise."""
        names = frozenset(self._special_tokens)
        return _finder(names) if names and "" not in names else None

    def _content(self, token: int) -> bytes | None:
        try:
            return self._decoder.token_bytes(token)
        except InputError:
            return None

    def _meant(self, allowed: Any, disallowed: Any) -> tuple[Any, Any]:
        if isinstance(allowed, str) and allowed == "all":
            allowed = self.special_tokens_set
        if isinstance(disallowed, str) and disallowed == "all":
            disallowed = self.special_tokens_set - allowed
        return allowed, disallowed

    def _checked(
        self, text: str, allowed: Any, disallowed: Any, *, strict: bool = False
    ) -> tuple[bytes, _core.SpecialMatcher | None]:
        """Refuse what is disallowed in a text; return its bytes, and what finds what is allowed."""
        allowed, disallowed = self._meant(allowed, disallowed)
        if disallowed:
            self._refuse(text, disallowed)
        return _utf8(text, strict=strict), self._matcher(allowed)

    def _refuse(self, text: Any, disallowed: Iterable[Any]) -> None:
        """Raise an error for a disallowed special token in a text."""
        names = disallowed if isinstance(disallowed, frozenset) else frozenset(disallowed)
        usual = isinstance(text, str) and "" not in names and all(isinstance(name, str) for name in names)
        if usual and (not names or _finder(names).find(text.encode("utf-8", "surrogatepass")) is None):
            return
        match = _expression(names).search(text)
        if match:
            _raise_disallowed(match.group())

    def _matcher(self, allowed: Any) -> _core.SpecialMatcher | None:
        if not isinstance(allowed, (set, frozenset)):
            raise _not_an(allowed, "set")
        for name in allowed:
            if not isinstance(name, str):
                raise _not_an(name, "str")
        return self._compiled(allowed) if allowed else None

    def _compiled(self, allowed: AbstractSet[str]) -> _core.SpecialMatcher | None:
        key = frozenset(allowed)
        if key not in self._matchers:
            chosen = {text: number for text, number in self._special_tokens.items() if text in key and text}
            self._matchers[key] = (
                _core.SpecialMatcher([text.encode() for text in chosen], [*chosen.values()]) if chosen else None
            )
        return self._matchers[key]

    @cached_property
    def _matchers(self) -> dict[frozenset[str], _core.SpecialMatcher | None]:
        return {}

    def _ids(self, data: bytes, matcher: _core.SpecialMatcher | None) -> list[int]:
        try:
            return self._engine.encode_text(data, matcher)
        except InputError as error:
            raise ValueError(str(error)) from error

    def _batch(self, documents: list[bytes], matcher: _core.SpecialMatcher | None, threads: int = 1) -> EncodedBatch:
        from bpe_cli.tokenizer.encoded import EncodedBatch

        try:
            return EncodedBatch.of(*self._engine.encode_texts(documents, matcher, threads))
        except InputError as error:
            raise ValueError(str(error)) from error


# -- encodings by name ------------------------------------------------------------------------------------

_ENCODINGS: dict[str, Encoding] = {}
_NONE: frozenset[str] = frozenset()


def get_encoding(encoding_name: str) -> Encoding:
    """Return an encoding by its name; the same object each time.

    Raises:
        ValueError: if there is no encoding with this name.
    """
    if not isinstance(encoding_name, str):
        raise ValueError(f"Expected a string in get_encoding, got {type(encoding_name)}")
    if encoding_name not in _ENCODINGS:
        if encoding_name not in named_encodings.ENCODINGS:
            raise ValueError(
                f"Unknown encoding {encoding_name}.\nPlugins found: ['tiktoken_ext.openai_public']\n"
                f"tiktoken version: {__version__} (are you on latest?)"
            )
        _ENCODINGS.setdefault(encoding_name, Encoding._published(encoding_name))
    return _ENCODINGS[encoding_name]


def list_encoding_names() -> list[str]:
    """Return the names of all encodings.

    >>> list_encoding_names()
    ['gpt2', 'r50k_base', 'p50k_base', 'p50k_edit', 'cl100k_base', 'o200k_base', 'o200k_harmony']
    """
    return list(named_encodings.ENCODINGS)


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of the encoding that a model uses.

    Raises:
        KeyError: if the model is not known.
    """
    name = named_encodings.encoding_for_model(model_name)
    if name is None:
        raise KeyError(
            f"Could not automatically map {model_name} to a tokeniser. "
            "Please use `tiktoken.get_encoding` to explicitly get the tokeniser you expect."
        )
    return name


def encoding_for_model(model_name: str) -> Encoding:
    """Return the encoding that a model uses.

    Raises:
        KeyError: if the model is not known.
    """
    return get_encoding(encoding_name_for_model(model_name))


# -- what tiktoken's compiled half says of wrong arguments -------------------------------------------------


_NO_VEC = "Can't extract `str` to `Vec`"


def _not_an(value: object, kind: str) -> TypeError:
    article = "'None' is" if value is None else f"'{type(value).__name__}' object is"
    return TypeError(f"{article} not an instance of '{kind}'")


def _affirm(condition: bool) -> None:
    if not condition:
        raise AssertionError


def _u32(number: Any) -> int:
    number = operator.index(number)
    if not -(1 << 63) <= number < 1 << 63:
        raise OverflowError("Python int too large to convert to C long")
    if not 0 <= number < 1 << 32:
        raise OverflowError("out of range integral type conversion attempted")
    return int(number)


def _packed(tokens: Any) -> array[int]:
    if isinstance(tokens, str):
        raise TypeError(_NO_VEC)
    if isinstance(tokens, Mapping) or not hasattr(type(tokens), "__getitem__"):
        raise _not_an(tokens, "Sequence")
    try:
        return array("I", list(tokens))
    except (TypeError, OverflowError):
        return array("I", [_u32(token) for token in tokens])


def _utf8(text: str, *, strict: bool = False) -> bytes:
    """Return the bytes of a text, half a character becoming U+FFFD."""
    if not isinstance(text, str):
        raise _not_an(text, "str")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        if strict:
            raise
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")


def _threads(number: int | None) -> int:
    """Return how many threads are meant: None is for what the machine has processors for."""
    if number is None:
        return usable_threads(None)
    if number <= 0:
        raise ValueError("max_workers must be greater than 0")
    return number


@lru_cache(maxsize=128)
def _expression(tokens: frozenset[str]) -> Pattern[str]:
    import regex

    return regex.compile(f"({'|'.join(regex.escape(token) for token in tokens)})")


@lru_cache(maxsize=128)
def _finder(tokens: frozenset[str]) -> _core.SpecialMatcher:
    return _core.SpecialMatcher([token.encode("utf-8", "surrogatepass") for token in tokens], [0] * len(tokens))


def _raise_disallowed(token: str) -> NoReturn:
    raise ValueError(
        f"Encountered text corresponding to disallowed special token {token!r}.\n"
        "If you want this text to be encoded as a special token, "
        f"pass it to `allowed_special`, e.g. `allowed_special={{{token!r}, ...}}`.\n"
        f"If you want this text to be encoded as normal text, disable the check for this token "
        f"by passing `disallowed_special=(enc.special_tokens_set - {{{token!r}}})`.\n"
        "To disable this check for all special tokens, pass `disallowed_special=()`.\n"
    )
