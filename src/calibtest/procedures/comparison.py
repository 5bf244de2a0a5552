"""From two stacks to an orbit: the part that every test of alignment shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from calibtest.errors import CalibtestError, InputError, UndefinedScoreError
from calibtest.forms.evaluation import Evaluation
from calibtest.forms.matching import Matching
from calibtest.forms.overlap import Overlap
from calibtest.inference.closed_form import closed_form_moments
from calibtest.inference.moments import MomentGrid
from calibtest.inference.orbit import Orbit
from calibtest.memory import available_bytes, require_memory
from calibtest.metrics.base import Metric
from calibtest.parallel import default_threads, map_threads
from calibtest.schemes.protocol import Scheme
from calibtest.schemes.relabellings import Cosets, Explicit, Relabellings
from calibtest.stacks import LayerStack, Paired, pair

__all__ = ["Comparison", "Draws", "Precision", "Skipped", "compare", "seeded"]

Draws = Literal["cosets", "independent"]
Precision = Literal["float64", "float32"]


@dataclass(frozen=True)
class Skipped:
    """A layer that could not be compared, and why.

    Attributes
    ----------
    side, layer : str
        Name of the stack and of the layer.
    reason : str
        Why its score is undefined.
    """

    side: str
    layer: str
    reason: str


@dataclass(frozen=True, eq=False)
class Comparison:
    """States of both sides that can be compared under a metric.

    Attributes
    ----------
    metric : Metric
        The score that they are prepared for.
    paired : Paired
        The two stacks, over the same items in the same order.
    lefts, rights : dict of str to state
        Prepared layers by name.
    skipped : tuple of Skipped
        Layers whose score is undefined.
    """

    metric: Metric
    paired: Paired
    lefts: dict[str, Any]
    rights: dict[str, Any]
    skipped: tuple[Skipped, ...] = field(default=())

    @property
    def n_items(self) -> int:
        return self.paired.left.n_items

    def scores(
        self,
        relabellings: Relabellings,
        *,
        threads: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Evaluation:
        """Scores of the whole grid under every relabelling."""
        lefts, rights = list(self.lefts.values()), list(self.rights.values())
        return self.metric.evaluate(lefts, rights, relabellings, threads=threads, progress=progress)

    def orbit(
        self,
        relabellings: Relabellings,
        *,
        threads: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Orbit:
        """`scores` as an orbit, which remembers how the relabellings were made."""
        found = self.scores(relabellings, threads=threads, progress=progress)
        coset_size = None if relabellings.exhaustive else relabellings.coset_size
        return Orbit(found.values, found.resolution, exhaustive=relabellings.exhaustive, coset_size=coset_size)

    def moments(self, scheme: Scheme) -> MomentGrid | None:
        """Closed-form permutation mean and sd of the scores, where the scheme and the form have them."""
        if not (scheme.free and isinstance(self.metric.engine, Matching | Overlap)):
            return None
        lefts, rights = list(self.lefts.values()), list(self.rights.values())
        raw = closed_form_moments(lefts, rights)
        if raw is None:
            return None
        factor, offset = self.metric.affine_grid(lefts, rights)
        return MomentGrid(factor * raw.mean + offset, np.abs(factor) * raw.sd)

    def details(self) -> dict[str, dict[str, float]]:
        """What preparation chose from the data (bandwidths), by side and layer."""
        found: dict[str, dict[str, float]] = {}
        for side, states in ((self.paired.left.name, self.lefts), (self.paired.right.name, self.rights)):
            for layer, state in states.items():
                chosen = getattr(state, "details", None)
                if chosen:
                    found[f"{side}::{layer}"] = dict(chosen)
        return found


def compare(
    a: LayerStack,
    b: LayerStack,
    metric: Metric,
    *,
    precision: Precision = "float64",
    skip_undefined: bool = True,
) -> Comparison:
    """Pair two stacks and prepare each layer once.

    Raises
    ------
    InputError
        When the stacks cannot be paired or the metric cannot use them.
    UndefinedScoreError
        When no layer of a side has a defined score (or, without `skip_undefined`, when any has none).
    """
    if precision not in ("float64", "float32"):
        raise InputError(f"precision must be 'float64' or 'float32', got {precision!r}")
    paired = pair(a, b)
    metric.check_widths(paired.left, paired.right)
    n, n_layers = paired.left.n_items, len(paired.left) + len(paired.right)
    require_memory(
        (n_layers + 1) * metric.engine.state_bytes(n, precision),
        f"comparing {n_layers} layers of {n:,} items under {metric.name} keeps a relation between all items a layer, which",
        "select fewer layers, use precision='float32', fewer items or a neighbour metric",
    )
    skipped: list[Skipped] = []
    states: list[dict[str, Any]] = []
    for stack, prepare in ((paired.left, metric.source), (paired.right, metric.target)):
        metric.check_items(stack.n_items, stack.name)
        metric.check_kind(stack.kind)

        def one(
            layer: str, stack: LayerStack = stack, prepare: Callable[..., Any] = prepare
        ) -> Any | UndefinedScoreError:
            name = stack.name if len(stack) == 1 else f"layer {layer!r} of {stack.name}"
            try:
                return prepare(stack.layers[layer], name, kind=stack.kind, dtype=np.dtype(precision))
            except UndefinedScoreError as reason:
                return reason

        # a layer a thread where there are enough of them, else one after the other, each in threads of its own
        threads = None if len(stack) >= default_threads() else 1
        found = dict(zip(stack.names, map_threads(one, stack.names, threads=threads), strict=True))
        undefined = {layer: state for layer, state in found.items() if isinstance(state, UndefinedScoreError)}
        if undefined and (not skip_undefined or len(undefined) == len(found)):
            raise next(iter(undefined.values()))
        skipped += [Skipped(stack.name, layer, str(error)) for layer, error in undefined.items()]
        states.append({layer: state for layer, state in found.items() if layer not in undefined})
    return Comparison(metric, paired, states[0], states[1], tuple(skipped))


def draw(
    scheme: Scheme, comparison: Comparison, n_resamples: int, rng: np.random.Generator, draws: Draws | None
) -> Relabellings:
    """Relabellings of a scheme, as cosets where the metric's form is faster for them (or as asked)."""
    if draws not in (None, "cosets", "independent"):
        raise InputError(f"draws must be 'cosets' or 'independent', got {draws!r}")
    metric, n = comparison.metric, comparison.n_items
    cosets = metric.engine.prefers_cosets if draws is None else draws == "cosets"
    require_room(n_resamples, n, len(comparison.lefts) * len(comparison.rights), cosets=cosets)
    relabellings = scheme.draw(n, n_resamples, rng, cosets=cosets)
    if relabellings.n_items != n:  # a scheme of the user's own
        raise InputError(f"scheme {scheme.name} drew relabellings of {relabellings.n_items} items, but there are {n}")
    return relabellings


