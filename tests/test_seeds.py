"""Every worked example of the documents that the project was created from, by the command line.

Shown elsewhere, and not again here:

- the tables inside of a BPE training (counts of pairs, splits after each merge), the walk-through's and the
  notebook's: tests/test_worked_examples.py, as `--steps` tests/cli/test_train.py
- BPE's vocabulary of 50 in the way of GPT-2 as bytes, and "This is not a token.": tests/cli/test_train.py
- scores of pairs in WordPiece, and where the course's third merge of hug, pug, pun, bun, hugs is not the best:
  tests/unit/teaching/test_wordpiece.py
- pre-tokenizations of the four sentences with offsets, by GPT-2, BERT and XLNet:
  tests/oracle/test_pre_tokenize.py
- max-match's joining and its punctuation: tests/unit/trainers/test_train_maxmatch.py
- ChatGLM's model as a whole: tests/differential/test_sentencepiece_models.py
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isclose, log
from pathlib import Path
from typing import Any

import pytest

from bpe_cli.formats import dump, load
from bpe_cli.stages import BPEDecoder, CharacterBpe, MaxMatch, SpecialToken, WhitespaceSplit, WordPiece
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import maxmatch
from tests.cli_runner import call
from tests.test_worked_examples import CHAT_4_32K, CHAT_4_32K_IDS, CHAT_35, CHAT_35_IDS, MERGES, SENTENCES, WALK_STEPS
from tests.word_piece_examples import HUG_COUNTS, HUG_VOCABULARY, SENTENCE_TOKENS, SORTED_VOCABULARY, VOCABULARY

COURSE = "".join(f"{sentence}\n" for sentence in SENTENCES)
AI = "我们相信AI可以让世界变得更美好"


def train(path: Path, text: str, *options: str) -> Path:
    """Train on a text; give the tokenizer's file."""
    file = path / "tokenizer.json"
    assert call("train", "-q", "-o", file, *options, input=text.encode()) == (0, b"", "")
    return file


def write(path: Path, tokenizer: Tokenizer) -> Path:
    """Write a tokenizer whose vocabulary a document gives."""
    file = path / "tokenizer.json"
    file.write_bytes(dump(tokenizer, "bpe.json")[""])
    return file


def model(file: Path) -> dict[str, Any]:
    return json.loads(file.read_bytes())["model"]


def merges(file: Path) -> list[str]:
    return [" ".join(merge) for merge in model(file)["merges"]]


def encode(file: Path, text: str, *options: str) -> list[str]:
    """Return the tokens of a text."""
    tokens = call("encode", "-t", file, "--to", "tokens", *options, input=text.encode())
    assert (tokens.status, tokens.err) == (0, "")
    return tokens.text.removesuffix("\n").split(" ")


def decoded(file: Path | str, text: str) -> str:
    """Encode and decode a text."""
    ids = call("encode", "-t", file, input=text.encode())
    return call("decode", "-t", file, input=ids.out).text


def spans(file: Path, text: str) -> list[tuple[str, tuple[int, int]]]:
    """Return tokens with the bytes that they stand for; all texts here are ASCII."""
    line = json.loads(call("encode", "-T", text, "-t", file, "--to", "jsonl", "--with", "tokens,spans").out)
    return [(token, tuple(span)) for token, span in zip(line["tokens"], line["spans"], strict=True)]


# -- words, characters, bi-grams -------------------------------------------------------------------


def test_characters(tmp_path):
    file = train(tmp_path, AI, "-a", "char")
    assert "/".join(encode(file, AI)) == "我/们/相/信/A/I/可/以/让/世/界/变/得/更/美/好"
    assert decoded(file, AI) == AI


def test_words_of_a_dictionary(tmp_path):
    words = "我们/相信/AI/可以/让/世界/变得/更/美好"
    file = write(tmp_path, Tokenizer(MaxMatch(Vocabulary.from_tokens(word.encode() for word in words.split("/")))))
    assert "/".join(encode(file, AI)) == words
    assert decoded(file, AI) == AI


def test_bigrams(tmp_path):
    """The last character stands alone."""
    file = train(tmp_path, AI, "-a", "ngram")
    assert "/".join(encode(file, AI)) == "我们/们相/相信/信A/AI/I可/可以/以让/让世/世界/界变/变得/得更/更美/美好/好"
    assert decoded(file, AI) == AI


