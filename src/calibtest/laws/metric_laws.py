"""Laws of a metric: definition, equivariance, claims.

Scores are taken through :func:`calibtest.procedures.comparison.compare`, the way every test of the package takes them.
Two tolerances occur, and they are not interchangeable. Equivariance is asked *to the resolution that the form states*
(exactly where it states 0), because that resolution decides which null draws count as ties. A definition or a transform
computed in floating point is asked to agree *as far as the data allow*: the movement of the score when its input is
disturbed by a few units in the last place is measured, and the law grants a small multiple of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibtest.arrays import Kind
from calibtest.errors import UndefinedScoreError
from calibtest.forms.direct import Raw
from calibtest.inference.orbit import Orbit
from calibtest.laws.transforms import BOTH_SIDES, TRANSFORMS, Transform
from calibtest.laws.violation import LawViolation
from calibtest.metrics.base import Metric
from calibtest.procedures.comparison import Precision, compare
from calibtest.schemes.relabellings import Explicit, Relabellings
from calibtest.stacks import LayerStack

__all__ = [
    "Witness",
    "claimed_invariance_holds",
    "decomposition_equals_definition",
    "denial_has_witness",
    "direction_is_as_claimed",
    "equivariance",
    "find_witness",
    "identity_of",
    "precomputed_agrees",
    "range_is_as_claimed",
    "rounding_of",
    "scores",
    "self_value_is_as_claimed",
    "symmetry_is_as_claimed",
]

Float = NDArray[np.float64]
Index = NDArray[np.int64]

_EPS = float(np.finfo(np.float64).eps)
_DISTURBANCE = 2.0**-49  # eight units in the last place
_WITNESS = 1e-3  # a movement of the score that no rounding makes


# ------------------------------------------------------------------------------------------------------ what ships
def identity_of(n: int) -> Explicit:
    """The identity alone, which is a set of relabellings too."""
    return Explicit(np.arange(n, dtype=np.int64)[None], exhaustive=True)


def scores(
    metric: Metric,
    x: NDArray[np.generic],
    y: NDArray[np.generic],
    relabellings: Relabellings | None = None,
    *,
    kind: Kind = "activations",
    precision: Precision = "float64",
) -> Orbit:
    """Orbit of one pair under `relabellings` (the identity alone if none are given), as every procedure takes it.

    Raises
    ------
    UndefinedScoreError
        When the score does not exist on these data.
    """
    comparison = compare(
        LayerStack.build(x, name="X", kind=kind),
        LayerStack.build(y, name="Y", kind=kind),
        metric,
        precision=precision,
        skip_undefined=False,
    )
    return comparison.orbit(identity_of(len(x)) if relabellings is None else relabellings, threads=1)


def _score(metric: Metric, x: Float, y: Float) -> float:
    return float(scores(metric, x, y).values[0, 0, 0])


def rounding_of(score: Callable[[Float, Float], float], x: Float, y: Float, rng: np.random.Generator) -> float:
    """How far `score` moves when its input moves by rounding: no more can be asked of it on these data.

    Every entry is moved by up to eight units in the last place of the largest entry of its row (a transform mixes the
    units of an item). Tied data answer with a jump, ill-conditioned data with a large movement.
    """
    base = score(x, y)
    moved = [abs(score(_disturbed(x, rng), _disturbed(y, rng)) - base) for _ in range(3)]
    return 4.0 * max(moved)


def _disturbed(x: Float, rng: np.random.Generator) -> Float:
    size = np.abs(x).max(axis=1, keepdims=True)
    return np.asarray(x + _DISTURBANCE * size * rng.uniform(-1.0, 1.0, size=x.shape))


# ---------------------------------------------------------------------------------------- definition, equivariance
def decomposition_equals_definition(
    metric: Metric,
    x: Float,
    y: Float,
    relabellings: Relabellings,
    rng: np.random.Generator,
    *,
    tolerance: float = 1e-9,
) -> None:
    """The value of the prepared states under every relabelling is the definition on relabelled data.

    Parameters
    ----------
    metric : Metric
        With a definition and a decomposition.
    x, y : (n, d_x) and (n, d_y) arrays of float64
        Data on which the definition can be computed as it is written.
    relabellings : Explicit or Cosets
        Every row is checked.
    rng : numpy.random.Generator
        For the disturbances that measure how accurate the definition is.
    tolerance : float
        Granted beside that.
    """
    found = scores(metric, x, y, relabellings)
    granted = tolerance + float(found.resolution[0, 0]) + rounding_of(metric.define, x, y, rng)
    for pi, value in zip(relabellings.explicit(), found.values[:, 0, 0], strict=True):
        defined = metric.define(x, y[pi])
        if not abs(defined - value) <= granted:
            raise LawViolation(
                "decomposition equals definition",
                f"{metric} is {defined:.17g} by definition but {value:.17g} by its form (granted {granted:.2g}) under "
                f"the relabelling {pi.tolist()}",
                x=x, y=y, relabelling=pi, defined=defined, value=float(value), granted=granted,
            )  # fmt: skip


def equivariance(
    metric: Metric,
    x: NDArray[np.generic],
    y: NDArray[np.generic],
    relabellings: Relabellings,
    *,
    kind: Kind = "activations",
    precision: Precision = "float64",
    most: int = 6,
) -> None:
    """The score of relabelled data is the score of relabelled states, to the stated resolution.

    Checked from the right (``y[pi]`` against ``pi``), from the left (``x[pi]`` against the inverse of ``pi``) and for
    both sides at once (against the identity), on `most` of the relabellings, spread over the set.
    """
    whole = scores(metric, x, y, relabellings, kind=kind, precision=precision)
    listed = relabellings.explicit()
    rows = np.unique(np.linspace(0, len(listed) - 1, num=min(most, len(listed))).astype(np.int64))
    backwards = Explicit(np.concatenate((np.arange(len(x))[None], np.argsort(listed[rows], axis=1))), exhaustive=True)
    inverse = scores(metric, x, y, backwards, kind=kind, precision=precision)
    left, right = Raw(x, kind), Raw(y, kind)
    for number, row in enumerate(rows):
        pi = listed[row]
        x_moved, y_moved = left.relabelled(pi), right.relabelled(pi)
        for what, expected, moved in (
            ("the right-hand data", whole.values[row], (x, y_moved)),
            ("the left-hand data", inverse.values[number + 1], (x_moved, y)),
            ("both sides", whole.values[0], (x_moved, y_moved)),
        ):
            found = scores(metric, *moved, kind=kind, precision=precision)
            allowed = max(float(whole.resolution[0, 0]), float(found.resolution[0, 0]))
            difference = abs(float(found.values[0, 0, 0]) - float(expected[0, 0]))
            if not difference <= allowed:
                raise LawViolation(
                    "equivariance",
                    f"{metric} is {found.values[0, 0, 0]:.17g} after relabelling {what} but {expected[0, 0]:.17g} for "
                    f"relabelled states ({difference:.2g} apart, resolution {allowed:.2g}), relabelling {pi.tolist()}",
                    x=x, y=y, relabelling=pi, difference=difference, resolution=allowed,
                )  # fmt: skip


def precomputed_agrees(
    metric: Metric,
    x: Float,
    y: Float,
    precompute: Callable[[Float], NDArray[np.generic]],
    kind: Kind,
    relabellings: Relabellings,
    *,
    tolerance: float = 1e-9,
) -> None:
    """Precomputed relations give the orbit that the activations they were computed from give."""
    direct = scores(metric, x, y, relabellings)
    ready = scores(metric, precompute(x), precompute(y), relabellings, kind=kind)
    worst = float(np.abs(direct.values - ready.values).max())
    if not worst <= tolerance + float(direct.resolution[0, 0]):
        raise LawViolation(
            "precomputed relations agree",
            f"{metric} differs by {worst:.3g} between activations and their precomputed {kind}",
            x=x, y=y, difference=worst,
        )  # fmt: skip


# -------------------------------------------------------------------------------------------------------- claims
def claimed_invariance_holds(
    metric: Metric,
    transform: str,
    x: Float,
    y: Float,
    rng: np.random.Generator,
    *,
    transforms: Mapping[str, Transform] = TRANSFORMS,
    tolerance: float = 1e-9,
) -> None:
    """The score does not move under `transform`, of either side (of both at once, for ``item_permutation``).

    Parameters
    ----------
    metric : Metric
        Taken at its word.
    transform : str
        Name of a transform, normally one that the metric claims to be invariant to.
    x, y : (n, d_x) and (n, d_y) arrays of float64
        Data on which the score exists.
    rng : numpy.random.Generator
        Draws the member of the group, and the disturbances that measure rounding.
    transforms : mapping
        `TRANSFORMS`, or `EXACT_TRANSFORMS` for tied data, where rounding is granted nothing.
    tolerance : float
        Granted beside what rounding of the input does to the score.
    """

    def score(a: Float, b: Float) -> float:
        return _score(metric, a, b)

    before = score(x, y)
    base = tolerance + float(scores(metric, x, y).resolution[0, 0])
    if transforms is TRANSFORMS:
        base += rounding_of(score, x, y, rng)
    for what, x_moved, y_moved in _transformed(transforms[transform], transform, x, y, rng):
        try:
            after = score(x_moved, y_moved)
        except UndefinedScoreError as error:
            raise LawViolation(
                f"invariance to {transform}",
                f"{metric} is {before:.9g} but undefined after the transform of {what} ({error})",
                x=x, y=y, x_transformed=x_moved, y_transformed=y_moved,
            ) from error  # fmt: skip
        if abs(after - before) <= base:
            continue
        granted = base + (rounding_of(score, x_moved, y_moved, rng) if transforms is TRANSFORMS else 0.0)
        if not abs(after - before) <= granted:
            raise LawViolation(
                f"invariance to {transform}",
                f"{metric} moves from {before:.17g} to {after:.17g} under the transform of {what} (granted "
                f"{granted:.2g})",
                x=x, y=y, x_transformed=x_moved, y_transformed=y_moved, before=before, after=after, granted=granted,
            )  # fmt: skip


def _transformed(
    function: Transform, name: str, x: Float, y: Float, rng: np.random.Generator
) -> list[tuple[str, Float, Float]]:
    if name in BOTH_SIDES:
        seed = int(rng.integers(2**32))
        return [("both sides", function(x, np.random.default_rng(seed)), function(y, np.random.default_rng(seed)))]
    return [("the left side", function(x, rng), y), ("the right side", x, function(y, rng))]


@dataclass(frozen=True, eq=False)
class Witness:
    """Data on which a transform moves a score.

    Attributes
    ----------
    x, y : arrays
        Before the transform.
    x_transformed, y_transformed : arrays
        After it.
    before, after : float
        The two scores; `after` is NaN where the transform leaves none (units of another number cannot be compared).
    """

    transform: str
    x: Float
    y: Float
    x_transformed: Float
    y_transformed: Float
    before: float
    after: float


def find_witness(
    metric: Metric,
    transform: str,
    rng: np.random.Generator,
    *,
    budget: int = 60,
    transforms: Mapping[str, Transform] = TRANSFORMS,
) -> Witness | None:
    """Search for data on which `transform` moves the score by more than rounding could; None if there are none.

    Parameters
    ----------
    metric : Metric
        Whose score should move.
    transform : str
        Name of a transform.
    rng : numpy.random.Generator
        Draws data and transforms.
    transforms : mapping
        Where the transform is looked up.
    budget : int
        Number of data sets tried. They share some signal, and vary in offset and in the scale of their units.
    """
    n = max(metric.least_items, int(getattr(metric, "k", 0)) + 2, 14)
    for _ in range(budget):
        signal = rng.standard_normal((n, 2))
        widths = rng.integers(2, 6, size=2)
        if metric.equal_widths:
            widths[1] = widths[0]
        x, y = (_related(signal, int(width), rng) for width in widths)
        try:
            before = _score(metric, x, y)
            for _, x_moved, y_moved in _transformed(transforms[transform], transform, x, y, rng):
                no_score = metric.equal_widths and x_moved.shape[1] != y_moved.shape[1]
                after = np.nan if no_score else _score(metric, x_moved, y_moved)
                if no_score or abs(after - before) > _WITNESS:
                    return Witness(transform, x, y, x_moved, y_moved, before, after)
        except UndefinedScoreError:
            continue
    return None


def _related(signal: Float, d: int, rng: np.random.Generator) -> Float:
    noise = rng.standard_normal((len(signal), d))
    x = signal @ rng.standard_normal((2, d)) + rng.uniform(0.1, 1.0) * noise
    return np.asarray(x * np.exp(rng.normal(size=d)) + rng.normal(size=d) * rng.choice([0.0, 1.0, 3.0]))


def denial_has_witness(metric: Metric, transform: str, rng: np.random.Generator, *, budget: int = 60) -> None:
    """A denied invariance is really absent: some data show it."""
    if find_witness(metric, transform, rng, budget=budget) is None:
        raise LawViolation(
            f"sensitivity to {transform}",
            f"{metric} says that it is sensitive to {transform}, but none of {budget} data sets shows it",
        )


def range_is_as_claimed(metric: Metric, x: Float, y: Float, relabellings: Relabellings) -> None:
    """Every value of the form lies in the claimed range, to a few times the resolution, before anything is clipped."""
    left, right = metric.source(x, "X"), metric.target(y, "Y")
    found = metric.finish(metric.engine.evaluate([left], [right], relabellings, threads=1), [left], [right])
    values = found.values
    slack = max(2.0 * float(found.resolution.max()), 16.0 * _EPS)
    low, high = metric.claims.range
    if not ((values >= low - slack) & (values <= high + slack)).all():
        raise LawViolation(
            "range",
            f"{metric} takes values from {values.min():.17g} to {values.max():.17g}, outside its range [{low}, {high}]",
            x=x, y=y,
        )  # fmt: skip


def symmetry_is_as_claimed(metric: Metric, x: Float, y: Float, relabellings: Relabellings) -> None:
    """Where symmetry is claimed, ``score(x, y)`` under a relabelling is ``score(y, x)`` under its inverse."""
    if not metric.claims.symmetric:
        return
    there = scores(metric, x, y, relabellings)
    inverse = Explicit(np.argsort(relabellings.explicit(), axis=1), exhaustive=True)
    back = scores(metric, y, x, inverse)
    worst = float(np.abs(there.values[:, 0, 0] - back.values[:, 0, 0]).max())
    allowed = max(float(there.resolution[0, 0]), float(back.resolution[0, 0]))
    if not worst <= allowed:
        raise LawViolation(
            "symmetry", f"{metric} differs by {worst:.3g} when the sides change places (resolution {allowed:.2g})",
            x=x, y=y, difference=worst,
        )  # fmt: skip


def self_value_is_as_claimed(metric: Metric, x: Float) -> None:
    """A representation has the claimed score with itself."""
    claimed = metric.claims.self_value
    if claimed is None:
        return
    found = scores(metric, x, x)
    value, allowed = float(found.values[0, 0, 0]), float(found.resolution[0, 0]) + 4.0 * _EPS
    if not abs(value - claimed) <= allowed:
        raise LawViolation(
            "self value", f"{metric} of a representation with itself is {value:.17g}, not {claimed}", x=x
        )


def direction_is_as_claimed(metric: Metric, x: Float, y: Float, relabellings: Relabellings) -> None:
    """Nothing is more similar to a representation than itself, in the direction that the metric states.

    Compared with another representation, and with itself under every relabelling. Says nothing about metrics without
    a self value.
    """
    if metric.claims.self_value is None:
        return
    towards = 1.0 if metric.claims.larger_is_more_similar else -1.0
    own = scores(metric, x, x, relabellings)
    others = np.append(own.values[:, 0, 0], scores(metric, x, y).values[0, 0, 0])
    excess = float((towards * (others - own.values[0, 0, 0])).max())
    if not excess <= 2.0 * float(own.resolution[0, 0]) + 4.0 * _EPS:
        raise LawViolation(
            "direction", f"{metric} finds something more similar to a representation than itself, by {excess:.3g}",
            x=x, y=y, excess=excess,
        )  # fmt: skip
