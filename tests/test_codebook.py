"""Words between tags: a codebook through all that a tokenizer does, held to plain Python; llama.cpp is not needed."""

from __future__ import annotations

import copy
import json
import pickle
import random
import re
from array import array
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import _core, formats
from bpe_cli.chat.encoding import ChatEncoder
from bpe_cli.errors import FormatError, InputError
from bpe_cli.formats import byte_level
from bpe_cli.formats.gguf.to_tokenizer import DNA
from bpe_cli.reports.tokenizer.reachability.examine import examine
from bpe_cli.stages import Codebook, MergeBpe, PrefixSpace, SpecialToken, Split
from bpe_cli.stages.codebook import codebook_words
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.spelling import CHAR_TO_BYTE
from bpe_cli.support.blocks import Block
from bpe_cli.surgery import merge, prune
from bpe_cli.tokenizer import Tokenizer, fingerprint
from tests.cli_runner import run
from tests.counted import at_least, compared
from tests.oracle.codebook import segments

WORDS = ("ACGTAC", "CCCCCC", "TTTAAA", "NAAAAA", "Aé1AA")
MERGES = (("C", "C"), ("CC", "CC"), ("CCCC", "CC"), ("a", "b"), ("Ġ", "ab"), ("<", "d"), ("A", "C"))


def tokenizer_of(*specials: SpecialToken, book: Codebook | None = DNA, pattern: str = "qwen2") -> Tokenizer:
    """Make byte-level BPE of all bytes beside a few words, of which one has the text of an ordinary token."""
    texts = [*CHAR_TO_BYTE, *map("".join, MERGES), "<dna>", "</dna>", "<oov>", *(f"{word}\ue000" for word in WORDS)]
    ids = {text: number for number, text in enumerate(texts)}
    model = replace(byte_level.read_model(ids, MERGES, (), "here"), codebook=book)
    own = (SpecialToken(b"<own>", len(ids), special=False), SpecialToken(b"<end>", len(ids) + 1))
    return Tokenizer(model, (Split(PATTERNS[pattern].regex),), (*specials, *own))


TOKENIZER = tokenizer_of()
IDS = {TOKENIZER.token_bytes(number): number for number in range(TOKENIZER.model.vocabulary.size)}
BOOK = {word: number for number, word in codebook_words(TOKENIZER.model).items()}
TAGS = {text: IDS[text.encode()] for text in ("<dna>", "</dna>", "<oov>")}
IDS |= BOOK
IDS_OF_TEXT = {text: number for number, text in enumerate([*CHAR_TO_BYTE, *map("".join, MERGES)])}
OWN = TOKENIZER.special_tokens[0].token_id


def by_oracle(text: bytes, specials: tuple[bytes, ...] = (b"<own>",), tokenizer: Tokenizer = TOKENIZER) -> list[int]:
    """Encode by plain Python, and what stands outside of tags by the same tokenizer without a codebook."""
    assert isinstance(tokenizer.model, MergeBpe)
    plain = replace(tokenizer, model=replace(tokenizer.model, codebook=None), special_tokens=())
    special = {token.content: token.token_id for token in tokenizer.special_tokens}
    ids: list[int] = []
    for part in re.split(b"(%b)" % b"|".join(map(re.escape, specials)), text):
        if part in specials:
            ids.append(special[part])
            continue
        for stretch, token_id in segments(part, DNA, TAGS, BOOK):
            ids += plain.encode(stretch) if token_id is None else [token_id]
    return ids


PARTS = [
    b"<dna>", b"</dna>", b"<oov>", b"<own>", b"<end>", b"ACGTAC", b"acgtac", b"CCCCCC", b"tttaaa", b"TTT", b"n", b"g",
    b"<dn", b"a>", b"</", b" ", b" ab", b"ab", b"\n", "A\u00e91AA".encode(), "\u00e9".encode(), "\ue000".encode(),
    "CCCCCC\ue000".encode(), b"\xff", b"\xc3",
]  # fmt: skip
texts = st.lists(st.sampled_from(PARTS), max_size=16).map(b"".join)