def test_table_of_characters(tmp_path):
    """The 65 characters of the lecture's Shakespeare, in the order of their codes."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    shakespeare = f"{letters}{letters.upper()}\n !$&',-.3:;?"
    file = train(tmp_path, shakespeare, "-a", "char", "--set", "order=sorted", "--set", "unk_token=none")
    assert len(model(file)["vocab"]) == 65
    assert call("encode", "-T", "hii there", "-t", file).text == "46 47 47 1 58 46 43 56 43\n"
    assert decoded(file, "hii there") == "hii there"


def test_top_words_and_the_unknown_one(tmp_path):
    """Sentences are cut into words by a rule, and the N most frequent are the vocabulary."""
    file = train(tmp_path, "look, looking; look looked look", "-a", "word", "-s", "3")
    assert list(model(file)["vocab"]) == ["<unk>", "look", ","]
    assert encode(file, "look looking") == ["look", "<unk>"]


def test_bytes_of_a_binary_file(tmp_path):
    """Every byte is its own id, as a byte model reads any file."""
    file = train(tmp_path, "", "-a", "byte")
    data = bytes(reversed(range(256)))
    ids = call("encode", "-t", file, input=data)
    assert ids.text.split() == [str(byte) for byte in data]
    assert call("decode", "-t", file, input=ids.out).out == data


# -- normalization and pre-tokenization ------------------------------------------------------------


@pytest.mark.parametrize("text", ["Héllò hôw are ü?", "  Héllò \n\n hôw   are ü?\n"])
def test_normalization(tmp_path, text):
    """Line ends and spaces that are too many, capitals and accents are left out."""
    names = "collapse-spaces,strip,nfd,strip-accents,lowercase"
    file = train(tmp_path, text, "-a", "char", "--normalizer", names)
    assert decoded(file, text) == "hello how are u?"


# fmt: off
PRE_TOKENIZED = {
    "bert": [("Hello", (0, 5)), (",", (5, 6)), ("how", (7, 10)), ("are", (11, 14)), ("you", (16, 19)), ("?", (19, 20))],
    "gpt2": [("Hello", (0, 5)), (",", (5, 6)), ("\\x20how", (6, 10)), ("\\x20are", (10, 14)), ("\\x20", (14, 15)),
             ("\\x20you", (15, 19)), ("?", (19, 20))],
    "t5": [("▁Hello,", (0, 6)), ("▁how", (7, 10)), ("▁are", (11, 14)), ("▁you?", (16, 20))],
    "xlnet": [("▁Hello,", (0, 6)), ("▁how", (7, 10)), ("▁are", (11, 14)), ("▁you?", (16, 20))],
}
# fmt: on


@pytest.mark.parametrize("name", PRE_TOKENIZED)
def test_pre_tokenization(tmp_path, name):
    """Where everything is merged, tokens are the pieces."""
    text = "Hello, how are  you?"
    options = ("--pre-tokenizer", name, "--normalizer", "none", "--min-frequency", "1", "-s", "1000")
    assert spans(train(tmp_path, text, "-a", "wordpiece", *options), text) == PRE_TOKENIZED[name]


def test_pre_tokenization_spelt_in_bytes(tmp_path):
    """GPT-2 writes a space as Ġ."""
    text = "Hello, how are  you?"
    file = train(tmp_path, text, "--pattern", "gpt2", "-s", "1000")
    expected = [(token.replace("\\x20", "Ġ"), span) for token, span in PRE_TOKENIZED["gpt2"]]
    assert spans(file, text) == expected


# -- BPE -------------------------------------------------------------------------------------------

TEXTBOOK = ("-a", "bpe", "--set", "tie=first-seen", "--initial-alphabet", "seen")
"""As documents have it: Python's ``max`` takes the first of equals."""


def dictionary(words: Mapping[str, int]) -> str:
    return "".join(f"{word} {count}\n" for word, count in words.items())


