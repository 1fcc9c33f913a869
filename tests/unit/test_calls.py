"""The calls do what the jobs and the operations do, and refuse what would harm."""

from __future__ import annotations

import io
import json
import re
from contextlib import contextmanager
from pathlib import Path

import pytest

import bpe_cli
from bpe_cli import surgery
from bpe_cli.datasets.inspect import inspect_data
from bpe_cli.errors import BpeError, InputError, UsageError
from bpe_cli.formats import counts_file, dump, read_file
from bpe_cli.stages import SpecialToken
from tests.cli_runner import call

GPT2 = bpe_cli.load("gpt2")
SMALL = bpe_cli.train(["low lower"], vocab_size=258)
LARGER = bpe_cli.train(["low lower lowest newest widest hello world"], vocab_size=280)
"""Of whose changes nothing depends on how many tokens there are: of the 50,000 of GPT-2 each takes half a second."""
TEXT = "hello world\nnaïve 你好\n\nhello\n"


@pytest.fixture(autouse=True)
def text(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("text.txt")
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["ids", "tokens", "jsonl", "npy", "bin", "count"])
def test_files_are_those_of_the_command(kind, text):
    call("encode", text, "-t", "gpt2", "--lines", "--eot", "auto", "--to", kind, "-o", f"command.{kind}", "-q")
    done = bpe_cli.encode_files(GPT2, text, f"call.{kind}", to=kind, documents="lines", eot="auto", threads=1)
    assert Path(f"call.{kind}").read_bytes() == Path(f"command.{kind}").read_bytes()
    assert (done.documents, done.tokens) == (4, GPT2.count(TEXT) - TEXT.count("\n") + 4) or kind == "count"


@pytest.mark.parametrize("kind", ["ids", "jsonl", "npy", "bin"])
@pytest.mark.parametrize("output", [Path, str])
def test_there_and_back(kind, output, text):
    bpe_cli.encode_files("gpt2", [text], output(f"x.{kind}"), to=kind)
    back = io.BytesIO()
    bpe_cli.decode_files(GPT2, f"x.{kind}", back, format=kind)
    assert back.getvalue() == TEXT.encode()


@pytest.mark.parametrize("same", ["text.txt", Path("text.txt"), "./text.txt"])
def test_no_input_is_replaced(same, text):
    with pytest.raises(UsageError, match="would replace"):
        bpe_cli.encode_files(GPT2, text, same)
    assert text.read_text(encoding="utf-8") == TEXT


def test_a_tokenizer_by_its_path_is_not_replaced(text):
    SMALL.save("own.txt", "bpe.json")
    with pytest.raises(UsageError, match="would replace the tokenizer"):
        bpe_cli.encode_files(Path("own.txt"), text, "own.txt")
    bpe_cli.encode_files("own.txt", text, "ids.txt")
    with pytest.raises(UsageError, match="would replace the tokenizer"):
        bpe_cli.decode_files("own.txt", "ids.txt", "own.txt")


def test_no_files_are_an_error_and_not_stdin():
    with pytest.raises(UsageError, match="files is empty"):
        bpe_cli.encode_files(GPT2, [], "x.npy")


NO_IDS = "parts of texts have no ids, and `{}` is only for ids"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"to": "chunks", "size": 2, "max_tokens": 1}, NO_IDS.format("max_tokens")),
        ({"to": "chunks", "size": 2, "bos": 0}, NO_IDS.format("bos")),
        ({"to": "chunks", "size": 2, "tokens": True}, NO_IDS.format("tokens")),
        ({"to": "text", "truncate": 2, "spans": True}, NO_IDS.format("spans")),
        ({"to": "text", "truncate": 2, "eot": "auto"}, NO_IDS.format("eot")),
        ({"to": "text", "truncate": 2, "add_special_tokens": True}, NO_IDS.format("add_special_tokens")),
        ({"to": "chunks", "size": 2, "sampling": bpe_cli.Sampling("dropout", 0.1)},
         "sampling is for ids, and text is written"),
        ({"to": "chunks", "size": 2, "counts": "json"}, 'counts needs `to="count"`'),
        ({"counts": "named"}, 'counts needs `to="count"`'),
        ({"overlap": 1}, '`overlap` needs `to="chunks"`'),
        ({"to": "text", "truncate": 2, "break_at": "line"}, '`break_at` needs `to="chunks"`'),
        ({"to": "chunks", "size": 2, "keep": "tail"}, "`keep` needs `truncate`"),
    ],
)  # fmt: skip
def test_an_option_without_effect_is_refused(options, message, text):
    """``max_tokens`` looked as if it were checked."""
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        bpe_cli.encode_files(GPT2, text, "out.txt", **options)
    assert not Path("out.txt").exists()


