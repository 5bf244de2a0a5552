"""Whole tests: what a result says is consistent with itself, and does not depend on what it should not depend on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from calibtest import alignment_scores, alignment_test, get_metric, layers_test
from calibtest.errors import CalibtestWarning
from calibtest.stacks import LayerStack
from calibtest.strategies import layer_stacks, representations

METRICS = [get_metric("linear_cka"), get_metric("rsa", distance="euclidean"), get_metric("mutual_knn", k=2)]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibtestWarning)
        yield


@st.composite
def questions(draw: st.DrawFn) -> tuple[LayerStack, LayerStack, dict]:
    """Two stacks and how they are tested."""
    n = draw(st.integers(6, 16))
    a, b = (draw(layer_stacks(n=n, d=st.integers(3, 6), layers=st.integers(1, 3), name=name)) for name in "AB")
    how = {
        "metric": draw(st.sampled_from(METRICS)),
        "draws": draw(st.sampled_from(["cosets", "independent"])),
        "alternative": draw(st.sampled_from(["greater", "less", "two-sided"])),
        "alpha": draw(st.sampled_from([0.01, 0.05, 0.2])),
        "n_resamples": draw(st.integers(1, 60)),
        "rng": draw(st.integers(0, 2**16)),
    }
    if draw(st.booleans()) and n % 2 == 0:
        how |= {"scheme": "within_groups", "groups": np.arange(n) % 2}
    return a, b, how


@given(question=questions())
def test_a_result_agrees_with_itself(question) -> None:
    a, b, how = question
    found = layers_test(a, b, **how)
    cells = found.cells
    assert np.array_equal(found.calibrated > 0, cells.pvalue <= found.alpha)
    assert (found.omnibus.calibrated > 0) == (found.pvalue <= found.alpha)
    assert (cells.pvalue >= found.min_pvalue).all()
    assert (cells.pvalue <= 1).all()
    assert (cells.pvalue_low <= cells.pvalue + 1 / found.n_resamples).all()
    assert (cells.pvalue_high >= cells.pvalue - 1 / found.n_resamples).all()
    assert (cells.adjusted_pvalue <= cells.single_step_pvalue + 1e-12).all()
    assert (cells.adjusted_pvalue >= cells.pvalue).all()
    if how["alternative"] == "two-sided":  # a cell's own p is twice a tail, the search counts |z|
        assert cells.single_step_pvalue.min() >= found.pvalue - 1e-12
    else:
        assert cells.single_step_pvalue.min() == pytest.approx(found.pvalue, abs=1e-12)
    at = found.layers_a.index(found.best[0]), found.layers_b.index(found.best[1])
    assert cells.single_step_pvalue[at] == cells.single_step_pvalue.min()
    assert found.orbit.n_resamples >= how["n_resamples"] or found.orbit.exhaustive


@given(question=questions())
def test_seed_and_workers(question) -> None:
    a, b, how = question
    one, two = layers_test(a, b, n_jobs=1, **how), layers_test(a, b, n_jobs=3, **how)
    assert np.array_equal(one.orbit.values, two.orbit.values)
    assert one.pvalue == two.pvalue


@given(question=questions())
def test_a_pair_does_not_depend_on_its_company(question) -> None:
    a, b, how = question
    grid = layers_test(a, b, **how)
    name_a, name_b = a.names[-1], b.names[0]
    alone = alignment_test(a.select(name_a), b.select(name_b), **how)
    at = grid.layers_a.index(name_a), grid.layers_b.index(name_b)
    assert alone.statistic == pytest.approx(grid.scores[at], abs=1e-13)
    assert alone.pvalue == grid.cells.pvalue[at]
    assert alone.chance == pytest.approx(grid.chance[at], abs=1e-13)


@given(question=questions())
def test_the_observed_grid_does_not_depend_on_the_relabellings(question) -> None:
    a, b, how = question
    found = layers_test(a, b, **how)
    bare = alignment_scores(a, b, metric=how["metric"])
    np.testing.assert_allclose(found.scores, bare.scores, rtol=0, atol=found.orbit.resolution.max())
    if "scheme" not in how:
        np.testing.assert_allclose(found.chance, bare.chance, rtol=0, atol=1e-12)


@given(question=questions())
def test_sides_may_change_places(question) -> None:
    a, b, how = question
    assume("scheme" not in how)
    there, back = alignment_scores(a, b, metric=how["metric"]), alignment_scores(b, a, metric=how["metric"])
    np.testing.assert_allclose(there.scores, back.scores.T, rtol=0, atol=1e-13)
    np.testing.assert_allclose(there.chance, back.chance.T, rtol=0, atol=1e-13)
    np.testing.assert_allclose(there.chance_sd, back.chance_sd.T, rtol=0, atol=1e-13)


@given(question=questions())
def test_files_in_another_order_of_items(question) -> None:
    """Reordering the items of both files alike changes no score; with ids, reordering one file changes nothing at all."""
    a, b, how = question
    rng = np.random.default_rng(how["rng"])
    ids = [f"item {i}" for i in range(a.n_items)]
    order = rng.permutation(a.n_items)
    mixed = {name: array[order] for name, array in b.layers.items()}
    with_ids = [LayerStack.build(dict(stack.layers), name=stack.name, ids=ids) for stack in (a, b)]
    reordered = LayerStack.build(mixed, name="B", ids=[ids[i] for i in order])
    one, two = layers_test(*with_ids, **how), layers_test(with_ids[0], reordered, **how)
    assert np.array_equal(one.orbit.values, two.orbit.values)
    both = alignment_scores({name: array[order] for name, array in a.layers.items()}, mixed, metric=how["metric"])
    np.testing.assert_allclose(one.scores, both.scores, rtol=0, atol=one.orbit.resolution.max())


@given(data=st.data())
def test_a_saturated_pair_says_nothing_and_harms_nothing(data: st.DataObject) -> None:
    """Whitened layers with as many units as items are the same under every relabelling: p = 1, and no error."""
    n = data.draw(st.integers(5, 12))
    whitened = {"whitened": data.draw(representations(n=n, d=st.integers(n - 1, 2 * n), kind="whitened"))}
    a, b = ({**whitened, "plain": data.draw(representations(n=n, d=3))} for _ in range(2))
    found = layers_test(a, b, metric="linear_cka", n_resamples=19, rng=0)
    assert found.cells.uninformative[0].all()
    assert found.cells.pvalue[0, 0] == 1.0
    assert not found.cells.uninformative[1, 1]
    alone = layers_test({"plain": a["plain"]}, {"plain": b["plain"]}, metric="linear_cka", n_resamples=19, rng=0)
    assert alone.pvalue == found.cells.pvalue[1, 1]
