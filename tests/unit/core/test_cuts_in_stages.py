"""A long text is cut to be handled in parts: it becomes what its parts become, whatever the stages are."""

import json
from array import array

import pytest

from bpe_cli import _core
from tests.work import cost

WHITE_SPACE = {"type": "WhitespaceSplit"}
TO_UNDERSCORE = {"type": "Replace", "pattern": {"String": " "}, "content": "_"}


def stages(normalizers, pre_tokenizers):
    return _core.Stages(json.dumps({"normalizers": normalizers, "pre_tokenizers": pre_tokenizers}))


def words(normalizers, pre_tokenizers):
    """Return a tokenizer that knows ``a_a`` as one word, and every other one as unknown."""
    model = json.dumps({"type": "WordLevel", "unk_id": 0, "fuse_unk": False})
    return _core.Encoder(stages(normalizers, pre_tokenizers), model, (b"?a_a", array("I", [1, 4])))


def test_a_long_text_without_spaces_left_is_one_word():
    text = b"aaa " * 300_000
    pipeline = words([TO_UNDERSCORE], [WHITE_SPACE])
    for threads in (1, 4):
        ids, _ = pipeline.encode(text, array("Q", [len(text)]), None, threads)
        assert memoryview(ids).tolist() == [0]


@pytest.mark.parametrize(
    ("normalizers", "cut"),
    [
        ([], 8),  # behind the space, which goes
        ([{"type": "NFC"}, {"type": "Lowercase"}], 8),
        ([TO_UNDERSCORE], 0),
        ([{"type": "ByteLevel"}], 0),
        ([{"type": "Replace", "pattern": {"String": "b"}, "content": " "}], 0),
        ([{"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "_"}], 7),
    ],
)
def test_cuts_are_made_where_a_space_stays(normalizers, cut):
    assert stages(normalizers, [WHITE_SPACE]).safe_cut(b"aaa bbb ccc") == cut


def test_many_texts_that_a_table_leaves_cost_little():
    from base64 import b64encode

    table = b64encode(_core.charsmap("nmt_nfkc")).decode()
    kept = [f"a{number:06}" for number in range(100_000)]
    charsmap = {"type": "Charsmap", "precompiled_charsmap": table, "user_defined": kept}
    normalizer = stages([charsmap], [])
    text = b"a" * 100_000 + b"a000007"
    assert normalizer.normalize(text)[0] == text
    # If each of them were tried at each place, it would be thousands of times as long.
    assert cost(lambda: normalizer.normalize(text), len(text), 200) <= 200


def test_many_special_tokens_cost_little_at_a_cut():
    tokens = [b"<|%06d|>" % number for number in range(50_000)]
    matcher = _core.SpecialMatcher(tokens, range(50_000))
    assert matcher.moves_cut(b"a <|000777|> b", 5) == 4
    assert [matcher.moves_cut(b"a b" * 700, cut) for cut in range(1, 2000)] == [None] * 1999
    # Fifty thousand tokens, were each tried at each cut, would be 100 million comparisons.
    assert cost(lambda: [matcher.moves_cut(b"a b" * 700, cut) for cut in range(1, 2000)], 1 << 18, 20) <= 20


def test_a_text_that_grows_a_thousandfold_is_refused():
    replace = {"type": "Replace", "pattern": {"String": "a"}, "content": "b" * 999}
    limit = r"^a text of 300000 bytes becomes longer than 19200000 bytes by its normalization, which is the limit$"
    text = b"a" * 300_000
    with pytest.raises(ValueError, match=limit):
        stages([replace], []).normalize(text)
    with pytest.raises(ValueError, match=limit):
        words([replace], [WHITE_SPACE]).encode(text, array("Q", [len(text)]), None, 2)
    assert len(stages([replace], []).normalize(b"a" * 1_000)[0]) == 999_000


@pytest.mark.parametrize("text", [b"a" * 30_000, b"a" * 30_000 + b"b", b"ab" * 15_000])
def test_a_special_token_that_repeats_itself_is_compiled_in_linear_time(text):
    matcher = _core.SpecialMatcher([text, b"aab"], [1, 2])
    assert matcher.find_all(b"aab" + text) == [(0, 3, 2), (3, 3 + len(text), 1)]
    # In the square of its length, it would be thousands.
    assert cost(lambda: _core.SpecialMatcher([text], [1]), len(text), 200) <= 200
