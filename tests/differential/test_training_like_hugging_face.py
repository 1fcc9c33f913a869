"""Training gives what Hugging Face's ``BpeTrainer`` gives: the same tokenizer.json, byte for byte."""

from __future__ import annotations

import json
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from bpe_cli import _core, formats
from bpe_cli.errors import InputError
from bpe_cli.stages.patterns import PATTERNS, name_of
from bpe_cli.stages.spelling import BYTE_TO_CHAR
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bbpe
from tests.core_options import bpe_options
from tests.counted import at_least, compared
from tests.differential.texts import MIXED, corpus, suite
from tests.needs import needs
from tests.thorough import more

RECORDED = Path("expected", "train", "hf-tokenizers")


def train(documents: Iterable[bytes], options: bbpe.BbpeOptions, threads: int = 2) -> Tokenizer:
    counts = bbpe.new_counts()
    bbpe.TRAINER.count([Block.of(documents)], options, counts, threads)
    return bbpe.TRAINER.train(counts, options).tokenizer


def as_json(tokenizer: Tokenizer) -> str:
    """Write tokenizer.json without the one key that Hugging Face does not know."""
    return formats.dump(replace(tokenizer, unicode_version=None), "tokenizer.json")[""].decode()


def hugging_face(texts: Iterable[str], options: bbpe.BbpeOptions, max_token_length: int | None = None):
    """Train there what the options say."""
    rival = needs("tokenizers")
    pre, gpt2 = rival.pre_tokenizers, PATTERNS["gpt2"].regex
    tokenizer = rival.Tokenizer(rival.models.BPE())
    if options.patterns in ((), (gpt2,)):
        tokenizer.pre_tokenizer = pre.ByteLevel(options.prefix_space, use_regex=bool(options.patterns))
    else:
        # Oniguruma reads {1,3}+ as a repetition; nothing follows it here that could take a digit back.
        spelling = rival.Regex(options.patterns[0].replace("{1,3}+", "{1,3}"))
        tokenizer.pre_tokenizer = pre.Sequence([pre.Split(spelling, "isolated"), pre.ByteLevel(False, use_regex=False)])
    tokenizer.decoder = rival.decoders.ByteLevel()
    trainer = rival.trainers.BpeTrainer(
        vocab_size=options.vocab_size,
        min_frequency=options.min_frequency,
        special_tokens=list(options.special_tokens),
        initial_alphabet=list(BYTE_TO_CHAR) if options.alphabet == "all" else [],
        max_token_length=max_token_length,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def options_for(pattern: str, vocab_size: int, **others) -> bbpe.BbpeOptions:
    expression = PATTERNS[pattern].regex if pattern else ""
    return bbpe.BbpeOptions(vocab_size, expression, **{"min_frequency": 0, **others})


SPECIAL = ("<|endoftext|>", "<s>", "[MASK]")


# -- the repository's texts ------------------------------------------------------------------------


def some_texts() -> list[str]:
    """Return every second text, of each kind some; all in a hunt."""
    return list(corpus().values())[:: more(2, 1)]


@pytest.mark.parametrize(
    "options",
    [
        options_for("gpt2", 500),
        options_for("gpt2", 4000, min_frequency=2, special_tokens=SPECIAL),
        options_for("gpt2", 2000, prefix_space=True, special_tokens=SPECIAL),
        options_for("gpt2", 1000, initial_alphabet="seen", special_tokens=("<unk>",)),
        options_for("", 1000, special_tokens=SPECIAL),
        options_for("llama3", 3000, special_tokens=SPECIAL),
        options_for("llama3", 4000, min_frequency=2, initial_alphabet="seen"),
        options_for("cl100k", 1500, special_tokens=("<|endoftext|>",)),
        options_for("qwen2", 1500, min_frequency=2),
        options_for("o200k", 500, initial_alphabet="seen"),
        options_for("o200k", 4000, special_tokens=SPECIAL),
        options_for("o200k", 20_000, min_frequency=2),  # runs out of pairs before that
        options_for("tekken", 2000, special_tokens=("<unk>", "<s>", "</s>")),
    ],
    ids=lambda options: f"{name_of(options.pattern)}-{options.vocab_size}-{options.min_frequency}",
)
def test_repositorys_texts_give_the_same_file(options):
    texts = some_texts()
    ours = train([text.encode() for text in texts], options)
    assert as_json(ours) == hugging_face(texts, options).to_str(pretty=True)


@pytest.mark.parametrize("pattern", ["gpt2", "llama3", "o200k"])
def test_repositorys_lines_give_the_same_file(pattern):
    lines = [line for text in some_texts() for line in text.splitlines()]
    options = options_for(pattern, 3000, prefix_space=pattern == "gpt2", special_tokens=SPECIAL)
    ours = train([line.encode() for line in lines], options)
    assert as_json(ours) == hugging_face(lines, options).to_str(pretty=True)


@pytest.mark.parametrize("length", [3, 4, 7, 16])
def test_their_max_token_length_is_ours_and_one_more(length):
    texts = some_texts()
    options = options_for("o200k", 1200, max_token_length=length - 1)
    ours = train([text.encode() for text in texts], options)
    assert as_json(ours) == hugging_face(texts, options, length).to_str(pretty=True)
    assert max(len(token) for _, token in ours.model.vocabulary.items()) == length - 1


@pytest.mark.parametrize("length", [0, 1, 2])
def test_their_max_token_length_lets_every_pair_of_bytes_through(length):
    """They never look at the length of the pairs that are there at the beginning."""
    texts = some_texts()
    options = options_for("gpt2", 1200, max_token_length=2)
    ours = train([text.encode() for text in texts], options)
    assert as_json(ours) == hugging_face(texts, options, length).to_str(pretty=True)


# -- small texts with many ties --------------------------------------------------------------------

TIED = st.text(st.sampled_from("ab cé日\n.1"), max_size=30)


@st.composite
def trainings(draw) -> tuple[list[str], bbpe.BbpeOptions, int | None]:
    texts = draw(st.lists(TIED | MIXED, min_size=1, max_size=5).filter(any))
    # Some stand for bytes in the visible alphabet, and so are tokens that merges make or use.
    special = draw(st.lists(st.sampled_from(["<s>", "ab", "a", "aa", "日", "a b", " ", "\n"]), max_size=3, unique=True))
    pattern = draw(st.sampled_from(["", *PATTERNS]))
    alphabet = draw(st.sampled_from(["all", "seen"]))
    length = draw(st.none() | st.integers(3, 8))
    base = 256 if alphabet == "all" else len({*"".join(texts).encode(), *b" "})
    options = options_for(
        pattern,
        base + len(special) + draw(st.integers(0, 30)),
        prefix_space=pattern in ("", "gpt2") and draw(st.booleans()),
        min_frequency=draw(st.integers(0, 3)),
        special_tokens=tuple(special),
        initial_alphabet=alphabet,
        max_token_length=length and length - 1,
    )
    return texts, options, length


@given(training=trainings())
@example(training=(["aaaa aaa aa"], options_for("gpt2", 262), None))
@example(training=(["ab"], options_for("gpt2", 258, special_tokens=("ab", "a")), None))
def test_any_training_gives_the_same_file(training):
    texts, options, length = training
    ours = train([text.encode() for text in texts], options)
    assert as_json(ours) == hugging_face(texts, options, length).to_str(pretty=True)


# -- bytes that the vocabulary lacks ---------------------------------------------------------------


@at_least(9)
@given(text=TIED | MIXED)
def test_bytes_without_a_token_are_dropped_there_and_refused_here(text):
    options = options_for("gpt2", 60, initial_alphabet="seen")
    ours, theirs = ascii_tokenizers(options)
    known = {token for _, token in ours.model.vocabulary.items()}
    missing = [(offset, byte) for offset, byte in enumerate(text.encode()) if bytes([byte]) not in known]
    if not missing:
        assert ours.encode(text) == theirs.encode(text).ids
        return
    offset, byte = missing[0]
    with pytest.raises(InputError, match=f"^byte 0x{byte:02X} at offset {offset} has no token"):
        ours.encode(text)
    assert ours.decode_bytes(theirs.encode(text).ids) != text.encode()
    compared()


@cache
def ascii_tokenizers(options: bbpe.BbpeOptions):
    texts = ["ab cab .1.1 \n aca bab", "aé日 c"]
    return train([text.encode() for text in texts], options), hugging_face(texts, options)


# -- recorded --------------------------------------------------------------------------------------

TRAINED = {
    "bpe-bytelevel.botchan.1000": options_for("gpt2", 1000, min_frequency=2, special_tokens=("<|endoftext|>",)),
    "bpe-bytelevel.multi.3000": options_for(
        "gpt2", 3000, prefix_space=True, special_tokens=("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    ),
    "bpe-llama3split.code.2000": options_for("llama3", 2000),
    "bpe-llama3split.zh.2000.maxlen6": options_for("llama3", 2000, max_token_length=5),
}
POST_PROCESSOR = '{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":false,"use_regex":true}'


def recorded(shared: Path, name: str) -> tuple[list[str], dict]:
    """Return what a recorded training was given, and what came of it. From files, they take each line with its end."""
    expected = json.loads((shared / RECORDED / name / "expected.json").read_bytes())
    texts = [(shared / path).read_bytes().decode() for path in expected["files"]]
    return [line for text in texts for line in regex.findall(r"[^\n]*\n|[^\n]+", text)], expected["cases"]


@pytest.mark.parametrize("name", TRAINED)
def test_recorded_training_gives_the_same_file(shared, name):
    lines, _ = recorded(shared, name)
    ours = train([line.encode() for line in lines], TRAINED[name])
    if "bytelevel" in name:  # their ByteLevelBPETokenizer adds one
        ours = replace(ours, post_processor=POST_PROCESSOR)
    assert as_json(ours) == (shared / RECORDED / name / "tokenizer.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TRAINED)
def test_recorded_training_gives_the_same_ids(shared, name):
    """All 256 bytes are in these vocabularies, so nothing is dropped there or refused here."""
    lines, cases = recorded(shared, name)
    ours, texts = train([line.encode() for line in lines], TRAINED[name]), suite(shared)
    loaded = formats.load(shared / RECORDED / name)
    assert cases.keys() == texts.keys()
    for case, expected in cases.items():
        assert ours.encode(texts[case], specials="all") == expected["ids"], case
        assert loaded.encode(texts[case], specials="all") == expected["ids"], case


# -- characters in place of bytes ------------------------------------------------------------------
# bpe-eow (end_of_word_suffix) and bpe-csp (continuing_subword_prefix) are left out: their trainer numbers
# the decorated letters in the order of a hash table, and ties go by these numbers, so that it gives other
# merges in every process ("across_processes" in REPORT.json).

WORD = regex.compile(
    r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}\s]+"
)
"""What their ``Whitespace`` takes for a piece, ``\\w+|[^\\w\\s]+`` as Rust's regex reads it; spaces are dropped."""


def metaspace(line: str) -> list[str]:
    """Cut as ``Metaspace`` does after NFKC: the mark before each word, and before the first in any case."""
    marked = unicodedata.normalize("NFKC", line).replace(" ", "▁")
    return regex.findall("▁[^▁]*|^[^▁]+", marked if marked.startswith("▁") else "▁" + marked)


def train_characters(
    words: Counter[str], special: Sequence[str], vocab_size: int, limit: int | None = None
) -> tuple[dict[str, int], list[list[str]]]:
    """Train the core by characters; give vocabulary and merges as tokenizer.json has them."""
    characters: Counter[str] = Counter()
    for word, count in words.items():
        for character in word:
            characters[character] += count
    ranked = characters.most_common()
    if limit is not None:
        assert ranked[limit - 1][1] > ranked[limit][1], "which one is left out would be up to chance"
    alphabet = sorted(character for character, _ in ranked[:limit])
    counts = _core.Counts(1 << 30)
    pieces = [word.encode() for word in words]
    counts.add_pieces(b"".join(pieces), Block.of(pieces).ends, array("Q", words.values()))
    training = _core.train_bpe(
        counts,
        bpe_options(
            [*(b"" for _ in special), *(character.encode() for character in alphabet)],
            range(len(special), len(special) + len(alphabet)),
            vocab_size=vocab_size,
            by_character=True,
        ),
    )
    blob, ends = training.tokens()
    starts = [0, *memoryview(ends)]
    tokens = [blob[start:end].decode() for start, end in pairwise(starts)]
    tokens[: len(special)] = special
    merges = memoryview(training.merges).tolist()
    pairs = [[tokens[left], tokens[right]] for left, right in zip(merges[::3], merges[1::3], strict=True)]
    return {token: number for number, token in enumerate(tokens)}, pairs


@pytest.mark.parametrize(
    ("name", "cut", "special", "vocab_size", "limit"),
    [
        ("bpe-whitespace.botchan.1000", WORD.findall, ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"], 1000, None),
        ("bpe-whitespace.botchan.1000.alpha40", WORD.findall, ["[UNK]"], 1000, 40),
        ("bpe-metaspace.ru.1500", metaspace, ["<unk>"], 1500, None),
    ],
)
def test_recorded_training_by_characters(shared, name, cut, special, vocab_size, limit):
    lines, _ = recorded(shared, name)
    words = Counter(word for line in lines for word in cut(line))
    vocabulary, merges = train_characters(words, special, vocab_size, limit)
    expected = json.loads((shared / RECORDED / name / "tokenizer.json").read_bytes())["model"]
    assert vocabulary == expected["vocab"]
    assert merges == expected["merges"]
