"""GGUF files of rarer kinds, by hand from llama.cpp's rules: bytes with gaps, BPE over characters, RWKV, PLaMo 2.

Source of the rules: ``llm_tokenizer_bpe_session::tokenize``, ``llm_tokenizer_whitespace_session::tokenize``,
``llm_tokenizer_rwkv_session::tokenize``, ``llm_tokenizer_plamo2`` and ``llama_vocab::impl::token_to_piece``
(src/llama-vocab.cpp as vendored in llama-cpp-python 0.3.36). ``tests/differential/test_gguf_like_llama_cpp.py``
runs the same files there.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.formats import gguf
from bpe_cli.stages import CharacterBpe, MaxMatch, Unigram, WhitespaceSplit
from bpe_cli.stages.spelling import NORMAL, UNUSED
from tests.unit.formats.gguf_files import (
    fill_gemma4,
    fill_hybrid_dna,
    fill_plain_text,
    fill_plamo2,
    fill_rwkv,
    fill_whitespace,
    written,
)


@pytest.fixture
def read(tmp_path):
    def of(fill, pattern=None, **options):
        return gguf.loads(written(tmp_path / "x.gguf", lambda w: fill(w, **options)), "x.gguf", pattern)

    return of


def test_an_added_token_of_plain_text_whose_letters_spell_bytes(read):
    """õ spells F5, which no text has; é spells E9, with which 隣 (E9 9A A3) begins."""
    tokenizer = read(fill_plain_text)
    ids = {text: number for number, text in enumerate(("a", "b", "Ġ", "ab", "õ", "é", "ļ", "£", "Ã", "µ"))}
    assert tokenizer.encode("õab é") == [ids["õ"], ids["ab"], ids["Ġ"], ids["é"]]
    assert tokenizer.encode("隣") == [ids["é"], ids["ļ"], ids["£"]]
    assert tokenizer.decode_bytes([ids["õ"]]).decode() == "õ"
    assert tokenizer.decode_bytes(tokenizer.encode("隣")).decode() == "隣"
    with pytest.raises(InputError, match="byte 0xF5"):
        tokenizer.encode(b"\xf5")


def test_a_byte_without_a_token_is_refused_in_texts_and_merges_of_it_are_never_met(read):
    tokenizer = read(fill_plain_text, merges=("a b", "x a", "zz b"))
    assert tokenizer.encode("ab") == [3]
    with pytest.raises(InputError, match="byte 0x78"):
        tokenizer.encode("xa")
    with pytest.raises(FormatError, match="merge 2"):
        read(fill_plain_text, merges=("a b", "b a"))


def test_plain_text_tokens_are_written_again(read):
    tokenizer = read(fill_plain_text)
    again = gguf.loads(gguf.dump(tokenizer)[""])
    assert again == tokenizer


@pytest.mark.parametrize(
    ("model", "pre"),
    [("gemma4", None), ("gpt2", "gemma4"), ("gpt2", "granite-embed-multi-311m"), ("gpt2", "sarvam-moe")],
)
def test_blanks_become_marks_and_lines_are_pieces(read, model, pre):
    tokenizer = read(fill_gemma4, model=model, pre=pre)
    ids = {tokenizer.token_bytes(number).decode(): number for number in range(tokenizer.vocab_size)}
    assert tokenizer.encode("a ab") == [ids["a"], ids["▁ab"]]
    assert tokenizer.encode("ab\nab") == [ids["ab"], ids["\n"], ids["ab"]]
    assert tokenizer.encode("é") == [ids["<0xC3>"], ids["<0xA9>"]]
    assert tokenizer.encode("a<own>b<eos>") == [ids[each] for each in ("a", "<own>", "b", *("<0x3C>", "<0x65>"))] + [
        ids[f"<0x{byte:02X}>"] for byte in b"os>"
    ]
    assert tokenizer.decode_bytes(tokenizer.encode("ab  é\n\na")).decode() == "ab  é\n\na"
    assert (tokenizer.post_processor is not None) == (pre != "sarvam-moe")


def test_a_run_of_line_feeds_is_taken_as_a_whole_by_the_splits_that_do_so(read):
    """Two merge; three are a token that no merge makes; four are neither, so that two and two merge."""
    gemma4, sarvam = read(fill_gemma4), read(fill_gemma4, model="gpt2", pre="sarvam-moe")
    ids = {gemma4.token_bytes(number).decode(): number for number in range(gemma4.vocab_size)}
    one, two, three = (ids["\n" * count] for count in (1, 2, 3))
    assert isinstance(gemma4.model, CharacterBpe)
    assert (gemma4.model.whole_runs_of, sarvam.model.whole_runs_of) == ("\n", "")
    assert gemma4.encode("a\n\n\na") == [ids["a"], three, ids["a"]]
    assert sarvam.encode("a\n\n\na") == [ids["a"], two, one, ids["a"]]
    assert gemma4.encode("\n" * 4) == sarvam.encode("\n" * 4) == [two, two]
    assert read(fill_gemma4, threes=False).model.whole_runs_of == ""


def test_runs_are_kept_by_the_format_that_holds_everything_and_refused_by_the_others(read, tmp_path):
    tokenizer = read(fill_gemma4)
    path = tmp_path / "bpe.json"
    path.write_bytes(formats.dump(tokenizer, "bpe.json")[""])
    assert formats.load(path).model == tokenizer.model
    for name in ("tokenizer.json", "gguf", "sentencepiece"):
        with pytest.raises(FormatError):
            formats.dump(tokenizer, name, frozenset(formats.features.LOSSES))
    plain = read(fill_gemma4, threes=False)
    path.write_bytes(formats.dump(plain, "tokenizer.json")[""])
    assert formats.load(path).encode("ab é\n\n") == plain.encode("ab é\n\n")


def test_what_cannot_be_done_alike_is_refused(read):
    with pytest.raises(FormatError, match="255 of the 256 bytes"):
        read(fill_gemma4, without="<0x41>")
    with pytest.raises(FormatError, match=r'merge 4 .*"bb" is not a token'):
        read(fill_gemma4, merges=("b b",))
    assert read(fill_gemma4, merges=("zz b",)).encode("ab") == read(fill_gemma4).encode("ab")
    with pytest.raises(FormatError, match="names no token that texts begin with"):
        read(fill_gemma4, bos=False)
    with pytest.raises(UsageError, match="no pattern can be given"):
        read(fill_gemma4, pattern="x", model="gpt2", pre="gemma4")


def test_words_of_characters(read):
    """White space is left out, and so is a character without a token; what is on its sides does not merge."""
    tokenizer = read(fill_whitespace)
    assert tokenizer.encode("ab a\tbéab aéb") == [3, 1, 2, 3, 1, 2]
    assert tokenizer.decode_bytes([3, 1]) == b"aba"
    with pytest.raises(FormatError, match="aborts the whole program"):
        read(fill_whitespace, model="gpt2")


def test_longest_match_over_bytes(read):
    r"""``\x``, ``\n``, ``\t``, ``\r`` and a backslash before anything else are escapes; text is no control token."""
    tokenizer = read(fill_rwkv)
    assert isinstance(tokenizer.model, MaxMatch)
    end = 256 + 1
    assert tokenizer.encode("abc ab\n\\") == [end, 1 + ord("c"), end + 1, 1 + ord("\n"), 1 + ord("\\")]
    assert tokenizer.encode("<s>") == [1 + byte for byte in b"<s>"]
    assert tokenizer.encode("<s>", specials="all") == [0]
    assert tokenizer.encode("é") == [end + 2]
    assert tokenizer.encode(b"\xc3") == [1 + 0xC3]
    assert tokenizer.decode_bytes(tokenizer.encode("ab é\x00\xff")).decode() == "ab é\x00\xff"


def test_an_escape_that_is_none(read):
    with pytest.raises(FormatError, match="an invalid escape"):
        read(fill_rwkv, more=("\\xZZ",))
    with pytest.raises(FormatError, match="are both the bytes"):
        read(fill_rwkv, more=("\\x61b",))


def test_a_file_without_merges(read):
    def fill(writer, pre):
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(pre)
        writer.add_token_list(["a", "b", "ab"])

    assert read(fill, pre="kimi-k2").encode("ab") == [0, 1]
    with pytest.raises(FormatError, match="has no merges"):
        read(fill, pre="gpt-2")


# -- unigram in fixed point ------------------------------------------------------------------------


def texts_of(tokenizer, text):
    return [tokenizer.token_bytes(number).decode() for number in tokenizer.encode(text)]


def test_rounded_scores_are_added_from_the_end(read):
    """ "ab" costs as much as "a" and "b", and is longer; "ba" and "b" cost more than "b" and "ab"."""
    tokenizer = read(fill_plamo2)
    assert isinstance(tokenizer.model, Unigram)
    assert tokenizer.model.fixed_point
    assert texts_of(tokenizer, "ab ab") == ["ab", " a", "b"]
    assert texts_of(tokenizer, "bab") == ["ba", "b"]
    assert texts_of(tokenizer, "é中") == [f"<0x{byte:02X}>" for byte in "é中".encode()]
    assert texts_of(tokenizer, "a<own>b") == ["a", "<own>", "b"]
    assert tokenizer.decode_bytes(tokenizer.encode("ab é\x00中")) == "ab é\x00中".encode()
    assert tokenizer.encode(b"\xff\xc3") == [4 + 0xFF, 4 + 0xC3]


def test_a_byte_order_mark_is_left_out_where_a_text_begins(read):
    tokenizer = read(fill_plamo2)
    assert tokenizer.encode("\ufeffa") == tokenizer.encode("a")
    assert tokenizer.encode("a<own>\ufeffb") == tokenizer.encode("a<own>b")
    assert len(tokenizer.encode("a\ufeffb")) == 2 + 3
    assert tokenizer.encode("\ufeff") == []
    assert tokenizer.encode("\n\ufeffa") == [4 + 0x0A, 4 + 0xEF, 4 + 0xBB, 4 + 0xBF, *tokenizer.encode("a")]


def test_text_is_no_control_token_of_such_a_model(read):
    tokenizer = read(fill_plamo2)
    assert len(tokenizer.encode("<|plamo:bos|>")) == len("<|plamo:bos|>")
    assert tokenizer.encode("<|plamo:bos|>", specials="all") == [1]
    assert tokenizer.post_processor is None  # whatever add_bos_token says, as there


def test_tokens_that_are_never_taken(read):
    """At -2,000 none is; one character below -1,000 is unknown; the converter's padding stands at -1,000."""
    more = (("ba ", -2000.0, 1), ("é", -1000.5, 1), ("éé", -1500.0, 1), ("[PAD1]", -1000.0, 5), ("é ", -1.0, 5))
    tokenizer = read(fill_plamo2, more=more)
    first = tokenizer.vocab_size - len(more)
    assert [*tokenizer.model.kinds[first:]] == [UNUSED, UNUSED, NORMAL, UNUSED, NORMAL]
    assert texts_of(tokenizer, "éé") == ["éé"]
    assert texts_of(tokenizer, "é é") == ["é ", "<0xC3>", "<0xA9>"]
    assert "[PAD1]" not in texts_of(tokenizer, "[PAD1]")
    assert tokenizer.decode_bytes([first + 3]) == b"[PAD1]"


