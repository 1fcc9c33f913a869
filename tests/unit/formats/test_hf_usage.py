"""truncation and padding in tokenizer.json: kept as Hugging Face's library writes them, and applied to nothing."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import bpe_cli
from bpe_cli.errors import FormatError
from bpe_cli.formats.huggingface import own_json
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.tokenizer.usage import Padding, Truncation, Usage
from tests.needs import needs

TRUNCATION = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 2}
PADDING = {
    "strategy": {"Fixed": 7},
    "direction": "Left",
    "pad_to_multiple_of": 8,
    "pad_id": 3,
    "pad_type_id": 1,
    "pad_token": "<pad>",
}


def with_fields(make, **fields):
    """Return a small document with other fields at its top."""
    return json.dumps(json.loads(hf_json.dump(make())[""]) | fields).encode()


def test_worked_example(make):
    usage = hf_json.loads(with_fields(make, truncation=TRUNCATION, padding=PADDING)).usage
    assert usage == Usage(
        Truncation(max_length=5, stride=2, strategy="longest_first", direction="right"),
        Padding(length=7, direction="left", pad_to_multiple_of=8, pad_id=3, pad_type_id=1, pad_token="<pad>"),
    )


@pytest.mark.parametrize(
    ("strategy", "direction", "length", "multiple"),
    list(itertools.product(["longest_first", "only_first", "only_second"], ["left", "right"], [None, 0, 9], [None, 8])),
)
def test_bytes_are_those_of_the_library(make, strategy, direction, length, multiple):
    rival = needs("tokenizers")
    theirs = rival.Tokenizer.from_str(hf_json.dump(make())[""].decode())
    theirs.enable_truncation(17, stride=3, strategy=strategy, direction=direction)
    theirs.enable_padding(
        direction=direction, pad_id=4, pad_type_id=2, pad_token="«pad»", length=length, pad_to_multiple_of=multiple
    )
    tokenizer = hf_json.loads(theirs.to_str().encode())
    assert tokenizer.usage == Usage(
        Truncation(17, 3, strategy, direction), Padding(length, direction, multiple, 4, 2, "«pad»")
    )
    assert hf_json.dump(tokenizer)[""].decode() == theirs.to_str(pretty=True)
    assert replace(tokenizer, usage=Usage()) == make()


@pytest.mark.parametrize(
    ("length", "multiple", "direction"), [(None, None, "left"), (9, 0, "right"), (None, 4, "left")]
)
def test_the_page_says_how_both_are_applied(make, length, multiple, direction, tmp_path, monkeypatch):
    """What it called did not exist."""
    theirs = needs("tokenizers").Tokenizer.from_str(hf_json.dump(make())[""].decode())
    theirs.enable_truncation(4, stride=1, direction=direction)
    theirs.enable_padding(direction=direction, pad_id=4, pad_type_id=2, length=length, pad_to_multiple_of=multiple)
    (tmp_path / "tokenizer.json").write_text(theirs.to_str())
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[3] / "docs" / "reference" / "formats" / "huggingface.md").read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?model_inputs.*?)^```", page, re.DOTALL | re.MULTILINE)
    names = {"bpe_cli": bpe_cli, "texts": ["hello hello! hello", "hell", ""]}
    exec(code, names)  # our own page
    for ours, other in zip(names["batch"], theirs.encode_batch(names["texts"]), strict=True):
        for one, their in zip((ours, *ours.overflowing), (other, *other.overflowing), strict=True):
            assert (list(one.ids), list(one.type_ids)) == (their.ids, their.type_ids)
            assert (list(one.attention_mask), list(one.word_ids)) == (their.attention_mask, their.word_ids)


def test_nothing_is_cut_or_filled_unasked(make):
    tokenizer = hf_json.loads(
        with_fields(make, truncation=TRUNCATION | {"max_length": 1, "stride": 0}, padding=PADDING)
    )
    assert tokenizer.encode("hello world") == make().encode("hello world")


@pytest.mark.parametrize("length", [0, 2**53 + 1, 2**64 - 1])
def test_any_number_of_the_library_s_is_kept(make, length):
    data = with_fields(make, truncation=TRUNCATION | {"max_length": length})
    tokenizer = hf_json.loads(data)
    assert tokenizer.usage.truncation.max_length == length
    assert json.loads(hf_json.dump(tokenizer)[""])["truncation"]["max_length"] == length


def test_older_files_have_no_direction(make):
    truncation = {key: value for key, value in TRUNCATION.items() if key != "direction"}
    assert hf_json.loads(with_fields(make, truncation=truncation)).usage.truncation.direction == "right"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"truncation": []}, "truncation must be an object, not an array"),
        ({"truncation": TRUNCATION | {"more": 1}}, 'truncation has a field that this version does not know: "more"'),
        ({"truncation": TRUNCATION | {"max_length": -1}}, "truncation.max_length must be an integer from 0"),
        ({"truncation": TRUNCATION | {"max_length": 2**64}}, "truncation.max_length must be an integer from 0"),
        ({"truncation": TRUNCATION | {"max_length": True}}, "truncation.max_length must be an integer from 0"),
        ({"truncation": TRUNCATION | {"stride": None}}, "truncation.stride must be an integer from 0"),
        (
            {"truncation": TRUNCATION | {"strategy": "Longest"}},
            'truncation.strategy is "Longest"; it can be LongestFirst, OnlyFirst, OnlySecond',
        ),
        ({"truncation": TRUNCATION | {"direction": "right"}}, 'direction is "right"; it can be Left, Right'),
        ({"padding": PADDING | {"strategy": "Fixed"}}, 'padding.strategy must be "BatchLongest" or {"Fixed": length}'),
        ({"padding": PADDING | {"strategy": {"Fixed": "7"}}}, "padding.strategy.Fixed must be an integer"),
        ({"padding": PADDING | {"strategy": {"Fixed": 7, "More": 1}}}, 'does not know: "More"'),
        ({"padding": PADDING | {"direction": None}}, "padding.direction must be a string, not null"),
        ({"padding": PADDING | {"pad_id": 2**32}}, "padding.pad_id must be an integer from 0 to 4,294,967,295"),
        ({"padding": PADDING | {"pad_token": 0}}, "padding.pad_token must be a string, not 0"),
        ({"usage": {"roles": {"king": 1}}}, 'usage.roles has "king", which is not a role'),
        ({"usage": {"roles": {"bos": -1}}}, "usage.roles.bos must be an integer"),
        ({"usage": {"chat_templates": {"default": "x"}}}, "usage.chat_templates must be an array, not an object"),
        (
            {"usage": {"chat_templates": [{"name": "a", "template": ""}, {"name": "a", "template": ""}]}},
            'usage.chat_templates[1] is the second template called "a"',
        ),
        ({"usage": {"templates": []}}, 'usage has a field that this version does not know: "templates"'),
    ],
)
def test_what_is_wrong_is_named(make, fields, message):
    with pytest.raises(FormatError) as caught:
        hf_json.loads(with_fields(make, **fields))
    assert message in caught.value.message


# -- bpe.json ----------------------------------------------------------------------------------

ROLES = Usage(roles=(("bos", 0), ("fim_pre", 3)), chat_templates=(("default", "{{ x }}\n"), ("rag", "é")))


def test_own_file_holds_roles_and_chat_templates(make):
    tokenizer = make(specials_first=["<s>"], usage=ROLES)
    written = own_json.dump(tokenizer)[""]
    assert json.loads(written)["usage"] == {
        "roles": {"bos": 0, "fim_pre": 3},
        "chat_templates": [{"name": "default", "template": "{{ x }}\n"}, {"name": "rag", "template": "é"}],
    }
    assert hf_json.loads(written) == tokenizer
    rival = needs("tokenizers")
    with pytest.raises(Exception, match="expected"):
        rival.Tokenizer.from_str(written.decode())


def test_own_file_has_the_same_bytes_where_there_is_nothing_of_our_own(make):
    assert own_json.dump(make()) == hf_json.dump(make())
    assert hf_json.dump(make(usage=ROLES)) == hf_json.dump(make()), "the single file has no place for them"
