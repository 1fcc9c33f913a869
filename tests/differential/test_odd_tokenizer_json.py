"""Odd tokenizer.json files of byte-level models, made at random: Hugging Face's library agrees, or refuses too.

What differs on purpose is listed in ``OTHERWISE`` and nowhere else.
"""

from __future__ import annotations

import json
import random

import pytest

from bpe_cli.errors import FormatError, InputError
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from tests.needs import needs
from tests.thorough import more
from tests.unit.formats.test_odd_tokenizer_json import ALPHABET, JOINER, added, document

rival = needs("tokenizers")

OTHERWISE = {
    "a byte has no token": "they leave it out of the text without a word; here it is an error",
    "an id that the file gives to nobody": "they decode it, and the empty token, to nothing; here it is an error",
    "an added token of letters beyond ASCII": "they decode its letters to the bytes that those spell; here to its text",
    "an added token with another id than theirs": "they number added tokens anew where ids leave a gap; here as stated",
    "files that contradict themselves": "two texts with one id, an added token twice: they choose; here it is an error",
    "an unknown token that is not there": "they fail where it is needed; here where it is read",
}
"""What differs -> how. The generator makes all but the last four, which no text can be right about."""

PIECES = ("a", "b", "ab", "Ġ", "Ġa", "é", "Ã", "©", "Ã©", "â", "Ģ", "į", "âĢ", "âĢį", "bab", "1", "<t>", " ")
FOREIGN = (JOINER, " ", "\n", "a" + JOINER, "a b", "\x00", "▁", "中", "ŀa中", "\u00ad")
LETTERS = (
    "a",
    "b",
    "ab",
    " ",
    "  ",
    "é",
    JOINER,
    "\n",
    "1",
    "<t>",
    "<s>",
    "中",
    "\x00",
    "▁",
    "ba",
    "Ġ",
    "Ã©",
    "\u00ad",
)


def made_up(chance: random.Random) -> dict:
    """Make a file: an alphabet with or without gaps, tokens of all sorts, merges of them, and added tokens."""
    vocab = dict(ALPHABET)
    for character in chance.sample(sorted(vocab), chance.choice((0, 0, 0, 1, 40))):
        del vocab[character]
    ids = iter(chance.sample(range(256, 300), 40))
    tokens = [*dict.fromkeys([*chance.sample(PIECES, 9), *chance.sample(FOREIGN, chance.randint(0, 4)), "<unk>"])]
    vocab |= {token: next(ids) for token in tokens if token not in vocab}
    merges = [
        (token[:at], token[at:])
        for token in tokens
        for at in range(1, len(token))
        if token[:at] in vocab and token[at:] in vocab and chance.random() < 0.8
    ]
    chance.shuffle(merges)
    if merges and chance.random() < 0.2:
        merges.append(merges[0])
    if chance.random() < 0.1:
        merges.append(("a", "1"))  # what it makes is not a token
    if chance.random() < 0.1:
        merges.append(("zz", "a"))  # what it needs is none
    spaced = any(" " in part for pair in merges for part in pair)
    written = [list(pair) if spaced or chance.random() < 0.5 else " ".join(pair) for pair in merges]
    if len({type(each) for each in written}) > 1:
        written = [list(pair) for pair in merges]
    model = {"ignore_merges": chance.random() < 0.3, "byte_fallback": chance.random() < 0.2}
    if chance.random() < 0.3:
        model |= {"unk_token": "<unk>", "fuse_unk": chance.random() < 0.5}
    if chance.random() < 0.1:
        vocab[""] = 300
    tokens = [token for token in chance.sample(["ab", "a", "<t>", "é", "Ġ", "<unk>"], 3) if token in vocab]
    shadows = [
        added(token, chance.choice((vocab[token], vocab[token], 400)), special=chance.random() < 0.5)
        for token in tokens
    ]
    return document(vocab, written, shadows, **model)


def is_hidden(content: dict, token_id: int) -> bool:
    """Return whether an id is one of those that are decoded otherwise on purpose."""
    return token_id not in content["model"]["vocab"].values() or token_id == content["model"]["vocab"].get("")


