"""``bpe train --language``, ``--weight``, ``--alpha`` and ``--sample``: which text counts, and how often."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.errors import UsageError
from bpe_cli.jobs.mixing import Mixture
from bpe_cli.support.blocks import Block
from bpe_cli.trainers import base
from tests.cli_runner import call, error

ENGLISH = b"low lower lowest newest newest widest\n" * 40
THAI = "กินข้าว กินน้ำ ข้าวผัด\n".encode() * 7
CODE = b"def low(new):\n    return new\n"


@pytest.fixture
def folder(tmp_path):
    for name, text in {"en": ENGLISH, "th": THAI, "code": CODE}.items():
        (tmp_path / f"{name}.txt").write_bytes(text)
    return tmp_path


def trained(folder, *words, size=290):
    result = call("train", *words, "-s", size, "-o", "out.json", "-q", cwd=folder)
    assert (result.status, result.err) == (0, "")
    return (folder / "out.json").read_bytes()


NAMED = ("--language", "en=en.txt", "--language", "th=th.txt", "--language", "code=code.txt")


@pytest.mark.parametrize(
    ("weights", "times"),
    [
        ((), (1, 1, 1)),
        (("th=3",), (1, 3, 1)),
        (("th=3/2", "code=2"), (2, 3, 4)),
        (("th=1.5", "code=0.2"), (10, 15, 2)),
        (("en=4", "th=6", "code=2"), (4, 6, 2)),
    ],
)
def test_a_weight_is_so_many_copies(weights, times, folder):
    more = [word for weight in weights for word in ("--weight", weight)]
    copies = []
    for name, number in zip(("en", "th", "code"), times, strict=True):
        for copy in range(number):
            path = folder / f"{name}-{copy}.txt"
            path.write_bytes((folder / f"{name}.txt").read_bytes())
            copies.append(path.name)
    assert trained(folder, *NAMED, *more) == trained(folder, *copies)
    assert trained(folder, *NAMED, *more, "--max-memory", "1", "-j", "3") == trained(folder, *copies)
    for words, out in ((NAMED, "1.counts"), (copies, "2.counts")):
        given = more if words is NAMED else ()
        assert call("train", *words, *given, "--counts-out", out, "-q", cwd=folder).status == 0
    assert (folder / "1.counts").read_bytes() == (folder / "2.counts").read_bytes()


def test_a_name_may_have_several_inputs(folder):
    words = ("--language", "a=en.txt", "--language", "b=th.txt", "--language", "a=code.txt", "--weight", "a=2")
    assert trained(folder, *words) == trained(folder, *(f"--language=a{number}={each}" for number, each in enumerate(
        ("en.txt", "code.txt", "th.txt"))), "--weight", "a0=2", "--weight", "a1=2")  # fmt: skip


def test_what_it_says(folder):
    result = call("train", *NAMED, "--alpha", "0", "-s", "270", "-o", "out.json", cwd=folder)
    assert result.err.splitlines()[:3] == [
        "note: en: 76.4% of the text, counted 100 times: 33.3%",
        "note: th: 22.2% of the text, counted 345 times: 33.4%",
        "note: code: 1.5% of the text, counted 5,241 times: 33.3%",
    ]


def test_temperature_is_weights(folder):
    """Shares p become proportional to p ** 0.5: the factors are those that the rule states."""
    sizes = {"en": len(ENGLISH), "th": len(THAI), "code": len(CODE)}
    assert trained(folder, *NAMED, "--alpha", "1") == trained(folder, *NAMED)
    factors = Mixture({}, Fraction(1, 2)).factors(list(sizes), list(sizes.values()))
    weights = [f"--weight={name}={factor}" for name, factor in zip(sizes, factors, strict=True)]
    assert factors == [50, 93, 362]  # 100, 186 and 724, by their greatest common divisor
    assert trained(folder, *NAMED, "--alpha", "0.5") == trained(folder, *NAMED, *weights)
    assert trained(folder, *NAMED, "--alpha", "0.5") != trained(folder, *NAMED)


def notes(folder, *words):
    result = call("train", *words, "-o", "out.json", cwd=folder)
    assert result.status == 0, result.err
    return [line for line in result.err.splitlines() if " of the text, counted " in line]


def test_superwords_are_weighed_as_words_are(folder):
    """Words are counted besides runs of them, each with a mark: text is weighed once, and without marks."""
    (folder / "short.txt").write_text(("a b c d e f g h " * 50 + "\n") * 10)
    (folder / "long.txt").write_text(("abcdefghijklmno " * 50 + "\n") * 10)
    words = ("--language", "s=short.txt", "--language", "l=long.txt", "--alpha", "0", "-s", "300")
    equal = [f"note: {name}: 50.0% of the text, counted once: 50.0%" for name in "sl"]
    assert notes(folder, *words) == equal
    assert notes(folder, *words, "--superwords") == equal


@pytest.mark.parametrize(
    "algorithm",
    [
        ("-a", "bpe", "-s", "60"),
        ("-a", "bpe", "--normalizer", "nfd", "--set", "by_byte=yes", "-s", "600"),
        ("-a", "wordpiece", "--min-frequency", "1", "-s", "60"),
    ],
    ids=" ".join,
)
def test_a_dictionary_is_weighed_as_its_text(algorithm, folder):
    words = {"en": {"low": 1000, "new": 500}, "de": {"die": 2, "der": 1, "süß": 1}}
    for name, counts in words.items():
        for kind, text in (
            ("txt", "".join(f"{word}\n" * count for word, count in counts.items())),
            ("lines", "".join(f"{word} {count}\n" for word, count in counts.items())),
            ("dict", json.dumps(counts, indent=1)),
        ):
            (folder / f"{name}.{kind}").write_text(text, encoding="utf-8")
    made = {}
    for kind, more in (("txt", ()), ("lines", ("--set", "dictionary=yes")), ("dict", ("--set", "dictionary=yes"))):
        corpora = [f"--language={name}={name}.{kind}" for name in words]
        told = notes(folder, *corpora, "--alpha", "0.3", *algorithm, *more)
        made[kind] = told, (folder / "out.json").read_bytes()
    assert made["txt"][0][0].startswith("note: en: 99.7% of the text, counted ")
    assert made["lines"] == made["dict"] == made["txt"]


def test_bytes_are_weighed_and_not_how_they_are_written(folder):
    """With ``by_byte``, words are counted in visible characters, of which some have two bytes."""
    words = ("-a", "bpe", "--set", "by_byte=yes", "-s", "600", "--alpha", "0")
    (folder / "a.txt").write_text("abcd " * 30)
    (folder / "b.txt").write_text("öä " * 30, encoding="utf-8")
    assert notes(folder, "--language", "a=a.txt", "--language", "b=b.txt", *words) == [
        f"note: {name}: 50.0% of the text, counted once: 50.0%" for name in "ab"
    ]


def test_a_list_is_weighed_by_its_tokens(folder):
    (folder / "a.list").write_text("sing 12\ning 30\n")
    (folder / "b.list").write_text("lang\nang\n")
    assert notes(folder, "--language", "a=a.list", "--language", "b=b.list", "--alpha", "0", "-a", "list") == [
        "note: a: 95.2% of the text, counted 100 times: 50.0%",
        "note: b: 4.8% of the text, counted 1,971 times: 50.0%",
    ]


def test_a_dictionary_without_any_count_has_no_text(folder):
    (folder / "none.txt").write_text("low 0\n")
    words = "--language en=some.txt --language de=none.txt --alpha 0 -a bpe --set dictionary=yes -s 30 -o out.json -q"
    (folder / "some.txt").write_text("low 5\n")
    assert call("train", *words.split(), cwd=folder) == (
        2, b"", error("there is nothing to train on: the corpus 'de' has no text", None)
    )  # fmt: skip


@given(st.lists(st.integers(1, 10**12), min_size=2, max_size=5), st.integers(0, 20))
def test_factors_are_rounded_to_hundredths(sizes, twentieths):
    alpha = Fraction(twentieths, 20)
    factors = Mixture({}, alpha).factors([str(number) for number in range(len(sizes))], sizes)
    scale = 100 / factors[sizes.index(max(sizes))]
    for size, factor in zip(sizes, factors, strict=True):
        wanted = 100 * (max(sizes) / size) ** (1 - float(alpha))
        assert abs(factor * scale - wanted) <= 0.5 + 1e-9 * wanted


@pytest.mark.parametrize("more", [(), ("-j", "1"), ("-j", "3"), ("--block-size", "7")], ids=" ".join)
def test_a_sample_is_the_same_whatever_threads_and_blocks(more, folder):
    lines = [b"%d low lower %d\n" % (number, number * number) for number in range(500)]
    (folder / "many.txt").write_bytes(b"".join(lines))
    drawn = base.reservoir([line.rstrip(b"\n") for line in lines], 20, 5)
    (folder / "drawn.txt").write_bytes(b"".join(line + b"\n" for line in drawn))
    words = ("--lines", "--sample", "20", "--seed", "5", *more)
    assert trained(folder, "many.txt", *words) == trained(folder, "drawn.txt", "--lines")
    assert trained(folder, "many.txt", "--lines", "--sample", "500") == trained(folder, "many.txt", "--lines")
    assert trained(folder, "--language", "a=many.txt", *words) == trained(folder, "drawn.txt", "--lines")


def test_each_corpus_has_a_sample_of_its_own(folder):
    words = ("--language", "a=en.txt", "--language", "b=th.txt", "--lines", "--sample", "2")
    (folder / "two.txt").write_bytes(ENGLISH[: len(ENGLISH) // 20] + THAI[: 2 * len(THAI) // 7])
    assert trained(folder, *words) == trained(folder, "two.txt", "--lines")


def test_a_large_sample_comes_in_blocks(monkeypatch):
    monkeypatch.setattr(base, "_BLOCK_BYTES", 4)
    blocks = list(base.sample([Block.of([b"abc", b"de", b"f", b"ghijk"])], 3, 1))
    assert [document for block in blocks for document in map(bytes, block.documents())] == base.reservoir(
        [b"abc", b"de", b"f", b"ghijk"], 3, 1
    )
    assert len(blocks) == 2


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (
            "en.txt --language th=th.txt",
            "--language names corpora, and INPUT has no name",
            "give it one: --language NAME=INPUT",
        ),
        (
            "--language th.txt",
            "--language 'th.txt' is not NAME=INPUT",
            "for example: --language th=thai/",
        ),
        (
            "en.txt --weight th=3",
            "there is no corpus 'th' to weigh",
            "--language names them",
        ),
        (
            "--language en=en.txt --weight th=3",
            "there is no corpus 'th' to weigh",
            "the corpora are: en",
        ),
        (
            "--language en=en.txt --weight 3",
            "--weight '3' is not NAME=N",
            "for example: --weight th=3",
        ),
        (
            "--language en=en.txt --weight en=x",
            "--weight en must be a number such as 3, 1.5 or 3/2, not 'x'",
            None,
        ),
        (
            "--language en=en.txt --weight en=1/0",
            "--weight en must be a number such as 3, 1.5 or 3/2, not '1/0'",
            None,
        ),
        (
            "--language en=en.txt --weight en=1000000000000",
            "--weight en has 9 digits at most before a point or slash, and 9 after it, not '1000000000000'",
            None,
        ),
        (
            "--language en=en.txt --weight en=0",
            "the weight of 'en' is not above 0",
            "leave the corpus out",
        ),
        (
            "en.txt --alpha 0.5",
            "--alpha is for several corpora",
            "--language names them",
        ),
        (
            "--language a=en.txt --language b=th.txt --alpha 0.5 --weight a=2",
            "--weight and --alpha both say how much a corpus counts",
            "give one of them",
        ),
        (
            "--language a=- --language b=-",
            "stdin can be one corpus only",
            "name files for the others",
        ),
        (
            "--language a=en.txt --language b=empty.txt",
            "there is nothing to train on: the corpus 'b' has no text",
            None,
        ),
        (
            "en.txt --seed 3",
            "--seed is for --sample",
            None,
        ),
        (
            "en.txt --sample 3 --counts-dir counts",
            "--sample draws documents, and --counts-dir has counts of pieces",
            "give one of them",
        ),
        (
            "--language a=en.txt --from-counts x.counts",
            "--language are counted in one run, and --from-counts are counts already",
            "give one of them",
        ),
        (
            "--language a=en.txt --language b=th.txt --weight a=3 -a maxmatch",
            "--weight says how often a corpus counts, and the result of this algorithm does not depend on that",
            "leave it out",
        ),
        (
            "--language a=en.txt --language b=th.txt --alpha 0.3 -a list --set match=max-match",
            "--alpha says how often a corpus counts, and the result of this algorithm does not depend on that",
            "leave it out",
        ),
        (
            "--language a=en.txt --language b=th.txt --weight a=999999999 --weight b=1/999999999",
            "the weights are too large: the counts pass 2^63",
            "give smaller ones, or simpler ratios",
        ),
    ],
)  # fmt: skip
def test_refusals(words, message, hint, folder):
    (folder / "empty.txt").write_bytes(b"")
    assert call("train", *words.split(), "-s", "270", "-o", "out.json", "-q", cwd=folder) == (
        2,
        b"",
        error(message, hint),
    )
    assert not (folder / "out.json").exists()


@pytest.mark.parametrize("algorithm", ["maxmatch", "byte"])
@pytest.mark.parametrize("how", [{"weights": {"a": 2}}, {"alpha": 0.3}], ids=str)
def test_the_library_refuses_weights_that_change_nothing_too(algorithm, how):
    with pytest.raises(UsageError, match="the result of this algorithm does not depend on that") as caught:
        bpe_cli.train({"a": ["ab"], "b": ["cd"]}, algorithm, **how)
    assert f"`{next(iter(how))}` says" in caught.value.message


@pytest.mark.parametrize("alpha", [Fraction(-1), Fraction(3, 2), Fraction(1, 2000)])
def test_an_exponent_has_bounds(alpha):
    with pytest.raises(UsageError, match="`alpha` must be from 0 to 1, with at most 3 decimals"):
        Mixture({}, alpha)
