"""The public names: few, all there, and cheap to have."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys

import pytest

import bpe_cli
from tests.counted import at_least, compared


def test_names_are_few_and_sorted():
    assert len(bpe_cli.__all__) <= 32
    assert dir(bpe_cli) == sorted([*bpe_cli.__all__, "__version__"])
    assert {*dir(bpe_cli)} == {*bpe_cli._HOMES}


@pytest.mark.parametrize("name", dir(bpe_cli))
def test_name_is_there(name):
    assert getattr(bpe_cli, name) is not None


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'tokenise'"):
        bpe_cli.tokenise  # noqa: B018


def test_import_loads_nothing_else():
    script = "import sys; before = {*sys.modules}; import bpe_cli; print(*sorted({*sys.modules} - before))"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not {name for name in loaded if name.startswith("bpe_cli.")}
    assert not loaded & {"typing_extensions", "importlib.metadata", "regex", "rich", "typer", "tqdm", "orjson"}


def examples():
    """Yield the examples of public names and of their methods, as help() and docs/reference/api.md show them."""
    for name in bpe_cli.__all__:
        value = getattr(bpe_cli, name)
        members = vars(value) if isinstance(value, type) else {}
        shown = {name: value} | {f"{name}.{member}": found for member, found in members.items() if member[0] != "_"}
        for member, found in shown.items():
            text = inspect.getdoc(found) or ""
            if ">>>" in text:
                yield doctest.DocTestParser().get_doctest(text, {}, member, None, None)


@at_least(20)
def test_examples_run_as_they_are_shown(tmp_path, monkeypatch):
    """In a module of its own an example needs no import, where it is shown it does."""
    monkeypatch.chdir(tmp_path)
    for example in examples():
        said = []
        doctest.DocTestRunner().run(example, out=said.append)
        assert not said, f"{example.name}: {''.join(said)}"
        compared()
