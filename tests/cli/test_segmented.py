"""``bpe encode --to segmented``: text cut into subwords, and what is not about it."""

from __future__ import annotations

import json
import os
from collections import Counter

import pytest

from bpe_cli.jobs.segment import SegmentOptions, line_cutter
from bpe_cli.stages import CharacterBpe
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.cli_runner import call, error

CORPUS = b"low low low lower lowest newest newest newest widest widest\n" * 3
KINDS = {
    "bpe": ("-a", "bpe", "-s", "60"),
    "old": ("-a", "bpe", "-s", "60", "--set", "suffix_form=0.1"),
    "bbpe": ("-a", "bbpe", "-s", "280"),
    "wordpiece": ("-a", "wordpiece", "-s", "50"),
    "unigram": ("-a", "unigram", "-s", "20"),
    "char": ("-a", "char"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tokenizers")
    for kind, options in KINDS.items():
        assert call("train", *options, "-q", "-o", made / f"{kind}.json", input=CORPUS) == (0, b"", "")
    return made


@pytest.fixture
def cut(folder):
    def given(kind, *options, text="lowest newer\nwiden  lows\n"):
        return call("encode", "-t", f"{kind}.json", "--to", "segmented", *options, input=text.encode(), cwd=folder)

    return given


def test_words_and_lines_come_back(cut):
    shown = cut("bpe").text
    assert "@@ " in shown
    assert shown.replace("@@ ", "") == "lowest newer\nwiden lows\n"
    assert cut("old").text.replace("@@ ", "") == "lowest newer\nwiden lows\n"


def test_a_file_is_written_whole_or_not_at_all(cut, folder):
    expected = cut("bpe").out
    assert cut("bpe", "-o", "out.txt") == (0, b"", "2 lines -> out.txt\n")
    assert (folder / "out.txt").read_bytes() == expected
    assert cut("bpe", "-o", "out.txt", "-q", text="low") == (0, b"", "")
    assert (folder / "out.txt").read_bytes() == b"low\n"

    before = sorted(folder.iterdir())
    failed = call("encode", "-t", "bpe.json", "--to", "segmented", "--jsonl", "-o", "out.txt", cwd=folder,
                  input=b'{"text": "newest"}\n{"text": ')  # fmt: skip
    assert failed.status == 2
    assert (folder / "out.txt").read_bytes() == b"low\n", "the file of before stays"
    assert sorted(folder.iterdir()) == before
    assert cut("bpe", "-o", "nosuch/out.txt") == (
        2,
        b"",
        error(f"cannot write nosuch/out.txt: no such folder {folder / 'nosuch'}"),
    )


def test_an_empty_line_stays(cut):
    assert cut("bpe", text="\nlow\n\n").text == "\nlow\n\n"


@pytest.mark.parametrize("kind", ["bbpe", "wordpiece", "unigram", "char"])
def test_other_tokenizers_have_blanks_between_tokens(cut, folder, kind):
    shown = cut(kind, text="lowest newest").text
    ids = call("encode", "-T", "lowest newest", "-t", f"{kind}.json", cwd=folder).out.split()
    assert "".join(shown.split()) == "lowestnewest"
    assert len(shown.split()) <= len(ids)


@pytest.mark.parametrize("tokenizer", ["bpe.json", "gpt2"])
def test_a_line_end_in_a_document_ends_a_line(folder, tokenizer):
    lines = ("low", "", "lower newest", "hi")
    documents = ("low\r\n\nlower newest\n", "hi")
    text = b"".join(json.dumps({"text": each}).encode() + b"\n" for each in documents)
    way = ("encode", "-t", tokenizer, "--to", "segmented")
    expected = call(*way, input="".join(f"{line}\n" for line in lines).encode(), cwd=folder).out
    assert expected.count(b"\n") == len(lines)
    assert call(*way, "--jsonl", input=text, cwd=folder).out == expected


BYTES = ("<unk>", "a", *(f"<0x{byte:02X}>" for byte in range(256)))
FALLBACK = {"type": "BPE", "unk_token": "<unk>", "byte_fallback": True, "merges": [], "vocab": BYTES}
PARTS = {"type": "WordPiece", "unk_token": "?", "continuing_subword_prefix": "##", "max_input_chars_per_word": 99}
PARTS |= {"vocab": ("?", "f", "##in", "1", "##⁄2")}


@pytest.mark.parametrize(
    ("model", "text", "segmented"),
    [
        (FALLBACK, "🙂", "🙂"),
        (FALLBACK, "a🙂🙂a", "a 🙂 🙂 a"),
        (PARTS, "ﬁn", "ﬁ n"),  # f and ##in, the span of which is that of both characters
        (PARTS, "½", "½"),
    ],
)
def test_a_character_of_several_tokens_is_written_once(model, text, segmented, tmp_path):
    """Each of these tokens has the whole span of the character."""
    vocab = {token: number for number, token in enumerate(model["vocab"])}
    content = {"normalizer": {"type": "NFKC"}, "model": model | {"vocab": vocab}}
    (tmp_path / "t.json").write_text(json.dumps(content), "utf-8")
    way = ("encode", "-T", text, "-t", "t.json", "--to", "segmented", "--write-vocabulary", "v.txt")
    assert call(*way, cwd=tmp_path).text == f"{segmented}\n"
    counts = Counter(segmented.split()).most_common()
    assert (tmp_path / "v.txt").read_text("utf-8") == "".join(f"{word} {count}\n" for word, count in counts)


@pytest.mark.parametrize("text", ["你", "naïve 你是谁 👩‍👩‍👧!", "é你\n你a"])
def test_a_character_of_several_tokens_that_are_bytes_is_written_once(text):
    """Its bytes stood apart, and what was written was not UTF-8."""
    shown = call("encode", "-T", text, "-t", "gpt2", "--to", "segmented").out.decode()
    assert "".join(shown.split()) == "".join(text.split())
    assert call("encode", "-T", "你 é你", "-t", "gpt2", "--to", "segmented").text == "你  é 你\n"


def test_bytes_that_are_no_text_are_written_as_tokens_are():
    shown = call("encode", "-t", "gpt2", "--to", "segmented", input=b"\xe4\xbda\xa0\n").out
    assert shown.replace(b" ", b"") == b"\xe4\xbda\xa0\n"


def test_what_a_normalizer_expands_is_written_as_it_was(tmp_path):
    (tmp_path / "in.txt").write_text("½ fi 1⁄2", "utf-8")
    train = ("train", "in.txt", "-a", "char", "--normalizer", "nfkc", "-o", "c.json", "-q")
    assert call(*train, cwd=tmp_path) == (0, b"", "")
    text = "½ ﬁ 1⁄2½"
    assert len(call("encode", "-T", text, "-t", "c.json", cwd=tmp_path).text.split()) == 13
    assert call("encode", "-T", text, "-t", "c.json", "--to", "segmented", cwd=tmp_path).text.split() == [*"½ﬁ1⁄2½"]


def test_segmented_text_is_no_json(folder, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "low"}\n')
    way = ("encode", tmp_path / "in.jsonl", "--jsonl", "-t", "gpt2", "--to", "segmented", "-q", "-o")
    assert call(*way, tmp_path / "x.txt").status == 0
    assert call(*way, "x.jsonl", cwd=tmp_path).err == error(
        "-o x.jsonl names a .jsonl file, but what is written is text",
        "end the name in .txt; bpe encode --to jsonl writes .jsonl files",
    )


def test_separator_and_glossary(cut):
    plain = cut("bpe", text="widen low").text
    assert cut("bpe", "--separator", "##", text="widen low").text == plain.replace("@@", "##")
    assert cut("bpe", "--glossary", "wid[a-z]+", text="widen low").text == "widen low\n"


def test_a_vocabulary_takes_apart_what_it_does_not_have(cut, folder):
    (folder / "v.txt").write_text("lo@@ 9\nw 9\nnewest 1\n")
    assert cut("bpe", text="low").text == "low\n"
    assert cut("bpe", "--vocabulary", "v.txt", text="low").text == "lo@@ w\n"
    assert cut("bpe", "--vocabulary", "v.txt", text="newest").text == "newest\n"
    assert cut("bpe", "--vocabulary", "v.txt", "--vocabulary-threshold", "5", text="newest").text != "newest\n"


def test_the_vocabulary_of_the_text_is_written(cut, folder):
    done = cut("bpe", "--write-vocabulary", "new.txt", "-o", "out.txt", text="lowest low\n\n low low lowest\nwiden\n")
    assert done == (0, b"", "4 lines -> out.txt\n7 subwords -> new.txt\n")
    assert (folder / "out.txt").read_text() == "lowest low\n\n low low lowest\nw@@ i@@ d@@ e@@ n\n"
    assert (folder / "new.txt").read_text() == "low 3\nlowest 2\nw@@ 1\ni@@ 1\nd@@ 1\ne@@ 1\nn 1\n"
    again = cut("bpe", "--vocabulary", "new.txt", "--vocabulary-threshold", "2", text="lowest low newest")
    assert again.text == "lowest low n@@ e@@ w@@ e@@ s@@ t\n"


def test_a_vocabulary_with_a_byte_that_is_not_utf_8_can_be_read(folder):
    """What is written of a text can be used for the same text."""
    segment = ("encode", "-t", "bpe.json", "--to", "segmented")
    text = b"low x\xffy\n\xe9 low\n"
    done = call(*segment, "--write-vocabulary", "stray.txt", input=text, cwd=folder)
    assert done.out == b"low x@@ \xff@@ y\n\xe9 low\n"
    assert b"\xff@@ 1\n" in (folder / "stray.txt").read_bytes()
    assert call(*segment, "--vocabulary", "stray.txt", input=text, cwd=folder) == (0, done.out, "")


@pytest.mark.parametrize("kind", KINDS)
def test_the_vocabulary_is_that_of_what_was_written(cut, folder, kind):
    text = "lowest newer\nwiden  lows\n" * 40
    for options in ((), ("--block-size", "7"), ("-j", "3"), ("--block-size", "7", "--jsonl")):
        given = "".join(json.dumps({"text": f"{line}\nlow\r"}) + "\n" for line in text.splitlines())
        done = cut(kind, "--write-vocabulary", "new.txt", *options, text=given if "--jsonl" in options else text)
        counts = Counter(word for line in done.text.split("\n") for word in line.strip("\r ").split(" ") if word)
        expected = "".join(f"{word} {count}\n" for word, count in counts.most_common())
        assert (folder / "new.txt").read_bytes().decode() == expected


def test_the_vocabulary_goes_into_a_file(cut, folder):
    assert cut("bpe", "--write-vocabulary", "-") == (
        2, b"", error("--write-vocabulary names a file: it cannot be piped", "./- is a file of that name"),
    )  # fmt: skip
    assert not (folder / "-").exists()
    assert cut("bpe", "--vocabulary", "-") == (2, b"", error("cannot read ./-: no such file"))


def test_no_vocabulary_is_written_of_text_that_is_not(cut, folder):
    before = sorted(folder.iterdir())
    failed = call("encode", "-t", "bpe.json", "--to", "segmented", "--jsonl", "--write-vocabulary", "none.txt",
                  input=b'{"text": "newest"}\n{"text": ', cwd=folder)  # fmt: skip
    assert failed.status == 2
    assert cut("bpe", "--write-vocabulary", "nosuch/v").err.startswith("error: cannot write nosuch/v: no such folder")
    assert cut("bpe", "--write-vocabulary", "./none.txt", "-o", "none.txt") == (
        2, b"", error("none.txt cannot be both the text and its vocabulary", "name another file"),
    )  # fmt: skip
    assert sorted(folder.iterdir()) == before


def test_a_vocabulary_can_come_through_a_pipe(cut, folder):
    reading, writing = os.pipe()
    os.write(writing, b"lo@@ 9\nw 9\n")
    os.close(writing)
    assert cut("bpe", "--vocabulary", f"/dev/fd/{reading}", text="low").text == "lo@@ w\n"
    os.close(reading)


def test_tokens_that_are_no_text_are_no_traceback(folder):
    model = CharacterBpe(
        Vocabulary.from_tokens([b"", b"a", b"\xff</w>", b"a\xff</w>"]), Merges.from_pairs([(1, 2, 3)]), unk_id=0,
        end_of_word_suffix="</w>",
    )  # fmt: skip
    cut = line_cutter(Tokenizer(model), SegmentOptions())
    assert cut([b"a\xff aa\xff", b"\xff\xff"], 0) == [b"a\xff a@@ a\xff", b"\xff@@ \xff"]


def test_dropout_by_lines(cut):
    text = "lowest newest\n" * 20
    varied = cut("bpe", "--dropout", "0.4", "--seed", "5", text=text)
    assert varied.text.replace("@@ ", "") == text
    assert len(set(varied.text.splitlines())) > 3
    for options in (("-j", "1"), ("-j", "3"), ("--block-size", "64"), ("--block-size", "1")):
        assert cut("bpe", "--dropout", "0.4", "--seed", "5", *options, text=text) == varied
    assert cut("bpe", "--dropout", "0.4", "--seed", "6", text=text) != varied
    assert cut("bpe", "--dropout", "0", text=text) == cut("bpe", text=text)
    assert cut("bpe", "--dropout", "1", text="low").text == "l@@ o@@ w\n"


ABOUT_SEGMENTED = (
    "--separator, --glossary, --vocabulary, --vocabulary-threshold and --write-vocabulary are for segmented text only",
    "--to segmented writes it",
)


@pytest.mark.parametrize(
    "options",
    [
        ("--separator", "+"),
        ("--glossary", "l"),
        ("--vocabulary", "nosuch"),
        ("--vocabulary-threshold", "2"),
        ("--write-vocabulary", "v"),
    ],
)
def test_options_without_effect_on_ids(folder, options):
    result = call("encode", "-T", "low", "-t", "bpe.json", *options, cwd=folder)
    assert result == (2, b"", error(*ABOUT_SEGMENTED))


@pytest.mark.parametrize(
    "options",
    [("--with", "tokens"), ("--eot", "1"), ("--max-tokens", "0"), ("--special", "all"), ("--add-special-tokens",)],
)
def test_options_without_effect_on_segmented_text(cut, options):
    message = f"segmented text has no ids, and {options[0]} is only for ids"
    assert cut("bpe", *options) == (2, b"", error(message, "leave it out"))


@pytest.mark.parametrize(
    ("kind", "options", "message", "hint"),
    [
        *(
            (
                kind,
                option,
                "glossaries, separators and vocabularies are for words that merges split into subwords",
                "-a bpe trains such a tokenizer",
            )
            for kind in ("wordpiece", "bbpe")
            for option in (("--glossary", "lo"), ("--separator", "+"), ("--vocabulary", "v.txt"))
        ),
        (
            "bpe",
            ("--vocabulary-threshold", "2"),
            "--vocabulary-threshold needs --vocabulary",
            None,
        ),
        ("bpe", ("--vocabulary", "nosuch"), "cannot read nosuch: no such file", None),
        ("bpe", ("--vocabulary", "."), "cannot read .: is a directory", None),
        ("bpe", ("--vocabulary", "a\0b"), "cannot read 'a\\x00b': embedded null byte", None),
        (
            "bpe",
            ("--vocabulary", "/dev/zero"),
            "/dev/zero is not a vocabulary: it has more than 134,217,728 bytes",
            None,
        ),
        (
            "bpe",
            ("--separator", "+", "--inference", "longest"),
            "glossaries, separators and vocabularies are for words that merges split into subwords",
            "leave --inference out",
        ),
        *(
            (
                "bpe",
                ("--dropout", number),
                f"a dropout of {shown} is not a probability: it must be between 0 and 1",
                None,
            )
            for number, shown in (("2", "2.0"), ("nan", "nan"), ("-1", "-1.0"))
        ),
        (
            "bpe",
            ("--glossary", "("),
            "the glossary '(' does not compile: missing ), unterminated subpattern at position 0",
            None,
        ),
        (
            "bpe",
            ("--dropout", "0.1", "--dropout-mode", "spm"),
            "segmented text can only be varied by --dropout",
            None,
        ),
        ("bbpe", ("--dropout", "0.1"), "segmented text of a bpe-merges tokenizer cannot be varied", None),
        ("unigram", ("--sample", "0.1"), "segmented text of a unigram tokenizer cannot be varied", None),
        (
            "wordpiece",
            ("--dropout", "0.1"),
            "--dropout leaves out merges, and this is wordpiece, which has none",
            None,
        ),
    ],
)
def test_what_cannot_be_segmented(cut, kind, options, message, hint):
    assert cut(kind, *options) == (2, b"", error(message, hint))
