"""``bpe_cli.compat.tiktoken`` cuts by any pattern as tiktoken does, whose engine does not read Python's dialect."""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import cache

import pytest

from bpe_cli import _core
from bpe_cli.compat import tiktoken as ours
from bpe_cli.compat.patterns import as_theirs
from bpe_cli.stages import RankBpe, Split
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.counted import at_least, compared
from tests.differential.test_any_pattern import random_data, random_pattern
from tests.needs import needs
from tests.thorough import more

theirs = needs("tiktoken")

_CASED = tuple(rf"[{letters}\p{{Lm}}\p{{Lo}}\p{{M}}&&[^\p{{Han}}]]" for letters in (r"\p{Lu}\p{Lt}", r"\p{Ll}"))
_SUFFIX = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
KIMI = (
    rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?{_CASED[0]}*{_CASED[1]}+{_SUFFIX}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{_CASED[0]}+{_CASED[1]}*{_SUFFIX}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SETS = (
    KIMI, r"[\p{L}&&[^\p{Han}]]+|\p{Han}+|\s+", "[a-z--[aeiou]]+|.", "[a-c~~b-d]+|.", r"[\w--\d]+|\d+",
    "[[a-c][x-z]]+|.",
    "[a||b]+|.", "[+--]+|.", "[--a]+|.", r"[\p{L}&&\p{Lu}--[AB]]+|.", "[^a[b]]+|.", r"[\[\-\-a\&\&]+|.",
    "[[:alpha:]$]+|.",
)  # fmt: skip
ENDS = (
    r"ab$|.|\n", r"ab\Z|.|\n", r"\s+$|.|\n", r"(?m)^a$|.|\n", r"(?m:^#)|b$|.|\n", r"[$]b|b$|\$a|.|\n",
    "(?x) a b $ # [$ \n|.",
    r"(?<=b$)\n|b(?!$).|.|\n",
)  # fmt: skip
CASES = (
    "(?i)[a-z]+", "(?i:in|'s)|.", "(?i:i)n|.", r"(?i)\x69n|.", r"(?i)\p{Lu}+|.", r"(?i:'s|'t)|\p{Lu}i|.", "(?s-i:i)n|.",
    r"(?i:[jk])n|[\w\-]+|.",
)  # fmt: skip
EDGES = (r"\<\w+|.|\n", r"\w+\>|.|\n", r"[\<a]+|b\>|.|\n")
TELLING = (
    "hello 东京", "ab\n", "ab", "İn İN Iın in iI kn Knn", "ab\nab\n\n", "it's IN x'S x'T", "a$b #$b\n#a\n",
    "don't 中文a1234 ЖЖ", "<ab> <<a>",
    "+,-.&x b--c [[aa-&&]]", "   \n \n", "", "AbcdxyzABC abcd", "ſS 's jn", "你a你好 a1b22", "((||ab||", "a||b",
)  # fmt: skip


@cache
def ranks_of_pairs() -> dict[bytes, int]:
    """Return ranks by which ids tell how a text was cut: any two characters of ASCII are a token."""
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [bytes([one, other]) for one in range(9, 127) for other in range(9, 127)]
    return {token: rank for rank, token in enumerate(tokens)}


@at_least(14)
@pytest.mark.parametrize("pattern", [*SETS, *ENDS, *CASES, *EDGES])
def test_patterns_are_read_as_tiktoken_reads_them(pattern):
    """Sets in sets, ends, cases and edges were read as the `regex` module does: other ids, or text that was dropped."""
    options = {"pat_str": pattern, "mergeable_ranks": ranks_of_pairs(), "special_tokens": {}}
    one, other = ours.Encoding("x", **options), theirs.Encoding("x", **options)
    assert one._pat_str == pattern
    for text in TELLING:
        assert one.encode_ordinary(text) == other.encode_ordinary(text), text
        compared()


@at_least(300)
def test_kimis_pattern_is_had_for_a_rank_file_too():
    """Python's `regex` module runs it, which reads sets if ``(?V1)`` says so."""
    ranks, chance = ranks_of_pairs(), random.Random(4)
    other = theirs.Encoding("x", pat_str=KIMI, mergeable_ranks=ranks, special_tokens={})
    one = Tokenizer(RankBpe(Vocabulary.from_ids(ranks)), (Split(f"(?V1){KIMI}"),))
    for text in (*TELLING, *(random_data(chance).decode("utf-8", "replace") for _ in range(300))):
        assert one.encode(text) == other.encode_ordinary(text), text
        compared()


@at_least(more(400, 30_000))
def test_random_patterns():
    for seed in range(more(40, 3_000)):
        check_random_pattern(random.Random(seed))


def check_random_pattern(chance: random.Random) -> None:
    pattern = "|".join(random_pattern(chance, 2) for _ in range(chance.randint(1, 3))) + "|[a-z]|(?s:.)"
    options = {"pat_str": pattern, "mergeable_ranks": ranks_of_pairs(), "special_tokens": {}}
    try:
        one, other = ours.Encoding("x", **options), theirs.Encoding("x", **options)
    except ValueError:  # one of them refuses it
        return
    for text in (*TELLING, *(random_data(chance).decode("utf-8", "replace") for _ in range(10))):
        try:
            expected = other.encode_ordinary(text)
        except BaseException:  # a match of nothing: it panics
            continue
        assert one.encode_ordinary(text) == expected, (pattern, text)
        compared()


def core(pattern: str) -> _core.Splitter:
    return _core.Splitter(json.dumps([{"type": "Pattern", "pattern": as_theirs(pattern)}]))


def test_what_is_read_alike_is_run_by_the_core_itself():
    assert [*memoryview(core(rf"{_SUFFIX}\p{{L}}+|\s+$|\s").split(b"ab  c  "))] == [2, 3, 4, 5, 7]
    assert [*memoryview(core(r"b$|.|\n").split(b"ab\n"))] == [1, 2, 3]
    for pattern in ("(?i)i", r"a\Z", r"(?m)a$", KIMI):
        with pytest.raises(ValueError, match="expression"):
            core(pattern)


def test_a_pattern_that_does_not_compile_is_shown_as_it_was_given():
    with pytest.raises(ValueError, match="does not compile") as caught:
        ours.Encoding("x", pat_str="(?i)[a-z", mergeable_ranks={b"a": 0}, special_tokens={})
    assert '"(?i)[a-z"' in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [(r"\x{61}+|.", "ab"), (r"[[:alpha:]]+|.", "aé"), (KIMI, "ab东京"), (KIMI, "a b"), ("a+|b", "bx"),
     (r"\w+$|.|\n", "ab\n"), ("b", "xx"), (r"\s+|\w+", "a \n "), (r"\s|\w+", "a \n ")],
)  # fmt: skip
def test_what_a_text_may_become_goes_by_the_same_pattern(pattern, text):
    """Its last piece was found by the `regex` module, whatever cut the text."""
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b" \n": 257}
    specials = {" ": 300, "<s>": 301}
    options = {"pat_str": pattern, "mergeable_ranks": ranks, "special_tokens": specials}
    one, other = ours.Encoding("x", **options), theirs.Encoding("x", **options)
    for each in (text, f"<s>{text}", f"{text}<s>", f"a  {text}"):
        for ways in ({"allowed_special": "all"}, {"disallowed_special": ()}):
            found, expected = (kind.encode_with_unstable(each, **ways) for kind in (one, other))
            assert found[0] == expected[0], each
            assert Counter(map(tuple, found[1])) == Counter(map(tuple, expected[1])), each
    for data in (text.encode() + b"\xff", b"\xff" + text.encode(), text.encode()):
        assert one._encode_bytes(data) == other._encode_bytes(data)
