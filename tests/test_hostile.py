"""Texts, counts, ids and vocabularies that were made to break a tokenizer: all end, and end right."""

from __future__ import annotations

import random
from array import array
from functools import cache

import pytest

from bpe_cli import _core, formats
from bpe_cli.errors import BpeError, InputError, TrainingError, UsageError
from bpe_cli.stages import MergeBpe, PrefixSpace, RankBpe, SpecialToken, Split
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.splitters import RegexSplitter, compile_splitter
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.teaching import bpe
from bpe_cli.tokenizer import Tokenizer, named_encodings
from bpe_cli.tokenizer.streaming import StreamDecoder
from bpe_cli.trainers import bbpe
from tests.differential.rivals import assert_equal_ids, tiktoken_encoding
from tests.oracle.encode import encode_by_merges
from tests.thorough import more

UNITS = {
    "letters": "a",
    "capitals": "A",
    "alternating": "ab",
    "case": "aB",
    "digits": "7",
    "spaces": " ",
    "tabs": "\t",
    "wide spaces": "\u3000",
    "line feeds": "\n",
    "line ends": "\r\n",
    "blank lines": " \n",
    "carets": "^",
    "slashes": "!/",
    "apostrophes": "'s",
    "emoji": "🙂",
    "joiners": "\u200d",
    "nul": "\0",
    "ideographs": "漢",
    "accents": "A\u0301",
    "caseless and capital": "ªA",
    "a long word": "internationalization",
    "half a special token": "<|endoftext",
}
ENDS = {
    "spaces, then a word": ("", " ", "x"),
    "a line feed, spaces, then a word": ("\n", " ", "x"),
    "a letter with a thousand accents": ("A", "\u0301", ""),
    "capitals after a caseless letter": ("ª", "A", ""),
    "capitals before a small letter": ("", "A", "a"),
    "symbols before a letter": ("", "!", "a"),
    "whitespace at the end": ("x", "\u3000", ""),
}
HOSTILE = {**{name: ("", unit, "") for name, unit in UNITS.items()}, **ENDS}
BROKEN = {
    "bytes that go on": b"\x80",
    "bytes that are never": b"\xff",
    "halves of a character": b"\xe4\xbd",
    "overlong": b"\xc0\xaf",
    "surrogates": b"\xed\xa0\x80",
    "beyond Unicode": b"\xf4\x90\x80\x80",
}
SIZE = more(600_000, 8_000_000)
NAMES = ["gpt2", "cl100k_base", "o200k_base"]


