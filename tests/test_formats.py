"""Tokenizers through files: what one program writes, the others read, and text becomes the same ids."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import formats
from bpe_cli.errors import FormatError
from bpe_cli.stages import MergeBpe, PrefixSpace, SpecialToken, Split
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.spelling import ALPHABET_ORDER
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer, fingerprint, named_encodings
from tests.counted import at_least, compared
from tests.needs import needs

GPT2 = PATTERNS["gpt2"].regex


@st.composite
def tokenizers(draw) -> Tokenizer:
    """Make a byte-level tokenizer whose merges come in any order, as no trainer would give them."""
    first = draw(st.lists(st.sampled_from(["<s>", "</s>", "<pad>", "[é]"]), unique=True, max_size=2))
    tokens = [b""] * len(first) + [bytes([byte]) for byte in ALPHABET_ORDER]
    ids = {token: number for number, token in enumerate(tokens) if token}
    merges: dict[tuple[int, int], int] = {}
    pool = [b"a", b"b", b" ", b"\n", b"\xc3", b"\xa9"]
    for _ in range(draw(st.integers(0, 12))):
        left, right = draw(st.sampled_from(pool)), draw(st.sampled_from(pool))
        if (ids[left], ids[right]) not in merges:
            if left + right not in ids:
                ids[left + right] = len(tokens)
                tokens.append(left + right)
                pool.append(left + right)
            merges[ids[left], ids[right]] = ids[left + right]
    ordered = draw(st.permutations(list(merges.items())))
    special = [SpecialToken(text.encode(), number) for number, text in enumerate(first)]
    for text in draw(st.lists(st.sampled_from(["<x>", "ba", "é!"]), unique=True, max_size=2)):
        if text.encode() not in ids:
            gap = draw(st.integers(0, 1))
            number = max(len(tokens), special[-1].token_id + 1 if special else 0) + gap
            special.append(SpecialToken(text.encode(), number, draw(st.booleans())))
    stages = draw(
        st.sampled_from(
            [
                (),
                (Split(GPT2),),
                (PrefixSpace(), Split(GPT2)),
                *((Split(PATTERNS[name].regex),) for name in ("cl100k", "llama3", "qwen2", "o200k", "tekken")),
                (Split(r"\n"), Split(GPT2)),
            ]
        )
    )
    model = MergeBpe(
        Vocabulary.from_tokens(tokens),
        Merges.from_pairs((*pair, product) for pair, product in ordered),
        ignore_merges=draw(st.booleans()),
    )
    return Tokenizer(model, stages, tuple(special), draw(st.none() | st.just("16.0.0")))


TEXTS = st.text(st.sampled_from("ab é\n!1A'sſ漢\u3000"), max_size=12) | st.lists(
    st.sampled_from(["a", "ba", " ", "<s>", "<x>", "é!", "[é]", "ab", "b"]), max_size=6
).map("".join)


@at_least(37)
@given(tokenizer=tokenizers())
def test_every_format_gives_back_what_it_can_hold(tokenizer, tmp_path_factory):
    for name in formats.FORMATS:
        try:
            files = formats.dump(tokenizer, name)
        except FormatError as error:
            assert error.message  # noqa: PT017  # a loss is named; nothing was written
            assert name != "tokenizer.json"
            continue
        folder = tmp_path_factory.mktemp("out")
        for suffix, content in files.items():
            (folder / (suffix or "tokenizer.json")).write_bytes(content)
        again = formats.load(folder)
        if name == "tokenizer.json":
            assert again == tokenizer
            assert fingerprint(again) == fingerprint(tokenizer)
        assert formats.dump(again, name) == files
        compared()


@given(tokenizer=tokenizers(), texts=st.lists(TEXTS, min_size=3, max_size=6))
def test_hugging_face_gives_equal_ids(tokenizer, texts):
    rival = needs("tokenizers")
    theirs = rival.Tokenizer.from_str(formats.dump(tokenizer, "tokenizer.json")[""].decode())
    for text in texts:
        assert tokenizer.encode(text, specials="all") == theirs.encode(text, add_special_tokens=False).ids, text


@at_least(200)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "p50k_edit", "cl100k_base", "o200k_base"])
def test_published_encodings_give_equal_ids_as_tokenizer_json(shared, name, tmp_path):
    rival = needs("tokenizers")
    ours = named_encodings.named(name)
    path = tmp_path / "tokenizer.json"
    path.write_bytes(formats.dump(ours, "tokenizer.json")[""])
    theirs = rival.Tokenizer.from_file(str(path))
    again = formats.load(path)
    for case in json.loads((shared / "expected" / "suite.json").read_bytes())["cases"]:
        if len(case["text"]) > 10_000:
            continue
        expected = ours.encode(case["text"], specials="all")
        assert again.encode(case["text"], specials="all") == expected, case["id"]
        assert theirs.encode(case["text"], add_special_tokens=False).ids == expected, case["id"]
        compared()


TRAINED = [
    "bpe-bytelevel.botchan.1000",
    "bpe-bytelevel.multi.3000",
    "bpe-llama3split.code.2000",
    "bpe-llama3split.zh.2000.maxlen6",
]


@pytest.mark.parametrize("name", TRAINED)
def test_what_hugging_face_trained_is_written_again_byte_for_byte(shared, name):
    path = shared / "expected" / "train" / "hf-tokenizers" / name / "tokenizer.json"
    assert formats.dump(formats.load(path), "tokenizer.json")[""] == path.read_bytes()
