"""What a class of transformers means beside a SentencePiece model: what it puts around a text, and what is refused."""

from __future__ import annotations

import json

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError
from bpe_cli.tokenizer.post_processor import process
from bpe_cli.trainers import sentencepiece, train
from tests.needs import needs


def refused(path):
    with pytest.raises(FormatError) as caught:
        formats.load(path)
    return caught.value.message


# -- what classes put around a text ------------------------------------------------------------


@pytest.fixture
def model_file(tmp_path):
    """Write a SentencePiece model with <s> (1) and </s> (2)."""
    tokenizer = train(["low lower lowest"], sentencepiece.Options(30))
    path = tmp_path / "tokenizer.model"
    path.write_bytes(formats.dump(tokenizer, "sentencepiece")[""])
    return path


NAMES = {"bos_token": "<s>", "eos_token": "</s>"}


@pytest.mark.parametrize(
    ("config", "single", "pair"),
    [
        ({}, [7], [7, 8]),
        ({"add_bos_token": False}, [7], [7, 8]),
        ({"tokenizer_class": "LlamaTokenizer"}, [1, 7], [1, 7, 1, 8]),
        ({"tokenizer_class": "LlamaTokenizer", "add_bos_token": False}, [7], [7, 8]),
        ({"tokenizer_class": "GemmaTokenizerFast", "add_eos_token": True}, [1, 7, 2], [1, 7, 2, 1, 8, 2]),
        ({"tokenizer_class": "BaichuanTokenizer"}, [1, 7], [1, 7, 1, 8]),
        ({"tokenizer_class": "T5TokenizerFast"}, [7, 2], [7, 2, 8, 2]),
        ({"tokenizer_class": "ReformerTokenizer"}, [7], [7, 8]),
        (
            {"tokenizer_class": "DebertaV2Tokenizer", "cls_token": "<s>", "sep_token": "</s>"},
            [1, 7, 2],
            [1, 7, 2, 8, 2],
        ),
    ],
)
def test_classes_put_their_tokens_around(model_file, config, single, pair):
    (model_file.parent / "tokenizer_config.json").write_text(json.dumps(NAMES | config))
    tokenizer = formats.load(model_file)
    assert tokenizer.usage.role("bos") == 1
    assert process(tokenizer.post_processor, [7]).ids == single
    assert process(tokenizer.post_processor, [7], [8]).ids == pair
    rival = needs("tokenizers")
    theirs = rival.Tokenizer(rival.models.WordLevel({"x": 7, "y": 8, "<s>": 1, "</s>": 2}, "x"))
    theirs.pre_tokenizer = rival.pre_tokenizers.Whitespace()
    document = json.loads(theirs.to_str()) | {"post_processor": json.loads(tokenizer.post_processor or "null")}
    theirs = rival.Tokenizer.from_str(json.dumps(document))
    assert theirs.encode("x").ids == single
    assert theirs.encode("x", "y").ids == pair


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (NAMES | {"add_bos_token": True}, "add_bos_token is true, and what that does is known only of some classes"),
        (NAMES | {"add_eos_token": True, "tokenizer_class": "T5Tokenizer"}, "add_eos_token is true, and what"),
        ({"tokenizer_class": "DebertaV2Tokenizer"}, "has no cls_token to put around a text, which its class does"),
        ({"add_bos_token": "yes"}, "add_bos_token must be true or false"),
        ({"tokenizer_class": 5}, "tokenizer_class must be a string, not 5"),
    ],
)
def test_classes_that_are_not_known_are_refused(model_file, config, message):
    (model_file.parent / "tokenizer_config.json").write_text(json.dumps(config))
    assert message in refused(model_file)


# -- what may change text or ids -----------------------------------------------------------------

NOT_PLAIN = (
    "Albert", "XLNet", "XLMRoberta", "Camembert", "MBart50", "Nllb", "Pegasus", "Siglip", "RemBert", "GPT2", "X",
)  # fmt: skip


@pytest.mark.parametrize("fast", ["", "Fast"])
@pytest.mark.parametrize("name", NOT_PLAIN)
def test_a_class_that_may_change_text_or_ids_is_refused_beside_a_model(model_file, name, fast):
    named = f"{name}Tokenizer{fast}"
    (model_file.parent / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": named}))
    for path in (model_file, model_file.parent):
        with pytest.raises(FormatError) as caught:
            formats.load(path)
        known = f'tokenizer_class is "{named}", which is not known to leave text and ids as the .model has them'
        assert caught.value.message.endswith(known)
        assert caught.value.hint.startswith("a tokenizer.json says what the class does")


@pytest.mark.parametrize("tokenizer_class", [None, "PreTrainedTokenizerFast", "T5Tokenizer", "LlamaTokenizer"])
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("do_lower_case", True),
        ("remove_space", True),
        ("keep_accents", False),
        ("split_by_punct", True),
        ("add_prefix_space", False),
    ],
)
def test_a_setting_that_changes_text_is_refused_beside_a_model(model_file, tokenizer_class, setting, value):
    path = model_file.parent / "tokenizer_config.json"
    path.write_text(json.dumps(NAMES | {"tokenizer_class": tokenizer_class, setting: value}))
    message = f"{setting} is {json.dumps(value)}, which changes text in a way that the .model does not say"
    assert refused(model_file).endswith(message)
    for harmless in (not value, None):
        path.write_text(json.dumps(NAMES | {"tokenizer_class": tokenizer_class, setting: harmless}))
        assert formats.load(model_file).encode("low") == formats.load(model_file).encode("low", specials="all")


def test_a_model_that_puts_no_space_before_a_text_fits_a_class_that_puts_none(model_file):
    model_file.write_bytes(
        formats.dump(train(["low lower"], sentencepiece.Options(30, add_dummy_prefix=False)), "sentencepiece")[""]
    )
    config = {"tokenizer_class": "GemmaTokenizer", "add_prefix_space": False, "add_bos_token": False}
    (model_file.parent / "tokenizer_config.json").write_text(json.dumps(config))
    assert formats.load(model_file).decode(formats.load(model_file).encode("low")) == "low"


PLAIN = ("BertGenerationTokenizer", "SentencePieceBackend", "T5Tokenizer", "BigBirdTokenizer", "DebertaV2Tokenizer")


@pytest.mark.parametrize("name", PLAIN)
def test_classes_that_leave_text_and_ids_give_those_of_transformers(model_file, name):
    rival = needs("transformers")
    for other in ("spiece.model", "spm.model"):
        (model_file.parent / other).write_bytes(model_file.read_bytes())
    names = NAMES | {"unk_token": "<unk>", "cls_token": "<s>", "sep_token": "</s>", "pad_token": "<unk>"}
    config = names | {"mask_token": "<unk>", "extra_ids": 0, "tokenizer_class": name}
    (model_file.parent / "tokenizer_config.json").write_text(json.dumps(config))
    ours = formats.load(model_file)
    theirs = getattr(rival, name).from_pretrained(model_file.parent)
    for text in ("low lower lowest", "lower low", "west"):
        assert ours.encode(text) == theirs.encode(text, add_special_tokens=False)
        for given in (text, (text, "low")):
            (found,) = ours.model_inputs([given])
            assert list(found.ids) == theirs(*([given] if given is text else given))["input_ids"]
