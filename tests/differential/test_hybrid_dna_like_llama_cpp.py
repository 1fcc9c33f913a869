"""Words of DNA in text are found as in llama.cpp: random texts and vocabularies, whatever type the tags have."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from bpe_cli.formats import gguf
from tests.differential.texts import corpus
from tests.needs import needs
from tests.unit.formats.gguf_files import fill_hybrid_dna, written

PARTS = (
    *("<dna>", "</dna>", "<oov>", "<own>", "<|endoftext|>", "ACGTAC", "acgtac", "CCCCCC", "cccccc", "TTTAAA", "ttt"),
    *("n", "NNNNNN", "C", "g", "A", "<dn", "dna>", "</", "Aé1AA", "é", "中", " ", "  ", " ab", "ab", "a", "\n", "\x00"),
    *("\ue000", "CCCCCC\ue000", "the ", "don't", "3141", "<DNA>"),
)

Encode = Callable[[str], list[int]]


@pytest.fixture(scope="module")
def llama_cpp(tmp_path_factory):
    """Return a function that encodes by llama.cpp: content of a file, whether control tokens are heeded -> encoder."""
    library = needs("llama_cpp")
    silent = library.llama_log_callback(lambda level, text, data: None)
    library.llama_log_set(silent, None)
    path = tmp_path_factory.mktemp("llama") / "vocabulary.gguf"

    def of(content: bytes) -> tuple[Encode, Encode, Callable[[list[int]], bytes]]:
        path.write_bytes(content)
        model = library.Llama(str(path), vocab_only=True, verbose=False)
        plain = lambda text: model.tokenize(text.encode(), add_bos=False, special=False)  # noqa: E731
        special = lambda text: model.tokenize(text.encode(), add_bos=False, special=True)  # noqa: E731
        return plain, special, lambda ids: model.detokenize(ids, special=True)

    yield of
    library.llama_log_set(library.llama_log_callback(), None)  # or it would go on calling what is gone


def made_up(number: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choices(PARTS, k=chance.choice((2, 6, 15, 40)))) for _ in range(number)]


@pytest.mark.parametrize("pre", ["qwen2", "gpt-2", "llama-bpe", "deepseek-llm"])
def test_random_texts(llama_cpp, tmp_path, pre):
    content = written(tmp_path / "x.gguf", lambda writer: fill_hybrid_dna(writer, pre=pre))
    tokenizer = gguf.loads(content)
    plain, special, text_of = llama_cpp(content)
    again, _, _ = llama_cpp(gguf.dump(tokenizer)[""])
    for text in made_up(1000, 3):
        ids = tokenizer.encode(text)
        assert ids == plain(text) == again(text), text
        assert tokenizer.encode(text, specials="all") == special(text), text
        if "Aé1AA" not in text:  # a word of other letters than ASCII's reads as it is written; there, as bytes
            assert tokenizer.decode_bytes(ids) == text_of(ids), text


@pytest.mark.parametrize(
    ("types", "as_text"),
    [
        ({"<dna>": 4}, True),
        ({"</dna>": 4}, True),
        ({"<oov>": 4}, True),
        ({"<dna>": 4, "</dna>": 4, "<oov>": 4}, True),
        ({"<dna>": 5, "ACGTAC\ue000": 5}, True),
        ({"<dna>": 3}, False),
        ({"<dna>": 3, "</dna>": 3, "<oov>": 3}, False),
    ],
)
def test_types_of_tags(llama_cpp, tmp_path, types, as_text):
    """A tag of a user's own cuts the text before words are looked for; text never becomes a control token here."""
    content = written(tmp_path / "x.gguf", lambda writer: fill_hybrid_dna(writer, types=types))
    tokenizer = gguf.loads(content)
    plain, special, _ = llama_cpp(content)
    again, special_again, _ = llama_cpp(gguf.dump(tokenizer)[""])
    for text in made_up(300, 4):
        assert tokenizer.encode(text, specials="all") == special(text) == special_again(text), text
        assert plain(text) == again(text)
        if as_text:
            assert tokenizer.encode(text) == plain(text), text
    control = {tokenizer.token_bytes(token.token_id) for token in tokenizer.special_tokens if token.special}
    assert not control & {tokenizer.token_bytes(each) for text in made_up(99, 5) for each in tokenizer.encode(text)}


def test_random_words(llama_cpp, tmp_path):
    """Some of the words that there are, letters that are none, and stretches as long as those of a genome's file."""
    chance = random.Random(9)
    for _ in range(8):
        words = {"".join(chance.choices("ACGT", k=6)) for _ in range(600)}
        words |= {"".join(chance.choices("ACGTN-\n é", k=chance.choice((4, 5, 6)))) for _ in range(80)}
        content = written(tmp_path / "x.gguf", lambda w, words=words: fill_hybrid_dna(w, words=tuple(sorted(words))))
        tokenizer = gguf.loads(content)
        plain, _, _ = llama_cpp(content)
        for _ in range(10):
            some = [*chance.choices(sorted(words), k=200), *("".join(chance.choices("acgtn\n", k=5)) for _ in range(9))]
            chance.shuffle(some)
            text = f"{chance.choice(PARTS)}<dna>{''.join(some)}{chance.choice(('', '</dna>'))}{chance.choice(PARTS)}"
            assert tokenizer.encode(text) == plain(text), text


def test_a_corpus_with_words_in_it(llama_cpp, tmp_path):
    content = written(tmp_path / "x.gguf", fill_hybrid_dna)
    tokenizer = gguf.loads(content)
    plain, _, _ = llama_cpp(content)
    prose = [text[:20_000] for text in corpus().values()]
    text = "<dna>acgtacNAAA\n</dna>".join(prose[:6])
    assert tokenizer.encode(text, threads=2) == plain(text)
