"""Examine which tokens text can become, layer by layer: each layer takes the tokens that the last one left.

Length: eleven layers, which hand their open tokens and what they have tried to the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from bpe_cli.reports.tokenizer.contents import meaning_of
from bpe_cli.reports.tokenizer.reachability import (
    CONTEXTS,
    FIRST_CONTEXTS,
    LAYERS,
    LONG_BYTES,
    LONGEST,
    MOST_IN_PAIRS,
    MOST_TEXTS,
    PAIRS,
    Layer,
    Reachability,
    Search,
    Verdict,
    beginnings,
    in_contexts,
)
from bpe_cli.reports.tokenizer.reachability.model_alone import Alone
from bpe_cli.reports.tokenizer.reachability.normalizing import (
    Normal,
    byte_texts,
    names_byte,
    normalized_text,
    spells_all_bytes,
    unknown_texts,
    why_no_byte,
    why_nothing_unknown,
)
from bpe_cli.reports.tokenizer.reachability.pieces import (
    FIRST,
    MOST,
    Pieces,
    completions,
    cuts_between_characters,
)
from bpe_cli.stages import CharacterBpe, EventBpe, Prepend
from bpe_cli.stages.codebook import between_tags, codebook_words
from bpe_cli.support.messages import plural, quote
from bpe_cli.support.texts import is_utf8

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.reachability import Candidate
    from bpe_cli.tokenizer import Tokenizer

_UNSPELT = "it is not spelt in the byte alphabet, so that no text becomes it: it is only decoded"
_ONLY_A_PIECE = "merging does not come to it, and pieces of well-formed text end between characters"
_TOO_MANY = "too many tokens are in doubt, and the characters of this one were not completed"
_MOST_IN_DOUBT = 1 << 17
_FEW = 4
_MOST_COMPLETIONS = 1 << 20
_MOST_COMPLETED_IN_CONTEXTS = 256
_COMPLETIONS_IN_CONTEXTS = 64
_MOST_TRIED_IN_ALL_PIECES = 256


LAYER_STEPS = 11
"""How many steps further an examination tells that it is."""


def examine(
    tokenizer: Tokenizer,
    token_ids: Collection[int] | None = None,
    *,
    advance: Callable[[int], None] = lambda _: None,
) -> Reachability:
    """Find out which tokens text can become, with special tokens left alone.

    Args:
        token_ids: The tokens to examine; None for all, special and added ones too.
        advance: Called with each further number of steps, ``LAYER_STEPS`` in all.

    Returns:
        The verdicts: of all tokens asked for, or of those of all that are not plainly reachable.

    Raises:
        InputError: if an id has no token.

    Complexity: a layer encodes each token that it is asked about in a few texts; about half a second
    for 200,000 tokens of which few are in doubt.
    """
    special = {token.token_id: token.content for token in tokenizer.special_tokens}
    texts = dict(tokenizer.model.texts) | codebook_words(tokenizer.model)
    if token_ids is None:
        tokens = dict(tokenizer.model.vocabulary.items()) | special | texts
    else:
        tokens = {token_id: tokenizer.token_bytes(token_id) for token_id in token_ids}
    unspelt = {token_id: tokens.pop(token_id) for token_id in texts if token_id in tokens}
    examination = _Examination(tokenizer, dict(sorted(tokens.items())))
    examination.run(advance)
    verdicts = examination.verdicts
    verdicts |= {token_id: Verdict(token_id, False, "pieces", None, _UNSPELT) for token_id in unspelt}
    tokens |= unspelt
    witnesses = examination.search.witnesses(between_tags(tokenizer.model, verdicts.keys()))
    verdicts |= {each: Verdict(each, True, "context", text) for each, text in witnesses.items()}
    counts = Counter(verdict.layer for verdict in verdicts.values())
    counts["plain"] += len(tokens) - len(verdicts)
    if token_ids is not None:
        for token_id in tokens.keys() - verdicts.keys():
            verdicts[token_id] = Verdict(token_id, True, "plain", examination.texts[token_id])
    kept = {
        token_id: verdict
        for token_id, verdict in sorted(verdicts.items())
        if verdict.layer != "plain" or token_ids is not None
    }
    return Reachability(
        examined=len(tokens),
        counts=tuple((layer, counts[layer]) for layer in LAYERS if counts[layer]),
        verdicts=kept,
        contents={token_id: tokens[token_id] for token_id in kept},
    )


class _Examination:
    """One run through the layers: open tokens become verdicts."""

    def __init__(self, tokenizer: Tokenizer, tokens: dict[int, bytes]) -> None:
        self.tokenizer = tokenizer
        self.tokens = tokens
        self.special = tokenizer.special_ids
        meaning = meaning_of(tokenizer)
        self.texts = {
            token_id: token if token_id in self.special else meaning(token) for token_id, token in tokens.items()
        }
        self.verdicts: dict[int, Verdict] = {}
        self.search = Search(tokenizer)
        self.alone = Alone(tokenizer)
        self.normal = Normal(tokenizer)
        model = tokenizer.model
        over_characters = isinstance(model, (CharacterBpe, EventBpe)) and not model.byte_level
        self.leaves_out = over_characters and model.unk_id is None and not spells_all_bytes(tokenizer)
        self.unmerged: set[int] = set()
        self.ill_formed: dict[int, bytes] = {}
        self.tried: Counter[int] = Counter()
        self.crowded_out: set[int] = set()

    def run(self, advance: Callable[[int], None]) -> None:
        """Run the layers."""
        contexts = (*CONTEXTS[:FIRST_CONTEXTS], *beginnings(self.tokenizer), *CONTEXTS[FIRST_CONTEXTS:])
        suspects: list[int] = []
        for layer in (
            lambda _: self._plain(),
            self._fallbacks,
            self._specials,
            self._refuted,
            self._completed,
            lambda left: self._in_contexts(left, contexts[:FIRST_CONTEXTS]),
            self._most,
            self._shadowed,
            lambda left: self._in_contexts(left, contexts[FIRST_CONTEXTS:]),
            lambda left: self._in_contexts(left, PAIRS) if len(left) <= MOST_IN_PAIRS else left,
            self._unkept,
        ):
            suspects = layer(suspects)
            advance(1)
        for token_id in suspects:
            self._leave_open(token_id)

    def _ordinary(self, token_ids: Collection[int]) -> list[int]:
        """Return the tokens that the live model's vocabulary has unchanged."""
        vocabulary = self.tokenizer.live_model.vocabulary
        return [
            token_id
            for token_id in token_ids
            if token_id < vocabulary.size and vocabulary.token(token_id) == self.tokens[token_id]
        ]

    def _is_special(self, token_id: int) -> bool:
        token = self.special.get(token_id)
        return token is not None and token.special

    # -- layers that find texts

    def _plain(self) -> list[int]:
        """Encode each token's own text."""
        unk_id = self.tokenizer.model.unk_id
        room = LONG_BYTES
        own: list[int] = []
        too_long: list[int] = []
        for token_id, text in self.texts.items():
            if len(text) > LONGEST:
                if len(text) > room:
                    too_long.append(token_id)
                    continue
                room -= len(text)
            own.append(token_id)
        plain: list[int] = []
        suspects: list[int] = []
        for token_id, ids in zip(own, self.search.encoded(self.texts[each] for each in own), strict=True):
            if ids is None or token_id not in ids or token_id == unk_id:  # a text becomes that one as anything does
                suspects.append(token_id)
            elif is_utf8(self.texts[token_id]):
                plain.append(token_id)
            else:
                self.ill_formed[token_id] = self.texts[token_id]
                suspects.append(token_id)
        if self.alone.looks_up:
            self.unmerged = self.alone.unmerged({each: self.tokens[each] for each in self._ordinary(plain)})
            for token_id in sorted(self.unmerged):
                self.verdicts[token_id] = Verdict(token_id, True, "whole", self.texts[token_id])
        # A stage may put there what the token begins with.
        put = {" "} | {stage.prepend for stage in self.tokenizer.normalizer if isinstance(stage, Prepend)}
        bare = (
            (token_id, text[len(before.encode()) :])
            for token_id in suspects
            for before in sorted(put)
            if (text := self.texts[token_id]).startswith(before.encode()) and text != before.encode()
        )
        for token_id, text in self.search.witnesses(bare).items():
            self.texts[token_id] = text
            if is_utf8(text):
                self.verdicts[token_id] = Verdict(token_id, True, "plain", text)
            else:
                self.ill_formed[token_id] = text
        return sorted([*self._still(suspects), *too_long])

    def _still(self, token_ids: Collection[int]) -> list[int]:
        return [token_id for token_id in token_ids if token_id not in self.verdicts]

    def _fallbacks(self, suspects: list[int]) -> list[int]:
        """Look for texts that the model encodes as unknown or as bytes."""
        unk_id = self.tokenizer.model.unk_id
        named = {
            token_id: byte
            for token_id in suspects
            if (byte := names_byte(self.tokenizer, self.tokens[token_id])) is not None
        }
        candidates = ((token_id, text) for token_id, byte in named.items() for text in byte_texts(byte))
        for token_id, text in self.search.witnesses(candidates).items():
            self._reached(token_id, text, "fallback")
        if unk_id in suspects:
            witnesses = self.search.witnesses((unk_id, text) for text in unknown_texts(self.tokenizer))
            if unk_id in witnesses:
                self._reached(unk_id, witnesses[unk_id], "fallback")
            else:
                self.verdicts[unk_id] = why_nothing_unknown(self.tokenizer, unk_id)
        for token_id in self._still(named):
            self.verdicts[token_id] = why_no_byte(self.tokenizer, token_id, named[token_id], self.normal)
        return self._still(suspects)

    def _reached(self, token_id: int, text: bytes, layer: Layer) -> None:
        well_formed = is_utf8(text)
        self.verdicts[token_id] = Verdict(token_id, True, layer if well_formed else "ill-formed", text)

    def _completed(self, suspects: list[int]) -> list[int]:
        """Complete tokens with parts of characters; settle those that only ill-formed text becomes."""
        partial = [token_id for token_id in suspects if not is_utf8(self.texts[token_id])]
        if not partial:
            return suspects
        # What merging does not come to is a whole piece or nothing.
        in_pieces = self.unmerged.intersection(partial) if cuts_between_characters(self.tokenizer) else set()
        room, start = _MOST_COMPLETIONS, 0
        open_ids = [each for each in partial if each not in in_pieces and len(self.texts[each]) <= LONGEST]
        for length in (_FEW, FIRST - _FEW, FIRST * 7, MOST):  # most are found among the first few
            some = self.search.witnesses(self._completions(open_ids, start, start + length, room))
            self.verdicts |= {each: Verdict(each, True, "completion", text) for each, text in some.items()}
            room = _MOST_COMPLETIONS - self.tried.total()
            start += length
            open_ids = self._still(open_ids)
        if len(open_ids) <= _MOST_COMPLETED_IN_CONTEXTS:
            few = {each: completions(self.texts[each], last=_COMPLETIONS_IN_CONTEXTS) for each in open_ids}
            self._completed_in_contexts(few)
        for token_id in self._still(partial):
            if token_id in self.ill_formed:
                count = self.tried[token_id]
                reason = (
                    _ONLY_A_PIECE
                    if token_id in in_pieces
                    else f"none of {plural(count, 'text')} that complete its characters keeps it"
                    if count
                    else _TOO_MANY
                    if token_id in self.crowded_out
                    else "no well-formed text holds its bytes"
                )
                self.verdicts[token_id] = Verdict(token_id, True, "ill-formed", self.ill_formed[token_id], reason)
        return self._still(suspects)

    def _completed_in_contexts(self, texts: dict[int, list[bytes]]) -> None:
        """Put text around completions, for the few that none of them alone keeps."""
        for before, after in CONTEXTS:
            around = (
                (token_id, before + text + after)
                for token_id, complete in texts.items()
                if token_id not in self.verdicts
                for text in complete
            )
            for token_id, text in self.search.witnesses(around).items():
                self.verdicts[token_id] = Verdict(token_id, True, "completion", text)
            for token_id in self._still(texts):
                self.tried[token_id] += len(texts[token_id])

    def _completions(self, token_ids: list[int], start: int, end: int, room: int) -> Iterator[Candidate]:
        """Yield some completions of each token; none of those for which there is no room."""
        for token_id in token_ids:
            if room <= 0:
                if not start:
                    self.crowded_out.add(token_id)
                continue
            some = completions(self.texts[token_id], start, end)
            room -= len(some)
            self.tried[token_id] += len(some)
            yield from ((token_id, text) for text in some)

    def _in_contexts(self, suspects: list[int], contexts: tuple[tuple[bytes, bytes], ...]) -> list[int]:
        """Put other text beside each token's."""
        texts = {token_id: self.texts[token_id] for token_id in suspects}
        room = MOST_TEXTS
        for candidates in in_contexts(texts, contexts):
            room -= len(texts)
            if not texts or room < 0:
                break
            for token_id, text in self.search.witnesses(candidates).items():
                self._reached(token_id, text, "context")
                del texts[token_id]
            for token_id in texts:
                self.tried[token_id] += 1
        return list(texts)

    def _most(self, suspects: list[int]) -> list[int]:
        """Keep as many doubtful tokens as can be examined one by one, and leave the others open."""
        for token_id in suspects[_MOST_IN_DOUBT:]:
            reason = f"more than {_MOST_IN_DOUBT:,} tokens are in doubt, and this one was not looked at by itself"
            self.verdicts[token_id] = Verdict(token_id, None, "undecided", None, reason)
        return suspects[:_MOST_IN_DOUBT]

    # -- layers that prove that there is no text

    def _specials(self, suspects: list[int]) -> list[int]:
        """Settle tokens that the model does not have."""
        ordinary = set(self._ordinary(suspects))
        for token_id in suspects:
            if token_id not in ordinary and self._is_special(token_id):
                self.verdicts[token_id] = Verdict(token_id, False, "special", None, self.alone.why_special(token_id))
        return self._still(suspects)

    def _refuted(self, suspects: list[int]) -> list[int]:
        """Ask the model alone."""
        refuted = self.alone.refuted(self._ordinary(suspects))
        for token_id, verdict in refuted.items():
            if self.alone.looks_up and verdict.layer == "merges":
                self.unmerged.add(token_id)  # as a whole piece it may still be found
            else:
                self._unreachable(token_id, verdict.layer, verdict.reason or "")
        return self._still(suspects)

    def _unreachable(self, token_id: int, layer: Layer, reason: str) -> None:
        if self._is_special(token_id):
            layer, reason = "special", self.alone.why_special(token_id)
        self.verdicts[token_id] = Verdict(token_id, False, layer, None, reason)

    def _shadowed(self, suspects: list[int]) -> list[int]:
        """Prove that the other stages leave no text for a token."""
        pieces = Pieces(self.tokenizer)
        for token_id in suspects:
            symbols = self.tokens[token_id]
            if len(symbols) > LONGEST or self.alone.holds_name(symbols):
                continue
            text = normalized_text(self.tokenizer, symbols)
            if self.leaves_out and is_utf8(text) and len(text.decode()) > 1:
                # What has no token is left out, so the token's text need not stand in one part.
                reasons = (self.normal.why_none(character.encode()) for character in text.decode())
                if reason := next(filter(None, reasons), None):
                    self._unreachable(token_id, "shadowed", reason)
                continue
            if reason := self._added_within(token_id, text) or self.normal.why_none(text):
                self._unreachable(token_id, "shadowed", reason)
            elif reason := pieces.why_none(symbols, text, whole=token_id in self.unmerged):
                self._unreachable(token_id, "pieces", reason)
        return self._still(suspects)

    def _unkept(self, suspects: list[int]) -> list[int]:
        """Try all pieces that can hold a token, where they are few."""
        if not self.tokenizer.has_bytes or len(suspects) > _MOST_TRIED_IN_ALL_PIECES:
            return suspects
        pieces = Pieces(self.tokenizer)
        holding = {token_id: pieces.holding(self.tokens[token_id]) for token_id in self._ordinary(suspects)}
        candidates = ((token_id, piece) for token_id, texts in holding.items() for piece in texts)
        for token_id, text in self.search.witnesses(candidates).items():
            self._reached(token_id, text, "context")
        for token_id in self._still(holding):
            if reason := pieces.why_not_kept(token_id, holding[token_id]):
                self._unreachable(token_id, "pieces", reason)
        return self._still(suspects)

    def _added_within(self, token_id: int, text: bytes) -> str | None:
        """Name an added token that is found wherever a token's text stands.

        Such tokens are found from the left before anything else. Either this one is found within the text,
        or one that overlaps it is: in both cases the text is not left in one part.
        """
        added = [token for token in self.tokenizer.special_tokens if not token.special]
        # A text that is made of another is not looked at; and a single word that is found and then
        # refused, for what stands beside it, hides those within.
        if self.tokenizer.normalizer or any(token.single_word for token in added):
            return None
        for token in added:
            if token.content in text and token.token_id != token_id:
                return f"it holds the added token {quote(token.content)}, which is always found first"
        return None

    def _leave_open(self, token_id: int) -> None:
        tried = self.tried[token_id]
        reason = f"its text is longer than the {LONGEST:,} bytes up to which texts are tried"
        if tried and len(self.texts[token_id]) <= LONGEST:
            reason = f"not found in {plural(tried, 'text')} around it"
        self.verdicts[token_id] = Verdict(token_id, None, "undecided", None, reason)
