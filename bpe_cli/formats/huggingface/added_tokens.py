"""Put added tokens into a tokenizer that was read without them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from bpe_cli.errors import FormatError
from bpe_cli.formats.byte_level import flags_of
from bpe_cli.stages import CharacterBpe, MergeBpe, Model, RankBpe, ScoredBpe, SpecialToken, Unigram
from bpe_cli.stages.spelling import BYTE_TEXT, from_visible
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Declared:
    """An added token as a file declares it.

    Attributes:
        token: The token.
        source: The file.
        whole: Whether the file states all flags too, so that others are a contradiction.
    """

    token: SpecialToken
    source: str
    whole: bool = False


def ids_of(tokenizer: Tokenizer) -> Callable[[str], int | None]:
    """Return what finds the id of a text: of an added token, or of an ordinary one that is written so."""
    added = {token.content: token.token_id for token in tokenizer.special_tokens}
    added |= {text: token_id for token_id, text in tokenizer.model.texts}

    def id_of(text: str) -> int | None:
        content = text.encode()
        if content in added:
            return added[content]
        if tokenizer.has_bytes and from_visible(text) != content:
            return None  # files spell such bytes otherwise
        return tokenizer.model.vocabulary.id_of(content)

    return id_of


def put_in(tokenizer: Tokenizer, declared: Iterable[Declared], source: str) -> Tokenizer:
    """Return a tokenizer that has more added tokens, and no ordinary ones of the same ids.

    Args:
        tokenizer: The tokenizer.
        declared: The tokens; those that are there already may be among them.
        source: The tokenizer's own file.

    Raises:
        FormatError: if an id is taken, a text has another id, or a token that is there has other flags.
    """
    there = [Declared(token, source, whole=True) for token in tokenizer.special_tokens]
    by_id = {each.token.token_id: each for each in there}
    by_content = {each.token.content: each for each in there}
    id_of = ids_of(tokenizer)
    unspelt = dict(tokenizer.model.texts)
    new: list[SpecialToken] = []
    for each in declared:
        token = each.token
        twin = by_id.get(token.token_id) or by_content.get(token.content)
        if twin is None:
            twin = _ordinary_twin(tokenizer.model.vocabulary, unspelt, id_of, token, source)
        if twin is None:
            by_id[token.token_id] = by_content[token.content] = each
            new.append(token)
        elif (twin.token.token_id, twin.token.content) != (token.token_id, token.content):
            raise FormatError(
                f"{each.source} has the added token {quote(token.content)} with id {token.token_id}, "
                f"and {twin.source} has {quote(twin.token.content)} with id {twin.token.token_id}",
                hint="the files do not belong together, or one of them was changed alone",
            )
        elif each.whole and twin.whole and twin.token != token:
            flags = [flag for flag, value in flags_of(token).items() if value != getattr(twin.token, flag)]
            raise FormatError(
                f"{each.source} and {twin.source} contradict each other about the added token "
                f"{quote(token.content)} (id {token.token_id}): {', '.join(flags)}",
                hint="make them the same: ids of text depend on it",
            )
    if not new:
        return tokenizer
    ordered = sorted((*tokenizer.special_tokens, *new), key=lambda token: token.token_id)
    return replace(tokenizer, model=_without(tokenizer.model, new), special_tokens=tuple(ordered))


def _ordinary_twin(
    vocabulary: Vocabulary,
    unspelt: Mapping[int, bytes],
    id_of: Callable[[str], int | None],
    token: SpecialToken,
    source: str,
) -> Declared | None:
    """Return the ordinary token that has the id of another text, or the text under another id."""
    content = vocabulary.token(token.token_id) if token.token_id < vocabulary.size else b""
    content = content or unspelt.get(token.token_id, b"")
    if content not in (b"", token.content):
        return Declared(SpecialToken(content, token.token_id), source)
    other_id = id_of(token.content.decode())
    if other_id not in (None, token.token_id):
        return Declared(SpecialToken(token.content, other_id or 0), source)
    return None


def _without(model: Model, tokens: Iterable[SpecialToken]) -> Model:
    """Leave tokens out of the vocabulary that is matched, so that no text becomes one unasked.

    What merges make or use stays, as it does when a ``tokenizer.json`` lists such a token itself.
    """
    on_bytes = isinstance(model, (RankBpe, MergeBpe))
    fall_back = model.byte_fallback
    hidden = {
        token.token_id
        for token in tokens
        if (token.special or on_bytes) and not (fall_back and BYTE_TEXT.fullmatch(token.content))
    }
    if isinstance(model, (MergeBpe, CharacterBpe)):
        hidden -= set(model.merges.triples)
    if on_bytes:
        hidden -= {token.token_id for token in tokens if len(token.content) == 1}
    if isinstance(model, MergeBpe) and model.texts:
        model = replace(model, texts=tuple((number, text) for number, text in model.texts if number not in hidden))
    vocabulary = model.vocabulary
    if not any(token_id < vocabulary.size and vocabulary.token(token_id) for token_id in hidden):
        return model
    if isinstance(model, (Unigram, ScoredBpe)):  # which have a score for every id
        kept = Vocabulary.from_tokens(
            b"" if token_id in hidden else vocabulary.token(token_id) for token_id in range(vocabulary.size)
        )
    else:
        ids = {token: token_id for token_id, token in vocabulary.items() if token_id not in hidden}
        kept = Vocabulary.from_ids(ids)
    return replace(model, vocabulary=kept)
