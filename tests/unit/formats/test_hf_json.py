"""tokenizer.json: what is read, what is refused and how, and that what is written is Hugging Face's own layout."""

from __future__ import annotations

import json

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError, UsageError
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.stages import MergeBpe, Metaspace, PrefixSpace, SpecialToken, Split
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.needs import needs


def document(**changes):
    """Return a small tokenizer.json as an object; a value for ``model`` is merged into the model's."""
    base = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "Ġ": 2, "ab": 3, "Ġab": 4}, "merges": ["a b", "Ġ ab"]},
    }
    base["model"] |= changes.pop("model", {})
    return base | changes


def loads(**changes):
    return hf_json.loads(json.dumps(document(**changes)).encode())


def refused(**changes):
    with pytest.raises(FormatError) as caught:
        loads(**changes)
    return caught.value.message


def added(content="<s>", token_id=5, **flags):
    return {"id": token_id, "content": content, "special": True} | flags


# -- worked examples ---------------------------------------------------------------------------


def test_small_file_reads_as_what_it_says():
    tokenizer = loads(added_tokens=[added()])
    assert tokenizer == Tokenizer(
        MergeBpe(Vocabulary.from_tokens([b"a", b"b", b" ", b"ab", b" ab"]), Merges.from_pairs([(0, 1, 3), (2, 3, 4)])),
        (Split(PATTERNS["gpt2"].regex),),
        (SpecialToken(b"<s>", 5),),
    )


def test_both_layouts_of_merges_mean_the_same():
    assert loads(model={"merges": [["a", "b"], ["Ġ", "ab"]]}) == loads()


def test_type_may_be_missing():
    data = document()
    del data["model"]["type"]
    assert hf_json.loads(json.dumps(data).encode()) == loads()


def test_of_a_merge_that_stands_twice_the_last_counts():
    tokenizer = loads(model={"merges": ["a b", "Ġ ab", "a b"]})
    assert list(tokenizer.model.merges) == [(2, 3, 4), (0, 1, 3)]


def test_special_token_in_the_vocabulary_is_no_ordinary_one():
    tokenizer = loads(
        added_tokens=[added(token_id=5)], model={"vocab": document()["model"]["vocab"] | {"<s>": 5, "c": 6}}
    )
    assert tokenizer.model.vocabulary.id_of(b"<s>") is None
    assert tokenizer.model.vocabulary.token(6) == b"c"


def test_added_token_that_merges_use_stays_an_ordinary_one_too():
    tokenizer = loads(added_tokens=[added("ab", 3, special=False)])
    assert tokenizer.model.vocabulary.id_of(b"ab") == 3
    assert tokenizer.special_tokens == (SpecialToken(b"ab", 3, special=False),)


def test_single_byte_stays_an_ordinary_token():
    assert loads(added_tokens=[added("a", 0)]).model.vocabulary.id_of(b"a") == 0


def test_empty_token_leaves_its_id_unused():
    """Whisper's vocabulary has one."""
    tokenizer = loads(model={"vocab": document()["model"]["vocab"] | {"": 5, "c": 6}})
    assert [tokenizer.model.vocabulary.token(number) for number in (5, 6)] == [b"", b"c"]


METASPACE = {"type": "Metaspace", "replacement": "▁"}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def split(pattern, **changes):
    return {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False} | changes


@pytest.mark.parametrize(
    ("pre_tokenizer", "stages"),
    [
        (BYTE_LEVEL, ()),
        (BYTE_LEVEL | {"add_prefix_space": True}, (PrefixSpace(),)),
        (
            {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True},
            (PrefixSpace(), Split(PATTERNS["gpt2"].regex)),
        ),
        (
            {"type": "Sequence", "pretokenizers": [split({"Regex": r"\d"}), split({"String": "."}), BYTE_LEVEL]},
            (Split(r"\d"), Split(".", literal=True)),
        ),
        (
            {"type": "Sequence", "pretokenizers": [split({"Regex": "x"}), BYTE_LEVEL | {"use_regex": True}]},
            (Split("x"), Split(PATTERNS["gpt2"].regex)),
        ),
        (
            {
                "type": "Sequence",
                "pretokenizers": [{"type": "Sequence", "pretokenizers": [split({"Regex": "x"})]}, BYTE_LEVEL],
            },
            (Split("x"),),
        ),
    ],
)
def test_pre_tokenizers(pre_tokenizer, stages):
    assert loads(pre_tokenizer=pre_tokenizer).pre_tokenizer == stages


