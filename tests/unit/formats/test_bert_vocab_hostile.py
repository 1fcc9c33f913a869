"""BERT's vocab.txt: text that is none, broken files, and such as were made to hurt."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import formats
from bpe_cli.errors import FormatError, InputError
from bpe_cli.formats import bert as bert_vocab
from bpe_cli.formats.huggingface import companions
from tests.counted import at_least, compared
from tests.needs import only_where
from tests.work import assert_little_work

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TOKENS = [*SPECIAL, "un", "##aff", "##able", "a", "."]


def text_of(tokens, end="\n"):
    return "".join(token + end for token in tokens).encode()


# -- what is not a vocabulary -------------------------------------------------------------------------

STREAM = "[CLS]\nthe\n[UNK]\n##s\n[SEP]\n" * 50
ARTICLE = "BERT has these tokens:\n[PAD]\n[UNK]\n[CLS]\n[SEP]\nand they mean what follows.\n"


@pytest.mark.parametrize(
    "content",
    [STREAM, ARTICLE, "[PAD]\n[UNK]\n", "[UNK]\nalpha\nbeta\n", "# [UNK]\n## Heading\n", "", "{}", '{"a": 1, "##": 2}',
     '{"[UNK]": 0, "Ġa": 1, "##b": 2}', '{"[UNK]": "x", "##b": 2}', "[UNK]" * 100],
)  # fmt: skip
def test_other_text_is_not_claimed(content):
    assert not bert_vocab.sniff(content.encode())


def test_own_text_is_claimed():
    assert bert_vocab.sniff(text_of(TOKENS))
    assert bert_vocab.sniff(text_of(TOKENS, "\r\n"))
    assert bert_vocab.sniff(text_of([token.lower() for token in TOKENS]))
    assert bert_vocab.sniff(json.dumps({"##l": 57, "[UNK]": 1}).encode())


# -- broken and hostile files ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (text_of(TOKENS) + b"\xff\n", "byte 51 is not UTF-8 (vocab.txt:11)"),
        (b"a\n", "vocab.txt has no token for words"),
        (b"", "vocab.txt has no token for words"),
        (b"\n" * (1 << 21) + b"\n", "vocab.txt has more than 2,097,152 lines"),
        (b'{"[UNK]": 4000000000, "##a": 1}', "vocab.txt has the id 4,000,000,000; ids run to 2,097,151"),
        (b'{"[UNK]": 0, "##a": 0}', 'gives the id 0 to "[UNK]" and to "##a"'),
        (b'{"[UNK]": 0, "##a', "not valid JSON"),
        (b'{"[UNK]":' + b"[" * 1_000_000, "not valid JSON"),
    ],
)
def test_broken_files_are_named(content, message):
    with pytest.raises(FormatError) as caught:
        bert_vocab.loads(content)
    assert message in caught.value.message


GAPS = b'{"[UNK]":0,"[CLS]":1,"[SEP]":2,"low":3,"##l":%d}'
LIMITED = """
import resource
from bpe_cli.formats import bert
bert.loads(b"[UNK]\\n[CLS]\\n[SEP]\\nlow\\n")
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + (%d << 20),) * 2)
found = bert.loads(%r + %r * (2097151 - %d) + %r)
assert len(found.origin.facts) == %d
"""


@only_where(sys.platform == "linux", "needs Linux, to limit memory")
@pytest.mark.parametrize(
    "run",
    [
        LIMITED % (60, GAPS % 2097151, b"", 0, b"", 2),
        LIMITED % (150, b"[UNK]\n[CLS]\n[SEP]\nlow\n", b"\n", 4, b"##l\n", 3),
    ],
    ids=["object", "lines"],
)
def test_ids_without_tokens_need_little_memory(run):
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_gaps_are_written_where_they_were_lines_and_read_again(tmp_path):
    gaps = bert_vocab.loads(GAPS % 57)
    with pytest.raises(FormatError, match="id 4 has no token") as caught:
        formats.dump(gaps, "bert-vocab")
    assert caught.value.hint == "write tokenizer.json, which can leave ids out"
    content = text_of([*SPECIAL, "low", *[""] * 57, "##l"])
    assert bert_vocab.sniff(content)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "vocab.txt").write_bytes(content)
    tokenizer = formats.load(tmp_path / "in")
    files = formats.dump(tokenizer, "bert-vocab")
    assert files["vocab.txt"] == content
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    assert replace(formats.load(tmp_path), name=tokenizer.name) == tokenizer


def test_large_file_is_refused_unread(tmp_path):
    path = tmp_path / "vocab.txt"
    with path.open("wb") as file:
        file.write(text_of(TOKENS))
        file.truncate(100 << 20)  # one endless line of NULs

    def refuse(match):
        with pytest.raises(FormatError, match=match):
            formats.load(path)

    large = partial(refuse, r"may have 33,554,432 \(32 MiB\)")
    assert_little_work(large, size=0, most_lines=600, most_cost=2)
    path.write_bytes(b"x" * (1 << 20))
    assert_little_work(partial(refuse, "is text that begins 'xxx"), size=1 << 20, most_lines=2_500, most_cost=5)
    with pytest.raises(InputError, match="no such file"):
        bert_vocab.load(tmp_path / "none")


def test_quotes_without_end_are_looked_at_quickly():
    for head, most_cost in (
        (b'{"a": 1, ' + b'\\"' * 10_000, 250),
        (b'{"' + b"\\" * 60_000, 0.5),
        (b'{"a": 1, ' + b'"' * 60_000, 25),
    ):
        assert not bert_vocab.sniff(head)
        assert_little_work(partial(bert_vocab.sniff, head), size=len(head), most_lines=60, most_cost=most_cost)


def try_text(data: bytes) -> None:
    """Read; what can be read comes out again as it was."""
    try:
        tokenizer = bert_vocab.loads(data)
    except FormatError:
        return
    files = bert_vocab.dump(tokenizer)
    assert bert_vocab.loads(files["vocab.txt"], companion_files=companions.loads(files)) == tokenizer
    compared()


@at_least(35)
def test_cut_at_every_byte():
    data = text_of([*TOKENS, "é漢", "a"])
    for end in range(len(data)):
        try_text(data[:end])


@at_least(7)
@given(data=st.data())
def test_changed_bytes(data):
    changed = bytearray(text_of([*TOKENS, "é漢", "a"]))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(changed) - 1))
        changed[place] = data.draw(st.sampled_from([0, 10, 13, 32, 35, 255, changed[place] ^ 32]))
    try_text(bytes(changed))
