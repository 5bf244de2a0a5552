"""Settings of the property tests, and the metrics they run over.

``HYPOTHESIS_PROFILE=full`` runs many more examples; the default, ``ci``, draws the same modest number every time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from hypothesis import HealthCheck, reject, settings

from calibtest.errors import UndefinedScoreError
from calibtest.metrics.registry import get_metric, metrics

_QUIET = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
settings.register_profile(
    "ci", max_examples=12, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET, print_blob=True
)
settings.register_profile("full", settings.get_profile("ci"), max_examples=300, derandomize=False)
settings.load_profile("full" if os.environ.get("HYPOTHESIS_PROFILE") == "full" else "ci")

METRICS = [get_metric(name, **options) for name in metrics() for options in metrics()[name].settings]


@contextmanager
def _defined() -> Iterator[None]:
    try:
        yield
    except UndefinedScoreError:
        reject()


@pytest.fixture(scope="session")
def defined() -> Callable[[], AbstractContextManager[None]]:
    """Leave out data on which the score does not exist; a score that never exists makes the test fail."""
    return _defined


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every test that takes a ``metric`` over the registry."""
    if "metric" in metafunc.fixturenames:
        metafunc.parametrize("metric", METRICS, ids=str)
