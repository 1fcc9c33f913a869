"""``bpe inspect TOKENIZER`` with ``--corpus`` and ``--token``."""

from __future__ import annotations

import json

import pytest

from tests.cli_runner import call, check_golden, error

TEXT = b"low lower lowest newest widest\n" * 40


@pytest.fixture
def trained(tmp_path):
    options = ("--pattern", "gpt2", "--special", "<s>", "-s", "270", "-o", "t.json", "-q")
    assert call("train", *options, input=TEXT, cwd=tmp_path) == (0, b"", "")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_bytes(TEXT)
    (tmp_path / "texts" / "b.jsonl").write_bytes(b'{"text": "lower<s>"}\n{"text": "newest"}\n')
    return tmp_path


@pytest.mark.parametrize("columns", ["80", "40"])
def test_a_corpus(trained, columns):
    result = call(
        "inspect", "t.json", "--corpus", "texts/a.txt", "--section", "all", cwd=trained, env={"COLUMNS": columns}
    )
    assert (result.status, result.err) == (0, "")
    check_golden(f"inspect-corpus-{columns}.txt", result.out)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_tokens(trained, options):
    names = ("--token", " widest", "--token", "id:262", "--token", "<s>", "--token", "text:1")
    result = call("inspect", "t.json", *names, "--corpus", "texts/a.txt", *options, cwd=trained)
    assert (result.status, result.err) == (0, "")
    check_golden(f"inspect-tokens{''.join(options).replace('--', '-')}.txt", result.out)


def test_a_token_that_two_names_mean_is_shown_once(trained):
    once = call("inspect", "-t", "t.json", "--token", "262", cwd=trained)
    assert call("inspect", "t.json", "--token", "262", "--token", "id:262", cwd=trained) == once


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_tokens_that_are_not_there_suppress_no_answers(trained, options):
    known = ("--token", " widest", "--token", "262", *options)
    shown = call("inspect", "t.json", *known, cwd=trained)
    wrong = ("--token", "lowestt", "--token", "9999", "--token", "id:x")
    mixed = call("inspect", "t.json", *wrong, *known, cwd=trained)
    assert (shown.status, mixed.status) == (0, 2)
    assert mixed.out == shown.out
    assert mixed.err == error(
        'no token is "lowestt"; id 9999 is not in the vocabulary (ids run to 269); "id:x" is not an id',
        'lowestt: this text becomes "low" (id 260), "est" (id 259), "t" (id 84); '
        "9999: text:9999 names the token of this text; id:x: for example: id:262",
    )
    alone = call("inspect", "t.json", *wrong, *options, cwd=trained)
    assert (alone.status, alone.out, alone.err) == (2, b"", mixed.err)


def test_documents_of_a_corpus(trained):
    def corpus(*options):
        result = call("inspect", "t.json", "--json", "--corpus", "texts/b.jsonl", *options, cwd=trained)
        assert (result.status, result.err) == (0, "")
        return json.loads(result.out)["corpus"]

    assert (corpus("--plain")["document_count"], corpus("--plain", "--lines")["document_count"]) == (1, 2)
    plain, special = corpus("--jsonl"), corpus("--jsonl", "--special", "all")
    assert (plain["document_count"], plain["byte_count"]) == (2, 14)
    assert (plain["special_used"], special["special_used"]) == (0, 1)
    assert corpus("--jsonl", "-j", "1") == corpus("--jsonl", "-j", "2")
    several = corpus("--corpus", "texts/a.txt", "--corpus", "texts/*.txt", "--lines", "--plain")
    assert several["document_count"] == 2 + 2 * 40


def test_the_report_has_all_parts(trained):
    report = json.loads(call("inspect", "t.json", "--json", cwd=trained).out)
    assert report["schema"] == "bpe.inspect.tokenizer/1"
    assert report["corpus"] is None
    assert report["structure"]["merge_tree"]["made"] == 13
    assert {finding["good"] for finding in report["findings"]} == {True, False}


