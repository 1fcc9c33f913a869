"""Codes of fastBPE: what is read, what is written, what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_cli import formats
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.formats import subword_nmt
from bpe_cli.formats.features import LOSSES
from bpe_cli.formats.subword_nmt import fastbpe
from bpe_cli.stages import Lowercase, MergeBpe
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bpe, train
from tests.cli_runner import call
from tests.unit.formats.hostile import refused_quickly, try_all

SMALL = b"t h 9\nth e</w> 8\nl o 3\nlo w</w> 3\n"
SAME = b"#version: 0.2\nt h\nth e</w>\nl o\nlo w</w>\n"


def again(data: bytes) -> None:
    """What can be read can be written, and is the same when read."""
    tokenizer = fastbpe.loads(data)
    assert fastbpe.loads(fastbpe.dump(tokenizer)[""]) == tokenizer


def test_codes_are_those_of_subword_nmt():
    tokenizer = fastbpe.loads(SMALL)
    assert tokenizer == subword_nmt.tokenizer_of(subword_nmt.load_codes(SAME))
    assert subword_nmt.dump(tokenizer) == {"": SAME}
    assert tokenizer.decode_bytes(tokenizer.encode("the low lot")) == b"the low lot"


def test_files_come_out_as_they_went_in(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(SMALL)
    assert formats.identify(path) == "fastbpe"
    tokenizer = formats.load(path)
    assert fastbpe.dump(tokenizer) == {"": SMALL}
    assert fastbpe.loads(SMALL.replace(b"\n", b"\r\n")) == tokenizer
    with pytest.raises(UsageError, match="no pattern can be given"):
        formats.load(path, "gpt2")
    with pytest.raises(InputError):
        fastbpe.load(tmp_path / "none")


def test_counts_that_nobody_knows_are_0():
    tokenizer = subword_nmt.tokenizer_of(subword_nmt.load_codes(SAME))
    written = fastbpe.dump(tokenizer)[""]
    assert written == b"t h 0\nth e</w> 0\nl o 0\nlo w</w> 0\n"
    assert fastbpe.loads(written) == tokenizer
    more = fastbpe.loads(SMALL + b"w e 1\n")
    assert fastbpe.dump(replace(more, origin=fastbpe.loads(SMALL).origin)) == {"": SMALL + b"w e 0\n"}


NEW = frozenset({"ids"})


def test_what_is_trained_reads_back():
    trained = train(["low low lower lowest"], bpe.Options(30, compat="subword-nmt"))
    assert subword_nmt.dump(fastbpe.loads(fastbpe.dump(trained, NEW)[""])) == subword_nmt.dump(trained, NEW)


def test_the_first_line_is_no_header():
    tokenizer = fastbpe.loads(b"#version: 0.2 7\na b</w> 6\n")
    assert b"#version:0.2" in [token for _, token in tokenizer.model.vocabulary.items()]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"t h\n", 'not two symbols and a count with blanks between: "t h" (f:1)'),
        (b"t h 1 2\n", "not two symbols and a count"),
        (b"t  h 1\n", "not two symbols and a count"),
        (b"t h x\n", "not two symbols and a count"),
        (b"t h -1\n", "not two symbols and a count"),
        (b"t h 1\n\nl o 1\n", '"" (f:2)'),
        (b"t h 1\n\xff o 1\n", "the line is not UTF-8"),
        (b"t h 1\nl o 1\nt h 0\n", 'the pair "t h" stands there already (f:3)'),
    ],
)
def test_broken_codes_are_refused(data, message):
    with pytest.raises(FormatError) as caught:
        fastbpe.loads(data, "f")
    assert message in caught.value.message


def test_sniffing():
    assert fastbpe.sniff(SMALL)
    assert fastbpe.sniff((SMALL * 5000)[: 1 << 16]), "the last line may be cut"
    for other in (b"", SAME, b"t h\nth e</w>\n", b"t h 9\n", b"5 6 8\n4 8 9\n", b"1 'a' 1\n", b"low 5\n"):
        assert not fastbpe.sniff(other)


def test_hostile_codes_are_refused_quickly():
    assert "not two symbols" in refused_quickly(b"t h " + b"9" * 1_000_000 + b"\n", fastbpe.loads)
    assert "not two symbols" in refused_quickly(b"t" * 1_000_000, fastbpe.loads, most_cost=16)
    assert "stands there already" in refused_quickly(b"t h 1\n" * 100_000, fastbpe.loads, most_cost=16)


def test_mutations():
    try_all(SMALL, again)


def test_what_codes_cannot_hold_is_refused():
    tokenizer = fastbpe.loads(SMALL)
    with pytest.raises(FormatError, match="codes cannot hold byte-level BPE by merges"):
        fastbpe.dump(Tokenizer(MergeBpe(Vocabulary.from_tokens([b"a"]), Merges.from_pairs([]))))
    for header in (b"#version: 0.1\nt h\n", b"#version: 0.2 byte\n\xd0 \xbe</w>\n"):
        with pytest.raises(FormatError, match="over characters, and the mark of a word's end is part of the last"):
            fastbpe.dump(subword_nmt.tokenizer_of(subword_nmt.load_codes(header)))
    other = replace(tokenizer, normalizer=(Lowercase(),))
    with pytest.raises(FormatError, match="the normalizer"):
        fastbpe.dump(other)
    assert fastbpe.dump(other, LOSSES) == {"": SMALL}


def test_text_is_segmented(tmp_path):
    (tmp_path / "codes").write_bytes(SMALL)
    (tmp_path / "vocab").write_bytes(b"th@@ 7\nlow 5\nthe 2\n")
    encode = ("encode", "-t", "codes", "--to", "segmented")
    text = b"the low lot\n"
    assert call(*encode, input=text, cwd=tmp_path).out == b"the low lo@@ t\n"
    limited = call(*encode, "--vocabulary", "vocab", "--vocabulary-threshold", "5", input=text, cwd=tmp_path)
    assert limited.out == b"th@@ e low l@@ o@@ t\n"


# -- what fastBPE's applybpe does, by its rules, in plain Python -------------------------------------

LETTERS = "abc"


def apply(codes: list[tuple[str, str]], word: str, vocabulary: set[str] | None = None) -> str:
    """Merge the pair of the earliest line everywhere, again and again; take apart what is not in a vocabulary."""
    parts = [*word[:-1], word[-1] + "</w>"]
    while True:
        ranks = [codes.index(pair) for pair in pairwise(parts) if pair in codes]
        if not ranks:
            break
        best, at = codes[min(ranks)], 0
        while at < len(parts) - 1:
            if (parts[at], parts[at + 1]) == best:
                parts[at : at + 2] = ["".join(best)]
            at += 1
    made = {left + right: (left, right) for left, right in codes}

    def known(part: str) -> list[str]:
        shown = part.removesuffix("</w>") if part.endswith("</w>") else part + "@@"
        if vocabulary is None or shown in vocabulary or part not in made:
            return [part]
        return [each for half in made[part] for each in known(half)]

    parts = [each for part in parts for each in known(part)]
    return "@@ ".join(part.removesuffix("</w>") for part in parts)


@settings(max_examples=12)
@given(data=st.data())
def test_text_is_segmented_as_by_applybpe(tmp_path_factory, data):
    codes: list[tuple[str, str]] = []
    symbols = [*LETTERS, *(letter + "</w>" for letter in LETTERS)]
    for _ in range(data.draw(st.integers(1, 8))):
        left = data.draw(st.sampled_from([symbol for symbol in symbols if not symbol.endswith("</w>")]))
        right = data.draw(st.sampled_from(symbols))
        if left + right not in symbols:  # fastBPE stops at a product that appears twice
            codes.append((left, right))
            symbols.append(left + right)
    words = data.draw(st.lists(st.text(LETTERS, min_size=1, max_size=8), min_size=1, max_size=6))
    known = {text for word in words for text in apply(codes, word).split()}
    vocabulary = data.draw(st.sets(st.sampled_from(sorted(known)), min_size=1))
    folder = tmp_path_factory.mktemp("codes")
    (folder / "codes").write_text("".join(f"{left} {right} 1\n" for left, right in [*codes, ("z", "z</w>")]))
    (folder / "vocab").write_text("".join(f"{text} 1\n" for text in vocabulary))
    encode = ("encode", "-t", "codes", "--to", "segmented")
    line = " ".join(words).encode()
    assert call(*encode, input=line, cwd=folder).text == " ".join(apply(codes, word) for word in words) + "\n"
    limited = call(*encode, "--vocabulary", "vocab", input=line, cwd=folder)
    assert limited.text == " ".join(apply(codes, word, vocabulary) for word in words) + "\n"


def test_where_fastbpe_differs(tmp_path):
    """An empty vocabulary limits nothing there; CR belongs to words there; of two ways to make a text it stops."""
    (tmp_path / "codes").write_bytes(SMALL)
    (tmp_path / "vocab").write_bytes(b"")
    encode = ("encode", "-t", "codes", "--to", "segmented", "--vocabulary", "vocab")
    assert call(*encode, input=b"the\n", cwd=tmp_path).out == b"t@@ h@@ e\n"
    tokenizer = fastbpe.loads(SMALL)
    assert tokenizer.encode("low\rlow") == tokenizer.encode("low low")
    both = fastbpe.loads(b"a b 3\nb c 3\nab c 2\na bc 1\n")
    assert len(both.model.merges) == 4
    assert fastbpe.dump(both) == {"": b"a b 3\nb c 3\nab c 2\na bc 1\n"}
