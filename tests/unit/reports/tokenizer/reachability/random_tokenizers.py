"""Small tokenizers at random, and all ids that any text up to some length becomes."""

from __future__ import annotations

from array import array
from itertools import product

from bpe_cli import stages
from bpe_cli.errors import InputError
from bpe_cli.stages import SpecialToken
from bpe_cli.stages.models import SPLIT
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer

LETTERS = "ab"


def words(random, letters, count, longest=5):
    """Some different words of two letters or more."""
    found = ["".join(random.choice(letters) for _ in range(random.randint(2, longest))) for _ in range(count)]
    return list(dict.fromkeys(found))


def joined(random, symbols, count, prefix=""):
    """Tokens that merge two earlier ones, with their merges in a random order."""
    tokens, merges = list(symbols), []
    for _ in range(count):
        left, right = random.choice(tokens), random.choice(tokens)
        if prefix and not right.startswith(prefix):
            continue
        made = left + right.removeprefix(prefix)
        if len(made) > 8:
            continue
        if made not in tokens:
            tokens.append(made)
        merges.append((tokens.index(left), tokens.index(right), tokens.index(made)))
    random.shuffle(merges)
    return tokens, list({merge[:2]: merge for merge in merges}.values())


def vocabulary(tokens):
    return Vocabulary.from_tokens(token.encode() if isinstance(token, str) else token for token in tokens)


def rank_bpe(random):
    tokens = ["a", "b", "1", " ", *words(random, "ab1 ", 10, 4)]
    if random.random() < 0.7:
        tokens = joined(random, ["a", "b", "1", " "], 8)[0] + words(random, "ab", 3)
        tokens = list(dict.fromkeys(tokens))
    return stages.RankBpe(vocabulary(tokens))


def merge_bpe(random):
    tokens, merges = joined(random, ["a", "b", "1", " "], 12)
    tokens += [word for word in words(random, "ab1", 3) if word not in tokens]
    return stages.MergeBpe(vocabulary(tokens), Merges.from_pairs(merges), ignore_merges=random.random() < 0.4)


def character_bpe(random):
    prefix = random.choice(["", "", "##"])
    suffix = random.choice(["", "", "</w>"])
    separate = bool(suffix) and not prefix and random.random() < 0.3
    plain = ["a", "b", "1"] + ([" "] if random.random() < 0.5 else [])
    symbols = list(plain)
    if prefix:
        symbols += [prefix + each for each in plain]
    if suffix and not separate:
        symbols += [each + suffix for each in [*symbols] if random.random() < 0.9]
    if separate:
        symbols.append(suffix)
    unk = random.choice([None, "<unk>"])
    fallback = random.random() < 0.3
    if fallback:
        symbols += [f"<0x{byte:02X}>" for byte in range(256) if random.random() < 0.98]
    if unk:
        symbols.append(unk)
    tokens, merges = joined(random, symbols, 14, prefix)
    return stages.CharacterBpe(
        vocabulary(tokens),
        Merges.from_pairs(merges),
        unk_id=tokens.index(unk) if unk else None,
        fuse_unk=random.random() < 0.5,
        byte_fallback=fallback,
        ignore_merges=random.random() < 0.2,
        continuing_subword_prefix=prefix,
        end_of_word_suffix=suffix,
        separate_suffix=separate,
    )


def event_bpe(random):
    symbols = ["a", "b", "1", *([" "] if random.random() < 0.5 else [])]
    tokens, there, events = ["<unk>", *symbols], list(symbols), array("I")
    for _ in range(random.randint(0, 20)):
        left, right = random.choice(there), random.choice(there)
        if left not in symbols and random.random() < 0.35:
            there.remove(left)
            events.extend((tokens.index(left), SPLIT, SPLIT))
        elif len(left + right) < 7:
            tokens += [] if left + right in tokens else [left + right]
            there += [] if left + right in there else [left + right]
            events.extend(map(tokens.index, (left, right, left + right)))
    if random.random() < 0.2:
        tokens.append("1bb1")  # which perhaps no event makes
    return stages.EventBpe(
        vocabulary(dict.fromkeys(tokens)),
        events,
        random.choice([0, None]),
        fuse_unk=random.random() < 0.5,
        ignore_merges=random.random() < 0.6,
    )


