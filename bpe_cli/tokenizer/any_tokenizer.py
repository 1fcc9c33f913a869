"""What the modules of this folder ask of a tokenizer."""

# ruff: noqa: D102  # ``Tokenizer`` says what each part is
from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.stages import Decoder, Model, PreTokenizer, SpecialToken
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer.engine import SpecialTable
    from bpe_cli.tokenizer.engine.compiled import Engine
    from bpe_cli.tokenizer.usage import Usage


class AnyTokenizer(Protocol):
    """The part of ``Tokenizer`` that the modules of this folder use; the class itself is defined above them."""

    @property
    def model(self) -> Model: ...

    @property
    def pre_tokenizer(self) -> tuple[PreTokenizer, ...]: ...

    @property
    def decoder(self) -> tuple[Decoder, ...]: ...

    @property
    def special_tokens(self) -> tuple[SpecialToken, ...]: ...

    @property
    def post_processor(self) -> str | None: ...

    @property
    def usage(self) -> Usage: ...

    @property
    def engine(self) -> Engine: ...

    @property
    def special_table(self) -> SpecialTable: ...

    @property
    def vocab_size(self) -> int: ...

    def token_bytes(self, token_id: int) -> bytes: ...

    def matcher(self, specials: Literal["all"] | Collection[str] = ()) -> _core.SpecialMatcher | None: ...

    def encode_block(
        self, block: Block, matcher: _core.SpecialMatcher | None = None, threads: int = 1
    ) -> tuple[memoryview, memoryview]: ...

    def count_block(
        self, block: Block, matcher: _core.SpecialMatcher | None = None, threads: int = 1
    ) -> memoryview: ...

    def decode_bytes(self, ids: Iterable[int] | memoryview | array[int]) -> bytes: ...
