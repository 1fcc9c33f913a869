"""Read and write the models of a ``tokenizer.json`` whose tokens are text: all but byte-level BPE.

Models that Hugging Face's library does not have are written in the same layout, with a ``type`` of
their own, which that library refuses: ``SuffixBpe``, ``EventBpe``, ``ScoredBpe``, ``LongestMatch``, ``FewestTokens``,
``MaxMatch``, ``GreedyCover``, ``NGram``.

Length: each model is read here and written here, so that its form can be read in one place.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats import byte_level
from bpe_cli.formats.added_tokens import special_text
from bpe_cli.formats.features import check_scores
from bpe_cli.formats.huggingface import events
from bpe_cli.formats.read_file import Node
from bpe_cli.stages import (
    ALGORITHMS,
    CharacterBpe,
    EventBpe,
    FewestTokens,
    GreedyCover,
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
from bpe_cli.stages.spelling import BYTE_TEXT, BYTE_TEXTS, CONTROL, UNKNOWN
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer

OWN = (EventBpe, FewestTokens, GreedyCover, LongestMatch, MaxMatch, NGram)
"""Models that Hugging Face's library does not read."""

LONGEST_NGRAM = 64


def kind_of(node: Node) -> str:
    """Return the type of a model; older files leave it out."""
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
    known = (*MERGED, EVENTS, *SCORED, *OF_TEXTS)
    if name not in known:
        raise kind.error(f"is {quote(name)}, a model that is not known", hint=f"known are {', '.join(known)}")
    return name


def read(name: str, node: Node, specials: Iterable[SpecialToken]) -> tuple[Model, dict[str, int]]:
    """Read a model whose tokens are text; also return all tokens of the file with their ids.

    Text never becomes a special token without being asked to, so these are left out of the vocabulary that is matched,
    though the file has them there.
    """
    hidden = hidden_of(node, specials)
    if name in SCORED:
        return _read_scored(name, node, hidden)
    ids = byte_level.read_ids(node.get("vocab"))
    if name == EVENTS:
        return events.read(node, ids, hidden, _unk_id(node, ids)), ids
    vocabulary = byte_level.vocabulary_of(node, {t: i for t, i in ids.items() if t not in hidden})
    return _read_of_texts(name, node, ids, vocabulary), ids


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


def check_unknown(node: Node) -> None:
    """Check the types of the fields about unknown text."""
    node.get("unk_token").text_or_none()
    for field in ("fuse_unk", "byte_fallback"):
        node.flag(field)


def _unk_id(node: Node, ids: Mapping[str, int]) -> int | None:
    """Return the id of the unknown token, if there is one."""
    return None if node.get("unk_token").is_null else _needed_unk_id(node, ids)


def _needed_unk_id(node: Node, ids: Mapping[str, int]) -> int:
    unk = node.get("unk_token")
    text = unk.text()
    if text not in ids:
        raise unk.error(f"is {quote(text)}, which is not in the vocabulary")
    return ids[text]


def _check_bytes(node: Node, ids: Mapping[str, int]) -> None:
    """Refuse byte fallback with tokens for some of the bytes only.

    Hugging Face's library then puts the unknown token behind the bytes that follow it, and fuses it across them.
    """
    found = sum(text.decode() in ids for text in BYTE_TEXTS)
    if found % len(BYTE_TEXTS):
        raise node.get("byte_fallback").error(
            f"is true, and {found} of the 256 bytes have tokens",
            hint="give tokens to all of them or to none: else what is unknown depends on its neighbours",
        )


def read_character_bpe(
    node: Node, ids: Mapping[str, int], pairs: Iterable[tuple[str, str]], specials: Iterable[SpecialToken]
) -> CharacterBpe:
    """Read BPE over characters."""
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
    vocabulary = byte_level.vocabulary_of(node, {t: i for t, i in ids.items() if t not in hidden or i in used})
    triples = Merges.from_pairs((left, right, product) for (left, right), product in merges.items())
    return character_bpe(node, ids, vocabulary, triples)