def test_walk_through(tmp_path):
    """Merging goes on until the best pair occurs once."""
    words = dictionary({"low": 5, "lower": 2, "newest": 6, "widest": 3})
    options = ("--set", "dictionary=yes", "--set", "suffix_form=0.1", "-s", "1000")
    file = train(tmp_path, words, *TEXTBOOK, *options)
    assert merges(file) == [f"{left} {right}" for left, right, *_ in WALK_STEPS]
    assert encode(file, "lowest newer") == ["low", "est</w>", "new", "e", "r", "</w>"]
    shown = call("train", *TEXTBOOK, *options, "--steps", "-q", input=words.encode()).text
    assert "step 1: e + s -> es, 9 times\n" in shown
    assert "  in use  11 (+0): s is gone\n" in shown


def test_notebook_training(tmp_path):
    """Of its ten merges the document prints three; the others come from its code."""
    words = dictionary({"holy": 5, "holier": 2, "newst": 6, "widest": 3})
    options = ("--set", "dictionary=yes", "--set", "suffix_form=0.1", "--set", "merges=10")
    file = train(tmp_path, words, *TEXTBOOK, *options)
    assert merges(file) == [
        *("s t", "st </w>", "h o", "ho l", "n e", "ne w", "new st</w>", "hol y", "holy </w>", "w i"),
    ]
    shown = call("train", *TEXTBOOK, *options, "--steps", "-q", input=words.encode()).text
    assert "step 2: st + </w> -> st</w>, 9 times\n" in shown
    assert shown.count("  in use  12 (") == 2


def test_notebook_encoding(tmp_path):
    """The longest token anywhere first, then what is left and right of it; what no token is in is unknown."""
    tokens = ["", "s</w>", "ou", "in", "ta", "m", "n"]  # by length, of equals the most frequent first
    vocabulary = Vocabulary.from_tokens(token.encode() for token in tokens)
    bpe = CharacterBpe(vocabulary, Merges.from_pairs([]), unk_id=0, end_of_word_suffix="</w>")
    unknown = SpecialToken(b"<unk>", 0)
    file = write(tmp_path, Tokenizer(bpe, (WhitespaceSplit(),), (unknown,), decoder=(BPEDecoder(),)))
    assert encode(file, "inmountains", "--inference", "longest") == ["in", "m", "ou", "n", "ta", "in", "s</w>"]
    assert encode(file, "mountains ink", "--inference", "longest") == [
        *("m", "ou", "n", "ta", "in", "s</w>"),
        *("in", "<unk>"),
    ]
    ids = call("encode", "-T", "inmountains mountains", "-t", file, "--inference", "longest").out
    assert call("decode", "-t", file, input=ids).text == "inmountains mountains"


def test_four_sentences(tmp_path):
    """The same as in the way of GPT-2, over characters."""
    options = ("--pattern", "gpt2", "--set", "end_of_word_suffix=", "--min-frequency", "1", "-s", "51")
    file = train(tmp_path, COURSE, *TEXTBOOK, *options)
    assert merges(file) == [f"{left} {right}".replace("Ġ", " ") for left, right in MERGES]
    assert encode(file, "This is not a token.") == [
        *("This", "\\x20is", "\\x20", "n", "o", "t", "\\x20a", "\\x20token", "."),
    ]
    assert decoded(file, "This is not a token.") == "This is not a token."


def test_aaabdaaabac(tmp_path):
    options = ("--set", "end_of_word_suffix=", "-s", "1000")
    file = train(tmp_path, "aaabdaaabac", *TEXTBOOK, *options)
    assert merges(file) == ["a a", "aa a", "aaa b"]
    tokens = encode(file, "aaabdaaabac")
    assert "".join("X" if token == "aaab" else token for token in tokens) == "XdXac"
    assert decoded(file, "aaabdaaabac") == "aaabdaaabac"


# -- BPE over bytes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "ids", "shown"),
    [
        ("cl100k_base", "你是谁", "57668 21043 39013 223", "你是��"),
        ("gpt-4", "你是谁, my name", "57668 21043 39013 223 11 856 836", "你是��, my name"),
        ("gpt2", "你是谁", "19526 254 42468 164 108 223", "��是���"),
    ],
)
def test_ids_of_openai(name, text, ids, shown):
    assert call("encode", "-T", text, "-t", name).text == f"{ids}\n"
    assert decoded(name, text) == text
    # What a page shows that decodes token by token: a part of a character is one U+FFFD
    alone = [call("decode", "-t", name, "--errors", "replace", input=each.encode()).text for each in ids.split()]
    assert "".join(alone) == shown


