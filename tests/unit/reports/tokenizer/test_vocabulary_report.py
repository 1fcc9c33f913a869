from bpe_cli.reports.tokenizer.contents import WHITE_SPACE
from bpe_cli.reports.tokenizer.vocabulary_report import describe
from bpe_cli.stages.patterns import PATTERNS
from tests.unit.reports.fake_tokenizer import FakeSpecial, FakeTokenizer
from tests.work import assert_little_work


def small(**options):
    tokens = [b"a", b"b", b"", b" a", b"  ", b"12", b"\xe8\xb0", "谁谁".encode(), b"\xff"]
    return FakeTokenizer(tokens, all_bytes=False, **options)


def test_by_hand():
    specials = [FakeSpecial(b"<s>", 12), FakeSpecial(b"<added>", 14, special=False)]
    report = describe(small(name="tiny", specials=specials), fingerprint="f00d")
    assert (report.name, report.kind, report.algorithm) == ("tiny", "bpe-ranks", "byte-level BPE by ranks")
    assert (report.ordinary_count, report.special_count, report.merge_count) == (8, 2, None)
    assert (report.highest_id, report.unused_count) == (14, 5)
    assert report.unused_ranges == ((2, 2), (9, 11), (13, 13))
    assert report.ignore_merges is None
    assert not report.prefix_space
    assert report.unicode_version == "16.0.0"
    assert [token.token_id for token in report.special_tokens] == [12, 14]
    assert len(report.bytes_without_token) == 253
    assert not set(b"ab\xff") & set(report.bytes_without_token)
    kinds = report.kinds
    assert (kinds.single_bytes, kinds.not_utf8, kinds.leading_space, kinds.white_space, kinds.digits) == (3, 2, 1, 1, 1)
    assert report.lengths == ((1, 3), (2, 4), (6, 1))
    assert report.mean_length == (3 + 8 + 6) / 8
    assert [(b.lowest, b.tokens) for b in report.length_bins] == [(1, 3), (2, 4), (3, 0), (4, 0), (5, 0), (6, 1)]
    assert report.length_bins[1].share == 0.5
    assert report.length_bins[0].relative == 0.75
    assert [(t.token_id, t.byte_count, t.character_count) for t in report.longest[:3]] == [
        (7, 6, 2),
        (3, 2, 2),
        (4, 2, 2),
    ]
    assert report.longest[4].character_count is None
    assert report.fingerprint == "f00d"


def test_merges():
    report = describe(small(merges=[(0, 1, 2)] * 3))
    assert (report.kind, report.merge_count, report.ignore_merges) == ("bpe-merges", 3, False)


def test_patterns_have_names_and_speeds():
    tokenizer = small()
    tokenizer.patterns = (PATTERNS["cl100k"].regex, "x+")
    tokenizer.slow_patterns = ("x+",)
    assert [(p.name, p.fast) for p in describe(tokenizer).patterns] == [("cl100k", True), (None, False)]


def test_a_special_token_in_the_vocabulary_counts_once():
    report = describe(small(specials=[FakeSpecial(b"a", 0)]))
    assert (report.ordinary_count, report.special_count, report.unused_count) == (7, 1, 1)


def test_empty():
    report = describe(FakeTokenizer(all_bytes=False))
    assert (report.highest_id, report.mean_length, report.length_bins, report.longest) == (None, None, (), ())
    assert len(report.bytes_without_token) == 256


def test_a_huge_id_costs_nothing():
    report = describe(small(specials=[FakeSpecial(b"<s>", 2**32 - 1)]))
    assert report.unused_count == 2**32 - 9


def test_white_space_is_unicodes():
    import regex

    assert {chr(code) for code in range(0x11000) if regex.match(r"\s", chr(code))} == WHITE_SPACE


def test_many_tokens_are_quick():
    tokenizer = FakeTokenizer([b" token%d" % number if number % 9 else b"\xe8%d" % number for number in range(30_000)])
    report = describe(tokenizer)
    assert report.ordinary_count == 30_000 + 256
    assert_little_work(lambda: describe(tokenizer), size=360_000, most_lines=1_800_000, most_cost=140)
