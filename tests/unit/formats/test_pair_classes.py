"""vocab.json and merges.txt of other classes than GPT-2's: stages that a class, or a pattern, says."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.stages import NFC, CharacterBpe, MergeBpe, SpecialToken, Split
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.spelling import ALPHABET_ORDER, BYTE_TO_CHAR, to_visible
from tests.differential.texts import suite
from tests.needs import needs

WORDS = {"l": 0, "o": 1, "w": 2, "w</w>": 3, "lo": 4, "low</w>": 5, "o</w>": 6, "<unk>": 7}
MERGES = "#version: 0.2\nl o\nlo w</w>\n"
CORPUS = ["low lower lowest newer newest wide widest", "the lowest of the low, wider than new!"] * 5


@pytest.fixture
def lay(tmp_path):
    """Write a pair and a tokenizer_config.json."""

    def write(vocab, merges, config=None):
        (tmp_path / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
        (tmp_path / "merges.txt").write_text(merges, encoding="utf-8")
        if config is not None:
            (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
        return tmp_path

    return write


def pair_of(tokenizer_json):
    """Return the pair that a tokenizer.json's model would be saved as."""
    model = json.loads(tokenizer_json.read_bytes())["model"]
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    return model["vocab"], "".join(f"{line}\n" for line in ["#version: 0.2", *merges])


# -- worked examples -------------------------------------------------------------------------------


def test_ends_of_words_say_nothing_of_words(lay):
    with pytest.raises(FormatError) as caught:
        formats.load(lay(WORDS, MERGES))
    assert (
        "the merges mark the ends of words (</w>), but nothing says how text is cut into words" in caught.value.message
    )
    assert "CLIPTokenizer or OpenAIGPTTokenizer" in caught.value.hint


def test_the_pattern_of_a_word_says_it(lay):
    tokenizer = formats.load(lay(WORDS, MERGES, {"unk_token": "<unk>"}), r"\w+")
    assert tokenizer.model.unk_id == 7
    assert tokenizer.encode("low lo! x") == [5, 0, 6, 7]
    assert tokenizer.decode_bytes([5, 0, 6]) == b"low lo"
    assert formats.load(lay(WORDS, MERGES, {"unk_token": None}), r"\w+").encode("low x") == [5]


def test_words_written_in_bytes(lay):
    alphabet = [*to_visible(ALPHABET_ORDER)]
    tokens = [*alphabet, *(letter + "</w>" for letter in alphabet), "aÃ", "aÃ¤</w>"]
    folder = lay({token: number for number, token in enumerate(tokens)}, "a Ã\naÃ ¤</w>\n")
    tokenizer = formats.load(folder, r"\w+")
    ids = tokenizer.encode("aä ä")
    assert ids == [tokens.index("aÃ¤</w>"), tokens.index("Ã"), tokens.index("¤</w>")]
    assert tokenizer.decode_bytes(ids) == "aä ä".encode()


def test_characters_without_marks(lay):
    vocab = {"漢": 0, "字": 1, "漢字": 2, "a": 3}
    folder = lay(vocab, "#version: 0.2\n漢 字\n")
    with pytest.raises(FormatError, match="so this is not a byte-level vocabulary"):
        formats.load(folder)
    tokenizer = formats.load(folder, "none")
    assert isinstance(tokenizer.model, CharacterBpe)
    assert tokenizer.encode("a漢字漢") == [3, 2, 0]


def test_an_entry_that_spells_no_bytes_is_only_decoded_where_all_bytes_are_there(lay):
    vocab = {character: byte for byte, character in enumerate(BYTE_TO_CHAR)} | {"\u200d": 256}
    tokenizer = formats.load(lay(vocab, "#version: 0.2\n"))
    assert tokenizer.encode("\u200d") == [0xE2, 0x80, 0x8D]
    assert tokenizer.decode_bytes([256]).decode() == "\u200d"
    pair = formats.dump(tokenizer, "vocab-merges")
    assert json.loads(pair["vocab.json"])["\u200d"] == 256


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"tokenizer_class": "XLNetTokenizer"}, 'is "XLNetTokenizer", and how that class cuts text is not known'),
        ({"tokenizer_class": "CLIPTokenizer"}, 'is "CLIPTokenizer", and the merges lack </w>'),
    ],
)
def test_classes_that_do_not_fit(lay, config, message):
    folder = lay({"a": 0, "b": 1, "ab": 2}, "a b\n", config)
    with pytest.raises(FormatError) as caught:
        formats.load(folder)
    assert message in caught.value.message


def test_a_pattern_counts_more_than_a_class(lay):
    folder = lay({"a": 0, "b": 1, "ab": 2}, "a b\n", {"tokenizer_class": "Qwen2Tokenizer"})
    assert formats.load(folder, "gpt2").pre_tokenizer == (Split(PATTERNS["gpt2"].regex),)
    assert formats.load(folder, "gpt2").normalizer == ()


