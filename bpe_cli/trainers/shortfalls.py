"""Explain why a vocabulary is smaller than asked for, each reason as the rest of a sentence."""

from __future__ import annotations

from bpe_cli.support.messages import plural

SEEDS, EXPECTATION, PRUNING = "seeds", "expectation", "pruning"
"""The steps of unigram training after which there can be too few tokens; the core names them."""


def of_unigram(step: str | None, longer: int, seed_size: int) -> str:
    """Explain why unigram training left too few tokens.

    Args:
        step: After which step there were too few.
        longer: With how many substrings of several characters it began.
        seed_size: With how many it might.

    >>> of_unigram("seeds", 7, 7), of_unigram("seeds", 6, 7)
    ('training began with 7 substrings, as many as seed_size allows', 'no more substrings occur often enough')
    """
    if step == PRUNING:
        return "pruning leaves out all that no best segmentation needs, and that was more than the size asked for"
    if step == EXPECTATION:
        return (
            "expectation maximisation leaves out what is expected to occur less than half a time, and that was too much"
        )
    if longer >= seed_size:
        return f"training began with {plural(longer, 'substring')}, as many as seed_size allows"
    return "no more substrings occur often enough"


def of_textbook(seeds: int, wanted: int, seed_size: int, dropped: str) -> str:
    """Explain why the course's unigram training left too few tokens.

    Args:
        seeds: With how many tokens it began.
        wanted: How many there were to be.
        seed_size: With how many it might begin.
        dropped: The share that each round leaves out.

    >>> of_textbook(19, 11, 300, "10%")
    'each round leaves out 10% of the tokens, and the last one went below the size'
    """
    if seeds >= wanted:
        return f"each round leaves out {dropped} of the tokens, and the last one went below the size"
    if seeds >= seed_size:
        return f"training began with {plural(seeds, 'token')}, as many as seed_size allows"
    return "the corpus has no more substrings"