class Writer:
    """All that a program needs to take bytes."""

    def __init__(self) -> None:
        self.parts = []

    def write(self, data: bytes) -> None:
        self.parts.append(data)


@pytest.mark.parametrize("to", ["ids", "jsonl", "bin", "count", "chunks"])
def test_a_stream_need_only_write(to, text):
    """It was asked for its ``fileno``, and whether it is a terminal."""
    writer, stream = Writer(), io.BytesIO()
    for output in (writer, stream):
        bpe_cli.encode_files(GPT2, text, output, to=to, **({"size": 2} if to == "chunks" else {}))
    assert b"".join(writer.parts) == stream.getvalue() != b""


def test_text_and_tokenizers_go_to_such_a_stream_too(text):
    bpe_cli.encode_files(GPT2, text, "x.bin")
    decoded, segmented, converted = Writer(), Writer(), Writer()
    bpe_cli.decode_files(GPT2, "x.bin", decoded)
    assert b"".join(decoded.parts) == text.read_bytes()
    bpe_cli.segment_files(GPT2, text, segmented)
    assert b"".join(segmented.parts).startswith(b"hello")
    bpe_cli.convert(SMALL, "-", "bpe.json", stdout=converted)
    assert b"".join(converted.parts) == dump(SMALL, "bpe.json")[""]


def test_counts_by_the_name_of_the_output(text):
    bpe_cli.encode_files(GPT2, text, "x.count", counts="json")
    assert json.loads(Path("x.count").read_bytes())


@pytest.mark.parametrize(
    "option",
    [{"tallies_dir": "x"}, {"share": (1, 2)}, {"processes": 3}, {"part_bytes": 1}, {"overwrite": True},
     {"engine": "ray"}],
)  # fmt: skip
def test_ids_are_compared_in_one_run(option):
    with pytest.raises(UsageError, match=rf"^`{next(iter(option))}` and `ids=True` are different comparisons$"):
        bpe_cli.compare(["gpt2", "gpt2"], ids=True, **option)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"specials": ("nope",)}, "`specials` needs a text, and none is given"),
        ({"documents": "lines"}, "`documents` needs a text, and none is given"),
        ({"documents": "bogus"}, "documents must be 'whole' or 'lines' or 'jsonl', not 'bogus'"),
        ({"field": "a"}, "`field` needs a text, and none is given"),
        ({"member": "txt"}, "`member` needs a text, and none is given"),
    ],
)
def test_what_is_said_about_texts_needs_some(option, message):
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        bpe_cli.inspect("gpt2", **option)
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        bpe_cli.inspect(None, data="no-such-file", **option)
    if "specials" not in option:
        with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
            bpe_cli.compare(["gpt2", "gpt2"], ids=True, **option)


def test_a_text_of_several_that_is_not_utf_8_is_named():
    with pytest.raises(InputError, match=r"^texts\[1\] is not UTF-8: invalid start byte at byte 1$"):
        bpe_cli.inspect(GPT2, ["a", b"a\xff"])
    assert bpe_cli.inspect(GPT2, b"a\xff").value[0][1].segmentation.token_count == 2


def test_names_of_special_tokens_are_read_but_once():
    """An iterator of them was read for a check, and then none were looked for."""
    found = bpe_cli.inspect(GPT2, "a<|endoftext|>", specials=iter(["<|endoftext|>"]))
    assert [each.segmentation.token_count for _, each in found.value] == [2]
    with pytest.raises(UsageError, match="'nope' is not a special token"):
        bpe_cli.inspect(GPT2, "a", specials=iter(["nope"]))


def test_a_listener_hears_of_all(text):
    class Heard:
        def __init__(self) -> None:
            self.tasks: list[tuple[str, int | None, int]] = []

        def note(self, message: str) -> None:
            raise AssertionError(message)

        @contextmanager
        def task(self, what, total, unit="B"):
            amounts: list[int] = []
            yield amounts.append
            self.tasks.append((what, total, sum(amounts)))

    heard, size = Heard(), len(TEXT.encode())
    bpe_cli.encode_files(GPT2, text, "x.npy", listener=heard)
    bpe_cli.prune(LARGER, text, 270, listener=heard)
    assert [(what, total) for what, total, _ in heard.tasks] == [
        ("encoding", size), ("counting", size), ("pruning", 280 - 270),
    ]  # fmt: skip
    assert [done for _, _, done in heard.tasks[:2]] == [size, size]