def test_by_hand():
    """Six letters are a word, in small letters too; two are filled up; what is not there is unknown."""
    begin, end, unknown, acgtac, cccccc, tttaaa, naaaaa, _ = range(IDS[b"<dna>"], IDS[b"<dna>"] + 8)
    assert TOKENIZER.encode("<dna>acgtacCCCCCCTTT</dna>") == [begin, acgtac, cccccc, tttaaa, end]
    assert TOKENIZER.encode("<dna>n") == [begin, naaaaa]
    assert TOKENIZER.encode("<dna>xyACGTAC</dna></dna>")[:4] == [begin, unknown, unknown, end]
    assert TOKENIZER.encode("<dna><dna></dna>") == [begin, unknown, end]
    ordinary = IDS_OF_TEXT["CCCCCC"]
    assert TOKENIZER.encode("CCCCCC") == [ordinary] != [cccccc]
    assert TOKENIZER.decode_bytes([acgtac, ordinary, cccccc, unknown]) == b"ACGTACCCCCCCCCCCCC<oov>"
    assert acgtac not in TOKENIZER.encode("ACGTAC\ue000")
    assert TOKENIZER.encode("ab<dna>n<own>n") == [IDS[b"ab"], begin, naaaaa, OWN, IDS[b"n"]]


@given(texts)
def test_ids_are_those_of_plain_python(text):
    assert TOKENIZER.encode(text) == by_oracle(text)
    assert TOKENIZER.encode(text, specials="all") == by_oracle(text, (b"<own>", b"<end>"))