def character_bpe(node: Node, ids: Mapping[str, int], vocabulary: Vocabulary, merges: Merges) -> CharacterBpe:
    """Return BPE over characters from a vocabulary and merges that are already read."""
    unk_id = _unk_id(node, ids)
    fuse_unk, byte_fallback, whole = (node.flag(key) for key in ("fuse_unk", "byte_fallback", "ignore_merges"))
    marks = ("continuing_subword_prefix", "end_of_word_suffix", "whole_runs_of")
    prefix, suffix, runs = (node.get(key).text_or_none() or "" for key in marks)
    if len(runs) > 1:
        raise node.get("whole_runs_of").error(f"is {quote(runs)}; it must be one character")
    if byte_fallback and unk_id is not None:
        _check_bytes(node, ids)
    separate = node.get("type").value == "SuffixBpe"
    return CharacterBpe(
        vocabulary, merges, unk_id, fuse_unk, byte_fallback, whole, prefix, suffix, separate, whole_runs_of=runs
    )


def prefix_of(node: Node) -> str:
    """Return the prefix of tokens that do not begin a word, after checking the fields of BPE over characters."""
    node.only("type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
              "byte_fallback", "ignore_merges", "whole_runs_of", "unicode_version", "vocab", "merges")  # fmt: skip
    prefix, _ = (node.get(key).text_or_none() for key in ("continuing_subword_prefix", "end_of_word_suffix"))
    return prefix or ""


OF_TEXTS = {
    "WordPiece": ("continuing_subword_prefix", "max_input_chars_per_word"),
    "WordLevel": ("fuse_unk",),
    "LongestMatch": (
        "left_to_right", "end_of_word_suffix", "separate_suffix", "continuing_subword_prefix", "frequencies",
    ),
    "FewestTokens": (
        "fuse_unk", "end_of_word_suffix", "separate_suffix", "continuing_subword_prefix", "max_input_chars_per_word",
    ),
    "MaxMatch": (),
    "GreedyCover": (),
    "NGram": ("n",),
}  # fmt: skip
"""Models whose vocabulary is an object of text -> id, with the fields that each has of its own."""

MERGED = ("BPE", "SuffixBpe")
"""Models with merges; in the second the end of a word is a symbol of its own."""

EVENTS = "EventBpe"
"""The model that has merges and splits in one list."""

SCORED = ("Unigram", "ScoredBpe")
"""Models whose vocabulary is a list of [text, score]."""


def _read_of_texts(name: str, node: Node, ids: Mapping[str, int], vocabulary: Vocabulary) -> Model:
    node.only("type", "unk_token", *OF_TEXTS[name], "unicode_version", "vocab")
    if name == "WordPiece":
        unk_id, prefix = _needed_unk_id(node, ids), node.get("continuing_subword_prefix").text()
        return WordPiece(vocabulary, unk_id, prefix, node.get("max_input_chars_per_word").integer(below=1 << 31))
    if name == "WordLevel":
        unk = node.get("unk_token").text_or_none()  # Hugging Face's own default names one that may be missing
        return WordLevel(vocabulary, None if unk is None else ids.get(unk), node.flag("fuse_unk"))
    if name == "LongestMatch":
        counts = node.get("frequencies")
        return LongestMatch(
            vocabulary,
            node.get("left_to_right").boolean(),
            _unk_id(node, ids),
            node.get("end_of_word_suffix").text_or_none() or "",
            separate_suffix=node.flag("separate_suffix", default=True),
            continuing_subword_prefix=node.get("continuing_subword_prefix").text_or_none() or "",
            frequencies=None if counts.is_null else array("d", (each.integer(1 << 53) for each in counts.items())),
        )
    if name == "FewestTokens":
        limit = node.get("max_input_chars_per_word")
        marks = ("end_of_word_suffix", "continuing_subword_prefix")
        suffix, prefix = (node.get(key).text_or_none() or "" for key in marks)
        return FewestTokens(
            vocabulary, _unk_id(node, ids), node.flag("fuse_unk"), suffix, node.flag("separate_suffix"), prefix,
            None if limit.is_null else limit.integer(below=1 << 31),
        )  # fmt: skip
    if name in ("MaxMatch", "GreedyCover"):
        return (MaxMatch if name == "MaxMatch" else GreedyCover)(vocabulary, _unk_id(node, ids))
    n = node.get("n").integer(below=LONGEST_NGRAM + 1)
    if n < 1:
        raise node.get("n").error("must be 1 or more")
    return NGram(vocabulary, n, _unk_id(node, ids))


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
    single = node.flag("single_precision")
    check_scores(scores, lambda number: list(ids)[number].encode(), entries.where, single=single)
    vocabulary = Vocabulary.from_tokens(tokens)
    byte_fallback = node.flag("byte_fallback")
    if byte_fallback and kinds.is_null:
        _check_bytes(node, ids)
    if name == "Unigram":
        fixed = node.flag("fixed_point")
        if fixed and single:
            raise node.get("fixed_point").error("cannot be true together with single_precision")
        return Unigram(
            vocabulary,
            scores,
            unk_id,
            byte_fallback,
            fuse_unk=node.flag("fuse_unk", default=True),
            single_precision=single,
            kinds=numbers,
            fixed_point=fixed,
        ), ids
    if unk_id is None:
        raise unk.error("must be an id")
    return ScoredBpe(vocabulary, scores, unk_id, numbers, byte_fallback), ids


