"""The built-in texts are those of corpora/."""

from __future__ import annotations

from bpe_cli.support.samples import PLACE, pack, samples


def test_they_are_up_to_date(corpora):
    assert PLACE.read_bytes().decode() == pack(corpora), "run make docs"


def test_they_are_the_files_byte_for_byte(corpora):
    for folder in ("code", "pairs"):
        found = {path.name: path.read_bytes() for path in (corpora / folder).iterdir()}
        assert samples(folder) == found
    assert samples("languages") == {"parallel.jsonl": (corpora / "languages" / "parallel.jsonl").read_bytes()}