@pytest.mark.parametrize(
    "more", [(), (("[PAD1]", -1000.0, 5), ("é", -1.2345, 1)), (("", -1.0, 1), ("[PAD268]", 0.0, 5))]
)
def test_such_a_model_is_written_again(read, more, tmp_path):
    tokenizer = read(fill_plamo2, more=more)
    again = gguf.loads(gguf.dump(tokenizer)[""])
    assert again == tokenizer
    ours, theirs = dict(again.origin.facts), dict(tokenizer.origin.facts)
    assert {key: ours.get(key) for key in theirs} == theirs
    path = tmp_path / "bpe.json"
    path.write_bytes(formats.dump(tokenizer, "bpe.json")[""])
    assert formats.load(path) == tokenizer


def test_scores_that_single_precision_would_round_otherwise_are_written_rounded(read):
    """Of -838.86085 f32 makes -838.8608, which is another number of ten-thousandths."""
    tokenizer = read(fill_plamo2)
    scores = tokenizer.model.scores[:]
    scores[-1] = -838.86085
    changed = replace(tokenizer, model=replace(tokenizer.model, scores=scores))
    again = gguf.loads(gguf.dump(changed)[""])
    assert [round(score, 4) for score in (*again.model.scores[-1:], -838.8609)] == [-838.8609] * 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"without": "<0x41>"}, "no token of the byte <0x41>"),
        ({"more": (("<0xab>", 0.0, 6),)}, "is a byte, and is not written"),
        ({"more": (("<0xab>", 0.0, 1),)}, "is not a byte, and is written like one"),
        ({"more": (("xx", -1000.0, 1),)}, r'"xx", is -1000, by which'),
        ({"more": (("xx", 214749.0, 1),)}, "is larger than 214748"),
        ({"more": (("xx", float("nan"), 1),)}, "not a finite number"),
    ],
)
def test_scores_and_bytes_that_such_a_model_cannot_have(read, options, message):
    with pytest.raises(FormatError, match=message):
        read(fill_plamo2, **options)


