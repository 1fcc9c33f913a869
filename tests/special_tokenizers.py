"""Small tokenizers at random whose ordinary tokens spell the texts of special ones, and what they are without those.

A token that merges make, or that text is matched with, is declared special. The same tokenizer ``without`` it is
built anew: its vocabulary lacks the text, and its list of merges whatever makes or uses it. No code of the project
says which.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import NamedTuple

from bpe_cli import stages
from bpe_cli.errors import InputError
from bpe_cli.stages import SpecialToken
from bpe_cli.stages.models import SPLIT
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer

LETTERS = "</s>a"
WIDE = str.maketrans("</s>a", "＜／ｓ＞ａ")
"""What NFKC makes letters of."""


class Case(NamedTuple):
    """A tokenizer with special tokens, and the same without their texts.

    Attributes:
        with_special: What is held to the law.
        without: What text is to become.
        texts: Of tokens, without what is written around them: what texts are made of.
    """

    with_special: Tokenizer
    without: Tokenizer
    texts: list[str]


def _joined(random, symbols, prefix, count):
    """Tokens that merge two earlier ones, and their merges by text: chains are likely."""
    tokens, merges = list(symbols), []
    for _ in range(count):
        left = tokens[-1] if random.random() < 0.6 else random.choice(tokens)
        right = random.choice(symbols if random.random() < 0.7 else tokens)
        if (prefix and not right.startswith(prefix)) or right == "" or left == "":
            continue
        made = left + right.removeprefix(prefix)
        if made not in tokens:
            tokens.append(made)
        merges.append((left, right, made))
    if random.random() < 0.3:
        random.shuffle(merges)
    return tokens, list({merge[:2]: merge for merge in merges}.values())


def _words(random, marks=("",)):
    words = ["".join(random.choices(LETTERS, k=random.randint(1, 5))) for _ in range(12)]
    return list(
        dict.fromkeys(
            [*LETTERS, "</s>", *(random.choice(marks) + word + random.choice(["", *marks]) for word in words)]
        )
    )


def _vocabulary(tokens, gone):
    return Vocabulary.from_tokens(b"" if token in gone else token.encode() for token in tokens)


def _merges(tokens, merges, gone):
    ids = {token: number for number, token in enumerate(tokens)}
    return Merges.from_pairs([ids[each] for each in merge] for merge in merges if not gone.intersection(merge))


def rank_bpe(random):
    tokens = list(dict.fromkeys([*map(chr, range(128)), *_words(random)]))
    return tokens, lambda gone: stages.RankBpe(_vocabulary(tokens, gone))


def merge_bpe(random):
    tokens, merges = _joined(random, LETTERS, "", 10)
    tokens += [chr(byte) for byte in range(128) if chr(byte) not in tokens]
    whole = random.random() < 0.3
    return tokens, lambda gone: stages.MergeBpe(_vocabulary(tokens, gone), _merges(tokens, merges, gone), whole)


def character_bpe(random):
    prefix, suffix = random.choice(["", "", "##"]), random.choice(["", "", "</w>"])
    separate = bool(suffix) and not prefix and random.random() < 0.3
    plain = [prefix + each for each in LETTERS] + list(LETTERS) if prefix else list(LETTERS)
    symbols = [*plain, *([suffix] if separate else [each + suffix for each in plain] if suffix else [])]
    tokens, merges = _joined(random, symbols, prefix, 12)
    fallback = random.random() < 0.3
    tokens += [f"<0x{byte:02X}>" for byte in range(256)] if fallback else []
    tokens += ["<unk>"]
    unknown = random.choice([None, len(tokens) - 1])
    settings = {
        "unk_id": unknown, "fuse_unk": random.random() < 0.5, "byte_fallback": fallback,
        "ignore_merges": random.random() < 0.3, "continuing_subword_prefix": prefix, "end_of_word_suffix": suffix,
        "separate_suffix": separate,
    }  # fmt: skip
    return tokens, lambda gone: stages.CharacterBpe(
        _vocabulary(tokens, gone), _merges(tokens, merges, gone), **settings
    )


def event_bpe(random):
    tokens, merges = _joined(random, LETTERS, "", 12)
    there, events = set(LETTERS), []
    for merge in merges:
        if there.issuperset(merge[:2]):
            events.append(merge)
            there.add(merge[2])
        able = sorted(there.difference(LETTERS))
        if able and random.random() < 0.3:
            events.append((random.choice(able),))
            there.discard(events[-1][0])
    tokens += ["<unk>"]
    unknown = random.choice([None, len(tokens) - 1])
    settings = {"fuse_unk": random.random() < 0.5, "ignore_merges": random.random() < 0.7}
    return tokens, lambda gone: stages.EventBpe(
        _vocabulary(tokens, gone), _events(tokens, events, gone), unknown, **settings
    )


def _events(tokens, events, gone):
    """Those of the events that can still be: what they name is there."""
    there = set(LETTERS) - gone
    numbers = array("I")
    for event in events:
        if gone.intersection(event) or not there.issuperset(event[:2]):
            continue
        numbers.extend([*map(tokens.index, event), *[SPLIT] * (3 - len(event))])
        (there.add if len(event) == 3 else there.discard)(event[-1])
    return numbers


def _scored(random):
    tokens = ["<unk>", *_words(random), "▁"]
    scores = array("d", [-float(random.randint(1, 9)) for _ in tokens])
    fallback = random.random() < 0.4
    kinds = bytes([2] + [1] * (len(tokens) - 1))
    if fallback:
        tokens += [f"<0x{byte:02X}>" for byte in range(256)]
        scores.extend([0.0] * 256)
        kinds += bytes([6] * 256)
    return tokens, scores, kinds, fallback


def scored_bpe(random):
    tokens, scores, kinds, fallback = _scored(random)
    return tokens, lambda gone: stages.ScoredBpe(_vocabulary(tokens, {*gone, "<unk>"}), scores, 0, kinds, fallback)


def unigram(random):
    tokens, scores, kinds, fallback = _scored(random)
    return tokens, lambda gone: stages.Unigram(
        _vocabulary(tokens, {*gone, "<unk>"}), scores, 0, fallback, single_precision=True, kinds=kinds
    )


def word_piece(random):
    tokens = list(dict.fromkeys(["[UNK]", *LETTERS, *(f"##{each}" for each in LETTERS), *_words(random, ("", "##"))]))
    return tokens, lambda gone: stages.WordPiece(_vocabulary(tokens, {*gone, "[UNK]"}), 0)


def word_level(random):
    tokens = ["<unk>", *_words(random)]
    return tokens, lambda gone: stages.WordLevel(_vocabulary(tokens, {*gone, "<unk>"}), 0)


def longest_match(random):
    suffix, left = random.choice(["", "</w>"]), random.random() < 0.5
    tokens = ["<unk>", *_words(random, ("",)), *([f"a{suffix}"] if suffix else [])]
    return tokens, lambda gone: stages.LongestMatch(_vocabulary(tokens, {*gone, "<unk>"}), left, 0, suffix)


def fewest_tokens(random):
    suffix, limit = random.choice(["", "</w>"]), random.choice([None, 20])
    tokens = ["<unk>", *_words(random, ("",)), *([f"a{suffix}"] if suffix else [])]
    return tokens, lambda gone: stages.FewestTokens(
        _vocabulary(tokens, {*gone, "<unk>"}), 0, end_of_word_suffix=suffix, max_input_chars_per_word=limit
    )


def max_match(random):
    tokens = ["<unk>", *_words(random)]
    return tokens, lambda gone: stages.MaxMatch(_vocabulary(tokens, {*gone, "<unk>"}), 0)


def greedy_cover(random):
    tokens = ["<unk>", *_words(random)]
    return tokens, lambda gone: stages.GreedyCover(_vocabulary(tokens, {*gone, "<unk>"}), 0)


def n_gram(random):
    tokens, n = ["<unk>", *_words(random)], random.randint(1, 3)
    return tokens, lambda gone: stages.NGram(_vocabulary(tokens, {*gone, "<unk>"}), n, 0)


MODELS = {
    make.__name__: make
    for make in (
        rank_bpe, merge_bpe, character_bpe, event_bpe, scored_bpe, unigram,
        word_piece, word_level, longest_match, fewest_tokens, max_match, greedy_cover, n_gram,
    )
}  # fmt: skip

NORMALIZERS = (
    (),
    (),
    (stages.NFKC(),),
    (stages.Lowercase(),),
    (stages.Replace("x", "</s>", literal=True),),
    (stages.Replace("x+", "s>"),),
    (stages.Prepend("<"),),
    (stages.NFKC(), stages.Lowercase(), stages.Strip()),
)


def _pre_tokenizers(random, on_bytes):
    choices = [(), (), (stages.WhitespaceSplit(),), (stages.Split("a", "MergedWithNext", literal=True),)]
    choices += [(stages.PrefixSpace(), stages.Split(r"\S+|\s+"))] if on_bytes else [(stages.Metaspace(),)]
    return random.choice(choices)


def case(random, model_name, *, plain=False) -> Case:
    """A tokenizer of a kind of model, with stages unless it is ``plain``."""
    tokens, make = MODELS[model_name](random)
    on_bytes = model_name in ("rank_bpe", "merge_bpe")
    unknown = make(set()).unk_id
    names = {token for token in tokens if token.startswith("<0x")}
    # What text is spelt with is not a special token of a byte-level tokenizer.
    able = [token for number, token in enumerate(tokens)
            if number != unknown and token not in names and len(token) > on_bytes]  # fmt: skip
    chosen = random.sample(able, min(len(able), random.randint(1, 3)))
    declared = [_special(random, token, tokens.index(token)) for token in chosen]
    if unknown is not None and (random.random() < 0.5 or model_name != "character_bpe"):
        declared.append(SpecialToken(tokens[unknown].encode(), unknown))
    gone = set(chosen)
    if model_name == "character_bpe" and not random.randint(0, 3) and names:
        # Names of bytes may be special ones too: what is unknown goes on falling back to them.
        declared.append(SpecialToken(b"<0x61>", tokens.index("<0x61>")))
    for text in random.sample(["a<", "ss", "é中"], random.randint(0, 2)):  # added tokens, which any text may become
        if text not in tokens:
            number = len(tokens) + 1 + len(declared)
            declared.append(replace(_special(random, text, number), special=False))
    stages_ = {} if plain else {
        "normalizer": random.choice(NORMALIZERS), "pre_tokenizer": _pre_tokenizers(random, on_bytes),
    }  # fmt: skip
    ordered = tuple(sorted(declared, key=lambda token: token.token_id))
    bare = [token.removeprefix("##").removesuffix("</w>") for token in tokens if token not in names]
    return Case(
        Tokenizer(make(set()), special_tokens=ordered, **stages_),
        Tokenizer(make(gone), special_tokens=ordered, **stages_),
        [*filter(None, bare)],
    )


def _special(random, text, token_id):
    flags = {name: random.random() < 0.3 for name in ("single_word", "lstrip", "rstrip", "normalized")}
    return SpecialToken(text.encode(), token_id, **flags)


def text_of(random, found: Case) -> str:
    """A text in which specials' texts are likely, in other forms too."""
    parts = []
    for _ in range(random.choice([1, 1, 2, 4, 6])):
        special = random.choice(found.with_special.special_tokens).content.decode()
        word = random.choice([special, special.removeprefix("##"), special.removesuffix("</w>"),
                              random.choice(found.texts), random.choice("xé 中\n<0x61>")])  # fmt: skip
        parts.append(random.choice([word, word, word.translate(WIDE), word.upper(), f" {word} "]))
    return "".join(parts)


def reserved(found: Case) -> set[int]:
    """The ids that no text has: special ones, without what the model gives where it knows no better."""
    tokenizer = found.with_special
    fallback = {token.token_id for token in tokenizer.special_tokens if token.content == b"<0x61>"}
    special = {token.token_id for token in tokenizer.special_tokens if token.special}
    return special - {tokenizer.model.unk_id} - fallback


def ids_or_none(tokenizer: Tokenizer, text: bytes, specials: object = ()) -> list[int] | None:
    """Encode, or give None for a text that has something without a token."""
    try:
        return tokenizer.encode(text, specials=specials)
    except InputError:
        return None
