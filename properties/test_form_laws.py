"""Engines agree with each other, and neither threads nor company change a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibtest.forms import layout, matching
from calibtest.forms.direct import Direct, Raw
from calibtest.forms.matching import Matching
from calibtest.forms.overlap import Overlap
from calibtest.laws import form_laws as laws
from calibtest.metrics.base import Form
from calibtest.prepare.neighbours import neighbour_graph
from calibtest.prepare.relations import Relation
from calibtest.strategies import cosets, listed_relabellings, representations


@st.composite
def relations(draw: st.DrawFn, n: int, *, symmetric: bool, zero_diagonal: bool, dtype: Any) -> Relation:
    """Any matrix of unit norm: the form may not count on more."""
    matrix = np.random.default_rng(draw(st.integers(0, 2**16))).standard_normal((n, n))
    if symmetric:
        matrix = matrix + matrix.T
    if zero_diagonal:
        np.fill_diagonal(matrix, 0.0)
    matrix = (matrix / np.linalg.norm(matrix)).astype(dtype)
    return Relation(matrix, zero_diagonal=zero_diagonal, symmetric=symmetric)


@st.composite
def grids(draw: st.DrawFn) -> tuple[Form, list[Any], list[Any], int]:
    """A form, and states of up to 3 x 3 layers for it."""
    n = draw(st.integers(4, 17))
    how = draw(st.sampled_from(["symmetric", "directed", "single", "lists", "tied lists", "mixed lists"]))
    left, right = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    if "lists" in how:
        k = draw(st.integers(1, min(3, n - 1)))

        def graph() -> Any:
            kind = draw(st.sampled_from(["generic", "copies"])) if how == "mixed lists" else "copies"
            points = draw(representations(n=n, kind="generic" if how == "lists" else kind))
            return neighbour_graph(points, k, distance="euclidean")

        return Overlap(), [graph() for _ in range(left)], [graph() for _ in range(right)], n
    symmetric = how != "directed"
    dtype = np.float32 if how == "single" else np.float64
    some = relations(n, symmetric=symmetric, zero_diagonal=draw(st.booleans()), dtype=dtype)
    return Matching(), [draw(some) for _ in range(left)], [draw(some) for _ in range(right)], n


@given(data=st.data())
def test_cosets_equal_their_listing(data: st.DataObject) -> None:
    form, lefts, rights, n = data.draw(grids())
    laws.cosets_equal_listing(form, lefts, rights, data.draw(cosets(n)))


@given(data=st.data())
def test_threads_do_not_matter(data: st.DataObject) -> None:
    form, lefts, rights, n = data.draw(grids())
    laws.threads_do_not_matter(form, lefts, rights, data.draw(st.one_of(cosets(n), listed_relabellings(n))))


@given(data=st.data())
def test_grids_do_not_matter(data: st.DataObject) -> None:
    form, lefts, rights, n = data.draw(grids())
    laws.grids_do_not_matter(form, lefts, rights, data.draw(st.one_of(cosets(n), listed_relabellings(n))))


@given(data=st.data())
def test_subsets_do_not_matter(data: st.DataObject) -> None:
    form, lefts, rights, n = data.draw(grids())
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    laws.subsets_do_not_matter(form, lefts, rights, data.draw(listed_relabellings(n)), rng)


@given(data=st.data())
def test_blocks_do_not_matter(data: st.DataObject) -> None:
    """However little memory the FFT engine may use, its values are those of the listing."""
    form, lefts, rights, n = data.draw(grids())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_BLOCK_BYTES", data.draw(st.sampled_from([1, 4096])))
        patch.setattr(matching, "_TOGETHER_BYTES", 1)
        patch.setattr(layout, "_TILE_ENTRIES", 1)
        patch.setattr(layout, "_NARROWEST", data.draw(st.integers(1, 5)))
        laws.cosets_equal_listing(form, lefts, rights, data.draw(cosets(n)))


def correlation_of_first_units(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.corrcoef(x[:, 0], y[:, 0])[0, 1])


@given(data=st.data())
def test_a_callable_obeys_the_same_laws(data: st.DataObject) -> None:
    n = data.draw(st.integers(4, 10))
    lefts, rights = ([Raw(data.draw(representations(n=n))) for _ in range(2)] for _ in range(2))
    form = Direct(correlation_of_first_units, label="first units")
    laws.cosets_equal_listing(form, lefts, rights, data.draw(cosets(n)))
    laws.grids_do_not_matter(form, lefts, rights, data.draw(listed_relabellings(n)))
