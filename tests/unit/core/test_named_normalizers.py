"""The normalizers that the command line knows by name."""

from __future__ import annotations

import pytest

from bpe_cli import _core
from bpe_cli.errors import UsageError
from bpe_cli.stages import BertNormalizer, Charsmap
from bpe_cli.stages.component_json import core_spec
from bpe_cli.stages.named_stages import NORMALIZERS, normalizers_named
from tests.charsmaps import in_base64


def normalize(names: str, text: str) -> str:
    return _core.Stages(core_spec(normalizers_named(names), ())).normalize(text.encode())[0].decode()


def test_a_greeting_without_accents():
    assert normalize("nfd,strip-accents,lowercase", "Héllò hôw are ü?") == "hello how are u?"


@pytest.mark.parametrize(
    ("names", "text", "wanted"),
    [
        ("nfc", "e\u0301", "é"),
        ("nfd", "é", "e\u0301"),
        ("nfkc", "ﬁ①", "fi1"),
        ("nfkd", "ﬁé", "fie\u0301"),
        ("lowercase", "ÀÉ", "àé"),
        ("strip-accents", "e\u0301é", "eé"),
        ("strip", "\t a b\u3000", "a b"),
        ("nmt", "a\x01\tb\u2581", "a b "),
        ("bert", "Dé\t你", "de  你 "),
        ("bert-cased", "Dé\t你", "Dé  你 "),
        ("nmt_nfkc", "Ａ\r\n\x01", "A  "),
        ("nmt_nfkc_cf", "Ａß～", "aß～"),
        ("nfkc_cf", "Ａ\n～", "a\n~"),
        ("collapse-spaces", "a \n\u3000b", "a b"),
        ("collapse-newlines", "a\r\n\n b\n", "a\n b\n"),
        ("collapse-spaces, strip", " a \n b ", "a b"),
        ("identity", " Ａ", " Ａ"),
        ("none,none", " Ａ", " Ａ"),
    ],
)
def test_each_name_does_what_it_says(names, text, wanted):
    assert normalize(names, text) == wanted


def test_each_name_compiles():
    for name in NORMALIZERS:
        assert normalize(name, "") == ""


def test_names_give_values():
    assert normalizers_named("bert-cased") == (BertNormalizer(lowercase=False),)
    tables = [normalizers_named(name)[0] for name in ("nmt_nfkc", "nmt_nfkc_cf", "nfkc_cf")]
    assert all(isinstance(table, Charsmap) for table in tables)
    assert len({*tables}) == 3
    assert Charsmap(in_base64("nfkc_cf")) == tables[2]


def test_an_unknown_name_is_answered_with_those_there_are():
    with pytest.raises(UsageError, match="no normalizer 'lower-case'") as caught:
        normalizers_named("nfc,lower-case")
    assert "did you mean lowercase?" in caught.value.hint
    assert all(name in caught.value.hint for name in NORMALIZERS)
    with pytest.raises(UsageError, match="no normalizer ''"):
        normalizers_named("")