def test_split_by_a_string_means_its_characters():
    rival = needs("tokenizers")
    for character in map(chr, [*range(1, 128), 0xE9, 0x2028, 0x1F600]):
        sequence = {"type": "Sequence", "pretokenizers": [split({"String": character}), BYTE_LEVEL]}
        (pattern,) = loads(pre_tokenizer=sequence).patterns
        text = f"a{character}{character}b"
        expected = [piece for piece, _ in rival.pre_tokenizers.Split(character, "isolated").pre_tokenize_str(text)]
        theirs = rival.pre_tokenizers.Split(rival.Regex(pattern), "isolated").pre_tokenize_str(text)
        assert [piece for piece, _ in theirs] == expected == ["a", character, character, "b"]


def test_post_processor_is_kept():
    post_processor = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True}
    tokenizer = loads(post_processor=post_processor)
    assert json.loads(tokenizer.post_processor) == post_processor
    assert json.loads(hf_json.dump(tokenizer)[""])["post_processor"] == post_processor


# -- what is refused, and how ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"model": {"merges": ["a b", "Ġ x"]}},
            'tokenizer.json: merge 2 ("Ġ", "x"): the token "x" is not in the vocabulary',
        ),
        (
            {"model": {"merges": ["b a"]}},
            'tokenizer.json: merge 1 ("b", "a"): the token "ba" is not in the vocabulary',
        ),
        (
            {"model": {"merges": ["a b", "a  b"]}},
            'tokenizer.json: model.merges has merge 2, "a  b": that is not two tokens and one space between',
        ),
        (
            {"model": {"merges": ["a b", ["a"]]}},
            'tokenizer.json: model.merges has merge 2 in another form than "a b" or ["a", "b"]',
        ),
        ({"model": {"merges": {}}}, "tokenizer.json: model.merges must be an array, not an object"),
        ({"model": {"merges": None}}, "tokenizer.json: model.merges must be an array, not null"),
        (
            {"model": {"vocab": {"a": 0, "b": 0}}},
            'tokenizer.json: model.vocab gives the id 0 to "a" and to "b"',
        ),
        (
            {"model": {"vocab": {"a": -1}}},
            'tokenizer.json: model.vocab gives "a" the id -1; ids are integers from 0 to 4,294,967,295',
        ),
        ({"model": {"vocab": {"a": 1.0}}}, 'gives "a" the id 1.0; ids are'),
        ({"model": {"vocab": {"a": True}}}, 'gives "a" the id True; ids are'),
        ({"model": {"vocab": {"a": None}}}, 'gives "a" the id NoneType; ids are'),
        ({"model": {"vocab": {"a": 10**30}}}, 'gives "a" the id 1e+30; ids are'),
        ({"model": {"vocab": {"a": 0, "b": 2097152}, "merges": []}}, 'the token "b" has id 2,097,152; ids run to'),
        ({"normalizer": {"type": "Magic"}}, 'tokenizer.json: normalizer: cannot run the normalizer "Magic"'),
        ({"normalizer": {"type": "Strip", "strip_left": 1}}, "normalizer.strip_left must be true or false, not 1"),
        ({"normalizer": {"type": "Prepend"}}, 'normalizer has no "prepend"'),
        ({"decoder": {"type": "Magic"}}, 'tokenizer.json: decoder: cannot run the decoder "Magic"'),
        ({"pre_tokenizer": {"type": "Magic"}}, 'pre_tokenizer: cannot run the pre-tokenizer "Magic"'),
        (
            {"pre_tokenizer": {"type": "Punctuation", "behavior": "Eaten"}},
            'pre_tokenizer.behavior is "Eaten"; it can be Removed, Isolated,',
        ),
        (
            {"pre_tokenizer": {"type": "Metaspace", "replacement": "▁▁"}},
            'pre_tokenizer.replacement must be one character, not "▁▁"',
        ),
        (
            {"pre_tokenizer": METASPACE | {"add_prefix_space": 0, "prepend_scheme": "first"}},
            "pre_tokenizer.add_prefix_space must be true or false, not 0",
        ),
        (
            {"decoder": {"type": "Strip", "content": "ab", "start": 1, "stop": 0}},
            'decoder.content must be one character, not "ab"',
        ),
        ({"model": {"dropout": 0.1}}, "model.dropout is 0.1, and encoding is never random unless it is asked for"),
        ({"model": {"ignore_merges": 1}}, "model.ignore_merges must be true or false, not 1"),
        ({"model": {"cache": 1}}, 'model has a field that this version does not know: "cache"'),
        ({"model": {"type": "Magic"}}, 'tokenizer.json: model.type is "Magic", a model that is not known'),
        ({"model": {"unk_token": "<unk>"}}, 'model.unk_token is "<unk>", which is not in the vocabulary'),
        ({"extra": 1}, 'tokenizer.json has a field that this version does not know: "extra"'),
        ({"version": "2.0"}, 'version must be "1.0"'),
        ({"post_processor": [1]}, "post_processor must be an object, not an array"),
        ({"added_tokens": {}}, "added_tokens must be an array, not an object"),
        ({"added_tokens": [added(token_id=-1)]}, "added_tokens[0].id must be an integer from 0 to"),
        ({"added_tokens": [added(content="")]}, "added_tokens[0].content is empty"),
        ({"added_tokens": [added(content=5)]}, "added_tokens[0].content must be a string, not 5"),
        (
            {"added_tokens": [added(), added("<t>")]},
            'the added tokens "<s>" (id 5) and "<t>" (id 5) contradict each other',
        ),
        ({"added_tokens": [added(), added(token_id=6)]}, "contradict each other"),
        ({"added_tokens": [added(token_id=0)]}, 'the added token "<s>" has id 0, which is "a" in the vocabulary'),
    ],
)
def test_refusals_name_what_and_where(changes, message):
    assert message in refused(**changes)


