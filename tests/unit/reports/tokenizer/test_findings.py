"""The sentences on top of a health report."""

from __future__ import annotations

import pytest

from bpe_cli.reports.tokenizer.corpus_report import count_frequencies, examine_corpus
from bpe_cli.reports.tokenizer.health import findings
from bpe_cli.reports.tokenizer.reachability import Reachability
from bpe_cli.reports.tokenizer.structure import Anatomy, examine_structure
from bpe_cli.reports.tokenizer.vocabulary_report import describe
from bpe_cli.stages import CharacterBpe, RankBpe, WordPiece
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer
from tests.unit.reports.published import published

BYTES = [bytes([byte]) for byte in range(256)]


def found_in(tokenizer, texts=None):
    anatomy = Anatomy(tokenizer)
    corpus = None if texts is None else examine_corpus(anatomy, count_frequencies(tokenizer, [Block.of(texts)]))
    return said(findings(tokenizer, describe(tokenizer), examine_structure(anatomy), corpus))


def found_in_published(name):
    known = published(name)
    return said(findings(known.tokenizer, known.report, known.structure))


def said(found):
    assert [finding.good for finding in found] == sorted((finding.good for finding in found), reverse=True)
    return {finding.text: finding.good for finding in found}


def ranks(*tokens):
    return Tokenizer(RankBpe(Vocabulary.from_tokens(tokens)))


def test_bytes_alone():
    assert found_in(ranks(*BYTES)) == {
        "any text can be encoded": True,
        "no token of several bytes cuts a character": True,
        "every digit is a token, no longer number is": True,
        "no run of spaces is one token: indented code becomes long": False,
        "10.2% of the tokens differ from another by case or a leading space only": True,
    }


def test_what_there_is_to_look_at():
    odd = [b"\xe8\xb0", b"\xff\xff", b"12", b" 7", b"a\0", b"", b"  "]
    found = found_in(ranks(*BYTES[:-1], *odd))
    assert [text for text, good in found.items() if not good] == [
        "1 byte has no token: text with them cannot be encoded",
        "1 token of several bytes can be in no UTF-8 text",
        "some numbers are one token, others of the same length are not (1 of 100 with 2 digits)",
        "1 token holds a number and the space before it",
        "runs of at most 2 spaces are one token: indented code becomes long",
        "1 token holds control characters",
        "1 id belongs to no token",
    ]
    assert "few tokens of several bytes cut characters (2, 0.8%)" in found


@pytest.mark.parametrize(
    ("options", "text", "good"),
    [
        ({"byte_fallback": True}, "any text can be encoded: unknown characters fall back to bytes", True),
        ({"unk_id": 0}, "what the vocabulary cannot spell becomes the unknown token, and is lost", False),
        ({}, "there is neither an unknown token nor bytes to fall back on", False),
    ],
)
def test_what_is_not_in_the_vocabulary(options, text, good):
    model = CharacterBpe(Vocabulary.from_tokens([b"a", b"b"]), Merges.from_pairs([]), **options)
    assert found_in(Tokenizer(model))[text] is good


def test_the_same_text_twice():
    tokenizer = Tokenizer(WordPiece(Vocabulary.from_tokens([b"[UNK]", b"a", b"##a"]), 0))
    assert found_in(tokenizer)["1 token stands for the same text as another"] is False


def test_a_corpus():
    tokenizer = ranks(b"a", b"b", b"ab", b"c")
    assert found_in(tokenizer, [])["the corpus has no token"] is False
    small = found_in(tokenizer, [b"ab"])
    assert small["the corpus never uses 3 tokens (75.0%), but the corpus is too small to blame them"] is False
    assert found_in(tokenizer, [b"ab"] * 400)["the corpus never uses 3 tokens (75.0%)"] is False
    assert found_in(tokenizer, [b"ab", b"a", b"b", b"c"])["the corpus uses every token"] is True
    chain = ranks(b"a", b"b", b"ab", b"c", b"abc")
    assert found_in(chain, [b"abc"] * 100)["1 token hardly serves but to be merged on"] is False


def test_reachability():
    tokenizer = ranks(*BYTES)
    report, structure = describe(tokenizer), examine_structure(Anatomy(tokenizer))
    counted = [
        [("plain", 3), ("special", 1)], [("plain", 3), ("ill-formed", 13)],
        [("plain", 3), ("ill-formed", 13), ("undecided", 1)], [("merges", 1)],
        [("merges", 600), ("pieces", 78), ("undecided", 2)],
    ]  # fmt: skip
    examined = [None, *(Reachability(0, tuple(counts), {}, {}) for counts in counted)]
    found = [findings(tokenizer, report, structure, reachability=each) for each in examined]
    said = [[(each.good, each.text) for each in every if each.about == "reachability"] for every in found]
    assert said == [
        [],
        [(True, "every token can be reached")],
        [(True, "every token can be reached, 13 only by bytes that are not UTF-8")],
        [(False, "all but 1 undecided token can be reached, 13 only by bytes that are not UTF-8")],
        [(False, "1 token out of reach of any text")],
        [(False, "678 tokens out of reach of any text, 2 more undecided")],
    ]  # fmt: skip


def test_what_a_corpus_does_not_know():
    tokenizer = Tokenizer(WordPiece(Vocabulary.from_tokens([b"[UNK]", b"a"]), 0))
    found = found_in(tokenizer, [b"a", b"b", b"a", b"c"])
    assert found["50.00% of the tokens of the corpus are the unknown one"] is False


@pytest.mark.parametrize(("name", "good"), [("rwkv-world", True), ("clip", True), ("t5-small", False)])
def test_bytes_of_other_models(name, good, shared):
    found = found_in_published(shared / "vocabs" / name)
    assert ("any text can be encoded: every byte is a token" in found) is good


def test_known_ones():
    gpt2, cl100k = map(found_in_published, ("gpt2", "cl100k_base"))
    assert cl100k["all numbers of up to 3 digits are one token"] is True
    assert not any(text.startswith("all numbers") for text in gpt2)
    assert any(text.endswith("a number and the space before it") for text in gpt2)