def test_hello_world():
    assert decoded("cl100k_base", "hello world") == "hello world"


@pytest.mark.parametrize(("text", "ids"), [(CHAT_35, CHAT_35_IDS), (CHAT_4_32K, CHAT_4_32K_IDS)], ids=["3.5", "4-32k"])
def test_special_tokens_of_a_chat(text, ids):
    added = {"<|im_start|>": 100264, "<|im_end|>": 100265, "<|im_sep|>": 100266}
    options = [part for token, number in added.items() for part in ("--add-special", f"{token}={number}")]
    found = call("encode", "-t", "cl100k_base", *options, "--special", "all", input=text.encode())
    assert found.text == " ".join(map(str, ids)) + "\n"
    assert call("decode", "-t", "cl100k_base", *options, input=found.out).text == text


# -- WordPiece -------------------------------------------------------------------------------------

SCORE = ("-a", "wordpiece", "--lines", "--set", "rule=score", "--set", "tie=first-seen",
         "--initial-alphabet", "seen", "--min-frequency", "1", "--set", "lowercase=no")  # fmt: skip


def test_vocabulary_of_70(tmp_path):
    """One document prints it in the order of training, the other sorted."""
    file = train(tmp_path, COURSE, *SCORE, "-s", "70")
    assert list(model(file)["vocab"]) == VOCABULARY
    assert set(VOCABULARY) == set(SORTED_VOCABULARY)
    assert encode(file, "This is the Hugging Face course!") == SENTENCE_TOKENS
    assert encode(file, "Hugging") == ["Hugg", "##i", "##n", "##g"]
    assert encode(file, "HOgging") == ["[UNK]"]
    assert decoded(file, "This is the Hugging Face course.") == "This is the Hugging Face course."


def test_first_merges_of_hugs(tmp_path):
    text = "".join(f"{word}\n" * count for word, count in HUG_COUNTS.items())
    file = train(tmp_path, text, *SCORE, "--special", "[UNK]", "-s", "10")
    assert list(model(file)["vocab"]) == ["[UNK]", *sorted(HUG_VOCABULARY[:7]), "##gs", "hu"]


@pytest.mark.parametrize(
    ("word", "tokens"),
    [
        ("hugs", ["hug", "##s"]),
        ("bugs", ["b", "##u", "##gs"]),
        ("pugs", ["p", "##u", "##gs"]),
        ("mug", ["[UNK]"]),
        ("bum", ["[UNK]"]),  # not b ##u [UNK]
    ],
)
def test_words_like_hugs(tmp_path, word, tokens):
    vocabulary = Vocabulary.from_tokens(token.encode() for token in ["", *HUG_VOCABULARY])
    file = write(tmp_path, Tokenizer(WordPiece(vocabulary, 0), special_tokens=(SpecialToken(b"[UNK]", 0),)))
    assert encode(file, word) == tokens


# -- Unigram ---------------------------------------------------------------------------------------

UNIGRAM = ("-a", "unigram", "--lines", "--set", "rule=textbook", "--pre-tokenizer", "xlnet")
INITIAL = {
    "▁": 2.952892114877499, "T": 5.288267030694535, "h": 4.189654742026425,
    "sever": 6.386879319362645, "severa": 6.386879319362645, "several": 6.386879319362645,
}  # fmt: skip
INITIAL_COUNTS = {"▁": 31, "T": 3, "h": 9, "i": 13, "s": 13, "several": 1}
FINAL = {
    "▁": 2.318585434340487, "T": 4.653960350157523, "h": 3.5553480614894135, "i": 3.1876232813640963,
    "seve": 5.752572638825633, "sever": 5.752572638825633, "severa": 5.752572638825633, "several": 5.752572638825633,
}  # fmt: skip


def costs(file: Path) -> dict[str, float]:
    """Return the document's loss of each token; the unknown one, which it does not count, is left out."""
    (unknown, _), *scores = model(file)["vocab"]
    assert unknown == "<unk>"
    return {token: -score for token, score in scores}