def _scored(random):
    tokens = ["", "", "a", "b", "▁", *words(random, "ab▁1", 12, 4)]
    scores = [0.0, 0.0] + [-float(random.randint(1, 8)) for _ in tokens[2:]]
    kinds = [2, 3] + [random.choice([1] * 12 + [4, 5]) for _ in tokens[2:]]
    fallback = random.random() < 0.4
    if fallback:
        tokens += [f"<0x{byte:02X}>" for byte in range(256)]
        scores += [0.0] * 256
        kinds += [6] * 256
    return vocabulary(tokens), array("d", scores), bytes(kinds), fallback


def scored_bpe(random):
    tokens, scores, kinds, fallback = _scored(random)
    return stages.ScoredBpe(tokens, scores, 0, kinds, fallback)


def unigram(random):
    tokens, scores, kinds, fallback = _scored(random)
    single = random.random() < 0.5
    return stages.Unigram(tokens, scores, 0, fallback, single_precision=single, kinds=kinds if single else b"")


def word_piece(random):
    tokens = ["[UNK]", "a", "##a"]
    tokens += [each for each in ("b", "##b", "A", "1", "##1", "##é", "ab##") if random.random() < 0.7]
    tokens += [random.choice(["", "##"]) + word for word in words(random, "abA1!中", 12, 4)]
    tokens = list(dict.fromkeys(tokens))
    return stages.WordPiece(vocabulary(tokens), 0, max_input_chars_per_word=random.choice([3, 100]))


def word_level(random):
    tokens = ["<unk>", "a", *words(random, "ab1 ", 8)]
    return stages.WordLevel(vocabulary(tokens), random.choice([0, None]))


def longest_match(random):
    suffix, prefix = random.choice(["", "</w>"]), random.choice(["", "", "##"])
    tokens = ["<unk>", "a", "b"]
    tokens += [random.choice(["", prefix]) + word + random.choice(["", suffix]) for word in words(random, "ab1", 9)]
    made = vocabulary(dict.fromkeys(tokens))
    left, separate, counted = (random.random() < 0.5 for _ in range(3))
    counts = array("d", (random.randint(0, 3) for _ in range(made.size))) if counted else None
    return stages.LongestMatch(made, left, random.choice([0, None]), suffix, separate, prefix, counts)


def fewest_tokens(random):
    suffix, prefix = random.choice(["", "</w>"]), random.choice(["", "##"])
    tokens = ["<unk>", "a", "b"]
    tokens += [random.choice(["", prefix]) + word + random.choice(["", suffix]) for word in words(random, "ab1", 9)]
    made = vocabulary(dict.fromkeys(tokens))
    fused, separate = (random.random() < 0.5 for _ in range(2))
    limit = random.choice([None, 3, 100])
    return stages.FewestTokens(made, random.choice([0, None]), fused, suffix, separate, prefix, limit)


def max_match(random):
    return stages.MaxMatch(vocabulary(["<unk>", "a", *words(random, "ab1 ", 8)]), 0)


def greedy_cover(random):
    return stages.GreedyCover(vocabulary(["<unk>", "a", *words(random, "ab1 ", 8)]), 0)


def n_gram(random):
    return stages.NGram(vocabulary(["<unk>", "a", *words(random, "ab1 ", 12)]), random.randint(1, 3), 0)


MODELS = {
    make.__name__: make
    for make in (
        rank_bpe,
        merge_bpe,
        character_bpe,
        event_bpe,
        scored_bpe,
        unigram,
        word_piece,
        word_level,
        longest_match,
        fewest_tokens,
        max_match,
        greedy_cover,
        n_gram,
    )
}

