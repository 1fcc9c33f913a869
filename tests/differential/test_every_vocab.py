"""Every real tokenizer at hand: found by its folder, equal to its library, and the same in every other format."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError, InputError, LossError
from bpe_cli.stages import MergeBpe
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Specials, Tokenizer
from bpe_cli.tokenizer.usage import NO_USAGE
from tests.counted import at_least, compared
from tests.differential.published import loaded
from tests.differential.test_gguf_like_llama_cpp import OTHERWISE
from tests.differential.test_hugging_face_files import BYTES_WITHOUT_TOKENS
from tests.differential.texts import suite
from tests.every_format import put, what_dump_reads
from tests.thorough import more

# folder: (path to load in it or "" for itself, pattern, format, expected file, key of the ids, specials)
VOCABS: dict[str, tuple[str, str | None, str, str, str, Specials]] = {
    "bert-base-chinese": ("", None, "bert-vocab", "bert/bert-base-chinese", "ids", "all"),
    "bert-base-uncased": ("", None, "bert-vocab", "bert/bert-base-uncased", "ids", "all"),
    "chatglm-6b": ("ice_text.model", None, "sentencepiece", "sentencepiece/chatglm-6b", "ids", ()),
    "clip": ("", None, "huggingface", "hf-tokenizers/clip", "ids", "all"),
    "falcon": ("", None, "tokenizer.json", "hf-tokenizers/falcon", "ids", "all"),
    "gguf-bert-bge": ("", None, "gguf", "llamacpp/bert-bge", "ids", ()),
    "gguf-gpt-2": ("", None, "gguf", "llamacpp/gpt-2", "ids", ()),
    "gguf-llama-spm": ("", None, "gguf", "llamacpp/llama-spm", "ids", ()),
    "gguf-phi-3": ("", None, "gguf", "llamacpp/phi-3", "ids", ()),
    "gguf-qwen2": ("", None, "gguf", "llamacpp/qwen2", "ids", ()),
    "gpt2-hf": ("", None, "vocab-merges", "tiktoken/gpt2", "ordinary", ()),
    "gpt2-original": ("", None, "vocab-merges", "tiktoken/gpt2", "ordinary", ()),
    "hf-llama3": ("", None, "huggingface", "hf-tokenizers/hf-llama3", "ids", "all"),
    "hf-qwen2_5": ("", None, "huggingface", "hf-tokenizers/hf-qwen2_5", "ids", "all"),
    "llama2": ("tokenizer.model", None, "sentencepiece", "sentencepiece/llama2", "ids", ()),
    "llama3-tiktoken": ("", None, "tiktoken", "tiktoken/llama3", "ordinary", ()),
    "mistral-spm-v1": ("", None, "sentencepiece", "sentencepiece/mistral-spm-v1", "ids", ()),
    "mistral-spm-v3": ("", None, "sentencepiece", "sentencepiece/mistral-spm-v3", "ids", ()),
    "phi-3-mini": ("", None, "huggingface", "hf-tokenizers/phi-3-mini", "ids", "all"),
    "qwen-tiktoken": ("", None, "tiktoken", "tiktoken/qwen", "ordinary", ()),
    "roberta-base": ("", None, "huggingface", "hf-tokenizers/roberta-base", "ids", "all"),
    "spm-bpe_example": ("", None, "sentencepiece", "sentencepiece/spm-bpe_example", "ids", ()),
    "spm-test_ja_model": ("", None, "sentencepiece", "sentencepiece/spm-test_ja_model", "ids", ()),
    "spm-test_model": ("", None, "sentencepiece", "sentencepiece/spm-test_model", "ids", ()),
    "t5-small": ("", None, "huggingface", "hf-tokenizers/t5-small", "ids", "all"),
    "tekken-240718": ("", None, "tekken", "mistral/tekken-240718", "ids", ()),
    "tiktoken-cl100k_base": ("", None, "tiktoken", "tiktoken/cl100k_base", "ordinary", ()),
    "tiktoken-o200k_base": ("", None, "tiktoken", "tiktoken/o200k_base", "ordinary", ()),
    "tiktoken-p50k_base": ("", None, "tiktoken", "tiktoken/p50k_base", "ordinary", ()),
    "tiktoken-r50k_base": ("", None, "tiktoken", "tiktoken/r50k_base", "ordinary", ()),
    "whisper-tiny": ("", None, "huggingface", "hf-tokenizers/whisper-tiny", "ids", "all"),
    "xlnet-base-cased": ("", None, "sentencepiece", "sentencepiece/xlnet-base-cased", "ids", ()),
}

WITHOUT_ANSWERS = {"llama2-repaired", "rwkv-world"}
"""No library's answers are recorded: held against others of their kind, or the textbook, elsewhere."""

