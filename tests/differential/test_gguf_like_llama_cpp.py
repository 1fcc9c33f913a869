"""GGUF files encode as in llama.cpp: its recorded results, and the program itself where it is installed."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from bpe_cli import formats
from bpe_cli.errors import InputError
from bpe_cli.formats import gguf
from bpe_cli.formats.features import LOSSES
from bpe_cli.formats.gguf import pre as gguf_pre
from bpe_cli.stages import MergeBpe, SpecialToken
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.post_processor import affixes
from bpe_cli.trainers import bbpe, sentencepiece, train, wordpiece
from tests.differential.texts import WORDS, corpus, suite
from tests.needs import needs
from tests.unit.formats.gguf_files import (
    fill_gemma4,
    fill_plain_text,
    fill_plamo2,
    fill_rwkv,
    fill_whitespace,
    written,
)

RECORDED = ("gpt-2", "qwen2", "llama-spm", "phi-3", "bert-bge")

# -- what was recorded -----------------------------------------------------------------------------

FIRST_JAMO = "of a Hangul syllable it keeps the first jamo alone, where BERT has all of them"
MARKS = "it leaves out marks of all kinds (M), BERT those that take no room (Mn)"
CONTROLS = "U+000B, U+000C and U+0085 are whitespace to it, and control characters to BERT"
NO_DIFFERENCE = "a mark U+2581 in the text is to it the beginning of a word"

OTHERWISE: dict[str, dict[str, str]] = {
    "bert-bge": {
        "ws_nel": CONTROLS,
        "ctrl_nl": CONTROLS,
        "ko1": FIRST_JAMO,
        "ko_jamo": FIRST_JAMO,
        "hangul_nfd": FIRST_JAMO,
        "mixed1": FIRST_JAMO,
        "mixed2": FIRST_JAMO,
        "minbpe": FIRST_JAMO,
        "hi1": MARKS,
        "bn": MARKS,
        "ta": MARKS,
        "emoji_vs": MARKS,
        "comb_start": MARKS,
        "lower_one": NO_DIFFERENCE,
    }
}
"""Cases in which ids differ, because llama.cpp does otherwise than the tokenizer that the file is of."""


@cache
def read(path: Path) -> Tokenizer:
    return gguf.load(path)


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_ids(shared, name):
    recorded = json.loads((shared / "expected" / "llamacpp" / f"{name}.json").read_text("utf-8"))
    tokenizer = read(shared / recorded["gguf"])
    before, after = affixes(tokenizer.post_processor)
    assert tokenizer.vocab_size == recorded["n_tokens"]
    different = set()
    texts = suite(shared)
    for case, expected in recorded["cases"].items():
        text = texts[case]
        parsed = expected.get("parsed", expected["ids"])
        ours = tokenizer.encode(text), tokenizer.encode(text, specials="all")
        if (*ours, [*before, *ours[1], *after]) != (expected["ids"], parsed, expected.get("with_special", parsed)):
            different.add(case)
    assert different == set(OTHERWISE.get(name, {}))


def exactly(tokenizer: Tokenizer, ids: list[int]) -> str:
    return tokenizer.decode_bytes(ids).decode()


def cleaned_up(text: str) -> str:
    """Take out the blanks that llama.cpp takes out for ``clean_spaces``, and with them some of the text's own."""
    text = re.sub(" (?=[?!.,])", "", text).replace(" ' ", "'")
    return re.sub(" (?='(?:s|m|re|ve))", "", text)


def words_cleaned_up(tokenizer: Tokenizer, ids: list[int]) -> str:
    """Put a blank before every word, the first one too; none before a token that is not text, as ``[UNK]``."""
    special = tokenizer.special_ids
    tokens = [(token_id, tokenizer.token_bytes(token_id).decode()) for token_id in ids]
    return cleaned_up(
        "".join(
            token if token_id in special else token.removeprefix("##") if token.startswith("##") else f" {token}"
            for token_id, token in tokens
        )
    )


@pytest.mark.parametrize(
    ("name", "read_there"),
    [
        ("qwen2", exactly),
        ("llama-spm", exactly),
        ("phi-3", exactly),
        ("gpt-2", lambda tokenizer, ids: cleaned_up(exactly(tokenizer, ids))),
        ("bert-bge", words_cleaned_up),
    ],
)
def test_recorded_texts(shared, name, read_there):
    """Ids read as they do there; where llama.cpp "cleans up" blanks, when that is done to what they are here."""
    recorded = json.loads((shared / "expected" / "llamacpp" / f"{name}.json").read_text("utf-8"))
    tokenizer = read(shared / recorded["gguf"])
    texts = suite(shared)
    wrong = {
        case: (read_there(tokenizer, expected["ids"]), expected.get("detok", texts[case]))
        for case, expected in recorded["cases"].items()
        if read_there(tokenizer, expected["ids"]) != expected.get("detok", texts[case])
    }
    assert not wrong


