"""Truncation, padding, pairs, word ids: worked examples, stored results, and against tokenizers."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import UsageError
from bpe_cli.tokenizer.model_inputs import Encoding, added_tokens, join, pad, prepare, truncate, windows
from bpe_cli.tokenizer.usage import Padding, Truncation
from bpe_cli.tokenizer.words import word_ids
from tests.counted import at_least, compared
from tests.needs import needs

LETTERS = "abcdefghijklmnop"
BERT = {"type": "BertProcessing", "sep": ["a", 0], "cls": ["b", 1]}
ROBERTA = {
    "type": "RobertaProcessing",
    "sep": ["c", 2],
    "cls": ["d", 3],
    "trim_offsets": False,
    "add_prefix_space": False,
}
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "x", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [
        {"Sequence": {"id": "B", "type_id": 1}},
        {"SpecialToken": {"id": "x", "type_id": 2}},
        {"Sequence": {"id": "A", "type_id": 0}},
    ],
    "special_tokens": {"x": {"id": "x", "ids": [0, 1], "tokens": ["a", "b"]}},
}


def text_of(ids, first_word=0) -> Encoding:
    """Make an encoding whose tokens are letters with a space after each."""
    spans = [(2 * place, 2 * place + 1) for place in range(len(ids))]
    return Encoding.of(
        ids, spans, tokens=[LETTERS[token_id] for token_id in ids], word_ids=range(first_word, first_word + len(ids))
    )


def flat(encoding: Encoding) -> list[object]:
    """Return all that is compared with theirs."""
    return [
        list(encoding.ids),
        list(encoding.tokens),
        list(encoding.spans),
        list(encoding.word_ids),
        list(encoding.special_mask),
        list(encoding.attention_mask),
    ]


def flat_of_theirs(encoding) -> list[object]:
    return [
        encoding.ids,
        encoding.tokens,
        encoding.offsets,
        encoding.word_ids,
        encoding.special_tokens_mask,
        encoding.attention_mask,
    ]


def test_truncation_by_example():
    cut, _ = truncate(text_of([4, 5, 6, 7, 8]), None, Truncation(3, stride=1))
    assert cut.ids == (4, 5, 6)
    assert [window.ids for window in cut.overflowing] == [(6, 7, 8)]
    cut, _ = truncate(text_of([4, 5, 6, 7, 8]), None, Truncation(3, direction="left"))
    assert (cut.ids, cut.overflowing[0].ids) == ((6, 7, 8), (4, 5))
    first, second = truncate(text_of([4, 5, 6, 7]), text_of([8, 9]), Truncation(4))
    assert (first.ids, second and second.ids) == ((4, 5), (8, 9))


def test_windows_of_a_pair_go_with_each_other():
    joined = prepare(
        [(text_of([4, 5]), text_of([6, 7]))], post_processor=json.dumps(BERT), truncation=Truncation(max_length=5)
    )[0]
    assert joined.ids == (1, 4, 0, 6, 0)
    assert [window.ids for window in joined.overflowing] == [(1, 5, 0, 6, 0), (1, 5, 0, 7, 0), (1, 4, 0, 7, 0)]
    assert all(window.type_ids == (0, 0, 0, 1, 1) for window in joined.overflowing)


def test_padding_by_example():
    batch = pad([text_of([4]), text_of([5, 6, 7])], Padding(direction="left", pad_to_multiple_of=2, pad_id=9))
    assert [encoding.ids for encoding in batch] == [(9, 9, 9, 4), (9, 5, 6, 7)]
    assert batch[0].attention_mask == (0, 0, 0, 1)
    assert batch[0].sequence_ids == (None, None, None, 0)
    assert pad([text_of([4, 5])], Padding(length=1))[0].ids == (4, 5)


@pytest.mark.parametrize(
    ("truncation", "pair", "added", "sentence"),
    [
        (Truncation(3, stride=3), False, 0, "cannot repeat 3"),
        (Truncation(3, stride=-1), False, 0, "cannot repeat -1"),
        (Truncation(2), False, 3, "no place for the 3 special tokens"),
        (Truncation(3, strategy="only_second"), False, 0, "no second text"),
        (Truncation(3, strategy="only_first"), True, 0, "the first text has 5 tokens, and 7 are too many"),
    ],
)
def test_what_cannot_be_is_said(truncation, pair, added, sentence):
    """Theirs panics at a stride that is too great, and forgets the limit where special tokens have no place."""
    first, second = text_of([4, 5, 6, 7, 8]), text_of([4, 5, 6, 7, 8]) if pair else None
    with pytest.raises(UsageError, match=sentence):
        truncate(first, second, truncation, added=added)


def test_lists_of_other_lengths_are_refused():
    with pytest.raises(UsageError, match="2 ids have 1 spans"):
        Encoding.of([1, 2], [(0, 1)])
    with pytest.raises(UsageError, match="negative"):
        pad([], Padding(length=-1))


@at_least(2)
@given(st.integers(0, 30), st.integers(1, 8), st.integers(0, 7), st.sampled_from(["left", "right"]))
def test_windows_cover_everything(length, size, stride, direction):
    if stride >= size:
        return
    found = windows(length, size, stride, direction)
    assert {place for start, stop in found for place in range(start, stop)} == set(range(length))
    assert all(stop - start == min(size, length) for start, stop in found[:-1])
    if direction == "left":
        found = [(length - stop, length - start) for start, stop in found]
    assert found[-1][1] == length
    for (_, stop), (start, _) in pairwise(found):
        assert stop - start == stride
    compared()


# -- tokenizers ------------------------------------------------------------------------------------


@cache
def rival_spec():
    tokenizers = needs("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({letter: number for number, letter in enumerate(LETTERS)}))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return json.loads(made.to_str())


texts = st.lists(st.integers(4, 15), max_size=12)


@at_least(1)
@given(
    st.sampled_from([None, BERT, ROBERTA, TEMPLATE]),
    st.lists(st.tuples(texts, st.one_of(st.none(), texts)), min_size=1, max_size=3),
    st.integers(0, 12),
    st.integers(0, 4),
    st.sampled_from(["longest_first", "only_first", "only_second"]),
    st.sampled_from(["left", "right"]),
    st.one_of(st.none(), st.integers(0, 20)),
    st.one_of(st.none(), st.integers(0, 8)),
    st.sampled_from(["left", "right"]),
    st.booleans(),
)
def test_as_tokenizers_does(
    processor, batch, max_length, stride, strategy, cut_at, length, multiple, fill_at, add_special_tokens
):
    post_processor = None if processor is None else json.dumps(processor)
    truncation = Truncation(max_length, stride, strategy, cut_at)
    padding = Padding(length, fill_at, multiple, pad_id=14, pad_type_id=3, pad_token="o")
    pairs = [(text_of(first), None if second is None else text_of(second)) for first, second in batch]
    try:
        ours = prepare(
            pairs,
            post_processor=post_processor,
            add_special_tokens=add_special_tokens,
            truncation=truncation,
            padding=padding,
        )
    except UsageError:
        return
    tokenizers = needs("tokenizers")
    rival = tokenizers.Tokenizer.from_str(json.dumps(rival_spec() | {"post_processor": processor}))
    added = added_tokens(post_processor) if add_special_tokens else 0
    if max_length - added < stride:
        return  # theirs refuses the setting as a whole, whatever the texts
    try:
        rival.enable_truncation(max_length, stride=stride, strategy=strategy, direction=cut_at)
    except ValueError:
        return
    rival.enable_padding(
        direction=fill_at, length=length, pad_to_multiple_of=multiple, pad_id=14, pad_type_id=3, pad_token="o"
    )
    as_text = [
        tuple(" ".join(LETTERS[token_id] for token_id in text) for text in texts if text is not None) for texts in batch
    ]
    theirs = rival.encode_batch(
        [texts if len(texts) == 2 else texts[0] for texts in as_text], add_special_tokens=add_special_tokens
    )
    for (_, second), our, their in zip(batch, ours, theirs, strict=True):
        assert flat(our) == flat_of_theirs(their)
        assert list(our.type_ids) == their.type_ids
        assert [flat(window) for window in our.overflowing] == [flat_of_theirs(window) for window in their.overflowing]
        # Theirs loses count where a text is empty; and with no post-processor padding belongs to the text.
        if processor is not None and {0, 0 if second is None else 1} <= set(our.sequence_ids):
            assert list(our.sequence_ids) == their.sequence_ids
    compared()


def test_padding_belongs_to_no_text():
    """Theirs says that the padding of an empty text does."""
    (ours,) = prepare([(text_of([]), None)], padding=Padding(length=1))
    assert ours.sequence_ids == (None,)
    tokenizers = needs("tokenizers")
    rival = tokenizers.Tokenizer.from_str(json.dumps(rival_spec()))
    rival.enable_padding(length=1)
    assert rival.encode("").sequence_ids == [0]


def test_types_of_overflowing_windows_are_those_of_the_template():
    """Theirs forgets the template's types there and counts the texts instead."""
    template = json.dumps(
        {
            "type": "TemplateProcessing",
            "single": [{"Sequence": {"id": "A", "type_id": 5}}],
            "pair": [],
            "special_tokens": {},
        }
    )
    ours = join(*truncate(text_of([4, 5]), None, Truncation(1)), post_processor=template)
    assert (ours.type_ids, ours.overflowing[0].type_ids) == ((5,), (5,))
    tokenizers = needs("tokenizers")
    rival = tokenizers.Tokenizer.from_str(json.dumps(rival_spec() | {"post_processor": json.loads(template)}))
    rival.enable_truncation(1)
    theirs = rival.encode("e f")
    assert (theirs.type_ids, theirs.overflowing[0].type_ids) == ([5], [0])