def test_what_llama_cpp_has_no_such_model_for_is_not_written(read):
    with pytest.raises(FormatError, match="with id 0"):
        gguf.dump(read(fill_plamo2, first=False))
    tokenizer = read(fill_plamo2)
    for part, loss in (("normalizer", ()), ("decoder", ()), ("pre_tokenizer", (WhitespaceSplit(),))):
        with pytest.raises(FormatError, match=part.replace("_", "-")):
            gguf.dump(replace(tokenizer, **{part: loss}))
    for name in ("tokenizer.json", "sentencepiece"):
        with pytest.raises(FormatError, match="rounded scores"):
            formats.dump(tokenizer, name, frozenset(formats.features.LOSSES))


# -- words of DNA ----------------------------------------------------------------------------------


def test_words_of_dna(read):
    tokenizer = read(fill_hybrid_dna)
    assert texts_of(tokenizer, "ab<dna>acgtacCCCCCCnx</dna> ab") == [
        "ab", "<dna>", "ACGTAC", "CCCCCC", "<oov>", "</dna>", " ab",
    ]  # fmt: skip
    assert tokenizer.encode("CCCCCC") != tokenizer.encode("<dna>CCCCCC")[1:]
    assert gguf.loads(gguf.dump(tokenizer)[""]) == tokenizer
    assert read(fill_hybrid_dna, pattern="none").encode("<dna>n")[1:] == tokenizer.encode("<dna>n")[1:]