@at_least(36)
@given(texts, st.integers(0, 40))
def test_where_a_text_can_be_cut_both_parts_stand_alone(text, cut):
    cut = min(cut, len(text))
    matcher = TOKENIZER.matcher("all" if cut % 2 else ())
    for known in (len(text), (len(text) + cut) // 2, cut):
        if matcher.moves_cut(text[:known], cut) is None:
            apart = matcher.find_all(text[:cut])
            apart += [(start + cut, end + cut, number) for start, end, number in matcher.find_all(text[cut:])]
            assert matcher.find_all(text) == apart
            compared()


@given(texts, st.booleans())
def test_tokens_stand_for_all_of_the_text_and_what_fills_a_word_up_for_none_of_it(text, prefix):
    tokenizer = replace(TOKENIZER, pre_tokenizer=(PrefixSpace(), *TOKENIZER.pre_tokenizer)) if prefix else TOKENIZER
    placed = tokenizer.place(text)
    assert [*placed.ids] == tokenizer.encode(text)
    reached = 0
    for number, start, end in zip(placed.ids, placed.starts, placed.ends, strict=True):
        assert start <= reached <= end  # tokens that are parts of a character stand for all of it
        reached = end
        if number in BOOK.values():
            assert text[start:end].upper().ljust(6, b"A") == tokenizer.token_bytes(number)
    assert reached == len(text)


@pytest.mark.parametrize("pattern", ["qwen2", "gpt2", "cl100k", "o200k"])
def test_threads_blocks_and_cuts_change_nothing(pattern):
    """Megabytes, with long stretches of many lines, open ones, and plain text between."""
    tokenizer = tokenizer_of(pattern=pattern)
    chance = random.Random(5)
    dna = "".join("".join(chance.choices("acgtACGTN", k=60)) + "\n" for _ in range(9000))
    prose = "the cat sat on the mat, and ab ab it was.\n" * 9000
    text = f"{prose}<dna>{dna}</dna>{prose}<own>{prose}<dna>{dna}<own>{prose}<dna>ac</dna> {prose}".encode()
    expected = by_oracle(text, tokenizer=tokenizer)
    matcher = tokenizer.matcher()
    tasks = [tokenizer.encode_block(Block.of([text]), matcher, threads)[0].tolist() for threads in (1, 2, 4)]
    assert tasks == [expected] * 3
    assert tokenizer.count_block(Block.of([text, text]), matcher, 3).tolist() == [len(expected)] * 2
    size = 70_001
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    blocks = [
        Block(part, array("Q", [len(part)]), continued=number > 0, unfinished=number < len(parts) - 1)
        for number, part in enumerate(parts)
    ]
    found = [number for block in tokenizer.settle(blocks, matcher)
             for number in tokenizer.encode_block(block, matcher)[0]]  # fmt: skip
    assert found == expected


def test_cuts_in_a_long_stretch_take_no_longer_the_longer_it_is():
    """A cut in a stretch goes back to where it begins at once, not line by line."""
    text = b"x y <dna>" + b"acgt acgt\n" * 200_000
    matcher = TOKENIZER.matcher()
    assert matcher.moves_cut(text, len(text) - 5) == 4
    assert matcher.moves_cut(text, 4) is None


def test_it_is_a_value():
    same = tokenizer_of()
    assert (same, fingerprint(same)) == (TOKENIZER, fingerprint(TOKENIZER))
    without = tokenizer_of(book=None)
    assert without != TOKENIZER
    assert fingerprint(without) != fingerprint(TOKENIZER)
    TOKENIZER.encode("<dna>acgtac")
    for copied in (copy.deepcopy(TOKENIZER), pickle.loads(pickle.dumps(TOKENIZER))):
        assert copied == TOKENIZER
        assert copied.encode("<dna>acgtac") == TOKENIZER.encode("<dna>acgtac")


def test_text_becomes_no_special_token():
    """A tag that is special is looked for as such alone; so is what follows, which is text then."""
    for content in (b"<dna>", b"</dna>", b"<oov>"):
        number = IDS[content]
        tokenizer = tokenizer_of(SpecialToken(content, number))
        for text in ("<dna>acgtac</dna>", "<dna>xxxxxx</dna>"):
            assert number not in tokenizer.encode(text)
            assert tokenizer.encode(text, specials="all").count(number) == text.encode().count(content)
    word = SpecialToken(b"ACGTAC\xee\x80\x80", IDS[b"ACGTAC"])
    assert tokenizer_of(word).encode("<dna>ACGTAC") == [IDS[b"<dna>"], IDS[b"<oov>"]]


def test_words_are_not_what_special_error_refuses(tmp_path):
    path = tmp_path / "bpe.json"
    path.write_bytes(formats.dump(TOKENIZER, "bpe.json")[""])
    done = run("encode", "-t", path, "-T", "<dna>acgtac</dna>", "--special", "error")
    assert (done.status, done.text) == (0, f"{IDS[b'<dna>']} {IDS[b'ACGTAC']} {IDS[b'</dna>']}\n")
    assert run("encode", "-t", path, "-T", "<dna>acgtac<end>", "--special", "error").status == 2
    assert ChatEncoder(TOKENIZER).matcher.find_all(b"<dna>n") == [(0, 5, IDS[b"<dna>"]), (5, 6, IDS[b"NAAAAA"])]


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bpe.json", "gguf"])
def test_files_that_hold_it(name, tmp_path):
    path = tmp_path / name.replace("gguf", "x.gguf")
    path.write_bytes(formats.dump(TOKENIZER, name)[""])
    again = formats.load(path)
    assert again.model == TOKENIZER.model
    for text in ("<dna>acgtacCC</dna> ab", "ab <dna>n<own>n"):
        assert again.encode(text) == TOKENIZER.encode(text)


def test_formats_that_lack_it_say_so_and_write_the_rest_if_asked(tmp_path):
    for name in ("tokenizer.json", "huggingface"):
        with pytest.raises(FormatError, match='cannot hold the words between "<dna>" and "</dna>"') as refused:
            formats.dump(TOKENIZER, name)
        assert '`allow_loss=["codebook"]`' in str(refused.value.hint)
    for name in formats.FORMATS.keys() - {"bpe.json", "gguf"}:
        with pytest.raises(FormatError) as refused:
            formats.dump(TOKENIZER, name)
        assert refused.value.hint
    path = tmp_path / "tokenizer.json"
    path.write_bytes(formats.dump(TOKENIZER, "tokenizer.json", {"codebook"})[""])
    assert formats.load(path).model == replace(TOKENIZER.model, codebook=None)


def test_gguf_has_one_codebook():
    other = tokenizer_of(book=replace(DNA, fill="C"))
    with pytest.raises(FormatError, match="only that of DNA"):
        formats.dump(other, "gguf")
    assert other.encode("<dna>CC</dna>")[1] == IDS[b"CCCCCC"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"width": 0}, "width is 0"),
        ({"width": 1 << 40}, "an integer from 0 to"),
        ({"fill": ""}, "not one character of ASCII"),
        ({"fill": "é"}, "not one character of ASCII"),
        ({"open": ""}, "open is empty"),
        ({"mark": 3}, "must be a string"),
        ({"more": 1}, "does not know"),
    ],
)
def test_damaged_files(change, sentence, tmp_path):
    content = json.loads(formats.dump(TOKENIZER, "bpe.json")[""])
    content["model"]["codebook"] |= change
    path = tmp_path / "bpe.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(FormatError, match=re.escape(sentence)):
        formats.load(path)


