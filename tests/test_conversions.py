"""From every kind of tokenizer into every format and on: the same ids, or an error that says what is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bpe_cli.errors import FormatError
from bpe_cli.formats import dump, load
from bpe_cli.formats.features import FEATURES, left_behind
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Usage
from tests.counted import at_least, compared
from tests.every_format import FORMATS, KINDS, pattern_for, put, trained
from tests.thorough import THOROUGH

TEXTS = (
    "",
    " ",
    "low",
    "lowest newest widest",
    " low  lower ",
    "slow, 12345!\n",
    "new\tlow\n\n",
    "unknown ß 漢字 e\u0301 👩\u200d👧",
    "<s> low </s> <unk> [UNK] ▁low</w> ##er @@ <0x41>",
    "lowlowlowlowlow" * 5,
    "\x00\x1f\ufeff\u3000",
)


def read_back(tokenizer: Tokenizer, name: str, folder) -> tuple[Tokenizer, dict[str, bytes]] | None:
    """Write a tokenizer in a format and read it again; None if the format refuses."""
    try:
        files = dump(tokenizer, name)
    except FormatError as error:
        assert error.hint, f"{name} refuses without a way out: {error.message}"  # noqa: PT017  # whichever it is
        return None
    return load(put(files, folder), pattern_for(name)), files


@at_least(1)
@pytest.mark.parametrize("kind", KINDS)
def test_ids_stay_the_same_wherever_a_tokenizer_can_go(kind, tmp_path):
    tokenizer = trained(kind)
    expected = [tokenizer.encode(text) for text in TEXTS]
    decoded = [tokenizer.decode_bytes(ids) for ids in expected]
    held = {}
    for name in FORMATS:
        found = read_back(tokenizer, name, tmp_path / name)
        if found is None:
            continue
        again, files = found
        held[name] = again
        assert again.model.kind in FORMATS[name].MODELS
        assert [again.encode(text) for text in TEXTS] == expected, name
        assert [again.decode_bytes(ids) for ids in expected] == decoded, name
        assert dump(again, name) == files, f"{name} is written otherwise the second time"
        compared()
    assert held, "no format holds it"
    tried = [] if THOROUGH else [tokenizer]  # from equal ones, no more can come of it
    for first, via in held.items():
        if via in tried:
            continue
        tried += [] if THOROUGH else [via]
        for second in FORMATS:
            found = read_back(via, second, tmp_path / f"{first}, {second}")
            if found is not None:
                assert [found[0].encode(text) for text in TEXTS] == expected, (first, second)


def test_the_own_format_holds_every_kind_whole(tmp_path):
    for kind in KINDS:
        found = read_back(trained(kind), "bpe.json", tmp_path / kind)
        assert found is not None, kind
        assert found[0] == trained(kind), kind


def test_every_feature_is_held_somewhere_and_missing_somewhere():
    for feature in FEATURES:
        holding = {name for name, module in FORMATS.items() if feature.name in module.HOLDS}
        assert holding, feature
        assert len(holding) < len(FORMATS), feature


def test_what_is_left_behind_is_told():
    tokenizer = replace(trained("bbpe"), usage=Usage(roles=(("eos", 3),), chat_templates=(("default", "x"),)))
    assert left_behind(tokenizer, ()) == ["the roles of special tokens", "the chat templates"]
    assert left_behind(tokenizer, {"roles"}) == ["the chat templates"]
    assert left_behind(trained("bbpe"), ()) == []
    for name, module in FORMATS.items():
        assert "roles" in module.HOLDS or not hasattr(module, "ROLES"), name
