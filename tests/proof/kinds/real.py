"""Real tokenizers against their own libraries, one after the other, so that each has as many bytes."""

from __future__ import annotations

import json
import unicodedata
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from bpe_cli import formats
from bpe_cli.errors import InputError
from bpe_cli.formats import subword_nmt
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.tokenizer import Specials, Tokenizer
from tests.differential.published import loaded
from tests.differential.test_rwkv import by_trie, trie_of
from tests.differential.test_subword_nmt import segmenter
from tests.needs import SHARED as NO_SHARED
from tests.needs import needs, skip
from tests.proof.attempts import SHARED, Proof
from tests.proof.kinds.comparing import compare, undisputed
from tests.proof.kinds.texts import any_text

CHARACTERS = 60_000
"""Of a text; the longest pieces are as long."""

Entries = Sequence[Any] | None
"""Ids, or subwords where there are no ids; None of a text that cannot be compared."""


@dataclass(frozen=True)
class Pair:
    """A tokenizer twice.

    Attributes:
        ours: Gives the entries of a text.
        theirs: Gives its own library's.
        without: Tells which characters of a text are to be left out.
    """

    ours: Callable[[str], Entries]
    theirs: Callable[[str], Entries]
    without: Callable[[str], bool] | None = None

    def prepared(self, text: str) -> str:
        """Return a text that can be compared."""
        return text if self.without is None else "".join(each for each in text if not self.without(each))


def ids_of(tokenizer: Tokenizer, specials: Specials = ()) -> Callable[[str], Entries]:
    """Return what encodes with a tokenizer of ours."""

    def encode(text: str) -> Entries:
        try:
            return tokenizer.encode(text, specials=specials)
        except InputError:  # a byte without a token, which the library leaves out without a word
            return None

    return encode


# -- by library ------------------------------------------------------------------------------------


def of_tokenizers(path: Path) -> Pair:
    """Read a ``tokenizer.json`` twice."""
    library = needs("tokenizers").Tokenizer.from_file(str(path))
    return Pair(ids_of(formats.load(path), "all"), lambda text: library.encode(text, add_special_tokens=False).ids)


def of_some_bytes(path: Path) -> Pair:
    """Read a ``tokenizer.json`` twice that has no token for some bytes: characters with one of them are left out."""
    known = formats.load(path).model.vocabulary
    missing = {byte for byte in range(256) if known.id_of(bytes([byte])) is None}
    return replace(of_tokenizers(path), without=lambda character: not missing.isdisjoint(character.encode()))


def of_bert(path: Path) -> Pair:
    """Read BERT's ``vocab.txt`` twice."""
    library = needs("tokenizers").BertWordPieceTokenizer(str(path))
    return Pair(ids_of(formats.load(path), "all"), lambda text: library.encode(text, add_special_tokens=False).ids)


def of_byte_level(path: Path) -> Pair:
    """Read a vocabulary and the merges beside it twice."""
    merges = next(each for each in path.parent.iterdir() if each.name in ("merges.txt", "vocab.bpe"))
    library = needs("tokenizers").ByteLevelBPETokenizer(str(path), str(merges))
    return Pair(ids_of(formats.load(path.parent)), lambda text: library.encode(text).ids)


def of_sentencepiece(path: Path) -> Pair:
    """Read a model of SentencePiece twice."""
    library = needs("sentencepiece").SentencePieceProcessor(model_file=str(path))
    return Pair(ids_of(loaded(path)), library.encode)


