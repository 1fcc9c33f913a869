"""Which tokens text can become, against Hugging Face's ``tokenizers``: it encodes all texts up to some length.

The verdicts are ours; what really comes of texts is theirs alone, so an error of our own encoder cannot hide one of
the proofs that lean on it.
"""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from bpe_cli.formats.huggingface import tokenizer_json
from bpe_cli.reports.tokenizer.reachability.examine import examine
from bpe_cli.stages.spelling import to_visible
from tests.needs import needs
from tests.thorough import more

hf = needs("tokenizers")
models, normalizers, splits = hf.models, hf.normalizers, hf.pre_tokenizers

TOKENIZERS = more(12, 600)
ALPHABET = "abA1 \u00e9\u0301"
TEXTS = ["".join(letters) for length in range(1, 5) for letters in product(ALPHABET, repeat=length)]
PATTERNS = (r" ?[a-z]+|\d|\s+", r"a+b*|1", r"\p{L}+|\p{N}| ", r"b(?=a)| ?[ab]", r"(?:ab?)+|1?b", r"\s+(?!\S)|\s|\S+")
BEHAVIORS = ("isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous")


def merged(chance, symbols, count, prefix=""):
    """Symbols and what merges make of them: token -> id, and the merges in a random order."""
    tokens = list(symbols)
    merges = []
    for _ in range(count):
        left, right = chance.choice(tokens), chance.choice(tokens)
        if prefix and not right.startswith(prefix):
            continue
        made = left + right.removeprefix(prefix)
        if len(made) <= 6 and (left, right) not in merges:
            merges.append((left, right))
            if made not in tokens:
                tokens.append(made)
    chance.shuffle(merges)
    return {token: token_id for token_id, token in enumerate(tokens)}, merges


def words(chance, count):
    return ["".join(chance.choice("abbA1\u00e9") for _ in range(chance.randint(2, 4))) for _ in range(count)]


def character_bpe(chance):
    prefix, suffix = chance.choice(["", "", "##"]), chance.choice(["", "", "</w>"])
    symbols = [letter for letter in ALPHABET if chance.random() < 0.8] or ["a"]
    symbols += [prefix + each for each in symbols] * bool(prefix)
    symbols += [each + suffix for each in symbols] * bool(suffix)
    if fallback := chance.random() < 0.3:
        symbols += [f"<0x{byte:02X}>" for byte in range(256)]
    vocabulary, merges = merged(chance, dict.fromkeys(["<unk>", *symbols]), 14, prefix)
    for word in words(chance, 3):
        vocabulary.setdefault(word, len(vocabulary))
    return models.BPE(
        vocabulary,
        merges,
        unk_token="<unk>",
        fuse_unk=chance.random() < 0.5,
        byte_fallback=fallback,
        **({"continuing_subword_prefix": prefix} if prefix else {}),
        **({"end_of_word_suffix": suffix} if suffix else {}),
    )


def byte_level(chance):
    some = [to_visible(bytes([byte])) for byte in "abA1 \u00e9\u0301".encode()]
    vocabulary, merges = merged(chance, some, 16)
    for byte in range(256):
        vocabulary.setdefault(to_visible(bytes([byte])), len(vocabulary))
    for word in words(chance, 3):
        vocabulary.setdefault(to_visible(word.encode()), len(vocabulary))
    return models.BPE(vocabulary, merges, ignore_merges=chance.random() < 0.4)


def word_piece(chance):
    tokens = ["[UNK]", "a", "##a", *(each for each in ("b", "##b", "A", "##1", "##\u00e9") if chance.random() < 0.7)]
    tokens += [chance.choice(["", "##"]) + word for word in words(chance, 12)]
    vocabulary = {token: token_id for token_id, token in enumerate(dict.fromkeys(tokens))}
    return models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=chance.choice([3, 100]))


def unigram(chance):
    tokens = dict.fromkeys(["<unk>", "a", "b", "\u2581", *words(chance, 12), "\u2581a", "a\u0301"])
    pieces = [(token, -float(chance.randint(1, 9))) for token in tokens]
    if fallback := chance.random() < 0.3:
        pieces += [(f"<0x{byte:02X}>", -20.0) for byte in range(256)]
    return models.Unigram(pieces, 0, fallback)


def splitter(chance):
    pattern = hf.Regex(chance.choice(PATTERNS))
    return splits.Split(pattern, chance.choice(BEHAVIORS), invert=chance.random() < 0.3)


def tokenizer(chance, make):
    made = hf.Tokenizer(make(chance))
    chain = [each() for each in (normalizers.Lowercase, normalizers.NFC, normalizers.NFKC) if chance.random() < 0.25]
    if chance.random() < 0.15:
        chain += [normalizers.NFD(), normalizers.StripAccents()]
    if chain:
        made.normalizer = normalizers.Sequence(chain)
    if make is byte_level:
        last = splits.ByteLevel(add_prefix_space=chance.random() < 0.3, use_regex=chance.random() < 0.5)
        made.pre_tokenizer = splits.Sequence([splitter(chance), last]) if chance.random() < 0.5 else last
    else:
        choices = [None, splits.Whitespace(), splits.WhitespaceSplit(), splitter(chance), splits.Metaspace()]
        chosen = chance.choice([*choices, splits.Digits(True), splits.BertPreTokenizer()])
        if chosen is not None:
            made.pre_tokenizer = chosen
    for content in ("ab", "a b", "bA"):
        if chance.random() < 0.2:
            options = {name: chance.random() < 0.3 for name in ("single_word", "lstrip", "rstrip", "normalized")}
            made.add_tokens([hf.AddedToken(content, special=False, **options)])
    return made


def ids_of(theirs, texts):
    return [encoding.ids for encoding in theirs.encode_batch(texts, add_special_tokens=False)]


@pytest.mark.parametrize("make", [character_bpe, byte_level, word_piece, unigram])
def test_what_their_encoder_makes_of_some_text_is_never_called_unreachable(make):
    unreachable = missed = found = 0
    for number in range(TOKENIZERS):
        theirs = tokenizer(Random(f"{make.__name__} {number}"), make)
        ours = tokenizer_json.loads(theirs.to_str().encode())
        produced = {token_id for ids in ids_of(theirs, TEXTS) for token_id in ids}
        reachability = examine(ours, set(theirs.get_vocab().values()))
        wrong = [
            (theirs.id_to_token(token_id), verdict)
            for token_id, verdict in reachability.verdicts.items()
            if verdict.reachable is False and token_id in produced
        ]
        assert not wrong, theirs.to_str()
        witnesses = {}
        for token_id, verdict in reachability.verdicts.items():
            missed += verdict.reachable is None and token_id in produced
            unreachable += verdict.reachable is False
            if verdict.reachable and verdict.layer != "ill-formed":
                witnesses[token_id] = verdict.witness.decode()
        for (token_id, text), ids in zip(witnesses.items(), ids_of(theirs, [*witnesses.values()]), strict=True):
            assert token_id in ids, (text, theirs.id_to_token(token_id), theirs.to_str())
        found += len(produced)
    assert unreachable > TOKENIZERS, "the proofs were tried"
    assert missed <= found // 40, "most of what short texts become is found"
