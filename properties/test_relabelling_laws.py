"""Sets of relabellings are what a test needs them to be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibtest.errors import InputError
from calibtest.laws import scheme_laws as laws
from calibtest.schemes import Circular, Cosets, Exchangeable, WholeGroups, WithinGroups
from calibtest.strategies import cosets

seeds = st.integers(0, 2**16)


@given(data=st.data())
def test_any_layout_of_cosets(data: st.DataObject) -> None:
    drawn = data.draw(cosets(data.draw(st.integers(2, 14))))
    laws.is_a_set_of_relabellings(drawn)
    laws.listing_equals_definition(drawn)
    laws.cosets_are_closed(drawn)


def check(drawn, n_resamples: int, order: int) -> None:
    laws.is_a_set_of_relabellings(drawn)
    assert len(drawn) - 1 >= min(n_resamples, order - 1)
    assert drawn.exhaustive == (order <= n_resamples + 1)
    if isinstance(drawn, Cosets):
        laws.cosets_are_closed(drawn)


@given(n=st.integers(2, 30), n_resamples=st.integers(1, 99), as_cosets=st.booleans(), seed=seeds)
def test_exchangeable(n: int, n_resamples: int, as_cosets: bool, seed: int) -> None:
    drawn = Exchangeable().draw(n, n_resamples, np.random.default_rng(seed), cosets=as_cosets)
    check(drawn, n_resamples, Exchangeable().order(n))
    laws.groups_are_respected(drawn, np.arange(n), "whole_groups")


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5),
    n_resamples=st.integers(1, 60),
    as_cosets=st.booleans(),
    seed=seeds,
    structure=st.sampled_from(["within_groups", "whole_groups"]),
)
def test_groups(sizes: list[int], n_resamples: int, as_cosets: bool, seed: int, structure: str) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat([f"g{i}" for i in range(len(sizes))], sizes))
    scheme = WithinGroups(groups) if structure == "within_groups" else WholeGroups(groups)
    try:
        order = scheme.order(len(groups))
    except InputError:  # nothing can change places
        return
    drawn = scheme.draw(len(groups), n_resamples, rng, cosets=as_cosets)
    check(drawn, n_resamples, order)
    laws.groups_are_respected(drawn, groups, structure)


@given(n=st.integers(2, 30))
def test_circular(n: int) -> None:
    drawn = Circular().draw(n, 9, np.random.default_rng(0))
    laws.is_a_set_of_relabellings(drawn)
    laws.cosets_are_closed(drawn)
    shifts = {tuple(np.roll(np.arange(n), -s).tolist()) for s in range(n)}
    assert {tuple(row) for row in drawn.explicit().tolist()} == shifts
    assert len(drawn) == n
    assert drawn.exhaustive


SMALL = [
    (Exchangeable(), 4, 7),
    (WithinGroups(list("aaabbb")), 6, 5),
    (WithinGroups(list("aaaabb")), 6, 9),
    (WholeGroups(list("aabbccdd")), 8, 5),
    (WholeGroups(list("aabbcdef")), 8, 7),
]


@pytest.mark.parametrize("as_cosets", [True, False], ids=["cosets", "independent"])
@pytest.mark.parametrize(("scheme", "n", "n_resamples"), SMALL, ids=lambda v: getattr(v, "name", str(v)))
def test_no_relabelling_is_preferred(scheme, n: int, n_resamples: int, as_cosets: bool) -> None:
    laws.drawn_evenly(scheme, n, np.random.default_rng(7), cosets=as_cosets, n_resamples=n_resamples)