def by_tiktoken(ranks: dict[bytes, int], pattern: str) -> Any:
    """Return tiktoken's encoding of ranks."""
    return needs("tiktoken").Encoding("ranks", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def of_ranks(pattern: str) -> Callable[[Path], Pair]:
    """Return what reads a file of ranks twice."""

    def read(path: Path) -> Pair:
        lines = (line.split() for line in path.read_bytes().splitlines() if line)
        library = by_tiktoken({b64decode(token): int(rank) for token, rank in lines}, PATTERNS[pattern].regex)
        return Pair(ids_of(formats.load(path)), library.encode_ordinary)

    return read


def of_qwen(path: Path) -> Pair:
    """Read Qwen's ranks twice; its code normalizes a text before it hands it to tiktoken.

    Python's tables of Unicode are newer than those of Hugging Face's library, which ours follow: where the two
    disagree, nothing is compared.
    """
    ranks, older = of_ranks("qwen2")(path), needs("tokenizers").normalizers.NFC()

    def theirs(text: str) -> Entries:
        normalized = unicodedata.normalize("NFC", text)
        return ranks.theirs(normalized) if normalized == older.normalize_str(text) else None

    return Pair(ranks.ours, theirs)


def of_tekken(path: Path) -> Pair:
    """Read Mistral's tekken.json twice; as in mistral-common, special tokens have the first ids."""
    stated = json.loads(path.read_bytes())
    specials = stated["config"]["default_num_special_tokens"]
    listed = stated["vocab"][: stated["config"]["default_vocab_size"] - specials]
    ranks = {b64decode(each["token_bytes"]): each["rank"] for each in listed}
    library = by_tiktoken(ranks, stated["config"]["pattern"])
    return Pair(ids_of(formats.load(path)), lambda text: [each + specials for each in library.encode_ordinary(text)])


def of_rwkv(path: Path) -> Pair:
    """Read RWKV's vocabulary, and a trie of its tokens in plain Python."""
    trie = trie_of(path)
    return Pair(ids_of(formats.load(path)), lambda text: by_trie(trie, text.encode()))


def of_subword_nmt(path: Path) -> Pair:
    """Read codes of subword-nmt twice; there are no ids, so texts in subwords are compared."""
    with path.open(encoding="utf-8") as file:
        library = needs("subword_nmt.apply_bpe").BPE(file)
    ours = segmenter(subword_nmt.load_codes(path.read_bytes()))
    return Pair(
        lambda text: [ours.line(line) for line in text.split("\n")],
        lambda text: [library.process_line(line) for line in text.split("\n")],
    )


def of_llama_cpp(path: Path) -> Pair:
    """Read a GGUF file twice."""
    library = needs("llama_cpp").Llama(str(path), vocab_only=True, verbose=False)
    ours = ids_of(formats.load(path))
    return Pair(ours, lambda text: library.tokenize(text.encode(), add_bos=False, special=False), unassigned)


def unassigned(character: str) -> bool:
    """Return whether Python's tables of Unicode know nothing of a character: then llama.cpp's may not either."""
    return unicodedata.category(character) == "Cn"


READERS: dict[str, tuple[str, Callable[[Path], Pair]]] = {
    "bert-base-chinese": ("vocab.txt", of_bert),
    "bert-base-uncased": ("vocab.txt", of_bert),
    "chatglm-6b": ("ice_text.model", of_sentencepiece),
    "clip": ("tokenizer.json", of_tokenizers),
    "falcon": ("tokenizer.json", of_some_bytes),
    "gguf-gpt-2": ("*.gguf", of_llama_cpp),
    "gguf-llama-spm": ("*.gguf", of_llama_cpp),
    "gguf-phi-3": ("*.gguf", of_llama_cpp),
    "gguf-qwen2": ("*.gguf", of_llama_cpp),
    "gpt2-hf": ("vocab.json", of_byte_level),
    "gpt2-original": ("encoder.json", of_byte_level),
    "hf-llama3": ("tokenizer.json", of_tokenizers),
    "hf-qwen2_5": ("tokenizer.json", of_tokenizers),
    "llama2": ("tokenizer.model", of_sentencepiece),
    "llama2-repaired": ("tokenizer.json", of_tokenizers),
    "llama3-tiktoken": ("tokenizer.model", of_ranks("llama3")),
    "mistral-spm-v1": ("*.model.v1", of_sentencepiece),
    "mistral-spm-v3": ("*.model.v3", of_sentencepiece),
    "phi-3-mini": ("tokenizer.json", of_tokenizers),
    "qwen-tiktoken": ("qwen.tiktoken", of_qwen),
    "roberta-base": ("tokenizer.json", of_tokenizers),
    "rwkv-world": ("rwkv_vocab_*.txt", of_rwkv),
    "spm-bpe_example": ("m.model", of_sentencepiece),
    "spm-test_ja_model": ("*.model", of_sentencepiece),
    "spm-test_model": ("*.model", of_sentencepiece),
    "subword-nmt-ref": ("bpe.ref", of_subword_nmt),
    "t5-small": ("tokenizer.json", of_tokenizers),
    "tekken-240718": ("tekken_*.json", of_tekken),
    "tiktoken-cl100k_base": ("*.tiktoken", of_ranks("cl100k")),
    "tiktoken-o200k_base": ("*.tiktoken", of_ranks("o200k")),
    "tiktoken-p50k_base": ("*.tiktoken", of_ranks("gpt2")),
    "tiktoken-r50k_base": ("*.tiktoken", of_ranks("gpt2")),
    "whisper-tiny": ("tokenizer.json", of_tokenizers),
    "xlnet-base-cased": ("spiece.model", of_sentencepiece),
}
"""Folder -> the file in it, and what reads that twice.

Left out are what its own library refuses, and BERT's GGUF file, which llama.cpp reads otherwise than BERT's own code:
tests/differential/test_gguf_like_llama_cpp.py lists where.
"""


# -- the proof -------------------------------------------------------------------------------------


@dataclass
class Desk:
    """What all attempts share.

    Attributes:
        names: The folders.
        pairs: What was read of them, by name.
        sizes: Bytes that were compared, by name.
    """

    names: list[str]
    pairs: dict[str, Pair]
    sizes: Counter[str]

    def pair(self, name: str) -> Pair:
        """Return both tokenizers of a folder."""
        if name not in self.pairs:
            file, read = READERS[name]
            self.pairs[name] = read(next(iter(sorted((SHARED / "vocabs" / name).glob(file)))))
        return self.pairs[name]


@contextmanager
def begin(_: Path) -> Iterator[Desk]:
    """Find out which tokenizers and libraries are here."""
    needs("tiktoken")  # the tables of Unicode that say which characters are disputed are its
    names = [name for name in READERS if (SHARED / "vocabs" / name).is_dir()]
    if find_spec("llama_cpp") is None:
        names = [name for name in names if READERS[name][1] is not of_llama_cpp]
    if not names:
        skip(NO_SHARED)
    yield Desk(names, {}, Counter())


def attempt(desk: Desk, chance: Random, number: int) -> Counter[str]:
    """Compare one text with the next tokenizer."""
    name = desk.names[number % len(desk.names)]
    pair = desk.pair(name)
    text = pair.prepared(undisputed(any_text(chance, CHARACTERS).encode()).decode())
    ours, theirs = pair.ours(text), pair.theirs(text)
    if ours is None or theirs is None:
        return Counter({f"texts left out: {name}": 1})
    size = compare(f"ids of {name}", text.encode(), ours, theirs)
    return Counter({f"bytes: {name}": size, "bytes compared": size})


PROOF = Proof(
    title="Real tokenizers",
    claim="Tokenizers that are in use give the ids of their own libraries: Hugging Face's tokenizers, SentencePiece, "
    "tiktoken, llama.cpp, subword-nmt, and for RWKV a trie in plain Python. The texts are those of the first proof.",
    begin=begin,
    attempt=attempt,
)
