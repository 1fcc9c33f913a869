"""Make small tokenizers of every kind at random: odd scores, unknown tokens, types, flags, gaps and stages."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable
from random import Random
from typing import Any

from bpe_cli.stages import (
    NFC,
    NFKC,
    BertNormalizer,
    BertPreTokenizer,
    BPEDecoder,
    ByteFallback,
    ByteLevel,
    ByteLevelDecoder,
    ByteLevelNormalizer,
    CharacterBpe,
    Digits,
    EventBpe,
    FewestTokens,
    Fuse,
    GreedyCover,
    LongestMatch,
    Lowercase,
    MaxMatch,
    MergeBpe,
    Metaspace,
    MetaspaceDecoder,
    NGram,
    PrefixSpace,
    Prepend,
    Punctuation,
    RankBpe,
    Replace,
    ReplaceDecoder,
    ScoredBpe,
    SpaceMarks,
    SpaceMarksDecoder,
    SpecialToken,
    Split,
    Strip,
    StripDecoder,
    Unigram,
    Whitespace,
    WhitespaceSplit,
    WordLevel,
    WordPiece,
    WordPieceDecoder,
)
from bpe_cli.stages.models import SPLIT
from bpe_cli.stages.spelling import BYTE_TEXTS, to_visible
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.tokenizer import Tokenizer

LETTERS = "abeé1 ▁#ßÉ漢"
SCORES = (
    0.0,
    -0.0,
    -1.0,
    -2.0,
    -3.0,
    -1.5,
    -2.25,
    -0.1,
    -0.30000001,
    -1e-45,
    -1e-310,
    -1e30,
    -3e38,
    2.0,
    -1e6,
    -1234567.0,
)
SPECIALS = ("<s>", "</s>", "<unk>", "<pad>", "[UNK]", "[CLS]", "<|x|>", "a b", "ab", "é", "<0x41>", "▁<x>", "#")
KINDS = (
    "ranks", "merges", "characters", "events", "scores",
    "wordpiece", "words", "unigram", "longest", "fewest", "maxmatch", "cover", "ngram",
)  # fmt: skip


def chance(random: Random, probability: float) -> bool:
    return random.random() < probability


def joined(random: Random, parts: list[str], count: int) -> list[tuple[str, str, str]]:
    """Return merges: left, right and what they make, each of parts or of what was made before."""
    known, found = list(parts), []
    for _ in range(count):
        left, right = random.choice(known), random.choice(known)
        if len(left + right) <= 12:
            found.append((left, right, left + right))
            known.append(left + right)
    return found


def numbered(random: Random, texts: list[str]) -> dict[str, int]:
    """Return ids, sometimes in another order and with gaps."""
    texts = list(dict.fromkeys(texts))
    if chance(random, 0.3):
        random.shuffle(texts)
    ids, number = {}, random.choice((0, 0, 0, 1, 3))
    gaps = chance(random, 0.2)
    for text in texts:
        ids[text] = number
        number += 1 + (gaps and chance(random, 0.2))
    return ids


def letters(random: Random) -> list[str]:
    return random.sample(LETTERS, random.randint(3, len(LETTERS)))


def special_tokens(random: Random, ids: dict[str, int], free: int, *, on_text: bool = True) -> list[SpecialToken]:
    found = []
    for text in random.sample(SPECIALS, random.choice((0, 1, 2, 3))):
        token_id = ids.get(
            text if on_text else to_visible(text.encode()), free + len(found) + (chance(random, 0.1) * 2)
        )
        flags = {flag: chance(random, 0.12) for flag in ("single_word", "lstrip", "rstrip", "normalized")}
        found.append(SpecialToken(text.encode(), token_id, special=chance(random, 0.7), **flags))
        free = max(free, token_id + 1 - len(found))
    return sorted(found, key=lambda token: token.token_id)


def on_bytes(random: Random, kind: str) -> Tokenizer:
    bytes_ = [bytes([byte]) for byte in range(256)]
    if chance(random, 0.2):
        bytes_ = sorted(random.sample(bytes_, 250))
    if chance(random, 0.3):
        random.shuffle(bytes_)
    known = [byte for byte in bytes_ if byte in b"abe 1\xc3\xa9"]
    merges: list[tuple[bytes, bytes]] = []
    tokens = list(bytes_)
    for _ in range(random.randint(0, 12)):
        left, right = random.choice(known), random.choice(known)
        if len(left + right) < 12 and left + right not in tokens:
            merges.append((left, right))
            tokens.append(left + right)
            known.append(left + right)
    if chance(random, 0.3):
        tokens.append(b"abab1")  # which perhaps no merge makes
    start = random.choice((0, 0, 0, 1, 5))
    ids = {token: number for number, token in enumerate(dict.fromkeys(tokens), start=start)}
    vocabulary = Vocabulary.from_ids(ids)
    model: Any
    if kind == "ranks":
        model = RankBpe(vocabulary)
    else:
        if chance(random, 0.3):
            random.shuffle(merges)
        triples = [(ids[left], ids[right], ids[left + right]) for left, right in merges]
        model = MergeBpe(vocabulary, Merges.from_pairs(triples), ignore_merges=chance(random, 0.3))
    pre: list[Any] = (
        [Split(random.choice((r"\s?\w+|\s+|[^\s\w]+", r"[^\s]+|\s", "a+|[^a]+")))] if chance(random, 0.6) else []
    )
    pre += [PrefixSpace()] if chance(random, 0.2) else []
    pre += [random.choice((Digits(), Punctuation(), WhitespaceSplit()))] if chance(random, 0.1) else []
    normalizer = (random.choice((NFC(), Lowercase(), NFKC())),) if chance(random, 0.15) else ()
    visible = {to_visible(token): token_id for token, token_id in ids.items()}
    return Tokenizer(
        model, tuple(pre), tuple(special_tokens(random, visible, vocabulary.size, on_text=False)), normalizer=normalizer
    )


def on_characters(random: Random) -> Tokenizer:
    parts = letters(random)
    prefix = random.choice(("", "", "", "##"))
    suffix = random.choice(("", "", "", "</w>"))
    fallback = chance(random, 0.3)
    symbols = (
        parts
        + ([prefix + part for part in parts] if prefix else [])
        + ([part + suffix for part in parts] if suffix else [])
    )
    merges = joined(random, symbols, random.randint(0, 10))
    if prefix:
        merges = [(left, right, left + right.removeprefix(prefix)) for left, right, _ in merges]
    texts = (
        symbols
        + [text for merge in merges for text in merge]
        + ([text.decode() for text in BYTE_TEXTS] if fallback else [])
    )
    if fallback and chance(random, 0.2):
        texts.remove("<0x41>")
    ids = numbered(random, [*texts, *(["<unk>"] if chance(random, 0.6) else [])])
    unk = random.choice((None, ids.get("<unk>"), ids.get("<unk>"), random.choice(list(ids.values()))))
    triples = list(dict.fromkeys((ids[left], ids[right], ids[product]) for left, right, product in merges))
    model = CharacterBpe(
        Vocabulary.from_ids({text.encode(): number for text, number in ids.items()}),
        Merges.from_pairs(triples),
        unk,
        fuse_unk=chance(random, 0.5),
        byte_fallback=fallback,
        ignore_merges=chance(random, 0.2),
        continuing_subword_prefix=prefix,
        end_of_word_suffix=suffix,
        separate_suffix=False,
    )
    return staged(random, model, ids)


def by_events(random: Random) -> Tokenizer:
    """Merges of what is there, and splits of what merges have made; over characters or over bytes."""
    in_bytes = chance(random, 0.4)
    symbols = [bytes([byte]) for byte in range(256)] if in_bytes else [letter.encode() for letter in letters(random)]
    there = random.sample(symbols, 5) if in_bytes else list(symbols)
    symbols += [] if in_bytes else [b"<unk>"]
    tokens, events = list(symbols), []
    for _ in range(random.randint(0, 14)):
        left, right = random.choice(there), random.choice(there)
        if left not in symbols and chance(random, 0.3):
            there.remove(left)
            events.append((left,))
        elif len(left + right) <= 12:
            there += [] if left + right in there else [left + right]
            tokens += [] if left + right in tokens else [left + right]
            events.append((left, right, left + right))
    ids = numbered(random, [to_visible(token) for token in tokens])
    number_of = {token: ids[to_visible(token)] for token in tokens}
    numbers = array("I")
    for event in events:
        numbers.extend(number_of[each] for each in event)
        numbers.extend([SPLIT] * (3 - len(event)))
    model = EventBpe(
        Vocabulary.from_ids(number_of),
        numbers,
        None if in_bytes or chance(random, 0.3) else number_of[b"<unk>"],
        fuse_unk=chance(random, 0.5),
        byte_level=in_bytes,
        ignore_merges=chance(random, 0.8),
    )
    if in_bytes:
        pre = (random.choice((WhitespaceSplit(), ByteLevel(), Split("a+|[^a]+"))),) if chance(random, 0.7) else ()
        specials = special_tokens(random, ids, model.vocabulary.size, on_text=False)
        return Tokenizer(model, pre, tuple(specials))
    return staged(random, model, {token.decode(): number for token, number in number_of.items()})


def scored(random: Random, kind: str) -> Tokenizer:
    parts = letters(random)
    pieces = list(dict.fromkeys(parts + [product for _, _, product in joined(random, parts, random.randint(0, 10))]))
    fallback = chance(random, 0.3)
    front = ["<unk>", "<s>", "</s>"] if chance(random, 0.7) else ["<unk>"]
    if fallback:
        front += [text.decode() for text in BYTE_TEXTS]
    texts = [*front, *pieces]
    own_types = chance(random, 0.7)
    whole = chance(random, 0.5)
    scores = array("d")
    kinds = bytearray()
    for number, text in enumerate(texts):
        special = text in ("<unk>", "<s>", "</s>")
        byte = text.startswith("<0x")
        chosen = random.choice(SCORES) if chance(random, 0.15) else -float(number) if whole else -float(number) - 0.5
        scores.append(0.0 if special or byte else chosen)
        kinds.append(2 if text == "<unk>" else 3 if special else 6 if byte else random.choice((1,) * 12 + (4, 5)))
    unk = 0
    hidden = {text for text in front if not text.startswith("<0x")}
    if chance(random, 0.15):
        unk = random.randrange(len(texts))
    tokens = [b"" if text in hidden else text.encode() for text in texts]
    if not own_types:
        scores = array("d", (score or -9.0 for score in scores))
    types = bytes(kinds) if own_types else b""
    vocabulary = Vocabulary.from_tokens(tokens)
    specials = [SpecialToken(text.encode(), number) for number, text in enumerate(texts) if text in hidden]
    model: Any
    if kind == "scores":
        model = ScoredBpe(vocabulary, scores, unk, types, fallback)
    else:
        none = None if chance(random, 0.1) else unk
        model = Unigram(
            vocabulary,
            scores,
            none,
            fallback,
            fuse_unk=chance(random, 0.9),
            single_precision=chance(random, 0.6),
            kinds=types,
        )
    if chance(random, 0.6):
        marks = SpaceMarks(chance(random, 0.7), chance(random, 0.5), chance(random, 0.9), chance(random, 0.1))
        decoder = SpaceMarksDecoder(
            marks.add_dummy_prefix, marks.remove_extra_whitespaces, marks.treat_whitespace_as_suffix
        )
        return Tokenizer(model, special_tokens=tuple(specials), normalizer=(marks,), decoder=(decoder,))
    return staged(random, model, {text: number for number, text in enumerate(texts)}, specials)


def of_words(random: Random, kind: str) -> Tokenizer:
    parts = letters(random)
    texts = parts + [product for _, _, product in joined(random, parts, random.randint(0, 10))]
    if kind == "wordpiece":
        texts += ["##" + text for text in texts if chance(random, 0.6)]
    if kind == "maxmatch" and chance(random, 0.5):  # over bytes, as RWKV's
        texts = [to_visible(bytes([byte])) for byte in range(256)] + [to_visible(text.encode()) for text in texts]
        tokens = {text.encode(): number for number, text in enumerate(dict.fromkeys(texts), start=1)}
        model: Any = MaxMatch(Vocabulary.from_ids(tokens))
        end = (SpecialToken(b"<|endoftext|>", 0),) if chance(random, 0.7) else ()
        return Tokenizer(model, normalizer=(ByteLevelNormalizer(),), decoder=(ByteLevelDecoder(),), special_tokens=end)
    unk_text = random.choice(("[UNK]", "<unk>"))
    ids = numbered(random, [*(["[PAD]"] if chance(random, 0.3) else []), unk_text, *texts])
    unk = ids[unk_text] if chance(random, 0.8) else random.choice(list(ids.values()))
    vocabulary = Vocabulary.from_ids({text.encode(): number for text, number in ids.items()})
    maybe = unk if chance(random, 0.8) else None
    make: dict[str, Callable[[], Any]] = {
        "wordpiece": lambda: WordPiece(vocabulary, unk, random.choice(("##", "##", "")), random.choice((100, 3))),
        "words": lambda: WordLevel(vocabulary, maybe, fuse_unk=chance(random, 0.2)),
        "longest": lambda: LongestMatch(vocabulary, chance(random, 0.5), maybe, random.choice(("", "</w>"))),
        "fewest": lambda: FewestTokens(
            vocabulary, maybe, chance(random, 0.5), random.choice(("", "</w>")), chance(random, 0.5),
            random.choice(("##", "")), random.choice((None, 3, 100)),
        ),
        "maxmatch": lambda: MaxMatch(vocabulary, maybe),
        "cover": lambda: GreedyCover(vocabulary, maybe),
        "ngram": lambda: NGram(vocabulary, random.randint(1, 3), maybe),
    }  # fmt: skip
    return staged(random, make[kind](), ids)


def staged(random: Random, model: Any, ids: dict[str, int], specials: list[SpecialToken] | None = None) -> Tokenizer:
    """Put stages of Hugging Face's around a model."""
    normalizers: tuple[tuple[Any, ...], ...] = (
        (), (), (), (NFKC(),), (Lowercase(),), (BertNormalizer(),), (Strip(),),
        (Prepend("▁"), Replace(" ", "▁", literal=True)),
        (Replace(" ", "▁", literal=True),), (NFC(), Lowercase()),
    )  # fmt: skip
    pre: tuple[tuple[Any, ...], ...] = (
        (), (), (Whitespace(),), (WhitespaceSplit(),), (BertPreTokenizer(),), (Metaspace(),),
        (Metaspace("▁", "first", split=False),),
        (Digits(),), (Punctuation(), Digits()), (Split(r"\s+", "Isolated"),), (ByteLevel(),),
    )  # fmt: skip
    decoders: tuple[tuple[Any, ...], ...] = (
        (), (), (WordPieceDecoder(),), (MetaspaceDecoder(),), (BPEDecoder(),), (ByteFallback(), Fuse()),
        (ReplaceDecoder("▁", " "), ByteFallback(), Fuse(), StripDecoder(" ", 1, 0)),
    )  # fmt: skip
    tokens = specials
    if tokens is None:
        tokens = special_tokens(random, ids, max(model.vocabulary.size, max(ids.values()) + 1))
        unk = next((text for text, number in ids.items() if number == model.unk_id), None)
        there = {token.content.decode() for token in tokens} | {token.token_id for token in tokens}
        if unk is not None and unk not in there and ids[unk] not in there and chance(random, 0.7):
            tokens = sorted([*tokens, SpecialToken(unk.encode(), ids[unk])], key=lambda token: token.token_id)
    if chance(random, 0.8):  # as all readers do: text never becomes a special token
        model = without(model, {token.token_id for token in tokens if token.special})
    around = None
    if tokens and chance(random, 0.3):
        token = random.choice(tokens)
        pair = [token.content.decode(), token.token_id]
        around = json.dumps({"type": "BertProcessing", "sep": pair, "cls": pair})
    return Tokenizer(
        model, random.choice(pre), tuple(tokens), None, around, random.choice(normalizers), random.choice(decoders)
    )


