"""The code that the formats of GPT-2's family share: a byte-level vocabulary in visible characters.

A token is written with one character per byte (``spelling``), a merge as its two parts; which
merge comes first is its priority. Special tokens may stand among the ordinary ones, or after them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats.added_tokens import special_text
from bpe_cli.formats.features import cuts_otherwise, other_model
from bpe_cli.formats.read_file import Node
from bpe_cli.stages import MergeBpe, RankBpe, SpecialToken
from bpe_cli.stages.spelling import from_visible, to_visible
from bpe_cli.stages.vocabulary import MAX_ID, Merges, Vocabulary
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer


def read_ids(node: Node) -> dict[str, int]:
    """Check an object of token -> id."""
    ids: dict[str, int] = {}
    owner: dict[int, str] = {}
    for token, token_id in node.members().items():
        if type(token_id) is not int or not 0 <= token_id < MAX_ID:
            shown = repr(token_id)[:40] if isinstance(token_id, (int, float)) else type(token_id).__name__
            raise node.error(f"gives {quote(token)} the id {shown}; ids are integers from 0 to {MAX_ID - 1:,}")
        if token_id in owner:
            raise node.error(f"gives the id {token_id} to {quote(owner[token_id])} and to {quote(token)}")
        owner[token_id] = token
        ids[token] = token_id
    return ids


def vocabulary_of(node: Node, ids: Mapping[str, int], spelt: Callable[[str], bytes] = str.encode) -> Vocabulary:
    """Return tokens of an object of text -> id as a vocabulary; the empty one leaves its id unused.

    Args:
        node: The model that has the object.
        ids: The tokens.
        spelt: What the bytes of a token are, by its text.
    """
    for token, token_id in ids.items():
        if token_id >= _core.MAX_TOKENS:
            raise node.get("vocab").error(
                f"gives {quote(token)} the id {token_id:,}; ids run to {_core.MAX_TOKENS - 1:,}"
            )
    return Vocabulary.from_ids({spelt(token): token_id for token, token_id in ids.items() if token})


def read_model(
    ids: Mapping[str, int],
    pairs: Iterable[tuple[str, str]],
    special_tokens: Iterable[SpecialToken],
    source: str,
    *,
    ignore_merges: bool = False,
) -> MergeBpe:
    """Build the model from visible tokens and merges.

    An entry that is an added token too is left out of the ordinary vocabulary unless a merge makes or uses it, it is a
    single byte, or whole pieces may be it (``left_out_of``): nothing else could turn text into it. An entry that is not
    written in the byte alphabet is only decoded, to its own text: text is written in that alphabet before it is merged,
    so that neither the entry nor a merge of it is ever met. The empty token, which stands in some
    vocabularies (Whisper's), leaves its id unused. Of a merge that appears twice the last counts, as in
    GPT-2's and Hugging Face's readers.
    """
    contents = {token_id: from_visible(token) for token, token_id in ids.items()}
    table: dict[tuple[int, int], int] = {}
    for number, (left, right) in enumerate(pairs, start=1):
        try:
            key = (ids[left], ids[right])
            product = ids[left + right]
        except KeyError as error:
            raise FormatError(
                f"{source}: merge {number} ({quote(left)}, {quote(right)}): "
                f"the token {quote(error.args[0])} is not in the vocabulary"
            ) from None
        table.pop(key, None)  # the place of the last one counts
        if contents[product] is not None:
            table[key] = product
        if number > _core.MAX_TOKENS:
            raise FormatError(f"{source}: there are more than {_core.MAX_TOKENS:,} merges")
    triples = array("I")
    for (left_id, right_id), product in table.items():
        triples.extend((left_id, right_id, product))
    used = set(triples)
    left_out = left_out_of(special_tokens, ignore_merges=ignore_merges)
    ordinary: dict[bytes, int] = {}
    texts: list[tuple[int, bytes]] = []
    for token, token_id in ids.items():
        if token_id in left_out and token_id not in used and not (len(token) == 1 and from_visible(token)):
            continue
        content = contents[token_id]
        if token_id >= _core.MAX_TOKENS:
            raise FormatError(
                f"{source}: the token {quote(token)} has id {token_id:,}; ids run to {_core.MAX_TOKENS - 1:,}"
            )
        if content is None:
            texts.append((token_id, token.encode()))
        elif content:
            ordinary[content] = token_id
    vocabulary = _with_places(Vocabulary.from_ids(ordinary), max((token_id for token_id, _ in texts), default=-1) + 1)
    return MergeBpe(vocabulary, Merges(triples), ignore_merges, tuple(sorted(texts)))


def left_out_of(added: Iterable[SpecialToken], *, ignore_merges: bool) -> set[int]:
    """Return the ids of added tokens that no text becomes but by being recognized, unless a merge uses them.

    Text never becomes a special token by itself. Another one is found in the text before there are pieces, unless it
    has to stand as a word by itself: then a piece may be it, where whole pieces come before merges.
    """
    return {
        token.token_id
        for token in added
        if not ignore_merges or token.special or not token.single_word or from_visible(token.content.decode()) is None
    }


def _with_places(vocabulary: Vocabulary, size: int) -> Vocabulary:
    """Return a vocabulary that has a place for at least so many ids, empty for those that it does not have."""
    lacking = size - vocabulary.size
    if lacking <= 0:
        return vocabulary
    return Vocabulary(vocabulary.blob, vocabulary.ends + array("I", [len(vocabulary.blob)]) * lacking)


def visible_tokens(vocabulary: Vocabulary) -> list[str]:
    """Return every token by id in visible characters; ``""`` for an unused id."""
    text = to_visible(vocabulary.blob)  # one character per byte, so the same ends hold
    start = 0
    tokens = []
    for end in vocabulary.ends:
        tokens.append(text[start:end])
        start = end
    return tokens


def write_vocabulary(
    tokenizer: Tokenizer, texts: list[str] | None = None, *, all_special: bool = False
) -> dict[str, int]:
    """Return token -> id, by id, with the special tokens that are to stand among them.

    ``texts`` has the ordinary tokens as they are written, by id; visible characters if left out.

    Unless all are asked for, those whose ids follow the ordinary ones without a gap are left out, as
    Hugging Face does with tokens that were added after training; with a gap, or with special tokens
    among the ordinary ones, its reader would number them anew if they were.
    """
    vocabulary = tokenizer.model.vocabulary
    unk_id = tokenizer.model.unk_id
    size = max(vocabulary.size, -1 if unk_id is None else unk_id + 1)  # a model names its unknown token by its text
    entries: dict[int, str] = {}
    owner: dict[str, int] = {}
    for token_id, token in enumerate(visible_tokens(vocabulary) if texts is None else texts):
        if token:
            if token in owner:
                raise FormatError(f"the tokens {owner[token]} and {token_id} are the same bytes: {quote(token)}")
            owner[token] = token_id
            entries[token_id] = token
    for token_id, content in tokenizer.model.texts:
        text = special_text(SpecialToken(content, token_id))
        if token_id in entries or owner.setdefault(text, token_id) != token_id:
            raise FormatError(
                f"id {token_id} decodes to {quote(text)}, and is written like the token {owner.get(text, token_id)}"
            )
        entries[token_id] = text
        size = max(size, token_id + 1)
    appended: dict[int, str] = {}
    for special in sorted(tokenizer.special_tokens, key=lambda token: token.token_id):
        text = special_text(special)
        if owner.get(text, special.token_id) != special.token_id:
            raise FormatError(
                f"the special token {quote(text)} (id {special.token_id}) would be written "
                f"like the token {owner[text]}, whose bytes are {vocabulary.token(owner[text])!r}"
            )
        if entries.get(special.token_id, text) != text or special.token_id in appended:
            other = entries.get(special.token_id) or appended[special.token_id]
            raise FormatError(f"id {special.token_id} is both {quote(other)} and {quote(text)}")
        owner[text] = special.token_id
        if special.token_id < size:
            entries[special.token_id] = text
        else:
            appended[special.token_id] = text
    if all_special or len(entries) != size or list(appended) != list(range(size, size + len(appended))):
        entries |= appended
    return {entries[token_id]: token_id for token_id in sorted(entries)}


def plain(tokenizer: Tokenizer, holder: str) -> Tokenizer:
    """Leave out the stages of a byte-level tokenizer that only ``tokenizer.json`` can state.

    ``features.losses`` names them; what is left is splits, and perhaps a space before the text.
    """
    stages = tuple(stage for stage in tokenizer.pre_tokenizer if not cuts_otherwise(stage))
    left = replace(tokenizer, normalizer=(), pre_tokenizer=stages, decoder=())
    if not left.is_plain:
        names = ", ".join(type(stage).__name__ for stage in stages)
        raise FormatError(f"{holder} can hold split patterns and one space before the text, but not {names}")
    return left


def write_merges(tokenizer: Tokenizer, format_name: str) -> list[tuple[str, str]]:
    """Return the merges in visible characters; ranks are turned into merges when merges alone are exact."""
    model = tokenizer.model
    merges = ranks_as_merges(model, format_name) if isinstance(model, RankBpe) else None
    return _written_merges(tokenizer, merges, format_name)


def write_merges_and_pieces(tokenizer: Tokenizer) -> tuple[list[tuple[str, str]], bool]:
    """Return the merges in visible characters, and whether a whole piece that is a token comes before them.

    Ranks that merges do not do alone need that.
    """
    from bpe_cli.tokenizer.merging import as_merges

    model = tokenizer.model
    if isinstance(model, RankBpe):
        exact = as_merges(model)
        return _written_merges(tokenizer, exact.merges, "tokenizer.json"), exact.ignore_merges
    merges = _written_merges(tokenizer, None, "tokenizer.json")
    return merges, isinstance(model, MergeBpe) and model.ignore_merges


def _written_merges(tokenizer: Tokenizer, merges: Merges | None, format_name: str) -> list[tuple[str, str]]:
    """Write merges, by default the model's own, in visible characters."""
    model = tokenizer.model
    if merges is None:
        if not isinstance(model, MergeBpe):
            raise other_model(model, ("bpe-ranks", "bpe-merges"), format_name)
        merges = model.merges
    tokens = visible_tokens(model.vocabulary)
    written = []
    for number, (left, right, product) in enumerate(merges, start=1):
        if tokens[left] + tokens[right] != tokens[product]:
            raise FormatError(
                f"merge {number} makes {quote(tokens[product])} of {quote(tokens[left])} and {quote(tokens[right])}; "
                f"{format_name} holds merges that join their parts"
            )
        written.append((tokens[left], tokens[right]))
    return written


def ranks_as_merges(model: RankBpe, format_name: str) -> Merges:
    """Turn ranks into the merges that do the same without looking up whole pieces."""
    from bpe_cli.tokenizer.merging import of_ranks

    recovered = of_ranks(model.vocabulary)
    if recovered.whole:
        first = recovered.whole[0]
        raise FormatError(
            f"{format_name} holds merges, and no merge reaches {len(recovered.whole):,} of the ranked tokens; "
            f"the first is {quote(model.vocabulary.token(first))} (id {first})",
            hint="write tokenizer.json, which can say that a whole piece comes first, or keep it as a .tiktoken file",
        )
    return recovered.merges
