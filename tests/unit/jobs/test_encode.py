"""Encoding by one call gives the bytes that the command line gives, on every way there is; and says what it did."""

from __future__ import annotations

import copy
import gzip
import io
import json
import pickle
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.cli.arguments import in_options
from bpe_cli.corpus import Source
from bpe_cli.corpus.inputs import Inputs
from bpe_cli.errors import BpeError, CheckFailed, InputError, OutputError, UsageError
from bpe_cli.jobs.decode import Decoded, DecodeOptions, decode
from bpe_cli.jobs.documents import Encoded, EncodeOptions, refuse_too_long
from bpe_cli.jobs.encode import encode
from bpe_cli.jobs.encode_chat import ChatOptions, encode_chat
from bpe_cli.jobs.files import Streams
from bpe_cli.jobs.segment import SegmentOptions, segment
from bpe_cli.jobs.tokenizers import TokenizerChoice, load_tokenizer
from bpe_cli.stages import SpecialToken
from bpe_cli.tokenizer.engine import Sampling
from bpe_cli.tokenizer.named_encodings import named
from tests.cli_runner import call, error

TEXT = "naïve café <|endoftext|>\nsecond line\n\n東京 \u200d end".encode()
ROWS = b"".join(json.dumps({"text": line.decode()}).encode() + b"\n" for line in TEXT.split(b"\n"))
CHATS = json.dumps([{"role": "user", "content": "hello"}]).encode()
WORDS = b"low low low lower lowest newest newest newest widest widest\n" * 3
DROPOUT = Sampling("dropout", 0.3, seed=7)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("jobs")
    (made / "in").write_bytes(TEXT)
    (made / "in.jsonl").write_bytes(ROWS)
    (made / "chat.json").write_bytes(CHATS)
    (made / "words").write_bytes(WORDS)
    (made / "a.json").write_text('[{"type": "function", "function": {"name": "f"}}]')
    for kind, options in {"bpe": ("-a", "bpe", "-s", "60"), "bbpe": ("-s", "280")}.items():
        assert call("train", *options, "-q", "-o", made / f"{kind}.json", input=WORDS).status == 0
    return made


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def outcome(work):
    """Return what a command that calls this once would give."""
    out = io.BytesIO()
    try:
        work(out)
    except BpeError as failed:
        return (
            failed.exit_code,
            out.getvalue(),
            in_options(error(failed.message, failed.hint)),
        )
    return 0, out.getvalue(), ""


LINES = ("in", "--lines")
LINE = Source(("in",), documents="lines")


@pytest.mark.parametrize(
    ("words", "source", "tokenizer", "options"),
    [
        (("in",), Source(("in",)), "gpt2", EncodeOptions()),
        *(
            ((*LINES, "--to", to), LINE, "gpt2", EncodeOptions(to))
            for to in ("ids", "tokens", "jsonl", "npy", "bin", "count")
        ),
        ((*LINES, "--to", "jsonl", "--with", "tokens,spans"), LINE, "gpt2", EncodeOptions("jsonl", True, True)),
        (("in.jsonl", "--jsonl"), Source(("in.jsonl",), documents="jsonl"), "gpt2", EncodeOptions()),
        ((*LINES, "--special", "all"), LINE, "gpt2", EncodeOptions(specials="all")),
        ((*LINES, "--special", "<|endoftext|>"), LINE, "gpt2", EncodeOptions(specials=("<|endoftext|>",))),
        ((*LINES, "--bos", "0", "--eot", "auto", "--to", "bin"), LINE, "gpt2", EncodeOptions("bin", bos=0, eot="auto")),
        ((*LINES, "--eot", "auto", "--to", "count"), LINE, "gpt2", EncodeOptions("count", eot="auto")),
        ((*LINES, "--max-tokens", "40"), LINE, "gpt2", EncodeOptions(max_tokens=40)),
        ((*LINES, "--dropout", "0.3", "--seed", "7"), LINE, "gpt2", EncodeOptions(sampling=DROPOUT)),
        ((*LINES, "-j", "3", "--block-size", "1"), Source(("in",), documents="lines", block_bytes=1), "gpt2", None),
        ((*LINES, "-t", "bbpe.json"), LINE, "bbpe.json", None),
        (
            ("words", "-t", "bpe.json", "--inference", "longest"),
            Source(("words",)),
            TokenizerChoice("bpe.json", inference="longest"),
            None,
        ),
        (
            (*LINES, "--add-special", "café=50300", "--special", "all"),
            LINE,
            TokenizerChoice("gpt2", added=(SpecialToken("café".encode(), 50300),)),
            EncodeOptions(specials="all"),
        ),
    ],
)
def test_the_bytes_are_those_of_the_command_line(words, source, tokenizer, options):
    name = ("-t", "gpt2") if "-t" not in words else ()
    expected = call("encode", *words, *name)
    assert expected.status == 0
    out = io.BytesIO()
    done = encode(source, tokenizer, options, output=out)
    assert out.getvalue() == expected.out
    assert done.files == ()
    # A tokenizer that is there already gives the same.
    again = io.BytesIO()
    assert encode(source, load_tokenizer(tokenizer), options, output=again) == done
    assert again.getvalue() == expected.out


