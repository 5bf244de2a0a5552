"""The laws can fail: faults known from practice are planted, and the law that should find each one does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import DTypeLike, NDArray

from calibtest.arrays import Kind
from calibtest.errors import CalibtestError
from calibtest.forms.evaluation import Evaluation
from calibtest.forms.matching import Matching
from calibtest.inference.aggregates import StudentizedMax
from calibtest.inference.orbit import Orbit
from calibtest.inference.pvalues import pvalues
from calibtest.inference.standardise import standardise
from calibtest.laws import metric_laws as laws
from calibtest.laws.form_laws import cosets_equal_listing, threads_do_not_matter
from calibtest.laws.pvalue_laws import pvalues_are_super_uniform, super_uniformity
from calibtest.laws.scheme_laws import cosets_are_closed, drawn_evenly, groups_are_respected, is_a_set_of_relabellings
from calibtest.laws.transforms import EXACT_TRANSFORMS
from calibtest.laws.violation import LawViolation
from calibtest.metrics.claims import Claims
from calibtest.metrics.linear_cka import LinearCKA
from calibtest.metrics.mutual_knn import MutualKNN
from calibtest.metrics.rv import RV
from calibtest.prepare.centring import centre_columns
from calibtest.prepare.neighbours import NeighbourGraph, neighbour_graph_from_lists
from calibtest.prepare.relations import Relation
from calibtest.schemes import Cosets, Exchangeable, Explicit
from calibtest.strategies import Recipe

RNG = np.random.default_rng
N, D = 14, 4
X = RNG(1).standard_normal((N, D))
Y = X @ RNG(2).standard_normal((D, 3)) + RNG(3).standard_normal((N, 3))
COSETS = Exchangeable().draw(N, 27, RNG(4), cosets=True)
LISTED = Exchangeable().draw(N, 5, RNG(5), cosets=False)


# ------------------------------------------------------------------------------------------------ metrics
@dataclass(frozen=True)
class EpsilonCKA(LinearCKA):
    """A small constant in the denominator, against division by zero."""

    def prepare(self, x: NDArray, name: str, *, kind: Kind = "activations", dtype: DTypeLike = np.float64) -> Relation:
        centred = x - x.mean(axis=0)
        product = centred @ centred.T
        return Relation(product / (np.linalg.norm(product) + 1e-6), zero_diagonal=False)


@dataclass(frozen=True)
class UncentredCKA(LinearCKA):
    """The kernel as it comes."""

    def prepare(self, x: NDArray, name: str, *, kind: Kind = "activations", dtype: DTypeLike = np.float64) -> Relation:
        product = x @ x.T
        return Relation(product / np.linalg.norm(product), zero_diagonal=False)


@dataclass(frozen=True)
class IndexTiesKNN(MutualKNN):
    """Ties at the k-th place go to whoever stands first in the file."""

    def prepare(
        self, x: NDArray, name: str, *, kind: Kind = "activations", dtype: DTypeLike = np.float64
    ) -> NeighbourGraph:
        apart = ((x[:, None] - x[None]) ** 2).sum(-1)
        np.fill_diagonal(apart, np.inf)
        return neighbour_graph_from_lists(np.argsort(apart, axis=1, kind="stable")[:, : self.k])


class RowsOnly(Matching):
    """Relabels the rows of the right-hand relation and forgets its columns."""

    def evaluate(self, lefts, rights, relabellings, *, threads=None, progress=None) -> Evaluation:
        listed = relabellings.explicit()
        values = np.array([[[np.sum(a.matrix * b.matrix[pi]) for b in rights] for a in lefts] for pi in listed])
        return Evaluation(values, np.full(values.shape[1:], 1e-14))


@dataclass(frozen=True)
class RectangularCKA(LinearCKA):
    """Its claimed range is wide enough for anything, so that nothing stops it but the law."""

    engine = RowsOnly()
    claims = Claims.invariant_to("item_permutation", "unit_permutation", range=(-1.0, 1.0))


class Drifting(Matching):
    """A value that depends on where in the set its relabelling stands, and on the number of threads."""

    def evaluate(self, lefts, rights, relabellings, *, threads=None, progress=None) -> Evaluation:
        found = super().evaluate(lefts, rights, relabellings, threads=threads, progress=progress)
        drift = 1e-9 * np.arange(len(relabellings)) * (threads or 1) * isinstance(relabellings, Cosets)
        return Evaluation(found.values + drift[:, None, None], found.resolution)


@dataclass(frozen=True)
class RotationDenier(RV):
    """Denies an invariance that it has."""

    claims = Claims.invariant_to(
        "item_permutation", "unit_permutation", "isotropic_scale", "translation", "duplicated_units", "zero_padding",
        range=(0.0, 1.0),
    )  # fmt: skip


@dataclass(frozen=True)
class Modest(LinearCKA):
    """Claims less range than it has, and to be a distance."""

    claims = Claims.invariant_to(
        "item_permutation", "rotation", "unit_permutation", "isotropic_scale", "translation", "duplicated_units",
        "zero_padding",
        range=(0.0, 0.5), self_value=1.0, larger_is_more_similar=False,
    )  # fmt: skip


@dataclass(frozen=True)
class HalfCKA(LinearCKA):
    """A factor 1/2 that the definition does not have."""

    def affine(self, left: Relation, right: Relation) -> tuple[float, float]:
        return 0.5, 0.0


@dataclass(frozen=True)
class OneSidedCKA(LinearCKA):
    """Treats the two sides differently and claims to be symmetric."""

    def target(self, y: NDArray, name: str, *, kind: Kind = "activations", dtype: DTypeLike = np.float64) -> Relation:
        return self.prepare(np.sign(y - y.mean(axis=0)), name, kind=kind, dtype=dtype)


def search_invariance(metric, transform: str, x: NDArray, y: NDArray, **how) -> None:
    """Some members of the group, until one of them breaks the law."""
    for seed in range(10):
        laws.claimed_invariance_holds(metric, transform, x, y, RNG(seed), **how)


def test_an_epsilon_in_the_denominator_breaks_isotropic_scale() -> None:
    search_invariance(LinearCKA(), "isotropic_scale", X, Y)
    with pytest.raises(LawViolation, match="isotropic_scale"):
        search_invariance(EpsilonCKA(), "isotropic_scale", X, Y)


def test_an_uncentred_kernel_breaks_translation() -> None:
    with pytest.raises(LawViolation, match="translation"):
        laws.claimed_invariance_holds(UncentredCKA(), "translation", X, Y, RNG(0))


def test_ties_broken_by_index_break_equivariance() -> None:
    x, y = (Recipe(N, 2, "copies", 3, seed).build() for seed in (1, 2))
    laws.equivariance(MutualKNN(k=2, distance="euclidean"), x, y, LISTED)
    with pytest.raises(LawViolation, match="equivariance"):
        laws.equivariance(IndexTiesKNN(k=2, distance="euclidean"), x, y, LISTED)


def test_ties_broken_by_index_break_exact_invariance_too() -> None:
    x, y = (Recipe(N, 2, "lattice", 1, seed).build() for seed in (1, 2))
    search_invariance(MutualKNN(k=2, distance="euclidean"), "item_permutation", x, y, transforms=EXACT_TRANSFORMS)
    with pytest.raises(LawViolation, match="item_permutation"):
        search_invariance(
            IndexTiesKNN(k=2, distance="euclidean"), "item_permutation", x, y, transforms=EXACT_TRANSFORMS
        )


@pytest.mark.parametrize("kind", ["activations", "kernel"])
def test_relabelling_rows_without_columns_breaks_equivariance(kind: Kind) -> None:
    x, y = (X, Y) if kind == "activations" else (X @ X.T, Y @ Y.T)
    laws.equivariance(LinearCKA(), x, y, LISTED, kind=kind)
    with pytest.raises(LawViolation, match="equivariance"):
        laws.equivariance(RectangularCKA(), x, y, LISTED, kind=kind)


def test_a_form_with_another_factor_breaks_the_definition() -> None:
    laws.decomposition_equals_definition(LinearCKA(), X, Y, COSETS, RNG(0))
    with pytest.raises(LawViolation, match="definition"):
        laws.decomposition_equals_definition(HalfCKA(), X, Y, COSETS, RNG(0))
    with pytest.raises(LawViolation, match="self value"):
        laws.self_value_is_as_claimed(HalfCKA(), X)


def test_a_false_denial_has_no_witness() -> None:
    laws.denial_has_witness(RV(), "invertible_linear", RNG(0))
    with pytest.raises(LawViolation, match="sensitivity to rotation"):
        laws.denial_has_witness(RotationDenier(), "rotation", RNG(0), budget=10)


def test_wrong_range_direction_and_symmetry() -> None:
    with pytest.raises(LawViolation, match="range"):
        laws.range_is_as_claimed(Modest(), X, X, LISTED)
    wide = dataclass(frozen=True)(type("Wide", (Modest,), {"claims": Claims.invariant_to(
        "item_permutation", "rotation", "unit_permutation", "isotropic_scale", "translation", "duplicated_units",
        "zero_padding", range=(0.0, 1.0), larger_is_more_similar=False)}))()  # fmt: skip
    with pytest.raises(LawViolation, match="direction"):
        laws.direction_is_as_claimed(wide, X, Y, LISTED)
    with pytest.raises(LawViolation, match="symmetry"):
        laws.symmetry_is_as_claimed(OneSidedCKA(), X, Y, LISTED)


# -------------------------------------------------------------------------------------------- forms and relabellings
def test_a_drifting_engine_breaks_both_form_laws() -> None:
    states = [LinearCKA().prepare(X, "X")], [LinearCKA().prepare(Y, "Y")]
    cosets_equal_listing(Matching(), *states, COSETS)
    with pytest.raises(LawViolation, match="listing"):
        cosets_equal_listing(Drifting(), *states, COSETS)
    with pytest.raises(LawViolation, match="threads"):
        threads_do_not_matter(Drifting(), *states, COSETS)


def test_relabellings_that_are_none() -> None:
    broken = Explicit(np.array([[0, 1, 2], [0, 0, 2]]))
    with pytest.raises(LawViolation, match="no permutation"):
        is_a_set_of_relabellings(broken)
    with pytest.raises(LawViolation, match="left its group"):
        groups_are_respected(Explicit(np.array([[0, 1, 2], [1, 0, 2]])), ["a", "b", "b"], "within_groups")
    with pytest.raises(LawViolation, match="block"):
        groups_are_respected(Explicit(np.array([[0, 1, 2, 3], [2, 1, 0, 3]])), list("aabb"), "whole_groups")


@dataclass(frozen=True)
class Lazy(Exchangeable):
    """Draws shifts of the file order, and thinks that is all permutations."""

    def draw(self, n, n_resamples, rng, *, cosets=True):
        shifts = rng.integers(1, n, size=n_resamples)
        return Explicit(np.stack([np.arange(n), *(np.roll(np.arange(n), -s) for s in shifts)]))


def test_an_uneven_draw_is_found() -> None:
    with pytest.raises(LawViolation, match="evenness"):
        drawn_evenly(Lazy(), 4, RNG(0), cosets=False, n_resamples=3)


def without_identity_coset(n: int, rng: np.random.Generator) -> Cosets:
    """One coset, of a random permutation instead of the identity."""
    return Cosets(np.arange(n), 1, n, rng.permutation(n)[None])


def test_cosets_must_begin_with_the_identity() -> None:
    broken = without_identity_coset(8, RNG(0))
    with pytest.raises(LawViolation, match="identity"):
        is_a_set_of_relabellings(broken)
    with pytest.raises(LawViolation, match="identity"):
        cosets_are_closed(broken)


# ------------------------------------------------------------------------------------------------------ p-values
def ring_states(rng: np.random.Generator) -> tuple[Relation, Relation]:
    angle = 2 * np.pi * np.arange(12) / 12
    metric = LinearCKA()
    ring = metric.prepare(np.stack([np.cos(angle), np.sin(angle)], axis=1), "X")
    return ring, metric.prepare(centre_columns(rng.standard_normal((12, 3)), "Y"), "Y")


def identity_beside_another_coset(rng: np.random.Generator) -> float:
    """The observed value compared with a coset that it does not belong to."""
    left, right = ring_states(rng)
    coset = without_identity_coset(12, rng).explicit()
    listed = Explicit(np.concatenate((np.arange(12)[None], coset)))
    found = Matching().evaluate([left], [right], listed, threads=1)
    return float(pvalues(found.values, found.resolution)[0, 0])


def identity_in_its_own_coset(rng: np.random.Generator) -> float:
    """The same, but with the coset of the identity among the cosets: valid, though all its shifts tie on a ring."""
    left, right = ring_states(rng)
    items = np.arange(12)
    cosets = Cosets(items, 1, 12, np.stack([items, *(rng.permutation(12) for _ in range(3))]))
    found = Matching().evaluate([left], [right], cosets, threads=1)
    return float(pvalues(found.values, found.resolution)[0, 0])


def test_the_identity_belongs_into_its_own_coset() -> None:
    assert super_uniformity(identity_in_its_own_coset, RNG(1), n=400).holds
    with pytest.raises(LawViolation, match="super-uniformity"):
        pvalues_are_super_uniform(identity_beside_another_coset, RNG(1), n=400)


def draw_values(rng: np.random.Generator, n_draws: int = 19) -> NDArray[np.float64]:
    return rng.standard_normal(n_draws + 1)


def share_of_draws(rng: np.random.Generator) -> float:
    """Exceedances over draws, the observed value not counted: 0 when nothing exceeds it."""
    values = draw_values(rng)
    return float((values[1:] >= values[0]).mean())


def share_of_draws_floored(rng: np.random.Generator) -> float:
    """The same with a floor: never 0, and still too small."""
    values = draw_values(rng, 20)
    return max(float((values[1:] >= values[0]).mean()), 1 / 20)


def interpolated_threshold(rng: np.random.Generator) -> float:
    """Rejects beyond an interpolated quantile of the draws."""
    values = draw_values(rng)
    return 0.05 if values[0] > np.quantile(values[1:], 0.95) else 1.0


def smoothed(rng: np.random.Generator) -> float:
    values = draw_values(rng)
    return float((1 + (values[1:] >= values[0]).sum()) / len(values))


def test_a_pvalue_without_the_observed_value_fails() -> None:
    assert super_uniformity(smoothed, RNG(0), n=1000).holds
    at_once = super_uniformity(share_of_draws, RNG(0))
    assert not at_once.holds
    assert "p = 0.0" in at_once.reason
    assert at_once.pvalues.size < 200  # it did not go on
    with pytest.raises(LawViolation, match="super-uniformity"):
        pvalues_are_super_uniform(share_of_draws_floored, RNG(0), n=1000)


def test_an_interpolated_threshold_fails() -> None:
    with pytest.raises(LawViolation, match=r"p <= 0\.05"):
        pvalues_are_super_uniform(interpolated_threshold, RNG(0), n=1000)


@pytest.mark.parametrize("value", [0.0, -0.1, 1.0001, float("nan")])
def test_what_is_no_pvalue_fails_at_once(value: float) -> None:
    found = super_uniformity(lambda rng: value, RNG(0))
    assert not found.holds
    assert found.pvalues.size == 1


def grid_orbit(rng: np.random.Generator) -> Orbit:
    """Nine independent draws of a grid of 5 x 5 cells."""
    return Orbit(rng.standard_normal((10, 5, 5)), np.zeros((5, 5)))


def studentised(rng: np.random.Generator) -> float:
    orbit = grid_orbit(rng)
    return StudentizedMax()(orbit, standardise(orbit), "greater").pvalue()


def studentised_by_the_null_alone(rng: np.random.Generator) -> float:
    """The observed row measured by a yardstick that no other row is measured by."""
    orbit = grid_orbit(rng)
    by_the_null = standardise(orbit, mean=orbit.null.mean(axis=0), sd=orbit.null.std(axis=0))
    return StudentizedMax()(orbit, by_the_null, "greater").pvalue()


def test_moments_of_the_null_rows_alone_fail() -> None:
    assert super_uniformity(studentised, RNG(0), n=1000).holds
    with pytest.raises(LawViolation, match="super-uniformity"):
        pvalues_are_super_uniform(studentised_by_the_null_alone, RNG(0), n=1000)


def test_the_metric_base_refuses_values_out_of_range() -> None:
    """Not a law but the last fence before a report: a value beyond rounding of its range is raised, never clipped."""
    with pytest.raises(CalibtestError, match="claims the range"):
        laws.scores(Modest(), X, X, LISTED)
