"""Small tokenizers of the rivals, trained here, each with ours as read from its file; and texts to try them on."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.formats.sentencepiece import model as sentencepiece_model
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.tokenizer import Tokenizer
from tests.charsmaps import charsmap
from tests.differential.texts import REPRESENTATIVES, WORDS, assigned, corpus
from tests.needs import needs

hf = needs("tokenizers")
spm = needs("sentencepiece")
normalizers, splits, models, trainers, decoders = (
    hf.normalizers, hf.pre_tokenizers, hf.models, hf.trainers, hf.decoders,
)  # fmt: skip

# -- texts -----------------------------------------------------------------------------------------

ADDED = ("<s>", "</s>", "<mask>", "Whole", "Änderung", "one  two")
TRICKY = (
    *("e\u0301", "e\u0323\u0301", "\u0301", "ｈａｌｆ", "ﬁ", "½", "Å", "ǆ", "İI", "ΣΑΣ", "ß", "한국", "각", "가\u11a8"),
    *("1234567", "٣٤٥", "१२३", "๑๒", "Ⅷ", "①", "𝟘𝟙", "１２", "²³", "3.14", "1,000"),
    *("中文字", "日本語テキスト", "かな", "👍🏽", "👨\u200d👩\u200d👧", "🇩🇪", "☃", "𠀀", "\ue000", "\u0378"),
    *(" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u2003", "\u2028", "\u200b", "\ufeff", "\x0b", "\x85", "▁"),
    *("don't", "we'LL", "--", "...", "?!", "“quoted”", "。", "foo_bar", "HTTPServer", "«x»", "a", "the ", "and", "ing"),
    *(*ADDED, "<s", "mask>", "Wholes", " <mask> ", "aWhole", "ä", "A\u0308nderung", "<unk>", "<0x41>", "##s", "</w>"),
)
"""What normalizers, pre-tokenizers and added tokens trip over, one by one and beside each other."""


def texts(number: int, seed: int) -> Iterator[str]:
    """Make texts of tricky parts, of the corpora's words, and of characters from all of Unicode."""
    chance = random.Random(seed)
    words = " ".join(corpus()[f"corpora/languages/{name}.txt"] for name in ("en", "de", "ru", "zh-hans", "hi")).split()
    characters = assigned()
    pools = (TRICKY, TRICKY + REPRESENTATIVES, TRICKY + WORDS, [word + " " for word in words])
    for _ in range(number):
        pool, share = chance.choice(pools), chance.choice((0, 0, 0.2))
        yield "".join(
            chance.choice(characters) if chance.random() < share else chance.choice(pool)
            for _ in range(chance.choice((2, 5, 12, 40)))
        )


@cache
def training_lines() -> tuple[str, ...]:
    names = ("languages/en", "languages/de", "languages/ru", "languages/ja", "misc/numbers", "misc/emoji")
    return tuple(line for name in names for line in corpus()[f"corpora/{name}.txt"].splitlines())


# -- tokenizers' tokenizers ------------------------------------------------------------------------


def bpe(**options: Any) -> Any:
    return models.BPE(unk_token="<unk>", **options)


def bpe_trainer(size: int = 500, **options: Any) -> Any:
    return trainers.BpeTrainer(vocab_size=size, special_tokens=["<unk>"], show_progress=False, **options)


def by_bytes(size: int = 700, **options: Any) -> Any:
    alphabet = splits.ByteLevel.alphabet()
    return trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False, **options)


def by_unigram() -> Any:
    return trainers.UnigramTrainer(
        vocab_size=1000, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False, n_sub_iterations=1
    )


def regex(name: str) -> Any:
    return hf.Regex(PATTERNS[name].regex)


BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


class Recipe(NamedTuple):
    """The stages of a tokenizer, and what trains it."""

    model: Callable[[], Any]
    trainer: Callable[[], Any]
    normalizer: tuple[Any, ...] = ()
    pre_tokenizer: tuple[Any, ...] = ()
    decoder: tuple[Any, ...] = ()
    post_processor: Any = None
    byte_fallback: bool = False
    changes: dict[str, Any] = {}  # noqa: RUF012  # never written to
    """Fields of the model that are set after training."""


