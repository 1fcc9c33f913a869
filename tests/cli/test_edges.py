"""What is put around documents: --add-special-tokens, --bos and --eot; one count of tokens, whoever counts."""

from __future__ import annotations

import json
import struct
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from bpe_cli import SpecialToken, load
from bpe_cli.errors import UsageError
from bpe_cli.formats import dump
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.special_tokens import edges_of
from bpe_cli.tokenizer.usage import Edges, Usage
from tests.cli_runner import call, error
from tests.thorough import more

GPT2 = ("-t", "gpt2")
EOT = 50256
TEXT = b"all work\n\nand no play\n"
BERT = {"type": "BertProcessing", "sep": ["</s>", 50258], "cls": ["<s>", 50257]}
TWICE = "note: the token of --eot also occurs inside documents, 2 times: readers that split at it find more documents"


@cache
def content_of(post_processor: str | None, roles: tuple[tuple[str, int], ...]) -> bytes:
    """Return a tokenizer.json with <s> and </s>."""
    tokens = [SpecialToken(b"<s>", 50257), SpecialToken(b"</s>", 50258)]
    model = replace(load("gpt2").with_special_tokens(tokens), post_processor=post_processor)
    return dump(replace(model, usage=Usage(roles=roles)), "bpe.json")[""]


@cache
def few() -> Tokenizer:
    """Return a tokenizer of a few hundred tokens with the same special tokens."""
    texts = ("<|endoftext|>", "<s>", "</s>")
    options = [option for text in texts for option in ("--special", text)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.json"
        assert call("train", "-s", "300", *options, "-o", path, "-q", input=TEXT * 9).status == 0
        return load(path)


@cache
def small() -> bytes:
    """Return such a tokenizer, which <s> and </s> are put around."""
    model = few()
    ids = {token.content.decode(): token.token_id for token in model.special_tokens}
    around = {"type": "BertProcessing", "sep": ["</s>", ids["</s>"]], "cls": ["<s>", ids["<s>"]]}
    return dump(replace(model, post_processor=json.dumps(around)), "bpe.json")[""]


@pytest.fixture
def tokenizer(tmp_path):
    """A tokenizer.json with <s> and </s>, and the post-processor that a test wants."""

    def made(post_processor, **roles):
        content = content_of(post_processor and json.dumps(post_processor), tuple(roles.items()))
        (tmp_path / "t.json").write_bytes(content)
        return str(tmp_path / "t.json")

    return made


# -- a post-processor that adds nothing ------------------------------------------------------------


@pytest.mark.parametrize(
    "processor",
    [None, {"type": "ByteLevel"}, {"type": "Sequence", "processors": [{"type": "ByteLevel"}]},
     {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}], "pair": [],
      "special_tokens": {}}],
)  # fmt: skip
def test_adding_nothing_is_an_error(tmp_path, processor):
    path = tmp_path / "t.json"
    path.write_bytes(dump(replace(few(), post_processor=processor and json.dumps(processor)), "bpe.json")[""])
    for to in ("ids", "count", "jsonl"):
        result = call("encode", "-T", "hi", "-t", path, "--add-special-tokens", "--to", to)
        assert result == (
            2, b"", error(
                "--add-special-tokens would add nothing: the tokenizer has no post-processor that puts tokens around "
                "texts", "--eot auto puts <|endoftext|> after each document",
            ),
        )  # fmt: skip


def test_the_way_out_names_what_the_file_says(tmp_path):
    (tmp_path / "in").write_bytes(b"low lower")
    call("train", "in", "-a", "char", "--special", "<a>", "-o", "t.json", "-q", cwd=tmp_path)
    refused = call("encode", "-T", "low", "-t", "t.json", "--add-special-tokens", cwd=tmp_path)
    assert refused.err.endswith("hint: --bos NAME and --eot NAME put a special token before and after each document\n")


# -- --bos and --eot -------------------------------------------------------------------------------


