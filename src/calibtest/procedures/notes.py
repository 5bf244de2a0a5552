"""Remarks on the data and the design that a reader of a result must see."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from calibtest.errors import listing
from calibtest.parallel import map_threads
from calibtest.prepare.diagnose import Traits, traits
from calibtest.procedures.comparison import Comparison
from calibtest.schemes.protocol import Scheme
from calibtest.stacks import LayerStack

__all__ = ["data_notes", "design_notes"]

_SERIAL = 0.5


def data_notes(comparison: Comparison, scheme: Scheme | None) -> list[str]:
    """Sentences about the activations: dominance, ties and, under free exchange, copies and serial order."""
    notes: list[str] = []
    sides = (comparison.paired.left, comparison.paired.right)
    if comparison.paired.note:
        notes.append(comparison.paired.note)
    notes += [remark for side in sides for remark in side.notes]
    notes += [f"layer {skip.layer!r} of {skip.side} was skipped: {skip.reason}" for skip in comparison.skipped]
    found = [_traits_of(side, kept) for side, kept in zip(sides, (comparison.lefts, comparison.rights), strict=True)]
    for side, by_layer in zip(sides, found, strict=True):
        notes += _dominance(side, by_layer)
    notes += _ties(comparison)
    if scheme is not None and scheme.free:
        notes += _copies(sides, found)
        notes += _serial(sides, found)
    return notes


def design_notes(min_pvalue: float, alpha: float, scheme: Scheme, n_items: int) -> list[str]:
    """A sentence when the level cannot be reached; only then are the relabellings of the scheme counted."""
    if min_pvalue <= alpha * (1 + 1e-12):
        return []
    order = scheme.order(n_items)
    return [
        f"alpha = {alpha:g} is out of reach: with {n_items} items this design has {order:,} distinct permutations "
        f"(arrangements), and the relabellings used can give no p below {min_pvalue:.4g}"
        if order <= 1e6
        else f"alpha = {alpha:g} is out of reach: the relabellings used can give no p below {min_pvalue:.4g}; raise "
        "n_resamples (the number of permutations)"
    ]


def _traits_of(stack: LayerStack, kept: Iterable[str]) -> dict[str, Traits]:
    if stack.kind != "activations":
        return {}
    layers = list(kept)
    return dict(zip(layers, map_threads(lambda layer: traits(stack.layers[layer]), layers), strict=True))


def _where(stack: LayerStack, layers: list[str]) -> str:
    if len(stack) == 1:
        return stack.name
    shown = listing([repr(layer) for layer in layers], 5)
    return f"{stack.name} (layer{'s' if len(layers) > 1 else ''} {shown})"


def _dominance(stack: LayerStack, by_layer: dict[str, Traits]) -> list[str]:
    notes: list[str] = []
    for kind in ("one_item_dominates", "one_unit_dominates"):
        layers = [layer for layer, found in by_layer.items() if getattr(found, kind)]
        remarks = [r for layer in layers for r in by_layer[layer].remarks(_where(stack, layers))]
        notes += [remark for remark in remarks[:1] if remark not in notes]
    return notes


def _ties(comparison: Comparison) -> list[str]:
    notes = []
    for side, states in ((comparison.paired.left, comparison.lefts), (comparison.paired.right, comparison.rights)):
        tied = {layer: int(getattr(state, "n_tied", 0)) for layer, state in states.items()}
        most = max(tied.values(), default=0)
        if most:
            notes.append(
                f"{_where(side, [layer for layer, t in tied.items() if t])}: up to {most} of {side.n_items} items have ties at "
                "the k-th neighbour; tied items share the remaining places equally"
            )
    return notes


def _copies(sides: tuple[LayerStack, LayerStack], found: list[dict[str, Traits]]) -> list[str]:
    notes = []
    for side, by_layer in zip(sides, found, strict=True):
        if not by_layer:
            continue
        distinct = max(t.n_distinct for t in by_layer.values())
        if distinct < 0.9 * side.n_items:
            notes.append(
                f"{side.name} has only {distinct} distinct rows among {side.n_items} (repeats): if repeats belong together "
                "(captions of one image), items are not exchangeable; use scheme='whole_groups' with one label a repeat set"
            )
    return notes


def _serial(sides: tuple[LayerStack, LayerStack], found: list[dict[str, Traits]]) -> list[str]:
    lags = [float(np.median([t.lag_one for t in by_layer.values()])) if by_layer else 0.0 for by_layer in found]
    if min(lags) < _SERIAL:
        return []
    return [
        f"neighbouring rows are alike on both sides (autocorrelation at lag 1: {lags[0]:.2f} in {sides[0].name}, {lags[1]:.2f} "
        f"in {sides[1].name}): if rows are in order of time use scheme='circular' on detrended data, if they are sorted by "
        "class use scheme='within_groups' to ask for more than the classes"
    ]