def test_changes_are_those_of_surgery(text):
    by_call = bpe_cli.add_tokens("gpt2", ["<a>", b"<b>", SpecialToken(b"<c>", 7)])
    tokens = [SpecialToken(each, 0, special=False, normalized=True) for each in (b"<a>", b"<b>")]
    assert by_call == surgery.add_tokens(GPT2, [*tokens, SpecialToken(b"<c>", 7)])
    LARGER.save("larger.json", "bpe.json")
    SMALL.save("small.json")
    assert bpe_cli.merge("small.json", "larger.json") == surgery.merge(SMALL, LARGER)
    assert bpe_cli.prune(LARGER, text, 270) == bpe_cli.prune("larger.json", TEXT, 270)
    call(
        "convert", "larger.json", "-o", "longer.bpe.json", "--extend", text, "--vocab-size", 281, "-q", "-f", "bpe.json"
    )
    extended = bpe_cli.extend(LARGER, text, 281)
    assert dump(extended.tokenizer, "bpe.json")[""] == Path("longer.bpe.json").read_bytes()
    assert json.loads(extended.id_map()) == json.loads(Path("longer.bpe.json.ids.json").read_bytes())


CHAT = [{"role": "user", "content": "hello <|im_end|>"}]
DROPOUT = bpe_cli.Sampling("dropout", 0.3, seed=7)


def test_encodings_are_varied_as_the_command_does_it(text):
    call("encode", text, "-t", "gpt2", "--lines", "--dropout", 0.3, "--seed", 7, "-o", "command.ids", "-q")
    bpe_cli.encode_files(GPT2, text, "call.ids", documents="lines", sampling=DROPOUT)
    assert Path("call.ids").read_bytes() == Path("command.ids").read_bytes()
    lines = TEXT.split("\n")[:-1]
    drawn = GPT2.encode_batch(lines, sampling=DROPOUT)
    assert [" ".join(map(str, ids)) for ids in drawn] == Path("call.ids").read_text().split("\n")[:-1]
    assert GPT2.encode(lines[0], sampling=DROPOUT) == drawn[0] != GPT2.encode(lines[0])
    assert GPT2.decode_batch(drawn) == lines
    with pytest.raises(UsageError, match="this is bpe-ranks"):
        bpe_cli.encode_files(GPT2, text, "call.ids", sampling=bpe_cli.Sampling("segmentation", 0.5))


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ((), {"chat": True}),
        (
            ("--chat-template", "gpt-3.5", "--no-generation-prompt"),
            {"chat": "gpt-3.5", "add_generation_prompt": False},
        ),
    ],
)
def test_conversations_are_those_of_the_command(arguments, given):
    Path("chat.jsonl").write_text(f"{json.dumps(CHAT)}\n{json.dumps(CHAT * 2)}\n", encoding="utf-8")
    for kind, end in (("ids", "ids"), ("text", "jsonl"), ("count", "count")):
        call("encode", "chat.jsonl", "--chat", "--jsonl", "-t", "gpt-3.5-turbo", *arguments, "-o", f"command.{end}",
             "--to", kind, "-q")  # fmt: skip
        done = bpe_cli.encode_files("gpt-3.5-turbo", "chat.jsonl", f"call.{end}", to=kind, documents="jsonl", **given)
        assert Path(f"call.{end}").read_bytes() == Path(f"command.{end}").read_bytes()
        assert done.documents == 2
    with pytest.raises(UsageError, match="are for conversations only"):
        bpe_cli.encode_files("gpt-3.5-turbo", "chat.jsonl", "x", add_generation_prompt=True)


def test_segmented_text_is_that_of_the_command(text):
    words = bpe_cli.train(["low lower lowest hello world"] * 2, algorithm="bpe", vocab_size=40)
    words.save("words.json")
    options = ("--separator", "~~", "--glossary", "naïve", "--write-vocabulary", "command.vocab")
    call("encode", text, "-t", "words.json", "--to", "segmented", *options, "-o", "command.txt", "-q")
    done = bpe_cli.segment_files(
        words, text, "call.txt", separator="~~", glossaries=["naïve"], write_vocabulary="call.vocab"
    )
    for end in ("txt", "vocab"):
        assert Path(f"call.{end}").read_bytes() == Path(f"command.{end}").read_bytes()
    assert done.documents == TEXT.count("\n")
    again = io.BytesIO()
    bpe_cli.segment_files(words, text, again, separator="~~", vocabulary="call.vocab", threshold=2)
    assert b"~~" in again.getvalue()


