"""Vocabulary files for llama.cpp: what is written, what is kept of what was read, what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bpe_cli.errors import FormatError
from bpe_cli.formats import gguf
from bpe_cli.formats.features import LOSSES
from bpe_cli.formats.gguf import container as gguf_reader
from bpe_cli.formats.gguf import pre as gguf_pre
from bpe_cli.formats.gguf.container import I32, STRING, encode
from bpe_cli.stages import MergeBpe, NGram, SpaceMarks, SpecialToken, Split, WordPiece
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.spelling import USER_DEFINED
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.post_processor import process
from bpe_cli.trainers import sentencepiece, train, wordpiece
from tests.unit.formats.gguf_files import FILLS, fill_bert, fill_gpt2, fill_llama, library, written

LINES = ["low lower lowest", "newer wider", "the 12 cats, and 3456 dogs"] * 4


@pytest.fixture
def read(tmp_path):
    """Write a file with the library, and read it."""
    return lambda fill, architecture="llama": gguf.loads(written(tmp_path / "x.gguf", fill, architecture))


@pytest.mark.parametrize("kind", list(FILLS))
def test_what_is_read_is_written_and_read_again(read, kind):
    tokenizer = read(FILLS[kind], kind)
    content = gguf.dump(tokenizer)[""]
    again = gguf.loads(content)
    assert again == tokenizer
    assert gguf.dump(again)[""] == content
    if kind == "gpt2":
        assert dict(again.origin.facts)["general.name"] == "tiny"


def test_the_library_reads_what_is_written(read, tmp_path):
    path = tmp_path / "ours.gguf"
    path.write_bytes(gguf.dump(read(fill_gpt2, "gpt2"))[""])
    theirs = library.GGUFReader(path)
    fields = {key: field.contents() for key, field in theirs.fields.items() if not key.startswith("GGUF.")}
    assert len(theirs.tensors) == 0
    assert fields == {
        "general.architecture": "gpt2",
        "general.name": "tiny",
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": ["a", "b", "Ġ", ".", "1", "ab", "Ġab", "<|endoftext|>", "<own>", "[PAD9]", "c"],
        "tokenizer.ggml.token_type": [1, 1, 1, 1, 1, 1, 1, 3, 4, 5, 1],
        "tokenizer.ggml.merges": ["a b", "Ġ ab"],
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.add_eos_token": False,
        "tokenizer.ggml.bos_token_id": 7,
        "tokenizer.ggml.eos_token_id": 7,
    }


EDGES = ("sentencepiece-edges",)


def test_trained_models_are_held():
    spm = train(
        LINES,
        sentencepiece.Options(
            300, byte_fallback=True, normalization="identity", remove_extra_whitespaces=False, hard_vocab_limit=False
        ),
    )
    unigram = train(LINES, sentencepiece.Options(40, model="unigram"))
    bert = train(LINES, wordpiece.Options(60))
    for tokenizer in (spm, unigram, bert):
        lost = EDGES if tokenizer is unigram else ()  # its scores are added as f64 there
        again = gguf.loads(gguf.dump(tokenizer, frozenset(lost))[""])
        for line in [*LINES, " 2  x\n", "Łódź"]:
            assert again.encode(line) == tokenizer.encode(line)
            assert again.decode_bytes(again.encode(line)) == tokenizer.decode_bytes(tokenizer.encode(line))
        if tokenizer is not unigram:
            assert again.model == tokenizer.model
            assert again.normalizer == tokenizer.normalizer
            assert again.special_tokens == tokenizer.special_tokens
            assert process(again.post_processor, [7], [8]) == process(tokenizer.post_processor, [7], [8])


def test_pieces_of_a_users_own_are_found_in_text():
    """llama.cpp cuts the text at them, as is agreed to: so the text behind one begins with a blank as any text."""
    options = {"byte_fallback": True, "normalization": "identity", "remove_extra_whitespaces": False}
    agreed = frozenset({"token-flags"})
    for prefix in (False, True):
        own = sentencepiece.Options(
            300, user_defined=("<br>", "▁▁"), hard_vocab_limit=False, add_dummy_prefix=prefix, **options
        )
        tokenizer = train(LINES, own)
        with pytest.raises(FormatError, match=r"are parts of words \(llama\.cpp cuts the text at them\)"):
            gguf.dump(tokenizer)
        content = gguf.dump(tokenizer, agreed)[""]
        again = gguf.loads(content)
        numbers = [tokenizer.model.vocabulary.id_of(text.encode()) for text in ("<br>", "▁▁")]
        types = gguf_reader.parse(content).numbers("tokenizer.ggml.token_type", I32)
        assert [types[number] for number in numbers] == [USER_DEFINED, USER_DEFINED]
        assert [again.token_bytes(number) for number in numbers] == [b"<br>", b"  "]
        for parts in (("low", "<br>", "lower"), ("", "<br>", ""), ("low", "  ", "<br>", "the dogs")):
            ids = [tokenizer.encode(part)[prefix and part == "<br>" :] for part in parts if part.strip()]
            text = "".join(parts)
            if "  " not in parts:
                assert again.encode(text) == [each for part in ids for each in part]
            if not prefix:
                assert again.encode(text) == tokenizer.encode(text)
                assert again.decode(again.encode(text)) == text
        assert gguf.dump(again)[""] == content
        special = SpecialToken(b"<br>", numbers[0])  # as a companion file may say
        hidden = replace(tokenizer.model, vocabulary=tokenizer.model.vocabulary.without({numbers[0]}))
        changed = replace(tokenizer, model=hidden, special_tokens=(*tokenizer.special_tokens, special))
        assert gguf.loads(gguf.dump(changed, agreed)[""]).special_ids[numbers[0]].special


def test_pieces_of_a_users_own_in_a_unigram_model_are_ordinary_ones():
    own = train(LINES, sentencepiece.Options(40, model="unigram", normalization="identity", user_defined=("<br>",)))
    with pytest.raises(
        FormatError, match=r"user-defined pieces are always found \(llama\.cpp takes them for ordinary ones\)"
    ):
        gguf.dump(own)
    again = gguf.loads(gguf.dump(own, frozenset(LOSSES))[""])
    assert [token.content for token in again.special_tokens if not token.special] == []


def test_ranks_become_merges(make):
    tokenizer = make(ranks=True)
    again = gguf.loads(gguf.dump(tokenizer)[""])
    assert isinstance(again.model, MergeBpe)
    assert again.encode("hello world!") == tokenizer.encode("hello world!")


def test_limit_of_words_is_kept_in_a_key_of_our_own(read):
    tokenizer = read(fill_bert, "bert")
    limited = replace(tokenizer, model=replace(tokenizer.model, max_input_chars_per_word=9))
    again = gguf.loads(gguf.dump(limited)[""])
    assert again == limited
    assert again.encode("unable" + "able") == [1]


@pytest.mark.parametrize("names", [pre.names for pre in gguf_pre.TABLE], ids=lambda names: names[0])
def test_splits_are_written_by_their_usual_names(make, names):
    pre = gguf_pre.BY_NAME[names[0]]
    tokenizer = make(pre_tokenizer=pre.stages, ignore_merges=pre.ignore_merges)
    data = gguf.dump(tokenizer)[""]
    name = gguf_reader.parse(data).text("tokenizer.ggml.pre")
    # glm4's split and settings are llama-bpe's; whether a token is put before texts is written by itself.
    assert name == ("llama-bpe" if names[0] == "glm4" else names[0])
    assert gguf.loads(data) == tokenizer
    assert gguf_pre.name_for(pre.stages, ignore_merges=pre.ignore_merges, kept=names[-1]) == names[-1]


def test_a_name_that_a_file_had_is_kept_while_it_fits(read):
    tokenizer = read(lambda writer: fill_gpt2(writer, "phi-2"))
    assert dict(gguf.loads(gguf.dump(tokenizer)[""]).origin.facts)["tokenizer.ggml.pre"] == "phi-2"
    other = replace(tokenizer, pre_tokenizer=(Split(PATTERNS["qwen2"].regex),))
    assert dict(gguf.loads(gguf.dump(other)[""]).origin.facts)["tokenizer.ggml.pre"] == "qwen2"


def test_split_without_a_name_is_a_loss(make):
    with pytest.raises(FormatError, match=r"the split pattern \(llama\.cpp has no name for it\)"):
        gguf.dump(make(pre_tokenizer=(Split("x+"),)))
    o200k = make(pre_tokenizer=(Split(PATTERNS["o200k"].regex),))
    with pytest.raises(FormatError, match=r"llama\.cpp's gpt-4o is only similar"):
        gguf.dump(o200k)
    again = gguf.loads(gguf.dump(o200k, frozenset({"pattern"}))[""])
    assert again.patterns == gguf_pre.BY_NAME["gpt-4o"].expressions


def test_ids_with_too_many_gaps_are_refused(make):
    """A token is written for every id that has none: of these there would be four billion."""
    with pytest.raises(FormatError, match="the ids run to 4,294,967,294, and a GGUF file has a token for every id"):
        gguf.dump(make(specials=[SpecialToken(b"<far>", (1 << 32) - 2)]))


def test_whole_pieces_that_merges_do_not_make():
    """Where no name of the split has the setting, the merges must make every token."""
    vocabulary = Vocabulary.from_tokens([b"a", b"b", b"ab"])
    splits = (Split(PATTERNS["qwen2"].regex),)
    made = Tokenizer(MergeBpe(vocabulary, Merges.from_pairs([(0, 1, 2)]), ignore_merges=True), splits)
    assert gguf.loads(gguf.dump(made)[""]).encode("ab") == [2]
    unmade = Tokenizer(MergeBpe(vocabulary, Merges.from_pairs([]), ignore_merges=True), splits)
    with pytest.raises(FormatError, match='no merges make the token "ab"'):
        gguf.dump(unmade)


def test_losses_have_their_names(read, make):
    tokenizer = read(fill_llama)
    cases = {
        "normalizer": replace(tokenizer, normalizer=(SpaceMarks(True, True),)),
        "decoder": replace(tokenizer, decoder=()),
        "post-processor": replace(
            tokenizer,
            post_processor='{"type":"BertProcessing","sep":["</s>",2],"cls":["<s>",1]}',
        ),
        "token-flags": replace(tokenizer, special_tokens=(SpecialToken(b"<unk>", 0, lstrip=True),)),
    }
    for name, changed in cases.items():
        with pytest.raises(FormatError) as caught:
            gguf.dump(changed)
        assert f'`allow_loss=["{name}"]`' in caught.value.hint
        assert gguf.loads(gguf.dump(changed, frozenset({name}))[""]).vocab_size == tokenizer.vocab_size
    bert = '{"type":"BertProcessing","sep":["</s>",2],"cls":["<s>",1]}'
    again = gguf.loads(gguf.dump(replace(tokenizer, post_processor=bert), frozenset(LOSSES))[""])
    assert process(again.post_processor, [7]).ids == [1, 7, 2]  # as much as can be said of it


def test_models_that_llama_cpp_has_not(make):
    grams = NGram(Vocabulary.from_tokens([b"a"]))
    with pytest.raises(FormatError, match="cannot hold overlapping n-grams"):
        gguf.dump(Tokenizer(grams), LOSSES)
    bare = train(LINES, sentencepiece.Options(40, normalization="identity", remove_extra_whitespaces=False))
    with pytest.raises(FormatError, match="only with tokens of bytes"):
        gguf.dump(bare, LOSSES)
    other = WordPiece(Vocabulary.from_tokens([b"a", b"@@a"]), 2, "@@")
    with pytest.raises(FormatError, match="begin with ##"):
        gguf.dump(Tokenizer(other, special_tokens=(SpecialToken(b"[UNK]", 2),)), LOSSES)
    clash = WordPiece(Vocabulary.from_tokens(["##▁a".encode(), b"a"]), 2)
    with pytest.raises(FormatError, match="would both be written"):
        gguf.dump(Tokenizer(clash, special_tokens=(SpecialToken(b"[UNK]", 2),)), LOSSES)


def test_keys_of_others_are_carried(read):
    def fill(writer):
        fill_gpt2(writer)
        writer.add_vocab_size(11)
        writer.add_array("llama.list", [1, 2, 3])
        writer.add_array("general.tags", ["x", "y"])
        writer.add_float64("llama.pi", 3.25)

    tokenizer = read(fill)
    metadata = gguf_reader.parse(gguf.dump(tokenizer)[""])
    assert list(metadata.fields)[:6] == [
        "general.architecture", "general.name", "llama.vocab_size", "llama.list", "general.tags", "llama.pi",
    ]  # fmt: skip
    assert metadata.texts("general.tags") == [b"x", b"y"]
    assert metadata.shown("llama.pi") == 3.25
    grown = tokenizer.with_special_tokens([SpecialToken(b"<new>", 11)])
    assert gguf_reader.parse(gguf.dump(grown)[""]).integer("llama.vocab_size") == 12
    assert tokenizer.origin.kept("gguf", "general.name") == encode(STRING, b"tiny")
