"""Ask what the model alone makes of a token's own symbols, and conclude what it can make of them in any text.

Merging (by ranks, by a list, by scores). *A token stands in the result for some piece only if it is what its
own symbols, in the same place, are merged to alone.* Say that it covers a stretch of the piece in the end. No
merge crossed the edges of the stretch, or it would not end there. Each step takes the first place among those
of the best priority; so the steps inside the stretch are those that the stretch takes alone, in the same order:
a step outside changes nothing inside, and the best place inside stays the best one inside. Merging goes on until
nothing is left to merge, inside too. So the stretch alone comes to the token. The converse needs a piece with
nothing beside the token that it is merged with: a witness shows it. Whole pieces that are looked up before any
merging are the exception.

A list of merges and splits. *A token that is split at last, or that nothing makes, stands in no result*; but for the
second, where whole pieces are looked up. What a token's own symbols come to is no proof here, since a merge across its
edges may be taken back.

Unigram. *A token stands on the best path only if no other path over its own characters has a higher score*: put in
its place, that one would make any path with the token better. (Scores are added with rounding; differences that
are no more than ``MARGIN`` prove nothing.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bpe_cli.errors import FormatError
from bpe_cli.reports.tokenizer.reachability import LONGEST, Search, Verdict
from bpe_cli.stages import CharacterBpe, EventBpe, MergeBpe, RankBpe, ScoredBpe, Unigram, WordPiece
from bpe_cli.stages.events import SPLIT, first_merges, replayed, triples
from bpe_cli.stages.spelling import BYTE_TEXT, UNUSED, USER_DEFINED
from bpe_cli.support.cached import cached_property
from bpe_cli.support.messages import plural, quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.merging import as_merges, of_ranks
from bpe_cli.tokenizer.special_tokens import dead_merges

if TYPE_CHECKING:
    from bpe_cli.stages import Model

MARGIN = 1e-3
"""The least difference of scores that proves anything, for scores of up to 1,000: sums of many are rounded."""

_SHOWN = 4
_WHEN_ASKED_FOR = "text becomes it only where special tokens are asked for"


class Alone:
    """A model without its stages, and without looking up whole pieces before it merges."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.model = tokenizer.live_model
        self._dead = tokenizer.model, tokenizer.withheld
        self.looks_up = isinstance(self.model, RankBpe) or self.model.ignore_merges
        """Whether a whole piece that is a token becomes it whatever merging would do."""
        self._quotes: dict[int, str] = {}

    @cached_property
    def _tokenizer(self) -> Tokenizer | None:
        """The bare model; None where ranks cannot be written as merges."""
        model: Model = self.model
        if isinstance(model, RankBpe):
            try:
                model = as_merges(model)
            except FormatError:
                return None
        if isinstance(model, (MergeBpe, CharacterBpe)) and model.ignore_merges:
            model = replace(model, ignore_merges=False)
        return Tokenizer(model)

    @cached_property
    def _search(self) -> Search | None:
        return Search(self._tokenizer) if self._tokenizer else None

    @cached_property
    def _makers(self) -> Counter[int]:
        """How many dead merges would make each token."""
        return Counter(product for _, (_, _, product) in dead_merges(*self._dead))

    def why_special(self, token_id: int) -> str:
        """Explain why no text becomes a special token, and that merges that would make it are dead."""
        makers = self._makers[token_id]
        if makers:
            verb = "is" if makers == 1 else "are"
            return f"{_WHEN_ASKED_FOR}; {plural(makers, 'merge')} would make it, and {verb} dead"
        _, tokens = self._dead
        order = {RankBpe: "rank", ScoredBpe: "score"}.get(type(self.model))
        by_order = order is not None and token_id in tokens.ids
        return _WHEN_ASKED_FOR + (f"; nothing is merged by its {order}" if by_order else "")

    def comes_to(self, tokens: Sequence[bytes]) -> Iterator[list[int] | None]:
        """Yield the ids that each text merges to as a piece; None where that is not known."""
        if self._search is None:
            return (None for _ in tokens)
        return self._search.encoded(tokens)

    def unmerged(self, tokens: Mapping[int, bytes]) -> set[int]:
        """Return the tokens that merging is known never to make."""
        model = self.model
        if isinstance(model, RankBpe):
            try:
                return set(of_ranks(model.vocabulary).whole).intersection(tokens)
            except FormatError:
                return set()
        if not isinstance(model, MergeBpe):
            return set()
        results = zip(tokens, self.comes_to(list(tokens.values())), strict=True)
        return {token_id for token_id, ids in results if ids is not None and ids != [token_id]}

    def refuted(self, token_ids: Sequence[int]) -> dict[int, Verdict]:
        """Return verdicts on those of some ordinary tokens that the model can make in no piece, looked up or not."""
        model = self.model
        kinds = model.kinds
        verdicts: dict[int, Verdict] = {}
        for token_id in token_ids:
            if token_id < len(kinds) and kinds[token_id] == UNUSED:
                reason = "the file marks it as unused: it serves merging only"
                verdicts[token_id] = Verdict(token_id, False, "special", None, reason)
        open_ids = [token_id for token_id in token_ids if token_id not in verdicts]
        if isinstance(model, Unigram):
            open_ids = [each for each in open_ids if not (each < len(kinds) and kinds[each] == USER_DEFINED)]
            refute = self._by_scores(model, open_ids)
        elif isinstance(model, CharacterBpe):
            refute = self._by_merges_of_characters(model, open_ids)
        elif isinstance(model, (RankBpe, MergeBpe, ScoredBpe)):
            refute = self._by_merges(open_ids)
        elif isinstance(model, EventBpe):
            refute = self._by_events(model, open_ids)
        elif isinstance(model, WordPiece):
            refute = self._by_length(model, open_ids)
        else:
            refute = iter(())
        return verdicts | {verdict.token_id: verdict for verdict in refute}

    def _by_merges(self, token_ids: Sequence[int]) -> Iterator[Verdict]:
        tokens = [self.model.vocabulary.token(token_id) for token_id in token_ids]
        for token_id, token, ids in zip(token_ids, tokens, self.comes_to(tokens), strict=True):
            if ids is None or token_id in ids:
                continue
            # Of what is looked up as a whole piece this is no proof, so nobody reads why.
            reason = None if self.looks_up else self._merging_reason(token, ids)
            yield Verdict(token_id, False, "merges", None, reason)

    def _merging_reason(self, token: bytes, ids: Sequence[int]) -> str:
        vocabulary = self.model.vocabulary
        if len(ids) == 1 and ids[0] < vocabulary.size and vocabulary.token(ids[0]) == token:
            return f"id {ids[0]} has the same text"
        return f"its own text is merged to {self._shown(ids)}" if ids else "its characters have no tokens"

    def _shown(self, ids: Sequence[int]) -> str:
        """Show some tokens."""
        parts = [self._quoted(each) for each in ids[:_SHOWN]]
        more = len(ids) - len(parts)
        return " + ".join(parts) + (f" and {more:,} more" if more else "")

    def _quoted(self, token_id: int) -> str:
        if token_id not in self._quotes:
            vocabulary = self.model.vocabulary
            known = token_id < vocabulary.size
            self._quotes[token_id] = quote(vocabulary.token(token_id)) if known else f"id {token_id}"
        return self._quotes[token_id]

    def _by_merges_of_characters(self, model: CharacterBpe, token_ids: Sequence[int]) -> Iterator[Verdict]:
        """Explain it as for bytes, where a token's text tells the symbols that it is merged of.

        Names of bytes and the unknown token can be symbols, too: tokens whose text holds such a name
        are left open.
        """
        plain = [each for each in token_ids if not self.holds_name(model.vocabulary.token(each))]
        if not (model.continuing_subword_prefix or model.end_of_word_suffix):
            yield from self._by_merges(plain)
            return
        merges: dict[tuple[int, int], tuple[int, int]] = {}
        for number, (left, right, product) in enumerate(model.merges):
            merges.setdefault((left, right), (number, product))
        for token_id in plain:
            token = model.vocabulary.token(token_id)
            if len(token) > LONGEST:
                continue
            ends = [_merged(symbols, merges) for symbols in _spellings(model, token.decode())]
            if [token_id] not in ends:
                shortest = min(ends, key=len, default=[])
                yield Verdict(token_id, False, "merges", None, self._merging_reason(token, shortest))

    def _by_events(self, model: EventBpe, token_ids: Sequence[int]) -> Iterator[Verdict]:
        """Refute tokens that are not there when all events have happened."""
        replay = replayed(model)
        splits = (left for left, right, _ in triples(model.events) if right == SPLIT)
        last = {token_id: number for number, token_id in enumerate(splits)}
        made = first_merges(model)
        for token_id in token_ids:
            if token_id in replay.removed:
                parts = self._shown(replay.parts_of(last[token_id]))
                yield Verdict(token_id, False, "absent", None, f"it is split into {parts}, and not made again")
            elif not self.looks_up and token_id not in made and not model.is_symbol(token_id):
                yield Verdict(token_id, False, "absent", None, "no event makes it")

    def holds_name(self, token: bytes) -> bool:
        """Return whether a token may be merged of what stands for other text: the unknown token, a byte's name."""
        model = self.model
        if not isinstance(model, CharacterBpe):
            return False
        unknown = b"" if model.unk_id is None else _text_of(model, model.unk_id)
        return bool((unknown and unknown in token) or (model.byte_fallback and BYTE_TEXT.search(token)))

    def _by_scores(self, model: Unigram, token_ids: Sequence[int]) -> Iterator[Verdict]:
        tokens = [model.vocabulary.token(token_id) for token_id in token_ids]
        margin = MARGIN * max(1.0, max(map(abs, model.scores), default=0.0) / 1000)
        for token_id, token, ids in zip(token_ids, tokens, self.comes_to(tokens), strict=True):
            if not ids or token_id in ids or len(token) > LONGEST:
                continue
            best = self._best_score(token)
            own = model.scores[token_id]
            if best is not None and best - own > margin:
                reason = f"{self._shown(ids)} always scores higher: {best:.2f} against {own:.2f}"
                yield Verdict(token_id, False, "scores", None, reason)

    def _best_score(self, piece: bytes) -> float | None:
        best = self._tokenizer.engine.nbest(piece, 1) if self._tokenizer else None
        return best[0][1] if best else None

    def _by_length(self, model: WordPiece, token_ids: Sequence[int]) -> Iterator[Verdict]:
        """Refute tokens longer than any word that is looked up, and tokens hidden by another id of the same text."""
        most = model.max_input_chars_per_word
        prefix = model.continuing_subword_prefix
        for token_id in token_ids:
            text = model.vocabulary.token(token_id).decode()
            inside = bool(prefix) and text.startswith(prefix)
            # A text that begins with the prefix can also be the beginning of a word.
            if len(text.removeprefix(prefix)) + inside > most and len(text) > most:
                yield Verdict(token_id, False, "merges", None, f"words of more than {most} characters are unknown")
                continue
            last = model.vocabulary.id_of(text.encode())
            if last is not None and last != token_id:
                yield Verdict(token_id, False, "shadowed", None, f"id {last} has the same text")


