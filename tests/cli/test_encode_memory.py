"""Encoding holds a few blocks, however long the input is; stopping it leaves nothing behind."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
import threading
from array import array
from pathlib import Path

import pytest

from bpe_cli.errors import InputError
from bpe_cli.support.core_arguments import pack
from bpe_cli.tokenizer.named_encodings import named
from tests.needs import only_where
from tests.thorough import more

COMMAND = [sys.executable, "-m", "bpe_cli", "encode", "-t", "o200k_base", "--threads", "2"]
TEXT = b"How many words, 12345 of them, does it take? \xe4\xbd\xa0\xe5\xa5\xbd\xef\xbc\x8c " * 20_000


@only_where(sys.platform == "linux", "needs Linux: elsewhere getrusage begins with the peak of the parent")
def test_a_long_pipe_of_one_line_takes_no_more_memory(tmp_path):
    out = tmp_path / "out.bin"
    with subprocess.Popen([*COMMAND, "--to", "bin", "-o", str(out), "-q"], stdin=subprocess.PIPE) as process:
        for _ in range(48):
            process.stdin.write(TEXT)
        process.stdin.flush()
        status = Path(f"/proc/{process.pid}/status").read_text()
        process.stdin.close()
    assert process.returncode == 0
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) >> 10
    assert peak < 150, f"{peak} MB for {48 * len(TEXT) >> 20} MB of text"
    # All but the last of the texts have their last space in the next one's first token.
    assert out.stat().st_size == 4 * (48 * (len(named("o200k_base").encode(TEXT)) - 1) + 1)


MEGABYTES = more(60, 120)


@only_where(sys.platform == "linux", "needs Linux: elsewhere getrusage begins with the peak of the parent")
@pytest.mark.parametrize(("to", "suffix"), [("bin", "bin"), ("count", "txt")])
def test_a_long_run_of_blanks_takes_no_more_memory_where_no_token_joins_them(tmp_path, to, suffix):
    out = tmp_path / f"out.{suffix}"
    command = [sys.executable, "-m", "bpe_cli", "encode", "-t", "gpt2", "--threads", "2"]
    with subprocess.Popen([*command, "--to", to, "-o", str(out), "-q"], stdin=subprocess.PIPE) as process:
        for text in (b"x\n", *[b" " * 1_000_000] * MEGABYTES, b"y"):
            process.stdin.write(text)
        process.stdin.flush()
        status = Path(f"/proc/{process.pid}/status").read_text()
        process.stdin.close()
    assert process.returncode == 0
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) >> 10
    # Without any text a process takes 25 MB.
    assert peak < MEGABYTES + 20, f"{peak} MB for {MEGABYTES} MB of blanks"
    tokens = out.stat().st_size // 2 if to == "bin" else int(out.read_text())
    assert tokens == 2 + MEGABYTES * 1_000_000


PEAK = """
import sys
from pathlib import Path
from bpe_cli import load
from bpe_cli.support.blocks import Block
from tests.thorough import more

def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) << 10

tokenizer = load(sys.argv[1])
unit = bytes.fromhex(sys.argv[2])
size = int(sys.argv[3])
block = Block.of([b"a" + unit * (size // len(unit))])
tokenizer.count_block(Block.of([b"a " + unit]))
before = peak()
tokenizer.count_block(block)
print((peak() - before) / size)
"""


SIZE = more(24_000_000, 64_000_000)


@only_where(sys.platform == "linux", "needs Linux: elsewhere getrusage begins with the peak of the parent")
@pytest.mark.parametrize(
    ("folder", "unit", "most", "size"),
    [
        ("gpt2", " ", 0.5, SIZE),
        ("gpt2", "ab", 0.5, SIZE),
        ("cl100k_base", "\n ", 0.5, SIZE),
        ("llama2/tokenizer.model", " ", 0.5, SIZE),
        ("t5-small/tokenizer.json", " ", 0.5, SIZE),
        ("bert-base-uncased", " ", 0.5, SIZE),
        ("bert-base-uncased", "\u0301", 5, 16_000_000),
        ("bert-base-uncased", "\u0301\u0323", 5, 16_000_000),
    ],
)
def test_counting_one_giant_word_holds_no_ids(shared, folder, unit, most, size):
    name = str(shared / "vocabs" / folder) if "-" in folder or "/" in folder else folder
    command = [sys.executable, "-c", PEAK, name, unit.encode().hex(), str(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert float(done.stdout) < most, f"{done.stdout.strip()} bytes for each of the text, besides the text"


def test_an_interrupt_while_threads_work_leaves_no_file(tmp_path):
    out = tmp_path / "out.bin"
    command = [*COMMAND, "--to", "bin", "-o", str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        for _ in range(5):
            process.stdin.write(TEXT)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        process.stdin.close()
        message = process.stderr.read()
    assert process.returncode == 130
    assert b"Traceback" not in message
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_goes_away_ends_it():
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:

        def write():
            with contextlib.suppress(BrokenPipeError), process.stdin:
                for _ in range(20):
                    process.stdin.write(TEXT)

        writer = threading.Thread(target=write)
        writer.start()
        process.stdout.read(1000)
        process.stdout.close()
        message = process.stderr.read()
        writer.join()
    assert process.returncode == 141
    assert message == b""


def test_ids_to_decode_may_be_of_any_kind():
    gpt2 = named("gpt2")
    for ids in ([31373, 995], (31373, 995), array("I", [31373, 995]), array("q", [31373, 995]), iter([31373, 995])):
        assert gpt2.decode_bytes(ids) == b"hello world"
    for ids, bad in (([1, -1], "-1 at place 1"), (iter([1, 2, 1 << 32]), "4294967296 at place 2"), ([1.5], "1.5")):
        with pytest.raises(InputError, match=bad):
            pack(ids)
