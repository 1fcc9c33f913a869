"""What a `.model` says of its training, field by field against the library's own for the same options."""

from __future__ import annotations

import random
from array import array
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bpe_cli import formats
from bpe_cli.formats.sentencepiece import model as sentencepiece_model
from bpe_cli.surgery import prune
from bpe_cli.trainers.counts import new_counts
from tests.cli_runner import call
from tests.needs import needs
from tests.thorough import more
from tests.trainer_options import KINDS, WORDS, Kind

sentencepiece = needs("sentencepiece")
needs("google.protobuf")

NAMES = {
    "model": "model_type", "normalization": "normalization_rule_name", "user_defined": "user_defined_symbols",
    "special_tokens": "control_symbols", "seed_size": "seed_sentencepiece_size", "sub_iterations": "num_sub_iterations",
    "max_token_length": "max_sentencepiece_length",
}  # fmt: skip
FLAGS = {"special_tokens": "--special", "max_token_length": "--max-token-length", "min_frequency": "--min-frequency"}
TEXT = (WORDS + "\n") * 9


def parsed(path: Path) -> Any:
    from sentencepiece import sentencepiece_model_pb2

    return sentencepiece_model_pb2.ModelProto.FromString(path.read_bytes())


def ours(folder: Path, model: str, options: dict[str, Any], to: str = "ours.model") -> Path:
    given: list[str] = []
    for name, value in options.items():
        text = ("no", "yes")[value] if isinstance(value, bool) else value
        if name == "special_tokens":
            given += [part for each in value for part in ("--special", each)]
        elif name in FLAGS:
            given += [FLAGS[name], str(text)]
        else:
            given += ["--set", f"{name}={','.join(value) if isinstance(value, tuple) else text}"]
    kind = ("--format", "sentencepiece") if to.endswith(".model") else ()
    run = call("train", "in.txt", "-a", model, "--compat", "sentencepiece", *kind, "-s", size_of(options),
               *given, "-o", to, "-q", cwd=folder)  # fmt: skip
    assert run.status == 0, run.err
    return folder / to


def theirs(folder: Path, model: str, options: dict[str, Any]) -> Path:
    given = {
        NAMES.get(name, name): list(value) if isinstance(value, tuple) else value for name, value in options.items()
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        sentencepiece.SentencePieceTrainer.train(
            input="in.txt", model_prefix="theirs", model_type=model, vocab_size=int(size_of(options)), num_threads=1,
            minloglevel=2, **{"hard_vocab_limit": False, **given},
        )  # fmt: skip
    return folder / "theirs.model"


def size_of(options: dict[str, Any]) -> str:
    return str(45 + 256 * options.get("byte_fallback", False))


def said(spec: Any) -> dict[str, Any]:
    """Return what a message says: of a field that does not stand there, its default."""
    return {
        field.name: list(getattr(spec, field.name)) if field.is_repeated else getattr(spec, field.name)
        for field in spec.DESCRIPTOR.fields
    }


def compare(our: Any, their: Any) -> None:
    expected = said(their.trainer_spec) | {"model_prefix": "ours"}
    assert expected["vocab_size"] == len(their.pieces)
    # How sums of f32 are rounded can decide about a piece of a unigram model; and theirs merges pairs, too, of which
    # none is left, where there is no other.
    expected["vocab_size"] = len(our.pieces)
    assert said(our.trainer_spec) == expected
    normalizer = said(our.normalizer_spec)
    assert {**normalizer, "precompiled_charsmap": b""} == {**said(their.normalizer_spec), "precompiled_charsmap": b""}
    for message in (our, their):  # no self-test, no table for decoding
        assert {field.number for field, _ in message.ListFields()} == {1, 2, 3}


OPTIONS = [kind for kind in KINDS if kind.name.startswith("sentencepiece")]
REFUSED = {
    "min_frequency": "no option of theirs",
    "unk_id": "two pieces with one id",
    "bos_id": "ids with a gap",
    "model": "the kind",
    "vocab_size": "given by all",
    "hard_vocab_limit": "there are too few pieces for it",
    "input_sentence_size": "theirs wants 100 or more",
}


def usable(kind: Kind) -> list[str]:
    return [name for name in kind.field_names if name not in REFUSED]


@pytest.mark.parametrize("kind", OPTIONS, ids=str)
def test_each_option_alone(kind: Kind, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(TEXT)
    model = dict(kind.fixed)["model"]
    compared = 0
    for name in usable(kind):
        for value in kind.values(name)[: more(1, None)]:
            options = {name: ("<c>", "<d>") if name == "special_tokens" else value}
            compare(parsed(ours(tmp_path, model, options)), parsed(theirs(tmp_path, model, options)))
            compared += 1
    assert compared >= len(usable(kind))


@pytest.mark.parametrize("kind", OPTIONS, ids=str)
def test_many_options(kind: Kind, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(TEXT)
    draw = random.Random(str(kind))
    model = dict(kind.fixed)["model"]
    for _ in range(more(4, 8)):
        names = [name for name in draw.sample(usable(kind), 5) if name not in ("special_tokens", "pad_id", "eos_id")]
        options = {name: draw.choice(kind.values(name)) for name in names}
        compare(parsed(ours(tmp_path, model, options)), parsed(theirs(tmp_path, model, options)))


def test_settings_survive(tmp_path: Path) -> None:
    """Through our own file, into one of theirs and back, and when tokens are left out."""
    (tmp_path / "in.txt").write_text(TEXT)
    options = {"character_coverage": 0.99, "split_digits": True, "user_defined": ("<x>", "ne")}
    straight = ours(tmp_path, "unigram", options)
    ours(tmp_path, "unigram", options, to="ours.json")
    for chain in (("ours.json", "back.model"), ("ours.model", "again.json", "again.model")):
        for source, target in pairwise(chain):
            run = call("convert", source, "-o", target, "--format",
                       "sentencepiece" if target.endswith("model") else "bpe.json", cwd=tmp_path)  # fmt: skip
            assert run.status == 0, run.err
    expected = said(parsed(straight).trainer_spec)
    # Our own file does not say what files it was made of.
    without = expected | {"input": [], "model_prefix": ""}
    assert said(parsed(tmp_path / "again.model").trainer_spec) == without
    assert said(parsed(tmp_path / "back.model").trainer_spec) == without
    whole = formats.load(straight)
    counts = new_counts()
    counts.add_pieces(TEXT.encode(), array("Q", [len(TEXT.encode())]), None)
    pruned = prune(whole, counts, whole.vocab_size - 2).tokenizer
    (tmp_path / "pruned.model").write_bytes(sentencepiece_model.dump(pruned)[""])
    left = said(parsed(tmp_path / "pruned.model").trainer_spec)
    assert left == expected | {"vocab_size": expected["vocab_size"] - 2}


def test_what_is_read_keeps_its_settings(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(TEXT)
    path = theirs(tmp_path, "bpe", {"user_defined": ("<x>",), "split_digits": True})
    assert sentencepiece_model.dump(formats.load(path))[""] == path.read_bytes()