REFUSED = {
    "added-tokens-test": "merges",
    "chatglm-6b": 'is "ChatGLMTokenizer", which is not known',
    "llama2": "merge",
    "subword-nmt-ref": "holds no tokenizer",
}
"""Folders that cannot be read as they are, and a word of the reason."""

NORMALIZED = {"contr_kelvin", "ko_jamo", "nfd", "nfkc3", "comb_order", "hangul_nfd"}
"""Texts that NFC changes: Qwen's code does so before it hands a text to tiktoken, whose ids are recorded."""

TWINS = {"gpt2-original": "gpt2-hf", "gguf-llama-spm": "llama2"}
"""Folders that hold the same tokenizer as another one: what can be written of the one can be of the other."""

LIKE_OTHERS = {
    "bert-base-chinese": "bert-base-uncased", "gguf-gpt-2": "gpt2-hf", "gguf-phi-3": "llama2",
    "llama3-tiktoken": "hf-llama3", "mistral-spm-v1": "mistral-spm-v3", "phi-3-mini": "llama2",
    "gguf-qwen2": "hf-qwen2_5", "roberta-base": "gpt2-hf", "tiktoken-cl100k_base": "tiktoken-r50k_base",
    "tiktoken-o200k_base": "tiktoken-r50k_base", "tiktoken-p50k_base": "tiktoken-r50k_base",
    "qwen-tiktoken": "tiktoken-r50k_base",
}  # fmt: skip
"""Folders of which a hunt alone tries every format: another one is written by the same code."""

LEFT_OUT = {
    **dict.fromkeys(
        ("chatglm-6b", "clip", "falcon", "gpt2-hf", "hf-qwen2_5", "t5-small", "tiktoken-r50k_base", "whisper-tiny"),
        ("tokenizer.json",),
    ),
    **dict.fromkeys(("hf-llama3", "mistral-spm-v3", "tekken-240718"), ("tokenizer.json", "bpe.json")),
    "llama2": ("tokenizer.json", "huggingface"),
}
"""Formats that a hunt alone writes of a folder: "huggingface" has the same tokenizer.json in it, or is refused for the
same reason; a bpe.json has its bytes, and what the tokens are for; and llama2 becomes a tokenizer.json below."""

every_vocab = pytest.mark.parametrize("name", VOCABS)


def tokenizer_of(shared: Path, name: str) -> Tokenizer:
    inside, pattern, *_ = VOCABS[name]
    return loaded(shared / "vocabs" / name / inside, pattern)


def ids_of(tokenizer: Tokenizer, text: str, specials: Specials) -> list[int] | None:
    """Return the ids, or None of a text that is refused: which ones are is held against ``BYTES_WITHOUT_TOKENS``."""
    try:
        return tokenizer.encode(text, specials=specials)
    except InputError:
        return None


def test_every_folder_is_spoken_of(shared):
    folders = {folder.name for folder in (shared / "vocabs").iterdir() if folder.is_dir()}
    assert folders == VOCABS.keys() | WITHOUT_ANSWERS | REFUSED.keys()
    assert VOCABS.keys() > LEFT_OUT.keys()
    assert CHAINS["llama2"][0] == ("tokenizer.json", "")
    assert {*LIKE_OTHERS.values()} <= VOCABS.keys() - TWINS.keys() - LIKE_OTHERS.keys(), "which try every format"


