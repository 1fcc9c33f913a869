"""What was encoded is decoded again, byte for byte; blocks, threads and shards change nothing."""

from __future__ import annotations

import io
from array import array
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from bpe_cli import _core, formats
from bpe_cli.corpus import Source, read_blocks
from bpe_cli.errors import InputError
from bpe_cli.formats import counts_file
from bpe_cli.stages import PrefixSpace, SpecialToken, Split
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.spelling import ALPHABET_ORDER
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer, named_encodings
from bpe_cli.tokenizer.streaming import StreamDecoder
from bpe_cli.trainers import bbpe
from bpe_cli.trainers.counts import DEFAULT_MAX_MEMORY
from tests.differential.texts import MIXED, RAW, corpus
from tests.oracle.utf8 import recover
from tests.thorough import more

NAMES = list(named_encodings.ENCODINGS)
SPECIAL = ("<|endoftext|>", "<s>", "<| a b |>", " x", "\n\n", "<s>1", "日!")
"""Special tokens with whitespace in them, and such as end where text may be cut or begin with each other."""


@cache
def counted() -> _core.Counts:
    counts = bbpe.new_counts()
    bbpe.TRAINER.count([Block.of(text.encode() for text in corpus().values())], bbpe.BbpeOptions(256), counts)
    return counts


@cache
def made(name: str) -> Tokenizer:
    """Make a tokenizer: trained on the repository's texts, with other stages before its model."""
    if name in named_encodings.ENCODINGS:
        return named_encodings.named(name)
    trained = bbpe.TRAINER.train(counted(), bbpe.BbpeOptions(1500)).tokenizer
    model, size = trained.model, trained.vocab_size
    special = tuple(SpecialToken(text.encode(), size + place) for place, text in enumerate(SPECIAL))
    return Tokenizer(model, STAGES[name], special)


def expression(name: str) -> Split:
    return Split(PATTERNS[name].regex)


STAGES = {
    "trained": (expression("o200k"),),
    "prefix-space": (PrefixSpace(), expression("gpt2")),
    "prefix-space-cl100k": (PrefixSpace(), expression("cl100k")),
    "no-split": (),
    "no-split-prefix-space": (PrefixSpace(),),
    "custom": (Split(r"\w+|\s"),),
    "custom-prefix-space": (PrefixSpace(), Split(r"[^\W\d_]+|\d|\s+")),
    "stages": (Split(r"\n"), Split(r"\d{2}"), expression("gpt2")),
    "empty-matches": (Split(r"a*|(?=b)"),),
}
DIFFERENT = ["gpt2", "p50k_edit", "cl100k_base", "o200k_harmony"]
"""Of those with the same vocabulary and pattern the one with the most special tokens."""

EVERY = [*more(DIFFERENT, NAMES), *STAGES]
FAST = [name for name in STAGES if not name.startswith(("custom", "stages", "empty"))]
every = pytest.mark.parametrize("name", EVERY)


def with_special(name: str) -> st.SearchStrategy[bytes]:
    """Make bytes in which special tokens stand, and parts of them."""
    contents = [token.content for token in made(name).special_tokens]
    parts = st.sampled_from(contents).flatmap(lambda text: st.integers(0, len(text)).map(lambda cut: text[:cut]))
    pool = parts | st.sampled_from([b" ", b"\t", b"\n", b"a", b"1", b"!", "é".encode(), "\u3000".encode()])
    return st.lists(st.sampled_from(contents) | pool | pool | RAW, max_size=12).map(b"".join)


ANY = RAW | MIXED.map(str.encode)


def spaced(name: str, data: bytes, contents: Iterable[bytes]) -> bytes:
    """Return what the ids of a text stand for: the text, if need be with a space before each stretch of plain text."""
    if PrefixSpace() not in made(name).pre_tokenizer:
        return data
    longest_first = sorted(contents, key=len, reverse=True)
    pattern = b"|".join(map(regex.escape, longest_first))
    parts = regex.split(b"(%b)" % pattern, data) if pattern else [data]
    return b"".join(
        part if place % 2 or not part or part.startswith(b" ") else b" " + part for place, part in enumerate(parts)
    )


