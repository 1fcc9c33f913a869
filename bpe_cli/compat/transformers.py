"""A ``PreTrainedTokenizerFast`` that encodes with our core, for programs that use Hugging Face's transformers.

It is their class with another backend: ids, types and masks come from our core, truncated and padded as requested.
Everything else is done by the original backend, from the same file: decoding; offsets, words and overflowing windows,
when requested; texts that are already split, or whose special tokens are to be split. A tokenizer with a part that we
do not know is an error, raised by ``patch`` or when a text is encoded; so is a model that is told to draw at random.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from functools import partial
from threading import Lock
from typing import Any
from weakref import WeakSet

from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.model_inputs import Encoding, join, truncate
from bpe_cli.tokenizer.usage import Truncation

try:
    import transformers
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "bpe_cli.compat.transformers needs transformers, which is not installed: pip install transformers",
        name=missing.name,
    ) from missing
from tokenizers.models import Model

__all__ = ["PreTrainedTokenizerFast", "patch"]

_CHANGES = {"add_tokens", "add_special_tokens", "train", "train_from_iterator"}
"""Methods after which our tokenizer is another."""

_OF_A_CALL = {"truncation", "padding", "encode_special_tokens"}
"""Attributes that it does not depend on: transformers sets them for each call, as is done here for an earlier one."""

_SETTERS = {"enable_truncation", "no_truncation", "enable_padding", "no_padding"}
"""Methods that set them."""

_STAGES = {"model", "normalizer", "pre_tokenizer", "post_processor"}
"""Attributes that give a stage that ids depend on: whoever has asked for it may change it in place at any time."""

_LARGEST_STATE = 1 << 12
"""Most bytes of a stage that is looked at before each call, whoever has it: a table of SentencePiece's has 300,000."""

_SETTINGS = (
    "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback",
    "ignore_merges", "max_input_chars_per_word", "alpha", "nbest_size",
)  # fmt: skip
"""What can be changed in a model."""


def patch(tokenizer: Any) -> Any:
    """Make a fast tokenizer of transformers encode with our core; it is changed in place and returned.

    Raises:
        UsageError: if the tokenizer is not a fast one.
        FormatError: if the tokenizer has an unknown part.
    """
    backend = getattr(tokenizer, "_tokenizer", None)
    if not isinstance(tokenizer, transformers.PreTrainedTokenizerFast) or backend is None:
        raise UsageError(
            f"{type(tokenizer).__name__} is not a fast tokenizer of transformers",
            hint="transformers.AutoTokenizer.from_pretrained(...) gives one where there is a tokenizer.json",
        )
    if not isinstance(backend, Backend):
        tokenizer._tokenizer = Backend(backend)
        tokenizer._tokenizer.ours()  # what we do not know is said now
    return tokenizer


class PreTrainedTokenizerFast(transformers.PreTrainedTokenizerFast):  # type: ignore[misc]  # it is not typed
    """The transformers class of this name, encoding with our core."""

    # Not in __init__: a class that has one is loaded by transformers in another way, which loses stages.
    @property
    def _tokenizer(self) -> Any:
        """The backend that encodes."""
        return self.__dict__.get("_backend")

    @_tokenizer.setter
    def _tokenizer(self, theirs: Any) -> None:
        self.__dict__["_backend"] = theirs if theirs is None or isinstance(theirs, Backend) else Backend(theirs)


