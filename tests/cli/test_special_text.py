"""Text whose merges spell a special token: plain text in every command, and what inspect and convert say of it."""

from __future__ import annotations

import json

import pytest

from tests.cli_runner import call

VOCABULARY = {"<": 0, "/": 1, "s": 2, ">": 3, "a": 4, "</": 5, "</s": 6, "</s>": 7}
MERGES = ["< /", "</ s", "</s >"]
TEXT = "a</s>a"
PLAIN = "4 6 3 4\n"
TEMPLATE = "{% for each in messages %}{{ each.content }}</s>{% endfor %}"


def written(path, *, special=True, unk="a", **model):
    added = {"id": 7, "content": "</s>", "special": special, "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False}  # fmt: skip
    content = {"type": "BPE", "vocab": VOCABULARY, "merges": MERGES, **model}
    path.write_text(json.dumps({"version": "1.0", "added_tokens": [added], "model": content}), "utf-8")
    return path


@pytest.fixture
def file(tmp_path):
    """The tokenizer of issue 14."""
    return written(tmp_path / "t.json")


def test_text_is_text_until_somebody_asks(file):
    assert call("encode", "-t", file, "-T", TEXT).text == PLAIN
    assert call("encode", "-t", file, "-T", TEXT, "--special", "all").text == "4 7 4\n"
    assert call("encode", "-t", file, "-T", TEXT, "--special", "</s>").text == "4 7 4\n"
    refused = call("encode", "-t", file, "-T", TEXT, "--special", "error")
    assert (refused.status, refused.out) == (2, b"")
    assert refused.err.splitlines()[0] == "error: --text, byte 1: the text contains the special token </s>"
    assert "without --special, it is plain text" in refused.err  # as the first line of this test shows
    assert call("encode", "-t", file, "-T", TEXT, "--to", "count").text == "4\n"
    assert call("encode", "-t", file, "-T", TEXT, "--to", "tokens").text == "a </s > a\n"
    assert call("encode", "-t", file, "-T", TEXT, "--to", "segmented").text == "a </s > a\n"


@pytest.mark.parametrize("dropout", ["0", "0.3", "1"])
def test_sampling_and_other_inference(file, dropout):
    for seed in "123":
        drawn = call("encode", "-t", file, "-T", TEXT * 20, "--dropout", dropout, "--seed", seed)
        assert drawn.status == 0
        assert "7" not in drawn.text.split()
    for inference in ("longest", "left-to-right"):
        found = call("encode", "-t", file, "-T", TEXT, "--inference", inference)
        assert (found.status, found.text) == (0, PLAIN)


def test_whole_pieces_that_are_looked_up_are_no_way(tmp_path):
    file = written(tmp_path / "t.json", ignore_merges=True)
    assert call("encode", "-t", file, "-T", "</s>").text == "6 3\n"


def test_subwords_of_words_are_no_way(tmp_path):
    """Merges with ends of words have a way of their own to segmented text."""
    vocabulary = {**VOCABULARY, ">": 3, "></w>": 8, "</s></w>": 9, "a</w>": 10}
    content = {"type": "BPE", "vocab": vocabulary, "merges": [*MERGES[:2], "</s ></w>"], "end_of_word_suffix": "</w>"}
    added = {"id": 9, "content": "</s></w>", "special": True}
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"added_tokens": [added], "pre_tokenizer": {"type": "WhitespaceSplit"},
                                "model": content}), "utf-8")  # fmt: skip
    assert call("encode", "-t", path, "-T", "a </s>").text == "10 6 8\n"
    assert call("encode", "-t", path, "-T", "a </s>", "--to", "segmented").text == "a </s@@ >\n"


def test_a_character_that_is_special_is_unknown_and_that_is_said(tmp_path):
    """As with Stable Diffusion's padding, `!`: of characters nothing else spells it; a byte would be one still."""
    added = {"id": 1, "content": "!", "special": True}
    model = {"type": "BPE", "vocab": {"<unk>": 0, "!": 1, "a": 2, "!!": 3}, "merges": ["! !"], "unk_token": "<unk>"}
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"added_tokens": [added], "model": model}), "utf-8")
    done = call("encode", "-t", path, "-T", "a!!")
    assert done.text == "2 0 0\n"
    assert done.err == (
        "note: only the special token '!' spells this character, which is unknown without --special '!'\n"
    )
    assert call("encode", "-t", path, "-T", "a!!", "-q").err == ""
    assert call("encode", "-t", path, "-T", "a!!", "--special", "!") == (0, b"2 1 1\n", "")
    assert call("encode", "-t", path, "-T", "a!!", "--special", "all") == (0, b"2 1 1\n", "")
    vocab = {**model["vocab"], **{f"<0x{byte:02X}>": 4 + byte for byte in range(256)}}
    path.write_text(json.dumps({"added_tokens": [added], "model": {**model, "byte_fallback": True, "vocab": vocab}}))
    assert call("encode", "-t", path, "-T", "a!!") == (0, b"2 37 37\n", "")


