"""Parallel texts: every layout, and every way in which files do not pair."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.corpus.parallel_texts import parse_parallel, read_parallel
from bpe_cli.errors import InputError, UsageError
from tests.counted import at_least, compared


def read(*paths, stdin=b""):
    return read_parallel([str(path) for path in paths], io.BytesIO(stdin))


def test_json_lines():
    data = b'{"id": "a1", "en": "Tea.", "de": "Tee.", "n": 3}\n\n{"de": "Brot.", "en": "Bread.", "id": 2}\n'
    assert parse_parallel(data, "x") == {"en": [b"Tea.", b"Bread."], "de": [b"Tee.", b"Brot."]}


def test_columns_between_tabs():
    assert parse_parallel(b"\xef\xbb\xbfid\ten\tde\r\n1\tTea.\tTee.\r\n2\t\xff\t\r\n", "x") == {
        "en": [b"Tea.", b"\xff"],
        "de": [b"Tee.", b""],
    }


def test_a_file_for_each_language(tmp_path):
    (tmp_path / "english.txt").write_bytes(b"Tea.\nBread.\n")
    (tmp_path / "german=.txt").write_bytes(b"Tee.\nBrot.")
    found = read(f"en={tmp_path}/english.txt", f"zh-Hans={tmp_path}/german=.txt")
    assert found == {"en": [b"Tea.", b"Bread."], "zh-Hans": [b"Tee.", b"Brot."]}
    assert read("-", stdin=b"en\tde\na\tb\n") == {"en": [b"a"], "de": [b"b"]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "x is empty"),
        (b"en\tde\n", "x has no lines of text"),
        (b'{"id": 1}\n', "x has no lines of text"),
        (b"english only\nline\n", "x:1 does not name the languages"),
        (b"en\ten\na\tb\n", "x:1 does not name the languages"),
        (b"en\tde\na\tb\na\tb\tc\n", "x:3 has 3 values for 2 languages"),
        (b'{"en": "a", "de": "b"}\n{"en": "a"}\n', "x:2 does not have the languages of the first line: de"),
        (b'{"en": "a"}\n{"en": null}\n', "x:2: the value of en is not text"),
        (b'{"en": 1}\n', "x:1: the value of en is not text"),
        (b'{"en": "a", "en": "b"}\n', "x:1 has the key en twice"),
        (
            b"a" * 30_000 + b"\tde\n",
            "x:1: 'aaaaaaaaaaaaaaaaaaaa'... is not a name of a language: it has 30,000 ",
        ),
        (b"\t".join(b"%d" % number for number in range(3000)) + b"\n", "x:1 has 3,000 languages, more than 2,000"),
        (b'{"%s": "a"}\n' % (b"k" * 99), "x:1: 'kkkkkkkkkkkkkkkkkkkk'... is not a name of a language: it has 99"),
        (b'{"en": ' + b"[" * 1000 + b"]" * 1000 + b"}", "x:1"),
        (b'{"en": "a"}\n{"en": "a"\n', "x:2 is not JSON: "),
        (b'{"en": "a"}\n[1]\n', "x:2 is not a JSON object"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(data, message):
    with pytest.raises(InputError) as error:
        parse_parallel(data, "x")
    assert error.value.message.startswith(message)
    assert error.value.hint


def test_files_that_do_not_pair(tmp_path):
    (tmp_path / "en").write_bytes(b"1\n2\n3\n")
    (tmp_path / "de").write_bytes(b"1\n")
    (tmp_path / "none").write_bytes(b"")
    with pytest.raises(InputError, match=r"de has 1 lines and .*en has 3: line 2 of en has no counterpart in de"):
        read(f"en={tmp_path}/en", f"de={tmp_path}/de")
    with pytest.raises(InputError, match="none has no lines"):
        read(f"en={tmp_path}/none")
    with pytest.raises(UsageError, match="the language en is given twice"):
        read(f"en={tmp_path}/en", f"en={tmp_path}/de")
    with pytest.raises(UsageError, match="parallel texts are one file, or LANGUAGE=FILE"):
        read(f"en={tmp_path}/en", tmp_path / "de")
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "missing")


LINES = st.lists(
    st.sampled_from([b"en\tde\n", b"a\tb\n", b"\xff\t\r\n", b'{"en": "a", "de": "b"}\n', b'{"de": 1}\n', b"\n"]),
    max_size=4,
)


@at_least(1)
@given(st.binary(max_size=60) | LINES.map(b"".join))
def test_any_bytes_are_read_or_refused(data):
    try:
        found = parse_parallel(data, "x")
    except InputError:
        return
    assert len({len(lines) for lines in found.values()}) == 1
    compared()