class Backend:
    """The backend of a fast tokenizer: tokenizers' ``Tokenizer``, with encoding done by our core.

    Attributes:
        theirs: The original.
    """

    theirs: Any

    def __init__(self, theirs: Any) -> None:
        lent = {"model"}
        self.__dict__.update(theirs=theirs, _ours=None, _lent=lent, _lent_state={}, _lock=Lock(), _calls=WeakSet())

    def __getattr__(self, name: str) -> Any:
        if name == "theirs" or name.startswith("__"):  # while it is unpickled
            raise AttributeError(name)
        if name in _CHANGES:
            self._before_a_change()
        elif name in _STAGES:
            self._lent.add(name)
        elif name in _SETTERS:
            return partial(self._with_settings, name)
        elif name in _OF_A_CALL:
            with self._lock:
                return getattr(self.theirs, name)
        return getattr(self.theirs, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _OF_A_CALL:
            self._before_a_change()
        with self._lock:
            setattr(self.theirs, name, value)

    def __reduce__(self) -> tuple[object, ...]:
        return Backend, (self.theirs,)

    def _with_settings(self, setter: str, *values: Any, **named: Any) -> None:
        with self._lock:
            getattr(self.theirs, setter)(*values, **named)

    def _before_a_change(self) -> None:
        """Forget our tokenizer, and keep theirs as it is for the encodings that may ask it for the rest of them."""
        self.__dict__["_ours"] = None
        waiting = [call for call in tuple(self._calls) if call.encodings is None]
        if waiting:
            kept = type(self.theirs).from_str(self.theirs.to_str())
            for call in waiting:
                call.theirs = kept
        self._calls.clear()

    def ours(self) -> Tokenizer:
        """Return our tokenizer, made from the current state of theirs.

        Raises:
            FormatError: if the tokenizer has an unknown part.
        """
        if not self._lent_state:  # somebody may have a stage from before
            quick = (name for name in _STAGES if len(_state(getattr(self.theirs, name)) or ()) <= _LARGEST_STATE)
            self._lent.update(quick)
        state = self.state()
        tokenizer: Tokenizer | None = self.__dict__["_ours"]
        if tokenizer is None or state != self._lent_state:
            from bpe_cli.formats.huggingface import tokenizer_json
            from bpe_cli.support.safe_orjson import orjson

            _refuse_drawing(self.theirs.model)
            described = orjson.loads(self.theirs.to_str()) | {"truncation": None, "padding": None}
            tokenizer = tokenizer_json.loads(orjson.dumps(described))
            self.__dict__.update(_ours=tokenizer, _lent_state=state)
        return tokenizer

    def state(self) -> dict[str, object]:
        """Return what tells whether a stage that was asked for is changed in place."""
        return {name: _state(getattr(self.theirs, name)) for name in tuple(self._lent)}

    def encode(
        self, sequence: Any, pair: Any = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Any:
        """Return the encoding of a text, or of a pair."""
        given = sequence if pair is None else (sequence, pair)
        return self.encode_batch([given], is_pretokenized=is_pretokenized, add_special_tokens=add_special_tokens)[0]

    def encode_batch(
        self,
        input: Sequence[Any],  # noqa: A002  # as theirs
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Any]:
        """Return the encodings of texts and pairs."""
        call = _Call(self, list(input), is_pretokenized, add_special_tokens)
        try:
            encodings = None if is_pretokenized else self._encoded(call)
        except (InputError, UsageError):  # a character that theirs leaves out, a text that is too short to be cut
            encodings = None
        return call.by_theirs() if encodings is None else encodings

    encode_batch_fast = encode_batch

    def _encoded(self, call: _Call) -> list[Any] | None:
        """Return encodings by our core; None if an input must be left to the original."""
        texts: list[str] = []
        for each in call.inputs:
            parts = [each] if isinstance(each, str) else each
            if not isinstance(parts, (list, tuple)) or len(parts) not in (1, 2):
                return None
            texts += parts
        if call.encode_special_tokens or not all(map(_is_whole, texts)):
            return None  # their vocabulary may have special tokens among ordinary ones
        tokenizer = self.ours()
        call.wait(self._lent_state)
        batch = iter(tokenizer.encode_batch(texts, specials="all"))
        cut = None
        if call.truncation is not None:
            settings = call.truncation
            cut = Truncation(settings["max_length"], settings["stride"], settings["strategy"], settings["direction"])
        encodings = []
        for number, each in enumerate(call.inputs):
            first = Encoding.of(next(batch))
            second = Encoding.of(next(batch)) if not isinstance(each, str) and len(each) == 2 else None
            if cut is not None:
                added = self.theirs.num_special_tokens_to_add(second is not None) if call.add_special_tokens else 0
                if len(first) + len(second or ()) + added > cut.max_length:
                    first, second = truncate(first, second, cut, added=added)
            whole = join(
                first, second, post_processor=tokenizer.post_processor, add_special_tokens=call.add_special_tokens
            )
            encodings.append(FastEncoding(whole, call, number, 1 if second is None else 2))
        if call.padding is not None:
            _pad(encodings, call.padding)
        return encodings


class FastEncoding:
    """An encoding like tokenizers' ``Encoding``: ids, types and masks from our core, all else from theirs on request.

    Attributes:
        ids: The ids.
        type_ids: The text of a pair that each id belongs to, as the model expects it.
        attention_mask: 0 for padding.
        special_tokens_mask: 1 for tokens around the text.
        n_sequences: The number of texts: 2 for a pair.
    """

    def __init__(self, encoding: Encoding, call: _Call, number: int, texts: int) -> None:
        self.ids = list(encoding.ids)
        self.type_ids = list(encoding.type_ids)
        self.attention_mask = list(encoding.attention_mask)
        self.special_tokens_mask = list(encoding.special_mask)
        self.n_sequences = texts
        self._call = call
        self._number = number

    def __len__(self) -> int:
        return len(self.ids)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._by_theirs(), name)

    def __reduce__(self) -> tuple[object, ...]:
        return _itself, (self._by_theirs(),)

    def __repr__(self) -> str:
        return f"<{len(self):,} ids>"

    def truncate(self, *values: Any, **named: Any) -> None:
        """Cut it, as theirs is cut."""
        self._change("truncate", *values, **named)

    def pad(self, *values: Any, **named: Any) -> None:
        """Fill it up, as theirs is filled up."""
        self._change("pad", *values, **named)

    def _change(self, method: str, *values: Any, **named: Any) -> None:
        theirs = self._by_theirs()
        getattr(theirs, method)(*values, **named)
        for name in ("ids", "type_ids", "attention_mask", "special_tokens_mask"):
            setattr(self, name, getattr(theirs, name))

    def _by_theirs(self) -> Any:
        return self._call.by_theirs()[self._number]


class _Call:
    """The inputs of a batch, and the settings it was encoded with.

    Attributes:
        theirs: The original, as it was then.
        encodings: The encodings by it; None before anybody asks.
    """

    def __init__(self, backend: Backend, inputs: list[Any], is_pretokenized: bool, add_special_tokens: bool) -> None:
        self.theirs = theirs = backend.theirs
        self.inputs = inputs
        self.add_special_tokens = add_special_tokens
        with backend._lock:
            self.truncation: dict[str, Any] | None = theirs.truncation
            self.padding: dict[str, Any] | None = theirs.padding
            self.encode_special_tokens: bool = theirs.encode_special_tokens
        self._is_pretokenized = is_pretokenized
        self._backend = backend
        self.encodings: list[Any] | None = None
        self._stages: dict[str, object] = {}

    def wait(self, stages: dict[str, object]) -> None:
        """Be told before the original changes: its part is done on request. Those who have a stage need not tell."""
        self._stages = stages
        self._backend._calls.add(self)

    def by_theirs(self) -> list[Any]:
        """Return the encodings by the original, with the settings as they were.

        Raises:
            UsageError: if a stage has been changed in place since the ids were made.
        """
        if self.encodings is None:
            theirs = self.theirs
            if theirs is self._backend.theirs:
                now = self._backend.state()
                if any(now[name] != then for name, then in self._stages.items()):
                    raise UsageError(
                        "a stage of the tokenizer was changed in place after the text was encoded, and what is asked "
                        "for comes from it",
                        hint="encode the text again; or ask for offsets, tokens and words before the change",
                    )
            with self._backend._lock:
                settings = theirs.truncation, theirs.padding, theirs.encode_special_tokens
                _set(theirs, self.truncation, self.padding, self.encode_special_tokens)
                try:
                    self.encodings = theirs.encode_batch(
                        self.inputs,
                        is_pretokenized=self._is_pretokenized,
                        add_special_tokens=self.add_special_tokens,
                    )
                finally:
                    _set(theirs, *settings)
        return self.encodings


def _state(stage: Any) -> Sized | None:
    """Return what tells a stage that was changed in place; of a model without its tokens, which cannot be changed."""
    if isinstance(stage, Model):
        return [getattr(stage, name, None) for name in _SETTINGS]
    return None if stage is None else bytes(stage.__getstate__())


def _refuse_drawing(model: Any) -> None:
    """Refuse a model that is told to draw at random by what no file holds; dropout stands in it."""
    for name in ("alpha", "nbest_size"):
        if getattr(model, name, None) is not None:
            raise FormatError(
                f"model.{name} is {getattr(model, name)}, and encoding is never random unless it is asked for",
                hint=f"set model.{name} to None",
            )


def _set(theirs: Any, truncation: dict[str, Any] | None, padding: dict[str, Any] | None, special: bool) -> None:
    if truncation != theirs.truncation:
        if truncation is None:
            theirs.no_truncation()
        else:
            theirs.enable_truncation(**truncation)
    if padding != theirs.padding:
        if padding is None:
            theirs.no_padding()
        else:
            theirs.enable_padding(**padding)
    if special != theirs.encode_special_tokens:
        theirs.encode_special_tokens = special


def _pad(encodings: Iterable[FastEncoding], padding: dict[str, Any]) -> None:
    """Fill encodings up to one length."""
    several = list(encodings)
    length = padding["length"]
    if length is None:
        length = max(map(len, several), default=0)
    if padding["pad_to_multiple_of"]:
        length += -length % padding["pad_to_multiple_of"]
    for each in several:
        count = length - len(each)
        if count > 0:
            for name, filling in (
                ("ids", padding["pad_id"]), ("type_ids", padding["pad_type_id"]), ("attention_mask", 0),
                ("special_tokens_mask", 1),
            ):  # fmt: skip
                own = getattr(each, name)
                setattr(
                    each, name, [filling] * count + own if padding["direction"] == "left" else own + [filling] * count
                )


def _is_whole(text: Any) -> bool:
    """Return whether a value is a text without half a character."""
    if not isinstance(text, str):
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _itself(value: Any) -> Any:
    return value