PATTERNS = (
    r" ?\p{L}+|\p{N}|[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,2}+|\s++$|\s",
    r"a+b*|1",
    r"(?i:'a|ab)|b{2}|[a1]{1,3}",
    r"b(?=a)| ?[ab]",
    r"(?:ab?)+|1?b",
    r"a*+b|(?:a|b)?1",
)


def pre_tokenizer(random, model):
    if model.kind in ("bpe-ranks", "bpe-merges"):
        choices = [(), *((stages.Split(pattern),) for pattern in PATTERNS), (stages.Digits(),)]
        choices += [(stages.PrefixSpace(), stages.Split(PATTERNS[0])), (stages.Punctuation(),)]
        choices += [(stages.Split(random.choice(PATTERNS)), stages.Split(random.choice(PATTERNS)))] * 2
        choices += [(stages.Split(PATTERNS[5]), stages.Digits(True)), (stages.Digits(), stages.PrefixSpace())]
        choices += [(stages.Split(random.choice(PATTERNS)), stages.PrefixSpace(), stages.Split(PATTERNS[0]))]
        return random.choice(choices)
    if model.kind in ("wordpiece", "word-level"):
        return random.choice([(stages.BertPreTokenizer(),), (stages.WhitespaceSplit(),), (stages.Whitespace(),), ()])
    choices = [
        (),
        (stages.WhitespaceSplit(),),
        (stages.Split(random.choice(PATTERNS)),),
        (stages.Split(random.choice(PATTERNS), "Removed", True),),
        (stages.Metaspace(split=random.random() < 0.5, prepend_scheme=random.choice(["always", "first", "never"])),),
        (stages.WhitespaceSplit(), stages.Metaspace()),
        (stages.Digits(True),),
        (stages.CharDelimiterSplit("1"),),
        (stages.Split(" ", "MergedWithPrevious", literal=True),),
    ]
    return random.choice(choices)


def normalizer(random, model):
    if random.random() < 0.5:
        return ()
    choices = [
        (stages.Lowercase(),),
        (stages.NFC(),),
        (stages.NFD(), stages.StripAccents()),
        (stages.NFKC(), stages.Lowercase()),
        (stages.Replace("b", "a", literal=True),),
        (stages.Replace("a+", "b"),),
        (stages.Prepend("a"),),
        (stages.Strip(),),
    ]
    if model.kind == "wordpiece":
        choices += [(stages.BertNormalizer(lowercase=random.random() < 0.5),)] * 6
    if model.kind in ("bpe-scores", "unigram"):
        choices += [(stages.SpaceMarks(random.random() < 0.5, random.random() < 0.5),)] * 6
    return random.choice(choices)


def tokenizer(random, model_name):
    """A tokenizer whose model is of this kind."""
    model = MODELS[model_name](random)
    size = model.vocabulary.size
    special = []
    if random.random() < 0.4:
        special.append(SpecialToken(b"<s>", size))
    for _ in range(random.choice([0, 0, 1, 1, 2])):
        content = random.choice(["ab", "a", "ba", "b1", "aa"])
        held = model.vocabulary.id_of(content.encode())
        token_id = held if held is not None and random.random() < 0.5 else size + 1 + len(special)
        if any(token.token_id == token_id or token.content == content.encode() for token in special):
            continue
        single_word, strip = random.random() < 0.3, random.random() < 0.3
        normalized = random.random() < 0.3
        special.append(SpecialToken(content.encode(), token_id, False, single_word, strip, strip, normalized))
    return Tokenizer(model, pre_tokenizer(random, model), tuple(special), normalizer=normalizer(random, model))


def all_texts(letters, longest):
    for length in range(1, longest + 1):
        yield from ("".join(letters).encode() for letters in product(letters, repeat=length))


def produced(tokenizer, texts):
    """Ids that some of these texts become, one by one where all at once fail."""
    matcher = tokenizer.matcher()
    texts = list(texts)
    try:
        return set(tokenizer.encode_block(Block.of(texts), matcher)[0])
    except InputError:
        if len(texts) == 1:
            return set()
        middle = len(texts) // 2
        return produced(tokenizer, texts[:middle]) | produced(tokenizer, texts[middle:])
