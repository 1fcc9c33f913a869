"""How much a run tries: enough to see that nothing got worse, or all that a hunt has time for."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import settings

from tests.profiles import MANY

T = TypeVar("T")

THOROUGH = settings.default.max_examples >= MANY
"""Whether this run hunts (HYPOTHESIS_PROFILE=slow)."""


def more(few: T, many: T) -> T:
    """Choose what to try."""
    return many if THOROUGH else few
