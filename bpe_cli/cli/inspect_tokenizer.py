"""What ``bpe inspect`` shows of a tokenizer by itself."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.cli import options
from bpe_cli.cli.console import note, print_json, progress, stdout_console
from bpe_cli.cli.reading import inputs_of

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.reports.frequencies import Frequencies
    from bpe_cli.reports.tokenizer.structure import Anatomy
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
    """Print the health report on a tokenizer, or all about single tokens."""
    from bpe_cli.reports.tokenizer.structure import Anatomy

    anatomy = Anatomy(model)
    if tokens:
        _show_tokens(anatomy, tokens, json=json, full=full, color=color, corpus=corpus)
    else:
        _show_health(anatomy, json=json, full=full, color=color, corpus=corpus)


def _show_health(
    anatomy: Anatomy, *, json: bool, full: bool, color: options.Color, corpus: CorpusWanted | None
) -> None:
    from bpe_cli.fingerprint import fingerprint
    from bpe_cli.reports.tokenizer.corpus_report import examine_corpus
    from bpe_cli.reports.tokenizer.findings import findings
    from bpe_cli.reports.tokenizer.reachability import examine
    from bpe_cli.reports.tokenizer.structure import examine_structure
    from bpe_cli.reports.tokenizer.vocabulary_report import describe
    from bpe_cli.views.tokenizer.reachability import reachability_json, reachability_view

    model = anatomy.tokenizer
    usage = None if corpus is None else examine_corpus(anatomy, _frequencies(model, corpus))
    report = describe(model, fingerprint=fingerprint(model), contents=anatomy.contents)
    structure = examine_structure(anatomy)
    reachability = examine(model)
    found = findings(model, report, structure, usage, reachability)
    if json:
        from bpe_cli.views.tokenizer.as_json import vocabulary_json
        from bpe_cli.views.tokenizer.health_json import corpus_json, findings_json, structure_json

        print_json({
            **vocabulary_json(report),
            "findings": findings_json(found),
            "structure": structure_json(structure),
            "reachability": reachability_json(reachability, full=full),
            "corpus": None if usage is None else corpus_json(usage),
        })  # fmt: skip
        return
    from rich.text import Text

    from bpe_cli.views.tokenizer.corpus import corpus_view
    from bpe_cli.views.tokenizer.structure import findings_view, structure_view
    from bpe_cli.views.tokenizer.tables import vocabulary_view

    first = [
        reachability_view(reachability, full=full),
        Text(),
        *([] if usage is None else [corpus_view(usage)]),
    ]
    sections = [structure_view(structure, full=full)]
    console = stdout_console(color)
    console.print(findings_view(found), Text())
    console.print(vocabulary_view(report, full=full, first=first, sections=sections))


def _show_tokens(
    anatomy: Anatomy, names: list[str], *, json: bool, full: bool, color: options.Color, corpus: CorpusWanted | None
) -> None:
    from bpe_cli.reports.tokenizer.lookup import look_up
    from bpe_cli.reports.tokenizer.naming import find_tokens
    from bpe_cli.reports.tokenizer.reachability import examine

    token_ids = list(dict.fromkeys(token_id for name in names for token_id in find_tokens(anatomy, name)))
    frequencies = None if corpus is None else _frequencies(anatomy.tokenizer, corpus)
    verdicts = examine(anatomy.tokenizer, token_ids).verdicts
    cards = [look_up(anatomy, token_id, verdict=verdicts[token_id], frequencies=frequencies) for token_id in token_ids]
    if json:
        from bpe_cli.views.tokenizer.health_json import cards_json

        print_json(cards_json(anatomy.tokenizer.name, cards))
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
    found = inputs_of(corpus.source, corpus.quiet, otherwise)
    with progress(found.total_bytes, "encoding", quiet=corpus.quiet) as advance:
        blocks = read_blocks(corpus.source, stdin=sys.stdin.buffer, inputs=found, on_note=tell, on_bytes=advance)
        threads = options.threads_of(corpus.threads)
        return count_frequencies(model, blocks, specials=corpus.specials, threads=threads)
