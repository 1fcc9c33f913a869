"""``bpe train --parity``: languages that choose merges, from texts and from counts; what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bpe_cli import _core, formats, train
from bpe_cli.formats import counts_file
from bpe_cli.stages.counting import Cutting
from bpe_cli.trainers.counts import counts_of
from tests.cli_runner import call, error

TEXTS = {
    "en": "low lower lowest newest newest widest\n" * 40,
    "th": "กินข้าว กินน้ำ ข้าวผัด\n" * 7,
    "de": "niedrig niedriger am niedrigsten, neu neuer\n" * 20,
}
NAMED = tuple(word for name in TEXTS for word in ("--language", f"{name}={name}.txt"))
DEV = tuple(word for name in TEXTS for word in ("--dev", f"{name}={name}-dev.txt"))
COUNTS = tuple(word for name in TEXTS for word in ("--from-counts", f"{name}={name}.counts"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8", newline="")
        (tmp_path / f"{name}-dev.txt").write_text(text.partition("\n")[0], encoding="utf-8", newline="")
    return tmp_path


def trained(folder: Path, *words: str) -> bytes:
    result = call("train", *words, "--parity", "-s", "300", "-o", "out.json", "-q", cwd=folder)
    assert (result.status, result.err) == (0, "")
    return (folder / "out.json").read_bytes()


def development() -> dict[str, list[str]]:
    return {name: [text.partition("\n")[0]] for name, text in TEXTS.items()}


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ((), {}),
        (DEV, {"development": development()}),
        (("--ratio", "th=2", "--ratio", "en=0.5"), {"ratios": {"th": 2, "en": 0.5}}),
        ((*DEV, "--window", "3"), {"development": development(), "window": 3}),
        ((*DEV, "--window", "3", "--set", "window_alpha=1.5"),
         {"development": development(), "window": 3, "window_alpha": 1.5}),
        (("--set", "shared_merges=5"), {"shared_merges": 5}),
        (("--set", "preload=@merges.txt"), {"preload": ["l o", "lo w"]}),
    ],
)  # fmt: skip
def test_the_library_does_the_same(words: tuple[str, ...], options: dict[str, Any], folder: Path, monkeypatch) -> None:
    (folder / "merges.txt").write_text("#version: 0.2\nl o\nlo w\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    trained(folder, *NAMED, *words)
    texts = {name: [text] for name, text in TEXTS.items()}
    expected = train(texts, vocab_size=300, parity=True, **options)
    assert formats.load(folder / "out.json").model == expected.model


@pytest.mark.parametrize("words", [(), DEV, ("--ratio", "th=3")])
def test_the_summary_counts_the_text_to_learn_from_once(words: tuple[str, ...], folder: Path) -> None:
    """Not what is only measured, nor a piece again for each language that has it."""
    sizes = ("--parity", "-s", "300", "-o", "out.json"), ("--parity", "-s", "290,300", "-o", "out-{size}.json")
    together = call("train", *NAMED, "-s", "300", "-o", "plain.json", cwd=folder).err
    pieces = re.findall(r"^([\d,]+ pieces, \d+ different) -> ", together, flags=re.MULTILINE)
    assert len(pieces) == 1
    for more in sizes:
        summary = call("train", *NAMED, *words, *more, cwd=folder).err
        assert re.findall(r"^(.* pieces, .* different) -> ", summary, flags=re.MULTILINE) == pieces


@pytest.mark.parametrize("words", [(), DEV, ("--ratio", "th=3"), ("--max-memory", "1", "-j", "3")])
def test_counts_of_languages_are_enough(words: tuple[str, ...], folder: Path) -> None:
    expected = trained(folder, *NAMED, *words)
    for name in TEXTS:
        assert call("train", f"{name}.txt", "--counts-out", f"{name}.counts", "-q", cwd=folder).status == 0
    assert trained(folder, *COUNTS, *words) == expected


def test_a_name_may_have_several_files(folder: Path) -> None:
    expected = trained(folder, *NAMED)
    half = len(TEXTS["en"]) // 2
    assert TEXTS["en"][half - 1] == "\n"
    for number, text in enumerate((TEXTS["en"][:half], TEXTS["en"][half:])):
        (folder / f"{number}.txt").write_text(text, encoding="utf-8", newline="")
        assert call("train", f"{number}.txt", "--counts-out", f"{number}.counts", "-q", cwd=folder).status == 0
    for name in ("th", "de"):
        assert call("train", f"{name}.txt", "--counts-out", f"{name}.counts", "-q", cwd=folder).status == 0
    assert trained(folder, "--from-counts", "en=0.counts", "--from-counts", "en=1.counts", *COUNTS[2:]) == expected


@pytest.mark.parametrize("cut", [("--pattern", "gpt2"), ("--pattern", "none", "--prefix-space")], ids=" ".join)
def test_development_sets_are_cut_as_the_counts_were(cut: tuple[str, ...], folder: Path) -> None:
    words = []
    for name, text in (("x", "1234 1234 1234"), ("y", "abcd abcd abcd")):
        (folder / f"{name}.txt").write_text(f"{text}\n", encoding="utf-8")
        made = call("train", f"{name}.txt", *cut, "--counts-out", f"{name}.counts", "-q", "--lines", cwd=folder)
        assert made.status == 0
        words += ["--from-counts", f"{name}={name}.counts", "--dev", f"{name}={name}.txt"]
    assert trained(folder, *words) == trained(folder, *words, *cut)


def test_counts_that_are_too_large(folder: Path) -> None:
    saved = counts_file.dump(counts_of([(b"a", 1 << 62)]), Cutting(None, unicode_version=_core.UNICODE_VERSION))
    (folder / "huge.counts").write_bytes(b"".join(saved))
    words = ("--from-counts", "x=huge.counts", "--from-counts", "y=huge.counts", "--parity", "-s", "300")
    message = "the corpus 'x', with those before it: the counted bytes pass 2^64 in total"
    assert call("train", *words, "-o", "out.json", "-q", cwd=folder) == (
        2, b"", error(message, "no corpus is that large: count again"),
    )  # fmt: skip


def test_what_it_says(folder: Path) -> None:
    result = call("train", *NAMED, "--parity", "-s", "270", "-o", "out.json", cwd=folder)
    assert result.status == 0
    first = result.err.splitlines()[0]
    assert first.startswith("note: merges chosen by en ")
    assert sum(int(word.rstrip(",")) for word in first.split() if word.rstrip(",").isdigit()) == 14


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("en.txt --parity", "--parity is for several corpora", "--language names them"),
        ("--language en=en.txt --parity", "--parity is for several corpora", "--language names them"),
        ("en.txt --dev en=en.txt", "--dev is for --parity", None),
        ("en.txt --ratio en=2", "--ratio is for --parity", None),
        ("en.txt --window 5", "--window has a meaning only where languages choose the merges", "it needs --parity"),
        (
            "--language en=en.txt --language th=th.txt --parity --dev en.txt",
            "--dev 'en.txt' is not NAME=INPUT",
            "for example: --dev th=thai-dev.txt",
        ),
        (
            "--language en=en.txt --language th=th.txt --parity --ratio en=x",
            "--ratio en must be a number such as 1.5, not 'x'",
            None,
        ),
        (
            "--language en=en.txt --language th=th.txt --parity --ratio de=2",
            "there is no corpus 'de' to have a ratio",
            "there are en, th",
        ),
        (
            "--language en=en.txt --language th=th.txt --parity --dev en=en.txt",
            "the corpus 'th' has no development set, and others have one",
            "the sets say the same in all languages, so that their tokens can be compared",
        ),
        (
            "--language en=en.txt --language th=th.txt --parity --weight th=2",
            "--weight says how much a corpus counts, and with --parity the worst-compressed language chooses",
            "--ratio asks for more compression in some languages than in others",
        ),
        (
            "--language en=en.txt --language th=th.txt --parity --counts-out a.counts",
            "--counts-out keeps the counts of one corpus, and --parity has several",
            "count each language by itself with --counts-out, and train with --from-counts NAME=FILE",
        ),
        (
            "--from-counts en.counts --parity",
            "--from-counts 'en.counts' is not NAME=FILE",
            "for example: --from-counts th=thai.counts, as --parity needs to know the language",
        ),
        (
            "--language en=en.txt --from-counts th=th.counts --parity",
            "--language are counted in one run, and --from-counts are counts already",
            "give one of them",
        ),
    ],
)
def test_refusals(words: str, message: str, hint: str | None, folder: Path) -> None:
    result = call("train", *words.split(), "-s", "270", "-o", "out.json", "-q", cwd=folder)
    assert result == (2, b"", error(message, hint))
    assert not (folder / "out.json").exists()


def test_a_name_before_counts_needs_parity(folder: Path) -> None:
    assert call("train", "en.txt", "--counts-out", "en.counts", "-q", cwd=folder).status == 0
    words = ("train", "-s", "270", "-o", "out.json", "-q", "--from-counts")
    message = "--from-counts 'en=en.counts' names a language, which is for --parity"
    hint = "without it, name the file alone: --from-counts en.counts"
    assert call(*words, "en=en.counts", cwd=folder) == (2, b"", error(message, hint))
    (folder / "en.counts").rename(folder / "en=en.counts")
    assert call(*words, "en=en.counts", cwd=folder).status == 0


def test_other_algorithms_have_no_parity(folder: Path) -> None:
    result = call("train", *NAMED, "--parity", "-a", "unigram", "-s", "270", "-o", "out.json", cwd=folder)
    assert result.status == 2
    assert result.err.startswith("error: -a unigram has no --parity\n")
