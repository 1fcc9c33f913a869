"""Where tokenizers cut differently: by hand, against sets and brute force, and what must hold of any."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.comparison.disagreements import LONGEST, disagreements
from bpe_cli.reports.comparison.input_accounts import Sample
from bpe_cli.stages import CharacterBpe
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.named_encodings import named
from tests.unit.reports.comparison.tiny import tiny
from tests.unit.reports.published import published


def sample_of(*documents, limit=1 << 20):
    sample = Sample(limit)
    for _ in sample.watch("x", [Block.of(documents)]):
        pass
    return sample


FIRST = tiny(b"ab", b"cd", b"abcd", name="first")
SECOND = tiny(b"bc", b"ef", name="second")
TEXTS = st.lists(st.text("abcdef é\n", max_size=20).map(str.encode), max_size=5)


def test_by_hand():
    # first:  abcd|e|f|  |abcd      second: a|bc|d|ef|  |a|bc|d
    (found,) = disagreements([FIRST, SECOND], sample_of(b"abcdef abcd"))
    assert found.boundaries == (4, 7)  # 4 5 6 7 | 1 3 4 6 7 8 10: the space stands by itself
    assert found.common == 3  # 4 6 7
    assert found.jaccard == 3 / 8
    assert (found.precision, found.recall) == (3 / 7, 3 / 4)
    assert found.f1 == 6 / 11
    assert (found.words, found.words_alike) == (2, 0)
    assert (found.words_finer, found.words_coarser) == (1, 0)  # the second word is only cut further
    assert (found.segments, found.kinds) == (3, 2)
    assert found.unknown == (0, 0)
    costly, cheap = found.differences
    assert (costly.text, costly.first_ends, costly.second_ends) == (b"abcd", (4,), (1, 3, 4))
    assert (costly.times, costly.first_tokens, costly.second_tokens, costly.cost) == (2, 1, 3, 4)
    assert (costly.before, costly.after, costly.source, costly.document, costly.offset) == (b"", b"ef abcd", "x", 0, 0)
    assert (cheap.text, cheap.first_ends, cheap.second_ends, cheap.cost) == (b"ef", (1, 2), (2,), -1)


def test_the_most_costly_come_first_whoever_pays():
    (found,) = disagreements([FIRST, SECOND], sample_of(b"ef ef ef ef ef ab"), shown=2)
    assert [(each.text, each.cost) for each in found.differences] == [(b"ef", -5), (b"ab", 1)]
    assert found.kinds == 2


@given(TEXTS)
def test_the_same_agrees_with_itself(texts):
    (found,) = disagreements([FIRST, FIRST], sample_of(*texts))
    assert (found.jaccard, found.precision, found.recall, found.f1) == (1, 1, 1, 1)
    assert found.words == found.words_alike == found.words_finer == found.words_coarser
    assert (found.segments, found.differences) == (0, ())


@given(TEXTS)
def test_the_other_way_round(texts):
    (found,) = disagreements([FIRST, SECOND], sample_of(*texts), shown=1000)
    (back,) = disagreements([SECOND, FIRST], sample_of(*texts), shown=1000)
    assert (found.f1, found.jaccard) == (back.f1, back.jaccard)
    assert (found.precision, found.recall) == (back.recall, back.precision)
    assert (found.words_alike, found.words_finer) == (back.words_alike, back.words_coarser)
    assert {(each.text, each.first_ends, each.cost) for each in found.differences} == {
        (each.text, each.second_ends, -each.cost) for each in back.differences
    }


def brute_force(texts):
    """Return (boundaries, common, words alike, Counter of segments), from sets of offsets."""
    sizes, common, alike, segments = [0, 0], 0, 0, Counter()
    for text in texts:
        cuts = [{token.end for token in each.tokens(text)} - {0, len(text)} for each in (FIRST, SECOND)]
        both = cuts[0] & cuts[1]
        sizes = [sizes[0] + len(cuts[0]), sizes[1] + len(cuts[1])]
        common += len(both)
        for word in regex.finditer(r"\S+", text.decode()):
            start, end = (len(text.decode()[:place].encode()) for place in word.span())
            inside = [{place for place in cut if start < place < end} for cut in cuts]
            alike += inside[0] == inside[1]
        stops = sorted({0, len(text)} | both)
        for start, end in pairwise(stops):
            ways = [(*(place - start for place in sorted(cut) if start < place < end), end - start) for cut in cuts]
            if ways[0] != ways[1]:
                segments[text[start:end], ways[0], ways[1]] += 1
    return tuple(sizes), common, alike, segments


@given(TEXTS)
def test_against_brute_force(texts):
    (found,) = disagreements([FIRST, SECOND], sample_of(*texts), shown=1000)
    sizes, common, alike, segments = brute_force(texts)
    assert (found.boundaries, found.common, found.words_alike) == (sizes, common, alike)
    assert {(each.text, each.first_ends, each.second_ends): each.times for each in found.differences} == segments
    assert (found.kinds, found.segments) == (len(segments), segments.total())
    costs = [abs(each.cost) for each in found.differences]
    assert costs == sorted(costs, reverse=True)
    more = [sum(len(each.tokens(text)) for text in texts) for each in (FIRST, SECOND)]
    assert sum(each.cost for each in found.differences) == more[1] - more[0]


def test_costs_add_up_for_any_tokenizer(shared, corpora):
    """Also where bytes of a character share an end, and where a mark stands before the text."""
    names = ["bert-base-uncased", "t5-small", "llama2-repaired", "roberta-base"]
    models = [named("o200k_base"), *(published(shared / "vocabs" / name).tokenizer for name in names)]
    texts = [(corpora / "languages" / f"{name}.txt").read_bytes()[:900] for name in ("en", "ja", "am")]
    texts = [text.decode("utf-8", "ignore").encode() for text in texts] + [b"a", b" a ", "ꙮ𒀀".encode()]
    counts = [sum(len(model.encode(text)) for text in texts) for model in models]
    for found in disagreements(models, sample_of(*texts), shown=10**6):
        assert sum(each.cost for each in found.differences) == counts[found.second] - counts[0]
        assert len(found.differences) == found.kinds
    assert disagreements(models, sample_of("東".encode()))[1].unknown[1] == 1


@pytest.mark.parametrize("unk_id", [3, None])
def test_what_is_unknown_or_left_out_is_counted(unk_id):
    model = CharacterBpe(Vocabulary.from_tokens([b"q", b"a", b" ", b"?"]), Merges.from_pairs([]), unk_id=unk_id)
    (found,) = disagreements([FIRST, Tokenizer(model)], sample_of(b"xq zzza", b"qa"))
    assert found.unknown == (0, 4)


def test_long_segments_are_cut_short():
    one = tiny(pattern="(?s).+")
    other = tiny(*(b"y" * 2**power for power in range(1, 11)), pattern="(?s).+")
    (found,) = disagreements([one, other], sample_of(b"y" * 1024))
    (each,) = found.differences
    assert (len(each.text), each.byte_count, each.cost) == (LONGEST, 1024, -1023)


def test_many_documents_are_compared_in_batches():
    documents = [b"abcd " * 1000] * 120
    (found,) = disagreements([FIRST, SECOND], sample_of(*documents))
    assert found.differences[0].times == 120_000
    assert found.words_alike == 0


def test_nothing_to_compare():
    (found,) = disagreements([FIRST, SECOND], sample_of())
    assert (found.f1, found.jaccard, found.share_alike, found.byte_count) == (1, 1, None, 0)


@pytest.mark.parametrize(
    "blank", ["\u0085", "\u00a0", "\u1680", "\u2003", "\u2028", "\u202f", "\u205f", "\u3000", "\t"]
)
def test_words_end_at_every_white_space(blank):
    (found,) = disagreements([FIRST, FIRST], sample_of(f"a{blank}b{blank}".encode()))
    assert found.words == 2
    assert regex.fullmatch(r"\p{White_Space}", blank)