@pytest.mark.parametrize(("to", "name"), [("bin", "x.bin"), ("npy", "x.npy"), ("jsonl", "x.jsonl.gz"), (None, "y.bin")])
def test_files_and_their_records_are_those_of_the_command_line(tmp_path, to, name):
    more = () if to is None else ("--to", to)
    said = call("encode", *LINES, "-t", "gpt2", "--eot", "auto", *more, "-o", tmp_path / f"cli-{name}")
    done = encode(LINE, "gpt2", EncodeOptions(to, eot="auto"), output=tmp_path / name)
    assert said == (
        0,
        b"",
        f"{done.documents} documents, {done.tokens} tokens (with those of --eot) -> {tmp_path / f'cli-{name}'}\n",
    )
    assert done.files == tuple(str(tmp_path / each) for each in (name, f"{name}.json") if (tmp_path / each).exists())
    assert len(done.files) == (1 if name.endswith(".gz") else 2)
    for path in done.files:
        made = tmp_path / path
        assert made.read_bytes() == (tmp_path / f"cli-{made.name}").read_bytes()


def test_a_worked_example(tmp_path):
    path = tmp_path / "corpus.bin"
    done = encode(Source(text="hello world"), named("gpt2"), EncodeOptions(to="bin"), output=str(path))
    assert done == Encoded(documents=1, tokens=2, files=(str(path), f"{path}.json"))
    assert path.read_bytes() == b"\x8d\x7a\xe3\x03"  # 31373 and 995, little-endian
    out = io.BytesIO()
    assert decode([str(path)], "gpt2", output=out) == Decoded(1, 2)
    assert out.getvalue() == b"hello world"


def test_too_many_tokens_fail_when_all_is_written(tmp_path):
    out = io.BytesIO()
    with pytest.raises(CheckFailed, match="2 of 4 documents have more than 3 tokens: in, document 1 has 10 tokens;"):
        encode(Source(("in",), documents="lines"), "gpt2", EncodeOptions("count", max_tokens=3), output=out)
    assert out.getvalue() == call("encode", *LINES, "-t", "gpt2", "--to", "count").out


def test_ends_that_stand_in_texts_are_counted():
    done = encode(LINE, "gpt2", EncodeOptions("bin", specials="all", eot="auto"), output=io.BytesIO())
    assert done.divided == 1


# -- segmented text --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ((), None),
        (("--separator", "+"), SegmentOptions("+")),
        (("--glossary", "low|wid"), SegmentOptions(glossaries=("low|wid",))),
        (("--dropout", "0.4", "--seed", "5"), SegmentOptions(sampling=Sampling("dropout", 0.4, seed=5), threads=3)),
    ],
)
def test_segmented_text_is_that_of_the_command_line(words, options):
    expected = call("encode", "words", "-t", "bpe.json", "--to", "segmented", *words)
    assert expected.status == 0
    out = io.BytesIO()
    assert encode(
        Source(("words",), documents="lines"), "bpe.json", words=options or SegmentOptions(), output=out
    ) == Encoded(3)
    assert out.getvalue() == expected.out