@every_vocab
def test_format_is_told_and_ids_are_equal(name, shared):
    inside, _, format_name, reference, key, specials = VOCABS[name]
    assert formats.identify(shared / "vocabs" / name / inside) == format_name
    tokenizer = tokenizer_of(shared, name)
    cases = json.loads((shared / "expected" / f"{reference}.json").read_bytes())["cases"]
    texts = suite(shared)
    assert cases.keys() == texts.keys()
    ours = {case: ids_of(tokenizer, text, specials) for case, text in texts.items()}
    refused = {case for case, ids in ours.items() if ids is None}
    assert refused == BYTES_WITHOUT_TOKENS.get(name, set())
    for case in refused:
        assert len(tokenizer.decode_bytes(cases[case][key])) < len(texts[case].encode()), (
            f"nothing is lost there: {case}"
        )
    wrong = {case: (ours[case], cases[case][key]) for case in ours.keys() - refused if ours[case] != cases[case][key]}
    otherwise = NORMALIZED if name == "qwen-tiktoken" else OTHERWISE.get(name.removeprefix("gguf-"), {}).keys()
    assert wrong.keys() == otherwise, wrong


def test_qwens_ranks_are_those_of_its_successors(shared):
    """Their tokenizer.json has the same ranks and states the normalizer: so the hash of the ranks says it too."""
    tokenizer = tokenizer_of(shared, "qwen-tiktoken")
    assert tokenizer.special_ids[151645].content == b"<|im_end|>"
    assert tokenizer.vocab_size == 151851
    assert tokenizer.normalizer == tokenizer_of(shared, "hf-qwen2_5").normalizer
    texts = suite(shared)
    recorded = json.loads((shared / "expected" / "hf-tokenizers" / "hf-qwen2_5.json").read_bytes())["cases"]
    wrong = {case for case, result in recorded.items() if tokenizer.encode(texts[case]) != result["ids"]}
    assert not {case for case in wrong if "<|" not in texts[case]}, "which find their special tokens unasked"


@pytest.mark.parametrize("name", REFUSED)
def test_what_its_own_library_refuses_is_refused_with_the_place(name, shared):
    with pytest.raises(FormatError, match=REFUSED[name]) as caught:
        formats.load(shared / "vocabs" / name)
    assert name in caught.value.message


@pytest.mark.parametrize("name", TWINS)
def test_twins_are_the_same(name, shared):
    tokenizer = tokenizer_of(shared, name)
    assert replace(tokenizer_of(shared, TWINS[name]), origin=tokenizer.origin, name=tokenizer.name) == tokenizer


@at_least(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name in VOCABS if name not in TWINS.keys() | more(LIKE_OTHERS.keys(), set())]
)
def test_ids_stay_the_same_in_every_format_that_holds_it(name, shared):
    tokenizer = tokenizer_of(shared, name)
    texts = {case: text for case, text in suite(shared).items() if len(text) <= 10_000}
    specials = VOCABS[name][-1]
    expected = {case: ids_of(tokenizer, text, specials) for case, text in texts.items()}
    assert {case for case, ids in expected.items() if ids is None} == BYTES_WITHOUT_TOKENS.get(name, set())
    for format_name in formats.FORMATS:
        if format_name in more(LEFT_OUT, {}).get(name, ()):
            continue
        try:
            with what_dump_reads() as reads:
                formats.dump(tokenizer, format_name)
        except FormatError as error:
            assert error.hint, (format_name, error.message)  # noqa: PT017  # whichever it is
            continue
        [(pattern, again)] = reads
        assert pattern == VOCABS[name][1]
        wrong = [case for case, text in texts.items() if ids_of(again, text, specials) != expected[case]]
        assert not wrong, format_name
        compared()