@pytest.mark.parametrize("name", RECORDED)
def test_cases_of_llama_cpp_itself(shared, name):
    folder = shared / "vocabs" / f"gguf-{name}"
    tokenizer = read(folder / f"ggml-vocab-{name}.gguf")
    *texts, last = (folder / f"ggml-vocab-{name}.gguf.inp").read_text("utf-8").split("\n__ggml_vocab_test__\n")
    lines = (folder / f"ggml-vocab-{name}.gguf.out").read_text("utf-8").splitlines()
    assert len(texts) == len(lines) > 40
    assert last == ""
    different = [
        text for text, line in zip(texts, lines, strict=True) if tokenizer.encode(text) != [*map(int, line.split())]
    ]
    assert different == ([text for text in texts if "ြင" in text] if name == "bert-bge" else [])


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_files_are_written_again(shared, name):
    (path,) = (shared / "vocabs" / f"gguf-{name}").glob("*.gguf")
    tokenizer = read(path)
    content = gguf.dump(tokenizer)[""]
    again = gguf.loads(content)
    assert again == tokenizer
    ours = {key: value for key, value in again.origin.facts if key != "GGUF.version"}
    theirs = dict(tokenizer.origin.facts)
    assert all(ours[key] == value for key, value in theirs.items() if key != "GGUF.version")
    added = {"add_bos_token", "add_eos_token", "add_space_prefix", "normalizer.lowercase", "normalizer.strip_accents"}
    more = {"bos_token_id", "unknown_token_id", "seperator_token_id"}
    assert {key.removeprefix("tokenizer.ggml.") for key in ours.keys() - theirs.keys()} <= added | more


# -- the program itself ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def llama_cpp(tmp_path_factory):
    """Return a function that encodes by llama.cpp: content of a file -> text -> ids."""
    library = needs("llama_cpp")
    silent = library.llama_log_callback(lambda level, text, data: None)
    library.llama_log_set(silent, None)
    path = tmp_path_factory.mktemp("llama") / "vocabulary.gguf"

    def of(content: bytes, *, special: bool = False, around: bool = False):
        path.write_bytes(content)
        model = library.Llama(str(path), vocab_only=True, verbose=False)
        return lambda text: model.tokenize(text.encode(), add_bos=around, special=special)

    yield of
    library.llama_log_set(library.llama_log_callback(), None)  # or it would go on calling what is gone


TRICKY = (
    *(
        "don't",
        "we'LL",
        "I'M",
        "'s",
        "1234567",
        "12",
        "٣٤٥٦",
        "१२३",
        "²³",
        "Ⅷ",
        "3.14",
        "中文字",
        "日本語",
        "한국",
        "ру",
    ),
    *("e\u0301", "नमस्ते", "บ้าน", "Éa", "aÉ", "fooBar", "HTTPServer", "ÀÉ", "...", "!?", "--", "$+<=>^~|`", "/", "«»"),
    *(
        "\n",
        "\r\n",
        "\n\n",
        "\t",
        " ",
        "  ",
        "   ",
        "\u00a0",
        "\u3000",
        "\u2028",
        "\u200b",
        "\u0085",
        "\x0b",
        "。",
        "、",
    ),
    *("👍🏽", "👨‍👩‍👧", "𠀀", "𐐀", "_", "IMGIMGABCZ", "<sentinel:12>", "(", ")", "#a", '"b', "a", "the ", "ing", "x"),
)


def made_up(number: int, seed: int, *, common: bool = False) -> list[str]:
    chance = random.Random(seed)
    everything = [chr(code) for code in chance.sample(range(0xD800), 300) + chance.sample(range(0x10000, 0x3FFFF), 50)]
    pools = (TRICKY, TRICKY + WORDS[:200], [*TRICKY, *everything])[: 2 if common else 3]
    return ["".join(chance.choices(chance.choice(pools), k=chance.choice((2, 5, 20)))) for _ in range(number)]


@cache
def byte_level() -> Tokenizer:
    lines = [
        line
        for name in ("en", "de", "ru", "zh-hans", "hi")
        for line in corpus()[f"corpora/languages/{name}.txt"].splitlines()
    ]
    trained = train(lines + list(TRICKY) * 3, bbpe.Options(vocab_size=1500))
    # As merges, whose order and ids llama.cpp may not confuse.
    return formats.FORMATS["gguf"].loads(gguf.dump(trained, LOSSES)[""])


