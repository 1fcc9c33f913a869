"""A stand-in for ``bpe_cli.tokenizer.Tokenizer`` in plain Python: the reports' tests need no compiled core."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace

import regex

from bpe_cli.stages.models import AnyModel
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer.encoded import Placed
from bpe_cli.tokenizer.special_tokens import NOTHING
from bpe_cli.tokenizer.usage import NO_USAGE


@dataclass(frozen=True)
class FakeSpecial:
    content: bytes
    token_id: int
    special: bool = True


@dataclass(frozen=True)
class FakeToken:
    token_id: int
    content: bytes
    start: int
    end: int
    special: bool = False


class FakeModel(AnyModel, SimpleNamespace):
    """What is given, and the defaults of any model; its tokens are bytes."""

    byte_level = True


class FakeMatcher:
    def __init__(self, specials):
        self.specials = specials

    def find(self, data):
        places = [(data.find(s.content), -len(s.content), s) for s in self.specials if s.content in data]
        if not places:
            return None
        start, length, special = min(places, key=lambda place: place[:2])
        return start, start - length, special.token_id


class FakeTokenizer:
    """Ranks of tokens in the order given; every byte not among them follows, unless ``all_bytes`` is false."""

    usage = NO_USAGE
    withheld = NOTHING
    PATTERN = r"\n| ?[^\s]+|\s"

    def __init__(
        self, tokens=(), *, name=None, specials=(), prefix_space=False, all_bytes=True, cuts=True, merges=None
    ):
        contents = list(tokens)
        if all_bytes:
            present = set(contents)
            contents += [bytes([byte]) for byte in range(256) if bytes([byte]) not in present]
        self.contents = contents
        self.ids = {content: number for number, content in enumerate(contents) if content}
        self.name = name
        self.origin = None
        self.special_tokens = tuple(specials)
        self.special_ids = {special.token_id: special for special in specials}
        self.prefix_space = prefix_space
        self.patterns = (self.PATTERN,)
        self.normalizer = self.pre_tokenizer = ()
        self.slow_patterns = self.patterns
        self.unicode_version = "16.0.0"
        self.vocab_size = max([len(contents), *(s.token_id + 1 for s in specials)])
        vocabulary = SimpleNamespace(
            items=lambda: ((i, c) for i, c in enumerate(contents) if c),
            short=lambda most: ((i, c) for i, c in enumerate(contents) if 0 < len(c) <= most),
            size=len(contents),
        )
        self.model = FakeModel(
            kind="bpe-ranks" if merges is None else "bpe-merges",
            vocabulary=vocabulary,
            merges=merges,
            ignore_merges=False,
        )
        self.cuts = cuts
        self.longest_block = 0

    # -- what the splitter does

    def piece_ends(self, data):
        ends, position = array("Q"), 0
        for match in regex.finditer(self.PATTERN, bytes(data).decode("utf-8", "surrogateescape")):
            position += len(match.group().encode("utf-8", "surrogateescape"))
            ends.append(position)
        return ends

    # -- what the tokenizer does

    def matcher(self, specials=()):
        wanted = [
            s for s in self.special_tokens if specials == "all" or not s.special or s.content.decode() in specials
        ]
        return FakeMatcher(wanted) if wanted else None

    def settle(self, blocks, matcher):
        held, begun = b"", False
        for block in blocks:
            for number, document in enumerate(block.documents(), 1):
                held += document
                unfinished = block.unfinished and number == len(block.ends)
                cut = len(held)
                if unfinished:
                    cut = held.rfind(b"\n") + 1 if self.cuts else 0
                    if not cut:
                        continue
                yield Block(held[:cut], array("Q", [cut]), begun, unfinished)
                held, begun = held[cut:], unfinished

    def count_block(self, block, matcher=None, threads=1):
        self.longest_block = max(self.longest_block, len(block.data))
        counts = array("Q")
        for number, document in enumerate(block.documents()):
            text = bytes(document)
            shift = self.prefix_space and block.continued and number == 0 and not text.startswith(b" ")
            assert not shift, "a fake with a prefix space takes whole documents"
            counts.append(len(self._tokens(text, matcher)))
        return memoryview(counts)

    def tokens(self, text, *, specials=()):
        return self._tokens(text, self.matcher(specials))

    def place(self, text, specials=()):
        tokens = self.tokens(text, specials=specials)
        return Placed(
            memoryview(array("I", (token.token_id for token in tokens))),
            array("Q", (token.start for token in tokens)),
            array("Q", (token.end for token in tokens)),
            bytes(token.special for token in tokens),
        )

    def token_bytes(self, token_id):
        return self.special_ids[token_id].content if token_id in self.special_ids else self.contents[token_id]

    def _tokens(self, text, matcher):
        tokens, position = [], 0
        while position < len(text):
            found = matcher.find(text[position:]) if matcher else None
            stop = position + found[0] if found else len(text)
            if stop > position:
                segment = text[position:stop]
                start = position
                if self.prefix_space and not segment.startswith(b" "):
                    segment, start = b" " + segment, position - 1
                piece_start = 0
                for piece_end in self.piece_ends(segment):
                    for content in self._merge(segment[piece_start:piece_end]):
                        end = start + len(content)
                        tokens.append(FakeToken(self.ids[content], content, max(start, position), end))
                        start = end
                    piece_start = piece_end
            if found:
                position, stop = stop, position + found[1]
                tokens.append(FakeToken(found[2], text[position:stop], position, stop, special=True))
            position = stop
        return tokens

    def _merge(self, piece):
        if piece in self.ids:
            return [piece]
        parts = [piece[i : i + 1] for i in range(len(piece))]
        while True:
            ranks = [(self.ids.get(a + b, 1 << 40), i) for i, (a, b) in enumerate(pairwise(parts))]
            rank, i = min(ranks, default=(1 << 40, 0))
            if rank == 1 << 40:
                return parts
            parts[i : i + 2] = [parts[i] + parts[i + 1]]

    def decode_bytes(self, ids):
        return b"".join(self.special_ids[i].content if i in self.special_ids else self.contents[i] for i in ids)


def blocks_of(documents, size):
    """Cut documents into blocks of ``size`` bytes, anywhere."""
    data = b"".join(documents)
    ends, position = [], 0
    for document in documents:
        position += len(document)
        ends.append(position)
    start, continued = 0, False
    index = 0
    while index < len(ends):
        stop = min(start + size, len(data))
        inside = array("Q")
        while index < len(ends) and ends[index] <= stop:
            inside.append(ends[index] - start)
            index += 1
        unfinished = index < len(ends) and (not inside or inside[-1] < stop - start)
        if unfinished:
            inside.append(stop - start)
        yield Block(data[start:stop], inside, continued, unfinished)
        start, continued = stop, unfinished
