"""The libraries whose formats they are load the files written here, and give the same ids and texts.

tokenizers, gguf and llama.cpp are asked elsewhere: ``tests/test_formats.py``, ``tests/unit/formats/gguf_files.py``
and ``test_gguf_like_llama_cpp.py``.
"""

from __future__ import annotations

import io
import random
from functools import cache

import pytest

from bpe_cli import formats
from bpe_cli.formats.features import LOSSES
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bbpe, bpe, sentencepiece, train
from tests.cli_runner import call
from tests.differential.texts import WORDS, corpus
from tests.needs import needs

CORPORA = tuple(f"corpora/languages/{name}.txt" for name in ("en", "de", "ru"))


@cache
def lines() -> tuple[str, ...]:
    return tuple(line for name in CORPORA for line in corpus()[name].splitlines())


@cache
def texts() -> tuple[str, ...]:
    chance = random.Random(3)
    mixed = ["".join(chance.choices((*WORDS, " ", "the ", "und "), k=chance.randint(1, 12))) for _ in range(200)]
    return ("", *lines()[:200], *mixed)


# -- tiktoken --------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["gpt2", "llama3", "o200k"])
def test_tiktoken(pattern, tmp_path, monkeypatch):
    tiktoken = needs("tiktoken")
    load = needs("tiktoken.load")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # nothing is to be kept
    tokenizer = train(lines(), bbpe.Options(600, pattern=PATTERNS[pattern].regex))
    path = tmp_path / "t.tiktoken"
    path.write_bytes(formats.dump(tokenizer, "tiktoken", frozenset({"pattern"}))[""])
    ranks = load.load_tiktoken_bpe(str(path))
    theirs = tiktoken.Encoding("t", pat_str=PATTERNS[pattern].regex, mergeable_ranks=ranks, special_tokens={})
    assert theirs.n_vocab == tokenizer.vocab_size == 600
    for text in texts():
        ids = theirs.encode_ordinary(text)
        assert tokenizer.encode(text) == ids
        assert tokenizer.decode_bytes(ids) == theirs.decode_bytes(ids) == text.encode()


# -- sentencepiece ---------------------------------------------------------------------------------

MODELS = {
    "bpe": sentencepiece.Options(500),
    "bytes": sentencepiece.Options(800, byte_fallback=True, normalization="identity", remove_extra_whitespaces=False),
    "unigram": sentencepiece.Options(500, model="unigram"),
    "char": sentencepiece.Options(150, model="char"),
    "word": sentencepiece.Options(500, model="word"),
}


@cache
def trained(name: str) -> Tokenizer:
    return train(lines(), MODELS[name])


def converted(name: str) -> Tokenizer:
    """Return what is read of the tokenizer.json of a trained tokenizer; what it loses shows on rare texts only."""
    return formats.FORMATS["tokenizer.json"].loads(formats.dump(trained(name), "tokenizer.json", LOSSES)[""])


@pytest.mark.parametrize(
    ("make", "name"), [*((trained, name) for name in MODELS), (converted, "bytes"), (converted, "unigram")]
)
def test_sentencepiece(make, name):
    library = needs("sentencepiece")
    tokenizer = make(name)
    theirs = library.SentencePieceProcessor(model_proto=formats.dump(tokenizer, "sentencepiece", LOSSES)[""])
    assert theirs.vocab_size() == tokenizer.vocab_size
    for text in texts() if make is trained else lines()[:300]:
        ids = theirs.encode(text)
        assert tokenizer.encode(text) == ids, text
        assert tokenizer.decode_bytes(ids).decode("utf-8", "replace") == theirs.decode(ids), text


# -- subword-nmt -----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"suffix_form": "0.1"}], ids=["0.2", "0.1"])
def test_subword_nmt(options, tmp_path):
    library = needs("subword_nmt.apply_bpe")
    tokenizer = train(lines(), bpe.Options(merges=400, **options))
    codes = formats.dump(tokenizer, "subword-nmt", frozenset({"ids"}))[""]
    theirs = library.BPE(io.StringIO(codes.decode()))
    (tmp_path / "t.codes").write_bytes(codes)
    text = "".join(f"{line}\n" for line in lines()[:300])
    done = call("encode", "-t", "t.codes", "--to", "segmented", input=text.encode(), cwd=tmp_path)
    assert done.text == "".join(theirs.process_line(line) for line in text.splitlines(keepends=True))