# -- stored results --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stored(shared):
    return json.loads((shared / "expected" / "encoding-ops" / "truncation_padding.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def encode(shared, stored):
    """Return what makes an encoding of a text: with the rival, whose own operations are left out."""
    tokenizers = needs("tokenizers")

    @cache
    def of_tokenizer(name):
        folder = shared / "vocabs" / name
        if (folder / "tokenizer.json").exists():
            return tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        return tokenizers.BertWordPieceTokenizer(str(folder / "vocab.txt"))

    def encode(name, text):
        tokenizer = of_tokenizer(name)
        encoding = tokenizer.encode(text, add_special_tokens=False)
        return Encoding.of(encoding.ids, encoding.offsets, word_ids=encoding.word_ids)

    encode.post_processor = cache(lambda name: json.dumps(json.loads(of_tokenizer(name).to_str())["post_processor"]))
    return encode


def in_json(encoding: Encoding) -> dict[str, object]:
    return {
        "ids": list(encoding.ids),
        "type_ids": list(encoding.type_ids),
        "attention_mask": list(encoding.attention_mask),
        "special_tokens_mask": list(encoding.special_mask),
        "word_ids": list(encoding.word_ids),
        "sequence_ids": list(encoding.sequence_ids),
        "offsets": [list(span) for span in encoding.spans],
    }


@at_least(55)
def test_stored_truncations(stored, encode):
    cases = [case for case in stored["cases"] if "max_length" in case]
    assert len(cases) > 20
    for case in cases:
        name = case["tokenizer"]
        first = encode(name, stored["A"])
        second = encode(name, stored["B"]) if case["pair"] else None
        truncation = Truncation(case["max_length"], case["stride"], case["strategy"], case["direction"])
        arguments = {"post_processor": encode.post_processor(name), "truncation": truncation}
        if "error" in case:
            with pytest.raises(UsageError):
                prepare([(first, second)], **arguments)
            continue
        (ours,) = prepare([(first, second)], **arguments)
        for key, value in in_json(ours).items():
            assert case[key] == value, (case["tokenizer"], truncation, key)
        assert len(ours.overflowing) == len(case["overflowing"])
        for window, expected in zip(ours.overflowing, case["overflowing"], strict=True):
            assert {key: in_json(window)[key] for key in expected} == expected
        compared()


def test_stored_paddings(stored, encode):
    cases = [case for case in stored["cases"] if "padding" in case]
    assert len(cases) == 9
    for case in cases:
        name = case["tokenizer"]
        texts = [(encode(name, text), None) for text in ("short", stored["B"])]
        ours = prepare(texts, post_processor=encode.post_processor(name), padding=Padding(**case["padding"]))
        for encoding, expected in zip(ours, case["batch"], strict=True):
            assert in_json(encoding) == {key: expected[key] for key in in_json(encoding)}


def test_word_ids_are_those_of_the_pieces(stored, encode):
    tokenizers = needs("tokenizers")
    bert = tokenizers.pre_tokenizers.BertPreTokenizer()
    pieces = [span for _, span in bert.pre_tokenize_str(stored["A"])]
    encoding = encode("bert-base-uncased", stored["A"])
    assert word_ids(encoding.spans, pieces) == list(encoding.word_ids)