def check_workers(n_jobs: int | None, progress: Any) -> None:
    """Refuse a number of threads or a progress callback that cannot be used."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs < 1):
        raise InputError(
            f"n_jobs (threads) must be a whole number of at least 1, or None for all processors, got {n_jobs!r}"
        )
    if progress is not None and not callable(progress):
        raise InputError(f"progress must be a callable that takes the share done, got {progress!r}")


def require_room(n_resamples: int, n_items: int, n_cells: int, *, cosets: bool) -> None:
    """Refuse more relabellings than memory can hold."""
    row = 8 * (3 * n_cells + (2 if cosets else n_items))
    require_memory(
        (n_resamples + 1) * row,
        f"n_resamples = {n_resamples:,} (with {n_items:,} items and {n_cells:,} pair{'s' if n_cells != 1 else ''} of layers)",
        f"use fewer, about {int((available_bytes() or 0) / row / 2):,} at most",
    )


def describe(relabellings: Relabellings) -> str:
    """The number and kind of relabellings, in words."""
    total = len(relabellings)
    if relabellings.exhaustive:
        kind = "circular shifts" if isinstance(relabellings, Cosets) else "relabellings"
        return f"all {total:,} {kind} (enumerated, identity included)"
    if isinstance(relabellings, Explicit):
        return f"{total - 1:,} independent relabellings"
    return f"{total - 1:,} relabellings ({relabellings.n_cosets:,} coset{'s' if relabellings.n_cosets != 1 else ''} of {relabellings.period:,} shifts)"


def check_resamples(n_resamples: int) -> int:
    """Refuse anything but a whole number of at least 1."""
    if isinstance(n_resamples, bool) or not isinstance(n_resamples, int | np.integer) or n_resamples < 1:
        raise InputError(
            f"n_resamples (the number of permutations) must be a whole number of at least 1, got {n_resamples!r}; for "
            "scores without a test use alignment_scores"
        )
    return int(n_resamples)


def seeded(rng: Any) -> tuple[np.random.Generator, int | str]:
    """Generator meant by `rng`, and what to record so that the run can be repeated.

    Raises
    ------
    InputError
        When `rng` is no seed (a whole number of at least 0) and no generator.
    """
    if isinstance(rng, np.random.Generator):
        return rng, f"a {type(rng.bit_generator).__name__} generator of the caller's"
    if rng is None:
        entropy = int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
        return np.random.default_rng(entropy), entropy
    if isinstance(rng, np.random.SeedSequence | np.random.BitGenerator):
        return np.random.default_rng(rng), f"a {type(rng).__name__} of the caller's"
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise InputError(f"rng (the seed) must be a whole number of at least 0 or a numpy Generator, got {rng!r}")
    return np.random.default_rng(int(rng)), int(rng)


def verify_null(orbit: Orbit, moments: MomentGrid) -> float:
    """Largest deviation of a null mean from its closed form, in standard errors of independent draws.

    Raises
    ------
    CalibtestError
        When the deviation is impossible: the engine is wrong, and no p-value may leave it.
    """
    # a difference within rounding is none, and a score that varies by rounding alone has no sd to speak of
    rounding = 2.0 * orbit.resolution
    deviation = np.maximum(np.abs(orbit.null.mean(axis=0) - moments.mean) - rounding, 0.0)
    worst = float(
        (deviation / np.maximum(moments.sd, np.maximum(rounding, np.finfo(np.float64).tiny))).max(initial=0.0)
    )
    # The rows of a coset depend on each other, so only the cosets count as independent. The mean of one varies no more
    # than a single draw does, and the sd of a draw is exact: by Chebyshev's inequality a mean of so many blocks lies
    # this far out less than once in a million even for the worst data.
    n_blocks = orbit.n_resamples if orbit.coset_size is None else len(orbit.values) // orbit.coset_size
    if worst * np.sqrt(n_blocks) > 1000.0:
        raise CalibtestError(
            f"the null draws have a mean {worst:.3g} standard deviations of the score from its exact value, which "
            f"{n_blocks:,} independent blocks of draws cannot have by chance; please report this with the data"
        )
    return worst * float(np.sqrt(orbit.n_resamples))