@pytest.mark.parametrize("pre", gguf_pre.TABLE, ids=lambda pre: pre.names[0])
def test_every_split_is_llama_cpps(llama_cpp, pre):
    model = byte_level().model
    assert isinstance(model, MergeBpe)
    tokenizer = Tokenizer(
        replace(model, ignore_merges=pre.ignore_merges),
        pre.stages,
        (SpecialToken(b"<s>", model.vocabulary.size), SpecialToken(b"<own>", model.vocabulary.size + 1, special=False)),
    )
    content = gguf.dump(tokenizer)[""]
    encode = llama_cpp(content)
    for text in made_up(60, 1):
        assert tokenizer.encode(text) == encode(text), text


def small(kind: str) -> Tokenizer:
    lines = [line for name in ("en", "de", "ru") for line in corpus()[f"corpora/languages/{name}.txt"].splitlines()]
    if kind == "wordpiece":
        return train(lines, wordpiece.Options(600))
    plain = (
        {}
        if kind == "unigram"
        else {"normalization": "identity", "remove_extra_whitespaces": False, "byte_fallback": True}
    )
    return train(lines, sentencepiece.Options(700, model=kind, **plain))


@pytest.mark.parametrize("kind", ["bpe", "unigram", "wordpiece"])
def test_trained_here_and_run_there(llama_cpp, kind):
    tokenizer = small(kind)
    lost = {"sentencepiece-edges"} if kind == "unigram" else ()  # sums are f32 in SentencePiece, and f64 in llama.cpp
    content = gguf.dump(tokenizer, frozenset(lost))[""]
    encode = llama_cpp(content)
    bert = kind == "wordpiece"  # whose normalizer llama.cpp has otherwise for some characters, see OTHERWISE
    texts = [text for text in made_up(100, 2, common=bert) if not bert or not set(text) & set("한국नमस्ते\x85\x0b")]
    again = gguf.loads(content)
    for text in texts:
        assert again.encode(text) == encode(text), text
    if not lost:
        assert [tokenizer.encode(text) for text in texts] == [encode(text) for text in texts]


@pytest.mark.parametrize(
    ("source", "lost"),
    [
        ("gpt2-original", set()),
        ("llama2/tokenizer.model", set()),
        pytest.param("hf-llama3/tokenizer.json", set(), marks=pytest.mark.slow),
        pytest.param("hf-qwen2_5/tokenizer.json", {"normalizer", "token-flags"}, marks=pytest.mark.slow),
    ],
)
def test_converted_here_and_run_there(shared, llama_cpp, source, lost):
    tokenizer = formats.load(shared / "vocabs" / source)
    content = gguf.dump(tokenizer, frozenset(lost))[""]
    encode = llama_cpp(content)
    different = 0
    for case, text in suite(shared).items():
        if text:
            ours = tokenizer.encode(text)
            different += ours != encode(text)
            if not lost:
                assert ours == encode(text), case
    assert bool(different) == bool(lost)


def test_special_tokens_and_what_is_put_around(llama_cpp):
    model = byte_level().model
    first = model.vocabulary.size
    own = SpecialToken(b"<own>", first + 2, special=False)
    specials = (SpecialToken(b"<s>", first), SpecialToken(b"</s>", first + 1), own)
    template = (
        f'{{"type":"BertProcessing","sep":["</s>",{first + 1}],"cls":["<s>",{first}]}}'  # pairs are another matter
    )
    tokenizer = Tokenizer(model, gguf_pre.BY_NAME["gpt-2"].stages, specials, post_processor=template)
    content = gguf.dump(tokenizer, frozenset({"post-processor"}))[""]
    text = "x <own>y</s> <s>"
    assert llama_cpp(content)(text) == tokenizer.encode(text)
    assert llama_cpp(content, special=True)(text) == tokenizer.encode(text, specials="all")
    around = llama_cpp(content, special=True, around=True)(text)
    assert around == [first, *tokenizer.encode(text, specials="all"), first + 1]


