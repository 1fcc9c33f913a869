import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import InputError
from bpe_cli.reports.comparison.compare import compare
from bpe_cli.reports.comparison.input_accounts import CharacterCounter, FanOut, Reading, TextSize
from bpe_cli.stages import RankBpe
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer
from tests.unit.reports.fake_tokenizer import blocks_of
from tests.unit.reports.small_tokenizers import byte_level

BYTES = byte_level(name="bytes")
PAIRS = byte_level([b"ab", b"\xe8\xb0"], name="pairs")


def test_by_hand():
    inputs = [("one", [Block.of([b"abab", b"ab"])]), ("two", [Block.of(["谁".encode()])]), ("none", [])]
    result = compare([BYTES, PAIRS], iter(inputs))
    assert result.tokenizers == ("bytes", "pairs")
    assert result.vocab_sizes == (256, 258)
    one, two, none = result.rows
    assert (one.document_count, one.byte_count, one.character_count) == (2, 6, 6)
    assert [m.token_count for m in one.measures] == [6, 3]
    assert [m.bytes_per_token for m in one.measures] == [1, 2]
    assert [m.ratio for m in one.measures] == [1, 0.5]
    assert one.best == (1,)
    frequencies = result.frequencies[1]
    assert (frequencies[0], frequencies[1], sum(frequencies)) == (3, 1, 5)  # "ab", the first two bytes of 谁, its last
    assert (two.byte_count, two.character_count) == (3, 1)
    assert [m.characters_per_token for m in two.measures] == [1 / 3, 1 / 2]
    assert (none.document_count, none.byte_count, none.best) == (0, 0, ())
    assert none.measures[0].bytes_per_token is None
    assert none.measures[0].ratio is None
    assert (result.total.document_count, result.total.byte_count, result.total.character_count) == (3, 9, 7)
    assert [m.token_count for m in result.total.measures] == [9, 5]
    assert result.total.measures[1].bytes_per_token == 9 / 5
    assert [(p.source, p.document) for p in result.passages] == [("one", 0), ("one", 1), ("two", 0)]
    assert [s.token_count for s in result.passages[0].segmentations] == [4, 2]


@given(
    st.lists(st.one_of(st.binary(max_size=30), st.text(max_size=12).map(str.encode)), max_size=8), st.integers(1, 50)
)
def test_block_sizes_change_nothing(documents, size):
    whole = byte_level([b"ab", b"b a"], name="whole", pattern=None)
    (row,) = compare([BYTES, PAIRS, whole], [("x", blocks_of(documents, size))]).rows
    assert row.document_count == len(documents)
    assert row.byte_count == sum(map(len, documents))
    assert row.character_count == sum(len(d.decode("utf-8", "surrogateescape")) for d in documents)
    for tokenizer, measure in zip([BYTES, PAIRS, whole], row.measures, strict=True):
        assert measure.token_count == sum(len(tokenizer.tokens(document)) for document in documents)


@given(st.lists(st.binary(max_size=12), max_size=6), st.integers(1, 9))
def test_passages_are_the_documents(documents, size):
    result = compare([BYTES], [("x", blocks_of(documents, size))])
    texts = [b"".join(t.content for t in p.segmentations[0].tokens) for p in result.passages]
    assert texts == [document for document in documents if document]


def test_blank_lines_are_not_held():
    """A text of blank lines has no bytes, and may have any number of documents."""
    blank = Reading((Block.of([b""] * 1000) for _ in range(5)), 2048, None)
    assert sum(len(block.ends) for block in blank) == 5000
    assert (blank.short, blank.size) == (None, TextSize(5000, 5000, 0, 0))
    few = Reading([Block.of([b"a", b"", b"b"])], 2048, None)
    assert len(list(few)) == 1
    assert few.short == [b"a", b"", b"b"]


def test_characters_split_over_blocks():
    counter = CharacterCounter()
    for block in blocks_of(["谁é👩".encode(), b"\xe8", b"\xb0\x81"], 1):
        counter.feed(block)
    assert counter.total == 6


def test_a_document_never_completes_the_character_of_another():
    counter = CharacterCounter()
    counter.feed(Block.of([b"\xe8", b"", b"\xb0\x81", b"a"]))
    assert counter.total == 4


class Watched:
    """Blocks that know how many of them are alive."""

    def __init__(self, count, size):
        self.alive = self.most = 0
        self.count, self.size = count, size

    def __iter__(self):
        import weakref

        for number in range(self.count):
            block = OwnBlock.of([b"x" + b" y" * (self.size // 2 - 1) + b"\n"])
            object.__setattr__(block, "continued", number > 0)
            object.__setattr__(block, "unfinished", number < self.count - 1)
            self.alive += 1
            self.most = max(self.most, self.alive)
            weakref.finalize(block, self._died)
            yield block
            del block

    def _died(self):
        self.alive -= 1


class OwnBlock(Block):
    """A block that can be watched (it has room for a weak reference)."""


def test_memory_is_bounded():
    blocks = Watched(200, 100)
    # A pattern that allows cuts: one that does not has the document held whole.
    cuts = [byte_level(tokens, pattern=PATTERNS["gpt2"].regex) for tokens in ([], [b"xy"], [b" y"])]
    (row,) = compare(cuts, [("x", blocks)]).rows
    assert row.measures[0].token_count == 20_000
    assert row.document_count == 1
    assert blocks.most <= 4


def test_fan_out_serves_readers_at_their_own_pace():
    fan_out = FanOut([1, 2, 3], 2)
    fast, slow = fan_out.reader(0), fan_out.reader(1)
    assert list(fast) == [1, 2, 3]
    assert fan_out.waiting(1) == 3
    assert next(slow) == 1
    assert fan_out.waiting(1) == 2
    assert list(slow) == [2, 3]


def test_long_inputs_have_no_passages_and_all_passages_are_bounded():
    short = [(f"s{number}", [Block.of([b"y" * 2000])]) for number in range(12)]
    result = compare([BYTES], [("long", [Block.of([b"x" * 3000])]), *short])
    assert [p.source for p in result.passages] == [f"s{number}" for number in range(8)]


def test_special_tokens_and_progress():
    seen = []
    tokenizer = byte_level(name="t", specials=[(b"<end>", 300)])
    result = compare([tokenizer], [("x", [Block.of([b"a<end>"])])], specials="all", progress=seen.append)
    assert result.total.measures[0].token_count == 2
    assert result.passages[0].segmentations[0].tokens[1].special
    assert seen == [6]


def test_same_names_are_numbered_and_missing_ones_made():
    result = compare([BYTES, BYTES, byte_level()], [])
    assert result.tokenizers == ("bytes", "bytes (2)", "tokenizer")
    assert compare([BYTES], [], names=["b.json"]).tokenizers == ("b.json",)
    assert result.total.measures[0].token_count == 0


def test_equal_tokenizers_have_no_best():
    assert compare([BYTES, BYTES], [("x", [Block.of([b"abc"])])]).rows[0].best == ()


def test_no_tokenizer():
    with pytest.raises(ValueError, match="no tokenizer"):
        compare([], [])


def test_an_error_names_tokenizer_and_input():
    no_bytes = Tokenizer(RankBpe(Vocabulary.from_tokens([b"a"])), name="b")
    with pytest.raises(InputError, match=r"^b cannot encode x\.txt: byte 0xFF") as caught:
        compare([BYTES, no_bytes], [("x.txt", [Block.of([b"\xff"])])])
    assert "trained without it" in caught.value.hint
