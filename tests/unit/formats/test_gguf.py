"""GGUF files: what llama.cpp makes of their keys."""

from __future__ import annotations

import pytest

from bpe_cli.errors import FormatError, UsageError
from bpe_cli.formats import gguf
from bpe_cli.formats.gguf import pre as gguf_pre
from bpe_cli.formats.gguf.to_tokenizer import MAKERS, NOT_READ
from bpe_cli.stages import (
    BertNormalizer,
    MergeBpe,
    SpecialToken,
    Split,
)
from bpe_cli.stages.patterns import PATTERNS, name_of
from bpe_cli.tokenizer.post_processor import process
from bpe_cli.tokenizer.usage import Usage
from tests.unit.formats.gguf_files import FILLS, fill_bert, fill_gpt2, fill_llama, fill_t5, library, written


@pytest.fixture
def read(tmp_path):
    """Write a file with the library, and read it."""

    def of(fill, architecture="llama", pattern=None, **options):
        return gguf.loads(written(tmp_path / "x.gguf", fill, architecture, **options), "x.gguf", pattern)

    return of


def test_model_of_scores(read):
    tokenizer = read(fill_llama)
    ids = {tokenizer.token_bytes(number).decode(): number for number in range(tokenizer.vocab_size)}
    # "▁ab" scores less than "ab", and is made of it; blanks are kept, and one is put before.
    assert tokenizer.encode("ab") == [ids["▁ab"]]
    assert tokenizer.encode("abc  b") == [ids[text] for text in ("▁ab", "c", "▁", "▁", "b")]
    assert tokenizer.encode("é") == [ids["▁"], ids["<0xC3>"], ids["<0xA9>"]]
    assert tokenizer.encode("") == []
    assert tokenizer.decode_bytes(tokenizer.encode(" é b ")) == " é b ".encode()


def test_tokens_of_a_users_own_are_found_in_text_and_control_tokens_are_not(read):
    tokenizer = read(fill_llama)
    own, mark, eos = 259, 260, 2
    assert tokenizer.special_ids[own] == SpecialToken(b"<own>", own, special=False)
    # What follows such a token begins anew, with a blank of its own.
    assert tokenizer.encode("b<own>b") == [mark, 262, own, mark, 262]
    assert eos not in tokenizer.encode("</s>")
    assert tokenizer.encode("</s>", specials="all") == [eos]
    assert tokenizer.decode_bytes([own]) == b"<own>"


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
    assert tokenizer.encode("<|endoftext|>", specials="all") == [7]
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

    tokenizer = read(fill)
    assert tokenizer.model.texts == ((4, "é ".encode()),)  # an ordinary token that no text is spelt like
    kinds = {token.content: token.special for token in tokenizer.special_tokens}
    assert kinds == {
        b"<|im_end|>": True,  # ends a generation, whatever the file says
        b"<|fim_prefix|>": True,
        b"<|channel|>": False,
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
    assert "`pattern`" in e.value.hint
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
        ("test", "no tokenizer, and for tests of its own"),
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
    """Return the table of docs/reference/formats/gguf.md."""
    rows = ["| names | split | |", "|---|---|---|"]
    for pre in gguf_pre.TABLE:
        names = ", ".join(f"`{name}`" for name in pre.names)
        known = [name_of(expression) for expression in pre.expressions]
        splits = ", ".join(f"`{name}`" if name else "an expression" for name in known)
        settings = ", ".join(["whole pieces"] * pre.ignore_merges + ["bos"] * pre.add_bos)
        rows.append(f"| {names} | {splits} | {settings} |")
    return rows


def test_the_page_lists_the_splits(repository):
    page = (repository / "docs" / "reference" / "formats" / "gguf.md").read_text("utf-8")
    assert "\n".join(rows_of_splits()) in page
    for name in (*gguf_pre.ON_CHARACTERS, *MAKERS, *NOT_READ):
        assert f"`{name}`" in page
