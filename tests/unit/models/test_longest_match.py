"""The core's two greedy encoders against the textbook's."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.stages import LongestMatch
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.teaching.longest_match import Marks
from tests.core_model import CoreModel
from tests.oracle.longest_match import cut, cut_from_left

UNKNOWN = "<unk>"


def model(
    tokens: list[str],
    *,
    left_to_right: bool = False,
    suffix: str = "",
    unknown: bool = True,
    glued: bool = False,
    prefix: str = "",
    counts: dict[str, int] | None = None,
) -> CoreModel:
    vocabulary = Vocabulary.from_tokens([token.encode() for token in [*tokens, UNKNOWN]])
    unk_id = len(tokens) if unknown else None
    frequencies = None if counts is None else array("d", [*(counts[token] for token in tokens), 0])
    return CoreModel(
        LongestMatch(
            vocabulary, left_to_right, unk_id, suffix,
            separate_suffix=not glued, continuing_subword_prefix=prefix, frequencies=frequencies,
        )
    )  # fmt: skip


def texts(tokens: list[str], core: CoreModel, word: str) -> list[str]:
    return [[*tokens, UNKNOWN][token_id] for token_id in core.ids(word.encode())]


# -- worked examples -------------------------------------------------------------------------------

NOTEBOOK = ["m", "s</w>", "n", "ou", "in", "ta"]  # by frequency, so that the id decides as the frequency does


def test_the_notebooks_words() -> None:
    core = model(NOTEBOOK, suffix="</w>")
    assert texts(NOTEBOOK, core, "inmountains") == ["in", "m", "ou", "n", "ta", "in", "s</w>"]
    assert texts(NOTEBOOK, core, "mountains") == ["m", "ou", "n", "ta", "in", "s</w>"]
    assert texts(NOTEBOOK, core, "mountain") == ["m", "ou", "n", "ta", "in", UNKNOWN]  # nothing is </w>
    assert core.spans(b"ins") == [(4, 0, 2), (1, 2, 3)]
    assert core.spans(b"in") == [(4, 0, 2), (6, 2, 2)]


def test_equals_by_frequency_as_in_the_notebook() -> None:
    counts = {"n": 4150, "s</w>": 4698, "in": 3363, "ta": 1009, "ou": 3936, "m": 7476}
    shuffled = ["ta", "in", "n", "m", "ou", "s</w>"]
    assert texts(shuffled, model(shuffled, suffix="</w>", counts=counts), "inmountains") == [
        "in", "m", "ou", "n", "ta", "in", "s</w>",
    ]  # fmt: skip
    tokens = ["ab", "bc", "a", "c"]
    for (left, right), found in {(1, 2): ["a", "bc"], (2, 1): ["ab", "c"], (1, 1): ["ab", "c"]}.items():
        assert texts(tokens, model(tokens, counts={"ab": left, "bc": right, "a": 9, "c": 0}), "abc") == found


def test_marks_are_not_cut() -> None:
    tokens = ["hi", "w", "/", "</w>", "h", "i", "<", ">"]
    for left_to_right in (False, True):
        core = model(tokens, suffix="</w>", left_to_right=left_to_right)
        assert texts(tokens, core, "hi") == ["hi", "</w>"]
        assert texts(tokens, core, "w") == ["w", "</w>"]
        assert texts(tokens, core, "i</w>") == ["i", "<", "/", "w", ">", "</w>"]  # the mark's text is no mark
        tokens_of_text = ["w", "</", "w>"]
        core = model(tokens_of_text, suffix="</w>", left_to_right=left_to_right)
        assert texts(tokens_of_text, core, "w") == ["w", UNKNOWN]


def test_a_glued_mark_belongs_to_its_character() -> None:
    tokens = ["hi", "h", "i</w>", "w"]
    for left_to_right in (False, True):
        core = model(tokens, suffix="</w>", glued=True, left_to_right=left_to_right)
        assert texts(tokens, core, "hi") == ["h", "i</w>"]
        assert core.spans(b"hi") == [(1, 0, 1), (2, 1, 2)]


def test_a_prefix_is_not_cut() -> None:
    tokens = ["ab", "##ab", "##c", "#", "##"]
    for left_to_right in (False, True):
        core = model(tokens, prefix="##", left_to_right=left_to_right)
        assert texts(tokens, core, "abab") == ["ab", "##ab"]
        assert texts(tokens, core, "cab") == [UNKNOWN, "##ab"]
        assert texts(tokens, core, "abc#") == ["ab", "##c", UNKNOWN]  # "#" begins a word
        assert texts(tokens, core, "##c") == ["##", "##c"]  # a mark with nothing beside it is text


def test_frequencies_fit_the_tokens() -> None:
    vocabulary = Vocabulary.from_tokens([b"a", b"b"])
    with pytest.raises(ValueError, match="there are 1 frequencies for 2 tokens"):
        CoreModel(LongestMatch(vocabulary, frequencies=array("d", [1])))


def test_the_two_ways_differ() -> None:
    tokens = ["ab", "bcd", "abc", "d"]
    assert texts(tokens, model(tokens), "abcd") == ["<unk>", "bcd"]
    assert texts(tokens, model(tokens, left_to_right=True), "abcd") == ["abc", "d"]


def test_an_end_counts_as_one_character() -> None:
    tokens = ["bcd", "d</w>"]  # three characters before two, though d</w> has five
    assert texts(tokens, model(tokens, suffix="</w>"), "bcd") == ["bcd", UNKNOWN]


def test_equals_by_id() -> None:
    assert texts(["ab", "bc"], model(["ab", "bc"]), "abc") == ["ab", UNKNOWN]
    assert texts(["bc", "ab"], model(["bc", "ab"]), "abc") == [UNKNOWN, "bc"]


def test_unknown_stretches() -> None:
    assert model(["a"]).spans("éxaéx".encode()) == [(1, 0, 3), (0, 3, 4), (1, 4, 7)]
    assert model(["a"], unknown=False).spans("éxaéx".encode()) == [(0, 3, 4)]
    assert texts(["a"], model(["a"]), "<unk>") == [UNKNOWN]


def test_characters_are_whole() -> None:
    vocabulary = Vocabulary.from_tokens([b"\xbd", b"\xe4", b"?"])
    for left_to_right in (False, True):
        core = CoreModel(LongestMatch(vocabulary, left_to_right, 2))
        assert core.spans(b"\xe4\xbd\xa0\xe4\xbd") == [(2, 0, 3), (1, 3, 4), (0, 4, 5)]


# -- the textbook ----------------------------------------------------------------------------------


@given(
    st.lists(st.text("abé", min_size=1, max_size=5), min_size=1, max_size=12, unique=True),
    st.lists(st.text("abéx</>w", min_size=1, max_size=20), min_size=30, max_size=60),
    st.sampled_from(["", "</w>", "b", "ab"]),
    st.sampled_from(["", "##", "b", "ab"]),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_words_are_cut_by_the_book(
    tokens: list[str], words: list[str], suffix: str, prefix: str, glued: bool, counted: bool, data: st.DataObject
) -> None:
    some = st.lists(st.sampled_from(tokens), max_size=4, unique=True)
    final, inner = data.draw(some), data.draw(some)
    tokens += [token + suffix for token in final] + [prefix + token for token in inner]
    tokens += [prefix + token + suffix for token in final]
    tokens += [*filter(None, (suffix, prefix, suffix[:-1], suffix[2:3]))]
    tokens = list(dict.fromkeys(tokens))
    counts = {token: data.draw(st.integers(0, 2)) for token in tokens} if counted else None
    marks = Marks(suffix, glued, prefix)
    names = [*tokens, UNKNOWN]

    def of_core(*, left_to_right: bool) -> list[list[str]]:
        core = model(
            tokens, left_to_right=left_to_right, suffix=suffix, glued=glued, prefix=prefix, counts=counts
        )  # fmt: skip
        return [[names[token] for token in ids] for ids in core.encode([word.encode() for word in words])]

    # Sorting is stable: equals stay in the order of ids.
    order = sorted(tokens, key=lambda token: (-marks.length(token), -(counts or {}).get(token, 0)))
    spelt = [(marks.token(token), token) for token in order]
    assert of_core(left_to_right=False) == [cut(marks.word(word), spelt) for word in words]
    units = {marks.token(token): token for token in tokens}
    assert of_core(left_to_right=True) == [cut_from_left(marks.word(word), units) for word in words]


@given(
    st.text("ab<>/w", min_size=1, max_size=12),
    st.lists(st.text("ab<>/w", min_size=2, max_size=4), max_size=8, unique=True),
    st.booleans(),
    st.sampled_from(["", "##"]),
    st.booleans(),
)
def test_with_all_characters_and_marks_nothing_is_unknown(
    word: str, longer: list[str], glued: bool, prefix: str, left_to_right: bool
) -> None:
    forms = [before + each + after for each in "ab<>/w" for before in ("", prefix) for after in ("", "</w>")]
    tokens = list(dict.fromkeys([*forms, *longer, "</w>"]))
    core = model(tokens, suffix="</w>", glued=glued, prefix=prefix, left_to_right=left_to_right)
    found = texts(tokens, core, word)
    assert UNKNOWN not in found
    plain = "".join(token.removeprefix(prefix) if place else token for place, token in enumerate(found))
    assert plain == word + "</w>"


@given(st.lists(st.text("ab", min_size=1, max_size=6), min_size=1, max_size=9, unique=True), st.binary(max_size=30))
def test_spans_cover_any_bytes(tokens: list[str], piece: bytes) -> None:
    for left_to_right in (False, True):
        spans = model(tokens, left_to_right=left_to_right, suffix="</w>").spans(piece) if piece else []
        assert [start for _, start, _ in spans] == [0, *(end for _, _, end in spans)][: len(spans)]
        assert not spans or spans[-1][2] == len(piece)


@pytest.mark.parametrize("left_to_right", [False, True])
def test_a_giant_run_of_one_letter(left_to_right: bool) -> None:
    tokens = ["a" * length for length in range(1, 300)]
    length = 150_000
    ids = model(tokens, left_to_right=left_to_right).ids(b"a" * length)
    assert ids == [298] * (length // 299) + [length % 299 - 1]


def test_equal_tokens_are_refused() -> None:
    with pytest.raises(ValueError, match="ids 0 and 1 are the same bytes"):
        model(["a", "a"])