def test_a_class_that_is_no_name(lay):
    with pytest.raises(FormatError, match="tokenizer_class must be a string"):
        formats.load(lay({"a": 0, "b": 1, "ab": 2}, "a b\n", {"tokenizer_class": ["x"]}))


def test_gpt2s_marks_do_not_fit_gpt2(lay):
    with pytest.raises(FormatError, match="and the merges have </w>"):
        formats.load(lay(WORDS, MERGES, {"tokenizer_class": "GPT2TokenizerFast"}))


@pytest.mark.parametrize("name", ["GPT2Tokenizer", "CodeGenTokenizerFast", "WhisperTokenizer", None])
def test_classes_like_gpt2(lay, name):
    tokenizer = formats.load(lay({"a": 0, "b": 1, "ab": 2}, "a b\n", {"tokenizer_class": name}))
    assert tokenizer.pre_tokenizer == (Split(PATTERNS["gpt2"].regex),)
    assert isinstance(tokenizer.model, MergeBpe)


FRAMED = {"<s>": 0, "</s>": 1, "a": 2, "b": 3, "ab": 4}
ROBERTA = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>"}


@pytest.mark.parametrize("name", ["Roberta", "Bart", "Longformer", "LED"])
def test_classes_like_robertas_put_tokens_around(lay, name):
    tokenizer = formats.load(lay(FRAMED, "a b\n", ROBERTA | {"tokenizer_class": f"{name}TokenizerFast"}))
    assert tokenizer.pre_tokenizer == (Split(PATTERNS["gpt2"].regex),)
    single, pair = tokenizer.model_inputs(["aba", ("ab", "b")])
    assert (list(single.ids), list(pair.ids)) == ([0, 4, 2, 1], [0, 4, 1, 1, 3, 1])
    assert set(pair.type_ids) == {0}
    assert tokenizer.encode("aba") == [4, 2]


@pytest.mark.parametrize("settings", [{}, {"trim_offsets": False}, {"add_prefix_space": True}])
def test_roberta_as_transformers_reads_the_pair(lay, settings):
    rival = needs("transformers")
    alphabet = [*to_visible(ALPHABET_ORDER)]
    vocab = {token: number for number, token in enumerate(["<s>", "</s>", "<pad>", "<unk>", *alphabet, "ab"])}
    folder = lay(vocab, "a b\n", ROBERTA | {"tokenizer_class": "RobertaTokenizer"} | settings)
    ours = formats.load(folder)
    theirs = rival.RobertaTokenizer.from_pretrained(folder)
    assert json.loads(ours.post_processor) == json.loads(theirs.backend_tokenizer.to_str())["post_processor"]
    for given in (["ab a"], ["ab", " ba"]):
        (found,) = ours.model_inputs([tuple(given) if len(given) == 2 else given[0]])
        assert list(found.ids) == theirs(*given)["input_ids"]


@pytest.mark.parametrize("role", ["cls", "sep"])
def test_a_token_that_robertas_class_puts_around_is_to_be_named(lay, role):
    config = {key: value for key, value in ROBERTA.items() if key != f"{role}_token"}
    with pytest.raises(FormatError, match=f"has no {role}_token to put around a text, which its class does") as caught:
        formats.load(lay(FRAMED, "a b\n", config | {"tokenizer_class": "RobertaTokenizer"}))
    assert f'"{role}_token"' in caught.value.hint


def test_gpt2s_class_puts_the_beginning_before_a_text_where_that_is_said(lay):
    config = {"bos_token": "<s>", "eos_token": "</s>", "tokenizer_class": "GPT2Tokenizer"}
    for added, ids in ((None, [4]), (False, [4]), (True, [0, 4])):
        (found,) = formats.load(lay(FRAMED, "a b\n", config | {"add_bos_token": added})).model_inputs(["ab"])
        assert list(found.ids) == ids
    with pytest.raises(FormatError, match="add_eos_token is true, and what that does is known only of some classes"):
        formats.load(lay(FRAMED, "a b\n", config | {"add_eos_token": True}))


def test_qwen2(lay):
    tokenizer = formats.load(lay({"a": 0, "b": 1, "ab": 2}, "a b\n", {"tokenizer_class": "Qwen2Tokenizer"}))
    assert tokenizer.pre_tokenizer == (Split(PATTERNS["qwen2"].regex),)
    assert tokenizer.normalizer == (NFC(),)


# -- the library's own pairs -----------------------------------------------------------------------


