"""How vocabularies are built: by hand, by brute force, and known facts of published ones."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import stages
from bpe_cli.reports.tokenizer.contents import count_duplicates, read_contents, variants_of
from bpe_cli.reports.tokenizer.odd_tokens import (
    IMPOSSIBLE,
    count_cuts,
    count_unseen,
    digit_runs,
    kind_of_cut,
    long_repeats,
    stretches_of,
    white_space_runs,
)
from bpe_cli.reports.tokenizer.structure import Anatomy, count_scripts, examine_structure, scripts_of
from bpe_cli.stages import RankBpe, SpecialToken, WordLevel
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.counted import at_least, compared
from tests.thorough import more
from tests.unit.reports.published import published


def contents_of(*texts, **options):
    tokens = (text if isinstance(text, bytes) else text.encode() for text in texts)
    return read_contents(Tokenizer(RankBpe(Vocabulary.from_tokens(tokens)), **options))


def test_special_tokens_are_no_contents():
    contents = contents_of("a", "<s>", "", b"\xff", special_tokens=(SpecialToken(b"<s>", 1),))
    assert contents.meanings == {0: b"a", 3: b"\xff"}
    assert contents.texts == {0: "a"}


def test_scripts():
    texts = ["a", " the", "é", "ж", "жa", "谁", "谁の", "カナ", "한谁", "12", "́", b"\xe8", "a\u0301", "谁a", "ㄅ谁"]
    scripts = count_scripts(contents_of(*texts))
    assert [(each.name, each.tokens) for each in scripts.counts] == [
        ("Latin", 4), ("Chinese (Han and Bopomofo)", 1), ("Cyrillic", 1), ("Han", 1), ("Japanese (Han and kana)", 1),
        ("Katakana", 1), ("Korean (Hangul and Han)", 1),
    ]  # fmt: skip
    assert (scripts.several.tokens, scripts.without.tokens, scripts.not_utf8.tokens) == (2, 2, 1)
    assert [(token.token_id, names) for token, names in scripts.examples] == [
        (4, ("Cyrillic", "Latin")), (13, ("Han", "Latin")),
    ]  # fmt: skip
    every = [*scripts.counts, scripts.several, scripts.without, scripts.not_utf8]
    assert sum(each.tokens for each in every) == len(texts)
    assert sum(each.share for each in every) == pytest.approx(1)


def test_every_script_is_known():
    import regex

    characters = [chr(code) for code in range(0x40000) if not 0xD800 <= code < 0xE000]
    script = regex.compile(r"[\p{L}\p{M}--[\p{Script=Common}\p{Script=Inherited}]]", regex.VERSION1)
    known = [character for character in characters if script.match(character)]
    assert len(known) > 100_000
    assert set(known) == scripts_of(known).keys()


BYTES = [0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEE, 0xEF, 0xF0, 0xF1,
         0xF4, 0xF5, 0xFF]  # fmt: skip
BEFORE = [b"", b"\xc3", b"\xe1", b"\xe1\x80", b"\xf1", b"\xf1\x80", b"\xf1\x80\x80"]
AFTER = [b"", *(bytes([first]) + b"\x80" * more for first in (0x80, 0x90, 0xA0) for more in range(3))]


def is_text(content):
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


@at_least(16)
@pytest.mark.parametrize("length", [1, 2, 3])
def test_cuts_by_brute_force(length):
    for numbers in product(BYTES, repeat=length):
        content = bytes(numbers)
        if not is_text(content):
            possible = any(is_text(before + content + after) for before in BEFORE for after in AFTER)
            assert (kind_of_cut(content) == IMPOSSIBLE) is not possible, content
            compared()


@at_least(7)
@given(st.text(min_size=1), st.data())
def test_cuts_of_texts(text, data):
    encoded = text.encode()
    starts = {len(text[:count].encode()) for count in range(len(text) + 1)}
    start = data.draw(st.integers(0, len(encoded) - 1))
    end = data.draw(st.integers(start + 1, len(encoded)))
    content = encoded[start:end]
    if not is_text(content):
        inside = any(start < place < end for place in starts)
        if inside or start in starts:
            kind = {(False, True): "starts inside", (True, False): "ends inside", (False, False): "both"}
            assert kind_of_cut(content) == kind[start in starts, end in starts]
        else:
            assert kind_of_cut(content) == "starts inside"
        compared()


def test_cuts():
    contents = contents_of("a", b"\xff", b"\x80", b"\x80 a", b" \xe8\xb0", b"\x81\xe8", b"\xc0\x80", b"\xe8")
    assert [(cut.name, cut.tokens, cut.single_bytes) for cut in count_cuts(contents)] == [
        ("starts inside", 2, 1), ("ends inside", 2, 1), ("both", 1, 0), ("impossible", 2, 1),
    ]  # fmt: skip
    assert [[token.token_id for token in cut.examples] for cut in count_cuts(contents)] == [[3], [4], [5], [6]]


def test_white_space():
    texts = [" ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "\r\n\r\n", "\r\r", " \n", "\u3000", "a", " a"]
    runs = white_space_runs(contents_of(*texts))
    assert [(run.kind, run.tokens, run.stretches, run.longest) for run in runs] == [
        ("spaces", 3, ((1, 2), (4, 4)), 4), ("tabs", 1, ((1, 1),), 1), ("newlines", 2, ((1, 2),), 2),
        ("carriage returns", 1, ((2, 2),), 2), ("CR LF pairs", 2, ((1, 2),), 2), ("mixed", 2, ((1, 2),), 2),
    ]  # fmt: skip


def test_digits():
    texts = [
        *map(str, range(10)),
        *(f"{number:02}" for number in range(100) if number != 57),
        " 7",
        " 2007",
        "007",
        "7a",
    ]
    runs = digit_runs(contents_of(*texts, "1" * 5000))
    assert [(run.length, run.present, run.present_spaced) for run in runs] == [
        (1, 10, 1), (2, 99, 0), (3, 1, 0), (4, 0, 1), (5000, 1, 0),
    ]  # fmt: skip
    assert [run.missing for run in runs[:2]] == [(), ("57",)]
    assert runs[2].missing[:8] == ("000", "001", "002", "003", "004", "005", "006", "008")
    assert runs[3].missing == runs[4].missing == ()


def test_repeats():
    texts = ["----", "---", "-" * 20, "=-=-=-=-", "=-=-=-", "    ", "abababababab", "=" * 4 + "-", "谁谁谁谁", "0000"]
    count, repeats = long_repeats(contents_of(*texts))
    assert count == 6
    assert [(each.unit, each.tokens, each.longest.token_id, each.times) for each in repeats] == [
        ("-", 2, 2, 20), ("ab", 1, 6, 6), ("谁", 1, 8, 4), ("=-", 1, 3, 4), ("0", 1, 9, 4),
    ]  # fmt: skip


def test_duplicates_by_hand():
    contents = contents_of("the", " the", "The", " The", "THE", "a", " a", " ", "  ", "x", b"\xe8", "B", "b")
    duplicates = count_duplicates(contents)
    assert [(kind.name, kind.groups, kind.redundant) for kind in duplicates.kinds] == [
        ("same text", 0, 0), ("leading space", 3, 3), ("case", 3, 4), ("leading space and case", 3, 6),
    ]  # fmt: skip
    assert duplicates.kinds[3].share == 6 / 13
    assert [[token.token_id for token in group] for group in duplicates.examples] == [
        [0, 1, 2, 3, 4], [5, 6], [11, 12],
    ]  # fmt: skip
    assert variants_of(contents, " THE") == [0, 1, 2, 3, 4]


def test_the_same_text_written_otherwise():
    vocabulary = Vocabulary.from_tokens([b"##the", b"the", b"The"])
    contents = read_contents(Tokenizer(stages.WordPiece(vocabulary, 0)))
    kinds = {kind.name: kind.redundant for kind in count_duplicates(contents).kinds}
    assert kinds == {"same text": 1, "leading space": 0, "case": 1, "leading space and case": 1}


@given(st.lists(st.text(alphabet=" aAbBßſ", min_size=1, max_size=4), unique=True, max_size=30))
def test_duplicates_by_brute_force(texts):
    kinds = {kind.name: kind for kind in count_duplicates(contents_of(*texts)).kinds}
    space = {text: text[1:] if text.startswith(" ") and text.strip() else text for text in texts}
    for name, keys in (
        ("leading space", Counter(space.values())),
        ("case", Counter(text.lower() for text in texts)),
        ("leading space and case", Counter(space[text].lower() for text in texts)),
    ):
        assert kinds[name].redundant == len(texts) - len(keys)
        assert kinds[name].groups == sum(count > 1 for count in keys.values())


def test_what_nobody_sees():
    contents = contents_of("\x00", "\x00a", "\u200b", "a\ufffd", "\ue000", "a\n", "☺\ufe0f", "\u0080\u200b", "\u202ex")
    assert [(kind.name, [token.token_id for token in kind.examples]) for kind in count_unseen(contents)] == [
        ("control characters", [1, 7]), ("invisible characters", [2, 7, 8]), ("replacement characters", [3]),
        ("private or unassigned characters", [4]),
    ]  # fmt: skip


def test_stretches():
    assert stretches_of([]) == ()
    assert stretches_of([5, 1, 2, 2, 4]) == ((1, 2), (4, 5))


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", *more([], ["o200k_base"])])
def test_published_ones(name):
    """Counted again from their tables, without the report's modules."""
    known = published(name)
    structure, report = known.structure, known.report
    tokens = {token for _, token in known.tokenizer.model.vocabulary.items()}
    for run in structure.digits[:3]:
        numbers = {f"{number:0{run.length}}".encode() for number in range(10**run.length)}
        assert run.present == len(numbers & tokens)
        assert run.present_spaced == len({b" " + number for number in numbers} & tokens)
    if name != "gpt2":
        assert [(run.present, run.present_spaced) for run in structure.digits] == [(10, 0), (100, 0), (1000, 0)]
    spaces = next(run for run in structure.white_space if run.kind == "spaces")
    assert spaces.tokens == sum(not token.strip(b" ") for token in tokens)
    assert sum(run.tokens for run in structure.white_space) == report.kinds.white_space
    assert sum(cut.tokens for cut in structure.cuts) == report.kinds.not_utf8
    single = {cut.name: cut.single_bytes for cut in structure.cuts}
    assert single == {
        "starts inside": 64,
        "ends inside": 51,
        "impossible": 13,
        **({"both": 0} if "both" in single else {}),
    }
    assert sum(count for _, count in structure.character_lengths) == len(tokens) - report.kinds.not_utf8
    together = structure.duplicates.kinds[3]
    texts = [token.decode() for token in tokens if is_text(token)]
    keys = {(text[1:] if text[0] == " " and not text.isspace() else text).lower() for text in texts}
    assert together.redundant == len(texts) - len(keys)