def with_unknown(tokenizer: Tokenizer, ids: Mapping[str, int]) -> Tokenizer:
    """Return the text of an unknown token that the file does not list among its added tokens.

    Such a token is in no vocabulary that is matched; as a special token it can be decoded.
    """
    unk_id = tokenizer.model.unk_id
    if unk_id is None or unk_id in tokenizer.special_ids or tokenizer.model.vocabulary.among((unk_id,)):
        return tokenizer
    text = next(token for token, token_id in ids.items() if token_id == unk_id)
    special = SpecialToken(text.encode(), unk_id)
    ordered = sorted((*tokenizer.special_tokens, special), key=lambda token: token.token_id)
    return replace(tokenizer, special_tokens=tuple(ordered))


def write(tokenizer: Tokenizer) -> dict[str, Any]:
    """Write a model whose tokens are text."""
    model = tokenizer.model
    if isinstance(model, (Unigram, ScoredBpe)):
        return _write_scored(tokenizer, model)
    tokens = byte_level.visible_tokens(model.vocabulary) if model.byte_level else _texts(model.vocabulary)
    vocab = byte_level.write_vocabulary(tokenizer, tokens)
    names = {token_id: text for text, token_id in vocab.items()}
    if isinstance(model, OWN) and (apart := _apart(tokenizer)):
        vocab = {text: token_id for text, token_id in vocab.items() if token_id not in apart}
    names |= {token.token_id: special_text(token) for token in tokenizer.special_tokens}
    unknown = None if model.unk_id is None else names[model.unk_id]
    if isinstance(model, WordLevel):
        # Hugging Face's library needs a name here, also of a token that is not there.
        missing = next(name for number in count() if (name := "<unk>" * (number + 1)) not in vocab)
        content: dict[str, Any] = {"type": "WordLevel", "vocab": vocab, "unk_token": unknown or missing}
        return content | ({"fuse_unk": True} if model.fuse_unk else {})
    if isinstance(model, CharacterBpe):
        merges = [(tokens[left], tokens[right]) for left, right, _ in model.merges]
        return _written_characters(model, unknown) | {"vocab": vocab, "merges": merges}
    content = {"type": type(model).__name__, "unk_token": unknown} | _settings(model) | {"vocab": vocab}
    return content | ({"events": events.write(model, tokens)} if isinstance(model, EventBpe) else {})


def _written_characters(model: CharacterBpe, unknown: str | None) -> dict[str, Any]:
    """Write merges of characters, but for their tokens and merges."""
    content = {
        "type": "SuffixBpe" if model.separate_suffix else "BPE",
        "dropout": None,
        "unk_token": unknown,
        "continuing_subword_prefix": model.continuing_subword_prefix or None,
        "end_of_word_suffix": model.end_of_word_suffix or None,
        "fuse_unk": model.fuse_unk,
        "byte_fallback": model.byte_fallback,
        "ignore_merges": model.ignore_merges,
    }
    return content | ({"whole_runs_of": model.whole_runs_of} if model.whole_runs_of else {})