def test_a_tag_that_is_a_special_token_is_looked_for_as_such(read):
    for kind, asked in ((3, "all"), (4, ())):
        tokenizer = read(fill_hybrid_dna, types={"<dna>": kind})
        begin, *others = tokenizer.encode("<dna>n</dna>", specials=asked)
        assert tokenizer.token_bytes(begin) == b"<dna>"
        assert others == tokenizer.encode("n</dna>")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"without": "<dna>"}, 'no token "<dna>", without which'),
        ({"without": "</dna>"}, 'no token "</dna>", without which'),
        ({"without": "<oov>"}, 'no token "<oov>", without which'),
        ({"types": {"</dna>": 3}}, "would become"),
        ({"types": {"<oov>": 3}}, "would become"),
        ({"types": {"ACGTAC\ue000": 3}}, "a special token"),
        ({"types": {"ACGTAC\ue000": 4}}, "a special token"),
        ({"pre": "gemma4"}, 'hybriddna with the split "gemma4" cannot be read'),
        ({"pre": "of no kind"}, "which is not known"),
        ({"words": ("ACGTAC", "ACGTAC")}, "appears twice"),
    ],
)
def test_files_of_dna_that_are_refused(read, options, sentence):
    with pytest.raises(FormatError, match=sentence):
        read(fill_hybrid_dna, **options)


def test_words_that_are_missing_are_unknown(read):
    tokenizer = read(fill_hybrid_dna, words=("ACGTAC", "acgtta", "ACG", "ACGTACG"))
    assert texts_of(tokenizer, "<dna>acgtacacgttaacg") == ["<dna>", "ACGTAC", "<oov>", "<oov>"]
    assert texts_of(read(fill_hybrid_dna, words=()), "<dna>acgtac") == ["<dna>", "<oov>"]
