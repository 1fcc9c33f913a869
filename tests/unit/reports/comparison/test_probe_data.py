"""The same objects in several formats: counted by hand, and laid out as the json module does it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import InputError
from bpe_cli.reports.comparison.probe_data import LAYOUTS, Pair, lay_out, pairs_of, probe_data
from bpe_cli.support.samples import samples
from tests.unit.reports.comparison.tiny import tiny
from tests.unit.reports.published import published

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def test_by_hand():
    probe = probe_data([tiny()], [Pair("a", b'{"k": [1, 2]}', b"k: [1, 2]\n")], source="here")
    (result,) = probe.results  # every byte is a token
    assert (probe.source, probe.names) == ("here", ("a",))
    compact, two = '{"k":[1,2]}', '{\n  "k": [\n    1,\n    2\n  ]\n}'
    four, tabs = two.replace("  ", "    "), two.replace("  ", "\t")
    assert result.sums == probe.byte_counts == (13, len(compact), len(two), len(four), len(tabs), 10)
    assert result.counts == (result.sums,)
    assert (result.yaml_per_json, result.yaml_per_compact) == (10 / 13, 10 / 11)
    assert (probe.yaml_per_json, probe.yaml_per_compact) == (10 / 13, 10 / 11)
    assert result.lossless


def test_sums_are_of_all_objects():
    pairs = pairs_of(samples("pairs"))
    probe = probe_data([tiny()], pairs)
    (result,) = probe.results
    assert probe.names == ("api_schema", "bill_of_materials", "ci_pipeline", "menu", "recipe", "service_config",
                           "users", "weather_readings")  # fmt: skip
    assert result.sums == tuple(sum(column) for column in zip(*result.counts, strict=True)) == probe.byte_counts
    assert result.sums[LAYOUTS.index("yaml")] == sum(len(pair.yaml) for pair in pairs)


@given(VALUES, st.sampled_from([None, 2, 4, "\t"]))
def test_layouts_are_those_of_the_json_module(value, indent):
    expected = json.dumps(value, ensure_ascii=False, indent=indent, separators=(",", ":") if indent is None else None)
    spaces = indent if isinstance(indent, str) or indent is None else " " * indent
    assert lay_out(json.dumps(value, ensure_ascii=False), spaces) == expected
    assert lay_out(json.dumps(value, ensure_ascii=False, indent=3), spaces) == expected


def test_numbers_and_strings_stay_as_they_were_spelt():
    text = '{"a":1.10,"b":"\\u00e9 , {\\"","c":-1E+5,"d":"\u2028"}'
    assert lay_out(lay_out(text, "\t"), None) == text


def test_what_is_lost_costs_nothing_and_is_told(shared):
    bert = published(shared / "vocabs" / "bert-base-uncased").tokenizer
    (result,) = probe_data([bert], [Pair("a", b'{"k": 1}', b"k: 1\n")]).results
    assert not result.lossless
    assert len(set(result.sums[:-1])) == 1


def test_pairs_by_name():
    files = {
        "a.JSON": b"1",
        "a.yaml": b"2",
        "b.json": b"3",
        "b.yml": b"4",
        "b.yaml": b"5",
        "c.json": b"6",
        "d.yaml": b"7",
    }
    assert pairs_of(files) == [Pair("a", b"1", b"2"), Pair("b", b"3", b"5")]


@pytest.mark.parametrize("json_text", [b"{", b"\xff", b"", b"[" * 100_000])
def test_what_is_no_json_is_refused(json_text):
    with pytest.raises(InputError, match=r"a\.json is not (JSON|UTF-8)"):
        probe_data([tiny()], [Pair("a", json_text, b"")])


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"x.json": b"{", "x.yml": b"a"}, "pr2/x.json is not JSON: Expecting property name"),
        ({"x.json": b"[NaN]", "x.yml": b"a"}, "pr2/x.json is not JSON: NaN is no value"),
        ({"x.json": b'"\xff"', "x.yml": b"a"}, "pr2/x.json is not UTF-8 from byte 1 on"),
        ({"x.json": b"1", "x.yml": b"a: \xff"}, "pr2/x.yml is not UTF-8 from byte 3 on"),
        ({"x.json": b"[" * 10**5, "x.yaml": b"a"}, "pr2/x.json is not JSON: "),
    ],
)
def test_messages_name_the_file_in_its_folder(files, message):
    with pytest.raises(InputError) as error:
        pairs_of(files, "pr2")
    assert error.value.message.startswith(message)


def test_long_numbers_are_json():
    assert pairs_of({"x.json": b"9" * 5000, "x.yaml": b"a", "y.json": b"not paired"})