def test_chats_of_phi_3_are_as_of_its_tokenizer_json(shared, llama_cpp):
    """Its special tokens take the whitespace behind them along, which llama.cpp knows by the model's name."""
    tokenizer = formats.load(shared / "vocabs" / "phi-3-mini")
    theirs = llama_cpp(gguf.dump(tokenizer, frozenset({"token-flags"}))[""], special=True)
    for text in (
        "<|user|>\nHello there<|end|>\n<|assistant|>\n Fine.  Thanks<|end|>\n",
        "<|system|> You are<|end|>\n\n<|user|>\t hi<|end|><|endoftext|> x",
        "</s>\n a <s> b <unk> c",
    ):
        assert theirs(text) == tokenizer.encode(text, specials="all")


# -- models of other kinds -------------------------------------------------------------------------


def special_texts(tokenizer: Tokenizer) -> list[str]:
    return [token.content.decode() for token in tokenizer.special_tokens]


ODD = {
    "plain text": (fill_plain_text, {}, "ab õé隣aüb"),
    "plain text, merges of what is not there": (fill_plain_text, {"merges": ("a b", "x a", "zz b")}, "ab õé隣"),
    "gemma4": (fill_gemma4, {}, "ab \né中x▁<>"),
    "gemma4 whose merges give all": (fill_gemma4, {"threes": False}, "ab \né"),
    "gpt2, gemma4": (fill_gemma4, {"model": "gpt2", "pre": "gemma4"}, "ab \né中x▁<>"),
    "granite": (fill_gemma4, {"model": "gpt2", "pre": "granite-embed-multi-311m"}, "ab \né中x▁<>"),
    "sarvam": (fill_gemma4, {"model": "gpt2", "pre": "sarvam-moe"}, "ab \né中x▁<>"),
    "whitespace": (fill_whitespace, {}, "ab \t\nxé\u00a0\u2003"),
    "rwkv": (fill_rwkv, {}, "ab \n\\é中\x00<s>"),
    "plamo2": (fill_plamo2, {"more": (("é", -1000.5, 1), ("éx", -1500.0, 1), ("b ", -2000.0, 1))}, "ab éx中\ufeff\0\n"),
}
"""A file, and the characters of the texts that it is tried on."""


@pytest.mark.parametrize("name", ODD)
def test_odd_files_are_read_as_there(llama_cpp, name, tmp_path):
    fill, options, letters = ODD[name]
    content = written(tmp_path / "x.gguf", lambda writer: fill(writer, **options))
    tokenizer, theirs = gguf.loads(content), llama_cpp(content)
    with_special = llama_cpp(content, special=True, around=True)
    before, after = affixes(tokenizer.post_processor)
    chance = random.Random(name)
    control = {token.content.decode() for token in tokenizer.special_tokens if token.special}
    compared = 0
    for _ in range(400):
        parts = [*letters, *special_texts(tokenizer), *(["ab", " ab", "\n\n", "\n\n\n"])]
        text = "".join(chance.choices(parts, k=chance.randint(1, 12)))
        try:
            ours = tokenizer.encode(text), tokenizer.encode(text, specials="all")
        except InputError:  # a byte has no token: there it is left out
            assert len(theirs(text)) < len(text.encode())
            continue
        if name in ("rwkv", "plamo2") and any(each in text for each in control):
            continue  # where longest match, or the best sum, makes a control token of text
        compared += 1
        assert ours[0] == theirs(text), text
        assert [*before, *ours[1], *after] == with_special(text), text
    assert compared > 100


ODD_SCORES = (-1.00005, -1.00004, -2.0, 0.00005, -999.9999, -1000.0001, -1500.0, -1999.9999, -1999.99995, -2000.0,
              -3e38, -1e6, 1e5, -0.0)  # fmt: skip


def test_rounded_scores_of_random_vocabularies(llama_cpp, tmp_path):
    """Ties, borders of rounding and borders of what is taken; what is written again is read there as before."""
    chance = random.Random(11)
    for _ in range(60):
        texts = {"".join(chance.choices("ab é中", k=chance.choice((1, 1, 2, 2, 3, 4)))) for _ in range(12)}
        tokens = {
            text: chance.choice((-float(chance.randint(1, 8)), -10 * chance.random(), chance.choice(ODD_SCORES)))
            for text in sorted(texts)
        }
        content = written(tmp_path / "x.gguf", lambda writer, tokens=tokens: fill_plamo2(writer, tokens=tokens))
        tokenizer, theirs = gguf.loads(content), llama_cpp(content)
        again = llama_cpp(gguf.dump(tokenizer)[""])
        for _ in range(25):
            letters = [*"ab é中x\0\n", "\ufeff", "<own>", "abab"]
            text = "".join(chance.choices(letters, k=chance.choice((3, 10, 40))))
            assert tokenizer.encode(text) == theirs(text) == again(text), (tokens, text)