def test_they_stand_around_each_document():
    for name in ("auto", "<|endoftext|>", "50256"):
        given = call("encode", *GPT2, "--lines", "--bos", "64", "--eot", name, input=TEXT)
        assert given == (0, b"64 439 670 50256\n64 50256\n64 392 645 711 50256\n", "")
    tokens = call("encode", *GPT2, "--lines", "--eot", "auto", "--to", "tokens", input=b"a\n")
    assert tokens.text == "a <|endoftext|>\n"


def test_they_are_taken_from_what_the_file_says(tokenizer):
    path = tokenizer(None, bos=50257, eos=50258)
    # A token whose text says that it ends a text goes before the role, which may end a turn.
    assert call("encode", "-T", "a", "-t", path, "--bos", "auto", "--eot", "auto").text == "50257 64 50256\n"
    assert call("encode", "-T", "a", "-t", path, "--bos", "<s>", "--eot", "</s>").text == "50257 64 50258\n"
    assert edges_of(load("gpt2"), eot="auto") == Edges(after=(EOT,), eot=EOT)
    with pytest.raises(UsageError, match="nothing in this tokenizer says which token begins a text"):
        edges_of(load("gpt2"), bos="auto")
    told = call("encode", "-T", "a", *GPT2, "--bos", "auto").err
    assert told.endswith("hint: --bos NAME says it; its special token is <|endoftext|>\n")


def test_they_stand_outside_of_what_the_post_processor_adds(tokenizer):
    path = tokenizer(BERT)
    options = ("-T", "a", "-t", path, "--add-special-tokens")
    assert call("encode", *options).text == "50257 64 50258\n"
    assert call("encode", *options, "--eot", "auto", "--bos", "0").text == "0 50257 64 50258 50256\n"
    for side, token in (("--bos", "<s>"), ("--eot", "</s>")):
        assert call("encode", *options, side, token) == (
            2, b"", error(f"{side} and --add-special-tokens would both put {token} there", "give one of them"),
        )  # fmt: skip


@pytest.mark.parametrize("name", ["<none>", "50257", "-1", "1e3", "99999999999", ""])
def test_names_of_nothing(name):
    for side in ("--bos", "--eot"):
        assert call("encode", "-T", "a", *GPT2, side, name) == (
            2, b"", error(f"{side} {name!r} is neither a special token of this tokenizer nor one of its ids",
                          "its special token is <|endoftext|>"),
        )  # fmt: skip


def test_where_they_make_no_sense():
    chat = ("encode", "--chat", "-t", "gpt-4", "-T", '[{"role": "user", "content": "hi"}]')
    assert call(*chat, "--bos", "0").err == error(
        "a chat template itself writes what belongs around a conversation", "leave --bos out"
    )
    assert call(*chat, "--to", "text", "--eot", "auto").err == error(
        "--eot is for ids, and --to text writes none", "leave it out"
    )
    assert call(*chat, "--to", "count", "--eot", "auto").status == 2
    plain = call(*chat, "--chat-template", "gpt-4-32k").text.split()
    assert call(*chat, "--chat-template", "gpt-4-32k", "--eot", "<|im_end|>").text.split() == [*plain, "100265"]
    for option in ("--bos", "--eot"):
        told = call("encode", "-T", "a", *GPT2, "--to", "segmented", option, "auto").err
        assert told.startswith(f"error: segmented text has no ids, and {option} is only for ids")


def test_a_program_gets_the_same(tokenizer):
    from bpe_cli import load

    path = tokenizer(BERT, bos=50257, eos=50258)
    model = load(path)
    for keywords, options in (
        ({"add_special_tokens": True}, ("--add-special-tokens",)),
        ({"bos": "auto", "eot": "auto"}, ("--bos", "auto", "--eot", "auto")),
        ({"bos": 5, "eot": "</s>"}, ("--bos", "5", "--eot", "</s>")),
    ):
        shown = call("encode", "-T", "a b", "-t", path, *options).text
        assert model.encode("a b", **keywords) == list(map(int, shown.split()))
    with pytest.raises(UsageError, match="would add nothing"):
        load("gpt2").encode("a", add_special_tokens=True)


# -- the same everywhere ---------------------------------------------------------------------------

