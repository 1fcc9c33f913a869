"""Load the tokenizer of a job by its name or path, as ``-t`` does, and note what may surprise the caller."""

from __future__ import annotations

import os
from collections.abc import Iterator

from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.jobs.files import read_counts
from bpe_cli.support.core_arguments import bytes_of, wrong_type
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.fast_typing import TYPE_CHECKING, Literal
from bpe_cli.support.listening import Listener
from bpe_cli.tokenizer import Tokenizer, named_encodings

if TYPE_CHECKING:
    from typing import TypeAlias

    from bpe_cli.stages import SpecialToken
    from bpe_cli.tokenizer import Specials
    from bpe_cli.tokenizer.engine import Sampling

    AnyTokenizer: TypeAlias = "Tokenizer | TokenizerChoice | str | os.PathLike[str]"
    """A tokenizer, or what says which: what ``load`` takes."""

Inference = Literal["merges", "longest", "left-to-right", "fewest"]
"""How a vocabulary is applied: by its merges or scores; by the longest token anywhere first; by the longest from the
left; by as few tokens as possible."""


def load(name_or_path: str | os.PathLike[str], pattern: str | None = None) -> Tokenizer:
    """Return a tokenizer by its name, or from a file or folder of any format. Nothing is downloaded.

    A str is anything that ``-t`` accepts on the command line: an encoding (``"cl100k_base"``), a model (``"gpt-4o"``,
    in upper or lower case), a file, a folder, ``"hf:org/name"`` from Hugging Face's cache, ``"tiktoken:name"`` from
    tiktoken's. A path object is always a file or folder. The format is detected from the content, not the file name.

    Args:
        name_or_path: The name or path.
        pattern: The split pattern, by name or as an expression, for formats that hold none.

    >>> from bpe_cli import load
    >>> load("gpt-4o").name, load("GPT2").encode("hello world")
    ('o200k_base', [31373, 995])

    Raises:
        UsageError: if no tokenizer has this name; the hint suggests similar names.
        InputError: if the file cannot be read.
        FormatError: if the format is unknown, or the file is broken.
        TypeError: if an argument has the wrong type.
    """
    if pattern is not None and not isinstance(pattern, str):
        raise wrong_type("pattern", "a str", pattern)
    if pattern is not None:
        bytes_of(pattern, "pattern")
    if isinstance(name_or_path, str):
        bytes_of(name_or_path, "name_or_path")
        # The formats of files are loaded only if one may be meant: a named encoding starts without them.
        if pattern is None and not _exists(name_or_path):
            tokenizer = named_encodings.find(name_or_path)
            if tokenizer is not None:
                return tokenizer
        from bpe_cli.formats import find_tokenizer

        return find_tokenizer(name_or_path, pattern)
    if not isinstance(name_or_path, os.PathLike):
        raise wrong_type("name_or_path", "a str or a path", name_or_path)
    from bpe_cli import formats

    return formats.load(os.fsdecode(name_or_path), pattern)


def _exists(path: str) -> bool:
    try:
        return os.path.lexists(path)
    except ValueError:  # a NUL or a lone surrogate, which no path has
        return False