def test_the_vocabulary_of_segmented_text(tmp_path):
    cli, own = tmp_path / "cli.vocab", tmp_path / "own.vocab"
    call("encode", "words", "-t", "bpe.json", "--to", "segmented", "--write-vocabulary", cli, "-q")
    how = SegmentOptions(write_vocabulary=str(own))
    done = segment(Source(("words",), documents="lines"), "bpe.json", how, output=io.BytesIO())
    assert own.read_bytes() == cli.read_bytes()
    assert done == Encoded(3, files=(str(own),), subwords=len(own.read_text().splitlines()))


# -- conversations ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "tokenizer", "chat", "options"),
    [
        (("--chat-template", "chatml"), "cl100k_base", ChatOptions("chatml"), None),
        (("--chat-template", "chatml", "--to", "text"), "cl100k_base", ChatOptions("chatml"), EncodeOptions("text")),
        (("--to", "count"), "gpt-4o", None, EncodeOptions("count")),
        (("--to", "count", "--chat-template", "openai"), "gpt-4", ChatOptions("openai"), EncodeOptions("count")),
        (
            ("--chat-template", "chatml", "--no-generation-prompt", "--eot", "auto", "--to", "jsonl"),
            "cl100k_base",
            ChatOptions("chatml", generation_prompt=False),
            EncodeOptions("jsonl", eot="auto"),
        ),
        (("--tools", "a.json"), "gpt-oss", ChatOptions(tools="a.json"), None),
    ],
)
def test_conversations_are_those_of_the_command_line(words, tokenizer, chat, options):
    expected = call("encode", "--chat", "chat.json", "-t", tokenizer, *words)
    assert (
        outcome(lambda out: encode(Source(("chat.json",)), tokenizer, options, chat=chat or ChatOptions(), output=out))
        == expected
    )


# -- decoding --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words", "options"),
    [
        ("x.bin", (), None),
        ("x.npy", ("--lines",), DecodeOptions(lines=True)),
        ("x.tokens", (), None),
        ("x.jsonl", ("--errors", "replace"), DecodeOptions(errors="replace")),
        ("x.bin", ("--eot", "198"), DecodeOptions(eot=198)),
        ("x.bin", ("--from", "ids"), DecodeOptions("ids")),
    ],
)
def test_decoded_text_is_that_of_the_command_line(tmp_path, name, words, options):
    path = str(tmp_path / name)
    encode(LINE, "gpt2", EncodeOptions(eot="auto"), output=path)
    expected = call("decode", path, "-t", "gpt2", *words)
    assert outcome(lambda out: decode([path], "gpt2", options, output=out)) == expected


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=9), max_size=5))
def test_what_is_encoded_comes_back(lines):
    text = "".join(f"{line}\n" for line in lines).encode()
    ids, out = io.BytesIO(), io.BytesIO()
    encode(Source(("-",), documents="lines"), "gpt2", output=ids, streams=Streams(stdin=io.BytesIO(text)))
    ids.seek(0)
    decode(["-"], "gpt2", DecodeOptions("ids", lines=True), output=out, streams=Streams(stdin=ids))
    assert out.getvalue() == text


# -- what a Python program can rely on -------------------------------------------------------------