AROUND = [
    (),
    ("--eot", "auto"),
    ("--bos", "64"),
    ("--bos", "64", "--eot", "auto"),
    ("--add-special-tokens",),
    ("--add-special-tokens", "--bos", "64", "--eot", "auto"),
]


@pytest.mark.parametrize("around", AROUND, ids=" ".join)
@pytest.mark.parametrize("documents", [(), ("--lines",)])
def test_there_is_one_count(tmp_path, around, documents):
    """Lines of ids, stderr, the sidecar, the size of the file, --to count and --max-tokens agree."""
    path = "t.json"
    (tmp_path / path).write_bytes(small())
    (tmp_path / "in").write_bytes(TEXT)
    for size in more(("1", "4096"), ("1", "5", "4096")):
        options = ("encode", "in", "-t", path, *documents, *around, "--block-size", size)
        ids = [list(map(int, line.split())) for line in call(*options, cwd=tmp_path).text.splitlines()]
        total = sum(map(len, ids))
        names = [name for name in ("--bos", "--eot", "--add-special-tokens") if name in around]
        said = f" (with those of {' and '.join(names)})" if names else ""
        told = f"{len(ids)} document{'s' * (len(ids) > 1)}, {total} tokens{said} -> "
        for name in ("x.ids", "x.tokens", "x.jsonl", "x.npy", "x.bin", "x.count"):
            assert call(*options, "-o", name, cwd=tmp_path) == (0, b"", f"{told}{name}\n")
        counts = list(map(int, (tmp_path / "x.count").read_text().split()))
        assert counts == list(map(len, ids))
        for name in ("x.bin", "x.npy"):
            about = json.loads((tmp_path / f"{name}.json").read_bytes())
            assert (about["tokens"], about["documents"]) == (total, len(ids))
            numbers = (tmp_path / name).read_bytes()[-about["bytes"] :]
            assert list(struct.unpack(f"<{total}H", numbers)) == [each for line in ids for each in line]
        listed = [json.loads(line)["ids"] for line in (tmp_path / "x.jsonl").read_text().splitlines()]
        assert listed == ids
        most = max(counts)
        for to in ("ids", "bin", "count"):
            checked = ("--to", to, "-o", "y", "-q")
            assert call(*options, *checked, "--max-tokens", str(most), cwd=tmp_path).status == 0
            over = call(*options, *checked, "--max-tokens", str(most - 1), cwd=tmp_path)
            assert (over.status, f"{most} tokens" in over.err) == (1, True)


@pytest.mark.parametrize("around", AROUND[:4], ids=" ".join)
def test_decoding_leaves_them_out(tmp_path, around):
    (tmp_path / "in").write_bytes(TEXT)
    for documents in ((), ("--lines",)):
        back = call("decode", *GPT2, *documents, input=call("encode", *GPT2, *documents, input=TEXT).out).out
        for name in ("x.ids", "x.tokens", "x.jsonl.gz"):
            call("encode", "in", *GPT2, *documents, *around, "-q", "-o", name, cwd=tmp_path)
            assert call("decode", name, *GPT2, *documents, *around, cwd=tmp_path) == (0, back, "")
        if "--eot" in around or not documents:
            for name in ("x.npy", "x.bin"):
                call("encode", "in", *GPT2, *documents, *around, "-q", "-o", name, cwd=tmp_path)
                assert call("decode", name, *GPT2, *documents, cwd=tmp_path) == (0, back, ""), "its sidecar says it"
        # What is left out is counted: as many tokens are read as were written.
        for name in ("x.ids", "x.bin"):
            written = call("encode", "in", *GPT2, *documents, *around, "-o", name, cwd=tmp_path).err
            read = call("decode", name, *GPT2, *around, "-o", "y", cwd=tmp_path).err
            assert read.split(", ")[1].split()[:2] == written.split(", ")[1].split()[:2]


