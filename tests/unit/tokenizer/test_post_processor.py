"""Post-processors: worked examples, and against tokenizers on random components."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import FormatError
from bpe_cli.stages.spelling import to_visible
from bpe_cli.tokenizer.model_inputs import trim, trims
from bpe_cli.tokenizer.post_processor import Processed, affixes, process
from tests.needs import needs

LETTERS = "abcdefghijkl"
BERT = {"type": "BertProcessing", "sep": ["a", 0], "cls": ["b", 1]}
ROBERTA = {
    "type": "RobertaProcessing",
    "sep": ["c", 2],
    "cls": ["d", 3],
    "trim_offsets": True,
    "add_prefix_space": True,
}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}


def template(single, pair):
    """Make a template: a text is "A" or "B", a special token any other letter."""

    def place(item):
        name, type_id = item
        kind = "Sequence" if name in "AB" else "SpecialToken"
        return {kind: {"id": name, "type_id": type_id}}

    return {
        "type": "TemplateProcessing",
        "single": [place(item) for item in single],
        "pair": [place(item) for item in pair],
        "special_tokens": {
            # Each stands for as many ids as its place in the alphabet says.
            letter: {"id": letter, "ids": list(range(number + 1)), "tokens": list(LETTERS[: number + 1])}
            for number, letter in enumerate(LETTERS[:3])
        },
    }


specials = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=2)
texts_of = {name: st.tuples(st.just(name), st.integers(0, 3)) for name in "AB"}
singles = st.tuples(specials, texts_of["A"], specials).map(lambda it: [*it[0], it[1], *it[2]])
pairs = st.tuples(specials, texts_of["A"], specials, texts_of["B"], specials, st.booleans()).map(
    lambda it: [*it[0], it[3 if it[5] else 1], *it[2], it[1 if it[5] else 3], *it[4]]
)
templates = st.builds(template, singles, pairs)
components = st.one_of(
    st.sampled_from([BERT, ROBERTA, BYTE_LEVEL]),
    templates,
    st.lists(st.sampled_from([BERT, ROBERTA, BYTE_LEVEL]), max_size=3).map(
        lambda parts: {"type": "Sequence", "processors": parts}
    ),
    templates.map(lambda part: {"type": "Sequence", "processors": [BYTE_LEVEL, part]}),
)
words = st.lists(st.sampled_from(LETTERS), max_size=5)


@pytest.fixture(scope="module")
def rival():
    tokenizers = needs("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({letter: number for number, letter in enumerate(LETTERS)}))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return json.loads(made.to_str())


def with_processor(rival, component):
    return needs("tokenizers").Tokenizer.from_str(json.dumps(rival | {"post_processor": component}))


def ids_of(letters):
    return [LETTERS.index(letter) for letter in letters]


def test_a_pair_by_example():
    processed = process(json.dumps(BERT), [7, 8], [9])
    assert processed == Processed(
        [1, 7, 8, 0, 9, 0], [0, 0, 0, 0, 1, 1], [1, 0, 0, 1, 0, 1], [None, 0, 0, None, 1, None]
    )
    assert process(None, [7], [9]) == Processed([7, 9], [0, 1], [0, 0], [0, 1])
    assert process(json.dumps(template([("A", 2), ("b", 1)], [])), [7]).type_ids == [2, 1, 1]


@given(components, words, st.one_of(st.none(), words))
def test_as_tokenizers_does(rival, component, first, second):
    ours = process(json.dumps(component), ids_of(first), None if second is None else ids_of(second))
    texts = [" ".join(text) for text in (first, second) if text is not None]
    theirs = with_processor(rival, component).encode(*texts)
    assert ours.ids == theirs.ids
    assert ours.type_ids == theirs.type_ids
    assert ours.special_mask == theirs.special_tokens_mask
    assert ours.sequence_ids == theirs.sequence_ids


@given(components, words)
def test_affixes_are_what_stands_around_the_text(component, first):
    before, after = affixes(json.dumps(component))
    assert process(json.dumps(component), ids_of(first)).ids == [*before, *ids_of(first), *after]


def test_a_text_that_stands_twice():
    """Theirs says of the last occurrence alone that it belongs to the text."""
    twice = json.dumps(template([("A", 0), ("A", 1)], []))
    assert process(twice, [7]) == Processed([7, 7], [0, 1], [0, 0], [0, 0])
    with pytest.raises(FormatError, match="more than the one text"):
        affixes(twice)


@pytest.mark.parametrize(
    ("component", "sentence"),
    [
        ({"type": "Other"}, "'Other' is not known"),
        (template([("B", 0)], []), "more than the one text"),
        ({"type": "Sequence", "processors": [template([("a", 0), ("A", 0), ("a", 0)], []), BERT]}, "has added tokens"),
        ({"type": "BertProcessing", "sep": ["a", -1], "cls": ["b", 1]}, "is broken"),
        ({"type": "Sequence"}, "is broken"),
        ([], "is broken"),
    ],
)
def test_what_cannot_be_is_refused(component, sentence):
    with pytest.raises(FormatError, match=sentence):
        process(json.dumps(component), [7])


def test_hostile_nesting_is_refused():
    deep = '{"type": "Sequence", "processors": [' * 100_000
    with pytest.raises(FormatError, match="is broken"):
        process(deep, [7])


# -- trimming --------------------------------------------------------------------------------------


def test_trims_by_example():
    assert trim([(0, 3), (3, 6), (6, 7)], ["ĠĠa", "ĠbĠ", "Ġ"], add_prefix_space=True) == [(2, 3), (4, 5), (7, 7)]
    assert trim([(0, 1)], ["Ġa"], add_prefix_space=True) == [(0, 1)]
    assert trims(json.dumps({"type": "Sequence", "processors": [BYTE_LEVEL, BERT, ROBERTA]})) == (True, True)
    assert trims(json.dumps(ROBERTA | {"trim_offsets": False})) == ()
    assert trims(None) == ()


@given(st.text(alphabet=" a\n你\xa0", max_size=10), st.booleans(), st.booleans())
def test_trims_as_tokenizers_does(text, add_prefix_space, processor_says_so):
    tokenizers = needs("tokenizers")
    alphabet = {character: number for number, character in enumerate(tokenizers.pre_tokenizers.ByteLevel.alphabet())}
    alphabet |= {"ĠĠ": 256, "Ġa": 257, "ĠĠĠ": 258}
    merges = [("Ġ", "Ġ"), ("Ġ", "a"), ("ĠĠ", "Ġ")]
    rival = tokenizers.Tokenizer(tokenizers.models.BPE(alphabet, merges))
    rival.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space, use_regex=False)
    plain = rival.encode(text)
    spans = plain.offsets
    component = BYTE_LEVEL | {"add_prefix_space": processor_says_so}
    rival.post_processor = tokenizers.processors.ByteLevel(processor_says_so, trim_offsets=True)
    ours = spans
    for says_so in trims(json.dumps(component)):
        ours = trim(ours, plain.tokens, add_prefix_space=says_so)
    assert ours == rival.encode(text).offsets
    spaced = add_prefix_space and not text.startswith(" ") and text != ""
    assert "".join(plain.tokens) == to_visible((" " * spaced + text).encode())