class Diary:
    """Write down what a job tells."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.amount = 0

    @contextmanager
    def task(self, what, total, unit="B"):
        self.lines.append(f"{what} {total} {unit}")
        yield self.advance
        self.lines.append("done")

    def advance(self, amount):
        self.amount += amount

    def note(self, message):
        self.lines.append(message)


def test_a_listener_hears_how_it_goes_on(tmp_path):
    diary = Diary()
    path = str(tmp_path / "x.bin")
    encode(LINE, "gpt2", output=path, listener=diary)
    assert (diary.lines, diary.amount) == ([f"encoding {len(TEXT)} B", "done"], len(TEXT))
    diary = Diary()
    decode([path], "cl100k_base", output=io.BytesIO(), listener=diary)
    assert diary.lines[1].startswith(f"{path} was encoded with gpt2, which differs")


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: encode(Source(("in",)), "gpt2", output="in"), "`output` would replace the input in"),
        (lambda: encode(Source(("in",)), "bbpe.json", output="./bbpe.json"), "`output` ./bbpe.json names a .json file"),
        (lambda: segment(Source(("in",)), "bpe.json", output="in"), "`output` would replace the input in"),
        (lambda: decode(["in"], "gpt2", output="in"), "`output` would replace the input in"),
        (
            lambda: encode_chat(Source(("chat.json",)), "gpt-4o", output="chat.json"),
            "`output` chat.json names a .json file",
        ),
        (lambda: encode(Source(("in",)), "gpt2", EncodeOptions("text"), output="x"), "cannot be encoded to 'text'"),
        (lambda: decode(["in"], "gpt2", DecodeOptions("count"), output="x"), "ids cannot be read from 'count'"),
        (lambda: encode_chat(LINE, "gpt2", output="x"), "`chat` reads JSON, not lines of text"),
        (lambda: SegmentOptions(threshold=1), "`threshold` needs `vocabulary`"),
        (lambda: TokenizerChoice("gpt2", frequencies="x"), "`frequencies` says"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(work, message, folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(UsageError) as refused:
        work()
    assert message in refused.value.message
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_stream_must_not_be_an_input(tmp_path):
    path = tmp_path / "in"
    path.write_bytes(TEXT)
    with path.open("ab") as out, pytest.raises(UsageError, match="the output goes to the input"):
        encode(Source((str(path),)), "gpt2", output=out)
    with path.open("ab") as out, pytest.raises(UsageError, match="stderr goes to the input"):
        encode(Source((str(path),)), "gpt2", output=io.BytesIO(), streams=Streams(stderr=out))
    assert path.read_bytes() == TEXT


def test_nothing_is_left_of_what_failed(tmp_path):
    (tmp_path / "rows").write_bytes(b'{"text": "a"}\n{"text": ')
    with pytest.raises(BpeError):
        encode(Source((str(tmp_path / "rows"),), documents="jsonl"), "gpt2", output=str(tmp_path / "x.bin"))
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]
    with pytest.raises(OutputError):
        encode(Source(text="a"), "gpt2", output=str(tmp_path / "no" / "x.bin"))


def test_a_compressed_output_is_compressed(tmp_path):
    encode(Source(text="hello world"), "gpt2", output=tmp_path / "x.ids.gz")
    assert gzip.decompress((tmp_path / "x.ids.gz").read_bytes()) == b"31373 995\n"


@pytest.mark.parametrize(
    "value",
    [
        LINE,
        EncodeOptions("bin", specials=("a",), sampling=DROPOUT),
        ChatOptions("chatml"),
        SegmentOptions(glossaries=("a",)),
        DecodeOptions("bin", dtype="u16"),
        TokenizerChoice("gpt2", inference="longest"),
        Encoded(1, 2, files=("x",)),
        Decoded(1, 2),
    ],
)
def test_parts_of_jobs_travel(value):
    assert pickle.loads(pickle.dumps(value)) == copy.deepcopy(value) == value


def test_a_file_that_is_one_document_too_long_for_it_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes(b"a b\n" * 5)
    packed = tmp_path / "long.txt.gz"
    packed.write_bytes(gzip.compress(bytes(20), 0))
    inputs = Inputs.resolve([str(packed), str(path)])

    def asked(safe_cut, cut_in_piece):
        engine = SimpleNamespace(longest_text=10, safe_cut=safe_cut, cut_in_piece=cut_in_piece)
        return SimpleNamespace(engine=engine)

    uncut = asked(lambda _: 0, lambda _: 0)
    with pytest.raises(InputError, match=r"long\.txt is one document of 20 bytes; .* one document may have at most 10"):
        refuse_too_long(uncut, None, Source(documents="whole"), inputs)
    refuse_too_long(uncut, None, Source(documents="lines"), inputs)
    refuse_too_long(uncut, object(), Source(documents="whole"), inputs)
    for cutting in (
        asked(lambda text: text.index(b" "), lambda _: 0),
        asked(lambda _: 0, lambda _: 1),
        asked(lambda text: text.find(b",") + 1, lambda _: 0),
    ):
        refuse_too_long(cutting, None, Source(documents="whole"), inputs)
    refuse_too_long(SimpleNamespace(engine=SimpleNamespace(longest_text=None)), None, Source(documents="whole"), inputs)
