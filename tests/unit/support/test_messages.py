"""Errors of several attempts: all of them are named, at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from bpe_cli.errors import BpeError, InputError, UsageError
from bpe_cli.formats import find_tokenizer
from bpe_cli.support.messages import Failures, cannot_read, every, listed, show_path
from bpe_cli.views.visible import harmless


def positive(number: int) -> int:
    if number < 0:
        raise UsageError(f"{number} is negative", hint=f"did you mean {-number}?")
    if number == 0:
        raise InputError("0 is nothing")
    return number


def caught(numbers):
    with pytest.raises(BpeError) as raised:
        every(positive, numbers)
    return type(raised.value), raised.value.message, raised.value.hint


def test_results_come_in_order():
    assert every(positive, [3, 1, 2]) == [3, 1, 2]
    assert every(positive, []) == []
    failures = Failures()
    assert failures.of(positive, [3, -1, 2, 0]) == [3, 2]
    assert failures.of(positive, [5]) == [5]
    with pytest.raises(UsageError, match="-1 is negative; 0 is nothing"):
        failures.check()
    Failures().check()


def test_one_error_is_itself():
    assert caught([1, -2]) == (UsageError, "-2 is negative", "did you mean 2?")
    assert caught([1, 0]) == (InputError, "0 is nothing", None)


def test_several_are_one_that_names_them():
    assert caught([0, -2, 1]) == (InputError, "0 is nothing; -2 is negative", "did you mean 2?")
    message = "-2 is negative; -3 is negative"
    assert caught([-2, -3]) == (UsageError, message, "-2: did you mean 2?; -3: did you mean 3?")
    assert caught([0, 0]) == (InputError, "0 is nothing", None)


def test_many_are_named_in_part():
    kind, message, hint = caught(range(-100, 0))
    assert (kind, message.count("negative"), message[-13:]) == (UsageError, 10, "; and 90 more")
    assert hint == "-100: did you mean 100?; -99: did you mean 99?; -98: did you mean 98?; and 97 more"


def test_ten_are_named_and_the_others_counted():
    names = [chr(ord("a") + number) for number in range(12)]
    assert listed(names[:10], separator="") == "abcdefghij"
    assert listed(names[:11]) == "a; b; c; d; e; f; g; h; i; j; and 1 more"
    assert listed(names, separator=", ") == "a, b, c, d, e, f, g, h, i, j, and 2 more"


# -- paths -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("odd/\udcff\udcfe.txt", r"odd/\xff\xfe.txt"),
        ("é\udc80", r"é\x80"),
        ("tab\t\udcff", r"'tab\t\xff'"),
        ("a\\\udcff", r"a\\xff"),
        ("", "''"),
        ("it's\n", ascii("it's\n")),
    ],
)
def test_paths_that_cannot_be_printed(path, shown):
    assert show_path(path) == shown


def test_a_byte_that_is_not_utf_8_is_shown_as_in_reports():
    for byte in range(0x80, 0x100):
        path = f"na{bytes([byte]).decode('utf-8', 'surrogateescape')}me.txt"
        assert show_path(path) == harmless(path) == rf"na\x{byte:02x}me.txt"


@pytest.mark.parametrize("path", ["~/x.json", "~me/x.json", Path("~/x.json")])
def test_a_home_folder_that_no_shell_has_put_there(path):
    found = cannot_read(path, FileNotFoundError(), "another hint")
    assert (found.message, str(found.hint)[:22]) == (f"cannot read {path}: no such file", "~ is not replaced here")


@pytest.mark.parametrize("path", ["a~", "./~/x", "x"])
def test_other_missing_files_keep_their_hint(path):
    assert cannot_read(path, FileNotFoundError(), "another hint").hint == "another hint"


def test_tokenizers_are_looked_for_with_the_same_hint():
    with pytest.raises(InputError, match=r"cannot read ~/x\.json: no such file") as raised:
        find_tokenizer("~/x.json")
    assert str(raised.value.hint).startswith("~ is not replaced here")
