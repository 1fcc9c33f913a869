"""SentencePiece's ``.model``: what is not a stage survives, and what the file says of itself is told."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from bpe_cli.errors import FormatError
from bpe_cli.formats import load
from bpe_cli.formats import sentencepiece as wire
from bpe_cli.formats.sentencepiece import NORMALIZER, TRAINER
from bpe_cli.formats.sentencepiece import model as sentencepiece_model
from bpe_cli.stages import SpaceMarks, SpecialToken
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Origin
from tests.needs import needs

spm = needs("sentencepiece")

LINES = [f"the quick brown fox number {number} jumps over {number * 7} lazy dogs, again" for number in range(200)]


@cache
def trained(**options: object) -> bytes:
    model = io.BytesIO()
    given = {"model_type": "bpe", "vocab_size": 120, "hard_vocab_limit": False, "num_threads": 1} | options
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=model, minloglevel=4,
        **{name: list(value) if isinstance(value, tuple) else value for name, value in given.items()},
    )  # fmt: skip
    return model.getvalue()


KINDS = {
    "bpe": {"self_test_sample_size": 3},
    "unigram": {"model_type": "unigram", "vocab_size": 60, "user_defined_symbols": ("<n>", "fox"),
                "control_symbols": ("<c>",)},
    "char": {"model_type": "char"},
    "word": {"model_type": "word", "vocab_size": 30},
    "bytes": {"byte_fallback": True, "vocab_size": 400, "normalization_rule_name": "identity", "pad_id": 3,
              "remove_extra_whitespaces": False, "unk_surface": "?"},
    "suffix": {"treat_whitespace_as_suffix": True, "add_dummy_prefix": False, "bos_id": -1, "eos_piece": "</e>"},
}  # fmt: skip


@pytest.fixture(params=KINDS)
def model(request) -> bytes:
    return trained(**KINDS[request.param])


# -- what survives -----------------------------------------------------------------------------------


def with_strangers(data: bytes) -> bytes:
    """Put fields into a model that nothing here knows: at the top, in pieces, in both settings."""
    strange = wire.bytes_field(200, b"an extension") + wire.varint_field(201, 7)
    out = [wire.varint_field(777, 1)]
    for number, value in wire.fields(data, "test"):
        assert isinstance(value, bytes)
        out.append(wire.bytes_field(number, strange + value if number == 1 else value + strange))
    out += [wire.bytes_field(5, wire.bytes_field(1, b"denormalizer")), wire.bytes_field(900, b"\x00\xff")]
    return b"".join(out)


def test_unchanged_file_comes_back_byte_for_byte(model):
    assert sentencepiece_model.dump(sentencepiece_model.loads(model))[""] == model
    strange = with_strangers(model)
    read = sentencepiece_model.loads(strange)
    assert read == sentencepiece_model.loads(model)
    assert sentencepiece_model.dump(read)[""] == strange


def test_all_published_files_come_back_byte_for_byte(shared):
    paths = [
        *sorted((shared / "vocabs").glob("*/*.model*")),
        *sorted((shared / "expected/train/sentencepiece").glob("*.model")),
    ]
    read = 0
    for path in paths:
        if sentencepiece_model.sniff(path.read_bytes()[:100]):
            tokenizer = sentencepiece_model.loads(path.read_bytes())  # without what lies beside it
            assert sentencepiece_model.dump(tokenizer)[""] == path.read_bytes(), path
            assert not any(name.startswith("field ") for name, _ in tokenizer.origin.facts), path
            read += 1
    assert read > 20


def test_added_tokens_change_nothing_else(model):
    strange = with_strangers(model)
    tokenizer = sentencepiece_model.loads(strange)
    size = tokenizer.vocab_size
    added = tokenizer.with_special_tokens([SpecialToken(b"<|more|>", size), SpecialToken(b"<|most|>", size + 1)])
    written = sentencepiece_model.dump(added)[""]
    pieces = b"".join(wire.bytes_field(1, wire.bytes_field(1, text) + wire.float_field(2, 0) + wire.varint_field(3, 3))
                      for text in (b"<|more|>", b"<|most|>"))  # fmt: skip
    assert pieces in written
    # Beside the two pieces only the size of the vocabulary is another one.
    rest = written.replace(pieces, b"")
    old, new = (list(wire.fields(data, "test")) for data in (strange, rest))
    assert [pair for pair in zip(old, new, strict=True) if pair[0] != pair[1] and pair[0][0] != 2] == []
    processor = spm.SentencePieceProcessor(model_proto=written)
    assert processor.piece_to_id("<|most|>") == size + 1
    assert processor.encode("the fox 7") == tokenizer.encode("the fox 7")
    again = sentencepiece_model.loads(written)
    assert again == added
    assert dict(again.origin.facts)["vocab_size"] == size + 2


def test_changed_stages_are_written(model):
    tokenizer = sentencepiece_model.loads(with_strangers(model))
    marks = SpaceMarks(add_dummy_prefix=False, remove_extra_whitespaces=False)
    decoder = replace(tokenizer.decoder[0], add_dummy_prefix=False, remove_extra_whitespaces=False,
                      treat_whitespace_as_suffix=False, unk_surface="!")  # fmt: skip
    changed = replace(tokenizer, normalizer=(marks,), decoder=(decoder,))
    written = sentencepiece_model.dump(changed)[""]
    assert sentencepiece_model.loads(written) == changed
    assert b"an extension" in written
    assert wire.bytes_field(900, b"\x00\xff") in written
    assert spm.SentencePieceProcessor(model_proto=written).encode(" a  fox") == changed.encode(" a  fox")


def test_roles_are_written():
    tokenizer = sentencepiece_model.loads(trained(**KINDS["bpe"]))
    size = tokenizer.vocab_size
    added = tokenizer.with_special_tokens([SpecialToken(b"[PAD]", size)])
    wanted = replace(added, usage=replace(added.usage, roles=(*added.usage.roles, ("pad", size))))
    for origin in (tokenizer.origin, None):
        written = sentencepiece_model.dump(replace(wanted, origin=origin))[""]
        assert spm.SentencePieceProcessor(model_proto=written).pad_id() == size
        assert sentencepiece_model.loads(written) == wanted


def test_word_models_keep_scores():
    data = trained(**KINDS["word"])
    tokenizer = sentencepiece_model.loads(data)
    written = sentencepiece_model.dump(tokenizer.with_special_tokens([SpecialToken(b"<more>", tokenizer.vocab_size)]))[
        ""
    ]
    before, after = (spm.SentencePieceProcessor(model_proto=each) for each in (data, written))
    scores = [before.get_score(number) for number in range(len(before))]
    assert [after.get_score(number) for number in range(len(before))] == scores
    assert len(set(scores)) > 2


def test_another_format_s_origin_is_not_used():
    tokenizer = sentencepiece_model.loads(trained(**KINDS["bpe"]))
    foreign = replace(tokenizer, origin=Origin("other", (), (("file", b"nonsense"),)))
    assert sentencepiece_model.loads(sentencepiece_model.dump(foreign)[""]) == tokenizer


def test_messages_in_parts_count_as_one():
    data = trained(**KINDS["bytes"])
    parts = list(wire.fields(data, "test"))
    split = b"".join(
        wire.bytes_field(number, value) for number, value in parts if isinstance(value, bytes) and number < 2
    )
    for number, value in parts:
        if number in (2, 3):
            there = list(wire.placed_fields(value, "test"))
            half = there[len(there) // 2].start
            split += wire.bytes_field(number, value[:half]) + wire.bytes_field(number, value[half:])
    read = sentencepiece_model.loads(split)
    assert read == sentencepiece_model.loads(data)
    assert sentencepiece_model.dump(read)[""] == split
    assert spm.SentencePieceProcessor(model_proto=split).encode("a fox é") == read.encode("a fox é")


# -- what the file says -------------------------------------------------------------------------------


def test_roles_are_the_library_s(model):
    processor = spm.SentencePieceProcessor(model_proto=model)
    theirs = {
        "bos": processor.bos_id(),
        "eos": processor.eos_id(),
        "unk": processor.unk_id(),
        "pad": processor.pad_id(),
    }
    roles = sentencepiece_model.loads(model).usage.roles
    assert dict(roles) == {role: token_id for role, token_id in theirs.items() if token_id >= 0}


OPTIONS = {
    "model_type": "bpe", "vocab_size": 61, "input_format": "tsv", "character_coverage": 0.9921875,
    "input_sentence_size": 150,
    "seed_sentencepiece_size": 5000, "shrinking_factor": 0.5, "num_threads": 3, "num_sub_iterations": 4,
    "max_sentence_length": 3000, "shuffle_input_sentence": False, "max_sentencepiece_length": 9,
    "split_by_unicode_script": False, "split_by_whitespace": False, "split_by_number": False,
    "treat_whitespace_as_suffix": True, "split_digits": True, "allow_whitespace_only_pieces": True,
    "control_symbols": ("<c>", "<d>"), "user_defined_symbols": ("<n>",), "vocabulary_output_piece_score": False,
    "hard_vocab_limit": False, "use_all_vocab": True, "byte_fallback": True, "required_chars": "xyz",
    "unk_id": 3, "bos_id": 2, "eos_id": 1, "pad_id": 0, "unk_surface": "?", "unk_piece": "[u]", "bos_piece": "[b]",
    "eos_piece": "[e]", "pad_piece": "[p]", "pretokenization_delimiter": "|",
}  # fmt: skip
"""An option of the trainer, and a value that is not its default."""

WITH_FILES = {"input", "model_prefix"}
NOT_TRAINED = {
    "accept_language", "self_test_sample_size", "mining_sentence_size", "training_sentence_size",
    "train_extremely_large_corpus", "seed_sentencepieces_file", "auto_character_coverage",
    "enable_differential_privacy", "differential_privacy_noise_level", "differential_privacy_clipping_threshold",
}  # fmt: skip
"""What the library passes over (published models have them), or what is younger than it."""


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_settings_have_the_proto_s_names(name):
    """Each option is given alone: the one field that it changes has its number."""
    value = OPTIONS[name]
    needs = {"model_type": "char" if name == "use_all_vocab" else "unigram", "vocab_size": 60}
    needs |= {"vocab_size": 320} if name == "byte_fallback" else {}
    needs |= (
        {"bos_id": 5, "eos_id": 4, "pad_id": -1, "unk_id": 6}
        if name in ("unk_id", "bos_id", "eos_id", "pad_id")
        else {}
    )
    data = (trained_lines if name == "input_format" else trained)(**needs | {name: value})
    stated = [fact for setting, fact in sentencepiece_model.loads(data).origin.facts if setting == name]
    wanted = list(value) if isinstance(value, tuple) else [value.upper() if name == "model_type" else value]
    assert stated == wanted
    assert [type(each) for each in stated] == [type(each) for each in wanted]


def test_settings_with_files(tmp_path):
    (tmp_path / "text").write_text("\n".join(LINES))
    spm.SentencePieceTrainer.train(
        input=str(tmp_path / "text"),
        model_prefix=str(tmp_path / "m"),
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=4,
    )
    facts = dict(load(tmp_path / "m.model").origin.facts)
    assert (facts["input"], facts["model_prefix"]) == (str(tmp_path / "text"), str(tmp_path / "m"))


def trained_lines(**options: object) -> bytes:
    """Train on a table of sentences and counts."""
    model = io.BytesIO()
    lines = iter(f"{line}\t2" for line in LINES)
    spm.SentencePieceTrainer.train(
        sentence_iterator=lines, model_writer=model, minloglevel=4, hard_vocab_limit=False, **options
    )
    return model.getvalue()


def test_all_settings_are_tried():
    assert set(TRAINER.values()) == OPTIONS.keys() | WITH_FILES | NOT_TRAINED


def test_settings_of_the_normalizer():
    data = trained(
        normalization_rule_name="nmt_nfkc_cf",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        escape_whitespaces=True,
    )
    facts = dict(sentencepiece_model.loads(data).origin.facts)
    assert facts["normalizer_spec.name"] == "nmt_nfkc_cf"
    assert facts["normalizer_spec.precompiled_charsmap"].endswith("bytes")
    assert [facts[f"normalizer_spec.{NORMALIZER[field]}"] for field in (3, 4, 5)] == [False, False, True]


def test_settings_of_chatglm_are_those_of_the_article(shared):
    facts = sentencepiece_model.loads((shared / "vocabs" / "chatglm-6b" / "ice_text.model").read_bytes()).origin.facts
    assert facts[0][0] == "input"
    assert Path(facts[0][1]).name == "train_cn_en.json"
    assert facts[1:9] == (
        ("model_prefix", "new_ice_unigram"),
        ("vocab_size", 130000),
        ("character_coverage", 0.9998999834060669),
        ("split_digits", True),
        ("user_defined_symbols", "<n>"),
        ("byte_fallback", True),
        ("pad_id", 3),
        ("train_extremely_large_corpus", True),
    )


def test_fields_of_younger_versions_are_shown_by_number():
    data = trained(**KINDS["bpe"]) + wire.bytes_field(2, wire.varint_field(99, 5) + wire.bytes_field(98, b"abc"))
    facts = dict(sentencepiece_model.loads(data).origin.facts)
    assert (facts["field 99"], facts["field 98"]) == (5, "6 bytes")


# -- the wire ------------------------------------------------------------------------------------------


def test_wire_reads_as_google_s_library_does(model):
    needs("google.protobuf")
    from sentencepiece import sentencepiece_model_pb2

    assert {field.number: field.name for field in sentencepiece_model_pb2.TrainerSpec.DESCRIPTOR.fields} == TRAINER
    assert {
        field.number: field.name for field in sentencepiece_model_pb2.NormalizerSpec.DESCRIPTOR.fields
    } == NORMALIZER
    theirs = sentencepiece_model_pb2.ModelProto.FromString(with_strangers(model))
    ours = list(wire.fields(with_strangers(model), "test"))
    pieces = [dict(wire.fields(value, "test")) for number, value in ours if number == 1]
    assert [piece[1].decode() for piece in pieces] == [piece.piece for piece in theirs.pieces]
    assert [piece.get(3, 1) for piece in pieces] == [piece.type for piece in theirs.pieces]
    stated = dict(sentencepiece_model.loads(model).origin.facts)
    for field, value in theirs.trainer_spec.ListFields():
        if not field.is_repeated and not field.is_extension:
            told = field.enum_type.values_by_number[value].name if field.enum_type else value
            assert stated[field.name] == told, field.name
    # What it writes has the same fields, but not in the same places: unknown ones go to the end.
    again = theirs.SerializeToString()
    assert again != with_strangers(model)
    assert sentencepiece_model.loads(again) == sentencepiece_model.loads(model)


def test_edited_fields_keep_their_places():
    data = wire.varint_field(1, 5) + wire.bytes_field(9, b"x") + wire.varint_field(1, 6) + wire.varint_field(12, 1)
    assert wire.edited(data, {}, "test") == data
    changed = wire.edited(data, {1: wire.varint_field(1, 7), 10: wire.varint_field(10, 3), 20: b"\xa0\x01\x00"}, "test")
    assert list(wire.fields(changed, "test")) == [(1, 5), (9, b"x"), (1, 7), (10, 3), (12, 1), (20, 0)]


@pytest.mark.parametrize(
    "data", [b"\x00\x00", b"\x80\x80\x80\x80\x10\x00", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x0b"]
)
def test_broken_fields_are_refused(data):
    with pytest.raises(FormatError, match="at byte 0"):
        list(wire.fields(data, "test"))


def test_losses_are_refused():
    tokenizer = sentencepiece_model.loads(trained(**KINDS["bpe"]))
    with pytest.raises(FormatError, match="post-processor"):
        sentencepiece_model.dump(replace(tokenizer, post_processor='{"type":"x"}'))
    flagged = tokenizer.with_special_tokens([SpecialToken(b"<x>", tokenizer.vocab_size, lstrip=True)])
    with pytest.raises(FormatError, match="how added tokens are looked for"):
        sentencepiece_model.dump(flagged)
    assert isinstance(
        sentencepiece_model.loads(sentencepiece_model.dump(flagged, frozenset({"token-flags"}))[""]), Tokenizer
    )


def test_ids_with_a_gap_are_refused():
    tokenizer = sentencepiece_model.loads(trained(**KINDS["bpe"]))
    gap = tokenizer.with_special_tokens([SpecialToken(b"<x>", tokenizer.vocab_size + 1)])
    with pytest.raises(FormatError, match="no gaps"):
        sentencepiece_model.dump(gap)