@pytest.mark.parametrize("size", ["1", "3", "4096"])
@pytest.mark.parametrize("kind", ["plain", "staged"])
def test_spans_are_of_the_text_alone(tmp_path, size, kind):
    """What stands around a document has an empty span, also where the document begins with its very text."""
    path = tmp_path / "t.json"
    normalizer = {"normalizer": {"type": "NFC"}} if kind == "staged" else {}
    path.write_text(json.dumps(json.loads(small()) | normalizer))
    for text in ("<s>a b</s>", "a b", "", "<|endoftext|>"):
        options = ("-t", path, "--special", "all", "--to", "jsonl", "--with", "spans", "--block-size", size)
        plain = json.loads(call("encode", *options, input=text.encode()).out)
        for around, before, after in (
            (("--add-special-tokens",), 1, 1),
            (("--bos", "64", "--eot", "257"), 1, 1),
            (("--add-special-tokens", "--eot", "<|endoftext|>"), 1, 2),
        ):
            found = json.loads(call("encode", *options, *around, input=text.encode()).out)
            end = len(text)
            assert found["spans"] == [[0, 0]] * before + plain["spans"] + [[end, end]] * after, (text, around)


@pytest.mark.parametrize("to", ["bin", "npy"])
def test_an_end_that_text_may_become_is_refused_where_it_does(to, tmp_path):
    """Whoever divides by it would lose it, and find other documents than there are."""
    (tmp_path / "in.txt").write_text("one\ntwo, and three\nfour! Five\n")
    arguments = ("encode", "in.txt", "--lines", "-t", "gpt2", "--eot", "0", "-o", f"out.{to}", "--block-size", "9")
    assert call(*arguments, cwd=tmp_path) == (
        2,
        b"",
        error(
            'document 3 holds the token "!" (id 0), with which --eot ends documents',
            "name a special token, which text never becomes; --add-special TEXT=ID adds one",
        ),
    )
    assert not (tmp_path / f"out.{to}").exists()
    (tmp_path / "in.txt").write_text("one\ntwo, and three\nfour. Five\n")
    assert call(*arguments, cwd=tmp_path).status == 0
    back = call("decode", f"out.{to}", "-t", "gpt2", "--lines", cwd=tmp_path)
    assert back.text == "one\ntwo, and three\nfour. Five\n"


def test_an_end_that_the_text_asks_for_is_counted(tmp_path):
    text = "<|endoftext|>a<|endoftext|>"
    arguments = ("encode", "-T", text, "-t", "gpt2", "--eot", "auto", "-o", "out.bin")
    done = call(*arguments, "--special", "all", cwd=tmp_path)
    assert done == (0, b"", f"1 document, 4 tokens (with those of --eot) -> out.bin\n{TWICE}\n")
    assert call(*arguments, cwd=tmp_path).err == "1 document, 16 tokens (with those of --eot) -> out.bin\n"
    assert call("decode", "out.bin", "-t", "gpt2", cwd=tmp_path).text == text


def template(*tokens):
    """Return a post-processor that puts tokens behind a text."""
    ids = {"<s>": 50257, "</s>": 50258}
    behind = [{"SpecialToken": {"id": token, "type_id": 0}} for token in tokens]
    known = {token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in tokens}
    single = [{"Sequence": {"id": "A", "type_id": 0}}, *behind]
    return {"type": "TemplateProcessing", "single": single, "pair": [], "special_tokens": known}


@pytest.mark.parametrize(
    ("processor", "around"),
    [
        (None, ("--bos", "<|endoftext|>", "--eot", "<|endoftext|>")),
        ({"type": "BertProcessing", "sep": ["<s>", 50257], "cls": ["</s>", 50258]}, ("--add-special-tokens",)),
        (template("</s>", "<s>"), ("--add-special-tokens",)),
    ],
    ids=["bos", "before", "after"],
)
def test_an_end_that_stands_around_documents_besides_is_counted(tokenizer, tmp_path, processor, around):
    path, eot = tokenizer(processor), () if processor is None else ("--eot", "</s>")
    (tmp_path / "in.txt").write_text("one\ntwo\n")
    for command, output in (("encode", "x.bin"), ("encode", "x.npy"), ("prepare", "set/")):
        done = call(command, "in.txt", "--lines", "-t", path, *around, *eot, "-o", output, cwd=tmp_path)
        assert (done.status, done.err.splitlines()[1:]) == (0, [TWICE])
