"""Expressions are measured before they are compiled: never too small, and what is too large is refused everywhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import orjson
import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from bpe_cli.errors import UsageError
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.support.regex_size import MAX_LENGTH, check_size, measure
from tests.every_format import files_of
from tests.needs import only_where

BOMB = "(?:(?:a{1000}){1000}){300}"


@pytest.mark.parametrize(
    ("pattern", "least"),
    [
        (BOMB, 300_000_000),
        (r"(?:(?:\p{L}{1000}){1,1000}){300}", 300_000_000),
        ("(?:[)]a{1000}){1000}", 1_000_000),
        (r"(?:\)a{1000}){1000}", 1_000_000),
        ("(?:(?#))a{1000}){1000}", 1_000_000),
        ("(?V1)(?:[[a])]a{1000}){1000}", 1_000_000),
        ("(?x)(?:#)\na{1000}){1000}", 1_000_000),
        ("(?x)(?:a{1000}) {1000}", 1_000_000),
        ("(?:[]()]a{1000}){1000}", 1_000_000),
        ("a{" + "9" * 5000 + "}", 1_000_000),
        (")a{1000}{1000}", 1_000_000),
    ],
)
def test_nothing_hides_how_large_an_expression_is(pattern, least):
    assert measure(pattern).size >= least
    with pytest.raises(UsageError, match="too large"):
        check_size([pattern])


@pytest.mark.parametrize("pattern", [each for kind in PATTERNS.values() for each in (kind.regex, *kind.spellings)])
def test_patterns_in_use_are_small_and_match_something(pattern):
    assert measure(pattern).size < 100
    assert measure(pattern).shortest == 1


def test_length_and_the_sum_are_limited():
    check_size(["a" * MAX_LENGTH])
    with pytest.raises(UsageError, match="characters; it may have"):
        check_size(["a" * (MAX_LENGTH + 1)])
    with pytest.raises(UsageError, match="the patterns have more than 100,000 parts"):
        check_size(["a{30000}"] * 4)


ATOMS = [
    "a",
    "b",
    "é",
    "[ab]",
    "[é中]",
    "[^a]",
    ".",
    r"\s",
    r"\pL",
    r"\p{L}",
    r"\b",
    "^",
    "$",
    "(?=a)",
    "(?i:K)",
    r"\x41",
]
EXPRESSIONS = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["*", "+", "?", "*?", "??", "{2}", "{0,2}", "{1,3}?", "{2,}", ""])).map(
            lambda parts: f"(?:{parts[0]}){parts[1]}"
        ),
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
    ),
    max_leaves=8,
)


@given(EXPRESSIONS, st.text("ab éA中kK\N{KELVIN SIGN}", max_size=12))
def test_no_match_is_shorter_than_measured(pattern, text):
    shortest = measure(pattern).shortest
    assert all(len(found[0].encode()) >= shortest for found in regex.finditer(pattern, text))


@given(EXPRESSIONS, st.text("ab éA中k", max_size=12))
@example("(?:a*?)", "a").via("a lazy repeat")
@example("(?:a*|ab)", "cab").via("an alternative that is never reached")
def test_where_text_is_given_up_it_is_said(pattern, text):
    first, other = regex.compile(pattern), regex.compile(rf"(?:{pattern})(?!\G)")
    found = [(first.match(text, place), other.match(text, place)) for place in range(len(text))]
    is_given_up = any(match is not None and not match[0] and longer is not None for match, longer in found)
    assert measure(pattern).gives_up or not is_given_up


@pytest.mark.parametrize(
    "pattern", ["a*", "a?b{0,3}", "b|a*", r"\b", "(?:b|a*)c?", "(?>a*|b)", "(?=a*|b)c?", "a*|b(?V1)"]
)
def test_what_gives_nothing_up_is_not_said_to(pattern):
    assert not measure(pattern).gives_up


def tokenizer_json(**stages: object) -> bytes:
    model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
    return orjson.dumps({"version": "1.0", "added_tokens": [], **stages, "model": model})


def split(pattern: str) -> dict[str, object]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


LIMITED = """
import resource, sys, regex
from tests.cli_runner import call
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + (150 << 20),) * 2)
for line in sys.stdin.read().splitlines():
    done = call(*line.split("\\t"))
    print(done.status, done.err.split("\\n")[0])
"""


@only_where(sys.platform == "linux", "needs Linux, to limit memory")
def test_every_way_in_refuses_a_bomb_without_building_it(tmp_path):
    tekken = orjson.loads(files_of("tekken")[""])
    files = {
        "replace.json": tokenizer_json(normalizer={"type": "Replace", "pattern": {"Regex": BOMB}, "content": "x"}),
        "decoder.json": tokenizer_json(decoder={"type": "Replace", "pattern": {"Regex": BOMB}, "content": "x"}),
        "split.json": tokenizer_json(pre_tokenizer=split(BOMB)),
        "splits.json": tokenizer_json(
            pre_tokenizer={"type": "Sequence", "pretokenizers": [split("(?:a{1000}){90}")] * 900}
        ),
        "tekken.json": orjson.dumps(tekken | {"config": tekken["config"] | {"pattern": BOMB}}),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "x.tiktoken").write_text("YQ== 0\n")
    train = ("train", "-T", "abab", "-s", "300", "-o", str(tmp_path / "made.json"), "--pattern", BOMB)
    calls = [
        *(("encode", "-T", "a", "-t", str(tmp_path / name)) for name in files),
        ("encode", "-T", "a", "-t", str(tmp_path / "x.tiktoken"), "--pattern", BOMB),
        train,
        (*train, "-a", "wordpiece"),
        (*train, "-a", "word"),
    ]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED],
        input="\n".join(map("\t".join, calls)),
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    answers = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert len(answers) == len(calls)
    assert [answer for answer in answers if not answer.startswith("2 error: ") or "too large" not in answer] == []
