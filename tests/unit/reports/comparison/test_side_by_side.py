from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.comparison.boundaries import STRETCH_BYTES, deviation, stretches
from bpe_cli.reports.text.segmentation import TextReader, segment
from tests.unit.reports.fake_tokenizer import FakeTokenizer

PAIRS = FakeTokenizer([b"ab", b"cd", b"\xe8\xb0"], name="pairs")
OTHER = FakeTokenizer([b"bc", b"abc", b"\xb0\x81"], name="other")


def test_boundaries_by_hand():
    # ab|cd|\n against abc|d|\n
    first, second = segment(PAIRS, b"abcd\n"), segment(OTHER, b"abcd\n")
    found = deviation(second, first)
    assert (found.alone, found.across) == ({0}, {0})  # abc ends at 3, and goes over 2
    found = deviation(first, second)
    assert (found.alone, found.across) == ({0}, {1})
    assert deviation(first, first) == deviation(segment(PAIRS, b""), segment(PAIRS, b""))


def test_a_baseline_whose_details_end_earlier():
    text = b"abcd\n" * 9
    whole, few = segment(PAIRS, text), TextReader(PAIRS).segment(text, 4)
    assert len(few.tokens) < few.token_count == whole.token_count
    found = deviation(segment(OTHER, text), few)
    assert found == deviation(segment(OTHER, text), whole)
    assert (len(found.alone), len(found.across)) == (9, 9)


def test_lines_are_stretches():
    reports = [segment(each, b"xb\ncd\nd") for each in (PAIRS, OTHER)]
    # x|b|\n|cd|\n|d and x|b|\n|c|d|\n|d
    assert [stretch.groups for stretch in stretches(reports)] == [((0, 3), (0, 3)), ((3, 5), (3, 6)), ((5, 6), (6, 7))]


def test_a_long_line_is_cut_where_all_agree():
    reports = [segment(each, b"abcd" * STRETCH_BYTES) for each in (PAIRS, OTHER)]
    assert len(list(stretches(reports))) == 4


TEXTS = st.lists(st.sampled_from(["a", "b", "cd", "\n", "谁", "e\u0301", "abc" * 40])).map("".join).map(str.encode)


@given(TEXTS)
def test_stretches_cover_all_groups_and_hold_the_same_text(text):
    reports = [segment(each, text) for each in (PAIRS, OTHER, FakeTokenizer([], name="bytes"))]
    groups = [list(report.groups()) for report in reports]
    found = list(stretches(reports))
    for number in range(len(reports)):
        spans = [stretch.groups[number] for stretch in found]
        assert all(before[1] == after[0] for before, after in pairwise(spans))
        assert [spans[0][0], spans[-1][1]] == [0, len(groups[number])] if spans else not groups[number]
    for stretch in found:
        contents = {
            b"".join(token.content for group in groups[number][first:end] for token in
                     reports[number].tokens[group.first : group.end])
            for number, (first, end) in enumerate(stretch.groups)
        }  # fmt: skip
        assert len(contents) == 1


@given(TEXTS)
def test_boundaries_as_sets_say(text):
    first, second = segment(PAIRS, text), segment(OTHER, text)
    inner = [{token.end for token in report.tokens} - {len(text)} for report in (first, second)]
    found = deviation(second, first)
    assert {second.tokens[number].end for number in found.alone} == inner[1] - inner[0]
    crossed = {n for n, token in enumerate(second.tokens) if any(token.start < end < token.end for end in inner[0])}
    assert found.across == crossed
