"""The tokenizer: one frozen value of stages, tokens and special tokens, with its methods.

It compares by value, has no ``train()``, and compiles itself for the core when first used.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from operator import index

from bpe_cli import _core
from bpe_cli.errors import InputError
from bpe_cli.stages import Decoder, MergeBpe, Model, Normalizer, PrefixSpace, PreTokenizer, SpecialToken, Split
from bpe_cli.stages.codebook import codebook_words, compiled_codebook
from bpe_cli.stages.splitters import safe_cutter
from bpe_cli.stages.vocabulary import Merges
from bpe_cli.support.blocks import Block, settle
from bpe_cli.support.cached import cached_property
from bpe_cli.support.core_arguments import bytes_of, no_special_tokens, wrong_type
from bpe_cli.support.fast_dataclass import cut_repr, dataclass, field, replace
from bpe_cli.tokenizer.engine import EngineParts, Place, Sampling, SpecialTable, only_splits
from bpe_cli.tokenizer.engine.compiled import Engine
from bpe_cli.tokenizer.special_tokens import Withheld, joined_special_tokens, live, looked_for, withheld
from bpe_cli.tokenizer.text_methods import Specials, TextMethods, Token
from bpe_cli.tokenizer.usage import NO_USAGE, Origin, Usage

__all__ = ["Specials", "Token", "Tokenizer", "fingerprint"]


@dataclass(frozen=True)
class Tokenizer(TextMethods):
    """Turn bytes into ids and ids into bytes.

    Attributes:
        model: The model with its vocabulary.
        pre_tokenizer: The stages that split text into pieces, in order.
        special_tokens: Special and added tokens, sorted by id.
        unicode_version: The version of the Unicode tables it was trained with, if known.
        post_processor: Hugging Face's post-processor as canonical JSON, stored unparsed; None if absent.
        normalizer: The stages that rewrite text before it is split, in order.
        decoder: The stages that turn tokens back into text, in order; if there are none, the tokens' bytes are joined.
        usage: Usage settings: roles of special tokens, chat templates, truncation, padding.
        origin: Metadata of the file it was read from, if any; not part of its value.
        name: Its name in reports; not part of its value.
    """

    model: Model
    pre_tokenizer: tuple[PreTokenizer, ...] = ()
    special_tokens: tuple[SpecialToken, ...] = ()
    unicode_version: str | None = None
    post_processor: str | None = None
    normalizer: tuple[Normalizer, ...] = ()
    decoder: tuple[Decoder, ...] = ()
    usage: Usage = NO_USAGE
    origin: Origin | None = field(default=None, compare=False)
    name: str | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return cut_repr(self)  # whole, it can be megabytes: scores, and what its file carried

    def __getstate__(self) -> dict[str, object]:
        """Return the state of a copy or a pickle: the value, without anything compiled or computed from it."""
        return {name: getattr(self, name) for name in self.__match_args__}

    # -- parts ---------------------------------------------------------------------------------

    @property
    def patterns(self) -> tuple[str, ...]:
        """The split patterns, in order, as regular expressions."""
        import re

        splits = (stage for stage in self.pre_tokenizer if isinstance(stage, Split))
        return tuple(re.escape(stage.pattern) if stage.literal else stage.pattern for stage in splits)

    @property
    def prefix_space(self) -> bool:
        """Whether a space is added before text that does not begin with one."""
        return any(isinstance(stage, PrefixSpace) for stage in self.pre_tokenizer)

    @property
    def is_plain(self) -> bool:
        """Whether it is byte-level BPE that only splits text: no stage rewrites it, and none has to be undone."""
        return only_splits(self.model, self.normalizer, self.pre_tokenizer, self.decoder)

    @cached_property
    def engine(self) -> Engine:
        """The compiled engine that runs this tokenizer.

        Raises:
            FormatError: if a stage cannot be run.
            UsageError: if a pattern does not compile.
        """
        parts = EngineParts(
            self.live_model,
            self.model.vocabulary,
            self.normalizer,
            self.pre_tokenizer,
            self.decoder,
            self.special_tokens,
            self.special_table,
            self._codebook,
        )
        return Engine(parts)

    def clear_cache(self) -> None:
        """Free the cache of encoded pieces, and the memory kept for the next ids; running calls keep theirs.

        On Linux, a process keeps the memory that held the ids of the last text of 8 MB or more, up to 256 MB of ids, so
        that the next such text is encoded faster. The system may reclaim it whenever it needs memory.

        >>> from bpe_cli import load
        >>> load("gpt2").clear_cache()
        """
        if "engine" in self.__dict__:
            self.engine.clear_cache()

    @cached_property
    def _codebook(self) -> _core.Codebook | None:
        """The compiled codebook, for words between tags."""
        if self.model.codebook is None:
            return None
        return compiled_codebook(self.model, self.special_tokens)

    @property
    def slow_patterns(self) -> tuple[str, ...]:
        """The patterns that the core has no scanner for; empty if all are fast."""
        return self.engine.slow_patterns

    @property
    def has_bytes(self) -> bool:
        """Whether tokens are bytes (byte-level BPE) rather than text."""
        return self.model.byte_level

    @property
    def has_spans(self) -> bool:
        """Whether the tokens' bytes, joined, are those of the text (except for a space added before it)."""
        return self.engine.has_spans

    def spans(
        self, data: bytes, matcher: _core.SpecialMatcher | None, *, continued: bool = False
    ) -> Iterator[tuple[int, int, int]]:
        """Encode a document through all stages, or with ``continued``, a part of one that follows an earlier part.

        Yields:
            (id, start, end) of each token; start and end are byte offsets in ``data``.
        """
        return zip(*self.engine.spans(data, matcher, continued=continued), strict=True)

    def piece_ends(self, data: bytes) -> memoryview | None:
        """Return the end offset of every piece of a text without special tokens.

        Return None if stages rewrite text before it becomes tokens: the pieces are then not parts of the text.
        """
        return self.engine.piece_ends(data)

    @cached_property
    def special_ids(self) -> dict[int, SpecialToken]:
        """Special and added tokens by id."""
        return {token.token_id: token for token in self.special_tokens}

    @cached_property
    def withheld(self) -> Withheld:
        """The tokens that their own text becomes only on request: special tokens and the unknown token."""
        return withheld(self.model, self.special_tokens, (*self.normalizer, *self.pre_tokenizer))

    @cached_property
    def live_model(self) -> Model:
        """The model that encodes text: without withheld tokens, and without the merges that would make them."""
        return live(self.model, self.withheld)

    def without_dead_merges(self) -> Tokenizer:
        """Return an equivalent tokenizer whose model has neither special tokens' texts nor merges that produce them.

        The result is the same object if nothing is withheld. The text of an unknown token that is not special is kept.
        """
        if not self.withheld:
            return self
        vocabulary = self.model.vocabulary.without(self.withheld.ids & self.special_ids.keys())
        return replace(self, model=replace(self.live_model, vocabulary=vocabulary))

    @cached_property
    def _decoded(self) -> dict[int, bytes]:
        """What ids decode to whose bytes the live model's vocabulary does not say, or not so.

        An added token that is spelt as a token of other bytes has the id of that one, and is decoded to its bytes.
        """
        vocabulary = self.model.vocabulary
        # A decoder is given all of the vocabulary.
        withheld = {} if self.decoder else {token_id: vocabulary.token(token_id) for token_id in self.withheld.ids}
        if not isinstance(self.model, MergeBpe):
            return withheld | {token_id: token.content for token_id, token in self.special_ids.items()}
        decoded = {
            token_id: (vocabulary.token(token_id) if token_id < vocabulary.size else b"") or token.content
            for token_id, token in self.special_ids.items()
        }
        return withheld | decoded | dict(self.model.texts) | codebook_words(self.model)

    @cached_property
    def special_table(self) -> SpecialTable:
        """The special tokens as needed for decoding, and all other ids that do not decode to a live token's bytes."""
        ids, ends, blob = array("I"), array("I"), bytearray()
        for token_id, content in sorted(self._decoded.items()):
            blob += content
            ids.append(token_id)
            ends.append(len(blob))
        return ids, bytes(blob), ends

    @property
    def vocab_size(self) -> int:
        """The highest token id plus one."""
        return max(self.model.vocabulary.size, max(self._decoded, default=-1) + 1)

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes of any token.

        Raises:
            InputError: if no token has this id.
            TypeError: if ``token_id`` is not an int.
        """
        try:
            token_id = index(token_id)
        except TypeError:
            raise wrong_type("token_id", "an int", token_id) from None
        if (decoded := self._decoded.get(token_id)) is not None:
            return decoded
        content = self.model.vocabulary.token(token_id) if 0 <= token_id < self.model.vocabulary.size else b""
        if not content:
            highest = self.vocab_size - 1
            why = ": no token has it" if 0 <= token_id <= highest else f" (ids run to {highest})"
            raise InputError(f"id {token_id} is not in the vocabulary{why}")
        return content

    def with_special_tokens(self, tokens: Iterable[SpecialToken]) -> Tokenizer:
        """Return a tokenizer with more special tokens.

        Raises:
            UsageError: if an id is taken or out of range, or a token's text already has another id.
            TypeError: if one is not a special token, or one of its attributes has the wrong type.
        """
        joined = joined_special_tokens(self.model.vocabulary, self.special_tokens, tokens)
        return replace(self, special_tokens=joined)

    def with_longest_match(
        self, *, left_to_right: bool, frequencies: Mapping[bytes, int] | Mapping[str, int] | None = None
    ) -> Tokenizer:
        """Return a tokenizer that applies a BPE vocabulary by longest match instead of by merges.

        Args:
            left_to_right: Whether to go from left to right and take the longest token at each position, instead of
                taking the longest token anywhere first.
            frequencies: The frequency of each token, by its text in the vocabulary; 0 for those not listed. Among
                tokens of equal length, the most frequent is tried first, then the one with the lower id.

        Raises:
            UsageError: if this is not BPE over characters, or it lacks a token that has a frequency.
            TypeError: if the frequencies are not numbers by tokens.
        """
        from bpe_cli.tokenizer.inference import longest_match

        return replace(self, model=longest_match(self.model, self.special_tokens, left_to_right, frequencies))

    def with_fewest_tokens(self) -> Tokenizer:
        """Return a tokenizer that encodes each piece with the fewest tokens that its vocabulary allows.

        Of equally short segmentations, it takes the one whose last token is longest, and so on from right to left.
        Above all, it avoids encoding characters with the unknown token or with byte tokens.

        Raises:
            UsageError: if the model does not support this.

        >>> from bpe_cli import load
        >>> gpt2 = load("gpt2")
        >>> [gpt2.decode([token_id]) for token_id in gpt2.encode(" lighthouses")]
        [' l', 'ighth', 'ouses']
        >>> [gpt2.decode([token_id]) for token_id in gpt2.with_fewest_tokens().encode(" lighthouses")]
        [' light', 'houses']
        """
        from bpe_cli.tokenizer.inference import fewest_tokens

        model, pre_tokenizer, decoder = fewest_tokens(self.model, self.pre_tokenizer, self.decoder)
        return replace(self, model=model, pre_tokenizer=pre_tokenizer, decoder=decoder)

    # -- special tokens ------------------------------------------------------------------------

    def matcher(self, specials: Specials = ()) -> _core.SpecialMatcher | None:
        """Compile the matcher for tokens to find in text: added tokens always, special tokens as requested.

        Raises:
            UsageError: if a name is not a special token of this tokenizer.
        """
        names = {token.content for token in self.special_tokens} if specials == "all" else set()
        if specials != "all":
            contents = {token.content for token in self.special_tokens}
            named = {name: bytes_of(name, "special token") for name in specials}
            unknown = [name for name, content in named.items() if content not in contents]
            if unknown:
                raise no_special_tokens(unknown, [token.content for token in self.special_tokens])
            names.update(named.values())
        ordered = looked_for(self.special_tokens, names)
        if not ordered and self._codebook is None:
            return None
        flags = bytes(each.lstrip | each.rstrip << 1 | each.single_word << 2 | each.normalized << 3 for each in ordered)
        return self.engine.matcher(
            [token.content for token in ordered],
            [token.token_id for token in ordered],
            flags if any(flags) else None,
        )

    # -- text to ids ---------------------------------------------------------------------------

    def settle(
        self, blocks: Iterable[Block], matcher: _core.SpecialMatcher | None, *, whole_pieces: bool = True
    ) -> Iterator[Block]:
        """Cut long documents where no token or piece changes; without ``whole_pieces``, also inside pieces."""
        # A special token may stand where nothing else allows a cut; texts end there all the same.
        stretches = None if matcher is None else matcher.stretches
        cutter = safe_cutter(self.engine, matcher, None if whole_pieces else self.engine.cut_in_piece)
        return settle(blocks, cutter, self.engine.longest_text, stretches)

    def encode_block(
        self,
        block: Block,
        matcher: _core.SpecialMatcher | None = None,
        threads: int = 1,
        sampling: Sampling | None = None,
        place: Place | None = None,
    ) -> tuple[memoryview, memoryview]:
        """Encode a block.

        Args:
            block: The documents.
            matcher: Recognizes special tokens in them; see ``matcher``.
            threads: Number of threads. Never changes the result.
            sampling: How to vary the result at random; None for no variation.
            place: The position of the block in the whole input, on which random draws depend.

        Returns:
            The ids of all documents (u32), and where each document's ids end (u64).

        Raises:
            InputError: if a byte of the text has no token, or the model does not support this sampling.
        """
        return self.engine.encode(block, matcher, threads, sampling, place)

    def count_block(self, block: Block, matcher: _core.SpecialMatcher | None = None, threads: int = 1) -> memoryview:
        """Count the tokens of each document of a block (u64), without making ids.

        Raises:
            InputError: if a byte of the text has no token.
        """
        return self.engine.count(block, matcher, threads)


def fingerprint(tokenizer: Tokenizer) -> str:
    """Return a sha256 that tokenizers share when they are equal, and only then.

    Invariant: it covers all that ``Tokenizer`` compares by, each field behind its length, in an order
    and a byte order that do not depend on the machine.
    """
    import hashlib
    import json
    import sys

    from bpe_cli.stages.component_json import component

    digest = hashlib.sha256()

    def add(*values: str | bytes | array[int] | array[float] | None) -> None:
        for value in values:
            if isinstance(value, array):
                numbers = value[:]
                if sys.byteorder == "big":
                    numbers.byteswap()
                data = numbers.tobytes()
            else:
                data = b"\0" if value is None else b"\1" + value.encode() if isinstance(value, str) else value
            digest.update(len(data).to_bytes(8, "little"))
            digest.update(data)

    model = tokenizer.model
    add(model.kind, model.vocabulary.blob, model.vocabulary.ends)
    for name in model.__match_args__:
        value = getattr(model, name)
        if isinstance(value, Merges):
            value = value.triples
        if name in ("texts", "codebook", "whole_runs_of", "fixed_point") and not value:
            continue  # as before there were any
        if name != "vocabulary":
            add(name, value if isinstance(value, (bytes, array)) else repr(value))
    for stages in (tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder):
        add(str(len(stages)), *(json.dumps(component(stage)) for stage in stages))
    add(str(len(tokenizer.special_tokens)), *(repr(token) for token in tokenizer.special_tokens))
    add(tokenizer.unicode_version, tokenizer.post_processor)
    if tokenizer.usage != NO_USAGE:
        add(repr(tokenizer.usage))
    return digest.hexdigest()
