"""The Hypothesis profiles, which exist as soon as this is imported, in the processes that tests start too.

fast: the same examples in every run, so that a red build is the change's fault; slow: for hunting. Choose with
HYPOTHESIS_PROFILE=slow or pytest --hypothesis-profile slow.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

FEW = 30
"""Examples of a usual run."""

MANY = 2000
"""Examples of a run that hunts."""

settings.register_profile(
    "fast", max_examples=FEW, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "slow", max_examples=MANY, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