RECIPES = {
    "bert": lambda: Recipe(
        lambda: models.WordPiece(unk_token="<unk>"),
        lambda: trainers.WordPieceTrainer(vocab_size=500, special_tokens=["<unk>"], show_progress=False),
        (normalizers.BertNormalizer(),),
        (splits.BertPreTokenizer(),),
        (decoders.WordPiece(),),
    ),
    "t5": lambda: Recipe(
        models.Unigram,
        by_unigram,
        (normalizers.Precompiled(charsmap("nmt_nfkc")), normalizers.Replace(hf.Regex(" {2,}"), " ")),
        (splits.WhitespaceSplit(), splits.Metaspace()),
        (decoders.Metaspace(),),
    ),
    "unigram, bytes": lambda: Recipe(
        models.Unigram,
        by_unigram,
        (normalizers.Nmt(), normalizers.NFKC(), normalizers.Strip(left=False)),
        (splits.Metaspace(prepend_scheme="first"),),
        (decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first")),
        byte_fallback=True,
    ),
    "words": lambda: Recipe(
        lambda: models.WordLevel(unk_token="<unk>"),
        lambda: trainers.WordLevelTrainer(vocab_size=400, special_tokens=["<unk>"], show_progress=False),
        (normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()),
        (splits.WhitespaceSplit(), splits.Digits(individual_digits=True), splits.Punctuation()),
    ),
    "ends of words": lambda: Recipe(
        lambda: bpe(end_of_word_suffix="</w>"),
        lambda: bpe_trainer(end_of_word_suffix="</w>"),
        (normalizers.NFKD(), normalizers.Lowercase()),
        (splits.Whitespace(),),
        (decoders.BPEDecoder(),),
    ),
    "llama": lambda: Recipe(
        bpe,
        bpe_trainer,
        (normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")),
        (),
        (decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)),
        byte_fallback=True,
        changes={"fuse_unk": True},
    ),
    "metaspace": lambda: Recipe(
        bpe,
        bpe_trainer,
        (),
        (splits.Metaspace(prepend_scheme="first", split=False),),
        (decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first", split=False)),
        byte_fallback=True,
    ),
    "qwen": lambda: Recipe(
        models.BPE,
        by_bytes,
        (normalizers.NFC(),),
        (splits.Split(regex("qwen2"), "isolated"), splits.ByteLevel(add_prefix_space=False, use_regex=False)),
        (decoders.ByteLevel(),),
        hf.processors.ByteLevel(trim_offsets=False),
    ),
    "falcon": lambda: Recipe(
        models.BPE,
        by_bytes,
        (),
        (
            splits.Punctuation("contiguous"),
            splits.ByteLevel(add_prefix_space=False),
            splits.Digits(),
            splits.Split(hf.Regex("[0-9][0-9][0-9]"), "isolated"),
        ),
        (decoders.ByteLevel(),),
    ),
    "clip": lambda: Recipe(
        lambda: bpe(end_of_word_suffix="</w>"),
        lambda: by_bytes(end_of_word_suffix="</w>", special_tokens=["<unk>"]),
        (normalizers.NFC(), normalizers.Replace(hf.Regex(r"\s+"), " "), normalizers.Lowercase()),
        (
            splits.Split(hf.Regex(CLIP), "removed", invert=True),
            splits.ByteLevel(add_prefix_space=False),
        ),
        (decoders.ByteLevel(),),
    ),
    "roberta": lambda: Recipe(
        models.BPE,
        by_bytes,
        (),
        (splits.ByteLevel(add_prefix_space=True),),
        (decoders.ByteLevel(),),
        hf.processors.ByteLevel(add_prefix_space=True, trim_offsets=True),
    ),
    "scripts": lambda: Recipe(
        bpe,
        bpe_trainer,
        (normalizers.NFKC(),),
        (splits.UnicodeScripts(), splits.WhitespaceSplit()),
        changes={"ignore_merges": True},
    ),
    "fixed length": lambda: Recipe(
        bpe,
        bpe_trainer,
        (normalizers.Lowercase(),),
        (splits.Split(" ", "merged_with_previous"), splits.FixedLength(3)),
        (decoders.Fuse(),),
        changes={"fuse_unk": True},
    ),
    "prefixes": lambda: Recipe(
        lambda: bpe(continuing_subword_prefix="##"),
        lambda: bpe_trainer(continuing_subword_prefix="##"),
        (normalizers.Replace(hf.Regex("[0-9]+"), "0"), normalizers.NFC()),
        (splits.CharDelimiterSplit(" "), splits.Punctuation("merged_with_next")),
        (decoders.WordPiece(cleanup=False),),
    ),
}


def chain(sequence: Any, stages: tuple[Any, ...]) -> Any:
    """Put stages one after the other: none, one, or a sequence."""
    return sequence(list(stages)) if len(stages) > 1 else next(iter(stages), None)


@cache
def trained(name: str) -> tuple[Any, Tokenizer]:
    """Train a recipe's tokenizer; give the library's, and ours as read from its file."""
    recipe = RECIPES[name]()
    theirs = hf.Tokenizer(recipe.model())
    theirs.normalizer = chain(normalizers.Sequence, recipe.normalizer)
    theirs.pre_tokenizer = chain(splits.Sequence, recipe.pre_tokenizer)
    theirs.train_from_iterator(training_lines(), recipe.trainer())
    theirs.decoder = chain(decoders.Sequence, recipe.decoder)
    if recipe.post_processor is not None:
        theirs.post_processor = recipe.post_processor
    content = json.loads(theirs.to_str())
    model = content["model"]
    model |= recipe.changes
    if recipe.byte_fallback:
        model["byte_fallback"] = True
        if model["type"] == "Unigram":
            model["vocab"] += [[token, -9.0] for token in BYTES]
        else:
            model["vocab"] |= {token: len(model["vocab"]) + number for number, token in enumerate(BYTES)}
    theirs = hf.Tokenizer.from_str(json.dumps(content))
    theirs.add_special_tokens([hf.AddedToken("<s>"), hf.AddedToken("</s>", lstrip=True, normalized=False)])
    theirs.add_tokens([
        hf.AddedToken("<mask>", lstrip=True, rstrip=True),
        hf.AddedToken("Whole", single_word=True),
        hf.AddedToken("Änderung"),  # looked for in normalized text
        hf.AddedToken("one  two", normalized=False),
    ])  # fmt: skip
    return theirs, hf_json.loads(theirs.to_str().encode())


# -- sentencepiece's tokenizers --------------------------------------------------------------------

SENTENCEPIECE = {
    "unigram": {"model_type": "unigram", "vocab_size": 700},
    "unigram, bytes": {"model_type": "unigram", "vocab_size": 900, "byte_fallback": True, "character_coverage": 0.98},
    "unigram, suffix": {"model_type": "unigram", "vocab_size": 700, "treat_whitespace_as_suffix": True},
    "unigram, case folded": {"model_type": "unigram", "vocab_size": 700, "normalization_rule_name": "nmt_nfkc_cf"},
    "unigram, symbols": {"model_type": "unigram", "vocab_size": 700, "user_defined_symbols": ["<mask>", "Whole", "。"]},
    "bpe": {"model_type": "bpe", "vocab_size": 700},
    "bpe, as it is": {
        "model_type": "bpe", "vocab_size": 900, "byte_fallback": True, "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False, "split_digits": True, "allow_whitespace_only_pieces": True,
        "character_coverage": 0.98,
    },
    "bpe, no prefix": {"model_type": "bpe", "vocab_size": 700, "add_dummy_prefix": False,
                       "user_defined_symbols": ["<mask>", "Whole"]},
    "bpe, folded symbols": {"model_type": "bpe", "vocab_size": 700, "normalization_rule_name": "nmt_nfkc_cf",
                            "user_defined_symbols": ["Whole", "½"]},
    "bpe, suffix": {"model_type": "bpe", "vocab_size": 700, "treat_whitespace_as_suffix": True,
                    "add_dummy_prefix": False},
    "char": {"model_type": "char", "vocab_size": 300},
    "word": {"model_type": "word", "vocab_size": 300},
}  # fmt: skip


@cache
def trained_by_sentencepiece(name: str) -> tuple[Any, Tokenizer]:
    """Train a model; give the library's, and ours as read from its file."""
    model = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(training_lines()), model_writer=model, hard_vocab_limit=False,
        num_threads=1, minloglevel=4, **SENTENCEPIECE[name],
    )  # fmt: skip
    theirs = spm.SentencePieceProcessor(model_proto=model.getvalue())
    return theirs, sentencepiece_model.loads(model.getvalue())
