"""Claims: complete, free of contradiction, and true of every metric on ordinary data."""

from __future__ import annotations

import numpy as np
import pytest

from calibtest import get_metric, metrics
from calibtest.laws.transforms import TRANSFORMS as LAWFUL
from calibtest.metrics.base import Metric
from calibtest.metrics.claims import TRANSFORMS, Claims

SETTINGS = [get_metric(name, **options) for name, kind in metrics().items() for options in kind.settings]
RNG = np.random.default_rng(0)
X = RNG.standard_normal((24, 5)) + np.array([3.0, 0.0, 0.0, -1.0, 0.5])
Y = X[:, :4] + 0.7 * RNG.standard_normal((24, 4))
ROTATION = np.linalg.qr(RNG.standard_normal((5, 5)))[0]
FACTORS = np.exp(RNG.standard_normal(24))[:, None]

TRANSFORMED = {
    "unit_permutation": X[:, [3, 0, 4, 1, 2]],
    "rotation": X @ ROTATION,
    "isotropic_scale": 7.3 * X,
    "translation": X + np.array([1.0, -2.0, 5.0, 0.0, 3.0]),
    "invertible_linear": X @ (np.eye(5) + np.triu(np.ones((5, 5)))),
    "unit_scale": X * [1.0, 3.0, 0.3, 2.0, 0.5],
    "duplicated_units": np.repeat(X, 3, axis=1),
    "zero_padding": np.hstack([X, np.zeros((24, 2))]),
    "item_scale": X * FACTORS,
    "monotone_distances": LAWFUL["monotone_distances"](X, np.random.default_rng(1)),
}


@pytest.mark.parametrize("metric", SETTINGS, ids=str)
def test_every_transform_is_claimed_or_denied(metric: Metric) -> None:
    claims = metric.claims
    assert claims.invariant | claims.sensitive == set(TRANSFORMS)
    assert not claims.invariant & claims.sensitive
    assert set(TRANSFORMED) | {"item_permutation"} == set(TRANSFORMS)


@pytest.mark.parametrize("metric", SETTINGS, ids=str)
def test_claims_hold_and_denials_can_be_seen(metric: Metric) -> None:
    score = metric(X, Y)
    moved = {name: abs(metric(changed, Y) - score) for name, changed in TRANSFORMED.items()}
    order = RNG.permutation(24)
    moved["item_permutation"] = abs(metric(X[order], Y[order]) - score)
    for name in metric.claims.invariant:
        assert moved[name] < 1e-11, name
    assert any(moved[name] > 1e-6 for name in metric.claims.sensitive)


@pytest.mark.parametrize("metric", SETTINGS, ids=str)
def test_symmetry_self_value_and_range(metric: Metric) -> None:
    claims = metric.claims
    assert (abs(metric(X, Y) - metric(Y, X)) < 1e-13) == claims.symmetric
    if claims.self_value is not None:
        assert abs(metric(X, X) - claims.self_value) < 1e-12
    low, high = claims.range
    assert low <= metric(X, Y) <= high


def test_silence_contradiction_and_unknown_names_are_refused() -> None:
    everything = frozenset(TRANSFORMS)
    with pytest.raises(ValueError, match=r"missing \['rotation'"):
        Claims(everything - {"rotation"}, frozenset(), (0.0, 1.0))
    with pytest.raises(ValueError, match=r"in both \['rotation'\]"):
        Claims(everything, frozenset({"rotation"}), (0.0, 1.0))
    with pytest.raises(ValueError, match=r"unknown \['reversal'\]"):
        Claims(everything | {"reversal"}, frozenset(), (0.0, 1.0))


@pytest.mark.parametrize(
    ("group", "subgroup"),
    [
        ("rotation", "unit_permutation"),
        ("invertible_linear", "rotation"),
        ("invertible_linear", "unit_scale"),
        ("item_scale", "isotropic_scale"),
        ("unit_scale", "isotropic_scale"),
    ],
)
def test_claim_on_a_group_implies_its_subgroups(group: str, subgroup: str) -> None:
    with pytest.raises(ValueError, match=f"{group} implies .*{subgroup}"):
        Claims.invariant_to(group, range=(0.0, 1.0))
    full = [name for name in TRANSFORMS if name != subgroup]
    with pytest.raises(ValueError, match=subgroup):
        Claims.invariant_to(*full, range=(0.0, 1.0))


def test_what_is_not_declared_is_denied() -> None:
    claims = Claims.invariant_to("item_permutation", range=(0.0, np.inf), larger_is_more_similar=False, self_value=0.0)
    assert claims.sensitive == set(TRANSFORMS) - {"item_permutation"}
    assert not claims.larger_is_more_similar
