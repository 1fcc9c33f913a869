"""The targets of ``make fuzz-python`` on their seeds, and on what searches kept, without what searches."""

from __future__ import annotations

import pytest

from bpe_cli.errors import BpeError
from tests.proof.attempts import Found
from tests.proof.fuzzing import __main__ as fuzzing
from tests.proof.fuzzing import seeds, targets
from tests.proof.fuzzing.reached import lines_reached, smallest
from tests.proof.fuzzing.seeds import CORPORA, FINDS, corpus_of, finds_of, seeds_of
from tests.proof.fuzzing.targets import TARGETS, refusing


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_fine(name, monkeypatch):
    ends = []
    use = targets.use
    monkeypatch.setattr(targets, "use", lambda *given: ends.append(use(*given)) or ends[-1])
    assert seeds_of(name)
    for data in seeds_of(name):
        TARGETS[name](data)
    loaded = {each.end for each in ends} & {"loaded", "loaded and written back"}
    assert loaded or name not in targets.FORMATS, "no seed of this format loads"


@pytest.mark.parametrize("name", TARGETS)
def test_what_searches_kept_is_fine(name):
    kept = corpus_of(name)
    assert kept
    for data in kept:
        TARGETS[name](data)
    assert len(set(kept)) == len(kept)


def test_every_corpus_has_a_target():
    assert {path.stem for path in CORPORA.glob("*.txt")} == TARGETS.keys()
    found = [path.stem for path in FINDS.glob("*.txt")]
    assert found
    for name in found:
        assert set() < {*finds_of(name)} <= {*corpus_of(name)}


def test_what_was_found_stays_when_a_corpus_is_made_small(tmp_path, monkeypatch):
    (tmp_path / "finds").mkdir()
    (tmp_path / "finds" / "ids.txt").write_text(f"{b'find'.hex()}\n{b'a longer find'.hex()}\n")
    (tmp_path / "ids.txt").write_text(f"{b'a longer input'.hex()}\n")
    for module in (fuzzing, seeds):
        monkeypatch.setattr(module, "CORPORA", tmp_path)
    monkeypatch.setattr(seeds, "FINDS", tmp_path / "finds")
    assert corpus_of("ids") == (b"a longer input", b"find", b"a longer find")
    fuzzing.keep("ids", tmp_path / "build")
    assert finds_of("ids") == (b"find", b"a longer find")
    assert corpus_of("ids")[-2:] == finds_of("ids")
    assert not {*finds_of("ids")} & {*seeds.inputs_in(tmp_path / "ids.txt")}


def test_a_message_is_an_answer_and_none_is_found():
    def refuse(data):
        raise BpeError(data.decode())

    refusing(refuse)(b"no")
    with pytest.raises(Found, match="without a message"):
        refusing(refuse)(b"")
    with pytest.raises(Found, match="another law"):
        refusing(lambda _: (_ for _ in ()).throw(Found("another law")))(b"")


def test_a_small_corpus_reaches_what_a_large_one_does():
    inputs = [*seeds_of("npy"), b"", b"\x93NUMPY", b"\x93NUMPY" + bytes(20), b"x" * 50, b"y" * 60]
    kept, reached = smallest(TARGETS["npy"], inputs)
    assert set(kept) < set(inputs)
    assert reached == frozenset().union(*(lines_reached(TARGETS["npy"], data) for data in inputs))
    assert any(path.endswith("bpe_cli/sinks/numbers.py") for path, _ in reached)