@pytest.mark.parametrize(
    ("fields", "scheme"),
    [
        ({"add_prefix_space": True}, "always"),
        ({"add_prefix_space": False}, "never"),  # as versions before 0.14 wrote it
        ({"add_prefix_space": True, "prepend_scheme": "first"}, "first"),  # as 0.14 and 0.15 wrote it
        ({"add_prefix_space": True, "prepend_scheme": "never"}, "never"),
        ({"add_prefix_space": False, "prepend_scheme": "never"}, "never"),
    ],
)
def test_metaspace_of_older_versions_is_read(fields, scheme):
    read = hf_json.loads(json.dumps(document(pre_tokenizer=METASPACE | fields)).encode())
    assert read.pre_tokenizer[0] == Metaspace(prepend_scheme=scheme)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ({"Regex": "("}, "does not compile"),
        ({"Regex": "(" * 5000 + ")" * 5000}, "does not compile: it is too large or too deep"),
        ({"Regex": "a$"}, "has $ in the pattern, which is the end of the text"),
        ({"Regex": "(?m)a"}, "has (?m in the pattern"),
        ({"Regex": r"\p{N}{1,3}+"}, "has }+ in the pattern, which is possessive"),
        ({"Regex": r"a{3}?"}, "has {3}? in the pattern"),
        ({"Regex": r"[\h]"}, r"has \h in a character class"),
        ({"Regex": r"[a&&[b]]"}, "has && in a character class"),
        ({"Regex": PATTERNS["cl100k"].regex}, "has }+ in the pattern"),
        ({"String": ""}, "pattern.String is empty"),
        ({"String": "a", "Regex": "a"}, 'is to have one of "String" and "Regex"'),
        ({}, 'is to have one of "String" and "Regex"'),
        ("a", "pattern must be an object"),
    ],
)
def test_patterns_that_would_be_read_differently_are_refused(pattern, message):
    sequence = {"type": "Sequence", "pretokenizers": [split(pattern), BYTE_LEVEL]}
    assert message in refused(pre_tokenizer=sequence)