def test_what_changed_a_tokenizer_is_written_with_its_map(text):
    LARGER.save("larger.json")
    call("convert", "larger.json", "-o", "command.json", "--prune-to", 270, "--counts-from", text, "-q")
    pruned = bpe_cli.prune("larger.json", text, 270)
    done = bpe_cli.convert(pruned, "call.json")
    for end in ("json", "json.ids.json"):
        assert Path(f"call.{end}").read_bytes() == Path(f"command.{end}").read_bytes()
    assert (done.operation, done.id_map) == (pruned, "call.json.ids.json")
    assert bpe_cli.convert(pruned, "more.json", id_map="map.json").id_map == "map.json"
    assert Path("map.json").read_bytes() == pruned.id_map()
    assert bpe_cli.convert(pruned.tokenizer, "alone.json").id_map is None
    with pytest.raises(UsageError, match="`id_map` needs a tokenizer that was changed"):
        bpe_cli.convert("larger.json", "x.json", id_map="map.json")


def test_special_tokens_that_come_with_a_changed_tokenizer_are_in_its_map(text):
    """What they were before is told in the ids of the tokenizer that was changed."""
    larger = bpe_cli.extend(LARGER, ["bpe bpe"], add=1)
    done = bpe_cli.convert(larger, "call.json", special_tokens=[SpecialToken(b"<bpe>", 300)])
    table = json.loads(Path("call.json.ids.json").read_bytes())
    assert table["size"] == 301
    assert table["old_to_new"] == {str(each): each for each in range(280)}
    assert table["made_of"]["300"] == LARGER.encode("<bpe>")
    assert done.operation.made_of[300] == tuple(LARGER.encode("<bpe>"))


def test_a_sampling_says_which_field_is_wrong():
    for given in ({"way": "other"}, {"number": "x"}, {"number": 2.0}, {"nbest": "x"}, {"seed": 1.5}, {"seed": -1}):
        with pytest.raises((TypeError, UsageError), match=next(iter(given)).replace("number", "number|dropout")):
            bpe_cli.Sampling(**({"way": "dropout", "number": 0.1} | given))


def test_extending_in_every_way():
    """By a number, in place of others, after pruning; what does not go together is refused."""
    more = {"counts_from": ["hello world"]}
    assert len(bpe_cli.extend(LARGER, ["bpe bpe"], add=1).tokenizer) == 281
    assert len(bpe_cli.extend(LARGER, ["bpe bpe"], replace=1, **more).tokenizer) == 280
    assert len(bpe_cli.extend(LARGER, ["bpe bpe"], 271, prune_to=270, **more).tokenizer) == 271
    for options in ({}, {"size": 281, "add": 1}, {"add": 1, "replace": 1, **more}):
        with pytest.raises(UsageError, match="needs one of size, add and replace"):
            bpe_cli.extend(LARGER, ["bpe"], **options)
    for options in ({"replace": 1}, {"size": 275, "prune_to": 270}, {"add": 1, **more}):
        with pytest.raises(UsageError, match="counts_from belongs to replace or prune_to"):
            bpe_cli.extend(LARGER, ["bpe"], **options)
    with pytest.raises(UsageError, match="two changes"):
        bpe_cli.extend(LARGER, ["bpe"], replace=1, prune_to=270, **more)
    with pytest.raises(UsageError, match="replace must be 1 or more"):
        bpe_cli.extend(LARGER, ["bpe"], replace=0, **more)


def test_a_name_of_two_lines_is_quoted_in_messages(tmp_path):
    folder, file = tmp_path / "a\nfolder", tmp_path / "a\nfile"
    folder.mkdir()
    file.write_bytes(b"neither counts nor a data set\n")
    missing = tmp_path / "a\nname"
    for use, shown in (
        (lambda: counts_file.load(file, 1 << 20), r"a\nfile' is not a counts file"),
        (lambda: read_file.read(folder), r"a\nfolder' is a directory"),
        (lambda: read_file.read(file, limit=9), r"a\nfile' has 30 bytes"),
        (lambda: inspect_data(str(missing)), r"a\nname': no such file"),
        (lambda: inspect_data(str(folder)), r"there is no data set in '"),
    ):
        with pytest.raises(BpeError) as caught:
            use()
        assert shown in caught.value.message
        assert "\n" not in caught.value.message
