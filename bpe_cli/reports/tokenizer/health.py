"""Examine a tokenizer by itself: everything measured of it, and a summary of what is good and what to look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.reports.tokenizer.corpus_report import CorpusReport, examine_corpus
from bpe_cli.reports.tokenizer.odd_tokens import IMPOSSIBLE
from bpe_cli.reports.tokenizer.reachability import Reachability
from bpe_cli.reports.tokenizer.reachability.examine import LAYER_STEPS, examine
from bpe_cli.reports.tokenizer.residues import SHARE
from bpe_cli.reports.tokenizer.structure import STRUCTURE_STEPS, Anatomy, Structure, examine_structure
from bpe_cli.reports.tokenizer.vocabulary_report import VocabularyReport, describe
from bpe_cli.stages import ByteLevel, ByteLevelNormalizer
from bpe_cli.support.listening import SILENCE, Listener
from bpe_cli.support.messages import plural
from bpe_cli.tokenizer import fingerprint

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.corpus_report import CorpusReport, Frequencies
    from bpe_cli.reports.tokenizer.odd_tokens import DigitRun
    from bpe_cli.reports.tokenizer.reachability import Reachability
    from bpe_cli.reports.tokenizer.structure import Structure
    from bpe_cli.reports.tokenizer.vocabulary_report import VocabularyReport
    from bpe_cli.tokenizer import Tokenizer


LONG_RUN = 8
"""Runs of so many spaces that are one token make indentation cheap."""

FEW_TO_TELL = 100
"""With fewer tokens of the corpus for each of the vocabulary, that one is not used says little."""

MANY_DUPLICATES = 0.2
"""A larger share of tokens that differ by case or a leading space only is worth a look."""

MANY_CUTS = 0.01
"""A larger share of tokens that cut characters is worth a look."""

_WRITTEN_OUT = 15
"""With so many digits at most, it is written out how many numbers there are."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is good, or one to look at.

    Attributes:
        text: The finding, without a period.
    """

    good: bool
    about: str
    text: str


def findings(
    tokenizer: Tokenizer,
    report: VocabularyReport,
    structure: Structure,
    corpus: CorpusReport | None = None,
    reachability: Reachability | None = None,
) -> tuple[Finding, ...]:
    """Sum up what is good and what to look at, the good first."""
    summary = [
        *_coverage(tokenizer, report, structure),
        *_reach(reachability),
        *_cuts(structure),
        *_numbers(structure),
        *_spaces(structure),
        *_duplicates(structure),
        *_oddities(report, structure),
        *(_use(corpus) if corpus else ()),
    ]
    return tuple(sorted(summary, key=lambda finding: not finding.good))


def _coverage(tokenizer: Tokenizer, report: VocabularyReport, structure: Structure) -> Iterator[Finding]:
    model = tokenizer.model
    if report.bytes_without_token is not None:
        missing = len(report.bytes_without_token)
        if not missing:
            yield Finding(True, "bytes", "any text can be encoded")
        else:
            verb = "has" if missing == 1 else "have"
            yield Finding(
                False, "bytes", f"{plural(missing, 'byte')} {verb} no token: text with them cannot be encoded"
            )
    elif model.byte_fallback:
        yield Finding(True, "bytes", "any text can be encoded: unknown characters fall back to bytes")
    elif _spells_bytes(tokenizer, structure):
        yield Finding(True, "bytes", "any text can be encoded: every byte is a token")
    elif model.unk_id is not None:
        yield Finding(False, "bytes", "what the vocabulary cannot spell becomes the unknown token, and is lost")
    elif not tokenizer.has_bytes:
        yield Finding(False, "bytes", "there is neither an unknown token nor bytes to fall back on")
    for pattern in report.patterns:
        if not pattern.fast:
            yield Finding(False, "speed", "the core has no scanner for a split pattern: encoding is slow")
            break


def _spells_bytes(tokenizer: Tokenizer, structure: Structure) -> bool:
    """Return whether a model that is not over bytes has all of them as tokens, and is given text as bytes."""
    stages = (*tokenizer.normalizer, *tokenizer.pre_tokenizer)
    return structure.single_bytes == 256 and any(
        isinstance(stage, (ByteLevel, ByteLevelNormalizer)) for stage in stages
    )


def _reach(reachability: Reachability | None) -> Iterator[Finding]:
    if reachability is None:
        return
    unreachable, undecided = reachability.unreachable_count, reachability.undecided_count
    ill_formed = dict(reachability.counts).get("ill-formed", 0)
    if unreachable:
        parts = [f"{plural(unreachable, 'token')} out of reach of any text"]
        if undecided:
            parts.append(f"{undecided:,} more undecided")
    elif undecided:
        parts = [f"all but {plural(undecided, 'undecided token')} can be reached"]
    else:
        parts = ["every token can be reached"]
    if ill_formed:
        parts.append(f"{ill_formed:,} only by bytes that are not UTF-8")
    yield Finding(not unreachable and not undecided, "reachability", ", ".join(parts))


def _cuts(structure: Structure) -> Iterator[Finding]:
    longer = sum(cut.tokens - cut.single_bytes for cut in structure.cuts)
    never = sum(cut.tokens - cut.single_bytes for cut in structure.cuts if cut.name == IMPOSSIBLE)
    share = longer / structure.token_count if structure.token_count else 0.0
    if not longer:
        yield Finding(True, "characters", "no token of several bytes cuts a character")
    elif share > MANY_CUTS:
        yield Finding(False, "characters", f"{plural(longer, 'token')} of several bytes ({share:.1%}) cut characters")
    else:
        yield Finding(True, "characters", f"few tokens of several bytes cut characters ({longer:,}, {share:.1%})")
    if never:
        yield Finding(False, "characters", f"{plural(never, 'token')} of several bytes can be in no UTF-8 text")


def _numbers(structure: Structure) -> Iterator[Finding]:
    runs = [run for run in structure.digits if run.present]
    uneven = [run for run in runs if run.present < run.possible]
    if not runs:
        yield Finding(False, "numbers", "no digit is a token")
    elif not uneven:
        longest = runs[-1].length
        what = "every digit is a token, no longer number is" if longest == 1 else (
            f"all numbers of up to {longest} digits are one token"
        )  # fmt: skip
        yield Finding(True, "numbers", what)
    else:
        named = ", ".join(
            f"{run.present:,} of {_possible(run)} with {plural(run.length, 'digit')}" for run in uneven[:3]
        )
        yield Finding(False, "numbers", f"some numbers are one token, others of the same length are not ({named})")
    if any(run.present_spaced for run in structure.digits):
        spaced = sum(run.present_spaced for run in structure.digits)
        verb = "holds" if spaced == 1 else "hold"
        yield Finding(False, "numbers", f"{plural(spaced, 'token')} {verb} a number and the space before it")


def _possible(run: DigitRun) -> str:
    """Write how many numbers there are; with very many digits it would take pages, and Python refuses."""
    return f"{run.possible:,}" if run.length <= _WRITTEN_OUT else f"10^{run.length}"


def _spaces(structure: Structure) -> Iterator[Finding]:
    spaces = next((run for run in structure.white_space if run.kind == "spaces"), None)
    through = spaces.stretches[0][1] if spaces and spaces.stretches[0][0] == 1 else 0
    if through >= LONG_RUN:
        yield Finding(True, _WHITESPACE, f"runs of up to {through} spaces are one token each, so indentation is cheap")
    elif through:
        what = "no run of spaces is one token" if through == 1 else f"runs of at most {through} spaces are one token"
        yield Finding(False, _WHITESPACE, f"{what}: indented code becomes long")


def _duplicates(structure: Structure) -> Iterator[Finding]:
    by_name = {kind.name: kind for kind in structure.duplicates.kinds}
    same, together = by_name["same text"], by_name["leading space and case"]
    if same.redundant:
        verb = "stands" if same.redundant == 1 else "stand"
        yield Finding(False, "duplicates", f"{plural(same.redundant, 'token')} {verb} for the same text as another")
    if not together.redundant:
        return
    good = together.share <= MANY_DUPLICATES
    what = f"{together.share:.1%} of the tokens differ from another by case or a leading space only"
    yield Finding(good, "duplicates", what)


def _oddities(report: VocabularyReport, structure: Structure) -> Iterator[Finding]:
    if report.dead_merge_count:
        verb = "is dead: it makes or uses" if report.dead_merge_count == 1 else "are dead: they make or use"
        merges = plural(report.dead_merge_count, "merge")
        yield Finding(False, "merges", f"{merges} {verb} a special token, and text never becomes one")
    for kind in structure.unseen:
        if kind.name != "invisible characters":
            verb = "holds" if kind.tokens == 1 else "hold"
            yield Finding(False, "characters", f"{plural(kind.tokens, 'token')} {verb} {kind.name}")
    if report.unused_count:
        verb = "belongs" if report.unused_count == 1 else "belong"
        yield Finding(False, "ids", f"{plural(report.unused_count, 'id')} {verb} to no token")


def _use(corpus: CorpusReport) -> Iterator[Finding]:
    if not corpus.token_count:
        yield Finding(False, "corpus", "the corpus has no token")
        return
    if corpus.unknown:
        share = corpus.unknown / corpus.token_count
        yield Finding(False, "corpus", f"{share:.2%} of the tokens of the corpus are the unknown one")
    if not corpus.unused:
        yield Finding(True, "corpus", "the corpus uses every token")
    else:
        enough = corpus.mean_count is not None and corpus.mean_count >= FEW_TO_TELL
        caveat = "" if enough else ", but the corpus is too small to blame them"
        what = f"the corpus never uses {plural(corpus.unused, 'token')} ({corpus.unused_share:.1%}){caveat}"
        yield Finding(False, "corpus", what)
    if corpus.residues is not None and corpus.residues.tokens:
        verb = "serves" if corpus.residues.count == 1 else "serve"
        yield Finding(False, "corpus", f"{plural(corpus.residues.count, 'token')} hardly {verb} but to be merged on")


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The health report on a tokenizer.

    Attributes:
        corpus: Which of them a corpus uses; None without a corpus.
    """

    findings: tuple[Finding, ...]
    vocabulary: VocabularyReport
    structure: Structure
    reachability: Reachability
    corpus: CorpusReport | None = None


