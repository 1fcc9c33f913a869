"""GGUF files: what llama.cpp makes of their keys, and vocabulary files of our own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bpe_cli.errors import FormatError, UsageError
from bpe_cli.formats import gguf, gguf_pre, gguf_reader
from bpe_cli.formats.features import LOSSES
from bpe_cli.formats.gguf_container import STRING, encode
from bpe_cli.formats.gguf_reading import NOT_READ
from bpe_cli.patterns import PATTERNS, name_of
from bpe_cli.postprocess import process
from bpe_cli.stages import (
    BertNormalizer,
    CharacterBpe,
    MergeBpe,
    SpaceMarks,
    SpecialToken,
    Split,
    WordPiece,
)
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import sentencepiece, train, wordpiece
from bpe_cli.usage import Usage
from bpe_cli.vocabulary import Merges, Vocabulary
from tests.unit.formats.gguf_files import FILLS, fill_bert, fill_gpt2, fill_llama, fill_t5, library, written

LINES = ["low lower lowest", "newer wider", "the 12 cats, and 3456 dogs"] * 4


@pytest.fixture
def read(tmp_path):
    """Write a file with the library, and read it."""

    def of(fill, architecture="llama", pattern=None, **options):
        return gguf.loads(written(tmp_path / "x.gguf", fill, architecture, **options), "x.gguf", pattern)

    return of


# -- reading ---------------------------------------------------------------------------------------


def test_model_of_scores(read):
    tokenizer = read(fill_llama)
    ids = {tokenizer.token_bytes(number).decode(): number for number in range(tokenizer.vocab_size)}
    # "▁ab" scores less than "ab", and is made of it; blanks are kept, and one is put before.
    assert tokenizer.encode("ab") == [ids["▁ab"]]
    assert tokenizer.encode("abc  b") == [ids[text] for text in ("▁ab", "c", "▁", "▁", "b")]
    assert tokenizer.encode("é") == [ids["▁"], ids["<0xC3>"], ids["<0xA9>"]]
    assert tokenizer.encode("") == []
    assert tokenizer.decode(tokenizer.encode(" é b ")) == " é b ".encode()


def test_tokens_of_a_users_own_are_found_in_text_and_control_tokens_are_not(read):
    tokenizer = read(fill_llama)
    own, mark, eos = 259, 260, 2
    assert tokenizer.special_ids[own] == SpecialToken(b"<own>", own, special=False)
    # What follows such a token begins anew, with a blank of its own.
    assert tokenizer.encode("b<own>b") == [mark, 262, own, mark, 262]
    assert eos not in tokenizer.encode("</s>")
    assert tokenizer.encode("</s>", "all") == [eos]
    assert tokenizer.decode([own]) == b"<own>"


def test_what_a_file_says_of_itself(read):
    tokenizer = read(fill_llama)
    assert tokenizer.usage == Usage(
        roles=(("bos", 1), ("eos", 2), ("unk", 0)), chat_templates=(("default", "{{ x }}"), ("tools", "{{ y }}"))
    )
    assert process(tokenizer.post_processor, [7], [8]).ids == [1, 7, 1, 8]
    facts = dict(tokenizer.origin.facts)
    assert facts["GGUF.version"] == 3
    assert facts["general.architecture"] == "llama"
    assert facts["tokenizer.ggml.model"] == "llama"
    assert facts["tokenizer.ggml.tokens"] == "267 of string"
    assert facts["tokenizer.ggml.scores"] == "267 of f32"
    assert facts["tokenizer.ggml.bos_token_id"] == 1


def test_byte_level_model(read):
    tokenizer = read(fill_gpt2, "gpt2")
    assert isinstance(tokenizer.model, MergeBpe)
    assert tokenizer.pre_tokenizer == (Split(PATTERNS["gpt2"].regex),)
    assert tokenizer.encode("ab ab<own><|endoftext|>"[:10]) == [5, 6, 8]
    assert tokenizer.encode("<|endoftext|>", "all") == [7]
    assert tokenizer.post_processor is None
    # An unused [PAD9] with the id 9 is how llama.cpp's converters write that there is no token.
    assert 9 not in tokenizer.special_ids
    assert not tokenizer.model.vocabulary.token(9)


def test_first_of_equal_merges_counts(read):
    def fill(writer):
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("gpt-2")
        writer.add_token_list(["a", "b", "c", "ab", "bc"])
        writer.add_token_merges(["a b", "b c", "a b"])

    assert read(fill).encode("abc") == [3, 2]


def test_texts_that_llama_cpp_has_rules_for(read):
    def fill(writer):
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("gpt-2")
        texts = ["a", "<|im_end|>", "<|fim_prefix|>", "<|channel|>", "é ", "<|end|>", "<|return|>", "<|call|>", "aa"]
        writer.add_token_list(texts)
        writer.add_token_types([1, 1, 4, 3, 1, 3, 3, 3, 1])
        writer.add_token_merges(["a a"])

    kinds = {token.content: token.special for token in read(fill).special_tokens}
    assert kinds == {
        b"<|im_end|>": True,  # ends a generation, whatever the file says
        b"<|fim_prefix|>": True,
        b"<|channel|>": False,
        "é ".encode(): True,  # an ordinary token that no text is spelt like
        b"<|end|>": False,  # does not end it where <|return|> and <|call|> do
        b"<|return|>": True,
        b"<|call|>": True,
    }


def test_phi_3_takes_white_space_along(read):
    def fill(writer):
        fill_llama(writer)
        writer.add_name("Phi-3 mini")

    flags = {token.content: token.rstrip for token in read(fill).special_tokens}
    assert flags == {b"<unk>": False, b"<s>": False, b"</s>": True, b"<own>": True}


def test_word_piece(read):
    tokenizer = read(fill_bert, "bert")
    assert tokenizer.normalizer == (BertNormalizer(),)
    contents = {text for _, text in tokenizer.model.vocabulary.items()}
    assert contents == {b"[unused1]", b"un", b"##able", b"able", b"[", b"."}
    assert tokenizer.encode("Unable ablé.[") == [5, 6, 7, 9, 8]
    assert tokenizer.encode("unx" + "able" * 99) == [1]
    assert tokenizer.encode("un" + "able" * 99) == [5] + [6] * 99  # there is no longest word
    assert process(tokenizer.post_processor, [5], [6]).ids == [2, 5, 3, 6, 3]
    assert process(tokenizer.post_processor, [5], [6]).type_ids == [0, 0, 0, 1, 1]
    assert tokenizer.usage.roles == (("unk", 1), ("sep", 3), ("pad", 0), ("cls", 2))


def test_unigram(read):
    tokenizer = read(fill_t5, "t5")
    assert tokenizer.encode("a  ab ") == [6, 3, 7]
    assert tokenizer.encode("aé") == [6, 2]
    assert process(tokenizer.post_processor, [7], [8]).ids == [7, 1, 8, 1]


@pytest.mark.parametrize("pre", [name for pre in gguf_pre.TABLE for name in pre.names])
def test_every_name_of_a_split_is_read(read, pre):
    tokenizer = read(lambda writer: fill_gpt2(writer, pre))
    known = gguf_pre.BY_NAME[pre]
    assert tokenizer.patterns == known.expressions
    assert tokenizer.model.ignore_merges == known.ignore_merges
    assert (tokenizer.post_processor is not None) == known.add_bos


def test_names_of_splits_that_are_not_known(read):
    with pytest.raises(
        FormatError, match=r'splits text by "new-one" \(tokenizer\.ggml\.pre\), which is not known'
    ) as e:
        read(lambda writer: fill_gpt2(writer, "new-one"))
    assert "gpt-2" in e.value.hint
    assert "--pattern" in e.value.hint
    with pytest.raises(FormatError, match=r"superbpe.*cuts at places"):
        read(lambda writer: fill_gpt2(writer, "superbpe"))
    assert read(lambda writer: fill_gpt2(writer, "new-one"), pattern=r"\w+").patterns == (r"\w+",)


def test_no_name_is_the_default_split_as_in_llama_cpp(read):
    assert read(lambda writer: fill_gpt2(writer, None)).patterns == gguf_pre.BY_NAME["default"].expressions
    assert gguf_pre.DEFAULT.names == ("default",)


def test_a_pattern_takes_the_place_of_the_split_only_where_there_is_one(read):
    assert read(fill_gpt2, pattern="x").patterns == ("x",)
    with pytest.raises(UsageError, match="no pattern can be given"):
        read(fill_llama, pattern="x")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("rwkv", "longest match over bytes"),
        ("plamo2", "Viterbi"),
        ("gemma4", "BPE over characters"),
        ("none", "without a tokenizer"),
        ("new", "which is not known"),
    ],
)
def test_models_that_are_not_read(read, model, message):
    with pytest.raises(FormatError, match=message):
        read(lambda writer: writer.add_tokenizer_model(model))


def test_a_file_without_a_tokenizer(read):
    with pytest.raises(FormatError, match=r"no key tokenizer\.ggml\.model"):
        read(lambda writer: writer.add_name("x"))


def test_big_endian_files(read):
    for fill in FILLS.values():
        assert read(fill, endianess=library.GGUFEndian.BIG) == read(fill)


def test_ids_of_roles_that_are_none_count_for_nothing(read):
    def fill(writer):
        fill_gpt2(writer)
        writer.add_pad_token_id(9_999)

    assert read(fill).usage.roles == (("bos", 7), ("eos", 7))


def rows_of_splits() -> list[str]:
    """Give the table of docs/formats/gguf.md."""
    rows = ["| names | split | |", "|---|---|---|"]
    for pre in gguf_pre.TABLE:
        names = ", ".join(f"`{name}`" for name in pre.names)
        known = [name_of(expression) for expression in pre.expressions]
        splits = ", ".join(f"`{name}`" if name else "an expression" for name in known)
        settings = ", ".join(["whole pieces"] * pre.ignore_merges + ["bos"] * pre.add_bos)
        rows.append(f"| {names} | {splits} | {settings} |")
    return rows


def test_the_page_lists_the_splits(repository):
    page = (repository / "docs" / "formats" / "gguf.md").read_text("utf-8")
    assert "\n".join(rows_of_splits()) in page
    for name in (*gguf_pre.NOT_READ, *NOT_READ):
        assert f"`{name}`" in page


# -- writing ---------------------------------------------------------------------------------------


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
        again = gguf.loads(gguf.dump(tokenizer)[""])
        for line in [*LINES, " 2  x\n", "Łódź"]:
            assert again.encode(line) == tokenizer.encode(line)
            assert again.decode(again.encode(line)) == tokenizer.decode(tokenizer.encode(line))
        if tokenizer is not unigram:  # whose scores are added as f32 there
            assert again.model == tokenizer.model
            assert again.normalizer == tokenizer.normalizer
            assert again.special_tokens == tokenizer.special_tokens
            assert process(again.post_processor, [7], [8]) == process(tokenizer.post_processor, [7], [8])


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
    with pytest.raises(FormatError, match=r"llama\.cpp's gpt-4o only comes near"):
        gguf.dump(o200k)
    again = gguf.loads(gguf.dump(o200k, frozenset({"pattern"}))[""])
    assert again.patterns == gguf_pre.BY_NAME["gpt-4o"].expressions


def test_whole_pieces_that_merges_do_not_make():
    """Where no name of the split has the setting, the merges must make every token."""
    vocabulary = Vocabulary.from_tokens([b"a", b"b", b"ab"])
    splits = (Split(PATTERNS["qwen2"].regex),)
    made = Tokenizer(MergeBpe(vocabulary, Merges.from_pairs([(0, 1, 2)]), ignore_merges=True), splits)
    assert gguf.loads(gguf.dump(made)[""]).encode("ab") == [2]
    unmade = Tokenizer(MergeBpe(vocabulary, Merges.from_pairs([]), ignore_merges=True), splits)
    with pytest.raises(FormatError, match='merges do not make the token "ab"'):
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
        assert f"--allow-loss {name}" in caught.value.hint
        assert gguf.loads(gguf.dump(changed, frozenset({name}))[""]).vocab_size == tokenizer.vocab_size
    bert = '{"type":"BertProcessing","sep":["</s>",2],"cls":["<s>",1]}'
    again = gguf.loads(gguf.dump(replace(tokenizer, post_processor=bert), frozenset(LOSSES))[""])
    assert process(again.post_processor, [7]).ids == [1, 7, 2]  # as much as can be said of it


def test_models_that_llama_cpp_has_not(make):
    characters = CharacterBpe(Vocabulary.from_tokens([b"a"]), Merges.from_pairs([]))
    with pytest.raises(FormatError, match="cannot hold bpe-characters"):
        gguf.dump(Tokenizer(characters), LOSSES)
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