@pytest.mark.parametrize("pattern", [r"\p{L}+|\p{N}{1,3}", r"[\p{Alphabetic}]+", r"[^$^]+", r"\^\$", r"a{2,3}?"])
def test_patterns_that_both_read_alike_pass(pattern):
    sequence = {"type": "Sequence", "pretokenizers": [split({"Regex": pattern}), BYTE_LEVEL]}
    assert loads(pre_tokenizer=sequence).patterns == (pattern,)


@pytest.mark.parametrize("changes", [{"invert": 1}, {"behavior": None}, {"more": 1}])
def test_other_splits_are_refused(changes):
    assert refused(pre_tokenizer={"type": "Sequence", "pretokenizers": [split({"Regex": "x"}, **changes), BYTE_LEVEL]})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not valid JSON: Input is a zero-length, empty document (f:1:1)"),
        (b'{"a":\n 1', "not valid JSON: unexpected end of data (f:2:3)"),
        (b"[" * 5000, "not valid JSON: depth limit exceeded (f:1:1026)"),
        (b'{"version": "\xff"}', "not valid JSON"),
        (b'{"version": "\\ud800"}', "not valid JSON: no low surrogate in string"),
        (b"\xef\xbb\xbf{}", "not valid JSON: UTF-8 byte order mark"),
        (b"[]", "f must be an object, not an array"),
        (b"{}", "f: model must be an object, not null"),
        (b'{"model": {}}', "f: model.vocab must be an object, not null"),
        (b'{"model": 3}', "f: model must be an object, not 3"),
    ],
)
def test_broken_json_is_refused_with_its_place(data, message):
    with pytest.raises(FormatError) as caught:
        hf_json.loads(data, "f")
    assert message in caught.value.message


def test_deep_post_processor_is_refused():
    nested = '{"type":"x","a":' + "[" * 500 + "]" * 500 + "}"
    text = json.dumps(document()).replace('"post_processor": null', f'"post_processor": {nested}')
    with pytest.raises(FormatError, match="nested too deep"):
        hf_json.loads(text.encode())


def test_a_pattern_cannot_be_given(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document()))
    with pytest.raises(UsageError, match="says itself how text is split"):
        formats.load(path, "gpt2")


# -- real files --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("llama2", 'model.merges has merge 18918, "   ": that is not two tokens and one space between'),
        ("added-tokens-test", "model.merges must be an array, not an object"),
    ],
)
def test_what_hugging_face_refuses_is_refused(shared, name, message):
    with pytest.raises(FormatError) as caught:
        formats.load(shared / "vocabs" / name / "tokenizer.json")
    assert message in caught.value.message


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hf-llama3", "whisper-tiny"])
def test_ids_equal_the_recorded_ones(shared, name):
    suite = json.loads((shared / "expected" / "suite.json").read_text())
    texts = {case["id"]: case["text"] for case in suite["cases"]} if "cases" in suite else suite
    recorded = json.loads((shared / "expected" / "hf-tokenizers" / f"{name}.json").read_text())["cases"]
    tokenizer = formats.load(shared / "vocabs" / name)
    compared = 0
    for case, expected in recorded.items():
        if isinstance(texts.get(case), str):
            assert tokenizer.encode(texts[case], specials="all") == expected["ids"], case
            compared += 1
    assert compared > 200


@pytest.mark.parametrize(
    ("field", "members", "kind"),
    [
        ("normalizer", "normalizers", "NFC"),
        ("pre_tokenizer", "pretokenizers", "Digits"),
        ("decoder", "decoders", "Fuse"),
    ],
)
def test_components_are_counted(field, members, kind):
    def written(count):
        inner = {"type": "Sequence", members: [{"type": kind}] * (count - 2)}
        model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
        return json.dumps({"version": "1.0", field: {"type": "Sequence", members: [inner]}, "model": model}).encode()

    assert len(getattr(hf_json.loads(written(1000)), field)) == 998
    with pytest.raises(FormatError, match=rf"{field} has more than 1,000 components"):
        hf_json.loads(written(1001))