def without(model: Any, hidden: set[int]) -> Any:
    """Leave tokens out of a vocabulary that no merge uses."""
    used = set(model.events or () if model.merges is None else model.merges.triples)
    ids = {token: token_id for token_id, token in model.vocabulary.items() if token_id not in hidden - used}
    texts = [b""] * model.vocabulary.size if model.scores is not None else [b""] * (max(ids.values(), default=-1) + 1)
    for token, token_id in ids.items():
        texts[token_id] = token
    return replace(model, vocabulary=Vocabulary.from_tokens(texts))


def make(random: Random) -> Tokenizer:
    """Make a tokenizer; it may contradict itself."""
    kind = random.choice(KINDS)
    if kind in ("ranks", "merges"):
        return on_bytes(random, kind)
    if kind == "characters":
        return on_characters(random)
    if kind == "events":
        return by_events(random)
    if kind in ("scores", "unigram"):
        return scored(random, kind)
    return of_words(random, kind)


def texts(random: Random, tokenizer: Tokenizer, count: int = 60) -> list[bytes]:
    """Make texts at random: of its tokens, of its special tokens, of letters, of blanks and of bytes."""
    tokens = [token for _, token in tokenizer.model.vocabulary.items()] or [b"a"]
    special = [token.content for token in tokenizer.special_tokens] or [b"<s>"]
    some = [letter.encode() for letter in LETTERS + "xyzABE.,!-23\n\t'"]
    made = []
    for _ in range(count):
        pools = random.choice(
            ((some,), (tokens,), (tokens, some), (tokens, some, special), (some, special), (special,))
        )
        parts = [random.choice(random.choice(pools)) for _ in range(random.randint(0, 14))]
        if chance(random, 0.05):
            parts.append(random.randbytes(3))
        made.append(random.choice((b"", b"", b" ")).join(parts))
    return made