def _text_of(model: CharacterBpe, token_id: int) -> bytes:
    return model.vocabulary.token(token_id) if token_id < model.vocabulary.size else b""


def _spellings(model: CharacterBpe, text: str) -> Iterator[list[int]]:
    """Yield the symbols that a token could be merged of, at the beginning, inside and at the end of a piece."""
    prefix, suffix = model.continuing_subword_prefix, model.end_of_word_suffix
    for inside in (False, True) if prefix else (False,):
        for final in (False, True) if suffix else (False,):
            if (inside and not text.startswith(prefix)) or (final and not text.endswith(suffix)):
                continue
            characters = list(text.removeprefix(prefix) if inside else text)
            if final:
                characters = characters[: len(characters) - len(suffix)]
            symbols = [(prefix if inside or place else "") + each for place, each in enumerate(characters)]
            if final and model.separate_suffix:
                symbols.append(suffix)
            elif final:
                if not symbols:
                    continue
                symbols[-1] += suffix
            ids = [model.vocabulary.id_of(symbol.encode()) for symbol in symbols]
            known = [each for each in ids if each is not None]
            if known and len(known) == len(ids):
                yield known


def _merged(symbols: list[int], merges: dict[tuple[int, int], tuple[int, int]]) -> list[int]:
    """Merge symbols until nothing is left to merge."""
    while True:
        ranked = [
            (merges[pair][0], place)
            for place in range(len(symbols) - 1)
            if (pair := (symbols[place], symbols[place + 1])) in merges
        ]
        if not ranked:
            return symbols
        _, place = min(ranked)
        symbols = [*symbols[:place], merges[symbols[place], symbols[place + 1]][1], *symbols[place + 2 :]]