# -- there and back --------------------------------------------------------------------------------


@every
@given(data=ANY)
def test_bytes_come_back(name, data):
    tokenizer = made(name)
    assert tokenizer.decode_bytes(tokenizer.encode(data)) == spaced(name, data, [])


@every
@given(data=st.data())
def test_bytes_with_special_tokens_come_back(name, data):
    tokenizer = made(name)
    text = data.draw(with_special(name))
    contents = [token.content for token in tokenizer.special_tokens]
    assert tokenizer.decode_bytes(tokenizer.encode(text, specials="all")) == spaced(name, text, contents)
    assert tokenizer.decode_bytes(tokenizer.encode(text)) == spaced(name, text, [])


@every
def test_repositorys_texts_come_back(name):
    tokenizer = made(name)
    for text in corpus().values():
        assert tokenizer.decode_bytes(tokenizer.encode(text, specials="all")) == spaced(
            name, text.encode(), [token.content for token in tokenizer.special_tokens]
        )


@every
def test_each_token_comes_back(name):
    tokenizer = made(name)
    ids = array("I", [token_id for token_id, _ in tokenizer.model.vocabulary.items()])
    assert tokenizer.decode_bytes(ids) == tokenizer.model.vocabulary.blob
    for token in tokenizer.special_tokens:
        assert tokenizer.decode_bytes([token.token_id]) == token.content == tokenizer.token_bytes(token.token_id)


@given(text=st.text(max_size=30))
def test_text_may_hold_bytes_as_python_does(text):
    """A str stands for its UTF-8; of the surrogates only those of ``surrogateescape`` stand for a byte."""
    text = text.encode("utf-8", "ignore").decode() + "\udcff\udce4"
    assert made("trained").decode_bytes(made("trained").encode(text)) == text.encode("utf-8", "surrogateescape")


# -- spans -----------------------------------------------------------------------------------------


@every
@given(data=st.data())
def test_spans_cover_the_text(name, data):
    tokenizer = made(name)
    text = data.draw(with_special(name))
    for specials in ((), "all"):
        tokens = tokenizer.tokens(text, specials=specials)
        assert [token.token_id for token in tokens] == tokenizer.encode(text, specials=specials)
        position = 0
        for token in tokens:
            assert (token.start, token.content) == (position, tokenizer.token_bytes(token.token_id))
            added = token.content.removesuffix(text[token.start : token.end])
            assert added == b"" or (added == b" " and tokenizer.prefix_space and not token.special)
            position = token.end
        assert position == len(text)


# -- blocks and threads ----------------------------------------------------------------------------


def encoded(tokenizer: Tokenizer, blocks: Iterable[Block], specials, threads: int) -> list[list[int]]:
    """Encode blocks after they were settled, and put the ids of each document together again."""
    documents: list[list[int]] = []
    matcher = tokenizer.matcher(specials)
    going_on = False
    for block in tokenizer.settle(blocks, matcher):
        ids, ends = tokenizer.encode_block(block, matcher, threads)
        counts = tokenizer.count_block(block, matcher, threads)
        assert len(ends) == len(block.ends) == len(counts)
        assert counts.tolist() == [end - start for start, end in pairwise([0, *ends])]
        assert block.continued == going_on
        for number, (start, end) in enumerate(pairwise([0, *ends])):
            if number == 0 and block.continued:
                documents[-1] += ids[start:end]
            else:
                documents.append(ids[start:end].tolist())
        going_on = block.unfinished
    assert not going_on
    return documents


def blocks_of(data: bytes, documents: str, block_bytes: int) -> Iterable[Block]:
    source = Source(("-",), documents=documents, block_bytes=block_bytes, decompress=False)
    return read_blocks(source, stdin=io.BytesIO(data))


