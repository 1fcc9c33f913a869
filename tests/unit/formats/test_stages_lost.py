"""Stages that a format of byte-level BPE cannot say: named losses, and what is left without them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError
from bpe_cli.formats import FORMATS, gguf
from bpe_cli.formats.byte_level import tekken
from bpe_cli.formats.features import losses
from bpe_cli.stages import NFC, ByteLevel, Digits, Lowercase, MergeBpe, ReplaceDecoder, SpecialToken, Split
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer

GPT2 = Split(PATTERNS["gpt2"].regex)
QWEN2 = Split(PATTERNS["qwen2"].regex)
BYTES = [bytes([byte]) for byte in range(256)]
PLAIN = Tokenizer(MergeBpe(Vocabulary.from_tokens([*BYTES, b"ab"]), Merges.from_pairs([(97, 98, 256)])), (GPT2,))
STAGED = replace(
    PLAIN,
    normalizer=(Lowercase(),),
    pre_tokenizer=(Digits(individual_digits=True), GPT2),
    decoder=(ReplaceDecoder("a", "b"),),
)
FORMATS_OF_BYTES = ("tiktoken", "vocab-merges", "minbpe")
STAGES = {"normalizer", "pre-tokenizer", "decoder"}


@pytest.mark.parametrize("name", [*FORMATS_OF_BYTES, "tekken"])
def test_each_stage_is_a_loss_by_its_name(name):
    dump = FORMATS[name].dump
    others = frozenset({"pattern", "ids"})
    with pytest.raises(FormatError) as caught:
        dump(STAGED, others)
    assert caught.value.hint.endswith('`allow_loss=["pre-tokenizer", "normalizer", "decoder"]`')
    for stage in STAGES:
        with pytest.raises(FormatError) as caught:
            dump(STAGED, others | STAGES - {stage})
        assert caught.value.hint.endswith(f'`allow_loss=["{stage}"]`')


@pytest.mark.parametrize("name", [*FORMATS_OF_BYTES, "tekken"])
def test_what_is_left_is_the_tokenizer_without_them(name):
    agreed = frozenset({"pattern"})
    assert FORMATS[name].dump(STAGED, agreed | STAGES) == FORMATS[name].dump(PLAIN, agreed)


@pytest.mark.parametrize("name", [*FORMATS_OF_BYTES, "tekken"])
def test_bytes_spelt_in_between_are_refused(name):
    with pytest.raises(FormatError, match="not Split, ByteLevel"):
        FORMATS[name].dump(replace(PLAIN, pre_tokenizer=(GPT2, ByteLevel())), frozenset({"pattern", *STAGES}))


def test_qwen2_is_written_as_a_pair_by_its_class(tmp_path):
    special = (SpecialToken(b"<|im_end|>", 257),)
    tokenizer = replace(PLAIN, pre_tokenizer=(QWEN2,), normalizer=(NFC(),), special_tokens=special)
    for name, content in FORMATS["vocab-merges"].dump(tokenizer).items():
        (tmp_path / name).write_bytes(content)
    assert b'"tokenizer_class": "Qwen2Tokenizer"' in (tmp_path / "tokenizer_config.json").read_bytes()
    assert replace(formats.load(tmp_path), origin=None) == tokenizer
    for other in (replace(tokenizer, normalizer=()), replace(tokenizer, pre_tokenizer=(GPT2,))):
        with pytest.raises(FormatError, match="split pattern" if other.patterns != PLAIN.patterns else "normalizer"):
            FORMATS["vocab-merges"].dump(other)


def test_what_is_impossible_is_said_before_losses():
    tokenizer = replace(
        PLAIN, special_tokens=(SpecialToken(b"<s>", 300),), post_processor='{"type":"BertProcessing","sep":["a",1],'
        '"cls":["a",1]}',
    )  # fmt: skip
    with pytest.raises(FormatError, match="the special tokens have all ids below"):
        tekken.dump(tokenizer)


def test_a_post_processor_that_does_nothing_is_no_loss():
    nothing = '{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":false,"use_regex":false}'
    assert "post-processor" not in losses(replace(PLAIN, post_processor=nothing), ())
    trimming = nothing.replace('"trim_offsets":false', '"trim_offsets":true')
    assert "post-processor" in losses(replace(PLAIN, post_processor=trimming), ())


def test_a_token_that_llama_cpp_takes_for_special_is_a_loss():
    """It is an ordinary one here, which no merge makes: it came back as nothing."""
    vocabulary = Vocabulary.from_tokens([*BYTES, b"</s>"])
    tokenizer = Tokenizer(MergeBpe(vocabulary, Merges.from_pairs([])), (GPT2,))
    with pytest.raises(FormatError, match=r'\(llama\.cpp takes "</s>" for special\)'):
        gguf.dump(tokenizer)
    again = gguf.loads(gguf.dump(tokenizer, frozenset({"token-flags"}))[""])
    assert again.encode("a </s>") == tokenizer.encode("a </s>")


def test_messages_for_gguf_speak_of_llama_cpp():
    from bpe_cli.trainers import bpe, train

    with pytest.raises(FormatError, match=r'llama\.cpp marks where words .* "</w>"'):
        gguf.dump(train(["low low"], bpe.Options(20)))