def test_what_a_file_lacks_is_not_found(tmp_path):
    """Without a tag nothing is looked for; without a word it is unknown."""
    content = json.loads(formats.dump(TOKENIZER, "bpe.json")[""])
    path = tmp_path / "bpe.json"
    for lacking, changes in (("<oov>", True), ("</dna>", True), ("ACGTAC\ue000", False)):
        vocab = {text: number for text, number in content["model"]["vocab"].items() if text != lacking}
        path.write_text(json.dumps(content | {"model": content["model"] | {"vocab": vocab}}), encoding="utf-8")
        ids = formats.load(path).encode("<dna>ACGTAC")
        assert (ids != [IDS[b"<dna>"], IDS[b"<oov>"]]) == changes


# -- reports and surgery ---------------------------------------------------------------------------


def test_words_can_be_reached_and_the_ordinary_text_of_one_is_another_matter():
    token_ids = range(IDS[b"<dna>"], IDS[b"<dna>"] + 8)
    found = examine(TOKENIZER, token_ids)
    assert [found.verdicts[number].reachable for number in token_ids] == [True] * 8
    for number, verdict in found.verdicts.items():
        assert number in TOKENIZER.encode(verdict.witness)
    without = examine(tokenizer_of(book=None), token_ids)
    assert [without.verdicts[number].reachable for number in token_ids][3:] == [False] * 5
    assert all(verdict.layer != "undecided" for verdict in examine(TOKENIZER).verdicts.values())


def test_steps_and_stages_show_what_is_looked_up(tmp_path):
    path = tmp_path / "bpe.json"
    path.write_bytes(formats.dump(TOKENIZER, "bpe.json")[""])
    shown = run("inspect", "-t", path, "-T", "ab<dna>acgtacx</dna>", "--steps").text
    assert f"token ⟦acgtac⟧  looked up as ACGTAC, id {IDS[b'ACGTAC']}" in shown
    assert f"token ⟦x⟧  looked up as <oov>, id {IDS[b'<oov>']}" in shown
    assert "bug in bpe" not in shown
    staged = run("inspect", "-t", path, "-T", "ab<dna>acgtacx</dna>", "--stages").text
    assert "⟦<dna>⟧|⟦acgtac⟧|⟦x⟧" in staged


def test_surgery_keeps_it_whole():
    counts = _core.Counts(1 << 20)
    TOKENIZER.engine.count_pieces(counts, Block.of([b"ab ab"]), TOKENIZER.matcher(), 1)
    pruned = prune(TOKENIZER, counts, TOKENIZER.vocab_size - 3).tokenizer
    text = "<dna>acgtacCCCCCCxxxxxxttt</dna>"
    assert [pruned.token_bytes(each) for each in pruned.encode(text)] == [
        TOKENIZER.token_bytes(each) for each in TOKENIZER.encode(text)
    ]
    with pytest.raises(FormatError, match="cannot be taken over"):
        merge(tokenizer_of(book=None), TOKENIZER)


def test_a_byte_without_a_token_is_refused_outside_of_tags_only():
    model = TOKENIZER.model
    assert isinstance(model, MergeBpe)
    tokenizer = replace(TOKENIZER, model=replace(model, vocabulary=model.vocabulary.without({IDS[b"x"]})))
    assert tokenizer.encode("<dna>x")[1:] == [IDS[b"<oov>"]]
    with pytest.raises(InputError, match="byte 0x78"):
        tokenizer.encode("<dna>x</dna>x")