@pytest.mark.parametrize("seed", range(more(60, 2000)))
def test_both_agree_or_both_refuse(seed):
    chance = random.Random(seed)
    content = made_up(chance)
    data = json.dumps(content).encode()
    try:
        theirs = rival.Tokenizer.from_str(data.decode())
    except Exception:  # the library raises this very class
        with pytest.raises(FormatError):
            hf_json.loads(data)
        return
    ours = hf_json.loads(data)
    plain = hf_json.loads_plainly(data)
    again = hf_json.loads(hf_json.dump(ours)[""])
    assert plain == ours
    # Special tokens are found by the library always, and here where they are asked for.
    compared = 0
    for _ in range(40):
        text = "".join(chance.choices(LETTERS, k=chance.randint(1, 12)))
        expected = theirs.encode(text, add_special_tokens=False).ids
        try:
            ids = ours.encode(text, specials="all")
        except InputError:
            assert len(ALPHABET.keys() & content["model"]["vocab"].keys()) < len(ALPHABET)
            continue
        assert ids == expected, text
        assert again.encode(text, specials="all") == expected, text
        assert ours.decode_bytes(ids).decode("utf-8", "replace") == theirs.decode(ids, skip_special_tokens=False), text
        compared += 1
    assert compared or len(ALPHABET.keys() & content["model"]["vocab"].keys()) < len(ALPHABET)
    for token_id in range(ours.vocab_size):
        if not is_hidden(content, token_id):
            expected = theirs.decode([token_id], skip_special_tokens=False)
            assert ours.decode_bytes([token_id]).decode("utf-8", "replace") == expected, token_id


def test_the_generator_makes_what_it_is_for():
    """Of a hundred files some are refused, some have entries that are only decoded, some lack bytes."""
    refused = only_decoded = gaps = shadows = 0
    for seed in range(100):
        content = made_up(random.Random(seed))
        gaps += not ALPHABET.keys() <= content["model"]["vocab"].keys()
        shadows += bool(content["added_tokens"])
        try:
            tokenizer = hf_json.loads(json.dumps(content).encode())
        except FormatError:
            refused += 1
            continue
        only_decoded += bool(tokenizer.model.texts)
    assert min(refused, only_decoded, gaps, shadows) >= 10


@pytest.mark.parametrize(
    "model",
    [
        {"type": "BPE", "unk_token": "", "vocab": {"": 0, "a": 1}, "merges": []},
        {"type": "Unigram", "unk_id": 0, "vocab": [["", 0.0], ["a", -1.0]]},
        {"type": "WordLevel", "unk_token": "", "vocab": {"": 0, "a": 1}},
        {"type": "WordLevel", "unk_token": "", "vocab": {"a": 0, "": 1}},
        {"type": "WordPiece", "unk_token": "", "continuing_subword_prefix": "##", "max_input_chars_per_word": 9,
         "vocab": {"": 0, "a": 1}},
    ],
    ids=lambda model: model["type"],
)  # fmt: skip
def test_an_unknown_token_may_have_no_text(model):
    """Fuzzing found that no text was encoded once special tokens were asked for, or if the id was the last one."""
    data = json.dumps({"version": "1.0", "added_tokens": [], "model": model})
    theirs, ours = rival.Tokenizer.from_str(data), hf_json.loads(data.encode())
    for text in ("a", "ax", "x", "", "aa"):
        for specials in ((), "all"):
            assert ours.encode(text, specials=specials) == theirs.encode(text).ids


@pytest.mark.parametrize("fuse_unk", [False, True])
def test_they_put_what_is_unknown_behind_the_bytes_that_follow_it(fuse_unk):
    """So a file with byte tokens for some of the bytes is refused here if it has an unknown token."""
    vocab = {"<unk>": 0, "<0xC3>": 1, "<0xA9>": 2}
    file = document(vocab, unk_token="<unk>", byte_fallback=True, fuse_unk=fuse_unk)
    theirs = rival.Tokenizer.from_str(json.dumps(file | {"pre_tokenizer": None, "decoder": None}))
    assert theirs.encode("☃é").ids == [1, 2, 0]
    with pytest.raises(FormatError, match="2 of the 256 bytes have tokens"):
        hf_json.loads(json.dumps(file).encode())