def test_messages_are_text(file, tmp_path):
    template = tmp_path / "template.jinja"
    template.write_text(TEMPLATE, "utf-8")
    conversation = json.dumps([{"role": "user", "content": TEXT}])
    chat = ("encode", "--chat", "-t", file, "--chat-template", template, "-T", conversation)
    assert call(*chat).text == "4 6 3 4 7\n"
    assert call(*chat, "--special", "all").text == "4 7 4 7\n"
    # A message that ends as the token begins makes none with what the template writes, nor with the next message.
    halves = json.dumps([{"role": "user", "content": "</s"}, {"role": "user", "content": ">"}])
    assert call(*chat[:-1], halves).text == "6 7 3 7\n"


def test_inspect_says_so(file):
    shown = call("inspect", "-t", file, "--token", "7").text
    assert "</s + > -> </s>, rank 2" in shown
    assert "text never becomes a special token, so no merge makes or uses one" in shown
    assert "no (special): text becomes it only where special tokens are asked for; 1 merge would" in shown
    assert "dead merges" in call("inspect", "-t", file, "--token", "6").text
    assert "dead merges" not in call("inspect", "-t", file, "--token", "5").text
    card = json.loads(call("inspect", "-t", file, "--token", "7", "--json").text)["tokens"][0]
    assert card["dead_merges"] == [{
        "rank": 2, "left": {"id": 6, "text": "</s"}, "right": {"id": 3, "text": ">"},
        "product": {"id": 7, "text": "</s>"},
    }]  # fmt: skip
    assert (card["dead_merge_count"], card["rank"], card["depth"]) == (1, None, None)
    assert card["reachable"]["reachable"] is False
    health = call("inspect", "-t", file, "--section", "all").text
    assert "1 merge is dead: it makes or uses a special token, and text never becomes one" in " ".join(health.split())
    assert "merges                     3 (1 dead)" in health
    report = json.loads(call("inspect", "-t", file, "--json").text)
    assert report["dead_merge_count"] == 1


def test_the_steps_are_those_that_are_done(file):
    told = call("inspect", "-t", file, "--steps", "-T", TEXT).text
    assert "a </s > a" in told
    assert "bug in bpe" not in told
    assert "</s>" not in told.split("tokens")[1].splitlines()[-1]
    assert call("inspect", "-t", file, "-T", TEXT).text.startswith("a|</s|>|a\n\n4 6 3 4\n")


def test_compare_counts_text(file):
    counted = json.loads(call("compare", "-t", file, "-t", file, "-T", TEXT, "--json").text)
    assert '"token_count": 4' in json.dumps(counted)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """By Hugging Face's rules a special token of an ordinary text has the id that merges make."""
    path = tmp_path_factory.mktemp("trained") / "t.json"
    corpus = "low low lower lowest low"
    assert (
        call("train", "-T", corpus, "--pattern", "gpt2", "--special", "low", "-s", "260", "-o", path, "-q").status == 0
    )
    assert json.loads(path.read_bytes())["model"]["merges"] == [["l", "o"], ["lo", "w"], ["Ġ", "low"], ["Ġlow", "e"]]
    return path


def test_training_says_so(tmp_path):
    train = ("train", "-T", "low low lower lowest low", "--pattern", "gpt2", "--special", "low", "-s", "260")
    told = call(*train, "-o", tmp_path / "t.json").err
    assert (
        "note: 2 merges make or use a special token and are dead; --split-special keeps its text out of training"
        in told
    )
    assert "dead" not in call(*train, "--split-special", "-o", tmp_path / "t.json").err


@pytest.mark.parametrize(
    ("output", "options"),
    [
        ("again.json", ()),
        ("bpe.json", ("--format", "bpe.json")),
        ("again.gguf", ()),
        ("folder", ("--format", "huggingface")),
        ("pair", ("--format", "vocab-merges", "--allow-loss", "pattern")),
    ],
)
def test_converted_files_give_the_same_ids(trained, tmp_path, output, options):
    path = tmp_path / output
    assert call("convert", trained, "-o", path, *options, "-q").status == 0
    for text in ("low lower", "slow low"):
        ids = call("encode", "-t", trained, "-T", text).text
        assert "0" not in ids.split()
        assert call("encode", "-t", path, "-T", text).text == ids
        asked = call("encode", "-t", trained, "-T", text, "--special", "all").text
        assert "0" in asked.split()
        assert call("encode", "-t", path, "-T", text, "--special", "all").text == asked


def test_files_without_special_tokens_lack_their_merges(trained, tmp_path):
    """What is written has no dead merge, which its readers, who know of no special token, would take for any other."""
    assert call("convert", trained, "-o", tmp_path / "again.gguf", "-q").status == 0
    assert "(dead" not in call("inspect", "-t", tmp_path / "again.gguf").text
    refused = call("convert", trained, "-o", tmp_path / "again.tiktoken", "--allow-loss", "special-tokens,pattern")
    assert refused.status == 2
    assert "cannot do what these merges do" in refused.err
