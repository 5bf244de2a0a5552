"""Slow, obvious twins of the neighbour search and of the overlap form."""

from __future__ import annotations

import math

import numpy as np

EPS = float(np.finfo(np.float64).eps)


def measured_distances(points, distance):
    """(n, n) squared distances by direct differences, added in the order of the coordinates."""
    x = np.asarray(points, dtype=np.float64)
    if distance == "cosine":
        x = np.stack([unit_row(row) for row in x])
    else:
        x = np.ldexp(x, -int(np.frexp(np.abs(x).max())[1]))
    total = np.zeros((len(x), len(x)))
    for column in x.T:
        total += (column[:, None] - column[None, :]) ** 2
    return total


def unit_row(row):
    row = np.ldexp(row, -int(np.frexp(np.abs(row).max())[1]))
    return row / math.sqrt(math.fsum((row * row).tolist()))


def membership(distances, k, width_of_tie):
    """(n, n) fractional membership: sure neighbours 1, those tied at the k-th place an equal share of the rest."""
    n = len(distances)
    weights = np.zeros((n, n))
    for i in range(n):
        others = [j for j in range(n) if j != i]
        kth = sorted(distances[i, j] for j in others)[k - 1]
        width = width_of_tie(kth)
        sure = [j for j in others if distances[i, j] < kth - width]
        tied = [j for j in others if abs(distances[i, j] - kth) <= width]
        weights[i, sure] = 1.0
        weights[i, tied] = (k - len(sure)) / len(tied)
    return weights


def neighbours(points, k, distance):
    """(n, n) membership of the k nearest neighbours."""
    width = np.asarray(points).shape[1]
    blur = 8 * EPS if distance == "cosine" else 0.0
    return membership(
        measured_distances(points, distance),
        k,
        lambda v: 4 * EPS * (width + 4) * v + 2 * blur * math.sqrt(v) + blur**2,
    )


def overlaps(lefts, rights, relabellings):
    """(M, L_a, L_b) sums of A[i, j] B[pi[i], pi[j]] over all pairs of items, one relabelling after the other."""
    return np.array([[[float((a * b[np.ix_(pi, pi)]).sum()) for b in rights] for a in lefts] for pi in relabellings])


def invariants(adjacency):
    """n, t, S1, S2 and the sums over items of r^2, c^2 and r c."""
    r, c = adjacency.sum(axis=1), adjacency.sum(axis=0)
    return (
        len(adjacency),
        r.sum(),
        (adjacency**2).sum(),
        (adjacency * adjacency.T).sum(),
        (r**2).sum(),
        (c**2).sum(),
        (r * c).sum(),
    )