CHAINS: dict[str, tuple[tuple[str, str], ...]] = {
    "llama2": (
        ("tokenizer.json", ""),
        ("sentencepiece", "post-processor"),
        ("gguf", ""),
        ("tokenizer.json", ""),
    ),
    "mistral-spm-v3": (("gguf", "token-flags"), ("tokenizer.json", ""), ("sentencepiece", "")),
    "hf-qwen2_5": (
        ("gguf", "normalizer token-flags"),
        ("tiktoken", "pattern special-tokens"),  # llama.cpp takes </s> for special, so it has no rank any more
    ),
    "hf-llama3": (("gguf", ""), ("tiktoken", "special-tokens"), ("tokenizer.json", "")),
    "llama3-tiktoken": (("tokenizer.json", ""), ("gguf", ""), ("tiktoken", "")),
    "qwen-tiktoken": (
        ("gguf", "normalizer token-flags"),
        ("huggingface", ""),
        ("tiktoken", "pattern special-tokens"),
    ),
    "gpt2-original": (("gguf", ""), ("tokenizer.json", ""), ("tiktoken", "")),  # the file is known by its content
    "bert-base-uncased": (("tokenizer.json", ""), ("gguf", ""), ("huggingface", ""), ("bert-vocab", "")),
}
"""What users do, by folder: the formats it goes through one after the other, each with the losses it needs."""

HUNTED_CHAINS = {"hf-llama3", "llama3-tiktoken", "mistral-spm-v3", "qwen-tiktoken"}
"""Those that a hunt alone goes through: another one of its algorithm goes through the same formats."""

PATTERNS = {"hf-qwen2_5": "qwen2", "qwen-tiktoken": "qwen2", "hf-llama3": "llama3", "gpt2-original": "gpt2"}
"""Of tokenizers that state their split pattern, which a .tiktoken file on the way does not."""


IN_PART = more({"hf-qwen2_5": 20_000}, {})
"""How many ordinary tokens go that way, of a vocabulary whose losses have all of it compared at each step."""


def beginning(whole: Tokenizer, size: int) -> Tokenizer:
    """Return the first tokens of byte-level merges, and the special tokens behind them."""
    model = whole.model
    tokens = [*model.vocabulary.tokens()]
    merges = Merges.from_pairs(merge for merge in model.merges if max(merge) < size)
    assert len(merges) == size - 256, "each of them is still made"
    part = MergeBpe(Vocabulary.from_tokens(tokens[:size]), merges, model.ignore_merges)
    special = tuple(replace(token, token_id=token.token_id - len(tokens) + size) for token in whole.special_tokens)
    return replace(whole, model=part, special_tokens=special, usage=NO_USAGE, origin=None)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CHAINS.keys() - more(HUNTED_CHAINS, set())))
def test_ids_stay_the_same_through_several_formats(name, shared, tmp_path):
    whole = tokenizer_of(shared, name)
    first = tokenizer = beginning(whole, IN_PART[name]) if name in IN_PART else whole
    texts = {case: text for case, text in suite(shared).items() if len(text) <= 10_000}
    # Of Qwen's losses: text is composed before it is cut, and some added tokens are found in any text.
    lost = name in ("hf-qwen2_5", "qwen-tiktoken")
    expected = {case: first.encode(text) for case, text in texts.items()}
    for number, (format_name, given_up) in enumerate(CHAINS[name]):
        losses = frozenset(given_up.split())
        if losses:  # all of them are named at once
            with pytest.raises(LossError, match="cannot hold") as caught:
                formats.dump(tokenizer, format_name)
            assert {*caught.value.losses} == losses
        with what_dump_reads() as reads:
            files = formats.dump(tokenizer, format_name, losses)
        if format_name == "tiktoken":  # whose pattern may be lost
            pattern = VOCABS[name][1] or PATTERNS.get(name)
            tokenizer = formats.load(put(files, tmp_path / str(number)), pattern)
        else:
            [(pattern, tokenizer)] = reads
            assert pattern is None
        if not losses:
            assert {case: tokenizer.encode(text) for case, text in texts.items()} == expected, format_name
    added = [token.content.decode() for token in first.special_tokens if lost and not token.special]
    wrong = {
        case
        for case, text in texts.items()
        if tokenizer.encode(unicodedata.normalize("NFC", text) if lost else text) != expected[case]
    }
    assert wrong == {case for case, text in texts.items() if any(token in text for token in added)}