@dataclass(frozen=True, slots=True)
class TokenizerChoice:
    """The tokenizer that a job loads, and how it is applied.

    Attributes:
        name: A file or folder of any format, an encoding, a model, or ``hf:ORG/NAME``.
        pattern: The split pattern, for a file that holds none.
        added: Special tokens to add to its own.
        inference: How a vocabulary is applied.
        frequencies: A file of tokens and counts: with ``longest``, the most frequent of one length goes first.
        way_out: What else the hint says if its file is broken; None for nothing.
        label: What reports call it; None for its name.
        is_default: Whether nobody has named it: ids are then decoded by the tokenizer that is named beside them.
        origin: What named it if the caller did not, a variable say: errors begin with it.

    Raises:
        UsageError: if there are frequencies, and it is not the longest token that goes first.
    """

    name: str
    pattern: str | None = None
    added: tuple[SpecialToken, ...] = ()
    inference: Inference = "merges"
    frequencies: str | None = None
    way_out: str | None = None
    label: str | None = None
    is_default: bool = False
    origin: str | None = None

    def __post_init__(self) -> None:
        if self.frequencies is not None and self.inference != "longest":
            raise UsageError(
                '`frequencies` says which of equally long tokens is tried first, with `inference="longest"`'
            )

    def with_fewest_tokens(self) -> TokenizerChoice:
        """Return the same, applied by the fewest tokens, with a label that says so.

        >>> TokenizerChoice("gpt2").with_fewest_tokens().label
        'gpt2, fewest'
        """
        from bpe_cli.tokenizer.inference import FEWEST

        return replace(self, inference="fewest", label=f"{self.label or self.name}{FEWEST}")

    def load(self) -> Tokenizer:
        """Load it.

        Raises:
            UsageError: if there is no such tokenizer, or it cannot be applied so.
            InputError, FormatError: if a file cannot be read.
        """
        try:
            tokenizer = load(self.name, self.pattern)
        except (UsageError, InputError, FormatError) as error:
            message = f"{self.origin}: {error.message}" if self.origin else error.message
            ways_out = [error.hint, self.way_out if isinstance(error, FormatError) else None]
            raise type(error)(message, hint="; ".join(filter(None, ways_out)) or None) from error
        if self.added:
            tokenizer = tokenizer.with_special_tokens(self.added)
        if self.label is not None:
            tokenizer = replace(tokenizer, name=self.label)
        if self.inference == "merges":
            return tokenizer
        if self.inference == "fewest":
            try:
                return tokenizer.with_fewest_tokens()
            except UsageError as error:
                raise UsageError(f"{self.name}: {error.message}", hint=error.hint) from error
        counts = None
        if self.frequencies is not None:
            read = read_counts(self.frequencies).items()
            counts = {token.encode("utf-8", "surrogateescape"): number for token, number in read}
        return tokenizer.with_longest_match(left_to_right=self.inference == "left-to-right", frequencies=counts)


def load_tokenizer(tokenizer: AnyTokenizer, name: str = "tokenizer") -> Tokenizer:
    """Return a tokenizer, loaded if it is named.

    >>> load_tokenizer("gpt-4o").name
    'o200k_base'

    Raises:
        UsageError: if there is no such tokenizer.
        InputError, FormatError: if its file cannot be read.
        TypeError: if the value neither is a tokenizer nor names one; ``name`` is what the message calls the argument.
    """
    if isinstance(tokenizer, (str, os.PathLike)):
        return load(tokenizer)
    if isinstance(tokenizer, TokenizerChoice):
        return tokenizer.load()
    if not isinstance(tokenizer, Tokenizer):
        raise wrong_type(name, "a Tokenizer, a str or a path", tokenizer)
    return tokenizer


def load_recorded(tokenizer: AnyTokenizer, sha256: str | None, path: str) -> Tokenizer:
    """Return the tokenizer that is named beside ids, loaded, if it is still the one that made them.

    Args:
        tokenizer: What names it.
        sha256: Its fingerprint; None if that is unknown.
        path: What messages call the ids.

    Raises:
        UsageError: if it cannot be loaded, or has another fingerprint.
    """
    from bpe_cli.tokenizer import fingerprint

    name = name_of(tokenizer)
    try:
        model = load_tokenizer(tokenizer)
    except (InputError, UsageError, FormatError) as error:
        raise UsageError(
            f"{path} was encoded with {name}, which is not found: {error.message}",
            hint="name the right one: `tokenizer=FILE`",
        ) from error
    if sha256 is not None and fingerprint(model) != sha256:
        raise UsageError(
            f"{path} was encoded with {name}, and this name now stands for another tokenizer",
            hint="name the right one: `tokenizer=FILE`",
        )
    return model


