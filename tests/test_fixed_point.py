"""Unigram in fixed point: the core, the steps and the textbook search agree, by hand and over random vocabularies."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import FormatError
from bpe_cli.formats import dump, load
from bpe_cli.formats.features import LOSSES
from bpe_cli.reports.text.scores import scores_of
from bpe_cli.reports.text.steps.pieces import Limits
from bpe_cli.stages import SpecialToken, Unigram
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.teaching.unigram import best, departures, onward_path, ten_thousandths
from bpe_cli.tokenizer import Tokenizer, fingerprint
from tests.oracle.segmentations import segmentations
from tests.unit.reports.text.telling import tell

UNKNOWN = 0


def of(scores: dict[str, float], **more) -> Tokenizer:
    """Return a tokenizer whose id 0 is what is unknown."""
    tokens = [b"", *(text.encode() for text in scores)]
    settings = {"unk_id": UNKNOWN, "fuse_unk": False, "fixed_point": True} | more
    model = Unigram(Vocabulary.from_tokens(tokens), array("d", [0.0, *scores.values()]), **settings)
    return Tokenizer(model, special_tokens=(SpecialToken(b"<unk>", UNKNOWN),))


def textbook(scores: dict[str, float], text: str) -> list[int]:
    rounded = {token: ten_thousandths(score) for token, score in scores.items()}
    ids = {token: number for number, token in enumerate(scores, start=1)}
    first = [best(ways).edge for ways in departures(text, rounded, -10_000_000)]
    return [ids[edge.token] if edge.known else UNKNOWN for edge in onward_path(first[::-1])]


def test_by_hand():
    """Equal sums: from the left the last token would be the longest, here the first is."""
    tokenizer = of({"g": -1.0, "gg": -2.0, "ggg": -3.0})
    assert tokenizer.encode("gggg") == [3, 1]
    assert of({"g": -1.0, "gg": -2.0, "ggg": -3.0}, fixed_point=False).encode("gggg") == [1, 3]
    assert of({"a": -1.0, "b": -1.0, "ab": -2.000049}).encode("ab") == [3]
    assert of({"a": -1.0, "b": -1.0, "ab": -2.00005}).encode("ab") == [1, 2]
    assert of({"a": -1.0, "xa": -1001.0, "ax": -1001.5}).encode("xaax") == [2, 1, UNKNOWN]


SCORES = st.one_of(
    st.integers(-8, 2).map(float),
    st.sampled_from([-1.00005, -1.00004, -0.00005, -999.9999, -1500.0, 0.0, 1e300, -1e300, 214748.3648]),
    st.floats(-20, 1),
)
VOCABULARIES = st.dictionaries(st.text("abé ", min_size=1, max_size=4), SCORES, max_size=12)


@given(scores=VOCABULARIES, text=st.text("abé x", max_size=30))
def test_core_and_steps_do_as_the_textbook(scores, text):
    tokenizer = of(scores)
    ids = tokenizer.encode(text)
    assert ids == textbook(scores, text)
    steps = tell(tokenizer, text.encode(), (), Limits(nbest=2))
    assert steps.differs_at is None
    assert [token.token_id for row in steps.rows for token in row.tokens] == ids


@given(scores=VOCABULARIES, text=st.text("abé ", min_size=1, max_size=7))
def test_the_sum_is_the_highest_of_all(scores, text):
    rounded = {token: ten_thousandths(score) for token, score in scores.items()}
    every = rounded | {character: -10_000_000 for character in text if character not in rounded}
    ids = {token: number for number, token in enumerate(scores, start=1)}
    ways = {tuple(ids.get(token, UNKNOWN) for token in path): total for path, total in segmentations(text, every)}
    assert ways[tuple(of(scores).encode(text))] == max(ways.values())


@given(data=st.binary(max_size=20), scores=VOCABULARIES)
def test_any_bytes(data, scores):
    texts = [f"<0x{byte:02X}>" for byte in range(256)]
    tokens = [b"", *(text.encode() for text in scores), *(text.encode() for text in texts)]
    kinds = bytes([2, *[1] * len(scores), *[6] * 256])
    model = Unigram(
        Vocabulary.from_tokens(tokens), array("d", [0.0, *scores.values(), *[0.0] * 256]), None, byte_fallback=True,
        kinds=kinds, fixed_point=True,
    )  # fmt: skip
    ids = Tokenizer(model).encode(data)
    read = b"".join(bytes.fromhex(t[3:5].decode()) if kinds[i] == 6 else t for i in ids for t in [tokens[i]])
    assert read == data
    steps = tell(Tokenizer(model), data)
    assert steps.differs_at is None


def test_a_text_of_many_blocks():
    scores = {"a": -1.0, "ab": -1.5, "ba": -1.5, " a": -1.2, "b": -1.0, "abab": -3.0}
    tokenizer = of(scores)
    text = "".join("ab ax"[(number * 2654435761 >> 16) % 5] for number in range(20_000))
    assert tokenizer.encode(text) == textbook(scores, text)
    run = "ab" * 5_000
    assert tokenizer.encode(run) == textbook(scores, run)


def test_it_is_kept_by_bpe_json_alone(tmp_path):
    path = tmp_path / "t.json"
    tokenizer = of({"a": -1.0, "ab": -2.25}, fuse_unk=True)
    content = dump(tokenizer, "bpe.json")[""]
    path.write_bytes(content)
    assert load(path) == tokenizer
    assert b"fixed_point" not in dump(of({"a": -1.0}, fixed_point=False), "bpe.json")[""]
    for name in ("tokenizer.json", "sentencepiece", "sentencepiece-vocab", "gguf"):
        with pytest.raises(FormatError, match=r"rounded scores|all 256 bytes|there is no format"):
            dump(tokenizer, name, LOSSES)
    both = content.replace(b'"fixed_point": true', b'"fixed_point": true, "single_precision": true')
    path.write_bytes(both)
    with pytest.raises(FormatError, match="cannot be true together with single_precision"):
        load(path)


def test_it_is_part_of_the_value():
    fixed, plain = of({"a": -1.0}), of({"a": -1.0}, fixed_point=False)
    assert fixed != plain
    assert fingerprint(fixed) != fingerprint(plain)


def test_scores_as_reports_have_them():
    tokenizer = of({"a": -1.5, "ab": -2.0}, kinds=bytes([2, 1, 4]))
    score = scores_of(tokenizer)
    assert [score(number) for number in range(3)] == [-1000.0, -1.5, -2.0]
    (walk,) = (row.walk for row in tell(tokenizer, b"axab", (), Limits(nbest=2)).rows)
    assert [(place.place, [way.text for way in place.ways]) for place in walk.places] == [
        (3, [b"b"]), (2, [b"ab", b"a"]), (1, [b"x"]), (0, [b"a"]),
    ]  # fmt: skip
    assert (walk.unknown_score, walk.penalty, walk.score) == (-1000.0, 0.0, -1003.5)
    assert [way.total for way in walk.path] == [-1003.5, -1002.0, -2.0]