@every
@given(data=st.data(), block_bytes=st.integers(1, 12), threads=st.integers(1, 4))
def test_blocks_and_threads_change_no_id(name, data, block_bytes, threads):
    tokenizer = made(name)
    text = data.draw(with_special(name))
    lines = [line.removesuffix(b"\r") for line in text.split(b"\n")]
    # What stands behind the last line feed is a line unless it is empty; only a line feed makes a lone \r its end.
    last = text.rpartition(b"\n")[2]
    lines[-1:] = [last] if last else []
    for specials in ((), "all"):
        for documents, expected in (("whole", [text]), ("lines", lines)):
            blocks = blocks_of(text, documents, block_bytes)
            assert encoded(tokenizer, blocks, specials, threads) == [
                tokenizer.encode(document, specials=specials) for document in expected
            ]


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize("glue", [b"", b"\t", b"!x"])
def test_cuts_inside_long_documents_change_no_id(name, glue):
    """The core cuts a long document for its threads. Encoded piece by piece, it is not cut at all."""
    tokenizer = made(name)
    contents = [token.content for token in tokenizer.special_tokens]
    unit = b"".join(b"%b%bit's 42 %b\t" % (content, glue, content) for content in contents)
    for specials in ((), "all"):
        expected = tokenizer.tokens(unit, specials=specials)
        document = unit * (more(600_000, 20_000_000) // len(unit))
        # The unit ends with whitespace that no piece shares with the special token it begins with.
        ids = [token.token_id for token in expected] if specials else by_pieces(tokenizer, document)
        for threads in (1, 4):
            found = tokenizer.encode(document, specials=specials, threads=threads)
            assert found == (ids * (len(document) // len(unit)) if specials else ids)
            count = tokenizer.count_block(Block.of([document]), tokenizer.matcher(specials), threads)
            assert count.tolist() == [len(found)]


def by_pieces(tokenizer: Tokenizer, data: bytes) -> list[int]:
    """Encode plain text as pieces that were cut beforehand."""
    data = b" " + data if tokenizer.prefix_space and not data.startswith(b" ") else data
    ids, _ = tokenizer.engine.bare.encode(Block.of(tokenizer.engine.pieces(data).contents()))
    return ids.tolist()


@pytest.mark.parametrize("name", ["gpt2", "o200k_base", "trained", "prefix-space", "custom"])
def test_long_texts_in_blocks_of_any_size(name):
    tokenizer = made(name)
    texts = [text.encode() for text in corpus().values()]
    data = b"".join(texts)
    lines = [line.removesuffix(b"\r") for line in data.removesuffix(b"\n").split(b"\n")]
    whole = [tokenizer.encode(data, specials="all")]
    each = [tokenizer.encode(line, specials="all") for line in lines]
    for block_bytes in (997, 4096, 100_003, 1 << 24):
        for documents, expected in (("whole", whole), ("lines", each)):
            assert encoded(tokenizer, blocks_of(data, documents, block_bytes), "all", 2) == expected


# -- text from ids ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gpt2", "o200k_base", "trained"])
@given(data=st.data())
def test_decoding_a_stream_gives_the_text_at_once(name, data):
    tokenizer = made(name)
    size = tokenizer.model.vocabulary.size - 1
    chance = st.lists(st.integers(0, size).filter(tokenizer.model.vocabulary.token), max_size=20)
    ids = data.draw(ANY.map(tokenizer.encode) | chance)
    content = tokenizer.decode_bytes(ids)
    for errors in ("replace", "ignore"):
        decoder = StreamDecoder(tokenizer, errors)
        parts = [decoder.feed([token_id]) for token_id in ids]
        assert "".join(parts) + decoder.finish() == tokenizer.decode(ids, errors) == content.decode("utf-8", errors)
    assert tokenizer.decode(ids, "ignore") == recover(content)
    try:
        expected = content.decode()
    except UnicodeDecodeError as error:
        with pytest.raises(InputError, match=f"the decoded bytes are not UTF-8: .* at byte {error.start}$"):
            tokenizer.decode(ids, "strict")
    else:
        assert tokenizer.decode(ids, "strict") == expected


@given(data=ANY)
@example(data="🙂".encode()[:3] + b"a")
def test_a_strict_stream_names_the_byte_at_which_text_ends(data):
    ids = [made("trained").model.vocabulary.id_of(bytes([byte])) for byte in data]
    decoder = StreamDecoder(made("trained"), "strict")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        with pytest.raises(InputError, match=f" at byte {error.start}$"):
            "".join([decoder.feed([token_id]) for token_id in ids] + [decoder.finish()])
    else:
        assert "".join(decoder.feed([token_id]) for token_id in ids) + decoder.finish() == data.decode()


# -- counts ----------------------------------------------------------------------------------------


@st.composite
def countings(draw) -> bbpe.BbpeOptions:
    pattern = draw(st.sampled_from(["", "gpt2", "cl100k", "o200k", "custom", "custom-prefix-space"]))
    expressions = {"": "", "custom": r"\w+|\s", "custom-prefix-space": r"\d|\s+"}
    return bbpe.BbpeOptions(
        300,
        expressions[pattern] if pattern in expressions else PATTERNS[pattern].regex,
        prefix_space=draw(st.booleans()),
        special_tokens=SPECIAL,
        split_special=draw(st.booleans()),
        compat=draw(st.sampled_from(["hf", "minbpe"])),
    )


def count(blocks: Iterable[Block], options: bbpe.BbpeOptions, threads: int = 1) -> _core.Counts:
    counts = bbpe.new_counts()
    bbpe.TRAINER.count(blocks, options, counts, threads)
    return counts


@given(options=countings(), data=st.data(), block_bytes=st.integers(1, 12), threads=st.integers(1, 4))
def test_counts_do_not_depend_on_blocks_threads_and_shards(options, data, block_bytes, threads):
    documents = data.draw(st.lists(with_special("trained"), min_size=1, max_size=5))
    at_once = count([Block.of(documents)], options)
    one_by_one = count((Block.of([document]) for document in documents), options, threads)
    assert one_by_one.dump() == at_once.dump()
    shards = bbpe.new_counts()
    for document in documents:
        shards.merge(count(blocks_of(document, "whole", block_bytes), options, threads))
    assert shards.dump() == at_once.dump()
    assert (shards.unique, shards.total, shards.total_bytes) == (at_once.unique, at_once.total, at_once.total_bytes)
    loaded = _core.Counts.load(at_once.dump(), 1 << 30)
    assert loaded.items(0, 1 << 30) == at_once.items(0, 1 << 30)


def test_training_from_shards_threads_and_files_gives_the_same_bytes(tmp_path):
    texts = [text.encode() * more(4, 40) for text in corpus().values()]
    for compat in bbpe.COMPAT:
        options = bbpe.BbpeOptions(1200, PATTERNS["o200k"].regex, special_tokens=("<|a b|>",), compat=compat)
        cutting = counts_file.Cutting(PATTERNS["o200k"].regex)
        expected = formats.dump(
            bbpe.TRAINER.train(count([Block.of(texts)], options), options).tokenizer, "tokenizer.json"
        )
        paths = []
        for number in range(3):
            own = count([Block.of(texts[number * 25 : (number + 1) * 25 if number < 2 else None])], options, threads=2)
            paths.append(tmp_path / f"{compat}.{number}")
            paths[-1].write_bytes(b"".join(counts_file.dump(own, cutting)))
        _, merged = counts_file.load_all(paths, DEFAULT_MAX_MEMORY)
        assert formats.dump(bbpe.TRAINER.train(merged, options).tokenizer, "tokenizer.json") == expected
        for threads in (2, 3, 4):
            # One document of all texts is long enough to be cut for the threads.
            joined = count([Block.of([b"".join(texts)])], options, threads)
            assert joined.dump() == count(blocks_of(b"".join(texts), "whole", 70_001), options, threads).dump()


def test_alphabet_is_complete_in_trained_tokenizers():
    """What the round trips rest on."""
    tokens = {token for _, token in made("trained").model.vocabulary.items()}
    assert all(bytes([byte]) in tokens for byte in ALPHABET_ORDER)