def unnamed(path: str) -> UsageError:
    """Make the error for ids of which nothing says by which tokenizer they were made."""
    return UsageError(
        f"nothing says which tokenizer the ids in {path} are from", hint="name the right one: `tokenizer=FILE`"
    )


def name_of(tokenizer: AnyTokenizer) -> str:
    """Return the caller's name for a tokenizer, which may be the name of a model, or a label."""
    if isinstance(tokenizer, TokenizerChoice) and tokenizer.label is not None:
        return tokenizer.label
    return os.fsdecode(tokenizer) if isinstance(tokenizer, (str, os.PathLike)) else tokenizer.name or ""


def files_of(tokenizer: AnyTokenizer) -> Iterator[tuple[str, str]]:
    """Yield the files that a tokenizer is read from, for ``check_kept``: of a folder, all that belong to it."""
    if isinstance(tokenizer, (str, os.PathLike)):
        name = os.fsdecode(tokenizer)
        if _exists(name) or name.startswith("hf:"):  # the formats of files are not loaded for a named encoding
            from bpe_cli.formats import files_meant

            yield from (("the tokenizer", path) for path in files_meant(name))
    elif isinstance(tokenizer, TokenizerChoice):
        yield from files_of(tokenizer.name)
        yield "the frequencies", tokenizer.frequencies or ""


def check_sampling(model: Tokenizer, sampling: Sampling | None, *, spans: bool = False) -> None:
    """Check that a tokenizer's encodings can be varied in this way, and that no spans are wanted with them.

    Raises:
        UsageError: if the model has no merges, or no probabilities; or if spans are wanted.
    """
    from bpe_cli.stages import CharacterBpe, MergeBpe, RankBpe, ScoredBpe, Unigram

    if sampling is None:
        return
    kind = model.model.kind
    if sampling.way == "segmentation":
        if not isinstance(model.model, Unigram):
            raise UsageError(
                f"`sample` draws by the probabilities of a unigram model, and this is {kind}",
                hint="`dropout` varies what BPE makes of a text",
            )
    elif model.model.events is not None:
        raise UsageError(f"`dropout` leaves out merges, and this is {kind}: later events count on each of them")
    elif not isinstance(model.model, (CharacterBpe, MergeBpe, RankBpe, ScoredBpe)):
        raise UsageError(
            f"`dropout` leaves out merges, and this is {kind}, which has none",
            hint="`sample` varies what a unigram model makes of a text" if isinstance(model.model, Unigram) else None,
        )
    if spans:
        raise UsageError(
            "spans are found by encoding a text again, which would not give the tokens that were drawn",
            hint="leave spans out, or `dropout` and `sample`",
        )


def note_oddities(tokenizer: Tokenizer, specials: Specials, listener: Listener) -> None:
    """Note the patterns that take the slow path, and the characters whose only token is special."""
    note_slow_patterns(tokenizer, listener)
    for note in unspelt_notes(tokenizer, specials):
        listener.note(note)


def note_slow_patterns(tokenizer: Tokenizer, listener: Listener) -> None:
    """Note the patterns that take the slow path."""
    if tokenizer.slow_patterns:
        from bpe_cli.stages.splitters import slow_patterns_notes

        for note in slow_patterns_notes(tokenizer.slow_patterns):
            listener.note(note)


def unspelt_notes(tokenizer: Tokenizer, specials: Specials) -> Iterator[str]:
    """Describe each character whose only token is a special one that is not asked for."""
    if specials == "all" or not tokenizer.withheld:
        return
    import shlex

    from bpe_cli.tokenizer.special_tokens import unspelt

    texts = (tokenizer.token_bytes(each).decode() for each in unspelt(tokenizer.model, tokenizer.withheld))
    for text in (text for text in texts if text not in specials):
        yield (
            f"only the special token {text!r} spells this character, which is unknown without "
            f"`specials={shlex.quote(text)}`"
        )