@pytest.mark.parametrize(
    "name",
    [
        "mistral-spm-v1",
        "bert-base-uncased",
        "t5-small",
        "rwkv-world",
        "clip",
        *more([], ["llama2-repaired", "hf-llama3"]),
    ],
)
def test_every_kind_of_model(name, shared):
    known = published(shared / "vocabs" / name)
    kind = known.tokenizer.model.kind
    assert known.structure.token_count == known.report.ordinary_count
    merges = "merges" in kind or kind in ("bpe-characters", "bpe-scores")
    assert (known.structure.merges is not None) is merges


def test_the_two_forms_of_llama_2_have_the_same_tree(shared):
    """Its scores, and the merges that were made of them, put every piece together in the same way."""
    one, other = (published(shared / "vocabs" / name).anatomy for name in ("gguf-llama-spm", "llama2-repaired"))
    assert [one.tree.parts(token_id) for token_id in one.contents.meanings] == [
        other.tree.parts(token_id) for token_id in one.contents.meanings
    ]


def test_nothing_at_all():
    structure = examine_structure(Anatomy(Tokenizer(WordLevel(Vocabulary.from_tokens([])))))
    assert (structure.token_count, structure.merges) == (0, None)
    empty = examine_structure(Anatomy(Tokenizer(RankBpe(Vocabulary.from_tokens([])))))
    assert (empty.merges.leaf_share, empty.merges.mean_depth) == (0.0, None)
