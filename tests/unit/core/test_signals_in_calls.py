"""Calls that take long hear signals meanwhile: Ctrl-C ends them, and other handlers run."""

from __future__ import annotations

import random
import signal
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import bpe_cli
from bpe_cli.stages import Metaspace, Unigram
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.needs import only_where

pytestmark = only_where(hasattr(signal, "setitimer"), "needs an interval timer")

LETTERS = bytes(b"abcdefgh "[byte % 9] for byte in range(256))
LARGEST = 1 << 28
"""A call on so many bytes takes far longer than the timer's interval."""


def unigram(*, whole: bool) -> Tokenizer:
    tokens = [b"<unk>", "▁".encode(), *(bytes([byte]) for byte in range(97, 105)), b"ab", b"cde", b"fgh"]
    scores = array("d", [0.0, -2.0, *(-float(n) for n in range(3, 1 + len(tokens)))])
    model = Unigram(Vocabulary.from_tokens(tokens), scores=scores, unk_id=0)
    return Tokenizer(model, (Metaspace(split=not whole),))


CALLS: dict[str, tuple[Callable[[], Tokenizer], Callable[[Tokenizer, bytes], object]]] = {
    "encode": (lambda: bpe_cli.load("gpt2"), lambda tokenizer, text: tokenizer.encode(text)),
    "count": (lambda: bpe_cli.load("gpt2"), lambda tokenizer, text: tokenizer.count(text)),
    "several texts": (lambda: bpe_cli.load("gpt2"), lambda tokenizer, text: tokenizer.encode_batch([text, b"a", text])),
    "counts": (lambda: bpe_cli.load("gpt2"), lambda tokenizer, text: tokenizer.count_batch([text, text])),
    "stages": (lambda: unigram(whole=False), lambda tokenizer, text: tokenizer.encode(text)),
    "one piece": (lambda: unigram(whole=True), lambda tokenizer, text: tokenizer.count(text.replace(b" ", b"a"))),
    "tokens": (lambda: unigram(whole=False), lambda tokenizer, text: tokenizer.place(text)),
}


@contextmanager
def alarms(handler: Callable[[int, object], None]) -> Iterator[None]:
    """Send the process a signal every 20 milliseconds."""
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def texts() -> Iterator[bytes]:
    """Yield texts of twice the length each, that are cheap to make and of which no two pieces are the same."""
    draw = random.Random(5)
    size = 1 << 20
    while size <= LARGEST:
        yield draw.randbytes(size).translate(LETTERS)
        size *= 2


class EndedError(Exception):
    """What the handler raises."""


@pytest.mark.parametrize("name", CALLS)
def test_a_handler_runs_while_a_call_goes_on_and_can_end_it(name):
    make, call = CALLS[name]
    tokenizer = make()
    expected = tokenizer.encode(b"abc fgh ab")
    heard = 0

    def handler(_number: int, _frame: object) -> None:
        nonlocal heard
        heard += 1
        # Of all that come while a call hears nothing, one is heard when it ends; one may come before it begins.
        if heard == 3:
            raise EndedError

    with pytest.raises(EndedError), alarms(handler):  # noqa: PT012 - each call is longer than the one before
        for text in texts():
            heard = 0
            call(tokenizer, text)
    assert tokenizer.encode(b"abc fgh ab") == expected
