"""The options of a training algorithm: read from the command line, checked, and described."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from types import SimpleNamespace
from typing import Literal, get_args, get_type_hints

import pytest

from bpe_cli import _core
from bpe_cli.cli.arguments import in_options
from bpe_cli.cli.options import parameters_of
from bpe_cli.cli.train import run
from bpe_cli.cli.train_options import help_of, options_of, parse
from bpe_cli.errors import InputError, UsageError
from bpe_cli.formats import FORMATS
from bpe_cli.jobs.count import check_matches
from bpe_cli.jobs.train_options import check_compat
from bpe_cli.stages import Split
from bpe_cli.trainers import ALGORITHMS, TRAINERS, bpe, compats_of, unigram
from bpe_cli.trainers.counts import new_counts
from bpe_cli.trainers.presets import PRESETS
from bpe_cli.trainers.unmerged import Byte, Ngram, NgramOptions


@dataclass(frozen=True)
class Example:
    """Describe what to do.

    Attributes:
        size: How much; None for
            any amount.
        vocab_size: Tokens; None for all. None: no bound.
        pattern: An expression, or ``""`` for none.
        shares: Numbers.
        mark: What ``stands`` there.
        on: Whether.
    """

    size: int | None = None
    vocab_size: int | None = None
    pattern: str | None = None
    shares: tuple[float, ...] = (0.5, 1.0)
    mark: str = " "
    on: bool = field(default_factory=lambda: True)


EXAMPLE = SimpleNamespace(Options=Example)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("3", int, 3),
        ("-1", int, -1),
        ("32_000", int, 32_000),
        ("none", int | None, None),
        ("none", str, "none"),
        ("none", str | None, None),
        ("0.5", float, 0.5),
        ("yes", bool, True),
        ("false", bool, False),
        ("", str, ""),
        ("a=b", str, "a=b"),
        ("a,b", tuple[str, ...], ("a", "b")),
        ("", tuple[str, ...], ()),
        ("1.5,2", tuple[float, ...], (1.5, 2.0)),
        ("1,2", tuple[int, ...], (1, 2)),
        ("b", Literal["a", "b"], "b"),
    ],
)
def test_values(text, kind, value):
    parsed = parse("name", text, kind)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("x", int, "a whole number"),
        ("1.0", int, "a whole number"),
        ("", int, "a whole number"),
        ("٣", int, "a whole number"),
        ("none", int, "a whole number"),
        ("x", int | None, "a whole number"),
        ("1,0", float, "a number"),
        ("1", bool, "yes or no"),
        ("c", Literal["a", "b"], "one of a, b"),
        ("c", Literal["a", "b"] | None, "one of a, b"),
        ("1,x", tuple[float, ...], "a list of numbers with commas"),
        ("", tuple[float, ...], "a list of numbers with commas"),
        ("1.5", tuple[int, ...], "a list of numbers with commas"),
    ],
)
def test_values_of_another_kind(text, kind, expected):
    with pytest.raises(UsageError) as caught:
        parse("name", text, kind)
    assert caught.value.message == f"--set name={text} is not {expected}"


def test_lists_in_files(tmp_path):
    (tmp_path / "words.txt").write_text("un|do\n\nre|do\n")
    assert parse("words", f"@{tmp_path / 'words.txt'}", tuple[str, ...]) == ("un|do", "re|do")
    (tmp_path / "odd.txt").write_bytes("\ufeffa\u2028b\r\n\nc\x0cd\n".encode())
    assert parse("words", f"@{tmp_path / 'odd.txt'}", tuple[str, ...]) == ("a\u2028b", "c\x0cd")
    (tmp_path / "bytes").write_bytes(b"\xff")
    for name, reason in (("nosuch", "no such file"), ("bytes", "it is not UTF-8")):
        path = tmp_path / name
        with pytest.raises(InputError) as caught:
            parse("words", f"@{path}", tuple[str, ...])
        assert caught.value.message == f"cannot read {path}: {reason}"


def test_a_list_without_an_end_is_not_read_into_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("bpe_cli.cli.train_options._LARGEST_LIST", 10)
    path = tmp_path / "words.txt"
    path.write_text("ab\ncd\nefgh")
    assert parse("words", f"@{path}", tuple[str, ...]) == ("ab", "cd", "efgh")
    path.write_text("ab\ncd\nefghi")
    with pytest.raises(InputError, match=r"words\.txt is too long: a list has at most 10 characters"):
        parse("words", f"@{path}", tuple[str, ...])


def test_flags_and_settings_come_together():
    made = options_of("ngram", Ngram(), {"vocab_size": 9, "pattern": None}, ["n=3", "strided=yes"])
    assert made == NgramOptions(n=3, strided=True, vocab_size=9)
    assert options_of("ngram", Ngram(), {}, ["unk-token=?"]).unk_token == "?"
    assert options_of("ngram", Ngram(), {}, ["n=3", "n=4"]).n == 4


def test_a_pattern_is_a_pre_tokenizer_where_there_is_no_pattern():
    assert options_of("bpe", bpe.TRAINER, {"vocab_size": 9, "pattern": "a+"}, ()).pre_tokenizer == (Split("a+"),)
    assert options_of("bpe", bpe.TRAINER, {"vocab_size": 9, "pattern": ""}, ()).pre_tokenizer == ()


def test_stages_are_compiled_before_any_text_is_read():
    for trainer in (bpe.TRAINER, unigram.TRAINER):
        with pytest.raises(UsageError, match=r'the pattern "\[" does not compile'):
            options_of("x", trainer, {"vocab_size": 9, "pattern": "["}, ())


def test_every_algorithm_and_every_compat_can_be_asked_for():
    choices = {name: declared.settings.get("choices", ()) for name, (_, declared) in parameters_of(run).items()}
    assert tuple(choices["algorithm"]) == ALGORITHMS
    assert " ".join(choices["compat"]) == "hf rustbpe minbpe subword-nmt course sentencepiece textbook tensorflow"
    assert set(choices["format_"]) <= FORMATS.keys()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_whose_rules_the_list_of_algorithms_names_the_trainers_follow(algorithm):
    kind = get_type_hints(TRAINERS[algorithm].Options).get("compat")
    own = [name for each in (kind, *get_args(kind)) for name in get_args(each) if isinstance(name, str)]
    others = [name for name, trainer in TRAINERS.items() if algorithm in trainer.follows]
    presets = [name for name, of_algorithms in PRESETS.items() if algorithm in of_algorithms]
    assert list(compats_of(algorithm)) == own + others + presets


def test_compat_is_read_from_the_options():
    assert {name: compats_of(name) for name in ALGORITHMS} == {
        "bbpe": ("hf", "rustbpe", "minbpe", "subword-nmt", "course"),
        "bpe": ("subword-nmt", "hf", "sentencepiece", "course", "textbook"),
        "wordpiece": ("hf", "tensorflow", "course"),
        "unigram": ("sentencepiece", "course"),
        "mingram": (),
        "picky": (),
        "scaffold": (),
        "greedtok": (),
        "char": ("sentencepiece",),
        "word": ("sentencepiece",),
        "ngram": (),
        "byte": (),
        "maxmatch": (),
        "list": (),
    }
    check_compat("byte", None)
    check_compat("char", "sentencepiece")
    with pytest.raises(UsageError) as caught:
        check_compat("char", "hf")
    assert caught.value.message == '`algorithm="char"` has no `compat="hf"`'
    assert caught.value.hint is not None
    assert in_options(caught.value.hint) == "it has sentencepiece; -a bbpe, -a bpe, -a wordpiece can follow hf"


def counts_of(*pieces: bytes) -> _core.Counts:
    from array import array
    from itertools import accumulate

    counts = new_counts()
    counts.add_pieces(b"".join(pieces), array("Q", accumulate(map(len, pieces))), None)
    return counts


def is_accepted(counts, pattern):
    """Return whether a pattern is said to cut the corpus, or left to itself."""
    try:
        check_matches(counts, pattern)
    except UsageError:
        return False
    return True


@pytest.mark.parametrize(
    ("pattern", "pieces"),
    [
        ("b", (b"a", b"b")),
        ("x*", (b"a",)),
        ("z", ()),  # an empty corpus is refused for what it is
        ("(?<=a)b", (b"a", b"b")),
        (r"\Bb", (b"a", b"b")),
        ("^b|b$", (b"a",)),
        ("é", ("é".encode(),)),
        (r"\p{L}+", (b"\xd0\xd2\xc9", b" ")),  # a stray byte is a letter
    ],
)
def test_patterns_that_cut(pattern, pieces):
    assert is_accepted(counts_of(*pieces), pattern)


@pytest.mark.parametrize(
    ("pattern", "pieces"), [("z", (b"abc",)), ("[^a-c]", (b"abc", b"b")), ("é", (b"\xc3",)), (r"\d+", (b"a b\n",))]
)
def test_patterns_that_cut_nothing(pattern, pieces):
    with pytest.raises(UsageError, match="matches nothing in the corpus, so that nothing is cut"):
        check_matches(counts_of(*pieces), pattern)


def test_many_pieces_are_looked_at():
    pieces = [b"%d" % number for number in range(10_000)]
    assert is_accepted(counts_of(*pieces, b"last"), "[a-z]+")
    with pytest.raises(UsageError):
        check_matches(counts_of(*pieces), "[a-z]+")


def test_help():
    assert (
        help_of("ngram", EXAMPLE) + "\n"
        == """\
Options of -a ngram: flags, and NAME=VALUE for --set

  --set size=...  (default: none)
      How much; `none` for any amount.

  --vocab-size  (default: not given)
      Tokens; not given for all. Not given: no bound.

  --pattern  (default: not given)
      An expression, or `none` for none.

  --set shares=...  (default: 0.5,1.0)
      Numbers.

  --set mark=...  (default: ' ')
      What `stands` there.

  --set on=...  (default: yes)
      Whether.
"""
    )


@pytest.mark.parametrize("trainer", TRAINERS.values(), ids=list(TRAINERS))
def test_every_option_is_described(trainer):
    shown = help_of("bpe", trainer)
    assert shown == shown.strip()
    lines = shown.splitlines()
    for each in fields(trainer.Options):
        labels = [line for line in lines if line.startswith(f"  --set {each.name}=...  (")]
        if labels:
            assert lines[lines.index(labels[0]) + 1].strip(), each.name
    assert sum(line.startswith("  --") for line in lines) == len(fields(trainer.Options)) - bool(trainer.follows)


def test_help_of_bytes_names_what_is_not_given():
    assert "      Not given, or 256 plus the number of special tokens.\n" in help_of("byte", Byte())
