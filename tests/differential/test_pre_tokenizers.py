"""Hold every pre-tokenizer to Hugging Face's tokenizers: the same pieces and the same offsets.

Where its results depend on the Unicode version of one of its parts, a test says which that is and what
it changes.
"""

from __future__ import annotations

import json
import random
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bpe_cli import _core
from bpe_cli.stages import (
    BertPreTokenizer,
    ByteLevel,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    Metaspace,
    PrefixSpace,
    PreTokenizer,
    Punctuation,
    Split,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from bpe_cli.stages.component_json import component
from bpe_cli.stages.named_stages import pre_tokenizers_named
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.splitters import RegexSplitter
from tests.differential.pieces import (
    pieces_of_rival,
    pieces_with_spans,
    raw_pieces,
    stages_of,
    stages_of_json,
)
from tests.differential.texts import MIXED, RAW, WORDS, suite
from tests.needs import needs
from tests.oracle import pre_tokenize
from tests.thorough import more

rival = needs("tokenizers").pre_tokenizers
Regex = needs("tokenizers").Regex

GPT2, LLAMA3 = PATTERNS["gpt2"].regex, PATTERNS["llama3"].regex
BEHAVIORS = {
    "removed": "Removed",
    "isolated": "Isolated",
    "merged_with_previous": "MergedWithPrevious",
    "merged_with_next": "MergedWithNext",
    "contiguous": "Contiguous",
}


def by_engine(pattern: str, behavior: str = "Isolated", invert: bool = False) -> _core.Stages:
    """Compile a split that the engine for expressions runs, even if there is a scanner."""
    return stages_of_json(component(Split(pattern, behavior, invert)))  # type: ignore[arg-type]


# name -> (theirs, ours)
PAIRS: dict[str, tuple[Any, _core.Stages]] = {
    "Whitespace": (rival.Whitespace(), stages_of(Whitespace())),
    "WhitespaceSplit": (rival.WhitespaceSplit(), stages_of(WhitespaceSplit())),
    "BertPreTokenizer": (rival.BertPreTokenizer(), stages_of(BertPreTokenizer())),
    **{
        f"Punctuation({theirs})": (rival.Punctuation(theirs), stages_of(Punctuation(ours)))  # type: ignore[arg-type]
        for theirs, ours in BEHAVIORS.items()
    },
    "Digits": (rival.Digits(), stages_of(Digits())),
    "Digits(individual)": (rival.Digits(True), stages_of(Digits(True))),
    **{
        f"Metaspace({scheme}{'' if split else ',split=False'})": (
            rival.Metaspace(prepend_scheme=scheme, split=split),
            stages_of(Metaspace(prepend_scheme=scheme, split=split)),  # type: ignore[arg-type]
        )
        for scheme, split in product(("always", "first", "never"), (True, False))
    },
    "Metaspace(a)": (rival.Metaspace(replacement="a"), stages_of(Metaspace("a"))),
    "ByteLevel": (rival.ByteLevel(add_prefix_space=False), stages_of(Split(GPT2), ByteLevel())),
    "ByteLevel(prefix)": (rival.ByteLevel(add_prefix_space=True), stages_of(PrefixSpace(), Split(GPT2), ByteLevel())),
    "ByteLevel(no regex)": (rival.ByteLevel(add_prefix_space=False, use_regex=False), stages_of(ByteLevel())),
    "UnicodeScripts": (rival.UnicodeScripts(), stages_of(UnicodeScripts())),
    "CharDelimiterSplit(-)": (rival.CharDelimiterSplit("-"), stages_of(CharDelimiterSplit("-"))),
    "CharDelimiterSplit( )": (rival.CharDelimiterSplit(" "), stages_of(CharDelimiterSplit(" "))),
    'Split(" ",merged_with_previous)': (
        rival.Split(" ", "merged_with_previous"),
        stages_of(Split(" ", "MergedWithPrevious", literal=True)),
    ),
    "Split(nothing)": (rival.Split("", "isolated"), stages_of(Split("", literal=True))),
    "Split(Regex gpt2,isolated)": (rival.Split(Regex(GPT2), "isolated"), by_engine(GPT2)),
    "Split(Regex gpt2,removed,invert)": (
        rival.Split(Regex(GPT2), "removed", invert=True),
        by_engine(GPT2, "Removed", invert=True),
    ),
    "Split(Regex llama3,isolated)": (rival.Split(Regex(LLAMA3), "isolated"), by_engine(LLAMA3)),
    "FixedLength(5)": (rival.FixedLength(5), stages_of(FixedLength(5))),
    "FixedLength(1)": (rival.FixedLength(1), stages_of(FixedLength(1))),
    "t5": (rival.Sequence([rival.WhitespaceSplit(), rival.Metaspace()]), stages_of(*pre_tokenizers_named("t5"))),
    "words, then first": (
        rival.Sequence([rival.WhitespaceSplit(), rival.Metaspace(prepend_scheme="first")]),
        stages_of(WhitespaceSplit(), Metaspace(prepend_scheme="first")),
    ),
    "starcoder": (
        rival.Sequence([rival.Digits(True), rival.ByteLevel(add_prefix_space=True)]),
        stages_of(Digits(True), PrefixSpace(), Split(GPT2), ByteLevel()),
    ),
    "bloom": (
        rival.Sequence([rival.Split(Regex(r" ?[^(\s|[.,!?…。，、।۔،])]+"), "isolated"),
                        rival.ByteLevel(add_prefix_space=False, use_regex=False)]),
        stages_of(Split(r" ?[^(\s|[.,!?…。，、।۔،])]+"), ByteLevel()),
    ),
}  # fmt: skip


YOUNG_NUMBERS = (*range(0x11DE0, 0x11DEA), *range(0x16FF4, 0x16FF7))
"""Numbers that Unicode 17 brought."""


@cache
def planes() -> list[str]:
    """Return all characters, in parts; of ideographs, Hangul and private use only the first and the last."""
    codes = [*range(0x3400), *range(0x4DC0, 0x4E10), *range(0x9FA0, 0xAC10), *range(0xD790, 0xD800),
             *range(0xE000, 0xE010), *range(0xF8F0, 0x17010), *range(0x18000, 0x1FFFF), *range(0x2A6D0, 0x2A710),
             *range(0x2CE90, 0x2CEC0), *range(0xE0000, 0xE01F0)]  # fmt: skip
    return ["".join(map(chr, codes[start : start + 9000])) for start in range(0, len(codes), 9000)]


@pytest.mark.parametrize("name", PAIRS)
def test_texts_of_every_kind(name):
    theirs, ours = PAIRS[name]
    chance = random.Random(8)
    # Any character, but where the engine that runs an expression is of another version of Unicode.
    by_expression = "Level" in name or "Regex" in name or name in {"starcoder", "bloom"}
    characters = "".join(planes()).translate(dict.fromkeys(YOUNG_NUMBERS, " "))
    texts = [] if by_expression else ["".join(chance.choices(characters, k=30)) for _ in range(more(100, 2000))]
    pool = (*WORDS, " ", "▁", "-", "京", "ー", "\x85", "a")
    mixed = ["".join(chance.choices(pool, k=9)) for _ in range(more(100, 2000))]
    for text in ["", " ", "▁", "▁ a", *texts, *mixed]:
        assert pieces_with_spans(ours, text) == pieces_of_rival(theirs, text), repr(text)


@given(MIXED)
@example("\n\u00e9a")
def test_all_on_the_same_text(text):
    for name, (theirs, ours) in PAIRS.items():
        assert pieces_with_spans(ours, text) == pieces_of_rival(theirs, text), name


def test_reference_results(shared):
    reference = json.loads((shared / "expected" / "components" / "pre_tokenizers.json").read_bytes())
    texts = suite(shared)
    compared = 0
    for name, cases in reference["pre_tokenizers"].items():
        if not name.startswith("file:"):
            stages = PAIRS[name][1]
        elif (file := shared / "vocabs" / name.removeprefix("file:") / "tokenizer.json").is_file():
            stages = stages_of_json(*flattened(json.loads(file.read_bytes())["pre_tokenizer"]))
        else:
            continue
        for case, expected in cases.items():
            found = pieces_with_spans(stages, texts[case])
            assert found == [(piece, tuple(span)) for piece, span in expected], (name, case)
            compared += 1
    assert compared >= 27 * 293


def flattened(node: dict[str, Any]) -> list[dict[str, Any]]:
    """Write a pre-tokenizer of a file as the stages that it consists of."""
    if node["type"] == "Sequence":
        return [part for inner in node["pretokenizers"] for part in flattened(inner)]
    if node["type"] == "ByteLevel":
        prefix = [component(PrefixSpace())] if node["add_prefix_space"] else []
        split = [component(Split(GPT2))] if node.get("use_regex", True) else []
        return [*prefix, *split, component(ByteLevel())]
    node.setdefault("behavior", "Isolated") if node["type"] == "Punctuation" else None
    return [node]


# -- what a match is, and what becomes of it -------------------------------------------------------

LITERALS = (" ", "-", "ab", "aa", "a b", "漢", "▁")
EXPRESSIONS = ("-", r"\s+", "b*", "(?=b)", r"\b", r"(?<=a)\s|b", r"a(?!b)", r"(\w)\1", r"\p{Lo}+", "[^b]")


@pytest.mark.parametrize(("theirs", "ours"), BEHAVIORS.items())
@pytest.mark.parametrize("invert", [False, True])
def test_splits(theirs, ours, invert):
    chance = random.Random(3)
    texts = ["", *("".join(chance.choices("ab- 漢▁", k=chance.randrange(12))) for _ in range(more(40, 1000)))]
    cases = [(rival.Split(literal, theirs, invert), stages_of(Split(literal, ours, invert, literal=True)), literal)
             for literal in LITERALS]  # fmt: skip
    cases += [(rival.Split(Regex(each), theirs, invert), by_engine(each, ours, invert), each) for each in EXPRESSIONS]
    for hugging_face, stages, pattern in cases:
        for text in texts:
            assert pieces_with_spans(stages, text) == pieces_of_rival(hugging_face, text), (pattern, text)


SPLITTERS = {name: RegexSplitter([pattern.regex]) for name, pattern in PATTERNS.items()}
ENGINES = {name: by_engine(pattern.regex) for name, pattern in PATTERNS.items()}


@given(RAW)
@example(b"\xff\xffA\xe4\xb8 \xc3\xa91\x80")
@pytest.mark.parametrize("name", PATTERNS)
def test_expressions_over_bytes_equal_those_of_the_regex_module(name, data):
    ends = [end for _, _, end in raw_pieces(ENGINES[name], data)]
    assert ends == SPLITTERS[name].split(data).tolist()


def test_a_pattern_that_tries_too_much_is_refused():
    stages = by_engine(r"(a*)*\1c")
    with pytest.raises(ValueError, match="tries too many ways to match this text"):
        stages.pre_tokenize(b"a" * 40)


# -- Unicode ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Punctuation(isolated)", "BertPreTokenizer", "Whitespace", "WhitespaceSplit"])
def test_classes_of_all_characters(name):
    """Among them punctuation that is younger than Unicode 8.0, which is none to Hugging Face, nor to us."""
    theirs, ours = PAIRS[name]
    for part in planes():
        text = "a" + "a".join(part)
        assert pieces_with_spans(ours, text) == pieces_of_rival(theirs, text)


@pytest.mark.parametrize("between", ["", "a", "."])
def test_scripts_of_all_characters(between):
    """As of Unicode 9.0: a younger character has no script, and goes with what is before it."""
    theirs, ours = PAIRS["UnicodeScripts"]
    for part in planes():
        text = "京" + between.join(part)
        assert pieces_with_spans(ours, text) == pieces_of_rival(theirs, text)
    assert len(pieces_with_spans(ours, "a\u2e5da")) == 1  # punctuation of Unicode 14


def test_numbers_of_all_characters():
    """Hugging Face's are Unicode 17's, ours Unicode 16's: they differ by the 13 numbers that it brought."""
    theirs, ours = PAIRS["Digits(individual)"]
    differing: set[str] = set()
    for part in planes():
        text = "a" + "a".join(part)
        found, expected = pieces_with_spans(ours, text), pieces_of_rival(theirs, text)
        differing |= {piece for piece, _ in {*found} ^ {*expected} if len(piece) == 1 and piece != "a"}
    assert differing == {*map(chr, YOUNG_NUMBERS)}


# -- cuts and the textbook -------------------------------------------------------------------------

CUTTABLE: dict[str, tuple[PreTokenizer, ...]] = {
    "whitespace": (Whitespace(),),
    "bert": pre_tokenizers_named("bert"),
    "t5": pre_tokenizers_named("t5"),
    "gpt2": (PrefixSpace(), Split(GPT2), ByteLevel()),
    "starcoder": (Digits(True), PrefixSpace(), Split(GPT2), ByteLevel()),
    "metaspace": (Metaspace(),),
    "metaspace first": (Punctuation(), Metaspace(prepend_scheme="first")),
    "metaspace letter": (Metaspace("b"),),
    "spaces": (CharDelimiterSplit(" "), UnicodeScripts(), FixedLength(2)),
    "literal": (Split("-b", "MergedWithPrevious", literal=True), Split(" ", "MergedWithNext", literal=True)),
    "literal inverted": (Split(" b", "MergedWithNext", invert=True, literal=True), Whitespace()),
    "characters": (FixedLength(1),),
    "expression behind": (WhitespaceSplit(), Split("b+(?=c)", "Removed")),
}
CUTTABLE_ELSEWHERE = {"whitespace", "bert", "expression behind"}
"""Of these, those that say more than where a space stands between two letters."""

UNCUTTABLE: dict[str, tuple[PreTokenizer, ...]] = {
    "nothing": (),
    "digits": (Digits(),),
    "scripts": (UnicodeScripts(),),
    "fixed length": (FixedLength(),),
    "expression": (Split("b+(?=c)"),),
    "metaspace whole": (Metaspace(split=False),),
}

LOOSE = st.lists(st.sampled_from(["a b", " b", "b", "a", "-b", "- ", " ", "1", "漢", "b c", "\n", "\xff"]), max_size=12)


@given(LOOSE)
@example(["a", "a b", " b", "a b"])
@pytest.mark.parametrize("name", CUTTABLE)
def test_parts_give_the_pieces_of_the_whole(name, parts):
    stages = stages_of(*CUTTABLE[name])
    data = "".join(parts).encode("latin-1", "replace")  # U+00FF becomes a stray byte
    cut = stages.safe_cut(data)
    between_letters = any(place in data for place in (b"a b", b"b c", b"a a", b"b b", b"b a"))
    assert (cut > 0) is between_letters or (cut > 0 and name in CUTTABLE_ELSEWHERE)
    before = raw_pieces(stages, data[:cut])
    after = raw_pieces(stages, data[cut:], continued=cut > 0, first=cut == 0)
    moved = [(piece, start + cut, end + cut) for piece, start, end in after]
    assert before + moved == raw_pieces(stages, data)


@pytest.mark.parametrize("name", UNCUTTABLE)
def test_no_cut_where_the_whole_matters(name):
    assert stages_of(*UNCUTTABLE[name]).safe_cut(b"some words, and more words") == 0


@given(MIXED)
def test_the_textbook_gives_the_same(text):
    for function, stages in (
        (pre_tokenize.bert, pre_tokenizers_named("bert")),
        (pre_tokenize.gpt2, (Split(GPT2), ByteLevel())),
        (pre_tokenize.t5, pre_tokenizers_named("t5")),
        (pre_tokenize.xlnet, pre_tokenizers_named("xlnet")),
        (pre_tokenize.whitespace, pre_tokenizers_named("whitespace")),
        (pre_tokenize.whitespace_split, pre_tokenizers_named("whitespace-split")),
        (pre_tokenize.punctuation, pre_tokenizers_named("punctuation")),
        (pre_tokenize.digits, pre_tokenizers_named("digits")),
        (pre_tokenize.metaspace, pre_tokenizers_named("metaspace")),
    ):
        assert function(text) == pieces_with_spans(stages_of(*stages), text), function
    assert pre_tokenize.digits(text, individual=True) == pieces_with_spans(stages_of(Digits(True)), text)