def test_stdin_is_a_corpus_only_when_asked(trained):
    shown = call("inspect", "t.json", "--token", "262", input=b"low", cwd=trained)
    assert "in the corpus" not in shown.text
    shown = call("inspect", "t.json", "--token", "text:l", "--corpus", "-", input=b"la", cwd=trained)
    assert "in the corpus  1 time (0.5 of all tokens)" in shown.text


BOTH = error(
    "--token and --corpus are for a report on a tokenizer, and a text is given too",
    "give the text with --corpus, or look at it without them",
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-T", "a", "--token", "1"), BOTH),
        (("-t", "gpt2", "texts/a.txt", "--corpus", "texts"), BOTH),
        (("a", "b", "--token", "1"), BOTH),
        (
            ("-t", "t.json", "--corpus", "texts", "--special", "error"),
            error("--special error is for encode: with --corpus, special tokens are text, or --special all"),
        ),
        (
            ("t.json", "--corpus", "texts/a.txt", "--lines", "--jsonl"),
            error("--lines and --jsonl cannot be used together"),
        ),
        (
            ("t.json", "--corpus", "none"),
            error("cannot read none: no such file", "--corpus takes a file, a folder, a pattern, or - for stdin"),
        ),
        (
            ("t.json", "--token", "1", "--nbest", "3"),
            error("--nbest needs a text, and none is given", "give one with -T TEXT"),
        ),
        (
            ("t.json", "--token", "9999"),
            error("id 9999 is not in the vocabulary (ids run to 269)", "text:9999 names the token of this text"),
        ),
        (
            ("gpt2", "t.json"),
            error(
                "bpe inspect reports on one tokenizer at a time, and there are 2",
                "set them side by side with bpe compare -t gpt2 -t t.json",
            ),
        ),
        (
            ("gpt2", "texts/a.txt"),
            error(
                "gpt2 is a tokenizer, not a file that can be read as text",
                "to see how it splits a text, name it with -t gpt2",
            ),
        ),
        (
            ("t.json", "--token", "lowestt"),
            error('no token is "lowestt"', 'this text becomes "low" (id 260), "est" (id 259), "t" (id 84)'),
        ),
    ],
)
def test_refused(trained, options, message):
    result = call("inspect", *options, cwd=trained)
    assert (result.status, result.out) == (2, b"")
    assert result.err == message


def test_named_encodings_as_input():
    result = call("inspect", "gpt2", "--token", " SolidGoldMagikarp")
    assert (result.status, result.err) == (0, "")
    assert result.text.startswith("token 43453: ·SolidGoldMagikarp\n")


def test_full_gives_a_witness_for_each_token_in_doubt(tmp_path):
    (tmp_path / "vocab.txt").write_text("[UNK]\n[CLS]\nx\n##ing\n##ed\n")
    short, full = (
        call("inspect", "vocab.txt", *options, cwd=tmp_path, env={"COLUMNS": "80"}).text
        for options in (("--section", "all"), ("--full",))
    )
    assert "as in xing" not in short
    assert "as in xing" in full
    assert "as in xed" in full
    assert " special         1   if asked " in short


@pytest.mark.parametrize("name", ["·the", "\\xe8", "⏎⏎", "<U+00AD>"])
def test_a_token_as_it_was_shown(name):
    assert call("inspect", "gpt2", "--token", name).text.split("\n")[0].endswith(f": {name}")


def test_tokens_of_one_text_are_named_as_they_are_written(tmp_path):
    (tmp_path / "vocab.txt").write_text("[UNK]\nthe\n##the\nt\n")
    told = call("inspect", "vocab.txt", "--token", "The", cwd=tmp_path).err
    assert 'there is "the" (id 1), "##the" (id 2)' in told


def test_lines_end_without_blanks_outside_a_terminal(trained):
    for columns in ("40", "100"):
        shown = call("inspect", "t.json", "--section", "all", cwd=trained, env={"COLUMNS": columns}).text
        assert not [line for line in shown.split("\n") if line.endswith(" ")]
    titles = [line for line in shown.split("\n") if line in ("Reachability", "Scripts", "Special tokens")]
    assert titles == ["Reachability", "Scripts", "Special tokens"]