_WHITESPACE = "white space"
"""What the JSON calls this topic, since its first version."""

_STEPS = 2 + STRUCTURE_STEPS + LAYER_STEPS


def examine_health(
    tokenizer: Tokenizer,
    frequencies: Frequencies | None = None,
    listener: Listener = SILENCE,
    *,
    residue_share: float = SHARE,
) -> HealthReport:
    """Report on a tokenizer.

    Args:
        tokenizer: The tokenizer.
        frequencies: How often a corpus has each token; None for no report on one.
        listener: Who hears how far it is.
        residue_share: Of a token that serves as a step of merging only, at most this share stays.

    Raises:
        UsageError: if a split pattern does not compile.

    Complexity: about linear in the vocabulary; a few seconds for 200,000 tokens.
    """
    with listener.task("examining", _STEPS, "step") as advance:
        anatomy = Anatomy(tokenizer)
        corpus = None if frequencies is None else examine_corpus(anatomy, frequencies, residue_share)
        advance(1)
        vocabulary = describe(tokenizer, fingerprint=fingerprint(tokenizer), contents=anatomy.contents)
        advance(1)
        structure = examine_structure(anatomy, advance=advance)
        reachability = examine(tokenizer, advance=advance)
    summary = findings(tokenizer, vocabulary, structure, corpus, reachability)
    return HealthReport(summary, vocabulary, structure, reachability, corpus)
