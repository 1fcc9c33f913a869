"""Mutants of the program that no test can notice, each with the reason."""

from __future__ import annotations

REASONS: dict[tuple[str, str], str] = {}
"""(Module, change) -> why nothing is another then."""