def text_of(name: str, size: int) -> str:
    before, unit, after = HOSTILE[name]
    return before + unit * (size // len(unit.encode())) + after


@cache
def noise(size: int) -> bytes:
    return random.Random(7).randbytes(size)


def data_of(name: str, size: int) -> bytes:
    if name == "noise":
        return noise(size)
    return BROKEN[name] * (size // len(BROKEN[name])) if name in BROKEN else text_of(name, size).encode()


EVERY = [*HOSTILE, *BROKEN, "noise"]


# -- encoding --------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", NAMES)
@pytest.mark.parametrize("name", HOSTILE)
def test_ids_equal_tiktokens(name, encoding):
    text = text_of(name, 60_000)
    try:
        expected = tiktoken_encoding(encoding).encode_ordinary(text)
    except BaseException as error:
        # Their regular expressions overflow a stack in long whitespace; then a shorter one must do.
        if type(error).__name__ != "PanicException":
            raise
        assert text.isspace() or text[:-1].isspace()
        text = text_of(name, 6000)
        expected = tiktoken_encoding(encoding).encode_ordinary(text)
    tokenizer = named_encodings.named(encoding)
    ids, _ = tokenizer.encode_block(Block.of([text.encode()]))
    assert_equal_ids(tokenizer, [text.encode()], ids, expected)


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize("name", EVERY)
def test_a_megabyte_is_encoded_counted_and_decoded(name, encoding):
    tokenizer, data = named_encodings.named(encoding), data_of(name, SIZE)
    block = Block.of([data])
    ids, ends = tokenizer.encode_block(block, threads=2)
    assert tokenizer.decode_bytes(ids) == data
    assert tokenizer.count_block(block, threads=2).tolist() == ends.tolist() == [len(ids)]
    whole, _ = tokenizer.encode_block(block, threads=1)
    assert bytes(ids) == bytes(whole)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", EVERY)
def test_pieces_are_those_of_the_expression(name, pattern):
    data = data_of(name, 20_000)
    expression = PATTERNS[pattern].regex
    fast, slow = compile_splitter((expression,)), RegexSplitter([expression])
    if name != "noise":  # in which there may be characters that are newer than the core's tables
        assert memoryview(fast.split(data)).tolist() == slow.split(data).tolist()
    assert memoryview(fast.split(data))[-1] == len(data)


@pytest.mark.parametrize("name", EVERY)
def test_special_tokens_are_looked_for_in_anything(name):
    tokenizer, data = named_encodings.named("o200k_harmony"), data_of(name, 600_000)
    assert tokenizer.decode_bytes(tokenizer.encode(data, specials="all", threads=2)) == data
    assert tokenizer.encode(data + b"<|end|>", specials="all")[-1] == 200007


def test_a_document_of_nothing_but_special_tokens():
    tokenizer = named_encodings.named("o200k_harmony")
    contents = [token.content for token in tokenizer.special_tokens]
    data = b"".join(contents) * 40
    assert (
        tokenizer.encode(data, specials="all", threads=2) == [token.token_id for token in tokenizer.special_tokens] * 40
    )


@pytest.mark.parametrize("name", ["letters", "spaces", "emoji", "halves of a character", "noise", "a long word"])
def test_a_document_that_comes_in_little_pieces(name):
    """Where there is no safe place to cut, the document is held, and not searched again at every block."""
    tokenizer, data = named_encodings.named("cl100k_base"), data_of(name, 300_000)
    size = 64
    parts = [data[start : start + size] for start in range(0, len(data), size)]
    blocks = (
        Block(part, array("Q", [len(part)]), continued=number > 0, unfinished=number < len(parts) - 1)
        for number, part in enumerate(parts)
    )
    ids: list[int] = []
    for block in tokenizer.settle(blocks, None):
        ids += tokenizer.encode_block(block)[0]
    assert ids == tokenizer.encode(data)


def test_many_empty_documents():
    tokenizer = named_encodings.named("gpt2")
    ids, ends = tokenizer.encode_block(Block.of([b""] * 200_000 + [b"a"] + [b""] * 10), threads=4)
    assert (ids.tolist(), ends.tolist()) == ([64], [0] * 200_000 + [1] * 11)
    assert tokenizer.encode(b"") == []


# -- training --------------------------------------------------------------------------------------


def trained(documents: list[bytes], options: bbpe.BbpeOptions, threads: int = 2) -> bbpe.BbpeResult:
    counts = bbpe.new_counts()
    bbpe.TRAINER.count([Block.of(documents)], options, counts, threads)
    return bbpe.TRAINER.train(counts, options)


@pytest.mark.parametrize("pattern", ["", "o200k"])
@pytest.mark.parametrize("name", EVERY)
def test_training_ends_and_the_tokenizer_works(name, pattern):
    expression = PATTERNS[pattern].regex if pattern else ""
    data = data_of(name, SIZE // 4)
    tokenizer = trained([data], bbpe.BbpeOptions(264, expression)).tokenizer
    assert tokenizer.decode_bytes(tokenizer.encode(data)) == data
    assert formats.FORMATS["tokenizer.json"].loads(formats.dump(tokenizer, "tokenizer.json")[""]) == tokenizer


@pytest.mark.parametrize("compat", bbpe.COMPAT)
@pytest.mark.parametrize("name", [name for name in EVERY if name != "noise"])
def test_training_by_the_book(name, compat):
    """One piece, in which all pairs overlap; small enough for the textbook."""
    data = data_of(name, more(200, 2000))
    options = bbpe.BbpeOptions(270, "", compat=compat)
    result = trained([data], options)
    tokens = [token for _, token in result.tokenizer.model.vocabulary.items()]
    steps = list(
        bpe.train(
            bpe.byte_words({data: 1}),
            initial=tokens[:256],
            vocab_size=270,
            min_frequency=options.minimum,
            tie=options.rules.tie,
        )
    )
    merges = [(tokens[left], tokens[right]) for left, right, _ in result.tokenizer.model.merges]
    assert merges == [step.pair for step in steps]
    assert result.merge_counts.tolist() == [step.count for step in steps]
    ids = result.tokenizer.encode(data)
    assert [tokens[token_id] for token_id in ids] == encode_by_merges(bpe.byte_words({data: 1}).popitem()[0], merges)


def test_what_was_trained_can_be_used_however_long_its_tokens_are():
    """Without a pattern, a text that repeats itself makes tokens as long as half of it."""
    data = b"ab" * 4096
    tokenizer = trained([data], bbpe.BbpeOptions(300, "")).tokenizer
    assert tokenizer.decode_bytes(tokenizer.encode(data)) == data


def test_counts_beyond_32_bits():
    """Hugging Face's trainer counts in i32, and merges the wrong pairs from 2^31 on."""
    counts = bbpe.new_counts()
    pieces = {b"ab": 2**31 + 5, b"cd": 2**33, b"ef": 10, b"cde": 2**32 - 1}
    counts.add_pieces(b"".join(pieces), Block.of(pieces).ends, array("Q", pieces.values()))
    result = bbpe.TRAINER.train(counts, bbpe.BbpeOptions(260, ""))
    tokens = [token for token_id, token in result.tokenizer.model.vocabulary.items() if token_id >= 256]
    assert tokens == [b"cd", b"cde", b"ab", b"ef"]
    assert result.merge_counts.tolist() == [2**33 + 2**32 - 1, 2**32 - 1, 2**31 + 5, 10]
    assert (counts.total, counts.total_bytes) == (sum(pieces.values()), 2 * sum(pieces.values()) + 2**32 - 1)


def test_counts_beyond_64_bits_are_refused():
    counts = bbpe.new_counts()
    counts.add_pieces(b"ab", array("Q", [2]), array("Q", [2**62]))
    with pytest.raises(ValueError, match=r"^the counted bytes pass 2\^64 in total$"):
        counts.add_pieces(b"cd", array("Q", [2]), array("Q", [2**63]))
    with pytest.raises(ValueError, match=r"^the counted bytes pass 2\^64 in total$"):
        counts.merge(_core.Counts.load(b"\x02" + b"\xff" * 9 + b"\x01" + b"xy", 1 << 20))

    counts = bbpe.new_counts()
    counts.add_pieces(b"a", array("Q", [1]), array("Q", [2**63]))
    with pytest.raises(ValueError, match=r"^the counts of all pieces together pass 2\^64$"):
        counts.add_pieces(b"b", array("Q", [1]), array("Q", [2**63]))
    with pytest.raises(ValueError, match=r"^the tokens of a document pass 2\^64$"):
        _core.write_counts(array("Q", [1]), 2**64 - 1, True)


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("pattern", ["gpt2", r"\S+|\s+"])
def test_counts_stay_within_their_memory(threads, pattern):
    options = bbpe.BbpeOptions(300, PATTERNS[pattern].regex if pattern in PATTERNS else pattern)
    chance = random.Random(3)
    data = " ".join("".join(chance.choices("abcdefgh", k=12)) for _ in range(100_000)).encode()
    counts = bbpe.new_counts(2 << 20)
    with pytest.raises(TrainingError) as caught:
        bbpe.TRAINER.count([Block.of([data])], options, counts, threads)
    assert "different pieces take more than 2 MiB of memory" in caught.value.message
    assert "`max_memory`" in caught.value.hint
    assert counts.unique * 12 < 2 << 20
    # One long piece is refused likewise.
    with pytest.raises(TrainingError):
        bbpe.TRAINER.count([Block.of([b"a" * (3 << 20)])], options, bbpe.new_counts(2 << 20), threads)
    # And what fits is counted.
    bbpe.TRAINER.count([Block.of([data[: 1 << 17]])], options, bbpe.new_counts(2 << 20), threads)


def test_nothing_to_train_on():
    for documents in ([], [b""], [b""] * 10):
        with pytest.raises(TrainingError, match="there is nothing to train on"):
            trained(documents, bbpe.BbpeOptions(300))
    alone = trained([b"a"], bbpe.BbpeOptions(300))
    assert (alone.exhausted, len(alone.tokenizer.model.merges)) == (True, 0)
    only_special = bbpe.BbpeOptions(300, special_tokens=("<s>",), split_special=True)
    with pytest.raises(TrainingError, match="there is nothing to train on"):
        trained([b"<s><s>"], only_special)


@pytest.mark.parametrize("vocab_size", [-1, 0, 1, 255])
def test_vocabulary_smaller_than_its_alphabet(vocab_size):
    with pytest.raises(BpeError, match="smaller than its initial tokens"):
        trained([b"ab"], bbpe.BbpeOptions(vocab_size))


def test_vocabulary_larger_than_fits():
    with pytest.raises(UsageError, match="larger than the 2,097,152 that fit"):
        trained([b"ab"], bbpe.BbpeOptions(_core.MAX_TOKENS + 1))
    assert trained([b"abab"], bbpe.BbpeOptions(_core.MAX_TOKENS)).exhausted


# -- vocabularies and ids --------------------------------------------------------------------------

BYTES = [bytes([byte]) for byte in range(256)]


def test_tokens_of_up_to_1024_bytes_are_used():
    tokenizer = Tokenizer(RankBpe(Vocabulary.from_tokens([*BYTES, b"a" * 1024])))
    assert tokenizer.encode(b"a" * 1024) == [256]
    assert tokenizer.encode(b"a" * 1025) == [97] * 1025


def test_longer_tokens_are_refused_by_name_where_ranks_would_take_hours():
    tokenizer = Tokenizer(RankBpe(Vocabulary.from_tokens([*BYTES, b"a" * 1025])))
    for use in (tokenizer.encode, tokenizer.tokens, lambda _: tokenizer.decode_bytes([97])):
        with pytest.raises(BpeError, match="token 256 has 1025 bytes; at most 1024 are handled") as caught:
            use("a")
        assert "ids of another tokenizer" not in (caught.value.hint or "")


def test_merges_make_tokens_of_any_length():
    tokens = [*BYTES, *(b"a" * (2 << power) for power in range(20))]
    merges = [(97, 97, 256), *((number, number, number + 1) for number in range(256, 275))]
    tokenizer = Tokenizer(MergeBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs(merges)))
    assert tokenizer.encode(b"a" * ((1 << 20) + 5)) == [275, 257, 97]
    assert tokenizer.decode_bytes([275, 257, 97]) == b"a" * ((1 << 20) + 5)


@pytest.mark.parametrize(
    "merges", [[(0, 1, 2)], [(97, 98, 99)], [(97, 98, 300)], [(97, 300, 256)], [(2**32 - 1, 0, 256)]]
)
def test_merges_that_do_not_fit_together_are_refused(merges):
    model = MergeBpe(Vocabulary.from_tokens([*BYTES, b"ab"]), Merges.from_pairs(merges))
    with pytest.raises(BpeError, match="merge 0 joins ids "):
        Tokenizer(model).encode("ab")


@pytest.mark.parametrize(
    "stages",
    [
        (),
        (Split(PATTERNS["gpt2"].regex),),
        (PrefixSpace(), Split(PATTERNS["gpt2"].regex)),
        (Split(r"\w+"),),
        (PrefixSpace(), Split(r"\w+")),
    ],
    ids=["no-split", "gpt2", "prefix-space", "custom", "custom-prefix-space"],
)
@pytest.mark.parametrize("use", ["encode", "tokens", "encode_block", "count_block"])
def test_a_byte_without_a_token_is_named_with_its_offset_in_the_text(stages, use):
    tokenizer = Tokenizer(RankBpe(Vocabulary.from_tokens(BYTES[:255])), stages, (SpecialToken(b"<s>", 300),))
    long = b"a" * 60
    texts = (
        b"\xff",
        b"ab\xff",
        b" b\xff\xff",
        b"<s>ab\xffx",
        b"x<s>ab cd \xff<s>",
        long + b"\xff",
        b"<s> %b\xff" % long,
    )
    for data in texts:
        offset = data.index(b"\xff")
        if use.endswith("_block"):  # then it is the offset in the block
            arguments, named = (Block.of([b"12", data]), tokenizer.matcher("all")), {}
            offset += 2
        else:
            arguments, named = (data,), {"specials": "all"}
        with pytest.raises(InputError, match=f"^byte 0xFF at offset {offset} has no token"):
            getattr(tokenizer, use)(*arguments, **named)


@pytest.mark.parametrize("ids", [[50257], [2**31], [2**32 - 1], [2**32], [-1], [2**64], ["a"], [1.5], [None]])
def test_ids_that_are_none(ids):
    tokenizer = named_encodings.named("gpt2")
    for decode in (tokenizer.decode_bytes, tokenizer.decode, StreamDecoder(tokenizer).feed):
        with pytest.raises(InputError):
            decode([0, *ids])


@pytest.mark.parametrize("token_id", [-1, 50257, 2**40])
def test_no_token_has_such_an_id(token_id):
    with pytest.raises(InputError, match=f"^id {token_id} is not in the vocabulary"):
        named_encodings.named("gpt2").token_bytes(token_id)


@pytest.mark.parametrize("content", ["é", "Ġa", "Ċ"])
def test_special_tokens_that_are_spelt_like_other_bytes_are_refused(content):
    """Hugging Face makes one token of `é` and of the byte E9, which its file writes so: text would be lost."""
    with pytest.raises(UsageError, match=r"is also how tokenizer\.json writes the bytes"):
        bbpe.BbpeOptions(300, special_tokens=(content,))
    assert bbpe.BbpeOptions(300, special_tokens=(content,), compat="rustbpe").special_tokens == (content,)


def test_text_that_no_bytes_stand_for_is_refused():
    with pytest.raises(InputError, match=r"^character 1 of the text is the lone surrogate U\+D800"):
        named_encodings.named("gpt2").encode("a\ud800")


@pytest.mark.parametrize("code", ["b", "B", "h", "H", "i", "I", "l", "L", "q", "Q"])
def test_ids_in_any_array_are_decoded(code):
    tokenizer = named_encodings.named("gpt2")
    assert tokenizer.decode_bytes(array(code, [72, 73])) == b"ij"
    assert tokenizer.decode_bytes(memoryview(array(code, [72, 0, 73]))[::2]) == b"ij"
