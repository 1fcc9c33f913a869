"""``bpe compare --ids``: two copies of a tokenizer, and other libraries, id for id."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.errors import UsageError
from bpe_cli.jobs.compare_ids import IdsOptions, compare_ids_of, differences_besides
from bpe_cli.jobs.libraries import LibraryReader
from bpe_cli.reports.comparison.ids import Difference, IdsReport, compare_ids
from bpe_cli.stages import NFC, Lowercase, Split
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.texts import shortened
from bpe_cli.views.comparison.ids import ids_json as ids_json_of
from bpe_cli.views.comparison.ids import ids_view
from tests.cli_runner import call, error
from tests.counted import at_least, compared
from tests.every_format import trained
from tests.needs import needs
from tests.thorough import more

GPT2 = bpe_cli.load("gpt2")


def ids_json(*words, cwd, status=0):
    done = call("compare", *words, "--ids", "--json", cwd=cwd)
    assert done.status == status, done.err
    return json.loads(done.out)


def small(tmp_path, name="a.json", **changes):
    """Write a small tokenizer, changed."""
    tokenizer = bpe_cli.train(["low lower lowest newest widest " * 3], vocab_size=270)
    replace(tokenizer, **changes).save(tmp_path / name)
    return replace(tokenizer, **changes)


def test_copies_are_the_same(tmp_path):
    small(tmp_path)
    assert call("convert", "a.json", "-o", "a.gguf", "-q", "--allow-loss", "pattern", cwd=tmp_path).status == 0
    (tmp_path / "in.txt").write_text("lower and lower, 你好\n")
    found = ids_json("a.json", "a.json", "in.txt", cwd=tmp_path)
    assert (found["same"], found["besides"], found["first"]) == (True, [], None)
    assert found["texts"][0] == {"name": "the inputs", "count": 1, "different": 0, "left_out": 0}
    assert {each["name"] for each in found["texts"]} >= {"tricky texts", "the whole vocabulary"}
    shown = call("compare", "-t", "a.json", "-t", "a.json", "--ids", "in.txt", cwd=tmp_path).text
    assert shown.startswith("a.json and a.json give the same ids for ")
    assert shown.splitlines()[0].endswith("texts, and nothing else differs")


@pytest.mark.parametrize(
    ("changes", "stage"),
    [
        ({"normalizer": (Lowercase(),)}, "the normalizer"),
        ({"pre_tokenizer": (Split(".", behavior="Isolated"),)}, "the pre-tokenizer"),
        ({"model": trained("bbpe").model}, "the model"),
    ],
)
def test_the_stage_that_differs_is_named(tmp_path, changes, stage):
    small(tmp_path)
    other = replace(bpe_cli.load(str(tmp_path / "a.json")), **changes)
    found = compare_ids_of([str(tmp_path / "a.json"), other])
    assert (found.same, found.first.stage) == (False, stage)


def test_a_difference_fails_and_is_cut_short(tmp_path):
    small(tmp_path)
    small(tmp_path, "b.json", normalizer=(NFC(),))
    (tmp_path / "in.txt").write_text("lower " * 50 + "e\u0301 " + "newest " * 50)
    done = call("compare", "a.json", "b.json", "--ids", "in.txt", cwd=tmp_path)
    assert done.status == 1
    assert done.err.startswith("error: a.json and b.json give different ids for ")
    found = ids_json("a.json", "b.json", "in.txt", cwd=tmp_path, status=1)["first"]
    assert (found["where"], found["text"], found["stage"], found["made"]) == (
        "in.txt", "e\u0301", "the normalizer", [[], ["\xe9"]],
    )  # fmt: skip
    assert [len(ids) for ids in found["ids"]] == [3, 2]
    assert "the first stage that differs: the normalizer, which makes of it" in done.text


def test_tokens_that_are_not_utf8(tmp_path):
    two = ("-T", "東", "-t", "gpt2", "-t", "cl100k_base")
    found = ids_json(*two, cwd=tmp_path, status=1)["first"]
    assert found["tokens"] == [[{"bytes": "e69d"}, {"bytes": "b1"}]] * 2
    shown = call("compare", "--ids", *two, cwd=tmp_path).text
    assert shown.count("\n  \\xe6\\x9d|\\xb1\n") == 2


def test_parts_are_told_from_bars_in_them():
    made = ((b"a|b\\", b"\xe6"), (b"x" * 200,))
    report = IdsReport(("a", "b"), (), Difference("x", b"y", ((1,), (2,)), ((b"|",), (b"z",)), "a stage", made), None)
    lines = [str(each) for each in ids_view(report).neutral()]
    assert lines[-2:] == [r"  a: a\|b\\|\xe6", f"  b: {'x' * 160}…"]
    assert r"  \|" in lines
    assert json.loads(json.dumps(ids_json_of(report)))["first"]["made"] == [["a|b\\", {"bytes": "e6"}], ["x" * 200]]


def test_a_library_names_tokens():
    names = {0: b"\xe6", 1: "low", 2: None}
    reader = LibraryReader("library", lambda text: [len(text)], names.get)
    assert [reader.token(each) for each in names] == [b"\xe6", b"low", b"no token 2"]


def test_other_numbers_of_the_same_tokens(tmp_path):
    one = small(tmp_path)
    ranks = [one.token_bytes(token_id) for token_id in range(270)]
    ranks[0], ranks[1] = ranks[1], ranks[0]
    from bpe_cli.stages.vocabulary import Vocabulary

    other = replace(one, model=replace(one.model, vocabulary=Vocabulary.from_tokens(ranks)))
    found = compare_ids_of([one, other])
    assert not found.same
    assert "2 ids with other tokens" in " ".join(found.besides)


def test_what_differs_besides_ids(tmp_path):
    usage = replace(GPT2.usage, chat_templates=(("default", "{{ messages }}"),))
    (sentence,) = differences_besides(GPT2, replace(GPT2, usage=usage))
    assert sentence == "chat templates: only the second has any"
    one = small(tmp_path)
    extra = one.with_special_tokens([bpe_cli.SpecialToken(b"<x>", 270)])
    found = compare_ids_of([one, extra])
    assert found.besides[0] == '1 token that only the second has, the first "<x>" (270)'
    flags = [replace(each, special=False) for each in GPT2.special_tokens]
    besides = list(differences_besides(GPT2, replace(GPT2, special_tokens=tuple(flags))))
    assert any(each.startswith("how 1 special token are found") or "special token" in each for each in besides)


@at_least(3)
@given(text=st.text(st.sampled_from("ab!é"), max_size=40))
def test_what_is_cut_short_still_differs(text):
    data = text.encode()
    if b"!" not in data:
        return
    part = shortened(data, lambda some: b"!" in some)
    assert b"!" in part
    assert part.decode()
    assert len(part) <= max(1, len(data))
    compared()


def test_a_text_that_one_cannot_encode():
    class Letters:
        name, takes_bytes = "letters", True

        def encode(self, texts):
            return [None if b"x" in text else tuple(text) for text in texts]

        def token(self, token_id):
            return bytes([token_id])

    class All(Letters):
        def encode(self, texts):
            return [tuple(text) for text in texts]

    found = compare_ids((Letters(), All()), [("words", [[("a", b"ab"), ("b", b"axb")]])])
    assert (found.first.text, found.first.ids) == (b"x", (None, (120,)))


@pytest.mark.parametrize("library", ["transformers", "tiktoken"])
def test_another_library(tmp_path, library):
    needs("tokenizers" if library == "transformers" else library)
    (tmp_path / "in.txt").write_bytes(b"Hello w\xc3\xb6rld <|endoftext|>")
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe")
    if more(True, False):
        options = ("--pattern", "gpt2", "--special", "<|endoftext|>", "-s", "280", "-q")
        assert call("train", "-T", "low lower " * 9, *options, "-o", "g.json", cwd=tmp_path).status == 0
    else:
        assert call("convert", "gpt2", "-o", "g.json", "-q", cwd=tmp_path).status == 0
    found = ids_json("g.json", "in.txt", "bad.txt", "--against", library, cwd=tmp_path)
    assert (found["same"], found["besides"]) == (True, None)
    assert found["texts"][0] == {"name": "the inputs", "count": 1, "different": 0, "left_out": 1}


def test_sentencepiece(tmp_path):
    needs("sentencepiece")
    (tmp_path / "in.txt").write_text("low lower lowest newest widest\n" * 20)
    train = ("train", "in.txt", "-a", "bpe", "--compat", "sentencepiece", "-s", "40", "-o", "m.model", "-q")
    assert call(*train, cwd=tmp_path).status == 0
    found = ids_json("m.model", "in.txt", "--against", "sentencepiece", cwd=tmp_path)
    assert found["texts"][0]["different"] == 0


def test_a_port_is_read_by_the_library_and_the_original_by_us(tmp_path):
    needs("tokenizers")
    small(tmp_path)
    small(tmp_path, "b.json", normalizer=(Lowercase(),))
    assert ids_json("a.json", "a.json", "--against", "transformers", cwd=tmp_path)["same"]
    done = ids_json("a.json", "b.json", "--against", "transformers", cwd=tmp_path, status=1)
    assert done["tokenizers"] == ["a.json", "b.json in transformers"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("gpt2 --ids", "--ids compares two tokenizers, or one with another library"),
        ("gpt2 gpt2 --ids --csv", "--ids and --csv are different comparisons"),
        ("gpt2 gpt2 --ids --latex", "--ids and --latex are different comparisons"),
        ("gpt2 gpt2 --ids --full", "--ids and --full are different comparisons"),
        ("gpt2 gpt2 --ids --tallies-dir tallies", "--ids and --tallies-dir are different comparisons"),
        ("gpt2 gpt2 --ids --part 1/2", "--part needs --tallies-dir"),
        ("gpt2 gpt2 --ids --overlap", "--ids and --overlap are different comparisons"),
        ("-t gpt2 -t gpt2 -t gpt2 --ids", "--ids compares two tokenizers, and there are 3"),
        ("gpt2 --ids --against nosuch", "there is no reader 'nosuch'"),
        ("gpt2 --ids --against sentencepiece", "sentencepiece reads files, and this tokenizer is not in one"),
        (
            "gpt2 gpt2 --ids --special error",
            "--special error is for encode: --ids compares special tokens as text, or with --special all",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path, words, message):
    done = call("compare", *words.split(), cwd=tmp_path)
    assert (done.status, done.out, done.err.splitlines()[0]) == (2, b"", f"error: {message}")


def test_a_library_that_is_not_installed(tmp_path):
    small(tmp_path)
    code = "import sys; sys.modules['tokenizers'] = None; from bpe_cli.cli.app import main; sys.exit(main())"
    words = ["compare", "a.json", "--ids", "--against", "transformers"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(Path(bpe_cli.__file__).parent.parent)},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("error: transformers is not installed here")
    assert "hint: pip install transformers" in done.stderr


def test_one_call_does_the_same(tmp_path):
    small(tmp_path)
    two = [str(tmp_path / "a.json")] * 2
    assert bpe_cli.compare(two, "hello", ids=True).value.same
    assert '"same": true' in bpe_cli.compare(two, ids=True).to_json()
    assert "give the same ids" in bpe_cli.compare(two, ids=True).to_markdown()
    with pytest.raises(UsageError, match="library needs ids=True"):
        bpe_cli.compare(["gpt2"], "x", library="tiktoken")
    with pytest.raises(UsageError, match="texts are missing"):
        bpe_cli.compare(["gpt2"])
    assert IdsOptions().threads == 1
    assert error("x") == "error: x\n"


def test_labels_say_what_tokenizers_are_called(tmp_path):
    small(tmp_path)
    text = ("compare", "-T", "low lower", "-t", "mine=a.json", "-t", "old=gpt2", "--json")
    assert json.loads(call(*text, cwd=tmp_path).out)["tokenizers"][0]["name"] == "mine"
    names = [each["name"] for each in json.loads(call(*text, "--baseline", "old", cwd=tmp_path).out)["tokenizers"]]
    assert names == ["old", "mine"]
    names = [each["name"] for each in json.loads(call(*text, "--baseline", "gpt2", cwd=tmp_path).out)["tokenizers"]]
    assert names == ["old", "mine"]
    assert ids_json("-t", "a=a.json", "-t", "b=a.json", cwd=tmp_path)["tokenizers"] == ["a", "b"]
    (tmp_path / "x=y.json").write_bytes((tmp_path / "a.json").read_bytes())  # a file of that name is the file
    done = call("compare", "-T", "low", "-t", "x=y.json", "--json", cwd=tmp_path)
    assert json.loads(done.out)["tokenizers"][0]["name"] == "x=y.json"