def test_gpt1s_pair_as_the_library_trains_and_saves_it(lay, tmp_path):
    rival = needs("tokenizers")
    theirs = rival.Tokenizer(rival.models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    theirs.normalizer = rival.normalizers.BertNormalizer(lowercase=True)
    theirs.pre_tokenizer = rival.pre_tokenizers.BertPreTokenizer()
    theirs.decoder = rival.decoders.BPEDecoder(suffix="</w>")
    trainer = rival.trainers.BpeTrainer(
        vocab_size=80, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False
    )
    theirs.train_from_iterator(CORPUS, trainer)
    theirs.model.save(str(tmp_path))
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "OpenAIGPTTokenizer"}')
    ours = formats.load(tmp_path)
    assert ours == replace(hf_json.loads(theirs.to_str().encode()), origin=None)
    draw = random.Random(5)
    pieces = [*" ".join(CORPUS[:2]).split(), "LÖW", "xyz", "!", "<unk>", "漢"]
    for _ in range(200):
        text = "".join(draw.choice(pieces) + draw.choice(["", " ", "\n"]) for _ in range(draw.randrange(1, 7)))
        expected = theirs.encode(text, add_special_tokens=False).ids
        assert ours.encode(text, specials="all") == expected, text
        plain = [token_id for token_id in expected if token_id != 0]
        assert ours.decode_bytes(plain).decode() == theirs.decode(expected), text


# -- real pairs ------------------------------------------------------------------------------------


def without_frame(tokenizer):
    """Return a tokenizer without what a pair does not say."""
    return replace(tokenizer, post_processor=None, usage=replace(tokenizer.usage, roles=(), chat_templates=()))


def test_clip(shared, lay):
    source = shared / "vocabs" / "clip" / "tokenizer.json"
    config = json.loads((shared / "vocabs" / "clip" / "tokenizer_config.json").read_bytes())
    ours = formats.load(lay(*pair_of(source), config))
    theirs = hf_json.load(source)
    assert ours.model == theirs.model
    assert (ours.normalizer, ours.pre_tokenizer, ours.decoder) == (
        theirs.normalizer, theirs.pre_tokenizer, theirs.decoder,
    )  # fmt: skip
    assert [token.content for token in ours.special_tokens] == [token.content for token in theirs.special_tokens]
    recorded = json.loads((shared / "expected" / "hf-tokenizers" / "clip.json").read_bytes())["cases"]
    texts = suite(shared)
    for name in list(recorded)[:150]:
        assert ours.encode(texts[name], specials="all") == recorded[name]["ids"], name


def test_roberta(shared):
    """Nothing beside this pair says which tokens are special, so only texts without them have the same ids."""
    ours = formats.load(shared / "vocabs" / "roberta-base" / "vocab.json")
    assert ours.special_tokens == ()
    recorded = json.loads((shared / "expected" / "hf-tokenizers" / "roberta-base.json").read_bytes())["cases"]
    texts = suite(shared)
    compared = 0
    for name, result in recorded.items():
        if not any(special in texts[name] for special in ("<s>", "<pad>", "</s>", "<unk>", "<mask>")):
            assert ours.encode(texts[name]) == result["ids"], name
            compared += 1
    assert compared > 290


def test_robertas_class_says_what_its_tokenizer_json_does(shared, tmp_path):
    source = shared / "vocabs" / "roberta-base"
    for name in ("vocab.json", "merges.txt"):
        (tmp_path / name).write_bytes((source / name).read_bytes())
    config = ROBERTA | {"unk_token": "<unk>", "pad_token": "<pad>", "tokenizer_class": "RobertaTokenizer"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    ours, theirs = formats.load(tmp_path), hf_json.load(source / "tokenizer.json")
    assert ours.post_processor == theirs.post_processor
    single, pair = ours.model_inputs(["hello world", ("hello", " world")])
    assert list(single.ids) == [0, 42891, 232, 2]
    assert list(pair.ids) == [0, 42891, 2, 2, 232, 2]
    assert [single, pair] == theirs.model_inputs(["hello world", ("hello", " world")])


def test_whisper_with_its_added_tokens(shared, lay):
    source = shared / "vocabs" / "whisper-tiny" / "tokenizer.json"
    vocab, merges = pair_of(source)
    content = json.loads(source.read_bytes())
    folder = lay(vocab, merges, {"tokenizer_class": "WhisperTokenizer", "unk_token": "<|endoftext|>"})
    added = {token["content"]: token["id"] for token in content["added_tokens"]}
    (folder / "added_tokens.json").write_text(json.dumps(added))
    (folder / "normalizer.json").write_text('{"colour": "color"}')
    special = [token["content"] for token in content["added_tokens"] if token["special"]]
    (folder / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": special}))
    ours, theirs = formats.load(folder), hf_json.load(source)
    assert ours.model == theirs.model
    assert ours.pre_tokenizer == theirs.pre_tokenizer
    flagless = [SpecialToken(token.content, token.token_id, token.special) for token in theirs.special_tokens]
    assert list(ours.special_tokens) == flagless
    recorded = json.loads((shared / "expected" / "hf-tokenizers" / "whisper-tiny.json").read_bytes())["cases"]
    texts = suite(shared)
    for name in list(recorded)[:150]:
        assert ours.encode(texts[name], specials="all") == recorded[name]["ids"], name
