"""What ``bpe inspect`` shows of a tokenizer by itself."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.cli import options
from bpe_cli.cli.console import note, print_json, progress, stdout_console
from bpe_cli.cli.inputs import inputs_of

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.reports.frequencies import Frequencies
    from bpe_cli.reports.tokenizer.lookup import TokenCard
    from bpe_cli.tokenizer import Specials, Tokenizer


@dataclass(frozen=True, slots=True)
class CorpusWanted:
    """A corpus on which a tokenizer is examined: what to read, which special tokens to find, how many threads."""

    source: Source
    specials: Specials
    threads: int | None
    quiet: bool


def report_tokenizer(
    model: Tokenizer,
    *,
    json: bool,
    full: bool,
    color: options.Color,
    tokens: list[str] | None = None,
    corpus: CorpusWanted | None = None,
) -> None:
    """Print the health report on a tokenizer, or all about single tokens.

    Raises:
        UsageError, InputError: A token is not there; what is to be said of the others is printed all the same.
    """
    frequencies = None if corpus is None else _frequencies(model, corpus)
    if tokens:
        _show_tokens(model, tokens, frequencies, json=json, full=full, color=color)
        return
    from bpe_cli.reports.tokenizer.health import examine_health

    report = examine_health(model, frequencies)
    if json:
        from bpe_cli.views.tokenizer.health_json import health_json

        print_json(health_json(report, full=full))
    else:
        from bpe_cli.views.tokenizer.health import health_view

        stdout_console(color).print(health_view(report, full=full))


def _show_tokens(
    model: Tokenizer, names: list[str], frequencies: Frequencies | None, *, json: bool, full: bool, color: options.Color
) -> None:
    """Print all about each token that is there, then fail if one is not."""
    from bpe_cli.reports.tokenizer.lookup import look_up
    from bpe_cli.reports.tokenizer.naming import find_tokens
    from bpe_cli.reports.tokenizer.reachability import examine
    from bpe_cli.reports.tokenizer.structure import Anatomy
    from bpe_cli.support.failures import Failures

    anatomy = Anatomy(model)
    unknown = Failures()
    found = unknown.of(lambda name: find_tokens(anatomy, name), dict.fromkeys(names))
    token_ids = list(dict.fromkeys(token_id for each in found for token_id in each))
    if token_ids:
        verdicts = examine(model, token_ids).verdicts
        _print_cards(
            model,
            [look_up(anatomy, each, verdict=verdicts[each], frequencies=frequencies) for each in token_ids],
            json=json,
            full=full,
            color=color,
        )
    unknown.check()


def _print_cards(model: Tokenizer, cards: list[TokenCard], *, json: bool, full: bool, color: options.Color) -> None:
    if json:
        from bpe_cli.views.tokenizer.health_json import cards_json

        print_json(cards_json(model.name, cards))
        return
    from bpe_cli.views.tokenizer.lookup import card_view

    console = stdout_console(color)
    for card in cards:
        console.print(card_view(card, full=full))


def _frequencies(model: Tokenizer, corpus: CorpusWanted) -> Frequencies:
    """Encode the corpus and count its tokens."""
    from bpe_cli.corpus import read_blocks
    from bpe_cli.reports.frequencies import count_frequencies

    def tell(message: str) -> None:
        note(f"note: {message}", quiet=corpus.quiet)

    otherwise = "--corpus takes a file, a folder, a pattern, or - for stdin"
    found = inputs_of(corpus.source, corpus.quiet, (), otherwise)
    with progress(found.total_bytes, "encoding", quiet=corpus.quiet, printing=False) as advance:
        blocks = read_blocks(corpus.source, stdin=sys.stdin.buffer, inputs=found, on_note=tell, on_bytes=advance)
        threads = options.threads_of(corpus.threads)
        return count_frequencies(model, blocks, specials=corpus.specials, threads=threads)