def _settings(model: Model) -> dict[str, Any]:
    """Write what a model has beside its tokens, in the order of the file."""
    if isinstance(model, EventBpe):
        return {
            "fuse_unk": model.fuse_unk,
            "byte_level": model.byte_level,
            "ignore_merges": model.ignore_merges,
        }
    if isinstance(model, WordPiece):
        return {
            "continuing_subword_prefix": model.continuing_subword_prefix,
            "max_input_chars_per_word": model.max_input_chars_per_word,
        }
    if isinstance(model, LongestMatch):
        content: dict[str, Any] = {
            "left_to_right": model.left_to_right,
            "end_of_word_suffix": model.end_of_word_suffix or None,
        }
        # What is as it always was is not written: older versions read it.
        if not model.separate_suffix:
            content["separate_suffix"] = False
        if model.continuing_subword_prefix:
            content["continuing_subword_prefix"] = model.continuing_subword_prefix
        if model.frequencies is not None:
            content["frequencies"] = [int(count) for count in model.frequencies]
        return content
    if isinstance(model, FewestTokens):
        return {
            "fuse_unk": model.fuse_unk,
            "end_of_word_suffix": model.end_of_word_suffix or None,
            "separate_suffix": model.separate_suffix,
            "continuing_subword_prefix": model.continuing_subword_prefix or None,
            "max_input_chars_per_word": model.max_input_chars_per_word,
        }
    if isinstance(model, NGram):
        return {"n": model.n}
    if isinstance(model, (MaxMatch, GreedyCover)):
        return {}
    raise FormatError(f"tokenizer.json has no form for {ALGORITHMS[model.kind]}")


def _apart(tokenizer: Tokenizer) -> set[int]:
    """Return the ids of added tokens that are not special, and that the model does not match.

    Hugging Face's library needs them in the vocabulary where their ids do not follow its own, and matches them then. It
    reads none of our own models, and we take the ids that added tokens state.
    """
    model = tokenizer.model
    added = [token.token_id for token in tokenizer.special_tokens if not token.special]
    return {token_id for token_id in added if token_id != model.unk_id and not model.vocabulary.among((token_id,))}


def _texts(vocabulary: Vocabulary) -> list[str]:
    """Return every token by id as text; ``""`` for an unused id."""
    tokens = [""] * vocabulary.size
    for token_id, token in vocabulary.items():
        try:
            tokens[token_id] = token.decode()
        except UnicodeDecodeError:
            raise FormatError(
                f"the token {quote(token)} (id {token_id}) is not UTF-8, and JSON holds only text",
                hint="train without such bytes, as `iconv -f utf-8 -t utf-8 -c` leaves them out of a text, or without "
                "rare tokens by a higher `min_frequency`",
            ) from None
    return tokens


def _write_scored(tokenizer: Tokenizer, model: Unigram | ScoredBpe) -> dict[str, Any]:
    entries: list[str] = _texts(model.vocabulary)
    for token in tokenizer.special_tokens:
        if token.token_id < len(entries):
            entries[token.token_id] = special_text(token)
    if len(model.scores) != len(entries):
        raise FormatError(f"there are {len(model.scores):,} scores for {len(entries):,} tokens")
    if "" in entries:
        raise FormatError(f"id {entries.index('')} has no token, and a list of tokens has no gaps")
    content: dict[str, Any] = {
        "type": type(model).__name__,
        "unk_id": model.unk_id,
        "vocab": list(zip(entries, model.scores, strict=True)),
        "byte_fallback": model.byte_fallback,
    }
    if model.kinds:
        content["kinds"] = list(model.kinds)
    elif model.unk_id is not None and model.unk_id < len(entries) and model.vocabulary.token(model.unk_id):
        raise FormatError(
            f"the unknown token {quote(entries[model.unk_id])} (id {model.unk_id}) has a text of its own, which "
            "tokenizer.json can hold only with kinds",
            hint="give it no text, or give the model a kind for each token",
        )
    if isinstance(model, Unigram):
        usual = {"fuse_unk": True, "single_precision": False, "fixed_point": False}
        content |= {key: getattr(model, key) for key, value in usual.items() if getattr(model, key) != value}
    return content