def test_unigram_begins_with_300(tmp_path):
    file = train(tmp_path, COURSE, *UNIGRAM, "-s", "301")
    found = costs(file)
    assert len(found) == 300
    for token, cost in INITIAL.items():
        assert isclose(found[token], cost, rel_tol=0, abs_tol=1e-9), token
    # A cost is the logarithm of total / count; what occurs once has a count of 1.
    for token, count in INITIAL_COUNTS.items():
        assert isclose(found["several"] - found[token], log(count), rel_tol=0, abs_tol=1e-9), token
    # The document's scores begin at 1 instead of 0.
    engine = load(file).engine
    for word, tokens, score in [("This", ["This"], 6.288267030694535), ("this", ["t", "his"], 10.03608902044192)]:
        ids, found_score = engine.nbest(word.encode(), 1)[0]
        assert [load(file).token_bytes(token_id).decode() for token_id in ids] == tokens
        assert isclose(1 - found_score, score, rel_tol=0, abs_tol=1e-9)


def test_unigram_ends_with_100(tmp_path):
    """It takes a tenth away until no more than 100 are left."""
    file = train(tmp_path, COURSE, *UNIGRAM, "-s", "101")
    found = costs(file)
    assert len(found) == 98
    for token, cost in FINAL.items():
        assert isclose(found[token], cost, rel_tol=0, abs_tol=1e-9), token
    # What the document shows ends with a full stop; what it says that it encodes, with an exclamation mark.
    start = ["▁This", "▁is", "▁the", "▁Hugging", "▁Face", "▁", "c", "ou", "r", "s", "e"]
    assert encode(file, "This is the Hugging Face course.") == [*start, "."]
    assert encode(file, "This is the Hugging Face course!") == [*start, "<unk>"]
    assert decoded(file, "This is the Hugging Face course.") == "This is the Hugging Face course."


def test_chatglm_falls_back_to_bytes(shared, tmp_path):
    """Its settings are printed: ``byte_fallback``, and ``<n>`` is a user's own symbol."""
    file = tmp_path / "ice_text.model"  # by itself, not with its class
    file.write_bytes((shared / "vocabs" / "chatglm-6b" / "ice_text.model").read_bytes())
    assert encode(file, "<n>\U00020000") == ["▁", "<n>", "<0xF0>", "<0xA0>", "<0x80>", "<0x80>"]
    assert decoded(file, "a<n>\U00020000") == "a<n>\U00020000"


# -- maximum match ---------------------------------------------------------------------------------


def test_sentence_of_the_segmenter(tmp_path):
    """The document's dictionaries are lost; of any that have its words, and others that are shorter, this comes."""
    # fmt: off
    shown = ["他是", "一位", "声誉", "很高的", "学者", ",", "凭借", "丰富的", "知识", "储备", ",", "在这", "部",
             "重要的", "作品", "中", ",", "就", "弥", "源", "太", "是否", "皈", "依", "进行过", "讨论", "。"]
    # fmt: on
    dictionaries = [
        [(word.encode(), 1) for word in ["是一", "很高", "丰富", "重要", "进行", "学者"]],
        [(word.encode(), 1) for word in shown if len(word) > 1],
    ]
    characters = [(character.encode(), 1) for character in dict.fromkeys("".join(shown))]
    file = write(tmp_path, maxmatch.assemble(characters, dictionaries, maxmatch.MaxMatchOptions()))
    assert encode(file, "".join(shown)) == shown
    assert decoded(file, "".join(shown)) == "".join(shown)


def test_three_lines_of_the_segmenter(tmp_path):
    lines = "所谓调度就是决定某时刻，应该运行哪个进程。\n调度分为实时调度和非实时调度。\n实时调度分为硬实时和软实时。\n"
    options = ("--set", "lines_per_word=0.6", "--set", "factors=1.0", "--set", "rounds=1")
    file = train(tmp_path, lines, "-a", "maxmatch", "--lines", *options)
    assert encode(file, lines.split("\n")[1]) == ["调度", "分为", "实时", "调度", "和非", "实时", "调度", "。"]
    assert not any("，" in word or "。" in word for word in model(file)["vocab"] if len(word) > 1)
    assert decoded(file, lines) == lines
