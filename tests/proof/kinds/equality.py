"""Equality, counted over bytes: scanners and encoders against the textbook, whole tokenizers against the libraries."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.stages import MergeBpe
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.splitters import RegexSplitter
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer, named_encodings
from tests.differential.rivals import tiktoken_encoding
from tests.differential.texts import pieces
from tests.needs import needs
from tests.oracle.encode import encode_by_merges, encode_by_ranks
from tests.proof.attempts import Proof
from tests.proof.kinds.comparing import compare, undisputed
from tests.proof.kinds.texts import any_bytes, any_text
from tests.random_tokenizers import on_bytes

ENCODINGS = ("gpt2", "p50k_base", "cl100k_base", "o200k_base")
"""Those of which no two are alike in ordinary text."""

EXPRESSIONS = [(name, each) for name, pattern in PATTERNS.items() for each in (pattern.regex, *pattern.spellings)]
"""The name of each scanner with each expression that it stands for."""

LONG, SHORT = 60_000, 600
"""Characters of a text for the libraries, and for the textbook, which takes the square of a piece's length."""


@dataclass(frozen=True)
class Desk:
    """What all attempts share.

    Attributes:
        kinds: Name -> what compares one text and returns how many bytes it had.
    """

    kinds: dict[str, Callable[[Random], int]]


# -- the textbook ----------------------------------------------------------------------------------


@cache
def scanner(name: str) -> _core.Splitter:
    """Return the core's scanner of a pattern."""
    return _core.Splitter(PATTERNS[name].scanner.to_json())


@cache
def expression(pattern: str) -> RegexSplitter:
    """Return what runs the expression itself."""
    return RegexSplitter([pattern])


def scanners(chance: Random) -> int:
    """Compare the pieces of a scanner with those of its expression."""
    name, pattern = chance.choice(EXPRESSIONS)
    data = undisputed(any_bytes(chance, 12_000))
    return compare(f"pieces by {name}", data, pieces(scanner(name), data), pieces(expression(pattern), data))


def ranks(chance: Random) -> int:
    """Compare an encoding's ids of any bytes with ranks by the textbook."""
    name = chance.choice(ENCODINGS)
    tokenizer, known = named_encodings.named(name), ranks_of(name)
    data = undisputed(any_bytes(chance, SHORT))
    found = pieces(expression(PATTERNS[named_encodings.ENCODINGS[name].pattern].regex), data)
    theirs = [known[token] for piece in found for token in encode_by_ranks(piece, known)]
    return compare(f"ids of {name}", data, tokenizer.encode(data), theirs)


@cache
def ranks_of(name: str) -> dict[bytes, int]:
    """Return the ranks of an encoding."""
    return {token: token_id for token_id, token in named_encodings.named(name).model.vocabulary.items()}


def merges(chance: Random) -> int:
    """Compare a random list of merges, without any other stage, with merges by the textbook."""
    model = on_bytes(chance, "merges").model
    assert isinstance(model, MergeBpe)
    tokens = dict(model.vocabulary.items())
    listed = [(tokens[left], tokens[right]) for left, right, _ in model.merges]
    ids = {token: token_id for token_id, token in tokens.items()}
    letters = [token for token in tokens.values() if len(token) == 1]
    # Not every byte has a token, and a token that no merge makes may have such bytes.
    longer = [token for token in tokens.values() if len(token) > 1 and all(bytes([byte]) in ids for byte in token)]
    pool = [*longer, *(each for each in letters if each in b"abe 1")]
    data = b"".join(chance.choices(pool or letters, k=chance.choice((1, 5, 30, 60))))
    symbols = [data[place : place + 1] for place in range(len(data))]
    whole = ids if model.ignore_merges else ()
    theirs = [ids[token] for token in encode_by_merges(symbols, listed, whole)]
    try:
        ours = Tokenizer(model).encode(data)
    except FormatError:  # it contradicts itself, as chance made it
        return 0
    return compare("ids of random merges", data, ours, theirs)


# -- the libraries ---------------------------------------------------------------------------------


def tiktoken(chance: Random) -> int:
    """Compare ids with tiktoken's, on one thread or several."""
    name = chance.choice(ENCODINGS)
    text = any_text(chance, LONG)
    data = text.encode()
    ids, _ = named_encodings.named(name).encode_block(Block.of([data]), threads=chance.choice((1, 2)))
    return compare(f"ids of {name}", data, list(ids), tiktoken_encoding(name).encode_ordinary(text))


def small(chance: Random) -> int:
    """Compare a small tokenizer with the library that trained it: all of its stages, models and added tokens."""
    from tests.differential import small_tokenizers as all_small

    recipes = [*all_small.RECIPES, *(name for name in all_small.SENTENCEPIECE if name != "bpe, folded symbols")]
    name = recipes[chance.randrange(len(recipes))]
    of_hf = name in all_small.RECIPES
    theirs, ours = all_small.trained(name) if of_hf else all_small.trained_by_sentencepiece(name)
    size = 0
    for text in all_small.texts(20, chance.getrandbits(32)):
        if name.startswith("unigram,"):
            text = f"a{text}"  # of a text that is left out, or begins so, the libraries keep other marks
        expected = theirs.encode(text, add_special_tokens=False).ids if of_hf else theirs.encode(text)
        size += compare(f"ids of {name}", text.encode(), ours.encode(text, specials="all" if of_hf else ()), expected)
    return size


def threads(chance: Random) -> int:
    """Compare ids on several threads and in several documents with those of one, and with what they decode to."""
    tokenizer = named_encodings.named(chance.choice(ENCODINGS))
    data = any_bytes(chance, LONG * 4)
    whole, _ = tokenizer.encode_block(Block.of([data]), threads=1)
    several, _ = tokenizer.encode_block(Block.of([data]), threads=chance.choice((2, 3, 8)))
    compare(f"ids of {tokenizer.name} on several threads", data, list(several), list(whole))
    return compare(f"bytes of {tokenizer.name}", data, tokenizer.decode_bytes(array("I", whole)), data)


# -- the proof -------------------------------------------------------------------------------------


@contextmanager
def begin(_: Path) -> Iterator[Desk]:
    """Find out which libraries and files are here."""
    needs("tiktoken")  # the tables of Unicode that say which characters are disputed are its
    kinds: dict[str, Callable[[Random], int]] = {
        "pieces of scanners with their expressions": scanners,
        "ids by ranks with the textbook": ranks,
        "ids by merges with the textbook": merges,
        "ids of encodings with tiktoken": tiktoken,
        "ids on several threads with one, and decoded": threads,
        "ids of small tokenizers with their libraries": small,
    }
    yield Desk(kinds)


def attempt(desk: Desk, chance: Random, number: int) -> Counter[str]:
    """Compare one text, or a few."""
    name = list(desk.kinds)[number % len(desk.kinds)]
    size = desk.kinds[name](chance)
    return Counter({f"bytes: {name}": size, "bytes compared": size})


PROOF = Proof(
    title="Equality",
    claim="`bpe` gives the same pieces and ids as independent implementations: scanners are compared with the regular "
    "expressions that they stand for, encoders with the textbook in plain Python, and whole tokenizers with "
    "tiktoken, Hugging Face's tokenizers and SentencePiece. The texts are real ones cut at any character, "
    "changed ones, characters of every class, broken UTF-8 and single pieces that are very long.",
    begin=begin,
    attempt=attempt,
)
