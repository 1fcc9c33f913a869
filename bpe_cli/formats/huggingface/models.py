"""Read the models of a ``tokenizer.json`` whose tokens are text: all but byte-level BPE; ``model_writing`` writes them.

Models that Hugging Face's library does not have are written in the same layout, with a ``type`` of
their own, which that library refuses: ``SuffixBpe``, ``ScoredBpe``, ``LongestMatch``, ``MaxMatch``, ``NGram``.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping

from bpe_cli import _core
from bpe_cli.formats import byte_level
from bpe_cli.formats import scores as score_checks
from bpe_cli.formats.json_node import Node
from bpe_cli.stages import (
    CharacterBpe,
    LongestMatch,
    MaxMatch,
    Model,
    NGram,
    ScoredBpe,
    SpecialToken,
    Unigram,
    WordLevel,
    WordPiece,
)
from bpe_cli.stages.spelling import BYTE_TEXT, CONTROL, UNKNOWN
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer

LONGEST_NGRAM = 64


def kind_of(node: Node) -> str:
    """Return the type of a model; older files leave it out.

    Raises:
        FormatError: if it is not known.
    """
    members = node.members()
    kind = node.get("type")
    if not kind.is_null:
        name = kind.text()
    elif "merges" in members:
        name = "BPE"
    elif isinstance(members.get("vocab"), list):
        name = "Unigram"
    elif "continuing_subword_prefix" in members:
        name = "WordPiece"
    else:
        name = "WordLevel"
    known = (*MERGED, *SCORED, *READERS)
    if name not in known:
        raise kind.error(f"is {quote(name)}, a model that is not known", hint=f"known are {', '.join(known)}")
    return name


def read(name: str, node: Node, specials: Iterable[SpecialToken]) -> tuple[Model, dict[str, int]]:
    """Read a model whose tokens are text.

    Args:
        name: Its type.
        node: Its place.
        specials: Special tokens: text never becomes one of those without being asked to, so they are
            left out of the vocabulary that is matched, though the file has them there.

    Returns:
        The model, and all tokens of the file with their ids.

    Raises:
        FormatError: if it is malformed.
    """
    hidden = hidden_of(node, specials)
    if name in SCORED:
        return _read_scored(name, node, hidden)
    ids = byte_level.read_ids(node.get("vocab"))
    return READERS[name](node, ids, _vocabulary(node, {t: i for t, i in ids.items() if t not in hidden})), ids


def hidden_of(node: Node, specials: Iterable[SpecialToken]) -> set[str]:
    """Return the texts that are left out of the vocabulary that is matched.

    Where unknown characters fall back to bytes, the names of those stay: ``special_tokens`` sees to it that their own
    texts do not become them.
    """
    fall_back = node.get("byte_fallback").value is True
    return {
        token.content.decode()
        for token in specials
        if token.special and not (fall_back and BYTE_TEXT.fullmatch(token.content))
    }


def _vocabulary(node: Node, ids: Mapping[str, int]) -> Vocabulary:
    for token, token_id in ids.items():
        if token_id >= _core.MAX_TOKENS:
            raise node.get("vocab").error(
                f"gives {quote(token)} the id {token_id:,}; ids run to {_core.MAX_TOKENS - 1:,}"
            )
    return Vocabulary.from_ids({token.encode(): token_id for token, token_id in ids.items() if token})


def check_unknown(node: Node) -> None:
    """Hold the fields about what is unknown to their types.

    Raises:
        FormatError: if a field is of another type.
    """
    if not node.get("unk_token").is_null:
        node.get("unk_token").text()
    for field in ("fuse_unk", "byte_fallback"):
        node.get(field).boolean(default=False)


def _unk_id(node: Node, ids: Mapping[str, int]) -> int | None:
    """Return the id of the unknown token, if there is one."""
    return None if node.get("unk_token").is_null else _needed_unk_id(node, ids)


def _needed_unk_id(node: Node, ids: Mapping[str, int]) -> int:
    unk = node.get("unk_token")
    text = unk.text()
    if text not in ids:
        raise unk.error(f"is {quote(text)}, which is not in the vocabulary")
    return ids[text]


def read_character_bpe(
    node: Node, ids: Mapping[str, int], pairs: Iterable[tuple[str, str]], specials: Iterable[SpecialToken]
) -> CharacterBpe:
    """Read BPE over characters.

    Raises:
        FormatError: if a merge uses or makes a token that is not there.
    """
    prefix = prefix_of(node)
    merges: dict[tuple[int, int], int] = {}
    for number, (left, right) in enumerate(pairs, start=1):
        try:
            key = (ids[left], ids[right])
            product = ids[left + (right.removeprefix(prefix) if prefix else right)]
        except KeyError as error:
            raise node.get("merges").error(
                f"has merge {number} ({quote(left)}, {quote(right)}), and "
                f"the token {quote(error.args[0])} is not in the vocabulary"
            ) from None
        merges.pop(key, None)  # the place of the last one counts
        merges[key] = product
    used = {token_id for (left_id, right_id), product in merges.items() for token_id in (left_id, right_id, product)}
    hidden = hidden_of(node, specials)
    vocabulary = _vocabulary(node, {t: i for t, i in ids.items() if t not in hidden or i in used})
    triples = Merges.from_pairs((left, right, product) for (left, right), product in merges.items())
    return character_bpe(node, ids, vocabulary, triples)


def character_bpe(node: Node, ids: Mapping[str, int], vocabulary: Vocabulary, merges: Merges) -> CharacterBpe:
    """Return BPE over characters with a vocabulary and merges that are read already.

    Raises:
        FormatError: if the rest of the model is malformed.
    """
    return CharacterBpe(
        vocabulary,
        merges,
        unk_id=_unk_id(node, ids),
        fuse_unk=node.get("fuse_unk").boolean(default=False),
        byte_fallback=node.get("byte_fallback").boolean(default=False),
        ignore_merges=node.get("ignore_merges").boolean(default=False),
        continuing_subword_prefix=_text_or_none(node.get("continuing_subword_prefix")),
        end_of_word_suffix=_text_or_none(node.get("end_of_word_suffix")),
        separate_suffix=node.get("type").value == "SuffixBpe",
        whole_runs_of=_one_character(node.get("whole_runs_of")),
    )


def prefix_of(node: Node) -> str:
    """Return what stands before a token that begins no word; and hold BPE over characters to the fields it has.

    Raises:
        FormatError: if there are others, or one is malformed.
    """
    node.only("type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
              "byte_fallback", "ignore_merges", "whole_runs_of", "unicode_version", "vocab", "merges")  # fmt: skip
    prefix, _ = (_text_or_none(node.get(key)) for key in ("continuing_subword_prefix", "end_of_word_suffix"))
    return prefix


def _one_character(node: Node) -> str:
    text = _text_or_none(node)
    if len(text) > 1:
        raise node.error(f"is {quote(text)}; it is to be one character")
    return text


def _text_or_none(node: Node) -> str:
    return "" if node.is_null else node.text()


def _read_word_piece(node: Node, ids: Mapping[str, int], vocabulary: Vocabulary) -> WordPiece:
    node.only("type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "unicode_version", "vocab")
    return WordPiece(
        vocabulary,
        _needed_unk_id(node, ids),
        node.get("continuing_subword_prefix").text(),
        node.get("max_input_chars_per_word").integer(below=1 << 31),
    )


def _read_word_level(node: Node, ids: Mapping[str, int], vocabulary: Vocabulary) -> WordLevel:
    node.only("type", "unk_token", "fuse_unk", "unicode_version", "vocab")
    unk = node.get("unk_token")
    known = not unk.is_null and unk.text() in ids  # Hugging Face's own default names one that may be missing
    return WordLevel(vocabulary, ids[unk.text()] if known else None, node.get("fuse_unk").boolean(default=False))


def _read_longest_match(node: Node, ids: Mapping[str, int], vocabulary: Vocabulary) -> LongestMatch:
    node.only("type", "unk_token", "left_to_right", "end_of_word_suffix", "separate_suffix",
              "continuing_subword_prefix", "frequencies", "unicode_version", "vocab")  # fmt: skip
    counts = node.get("frequencies")
    return LongestMatch(
        vocabulary,
        node.get("left_to_right").boolean(),
        _unk_id(node, ids),
        _text_or_none(node.get("end_of_word_suffix")),
        separate_suffix=node.get("separate_suffix").boolean(default=True),
        continuing_subword_prefix=_text_or_none(node.get("continuing_subword_prefix")),
        frequencies=None if counts.is_null else array("d", (each.integer(below=1 << 53) for each in counts.items())),
    )


def _read_max_match(node: Node, ids: Mapping[str, int], vocabulary: Vocabulary) -> MaxMatch:
    node.only("type", "unk_token", "unicode_version", "vocab")
    return MaxMatch(vocabulary, _unk_id(node, ids))


def _read_ngram(node: Node, ids: Mapping[str, int], vocabulary: Vocabulary) -> NGram:
    node.only("type", "unk_token", "n", "unicode_version", "vocab")
    n = node.get("n").integer(below=LONGEST_NGRAM + 1)
    if n < 1:
        raise node.get("n").error("is to be 1 or more")
    return NGram(vocabulary, n, _unk_id(node, ids))


READERS: dict[str, Callable[[Node, Mapping[str, int], Vocabulary], Model]] = {
    "WordPiece": _read_word_piece,
    "WordLevel": _read_word_level,
    "LongestMatch": _read_longest_match,
    "MaxMatch": _read_max_match,
    "NGram": _read_ngram,
}
"""Models whose vocabulary is an object of text -> id."""

MERGED = ("BPE", "SuffixBpe")
"""Models with merges; in the second the end of a word is a symbol of its own."""

SCORED = ("Unigram", "ScoredBpe")
"""Models whose vocabulary is a list of [text, score]."""


def _read_scored(name: str, node: Node, hidden: set[str]) -> tuple[Model, dict[str, int]]:
    """Read a model whose vocabulary is a list of [text, score]."""
    own = ("fuse_unk", "single_precision", "fixed_point") if name == "Unigram" else ()
    node.only("type", "unk_id", "vocab", "byte_fallback", "kinds", "unicode_version", *own)
    entries = node.get("vocab")
    ids: dict[str, int] = {}
    tokens: list[bytes] = []
    scores = array("d")
    for number, entry in enumerate(entries.elements()):
        if number >= _core.MAX_TOKENS:
            raise entries.error(f"has more than {_core.MAX_TOKENS:,} tokens")
        if not (isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str)) or not (
            isinstance(entry[1], (int, float)) and not isinstance(entry[1], bool)
        ):
            raise entries.error(f"has entry {number} in another form than [text, score]")
        text, score = entry
        if text in ids:
            raise entries.error(f"gives {quote(text)} the ids {ids[text]} and {number}")
        ids[text] = number
        tokens.append(b"" if text in hidden else text.encode())
        scores.append(float(score))
    kinds = node.get("kinds")
    numbers = b"" if kinds.is_null else bytes(each.integer(below=7) for each in kinds.items())
    if numbers and len(numbers) != len(tokens):
        raise kinds.error(f"has {len(numbers):,} numbers for {len(tokens):,} tokens")
    unk = node.get("unk_id")
    unk_id = None if unk.is_null else unk.integer(below=len(tokens) or 1)
    if unk_id is not None and unk_id < len(tokens) and (not numbers or numbers[unk_id] in (UNKNOWN, CONTROL)):
        tokens[unk_id] = b""
    single = node.get("single_precision").boolean(default=False)
    score_checks.check(scores, lambda number: list(ids)[number].encode(), entries.where, single=single)
    vocabulary = Vocabulary.from_tokens(tokens)
    byte_fallback = node.get("byte_fallback").boolean(default=False)
    if name == "Unigram":
        fixed = node.get("fixed_point").boolean(default=False)
        if fixed and single:
            raise node.get("fixed_point").error("is true, and single_precision too")
        return Unigram(
            vocabulary,
            scores,
            unk_id,
            byte_fallback,
            fuse_unk=node.get("fuse_unk").boolean(default=True),
            single_precision=single,
            kinds=numbers,
            fixed_point=fixed,
        ), ids
    if unk_id is None:
        raise unk.error("is to be an id")
    return ScoredBpe(vocabulary, scores, unk_id, numbers, byte_fallback), ids


def with_unknown(tokenizer: Tokenizer, ids: Mapping[str, int]) -> Tokenizer:
    """Return the text of an unknown token that the file does not list among its added tokens.

    Such a token is in no vocabulary that is matched; as a special token it can be decoded.
    """
    unk_id = tokenizer.model.unk_id
    if unk_id is None or unk_id in tokenizer.special_ids or tokenizer.model.vocabulary.token(unk_id):
        return tokenizer
    text = next(token for token, token_id in ids.items() if token_id == unk_id)
    special = SpecialToken(text.encode(), unk_id)
    ordered = sorted((*tokenizer.special_tokens, special), key=lambda token: token.token_id)
    return replace(tokenizer, special_tokens=tuple(ordered))
