"""Settings of the tests that use Hypothesis: the same examples every time, no deadlines on shared machines.

``properties/conftest.py`` sets the same profiles; where both folders run together, the last one loaded holds for all.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_QUIET = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
settings.register_profile(
    "ci", max_examples=12, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET, print_blob=True
)
settings.register_profile("full", settings.get_profile("ci"), max_examples=300, derandomize=False)
settings.load_profile("full" if os.environ.get("HYPOTHESIS_PROFILE") == "full" else "ci")
