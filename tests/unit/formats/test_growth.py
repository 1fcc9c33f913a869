"""How long stages can make a text: what they do never exceeds what is foreseen, and bombs are refused at loading."""

from __future__ import annotations

import base64
import struct
import subprocess
import sys

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import _core
from bpe_cli.formats.files import MAX_GROWTH, growth
from bpe_cli.stages import (
    CTC,
    NFKC,
    BPEDecoder,
    ByteLevelNormalizer,
    Fuse,
    Lowercase,
    Metaspace,
    MetaspaceDecoder,
    Precompiled,
    PrefixSpace,
    Prepend,
    Replace,
    ReplaceDecoder,
    SpaceMarks,
    Strip,
    WordPieceDecoder,
)
from bpe_cli.stages.component_json import core_spec
from tests.needs import only_where


def literal(pattern: str, content: str) -> Replace:
    return Replace(pattern, content, literal=True)


def table(*texts: bytes) -> str:
    return base64.b64encode(struct.pack("<I", 0) + b"".join(text + b"\0" for text in texts)).decode()


@pytest.mark.parametrize(
    ("stages", "factor"),
    [
        ([], 1),
        ([literal(" ", "▁")], 3),
        ([literal("ab", "▁▁")], 3),
        ([literal(" ", "▁"), literal("a", "bbb")], 3),
        ([literal(" ", "a"), literal("a", "bbb")], 3),
        ([literal(" ", "aa"), literal("a", "bbb")], 6),
        ([literal(" ", "aa"), literal("b", "c"), literal("a", "bbb")], 6),
        ([literal("a", "AA"), Lowercase(), literal("a", "bbb")], 6),
        ([Replace(r"\s+", "▁")], 3),
        ([Replace(r"\s*", "▁")], 4),
        ([Replace(" {2,}", "▁"), Replace("x", "yy")], 3),
        ([Prepend("▁"), literal(" ", "▁")], 12),
        ([Precompiled(table(b"a" * 18, b"b" * 7)), Strip(), literal(" ", "▁")], 54),
        ([Precompiled("")], 1),
        ([PrefixSpace(), Metaspace()], 8),
        ([SpaceMarks(), NFKC()], 4),
        ([ReplaceDecoder("▁", " "), Fuse(), MetaspaceDecoder(), WordPieceDecoder(), CTC(), BPEDecoder()], 2),
        ([BPEDecoder(""), CTC(word_delimiter_token="")], 4),
    ],
)
def test_worked_examples(stages, factor):
    assert growth(stages) == pytest.approx(factor)


WORDS = st.text("ab ▁é", max_size=4)
STAGES = st.one_of(
    st.builds(literal, st.text("ab ▁é", min_size=1, max_size=2), WORDS),
    st.builds(Replace, st.sampled_from(["a", "a*", "a+|b", "[ab]", r"\s+", "é{2}", "(?=a)"]), WORDS),
    st.builds(Prepend, WORDS),
    st.sampled_from([Strip(), SpaceMarks(), ByteLevelNormalizer()]),
)


@given(st.lists(STAGES, max_size=5), st.text("ab ▁é", min_size=1, max_size=6))
def test_no_text_grows_more_than_foreseen(stages, text):
    grown, *_ = _core.Stages(core_spec(stages, ())).normalize(text.encode())
    assert len(grown) <= growth(stages) * len(text.encode())


def test_many_stages_are_measured():
    assert growth([Replace("x*", "y" * 1000)] * 1000) > 10**200
    assert growth([literal("a", "b"), literal("b", "a")] * 500) == 1


def component(kind: str, **values: object) -> dict[str, object]:
    return {"type": kind, **values}


def sequence(members: str, *components: dict[str, object]) -> dict[str, object]:
    return {"type": "Sequence", members: list(components)}


REPLACE = component("Replace", pattern={"String": "a"}, content="a" * 1000)
BYTES = component("ByteLevel", add_prefix_space=False, use_regex=False, trim_offsets=True)
BOMBS = {
    "replace": {"normalizer": sequence("normalizers", *[REPLACE] * 5)},
    "prepend": {"normalizer": sequence("normalizers", *[component("Prepend", prepend="a" * 900)] * 2)},
    "empty": {"normalizer": sequence("normalizers", *[REPLACE | {"pattern": {"Regex": "a*"}, "content": "aaa"}] * 9)},
    "bytes": {"normalizer": sequence("normalizers", *[component("ByteLevel")] * 60)},
    "pieces": {"pre_tokenizer": sequence("pretokenizers", *[BYTES] * 60)},
    "decoder": {"decoder": sequence("decoders", *[REPLACE] * 5)},
    "table": {"normalizer": component("Precompiled", precompiled_charsmap=table(b"a" * 1_000_000))},
}
LIMITED = """
import resource, sys
from tests.cli_runner import call
call("encode", "-T", "a", "-t", sys.argv[1])
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + (100 << 20),) * 2)
for name in sys.argv[1:]:
    print(*call("encode", "-T", "a" * 1000, "-t", name)[::2])
"""


@only_where(sys.platform == "linux", "needs Linux, to limit memory")
def test_bombs_are_refused(tmp_path, pytestconfig):
    model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
    for name, stages in {"harmless": {}, **BOMBS}.items():
        (tmp_path / name).write_bytes(orjson.dumps({"version": "1.0", "added_tokens": [], **stages, "model": model}))
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *(str(tmp_path / name) for name in ["harmless", *BOMBS])],
        capture_output=True,
        text=True,
        check=False,
        cwd=pytestconfig.rootpath,
    )
    assert done.returncode == 0, done.stderr
    first, *lines = [line for line in done.stdout.split("\n") if line and not line.startswith("hint: ")]
    assert first.strip() == "0"
    assert len(lines) == len(BOMBS)
    for line, name in zip(lines, BOMBS, strict=True):
        assert line.startswith(f"2 error: {tmp_path / name}: ")
        assert f"at most {MAX_GROWTH:,} are allowed" in line
