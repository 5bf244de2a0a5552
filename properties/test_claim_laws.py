"""What a metric claims about itself is so: invariances hold, denials have a witness, ranges and directions are right."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from calibtest.laws import metric_laws as laws
from calibtest.laws.transforms import EXACT_TRANSFORMS
from calibtest.metrics.base import Metric
from calibtest.strategies import cosets, paired_representations

MORE = settings(max_examples=2 * settings().max_examples)

seeds = st.integers(0, 2**16)


@MORE
@given(data=st.data())
def test_claimed_invariances_hold(metric: Metric, data: st.DataObject) -> None:
    transform = data.draw(st.sampled_from(sorted(metric.claims.invariant)))
    x, y = data.draw(paired_representations(same_width=metric.equal_widths, d=st.integers(3, 8)))
    laws.claimed_invariance_holds(metric, transform, x, y, np.random.default_rng(data.draw(seeds)))


@given(data=st.data())
def test_claimed_invariances_hold_on_degenerate_data(metric: Metric, data: st.DataObject, defined) -> None:
    transform = data.draw(st.sampled_from(sorted(metric.claims.invariant)))
    kind = data.draw(st.sampled_from(("copies", "low_rank", "constant_units", "outliers")))
    x, y = data.draw(paired_representations(same_width=metric.equal_widths, d=st.integers(3, 8), kind=kind))
    with defined():
        laws.claimed_invariance_holds(metric, transform, x, y, np.random.default_rng(data.draw(seeds)))


@MORE
@given(data=st.data())
def test_claimed_invariances_hold_on_tied_data(metric: Metric, data: st.DataObject, defined) -> None:
    """Whole numbers and transforms that round nothing: here a tie may not be lost."""
    transform = data.draw(st.sampled_from(sorted(metric.claims.invariant)))
    x, y = data.draw(paired_representations(same_width=metric.equal_widths, d=st.integers(3, 8), kind="lattice"))
    rng = np.random.default_rng(data.draw(seeds))
    with defined():
        laws.claimed_invariance_holds(metric, transform, x, y, rng, transforms=EXACT_TRANSFORMS)


def test_denied_invariances_have_a_witness(metric: Metric) -> None:
    for transform in sorted(metric.claims.sensitive):
        laws.denial_has_witness(metric, transform, np.random.default_rng(0))


@given(data=st.data())
def test_range_symmetry_self_value_and_direction(metric: Metric, data: st.DataObject, defined) -> None:
    kind = data.draw(st.sampled_from(("generic", "degenerate")))
    x, y = data.draw(paired_representations(same_width=metric.equal_widths, kind=kind))
    relabellings = data.draw(cosets(len(x)))
    with defined():
        laws.range_is_as_claimed(metric, x, y, relabellings)
        laws.symmetry_is_as_claimed(metric, x, y, relabellings)
        laws.self_value_is_as_claimed(metric, x)
        laws.direction_is_as_claimed(metric, x, y, relabellings)
